//! Botan through its C interface, as the library `botan-c`: attaching it, what it calls the algorithms, and
//! the functions of `botan/ffi.h`. Its C++ classes are `botan` (`attach/botan`). `README.md` beside this file
//! says which functions, and why.

mod sessions;

use crate::family;
use crate::family::{Attached, Family, In, Out};
use base::model::{Algorithm, Mode, Primitive};
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, functions, raw};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// Attaches a Botan of any version from 2.0 on.
///
/// # Errors
/// [`LoadError::Unusable`] when a function is missing.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let api = Api::of(&object)?;
    let (major, version, build) = version(&object)?;
    family::library((name, "botan-c"), &version, build, Botan { api, major })
}

/// Major number, version, and the library's own words on which release this is.
fn version(object: &SharedObject) -> Result<(u32, String, Vec<String>), LoadError> {
    type NumberFn = unsafe extern "C" fn() -> u32;
    type TextFn = unsafe extern "C" fn() -> *const c_char;
    let number = |name: &str| -> Result<u32, LoadError> {
        // SAFETY: ffi.h: takes nothing, gives a number.
        Ok(unsafe { object.exported::<NumberFn>(name)?() })
    };
    let major = number("botan_version_major")?;
    let minor = number("botan_version_minor")?;
    let patch = number("botan_version_patch")?;
    // SAFETY: ffi.h: takes nothing, gives a static NUL-terminated string.
    let text = unsafe {
        let text = object.exported::<TextFn>("botan_version_string")?();
        CStr::from_ptr(text).to_string_lossy().into_owned()
    };
    let interface = format!("C interface {}", number("botan_ffi_api_version")?);
    Ok((major, format!("{major}.{minor}.{patch}"), vec![text, interface]))
}

struct Botan {
    api: Api,
    major: u32,
}

type Request<'a> = family::Request<'a, Botan>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Botan {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let algorithm = request.algorithm;
        let name = name_of(algorithm).ok_or_else(|| {
            OpenError::Unsupported(format!("Botan has no name for {algorithm} in its C interface"))
        })?;
        match name {
            Name::Block(name) => sessions::open_block(request, &name),
            Name::Cipher(name) if algorithm.takes_aad() => sessions::open_aead(request, &name),
            Name::Cipher(name) => sessions::open_cipher(request, &name),
            Name::Hash(name) => sessions::open_hash(request, name),
            Name::Mac(_)
                if algorithm.mode == Mode::Gmac && request.api().botan_mac_set_nonce.is_none() =>
            {
                sessions::open_gmac(request)
            }
            Name::Mac(name) => sessions::open_mac(request, &name),
        }
    }
}

/// What sets a cipher's new key.
const SET_KEY: &CStr = c"botan_cipher_set_key";

impl Request<'_> {
    fn api(&self) -> &Api {
        &self.library.api
    }

    /// The handle that an `_init` function fills in.
    fn object(
        &self,
        name: &str,
        destroy: HandleFn,
        init: impl FnOnce(*mut Handle, *const c_char) -> Code,
    ) -> Result<Object, OpenError> {
        let text = CString::new(name).expect("names have no NUL");
        let mut handle = ptr::null_mut();
        match init(&raw mut handle, text.as_ptr()) {
            0 => Ok(Object::new(handle, destroy)),
            NOT_IMPLEMENTED => {
                Err(OpenError::Unsupported(format!("Botan {} has no {name}", self.version)))
            }
            code => Err(self.failed(name, code)),
        }
    }

    /// A keyed handle of `botan_cipher_*`.
    fn cipher(&self, name: &str) -> Result<Object, OpenError> {
        let (api, key) = (self.api(), self.key);
        let flags = if self.decrypts() { DECRYPT } else { ENCRYPT };
        let object = self.object(name, api.botan_cipher_destroy, |handle, name| {
            // SAFETY: the handle is writable, the name NUL-terminated.
            unsafe { (api.botan_cipher_init)(handle, name, flags) }
        })?;
        // SAFETY: the key covers its length.
        let code = unsafe { (api.botan_cipher_set_key)(object.handle, key.as_ptr(), key.len()) };
        self.done("botan_cipher_set_key", code)?;
        let len = self.algorithm.nonce_len;
        // SAFETY: a handle and a number.
        if unsafe { (api.botan_cipher_valid_nonce_length)(object.handle, len) } != 1 {
            return Err(OpenError::Unsupported(format!(
                "{name} of Botan {} takes no nonce of {len} bytes, so it has no {}",
                self.version, self.algorithm
            )));
        }
        Ok(object)
    }

    fn done(&self, call: &str, code: Code) -> Result<(), OpenError> {
        if code == 0 { Ok(()) } else { Err(self.failed(call, code)) }
    }

    fn failed(&self, call: &str, code: Code) -> OpenError {
        OpenError::Failed(format!("{call}: {}", self.api().words(code)))
    }

    /// What the library's interface forces on every message that goes through `botan_cipher_*`:
    /// the message is copied into the object's own buffer and out of it again; and memory is
    /// allocated, by every call in Botan 2, by some modes in Botan 3. README.md has the counts.
    fn forced(&self) -> u32 {
        let mode = self.algorithm.mode;
        let allocates = self.library.major < 3
            || matches!(mode, Mode::Ccm | Mode::Ocb | Mode::Eax | Mode::Siv | Mode::GcmSiv)
            || (mode == Mode::Poly1305 && self.algorithm.nonce_len == 24);
        raw::COPIES | if allocates { raw::ALLOCATES } else { 0 }
    }
}

