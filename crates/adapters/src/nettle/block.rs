//! ECB, CBC, CFB, CFB8 and CTR: one function for each mode over any block cipher.

use super::api::{CipherFn, ModeFn, SetFn};
use super::plenty;
use super::{Request, schedule};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::operations;
use base::model::{Mode, Primitive};
use contract::{Table, raw};
use std::ffi::{CStr, c_int, c_void};

/// `nettle_cbc_aes256_encrypt`: context, IV, length, destination, source.
type AesCbcFn = unsafe extern "C" fn(*const c_void, Out, usize, Out, In);

/// What goes over the message.
#[derive(Clone, Copy)]
enum Call {
    /// The block cipher itself (ECB).
    Blocks,
    /// A mode's function.
    Mode(ModeFn),
    /// CBC encryption as one with AES, since Nettle 3.8.
    AesCbc(AesCbcFn),
}

/// What makes a key schedule.
#[derive(Clone, Copy)]
enum SetKey {
    Cipher(SetFn),
    /// Whose result says whether the key is a strong one.
    TripleDes(unsafe extern "C" fn(*mut c_void, In) -> c_int),
}

impl SetKey {
    /// # Safety
    /// The context is the cipher's, the key has its length.
    #[inline]
    unsafe fn run(self, context: *mut c_void, key: *const u8) {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Self::Cipher(set) => set(context, key),
                Self::TripleDes(set) => {
                    set(context, key);
                }
            }
        }
    }
}

struct State {
    call: Call,
    block: CipherFn,
    context: Aligned,
    set_key: SetKey,
    block_len: usize,
    /// Of the message that is under way; the library keeps it up to date.
    iv: [u8; 16],
    /// A message must be a multiple of it, or the library would end the process.
    unit: usize,
    /// An update of a stream must be one: only the last may end within a block.
    stream_unit: usize,
    /// It did: the stream can only begin anew.
    ended: bool,
}

/// Opens a mode.
pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    let Cipher { context, set_key, block_len, encrypt, decrypt } = cipher(request)?;
    let (call, block, words) = call(request, encrypt, decrypt)?;
    let mode = request.algorithm.mode;
    let state = State {
        call,
        block,
        context,
        set_key,
        block_len,
        iv: [0; 16],
        unit: if matches!(mode, Mode::Ecb | Mode::Cbc) { block_len } else { 1 },
        stream_unit: if mode == Mode::Cfb8 { 1 } else { block_len },
        ended: false,
    };
    Some(
        Table::new(state, raw::IN_PLACE, words)
            .streams()
            .rekeys(c"nettle_cipher.set_encrypt_key or set_decrypt_key")
            .raw(),
    )
}

/// A block cipher with the key schedule that the direction needs.
struct Cipher {
    context: Aligned,
    set_key: SetKey,
    block_len: usize,
    encrypt: CipherFn,
    decrypt: CipherFn,
}

fn cipher(request: &Request<'_>) -> Option<Cipher> {
    if request.algorithm.cipher == Primitive::TripleDes {
        return triple_des(request);
    }
    let cipher = request.cipher()?;
    let backwards = request.decrypts() && matches!(request.algorithm.mode, Mode::Ecb | Mode::Cbc);
    let set_key = if backwards { cipher.set_decrypt_key } else { cipher.set_encrypt_key };
    let context = schedule(cipher, set_key, request.key);
    Some(Cipher {
        context,
        set_key: SetKey::Cipher(set_key),
        block_len: cipher.block_size as usize,
        encrypt: cipher.encrypt,
        decrypt: cipher.decrypt,
    })
}

/// Triple DES has no description of its own: `des3_set_key` says whether the key is a strong one,
/// and sets it either way.
fn triple_des(request: &Request<'_>) -> Option<Cipher> {
    type SetKeyFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
    // SAFETY: des.h.
    let (set_key, encrypt, decrypt) = unsafe {
        (
            request.function::<SetKeyFn>("nettle_des3_set_key")?,
            request.function::<CipherFn>("nettle_des3_encrypt")?,
            request.function::<CipherFn>("nettle_des3_decrypt")?,
        )
    };
    let mut context = plenty();
    // SAFETY: `struct des3_ctx` has 384 bytes; the key has 24.
    unsafe { set_key(context.as_mut_ptr(), request.key.as_ptr()) };
    Some(Cipher { context, set_key: SetKey::TripleDes(set_key), block_len: 8, encrypt, decrypt })
}

