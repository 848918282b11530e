//! Botan through its C interface, as the library `botan-c`: attaching it, what it calls the algorithms, and
//! the functions of `botan/ffi.h`; its sessions: modes without a tag, authenticated modes, whose messages are
//! ciphertext and tag in one piece, ECB by the raw block cipher, digests and message authentication codes,
//! GMAC by GCM. Its C++ classes are `botan` (`attach/botan`). `botan/README.md` says which functions, and why.

mod derivation;

use crate::family::{
    self, Attached, Family, In, KEY_IN_EACH_MESSAGE, Out, calls, operations, steps,
};
use crate::random;
use crate::rc4::{self, Keyed};
use crate::wrap::{self, CHECK, KeyWrap};
use base::model::{Algorithm, Kind, Mode, Primitive, RANDOM};
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// Attaches a Botan of any version from 2.0 on.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let api = Api::of(&object)?;
    let (major, version, build) = version(&object)?;
    family::library(name, "botan-c", &version, build, Botan { api, major })
}

/// Major number, version, and the library's own words on which release this is.
fn version(object: &SharedObject) -> Result<(u32, String, Vec<String>), LoadError> {
    // SAFETY: ffi.h: all take nothing, and give numbers and a static text.
    unsafe {
        let number = |name: &str| object.asked::<u32>(name);
        let major = number("botan_version_major")?;
        let (minor, patch) = (number("botan_version_minor")?, number("botan_version_patch")?);
        let text = object.told("botan_version_string")?.unwrap_or_default();
        let interface = format!("C interface {}", number("botan_ffi_api_version")?);
        Ok((major, format!("{major}.{minor}.{patch}"), vec![text, interface]))
    }
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
        if algorithm.kind == Kind::Derivation {
            return derivation::open(request);
        }
        if algorithm.name == RANDOM && request.library.major < 3 {
            let why = "Botan 2 opens /dev/urandom for writing, too, which a worker may not";
            return Err(OpenError::Unsupported(why.to_owned()));
        }
        if algorithm.name == RANDOM {
            return open_random(request);
        }
        if algorithm.wraps_keys() {
            return open_key_wrap(request).ok_or_else(|| {
                let version = request.version;
                OpenError::Unsupported(format!(
                    "Botan {version} has no {algorithm} in its C interface"
                ))
            });
        }
        let name = name_of(algorithm).ok_or_else(|| {
            OpenError::Unsupported(format!("Botan has no name for {algorithm} in its C interface"))
        })?;
        match name {
            Name::Block(name) => open_block(request, &name),
            Name::Cipher(name) if algorithm.takes_aad() => open_aead(request, &name),
            Name::Cipher(name) if algorithm.cipher == Primitive::Rc4 => open_rc4(request, &name),
            Name::Cipher(name) => open_cipher(request, &name),
            Name::Hash(name) => open_hash(request, name),
            Name::Mac(_)
                if algorithm.mode == Mode::Gmac && request.api().botan_mac_set_nonce.is_none() =>
            {
                open_gmac(request)
            }
            Name::Mac(name) => open_mac(request, &name),
        }
    }
}

/// A generator of a session's own, which the library seeds by the system's.
fn open_random(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let api = request.api();
    let generator = request.object("user", api.botan_rng_destroy, |handle, name| {
        // SAFETY: the handle is writable, the name NUL-terminated.
        unsafe { (api.botan_rng_init)(handle, name) }
    })?;
    let draw = api.botan_rng_get;
    Ok(random::session(c"botan_rng_get", move |out, len| {
        let Object { raw, .. } = &generator;
        // SAFETY: a generator of the library's; the output covers its length.
        outcome(unsafe { draw(*raw, out, len) })
    }))
}

/// What sets a cipher's new key.
const SET_KEY: &CStr = c"botan_cipher_set_key";

