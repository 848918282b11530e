//! LibTomCrypt through its public C functions: attaching it, what every part uses of `tomcrypt.h`, modes
//! without a tag, XTS, digests, checksums and MACs. `README.md` beside this file says which functions, and
//! why.

mod derivation;
mod tagged;

use crate::family::{
    self, Aligned, Attached, Family, In, Out, c_concat, calls, in_turn, operations, steps,
};
use crate::random;
use crate::rc4::{self, Keyed};
use base::model::{Algorithm, Kind, Mode, Primitive, RANDOM};
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use tagged::DoneFn;

pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let (version, build) = settings(&object)?;
    family::library(name, "libtomcrypt", &version, build, Api::load(object)?)
}

/// Version and build facts out of `crypt_build_settings`: "LibTomCrypt 1.18.2 (www.libtom.net)",
/// then lines of `name: value` and lists of what is built in, which `list` shows anyway.
fn settings(object: &SharedObject) -> Result<(String, Vec<String>), LoadError> {
    // SAFETY: tomcrypt_misc.h declares `extern const char *crypt_build_settings`; what is asked
    // for here is the address of that variable.
    let text = unsafe { object.exported::<*const *const c_char>("crypt_build_settings")? };
    // SAFETY: a variable of the library's that points to a static NUL-terminated string.
    let text = unsafe { CStr::from_ptr(*text) }.to_string_lossy().into_owned();
    let version = text.split_whitespace().nth(1).unwrap_or_default();
    if !text.starts_with("LibTomCrypt ") || version.is_empty() {
        return Err(object.unusable("crypt_build_settings names no version"));
    }
    let facts = text.lines().skip(2).map(str::trim_end);
    let is_fact = |line: &&str| {
        !line.starts_with(' ') && line.split_once(": ").is_some_and(|(_, value)| !value.is_empty())
    };
    // The last paragraph is one list of options over several lines of two spaces.
    let options = text
        .split("Various others:")
        .nth(1)
        .map(|list| format!("options: {}", list.split_whitespace().collect::<Vec<_>>().join(" ")));
    let build = facts.filter(is_fact).map(str::to_owned).chain(options).collect();
    Ok((version.to_owned(), build))
}

type Request<'a> = family::Request<'a, Api>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Api {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let Algorithm { cipher, mode, kind, .. } = *request.algorithm;
        match (cipher, mode) {
            (Primitive::Shake128 | Primitive::Shake256, Mode::None) => open_shake(request),
            (Primitive::Crc32, _) => {
                open_checksum(request, c"crc32_init, crc32_update, crc32_finish")
            }
            (Primitive::Adler32, _) => {
                open_checksum(request, c"adler32_init, adler32_update, adler32_finish")
            }
            _ if kind == Kind::Digest => open_digest(request),
            _ if kind == Kind::Derivation => derivation::open(request),
            _ if request.algorithm.name == RANDOM => open_random(request),
            (_, Mode::Hmac | Mode::Cmac) => open_hmac(request),
            (Primitive::Blake2b | Primitive::Blake2s, Mode::Keyed) => open_blake2(request),
            (Primitive::Poly1305, _) => open_poly1305(request),
            (Primitive::Rc4, _) => open_rc4(request),
            (Primitive::ChaCha8, _) => tagged::open_chacha(request, 8),
            (Primitive::ChaCha12, _) => tagged::open_chacha(request, 12),
            (Primitive::ChaCha20, Mode::Stream) => tagged::open_chacha(request, 20),
            (Primitive::ChaCha20, Mode::Poly1305) => tagged::open_chacha_poly(request),
            _ => block(request),
        }
    }
}

/// `rng_get_bytes`, which asks the system.
fn open_random(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    type DrawFn = unsafe extern "C" fn(Out, c_ulong, *const c_void) -> c_ulong;
    // SAFETY: the type is that of tomcrypt_prng.h.
    let f: DrawFn = unsafe { request.library.object.exported("rng_get_bytes") }?;
    Ok(random::session(c"rng_get_bytes", move |out, len| {
        // SAFETY: the output covers its length; nobody is called back.
        let got = unsafe { f(out, len as c_ulong, std::ptr::null()) };
        if got == len as c_ulong { raw::OK } else { raw::FAILED }
    }))
}

