//! What stands beside speeds of what depends on secrets: a sign in its row, and who it is.

use crate::labels::Libraries;
use crate::leaks::folded;
use base::model::Tier;
use base::text::clean;
use record::{Leak, LeakVerdict, Leaks, LibraryId, Measurement, Record, State};
use std::collections::{BTreeMap, BTreeSet};

/// Libraries that a note names; of more there is a number.
const NAMED: usize = 6;
/// Names of algorithms in a note, and of libraries on one line of a screen; of more there is a number.
const FEW: usize = 3;

/// The sign beside a library whose algorithm depends on the secret, or may.
pub(crate) fn mark(verdict: Option<LeakVerdict>) -> &'static str {
    match verdict {
        Some(LeakVerdict::Depends) => "‡",
        Some(LeakVerdict::MayDepend) => "‡?",
        Some(LeakVerdict::SameTrace | LeakVerdict::NotJudged) | None => "",
    }
}

/// What the sign means; none where there is none.
pub(crate) fn meaning(verdict: LeakVerdict) -> Option<String> {
    let words = match verdict {
        LeakVerdict::Depends => "depends on the secret",
        LeakVerdict::MayDepend => "may depend on the secret, by taint only",
        LeakVerdict::SameTrace | LeakVerdict::NotJudged => return None,
    };
    Some(format!("{}: {words}", mark(Some(verdict))))
}

/// One library at one tier, with its algorithms and what was found in them.
struct Found<'a> {
    library: &'a str,
    tier: Tier,
    verdicts: Vec<&'a Leaks>,
}

/// Measured algorithms of a selection with this verdict, by library and tier.
fn found<'a>(
    record: &'a Record,
    selection: &[&Measurement],
    libraries: &'a Libraries<'_>,
    verdict: LeakVerdict,
) -> Vec<Found<'a>> {
    let shown: BTreeSet<(&LibraryId, &str, Tier)> = selection
        .iter()
        .filter(|m| m.state == State::Measured)
        .map(|m| (&m.library, m.algorithm.as_str(), m.tier))
        .collect();
    let mut builds: BTreeMap<(&str, Tier), Vec<&Leaks>> = BTreeMap::new();
    for l in record.leaks.iter().filter(|l| l.verdict == verdict) {
        if shown.contains(&(&l.library, l.algorithm.as_str(), l.tier)) {
            builds.entry((libraries.label(&l.library), l.tier)).or_default().push(l);
        }
    }
    let found = |((library, tier), verdicts)| Found { library, tier, verdicts };
    builds.into_iter().map(found).collect()
}

impl Found<'_> {
    /// `aes-{128,256}-gcm`, or how many.
    fn algorithms(&self) -> String {
        let names: BTreeSet<&str> = self.verdicts.iter().map(|l| l.algorithm.as_str()).collect();
        let folded = folded(&names);
        // Between key lengths there is a comma without a space.
        match folded.split(", ").count() {
            n if n <= FEW => folded,
            _ => format!("{} algorithms", names.len()),
        }
    }

    /// The place in most of its algorithms: `secret-dependent lookups in AES_encrypt`, and how many more there are.
    fn places(&self) -> String {
        let mut places: BTreeMap<(&Option<String>, &str), (usize, &Leak)> = BTreeMap::new();
        for f in self.verdicts.iter().flat_map(|l| &l.findings) {
            places.entry((&f.function, f.kind.name())).or_insert((0, f)).0 += 1;
        }
        let most = places.values().max_by_key(|(count, f)| (*count, f.compared));
        let Some((_, leak)) = most else { return String::new() };
        // Of a table the note says where, not how large.
        let leak = Leak { bytes: None, lines: None, compared: true, ..(*leak).clone() };
        let more = match places.len() - 1 {
            0 => String::new(),
            1 => " and 1 more place".to_owned(),
            n => format!(" and {n} more places"),
        };
        clean(&leak.to_string()) + &more
    }

    fn words(&self) -> String {
        let tier =
            if self.tier == Tier::Native { String::new() } else { format!(" at {}", self.tier) };
        match self.places() {
            places if places.is_empty() => format!("{}{tier} {}", self.library, self.algorithms()),
            places => format!("{}{tier} {} ({places})", self.library, self.algorithms()),
        }
    }
}

