//! The end of a run on one screen: what is best here, where the system's own library stands, what not to use, how far
//! to believe it, and what to ask next.

use crate::labels::{Libraries, percent, size_with_unit, speed};
use crate::summary::without_aes;
use crate::survey::{Survey, is_bad, mark, shout};
use crate::{leaks, notes, summary};
use base::text::{
    ALARM, ASIDE, Align, BEST, CAUTION, Cell, Column, HEADING, Options, PLAIN, Table, clean, clip,
    paint,
};
use judge::compare::{Answer, Asked, Family, Row, SystemStanding};
use record::{Measurement, Record, State};
use std::collections::BTreeMap;

/// Most lines of the screen.
const LINES: usize = 40;
/// Most columns: what every terminal has.
const WIDTH: usize = 100;
/// Most families of algorithms that answer one question.
const FAMILIES: usize = 5;
/// Most libraries of a family.
const BEST_OF: usize = 3;
/// Most lines on what not to use.
const WARNINGS: usize = 6;

/// What a survey comes to, in words: the first screen of a terminal and the head of the page.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The machine, and what was measured on it.
    pub machine: String,
    /// How many numbers are short of the asked precision, why, and what would help.
    pub precision: Option<String>,
    /// Headings of the table: its subject, the library, one a size, the limit, your system's library.
    pub columns: Vec<String>,
    /// Each question with its lines, the fastest first.
    pub questions: Vec<(&'static str, Vec<Line>)>,
    /// What a newer OpenSSL would change.
    pub newer: Option<String>,
    /// What not to use, and why.
    pub avoid: Vec<String>,
}

/// One library's speed in the table of a [`Summary`].
#[derive(Clone, Debug)]
pub struct Line {
    /// The algorithm; empty where it is that of the line above.
    pub algorithm: String,
    /// The library and its version.
    pub library: String,
    /// MB/s, one a size, with its mark; a dash where there is no number.
    pub speeds: Vec<String>,
    /// Share of what the CPU could do at the last size.
    pub limit: String,
    /// How your system's library does; in an algorithm's first line only.
    pub system: SystemStanding,
}

impl Line {
    /// How your system's library does, in a few words.
    #[must_use]
    pub fn standing(&self) -> String {
        match self.system {
            SystemStanding::Unknown => String::new(),
            SystemStanding::NotOffered => "not offered".to_owned(),
            SystemStanding::Refused => "REFUSED".to_owned(),
            SystemStanding::Best => "as fast".to_owned(),
            SystemStanding::Slower(factor, mb_per_s) => {
                let digits = if factor < 1.1 { 2 } else { 1 };
                format!("{mb_per_s:.0}, {factor:.digits$}× the time")
            }
        }
    }
}

impl Summary {
    /// None where the record answers no question. The table has at most `lines` lines with its headings.
    #[must_use]
    pub fn of(record: &Record, lines: usize) -> Option<Self> {
        Found::of(record).map(|found| found.summary(lines))
    }
}

/// The screen, at most 40 lines of 100 columns; none where the record answers no question. `path` is the record's
/// file, where it has one.
#[must_use]
pub fn first_screen(record: &Record, path: Option<&str>, options: Options) -> Option<String> {
    let options = Options { width: options.width.min(WIDTH), ..options };
    let found = Found::of(record)?;
    let mut whole = found.summary(LINES);
    let selection: Vec<&Measurement> = record.measurements.iter().collect();
    let survey = Survey::of(record, &selection);
    let notes = summary::foot(record, &selection, &survey).len();
    let screen = Screen { options };
    let precision = whole.precision.as_deref().map(|line| options.hang(line, 0, PLAIN));
    let circumstances = summary::circumstances(record);
    let circumstances = circumstances.iter().take(WARNINGS).map(|line| screen.line(line, CAUTION));
    let above = screen.line(&whole.machine, PLAIN)
        + &precision.unwrap_or_default()
        + &circumstances.collect::<String>()
        + "\n";
    let newer = whole.newer.as_ref().map(|text| format!("\n{}", screen.line(text, PLAIN)));
    let below = newer.unwrap_or_default() + &screen.avoid(&whole.avoid) + &screen.next(path, notes);
    let taken = above.lines().count() + below.lines().count();
    whole.questions = found.questions(LINES.saturating_sub(taken));
    Some(above + &screen.table(&whole) + &below)
}

