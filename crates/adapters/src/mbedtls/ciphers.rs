//! Mbed TLS's ciphers: the modes of each block cipher's module, XTS, ChaCha20, GCM with GMAC, CCM and
//! ChaCha20-Poly1305.

use crate::family::{In, Out, calls, operations, steps, symbol};
use crate::mbedtls::{Context, Request, done, outcome};
use crate::rc4::{self, Keyed};
use crate::wrap::{self, CHECK, KeyWrap};
use base::model::{Mode, Primitive};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_uint, c_void};

/// `mbedtls_aes_setkey_enc`, `mbedtls_blowfish_setkey`: context, key, bits.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In, c_uint) -> c_int;
/// `mbedtls_des3_set3key_enc`, `mbedtls_des_setkey_enc`: context, key.
type SetDesKeyFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
/// `mbedtls_aes_crypt_ecb`: context, direction, input, output; one block.
type EcbFn = unsafe extern "C" fn(*mut c_void, c_int, In, Out) -> c_int;
/// `mbedtls_aria_crypt_ecb`, `mbedtls_des3_crypt_ecb`, `mbedtls_des_crypt_ecb`: the key schedule has the direction.
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
    Des(SetDesKeyFn),
}

impl SetKey {
    fn find(request: &Request<'_>) -> Result<Self, OpenError> {
        let backwards =
            request.decrypts() && matches!(request.algorithm.mode, Mode::Ecb | Mode::Cbc);
        let way = if backwards { "dec" } else { "enc" };
        let name = match request.algorithm.cipher {
            Primitive::TripleDes => format!("mbedtls_des3_set3key_{way}"),
            // One schedule for both ways.
            Primitive::Blowfish => "mbedtls_blowfish_setkey".to_owned(),
            _ => format!("mbedtls_{}_setkey_{way}", request.cipher_name()?),
        };
        // SAFETY: des.h, blowfish.h, aes.h, camellia.h and aria.h.
        Ok(unsafe {
            match request.algorithm.cipher {
                Primitive::TripleDes | Primitive::Des => Self::Des(request.function(&name)?),
                _ => Self::Bits(request.function(&name)?, request.key_bits()),
            }
        })
    }
}

steps! { impl for SetKey;
    fn run(self, context: *mut c_void, key: In) -> c_int {
        match self {
            Self::Bits(set_key, bits) => set_key(context, key, bits),
            Self::Des(set_key) => set_key(context, key),
        }
    }
}

