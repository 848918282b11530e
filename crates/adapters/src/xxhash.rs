//! The C library xxHash through its public functions: whole messages and streams of XXH3, XXH64 and XXH32.
//! `xxhash/README.md` says which functions, and why.

use crate::family::{self, Attached, Family, Request, c_concat, operations};
use base::model::Primitive;
use contract::loader::{LoadError, Missing, SharedObject};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_uint, c_void};

/// Attaches an xxHash of any version that has XXH3 (0.8.0 and later keep its output).
///
/// # Errors
/// [`LoadError::Unusable`] when it does not say its version.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let (version, build) = (version(&object)?, vec![kernels(&object).to_owned()]);
    family::library((name, "xxhash"), &version, build, XxHash { object })
}

/// The version, out of major · 10000 + minor · 100 + release.
fn version(object: &SharedObject) -> Result<String, LoadError> {
    type VersionFn = unsafe extern "C" fn() -> c_uint;
    // SAFETY: the type is that of xxhash.h.
    let number = unsafe { object.exported::<VersionFn>("XXH_versionNumber")?() };
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

// SAFETY: the session's functions follow the library's header.
unsafe impl Family for XxHash {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        match request.algorithm.cipher {
            Primitive::Xxh3 => open::<Xxh3>(request),
            Primitive::Xxh3_128 => open::<Xxh3_128>(request),
            Primitive::Xxh64 => open::<Xxh64>(request),
            Primitive::Xxh32 => open::<Xxh32>(request),
            _ => Err(request.absent("xxHash is a library of checksums: it")),
        }
    }
}

fn open<S: Sum>(request: &Request<'_, XxHash>) -> Result<raw::Session, OpenError> {
    let sum = S::of(&request.library.object)?;
    let state = State::new(sum)
        .ok_or_else(|| OpenError::Failed("no memory for the state of a stream".to_owned()))?;
    Ok(state.into_session())
}

// Whole messages and streams: what is inside the clock.

/// `XXH3_state_t*`, `XXH64_state_t*`, `XXH32_state_t*`, opaque.
type Handle = *mut c_void;

/// One hash with its functions.
trait Sum: Copy + 'static {
    /// The hash's canonical form (`XXH64_canonicalFromHash` and its like): big-endian.
    type Canonical;

    fn of(object: &SharedObject) -> Result<Self, Missing>;

    /// What a message calls.
    fn call(&self) -> &'static CStr;

    /// # Safety
    /// `input` covers `len` bytes.
    unsafe fn hash(&self, input: *const c_void, len: usize) -> Self::Canonical;

    /// The state of a stream; null without memory.
    fn create(&self) -> Handle;

    /// # Safety
    /// `create` made the state; it is freed once.
    unsafe fn free(&self, stream: Handle);

    /// # Safety
    /// `create` made the state.
    unsafe fn reset(&self, stream: Handle) -> c_int;

    /// # Safety
    /// `create` made the state; `input` covers `len` bytes.
    unsafe fn update(&self, stream: Handle, input: *const c_void, len: usize) -> c_int;

    /// # Safety
    /// `create` made the state.
    unsafe fn digest(&self, stream: Handle) -> Self::Canonical;
}

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

