//! Mbed TLS through the functions of its modules: attaching it, its contexts, which are its callers' to
//! allocate, digests, HMAC, CMAC and Poly1305. `README.md` beside this file says which functions, and why.

mod ciphers;
mod derivation;

use crate::family::{self, Aligned, Attached, Family, In, Out, calls, in_turn, operations, steps};
use crate::random;
use base::model::{Algorithm, Kind, Mode, Primitive, RANDOM};
use contract::loader::SharedObject;
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};

/// Configuration options that change the speed of what is measured.
const OPTIONS: [&str; 10] = [
    "MBEDTLS_HAVE_ASM",
    "MBEDTLS_AESNI_C",
    "MBEDTLS_AES_ROM_TABLES",
    "MBEDTLS_AES_FEWER_TABLES",
    "MBEDTLS_GCM_LARGE_TABLE",
    "MBEDTLS_BLOCK_CIPHER_NO_DECRYPT",
    "MBEDTLS_CAMELLIA_SMALL_MEMORY",
    "MBEDTLS_SHA256_SMALLER",
    "MBEDTLS_SHA512_SMALLER",
    "MBEDTLS_HAVE_SSE2",
];

/// Attaches an Mbed TLS of version 2 or 3.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    // SAFETY: version.h: takes nothing, gives major, minor and patch in a byte each, and a zero.
    let number: c_uint = unsafe { object.asked("mbedtls_version_get_number")? };
    let [major, minor, patch, _] = number.to_be_bytes();
    let (version, build) = (format!("{major}.{minor}.{patch}"), build(&object));
    family::library(name, "mbedtls", &version, build, Mbedtls { object, major })
}

/// Which options it was built with, where it was built to say so.
fn build(object: &SharedObject) -> Vec<String> {
    type CheckFn = unsafe extern "C" fn(*const c_char) -> c_int;
    // SAFETY: version.h.
    let Some(check) = (unsafe { object.function::<CheckFn>("mbedtls_version_check_feature") })
    else {
        return Vec::new();
    };
    let has = |option: &&&str| {
        let option = CString::new(**option).expect("options have no NUL");
        // SAFETY: a NUL-terminated string; 0 for yes.
        unsafe { check(option.as_ptr()) == 0 }
    };
    OPTIONS.iter().filter(has).map(|option| (*option).to_owned()).collect()
}

struct Mbedtls {
    object: SharedObject,
    major: u8,
}

type Request<'a> = family::Request<'a, Mbedtls>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Mbedtls {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let Algorithm { cipher, mode, kind, .. } = *request.algorithm;
        match (mode, kind) {
            (Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Cfb8 | Mode::Ofb | Mode::Ctr, _) => {
                ciphers::open_block(request)
            }
            (Mode::Xts, _) => ciphers::open_xts(request),
            (Mode::KeyWrap | Mode::KeyWrapPadded, _) => ciphers::open_key_wrap(request),
            (Mode::Gcm | Mode::Gmac, _) => ciphers::open_gcm(request),
            (Mode::Ccm, _) => ciphers::open_ccm(request),
            (Mode::Poly1305, _) if cipher == Primitive::ChaCha20 => {
                ciphers::open_chachapoly(request)
            }
            (Mode::Stream, _) if cipher == Primitive::ChaCha20 => ciphers::open_chacha(request),
            (Mode::Stream, _) if cipher == Primitive::Rc4 => ciphers::open_arc4(request),
            (Mode::Hmac | Mode::Cmac | Mode::OneTimeMac, _) | (Mode::None, Kind::Digest) => {
                open_digest(request)
            }
            (_, Kind::Derivation) => derivation::open(request),
            (_, Kind::Random) if request.algorithm.name == RANDOM => open_random(request),
            _ => Err(request.none()),
        }
    }
}

