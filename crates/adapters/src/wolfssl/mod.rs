//! wolfCrypt, the library below wolfSSL, through its public C functions: attaching it, contexts and error
//! codes, digests and MACs. `README.md` beside this file says which functions, and why.

mod derivation;
mod encryption;

use crate::family::{
    self, Aligned, Attached, Family, In, Out, c_concat, calls, in_turn, operations, steps,
};
use crate::random;
use base::model::{Algorithm, Kind, Mode, Primitive, RANDOM};
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    initialise(&object)?;
    // Builds with --enable-cryptonly leave every function out that would tell.
    let version = text(&object, "wolfSSL_lib_version").unwrap_or_else(|| "unknown".to_owned());
    let build = [("configure", "wolfSSL_configure_args"), ("flags", "wolfSSL_global_cflags")];
    let fact = |(name, symbol): (&str, &str)| Some(format!("{name}: {}", text(&object, symbol)?));
    let build = build.into_iter().filter_map(fact).collect();
    family::library(name, "wolfssl", &version, build, Wolfssl { object })
}

/// The manual asks for `wolfCrypt_Init` before anything else where wolfSSL_Init is not called.
fn initialise(object: &SharedObject) -> Result<(), LoadError> {
    // SAFETY: the type is that of wc_port.h; later calls only count.
    match unsafe { object.asked::<c_int>("wolfCrypt_Init") } {
        Ok(0) | Err(_) => Ok(()),
        Ok(code) => Err(object.unusable(format!("wolfCrypt_Init returned {code}"))),
    }
}

/// What a function without arguments says, on one line; `None` where it is not there or silent.
fn text(object: &SharedObject, symbol: &str) -> Option<String> {
    // SAFETY: the type is that of ssl.h and logging.h for the symbols that are asked for.
    let text = unsafe { object.told(symbol) }.ok()??;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then_some(words)
}

struct Wolfssl {
    object: SharedObject,
}

type Request<'a> = family::Request<'a, Wolfssl>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Wolfssl {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let Algorithm { cipher, mode, kind, .. } = *request.algorithm;
        match (cipher, mode) {
            (Primitive::Md4, Mode::None) => open_md4(request),
            _ if kind == Kind::Digest => open_digest(request),
            _ if kind == Kind::Derivation => derivation::open(request),
            _ if request.algorithm.name == RANDOM => open_random(request),
            (_, Mode::Hmac) => open_hmac(request),
            (Primitive::Aes, Mode::Cmac) => open_cmac(request),
            (_, Mode::Kmac) => open_kmac(request),
            (Primitive::Blake2b | Primitive::Blake2s, Mode::Keyed) => open_blake2(request),
            (Primitive::SipHash24, _) => open_siphash(request),
            (Primitive::Poly1305, _) => open_poly1305(request),
            (Primitive::Aes, Mode::Xts) => encryption::open_xts(request),
            (Primitive::Aes, Mode::Gcm | Mode::Ccm) => encryption::open_aead(request),
            (Primitive::Aes, Mode::Eax | Mode::Siv | Mode::GcmSiv)
            | (Primitive::ChaCha20, Mode::Poly1305) => encryption::open_one_shot(request),
            (Primitive::XChaCha20, Mode::Stream) => encryption::open_xchacha_stream(request),
            (Primitive::Rc4, _) => encryption::open_arc4(request),
            (_, Mode::KeyWrap) => encryption::open_key_wrap(request),
            (Primitive::XChaCha20, _) => encryption::open_xchacha(request),
            (Primitive::Ascon, _) => encryption::open_ascon(request),
            (Primitive::Aes, Mode::Gmac) => encryption::open_gmac(request),
            _ => encryption::open_cipher(request),
        }
    }
}

functions! {
    /// random.h.
    struct RandomFunctions {
        /// Nonce, length, heap hint.
        wc_rng_new: fn(Out, u32, *mut c_void) -> *mut c_void;
        wc_rng_free: fn(*mut c_void);
        /// Generator, output, length.
        wc_RNG_GenerateBlock: fn(*mut c_void, Out, u32) -> c_int;
    }
}

