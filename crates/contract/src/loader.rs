//! Opening shared objects and looking up their functions. This holds `unsafe` code: it calls the dynamic
//! loader.

use crate::OpenError;
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// Why a file could not be attached as a library.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The dynamic loader refused it.
    #[error("cannot load '{path}': {why}")]
    Open {
        /// Which file.
        path: PathBuf,
        /// The loader's words.
        why: String,
    },
    /// It loads, but no adapter knows it.
    #[error(
        "'{path}' is no library that ciphermark knows: it exports none of {symbols}; docs/ADAPTERS.md shows how to attach any other"
    )]
    NoFamily {
        /// Which file.
        path: PathBuf,
        /// What the libraries that are known export.
        symbols: String,
    },
    /// The adapter could not use it.
    #[error("cannot use '{path}': {why}")]
    Unusable {
        /// Which file.
        path: PathBuf,
        /// What is missing or wrong.
        why: String,
    },
}

impl LoadError {
    /// None of the symbols by which libraries are known is there.
    pub fn no_family<'a>(path: &Path, symbols: impl Iterator<Item = &'a str>) -> Self {
        let symbols = symbols.collect::<Vec<_>>().join(", ");
        Self::NoFamily { path: path.to_owned(), symbols }
    }
}

/// A symbol that an object does not export.
#[derive(Debug)]
pub struct Missing {
    path: PathBuf,
    symbol: String,
}

impl From<Missing> for LoadError {
    fn from(Missing { path, symbol }: Missing) -> Self {
        Self::Unusable { path, why: format!("it does not export `{symbol}`") }
    }
}

impl From<Missing> for OpenError {
    /// Builds leave whole modes out.
    fn from(Missing { symbol, .. }: Missing) -> Self {
        Self::Unsupported(format!("this build does not export `{symbol}`"))
    }
}

impl From<Missing> for String {
    fn from(missing: Missing) -> Self {
        LoadError::from(missing).to_string()
    }
}

