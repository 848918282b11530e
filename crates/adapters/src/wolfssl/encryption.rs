//! wolfCrypt's encryption. Under a key schedule that is made once, a keyed context with a chaining value:
//! ciphers without authentication, XTS, GCM and CCM with one call a message, and GMAC. With one call a
//! message that takes the key itself: EAX, SIV, GCM-SIV and ChaCha20-Poly1305. In parts:
//! XChaCha20-Poly1305, whose one-shot functions want the tag behind the ciphertext, and Ascon.

use crate::family::{
    In, KEY_IN_EACH_MESSAGE, Out, c_concat, calls, operations, steps, symbol, whole,
};
use crate::rc4::{self, Keyed};
use crate::wolfssl::{
    ASCON_WRONG_TAG, CCM_WRONG_TAG, Context, EAX_WRONG_TAG, ENCRYPTION, GCM_WRONG_TAG,
    MAC_WRONG_TAG, NO_DEVICE, Request, SIV_WRONG_TAG, WRONG_CHECK, done, lengths, number, outcome,
    verdict,
};
use crate::wrap::{self, CHECK, KeyWrap};
use base::model::{Mode, Primitive};
use contract::loader::SharedObject;
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// `wc_AesSetKey`: context, key, length, IV, direction.
type AesSetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32, In, c_int) -> c_int;
/// `wc_Des3_SetKey`, `wc_Des_SetKey`: context, key, IV, direction.
type DesSetKeyFn = unsafe extern "C" fn(*mut c_void, In, In, c_int) -> c_int;
/// `wc_CamelliaSetKey`: context, key, length, IV.
type CamelliaSetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32, In) -> c_int;
/// `wc_Rc2SetKey`: context, key, length, IV, effective bits.
type Rc2SetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32, In, u32) -> c_int;
/// `wc_Chacha_SetKey`: context, key, length.
type ChaChaSetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_AesSetIV`, `wc_Des3_SetIV`, `wc_CamelliaSetIV`, `wc_Rc2SetIV`: context, IV.
type SetIvFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
/// `wc_Des_SetIV`: context, IV.
type SetDesIvFn = unsafe extern "C" fn(*mut c_void, In);
/// `wc_Chacha_SetIV`: context, nonce, block counter.
type SetNonceFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_AesCbcEncrypt` and the like: context, output, input, length in bytes (CFB1: bits).
type CryptFn = unsafe extern "C" fn(*mut c_void, Out, In, u32) -> c_int;

#[derive(Clone, Copy)]
enum Nonce {
    /// ECB has none.
    None,
    Iv(SetIvFn),
    DesIv(SetDesIvFn),
    Counter(SetNonceFn),
}

#[derive(Clone, Copy)]
enum SetKey {
    Aes(AesSetKeyFn, u32, c_int),
    Des(DesSetKeyFn, c_int),
    Rc2(Rc2SetKeyFn, u32),
    Camellia(CamelliaSetKeyFn, u32),
    ChaCha(ChaChaSetKeyFn, u32),
}

impl SetKey {
    fn find(request: &Request<'_>) -> Result<(Self, &'static CStr), OpenError> {
        let (object, len) = (&request.library.object, request.key_len());
        // The modes that make a key stream run the block cipher forwards both ways.
        let forwards = !matches!(request.algorithm.mode, Mode::Ecb | Mode::Cbc | Mode::KeyWrap);
        let way = if forwards { ENCRYPTION } else { number(request.direction) };
        let name = match request.algorithm.cipher {
            Primitive::TripleDes => c"wc_Des3_SetKey",
            Primitive::Des => c"wc_Des_SetKey",
            Primitive::Rc2 => c"wc_Rc2SetKey",
            Primitive::Camellia => c"wc_CamelliaSetKey",
            Primitive::ChaCha20 => c"wc_Chacha_SetKey",
            _ => c"wc_AesSetKey",
        };
        let symbol = symbol(name);
        // SAFETY: the types are those of the headers for the symbols named.
        let set_key = unsafe {
            match request.algorithm.cipher {
                Primitive::TripleDes | Primitive::Des => Self::Des(object.exported(symbol)?, way),
                Primitive::Rc2 => Self::Rc2(object.exported(symbol)?, len),
                Primitive::Camellia => Self::Camellia(object.exported(symbol)?, len),
                Primitive::ChaCha20 => Self::ChaCha(object.exported(symbol)?, len),
                _ => Self::Aes(object.exported(symbol)?, len, way),
            }
        };
        Ok((set_key, name))
    }
}

steps! { impl for SetKey;
    /// Without an IV zeroes are taken until one is set.
    fn run(self, context: *mut c_void, key: In) -> c_int {
        match self {
            Self::Aes(set, len, way) => set(context, key, len, ptr::null(), way),
            Self::Des(set, way) => set(context, key, ptr::null(), way),
            Self::Rc2(set, len) => set(context, key, len, ptr::null(), 8 * len),
            Self::Camellia(set, len) => set(context, key, len, ptr::null()),
            Self::ChaCha(set, len) => set(context, key, len),
        }
    }
}

struct CipherState {
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
    // ECB has no nonce.
    (none => $encrypt:literal, $decrypt:literal) => {
        Names {
            set_nonce: None,
            crypt: [$encrypt, $decrypt],
            calls: [c_concat!($encrypt), c_concat!($decrypt)],
        }
    };
    ($cipher:literal, $mode:literal) => {
        names!(
            concat!("wc_", $cipher, "SetIV") =>
            concat!("wc_", $cipher, $mode, "Encrypt"), concat!("wc_", $cipher, $mode, "Decrypt")
        )
    };
    ($set_nonce:expr => $encrypt:expr, $decrypt:expr) => {
        Names {
            set_nonce: Some($set_nonce),
            crypt: [$encrypt, $decrypt],
            calls: [c_concat!($set_nonce, ", ", $encrypt), c_concat!($set_nonce, ", ", $decrypt)],
        }
    };
}

