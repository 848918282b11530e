//! One thread's sessions and memory, and what it does in a visit.

use super::around::{Around, part};
use super::bench::Part;
use super::decoy::Decoy;
use super::material::{Ciphertexts, Plaintext};
use super::novelty;
use super::subject::{Left, Subject};
use crate::protocol::{Finding, Visit};
use contract::{Library, Outcome, raw};
use model::{Algorithm, Direction, Footprint, Model};
use probe::{Arena, Batch, MessageBatch, MessageSet, Place, StreamBatch, WalkSize, messages_for};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use std::collections::HashMap;
use verify::may_be_refused;

/// Ciphertexts up to this size stay in memory between visits; making larger ones anew costs little
/// against the operations on them.
const KEPT_BYTES: usize = 256 << 10;

/// Nonces set aside for one visit: far more than its operations, warm-up and calibration.
pub(super) const NONCES_PER_VISIT: u64 = 1 << 26;

/// Of so many visits one makes a decoy, and a later one looks once more whether messages that come again
/// are remembered. Which ones, no library can foresee.
const DECOY_OF: u64 = 4;
const NOVELTY_OF: u64 = 64;

/// Memory to walk through in place where nobody says how much: three quarters of a small first-level
/// cache.
const SMALL_WALK_BYTES: usize = 24 << 10;

/// One thread's sessions and memory.
pub(super) struct Lane {
    seed: u64,
    arena: Arena,
    /// Places each visit's buffers; not from the run's seed, because layouts must differ between
    /// runs for their agreement to mean anything.
    placement: StdRng,
    nonces_used: u64,
    plaintext: Plaintext,
    subjects: HashMap<(&'static str, Direction, bool), Subject>,
}

impl Lane {
    pub(super) fn new(process: u32, thread: u32, seed: u64) -> Self {
        Self {
            seed,
            arena: Arena::new(0, 0),
            placement: StdRng::from_rng(&mut rand::rng()),
            // Processes and threads share the key, so each counts its nonces in a range of its own.
            nonces_used: (u64::from(process) << 48) + (u64::from(thread) << 42),
            plaintext: Plaintext::new(seed),
            subjects: HashMap::new(),
        }
    }

    pub(super) fn release_above(&mut self, bytes: usize) {
        self.arena.release_above(bytes);
    }

    pub(super) fn visit(
        &mut self,
        library: &'static dyn Library,
        visit: &Visit,
        around: &Around<'_>,
    ) -> Part {
        let rekeys = visit.model == Model::Rekey;
        let opened = self.take(library, visit, rekeys);
        let mut subject = around.gather(opened)?;
        let key = (subject.session.algorithm().name, visit.direction, rekeys);
        let taken = match visit.model {
            Model::Stream => self.stream(&mut subject, visit, around),
            Model::Message | Model::Rekey | Model::Forgery => {
                self.message(&mut subject, visit, around)
            }
        };
        self.subjects.insert(key, subject);
        taken
    }

    /// The visit's subject, opened at the first visit.
    fn take(
        &mut self,
        library: &'static dyn Library,
        visit: &Visit,
        rekeys: bool,
    ) -> Result<Subject, Finding> {
        let algorithm =
            Algorithm::find(&visit.algorithm).map_err(|e| Finding::failed(e.to_string()))?;
        if !algorithm.sizes.allows(visit.size) {
            return Err(Finding::unsupported(algorithm.size_reason()));
        }
        let subject = match self.subjects.remove(&(algorithm.name, visit.direction, rekeys)) {
            Some(subject) => subject,
            None => Subject::open(library, algorithm, visit.direction, self.seed, rekeys)?,
        };
        subject.offers(visit)?;
        Ok(subject)
    }

    fn message(&mut self, subject: &mut Subject, visit: &Visit, around: &Around<'_>) -> Part {
        let algorithm = subject.session.algorithm();
        let (size, roll) = (visit.size, self.placement.next_u64());
        let plain = self.plaintext.first(size * messages_for(size));
        let made = subject.ciphertexts(visit, plain);
        let first = [subject.material.nonce_raised(self.nonces_used)];
        let first_key = [subject.material.key_raised(self.nonces_used)];
        self.nonces_used += NONCES_PER_VISIT;
        let forges = visit.model == Model::Forgery;
        let forged = made.as_ref().filter(|_| forges).map(Ciphertexts::forged_tags);
        let (inputs, nonces, tags) = match &made {
            Some(made) => (
                made.inputs.as_slice(),
                made.nonces.as_slice(),
                forged.as_deref().unwrap_or(&made.tags),
            ),
            None => (plain, first.as_slice(), [].as_slice()),
        };
        let keys = match (&made, visit.model) {
            (Some(made), Model::Rekey) => made.keys.as_slice(),
            (None, Model::Rekey) => first_key.as_slice(),
            _ => &[],
        };
        let set = MessageSet {
            size,
            inputs,
            nonces,
            tags,
            keys,
            aad: &subject.material.aad,
            expected: if forges { raw::REJECTED } else { raw::OK },
            in_place: visit.in_place,
            walk: around.gather(walk(algorithm, visit))?,
        };
        let mut batch = MessageBatch::place(&mut subject.session, &mut self.arena, &set, roll);
        let poison = batch.poison_byte();
        let (taken, ops) = around.measure(&mut batch, visit, &|batch, warm_up, ops| {
            ready(batch, warm_up, ops, poison);
        });
        let too_long = may_be_refused(algorithm, size, subject.material.aad.len());
        if taken.codes != 0 && too_long && !forges {
            return Err(Finding::unsupported(format!(
                "the library's interface reports an error for messages of {size} bytes"
            )));
        }
        codes(taken.codes, visit.model)?;
        if !forges {
            let left = Left {
                output: batch.output(),
                tag: batch.last_tag(),
                nonce: &batch.last_nonce(),
                poison,
            };
            let message = &plain[batch.last_message() * size..][..size];
            let (reference, aad) = (&subject.reference, &subject.material.aad);
            let key = (visit.model == Model::Rekey).then(|| batch.last_key());
            left.check(algorithm, visit.direction, (reference, key.as_deref()), aad, message)?;
            if around.meeting.is_none() && self.placement.next_u64().is_multiple_of(DECOY_OF) {
                let decoy = Decoy { algorithm, visit, reference, aad, plain, most: ops };
                decoy.check(&mut batch, self.placement.next_u64())?;
            }
        }
        let (latency, alone) = around.alone(&mut batch, visit, &taken);
        codes(alone, visit.model)?;
        drop(batch);
        let again = visit.ops.is_none() || self.placement.next_u64().is_multiple_of(NOVELTY_OF);
        if again && novelty::comes_again(subject, visit) {
            novelty::check(subject, &mut self.arena, visit, &mut self.placement)?;
        }
        if let Some(made) = made {
            if forges {
                subject.still_accepts(&made, &plain[..size])?;
            }
            if made.inputs.len() <= KEPT_BYTES {
                subject.keep(size, made);
            }
        }
        part(taken, latency)
    }

