//! An answer of `tls why` as a table, JSON, CSV or Markdown.

use crate::grid::{Grid, digits, percent, range};
use crate::page::{Page, rendered};
use crate::render::capital;
use crate::why::{Amount, Rate, Why};
use text::{Options, clean};
use tls::Format;

/// Renders an answer.
#[must_use]
pub fn render_why(why: &Why, format: Format, options: Options) -> String {
    rendered(why, format, options, page, csv)
}

fn page(why: &Why) -> Page {
    let rise = why.rise_percent;
    let headline = format!(
        "A rise of {} % of a core ({}): {} µs of CPU a second",
        digits(rise.value),
        range(rise),
        digits(why.rise_cpu_us_per_s.value)
    );
    let head = vec![headline, format!("{}.", capital(&why.verdict))];
    let grids = Page::filled([changes(why), rates(why), evidence(why)]);
    Page { head, grids, foot: foot(why), ..Page::default() }
}

fn changes(why: &Why) -> Grid {
    let mut grid = Grid::new(&[
        ("change", false),
        ("makes µs/s", true),
        ("range", true),
        ("of the rise", true),
        ("verdict", false),
        ("decided by", false),
    ]);
    for change in &why.changes {
        let rise = change.rise_cpu_us_per_s;
        grid.row([
            change.change.clone(),
            digits(rise.value),
            range(rise),
            percent(change.share),
            change.verdict.to_string(),
            change.decided_by.join(", "),
        ]);
    }
    grid
}

fn rates(why: &Why) -> Grid {
    let mut grid = Grid::new(&[
        ("alone", false),
        ("µs each", true),
        ("needed a second", true),
        ("a day", true),
        ("verdict", false),
        ("decided by", false),
    ]);
    for rate in &why.rates {
        let needed = rate.needed_per_s.map(|n| per_second(rate, n)).unwrap_or_default();
        grid.row([
            rate.what.clone(),
            digits(rate.each_cpu_us.value),
            needed,
            rate.needed_per_s.map(|n| per_day(rate, n.value)).unwrap_or_default(),
            format!("{}: {}", rate.verdict, rate.reason),
            rate.decided_by.join(", "),
        ]);
    }
    grid
}

fn per_second(rate: &Rate, needed: crate::Interval) -> String {
    match rate.counted {
        Amount::Bytes => format!("{} Mbit", range(needed.times(8e-6))),
        _ => range(needed),
    }
}

fn per_day(rate: &Rate, needed: f64) -> String {
    let day = needed * 86_400.0;
    match rate.counted {
        Amount::Bytes => format!("{} GB", digits(day / 1e9)),
        _ => digits(day),
    }
}

fn evidence(why: &Why) -> Grid {
    let mut grid = Grid::new(&[("look at", false), ("it tells", false)]);
    for one in &why.evidence {
        grid.row([one.look_at.clone(), one.tells.clone()]);
    }
    grid
}

fn foot(why: &Why) -> Vec<String> {
    let mut lines: Vec<String> = why.remarks.iter().map(|r| format!("{}.", capital(r))).collect();
    let of = &why.calibrated;
    let server = of.server.as_deref().unwrap_or("a minimal server, no real one");
    let slower = match why.slower {
        s if s.low == 1.0 && s.high == 1.0 => String::new(),
        s => format!(", times {} for the observed core", range(s)),
    };
    lines.push(format!(
        "Costs at {} load, calibrated {} with {server} and {} on {}{slower}.",
        why.regime, of.started, of.stack, of.cpu
    ));
    lines
}

const COLUMNS: [&str; 9] = [
    "kind",
    "what",
    "counted",
    "each_cpu_us",
    "needed_per_s",
    "rise_cpu_us_per_s",
    "share",
    "verdict",
    "decided_by",
];

fn csv(why: &Why) -> String {
    let rates = why.rates.iter().map(|rate| {
        [
            "rate".to_owned(),
            clean(&rate.what),
            rate.counted.to_string(),
            rate.each_cpu_us.value.to_string(),
            rate.needed_per_s.map(|n| n.value.to_string()).unwrap_or_default(),
            String::new(),
            String::new(),
            rate.verdict.to_string(),
            rate.decided_by.join(" "),
        ]
    });
    let changes = why.changes.iter().map(|change| {
        [
            "change".to_owned(),
            clean(&change.change),
            String::new(),
            String::new(),
            String::new(),
            change.rise_cpu_us_per_s.value.to_string(),
            change.share.to_string(),
            change.verdict.to_string(),
            change.decided_by.join(" "),
        ]
    });
    text::csv(&COLUMNS, rates.chain(changes))
}
