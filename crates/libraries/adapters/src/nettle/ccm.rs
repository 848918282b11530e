//! CCM by its steps.

use super::api::{CipherFn, CipherMeta, SetFn};
use super::parts::Steps;
use super::{Request, plenty, schedule};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use std::ffi::c_void;

/// CCM, told all lengths with the nonce, because they are in the first block. The length of the tag
/// stayed in Nettle 4.
pub(super) struct Ccm {
    message: Aligned,
    cipher: Aligned,
    set_key: SetFn,
    encrypt: CipherFn,
    set_nonce: CcmNonceFn,
    update: CcmUpdateFn,
    crypt: CcmCryptFn,
    digest: CcmDigestFn,
    nonce_len: usize,
    tag_len: usize,
}

/// `ccm_set_nonce`: message, cipher, its function, nonce's length, nonce, lengths of associated data,
/// message and tag.
type CcmNonceFn =
    unsafe extern "C" fn(*mut c_void, *const c_void, CipherFn, usize, In, usize, usize, usize);
/// `ccm_update`: message, cipher, its function, length, bytes.
type CcmUpdateFn = unsafe extern "C" fn(*mut c_void, *const c_void, CipherFn, usize, In);
/// `ccm_encrypt`: message, cipher, its function, length, destination, source.
type CcmCryptFn = unsafe extern "C" fn(*mut c_void, *const c_void, CipherFn, usize, Out, In);
/// `ccm_digest`: message, cipher, its function, length, destination.
type CcmDigestFn = unsafe extern "C" fn(*mut c_void, *const c_void, CipherFn, usize, Out);

impl Ccm {
    pub(super) fn new(request: &Request<'_>, cipher: &CipherMeta) -> Option<Self> {
        let crypt = if request.decrypts() { "nettle_ccm_decrypt" } else { "nettle_ccm_encrypt" };
        // SAFETY: ccm.h.
        let (set_nonce, update, crypt, digest) = unsafe {
            (
                request.function::<CcmNonceFn>("nettle_ccm_set_nonce")?,
                request.function::<CcmUpdateFn>("nettle_ccm_update")?,
                request.function::<CcmCryptFn>(crypt)?,
                request.function::<CcmDigestFn>("nettle_ccm_digest")?,
            )
        };
        Some(Self {
            // `struct ccm_ctx` has 40 bytes.
            message: plenty(),
            cipher: schedule(cipher, cipher.set_encrypt_key, request.key),
            set_key: cipher.set_encrypt_key,
            encrypt: cipher.encrypt,
            set_nonce,
            update,
            crypt,
            digest,
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
            (self.set_nonce)(
                message,
                cipher,
                self.encrypt,
                self.nonce_len,
                nonce,
                aad.1,
                len,
                self.tag_len,
            );
            (self.update)(message, cipher, self.encrypt, aad.1, aad.0);
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
        unsafe { (self.digest)(message, cipher, self.encrypt, self.tag_len, tag) }
    }
}
