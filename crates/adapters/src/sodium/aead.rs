//! Authenticated encryption: `crypto_aead_*`, detached.

use super::api::{DecryptFn, EncryptFn, Functions, ScheduleFn, outcome};
use super::{Request, absent};
use crate::aligned::Aligned;
use crate::family::{KEY_IN_EACH_MESSAGE, c_concat, operations, symbol};
use base::model::{Algorithm, Mode, Primitive};
use contract::{OpenError, Table, raw};
use std::ffi::CStr;
use std::ptr;

/// What the library calls an algorithm.
struct Names {
    prefix: &'static str,
    encrypt: &'static CStr,
    decrypt: &'static CStr,
}

macro_rules! names {
    ($prefix:literal, $suffix:literal) => {
        Names {
            prefix: $prefix,
            encrypt: c_concat!($prefix, "_encrypt_detached", $suffix),
            decrypt: c_concat!($prefix, "_decrypt_detached", $suffix),
        }
    };
}

/// `_ietf` are RFC 8439's 12-byte nonces; without it the nonce has 8 bytes.
fn names(algorithm: &Algorithm) -> Option<Names> {
    Some(match (algorithm.cipher, algorithm.mode, algorithm.key_len) {
        (Primitive::Aes, Mode::Gcm, 32) => names!("crypto_aead_aes256gcm", "_afternm"),
        (Primitive::ChaCha20, Mode::Poly1305, _) => {
            names!("crypto_aead_chacha20poly1305_ietf", "")
        }
        (Primitive::XChaCha20, Mode::Poly1305, _) => {
            names!("crypto_aead_xchacha20poly1305_ietf", "")
        }
        (Primitive::Aegis128 { lanes: 1 }, ..) => names!("crypto_aead_aegis128l", ""),
        (Primitive::Aegis256 { lanes: 1 }, ..) => names!("crypto_aead_aegis256", ""),
        _ => return None,
    })
}

struct State {
    encrypt: EncryptFn,
    decrypt: DecryptFn,
    /// The key, or AES-GCM's schedule of it.
    key: Aligned,
    key_len: usize,
    /// AES-GCM's key schedule; the others take the key as it is.
    schedule: Option<ScheduleFn>,
}

/// Opens an algorithm; only AES-GCM has a key schedule that can be kept.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (functions, algorithm, key) = (request.library, request.algorithm, request.key);
    let names = names(algorithm).ok_or_else(|| absent(algorithm))?;
    let tag_len = functions.length(&format!("{}_abytes", names.prefix))?;
    if tag_len != algorithm.tag_len {
        return Err(OpenError::Unsupported(format!(
            "this libsodium's {algorithm} has tags of {tag_len} bytes, not of {}",
            algorithm.tag_len
        )));
    }
    // SAFETY: the types are those of crypto_aead_*.h.
    let (encrypt, decrypt) = unsafe {
        (functions.get::<EncryptFn>(symbol(names.encrypt))?, functions.get(symbol(names.decrypt))?)
    };
    let key_len = key.len();
    let (key, schedule, rekey) = match algorithm.mode {
        Mode::Gcm => {
            let (key, schedule) = schedule(functions, key)?;
            (key, Some(schedule), c"crypto_aead_aes256gcm_beforenm")
        }
        _ => (Aligned::copied(key), None, KEY_IN_EACH_MESSAGE),
    };
    let call = if request.decrypts() { names.decrypt } else { names.encrypt };
    let state = State { encrypt, decrypt, key, key_len, schedule };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts());
    Ok(table.rekeys(rekey).raw())
}

/// The key schedule of AES-256-GCM with the powers of its hash key.
fn schedule(functions: &Functions, key: &[u8]) -> Result<(Aligned, ScheduleFn), OpenError> {
    if !functions.ask("crypto_aead_aes256gcm_is_available")? {
        return Err(OpenError::Unsupported(
            "libsodium has AES-256-GCM only where the CPU has AES and carry-less multiply \
             instructions that it uses"
                .to_owned(),
        ));
    }
    let mut schedule = Aligned::zeroed(functions.length("crypto_aead_aes256gcm_statebytes")?);
    // SAFETY: the type is that of crypto_aead_aes256gcm.h.
    let make = unsafe { functions.get::<ScheduleFn>("crypto_aead_aes256gcm_beforenm")? };
    // SAFETY: the state has the size that the library asks for, on a 16-byte boundary; the key has
    // 32 bytes.
    match unsafe { make(schedule.as_mut_ptr(), key.as_ptr()) } {
        0 => Ok((schedule, make)),
        _ => Err(OpenError::Failed("crypto_aead_aes256gcm_beforenm failed".to_owned())),
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        // The length of the tag and the secret nonce are not asked for.
        outcome((self.encrypt)(
            m.output,
            m.tag,
            ptr::null_mut(),
            m.input,
            m.len as u64,
            m.aad,
            m.aad_len as u64,
            ptr::null(),
            m.nonce,
            self.key.as_ptr(),
        ))
    }

    /// The only error that decryption has is a wrong tag.
    fn decrypt(&mut self, m) {
        let result = (self.decrypt)(
            m.output,
            ptr::null_mut(),
            m.input,
            m.len as u64,
            m.tag,
            m.aad,
            m.aad_len as u64,
            m.nonce,
            self.key.as_ptr(),
        );
        if result == 0 { raw::OK } else { raw::REJECTED }
    }

    fn rekey(&mut self, key) {
        match self.schedule {
            Some(schedule) => outcome(schedule(self.key.as_mut_ptr(), key)),
            None => {
                self.key.overwrite(key, self.key_len);
                raw::OK
            }
        }
    }
}
