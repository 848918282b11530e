//! What `ciphermark verify` tried, for the end of its output.

use engine::{Attached, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use verify::Repeated;

/// Up to so many algorithms, all drawn sizes are named; for more, JSON has them.
const MOST_NAMED: usize = 8;
/// How many to name of those that ran out of time.
const MOST_SHORT: usize = 3;

/// Lines with their headings.
pub fn in_words(libraries: &[Attached], verdicts: &[Verdict], seed: u64) -> Vec<(String, String)> {
    let mut lines = vec![
        ("fixed sizes".to_owned(), verify::FIXED_SIZES.to_owned()),
        ("asked sizes".to_owned(), asked(verdicts)),
        ("drawn sizes".to_owned(), drawn(verdicts)),
        ("not taken".to_owned(), not_taken(libraries, verdicts)),
        ("repeated calls".to_owned(), repeated(libraries, verdicts)),
    ];
    lines.retain(|(_, words)| !words.is_empty());
    lines.push(("seed".to_owned(), format!("{seed}; --seed {seed} draws the same again")));
    lines
}

fn asked(verdicts: &[Verdict]) -> String {
    listed(verdicts.iter().filter_map(|v| v.tried.as_ref()).flat_map(|t| &t.asked))
}

fn listed<'a>(sizes: impl Iterator<Item = &'a usize>) -> String {
    let sizes: BTreeSet<usize> = sizes.copied().collect();
    let words: Vec<String> = sizes.iter().map(usize::to_string).collect();
    words.join(", ")
}

fn drawn(verdicts: &[Verdict]) -> String {
    let mut by_algorithm: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for verdict in verdicts {
        let Some(tried) = &verdict.tried else { continue };
        by_algorithm.entry(verdict.algorithm).or_default().extend(&tried.drawn);
    }
    by_algorithm.retain(|_, sizes| !sizes.is_empty());
    if by_algorithm.len() > MOST_NAMED {
        let all: BTreeSet<usize> = by_algorithm.values().flatten().copied().collect();
        let (least, most) = (all.first().unwrap_or(&0), all.last().unwrap_or(&0));
        return format!(
            "{} from {least} to {most} bytes, up to six for each of {} algorithms; --json lists them",
            all.len(),
            by_algorithm.len()
        );
    }
    let words =
        by_algorithm.iter().map(|(name, sizes)| format!("{name}: {}", listed(sizes.iter())));
    words.collect::<Vec<_>>().join("; ")
}

fn not_taken(libraries: &[Attached], verdicts: &[Verdict]) -> String {
    let mut by_library: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for verdict in verdicts {
        let sizes = verdict.tried.iter().flat_map(|t| t.not_taken.iter().copied());
        by_library.entry(libraries[verdict.library].label()).or_default().extend(sizes);
    }
    by_library.retain(|_, sizes| !sizes.is_empty());
    let words =
        by_library.iter().map(|(label, sizes)| format!("{label}: {}", listed(sizes.iter())));
    words.collect::<Vec<_>>().join("; ")
}

fn repeated(libraries: &[Attached], verdicts: &[Verdict]) -> String {
    let runs: Vec<(&Verdict, &Repeated)> = verdicts
        .iter()
        .flat_map(|v| v.tried.iter().flat_map(move |t| t.repeated.iter().map(move |r| (v, r))))
        .collect();
    let calls: u64 = runs.iter().map(|(_, r)| r.calls).sum();
    if calls == 0 {
        return String::new();
    }
    let forgeries: u64 = runs.iter().map(|(_, r)| r.forgeries).sum();
    let mut out = format!("{calls} in {} sessions, {forgeries} of them forgeries", runs.len());
    let mut short: Vec<_> = runs.into_iter().filter(|(_, r)| r.cut_short).collect();
    if short.is_empty() {
        return out;
    }
    short.sort_by_key(|(v, r)| (r.calls, v.library, v.algorithm));
    let named = short.iter().take(MOST_SHORT).map(|(v, r)| {
        let label = libraries[v.library].label();
        format!("{label} {} {} {}", v.algorithm, r.direction, r.calls)
    });
    let more = short.len().saturating_sub(MOST_SHORT);
    out += &format!(
        "; fewer than 20000 right messages in {}, which are slow: {}",
        short.len(),
        named.collect::<Vec<_>>().join(", ")
    );
    if more > 0 {
        out += &format!(" and {more} more");
    }
    out
}
