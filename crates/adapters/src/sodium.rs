//! libsodium through its public C functions: authenticated encryption, stream ciphers, digests, message
//! authentication codes. What a version lacks is no reason to refuse the rest. `sodium/README.md` says which
//! functions, and why.

mod derivation;

use crate::family::{
    self, Aligned, Attached, Family, In, KEY_IN_EACH_MESSAGE, Out, c_concat, operations, symbol,
};
use crate::random;
use base::model::{Algorithm, Kind, Mode, Primitive, RANDOM};
use contract::loader::SharedObject;
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_char, c_int, c_ulonglong, c_void};
use std::ptr;

/// Attaches a libsodium of any version.
///
/// # Errors
/// [`contract::loader::LoadError::Unusable`] when a function that every version has is missing, or the library does
/// not initialise.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    type InitFn = unsafe extern "C" fn() -> c_int;
    type VersionFn = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the types are those of sodium/core.h and sodium/version.h.
    let (init, version) = unsafe {
        (
            object.exported::<InitFn>("sodium_init")?,
            object.exported::<VersionFn>("sodium_version_string")?,
        )
    };
    // It picks the implementations for this CPU: before it, everything runs, but slowly. SAFETY:
    // may be called any number of times; 1 says that it has been called before.
    if unsafe { init() } < 0 {
        return Err(object.unusable("sodium_init failed"));
    }
    // SAFETY: gives a static NUL-terminated string.
    let version = unsafe { CStr::from_ptr(version()) }.to_string_lossy().into_owned();
    let build = build(&object);
    family::library((name, "libsodium"), &version, build, Functions::new(object))
}

/// What the library says of its build, and which CPU features it found and so uses.
fn build(object: &SharedObject) -> Vec<String> {
    type IntFn = unsafe extern "C" fn() -> c_int;
    let ask = |symbol: &str| {
        // SAFETY: these functions take nothing and return an int, in every version.
        unsafe { object.function::<IntFn>(symbol).map(|f| f()) }
    };
    let mut lines = Vec::new();
    if let Some(minimal) = ask("sodium_library_minimal") {
        lines.push(format!("minimal: {}", if minimal == 0 { "no" } else { "yes" }));
    }
    let features = "neon armcrypto sse2 sse3 ssse3 sse41 avx avx2 avx512f pclmul aesni rdrand";
    let found =
        features.split_whitespace().filter(|f| ask(&format!("sodium_runtime_has_{f}")) == Some(1));
    let found: Vec<&str> = found.collect();
    lines.push(format!("cpu features: {}", found.join(" ")));
    lines
}

type Request<'a> = family::Request<'a, Functions>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Functions {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        match request.algorithm.kind {
            Kind::Aead if request.algorithm.mode == Mode::SecretBox => open_secretbox(request),
            Kind::Aead => open_aead(request),
            Kind::Cipher => open_stream(request),
            Kind::Digest => open_digest(request),
            Kind::Mac => open_mac(request),
            Kind::Derivation => derivation::open(request),
            Kind::Random if request.algorithm.name == RANDOM => open_random(request),
            _ => Err(absent(request.algorithm)),
        }
    }
}

/// What no version has.
fn absent(algorithm: &Algorithm) -> OpenError {
    let why = match (algorithm.cipher, algorithm.mode) {
        (Primitive::Aes, Mode::Gcm) => ": its AES-GCM takes keys of 256 bits only",
        (Primitive::Aes, _) => ": its only AES mode is GCM",
        _ => "",
    };
    OpenError::Unsupported(format!("libsodium has no {algorithm}{why}"))
}

/// `randombytes_buf`
fn open_random(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    type BufFn = unsafe extern "C" fn(*mut c_void, usize);
    // SAFETY: the type is that of randombytes.h.
    let f: BufFn = unsafe { request.library.get("randombytes_buf") }?;
    Ok(random::session(c"randombytes_buf", move |out, len| {
        // SAFETY: the output covers its length.
        unsafe { f(out.cast(), len) };
        raw::OK
    }))
}

// Authenticated encryption: `crypto_aead_*`, detached.

