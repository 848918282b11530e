//! What depends on secrets: by library and tier, a line for algorithms with the same words.

use crate::Format;
use crate::labels::Libraries;
use anstyle::Style;
use base::model::Tier;
use base::text::{
    ALARM, ASIDE, CAUTION, Cell, Column, HEADING, Options, PLAIN, Table, clean, csv_of,
};
use record::{Leak, LeakKind, LeakVerdict, Leaks, LibraryId, Measurement, Record, State};
use std::collections::{BTreeMap, BTreeSet};

/// Where a line goes on below.
const INDENT: usize = 4;

/// The verdicts in any format: for each library and tier, what was found and in which algorithms, the gravest first.
/// In CSV each finding is a row, and so is a verdict without one; JSON has the verdicts as the record does.
pub fn leaks(all: &[Leaks], format: Format, options: Options) -> String {
    match format {
        Format::Table => for_terminal(all, options),
        Format::Markdown => markdown(all),
        Format::Csv => csv(all),
        Format::Json => record::pretty(&all),
        Format::Jsonl => {
            let line = |l| serde_json::to_string(l).expect("plain data always serialises") + "\n";
            all.iter().map(line).collect()
        }
    }
}

/// What holds of some algorithms of one library at one tier.
struct Line<'a> {
    verdict: LeakVerdict,
    words: String,
    algorithms: BTreeSet<&'a str>,
}

struct Build<'a> {
    library: String,
    tier: Tier,
    verdicts: Vec<LeakVerdict>,
    lines: Vec<Line<'a>>,
}

fn builds(all: &[Leaks]) -> Vec<Build<'_>> {
    let labels = Libraries::of_ids(all.iter().map(|l| &l.library).collect());
    let mut found: BTreeMap<(&str, &LibraryId, Tier), Vec<&Leaks>> = BTreeMap::new();
    for l in all {
        found.entry((labels.label(&l.library), &l.library, l.tier)).or_default().push(l);
    }
    let build = |((library, _, tier), of): ((&str, _, _), Vec<_>)| Build {
        library: library.to_owned(),
        tier,
        verdicts: of.iter().map(|l: &&Leaks| l.verdict).collect(),
        lines: lines(&of),
    };
    found.into_iter().map(build).collect()
}

/// Each finding once, whatever number of algorithms it is in, with the most that was seen of its table.
fn lines<'a>(of: &[&'a Leaks]) -> Vec<Line<'a>> {
    type Place<'a> = (LeakKind, Option<&'a str>, &'a str);
    let mut places: BTreeMap<(bool, Place<'_>), (Leak, BTreeSet<&str>)> = BTreeMap::new();
    let mut others: BTreeMap<(LeakVerdict, String), BTreeSet<&str>> = BTreeMap::new();
    for l in of {
        for f in &l.findings {
            let place = (f.kind, f.function.as_deref(), f.object.as_str());
            let (seen, algorithms) =
                places.entry((f.compared, place)).or_insert_with(|| (f.clone(), BTreeSet::new()));
            seen.bytes = seen.bytes.max(f.bytes);
            seen.lines = seen.lines.max(f.lines);
            algorithms.insert(&l.algorithm);
        }
        let rest = Leaks { findings: Vec::new(), ..(*l).clone() };
        if l.reason.is_some() {
            others
                .entry((LeakVerdict::NotJudged, clean(&rest.to_string())))
                .or_default()
                .insert(&l.algorithm);
        } else if l.findings.is_empty() {
            others.entry((l.verdict, clean(&rest.to_string()))).or_default().insert(&l.algorithm);
        }
    }
    let found = places.into_iter().map(|((compared, _), (leak, algorithms))| Line {
        verdict: if compared { LeakVerdict::Depends } else { LeakVerdict::MayDepend },
        words: clean(&leak.to_string()),
        algorithms,
    });
    let others = others.into_iter().map(|((verdict, words), algorithms)| Line {
        verdict,
        words,
        algorithms,
    });
    let mut lines: Vec<Line<'_>> = found.chain(others).collect();
    let many = |line: &Line<'_>| std::cmp::Reverse(line.algorithms.len());
    lines.sort_by(|a, b| b.verdict.cmp(&a.verdict).then(many(a).cmp(&many(b))));
    lines
}

/// `2 depend on the secret, 1 same trace`, the gravest first.
pub(crate) fn counts(verdicts: impl Iterator<Item = LeakVerdict> + Clone) -> String {
    let mut words = Vec::new();
    for (verdict, one, more) in [
        (LeakVerdict::Depends, "depends on the secret", "depend on the secret"),
        (LeakVerdict::MayDepend, "may depend", "may depend"),
        (LeakVerdict::NotJudged, "not judged", "not judged"),
        (LeakVerdict::SameTrace, "same trace", "same trace"),
    ] {
        match verdicts.clone().filter(|v| *v == verdict).count() {
            0 => {}
            1 => words.push(format!("1 {one}")),
            n => words.push(format!("{n} {more}")),
        }
    }
    words.join(", ")
}

