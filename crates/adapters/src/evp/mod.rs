//! OpenSSL, LibreSSL, BoringSSL and AWS-LC through the EVP interface that they share: attaching one, which of
//! them it is (asked of the library itself, never of its file name), and which of its interfaces an algorithm
//! is taken from; the functions of the family with the types of its headers, `OSSL_PARAM`, and how a method
//! (`EVP_CIPHER`, `EVP_MD`) is found: outside the clock, by the newest of the three ways that the library has.
//! `README.md` beside this file says why, and what is inside the clock.

mod aead;
mod cipher;
mod derivation;
pub(crate) mod digest;
mod mac;
mod provider;
mod wrap;

use crate::family::{self, Attached, Family, In, Out, Request};
use aead::{Aead, Joined};
use base::model::{Algorithm, Direction, Kind, Mode, Primitive};
use cipher::{Context, State};
use contract::loader::{LoadError, Missing, SharedObject};
use contract::{OpenError, functions, raw};
use mac::{Cmac, DigestSign, EvpMac, Gmac, Hmac, Poly1305};
use std::ffi::{CStr, OsString, c_char, c_int, c_uint, c_ulong, c_void};
use std::{fmt, ptr};

/// Attaches any library of the family, of any version.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let api = Api::of(&object)?;
    initialise(&object)?;
    let (product, mut build) = identify(&object)?;
    let chosen = name.and_then(base::model::provider_of);
    if let Some(provider) = chosen {
        build.push(provider::choose(&object, api.errors, provider)?);
    }
    let Product { name: own, version, .. } = product.clone();
    let has_chosen = chosen.is_some();
    family::library(name, &own, &version, build, Evp { product, api, object, has_chosen })
}

/// Initialises the library without this machine's `openssl.cnf` (providers, engines, default properties), so that what is
/// measured is the file that was named; with the configuration that `OPENSSL_CONF` names, if it does.
/// From OpenSSL 3 on the first fetch would read it; the first of the two requests wins for good.
fn initialise(object: &SharedObject) -> Result<(), LoadError> {
    /// `OPENSSL_INIT_LOAD_CONFIG` and its opposite, the same in every library that has the function.
    const LOAD_CONFIG: u64 = 0x40;
    const NO_LOAD_CONFIG: u64 = 0x80;
    let is_named = |file: &OsString| !file.is_empty() && file != "/dev/null";
    let wanted = match std::env::var_os("OPENSSL_CONF").filter(is_named) {
        Some(_) => LOAD_CONFIG,
        None => NO_LOAD_CONFIG,
    };
    type InitFn = unsafe extern "C" fn(u64, *const c_void) -> i32;
    type AddAllFn = unsafe extern "C" fn();
    // SAFETY: the types are those of crypto.h and, before OpenSSL 1.1.0, evp.h.
    let (init, add_all) = unsafe {
        (
            object.function::<InitFn>("OPENSSL_init_crypto"),
            object.function::<AddAllFn>("OPENSSL_add_all_algorithms_noconf"),
        )
    };
    if let Some(init) = init {
        // SAFETY: settings may be null.
        if unsafe { init(wanted, ptr::null()) } != 1 {
            return Err(object.unusable("OPENSSL_init_crypto failed"));
        }
    } else if let Some(add_all) = add_all {
        // SAFETY: takes nothing; fills the table that EVP_get_cipherbyname searches.
        unsafe { add_all() };
    }
    Ok(())
}

struct Evp {
    product: Product,
    api: Api,
    object: SharedObject,
    /// Whether one provider was chosen, beside which there is none.
    has_chosen: bool,
}

// SAFETY: the functions of each interface follow its header, and each session has a state of its own.
unsafe impl Family for Evp {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        let product = &request.library.product;
        let mut offer = request.offer();
        if !matches!(offer, Some(Ok(_))) && request.library.loads_legacy_provider(request.algorithm)
        {
            offer = request.offer();
        }
        let offer = offer.ok_or_else(|| request.absent(&product.to_string()))?;
        offer.map_err(|e| OpenError::Failed(format!("{product}: {e}")))
    }
}

impl Evp {
    /// Has OpenSSL 3 on load its `legacy` provider, which is in a file of its own or in the library, for an algorithm that
    /// is there; whether it is loaded now. The default provider stays.
    fn loads_legacy_provider(&self, algorithm: &Algorithm) -> bool {
        use Primitive as P;
        type TryLoadFn = unsafe extern "C" fn(*mut c_void, *const c_char, c_int) -> *mut c_void;
        let legacy = [
            P::Blowfish,
            P::Cast5,
            P::Idea,
            P::Seed,
            P::Rc2,
            P::Des,
            P::Rc4,
            P::Md4,
            P::Whirlpool,
            // In the default provider too since OpenSSL 3.0.7.
            P::Ripemd160,
        ];
        if self.has_chosen || !legacy.contains(&algorithm.cipher) {
            return false;
        }
        // SAFETY: the type is that of provider.h.
        let load = unsafe { self.object.function::<TryLoadFn>("OSSL_PROVIDER_try_load") };
        // SAFETY: the default library context and a NUL-terminated name; 1 keeps the providers that are loaded where
        // none is named. It stays loaded as long as the library.
        let loaded = load
            .is_some_and(|load| unsafe { !load(ptr::null_mut(), c"legacy".as_ptr(), 1).is_null() });
        self.api.errors.clear();
        loaded
    }
}

