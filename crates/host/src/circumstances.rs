//! What decides which code runs, beside the library and the CPU: the one list of variables and files. A
//! worker's environment is built from it ([`environment`]); every cache whose content depends on the code has
//! it in its key, and the record shows it ([`circumstances`]).

use crate::machine::Tree;
use crate::{content_hash, loaded_objects, text_hash};
use record::Circumstance;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

type Variables = Vec<(OsString, OsString)>;

/// One thing that decides which code runs.
struct Decider {
    /// Variables, or absolute paths of files. A star at the end stands for anything.
    names: &'static [&'static str],
    concerns: &'static [&'static str],
    effect: &'static str,
}

const fn decider(
    names: &'static [&'static str],
    concerns: &'static [&'static str],
    effect: &'static str,
) -> Decider {
    Decider { names, concerns, effect }
}

const EVERY: &[&str] = &["every library"];
const OPENSSL: &[&str] = &["openssl", "node", "python"];
/// These read OpenSSL's variable, too.
const LIBCRYPTO: &[&str] = &["openssl", "boringssl", "aws-lc", "node", "python"];
const FEATURES: &str = "hides CPU features";

/// Variables come first: the first that fits counts.
#[rustfmt::skip]
const DECIDERS: &[Decider] = &[
    decider(&["OPENSSL_ia32cap", "OPENSSL_armcap", "OPENSSL_ppccap", "OPENSSL_s390xcap", "OPENSSL_riscvcap"], LIBCRYPTO, FEATURES),
    decider(&["OPENSSL_CONF", "OPENSSL_CONF_INCLUDE"], OPENSSL, "configures providers and engines"),
    decider(&["OPENSSL_MODULES", "OPENSSL_ENGINES"], OPENSSL, "says where providers and engines are"),
    decider(&["OPENSSL_*"], OPENSSL, "configures it"),
    decider(&["BOTAN_CLEAR_CPUID"], &["botan"], FEATURES),
    decider(&["BOTAN_*"], &["botan"], "configures it"),
    decider(&["NETTLE_FAT_OVERRIDE"], &["nettle"], "chooses its code"),
    decider(&["GNUTLS_CPUID_OVERRIDE"], &["gnutls"], "chooses its code"),
    decider(&["LIBGCRYPT_*", "GCRYPT_*"], &["libgcrypt"], "configures it"),
    decider(&["NSS_*"], &["nss"], "configures it"),
    decider(&["GODEBUG"], &["go"], "hides CPU features or configures its runtime"),
    decider(&["GOAMD64", "GOARM64", "GOFLAGS", "GOEXPERIMENT", "GOFIPS140", "GOROOT", "CGO_ENABLED"], &["go"], "decides how its program is compiled"),
    decider(&["GOGC", "GOMAXPROCS", "GOMEMLIMIT"], &["go"], "configures its runtime"),
    decider(&["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"], &["java"], "configures its runtime"),
    decider(&["NODE_OPTIONS", "NODE_PATH"], &["node"], "configures its runtime"),
    decider(&["PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE"], &["python"], "says where its packages are"),
    decider(&["PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHON_GIL", "PYTHON_JIT", "CRYPTOGRAPHY_OPENSSL_NO_LEGACY"], &["python"], "configures its runtime"),
    decider(&["LD_PRELOAD", "LD_AUDIT"], EVERY, "loads objects before all others"),
    decider(&["LD_LIBRARY_PATH"], EVERY, "says where objects are loaded from"),
    decider(&["LD_HWCAP_MASK", "LD_BIND_NOW", "GLIBC_TUNABLES", "MALLOC_*"], EVERY, "configures the C library"),
    decider(&["CIPHERMARK_TIER_MECHANISM"], EVERY, "chooses how tiers are applied"),
    decider(&["CIPHERMARK_CONFINEMENT"], EVERY, "sets what workers may do"),
    decider(&["/etc/gcrypt/hwf.deny"], &["libgcrypt"], FEATURES),
    decider(&["/etc/gcrypt/random.conf"], &["libgcrypt"], "configures its random numbers"),
    decider(&["/etc/gcrypt/fips_enabled"], &["libgcrypt"], "switches FIPS mode on"),
    decider(&["/etc/ld.so.preload"], EVERY, "loads objects before all others"),
    decider(&["/etc/crypto-policies/back-ends/java.config"], &["java"], "sets the system's policy"),
    decider(&["/etc/crypto-policies/back-ends/openssl.config"], &["TLS"], "sets the system's policy"),
];

