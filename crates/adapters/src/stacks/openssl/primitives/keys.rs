//! Keys: made, read, written, as each family does it.

use super::api::{Method, number};
use super::{Library, no_such, owned};
use crate::stacks::bench::Trouble;
use crate::stacks::keys::field_parameters;
use crate::stacks::openssl::api::Ptr;
use crate::stacks::reference;
use record::tls::Scheme;
use std::ffi::{CString, c_int};
use std::ptr::{null, null_mut};

owned! {
    /// `EVP_PKEY`.
    Key, freed by |library| (library.crypto.EVP_PKEY_free)
}

owned! {
    /// `EVP_PKEY_CTX`.
    Context, freed by |library| (library.f.EVP_PKEY_CTX_free)
}

impl Context {
    /// For a key.
    #[inline]
    pub(super) fn new(library: &'static Library, key: Ptr) -> Result<Self, Trouble> {
        // SAFETY: the key is live; the context takes its own reference.
        let raw = unsafe { (library.f.EVP_PKEY_CTX_new)(key, null_mut()) };
        Self::of(library, raw, "EVP_PKEY_CTX_new")
    }
}

/// What keys are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    X25519,
    /// A curve, by its number.
    Curve(c_int),
    /// The key that the parameters are taken from.
    Field(Ptr),
    /// `OpenSSL`'s name and that of the others.
    Kem(&'static str, &'static str),
}

/// A kind of key with what it needs to be made.
pub(super) struct KeyKind {
    pub(super) library: &'static Library,
    pub(super) of: Of,
    /// Whether points are read and written without what stands around a public key: an old `BoringSSL`
    /// has the functions for X25519 only.
    has_points: bool,
    /// Parameters of a finite field.
    _parameters: Option<Key>,
}

impl KeyKind {
    pub(super) fn new(library: &'static Library, scheme: Scheme) -> Result<Self, Trouble> {
        let plain = |of| {
            let mut kind = Self { library, of, has_points: false, _parameters: None };
            kind.has_points = kind.writes_points();
            Ok(kind)
        };
        match scheme {
            Scheme::X25519 => plain(Of::X25519),
            Scheme::P256 => plain(Of::Curve(number::P256)),
            Scheme::P384 => plain(Of::Curve(number::P384)),
            Scheme::Mlkem768 => plain(Of::Kem("ML-KEM-768", "MLKEM768")),
            Scheme::X25519Mlkem768 => plain(Of::Kem("X25519MLKEM768", "X25519MLKEM768")),
            _ => {
                let pem = field_parameters(scheme).ok_or_else(|| no_such(scheme))?;
                let parameters = library.read_field(pem)?;
                let of = Of::Field(parameters.raw);
                Ok(Self { library, of, has_points: false, _parameters: Some(parameters) })
            }
        }
    }

    fn writes_points(&self) -> bool {
        let f = &self.library.f;
        let (get, free) = (f.EVP_PKEY_get1_tls_encodedpoint, f.OPENSSL_free);
        let (Of::Curve(_), Some(get), Some(free)) = (self.of, get, free) else { return false };
        if f.EVP_PKEY_set1_tls_encodedpoint.is_none() {
            return false;
        }
        let Ok(key) = self.maker().and_then(|maker| maker.make(self.library)) else { return false };
        // SAFETY: the key is live; what comes back is given back once, by its own library.
        let copied = unsafe { copied(key.raw, get, |out| free(out), &mut [0; 97]) };
        self.library.forget_errors();
        copied.is_some()
    }

    /// Bytes of a public key, at most.
    pub(super) fn width(&self) -> usize {
        match self.of {
            Of::X25519 => 32,
            Of::Curve(_) => 97,
            Of::Field(_) => 512,
            Of::Kem(..) => 1216,
        }
    }

