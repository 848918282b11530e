//! GnuTLS through the functions of its crypto.h: ciphers, AEADs, digests, MACs, derivations, random bytes.
//! `gnutls/README.md` says which functions, and why.

use crate::derivation::{self, Derive};
use crate::family::{self, Attached, Family, In, Out, calls, operations, steps};
use crate::random;
use crate::rc4::{self, Keyed};
use base::model::{Algorithm, Kind, Mode, Primitive, RANDOM_NONCE};
use contract::loader::SharedObject;
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

/// Attaches a GnuTLS of version 3.6 on.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let f = Functions::of(&object)?;
    // SAFETY: gnutls.h: with NULL it gives the version, a string of its own. The mode takes nothing.
    let (version, fips) = unsafe {
        let version = (f.gnutls_check_version)(ptr::null());
        let version = (!version.is_null()).then(|| CStr::from_ptr(version).to_string_lossy());
        (version.unwrap_or_default().into_owned(), (f.gnutls_fips140_mode_enabled)())
    };
    family::library(
        name,
        "gnutls",
        &version,
        vec![format!("FIPS 140 mode: {fips}")],
        Gnutls(f, object),
    )
}

struct Gnutls(Functions, SharedObject);

type Request<'a> = family::Request<'a, Gnutls>;

/// `gnutls_cipher_hd_t` and its like.
type Handle = *mut c_void;

/// `gnutls_datum_t`
#[repr(C)]
struct Datum {
    data: In,
    size: c_uint,
}

impl Datum {
    fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), size: Derive::len(bytes.len()) }
    }
}

functions! {
    /// gnutls.h and crypto.h.
    struct Functions {
        gnutls_check_version: fn(*const c_char) -> *const c_char;
        gnutls_fips140_mode_enabled: fn() -> c_uint;
        /// 0 is none of them.
        gnutls_cipher_get_id: fn(*const c_char) -> c_int;
        gnutls_digest_get_id: fn(*const c_char) -> c_int;
        gnutls_mac_get_id: fn(*const c_char) -> c_int;
        gnutls_cipher_get_iv_size: fn(c_int) -> c_uint;
        gnutls_hash_get_len: fn(c_int) -> c_uint;
        gnutls_hmac_get_len: fn(c_int) -> c_uint;
        /// Handle, cipher, key, IV.
        gnutls_cipher_init: fn(*mut Handle, c_int, *const Datum, *const Datum) -> c_int;
        gnutls_cipher_set_iv: fn(Handle, In, usize);
        gnutls_cipher_add_auth: fn(Handle, In, usize) -> c_int;
        gnutls_cipher_encrypt2: fn(Handle, In, usize, Out, usize) -> c_int;
        gnutls_cipher_decrypt2: fn(Handle, In, usize, Out, usize) -> c_int;
        gnutls_cipher_tag: fn(Handle, Out, usize) -> c_int;
        gnutls_cipher_deinit: fn(Handle);
        /// Handle, cipher, key.
        gnutls_aead_cipher_init: fn(*mut Handle, c_int, *const Datum) -> c_int;
        /// Handle, nonce, associated data, length of the tag, input, output and its room, then its length.
        gnutls_aead_cipher_encrypt: fn(
            Handle, In, usize, In, usize, usize, In, usize, Out, *mut usize
        ) -> c_int;
        gnutls_aead_cipher_decrypt: fn(
            Handle, In, usize, In, usize, usize, In, usize, Out, *mut usize
        ) -> c_int;
        gnutls_aead_cipher_deinit: fn(Handle);
        gnutls_hash_init: fn(*mut Handle, c_int) -> c_int;
        gnutls_hash: fn(Handle, In, usize) -> c_int;
        gnutls_hash_output: fn(Handle, Out);
        gnutls_hash_deinit: fn(Handle, Out);
        /// Handle, MAC, key.
        gnutls_hmac_init: fn(*mut Handle, c_int, In, usize) -> c_int;
        gnutls_hmac_set_nonce: fn(Handle, In, usize);
        gnutls_hmac: fn(Handle, In, usize) -> c_int;
        gnutls_hmac_output: fn(Handle, Out);
        gnutls_hmac_deinit: fn(Handle, Out);
        /// 0 where they are equal, in constant time.
        gnutls_memcmp: fn(In, In, usize) -> c_int;
        /// Level, output.
        gnutls_rnd: fn(c_int, Out, usize) -> c_int;
    }
}

