//! ECB, CBC, CFB, CFB8, OFB and CTR: each block cipher's module has its own functions.

use super::context::Context;
use super::{Request, done, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations, symbol};
use base::model::{Mode, Primitive};
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_int, c_uint, c_void};

/// `mbedtls_aes_setkey_enc`: context, key, bits.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In, c_uint) -> c_int;
/// `mbedtls_des3_set3key_enc`: context, key.
type SetDesKeyFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
/// `mbedtls_aes_crypt_ecb`: context, direction, input, output; one block.
type EcbFn = unsafe extern "C" fn(*mut c_void, c_int, In, Out) -> c_int;
/// `mbedtls_aria_crypt_ecb`, `mbedtls_des3_crypt_ecb`: the key schedule has the direction.
type PlainEcbFn = unsafe extern "C" fn(*mut c_void, In, Out) -> c_int;
/// `mbedtls_aes_crypt_cbc`, `_cfb8`: context, direction, length, IV, input, output.
type CbcFn = unsafe extern "C" fn(*mut c_void, c_int, usize, Out, In, Out) -> c_int;
/// `mbedtls_aes_crypt_cfb128`: context, direction, length, place in the block, IV, input, output.
type CfbFn = unsafe extern "C" fn(*mut c_void, c_int, usize, *mut usize, Out, In, Out) -> c_int;
/// `mbedtls_aes_crypt_ofb`: context, length, place in the block, IV, input, output.
type OfbFn = unsafe extern "C" fn(*mut c_void, usize, *mut usize, Out, In, Out) -> c_int;
/// `mbedtls_aes_crypt_ctr`: context, length, place in the block, counter, block of key stream, input,
/// output.
type CtrFn = unsafe extern "C" fn(*mut c_void, usize, *mut usize, Out, Out, In, Out) -> c_int;

#[derive(Clone, Copy)]
enum Call {
    Ecb(EcbFn),
    PlainEcb(PlainEcbFn),
    Cbc(CbcFn),
    Cfb(CfbFn),
    Ofb(OfbFn),
    Ctr(CtrFn),
}

/// What makes the key schedule that mode and direction need.
#[derive(Clone, Copy)]
enum SetKey {
    Bits(SetKeyFn, c_uint),
    TripleDes(SetDesKeyFn),
}

impl SetKey {
    fn find(request: &Request<'_>) -> Result<Self, OpenError> {
        let backwards =
            request.decrypts() && matches!(request.algorithm.mode, Mode::Ecb | Mode::Cbc);
        let way = if backwards { "dec" } else { "enc" };
        if request.algorithm.cipher == Primitive::TripleDes {
            // SAFETY: des.h.
            let set_key = unsafe { request.function(&format!("mbedtls_des3_set3key_{way}"))? };
            return Ok(Self::TripleDes(set_key));
        }
        let cipher = request.cipher_name()?;
        // SAFETY: aes.h, camellia.h and aria.h.
        let set_key = unsafe { request.function(&format!("mbedtls_{cipher}_setkey_{way}"))? };
        Ok(Self::Bits(set_key, request.key_bits()))
    }

    /// # Safety
    /// The context is the cipher's, the key has its length.
    #[inline]
    unsafe fn run(self, context: *mut c_void, key: *const u8) -> c_int {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Self::Bits(set_key, bits) => set_key(context, key, bits),
                Self::TripleDes(set_key) => set_key(context, key),
            }
        }
    }
}

struct State {
    context: Context,
    set_key: SetKey,
    call: Call,
    way: c_int,
    block_len: usize,
    /// What the caller keeps of the message that is under way: IV or counter, what is left of the
    /// key stream, and where in the block it stands.
    iv: [u8; 16],
    key_stream: [u8; 16],
    place: usize,
}

/// Opens a mode.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (call, words) = call(request)?;
    let block_len = request.algorithm.cipher.block_len().ok_or_else(|| request.none())?;
    let set_key = SetKey::find(request)?;
    let state = State {
        context: context(request, set_key)?,
        set_key,
        call,
        way: request.way(),
        block_len,
        iv: [0; 16],
        key_stream: [0; 16],
        place: 0,
    };
    Ok(Table::new(state, raw::IN_PLACE, words)
        .streams()
        .rekeys(c"the cipher's setkey function of the direction")
        .raw())
}

/// A context with its key schedule.
fn context(request: &Request<'_>, set_key: SetKey) -> Result<Context, OpenError> {
    let mut context = Context::new(request, &format!("mbedtls_{}", request.cipher_name()?))?;
    // SAFETY: the context is the cipher's, the key has its length.
    let code = unsafe { set_key.run(context.get(), request.key.as_ptr()) };
    done("setkey", code)?;
    Ok(context)
}