impl Request<'_> {
    fn api(&self) -> &Api {
        &self.library.api
    }

    fn object(
        &self,
        name: &str,
        free: HandleFn,
        init: impl FnOnce(*mut Handle, *const c_char) -> Code,
    ) -> Result<Object, OpenError> {
        let text = CString::new(name).expect("names have no NUL");
        let mut raw = ptr::null_mut();
        match init(&raw mut raw, text.as_ptr()) {
            0 => Ok(Object { raw, free }),
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
        let code = unsafe { (api.botan_cipher_set_key)(object.raw, key.as_ptr(), key.len()) };
        self.done("botan_cipher_set_key", code)?;
        let len = self.algorithm.nonce_len;
        // SAFETY: a handle and a number.
        if unsafe { (api.botan_cipher_valid_nonce_length)(object.raw, len) } != 1 {
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
            || self.algorithm.cipher == Primitive::XChaCha20;
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
        Mode::None if algorithm.cipher == Primitive::Ascon => {
            Some(Name::Cipher("Ascon-AEAD128".to_owned()))
        }
        Mode::None => digest(algorithm.cipher).map(Name::Hash),
        Mode::Hmac => digest(algorithm.cipher).map(|hash| Name::Mac(format!("HMAC({hash})"))),
        Mode::OneTimeMac => Some(Name::Mac("Poly1305".to_owned())),
        Mode::Gmac => Some(Name::Mac(format!("GMAC({})", block(algorithm)?))),
        Mode::Cmac => Some(Name::Mac(format!("CMAC({})", block(algorithm)?))),
        Mode::Kmac | Mode::Keyed => keyed(algorithm.cipher).map(|mac| Name::Mac(mac.to_owned())),
        Mode::Ecb => block(algorithm).map(Name::Block),
        _ => cipher(algorithm).map(Name::Cipher),
    }
}

fn cipher(algorithm: &Algorithm) -> Option<String> {
    match algorithm.mode {
        Mode::Stream => return stream(algorithm.cipher).map(str::to_owned),
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
        Mode::Ccm => format!("{block}/CCM({},3)", algorithm.tag_len),
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
        Primitive::Des => "DES".to_owned(),
        // One name for all lengths of key.
        Primitive::Serpent => "Serpent".to_owned(),
        Primitive::Twofish => "Twofish".to_owned(),
        Primitive::Blowfish => "Blowfish".to_owned(),
        Primitive::Cast5 => "CAST-128".to_owned(),
        Primitive::Idea => "IDEA".to_owned(),
        Primitive::Seed => "SEED".to_owned(),
        Primitive::Kuznyechik => "Kuznyechik".to_owned(),
        _ => return None,
    })
}

fn stream(primitive: Primitive) -> Option<&'static str> {
    Some(match primitive {
        // With a nonce of 24 bytes it is XChaCha20.
        Primitive::ChaCha20 | Primitive::XChaCha20 => "ChaCha(20)",
        Primitive::ChaCha12 => "ChaCha(12)",
        Primitive::ChaCha8 => "ChaCha(8)",
        Primitive::Salsa20 => "Salsa20",
        Primitive::Rc4 => "RC4",
        _ => return None,
    })
}

/// MACs that are no HMAC of a digest and no mode of a block cipher; lengths are in bits.
fn keyed(primitive: Primitive) -> Option<&'static str> {
    Some(match primitive {
        Primitive::Shake128 => "KMAC-128(256)",
        Primitive::Shake256 => "KMAC-256(512)",
        Primitive::SipHash24 => "SipHash(2,4)",
        Primitive::SipHash13 => "SipHash(1,3)",
        Primitive::Blake2b => "BLAKE2b(512)",
        _ => return None,
    })
}

fn digest(primitive: Primitive) -> Option<&'static str> {
    Some(match primitive {
        Primitive::Md4 => "MD4",
        Primitive::Md5 => "MD5",
        Primitive::Sha1 => "SHA-1",
        Primitive::Sha224 => "SHA-224",
        Primitive::Sha256 => "SHA-256",
        Primitive::Sha384 => "SHA-384",
        Primitive::Sha512 => "SHA-512",
        Primitive::Sha512_256 => "SHA-512-256",
        Primitive::Sha3_224 => "SHA-3(224)",
        Primitive::Sha3_256 => "SHA-3(256)",
        Primitive::Sha3_384 => "SHA-3(384)",
        Primitive::Sha3_512 => "SHA-3(512)",
        Primitive::Keccak256 => "Keccak-1600(256)",
        Primitive::Shake128 => "SHAKE-128(256)",
        Primitive::Shake256 => "SHAKE-256(512)",
        Primitive::Blake2b => "BLAKE2b(512)",
        Primitive::Blake2b256 => "BLAKE2b(256)",
        Primitive::Blake2s => "BLAKE2s(256)",
        Primitive::Sm3 => "SM3",
        Primitive::Ripemd160 => "RIPEMD-160",
        Primitive::Whirlpool => "Whirlpool",
        Primitive::Streebog256 => "Streebog-256",
        Primitive::Streebog512 => "Streebog-512",
        Primitive::AsconHash256 => "Ascon-Hash256",
        Primitive::Crc32 => "CRC32",
        Primitive::Adler32 => "Adler32",
        _ => return None,
    })
}

