//! The same bytes as the independent reference at every size of the sweep and around every power
//! of two, with associated data of several lengths, and under nonces that make counters carry.
//! Everything that comes out is hashed into the digest that libraries are compared by.

use crate::buffers::Placement;
use crate::context::Context;
use crate::example::Example;
use crate::finding::Verdict;
use crate::inputs::Inputs;
use crate::reference::Reference;
use crate::sizes;
use base::model::AAD_LEN;

/// How many sizes of the sweep share a key.
const SIZES_PER_KEY: usize = 32;
/// Lengths of associated data beside the usual one: none, less than a block, TLS 1.2's, several
/// blocks and a rest, and more than two bytes can say of CCM's length field.
const AAD_LENS: [usize; 6] = [0, 1, 13, 100, 256, 65_300];
/// Message sizes that they are tried at.
const AAD_SIZES: [usize; 4] = [0, 1, 16, 65];
/// Sizes at which counters that start near their end carry: within one wide stride and after it.
const CARRY_SIZES: [usize; 3] = [64, 272, 4096];

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let mut inputs = context.inputs("reference");
    let mut count = 0;
    let sweep: Vec<usize> = sizes::sweep(context.algorithm).collect();
    let large: Vec<usize> = sizes::large(context.algorithm).collect();
    for group in sweep.chunks(SIZES_PER_KEY).chain(large.chunks(3)) {
        count += under_one_key(context, &mut inputs, |inputs, reference| {
            group.iter().map(|len| inputs.example(reference, *len, AAD_LEN)).collect()
        })?;
    }
    if context.algorithm.nonce_len > 0 {
        count += under_one_key(context, &mut inputs, carries)?;
    }
    if context.algorithm.takes_aad() {
        count += under_one_key(context, &mut inputs, aad_lengths)?;
    }
    Ok(count)
}

/// Compares a set of examples under a new key, in every direction.
fn under_one_key(
    context: &mut Context<'_>,
    inputs: &mut Inputs,
    examples: impl FnOnce(&mut Inputs, &Reference) -> Vec<Example>,
) -> Verdict {
    let key = inputs.key();
    let reference = Reference::new(context.algorithm, &key);
    let examples = examples(inputs, &reference);
    let mut count = 0;
    for &direction in context.directions() {
        let mut session = context.open(direction, &key)?;
        for example in &examples {
            let aad_len = example.aad.len();
            let note = match aad_len {
                0 => String::new(),
                n => format!(" with {n} bytes of associated data"),
            };
            let note = format_args!("{note}");
            count += context.answer_if_taken(&mut session, example, Placement::ALIGNED, note)?;
            // The digest is of what every library answers.
            if !sizes::may_be_refused(context.algorithm, example.plaintext.len(), aad_len) {
                context.record();
            }
        }
    }
    Ok(count)
}

/// Nonces whose value as a counter ends soon: in the low 32, 64 and all bits.
fn carries(inputs: &mut Inputs, reference: &Reference) -> Vec<Example> {
    let algorithm = reference.algorithm();
    let nonce_len = algorithm.nonce_len;
    let mut examples = Vec::new();
    for ones in [4, 8, nonce_len] {
        for last in [0xff, 0xfb] {
            for len in CARRY_SIZES {
                let mut nonce = inputs.bytes(nonce_len);
                nonce[nonce_len - ones..].fill(0xff);
                nonce[nonce_len - 1] = last;
                examples.push(inputs.example_under(reference, nonce, len, AAD_LEN));
            }
        }
    }
    examples
}

fn aad_lengths(inputs: &mut Inputs, reference: &Reference) -> Vec<Example> {
    let mut examples = Vec::new();
    for aad_len in AAD_LENS {
        let sizes = reference.algorithm().sizes;
        for len in AAD_SIZES.into_iter().filter(|len| sizes.allows(*len)) {
            examples.push(inputs.example(reference, len, aad_len));
        }
    }
    examples
}
