//! The authenticated modes by their steps (nonce, associated data, message, tag), whose tag lies where the
//! caller wants it: GCM, CCM, OCB, EAX and ChaCha20-Poly1305.

use crate::family::{Aligned, In, Out, c_concat, operations, steps};
use crate::nettle::{
    AeadMeta, CipherFn, CipherMeta, CryptFn, DigestFn, EqualFn, Request, SetFn, UpdateFn, meta,
    plenty, schedule,
};
use base::model::{Mode, Primitive};
use contract::{Table, functions, raw};
use std::ffi::{CStr, c_void};

/// Bytes of the longest tag here.
const TAG_LEN: usize = 16;

struct State<S> {
    steps: S,
    equal: EqualFn,
    tag_len: usize,
    decrypts: bool,
}

/// Opens a mode, by its description where the library has one, else by the mode's functions over a
/// block cipher.
pub(crate) fn open_aead(request: &Request<'_>) -> Option<raw::Session> {
    if request.algorithm.tag_len > TAG_LEN {
        return None;
    }
    let described = description(request).and_then(|aead| Described::new(request, aead));
    let (mode, described_words, words) = words(request)?;
    match (described, request.algorithm.mode) {
        // The key stream would lose what is left of a block at the end of each update.
        (Some(steps), Mode::Poly1305) => session(request, steps, described_words, false),
        (Some(steps), _) => session(request, steps, described_words, true),
        (None, Mode::Ccm) => session(request, Ccm::new(request, request.cipher()?)?, words, false),
        (None, Mode::Ocb) => session(request, Ocb::new(request, request.cipher()?)?, words, true),
        (None, Mode::Gcm | Mode::Eax) => {
            session(request, Keyed::new(request, request.cipher()?, mode)?, words, true)
        }
        _ => None,
    }
}

