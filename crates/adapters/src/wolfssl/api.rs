//! What of wolfCrypt every part of the adapter uses: contexts, error codes, lengths.

use crate::aligned::Aligned;
use contract::loader::SharedObject;
use contract::{OpenError, raw};
use std::ffi::{c_int, c_void};

/// `wc_AesInit`, `wc_Des3Init`, `wc_HmacInit`: context, heap hint, device.
pub(super) type InitFn = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int;
/// `wc_AesFree` and the like: context.
pub(super) type FreeFn = unsafe extern "C" fn(*mut c_void);

/// `INVALID_DEVID`: no device, the library's own code.
pub(super) const NO_DEVICE: c_int = -2;
/// `AES_ENCRYPTION`, `DES_ENCRYPTION`
pub(super) const ENCRYPTION: c_int = 0;
/// `AES_DECRYPTION`, `DES_DECRYPTION`
pub(super) const DECRYPTION: c_int = 1;

/// `AES_EAX_AUTH_E`
pub(super) const EAX_WRONG_TAG: c_int = -122;
/// `AES_GCM_AUTH_E`, of GCM and GCM-SIV.
pub(super) const GCM_WRONG_TAG: c_int = -180;
/// `AES_CCM_AUTH_E`
pub(super) const CCM_WRONG_TAG: c_int = -181;
/// `MAC_CMP_FAILED_E`, of Poly1305.
pub(super) const MAC_WRONG_TAG: c_int = -213;
/// `AES_SIV_AUTH_E`
pub(super) const SIV_WRONG_TAG: c_int = -289;

/// Bytes of any context. Contexts are the caller's to allocate, and their layout follows from
/// dozens of build options, which the library does not tell: struct Aes has 1104 bytes in Debian's
/// build, 5 KiB with GCM tables, and 121 KiB in the bit-sliced one; XTS holds up to three of them
/// and EAX four. Untouched pages cost nothing.
const CONTEXT: usize = 1 << 20;

/// A context that the library may have allocated something for.
pub(super) struct Context {
    memory: Aligned,
    free: Option<FreeFn>,
}

impl Context {
    /// A zeroed context that needs no freeing.
    pub(super) fn zeroed() -> Self {
        Self { memory: Aligned::zeroed(CONTEXT), free: None }
    }

    /// A context prepared by one of the functions of [`InitFn`]'s type, and freed by another.
    ///
    /// # Safety
    /// The symbols are of the types [`InitFn`] and [`FreeFn`], and `free` fits `init`.
    pub(super) unsafe fn initialised(
        object: &SharedObject,
        init: &str,
        free: &str,
    ) -> Result<Self, OpenError> {
        let mut context = Self::zeroed();
        // SAFETY: the caller vouches for the types; the context is larger than any.
        let code = unsafe {
            object.exported::<InitFn>(init)?(context.pointer(), std::ptr::null_mut(), NO_DEVICE)
        };
        done(init, code)?;
        // SAFETY: the caller vouches for the type.
        context.free = unsafe { object.function(free) };
        Ok(context)
    }

    /// An initialised `struct Aes`.
    pub(super) fn aes(object: &SharedObject) -> Result<Self, OpenError> {
        // SAFETY: both are those of aes.h.
        unsafe { Self::initialised(object, "wc_AesInit", "wc_AesFree") }
    }

    /// Says what frees the context.
    ///
    /// # Safety
    /// The symbol is of the type [`FreeFn`] and fits the context.
    pub(super) unsafe fn freed_by(mut self, object: &SharedObject, free: &str) -> Self {
        // SAFETY: the caller vouches for the type.
        self.free = unsafe { object.function(free) };
        self
    }

    #[inline]
    pub(super) fn pointer(&self) -> *mut c_void {
        self.memory.context()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: `free` fits the context, which is not used afterwards.
            unsafe { free(self.pointer()) }
        }
    }
}

/// The numbers of the two directions: 0 encrypts.
pub(super) fn number(direction: base::model::Direction) -> c_int {
    match direction {
        base::model::Direction::Decrypt => DECRYPTION,
        _ => ENCRYPTION,
    }
}

/// Turns a failure while opening into words. Builds leave parts out without leaving their symbols
/// out: `NOT_COMPILED_IN` says so.
pub(super) fn done(call: &str, code: c_int) -> Result<(), OpenError> {
    const NOT_COMPILED_IN: c_int = -174;
    match code {
        0 => Ok(()),
        NOT_COMPILED_IN => Err(OpenError::Unsupported(format!("{call}: this build is without it"))),
        code => Err(OpenError::Failed(format!("{call}: error {code}"))),
    }
}

/// A return code as the interface's. The library's errors are negative, none is one of the
/// interface's own numbers; should one be positive, it is no rejection.
#[inline]
pub(super) fn outcome(code: c_int) -> i32 {
    match code {
        1..=3 => raw::FAILED,
        code => code,
    }
}

/// As [`outcome`], with the code of a wrong tag for a rejection.
#[inline]
pub(super) fn verdict(code: c_int, wrong_tag: c_int) -> i32 {
    if code == wrong_tag { raw::REJECTED } else { outcome(code) }
}

/// A length as the library's `word32`; longer messages must be cut by its caller.
#[inline]
pub(super) fn word32(len: usize) -> Option<u32> {
    u32::try_from(len).ok()
}

/// The library's form of each length, or the end of the call with an error: no length may be cut
/// off silently.
macro_rules! lengths {
    ($($name:ident = $len:expr),+ $(,)?) => {
        $(
            let Some($name) = $crate::wolfssl::api::word32($len) else {
                return contract::raw::FAILED;
            };
        )+
    };
}
pub(super) use lengths;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_modes_own_code_is_a_rejection() {
        assert_eq!(verdict(GCM_WRONG_TAG, GCM_WRONG_TAG), raw::REJECTED);
        assert_eq!(verdict(CCM_WRONG_TAG, GCM_WRONG_TAG), CCM_WRONG_TAG);
        assert_eq!(verdict(0, GCM_WRONG_TAG), raw::OK);
        // BAD_FUNC_ARG
        assert_eq!(outcome(-173), -173);
        assert!((1..=3).all(|code| verdict(code, GCM_WRONG_TAG) == raw::FAILED));
    }

    #[test]
    fn a_length_that_word32_cannot_hold_is_not_cut_off() {
        assert_eq!(word32(u32::MAX as usize), Some(u32::MAX));
        assert_eq!(word32(u32::MAX as usize + 1), None);
    }
}
