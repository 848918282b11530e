//! Private keys in use: each is read anew, and used on a context that is ready, as where only the call is timed.

use super::agree::{derive, ready as ready_to_agree};
use super::encapsulate::{Side, ready as ready_to_receive, receive};
use super::keys::{Context, Key, KeyKind};
use super::raw_x25519::{Bytes, is_all_there_is, shared};
use super::sign::{Ready as Signing, SIGNATURE, Signature};
use super::{Library, no_such};
use crate::stacks::bench::Trouble;
use crate::stacks::primitive::PrivateKeys;
use crate::stacks::reference::{public_key, verifies};
use crate::stacks::secret::{PRIVATE, Secret};
use record::tls::{Operation, Scheme};

pub(super) fn open(
    library: &'static Library,
    scheme: Scheme,
) -> Result<Box<dyn PrivateKeys>, Trouble> {
    let known = PRIVATE.iter().find(|(of, _)| *of == scheme);
    let (_, operation) = known.ok_or_else(|| no_such(scheme))?;
    let use_of = match operation {
        Operation::Agree if is_all_there_is(library, scheme) => Use::RawAgree,
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
    RawAgree { own: Bytes, peer: Bytes },
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
                let bytes = |of: &[u8]| Bytes::try_from(of).expect("keys of X25519 have 32 bytes");
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
                let secret = shared(library, own, peer)?;
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