fn description(request: &Request<'_>) -> Option<&'static AeadMeta> {
    match (request.algorithm.mode, request.algorithm.cipher) {
        (Mode::Poly1305, Primitive::ChaCha20) => {
            meta(&request.library.object, "nettle_chacha_poly1305")
        }
        (Mode::Gcm, _) => {
            meta(&request.library.object, &format!("nettle_gcm_{}", request.cipher_name()?))
        }
        (Mode::Eax, _) => {
            meta(&request.library.object, &format!("nettle_eax_{}", request.cipher_name()?))
        }
        _ => None,
    }
}

/// The mode's part of the symbols, and the calls for readers: of a description, of the mode.
fn words(request: &Request<'_>) -> Option<(&'static str, &'static CStr, &'static CStr)> {
    macro_rules! calls {
        ($of:literal, $begin:literal) => {
            [
                c_concat!($of, $begin, ", ", $of, "update, ", $of, "encrypt, ", $of, "digest"),
                c_concat!(
                    $of,
                    $begin,
                    ", ",
                    $of,
                    "update, ",
                    $of,
                    "decrypt, ",
                    $of,
                    "digest, ",
                    "nettle_memeql_sec"
                ),
            ]
        };
    }
    let described = calls!("nettle_aead.", "set_nonce");
    let (mode, calls) = match request.algorithm.mode {
        Mode::Gcm => ("gcm", calls!("nettle_gcm_", "set_iv")),
        Mode::Eax => ("eax", calls!("nettle_eax_", "set_nonce")),
        Mode::Ocb => ("ocb", calls!("nettle_ocb_", "set_nonce")),
        Mode::Ccm => ("ccm", calls!("nettle_ccm_", "set_nonce")),
        Mode::Poly1305 => ("", described),
        _ => return None,
    };
    let way = usize::from(request.decrypts());
    Some((mode, described[way], calls[way]))
}

fn session<S: Steps>(
    request: &Request<'_>,
    steps: S,
    call: &'static CStr,
    streams: bool,
) -> Option<raw::Session> {
    // SAFETY: memops.h.
    let equal = unsafe { request.function::<EqualFn>("nettle_memeql_sec")? };
    let tag_len = request.algorithm.tag_len;
    let state = State { steps, equal, tag_len, decrypts: request.decrypts() };
    Some(
        Table::new(state, raw::IN_PLACE, call)
            .streams_if(streams)
            .rekeys(c"the set_key functions of cipher and mode")
            .raw(),
    )
}

operations! { impl[S: Steps] for State<S>;
    /// The library makes tags and leaves comparing them to its callers, for which it has a function.
    fn message(&mut self, m) {
        self.steps.begin(m.nonce, (m.aad, m.aad_len), m.len);
        self.steps.crypt(m.input, m.output, m.len);
        if !self.decrypts {
            self.steps.digest(m.tag);
            return raw::OK;
        }
        let mut tag = [0; TAG_LEN];
        self.steps.digest(tag.as_mut_ptr());
        match (self.equal)(tag.as_ptr().cast(), m.tag.cast_const().cast(), self.tag_len) {
            0 => raw::REJECTED,
            _ => raw::OK,
        }
    }

    fn start(&mut self, nonce) {
        self.steps.begin(nonce, (nonce, 0), 0);
        raw::OK
    }

    /// Only the last part of a message may end within a block: the library would end the process.
    fn update(&mut self, input, output, len) {
        if !len.is_multiple_of(16) {
            return raw::FAILED;
        }
        self.steps.crypt(input, output, len);
        raw::OK
    }

    fn rekey(&mut self, key) {
        self.steps.rekey(key);
        raw::OK
    }
}

/// A mode's steps.
///
/// # Safety
/// Of each function: keys, nonces and tags have the algorithm's length; all else covers its own.
pub(crate) trait Steps {
    unsafe fn rekey(&mut self, key: In);

    /// Takes nonce and associated data of a message of `len` bytes.
    unsafe fn begin(&mut self, nonce: In, aad: (In, usize), len: usize);

    unsafe fn crypt(&mut self, input: In, output: Out, len: usize);

    unsafe fn digest(&mut self, tag: Out);
}

/// What the library describes as a whole (`struct nettle_aead`): GCM with most ciphers, EAX with
/// AES-128, ChaCha20-Poly1305.
pub(crate) struct Described {
    context: Aligned,
    set_key: SetFn,
    set_nonce: SetFn,
    update: UpdateFn,
    crypt: CryptFn,
    digest: DigestFn,
    tag_len: usize,
}

impl Described {
    /// `None` where the description is another algorithm's.
    pub(crate) fn new(request: &Request<'_>, aead: &AeadMeta) -> Option<Self> {
        let algorithm = request.algorithm;
        let lens = [aead.key_size, aead.nonce_size, aead.digest_size].map(|n| n as usize);
        if lens != [algorithm.key_len, algorithm.nonce_len, algorithm.tag_len] {
            return None;
        }
        let (set_key, crypt) = if request.decrypts() {
            (aead.set_decrypt_key, aead.decrypt)
        } else {
            (aead.set_encrypt_key, aead.encrypt)
        };
        let mut context = Aligned::zeroed(aead.context_size as usize);
        // SAFETY: the context has the size that the library says, the key as well; the digest
        // function is of the version that was asked for.
        let digest = unsafe {
            set_key(context.as_mut_ptr(), request.key.as_ptr());
            DigestFn::new(aead.digest, request.library.major)
        };
        let (set_nonce, update) = (aead.set_nonce, aead.update);
        let tag_len = algorithm.tag_len;
        Some(Self { context, set_key, set_nonce, update, crypt, digest, tag_len })
    }
}

steps! { impl Steps for Described;
    fn rekey(&mut self, key: In) {
        (self.set_key)(self.context.as_mut_ptr(), key);
    }

    fn begin(&mut self, nonce: In, aad: (In, usize), _: usize) {
        (self.set_nonce)(self.context.as_mut_ptr(), nonce);
        (self.update)(self.context.as_mut_ptr(), aad.1, aad.0);
    }

    fn crypt(&mut self, input: In, output: Out, len: usize) {
        (self.crypt)(self.context.as_mut_ptr(), len, output, input);
    }

    fn digest(&mut self, tag: Out) {
        self.digest.call(self.context.as_mut_ptr(), self.tag_len, tag);
    }
}

/// GCM and EAX over any block cipher: message state, key's table, cipher and its function. EAX's
/// functions differ in two places.
pub(crate) struct Keyed {
    message: Aligned,
    table: Aligned,
    cipher: Aligned,
    set_key: SetFn,
    set_table: SetTableFn,
    encrypt: CipherFn,
    nonce: KeyedBytes,
    update: KeyedBytes,
    crypt: KeyedCrypt,
    digest: KeyedDigest,
    nonce_len: usize,
    tag_len: usize,
}

/// `gcm_set_key`, `eax_set_key`, `ocb_set_key`: table, cipher, its function.
type SetTableFn = unsafe extern "C" fn(*mut c_void, *const c_void, CipherFn);
/// `gcm_set_iv`, `gcm_update`: message, table, length, bytes.
type TableBytesFn = unsafe extern "C" fn(*mut c_void, *const c_void, usize, In);
/// `eax_set_nonce`, `eax_update`, `ocb_update`: message, table, cipher, its function, length, bytes.
type CipherBytesFn =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, CipherFn, usize, In);
/// `gcm_encrypt`, `eax_encrypt`, `ocb_encrypt` and the first two's decryption: message, table,
/// cipher, its function, length, destination, source.
type KeyedCrypt =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, CipherFn, usize, Out, In);
/// `gcm_digest`, `eax_digest`, `ocb_digest`: message, table, cipher, its function, length,
/// destination.
type KeyedDigestPart =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, CipherFn, usize, Out);
/// As [`KeyedDigestPart`] without the length, since Nettle 4.
type KeyedDigestWhole =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, CipherFn, Out);

