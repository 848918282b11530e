//! The engine's modules import each other in one direction.
#![allow(clippy::unwrap_used)] // helpers of tests are outside `#[test]` functions

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// For each module right below the crate's root, those that it names as `crate::…`.
fn imports(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut imports = BTreeMap::new();
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_string_lossy().into_owned();
        if module != "lib" {
            collect(&path, imports.entry(module).or_default());
        }
    }
    for (module, named) in &mut imports {
        named.remove(module);
    }
    imports
}

fn collect(path: &Path, named: &mut BTreeSet<String>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| collect(&entry.unwrap().path(), named));
        return;
    }
    // Tests may look at everything.
    let is_test = ["tests.rs", "any.rs", "properties.rs"].iter().any(|name| path.ends_with(name));
    let text = if is_test { String::new() } else { fs::read_to_string(path).unwrap() };
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let is_word = |c: &char| c.is_ascii_lowercase() || *c == '_';
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    for line in lines {
        assert!(!line.contains("use crate::{"), "name each module in a line of its own: {line}");
        let after = line.split("crate::").skip(1);
        named.extend(after.map(|rest| rest.chars().take_while(is_word).collect::<String>()));
    }
}

/// Modules that lie on a cycle: those that are left when modules that import none, or that none imports, are taken away.
fn on_cycles(
    mut imports: BTreeMap<String, BTreeSet<String>>,
) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let imported: BTreeSet<String> = imports.values().flatten().cloned().collect();
        let known: BTreeSet<String> = imports.keys().cloned().collect();
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
fn no_modules_import_each_other_in_a_circle() {
    let imports = imports(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(imports["survey"].contains("schedule"), "{imports:?}");
    let circles = on_cycles(imports);
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn a_circle_is_found() {
    let module = |name: &str, named: &[&str]| {
        (name.to_owned(), named.iter().map(ToString::to_string).collect::<BTreeSet<_>>())
    };
    let all = [module("a", &["b"]), module("b", &["c"]), module("c", &["b"]), module("d", &["a"])];
    let found = on_cycles(all.into_iter().collect());
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["b", "c"]);
}