/// A session, or which call failed with the library's reason, as all errors here; `None` when the library does not have
/// the algorithm.
type Offer = Option<Result<raw::Session, String>>;

impl Request<'_, Evp> {
    fn offer(&self) -> Offer {
        if self.algorithm.mode == Mode::Composite {
            return None;
        }
        match self.algorithm.kind {
            Kind::Cipher if self.algorithm.cipher == Primitive::Rc4 => self.rc4(),
            Kind::Cipher => self.cipher().or_else(|| self.chacha()),
            Kind::Aead if self.algorithm.mode == Mode::None => None,
            Kind::Aead if self.algorithm.wraps_keys() => self.key_wrap(),
            Kind::Aead => self.aead().or_else(|| self.cipher()).or_else(|| self.joined()),
            Kind::Digest => self.digest(),
            Kind::Mac => self.mac(),
            Kind::Derivation => self.derivation(),
            Kind::Random => self.random().map(Ok),
            Kind::Checked | Kind::Copy | Kind::Null => None,
        }
    }

    /// `EVP_CIPHER`
    fn cipher(&self) -> Offer {
        let cipher = cipher::find_cipher(&self.library.object, &self.library.api, self.algorithm)?;
        if self.algorithm.mode == Mode::Stream
            && cipher::iv_len(&self.library.object, &cipher).is_some_and(|len| len != 16)
        {
            // LibreSSL before 3.1 had a nonce of 8 bytes, and no way to say where to count from.
            return None;
        }
        Some(self.context(&cipher).and_then(|context| match self.algorithm.mode {
            Mode::Siv => {
                cipher::siv_session(&self.library.api, context, self.algorithm, self.direction)
            }
            _ => Ok(cipher::cipher_session(
                &self.library.api,
                context,
                self.algorithm,
                self.direction,
            )),
        }))
    }

    fn context(&self, cipher: &Method) -> Result<Context, String> {
        Context::open(&self.library.api, cipher, self.algorithm, self.direction, self.key)
    }

    /// The `EVP_CIPHER` of AES key wrap, else `AES_wrap_key`.
    fn key_wrap(&self) -> Offer {
        let (object, api) = (&self.library.object, &self.library.api);
        match cipher::find_cipher(object, api, self.algorithm) {
            Some(cipher) => {
                Some(self.context(&cipher).map(|context| wrap::cipher_session(api, context, self)))
            }
            None if self.library.has_chosen => None,
            None => wrap::aes_session(object, api.errors, self),
        }
    }

    /// The `EVP_CIPHER` of RC4, without an IV.
    fn rc4(&self) -> Offer {
        let cipher = cipher::find_cipher(&self.library.object, &self.library.api, self.algorithm)?;
        let context = || self.context(&cipher);
        let contexts = context().and_then(|first| Ok([first, context()?]));
        Some(contexts.map(|contexts| cipher::rc4_session(&self.library.api, contexts, self)))
    }

    /// `CRYPTO_chacha_20`, `CRYPTO_xchacha_20`
    fn chacha(&self) -> Offer {
        let session = match (self.algorithm.cipher, self.algorithm.mode) {
            (Primitive::ChaCha20, Mode::Stream) => aead::chacha_session,
            (Primitive::XChaCha20, Mode::Stream) => aead::xchacha_session,
            _ => return None,
        };
        session(&self.library.object, self.key.try_into().ok()?).map(Ok)
    }

    /// `EVP_AEAD` with the tag apart, and the `EVP_CIPHER` for streams.
    fn aead(&self) -> Offer {
        let aead = Aead::find(&self.library.object, self.algorithm)?;
        let cipher = match self.algorithm.kind {
            Kind::Mac => self.cipher_below(&cipher::gcm_of(self.algorithm)),
            _ => cipher::find_cipher(&self.library.object, &self.library.api, self.algorithm),
        };
        let stream = cipher.map(|cipher| {
            let context = self.context(&cipher)?;
            Ok(State::new(&self.library.api, context, self.algorithm, self.direction))
        });
        let session = stream.transpose().and_then(|stream| match self.algorithm.kind {
            Kind::Mac => aead.session::<_, true>(self, stream.map(Gmac)),
            _ => aead.session::<_, false>(self, stream),
        });
        session.transpose()
    }

    /// `EVP_AEAD` with the tag behind the ciphertext.
    fn joined(&self) -> Offer {
        let joined = Joined::find(&self.library.object, self.algorithm)?;
        Some(joined.session(self.library.api.errors, self.algorithm, self.direction, self.key))
    }

    fn digest(&self) -> Offer {
        let Algorithm { name, tag_len, .. } = *self.algorithm;
        let (object, errors) = (&self.library.object, self.library.api.errors);
        let functions = digest::DigestFunctions::load(object)?;
        let session = match self.algorithm.cipher {
            Primitive::Shake128 | Primitive::Shake256 => {
                let xof = digest::named(object, errors, name)?;
                functions.session_of_xof(object, errors, xof, tag_len)?
            }
            _ => match digest::find_digest(object, errors, name, tag_len) {
                Some(md) => functions.session(errors, md, tag_len),
                None if self.algorithm.cipher == Primitive::Blake2b256 => {
                    let long = digest::find_digest(object, errors, "blake2b512", 64)?;
                    functions.session_of_size(errors, long, tag_len)?
                }
                None => return None,
            },
        };
        Some(session.map(|s| self.with_allocations(s)))
    }

    /// Digests and MACs, as [`Product::allocates`] says.
    fn with_allocations(&self, mut session: raw::Session) -> raw::Session {
        if self.library.product.allocates(self.algorithm) {
            session.flags |= raw::ALLOCATES;
        }
        session
    }

    fn mac(&self) -> Offer {
        let errors = self.library.api.errors;
        if let Ok(mac) = EvpMac::of(&self.library.object) {
            let offer = mac.session(errors, self.algorithm, self.key);
            return offer.map(|session| session.map(|s| self.with_allocations(s)));
        }
        match self.algorithm.mode {
            Mode::Hmac => self.hmac(),
            Mode::Gmac => self.aead().or_else(|| self.gmac()),
            Mode::OneTimeMac => self.poly1305(),
            Mode::Cmac => self.cmac(),
            Mode::Keyed if self.algorithm.cipher == Primitive::SipHash24 => {
                mac::siphash_session(&self.library.object, self.key.try_into().ok()?).map(Ok)
            }
            _ => None,
        }
    }

    /// The cipher that a MAC is made with, which [`cipher::cbc_of`] or [`cipher::gcm_of`] names.
    fn cipher_below(&self, name: &str) -> Option<Method> {
        let Evp { object, api, .. } = self.library;
        let getter = format!("EVP_{}", name.replace('-', "_"));
        cipher::named(object, api, name, &getter, self.algorithm.key_len)
    }

    /// `HMAC_CTX`
    fn hmac(&self) -> Offer {
        let Algorithm { name, tag_len, .. } = *self.algorithm;
        let digest = name.strip_prefix("hmac-")?;
        let md =
            digest::find_digest(&self.library.object, self.library.api.errors, digest, tag_len)?;
        let hmac = Hmac::load(&self.library.object)?;
        hmac.session(self.library.api.errors, md, tag_len, self.key)
    }

    /// `CMAC_CTX`
    fn cmac(&self) -> Offer {
        let cipher = self.cipher_below(&cipher::cbc_of(self.algorithm))?;
        let cmac = Cmac::of(&self.library.object).ok()?;
        Some(cmac.session(self.library.api.errors, &cipher, self.algorithm.tag_len, self.key))
    }

    /// GCM's `EVP_CIPHER`
    fn gmac(&self) -> Offer {
        let context = self.context(&self.cipher_below(&cipher::gcm_of(self.algorithm))?);
        Some(context.map(|context| mac::gmac_session(&self.library.api, context, self.algorithm)))
    }

    /// `CRYPTO_poly1305_*`, or `EVP_DigestSign*`
    fn poly1305(&self) -> Offer {
        debug_assert_eq!(self.algorithm.cipher, Primitive::Poly1305);
        if let Ok(poly1305) = Poly1305::of(&self.library.object) {
            return Some(Ok(poly1305.session(self.library.api.errors, self.key.try_into().ok()?)));
        }
        let sign = DigestSign::of(&self.library.object)?;
        sign.poly1305(self.library.api.errors, self.key, self.algorithm.tag_len)
    }
}

