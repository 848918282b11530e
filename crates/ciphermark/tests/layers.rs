//! The folders of `crates/` import each other as their READMEs say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Names = BTreeSet<String>;

/// A folder of `crates/`.
#[derive(Default)]
struct Folder {
    /// What its README allows; none where it does not say.
    may_import: Option<Names>,
    /// Its crates, each with those of ours that it is built with; what only its tests use is left out.
    crates: BTreeMap<String, Names>,
}

fn folders() -> BTreeMap<String, Folder> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders = BTreeMap::<_, Folder>::new();
    for manifest in manifests(&crates) {
        let (name, folder) = (name(manifest.parent()), name(manifest.ancestors().nth(2)));
        let read = |path: &Path| fs::read_to_string(path).expect("a file of the repository");
        let own = folders.entry(folder).or_insert_with(|| {
            let readme = read(&manifest.ancestors().nth(2).expect("a folder").join("README.md"));
            Folder { may_import: may_import(&readme), ..Folder::default() }
        });
        own.crates.insert(name, imports(&read(&manifest)));
    }
    folders
}

/// The manifests two levels down: those of crates that lie in a folder.
fn manifests(crates: &Path) -> Vec<PathBuf> {
    let below = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).into_iter().flatten();
        entries.map(|entry| entry.expect("a directory of the repository").path()).collect()
    };
    let all = below(crates).into_iter().flat_map(|folder| below(&folder));
    all.map(|krate| krate.join("Cargo.toml")).filter(|manifest| manifest.is_file()).collect()
}

fn name(path: Option<&Path>) -> String {
    path.and_then(Path::file_name).expect("a path with a name").to_string_lossy().into_owned()
}

fn imports(manifest: &str) -> Names {
    let table: toml::Table = manifest.parse().expect("a manifest");
    let of = |table: &toml::Table| -> Names {
        let found = table.get("dependencies").and_then(toml::Value::as_table);
        found.into_iter().flat_map(toml::Table::keys).cloned().collect()
    };
    let targets = table.get("target").and_then(toml::Value::as_table);
    let of_targets = targets.into_iter().flat_map(toml::Table::values);
    let of_targets = of_targets.filter_map(toml::Value::as_table).flat_map(of);
    of(&table).into_iter().chain(of_targets).collect()
}

/// The names in backticks on the line that begins with `May import:`.
fn may_import(readme: &str) -> Option<Names> {
    let line = readme.lines().find_map(|line| line.strip_prefix("May import:"))?;
    Some(line.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect())
}

/// One line for each import that no README allows, and for each import in a circle.
fn violations(folders: &BTreeMap<String, Folder>) -> Vec<String> {
    let home =
        |of: &str| folders.iter().find(|(_, f)| f.crates.contains_key(of)).map(|(name, _)| name);
    let mut found = Vec::new();
    for (name, folder) in folders {
        let Some(allowed) = &folder.may_import else {
            found.push(format!("{name}/README.md does not say what it may import"));
            continue;
        };
        let circles = allowed.iter().filter(|other| {
            let back = folders.get(*other).and_then(|other| other.may_import.as_ref());
            back.is_none_or(|back| back.contains(name))
        });
        found.extend(circles.map(|other| format!("{name} and {other} import each other")));
        for (krate, imports) in &folder.crates {
            let elsewhere = imports.iter().filter_map(|import| Some((import, home(import)?)));
            let wrong = elsewhere.filter(|(_, home)| *home != name && !allowed.contains(*home));
            found.extend(wrong.map(|(import, home)| format!("{krate} imports {import} of {home}")));
        }
    }
    found
}

#[test]
fn every_folder_imports_what_its_readme_allows() {
    let folders = folders();
    assert!(folders.len() <= 8, "{:?}", folders.keys());
    assert_eq!(violations(&folders), Vec::<String>::new());
}

#[test]
fn an_import_that_is_not_allowed_is_found() {
    let mut folders = folders();
    let measure = folders.get_mut("measure").unwrap();
    measure.crates.get_mut("engine").unwrap().insert("report".to_owned());
    folders.get_mut("base").unwrap().may_import = may_import("May import: `data`");
    let found = violations(&folders);
    for wrong in ["base and data import each other", "engine imports report of show"] {
        assert!(found.iter().any(|line| line == wrong), "{found:?}");
    }
}

