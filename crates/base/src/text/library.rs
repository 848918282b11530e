//! What `--library` takes: a glob over the libraries found, or NAME=PATH.

use crate::model::{BadGlob, NameGlob};

/// What was typed after `--library`.
#[derive(Clone, Debug)]
pub enum LibraryText<'a> {
    /// Those of the libraries found that it matches.
    Glob(NameGlob),
    /// A file, and what to call it.
    File {
        /// Name.
        name: &'a str,
        /// Path, as it was typed.
        path: &'a str,
    },
}

/// Why a text names no library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLibrary {
    /// It is no glob.
    #[error(transparent)]
    Glob(#[from] BadGlob),
    /// What stands before the `=` is no name.
    #[error("'{0}': a library's name is made of letters, digits, '-', '_' and '.'")]
    Name(String),
}

impl<'a> LibraryText<'a> {
    /// Reads what was typed.
    ///
    /// # Errors
    /// [`BadLibrary`], which quotes it.
    pub fn parse(text: &'a str) -> Result<Self, BadLibrary> {
        let Some((name, path)) = text.split_once('=') else {
            return Ok(Self::Glob(NameGlob::parse(text)?));
        };
        let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(good) {
            return Err(BadLibrary::Name(text.to_owned()));
        }
        Ok(Self::File { name, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_path_are_parted_at_the_first_sign() {
        let Ok(LibraryText::File { name, path }) = LibraryText::parse("a.b-c_9=/x=y/lib.so") else {
            panic!("it is a file")
        };
        assert_eq!((name, path), ("a.b-c_9", "/x=y/lib.so"));
        assert!(matches!(LibraryText::parse("openssl@3*"), Ok(LibraryText::Glob(_))));
    }

    #[test]
    fn what_is_neither_is_quoted() {
        for bad in ["=/lib.so", "a b=/lib.so", "../a=/lib.so", "\u{1b}[2J=x", "[1"] {
            let why = LibraryText::parse(bad).unwrap_err().to_string();
            assert!(why.contains(bad), "{why}");
        }
    }
}
