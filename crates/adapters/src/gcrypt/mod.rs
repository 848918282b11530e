//! libgcrypt through its public C functions: attaching it, its functions and errors, and what it calls the
//! algorithms. `README.md` beside this file says which functions, and why.

mod derivation;
mod messages;

use crate::family::{self, Attached, Family, c_concat};
use crate::random;
use base::model::{Algorithm, Direction, Kind, Mode, Primitive, RANDOM_NONCE};
use contract::loader::{LoadError, Missing, SharedObject};
use contract::{OpenError, functions, raw};
use derivation::KdfApi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let api = Api::of(&object)?;
    let version = initialise(&object, &api)?;
    family::library(name, "libgcrypt", &version, build(&object), api)
}

/// Does what the manual asks for before anything else is called ("Initializing the library"), and
/// returns the version. Without secure memory: cipher handles do not ask for it, and locked pages
/// would need a limit raised.
fn initialise(object: &SharedObject, api: &Api) -> Result<String, LoadError> {
    type VersionFn = unsafe extern "C" fn(*const c_char) -> *const c_char;
    type ControlFn = unsafe extern "C" fn(c_int, ...) -> Error;
    // SAFETY: the types are those of gcrypt.h.
    let (check_version, control) = unsafe {
        (
            object.exported::<VersionFn>("gcry_check_version")?,
            object.exported::<ControlFn>("gcry_control")?,
        )
    };
    // SAFETY: a null pointer asks for the version only, a static NUL-terminated string; it must be the first call.
    let version = unsafe { contract::text(check_version(ptr::null())) };
    let version = version.ok_or_else(|| object.unusable("gcry_check_version gives no version"))?;
    // SAFETY: this command takes no argument.
    if unsafe { control(ctl::INITIALIZATION_FINISHED_P) } != 0 {
        return Ok(version);
    }
    for command in [ctl::DISABLE_SECMEM, ctl::INITIALIZATION_FINISHED] {
        // SAFETY: both commands take one int, which they ignore.
        let error = unsafe { control(command, 0 as c_int) };
        if error != 0 {
            let words = api.words(error);
            return Err(object.unusable(format!("gcry_control({command}): {words}")));
        }
    }
    Ok(version)
}

/// How the library says it was built and which CPU features it uses (`hwflist`), where it can say
/// so: gcry_get_config came with 1.8.
fn build(object: &SharedObject) -> Vec<String> {
    type ConfigFn = unsafe extern "C" fn(c_int, *const c_char) -> *mut c_char;
    type FreeFn = unsafe extern "C" fn(*mut c_void);
    // SAFETY: the types are those of gcrypt.h.
    let functions = unsafe {
        (object.function::<ConfigFn>("gcry_get_config"), object.function::<FreeFn>("gcry_free"))
    };
    let (Some(get_config), Some(free)) = functions else { return Vec::new() };
    // SAFETY: mode 0 and a null name ask for everything.
    let text = unsafe { get_config(0, ptr::null()) };
    // SAFETY: null, or a NUL-terminated string that is ours until it is freed; freeing null does nothing.
    let lines = unsafe {
        let lines = contract::text(text).unwrap_or_default();
        free(text.cast());
        lines
    };
    lines.lines().map(str::to_owned).collect()
}

type Request<'a> = family::Request<'a, Api>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Api {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        match request.algorithm.kind {
            Kind::Cipher | Kind::Aead => request.cipher(),
            Kind::Digest => request.digest(),
            Kind::Mac => request.mac(),
            Kind::Derivation => request.derivation(),
            Kind::Random => request.random(),
            _ => Err(absent(request.algorithm)),
        }
    }
}

/// What no version has.
fn absent(algorithm: &Algorithm) -> OpenError {
    let why = match algorithm.cipher {
        Primitive::Crc32c => ": its CRCs have other polynomials",
        _ => "",
    };
    OpenError::Unsupported(format!("libgcrypt has no {algorithm}{why}"))
}

