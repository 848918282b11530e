//! Opening an algorithm: its name chooses the types, its key is expanded here, outside the clock.

use crate::aead::{Aead, CcmMode, ChaCha, Gcm, Ocb};
use crate::block::{Cbc, Cfb, Ecb};
use crate::mode::{BlockCipher, Mode};
use crate::stream::{Ctr, Ofb};
use crate::table::{messages, messages_and_streams};
use crate::xts::Xts;
use aes::{Aes128, Aes192, Aes256};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit};
use cipher::typenum::Unsigned;
use contract::raw;
use model::Direction;
use std::ffi::{CStr, c_char};

/// What is to be opened, read from the C struct.
struct Wanted<'a> {
    algorithm: &'a str,
    decrypt: bool,
    key: &'a [u8],
    nonce_len: usize,
    tag_len: usize,
}

/// Why something cannot be opened.
type Why = String;

/// `cm_adapter.open`
///
/// # Safety
/// As `include/ciphermark.h` says: every pointer is valid for what it points to, `why` for
/// `why_len` bytes.
pub(crate) unsafe extern "C" fn open(
    request: *const raw::Request,
    session: *mut raw::Session,
    why: *mut c_char,
    why_len: usize,
) -> i32 {
    // SAFETY: the caller's.
    let wanted = unsafe { wanted(&*request) };
    match wanted.and_then(|wanted| opened(&wanted)) {
        Ok(opened) => {
            // SAFETY: the caller's; the old value, if it is one, is plain data.
            unsafe { session.write(opened) };
            raw::OK
        }
        Err(reason) => {
            // SAFETY: the caller's.
            unsafe { tell(&reason, why, why_len) };
            raw::UNSUPPORTED
        }
    }
}

/// # Safety
/// The request's pointers are valid for their lengths.
unsafe fn wanted(request: &raw::Request) -> Result<Wanted<'_>, Why> {
    // SAFETY: the name is NUL-terminated.
    let algorithm = unsafe { CStr::from_ptr(request.algorithm) };
    let key = match request.key_len {
        0 => &[],
        // SAFETY: the key covers its length.
        len => unsafe { std::slice::from_raw_parts(request.key, len) },
    };
    let decrypt = match request.direction {
        d if d == raw::direction_number(Direction::Encrypt) => false,
        d if d == raw::direction_number(Direction::Decrypt) => true,
        _ => return Err("the RustCrypto crates are attached as ciphers only".to_owned()),
    };
    Ok(Wanted {
        algorithm: algorithm.to_str().map_err(|_| "the algorithm's name is not UTF-8")?,
        decrypt,
        key,
        nonce_len: request.nonce_len,
        tag_len: request.tag_len,
    })
}

fn opened(wanted: &Wanted<'_>) -> Result<raw::Session, Why> {
    if wanted.algorithm == "chacha20-poly1305" {
        let mode: Option<ChaCha> = ChaCha20Poly1305::new_from_slice(wanted.key).ok().map(Aead);
        return whole(wanted, mode);
    }
    let unsupported = || format!("no RustCrypto crate of these is {}", wanted.algorithm);
    let name = wanted.algorithm.strip_prefix("aes-").ok_or_else(unsupported)?;
    match name.split_once('-').ok_or_else(unsupported)? {
        ("128", "xts") => streamed(wanted, Xts::<Aes128>::new(wanted.key)),
        ("256", "xts") => streamed(wanted, Xts::<Aes256>::new(wanted.key)),
        ("128", mode) => aes_mode::<Aes128>(wanted, mode),
        ("192", mode) => aes_mode::<Aes192>(wanted, mode),
        ("256", mode) => aes_mode::<Aes256>(wanted, mode),
        _ => Err(unsupported()),
    }
}

fn aes_mode<C: BlockCipher>(wanted: &Wanted<'_>, mode: &str) -> Result<raw::Session, Why> {
    let cipher = C::new_from_slice(wanted.key).ok();
    match mode {
        "ecb" => streamed(wanted, cipher.map(Ecb)),
        "cbc" => streamed(wanted, cipher.map(Cbc)),
        "cfb" => streamed(wanted, cipher.map(Cfb)),
        "ofb" => streamed(wanted, cipher.map(Ofb)),
        "ctr" => streamed(wanted, cipher.map(Ctr)),
        "gcm" => whole(wanted, cipher.map(|c| -> Gcm<C> { Aead(c.into()) })),
        "ccm" => whole(wanted, cipher.map(|c| -> CcmMode<C> { Aead(c.into()) })),
        "ocb" => whole(wanted, cipher.map(|c| -> Ocb<C> { Aead(c.into()) })),
        _ => Err(format!("no RustCrypto crate of these is {}", wanted.algorithm)),
    }
}

fn whole<M: Mode>(wanted: &Wanted<'_>, mode: Option<M>) -> Result<raw::Session, Why> {
    Ok(messages(fitting(wanted, mode)?, wanted.decrypt))
}

fn streamed<M: crate::mode::Streaming>(
    wanted: &Wanted<'_>,
    mode: Option<M>,
) -> Result<raw::Session, Why> {
    Ok(messages_and_streams(fitting(wanted, mode)?, wanted.decrypt))
}

/// The mode, if key, nonce and tag have the lengths that its types fix.
fn fitting<M: Mode>(wanted: &Wanted<'_>, mode: Option<M>) -> Result<M, Why> {
    let Wanted { algorithm, key, nonce_len, tag_len, .. } = wanted;
    let mode = mode.ok_or_else(|| format!("{algorithm} takes no key of {} bytes", key.len()))?;
    if (*nonce_len, *tag_len) == (M::NonceSize::USIZE, M::TagSize::USIZE) {
        Ok(mode)
    } else {
        Err(format!(
            "{algorithm} is attached with nonces of {} and tags of {} bytes, not {nonce_len} and {tag_len}",
            M::NonceSize::USIZE,
            M::TagSize::USIZE,
        ))
    }
}

/// Writes as much of the reason as there is room for, NUL-terminated.
///
/// # Safety
/// `why` is valid for `why_len` bytes.
unsafe fn tell(reason: &str, why: *mut c_char, why_len: usize) {
    let Some(room) = why_len.checked_sub(1) else { return };
    let len = reason.len().min(room);
    // SAFETY: the caller's; `len` bytes and the NUL fit.
    unsafe {
        std::ptr::copy_nonoverlapping(reason.as_ptr().cast(), why, len);
        why.add(len).write(0);
    }
}