pub(crate) fn short(verdict: LeakVerdict) -> (&'static str, Style) {
    match verdict {
        LeakVerdict::Depends => ("depends", ALARM),
        LeakVerdict::MayDepend => ("may depend", CAUTION),
        LeakVerdict::NotJudged => ("not judged", ASIDE),
        LeakVerdict::SameTrace => ("same trace", PLAIN),
    }
}

fn for_terminal(all: &[Leaks], options: Options) -> String {
    let mut out = String::new();
    for build in builds(all) {
        let counts = counts(build.verdicts.iter().copied());
        let head = format!("{}, tier {}: {counts}", build.library, build.tier);
        out += &options.hang(&head, 2, HEADING);
        for line in &build.lines {
            let text = format!("{}: {}", folded(&line.algorithms), line.words);
            out += &options.behind("  ", INDENT, &text, short(line.verdict).1);
        }
        out.push('\n');
    }
    let judged = match all.len() {
        1 => "1 verdict".to_owned(),
        n => format!("{n} verdicts"),
    };
    let counts = counts(all.iter().map(|l| l.verdict));
    let all = if counts.is_empty() { judged } else { format!("{judged}: {counts}") };
    out + &options.hang(&all, 2, PLAIN)
}

fn markdown(all: &[Leaks]) -> String {
    let heads = ["library", "tier", "algorithms", "what"];
    let columns = heads.map(Column::left);
    let mut rows = Vec::new();
    for build in builds(all) {
        for line in &build.lines {
            let cells = [
                build.library.clone(),
                build.tier.to_string(),
                folded(&line.algorithms),
                line.words.clone(),
            ];
            rows.push(cells.map(Cell::plain).to_vec());
        }
    }
    Table::new(columns, rows).markdown()
}

/// Names of the columns of the CSV, the fields of the record.
fn csv(all: &[Leaks]) -> String {
    /// A verdict, and one of its findings if there is any.
    type Row<'a> = (&'a Leaks, Option<&'a Leak>);
    let rows = all.iter().flat_map(|l| {
        let findings = l.findings.iter().map(move |f| (l, Some(f)));
        findings.chain(l.findings.is_empty().then_some((l, None)))
    });
    let of = |f: &Option<&Leak>, field: fn(&Leak) -> String| f.map(field).unwrap_or_default();
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    csv_of::<Row<'_>>(
        rows,
        &[
            ("library_name", &|(l, _)| l.library.name.clone()),
            ("library_version", &|(l, _)| l.library.version.clone()),
            ("library_path", &|(l, _)| l.library.path.clone()),
            ("library_id", &|(l, _)| l.library.id.clone()),
            ("algorithm", &|(l, _)| l.algorithm.clone()),
            ("tier", &|(l, _)| l.tier.to_string()),
            ("verdict", &|(l, _)| l.verdict.name().to_owned()),
            ("reason", &|(l, _)| l.reason.clone().unwrap_or_default()),
            ("secrets", &|(l, _)| l.secrets.to_string()),
            ("words", &|(l, f)| f.map_or_else(|| l.to_string(), ToString::to_string)),
            ("kind", &|(_, f)| of(f, |f| f.kind.name().to_owned())),
            ("function", &|(_, f)| of(f, |f| f.function.clone().unwrap_or_default())),
            ("object", &|(_, f)| of(f, |f| f.object.clone())),
            ("address", &|(_, f)| of(f, |f| format!("{:#x}", f.address))),
            ("instruction", &|(_, f)| of(f, |f| f.instruction.clone())),
            ("places", &|(_, f)| of(f, |f| f.places.to_string())),
            ("bytes", &|(_, f)| number(f.and_then(|f| f.bytes))),
            ("lines", &|(_, f)| number(f.and_then(|f| f.lines))),
            ("operations", &|(_, f)| of(f, |f| f.operations.join(" "))),
            ("sizes", &|(_, f)| {
                of(f, |f| f.sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" "))
            }),
            ("compared", &|(_, f)| of(f, |f| f.compared.to_string())),
        ],
    )
}