#[test]
fn each_readme_is_short_and_names_each_crate() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, folder) in folders() {
        let readme = fs::read_to_string(crates.join(&name).join("README.md")).unwrap();
        assert!(readme.lines().count() <= 20, "{name}");
        for krate in folder.crates.keys() {
            assert!(readme.contains(&format!("`{krate}`")), "{name}/README.md lacks {krate}");
        }
    }
}

/// Directly or through others.
#[test]
fn nothing_that_measures_is_built_with_what_renders() {
    let folders = folders();
    let all: BTreeMap<_, _> = folders.values().flat_map(|folder| &folder.crates).collect();
    let mut reached: Names = folders["measure"].crates.keys().cloned().collect();
    loop {
        let more: Names =
            reached.iter().filter_map(|krate| all.get(krate)).flat_map(|i| (*i).clone()).collect();
        if more.is_subset(&reached) {
            break;
        }
        reached.extend(more);
    }
    for renders in ["report", "page", "parquet", "askama"] {
        assert!(!reached.contains(renders), "{renders}");
    }
}

/// Every file in Rust below a directory.
fn sources(below: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(below).into_iter().flatten().flatten().map(|entry| entry.path());
    let all = entries.filter(|path| !path.ends_with("target") && !path.ends_with("node_modules"));
    all.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect()
}

/// What `make test` leaves to `make test-all` says why, and nothing is left to nobody.
#[test]
fn every_ignored_test_is_a_long_one_with_a_reason_or_a_child_of_another() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = ["crates", "attach"].into_iter().flat_map(|folder| sources(&root.join(folder)));
    let mark = concat!("#[", "ignore");
    let mut long = 0;
    for path in all {
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| line.trim_start().starts_with(mark)) {
            let reason = line.split('"').nth(1).unwrap_or_default();
            let (kind, why) = reason.split_once(": ").unwrap_or_default();
            let is_short = (3..=70).contains(&why.len());
            assert!(matches!(kind, "long" | "child") && is_short, "{}: {line}", path.display());
            long += usize::from(kind == "long");
        }
    }
    assert!(long > 10, "{long} long tests");
}

/// What loads code into a process, or starts one.
const DOORS: [&str; 11] = [
    "libc::dlopen(",
    "libc::dlmopen(",
    "Library::open(",
    "Library::new(",
    "Command::new(",
    ".exec()",
    "libc::exec",
    "libc::fork(",
    "libc::posix_spawn",
    "libc::syscall(libc::SYS_clone",
    "libc::syscall(libc::SYS_exec",
];

/// Each place that has one outside of tests, how often, and why no stranger's code runs there outside of the cage. A new
/// one needs a line here, with a reason that a reader believes.
#[rustfmt::skip]
const OPENED: &[(&str, &str, usize, &str)] = &[
    ("crates/libraries/contract/src/loader.rs", "Library::open(", 1, "the door: every library of every command; in a confined process"),
    ("crates/measure/tier/src/rewrite.rs", "libc::dlopen(", 1, "a dependency's copy, by a worker that is confined already"),
    ("crates/measure/tier/src/x86_64/switch.rs", "libc::dlopen(", 1, "a library to be switched, by a worker that is confined already"),
    ("crates/measure/probe/src/step/x86_64/vdso.rs", "libc::dlopen(", 1, "the kernel's own object, which is mapped already"),
    ("crates/measure/confine/src/fork.rs", "libc::syscall(libc::SYS_clone", 1, "a confined worker's copy of itself"),
    ("crates/measure/probe/src/step/aarch64/helper.rs", "libc::fork(", 2, "the process that steps the worker, before a library is loaded"),
    ("crates/measure/engine/src/process.rs", "Command::new(", 1, "a worker: this program"),
    ("crates/workloads/tls-server/src/process.rs", "Command::new(", 1, "a client or server of the loopback: this program"),
    ("crates/measure/doctor/src/quietly/kept.rs", "Command::new(", 2, "this program, and what the user typed after `quietly`"),
    ("crates/measure/doctor/src/quietly/kept.rs", ".exec()", 1, "what the user typed after `quietly`, and nginx"),
    ("crates/workloads/tls-server/src/nginx.rs", "Command::new(", 1, "nginx: the user's own, asked for its version"),
    ("crates/libraries/adapters/src/runtime/programs.rs", "Command::new(", 2, "compilers over our sources; a runtime, confined by its worker"),
    ("crates/measure/host/src/tokens.rs", "Command::new(", 1, "the loader of this program, asked how it was built; no library is named"),
    ("crates/libraries/built/src/lib.rs", "Command::new(", 1, "rustc, when this program is built"),
    ("crates/ciphermark/src/signing.rs", "Command::new(", 1, "ssh-keygen, over a manifest, with a deadline and a bound"),
    ("crates/ciphermark/src/commands/advise_postgres.rs", "Command::new(", 1, "psql, with a deadline and a bound"),
    ("crates/ciphermark/src/commands/fleet/programs.rs", "Command::new(", 1, "the scheduler's programs, with a deadline and a bound"),
];