impl Request<'_> {
    fn cipher(&self) -> Result<raw::Session, OpenError> {
        let algorithm = self.algorithm;
        let numbers = cipher_number(algorithm).ok_or_else(|| absent(algorithm))?;
        if algorithm.wraps_keys() {
            let handle = self.keyed(numbers)?;
            let session = messages::wrap_session(&self.library.cipher, handle, self);
            return session.ok_or_else(|| absent(algorithm));
        }
        let handles = [self.keyed(numbers)?, self.keyed(numbers)?];
        if algorithm.cipher == Primitive::Rc4 {
            return Ok(messages::rc4_session(&self.library.cipher, handles, self));
        }
        let state =
            messages::CipherState::new(&self.library.cipher, handles, algorithm, self.direction);
        Ok(state.into_session(algorithm.mode, self.direction))
    }

    fn random(&self) -> Result<raw::Session, OpenError> {
        /// `GCRY_STRONG_RANDOM`, which gcrypt.h has for session keys.
        const STRONG: c_int = 1;
        let api = self.library.random.ok_or_else(|| missing("gcry_randomize"))?;
        Ok(if self.algorithm.name == RANDOM_NONCE {
            random::session(c"gcry_create_nonce", move |out, len| {
                // SAFETY: the output covers its length.
                unsafe { (api.gcry_create_nonce)(out.cast(), len) };
                raw::OK
            })
        } else {
            random::session(c"gcry_randomize", move |out, len| {
                // SAFETY: the output covers its length.
                unsafe { (api.gcry_randomize)(out.cast(), len, STRONG) };
                raw::OK
            })
        })
    }

    fn digest(&self) -> Result<raw::Session, OpenError> {
        let number = digest_number(self.algorithm).ok_or_else(|| absent(self.algorithm))?;
        let md = self.library.md.ok_or_else(|| missing("gcry_md_*"))?;
        let way = match self.algorithm.cipher {
            Primitive::Shake128 | Primitive::Shake256 => messages::Way::Extract(
                md.gcry_md_extract.ok_or_else(|| missing("gcry_md_extract"))?,
            ),
            // gcry_md_hash_buffer would open a handle for each message.
            Primitive::Md4
            | Primitive::Md5
            | Primitive::Whirlpool
            | Primitive::Streebog256
            | Primitive::Streebog512
            | Primitive::Crc32 => messages::Way::Handle,
            _ => messages::Way::Buffer,
        };
        self.opened_digest(md, number, way)
    }

    fn opened_digest(
        &self,
        md: MdApi,
        number: c_int,
        way: messages::Way,
    ) -> Result<raw::Session, OpenError> {
        let state = messages::DigestState::open(md, number, self.algorithm.tag_len, way)
            .map_err(|(call, error)| self.library.open_error(call, error))?;
        Ok(state.into_session())
    }

    fn mac(&self) -> Result<raw::Session, OpenError> {
        if self.algorithm.mode == Mode::Keyed {
            let number = digest_number(self.algorithm).ok_or_else(|| absent(self.algorithm))?;
            let md = self.library.md.ok_or_else(|| missing("gcry_md_*"))?;
            return self.opened_digest(md, number, messages::Way::Keyed(self.key.to_vec()));
        }
        let number = mac_number(self.algorithm).ok_or_else(|| absent(self.algorithm))?;
        let mac = self.library.mac.ok_or_else(|| missing("gcry_mac_*"))?;
        let state = messages::MacState::open(mac, number, self.algorithm, self.key)
            .map_err(|(call, error)| self.library.open_error(call, error))?;
        Ok(state.into_session(self.algorithm.mode))
    }

    /// A cipher's handle with its key schedule done.
    fn keyed(&self, (cipher, mode): (c_int, c_int)) -> Result<Opened, OpenError> {
        /// `GCRY_CIPHER_EXTENDED`: key wrap with padding, since 1.10.
        const EXTENDED: u32 = 16;
        let (api, mut handle) = (&self.library.cipher, ptr::null_mut());
        let flags = if self.algorithm.mode == Mode::KeyWrapPadded { EXTENDED } else { 0 };
        // SAFETY: `handle` is writable; without a flag for it the memory is ordinary.
        let error = unsafe { (api.gcry_cipher_open)(&raw mut handle, cipher, mode, flags) };
        if error != 0 {
            return Err(self.library.open_error("gcry_cipher_open", error));
        }
        let opened = Opened { raw: handle, free: api.gcry_cipher_close };
        if matches!(
            self.algorithm.cipher,
            Primitive::TripleDes | Primitive::Des | Primitive::Blowfish
        ) {
            let allow = ctl::SET_ALLOW_WEAK_KEY;
            // SAFETY: the command takes no buffer, and 1 for yes. Old versions do not know it.
            unsafe { (api.gcry_cipher_ctl)(handle, allow, ptr::null_mut(), 1) };
        }
        // SAFETY: the key covers its length.
        let error =
            unsafe { (api.gcry_cipher_setkey)(handle, self.key.as_ptr().cast(), self.key.len()) };
        self.library.done("gcry_cipher_setkey", unless_weak(error))?;
        if self.algorithm.mode == Mode::Ocb {
            self.library.set_tag_len(handle, self.algorithm.tag_len)?;
        }
        Ok(opened)
    }
}

