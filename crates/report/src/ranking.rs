//! Answers to questions: the best, with the places that each may have.

use crate::ComparisonFormat;
use crate::comparison::words::{interval_heading, with_level};
use crate::labels::{size, supported, versioned};
use crate::leaks::mark as mark_of;
use crate::survey::shout;
use base::text::{
    ALARM, ASIDE, Align, BEST, CAUTION, Cell, Column, GOOD, HEADING, Options, PLAIN, Table, clean,
    escape_markdown as escape,
};
use judge::compare::{Absent, By, Per, Ranked, Ranking, Standing};

/// Answers as text that ends with a line break; `options` matter for text only.
#[must_use]
pub fn rankings(answers: &[Ranking], format: ComparisonFormat, options: Options) -> String {
    match format {
        ComparisonFormat::Text => text(answers, options),
        ComparisonFormat::Markdown => markdown(answers),
        ComparisonFormat::Json => json(answers),
        ComparisonFormat::Csv => csv(answers),
    }
}

// Answers for a terminal and in Markdown.

fn text(answers: &[Ranking], options: Options) -> String {
    let mut out = String::new();
    for (i, answer) in answers.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        out += &one(answer, options);
    }
    out.push('\n');
    for line in legend(answers) {
        out += &options.hang(&line, 2, PLAIN);
    }
    out
}

fn one(answer: &Ranking, options: Options) -> String {
    let mut out = options.hang(&clean(&answer.terms.sentence), 2, HEADING);
    out += &table(answer).text(options);
    for note in notes(answer) {
        out += &options.hang(&note, 2, PLAIN);
    }
    for absent in &answer.absent {
        out += &options.hang(&refused(absent), 2, ALARM);
    }
    out
}

fn table(answer: &Ranking) -> Table {
    // Where groups have no column of their own, the first one goes.
    let from = usize::from(!is_grouped(answer));
    let shown = answer.standings.iter().flat_map(|s| &s.rows);
    let heading = interval_heading(shown.filter_map(|r| r.behind.as_ref()));
    let row = |s: &Standing, (i, r): (usize, &Ranked)| {
        cells(r, group(answer, s, i), answer.terms.by, heading).split_off(from)
    };
    let rows = answer.standings.iter();
    let rows = rows.flat_map(|s| s.rows.iter().enumerate().map(move |ranked| row(s, ranked)));
    Table::new(columns(answer, heading).split_off(from), rows.collect())
}

fn columns(answer: &Ranking, heading: &'static str) -> Vec<Column> {
    let has_bytes = answer.terms.model.has_bytes();
    let cost = match answer.terms.by {
        By::Time if has_bytes => "MB/s",
        By::Time => "µs/op",
        By::Instructions => "instructions",
    };
    let cycles = if has_bytes { "c/B" } else { "cycles/op" };
    vec![
        Column::new("best of", Align::Left),
        Column::new("#", Align::Left),
        Column::new("algorithm", Align::Left),
        Column::new("library", Align::Left),
        Column::new(cost, Align::Point),
        Column::new(cycles, Align::Point).goes(4),
        Column::new("ns", Align::Point).goes(2),
        Column::new("behind %", Align::Point).goes(6),
        Column::new(heading, Align::Right).goes(1),
        Column::new("limit %", Align::Right).goes(3),
        Column::new("", Align::Left).goes(5),
    ]
}

/// Whether rows need their group's name: library and algorithm stand in columns of their own.
fn is_grouped(answer: &Ranking) -> bool {
    matches!(answer.terms.per, Some(Per::Family | Per::Size | Per::Tier))
}

/// The group's name, beside its first row.
fn group(answer: &Ranking, standing: &Standing, row: usize) -> String {
    let named = standing.group.as_deref().filter(|_| row == 0 && is_grouped(answer));
    named.map(clean).unwrap_or_default()
}

/// `2–5`: the places that it may have.
pub(crate) fn place(r: &Ranked) -> String {
    if r.place == r.last_place {
        r.place.to_string()
    } else {
        format!("{}–{}", r.place, r.last_place)
    }
}