// The functions and numbers of `botan/ffi.h` that the adapter uses.

/// `botan_cipher_t`, `botan_block_cipher_t`, `botan_hash_t`, `botan_mac_t`: opaque.
type Handle = *mut c_void;
/// 0, or one of `enum BOTAN_FFI_ERROR`, all of which are negative.
type Code = c_int;

/// A handle; destroyed when dropped.
type Object = family::Object<Code>;
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
        botan_rng_init: fn(*mut Handle, *const c_char) -> Code;
        botan_rng_get: fn(Handle, Out, usize) -> Code;
        botan_rng_destroy: fn(Handle) -> Code;
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
        /// Since 2.8: function, three numbers, output, passphrase, salt.
        botan_pwdhash: fn(*const c_char, usize, usize, usize, Out, usize, *const c_char, usize, In, usize) -> Code;
        /// Function, output, secret, salt, label.
        botan_kdf: fn(*const c_char, Out, usize, In, usize, In, usize, In, usize) -> Code;
        /// Since 3.0: cipher, whether padded, key, key that wraps, output and its length.
        botan_nist_kw_enc: fn(*const c_char, c_int, In, usize, In, usize, Out, *mut usize) -> Code;
        botan_nist_kw_dec: fn(*const c_char, c_int, In, usize, In, usize, Out, *mut usize) -> Code;
        /// Since 2.2: key, key that wraps, output and its length.
        botan_key_wrap3394: fn(In, usize, In, usize, Out, *mut usize) -> Code;
        botan_key_unwrap3394: fn(In, usize, In, usize, Out, *mut usize) -> Code;
        /// Since 2.8.
        botan_error_description: fn(Code) -> *const c_char;
    }
}

impl Api {
    fn words(&self, code: Code) -> String {
        let Some(describe) = self.botan_error_description else { return format!("error {code}") };
        // SAFETY: takes any number, and gives a static NUL-terminated string.
        unsafe { contract::text(describe(code)) }.unwrap_or_else(|| format!("error {code}"))
    }
}

struct CipherState {
    api: Api,
    cipher: Object,
    key_len: usize,
    nonce_len: usize,
}

steps! { impl for CipherState;
    fn begin(&self, nonce: In) -> Code {
        (self.api.botan_cipher_start)(self.cipher.raw, nonce, self.nonce_len)
    }

    /// The whole input in one call. A call that ends a message is the only one that takes every
    /// length, and modes without a tag go on from where it ended until the next nonce.
    fn crypt(&self, input: In, output: Out, len: usize) -> i32 {
        // CBC decryption takes no bytes for a broken message: with padding it would be one.
        if len == 0 {
            return raw::OK;
        }
        self.api.crypt(&self.cipher, FINAL, (input, len), (output, len))
    }
}

steps! { #[inline(always)] impl for Api;
    /// Input that must all be taken, and output that must all be filled.
    fn crypt(&self, cipher: &Object, flags: u32, input: (In, usize), output: (Out, usize)) -> i32 {
        let (mut written, mut consumed) = (0, 0);
        let code = (self.botan_cipher_update)(
            cipher.raw,
            flags,
            output.0,
            output.1,
            &raw mut written,
            input.0,
            input.1,
            &raw mut consumed,
        );
        match code {
            0 if (written, consumed) == (output.1, input.1) => raw::OK,
            0 => raw::FAILED,
            code => outcome(code),
        }
    }
}

fn open_cipher(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let cipher = request.cipher(name)?;
    let nonce_len = request.algorithm.nonce_len;
    let key_len = request.key.len();
    let state = CipherState { api: *request.api(), cipher, key_len, nonce_len };
    let flags = raw::IN_PLACE | request.forced();
    let call = c"botan_cipher_start, botan_cipher_update";
    Ok(if request.algorithm.mode == Mode::Xts {
        let state = Units { state, tweak: [0; 16] };
        Table::new(state, flags, call).streams().rekeys(SET_KEY).raw()
    } else {
        Table::new(state, flags, call).streams().rekeys(SET_KEY).raw()
    })
}

