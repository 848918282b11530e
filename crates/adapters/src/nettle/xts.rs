//! XTS: a function for a whole data unit.

use super::api::{CipherFn, CipherMeta, SetFn};
use super::plenty;
use super::{Request, schedule};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::operations;
use base::model::Primitive;
use contract::{Table, raw};
use std::ffi::{CStr, c_void};

/// `nettle_xts_aes256_encrypt_message`: key, tweak, length, destination, source.
type AesFn = unsafe extern "C" fn(*mut c_void, In, usize, Out, In);
/// `nettle_xts_encrypt_message`: contexts of data and tweak, the function for both, tweak, length,
/// destination, source.
type EncryptFn = unsafe extern "C" fn(*const c_void, *const c_void, CipherFn, In, usize, Out, In);
/// `nettle_xts_decrypt_message`: contexts of data and tweak, a function for each, tweak, length,
/// destination, source.
type DecryptFn =
    unsafe extern "C" fn(*const c_void, *const c_void, CipherFn, CipherFn, In, usize, Out, In);

enum Call {
    /// Both keys in one struct.
    Aes { call: AesFn, key: Aligned },
    /// Any block cipher, encryption.
    Encrypt { call: EncryptFn, data: Aligned, tweak: Aligned, cipher: &'static CipherMeta },
    /// Any block cipher, decryption.
    Decrypt { call: DecryptFn, data: Aligned, tweak: Aligned, cipher: &'static CipherMeta },
}

struct State {
    call: Call,
    /// Of every data unit of a stream.
    tweak: [u8; 16],
}

/// Opens XTS: with AES by its own functions, else by the general one.
pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    let (call, words) = aes(request).or_else(|| any(request))?;
    Some(Table::new(State { call, tweak: [0; 16] }, raw::IN_PLACE, words).streams().raw())
}

fn aes(request: &Request<'_>) -> Option<(Call, &'static CStr)> {
    if request.algorithm.cipher != Primitive::Aes {
        return None;
    }
    let way = if request.decrypts() { "decrypt" } else { "encrypt" };
    let prefix = format!("nettle_xts_aes{}", request.key_bits());
    // SAFETY: xts.h.
    let (set_key, call) = unsafe {
        (
            request.function::<SetFn>(&format!("{prefix}_set_{way}_key"))?,
            request.function::<AesFn>(&format!("{prefix}_{way}_message"))?,
        )
    };
    let mut key = plenty();
    // SAFETY: `struct xts_aes256_key` holds two AES contexts, below 500 bytes together; the key has both
    // keys.
    unsafe { set_key(key.as_mut_ptr(), request.key.as_ptr()) };
    let words = match (request.key_bits(), request.decrypts()) {
        (128, false) => c"nettle_xts_aes128_encrypt_message",
        (128, true) => c"nettle_xts_aes128_decrypt_message",
        (_, false) => c"nettle_xts_aes256_encrypt_message",
        (_, true) => c"nettle_xts_aes256_decrypt_message",
    };
    Some((Call::Aes { call, key }, words))
}

fn any(request: &Request<'_>) -> Option<(Call, &'static CStr)> {
    let cipher = request.cipher()?;
    let (data_key, tweak_key) = request.key.split_at(request.key.len() / 2);
    let tweak = schedule(cipher, cipher.set_encrypt_key, tweak_key);
    // SAFETY: xts.h.
    Some(unsafe {
        if request.decrypts() {
            let data = schedule(cipher, cipher.set_decrypt_key, data_key);
            let call = request.function("nettle_xts_decrypt_message")?;
            (Call::Decrypt { call, data, tweak, cipher }, c"nettle_xts_decrypt_message")
        } else {
            let data = schedule(cipher, cipher.set_encrypt_key, data_key);
            let call = request.function("nettle_xts_encrypt_message")?;
            (Call::Encrypt { call, data, tweak, cipher }, c"nettle_xts_encrypt_message")
        }
    })
}

impl Call {
    /// # Safety
    /// The tweak has sixteen bytes; input and output cover `len` bytes.
    #[inline]
    unsafe fn unit(
        &mut self,
        nonce: *const u8,
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> i32 {
        // The library would end the process.
        if len < 16 {
            return raw::FAILED;
        }
        // SAFETY: the caller's; the contexts are the functions'.
        unsafe {
            match self {
                Self::Aes { call, key } => call(key.as_mut_ptr(), nonce, len, output, input),
                Self::Encrypt { call, data, tweak, cipher } => {
                    let [data, tweak] = [data, tweak].map(|c| c.as_mut_ptr());
                    call(data, tweak, cipher.encrypt, nonce, len, output, input);
                }
                Self::Decrypt { call, data, tweak, cipher } => {
                    let [data, tweak] = [data, tweak].map(|c| c.as_mut_ptr());
                    call(data, tweak, cipher.decrypt, cipher.encrypt, nonce, len, output, input);
                }
            }
        }
        raw::OK
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        self.call.unit(m.nonce, m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        self.tweak = nonce.cast::<[u8; 16]>().read_unaligned();
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        self.call.unit(self.tweak.as_ptr(), input, output, len)
    }
}
