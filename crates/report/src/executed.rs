//! What is known of code beside its speed: what an operation executes and what runs inside the clock, in
//! words and counts; what depends on secrets, by library and tier, lines of algorithms with the same words.

use crate::Format;
use crate::labels::{Libraries, part, size_with_unit};
use anstyle::Style;
use base::model::Tier;
use base::text::{
    ALARM, ASIDE, Align, CAUTION, Cell, Column, HEADING, Options, PLAIN, Table, clean, paint,
};
use record::{
    ClassCount, Executed, FunctionCount, Leak, LeakKind, LeakVerdict, Leaks, LibraryId,
    Measurement, Record, Share, State,
};
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
        Format::Json => {
            serde_json::to_string_pretty(all).expect("plain data always serialises") + "\n"
        }
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

/// One library at one tier.
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
fn counts(verdicts: impl Iterator<Item = LeakVerdict> + Clone) -> String {
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

/// A verdict in a narrow place, and its style.
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
    let columns = heads.map(|head| Column::new(head, Align::Left));
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
const COLUMNS: [&str; 21] = [
    "library_name",
    "library_version",
    "library_path",
    "library_id",
    "algorithm",
    "tier",
    "verdict",
    "reason",
    "secrets",
    "words",
    "kind",
    "function",
    "object",
    "address",
    "instruction",
    "places",
    "bytes",
    "lines",
    "operations",
    "sizes",
    "compared",
];

fn csv(all: &[Leaks]) -> String {
    let rows = all.iter().flat_map(|l| {
        let findings = l.findings.iter().map(|f| row(l, Some(f)));
        findings.chain(l.findings.is_empty().then(|| row(l, None)))
    });
    base::text::csv(&COLUMNS, rows)
}

fn row(l: &Leaks, f: Option<&Leak>) -> [String; 21] {
    let of = |field: fn(&Leak) -> String| f.map(field).unwrap_or_default();
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    [
        l.library.name.clone(),
        l.library.version.clone(),
        l.library.path.clone(),
        l.library.id.clone(),
        l.algorithm.clone(),
        l.tier.to_string(),
        l.verdict.name().to_owned(),
        l.reason.clone().unwrap_or_default(),
        l.secrets.to_string(),
        f.map_or_else(|| l.to_string(), ToString::to_string),
        of(|f| f.kind.name().to_owned()),
        of(|f| f.function.clone().unwrap_or_default()),
        of(|f| f.object.clone()),
        of(|f| format!("{:#x}", f.address)),
        of(|f| f.instruction.clone()),
        of(|f| f.places.to_string()),
        f.map(|f| number(f.bytes)).unwrap_or_default(),
        f.map(|f| number(f.lines)).unwrap_or_default(),
        of(|f| f.operations.join(" ")),
        of(|f| f.sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")),
        of(|f| f.compared.to_string()),
    ]
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

/// Fewest instructions in a message of 4 KiB for which a class is told: below, it is noise between
/// the ones that matter.
const WORTH_TELLING: f64 = 0.005;

/// What one algorithm of one library executes at one tier.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutedRow {
    /// As the record has it.
    pub executed: Executed,
    /// Why it would be refused: it contradicts its tier.
    pub refused: Option<String>,
    /// Instructions of operations of sizes that were asked for, or why they are not known.
    pub exact: Vec<(usize, Result<u64, String>)>,
}

/// Lines below a heading of its own.
pub(crate) fn executed_lines(row: &ExecutedRow, options: Options) -> String {
    let e = &row.executed;
    let part = |name: &str, text: &str, style| part(name, text, style, options);
    let mut out = part(e.tier.name(), &total(e), PLAIN);
    if let Some(why) = &row.refused {
        out += &part("", &format!("REFUSED: {why}"), ALARM);
    }
    if let Some(why) = &e.reason {
        out += &part("", &format!("not all counted: {why}"), ASIDE);
    }
    for (size, count) in &row.exact {
        let text = match count {
            Ok(count) => format!(
                "{size} B: {count} instructions, {} a byte",
                figure(*count as f64 / *size as f64)
            ),
            Err(why) => format!("{size} B: not known: {}", clean(why)),
        };
        out += &part("exactly", &text, PLAIN);
    }
    if e.per_byte.is_some() {
        out += &part("each byte", &classes(e, |c| c.per_byte), PLAIN);
        out += &part("a message", &classes(e, |c| c.per_message), PLAIN);
        out += &part("memory", &memory(e), PLAIN);
        out += &part("needs", &needs(e), PLAIN);
        for f in e
            .functions
            .iter()
            .filter(|f| size_of_share(f.per_byte, f.per_message) > WORTH_TELLING * size_of(e))
        {
            out += &part("in", &function(f, e), PLAIN);
        }
    }
    if let Some(excepted) = &e.excepted {
        let text = format!("beside the tier, in code that it is not applied to: {excepted}");
        out += &part("and", &text, ASIDE);
    }
    out
}

/// `1.435 instructions a byte + 512 a message (single-step, 1024 and 4096 B)`.
fn total(e: &Executed) -> String {
    let Some((per_byte, per_message)) = e.per_byte.zip(e.per_message) else {
        return "instructions not counted".to_owned();
    };
    let mut between = e.slope_sizes.clone();
    if between.is_empty() {
        between.extend(e.sizes.iter().rev().take(2).rev().map(|s| s.size));
    }
    let sizes: Vec<String> = between.iter().map(usize::to_string).collect();
    format!(
        "{} instructions a byte + {} a message ({}, {} B)",
        figure(per_byte),
        figure(per_message),
        clean(e.source.as_deref().unwrap_or("?")),
        sizes.join(" and ")
    )
}

/// `0.625 aes-round 128, 0.317 vector-logic 512, …`, the most first.
fn classes(e: &Executed, share: impl Fn(&ClassCount) -> f64) -> String {
    let all: f64 = e.classes.iter().map(|c| share(c).abs()).sum();
    let mut told: Vec<&ClassCount> = e
        .classes
        .iter()
        .filter(|c| share(c).abs() > WORTH_TELLING * all && share(c) != 0.0)
        .collect();
    told.sort_by(|a, b| share(b).total_cmp(&share(a)));
    let texts = told.iter().map(|c| {
        let width = c.width.map(|w| format!(" {w}")).unwrap_or_default();
        format!("{} {}{width}", figure(share(c)), clean(&c.class))
    });
    let texts: Vec<String> = texts.collect();
    if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
}

fn needs(e: &Executed) -> String {
    let sets: Vec<String> = e.instruction_sets.iter().map(|s| clean(s)).collect();
    if sets.is_empty() {
        "what every CPU of its architecture has".to_owned()
    } else {
        sets.join(", ")
    }
}

fn memory(e: &Executed) -> String {
    let text = |share: Option<Share>, verb: &str| {
        share.map(|s| format!("{} a byte + {} {verb}", figure(s.per_byte), figure(s.per_message)))
    };
    let both = [text(e.memory_reads, "read"), text(e.memory_writes, "write")];
    both.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn function(f: &FunctionCount, of: &Executed) -> String {
    let share = 100.0 * size_of_share(f.per_byte, f.per_message) / size_of(of);
    let name = f.function.as_deref().map_or_else(|| "code without a symbol".to_owned(), clean);
    format!(
        "{share:.0} % of 4 KiB: {} a byte + {} in {name} of {}",
        figure(f.per_byte),
        figure(f.per_message),
        clean(&f.object)
    )
}

/// Instructions in a message of 4 KiB.
fn size_of_share(per_byte: f64, per_message: f64) -> f64 {
    per_byte * 4096.0 + per_message
}

fn size_of(e: &Executed) -> f64 {
    size_of_share(e.per_byte.unwrap_or_default(), e.per_message.unwrap_or_default())
}

/// Whole where it is, else with as many digits as tell it.
fn figure(count: f64) -> String {
    match count {
        c if (c - c.round()).abs() < 1e-9 => format!("{c:.0}"),
        c if c.abs() >= 100.0 => format!("{c:.1}"),
        c if c.abs() >= 10.0 => format!("{c:.2}"),
        c => format!("{c:.4}"),
    }
}

/// One algorithm of one library in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
    /// The library as it is to be called: `openssl@3.0.22`.
    pub library: String,
    /// Name of the algorithm.
    pub algorithm: String,
    pub direction: String,
    /// The library's functions in order, as its adapter says.
    pub functions: Option<String>,
    /// Whether the library's interface copies every message.
    pub copies: bool,
    /// Whether the library's interface allocates memory for every message.
    pub allocates: bool,
    /// What one message of each size costs, or why that is not known.
    pub costs: Result<Vec<MessageCost>, String>,
    /// What it executes, at each tier that was asked for.
    pub executed: Vec<ExecutedRow>,
    /// What depends on secrets, at each tier that was judged.
    pub leaks: Vec<Leaks>,
}

/// What one message allocates and copies through the C library.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageCost {
    /// Bytes of plaintext.
    pub size: usize,
    /// Calls that gave memory.
    pub allocations: f64,
    /// Bytes that they were asked for.
    pub allocated_bytes: f64,
    /// Bytes that were copied.
    pub copied_bytes: f64,
}

/// A paragraph for each row.
pub fn calls(rows: &[CallRow], options: Options) -> String {
    let mut out = String::new();
    for row in rows {
        let head =
            format!("{} {} {}", clean(&row.library), clean(&row.algorithm), clean(&row.direction));
        out += &format!("{}\n", paint(&head, HEADING, options.color));
        let functions = row.functions.as_deref().unwrap_or("not told by the adapter");
        out += &part("calls", functions, PLAIN, options);
        if let Some(forced) = forced(row) {
            let text = format!("the library's own interface {forced}: measured with it");
            out += &part("interface", &text, CAUTION, options);
        }
        match &row.costs {
            Ok(costs) => {
                let counted = |c: &MessageCost| part("counted", &counted(c), PLAIN, options);
                out += &costs.iter().map(counted).collect::<String>();
            }
            Err(why) => out += &part("counted", &format!("not known: {why}"), ASIDE, options),
        }
        for executed in &row.executed {
            out += &executed_lines(executed, options);
        }
        for leaks in &row.leaks {
            out += &secrets(leaks, &row.direction, options);
        }
        out.push('\n');
    }
    out
}

/// The verdict, then each place that a message in this direction comes past.
fn secrets(leaks: &Leaks, direction: &str, options: Options) -> String {
    let (verdict, style) = short(leaks.verdict);
    let mut head = format!("{verdict} at tier {}, {} secrets", leaks.tier, leaks.secrets);
    if let Some(why) = &leaks.reason {
        head += &format!("; not judged: {why}");
    }
    let mut out = part("secrets", &head, style, options);
    let passes = |f: &&Leak| {
        let elsewhere =
            if direction == "decrypt" { &["encrypt"][..] } else { &["decrypt", "reject"] };
        f.operations.is_empty() || f.operations.iter().any(|o| !elsewhere.contains(&o.as_str()))
    };
    for f in leaks.findings.iter().filter(passes) {
        out += &part("", &format!("{f}: {}", place(f)), PLAIN, options);
    }
    out
}

/// `mov eax,[rcx+rdx*4] at 0x1a2b of libcrypto.so.3 and 15 more instructions, in encrypt of 16 B`
fn place(f: &Leak) -> String {
    let mut text = format!("{} at {:#x} of {}", f.instruction, f.address, f.object);
    if f.places > 1 {
        text += &format!(" and {} more", f.places - 1);
    }
    if !f.operations.is_empty() {
        text += &format!(", in {}", f.operations.join(", "));
    }
    if !f.sizes.is_empty() {
        let sizes: Vec<String> = f.sizes.iter().map(|size| size_with_unit(*size)).collect();
        text += &format!(" of {}", sizes.join(", "));
    }
    text
}

fn forced(row: &CallRow) -> Option<&'static str> {
    match (row.copies, row.allocates) {
        (true, true) => Some("copies every message and allocates memory for it"),
        (true, false) => Some("copies every message"),
        (false, true) => Some("allocates memory for every message"),
        (false, false) => None,
    }
}

