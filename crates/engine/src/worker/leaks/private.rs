//! Private keys under TLS: each is read in a process of its own and used twice, and the uses are stepped.
//!
//! The first use sets up what a library keeps with a key (of RSA, Montgomery forms and blinding), so that it passes
//! for the key's set-up. Reading is not stepped: DER and base64 are read by tables, once, where nobody sends requests.

use super::super::stack::not_offered;
use super::super::tier::original;
use super::Loaded;
use super::children::{Children, Kept};
use super::images;
use super::operations::{Call, range};
use crate::protocol::{Finding, Judged, Judging};
use adapters::stacks::{PrivateKeys, Secret};
use probe::leaks::{Operation, Recordings, Stage, judge, thread_pointer};
use probe::step::{Code, Tape, hide_forks};
use record::tls::Scheme;

/// Traces of one key that there is room for, if they are as long as can be: of two keys and of the first again.
const LONGEST: usize = 3;

/// Why taint is not asked: the key's numbers are kept in no form that is known, and what follows from them is public in
/// part.
const NO_TAINT: &str = "by taint, which cannot follow this kind of private key";

/// Judges the use of private keys of a scheme.
pub(super) fn run(
    of: &Loaded<'_>,
    (scheme, operation): (Scheme, record::tls::Operation),
    asked: &Judging,
) -> Result<Judged, Finding> {
    let mut keys =
        adapters::stacks::private_keys(of.file, of.mapped, scheme).map_err(not_offered)?;
    let all = adapters::stacks::secrets(scheme, asked.secrets.max(2) as usize, keys.takes_seeds());
    warm(&mut *keys, &all)?;
    let output = range(keys.result());
    let mut children = Children::new(asked.most_steps).map_err(|f| Finding::failed(f.why))?;
    // What a first use sets up comes at its beginning; random numbers, too, are drawn there.
    children.keep_for_use(asked.most_steps / 4 * 3);
    let stages = [Operation::KeySetUp, stepped(operation)];
    let mut using = Using { scheme, keys: &mut *keys, children: &mut children, stages };
    // From here to the last fork nothing is allocated.
    let mut tapes: Vec<Tape> = Vec::with_capacity(all.len());
    tapes.push(using.record(&all[0])?);
    let twin = using.record(&all[0])?;
    let steps = tapes[0].step_count().max(1);
    let room = (LONGEST * asked.most_steps / steps).saturating_sub(1).max(2);
    for secret in all.iter().take(room).skip(1) {
        using.stir();
        tapes.push(using.record(secret)?);
    }
    let code = Code::of_this_process(&|mapped| original(mapped, of.objects));
    // The key is read to the same places here as in the first process.
    keys.read(&all[0]).map_err(|t| Finding::failed(t.to_string()))?;
    let secret = images::find(&all[0].images);
    let stages = stages.map(|operation| Stage {
        operation,
        size: None,
        outputs: if secret.is_empty() { Vec::new() } else { vec![output.clone()] },
    });
    let public: Vec<Vec<u64>> = tapes.iter().zip(&all).map(|(t, s)| public(t, s)).collect();
    let judgement = judge(&Recordings {
        stages: &stages,
        secrets: &tapes,
        twin: &twin,
        forgeries: &[],
        secret: &secret,
        public: &public,
        code: &code,
        thread: thread_pointer(),
        show: asked.trace.as_deref(),
    });
    let is_same = judgement.reason.is_none() && judgement.findings.is_empty();
    let same = format!("by comparison, same trace over {} secrets", tapes.len());
    let mut reasons: Vec<String> = judgement.reason.into_iter().collect();
    if secret.is_empty() {
        reasons.push(NO_TAINT.to_owned());
        reasons.extend(is_same.then_some(same));
    }
    Ok(Judged {
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        secrets: Some(tapes.len() as u32),
        operations: judgement.operations,
        findings: judgement.findings,
        objects: judgement.objects,
        trace: judgement.shown,
    })
}

fn stepped(operation: record::tls::Operation) -> Operation {
    match operation {
        record::tls::Operation::Agree => Operation::Agree,
        record::tls::Operation::Decapsulate => Operation::Decapsulate,
        _ => Operation::Sign,
    }
}

/// Has the library do what it does once, with the last key, and shows that it can.
fn warm(keys: &mut dyn PrivateKeys, all: &[Secret]) -> Result<(), Finding> {
    let last = all.last().ok_or_else(|| Finding::failed("there are no keys"))?;
    for _ in 0..2 {
        keys.read(last).map_err(not_offered)?;
        keys.call().map_err(not_offered)?;
        keys.prove(last).map_err(Finding::refused)?;
    }
    keys.stir();
    // Else nonces and blinding would be others in each process.
    hide_forks();
    Ok(())
}

/// What is public of a key and its results, for each stage.
fn public(tape: &Tape, secret: &Secret) -> Vec<u64> {
    let forms = [tape.word() & 0xffff_ffff, tape.word() >> 32];
    forms.map(|form| secret.public << 32 | form).to_vec()
}

struct Using<'a> {
    scheme: Scheme,
    keys: &'a mut dyn PrivateKeys,
    children: &'a mut Children,
    stages: [Operation; 2],
}

impl Using<'_> {
    fn record(&mut self, secret: &Secret) -> Result<Tape, Finding> {
        let Self { scheme, keys, children, stages } = self;
        let is_encoded = *scheme == Scheme::EcdsaP256;
        children.record(Kept::All, |call| used(&mut **keys, secret, (*stages, is_encoded), call))
    }

    /// The nonce of an ECDSA signature is as secret as the key: each key gets another, also where it is made from random
    /// numbers alone. Blinding stays the same, so that what differs is the key's doing.
    fn stir(&mut self) {
        if self.scheme == Scheme::EcdsaP256 {
            self.keys.stir();
        }
    }
}

/// Reads a key and uses it twice. Returns the forms of both results.
fn used(
    keys: &mut dyn PrivateKeys,
    secret: &Secret,
    (stages, is_encoded): ([Operation; 2], bool),
    call: &mut Call<'_>,
) -> Result<u64, String> {
    keys.read(secret).map_err(|t| t.to_string())?;
    let mut forms = 0;
    for (number, operation) in stages.into_iter().enumerate() {
        let mut trouble = None;
        call(operation, &mut || {
            trouble = keys.call().err();
            i32::from(trouble.is_some())
        });
        if let Some(trouble) = trouble {
            return Err(trouble.to_string());
        }
        let form = if is_encoded { form(keys.result()) } else { 0 };
        forms |= u64::from(form) << (32 * number);
    }
    keys.prove(secret)?;
    Ok(forms)
}

/// Lengths of both numbers of an ECDSA signature in DER, which are public, and on which hangs how they are written.
fn form(signature: &[u8]) -> u32 {
    let length = |at: usize| signature.get(at).copied().map_or(0, u32::from);
    let first = length(3);
    first << 8 | length(5 + first as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_signature_is_the_lengths_of_its_numbers() {
        let signature = |r: u8, s: u8| {
            let number = |bytes: u8| [&[2, bytes][..], &vec![1; bytes.into()]].concat();
            [vec![0x30, r + s + 4], number(r), number(s)].concat()
        };
        assert_eq!(form(&signature(33, 32)), 33 << 8 | 32);
        assert_eq!(form(&signature(31, 33)), 31 << 8 | 33);
        assert_eq!(form(&[]), 0);
    }
}
