//! The crates import each other as their READMEs say.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Names = BTreeSet<String>;

/// One of `crates/`.
#[derive(Default)]
struct Crate {
    /// What its README allows; none where it does not say.
    may_import: Option<Names>,
    /// Those of ours and of others that it is built with; what only its tests use is left out.
    imports: Names,
}

fn crates() -> BTreeMap<String, Crate> {
    let read = |path: &Path| fs::read_to_string(path).expect("a file of the repository");
    let all = manifests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).into_iter();
    all.map(|manifest| {
        let home = manifest.parent().expect("a manifest lies in a folder");
        let name = home.file_name().expect("a path with a name").to_string_lossy().into_owned();
        let may_import = may_import(&read(&home.join("README.md")));
        (name, Crate { may_import, imports: imports(&read(&manifest)) })
    })
    .collect()
}

fn manifests(crates: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(crates).into_iter().flatten();
    let all = entries.map(|entry| entry.expect("a directory of the repository").path());
    all.map(|home| home.join("Cargo.toml")).filter(|manifest| manifest.is_file()).collect()
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

/// The names in backticks behind `May import:`, to the end.
fn may_import(readme: &str) -> Option<Names> {
    let (_, list) = readme.split_once("\nMay import:")?;
    Some(list.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect())
}

/// One line for each import of ours that no README allows.
fn violations(crates: &BTreeMap<String, Crate>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, own) in crates {
        let Some(allowed) = &own.may_import else {
            found.push(format!("{name}/README.md does not say what it may import"));
            continue;
        };
        let ours = own.imports.iter().filter(|import| crates.contains_key(*import));
        let wrong = ours.filter(|import| !allowed.contains(*import));
        found.extend(wrong.map(|import| format!("{name} imports {import}")));
    }
    found
}

#[test]
fn every_crate_imports_what_its_readme_allows() {
    let crates = crates();
    assert!(crates.len() <= 12, "{:?}", crates.keys());
    assert_eq!(violations(&crates), Vec::<String>::new());
}

#[test]
fn an_import_that_is_not_allowed_is_found() {
    let mut crates = crates();
    crates.get_mut("engine").unwrap().imports.insert("report".to_owned());
    assert_eq!(violations(&crates), ["engine imports report"]);
}

/// The modules that a README lists: in backticks before the first colon of an item.
fn listed(readme: &str) -> Vec<String> {
    let items = readme.lines().filter_map(|line| line.strip_prefix("- `"));
    let heads = items.map(|item| item.split(": ").next().unwrap_or(item));
    heads.flat_map(|head| head.split('`').step_by(2).map(str::to_owned)).collect()
}

#[test]
fn each_readme_is_short_and_names_modules_that_there_are() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in crates().keys() {
        let readme = fs::read_to_string(home.join(name).join("README.md")).unwrap();
        assert!(readme.lines().count() <= 20, "{name}");
        let modules = listed(&readme);
        assert!(!modules.is_empty(), "{name} lists no module");
        for module in modules.iter().filter(|module| !module.is_empty()) {
            let path = home.join(name).join("src").join(module.replace("::", "/"));
            assert!(path.is_dir() || path.with_extension("rs").is_file(), "{name}: {module}");
        }
    }
}

