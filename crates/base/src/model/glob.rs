//! Globs over names, and the nearest right spelling.

/// A glob over names (`aes-*-gcm`, `openssl@3.*`).
#[derive(Clone, Debug)]
pub struct NameGlob {
    text: String,
    pattern: String,
}

/// A text that is no glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a glob: {why}")]
pub struct BadGlob {
    text: String,
    why: String,
}

impl NameGlob {
    /// Reads a glob.
    ///
    /// # Errors
    /// [`BadGlob`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, BadGlob> {
        let pattern = flat(text);
        // At the beginning the crate takes it for "all but"; in names it is a character.
        let pattern = if pattern.starts_with('!') { format!("\\{pattern}") } else { pattern };
        fast_glob::validate(&pattern)
            .map_err(|e| BadGlob { text: text.to_owned(), why: e.to_string() })?;
        Ok(Self { text: text.to_owned(), pattern })
    }

    /// The globs of a list with commas between; a comma within braces or brackets belongs to its glob.
    pub fn of_list(text: &str) -> impl Iterator<Item = &str> {
        let mut depth = 0_usize;
        text.split(move |c: char| {
            match c {
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
    }

    /// Whether the glob matches the name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        fast_glob::glob_match(&self.pattern, flat(name))
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Names are no paths: a star matches what has slashes (`sha-512/256`), too.
fn flat(text: &str) -> String {
    text.replace(std::path::is_separator, "\u{1}")
}

/// The candidate that is nearest to `name`, when one is near enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::osa_distance(&lower, &c.to_lowercase()), c))
        // A third of the name wrong is a slip; more is another word.
        .filter(|(d, _)| *d <= 1 + name.len() / 3)
        .min()
        .map(|(_, c)| c.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_glob_matches_names_with_stars_and_alternatives() {
        let g = NameGlob::parse("aes-{128,256}-gcm").unwrap();
        assert!(g.matches("aes-128-gcm") && g.matches("aes-256-gcm"));
        assert!(!g.matches("aes-192-gcm"));
        let g = NameGlob::parse("chacha20{,-poly1305}").unwrap();
        assert!(g.matches("chacha20") && g.matches("chacha20-poly1305"));
        assert!(NameGlob::parse("openssl@3.*").unwrap().matches("openssl@3.0.19"));
        assert!(NameGlob::parse("sha-512*").unwrap().matches("sha-512/256"));
        assert!(NameGlob::parse("sha-512/2?6").unwrap().matches("sha-512/256"));
    }

    #[test]
    fn commas_part_globs_but_not_their_alternatives() {
        let parts = |text| NameGlob::of_list(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parts("aes-128-gcm"), ["aes-128-gcm"]);
        assert_eq!(parts("aes-{128,256}-gcm,chacha20*"), ["aes-{128,256}-gcm", "chacha20*"]);
        assert_eq!(parts("a[,b],c}"), ["a[,b]", "c}"]);
        assert_eq!(parts("a,,b"), ["a", "", "b"]);
    }

    #[test]
    fn a_broken_glob_is_named() {
        for broken in ["aes-[1", "aes-{128,256", "aes\\"] {
            let e = NameGlob::parse(broken).unwrap_err();
            assert!(e.to_string().contains(broken), "{e}");
        }
    }

    #[test]
    fn nothing_is_nearest_to_a_word_of_another_kind() {
        assert_eq!(nearest("zzzzzzzz", ["aes-128-gcm", "memcpy"]), None);
        assert_eq!(nearest("memcopy", ["aes-128-gcm", "memcpy"]).as_deref(), Some("memcpy"));
        assert_eq!(nearest("MEMCPY", ["aes-128-gcm", "memcpy"]).as_deref(), Some("memcpy"));
    }

    /// A glob that means one name only.
    fn literal(name: &str) -> String {
        let special = |c: char| "*?[]{}\\!,".contains(c);
        name.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
    }

    proptest! {
        #[test]
        fn a_name_written_as_a_glob_matches_itself_and_no_other(
            name in "[a-z0-9.@+*?{}\\[\\],-]{1,20}", other in "[a-z0-9.@+*?{}-]{1,20}",
        ) {
            let glob = NameGlob::parse(&literal(&name)).unwrap();
            prop_assert!(glob.matches(&name), "{}", glob.text());
            prop_assert_eq!(glob.matches(&other), name == other);
            let any = NameGlob::parse(&format!("{{{},{}}}", literal(&name), literal(&other))).unwrap();
            prop_assert!(any.matches(&name) && any.matches(&other));
            prop_assert!(NameGlob::parse("*").unwrap().matches(&name));
        }
    }
}
