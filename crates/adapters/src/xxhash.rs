//! The C library xxHash through its public functions: whole messages and streams of XXH3, XXH64 and XXH32.
//! `xxhash/README.md` says which functions, and why.

use crate::family::{self, Attached, Family, Object, Request, c_concat, operations};
use base::model::Primitive;
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_uint, c_void};

/// Attaches an xxHash of any version that has XXH3 (0.8.0 and later keep its output).
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let (version, build) = (version(&object)?, vec![kernels(&object).to_owned()]);
    family::library(name, "xxhash", &version, build, XxHash { object })
}

/// The version, out of major · 10000 + minor · 100 + release.
fn version(object: &SharedObject) -> Result<String, LoadError> {
    // SAFETY: the type is that of xxhash.h.
    let number: c_uint = unsafe { object.asked("XXH_versionNumber")? };
    Ok(format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
}

/// How the build chooses its vector width, for the record.
fn kernels(object: &SharedObject) -> &'static str {
    if object.has("XXH3_64bits_dispatch") {
        "dispatch: vector width chosen at run time (XXH3_64bits_dispatch)"
    } else {
        "dispatch: none, vector width fixed by the compiler's flags"
    }
}

struct XxHash {
    object: SharedObject,
}

/// A session of a hash of xxhash.h, by the names of its functions there; of xxh_x86dispatch.h, which of them have a form
/// that chooses its vector width at run time. XXH64 and XXH32 take a seed in every call, which is zero here as it is in
/// XXH3's calls without one. A hash is written in its canonical form (`XXH64_canonicalFromHash` and its like): big-endian.
macro_rules! sum {
    (
        $request:ident, $hash:ty $(, seed $seed:ty)?;
        $whole:ident, $update:ident $(or $whole_dispatch:ident, $update_dispatch:ident)?;
        $create:ident, $free:ident, $reset:ident, $digest:ident
    ) => {{
        functions! {
            struct Functions
            required {
                $whole: fn(*const c_void, usize $(, $seed)?) -> $hash;
                $update: fn(Handle, *const c_void, usize) -> c_int;
                $create: fn() -> Handle;
                $free: fn(Handle) -> c_int;
                /// 0 is done.
                $reset: fn(Handle $(, $seed)?) -> c_int;
                $digest: fn(Handle) -> $hash;
            }
            optional {
                $(
                    $whole_dispatch: fn(*const c_void, usize) -> $hash;
                    $update_dispatch: fn(Handle, *const c_void, usize) -> c_int;
                )?
            }
        }
        let f = Functions::of(&$request.library.object)?;
        let (hash, update, call) = (f.$whole, f.$update, c_concat!(stringify!($whole)));
        $(
            let (hash, update, call) = match f.$whole_dispatch.zip(f.$update_dispatch) {
                Some((hash, update)) => (hash, update, c_concat!(stringify!($whole_dispatch))),
                None => (hash, update, call),
            };
        )?
        // SAFETY: `State` gives them what it was made with, and inputs that cover their lengths.
        unsafe {
            State::session(
                call,
                Object::of((f.$create)(), f.$free),
                update,
                move |input, len| hash(input, len $(, <$seed>::MIN)?).to_be_bytes(),
                move |stream| (f.$reset)(stream $(, <$seed>::MIN)?),
                move |stream| (f.$digest)(stream).to_be_bytes(),
            )
        }
    }};
}

// SAFETY: the session's functions follow the library's header.
unsafe impl Family for XxHash {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        match request.algorithm.cipher {
            Primitive::Xxh3 => sum! { request, u64;
                XXH3_64bits, XXH3_64bits_update or XXH3_64bits_dispatch, XXH3_64bits_update_dispatch;
                XXH3_createState, XXH3_freeState, XXH3_64bits_reset, XXH3_64bits_digest
            },
            Primitive::Xxh3_128 => sum! { request, Hash128;
                XXH3_128bits, XXH3_128bits_update or XXH3_128bits_dispatch, XXH3_128bits_update_dispatch;
                XXH3_createState, XXH3_freeState, XXH3_128bits_reset, XXH3_128bits_digest
            },
            Primitive::Xxh64 => sum! { request, u64, seed u64;
                XXH64, XXH64_update;
                XXH64_createState, XXH64_freeState, XXH64_reset, XXH64_digest
            },
            Primitive::Xxh32 => sum! { request, u32, seed u32;
                XXH32, XXH32_update;
                XXH32_createState, XXH32_freeState, XXH32_reset, XXH32_digest
            },
            _ => Err(request.absent("xxHash is a library of checksums: it")),
        }
    }
}

// Whole messages and streams: what is inside the clock.

/// `XXH3_state_t*`, `XXH64_state_t*`, `XXH32_state_t*`, opaque.
type Handle = *mut c_void;

/// `XXH128_hash_t`
#[derive(Clone, Copy)]
#[repr(C)]
struct Hash128 {
    low: u64,
    high: u64,
}

impl Hash128 {
    fn to_be_bytes(self) -> [u8; 16] {
        (u128::from(self.high) << 64 | u128::from(self.low)).to_be_bytes()
    }
}

/// An opened digest: what makes a hash of a message, begins a stream and makes the stream's hash.
struct State<W, R, D> {
    whole: W,
    reset: R,
    update: unsafe extern "C" fn(Handle, *const c_void, usize) -> c_int,
    digest: D,
    stream: Object<c_int>,
}

impl<C, W, R, D> State<W, R, D>
where
    W: Fn(*const c_void, usize) -> C,
    R: Fn(Handle) -> c_int,
    D: Fn(Handle) -> C,
{
    fn session(
        call: &'static CStr,
        stream: Option<Object<c_int>>,
        update: unsafe extern "C" fn(Handle, *const c_void, usize) -> c_int,
        whole: W,
        reset: R,
        digest: D,
    ) -> Result<raw::Session, OpenError> {
        let missing = || OpenError::Failed("no memory for the state of a stream".to_owned());
        let state = Self { whole, reset, update, digest, stream: stream.ok_or_else(missing)? };
        // A digest writes nothing but its tag, so the message may lie anywhere.
        Ok(Table::new(state, raw::IN_PLACE, call).parts().raw())
    }
}

/// `XXH_errorcode` as a return code of the interface: its only other value is XXH_ERROR, 1.
#[inline]
fn outcome(error: c_int) -> i32 {
    if error == 0 { raw::OK } else { raw::FAILED }
}

/// Writes a hash.
///
/// # Safety
/// `tag` covers its bytes.
#[inline]
unsafe fn write<C>(hash: C, tag: *mut u8) -> i32 {
    // SAFETY: the caller's promise; no alignment is asked for.
    unsafe { tag.cast::<C>().write_unaligned(hash) };
    raw::OK
}

operations! {
    impl[C, W: Fn(*const c_void, usize) -> C, R: Fn(Handle) -> c_int, D: Fn(Handle) -> C]
    for State<W, R, D>;
    fn message(&mut self, m) {
        write((self.whole)(m.input.cast(), m.len), m.tag)
    }

    fn start(&mut self, _nonce) {
        outcome((self.reset)(self.stream.raw))
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.update)(self.stream.raw, input.cast(), len))
    }

    fn finish(&mut self, tag) {
        write((self.digest)(self.stream.raw), tag)
    }
}
