//! `OSSL_PARAM`: how OpenSSL 3 on is told what has no function of its own.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr;

/// `OSSL_PARAM` of params.h, which is public and the same since OpenSSL 3.0.
#[repr(C)]
pub(super) struct Param {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

/// `OSSL_PARAM_UTF8_STRING`
const UTF8_STRING: c_uint = 4;
/// `OSSL_PARAM_OCTET_STRING`
const OCTET_STRING: c_uint = 5;
/// `OSSL_PARAM_UNMODIFIED`
const UNMODIFIED: usize = usize::MAX;

impl Param {
    /// A text. Both must outlive the call that it is passed to.
    pub(super) fn text(key: &'static CStr, text: &CStr) -> Self {
        let data = text.as_ptr().cast_mut().cast();
        Self::new(key, UTF8_STRING, data, text.count_bytes())
    }

    /// `len` bytes, which are only read and must outlive the call that they are passed to.
    #[inline(always)]
    pub(super) fn bytes(key: &'static CStr, bytes: *const u8, len: usize) -> Self {
        Self::new(key, OCTET_STRING, bytes.cast_mut().cast(), len)
    }

    /// What stands behind the last one.
    pub(super) const END: Self = Self {
        key: ptr::null(),
        data_type: 0,
        data: ptr::null_mut(),
        data_size: 0,
        return_size: 0,
    };

    #[inline(always)]
    fn new(key: &'static CStr, data_type: c_uint, data: *mut c_void, data_size: usize) -> Self {
        Self { key: key.as_ptr(), data_type, data, data_size, return_size: UNMODIFIED }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_param_has_the_layout_of_params_h() {
        assert_eq!(size_of::<Param>(), 40);
        assert_eq!(std::mem::offset_of!(Param, data), 16);
        assert_eq!(std::mem::offset_of!(Param, return_size), 32);
    }
}