/// What the library calls an algorithm.
struct Names {
    prefix: &'static str,
    encrypt: &'static CStr,
    decrypt: &'static CStr,
}

macro_rules! names {
    ($prefix:literal, $suffix:literal) => {
        Names {
            prefix: $prefix,
            encrypt: c_concat!($prefix, "_encrypt_detached", $suffix),
            decrypt: c_concat!($prefix, "_decrypt_detached", $suffix),
        }
    };
}

/// `_ietf` are RFC 8439's 12-byte nonces; without it the nonce has 8 bytes.
fn names(algorithm: &Algorithm) -> Option<Names> {
    Some(match (algorithm.cipher, algorithm.mode, algorithm.key_len) {
        (Primitive::Aes, Mode::Gcm, 32) => names!("crypto_aead_aes256gcm", "_afternm"),
        (Primitive::ChaCha20, Mode::Poly1305, _) => {
            names!("crypto_aead_chacha20poly1305_ietf", "")
        }
        (Primitive::XChaCha20, Mode::Poly1305, _) => {
            names!("crypto_aead_xchacha20poly1305_ietf", "")
        }
        (Primitive::Aegis128 { lanes: 1 }, ..) => names!("crypto_aead_aegis128l", ""),
        (Primitive::Aegis256 { lanes: 1 }, ..) => names!("crypto_aead_aegis256", ""),
        _ => return None,
    })
}

struct AeadState {
    encrypt: EncryptFn,
    decrypt: DecryptFn,
    /// The key, or AES-GCM's schedule of it.
    key: Aligned,
    key_len: usize,
    /// AES-GCM's key schedule; the others take the key as it is.
    schedule: Option<ScheduleFn>,
}

/// Opens an algorithm; only AES-GCM has a key schedule that can be kept.
fn open_aead(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (functions, algorithm, key) = (request.library, request.algorithm, request.key);
    let names = names(algorithm).ok_or_else(|| absent(algorithm))?;
    let tag_len = functions.length(&format!("{}_abytes", names.prefix))?;
    if tag_len != algorithm.tag_len {
        return Err(OpenError::Unsupported(format!(
            "this libsodium's {algorithm} has tags of {tag_len} bytes, not of {}",
            algorithm.tag_len
        )));
    }
    // SAFETY: the types are those of crypto_aead_*.h.
    let (encrypt, decrypt) = unsafe {
        (functions.get::<EncryptFn>(symbol(names.encrypt))?, functions.get(symbol(names.decrypt))?)
    };
    let key_len = key.len();
    let (key, schedule, rekey) = match algorithm.mode {
        Mode::Gcm => {
            let (key, schedule) = schedule(functions, key)?;
            (key, Some(schedule), c"crypto_aead_aes256gcm_beforenm")
        }
        _ => (Aligned::copied(key), None, KEY_IN_EACH_MESSAGE),
    };
    let call = if request.decrypts() { names.decrypt } else { names.encrypt };
    let state = AeadState { encrypt, decrypt, key, key_len, schedule };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts());
    Ok(table.rekeys(rekey).raw())
}

/// The key schedule of AES-256-GCM with the powers of its hash key.
fn schedule(functions: &Functions, key: &[u8]) -> Result<(Aligned, ScheduleFn), OpenError> {
    if !functions.ask("crypto_aead_aes256gcm_is_available")? {
        return Err(OpenError::Unsupported(
            "libsodium has AES-256-GCM only where the CPU has AES and carry-less multiply \
             instructions that it uses"
                .to_owned(),
        ));
    }
    let mut schedule = Aligned::zeroed(functions.length("crypto_aead_aes256gcm_statebytes")?);
    // SAFETY: the type is that of crypto_aead_aes256gcm.h.
    let make = unsafe { functions.get::<ScheduleFn>("crypto_aead_aes256gcm_beforenm")? };
    // SAFETY: the state has the size that the library asks for, on a 16-byte boundary; the key has
    // 32 bytes.
    match unsafe { make(schedule.as_mut_ptr(), key.as_ptr()) } {
        0 => Ok((schedule, make)),
        _ => Err(OpenError::Failed("crypto_aead_aes256gcm_beforenm failed".to_owned())),
    }
}

