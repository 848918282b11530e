//! The end of a run on one screen: what is best here, where the system's own library stands, what not to use, how far
//! to believe it, and what to ask next.

use crate::digits::{percent, speed};
use crate::labels::{Libraries, size_with_unit};
use crate::summary::{self, without_aes};
use crate::survey::{Survey, shout};
use compare::{Answer, Asked, Family, Row, SystemStanding};
use record::{Measurement, Record, State};
use std::collections::BTreeMap;
use text::{
    ALARM, ASIDE, Align, BEST, CAUTION, Cell, Column, HEADING, Options, PLAIN, Table, clean, clip,
    paint,
};

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

/// The screen, at most 40 lines of 100 columns; none where the record answers no question. `path` is the record's
/// file, where it has one.
#[must_use]
pub fn first_screen(record: &Record, path: Option<&str>, options: Options) -> Option<String> {
    let answer = Answer::of(record)?;
    let options = Options { width: options.width.min(WIDTH), ..options };
    let selection: Vec<&Measurement> = record.measurements.iter().collect();
    let screen = Screen { record, answer, libraries: Libraries::of(&selection), options };
    let above = screen.line(&screen.machine(), PLAIN) + "\n";
    let survey = Survey::of(record, &selection);
    let notes = summary::foot(record, &selection, &survey).len();
    let below = screen.newer() + &screen.avoid(&selection) + &screen.next(path, notes);
    let taken = above.lines().count() + below.lines().count();
    let table = screen.table(LINES.saturating_sub(taken));
    Some(above + &table + &below)
}

struct Screen<'a> {
    record: &'a Record,
    answer: Answer<'a>,
    libraries: Libraries<'a>,
    options: Options,
}

