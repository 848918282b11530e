//! Finds shared objects that can be measured: the system's own, and those that come with us, each in a
//! directory of its own with its manifest beside it.

use crate::check_elf;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What a file's name and place call for. A hint: the exported symbols decide. In the order in which libraries are
/// listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// A name among those that were looked for: which one.
    Named(usize),
    /// The running Linux kernel, under [`base::model::KERNEL_PATH`].
    Kernel,
    /// An object of the adapter interface.
    Attached,
}

/// One shared object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Found {
    /// What it seems to be.
    pub family: Family,
    /// The file, links resolved.
    pub path: PathBuf,
    /// Why it cannot be measured, in one line, where that is known before loading it.
    pub problem: Option<String>,
}

/// Every shared object that can be measured, each real file once, by family and path. `names`: how libraries' files are
/// called, up to the version behind it.
///
/// The system's libraries: `libcrypto.so.N`, `libgcrypt.so.N` and the like in the loader's
/// directories (`LD_LIBRARY_PATH`, then the usual ones), and Android's `libcrypto` where Debian puts it; those
/// for another machine are left out. Attached objects: `libciphermark_*.so` beside the executable
/// and in `../lib/ciphermark`; bundled libraries, each in its directory with its manifest
/// `library.toml`, in the directories of `CIPHERMARK_BUNDLED` (empty: none), else in `libs` beside the executable's directory (where `libs/build` puts them) and in
/// `../lib/ciphermark/libs`. And every `*.so`, and what is named as a system library, in the directories of `CIPHERMARK_LIBS`; those are
/// listed whatever they are, because somebody put them there to be measured. Last on Linux the kernel
/// itself; whether it lets itself be used, attaching it says.
pub fn find_libraries(names: &[&str]) -> Vec<Found> {
    let mut found = find(&Places::of_this_process(), names);
    if cfg!(target_os = "linux") {
        let path = PathBuf::from(base::model::KERNEL_PATH);
        found.push(Found { family: Family::Kernel, path, problem: None });
    }
    found
}

/// How objects are called that are whole TLS stacks, and no libraries of ciphers.
const STACK: &str = "libciphermarktls_";

/// Whether a file is called as a TLS stack of its own is.
pub fn is_stack(path: &Path) -> bool {
    name(path).starts_with(STACK) && name(path).ends_with(".so")
}

/// TLS stacks that are objects of their own, `libciphermarktls_*.so`: beside the executable, in
/// `../lib/ciphermark`, among the bundled libraries, and in the directories of `CIPHERMARK_LIBS`.
pub fn find_stacks() -> Vec<PathBuf> {
    let places = Places::of_this_process();
    let beside = places.own.iter().chain(&places.chosen).flat_map(|d| files(d));
    let bundled = places.bundled.iter().flat_map(|place| find_bundled(place, &[])).map(|f| f.path);
    let all = beside.chain(bundled).filter(|path| is_stack(path));
    let real: BTreeSet<PathBuf> = all.map(|p| p.canonicalize().unwrap_or(p)).collect();
    real.into_iter().collect()
}

/// A file that comes with the program: beside the executable, or in `../lib/ciphermark`.
pub fn companion(name: &str) -> Option<PathBuf> {
    Places::of_this_process().own.into_iter().map(|d| d.join(name)).find(|p| p.is_file())
}

/// Directories to look in.
#[derive(Debug, Default)]
struct Places {
    /// The loader's.
    system: Vec<PathBuf>,
    /// Android's libraries on a Debian system.
    android: Vec<PathBuf>,
    /// Ours.
    own: Vec<PathBuf>,
    /// Bundled libraries, a directory each.
    bundled: Vec<PathBuf>,
    /// The user's: `CIPHERMARK_LIBS`.
    chosen: Vec<PathBuf>,
}

