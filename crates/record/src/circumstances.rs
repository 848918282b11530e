//! What decides which code runs, beside the library and the CPU.

use base::model::runtime_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// A variable of the environment or a file that decides which code a library or a runtime runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Circumstance {
    /// The variable's name, or the file's path.
    pub name: String,
    /// The variable's value; absent for a file, and for a variable that ciphermark does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// SHA-256, in hexadecimal, of the file, of the files that the value names, or of a value that is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// What it concerns: families of libraries, runtimes, or `every library`.
    pub concerns: Vec<String>,
    /// What it does, as the end of a sentence: `hides CPU features`.
    pub effect: String,
}

/// Concerns that nobody has who measures no such runtime.
const RUNTIMES: [&str; 4] = ["go", "java", "node", "python"];

/// Digits of a hash that tell two contents apart for a reader.
const DIGITS: usize = 8;

impl Circumstance {
    /// `OPENSSL_ia32cap=~0x2 is set: it hides CPU features (openssl, boringssl)`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { name, value, concerns, effect, .. } = self;
        let what = match value {
            Some(value) => format!("{name}={value} is set"),
            None if name.starts_with('/') => format!("{name} exists"),
            None => format!("{name} is set"),
        };
        format!("{what}: it {effect} ({})", concerns.join(", "))
    }

    /// Whether it can bear on any of the libraries, which are given by their paths.
    #[must_use]
    pub fn bears_on(&self, libraries: &[&str]) -> bool {
        let runtimes: Vec<&str> =
            libraries.iter().filter_map(|path| runtime_name(Path::new(path))).collect();
        // A program of the user's may be in any language.
        let of = |concern: &str| runtimes.iter().any(|r| r.starts_with(concern) || r.contains('/'));
        self.concerns.iter().any(|concern| match &**concern {
            concern if RUNTIMES.contains(&concern) => of(concern),
            "every library" => true,
            "TLS" => false,
            _ => runtimes.len() < libraries.len(),
        })
    }

    fn shown(&self) -> String {
        let hash = self
            .sha256
            .as_ref()
            .map(|hash| format!("sha256:{}", hash.chars().take(DIGITS).collect::<String>()));
        let parts: Vec<String> = self.value.iter().cloned().chain(hash).collect();
        if parts.is_empty() { "set".to_owned() } else { parts.join(" ") }
    }
}

/// The circumstances that differ: the name, then what it was on each side, empty where nothing is recorded.
#[must_use]
pub fn differing_circumstances(base: &[Circumstance], new: &[Circumstance]) -> Vec<[String; 3]> {
    let names: BTreeSet<&str> = base.iter().chain(new).map(|c| &*c.name).collect();
    let shown = |side: &[Circumstance], name: &str| {
        side.iter().find(|c| c.name == name).map(Circumstance::shown).unwrap_or_default()
    };
    let all = names.into_iter().map(|name| [name.to_owned(), shown(base, name), shown(new, name)]);
    all.filter(|[_, base, new]| base != new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, value: &str, concern: &str) -> Circumstance {
        Circumstance {
            name: name.into(),
            value: Some(value.into()),
            concerns: vec![concern.into()],
            effect: "hides CPU features".into(),
            ..Circumstance::default()
        }
    }

    #[test]
    fn a_sentence_names_whom_it_concerns_and_what_it_does() {
        let mask = variable("OPENSSL_ia32cap", "~0x2", "openssl");
        let words = "OPENSSL_ia32cap=~0x2 is set: it hides CPU features (openssl)";
        assert_eq!(mask.sentence(), words);
        let file = Circumstance { name: "/etc/x".into(), value: None, ..mask };
        assert_eq!(file.sentence(), "/etc/x exists: it hides CPU features (openssl)");
    }

    #[test]
    fn what_concerns_a_runtime_is_of_no_use_beside_other_libraries() {
        let (go, c) = (variable("GODEBUG", "cpu.aes=off", "go"), variable("X", "1", "openssl"));
        let all = variable("LD_PRELOAD", "x.so", "every library");
        assert!(go.bears_on(&["/l.so", "runtime:go"]) && go.bears_on(&["runtime:/my/program"]));
        assert!(!go.bears_on(&["/l.so"]) && !go.bears_on(&["runtime:node"]));
        assert!(c.bears_on(&["/l.so"]) && !c.bears_on(&["runtime:go"]));
        assert!(all.bears_on(&["/l.so"]) && all.bears_on(&["runtime:go"]));
    }

    #[test]
    fn sides_differ_by_value_and_by_content() {
        let file = |hash: &str| Circumstance {
            name: "/etc/x".into(),
            sha256: Some(hash.into()),
            ..Circumstance::default()
        };
        let differing = |base: &[Circumstance], new: &[Circumstance]| {
            differing_circumstances(base, new).iter().map(|d| d.join("|")).collect::<Vec<_>>()
        };
        let mask = [variable("M", "1", "openssl")];
        assert!(differing(&mask, &mask).is_empty());
        assert_eq!(differing(&mask, &[]), ["M|1|"]);
        assert_eq!(differing(&mask, &[variable("M", "2", "openssl")]), ["M|1|2"]);
        let (one, other) = (file("0123456789"), file("9876543210"));
        assert_eq!(differing(&[one], &[other]), ["/etc/x|sha256:01234567|sha256:98765432"]);
    }
}
