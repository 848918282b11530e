//! CPUID rewriting: a copy of the library in memory, in which every CPUID instruction is the marker
//! of [`crate::arch::marker`]; the copy is loaded instead of the file, so that also the first initialiser and
//! every resolver of indirect functions gets the tier's answer. Nothing else in it differs.

use crate::arch::closure::{dependencies, is_runtime, sorted};
use crate::arch::marker::{CPUID, MARKER};
use crate::arch::object::Image;
use crate::arch::sites;
use crate::copy::of_bytes;
use crate::plan::{Copies, Object, Plan};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// Finds the CPUID instructions of a library and of what it loads, and makes the copies.
///
/// # Errors
/// Why this library cannot be loaded as a copy.
pub fn prepare(library: &Path) -> Result<Copies, String> {
    let library = library.canonicalize().map_err(|e| format!("'{}': {e}", library.display()))?;
    let library_name = library.to_string_lossy().into_owned();
    let mut paths = dependencies(&library)?;
    paths.insert(library_name.clone(), library.clone());
    let files = read_all(&paths)?;
    let mut images = BTreeMap::new();
    for (name, bytes) in &files {
        let image = Image::parse(bytes).map_err(|e| format!("'{}' {e}", paths[name].display()))?;
        images.insert(name.as_str(), image);
    }
    let needs: HashMap<&str, Vec<&str>> = images
        .iter()
        .map(|(name, image)| (*name, image.needed.iter().map(String::as_str).collect()))
        .collect();
    let (mut plan, mut copies) = (Plan::default(), Vec::new());
    for name in sorted(&needs, &library_name) {
        let (path, image) = (&paths[name], &images[name]);
        let wrong = |why: String| format!("'{}' {why}", path.display());
        let found = sites::find(image).map_err(wrong)?.instructions;
        let mut load = path.clone();
        if !found.is_empty() {
            if name != library_name && image.soname.as_deref() != Some(name) {
                return Err(format!(
                    "'{}' has CPUID instructions and no name (SONAME) by which the copy would be known",
                    path.display()
                ));
            }
            let copy = copy(path, &files[name][..image.mapped], &found)?;
            load = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), copy.as_raw_fd()));
            copies.push(copy);
        }
        let cpuid_instructions = found.len() as u64;
        plan.objects.push(Object { original: path.clone(), load, cpuid_instructions });
    }
    if plan.cpuid_instructions() == 0 {
        for (name, image) in &images {
            let wrong = |why: String| format!("'{}' {why}", paths[*name].display());
            for (feature, count) in sites::features(image).map_err(wrong)? {
                *plan.features.entry(feature).or_insert(0) += count;
            }
        }
    }
    Ok(Copies { plan, _files: copies })
}

fn read_all(paths: &BTreeMap<String, PathBuf>) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let own = paths.iter().filter(|(_, path)| !is_runtime(path));
    own.map(|(name, path)| {
        let bytes = std::fs::read(path).map_err(|e| format!("'{}': {e}", path.display()))?;
        Ok((name.clone(), bytes))
    })
    .collect()
}

/// The bytes with the instructions replaced.
fn copy(path: &Path, bytes: &[u8], instructions: &[u64]) -> Result<File, String> {
    let mut bytes = bytes.to_vec();
    for offset in instructions {
        let place = &mut bytes[*offset as usize..][..CPUID.len()];
        assert_eq!(place, CPUID, "the places that were found hold CPUID");
        place.copy_from_slice(&MARKER);
    }
    of_bytes(path, &bytes)
}

#[cfg(test)]
mod tests;
