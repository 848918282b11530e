//! GNU Nettle through its public C functions: attaching it, what is used of its headers, digests and MACs. `README.md` beside this file says which functions, and why.

mod derivation;
mod general;
mod modes;
mod steps;

use crate::family::{self, Aligned, Attached, Family, In, Out, operations, steps};
use base::model::{Kind, Mode, Primitive};
use contract::loader::SharedObject;
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// Attaches a Nettle of any version from 3.0 on.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    // SAFETY: version.h: both take nothing and give a number.
    let [major, minor]: [c_int; 2] =
        unsafe { [object.asked("nettle_version_major")?, object.asked("nettle_version_minor")?] };
    let version = format!("{major}.{minor}");
    family::library(name, "nettle", &version, Vec::new(), Nettle { object, major })
}

struct Nettle {
    object: SharedObject,
    major: c_int,
}

type Request<'a> = family::Request<'a, Nettle>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Nettle {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let version = request.version;
        open(request).ok_or_else(|| match request.algorithm.mode {
            Mode::OneTimeMac => OpenError::Unsupported(format!(
                "Nettle {version} exports Poly1305 only as Poly1305-AES, not under a one-time key ({})",
                request.algorithm
            )),
            _ => request.absent(&format!("Nettle {version}")),
        })
    }
}

/// `None`: the library lacks one of the functions, or has no such algorithm.
fn open(request: &Request<'_>) -> Option<raw::Session> {
    match (request.algorithm.mode, request.algorithm.kind) {
        (Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Cfb8 | Mode::Ctr, _) => {
            modes::open_block(request)
        }
        (Mode::Xts, _) => modes::open_xts(request),
        (Mode::Stream, _) => modes::open_stream(request),
        (Mode::Gcm | Mode::Ccm | Mode::Ocb | Mode::Eax | Mode::Poly1305, _) => {
            steps::open_aead(request)
        }
        (Mode::Siv | Mode::GcmSiv, _) => modes::open_joined(request),
        (Mode::KeyWrap, _) => modes::open_wrap(request),
        (Mode::Hmac | Mode::Cmac, _) => open_digest(request).or_else(|| general::open_mac(request)),
        (_, Kind::Derivation) => derivation::open(request),
        (Mode::Gmac, _) | (Mode::None, Kind::Digest) => open_digest(request),
        _ => None,
    }
}

impl Request<'_> {
    /// A function of the library's.
    ///
    /// # Safety
    /// As [`SharedObject::function`].
    unsafe fn function<F: Copy>(&self, symbol: &str) -> Option<F> {
        // SAFETY: the caller's.
        unsafe { self.library.object.function(symbol) }
    }

    fn key_bits(&self) -> usize {
        let keys = if matches!(self.algorithm.mode, Mode::Xts | Mode::Siv) { 2 } else { 1 };
        self.algorithm.key_len / keys * 8
    }

    /// The library's word for the block cipher: `aes256`.
    fn cipher_name(&self) -> Option<String> {
        let bits = self.key_bits();
        Some(match self.algorithm.cipher {
            Primitive::Aes => format!("aes{bits}"),
            Primitive::Camellia => format!("camellia{bits}"),
            Primitive::Sm4 => "sm4".to_owned(),
            Primitive::Serpent => format!("serpent{bits}"),
            Primitive::Twofish => format!("twofish{bits}"),
            Primitive::Cast5 => "cast128".to_owned(),
            Primitive::Rc2 => format!("arctwo{bits}"),
            _ => return None,
        })
    }

    fn cipher(&self) -> Option<&'static CipherMeta> {
        let cipher: &CipherMeta =
            meta(&self.library.object, &format!("nettle_{}", self.cipher_name()?))?;
        (cipher.key_size as usize * 8 == self.key_bits()).then_some(cipher)
    }
}