struct BlockState {
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

pub(crate) fn open_block(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (call, words) = call(request)?;
    let block_len = request.algorithm.cipher.block_len().ok_or_else(|| request.none())?;
    let set_key = SetKey::find(request)?;
    let state = BlockState {
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

fn context(request: &Request<'_>, set_key: SetKey) -> Result<Context, OpenError> {
    let mut context = Context::new(request, &format!("mbedtls_{}", request.cipher_name()?))?;
    // SAFETY: the context is the cipher's, the key has its length.
    let code = unsafe { set_key.run(context.get(), request.key.as_ptr()) };
    done("setkey", code)?;
    Ok(context)
}

operations! { impl for BlockState;
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

fn call(request: &Request<'_>) -> Result<(Call, &'static CStr), OpenError> {
    use Primitive::{Aes, Aria, Blowfish, Camellia, Des, TripleDes};
    let words = match (request.algorithm.mode, request.algorithm.cipher) {
        (Mode::Ecb, Aes) => c"mbedtls_aes_crypt_ecb",
        (Mode::Ecb, Camellia) => c"mbedtls_camellia_crypt_ecb",
        (Mode::Ecb, Aria) => c"mbedtls_aria_crypt_ecb",
        (Mode::Ecb, TripleDes) => c"mbedtls_des3_crypt_ecb",
        (Mode::Ecb, Des) => c"mbedtls_des_crypt_ecb",
        (Mode::Ecb, Blowfish) => c"mbedtls_blowfish_crypt_ecb",
        (Mode::Cbc, Aes) => c"mbedtls_aes_crypt_cbc",
        (Mode::Cbc, Camellia) => c"mbedtls_camellia_crypt_cbc",
        (Mode::Cbc, Aria) => c"mbedtls_aria_crypt_cbc",
        (Mode::Cbc, TripleDes) => c"mbedtls_des3_crypt_cbc",
        (Mode::Cbc, Des) => c"mbedtls_des_crypt_cbc",
        (Mode::Cbc, Blowfish) => c"mbedtls_blowfish_crypt_cbc",
        (Mode::Cfb, Aes) => c"mbedtls_aes_crypt_cfb128",
        (Mode::Cfb, Camellia) => c"mbedtls_camellia_crypt_cfb128",
        (Mode::Cfb, Aria) => c"mbedtls_aria_crypt_cfb128",
        (Mode::Cfb, Blowfish) => c"mbedtls_blowfish_crypt_cfb64",
        (Mode::Cfb8, Aes) => c"mbedtls_aes_crypt_cfb8",
        (Mode::Ofb, Aes) => c"mbedtls_aes_crypt_ofb",
        (Mode::Ctr, Aes) => c"mbedtls_aes_crypt_ctr",
        (Mode::Ctr, Camellia) => c"mbedtls_camellia_crypt_ctr",
        (Mode::Ctr, Aria) => c"mbedtls_aria_crypt_ctr",
        (Mode::Ctr, Blowfish) => c"mbedtls_blowfish_crypt_ctr",
        _ => return Err(request.none()),
    };
    let symbol = symbol(words);
    let with_direction = matches!(request.algorithm.cipher, Aes | Camellia | Blowfish);
    // SAFETY: aes.h, camellia.h, aria.h, des.h and blowfish.h.
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

steps! { impl for BlockState;
    /// The nonce is a block, or none in ECB.
    fn begin(&mut self, nonce: In) {
        if !matches!(self.call, Call::Ecb(_) | Call::PlainEcb(_)) {
            // No block is longer than the IV.
            nonce.copy_to_nonoverlapping(self.iv.as_mut_ptr(), self.block_len);
            self.place = 0;
        }
    }

    fn crypt(&mut self, input: In, output: Out, len: usize) -> i32 {
        let (context, way) = (self.context.get(), self.way);
        let (iv, place) = (self.iv.as_mut_ptr(), &raw mut self.place);
        match self.call {
            Call::Ecb(f) => self.blocks(len, |at| f(context, way, input.add(at), output.add(at))),
            Call::PlainEcb(f) => self.blocks(len, |at| f(context, input.add(at), output.add(at))),
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

impl BlockState {
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

// XTS, which only the AES module has: a function for a whole data unit.
//
// Not in place: where the unit ends within a block, the function writes the bytes that are stolen over
// the input before it reads it (every version tried; README.md). A stream is in place, so there is none.

/// `mbedtls_aes_xts_setkey_enc`: context, both keys, bits of both.
type SetXtsKeyFn = unsafe extern "C" fn(*mut c_void, In, c_uint) -> c_int;
/// `mbedtls_aes_crypt_xts`: context, direction, length, tweak, input, output.
type XtsFn = unsafe extern "C" fn(*mut c_void, c_int, usize, In, In, Out) -> c_int;

struct XtsState {
    context: Context,
    set_key: SetXtsKeyFn,
    key_bits: c_uint,
    call: XtsFn,
    way: c_int,
}

pub(crate) fn open_xts(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    if request.algorithm.cipher != Primitive::Aes {
        return Err(request.none());
    }
    let mut context = Context::new(request, "mbedtls_aes_xts")?;
    let way = if request.decrypts() { "dec" } else { "enc" };
    // SAFETY: aes.h.
    let (set_key, call) = unsafe {
        let set_key: SetXtsKeyFn = request.function(&format!("mbedtls_aes_xts_setkey_{way}"))?;
        (set_key, request.function::<XtsFn>("mbedtls_aes_crypt_xts")?)
    };
    // SAFETY: the keys have so many bits.
    let code = unsafe { set_key(context.get(), request.key.as_ptr(), request.key_bits()) };
    done("mbedtls_aes_xts_setkey", code)?;
    let state =
        XtsState { context, set_key, key_bits: request.key_bits(), call, way: request.way() };
    Ok(Table::new(state, 0, c"mbedtls_aes_crypt_xts")
        .rekeys(c"mbedtls_aes_xts_setkey_enc or _dec")
        .raw())
}

operations! { impl for XtsState;
    fn message(&mut self, m) {
        calls!((self.call)(self.context.get(), self.way, m.len, m.nonce, m.input, m.output))
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.context.get(), key, self.key_bits))
    }
}

functions! {
    /// chacha20.h.
    struct ChaChaFunctions {
        mbedtls_chacha20_setkey: fn(*mut c_void, In) -> c_int;
        /// Context, nonce, block counter.
        mbedtls_chacha20_starts: fn(*mut c_void, In, u32) -> c_int;
        /// Context, length, input, output.
        mbedtls_chacha20_update: fn(*mut c_void, usize, In, Out) -> c_int;
    }
}

struct ChaChaState {
    context: Context,
    f: ChaChaFunctions,
}

pub(crate) fn open_chacha(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let mut context = Context::new(request, "mbedtls_chacha20")?;
    let f = ChaChaFunctions::of(&request.library.object)?;
    // SAFETY: the key has 32 bytes.
    let code = unsafe { (f.mbedtls_chacha20_setkey)(context.get(), request.key.as_ptr()) };
    done("mbedtls_chacha20_setkey", code)?;
    let call = c"mbedtls_chacha20_starts, mbedtls_chacha20_update";
    let table = Table::new(ChaChaState { context, f }, raw::IN_PLACE, call).streams();
    Ok(table.rekeys(c"mbedtls_chacha20_setkey").raw())
}

operations! { impl for ChaChaState;
    fn message(&mut self, m) {
        let context = self.context.get();
        calls!(
            (self.f.mbedtls_chacha20_starts)(context, m.nonce, 0),
            (self.f.mbedtls_chacha20_update)(context, m.len, m.input, m.output),
        )
    }

    fn start(&mut self, nonce) {
        calls!((self.f.mbedtls_chacha20_starts)(self.context.get(), nonce, 0))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.f.mbedtls_chacha20_update)(self.context.get(), len, input, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.f.mbedtls_chacha20_setkey)(self.context.get(), key))
    }
}

functions! {
    /// arc4.h, which version 3 has no more.
    struct Arc4Functions {
        /// Context, key, bytes.
        mbedtls_arc4_setup: fn(*mut c_void, In, c_uint);
        /// Context, length, input, output.
        mbedtls_arc4_crypt: fn(*mut c_void, usize, In, Out) -> c_int;
    }
}

struct Arc4 {
    context: Context,
    f: Arc4Functions,
    key_len: c_uint,
}

pub(crate) fn open_arc4(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = Arc4Functions::of(&request.library.object)?;
    let state = || -> Result<Arc4, OpenError> {
        let context = Context::new(request, "mbedtls_arc4")?;
        Ok(Arc4 { context, f, key_len: request.key_bits() / 8 })
    };
    let call = c"mbedtls_arc4_setup, mbedtls_arc4_crypt";
    Ok(rc4::session([state()?, state()?], request.key, 0, call))
}

steps! { impl Keyed for Arc4;
    fn schedule(&mut self, key: In) -> i32 {
        (self.f.mbedtls_arc4_setup)(self.context.get(), key, self.key_len);
        raw::OK
    }

    fn advance(&mut self, input: In, output: Out, len: usize) -> i32 {
        outcome((self.f.mbedtls_arc4_crypt)(self.context.get(), len, input, output))
    }
}

functions! {
    /// nist_kw.h.
    struct KwFunctions {
        /// Context, cipher, key, bits, whether to wrap.
        mbedtls_nist_kw_setkey: fn(*mut c_void, c_int, In, c_uint, c_int) -> c_int;
        /// Context, mode, input, output, how much came out, its room.
        mbedtls_nist_kw_wrap: fn(*mut c_void, c_int, In, usize, Out, *mut usize, usize) -> c_int;
        mbedtls_nist_kw_unwrap: fn(*mut c_void, c_int, In, usize, Out, *mut usize, usize) -> c_int;
    }
}

/// `MBEDTLS_ERR_CIPHER_AUTH_FAILED`
const CIPHER_AUTH_FAILED: c_int = -0x6300;
/// `MBEDTLS_KW_MODE_KW`
const KW: c_int = 0;
/// `MBEDTLS_KW_MODE_KWP`
const KWP: c_int = 1;

struct Kw {
    context: Context,
    f: KwFunctions,
    id: c_int,
    key_bits: c_uint,
    wraps: c_int,
    mode: c_int,
}

pub(crate) fn open_key_wrap(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = KwFunctions::of(&request.library.object)?;
    let (id, key_bits) = (request.cipher_id()?, request.key_bits());
    let context = Context::new(request, "mbedtls_nist_kw")?;
    let wraps = c_int::from(!request.decrypts());
    let mode = if request.algorithm.mode == Mode::KeyWrapPadded { KWP } else { KW };
    let mut state = Kw { context, f, id, key_bits, wraps, mode };
    // SAFETY: the key has so many bits.
    let code = unsafe { state.rekey(request.key.as_ptr()) };
    done("mbedtls_nist_kw_setkey", code)?;
    let calls = [c"mbedtls_nist_kw_wrap, memcpy", c"memcpy, mbedtls_nist_kw_unwrap"];
    let set_key = c"mbedtls_nist_kw_setkey";
    Ok(wrap::session(state, request.decrypts(), 0, calls, set_key))
}

steps! { impl KeyWrap for Kw;
    fn wrap(&mut self, key: In, len: usize, wrapped: Out) -> i32 {
        let (context, whole, mut written) = (self.context.get(), len + CHECK, 0);
        let wrap = self.f.mbedtls_nist_kw_wrap;
        let code = wrap(context, self.mode, key, len, wrapped, &raw mut written, whole);
        if code == 0 && written != whole { raw::FAILED } else { outcome(code) }
    }

    fn unwrap(&mut self, wrapped: Out, len: usize, key: Out) -> i32 {
        let (context, whole, mut written) = (self.context.get(), len + CHECK, 0);
        let unwrap = self.f.mbedtls_nist_kw_unwrap;
        match unwrap(context, self.mode, wrapped, whole, key, &raw mut written, len) {
            CIPHER_AUTH_FAILED => raw::REJECTED,
            0 if written != len => raw::FAILED,
            code => outcome(code),
        }
    }

    fn rekey(&mut self, key: In) -> i32 {
        let set_key = self.f.mbedtls_nist_kw_setkey;
        outcome(set_key(self.context.get(), self.id, key, self.key_bits, self.wraps))
    }
}

// GCM, and GMAC, which is GCM without a message.

functions! {
    /// gcm.h, what all versions have alike.
    struct GcmFunctions {
        /// Context, cipher, key, bits.
        mbedtls_gcm_setkey: fn(*mut c_void, c_int, In, c_uint) -> c_int;
        /// Context, direction, length, IV, associated data, input, output, tag.
        mbedtls_gcm_crypt_and_tag: fn(
            *mut c_void, c_int, usize, In, usize, In, usize, In, Out, usize, Out
        ) -> c_int;
        /// Context, length, IV, associated data, tag, input, output.
        mbedtls_gcm_auth_decrypt: fn(
            *mut c_void, usize, In, usize, In, usize, In, usize, In, Out
        ) -> c_int;
    }
}
/// `mbedtls_gcm_starts` of version 2: context, direction, IV, associated data.
type OldStartFn = unsafe extern "C" fn(*mut c_void, c_int, In, usize, In, usize) -> c_int;
/// `mbedtls_gcm_update` of version 2: context, length, input, output.
type OldUpdateFn = unsafe extern "C" fn(*mut c_void, usize, In, Out) -> c_int;
/// `mbedtls_gcm_starts` since version 3: context, direction, IV.
type StartFn = unsafe extern "C" fn(*mut c_void, c_int, In, usize) -> c_int;
/// `mbedtls_gcm_update` since version 3: context, input, output, how much came out.
type UpdateFn = unsafe extern "C" fn(*mut c_void, In, usize, Out, usize, *mut usize) -> c_int;

/// `MBEDTLS_ERR_GCM_AUTH_FAILED`
const AUTH_FAILED: c_int = -0x12;
/// `MBEDTLS_GCM_ENCRYPT`
const ENCRYPT: c_int = 1;

#[derive(Clone, Copy)]
enum Stream {
    /// Version 2, which takes whole blocks until the last.
    Old(OldStartFn, OldUpdateFn),
    New(StartFn, UpdateFn),
}

struct GcmState {
    context: Context,
    f: GcmFunctions,
    id: c_int,
    key_bits: c_uint,
    stream: Stream,
    way: c_int,
    nonce_len: usize,
    tag_len: usize,
}

pub(crate) fn open_gcm(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let state = state(request)?;
    let (flags, seal, set_key) =
        (raw::IN_PLACE, c"mbedtls_gcm_crypt_and_tag", c"mbedtls_gcm_setkey");
    if request.algorithm.mode == Mode::Gmac {
        return Ok(Table::new(Gmac(state), flags, seal).rekeys(set_key).raw());
    }
    let call = if request.decrypts() { c"mbedtls_gcm_auth_decrypt" } else { seal };
    let table = Table::new(state, flags, call).decrypts(request.decrypts()).streams();
    Ok(table.rekeys(set_key).raw())
}

fn state(request: &Request<'_>) -> Result<GcmState, OpenError> {
    /// `MBEDTLS_ERR_GCM_BAD_INPUT`: also for a cipher that was not built in.
    const BAD_INPUT: c_int = -0x14;
    let (id, key_bits) = (request.cipher_id()?, request.key_bits());
    let mut context = Context::new(request, "mbedtls_gcm")?;
    let f = GcmFunctions::of(&request.library.object)?;
    let (start, update) = ("mbedtls_gcm_starts", "mbedtls_gcm_update");
    // SAFETY: gcm.h of the version.
    let stream = unsafe {
        if request.library.major < 3 {
            Stream::Old(request.function(start)?, request.function(update)?)
        } else {
            Stream::New(request.function(start)?, request.function(update)?)
        }
    };
    // SAFETY: the key has so many bits.
    match unsafe { (f.mbedtls_gcm_setkey)(context.get(), id, request.key.as_ptr(), key_bits) } {
        BAD_INPUT => return Err(request.none()),
        code => done("mbedtls_gcm_setkey", code)?,
    }
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    Ok(GcmState { context, f, id, key_bits, stream, way: request.way(), nonce_len, tag_len })
}

steps! { #[inline(always)] impl for GcmState;
    /// Encrypts `input` and authenticates it with `aad` before it.
    fn seal(
        &mut self,
        m: &raw::Message,
        (input, output, len): (In, Out, usize),
        (aad, aad_len): (In, usize),
    ) -> i32 {
        let seal = self.f.mbedtls_gcm_crypt_and_tag;
        let (context, nonce, tag) = (self.context.get(), m.nonce, m.tag);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        calls!(seal(
            context, ENCRYPT, len, nonce, nonce_len, aad, aad_len, input, output, tag_len, tag
        ))
    }
}

operations! { impl for GcmState;
    fn message(&mut self, m) {
        self.seal(m, (m.input, m.output, m.len), (m.aad, m.aad_len))
    }

    fn decrypt(&mut self, m) {
        let (context, nonce, aad) = (self.context.get(), m.nonce, m.aad);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        let code = (self.f.mbedtls_gcm_auth_decrypt)(
            context, m.len, nonce, nonce_len, aad, m.aad_len, m.tag, tag_len, m.input, m.output,
        );
        if code == AUTH_FAILED { raw::REJECTED } else { outcome(code) }
    }

    fn start(&mut self, nonce) {
        let context = self.context.get();
        match self.stream {
            Stream::Old(start, _) => {
                calls!(start(context, self.way, nonce, self.nonce_len, std::ptr::null(), 0))
            }
            Stream::New(start, _) => calls!(start(context, self.way, nonce, self.nonce_len)),
        }
    }

    fn update(&mut self, input, output, len) {
        let context = self.context.get();
        match self.stream {
            // It would take the rest for the last of the message, and say nothing.
            Stream::Old(..) if !len.is_multiple_of(16) => raw::FAILED,
            Stream::Old(_, update) => calls!(update(context, len, input, output)),
            Stream::New(_, update) => {
                let mut written = 0;
                let code = update(context, input, len, output, len, &raw mut written);
                if code == 0 && written != len { raw::FAILED } else { outcome(code) }
            }
        }
    }

    fn rekey(&mut self, key) {
        calls!((self.f.mbedtls_gcm_setkey)(self.context.get(), self.id, key, self.key_bits))
    }
}

/// The message is the associated data; there is nothing to read or write beside it.
struct Gmac(GcmState);

operations! { impl for Gmac;
    fn message(&mut self, m) {
        let nothing = (std::ptr::null(), std::ptr::null_mut(), 0);
        self.0.seal(m, nothing, (m.input, m.len))
    }

    fn rekey(&mut self, key) {
        self.0.rekey(key)
    }
}

// CCM and ChaCha20-Poly1305: a call for a whole message.

functions! {
    struct CcmFunctions {
        /// Context, cipher, key, bits.
        mbedtls_ccm_setkey: fn(*mut c_void, c_int, In, c_uint) -> c_int;
        /// Context, length, nonce, associated data, input, output, tag.
        mbedtls_ccm_encrypt_and_tag: fn(
            *mut c_void, usize, In, usize, In, usize, In, Out, Out, usize
        ) -> c_int;
        /// The same, with a tag to read.
        mbedtls_ccm_auth_decrypt: fn(
            *mut c_void, usize, In, usize, In, usize, In, Out, Out, usize
        ) -> c_int;
    }
}

functions! {
    /// chachapoly.h.
    struct ChaChaPolyFunctions {
        mbedtls_chachapoly_setkey: fn(*mut c_void, In) -> c_int;
        /// Context, length, nonce, associated data, input, output, tag.
        mbedtls_chachapoly_encrypt_and_tag: fn(
            *mut c_void, usize, In, In, usize, In, Out, Out
        ) -> c_int;
        /// Context, length, nonce, associated data, tag, input, output.
        mbedtls_chachapoly_auth_decrypt: fn(*mut c_void, usize, In, In, usize, In, In, Out) -> c_int;
        /// Context, nonce, direction.
        mbedtls_chachapoly_starts: fn(*mut c_void, In, c_int) -> c_int;
        /// Context, length, input, output.
        mbedtls_chachapoly_update: fn(*mut c_void, usize, In, Out) -> c_int;
    }
}

/// `MBEDTLS_ERR_CCM_AUTH_FAILED`
const CCM_AUTH_FAILED: c_int = -0x0f;
/// `MBEDTLS_ERR_CHACHAPOLY_AUTH_FAILED`
const CHACHAPOLY_AUTH_FAILED: c_int = -0x56;

struct Ccm {
    context: Context,
    f: CcmFunctions,
    id: c_int,
    key_bits: c_uint,
    nonce_len: usize,
    tag_len: usize,
}

/// Opens CCM. A stream of it would have to know its length.
pub(crate) fn open_ccm(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    /// `MBEDTLS_ERR_CCM_BAD_INPUT`: also for a cipher that was not built in.
    const BAD_INPUT: c_int = -0x0d;
    let (id, key_bits) = (request.cipher_id()?, request.key_bits());
    let mut context = Context::new(request, "mbedtls_ccm")?;
    let f = CcmFunctions::of(&request.library.object)?;
    // SAFETY: the key has so many bits.
    match unsafe { (f.mbedtls_ccm_setkey)(context.get(), id, request.key.as_ptr(), key_bits) } {
        BAD_INPUT => return Err(request.none()),
        code => done("mbedtls_ccm_setkey", code)?,
    }
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    let call = match request.decrypts() {
        true => c"mbedtls_ccm_auth_decrypt",
        false => c"mbedtls_ccm_encrypt_and_tag",
    };
    let state = Ccm { context, f, id, key_bits, nonce_len, tag_len };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts());
    Ok(table.rekeys(c"mbedtls_ccm_setkey").raw())
}

struct ChaChaPoly {
    context: Context,
    f: ChaChaPolyFunctions,
    way: c_int,
}

pub(crate) fn open_chachapoly(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let mut context = Context::new(request, "mbedtls_chachapoly")?;
    let f = ChaChaPolyFunctions::of(&request.library.object)?;
    // SAFETY: the key has 32 bytes.
    let code = unsafe { (f.mbedtls_chachapoly_setkey)(context.get(), request.key.as_ptr()) };
    done("mbedtls_chachapoly_setkey", code)?;
    let call = match request.decrypts() {
        true => c"mbedtls_chachapoly_auth_decrypt",
        false => c"mbedtls_chachapoly_encrypt_and_tag",
    };
    // MBEDTLS_CHACHAPOLY_ENCRYPT is 0, unlike the other modules' numbers.
    let state = ChaChaPoly { context, f, way: c_int::from(request.decrypts()) };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts()).streams();
    Ok(table.rekeys(c"mbedtls_chachapoly_setkey").raw())
}

operations! { impl for Ccm;
    fn message(&mut self, m) {
        let (context, nonce, aad) = (self.context.get(), m.nonce, m.aad);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        calls!((self.f.mbedtls_ccm_encrypt_and_tag)(
            context, m.len, nonce, nonce_len, aad, m.aad_len, m.input, m.output, m.tag, tag_len,
        ))
    }

    fn decrypt(&mut self, m) {
        let (context, nonce, aad) = (self.context.get(), m.nonce, m.aad);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        let code = (self.f.mbedtls_ccm_auth_decrypt)(
            context, m.len, nonce, nonce_len, aad, m.aad_len, m.input, m.output, m.tag, tag_len,
        );
        if code == CCM_AUTH_FAILED { raw::REJECTED } else { outcome(code) }
    }

    fn rekey(&mut self, key) {
        calls!((self.f.mbedtls_ccm_setkey)(self.context.get(), self.id, key, self.key_bits))
    }
}

operations! { impl for ChaChaPoly;
    fn message(&mut self, m) {
        let (context, seal) = (self.context.get(), self.f.mbedtls_chachapoly_encrypt_and_tag);
        calls!(seal(context, m.len, m.nonce, m.aad, m.aad_len, m.input, m.output, m.tag))
    }

    fn decrypt(&mut self, m) {
        let (context, open) = (self.context.get(), self.f.mbedtls_chachapoly_auth_decrypt);
        let code = open(context, m.len, m.nonce, m.aad, m.aad_len, m.tag, m.input, m.output);
        if code == CHACHAPOLY_AUTH_FAILED { raw::REJECTED } else { outcome(code) }
    }

    fn start(&mut self, nonce) {
        calls!((self.f.mbedtls_chachapoly_starts)(self.context.get(), nonce, self.way))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.f.mbedtls_chachapoly_update)(self.context.get(), len, input, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.f.mbedtls_chachapoly_setkey)(self.context.get(), key))
    }
}