fn cells(r: &Ranked, group: String, by: By, heading: &str) -> Vec<Cell> {
    let style = match (r.place, r.last_place) {
        (1, 1) => BEST,
        (1, _) => GOOD,
        _ => PLAIN,
    };
    let mark = if r.contended { ">" } else { "" };
    let of_bytes = |cost: Option<record::Estimate>| {
        let bytes = if r.case.model.has_bytes() { r.case.size.max(1) as f64 } else { 1.0 };
        cost.map(|e| supported(e.median / bytes, Some(&e))).unwrap_or_default()
    };
    let [behind, interval, _] = r.behind.map(|b| with_level(b, None, heading)).unwrap_or_default();
    let main = match by {
        By::Time if r.case.model.has_bytes() => {
            r.mb_per_s.map(|v| supported(v, r.ns_per_op.as_ref()))
        }
        By::Time => r.ns_per_op.map(|ns| supported(ns.median / 1000.0, Some(&ns))),
        By::Instructions => r.instructions_per_op.map(|i| format!("{i:.0}")),
    };
    vec![
        Cell::plain(group),
        Cell::new(place(r), style),
        Cell::new(clean(&r.case.algorithm), style),
        Cell::new(versioned(&r.library.name, &r.library.version) + mark_of(r.leaks), style),
        Cell::number(format!("{mark}{}", main.unwrap_or_default()), style),
        Cell::number(of_bytes(r.cycles_per_op), PLAIN),
        Cell::number(r.ns_per_op.map(|e| supported(e.median, Some(&e))).unwrap_or_default(), PLAIN),
        Cell::number(behind, PLAIN),
        Cell::new(interval, ASIDE),
        Cell::new(r.limit_fraction.map(|f| format!("{:.0}", f * 100.0)).unwrap_or_default(), PLAIN),
        Cell::new(r.label.as_deref().map(clean).unwrap_or_default(), CAUTION),
    ]
}

/// What stands below one answer.
fn notes(answer: &Ranking) -> Vec<String> {
    let mut notes = Vec::new();
    if let [only] = &answer.standings[..] {
        let rest = only.contenders - only.rows.len();
        let more = if rest > 0 { format!("; {rest} more (--rows all)") } else { String::new() };
        let first = match only.may_be_first {
            1 => "one is surely the first".to_owned(),
            n => format!("{n} may be the first"),
        };
        notes.push(format!("{} cases: {first}{more}", only.contenders));
    }
    let shown = answer.standings.iter().flat_map(|s| &s.rows).map(|r| &r.library);
    notes.extend(crate::notes::note_of_age(shown.map(|l| (&*l.name, &*l.version))));
    if answer.unranked > 0 {
        let what = match answer.terms.by {
            By::Time => "raw samples of two processes",
            By::Instructions => "counted instructions",
        };
        notes.push(format!("{} cases without {what} are not ranked", answer.unranked));
    }
    notes.extend(answer.secret.map(|left_out| left_out.to_string()));
    notes
}

fn refused(absent: &Absent) -> String {
    format!(
        "{}: {} {} at {}: {}",
        if absent.left_out { "NOT MEASURED".to_owned() } else { shout(absent.state) },
        versioned(&absent.library.name, &absent.library.version),
        clean(&absent.case.algorithm),
        size(absent.case.size),
        clean(absent.reason.as_deref().unwrap_or("no reason given"))
    )
}

/// What the signs mean.
fn legend(answers: &[Ranking]) -> Vec<String> {
    let mut lines = vec![
        "#: one more than the cases that are surely faster (95 % for all of a row's comparisons together, \
         C. E. Bonferroni); =: others have the same place. The truly fastest is among those in place 1"
            .to_owned(),
        "behind %: cost above the first one's, with its own interval".to_owned(),
    ];
    let ranked = || answers.iter().flat_map(|a| &a.standings).flat_map(|s| &s.rows);
    if ranked().any(|r| r.contended) {
        lines.push(">: only a busy core was seen, so it is at least so fast".to_owned());
    }
    let signs: std::collections::BTreeSet<_> = ranked().filter_map(|r| r.leaks).collect();
    lines.extend(signs.into_iter().rev().filter_map(crate::leaks::meaning));
    let labels: std::collections::BTreeSet<&str> =
        ranked().filter_map(|r| r.label.as_deref()).flat_map(|l| l.split(", ")).collect();
    let meaning = |label: &str| match label {
        "no-integrity" => Some("tampering is not noticed"),
        "accident-only" => Some("finds accidental damage only: tampering is not noticed"),
        "ecb-leaks-patterns" => Some("equal blocks stay equal; no integrity"),
        "composite" => {
            Some("a cipher and a checksum or MAC, joined by ciphermark or by the library")
        }
        "no-encryption" => Some("encrypts nothing"),
        _ => None,
    };
    lines.extend(labels.into_iter().filter_map(|l| Some(format!("{l}: {}", meaning(l)?))));
    lines
}

fn markdown(answers: &[Ranking]) -> String {
    let mut out = String::new();
    for answer in answers {
        out += &format!("### {}\n\n", escape(&clean(&answer.terms.sentence)));
        out += &table(answer).markdown();
        let notes = notes(answer).into_iter().chain(answer.absent.iter().map(refused));
        let notes: String = notes.map(|n| format!("- {}\n", escape(&n))).collect();
        out += &format!("\n{notes}\n");
    }
    legend(answers).iter().for_each(|l| out += &format!("- {}\n", escape(l)));
    out
}

// Answers for programs.

fn json(answers: &[Ranking]) -> String {
    serde_json::to_string_pretty(answers).expect("plain data always serialises") + "\n"
}

/// A ranked case with the question and the group that it is ranked in.
struct CsvRow<'a> {
    question: &'a str,
    group: &'a str,
    r: &'a Ranked,
}

/// A column's name and what it holds of a row.
type CsvColumn = (&'static str, fn(&CsvRow<'_>) -> String);

