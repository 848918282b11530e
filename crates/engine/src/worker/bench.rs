//! Visits: one sample of a case, with its output held against the reference before it counts.

use super::material::Plaintext;
use super::subject::{Left, Subject};
use crate::protocol::{Finding, Visit};
use contract::{Library, Outcome};
use model::{Algorithm, Direction, Model, RawSample};
use probe::{Arena, Clock, MessageBatch, MessageSet, Pace, StreamBatch, Taken, messages_for};
use rand::{Rng as _, SeedableRng as _, rngs::StdRng};
use std::collections::HashMap;
use std::time::Duration;

/// Ciphertexts up to this size stay in memory between visits; making larger ones anew costs little
/// against the operations on them.
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
    plaintext: Plaintext,
    subjects: HashMap<(&'static str, Direction), Subject>,
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
            plaintext: Plaintext::new(seed),
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
            Model::Rekey | Model::Forgery => Err(Finding::unsupported(format!(
                "the model {} cannot be timed by this version of ciphermark",
                visit.model
            ))),
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
        let (size, roll) = (visit.size, self.placement.next_u64());
        let plain = self.plaintext.first(size * messages_for(size));
        let material = &subject.material;
        let made = (visit.direction == Direction::Decrypt).then(|| {
            let kept = subject.ciphertexts.remove(&size);
            kept.unwrap_or_else(|| material.encrypted(&subject.reference, size, plain))
        });
        let first_nonce = [material.nonce_raised(self.nonces_used)];
        self.nonces_used += NONCES_PER_VISIT;
        let (inputs, nonces, tags) = match &made {
            Some(made) => (made.inputs.as_slice(), made.nonces.as_slice(), made.tags.as_slice()),
            None => (plain, first_nonce.as_slice(), [].as_slice()),
        };
        let set = MessageSet { size, inputs, nonces, tags, aad: &material.aad };
        let mut batch = MessageBatch::place(&mut subject.session, &mut self.arena, &set, roll);
        let ops =
            visit.ops.unwrap_or_else(|| batch.calibrate(&self.clock, self.ticks_per_ns, self.pace));
        batch.run(warm_up_ops(ops, self.pace));
        let poison = (roll >> 24) as u8;
        batch.poison(poison);
        let taken = batch.sample(&self.clock, self.process, ops);
        if taken.codes == 0 {
            let (output, tag) = (batch.output(), batch.last_tag());
            let left = Left { output, tag, nonce: &batch.last_nonce(), poison };
            let message = &plain[batch.last_message() * size..][..size];
            left.check(algorithm, visit.direction, &subject.reference, &material.aad, message)?;
        }
        if let Some(made) = made.filter(|made| made.inputs.len() <= KEPT_BYTES) {
            subject.ciphertexts.insert(size, made);
        }
        Ok(taken)
    }

    fn stream(&mut self, subject: &mut Subject, visit: &Visit) -> Result<Taken, Finding> {
        subject.offers_stream(visit)?;
        let initial = self.plaintext.first(visit.size);
        let roll = self.placement.next_u64();
        let nonce = &subject.material.nonce;
        let mut batch =
            StreamBatch::place(&mut subject.session, &mut self.arena, initial, nonce, roll);
        let ops =
            visit.ops.unwrap_or_else(|| batch.calibrate(&self.clock, self.ticks_per_ns, self.pace));
        begun(batch.restart())?;
        batch.run(warm_up_ops(ops, self.pace));
        begun(batch.restart())?;
        let taken = batch.sample(&self.clock, self.process, ops);
        if taken.codes == 0 {
            let left = batch.buffer().to_vec();
            subject.check_stream(visit, ops, initial, &left)?;
        }
        Ok(taken)
    }
}

fn begun(outcome: Outcome) -> Result<(), Finding> {
    match outcome {
        Outcome::Done => Ok(()),
        other => Err(Finding::failed(format!("setting the nonce of a stream returned {other:?}"))),
    }
}

/// Warm-up operations before a batch of `ops`.
fn warm_up_ops(ops: u32, pace: Pace) -> u32 {
    ((f64::from(ops) * pace.warm_up_ns / pace.sample_ns).ceil() as u32).max(1)
}
