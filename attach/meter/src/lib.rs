//! Stands before the C library's functions that allocate and copy memory, and counts.
//!
//! This crate holds `unsafe` code: its functions take the place of C ones. What every `SAFETY`
//! note below leans on: callers keep the C standard's rules for the function whose name they call.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU64};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED_BYTES: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicI64 = AtomicI64::new(0);
static HELD_BYTES: AtomicI64 = AtomicI64::new(0);
static COPIED_BYTES: AtomicU64 = AtomicU64::new(0);

/// What was counted since the process began.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Counts {
    /// Calls that gave memory.
    pub allocations: u64,
    /// Bytes that they were asked for.
    pub allocated_bytes: u64,
    pub copied_bytes: u64,
    /// Pieces of memory that were given and not given back.
    pub held: i64,
    /// Bytes that can be used in them.
    pub held_bytes: i64,
}

/// Reads the counts.
///
/// # Safety
/// `counts` is writable.
// SAFETY: the name is this project's own; nothing else defines it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ciphermark_meter(counts: *mut Counts) {
    let now = Counts {
        allocations: ALLOCATIONS.load(Relaxed),
        allocated_bytes: ALLOCATED_BYTES.load(Relaxed),
        copied_bytes: COPIED_BYTES.load(Relaxed),
        held: HELD.load(Relaxed),
        held_bytes: HELD_BYTES.load(Relaxed),
    };
    // SAFETY: the caller's.
    unsafe { counts.write(now) }
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(memory: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __libc_free(memory: *mut c_void);
    fn malloc_usable_size(memory: *mut c_void) -> usize;
}

fn allocated(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Relaxed);
    ALLOCATED_BYTES.fetch_add(bytes as u64, Relaxed);
}

/// Notes memory that is given (1) or taken back (-1).
///
/// # Safety
/// `memory` is null, or was given by the C library and not yet taken back.
unsafe fn moved(memory: *mut c_void, way: i64) -> *mut c_void {
    if !memory.is_null() {
        // SAFETY: the caller's.
        let bytes = unsafe { malloc_usable_size(memory) };
        HELD.fetch_add(way, Relaxed);
        HELD_BYTES.fetch_add(way * bytes as i64, Relaxed);
    }
    memory
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn free(memory: *mut c_void) {
    // SAFETY: the module's note.
    unsafe { __libc_free(moved(memory, -1)) }
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    allocated(size);
    // SAFETY: the module's note.
    unsafe { moved(__libc_malloc(size), 1) }
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    allocated(count.saturating_mul(size));
    // SAFETY: the module's note.
    unsafe { moved(__libc_calloc(count, size), 1) }
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    allocated(size);
    // SAFETY: the module's note.
    unsafe {
        moved(memory, -1);
        moved(__libc_realloc(memory, size), 1)
    }
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    allocated(size);
    // SAFETY: the module's note.
    unsafe { moved(__libc_memalign(alignment, size), 1) }
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    // SAFETY: the module's note.
    unsafe { memalign(alignment, size) }
}

/// `EINVAL` and `ENOMEM` of Linux.
const INVALID: c_int = 22;
const NO_MEMORY: c_int = 12;

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(
    memory: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    if !alignment.is_power_of_two() || !alignment.is_multiple_of(size_of::<*mut c_void>()) {
        return INVALID;
    }
    // SAFETY: the module's note.
    let made = unsafe { memalign(alignment, size) };
    if made.is_null() {
        return NO_MEMORY;
    }
    // SAFETY: the module's note.
    unsafe { memory.write(made) };
    0
}

// Copying, byte for byte: volatile, so that no compiler makes a call of `memcpy` out of it again.

/// Copies as `memmove` does: the areas may overlap.
unsafe fn copied(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
    COPIED_BYTES.fetch_add(len as u64, Relaxed);
    let (target, source) = (to.cast::<u8>(), from.cast::<u8>());
    let one = |i: usize| {
        // SAFETY: the crate's note: both areas have `len` bytes, and `i` is less.
        unsafe { target.add(i).write_volatile(source.add(i).read_volatile()) }
    };
    if target.cast_const() <= source {
        (0..len).for_each(one);
    } else {
        (0..len).rev().for_each(one);
    }
    to
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: the crate's note.
    unsafe { copied(to, from, len) }
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: the crate's note.
    unsafe { copied(to, from, len) }
}

// SAFETY: takes the place of the C function of that name; its check against `room` is left out,
// because a library that fails it ends the process in every other worker.
#[unsafe(no_mangle)]
unsafe extern "C" fn __memcpy_chk(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    _room: usize,
) -> *mut c_void {
    // SAFETY: the crate's note.
    unsafe { copied(to, from, len) }
}

// SAFETY: as for `__memcpy_chk`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __memmove_chk(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    _room: usize,
) -> *mut c_void {
    // SAFETY: the crate's note.
    unsafe { copied(to, from, len) }
}