/// A hash of xxhash.h, and the names of its functions there; of xxh_x86dispatch.h, which of them have a form that
/// chooses its vector width at run time. XXH64 and XXH32 take a seed in every call, which is zero here as it is in
/// XXH3's calls without one.
macro_rules! sums {
    ($(
        $name:ident: $hash:ty $(, seed $seed:ty)?;
        $whole:ident, $update:ident $(or $whole_dispatch:ident, $update_dispatch:ident)?;
        $create:ident, $free:ident, $reset:ident, $digest:ident;
    )+) => {$(
        const _: () = {
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

            impl Sum for $name {
                type Canonical = [u8; size_of::<$hash>()];

                fn of(object: &SharedObject) -> Result<Self, Missing> {
                    let f = Functions::of(object)?;
                    let (hash, update, call) = (f.$whole, f.$update, c_concat!(stringify!($whole)));
                    $(
                        let (hash, update, call) = match f.$whole_dispatch.zip(f.$update_dispatch) {
                            Some((hash, update)) => {
                                (hash, update, c_concat!(stringify!($whole_dispatch)))
                            }
                            None => (hash, update, call),
                        };
                    )?
                    let (create, free, reset, digest) = (f.$create, f.$free, f.$reset, f.$digest);
                    Ok(Self { hash, update, create, free, reset, digest, call })
                }

                fn call(&self) -> &'static CStr {
                    self.call
                }

                #[inline(always)]
                unsafe fn hash(&self, input: *const c_void, len: usize) -> Self::Canonical {
                    // SAFETY: the caller's.
                    unsafe { (self.hash)(input, len $(, <$seed>::MIN)?) }.to_be_bytes()
                }

                fn create(&self) -> Handle {
                    // SAFETY: takes nothing.
                    unsafe { (self.create)() }
                }

                unsafe fn free(&self, stream: Handle) {
                    // SAFETY: the caller's.
                    unsafe { (self.free)(stream) };
                }

                #[inline(always)]
                unsafe fn reset(&self, stream: Handle) -> c_int {
                    // SAFETY: the caller's.
                    unsafe { (self.reset)(stream $(, <$seed>::MIN)?) }
                }

                #[inline(always)]
                unsafe fn update(&self, stream: Handle, input: *const c_void, len: usize) -> c_int {
                    // SAFETY: the caller's.
                    unsafe { (self.update)(stream, input, len) }
                }

                #[inline(always)]
                unsafe fn digest(&self, stream: Handle) -> Self::Canonical {
                    // SAFETY: the caller's.
                    unsafe { (self.digest)(stream) }.to_be_bytes()
                }
            }
        };

        #[derive(Clone, Copy)]
        struct $name {
            hash: unsafe extern "C" fn(*const c_void, usize $(, $seed)?) -> $hash,
            update: unsafe extern "C" fn(Handle, *const c_void, usize) -> c_int,
            create: unsafe extern "C" fn() -> Handle,
            free: unsafe extern "C" fn(Handle) -> c_int,
            reset: unsafe extern "C" fn(Handle $(, $seed)?) -> c_int,
            digest: unsafe extern "C" fn(Handle) -> $hash,
            call: &'static CStr,
        }
    )+};
}

sums! {
    Xxh3: u64;
    XXH3_64bits, XXH3_64bits_update or XXH3_64bits_dispatch, XXH3_64bits_update_dispatch;
    XXH3_createState, XXH3_freeState, XXH3_64bits_reset, XXH3_64bits_digest;

    Xxh3_128: Hash128;
    XXH3_128bits, XXH3_128bits_update or XXH3_128bits_dispatch, XXH3_128bits_update_dispatch;
    XXH3_createState, XXH3_freeState, XXH3_128bits_reset, XXH3_128bits_digest;

    Xxh64: u64, seed u64;
    XXH64, XXH64_update;
    XXH64_createState, XXH64_freeState, XXH64_reset, XXH64_digest;

    Xxh32: u32, seed u32;
    XXH32, XXH32_update;
    XXH32_createState, XXH32_freeState, XXH32_reset, XXH32_digest;
}

/// An opened digest.
struct State<S: Sum> {
    sum: S,
    stream: Handle,
}

impl<S: Sum> State<S> {
    /// `None` when there is no memory left.
    fn new(sum: S) -> Option<Self> {
        let stream = sum.create();
        (!stream.is_null()).then_some(Self { sum, stream })
    }

    /// The table for the timing loop; `close` there frees the state.
    fn into_session(self) -> raw::Session {
        let call = self.sum.call();
        // A digest writes nothing but its tag, so the message may lie anywhere.
        Table::new(self, raw::IN_PLACE, call).parts().raw()
    }
}

impl<S: Sum> Drop for State<S> {
    fn drop(&mut self) {
        // SAFETY: made by `create`, freed once.
        unsafe { self.sum.free(self.stream) };
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

operations! { impl[S: Sum] for State<S>;
    fn message(&mut self, m) {
        write(self.sum.hash(m.input.cast(), m.len), m.tag)
    }

    fn start(&mut self, _nonce) {
        outcome(self.sum.reset(self.stream))
    }

    fn update(&mut self, input, _output, len) {
        outcome(self.sum.update(self.stream, input.cast(), len))
    }

    fn finish(&mut self, tag) {
        write(self.sum.digest(self.stream), tag)
    }
}