fn schedule(cipher: &CipherMeta, set_key: SetFn, key: &[u8]) -> Aligned {
    assert!(key.len() >= cipher.key_size as usize, "the key is the cipher's");
    let mut context = Aligned::zeroed(cipher.context_size as usize);
    // SAFETY: the context has the size that the library says, the key as well.
    unsafe { set_key(context.as_mut_ptr(), key.as_ptr()) };
    context
}

/// Zeroed memory for a struct whose size only the headers tell, and which differs from version to
/// version: four times the largest one that is used (`struct gcm_key` of Nettle 3, 4096 bytes).
fn plenty() -> Aligned {
    Aligned::zeroed(16 << 10)
}

// Digests, HMAC, CMAC, and GMAC, which is GCM's `update` without a message.

/// What a stream begins with. A digest is ready again after each message, with its key.
#[derive(Clone, Copy)]
enum Begin {
    /// Digests: `init`.
    Init(InitFn),
    /// HMAC and CMAC: nothing sets it back but a finished message.
    Finish,
    /// GMAC: the nonce.
    Nonce(SetFn),
}

struct DigestState {
    context: Aligned,
    begin: Begin,
    update: UpdateFn,
    digest: DigestFn,
    tag_len: usize,
    /// A stream was begun and not finished.
    open: bool,
}

impl DigestState {
    fn new(
        request: &Request<'_>,
        context: Aligned,
        begin: Begin,
        update: UpdateFn,
        digest: DigestFn,
    ) -> Self {
        Self { context, begin, update, digest, tag_len: request.algorithm.tag_len, open: false }
    }
}

fn open_digest(request: &Request<'_>) -> Option<raw::Session> {
    let (state, words) = match request.algorithm.mode {
        Mode::Gmac => gmac(request)?,
        Mode::Hmac => mac(request, "hmac", hash_name(request.algorithm.cipher)?)?,
        Mode::Cmac => mac(request, "cmac", &cmac_name(request)?)?,
        _ => shake(request).or_else(|| hash(request))?,
    };
    // GCM takes associated data in whole blocks but for the last part, and a part does not know
    // whether it is the last: there are no parts of a GMAC.
    let parts = !matches!(state.begin, Begin::Nonce(_));
    Some(Table::new(state, raw::IN_PLACE, words).parts_if(parts).raw())
}

fn hash_name(primitive: Primitive) -> Option<&'static str> {
    Some(match primitive {
        Primitive::Md4 => "md4",
        Primitive::Md5 => "md5",
        Primitive::Sha1 => "sha1",
        Primitive::Sha224 => "sha224",
        Primitive::Sha256 => "sha256",
        Primitive::Sha384 => "sha384",
        Primitive::Sha512 => "sha512",
        Primitive::Sha512_224 => "sha512_224",
        Primitive::Sha512_256 => "sha512_256",
        Primitive::Sha3_224 => "sha3_224",
        Primitive::Sha3_256 => "sha3_256",
        Primitive::Sha3_384 => "sha3_384",
        Primitive::Sha3_512 => "sha3_512",
        Primitive::Sm3 => "sm3",
        Primitive::Ripemd160 => "ripemd160",
        Primitive::Streebog256 => "streebog256",
        Primitive::Streebog512 => "streebog512",
        _ => return None,
    })
}

fn hash(request: &Request<'_>) -> Option<(DigestState, &'static CStr)> {
    let name = hash_name(request.algorithm.cipher)?;
    let hash: &HashMeta = meta(&request.library.object, &format!("nettle_{name}"))?;
    if hash.digest_size as usize != request.algorithm.tag_len {
        return None;
    }
    let mut context = Aligned::zeroed(hash.context_size as usize);
    // SAFETY: the context has the size that the library says; the digest function is of the
    // version that was asked for.
    let digest = unsafe {
        (hash.init)(context.as_mut_ptr());
        DigestFn::new(hash.digest, request.library.major)
    };
    let begin = Begin::Init(hash.init);
    let state = DigestState::new(request, context, begin, hash.update, digest);
    Some((state, c"nettle_hash.update, nettle_hash.digest"))
}