/// A mode of a registered block cipher.
fn block(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let absent = || request.absent("LibTomCrypt");
    let cipher = request.library.cipher(request.algorithm.cipher).ok_or_else(absent)?;
    match request.algorithm.mode {
        Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Ofb | Mode::Ctr => open_mode(request, cipher),
        Mode::Xts => open_xts(request, cipher),
        Mode::Gcm => tagged::open_gcm(request, cipher),
        Mode::Eax => tagged::open_eax(request, cipher),
        Mode::Ocb => tagged::open_ocb(request, cipher),
        Mode::Ccm => tagged::open_ccm(request, cipher),
        Mode::Gmac => tagged::open_gmac(request, cipher),
        _ => Err(absent()),
    }
}

// ECB, CBC, CFB, OFB and CTR: a key schedule with a chaining value.

/// `ecb_start`: cipher, key, length, rounds (0: as many as the cipher has), state.
type StartEcbFn = unsafe extern "C" fn(Index, In, c_int, c_int, *mut c_void) -> c_int;
/// `cbc_start`, `cfb_start`, `ofb_start`: cipher, IV, key, length, rounds, state.
type StartFn = unsafe extern "C" fn(Index, In, In, c_int, c_int, *mut c_void) -> c_int;
/// `ctr_start`: as the others, with the counter's kind before the state.
type StartCtrFn = unsafe extern "C" fn(Index, In, In, c_int, c_int, c_int, *mut c_void) -> c_int;
/// `*_setiv`: IV, length, state.
type SetIvFn = unsafe extern "C" fn(In, c_ulong, *mut c_void) -> c_int;
/// `*_encrypt`, `*_decrypt`: input, output, length, state.
type CryptFn = unsafe extern "C" fn(In, Out, c_ulong, *mut c_void) -> c_int;
/// `*_done`: state.
type ModeDoneFn = unsafe extern "C" fn(*mut c_void) -> c_int;

/// `CTR_COUNTER_BIG_ENDIAN`. The low eight bits are the counter's width in bytes, 0 being the whole
/// block; `LTC_CTR_RFC3686` (0x2000) would add one to the counter before the first block.
const CTR_COUNTER_BIG_ENDIAN: c_int = 0x1000;
/// Four times the largest of these states in 1.18.2.
const STATE: usize = 4 * 4608;

