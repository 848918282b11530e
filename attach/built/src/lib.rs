//! For build scripts of attached objects: writes down what is being built. The crates' versions
//! as Cargo.lock has them, the compiler and what it may use of the CPU. Nothing of it is written by
//! hand, so nothing of it can be wrong.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

struct Object {
    package: &'static str,
    /// The crate whose version is the object's; without one, the package's own.
    library: Option<&'static str>,
    /// Crates in the lock that the object makes no use of: for compiling others, for random keys, for finding out a
    /// CPU's features where the instruction `cpuid` does not exist, for other systems.
    unused: &'static [&'static str],
}

const OBJECTS: [Object; 10] = [
    Object {
        package: "ciphermark-adiantum",
        library: Some("adiantum"),
        unused: &["getrandom", "rand_core", "libc", "rustversion"],
    },
    Object { package: "ciphermark-baselines", library: None, unused: &["digest"] },
    Object { package: "ciphermark-blake3", library: Some("blake3"), unused: &["cc", "libc"] },
    Object { package: "ciphermark-graviola", library: Some("graviola"), unused: &["getrandom"] },
    Object {
        package: "ciphermark-hctr2",
        library: Some("hctr2-rs"),
        unused: &["getrandom", "rand_core", "libc"],
    },
    Object {
        package: "ciphermark-ring",
        library: Some("ring"),
        unused: &["cc", "getrandom", "libc", "windows-sys", "wasi", "js-sys", "wasm-bindgen"],
    },
    // Most algorithms of the family run on `aes`.
    Object {
        package: "ciphermark-rustcrypto",
        library: Some("aes"),
        unused: &["getrandom", "rand_core", "libc"],
    },
    Object {
        package: "ciphermarktls-rustls-aws-lc",
        library: Some("rustls"),
        unused: &["cc", "cmake", "dunce", "fs_extra"],
    },
    // ring is in the lock for other objects.
    Object {
        package: "ciphermarktls-rustls-graviola",
        library: Some("rustls"),
        unused: &["cc", "ring", "windows-sys", "wasi", "js-sys", "wasm-bindgen"],
    },
    Object {
        package: "ciphermarktls-rustls-ring",
        library: Some("rustls"),
        unused: &["cc", "windows-sys", "wasi", "js-sys", "wasm-bindgen"],
    },
];

/// Writes `built.rs` into `OUT_DIR`: the constants `VERSION` and `BUILD`, one fact a line.
///
/// # Panics
/// When the environment is not that of a build script of an object of the table, or the lock does not have its crate.
pub fn write() {
    println!("cargo::rerun-if-changed=../built/attached.rs");
    let package = variable("CARGO_PKG_NAME");
    let object = OBJECTS.iter().find(|object| object.package == package);
    let Object { library, unused, .. } =
        object.unwrap_or_else(|| panic!("{package} is in OBJECTS"));
    let lock = workspace_file("Cargo.lock");
    let crates = linked_crates(&lock, &package, unused);
    let version = match library {
        Some(library) => crates.get(library).map(|v| (*v).to_owned()),
        None => Some(variable("CARGO_PKG_VERSION")),
    };
    let version = version.expect("the table names the library's crate");

    let mut build = String::new();
    for (name, version) in &crates {
        writeln!(build, "crate {name} {version}").expect("a String takes everything");
    }
    build.push_str(&compiler());
    let source = format!(
        "const VERSION: &std::ffi::CStr = c{version:?};\nconst BUILD: &std::ffi::CStr = c{:?};\n",
        build.trim_end()
    );
    let target = PathBuf::from(variable("OUT_DIR")).join("built.rs");
    fs::write(target, source).expect("OUT_DIR can be written");
}

/// Compiler, optimisation and CPU, one fact a line. The number of codegen units is as telling as
/// the target CPU: it decides whether generic kernels are inlined into their callers.
fn compiler() -> String {
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc = String::from_utf8(rustc.expect("RUSTC runs").stdout).expect("rustc prints text");
    println!("cargo::rerun-if-env-changed=RUSTFLAGS");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags: Vec<&str> = flags.split('\x1f').filter(|f| !f.is_empty()).collect();
    format!(
        "{}\nprofile {}\nopt-level {}\ncodegen-units {}\ntarget {}\ntarget-cpu {}\ntarget features {}\nrustflags {}\n",
        rustc.trim(),
        settings(),
        variable("OPT_LEVEL"),
        codegen_units(&flags),
        variable("TARGET"),
        codegen_option(&flags, "target-cpu").unwrap_or("default"),
        variable("CARGO_CFG_TARGET_FEATURE"),
        if flags.is_empty() { "none".to_owned() } else { flags.join(" ") },
    )
}

/// A file of the workspace's root, whose packages lie two directories down.
fn workspace_file(name: &str) -> String {
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    // A package with a lock of its own is a workspace of its own.
    let is_whole = package.join("Cargo.lock").is_file();
    let path = if is_whole { package } else { package.join("../..") }.join(name);
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{} is read: {e}", path.display()))
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|e| panic!("cargo sets {name} for build scripts: {e}"))
}

// What Cargo.lock says of a package.

struct Package<'a> {
    version: &'a str,
    from_registry: bool,
    dependencies: Vec<&'a str>,
}

