//! Authenticated encryption: `crypto_aead_*`, detached.

use super::absent;
use super::api::{DecryptFn, EncryptFn, Functions, ScheduleFn, outcome};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::{Algorithm, Direction, Mode, Primitive};
use std::ffi::{CStr, c_void};
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
            encrypt: const { c_str(concat!($prefix, "_encrypt_detached", $suffix, "\0")) },
            decrypt: const { c_str(concat!($prefix, "_decrypt_detached", $suffix, "\0")) },
        }
    };
}

const fn c_str(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("one NUL, at the end"),
    }
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
pub(super) fn open(
    functions: &Functions,
    algorithm: &Algorithm,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
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
        (functions.get_named::<EncryptFn>(names.encrypt)?, functions.get_named(names.decrypt)?)
    };
    let key_len = key.len();
    let (key, schedule) = match algorithm.mode {
        Mode::Gcm => {
            let (key, schedule) = schedule(functions, key)?;
            (key, Some(schedule))
        }
        _ => (Aligned::copied(key), None),
    };
    let rekey_call = if schedule.is_some() {
        c"crypto_aead_aes256gcm_beforenm"
    } else {
        c"none: the key is an argument of each message"
    };
    let encrypts = direction == Direction::Encrypt;
    Ok(raw::Session {
        state: Box::into_raw(Box::new(State { encrypt, decrypt, key, key_len, schedule })).cast(),
        flags: raw::IN_PLACE,
        message: Some(if encrypts { message_encrypt } else { message_decrypt }),
        call: if encrypts { names.encrypt } else { names.decrypt }.as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: rekey_call.as_ptr(),
        ..raw::Session::empty()
    })
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

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        match state.schedule {
            Some(schedule) => outcome(schedule(state.key.as_mut_ptr(), key)),
            None => {
                state.key.overwrite(key, state.key_len);
                raw::OK
            }
        }
    }
}

unsafe extern "C" fn message_encrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules; the length of
    // the tag and the secret nonce are not asked for.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        outcome((state.encrypt)(
            m.output,
            m.tag,
            ptr::null_mut(),
            m.input,
            m.len as u64,
            m.aad,
            m.aad_len as u64,
            ptr::null(),
            m.nonce,
            state.key.as_ptr(),
        ))
    }
}

/// The only error that decryption has is a wrong tag.
unsafe extern "C" fn message_decrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    let result = unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        (state.decrypt)(
            m.output,
            ptr::null_mut(),
            m.input,
            m.len as u64,
            m.tag,
            m.aad,
            m.aad_len as u64,
            m.nonce,
            state.key.as_ptr(),
        )
    };
    if result == 0 { raw::OK } else { raw::REJECTED }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