/// `8192 B: 2 allocations (8304 B), 16384 B copied (2.0 × the message)`.
fn counted(cost: &MessageCost) -> String {
    let allocations = match cost.allocations {
        0.0 => "no allocation".to_owned(),
        1.0 => format!("1 allocation ({} B)", number(cost.allocated_bytes)),
        n => format!("{} allocations ({} B)", number(n), number(cost.allocated_bytes)),
    };
    let copied = if cost.copied_bytes == 0.0 {
        "nothing copied".to_owned()
    } else {
        let times = cost.copied_bytes / cost.size as f64;
        format!("{} B copied ({times:.1} × the message)", number(cost.copied_bytes))
    };
    format!("{} B: {allocations}, {copied}", cost.size)
}

/// A count over a few messages: whole where it is, else with one digit behind the point.
fn number(count: f64) -> String {
    if count.fract() == 0.0 { format!("{count:.0}") } else { format!("{count:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use base::text::width;

    #[test]
    fn each_library_and_tier_says_what_was_found_in_which_algorithms() {
        insta::assert_snapshot!(leaks(&sample::leaks(), Format::Table, Options::default()));
    }

    #[test]
    fn markdown_has_a_row_for_each_line_and_nothing_in_it_is_markup() {
        let mut all = sample::leaks();
        insta::assert_snapshot!(leaks(&all, Format::Markdown, Options::default()));
        all[0].algorithm = "a|<script>".to_owned();
        let text = leaks(&all, Format::Markdown, Options::default());
        assert!(!text.contains("<script>") && text.contains("a\\|"), "{text}");
    }

    #[test]
    fn a_row_of_csv_is_a_finding_or_a_verdict_without_one() {
        let mut all = sample::leaks();
        let more = all[4].findings[0].clone();
        all[4].findings.push(Leak { function: Some("=evil()".to_owned()), ..more });
        let text = leaks(&all, Format::Csv, Options::default());
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), all.len() + 1);
        let column = |name: &str| COLUMNS.iter().position(|c| *c == name).unwrap();
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
    fn what_a_library_says_cannot_steer_the_terminal_and_lines_fit() {
        let mut all = sample::leaks();
        for l in &mut all {
            l.library.name = "x\u{1b}[2J".to_owned();
            l.algorithm += "\u{202e}\u{1b}[31m暗";
            l.reason = l.reason.as_ref().map(|_| "\u{1b}[2J no ".repeat(50));
            l.findings.iter_mut().for_each(|f| f.function = Some("\u{1b}f ".repeat(90)));
        }
        for width_ in [60, 100, 140] {
            let options = Options { width: width_, color: false };
            let text = leaks(&all, Format::Table, options);
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
            assert!(text.lines().all(|l| width(l) <= width_), "{text}");
        }
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

    const OPTIONS: Options = Options { width: 200, color: false };

    fn row() -> ExecutedRow {
        ExecutedRow { executed: sample::executed(), refused: None, exact: Vec::new() }
    }

    #[test]
    fn counts_stand_with_what_they_are_made_of() {
        let mut row = row();
        row.exact = vec![(16, Ok(416)), (1 << 20, Err("too long".into()))];
        let text = executed_lines(&row, OPTIONS);
        assert_eq!(
            text,
            "  native     0.2500 instructions a byte + 400 a message (single-step, 1024 and 4096 B)\n  \
             exactly    16 B: 416 instructions, 26 a byte\n  \
             exactly    1048576 B: not known: too long\n  \
             each byte  0.1562 aes-round 512, 0.0938 scalar\n  \
             a message  360 scalar, 40 aes-round 512\n  \
             memory     0.0625 a byte + 120 read, 0.0312 a byte + 60 write\n  \
             needs      avx512f, vaes\n  \
             in         93 % of 4 KiB: 0.2500 a byte + 300 in aes_gcm_encrypt of libcrypto.so.3\n"
        );
    }

    #[test]
    fn what_was_not_counted_and_what_is_refused_say_why() {
        let mut row = row();
        row.executed.per_byte = None;
        row.executed.reason = Some("it runs in the kernel".into());
        row.refused = Some("tier: executed 3 instructions of vaes".into());
        let text = executed_lines(&row, OPTIONS);
        assert!(text.contains("instructions not counted"), "{text}");
        assert!(
            text.contains("it runs in the kernel") && text.contains("REFUSED: tier:"),
            "{text}"
        );
    }

    fn call_row(costs: Result<Vec<MessageCost>, String>) -> CallRow {
        CallRow {
            library: "botan@3.13.0".into(),
            algorithm: "aes-256-gcm".into(),
            direction: "encrypt".into(),
            functions: Some("botan_cipher_start, botan_cipher_update".into()),
            copies: true,
            allocates: true,
            costs,
            executed: Vec::new(),
            leaks: Vec::new(),
        }
    }

    #[test]
    fn each_place_that_depends_on_the_secret_says_where_it_is() {
        let mut row =
            CallRow { leaks: vec![crate::sample::leaks().remove(3)], ..call_row(Ok(Vec::new())) };
        row.leaks[0].reason = Some("step limit".to_owned());
        let text = calls(std::slice::from_ref(&row), Options { width: 200, color: false });
        let said = "  secrets    depends at tier baseline, 16 secrets; not judged: step limit\n             \
                    secret-dependent lookups in AES_encrypt (1024 bytes, 16 lines): mov eax,[rcx+rdx*4] at 0x1a2b of \
                    libcrypto.so.3 and 15 more, in encrypt of 16 B\n";
        assert!(text.contains(said), "{text}");
        row.direction = "decrypt".to_owned();
        let text = calls(&[row], Options::default());
        assert!(text.contains("secrets ") && !text.contains("AES_encrypt"), "it decrypts: {text}");
    }

    #[test]
    fn calls_and_counts_stand_under_their_row() {
        let cost = |size, allocations, copied_bytes| MessageCost {
            size,
            allocations,
            allocated_bytes: 8304.0,
            copied_bytes,
        };
        let text = calls(
            &[call_row(Ok(vec![cost(16, 0.0, 0.0), cost(8192, 2.0, 16384.0)]))],
            Options { width: 80, color: false },
        );
        assert_eq!(
            text,
            "botan@3.13.0 aes-256-gcm encrypt\n  \
             calls      botan_cipher_start, botan_cipher_update\n  \
             interface  the library's own interface copies every message and allocates\n             \
             memory for it: measured with it\n  \
             counted    16 B: no allocation, nothing copied\n  \
             counted    8192 B: 2 allocations (8304 B), 16384 B copied (2.0 × the message)\n\n"
        );
    }

    #[test]
    fn what_was_not_counted_says_why() {
        let text =
            calls(&[call_row(Err("it crashed".into()))], Options { width: 80, color: false });
        assert!(text.contains("  counted    not known: it crashed\n"), "{text}");
    }
}