impl Places {
    fn of_this_process() -> Self {
        let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
        let mut system = directories_in("LD_LIBRARY_PATH");
        for usual in ["/usr/local/lib", "/usr/lib", "/lib"] {
            system.push(Path::new(usual).join(&multiarch));
            system.push(PathBuf::from(usual));
            system.push(PathBuf::from(format!("{usual}64")));
        }
        let executable = std::env::current_exe().and_then(|e| e.canonicalize()).ok();
        let beside = executable.as_deref().and_then(Path::parent).map(Path::to_owned);
        let own = beside.iter().flat_map(|d| [d.clone(), d.join("../lib/ciphermark")]);
        let bundled = match std::env::var_os("CIPHERMARK_BUNDLED") {
            Some(_) => directories_in("CIPHERMARK_BUNDLED"),
            None => beside
                .iter()
                .flat_map(|d| [d.join("../libs"), d.join("../lib/ciphermark/libs")])
                .collect(),
        };
        Self {
            android: vec![Path::new("/usr/lib").join(&multiarch).join("android")],
            own: own.collect(),
            bundled,
            chosen: directories_in("CIPHERMARK_LIBS"),
            system,
        }
    }
}

/// A colon-separated list. An empty part would mean the current directory to the loader; here it
/// means nothing, because a stray colon must not load whatever lies about.
fn directories_in(variable: &str) -> Vec<PathBuf> {
    let value = std::env::var_os(variable).unwrap_or_default();
    std::env::split_paths(&value).filter(|p| !p.as_os_str().is_empty()).collect()
}

fn find(places: &Places, names: &[&str]) -> Vec<Found> {
    let mut found = BTreeSet::new();
    let mut add =
        |family: Family, path: PathBuf| found.insert(Found { family, path, problem: None });
    for path in places.system.iter().flat_map(|d| files(d)) {
        if let Some(family) = system_family(&path, names).filter(|_| check_elf(&path).is_ok()) {
            add(family, path);
        }
    }
    for path in places.android.iter().flat_map(|d| files(d)) {
        if versioned(&path, "libcrypto.so", true) && check_elf(&path).is_ok() {
            add(family_by_name(&path, names), path);
        }
    }
    let is_own = |p: &PathBuf| name(p).starts_with("libciphermark_") && name(p).ends_with(".so");
    for path in places.own.iter().flat_map(|d| files(d)).filter(is_own) {
        add(Family::Attached, path);
    }
    // An installed library may have its version alone: the plain name comes with the headers.
    let is_object = |p: &PathBuf| {
        (name(p).ends_with(".so") && !is_stack(p)) || system_family(p, names).is_some()
    };
    for path in places.chosen.iter().flat_map(|d| files(d)).filter(is_object) {
        add(family_by_name(&path, names), path);
    }
    let bundled = places.bundled.iter().flat_map(|place| find_bundled(place, names));
    found.extend(bundled.filter(|f| !is_stack(&f.path)));
    real_files(found)
}

/// The directory's files; empty when it cannot be read, which is no news for most of them.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|e| e.path()).filter(|p| p.is_file()).collect()
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|n| n.to_str()).unwrap_or_default()
}

fn system_family(path: &Path, names: &[&str]) -> Option<Family> {
    names.iter().position(|stem| versioned(path, stem, false)).map(Family::Named)
}

/// By the name alone: the user may have put any ending behind it (`libcrypto.patched.so`).
pub(crate) fn family_by_name(path: &Path, names: &[&str]) -> Family {
    let is_called = |stem: &&str| name(path).starts_with(stem.trim_end_matches("so"));
    names.iter().position(is_called).map_or(Family::Attached, Family::Named)
}

/// Whether the file is `stem` with a version behind it: `libcrypto.so.3`, `libcrypto.so.1.1.1w`,
/// not `libcrypto.so.3.hmac` (a checksum that Fedora puts beside the library). `bare`: or without.
fn versioned(path: &Path, stem: &str, bare: bool) -> bool {
    let Some(rest) = name(path).strip_prefix(stem) else { return false };
    let Some(version) = rest.strip_prefix('.') else { return bare && rest.is_empty() };
    version.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
}

