//! What changes would save a watched program, on one screen: how near the measured messages are to the program's, and the
//! changes, those that save most first.

use crate::calls::{percent, time};
use crate::screen::Screen;
use base::analysis::Estimate;
use base::text::{ASIDE, Cell, Column, HEADING, Options, PLAIN, clean, grouped};
use judge::calls::FaultKind;
use judge::calls::predict::{Change, Measured, Messages, Prediction, Ratio, What};
use record::LeakVerdict;

const MOST_ROWS: usize = 6;
const MOST_CHANGES: usize = 12;
/// Part of the CPU time below which a change is not worth a line.
const LEAST: f64 = 0.0005;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PredictionAsked {
    /// Any change that saves something.
    Changes,
    /// Every build in the place of the one that was used.
    Libraries,
    /// These builds, kind by kind of messages.
    Kinds,
}

/// The screen, of the changes that `shows` takes.
pub fn prediction(
    prediction: &Prediction,
    asked: PredictionAsked,
    shows: &dyn Fn(&Change) -> bool,
    options: Options,
) -> String {
    let screen = Screen::of(options);
    // Calls that waited for a CPU took longer than that.
    let cpu = prediction.cpu_seconds.max(prediction.call_seconds).max(f64::MIN_POSITIVE);
    let mut text = screen.line(&headline(prediction, cpu), HEADING);
    if !prediction.rows.is_empty() {
        text += &rows(prediction, cpu, screen);
    }
    for line in left_out(prediction, cpu) {
        text += &screen.sentence(&line);
    }
    text.push('\n');
    let all: Vec<&Change> = prediction.changes.iter().filter(|change| shows(change)).collect();
    let is_worth = |change: &&&Change| {
        asked != PredictionAsked::Changes || change.saved_seconds.median / cpu >= LEAST
    };
    let shown: Vec<&Change> = all.iter().filter(is_worth).take(MOST_CHANGES).copied().collect();
    text += &match (shown.is_empty(), prediction.rows.is_empty()) {
        (false, _) => changes(&shown, cpu, screen),
        (true, false) => screen.line("No change that was measured saves anything.", PLAIN),
        (true, true) => screen.line("No message of the program was measured.", PLAIN),
    };
    if all.len() > shown.len() {
        let more = all.len() - shown.len();
        text +=
            &screen.line(&format!("{more} other changes save less: --format json has them"), ASIDE);
    }
    if asked == PredictionAsked::Kinds {
        for change in &shown {
            text += &kinds(change, prediction, screen);
        }
    }
    text + &notes(prediction, &shown).iter().map(|note| screen.sentence(note)).collect::<String>()
}

fn headline(prediction: &Prediction, cpu: f64) -> String {
    format!(
        "{}: {:.3} s CPU, {} in crypto calls ({} operations)",
        clean(&prediction.programs.join(", ")),
        prediction.cpu_seconds,
        percent(prediction.call_seconds / cpu),
        grouped(prediction.operations)
    )
}

fn rows(prediction: &Prediction, cpu: f64, screen: Screen) -> String {
    let way = |m: &Messages| {
        let key = if m.rekeys { " +key" } else { "" };
        let from = if m.footprint.is_hot() { "" } else { " from memory" };
        format!("{}{key}{from}", m.direction)
    };
    let ratio = |row: &Measured| row.messages.in_situ_ns / row.between_ns.median;
    let hot = |row: &Measured| row.hot_ns.map_or_else(String::new, |hot| time(hot.median));
    screen.plain(
        shown_rows(prediction),
        &[
            (Column::right("of CPU"), &|row| Cell::plain(percent(row.messages.seconds / cpu))),
            (Column::left("algorithm"), &|row| Cell::plain(row.messages.algorithm.to_owned())),
            (Column::left(""), &|row| Cell::plain(way(&row.messages))),
            (Column::right("bytes"), &|row| Cell::plain(row.messages.size.to_string())),
            (Column::right("count").goes(1), &|row| Cell::plain(grouped(row.messages.count))),
            (Column::right("in the program"), &|row| Cell::plain(time(row.messages.in_situ_ns))),
            (Column::right("after work"), &|row| Cell::plain(time(row.between_ns.median))),
            (Column::right("÷"), &|row| Cell::plain(format!("{:.2}", ratio(row)))),
            (Column::right("in a loop").goes(2), &|row| Cell::new(hot(row), ASIDE)),
        ],
    )
}

/// The first rows, but for those that are worth no line.
fn shown_rows(prediction: &Prediction) -> impl Iterator<Item = &Measured> {
    let least = LEAST * prediction.cpu_seconds;
    prediction.rows.iter().filter(move |row| row.messages.seconds >= least).take(MOST_ROWS)
}