/// The kernel's switch, a file that is there on every machine.
const FIPS: &str = "/proc/sys/crypto/fips_enabled";

/// Variables that workers and runtimes need and that decide nothing, or nothing that the identity of what they start
/// does not tell.
#[rustfmt::skip]
const NEEDED: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*", "XDG_*", "CIPHERMARK_*",
    "JAVA_HOME", "PYENV_ROOT", "PYENV_VERSION", "GOCACHE", "GOPATH", "GOTMPDIR",
    "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
];

/// Names of other variables that workers get, with commas between them.
const PASS: &str = "CIPHERMARK_PASS";

const CONFIGURATION: &str = "OPENSSL_CONF";
/// What libcrypto is told to read where the user names nothing: the library is measured, not the machine's
/// configuration of it.
const NO_CONFIGURATION: &str = "/dev/null";

/// More is no configuration: files that include each other end here.
const MOST_FILES: usize = 64;
const MOST_BYTES: u64 = 1 << 20;

/// The environment of a process that runs a library's code: what it needs, and what decides on purpose which code runs.
pub fn environment() -> Vec<(OsString, OsString)> {
    passed(std::env::vars_os().collect())
}

/// What is set here that decides which code runs, sorted by name.
pub fn circumstances() -> Vec<Circumstance> {
    circumstances_of(&Tree::at("/"), std::env::vars_os().collect())
}

/// What a process must be able to read so that variables have their effect: configurations of OpenSSL with what they
/// include, and directories of its providers and engines.
pub fn configuration_files() -> Vec<PathBuf> {
    let variables = passed(std::env::vars_os().collect());
    let directories = ["OPENSSL_MODULES", "OPENSSL_ENGINES"];
    let directories = directories.into_iter().filter_map(|name| value_of(&variables, name));
    let mut files: Vec<PathBuf> = directories.map(PathBuf::from).collect();
    files.extend(included(&variables));
    files
}

/// Refuses a configuration on which each worker would wait, or read without end.
pub fn check_configuration() -> Result<(), String> {
    for path in included(&std::env::vars_os().collect()) {
        let is_null = path == Path::new(NO_CONFIGURATION);
        if !path.exists() || path.is_dir() || is_null {
            continue;
        }
        if let Err(why) = configuration(&path) {
            return Err(format!(
                "{CONFIGURATION} leads to '{}', {why}: unset it, or name a configuration",
                path.display()
            ));
        }
    }
    Ok(())
}

fn passed(variables: Variables) -> Variables {
    let asked = asked(&variables);
    let is_passed = |name: &OsStr| {
        let name = name.to_string_lossy();
        decider_of(&name).is_some()
            || NEEDED.iter().any(|pattern| fits(pattern, &name))
            || asked.iter().any(|asked| *asked == name)
    };
    let mut passed: Variables = variables.into_iter().filter(|(name, _)| is_passed(name)).collect();
    passed.retain(|(name, value)| name != CONFIGURATION || !value.is_empty());
    if value_of(&passed, CONFIGURATION).is_none() {
        passed.push((CONFIGURATION.into(), NO_CONFIGURATION.into()));
    }
    passed
}