impl Request<'_> {
    /// `MBEDTLS_AES_ENCRYPT` or `_DECRYPT`, which every module but ChaCha20-Poly1305 numbers alike.
    fn way(&self) -> c_int {
        c_int::from(!self.decrypts())
    }

    /// A function of the library's.
    ///
    /// # Safety
    /// As [`SharedObject::exported`].
    unsafe fn function<F: Copy>(&self, symbol: &str) -> Result<F, OpenError> {
        // SAFETY: the caller's.
        Ok(unsafe { self.library.object.exported(symbol) }?)
    }

    fn none(&self) -> OpenError {
        self.absent(&format!("Mbed TLS {} as it was built", self.version))
    }

    fn key_bits(&self) -> c_uint {
        c_uint::try_from(self.key.len() * 8).expect("keys are a few bytes")
    }

    fn cipher_name(&self) -> Result<&'static str, OpenError> {
        Ok(match self.algorithm.cipher {
            Primitive::Aes => "aes",
            Primitive::Camellia => "camellia",
            Primitive::Aria => "aria",
            Primitive::TripleDes => "des3",
            Primitive::Des => "des",
            Primitive::Blowfish => "blowfish",
            _ => return Err(self.none()),
        })
    }

    /// The block cipher in `mbedtls_cipher_id_t`, which lost two members before ARIA in version 3.
    fn cipher_id(&self) -> Result<c_int, OpenError> {
        Ok(match (self.algorithm.cipher, self.library.major) {
            (Primitive::Aes, _) => 2,
            (Primitive::Camellia, _) => 5,
            (Primitive::Aria, ..=2) => 8,
            (Primitive::Aria, _) => 6,
            _ => return Err(self.none()),
        })
    }
}

/// 0, or an error that ends the opening.
fn done(call: &str, code: c_int) -> Result<(), OpenError> {
    if code == 0 {
        Ok(())
    } else {
        Err(OpenError::Failed(format!("{call}: error -{:#06x}", -code)))
    }
}

/// The library's code as the interface's: errors are negative, so that none is one of the
/// interface's own numbers.
#[inline]
fn outcome(code: c_int) -> i32 {
    if code <= 0 { code } else { raw::FAILED }
}

/// Bytes for any context. Only the headers tell the sizes, and they differ by version and
/// configuration. The largest that is used, `mbedtls_gcm_context` with its large table, has less than 5 KiB.
const PLENTY: usize = 16 << 10;
/// The same for a collector of entropy, whose HAVEGE alone takes 37 KiB in Debian's build.
const COLLECTOR: usize = 128 << 10;

/// `mbedtls_aes_init`, `mbedtls_aes_free` and their like.
type ContextFn = unsafe extern "C" fn(*mut c_void);

struct Context {
    memory: Aligned,
    free: ContextFn,
}

impl Context {
    /// An initialised one of a module: `mbedtls_aes`.
    fn new(request: &Request<'_>, module: &str) -> Result<Self, OpenError> {
        Self::with_room(request, module, PLENTY)
    }

    fn with_room(request: &Request<'_>, module: &str, room: usize) -> Result<Self, OpenError> {
        // SAFETY: every module's two functions have this type; the memory is larger than any context.
        unsafe {
            let init: ContextFn = request.function(&format!("{module}_init"))?;
            let free = request.function(&format!("{module}_free"))?;
            let mut memory = Aligned::zeroed(room);
            init(memory.as_mut_ptr());
            Ok(Self { memory, free })
        }
    }

    #[inline]
    fn get(&mut self) -> *mut c_void {
        self.memory.as_mut_ptr()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, freed nowhere else.
        unsafe { (self.free)(self.memory.as_mut_ptr()) }
    }
}

type EntropyFn = unsafe extern "C" fn(*mut c_void, Out, usize) -> c_int;

functions! {
    /// entropy.h and ctr_drbg.h.
    struct RandomFunctions {
        mbedtls_entropy_func: fn(*mut c_void, Out, usize) -> c_int;
        /// Generator, what collects entropy and where, personalisation.
        mbedtls_ctr_drbg_seed: fn(*mut c_void, EntropyFn, *mut c_void, In, usize) -> c_int;
        /// Generator, output.
        mbedtls_ctr_drbg_random: fn(*mut c_void, Out, usize) -> c_int;
    }
}

