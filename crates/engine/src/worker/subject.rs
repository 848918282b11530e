//! An opened algorithm in one direction with what checks it.

use super::material::{Ciphertexts, Material};
use crate::protocol::{Finding, Visit};
use contract::{Library, Session};
use model::{Algorithm, Direction, Kind};
use std::collections::HashMap;
use verify::reference::Reference;
use xxhash_rust::xxh3::xxh3_64;

/// An opened algorithm in one direction with what checks it.
pub(super) struct Subject {
    pub(super) session: Session,
    pub(super) reference: Reference,
    pub(super) material: Material,
    /// By message size.
    pub(super) ciphertexts: HashMap<usize, Ciphertexts>,
    /// Digest of what a stream must leave, by size and number of updates.
    streams: HashMap<(usize, u32), u64>,
}

impl Subject {
    pub(super) fn open(
        library: &dyn Library,
        algorithm: &'static Algorithm,
        direction: Direction,
        seed: u64,
    ) -> Result<Self, Finding> {
        let material = Material::new(seed, algorithm);
        let session = library.open(algorithm, direction, &material.key)?;
        let reference = Reference::new(algorithm, &material.key);
        let (ciphertexts, streams) = (HashMap::new(), HashMap::new());
        Ok(Self { session, reference, material, ciphertexts, streams })
    }

    /// Whether a stream of updates of this size can be timed.
    pub(super) fn offers_stream(&self, visit: &Visit) -> Result<(), Finding> {
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

/// What the last timed operation on a message left.
pub(super) struct Left<'a> {
    pub(super) output: &'a [u8],
    pub(super) tag: &'a [u8],
    pub(super) nonce: &'a [u8],
    /// What the output and, but for decryption, the tag were filled with before.
    pub(super) poison: u8,
}

impl Left<'_> {
    /// Holds it against the reference.
    pub(super) fn check(
        &self,
        algorithm: &Algorithm,
        direction: Direction,
        reference: &Reference,
        aad: &[u8],
        plain: &[u8],
    ) -> Result<(), Finding> {
        let size = plain.len();
        let mut tag = vec![0; algorithm.tag_len];
        let mut output = vec![self.poison; size];
        match (algorithm.kind, direction) {
            (_, Direction::Decrypt) => {
                output.copy_from_slice(plain);
                tag.copy_from_slice(self.tag);
            }
            (Kind::Null, _) => {}
            _ => reference.encrypt(self.nonce, aad, plain, &mut output, &mut tag),
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