type TextFn = unsafe extern "C" fn(c_int) -> *const c_char;

/// Product and version as the library gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Product {
    /// As in `--library`.
    name: String,
    /// As it writes itself.
    title: String,
    version: String,
}

impl Product {
    /// Whether each message of a digest or MAC takes memory from the heap.
    fn allocates(&self, algorithm: &Algorithm) -> bool {
        match (algorithm.mode, algorithm.cipher) {
            // It pads its name anew.
            (Mode::Kmac, _) => true,
            // The end of a message frees what its beginning allocates.
            (Mode::None, Primitive::Shake128 | Primitive::Shake256) if self.title == "AWS-LC" => {
                true
            }
            // OpenSSL 3.0 makes a new context of the digest's own for every message, and so HMAC, also where the context
            // of the caller's stays. From 3.5 on it does not.
            (Mode::None | Mode::Hmac, _) => {
                self.title == "OpenSSL" && self.version.starts_with("3.0.")
            }
            _ => false,
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.title, self.version)
    }
}

/// Product, version and how it was built, one fact a line.
fn identify(object: &SharedObject) -> Result<(Product, Vec<String>), LoadError> {
    let texts = Texts::of(object).ok_or_else(|| {
        object.unusable("it exports neither `OpenSSL_version` nor `SSLeay_version`")
    })?;
    let whole = texts.get(0).ok_or_else(|| object.unusable("it gives no version string"))?;
    let mut build = vec![whole.clone()];
    build.extend(texts.facts());
    build.extend(fips_module(object));
    if let Some(product) = read(&whole) {
        return match contradiction(&product, interface_number(object)) {
            Some(why) => Err(object.unusable(why)),
            None => Ok((product, build)),
        };
    }
    // BoringSSL has no releases: all it has is the interface that it follows.
    let number = interface_number(object)
        .ok_or_else(|| object.unusable(format!("'{whole}' gives no version number")))?;
    build.push(format!("interface: OpenSSL {}", dotted(number)));
    let title = title(&whole).to_owned();
    let version = format!("{}-compatible", dotted(number));
    Ok((Product { name: title.to_lowercase(), title, version }, build))
}

