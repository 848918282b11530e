//! The process's own heap.

/// Has the C library give large blocks back to the system when they are freed. By itself it learns from
/// the first that is freed to keep them, in each thread's part of the heap, and what was read of
/// libraries' files, hundreds of megabytes, would lie there for as long as a survey samples. For the
/// process that schedules: in one that measures it would change what libraries' allocations cost.
pub fn give_large_blocks_back() {
    /// Where the C library begins by itself: malloc(3), `M_MMAP_THRESHOLD`.
    #[cfg(target_env = "gnu")]
    const LARGE_BYTES: libc::c_int = 128 << 10;
    #[cfg(target_env = "gnu")]
    // SAFETY: it sets numbers of the allocator, under the allocator's own lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}
