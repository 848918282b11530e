//! The files in which the kernel says what the machine is, below a root that tests can choose.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// A file system tree: `/`, or a stand-in for it.
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub(crate) fn place(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A file's text without the space around it; `None` when it cannot be read or is empty.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let bytes = std::fs::read(self.place(path)).ok()?;
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// A file's text as a number.
    pub(crate) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    /// Names in a directory, sorted; empty when there is none.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        names_in(&self.place(path))
    }
}

fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The ranges of numbers that a kernel list names: `0-3,8` has two. `None` when it is no list.
#[must_use]
pub fn ranges_of_list(list: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let range = first.parse().ok()?..=last.parse().ok()?;
        (!range.is_empty()).then_some(range)
    };
    list.trim().split(',').map(range).collect()
}

/// How many numbers a kernel list names.
pub(crate) fn count_of_list(list: &str) -> Option<u32> {
    ranges_of_list(list)?.iter().try_fold(0_u32, |count, range| {
        count.checked_add((range.end() - range.start()).checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_lists_are_counted() {
        assert_eq!(count_of_list("0"), Some(1));
        assert_eq!(count_of_list("0-3,8\n"), Some(5));
        assert_eq!(ranges_of_list("0-3,8\n"), Some(vec![0..=3, 8..=8]));
        for bad in ["", "3-0", "a-b", "0,,1", "0-4294967295", "0-4294967294,0"] {
            assert_eq!(count_of_list(bad), None, "{bad}");
        }
    }
}