/// The texts of `OpenSSL_version`, or of the function of that purpose before OpenSSL 1.1.0.
struct Texts {
    text: TextFn,
    /// Compiler, build date, platform, and from OpenSSL 3 on what of the CPU is used.
    kinds: &'static [c_int],
}

impl Texts {
    fn of(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of crypto.h.
        let (new, old) = unsafe {
            (
                object.function::<TextFn>("OpenSSL_version"),
                object.function::<TextFn>("SSLeay_version"),
            )
        };
        let new = new.map(|text| Self { text, kinds: &[1, 2, 3, 9] });
        new.or_else(|| old.map(|text| Self { text, kinds: &[2, 3, 4] }))
    }

    fn get(&self, kind: c_int) -> Option<String> {
        // SAFETY: any number is answered, by a static NUL-terminated string.
        let text = unsafe { contract::text((self.text)(kind)) }?.trim().replace('\n', " ");
        (!text.is_empty()).then_some(text)
    }

    fn facts(&self) -> impl Iterator<Item = String> {
        self.kinds.iter().filter_map(|kind| self.get(*kind)).filter(|text| {
            let text = text.to_lowercase();
            !text.ends_with("n/a") && !text.ends_with("not available")
        })
    }
}

/// Titles that the family is known under, the descendants first: theirs stand beside OpenSSL's in
/// texts such as `OpenSSL 1.1.1 (compatible; AWS-LC 1.30.0)`.
const TITLES: &[&str] = &["AWS-LC", "BoringSSL", "LibreSSL", "OpenSSL"];

fn title(whole: &str) -> &str {
    TITLES
        .iter()
        .find(|title| whole.contains(**title))
        .copied()
        .or_else(|| whole.split_whitespace().next())
        .unwrap_or(whole)
}

/// Title and version of a text such as `OpenSSL 3.0.19 27 Jan 2026`; `None` without a number.
fn read(whole: &str) -> Option<Product> {
    let title = title(whole);
    let (_, rest) = whole.split_once(title)?;
    let version = rest
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?
        .trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    Some(Product {
        name: title.to_lowercase(),
        title: title.to_owned(),
        version: version.to_owned(),
    })
}

/// The validated module that BoringSSL and AWS-LC are built around when they are built for FIPS.
fn fips_module(object: &SharedObject) -> Option<String> {
    // SAFETY: the types are those of crypto.h; 0 says that this build is not around a module.
    let (name, version) = unsafe {
        (object.told("FIPS_module_name").ok()??, object.asked::<u32>("FIPS_version").ok()?)
    };
    (version != 0).then(|| format!("FIPS module: {name} {version}"))
}

/// `OpenSSL_version_num()`: which OpenSSL's interface this is.
fn interface_number(object: &SharedObject) -> Option<c_ulong> {
    // SAFETY: the type is that of crypto.h.
    unsafe { object.asked("OpenSSL_version_num") }.ok()
}

/// What is wrong where an OpenSSL's text and its number name different releases. The number's third part
/// moved in OpenSSL 3, the first two did not. Descendants follow an interface whose number is not theirs.
fn contradiction(product: &Product, number: Option<c_ulong>) -> Option<String> {
    let number = number.filter(|_| product.title == "OpenSSL")?;
    let said = product.version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let numbered = format!("{}.{}", number >> 28 & 0xf, number >> 20 & 0xff);
    (said != numbered).then(|| {
        format!(
            "it says in words that it is {product}, and its `OpenSSL_version_num` says {numbered}"
        )
    })
}

/// `0xMNNFFPPS` as major, minor, fix.
fn dotted(number: c_ulong) -> String {
    format!("{}.{}.{}", number >> 28 & 0xf, number >> 20 & 0xff, number >> 12 & 0xff)
}

/// `EVP_CIPHER_CTX *`
pub(crate) type Ctx = *mut c_void;
/// `const EVP_CIPHER *`
pub(crate) type CipherPtr = *const c_void;

/// `EVP_EncryptInit_ex(ctx, cipher, engine, key, iv)`
pub(crate) type InitFn = unsafe extern "C" fn(Ctx, CipherPtr, *mut c_void, In, In) -> c_int;
/// `EVP_EncryptUpdate(ctx, out, out_len, in, in_len)`
pub(crate) type UpdateFn = unsafe extern "C" fn(Ctx, Out, *mut c_int, In, c_int) -> c_int;
/// `EVP_EncryptFinal_ex(ctx, out, out_len)`
pub(crate) type FinalFn = unsafe extern "C" fn(Ctx, Out, *mut c_int) -> c_int;
/// `EVP_CIPHER_CTX_ctrl(ctx, type, arg, pointer)`
pub(crate) type CtrlFn = unsafe extern "C" fn(Ctx, c_int, c_int, *mut c_void) -> c_int;