impl Api {
    /// OCB's tag length goes into its first block (RFC 7253 §4.2), so it is said before the nonce.
    fn set_tag_len(&self, handle: Handle, tag_len: usize) -> Result<(), OpenError> {
        let mut len = c_int::try_from(tag_len).expect("tags are a few bytes");
        let (control, room) = (self.cipher.gcry_cipher_ctl, size_of::<c_int>());
        // SAFETY: the command takes an int.
        let error = unsafe { control(handle, ctl::SET_TAGLEN, (&raw mut len).cast(), room) };
        self.done("gcry_cipher_ctl(GCRYCTL_SET_TAGLEN)", error)
    }

    fn done(&self, call: &str, error: Error) -> Result<(), OpenError> {
        match error {
            0 => Ok(()),
            _ => Err(OpenError::Failed(format!("{call}: {}", self.words(error)))),
        }
    }

    /// Tells what this build or version does not have from what went wrong.
    fn open_error(&self, call: &str, error: Error) -> OpenError {
        let text = format!("{call}: {}", self.words(error));
        match error_code(error) {
            err::CIPHER_ALGO
            | err::DIGEST_ALGO
            | err::MAC_ALGO
            | err::INV_CIPHER_MODE
            | err::NOT_SUPPORTED
            | err::NOT_IMPLEMENTED => OpenError::Unsupported(text),
            _ => OpenError::Failed(text),
        }
    }
}

fn missing(functions: &str) -> OpenError {
    OpenError::Unsupported(format!("this libgcrypt does not export {functions}"))
}

// What `gcrypt.h` calls the algorithms: its enumerations as numbers.

/// Cipher and mode in `enum gcry_cipher_algos` and `enum gcry_cipher_modes`. Whether the loaded
/// version has them, `gcry_cipher_open` says.
fn cipher_number(algorithm: &Algorithm) -> Option<(c_int, c_int)> {
    let mode = match algorithm.mode {
        Mode::Ecb => 1,
        Mode::Cfb => 2,
        Mode::Cbc => 3,
        Mode::Stream => 4,
        Mode::Ofb => 5,
        Mode::Ctr => 6,
        Mode::KeyWrap | Mode::KeyWrapPadded => 7,
        Mode::Ccm => 8,
        Mode::Gcm => 9,
        Mode::Poly1305 => 10,
        Mode::Ocb => 11,
        Mode::Cfb8 => 12,
        Mode::Xts => 13,
        Mode::Eax => 14,
        Mode::Siv => 15,
        Mode::GcmSiv => 16,
        _ => return None,
    };
    // XTS and SIV keys are two keys of the cipher.
    let keys = if matches!(algorithm.mode, Mode::Xts | Mode::Siv) { 2 } else { 1 };
    let cipher = match (algorithm.cipher, algorithm.key_len / keys) {
        (Primitive::Idea, 16) => 1,
        (Primitive::TripleDes, 24) => 2,
        (Primitive::Cast5, 16) => 3,
        (Primitive::Blowfish, 16) => 4,
        (Primitive::Aes, 16) => 7,
        (Primitive::Aes, 24) => 8,
        (Primitive::Aes, 32) => 9,
        (Primitive::Twofish, 32) => 10,
        (Primitive::Rc4, 16) => 301,
        (Primitive::Des, 8) => 302,
        (Primitive::Twofish, 16) => 303,
        (Primitive::Serpent, 16) => 304,
        (Primitive::Serpent, 24) => 305,
        (Primitive::Serpent, 32) => 306,
        (Primitive::Rc2, 16) => 308,
        (Primitive::Seed, 16) => 309,
        (Primitive::Camellia, 16) => 310,
        (Primitive::Camellia, 24) => 311,
        (Primitive::Camellia, 32) => 312,
        (Primitive::Salsa20, 32) => 313,
        (Primitive::ChaCha20, 32) => 316,
        (Primitive::Sm4, 16) => 318,
        (Primitive::Aria, 16) => 319,
        (Primitive::Aria, 24) => 320,
        (Primitive::Aria, 32) => 321,
        _ => return None,
    };
    Some((cipher, mode))
}

