//! Forgeries: a right message of which one drawn bit is changed.

use crate::buffers::Call;
use crate::example::Example;
use crate::inputs::Inputs;
use base::model::{Algorithm, Kind};
use std::fmt;

/// Makes forgeries. It keeps its memory from one to the next, because thousands are made.
#[derive(Default)]
pub(crate) struct Forger {
    bytes: Vec<u8>,
}

/// What was changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    part: Part,
    bit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Tag,
    Ciphertext,
    Nonce,
    Aad,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            Part::Tag => "tag",
            Part::Ciphertext => "ciphertext",
            Part::Nonce => "nonce",
            Part::Aad => "associated data",
        };
        write!(f, "whose {part}'s bit {} was changed", self.bit)
    }
}

impl Forger {
    /// The message with one bit changed, half of the time one of the tag. A checksum does not notice all other
    /// changes, so there it is always the tag.
    pub(crate) fn forge<'a>(
        &'a mut self,
        inputs: &mut Inputs,
        algorithm: &Algorithm,
        example: &'a Example,
    ) -> (Call<'a>, Change) {
        let parts = [Part::Tag, Part::Ciphertext, Part::Tag, Part::Nonce, Part::Tag, Part::Aad];
        let drawn = if algorithm.kind == Kind::Aead { parts[inputs.below(6)] } else { Part::Tag };
        let part = if bytes(example, drawn).is_empty() { Part::Tag } else { drawn };
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes(example, part));
        let bit = inputs.below(self.bytes.len() * 8);
        self.bytes[bit / 8] ^= 1 << (bit % 8);
        let changed = &self.bytes[..];
        let right = |of: Part| if of == part { changed } else { bytes(example, of) };
        let call = Call {
            nonce: right(Part::Nonce),
            aad: right(Part::Aad),
            input: right(Part::Ciphertext),
            tag: Some(right(Part::Tag)),
        };
        (call, Change { part, bit })
    }
}

fn bytes(example: &Example, part: Part) -> &[u8] {
    match part {
        Part::Tag => &example.tag,
        Part::Ciphertext => &example.ciphertext,
        Part::Nonce => &example.nonce,
        Part::Aad => &example.aad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;

    #[test]
    fn each_forgery_has_one_changed_bit_and_the_reference_rejects_it() {
        for name in ["aes-128-gcm", "chacha20-poly1305", "aes-256-ctr+xxh3"] {
            let Ok(algorithm) = Algorithm::find(name) else { panic!("{name}") };
            let mut inputs = Inputs::drawn(algorithm, "test", 1);
            let reference = Reference::new(algorithm, &inputs.key());
            let mut forger = Forger::default();
            for n in 0..200 {
                let example = inputs.example(&reference, n % 40, n % 3);
                let (call, change) = forger.forge(&mut inputs, algorithm, &example);
                let right = [&example.nonce, &example.aad, &example.ciphertext, &example.tag];
                let forged = [call.nonce, call.aad, call.input, call.tag.unwrap()];
                let bits = right.iter().zip(forged).map(|(right, forged)| {
                    right.iter().zip(forged).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
                });
                assert_eq!(bits.sum::<u32>(), 1, "{name} {change}");
                let mut output = vec![0; call.input.len()];
                let [nonce, aad, input, tag] = forged;
                assert!(!reference.decrypt(nonce, aad, input, &mut output, tag), "{name} {change}");
            }
        }
    }
}