/// A file's text without its unit tests, which stand at its end; nothing of one that is tests alone.
fn untested(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a file of the repository");
    let file = path.file_name().expect("a file has a name").to_string_lossy();
    let is_fixture = file.ends_with("tests.rs") || file == "fixtures.rs";
    if is_fixture
        || path.iter().any(|part| part == "tests" || part == "testing")
        || text.contains("\nuse proptest::")
    {
        return String::new();
    }
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(")
            && line.contains("test")
            && lines.peek().is_some_and(|next| next.starts_with("mod tests {"))
        {
            break;
        }
        if !line.trim_start().starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[test]
fn every_way_to_run_other_code_has_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut found = BTreeMap::new();
    for path in sources(&root.join("crates")) {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let text = untested(&path);
        for door in DOORS {
            let times = text.matches(door).count();
            if times > 0 {
                found.insert((name.clone(), door), times);
            }
        }
    }
    let known: BTreeMap<_, _> =
        OPENED.iter().map(|(path, door, times, _)| (((*path).to_owned(), *door), *times)).collect();
    assert_eq!(found, known, "each has a line in OPENED, and each line is still true");
    assert!(OPENED.iter().all(|(.., why)| why.len() > 10));
}

/// Who opens libraries by the one function that does.
#[test]
fn the_door_is_opened_by_those_that_a_confined_process_calls() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut found = Names::new();
    for path in sources(&root.join("crates")) {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        if untested(&path).contains("SharedObject::open") {
            found.insert(name);
        }
    }
    let known = [
        // By a worker: `adapters::load`.
        "crates/libraries/adapters/src/lib.rs",
        // By a worker's TLS stack.
        "crates/measure/tls-stack/src/lib.rs",
        // By a client or server of the loopback.
        "crates/measure/tls-stack/src/openssl/socket.rs",
    ];
    assert_eq!(found, known.map(str::to_owned).into());
}

/// `scripts/fuzz` has a lock file of its own, which nothing else builds with.
#[test]
fn the_fuzzers_lock_file_has_what_the_manifests_ask_for() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let table = |path: &Path| -> toml::Table { fs::read_to_string(path).unwrap().parse().unwrap() };
    let lock = table(&root.join("fuzz/Cargo.lock"));
    let packages = lock["package"].as_array().unwrap();
    let mut compared = 0;
    for manifest in manifests(&root.join("crates")) {
        let asked = table(&manifest);
        let name = asked["package"]["name"].as_str().unwrap();
        let Some(locked) = packages.iter().find(|p| p["name"].as_str() == Some(name)) else {
            continue;
        };
        // `object 0.39.1` where there are two.
        let locked = locked.get("dependencies").and_then(toml::Value::as_array);
        let locked = locked.into_iter().flatten().filter_map(|d| d.as_str()?.split(' ').next());
        let locked: Names =
            locked.map(|d| d.trim_start_matches("ciphermark-").to_owned()).collect();
        let all = asked.get("dependencies").and_then(toml::Value::as_table).unwrap();
        let is_optional =
            |d: &toml::Value| d.get("optional").is_some_and(|o| o.as_bool() == Some(true));
        let lacking = all.iter().filter(|(d, how)| !is_optional(how) && !locked.contains(*d));
        let lacking: Vec<&String> = lacking.map(|(d, _)| d).collect();
        assert!(lacking.is_empty(), "{name}: fuzz/Cargo.lock lacks {lacking:?}");
        let mut allowed = imports(&fs::read_to_string(&manifest).unwrap());
        let of_build = asked.get("build-dependencies").and_then(toml::Value::as_table);
        allowed.extend(of_build.into_iter().flat_map(toml::Table::keys).cloned());
        let surplus: Vec<&String> = locked.difference(&allowed).collect();
        assert!(surplus.is_empty(), "{name}: fuzz/Cargo.lock still has {surplus:?}");
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
}