operations! { impl for AeadState;
    fn message(&mut self, m) {
        // The length of the tag and the secret nonce are not asked for.
        outcome((self.encrypt)(
            m.output,
            m.tag,
            ptr::null_mut(),
            m.input,
            m.len as u64,
            m.aad,
            m.aad_len as u64,
            ptr::null(),
            m.nonce,
            self.key.as_ptr(),
        ))
    }

    /// The only error that decryption has is a wrong tag.
    fn decrypt(&mut self, m) {
        let result = (self.decrypt)(
            m.output,
            ptr::null_mut(),
            m.input,
            m.len as u64,
            m.tag,
            m.aad,
            m.aad_len as u64,
            m.nonce,
            self.key.as_ptr(),
        );
        if result == 0 { raw::OK } else { raw::REJECTED }
    }

    fn rekey(&mut self, key) {
        match self.schedule {
            Some(schedule) => outcome(schedule(self.key.as_mut_ptr(), key)),
            None => {
                self.key.overwrite(key, self.key_len);
                raw::OK
            }
        }
    }
}

// XSalsa20-Poly1305: `crypto_secretbox_detached`, which has no associated data and no key schedule.

struct SecretBox {
    seal: BoxFn,
    open: OpenBoxFn,
    key: [u8; 32],
}

fn open_secretbox(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    const SEAL: &CStr = c"crypto_secretbox_detached";
    const OPEN: &CStr = c"crypto_secretbox_open_detached";
    let key = request.key.try_into().expect("XSalsa20 has keys of 32 bytes");
    // SAFETY: the types are those of crypto_secretbox.h.
    let state = unsafe {
        let (seal, open) = (request.library.get(symbol(SEAL))?, request.library.get(symbol(OPEN))?);
        SecretBox { seal, open, key }
    };
    let call = if request.decrypts() { OPEN } else { SEAL };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts());
    Ok(table.rekeys(KEY_IN_EACH_MESSAGE).raw())
}

operations! { impl for SecretBox;
    fn message(&mut self, m) {
        let key = self.key.as_ptr();
        outcome((self.seal)(m.output, m.tag, m.input, m.len as u64, m.nonce, key))
    }

    /// The only error that decryption has is a wrong tag.
    fn decrypt(&mut self, m) {
        let key = self.key.as_ptr();
        let result = (self.open)(m.output, m.input, m.tag, m.len as u64, m.nonce, key);
        if result == 0 { raw::OK } else { raw::REJECTED }
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; 32]>().read();
        raw::OK
    }
}

// Stream ciphers alone: `crypto_stream_*_xor`.

struct StreamState {
    xor: XorFn,
    key: [u8; 32],
}

/// Opens a cipher; encryption and decryption are the same.
fn open_stream(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let algorithm = request.algorithm;
    let call = match (algorithm.cipher, algorithm.mode) {
        (Primitive::ChaCha20, Mode::Stream) => c"crypto_stream_chacha20_ietf_xor",
        (Primitive::XChaCha20, Mode::Stream) => c"crypto_stream_xchacha20_xor",
        (Primitive::Salsa20, Mode::Stream) => c"crypto_stream_salsa20_xor",
        _ => return Err(absent(algorithm)),
    };
    let key = request.key.try_into().expect("all three have keys of 32 bytes");
    // SAFETY: the type is that of crypto_stream_*.h for all three.
    let xor = unsafe { request.library.get(symbol(call))? };
    let table = Table::new(StreamState { xor, key }, raw::IN_PLACE, call);
    Ok(table.rekeys(KEY_IN_EACH_MESSAGE).raw())
}

operations! { impl for StreamState;
    fn message(&mut self, m) {
        outcome((self.xor)(m.output, m.input, m.len as u64, m.nonce, self.key.as_ptr()))
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; 32]>().read();
        raw::OK
    }
}

// Digests: `crypto_hash_*`, `crypto_xof_*`, and `crypto_generichash`, which is BLAKE2b.