fn names(primitive: Primitive, mode: Mode) -> Option<Names> {
    Some(match (primitive, mode) {
        (Primitive::Aes, Mode::Ecb) => names!(none => "wc_AesEcbEncrypt", "wc_AesEcbDecrypt"),
        (Primitive::Aes, Mode::Cbc) => names!("Aes", "Cbc"),
        (Primitive::Aes, Mode::Cfb) => names!("Aes", "Cfb"),
        (Primitive::Aes, Mode::Cfb8) => names!("Aes", "Cfb8"),
        (Primitive::Aes, Mode::Cfb1) => names!("Aes", "Cfb1"),
        (Primitive::Aes, Mode::Ofb) => names!("Aes", "Ofb"),
        // Counter mode is its own inverse, and has one function.
        (Primitive::Aes, Mode::Ctr) => {
            names!("wc_AesSetIV" => "wc_AesCtrEncrypt", "wc_AesCtrEncrypt")
        }
        (Primitive::Camellia, Mode::Cbc) => names!("Camellia", "Cbc"),
        // The key's direction decides; wc_Des3_EcbDecrypt is another name of this function.
        (Primitive::TripleDes, Mode::Ecb) => {
            names!(none => "wc_Des3_EcbEncrypt", "wc_Des3_EcbEncrypt")
        }
        (Primitive::TripleDes, Mode::Cbc) => names!("Des3_", "Cbc"),
        (Primitive::Des, Mode::Ecb) => names!(none => "wc_Des_EcbEncrypt", "wc_Des_EcbEncrypt"),
        (Primitive::Des, Mode::Cbc) => names!("Des_", "Cbc"),
        (Primitive::Rc2, Mode::Cbc) => names!("Rc2", "Cbc"),
        (Primitive::ChaCha20, Mode::Stream) => {
            names!("wc_Chacha_SetIV" => "wc_Chacha_Process", "wc_Chacha_Process")
        }
        _ => return None,
    })
}

functions! {
    /// arc4.h, of builds with RC4.
    struct Arc4Functions {
        /// Context, key, length.
        wc_Arc4SetKey: fn(*mut c_void, In, u32) -> c_int;
        /// Context, output, input, length.
        wc_Arc4Process: fn(*mut c_void, Out, In, u32) -> c_int;
    }
}

struct Arc4 {
    context: Context,
    f: Arc4Functions,
    key_len: u32,
}

pub(crate) fn open_arc4(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let f = Arc4Functions::of(object)?;
    let state = || -> Result<Arc4, OpenError> {
        // SAFETY: both are those of arc4.h.
        let context = unsafe { Context::initialised(object, "wc_Arc4Init", "wc_Arc4Free")? };
        Ok(Arc4 { context, f, key_len: request.key_len() })
    };
    Ok(rc4::session([state()?, state()?], request.key, 0, c"wc_Arc4SetKey, wc_Arc4Process"))
}

steps! { impl Keyed for Arc4;
    fn schedule(&mut self, key: In) -> i32 {
        outcome((self.f.wc_Arc4SetKey)(self.context.pointer(), key, self.key_len))
    }

    fn advance(&mut self, input: In, output: Out, len: usize) -> i32 {
        lengths!(words = len);
        outcome((self.f.wc_Arc4Process)(self.context.pointer(), output, input, words))
    }
}

functions! {
    /// aes.h, of builds with key wrap.
    struct KeyWrapFunctions {
        /// Context, input, its length, output, its room, check or null for the default; bytes of output, or an error.
        wc_AesKeyWrap_ex: fn(*mut c_void, In, u32, Out, u32, In) -> c_int;
        wc_AesKeyUnWrap_ex: fn(*mut c_void, In, u32, Out, u32, In) -> c_int;
    }
}

struct KeyWrapState {
    context: Context,
    set_key: SetKey,
    f: KeyWrapFunctions,
}

pub(crate) fn open_key_wrap(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = KeyWrapFunctions::of(&request.library.object)?;
    let (set_key, words) = SetKey::find(request)?;
    let context = keyed_cipher(request, set_key, words)?;
    let calls = [c"wc_AesKeyWrap_ex, memcpy", c"memcpy, wc_AesKeyUnWrap_ex"];
    let state = KeyWrapState { context, set_key, f };
    Ok(wrap::session(state, request.decrypts(), 0, calls, words))
}

steps! { impl KeyWrap for KeyWrapState;
    fn wrap(&mut self, key: In, len: usize, wrapped: Out) -> i32 {
        lengths!(plain = len, whole = len + CHECK);
        let wrap = self.f.wc_AesKeyWrap_ex;
        written(wrap(self.context.pointer(), key, plain, wrapped, whole, ptr::null()), whole)
    }

    fn unwrap(&mut self, wrapped: Out, len: usize, key: Out) -> i32 {
        lengths!(plain = len, whole = len + CHECK);
        let unwrap = self.f.wc_AesKeyUnWrap_ex;
        written(unwrap(self.context.pointer(), wrapped, whole, key, plain, ptr::null()), plain)
    }

    fn rekey(&mut self, key: In) -> i32 {
        outcome(self.set_key.run(self.context.pointer(), key))
    }
}

/// A code that says how many bytes were written.
#[inline]
fn written(code: c_int, expected: u32) -> i32 {
    match u32::try_from(code) {
        Ok(bytes) if bytes == expected => raw::OK,
        Ok(_) => raw::FAILED,
        Err(_) => verdict(code, WRONG_CHECK),
    }
}

