//! The library's contexts, which are its callers' to allocate.

use super::Request;
use crate::aligned::Aligned;
use contract::OpenError;
use std::ffi::c_void;

/// Bytes for any context. Only the headers tell the sizes, and they differ by version and
/// configuration. The largest that is used, `mbedtls_gcm_context` with its large table, has less than 5 KiB.
const PLENTY: usize = 16 << 10;

/// `mbedtls_aes_init`, `mbedtls_aes_free` and their like.
type ContextFn = unsafe extern "C" fn(*mut c_void);

/// A context; freed when dropped.
pub(super) struct Context {
    memory: Aligned,
    free: ContextFn,
}

impl Context {
    /// An initialised one of a module: `mbedtls_aes`.
    pub(super) fn new(request: &Request<'_>, module: &str) -> Result<Self, OpenError> {
        // SAFETY: every module's two functions have this type.
        let (init, free) = unsafe {
            (
                request.function::<ContextFn>(&format!("{module}_init"))?,
                request.function::<ContextFn>(&format!("{module}_free"))?,
            )
        };
        let mut memory = Aligned::zeroed(PLENTY);
        // SAFETY: the memory is larger than any context.
        unsafe { init(memory.as_mut_ptr()) };
        Ok(Self { memory, free })
    }

    #[inline]
    pub(super) fn get(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, freed nowhere else.
        unsafe { (self.free)(self.memory.as_mut_ptr()) }
    }
}