    /// What makes such keys.
    #[inline]
    pub(super) fn maker(&self) -> Result<Maker, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        let context = match self.of {
            Of::X25519 => library.context_of("X25519")?,
            Of::Curve(_) => {
                // SAFETY: takes a number.
                let raw = unsafe { (f.EVP_PKEY_CTX_new_id)(number::EC, null_mut()) };
                Context::of(library, raw, "EVP_PKEY_CTX_new_id")?
            }
            Of::Field(parameters) => Context::new(library, parameters)?,
            Of::Kem(openssl, others) => match self.kem_maker(openssl, others)? {
                Maker::Context(context) => context,
                algorithm => return Ok(algorithm),
            },
        };
        // SAFETY: the context is live.
        let ready = unsafe { (f.EVP_PKEY_keygen_init)(context.raw) } == 1;
        library.done(ready, "EVP_PKEY_keygen_init")?;
        match self.of {
            Of::Curve(curve) => library.set_curve(&context, curve)?,
            Of::Kem(_, others) => {
                if let Some(set) = f.EVP_PKEY_CTX_kem_set_params {
                    let kind = library.numbered(others)?;
                    // SAFETY: the context is live.
                    let done = unsafe { set(context.raw, kind) } == 1;
                    library.done(done, "EVP_PKEY_CTX_kem_set_params")?;
                }
            }
            _ => {}
        }
        Ok(Maker::Context(context))
    }

    fn kem_maker(&self, openssl: &str, others: &str) -> Result<Maker, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        if let (Some(of), Some(_)) = (f.EVP_pkey_ml_kem_768, f.EVP_PKEY_generate_from_alg) {
            if others != "MLKEM768" {
                return Err(Trouble::missing(&format!("a kind of key for {others}")));
            }
            // SAFETY: takes nothing, returns a method that lives for ever.
            return Ok(Maker::Algorithm(unsafe { of() }));
        }
        if f.EVP_PKEY_CTX_kem_set_params.is_some() {
            return Ok(Maker::Context(library.context_of("KEM")?));
        }
        let Some(new) = f.EVP_PKEY_CTX_new_from_name else {
            return Err(Trouble::missing("a function for ML-KEM"));
        };
        let name = CString::new(openssl).expect("our own words have no zeros");
        // SAFETY: the name is a C string; no library context, no properties.
        let raw = unsafe { new(null_mut(), name.as_ptr(), null()) };
        let call = format!("EVP_PKEY_CTX_new_from_name of {openssl}");
        Ok(Maker::Context(Context::of(library, raw, &call)?))
    }

    /// A key's public part as it is on the wire; how long it is.
    #[inline]
    pub(super) fn encode(&self, key: Ptr, into: &mut [u8]) -> Result<usize, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        let (get, free) = (f.EVP_PKEY_get1_encoded_public_key, f.CRYPTO_free);
        if let (Some(get), Some(free)) = (get, free) {
            // SAFETY: the key is live; what comes back is given back once, by its own library.
            let copied = unsafe { copied(key, get, |out| free(out, null(), 0), into) };
            return copied.ok_or_else(|| library.failed("EVP_PKEY_get1_encoded_public_key"));
        }
        if let (Some(get), Of::X25519 | Of::Kem(..)) = (f.EVP_PKEY_get_raw_public_key, self.of) {
            let mut length = into.len();
            // SAFETY: the key is live; the buffer is as long as is said.
            let got = unsafe { get(key, into.as_mut_ptr(), &raw mut length) } == 1;
            return library.done(got, "EVP_PKEY_get_raw_public_key").map(|()| length);
        }
        let (get, free) = (f.EVP_PKEY_get1_tls_encodedpoint, f.OPENSSL_free);
        if let (Some(get), Some(free), true) = (get, free, self.has_points) {
            // SAFETY: as above.
            let copied = unsafe { copied(key, get, |out| free(out), into) };
            return copied.ok_or_else(|| library.failed("EVP_PKEY_get1_tls_encodedpoint"));
        }
        let info = library.public_key_info(key)?;
        let public = reference::public_key(&info);
        let public = match self.of {
            Of::Field(_) => public.and_then(reference::integer),
            _ => public,
        };
        let public = public.filter(|p| p.len() <= into.len());
        let public = public.ok_or_else(|| library.failed("i2d_PUBKEY"))?;
        into[..public.len()].copy_from_slice(public);
        Ok(public.len())
    }

    /// The other side's public key from its bytes. `own` is a key of the same kind.
    #[inline]
    pub(super) fn decode(&self, own: Ptr, bytes: &[u8]) -> Result<Key, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        let (at, length) = (bytes.as_ptr(), bytes.len());
        if let Some(set) = f.EVP_PKEY_set1_encoded_public_key {
            return self.set(own, set, bytes, "EVP_PKEY_set1_encoded_public_key");
        }
        let raw = match self.of {
            Of::X25519 => {
                let new = f.EVP_PKEY_new_raw_public_key;
                let new = new.ok_or_else(|| Trouble::missing("EVP_PKEY_new_raw_public_key"))?;
                let kind = library.numbered("X25519")?;
                // SAFETY: the bytes are as many as is said.
                unsafe { new(kind, null_mut(), at, length) }
            }
            Of::Kem(_, others) => {
                if let Some(new) = f.EVP_PKEY_kem_new_raw_public_key {
                    // SAFETY: the bytes are as many as is said.
                    unsafe { new(library.numbered(others)?, at, length) }
                } else {
                    let (of, new) = (f.EVP_pkey_ml_kem_768, f.EVP_PKEY_from_raw_public_key);
                    let of = of.ok_or_else(|| Trouble::missing("EVP_pkey_ml_kem_768"))?;
                    let new =
                        new.ok_or_else(|| Trouble::missing("EVP_PKEY_from_raw_public_key"))?;
                    // SAFETY: the method is the library's; the bytes are as many as is said.
                    unsafe { new(of(), at, length) }
                }
            }
            Of::Curve(_) if self.has_points => {
                let set = f.EVP_PKEY_set1_tls_encodedpoint;
                let set = set.ok_or_else(|| Trouble::missing("EVP_PKEY_set1_tls_encodedpoint"))?;
                return self.set(own, set, bytes, "EVP_PKEY_set1_tls_encodedpoint");
            }
            Of::Curve(_) | Of::Field(_) => {
                let own = library.public_key_info(own)?;
                let other = reference::with_public_key(&own, bytes);
                library.read_public_key_info(&other.unwrap_or_default())
            }
        };
        Key::of(library, raw, "reading the other side's public key")
    }

    /// A new key with one's own parameters and the other side's public part, as libssl makes it.
    #[inline]
    fn set(
        &self,
        own: Ptr,
        set: unsafe extern "C" fn(Ptr, *const u8, usize) -> c_int,
        bytes: &[u8],
        call: &str,
    ) -> Result<Key, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        // SAFETY: takes nothing.
        let key = Key::of(library, unsafe { (f.EVP_PKEY_new)() }, "EVP_PKEY_new")?;
        // SAFETY: both keys are live; the bytes are as many as is said.
        let done = unsafe {
            (f.EVP_PKEY_copy_parameters)(key.raw, own) == 1
                && set(key.raw, bytes.as_ptr(), bytes.len()) == 1
        };
        library.done(done, call)?;
        Ok(key)
    }
}

