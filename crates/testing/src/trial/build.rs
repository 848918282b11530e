//! Building objects.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A path below the repository.
#[must_use]
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Set by `make test`, which has built everything: asked for one package alone, cargo would build its dependencies
/// once more, with fewer features.
const ALL_IS_BUILT: &str = "CIPHERMARK_TEST_BUILT";

/// The shared object of a package of the workspace, built first: cargo builds objects that no Rust
/// code can link only when asked to.
///
/// # Panics
/// When it does not build.
#[must_use]
pub fn object(package: &str) -> PathBuf {
    let profile = profile_directory();
    let object = profile.join(format!("lib{}.so", package.replace('-', "_")));
    if std::env::var_os(ALL_IS_BUILT).is_some() && object.is_file() {
        return object;
    }
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(repository("."));
    build.args(["build", "--quiet", "-p", package, "--target-dir"]);
    build.arg(target_directory(&profile));
    if profile.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo runs").success(), "{build:?}");
    object
}

/// An adapter in C or C++ and what it is compiled against.
#[derive(Debug)]
pub struct Foreign {
    /// Where its files are, below the repository.
    pub directory: &'static str,
    /// The compiler's name, then its options.
    pub compiler: &'static [&'static str],
    /// Endings of the files that are compiled.
    pub ending: &'static str,
    /// The library's header, whose absence says that the library is not here.
    pub header: &'static str,
    /// The library's name to the linker.
    pub link: &'static str,
}

impl Foreign {
    /// The object, compiled once for all tests until a source, the library or the compiler changes. `None`, with the reason printed, where the compiler or the library's headers are
    /// not on this machine.
    ///
    /// # Panics
    /// When what is on this machine does not compile without a warning.
    #[must_use]
    pub fn compile(&self) -> Option<PathBuf> {
        let [program, options @ ..] = self.compiler else { panic!("a compiler has a name") };
        if !succeeds(Command::new(program).arg("--version")) {
            println!("skipped: there is no {program} on this machine");
            return None;
        }
        let language = if self.ending == "c" { "c" } else { "c++" };
        // All macros: the library's version and the compiler's are among them.
        let mut probe = Command::new(program);
        probe.args(options).args([
            "-E",
            "-dM",
            "-x",
            language,
            "-include",
            self.header,
            "/dev/null",
        ]);
        let Some(macros) = probe.output().ok().filter(|o| o.status.success()) else {
            println!("skipped: the header {} is not on this machine", self.header);
            return None;
        };
        let target = profile_directory().join("trial");
        std::fs::create_dir_all(&target).expect("the target directory can be written");
        let key = self.key(&macros.stdout);
        let object = target.join(format!("libciphermark_{}-{key:016x}.so", name(self.directory)));
        if object.is_file() {
            return Some(object);
        }
        // Beside and renamed: another test may compile or load it, too.
        let fresh = object.with_extension(std::process::id().to_string());
        let mut build = Command::new(program);
        build.args(options).args(["-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"]);
        build.args(sources(&repository(self.directory), self.ending));
        build.arg("-I").arg(repository("include"));
        build.arg(format!("-l{}", self.link)).arg("-o").arg(&fresh);
        assert!(build.status().expect("the compiler runs").success(), "{build:?}");
        std::fs::rename(&fresh, &object).expect("the target directory can be written");
        Some(object)
    }

    /// Of everything that the object depends on.
    fn key(&self, macros: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.compiler, macros).hash(&mut hasher);
        for directory in [self.directory, "attach", "include"] {
            let entries =
                std::fs::read_dir(repository(directory)).expect("a directory of the repository");
            let mut files: Vec<PathBuf> =
                entries.flatten().map(|e| e.path()).filter(|path| path.is_file()).collect();
            files.sort();
            files.iter().for_each(|file| std::fs::read(file).ok().hash(&mut hasher));
        }
        hasher.finish()
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|o| o.status.success())
}

/// `attach/ipsec-mb` becomes `ipsec_mb`.
fn name(directory: &str) -> String {
    let last = Path::new(directory).file_name().expect("a directory has a name");
    last.to_string_lossy().replace('-', "_")
}

fn sources(directory: &Path, ending: &str) -> Vec<OsString> {
    let entries = std::fs::read_dir(directory).expect("the adapter's directory is read");
    let paths = entries.map(|e| e.expect("the adapter's directory is read").path());
    let mut sources: Vec<OsString> =
        paths.filter(|p| p.extension().is_some_and(|e| e == ending)).map(Into::into).collect();
    sources.sort();
    sources
}

/// target of target/PROFILE, or of target/TRIPLE/PROFILE where cargo was told to build for one: it is told again.
fn target_directory(profile: &Path) -> &Path {
    let above = profile.parent().expect("a profile's directory lies in the target directory");
    match std::env::var("CARGO_BUILD_TARGET") {
        Ok(triple) if above.ends_with(&triple) => above.parent().expect("so does a triple's"),
        _ => above,
    }
}

/// target/PROFILE of target/PROFILE/deps/TEST-HASH.
fn profile_directory() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.ancestors().nth(2).expect("a test lies in its profile's directory").to_owned()
}