fn circumstances_of(tree: &Tree, variables: Variables) -> Vec<Circumstance> {
    let variables = passed(variables);
    let asked = asked(&variables);
    let of_variables = variables.iter().filter_map(|(name, value)| {
        let (name, shown) = (name.to_string_lossy(), value.to_string_lossy());
        // An empty OPENSSL_ia32cap hides all that there is; the loader and this program take an empty value for none.
        let is_none =
            shown.is_empty() && ["LD_", "CIPHERMARK_"].iter().any(|b| name.starts_with(b));
        if is_none || name == CONFIGURATION && shown == NO_CONFIGURATION {
            return None;
        }
        let found = decider_of(&name);
        if found.is_none() && !asked.iter().any(|asked| *asked == name) {
            return None;
        }
        let sha256 = match (found, &*name) {
            // Its value may be a secret.
            (None, _) => Some(text_hash(&shown)),
            (_, CONFIGURATION) => hash_of(&included(&variables)),
            (_, "LD_PRELOAD" | "LD_AUDIT") => hash_of(&objects(&shown)),
            _ => None,
        };
        let (concerns, effect) = found.map_or((EVERY, "is passed on"), |d| (d.concerns, d.effect));
        let value = found.map(|_| shown.into_owned());
        Some(circumstance(&name, value, sha256, concerns, effect))
    });
    let mut all: Vec<Circumstance> = of_variables.collect();
    let files = DECIDERS.iter().flat_map(|d| d.names.iter().map(move |name| (d, *name)));
    all.extend(files.filter(|(_, name)| name.starts_with('/')).filter_map(|(d, name)| {
        let path = tree.place(name);
        let text = std::fs::read(&path).ok()?;
        let text = String::from_utf8_lossy(&text);
        let preloaded = if name == "/etc/ld.so.preload" { objects(&text) } else { Vec::new() };
        let files = [vec![path], preloaded].concat();
        Some(circumstance(name, None, hash_of(&files), d.concerns, d.effect))
    }));
    if let Some(state) = tree.text(FIPS).filter(|state| state != "0") {
        all.push(circumstance(FIPS, None, Some(text_hash(&state)), EVERY, "switches FIPS mode on"));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn circumstance(
    name: &str,
    value: Option<String>,
    sha256: Option<String>,
    concerns: &[&str],
    effect: &str,
) -> Circumstance {
    let concerns = concerns.iter().map(|&concern| concern.to_owned()).collect();
    Circumstance { name: name.to_owned(), value, sha256, concerns, effect: effect.to_owned() }
}

fn decider_of(name: &str) -> Option<&'static Decider> {
    DECIDERS.iter().find(|d| d.names.iter().any(|pattern| fits(pattern, name)))
}

fn fits(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |begin| name.starts_with(begin))
}

fn value_of<'a>(variables: &'a Variables, name: &str) -> Option<&'a OsStr> {
    variables.iter().find(|(own, value)| own == name && !value.is_empty()).map(|(_, v)| &**v)
}

