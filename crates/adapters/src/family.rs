//! What all families share: who asks for what, and the way from a library's functions to a session.

use base::model::{Algorithm, Direction};
use contract::loader::LoadError;
use contract::{Identity, Library, OpenError, Session, raw};

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
    /// The library's version.
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

    /// That the library has no such algorithm.
    pub(crate) fn absent(&self, library: &str) -> OpenError {
        OpenError::Unsupported(format!("{library} has no {}", self.algorithm))
    }
}

/// A library with its family's way of opening.
struct Loaded<F> {
    identity: Identity,
    family: F,
}

/// A library, or why the object cannot be used as one.
pub(crate) type Attached = Result<Box<dyn Library>, LoadError>;

/// Puts a family's library behind the contract, under the name that it is given, else under its own.
pub(crate) fn library<F: Family>(
    (given, own): (Option<&str>, &str),
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

/// Refuses a direction that the algorithm does not have.
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

/// A C string's bytes as the name that the loader takes.
pub(crate) fn symbol(name: &'static std::ffi::CStr) -> &'static str {
    name.to_str().expect("names of C functions are ASCII")
}

/// What a new key calls where the library has no key schedule to keep.
pub(crate) const KEY_IN_EACH_MESSAGE: &std::ffi::CStr =
    c"none: the key is an argument of each message";
