//! Batches that look like timed ones from within the library and are none: of lengths that nobody can foresee,
//! with what they left checked, and for decryption with forged tags among them. A library that does its work only
//! where it is looked at cannot know where that is.

use super::lane::codes;
use super::outputs::{Expected, time_for};
use crate::protocol::Finding;
use base::model::{Direction, Model};
use contract::raw;
use probe::{Batch as _, MessageBatch};
use rand::Rng as _;
use rand::rngs::StdRng;
use std::time::{Duration, Instant};

/// Time of an untimed batch, in nanoseconds, where that is more than one operation: on average half of it.
const SHORT_NS: f64 = 30_000.0;
/// How many operations more the one visit has that makes every check: what bites once in fifty calls must meet one even
/// where a process makes fewer in its life.
const MANY: u32 = 50;
/// Longest that they may take: as much as hundreds of samples.
const LONGEST_NS: f64 = 25e6;

/// The check that a runtime's process works when it says that it does.
pub(super) const OUTSIDE: &str = "outside-the-clock";

/// The timed batch once more, at another length.
pub(super) fn again(
    expected: &mut Expected<'_>,
    batch: &mut MessageBatch<'_>,
    timed: u32,
    rng: &mut StdRng,
) -> Result<(), Finding> {
    let most = timed.min(batch.most()).max(1);
    let ops = 1 + rng.next_u32() % most;
    batch.poison(batch.poison_byte());
    batch.prepare(ops);
    let found = codes(batch.run(ops), expected.model)
        .and_then(|()| expected.check(batch, ops, time_for(Duration::ZERO), rng));
    found.map_err(|finding| in_decoy(finding, ops))?;
    forge(expected, batch, timed, rng.next_u32())
}

/// A forged tag behind some right ones must be rejected, and nothing else.
fn forge(
    expected: &Expected<'_>,
    batch: &mut MessageBatch<'_>,
    timed: u32,
    roll: u32,
) -> Result<(), Finding> {
    let decrypts = expected.direction == Direction::Decrypt;
    if !decrypts || !expected.algorithm.rejects() || batch.round().is_some() {
        return Ok(());
    }
    let ops = 1 + roll % timed.min(probe::MAX_MESSAGES as u32);
    let found = batch.run_to_a_forgery(ops);
    if found == raw::OK ^ raw::REJECTED {
        return Ok(());
    }
    Err(Finding::refused(format!(
        "timed-forgery: {} a forged tag that came {ops} operations into an untimed batch (bits {found:#x})",
        if found == 0 { "accepted" } else { "returned an error for" }
    )))
}

/// How many operations of `op_ns` nanoseconds each an untimed batch of its own makes.
pub(super) fn length(op_ns: f64, every_check: bool, rng: &mut StdRng) -> u32 {
    let within = |ns: f64| (ns / op_ns.max(1.0)) as u32;
    let many = if every_check { MANY.min(within(LONGEST_NS)) } else { 0 };
    1 + rng.next_u32() % within(SHORT_NS).max(1) + many
}

/// Operations whose outputs lie apart, so that each leaves all of what it wrote.
pub(super) fn apart(
    expected: &mut Expected<'_>,
    batch: &mut MessageBatch<'_>,
    ops: u32,
    rng: &mut StdRng,
) -> Result<(), Finding> {
    if expected.model == Model::Forgery {
        return forgeries_among(expected, batch, ops, rng);
    }
    let (most, mut time, mut ran) = (batch.kept(u32::MAX) as u32, time_for(Duration::ZERO), 0);
    while ran < ops {
        // Groups of unlike length: where one ends must not be foreseen either.
        let group = (1 + rng.next_u32() % most).min(ops - ran);
        batch.poison(batch.poison_byte());
        let codes = codes(batch.run(group), expected.model);
        let begun = Instant::now();
        let found = codes.and_then(|()| expected.check_some(batch, group, time, rng));
        time = time.saturating_sub(begun.elapsed());
        ran += group;
        found.map_err(|finding| in_decoy(finding, ran))?;
    }
    Ok(())
}

/// As [`apart`], with every other tag on average forged. A library that says of a message that it is forged
/// without having looked would be right in a loop of forgeries.
fn forgeries_among(
    expected: &mut Expected<'_>,
    batch: &mut MessageBatch<'_>,
    ops: u32,
    rng: &mut StdRng,
) -> Result<(), Finding> {
    for ran in 1..=ops {
        let forged = rng.next_u32().is_multiple_of(2);
        batch.poison(batch.poison_byte());
        let found = if forged { batch.run_to_a_forgery(1) ^ raw::REJECTED } else { batch.run(1) };
        if found != raw::OK {
            let (what, judged) =
                if forged { ("a forged", "rejected") } else { ("the right", "taken") };
            return Err(Finding::refused(format!(
                "timed-forgery: {what} tag was not {judged} {ran} operations into an untimed batch (bits {found:#x})"
            )));
        }
        if !forged {
            expected.check_last(batch).map_err(|finding| in_decoy(finding, ran))?;
        }
    }
    Ok(())
}

pub(super) fn in_decoy(finding: Finding, ops: u32) -> Finding {
    Finding { why: format!("{} (in an untimed batch of {ops} operations)", finding.why), ..finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn decoys_are_as_long_as_a_sample_and_among_every_check_have_more_than_fifty_operations() {
        let mut rng = StdRng::seed_from_u64(1);
        let mut drawn = |op_ns, every_check| -> Vec<u32> {
            (0..9000).map(|_| length(op_ns, every_check, &mut rng)).collect()
        };
        for (op_ns, most) in [(50.0, 600), (1600.0, 18), (2e4, 1), (5e5, 1), (1e12, 1)] {
            let all = drawn(op_ns, false);
            assert!(all.contains(&1) && all.contains(&most), "{op_ns} ns");
            assert!(all.iter().all(|n| (1..=most).contains(n)), "{op_ns} ns");
        }
        for op_ns in [50.0, 1600.0, 2e4, 5e5] {
            assert!(drawn(op_ns, true).iter().all(|n| *n > MANY), "{op_ns} ns");
        }
        assert_eq!(drawn(1e7, true), vec![3; 9000]);
    }
}