operations! { impl for CipherState;
    fn message(&mut self, m) {
        calls!(self.begin(m.nonce));
        self.crypt(m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        calls!((self.api.botan_cipher_reset)(self.cipher.raw), self.begin(nonce))
    }

    fn update(&mut self, input, output, len) {
        self.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        calls!((self.api.botan_cipher_set_key)(self.cipher.raw, key, self.key_len))
    }
}

/// RC4 begins with the key, and has no nonce.
fn open_rc4(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let state = || -> Result<CipherState, OpenError> {
        let (cipher, key_len) = (request.cipher(name)?, request.key.len());
        Ok(CipherState { api: *request.api(), cipher, key_len, nonce_len: 0 })
    };
    let call = c"botan_cipher_set_key, botan_cipher_start, botan_cipher_update";
    Ok(rc4::session([state()?, state()?], request.key, request.forced(), call))
}

steps! { impl Keyed for CipherState;
    fn schedule(&mut self, key: In) -> i32 {
        calls!(
            (self.api.botan_cipher_set_key)(self.cipher.raw, key, self.key_len),
            self.begin(ptr::null()),
        )
    }

    fn advance(&mut self, input: In, output: Out, len: usize) -> i32 {
        self.crypt(input, output, len)
    }
}

/// Each update of XTS is a data unit of its own, which begins with its tweak.
struct Units {
    state: CipherState,
    tweak: [u8; 16],
}

operations! { impl for Units;
    fn message(&mut self, m) {
        calls!(self.state.begin(m.nonce));
        self.state.crypt(m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        self.tweak = nonce.cast::<[u8; 16]>().read_unaligned();
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        calls!(self.state.begin(self.tweak.as_ptr()));
        self.state.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        self.state.rekey(key)
    }
}

// Authenticated modes. Botan's messages are ciphertext and tag in one piece (SIV: tag and
// ciphertext), so what lies apart is put together or taken apart in a buffer of the session's.

struct AeadState {
    api: Api,
    message: Object,
    /// A message that is begun and not ended would be in the way of the next one.
    stream: Object,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
    /// Where the ciphertext begins in Botan's message.
    text_at: usize,
    /// Where the tag begins: here, or behind the ciphertext.
    tag_first: bool,
    /// EAX encryption of Botan 2 keeps its state and refuses new associated data: it is reset before
    /// each message.
    resets_before: bool,
    /// Its decryption keeps it after a wrong tag.
    resets_rejected: bool,
    /// One whole message of Botan's. Grows with the first message of a size, which is a warm-up's.
    joined: Vec<u8>,
}

const CALLS: &CStr = c"botan_cipher_set_associated_data, botan_cipher_start, botan_cipher_update";
const CALLS_WITH_RESET: &CStr =
    c"botan_cipher_reset, botan_cipher_set_associated_data, botan_cipher_start, botan_cipher_update";

fn open_aead(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let (message, stream) = (request.cipher(name)?, request.cipher(name)?);
    let mode = request.algorithm.mode;
    let streams = takes_pieces(request, &stream)?;
    let tag_first = mode == Mode::Siv;
    let encrypts = request.encrypts();
    let keeps = mode == Mode::Eax && request.library.major < 3;
    let (resets_before, resets_rejected) = (keeps && encrypts, keeps && !encrypts);
    let tag_len = request.algorithm.tag_len;
    let state = AeadState {
        api: *request.api(),
        message,
        stream,
        key_len: request.key.len(),
        nonce_len: request.algorithm.nonce_len,
        tag_len,
        text_at: if tag_first { tag_len } else { 0 },
        tag_first,
        resets_before,
        resets_rejected,
        joined: Vec::new(),
    };
    let flags = raw::IN_PLACE | request.forced();
    let call = if resets_before { CALLS_WITH_RESET } else { CALLS };
    let table = Table::new(state, flags, call).decrypts(!encrypts).streams_if(streams);
    Ok(table.rekeys(SET_KEY).raw())
}

/// Whether a message may go in by pieces of any number of blocks, each of which comes out at once.
fn takes_pieces(request: &Request<'_>, stream: &Object) -> Result<bool, OpenError> {
    let mut granularity = 0;
    // SAFETY: the result is writable.
    let code = unsafe {
        (request.api().botan_cipher_get_update_granularity)(stream.raw, &raw mut granularity)
    };
    request.done("botan_cipher_get_update_granularity", code)?;
    let whole = matches!(request.algorithm.mode, Mode::Ccm | Mode::Siv | Mode::GcmSiv);
    // OCB has whole blocks in pieces by definition; the others must take single bytes.
    let most = if request.algorithm.mode == Mode::Ocb { 16 } else { 1 };
    Ok(!whole && granularity <= most)
}

steps! { impl for AeadState;
    fn begin(&self, cipher: &Object, aad: (In, usize), nonce: In) -> Code {
        if self.resets_before {
            let code = (self.api.botan_cipher_reset)(cipher.raw);
            if code != 0 {
                return code;
            }
        }
        // Also when there is none: Botan keeps that of the message before, and SIV counts it.
        let code = (self.api.botan_cipher_set_associated_data)(cipher.raw, aad.0, aad.1);
        if code != 0 {
            return code;
        }
        (self.api.botan_cipher_start)(cipher.raw, nonce, self.nonce_len)
    }
}

impl AeadState {
    /// The buffer for a message of `len` bytes, and where the tag lies in it.
    #[inline]
    fn joined(&mut self, len: usize) -> (*mut u8, usize) {
        let whole = len + self.tag_len;
        if self.joined.len() < whole {
            self.joined.resize(whole, 0);
        }
        (self.joined.as_mut_ptr(), if self.tag_first { 0 } else { len })
    }
}

operations! { impl for AeadState;
    fn message(&mut self, m) {
        // The buffer holds ciphertext and tag, and is nobody else's.
        calls!(self.begin(&self.message, (m.aad, m.aad_len), m.nonce));
        let (joined, tag_at) = self.joined(m.len);
        let whole = (joined, m.len + self.tag_len);
        let result = self.api.crypt(&self.message, FINAL, (m.input, m.len), whole);
        if result == raw::OK {
            ptr::copy_nonoverlapping(joined.add(self.text_at), m.output, m.len);
            ptr::copy_nonoverlapping(joined.add(tag_at), m.tag, self.tag_len);
        }
        result
    }

    fn decrypt(&mut self, m) {
        calls!(self.begin(&self.message, (m.aad, m.aad_len), m.nonce));
        let (joined, tag_at) = self.joined(m.len);
        ptr::copy_nonoverlapping(m.input, joined.add(self.text_at), m.len);
        ptr::copy_nonoverlapping(m.tag, joined.add(tag_at), self.tag_len);
        let whole = (joined.cast_const(), m.len + self.tag_len);
        let result = self.api.crypt(&self.message, FINAL, whole, (m.output, m.len));
        if result == raw::REJECTED && self.resets_rejected {
            (self.api.botan_cipher_reset)(self.message.raw);
        }
        result
    }

    fn start(&mut self, nonce) {
        // No associated data may be null.
        calls!(
            // Ends the stream before, without which a new one is an error.
            (self.api.botan_cipher_reset)(self.stream.raw),
            self.begin(&self.stream, (ptr::null(), 0), nonce),
        )
    }

    fn update(&mut self, input, output, len) {
        self.api.crypt(&self.stream, 0, (input, len), (output, len))
    }

    fn rekey(&mut self, key) {
        calls!((self.api.botan_cipher_set_key)(self.message.raw, key, self.key_len))
    }
}

// AES key wrap: a call that takes both keys, and makes the cipher anew.

/// `botan_nist_kw_enc` and `_dec`
type KwFn =
    unsafe extern "C" fn(*const c_char, c_int, In, usize, In, usize, Out, *mut usize) -> Code;
/// `botan_key_wrap3394` and `_unwrap3394`
type Rfc3394Fn = unsafe extern "C" fn(In, usize, In, usize, Out, *mut usize) -> Code;

#[derive(Clone, Copy)]
enum WrapCall {
    /// With the cipher's name, and 1 for padding.
    Kw(KwFn, &'static CStr, c_int),
    Rfc3394(Rfc3394Fn),
}

struct KeyWrapState {
    key: Vec<u8>,
    call: WrapCall,
}

/// `None` where the version does not have it.
fn open_key_wrap(request: &Request<'_>) -> Option<raw::Session> {
    let (api, decrypts) = (request.api(), request.decrypts());
    let cipher = match request.key.len() {
        16 => c"AES-128",
        24 => c"AES-192",
        _ => c"AES-256",
    };
    let padded = request.algorithm.mode == Mode::KeyWrapPadded;
    let new = if decrypts { api.botan_nist_kw_dec } else { api.botan_nist_kw_enc };
    let old = if decrypts { api.botan_key_unwrap3394 } else { api.botan_key_wrap3394 };
    let (call, calls) = match new {
        Some(call) => (
            WrapCall::Kw(call, cipher, c_int::from(padded)),
            [c"botan_nist_kw_enc, memcpy", c"memcpy, botan_nist_kw_dec"],
        ),
        None if padded => return None,
        None => (
            WrapCall::Rfc3394(old?),
            [c"botan_key_wrap3394, memcpy", c"memcpy, botan_key_unwrap3394"],
        ),
    };
    let state = KeyWrapState { key: request.key.to_vec(), call };
    // A build may be without the module, which only a call says.
    let (input, mut output) = ([0; 16 + CHECK], [0; 16 + CHECK]);
    let (len, expected) = if decrypts { (16 + CHECK, 16) } else { (16, 16 + CHECK) };
    // SAFETY: the buffers cover both lengths.
    let code = unsafe { state.call(input.as_ptr(), len, output.as_mut_ptr(), expected) };
    if code == NOT_IMPLEMENTED {
        return None;
    }
    Some(wrap::session(state, decrypts, raw::ALLOCATES, calls, KEY_IN_EACH_MESSAGE))
}

steps! { impl for KeyWrapState;
    /// All of the input, into as many bytes as there must be.
    fn call(&self, input: In, len: usize, output: Out, expected: usize) -> i32 {
        let (key, key_len, mut written) = (self.key.as_ptr(), self.key.len(), expected);
        let room = &raw mut written;
        let code = match self.call {
            WrapCall::Kw(call, cipher, padded) => {
                call(cipher.as_ptr(), padded, input, len, key, key_len, output, room)
            }
            WrapCall::Rfc3394(call) => call(input, len, key, key_len, output, room),
        };
        if code == 0 && written != expected { raw::FAILED } else { outcome(code) }
    }
}

steps! { impl KeyWrap for KeyWrapState;
    fn wrap(&mut self, key: In, len: usize, wrapped: Out) -> i32 {
        self.call(key, len, wrapped, len + CHECK)
    }

    fn unwrap(&mut self, wrapped: Out, len: usize, key: Out) -> i32 {
        self.call(wrapped, len + CHECK, key, len)
    }

    fn rekey(&mut self, key: In) -> i32 {
        ptr::copy_nonoverlapping(key, self.key.as_mut_ptr(), self.key.len());
        raw::OK
    }
}

// ECB: Botan has no mode of that name; its raw block cipher takes any number of blocks.

struct BlockState {
    cipher: Object,
    blocks: BlocksFn,
    block_len: usize,
    set_key: BytesFn,
    key_len: usize,
}

fn open_block(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let api = request.api();
    let cipher = request.object(name, api.botan_block_cipher_destroy, |handle, name| {
        // SAFETY: the handle is writable, the name NUL-terminated.
        unsafe { (api.botan_block_cipher_init)(handle, name) }
    })?;
    // SAFETY: the key covers its length.
    let code = unsafe {
        (api.botan_block_cipher_set_key)(cipher.raw, request.key.as_ptr(), request.key.len())
    };
    request.done("botan_block_cipher_set_key", code)?;
    // SAFETY: a handle; the result is the size, or a negative error.
    let size = unsafe { (api.botan_block_cipher_block_size)(cipher.raw) };
    let block_len = usize::try_from(size)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| request.failed("botan_block_cipher_block_size", size))?;
    let (blocks, call) = if request.decrypts() {
        (api.botan_block_cipher_decrypt_blocks, c"botan_block_cipher_decrypt_blocks")
    } else {
        (api.botan_block_cipher_encrypt_blocks, c"botan_block_cipher_encrypt_blocks")
    };
    let state = BlockState {
        cipher,
        blocks,
        block_len,
        set_key: api.botan_block_cipher_set_key,
        key_len: request.key.len(),
    };
    Ok(Table::new(state, raw::IN_PLACE, call).streams().rekeys(c"botan_block_cipher_set_key").raw())
}

steps! { #[inline(always)] impl for BlockState;
    fn crypt(&self, input: In, output: Out, len: usize) -> i32 {
        let blocks = len / self.block_len;
        if blocks * self.block_len != len {
            return raw::FAILED;
        }
        calls!((self.blocks)(self.cipher.raw, input, output, blocks))
    }
}

operations! { impl for BlockState;
    fn message(&mut self, m) {
        self.crypt(m.input, m.output, m.len)
    }

    fn update(&mut self, input, output, len) {
        self.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.cipher.raw, key, self.key_len))
    }
}

