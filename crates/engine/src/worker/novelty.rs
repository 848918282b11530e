//! Whether messages that come again take less than new ones. The timed loop of a decryption or a digest goes
//! through a few messages again and again: a library that remembers answers would be measured by its memory.

use super::lane::NONCES_PER_VISIT;
use super::material::{Ciphertexts, Plaintext};
use super::subject::Subject;
use crate::protocol::{Finding, Visit};
use contract::raw;
use model::{Direction, Footprint, Kind, Model};
use probe::{Arena, Batch as _, MessageBatch, MessageSet, messages_for};
use std::time::{Duration, Instant};

/// Rounds of new messages; the fastest counts, for anything can disturb one of them.
const ROUNDS: usize = 4;
/// Times that all rounds must say the same before it is believed.
const TIMES: usize = 3;
/// How many times longer new messages take where answers are remembered. Branches that hang on the data
/// are predicted better the second time: bit by bit, AES took 256 ns for a block that came again and 580 ns
/// for a new one. What is remembered costs a comparison and a copy, tenfold less.
const FACTOR: f64 = 4.0;
/// And by how much at least: new messages come from a cache that is not the nearest.
const LEAST: Duration = Duration::from_nanos(30);
/// A visit whose messages take longer in all is looked at in one round.
const LONG: usize = 64 << 10;
/// Messages larger than this are not looked at: copies of the answers would take about as long.
const LARGEST: usize = 256 << 10;

/// Whether the visit works on messages that come again.
pub(super) fn comes_again(subject: &Subject, visit: &Visit) -> bool {
    let algorithm = subject.session.algorithm();
    let fresh = visit.direction != Direction::Decrypt && algorithm.nonce_len >= 8;
    let alone = visit.cpus.len() < 2 && !visit.in_place && visit.footprint == Footprint::Hot;
    visit.model == Model::Message
        && alone
        && !fresh
        && visit.size <= LARGEST
        && !matches!(algorithm.kind, Kind::Null | Kind::Copy)
}

/// Times new messages against the same once more.
pub(super) fn check(
    subject: &mut Subject,
    arena: &mut Arena,
    visit: &Visit,
    seed: &mut impl rand::Rng,
) -> Result<(), Finding> {
    let mut last = None;
    for _ in 0..TIMES {
        match remembered(subject, arena, visit, seed) {
            None => return Ok(()),
            found => last = found,
        }
    }
    let (new, again) = last.expect("each of the times found it");
    Err(Finding::refused(format!(
        "new-messages: a message that comes again takes {again:.0?}, a new one {new:.0?}: answers are remembered"
    )))
}

/// Time of a new message and of one that comes again, where they are too far apart.
fn remembered(
    subject: &mut Subject,
    arena: &mut Arena,
    visit: &Visit,
    seed: &mut impl rand::Rng,
) -> Option<(Duration, Duration)> {
    let count = messages_for(visit.size);
    let rounds = if count * visit.size > LONG { 1 } else { ROUNDS };
    let (mut new, mut again) = (Duration::MAX, Duration::MAX);
    let warm = Messages::new(subject, visit, seed.next_u64());
    for _ in 0..rounds {
        let fresh = Messages::new(subject, visit, seed.next_u64());
        let roll = seed.next_u64();
        // The code, and the places in memory, are as warm for the new ones as for those that follow.
        warm.batch(subject, arena, visit, roll).run(2 * count as u32);
        let mut batch = fresh.batch(subject, arena, visit, roll);
        batch.poison(batch.poison_byte());
        let mut round = || {
            let begun = Instant::now();
            batch.run(count as u32);
            begun.elapsed() / count as u32
        };
        new = new.min(round());
        again = again.min(round()).min(round());
    }
    (new > again.mul_f64(FACTOR) && new > again + LEAST).then_some((new, again))
}

/// As many messages as a batch goes through.
struct Messages {
    plain: Vec<u8>,
    made: Option<Ciphertexts>,
    nonce: [Vec<u8>; 1],
}

impl Messages {
    fn new(subject: &Subject, visit: &Visit, seed: u64) -> Self {
        let size = visit.size;
        let plain = Plaintext::new(seed).first(size * messages_for(size)).to_vec();
        let material = &subject.material;
        // Nonces far from those of visits, which are below twelve bits.
        let first = (seed >> 4 | 1 << 59) & !(NONCES_PER_VISIT - 1);
        let made = (visit.direction == Direction::Decrypt)
            .then(|| material.encrypted_from(first, &subject.reference, (size, &plain), false));
        Self { plain, made, nonce: [material.nonce.clone()] }
    }

    fn batch<'a>(
        &'a self,
        subject: &'a mut Subject,
        arena: &'a mut Arena,
        visit: &Visit,
        roll: u64,
    ) -> MessageBatch<'a> {
        let (inputs, nonces, tags) = match &self.made {
            Some(made) => (made.inputs.as_slice(), made.nonces.as_slice(), made.tags.as_slice()),
            None => (self.plain.as_slice(), self.nonce.as_slice(), [].as_slice()),
        };
        let set = MessageSet {
            size: visit.size,
            inputs,
            nonces,
            tags,
            keys: &[],
            aad: &subject.material.aad,
            expected: raw::OK,
            in_place: false,
            walk: None,
        };
        MessageBatch::place(&mut subject.session, arena, &set, roll)
    }
}
