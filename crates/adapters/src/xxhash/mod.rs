//! The C library xxHash through its public functions. `README.md` beside this file says which, and
//! why.

mod session;

use crate::family::{self, Attached, Family, Request};
use base::model::Primitive;
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, raw};
use session::{Api, State};
use std::ffi::c_uint;

/// Attaches an xxHash of any version that has XXH3 (0.8.0 and later keep its output).
///
/// # Errors
/// [`LoadError::Unusable`] when a function is missing.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let api = Api::of(&object)?;
    let build = vec![api.kernels().to_owned()];
    family::library((name, "xxhash"), &version(&object)?, build, api)
}

/// The version, out of major · 10000 + minor · 100 + release.
fn version(object: &SharedObject) -> Result<String, LoadError> {
    type VersionFn = unsafe extern "C" fn() -> c_uint;
    // SAFETY: the type is that of xxhash.h.
    let number = unsafe { object.exported::<VersionFn>("XXH_versionNumber")?() };
    Ok(format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
}

// SAFETY: the session's functions follow the library's header.
unsafe impl Family for Api {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        if request.algorithm.cipher != Primitive::Xxh3 {
            return Err(request.absent("xxHash is a library of checksums: it"));
        }
        let state = State::new(request.library)
            .ok_or_else(|| OpenError::Failed("XXH3_createState: out of memory".to_owned()))?;
        Ok(state.into_session())
    }
}