#[derive(Clone, Copy)]
enum Begin {
    /// Nothing: the object is ready after the message before.
    Nothing,
    Nonce(BytesFn, usize),
    /// The key, which is good for one message only (Poly1305; SipHash in Botan 2).
    Key(BytesFn),
}

/// What ends a message that was begun and not finished.
#[derive(Clone, Copy)]
enum Discard {
    /// `botan_hash_clear`
    Clear(HandleFn),
    /// `botan_mac_clear` would take the key as well: the message is finished, and its tag dropped.
    Finish,
}

struct DigestState {
    message: Object,
    stream: Object,
    begin: Begin,
    update: BytesFn,
    finish: FinalFn,
    discard: Discard,
    key: Vec<u8>,
    /// Sets a MAC's key.
    set_key: Option<BytesFn>,
    /// A stream was begun and not finished.
    open: bool,
}

fn open_hash(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let api = request.api();
    let object = || {
        let hash = request.object(name, api.botan_hash_destroy, |handle, name| {
            // SAFETY: the handle is writable, the name NUL-terminated; there are no flags.
            unsafe { (api.botan_hash_init)(handle, name, 0) }
        })?;
        fits(request, &hash, api.botan_hash_output_length).map(|()| hash)
    };
    let state = DigestState {
        message: object()?,
        stream: object()?,
        begin: Begin::Nothing,
        update: api.botan_hash_update,
        finish: api.botan_hash_final,
        discard: Discard::Clear(api.botan_hash_clear),
        key: Vec::new(),
        set_key: None,
        open: false,
    };
    Ok(digest_session(state, raw::IN_PLACE, c"botan_hash_update, botan_hash_final"))
}