struct Names {
    state: &'static CStr,
    start: &'static str,
    set_iv: &'static str,
    encrypt: &'static str,
    decrypt: &'static str,
    done: &'static str,
    calls: [&'static CStr; 2],
}

macro_rules! names {
    ($mode:literal, $state:literal) => {
        Names {
            state: $state,
            start: concat!($mode, "_start"),
            set_iv: concat!($mode, "_setiv"),
            encrypt: concat!($mode, "_encrypt"),
            decrypt: concat!($mode, "_decrypt"),
            done: concat!($mode, "_done"),
            calls: [
                c_concat!($mode, "_setiv, ", $mode, "_encrypt"),
                c_concat!($mode, "_setiv, ", $mode, "_decrypt"),
            ],
        }
    };
}

const ECB: Names =
    Names { calls: [c"ecb_encrypt", c"ecb_decrypt"], ..names!("ecb", c"symmetric_ECB") };
const CBC: Names = names!("cbc", c"symmetric_CBC");
const CFB: Names = names!("cfb", c"symmetric_CFB");
const OFB: Names = names!("ofb", c"symmetric_OFB");
const CTR: Names = names!("ctr", c"symmetric_CTR");

/// What begins a state with its key schedule.
#[derive(Clone, Copy)]
enum Begin {
    Ecb(StartEcbFn),
    Ctr(StartCtrFn),
    Other(StartFn),
}

steps! { impl for Begin;
    fn run(self, cipher: Index, (key, len): (In, c_int), state: *mut c_void) -> c_int {
        // As long as the longest block.
        let iv = [0; 16];
        match self {
            Self::Ecb(start) => start(cipher, key, len, 0, state),
            Self::Ctr(start) => {
                start(cipher, iv.as_ptr(), key, len, 0, CTR_COUNTER_BIG_ENDIAN, state)
            }
            Self::Other(start) => start(cipher, iv.as_ptr(), key, len, 0, state),
        }
    }
}

/// An opened mode. Streams have a state of their own: a message in between must not touch them.
struct ModeState {
    message: Aligned,
    stream: Aligned,
    begin: Begin,
    cipher: Index,
    key_len: c_int,
    /// `None`: ECB.
    set_iv: Option<SetIvFn>,
    crypt: CryptFn,
    done: Option<ModeDoneFn>,
    iv_len: c_ulong,
}

fn open_mode(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let names = match request.algorithm.mode {
        Mode::Ecb => &ECB,
        Mode::Cbc => &CBC,
        Mode::Cfb => &CFB,
        Mode::Ofb => &OFB,
        _ => &CTR,
    };
    let ecb = request.algorithm.mode == Mode::Ecb;
    let encrypts = request.encrypts();
    // SAFETY: the types are those of tomcrypt_cipher.h for the symbols named.
    let begin = unsafe {
        match request.algorithm.mode {
            Mode::Ecb => Begin::Ecb(api.object.exported(names.start)?),
            Mode::Ctr => Begin::Ctr(api.object.exported(names.start)?),
            _ => Begin::Other(api.object.exported(names.start)?),
        }
    };
    let key_len = request.key_len();
    let started = || -> Result<Aligned, OpenError> {
        let memory = api.memory(names.state, STATE);
        // SAFETY: the state is the mode's, the key covers its length.
        let error = unsafe { begin.run(cipher, (request.key.as_ptr(), key_len), memory.context()) };
        api.done(names.start, error)?;
        Ok(memory)
    };
    // SAFETY: the types are those of tomcrypt_cipher.h for the symbols named.
    let state = unsafe {
        ModeState {
            message: started()?,
            stream: started()?,
            begin,
            cipher,
            key_len,
            set_iv: if ecb { None } else { Some(api.object.exported(names.set_iv)?) },
            crypt: api.object.exported(if encrypts { names.encrypt } else { names.decrypt })?,
            done: api.object.function(names.done),
            iv_len: request.algorithm.nonce_len as c_ulong,
        }
    };
    let (flags, call) = (raw::IN_PLACE, names.calls[usize::from(!encrypts)]);
    let rekey = c"the mode's start function";
    Ok(if ecb {
        Table::new(Ecb(state), flags, call).streams().rekeys(rekey).raw()
    } else {
        Table::new(state, flags, call).streams().rekeys(rekey).raw()
    })
}

operations! { impl for ModeState;
    fn message(&mut self, m) {
        calls!(
            self.set_iv(&self.message, m.nonce),
            (self.crypt)(m.input, m.output, m.len as c_ulong, self.message.context()),
        )
    }

    fn start(&mut self, nonce) {
        calls!(self.set_iv(&self.stream, nonce))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.crypt)(input, output, len as c_ulong, self.stream.context()))
    }

    fn rekey(&mut self, key) {
        calls!(self.begin.run(self.cipher, (key, self.key_len), self.message.context()))
    }
}

impl Drop for ModeState {
    fn drop(&mut self) {
        let Some(done) = self.done else { return };
        for memory in [&self.message, &self.stream] {
            // SAFETY: a state that was started, ended once. Its result is of no use any more.
            let _ = unsafe { done(memory.context()) };
        }
    }
}

steps! { impl for ModeState;
    fn set_iv(&self, memory: &Aligned, nonce: In) -> c_int {
        match self.set_iv {
            Some(set_iv) => set_iv(nonce, self.iv_len, memory.context()),
            None => OK,
        }
    }
}

/// ECB has no IV, and nothing to begin.
struct Ecb(ModeState);

operations! { impl for Ecb;
    fn message(&mut self, m) {
        let context = self.0.message.context();
        calls!((self.0.crypt)(m.input, m.output, m.len as c_ulong, context))
    }

    fn update(&mut self, input, output, len) {
        let context = self.0.stream.context();
        calls!((self.0.crypt)(input, output, len as c_ulong, context))
    }

    fn rekey(&mut self, key) {
        self.0.rekey(key)
    }
}

functions! {
    /// Of tomcrypt_cipher.h.
    struct Rc4Functions {
        /// State, key, length.
        rc4_stream_setup: fn(*mut c_void, In, c_ulong) -> c_int;
        /// State, input, length, output.
        rc4_stream_crypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
    }
}

struct Rc4State {
    state: Aligned,
    f: Rc4Functions,
    key_len: c_ulong,
}

fn open_rc4(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = Rc4Functions::of(&request.library.object)?;
    let key_len = request.key.len() as c_ulong;
    let states = [(); 2].map(|()| {
        let state = request.library.memory(c"rc4_state", 4 * 264);
        Rc4State { state, f, key_len }
    });
    Ok(rc4::session(states, request.key, 0, c"rc4_stream_setup, rc4_stream_crypt"))
}