/// Numbers for `EVP_CIPHER_CTX_ctrl`: the same in every library of the family and in every mode.
pub(crate) mod ctrl {
    use std::ffi::c_int;

    /// `EVP_CTRL_AEAD_SET_IVLEN`
    pub(crate) const SET_IVLEN: c_int = 0x9;
    /// `EVP_CTRL_AEAD_GET_TAG`
    pub(crate) const GET_TAG: c_int = 0x10;
    /// `EVP_CTRL_AEAD_SET_TAG`
    pub(crate) const SET_TAG: c_int = 0x11;
}

/// What an application calls in one direction.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    pub(crate) init: InitFn,
    pub(crate) update: UpdateFn,
    pub(crate) finish: FinalFn,
}

functions! {
    /// The functions that every library of the family has, with types that have not changed since
    /// OpenSSL 0.9.7, and two that only newer ones have.
    pub(crate) struct Functions
    required {
        EVP_CIPHER_CTX_new: fn() -> Ctx;
        EVP_CIPHER_CTX_free: fn(Ctx);
        EVP_CIPHER_CTX_ctrl: fn(Ctx, c_int, c_int, *mut c_void) -> c_int;
        EVP_CIPHER_CTX_set_padding: fn(Ctx, c_int) -> c_int;
        EVP_EncryptInit_ex: fn(Ctx, CipherPtr, *mut c_void, In, In) -> c_int;
        EVP_EncryptUpdate: fn(Ctx, Out, *mut c_int, In, c_int) -> c_int;
        EVP_EncryptFinal_ex: fn(Ctx, Out, *mut c_int) -> c_int;
        EVP_DecryptInit_ex: fn(Ctx, CipherPtr, *mut c_void, In, In) -> c_int;
        EVP_DecryptUpdate: fn(Ctx, Out, *mut c_int, In, c_int) -> c_int;
        EVP_DecryptFinal_ex: fn(Ctx, Out, *mut c_int) -> c_int;
    }
    optional {
        /// To, from.
        EVP_CIPHER_CTX_copy: fn(Ctx, Ctx) -> c_int;
        EVP_CIPHER_CTX_set_flags: fn(Ctx, c_int);
        /// From OpenSSL 3 on.
        EVP_CIPHER_CTX_set_params: fn(Ctx, *const Param) -> c_int;
    }
}

/// What the adapter calls of `evp.h`, and the queue of errors.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    pub(crate) f: Functions,
    pub(crate) errors: Errors,
}

impl Api {
    pub(crate) fn of(object: &SharedObject) -> Result<Self, Missing> {
        Ok(Self { f: Functions::of(object)?, errors: Errors::of(object)? })
    }

    pub(crate) fn calls(&self, direction: Direction) -> Calls {
        let f = &self.f;
        let (init, update, finish) = match direction {
            Direction::Decrypt => {
                (f.EVP_DecryptInit_ex, f.EVP_DecryptUpdate, f.EVP_DecryptFinal_ex)
            }
            _ => (f.EVP_EncryptInit_ex, f.EVP_EncryptUpdate, f.EVP_EncryptFinal_ex),
        };
        Calls { init, update, finish }
    }
}

functions! {
    /// The library's queue of errors, one per thread. A failed call leaves entries there, and a queue
    /// that is not emptied is one that the application would not have.
    pub(crate) struct Errors
    required {}
    optional {
        ERR_get_error: fn() -> c_ulong;
        ERR_peek_last_error: fn() -> c_ulong;
        ERR_error_string_n: fn(c_ulong, *mut c_char, usize);
        ERR_clear_error: fn();
    }
}

/// BoringSSL and AWS-LC return 32 bits; the rest of the register says nothing.
const CODE_BITS: c_ulong = 0xffff_ffff;

impl Errors {
    /// Empties the queue.
    #[cold]
    pub(crate) fn clear(&self) {
        if let Some(clear) = self.ERR_clear_error {
            // SAFETY: takes nothing.
            unsafe { clear() }
        }
    }

    /// The reason number of the newest error (`ERR_GET_REASON`), 0 when the queue is empty.
    #[cold]
    pub(crate) fn last_reason(&self) -> c_ulong {
        // SAFETY: takes nothing.
        self.ERR_peek_last_error.map_or(0, |peek| unsafe { peek() } & 0xfff)
    }

    /// That something failed, as the interface's code; empties the queue.
    #[cold]
    pub(crate) fn failed(&self) -> i32 {
        self.clear();
        raw::FAILED
    }

    /// The same of a message that was not opened: a wrong tag, where the newest error is one of these reasons.
    #[cold]
    pub(crate) fn not_opened(&self, wrong_tag: &[c_ulong]) -> i32 {
        let rejected = wrong_tag.contains(&self.last_reason());
        self.clear();
        if rejected { raw::REJECTED } else { raw::FAILED }
    }

    /// Empties the queue and gives the words of its first error, which is the cause of the others.
    #[cold]
    pub(crate) fn take(&self) -> String {
        // SAFETY: takes nothing.
        let code = self.ERR_get_error.map_or(0, |get| unsafe { get() } & CODE_BITS);
        self.clear();
        let Some(words) = self.ERR_error_string_n.filter(|_| code != 0) else {
            return "no reason given".to_owned();
        };
        let mut text: [c_char; 256] = [0; 256];
        // SAFETY: writes at most the length that it is given, the NUL included.
        unsafe { words(code, text.as_mut_ptr(), text.len()) };
        // SAFETY: NUL-terminated, as just said.
        unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()
    }
}