/// What takes a nonce or associated data.
#[derive(Clone, Copy)]
enum KeyedBytes {
    Gcm(TableBytesFn),
    Eax(CipherBytesFn),
}

/// Message, table, cipher, its function.
type Contexts = (*mut c_void, *const c_void, *const c_void, CipherFn);

steps! { impl for KeyedBytes;
    fn call(self, (message, table, cipher, encrypt): Contexts, len: usize, bytes: In) {
        match self {
            Self::Gcm(f) => f(message, table, len, bytes),
            Self::Eax(f) => f(message, table, cipher, encrypt, len, bytes),
        }
    }
}

#[derive(Clone, Copy)]
enum KeyedDigest {
    Part(KeyedDigestPart),
    Whole(KeyedDigestWhole),
}

impl Keyed {
    /// `mode` is `gcm` or `eax`.
    pub(crate) fn new(request: &Request<'_>, cipher: &CipherMeta, mode: &str) -> Option<Self> {
        let way = if request.decrypts() { "decrypt" } else { "encrypt" };
        let name = |function: &str| format!("nettle_{mode}_{function}");
        let gcm = mode == "gcm";
        // SAFETY: gcm.h and eax.h, for the version.
        let bytes = |function: &str| unsafe {
            Some(if gcm {
                KeyedBytes::Gcm(request.function(&name(function))?)
            } else {
                KeyedBytes::Eax(request.function(&name(function))?)
            })
        };
        let nonce = bytes(if gcm { "set_iv" } else { "set_nonce" })?;
        let update = bytes("update")?;
        // SAFETY: as above.
        let (set_key, crypt, digest) = unsafe {
            (
                request.function::<SetTableFn>(&name("set_key"))?,
                request.function::<KeyedCrypt>(&name(way))?,
                if request.library.major < 4 {
                    KeyedDigest::Part(request.function(&name("digest"))?)
                } else {
                    KeyedDigest::Whole(request.function(&name("digest"))?)
                },
            )
        };
        let mut context = schedule(cipher, cipher.set_encrypt_key, request.key);
        let mut table = plenty();
        // SAFETY: `struct gcm_key` has 4096 bytes in Nettle 3 and less in 4, `struct eax_key` 32.
        unsafe { set_key(table.as_mut_ptr(), context.as_mut_ptr(), cipher.encrypt) };
        Some(Self {
            // `struct gcm_ctx` and `struct eax_ctx` have 64 bytes.
            message: plenty(),
            table,
            cipher: context,
            set_key: cipher.set_encrypt_key,
            set_table: set_key,
            encrypt: cipher.encrypt,
            nonce,
            update,
            crypt,
            digest,
            nonce_len: request.algorithm.nonce_len,
            tag_len: request.algorithm.tag_len,
        })
    }
}

