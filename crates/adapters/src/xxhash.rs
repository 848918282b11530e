//! The C library xxHash through its public functions: whole messages and streams of XXH3. `xxhash/README.md`
//! says which functions, and why.

use crate::family::{self, Attached, Family, Request, operations};
use base::model::Primitive;
use contract::loader::{LoadError, Missing, SharedObject};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_uint, c_void};

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

// Whole messages and streams of XXH3: what is inside the clock.

/// `XXH3_state_t*`, opaque.
type Handle = *mut c_void;
/// `XXH3_64bits`: input, length; the hash.
type HashFn = unsafe extern "C" fn(*const c_void, usize) -> u64;
/// `XXH3_64bits_update`: state, input, length; 0 is done.
type UpdateFn = unsafe extern "C" fn(Handle, *const c_void, usize) -> c_int;

functions! {
    /// Of xxhash.h and xxh_x86dispatch.h.
    struct Functions
    required {
        XXH3_64bits: fn(*const c_void, usize) -> u64;
        XXH3_64bits_update: fn(Handle, *const c_void, usize) -> c_int;
        XXH3_createState: fn() -> Handle;
        XXH3_freeState: fn(Handle) -> c_int;
        /// 0 is done.
        XXH3_64bits_reset: fn(Handle) -> c_int;
        XXH3_64bits_digest: fn(Handle) -> u64;
    }
    optional {
        XXH3_64bits_dispatch: fn(*const c_void, usize) -> u64;
        XXH3_64bits_update_dispatch: fn(Handle, *const c_void, usize) -> c_int;
    }
}

/// The library's functions.
#[derive(Clone, Copy)]
struct Api {
    f: Functions,
    hash: HashFn,
    update: UpdateFn,
    /// Whether `hash` and `update` choose their vector width at run time.
    dispatches: bool,
}

impl Api {
    fn of(object: &SharedObject) -> Result<Self, Missing> {
        let f = Functions::of(object)?;
        let dispatched = f.XXH3_64bits_dispatch.zip(f.XXH3_64bits_update_dispatch);
        let (hash, update) = dispatched.unwrap_or((f.XXH3_64bits, f.XXH3_64bits_update));
        Ok(Self { f, hash, update, dispatches: dispatched.is_some() })
    }

    /// How the build chooses its vector width, for the record.
    fn kernels(&self) -> &'static str {
        if self.dispatches {
            "dispatch: vector width chosen at run time (XXH3_64bits_dispatch)"
        } else {
            "dispatch: none, vector width fixed by the compiler's flags"
        }
    }

    fn call(&self) -> &'static CStr {
        if self.dispatches { c"XXH3_64bits_dispatch" } else { c"XXH3_64bits" }
    }
}

/// An opened digest.
struct State {
    api: Api,
    stream: Handle,
}

impl State {
    /// `None` when there is no memory left.
    fn new(api: &Api) -> Option<Self> {
        // SAFETY: takes nothing; the state is freed by `drop`.
        let stream = unsafe { (api.f.XXH3_createState)() };
        (!stream.is_null()).then_some(Self { api: *api, stream })
    }

    /// The table for the timing loop; `close` there frees the state.
    fn into_session(self) -> raw::Session {
        let call = self.api.call();
        // A digest writes nothing but its tag, so the message may lie anywhere.
        Table::new(self, raw::IN_PLACE, call).parts().raw()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: made by XXH3_createState, freed once.
        unsafe { (self.api.f.XXH3_freeState)(self.stream) };
    }
}

/// `XXH_errorcode` as a return code of the interface: its only other value is XXH_ERROR, 1.
#[inline]
fn outcome(error: c_int) -> i32 {
    if error == 0 { raw::OK } else { raw::FAILED }
}

/// Writes the canonical form (`XXH64_canonicalFromHash`): big-endian.
///
/// # Safety
/// `tag` covers 8 bytes.
#[inline]
unsafe fn write(hash: u64, tag: *mut u8) -> i32 {
    // SAFETY: the caller's promise; no alignment is asked for.
    unsafe { tag.cast::<[u8; 8]>().write_unaligned(hash.to_be_bytes()) };
    raw::OK
}

operations! { impl for State;
    fn message(&mut self, m) {
        write((self.api.hash)(m.input.cast(), m.len), m.tag)
    }

    fn start(&mut self, _nonce) {
        outcome((self.api.f.XXH3_64bits_reset)(self.stream))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.api.update)(self.stream, input.cast(), len))
    }

    fn finish(&mut self, tag) {
        write((self.api.f.XXH3_64bits_digest)(self.stream), tag)
    }
}