/// The mode's function, the block function that it takes, and both in words.
fn call(
    request: &Request<'_>,
    encrypt: CipherFn,
    decrypt: CipherFn,
) -> Option<(Call, CipherFn, &'static CStr)> {
    let mode = |symbol: &str| {
        // SAFETY: cbc.h, cfb.h and ctr.h give them all this type.
        unsafe { request.function::<ModeFn>(symbol) }.map(Call::Mode)
    };
    let aes = request.algorithm.cipher == Primitive::Aes;
    Some(match (request.algorithm.mode, request.decrypts()) {
        (Mode::Ecb, false) => (Call::Blocks, encrypt, c"nettle_cipher.encrypt"),
        (Mode::Ecb, true) => (Call::Blocks, decrypt, c"nettle_cipher.decrypt"),
        (Mode::Cbc, true) => (mode("nettle_cbc_decrypt")?, decrypt, c"nettle_cbc_decrypt"),
        (Mode::Cbc, false) => {
            let symbol = format!("nettle_cbc_aes{}_encrypt", request.key_bits());
            // SAFETY: cbc.h.
            match unsafe { request.function::<AesCbcFn>(&symbol) }.filter(|_| aes) {
                Some(whole) => {
                    let words = match request.key_bits() {
                        128 => c"nettle_cbc_aes128_encrypt",
                        192 => c"nettle_cbc_aes192_encrypt",
                        _ => c"nettle_cbc_aes256_encrypt",
                    };
                    (Call::AesCbc(whole), encrypt, words)
                }
                None => (mode("nettle_cbc_encrypt")?, encrypt, c"nettle_cbc_encrypt"),
            }
        }
        (Mode::Cfb, false) => (mode("nettle_cfb_encrypt")?, encrypt, c"nettle_cfb_encrypt"),
        (Mode::Cfb, true) => (mode("nettle_cfb_decrypt")?, encrypt, c"nettle_cfb_decrypt"),
        (Mode::Cfb8, false) => (mode("nettle_cfb8_encrypt")?, encrypt, c"nettle_cfb8_encrypt"),
        (Mode::Cfb8, true) => (mode("nettle_cfb8_decrypt")?, encrypt, c"nettle_cfb8_decrypt"),
        (Mode::Ctr, _) => (mode("nettle_ctr_crypt")?, encrypt, c"nettle_ctr_crypt"),
        _ => return None,
    })
}

impl State {
    /// # Safety
    /// The nonce has the algorithm's length, which is a block's where there is one.
    #[inline]
    unsafe fn begin(&mut self, nonce: *const u8) {
        if !matches!(self.call, Call::Blocks) {
            // SAFETY: the caller's; no block is longer than the IV.
            unsafe { nonce.copy_to_nonoverlapping(self.iv.as_mut_ptr(), self.block_len) }
        }
    }

    /// # Safety
    /// Input and output cover `len` bytes.
    #[inline]
    unsafe fn crypt(&mut self, input: *const u8, output: *mut u8, len: usize) -> i32 {
        let (context, iv) = (self.context.as_mut_ptr(), self.iv.as_mut_ptr());
        // SAFETY: the caller's; the context is the block function's.
        unsafe {
            match self.call {
                Call::Blocks => (self.block)(context, len, output, input),
                Call::Mode(f) => f(context, self.block, self.block_len, iv, len, output, input),
                Call::AesCbc(f) => f(context, iv, len, output, input),
            }
        }
        raw::OK
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        if !m.len.is_multiple_of(self.unit) {
            return raw::FAILED;
        }
        self.begin(m.nonce);
        self.crypt(m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        self.ended = false;
        self.begin(nonce);
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        if (self.ended && len > 0) || !len.is_multiple_of(self.unit) {
            return raw::FAILED;
        }
        // Nettle forgets the rest of a block's key stream: what ends within one is the last part.
        self.ended |= !len.is_multiple_of(self.stream_unit);
        self.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        self.set_key.run(self.context.as_mut_ptr(), key);
        raw::OK
    }
}