/// Name and version of the registry packages that `root` reaches without passing through
/// another of the workspace's packages: those serve the adapter, not the library.
pub(crate) fn linked_crates<'a>(
    lock: &'a str,
    root: &str,
    unused: &[&str],
) -> BTreeMap<&'a str, &'a str> {
    let packages: BTreeMap<(&str, &str), Package<'_>> =
        lock.split("[[package]]").filter_map(package).collect();
    // An entry names its dependencies with versions only where the name alone is ambiguous.
    let find = |entry: &str| {
        let mut words = entry.split(' ');
        let (name, version) = (words.next(), words.next());
        packages.iter().find(|((n, v), _)| Some(*n) == name && version.is_none_or(|w| w == *v))
    };
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = find(root).expect("Cargo.lock has us").1.dependencies.clone();
    while let Some(entry) = open.pop() {
        let Some(((name, _), package)) = find(entry) else { continue };
        if package.from_registry && !unused.contains(name) && seen.insert(entry) {
            found.insert(*name, package.version);
            open.extend(&package.dependencies);
        }
    }
    found
}

fn package(block: &str) -> Option<((&str, &str), Package<'_>)> {
    let field = |key: &str| {
        let line = block.lines().find_map(|l| l.strip_prefix(key))?;
        line.strip_prefix(" = \"")?.strip_suffix('"')
    };
    let (name, version) = (field("name")?, field("version")?);
    let dependencies =
        block.lines().filter_map(|l| l.strip_prefix(" \"")?.strip_suffix("\",")).collect();
    let from_registry = field("source").is_some();
    Some(((name, version), Package { version, from_registry, dependencies }))
}

// The profile, as far as a build script can know it.

/// The profile's name and what the workspace or the environment changes of cargo's defaults;
/// cargo tells build scripts no more than `debug` or `release`.
pub(crate) fn settings() -> String {
    let name = name();
    let mut settings = vec![name.clone()];
    settings.extend(manifest_settings(&workspace_file("Cargo.toml"), &name));
    for setting in ["CODEGEN_UNITS", "LTO", "OPT_LEVEL", "PANIC"] {
        let variable = environment_name(&name, setting);
        println!("cargo::rerun-if-env-changed={variable}");
        if let Ok(value) = env::var(&variable) {
            settings.push(format!("{variable}={value}"));
        }
    }
    settings.join(", ")
}

fn name() -> String {
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let out = PathBuf::from(variable("OUT_DIR"));
    let directory = out.ancestors().nth(3).and_then(Path::file_name);
    let directory = directory.expect("OUT_DIR lies in the profile's directory").to_string_lossy();
    if directory == "debug" { "dev".to_owned() } else { directory.into_owned() }
}

/// The manifest's lines on the profile, for every package and for ours.
fn manifest_settings(manifest: &str, name: &str) -> Vec<String> {
    let ours = format!("[profile.{name}.package.{}]", variable("CARGO_PKG_NAME"));
    let mut settings = Vec::new();
    for section in [format!("[profile.{name}]"), ours] {
        let lines = manifest.lines().skip_while(|l| l.trim() != section).skip(1);
        let lines = lines.map(str::trim).take_while(|l| !l.starts_with('['));
        settings
            .extend(lines.filter(|l| l.contains('=') && !l.starts_with('#')).map(str::to_owned));
    }
    settings
}

fn environment_name(profile: &str, setting: &str) -> String {
    format!("CARGO_PROFILE_{}_{setting}", profile.to_uppercase().replace('-', "_"))
}

/// How many codegen units the object is made of; `default` are the compiler's. A flag of the
/// compiler wins over the profile, because cargo gives the profile's first.
pub(crate) fn codegen_units(flags: &[&str]) -> String {
    if let Some(units) = codegen_option(flags, "codegen-units") {
        return units.to_owned();
    }
    let name = name();
    if let Ok(units) = env::var(environment_name(&name, "CODEGEN_UNITS")) {
        return units;
    }
    let manifest = manifest_settings(&workspace_file("Cargo.toml"), &name);
    let set = manifest.iter().rev().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "codegen-units").then(|| value.trim().to_owned())
    });
    set.unwrap_or_else(|| "default".to_owned())
}

/// The value of `-C NAME=VALUE`, in one word or in two; the last one counts.
pub(crate) fn codegen_option<'a>(flags: &[&'a str], name: &str) -> Option<&'a str> {
    flags.iter().rev().find_map(|flag| {
        let (key, value) = flag.split_once('=')?;
        (key.strip_prefix("-C").unwrap_or(key) == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"version = 4

[[package]]
name = "aes"
version = "0.9.4"
source = "registry"
dependencies = [
 "cpufeatures 0.3.1",
 "getrandom",
]

[[package]]
name = "cpufeatures"
version = "0.2.17"
source = "registry"

[[package]]
name = "cpufeatures"
version = "0.3.1"
source = "registry"

[[package]]
name = "getrandom"
version = "0.4.3"
source = "registry"

[[package]]
name = "helper"
version = "0.1.0"
dependencies = [
 "libloading",
]

[[package]]
name = "libloading"
version = "0.9.0"
source = "registry"

[[package]]
name = "ours"
version = "0.1.0"
dependencies = [
 "aes",
 "helper",
]
"#;

    #[test]
    fn linked_are_the_crates_behind_the_package_but_not_behind_the_workspaces_own() {
        let crates = linked_crates(LOCK, "ours", &["getrandom"]);
        assert_eq!(crates, BTreeMap::from([("aes", "0.9.4"), ("cpufeatures", "0.3.1")]));
    }

    #[test]
    fn a_codegen_option_is_found_in_one_word_and_in_two_and_the_last_one_counts() {
        let flags = ["-C", "target-cpu=native", "-Ccodegen-units=4", "-C", "codegen-units=1"];
        assert_eq!(codegen_option(&flags, "target-cpu"), Some("native"));
        assert_eq!(codegen_option(&flags, "codegen-units"), Some("1"));
        assert_eq!(codegen_option(&flags[..3], "codegen-units"), Some("4"));
        assert_eq!(codegen_option(&flags, "lto"), None);
    }
}