fn open_mac(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let api = request.api();
    let object = || {
        let mac = request.object(name, api.botan_mac_destroy, |handle, name| {
            // SAFETY: the handle is writable, the name NUL-terminated; there are no flags.
            unsafe { (api.botan_mac_init)(handle, name, 0) }
        })?;
        // SAFETY: the key covers its length.
        let code =
            unsafe { (api.botan_mac_set_key)(mac.raw, request.key.as_ptr(), request.key.len()) };
        request.done("botan_mac_set_key", code)?;
        fits(request, &mac, api.botan_mac_output_length).map(|()| mac)
    };
    // SipHash of Botan 2 forgets its key with each message.
    let sip = matches!(request.algorithm.cipher, Primitive::SipHash24 | Primitive::SipHash13);
    let one_time = request.algorithm.mode == Mode::OneTimeMac || sip && request.library.major < 3;
    let (begin, call) = match (request.algorithm.mode, api.botan_mac_set_nonce) {
        _ if one_time => (
            Begin::Key(api.botan_mac_set_key),
            c"botan_mac_set_key, botan_mac_update, botan_mac_final",
        ),
        (Mode::Gmac, Some(set_nonce)) => (
            Begin::Nonce(set_nonce, request.algorithm.nonce_len),
            c"botan_mac_set_nonce, botan_mac_update, botan_mac_final",
        ),
        _ => (Begin::Nothing, c"botan_mac_update, botan_mac_final"),
    };
    let state = DigestState {
        message: object()?,
        stream: object()?,
        begin,
        update: api.botan_mac_update,
        finish: api.botan_mac_final,
        discard: Discard::Finish,
        key: request.key.to_vec(),
        set_key: Some(api.botan_mac_set_key),
        open: false,
    };
    // Each message of KMAC begins with a vector of Botan's.
    let allocates = if request.algorithm.mode == Mode::Kmac { raw::ALLOCATES } else { 0 };
    Ok(digest_session(state, raw::IN_PLACE | allocates, call))
}