/// Links resolved, each file once under its first family, sorted.
fn real_files(found: BTreeSet<Found>) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let resolve = |f: Found| Found { path: f.path.canonicalize().unwrap_or(f.path), ..f };
    let mut real: Vec<Found> = found.into_iter().map(resolve).collect();
    real.sort();
    real.retain(|f| seen.insert(f.path.clone()));
    real
}

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
pub fn bundled(object: &Path) -> Option<Bundled> {
    let manifest = read_manifest(&object.with_file_name(MANIFEST)).ok()?;
    let file = object.file_name()?.to_str()?;
    let name = manifest.objects().find(|(_, o)| *o == file)?.0.to_owned();
    let source = std::iter::once(format!("source: {}", manifest.source));
    let build = source.chain(manifest.build).collect();
    Some(Bundled { name, version: manifest.version, build })
}

/// The libraries whose directories lie in `place`.
pub(crate) fn find_bundled(place: &Path, names: &[&str]) -> Vec<Found> {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let manifests = entries.map(|e| e.path().join(MANIFEST)).filter(|m| m.is_file());
    manifests.flat_map(|manifest| objects_of_manifest(&manifest, names)).collect()
}

/// A manifest's objects; the manifest itself, with the reason, in place of one that is not usable.
fn objects_of_manifest(manifest: &Path, names: &[&str]) -> Vec<Found> {
    let paths = match read_manifest(manifest) {
        Ok(read_manifest) => {
            read_manifest.objects().map(|(_, object)| object_of(manifest, object)).collect()
        }
        Err(why) => vec![Err(why)],
    };
    let of = |path: Result<PathBuf, String>| match path {
        Ok(path) => Found { family: family_by_name(&path, names), path, problem: None },
        Err(why) => {
            let problem = Some(format!("'{}' {why}", manifest.display()));
            Found { family: family_by_name(manifest, names), path: manifest.to_owned(), problem }
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

const MOST_OF_MANIFEST: u64 = 1 << 20;

fn read_manifest(manifest: &Path) -> Result<Manifest, String> {
    let mut text = String::new();
    record::open_regular(manifest)
        .and_then(|file| file.take(MOST_OF_MANIFEST).read_to_string(&mut text))
        .map_err(|e| format!("cannot be read: {e}"))?;
    parse_manifest(&text)
}

pub(crate) fn parse_manifest(text: &str) -> Result<Manifest, String> {
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |s| text[..s.start].matches('\n').count() + 1);
        format!("is malformed in line {line}: {}", e.message().replace('\n', " "))
    })
}

#[cfg(test)]
mod tests {
    use super::{Family, *};
    use crate::fixtures::{THIS_MACHINE, elf_bytes, shared_object};
    use object::elf;
    use std::os::unix::fs::symlink;

    const NAMES: [&str; 6] = [
        "libcrypto.so",
        "libgcrypt.so",
        "libbotan-2.so",
        "libwolfssl.so",
        "libmbedcrypto.so",
        "libz.so",
    ];
    const CRYPTO: Family = Family::Named(0);
    const GCRYPT: Family = Family::Named(1);
    const BOTAN: Family = Family::Named(2);
    const WOLFSSL: Family = Family::Named(3);
    const MBEDTLS: Family = Family::Named(4);
    const ZLIB: Family = Family::Named(5);

    /// Finds in a tree of four directories; gives family and path below the tree.
    fn found(lay_out: impl Fn(&Path)) -> Vec<(Family, String)> {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        lay_out(&root);
        let place = |name: &str| vec![root.join(name), root.join("missing")];
        let places = Places {
            system: place("system"),
            android: place("android"),
            own: place("own"),
            bundled: place("bundled"),
            chosen: place("chosen"),
        };
        let below = |p: &Path| p.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        find(&places, &NAMES).into_iter().map(|f| (f.family, below(&f.path))).collect()
    }

