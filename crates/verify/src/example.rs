//! Worked examples: a message together with its right answer.

use crate::buffers::Call;
use crate::reference::Reference;
use base::model::Direction;

/// A message and what must come out of it.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) plaintext: Vec<u8>,
    pub(crate) ciphertext: Vec<u8>,
    pub(crate) tag: Vec<u8>,
    /// Who says so, for messages: `the reference`, `the vector`.
    pub(crate) source: &'static str,
    /// Whether the output is written at all: digests and `null` leave it alone.
    pub(crate) writes_output: bool,
}

impl Example {
    /// The message with the reference's answer.
    pub(crate) fn solve(
        reference: &Reference,
        nonce: Vec<u8>,
        aad: Vec<u8>,
        plaintext: Vec<u8>,
    ) -> Self {
        let algorithm = reference.algorithm();
        let writes_output = algorithm.writes_output();
        let mut ciphertext = vec![0; if writes_output { plaintext.len() } else { 0 }];
        let mut tag = vec![0; algorithm.tag_len];
        reference.encrypt(&nonce, &aad, &plaintext, &mut ciphertext, &mut tag);
        let source = "the reference";
        Self { nonce, aad, plaintext, ciphertext, tag, source, writes_output }
    }

    /// The call that gives the message to a library.
    pub(crate) fn call(&self, direction: Direction) -> Call<'_> {
        let decrypt = direction == Direction::Decrypt;
        Call {
            nonce: &self.nonce,
            aad: &self.aad,
            input: if decrypt { &self.ciphertext } else { &self.plaintext },
            tag: decrypt.then_some(&self.tag[..]),
        }
    }

    /// The right output; `None` when it must be left alone.
    pub(crate) fn output(&self, direction: Direction) -> Option<&[u8]> {
        self.writes_output.then_some(match direction {
            Direction::Decrypt => &self.plaintext[..],
            _ => &self.ciphertext[..],
        })
    }
}
