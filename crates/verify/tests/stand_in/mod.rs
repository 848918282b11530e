//! Stand-in libraries: the reference behind the adapter contract, right or with one fault.
mod fault;

pub use fault::Fault;

use base::model::{Algorithm, Direction, Kind};
use ciphermark_verify::reference::{Reference, Stream};
use contract::{Identity, Library, OpenError, Operations, Session, Table, raw};
use std::fs::File;
use std::io::Read as _;
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::atomic::{AtomicU64, Ordering};

/// Calls from one fault to the next, where it comes now and then.
const PERIOD: u64 = 5000;

/// A library that is the reference with one fault.
pub struct StandIn {
    identity: Identity,
    fault: Fault,
}

impl StandIn {
    pub fn new(fault: Fault) -> Self {
        let identity =
            Identity { name: "stand-in".to_owned(), version: "1".to_owned(), build: Vec::new() };
        Self { identity, fault }
    }
}

impl Library for StandIn {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        let mut key = key.to_vec();
        match self.fault {
            Fault::Unsupported => return Err(OpenError::Unsupported("not built in".to_owned())),
            Fault::OnlyEncrypts if direction == Direction::Decrypt => {
                return Err(OpenError::Unsupported("no decryption".to_owned()));
            }
            Fault::FailsToOpen => return Err(OpenError::Failed("error code 9".to_owned())),
            Fault::IgnoresHalfTheKey => {
                let half = key.len() / 2;
                key[half..].fill(0);
            }
            _ => {}
        }
        let state = State {
            stream: None,
            reference: Box::into_raw(Box::new(Reference::new(algorithm, &key))),
            algorithm,
            direction,
            fault: self.fault,
            calls: 0,
            updates: 0,
            rejected: 0,
            accepted: None,
        };
        let streams = Reference::new(algorithm, &key)
            .stream(direction_of_stream(direction), &vec![0; algorithm.nonce_len], false)
            .is_some();
        let table = Table::new(state, raw::IN_PLACE, c"").streams_if(streams);
        let rekeys = self.fault != Fault::TakesNoNewKey && !key.is_empty();
        let raw = if rekeys { table.rekeys(c"") } else { table }.raw();
        // SAFETY: the functions keep the contract for the algorithm, but for the one fault, whose
        // stray accesses stay within the margins that verification lays around every buffer.
        Ok(unsafe { Session::new(raw, algorithm, direction) })
    }
}

/// Digests and copies have no stream; any direction serves to be told so.
fn direction_of_stream(direction: Direction) -> Direction {
    match direction {
        Direction::Decrypt => Direction::Decrypt,
        _ => Direction::Encrypt,
    }
}

struct State {
    /// Borrows from `reference`.
    stream: Option<Stream<'static>>,
    reference: *mut Reference<'static>,
    algorithm: &'static Algorithm,
    direction: Direction,
    fault: Fault,
    calls: u64,
    updates: u64,
    rejected: u64,
    /// Nonce, ciphertext and tag of the last accepted message.
    accepted: Option<(Vec<u8>, Vec<u8>, Vec<u8>)>,
}

impl State {
    /// The cost at which a derivation derives that is to be made at another one.
    fn derived_at(&self, cost: usize) -> usize {
        match self.fault {
            Fault::OneIterationLess if cost > 1 => cost - 1,
            Fault::HalfTheMemory if self.algorithm.sizes.allows(cost / 2) => cost / 2,
            _ => cost,
        }
    }

    /// Output, tag and code of a message.
    fn compute(&mut self, nonce: &[u8], aad: &[u8], input: &[u8], tag: &[u8]) -> Computed {
        let mut nonce = nonce.to_vec();
        let aad = if self.fault == Fault::IgnoresTheAad { &[] } else { aad };
        if self.fault == Fault::IgnoresTheNonce {
            nonce.fill(0);
        }
        if self.fault == Fault::KeepsState && !nonce.is_empty() {
            nonce[0] ^= self.calls as u8;
        }
        self.calls += 1;
        // SAFETY: made by `open`, freed by `drop`.
        let reference = unsafe { &*self.reference };
        let (mut output, mut tag) = (vec![0; input.len()], tag.to_vec());
        let mut code = raw::OK;
        if self.algorithm.kind == Kind::Random {
            let mut system = File::open("/dev/urandom").expect("the system has random bytes");
            system.read_exact(&mut output).expect("it has as many as are asked for");
        } else if self.direction == Direction::Decrypt {
            code = self.decrypt(reference, &nonce, aad, input, &mut output, &tag);
        } else {
            reference.encrypt(&nonce, aad, input, &mut output, &mut tag);
            let long = self.fault == Fault::WrongUnderLongAad && aad.len() > 0xfeff;
            let n = input.len();
            let odd = n >= 2048
                && !n.is_multiple_of(16)
                && ![n - 1, n + 1].iter().any(|n| n.is_power_of_two());
            let at_some_sizes = match self.fault {
                Fault::WrongTagAtOneSize => n == 12_345,
                Fault::WrongTagAtOddSizes => odd,
                _ => false,
            };
            if self.fault == Fault::WrongTag || long || at_some_sizes {
                tag[5] ^= 4;
            }
        }
        Computed { output, tag, code }
    }

