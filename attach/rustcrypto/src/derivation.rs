//! Key derivation: `pbkdf2`, `hkdf`, `scrypt`, `argon2` and `bcrypt`.
use argon2::{Algorithm, Argon2, Params, Version};
use contract::export::{Derivation, Done, Refusal};
use hkdf::Hkdf;
use sha2::{Sha256, Sha512};
use std::ffi::CStr;
use std::marker::PhantomData;

pub(crate) struct Pbkdf2<H>(PhantomData<H>);

impl<H> Pbkdf2<H> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

macro_rules! pbkdf2 {
    ($($hash:ty),+) => {
        $(impl Derivation for Pbkdf2<$hash> {
            const CALL: &'static CStr = c"pbkdf2::pbkdf2_hmac";

            fn derive(&self, key: &[u8], salt: &[u8], cost: usize, derived: &mut [u8]) -> Done {
                let rounds = cost.try_into().map_err(|_| Refusal::Failed)?;
                pbkdf2::pbkdf2_hmac::<$hash>(key, salt, rounds, derived);
                Ok(())
            }
        })+
    };
}

pbkdf2!(sha1::Sha1, Sha256, Sha512);

pub(crate) struct Scrypt;

impl Derivation for Scrypt {
    const CALL: &'static CStr = c"scrypt::scrypt";

    fn derive(&self, key: &[u8], salt: &[u8], memory: usize, derived: &mut [u8]) -> Done {
        // With r = 8 each of N takes 1 KiB.
        let log_n = (memory / 1024).ilog2() as u8;
        let params = scrypt::Params::new(log_n, 8, 1).map_err(|_| Refusal::Failed)?;
        scrypt::scrypt(key, salt, &params, derived).map_err(|_| Refusal::Failed)
    }
}

/// Variant and passes.
pub(crate) struct Argon(pub(crate) Algorithm, pub(crate) u32);

impl Derivation for Argon {
    const CALL: &'static CStr = c"Argon2::hash_password_into";

    fn derive(&self, key: &[u8], salt: &[u8], memory: usize, derived: &mut [u8]) -> Done {
        let kib = (memory / 1024).try_into().map_err(|_| Refusal::Failed)?;
        let params = Params::new(kib, self.1, 1, Some(derived.len()));
        let params = params.map_err(|_| Refusal::Failed)?;
        let argon2 = Argon2::new(self.0, Version::V0x13, params);
        argon2.hash_password_into(key, salt, derived).map_err(|_| Refusal::Failed)
    }
}

pub(crate) struct Bcrypt;

impl Derivation for Bcrypt {
    const CALL: &'static CStr = c"bcrypt::bcrypt";

    fn derive(&self, key: &[u8], salt: &[u8], rounds: usize, derived: &mut [u8]) -> Done {
        // The crate's own functions for text put the NUL behind the passphrase, too.
        let mut passphrase = [0; 73];
        let room = passphrase.get_mut(..key.len()).ok_or(Refusal::Failed)?;
        room.copy_from_slice(key);
        let salt = salt.try_into().map_err(|_| Refusal::Failed)?;
        let made = bcrypt::bcrypt(rounds.ilog2(), salt, &passphrase[..=key.len()]);
        derived.copy_from_slice(made.get(..derived.len()).ok_or(Refusal::Failed)?);
        Ok(())
    }
}

pub(crate) struct Expand<H>(PhantomData<H>);

impl<H> Expand<H> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

macro_rules! hkdf {
    ($($hash:ty),+) => {
        $(impl Derivation for Expand<$hash> {
            const CALL: &'static CStr = c"Hkdf::new, Hkdf::expand";
            const READS_INFO: bool = true;

            fn derive(&self, _: &[u8], _: &[u8], _: usize, _: &mut [u8]) -> Done {
                Err(Refusal::Failed)
            }

            fn expand(&self, key: &[u8], salt: &[u8], info: &[u8], derived: &mut [u8]) -> Done {
                let extracted = Hkdf::<$hash>::new(Some(salt), key);
                extracted.expand(info, derived).map_err(|_| Refusal::Failed)
            }
        })+
    };
}

hkdf!(Sha256, Sha512);