    fn is(family: Family, path: &str) -> (Family, String) {
        (family, path.to_owned())
    }

    /// What a row shows, what is laid out, and what of it is found.
    type Row = (&'static str, &'static [&'static str], &'static [(Family, &'static str)]);

    #[rustfmt::skip]
    const BY_NAME: [Row; 3] = [
        (
            "system libraries are those with a version behind their name",
            &[
                "system/libcrypto.so.3", "system/libcrypto.so.1.1.1w", "system/libgcrypt.so.20", "system/libcrypto.so",
                "system/libcrypto.so.3.hmac", "system/libcryptopp.so.8", "system/libssl.so.3", "system/libbotan-2.so.19",
                "system/libmbedtls.so.14", "system/libmbedcrypto.so.7", "system/libz.so.1", "system/libzstd.so.1",
            ],
            &[
                (CRYPTO, "system/libcrypto.so.1.1.1w"),
                (CRYPTO, "system/libcrypto.so.3"),
                (GCRYPT, "system/libgcrypt.so.20"),
                (BOTAN, "system/libbotan-2.so.19"),
                (MBEDTLS, "system/libmbedcrypto.so.7"),
                (ZLIB, "system/libz.so.1"),
            ],
        ),
        (
            "Android's library needs no version",
            &["android/libcrypto.so.0", "android/libcrypto.so", "android/libssl.so.0"],
            &[(CRYPTO, "android/libcrypto.so"), (CRYPTO, "android/libcrypto.so.0")],
        ),
        (
            "own objects are known by their name and chosen ones by their place",
            &[
                "own/libciphermark_rustcrypto.so", "own/libother.so", "chosen/mine.so", "chosen/libcrypto.patched.so",
                "chosen/notes.txt", "chosen/libgcrypt.so.20", "chosen/libcrypto.so.3.hmac", "chosen/libssl.so.3",
            ],
            &[
                (CRYPTO, "chosen/libcrypto.patched.so"),
                (GCRYPT, "chosen/libgcrypt.so.20"),
                (Family::Attached, "chosen/mine.so"),
                (Family::Attached, "own/libciphermark_rustcrypto.so"),
            ],
        ),
    ];

    #[test]
    fn files_are_found_by_name_and_place() {
        for (why, files, expected) in BY_NAME {
            let all = found(|root| files.iter().for_each(|file| shared_object(&root.join(file))));
            assert_eq!(all, expected.iter().map(|(f, p)| is(*f, p)).collect::<Vec<_>>(), "{why}");
        }
    }

    #[test]
    fn a_chosen_file_that_is_no_object_is_found_for_loading_says_why_it_cannot_be() {
        let all = found(|root| {
            std::fs::create_dir(root.join("chosen")).unwrap();
            std::fs::write(root.join("chosen/broken.so"), "no object").unwrap();
        });
        assert_eq!(all, [is(Family::Attached, "chosen/broken.so")]);
    }

    #[test]
    fn a_file_with_several_links_is_found_once() {
        let all = found(|root| {
            shared_object(&root.join("system/libgcrypt.so.20.4.1"));
            symlink("libgcrypt.so.20.4.1", root.join("system/libgcrypt.so.20")).unwrap();
            std::fs::create_dir(root.join("chosen")).unwrap();
            symlink("../system/libgcrypt.so.20", root.join("chosen/again.so")).unwrap();
            symlink("nowhere", root.join("system/libcrypto.so.9")).unwrap();
        });
        assert_eq!(all, [is(GCRYPT, "system/libgcrypt.so.20.4.1")]);
    }

    #[test]
    fn system_libraries_for_another_machine_are_left_out() {
        let all = found(|root| {
            shared_object(&root.join("system/libcrypto.so.3"));
            let other = elf_bytes(elf::ELFCLASS32.0, elf::ET_DYN.0, elf::EM_386.0, 9);
            std::fs::write(root.join("system/libcrypto.so.1.1"), other).unwrap();
            let archive = elf_bytes(elf::ELFCLASS64.0, elf::ET_REL.0, THIS_MACHINE, 9);
            std::fs::write(root.join("system/libgcrypt.so.20"), archive).unwrap();
        });
        assert_eq!(all, [is(CRYPTO, "system/libcrypto.so.3")]);
    }

    #[test]
    fn a_bundled_library_is_found_once_though_its_directory_was_chosen_too() {
        let all = found(|root| {
            let directory = root.join("bundled/openssl-4.0");
            shared_object(&directory.join("libcrypto.so.4"));
            std::fs::write(
                directory.join("library.toml"),
                "name = \"openssl\"\nobject = \"libcrypto.so.4\"\nversion = \"4\"\nsource = \"s\"\nbuild = []\n",
            )
            .unwrap();
            std::fs::create_dir(root.join("chosen")).unwrap();
            symlink(directory.join("libcrypto.so.4"), root.join("chosen/libcrypto.so")).unwrap();
        });
        assert_eq!(all, [is(CRYPTO, "bundled/openssl-4.0/libcrypto.so.4")]);
    }

    #[test]
    fn this_system_is_searched_without_error() {
        let mut found = find_libraries(&NAMES);
        if cfg!(target_os = "linux") {
            let kernel = found.pop().unwrap();
            assert_eq!((kernel.family, kernel.path), (Family::Kernel, "af_alg:".into()));
        }
        assert!(found.is_sorted() && found.iter().all(|f| f.path.is_absolute()), "{found:?}");
    }

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
        let found = find_bundled(place.path(), &NAMES).remove(0);
        assert_eq!(found.path, directory.join(MANIFEST));
        found.problem.expect("the manifest is wrong")
    }

    #[test]
    fn a_library_is_found_by_its_manifest_and_has_its_name_and_build() {
        let (place, directory) = library(GOOD);
        // Work in progress and anything else that has no manifest.
        shared_object(&place.path().join(".work/libcrypto.so"));
        let object = directory.join("libwolfssl.so");
        let found = find_bundled(place.path(), &NAMES);
        let path = object.clone();
        assert_eq!(found, [Found { family: WOLFSSL, path, problem: None }]);
        let facts = bundled(&object).unwrap();
        assert_eq!((facts.name.as_str(), facts.version.as_str()), ("wolfssl-noasm", "5"));
        assert_eq!(facts.build, ["source: crate x 1", "cc 12", "configure"]);
    }

    #[test]
    fn a_second_library_of_a_build_is_found_with_its_own_name() {
        let two = format!("{GOOD}[[also]]\nname = \"botan-c\"\nobject = \"libbotan-2.so\"\n");
        let (place, directory) = library(&two);
        shared_object(&directory.join("libbotan-2.so"));
        let families: Vec<Family> =
            find_bundled(place.path(), &NAMES).iter().map(|f| f.family).collect();
        assert_eq!(families, [WOLFSSL, BOTAN]);
        let facts = bundled(&directory.join("libbotan-2.so")).unwrap();
        assert_eq!((facts.name.as_str(), facts.version.as_str()), ("botan-c", "5"));
        assert_eq!(bundled(&directory.join("libwolfssl.so")).unwrap().name, "wolfssl-noasm");

        std::fs::remove_file(directory.join("libbotan-2.so")).unwrap();
        let problems: Vec<_> =
            find_bundled(place.path(), &NAMES).into_iter().map(|f| f.problem).collect();
        assert_eq!(problems[0], None);
        assert!(problems[1].as_ref().unwrap().contains("names 'libbotan-2.so'"), "{problems:?}");
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