steps! { impl Keyed for Rc4State;
    fn schedule(&mut self, key: In) -> i32 {
        outcome((self.f.rc4_stream_setup)(self.state.context(), key, self.key_len))
    }

    fn advance(&mut self, input: In, output: Out, len: usize) -> i32 {
        let crypt = self.f.rc4_stream_crypt;
        outcome(crypt(self.state.context(), input, len as c_ulong, output))
    }
}

// XTS: two key schedules; one call is one data unit.

/// `xts_start`: cipher, data key, tweak key, length of each, rounds, state.
type XtsStartFn = unsafe extern "C" fn(Index, In, In, c_ulong, c_int, *mut c_void) -> c_int;
/// `xts_encrypt`, `xts_decrypt`: input, length, output, tweak (which is changed), state.
type XtsCryptFn = unsafe extern "C" fn(In, c_ulong, Out, Out, *mut c_void) -> c_int;
/// `xts_done`: state.
type XtsDoneFn = unsafe extern "C" fn(*mut c_void);

const TWEAK: usize = 16;

struct XtsState {
    xts: Aligned,
    restart: XtsStartFn,
    cipher: Index,
    /// Of each of the two keys.
    key_len: usize,
    crypt: XtsCryptFn,
    done: Option<XtsDoneFn>,
    /// What `start` set; the library changes the copy that it is given.
    tweak: [u8; TWEAK],
}

fn open_xts(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let xts = api.memory(c"symmetric_xts", 4 * 8520);
    let (data, tweak) = request.key.split_at(request.key.len() / 2);
    let encrypts = request.encrypts();
    // SAFETY: the types are those of tomcrypt_cipher.h; the keys cover their length.
    let (error, restart, crypt, done) = unsafe {
        let start = api.object.exported::<XtsStartFn>("xts_start")?;
        let len = data.len() as c_ulong;
        (
            start(cipher, data.as_ptr(), tweak.as_ptr(), len, 0, xts.context()),
            start,
            api.object.exported(if encrypts { "xts_encrypt" } else { "xts_decrypt" })?,
            api.object.function("xts_done"),
        )
    };
    api.done("xts_start", error)?;
    let state =
        XtsState { xts, restart, cipher, key_len: data.len(), crypt, done, tweak: [0; TWEAK] };
    let call = if encrypts { c"xts_encrypt" } else { c"xts_decrypt" };
    Ok(Table::new(state, raw::IN_PLACE, call).streams().rekeys(c"xts_start").raw())
}

operations! { impl for XtsState;
    fn message(&mut self, m) {
        let tweak = m.nonce.cast::<[u8; TWEAK]>().read_unaligned();
        calls!(self.unit(tweak, m.input, m.output, m.len))
    }

    fn start(&mut self, nonce) {
        self.tweak = nonce.cast::<[u8; TWEAK]>().read_unaligned();
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        calls!(self.unit(self.tweak, input, output, len))
    }

    fn rekey(&mut self, key) {
        let (len, tweak) = (self.key_len as c_ulong, key.add(self.key_len));
        calls!((self.restart)(self.cipher, key, tweak, len, 0, self.xts.context()))
    }
}

impl Drop for XtsState {
    fn drop(&mut self) {
        if let Some(done) = self.done {
            // SAFETY: a state that was started without error, ended once.
            unsafe { done(self.xts.context()) };
        }
    }
}

steps! { impl for XtsState;
    fn unit(&self, mut tweak: [u8; TWEAK], input: In, output: Out, len: usize) -> c_int {
        (self.crypt)(input, len as c_ulong, output, tweak.as_mut_ptr(), self.xts.context())
    }
}

// Digests and MACs: begun, fed and ended.

/// `sha256_init` and the like: state.
type InitFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `sha256_process`, `hmac_process`, `omac_process`, `poly1305_process`: state, input, length.
type ProcessFn = unsafe extern "C" fn(*mut c_void, In, c_ulong) -> c_int;
/// `sha256_done` and the like: state, digest.
type DigestFn = unsafe extern "C" fn(*mut c_void, Out) -> c_int;
/// `hmac_init`, `omac_init`: state, hash or cipher, key, length.
type HmacInitFn = unsafe extern "C" fn(*mut c_void, Index, In, c_ulong) -> c_int;
/// `poly1305_init`: state, key, length.
type PolyInitFn = unsafe extern "C" fn(*mut c_void, In, c_ulong) -> c_int;
/// `blake2bmac_init`, `blake2smac_init`: state, length of the tag, key, length.
type BlakeInitFn = unsafe extern "C" fn(*mut c_void, c_ulong, In, c_ulong) -> c_int;
/// `sha3_shake_init`: state, strength in bits.
type ShakeInitFn = unsafe extern "C" fn(*mut c_void, c_int) -> c_int;
/// `sha3_shake_done`: state, output, its length.
type ShakeDoneFn = unsafe extern "C" fn(*mut c_void, Out, c_ulong) -> c_int;

