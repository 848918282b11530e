//! What in recorded calls depends on a secret: by comparing traces, and by following the secret through one.
//!
//! No `unsafe` and no clock here: tapes and code in, findings out.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod judge;
#[cfg(target_arch = "x86_64")]
mod taint;
#[cfg(test)]
#[cfg(target_arch = "aarch64")]
mod tests_aarch64;

use crate::step::{Code, Tape};
#[cfg(target_arch = "aarch64")]
use aarch64 as taint;
pub use judge::judge;
use record::{Leak, SteppedOperation};
use std::ops::Range;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub operation: Operation,
    /// Bytes of plaintext; none where there is no message.
    pub size: Option<usize>,
    /// Where ciphertext and tag are written, in the first secret's process: public from then on.
    pub outputs: Vec<Range<u64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Operation {
    /// A new key, for the direction that follows.
    KeySetUp,
    Encrypt,
    /// A message with its right tag is decrypted.
    Decrypt,
    /// A message with a wrong tag is rejected.
    Reject,
    /// A message is authenticated.
    Digest,
    /// A secret is agreed on with the holder of another key.
    Agree,
    Sign,
    /// A secret is taken out of its ciphertext.
    Decapsulate,
}

impl Operation {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Debug)]
pub struct Recordings<'a> {
    /// What the calls on the tapes are. Rejections come last.
    pub stages: &'a [Stage],
    pub secrets: &'a [Tape],
    /// The first secret once more: what differs here is not the secret's doing.
    pub twin: &'a Tape,
    /// The first secret with tags that are wrong at different places: only the rejections, which are compared with each
    /// other.
    pub forgeries: &'a [Tape],
    /// Where the secret lies in the first secret's process; empty where it cannot be followed from there. Then there
    /// is no taint, and the comparison must see by itself that the secret made any difference.
    pub secret: &'a [Range<u64>],
    /// For each secret what is public about it, a word for each stage: only traces with the same word are compared.
    /// Empty where all that is public is the same.
    pub public: &'a [Vec<u64>],
    pub code: &'a Code,
    /// What segment FS begins at: variables of the thread. Elsewhere unused.
    pub thread: u64,
    /// A function, to show both traces around its first difference.
    pub show: Option<&'a str>,
}

impl Recordings<'_> {
    /// Which earlier secret's trace of a stage this one's is compared with.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn base_of(&self, secret: usize, stage: usize) -> Option<usize> {
        let word = |of: usize| self.public.get(of).and_then(|words| words.get(stage));
        (0..secret).find(|earlier| word(*earlier) == word(secret))
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Each function and kind, the gravest first.
    pub findings: Vec<Leak>,
    pub reason: Option<String>,
    pub operations: Vec<SteppedOperation>,
    pub objects: Vec<PathBuf>,
    /// Lines around the place that was to be shown.
    pub shown: Vec<String>,
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests;
