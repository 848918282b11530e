//! A batch that looks like a timed one from within the library and is none: of a length that nobody can
//! foresee, with its last output checked, and for decryption with a forged tag at its end. A library that does its
//! work only where it is looked at cannot know where that is.

use super::lane::codes;
use super::subject::Left;
use crate::protocol::{Finding, Visit};
use contract::raw;
use model::{Algorithm, Direction, Model};
use probe::{Batch as _, MessageBatch};
use verify::reference::Reference;

/// What a decoy is made of: what the visit's timed batch was.
pub(super) struct Decoy<'a> {
    pub(super) algorithm: &'static Algorithm,
    pub(super) visit: &'a Visit,
    pub(super) reference: &'a Reference,
    pub(super) aad: &'a [u8],
    /// All messages of the batch.
    pub(super) plain: &'a [u8],
    /// Operations of the timed batch.
    pub(super) most: u32,
}

impl Decoy<'_> {
    /// Runs it after the timed batch, outside any clock.
    pub(super) fn check(&self, batch: &mut MessageBatch<'_>, roll: u64) -> Result<(), Finding> {
        let ops = self.run(batch, roll)?;
        self.forge(batch, roll >> 32)?;
        debug_assert!(ops <= self.most);
        Ok(())
    }

    fn run(&self, batch: &mut MessageBatch<'_>, roll: u64) -> Result<u32, Finding> {
        let most = self.most.min(batch.most()).max(1);
        let ops = 1 + (roll % u64::from(most)) as u32;
        let poison = batch.poison_byte();
        batch.poison(poison);
        batch.prepare(ops);
        let in_decoy = |finding: Finding| Finding {
            why: format!("{} (in an untimed batch of {ops} operations)", finding.why),
            ..finding
        };
        codes(batch.run(ops), self.visit.model).map_err(in_decoy)?;
        let left = Left {
            output: batch.output(),
            tag: batch.last_tag(),
            nonce: &batch.last_nonce(),
            poison,
        };
        let size = self.visit.size;
        let message = &self.plain[batch.last_message() * size..][..size];
        let key = (self.visit.model == Model::Rekey).then(|| batch.last_key());
        let reference = (self.reference, key.as_deref());
        left.check(self.algorithm, self.visit.direction, reference, self.aad, message)
            .map_err(in_decoy)?;
        Ok(ops)
    }

    /// A forged tag behind some right ones must be rejected, and nothing else.
    fn forge(&self, batch: &mut MessageBatch<'_>, roll: u64) -> Result<(), Finding> {
        let decrypts = self.visit.direction == Direction::Decrypt;
        if !decrypts || !self.algorithm.rejects() || batch.round().is_some() {
            return Ok(());
        }
        let ops = 1 + (roll % u64::from(self.most.min(probe::MAX_MESSAGES as u32))) as u32;
        let found = batch.run_to_a_forgery(ops);
        if found == raw::OK ^ raw::REJECTED {
            return Ok(());
        }
        Err(Finding::refused(format!(
            "timed-forgery: {} a forged tag that came {ops} operations into an untimed batch (bits {found:#x})",
            if found == 0 { "accepted" } else { "returned an error for" }
        )))
    }
}
