//! Speeds against what the record itself says of its core.

use super::{Code, Findings, is_close};
use base::analysis::bound::{Basis, Core, Operation, Seen, limit, proven};
use base::model::{Algorithm, Model};
use record::{Executed, Measurement, Record, State};
use std::collections::BTreeMap;

/// Faster than its limit by so much is no chance: the run itself refuses what is 2 % and its intervals faster.
const MOST: f64 = 1.05;

pub(super) fn check(record: &Record, findings: &mut Findings) {
    let Some(core) = record.limits.core.as_ref().filter(|core| core.unread.is_empty()) else {
        let has_cycles = |m: &&Measurement| m.state == State::Measured && m.cycles_per_op.is_some();
        if record.measurements.iter().any(|m| has_cycles(&m)) {
            findings.unchecked("limits: the record has none of its core");
        }
        return;
    };
    let counts: BTreeMap<_, &Executed> = record
        .executed
        .iter()
        .map(|e| ((&e.library, &e.algorithm, e.direction, e.model, e.tier), e))
        .collect();
    for case in record.measurements.iter().enumerate().filter(|(_, m)| m.state == State::Measured) {
        let m = case.1;
        let counted = counts.get(&(&m.library, &m.algorithm, m.direction, m.model, m.tier));
        let seen = counted.and_then(|e| e.seen(m.size));
        if let Some(what) = beaten(record, core, m, seen) {
            findings.of_case(Code::ImpossibleSpeed, case, || what);
        }
    }
}

/// What a case contradicts.
fn beaten(record: &Record, core: &Core, m: &Measurement, seen: Option<Seen>) -> Option<String> {
    let stated = m.limit_fraction.filter(|fraction| *fraction > MOST);
    if let (Some(fraction), true) = (stated, m.limit_basis != Some(Basis::KnownMethods)) {
        return Some(format!("it is at {fraction:.2} of its limit"));
    }
    let cycles = m.cycles_per_op.filter(|_| m.threads == 1)?.median;
    let algorithm = Algorithm::find(&m.algorithm).ok()?;
    let operation = Operation {
        algorithm,
        direction: m.direction,
        model: m.model,
        tier: m.tier,
        size: m.size,
        footprint: m.footprint,
        in_place: m.in_place || m.model == Model::Stream,
        several: in_flight(record, m) > 1,
    };
    let least = proven(core, &operation, seen).filter(|least| least.cycles / cycles > MOST);
    if let Some(least) = least {
        let least = least.cycles;
        return Some(format!(
            "it takes {cycles:.2} core cycles, and this core needs {least:.2} at least"
        ));
    }
    let best = limit(core, &operation).ok()?.cycles;
    match m.limit_cycles_per_op {
        None => Some("its limit is missing".to_owned()),
        Some(stated) if !is_close(stated, best, 1e-6) => {
            Some(format!("its limit is {stated:.2} cycles, and follows from the core as {best:.2}"))
        }
        _ if best / cycles > MOST && m.remarks.is_empty() => {
            Some(format!("it is at {:.2} of its limit, and no remark says so", best / cycles))
        }
        _ => None,
    }
}

/// Most messages in work at once.
fn in_flight(record: &Record, m: &Measurement) -> u32 {
    let same =
        record.libraries.iter().filter(|l| (&l.path, &l.id) == (&m.library.path, &m.library.id));
    let mut own = same
        .flat_map(|l| &l.calls)
        .filter(|c| c.algorithm == m.algorithm && c.direction == m.direction);
    own.find_map(|c| c.in_flight).unwrap_or(1)
}
