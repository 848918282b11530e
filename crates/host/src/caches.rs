//! Where the user's programs keep what they can find out again.

use std::path::PathBuf;

/// `$CIPHERMARK_CACHE/NAME`, else `ciphermark/NAME` in the user's directory for caches (XDG Base
/// Directory Specification 0.8); none when the variable is empty or there is no such directory.
#[must_use]
pub fn cache_directory(name: &str) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    let users = || {
        let named = variable("XDG_CACHE_HOME").filter(absolute);
        let caches = named.or_else(|| Some(variable("HOME").filter(absolute)?.join(".cache")));
        Some(caches?.join("ciphermark"))
    };
    let base = match variable("CIPHERMARK_CACHE") {
        Some(path) => Some(path).filter(|p| !p.as_os_str().is_empty()),
        None => users(),
    };
    Some(base?.join(name))
}