/// An error code as the interface's: a wrong tag is told from other errors, all of which are
/// negative, so that none is one of the interface's own numbers.
#[inline]
fn outcome(code: Code) -> i32 {
    match code {
        0 => raw::OK,
        BAD_MAC => raw::REJECTED,
        code if code < 0 => code,
        _ => raw::FAILED,
    }
}

// What Botan calls the algorithms (its manual's "Cipher Modes", "Block Ciphers", "Hash Functions"
// and "Message Authentication Codes").

/// The interface that an algorithm is behind, and its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    /// `botan_block_cipher_*`
    Block(String),
    /// `botan_cipher_*`
    Cipher(String),
    /// `botan_hash_*`
    Hash(&'static str),
    /// `botan_mac_*`
    Mac(String),
}

/// `None`: Botan has no name for it.
fn name_of(algorithm: &Algorithm) -> Option<Name> {
    match algorithm.mode {
        Mode::None => digest(algorithm.cipher).map(Name::Hash),
        Mode::Hmac => digest(algorithm.cipher).map(|hash| Name::Mac(format!("HMAC({hash})"))),
        Mode::OneTimeMac => Some(Name::Mac("Poly1305".to_owned())),
        Mode::Gmac => Some(Name::Mac(format!("GMAC({})", block(algorithm)?))),
        Mode::Ecb => block(algorithm).map(Name::Block),
        _ => cipher(algorithm).map(Name::Cipher),
    }
}

/// The cipher mode that authenticates without encrypting, for versions whose `botan_mac_*` takes
/// no nonce.
fn gcm_for_gmac(algorithm: &Algorithm) -> Option<String> {
    Some(format!("{}/GCM", block(algorithm)?))
}

fn cipher(algorithm: &Algorithm) -> Option<String> {
    match algorithm.mode {
        Mode::Stream => return Some("ChaCha(20)".to_owned()),
        // With a nonce of 24 bytes it is XChaCha20-Poly1305.
        Mode::Poly1305 => return Some("ChaCha20Poly1305".to_owned()),
        _ => {}
    }
    let block = block(algorithm)?;
    Some(match algorithm.mode {
        Mode::Cbc => format!("{block}/CBC/NoPadding"),
        Mode::Cfb => format!("{block}/CFB"),
        Mode::Cfb8 => format!("{block}/CFB(8)"),
        Mode::Ofb => format!("OFB({block})"),
        Mode::Ctr => format!("CTR-BE({block})"),
        Mode::Xts => format!("{block}/XTS"),
        Mode::Gcm => format!("{block}/GCM"),
        // Tag length and length of the length: 3 bytes go with a nonce of 12.
        Mode::Ccm => format!("{block}/CCM(16,3)"),
        Mode::Ocb => format!("{block}/OCB"),
        Mode::Eax => format!("{block}/EAX"),
        Mode::Siv => format!("{block}/SIV"),
        Mode::GcmSiv => format!("{block}/GCM-SIV"),
        _ => return None,
    })
}