    fn decrypt(
        &mut self,
        reference: &Reference<'_>,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &[u8],
    ) -> i32 {
        let mut right = reference.decrypt(nonce, aad, input, output, tag);
        let given = (nonce.to_vec(), input.to_vec(), tag.to_vec());
        match self.fault {
            Fault::AcceptsAnyTag => right = true,
            Fault::AcceptsPublishedForgeries => right |= nonce.starts_with(&[0x50, 0x51, 0x52]),
            Fault::ComparesPartOfTheTag => {
                let mut own = vec![0; tag.len()];
                let mut ciphertext = vec![0; input.len()];
                reference.encrypt(nonce, aad, output, &mut ciphertext, &mut own);
                right |= own[..12] == tag[..12];
            }
            Fault::AcceptsAForgeryNowAndThen if !right => {
                self.rejected += 1;
                right = self.rejected.is_multiple_of(PERIOD);
            }
            Fault::LooksAtNoTagNowAndThen => right |= self.calls.is_multiple_of(PERIOD),
            Fault::AcceptsChangedAad => right |= self.accepted.as_ref() == Some(&given),
            _ => {}
        }
        match (right, self.fault) {
            (true, _) => {
                self.accepted = Some(given);
                raw::OK
            }
            (false, Fault::RejectsWithAnError) => raw::FAILED,
            (false, _) => raw::REJECTED,
        }
    }
}

struct Computed {
    output: Vec<u8>,
    tag: Vec<u8>,
    code: i32,
}

/// Calls of all stand-ins that are random; one test uses them, in one thread.
static CALLS: AtomicU64 = AtomicU64::new(0);

impl Operations for State {
    unsafe fn rekey(&mut self, key: *const u8) -> i32 {
        // SAFETY: a key by the contract.
        let mut key = unsafe { from_raw_parts(key, self.algorithm.key_len) }.to_vec();
        match self.fault {
            Fault::IgnoresANewKey => return raw::OK,
            Fault::RefusesANewKey => return 17,
            Fault::TakesHalfOfANewKey | Fault::IgnoresHalfTheKey => {
                let half = key.len() / 2;
                key[half..].fill(0);
            }
            _ => {}
        }
        // It borrows from the reference.
        self.stream = None;
        let new = Box::into_raw(Box::new(Reference::new(self.algorithm, &key)));
        // SAFETY: made by `open` or here, and nothing refers to it.
        drop(unsafe { Box::from_raw(std::mem::replace(&mut self.reference, new)) });
        raw::OK
    }

    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        let Algorithm { nonce_len, tag_len, .. } = *self.algorithm;
        if self.fault == Fault::ReturnsEarly {
            return raw::OK;
        }
        let of_cost;
        let input = if !self.algorithm.reads_input() {
            of_cost = vec![0; self.derived_at(m.len)];
            of_cost.as_slice()
        } else {
            // SAFETY: the contract's length.
            unsafe { from_raw_parts(m.input, m.len) }
        };
        // SAFETY: the contract's lengths. All are read before anything is written, since output may
        // be input.
        let (nonce, aad, tag) = unsafe {
            (
                from_raw_parts(m.nonce, nonce_len),
                from_raw_parts(m.aad, m.aad_len),
                from_raw_parts(m.tag.cast_const(), tag_len),
            )
        };
        let mut computed = self.compute(nonce, aad, input, tag);
        if self.fault == Fault::SkipsNowAndThen && self.calls.is_multiple_of(PERIOD) {
            return raw::OK;
        }
        spoil(self, m, &mut computed);
        // SAFETY: as `spoil`.
        unsafe { deliver(self, m, &computed) };
        trespass(self, m);
        match self.fault {
            Fault::ReturnsAnError => 17,
            Fault::LimitsTheAad if m.aad_len > 0xfeff => 17,
            Fault::LimitsTheMessage if m.len > 65_534 => 17,
            _ => computed.code,
        }
    }

    unsafe fn start(&mut self, nonce: *const u8) -> i32 {
        if self.fault == Fault::StreamDoesNotRestart && self.stream.is_some() {
            return raw::OK;
        }
        // SAFETY: made by `open`, freed by `drop` after the stream; a nonce by the contract.
        let (reference, nonce): (&'static Reference<'static>, _) =
            unsafe { (&*self.reference, from_raw_parts(nonce, self.algorithm.nonce_len)) };
        self.updates = 0;
        self.stream = reference.stream(self.direction, nonce, false);
        raw::OK
    }

    unsafe fn update(&mut self, _input: *const u8, output: *mut u8, len: usize) -> i32 {
        // SAFETY: streams work in place, so the output is the input.
        let buffer = unsafe { from_raw_parts_mut(output, len) };
        let Some(stream) = &mut self.stream else { return raw::FAILED };
        stream.update(buffer);
        self.updates += 1;
        if self.fault == Fault::WrongSecondUpdate && self.updates == 2 {
            buffer[0] ^= 1;
        }
        raw::OK
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // It borrows from the reference.
        self.stream = None;
        // SAFETY: made by `open` or `rekey`, and nothing refers to it.
        drop(unsafe { Box::from_raw(self.reference) });
    }
}