fn digest_number(algorithm: &Algorithm) -> Option<c_int> {
    Some(match algorithm.cipher {
        Primitive::Md5 => 1,
        Primitive::Sha1 => 2,
        Primitive::Ripemd160 => 3,
        Primitive::Sha256 => 8,
        Primitive::Sha384 => 9,
        Primitive::Sha512 => 10,
        Primitive::Sha224 => 11,
        Primitive::Md4 => 301,
        Primitive::Crc32 => 302,
        Primitive::Whirlpool => 305,
        Primitive::Streebog256 => 309,
        Primitive::Streebog512 => 310,
        Primitive::Sha3_224 => 312,
        Primitive::Sha3_256 => 313,
        Primitive::Sha3_384 => 314,
        Primitive::Sha3_512 => 315,
        Primitive::Shake128 => 316,
        Primitive::Shake256 => 317,
        Primitive::Blake2b => 318,
        Primitive::Blake2b256 => 320,
        Primitive::Blake2s => 322,
        Primitive::Sm3 => 326,
        Primitive::Sha512_256 => 327,
        Primitive::Sha512_224 => 328,
        _ => return None,
    })
}

/// A message authentication code in `enum gcry_mac_algos`. GMAC and CMAC take the length of the key
/// from the key.
fn mac_number(algorithm: &Algorithm) -> Option<c_int> {
    Some(match (algorithm.mode, algorithm.cipher) {
        (Mode::Hmac, Primitive::Sha256) => 101,
        (Mode::Hmac, Primitive::Sha224) => 102,
        (Mode::Hmac, Primitive::Sha512) => 103,
        (Mode::Hmac, Primitive::Sha384) => 104,
        (Mode::Hmac, Primitive::Sha1) => 105,
        (Mode::Hmac, Primitive::Md5) => 106,
        (Mode::Hmac, Primitive::Ripemd160) => 108,
        (Mode::Hmac, Primitive::Sha3_256) => 116,
        (Mode::Hmac, Primitive::Sha3_512) => 118,
        (Mode::Hmac, Primitive::Sm3) => 128,
        (Mode::Hmac, Primitive::Sha512_256) => 129,
        (Mode::Cmac, Primitive::Aes) => 201,
        (Mode::Cmac, Primitive::TripleDes) => 202,
        (Mode::Cmac, Primitive::Camellia) => 203,
        (Mode::Cmac, Primitive::Sm4) => 212,
        (Mode::Gmac, Primitive::Aes) => 401,
        (Mode::OneTimeMac, Primitive::Poly1305) => 501,
        _ => return None,
    })
}

// Which of the library's functions a message calls, for readers; macros of `gcrypt.h` by their
// names there.

/// One list for each direction: what the two have in common, then what differs.
macro_rules! lists {
    ($direction:expr, $before:literal, $encrypt:literal, $decrypt:literal) => {
        if $direction == Direction::Encrypt {
            c_concat!($before, "gcry_cipher_encrypt", $encrypt)
        } else {
            c_concat!($before, $decrypt)
        }
    };
}

