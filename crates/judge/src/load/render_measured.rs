//! What was measured over the loopback, calibrations and validations: as a table, JSON, CSV or Markdown.

use crate::load::calibration::{Calibration, Point};
use crate::load::grid::{Grid, digits, percent, range};
use crate::load::groups::Picked;
use crate::load::page::{Page, rendered};
use crate::load::validation::{
    Judgement, MEDIAN_TOLERANCE, PASSING_SHARE, Summary, ValidatedPart, ValidatedRow, Validation,
};
use crate::load::words::{Unit, Work};
use base::text::Options;
use record::State;
use record::tls::Format;

/// Renders a calibration.
#[must_use]
pub fn render_calibration(calibration: &Calibration, format: Format, options: Options) -> String {
    let page = |calibration: &Calibration| {
        let mut foot = about(calibration);
        foot.extend(calibration.picked.iter().map(picked));
        foot.extend(reasons(calibration.points.iter().map(|p| (name_of(p), p.state, &p.reason))));
        let grids = vec![(String::new(), points(calibration))];
        Page { grids, foot, has_paragraphs: true, ..Page::default() }
    };
    rendered(calibration, format, options, page, |calibration| points(calibration).csv())
}

/// Renders a validation.
#[must_use]
pub fn render_validation(validation: &Validation, format: Format, options: Options) -> String {
    let page = |validation: &Validation| {
        let grid = |part: &ValidatedPart| (part.name.clone(), rows(std::slice::from_ref(part)));
        let grids = validation.parts.iter().map(grid).collect();
        Page { grids, foot: foot(validation), has_paragraphs: true, ..Page::default() }
    };
    let csv = |validation: &Validation| rows(&validation.parts).csv();
    rendered(validation, format, options, page, csv)
}

fn points(calibration: &Calibration) -> Grid {
    let row = |point: &Point| {
        let counted = match point.unit {
            Unit::Connection => point.counted.connections,
            Unit::Request => point.counted.requests,
        };
        let seen = crate::load::validation::of_rounds(&point.rounds_cpu_us);
        let figure = point.median_us().map_or_else(|| point.state.name().to_owned(), digits);
        [
            point.role.to_string(),
            point.regime.to_string(),
            point.unit.to_string(),
            served(point),
            figure,
            seen.map_or_else(String::new, range),
            counted.to_string(),
        ]
    };
    let headings = "server | load | what | of | >µs | >rounds | >counted";
    Grid::new(headings, calibration.points.iter().map(row))
}

fn name_of(point: &Point) -> String {
    format!("{} {} at {} load, {}", point.role, point.unit, point.regime, served(point))
}

/// What was served, with what is not usual.
fn served(point: &Point) -> String {
    let of = &point.served;
    let mut words = match of.work {
        Work::Plain => Vec::new(),
        Work::Handshake { case, .. } => vec![case.to_string()],
        Work::RefusedHello => vec!["refused".to_owned()],
        Work::Abandoned { case } => vec![format!("{case}, abandoned")],
    };
    if let Work::Handshake { tickets: Some(tickets), .. } = of.work {
        words.push(format!("{tickets} tickets"));
    }
    words.push(format!("HTTP/{}", of.http));
    words.push(format!("{} B", of.response_bytes));
    if of.sendfile {
        words.push("sendfile".to_owned());
    }
    if let Some(record) = of.record_bytes.filter(|record| *record != 16_384) {
        words.push(format!("records of {record} B"));
    }
    if !of.aes_hardware {
        words.push("no AES hardware".to_owned());
    }
    words.join(", ")
}

fn rows(parts: &[ValidatedPart]) -> Grid {
    let row = |row: &ValidatedRow| {
        let share = row.counted.resumed as f64 / row.counted.connections.max(1) as f64;
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        [
            row.name.clone(),
            row.regime.to_string(),
            or_none(row.measured_cpu_us.map(|m| digits(m.value))),
            or_none(row.noise.map(percent)),
            or_none(row.predicted_cpu_us.map(|p| digits(p.value))),
            or_none(row.predicted_noise.map(percent)),
            or_none(row.error.map(signed)),
            percent(share),
            row.verdict.to_string(),
        ]
    };
    let headings =
        "point | load | >measured µs | >± | >predicted µs | >±  | >error | >resumed | verdict";
    Grid::new(headings, parts.iter().flat_map(|part| &part.rows).map(row))
}

fn signed(error: f64) -> String {
    format!("{:+.1} %", error * 100.0)
}

