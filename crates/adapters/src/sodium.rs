//! libsodium through its public C functions: authenticated encryption, stream ciphers, digests, message
//! authentication codes. What a version lacks is no reason to refuse the rest. `sodium/README.md` says which
//! functions, and why.

mod derivation;

use crate::family::{
    self, Aligned, Attached, Family, In, KEY_IN_EACH_MESSAGE, Out, c_concat, in_turn, operations,
    symbol, whole, whole_with_key,
};
use crate::random;
use base::model::{Algorithm, Kind, Mode, Primitive, RANDOM};
use contract::loader::SharedObject;
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_int, c_ulonglong, c_void};
use std::ptr;

pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    // SAFETY: the types are those of sodium/core.h and sodium/version.h. Initialising picks the implementations for this
    // CPU: before it, everything runs, but slowly. It may be done any number of times; 1 says that it has been.
    let (initialised, version) =
        unsafe { (object.asked::<c_int>("sodium_init")?, object.told("sodium_version_string")?) };
    if initialised < 0 {
        return Err(object.unusable("sodium_init failed"));
    }
    let build = build(&object);
    family::library(name, "libsodium", &version.unwrap_or_default(), build, Functions(object))
}

/// What the library says of its build, and which CPU features it found and so uses.
fn build(object: &SharedObject) -> Vec<String> {
    // SAFETY: these functions take nothing and return an int, in every version.
    let ask = |symbol: &str| unsafe { object.asked::<c_int>(symbol) }.ok();
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

    fn decrypt(&mut self, m) {
        opened((self.decrypt)(
            m.output,
            ptr::null_mut(),
            m.input,
            m.len as u64,
            m.tag,
            m.aad,
            m.aad_len as u64,
            m.nonce,
            self.key.as_ptr(),
        ))
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

fn open_secretbox(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let key: [u8; 32] = request.key.try_into().expect("XSalsa20 has keys of 32 bytes");
    // SAFETY: the types are those of crypto_secretbox.h; messages keep the header's rules.
    Ok(unsafe {
        if request.decrypts() {
            let call = c"crypto_secretbox_open_detached";
            let open: OpenBoxFn = request.library.get(symbol(call))?;
            whole_with_key(raw::IN_PLACE, call, key, move |m, key| {
                opened(open(m.output, m.input, m.tag, m.len as u64, m.nonce, key))
            })
        } else {
            let call = c"crypto_secretbox_detached";
            let seal: BoxFn = request.library.get(symbol(call))?;
            whole_with_key(raw::IN_PLACE, call, key, move |m, key| {
                outcome(seal(m.output, m.tag, m.input, m.len as u64, m.nonce, key))
            })
        }
    })
}

/// The only error that decryption has is a wrong tag.
#[inline]
fn opened(result: c_int) -> i32 {
    if result == 0 { raw::OK } else { raw::REJECTED }
}

// Stream ciphers alone: `crypto_stream_*_xor`.

/// Opens a cipher; encryption and decryption are the same.
fn open_stream(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let algorithm = request.algorithm;
    let call = match (algorithm.cipher, algorithm.mode) {
        (Primitive::ChaCha20, Mode::Stream) => c"crypto_stream_chacha20_ietf_xor",
        (Primitive::XChaCha20, Mode::Stream) => c"crypto_stream_xchacha20_xor",
        (Primitive::Salsa20, Mode::Stream) => c"crypto_stream_salsa20_xor",
        _ => return Err(absent(algorithm)),
    };
    let key: [u8; 32] = request.key.try_into().expect("all three have keys of 32 bytes");
    // SAFETY: the type is that of crypto_stream_*.h for all three.
    let xor: XorFn = unsafe { request.library.get(symbol(call))? };
    Ok(whole_with_key(raw::IN_PLACE, call, key, move |m, key| {
        // SAFETY: the message keeps the header's rules.
        outcome(unsafe { xor(m.output, m.input, m.len as u64, m.nonce, key) })
    }))
}

// Digests: `crypto_hash_*`, `crypto_xof_*`, and `crypto_generichash`, which is BLAKE2b.

fn open_digest(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    match request.algorithm.cipher {
        Primitive::Sha256 => hash(request, c"crypto_hash_sha256"),
        Primitive::Sha512 => hash(request, c"crypto_hash_sha512"),
        Primitive::Sha3_256 => hash(request, c"crypto_hash_sha3256"),
        Primitive::Sha3_512 => hash(request, c"crypto_hash_sha3512"),
        Primitive::Shake128 => xof(request, c"crypto_xof_shake128"),
        Primitive::Shake256 => xof(request, c"crypto_xof_shake256"),
        Primitive::TurboShake128 => xof(request, c"crypto_xof_turboshake128"),
        Primitive::TurboShake256 => xof(request, c"crypto_xof_turboshake256"),
        Primitive::Blake2b | Primitive::Blake2b256 => generic(request),
        _ => Err(absent(request.algorithm)),
    }
}

/// A digest or MAC, whole in one call or in parts: what is called with what it takes beside message, state and tag.
struct InParts<W, B, E> {
    whole: W,
    begin: B,
    update: UpdateFn,
    end: E,
    state: Aligned,
}

/// The table of a digest or MAC, of which a whole message calls the function of the prefix's name.
fn in_parts(
    request: &Request<'_>,
    prefix: &'static CStr,
    whole: impl Fn(&raw::Message) -> c_int,
    begin: impl Fn(Out) -> c_int,
    end: impl Fn(Out, Out) -> c_int,
) -> Result<raw::Session, OpenError> {
    // SAFETY: every `_update` has this type.
    let update = unsafe { request.library.part(prefix, "update")? };
    let len = request.library.length(&format!("{}_statebytes", symbol(prefix)))?;
    let state = InParts { whole, begin, update, end, state: Aligned::zeroed(len) };
    Ok(Table::new(state, 0, prefix).parts().raw())
}

operations! {
    impl[W: Fn(&raw::Message) -> c_int, B: Fn(Out) -> c_int, E: Fn(Out, Out) -> c_int]
    for InParts<W, B, E>;
    fn message(&mut self, m) {
        outcome((self.whole)(m))
    }

    fn start(&mut self, _nonce) {
        outcome((self.begin)(self.state.as_mut_ptr()))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.state.as_mut_ptr(), input, len as u64))
    }

    fn finish(&mut self, tag) {
        outcome((self.end)(self.state.as_mut_ptr(), tag))
    }
}