operations! { impl for State;
    fn message(&mut self, m) {
        self.begin(m.nonce);
        self.crypt(m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        self.begin(nonce);
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        self.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        calls!(self.set_key.run(self.context.get(), key))
    }
}

/// The mode's function, and its name for readers.
fn call(request: &Request<'_>) -> Result<(Call, &'static CStr), OpenError> {
    use Primitive::{Aes, Aria, Camellia, TripleDes};
    let words = match (request.algorithm.mode, request.algorithm.cipher) {
        (Mode::Ecb, Aes) => c"mbedtls_aes_crypt_ecb",
        (Mode::Ecb, Camellia) => c"mbedtls_camellia_crypt_ecb",
        (Mode::Ecb, Aria) => c"mbedtls_aria_crypt_ecb",
        (Mode::Ecb, TripleDes) => c"mbedtls_des3_crypt_ecb",
        (Mode::Cbc, Aes) => c"mbedtls_aes_crypt_cbc",
        (Mode::Cbc, Camellia) => c"mbedtls_camellia_crypt_cbc",
        (Mode::Cbc, Aria) => c"mbedtls_aria_crypt_cbc",
        (Mode::Cbc, TripleDes) => c"mbedtls_des3_crypt_cbc",
        (Mode::Cfb, Aes) => c"mbedtls_aes_crypt_cfb128",
        (Mode::Cfb, Camellia) => c"mbedtls_camellia_crypt_cfb128",
        (Mode::Cfb, Aria) => c"mbedtls_aria_crypt_cfb128",
        (Mode::Cfb8, Aes) => c"mbedtls_aes_crypt_cfb8",
        (Mode::Ofb, Aes) => c"mbedtls_aes_crypt_ofb",
        (Mode::Ctr, Aes) => c"mbedtls_aes_crypt_ctr",
        (Mode::Ctr, Camellia) => c"mbedtls_camellia_crypt_ctr",
        (Mode::Ctr, Aria) => c"mbedtls_aria_crypt_ctr",
        _ => return Err(request.none()),
    };
    let symbol = symbol(words);
    let with_direction = matches!(request.algorithm.cipher, Aes | Camellia);
    // SAFETY: aes.h, camellia.h, aria.h and des.h.
    let call = unsafe {
        match request.algorithm.mode {
            Mode::Ecb if with_direction => Call::Ecb(request.function(symbol)?),
            Mode::Ecb => Call::PlainEcb(request.function(symbol)?),
            Mode::Cbc | Mode::Cfb8 => Call::Cbc(request.function(symbol)?),
            Mode::Cfb => Call::Cfb(request.function(symbol)?),
            Mode::Ofb => Call::Ofb(request.function(symbol)?),
            _ => Call::Ctr(request.function(symbol)?),
        }
    };
    Ok((call, words))
}

impl State {
    /// # Safety
    /// The nonce has the algorithm's length: a block, or none in ECB.
    #[inline]
    unsafe fn begin(&mut self, nonce: *const u8) {
        if !matches!(self.call, Call::Ecb(_) | Call::PlainEcb(_)) {
            // SAFETY: the caller's; no block is longer than the IV.
            unsafe { nonce.copy_to_nonoverlapping(self.iv.as_mut_ptr(), self.block_len) }
            self.place = 0;
        }
    }

    /// # Safety
    /// Input and output cover `len` bytes.
    #[inline]
    unsafe fn crypt(&mut self, input: *const u8, output: *mut u8, len: usize) -> i32 {
        let (context, way) = (self.context.get(), self.way);
        let (iv, place) = (self.iv.as_mut_ptr(), &raw mut self.place);
        // SAFETY: the caller's; the context is the function's.
        unsafe {
            match self.call {
                Call::Ecb(f) => {
                    self.blocks(len, |at| f(context, way, input.add(at), output.add(at)))
                }
                Call::PlainEcb(f) => {
                    self.blocks(len, |at| f(context, input.add(at), output.add(at)))
                }
                Call::Cbc(f) => calls!(f(context, way, len, iv, input, output)),
                Call::Cfb(f) => calls!(f(context, way, len, place, iv, input, output)),
                Call::Ofb(f) => calls!(f(context, len, place, iv, input, output)),
                Call::Ctr(f) => {
                    let rest = self.key_stream.as_mut_ptr();
                    calls!(f(context, len, place, iv, rest, input, output))
                }
            }
        }
    }

    /// ECB: the library's functions take one block, its general cipher layer as well.
    #[inline]
    fn blocks(&self, len: usize, mut one: impl FnMut(usize) -> c_int) -> i32 {
        if !len.is_multiple_of(self.block_len) {
            return raw::FAILED;
        }
        for at in (0..len).step_by(self.block_len) {
            let code = one(at);
            if code != 0 {
                return outcome(code);
            }
        }
        raw::OK
    }
}