/// The `_final` functions are told no length: what they write must be the algorithm's.
fn fits(request: &Request<'_>, object: &Object, length: AskFn) -> Result<(), OpenError> {
    let mut len = 0;
    // SAFETY: the result is writable.
    let code = unsafe { length(object.raw, &raw mut len) };
    request.done("asking for the output's length", code)?;
    if len == request.algorithm.tag_len {
        return Ok(());
    }
    Err(OpenError::Failed(format!("{} has {len} bytes of output", request.algorithm)))
}

fn digest_session(state: DigestState, flags: u32, call: &'static CStr) -> raw::Session {
    let rekeys = state.set_key.is_some();
    let table = Table::new(state, flags, call).parts();
    if rekeys { table.rekeys(c"botan_mac_set_key").raw() } else { table.raw() }
}

steps! { impl for DigestState;
    fn begin(&self, object: &Object, nonce: In) -> Code {
        match self.begin {
            Begin::Nothing => 0,
            Begin::Nonce(set, len) => set(object.raw, nonce, len),
            Begin::Key(set) => set(object.raw, self.key.as_ptr(), self.key.len()),
        }
    }
}

impl DigestState {
    /// Ends the stream that was not finished.
    fn discard_stream(&self) -> Code {
        let mut tag = [0; 64];
        match self.discard {
            // SAFETY: a handle of a hash function.
            Discard::Clear(clear) => unsafe { clear(self.stream.raw) },
            // SAFETY: no tag is longer than sixty-four bytes (`fits`).
            Discard::Finish => unsafe { (self.finish)(self.stream.raw, tag.as_mut_ptr()) },
        }
    }
}