/// SHAKE is SHA-3's functions with another end. The library has no description of it.
fn shake(request: &Request<'_>) -> Option<(DigestState, &'static CStr)> {
    let (bits, words) = match request.algorithm.cipher {
        Primitive::Shake128 => (128, c"nettle_sha3_128_update, nettle_sha3_128_shake"),
        Primitive::Shake256 => (256, c"nettle_sha3_256_update, nettle_sha3_256_shake"),
        _ => return None,
    };
    let name = |function: &str| format!("nettle_sha3_{bits}_{function}");
    // SAFETY: sha3.h; since Nettle 4 there is one `sha3_init` for all.
    let (init, update, shake) = unsafe {
        (
            request
                .function::<InitFn>(&name("init"))
                .or_else(|| request.function::<InitFn>("nettle_sha3_init"))?,
            request.function(&name("update"))?,
            request.function(&name("shake"))?,
        )
    };
    // The largest of the structs, `struct sha3_128_ctx`, has 376 bytes.
    let mut context = plenty();
    // SAFETY: the context has room.
    unsafe { init(context.as_mut_ptr()) };
    // Its length is that of the output, in every version.
    let digest = DigestFn::Part(shake);
    let state = DigestState::new(request, context, Begin::Init(init), update, digest);
    Some((state, words))
}

/// The library's word for the block cipher that it has a CMAC with.
fn cmac_name(request: &Request<'_>) -> Option<String> {
    match request.algorithm.cipher {
        Primitive::TripleDes => Some("des3".to_owned()),
        _ => request.cipher_name(),
    }
}

/// A MAC that the library describes: `hmac` with a digest, `cmac` with a block cipher.
fn mac(request: &Request<'_>, kind: &str, name: &str) -> Option<(DigestState, &'static CStr)> {
    let mac: &MacMeta = meta(&request.library.object, &format!("nettle_{kind}_{name}"))?;
    let tag_len = request.algorithm.tag_len;
    if [mac.digest_size as usize, mac.key_size as usize] != [tag_len, request.key.len()] {
        return None;
    }
    let mut context = Aligned::zeroed(mac.context_size as usize);
    // SAFETY: as in `hash`; the key has the size that the library says.
    let digest = unsafe {
        (mac.set_key)(context.as_mut_ptr(), request.key.as_ptr());
        DigestFn::new(mac.digest, request.library.major)
    };
    let state = DigestState::new(request, context, Begin::Finish, mac.update, digest);
    Some((state, c"nettle_mac.update, nettle_mac.digest"))
}

fn gmac(request: &Request<'_>) -> Option<(DigestState, &'static CStr)> {
    let aead: &AeadMeta =
        meta(&request.library.object, &format!("nettle_gcm_{}", request.cipher_name()?))?;
    let algorithm = request.algorithm;
    let lens = [aead.key_size, aead.nonce_size, aead.digest_size].map(|n| n as usize);
    if lens != [algorithm.key_len, algorithm.nonce_len, algorithm.tag_len] {
        return None;
    }
    let mut context = Aligned::zeroed(aead.context_size as usize);
    // SAFETY: as in `mac`.
    let digest = unsafe {
        (aead.set_encrypt_key)(context.as_mut_ptr(), request.key.as_ptr());
        DigestFn::new(aead.digest, request.library.major)
    };
    let begin = Begin::Nonce(aead.set_nonce);
    let state = DigestState::new(request, context, begin, aead.update, digest);
    Some((state, c"nettle_aead.set_nonce, nettle_aead.update, nettle_aead.digest"))
}

operations! { impl for DigestState;
    fn message(&mut self, m) {
        if self.open {
            self.set_back();
        }
        let context = self.context.as_mut_ptr();
        if let Begin::Nonce(set) = self.begin {
            set(context, m.nonce);
        }
        (self.update)(context, m.len, m.input);
        self.digest.call(context, self.tag_len, m.tag);
        raw::OK
    }

    fn start(&mut self, _nonce) {
        if self.open {
            self.set_back();
        }
        self.open = true;
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        (self.update)(self.context.as_mut_ptr(), len, input);
        raw::OK
    }

    fn finish(&mut self, tag) {
        self.digest.call(self.context.as_mut_ptr(), self.tag_len, tag);
        self.open = false;
        raw::OK
    }
}