/// The functions that a message of a cipher calls, in order.
fn cipher_calls(mode: Mode, direction: Direction) -> &'static CStr {
    match mode {
        Mode::Ecb => lists!(direction, "", "", "gcry_cipher_decrypt"),
        Mode::Ctr => lists!(direction, "gcry_cipher_setctr, ", "", "gcry_cipher_decrypt"),
        Mode::Gcm | Mode::Poly1305 => lists!(
            direction,
            "gcry_cipher_setiv, gcry_cipher_authenticate, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_decrypt, gcry_cipher_checktag"
        ),
        Mode::Ccm => lists!(
            direction,
            "gcry_cipher_setiv, gcry_cipher_ctl(GCRYCTL_SET_CCM_LENGTHS), gcry_cipher_authenticate, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_decrypt, gcry_cipher_checktag"
        ),
        Mode::Ocb => lists!(
            direction,
            "gcry_cipher_setiv, gcry_cipher_authenticate, gcry_cipher_final, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_decrypt, gcry_cipher_checktag"
        ),
        Mode::Eax => lists!(
            direction,
            "gcry_cipher_reset, gcry_cipher_setiv, gcry_cipher_authenticate, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_decrypt, gcry_cipher_checktag"
        ),
        Mode::Siv => lists!(
            direction,
            "gcry_cipher_reset, gcry_cipher_authenticate, gcry_cipher_setiv, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_set_decryption_tag, gcry_cipher_decrypt"
        ),
        Mode::GcmSiv => lists!(
            direction,
            "gcry_cipher_reset, gcry_cipher_setiv, gcry_cipher_authenticate, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_set_decryption_tag, gcry_cipher_decrypt"
        ),
        _ => lists!(direction, "gcry_cipher_setiv, ", "", "gcry_cipher_decrypt"),
    }
}

fn digest_calls(way: &messages::Way) -> &'static CStr {
    match way {
        messages::Way::Buffer => c"gcry_md_hash_buffer",
        messages::Way::Handle => c"gcry_md_reset, gcry_md_write, gcry_md_read",
        messages::Way::Extract(_) => c"gcry_md_reset, gcry_md_write, gcry_md_extract",
        messages::Way::Keyed(_) => c"gcry_md_setkey, gcry_md_write, gcry_md_read",
    }
}

/// The functions that a message of a MAC calls, in order.
fn mac_calls(mode: Mode) -> &'static CStr {
    match mode {
        Mode::Gmac => c"gcry_mac_setiv, gcry_mac_write, gcry_mac_read",
        _ => c"gcry_mac_reset, gcry_mac_write, gcry_mac_read",
    }
}

// The library's errors as return codes of the adapter interface.

/// A `gcry_error_t` as a return code of the interface: 0 is done, a wrong tag is told from other
/// errors, everything else stays as it is. Errors carry their source in bits 24 to 31, so that none
/// of them is one of the interface's own small numbers; one without a source would be.
#[inline]
fn outcome(error: Error) -> i32 {
    match error {
        0 => raw::OK,
        e if error_code(e) == err::CHECKSUM => raw::REJECTED,
        1..=3 => raw::FAILED,
        e => e.cast_signed(),
    }
}

/// `setkey`'s error, unless the key is a weak one of DES or Blowfish: where weak keys are allowed, which they are
/// here, it says so and sets the key.
#[inline]
fn unless_weak(error: Error) -> Error {
    if error_code(error) == err::WEAK_KEY { 0 } else { error }
}

// The functions and numbers of `gcrypt.h` that the adapter uses.

/// `gcry_cipher_hd_t`, `gcry_md_hd_t` or `gcry_mac_hd_t`, opaque.
type Handle = *mut c_void;
/// One with the function that closes it.
type Opened = family::Object;
/// `gcry_error_t`: 0, or a source in bits 24..31 and a code in the low 16 bits.
type Error = u32;
/// `gcry_cipher_encrypt` and `gcry_cipher_decrypt`: handle, out, outsize, in, inlen.
type CryptFn = unsafe extern "C" fn(Handle, *mut c_void, usize, *const c_void, usize) -> Error;
/// `gcry_cipher_setkey`, `_setiv`, `_setctr`, `_authenticate`, `_checktag` and `gcry_mac_setkey`,
/// `_setiv`, `_write`: handle, bytes, length.
type BytesFn = unsafe extern "C" fn(Handle, *const c_void, usize) -> Error;
/// `gcry_cipher_gettag`: handle, buffer, length.
type GetTagFn = unsafe extern "C" fn(Handle, *mut c_void, usize) -> Error;
/// `gcry_cipher_ctl` and `gcry_mac_ctl`: handle, command, buffer, length.
type CtlFn = unsafe extern "C" fn(Handle, c_int, *mut c_void, usize) -> Error;
/// `gcry_cipher_info`
type InfoFn = unsafe extern "C" fn(Handle, c_int, *mut c_void, *mut usize) -> Error;
/// `gcry_md_extract`: handle, algorithm, buffer, length.
type ExtractFn = unsafe extern "C" fn(Handle, c_int, *mut c_void, usize) -> Error;

