//! How things are called in narrow places.

use anstyle::Style;
use base::model::Algorithm;
use base::text::{Options, clean, paint};
use record::{LibraryId, Measurement};
use std::collections::{BTreeMap, BTreeSet};

/// Names of the libraries of one table: `openssl@3.0.22`, with as much of the build's identity
/// behind it as is needed to tell two builds of one version apart.
pub(crate) struct Libraries<'a>(BTreeMap<&'a LibraryId, String>);

impl<'a> Libraries<'a> {
    pub(crate) fn of(selection: &[&'a Measurement]) -> Self {
        Self::of_ids(selection.iter().map(|m| &m.library).collect())
    }

    pub(crate) fn of_ids(ids: BTreeSet<&'a LibraryId>) -> Self {
        let mut same: BTreeMap<String, Vec<&LibraryId>> = BTreeMap::new();
        for id in ids {
            same.entry(versioned(&id.name, &id.version)).or_default().push(id);
        }
        let mut labels = BTreeMap::new();
        for (name, ids) in same {
            let builds: BTreeSet<String> = ids.iter().map(|id| short_id(&id.id)).collect();
            for (i, id) in ids.iter().enumerate() {
                let label = if ids.len() == 1 {
                    name.clone()
                } else if builds.len() == ids.len() {
                    format!("{name}#{}", short_id(&id.id))
                } else {
                    format!("{name}#{}", i + 1)
                };
                labels.insert(*id, label);
            }
        }
        Self(labels)
    }

    pub(crate) fn label(&self, id: &LibraryId) -> &str {
        self.0.get(id).map_or("", String::as_str)
    }
}

/// `openssl@3.0.22`.
pub(crate) fn versioned(name: &str, version: &str) -> String {
    let (name, version) = (clean(name), clean(version));
    if version.is_empty() { name } else { format!("{name}@{version}") }
}

/// The beginning of a build's identity.
pub(crate) fn short_id(id: &str) -> String {
    clean(id.split_once(':').map_or(id, |(_, hex)| hex)).chars().take(6).collect()
}

/// A size as the command line takes it: `16`, `8K`, `1M`.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        b if b >= 1 << 20 && b.is_multiple_of(1 << 20) => format!("{}M", b >> 20),
        b if b >= 1 << 10 && b.is_multiple_of(1 << 10) => format!("{}K", b >> 10),
        b => b.to_string(),
    }
}

/// A size with its unit: `16 B`, `8 KiB`, `1 MiB`.
pub(crate) fn size_with_unit(bytes: usize) -> String {
    let short = size(bytes);
    match short.strip_suffix('K') {
        Some(kib) => format!("{kib} KiB"),
        None => short.strip_suffix('M').map_or(format!("{short} B"), |mib| format!("{mib} MiB")),
    }
}

/// What must stand beside the algorithm wherever it is shown; the record's own words for an
/// algorithm that this program does not know.
pub(crate) fn warning(m: &Measurement) -> Option<String> {
    match Algorithm::find(&m.algorithm) {
        Ok(algorithm) => algorithm.warning_label().map(str::to_owned),
        Err(_) => m.warning.as_deref().map(clean).filter(|w| !w.is_empty()),
    }
}

/// A line of a paragraph: its name, then its text in a column of its own.
pub(crate) fn part(name: &str, text: &str, style: Style, options: Options) -> String {
    const INDENT: usize = 13;
    let lead = paint(&format!("  {name:<11}"), style, options.color);
    options.behind(&lead, INDENT, &clean(text), style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn labels(ids: &[(&str, &str)]) -> Vec<String> {
        let measurements: Vec<Measurement> = ids
            .iter()
            .map(|(path, id)| {
                let mut m = sample::record().measurements.remove(0);
                m.library.path = (*path).to_owned();
                m.library.id = (*id).to_owned();
                m
            })
            .collect();
        let selection: Vec<&Measurement> = measurements.iter().collect();
        let labels = Libraries::of(&selection);
        measurements.iter().map(|m| labels.label(&m.library).to_owned()).collect()
    }

    #[test]
    fn two_builds_of_one_version_are_told_apart() {
        assert_eq!(labels(&[("/a", "build-id:aabbccdd")]), ["openssl@3.0.22"]);
        assert_eq!(
            labels(&[("/a", "build-id:aabbccdd"), ("/b", "sha256:11223344")]),
            ["openssl@3.0.22#aabbcc", "openssl@3.0.22#112233"]
        );
        assert_eq!(
            labels(&[("/a", "build-id:aabbccdd"), ("/b", "build-id:aabbccdd")]),
            ["openssl@3.0.22#1", "openssl@3.0.22#2"]
        );
    }

    #[test]
    fn sizes_are_written_as_they_are_asked_for() {
        for (bytes, label) in [(16, "16"), (1000, "1000"), (8192, "8K"), (1 << 20, "1M")] {
            assert_eq!(size(bytes), label);
            assert_eq!(base::model::parse_sizes(label).unwrap(), [bytes]);
        }
        let units = [16, 8192, 1 << 20].map(size_with_unit);
        assert_eq!(units, ["16 B", "8 KiB", "1 MiB"]);
    }
}
