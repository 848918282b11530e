//! Short lists: the libraries, which of them offers which algorithm, what verification and the doctor found,
//! what the core can do at best.

use anstyle::Style;
use base::analysis::bound::{Bandwidth, Basis, Core, Floor, Instruction};
use base::model::{Algorithm, Tier};
use base::text::{
    ALARM, ASIDE, Align, CAUTION, Cell, Column, HEADING, Options, PLAIN, Table, clean, clip, paint,
    width,
};
use record::{Check, Library, Limits, State};
use std::collections::BTreeMap;

/// As much of a build's id as tells builds apart at a glance; JSON has all of it.
const ID_COLUMNS: usize = 24;
/// Longest name or version: what is longer is neither.
const LONGEST_WORD: usize = 28;

/// The libraries as a table: name, version, the widest AES instructions in the code, id and path; below each that could not be loaded, why.
pub fn libraries(libraries: &[Library], options: Options) -> String {
    if libraries.is_empty() {
        return "no library was found\n".to_owned();
    }
    let word = |text: &str| Cell::plain(clip(&clean(text), LONGEST_WORD));
    let table = Table::of(
        libraries,
        &[
            (Column::left("name"), &|library| word(&library.name)),
            (Column::left("version"), &|library| word(&library.version)),
            (Column::left("AES code"), &|library| Cell::plain(aes_code(library))),
            (Column::left("id"), &|library| Cell::plain(clip(&clean(&library.id), ID_COLUMNS))),
            // The path comes last and is never cut: it is what one copies.
            (Column::left("path"), &|library| Cell::plain(clean(&library.path))),
        ],
    );
    let lines = table.lines(options.color);
    let mut out = lines[0].clone();
    for (library, line) in libraries.iter().zip(&lines[1..]) {
        out += line;
        if let Some(error) = &library.error {
            let text = format!("not usable: {}", clean(error));
            out += &options.behind("    ", 4, &text, ALARM);
        }
    }
    out
}

/// `vaes`, `aes` or `–`; nothing where it is not known.
fn aes_code(library: &Library) -> &'static str {
    let Some(instructions) = &library.instructions else { return "" };
    let has = |name: &str| instructions.iter().any(|i| i == name);
    if has("vaes") {
        "vaes"
    } else if has("aes") {
        "aes"
    } else {
        "–"
    }
}

/// Longest name of an algorithm or library: what is longer is no name.
const LONGEST_NAME: usize = 34;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// Libraries as they are to be called: `openssl@3.0.22`.
    pub libraries: Vec<String>,
    /// Algorithms, in the order in which they are shown.
    pub rows: Vec<MatrixRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixRow {
    pub algorithm: String,
    /// Whether each library offers it, in the order of [`Matrix::libraries`].
    pub offered: Vec<bool>,
}

/// The matrix by family, with each algorithm's lengths in bytes and what a reader must be told of it: a mark for each
/// library where all their names fit, else how many builds and which libraries offer it.
pub fn matrix(matrix: &Matrix, options: Options) -> String {
    let names: Vec<String> =
        matrix.libraries.iter().map(|name| clip(&clean(name), LONGEST_NAME)).collect();
    let marks = matrix_table(matrix, &names, |row| {
        let offered = (0..names.len()).map(|i| row.offered.get(i).copied().unwrap_or(false));
        offered.map(|o| if o { Cell::new("✓", PLAIN) } else { Cell::new("–", ASIDE) }).collect()
    });
    if marks.lines(false).iter().all(|line| width(line.trim_end()) <= options.width) {
        return by_family(matrix, &marks.lines(options.color));
    }
    let heads = [format!("in {}", names.len()), "offered by".to_owned()];
    let counts = |row: &MatrixRow, room: usize| {
        let count = row.offered.iter().filter(|o| **o).count();
        vec![Cell::new(if count == 0 { "–".to_owned() } else { count.to_string() }, PLAIN)]
            .into_iter()
            .chain([Cell::new(clip(&libraries_of(matrix, row), room), ASIDE)])
            .collect()
    };
    let bare = matrix_table(matrix, &heads, |row| counts(row, 0));
    let taken = bare.lines(false).iter().map(|line| width(line.trim_end())).max().unwrap_or(0);
    let room = options.width.saturating_sub(taken).max(20);
    by_family(matrix, &matrix_table(matrix, &heads, |row| counts(row, room)).lines(options.color))
}