/// `enum gcry_ctl_cmds`
pub(crate) mod ctl {
    use std::ffi::c_int;

    pub(crate) const RESET: c_int = 4;
    pub(crate) const FINALIZE: c_int = 5;
    pub(crate) const GET_KEYLEN: c_int = 6;
    pub(crate) const DISABLE_SECMEM: c_int = 37;
    pub(crate) const INITIALIZATION_FINISHED: c_int = 38;
    pub(crate) const INITIALIZATION_FINISHED_P: c_int = 39;
    pub(crate) const SET_CCM_LENGTHS: c_int = 69;
    pub(crate) const SET_TAGLEN: c_int = 75;
    pub(crate) const SET_ALLOW_WEAK_KEY: c_int = 79;
    pub(crate) const SET_DECRYPTION_TAG: c_int = 80;
}

/// `gpg_err_code_t`, the low 16 bits of an [`Error`].
pub(crate) mod err {
    pub(crate) const DIGEST_ALGO: u32 = 5;
    pub(crate) const CHECKSUM: u32 = 10;
    pub(crate) const CIPHER_ALGO: u32 = 12;
    pub(crate) const WEAK_KEY: u32 = 43;
    pub(crate) const NOT_SUPPORTED: u32 = 60;
    pub(crate) const NOT_IMPLEMENTED: u32 = 69;
    pub(crate) const INV_CIPHER_MODE: u32 = 71;
    pub(crate) const MAC_ALGO: u32 = 197;
}

fn error_code(error: Error) -> u32 {
    error & 0xffff
}

functions! {
    /// Ciphers, and what errors are in words.
    struct CipherApi
    required {
        /// Handle, cipher, mode, flags.
        gcry_cipher_open: fn(*mut Handle, c_int, c_int, u32) -> Error;
        gcry_cipher_close: fn(Handle);
        gcry_cipher_setkey: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_setiv: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_setctr: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_authenticate: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_encrypt: fn(Handle, *mut c_void, usize, *const c_void, usize) -> Error;
        gcry_cipher_decrypt: fn(Handle, *mut c_void, usize, *const c_void, usize) -> Error;
        gcry_cipher_gettag: fn(Handle, *mut c_void, usize) -> Error;
        gcry_cipher_checktag: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_ctl: fn(Handle, c_int, *mut c_void, usize) -> Error;
        gcry_strerror: fn(Error) -> *const c_char;
    }
    optional {
        /// Handle, what is asked, buffer, its length in and the answer's out.
        gcry_cipher_info: fn(Handle, c_int, *mut c_void, *mut usize) -> Error;
    }
}

functions! {
    struct MdApi
    required {
        /// Handle, algorithm, flags.
        gcry_md_open: fn(*mut Handle, c_int, u32) -> Error;
        gcry_md_close: fn(Handle);
        /// Algorithm, digest, buffer, length.
        gcry_md_hash_buffer: fn(c_int, *mut c_void, *const c_void, usize);
        gcry_md_reset: fn(Handle);
        gcry_md_setkey: fn(Handle, *const c_void, usize) -> Error;
        gcry_md_write: fn(Handle, *const c_void, usize);
        /// Handle, algorithm; the digest stays the handle's.
        gcry_md_read: fn(Handle, c_int) -> *const u8;
    }
    optional {
        /// Since 1.7: handle, algorithm, buffer, length.
        gcry_md_extract: fn(Handle, c_int, *mut c_void, usize) -> Error;
    }
}

functions! {
    struct MacApi {
        /// Handle, algorithm, flags, context.
        gcry_mac_open: fn(*mut Handle, c_int, u32, *mut c_void) -> Error;
        gcry_mac_close: fn(Handle);
        gcry_mac_setkey: fn(Handle, *const c_void, usize) -> Error;
        gcry_mac_setiv: fn(Handle, *const c_void, usize) -> Error;
        gcry_mac_ctl: fn(Handle, c_int, *mut c_void, usize) -> Error;
        gcry_mac_write: fn(Handle, *const c_void, usize) -> Error;
        /// Handle, buffer, its length in and the code's out.
        gcry_mac_read: fn(Handle, *mut c_void, *mut usize) -> Error;
    }
}

