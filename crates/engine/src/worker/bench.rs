//! Visits: one sample of a case, with its output held against the reference before it counts.

use super::material::Material;
use super::serve::open_finding;
use crate::protocol::{Finding, Visit};
use contract::{Library, Outcome, Session};
use model::{Algorithm, Direction, Kind, Model, RawSample};
use probe::{Arena, Clock, MessageBatch, MessageSet, Pace, StreamBatch, Taken};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use std::collections::HashMap;
use std::time::Duration;
use verify::reference::Reference;
use xxhash_rust::xxh3::xxh3_64;

/// Message sets up to this size stay in memory between visits; making larger ones anew costs
/// little against the operations on them.
const KEPT_BYTES: usize = 256 << 10;

/// Nonces set aside for one visit: far more than its operations, warm-up and calibration.
const NONCES_PER_VISIT: u64 = 1 << 26;

/// Everything that a worker samples with.
pub(super) struct Bench {
    clock: Clock,
    ticks_per_ns: f64,
    pace: Pace,
    arena: Arena,
    process: u32,
    seed: u64,
    /// Places each visit's buffers; not from the run's seed, because layouts must differ between
    /// runs for their agreement to mean anything.
    placement: StdRng,
    nonces_used: u64,
    subjects: HashMap<(&'static str, Direction), Subject>,
}

/// An opened algorithm in one direction with what checks it.
struct Subject {
    session: Session,
    reference: Reference,
    material: Material,
    messages: HashMap<usize, Messages>,
    streams: HashMap<(usize, u32), u64>,
}

/// A case's messages and the plaintexts under them.
struct Messages {
    set: MessageSet,
    plain: Vec<u8>,
}

impl Bench {
    pub(super) fn new(process: u32, seed: u64, ticks_per_ns: Option<f64>) -> Self {
        let clock = Clock::calibrate();
        let ticks_per_ns = ticks_per_ns.unwrap_or_else(|| {
            let start = clock.anchor();
            // Only the batch length hangs on this rate; the record's is measured over the run.
            std::thread::sleep(Duration::from_millis(1));
            start.ticks_per_second(clock.anchor()) / 1e9
        });
        Self {
            clock,
            ticks_per_ns,
            pace: Pace::default(),
            arena: Arena::new(0, 0),
            process,
            seed,
            placement: StdRng::from_rng(&mut rand::rng()),
            // Processes share the key, so each counts its nonces in a range of its own.
            nonces_used: u64::from(process) << 48,
            subjects: HashMap::new(),
        }
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Takes one sample of a case and checks what its last operation left.
    pub(super) fn visit(
        &mut self,
        library: &dyn Library,
        visit: &Visit,
    ) -> Result<RawSample, Finding> {
        let algorithm =
            Algorithm::find(&visit.algorithm).map_err(|e| Finding::failed(e.to_string()))?;
        if !algorithm.sizes.allows(visit.size) {
            return Err(Finding::unsupported(algorithm.size_reason()));
        }
        let key = (algorithm.name, visit.direction);
        let mut subject = match self.subjects.remove(&key) {
            Some(subject) => subject,
            None => Subject::open(library, algorithm, visit.direction, self.seed)?,
        };
        let taken = match visit.model {
            Model::Message => self.message(&mut subject, visit),
            Model::Stream => self.stream(&mut subject, visit),
        };
        self.subjects.insert(key, subject);
        let Taken { sample, codes } = taken?;
        if codes != 0 {
            return Err(Finding::refused(format!(
                "return-codes: a timed call returned an error (bits {codes:#x})"
            )));
        }
        Ok(sample)
    }

    fn message(&mut self, subject: &mut Subject, visit: &Visit) -> Result<Taken, Finding> {
        let algorithm = subject.session.algorithm();
        if !subject.session.has_message() {
            return Err(Finding::unsupported("the library does not offer whole messages"));
        }
        let mut messages = subject.messages(visit);
        if visit.direction != Direction::Decrypt {
            messages.set.nonces = vec![subject.material.nonce_raised(self.nonces_used)];
            self.nonces_used += NONCES_PER_VISIT;
        }
        let roll = self.placement.next_u64();
        let mut batch =
            MessageBatch::place(&mut subject.session, &mut self.arena, &messages.set, roll);
        let ops =
            visit.ops.unwrap_or_else(|| batch.calibrate(&self.clock, self.ticks_per_ns, self.pace));
        batch.run(warm_up_ops(ops, self.pace));
        let poison = (roll >> 24) as u8;
        batch.poison(poison);
        let taken = batch.sample(&self.clock, self.process, ops);
        let left = Left {
            output: batch.output(),
            tag: batch.last_tag(),
            nonce: &batch.last_nonce(),
            message: batch.last_message(),
            poison,
        };
        if taken.codes == 0 {
            left.check(algorithm, visit.direction, &subject.reference, &messages)?;
        }
        if messages.plain.len() <= KEPT_BYTES {
            subject.messages.insert(visit.size, messages);
        }
        Ok(taken)
    }

    fn stream(&mut self, subject: &mut Subject, visit: &Visit) -> Result<Taken, Finding> {
        subject.offers_stream(visit)?;
        let initial = subject.material.plaintext(visit.size);
        let nonce = subject.material.nonce.clone();
        let roll = self.placement.next_u64();
        let mut batch =
            StreamBatch::place(&mut subject.session, &mut self.arena, &initial, &nonce, roll);
        let ops =
            visit.ops.unwrap_or_else(|| batch.calibrate(&self.clock, self.ticks_per_ns, self.pace));
        batch.run(warm_up_ops(ops, self.pace));
        let begun = batch.restart();
        if begun != Outcome::Done {
            return Err(Finding::failed(format!("setting the nonce returned {begun:?}")));
        }
        let taken = batch.sample(&self.clock, self.process, ops);
        let left = xxh3_64(batch.buffer());
        if taken.codes == 0 && left != subject.stream_result(visit, ops, &initial) {
            return Err(Finding::refused(format!(
                "timed-output: after {ops} timed updates the buffer is not what the reference gives"
            )));
        }
        Ok(taken)
    }
}

/// Warm-up operations before a batch of `ops`.
fn warm_up_ops(ops: u32, pace: Pace) -> u32 {
    ((f64::from(ops) * pace.warm_up_ns / pace.sample_ns).ceil() as u32).max(1)
}

impl Subject {
    fn open(
        library: &dyn Library,
        algorithm: &'static Algorithm,
        direction: Direction,
        seed: u64,
    ) -> Result<Self, Finding> {
        let material = Material::new(seed, algorithm);
        let session = library.open(algorithm, direction, &material.key).map_err(open_finding)?;
        let reference = Reference::new(algorithm, &material.key);
        let (messages, streams) = (HashMap::new(), HashMap::new());
        Ok(Self { session, reference, material, messages, streams })
    }