fn block(algorithm: &Algorithm) -> Option<String> {
    let keys = if matches!(algorithm.mode, Mode::Xts | Mode::Siv) { 2 } else { 1 };
    let bits = algorithm.key_len / keys * 8;
    Some(match algorithm.cipher {
        Primitive::Aes => format!("AES-{bits}"),
        Primitive::Camellia => format!("Camellia-{bits}"),
        Primitive::Aria => format!("ARIA-{bits}"),
        Primitive::Sm4 => "SM4".to_owned(),
        Primitive::TripleDes => "TripleDES".to_owned(),
        _ => return None,
    })
}

fn digest(primitive: Primitive) -> Option<&'static str> {
    Some(match primitive {
        Primitive::Sha256 => "SHA-256",
        Primitive::Sha384 => "SHA-384",
        Primitive::Sha512 => "SHA-512",
        Primitive::Sha3_256 => "SHA-3(256)",
        Primitive::Sha3_384 => "SHA-3(384)",
        Primitive::Sha3_512 => "SHA-3(512)",
        Primitive::Blake2b => "BLAKE2b(512)",
        _ => return None,
    })
}

// The functions and numbers of `botan/ffi.h` that the adapter uses.

/// `botan_cipher_t`, `botan_block_cipher_t`, `botan_hash_t`, `botan_mac_t`: opaque.
type Handle = *mut c_void;
/// 0, or one of `enum BOTAN_FFI_ERROR`, all of which are negative.
type Code = c_int;

/// `_destroy`, `_clear`, `_reset`, `botan_block_cipher_block_size`.
type HandleFn = unsafe extern "C" fn(Handle) -> Code;
/// `_set_key`, `_start`, `_set_associated_data`, `_update`, `_set_nonce`: handle, bytes, length.
type BytesFn = unsafe extern "C" fn(Handle, In, usize) -> Code;
/// `_final`: handle, output.
type FinalFn = unsafe extern "C" fn(Handle, Out) -> Code;
/// `_output_length`, `botan_cipher_get_update_granularity`: handle, result.
type AskFn = unsafe extern "C" fn(Handle, *mut usize) -> Code;
/// `botan_block_cipher_encrypt_blocks`: handle, in, out, blocks.
type BlocksFn = unsafe extern "C" fn(Handle, In, Out, usize) -> Code;
/// `BOTAN_CIPHER_INIT_FLAG_ENCRYPT`
const ENCRYPT: u32 = 0;
/// `BOTAN_CIPHER_INIT_FLAG_DECRYPT`
const DECRYPT: u32 = 1;
/// `BOTAN_CIPHER_UPDATE_FLAG_FINAL`
const FINAL: u32 = 1;
/// `BOTAN_FFI_ERROR_BAD_MAC`
const BAD_MAC: Code = -2;
/// `BOTAN_FFI_ERROR_NOT_IMPLEMENTED`
const NOT_IMPLEMENTED: Code = -40;

functions! {
    /// The library's functions.
    struct Api
    required {
        /// Handle, name, flags.
        botan_cipher_init: fn(*mut Handle, *const c_char, u32) -> Code;
        botan_cipher_destroy: fn(Handle) -> Code;
        botan_cipher_reset: fn(Handle) -> Code;
        botan_cipher_set_key: fn(Handle, In, usize) -> Code;
        botan_cipher_set_associated_data: fn(Handle, In, usize) -> Code;
        botan_cipher_start: fn(Handle, In, usize) -> Code;
        /// Handle, flags, output, its size, bytes written, input, its size, bytes consumed.
        botan_cipher_update: fn(Handle, u32, Out, usize, *mut usize, In, usize, *mut usize) -> Code;
        botan_cipher_get_update_granularity: fn(Handle, *mut usize) -> Code;
        /// Handle, length; 1 for yes.
        botan_cipher_valid_nonce_length: fn(Handle, usize) -> Code;
        botan_block_cipher_init: fn(*mut Handle, *const c_char) -> Code;
        botan_block_cipher_destroy: fn(Handle) -> Code;
        botan_block_cipher_block_size: fn(Handle) -> Code;
        botan_block_cipher_set_key: fn(Handle, In, usize) -> Code;
        botan_block_cipher_encrypt_blocks: fn(Handle, In, Out, usize) -> Code;
        botan_block_cipher_decrypt_blocks: fn(Handle, In, Out, usize) -> Code;
        botan_hash_init: fn(*mut Handle, *const c_char, u32) -> Code;
        botan_hash_destroy: fn(Handle) -> Code;
        botan_hash_clear: fn(Handle) -> Code;
        botan_hash_output_length: fn(Handle, *mut usize) -> Code;
        botan_hash_update: fn(Handle, In, usize) -> Code;
        botan_hash_final: fn(Handle, Out) -> Code;
        botan_mac_init: fn(*mut Handle, *const c_char, u32) -> Code;
        botan_mac_destroy: fn(Handle) -> Code;
        botan_mac_output_length: fn(Handle, *mut usize) -> Code;
        botan_mac_set_key: fn(Handle, In, usize) -> Code;
        botan_mac_update: fn(Handle, In, usize) -> Code;
        botan_mac_final: fn(Handle, Out) -> Code;
    }
    optional {
        /// Since 3.0.
        botan_mac_set_nonce: fn(Handle, In, usize) -> Code;
        /// Since 2.8.
        botan_error_description: fn(Code) -> *const c_char;
    }
}