pub(crate) fn open_cipher(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let names = names(request.algorithm.cipher, request.algorithm.mode)
        .ok_or_else(|| request.absent("wolfCrypt"))?;
    let which = usize::from(request.decrypts());
    // SAFETY: the types are those of aes.h, camellia.h, des3.h, rc2.h and chacha.h for the symbols named.
    let (nonce, crypt) = unsafe {
        let nonce = match names.set_nonce {
            None => Nonce::None,
            Some(symbol) if request.algorithm.cipher == Primitive::ChaCha20 => {
                Nonce::Counter(object.exported(symbol)?)
            }
            Some(symbol) if request.algorithm.cipher == Primitive::Des => {
                Nonce::DesIv(object.exported(symbol)?)
            }
            Some(symbol) => Nonce::Iv(object.exported(symbol)?),
        };
        (nonce, object.exported(names.crypt[which])?)
    };
    let (set_key, set_key_words) = SetKey::find(request)?;
    let begin = || keyed_cipher(request, set_key, set_key_words);
    let state = CipherState {
        set_key,
        message: begin()?,
        stream: begin()?,
        nonce,
        crypt,
        scale: if request.algorithm.mode == Mode::Cfb1 { 8 } else { 1 },
    };
    Ok(Table::new(state, raw::IN_PLACE, names.calls[which]).streams().rekeys(set_key_words).raw())
}

fn keyed_cipher(
    request: &Request<'_>,
    set_key: SetKey,
    call: &'static CStr,
) -> Result<Context, OpenError> {
    let object = &request.library.object;
    let context = match request.algorithm.cipher {
        // SAFETY: both are those of des3.h.
        Primitive::TripleDes => unsafe {
            Context::initialised(object, "wc_Des3Init", "wc_Des3Free")?
        },
        // SAFETY: it is that of camellia.h.
        Primitive::Camellia => unsafe { Context::zeroed().freed_by(object, "wc_CamelliaFree") },
        // SAFETY: it is that of rc2.h.
        Primitive::Rc2 => unsafe { Context::zeroed().freed_by(object, "wc_Rc2Free") },
        Primitive::ChaCha20 | Primitive::Des => Context::zeroed(),
        _ => Context::aes(object)?,
    };
    // SAFETY: the context is the cipher's; the key has the algorithm's length.
    let code = unsafe { set_key.run(context.pointer(), request.key.as_ptr()) };
    done(symbol(call), code)?;
    Ok(context)
}

operations! { impl for CipherState;
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

steps! { impl for CipherState;
    fn set_nonce(&self, context: &Context, nonce: In) -> c_int {
        match self.nonce {
            Nonce::None => 0,
            Nonce::Iv(set_iv) => set_iv(context.pointer(), nonce),
            Nonce::DesIv(set_iv) => {
                set_iv(context.pointer(), nonce);
                0
            }
            Nonce::Counter(set_nonce) => set_nonce(context.pointer(), nonce, 0),
        }
    }
}

// XTS: two key schedules; one call is one data unit.

/// `wc_AesXtsSetKey`: context, both keys, their length together, direction, heap hint, device.
type SetXtsKeyFn = unsafe extern "C" fn(*mut c_void, In, u32, c_int, *mut c_void, c_int) -> c_int;
/// `wc_AesXtsEncrypt`, `wc_AesXtsDecrypt`: context, output, input, length, tweak, its length.
type XtsCryptFn = unsafe extern "C" fn(*mut c_void, Out, In, u32, In, u32) -> c_int;
/// `wc_AesXtsFree`: context.
type FreeFn = unsafe extern "C" fn(*mut c_void) -> c_int;

const TWEAK: usize = 16;

struct XtsState {
    xts: Context,
    crypt: XtsCryptFn,
    set_key: SetXtsKeyFn,
    key_len: u32,
    way: c_int,
    free: Option<FreeFn>,
    /// What `start` set: every unit of a stream has it.
    tweak: [u8; TWEAK],
}

pub(crate) fn open_xts(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let xts = Context::zeroed();
    let len = request.key_len();
    let call = if request.encrypts() { c"wc_AesXtsEncrypt" } else { c"wc_AesXtsDecrypt" };
    // SAFETY: the types are those of aes.h for the symbols named; the key covers its length.
    let (code, crypt, set_key, free) = unsafe {
        let set_key = object.exported::<SetXtsKeyFn>("wc_AesXtsSetKey")?;
        let (context, way) = (xts.pointer(), number(request.direction));
        (
            set_key(context, request.key.as_ptr(), len, way, ptr::null_mut(), NO_DEVICE),
            object.exported(symbol(call))?,
            set_key,
            object.function("wc_AesXtsFree"),
        )
    };
    done("wc_AesXtsSetKey", code)?;
    let state = XtsState {
        xts,
        crypt,
        set_key,
        key_len: len,
        way: number(request.direction),
        free,
        tweak: [0; TWEAK],
    };
    let flags = if state.works_in_place() { raw::IN_PLACE } else { 0 };
    Ok(Table::new(state, flags, call).streams().rekeys(c"wc_AesXtsSetKey").raw())
}

operations! { impl for XtsState;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!(self.unit(m.nonce, m.input, m.output, len))
    }

    fn start(&mut self, nonce) {
        self.tweak = nonce.cast::<[u8; TWEAK]>().read_unaligned();
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        lengths!(len = len);
        calls!(self.unit(self.tweak.as_ptr(), input, output, len))
    }

    fn rekey(&mut self, key) {
        let (xts, no_hint) = (self.xts.pointer(), ptr::null_mut());
        calls!((self.set_key)(xts, key, self.key_len, self.way, no_hint, NO_DEVICE))
    }
}