/// Begun, fed and ended by functions that return the library's error code: `begin` and `end` make the call with what it
/// takes beside the state.
struct DigestState<B, E: Fn(*mut c_void, Out) -> c_int> {
    begin: B,
    process: ProcessFn,
    end: E,
    message: Aligned,
    stream: Aligned,
    /// Whether the stream was begun and not ended: HMAC's beginning allocates what its end frees.
    begun: bool,
}

/// `hash_state`, which BLAKE2's MACs have as well, and four times its size in 1.18.2.
const HASH: (&CStr, usize) = (c"hash_state", 4 * 416);

/// The table of a digest or MAC, with a state for messages and one for streams.
fn in_parts(
    request: &Request<'_>,
    (state, at_least): (&CStr, usize),
    (flags, call): (u32, &'static CStr),
    process: ProcessFn,
    begin: impl Fn(*mut c_void) -> c_int,
    end: impl Fn(*mut c_void, Out) -> c_int,
) -> raw::Session {
    let [message, stream] = [(); 2].map(|()| request.library.memory(state, at_least));
    let state = DigestState { begin, process, end, message, stream, begun: false };
    Table::new(state, raw::IN_PLACE | flags, call).parts().raw()
}

/// An end that is told how much room there is for the tag.
fn ended_by(done: DoneFn, len: usize) -> impl Fn(*mut c_void, Out) -> c_int {
    move |state, tag| {
        let mut len = len as c_ulong;
        // SAFETY: a state that was begun; the tag has room.
        unsafe { done(state, tag, &raw mut len) }
    }
}

impl<B, E: Fn(*mut c_void, Out) -> c_int> DigestState<B, E> {
    /// Ends a stream that nobody has ended.
    fn abandon(&mut self) {
        if self.begun {
            let mut tag = [0; 64];
            self.begun = false;
            // No tag is longer than 64 bytes. Its result is of no use any more.
            let _ = (self.end)(self.stream.context(), tag.as_mut_ptr());
        }
    }
}

impl<B, E: Fn(*mut c_void, Out) -> c_int> Drop for DigestState<B, E> {
    fn drop(&mut self) {
        self.abandon();
    }
}

operations! {
    impl[B: Fn(*mut c_void) -> c_int, E: Fn(*mut c_void, Out) -> c_int] for DigestState<B, E>;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            (self.begin)(context),
            (self.process)(context, m.input, m.len as c_ulong),
            (self.end)(context, m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        self.abandon();
        let error = (self.begin)(self.stream.context());
        self.begun = error == OK;
        outcome(error)
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.process)(self.stream.context(), input, len as c_ulong))
    }

    fn finish(&mut self, tag) {
        self.begun = false;
        outcome((self.end)(self.stream.context(), tag))
    }
}