impl DigestState {
    fn set_back(&mut self) {
        let (context, mut tag) = (self.context.as_mut_ptr(), [0; 64]);
        // SAFETY: the context is the functions' own; no tag is longer than sixty-four bytes.
        unsafe {
            match self.begin {
                Begin::Init(init) => init(context),
                Begin::Finish => self.digest.call(context, self.tag_len, tag.as_mut_ptr()),
                // Each message begins with its nonce, and there are no parts.
                Begin::Nonce(_) => {}
            }
        }
        self.open = false;
    }
}

// What the adapter uses of Nettle's headers (`nettle-meta.h`, `nettle-types.h` and one for each
// mode). Lengths come before the bytes that they count, and nothing returns an error: what is not
// allowed is an assertion, which ends the process.

/// `nettle_set_key_func`, also the type of `set_nonce`: context, bytes.
type SetFn = unsafe extern "C" fn(*mut c_void, In);
/// `nettle_cipher_func`: context, length, destination, source; any number of blocks.
type CipherFn = unsafe extern "C" fn(*const c_void, usize, Out, In);
/// `nettle_crypt_func`: as [`CipherFn`], with a context that changes.
type CryptFn = unsafe extern "C" fn(*mut c_void, usize, Out, In);
/// `nettle_hash_init_func`
type InitFn = unsafe extern "C" fn(*mut c_void);
/// `nettle_hash_update_func`: context, length, bytes.
type UpdateFn = unsafe extern "C" fn(*mut c_void, usize, In);
/// `nettle_memeql_sec`: 1 when equal, in constant time.
type EqualFn = unsafe extern "C" fn(*const c_void, *const c_void, usize) -> c_int;
/// `nettle_cbc_encrypt` and its like: context, block function, size of a block, IV, length,
/// destination, source. The IV is kept up to date.
type ModeFn = unsafe extern "C" fn(*const c_void, CipherFn, usize, Out, usize, Out, In);

/// `struct nettle_cipher`
#[repr(C)]
struct CipherMeta {
    name: *const c_char,
    context_size: c_uint,
    block_size: c_uint,
    key_size: c_uint,
    set_encrypt_key: SetFn,
    set_decrypt_key: SetFn,
    encrypt: CipherFn,
    decrypt: CipherFn,
}

/// `struct nettle_hash`
#[repr(C)]
struct HashMeta {
    name: *const c_char,
    context_size: c_uint,
    digest_size: c_uint,
    block_size: c_uint,
    init: InitFn,
    update: UpdateFn,
    digest: *const c_void,
}

/// `struct nettle_mac`
#[repr(C)]
struct MacMeta {
    name: *const c_char,
    context_size: c_uint,
    digest_size: c_uint,
    key_size: c_uint,
    set_key: SetFn,
    update: UpdateFn,
    digest: *const c_void,
}

/// `struct nettle_aead`
#[repr(C)]
struct AeadMeta {
    name: *const c_char,
    context_size: c_uint,
    block_size: c_uint,
    key_size: c_uint,
    nonce_size: c_uint,
    digest_size: c_uint,
    set_encrypt_key: SetFn,
    set_decrypt_key: SetFn,
    set_nonce: SetFn,
    update: UpdateFn,
    encrypt: CryptFn,
    decrypt: CryptFn,
    digest: *const c_void,
}

/// `nettle_hash_digest_func`, which lost the length in Nettle 4: always the whole digest.
#[derive(Clone, Copy)]
enum DigestFn {
    /// Nettle 2 and 3: context, length, destination.
    Part(unsafe extern "C" fn(*mut c_void, usize, Out)),
    /// Nettle 4: context, destination.
    Whole(unsafe extern "C" fn(*mut c_void, Out)),
}

