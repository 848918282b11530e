//! What is stepped: a new key, messages of all sizes encrypted and decrypted, forgeries rejected.

use super::super::material::{Material, Plaintext};
use crate::protocol::{Finding, not_opened};
use base::model::{Algorithm, Direction};
use contract::{Library, Message, Outcome, Session};
use probe::leaks::{Operation, Stage};
use std::ops::Range;

/// One call.
pub(super) type Step<'a> = dyn FnMut() -> i32 + 'a;

/// Makes a call, recorded or not.
pub(super) type Call<'a> = dyn FnMut(Operation, &mut Step<'_>) -> i32 + 'a;

/// What messages of one size are made of.
struct OneSize {
    size: usize,
    plain: Vec<u8>,
    /// Ciphertext and tag, as encryption makes them.
    made: Vec<u8>,
    tag: Vec<u8>,
    /// What decryption leaves.
    opened: Vec<u8>,
    /// The tag that decryption is given.
    given: Vec<u8>,
}

/// Buffers at the same addresses in every process.
pub(super) struct Messages {
    pub(super) key: Vec<u8>,
    /// The byte of the tag that is wrong where a message is to be rejected.
    pub(super) wrong: usize,
    nonce: Vec<u8>,
    aad: Vec<u8>,
    sizes: Vec<OneSize>,
}

/// Bytes behind each buffer: stores of whole vectors with a mask are taken for whole ones.
const SLACK: usize = 64;

fn buffer(len: usize) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(len + SLACK);
    buffer.resize(len, 0);
    buffer
}

/// Where a buffer lies.
pub(super) fn range(buffer: &[u8]) -> Range<u64> {
    let from = buffer.as_ptr() as u64;
    from..from + buffer.len() as u64
}

impl Messages {
    pub(super) fn new(algorithm: &Algorithm, sizes: &[usize]) -> Self {
        let material = Material::new(0, algorithm);
        let mut plaintext = Plaintext::new(0);
        let mut key = buffer(algorithm.key_len);
        key.copy_from_slice(&material.key);
        let writes = algorithm.writes_output();
        let mut of = |size: usize| {
            let mut plain = buffer(size);
            plain.copy_from_slice(plaintext.first(size));
            let output = if writes { size } else { 0 };
            let tag = || buffer(algorithm.tag_len);
            let (made, opened) = (buffer(output), buffer(output));
            OneSize { size, plain, made, tag: tag(), opened, given: tag() }
        };
        let sizes = sizes.iter().map(|size| of(*size)).collect();
        Self { key, wrong: 0, nonce: material.nonce, aad: material.aad, sizes }
    }
}

/// An algorithm of a library.
pub(super) struct Operations {
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    /// What sessions are opened with that then take the key.
    other_key: Vec<u8>,
}

impl Operations {
    pub(super) fn new(library: &'static dyn Library, algorithm: &'static Algorithm) -> Self {
        let other_key = (1..=algorithm.key_len).map(|i| i as u8).collect();
        Self { library, algorithm, other_key }
    }

    /// Has the library do what it does once, and finds keys that it takes: the keys.
    pub(super) fn warm(
        &mut self,
        messages: &mut Messages,
        secrets: usize,
    ) -> Result<Vec<Vec<u8>>, Finding> {
        let algorithm = self.algorithm;
        let session = self.library.open(algorithm, self.directions()[0], &self.other_key);
        if !session.map_err(not_opened)?.has_message() {
            return Err(Finding::unsupported("the library does not offer whole messages"));
        }
        let mut unseen = |_: Operation, step: &mut Step<'_>| step();
        let random = |number: usize| Material::new(number as u64, algorithm).key;
        // Twice: some set up at the second use what they do not at the first.
        for _ in 0..2 {
            messages.key.copy_from_slice(&random(secrets));
            self.all(messages, &mut unseen).map_err(Finding::failed)?;
        }
        // XTS takes no key of equal halves.
        let nearly = |fill: u8| {
            let mut key = vec![fill; algorithm.key_len];
            key.iter_mut().last().into_iter().for_each(|last| *last ^= 1);
            key
        };
        let keys = (0..secrets).map(|number| {
            let key = match number {
                // What depends on a single bit shows already between two keys.
                1 => random(0).iter().map(|byte| !byte).collect(),
                2 => nearly(0),
                3 => nearly(0xff),
                _ => return random(number),
            };
            messages.key.copy_from_slice(&key);
            let taken = self.all(messages, &mut unseen).is_ok();
            if taken { key } else { random(number) }
        });
        Ok(keys.collect())
    }