fn open_digest(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    // The shorter SHA-2 are fed by the longer one's function, and all of SHA-3 is fed and ended by the same.
    let ([init, process, done], call) = match request.algorithm.cipher {
        Primitive::Md4 => in_turn!("md4_init", "md4_process", "md4_done"),
        Primitive::Md5 => in_turn!("md5_init", "md5_process", "md5_done"),
        Primitive::Sha1 => in_turn!("sha1_init", "sha1_process", "sha1_done"),
        Primitive::Ripemd160 => in_turn!("rmd160_init", "rmd160_process", "rmd160_done"),
        Primitive::Whirlpool => in_turn!("whirlpool_init", "whirlpool_process", "whirlpool_done"),
        Primitive::Sha224 => in_turn!("sha224_init", "sha256_process", "sha224_done"),
        Primitive::Sha256 => in_turn!("sha256_init", "sha256_process", "sha256_done"),
        Primitive::Sha384 => in_turn!("sha384_init", "sha512_process", "sha384_done"),
        Primitive::Sha512 => in_turn!("sha512_init", "sha512_process", "sha512_done"),
        Primitive::Sha512_224 => in_turn!("sha512_224_init", "sha512_process", "sha512_224_done"),
        Primitive::Sha512_256 => in_turn!("sha512_256_init", "sha512_process", "sha512_256_done"),
        Primitive::Sha3_224 => in_turn!("sha3_224_init", "sha3_process", "sha3_done"),
        Primitive::Sha3_256 => in_turn!("sha3_256_init", "sha3_process", "sha3_done"),
        Primitive::Sha3_384 => in_turn!("sha3_384_init", "sha3_process", "sha3_done"),
        Primitive::Sha3_512 => in_turn!("sha3_512_init", "sha3_process", "sha3_done"),
        Primitive::Blake2b => in_turn!("blake2b_512_init", "blake2b_process", "blake2b_done"),
        Primitive::Blake2b256 => in_turn!("blake2b_256_init", "blake2b_process", "blake2b_done"),
        Primitive::Blake2s => in_turn!("blake2s_256_init", "blake2s_process", "blake2s_done"),
        _ => return Err(request.absent("LibTomCrypt")),
    };
    let object = &request.library.object;
    // SAFETY: the types are those of tomcrypt_hash.h for the symbols named.
    unsafe {
        let (init, done): (InitFn, DigestFn) = (object.exported(init)?, object.exported(done)?);
        let (begin, end) = (move |state| init(state), move |state, tag| done(state, tag));
        Ok(in_parts(request, HASH, (0, call), object.exported(process)?, begin, end))
    }
}

/// SHAKE is begun by its strength, and ended with as many bytes as are asked for.
fn open_shake(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (object, len) = (&request.library.object, request.algorithm.tag_len as c_ulong);
    let bits = if request.algorithm.cipher == Primitive::Shake128 { 128 } else { 256 };
    let ([init, process, done], call) = in_turn!("sha3_": "shake_init", "process", "shake_done");
    // SAFETY: the types are those of tomcrypt_hash.h for the symbols named.
    unsafe {
        let init: ShakeInitFn = object.exported(init)?;
        let done: ShakeDoneFn = object.exported(done)?;
        let (begin, end) =
            (move |state| init(state, bits), move |state, tag| done(state, tag, len));
        Ok(in_parts(request, HASH, (0, call), object.exported(process)?, begin, end))
    }
}

/// HMAC under a hash, CMAC (the library's OMAC) under a cipher.
fn open_hmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (api, primitive) = (request.library, request.algorithm.cipher);
    let cmac = request.algorithm.mode == Mode::Cmac;
    let index = if cmac { api.cipher(primitive) } else { api.hash(primitive) };
    let hash = index.ok_or_else(|| request.absent("this build of LibTomCrypt"))?;
    // hmac_init allocates the padded key, which hmac_done frees: no copy of a keyed state can be
    // kept, so the key pads are made anew for each message. OMAC has no function that starts again under its key either.
    let (([init, process, done], call), state, flags) = if cmac {
        (in_turn!("omac_": "init", "process", "done"), (c"omac_state", 4 * 4784), 0)
    } else {
        (in_turn!("hmac_": "init", "process", "done"), (c"hmac_state", 4 * 848), raw::ALLOCATES)
    };
    let key = request.key.to_vec();
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    unsafe {
        let init: HmacInitFn = api.object.exported(init)?;
        let begin = move |state| init(state, hash, key.as_ptr(), key.len() as c_ulong);
        let end = ended_by(api.object.exported(done)?, request.algorithm.tag_len);
        Ok(in_parts(request, state, (flags, call), api.object.exported(process)?, begin, end))
    }
}

/// BLAKE2 under a key, which is a block before the message.
fn open_blake2(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (object, key, len) =
        (&request.library.object, request.key.to_vec(), request.algorithm.tag_len);
    let ([init, process, done], call) = match request.algorithm.cipher {
        Primitive::Blake2b => in_turn!("blake2bmac_": "init", "process", "done"),
        _ => in_turn!("blake2smac_": "init", "process", "done"),
    };
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    unsafe {
        let init: BlakeInitFn = object.exported(init)?;
        let begin = move |state| init(state, len as c_ulong, key.as_ptr(), key.len() as c_ulong);
        let end = ended_by(object.exported(done)?, len);
        Ok(in_parts(request, HASH, (0, call), object.exported(process)?, begin, end))
    }
}

