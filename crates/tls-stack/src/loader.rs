//! Opening shared objects and looking up their functions.

use std::path::Path;

/// A loaded shared object; never unloaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedObject(&'static libloading::os::unix::Library);

impl SharedObject {
    /// Loads a file with all its symbols resolved at once and kept local.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
        let shown = path.display();
        // A bare file name would be searched for by the loader: the file that is meant is this one.
        let path = path.canonicalize().map_err(|e| format!("cannot load '{shown}': {e}"))?;
        // SAFETY: runs the object's initialisers, which is what loading a stack means; the worker
        // process that does so holds nothing else.
        let library = unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|e| format!("cannot load '{shown}': {}", plain(&e)))?;
        Ok(Self(Box::leak(Box::new(library))))
    }

    /// Whether the object or one of its dependencies exports a symbol.
    pub(crate) fn has(&self, symbol: &str) -> bool {
        // SAFETY: only asked for its presence, never used as a value of this type.
        unsafe { self.0.get::<*const std::ffi::c_void>(symbol) }.is_ok()
    }

    /// A function, if the object or one of its dependencies exports it.
    ///
    /// # Safety
    /// `F` must be the function pointer type that the library's documentation gives the symbol.
    pub(crate) unsafe fn function<F: Copy>(&self, symbol: &str) -> Option<F> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.0.get::<F>(symbol) }.ok().map(|s| *s)
    }

    /// A function that there is no doing without.
    ///
    /// # Safety
    /// As [`SharedObject::function`].
    pub(crate) unsafe fn required<F: Copy>(&self, symbol: &str) -> Result<F, String> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.function(symbol) }.ok_or_else(|| format!("it does not export `{symbol}`"))
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