/// `wc_RNG_GenerateBlock`
fn open_random(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    /// `RNG_MAX_BLOCK_LEN`
    const MOST: usize = 0x10000;
    struct Generator(*mut c_void, FreeFn);
    impl Drop for Generator {
        fn drop(&mut self) {
            // SAFETY: made by `wc_rng_new`, freed once.
            unsafe { (self.1)(self.0) }
        }
    }
    let f = RandomFunctions::of(&request.library.object)?;
    // SAFETY: no nonce, the default heap.
    let at = unsafe { (f.wc_rng_new)(ptr::null_mut(), 0, ptr::null_mut()) };
    if at.is_null() {
        return Err(OpenError::Failed("wc_rng_new gave no generator".to_owned()));
    }
    let (generator, draw) = (Generator(at, f.wc_rng_free), f.wc_RNG_GenerateBlock);
    Ok(random::session(c"wc_RNG_GenerateBlock", move |out, len| {
        let Generator(at, _) = &generator;
        // SAFETY: a generator of the library's; the output covers its length, which is at most 64 KiB.
        random::in_pieces(out, len, MOST, |out, len| unsafe { draw(*at, out, len as u32) })
    }))
}

// What of wolfCrypt every part of the adapter uses: contexts, error codes, lengths.

/// `wc_AesInit`, `wc_Des3Init`, `wc_HmacInit`: context, heap hint, device.
type InitFn = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int;
/// `wc_AesFree` and the like: context.
type FreeFn = unsafe extern "C" fn(*mut c_void);

/// `INVALID_DEVID`: no device, the library's own code.
const NO_DEVICE: c_int = -2;
/// `AES_ENCRYPTION`, `DES_ENCRYPTION`
const ENCRYPTION: c_int = 0;
/// `AES_DECRYPTION`, `DES_DECRYPTION`
const DECRYPTION: c_int = 1;

/// `AES_EAX_AUTH_E`
const EAX_WRONG_TAG: c_int = -122;
/// `AES_GCM_AUTH_E`, of GCM and GCM-SIV.
const GCM_WRONG_TAG: c_int = -180;
/// `AES_CCM_AUTH_E`
const CCM_WRONG_TAG: c_int = -181;
/// `BAD_KEYWRAP_IV_E`
const WRONG_CHECK: c_int = -240;
/// `MAC_CMP_FAILED_E`, of Poly1305.
const MAC_WRONG_TAG: c_int = -213;
/// `AES_SIV_AUTH_E`
const SIV_WRONG_TAG: c_int = -289;
/// `ASCON_AUTH_E`
const ASCON_WRONG_TAG: c_int = -1001;
/// `BAD_FUNC_ARG`
const BAD_ARGUMENT: c_int = -173;

/// Bytes of any context. Contexts are the caller's to allocate, and their layout follows from
/// dozens of build options, which the library does not tell: struct Aes has 1104 bytes in Debian's
/// build, 5 KiB with GCM tables, and 121 KiB in the bit-sliced one; XTS holds up to three of them
/// and EAX four. Untouched pages cost nothing.
const CONTEXT: usize = 1 << 20;

/// A context that the library may have allocated something for.
struct Context {
    memory: Aligned,
    free: Option<FreeFn>,
}

impl Context {
    fn zeroed() -> Self {
        Self { memory: Aligned::zeroed(CONTEXT), free: None }
    }

    /// A context prepared by one of the functions of [`InitFn`]'s type, and freed by another.
    ///
    /// # Safety
    /// The symbols are of the types [`InitFn`] and [`FreeFn`], and `free` fits `init`.
    unsafe fn initialised(
        object: &SharedObject,
        init: &str,
        free: &str,
    ) -> Result<Self, OpenError> {
        let mut context = Self::zeroed();
        // SAFETY: the caller vouches for the types; the context is larger than any.
        let code = unsafe {
            object.exported::<InitFn>(init)?(context.pointer(), std::ptr::null_mut(), NO_DEVICE)
        };
        done(init, code)?;
        // SAFETY: the caller vouches for the type.
        context.free = unsafe { object.function(free) };
        Ok(context)
    }

    fn aes(object: &SharedObject) -> Result<Self, OpenError> {
        // SAFETY: both are those of aes.h.
        unsafe { Self::initialised(object, "wc_AesInit", "wc_AesFree") }
    }

    /// Says what frees the context.
    ///
    /// # Safety
    /// The symbol is of the type [`FreeFn`] and fits the context.
    unsafe fn freed_by(mut self, object: &SharedObject, free: &str) -> Self {
        // SAFETY: the caller vouches for the type.
        self.free = unsafe { object.function(free) };
        self
    }