steps! { impl Steps for Keyed;
    fn rekey(&mut self, key: In) {
        (self.set_key)(self.cipher.as_mut_ptr(), key);
        (self.set_table)(self.table.as_mut_ptr(), self.cipher.as_ptr(), self.encrypt);
    }

    fn begin(&mut self, nonce: In, aad: (In, usize), _: usize) {
        let (message, table, cipher) =
            (self.message.as_mut_ptr(), self.table.as_mut_ptr(), self.cipher.as_mut_ptr());
        self.nonce.call((message, table, cipher, self.encrypt), self.nonce_len, nonce);
        self.update.call((message, table, cipher, self.encrypt), aad.1, aad.0);
    }

    fn crypt(&mut self, input: In, output: Out, len: usize) {
        let (message, table, cipher) =
            (self.message.as_mut_ptr(), self.table.as_mut_ptr(), self.cipher.as_mut_ptr());
        (self.crypt)(message, table, cipher, self.encrypt, len, output, input);
    }

    fn digest(&mut self, tag: Out) {
        let (message, table, cipher) =
            (self.message.as_mut_ptr(), self.table.as_mut_ptr(), self.cipher.as_mut_ptr());
        match self.digest {
            KeyedDigest::Part(digest) => {
                digest(message, table, cipher, self.encrypt, self.tag_len, tag);
            }
            KeyedDigest::Whole(digest) => digest(message, table, cipher, self.encrypt, tag),
        }
    }
}

functions! {
    struct OcbFunctions {
        /// Table, cipher, its function.
        nettle_ocb_set_key: fn(*mut c_void, *const c_void, CipherFn);
        /// Message, cipher, its function, lengths of tag and nonce, nonce.
        nettle_ocb_set_nonce: fn(*mut c_void, *const c_void, CipherFn, usize, usize, In);
        /// Message, table, cipher, its function, length, bytes.
        nettle_ocb_update: fn(*mut c_void, *const c_void, *const c_void, CipherFn, usize, In);
        /// Message, table, cipher, its function, length, destination, source.
        nettle_ocb_encrypt: fn(*mut c_void, *const c_void, *const c_void, CipherFn, usize, Out, In);
        /// Message, table, cipher and function to encrypt, the same to decrypt, length, destination, source.
        nettle_ocb_decrypt: fn(
            *mut c_void, *const c_void, *const c_void, CipherFn, *const c_void, CipherFn, usize, Out, In
        );
        /// Message, table, cipher, its function, length, destination.
        nettle_ocb_digest: fn(*mut c_void, *const c_void, *const c_void, CipherFn, usize, Out);
    }
}

/// OCB, since Nettle 3.9. Its tag's length is part of the nonce's block, in every version.
pub(crate) struct Ocb {
    message: Aligned,
    table: Aligned,
    encrypt: (Aligned, CipherFn),
    /// Decryption goes over the message with this one.
    decrypt: Option<(Aligned, CipherFn)>,
    /// Key schedules to encrypt and to decrypt.
    set_keys: (SetFn, SetFn),
    f: OcbFunctions,
    nonce_len: usize,
    tag_len: usize,
}

impl Ocb {
    pub(crate) fn new(request: &Request<'_>, cipher: &CipherMeta) -> Option<Self> {
        let f = OcbFunctions::of(&request.library.object).ok()?;
        let mut context = schedule(cipher, cipher.set_encrypt_key, request.key);
        let backwards = || schedule(cipher, cipher.set_decrypt_key, request.key);
        let mut table = plenty();
        let at = table.as_mut_ptr();
        // SAFETY: `struct ocb_key` has 64 bytes.
        unsafe { (f.nettle_ocb_set_key)(at, context.as_mut_ptr(), cipher.encrypt) };
        Some(Self {
            // `struct ocb_ctx` has 80 bytes.
            message: plenty(),
            table,
            encrypt: (context, cipher.encrypt),
            decrypt: request.decrypts().then(|| (backwards(), cipher.decrypt)),
            set_keys: (cipher.set_encrypt_key, cipher.set_decrypt_key),
            f,
            nonce_len: request.algorithm.nonce_len,
            tag_len: request.algorithm.tag_len,
        })
    }
}