#[derive(Clone, Copy)]
struct Api {
    cipher: CipherApi,
    /// `None` when one of the functions is missing.
    md: Option<MdApi>,
    /// `None` before 1.6, which brought them.
    mac: Option<MacApi>,
    /// `None` before 1.5.
    kdf: Option<KdfApi>,
    /// `None` when one of the functions is missing.
    random: Option<RandomApi>,
}

functions! {
    /// Of gcrypt.h.
    struct RandomApi {
        /// Output, level.
        gcry_randomize: fn(*mut c_void, usize, c_int);
        gcry_create_nonce: fn(*mut c_void, usize);
    }
}

impl Api {
    fn of(object: &SharedObject) -> Result<Self, Missing> {
        let (md, mac) = (MdApi::of(object).ok(), MacApi::of(object).ok());
        let (kdf, random) = (KdfApi::of(object).ok(), RandomApi::of(object).ok());
        Ok(Self { cipher: CipherApi::of(object)?, md, mac, kdf, random })
    }

    fn words(&self, error: Error) -> String {
        // SAFETY: takes any number, and gives a static NUL-terminated string.
        let text = unsafe { contract::text((self.cipher.gcry_strerror)(error)) };
        text.unwrap_or_else(|| format!("error {error:#x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gcrypt::err;
    use crate::testing::GCRYPT;
    use base::model::Direction;
    use contract::{Outcome, raw};
    use testing::trial::open;

    // What there is to test of the library besides `testing`.

    #[test]
    fn a_weak_key_is_set_all_the_same() {
        let des = Algorithm::find("des-ecb").unwrap();
        let library = GCRYPT.library().unwrap();
        let mut session = library.open(des, Direction::Encrypt, &[1; 8]).unwrap();
        for rekeys in [false, true] {
            if rekeys {
                assert_eq!(session.rekey(&[1; 8]), Outcome::Done);
            }
            let mut block = [0; 8];
            assert_eq!(session.message_in_place(&[], &[], &mut block, &mut []), Outcome::Done);
            assert_eq!(u64::from_be_bytes(block), 0x8CA6_4DE9_C1B1_23A7);
        }
    }

    #[test]
    fn the_stream_of_a_counter_mode_is_its_message_in_pieces() {
        let mut session = open(&*GCRYPT.library().unwrap(), "aes-256-ctr", Direction::Encrypt);
        // The counter runs over from its last 128-bit value to zero on the way.
        let nonce = [0xff; 16];
        let (mut whole, mut pieces) = ([8; 1000], [8; 1000]);
        assert_eq!(session.message_in_place(&nonce, &[], &mut whole, &mut []), Outcome::Done);
        assert_eq!(session.start(&nonce), Outcome::Done);
        for piece in pieces.chunks_mut(77) {
            assert_eq!(session.update_in_place(piece), Outcome::Done);
        }
        assert_eq!(whole, pieces);
    }

    #[test]
    fn modes_that_need_the_whole_message_have_no_streams() {
        let library = GCRYPT.library().unwrap();
        for (name, streams) in [
            ("aes-128-ccm", false),
            ("aes-128-siv", false),
            ("aes-128-gcm-siv", false),
            ("aes-128-gcm", true),
        ] {
            assert_eq!(open(&*library, name, Direction::Encrypt).has_stream(), streams, "{name}");
        }
    }

    #[test]
    fn a_broken_block_is_the_librarys_own_error() {
        let mut session = open(&*GCRYPT.library().unwrap(), "aes-128-cbc", Direction::Encrypt);
        let outcome = session.message_in_place(&[2; 16], &[], &mut [0; 17], &mut []);
        assert!(
            matches!(outcome, Outcome::Error(code) if code.cast_unsigned() >> 24 == 1),
            "{outcome:?}"
        );
    }

    #[test]
    fn only_a_wrong_tag_is_a_rejection() {
        let from_gcrypt = |code: u32| 1 << 24 | code;
        assert_eq!(outcome(0), raw::OK);
        assert_eq!(outcome(from_gcrypt(err::CHECKSUM)), raw::REJECTED);
        assert_eq!(outcome(from_gcrypt(139)), (1 << 24) + 139);
    }

    #[test]
    fn an_error_without_a_source_is_never_taken_for_the_interfaces_own_code() {
        assert!((1..=3).all(|error| outcome(error) == raw::FAILED));
    }
}