/// A method of the library; freed when dropped if it was fetched.
pub(crate) struct Method {
    pointer: *const c_void,
    free: Option<FreeFn>,
}

type FreeFn = unsafe extern "C" fn(*mut c_void);

impl Method {
    pub(crate) fn as_ptr(&self) -> *const c_void {
        self.pointer
    }

    fn lasting(pointer: *const c_void) -> Option<Self> {
        (!pointer.is_null()).then_some(Self { pointer, free: None })
    }
}

impl Drop for Method {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: fetched, so ours to free; contexts that use it hold references of their own.
            unsafe { free(self.pointer.cast_mut()) }
        }
    }
}

/// The names of the functions that find one kind of method.
pub(crate) struct Ways {
    pub(crate) fetch: &'static str,
    pub(crate) free: &'static str,
    pub(crate) by_name: &'static str,
}

/// The method of that name, or by that getter in libraries that fetch nothing.
pub(crate) fn find_method(
    object: &SharedObject,
    ways: &Ways,
    name: &CStr,
    getter: &str,
) -> Option<Method> {
    if object.has("OSSL_PROVIDER_load") {
        // What no provider has is not there, though a getter by its name may be.
        return fetch(object, ways, name);
    }
    by_name(object, ways, name).or_else(|| by_getter(object, getter))
}