fn open_poly1305(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (object, key) = (&request.library.object, request.key.to_vec());
    let ([init, process, done], call) = in_turn!("poly1305_": "init", "process", "done");
    let state = (c"poly1305_state", 4 * 88);
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named; the tag has sixteen bytes.
    unsafe {
        let init: PolyInitFn = object.exported(init)?;
        let begin = move |state| init(state, key.as_ptr(), key.len() as c_ulong);
        let end = ended_by(object.exported(done)?, tagged::TAG);
        Ok(in_parts(request, state, (0, call), object.exported(process)?, begin, end))
    }
}

// CRC-32 and Adler-32, whose functions have nothing to report.

/// `crc32_init`: state.
type SumInitFn = unsafe extern "C" fn(*mut c_void);
/// `crc32_update`: state, input, length.
type SumUpdateFn = unsafe extern "C" fn(*mut c_void, In, c_ulong);
/// `crc32_finish`: state, output, its length.
type SumFinishFn = unsafe extern "C" fn(*mut c_void, Out, c_ulong);

struct Checksum {
    init: SumInitFn,
    update: SumUpdateFn,
    finish: SumFinishFn,
    message: Aligned,
    stream: Aligned,
}

/// Bytes of both sums, which the library writes big-endian.
const SUM: c_ulong = 4;

fn open_checksum(request: &Request<'_>, call: &'static CStr) -> Result<raw::Session, OpenError> {
    let (object, name) = (&request.library.object, request.algorithm.name);
    let state = if name == "crc32" { c"crc32_state" } else { c"adler32_state" };
    let memory = || request.library.memory(state, 4 * 4);
    // SAFETY: the types are those of tomcrypt_misc.h for both sums.
    let state = unsafe {
        Checksum {
            init: object.exported(&format!("{name}_init"))?,
            update: object.exported(&format!("{name}_update"))?,
            finish: object.exported(&format!("{name}_finish"))?,
            message: memory(),
            stream: memory(),
        }
    };
    Ok(Table::new(state, raw::IN_PLACE, call).parts().raw())
}

operations! { impl for Checksum;
    fn message(&mut self, m) {
        let context = self.message.context();
        (self.init)(context);
        (self.update)(context, m.input, m.len as c_ulong);
        (self.finish)(context, m.tag, SUM);
        raw::OK
    }

    fn start(&mut self, _nonce) {
        (self.init)(self.stream.context());
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        (self.update)(self.stream.context(), input, len as c_ulong);
        raw::OK
    }

    fn finish(&mut self, tag) {
        (self.finish)(self.stream.context(), tag, SUM);
        raw::OK
    }
}

// What of `tomcrypt.h` every part of the adapter uses: error codes, registered descriptors, sizes.

/// Number of a registered cipher or hash.
type Index = c_int;
/// `mem_neq`: two memories, length; 0 when they are equal, in constant time.
type NotEqualFn = unsafe extern "C" fn(*const c_void, *const c_void, usize) -> c_int;
/// `register_cipher`, `register_hash`: descriptor; its index, or -1.
type RegisterFn = unsafe extern "C" fn(*const c_void) -> Index;
type GetSizeFn = unsafe extern "C" fn(*const c_char, *mut c_uint) -> c_int;
type ErrorFn = unsafe extern "C" fn(c_int) -> *const c_char;

/// `CRYPT_OK`
const OK: c_int = 0;
/// `CRYPT_ERROR`
const ERROR: c_int = 1;

/// The loaded library with its ciphers and hashes registered.
struct Api {
    object: SharedObject,
    ciphers: Vec<(Primitive, Index)>,
    hashes: Vec<(Primitive, Index)>,
    get_size: Option<GetSizeFn>,
    error: Option<ErrorFn>,
}