    #[inline]
    fn pointer(&self) -> *mut c_void {
        self.memory.context()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: `free` fits the context, which is not used afterwards.
            unsafe { free(self.pointer()) }
        }
    }
}

/// The numbers of the two directions: 0 encrypts.
fn number(direction: base::model::Direction) -> c_int {
    match direction {
        base::model::Direction::Decrypt => DECRYPTION,
        _ => ENCRYPTION,
    }
}

/// Turns a failure while opening into words. Builds leave parts out without leaving their symbols
/// out: `NOT_COMPILED_IN` says so.
fn done(call: &str, code: c_int) -> Result<(), OpenError> {
    const NOT_COMPILED_IN: c_int = -174;
    match code {
        0 => Ok(()),
        NOT_COMPILED_IN => Err(OpenError::Unsupported(format!("{call}: this build is without it"))),
        code => Err(OpenError::Failed(format!("{call}: error {code}"))),
    }
}

/// A return code as the interface's. The library's errors are negative, none is one of the
/// interface's own numbers; should one be positive, it is no rejection.
#[inline]
fn outcome(code: c_int) -> i32 {
    match code {
        1..=3 => raw::FAILED,
        code => code,
    }
}

/// As [`outcome`], with the code of a wrong tag for a rejection.
#[inline]
fn verdict(code: c_int, wrong_tag: c_int) -> i32 {
    if code == wrong_tag { raw::REJECTED } else { outcome(code) }
}

/// A length as the library's `word32`; longer messages must be cut by its caller.
#[inline]
fn word32(len: usize) -> Option<u32> {
    u32::try_from(len).ok()
}

/// The library's form of each length, or the end of the call with an error: no length may be cut
/// off silently.
macro_rules! lengths {
    ($($name:ident = $len:expr),+ $(,)?) => {
        $(
            let Some($name) = $crate::wolfssl::word32($len) else {
                return contract::raw::FAILED;
            };
        )+
    };
}
pub(crate) use lengths;

// Digests and MACs: begun, fed and ended.

