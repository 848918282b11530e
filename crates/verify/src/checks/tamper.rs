//! Decryption rejects a message of which anything was changed: a bit of the ciphertext, of any
//! byte of the tag, of the nonce, of the associated data or of the key, or a length; each alone.
//! The valid message is accepted before and after.

use super::key_matters::key_bit;
use crate::buffers::{Call, Placement};
use crate::context::{Context, Setup};
use crate::example::Example;
use crate::finding::Verdict;
use crate::reference::Reference;
use base::model::{AAD_LEN, Algorithm, Direction, Kind};
use contract::Session;

/// No block, less than one, blocks, a wide stride and a rest, a page and a byte.
const SIZES: [usize; 7] = [0, 1, 16, 64, 257, 1024, 4097];

pub(super) fn run(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("tamper");
    let mut session = context.open(Direction::Decrypt, &key)?;
    let mut count = 0;
    let sizes = context.algorithm.sizes;
    for len in SIZES.into_iter().filter(|len| sizes.allows(*len)) {
        let example = inputs.example(&reference, len, AAD_LEN);
        count += context.answer(&mut session, &example, Placement::ALIGNED, format_args!(""))?;
        for forgery in forgeries(&example, context.algorithm) {
            if goes_unnoticed(&reference, &forgery) {
                continue;
            }
            count += rejected(context, &mut session, &forgery)?;
        }
        let note = format_args!(" after forgeries");
        count += context.answer(&mut session, &example, Placement::ALIGNED, note)?;
    }
    let example = inputs.example(&reference, SIZES[3], AAD_LEN);
    Ok(count + other_keys(context, &key, &example)?)
}

/// The message under keys of which one byte is another.
fn other_keys(context: &mut Context<'_>, key: &[u8], example: &Example) -> Verdict {
    let mut count = 0;
    let first = first_checked_byte(context.algorithm);
    for bit in (first..key.len()).map(|at| at * 8 + key_bit(context.algorithm, at)) {
        let mut changed = key.to_vec();
        flip(&mut changed, bit);
        let mut session = context.open(Direction::Decrypt, &changed)?;
        let forgery = Forgery::new(example, format!("made under a key with another bit {bit}"));
        count += rejected(context, &mut session, &forgery)?;
    }
    Ok(count)
}

/// Where the part of the key begins that rejection hangs on: a MAC of the ciphertext is right under any
/// key of the cipher.
fn first_checked_byte(algorithm: &Algorithm) -> usize {
    match algorithm.composite {
        Some(parts) if algorithm.takes_aad() => {
            Algorithm::find(parts.cipher).map_or(0, |cipher| cipher.key_len)
        }
        _ => 0,
    }
}

fn rejected(context: &mut Context<'_>, session: &mut Session, forgery: &Forgery) -> Verdict {
    let Forgery { nonce, aad, ciphertext, tag, what } = forgery;
    let call = Call { nonce, aad, input: ciphertext, tag: Some(tag) };
    let what = format_args!("a message {what} (size {})", ciphertext.len());
    context.rejected(session, call, Placement::ALIGNED, what)
}

/// A message with one change, and the change in words.
struct Forgery {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
    what: String,
}

impl Forgery {
    /// The message as it is, to be changed.
    fn new(example: &Example, what: String) -> Self {
        let Example { nonce, aad, ciphertext, tag, .. } = example.clone();
        Self { nonce, aad, ciphertext, tag, what }
    }
}

/// Whether a checksum cannot notice the change: of a message of no bytes the nonce changes nothing,
/// and of one of a few bytes another nonce may give the same ones.
fn goes_unnoticed(reference: &Reference, f: &Forgery) -> bool {
    if reference.algorithm().kind != Kind::Checked {
        return false;
    }
    let mut output = vec![0; f.ciphertext.len()];
    reference.decrypt(&f.nonce, &f.aad, &f.ciphertext, &mut output, &f.tag)
}

/// Every change, each alone, that leaves a size which the algorithm takes.
fn forgeries(example: &Example, algorithm: &Algorithm) -> Vec<Forgery> {
    let mut forgeries = Vec::new();
    let mut add = |what: String, change: &dyn Fn(&mut Forgery)| {
        let mut forgery = Forgery::new(example, what);
        change(&mut forgery);
        forgeries.push(forgery);
    };
    for bit in each_byte(&example.tag) {
        add(format!("whose tag's bit {bit} was changed"), &|f| flip(&mut f.tag, bit));
    }
    let bits = example.ciphertext.len() * 8;
    if bits > 0 {
        for bit in [0, bits / 2, bits - 1] {
            let what = format!("whose ciphertext's bit {bit} was changed");
            add(what, &|f| flip(&mut f.ciphertext, bit));
        }
        add("whose last byte was left off".to_owned(), &|f| {
            f.ciphertext.truncate(f.ciphertext.len() - 1)
        });
    }
    add("that was made longer by a zero byte".to_owned(), &|f| f.ciphertext.push(0));
    for bit in each_byte(&example.nonce) {
        add(format!("whose nonce's bit {bit} was changed"), &|f| flip(&mut f.nonce, bit));
    }
    if algorithm.takes_aad() {
        let data = "whose associated data";
        for bit in each_byte(&example.aad) {
            add(format!("{data}'s bit {bit} was changed"), &|f| flip(&mut f.aad, bit));
        }
        add(format!("{data} lacks its last byte"), &|f| f.aad.truncate(f.aad.len() - 1));
        add(format!("{data} got a zero byte more"), &|f| f.aad.push(0));
        add(format!("{data} was left out"), &|f| f.aad.clear());
    }
    forgeries.retain(|f| algorithm.sizes.allows(f.ciphertext.len()));
    forgeries
}

/// One bit of every byte, by its number: another one in each, so that all eight positions occur.
fn each_byte(bytes: &[u8]) -> impl Iterator<Item = usize> + use<> {
    (0..bytes.len()).map(|at| at * 8 + at * 3 % 8)
}

fn flip(bytes: &mut [u8], bit: usize) {
    bytes[bit / 8] ^= 1 << (bit % 8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Inputs;

    #[test]
    fn every_forgery_changes_exactly_one_part() {
        let algorithm = Algorithm::find("aes-128-gcm").unwrap();
        let mut inputs = Inputs::new(algorithm, "test");
        let reference = Reference::new(algorithm, &inputs.key());
        let example = inputs.example(&reference, 257, AAD_LEN);
        for f in forgeries(&example, algorithm) {
            let changed = [
                f.nonce != example.nonce,
                f.aad != example.aad,
                f.ciphertext != example.ciphertext,
                f.tag != example.tag,
            ];
            assert_eq!(changed.iter().filter(|c| **c).count(), 1, "{}", f.what);
        }
        let counts = forgeries(&example, algorithm).len();
        assert_eq!(counts, 3 + 1 + 1 + 16 + 12 + 16 + 3);
    }
}
