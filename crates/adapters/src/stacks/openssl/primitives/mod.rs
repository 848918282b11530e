//! Primitives of libcrypto, as libssl calls them where the library has one way to: OpenSSL's functions of
//! EVP. `BoringSSL`, AWS-LC and LibreSSL lack some of these; what is called in their place stands beside each
//! use. Here which operation is which, and private keys in use.

mod encapsulate;
mod exchange;
mod libcrypto;
mod sign;

use crate::stacks::openssl::context::Crypto;
use crate::stacks::reference::{public_key, verifies};
use crate::stacks::secret::{PRIVATE, Secret};
use crate::stacks::{Made, PrivateKeys, Trouble};
use contract::loader::SharedObject;
use encapsulate::{Side, ready as ready_to_receive, receive};
use exchange::{RawBytes, derive, is_raw_only, raw_shared, ready as ready_to_agree};
use libcrypto::{Context, Functions, Key, KeyKind};
use record::tls::{Operation, Primitive, Scheme};
use sign::{Ready as Signing, SIGNATURE, Signature};

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
            Operation::Encapsulate => encapsulate::open(self, scheme),
            Operation::Decapsulate => encapsulate::open_receiver(self, scheme),
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

/// A key that was read.
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

#[cfg(test)]
mod tests {
    use crate::stacks::tests::{openssl, system};
    use crate::stacks::{PRIVATE, Span, Trouble, private_keys, secrets};
    use record::tls::{Operation, Primitive, Scheme};

    #[test]
    fn every_primitive_is_right_in_both_spans_or_is_told_why_not() {
        let Some((stack, _alone)) = openssl() else { return };
        for primitive in Primitive::all(&[], &[], &[1, 64, 1400, 16384]) {
            let mut bench = match stack.primitive(&primitive) {
                Ok(bench) => bench,
                // OpenSSL 3.0 to 3.4 have no ML-KEM.
                Err(Trouble::Failed(why) | Trouble::NotOffered(why)) => {
                    let of_kem =
                        matches!(primitive.scheme, Scheme::Mlkem768 | Scheme::X25519Mlkem768);
                    assert!(of_kem, "{primitive}: {why}");
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
