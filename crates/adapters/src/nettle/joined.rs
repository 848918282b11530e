//! SIV and GCM-SIV: functions for a whole message, which has its tag in one piece with the ciphertext
//! (SIV before it, GCM-SIV behind it). What lies apart is put together or taken apart in a buffer of the
//! session's.

use super::api::CipherMeta;
use super::plenty;
use super::{Request, schedule};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::operations;
use base::model::{Mode, Primitive};
use contract::{Table, raw};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// `siv_gcm_aes256_encrypt_message`, `siv_cmac_aes256_encrypt_message`: key, lengths before bytes of
/// nonce, associated data and ciphertext, source.
type SealFn = unsafe extern "C" fn(*const c_void, usize, In, usize, In, usize, Out, In);
/// The same for decryption, with the plaintext's length; 1 when the tag is right.
type OpenFn = unsafe extern "C" fn(*const c_void, usize, In, usize, In, usize, Out, In) -> c_int;
/// `siv_cmac_encrypt_message`: CMAC's key and cipher, description, CTR's cipher, then as [`SealFn`].
type SealAnyFn = unsafe extern "C" fn(
    *const c_void,
    *const c_void,
    *const CipherMeta,
    *const c_void,
    usize,
    In,
    usize,
    In,
    usize,
    Out,
    In,
);
/// As [`SealAnyFn`] with [`OpenFn`]'s result.
type OpenAnyFn = unsafe extern "C" fn(
    *const c_void,
    *const c_void,
    *const CipherMeta,
    *const c_void,
    usize,
    In,
    usize,
    In,
    usize,
    Out,
    In,
) -> c_int;
/// `siv_cmac_aes256_set_key`
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In);
/// `siv_cmac_set_key`: CMAC's key and cipher, CTR's cipher, description, key.
type SetAnyKeyFn =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *const CipherMeta, In);

