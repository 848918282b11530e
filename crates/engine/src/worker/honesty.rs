//! Libraries that work otherwise where they are looked at: batches that look like timed ones and are none,
//! and whether what was met before takes less than what is new.
//!
//! Batches that look like timed ones from within the library and are none: of lengths that nobody can foresee,
//! with what they left checked, and for decryption with forged tags among them. A library that does its work only
//! where it is looked at cannot know where that is.

use crate::protocol::{Finding, Visit};
use crate::worker::material::{Ciphertexts, Expected, Feed, Plaintext, Subject, time_for};
use crate::worker::visit::codes;
use base::model::{Direction, Footprint, Kind, Model};
use contract::raw;
use probe::{Arena, Batch as _, MessageBatch, messages_for};
use rand::Rng as _;
use rand::rngs::StdRng;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Time of an untimed batch, in nanoseconds, where that is more than one operation: on average half of it.
const SHORT_NS: f64 = 30_000.0;
/// How many operations more the one visit has that makes every check: what bites once in fifty calls must meet one even
/// where a process makes fewer in its life.
const MANY: u32 = 50;
/// Longest that they may take: as much as hundreds of samples.
const LONGEST_NS: f64 = 25e6;

/// The check that a runtime's process works when it says that it does.
pub(crate) const OUTSIDE: &str = "outside-the-clock";

