//! Primitives of libcrypto, as libssl calls them where the library has one way to: OpenSSL's functions of
//! EVP. `BoringSSL`, AWS-LC and LibreSSL lack some of these; what is called in their place stands beside each
//! use. Here which operation is which, and private keys in use; the functions of libcrypto that primitives
//! are called by, and its keys: made, read, written, as each family of libraries does it.

mod exchange;
mod sign;

use crate::stacks::keys::{self, PRIVATE, Secret, field_parameters, signing_key};
use crate::stacks::openssl::context::{Crypto, Ptr};
use crate::stacks::reference::{kem_lengths, public_key, verifies};
use crate::stacks::{Made, PrivateKeys, Trouble, offered, reference};
use contract::functions;
use contract::loader::SharedObject;
use exchange::{
    RawBytes, Side, derive, is_raw_only, raw_shared, ready_to_derive as ready_to_agree,
    ready_to_encapsulate as ready_to_receive, receive,
};
use record::tls::{Operation, Primitive, Scheme};
use sign::{Ready as Signing, SIGNATURE, Signature};
use std::ffi::{CString, c_char, c_int, c_long, c_uchar, c_uint, c_void};
use std::ptr::{null, null_mut};

/// A libcrypto with its functions.
#[derive(Debug)]
pub(crate) struct Library {
    crypto: Crypto,
    f: Functions,
}

impl Library {
    /// Lives as long as the process, as the library does.
    pub(crate) fn of(crypto: Crypto, object: &SharedObject) -> Result<&'static Self, String> {
        let library = Self { crypto, f: Functions::of(object)? };
        Ok(Box::leak(Box::new(library)))
    }

    /// Makes ready to use private keys of a scheme.
    pub(crate) fn private_keys(
        &'static self,
        scheme: Scheme,
    ) -> Result<Box<dyn PrivateKeys>, Trouble> {
        open_private(self, scheme)
    }

    /// Makes an operation ready.
    pub(crate) fn open(&'static self, primitive: &Primitive) -> Made {
        let scheme = primitive.scheme;
        match primitive.operation {
            Operation::Generate if exchange::is_raw_only(self, scheme) => {
                exchange::raw_generation(self)
            }
            Operation::Agree if exchange::is_raw_only(self, scheme) => {
                exchange::raw_agreement(self)
            }
            Operation::Generate => exchange::open_generation(self, scheme),
            Operation::Agree => exchange::open_agreement(self, scheme),
            Operation::Sign => sign::open_sign(self, scheme),
            Operation::Verify => sign::open_verify(self, scheme),
            Operation::Encapsulate => exchange::open_encapsulation(self, scheme),
            Operation::Decapsulate => exchange::open_receiver(self, scheme),
            Operation::Digest => {
                sign::open_digest(self, scheme, primitive.size.unwrap_or(0) as usize)
            }
        }
    }

    /// A call must have done what it was called for.
    #[inline]
    fn done(&self, done: bool, call: &str) -> Result<(), Trouble> {
        if done { Ok(()) } else { Err(self.failed(call)) }
    }

    #[cold]
    fn failed(&self, call: &str) -> Trouble {
        Trouble::Failed(self.crypto.words(call))
    }

    /// Forgets the errors that a call was meant to make.
    fn forget_errors(&self) {
        // SAFETY: takes nothing.
        unsafe { (self.crypto.ERR_clear_error)() };
    }
}

/// Calls a function of a library's that says 1 where it has done what it was called for.
macro_rules! done {
    ($library:expr, $name:ident($($arguments:expr),*)) => {
        $library.done(($library.f.$name)($($arguments),*) == 1, stringify!($name))
    };
}
use done;