impl Api {
    /// Registers what the adapter offers; until then the library answers every call with
    /// `CRYPT_INVALID_CIPHER` or `CRYPT_INVALID_HASH`.
    fn load(object: SharedObject) -> Result<Self, LoadError> {
        // SAFETY: the types are those of tomcrypt_cipher.h, tomcrypt_hash.h and tomcrypt_misc.h.
        let (cipher, hash, get_size, error) = unsafe {
            (
                object.exported::<RegisterFn>("register_cipher")?,
                object.exported::<RegisterFn>("register_hash")?,
                object.function::<GetSizeFn>("crypt_get_size"),
                object.function::<ErrorFn>("error_to_string"),
            )
        };
        let register = |register: RegisterFn, list: &[(Primitive, &str)]| {
            let index = |&(primitive, symbol): &(Primitive, &str)| {
                // SAFETY: the address of a descriptor, which is a constant of the library's.
                let descriptor = unsafe { object.function::<*const c_void>(symbol) }?;
                // SAFETY: a descriptor of the table's kind; the same one is registered only once.
                let index = unsafe { register(descriptor) };
                (index >= 0).then_some((primitive, index))
            };
            list.iter().filter_map(index).collect::<Vec<_>>()
        };
        let ciphers = register(
            cipher,
            &[
                (Primitive::Aes, "aes_desc"),
                (Primitive::Camellia, "camellia_desc"),
                (Primitive::TripleDes, "des3_desc"),
                (Primitive::Des, "des_desc"),
                (Primitive::Twofish, "twofish_desc"),
                (Primitive::Seed, "kseed_desc"),
                (Primitive::Blowfish, "blowfish_desc"),
                (Primitive::Cast5, "cast5_desc"),
                (Primitive::Rc2, "rc2_desc"),
            ],
        );
        let hashes = register(
            hash,
            &[
                (Primitive::Md5, "md5_desc"),
                (Primitive::Sha1, "sha1_desc"),
                (Primitive::Sha224, "sha224_desc"),
                (Primitive::Sha256, "sha256_desc"),
                (Primitive::Sha384, "sha384_desc"),
                (Primitive::Sha512, "sha512_desc"),
                (Primitive::Sha512_256, "sha512_256_desc"),
                (Primitive::Sha3_256, "sha3_256_desc"),
                (Primitive::Sha3_512, "sha3_512_desc"),
                (Primitive::Ripemd160, "rmd160_desc"),
            ],
        );
        if ciphers.is_empty() {
            return Err(object.unusable("register_cipher takes none of its ciphers"));
        }
        Ok(Self { object, ciphers, hashes, get_size, error })
    }

    fn cipher(&self, primitive: Primitive) -> Option<Index> {
        self.ciphers.iter().find(|(p, _)| *p == primitive).map(|(_, index)| *index)
    }

    fn hash(&self, primitive: Primitive) -> Option<Index> {
        self.hashes.iter().find(|(p, _)| *p == primitive).map(|(_, index)| *index)
    }

    /// Aligned for a state. The library tells the size of each (`crypt_get_size`, since 1.18); its
    /// answer is only ever enlarged. `at_least` is four times the size in 1.18.2, for builds
    /// without that table.
    fn memory(&self, state: &CStr, at_least: usize) -> Aligned {
        let told = self.get_size.and_then(|get_size| {
            let mut size = 0;
            // SAFETY: a NUL-terminated name, and room for the number.
            (unsafe { get_size(state.as_ptr(), &raw mut size) } == 0).then_some(size as usize)
        });
        Aligned::zeroed(told.unwrap_or(0).max(at_least))
    }

    fn done(&self, call: &str, error: c_int) -> Result<(), OpenError> {
        if error == OK {
            return Ok(());
        }
        let words = self.error.map(|error_to_string| {
            // SAFETY: takes any number and gives a static NUL-terminated string.
            unsafe { CStr::from_ptr(error_to_string(error)) }.to_string_lossy().into_owned()
        });
        let words = words.unwrap_or_else(|| format!("error {error}"));
        Err(OpenError::Failed(format!("{call}: {words}")))
    }

    /// The library's comparison of tags.
    fn not_equal(&self) -> Result<NotEqualFn, OpenError> {
        // SAFETY: the type is that of tomcrypt_misc.h.
        Ok(unsafe { self.object.exported("mem_neq")? })
    }
}

/// An error code of the library's as one of the interface's: 0 is done and everything else stays as
/// it is, unless it is one of the interface's own small numbers. CRYPT_ERROR (1) among them must
/// never pass for a rejected tag.
#[inline]
fn outcome(error: c_int) -> i32 {
    match error {
        OK => raw::OK,
        1..=3 => raw::FAILED,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::raw;

    #[test]
    fn the_librarys_small_codes_are_not_taken_for_the_interfaces() {
        assert_eq!(outcome(OK), raw::OK);
        assert!((1..=3).all(|code| outcome(code) == raw::FAILED));
        // CRYPT_INVALID_CIPHER
        assert_eq!(outcome(10), 10);
    }
}