fn hash(request: &Request<'_>, name: &'static CStr) -> Result<raw::Session, OpenError> {
    let f = request.library;
    // SAFETY: the types are those of crypto_hash_*.h; what `InParts` hands on keeps the header's rules.
    unsafe {
        let whole: HashFn = f.get(symbol(name))?;
        let (init, finish): (InitFn, FinalFn) = (f.part(name, "init")?, f.part(name, "final")?);
        in_parts(
            request,
            name,
            move |m| whole(m.tag, m.input, m.len as u64),
            move |state| init(state),
            move |state, tag| finish(state, tag),
        )
    }
}

fn xof(request: &Request<'_>, name: &'static CStr) -> Result<raw::Session, OpenError> {
    let (f, len) = (request.library, request.algorithm.tag_len);
    // SAFETY: the types are those of crypto_xof_*.h; what `InParts` hands on keeps the header's rules.
    unsafe {
        let whole: XofFn = f.get(symbol(name))?;
        let init: InitFn = f.part(name, "init")?;
        let squeeze: GenericFinalFn = f.part(name, "squeeze")?;
        in_parts(
            request,
            name,
            move |m| whole(m.tag, len, m.input, m.len as u64),
            move |state| init(state),
            move |state, tag| squeeze(state, tag, len),
        )
    }
}

/// BLAKE2b as digest, without a key, or as MAC: the key is a block before the message, which the state only holds until
/// more comes, so that there is nothing of it to be kept from one message to the next.
struct Generic {
    whole: GenericHashFn,
    init: GenericInitFn,
    update: UpdateFn,
    finish: GenericFinalFn,
    parts: Aligned,
    len: usize,
    key: Vec<u8>,
}