/// What of the time in calls no row has, and why.
fn left_out(prediction: &Prediction, cpu: f64) -> Vec<String> {
    let more = prediction.rows.len() - shown_rows(prediction).count();
    let shown = (more > 0).then(|| format!("{more} kinds with less time were measured, too"));
    let line = |one: &judge::calls::predict::LeftOut| {
        let kinds = if one.kinds == 1 {
            "kind of calls".to_owned()
        } else {
            format!("{} kinds", one.kinds)
        };
        format!("not measured: {kinds}, {} of CPU, which {}", percent(one.seconds / cpu), one.why)
    };
    shown.into_iter().chain(prediction.left_out.iter().map(line)).collect()
}

fn changes(shown: &[&Change], cpu: f64, screen: Screen) -> String {
    let interval = |Estimate { low, high, .. }: Estimate| {
        format!("{:.1} to {:.1}", 100.0 * low / cpu, 100.0 * high / cpu)
    };
    let ratio = |change: &Change| match change.ratios.is_empty() {
        true => String::new(),
        false => format!("{:.2}", change.ratio().median),
    };
    screen.plain(
        shown.iter().copied(),
        &[
            (Column::right("saves of CPU"), &|c| {
                Cell::plain(percent(c.saved_seconds.median / cpu))
            }),
            (Column::right("95 %"), &|c| Cell::plain(interval(c.saved_seconds))),
            (Column::right("each call").goes(2), &|c| Cell::plain(each(c))),
            (Column::right("new ÷ old"), &|c| Cell::plain(ratio(c))),
            (Column::left("change"), &|c| Cell::plain(clean(&words(c)))),
        ],
    )
}

fn each(change: &Change) -> String {
    let count = change.calls.max(1) as f64;
    let ns = change.saved_seconds.median * 1e9 / count;
    if ns < 0.0 { format!("−{}", time(-ns)) } else { time(ns) }
}

fn words(change: &Change) -> String {
    let unmeasured = match change.unmeasured {
        0 => String::new(),
        1 => "; 1 kind was not measured there".to_owned(),
        n => format!("; {n} kinds were not measured there"),
    };
    let secrets = match change.secrets {
        LeakVerdict::SameTrace => "",
        LeakVerdict::NotJudged => " (secrets not judged)",
        LeakVerdict::MayDepend | LeakVerdict::Depends => " (may depend on the secret)",
    };
    let what = match &change.what {
        What::Library { from, to, drops_in } => {
            let place = if *drops_in { " (same file name)" } else { "" };
            format!("{} for {}{place}", to.label(), from.label())
        }
        What::Algorithm { from, to } => format!("{to} for {from}"),
        What::Repair { fault, at_most } => {
            let subject = &fault.subject;
            let what = match fault.kind {
                FaultKind::Fetch => format!("look {subject} up once"),
                FaultKind::Context => format!("keep one {subject}"),
                FaultKind::Key => format!("set a key of {subject} once, if it is the same"),
                FaultKind::Padding => "switch padding off once".to_owned(),
                _ => "ask for more random bytes at a time".to_owned(),
            };
            if *at_most { format!("{what}, at most") } else { what }
        }
    };
    format!("{what}{secrets}{unmeasured}")
}

fn kinds(change: &Change, prediction: &Prediction, screen: Screen) -> String {
    let of = |one: &Ratio| &prediction.rows[one.row].messages;
    let table = screen.plain(
        &change.ratios,
        &[
            (Column::left("algorithm"), &|one| Cell::plain(of(one).algorithm.to_owned())),
            (Column::left(""), &|one| Cell::plain(of(one).direction.to_string())),
            (Column::right("bytes"), &|one| Cell::plain(of(one).size.to_string())),
            (Column::right("in the program"), &|one| Cell::plain(time(of(one).in_situ_ns))),
            (Column::right("then"), &|one| {
                Cell::plain(time(of(one).in_situ_ns * one.ratio.median))
            }),
            (Column::right("new ÷ old"), &|one| Cell::plain(format!("{:.2}", one.ratio.median))),
            (Column::right("95 %"), &|one| {
                Cell::plain(format!("{:.2} to {:.2}", one.ratio.low, one.ratio.high))
            }),
        ],
    );
    format!("\n{}{table}", screen.line(&clean(&words(change)), HEADING))
}

