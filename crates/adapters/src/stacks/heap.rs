//! The process's heap, as its C library counts it.

/// Bytes that are allocated now; `None` where the C library does not say.
#[must_use]
pub fn live_bytes() -> Option<i64> {
    #[cfg(target_env = "gnu")]
    {
        let info = mallinfo2()?();
        // Large blocks are mapped and counted apart.
        i64::try_from(info.uordblks + info.hblkhd).ok()
    }
    #[cfg(not(target_env = "gnu"))]
    None
}

/// Looked up at run time: glibc has it since 2.33, and the program runs on 2.31 too.
#[cfg(target_env = "gnu")]
fn mallinfo2() -> Option<extern "C" fn() -> libc::mallinfo2> {
    static FOUND: std::sync::OnceLock<Option<extern "C" fn() -> libc::mallinfo2>> =
        std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        // SAFETY: the name ends with a zero byte.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mallinfo2".as_ptr()) };
        // SAFETY: null is `None`; else it is glibc's function of this name, which takes nothing and returns the numbers.
        unsafe { std::mem::transmute(address) }
    })
}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_counted_and_what_is_freed_is_not() {
        let _alone = crate::stacks::alone();
        // So much that what the test runner's own threads free beside it is nothing against it.
        let (held, most) = (64 << 20, 32 << 20);
        let before = live_bytes().unwrap();
        let block = std::hint::black_box(vec![1_u8; held]);
        assert!(live_bytes().unwrap() >= before + most);
        drop(block);
        assert!(live_bytes().unwrap() < before + most);
    }
}
