//! Every case, one array a field.

use super::names::Names;
use crate::page::text::rounded;
use base::model::Disturbance;
use record::{Estimate, Imported, Latency, Measurement, Stopped};
use serde::Serialize;

type Number = Option<f64>;

/// Declares the arrays, each with what a case puts into it.
macro_rules! columns {
    (
        $(#[$meta:meta])* $name:ident |$m:ident, $names:ident|
        $($(#[$doc:meta])* $field:ident: $type:ty = $value:expr;)*
    ) => {
        $(#[$meta])*
        #[derive(Default, Serialize)]
        pub(crate) struct $name {
            $($(#[$doc])* $field: Vec<$type>,)*
        }

        impl $name {
            pub(crate) fn push(&mut self, $m: &Measurement, $names: &mut Names) {
                $(self.$field.push($value);)*
            }
        }
    };
}

/// Why a case has no number, and what a reader must know of one that has.
fn said(m: &Measurement) -> Option<String> {
    let kinds = m.kinds_in_words().map(|kinds| format!("two kinds of processes: {kinds}"));
    let said: Vec<String> = m.reason.iter().cloned().chain(kinds).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

columns! {
    /// Entry `i` of each array belongs to case `i`; `null` is what the record does not know. Units are
    /// the record's.
    Columns |m, names|
    library: usize = names.library(&m.library);
    algorithm: usize = names.algorithms.number(&m.algorithm);
    direction: usize = names.directions.number(m.direction.name());
    model: usize = names.models.number(m.model.name());
    model_version: u32 = m.model_version;
    size: usize = m.size;
    tier: usize = names.tiers.number(m.tier.name());
    threads: u32 = m.threads;
    footprint: usize = names.footprints.number(m.footprint.name());
    in_place: u8 = m.in_place.into();
    state: &'static str = if m.is_left_out() { "left-out" } else { m.state.name() };
    reason: Option<usize> = said(m).map(|r| names.texts.number(&r));
    /// Where a figure comes from that was not measured here.
    imported: Option<usize> = m.imported.as_ref().map(|i| names.texts.number(&source(i)));
    /// The sign before its speed.
    mark: &'static str = crate::mark(m);
    warning: Option<usize> = m.warning.as_deref().map(|w| names.texts.number(w));
    ns: Number = of(m.ns_per_op, |e| e.median);
    ns_low: Number = of(m.ns_per_op, |e| e.low);
    ns_high: Number = of(m.ns_per_op, |e| e.high);
    cycles: Number = of(m.cycles_per_op, |e| e.median);
    cycles_low: Number = of(m.cycles_per_op, |e| e.low);
    cycles_high: Number = of(m.cycles_per_op, |e| e.high);
    /// Only where it is not size by time: several threads.
    mb_per_s: Number = m.mb_per_s.filter(|_| m.threads > 1).map(rounded);
    limit: Number = m.limit_fraction.map(rounded);
    limit_cycles: Number = m.limit_cycles_per_op.map(rounded);
    limited_by: Option<usize> = limited_by(m).map(|by| names.texts.number(&by));
    instructions_per_byte: Number = m.instructions_per_byte.map(rounded);
    instructions_per_message: Number = m.instructions_per_message.map(rounded);
    key_ns: Number = m.key_setup.map(|k| rounded(k.ns));
    p50: Number = latency(m, |l| Some(l.p50));
    p99: Number = latency(m, |l| l.p99);
    p99_9: Number = latency(m, |l| l.p99_9);
    precision: Number = m.precision.map(rounded);
    stopped: Option<usize> = m.stopped.map(|s| names.texts.number(stopped(s)));
    samples: u64 = m.samples;
    disturbed: Option<Vec<u64>> = disturbed(m);
    processes: u32 = m.processes;
    contended: u8 = m.contended.into();
    checks: Option<usize> = checks(m).map(|list| names.checks.number(&list));
    clock: usize = names.texts.number(&m.evidence.clock);
    cycles_from: usize = names.texts.number(&m.evidence.cycles);
    outputs_checked: u64 = m.evidence.outputs_checked;
    calls_succeeded: u64 = m.evidence.calls_succeeded;
}

fn source(from: &Imported) -> String {
    let machine = from.machine.as_ref().map(|m| format!(", on {m}")).unwrap_or_default();
    format!("{}{machine}", from.source)
}

fn of(estimate: Option<Estimate>, part: fn(Estimate) -> f64) -> Number {
    estimate.map(part).filter(|n| n.is_finite()).map(rounded)
}

fn limited_by(m: &Measurement) -> Option<String> {
    let by = m.limited_by?;
    Some(m.limit_basis.map_or_else(|| by.to_string(), |basis| format!("{by}, {basis}")))
}

fn latency(m: &Measurement, part: fn(&Latency) -> Number) -> Number {
    m.latency_ns.as_ref().and_then(part).map(rounded)
}

fn disturbed(m: &Measurement) -> Option<Vec<u64>> {
    let by_reason = Disturbance::ALL.map(|why| m.disturbed.of(why));
    let all = std::iter::once(m.samples_disturbed).chain(by_reason);
    (m.samples_disturbed > 0).then(|| all.collect())
}

fn checks(m: &Measurement) -> Option<String> {
    let list: Vec<String> = m.checks.iter().map(|c| format!("{} {}", c.name, c.count)).collect();
    (!list.is_empty()).then(|| list.join(", "))
}

fn stopped(why: Stopped) -> &'static str {
    match why {
        Stopped::Precision => "the asked precision was reached",
        Stopped::Screened => "a look at it showed that it takes too long to be chosen",
        Stopped::Scatter => "its processes differ too much for the asked precision",
        Stopped::Budget => "the time budget ran out",
        Stopped::Interrupted => "the run was interrupted",
    }
}