fn asked(variables: &Variables) -> Vec<String> {
    let list = value_of(variables, PASS).unwrap_or_default().to_string_lossy().into_owned();
    list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Of one file the hash of its content; of several, of their hashes. None where there is none.
fn hash_of(files: &[PathBuf]) -> Option<String> {
    let hash = |path: &PathBuf| content_hash(path).unwrap_or_else(|_| "unreadable".to_owned());
    let is_file = |path: &&PathBuf| !path.is_dir();
    let hashes: Vec<String> = files.iter().filter(is_file).map(hash).collect();
    match &hashes[..] {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(text_hash(&several.join("\n"))),
    }
}

/// The objects of a list as the loader reads it. What has no slash is what this process was given for it.
fn objects(list: &str) -> Vec<PathBuf> {
    let words = list.split([':', ' ', '\t', '\n']).filter(|word| !word.is_empty());
    let loaded = loaded_objects();
    words
        .map(|word| {
            let same_name = |path: &&PathBuf| path.file_name() == Some(OsStr::new(word));
            let given = loaded.iter().find(same_name).filter(|_| !word.contains('/'));
            given.cloned().unwrap_or_else(|| PathBuf::from(word))
        })
        .collect()
}

/// The configuration that OpenSSL is given, and the files and directories that it includes (config(5)).
fn included(variables: &Variables) -> Vec<PathBuf> {
    let Some(first) = value_of(variables, CONFIGURATION).filter(|v| *v != NO_CONFIGURATION) else {
        return Vec::new();
    };
    let mut directory = value_of(variables, "OPENSSL_CONF_INCLUDE").map(PathBuf::from);
    let (mut open, mut seen) = (vec![PathBuf::from(first)], BTreeSet::new());
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        if files.len() >= MOST_FILES || !seen.insert(path.clone()) {
            continue;
        }
        let text = configuration(&path).unwrap_or_default();
        let pragmas = text.lines().filter_map(|line| line.trim().strip_prefix(".pragma"));
        let named = pragmas.filter_map(|rest| words(rest).strip_prefix("includedir:"));
        directory = directory.or_else(|| named.map(|d| PathBuf::from(d.trim())).next_back());
        let includes = text.lines().filter_map(|line| line.trim().strip_prefix(".include"));
        open.extend(includes.map(|rest| within(directory.as_deref(), words(rest))));
        open.extend(configurations_in(&path));
        files.push(path);
    }
    files
}

/// A configuration's text.
fn configuration(path: &Path) -> Result<String, &'static str> {
    let found = path.metadata().map_err(|_| "which is not there")?;
    match found.len() {
        _ if !found.is_file() => Err("which is no regular file"),
        MOST_BYTES.. => Err("which is larger than any configuration"),
        _ => {
            let text = std::fs::read(path).map_err(|_| "which cannot be read")?;
            Ok(String::from_utf8_lossy(&text).into_owned())
        }
    }
}

/// What follows a word of a configuration: an equals sign and quotes are as good as none.
fn words(rest: &str) -> &str {
    rest.trim().trim_start_matches('=').trim().trim_matches(['"', '\''])
}

fn within(directory: Option<&Path>, path: &str) -> PathBuf {
    directory.map_or_else(|| PathBuf::from(path), |d| d.join(path))
}