/// `wc_InitSha256`, `wc_InitMd5`, `wc_AsconHash256_Init` and the like: context.
type PlainInitFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `wc_InitSha3_256` and the like: context, heap hint, device.
type Sha3InitFn = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int;
/// `wc_InitBlake2b`, `wc_InitBlake2s`: context, length of the digest.
type BlakeInitFn = unsafe extern "C" fn(*mut c_void, u32) -> c_int;
/// `wc_Sha256Update`, `wc_Blake2bUpdate`, `wc_Poly1305SetKey`: context, input, length.
type UpdateFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_Sha256Final`: context, tag.
type FinalFn = unsafe extern "C" fn(*mut c_void, Out) -> c_int;
/// `wc_Blake2bFinal`, `wc_Shake128_Final`, `wc_Kmac128_Final`: context, digest, its length.
type SizedFinalFn = unsafe extern "C" fn(*mut c_void, Out, u32) -> c_int;
/// `wc_CmacFinal`: context, tag, room for it and length.
type CmacFinalFn = unsafe extern "C" fn(*mut c_void, Out, *mut u32) -> c_int;
/// `wc_InitBlake2b_WithKey`, `wc_InitBlake2s_WithKey`: context, length of the digest, key, length.
type BlakeKeyFn = unsafe extern "C" fn(*mut c_void, u32, In, u32) -> c_int;
/// `wc_InitCmac`: context, key, length, kind, nothing.
type CmacInitFn = unsafe extern "C" fn(*mut c_void, In, u32, c_int, *mut c_void) -> c_int;
/// `wc_InitKmac128`: context, key, length, customization, length, heap hint, device.
type KmacInitFn = unsafe extern "C" fn(*mut c_void, In, u32, In, u32, *mut c_void, c_int) -> c_int;
/// `wc_Kmac128_Copy`: from, to.
type CopyFn = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;

functions! {
    struct HmacFunctions {
        /// Context, hash, key, length.
        wc_HmacSetKey: fn(*mut c_void, c_int, In, u32) -> c_int;
        wc_HmacUpdate: fn(*mut c_void, In, u32) -> c_int;
        wc_HmacFinal: fn(*mut c_void, Out) -> c_int;
    }
}

functions! {
    struct PolyFunctions {
        wc_Poly1305SetKey: fn(*mut c_void, In, u32) -> c_int;
        wc_Poly1305Update: fn(*mut c_void, In, u32) -> c_int;
        wc_Poly1305Final: fn(*mut c_void, Out) -> c_int;
    }
}

enum Begin {
    Plain(PlainInitFn),
    Sha3(Sha3InitFn),
    Blake(BlakeInitFn, u32),
    BlakeKey(BlakeKeyFn, u32, Vec<u8>),
    Cmac(CmacInitFn, Vec<u8>),
    /// As a copy of the context that has the key.
    Copy(CopyFn, Context),
    /// The context is as its key or the end of the message before left it.
    Ready,
    Key(UpdateFn, [u8; 32]),
}

enum End {
    Plain(FinalFn),
    Sized(SizedFinalFn, u32),
    Cmac(CmacFinalFn),
}

struct DigestState {
    begin: Begin,
    update: UpdateFn,
    end: End,
    message: Context,
    stream: Context,
    begun: bool,
}

impl DigestState {
    fn session(
        (begin, update, end): (Begin, UpdateFn, End),
        [message, stream]: [Context; 2],
        call: &'static CStr,
    ) -> raw::Session {
        let state = Self { begin, update, end, message, stream, begun: false };
        Table::new(state, raw::IN_PLACE, call).parts().raw()
    }
}

steps! { impl for DigestState;
    fn end(&self, context: &Context, tag: Out) -> c_int {
        match self.end {
            End::Plain(end) => end(context.pointer(), tag),
            End::Sized(end, len) => end(context.pointer(), tag, len),
            End::Cmac(end) => end(context.pointer(), tag, &mut 16),
        }
    }
}

steps! { impl for Begin;
    fn run(&self, context: &Context) -> c_int {
        let context = context.pointer();
        match self {
            Self::Plain(init) => init(context),
            Self::Sha3(init) => init(context, ptr::null_mut(), NO_DEVICE),
            Self::Blake(init, len) => init(context, *len),
            // Keys are a few bytes.
            Self::BlakeKey(init, len, key) => init(context, *len, key.as_ptr(), key.len() as u32),
            Self::Cmac(init, key) => {
                init(context, key.as_ptr(), key.len() as u32, CMAC_AES, ptr::null_mut())
            }
            Self::Copy(copy, keyed) => copy(keyed.pointer(), context),
            Self::Ready => 0,
            Self::Key(set_key, key) => set_key(context, key.as_ptr(), 32),
        }
    }
}

operations! { impl for DigestState;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!(
            self.begin.run(&self.message),
            (self.update)(self.message.pointer(), m.input, len),
            self.end(&self.message, m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        // No tag is longer than 64 bytes.
        if self.begun && matches!(self.begin, Begin::Ready | Begin::Cmac(..)) {
            // Only its end brings a keyed context back to where a message begins, or gives back what it holds.
            let mut unwanted = [0; 64];
            let code = self.end(&self.stream, unwanted.as_mut_ptr());
            if code != 0 {
                return outcome(code);
            }
        }
        self.begun = true;
        outcome(self.begin.run(&self.stream))
    }

    fn update(&mut self, input, _output, len) {
        lengths!(len = len);
        outcome((self.update)(self.stream.pointer(), input, len))
    }

    fn finish(&mut self, tag) {
        self.begun = false;
        outcome(self.end(&self.stream, tag))
    }
}

/// The names of a digest's functions: beginning, feeding, ending, freeing, all that run inside the
/// clock.
type Names = (&'static str, &'static str, &'static str, &'static str, &'static CStr);

fn names(primitive: Primitive) -> Option<Names> {
    macro_rules! names {
        ($init:literal, $prefix:literal) => {
            (
                $init,
                concat!($prefix, "Update"),
                concat!($prefix, "Final"),
                concat!($prefix, "Free"),
                c_concat!($init, ", ", $prefix, "Update, ", $prefix, "Final"),
            )
        };
    }
    Some(match primitive {
        Primitive::Md5 => names!("wc_InitMd5", "wc_Md5"),
        Primitive::Sha1 => names!("wc_InitSha", "wc_Sha"),
        Primitive::Ripemd160 => names!("wc_InitRipeMd", "wc_RipeMd"),
        Primitive::Sha224 => names!("wc_InitSha224", "wc_Sha224"),
        Primitive::Sha256 => names!("wc_InitSha256", "wc_Sha256"),
        Primitive::Sha384 => names!("wc_InitSha384", "wc_Sha384"),
        Primitive::Sha512 => names!("wc_InitSha512", "wc_Sha512"),
        Primitive::Sha512_224 => names!("wc_InitSha512_224", "wc_Sha512_224"),
        Primitive::Sha512_256 => names!("wc_InitSha512_256", "wc_Sha512_256"),
        Primitive::Sha3_224 => names!("wc_InitSha3_224", "wc_Sha3_224_"),
        Primitive::Sha3_256 => names!("wc_InitSha3_256", "wc_Sha3_256_"),
        Primitive::Sha3_384 => names!("wc_InitSha3_384", "wc_Sha3_384_"),
        Primitive::Sha3_512 => names!("wc_InitSha3_512", "wc_Sha3_512_"),
        Primitive::Shake128 => names!("wc_InitShake128", "wc_Shake128_"),
        Primitive::Shake256 => names!("wc_InitShake256", "wc_Shake256_"),
        Primitive::Blake2b | Primitive::Blake2b256 => names!("wc_InitBlake2b", "wc_Blake2b"),
        Primitive::Blake2s => names!("wc_InitBlake2s", "wc_Blake2s"),
        // wc_AsconHash256_Free would give the context itself to the allocator.
        Primitive::AsconHash256 => (
            "wc_AsconHash256_Init",
            "wc_AsconHash256_Update",
            "wc_AsconHash256_Final",
            "wc_AsconHash256_Clear",
            c"wc_AsconHash256_Init, wc_AsconHash256_Update, wc_AsconHash256_Final",
        ),
        _ => return None,
    })
}

fn open_digest(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let (init, update, end, free, call) =
        names(request.algorithm.cipher).ok_or_else(|| request.absent("wolfCrypt"))?;
    let len = request.algorithm.tag_len as u32;
    // SAFETY: the types are those of md5.h, sha.h, ripemd.h, sha256.h, sha512.h, sha3.h, blake2.h and ascon.h for the
    // symbols named; the contexts of RIPEMD-160 and BLAKE2 need no freeing and have no function for it. Freeing the others
    // expects one that was begun.
    unsafe {
        use Primitive as P;
        let begin = match request.algorithm.cipher {
            P::Blake2b | P::Blake2b256 | P::Blake2s => Begin::Blake(object.exported(init)?, len),
            P::Sha3_224 | P::Sha3_256 | P::Sha3_384 | P::Sha3_512 | P::Shake128 | P::Shake256 => {
                Begin::Sha3(object.exported(init)?)
            }
            _ => Begin::Plain(object.exported(init)?),
        };
        let end = match request.algorithm.cipher {
            P::Blake2b | P::Blake2b256 | P::Blake2s | P::Shake128 | P::Shake256 => {
                End::Sized(object.exported(end)?, len)
            }
            _ => End::Plain(object.exported(end)?),
        };
        let contexts = [(); 2].map(|()| Context::zeroed().freed_by(object, free));
        contexts.iter().try_for_each(|context| done(init, begin.run(context)))?;
        Ok(DigestState::session((begin, object.exported(update)?, end), contexts, call))
    }
}

fn open_hmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    // enum wc_HashType. FIPS modules older than 2018 have other numbers; they would answer with
    // tags of another hash, which the checks refuse.
    let hash = match request.algorithm.cipher {
        Primitive::Md5 => 3,
        Primitive::Sha1 => 4,
        Primitive::Sha224 => 5,
        Primitive::Sha256 => 6,
        Primitive::Sha384 => 7,
        Primitive::Sha512 => 8,
        Primitive::Sha3_256 => 11,
        Primitive::Sha3_512 => 13,
        Primitive::Sha512_256 => 17,
        _ => return Err(request.absent("wolfCrypt")),
    };
    let f = HmacFunctions::of(object)?;
    let keyed = || {
        // SAFETY: the types are those of hmac.h for the symbols named.
        let context = unsafe { Context::initialised(object, "wc_HmacInit", "wc_HmacFree") }?;
        let (key, len) = (request.key.as_ptr(), request.key_len());
        // SAFETY: the key covers its length.
        match unsafe { (f.wc_HmacSetKey)(context.pointer(), hash, key, len) } {
            // What it says of a hash that it has no HMAC with.
            BAD_ARGUMENT => Err(request.absent("this build of wolfCrypt")),
            code => done("wc_HmacSetKey", code).map(|()| context),
        }
    };
    let steps = (Begin::Ready, f.wc_HmacUpdate, End::Plain(f.wc_HmacFinal));
    Ok(DigestState::session(steps, [keyed()?, keyed()?], c"wc_HmacUpdate, wc_HmacFinal"))
}

fn open_poly1305(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = PolyFunctions::of(&request.library.object)?;
    let key = request.key.try_into().expect("Poly1305 has keys of 32 bytes");
    let begin = Begin::Key(f.wc_Poly1305SetKey, key);
    let steps = (begin, f.wc_Poly1305Update, End::Plain(f.wc_Poly1305Final));
    let call = c"wc_Poly1305SetKey, wc_Poly1305Update, wc_Poly1305Final";
    Ok(DigestState::session(steps, [Context::zeroed(), Context::zeroed()], call))
}

/// `WC_CMAC_AES`
const CMAC_AES: c_int = 1;

/// CMAC, whose end wipes the key out of its context, so that each message begins with the key.
fn open_cmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    // SAFETY: the types are those of cmac.h for the symbols named.
    let steps = unsafe {
        (
            Begin::Cmac(object.exported("wc_InitCmac")?, request.key.to_vec()),
            object.exported("wc_CmacUpdate")?,
            End::Cmac(object.exported("wc_CmacFinal")?),
        )
    };
    let call = c"wc_InitCmac, wc_CmacUpdate, wc_CmacFinal";
    Ok(DigestState::session(steps, [Context::zeroed(), Context::zeroed()], call))
}

fn open_kmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let (bits, call) = match request.algorithm.cipher {
        Primitive::Shake128 => (128, c"wc_Kmac128_Copy, wc_Kmac128_Update, wc_Kmac128_Final"),
        _ => (256, c"wc_Kmac256_Copy, wc_Kmac256_Update, wc_Kmac256_Final"),
    };
    let (init, name) = (format!("wc_InitKmac{bits}"), |of: &str| format!("wc_Kmac{bits}_{of}"));
    let (key, key_len, len) =
        (request.key.as_ptr(), request.key_len(), request.algorithm.tag_len as u32);
    // SAFETY: the types are those of sha3.h for the symbols named; the key covers its length; no customization. The copy
    // frees what it overwrites, and so expects one that was begun.
    unsafe {
        let init_fn = object.exported::<KmacInitFn>(&init)?;
        let begun = || {
            let context = Context::zeroed().freed_by(object, &name("Free"));
            let (none, hint) = (ptr::null(), ptr::null_mut());
            let code = init_fn(context.pointer(), key, key_len, none, 0, hint, NO_DEVICE);
            done(&init, code).map(|()| context)
        };
        let begin = Begin::Copy(object.exported(&name("Copy"))?, begun()?);
        let end = End::Sized(object.exported(&name("Final"))?, len);
        let steps = (begin, object.exported(&name("Update"))?, end);
        Ok(DigestState::session(steps, [begun()?, begun()?], call))
    }
}

/// BLAKE2 under a key: a block before the message, which the context only holds until more comes, so that there is
/// nothing of it to be kept from one message to the next.
fn open_blake2(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let ([init, update, end], call) = match request.algorithm.cipher {
        Primitive::Blake2b => {
            in_turn!("wc_": "InitBlake2b_WithKey", "Blake2bUpdate", "Blake2bFinal")
        }
        _ => in_turn!("wc_": "InitBlake2s_WithKey", "Blake2sUpdate", "Blake2sFinal"),
    };
    let (len, key) = (request.algorithm.tag_len as u32, request.key.to_vec());
    // SAFETY: the types are those of blake2.h for the symbols named.
    let steps = unsafe {
        (
            Begin::BlakeKey(object.exported(init)?, len, key),
            object.exported(update)?,
            End::Sized(object.exported(end)?, len),
        )
    };
    Ok(DigestState::session(steps, [Context::zeroed(), Context::zeroed()], call))
}

// MD4, whose functions return nothing up to 5.5 at least, and report nothing but null pointers since.

/// `wc_InitMd4`: context.
type Md4InitFn = unsafe extern "C" fn(*mut c_void);
/// `wc_Md4Update`: context, input, length.
type Md4UpdateFn = unsafe extern "C" fn(*mut c_void, In, u32);
/// `wc_Md4Final`: context, digest.
type Md4FinalFn = unsafe extern "C" fn(*mut c_void, Out);

struct Md4 {
    init: Md4InitFn,
    update: Md4UpdateFn,
    end: Md4FinalFn,
    message: Context,
    stream: Context,
}

fn open_md4(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    // SAFETY: the types are those of md4.h, whose result in later versions is left alone.
    let state = unsafe {
        Md4 {
            init: object.exported("wc_InitMd4")?,
            update: object.exported("wc_Md4Update")?,
            end: object.exported("wc_Md4Final")?,
            message: Context::zeroed(),
            stream: Context::zeroed(),
        }
    };
    let call = c"wc_InitMd4, wc_Md4Update, wc_Md4Final";
    Ok(Table::new(state, raw::IN_PLACE, call).parts().raw())
}

operations! { impl for Md4;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        let context = self.message.pointer();
        (self.init)(context);
        (self.update)(context, m.input, len);
        (self.end)(context, m.tag);
        raw::OK
    }

    fn start(&mut self, _nonce) {
        (self.init)(self.stream.pointer());
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        lengths!(len = len);
        (self.update)(self.stream.pointer(), input, len);
        raw::OK
    }

    fn finish(&mut self, tag) {
        (self.end)(self.stream.pointer(), tag);
        raw::OK
    }
}

// SipHash-2-4: one call for a message, which has assembler of its own, or in parts.

functions! {
    struct SipFunctions {
        /// Key, input, length, tag, its length.
        wc_SipHash: fn(In, In, u32, Out, u8) -> c_int;
        /// Context, key, length of the tag.
        wc_InitSipHash: fn(*mut c_void, In, u8) -> c_int;
        /// Context, input, length.
        wc_SipHashUpdate: fn(*mut c_void, In, u32) -> c_int;
        /// Context, tag, its length.
        wc_SipHashFinal: fn(*mut c_void, Out, u8) -> c_int;
    }
}

/// Bytes of SipHash's tag.
const SIP_TAG: u8 = 8;

struct SipHash {
    f: SipFunctions,
    key: [u8; 16],
    stream: Context,
}

fn open_siphash(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = SipFunctions::of(&request.library.object)?;
    let key = request.key.try_into().expect("SipHash has keys of 16 bytes");
    let state = SipHash { f, key, stream: Context::zeroed() };
    Ok(Table::new(state, raw::IN_PLACE, c"wc_SipHash").parts().raw())
}

operations! { impl for SipHash;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!((self.f.wc_SipHash)(self.key.as_ptr(), m.input, len, m.tag, SIP_TAG))
    }

    fn start(&mut self, _nonce) {
        calls!((self.f.wc_InitSipHash)(self.stream.pointer(), self.key.as_ptr(), SIP_TAG))
    }

    fn update(&mut self, input, _output, len) {
        lengths!(len = len);
        calls!((self.f.wc_SipHashUpdate)(self.stream.pointer(), input, len))
    }

    fn finish(&mut self, tag) {
        calls!((self.f.wc_SipHashFinal)(self.stream.pointer(), tag, SIP_TAG))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::WOLFSSL;
    use base::model::Direction;
    use contract::{Message, Outcome, raw};
    use testing::trial::open;

    // What there is to test of the library besides `testing`.

    /// The published benchmark took an XTS call that returned an error at once for a fast one.
    #[test]
    fn a_call_that_the_library_refuses_is_an_error_and_not_a_fast_success() {
        let Some(library) = WOLFSSL.library() else { return };
        let mut session = open(&*library, "aes-256-xts", Direction::Encrypt);
        let outcome = session.message(Message {
            nonce: &[7; 16],
            aad: &[],
            input: &[0; 15],
            output: &mut [0; 15],
            tag: &mut [],
        });
        assert!(matches!(outcome, Outcome::Error(code) if code < 0), "{outcome:?}");
    }

    #[test]
    fn only_the_modes_own_code_is_a_rejection() {
        assert_eq!(verdict(GCM_WRONG_TAG, GCM_WRONG_TAG), raw::REJECTED);
        assert_eq!(verdict(CCM_WRONG_TAG, GCM_WRONG_TAG), CCM_WRONG_TAG);
        assert_eq!(verdict(0, GCM_WRONG_TAG), raw::OK);
        // BAD_FUNC_ARG
        assert_eq!(outcome(-173), -173);
        assert!((1..=3).all(|code| verdict(code, GCM_WRONG_TAG) == raw::FAILED));
    }

    #[test]
    fn a_length_that_word32_cannot_hold_is_not_cut_off() {
        assert_eq!(word32(u32::MAX as usize), Some(u32::MAX));
        assert_eq!(word32(u32::MAX as usize + 1), None);
    }
}