/// Directly or through others.
#[test]
fn nothing_that_measures_is_built_with_what_renders() {
    let crates = crates();
    let mut reached: Names =
        ["engine", "adapters", "probe", "host", "verify"].map(str::to_owned).into();
    loop {
        let imports = reached.iter().filter_map(|name| crates.get(name));
        let more: Names = imports.flat_map(|own| own.imports.clone()).collect();
        if more.is_subset(&reached) {
            break;
        }
        reached.extend(more);
    }
    for renders in ["judge", "report", "parquet", "askama"] {
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

/// For each module right below a crate's root, those that it names as `crate::…`. Tests may look at everything.
fn modules(source: &Path) -> BTreeMap<String, Names> {
    let mut all = BTreeMap::<String, Names>::new();
    for path in sources(source) {
        let below = path.strip_prefix(source).expect("a file below it").with_extension("");
        let module = below.iter().next().expect("a name").to_string_lossy().into_owned();
        if !matches!(module.as_str(), "lib" | "main") {
            let named = all.entry(module).or_default();
            for rest in untested(&path).split("crate::").skip(1) {
                match rest.strip_prefix('{').and_then(|list| list.split('}').next()) {
                    Some(list) => named.extend(list.split(',').map(first_word)),
                    None => _ = named.insert(first_word(rest)),
                }
            }
        }
    }
    for (module, named) in &mut all {
        named.remove(module);
    }
    all
}

fn first_word(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect()
}

/// Modules that lie on a circle: those that are left when modules that import none, or that none imports, are taken away.
fn on_circles(mut imports: BTreeMap<String, Names>) -> BTreeMap<String, Names> {
    loop {
        let imported: Names = imports.values().flatten().cloned().collect();
        let known: Names = imports.keys().cloned().collect();
        let before = imports.len();
        imports.retain(|module, named| {
            named.retain(|other| known.contains(other));
            !named.is_empty() && imported.contains(module)
        });
        if imports.len() == before {
            return imports;
        }
    }
}

#[test]
fn no_modules_of_a_crate_import_each_other_in_a_circle() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in crates().keys() {
        let imports = modules(&home.join(name).join("src"));
        assert!(name != "engine" || imports["survey"].contains("schedule"), "{imports:?}");
        let circles = on_circles(imports);
        assert!(circles.is_empty(), "{name}: {circles:#?}");
    }
}

#[test]
fn a_circle_is_found() {
    let module = |name: &str, named: &[&str]| {
        (name.to_owned(), named.iter().map(ToString::to_string).collect::<Names>())
    };
    let all = [module("a", &["b"]), module("b", &["c"]), module("c", &["b"]), module("d", &["a"])];
    let found = on_circles(all.into_iter().collect());
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["b", "c"]);
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
    ("crates/contract/src/loader.rs", "Library::open(", 1, "the door: every library of every command; in a confined process"),
    ("crates/host/src/tier/rewrite.rs", "libc::dlopen(", 1, "a dependency's copy, by a worker that is confined already"),
    ("crates/host/src/tier/x86_64/mod.rs", "libc::dlopen(", 1, "a library to be switched, by a worker that is confined already"),
    ("crates/probe/src/step/x86_64/handler.rs", "libc::dlopen(", 1, "the kernel's own object, which is mapped already"),
    ("crates/host/src/confine/seccomp.rs", "libc::syscall(libc::SYS_clone", 1, "a confined worker's copy of itself"),
    ("crates/probe/src/step/aarch64/mod.rs", "libc::fork(", 2, "the process that steps the worker, before a library is loaded"),
    ("crates/engine/src/process.rs", "Command::new(", 1, "a worker: this program"),
    ("crates/ciphermark/src/server/mod.rs", "Command::new(", 1, "a client or server of the loopback: this program"),
    ("crates/engine/src/doctor/quietly.rs", "Command::new(", 2, "this program, and what the user typed after `quietly`"),
    ("crates/engine/src/doctor/quietly.rs", ".exec()", 1, "what the user typed after `quietly`, and nginx"),
    ("crates/ciphermark/src/server/nginx.rs", "Command::new(", 1, "nginx: the user's own, asked for its version"),
    ("crates/adapters/src/runtime.rs", "Command::new(", 2, "compilers over our sources; a runtime, confined by its worker"),
    ("crates/host/src/elf.rs", "Command::new(", 1, "the loader of this program, asked how it was built; no library is named"),
    ("crates/ciphermark/src/files.rs", "Command::new(", 1, "ssh-keygen, over a manifest, with a deadline and a bound"),
    ("crates/ciphermark/src/commands/watch/command.rs", "Command::new(", 1, "what the user typed after `watch`, as it would run without us"),
    ("crates/ciphermark/src/commands/advise_server.rs", "Command::new(", 1, "psql, with a deadline and a bound"),
    ("crates/ciphermark/src/commands/fleet.rs", "Command::new(", 1, "the scheduler's programs, with a deadline and a bound"),
];

/// A file's text without its unit tests, which stand at its end; nothing of one that is tests alone.
fn untested(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a file of the repository");
    let file = path.file_name().expect("a file has a name").to_string_lossy();
    let is_fixture = file.ends_with("tests.rs") || ["fixtures.rs", "sample.rs"].contains(&&*file);
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
            && lines.peek().is_some_and(|next| next.ends_with("mod tests {"))
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
        "crates/adapters/src/lib.rs",
        // By a worker's TLS stack.
        "crates/adapters/src/stacks/mod.rs",
        // By a client or server of the loopback.
        "crates/adapters/src/stacks/openssl/mod.rs",
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
    let workspace = table(&root.join("Cargo.toml"));
    let shared = workspace["workspace"]["dependencies"].as_table().unwrap();
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
        let package = |d: &str| -> String {
            let renamed = shared[d].get("package").and_then(toml::Value::as_str).unwrap_or(d);
            renamed.trim_start_matches("ciphermark-").to_owned()
        };
        let lacking =
            all.iter().filter(|(d, how)| !is_optional(how) && !locked.contains(&package(d)));
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