    /// Encryption and decryption, or the one direction that authentication has.
    fn directions(&self) -> &'static [Direction] {
        Direction::of(self.algorithm.kind)
    }

    /// What `all` calls, in order.
    pub(super) fn stages(&self, messages: &Messages) -> Vec<Stage> {
        let mut stages = Vec::new();
        for direction in self.directions() {
            let operation = operation(*direction);
            let outputs = |of: &OneSize| match direction {
                Direction::Decrypt => Vec::new(),
                _ => vec![range(&of.made), range(&of.tag)],
            };
            let set_up = Operation::KeySetUp;
            stages.push(Stage { operation: set_up, size: None, outputs: Vec::new() });
            let of_size =
                |of: &OneSize| Stage { operation, size: Some(of.size), outputs: outputs(of) };
            stages.extend(messages.sizes.iter().map(of_size));
        }
        if self.algorithm.rejects() {
            let reject = Operation::Reject;
            let rejection = |of: &OneSize| Stage {
                operation: reject,
                size: Some(of.size),
                outputs: Vec::new(),
            };
            stages.extend(messages.sizes.iter().map(rejection));
        }
        stages
    }

    /// Does everything once.
    pub(super) fn all(
        &mut self,
        messages: &mut Messages,
        call: &mut Call<'_>,
    ) -> Result<(), String> {
        let Messages { key, wrong, nonce, aad, sizes } = messages;
        for direction in self.directions() {
            let mut session = self.set_up(*direction, key, call)?;
            let decrypts = *direction == Direction::Decrypt;
            for of in &mut *sizes {
                let OneSize { size, plain, made, tag, opened, given } = of;
                given.copy_from_slice(tag);
                let (input, output, tag): (&[u8], &mut [u8], &mut [u8]) =
                    if decrypts { (made, opened, given) } else { (plain, made, tag) };
                let message = Message { nonce, aad, input, output, tag };
                let outcome = send(&mut session, operation(*direction), message, call);
                if outcome != 0 {
                    return Err(format!("{direction} of {size} bytes returned {outcome}"));
                }
                if decrypts && opened != plain {
                    return Err(format!("{direction} of {size} bytes left a wrong plaintext"));
                }
            }
            if decrypts && self.algorithm.rejects() {
                for of in &mut *sizes {
                    let OneSize { size, made, tag, opened, given, .. } = of;
                    given.copy_from_slice(tag);
                    given[*wrong] ^= 0x10;
                    let message = Message { nonce, aad, input: made, output: opened, tag: given };
                    if send(&mut session, Operation::Reject, message, call) != REJECTED {
                        return Err(format!("a forgery of {size} bytes was not rejected"));
                    }
                }
            }
        }
        Ok(())
    }

    /// A session with the key: a new key where it takes one, opened with it where it does not.
    fn set_up(
        &self,
        direction: Direction,
        key: &[u8],
        call: &mut Call<'_>,
    ) -> Result<Session, String> {
        let open = |key: &[u8]| {
            self.library.open(self.algorithm, direction, key).map_err(|e| format!("{e:?}"))
        };
        let mut session = open(&self.other_key)?;
        if session.has_rekey() {
            let code = call(Operation::KeySetUp, &mut || code(session.rekey(key)));
            return if code == 0 { Ok(session) } else { Err(format!("a new key returned {code}")) };
        }
        drop(session);
        let mut opened = Err(String::new());
        call(Operation::KeySetUp, &mut || {
            opened = open(key);
            0
        });
        opened
    }
}

fn operation(direction: Direction) -> Operation {
    match direction {
        Direction::Encrypt => Operation::Encrypt,
        Direction::Decrypt => Operation::Decrypt,
        _ => Operation::Digest,
    }
}

/// What a call returns for a tag that is wrong.
const REJECTED: i32 = contract::raw::REJECTED;

fn code(outcome: Outcome) -> i32 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Rejected => REJECTED,
        Outcome::Error(code) => code,
    }
}

fn send(
    session: &mut Session,
    operation: Operation,
    message: Message<'_>,
    call: &mut Call<'_>,
) -> i32 {
    let Message { nonce, aad, input, output, tag } = message;
    call(operation, &mut || {
        let (output, tag) = (&mut *output, &mut *tag);
        code(session.message(Message { nonce, aad, input, output, tag }))
    })
}
