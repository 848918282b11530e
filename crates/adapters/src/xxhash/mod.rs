//! The C library xxHash through its public functions. `README.md` beside this file says which, and
//! why.

mod session;
#[cfg(test)]
mod tests;

use contract::{Identity, Library, OpenError, Session};
use loader::{LoadError, SharedObject};
use model::{Algorithm, Direction, Primitive};
use session::{Api, State};
use std::ffi::c_uint;

/// Attaches an xxHash of any version that has XXH3 (0.8.0 and later keep its output).
///
/// # Errors
/// [`LoadError::Unusable`] when a function is missing.
pub(crate) fn attach(
    object: SharedObject,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    let api = Api::load(&object)?;
    let identity = Identity {
        name: name.unwrap_or("xxhash").to_owned(),
        version: version(&object)?,
        build: vec![api.kernels().to_owned()],
    };
    Ok(Box::new(Xxhash { identity, api }))
}

/// The version, out of major · 10000 + minor · 100 + release.
fn version(object: &SharedObject) -> Result<String, LoadError> {
    type VersionFn = unsafe extern "C" fn() -> c_uint;
    // SAFETY: the type is that of xxhash.h.
    let number = unsafe { object.required::<VersionFn>("XXH_versionNumber")?() };
    Ok(format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
}

struct Xxhash {
    identity: Identity,
    api: Api,
}

impl Library for Xxhash {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        _key: &[u8],
    ) -> Result<Session, OpenError> {
        if algorithm.cipher != Primitive::Xxh3 || direction != Direction::Digest {
            let why = format!("xxHash is a library of checksums: it has no {algorithm}");
            return Err(OpenError::Unsupported(why));
        }
        let state = State::new(&self.api)
            .ok_or_else(|| OpenError::Failed("XXH3_createState: out of memory".to_owned()))?;
        // SAFETY: the functions keep the rules of the interface for digests, and the state is
        // theirs alone.
        Ok(unsafe { Session::new(state.into_session(), algorithm, direction) })
    }
}
