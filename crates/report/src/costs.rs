//! What a record says of costs beyond the bytes: fitted lines, key set-up, latencies, threads.

use crate::digits;
use crate::labels::{self, Libraries, part};
use crate::survey::Common;
use crate::tax;
use base::model::{Direction, Model};
use base::text::{CAUTION, HEADING, Options, PLAIN, clean, paint};
use record::{Call, Fit, LibraryId, Measurement, Record, Rekeying, State};
use std::collections::BTreeMap;

/// Cases that differ in their size only.
type Series<'a> = (Common, &'a LibraryId, &'a str, Direction);

/// A paragraph for each series of measured cases of a selection.
#[must_use]
pub fn costs(record: &Record, selection: &[&Measurement], options: Options) -> String {
    let libraries = Libraries::of(selection);
    let mut found: BTreeMap<Series<'_>, BTreeMap<usize, &Measurement>> = BTreeMap::new();
    for m in selection.iter().filter(|m| m.state == State::Measured) {
        let series = (Common::of(m), &m.library, m.algorithm.as_str(), m.direction);
        found.entry(series).or_default().insert(m.size, m);
    }
    let mut out = String::new();
    for ((common, library, algorithm, direction), cells) in found {
        let name = libraries.label(library);
        let head = format!("{name} {} {direction}, {}", clean(algorithm), common.words());
        out += &format!("{}\n", paint(&head, HEADING, options.color));
        let any = cells.values().next().copied();
        let fit = any.and_then(|m| record.fits.iter().find(|fit| is_of(fit, m)));
        out += &part("line", &fit.map_or_else(|| no_line(cells.len()), line), PLAIN, options);
        if let (Some(fit), Some(runtime)) = (fit, any.and_then(|m| runtime(record, m))) {
            for text in tax::over(record, fit, runtime) {
                out += &part("tax", &text, PLAIN, options);
            }
        }
        if fit.is_some_and(|fit| !fit.linear) {
            let text = "the times do not lie on a line: neither number describes any size well";
            out += &part("", text, CAUTION, options);
        }
        if let Some(call) =
            any.and_then(|m| call(record, m)).filter(|_| common.model == Model::Rekey)
        {
            out += &part("new key", &rekeying(call), PLAIN, options);
        }
        for m in cells.values() {
            for (what, text) in [
                ("settling", settling(m)),
                (
                    "kinds",
                    m.kinds_in_words().map(|kinds| format!("{}: {kinds}", labels::size(m.size))),
                ),
                ("key set-up", key(m)),
                ("latency", latency(m)),
                ("threads", threads(m)),
            ] {
                out += &text.map_or_else(String::new, |text| part(what, &text, PLAIN, options));
            }
        }
        out.push('\n');
    }
    out
}

/// The language's runtime that the measurement is of.
fn runtime<'a>(record: &'a Record, m: &Measurement) -> Option<&'a record::Library> {
    let own = record.libraries.iter().find(|l| l.identity() == m.library)?;
    base::model::runtime_name(std::path::Path::new(&own.path)).map(|_| own)
}

/// Whether the line goes through the measurement.
#[must_use]
pub fn is_of(fit: &Fit, m: &Measurement) -> bool {
    let of_fit = (&fit.library, &fit.algorithm, fit.direction, fit.model, fit.tier);
    of_fit == (&m.library, &m.algorithm, m.direction, m.model, m.tier)
        && (fit.threads, fit.footprint, fit.in_place) == (m.threads, m.footprint, m.in_place)
}

fn call<'a>(record: &'a Record, m: &Measurement) -> Option<&'a Call> {
    let own = record.libraries.iter().find(|l| l.identity() == m.library)?;
    own.calls.iter().find(|c| (&c.algorithm, c.direction) == (&m.algorithm, m.direction))
}

/// When a new process has come to its speed, and what its first operation costs.
fn settling(m: &Measurement) -> Option<String> {
    let (settled, ns) = (m.settled?, m.ns_per_op?);
    let raised =
        if settled.raised { ", as processes that ran it for longer have shown" } else { "" };
    Some(format!(
        "{}: settles after {}{raised}; the first operation costs {}, the settled one {}",
        labels::size(m.size),
        time(f64::from(settled.us) * 1e3),
        time(settled.first_ns),
        time(ns.median),
    ))
}

/// Nanoseconds with three digits, in the unit that fits.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ..1e3 => (ns, "ns"),
        ..1e6 => (ns / 1e3, "µs"),
        _ => (ns / 1e6, "ms"),
    };
    format!("{} {unit}", digits::supported(value, None))
}

fn no_line(sizes: usize) -> String {
    format!("not fitted: {sizes} sizes, and a line takes three")
}

