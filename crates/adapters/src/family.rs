//! What all families of libraries share: who asks for what, the way from a library's functions to a session,
//! the types of C functions, and aligned memory for the states that a library has its caller allocate.

use base::model::{Algorithm, Direction};
use contract::loader::LoadError;
use contract::{Identity, Library, OpenError, Session, Table, raw};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// A loaded library of one family.
///
/// # Safety
/// The functions of each table keep the rules of `include/ciphermark.h` for what was asked for, and its state is theirs
/// alone.
pub(crate) unsafe trait Family: Send + Sync + Sized + 'static {
    /// The table of functions for an algorithm under a key.
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError>;
}

/// What is to be opened: a direction that the algorithm has, and a key of its length.
#[derive(Debug)]
pub(crate) struct Request<'a, L> {
    pub(crate) library: &'a L,
    pub(crate) version: &'a str,
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) direction: Direction,
    pub(crate) key: &'a [u8],
}

impl<L> Request<'_, L> {
    pub(crate) fn encrypts(&self) -> bool {
        self.direction == Direction::Encrypt
    }

    pub(crate) fn decrypts(&self) -> bool {
        self.direction == Direction::Decrypt
    }

    /// Bytes of the key, as one of C's numbers.
    pub(crate) fn key_len<N: TryFrom<usize>>(&self) -> N {
        N::try_from(self.key.len()).ok().expect("keys are a few bytes")
    }

    pub(crate) fn absent(&self, library: &str) -> OpenError {
        OpenError::Unsupported(format!("{library} has no {}", self.algorithm))
    }
}

/// A library with its family's way of opening.
struct Loaded<F> {
    identity: Identity,
    family: F,
}

/// A library, or why the object cannot be used as one: a function is missing that every version has, it does not
/// initialise, or it does not say its version.
pub(crate) type Attached = Result<Box<dyn Library>, LoadError>;

/// Puts a family's library behind the contract, under the name that it is given, else under its own.
pub(crate) fn library<F: Family>(
    given: Option<&str>,
    own: &str,
    version: &str,
    build: Vec<String>,
    family: F,
) -> Attached {
    let name = given.unwrap_or(own).to_owned();
    let identity = Identity { name, version: version.to_owned(), build };
    Ok(Box::new(Loaded { identity, family }))
}

impl<F: Family> Library for Loaded<F> {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        has_direction(algorithm, direction)?;
        let (len, given) = (algorithm.key_len, key.len());
        if given != len {
            let why = format!("{algorithm} takes a key of {len} bytes, not {given}");
            return Err(OpenError::Failed(why));
        }
        let (library, version) = (&self.family, self.identity.version.as_str());
        let table = F::open(&Request { library, version, algorithm, direction, key })?;
        // SAFETY: what `Family` promises.
        Ok(unsafe { Session::new(table, algorithm, direction) })
    }
}

pub(crate) fn has_direction(algorithm: &Algorithm, direction: Direction) -> Result<(), OpenError> {
    if Direction::of(algorithm.kind).contains(&direction) {
        return Ok(());
    }
    Err(OpenError::Unsupported(format!("{algorithm} has no direction {direction}")))
}

/// Calls in order, and returns the first error as the code that the `outcome` in scope makes of it.
macro_rules! calls {
    ($($call:expr),+ $(,)?) => {{
        $(
            let code = $call;
            if code != 0 {
                return outcome(code);
            }
        )+
        contract::raw::OK
    }};
}
pub(crate) use calls;