impl DigestFn {
    /// # Safety
    /// `function` is a `nettle_hash_digest_func` of a Nettle of that major version.
    unsafe fn new(function: *const c_void, major: c_int) -> Self {
        // SAFETY: the caller's; a function pointer is as large as a data pointer.
        unsafe {
            if major < 4 {
                Self::Part(std::mem::transmute::<
                    *const c_void,
                    unsafe extern "C" fn(*mut c_void, usize, Out),
                >(function))
            } else {
                Self::Whole(std::mem::transmute::<
                    *const c_void,
                    unsafe extern "C" fn(*mut c_void, Out),
                >(function))
            }
        }
    }
}

steps! { impl for DigestFn;
    /// `tag` has `len` bytes, which is the whole digest.
    fn call(self, context: *mut c_void, len: usize, tag: Out) {
        match self {
            Self::Part(digest) => digest(context, len, tag),
            Self::Whole(digest) => digest(context, tag),
        }
    }
}

/// A static struct of the library's; lives as long as it.
fn meta<T>(object: &SharedObject, name: &str) -> Option<&'static T> {
    // SAFETY: the symbol's address is that of a struct that is never changed nor unloaded; the
    // callers name symbols of the type.
    unsafe { object.function::<*const T>(name)?.as_ref() }
}

#[cfg(test)]
mod tests {
    use crate::testing::NETTLE;
    use base::model::{Algorithm, Direction};
    use contract::{OpenError, Outcome};
    use testing::trial::open;

    #[test]
    fn what_the_library_would_abort_on_is_an_error() {
        let library = NETTLE.library().unwrap();
        for (name, len) in [("aes-128-cbc", 17), ("aes-128-ecb", 8), ("aes-128-xts", 15)] {
            let mut session = open(&*library, name, Direction::Encrypt);
            let nonce = vec![0; session.algorithm().nonce_len];
            let outcome = session.message_in_place(&nonce, &[], &mut vec![0; len], &mut []);
            assert!(matches!(outcome, Outcome::Error(_)), "{name}: {outcome:?}");
        }
        let mut session = open(&*library, "aes-256-ctr", Direction::Encrypt);
        assert_eq!(session.start(&[0; 16]), Outcome::Done);
        assert_eq!(session.update_in_place(&mut [0; 17]), Outcome::Done);
        assert!(matches!(session.update_in_place(&mut [0; 16]), Outcome::Error(_)));
        for name in ["aes-128-gcm", "aes-256-eax"] {
            let mut session = open(&*library, name, Direction::Encrypt);
            assert_eq!(session.start(&vec![0; session.algorithm().nonce_len]), Outcome::Done);
            let outcome = session.update_in_place(&mut [0; 17]);
            assert!(matches!(outcome, Outcome::Error(_)), "{name}: {outcome:?}");
        }
    }

    #[test]
    fn sessions_say_what_they_call_and_which_of_them_copy() {
        let library = NETTLE.library().unwrap();
        let calls = |name, direction| open(&*library, name, direction).calls().unwrap();
        assert_eq!(calls("camellia-128-cbc", Direction::Encrypt), "nettle_cbc_encrypt");
        assert!(calls("aes-128-gcm", Direction::Decrypt).ends_with(", nettle_memeql_sec"));
        let siv = open(&*library, "aes-128-siv", Direction::Encrypt);
        assert!(siv.copies() && !siv.allocates());
        assert!(!open(&*library, "aes-256-ccm", Direction::Encrypt).copies());
    }

    #[test]
    fn raw_poly1305_is_unsupported_for_a_reason() {
        let poly1305 = Algorithm::find("poly1305").unwrap();
        let error =
            NETTLE.library().unwrap().open(poly1305, Direction::Digest, &[1; 32]).unwrap_err();
        assert!(matches!(error, OpenError::Unsupported(why) if why.contains("Poly1305-AES")));
    }
}