fn open_digest(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (functions, algorithm) = (request.library, request.algorithm);
    match algorithm.cipher {
        Primitive::Sha256 => hash(functions, c"crypto_hash_sha256"),
        Primitive::Sha512 => hash(functions, c"crypto_hash_sha512"),
        Primitive::Sha3_256 => hash(functions, c"crypto_hash_sha3256"),
        Primitive::Sha3_512 => hash(functions, c"crypto_hash_sha3512"),
        Primitive::Shake128 => xof(request, c"crypto_xof_shake128"),
        Primitive::Shake256 => xof(request, c"crypto_xof_shake256"),
        Primitive::TurboShake128 => xof(request, c"crypto_xof_turboshake128"),
        Primitive::TurboShake256 => xof(request, c"crypto_xof_turboshake256"),
        Primitive::Blake2b | Primitive::Blake2b256 => generic(request),
        _ => Err(absent(algorithm)),
    }
}

struct Hash {
    whole: HashFn,
    init: InitFn,
    update: UpdateFn,
    finish: FinalFn,
    parts: Aligned,
}

fn hash(functions: &Functions, name: &'static CStr) -> Result<raw::Session, OpenError> {
    let prefix = symbol(name);
    // SAFETY: the types are those of crypto_hash_*.h.
    let state = unsafe {
        Hash {
            whole: functions.get(prefix)?,
            init: functions.get(&format!("{prefix}_init"))?,
            update: functions.get(&format!("{prefix}_update"))?,
            finish: functions.get(&format!("{prefix}_final"))?,
            parts: Aligned::zeroed(functions.length(&format!("{prefix}_statebytes"))?),
        }
    };
    Ok(Table::new(state, 0, name).parts().raw())
}

operations! { impl for Hash;
    fn message(&mut self, m) {
        outcome((self.whole)(m.tag, m.input, m.len as u64))
    }

    fn start(&mut self, _nonce) {
        outcome((self.init)(self.parts.as_mut_ptr()))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.parts.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.finish)(self.parts.as_mut_ptr(), tag))
    }
}

struct Xof {
    whole: XofFn,
    init: InitFn,
    update: UpdateFn,
    squeeze: GenericFinalFn,
    parts: Aligned,
    len: usize,
}

fn xof(request: &Request<'_>, name: &'static CStr) -> Result<raw::Session, OpenError> {
    let (functions, prefix) = (request.library, symbol(name));
    // SAFETY: the types are those of crypto_xof_*.h.
    let state = unsafe {
        Xof {
            whole: functions.get(prefix)?,
            init: functions.get(&format!("{prefix}_init"))?,
            update: functions.get(&format!("{prefix}_update"))?,
            squeeze: functions.get(&format!("{prefix}_squeeze"))?,
            parts: Aligned::zeroed(functions.length(&format!("{prefix}_statebytes"))?),
            len: request.algorithm.tag_len,
        }
    };
    Ok(Table::new(state, 0, name).parts().raw())
}

operations! { impl for Xof;
    fn message(&mut self, m) {
        outcome((self.whole)(m.tag, self.len, m.input, m.len as u64))
    }

    fn start(&mut self, _nonce) {
        outcome((self.init)(self.parts.as_mut_ptr()))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.parts.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.squeeze)(self.parts.as_mut_ptr(), tag, self.len))
    }
}

struct Generic {
    whole: GenericHashFn,
    init: GenericInitFn,
    update: UpdateFn,
    finish: GenericFinalFn,
    parts: Aligned,
    len: usize,
    /// Empty for the digest.
    key: Vec<u8>,
}

/// BLAKE2b as digest, or as MAC: the key is a block before the message, which the state only holds until more comes,
/// so that there is nothing of it to be kept from one message to the next.
fn generic(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let functions = request.library;
    // SAFETY: the types are those of crypto_generichash.h.
    let state = unsafe {
        Generic {
            whole: functions.get("crypto_generichash")?,
            init: functions.get("crypto_generichash_init")?,
            update: functions.get("crypto_generichash_update")?,
            finish: functions.get("crypto_generichash_final")?,
            parts: Aligned::zeroed(functions.length("crypto_generichash_statebytes")?),
            len: request.algorithm.tag_len,
            key: request.key.to_vec(),
        }
    };
    // All of the message goes through the state's buffer, block by block.
    Ok(Table::new(state, raw::COPIES, c"crypto_generichash").parts().raw())
}