/// Copies a public key that a library writes into memory of its own, and gives that back; none where it
/// writes nothing that fits.
///
/// # Safety
/// The key is live; what `get` allocates is what `free` takes.
#[inline]
unsafe fn copied(
    key: Ptr,
    get: unsafe extern "C" fn(Ptr, *mut *mut u8) -> usize,
    free: impl FnOnce(Ptr),
    into: &mut [u8],
) -> Option<usize> {
    let mut out = null_mut();
    // SAFETY: the caller vouches for the key; as many bytes are read as were written, and the place is long
    // enough.
    unsafe {
        let length = get(key, &raw mut out);
        let fits = !out.is_null() && (1..=into.len()).contains(&length);
        if fits {
            std::ptr::copy_nonoverlapping(out, into.as_mut_ptr(), length);
        }
        free(out.cast());
        fits.then_some(length)
    }
}

/// What makes keys.
pub(super) enum Maker {
    Context(Context),
    /// `BoringSSL` makes keys of ML-KEM without a context.
    Algorithm(Method),
}

impl Maker {
    /// A new key.
    #[inline]
    pub(super) fn make(&self, library: &'static Library) -> Result<Key, Trouble> {
        let (raw, call) = match self {
            Self::Context(context) => {
                let mut key = null_mut();
                // SAFETY: the context is live and ready for it.
                let made = unsafe { (library.f.EVP_PKEY_keygen)(context.raw, &raw mut key) } == 1;
                library.done(made, "EVP_PKEY_keygen")?;
                (key, "EVP_PKEY_keygen")
            }
            Self::Algorithm(of) => {
                let name = "EVP_PKEY_generate_from_alg";
                let generate = library.f.EVP_PKEY_generate_from_alg;
                let generate = generate.ok_or_else(|| Trouble::missing(name))?;
                // SAFETY: the method is the library's.
                (unsafe { generate(*of) }, name)
            }
        };
        Key::of(library, raw, call)
    }
}