fn generic(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (f, name) = (request.library, c"crypto_generichash");
    // SAFETY: the types are those of crypto_generichash.h.
    let state = unsafe {
        Generic {
            whole: f.get(symbol(name))?,
            init: f.part(name, "init")?,
            update: f.part(name, "update")?,
            finish: f.part(name, "final")?,
            parts: Aligned::zeroed(f.length("crypto_generichash_statebytes")?),
            len: request.algorithm.tag_len,
            key: request.key.to_vec(),
        }
    };
    // All of the message goes through the state's buffer, block by block.
    Ok(Table::new(state, raw::COPIES, name).parts().raw())
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
    match (request.algorithm.mode, request.algorithm.cipher) {
        (Mode::Hmac, Primitive::Sha256) => hmac(
            request,
            "crypto_auth_hmacsha256",
            in_turn!("crypto_auth_hmacsha256_": "update", "final"),
        ),
        (Mode::Hmac, Primitive::Sha512) => hmac(
            request,
            "crypto_auth_hmacsha512",
            in_turn!("crypto_auth_hmacsha512_": "update", "final"),
        ),
        (Mode::OneTimeMac, Primitive::Poly1305) => poly1305(request),
        (Mode::Keyed, Primitive::SipHash24) => siphash(request),
        (Mode::Keyed, Primitive::Blake2b) => generic(request),
        _ => Err(absent(request.algorithm)),
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
    request: &Request<'_>,
    prefix: &str,
    ([update, finish], call): ([&str; 2], &'static CStr),
) -> Result<raw::Session, OpenError> {
    let (f, key) = (request.library, request.key);
    let state_len = f.length(&format!("{prefix}_statebytes"))?;
    let [mut keyed, state] = [(); 2].map(|()| Aligned::zeroed(state_len));
    // SAFETY: the types are those of crypto_auth_hmac*.h; the state has the size that the library asks for, the key covers
    // its length.
    let state = unsafe {
        let init: KeyedInitFn = f.get(&format!("{prefix}_init"))?;
        if init(keyed.as_mut_ptr(), key.as_ptr(), key.len()) != 0 {
            return Err(OpenError::Failed(format!("{prefix}_init failed")));
        }
        Hmac { update: f.get(update)?, finish: f.get(finish)?, keyed, state, state_len }
    };
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

/// A one-time key is used for one message: there is no schedule to be kept.
fn poly1305(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (f, name) = (request.library, c"crypto_onetimeauth");
    let [key, of_parts] = [(); 2].map(|()| Aligned::copied(request.key));
    // SAFETY: the types are those of crypto_onetimeauth.h; what `InParts` hands on keeps the header's rules.
    unsafe {
        let whole: AuthFn = f.get(symbol(name))?;
        let (init, finish): (AuthInitFn, FinalFn) = (f.part(name, "init")?, f.part(name, "final")?);
        in_parts(
            request,
            name,
            move |m| whole(m.tag, m.input, m.len as u64, key.as_ptr()),
            move |state| init(state, of_parts.as_ptr()),
            move |state, tag| finish(state, tag),
        )
    }
}

/// One call for a message is all that there is.
fn siphash(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let call = c"crypto_shorthash";
    let key: [u8; 16] = request.key.try_into().expect("SipHash has keys of 16 bytes");
    // SAFETY: the type is that of crypto_shorthash.h.
    let hash: AuthFn = unsafe { request.library.get(symbol(call))? };
    Ok(whole(0, call, move |m| {
        // SAFETY: the message keeps the header's rules.
        outcome(unsafe { hash(m.tag, m.input, m.len as u64, key.as_ptr()) })
    }))
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

struct Functions(SharedObject);

impl Functions {
    /// A function by its name.
    ///
    /// # Safety
    /// `F` must be the type that `sodium.h` gives the symbol.
    unsafe fn get<F: Copy>(&self, symbol: &str) -> Result<F, OpenError> {
        // SAFETY: the caller vouches for the type.
        Ok(unsafe { self.0.exported(symbol)? })
    }

    /// The function of a digest or MAC for parts of messages: its name is the one for whole messages, and what it does.
    ///
    /// # Safety
    /// As [`Functions::get`].
    unsafe fn part<F: Copy>(&self, name: &'static CStr, what: &str) -> Result<F, OpenError> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.get(&format!("{}_{what}", symbol(name))) }
    }

    /// What a function without arguments says of a length: `*_statebytes`, `*_abytes`.
    fn length(&self, symbol: &str) -> Result<usize, OpenError> {
        // SAFETY: every function of such a name takes nothing and returns a size_t.
        Ok(unsafe { self.0.asked(symbol)? })
    }

    /// What a function without arguments answers: `*_is_available`.
    fn ask(&self, symbol: &str) -> Result<bool, OpenError> {
        // SAFETY: every function of such a name takes nothing and returns an int.
        Ok(unsafe { self.0.asked::<c_int>(symbol)? } == 1)
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