/// The timed batch once more, at another length.
pub(crate) fn run_again(
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
pub(crate) fn untimed_length(op_ns: f64, every_check: bool, rng: &mut StdRng) -> u32 {
    let within = |ns: f64| (ns / op_ns.max(1.0)) as u32;
    let many = if every_check { MANY.min(within(LONGEST_NS)) } else { 0 };
    1 + rng.next_u32() % within(SHORT_NS).max(1) + many
}

/// Operations whose outputs lie apart, so that each leaves all of what it wrote.
pub(crate) fn run_apart(
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

pub(crate) fn in_decoy(finding: Finding, ops: u32) -> Finding {
    Finding { why: format!("{} (in an untimed batch of {ops} operations)", finding.why), ..finding }
}

// Whether what the library has met before takes less than what is new to it. The timed loop of a decryption or a
// digest goes through a few messages again and again, and that of an encryption counts nonces or keys up: a library
// that remembers answers or key schedules, or works ahead while nobody looks at the clock, would be measured by its
// memory.

/// Times that all must say the same before it is believed: anything can disturb one of them.
const TIMES: usize = 8;
/// How many times longer new messages take where answers are remembered. Branches that hang on the data
/// are predicted better the second time: bit by bit, AES took 256 ns for a block that came again and 580 ns
/// for a new one. What is remembered costs a comparison and a copy, tenfold less.
const AGAIN_FACTOR: f64 = 4.0;
/// How many times longer numbers that are drawn take than numbers that count up, where work is done ahead.
const AHEAD_FACTOR: f64 = 1.5;
/// Bits of a number that are drawn; the others stay. Bit-serial key schedules branch on every bit: keys drawn as
/// a whole took 1.8 times as long as keys that count up (3DES of LibTomCrypt and wolfSSL), keys of which twelve bits were drawn
/// 1.2 times. As many numbers are more than a warm-up has time for.
const DRAWN: u64 = (1 << 12) - 1;
/// And by how much at least: new messages come from a cache that is not the nearest.
const LEAST: Duration = Duration::from_nanos(30);
/// Times that each message comes again in a long batch, where the sample says that it may have been a memory's. A
/// runtime takes some microseconds for a batch: two messages from a memory took 5 µs each, and 1.2 in a sample.
const LONG: u32 = 16;
/// Messages larger than this are not looked at: copies of the answers would take about as long.
const LARGEST: usize = 256 << 10;

/// Bytes of messages under keys that are looked at, where the algorithm has so short ones.
const SHORT: usize = 16;

/// Whether the visit is of a kind that is looked at.
pub(crate) fn can_tell_memory(subject: &Subject, visit: &Visit) -> bool {
    let alone = visit.cpus.len() < 2 && !visit.in_place && visit.footprint == Footprint::Hot;
    let works = !matches!(subject.session.algorithm().kind, Kind::Null | Kind::Copy);
    visit.model != Model::Stream && alone && visit.size <= LARGEST && works
}

/// Times what is new against what is not. An operation of the sample took so many nanoseconds.
pub(crate) fn check_memory(
    subject: &mut Subject,
    arena: &mut Arena,
    visit: &Visit,
    (texts, op_ns): ((&[u8], Option<&Ciphertexts>), f64),
    rng: &mut StdRng,
) -> Result<(), Finding> {
    let algorithm = subject.session.algorithm();
    let counts = visit.direction != Direction::Decrypt
        && (algorithm.nonce_len >= 8 || visit.model == Model::Rekey);
    // A key is set before anything is known of the message: with a short one, it is most of the time.
    let short = visit.model == Model::Rekey && algorithm.sizes.allows(SHORT) && visit.size > SHORT;
    let short_visit = Visit { size: SHORT, ..visit.clone() };
    let short_plain = texts.0.get(..SHORT * messages_for(SHORT)).filter(|_| short);
    let short_made = short_plain
        .filter(|_| visit.direction == Direction::Decrypt)
        .map(|plain| subject.material.encrypted(&subject.reference, SHORT, plain, true));
    // What new messages may take, by the sample.
    let sampled = Duration::from_nanos(op_ns as u64).mul_f64(AGAIN_FACTOR);
    let (visit, texts, sampled) = match short_plain {
        Some(plain) => (&short_visit, (plain, short_made.as_ref()), Duration::MAX),
        None => (visit, texts, sampled),
    };
    let mut last = (Duration::ZERO, Duration::ZERO);
    for _ in 0..TIMES {
        last = if counts {
            drawn_and_counted(subject, arena, visit, texts.0, rng)
        } else {
            new_and_again(subject, arena, visit, texts, sampled, rng)
        };
        let factor = if counts { AHEAD_FACTOR } else { AGAIN_FACTOR };
        if last.0 <= last.1.mul_f64(factor) || last.0 <= last.1 + LEAST {
            return Ok(());
        }
    }
    Err(Finding::refused(told(visit.model, counts, last)))
}

fn told(model: Model, counts: bool, (new, known): (Duration, Duration)) -> String {
    let (what, of, is_kept) = match (model, counts) {
        (Model::Rekey, true) => ("keys", "key", "key schedules are remembered or made ahead"),
        (Model::Rekey, false) => ("keys", "key", "key schedules are remembered"),
        (_, true) => ("nonces", "nonce", "key streams are made ahead"),
        (Model::Forgery, false) => ("forgeries", "forgery", "answers are remembered"),
        (_, false) => ("messages", "message", "answers are remembered"),
    };
    let how = if counts { "that counts up" } else { "that comes again" };
    format!("new-{what}: a {of} {how} takes {known:.0?}, a new one {new:.0?}: {is_kept}")
}

/// Time of a new message, and of one that comes again; without what a batch takes, where a new one takes longer than
/// `sampled`.
fn new_and_again(
    subject: &mut Subject,
    arena: &mut Arena,
    visit: &Visit,
    (plain, made): (&[u8], Option<&Ciphertexts>),
    sampled: Duration,
    rng: &mut StdRng,
) -> (Duration, Duration) {
    let (roll, count) = (rng.next_u64(), messages_for(visit.size) as u32);
    let Subject { session, material, reference, .. } = subject;
    let rekeys = visit.model == Model::Rekey;
    let fresh = Plaintext::new(rng.next_u64()).first(plain.len()).to_vec();
    let decrypts = visit.direction == Direction::Decrypt;
    let fresh_made = decrypts
        .then(|| material.encrypted_from(elsewhere(rng), reference, (visit.size, &fresh), rekeys));
    // The code, and the places in memory, are as warm for the new ones as for those that follow.
    let feed = Feed::new(material, visit, (plain, made), 0);
    MessageBatch::place(session, arena, &feed.set(), roll).run(2 * count);
    let feed = Feed::new(material, visit, (&fresh, fresh_made.as_ref()), 0);
    let mut batch = MessageBatch::place(session, arena, &feed.set(), roll);
    batch.poison(batch.poison_byte());
    let new = each(&mut batch, count);
    let mut best_of_two = |ops| each(&mut batch, ops).min(each(&mut batch, ops));
    let again = best_of_two(count);
    if new <= sampled {
        return (new, again);
    }
    let known = best_of_two(LONG * count).min(again);
    (new.saturating_sub(again - known), known)
}

/// Time of a message whose nonce and key are drawn at random, and of one where they count up.
fn drawn_and_counted(
    subject: &mut Subject,
    arena: &mut Arena,
    visit: &Visit,
    plain: &[u8],
    rng: &mut StdRng,
) -> (Duration, Duration) {
    let (roll, count) = (rng.next_u64(), messages_for(visit.size) as u32);
    let Subject { session, material, .. } = subject;
    let feed = Feed::new(material, visit, (plain, None), 0);
    let mut batch = MessageBatch::place(session, arena, &feed.set(), roll);
    count_up(&mut batch, count, rng);
    let known = each(&mut batch, count);
    let near = count_up(&mut batch, count, rng);
    let mut drawn = BTreeSet::new();
    batch.renumber(|| near & !DRAWN | another(&mut drawn, rng));
    (each(&mut batch, count), known)
}

/// A warm-up that counts from somewhere new, and goes on counting after it. Returns a number near by.
fn count_up(batch: &mut MessageBatch<'_>, count: u32, rng: &mut StdRng) -> u64 {
    let mut next = elsewhere(rng);
    batch.renumber(|| {
        next += 1;
        next
    });
    batch.run(2 * count);
    next
}

/// A number that was not drawn before: Java's ChaCha20 refuses the nonce that it saw last.
fn another(drawn: &mut BTreeSet<u64>, rng: &mut StdRng) -> u64 {
    loop {
        let number = rng.next_u64() & DRAWN;
        if drawn.insert(number) {
            return number;
        }
    }
}

/// A number far from those of visits, which are below twelve bits of process and thread.
fn elsewhere(rng: &mut StdRng) -> u64 {
    rng.next_u64() >> 4 | 1 << 59
}

/// Time of one of so many operations.
fn each(batch: &mut MessageBatch<'_>, count: u32) -> Duration {
    batch.spent(count) / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn decoys_are_as_long_as_a_sample_and_among_every_check_have_more_than_fifty_operations() {
        let mut rng = StdRng::seed_from_u64(1);
        let mut drawn = |op_ns, every_check| -> Vec<u32> {
            (0..9000).map(|_| untimed_length(op_ns, every_check, &mut rng)).collect()
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

    #[test]
    fn no_two_numbers_that_are_drawn_are_the_same() {
        let (mut drawn, mut rng) = (BTreeSet::new(), StdRng::seed_from_u64(1));
        let numbers: Vec<u64> = (0..1000).map(|_| another(&mut drawn, &mut rng)).collect();
        assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 1000);
        assert!(numbers.iter().all(|number| *number <= DRAWN));
    }

    #[test]
    fn a_refusal_names_what_was_new_and_what_it_took() {
        let said = |model, counts| {
            told(model, counts, (Duration::from_nanos(700), Duration::from_nanos(90)))
        };
        let ns = "takes 90ns, a new one 700ns: ";
        for (model, counts, begins, ends) in [
            (
                Model::Message,
                false,
                "new-messages: a message that comes again ",
                "answers are remembered",
            ),
            (
                Model::Message,
                true,
                "new-nonces: a nonce that counts up ",
                "key streams are made ahead",
            ),
            (
                Model::Forgery,
                false,
                "new-forgeries: a forgery that comes again ",
                "answers are remembered",
            ),
            (
                Model::Rekey,
                false,
                "new-keys: a key that comes again ",
                "key schedules are remembered",
            ),
            (
                Model::Rekey,
                true,
                "new-keys: a key that counts up ",
                "key schedules are remembered or made ahead",
            ),
        ] {
            assert_eq!(said(model, counts), format!("{begins}{ns}{ends}"));
        }
    }
}
