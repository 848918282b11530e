//! What Cargo.lock says of a package.

use std::collections::{BTreeMap, BTreeSet};

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
}