fn foot(validation: &Validation) -> Vec<String> {
    let Summary { passed, failed, inconclusive, calibration, apart, none, .. } = validation.summary;
    let summary = &validation.summary;
    let beyond = summary.inconclusive_beyond;
    let mut lines = vec![format!(
        "{passed} points within ±{:.0} %, {failed} beyond; {inconclusive} inconclusive (noisier than that; {beyond} of them \
         beyond); not counted: {calibration} calibrated with, {apart} with larger responses, {none} without a figure",
        validation.tolerance * 100.0
    )];
    if let (Some(error), Some(sign), Some(worst)) =
        (summary.median_error, summary.median_signed_error, summary.worst_error)
    {
        let share = percent(summary.passing_share.unwrap_or(0.0));
        let within = percent(summary.within_share.unwrap_or(0.0));
        let verdict = if summary.holds() == Some(true) {
            "the model holds"
        } else {
            "the model does not hold"
        };
        lines.push(format!(
            "{share} of the conclusive pass, {within} of all are within the tolerance ({:.0} % must, of both); median \
             error of all {} ({:.0} % is allowed), with signs {}, worst {}: {verdict}",
            PASSING_SHARE * 100.0,
            percent(error),
            MEDIAN_TOLERANCE * 100.0,
            signed(sign),
            signed(worst),
        ));
    }
    if let Some(part) = validation.parts.last() {
        lines.extend(about(&part.calibration));
    }
    let all = || validation.parts.iter().flat_map(|part| &part.rows);
    let name = |row: &ValidatedRow| format!("{} at {} load", row.name, row.regime);
    lines.extend(reasons(all().map(|row| (name(row), row.state, &row.reason))));
    let stalled = all().filter(|row| row.stalls > 0);
    lines.extend(
        stalled.map(|row| format!("{}: {} requests took 30 ms or longer", name(row), row.stalls)),
    );
    let unpriced =
        all().filter(|row| row.verdict == Judgement::None && row.state == State::Measured);
    lines.extend(unpriced.filter_map(|row| {
        row.reason.as_ref().map(|why| format!("{}: not predicted: {why}", name(row)))
    }));
    lines
}

fn about(calibration: &Calibration) -> Vec<String> {
    let server = calibration.server.as_ref().map_or_else(
        || "no real server".to_owned(),
        |s| {
            format!(
                "{} {} with {}",
                s.name,
                s.version,
                s.tls_library.as_deref().unwrap_or("its own TLS")
            )
        },
    );
    let clock = calibration.core_ghz.map(|ghz| format!(" at a core clock of {ghz:.2} GHz"));
    let share =
        calibration.core_share.map(|share| format!(" and {:.0} % of the core", 100.0 * share));
    vec![
        format!(
            "{server}; servers on CPU {}, client on CPU {}; {}{}{}, {}",
            calibration.server_cpu,
            calibration.client_cpu,
            calibration.host.cpu.name,
            clock.unwrap_or_default(),
            share.unwrap_or_default(),
            calibration.started
        ),
        calibration.span.clone(),
    ]
}

/// A group that the server picked, by the wire.
fn picked(picked: &Picked) -> String {
    let Picked { offered, group, hello_retry, reason } = picked;
    match group {
        Some(group) => {
            let again = if *hello_retry { ", for which it asks the client again" } else { "" };
            format!("offered {offered}, the server picks {group}{again}")
        }
        None => format!("offered {offered}: {}", reason.as_deref().unwrap_or("no connection")),
    }
}

/// Why not, once for each reason.
fn reasons<'a>(of: impl Iterator<Item = (String, State, &'a Option<String>)>) -> Vec<String> {
    let mut told: Vec<(String, String, usize)> = Vec::new();
    for (name, state, reason) in of.filter(|(_, state, _)| *state != State::Measured) {
        let why = format!("{}: {}", state.name(), reason.as_deref().unwrap_or("no reason is told"));
        match told.iter_mut().find(|(known, ..)| *known == why) {
            Some((.., more)) => *more += 1,
            None => told.push((why, name, 0)),
        }
    }
    let line = |(why, name, more): (String, String, usize)| match more {
        0 => format!("{name}: {why}"),
        more => format!("{name} and {more} more: {why}"),
    };
    told.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::validation::{TOLERANCE, VALIDATION_VERSION};

    fn validation() -> Validation {
        Validation {
            format_version: VALIDATION_VERSION.to_owned(),
            kind: "tls-validation".to_owned(),
            tolerance: TOLERANCE,
            parts: Vec::new(),
            summary: Summary {
                passed: 9,
                failed: 1,
                inconclusive: 2,
                passing_share: Some(0.9),
                median_error: Some(0.05),
                median_signed_error: Some(-0.04),
                worst_error: Some(-0.2),
                ..Summary::default()
            },
        }
    }

    const WIDE: Options = Options { width: 200, color: false };

    #[test]
    fn the_verdict_stands_below_with_what_did_not_count() {
        let text = render_validation(&validation(), Format::Table, WIDE);
        assert!(text.contains("9 points within ±15 %, 1 beyond; 2 inconclusive"), "{text}");
        assert!(text.contains("with signs -4.0 %, worst -20.0 %: the model holds"), "{text}");
        let holds = |change: fn(&mut Summary)| {
            let mut other = validation();
            change(&mut other.summary);
            !render_validation(&other, Format::Table, WIDE).contains("does not hold")
        };
        assert!(!holds(|s| s.median_error = Some(0.09)));
        assert!(holds(|s| s.within_share = Some(0.9)));
        // Noise hides no errors: two in three of these are within the tolerance.
        assert!(!holds(|s| s.within_share = Some(0.66)));
    }

    #[test]
    fn a_calibration_is_a_row_for_each_point_in_every_format() {
        let mut calibration = crate::load::sample::calibration();
        let rows = calibration.points.len();
        calibration.points[rows - 1].state = State::Unsupported;
        calibration.points[rows - 1].reason = Some("not offered".to_owned());
        let lines = |format| render_calibration(&calibration, format, WIDE).lines().count();
        assert_eq!(lines(Format::Csv), rows + 1);
        assert!(lines(Format::Table) > rows && lines(Format::Markdown) > rows);
        let text = render_calibration(&calibration, Format::Table, WIDE);
        assert!(text.contains("1.3 x25519 p256 full") && text.contains("not offered"), "{text}");
    }
}