functions! {
    /// crypto.h, since 3.6.13.
    struct DerivationFunctions {
        /// MAC, key, salt, iterations, output.
        gnutls_pbkdf2: fn(c_int, *const Datum, *const Datum, c_uint, Out, usize) -> c_int;
        /// MAC, key, salt, output.
        gnutls_hkdf_extract: fn(c_int, *const Datum, *const Datum, Out) -> c_int;
        /// MAC, key, info, output.
        gnutls_hkdf_expand: fn(c_int, *const Datum, *const Datum, Out, usize) -> c_int;
    }
}

/// `GNUTLS_E_DECRYPTION_FAILED`
const DECRYPTION_FAILED: c_int = -24;
/// `gnutls_rnd_level_t`: for nonces; for all else but long-term keys.
const RND_NONCE: c_int = 0;
const RND_RANDOM: c_int = 1;

// SAFETY: what follows keeps gnutls.h's and crypto.h's rules for what is opened.
unsafe impl Family for Gnutls {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        match (request.algorithm.mode, request.algorithm.kind) {
            (Mode::Ccm | Mode::Siv, _) => open_whole_aead(request),
            (_, Kind::Cipher | Kind::Aead) if request.algorithm.cipher == Primitive::Rc4 => {
                open_arcfour(request)
            }
            (_, Kind::Cipher | Kind::Aead) => open_cipher(request),
            (Mode::None, Kind::Digest) => open_digest(request),
            (Mode::Hmac | Mode::Cmac | Mode::Gmac, _) => open_mac(request),
            (_, Kind::Derivation) => open_derivation(request),
            (_, Kind::Random) => Ok(open_random(request)),
            _ => Err(request.none()),
        }
    }
}

impl Request<'_> {
    fn none(&self) -> OpenError {
        self.absent(&format!("GnuTLS {}", self.version))
    }

    /// The cipher's name in the library, which is ciphermark's in capitals but for these.
    fn cipher(&self) -> Result<c_int, OpenError> {
        let Algorithm { cipher, mode, name, .. } = *self.algorithm;
        let name = match (cipher, mode) {
            (Primitive::TripleDes, Mode::Cbc) => "3DES-CBC".to_owned(),
            (Primitive::ChaCha20, Mode::Stream) => "CHACHA20-32".to_owned(),
            (Primitive::Rc4, _) => "ARCFOUR-128".to_owned(),
            (Primitive::Aes, Mode::Ccm) => name.to_uppercase().replace("CCM8", "CCM-8"),
            _ => name.to_uppercase(),
        };
        self.id(self.library.0.gnutls_cipher_get_id, &name)
    }

    /// A digest's name, also where it is in an HMAC.
    fn digest_name(&self) -> Result<&'static str, OpenError> {
        Ok(match self.algorithm.cipher {
            Primitive::Md5 => "MD5",
            Primitive::Sha1 => "SHA1",
            Primitive::Sha224 => "SHA224",
            Primitive::Sha256 => "SHA256",
            Primitive::Sha384 => "SHA384",
            Primitive::Sha512 => "SHA512",
            Primitive::Sha3_224 => "SHA3-224",
            Primitive::Sha3_256 => "SHA3-256",
            Primitive::Sha3_384 => "SHA3-384",
            Primitive::Sha3_512 => "SHA3-512",
            Primitive::Streebog256 => "STREEBOG-256",
            Primitive::Streebog512 => "STREEBOG-512",
            _ => return Err(self.none()),
        })
    }

    /// What the library knows under a name.
    fn id(
        &self,
        find: unsafe extern "C" fn(*const c_char) -> c_int,
        name: &str,
    ) -> Result<c_int, OpenError> {
        let name = CString::new(name).expect("names have no NUL");
        // SAFETY: a NUL-terminated name.
        match unsafe { find(name.as_ptr()) } {
            0 => Err(self.none()),
            id => Ok(id),
        }
    }

    /// What `init` makes: the library names what it was built without, and refuses it here.
    fn made(&self, init: impl FnOnce(*mut Handle) -> c_int) -> Result<Handle, OpenError> {
        let mut handle = ptr::null_mut();
        if init(&raw mut handle) == 0 { Ok(handle) } else { Err(self.none()) }
    }
}

