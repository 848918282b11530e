//! Which of the libraries come with a TLS stack.

use super::own::own_stacks;
use crate::attached::{Attached, StackFile};
use crate::discover::{LibraryChoice, SelectError, discover, select};
use std::path::{Path, PathBuf};

/// What was asked for.
pub struct SelectedStacks {
    /// The stacks.
    pub stacks: Vec<StackFile>,
    /// The libraries that were chosen, each with a stack or without.
    pub chosen: Vec<String>,
    /// All that were found: among them those whose ciphers can stand beside the stacks.
    pub libraries: Vec<Attached>,
}

/// The stacks that choices ask for: those of libraries, and those that come as objects of their own. With `bare`,
/// libraries are looked for whose ciphers can stand beside the latter.
///
/// # Errors
/// [`SelectError`], one line.
pub fn select_stacks(choices: &[LibraryChoice], bare: bool) -> Result<SelectedStacks, SelectError> {
    let is_own = |choice: &LibraryChoice| matches!(choice, LibraryChoice::Path { path, .. } if host::is_stack(path));
    let (given, others): (Vec<LibraryChoice>, Vec<LibraryChoice>) =
        choices.iter().cloned().partition(is_own);
    let only_given = others.is_empty() && !choices.is_empty();
    let is_glob = |choice: &LibraryChoice| matches!(choice, LibraryChoice::Glob(_));
    let searches = !only_given && (others.is_empty() || others.iter().any(is_glob));
    let mut own = own_stacks(&given, searches)?;
    let found = match (only_given, bare) {
        (true, false) => Vec::new(),
        (true, true) => discover(&[]),
        _ => discover(&others),
    };
    let wanted = of_libraries(&others, &found, &own);
    let libraries = match (choices.is_empty(), wanted.is_empty()) {
        (false, true) => Vec::new(),
        _ => select(found.clone(), &wanted)?,
    };
    own.retain(|stack| {
        let named = given.iter().any(|choice| names(choice, stack));
        named || choices.is_empty() || others.iter().any(|choice| names(choice, stack))
    });
    let mut stacks: Vec<StackFile> = libraries.iter().filter_map(stack).collect();
    own.iter_mut().for_each(|stack| stack.facts.bare_path = under(&stack.facts, &found));
    stacks.extend(own);
    label(&mut stacks);
    let chosen = libraries.iter().map(Attached::label).collect();
    Ok(SelectedStacks { stacks, chosen, libraries: found })
}

/// The choices that are left to libraries: a glob that names an object of its own need name no library.
fn of_libraries(
    others: &[LibraryChoice],
    found: &[Attached],
    own: &[StackFile],
) -> Vec<LibraryChoice> {
    let of_library = |choice: &&LibraryChoice| match choice {
        LibraryChoice::Path { .. } => true,
        LibraryChoice::Glob(glob) => {
            found.iter().any(|library| library.matches(glob))
                || !own.iter().any(|stack| names(choice, stack))
        }
    };
    others.iter().filter(of_library).cloned().collect()
}

fn names(choice: &LibraryChoice, stack: &StackFile) -> bool {
    match choice {
        LibraryChoice::Path { name, .. } => *name == stack.facts.name,
        LibraryChoice::Glob(glob) => {
            glob.matches(&stack.facts.name) || glob.matches(&stack.facts.label)
        }
    }
}

/// The library that is built from a crate that the stack is built from as well: `ring 0.17.14` under rustls
/// over it. Its path; empty where there is none.
fn under(stack: &record::tls::Stack, libraries: &[Attached]) -> String {
    let is_under = |library: &&Attached| {
        let record::Library { name, version, build, .. } = &library.facts;
        let by_name = format!("crate {name} {version}");
        let sources = build.iter().filter_map(|fact| fact.strip_prefix("source: "));
        let mut crates = sources.chain([by_name.as_str()]);
        crates.any(|one| stack.build.iter().any(|fact| fact == one))
    };
    let found = libraries.iter().filter(|l| l.facts.error.is_none()).find(is_under);
    found.map(|library| library.facts.path.clone()).unwrap_or_default()
}

/// No two stacks may be taken for one: a system's and a bundled build may be the same version.
fn label(stacks: &mut [StackFile]) {
    for at in 0..stacks.len() {
        let plain = stacks[at].facts.label.clone();
        let before = stacks[..at].iter().filter(|s| same(&s.facts, &stacks[at].facts)).count();
        if before > 0 {
            stacks[at].facts.label = format!("{plain} #{}", before + 1);
        }
    }
}

fn same(one: &record::tls::Stack, other: &record::tls::Stack) -> bool {
    (&one.name, &one.version) == (&other.name, &other.version)
}

fn stack(library: &Attached) -> Option<StackFile> {
    let file = PathBuf::from(&library.facts.path);
    let (path, crypto) = match beside(&file) {
        Some(path) => (path, Some(file)),
        None if is_whole(&file) => (file, None),
        None => return None,
    };
    let facts = record::tls::Stack {
        label: format!("{}@{}", library.facts.name, library.facts.version),
        name: library.facts.name.clone(),
        version: library.facts.version.clone(),
        path: path.display().to_string(),
        id: host::file_id(&path).ok()?,
        crypto_path: library.facts.path.clone(),
        crypto_id: library.facts.id.clone(),
        bare_path: library.facts.path.clone(),
        build: library.facts.build.clone(),
    };
    Some(StackFile { facts, path, crypto })
}

/// Whether a library's file holds a stack as well; loading it shows whether its build left that out.
fn is_whole(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("libwolfssl"))
}

/// The `libssl` that belongs to a `libcrypto`: beside it, with the same ending.
fn beside(crypto: &Path) -> Option<PathBuf> {
    let ending = crypto.file_name()?.to_str()?.strip_prefix("libcrypto")?;
    let path = crypto.with_file_name(format!("libssl{ending}"));
    path.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_of_the_same_version_are_told_apart() {
        let of = |version: &str| StackFile {
            facts: record::tls::Stack {
                label: format!("openssl@{version}"),
                name: "openssl".to_owned(),
                version: version.to_owned(),
                path: String::new(),
                id: String::new(),
                crypto_path: String::new(),
                crypto_id: String::new(),
                bare_path: String::new(),
                build: Vec::new(),
            },
            path: PathBuf::new(),
            crypto: None,
        };
        let mut all = ["3.5.5", "4.0.3", "3.5.5", "3.5.5"].map(of);
        label(&mut all);
        let labels = all.map(|s| s.facts.label);
        let wanted = ["openssl@3.5.5", "openssl@4.0.3", "openssl@3.5.5 #2", "openssl@3.5.5 #3"];
        assert_eq!(labels, wanted);
    }

    #[test]
    fn a_stack_stands_beside_its_library_with_the_same_ending() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("libssl.so.3"), "").unwrap();
        assert_eq!(beside(&at("libcrypto.so.3")), Some(at("libssl.so.3")));
        assert_eq!(beside(&at("libcrypto.so.4")), None);
        assert_eq!(beside(&at("libsodium.so.3")), None);
        assert!(is_whole(&at("libwolfssl.so.35")) && !is_whole(&at("libcrypto.so.3")));
    }
}