    fn stream(&mut self, subject: &mut Subject, visit: &Visit, around: &Around<'_>) -> Part {
        let initial = self.plaintext.first(visit.size);
        let roll = self.placement.next_u64();
        let nonce = &subject.material.nonce;
        let mut batch =
            StreamBatch::place(&mut subject.session, &mut self.arena, initial, nonce, roll);
        around.gather(begun(batch.restart()))?;
        let (taken, ops) = around.measure(&mut batch, visit, &|batch, warm_up, _| {
            // An outcome other than done shows in the buffer, which is checked.
            batch.restart();
            batch.run(warm_up);
            batch.restart();
        });
        codes(taken.codes, visit.model)?;
        let (left, all) = (batch.buffer().to_vec(), batch.updates());
        debug_assert!(all >= ops);
        subject.check_stream(visit, all, initial, &left)?;
        part(taken, None)
    }
}

/// What a visit walks through.
fn walk(algorithm: &Algorithm, visit: &Visit) -> Result<Option<WalkSize>, Finding> {
    let place = Place::of(algorithm, visit.direction, visit.size, visit.in_place);
    let size = match (visit.footprint, visit.walk_bytes) {
        (Footprint::Hot, _) if !visit.in_place => return Ok(None),
        // Fresh data for each operation: two places at least, so that none is used twice in a row.
        (Footprint::Hot, bytes) => {
            WalkSize::Within(bytes.unwrap_or(SMALL_WALK_BYTES).max(2 * place.bytes()))
        }
        (Footprint::Memory, Some(bytes)) => WalkSize::Cold { at_least: bytes, evict: bytes / 2 },
        (_, Some(bytes)) => WalkSize::Within(bytes),
        (footprint, None) => {
            return Err(Finding::failed(format!(
                "nothing says how large the footprint {footprint} is"
            )));
        }
    };
    match place.count(size) {
        Some(_) => Ok(Some(size)),
        None => Err(Finding::unsupported(format!(
            "the {} bytes that an operation touches do not fit the footprint {}",
            place.bytes(),
            visit.footprint
        ))),
    }
}

/// Untimed operations, and data for the timed ones.
fn ready(batch: &mut MessageBatch<'_>, warm_up: u32, ops: u32, poison: u8) {
    match batch.round() {
        // One preparation for both: what is touched after it is in the caches.
        Some(_) if batch.is_cold() => {
            batch.prepare(warm_up.saturating_add(ops));
            batch.run(warm_up);
        }
        // Making the data ready brings them into the cache that is to hold them. What warming up has
        // used must not be used again: in place it is no message any more, and elsewhere its output
        // is there already.
        Some(round) => {
            let warm_up = warm_up.min(batch.most());
            batch.prepare(warm_up);
            batch.run(warm_up);
            if warm_up.saturating_add(ops) > round {
                batch.prepare(ops);
            }
        }
        None => {
            batch.run(warm_up);
            batch.poison(poison);
        }
    }
}

/// What return codes say; each bit is of some call's code, exclusive-or the expected one.
pub(super) fn codes(codes: i32, model: Model) -> Result<(), Finding> {
    match (codes, model) {
        (0, _) => Ok(()),
        // Every code was either the rejection or success.
        (raw::REJECTED, Model::Forgery) => {
            Err(Finding::refused("return-codes: a timed call accepted a forged tag"))
        }
        (_, Model::Forgery) => Err(Finding::refused(format!(
            "return-codes: a timed call on a forged tag returned an error and must reject it (bits {codes:#x})"
        ))),
        _ => Err(Finding::refused(format!(
            "return-codes: a timed call returned an error (bits {codes:#x})"
        ))),
    }
}

fn begun(outcome: Outcome) -> Result<(), Finding> {
    match outcome {
        Outcome::Done => Ok(()),
        other => Err(Finding::failed(format!("setting the nonce of a stream returned {other:?}"))),
    }
}
