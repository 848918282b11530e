//! An opened algorithm in one direction with what checks it.

use super::material::{Ciphertexts, Material};
use super::outputs::Answers;
use crate::protocol::{Finding, NO_FORGERY, Visit, not_opened};
use base::model::{Algorithm, Direction, Model};
use contract::{Library, Message, Outcome, Session};
use std::collections::HashMap;
use verify::reference::Reference;
use xxhash_rust::xxh3::xxh3_64;

/// Messages in flight need an output each.
const LARGEST_IN_FLIGHT: usize = 1 << 20;

/// Why a runtime's rows have no model `rekey`.
const NEW_KEYS: &str = "a runtime's program sets one key for many messages";

/// An opened algorithm in one direction with what checks it.
pub(super) struct Subject {
    pub(super) session: Session,
    pub(super) reference: Reference,
    pub(super) material: Material,
    /// Whether its key is a new one for each message.
    rekeys: bool,
    /// By message size.
    ciphertexts: HashMap<usize, Ciphertexts>,
    /// Digest of what a stream must leave, by size and number of updates.
    streams: HashMap<(usize, u32), u64>,
    /// Of messages that come again under the same nonce, or none.
    pub(super) answers: Answers,
}

impl Subject {
    /// Opens it; with `rekeys` for new keys, by opening it again for each where the library's
    /// context takes none.
    pub(super) fn open(
        library: &'static dyn Library,
        algorithm: &'static Algorithm,
        direction: Direction,
        seed: u64,
        rekeys: bool,
    ) -> Result<Self, Finding> {
        let material = Material::new(seed, algorithm);
        if rekeys && algorithm.key_len == 0 {
            return Err(Finding::unsupported(format!("{algorithm} has no key")));
        }
        let mut session = library.open(algorithm, direction, &material.key).map_err(not_opened)?;
        if rekeys && session.is_remote() {
            return Err(Finding::unsupported(NEW_KEYS));
        }
        if rekeys && !session.has_rekey() {
            session = contract::reopening(library, algorithm, direction, &material.key)
                .map_err(not_opened)?;
        }
        let reference = Reference::new(algorithm, &material.key);
        let (ciphertexts, streams) = (HashMap::new(), HashMap::new());
        let answers = Answers::new();
        Ok(Self { session, reference, material, rekeys, ciphertexts, streams, answers })
    }

    /// Whether the visit can be made.
    pub(super) fn offers(&self, visit: &Visit) -> Result<(), Finding> {
        if visit.model == Model::Stream {
            return self.offers_stream(visit);
        }
        if !self.session.has_message() {
            return Err(Finding::unsupported("the library does not offer whole messages"));
        }
        if self.session.in_flight() > 1 && visit.size > LARGEST_IN_FLIGHT {
            return Err(Finding::unsupported(format!(
                "with several messages in flight, none is larger than {LARGEST_IN_FLIGHT} bytes"
            )));
        }
        if visit.in_place && !self.session.in_place() {
            return Err(Finding::unsupported("the library's interface does not work in place"));
        }
        if visit.model == Model::Forgery
            && !(self.session.algorithm().rejects() && visit.direction == Direction::Decrypt)
        {
            return Err(Finding::unsupported(NO_FORGERY));
        }
        Ok(())
    }

    /// Whether a stream of updates of this size can be timed.
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

    /// What a visit of decryption works on: made of `plain`, or kept from an earlier visit.
    pub(super) fn ciphertexts(&mut self, visit: &Visit, plain: &[u8]) -> Option<Ciphertexts> {
        (visit.direction == Direction::Decrypt).then(|| {
            let kept = self.ciphertexts.remove(&visit.size);
            let make = || self.material.encrypted(&self.reference, visit.size, plain, self.rekeys);
            kept.unwrap_or_else(make)
        })
    }

    /// Keeps ciphertexts for later visits.
    pub(super) fn keep(&mut self, size: usize, made: Ciphertexts) {
        self.ciphertexts.insert(size, made);
    }

    /// After forgeries: that the first message, as it should be, is still taken. A session that
    /// rejects everything is fast as well.
    pub(super) fn still_accepts(
        &mut self,
        made: &Ciphertexts,
        plain: &[u8],
    ) -> Result<(), Finding> {
        let mut output = vec![0; plain.len()];
        let mut tag = made.tags[0].clone();
        let outcome = self.session.message(Message {
            nonce: &made.nonces[0],
            aad: &self.material.aad,
            input: &made.inputs[..plain.len()],
            output: &mut output,
            tag: &mut tag,
        });
        if outcome == Outcome::Done && output == plain {
            return Ok(());
        }
        Err(Finding::refused(format!(
            "timed-output: after forgeries the message itself gives {outcome:?} and {} plaintext",
            if output == plain { "its" } else { "another" }
        )))
    }

    /// Holds what `ops` updates left of `initial` against the reference, whose part is worked out
    /// once.
    pub(super) fn check_stream(
        &mut self,
        visit: &Visit,
        ops: u32,
        initial: &[u8],
        left: &[u8],
    ) -> Result<(), Finding> {
        let (reference, nonce) = (&self.reference, &self.material.nonce);
        let next_unit = self.session.next_unit();
        let expected = *self.streams.entry((visit.size, ops)).or_insert_with(|| {
            let mut buffer = initial.to_vec();
            if let Some(mut stream) = reference.stream(visit.direction, nonce, next_unit) {
                for _ in 0..ops {
                    stream.update(&mut buffer);
                }
            }
            xxh3_64(&buffer)
        });
        if xxh3_64(left) == expected {
            return Ok(());
        }
        Err(Finding::refused(format!(
            "timed-output: after {ops} timed updates the buffer is not what the reference gives"
        )))
    }
}