/// What the signs mean, with the libraries: a line for each sign that is shown.
pub(crate) fn notes(
    record: &Record,
    selection: &[&Measurement],
    libraries: &Libraries<'_>,
) -> Vec<String> {
    let line = |verdict| {
        let meaning = meaning(verdict)?;
        let found = found(record, selection, libraries, verdict);
        let algorithms: usize = found.iter().map(|f| f.verdicts.len()).sum();
        let mut named: Vec<String> = found.iter().take(NAMED).map(Found::words).collect();
        if found.len() > NAMED {
            named.push(format!("{} more", found.len() - NAMED));
        }
        (!named.is_empty()).then(|| {
            format!(
                "{meaning}, {algorithms} in all: {}; `ciphermark show RECORD --leaks` says where",
                named.join("; ")
            )
        })
    };
    [LeakVerdict::Depends, LeakVerdict::MayDepend].into_iter().filter_map(line).collect()
}

/// What a screen says not to use, with all that the CPU has: a line for each library, or one for all where there is
/// `room` for fewer.
pub(crate) fn avoid(record: &Record, libraries: &Libraries<'_>, room: usize) -> Vec<String> {
    let selection: Vec<&Measurement> = record.measurements.iter().collect();
    let mut found = found(record, &selection, libraries, LeakVerdict::Depends);
    found.retain(|f| f.tier == Tier::Native);
    if found.len() <= room {
        let line = |f: &Found<'_>| format!("{}   {}: {}", f.library, f.algorithms(), f.places());
        return found.iter().map(line).collect();
    }
    let names: Vec<&str> = found.iter().take(FEW).map(|f| f.library).collect();
    let more = match found.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more libraries"),
    };
    vec![format!("{}{more}   secret-dependent (ciphermark leaks)", names.join(", "))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn judged() -> Record {
        Record { leaks: sample::leaks(), ..sample::record() }
    }

    fn noted(record: &Record) -> Vec<String> {
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        notes(record, &selection, &Libraries::of(&selection))
    }

    #[test]
    fn each_sign_is_explained_once_with_the_libraries_that_have_it() {
        assert_eq!(
            noted(&judged()),
            [
                "‡: depends on the secret, 2 in all: libgcrypt@1.10.1 aes-128-ecb, aes-128-gcm \
                 (secret-dependent lookups in AES_encrypt); `ciphermark show RECORD --leaks` says where",
                "‡?: may depend on the secret, by taint only, 1 in all: libgcrypt@1.10.1 aes-128-ctr \
                 (secret-dependent lookups in AES_encrypt); `ciphermark show RECORD --leaks` says where",
            ]
        );
        assert_eq!(noted(&sample::record()), [""; 0]);
    }

    #[test]
    fn only_what_is_shown_is_noted_at_its_tier() {
        let mut record = judged();
        record.measurements.retain(|m| m.library.name == "openssl");
        assert_eq!(noted(&record), [""; 0], "the tier baseline was not measured");
        record.measurements.iter_mut().for_each(|m| m.tier = Tier::Baseline);
        assert!(noted(&record)[0].contains("openssl@3.0.22 at baseline aes-128-gcm ("));
    }

    #[test]
    fn many_algorithms_and_places_are_counted() {
        let mut record = judged();
        let own = record.leaks[4].clone();
        for algorithm in ["aes-128-ccm", "aes-128-ctr"] {
            record.leaks.retain(|l| (&*l.algorithm, &l.library) != (algorithm, &own.library));
            record.leaks.push(Leaks { algorithm: algorithm.to_owned(), ..own.clone() });
        }
        for m in record.measurements.iter_mut().filter(|m| m.library == own.library) {
            m.state = State::Measured;
        }
        record.leaks[4].findings.push(Leak { function: None, ..own.findings[0].clone() });
        let text = &noted(&record)[0];
        assert!(
            text.contains("libgcrypt@1.10.1 4 algorithms (secret-dependent lookups in AES_encrypt and 1 more place)"),
            "{text}"
        );
    }

    #[test]
    fn a_screen_has_a_line_for_each_library_or_one_for_all() {
        let record = judged();
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        let libraries = Libraries::of(&selection);
        assert_eq!(
            avoid(&record, &libraries, 1),
            [
                "libgcrypt@1.10.1   aes-128-ecb, aes-128-gcm: secret-dependent lookups in AES_encrypt"
            ]
        );
        assert_eq!(
            avoid(&record, &libraries, 0),
            ["libgcrypt@1.10.1   secret-dependent (ciphermark leaks)"]
        );
        assert_eq!(avoid(&sample::record(), &libraries, 0), [""; 0]);
    }
}