/// The functions of a session's table, as `impl[T: Trait] for State<T>; fn message(&mut self, m) { … }`. What they call
/// asks of its caller what [`contract::Operations`] asks of theirs, so each body is unsafe as a whole.
macro_rules! operations {
    (impl $([$($generics:tt)*])? for $state:ty; $($functions:tt)*) => {
        impl $(<$($generics)*>)? contract::Operations for $state {
            $crate::family::operations! { $($functions)* }
        }
    };
    () => {};
    ($(#[$doc:meta])* fn $name:ident(&mut $this:ident, $($argument:ident),+) $body:tt $($rest:tt)*) => {
        $crate::family::operations! { @$name $(#[$doc])* ($this, $($argument),+) $body }
        $crate::family::operations! { $($rest)* }
    };
    (@update $(#[$doc:meta])* ($this:ident, $input:ident, $output:ident, $len:ident) $body:tt) => {
        $crate::family::operations! {
            @@update $(#[$doc])* ($this, $input: *const u8, $output: *mut u8, $len: usize) $body
        }
    };
    (@start $(#[$doc:meta])* ($this:ident, $nonce:ident) $body:tt) => {
        $crate::family::operations! { @@start $(#[$doc])* ($this, $nonce: *const u8) $body }
    };
    (@rekey $(#[$doc:meta])* ($this:ident, $key:ident) $body:tt) => {
        $crate::family::operations! { @@rekey $(#[$doc])* ($this, $key: *const u8) $body }
    };
    (@finish $(#[$doc:meta])* ($this:ident, $tag:ident) $body:tt) => {
        $crate::family::operations! { @@finish $(#[$doc])* ($this, $tag: *mut u8) $body }
    };
    (@$name:ident $(#[$doc:meta])* ($this:ident, $m:ident) $body:tt) => {
        $crate::family::operations! { @@$name $(#[$doc])* ($this, $m: &contract::raw::Message) $body }
    };
    (
        @@$name:ident $(#[$doc:meta])*
        ($this:ident, $($argument:ident: $type:ty),+) { $($body:tt)* }
    ) => {
        $(#[$doc])*
        #[inline(always)]
        #[allow(unused_unsafe, reason = "some bodies call nothing of the library's")]
        unsafe fn $name(&mut $this, $($argument: $type),+) -> i32 {
            // SAFETY: the caller keeps the header's rules, which are those of `Operations`.
            unsafe { $($body)* }
        }
    };
}
pub(crate) use operations;

/// What operations are made of: functions that ask of their callers what [`contract::Operations`] asks of its own: pointers
/// cover their lengths, nonces, keys and tags have the algorithm's, contexts are the functions'. So each body is unsafe as
/// a whole. All have the attribute that stands before `impl`, which is `#[inline]` where none does.
macro_rules! steps {
    (impl $($rest:tt)*) => {
        $crate::family::steps! { #[inline] impl $($rest)* }
    };
    (#[$inline:meta] impl $([$($generics:tt)*])? for $state:ty; $($functions:tt)*) => {
        impl $(<$($generics)*>)? $state {
            $crate::family::steps! { @[$inline] $($functions)* }
        }
    };
    (#[$inline:meta] impl $([$($generics:tt)*])? $trait:ident for $state:ty; $($functions:tt)*) => {
        impl $(<$($generics)*>)? $trait for $state {
            $crate::family::steps! { @[$inline] $($functions)* }
        }
    };
    (@[$inline:meta] $(
        $(#[$doc:meta])*
        $vis:vis fn $name:ident($($arguments:tt)*) $(-> $returns:ty)? { $($body:tt)* }
    )*) => {$(
        $(#[$doc])*
        #[$inline]
        #[allow(unused_unsafe, reason = "some bodies call nothing of the library's")]
        $vis unsafe fn $name($($arguments)*) $(-> $returns)? {
            // SAFETY: the caller keeps the header's rules, which are those of `Operations`.
            unsafe { $($body)* }
        }
    )*};
}
pub(crate) use steps;

/// Functions that a table takes for the messages of some modes in the place of [`contract::Operations::message`], as
/// `fn name(state, m) { … }`.
macro_rules! messages {
    (
        for $state:ty;
        $($(#[$doc:meta])* fn $name:ident($this:ident, $m:ident) { $($body:tt)* })+
    ) => {$(
        $(#[$doc])*
        unsafe extern "C" fn $name(
            state: *mut std::ffi::c_void,
            message: *const contract::raw::Message,
        ) -> i32 {
            // SAFETY: the session's own state; the message keeps the header's rules.
            unsafe {
                let ($this, $m) = (&*state.cast::<$state>(), &*message);
                $($body)*
            }
        }
    )+};
}
pub(crate) use messages;

/// Texts as one C string.
macro_rules! c_concat {
    ($($text:expr),+ $(,)?) => {
        const {
            match std::ffi::CStr::from_bytes_with_nul(concat!($($text,)+ "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => panic!("one NUL, at the end"),
            }
        }
    };
}
pub(crate) use c_concat;

/// C functions that are called in turn: their names, perhaps behind a prefix of all, and these as readers see them.
macro_rules! in_turn {
    ($prefix:literal: $($name:literal),+) => {
        $crate::family::in_turn! { @$prefix $($name)+ }
    };
    ($($name:literal),+) => {
        $crate::family::in_turn! { @"" $($name)+ }
    };
    (@$prefix:literal $first:literal $($more:literal)*) => {
        (
            [concat!($prefix, $first), $(concat!($prefix, $more)),*],
            $crate::family::c_concat!($prefix, $first, $(", ", $prefix, $more),*),
        )
    };
}
pub(crate) use in_turn;

/// A C string's bytes as the name that the loader takes.
pub(crate) fn symbol(name: &'static CStr) -> &'static str {
    name.to_str().expect("names of C functions are ASCII")
}

/// A session of whole messages, each one call of `message`, which gives the interface's code.
pub(crate) fn whole<F>(flags: u32, call: &'static CStr, message: F) -> raw::Session
where
    F: FnMut(&raw::Message) -> i32 + 'static,
{
    Table::new(Whole(message), flags, call).raw()
}

struct Whole<F>(F);

operations! { impl[F: FnMut(&raw::Message) -> i32] for Whole<F>;
    fn message(&mut self, m) {
        (self.0)(m)
    }
}

pub(crate) fn whole_with_key<const N: usize, F>(
    flags: u32,
    call: &'static CStr,
    key: [u8; N],
    message: F,
) -> raw::Session
where
    F: Fn(&raw::Message, In) -> i32 + 'static,
{
    Table::new(WithKey { key, message }, flags, call).rekeys(KEY_IN_EACH_MESSAGE).raw()
}

struct WithKey<const N: usize, F> {
    key: [u8; N],
    message: F,
}

operations! { impl[const N: usize, F: Fn(&raw::Message, In) -> i32] for WithKey<N, F>;
    fn message(&mut self, m) {
        (self.message)(m, self.key.as_ptr())
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; N]>().read();
        raw::OK
    }
}

/// What a new key calls where the library has no key schedule to keep.
pub(crate) const KEY_IN_EACH_MESSAGE: &CStr = c"none: the key is an argument of each message";

/// Bytes that a C function reads.
pub(crate) type In = *const u8;
/// Bytes that a C function writes.
pub(crate) type Out = *mut u8;

/// An object that a library has made, freed when dropped by its own function, and by nobody else.
pub(crate) struct Object<R = ()> {
    pub(crate) raw: *mut c_void,
    pub(crate) free: unsafe extern "C" fn(*mut c_void) -> R,
}

impl<R> Object<R> {
    /// `None` where there is nothing to free.
    pub(crate) fn of(
        raw: *mut c_void,
        free: unsafe extern "C" fn(*mut c_void) -> R,
    ) -> Option<Self> {
        (!raw.is_null()).then(|| Self { raw, free })
    }
}

impl<R> Drop for Object<R> {
    fn drop(&mut self) {
        // SAFETY: made by the function that `free` belongs to, freed once. What it returns can no longer matter.
        unsafe { (self.free)(self.raw) };
    }
}

// Zeroed memory on a 64-byte boundary, for the states that a library has its caller allocate.
//
// A state of unknown size gets pages of its own. A program's states lie where its heap or its structures put them, so
// where in a page such a state begins follows a small piece of the heap.

/// The widest alignment that any library asks of its caller: a cache line, a 512-bit vector.
const ALIGN: usize = 64;

/// From this size on a state gets pages from the kernel, which are zero without being written. The allocator would
/// write the zeroes where it gives a block for the second time.
const OWN_PAGES: usize = 128 << 10;
const PAGE: usize = 4096;

/// Memory for a state whose size is known at run time only, if at all: pages that are never touched
/// cost nothing, so the size may lie well above what any build of the library needs.
#[derive(Debug)]
pub(crate) struct Aligned {
    start: NonNull<u8>,
    /// What was allocated, which `start` lies in.
    block: NonNull<u8>,
    layout: Layout,
}

impl Aligned {
    /// At least `len` bytes, all zero.
    pub(crate) fn zeroed(len: usize) -> Self {
        let size = len.max(1).next_multiple_of(ALIGN);
        let more = if size < OWN_PAGES { 0 } else { PAGE };
        let layout = Layout::from_size_align(size + more, ALIGN);
        let layout = layout.expect("a state is below isize::MAX");
        let block = if more == 0 {
            // SAFETY: the layout's size is not zero.
            unsafe { alloc_zeroed(layout) }
        } else {
            let (access, private) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
            // SAFETY: new pages, wherever there is room.
            unsafe { mmap_anonymous(std::ptr::null_mut(), layout.size(), access, private) }
                .map_or(std::ptr::null_mut(), |pages| pages.cast())
        };
        let Some(block) = NonNull::new(block) else { handle_alloc_error(layout) };
        let at = if more == 0 { 0 } else { place() };
        // SAFETY: a place is within a page, which was allocated besides the state.
        let start = unsafe { block.add(at) };
        Self { start, block, layout }
    }

    /// These bytes, then zeroes up to the next boundary.
    pub(crate) fn copied(bytes: &[u8]) -> Self {
        let copy = Self::zeroed(bytes.len());
        // SAFETY: the memory is new and has room for as many bytes.
        unsafe { copy.start.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        copy
    }

    /// Writes so many bytes over its beginning.
    ///
    /// # Safety
    /// `bytes` has `len` bytes, and no more than there is room for.
    #[inline]
    pub(crate) unsafe fn overwrite(&mut self, bytes: *const u8, len: usize) {
        // SAFETY: the caller's promise; the memory is ours alone.
        unsafe { self.start.as_ptr().copy_from_nonoverlapping(bytes, len) };
    }

    pub(crate) fn as_mut_ptr<T>(&mut self) -> *mut T {
        self.start.as_ptr().cast()
    }

    pub(crate) fn as_ptr<T>(&self) -> *const T {
        self.start.as_ptr().cast_const().cast()
    }

    /// The library's own, which it reads and writes while nothing here looks at it.
    #[inline]
    pub(crate) fn context(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        let bytes = self.layout.size();
        if bytes < OWN_PAGES {
            // SAFETY: allocated in `zeroed` with this layout, freed once.
            unsafe { dealloc(self.block.as_ptr(), self.layout) }
        } else {
            // SAFETY: mapped in `zeroed` with this length, unmapped once.
            let unmapped = unsafe { munmap(self.block.as_ptr().cast(), bytes) };
            debug_assert!(unmapped.is_ok(), "a mapping of our own");
        }
    }
}

/// Where in its page a state begins: where a small piece of the heap lies in its own, on a boundary.
fn place() -> usize {
    let piece = std::hint::black_box(vec![0_u8; 4 * ALIGN]);
    (piece.as_ptr() as usize).next_multiple_of(ALIGN) % PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_state_lies_on_a_boundary_that_is_not_always_the_same_one() {
        let mut kept = Vec::new();
        let places: std::collections::BTreeSet<usize> = (0..32)
            .map(|i| {
                kept.push(vec![0_u8; 4 * ALIGN + i % 8]);
                let state = Aligned::zeroed(1 << 20);
                let at = state.as_ptr::<u8>() as usize;
                assert_eq!(at % ALIGN, 0);
                at % PAGE
            })
            .collect();
        assert!(places.len() > 4, "{places:?}");
    }

    #[test]
    fn memory_lies_on_a_boundary_and_holds_what_was_copied() {
        let bytes: Vec<u8> = (0..100).collect();
        let copy = Aligned::copied(&bytes);
        assert_eq!(copy.as_ptr::<u8>() as usize % ALIGN, 0);
        // SAFETY: two lines hold 100 bytes and 28 zeroes.
        let held = unsafe { std::slice::from_raw_parts(copy.as_ptr::<u8>(), 128) };
        assert_eq!((&held[..100], &held[100..]), (&bytes[..], &[0; 28][..]));
    }

    #[test]
    fn large_memory_is_zeroed_and_empty_memory_has_an_address() {
        let large = Aligned::zeroed(1 << 20);
        // SAFETY: the memory has as many bytes, which nothing else refers to.
        let held = unsafe { std::slice::from_raw_parts(large.as_ptr::<u8>(), 1 << 20) };
        assert!(held.iter().all(|b| *b == 0));
        assert_eq!(Aligned::zeroed(0).context() as usize % ALIGN, 0);
    }
}