    fn messages(&mut self, visit: &Visit) -> Messages {
        if let Some(messages) = self.messages.remove(&visit.size) {
            return messages;
        }
        let (material, algorithm) = (&self.material, self.session.algorithm());
        let set = if visit.direction == Direction::Decrypt {
            material.cipher_set(&self.reference, algorithm, visit.size)
        } else {
            material.plain_set(visit.size, material.nonce.clone())
        };
        Messages { plain: material.plaintext(set.inputs.len()), set }
    }

    fn offers_stream(&self, visit: &Visit) -> Result<(), Finding> {
        if !self.session.has_stream() || !self.session.in_place() {
            return Err(Finding::unsupported(format!(
                "the library has no repeated update in place for {}",
                visit.algorithm
            )));
        }
        if !self.reference.stream_sizes().allows(visit.size) {
            return Err(Finding::unsupported(format!(
                "a stream of {} takes updates of whole blocks of 16 bytes",
                visit.algorithm
            )));
        }
        Ok(())
    }

    /// Digest of what `ops` updates must leave of `initial`; computed once.
    fn stream_result(&mut self, visit: &Visit, ops: u32, initial: &[u8]) -> u64 {
        let (reference, nonce) = (&self.reference, &self.material.nonce);
        let next_unit = self.session.next_unit();
        *self.streams.entry((visit.size, ops)).or_insert_with(|| {
            let mut buffer = initial.to_vec();
            if let Some(mut stream) = reference.stream(visit.direction, nonce, next_unit) {
                for _ in 0..ops {
                    stream.update(&mut buffer);
                }
            }
            xxh3_64(&buffer)
        })
    }
}

/// What the last timed operation left.
struct Left<'a> {
    output: &'a [u8],
    tag: &'a [u8],
    nonce: &'a [u8],
    message: usize,
    poison: u8,
}

impl Left<'_> {
    /// Holds it against the reference.
    fn check(
        &self,
        algorithm: &Algorithm,
        direction: Direction,
        reference: &Reference,
        messages: &Messages,
    ) -> Result<(), Finding> {
        let size = messages.set.size;
        let plain = &messages.plain[self.message * size..][..size];
        let mut tag = vec![0; algorithm.tag_len];
        let mut output = vec![self.poison; size];
        match (algorithm.kind, direction) {
            (_, Direction::Decrypt) => {
                output.copy_from_slice(plain);
                tag.copy_from_slice(self.tag);
            }
            (Kind::Null, _) => {}
            _ => reference.encrypt(self.nonce, &messages.set.aad, plain, &mut output, &mut tag),
        }
        if let Some(at) = output.iter().zip(self.output).position(|(a, b)| a != b) {
            return Err(Finding::refused(format!(
                "timed-output: byte {at} of {size} that the timed loop left is {:02x}, the reference has {:02x}",
                self.output[at], output[at]
            )));
        }
        if tag != self.tag {
            return Err(Finding::refused(
                "timed-output: the tag that the timed loop left is not the reference's",
            ));
        }
        Ok(())
    }
}
