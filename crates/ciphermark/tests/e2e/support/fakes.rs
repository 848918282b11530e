//! What is built for tests and kept: stand-in libraries from `tests/fakes`, the objects that come with the
//! program (a test run alone does not build them), and environments of Python with packages of fixed
//! versions.

use crate::support::{arg, repository};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

/// `--library` for a stand-in under its own name: `early_return` gives `early_return=/…/….so`.
pub fn library(source: &str) -> String {
    variant(source, "")
}

/// The same for a stand-in with a macro defined, which becomes the name, in lower case.
pub fn variant(source: &str, define: &str) -> String {
    let name = if define.is_empty() { source } else { define.split('=').next().unwrap() };
    format!("{}={}", name.to_lowercase(), arg(&object(source, define)))
}

/// The compiled stand-in; several macros are separated by spaces. Compiled once for all tests, until a source changes.
pub fn object(source: &str, define: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fakes").join(sources_hash());
    let file = format!("{source}{}.so", define.replace(['=', ' '], "-").to_lowercase());
    let object = directory.join(file);
    if !object.is_file() {
        std::fs::create_dir_all(&directory).unwrap();
        compile(source, define, &object);
    }
    object
}

/// Of all files that a stand-in may be compiled from.
fn sources_hash() -> String {
    let below = |directory: &str| std::fs::read_dir(repository(directory)).unwrap();
    let all = below("tests/fakes").chain(below("include")).map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = all.filter(|path| path.is_file()).collect();
    files.sort();
    let mut hasher = DefaultHasher::new();
    files.iter().for_each(|file| std::fs::read(file).unwrap().hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

/// Compiles beside and renames, because another test process may compile or open it, too.
fn compile(source: &str, define: &str, object: &Path) {
    let directory = object.parent().unwrap();
    let fresh = tempfile::NamedTempFile::new_in(directory).unwrap().into_temp_path();
    let mut cc = compiler(&fresh);
    cc.args(["-O2", "-I"]).arg(repository("include"));
    cc.args(define.split_whitespace().map(|define| format!("-D{define}")));
    succeed(cc.arg(repository("tests/fakes").join(source).with_extension("c")));
    fresh.persist(object).unwrap();
}

/// The C compiler, about to make a shared object.
pub fn compiler(object: &Path) -> Command {
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-o"]).arg(object);
    cc
}

/// Runs a compiler, which must be installed and content.
pub fn succeed(compiler: &mut Command) {
    let output = compiler.output().unwrap_or_else(|e| panic!("{compiler:?}: {e}"));
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler:?}: {messages}");
}

const OBJECTS: [&str; 4] = [
    "libciphermark_baselines.so",
    "libciphermark_rustcrypto.so",
    "libciphermarkmeter.so",
    "libciphermarkwatch.so",
];

/// Builds the objects beside the program where they are missing.
pub fn ensure_attached(program: &Path) {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let profile = program.parent().expect("the program lies in its profile's directory");
        if OBJECTS.iter().any(|object| !profile.join(object).is_file()) {
            build_packages(
                profile,
                &[
                    "ciphermark-baselines",
                    "ciphermark-rustcrypto",
                    "ciphermark-meter",
                    "ciphermark-watch",
                ],
            );
        }
        for object in OBJECTS {
            assert!(profile.join(object).is_file(), "{object} is not beside the program");
        }
    });
}

/// The object of a package that only some tests need, built where it is missing.
pub fn object_of_package(program: &Path, package: &str) -> PathBuf {
    let profile = program.parent().expect("the program lies in its profile's directory");
    let object = profile.join(format!("lib{}.so", package.replace('-', "_")));
    if !object.is_file() {
        build_packages(profile, &[package]);
    }
    object
}

fn build_packages(profile: &Path, packages: &[&str]) {
    let target = profile.parent().expect("a profile's directory lies in the target directory");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.arg("build").args(packages.iter().flat_map(|package| ["-p", package]));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let manifest = crate::support::repository("Cargo.toml");
    let status =
        cargo.arg("--manifest-path").arg(manifest).env("CARGO_TARGET_DIR", target).status();
    assert!(status.unwrap().success(), "the attached objects cannot be built");
}

/// The interpreter of an environment with these packages, each a name and a version.
pub fn python_with(name: &str, packages: &[(&str, &str)]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let python = directory.join("bin/python");
    if has(&python, packages) {
        return python;
    }
    succeed_with_packages(
        Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory),
        packages,
    );
    let wanted = packages.iter().map(|(package, version)| format!("{package}=={version}"));
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(wanted);
    succeed_with_packages(&mut install, packages);
    assert!(has(&python, packages), "installed, and not there: {packages:?}");
    python
}

fn has(python: &Path, packages: &[(&str, &str)]) -> bool {
    packages.iter().all(|(package, version)| {
        let ask = format!("from importlib.metadata import version; print(version('{package}'))");
        let output = Command::new(python).args(["-c", &ask]).output();
        output.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).trim() == *version)
    })
}

fn succeed_with_packages(command: &mut Command, packages: &[(&str, &str)]) {
    let shown = format!("{command:?}");
    let output = command.output().unwrap_or_else(|e| panic!("{shown} does not start: {e}"));
    let said = String::from_utf8_lossy(&output.stderr);
    let needed = format!("this test needs Python's packages {packages:?}");
    assert!(output.status.success(), "{needed}, and {shown} failed: {said}");
}