impl Screen<'_> {
    /// One line, clipped: what is longer would push another off the screen.
    fn line(&self, text: &str, style: anstyle::Style) -> String {
        paint(&clip(text, self.options.width), style, self.options.color) + "\n"
    }

    fn machine(&self) -> String {
        let record = self.record;
        let clock = record.host.clock.core_ghz_median;
        let measured = record.measurements.iter().filter(|m| m.state == State::Measured).count();
        let loaded = record.libraries.iter().filter(|l| l.error.is_none()).count();
        let quiet = record.noise.as_ref().filter(|n| n.samples > 0);
        let parts = [
            Some(clean(&record.host.cpu.name)),
            clock.map(|ghz| format!("core at {ghz:.2} GHz")),
            Some(format!(
                "{loaded} libraries, {measured} cases in {:.0} s",
                record.measuring_seconds
            )),
            quiet.map(|n| format!("{} % quiet", percent(n.clean as f64 / n.samples as f64))),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The ranked answers, in as many lines as there are. Each family has its fastest library; more where there is
    /// room.
    fn table(&self, room: usize) -> String {
        let questions = &self.answer.questions;
        let headings = 1 + questions.len();
        let mut families: Vec<usize> =
            questions.iter().map(|(_, f)| f.len().min(FAMILIES)).collect();
        while families.iter().sum::<usize>() + headings > room && families.iter().any(|n| *n > 1) {
            let most = families.iter_mut().max();
            most.into_iter().for_each(|n| *n -= 1);
        }
        let mut spare = room.saturating_sub(headings + families.iter().sum::<usize>());
        let mut rows = Vec::new();
        let mut titles = Vec::new();
        for ((asked, of), shown) in questions.iter().zip(families) {
            titles.push((rows.len(), title(*asked)));
            for family in &of[..shown] {
                let more = (family.libraries.len().min(BEST_OF) - 1).min(spare);
                spare -= more;
                let own = family.libraries[..=more].iter().enumerate();
                rows.extend(own.map(|(place, row)| self.row(family, row, place)));
            }
        }
        let mut lines = Table::new(self.columns(), rows).lines(self.options.color);
        for (place, title) in titles.into_iter().rev() {
            lines.insert(place + 1, self.line(title, HEADING));
        }
        lines.concat()
    }

    fn columns(&self) -> Vec<Column> {
        let mut columns = vec![
            Column::named(format!("MB/s, {}", self.answer.direction), Align::Left),
            Column::new("", Align::Left),
        ];
        let of_size = |size: &usize| Column::named(size_with_unit(*size), Align::Right);
        columns.extend(self.answer.sizes.iter().map(of_size));
        columns.push(Column::new("limit", Align::Right));
        let system =
            self.answer.system.map(|id| format!("your {}", clip(self.libraries.label(id), 24)));
        columns.push(Column::named(system.unwrap_or_default(), Align::Left));
        columns
    }

    fn row(&self, family: &Family<'_>, row: &Row<'_>, place: usize) -> Vec<Cell> {
        let (algorithm, style) = if place == 0 { (family.algorithm, BEST) } else { ("", PLAIN) };
        let library = self.libraries.label(row.library);
        let mut cells =
            vec![Cell::plain(format!("  {}", clean(algorithm))), Cell::plain(clip(library, 26))];
        let number = |m: &Option<&Measurement>| m.and_then(speed).unwrap_or_else(|| "–".to_owned());
        cells.extend(row.cells.iter().map(|m| Cell::number(number(m), style)));
        let limit = row.cells.last().copied().flatten().and_then(|m| m.limit_fraction);
        let limit = limit.map(|fraction| format!("{} %", percent(fraction)));
        cells.push(Cell::new(limit.unwrap_or_default(), ASIDE));
        cells.push(if place == 0 { standing(family.system) } else { Cell::plain("") });
        cells
    }

    /// What a newer OpenSSL would change.
    fn newer(&self) -> String {
        let Some((newer, system)) = self.answer.newer.as_ref().zip(self.answer.system) else {
            return String::new();
        };
        let (new, own) = (self.libraries.label(newer.library), self.libraries.label(system));
        let (ratio, tally) = (newer.ratio.estimate, newer.tally);
        let text = format!(
            "Your {own}: {new} takes {ratio:.2} of its time over {} cases: {} faster, {} slower.",
            tally.cases(),
            tally.faster,
            tally.slower
        );
        format!("\n{}", self.line(&text, PLAIN))
    }

    /// What was refused, what failed, and what does without the CPU's AES instructions.
    fn avoid(&self, selection: &[&Measurement]) -> String {
        let mut found: BTreeMap<(State, &str), (usize, &Measurement)> = BTreeMap::new();
        for m in
            selection.iter().copied().filter(|m| matches!(m.state, State::Refused | State::Failed))
        {
            found.entry((m.state, self.libraries.label(&m.library))).or_insert((0, m)).0 += 1;
        }
        let mut lines: Vec<String> = found
            .into_iter()
            .map(|((state, library), (cases, m))| {
                let reason = clean(m.reason.as_deref().unwrap_or_default());
                let of = if cases == 1 { clean(&m.algorithm) } else { format!("{cases} cases") };
                format!("  {library}   {of} {}: {reason}", shout(state))
            })
            .collect();
        let names: Vec<String> = without_aes(self.record, selection).into_iter().collect();
        if !names.is_empty() {
            lines.push(format!("  {}   AES without this CPU's AES instructions", names.join(", ")));
        }
        if lines.is_empty() {
            return String::new();
        }
        let more = lines.len().saturating_sub(WARNINGS);
        lines.truncate(WARNINGS);
        let heading = match more {
            0 => "Do not use".to_owned(),
            more => format!("Do not use (and {more} more: ciphermark show)"),
        };
        let lines = lines.iter().map(|line| self.line(line, CAUTION));
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

fn standing(standing: SystemStanding) -> Cell {
    match standing {
        SystemStanding::Unknown => Cell::plain(""),
        SystemStanding::NotOffered => Cell::new("not offered", ASIDE),
        SystemStanding::Refused => Cell::new("REFUSED", ALARM),
        SystemStanding::Best => Cell::new("as fast", BEST),
        SystemStanding::Slower(factor, mb_per_s) => {
            let digits = if factor < 1.1 { 2 } else { 1 };
            Cell::plain(format!("{mb_per_s:.0}, {factor:.digits$}× the time"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use text::width;

    const PLAIN_100: Options = Options { width: 100, color: false };

    fn published() -> Record {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../records/published-2026-11-23-gnr.json.gz"
        );
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

    #[test]
    fn a_small_record_fills_no_screen_and_one_without_an_answer_has_none() {
        let screen = first_screen(&sample::record(), None, PLAIN_100).unwrap();
        assert!(screen.lines().count() < LINES / 2, "{screen}");
        assert!(screen.contains("run with --all"), "{screen}");
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
