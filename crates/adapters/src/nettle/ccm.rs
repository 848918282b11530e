//! CCM by its steps.

use super::api::{CipherFn, CipherMeta, SetFn};
use super::parts::Steps;
use super::{Request, plenty, schedule};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use contract::functions;
use std::ffi::c_void;

functions! {
    /// ccm.h: message, cipher, its function, and what is said of each.
    struct Functions {
        /// Nonce's length, nonce, lengths of associated data, message and tag.
        nettle_ccm_set_nonce: fn(*mut c_void, *const c_void, CipherFn, usize, In, usize, usize, usize);
        /// Length, bytes.
        nettle_ccm_update: fn(*mut c_void, *const c_void, CipherFn, usize, In);
        /// Length, destination.
        nettle_ccm_digest: fn(*mut c_void, *const c_void, CipherFn, usize, Out);
    }
}
/// `ccm_encrypt`, `ccm_decrypt`: message, cipher, its function, length, destination, source.
type CcmCryptFn = unsafe extern "C" fn(*mut c_void, *const c_void, CipherFn, usize, Out, In);

/// CCM, told all lengths with the nonce, because they are in the first block. The length of the tag
/// stayed in Nettle 4.
pub(super) struct Ccm {
    message: Aligned,
    cipher: Aligned,
    set_key: SetFn,
    encrypt: CipherFn,
    f: Functions,
    crypt: CcmCryptFn,
    nonce_len: usize,
    tag_len: usize,
}

impl Ccm {
    pub(super) fn new(request: &Request<'_>, cipher: &CipherMeta) -> Option<Self> {
        let crypt = if request.decrypts() { "nettle_ccm_decrypt" } else { "nettle_ccm_encrypt" };
        Some(Self {
            // `struct ccm_ctx` has 40 bytes.
            message: plenty(),
            cipher: schedule(cipher, cipher.set_encrypt_key, request.key),
            set_key: cipher.set_encrypt_key,
            encrypt: cipher.encrypt,
            f: Functions::of(&request.library.object).ok()?,
            // SAFETY: ccm.h.
            crypt: unsafe { request.function(crypt)? },
            nonce_len: request.algorithm.nonce_len,
            tag_len: request.algorithm.tag_len,
        })
    }
}

impl Steps for Ccm {
    #[inline]
    unsafe fn rekey(&mut self, key: *const u8) {
        // SAFETY: the caller's; the context is the function's.
        unsafe { (self.set_key)(self.cipher.as_mut_ptr(), key) }
    }

    #[inline]
    unsafe fn begin(&mut self, nonce: *const u8, aad: (*const u8, usize), len: usize) {
        let (message, cipher) = (self.message.as_mut_ptr(), self.cipher.as_mut_ptr());
        // SAFETY: the caller's; the contexts are the functions'.
        unsafe {
            let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
            let set_nonce = self.f.nettle_ccm_set_nonce;
            set_nonce(message, cipher, self.encrypt, nonce_len, nonce, aad.1, len, tag_len);
            (self.f.nettle_ccm_update)(message, cipher, self.encrypt, aad.1, aad.0);
        }
    }

    #[inline]
    unsafe fn crypt(&mut self, input: *const u8, output: *mut u8, len: usize) {
        let (message, cipher) = (self.message.as_mut_ptr(), self.cipher.as_mut_ptr());
        // SAFETY: as above.
        unsafe { (self.crypt)(message, cipher, self.encrypt, len, output, input) }
    }

    #[inline]
    unsafe fn digest(&mut self, tag: *mut u8) {
        let (message, cipher) = (self.message.as_mut_ptr(), self.cipher.as_mut_ptr());
        // SAFETY: as above.
        unsafe { (self.f.nettle_ccm_digest)(message, cipher, self.encrypt, self.tag_len, tag) }
    }
}
