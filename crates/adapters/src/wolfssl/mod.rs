//! wolfCrypt, the library below wolfSSL, through its public C functions: attaching it, contexts and error
//! codes, digests, HMAC and Poly1305. `README.md` beside this file says which functions, and why.

mod encryption;

use crate::family::{self, Aligned, Attached, Family, In, Out, c_concat, calls, operations};
use base::model::{Algorithm, Kind, Mode, Primitive};
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Attaches a wolfSSL of any version.
///
/// # Errors
/// [`LoadError::Unusable`] when the library does not initialise.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    initialise(&object)?;
    // Builds with --enable-cryptonly leave every function out that would tell.
    let version = text(&object, "wolfSSL_lib_version").unwrap_or_else(|| "unknown".to_owned());
    let build = [("configure", "wolfSSL_configure_args"), ("flags", "wolfSSL_global_cflags")];
    let fact = |(name, symbol): (&str, &str)| Some(format!("{name}: {}", text(&object, symbol)?));
    let build = build.into_iter().filter_map(fact).collect();
    family::library((name, "wolfssl"), &version, build, Wolfssl { object })
}

/// The manual asks for `wolfCrypt_Init` before anything else where wolfSSL_Init is not called.
fn initialise(object: &SharedObject) -> Result<(), LoadError> {
    type InitFn = unsafe extern "C" fn() -> c_int;
    // SAFETY: the type is that of wc_port.h.
    match unsafe { object.function::<InitFn>("wolfCrypt_Init") } {
        // SAFETY: takes nothing; later calls only count.
        Some(init) => match unsafe { init() } {
            0 => Ok(()),
            code => Err(object.unusable(format!("wolfCrypt_Init returned {code}"))),
        },
        None => Ok(()),
    }
}

/// What a function without arguments says, on one line; `None` where it is not there or silent.
fn text(object: &SharedObject, symbol: &str) -> Option<String> {
    type TextFn = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the type is that of ssl.h and logging.h for the symbols that are asked for.
    let text = unsafe { object.function::<TextFn>(symbol)?() };
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so a static NUL-terminated string.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
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
            _ if kind == Kind::Digest => open_digest(request),
            (_, Mode::Hmac) => open_hmac(request),
            (Primitive::Poly1305, _) => open_poly1305(request),
            (Primitive::Aes, Mode::Xts) => encryption::open_xts(request),
            (Primitive::Aes, Mode::Gcm | Mode::Ccm) => encryption::open_aead(request),
            (Primitive::Aes, Mode::Eax | Mode::Siv | Mode::GcmSiv)
            | (Primitive::ChaCha20, Mode::Poly1305) => encryption::open_one_shot(request),
            (Primitive::XChaCha20, _) => encryption::open_xchacha(request),
            (Primitive::Aes, Mode::Gmac) => encryption::open_gmac(request),
            _ => encryption::open_cipher(request),
        }
    }
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
/// `MAC_CMP_FAILED_E`, of Poly1305.
const MAC_WRONG_TAG: c_int = -213;
/// `AES_SIV_AUTH_E`
const SIV_WRONG_TAG: c_int = -289;

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
    /// A zeroed context that needs no freeing.
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

    /// An initialised `struct Aes`.
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
// Digests, HMAC and Poly1305: begun, fed and ended.