/// `mbedtls_ctr_drbg_random`, seeded by the library's own collector of entropy.
fn open_random(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    /// `MBEDTLS_CTR_DRBG_MAX_REQUEST`
    const MOST: usize = 1024;
    let f = RandomFunctions::of(&request.library.object)?;
    let mut entropy = Context::with_room(request, "mbedtls_entropy", COLLECTOR)?;
    let mut generator = Context::new(request, "mbedtls_ctr_drbg")?;
    let (seed, collect, none) = (f.mbedtls_ctr_drbg_seed, f.mbedtls_entropy_func, c"".as_ptr());
    // SAFETY: both contexts are initialised, and the collector outlives the generator's use of it.
    let code = unsafe { seed(generator.get(), collect, entropy.get(), none.cast(), 0) };
    done("mbedtls_ctr_drbg_seed", code)?;
    Ok(random::session(c"mbedtls_ctr_drbg_random", move |out, len| {
        // It lives as long as the session.
        let _ = &entropy;
        let (draw, at) = (f.mbedtls_ctr_drbg_random, generator.get());
        // SAFETY: a seeded generator; the output covers its length.
        random::in_pieces(out, len, MOST, |out, len| unsafe { draw(at, out, len) })
    }))
}

// Digests and HMAC through the general digest layer, CMAC through the general cipher layer, and Poly1305.

functions! {
    /// md.h: what finds a digest.
    struct Functions {
        mbedtls_md_info_from_string: fn(*const c_char) -> *const c_void;
        mbedtls_md_get_size: fn(*const c_void) -> u8;
        /// Context, digest, whether with HMAC.
        mbedtls_md_setup: fn(*mut c_void, *const c_void, c_int) -> c_int;
    }
}
functions! {
    /// cipher.h and cmac.h: what finds a block cipher and gives it a key.
    struct CmacFunctions {
        mbedtls_cipher_info_from_string: fn(*const c_char) -> *const c_void;
        /// Context, cipher.
        mbedtls_cipher_setup: fn(*mut c_void, *const c_void) -> c_int;
        /// Context, key, bits.
        mbedtls_cipher_cmac_starts: fn(*mut c_void, In, usize) -> c_int;
    }
}
/// `mbedtls_md_starts`, `mbedtls_md_hmac_reset`, `mbedtls_cipher_cmac_reset`
type BeginFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `mbedtls_md_update`, `mbedtls_md_hmac_starts`, `_update`, `mbedtls_cipher_cmac_update`, `mbedtls_poly1305_update`:
/// context, bytes, length.
type BytesFn = unsafe extern "C" fn(*mut c_void, In, usize) -> c_int;
/// `mbedtls_poly1305_starts`: context, key.
type KeyFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
/// `mbedtls_md_finish`, `mbedtls_md_hmac_finish`, `mbedtls_cipher_cmac_finish`, `mbedtls_poly1305_finish`: context, output.
type FinishFn = unsafe extern "C" fn(*mut c_void, Out) -> c_int;

#[derive(Clone, Copy)]
enum Begin {
    /// A digest, or HMAC or CMAC under the key that it has.
    Again(BeginFn),
    /// Poly1305, whose key is for one message only.
    Key(KeyFn),
}

struct DigestState {
    context: Context,
    begin: Begin,
    update: BytesFn,
    finish: FinishFn,
    key: Vec<u8>,
}

