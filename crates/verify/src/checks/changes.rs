//! Whether changes matter: every byte of nonce, associated data and key changes what comes out, and
//! decryption rejects a message of which anything was changed.

use crate::context::{Context, Setup, Stop, Verdict, refuse};
use crate::inputs::{self, Call, Example, Placement, may_be_refused};
use crate::reference::Reference;
use crate::vectors;
use base::model::{AAD_LEN, Algorithm, Direction, Kind, Mode, Primitive};
use contract::{Outcome, Session};

pub(crate) fn nonce_matters(context: &mut Context<'_>) -> Verdict {
    let len = context.algorithm.nonce_len;
    let message_len = inputs::usual_size(context.algorithm, MESSAGE_LEN);
    every_byte(context, "nonce", len, message_len, &|context, session, _key, example, at| {
        let mut nonce = example.nonce.clone();
        nonce[at] ^= 1 << (at % 8);
        let call = Call { nonce: &nonce, ..example.call(session.direction()) };
        context.done(session, call, Placement::ALIGNED, format_args!(""))
    })
}

pub(crate) fn aad_matters(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("aad-matters");
    let mut session = context.open(Direction::Encrypt, &key)?;
    let mut count = 0;
    for len in [0, 64] {
        let example = inputs.example(&reference, len, AAD_LEN);
        let call = example.call(Direction::Encrypt);
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
        let before = context.buffers.tag().to_vec();
        for (aad, what) in changed_aad(&example.aad) {
            let call = Call { aad: &aad, ..call };
            context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
            if context.buffers.tag() == before {
                return refuse(format!("encrypt of {len} bytes gives the same tag when {what}"));
            }
            count += 1;
        }
    }
    Ok(count)
}

/// Changed associated data with what was changed.
fn changed_aad(aad: &[u8]) -> Vec<(Vec<u8>, String)> {
    let mut changes = Vec::new();
    for at in 0..aad.len() {
        let mut changed = aad.to_vec();
        changed[at] ^= 1 << (at % 8);
        changes.push((changed, format!("byte {at} of the associated data is changed")));
    }
    let mut longer = aad.to_vec();
    longer.push(0);
    changes.push((longer, "a zero byte is appended to the associated data".to_owned()));
    let shorter = aad[..aad.len() - 1].to_vec();
    changes.push((shorter, "the last byte of the associated data is left off".to_owned()));
    changes.push((Vec::new(), "the associated data is left out".to_owned()));
    changes
}

/// Every byte of the message: where no reference says what comes out, nothing else finds a part that is ignored.
pub(crate) fn message_matters(context: &mut Context<'_>) -> Verdict {
    let few = inputs::few_sizes(context.algorithm);
    let len = few.filter(|len| *len <= LONGER_LEN).last().unwrap_or(0);
    every_byte(context, "message", len, len, &|context, session, _key, example, at| {
        let call = example.call(session.direction());
        let mut input = call.input.to_vec();
        input[at] ^= 1 << (at % 8);
        let call = Call { input: &input, ..call };
        context.done(session, call, Placement::ALIGNED, format_args!(""))
    })
}

/// Several blocks of any cipher or digest.
const LONGER_LEN: usize = 512;

// Every byte of the key changes what comes out: finds ignored halves of keys.

/// Four blocks: whatever part of a key or nonce a mode uses late is used by then.
const MESSAGE_LEN: usize = 64;

/// A bit of a byte of the key that changes the result: another one in each byte, so that all
/// positions occur.
pub(crate) fn key_bit(algorithm: &Algorithm, byte: usize) -> usize {
    match (algorithm.cipher, algorithm.mode) {
        // The lowest is parity, and not used (NIST SP 800-67 §3.1).
        (Primitive::TripleDes | Primitive::Des, _) => 1 + byte % 7,
        // Clamping clears up to four bits at either end (RFC 8439 §2.5).
        (_, Mode::OneTimeMac) => 2 + byte % 2,
        _ => byte % 8,
    }
}

