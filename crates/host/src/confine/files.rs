//! Files, TCP ports, abstract sockets and signals, by Landlock (landlock(7), Linux 5.13 and later); and what
//! a shared object depends on and asks the loader to look for outside of the system's directories.

use crate::Dynamic;
use crate::confine::{Needs, Sockets};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, NetPort, PathBeneath, PathFd,
    RestrictSelfAttr as _, RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreated,
    RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The newest that is known; the kernel's own is used where that is older.
const ABI_KNOWN: ABI = ABI::V9;

/// Where the dynamic loader looks by itself (ld.so(8)), and what it reads to know.
#[rustfmt::skip]
const SYSTEM: [&str; 8] = [
    "/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib",
    "/etc/ld.so.cache",
];

/// What cryptographic libraries read when they are first used: randomness, what the CPU is, whether the
/// machine is in FIPS mode. The process reads of itself what single-stepping needs.
#[rustfmt::skip]
const ALWAYS: [&str; 9] = [
    "/dev/null", "/dev/random", "/dev/urandom", "/etc/gcrypt", "/proc/cpuinfo", "/proc/self",
    "/proc/sys/crypto", "/proc/sys/kernel/random", "/sys/devices/system",
];

/// What is said of a kernel that holds connections to ports.
pub(crate) const PORTS: &str = ", TCP to its servers alone";

/// From now on the process reads what loading needs, and writes nothing; reaches no other process.
pub(crate) fn only_what_loading_reads(needs: &Needs<'_>) -> Result<String, String> {
    let mut rules = ruleset()?;
    let mut paths: BTreeSet<PathBuf> = ALWAYS.iter().chain(&SYSTEM).map(PathBuf::from).collect();
    paths.extend(configured_directories());
    paths.extend(beside(needs.library));
    paths.insert(needs.library.to_owned());
    for file in needs.files {
        paths.extend(objects_needed(file));
        paths.insert(file.clone());
    }
    paths.extend(objects_needed(needs.library));
    paths.extend(std::env::current_exe());
    rules = allow_all(rules, &paths)?;
    if let Sockets::Made(ports) = needs.sockets {
        for port in ports {
            let rule = NetPort::new(*port, AccessNet::ConnectTcp);
            rules = rules.add_rule(rule).map_err(|e| e.to_string())?;
        }
    }
    for copy in needs.copies {
        // A copy in memory has no place among files and needs no rule, and gets none.
        let rule = PathBeneath::new(copy, BitFlags::from(AccessFs::ReadFile));
        rules = match rules.try_clone().map(|r| r.add_rule(rule)) {
            Ok(Ok(added)) => added,
            _ => rules,
        };
    }
    let status = enforce(rules)?;
    let mut described = described(&status);
    if let Sockets::Made(_) = needs.sockets {
        described = described.replacen(", no TCP", PORTS, 1);
    }
    Ok(described)
}

/// From now on the process reads the objects that were loaded, and itself. Threads that the library has
/// started already keep what they had on kernels before Landlock's ABI 8.
pub(crate) fn only_what_was_loaded(objects: &[PathBuf]) -> Result<(), String> {
    let mut paths: BTreeSet<PathBuf> = ALWAYS.iter().map(PathBuf::from).collect();
    paths.extend(objects.iter().cloned());
    paths.extend(std::env::current_exe());
    enforce(allow_all(ruleset()?, &paths)?).map(drop)
}

/// Rules by which files are read and executed as before, and none is written but the null device and what lies in one
/// directory.
pub(crate) fn nothing_to_write(but: Option<&Path>) -> Result<(RulesetCreated, String), String> {
    let everywhere = PathFd::new("/").map_err(|e| e.to_string())?;
    let null = PathFd::new("/dev/null").map_err(|e| e.to_string())?;
    let reading = PathBeneath::new(everywhere, AccessFs::from_read(ABI_KNOWN));
    let writing = PathBeneath::new(null, AccessFs::WriteFile);
    let rules = ruleset()?.add_rule(reading).and_then(|rules| rules.add_rule(writing));
    let mut rules = rules.map_err(|e| e.to_string())?;
    if let Some(directory) = but {
        let own = PathFd::new(directory).map_err(|e| e.to_string())?;
        let all = PathBeneath::new(own, AccessFs::from_all(ABI_KNOWN));
        rules = rules.add_rule(all).map_err(|e| e.to_string())?;
    }
    Ok((rules, "no file to write but temporary ones of its own, no TCP".to_owned()))
}

/// From now on these rules are in force, where the kernel has Landlock.
pub(crate) fn enforce_rules(rules: RulesetCreated) -> Result<(), String> {
    rules.no_new_privs(false).restrict_self().map(drop).map_err(|e| e.to_string())
}

fn ruleset() -> Result<RulesetCreated, String> {
    let all = || {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI_KNOWN))?
            .handle_access(AccessNet::from_all(ABI_KNOWN))?
            .scope(Scope::from_all(ABI_KNOWN))?
            .create()
    };
    all().map_err(|e| e.to_string())
}

