//! What a shared object depends on and asks the loader to look for outside of the system's directories.

use crate::Dynamic;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// As the loader takes them from beneath a directory (ld.so(8), "Hardware capabilities").
const VARIANTS: [&str; 4] =
    ["", "glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2"];

/// Objects deeper than this one are not looked for: nobody nests so deep.
const MOST: usize = 256;

/// The objects that the library and its dependencies name and that lie in directories that they, or
/// `LD_LIBRARY_PATH`, name. Only files that are ELF objects: nobody is shown another by naming it.
pub(crate) fn objects(library: &Path) -> BTreeSet<PathBuf> {
    let searched = crate::library_path();
    let (mut found, mut open) = (BTreeSet::new(), vec![library.to_owned()]);
    while let Some(object) = open.pop() {
        if found.len() > MOST {
            break;
        }
        for path in dependencies(&object, &searched) {
            if found.insert(path.clone()) {
                open.push(path);
            }
        }
    }
    found
}

fn dependencies(object: &Path, searched: &[PathBuf]) -> Vec<PathBuf> {
    let Some(dynamic) = Dynamic::of(object) else { return Vec::new() };
    let origin = object.parent().unwrap_or(Path::new("/"));
    let directories: Vec<PathBuf> =
        dynamic.directories(origin).into_iter().chain(searched.iter().cloned()).collect();
    let candidates = |name: &String| {
        let name = crate::expanded(name, origin).unwrap_or_default();
        let within = |d: &PathBuf| VARIANTS.map(|v| d.join(v).join(&name));
        // A name with a slash is a path.
        let paths: Vec<PathBuf> = if name.contains('/') {
            vec![PathBuf::from(&name)]
        } else {
            directories.iter().flat_map(within).collect()
        };
        paths
    };
    dynamic.needed.iter().flat_map(candidates).filter(|path| crate::is_object(path)).collect()
}