impl Api {
    /// The library's words for an error.
    fn words(&self, code: Code) -> String {
        let Some(describe) = self.botan_error_description else { return format!("error {code}") };
        // SAFETY: takes any number.
        let text = unsafe { describe(code) };
        if text.is_null() {
            return format!("error {code}");
        }
        // SAFETY: botan_error_description gives a static NUL-terminated string.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// A handle; destroyed when dropped.
struct Object {
    handle: Handle,
    destroy: HandleFn,
}

impl Object {
    /// Takes over a handle that an `_init` function has just filled in.
    fn new(handle: Handle, destroy: HandleFn) -> Self {
        Self { handle, destroy }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the handle came from the `_init` function that `destroy` belongs to, and is
        // destroyed nowhere else. What it returns can no longer matter.
        unsafe { (self.destroy)(self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::BOTAN;
    use base::model::{Algorithm, Direction};
    use contract::{OpenError, Outcome};
    use testing::trial::open;

    // What there is to test of the library besides `testing`.

    #[test]
    fn sessions_say_what_the_interface_copies_and_what_they_call() {
        let library = BOTAN.library().unwrap();
        let ctr = open(&*library, "aes-128-ctr", Direction::Encrypt);
        assert_eq!(ctr.calls().unwrap(), "botan_cipher_start, botan_cipher_update");
        assert!(ctr.copies());
        let major: u32 = library.identity().version.split('.').next().unwrap().parse().unwrap();
        assert_eq!(ctr.allocates(), major < 3);
        let ecb = open(&*library, "aes-128-ecb", Direction::Decrypt);
        assert_eq!(ecb.calls().unwrap(), "botan_block_cipher_decrypt_blocks");
        assert!(!ecb.copies() && !ecb.allocates());
    }

    #[test]
    fn a_broken_block_is_an_error_and_a_missing_algorithm_says_so() {
        let library = BOTAN.library().unwrap();
        for name in ["aes-128-cbc", "aes-128-ecb"] {
            let mut session = open(&*library, name, Direction::Encrypt);
            let nonce = vec![0; session.algorithm().nonce_len];
            let outcome = session.message_in_place(&nonce, &[], &mut [0; 17], &mut []);
            assert!(matches!(outcome, Outcome::Error(_)), "{name}: {outcome:?}");
        }
        let cfb1 = Algorithm::find("aes-128-cfb1").unwrap();
        let error = library.open(cfb1, Direction::Encrypt, &[0; 16]).unwrap_err();
        assert!(matches!(error, OpenError::Unsupported(why) if why.contains("aes-128-cfb1")));
    }

    #[test]
    fn names_carry_the_ciphers_own_key_length() {
        let of = |n: &str| name_of(Algorithm::find(n).unwrap());
        let cipher = |n: &str| Some(Name::Cipher(n.to_owned()));
        assert_eq!(of("aes-256-xts"), cipher("AES-256/XTS"));
        assert_eq!(of("camellia-192-siv"), cipher("Camellia-192/SIV"));
        assert_eq!(of("des-ede3-ctr"), cipher("CTR-BE(TripleDES)"));
        assert_eq!(of("aria-128-ecb"), Some(Name::Block("ARIA-128".to_owned())));
        assert_eq!(of("hmac-sha384"), Some(Name::Mac("HMAC(SHA-384)".to_owned())));
        assert_eq!(of("aes-192-gmac"), Some(Name::Mac("GMAC(AES-192)".to_owned())));
        for none in ["aes-128-cfb1", "aegis-128l", "blake3", "crc32c", "memcpy", "null"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
