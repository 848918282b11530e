//! The libraries that come with us: each in a directory of its own, its manifest beside it.

use crate::find::{Found, family_by_name};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What the build wrote down of a library, in its directory.
const MANIFEST: &str = "library.toml";

/// A library's manifest.
#[derive(Debug, Deserialize)]
pub(crate) struct Manifest {
    /// Name as in `--library`.
    name: String,
    /// The shared object's file name.
    object: String,
    /// Version of the source.
    version: String,
    /// Where the source comes from.
    source: String,
    /// How it was built, one fact a line.
    build: Vec<String>,
    /// Other ways to call the same code, each a library of its own in the same directory.
    #[serde(default)]
    also: Vec<Also>,
}

/// A further object of a build.
#[derive(Debug, Deserialize)]
struct Also {
    name: String,
    object: String,
}

impl Manifest {
    /// Name and object of every library of the build.
    fn objects(&self) -> impl Iterator<Item = (&str, &str)> {
        let also = self.also.iter().map(|a| (a.name.as_str(), a.object.as_str()));
        std::iter::once((self.name.as_str(), self.object.as_str())).chain(also)
    }
}

/// What is known of a library that was built with us and that it may not say of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundled {
    /// Name as in `--library`: two builds of one library differ in nothing else.
    pub name: String,
    /// Version of its source.
    pub version: String,
    /// Where the source comes from and how it was built, one fact a line.
    pub build: Vec<String>,
}

/// What the manifest beside a shared object says of it; `None` where there is none, or where it is
/// about another file.
#[must_use]
pub fn bundled(object: &Path) -> Option<Bundled> {
    let manifest = read(&object.with_file_name(MANIFEST)).ok()?;
    let file = object.file_name()?.to_str()?;
    let name = manifest.objects().find(|(_, o)| *o == file)?.0.to_owned();
    let source = std::iter::once(format!("source: {}", manifest.source));
    let build = source.chain(manifest.build).collect();
    Some(Bundled { name, version: manifest.version, build })
}

/// The libraries whose directories lie in `place`.
pub(crate) fn find_in(place: &Path) -> Vec<Found> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let manifests = entries.map(|e| e.path().join(MANIFEST)).filter(|m| m.is_file());
    manifests.flat_map(|manifest| found(&manifest)).collect()
}

/// A manifest's objects; the manifest itself, with the reason, in place of one that is not usable.
fn found(manifest: &Path) -> Vec<Found> {
    let paths = match read(manifest) {
        Ok(read) => read.objects().map(|(_, object)| object_of(manifest, object)).collect(),
        Err(why) => vec![Err(why)],
    };
    let of = |path: Result<PathBuf, String>| match path {
        Ok(path) => Found { family: family_by_name(&path), path, problem: None },
        Err(why) => {
            let problem = Some(format!("'{}' {why}", manifest.display()));
            Found { family: family_by_name(manifest), path: manifest.to_owned(), problem }
        }
    };
    paths.into_iter().map(of).collect()
}

fn object_of(manifest: &Path, object: &str) -> Result<PathBuf, String> {
    let path = manifest.with_file_name(object);
    if Path::new(object).file_name() != Some(object.as_ref()) {
        Err(format!("names '{object}': not a file name"))
    } else if !path.is_file() {
        Err(format!("names '{object}', which is not there: build it again with libs/build"))
    } else {
        Ok(path)
    }
}

fn read(manifest: &Path) -> Result<Manifest, String> {
    let text = std::fs::read_to_string(manifest).map_err(|e| format!("cannot be read: {e}"))?;
    parse(&text)
}

/// Reads a manifest.
pub(crate) fn parse(text: &str) -> Result<Manifest, String> {
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |s| text[..s.start].matches('\n').count() + 1);
        format!("is malformed in line {line}: {}", e.message().replace('\n', " "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;
    use crate::fixtures::shared_object;

    const GOOD: &str = "name = \"wolfssl-noasm\"\nobject = \"libwolfssl.so\"\nversion = \"5\"\n\
                        source = \"crate x 1\"\nbuild = [\"cc 12\", \"configure\"]\n";

    /// One library's directory with this manifest and `libwolfssl.so`.
    fn library(manifest: &str) -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("entry");
        shared_object(&directory.join("libwolfssl.so"));
        std::fs::write(directory.join(MANIFEST), manifest).unwrap();
        (place, directory)
    }

    fn problem(manifest: &str) -> String {
        let (place, directory) = library(manifest);
        let found = find_in(place.path()).remove(0);
        assert_eq!(found.path, directory.join(MANIFEST));
        found.problem.expect("the manifest is wrong")
    }

    #[test]
    fn a_library_is_found_by_its_manifest_and_has_its_name_and_build() {
        let (place, directory) = library(GOOD);
        // Work in progress and anything else that has no manifest.
        shared_object(&place.path().join(".work/libcrypto.so"));
        let object = directory.join("libwolfssl.so");
        let found = find_in(place.path());
        let path = object.clone();
        assert_eq!(found, [Found { family: Family::Wolfssl, path, problem: None }]);
        let facts = bundled(&object).unwrap();
        assert_eq!((facts.name.as_str(), facts.version.as_str()), ("wolfssl-noasm", "5"));
        assert_eq!(facts.build, ["source: crate x 1", "cc 12", "configure"]);
    }

    #[test]
    fn a_second_library_of_a_build_is_found_with_its_own_name() {
        let two = format!("{GOOD}[[also]]\nname = \"botan-c\"\nobject = \"libbotan-3.so\"\n");
        let (place, directory) = library(&two);
        shared_object(&directory.join("libbotan-3.so"));
        let families: Vec<Family> = find_in(place.path()).iter().map(|f| f.family).collect();
        assert_eq!(families, [Family::Wolfssl, Family::Botan]);
        let facts = bundled(&directory.join("libbotan-3.so")).unwrap();
        assert_eq!((facts.name.as_str(), facts.version.as_str()), ("botan-c", "5"));
        assert_eq!(bundled(&directory.join("libwolfssl.so")).unwrap().name, "wolfssl-noasm");

        std::fs::remove_file(directory.join("libbotan-3.so")).unwrap();
        let problems: Vec<_> = find_in(place.path()).into_iter().map(|f| f.problem).collect();
        assert_eq!(problems[0], None);
        assert!(problems[1].as_ref().unwrap().contains("names 'libbotan-3.so'"), "{problems:?}");
    }

    #[test]
    fn a_manifest_says_nothing_of_other_files_beside_it() {
        let (_place, directory) = library(GOOD);
        assert_eq!(bundled(&directory.join("libssl.so")), None);
        assert_eq!(bundled(Path::new("/nowhere/libwolfssl.so")), None);
    }

    #[test]
    fn a_wrong_manifest_is_one_line_that_says_where() {
        let missing = problem(&GOOD.replace("libwolfssl.so", "libgone.so"));
        assert!(missing.contains("library.toml' names 'libgone.so'"), "{missing}");
        let outside = problem(&GOOD.replace("libwolfssl.so", "../entry/libwolfssl.so"));
        assert!(outside.contains("not a file name"), "{outside}");
        let malformed = problem(&GOOD.replace("source = ", "source "));
        assert!(malformed.contains("malformed in line 4"), "{malformed}");
        let incomplete = problem("name = \"x\"\n");
        assert!(incomplete.contains("missing field"), "{incomplete}");
        for text in [missing, outside, malformed, incomplete] {
            assert!(!text.contains('\n'), "{text}");
        }
    }
}
