//! OpenSSL, LibreSSL, BoringSSL and AWS-LC through the EVP interface that they share.
//! `README.md` beside this file says which functions, why, and what is inside the clock.

mod aead;
mod api;
mod calls;
mod ccm;
mod chacha;
mod cipher;
mod context;
mod digest;
mod gcm_siv;
mod identity;
mod joined;
mod mac;
mod messages;
mod method;
mod offer;
mod params;
mod parts;
mod siv;
mod state;
#[cfg(test)]
mod tests;

use crate::family::{self, Attached, Family, Request};
use api::Api;
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, raw};
use identity::Product;
use std::ffi::{OsString, c_void};
use std::ptr;

/// Attaches any library of the family, of any version.
///
/// # Errors
/// [`LoadError::Unusable`] when a function is missing, the library does not initialise, or it does
/// not say which version it is.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let api = Api::of(&object)?;
    initialise(&object)?;
    let (product, build) = identity::ask(&object)?;
    let Product { name: own, version, .. } = product.clone();
    family::library((name, &own), &version, build, Evp { product, api, object })
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
}

// SAFETY: the functions of each interface follow its header, and each session has a state of its own.
unsafe impl Family for Evp {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        let product = &request.library.product;
        let offer = request.offer().ok_or_else(|| request.absent(&product.to_string()))?;
        offer.map_err(|e| OpenError::Failed(format!("{product}: {e}")))
    }
}