operations! { impl for Generic;
    fn message(&mut self, m) {
        let (key, key_len) = (self.key.as_ptr(), self.key.len());
        outcome((self.whole)(m.tag, self.len, m.input, m.len as u64, key, key_len))
    }

    fn start(&mut self, _nonce) {
        let (key, key_len) = (self.key.as_ptr(), self.key.len());
        outcome((self.init)(self.parts.as_mut_ptr(), key, key_len, self.len))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.parts.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.finish)(self.parts.as_mut_ptr(), tag, self.len))
    }
}

// Message authentication codes: `crypto_auth_hmac*`, `crypto_onetimeauth`, which is Poly1305, `crypto_shorthash`,
// which is SipHash-2-4, and BLAKE2b under a key.

fn open_mac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (functions, algorithm, key) = (request.library, request.algorithm, request.key);
    match (algorithm.mode, algorithm.cipher) {
        (Mode::Hmac, Primitive::Sha256) => hmac(
            functions,
            "crypto_auth_hmacsha256",
            c"crypto_auth_hmacsha256_update, crypto_auth_hmacsha256_final",
            key,
        ),
        (Mode::Hmac, Primitive::Sha512) => hmac(
            functions,
            "crypto_auth_hmacsha512",
            c"crypto_auth_hmacsha512_update, crypto_auth_hmacsha512_final",
            key,
        ),
        (Mode::OneTimeMac, Primitive::Poly1305) => poly1305(functions, key),
        (Mode::Keyed, Primitive::SipHash24) => siphash(functions, key),
        (Mode::Keyed, Primitive::Blake2b) => generic(request),
        _ => Err(absent(algorithm)),
    }
}

struct Hmac {
    update: UpdateFn,
    finish: FinalFn,
    /// The state after both key pads: a plain structure, which each message starts as a copy of.
    keyed: Aligned,
    state: Aligned,
    state_len: usize,
}

fn hmac(
    functions: &Functions,
    prefix: &str,
    call: &'static CStr,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let state_len = functions.length(&format!("{prefix}_statebytes"))?;
    let mut keyed = Aligned::zeroed(state_len);
    // SAFETY: the types are those of crypto_auth_hmac*.h.
    let (init, update, finish) = unsafe {
        (
            functions.get::<KeyedInitFn>(&format!("{prefix}_init"))?,
            functions.get(&format!("{prefix}_update"))?,
            functions.get(&format!("{prefix}_final"))?,
        )
    };
    // SAFETY: the state has the size that the library asks for; `key` covers its length.
    if unsafe { init(keyed.as_mut_ptr(), key.as_ptr(), key.len()) } != 0 {
        return Err(OpenError::Failed(format!("{prefix}_init failed")));
    }
    let state = Aligned::zeroed(state_len);
    let state = Hmac { update, finish, keyed, state, state_len };
    Ok(Table::new(state, 0, call).parts().raw())
}

impl Hmac {
    #[inline]
    fn begin(&mut self) {
        let from = self.keyed.as_ptr::<u8>();
        // SAFETY: both have `state_len` bytes and are not the same memory.
        unsafe { ptr::copy_nonoverlapping(from, self.state.as_mut_ptr(), self.state_len) }
    }
}

operations! { impl for Hmac;
    fn message(&mut self, m) {
        self.begin();
        match (self.update)(self.state.as_mut_ptr(), m.input, m.len as u64) {
            0 => outcome((self.finish)(self.state.as_mut_ptr(), m.tag)),
            _ => raw::FAILED,
        }
    }

    fn start(&mut self, _nonce) {
        self.begin();
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.state.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.finish)(self.state.as_mut_ptr(), tag))
    }
}