fn open_digest(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (context, ([begin, update, finish], call)) = match request.algorithm.mode {
        Mode::OneTimeMac => (
            Context::new(request, "mbedtls_poly1305")?,
            in_turn!("mbedtls_poly1305_": "starts", "update", "finish"),
        ),
        Mode::Hmac => (hmac(request)?, in_turn!("mbedtls_md_hmac_": "reset", "update", "finish")),
        Mode::Cmac => {
            (cmac(request)?, in_turn!("mbedtls_cipher_cmac_": "reset", "update", "finish"))
        }
        _ => (context(request, 0)?, in_turn!("mbedtls_md_": "starts", "update", "finish")),
    };
    // SAFETY: md.h, cmac.h and poly1305.h.
    let state = unsafe {
        let (begin, key) = match request.algorithm.mode {
            Mode::OneTimeMac => (Begin::Key(request.function(begin)?), request.key.to_vec()),
            _ => (Begin::Again(request.function(begin)?), Vec::new()),
        };
        let (update, finish) = (request.function(update)?, request.function(finish)?);
        DigestState { context, begin, update, finish, key }
    };
    Ok(Table::new(state, raw::IN_PLACE, call).parts().raw())
}

fn hmac(request: &Request<'_>) -> Result<Context, OpenError> {
    let mut context = context(request, 1)?;
    // SAFETY: md.h; the key covers its length.
    let code = unsafe {
        let set_key: BytesFn = request.function("mbedtls_md_hmac_starts")?;
        set_key(context.get(), request.key.as_ptr(), request.key.len())
    };
    done("mbedtls_md_hmac_starts", code)?;
    Ok(context)
}

/// A context of the digest layer. Digests are found by their names: their numbers changed between
/// versions 2 and 3.
fn context(request: &Request<'_>, hmac: c_int) -> Result<Context, OpenError> {
    let name = match request.algorithm.cipher {
        Primitive::Md4 => c"MD4",
        Primitive::Md5 => c"MD5",
        Primitive::Sha1 => c"SHA1",
        Primitive::Sha224 => c"SHA224",
        Primitive::Ripemd160 => c"RIPEMD160",
        Primitive::Sha3_224 => c"SHA3-224",
        Primitive::Sha256 => c"SHA256",
        Primitive::Sha384 => c"SHA384",
        Primitive::Sha512 => c"SHA512",
        Primitive::Sha3_256 => c"SHA3-256",
        Primitive::Sha3_384 => c"SHA3-384",
        Primitive::Sha3_512 => c"SHA3-512",
        _ => return Err(request.none()),
    };
    let f = Functions::of(&request.library.object)?;
    // SAFETY: the name is NUL-terminated; a description that is not null is one of a digest.
    let info = unsafe { (f.mbedtls_md_info_from_string)(name.as_ptr()) };
    // SAFETY: a description of the library's.
    let len = || usize::from(unsafe { (f.mbedtls_md_get_size)(info) });
    if info.is_null() || len() != request.algorithm.tag_len {
        return Err(request.none());
    }
    digest_context(request, info, hmac)
}

fn digest_context(
    request: &Request<'_>,
    info: *const c_void,
    hmac: c_int,
) -> Result<Context, OpenError> {
    let mut context = Context::new(request, "mbedtls_md")?;
    let f = Functions::of(&request.library.object)?;
    // SAFETY: a description of the library's.
    let code = unsafe { (f.mbedtls_md_setup)(context.get(), info, hmac) };
    done("mbedtls_md_setup", code)?;
    Ok(context)
}

fn cmac(request: &Request<'_>) -> Result<Context, OpenError> {
    let name = match (request.algorithm.cipher, request.algorithm.key_len) {
        (Primitive::Aes, 16) => c"AES-128-ECB",
        (Primitive::Aes, 24) => c"AES-192-ECB",
        (Primitive::Aes, _) => c"AES-256-ECB",
        (Primitive::TripleDes, _) => c"DES-EDE3-ECB",
        _ => return Err(request.none()),
    };
    let f = CmacFunctions::of(&request.library.object)?;
    let mut context = Context::new(request, "mbedtls_cipher")?;
    // SAFETY: the name is NUL-terminated; a description that is not null is one of a cipher; the key covers its length.
    unsafe {
        let info = (f.mbedtls_cipher_info_from_string)(name.as_ptr());
        if info.is_null() {
            return Err(request.none());
        }
        done("mbedtls_cipher_setup", (f.mbedtls_cipher_setup)(context.get(), info))?;
        let (key, bits) = (request.key.as_ptr(), request.key.len() * 8);
        let code = (f.mbedtls_cipher_cmac_starts)(context.get(), key, bits);
        done("mbedtls_cipher_cmac_starts", code)?;
    }
    Ok(context)
}