/// An object of a library's, freed with the value.
macro_rules! owned {
    ($(#[$meta:meta])* $name:ident, freed by |$library:ident| $free:expr) => {
        $(#[$meta])*
        pub(crate) struct $name {
            library: &'static Library,
            pub(crate) raw: Ptr,
        }

        impl $name {
            /// What a call has made; an error where that is nothing.
            #[inline]
            pub(crate) fn of(
                library: &'static Library,
                raw: Ptr,
                call: &str,
            ) -> Result<Self, Trouble> {
                if raw.is_null() { Err(library.failed(call)) } else { Ok(Self { library, raw }) }
            }
        }

        impl Drop for $name {
            #[inline]
            fn drop(&mut self) {
                let $library = self.library;
                // SAFETY: made by the library, freed once.
                unsafe { $free(self.raw) };
            }
        }
    };
}
use owned;

/// What does not fit a scheme: the operations of each scheme are told by `record::tls::Scheme::operations`.
fn no_such(scheme: record::tls::Scheme) -> Trouble {
    Trouble::NotOffered(format!("{scheme} has no such operation"))
}

// Private keys in use: each is read anew, and used on a context that is ready, as where only the call is timed.

fn open_private(
    library: &'static Library,
    scheme: Scheme,
) -> Result<Box<dyn PrivateKeys>, Trouble> {
    let known = PRIVATE.iter().find(|(of, _)| *of == scheme);
    let (_, operation) = known.ok_or_else(|| no_such(scheme))?;
    let use_of = match operation {
        Operation::Agree if is_raw_only(library, scheme) => Use::RawAgree,
        Operation::Agree => Use::Agree(Box::new(KeyKind::new(library, scheme)?)),
        Operation::Sign => {
            let signature = Signature::new(library, scheme);
            let messages = signature.messages();
            let digest = signature.digests(&messages).swap_remove(0);
            Use::Sign { signature, message: messages[0].clone(), digest }
        }
        _ => Use::Decapsulate,
    };
    let result = Left { place: vec![0; SIGNATURE], length: 0 };
    Ok(Box::new(Private { library, scheme, use_of, ready: Ready::No, result }))
}

/// What keys are used for.
enum Use {
    Agree(Box<KeyKind>),
    RawAgree,
    Sign { signature: Signature, message: Vec<u8>, digest: Vec<u8> },
    Decapsulate,
}

enum Ready {
    No,
    Agree { context: Context, _own: Key, _peer: Key },
    RawAgree { own: RawBytes, peer: RawBytes },
    Sign { signing: Signing, key: Key },
    Decapsulate { context: Context, ciphertext: Vec<u8>, _key: Key },
}

struct Left {
    place: Vec<u8>,
    length: usize,
}

struct Private {
    library: &'static Library,
    scheme: Scheme,
    use_of: Use,
    ready: Ready,
    result: Left,
}

impl Private {
    fn made_ready(&self, secret: &Secret) -> Result<Ready, Trouble> {
        let library = self.library;
        Ok(match &self.use_of {
            Use::Agree(kind) => {
                let own = library.read_private(&secret.pem)?;
                let peer = kind.decode(own.raw, &secret.input)?;
                let context = ready_to_agree(library, &own, &peer)?;
                Ready::Agree { context, _own: own, _peer: peer }
            }
            Use::RawAgree => {
                let bytes =
                    |of: &[u8]| RawBytes::try_from(of).expect("keys of X25519 have 32 bytes");
                Ready::RawAgree { own: bytes(&secret.raw), peer: bytes(&secret.input) }
            }
            Use::Sign { signature, .. } => {
                let key = library.read_private(&secret.pem)?;
                Ready::Sign { signing: Signing::to_sign(signature, &key)?, key }
            }
            Use::Decapsulate => {
                let key = self.kem_key(secret)?;
                let context = ready_to_receive(library, &key, Side::Receiver)?;
                Ready::Decapsulate { context, ciphertext: secret.input.clone(), _key: key }
            }
        })
    }

    /// ML-KEM's, as each family reads it.
    fn kem_key(&self, secret: &Secret) -> Result<Key, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        let (at, length) = (secret.raw.as_ptr(), secret.raw.len());
        if let (Some(of), Some(read)) = (f.EVP_pkey_ml_kem_768, f.EVP_PKEY_from_private_seed) {
            // SAFETY: the method is the library's; the bytes are as many as is said.
            return Key::of(
                library,
                unsafe { read(of(), at, length) },
                "EVP_PKEY_from_private_seed",
            );
        }
        if let Some(read) = f.EVP_PKEY_kem_new_raw_secret_key {
            let kind = library.numbered("MLKEM768")?;
            // SAFETY: the bytes are as many as is said.
            let raw = unsafe { read(kind, at, length) };
            return Key::of(library, raw, "EVP_PKEY_kem_new_raw_secret_key");
        }
        library.read_private(&secret.pem)
    }

    fn verifies(&self, key: &Key, message: &[u8]) -> Result<bool, String> {
        let info = self.library.public_key_info(key.raw).map_err(|t| t.to_string())?;
        let public = public_key(&info).ok_or("the library writes no public key")?;
        Ok(verifies(self.scheme, public, message, self.result()))
    }
}

impl PrivateKeys for Private {
    fn takes_seeds(&self) -> bool {
        self.library.f.EVP_PKEY_from_private_seed.is_some()
    }

    fn read(&mut self, secret: &Secret) -> Result<(), Trouble> {
        // First freed, so that each finds the same places free.
        self.ready = Ready::No;
        self.ready = self.made_ready(secret)?;
        self.result.place.fill(0);
        Ok(())
    }

    fn call(&mut self) -> Result<(), Trouble> {
        let (library, Left { place, length }) = (self.library, &mut self.result);
        match &self.ready {
            Ready::No => Err(Trouble::Failed("no key was read".to_owned())),
            Ready::Agree { context, .. } => derive(library, context, place, length),
            Ready::RawAgree { own, peer } => {
                let secret = raw_shared(library, own, peer)?;
                place[..secret.len()].copy_from_slice(&secret);
                *length = secret.len();
                Ok(())
            }
            Ready::Sign { signing, .. } => {
                let Use::Sign { digest, .. } = &self.use_of else { return Ok(()) };
                signing.sign(library, digest, place, length)
            }
            Ready::Decapsulate { context, ciphertext, .. } => {
                receive(library, context, ciphertext, place, length)
            }
        }
    }

    fn result(&self) -> &[u8] {
        let Left { place, length } = &self.result;
        &place[..(*length).min(place.len())]
    }

    fn prove(&self, secret: &Secret) -> Result<(), String> {
        if let (Ready::Sign { key, .. }, Use::Sign { message, .. }) = (&self.ready, &self.use_of) {
            let right = self.verifies(key, message)?;
            return if right { Ok(()) } else { Err("the signature does not verify".to_owned()) };
        }
        match &secret.output {
            Some(output) if self.result() != output => Err("the secret is a wrong one".to_owned()),
            None if self.result().len() != 32 => Err("the secret is of a wrong length".to_owned()),
            _ => Ok(()),
        }
    }

    fn stir(&mut self) {
        let mut bytes = [0; 32];
        if let Some(draw) = self.library.f.RAND_bytes {
            // SAFETY: as many bytes are written as there are.
            unsafe { draw(bytes.as_mut_ptr(), bytes.len()) };
        }
    }
}

owned! {
    Key, freed by |library| (library.crypto.EVP_PKEY_free)
}

owned! {
    Context, freed by |library| (library.f.EVP_PKEY_CTX_free)
}

impl Context {
    #[inline]
    pub(crate) fn new(library: &'static Library, key: Ptr) -> Result<Self, Trouble> {
        // SAFETY: the key is live; the context takes its own reference.
        let raw = unsafe { (library.f.EVP_PKEY_CTX_new)(key, null_mut()) };
        Self::of(library, raw, "EVP_PKEY_CTX_new")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Curve25519 or Curve448, by its name: keys are bytes.
    Raw(&'static str),
    /// A curve, by its number.
    Curve(c_int),
    /// The key that the parameters are taken from.
    Field(Ptr),
    /// `OpenSSL`'s name and that of the others.
    Kem(&'static str, &'static str),
}

/// Bytes of a point that is not compressed, at most: of P-521.
const POINT: usize = 133;

/// A kind of key with what it needs to be made.
pub(crate) struct KeyKind {
    pub(crate) library: &'static Library,
    pub(crate) of: Of,
    /// Whether points are read and written without what stands around a public key: an old `BoringSSL`
    /// has the functions for X25519 only.
    has_points: bool,
    /// Bytes of a public key, at most.
    width: usize,
    /// Parameters of a finite field.
    _parameters: Option<Key>,
}

impl KeyKind {
    pub(crate) fn new(library: &'static Library, scheme: Scheme) -> Result<Self, Trouble> {
        let plain = |of, width| {
            let mut kind = Self { library, of, has_points: false, width, _parameters: None };
            kind.has_points = kind.writes_points();
            Ok(kind)
        };
        let kem = |openssl, others| {
            let (width, _) = kem_lengths(scheme).ok_or_else(|| no_such(scheme))?;
            plain(Of::Kem(openssl, others), width)
        };
        match scheme {
            Scheme::X25519 => plain(Of::Raw("X25519"), 32),
            Scheme::X448 => plain(Of::Raw("X448"), 56),
            Scheme::P256 => plain(Of::Curve(number::P256), 97),
            Scheme::P384 => plain(Of::Curve(number::P384), 97),
            Scheme::P521 => plain(Of::Curve(number::P521), POINT),
            Scheme::Mlkem512 => kem("ML-KEM-512", "MLKEM512"),
            Scheme::Mlkem768 => kem("ML-KEM-768", "MLKEM768"),
            Scheme::Mlkem1024 => kem("ML-KEM-1024", "MLKEM1024"),
            Scheme::X25519Mlkem768 => kem("X25519MLKEM768", "X25519MLKEM768"),
            Scheme::Secp256r1Mlkem768 => kem("SecP256r1MLKEM768", "SecP256r1MLKEM768"),
            Scheme::Secp384r1Mlkem1024 => kem("SecP384r1MLKEM1024", "SecP384r1MLKEM1024"),
            _ => {
                let pem = field_parameters(scheme).ok_or_else(|| no_such(scheme))?;
                let parameters = library.read_field(pem)?;
                let of = Of::Field(parameters.raw);
                let parameters = Some(parameters);
                Ok(Self { library, of, has_points: false, width: 512, _parameters: parameters })
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
        let copied = unsafe { copied(key.raw, get, |out| free(out), &mut [0; POINT]) };
        self.library.forget_errors();
        copied.is_some()
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    #[inline]
    pub(crate) fn maker(&self) -> Result<Maker, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        let context = match self.of {
            Of::Raw(name) => library.context_of(name)?,
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
        unsafe { done!(library, EVP_PKEY_keygen_init(context.raw)) }?;
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
        if f.EVP_pkey_ml_kem_768.is_some() && f.EVP_PKEY_generate_from_alg.is_some() {
            return library.kem_method(others).map(Maker::Algorithm);
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
    pub(crate) fn encode(&self, key: Ptr, into: &mut [u8]) -> Result<usize, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        let (get, free) = (f.EVP_PKEY_get1_encoded_public_key, f.CRYPTO_free);
        if let (Some(get), Some(free)) = (get, free) {
            // SAFETY: the key is live; what comes back is given back once, by its own library.
            let copied = unsafe { copied(key, get, |out| free(out, null(), 0), into) };
            return copied.ok_or_else(|| library.failed("EVP_PKEY_get1_encoded_public_key"));
        }
        if let (Some(get), Of::Raw(_) | Of::Kem(..)) = (f.EVP_PKEY_get_raw_public_key, self.of) {
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
    pub(crate) fn decode(&self, own: Ptr, bytes: &[u8]) -> Result<Key, Trouble> {
        let (library, f) = (self.library, &self.library.f);
        let (at, length) = (bytes.as_ptr(), bytes.len());
        if let Some(set) = f.EVP_PKEY_set1_encoded_public_key {
            return self.set(own, set, bytes, "EVP_PKEY_set1_encoded_public_key");
        }
        let raw = match self.of {
            Of::Raw(name) => {
                let new = offered!(f, EVP_PKEY_new_raw_public_key)?;
                let kind = library.numbered(name)?;
                // SAFETY: the bytes are as many as is said.
                unsafe { new(kind, null_mut(), at, length) }
            }
            Of::Kem(_, others) => {
                if let Some(new) = f.EVP_PKEY_kem_new_raw_public_key {
                    // SAFETY: the bytes are as many as is said.
                    unsafe { new(library.numbered(others)?, at, length) }
                } else {
                    let new = offered!(f, EVP_PKEY_from_raw_public_key)?;
                    // SAFETY: the method is the library's; the bytes are as many as is said.
                    unsafe { new(library.kem_method(others)?, at, length) }
                }
            }
            Of::Curve(_) if self.has_points => {
                let set = offered!(f, EVP_PKEY_set1_tls_encodedpoint)?;
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

pub(crate) enum Maker {
    Context(Context),
    /// `BoringSSL` makes keys of ML-KEM without a context.
    Algorithm(Method),
}

impl Maker {
    #[inline]
    pub(crate) fn make(&self, library: &'static Library) -> Result<Key, Trouble> {
        let (raw, call) = match self {
            Self::Context(context) => {
                let mut key = null_mut();
                // SAFETY: the context is live and ready for it.
                unsafe { done!(library, EVP_PKEY_keygen(context.raw, &raw mut key)) }?;
                (key, "EVP_PKEY_keygen")
            }
            Self::Algorithm(of) => {
                let generate = offered!(library.f, EVP_PKEY_generate_from_alg)?;
                // SAFETY: the method is the library's.
                (unsafe { generate(*of) }, "EVP_PKEY_generate_from_alg")
            }
        };
        Key::of(library, raw, call)
    }
}

// Reading keys and parameters, and the small questions around them.

impl Library {
    /// The number of a name; families number differently.
    #[inline]
    pub(crate) fn numbered(&self, name: &str) -> Result<c_int, Trouble> {
        let c_name = CString::new(name).expect("our own words have no zeros");
        // SAFETY: the name is a C string.
        let number = unsafe { (self.f.OBJ_sn2nid)(c_name.as_ptr()) };
        if number == 0 {
            return Err(Trouble::NotOffered(format!("OBJ_sn2nid knows no {name}")));
        }
        Ok(number)
    }

    #[inline]
    pub(crate) fn context_of(&'static self, name: &str) -> Result<Context, Trouble> {
        let number = self.numbered(name)?;
        // SAFETY: takes a number.
        let raw = unsafe { (self.f.EVP_PKEY_CTX_new_id)(number, null_mut()) };
        Context::of(self, raw, "EVP_PKEY_CTX_new_id")
    }

    #[inline]
    pub(crate) fn set_curve(&self, context: &Context, curve: c_int) -> Result<(), Trouble> {
        let set = (self.f.EVP_PKEY_CTX_set_ec_paramgen_curve_nid, self.f.EVP_PKEY_CTX_ctrl);
        // SAFETY: the context is live; both take numbers.
        let done = unsafe {
            match set {
                (Some(set), _) => set(context.raw, curve),
                (None, Some(control)) => {
                    let (operation, command) = (number::OP_GENERATE, number::CTRL_CURVE);
                    control(context.raw, number::EC, operation, command, curve, null_mut())
                }
                (None, None) => 0,
            }
        };
        self.done(done > 0, "EVP_PKEY_CTX_set_ec_paramgen_curve_nid")
    }

    /// `BoringSSL`'s method of a KEM.
    #[inline]
    fn kem_method(&self, name: &str) -> Result<Method, Trouble> {
        let of = match name {
            "MLKEM768" => self.f.EVP_pkey_ml_kem_768,
            "MLKEM1024" => self.f.EVP_pkey_ml_kem_1024,
            _ => None,
        };
        let of = of.ok_or_else(|| Trouble::missing(&format!("a kind of key for {name}")))?;
        // SAFETY: takes nothing, returns a method that lives for ever.
        Ok(unsafe { of() })
    }

    /// `BoringSSL`'s method of ML-DSA, whose keys it reads without what stands around them only.
    fn lattice_method(&self, scheme: Scheme) -> Option<Method> {
        let of = match scheme {
            Scheme::Mldsa44 => self.f.EVP_pkey_ml_dsa_44,
            Scheme::Mldsa65 => self.f.EVP_pkey_ml_dsa_65,
            Scheme::Mldsa87 => self.f.EVP_pkey_ml_dsa_87,
            _ => None,
        };
        // SAFETY: takes nothing, returns a method that lives for ever.
        of.map(|of| unsafe { of() })
    }

    pub(crate) fn signing_key(&'static self, scheme: Scheme) -> Result<Key, Trouble> {
        let (pem, _) = signing_key(scheme).ok_or_else(|| no_such(scheme))?;
        let method = self.lattice_method(scheme).zip(self.f.EVP_PKEY_from_private_seed);
        let Some((method, read)) = method else {
            let raw = self.crypto.read_pem(pem, self.crypto.PEM_read_bio_PrivateKey);
            return Key::of(self, raw, &format!("PEM_read_bio_PrivateKey of {scheme}"));
        };
        let seed = keys::seed(pem);
        // SAFETY: the method is the library's; the bytes are as many as is said.
        let raw = unsafe { read(method, seed.as_ptr(), seed.len()) };
        Key::of(self, raw, "EVP_PKEY_from_private_seed")
    }

    /// Its public part, as a client has it.
    pub(crate) fn verifying_key(
        &'static self,
        scheme: Scheme,
        private: &Key,
    ) -> Result<Key, Trouble> {
        let method = self.lattice_method(scheme).zip(self.f.EVP_PKEY_from_raw_public_key);
        let Some((method, read)) = method else { return self.public_part(private) };
        let (_, public) = signing_key(scheme).ok_or_else(|| no_such(scheme))?;
        // SAFETY: the method is the library's; the bytes are as many as is said.
        let raw = unsafe { read(method, public.as_ptr(), public.len()) };
        Key::of(self, raw, "EVP_PKEY_from_raw_public_key")
    }

    pub(crate) fn read_private(&'static self, pem: &str) -> Result<Key, Trouble> {
        let raw = self.crypto.read_pem(pem, self.crypto.PEM_read_bio_PrivateKey);
        Key::of(self, raw, "PEM_read_bio_PrivateKey")
    }

    /// A key's public part alone, as a client has it.
    pub(crate) fn public_part(&'static self, key: &Key) -> Result<Key, Trouble> {
        let info = self.public_key_info(key.raw)?;
        Key::of(self, self.read_public_key_info(&info), "d2i_PUBKEY")
    }

    /// Parameters of DH, as a key without a key.
    pub(crate) fn read_field(&'static self, pem: &str) -> Result<Key, Trouble> {
        let crypto = &self.crypto;
        if let Some(read) = crypto.PEM_read_bio_Parameters {
            // SAFETY: the BIO is live.
            let raw = crypto.with_pem(pem, |bio| unsafe { read(bio, null_mut()) });
            return Key::of(self, raw, "PEM_read_bio_Parameters");
        }
        let dh = crypto.read_pem(pem, offered!(crypto, PEM_read_bio_DHparams)?);
        // SAFETY: takes nothing.
        let key = Key::of(self, unsafe { (self.f.EVP_PKEY_new)() }, "EVP_PKEY_new")?;
        // SAFETY: both are live; the parameters become the key's.
        let done =
            !dh.is_null() && unsafe { (self.f.EVP_PKEY_assign)(key.raw, number::DH, dh) } == 1;
        self.done(done, "EVP_PKEY_assign of DH")?;
        Ok(key)
    }

    pub(crate) fn public_key_info(&self, key: Ptr) -> Result<Vec<u8>, Trouble> {
        // SAFETY: the key is live; without a place the length comes back.
        let length = unsafe { (self.f.i2d_PUBKEY)(key, null_mut()) };
        let length = usize::try_from(length).ok().filter(|n| *n > 0);
        let mut info = vec![0; length.ok_or_else(|| self.failed("i2d_PUBKEY"))?];
        let mut at = info.as_mut_ptr();
        // SAFETY: the place is as long as was said.
        let written = unsafe { (self.f.i2d_PUBKEY)(key, &raw mut at) };
        self.done(usize::try_from(written) == Ok(info.len()), "i2d_PUBKEY")?;
        Ok(info)
    }

    pub(crate) fn read_public_key_info(&self, info: &[u8]) -> Ptr {
        let mut at = info.as_ptr();
        // SAFETY: the bytes are as many as is said and only read.
        unsafe { (self.f.d2i_PUBKEY)(null_mut(), &raw mut at, info.len() as c_long) }
    }
}

// The functions of libcrypto that primitives are called by. Types are those of OpenSSL 3's headers, and
// of `BoringSSL`'s and AWS-LC's for what only they have.

/// A digest's or an algorithm's method.
pub(crate) type Method = *const c_void;
/// Bytes that are read.
pub(crate) type In = *const c_uchar;
/// Bytes that are written.
pub(crate) type Out = *mut c_uchar;

functions! {
    /// Of libcrypto, for primitives.
    pub(crate) struct Functions
    required {
        OBJ_sn2nid: fn(*const c_char) -> c_int;
        EVP_PKEY_new: fn() -> Ptr;
        EVP_PKEY_assign: fn(Ptr, c_int, Ptr) -> c_int;
        EVP_PKEY_copy_parameters: fn(Ptr, Ptr) -> c_int;
        EVP_PKEY_CTX_new: fn(Ptr, Ptr) -> Ptr;
        EVP_PKEY_CTX_new_id: fn(c_int, Ptr) -> Ptr;
        EVP_PKEY_CTX_free: fn(Ptr);
        EVP_PKEY_keygen_init: fn(Ptr) -> c_int;
        EVP_PKEY_keygen: fn(Ptr, *mut Ptr) -> c_int;
        EVP_PKEY_derive_init: fn(Ptr) -> c_int;
        EVP_PKEY_derive_set_peer: fn(Ptr, Ptr) -> c_int;
        EVP_PKEY_derive: fn(Ptr, Out, *mut usize) -> c_int;
        EVP_PKEY_sign_init: fn(Ptr) -> c_int;
        EVP_PKEY_sign: fn(Ptr, Out, *mut usize, In, usize) -> c_int;
        EVP_PKEY_verify_init: fn(Ptr) -> c_int;
        EVP_PKEY_verify: fn(Ptr, In, usize, In, usize) -> c_int;
        EVP_MD_CTX_new: fn() -> Ptr;
        EVP_MD_CTX_free: fn(Ptr);
        EVP_DigestInit_ex: fn(Ptr, Method, Ptr) -> c_int;
        EVP_DigestUpdate: fn(Ptr, *const c_void, usize) -> c_int;
        EVP_DigestFinal_ex: fn(Ptr, Out, *mut c_uint) -> c_int;
        EVP_Digest: fn(*const c_void, usize, Out, *mut c_uint, Method, Ptr) -> c_int;
        EVP_DigestSignInit: fn(Ptr, *mut Ptr, Method, Ptr, Ptr) -> c_int;
        EVP_DigestSignFinal: fn(Ptr, Out, *mut usize) -> c_int;
        EVP_DigestVerifyInit: fn(Ptr, *mut Ptr, Method, Ptr, Ptr) -> c_int;
        EVP_DigestVerifyFinal: fn(Ptr, In, usize) -> c_int;
        EVP_sha256: fn() -> Method;
        EVP_sha384: fn() -> Method;
        EVP_sha512: fn() -> Method;
        HMAC: fn(Method, *const c_void, c_int, In, usize, Out, *mut c_uint) -> Out;
        HMAC_CTX_new: fn() -> Ptr;
        HMAC_CTX_free: fn(Ptr);
        HMAC_Init_ex: fn(Ptr, *const c_void, c_int, Method, Ptr) -> c_int;
        HMAC_Update: fn(Ptr, In, usize) -> c_int;
        HMAC_Final: fn(Ptr, Out, *mut c_uint) -> c_int;
        i2d_PUBKEY: fn(Ptr, *mut Out) -> c_int;
        d2i_PUBKEY: fn(*mut Ptr, *mut In, c_long) -> Ptr;
    }
    optional {
        // OpenSSL from 3.0 on.
        EVP_PKEY_CTX_new_from_name: fn(Ptr, *const c_char, *const c_char) -> Ptr;
        EVP_PKEY_get1_encoded_public_key: fn(Ptr, *mut Out) -> usize;
        EVP_PKEY_set1_encoded_public_key: fn(Ptr, In, usize) -> c_int;
        EVP_MD_fetch: fn(Ptr, *const c_char, *const c_char) -> Method;
        CRYPTO_free: fn(Ptr, *const c_char, c_int);
        // In all, with lengths of one width or another.
        RAND_bytes: fn(Out, usize) -> c_int;
        // BoringSSL and AWS-LC.
        EVP_PKEY_get1_tls_encodedpoint: fn(Ptr, *mut Out) -> usize;
        EVP_PKEY_set1_tls_encodedpoint: fn(Ptr, In, usize) -> c_int;
        OPENSSL_free: fn(Ptr);
        // Macros in LibreSSL.
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid: fn(Ptr, c_int) -> c_int;
        EVP_PKEY_CTX_set_rsa_padding: fn(Ptr, c_int) -> c_int;
        EVP_PKEY_CTX_set_rsa_pss_saltlen: fn(Ptr, c_int) -> c_int;
        EVP_PKEY_CTX_set_signature_md: fn(Ptr, Method) -> c_int;
        EVP_PKEY_CTX_ctrl: fn(Ptr, c_int, c_int, c_int, c_int, Ptr) -> c_int;
        // Not in LibreSSL 3.1.
        EVP_PKEY_new_raw_public_key: fn(c_int, Ptr, In, usize) -> Ptr;
        EVP_PKEY_get_raw_public_key: fn(Ptr, Out, *mut usize) -> c_int;
        EVP_DigestSign: fn(Ptr, Out, *mut usize, In, usize) -> c_int;
        EVP_DigestVerify: fn(Ptr, In, usize, In, usize) -> c_int;
        // Curve25519 without EVP.
        X25519_keypair: fn(Out, Out);
        X25519: fn(Out, In, In) -> c_int;
        // ML-KEM: the last two steps are called alike, keys are made differently by each.
        EVP_PKEY_encapsulate_init: fn(Ptr, *const c_void) -> c_int;
        EVP_PKEY_encapsulate: fn(Ptr, Out, *mut usize, Out, *mut usize) -> c_int;
        EVP_PKEY_decapsulate_init: fn(Ptr, *const c_void) -> c_int;
        EVP_PKEY_decapsulate: fn(Ptr, Out, *mut usize, In, usize) -> c_int;
        EVP_PKEY_CTX_kem_set_params: fn(Ptr, c_int) -> c_int;
        EVP_PKEY_kem_new_raw_public_key: fn(c_int, In, usize) -> Ptr;
        EVP_pkey_ml_kem_768: fn() -> Method;
        EVP_pkey_ml_kem_1024: fn() -> Method;
        EVP_pkey_ml_dsa_44: fn() -> Method;
        EVP_pkey_ml_dsa_65: fn() -> Method;
        EVP_pkey_ml_dsa_87: fn() -> Method;
        EVP_PKEY_generate_from_alg: fn(Method) -> Ptr;
        EVP_PKEY_from_raw_public_key: fn(Method, In, usize) -> Ptr;
        EVP_PKEY_from_private_seed: fn(Method, In, usize) -> Ptr;
        EVP_PKEY_kem_new_raw_secret_key: fn(c_int, In, usize) -> Ptr;
    }
}

/// Numbers of the headers, the same in every family.
pub(crate) mod number {
    use std::ffi::c_int;

    /// `NID_X9_62_id_ecPublicKey`, which is `EVP_PKEY_EC`.
    pub(crate) const EC: c_int = 408;
    /// `NID_rsaEncryption`, which is `EVP_PKEY_RSA`.
    pub(crate) const RSA: c_int = 6;
    /// `NID_dhKeyAgreement`, which is `EVP_PKEY_DH`.
    pub(crate) const DH: c_int = 28;
    /// `NID_X9_62_prime256v1`
    pub(crate) const P256: c_int = 415;
    /// `NID_secp384r1`
    pub(crate) const P384: c_int = 715;
    /// `NID_secp521r1`
    pub(crate) const P521: c_int = 716;
    /// `RSA_PKCS1_PADDING`
    pub(crate) const PKCS1: c_int = 1;
    /// `RSA_PKCS1_PSS_PADDING`
    pub(crate) const PSS: c_int = 6;
    /// `RSA_PSS_SALTLEN_DIGEST`
    pub(crate) const SALT_AS_DIGEST: c_int = -1;

    // Of LibreSSL 3, whose headers have macros for these.
    /// `EVP_PKEY_OP_PARAMGEN | EVP_PKEY_OP_KEYGEN`
    pub(crate) const OP_GENERATE: c_int = (1 << 1) | (1 << 2);
    /// `EVP_PKEY_OP_SIGN | EVP_PKEY_OP_VERIFY`
    pub(crate) const OP_SIGNATURE: c_int = (1 << 3) | (1 << 4);
    /// `EVP_PKEY_OP_TYPE_SIG`
    pub(crate) const OP_ALL_SIGNATURES: c_int = 0x1f << 3;
    /// `EVP_PKEY_CTRL_MD`
    pub(crate) const CTRL_DIGEST: c_int = 1;
    /// `EVP_PKEY_CTRL_EC_PARAMGEN_CURVE_NID`
    pub(crate) const CTRL_CURVE: c_int = 0x1001;
    /// `EVP_PKEY_CTRL_RSA_PADDING`
    pub(crate) const CTRL_PADDING: c_int = 0x1001;
    /// `EVP_PKEY_CTRL_RSA_PSS_SALTLEN`
    pub(crate) const CTRL_SALT: c_int = 0x1002;
}

#[cfg(test)]
mod tests {
    use crate::stacks::tests::{openssl, system};
    use crate::stacks::{PRIVATE, Span, Trouble, private_keys, secrets};
    use record::tls::{Operation, Primitive, Scheme};

    fn is_of_lattices(scheme: Scheme) -> bool {
        ["mlkem", "mldsa"].iter().any(|part| scheme.name().contains(part))
    }

    #[test]
    #[ignore = "long: seconds"]
    fn every_primitive_is_right_in_both_spans_or_is_told_why_not() {
        let Some((stack, _alone)) = openssl() else { return };
        for primitive in Primitive::all(&[], &[], &[1, 64, 1400, 16384]) {
            let mut bench = match stack.primitive(&primitive) {
                Ok(bench) => bench,
                // OpenSSL 3.0 to 3.4 have no ML-KEM and no ML-DSA.
                Err(Trouble::Failed(why) | Trouble::NotOffered(why)) => {
                    assert!(is_of_lattices(primitive.scheme), "{primitive}: {why}");
                    continue;
                }
            };
            bench.examine().unwrap_or_else(|why| panic!("{primitive}: {why}"));
            // Slow ones take a tenth of a second each.
            let is_fast = primitive.operation == Operation::Digest;
            for times in if is_fast { [3, 150] } else { [1, 9] } {
                for span in [Span::Whole, Span::Call] {
                    bench.run(span, times).unwrap_or_else(|why| panic!("{primitive}: {why}"));
                }
                bench.prove().unwrap_or_else(|why| panic!("{primitive}: {why}"));
            }
            assert!(!bench.checks().is_empty(), "{primitive}");
        }
    }

    #[test]
    fn what_no_scheme_does_is_not_offered() {
        let Some((stack, _alone)) = openssl() else { return };
        let primitive =
            Primitive { scheme: Scheme::Sha256, operation: Operation::Sign, size: None };
        let Err(trouble) = stack.primitive(&primitive) else { panic!("opened") };
        assert_eq!(trouble, Trouble::NotOffered("sha256 has no such operation".to_owned()));
    }

    #[test]
    fn a_private_key_of_each_scheme_is_used_as_often_as_it_is_asked_and_gives_what_it_must() {
        let Some(file) = system("libcrypto.so.3") else { return };
        let _alone = crate::stacks::alone();
        for (scheme, _) in PRIVATE {
            let mut keys = private_keys(&file, &file, scheme).unwrap();
            let all = secrets(scheme, 4, keys.takes_seeds());
            for (number, secret) in all.iter().enumerate() {
                if let Err(trouble) = keys.read(secret) {
                    // OpenSSL 3.0 to 3.4 have no ML-KEM.
                    assert_eq!(scheme, Scheme::Mlkem768, "{trouble}");
                    continue;
                }
                for _ in 0..2 {
                    keys.call().unwrap();
                    keys.prove(secret).unwrap_or_else(|why| panic!("{scheme} {number}: {why}"));
                }
                let other = &all[(number + 1) % all.len()];
                // Signatures have no one answer, and of P-256's secrets only the first one's is known.
                assert!(other.output.is_none() || keys.prove(other).is_err(), "{scheme}");
            }
        }
    }

    #[test]
    fn private_keys_are_asked_only_of_what_is_a_libcrypto_itself() {
        let Some(file) = system("libssl.so.3") else { return };
        let _alone = crate::stacks::alone();
        let Err(Trouble::NotOffered(why)) = private_keys(&file, &file, Scheme::X25519) else {
            panic!("libssl is none")
        };
        assert!(why.contains("is known for x25519"), "{why}");
    }
}
