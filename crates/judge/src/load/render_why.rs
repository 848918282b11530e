//! An answer of `tls why` as a table, JSON, CSV or Markdown.

use crate::load::grid::{Grid, digits, percent, range};
use crate::load::logs::Evidence;
use crate::load::page::{Page, rendered};
use crate::load::render::capital;
use crate::load::why::{Amount, Explained, Rate, Why};
use base::text::Options;
use record::tls::Format;

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
    let row = |change: &Explained| {
        let rise = change.rise_cpu_us_per_s;
        [
            change.change.clone(),
            digits(rise.value),
            range(rise),
            percent(change.share),
            change.verdict.to_string(),
            change.decided_by.join(", "),
        ]
    };
    let headings = "change | >makes µs/s | >range | >of the rise | verdict | decided by";
    Grid::new(headings, why.changes.iter().map(row))
}

fn rates(why: &Why) -> Grid {
    let row = |rate: &Rate| {
        [
            rate.what.clone(),
            digits(rate.each_cpu_us.value),
            rate.needed_per_s.map(|n| per_second(rate, n)).unwrap_or_default(),
            rate.needed_per_s.map(|n| per_day(rate, n.value)).unwrap_or_default(),
            format!("{}: {}", rate.verdict, rate.reason),
            rate.decided_by.join(", "),
        ]
    };
    let headings = "alone | >µs each | >needed a second | >a day | verdict | decided by";
    Grid::new(headings, why.rates.iter().map(row))
}

fn per_second(rate: &Rate, needed: crate::load::Interval) -> String {
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
    let row = |one: &Evidence| [one.look_at.clone(), one.tells.clone()];
    Grid::new("look at | it tells", why.evidence.iter().map(row))
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

fn csv(why: &Why) -> String {
    let none = String::new;
    let rate = |rate: &Rate| {
        let (each, needed) = (rate.each_cpu_us.value, rate.needed_per_s);
        let needed = needed.map(|n| n.value.to_string()).unwrap_or_default();
        let (what, verdict) = (rate.what.clone(), rate.verdict.to_string());
        let decided_by = rate.decided_by.join(" ");
        let (counted, each) = (rate.counted.to_string(), each.to_string());
        ["rate".to_owned(), what, counted, each, needed, none(), none(), verdict, decided_by]
    };
    let change = |change: &Explained| {
        let (rise, share) = (change.rise_cpu_us_per_s.value.to_string(), change.share.to_string());
        let (what, verdict) = (change.change.clone(), change.verdict.to_string());
        let decided_by = change.decided_by.join(" ");
        ["change".to_owned(), what, none(), none(), none(), rise, share, verdict, decided_by]
    };
    let headings = "kind | what | counted | each_cpu_us | needed_per_s | rise_cpu_us_per_s | share | verdict | \
        decided_by";
    let rows = why.rates.iter().map(rate).chain(why.changes.iter().map(change));
    Grid::new(headings, rows).csv()
}
