//! From a specification and measurements to the document.

use crate::load::calibration::MemoryPoint;
use crate::load::document::{
    Calibrated, LOAD_VERSION, Load, OpenConnections, Part, PartSum, RegimeSum, Term,
};
use crate::load::explain::alternatives;
use crate::load::form::{Form, Interval};
use crate::load::formula::{Sum, sum};
use crate::load::inputs::{Inputs, Prices};
use crate::load::spec::{Spec, SpecError};
use crate::load::words::{Regime, Role, Work};
use record::State;

/// Share of a core up to which connections come singly, with sleep in between.
const LOW: f64 = 0.3;
/// Share up to which they seldom meet.
const STEADY: f64 = 0.7;
/// µs of CPU in a second of one core.
const CORE_US: f64 = 1e6;

/// Calculates a load; with alternatives where `explain` is set.
///
/// # Errors
/// What is wrong with the specification, or what the calibration has no price for.
pub fn load(spec: &Spec, inputs: &Inputs<'_>, explain: bool) -> Result<Load, SpecError> {
    spec.check()?;
    let prices = Prices::of(inputs);
    let regime = regime_of(spec, &prices)?;
    let sum = sum(spec, &prices, regime)?;
    let total = prices.figures.eval(&sum.total());
    let terms = terms(&sum, &prices, total);
    let mut remarks = remarks(&sum, spec, regime, total);
    remarks.extend(whole(inputs));
    let picked = inputs.calibration.picked.iter();
    remarks.extend(picked.filter_map(|picked| picked.against(prices.picking)));
    Ok(Load {
        format_version: LOAD_VERSION.to_owned(),
        kind: "tls-load".to_owned(),
        spec: spec.clone(),
        calibrated: calibrated(inputs),
        regime,
        negotiated: sum.traffic.outcomes.clone(),
        parts: parts(&sum, &prices, total),
        terms,
        cpu_us_per_s: total,
        cpu_percent: total.times(100.0 / CORE_US),
        regimes: regimes(spec, &prices)?,
        memory: memory(spec, inputs, &sum),
        alternatives: if explain { alternatives(spec, &prices, regime, &sum) } else { Vec::new() },
        remarks,
    })
}

pub(crate) fn calibrated(inputs: &Inputs<'_>) -> Calibrated {
    let calibration = inputs.calibration;
    Calibrated {
        started: calibration.started.clone(),
        cpu: calibration.host.cpu.name.clone(),
        server: calibration.server.as_ref().map(|s| format!("{} {}", s.name, s.version)),
        stack: calibration.stack.label.clone(),
    }
}

/// The regime that was asked for, or the one that the load itself amounts to.
pub(crate) fn regime_of(spec: &Spec, prices: &Prices) -> Result<Regime, SpecError> {
    let known = prices.regimes();
    if let Some(wanted) = spec.server.regime {
        if known.contains(&wanted) {
            return Ok(wanted);
        }
        let known: Vec<_> = known.iter().map(|r| r.name()).collect();
        return Err(SpecError(format!(
            "the calibration has no {wanted} load, only: {}",
            known.join(", ")
        )));
    }
    let nearest =
        |wanted: Regime| known.iter().copied().min_by_key(|r| (*r as i32 - wanted as i32).abs());
    let missing = || SpecError("the calibration has no plain connections of a server".to_owned());
    let low = nearest(Regime::Low).ok_or_else(missing)?;
    let share = |regime| -> Result<f64, SpecError> {
        Ok(prices.figures.eval(&sum(spec, prices, regime)?.total()).value / CORE_US)
    };
    if share(low)? <= LOW {
        return Ok(low);
    }
    let steady = nearest(Regime::Steady).ok_or_else(missing)?;
    if share(steady)? <= STEADY {
        return Ok(steady);
    }
    nearest(Regime::Saturated).ok_or_else(missing)
}

fn share(of: f64, total: f64) -> f64 {
    if total == 0.0 { 0.0 } else { of / total }
}

fn terms(sum: &Sum, prices: &Prices, total: Interval) -> Vec<Term> {
    let one = |raw: &crate::load::formula::RawTerm| {
        let each = prices.figures.eval(&raw.each);
        let cpu = each.times(raw.per_s);
        Term {
            part: raw.part,
            name: raw.name.clone(),
            per_s: raw.per_s,
            each_cpu_us: each,
            cpu_us_per_s: cpu,
            share: share(cpu.value, total.value),
            source: raw.source,
            note: raw.note.clone(),
        }
    };
    sum.terms.iter().map(one).collect()
}

