//! libaegis through its public C functions. `README.md` beside this file says which, and why.

mod api;
mod session;
#[cfg(test)]
mod tests;

use api::Functions;
use contract::{Identity, Library, OpenError, Session};
use loader::{LoadError, SharedObject};
use model::{Algorithm, Direction, Primitive};
use std::ffi::{CStr, c_int};

/// Attaches a libaegis of any version.
///
/// # Errors
/// [`LoadError::Unusable`] when it has no `aegis_init`, or that fails.
pub(crate) fn attach(
    object: SharedObject,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    type InitFn = unsafe extern "C" fn() -> c_int;
    // SAFETY: the type is that of aegis.h.
    let init = unsafe { object.required::<InitFn>("aegis_init")? };
    // It picks the implementations for this CPU. SAFETY: takes nothing; called from one thread.
    if unsafe { init() } != 0 {
        return Err(object.unusable("aegis_init failed"));
    }
    let name = name.unwrap_or("libaegis").to_owned();
    let version = UNVERSIONED.to_owned();
    let identity = Identity { name, version, build: build(&object) };
    Ok(Box::new(Aegis { identity, object }))
}

/// The library has neither a function nor a constant that names its version.
const UNVERSIONED: &str = "unversioned";

/// Which CPU features the library found and so uses.
fn build(object: &SharedObject) -> Vec<String> {
    type AskFn = unsafe extern "C" fn() -> c_int;
    let features = [
        "neon",
        "neon_aes",
        "neon_sha3",
        "sve2_aes",
        "aesni",
        "avx",
        "avx2",
        "avx512f",
        "avx512vl",
        "narrow_avx512",
        "vaes",
        "altivec",
    ];
    let found = features.iter().filter(|feature| {
        let symbol = format!("aegis_runtime_has_{feature}");
        // SAFETY: these functions take nothing and return an int.
        unsafe { object.function::<AskFn>(&symbol).is_some_and(|f| f() != 0) }
    });
    let found: Vec<&str> = found.copied().collect();
    vec![format!("cpu features: {}", found.join(" "))]
}

struct Aegis {
    identity: Identity,
    object: SharedObject,
}

impl Library for Aegis {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        let names = names(algorithm)
            .ok_or_else(|| OpenError::Unsupported(format!("libaegis has no {algorithm}")))?;
        if !Direction::of(algorithm.kind).contains(&direction) {
            return Err(OpenError::Unsupported(format!(
                "{algorithm} has no direction {direction}"
            )));
        }
        let functions = Functions::find(&self.object, names.prefix)?;
        let raw = session::open(functions, algorithm, direction, key, names.calls(direction));
        // SAFETY: the functions keep the rules of the interface for AEGIS, and the state is theirs
        // alone.
        Ok(unsafe { Session::new(raw, algorithm, direction) })
    }
}

/// What the library calls an algorithm.
struct Names {
    prefix: &'static str,
    encrypt: &'static CStr,
    decrypt: &'static CStr,
}

impl Names {
    fn calls(&self, direction: Direction) -> &'static CStr {
        if direction == Direction::Encrypt { self.encrypt } else { self.decrypt }
    }
}

fn names(algorithm: &Algorithm) -> Option<Names> {
    macro_rules! names {
        ($prefix:literal) => {
            Names {
                prefix: $prefix,
                encrypt: const { c_str(concat!($prefix, "_encrypt_detached\0")) },
                decrypt: const { c_str(concat!($prefix, "_decrypt_detached\0")) },
            }
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

const fn c_str(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("one NUL, at the end"),
    }
}