steps! { impl for DigestState;
    fn begin(&mut self) -> c_int {
        match self.begin {
            Begin::Again(begin) => begin(self.context.get()),
            Begin::Key(begin) => begin(self.context.get(), self.key.as_ptr()),
        }
    }
}

operations! { impl for DigestState;
    fn message(&mut self, m) {
        calls!(
            self.begin(),
            (self.update)(self.context.get(), m.input, m.len),
            (self.finish)(self.context.get(), m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        calls!(self.begin())
    }

    fn update(&mut self, input, _output, len) {
        calls!((self.update)(self.context.get(), input, len))
    }

    fn finish(&mut self, tag) {
        calls!((self.finish)(self.context.get(), tag))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::MBEDTLS;
    use base::model::{Algorithm, Direction};
    use contract::{OpenError, Outcome, raw};
    use testing::trial::{bytes, open};

    #[test]
    fn a_broken_block_is_an_error_and_what_is_not_built_in_says_so() {
        let library = MBEDTLS.library().unwrap();
        for name in ["aes-128-cbc", "aes-128-ecb"] {
            let mut session = open(&*library, name, Direction::Encrypt);
            let nonce = vec![0; session.algorithm().nonce_len];
            let outcome = session.message_in_place(&nonce, &[], &mut [0; 17], &mut []);
            assert!(matches!(outcome, Outcome::Error(_)), "{name}: {outcome:?}");
        }
        let siv = Algorithm::find("aes-128-siv").unwrap();
        let error = library.open(siv, Direction::Encrypt, &[0; 32]).unwrap_err();
        assert!(matches!(error, OpenError::Unsupported(why) if why.contains("aes-128-siv")));
    }

    /// <https://github.com/Mbed-TLS/mbedtls/issues/4302>: should this fail, the library was mended, and XTS may
    /// be said to work in place.
    #[test]
    fn a_data_unit_that_ends_within_a_block_goes_wrong_in_place_and_is_not_offered_so() {
        let library = MBEDTLS.library().unwrap();
        let mut session = open(&*library, "aes-128-xts", Direction::Encrypt);
        assert!(!session.in_place() && !session.has_stream());
        let (nonce, data) = ([3; 16], bytes(17, 1));
        let (mut apart, mut over) = (vec![0; 17], data.clone());
        let message = contract::Message {
            nonce: &nonce,
            aad: &[],
            input: &data,
            output: &mut apart,
            tag: &mut [],
        };
        assert_eq!(session.message(message), Outcome::Done);
        let (call, state) = (session.raw().message.unwrap(), session.raw().state);
        let message = raw::Message {
            nonce: nonce.as_ptr(),
            aad: std::ptr::null(),
            aad_len: 0,
            input: over.as_ptr(),
            len: over.len(),
            output: over.as_mut_ptr(),
            tag: std::ptr::null_mut(),
        };
        // SAFETY: the function reads and writes one buffer, in bounds; what it makes of it is the test.
        assert_eq!(unsafe { call(state, &raw const message) }, raw::OK);
        assert_ne!(apart, over);
    }

    #[test]
    fn sessions_say_what_they_call_and_that_nothing_is_copied() {
        let library = MBEDTLS.library().unwrap();
        let gcm = open(&*library, "aes-128-gcm", Direction::Decrypt);
        assert_eq!(gcm.calls().unwrap(), "mbedtls_gcm_auth_decrypt");
        assert!(!gcm.copies() && !gcm.allocates() && gcm.in_place());
        let cfb = open(&*library, "camellia-256-cfb", Direction::Encrypt);
        assert_eq!(cfb.calls().unwrap(), "mbedtls_camellia_crypt_cfb128");
    }
}