fn parts(sum: &Sum, prices: &Prices, total: Interval) -> Vec<PartSum> {
    let of = |part: &Part| {
        let raw: Vec<_> = sum.terms.iter().filter(|t| t.part == *part).collect();
        let form = raw.iter().fold(Form::default(), |f, t| f.plus(&t.each, t.per_s));
        let cpu_us_per_s = prices.figures.eval(&form);
        let part =
            PartSum { part: *part, cpu_us_per_s, share: share(cpu_us_per_s.value, total.value) };
        (!raw.is_empty()).then_some(part)
    };
    Part::ALL.iter().filter_map(of).collect()
}

fn regimes(spec: &Spec, prices: &Prices) -> Result<Vec<RegimeSum>, SpecError> {
    let one = |regime: Regime| {
        let sum = sum(spec, prices, regime)?;
        let total = prices.figures.eval(&sum.total());
        let (rate, served) = (spec.traffic.connections_per_s, sum.traffic.served);
        let most = |cpu: f64| rate * CORE_US / cpu;
        let is_load = total.low > 0.0 && rate > 0.0;
        Ok(RegimeSum {
            regime,
            cpu_us_per_s: total,
            cpu_us_per_connection: (served > 0.0).then(|| total.times(1.0 / served)),
            most_connections_per_s: is_load.then(|| Interval {
                value: most(total.value),
                low: most(total.high),
                high: most(total.low),
            }),
        })
    };
    prices.regimes().into_iter().map(one).collect()
}

/// What the library holds for each connection, as calibrated or as another document has it, and what the server
/// holds without TLS, where that is known.
fn memory(spec: &Spec, inputs: &Inputs<'_>, sum: &Sum) -> Option<OpenConnections> {
    let plain = memory_of(inputs, Role::RealPlain, Work::Plain)
        .or_else(|| memory_of(inputs, Role::MinimalPlain, Work::Plain));
    let added = if spec.server.tls { added_memory(inputs, sum)? } else { 0.0 };
    if plain.is_none() && !spec.server.tls {
        return None;
    }
    let connections = sum.traffic.served * spec.traffic.connection_seconds;
    let each = plain.unwrap_or(0.0) + added;
    Some(OpenConnections {
        connections,
        bytes_per_connection: each,
        tls_bytes_per_connection: added,
        bytes: connections * each,
        most_open: spec.server.memory_mib.map(|mib| mib * 1_048_576.0 / each),
    })
}

fn memory_of(inputs: &Inputs<'_>, role: Role, work: Work) -> Option<f64> {
    let mut points = inputs.calibration.memory.iter();
    let is_it =
        |p: &&MemoryPoint| p.role == role && p.work.case().is_some() == work.case().is_some();
    points.find(is_it).map(|p| p.bytes_per_connection)
}

fn added_memory(inputs: &Inputs<'_>, sum: &Sum) -> Option<f64> {
    let (case, _) = sum.traffic.handshakes.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let tls = Work::Handshake { case: *case, tickets: None };
    let pair = |with, without| {
        Some(memory_of(inputs, with, tls)? - memory_of(inputs, without, Work::Plain)?)
    };
    pair(Role::RealTls, Role::RealPlain)
        .or_else(|| pair(Role::MinimalTls, Role::MinimalPlain))
        .or_else(|| inputs.parts?.memory(*case))
}

/// What the calibration lacks itself.
pub(crate) fn whole(inputs: &Inputs<'_>) -> Vec<String> {
    let points = &inputs.calibration.points;
    let mut remarks = Vec::new();
    let failed = points.iter().filter(|p| p.state == State::Failed).count();
    if failed > 0 {
        remarks.push(format!("{failed} of the calibration's {} points failed", points.len()));
    }
    let measured = points.iter().filter(|p| p.state == State::Measured);
    let rounds = measured.map(|p| p.rounds_cpu_us.iter().flatten().count()).min();
    if let Some(rounds) = rounds.filter(|rounds| *rounds < 3) {
        let were = if rounds == 1 { "once" } else { "twice" };
        remarks.push(format!(
            "some points of the calibration were measured {were} only: their ranges say little"
        ));
    }
    remarks
}

fn remarks(sum: &Sum, spec: &Spec, regime: Regime, total: Interval) -> Vec<String> {
    let mut remarks = sum.remarks.clone();
    remarks.push(
        "calibrated over loopback, where a part of the server's TCP work is charged to the client: the stack part \
         is not that of a network card"
            .to_owned(),
    );
    if spec.server.regime == Some(Regime::Low) && total.value > LOW * CORE_US {
        remarks.push(format!(
            "{regime} load was asked for, but {:.0} % of a core is no low load: see the other regimes",
            total.value * 100.0 / CORE_US
        ));
    }
    if total.value > CORE_US {
        remarks.push("this is more than one core can do".to_owned());
    }
    remarks
}

#[cfg(test)]
mod tests;