/// What is not there needs no rule.
fn allow_all(
    mut rules: RulesetCreated,
    paths: &BTreeSet<PathBuf>,
) -> Result<RulesetCreated, String> {
    let read = BitFlags::from(AccessFs::ReadFile);
    for path in paths {
        let Ok(opened) = PathFd::new(path) else { continue };
        let access = if path.is_dir() { read | AccessFs::ReadDir } else { read };
        rules = rules.add_rule(PathBeneath::new(opened, access)).map_err(|e| e.to_string())?;
    }
    Ok(rules)
}

fn enforce(rules: RulesetCreated) -> Result<RestrictionStatus, String> {
    let all_threads = rules.no_new_privs(false).all_threads(true).map_err(|e| e.to_string())?;
    let status = all_threads.restrict_self().map_err(|e| e.to_string())?;
    match (&status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotEnabled) => {
            Err("this kernel has Landlock and it is not switched on (lsm= on its command line)"
                .to_owned())
        }
        (RulesetStatus::NotEnforced, _) => {
            Err("this kernel has no Landlock (Linux 5.13)".to_owned())
        }
        _ => Ok(status),
    }
}

/// What the kernel's version of Landlock covers (landlock(7), "VERSIONS").
fn described(status: &RestrictionStatus) -> String {
    let LandlockStatus::Available { effective_abi: abi, .. } = status.landlock else {
        return String::new();
    };
    let mut covers = "files read-only, and few".to_owned();
    for (since, what) in [
        (ABI::V4, ", no TCP"),
        (ABI::V6, ", no abstract sockets, no signals to others"),
        (ABI::V9, ", no sockets by path"),
    ] {
        if abi >= since {
            covers.push_str(what);
        }
    }
    format!("ABI {abi}: {covers}")
}

/// Directories that the administrator has given to the loader (ldconfig(8)).
fn configured_directories() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/etc/ld.so.conf")];
    if let Ok(entries) = std::fs::read_dir("/etc/ld.so.conf.d") {
        files.extend(entries.flatten().map(|e| e.path()));
    }
    let texts = files.iter().filter_map(|f| std::fs::read_to_string(f).ok());
    texts.flat_map(|text| directories_of(&text)).collect()
}

fn directories_of(configuration: &str) -> Vec<PathBuf> {
    let lines = configuration.lines().map(str::trim).filter(|l| l.starts_with('/'));
    lines.map(PathBuf::from).collect()
}

/// What a library may load by itself from beside it, or compare itself with: other objects, modules in the
/// directories that OpenSSL gives them, and checksums of FIPS modules. Not the directory: it may be anybody's.
fn beside(library: &Path) -> Vec<PathBuf> {
    let Some(directory) = library.parent() else { return Vec::new() };
    if SYSTEM.iter().any(|system| directory.starts_with(system)) {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let belongs = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let modules = name == "ossl-modules" || name.starts_with("engines-");
        let object = name.ends_with(".so") || name.contains(".so.") || name.ends_with(".hmac");
        if modules { path.is_dir() } else { object && path.is_file() }
    };
    entries.flatten().map(|e| e.path()).filter(belongs).collect()
}

/// As the loader takes them from beneath a directory (ld.so(8), "Hardware capabilities").
const VARIANTS: [&str; 4] =
    ["", "glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2"];

/// Objects deeper than this one are not looked for: nobody nests so deep.
const MOST_OBJECTS: usize = 256;

/// The objects that the library and its dependencies name and that lie in directories that they, or
/// `LD_LIBRARY_PATH`, name. Only files that are ELF objects: nobody is shown another by naming it.
pub(crate) fn objects_needed(library: &Path) -> BTreeSet<PathBuf> {
    let searched = crate::library_path();
    let (mut found, mut open) = (BTreeSet::new(), vec![library.to_owned()]);
    while let Some(object) = open.pop() {
        if found.len() > MOST_OBJECTS {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_a_library_lie_objects_modules_and_checksums_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in ["libx.so", "libx.so.3.1", ".libx.so.3.hmac", "id_rsa", "notes.solution"] {
            std::fs::write(path(name), "").unwrap();
        }
        for name in ["ossl-modules", "engines-3", "mail", "dir.so"] {
            std::fs::create_dir(path(name)).unwrap();
        }
        let mut found = beside(&path("libx.so"));
        found.sort();
        let names = [".libx.so.3.hmac", "engines-3", "libx.so", "libx.so.3.1", "ossl-modules"];
        assert_eq!(found, names.map(path));
    }

    #[test]
    fn the_loaders_configuration_gives_directories() {
        let text = "include /etc/ld.so.conf.d/*.conf\n# Multiarch\n/usr/local/lib/x\n  /opt/y\n";
        assert_eq!(directories_of(text), ["/usr/local/lib/x", "/opt/y"].map(PathBuf::from));
    }
}