fn spoil(state: &State, m: &raw::Message, computed: &mut Computed) {
    let wrong = match state.fault {
        Fault::WrongRest => m.len > 4096 && m.len % 4096 <= 16,
        Fault::Random => CALLS.fetch_add(1, Ordering::Relaxed) % 3 == 2,
        Fault::WearsOut => state.calls >= 250 && state.direction == Direction::Encrypt,
        Fault::FlipsABitNowAndThen => {
            state.calls.is_multiple_of(PERIOD) && state.direction != Direction::Decrypt
        }
        Fault::FlipsABitOfDecryptionNowAndThen => {
            state.calls.is_multiple_of(PERIOD) && state.direction == Direction::Decrypt
        }
        Fault::WrongInPlace => std::ptr::eq(m.input, m.output),
        Fault::WrongUnaligned => !m.input.addr().is_multiple_of(16) && m.len == 100,
        _ => false,
    };
    if wrong {
        // Digests have no output of their own; the tag of a decryption is not theirs to write.
        let digest = state.direction == Direction::Digest;
        let result = if digest { &mut computed.tag } else { &mut computed.output };
        if let Some(last) = result.last_mut() {
            *last ^= 0x80;
        }
    }
}

/// Writes what is due.
///
/// # Safety
/// The message keeps the contract.
unsafe fn deliver(state: &State, m: &raw::Message, computed: &Computed) {
    let digest = state.direction == Direction::Digest;
    let output = state.algorithm.writes_output();
    if output || state.fault == Fault::DigestWritesTheOutput {
        let skipped = usize::from(state.fault == Fault::SkipsTheLastByte && m.len > 0);
        let len = m.len - skipped;
        // SAFETY: the contract's output.
        unsafe { from_raw_parts_mut(m.output, len) }.copy_from_slice(&computed.output[..len]);
    }
    if digest || state.direction == Direction::Encrypt {
        // SAFETY: the contract's tag.
        unsafe { from_raw_parts_mut(m.tag, computed.tag.len()) }.copy_from_slice(&computed.tag);
    }
}

/// Faults in what is touched.
fn trespass(state: &State, m: &raw::Message) {
    let tag_end = m.tag.wrapping_add(state.algorithm.tag_len);
    let at = match state.fault {
        Fault::WritesPastTheOutput => m.output.wrapping_add(m.len),
        Fault::WritesBeforeTheOutput => m.output.wrapping_sub(1),
        Fault::WritesPastTheTag => tag_end,
        Fault::WritesTheInput if m.len > 0 => m.input.cast_mut(),
        Fault::WritesTheTagOfDecryption if state.direction == Direction::Decrypt => m.tag,
        Fault::ReadsPastTheInput => {
            // SAFETY: verification keeps margins around its buffers, or a page that faults, which
            // is the point.
            std::hint::black_box(unsafe { m.input.wrapping_add(m.len).read_volatile() });
            return;
        }
        _ => return,
    };
    // SAFETY: as above.
    unsafe { at.write_volatile(at.read_volatile() ^ 0xff) };
}