/// The library's code as the interface's: errors are negative.
#[inline]
fn outcome(code: c_int) -> i32 {
    if code <= 0 { code } else { raw::FAILED }
}

// Ciphers, and AEADs that take a message in steps.

struct Cipher {
    handle: Handle,
    f: Functions,
    crypt: unsafe extern "C" fn(Handle, In, usize, Out, usize) -> c_int,
    /// ChaCha20's begins with the block counter, which stays 0.
    iv: [u8; 16],
    nonce_len: usize,
    iv_len: usize,
    tag_len: usize,
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: made by `open_cipher`, freed once.
        unsafe { (self.f.gnutls_cipher_deinit)(self.handle) }
    }
}

fn open_cipher(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (f, id, key) = (request.library.0, request.cipher()?, Datum::of(request.key));
    let Algorithm { nonce_len, tag_len, .. } = *request.algorithm;
    // SAFETY: a cipher that it knows; the key covers its length, and an IV comes with each message.
    let handle =
        request.made(|h| unsafe { (f.gnutls_cipher_init)(h, id, &raw const key, ptr::null()) })?;
    // SAFETY: takes a number.
    let iv_len = match (request.algorithm.mode, unsafe { (f.gnutls_cipher_get_iv_size)(id) }) {
        // An AEAD's is what its nonce fills.
        (Mode::Gcm | Mode::Poly1305, _) => nonce_len,
        (_, len) => len as usize,
    };
    let crypt =
        if request.decrypts() { f.gnutls_cipher_decrypt2 } else { f.gnutls_cipher_encrypt2 };
    let state = Cipher { handle, f, crypt, iv: [0; 16], nonce_len, iv_len, tag_len };
    if iv_len < nonce_len || iv_len > state.iv.len() {
        return Err(request.none());
    }
    let words = match (tag_len, request.decrypts()) {
        (0, false) => c"gnutls_cipher_set_iv, gnutls_cipher_encrypt2",
        (0, true) => c"gnutls_cipher_set_iv, gnutls_cipher_decrypt2",
        (_, false) => {
            c"gnutls_cipher_set_iv, gnutls_cipher_add_auth, gnutls_cipher_encrypt2, gnutls_cipher_tag"
        }
        (_, true) => {
            c"gnutls_cipher_set_iv, gnutls_cipher_add_auth, gnutls_cipher_decrypt2, gnutls_cipher_tag, gnutls_memcmp"
        }
    };
    let decrypts = request.decrypts() && tag_len > 0;
    // ChaCha20's parts are whole blocks of 64 bytes but for the last, which is not what a stream promises.
    let streams = request.algorithm.cipher != Primitive::ChaCha20;
    Ok(Table::new(state, raw::IN_PLACE, words).decrypts(decrypts).streams_if(streams).raw())
}

steps! { impl for Cipher;
    fn set_iv(&mut self, nonce: In) {
        let at = self.iv_len - self.nonce_len;
        nonce.copy_to_nonoverlapping(self.iv.as_mut_ptr().add(at), self.nonce_len);
        (self.f.gnutls_cipher_set_iv)(self.handle, self.iv.as_ptr(), self.iv_len);
    }

    /// All but the tag.
    fn begin_and_crypt(&mut self, m: &raw::Message) -> c_int {
        self.set_iv(m.nonce);
        if m.aad_len > 0 {
            let code = (self.f.gnutls_cipher_add_auth)(self.handle, m.aad, m.aad_len);
            if code != 0 {
                return code;
            }
        }
        self.crypt(m.input, m.output, m.len)
    }

    /// An empty message has nothing to hand over.
    fn crypt(&mut self, input: In, output: Out, len: usize) -> c_int {
        if len == 0 { 0 } else { (self.crypt)(self.handle, input, len, output, len) }
    }
}

operations! { impl for Cipher;
    fn message(&mut self, m) {
        let code = self.begin_and_crypt(m);
        if code != 0 || self.tag_len == 0 {
            return outcome(code);
        }
        calls!((self.f.gnutls_cipher_tag)(self.handle, m.tag, self.tag_len))
    }

    fn decrypt(&mut self, m) {
        let (mut tag, len) = ([0_u8; 16], self.tag_len);
        calls!(
            self.begin_and_crypt(m),
            (self.f.gnutls_cipher_tag)(self.handle, tag.as_mut_ptr(), len),
        );
        match (self.f.gnutls_memcmp)(tag.as_ptr(), m.tag, len) {
            0 => raw::OK,
            _ => raw::REJECTED,
        }
    }

    fn start(&mut self, nonce) {
        self.set_iv(nonce);
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        outcome(self.crypt(input, output, len))
    }
}