/// The names, with key lengths together where they differ in nothing else: `aes-{128,256}-gcm`.
pub(crate) fn folded(algorithms: &BTreeSet<&str>) -> String {
    let mut found: BTreeMap<(String, String), Vec<(u32, String)>> = BTreeMap::new();
    let mut names = Vec::new();
    for name in algorithms.iter().map(|a| clean(a)) {
        let parts: Vec<&str> = name.split('-').collect();
        let length = parts.iter().enumerate().find_map(|(i, p)| Some((i, p.parse::<u32>().ok()?)));
        let Some((i, bits)) = length.filter(|(i, _)| *i > 0 && i + 1 < parts.len()) else {
            names.push(name);
            continue;
        };
        let key = (parts[..i].join("-"), parts[i + 1..].join("-"));
        let text = parts[i].to_owned();
        found.entry(key).or_default().push((bits, text));
    }
    for ((before, after), mut lengths) in found {
        lengths.sort();
        let texts: Vec<&str> = lengths.iter().map(|(_, text)| text.as_str()).collect();
        let bits =
            if texts.len() == 1 { texts[0].to_owned() } else { format!("{{{}}}", texts.join(",")) };
        names.push(format!("{before}-{bits}-{after}"));
    }
    names.sort();
    names.join(", ")
}

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
pub(crate) struct Found<'a> {
    pub(crate) library: &'a str,
    pub(crate) tier: Tier,
    pub(crate) verdicts: Vec<&'a Leaks>,
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
    pub(crate) fn algorithms(&self) -> String {
        let names: BTreeSet<&str> = self.verdicts.iter().map(|l| l.algorithm.as_str()).collect();
        let folded = folded(&names);
        // Between key lengths there is a comma without a space.
        match folded.split(", ").count() {
            n if n <= FEW => folded,
            _ => format!("{} algorithms", names.len()),
        }
    }

    /// The place in most of its algorithms: `secret-dependent lookups in AES_encrypt`, and how many more there are.
    pub(crate) fn places(&self) -> String {
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

    #[test]
    fn each_library_and_tier_says_what_was_found_in_which_algorithms() {
        insta::assert_snapshot!(leaks(&sample::leaks(), Format::Table, Options::default()));
    }

    #[test]
    fn markdown_has_a_row_for_each_line() {
        insta::assert_snapshot!(leaks(&sample::leaks(), Format::Markdown, Options::default()));
    }

    #[test]
    fn a_row_of_csv_is_a_finding_or_a_verdict_without_one() {
        let mut all = sample::leaks();
        let more = all[4].findings[0].clone();
        all[4].findings.push(Leak { function: Some("=evil()".to_owned()), ..more });
        let text = leaks(&all, Format::Csv, Options::default());
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let heading = reader.headers().unwrap().clone();
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), all.len() + 1);
        let column = |name: &str| heading.iter().position(|c| c == name).unwrap();
        let of_gcrypt: Vec<_> =
            rows.iter().filter(|r| &r[0] == "libgcrypt" && &r[4] == "aes-128-gcm").collect();
        assert_eq!(of_gcrypt.len(), 2);
        assert_eq!(&of_gcrypt[0][column("address")], "0x1a2b");
        assert_eq!(&of_gcrypt[1][column("function")], "'=evil()");
        let same = rows.iter().find(|r| &r[column("verdict")] == "same-trace").unwrap();
        assert_eq!(&same[column("words")], "same trace over 16 secrets");
        assert_eq!(&same[column("kind")], "");
    }

    #[test]
    fn json_has_the_verdicts_as_the_record_does() {
        let all = sample::leaks();
        let text = leaks(&all, Format::Json, Options::default());
        assert_eq!(serde_json::from_str::<Vec<Leaks>>(&text).unwrap(), all);
        let lines = leaks(&all, Format::Jsonl, Options::default());
        assert_eq!(lines.lines().count(), all.len());
    }

    #[test]
    fn a_verdict_with_findings_says_too_what_was_not_judged() {
        let mut all = sample::leaks();
        all.retain(|l| l.verdict == LeakVerdict::Depends);
        all[0].reason = Some("step limit: encrypt at 8192 bytes".to_owned());
        let text = leaks(&all[..1], Format::Table, Options::default());
        assert!(text.contains("  aes-128-gcm: secret-dependent lookups"), "{text}");
        assert!(text.contains("aes-128-gcm: not judged: step limit: encrypt"), "{text}");
    }

    #[test]
    fn key_lengths_are_folded_in_their_order_and_other_numbers_stay() {
        let names = BTreeSet::from([
            "aes-256-gcm",
            "aes-128-gcm",
            "aes-128-ccm-8",
            "sm4-gcm",
            "xxh3-64",
            "aegis-128l",
            "aes-1024-gcm",
        ]);
        assert_eq!(
            folded(&names),
            "aegis-128l, aes-128-ccm-8, aes-{128,256,1024}-gcm, sm4-gcm, xxh3-64"
        );
    }

    #[test]
    fn nothing_judged_is_one_line() {
        assert_eq!(leaks(&[], Format::Table, Options::default()), "0 verdicts\n");
    }

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
