//! libaegis through its public C functions. `README.md` beside this file says which, and why.

mod api;
mod session;
#[cfg(test)]
mod tests;

use crate::family::{self, Attached, Family, Request, c_concat};
use api::Functions;
use base::model::{Algorithm, Primitive};
use contract::loader::SharedObject;
use contract::{OpenError, raw};
use std::ffi::{CStr, c_int};

/// Attaches a libaegis of any version.
///
/// # Errors
/// [`contract::loader::LoadError::Unusable`] when it has no `aegis_init`, or that fails.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    type InitFn = unsafe extern "C" fn() -> c_int;
    // SAFETY: the type is that of aegis.h.
    let init = unsafe { object.exported::<InitFn>("aegis_init")? };
    // It picks the implementations for this CPU. SAFETY: takes nothing; called from one thread.
    if unsafe { init() } != 0 {
        return Err(object.unusable("aegis_init failed"));
    }
    let build = build(&object);
    family::library((name, "libaegis"), UNVERSIONED, build, Aegis { object })
}

/// The library has neither a function nor a constant that names its version.
const UNVERSIONED: &str = "unversioned";

/// Which CPU features the library found and so uses.
fn build(object: &SharedObject) -> Vec<String> {
    type AskFn = unsafe extern "C" fn() -> c_int;
    let features = "neon neon_aes neon_sha3 sve2_aes aesni avx avx2 avx512f avx512vl narrow_avx512 \
        vaes altivec";
    let found = features.split_whitespace().filter(|feature| {
        let symbol = format!("aegis_runtime_has_{feature}");
        // SAFETY: these functions take nothing and return an int.
        unsafe { object.function::<AskFn>(&symbol).is_some_and(|f| f() != 0) }
    });
    let found: Vec<&str> = found.collect();
    vec![format!("cpu features: {}", found.join(" "))]
}

struct Aegis {
    object: SharedObject,
}

// SAFETY: the session's functions follow the library's headers.
unsafe impl Family for Aegis {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        let (prefix, calls) = names(request.algorithm).ok_or_else(|| request.absent("libaegis"))?;
        let decrypts = request.decrypts();
        let functions = Functions::find(&request.library.object, prefix, decrypts)?;
        Ok(session::open(functions, request, calls[usize::from(decrypts)]))
    }
}

/// What the library's names of an algorithm begin with, and what a message of either direction calls.
fn names(algorithm: &Algorithm) -> Option<(&'static str, [&'static CStr; 2])> {
    macro_rules! names {
        ($prefix:literal) => {
            (
                $prefix,
                [c_concat!($prefix, "_encrypt_detached"), c_concat!($prefix, "_decrypt_detached")],
            )
        };
    }
    Some(match algorithm.cipher {
        Primitive::Aegis128 { lanes: 1 } => names!("aegis128l"),
        Primitive::Aegis128 { lanes: 2 } => names!("aegis128x2"),
        Primitive::Aegis128 { lanes: 4 } => names!("aegis128x4"),
        Primitive::Aegis256 { lanes: 1 } => names!("aegis256"),
        Primitive::Aegis256 { lanes: 2 } => names!("aegis256x2"),
        Primitive::Aegis256 { lanes: 4 } => names!("aegis256x4"),
        _ => return None,
    })
}
