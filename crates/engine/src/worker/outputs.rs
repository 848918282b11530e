//! What operations left, held against the reference: of as many as there is time for, the last one always.

use crate::protocol::{Finding, Visit};
use base::model::{Algorithm, Direction, Kind, Model};
use probe::{Done, MessageBatch};
use rand::Rng;
use rand::rngs::StdRng;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use verify::reference::Reference;

/// Time for outputs besides the last one; where the batch took longer, as long as it took.
const LEAST: Duration = Duration::from_micros(30);
/// And no longer than this: batches of one long operation are checked whole with their last output.
const MOST: Duration = Duration::from_millis(1);
/// Bytes that cannot all be the poison by chance: one in 2^64.
const SURE: usize = 8;
/// Bytes of an answer that is kept.
const KEPT_BYTES: usize = 64 << 10;

/// Outputs and tags of messages that come again, by size and number of the message: worked out once.
pub(super) type Answers = HashMap<(usize, usize), (Vec<u8>, Vec<u8>)>;

/// What operations on a visit's messages must leave.
pub(super) struct Expected<'a> {
    pub(super) algorithm: &'static Algorithm,
    pub(super) direction: Direction,
    pub(super) model: Model,
    /// Bytes of a message.
    pub(super) size: usize,
    pub(super) reference: &'a Reference,
    pub(super) aad: &'a [u8],
    /// All messages, one after the other.
    pub(super) plain: &'a [u8],
    /// What outputs and, but for decryption, tags were filled with before.
    pub(super) poison: u8,
    pub(super) answers: &'a mut Answers,
    /// What the last comparison took.
    pub(super) took: Duration,
}

/// Time for comparing what a batch left that took this long.
pub(super) fn time_for(batch: Duration) -> Duration {
    batch.clamp(LEAST, MOST)
}

