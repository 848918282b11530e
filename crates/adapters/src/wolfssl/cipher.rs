//! Ciphers without authentication, but for XTS: a keyed context with a chaining value.

use super::Request;
use super::api::{Context, ENCRYPTION, done, lengths, number, outcome};
use crate::bytes::{In, Out};
use crate::family::{c_concat, calls, operations, symbol};
use base::model::{Mode, Primitive};
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// `wc_AesSetKey`: context, key, length, IV, direction.
type AesSetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32, In, c_int) -> c_int;
/// `wc_Des3_SetKey`: context, key, IV, direction.
type DesSetKeyFn = unsafe extern "C" fn(*mut c_void, In, In, c_int) -> c_int;
/// `wc_CamelliaSetKey`: context, key, length, IV.
type CamelliaSetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32, In) -> c_int;
/// `wc_Chacha_SetKey`: context, key, length.
type ChaChaSetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_AesSetIV`, `wc_Des3_SetIV`, `wc_CamelliaSetIV`: context, IV.
type SetIvFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
/// `wc_Chacha_SetIV`: context, nonce, block counter.
type SetNonceFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_AesCbcEncrypt` and the like: context, output, input, length in bytes (CFB1: bits).
type CryptFn = unsafe extern "C" fn(*mut c_void, Out, In, u32) -> c_int;

/// How a message's nonce is set.
#[derive(Clone, Copy)]
enum Nonce {
    /// ECB has none.
    None,
    Iv(SetIvFn),
    Counter(SetNonceFn),
}

/// What sets a key, with what it takes besides.
#[derive(Clone, Copy)]
enum SetKey {
    Aes(AesSetKeyFn, u32, c_int),
    TripleDes(DesSetKeyFn, c_int),
    Camellia(CamelliaSetKeyFn, u32),
    ChaCha(ChaChaSetKeyFn, u32),
}

impl SetKey {
    fn find(request: &Request<'_>) -> Result<(Self, &'static CStr), OpenError> {
        let (object, len) = (&request.library.object, request.key_len());
        // The modes that make a key stream run the block cipher forwards both ways.
        let forwards = !matches!(request.algorithm.mode, Mode::Ecb | Mode::Cbc);
        let way = if forwards { ENCRYPTION } else { number(request.direction) };
        // SAFETY: the types are those of the headers for the symbols named.
        Ok(unsafe {
            match request.algorithm.cipher {
                Primitive::TripleDes => {
                    (Self::TripleDes(object.exported("wc_Des3_SetKey")?, way), c"wc_Des3_SetKey")
                }
                Primitive::Camellia => (
                    Self::Camellia(object.exported("wc_CamelliaSetKey")?, len),
                    c"wc_CamelliaSetKey",
                ),
                Primitive::ChaCha20 => {
                    (Self::ChaCha(object.exported("wc_Chacha_SetKey")?, len), c"wc_Chacha_SetKey")
                }
                _ => (Self::Aes(object.exported("wc_AesSetKey")?, len, way), c"wc_AesSetKey"),
            }
        })
    }

    /// # Safety
    /// The context is the cipher's, the key has its length; without an IV zeroes are taken until one
    /// is set.
    #[inline]
    unsafe fn run(self, context: *mut c_void, key: *const u8) -> c_int {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Aes(set, len, way) => set(context, key, len, ptr::null(), way),
                Self::TripleDes(set, way) => set(context, key, ptr::null(), way),
                Self::Camellia(set, len) => set(context, key, len, ptr::null()),
                Self::ChaCha(set, len) => set(context, key, len),
            }
        }
    }
}

struct State {
    set_key: SetKey,
    /// Streams have a context of their own: a message in between must not touch them.
    message: Context,
    stream: Context,
    nonce: Nonce,
    crypt: CryptFn,
    /// 8 where lengths are in bits.
    scale: usize,
}

