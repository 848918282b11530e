//! OpenSSL, LibreSSL, BoringSSL and AWS-LC through the EVP interface that they share.
//! `README.md` beside this file says which functions, why, and what is inside the clock.

mod aead;
mod api;
mod cipher;
mod context;
mod identity;
mod messages;
mod state;
#[cfg(test)]
mod tests;

use crate::loader::{LoadError, SharedObject};
use aead::Aead;
use api::Api;
use contract::{Identity, Library, OpenError, Session, raw};
use identity::Product;
use model::{Algorithm, Direction, Primitive};
use std::ffi::c_void;
use std::ptr;

/// Attaches any library of the family, of any version.
///
/// # Errors
/// [`LoadError::Unusable`] when a function is missing, the library does not initialise, or it does
/// not say which version it is.
pub(crate) fn attach(
    object: SharedObject,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    let api = Api::load(&object)?;
    initialise(&object)?;
    let (product, build) = identity::ask(&object)?;
    let identity = Identity {
        name: name.map_or_else(|| product.name.clone(), str::to_owned),
        version: product.version.clone(),
        build,
    };
    Ok(Box::new(Evp { identity, product, api, object }))
}

/// Initialises the library without its configuration file, so that what is measured is the file
/// that was named and not this machine's `openssl.cnf` (providers, engines, default properties).
/// From OpenSSL 3 on the first fetch would read it; the first of the two requests wins for good.
fn initialise(object: &SharedObject) -> Result<(), LoadError> {
    /// `OPENSSL_INIT_NO_LOAD_CONFIG`, the same in every library that has the function.
    const NO_LOAD_CONFIG: u64 = 0x80;
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
        if unsafe { init(NO_LOAD_CONFIG, ptr::null()) } != 1 {
            return Err(object.unusable("OPENSSL_init_crypto failed"));
        }
    } else if let Some(add_all) = add_all {
        // SAFETY: takes nothing; fills the table that EVP_get_cipherbyname searches.
        unsafe { add_all() };
    }
    Ok(())
}

struct Evp {
    identity: Identity,
    product: Product,
    api: Api,
    object: SharedObject,
}

impl Library for Evp {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        if key.len() != algorithm.key_len {
            return Err(OpenError::Failed(format!(
                "{algorithm} takes a key of {} bytes, not {}",
                algorithm.key_len,
                key.len()
            )));
        }
        if !algorithm.encrypts() {
            return Err(self.has_no(algorithm));
        }
        if !Direction::of(algorithm.kind).contains(&direction) {
            return Err(OpenError::Unsupported(format!(
                "{algorithm} has no direction {direction}"
            )));
        }
        let raw = self.open_raw(algorithm, direction, key)?;
        // SAFETY: the functions of `messages` and `aead` keep the header's rules, and each session
        // has a state of its own.
        Ok(unsafe { Session::new(raw, algorithm, direction) })
    }
}

impl Evp {
    fn open_raw(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<raw::Session, OpenError> {
        match cipher::find(&self.object, &self.api, algorithm) {
            Some(cipher) => {
                let context = context::Context::open(&self.api, &cipher, algorithm, direction, key)
                    .map_err(|e| OpenError::Failed(format!("{}: {e}", self.product)))?;
                Ok(messages::session(&self.api, context, algorithm, direction))
            }
            None if algorithm.cipher == Primitive::ChaCha20 => {
                self.open_aead(algorithm, direction, key)
            }
            None => Err(self.has_no(algorithm)),
        }
    }

    /// BoringSSL and older LibreSSL have ChaCha20-Poly1305 beside EVP_CIPHER, not in it.
    fn open_aead(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<raw::Session, OpenError> {
        if !self.object.has(aead::CHACHA20_POLY1305) {
            return Err(self.has_no(algorithm));
        }
        let Some(aead) = Aead::load(&self.object) else {
            return Err(OpenError::Unsupported(format!(
                "{} has {algorithm} only as EVP_AEAD_CTX_seal and _open, with the tag behind the \
                 ciphertext: to part them the adapter would have to copy inside the clock",
                self.product
            )));
        };
        aead.open(self.api.errors, algorithm, direction, key)
            .map_err(|e| OpenError::Failed(format!("{}: {e}", self.product)))
    }

    fn has_no(&self, algorithm: &Algorithm) -> OpenError {
        OpenError::Unsupported(format!("{} has no {algorithm}", self.product))
    }
}