/// Declares a struct of a library's functions under the library's own names, with the types of its
/// header: those that there is no doing without and, where some builds or versions lack some, the
/// optional ones. `of` looks them up in a [`SharedObject`] and fails with [`Missing`].
#[macro_export]
macro_rules! functions {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($required:tt)* }) => {
        $crate::functions! { $(#[$meta])* $vis struct $name required { $($required)* } optional {} }
    };
    (
        $(#[$meta:meta])* $vis:vis struct $name:ident
        required { $($(#[$note:meta])* $required:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)* }
        optional { $($(#[$onote:meta])* $optional:ident: fn($($oarg:ty),*) $(-> $oret:ty)?;)* }
    ) => {
        $(#[$meta])*
        #[allow(non_snake_case, reason = "the library's own names")]
        #[derive(Clone, Copy, Debug)]
        $vis struct $name {
            $($(#[$note])* $vis $required: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            $($(#[$onote])* $vis $optional: Option<unsafe extern "C" fn($($oarg),*) $(-> $oret)?>,)*
        }

        impl $name {
            /// Looks all of them up.
            $vis fn of(
                object: &$crate::loader::SharedObject,
            ) -> Result<Self, $crate::loader::Missing> {
                // SAFETY: the types are those of the library's public headers.
                unsafe {
                    Ok(Self {
                        $($required: object.exported(stringify!($required))?,)*
                        $($optional: object.function(stringify!($optional)),)*
                    })
                }
            }
        }
    };
}

/// A loaded shared object. Never unloaded: libraries keep threads, thread-local state and exit
/// handlers that point into it, and a worker process holds one library for its whole life.
#[derive(Debug)]
pub struct SharedObject {
    path: PathBuf,
    /// The file that is mapped: the same, or a copy of it.
    mapped: PathBuf,
    library: ManuallyDrop<libloading::os::unix::Library>,
}

impl SharedObject {
    /// Loads a file with all its symbols resolved at once and kept local.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        Self::open_as(path, path)
    }

    /// As [`SharedObject::open`], but loads another file in the place of it, of which it is a copy
    /// but for what a tier changes.
    pub fn open_as(path: &Path, copy: &Path) -> Result<Self, LoadError> {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        // A bare file name would be searched for by the loader: the file that is meant is this one.
        let path = path
            .canonicalize()
            .map_err(|e| LoadError::Open { path: path.to_owned(), why: e.to_string() })?;
        // The name of a copy is one that only the kernel can follow.
        let mapped = if copy.starts_with("/proc") { copy.to_owned() } else { path.clone() };
        // SAFETY: runs the object's initialisers, which is what attaching a library means; the
        // worker process that does so holds nothing else.
        let library = unsafe { Library::open(Some(&mapped), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|e| LoadError::Open { path: path.clone(), why: plain(&e) })?;
        Ok(Self { path, mapped, library: ManuallyDrop::new(library) })
    }

    /// Whether the object or one of its dependencies exports a symbol.
    pub fn has(&self, symbol: &str) -> bool {
        // SAFETY: only asked for its presence, never used as a value of this type.
        unsafe { self.library.get::<*const std::ffi::c_void>(symbol) }.is_ok()
    }

    /// Whether the object itself exports a symbol. The loader also answers for its dependencies:
    /// without this question `libssl.so` would pass for the libcrypto that it is linked to.
    pub fn defines(&self, symbol: &str) -> bool {
        // SAFETY: only asked for its address, never used as a value of this type.
        let Ok(found) = (unsafe { self.library.get::<*const std::ffi::c_void>(symbol) }) else {
            return false;
        };
        let address = found.into_raw();
        let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: `info` is a whole `Dl_info`, of which zeroes are a valid value; a name that is
        // filled in is a NUL-terminated string of the loader's that lives as long as the object.
        let file = unsafe {
            if libc::dladdr(address, info.as_mut_ptr()) == 0 {
                return false;
            }
            let name = info.assume_init().dli_fname;
            if name.is_null() {
                return false;
            }
            std::ffi::CStr::from_ptr(name).to_bytes().to_vec()
        };
        let file = PathBuf::from(std::ffi::OsString::from_vec(file));
        file == self.mapped || file.canonicalize().is_ok_and(|f| f == self.path)
    }

    /// A function, if the object exports it.
    ///
    /// # Safety
    /// `F` must be the function pointer type that the library's documentation gives the symbol.
    pub unsafe fn function<F: Copy>(&self, symbol: &str) -> Option<F> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.library.get::<F>(symbol) }.ok().map(|s| *s)
    }

    /// A function that there is no doing without: for a library, or for one of its algorithms.
    ///
    /// # Safety
    /// As [`SharedObject::function`].
    pub unsafe fn exported<F: Copy>(&self, symbol: &str) -> Result<F, Missing> {
        let missing = || Missing { path: self.path.clone(), symbol: symbol.to_owned() };
        // SAFETY: the caller vouches for the type.
        unsafe { self.function(symbol) }.ok_or_else(missing)
    }

    /// What a function without arguments gives.
    ///
    /// # Safety
    /// It takes nothing and returns a `T`, by the library's documentation.
    pub unsafe fn asked<T>(&self, symbol: &str) -> Result<T, Missing> {
        // SAFETY: the caller's.
        unsafe { Ok(self.exported::<unsafe extern "C" fn() -> T>(symbol)?()) }
    }

    /// The text that a function without arguments gives; `None` where it is null.
    ///
    /// # Safety
    /// It takes nothing and returns a static string, by the library's documentation.
    pub unsafe fn told(&self, symbol: &str) -> Result<Option<String>, Missing> {
        // SAFETY: the caller's.
        unsafe { Ok(crate::text(self.asked(symbol)?)) }
    }

    /// The file, without links; of a copy, the file that it is a copy of.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// That it cannot be used.
    pub fn unusable(&self, why: impl Into<String>) -> LoadError {
        LoadError::Unusable { path: self.path.clone(), why: why.into() }
    }
}

/// The loader's words without libloading's wrapping, on one line.
fn plain(error: &libloading::Error) -> String {
    let text = match error {
        libloading::Error::DlOpen { source } => format!("{source:?}"),
        other => other.to_string(),
    };
    text.replace('\n', " ")
}