steps! { impl Steps for Ocb;
    fn rekey(&mut self, key: In) {
        let (set_encrypt, set_decrypt) = self.set_keys;
        let (cipher, encrypt) = &mut self.encrypt;
        set_encrypt(cipher.as_mut_ptr(), key);
        (self.f.nettle_ocb_set_key)(self.table.as_mut_ptr(), cipher.as_ptr(), *encrypt);
        if let Some((back, _)) = &mut self.decrypt {
            set_decrypt(back.as_mut_ptr(), key);
        }
    }

    fn begin(&mut self, nonce: In, aad: (In, usize), _: usize) {
        let (message, table) = (self.message.as_mut_ptr(), self.table.as_mut_ptr());
        let (cipher, encrypt) = (self.encrypt.0.as_mut_ptr(), self.encrypt.1);
        let (tag_len, nonce_len) = (self.tag_len, self.nonce_len);
        (self.f.nettle_ocb_set_nonce)(message, cipher, encrypt, tag_len, nonce_len, nonce);
        (self.f.nettle_ocb_update)(message, table, cipher, encrypt, aad.1, aad.0);
    }

    fn crypt(&mut self, input: In, output: Out, len: usize) {
        let (message, table) = (self.message.as_mut_ptr(), self.table.as_mut_ptr());
        let (cipher, encrypt) = (self.encrypt.0.as_mut_ptr(), self.encrypt.1);
        match &mut self.decrypt {
            None => {
                let crypt = self.f.nettle_ocb_encrypt;
                crypt(message, table, cipher, encrypt, len, output, input);
            }
            Some((back, decrypt)) => {
                let (crypt, back) = (self.f.nettle_ocb_decrypt, back.as_mut_ptr());
                crypt(message, table, cipher, encrypt, back, *decrypt, len, output, input);
            }
        }
    }

    fn digest(&mut self, tag: Out) {
        let (message, table) = (self.message.as_mut_ptr(), self.table.as_mut_ptr());
        let (cipher, encrypt) = (self.encrypt.0.as_mut_ptr(), self.encrypt.1);
        (self.f.nettle_ocb_digest)(message, table, cipher, encrypt, self.tag_len, tag);
    }
}

functions! {
    /// ccm.h: message, cipher, its function, and what is said of each.
    struct CcmFunctions {
        /// Nonce's length, nonce, lengths of associated data, message and tag.
        nettle_ccm_set_nonce: fn(*mut c_void, *const c_void, CipherFn, usize, In, usize, usize, usize);
        /// Length, bytes.
        nettle_ccm_update: fn(*mut c_void, *const c_void, CipherFn, usize, In);
        /// Length, destination.
        nettle_ccm_digest: fn(*mut c_void, *const c_void, CipherFn, usize, Out);
    }
}
/// `ccm_encrypt`, `ccm_decrypt`: message, cipher, its function, length, destination, source.
type CcmCryptFn = unsafe extern "C" fn(*mut c_void, *const c_void, CipherFn, usize, Out, In);

/// CCM, told all lengths with the nonce, because they are in the first block. The length of the tag
/// stayed in Nettle 4.
pub(crate) struct Ccm {
    message: Aligned,
    cipher: Aligned,
    set_key: SetFn,
    encrypt: CipherFn,
    f: CcmFunctions,
    crypt: CcmCryptFn,
    nonce_len: usize,
    tag_len: usize,
}

impl Ccm {
    pub(crate) fn new(request: &Request<'_>, cipher: &CipherMeta) -> Option<Self> {
        let crypt = if request.decrypts() { "nettle_ccm_decrypt" } else { "nettle_ccm_encrypt" };
        Some(Self {
            // `struct ccm_ctx` has 40 bytes.
            message: plenty(),
            cipher: schedule(cipher, cipher.set_encrypt_key, request.key),
            set_key: cipher.set_encrypt_key,
            encrypt: cipher.encrypt,
            f: CcmFunctions::of(&request.library.object).ok()?,
            // SAFETY: ccm.h.
            crypt: unsafe { request.function(crypt)? },
            nonce_len: request.algorithm.nonce_len,
            tag_len: request.algorithm.tag_len,
        })
    }
}

steps! { impl Steps for Ccm;
    fn rekey(&mut self, key: In) {
        (self.set_key)(self.cipher.as_mut_ptr(), key);
    }

    fn begin(&mut self, nonce: In, aad: (In, usize), len: usize) {
        let (message, cipher) = (self.message.as_mut_ptr(), self.cipher.as_mut_ptr());
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        let set_nonce = self.f.nettle_ccm_set_nonce;
        set_nonce(message, cipher, self.encrypt, nonce_len, nonce, aad.1, len, tag_len);
        (self.f.nettle_ccm_update)(message, cipher, self.encrypt, aad.1, aad.0);
    }

    fn crypt(&mut self, input: In, output: Out, len: usize) {
        let (message, cipher) = (self.message.as_mut_ptr(), self.cipher.as_mut_ptr());
        (self.crypt)(message, cipher, self.encrypt, len, output, input);
    }

    fn digest(&mut self, tag: Out) {
        let (message, cipher) = (self.message.as_mut_ptr(), self.cipher.as_mut_ptr());
        (self.f.nettle_ccm_digest)(message, cipher, self.encrypt, self.tag_len, tag);
    }
}