/// OpenSSL 3 on. Its documentation asks for one explicit fetch instead of the implicit one that
/// every initialisation with a name or a getter's method would do again. BoringSSL's
/// `EVP_MD_fetch` is another name of `EVP_get_digestbyname`, whose table lacks SHA-3: it is not
/// used.
fn fetch(object: &SharedObject, ways: &Ways, name: &CStr) -> Option<Method> {
    type FetchFn = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
    // SAFETY: the types are those of evp.h, the same for every kind of method.
    let (fetch, free) =
        unsafe { (object.function::<FetchFn>(ways.fetch)?, object.function::<FreeFn>(ways.free)?) };
    // SAFETY: the default library context, no properties.
    let pointer = unsafe { fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
    (!pointer.is_null()).then_some(Method { pointer, free: Some(free) })
}

fn by_name(object: &SharedObject, ways: &Ways, name: &CStr) -> Option<Method> {
    type ByNameFn = unsafe extern "C" fn(*const c_char) -> *const c_void;
    // SAFETY: the type is that of evp.h.
    let by_name = unsafe { object.function::<ByNameFn>(ways.by_name) }?;
    // SAFETY: a NUL-terminated name; the result is static.
    Method::lasting(unsafe { by_name(name.as_ptr()) })
}

/// `EVP_aes_128_gcm()` and its like: BoringSSL's tables of names have only a part of what it has.
fn by_getter(object: &SharedObject, getter: &str) -> Option<Method> {
    type GetterFn = unsafe extern "C" fn() -> *const c_void;
    // SAFETY: the type is that of evp.h for every getter.
    let getter = unsafe { object.function::<GetterFn>(getter) }?;
    // SAFETY: takes nothing; the result is static.
    Method::lasting(unsafe { getter() })
}

// `OSSL_PARAM`: how OpenSSL 3 on is told what has no function of its own.

/// `OSSL_PARAM` of params.h, which is public and the same since OpenSSL 3.0.
#[repr(C)]
pub(crate) struct Param {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

/// `OSSL_PARAM_UNSIGNED_INTEGER`
const UNSIGNED_INTEGER: c_uint = 2;
/// `OSSL_PARAM_UTF8_STRING`
const UTF8_STRING: c_uint = 4;
/// `OSSL_PARAM_UTF8_PTR`
const UTF8_PTR: c_uint = 6;
/// `OSSL_PARAM_OCTET_STRING`
const OCTET_STRING: c_uint = 5;
/// `OSSL_PARAM_UNMODIFIED`
const UNMODIFIED: usize = usize::MAX;

impl Param {
    /// A text. Both must outlive the call that it is passed to.
    pub(crate) fn text(key: &'static CStr, text: &CStr) -> Self {
        let data = text.as_ptr().cast_mut().cast();
        Self::new(key, UTF8_STRING, data, text.count_bytes())
    }

    /// A number, which is only read and must outlive the call that it is passed to.
    #[inline(always)]
    pub(crate) fn number(key: &'static CStr, number: &usize) -> Self {
        let data = ptr::from_ref(number).cast_mut().cast();
        Self::new(key, UNSIGNED_INTEGER, data, size_of::<usize>())
    }

    /// `len` bytes, which are only read and must outlive the call that they are passed to.
    #[inline(always)]
    pub(crate) fn bytes(key: &'static CStr, bytes: *const u8, len: usize) -> Self {
        Self::new(key, OCTET_STRING, bytes.cast_mut().cast(), len)
    }

    /// A pointer, to be set to a text of the callee's; it must outlive the call that it is passed to.
    pub(crate) fn asked_for_text(key: &'static CStr, text: *mut *const c_char) -> Self {
        Self::new(key, UTF8_PTR, text.cast(), 0)
    }

    /// What stands behind the last one.
    pub(crate) const END: Self = Self {
        key: ptr::null(),
        data_type: 0,
        data: ptr::null_mut(),
        data_size: 0,
        return_size: 0,
    };

    #[inline(always)]
    fn new(key: &'static CStr, data_type: c_uint, data: *mut c_void, data_size: usize) -> Self {
        Self { key: key.as_ptr(), data_type, data, data_size, return_size: UNMODIFIED }
    }
}

#[cfg(test)]
mod tests {
    #[cfg(test)]
    mod offer;
    use super::*;
    use crate::testing::EVP;
    use base::model::{Algorithm, Direction};
    use contract::{Library, Outcome, Session, raw};
    use testing::trial::{Sealed, bytes};
    use verify::reference::Reference;

    // What there is to test of the libraries besides `testing`.

    fn library() -> Box<dyn Library> {
        EVP.library().unwrap()
    }

    /// A session; `None` when the library does not have the algorithm. What the system's library has
    /// is what `offer` says.
    fn open(
        library: &dyn Library,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Option<Session> {
        match library.open(algorithm, direction, key) {
            Ok(session) => Some(session),
            Err(OpenError::Unsupported(why)) => {
                let named = why.contains(algorithm.name);
                assert!(named, "the reason names the algorithm: {why}");
                None
            }
            Err(e) => panic!("{algorithm} {direction}: {e:?}"),
        }
    }

    /// Major and minor of an OpenSSL; `None` for other libraries.
    fn openssl_version(library: &dyn Library) -> Option<(u32, u32)> {
        let identity = library.identity();
        let mut numbers = identity.version.split('.').map_while(|n| n.parse().ok());
        let version = (numbers.next()?, numbers.next()?);
        (identity.name == "openssl").then_some(version)
    }

    #[test]
    fn a_given_name_overrides_the_librarys_own() {
        let library = crate::load(&EVP.path().unwrap(), Some("mine")).unwrap();
        assert_eq!(library.identity().name, "mine");
    }

    /// A message of that length is what the reference makes of it.
    fn passes(session: &mut Session, key: &[u8], len: usize) {
        let s = Sealed::new(&Reference::new(session.algorithm(), key), len);
        let right = match session.direction() {
            Direction::Decrypt => s.decrypt_with(session) == (Outcome::Done, s.plain.clone()),
            _ => s.encrypt_with(session) == (Outcome::Done, s.cipher.clone(), s.tag.clone()),
        };
        assert!(right, "{} {}", session.algorithm(), session.direction());
    }

    /// NIST SP 800-38C A.1: 12-byte nonces leave three bytes for the length.
    #[test]
    fn a_ccm_message_of_16_mib_fails_and_is_not_called_a_forgery() {
        let library = library();
        let algorithm = Algorithm::find("aes-128-ccm").unwrap();
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let Some(mut session) = open(&*library, algorithm, direction, &bytes(16, 1)) else {
                return;
            };
            let mut buffer = vec![0; 1 << 24];
            let outcome = session.message_in_place(&[1; 12], &[], &mut buffer, &mut [0; 16]);
            assert_eq!(outcome, Outcome::Error(raw::FAILED), "{direction}");
            passes(&mut session, &bytes(16, 1), 100);
        }
    }

    #[test]
    fn lengths_that_a_mode_does_not_have_fail_and_the_next_message_works() {
        let library = library();
        for (name, len) in [("aes-128-cbc", 17), ("aes-128-ecb", 15), ("aes-128-xts", 15)] {
            let algorithm = Algorithm::find(name).unwrap();
            let key = bytes(algorithm.key_len, 50);
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                let Some(mut session) = open(&*library, algorithm, direction, &key) else {
                    continue;
                };
                let nonce = bytes(algorithm.nonce_len, 0);
                let outcome = session.message_in_place(&nonce, &[], &mut bytes(len, 0), &mut []);
                assert_eq!(outcome, Outcome::Error(raw::FAILED), "{name} {direction}");
                passes(&mut session, &key, 64);
            }
        }
    }

    #[test]
    fn what_is_no_cipher_is_unsupported_with_the_librarys_name_and_the_algorithms() {
        let library = library();
        for name in ["xxh3-64", "crc32", "memcpy", "null"] {
            let algorithm = Algorithm::find(name).unwrap();
            let direction = Direction::of(algorithm.kind)[0];
            let Err(OpenError::Unsupported(why)) = library.open(algorithm, direction, &[]) else {
                panic!("{name} is offered");
            };
            assert!(why.ends_with(&format!(" has no {name}")), "{why}");
            assert!(why.contains(&library.identity().version), "{why}");
        }
    }

    #[test]
    fn a_key_of_another_length_and_a_direction_that_is_none_are_refused() {
        let library = library();
        let gcm = Algorithm::find("aes-128-gcm").unwrap();
        let short = library.open(gcm, Direction::Encrypt, &[0; 15]);
        assert!(matches!(short, Err(OpenError::Failed(why)) if why.contains("16 bytes")));
        let copied = library.open(gcm, Direction::Copy, &[0; 16]);
        assert!(matches!(copied, Err(OpenError::Unsupported(_))));
    }

    /// Where the test below says that it is to be the child.
    const CHILD: &str = "CIPHERMARK_TEST_EVP_CHILD";
    const OPENED: i32 = 40;
    const NOT_OPENED: i32 = 41;

    /// A configuration under which no cipher can be fetched; in processes of its own, because the library reads one once in
    /// a process's life, or never.
    #[test]
    fn a_configuration_is_read_where_one_is_named() {
        let gcm = Algorithm::find("aes-128-gcm").unwrap();
        if std::env::var_os(CHILD).is_some() {
            let opened = library().open(gcm, Direction::Encrypt, &[0; 16]);
            std::process::exit(if opened.is_ok() { OPENED } else { NOT_OPENED });
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let text = "openssl_conf = top\n[top]\nalg_section = algorithms\n[algorithms]\n\
                default_properties = provider=nobody\n";
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        for (named, code) in [("".as_ref(), OPENED), (file.path(), NOT_OPENED)] {
            let status = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "evp::tests::a_configuration_is_read_where_one_is_named"])
                .env(CHILD, "1")
                .env("OPENSSL_CONF", named)
                .status();
            assert_eq!(status.unwrap().code(), Some(code), "{}", named.display());
        }
    }

    #[test]
    fn a_ccm_message_is_no_stream() {
        let library = library();
        let algorithm = Algorithm::find("aes-128-ccm").unwrap();
        if let Some(session) = open(&*library, algorithm, Direction::Encrypt, &bytes(16, 1)) {
            assert!(session.has_message() && !session.has_stream());
        }
    }

    /// With the remainder held back, the next update would write past its output.
    #[test]
    fn an_ocb_stream_takes_whole_blocks_only() {
        let library = library();
        let algorithm = Algorithm::find("aes-128-ocb").unwrap();
        let Some(mut session) = open(&*library, algorithm, Direction::Encrypt, &bytes(16, 1))
        else {
            return;
        };
        assert_eq!(session.start(&bytes(12, 1)), Outcome::Done);
        assert_eq!(session.update_in_place(&mut [0; 17]), Outcome::Error(raw::FAILED));
        assert_eq!(session.update_in_place(&mut [0; 32]), Outcome::Done);
    }

    #[test]
    fn each_product_is_read_from_what_it_says() {
        for (whole, name, version) in [
            ("OpenSSL 3.0.19 27 Jan 2026", "openssl", "3.0.19"),
            ("OpenSSL 1.0.2k-fips  26 Jan 2017", "openssl", "1.0.2k-fips"),
            ("OpenSSL 4.1.0-dev ", "openssl", "4.1.0-dev"),
            ("LibreSSL 3.1.0", "libressl", "3.1.0"),
            ("AWS-LC 5.12.0", "aws-lc", "5.12.0"),
            ("AWS-LC FIPS 3.0.0", "aws-lc", "3.0.0"),
            ("OpenSSL 1.1.1 (compatible; AWS-LC 1.30.0)", "aws-lc", "1.30.0"),
            ("Tongsuo 8.4.0 1 Jan 2024", "tongsuo", "8.4.0"),
        ] {
            let product = read(whole).expect(whole);
            assert_eq!((product.name.as_str(), product.version.as_str()), (name, version));
        }
    }

    #[test]
    fn a_text_without_a_number_is_no_version() {
        assert_eq!(read("BoringSSL"), None);
        assert_eq!(read("OpenSSL 1.1.1 (compatible; BoringSSL)"), None);
        assert_eq!(title("OpenSSL 1.1.1 (compatible; BoringSSL)"), "BoringSSL");
    }

    #[test]
    fn an_openssl_whose_number_is_another_release_is_contradicted() {
        let product = |whole| read(whole).unwrap();
        for (whole, number) in [
            ("OpenSSL 3.0.19 27 Jan 2026", 0x3000_0130),
            ("OpenSSL 1.1.1w  11 Sep 2023", 0x1010_117f),
            ("OpenSSL 4.1.0-dev ", 0x4010_0000),
            ("LibreSSL 3.1.0", 0x2000_0000),
            ("AWS-LC 5.12.0", 0x1010_107f),
        ] {
            assert_eq!(contradiction(&product(whole), Some(number)), None, "{whole}");
        }
        let why = contradiction(&product("OpenSSL 9.9.9 1 Apr 2099"), Some(0x1010_117f)).unwrap();
        assert!(why.contains("OpenSSL 9.9.9") && why.ends_with("says 1.1"), "{why}");
        assert_eq!(contradiction(&product("OpenSSL 1.0.2k-fips  26 Jan 2017"), None), None);
    }

    #[test]
    fn the_interface_number_is_read_by_its_fields() {
        assert_eq!(dotted(0x1010_107f), "1.1.1");
        assert_eq!(dotted(0x1000_20ff), "1.0.2");
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_param_has_the_layout_of_params_h() {
        assert_eq!(size_of::<Param>(), 40);
        assert_eq!(std::mem::offset_of!(Param, data), 16);
        assert_eq!(std::mem::offset_of!(Param, return_size), 32);
    }
}