struct Poly1305 {
    whole: AuthFn,
    init: AuthInitFn,
    update: UpdateFn,
    finish: FinalFn,
    key: Aligned,
    parts: Aligned,
}

/// A one-time key is used for one message: there is no schedule to be kept.
fn poly1305(functions: &Functions, key: &[u8]) -> Result<raw::Session, OpenError> {
    // SAFETY: the types are those of crypto_onetimeauth.h.
    let state = unsafe {
        Poly1305 {
            whole: functions.get("crypto_onetimeauth")?,
            init: functions.get("crypto_onetimeauth_init")?,
            update: functions.get("crypto_onetimeauth_update")?,
            finish: functions.get("crypto_onetimeauth_final")?,
            key: Aligned::copied(key),
            parts: Aligned::zeroed(functions.length("crypto_onetimeauth_statebytes")?),
        }
    };
    Ok(Table::new(state, 0, c"crypto_onetimeauth").parts().raw())
}

operations! { impl for Poly1305;
    fn message(&mut self, m) {
        outcome((self.whole)(m.tag, m.input, m.len as u64, self.key.as_ptr()))
    }

    fn start(&mut self, _nonce) {
        outcome((self.init)(self.parts.as_mut_ptr(), self.key.as_ptr()))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.parts.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.finish)(self.parts.as_mut_ptr(), tag))
    }
}

struct SipHash {
    whole: AuthFn,
    key: [u8; 16],
}

/// One call for a message is all that there is.
fn siphash(functions: &Functions, key: &[u8]) -> Result<raw::Session, OpenError> {
    const CALL: &CStr = c"crypto_shorthash";
    let key = key.try_into().expect("SipHash has keys of 16 bytes");
    // SAFETY: the type is that of crypto_shorthash.h.
    let whole = unsafe { functions.get(symbol(CALL))? };
    Ok(Table::new(SipHash { whole, key }, 0, CALL).raw())
}

operations! { impl for SipHash;
    fn message(&mut self, m) {
        outcome((self.whole)(m.tag, m.input, m.len as u64, self.key.as_ptr()))
    }
}

/// `*_encrypt_detached` and `*_encrypt_detached_afternm`: ciphertext, tag, its length, message,
/// length, associated data, length, nothing, nonce, key or its schedule.
type EncryptFn = unsafe extern "C" fn(
    Out,
    Out,
    *mut c_ulonglong,
    In,
    c_ulonglong,
    In,
    c_ulonglong,
    In,
    In,
    In,
) -> c_int;
/// `*_decrypt_detached` and `*_decrypt_detached_afternm`: message, nothing, ciphertext, length,
/// tag, associated data, length, nonce, key or its schedule.
type DecryptFn =
    unsafe extern "C" fn(Out, Out, In, c_ulonglong, In, In, c_ulonglong, In, In) -> c_int;