pub(crate) fn key_matters(context: &mut Context<'_>) -> Verdict {
    let len = context.algorithm.key_len;
    let message_len = inputs::usual_size(context.algorithm, MESSAGE_LEN);
    every_byte(context, "key", len, message_len, &|context, session, key, example, at| {
        let mut changed = key.to_vec();
        changed[at] ^= 1 << key_bit(context.algorithm, at);
        let mut session = context.open(session.direction(), &changed)?;
        let call = example.call(session.direction());
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))
    })
}

/// Makes a call with one byte changed.
type Change<'a> =
    &'a dyn Fn(&mut Context<'_>, &mut Session, &[u8], &Example, usize) -> Result<(), Stop>;

/// A change of every byte of a part changes what comes out.
pub(crate) fn every_byte(
    context: &mut Context<'_>,
    part: &str,
    part_len: usize,
    len: usize,
    change: Change<'_>,
) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup(&format!("{part}-matters"));
    let example = inputs.example(&reference, len, AAD_LEN);
    let mut count = 0;
    for &direction in context.directions() {
        // Authenticated decryption under a changed part must be rejected: the check `tamper`.
        if context.algorithm.rejects() && direction == Direction::Decrypt {
            continue;
        }
        let mut session = context.open(direction, &key)?;
        let call = example.call(direction);
        context.done(&mut session, call, Placement::ALIGNED, format_args!(""))?;
        let before = context.buffers.result();
        for at in 0..part_len {
            change(context, &mut session, &key, &example, at)?;
            if context.buffers.result() == before {
                return refuse(format!(
                    "{direction} of {len} bytes gives the same output when byte {at} of the {part} is changed"
                ));
            }
            count += 1;
        }
    }
    Ok(count)
}

// Decryption rejects a message of which anything was changed: a bit of the ciphertext, of any
// byte of the tag, of the nonce, of the associated data or of the key, or a length; each alone.
// The valid message is accepted before and after.

/// No block, less than one, blocks, a wide stride and a rest, a page and a byte.
const TAMPERED_SIZES: [usize; 7] = [0, 1, 16, 64, 257, 1024, 4097];

pub(crate) fn tamper(context: &mut Context<'_>) -> Verdict {
    let Setup { mut inputs, key, reference } = context.setup("tamper");
    let mut session = context.open(Direction::Decrypt, &key)?;
    let mut count = 0;
    let sizes = context.algorithm.sizes;
    for len in TAMPERED_SIZES.into_iter().filter(|len| sizes.allows(*len)) {
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
    let example = inputs.example(&reference, TAMPERED_SIZES[3], AAD_LEN);
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
    fn new(example: &Example, what: String) -> Self {
        let Example { nonce, aad, ciphertext, tag, .. } = example.clone();
        Self { nonce, aad, ciphertext, tag, what }
    }
}

/// Whether a checksum cannot notice the change: of a message of no bytes the nonce changes nothing,
/// and of one of a few bytes another nonce may give the same ones.
fn goes_unnoticed(reference: &Reference<'_>, f: &Forgery) -> bool {
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

// Published forgeries are rejected.

pub(crate) fn known_forgeries(context: &mut Context<'_>) -> Verdict {
    let mut count = 0;
    for vector in vectors::of(context.algorithm).iter().filter(|v| v.forged) {
        let mut session = context.open(Direction::Decrypt, &vector.key)?;
        let call = vector.example.call(Direction::Decrypt);
        let (name, len) = (&vector.name, call.input.len());
        if may_be_refused(context.algorithm, len, call.aad.len()) {
            // No answer is no acceptance, where the interface ends by its nature.
            let outcome = context.buffers.call(&mut session, call, Placement::ALIGNED);
            if matches!(outcome, Outcome::Error(_)) {
                continue;
            }
        }
        let what = format_args!("the forgery of {name} (size {len})");
        count += context.rejected(&mut session, call, Placement::ALIGNED, what)?;
    }
    Ok(count)
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