// CCM and SIV, which the library takes whole, with the tag behind (SIV: before) the ciphertext.

struct WholeAead {
    handle: Handle,
    f: Functions,
    nonce_len: usize,
    tag_len: usize,
    /// SIV's tag stands first.
    tag_first: bool,
    /// Ciphertext and tag. Grows with the first message of a size, which is a warm-up's.
    joined: Vec<u8>,
}

impl Drop for WholeAead {
    fn drop(&mut self) {
        // SAFETY: made by `open_whole_aead`, freed once.
        unsafe { (self.f.gnutls_aead_cipher_deinit)(self.handle) }
    }
}

fn open_whole_aead(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (f, id, key) = (request.library.0, request.cipher()?, Datum::of(request.key));
    // SAFETY: a cipher that it knows; the key covers its length.
    let handle = request.made(|h| unsafe { (f.gnutls_aead_cipher_init)(h, id, &raw const key) })?;
    let Algorithm { nonce_len, tag_len, mode, .. } = *request.algorithm;
    let (tag_first, joined) = (mode == Mode::Siv, Vec::new());
    let state = WholeAead { handle, f, nonce_len, tag_len, tag_first, joined };
    let words = match request.decrypts() {
        false => c"gnutls_aead_cipher_encrypt, memcpy",
        true => c"memcpy, gnutls_aead_cipher_decrypt",
    };
    let table = Table::new(state, raw::IN_PLACE | raw::COPIES, words);
    Ok(table.decrypts(request.decrypts()).raw())
}

steps! { impl for WholeAead;
    /// Where tag and ciphertext of so many bytes lie.
    fn parts(&mut self, len: usize) -> (Out, Out) {
        let whole = len + self.tag_len;
        if self.joined.len() < whole {
            self.joined.resize(whole, 0);
        }
        let at = self.joined.as_mut_ptr();
        if self.tag_first { (at, at.add(self.tag_len)) } else { (at.add(len), at) }
    }
}

operations! { impl for WholeAead;
    fn message(&mut self, m) {
        let (tag, text) = self.parts(m.len);
        let (seal, at, mut whole) =
            (self.f.gnutls_aead_cipher_encrypt, self.joined.as_mut_ptr(), m.len + self.tag_len);
        let code = seal(
            self.handle, m.nonce, self.nonce_len, m.aad, m.aad_len, self.tag_len, m.input, m.len, at, &raw mut whole,
        );
        if code != 0 {
            return outcome(code);
        }
        ptr::copy_nonoverlapping(tag, m.tag, self.tag_len);
        ptr::copy_nonoverlapping(text, m.output, m.len);
        raw::OK
    }

    fn decrypt(&mut self, m) {
        let (tag, text) = self.parts(m.len);
        ptr::copy_nonoverlapping(m.tag, tag, self.tag_len);
        ptr::copy_nonoverlapping(m.input, text, m.len);
        let (open, at, whole, mut len) =
            (self.f.gnutls_aead_cipher_decrypt, self.joined.as_ptr(), m.len + self.tag_len, m.len);
        let code = open(
            self.handle, m.nonce, self.nonce_len, m.aad, m.aad_len, self.tag_len, at, whole, m.output, &raw mut len,
        );
        if code == DECRYPTION_FAILED { raw::REJECTED } else { outcome(code) }
    }
}

// RC4: only a new handle sets the key.

struct Arcfour {
    handle: Option<Handle>,
    f: Functions,
    id: c_int,
    key_len: c_uint,
}

impl Drop for Arcfour {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            // SAFETY: made by `schedule`, freed once.
            unsafe { (self.f.gnutls_cipher_deinit)(handle) }
        }
    }
}