fn configurations_in(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_one = |path: &PathBuf| path.extension().is_some_and(|e| e == "cnf" || e == "conf");
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(is_one).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    /// Where no file is.
    fn nowhere() -> (tempfile::TempDir, Tree) {
        let directory = tempfile::tempdir().unwrap();
        let tree = Tree::at(directory.path());
        (directory, tree)
    }

    fn set(pairs: &[(&str, &str)]) -> Vec<Circumstance> {
        circumstances_of(&nowhere().1, variables(pairs))
    }

    fn all_names() -> impl Iterator<Item = String> {
        DECIDERS.iter().flat_map(|d| d.names).map(|name| name.replace('*', "ANYTHING"))
    }

    fn names(variables: &Variables) -> Vec<String> {
        variables.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn every_variable_that_decides_is_passed_and_each_value_is_another_circumstance() {
        let mut tried = 0;
        for name in all_names().filter(|name| !name.starts_with('/')) {
            let of = |value: &str| set(&[(&name, value)]);
            let one = of("1");
            assert_eq!((one.len(), one[0].name == name), (1, true), "{name}: {one:?}");
            assert!(one != of("2") && one != of("") && one == of("1"), "{name}");
            let passed = passed(variables(&[(&name, "1")]));
            assert!(names(&passed).contains(&name), "{name}");
            tried += 1;
        }
        assert!(tried > 40, "{tried}");
    }

    #[test]
    fn every_file_that_decides_is_another_circumstance_when_it_comes_changes_or_goes() {
        let (directory, tree) = nowhere();
        let now = || circumstances_of(&tree, Vec::new());
        let files = all_names().filter(|name| name.starts_with('/'));
        for name in files.chain([FIPS.to_owned()]) {
            let path = directory.path().join(&name[1..]);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            assert_eq!(now(), [], "{name}");
            fs::write(&path, "1").unwrap();
            let one = now();
            assert_eq!((one.len(), &one[0].name), (1, &name));
            fs::write(&path, "2").unwrap();
            assert_ne!(now(), one, "{name}");
            fs::write(&path, "1").unwrap();
            assert_eq!(now(), one, "{name}");
            fs::remove_file(&path).unwrap();
        }
        fs::write(directory.path().join(&FIPS[1..]), "0\n").unwrap();
        assert_eq!(now(), [], "FIPS mode is off");
    }

    #[test]
    fn what_neither_decides_nor_is_needed_is_not_passed() {
        let given = [("PATH", "/bin"), ("LC_ALL", "C"), ("SECRET", "x"), ("LD_DEBUG", "all")];
        assert_eq!(names(&passed(variables(&given))), ["PATH", "LC_ALL", CONFIGURATION]);
        assert_eq!(set(&given), []);
    }

    #[test]
    fn a_variable_that_is_passed_by_name_counts_and_its_value_is_not_shown() {
        let given = |value| [("CIPHERMARK_PASS", "MINE, OTHER"), ("MINE", value), ("NOT", "x")];
        assert!(names(&passed(variables(&given("1")))).contains(&"MINE".to_owned()));
        let [mine] = &set(&given("secret"))[..] else { panic!("one") };
        assert_eq!((&*mine.name, &mine.value), ("MINE", &None));
        assert_ne!(set(&given("secret")), set(&given("other")));
    }

    #[test]
    fn no_configuration_is_read_unless_one_is_named() {
        for given in [&[][..], &[("OPENSSL_CONF", "")], &[("OPENSSL_CONF", "/dev/null")]] {
            let passed = passed(variables(given));
            assert_eq!(passed, variables(&[("OPENSSL_CONF", "/dev/null")]));
            assert_eq!(set(given), []);
        }
    }

    #[test]
    fn a_configuration_counts_with_all_that_it_includes() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("more")).unwrap();
        let main = path("openssl.cnf");
        fs::write(&main, "a = b\n.include = \"one.inc\"\n .include more\n").unwrap();
        let files = ["one.inc", "more/two.cnf", "more/three.conf"].map(path);
        files
            .iter()
            .for_each(|file| fs::write(file, format!(".include {}", main.display())).unwrap());
        fs::write(path("more/notes.txt"), "").unwrap();
        let include = directory.path().to_str().unwrap();
        let given = [("OPENSSL_CONF", main.to_str().unwrap()), ("OPENSSL_CONF_INCLUDE", include)];
        let mut found = included(&variables(&given));
        found.sort();
        let mut expected = [&files[..], &[main.clone(), path("more")]].concat();
        expected.sort();
        assert_eq!(found, expected);
        for file in files.iter().chain([&main]) {
            let (before, text) = (set(&given), fs::read_to_string(file).unwrap());
            fs::write(file, format!("{text}\n# changed")).unwrap();
            assert_ne!(set(&given), before, "{}", file.display());
        }
        let text = format!(".pragma includedir:{include}\n.include one.inc");
        fs::write(&main, text).unwrap();
        assert!(included(&variables(&given[..1])).contains(&path("one.inc")));
    }

    #[test]
    fn preloaded_objects_count_by_their_content() {
        let directory = tempfile::tempdir().unwrap();
        let object = directory.path().join("x.so");
        let list = format!("/no/such.so:{}", object.display());
        fs::write(&object, "one").unwrap();
        let before = set(&[("LD_PRELOAD", &list)]);
        fs::write(&object, "two").unwrap();
        assert_ne!(set(&[("LD_PRELOAD", &list)]), before);
        let etc = directory.path().join("etc");
        fs::create_dir(&etc).unwrap();
        fs::write(etc.join("ld.so.preload"), &list).unwrap();
        let now = || circumstances_of(&Tree::at(directory.path()), Vec::new());
        let before = now();
        fs::write(&object, "three").unwrap();
        assert_ne!(now(), before);
    }
}
