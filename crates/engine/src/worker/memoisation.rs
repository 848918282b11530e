//! Whether what the library has met before takes less than what is new to it. The timed loop of a decryption or a
//! digest goes through a few messages again and again, and that of an encryption counts nonces or keys up: a library
//! that remembers answers or key schedules, or works ahead while nobody looks at the clock, would be measured by its
//! memory.

use super::material::{Ciphertexts, Feed, Plaintext};
use super::subject::Subject;
use crate::protocol::{Finding, Visit};
use base::model::{Direction, Footprint, Kind, Model};
use probe::{Arena, Batch as _, MessageBatch, messages_for};
use rand::Rng as _;
use rand::rngs::StdRng;
use std::collections::BTreeSet;
use std::time::Duration;

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
pub(super) fn can_tell(subject: &Subject, visit: &Visit) -> bool {
    let alone = visit.cpus.len() < 2 && !visit.in_place && visit.footprint == Footprint::Hot;
    let works = !matches!(subject.session.algorithm().kind, Kind::Null | Kind::Copy);
    visit.model != Model::Stream && alone && visit.size <= LARGEST && works
}

/// Times what is new against what is not. An operation of the sample took so many nanoseconds.
pub(super) fn check(
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
