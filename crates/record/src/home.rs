//! Files below the home directory are `~/…` in what is made to be shared: the user's name is in their paths.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// What was measured, with `~` in each text for the home directory. Everything else stays.
///
/// # Panics
/// Never with the types of a record: what they write is read again as the same.
#[must_use]
pub fn shared<T: Serialize + DeserializeOwned>(whole: T) -> T {
    let plain = "a record is plain data and comes back as it was";
    let json = serde_json::to_string(&whole).expect(plain);
    let shown = shown(&json);
    if shown == json { whole } else { serde_json::from_str(&shown).expect(plain) }
}

/// A text with `~` for the home directory.
#[must_use]
pub fn shown(text: &str) -> String {
    homes().iter().fold(text.to_owned(), |text, home| without(&text, home))
}

/// The file that a path of a record names on this machine.
#[must_use]
pub fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

fn home() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    (home.is_absolute() && home.parent().is_some()).then_some(home)
}

/// By its name, and by the one that it has where all links are followed, as libraries' paths are.
fn homes() -> Vec<String> {
    let Some(home) = home() else { return Vec::new() };
    let real = home.canonicalize().ok().filter(|real| *real != home && real.parent().is_some());
    let text = |path: &Path| path.to_str().map(|p| p.trim_end_matches('/').to_owned());
    [real.as_deref(), Some(&home)].into_iter().flatten().filter_map(text).collect()
}

/// Replaces a directory where it stands alone or begins a path, also behind an option's letters (`-I/home/me`).
fn without(text: &str, home: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || "_-.~+".contains(c);
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(home) {
        let (before, from) = rest.split_at(at);
        let after = &from[home.len()..];
        shown.push_str(before);
        let word = shown.rsplit(|c: char| !is_of_name(c)).next().unwrap_or_default();
        let ends = !after.starts_with(is_of_name);
        let begins = word.is_empty() || word.starts_with('-');
        shown.push_str(if begins && ends { "~" } else { home });
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_directory_is_a_tilde_wherever_a_path_begins_with_it_and_nowhere_else() {
        for (text, shown) in [
            ("/home/me", "~"),
            ("/home/me/lib/libx.so", "~/lib/libx.so"),
            ("mine=/home/me/libx.so:/home/me/b", "mine=~/libx.so:~/b"),
            ("cc -I/home/me/include '/home/me/a b.c'", "cc -I~/include '~/a b.c'"),
            ("[\"/home/me\",\"/home/me/x\"]", "[\"~\",\"~/x\"]"),
            ("/home/mel/libx.so", "/home/mel/libx.so"),
            ("/home/me.old/libx.so", "/home/me.old/libx.so"),
            ("/mnt/home/me/libx.so", "/mnt/home/me/libx.so"),
            ("/home/mé", "/home/mé"),
            ("", ""),
        ] {
            assert_eq!(without(text, "/home/me"), shown);
        }
    }

    #[test]
    fn a_path_of_a_record_is_below_the_home_directory_of_whoever_reads_it() {
        let home = home().expect("the tests run with a home directory");
        assert_eq!(expanded("~/lib/libx.so"), home.join("lib/libx.so"));
        assert_eq!(expanded(&shown(home.join("a").to_str().unwrap())), home.join("a"));
        for path in ["/usr/lib/libx.so", "~me/libx.so", "a/~/b", ""] {
            assert_eq!(expanded(path), Path::new(path));
        }
    }

    #[test]
    fn a_record_is_shared_without_the_home_directory_in_any_of_its_texts() {
        let home = home().unwrap().to_str().unwrap().to_owned();
        let mut record = crate::sample::record();
        record.tool.command = vec!["ciphermark".to_owned(), format!("x={home}/libx.so")];
        record.libraries[0].path = format!("{home}/libx.so");
        record.libraries[0].build = vec![format!("compiler: cc -I{home}/include")];
        let json = crate::to_json(&shared(record.clone()));
        assert!(!json.contains(&home) && json.contains("\"~/libx.so\""), "{home}");
        record.tool.command.clear();
        record.libraries[0] = crate::sample::record().libraries.swap_remove(0);
        assert_eq!(shared(record.clone()), record);
    }
}
