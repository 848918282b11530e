//! Languages' runtimes: which there are, and where their programs are kept.

use adapters::runtime::{Places, Program};
use base::model::{NameGlob, RUNTIME_PREFIX};
use std::path::PathBuf;

/// Makes a runtime's program ready.
pub(crate) fn prepare(runtime: &str) -> Result<Program, String> {
    adapters::runtime::prepare(runtime, &places())
}

fn places() -> Places {
    let libraries = std::env::var_os("CIPHERMARK_LIBS").unwrap_or_default();
    Places {
        cache: host::cache_directory("runtimes"),
        libraries: std::env::split_paths(&libraries)
            .filter(|p| !p.as_os_str().is_empty())
            .collect(),
        environment: host::environment(),
    }
}

/// The runtimes that a glob asks for: those that it matches by more than a star, because starting them takes time and
/// their programs are compiled first.
pub(crate) fn asked<'a>(globs: impl Iterator<Item = &'a NameGlob>) -> Vec<PathBuf> {
    let named: Vec<&NameGlob> =
        globs.filter(|glob| !glob.text().starts_with(['*', '?', '['])).collect();
    let names =
        adapters::runtime::names().filter(|name| named.iter().any(|glob| glob.matches(name)));
    names.map(path).collect()
}

/// All that are known.
pub(crate) fn all() -> Vec<PathBuf> {
    adapters::runtime::names().map(path).collect()
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(format!("{RUNTIME_PREFIX}{name}"))
}