impl Drop for XtsState {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: a context that got its keys, freed once. Its result is of no use any more.
            let _ = unsafe { free(self.xts.pointer()) };
        }
    }
}

impl XtsState {
    /// Whether the output may be the input, which no document says, and which is so in 5.9 but not
    /// in 5.5.4: there the stealing of ciphertext overwrites the last bytes before it reads them.
    /// Tried with every length of the last block.
    fn works_in_place(&self) -> bool {
        let input: [u8; 47] = std::array::from_fn(|i| i as u8);
        (TWEAK..input.len()).all(|len| {
            let (mut apart, mut over) = ([0; 47], input);
            let place = over.as_mut_ptr();
            // `len` is at most 47.
            let short = len as u32;
            // SAFETY: the buffers cover `len` bytes, the tweak 16.
            let codes = unsafe {
                [
                    self.unit(self.tweak.as_ptr(), input.as_ptr(), apart.as_mut_ptr(), short),
                    self.unit(self.tweak.as_ptr(), place.cast_const(), place, short),
                ]
            };
            codes == [0, 0] && apart[..len] == over[..len]
        })
    }
}

steps! { impl for XtsState;
    fn unit(&self, tweak: In, i: In, o: Out, len: u32) -> c_int {
        (self.crypt)(self.xts.pointer(), o, i, len, tweak, TWEAK as u32)
    }
}