operations! { impl for DigestState;
    fn message(&mut self, m) {
        calls!(
            self.begin(&self.message, m.nonce),
            (self.update)(self.message.raw, m.input, m.len),
            (self.finish)(self.message.raw, m.tag),
        )
    }

    fn start(&mut self, nonce) {
        if std::mem::replace(&mut self.open, true) {
            let code = self.discard_stream();
            if code != 0 {
                return outcome(code);
            }
        }
        calls!(self.begin(&self.stream, nonce))
    }

    fn update(&mut self, input, _output, len) {
        calls!((self.update)(self.stream.raw, input, len))
    }

    fn finish(&mut self, tag) {
        self.open = false;
        calls!((self.finish)(self.stream.raw, tag))
    }

    fn rekey(&mut self, key) {
        let Some(set_key) = self.set_key else { return raw::FAILED };
        let len = self.key.len();
        if let Begin::Key(_) = self.begin {
            // It is set before each message.
            self.key.as_mut_ptr().copy_from_nonoverlapping(key, len);
            return raw::OK;
        }
        calls!(set_key(self.message.raw, key, len))
    }
}

// GMAC for versions whose MAC interface takes no nonce (Botan 2): GCM with associated data alone,
// which is how NIST SP 800-38D defines it.

struct GmacState {
    api: Api,
    cipher: Object,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
}

/// Opens GCM to authenticate with. There is no stream: the associated data is given at once.
fn open_gmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let block = block(request.algorithm).expect("GMAC has a block cipher");
    let cipher = request.cipher(&format!("{block}/GCM"))?;
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    let key_len = request.key.len();
    let state = GmacState { api: *request.api(), cipher, key_len, nonce_len, tag_len };
    // Associated data is read where it lies.
    let flags = raw::IN_PLACE | (request.forced() & raw::ALLOCATES);
    let call = c"botan_cipher_set_associated_data, botan_cipher_start, botan_cipher_update";
    Ok(Table::new(state, flags, call).rekeys(SET_KEY).raw())
}

operations! { impl for GmacState;
    fn message(&mut self, m) {
        let (mut written, mut consumed) = (0, 0);
        let cipher = self.cipher.raw;
        calls!(
            (self.api.botan_cipher_set_associated_data)(cipher, m.input, m.len),
            (self.api.botan_cipher_start)(cipher, m.nonce, self.nonce_len),
            (self.api.botan_cipher_update)(
                cipher,
                FINAL,
                m.tag,
                self.tag_len,
                &raw mut written,
                ptr::null(),
                0,
                &raw mut consumed,
            ),
        );
        if written == self.tag_len { raw::OK } else { raw::FAILED }
    }

    fn rekey(&mut self, key) {
        calls!((self.api.botan_cipher_set_key)(self.cipher.raw, key, self.key_len))
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
        assert_eq!(of("serpent-192-cbc"), cipher("Serpent/CBC/NoPadding"));
        assert_eq!(of("aes-256-ccm8"), cipher("AES-256/CCM(8,3)"));
        assert_eq!(of("aes-192-gmac"), Some(Name::Mac("GMAC(AES-192)".to_owned())));
        assert_eq!(of("des-ede3-cmac"), Some(Name::Mac("CMAC(TripleDES)".to_owned())));
        assert_eq!(of("ascon-aead128"), cipher("Ascon-AEAD128"));
        assert_eq!(of("blake2b512-mac"), Some(Name::Mac("BLAKE2b(512)".to_owned())));
        assert_eq!(of("ascon-hash256"), Some(Name::Hash("Ascon-Hash256")));
        let missing = "aes-128-cfb1 aegis-128l blake3 blake3-keyed blake2s256-mac sha512-224 crc32c xxh64 rc2-cbc \
            magma-ecb xsalsa20-poly1305 ghash polyval memcpy null";
        for none in missing.split_whitespace() {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