fn open_arcfour(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (f, id) = (request.library.0, request.cipher()?);
    let state = || Arcfour { handle: None, f, id, key_len: request.key_len() };
    let mut states = [state(), state()];
    for state in &mut states {
        // SAFETY: the key has the algorithm's length.
        if unsafe { state.schedule(request.key.as_ptr()) } != raw::OK {
            return Err(request.none());
        }
    }
    let call = c"gnutls_cipher_deinit, gnutls_cipher_init, gnutls_cipher_encrypt2";
    Ok(rc4::session(states, request.key, raw::ALLOCATES, call))
}

steps! { impl Keyed for Arcfour;
    fn schedule(&mut self, key: In) -> i32 {
        if let Some(handle) = self.handle.take() {
            (self.f.gnutls_cipher_deinit)(handle);
        }
        let (key, mut handle) = (Datum { data: key, size: self.key_len }, ptr::null_mut());
        calls!((self.f.gnutls_cipher_init)(&raw mut handle, self.id, &raw const key, ptr::null()));
        self.handle = Some(handle);
        raw::OK
    }

    fn advance(&mut self, input: In, output: Out, len: usize) -> i32 {
        match self.handle {
            Some(handle) if len > 0 => {
                outcome((self.f.gnutls_cipher_encrypt2)(handle, input, len, output, len))
            }
            _ => raw::OK,
        }
    }
}

// Digests and MACs. What gives the output makes the handle ready for the next message.

struct Digest {
    handle: Handle,
    nonce_len: usize,
    set_nonce: unsafe extern "C" fn(Handle, In, usize),
    update: unsafe extern "C" fn(Handle, In, usize) -> c_int,
    output: unsafe extern "C" fn(Handle, Out),
    free: unsafe extern "C" fn(Handle, Out),
    /// A stream was begun and not finished.
    open: bool,
}

impl Drop for Digest {
    fn drop(&mut self) {
        // SAFETY: made by its `init`, freed once; with NULL nothing is written.
        unsafe { (self.free)(self.handle, ptr::null_mut()) }
    }
}

fn open_digest(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = request.library.0;
    let id = request.id(f.gnutls_digest_get_id, request.digest_name()?)?;
    // SAFETY: takes a number.
    if unsafe { (f.gnutls_hash_get_len)(id) } as usize != request.algorithm.tag_len {
        return Err(request.none());
    }
    // SAFETY: a digest that it knows.
    let handle = request.made(|h| unsafe { (f.gnutls_hash_init)(h, id) })?;
    let state = Digest {
        handle,
        nonce_len: 0,
        set_nonce: f.gnutls_hmac_set_nonce,
        update: f.gnutls_hash,
        output: f.gnutls_hash_output,
        free: f.gnutls_hash_deinit,
        open: false,
    };
    Ok(Table::new(state, raw::IN_PLACE, c"gnutls_hash, gnutls_hash_output").parts().raw())
}

fn open_mac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (f, bits) = (request.library.0, request.key.len() * 8);
    let Algorithm { cipher, mode, nonce_len, tag_len, .. } = *request.algorithm;
    let name = match (mode, cipher) {
        (Mode::Hmac, _) => request.digest_name()?.to_owned(),
        (Mode::Cmac, Primitive::Aes) => format!("AES-CMAC-{bits}"),
        (Mode::Gmac, Primitive::Aes) => format!("AES-GMAC-{bits}"),
        _ => return Err(request.none()),
    };
    let id = request.id(f.gnutls_mac_get_id, &name)?;
    // SAFETY: takes a number.
    if unsafe { (f.gnutls_hmac_get_len)(id) } as usize != tag_len {
        return Err(request.none());
    }
    let (key, len) = (request.key.as_ptr(), request.key.len());
    // SAFETY: a MAC that it knows; the key covers its length.
    let handle = request.made(|h| unsafe { (f.gnutls_hmac_init)(h, id, key, len) })?;
    let state = Digest {
        handle,
        nonce_len,
        set_nonce: f.gnutls_hmac_set_nonce,
        update: f.gnutls_hmac,
        output: f.gnutls_hmac_output,
        free: f.gnutls_hmac_deinit,
        open: false,
    };
    let words = match nonce_len {
        0 => c"gnutls_hmac, gnutls_hmac_output",
        _ => c"gnutls_hmac_set_nonce, gnutls_hmac, gnutls_hmac_output",
    };
    // A GMAC's parts are whole blocks but for the last, and a part does not know whether it is the last.
    Ok(Table::new(state, raw::IN_PLACE, words).parts_if(nonce_len == 0).raw())
}