/// `wc_AesGcmSetKey`, `wc_AesCcmSetKey`: context, key, length.
type SetAeadKeyFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_AesGcmEncrypt`, `wc_AesCcmEncrypt` and their inverses: context, output, input, length,
/// nonce, length, tag, length, associated data, length.
type AeadCryptFn =
    unsafe extern "C" fn(*mut c_void, Out, In, u32, In, u32, Out, u32, In, u32) -> c_int;
/// `wc_AesGcmEncryptInit`, `wc_AesGcmDecryptInit`: context, key (null: as it is), length, nonce,
/// length.
type BeginFn = unsafe extern "C" fn(*mut c_void, In, u32, In, u32) -> c_int;
/// `wc_AesGcmEncryptUpdate`, `wc_AesGcmDecryptUpdate`: context, output, input, length, associated
/// data, length.
type UpdateFn = unsafe extern "C" fn(*mut c_void, Out, In, u32, In, u32) -> c_int;

/// Bytes of nonces here.
const NONCE: u32 = 12;

struct AeadState {
    message: Context,
    set_key: SetAeadKeyFn,
    key_len: u32,
    crypt: AeadCryptFn,
    tag_len: u32,
    wrong_tag: c_int,
    stream: Option<AeadStream>,
}

/// GCM in parts, which only builds with WOLFSSL_AESGCM_STREAM have.
struct AeadStream {
    context: Context,
    begin: BeginFn,
    update: UpdateFn,
}

pub(crate) fn open_aead(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let gcm = request.algorithm.mode == Mode::Gcm;
    let (set_key_words, wrong_tag) =
        if gcm { (c"wc_AesGcmSetKey", GCM_WRONG_TAG) } else { (c"wc_AesCcmSetKey", CCM_WRONG_TAG) };
    let call = match (gcm, request.decrypts()) {
        (true, true) => c"wc_AesGcmDecrypt",
        (true, false) => c"wc_AesGcmEncrypt",
        (false, true) => c"wc_AesCcmDecrypt",
        (false, false) => c"wc_AesCcmEncrypt",
    };
    let set_key = symbol(set_key_words);
    let message = keyed_aead(request, set_key)?;
    // SAFETY: the types are those of aes.h for the symbols named.
    let (crypt, set_key) = unsafe { (object.exported(symbol(call))?, object.exported(set_key)?) };
    let key_len = request.key_len();
    // The lengths of a CCM message go into its first block: there is no stream of it.
    let stream = if gcm { AeadStream::new(request)? } else { None };
    let streams = stream.is_some();
    let tag_len = request.algorithm.tag_len as u32;
    let state = AeadState { message, set_key, key_len, crypt, tag_len, wrong_tag, stream };
    Ok(Table::new(state, raw::IN_PLACE, call).streams_if(streams).rekeys(set_key_words).raw())
}

operations! { impl for AeadState;
    fn message(&mut self, m) {
        lengths!(len = m.len, aad_len = m.aad_len);
        let (context, tag, tag_len) = (self.message.pointer(), m.tag, self.tag_len);
        let code = (self.crypt)(
            context, m.output, m.input, len, m.nonce, NONCE, tag, tag_len, m.aad, aad_len,
        );
        verdict(code, self.wrong_tag)
    }

    fn start(&mut self, nonce) {
        let Some(stream) = &self.stream else { return raw::FAILED };
        calls!((stream.begin)(stream.context.pointer(), ptr::null(), 0, nonce, NONCE))
    }

    fn update(&mut self, input, output, len) {
        let Some(stream) = &self.stream else { return raw::FAILED };
        lengths!(len = len);
        calls!((stream.update)(stream.context.pointer(), output, input, len, ptr::null(), 0))
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.message.pointer(), key, self.key_len))
    }
}

/// A context with its key schedule and, for GCM, the tables of its hash.
fn keyed_aead(request: &Request<'_>, set_key: &str) -> Result<Context, OpenError> {
    let (object, key, len) = (&request.library.object, request.key.as_ptr(), request.key_len());
    let context = Context::aes(object)?;
    // SAFETY: the type is that of aes.h for both symbols; the key covers its length.
    let code = unsafe { object.exported::<SetAeadKeyFn>(set_key)?(context.pointer(), key, len) };
    done(set_key, code)?;
    Ok(context)
}

impl AeadStream {
    fn new(request: &Request<'_>) -> Result<Option<Self>, OpenError> {
        let object = &request.library.object;
        let (begin, update) = if request.decrypts() {
            ("wc_AesGcmDecryptInit", "wc_AesGcmDecryptUpdate")
        } else {
            ("wc_AesGcmEncryptInit", "wc_AesGcmEncryptUpdate")
        };
        // SAFETY: the types are those of aes.h for the symbols named.
        let functions =
            unsafe { object.function::<BeginFn>(begin).zip(object.function::<UpdateFn>(update)) };
        let Some((begin, update)) = functions else { return Ok(None) };
        let context = keyed_aead(request, "wc_AesGcmSetKey")?;
        Ok(Some(Self { context, begin, update }))
    }
}

functions! {
    /// GMAC's, of aes.h.
    struct GmacFunctions {
        /// Context, key, length.
        wc_GmacSetKey: fn(*mut c_void, In, u32) -> c_int;
        /// Context, nonce, length, message, length, tag, length.
        wc_GmacUpdate: fn(*mut c_void, In, u32, In, u32, Out, u32) -> c_int;
    }
}

pub(crate) fn open_gmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    // struct Gmac is a struct Aes in all versions, and is initialised as one.
    let (gmac, f) = (Context::aes(object)?, GmacFunctions::of(object)?);
    let (key, len) = (request.key.as_ptr(), request.key_len());
    // SAFETY: the key covers its length.
    done("wc_GmacSetKey", unsafe { (f.wc_GmacSetKey)(gmac.pointer(), key, len) })?;
    // wc_GmacUpdate makes the whole tag: there is nothing to stream with.
    Ok(whole(raw::IN_PLACE, c"wc_GmacUpdate", move |m| {
        lengths!(len = m.len);
        let (update, context) = (f.wc_GmacUpdate, gmac.pointer());
        // SAFETY: a context with its key; the message keeps the header's rules.
        unsafe { calls!(update(context, m.nonce, 12, m.input, len, m.tag, 16)) }
    }))
}

/// `wc_AesEaxEncryptAuth`, `wc_AesEaxDecryptAuth`: key, length, output, input, length, nonce,
/// length, tag, length, associated data, length.
type EaxFn = unsafe extern "C" fn(In, u32, Out, In, u32, In, u32, Out, u32, In, u32) -> c_int;
/// `wc_AesSivEncrypt`, `wc_AesSivDecrypt`: both keys, length, associated data, length, nonce,
/// length, input, length, tag, output.
type SivFn = unsafe extern "C" fn(In, u32, In, u32, In, u32, In, u32, Out, Out) -> c_int;
/// `wc_AesGcmSivEncrypt`, `wc_AesGcmSivDecrypt`: key, length, nonce, length, associated data,
/// length, input, length, output, tag, length.
type GcmSivFn = unsafe extern "C" fn(In, u32, In, u32, In, u32, In, u32, Out, Out, u32) -> c_int;
/// `wc_ChaCha20Poly1305_Encrypt`, `wc_ChaCha20Poly1305_Decrypt`: key, nonce, associated data,
/// length, input, length, then output and tag; decryption has the tag first.
type ChaChaFn = unsafe extern "C" fn(In, In, In, u32, In, u32, Out, Out) -> c_int;

#[derive(Clone, Copy)]
enum OneShotCall {
    Eax(EaxFn),
    Siv(SivFn),
    GcmSiv(GcmSivFn),
    ChaChaEncrypt(ChaChaFn),
    ChaChaDecrypt(ChaChaFn),
}

struct OneShotState {
    key: Vec<u8>,
    call: OneShotCall,
    wrong_tag: c_int,
    encrypts: bool,
    stream: Option<Stream>,
}

pub(crate) fn open_one_shot(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let encrypts = request.encrypts();
    let ((call, wrong_tag), name) = function(object, request.algorithm.mode, encrypts)?;
    let stream = Stream::new(object, request.algorithm.mode, encrypts);
    let streams = stream.is_some();
    // EAX decrypts before it authenticates the ciphertext, which in place is no longer there: every
    // message would be rejected.
    let in_place = request.algorithm.mode != Mode::Eax || encrypts;
    let state = OneShotState { key: request.key.to_vec(), call, wrong_tag, encrypts, stream };
    Ok(Table::new(state, if in_place { raw::IN_PLACE } else { 0 }, name)
        .streams_if(streams)
        .rekeys(KEY_IN_EACH_MESSAGE)
        .raw())
}

type Function = ((OneShotCall, c_int), &'static CStr);

fn function(object: &SharedObject, mode: Mode, encrypts: bool) -> Result<Function, OpenError> {
    let name = match (mode, encrypts) {
        (Mode::Eax, true) => c"wc_AesEaxEncryptAuth",
        (Mode::Eax, false) => c"wc_AesEaxDecryptAuth",
        (Mode::Siv, true) => c"wc_AesSivEncrypt",
        (Mode::Siv, false) => c"wc_AesSivDecrypt",
        (Mode::GcmSiv, true) => c"wc_AesGcmSivEncrypt",
        (Mode::GcmSiv, false) => c"wc_AesGcmSivDecrypt",
        (_, true) => c"wc_ChaCha20Poly1305_Encrypt",
        (_, false) => c"wc_ChaCha20Poly1305_Decrypt",
    };
    let symbol = symbol(name);
    // SAFETY: the types are those of aes.h and chacha20_poly1305.h for the symbols named.
    let call = unsafe {
        match mode {
            Mode::Eax => (OneShotCall::Eax(object.exported(symbol)?), EAX_WRONG_TAG),
            Mode::Siv => (OneShotCall::Siv(object.exported(symbol)?), SIV_WRONG_TAG),
            Mode::GcmSiv => (OneShotCall::GcmSiv(object.exported(symbol)?), GCM_WRONG_TAG),
            _ if encrypts => (OneShotCall::ChaChaEncrypt(object.exported(symbol)?), MAC_WRONG_TAG),
            _ => (OneShotCall::ChaChaDecrypt(object.exported(symbol)?), MAC_WRONG_TAG),
        }
    };
    Ok((call, name))
}

steps! { impl for OneShotState;
    fn run(&self, m: &raw::Message, len: u32, aad_len: u32) -> c_int {
        // Keys are a few bytes.
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as u32);
        match self.call {
            OneShotCall::Eax(f) => {
                f(key, key_len, m.output, m.input, len, m.nonce, 16, m.tag, 16, m.aad, aad_len)
            }
            OneShotCall::Siv(f) => {
                f(key, key_len, m.aad, aad_len, m.nonce, 16, m.input, len, m.tag, m.output)
            }
            OneShotCall::GcmSiv(f) => {
                f(key, key_len, m.nonce, 12, m.aad, aad_len, m.input, len, m.output, m.tag, 16)
            }
            OneShotCall::ChaChaEncrypt(f) => {
                f(key, m.nonce, m.aad, aad_len, m.input, len, m.output, m.tag)
            }
            OneShotCall::ChaChaDecrypt(f) => {
                f(key, m.nonce, m.aad, aad_len, m.input, len, m.tag, m.output)
            }
        }
    }
}

operations! { impl for OneShotState;
    fn message(&mut self, m) {
        lengths!(len = m.len, aad_len = m.aad_len);
        verdict(self.run(m, len, aad_len), self.wrong_tag)
    }

    fn start(&mut self, nonce) {
        let Some(stream) = &mut self.stream else { return raw::FAILED };
        calls!(stream.begin(&self.key, nonce, self.encrypts))
    }

    fn update(&mut self, input, output, len) {
        let Some(stream) = &self.stream else { return raw::FAILED };
        lengths!(len = len);
        calls!(stream.update(input, output, len))
    }

    fn rekey(&mut self, key) {
        let len = self.key.len();
        self.key.as_mut_ptr().copy_from_nonoverlapping(key, len);
        raw::OK
    }
}

functions! {
    /// EAX in parts, of aes.h.
    struct Eax {
        /// Context, key, length, nonce, length, associated data, length.
        wc_AesEaxInit: fn(*mut c_void, In, u32, In, u32, In, u32) -> c_int;
        /// Context, output, input, length, associated data, length.
        wc_AesEaxEncryptUpdate: fn(*mut c_void, Out, In, u32, In, u32) -> c_int;
        wc_AesEaxDecryptUpdate: fn(*mut c_void, Out, In, u32, In, u32) -> c_int;
        wc_AesEaxFree: fn(*mut c_void) -> c_int;
    }
}

functions! {
    /// ChaCha20-Poly1305 in parts, of chacha20_poly1305.h.
    struct ChaCha {
        /// Context, key, nonce, whether to encrypt.
        wc_ChaCha20Poly1305_Init: fn(*mut c_void, In, In, c_int) -> c_int;
        /// Context, input, output, length.
        wc_ChaCha20Poly1305_UpdateData: fn(*mut c_void, In, Out, u32) -> c_int;
    }
}

#[derive(Clone, Copy)]
enum Parts {
    EaxEncrypt(Eax),
    EaxDecrypt(Eax),
    ChaCha(ChaCha),
}

struct Stream {
    context: Context,
    parts: Parts,
    begun: bool,
}

impl Stream {
    fn new(object: &SharedObject, mode: Mode, encrypts: bool) -> Option<Self> {
        let parts = match mode {
            Mode::Eax if encrypts => Parts::EaxEncrypt(Eax::of(object).ok()?),
            Mode::Eax => Parts::EaxDecrypt(Eax::of(object).ok()?),
            Mode::Poly1305 => Parts::ChaCha(ChaCha::of(object).ok()?),
            // Synthetic vectors come out of the whole message: there is no stream of those modes.
            _ => return None,
        };
        Some(Self { context: Context::zeroed(), parts, begun: false })
    }

    /// # Safety
    /// `nonce` has the algorithm's length.
    unsafe fn begin(&mut self, key: &[u8], nonce: *const u8, encrypts: bool) -> c_int {
        self.end();
        self.begun = true;
        let (context, no_aad) = (self.context.pointer(), ptr::null());
        // SAFETY: the caller's promise; the key covers its length.
        unsafe {
            match self.parts {
                Parts::EaxEncrypt(f) | Parts::EaxDecrypt(f) => {
                    let len = key.len() as u32;
                    (f.wc_AesEaxInit)(context, key.as_ptr(), len, nonce, 16, no_aad, 0)
                }
                Parts::ChaCha(f) => {
                    let way = c_int::from(encrypts);
                    (f.wc_ChaCha20Poly1305_Init)(context, key.as_ptr(), nonce, way)
                }
            }
        }
    }

    /// Gives back what the beginning may have allocated.
    fn end(&mut self) {
        if let (true, Parts::EaxEncrypt(f) | Parts::EaxDecrypt(f)) = (self.begun, self.parts) {
            // SAFETY: a context that was begun. Its result is of no use any more.
            let _ = unsafe { (f.wc_AesEaxFree)(self.context.pointer()) };
        }
        self.begun = false;
    }
}

steps! { impl for Stream;
    fn update(&self, input: In, output: Out, len: u32) -> c_int {
        let context = self.context.pointer();
        match self.parts {
            Parts::EaxEncrypt(f) => {
                (f.wc_AesEaxEncryptUpdate)(context, output, input, len, ptr::null(), 0)
            }
            Parts::EaxDecrypt(f) => {
                (f.wc_AesEaxDecryptUpdate)(context, output, input, len, ptr::null(), 0)
            }
            Parts::ChaCha(f) => (f.wc_ChaCha20Poly1305_UpdateData)(context, input, output, len),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.end();
    }
}

functions! {
    /// chacha20_poly1305.h.
    struct XChaChaFunctions {
        /// Context, associated data, length, nonce, length, key, length, whether to encrypt.
        wc_XChaCha20Poly1305_Init: fn(*mut c_void, In, u32, In, u32, In, u32, c_int) -> c_int;
        /// Context, associated data, length.
        wc_ChaCha20Poly1305_UpdateAad: fn(*mut c_void, In, u32) -> c_int;
        /// Context, input, output, length.
        wc_ChaCha20Poly1305_UpdateData: fn(*mut c_void, In, Out, u32) -> c_int;
        /// Context, tag.
        wc_ChaCha20Poly1305_Final: fn(*mut c_void, Out) -> c_int;
        /// The two tags.
        wc_ChaCha20Poly1305_CheckTag: fn(In, In) -> c_int;
    }
}

struct XChaChaState {
    message: Context,
    stream: Context,
    key: [u8; 32],
    encrypts: bool,
    f: XChaChaFunctions,
}

pub(crate) fn open_xchacha(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = XChaChaFunctions::of(&request.library.object)?;
    let encrypts = request.encrypts();
    let key = request.key.try_into().expect("XChaCha20 has keys of 32 bytes");
    let (message, stream) = (Context::zeroed(), Context::zeroed());
    let mut state = XChaChaState { message, stream, key, encrypts, f };
    // The header of 5.5 names key and nonce the other way round than the code takes them. Both
    // check their lengths, so a build in which it were so would say it here.
    // SAFETY: the nonce has 24 bytes.
    let code = unsafe { state.begin_stream([0; 24].as_ptr()) };
    done("wc_XChaCha20Poly1305_Init", code)?;
    let call = if encrypts {
        c"wc_XChaCha20Poly1305_Init, wc_ChaCha20Poly1305_UpdateAad, wc_ChaCha20Poly1305_UpdateData, wc_ChaCha20Poly1305_Final"
    } else {
        c"wc_XChaCha20Poly1305_Init, wc_ChaCha20Poly1305_UpdateAad, wc_ChaCha20Poly1305_UpdateData, wc_ChaCha20Poly1305_Final, wc_ChaCha20Poly1305_CheckTag"
    };
    Ok(Table::new(state, raw::IN_PLACE, call).streams().rekeys(KEY_IN_EACH_MESSAGE).raw())
}

operations! { impl for XChaChaState;
    fn message(&mut self, m) {
        lengths!(len = m.len, aad_len = m.aad_len);
        let context = self.message.pointer();
        calls!(
            self.begin(&self.message, m.nonce),
            (self.f.wc_ChaCha20Poly1305_UpdateAad)(context, m.aad, aad_len),
            (self.f.wc_ChaCha20Poly1305_UpdateData)(context, m.input, m.output, len),
        );
        self.end(m.tag)
    }

    fn start(&mut self, nonce) {
        calls!(self.begin_stream(nonce))
    }

    fn update(&mut self, input, output, len) {
        lengths!(len = len);
        calls!((self.f.wc_ChaCha20Poly1305_UpdateData)(self.stream.pointer(), input, output, len))
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; 32]>().read();
        raw::OK
    }
}

steps! { impl for XChaChaState;
    /// The associated data is not given to the beginning, which forgets to note its length. The context is zeroed, as
    /// [`XChaChaState::end`] leaves it: the beginning does not set the lengths back either.
    fn begin(&self, context: &Context, nonce: In) -> c_int {
        let (key, way) = (self.key.as_ptr(), c_int::from(self.encrypts));
        let init = self.f.wc_XChaCha20Poly1305_Init;
        // No associated data; older versions want a pointer anyway.
        init(context.pointer(), nonce, 0, nonce, 24, key, 32, way)
    }

    fn end(&self, tag: Out) -> i32 {
        let mut own = [0; 16];
        if self.encrypts {
            return outcome((self.f.wc_ChaCha20Poly1305_Final)(self.message.pointer(), tag));
        }
        let code = (self.f.wc_ChaCha20Poly1305_Final)(self.message.pointer(), own.as_mut_ptr());
        if code != 0 {
            return outcome(code);
        }
        let code = (self.f.wc_ChaCha20Poly1305_CheckTag)(tag, own.as_ptr());
        verdict(code, MAC_WRONG_TAG)
    }
}

impl XChaChaState {
    /// Begins a stream, in a context of its own: one that was begun before has no cheaper end.
    ///
    /// # Safety
    /// `nonce` covers 24 bytes.
    unsafe fn begin_stream(&mut self, nonce: In) -> c_int {
        self.stream = Context::zeroed();
        // SAFETY: the caller's promise.
        unsafe { self.begin(&self.stream, nonce) }
    }
}

functions! {
    /// chacha.h.
    struct XChaChaStreamFunctions {
        /// Context, key, length, nonce, length, block counter.
        wc_XChacha_SetKey: fn(*mut c_void, In, u32, In, u32, u32) -> c_int;
        /// Context, output, input, length.
        wc_Chacha_Process: fn(*mut c_void, Out, In, u32) -> c_int;
    }
}

/// XChaCha20 alone: the key is set with each nonce, because the block cipher's key is made of both.
struct XChaChaStream {
    message: Context,
    stream: Context,
    key: [u8; 32],
    f: XChaChaStreamFunctions,
}

pub(crate) fn open_xchacha_stream(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = XChaChaStreamFunctions::of(&request.library.object)?;
    let key = request.key.try_into().expect("XChaCha20 has keys of 32 bytes");
    let (message, stream) = (Context::zeroed(), Context::zeroed());
    let call = c"wc_XChacha_SetKey, wc_Chacha_Process";
    let table = Table::new(XChaChaStream { message, stream, key, f }, raw::IN_PLACE, call);
    Ok(table.streams().rekeys(KEY_IN_EACH_MESSAGE).raw())
}

operations! { impl for XChaChaStream;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!(
            self.begin(&self.message, m.nonce),
            (self.f.wc_Chacha_Process)(self.message.pointer(), m.output, m.input, len),
        )
    }

    fn start(&mut self, nonce) {
        calls!(self.begin(&self.stream, nonce))
    }

    fn update(&mut self, input, output, len) {
        lengths!(len = len);
        calls!((self.f.wc_Chacha_Process)(self.stream.pointer(), output, input, len))
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; 32]>().read();
        raw::OK
    }
}

steps! { impl for XChaChaStream;
    fn begin(&self, context: &Context, nonce: In) -> c_int {
        let set_key = self.f.wc_XChacha_SetKey;
        set_key(context.pointer(), self.key.as_ptr(), 32, nonce, 24, 0)
    }
}

functions! {
    /// ascon.h.
    struct AsconFunctions {
        wc_AsconAEAD128_Init: fn(*mut c_void) -> c_int;
        /// Context, key.
        wc_AsconAEAD128_SetKey: fn(*mut c_void, In) -> c_int;
        /// Context, nonce.
        wc_AsconAEAD128_SetNonce: fn(*mut c_void, In) -> c_int;
        /// Context, associated data, length.
        wc_AsconAEAD128_SetAD: fn(*mut c_void, In, u32) -> c_int;
        /// Context, output, input, length.
        wc_AsconAEAD128_EncryptUpdate: fn(*mut c_void, Out, In, u32) -> c_int;
        wc_AsconAEAD128_DecryptUpdate: fn(*mut c_void, Out, In, u32) -> c_int;
        /// Context, tag to write.
        wc_AsconAEAD128_EncryptFinal: fn(*mut c_void, Out) -> c_int;
        /// Context, tag to read.
        wc_AsconAEAD128_DecryptFinal: fn(*mut c_void, In) -> c_int;
    }
}

/// Ascon-AEAD128: the end of a message leaves its context as new, without key.
struct Ascon {
    message: Context,
    stream: Context,
    key: [u8; 16],
    encrypts: bool,
    f: AsconFunctions,
}

pub(crate) fn open_ascon(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (object, encrypts) = (&request.library.object, request.encrypts());
    let f = AsconFunctions::of(object)?;
    let key = request.key.try_into().expect("Ascon has keys of 16 bytes");
    // SAFETY: it is that of ascon.h. wc_AsconAEAD128_Free would give the context itself to the allocator.
    let context = || unsafe { Context::zeroed().freed_by(object, "wc_AsconAEAD128_Clear") };
    let (message, stream) = (context(), context());
    // SAFETY: the context is larger than any.
    done("wc_AsconAEAD128_Init", unsafe { (f.wc_AsconAEAD128_Init)(message.pointer()) })?;
    let call = if encrypts {
        c"wc_AsconAEAD128_SetKey, wc_AsconAEAD128_SetNonce, wc_AsconAEAD128_SetAD, wc_AsconAEAD128_EncryptUpdate, wc_AsconAEAD128_EncryptFinal"
    } else {
        c"wc_AsconAEAD128_SetKey, wc_AsconAEAD128_SetNonce, wc_AsconAEAD128_SetAD, wc_AsconAEAD128_DecryptUpdate, wc_AsconAEAD128_DecryptFinal"
    };
    // Decryption reads the ciphertext again after it has written the plaintext: in place every tag is wrong.
    let flags = if encrypts { raw::IN_PLACE } else { 0 };
    let state = Ascon { message, stream, key, encrypts, f };
    let table = Table::new(state, flags, call).streams_if(encrypts);
    Ok(table.rekeys(KEY_IN_EACH_MESSAGE).raw())
}

operations! { impl for Ascon;
    fn message(&mut self, m) {
        lengths!(len = m.len, aad_len = m.aad_len);
        let context = self.message.pointer();
        calls!(
            self.begin(context, m.nonce, (m.aad, aad_len)),
            self.crypt(context, m.input, m.output, len),
        );
        if self.encrypts {
            return outcome((self.f.wc_AsconAEAD128_EncryptFinal)(context, m.tag));
        }
        verdict((self.f.wc_AsconAEAD128_DecryptFinal)(context, m.tag), ASCON_WRONG_TAG)
    }

    fn start(&mut self, nonce) {
        let context = self.stream.pointer();
        calls!(
            (self.f.wc_AsconAEAD128_Init)(context),
            self.begin(context, nonce, (ptr::null(), 0)),
        )
    }

    fn update(&mut self, input, output, len) {
        lengths!(len = len);
        calls!(self.crypt(self.stream.pointer(), input, output, len))
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; 16]>().read();
        raw::OK
    }
}

steps! { impl for Ascon;
    fn begin(&self, context: *mut c_void, nonce: In, aad: (In, u32)) -> c_int {
        let f = &self.f;
        calls!(
            (f.wc_AsconAEAD128_SetKey)(context, self.key.as_ptr()),
            (f.wc_AsconAEAD128_SetNonce)(context, nonce),
            (f.wc_AsconAEAD128_SetAD)(context, aad.0, aad.1),
        )
    }

    fn crypt(&self, context: *mut c_void, i: In, o: Out, len: u32) -> c_int {
        let (seal, open) =
            (self.f.wc_AsconAEAD128_EncryptUpdate, self.f.wc_AsconAEAD128_DecryptUpdate);
        if self.encrypts { seal(context, o, i, len) } else { open(context, o, i, len) }
    }
}