impl<'a> Expected<'a> {
    /// For a visit's messages, with their associated data before them; outputs are poisoned with this byte.
    pub(super) fn new(
        reference: &'a Reference,
        visit: &Visit,
        (aad, plain): (&'a [u8], &'a [u8]),
        (poison, answers, took): (u8, &'a mut Answers, Duration),
    ) -> Self {
        let algorithm = reference.algorithm();
        let Visit { direction, model, size, .. } = *visit;
        Self { algorithm, direction, model, size, reference, aad, plain, poison, answers, took }
    }
    /// Compares what the last of `ran` operations left, and as much of what is left of those before it, in
    /// random order, as there is time for. Of the others, whether they were written at all. Whether all were
    /// compared.
    pub(super) fn check(
        &mut self,
        batch: &MessageBatch<'_>,
        ran: u32,
        time: Duration,
        rng: &mut StdRng,
    ) -> Result<bool, Finding> {
        let begun = Instant::now();
        self.check_last(batch)?;
        self.check_from(1, batch, ran, (begun, time), rng)
    }

    /// Compares what the last operation left.
    pub(super) fn check_last(&mut self, batch: &MessageBatch<'_>) -> Result<(), Finding> {
        self.compare(batch, 0)
    }

    /// As [`Expected::check`], without the last one's right to be compared: for operations that are many.
    pub(super) fn check_some(
        &mut self,
        batch: &MessageBatch<'_>,
        ran: u32,
        time: Duration,
        rng: &mut StdRng,
    ) -> Result<bool, Finding> {
        self.check_from(0, batch, ran, (Instant::now(), time), rng)
    }

    fn check_from(
        &mut self,
        first: usize,
        batch: &MessageBatch<'_>,
        ran: u32,
        (begun, time): (Instant, Duration),
        rng: &mut StdRng,
    ) -> Result<bool, Finding> {
        let kept = batch.kept(ran);
        let mut left: Vec<usize> = (first..kept).collect();
        let mut all = kept == ran as usize;
        while !left.is_empty() {
            let back = left.swap_remove(rng.next_u64() as usize % left.len());
            if may_go_on(self.took, begun.elapsed(), time, rng) {
                self.compare(batch, back)?;
            } else {
                self.is_written(&batch.done(back))?;
                all = false;
            }
        }
        Ok(all)
    }

    /// Compares what the operation left after which there were `back` more.
    fn compare(&mut self, batch: &MessageBatch<'_>, back: usize) -> Result<(), Finding> {
        let begun = Instant::now();
        let (done, size) = (batch.done(back), self.size);
        let message = &self.plain[done.message * size..][..size];
        let found = match (self.direction, self.algorithm.kind) {
            (Direction::Decrypt, _) => self.compare_with(&done, (message, done.tag)),
            (_, Kind::Null) => self.compare_with(&done, (&vec![self.poison; size], done.tag)),
            _ => {
                let key = (size, done.message);
                let known = if batch.counts() { None } else { self.answers.remove(&key) };
                let answer = known.unwrap_or_else(|| self.answer(&done, message));
                let found = self.compare_answer(&done, &answer, batch.is_poisoned_whole());
                if !batch.counts() && size <= KEPT_BYTES {
                    self.answers.insert(key, answer);
                }
                found
            }
        };
        self.took = begun.elapsed();
        found
    }

    fn answer(&self, done: &Done<'_>, message: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let writes = self.algorithm.writes_output();
        let mut output = vec![0; if writes { message.len() } else { 0 }];
        let mut tag = vec![0; self.algorithm.tag_len];
        let own = (self.model == Model::Rekey).then(|| Reference::new(self.algorithm, &done.key));
        own.as_ref().unwrap_or(self.reference).encrypt(
            &done.nonce,
            self.aad,
            message,
            &mut output,
            &mut tag,
        );
        (output, tag)
    }

    /// An answer without an output is that of an algorithm that writes none: there the poison stays.
    fn compare_answer(
        &self,
        done: &Done<'_>,
        (output, tag): &(Vec<u8>, Vec<u8>),
        poisoned: bool,
    ) -> Result<(), Finding> {
        if !output.is_empty() {
            return self.compare_with(done, (output, tag));
        }
        let size = if poisoned { self.size } else { 0 };
        self.compare_with(done, (&vec![self.poison; size], tag))
    }

    fn compare_with(&self, done: &Done<'_>, (output, tag): (&[u8], &[u8])) -> Result<(), Finding> {
        let Done { output: left, from, .. } = *done;
        let output = output.get(from..).unwrap_or_default();
        if let Some(at) = output.iter().zip(left).position(|(a, b)| a != b) {
            return Err(Finding::refused(format!(
                "timed-output: byte {} of {} that the timed loop left is {:02x}, the reference has {:02x}",
                from + at,
                self.size,
                left[at],
                output[at]
            )));
        }
        if tag != done.tag {
            return Err(Finding::refused(
                "timed-output: the tag that the timed loop left is not the reference's",
            ));
        }
        Ok(())
    }

    /// Whether anything was written, without the reference.
    fn is_written(&self, done: &Done<'_>) -> Result<(), Finding> {
        let poisoned =
            |bytes: &[u8]| bytes.len() >= SURE && bytes.iter().all(|b| *b == self.poison);
        let writes = self.algorithm.writes_output();
        let edge = done.output.len().min(2 * SURE);
        let (first, last) = (&done.output[..edge], &done.output[done.output.len() - edge..]);
        let encrypts = self.direction != Direction::Decrypt;
        if writes && (poisoned(first) || poisoned(last)) || encrypts && poisoned(done.tag) {
            return Err(Finding::refused(format!(
                "timed-output: the {} of {} bytes that the timed loop left is as it was before",
                if poisoned(done.tag) { "tag of a message" } else { "output" },
                self.size
            )));
        }
        Ok(())
    }
}

/// Whether one more fits the time; of what fits in part, by chance as often as it would.
fn may_go_on(one: Duration, spent: Duration, time: Duration, rng: &mut StdRng) -> bool {
    let left = time.saturating_sub(spent);
    let chance = left.as_secs_f64() / one.as_secs_f64().max(1e-9);
    chance * 2_f64.powi(32) > f64::from(rng.next_u32())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn comparisons_take_the_time_that_there_is_and_no_more() {
        let mut rng = StdRng::seed_from_u64(1);
        let us = Duration::from_micros;
        let mut went = |one, spent, time| {
            (0..3000).filter(|_| may_go_on(us(one), us(spent), us(time), &mut rng)).count()
        };
        assert_eq!(went(10, 0, 30), 3000);
        assert_eq!(went(10, 30, 30), 0);
        assert_eq!(went(10, 40, 30), 0);
        assert_eq!(went(0, 0, 30), 3000);
        // What fits to a third goes on one time in three.
        assert!((900..1100).contains(&went(90, 0, 30)));
    }

    #[test]
    fn outputs_get_as_long_as_their_batch_took_within_bounds() {
        let us = Duration::from_micros;
        assert_eq!([0, 30, 200, 5000].map(|t| time_for(us(t))), [30, 30, 200, 1000].map(us));
    }
}