struct Found<'a> {
    record: &'a Record,
    answer: Answer<'a>,
    libraries: Libraries<'a>,
}

impl<'a> Found<'a> {
    fn of(record: &'a Record) -> Option<Self> {
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        let libraries = Libraries::of(&selection);
        Some(Self { record, answer: Answer::of(record)?, libraries })
    }

    fn summary(&self, lines: usize) -> Summary {
        Summary {
            machine: self.machine(),
            precision: self.precision(),
            columns: self.columns(),
            questions: self.questions(lines),
            newer: self.newer(),
            avoid: self.avoid(),
        }
    }

    fn machine(&self) -> String {
        let record = self.record;
        let clock = record.host.clock.core_ghz_median;
        let measured = record.measurements.iter().filter(|m| m.state == State::Measured).count();
        let loaded = record.libraries.iter().filter(|l| l.error.is_none()).count();
        let parts = [
            Some(clean(&record.host.cpu.name)),
            clock.map(|ghz| format!("core at {ghz:.2} GHz")),
            Some(format!(
                "{loaded} libraries, {measured} cases in {:.0} s",
                record.measuring_seconds
            )),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn precision(&self) -> Option<String> {
        let selection: Vec<&Measurement> = self.record.measurements.iter().collect();
        let sign = if selection.iter().any(|m| mark(m) == "~") { "~: " } else { "" };
        notes::precision_line(self.record, &selection).map(|line| format!("{sign}{line}"))
    }

    /// The ranked answers, in as many lines as there are. Each family has its fastest library; more where there is
    /// room.
    fn questions(&self, room: usize) -> Vec<(&'static str, Vec<Line>)> {
        let questions = &self.answer.questions;
        let headings = 1 + questions.len();
        let mut families: Vec<usize> =
            questions.iter().map(|(_, f)| f.len().min(FAMILIES)).collect();
        while families.iter().sum::<usize>() + headings > room && families.iter().any(|n| *n > 1) {
            let most = families.iter_mut().max();
            most.into_iter().for_each(|n| *n -= 1);
        }
        let mut spare = room.saturating_sub(headings + families.iter().sum::<usize>());
        let mut found = Vec::new();
        for ((asked, of), shown) in questions.iter().zip(families) {
            let mut lines = Vec::new();
            for family in &of[..shown] {
                let more = (family.libraries.len().min(BEST_OF) - 1).min(spare);
                spare -= more;
                let own = family.libraries[..=more].iter().enumerate();
                lines.extend(own.map(|(place, row)| self.line(family, row, place == 0)));
            }
            found.push((title(*asked), lines));
        }
        found
    }

    fn columns(&self) -> Vec<String> {
        let mut columns = vec![format!("MB/s, {}", self.answer.direction), "library".to_owned()];
        columns.extend(self.answer.sizes.iter().map(|size| size_with_unit(*size)));
        columns.push("limit".to_owned());
        let system = self.answer.system.map(|id| clip(self.libraries.label(id), 24));
        columns.push(system.map(|system| format!("your {system}")).unwrap_or_default());
        columns
    }

    fn line(&self, family: &Family<'_>, row: &Row<'_>, is_first: bool) -> Line {
        let marked = |m: &Measurement| speed(m).map(|speed| format!("{}{speed}", mark(m)));
        let number =
            |m: &Option<&Measurement>| m.and_then(marked).unwrap_or_else(|| "–".to_owned());
        let limit = row.cells.last().copied().flatten().and_then(|m| m.limit_fraction);
        Line {
            algorithm: if is_first { clean(family.algorithm) } else { String::new() },
            library: self.libraries.label(row.library).to_owned(),
            speeds: row.cells.iter().map(number).collect(),
            limit: limit.map(|part| format!("{} %", percent(part))).unwrap_or_default(),
            system: if is_first { family.system } else { SystemStanding::Unknown },
        }
    }

    fn newer(&self) -> Option<String> {
        let (newer, system) = self.answer.newer.as_ref().zip(self.answer.system)?;
        let (new, own) = (self.libraries.label(newer.library), self.libraries.label(system));
        let (ratio, tally) = (newer.ratio.estimate, newer.tally);
        Some(format!(
            "Your {own}: {new} takes {ratio:.2} of its time over {} cases: {} faster, {} slower.",
            tally.cases(),
            tally.faster,
            tally.slower
        ))
    }

    /// What was refused, what failed, what depends on secrets, and what does without the CPU's AES instructions.
    fn avoid(&self) -> Vec<String> {
        let selection: Vec<&Measurement> = self.record.measurements.iter().collect();
        let mut found: BTreeMap<(State, &str), (usize, &Measurement)> = BTreeMap::new();
        for m in selection.iter().copied().filter(|m| is_bad(m)) {
            found.entry((m.state, self.libraries.label(&m.library))).or_insert((0, m)).0 += 1;
        }
        let mut lines: Vec<String> = found
            .into_iter()
            .map(|((state, library), (cases, m))| {
                let reason = clean(m.reason.as_deref().unwrap_or_default());
                let of = if cases == 1 { clean(&m.algorithm) } else { format!("{cases} cases") };
                format!("{library}   {of} {}: {reason}", shout(state))
            })
            .collect();
        let names: Vec<String> = without_aes(self.record, &selection).into_iter().collect();
        let room = WARNINGS.saturating_sub(lines.len() + usize::from(!names.is_empty()));
        lines.extend(leaks::avoid(self.record, &self.libraries, room));
        if !names.is_empty() {
            lines.push(format!("{}   AES without this CPU's AES instructions", names.join(", ")));
        }
        lines
    }
}

struct Screen {
    options: Options,
}

impl Screen {
    /// One line, clipped: what is longer would push another off the screen.
    fn line(&self, text: &str, style: anstyle::Style) -> String {
        paint(&clip(text, self.options.width), style, self.options.color) + "\n"
    }

    fn table(&self, summary: &Summary) -> String {
        let last = summary.columns.len() - 1;
        let columns: Vec<Column> = summary
            .columns
            .iter()
            .enumerate()
            .map(|(place, name)| {
                let is_text = place < 2 || place == last;
                Column::named(name.clone(), if is_text { Align::Left } else { Align::Right })
            })
            .collect();
        let lines = summary.questions.iter().flat_map(|(_, lines)| lines);
        let mut text = Table::new(columns, lines.map(row).collect()).lines(self.options.color);
        let mut place = 1;
        for (title, lines) in &summary.questions {
            text.insert(place, self.line(title, HEADING));
            place += lines.len() + 1;
        }
        text.concat()
    }

    fn avoid(&self, found: &[String]) -> String {
        if found.is_empty() {
            return String::new();
        }
        let heading = match found.len().saturating_sub(WARNINGS) {
            0 => "Do not use".to_owned(),
            more => format!("Do not use (and {more} more: ciphermark show)"),
        };
        let lines =
            found.iter().take(WARNINGS).map(|line| self.line(&format!("  {line}"), CAUTION));
        format!("\n{}{}", self.line(&heading, ALARM), lines.collect::<String>())
    }

    fn next(&self, path: Option<&str>, notes: usize) -> String {
        let Some(path) = path.map(clean) else {
            let all = "The whole table: run with --all. To keep every sample: -o FILE.";
            return format!("\n{}", self.line(all, PLAIN));
        };
        let lines = [
            format!("Whole table, {notes} notes   ciphermark show {path}"),
            format!("Page                   ciphermark report {path} -o page.html"),
            format!("Small messages         ciphermark rank {path} --authenticated --size 64"),
            format!("Database pages         ciphermark advise {path} --for postgres"),
        ];
        format!("\n{}", lines.map(|line| self.line(&line, PLAIN)).concat())
    }
}

fn title(asked: Asked) -> &'static str {
    match asked {
        Asked::Authenticated => "Authenticated",
        Asked::KeepsLength => "Keeps the length, notices no tampering",
        Asked::Digest => "Digests and message authentication codes",
    }
}

fn row(line: &Line) -> Vec<Cell> {
    let is_first = !line.algorithm.is_empty();
    let style = if is_first { BEST } else { PLAIN };
    let mut cells =
        vec![Cell::plain(format!("  {}", line.algorithm)), Cell::plain(clip(&line.library, 26))];
    cells.extend(line.speeds.iter().map(|speed| Cell::number(speed.clone(), style)));
    cells.push(Cell::new(line.limit.clone(), ASIDE));
    let style = match line.system {
        SystemStanding::NotOffered => ASIDE,
        SystemStanding::Refused => ALARM,
        SystemStanding::Best => BEST,
        SystemStanding::Unknown | SystemStanding::Slower(..) => PLAIN,
    };
    cells.push(Cell::new(line.standing(), style));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use base::text::width;

    const PLAIN_100: Options = Options { width: 100, color: false };

    fn published() -> Record {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/published-2026-11-23-gnr.json.gz");
        record::load(std::path::Path::new(path)).unwrap()
    }

    #[test]
    fn a_survey_of_many_libraries_fits_a_screen_of_40_lines_of_100_columns() {
        let screen = first_screen(&published(), Some("run.json"), PLAIN_100).unwrap();
        assert!(screen.lines().count() <= LINES, "{screen}");
        assert!(screen.lines().all(|line| width(line) <= WIDTH), "{screen}");
        for expected in ["Authenticated", "Do not use", "your openssl@", "ciphermark show run.json"]
        {
            assert!(screen.contains(expected), "{expected}\n{screen}");
        }
        assert!(!screen.contains("ecb"), "{screen}");
    }

    /// The published survey with the verdict that AES-256-GCM depends on the secret in so many libraries.
    fn leaking(libraries: usize) -> Record {
        let mut record = published();
        let ids = record.libraries.iter().map(record::Library::identity).take(libraries);
        let gcm = |library| record::Leaks {
            library,
            algorithm: "aes-256-gcm".to_owned(),
            tier: base::model::Tier::Native,
            ..sample::leaks().remove(4)
        };
        record.leaks = ids.map(gcm).collect();
        record
    }

    #[test]
    fn what_depends_on_secrets_is_not_to_be_used_and_the_screen_still_fits() {
        for libraries in [1, 3, 40] {
            let screen = first_screen(&leaking(libraries), Some("run.json"), PLAIN_100).unwrap();
            assert!(screen.lines().count() <= LINES, "{screen}");
            assert!(screen.lines().all(|line| width(line) <= WIDTH), "{screen}");
            let (_, avoid) = screen.split_once("Do not use").unwrap();
            assert!(avoid.contains("secret-dependent"), "{screen}");
        }
        let all = Summary::of(&leaking(40), LINES).unwrap().avoid;
        assert_eq!(all.iter().filter(|l| l.contains("secret-dependent")).count(), 1, "{all:?}");
    }

    #[test]
    fn a_small_record_fills_no_screen_and_one_without_an_answer_has_none() {
        let screen = first_screen(&sample::record(), None, PLAIN_100).unwrap();
        assert!(screen.lines().count() < LINES / 2, "{screen}");
        assert!(screen.contains("run with --all"), "{screen}");
        assert!(
            screen.contains("numbers did not reach ±1 %: half of them are known to"),
            "{screen}"
        );
        assert!(
            screen.lines().any(|line| line.starts_with("~: ")) && screen.contains(" ~"),
            "{screen}"
        );
        let nothing = Record { measurements: Vec::new(), ..sample::record() };
        assert_eq!(first_screen(&nothing, None, PLAIN_100), None);
    }

    #[test]
    fn what_a_library_says_cannot_steer_the_terminal_or_widen_the_screen() {
        let mut record = sample::record();
        for m in &mut record.measurements {
            m.library.version = format!("1\u{1b}[31m{}", "x".repeat(500));
            m.reason = m.reason.as_ref().map(|_| "\u{1b}[2J".repeat(300));
        }
        let screen = first_screen(&record, Some("\u{1b}[2J"), PLAIN_100).unwrap_or_default();
        assert!(!screen.contains('\u{1b}'), "{screen}");
        assert!(screen.lines().all(|line| width(line) <= WIDTH), "{screen}");
    }
}