enum Call {
    Seal { key: Aligned, seal: SealFn },
    Open { key: Aligned, open: OpenFn },
    SealAny { keys: [Aligned; 3], cipher: &'static CipherMeta, seal: SealAnyFn },
    OpenAny { keys: [Aligned; 3], cipher: &'static CipherMeta, open: OpenAnyFn },
}

struct State {
    call: Call,
    nonce_len: usize,
    tag_len: usize,
    tag_first: bool,
    /// One whole message of the library's. Grows with the first message of a size, which is a
    /// warm-up's.
    joined: Vec<u8>,
}

/// Opens a mode: SIV-CMAC since Nettle 3.6 (with AES-128 and AES-256 by functions of their own), GCM-SIV since
/// 3.9.
pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    let (call, words) = match request.algorithm.mode {
        Mode::Siv => siv_aes(request).or_else(|| siv_any(request))?,
        _ => gcm_siv(request)?,
    };
    let state = State {
        call,
        nonce_len: request.algorithm.nonce_len,
        tag_len: request.algorithm.tag_len,
        tag_first: request.algorithm.mode == Mode::Siv,
        joined: Vec::new(),
    };
    Some(Table::new(state, raw::IN_PLACE | raw::COPIES, words).decrypts(request.decrypts()).raw())
}

fn siv_aes(request: &Request<'_>) -> Option<(Call, &'static CStr)> {
    if request.algorithm.cipher != Primitive::Aes {
        return None;
    }
    let prefix = format!("nettle_siv_cmac_aes{}", request.key_bits());
    // SAFETY: siv-cmac.h.
    let set_key = unsafe { request.function::<SetKeyFn>(&format!("{prefix}_set_key"))? };
    let mut key = plenty();
    // SAFETY: `struct siv_cmac_aes256_ctx` has 32 bytes and two AES contexts, together below 600.
    unsafe { set_key(key.as_mut_ptr(), request.key.as_ptr()) };
    let call = whole(request, &prefix, key)?;
    let words = match (request.key_bits(), request.decrypts()) {
        (128, false) => c"nettle_siv_cmac_aes128_encrypt_message",
        (128, true) => c"nettle_siv_cmac_aes128_decrypt_message",
        (_, false) => c"nettle_siv_cmac_aes256_encrypt_message",
        (_, true) => c"nettle_siv_cmac_aes256_decrypt_message",
    };
    Some((call, words))
}

fn gcm_siv(request: &Request<'_>) -> Option<(Call, &'static CStr)> {
    let cipher = request.cipher()?;
    let key = schedule(cipher, cipher.set_encrypt_key, request.key);
    let call = whole(request, &format!("nettle_siv_gcm_{}", request.cipher_name()?), key)?;
    let words = match (request.key_bits(), request.decrypts()) {
        (128, false) => c"nettle_siv_gcm_aes128_encrypt_message",
        (128, true) => c"nettle_siv_gcm_aes128_decrypt_message",
        (_, false) => c"nettle_siv_gcm_aes256_encrypt_message",
        (_, true) => c"nettle_siv_gcm_aes256_decrypt_message",
    };
    Some((call, words))
}

/// The message function of one direction.
fn whole(request: &Request<'_>, prefix: &str, key: Aligned) -> Option<Call> {
    // SAFETY: siv-cmac.h and siv-gcm.h.
    Some(unsafe {
        if request.decrypts() {
            Call::Open { key, open: request.function(&format!("{prefix}_decrypt_message"))? }
        } else {
            Call::Seal { key, seal: request.function(&format!("{prefix}_encrypt_message"))? }
        }
    })
}

fn siv_any(request: &Request<'_>) -> Option<(Call, &'static CStr)> {
    let cipher = request.cipher()?;
    // SAFETY: siv-cmac.h.
    let set_key = unsafe { request.function::<SetAnyKeyFn>("nettle_siv_cmac_set_key")? };
    let context = || Aligned::zeroed(cipher.context_size as usize);
    // `struct cmac128_key` has 32 bytes.
    let mut keys = [plenty(), context(), context()];
    let [cmac, mac_cipher, ctr_cipher] = keys.each_mut().map(Aligned::as_mut_ptr);
    // SAFETY: the contexts have the sizes that the library says; the key has both keys.
    unsafe { set_key(cmac, mac_cipher, ctr_cipher, cipher, request.key.as_ptr()) };
    // SAFETY: siv-cmac.h.
    Some(unsafe {
        if request.decrypts() {
            let open = request.function("nettle_siv_cmac_decrypt_message")?;
            (Call::OpenAny { keys, cipher, open }, c"nettle_siv_cmac_decrypt_message")
        } else {
            let seal = request.function("nettle_siv_cmac_encrypt_message")?;
            (Call::SealAny { keys, cipher, seal }, c"nettle_siv_cmac_encrypt_message")
        }
    })
}

impl State {
    /// The buffer for a message of `len` bytes, and where text and tag lie in it.
    #[inline]
    fn joined(&mut self, len: usize) -> (*mut u8, usize, usize) {
        let whole = len + self.tag_len;
        if self.joined.len() < whole {
            self.joined.resize(whole, 0);
        }
        let (text_at, tag_at) = if self.tag_first { (self.tag_len, 0) } else { (0, len) };
        (self.joined.as_mut_ptr(), text_at, tag_at)
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        // The buffer holds ciphertext and tag, and is nobody else's.
        let (joined, text_at, tag_at) = self.joined(m.len);
        let (nonce_len, whole) = (self.nonce_len, m.len + self.tag_len);
        match &mut self.call {
            Call::Seal { key, seal } => {
                seal(key.as_mut_ptr(), nonce_len, m.nonce, m.aad_len, m.aad, whole, joined, m.input)
            }
            Call::SealAny { keys, cipher, seal } => {
                let [cmac, mac_cipher, ctr_cipher] = keys.each_mut().map(Aligned::as_mut_ptr);
                seal(
                    cmac, mac_cipher, *cipher, ctr_cipher, nonce_len, m.nonce, m.aad_len, m.aad,
                    whole, joined, m.input,
                );
            }
            Call::Open { .. } | Call::OpenAny { .. } => return raw::FAILED,
        }
        ptr::copy_nonoverlapping(joined.add(text_at), m.output, m.len);
        ptr::copy_nonoverlapping(joined.add(tag_at), m.tag, self.tag_len);
        raw::OK
    }

    fn decrypt(&mut self, m) {
        let (joined, text_at, tag_at) = self.joined(m.len);
        ptr::copy_nonoverlapping(m.input, joined.add(text_at), m.len);
        ptr::copy_nonoverlapping(m.tag, joined.add(tag_at), self.tag_len);
        let nonce_len = self.nonce_len;
        let right = match &mut self.call {
            Call::Open { key, open: decrypt } => decrypt(
                key.as_mut_ptr(),
                nonce_len,
                m.nonce,
                m.aad_len,
                m.aad,
                m.len,
                m.output,
                joined,
            ),
            Call::OpenAny { keys, cipher, open: decrypt } => {
                let [cmac, mac_cipher, ctr_cipher] = keys.each_mut().map(Aligned::as_mut_ptr);
                decrypt(
                    cmac, mac_cipher, *cipher, ctr_cipher, nonce_len, m.nonce, m.aad_len, m.aad,
                    m.len, m.output, joined,
                )
            }
            Call::Seal { .. } | Call::SealAny { .. } => return raw::FAILED,
        };
        if right == 1 { raw::OK } else { raw::REJECTED }
    }
}