const CSV_COLUMNS: [CsvColumn; 24] = [
    ("question", |row| row.question.to_owned()),
    ("group", |row| row.group.to_owned()),
    ("place", |row| row.r.place.to_string()),
    ("last_place", |row| row.r.last_place.to_string()),
    ("library_name", |row| row.r.library.name.clone()),
    ("library_version", |row| row.r.library.version.clone()),
    ("library_id", |row| row.r.library.id.clone()),
    ("algorithm", |row| row.r.case.algorithm.clone()),
    ("direction", |row| row.r.case.direction.to_string()),
    ("model", |row| row.r.case.model.to_string()),
    ("size_bytes", |row| row.r.case.size.to_string()),
    ("tier", |row| row.r.case.tier.to_string()),
    ("threads", |row| row.r.case.threads.to_string()),
    ("footprint", |row| row.r.case.footprint.to_string()),
    ("in_place", |row| row.r.case.in_place.to_string()),
    ("label", |row| row.r.label.clone().unwrap_or_default()),
    ("mb_per_s", |row| number(row.r.mb_per_s)),
    ("ns_per_op", |row| number(row.r.ns_per_op.map(|e| e.median))),
    ("cycles_per_op", |row| number(row.r.cycles_per_op.map(|e| e.median))),
    ("instructions_per_op", |row| number(row.r.instructions_per_op)),
    ("limit_fraction", |row| number(row.r.limit_fraction)),
    ("cost_over_first", |row| number(row.r.behind.map(|b| b.estimate))),
    ("setting", |row| row.r.case.setting.clone()),
    ("leaks", |row| row.r.leaks.map(|v| v.name().to_owned()).unwrap_or_default()),
];

fn number(value: Option<f64>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

/// One row a ranked case.
fn csv(answers: &[Ranking]) -> String {
    let standings = answers.iter().flat_map(|a| a.standings.iter().map(move |s| (a, s)));
    let rows = standings.flat_map(|(answer, s)| {
        let (question, group) = (&*answer.terms.sentence, s.group.as_deref().unwrap_or_default());
        s.rows.iter().map(move |r| CsvRow { question, group, r })
    });
    base::text::csv(
        &CSV_COLUMNS.map(|(name, _)| name),
        rows.map(|row| CSV_COLUMNS.map(|(_, of)| of(&row))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use base::model::NameGlob;
    use judge::compare::{Class, Per, Question};
    use record::Record;

    /// Two libraries of the same speed in one algorithm.
    fn record() -> Record {
        sample::with_samples(|m, ns| if m.algorithm == "aes-128-ctr" { 1000.0 } else { ns })
    }

    fn asked(record: &Record, questions: &[Question]) -> Vec<Ranking> {
        questions.iter().map(|q| judge::compare::rank(record, q, 10).unwrap()).collect()
    }

    fn questions() -> [Question; 3] {
        let authenticated = Question { class: Some(Class::Authenticated), ..Question::default() };
        [
            Question { size: Some(8192), ..Question::default() },
            Question { per: Some(Per::Library), ..authenticated.clone() },
            Question { per: Some(Per::Size), ..authenticated },
        ]
    }

    #[test]
    fn answers_with_ties_labels_and_refused_cases() {
        let answers = asked(&record(), &questions());
        let options = Options { width: 110, color: false };
        insta::assert_snapshot!(rankings(&answers, ComparisonFormat::Text, options));
    }

    #[test]
    fn answers_as_markdown() {
        let answers = asked(&record(), &questions());
        insta::assert_snapshot!(rankings(&answers, ComparisonFormat::Markdown, Options::default()));
    }

    #[test]
    fn an_answer_with_old_and_new_releases_says_so() {
        let mut record = record();
        for m in record.measurements.iter_mut().filter(|m| m.library.name == "libgcrypt") {
            m.library.name = "wolfssl".to_owned();
            m.library.version = "5.9.4".to_owned();
        }
        let said = |record: &Record, format| {
            rankings(
                &asked(record, &questions()[..1]),
                format,
                Options { width: 300, color: false },
            )
        };
        for format in [ComparisonFormat::Text, ComparisonFormat::Markdown] {
            assert!(
                said(&record, format).contains("openssl@3.0.22 2021-09"),
                "{}",
                said(&record, format)
            );
            assert!(!said(&self::record(), format).contains("releases of different years"));
        }
    }

    #[test]
    fn the_best_and_its_ties_are_told_without_colours() {
        let algorithms = vec![NameGlob::parse("aes-128-ctr").unwrap()];
        let answers = asked(&record(), &[Question { algorithms, ..Question::default() }]);
        let text = rankings(&answers, ComparisonFormat::Text, Options { width: 100, color: false });
        assert_eq!(text.lines().filter(|l| l.starts_with("1–2")).count(), 2, "{text}");
        let painted =
            rankings(&answers, ComparisonFormat::Text, Options { width: 100, color: true });
        assert!(painted.contains("\u{1b}[32m1–2\u{1b}[0m"), "{painted:?}");
    }
}