/// The libraries that offer an algorithm in any version, each once.
fn libraries_of(matrix: &Matrix, row: &MatrixRow) -> String {
    let offering = matrix.libraries.iter().zip(&row.offered).filter(|(_, offered)| **offered);
    let mut names: Vec<String> =
        offering.map(|(label, _)| clean(label.split('@').next().unwrap_or(label))).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}

/// The lines of a table of algorithms, each family below its name.
fn by_family(matrix: &Matrix, lines: &[String]) -> String {
    let mut out = lines[0].clone();
    let mut last = "";
    for (row, line) in matrix.rows.iter().zip(&lines[1..]) {
        let family = Algorithm::find(&row.algorithm).map_or("", Algorithm::family);
        if family != last {
            out += &format!("\n{family}\n");
        }
        last = family;
        out += line;
    }
    out
}

fn matrix_table(
    matrix: &Matrix,
    heads: &[String],
    offered: impl Fn(&MatrixRow) -> Vec<Cell>,
) -> Table {
    let mut columns =
        vec![Column::left("algorithm"), Column::left("key/nonce/tag"), Column::left("")];
    columns.extend(heads.iter().map(|head| Column::named(head.clone(), Align::Left)));
    let row = |row: &MatrixRow| {
        let known = Algorithm::find(&row.algorithm).ok();
        let bytes = known.map(|a| format!("{}/{}/{}", a.key_len, a.nonce_len, a.tag_len));
        let name = clip(&clean(&row.algorithm), LONGEST_NAME);
        let warning = known.and_then(Algorithm::warning_label).unwrap_or_default();
        let mut cells = vec![
            Cell::plain(name),
            Cell::new(bytes.unwrap_or_default(), ASIDE),
            Cell::new(warning, CAUTION),
        ];
        cells.extend(offered(row));
        cells
    };
    Table::new(columns, matrix.rows.iter().map(row).collect())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRow {
    /// Library as it is to be called: `openssl@3.0.22`.
    pub library: String,
    pub tier: Tier,
    pub algorithm: String,
    /// The checks that passed, or what was found.
    pub outcome: Result<Vec<Check>, (State, String)>,
}

impl CheckRow {
    /// Whether nobody but the library's adapter knows what it computes.
    pub(crate) fn is_of_own_vectors(&self) -> bool {
        Algorithm::find(&self.algorithm).is_ok_and(Algorithm::is_brought)
    }
}

/// The rows as a table, each finding with its reason below it, and the totals.
pub fn checks(rows: &[CheckRow], options: Options) -> String {
    // A column that says `native` all the way down says nothing.
    let tiers = rows.iter().any(|r| r.tier != Tier::Native);
    let verdict = |row: &CheckRow| match &row.outcome {
        Ok(_) if row.is_of_own_vectors() => Cell::plain("passed, own vectors only"),
        Ok(_) => Cell::plain("passed"),
        Err((State::Unsupported, _)) => Cell::new("unsupported", ASIDE),
        Err((state, _)) => Cell::new(state.name().to_uppercase(), ALARM),
    };
    let count =
        |row: &CheckRow| row.outcome.as_ref().ok().map(|checks| comparisons(checks).to_string());
    let table = Table::of(
        rows,
        &[
            (Column::left("library"), &|row| Cell::plain(clean(&row.library))),
            (Column::left("tier"), &|row| Cell::plain(if tiers { row.tier.name() } else { "" })),
            (Column::left("algorithm"), &|row| Cell::plain(clean(&row.algorithm))),
            (Column::left("verdict"), &|row| verdict(row)),
            (Column::right("comparisons"), &|row| Cell::plain(count(row).unwrap_or_default())),
        ],
    );
    let lines = table.lines(options.color);
    let mut out = lines[0].clone();
    for (row, line) in rows.iter().zip(&lines[1..]) {
        out += line;
        if let Err((state, why)) = &row.outcome {
            let style = if *state == State::Unsupported { ASIDE } else { ALARM };
            out += &options.behind("    ", 4, &clean(why), style);
        }
    }
    out.push('\n');
    out += &totals(rows);
    out
}

pub(crate) fn comparisons(checks: &[Check]) -> u64 {
    checks.iter().map(|c| c.count).sum()
}

pub(crate) fn totals(rows: &[CheckRow]) -> String {
    let passed: Vec<&Vec<Check>> = rows.iter().filter_map(|r| r.outcome.as_ref().ok()).collect();
    let count = |wanted: State| {
        rows.iter().filter(|r| matches!(&r.outcome, Err((s, _)) if *s == wanted)).count()
    };
    let comparisons: u64 = passed.iter().map(|checks| comparisons(checks)).sum();
    format!(
        "{} passed with {comparisons} comparisons, {} refused, {} failed, {} unsupported\n",
        passed.len(),
        count(State::Refused),
        count(State::Failed),
        count(State::Unsupported),
    )
}

/// Names with what they mean, the meanings wrapped to the width.
pub fn pairs(rows: &[(String, String)], options: Options) -> String {
    let indent = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
    let line = |(name, meaning): &(String, String)| {
        options.behind(&format!("{:<indent$}", clean(name)), indent, &clean(meaning), PLAIN)
    };
    rows.iter().map(line).collect()
}

// What the core can do at best, as tables for a terminal.

/// The tables of `list limits`: instructions, pairs of them, bandwidths, floors.
pub fn limits(limits: &Limits, options: Options) -> String {
    let Some(core) = &limits.core else {
        let why = limits.reason.as_deref().unwrap_or("this record was written without limits");
        return format!("no limits: {}\n", clean(why));
    };
    let parts = [
        instructions(core, options),
        instruction_pairs(core, options),
        bandwidths(core, options),
        floors(&limits.floors, options),
    ];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("\n")
}

const BOUND_BY: &str = "bound by";
const BINDS: &str = "binds";

fn table(
    title: &str,
    heads: &[&'static str],
    left: usize,
    rows: &[Vec<String>],
    options: Options,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    // Words after the numbers are aligned like words.
    let words = |i: usize| i < left || [BOUND_BY, BINDS].contains(&heads[i]);
    let align = |i| if words(i) { Align::Left } else { Align::Point };
    let columns = heads.iter().enumerate().map(|(i, head)| Column::new(head, align(i)));
    let cell = |(i, text): (usize, &String)| {
        if words(i) { Cell::plain(text) } else { Cell::number(text, PLAIN) }
    };
    let rows = rows.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect();
    let table = Table::new(columns.collect::<Vec<_>>(), rows).narrow();
    format!("{}\n{}", paint(title, HEADING, options.color), table.lines(options.color).concat())
}

fn instructions(core: &Core, options: Options) -> String {
    let row = |i: &Instruction| {
        vec![
            clean(&i.name),
            i.width_bits.to_string(),
            format!("{:.3}", i.per_cycle),
            i.latency_cycles.map_or("–".to_owned(), |l| format!("{l:.2}")),
            format!("{:.1}", i.spread * 100.0),
        ]
    };
    let rows: Vec<_> = core.instructions.iter().map(row).collect();
    let heads = ["instruction", "bits", "per cycle", "latency", "±%"];
    let mut out = table("instructions, in core cycles", &heads, 2, &rows, options);
    if let Some(window) = core.window {
        out += &format!("chains of two messages overlap by {window:.0} waiting instructions\n");
    }
    out
}

fn instruction_pairs(core: &Core, options: Options) -> String {
    let row = |p: &base::analysis::bound::Pair| {
        vec![
            format!("{} {}", clean(&p.first), p.width_bits),
            format!("{} {}", clean(&p.second), p.second_width_bits),
            format!("{:.3}", p.per_cycle),
            format!("{:.1}", p.spread * 100.0),
        ]
    };
    let rows: Vec<_> = core.pairs.iter().map(row).collect();
    let heads = ["one", "and the other in turn", "pairs per cycle", "±%"];
    table("pairs, which may wait for the same units", &heads, 2, &rows, options)
}

fn bandwidths(core: &Core, options: Options) -> String {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let row = |b: &Bandwidth| {
        vec![
            word(serde_json::json!(b.level)),
            word(serde_json::json!(b.access)),
            clean(&b.by),
            format!("{:.2}", b.bytes_per_cycle),
            format!("{:.1}", b.gb_per_s),
            format!("{:.1}", b.spread * 100.0),
        ]
    };
    let rows: Vec<_> = core.bandwidths.iter().map(row).collect();
    let heads = ["level", "access", "fastest by", "B/cycle", "GB/s", "±%"];
    table("bandwidth of one core", &heads, 3, &rows, options)
}

fn whom(basis: Basis) -> &'static str {
    match basis {
        Basis::Proven => "all",
        Basis::IfExecuted => "whoever executes it",
        Basis::KnownMethods => "known methods",
    }
}

/// One row for an algorithm and direction, one column for each tier.
fn floors(floors: &[Floor], options: Options) -> String {
    let mut tiers: Vec<Tier> = floors.iter().map(|f| f.tier).collect();
    tiers.sort_unstable();
    tiers.dedup();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let key = |f: &Floor| (f.algorithm.clone(), f.direction, f.model);
    let mut seen = Vec::new();
    for floor in floors {
        if seen.contains(&key(floor)) {
            continue;
        }
        seen.push(key(floor));
        let same: Vec<&Floor> = floors.iter().filter(|f| key(f) == key(floor)).collect();
        if same.iter().all(|f| f.cycles_per_byte.is_none()) {
            let reason = clean(floor.reason.as_deref().unwrap_or_default());
            let names = reasons.entry(reason).or_default();
            if !names.contains(&floor.algorithm) {
                names.push(clean(&floor.algorithm));
            }
            continue;
        }
        let mut row = vec![clean(&floor.algorithm), floor.direction.to_string()];
        row.extend(tiers.iter().map(|tier| {
            let found = same.iter().find(|f| f.tier == *tier).and_then(|f| f.cycles_per_byte);
            found.map_or("–".to_owned(), |c| format!("{c:.4}"))
        }));
        let by = same.iter().find_map(|f| f.limited_by);
        row.push(by.map(|b| b.to_string()).unwrap_or_default());
        row.push(same.iter().find_map(|f| f.basis).map(whom).unwrap_or_default().to_owned());
        rows.push(row);
    }
    let mut heads = vec!["algorithm", "direction"];
    heads.extend(tiers.iter().map(|t| t.name()));
    heads.extend([BOUND_BY, BINDS]);
    let title = "floors: cycles per byte that a long message takes at least";
    let mut out = table(title, &heads, 2, &rows, options);
    for (reason, names) in reasons {
        out += &options.hang(&format!("{}: {reason}", names.join(", ")), 0, ASIDE);
    }
    out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    Ok,
    Note,
    /// It would make figures wrong.
    Problem,
}

impl Grade {
    fn shown(self) -> (&'static str, Style) {
        match self {
            Self::Ok => ("ok", ASIDE),
            Self::Note => ("note", CAUTION),
            Self::Problem => ("PROBLEM", ALARM),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    pub topic: String,
    pub name: String,
    pub grade: Grade,
    pub found: String,
    pub mend: Option<String>,
}

/// Columns of the grade, the widest word and a gap.
const GRADE: usize = 9;

/// The findings by topic, each with its grade; below a note or problem what mends it.
pub fn advice(rows: &[Advice], options: Options) -> String {
    let mut out = String::new();
    let mut topic = "";
    let name_columns = rows.iter().map(|r| r.name.chars().count()).max().unwrap_or(0) + 2;
    let indent = 2 + GRADE + name_columns;
    for row in rows {
        if row.topic != topic {
            let gap = if topic.is_empty() { "" } else { "\n" };
            out += &format!("{gap}{}\n", paint(&row.topic, HEADING, options.color));
            topic = &row.topic;
        }
        let (word, style) = row.grade.shown();
        let word = paint(&format!("{word:<GRADE$}"), style, options.color);
        let name = clean(&row.name);
        let lead = format!("  {word}{name:<name_columns$}");
        out += &options.behind(&lead, indent, &clean(&row.found), PLAIN);
        if let Some(mend) = &row.mend {
            let lead = " ".repeat(indent);
            out += &options.behind(&lead, indent, &format!("→ {}", clean(mend)), style);
        }
    }
    out += &format!("\n{}\n", summary(rows));
    out
}

fn summary(rows: &[Advice]) -> String {
    let count = |grade| rows.iter().filter(|r| r.grade == grade).count();
    match (count(Grade::Problem), count(Grade::Note)) {
        (0, 0) => "nothing stands in the way of good figures".to_owned(),
        (0, notes) => format!("no problem, {notes} to note"),
        (problems, notes) => {
            format!("{problems} of these would make figures wrong; {notes} to note")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use base::analysis::bound::{Access, Bound, Level, Pair};
    use base::model::{Direction, Model};

    #[test]
    fn libraries_are_listed_with_what_is_wrong_with_them() {
        insta::assert_snapshot!(libraries(&sample::record().libraries, Options::default()));
        assert_eq!(libraries(&[], Options::default()), "no library was found\n");
    }

    fn example() -> Matrix {
        let row = |algorithm: &str, offered: [bool; 2]| MatrixRow {
            algorithm: algorithm.to_owned(),
            offered: offered.to_vec(),
        };
        Matrix {
            libraries: vec!["openssl@3.0.22".to_owned(), "libgcrypt@1.10.1".to_owned()],
            rows: vec![
                row("aes-128-ecb", [true, true]),
                row("aes-128-gcm", [true, false]),
                row("aes-128-ctr", [false, true]),
            ],
        }
    }

    #[test]
    fn each_algorithm_has_a_mark_for_each_library_and_its_warning() {
        insta::assert_snapshot!(matrix(&example(), Options::default()));
    }

    #[test]
    fn libraries_are_counted_and_named_where_their_marks_do_not_fit() {
        insta::assert_snapshot!(matrix(&example(), Options { width: 50, color: false }));
    }

    const OPTIONS: Options = Options { width: 60, color: false };

    fn check_row(outcome: Result<Vec<Check>, (State, String)>) -> CheckRow {
        CheckRow {
            library: "lib@1".into(),
            tier: Tier::Native,
            algorithm: "aes-128-gcm".into(),
            outcome,
        }
    }

    #[test]
    fn findings_stand_under_their_row_and_totals_at_the_end() {
        let check = Check { name: "tamper".into(), count: 7 };
        let bad = (State::Refused, "tamper: a changed tag was\u{1b}[31m accepted".to_owned());
        let text = checks(&[check_row(Ok(vec![check])), check_row(Err(bad))], OPTIONS);
        insta::assert_snapshot!(text, @r"
        library  algorithm    verdict  comparisons
        lib@1    aes-128-gcm  passed             7
        lib@1    aes-128-gcm  REFUSED
            tamper: a changed tag was[31m accepted

        1 passed with 7 comparisons, 1 refused, 0 failed, 0 unsupported
        ");
    }

    #[test]
    fn the_tier_is_a_column_where_there_is_another_than_native() {
        let rows = [
            check_row(Ok(Vec::new())),
            CheckRow { tier: Tier::Noaes, ..check_row(Ok(Vec::new())) },
        ];
        let text = checks(&rows, OPTIONS);
        assert!(text.contains("lib@1    noaes   aes-128-gcm  passed"), "{text}");
        assert!(!checks(&rows[..1], OPTIONS).contains("native"));
    }

    #[test]
    fn meanings_are_wrapped_under_each_other() {
        let rows = vec![("a".to_owned(), "one two three four five six seven".to_owned())];
        let text = pairs(&rows, Options { width: 25, color: false });
        assert_eq!(text, "a  one two three four\n   five six seven\n");
    }

    fn limits_sample() -> Limits {
        let core = Core {
            instructions: vec![Instruction {
                name: "aesenc".into(),
                width_bits: 512,
                per_cycle: 1.0,
                latency_cycles: Some(4.0),
                spread: 0.002,
                samples: 15,
            }],
            pairs: vec![Pair {
                first: "aesenc".into(),
                second: "pclmulqdq".into(),
                width_bits: 512,
                second_width_bits: 512,
                per_cycle: 0.5,
                spread: 0.001,
                samples: 15,
            }],
            bandwidths: vec![Bandwidth {
                level: Level::L1,
                access: Access::Copy,
                by: "load+store-512".into(),
                buffer_bytes: 768,
                bytes_per_cycle: 32.0,
                gb_per_s: 118.4,
                spread: 0.001,
                samples: 15,
            }],
            window: Some(62.0),
            unread: Vec::new(),
        };
        let floor = |name: &str, tier, cycles: Option<f64>| Floor {
            algorithm: name.into(),
            direction: Direction::Encrypt,
            model: Model::Message,
            tier,
            cycles_per_byte: cycles,
            limited_by: cycles.map(|_| Bound::AesUnits),
            basis: cycles.map(|_| Basis::IfExecuted),
            reason: cycles.is_none().then(|| "no bound is known".to_owned()),
        };
        let floors = vec![
            floor("aes-128-ctr", Tier::Native, Some(0.15625)),
            floor("aes-128-ctr", Tier::Aesni, Some(0.3125)),
            floor("aes-128-ctr", Tier::Noaes, None),
            floor("sm4-ctr", Tier::Native, None),
            floor("sm4-ctr", Tier::Aesni, None),
        ];
        Limits { core: Some(core), floors, reason: None }
    }

    #[test]
    fn each_part_is_a_table() {
        insta::assert_snapshot!(limits(&limits_sample(), Options { width: 100, color: false }));
    }

    #[test]
    fn without_limits_it_says_why() {
        let none = Limits { reason: Some("no probes here".into()), ..Limits::default() };
        assert_eq!(limits(&none, Options::default()), "no limits: no probes here\n");
        assert!(limits(&Limits::default(), Options::default()).contains("without limits"));
    }

    fn advice_row(topic: &str, name: &str, grade: Grade, mend: Option<&str>) -> Advice {
        let (topic, name) = (topic.to_owned(), name.to_owned());
        Advice { topic, name, grade, found: "what was found".into(), mend: mend.map(Into::into) }
    }

    #[test]
    fn findings_stand_under_their_topic_with_what_mends_them() {
        let rows = [
            advice_row("clock", "source", Grade::Ok, None),
            advice_row("clock", "drift", Grade::Problem, Some("run it again")),
            advice_row("noise", "stolen time", Grade::Note, Some("another hour")),
        ];
        let text = advice(&rows, Options { width: 60, color: false });
        let expected = "clock\n  ok       source       what was found\n  PROBLEM  drift        what was found\n                        → run it again\n\n\
            noise\n  note     stolen time  what was found\n                        → another hour\n\n\
            1 of these would make figures wrong; 1 to note\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn long_findings_keep_to_the_width() {
        let mut long = advice_row("noise", "x", Grade::Note, Some(&"word ".repeat(60)));
        long.found = "found ".repeat(60);
        let text = advice(&[long], Options { width: 80, color: false });
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    }
}