/// Which functions an algorithm takes: setting the nonce, the work in either direction, what
/// `message` calls in either direction.
struct Names {
    set_nonce: Option<&'static str>,
    crypt: [&'static str; 2],
    calls: [&'static CStr; 2],
}

macro_rules! names {
    ($encrypt:literal, $decrypt:literal) => {
        Names {
            set_nonce: None,
            crypt: [$encrypt, $decrypt],
            calls: [c_concat!($encrypt), c_concat!($decrypt)],
        }
    };
    ($set_nonce:literal: $encrypt:literal, $decrypt:literal) => {
        Names {
            set_nonce: Some($set_nonce),
            crypt: [$encrypt, $decrypt],
            calls: [c_concat!($set_nonce, ", ", $encrypt), c_concat!($set_nonce, ", ", $decrypt)],
        }
    };
}

fn names(primitive: Primitive, mode: Mode) -> Option<Names> {
    Some(match (primitive, mode) {
        (Primitive::Aes, Mode::Ecb) => names!("wc_AesEcbEncrypt", "wc_AesEcbDecrypt"),
        (Primitive::Aes, Mode::Cbc) => {
            names!("wc_AesSetIV": "wc_AesCbcEncrypt", "wc_AesCbcDecrypt")
        }
        (Primitive::Aes, Mode::Cfb) => {
            names!("wc_AesSetIV": "wc_AesCfbEncrypt", "wc_AesCfbDecrypt")
        }
        (Primitive::Aes, Mode::Cfb8) => {
            names!("wc_AesSetIV": "wc_AesCfb8Encrypt", "wc_AesCfb8Decrypt")
        }
        (Primitive::Aes, Mode::Cfb1) => {
            names!("wc_AesSetIV": "wc_AesCfb1Encrypt", "wc_AesCfb1Decrypt")
        }
        (Primitive::Aes, Mode::Ofb) => {
            names!("wc_AesSetIV": "wc_AesOfbEncrypt", "wc_AesOfbDecrypt")
        }
        // Counter mode is its own inverse, and has one function.
        (Primitive::Aes, Mode::Ctr) => {
            names!("wc_AesSetIV": "wc_AesCtrEncrypt", "wc_AesCtrEncrypt")
        }
        (Primitive::Camellia, Mode::Cbc) => {
            names!("wc_CamelliaSetIV": "wc_CamelliaCbcEncrypt", "wc_CamelliaCbcDecrypt")
        }
        // The key's direction decides; wc_Des3_EcbDecrypt is another name of this function.
        (Primitive::TripleDes, Mode::Ecb) => names!("wc_Des3_EcbEncrypt", "wc_Des3_EcbEncrypt"),
        (Primitive::TripleDes, Mode::Cbc) => {
            names!("wc_Des3_SetIV": "wc_Des3_CbcEncrypt", "wc_Des3_CbcDecrypt")
        }
        (Primitive::ChaCha20, Mode::Stream) => {
            names!("wc_Chacha_SetIV": "wc_Chacha_Process", "wc_Chacha_Process")
        }
        _ => return None,
    })
}

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let names = names(request.algorithm.cipher, request.algorithm.mode)
        .ok_or_else(|| request.absent("wolfCrypt"))?;
    let which = usize::from(request.decrypts());
    // SAFETY: the types are those of aes.h, camellia.h, des3.h and chacha.h for the symbols named.
    let (nonce, crypt) = unsafe {
        let nonce = match names.set_nonce {
            None => Nonce::None,
            Some(symbol) if request.algorithm.cipher == Primitive::ChaCha20 => {
                Nonce::Counter(object.exported(symbol)?)
            }
            Some(symbol) => Nonce::Iv(object.exported(symbol)?),
        };
        (nonce, object.exported(names.crypt[which])?)
    };
    let (set_key, set_key_words) = SetKey::find(request)?;
    let begin = || keyed(request, (set_key, set_key_words));
    let state = State {
        set_key,
        message: begin()?,
        stream: begin()?,
        nonce,
        crypt,
        scale: if request.algorithm.mode == Mode::Cfb1 { 8 } else { 1 },
    };
    Ok(Table::new(state, raw::IN_PLACE, names.calls[which]).streams().rekeys(set_key_words).raw())
}

/// A context with its key schedule done.
fn keyed(
    request: &Request<'_>,
    (set_key, call): (SetKey, &'static CStr),
) -> Result<Context, OpenError> {
    let object = &request.library.object;
    let context = match request.algorithm.cipher {
        // SAFETY: both are those of des3.h.
        Primitive::TripleDes => unsafe {
            Context::initialised(object, "wc_Des3Init", "wc_Des3Free")?
        },
        // SAFETY: it is that of camellia.h.
        Primitive::Camellia => unsafe { Context::zeroed().freed_by(object, "wc_CamelliaFree") },
        Primitive::ChaCha20 => Context::zeroed(),
        _ => Context::aes(object)?,
    };
    // SAFETY: the context is the cipher's; the key has the algorithm's length.
    let code = unsafe { set_key.run(context.pointer(), request.key.as_ptr()) };
    done(symbol(call), code)?;
    Ok(context)
}

operations! { impl for State;
    fn message(&mut self, m) {
        lengths!(len = m.len * self.scale);
        calls!(
            self.set_nonce(&self.message, m.nonce),
            (self.crypt)(self.message.pointer(), m.output, m.input, len),
        )
    }

    fn start(&mut self, nonce) {
        calls!(self.set_nonce(&self.stream, nonce))
    }

    fn update(&mut self, input, output, len) {
        lengths!(len = len * self.scale);
        calls!((self.crypt)(self.stream.pointer(), output, input, len))
    }

    fn rekey(&mut self, key) {
        calls!(self.set_key.run(self.message.pointer(), key))
    }
}

impl State {
    /// # Safety
    /// `nonce` has the algorithm's length.
    #[inline]
    unsafe fn set_nonce(&self, context: &Context, nonce: *const u8) -> c_int {
        // SAFETY: the caller's promise; the context has its key.
        unsafe {
            match self.nonce {
                Nonce::None => 0,
                Nonce::Iv(set_iv) => set_iv(context.pointer(), nonce),
                Nonce::Counter(set_nonce) => set_nonce(context.pointer(), nonce, 0),
            }
        }
    }
}
