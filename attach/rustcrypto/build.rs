//! Writes down what is being built: the crates' versions as Cargo.lock has them, the compiler and
//! what it may use of the CPU. Nothing of it is written by hand, so nothing of it can be wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The crate whose version stands for the family: every algorithm but one runs on it.
const LIBRARY: &str = "aes";

/// In the lock for random keys, which nothing here makes, and for finding out a CPU's features
/// where the instruction `cpuid` does not exist.
const UNUSED: &[&str] = &["getrandom", "rand_core", "libc"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTFLAGS");
    let lock = workspace_file("Cargo.lock");
    let crates = linked_crates(&lock, &variable("CARGO_PKG_NAME"));
    let version = crates.get(LIBRARY).expect("the manifest names the crate `aes`");

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
/// the target CPU: it decides whether the ciphers' kernels are inlined into the modes.
fn compiler() -> String {
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc = String::from_utf8(rustc.expect("RUSTC runs").stdout).expect("rustc prints text");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags: Vec<&str> = flags.split('\x1f').filter(|f| !f.is_empty()).collect();
    let cpu = flags.iter().rev().find_map(|f| f.split_once("target-cpu=").map(|(_, cpu)| cpu));
    format!(
        "{}\nprofile {}\nopt-level {}\ntarget {}\ntarget-cpu {}\ntarget features {}\nrustflags {}\n",
        rustc.trim(),
        profile(),
        variable("OPT_LEVEL"),
        variable("TARGET"),
        cpu.unwrap_or("default"),
        variable("CARGO_CFG_TARGET_FEATURE"),
        if flags.is_empty() { "none".to_owned() } else { flags.join(" ") },
    )
}

/// The profile's name and what the workspace or the environment changes of cargo's defaults;
/// cargo tells build scripts no more than `debug` or `release`.
fn profile() -> String {
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let out = PathBuf::from(variable("OUT_DIR"));
    let directory = out.ancestors().nth(3).and_then(Path::file_name);
    let directory = directory.expect("OUT_DIR lies in the profile's directory").to_string_lossy();
    let name = if directory == "debug" { "dev" } else { &*directory };

    let manifest = workspace_file("Cargo.toml");
    let ours = format!("[profile.{name}.package.{}]", variable("CARGO_PKG_NAME"));
    let mut settings = vec![name.to_owned()];
    for section in [format!("[profile.{name}]"), ours] {
        let lines = manifest.lines().skip_while(|l| l.trim() != section).skip(1);
        let lines = lines.map(str::trim).take_while(|l| !l.starts_with('['));
        settings
            .extend(lines.filter(|l| l.contains('=') && !l.starts_with('#')).map(str::to_owned));
    }
    for setting in ["CODEGEN_UNITS", "LTO", "OPT_LEVEL", "PANIC"] {
        let variable = format!("CARGO_PROFILE_{}_{setting}", name.to_uppercase().replace('-', "_"));
        println!("cargo::rerun-if-env-changed={variable}");
        if let Ok(value) = env::var(&variable) {
            settings.push(format!("{variable}={value}"));
        }
    }
    settings.join(", ")
}

fn workspace_file(name: &str) -> String {
    let path = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../..").join(name);
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{} is read: {e}", path.display()))
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|e| panic!("cargo sets {name} for build scripts: {e}"))
}

struct Package<'a> {
    version: &'a str,
    from_registry: bool,
    dependencies: Vec<&'a str>,
}

/// Name and version of the registry packages that `root` reaches without passing through
/// another of the workspace's packages: those serve the adapter, not the ciphers.
fn linked_crates<'a>(lock: &'a str, root: &str) -> BTreeMap<&'a str, &'a str> {
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
        if package.from_registry && !UNUSED.contains(name) && seen.insert(entry) {
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