fn notes(prediction: &Prediction, shown: &[&Change]) -> Vec<String> {
    let mut notes = Vec::new();
    let is_unsure =
        |change: &&&Change| change.saved_seconds.low <= 0.0 && change.saved_seconds.high >= 0.0;
    let unsure = shown.iter().filter(is_unsure).count();
    if unsure > 0 {
        notes.push(format!(
            "perhaps nothing saved: {unsure} of {} changes, whose intervals have 0 in them",
            shown.len()
        ));
    }
    if !prediction.unpriced.is_empty() {
        let seconds: f64 = prediction.unpriced.iter().map(|fault| fault.seconds).sum();
        notes.push(format!(
            "without a price: {} of the program's faults, with {} in their calls; `ciphermark watch` names them",
            prediction.unpriced.len(),
            time(seconds * 1e9)
        ));
    }
    let all: Vec<&Measured> = shown_rows(prediction).collect();
    let far = all.iter().filter(|row| is_far(row)).count();
    if far > 0 {
        notes.push(format!(
            "more than 10 % off what they take after other work: {far} of {} kinds; their ratio is that of messages as \
             cold as the program's (docs/WATCH.md)",
            all.len()
        ));
    }
    notes
}

fn is_far(row: &Measured) -> bool {
    let ratio = row.messages.in_situ_ns / row.between_ns.median;
    !(0.9..=1.1).contains(&ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::Direction;
    use judge::calls::Fault;
    use judge::calls::predict::{LeftOut, Messages, Ratio};
    use record::fixtures::library;

    fn example() -> Prediction {
        let of = |median: f64| Estimate { median, low: 0.9 * median, high: 1.1 * median };
        let messages = Messages {
            called: 0,
            algorithm: "aes-256-gcm",
            direction: Direction::Encrypt,
            size: 16_385,
            rekeys: false,
            footprint: base::model::Footprint::Hot,
            count: 6000,
            seconds: 0.06,
            in_situ_ns: 10_000.0,
        };
        let (from, to) =
            (library("openssl", "3.0", "3.0"), library("openssl\u{1b}[2J", "3.5", "3.5"));
        let row = Measured {
            messages,
            library: from.clone(),
            hot_ns: Some(of(5000.0)),
            between_ns: of(8000.0),
            coldness: 1.7,
        };
        let change = |what, saved, ratios: Vec<Ratio>| Change {
            what,
            saved_seconds: of(saved),
            seconds: 0.06,
            ratios,
            calls: 6000,
            unmeasured: 1,
            secrets: LeakVerdict::NotJudged,
        };
        let fault = Fault {
            kind: FaultKind::Fetch,
            subject: "aes-256-gcm".to_owned(),
            count: 6000,
            of: 6000,
            seconds: 0.01,
        };
        Prediction {
            programs: vec!["nginx".to_owned()],
            cpu_seconds: 1.0,
            call_seconds: 0.08,
            operations: 6010,
            rows: vec![row],
            left_out: vec![LeftOut { why: "are signatures", kinds: 3, seconds: 0.01 }],
            changes: vec![
                change(
                    What::Library { from, to, drops_in: true },
                    0.024,
                    vec![Ratio { row: 0, ratio: of(0.6) }],
                ),
                change(What::Repair { fault: fault.clone(), at_most: false }, 0.01, Vec::new()),
            ],
            unpriced: vec![fault],
        }
    }

    fn shown(asked: PredictionAsked) -> String {
        let text = prediction(&example(), asked, &|_| true, Options::default());
        assert!(!text.contains('\u{1b}'), "names of strangers steer no terminal");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_change_has_its_saving_with_an_interval_and_what_it_leaves_out() {
        let text = shown(PredictionAsked::Changes);
        for part in [
            "nginx: 1.000 s CPU, 8.0 % in crypto calls (6,010 operations)",
            "10.0 µs 8.00 µs 1.25 5.00 µs",
            "not measured: 3 kinds, 1.0 % of CPU, which are signatures",
            // What each call saves has no room here.
            "2.4 % 2.2 to 2.6 0.60",
            "look aes-256-gcm up once",
            "more than 10 % off what they take after other work: 1 of 1 kinds",
            "without a price: 1 of the program's faults, with 10.0 ms in their calls",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn a_change_that_may_save_nothing_is_said_to() {
        let mut example = example();
        example.changes[0].saved_seconds.low = -0.001;
        let text = prediction(&example, PredictionAsked::Changes, &|_| true, Options::default());
        assert!(text.contains("perhaps nothing saved: 1 of 2 changes"), "{text}");
        assert!(!shown(PredictionAsked::Changes).contains("perhaps nothing"));
    }

    #[test]
    fn a_comparison_goes_kind_by_kind() {
        let text = shown(PredictionAsked::Kinds);
        assert!(text.contains("(secrets not judged); 1 kind was not measured there"), "{text}");
        assert!(text.contains("10.0 µs 6.00 µs 0.60 0.54 to 0.66"), "{text}");
    }
}