/// `wc_InitSha256`, `wc_InitSha384`, `wc_InitSha512`: context.
type Sha2InitFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `wc_InitSha3_256` and the like: context, heap hint, device.
type Sha3InitFn = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int;
/// `wc_InitBlake2b`: context, length of the digest.
type BlakeInitFn = unsafe extern "C" fn(*mut c_void, u32) -> c_int;
/// `wc_Sha256Update`, `wc_Blake2bUpdate`, `wc_Poly1305SetKey`: context, input, length.
type UpdateFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_Sha256Final`: context, tag.
type FinalFn = unsafe extern "C" fn(*mut c_void, Out) -> c_int;
/// `wc_Blake2bFinal`: context, digest, its length.
type BlakeFinalFn = unsafe extern "C" fn(*mut c_void, Out, u32) -> c_int;

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

/// Bytes of BLAKE2b's digest.
const BLAKE2B: u32 = 64;

/// How a message begins.
enum Begin {
    Sha2(Sha2InitFn),
    Sha3(Sha3InitFn),
    Blake(BlakeInitFn),
    /// The context is as its key or the end of the message before left it.
    Ready,
    Key(UpdateFn, [u8; 32]),
}

enum End {
    Plain(FinalFn),
    Blake(BlakeFinalFn),
}

struct DigestState {
    begin: Begin,
    update: UpdateFn,
    end: End,
    message: Context,
    stream: Context,
    /// Whether the stream was begun and not ended.
    begun: bool,
}

impl DigestState {
    fn into_session(self, call: &'static CStr) -> raw::Session {
        Table::new(self, raw::IN_PLACE, call).parts().raw()
    }

    #[inline]
    fn begin(&self, context: &Context) -> c_int {
        let context = context.pointer();
        // SAFETY: a context of the kind; the key covers its length.
        unsafe {
            match &self.begin {
                Begin::Sha2(init) => init(context),
                Begin::Sha3(init) => init(context, ptr::null_mut(), NO_DEVICE),
                Begin::Blake(init) => init(context, BLAKE2B),
                Begin::Ready => 0,
                Begin::Key(set_key, key) => set_key(context, key.as_ptr(), 32),
            }
        }
    }

    /// # Safety
    /// `tag` has room for the algorithm's tag.
    #[inline]
    unsafe fn end(&self, context: &Context, tag: *mut u8) -> c_int {
        // SAFETY: the caller's promise; a context of the kind that was begun.
        unsafe {
            match self.end {
                End::Plain(end) => end(context.pointer(), tag),
                End::Blake(end) => end(context.pointer(), tag, BLAKE2B),
            }
        }
    }
}

operations! { impl for DigestState;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!(
            self.begin(&self.message),
            (self.update)(self.message.pointer(), m.input, len),
            self.end(&self.message, m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        // No tag is longer than 64 bytes.
        if self.begun && matches!(self.begin, Begin::Ready) {
            // Only its end brings a keyed context back to where a message begins.
            let mut unwanted = [0; 64];
            let code = self.end(&self.stream, unwanted.as_mut_ptr());
            if code != 0 {
                return outcome(code);
            }
        }
        self.begun = true;
        outcome(self.begin(&self.stream))
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
        Primitive::Sha256 => names!("wc_InitSha256", "wc_Sha256"),
        Primitive::Sha384 => names!("wc_InitSha384", "wc_Sha384"),
        Primitive::Sha512 => names!("wc_InitSha512", "wc_Sha512"),
        Primitive::Sha3_256 => names!("wc_InitSha3_256", "wc_Sha3_256_"),
        Primitive::Sha3_384 => names!("wc_InitSha3_384", "wc_Sha3_384_"),
        Primitive::Sha3_512 => names!("wc_InitSha3_512", "wc_Sha3_512_"),
        Primitive::Blake2b => names!("wc_InitBlake2b", "wc_Blake2b"),
        _ => return None,
    })
}

fn open_digest(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let (init, update, end, free, call) =
        names(request.algorithm.cipher).ok_or_else(|| request.absent("wolfCrypt"))?;
    // SAFETY: the types are those of sha256.h, sha512.h, sha3.h and blake2.h for the symbols
    // named; BLAKE2b's context needs no freeing and has no function for it.
    let state = unsafe {
        let (begin, end) = match request.algorithm.cipher {
            Primitive::Sha256 | Primitive::Sha384 | Primitive::Sha512 => {
                (Begin::Sha2(object.exported(init)?), End::Plain(object.exported(end)?))
            }
            Primitive::Blake2b => {
                (Begin::Blake(object.exported(init)?), End::Blake(object.exported(end)?))
            }
            _ => (Begin::Sha3(object.exported(init)?), End::Plain(object.exported(end)?)),
        };
        let context = || Context::zeroed().freed_by(object, free);
        let (message, stream) = (context(), context());
        DigestState { begin, update: object.exported(update)?, end, message, stream, begun: false }
    };
    // Freeing a context expects one that was begun.
    for context in [&state.message, &state.stream] {
        done(init, state.begin(context))?;
    }
    Ok(state.into_session(call))
}

fn open_hmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    // enum wc_HashType. FIPS modules older than 2018 have other numbers; they would answer with
    // tags of another hash, which the checks refuse.
    let hash = match request.algorithm.cipher {
        Primitive::Sha256 => 6,
        Primitive::Sha384 => 7,
        _ => 8,
    };
    let f = HmacFunctions::of(object)?;
    let keyed = || {
        // SAFETY: the types are those of hmac.h for the symbols named.
        let context = unsafe { Context::initialised(object, "wc_HmacInit", "wc_HmacFree") }?;
        let (key, len) = (request.key.as_ptr(), request.key_len());
        // SAFETY: the key covers its length.
        let code = unsafe { (f.wc_HmacSetKey)(context.pointer(), hash, key, len) };
        done("wc_HmacSetKey", code).map(|()| context)
    };
    let (update, end) = (f.wc_HmacUpdate, End::Plain(f.wc_HmacFinal));
    let (message, stream) = (keyed()?, keyed()?);
    let state = DigestState { begin: Begin::Ready, update, end, message, stream, begun: false };
    Ok(state.into_session(c"wc_HmacUpdate, wc_HmacFinal"))
}

fn open_poly1305(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = PolyFunctions::of(&request.library.object)?;
    let key = request.key.try_into().expect("Poly1305 has keys of 32 bytes");
    let state = DigestState {
        begin: Begin::Key(f.wc_Poly1305SetKey, key),
        update: f.wc_Poly1305Update,
        end: End::Plain(f.wc_Poly1305Final),
        message: Context::zeroed(),
        stream: Context::zeroed(),
        begun: false,
    };
    Ok(state.into_session(c"wc_Poly1305SetKey, wc_Poly1305Update, wc_Poly1305Final"))
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
