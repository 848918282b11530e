//! Instruction counts of a record against each other.

use super::{Code, Findings, is_close};
use record::{Executed, Record, State};
use std::collections::BTreeMap;

/// Counts are whole numbers, their slope is written exactly.
const EXACT: f64 = 1e-9;
/// Classes add up to the whole but for single instructions that differ between the two sizes.
const OF_SUMS: f64 = 0.05;

pub(super) fn check(record: &Record, findings: &mut Findings) {
    if record.executed.is_empty() && record.measurements.iter().any(|m| m.state == State::Measured)
    {
        findings.unchecked("instructions: none were counted");
    }
    for counts in &record.executed {
        if let Some(what) = contradiction(counts) {
            let Executed { library, algorithm, direction, model, tier, .. } = counts;
            findings.doubt(
                Code::Instructions,
                format!(
                    "{} {} {algorithm} {direction} {model} {tier}: {what}",
                    library.name, library.version
                ),
            );
        }
    }
    let by_case: BTreeMap<_, &Executed> = record
        .executed
        .iter()
        .map(|e| ((&e.library, &e.algorithm, e.direction, e.model, e.tier), e))
        .collect();
    for case in record.measurements.iter().enumerate().filter(|(_, m)| m.state == State::Measured) {
        let m = case.1;
        let counts = by_case.get(&(&m.library, &m.algorithm, m.direction, m.model, m.tier));
        let found = counts.map_or((None, None), |e| (e.per_byte, e.per_message));
        if (m.instructions_per_byte, m.instructions_per_message) != found {
            findings.of_case(Code::Instructions, case, || {
                "its instruction counts are not those that the record has of its algorithm"
                    .to_owned()
            });
        }
    }
}

/// What the counts of one algorithm contradict.
fn contradiction(counts: &Executed) -> Option<String> {
    if counts.source.as_deref() != Some("single-step") {
        return None;
    }
    let (per_byte, per_message) = (counts.per_byte?, counts.per_message?);
    let [small, large] = match counts.slope_sizes[..] {
        [small, large] => [small, large],
        _ => {
            let last = counts.sizes.len().checked_sub(2)?;
            [counts.sizes[last].size, counts.sizes[last + 1].size]
        }
    };
    let at = |size| counts.sizes.iter().find(|s| s.size == size).map(|s| s.instructions as f64);
    let (Some(of_small), Some(of_large)) = (at(small), at(large)) else {
        return Some("the counts of the sizes that it is calculated from are missing".to_owned());
    };
    let slope = (of_large - of_small) / (large as f64 - small as f64);
    let rest = of_small - slope * small as f64;
    // Against the whole: the rest of a long message may be next to nothing.
    if !is_close(slope, per_byte, EXACT) || (rest - per_message).abs() > EXACT * of_large {
        return Some(format!(
            "{per_byte:.6} instructions a byte and {per_message:.2} a message, and its sizes give {slope:.6} and {rest:.2}"
        ));
    }
    let classes: f64 = counts.classes.iter().map(|class| class.per_byte).sum();
    (!counts.classes.is_empty() && (classes - per_byte).abs() > OF_SUMS * per_byte.abs()).then(
        || {
            format!(
                "its classes have {classes:.6} instructions a byte, and all together {per_byte:.6}"
            )
        },
    )
}