/// `96.1 ns + 0.125 ns/B (355 + 0.462 cycles), residual 3.1 %, half speed at 769 B, 16 B to 64 KiB`
fn line(fit: &Fit) -> String {
    let number = |value| digits::supported(value, None);
    let sign = |value: f64| if value < 0.0 { "-" } else { "" };
    let signed = |value: f64| format!("{}{}", sign(value), number(value.abs()));
    let mut text = format!("{} ns + {} ns/B", signed(fit.ns_per_message), signed(fit.ns_per_byte));
    if let Some((message, byte)) = fit.cycles_per_message.zip(fit.cycles_per_byte) {
        text += &format!(" ({} + {} cycles)", signed(message), signed(byte));
    }
    text += &format!(", largest residual {:.1} %", fit.residual * 100.0);
    if let Some(bytes) = fit.half_speed_bytes {
        text += &format!(", half speed at {bytes:.0} B");
    }
    if let (Some(first), Some(last)) = (fit.sizes.first(), fit.sizes.last()) {
        text += &format!(", sizes {} to {}", labels::size(*first), labels::size(*last));
    }
    text
}

fn rekeying(call: &Call) -> String {
    let functions = call.rekey_functions.as_deref();
    match call.rekeying {
        Some(Rekeying::Reused) => {
            let what = functions.unwrap_or("the adapter does not tell its functions");
            format!("the library's context is used again: {what}")
        }
        _ => "opened anew for each message and closed after it".to_owned(),
    }
}

fn key(m: &Measurement) -> Option<String> {
    let setup = m.key_setup?;
    let cycles = setup.cycles.map(|c| format!(" ({c:.0} cycles)")).unwrap_or_default();
    Some(format!("{}: {:.1} ns{cycles}, model rekey less message", labels::size(m.size), setup.ns))
}

fn latency(m: &Measurement) -> Option<String> {
    let l = m.latency_ns.as_ref()?;
    let tail = |name, value: Option<f64>| {
        value.map(|ns| format!(", {name} {ns:.0} ns")).unwrap_or_default()
    };
    Some(format!(
        "{}: p50 {:.0} ns{}{}, {} operations in steps of {:.0} ns",
        labels::size(m.size),
        l.p50,
        tail("p99", l.p99),
        tail("p99.9", l.p99_9),
        l.operations,
        l.resolution_ns
    ))
}

fn threads(m: &Measurement) -> Option<String> {
    let all = m.mb_per_s.filter(|_| !m.per_thread.is_empty())?;
    let each = m.per_thread.iter().map(|t| {
        let speed = t.mb_per_s.map(|s| digits::supported(s, None)).unwrap_or_default();
        format!("CPU {} {speed}", t.cpu)
    });
    let each: Vec<String> = each.collect();
    let total = digits::supported(all, m.ns_per_op.as_ref());
    Some(format!("{}: {total} MB/s together; {}", labels::size(m.size), each.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use record::{KeySetup, Latency, ThreadShare};

    fn with_costs() -> Record {
        let mut record = sample::record();
        let m = record.measurements.iter_mut().find(|m| m.state == State::Measured).unwrap();
        m.key_setup = Some(KeySetup { ns: 2010.25, cycles: Some(7400.4) });
        m.latency_ns = Some(Latency {
            p50: 101.3,
            p99: Some(171.4),
            p99_9: None,
            operations: 600,
            disturbed: 1,
            resolution_ns: 10.0,
            ticks: Vec::new(),
        });
        m.per_thread = vec![ThreadShare {
            cpu: 1,
            ns_per_op: 100.0,
            cycles_per_op: None,
            mb_per_s: Some(81.25),
        }];
        let fit = Fit {
            library: m.library.clone(),
            algorithm: m.algorithm.clone(),
            direction: m.direction,
            model: m.model,
            tier: m.tier,
            threads: m.threads,
            footprint: m.footprint,
            in_place: m.in_place,
            sizes: vec![16, 256, 8192],
            ns_per_message: 96.125,
            ns_per_byte: 0.125,
            cycles_per_message: Some(355.0),
            cycles_per_byte: Some(0.4625),
            residual: 0.031,
            half_speed_bytes: Some(769.0),
            linear: true,
        };
        record.fits = vec![fit];
        record
    }

    fn shown(record: &Record) -> String {
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        costs(record, &rows, Options { width: 200, color: false })
    }

    #[test]
    fn each_cost_stands_in_its_series() {
        let text = shown(&with_costs());
        for expected in [
            "96.1 ns + 0.125 ns/B (355 + 0.463 cycles), largest residual 3.1 %, half speed at 769 B, sizes 16 to 8K",
            "2010.2 ns (7400 cycles), model rekey less message",
            "p50 101 ns, p99 171 ns, 600 operations in steps of 10 ns",
            "CPU 1 81.2",
            "not fitted",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("do not lie on a line"));
    }

    #[test]
    fn a_line_that_does_not_fit_says_so() {
        let mut record = with_costs();
        record.fits[0].linear = false;
        record.fits[0].ns_per_message = -3.0;
        let text = shown(&record);
        assert!(text.contains("do not lie on a line") && text.contains("-3.00 ns + "), "{text}");
    }
}
