//! Every case, one array a field.

use super::names::Names;
use crate::text::rounded;
use model::Disturbance;
use record::{Estimate, Measurement};
use serde::Serialize;

type Number = Option<f64>;

/// Entry `i` of each array belongs to case `i`; `null` is what the record does not know. Units are
/// the record's.
#[derive(Default, Serialize)]
pub(crate) struct Columns {
    library: Vec<usize>,
    algorithm: Vec<usize>,
    direction: Vec<usize>,
    model: Vec<usize>,
    model_version: Vec<u32>,
    size: Vec<usize>,
    tier: Vec<usize>,
    threads: Vec<u32>,
    footprint: Vec<usize>,
    in_place: Vec<u8>,
    state: Vec<&'static str>,
    reason: Vec<Option<usize>>,
    /// Where a figure comes from that was not measured here.
    imported: Vec<Option<usize>>,
    warning: Vec<Option<usize>>,
    ns: Vec<Number>,
    ns_low: Vec<Number>,
    ns_high: Vec<Number>,
    cycles: Vec<Number>,
    cycles_low: Vec<Number>,
    cycles_high: Vec<Number>,
    /// Only where it is not size by time: several threads.
    mb_per_s: Vec<Number>,
    limit: Vec<Number>,
    limit_cycles: Vec<Number>,
    limited_by: Vec<Option<usize>>,
    instructions_per_byte: Vec<Number>,
    instructions_per_message: Vec<Number>,
    key_ns: Vec<Number>,
    p50: Vec<Number>,
    p99: Vec<Number>,
    p99_9: Vec<Number>,
    precision: Vec<Number>,
    stopped: Vec<Option<usize>>,
    samples: Vec<u64>,
    disturbed: Vec<Option<Vec<u64>>>,
    processes: Vec<u32>,
    contended: Vec<u8>,
    checks: Vec<Option<usize>>,
    clock: Vec<usize>,
    cycles_from: Vec<usize>,
    outputs_checked: Vec<u64>,
    calls_succeeded: Vec<u64>,
}

impl Columns {
    pub(crate) fn push(&mut self, m: &Measurement, names: &mut Names) {
        self.push_what(m, names);
        self.push_numbers(m);
        self.push_proof(m, names);
    }

    fn push_what(&mut self, m: &Measurement, names: &mut Names) {
        self.library.push(names.library(&m.library));
        self.algorithm.push(names.algorithms.number(&m.algorithm));
        self.direction.push(names.directions.number(m.direction.name()));
        self.model.push(names.models.number(m.model.name()));
        self.model_version.push(m.model_version);
        self.size.push(m.size);
        self.tier.push(names.tiers.number(m.tier.name()));
        self.threads.push(m.threads);
        self.footprint.push(names.footprints.number(m.footprint.name()));
        self.in_place.push(m.in_place.into());
        self.state.push(m.state.name());
        self.reason.push(m.reason.as_deref().map(|r| names.texts.number(r)));
        self.imported.push(m.imported.as_ref().map(|from| {
            let machine = from.machine.as_ref().map(|m| format!(", on {m}")).unwrap_or_default();
            names.texts.number(&format!("{}{machine}", from.source))
        }));
        self.warning.push(m.warning.as_deref().map(|w| names.texts.number(w)));
        let by = m.limited_by.map(|by| match m.limit_basis {
            Some(basis) => format!("{by}, {basis}"),
            None => by.to_string(),
        });
        self.limited_by.push(by.map(|by| names.texts.number(&by)));
    }

    fn push_numbers(&mut self, m: &Measurement) {
        let of = |e: &Option<Estimate>, part: fn(&Estimate) -> f64| {
            e.as_ref().map(part).filter(|n| n.is_finite()).map(rounded)
        };
        self.ns.push(of(&m.ns_per_op, |e| e.median));
        self.ns_low.push(of(&m.ns_per_op, |e| e.low));
        self.ns_high.push(of(&m.ns_per_op, |e| e.high));
        self.cycles.push(of(&m.cycles_per_op, |e| e.median));
        self.cycles_low.push(of(&m.cycles_per_op, |e| e.low));
        self.cycles_high.push(of(&m.cycles_per_op, |e| e.high));
        self.mb_per_s.push(m.mb_per_s.filter(|_| m.threads > 1).map(rounded));
        self.limit.push(m.limit_fraction.map(rounded));
        self.limit_cycles.push(m.limit_cycles_per_op.map(rounded));
        self.instructions_per_byte.push(m.instructions_per_byte.map(rounded));
        self.instructions_per_message.push(m.instructions_per_message.map(rounded));
        self.key_ns.push(m.key_setup.map(|k| rounded(k.ns)));
        let latency = m.latency_ns.as_ref();
        self.p50.push(latency.map(|l| rounded(l.p50)));
        self.p99.push(latency.and_then(|l| l.p99).map(rounded));
        self.p99_9.push(latency.and_then(|l| l.p99_9).map(rounded));
        self.precision.push(m.precision.map(rounded));
    }

    fn push_proof(&mut self, m: &Measurement, names: &mut Names) {
        self.stopped.push(m.stopped.map(|s| names.texts.number(stopped(s))));
        self.samples.push(m.samples);
        self.disturbed.push((m.samples_disturbed > 0).then(|| {
            let by_reason = Disturbance::ALL.map(|why| m.disturbed.of(why));
            std::iter::once(m.samples_disturbed).chain(by_reason).collect()
        }));
        self.processes.push(m.processes);
        self.contended.push(m.contended.into());
        self.checks.push((!m.checks.is_empty()).then(|| {
            let list: Vec<String> =
                m.checks.iter().map(|c| format!("{} {}", c.name, c.count)).collect();
            names.checks.number(&list.join(", "))
        }));
        self.clock.push(names.texts.number(&m.evidence.clock));
        self.cycles_from.push(names.texts.number(&m.evidence.cycles));
        self.outputs_checked.push(m.evidence.outputs_checked);
        self.calls_succeeded.push(m.evidence.calls_succeeded);
    }
}

fn stopped(why: record::Stopped) -> &'static str {
    match why {
        record::Stopped::Precision => "the asked precision was reached",
        record::Stopped::Scatter => "its processes differ too much for the asked precision",
        record::Stopped::Budget => "the time budget ran out",
        record::Stopped::Interrupted => "the run was interrupted",
    }
}
