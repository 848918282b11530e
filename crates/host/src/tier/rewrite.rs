//! Rewriting: a copy of the library in memory, in which every instruction that asks the CPU what it has is one that
//! faults, of the same length; the copy is loaded instead of the file, so that also the first initialiser and
//! every resolver of indirect functions gets the tier's answer. Nothing else in it differs.

use crate::tier::arch;
use crate::tier::closure::{is_runtime, sorted};
use crate::tier::copy::of_bytes;
use crate::tier::image::Image;
use crate::tier::plan::{Copies, Object, Plan};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// How a file asks the CPU what it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// Places that ask.
    pub places: u64,
    /// Those of them that a copy has something else at.
    pub patches: Vec<Patch>,
}

/// Bytes of a file and what stands in their place in the copy, as many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Offset in the file.
    pub offset: u64,
    /// The file's bytes.
    pub was: Vec<u8>,
    /// The copy's.
    pub becomes: Vec<u8>,
}

/// Finds how a library, and what it loads, asks what the CPU has, and makes the copies.
///
/// # Errors
/// Why this library cannot be loaded as a copy.
pub fn prepare(library: &Path) -> Result<Copies, String> {
    let library = library.canonicalize().map_err(|e| format!("'{}': {e}", library.display()))?;
    let library_name = library.to_string_lossy().into_owned();
    // Read, not asked of the loader: this process is not confined.
    crate::check_elf(&library).map_err(|why| format!("'{}' {why}", library.display()))?;
    let mut paths = crate::dependencies(&library, is_runtime)?;
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
        let mapped = &files[name][..image.mapped];
        let found = arch::questions(image, &files[name]).map_err(wrong)?;
        let mut load = path.clone();
        if !found.patches.is_empty() {
            if name != library_name && image.soname.as_deref() != Some(name) {
                return Err(format!(
                    "'{}' asks what the CPU has and has no name (SONAME) by which the copy would be known",
                    path.display()
                ));
            }
            let copy = copy(path, mapped, &found.patches)?;
            load = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), copy.as_raw_fd()));
            copies.push(copy);
        }
        let cpuid_instructions = found.places;
        plan.objects.push(Object { original: path.clone(), load, cpuid_instructions });
    }
    if plan.cpuid_instructions() == 0 {
        for (name, image) in &images {
            let wrong = |why: String| format!("'{}' {why}", paths[*name].display());
            for (feature, count) in arch::features(image).map_err(wrong)? {
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

/// The bytes with the patches.
fn copy(path: &Path, bytes: &[u8], patches: &[Patch]) -> Result<File, String> {
    let mut bytes = bytes.to_vec();
    for patch in patches {
        let place = &mut bytes[patch.offset as usize..][..patch.was.len()];
        assert_eq!(place, patch.was, "the places that were found hold what was found");
        place.copy_from_slice(&patch.becomes);
    }
    of_bytes(path, &bytes)
}

/// Loads what the library depends on before it: the dynamic loader then knows each by its name.
pub(crate) fn preload(object: &Object) -> Result<(), String> {
    let path = CString::new(object.load.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: loads what the library would load itself; it stays loaded.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(());
    }
    // SAFETY: after a failure the loader has a message, valid until its next call.
    let words = unsafe {
        let message = libc::dlerror();
        if message.is_null() { "" } else { CStr::from_ptr(message).to_str().unwrap_or("") }
    };
    Err(format!("a copy of '{}' cannot be loaded: {words}", object.original.display()))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