operations! { impl for Digest;
    fn message(&mut self, m) {
        if self.nonce_len > 0 {
            (self.set_nonce)(self.handle, m.nonce, self.nonce_len);
        }
        calls!((self.update)(self.handle, m.input, m.len));
        (self.output)(self.handle, m.tag);
        raw::OK
    }

    fn start(&mut self, _nonce) {
        if self.open {
            let mut rest = [0; 64];
            (self.output)(self.handle, rest.as_mut_ptr());
        }
        self.open = true;
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        calls!((self.update)(self.handle, input, len))
    }

    fn finish(&mut self, tag) {
        (self.output)(self.handle, tag);
        self.open = false;
        raw::OK
    }
}

// Derivations and random bytes.

fn open_derivation(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (find, mode) = (request.library.0.gnutls_mac_get_id, request.algorithm.mode);
    if !matches!(mode, Mode::Pbkdf2 | Mode::Hkdf) {
        return Err(request.none());
    }
    let mac = request.id(find, request.digest_name()?)?;
    let f = DerivationFunctions::of(&request.library.1)?;
    if mode == Mode::Pbkdf2 {
        return Ok(derivation::session(request, c"gnutls_pbkdf2", move |d: &Derive<'_>| {
            let Some(cost) = d.cost() else { return raw::FAILED };
            let (key, salt) =
                (Datum::of(d.key), Datum { data: d.salt, size: Derive::len(d.salt_len) });
            let (key, salt) = (&raw const key, &raw const salt);
            // SAFETY: every pointer covers the length beside it.
            outcome(unsafe { (f.gnutls_pbkdf2)(mac, key, salt, cost, d.out, d.out_len) })
        }));
    }
    let call = c"gnutls_hkdf_extract, gnutls_hkdf_expand";
    // SAFETY: takes a number.
    let len = unsafe { (request.library.0.gnutls_hmac_get_len)(mac) };
    Ok(derivation::session(request, call, move |d: &Derive<'_>| {
        let Some(info_len) = d.cost() else { return raw::FAILED };
        let mut extracted = [0_u8; 64];
        let extracted = extracted.as_mut_ptr();
        let (key, middle) = (Datum::of(d.key), Datum { data: extracted, size: len });
        let salt = Datum { data: d.salt, size: Derive::len(d.salt_len) };
        let info = Datum { data: d.info, size: info_len };
        // SAFETY: every pointer covers the length beside it, and no MAC has more than 64 bytes.
        unsafe {
            calls!(
                (f.gnutls_hkdf_extract)(mac, &raw const key, &raw const salt, extracted),
                (f.gnutls_hkdf_expand)(mac, &raw const middle, &raw const info, d.out, d.out_len),
            )
        }
    }))
}

fn open_random(request: &Request<'_>) -> raw::Session {
    let draw = request.library.0.gnutls_rnd;
    let level = if request.algorithm.name == RANDOM_NONCE { RND_NONCE } else { RND_RANDOM };
    // SAFETY: the output covers its length.
    random::session(c"gnutls_rnd", move |out, len| outcome(unsafe { draw(level, out, len) }))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Family, Names, UNKNOWN, families};

    pub(super) const GNUTLS: Family = Family {
        variable: "CIPHERMARK_TEST_GNUTLS",
        system: "libgnutls.so.30",
        package: Some("libgnutls30"),
        name: "gnutls",
        version: "3.",
        facts: &["FIPS 140 mode: "],
        has: "aes-192-cbc des-ede3-cbc camellia-256-cbc aes-128-cfb8 aes-256-xts aes-128-gcm camellia-256-gcm aes-256-ccm \
            aes-128-ccm8 aes-128-siv chacha20 chacha20-poly1305 rc4 md5 sha1 sha3-224 streebog-512 hmac-sha384 \
            aes-128-cmac aes-192-gmac pbkdf2-sha256 hkdf-sha512",
        has_not: "aes-128-ctr aes-128-ecb aes-128-ocb salsa20 poly1305 blake2b512 aes-128-kw scrypt",
        // gnutls/README.md, "Not offered": its generator does not notice every fork.
        fault: |name, finding, _| name.starts_with("random") && finding.contains("forks: "),
        streams: Names::These("aes-128-cbc aes-256-xts"),
        ..UNKNOWN
    };

    families! { gnutls: GNUTLS }
}