/// `crypto_aead_aes256gcm_beforenm`: schedule, key.
type ScheduleFn = unsafe extern "C" fn(Out, In) -> c_int;
/// `crypto_secretbox_detached`: ciphertext, tag, message, length, nonce, key.
type BoxFn = unsafe extern "C" fn(Out, Out, In, c_ulonglong, In, In) -> c_int;
/// `crypto_secretbox_open_detached`: message, ciphertext, tag, length, nonce, key.
type OpenBoxFn = unsafe extern "C" fn(Out, In, In, c_ulonglong, In, In) -> c_int;
/// `crypto_stream_*_xor`: output, input, length, nonce, key.
type XorFn = unsafe extern "C" fn(Out, In, c_ulonglong, In, In) -> c_int;
/// `crypto_hash_*`: digest, message, length.
type HashFn = unsafe extern "C" fn(Out, In, c_ulonglong) -> c_int;
/// `crypto_xof_*`: digest, length, message, length.
type XofFn = unsafe extern "C" fn(Out, usize, In, c_ulonglong) -> c_int;
/// `crypto_hash_*_init`, `crypto_xof_*_init`: state.
type InitFn = unsafe extern "C" fn(Out) -> c_int;
/// `*_update`: state, part, length.
type UpdateFn = unsafe extern "C" fn(Out, In, c_ulonglong) -> c_int;
/// `*_final`: state, digest.
type FinalFn = unsafe extern "C" fn(Out, Out) -> c_int;
/// `crypto_generichash`: digest, length, message, length, key, length.
type GenericHashFn = unsafe extern "C" fn(Out, usize, In, c_ulonglong, In, usize) -> c_int;
/// `crypto_generichash_init`: state, key, length, length of the digest.
type GenericInitFn = unsafe extern "C" fn(Out, In, usize, usize) -> c_int;
/// `crypto_generichash_final`, `crypto_xof_*_squeeze`: state, digest, length.
type GenericFinalFn = unsafe extern "C" fn(Out, Out, usize) -> c_int;
/// `crypto_auth_hmac*_init`: state, key, length.
type KeyedInitFn = unsafe extern "C" fn(Out, In, usize) -> c_int;
/// `crypto_onetimeauth`, `crypto_shorthash`: tag, message, length, key.
type AuthFn = unsafe extern "C" fn(Out, In, c_ulonglong, In) -> c_int;
/// `crypto_onetimeauth_init`: state, key.
type AuthInitFn = unsafe extern "C" fn(Out, In) -> c_int;

type SizeFn = unsafe extern "C" fn() -> usize;
type AskFn = unsafe extern "C" fn() -> c_int;

/// The loaded library's functions by name.
struct Functions(SharedObject);

impl Functions {
    fn new(object: SharedObject) -> Self {
        Self(object)
    }

    /// A function by its name.
    ///
    /// # Errors
    /// [`OpenError::Unsupported`] when this version or build does not export it.
    ///
    /// # Safety
    /// `F` must be the type that `sodium.h` gives the symbol.
    unsafe fn get<F: Copy>(&self, symbol: &str) -> Result<F, OpenError> {
        // SAFETY: the caller vouches for the type.
        Ok(unsafe { self.0.exported(symbol)? })
    }

    /// What a function without arguments says of a length: `*_statebytes`, `*_abytes`.
    fn length(&self, symbol: &str) -> Result<usize, OpenError> {
        // SAFETY: every function of such a name takes nothing and returns a size_t.
        unsafe { Ok(self.get::<SizeFn>(symbol)?()) }
    }

    /// What a function without arguments answers: `*_is_available`.
    fn ask(&self, symbol: &str) -> Result<bool, OpenError> {
        // SAFETY: every function of such a name takes nothing and returns an int.
        unsafe { Ok(self.get::<AskFn>(symbol)?() == 1) }
    }
}

/// What the library's functions return as a code of the interface: 0, or -1.
#[inline]
fn outcome(result: c_int) -> i32 {
    if result == 0 { contract::raw::OK } else { contract::raw::FAILED }
}

#[cfg(test)]
mod tests {
    use crate::testing::SODIUM;
    use base::model::Direction;
    use testing::trial::{offered, open};

    #[test]
    fn a_session_names_the_functions_that_it_calls() {
        for library in SODIUM.libraries() {
            for (name, direction, calls) in [
                (
                    "aes-256-gcm",
                    Direction::Encrypt,
                    "crypto_aead_aes256gcm_encrypt_detached_afternm",
                ),
                (
                    "chacha20-poly1305",
                    Direction::Decrypt,
                    "crypto_aead_chacha20poly1305_ietf_decrypt_detached",
                ),
                ("sha512", Direction::Digest, "crypto_hash_sha512"),
            ] {
                assert_eq!(open(&*library, name, direction).calls().unwrap(), calls);
            }
        }
    }

    #[test]
    fn only_blake2b_copies_its_message_and_nothing_allocates() {
        for library in SODIUM.libraries() {
            for algorithm in offered(&*library) {
                let session = open(&*library, algorithm.name, Direction::of(algorithm.kind)[0]);
                assert_eq!(session.copies(), algorithm.name.starts_with("blake2b"), "{algorithm}");
                assert!(!session.allocates(), "{algorithm}");
            }
        }
    }
}
