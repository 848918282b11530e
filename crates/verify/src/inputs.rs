//! What libraries are given: seeded inputs, the same for every library, so that what they compute can be
//! compared; worked examples with their right answers, forgeries of them, and message sizes. And the buffers
//! where messages are laid out before a library is called and looked at afterwards: every part of a message
//! lies in its own guarded memory with known bytes around it.

use crate::reference::Reference;
use base::model::{Algorithm, Direction, Kind, Mode, SizeRule};
use contract::{Message, Outcome, Session};
use probe::fault::{self, GuardedBuffer};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::Range;

/// A stream of pseudo-random bytes, fixed by the algorithm and the name of the check.
pub(crate) struct Inputs {
    algorithm: &'static Algorithm,
    generator: ChaCha8Rng,
}

impl Inputs {
    pub(crate) fn new(algorithm: &'static Algorithm, check: &str) -> Self {
        Self::seeded(
            algorithm,
            &[b"ciphermark inputs 1", algorithm.name.as_bytes(), check.as_bytes()],
        )
    }

    /// A stream that the seed fixes as well: what no library can have seen before.
    pub(crate) fn drawn(algorithm: &'static Algorithm, check: &str, seed: u64) -> Self {
        let (name, seed) = (algorithm.name.as_bytes(), seed.to_le_bytes());
        Self::seeded(algorithm, &[b"ciphermark drawn inputs 1", name, check.as_bytes(), &seed])
    }

    fn seeded(algorithm: &'static Algorithm, parts: &[&[u8]]) -> Self {
        let seed = Sha256::digest(parts.join(&0));
        Self { algorithm, generator: ChaCha8Rng::from_seed(seed.into()) }
    }

    /// A number below `end`, which is at least 1. The bias of the remainder is below one in a million for the
    /// few thousands that checks choose from.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.generator.next_u32() as usize % end
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.generator.next_u32() as u8
    }

    /// A message size between the two bounds that the algorithm defines, each octave as likely as another.
    pub(crate) fn size(&mut self, from: usize, to: usize) -> usize {
        let share = f64::from(self.generator.next_u32()) / (f64::from(u32::MAX) + 1.0);
        let (low, high) = ((from as f64).log2(), ((to + 1) as f64).log2());
        let size = (low + share * (high - low)).exp2() as usize;
        match self.algorithm.sizes {
            SizeRule::MultipleOf(n) => size.next_multiple_of(n),
            SizeRule::AtLeast(n) => size.max(n),
            SizeRule::MultipleFrom(n, least) => size.next_multiple_of(n).max(least),
            SizeRule::LessThan(n) => size.min(n - 1),
            SizeRule::Any => size,
            SizeRule::Between(least, most) => size.clamp(least, most),
            SizeRule::PowerOfTwo(least, most) => size.next_power_of_two().clamp(least, most),
            SizeRule::WholeKib(n) => size.next_multiple_of(1024).max(n),
        }
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.generator.fill_bytes(&mut bytes);
        bytes
    }

    /// A message of so many bytes; where its length is a cost, memory that nobody looks at.
    fn message(&mut self, len: usize) -> Vec<u8> {
        if self.algorithm.cost_unit().is_some() { vec![0; len] } else { self.bytes(len) }
    }

    pub(crate) fn key(&mut self) -> Vec<u8> {
        self.bytes(self.algorithm.key_len)
    }

    /// A message of `len` bytes with the reference's answer. Only authenticated algorithms get
    /// associated data.
    pub(crate) fn example(
        &mut self,
        reference: &Reference<'_>,
        len: usize,
        aad_len: usize,
    ) -> Example {
        let nonce = self.bytes(self.algorithm.nonce_len);
        self.example_under(reference, nonce, len, aad_len)
    }

    /// As [`Inputs::example`], under a nonce of the caller's.
    pub(crate) fn example_under(
        &mut self,
        reference: &Reference<'_>,
        nonce: Vec<u8>,
        len: usize,
        aad_len: usize,
    ) -> Example {
        let aad = self.bytes(if self.algorithm.takes_aad() { aad_len } else { 0 });
        let plaintext = self.message(len);
        Example::solve(reference, nonce, aad, plaintext)
    }
}

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
        reference: &Reference<'_>,
        nonce: Vec<u8>,
        aad: Vec<u8>,
        plaintext: Vec<u8>,
    ) -> Self {
        let algorithm = reference.algorithm();
        let writes_output = algorithm.writes_output();
        let mut ciphertext = vec![0; if writes_output { plaintext.len() } else { 0 }];
        let mut tag = vec![0; algorithm.tag_len];
        reference.encrypt(&nonce, &aad, &plaintext, &mut ciphertext, &mut tag);
        let source = if algorithm.is_brought() { "a session of its own" } else { "the reference" };
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

// Forgeries: a right message of which one drawn bit is changed.

/// Makes forgeries. It keeps its memory from one to the next, because thousands are made.
#[derive(Default)]
pub(crate) struct Forger {
    bytes: Vec<u8>,
}

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

// The message sizes that checks go through, in bytes. Kernels work in strides of up to a few
// hundred bytes and finish the rest by other code, so remainders matter more than large sizes.

/// The last size of the sweep: past the widest strides of today's kernels (16 blocks of 16 bytes).
const SWEEP_END: usize = 257;
/// The largest power of two that is checked from both sides.
const LARGEST: usize = 64 << 10;
/// Most bytes that any check puts into one message.
pub(crate) const MAX_LEN: usize = LARGEST + 1;

/// What is checked in every verification, in words.
pub const FIXED_SIZES: &str = "every size from 0 to 257 bytes, and 2^n - 1, 2^n and 2^n + 1 from 511 to 65537 (ciphers of 64-bit blocks, CFB8 and key wrap to 4097, PBKDF2 to 2049, CFB1 to 1025, bcrypt to 129), where the mode defines them";

/// Every size from nothing to past the widest stride; of a function that needs memory, each that is defined from the
/// least on.
pub(crate) fn sweep_sizes(algorithm: &Algorithm) -> impl Iterator<Item = usize> {
    let rule = algorithm.sizes;
    let most_kib = if algorithm.mode == Mode::MemoryHard { 24 } else { 0 };
    (0..=SWEEP_END).chain((1..=most_kib).map(|kib| kib << 10)).filter(move |n| rule.allows(*n))
}

/// The largest power of two for an algorithm. Those that libraries do a block, a byte or a bit at a
/// time, at some megabytes a second, have no kernels whose strides a larger one would reach.
fn largest(algorithm: &Algorithm) -> usize {
    match (algorithm.cipher, algorithm.mode) {
        (_, Mode::Cfb1) => 1 << 10,
        // A round of bcrypt takes longer than any block.
        (_, Mode::Bcrypt) => 128,
        (_, Mode::Pbkdf2) => 2 << 10,
        (_, Mode::Cfb8) => 4 << 10,
        _ if algorithm.wraps_keys() => 4 << 10,
        (cipher, _) if cipher.block_len() == Some(8) => 4 << 10,
        _ => LARGEST,
    }
}

/// The largest size that is drawn: past first and second-level caches.
const LARGEST_DRAWN: usize = 1 << 20;
/// Sizes that are drawn for each algorithm.
const DRAWN: usize = 6;

/// Sizes for one verification alone, between the sweep and 1 MiB, each octave as likely as another. Slow
/// algorithms end sooner, as for [`large`].
pub(crate) fn drawn_sizes(algorithm: &Algorithm, inputs: &mut Inputs) -> Vec<usize> {
    let end = LARGEST_DRAWN / (LARGEST / largest(algorithm));
    (0..DRAWN).map(|_| inputs.size(SWEEP_END + 1, end)).collect()
}

/// The longest of the messages that thousands of calls are made with.
pub(crate) fn longest_short_size(algorithm: &Algorithm) -> usize {
    largest(algorithm) / 64
}

/// Around every power of two past the sweep.
pub(crate) fn large_sizes(algorithm: &Algorithm) -> impl Iterator<Item = usize> {
    let (rule, largest) = (algorithm.sizes, largest(algorithm));
    std::iter::successors(Some(512), |n| Some(n * 2))
        .take_while(move |n| *n <= largest)
        .flat_map(|n| [n - 1, n, n + 1])
        .filter(move |n| rule.allows(*n))
}

/// The longest message that every interface takes: IPsec-MB's jobs count bytes in 16 bits, and it
/// reports an error beyond.
const COMMON_LEN: usize = 65_534;
/// As far as the crate `adiantum` goes: four pieces of NH and a block.
const COMMON_ADIANTUM_LEN: usize = 4 * 1024 + 16;
/// The longest associated data that every interface takes: IPsec-MB's CCM ends at 46 bytes, Botan's and
/// that of mbedTLS 2 at the last length that CCM writes in two bytes (NIST SP 800-38C A.2.2).
const COMMON_AAD_LEN: usize = 0xfeff;
const COMMON_CCM_AAD_LEN: usize = 46;

/// Whether an interface may report an error for a message so long, or with so much associated data,
/// where others give the answer. A wrong answer is one at any length.
pub fn may_be_refused(algorithm: &Algorithm, len: usize, aad_len: usize) -> bool {
    let aad = if algorithm.mode == Mode::Ccm { COMMON_CCM_AAD_LEN } else { COMMON_AAD_LEN };
    let common = if algorithm.mode == Mode::Adiantum { COMMON_ADIANTUM_LEN } else { COMMON_LEN };
    len > common || aad_len > aad
}

/// A few sizes that reach every part of a kernel: less than a block, blocks, wide strides, rests.
pub(crate) fn few_sizes(algorithm: &Algorithm) -> impl Iterator<Item = usize> {
    const SIZES: [usize; 18] =
        [0, 1, 15, 16, 17, 31, 48, 64, 100, 128, 255, 256, 257, 512, 1000, 1024, 4096, 4097];
    let rule = algorithm.sizes;
    let of_memory: &[usize] =
        if algorithm.mode == Mode::MemoryHard { &[8192, 13 << 10, 32 << 10] } else { &[] };
    SIZES.iter().chain(of_memory).copied().filter(move |n| rule.allows(*n))
}

/// A size that an algorithm defines, this one if it does.
pub(crate) fn usual_size(algorithm: &Algorithm, wanted: usize) -> usize {
    if algorithm.sizes.allows(wanted) {
        return wanted;
    }
    few_sizes(algorithm).next().unwrap_or(wanted)
}

/// What surrounds every part of a message.
const CANARY: u8 = 0xc9;
/// How many bytes of it on each side: the widest store of today's CPUs.
const MARGIN: usize = 64;
/// What output and tag hold before a call.
pub(crate) const FILL: u8 = 0xa5;

/// Where a part of a message lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// So many bytes past a 64-byte boundary.
    Offset(usize),
    /// Directly after a page that faults.
    Head,
    /// Directly before a page that faults.
    Tail,
}

/// Where the parts of a message lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub(crate) input: Place,
    pub(crate) output: Place,
    /// Nonce, associated data and tag.
    pub(crate) rest: Place,
}

impl Placement {
    /// Everything on 64-byte boundaries.
    pub(crate) const ALIGNED: Self = Self::all(Place::Offset(0));

    /// Everything in the same kind of place.
    pub(crate) const fn all(place: Place) -> Self {
        Self { input: place, output: place, rest: place }
    }
}

/// What a library is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) nonce: &'a [u8],
    pub(crate) aad: &'a [u8],
    pub(crate) input: &'a [u8],
    /// The tag to be checked; `None` where one is made.
    pub(crate) tag: Option<&'a [u8]>,
}

/// The parts of a message in memory.
pub(crate) struct Buffers {
    nonce: Area,
    aad: Area,
    input: Area,
    output: Area,
    tag: Area,
    pub(crate) fill: u8,
}

impl Buffers {
    /// Memory for messages of up to `len` bytes; it grows when there is need.
    pub(crate) fn new(len: usize) -> Self {
        let [nonce, aad, tag] = [0; 3].map(Area::new);
        Self { nonce, aad, input: Area::new(len), output: Area::new(len), tag, fill: FILL }
    }

    /// Lays the message out and calls the library.
    pub(crate) fn call(
        &mut self,
        session: &mut Session,
        call: Call<'_>,
        placement: Placement,
    ) -> Outcome {
        let is_cost = session.algorithm().cost_unit().is_some();
        let seen = if is_cost { Call { input: &[], ..call } } else { call };
        self.lay_out(session, seen, placement);
        self.output.fill(placement.output, seen.input.len(), self.fill);
        self.entering(session, self.input.bytes());
        let outcome = session.message(Message {
            nonce: self.nonce.bytes(),
            aad: self.aad.bytes(),
            input: if is_cost { call.input } else { self.input.bytes() },
            output: self.output.bytes_mut(),
            tag: self.tag.bytes_mut(),
        });
        fault::left();
        outcome
    }

    /// As [`Buffers::call`], with the output over the input.
    pub(crate) fn call_in_place(
        &mut self,
        session: &mut Session,
        call: Call<'_>,
        placement: Placement,
    ) -> Outcome {
        self.lay_out(session, call, placement);
        self.output.copy(placement.output, call.input);
        self.entering(session, &[]);
        let outcome = session.message_in_place(
            self.nonce.bytes(),
            self.aad.bytes(),
            self.output.bytes_mut(),
            self.tag.bytes_mut(),
        );
        fault::left();
        outcome
    }

    /// Where the parts lie, should the library crash.
    fn entering(&self, session: &Session, input: &[u8]) {
        let [nonce, aad] = [self.nonce.bytes(), self.aad.bytes()];
        let (output, tag) = (self.output.bytes(), self.tag.bytes());
        fault::entering(session.direction(), output.len(), [nonce, aad, input, output, tag]);
    }

    fn lay_out(&mut self, session: &Session, call: Call<'_>, placement: Placement) {
        self.nonce.copy(placement.rest, call.nonce);
        self.aad.copy(placement.rest, call.aad);
        self.input.copy(placement.input, call.input);
        match call.tag {
            Some(tag) => self.tag.copy(placement.rest, tag),
            None => self.tag.fill(placement.rest, session.algorithm().tag_len, self.fill),
        }
    }

    pub(crate) fn output(&self) -> &[u8] {
        self.output.bytes()
    }

    pub(crate) fn tag(&self) -> &[u8] {
        self.tag.bytes()
    }

    /// All that the last call left, output and tag.
    pub(crate) fn result(&self) -> (Vec<u8>, Vec<u8>) {
        (self.output().to_vec(), self.tag().to_vec())
    }

    /// The parts that a library only reads, with what they held before the call.
    pub(crate) fn read_only<'a>(
        &'a self,
        call: Call<'a>,
    ) -> impl Iterator<Item = (&'static str, &'a [u8], &'a [u8])> {
        // Of a cost there is nothing in memory.
        let input = if self.input.bytes().is_empty() { &[] } else { call.input };
        [
            ("input", self.input.bytes(), input),
            ("nonce", self.nonce.bytes(), call.nonce),
            ("associated data", self.aad.bytes(), call.aad),
        ]
        .into_iter()
        .chain(call.tag.map(|tag| ("tag", self.tag.bytes(), tag)))
    }

    /// The first byte around any part that the last call changed, in words.
    pub(crate) fn stray(&self, direction: Direction) -> Option<String> {
        let tag = if direction == Direction::Digest { "digest" } else { "tag" };
        [
            ("output", &self.output),
            (tag, &self.tag),
            ("input", &self.input),
            ("nonce", &self.nonce),
            ("associated data", &self.aad),
        ]
        .into_iter()
        .find_map(|(name, area)| area.stray().map(|where_| format!("{where_} the {name}")))
    }
}

/// One part of a message.
struct Area {
    memory: GuardedBuffer,
    at: Range<usize>,
}

impl Area {
    fn new(len: usize) -> Self {
        Self { memory: GuardedBuffer::new(Self::needed(len)), at: 0..0 }
    }

    /// Room for a margin, the offset within a line, the bytes, and a margin.
    fn needed(len: usize) -> usize {
        len + 3 * MARGIN
    }

    /// Takes the place and puts canaries around it.
    fn take(&mut self, place: Place, len: usize) -> &mut [u8] {
        if self.memory.capacity() < Self::needed(len) {
            self.memory = GuardedBuffer::new(Self::needed(len));
        }
        let capacity = self.memory.capacity();
        let start = match place {
            Place::Offset(n) => {
                assert!(n < MARGIN, "an offset within a line");
                MARGIN + n
            }
            Place::Head => 0,
            Place::Tail => capacity - len,
        };
        self.at = start..start + len;
        let [before, after] = self.margins();
        let memory = self.memory.as_mut_slice();
        memory[before].fill(CANARY);
        memory[after].fill(CANARY);
        self.bytes_mut()
    }

    /// The known bytes on both sides, as far as there is memory.
    fn margins(&self) -> [Range<usize>; 2] {
        let Range { start, end } = self.at;
        let capacity = self.memory.capacity();
        [start.saturating_sub(MARGIN)..start, end..(end + MARGIN).min(capacity)]
    }

    fn copy(&mut self, place: Place, bytes: &[u8]) {
        self.take(place, bytes.len()).copy_from_slice(bytes);
    }

    fn fill(&mut self, place: Place, len: usize, byte: u8) {
        self.take(place, len).fill(byte);
    }

    fn bytes(&self) -> &[u8] {
        &self.memory.as_slice()[self.at.clone()]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory.as_mut_slice()[self.at.clone()]
    }

    /// Where the first changed byte around the part is.
    fn stray(&self) -> Option<String> {
        let memory = self.memory.as_slice();
        let [before, after] = self.margins();
        // Thousands of calls are looked at: comparing whole margins is what costs little.
        let whole =
            |margin: &Range<usize>| memory[margin.clone()] == [CANARY; MARGIN][..margin.len()];
        if whole(&before) && whole(&after) {
            return None;
        }
        let changed = |byte: &u8| *byte != CANARY;
        let past = memory[after].iter().position(changed).map(|n| (n + 1, "after the end of"));
        let short = || {
            let nearest = memory[before].iter().rev().position(changed);
            nearest.map(|n| (n + 1, "before the beginning of"))
        };
        past.or_else(short).map(|(n, side)| format!("byte {n} {side}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;

    #[test]
    fn inputs_are_fixed_by_algorithm_and_check() {
        let bytes =
            |algorithm, check| Inputs::new(Algorithm::find(algorithm).unwrap(), check).bytes(16);
        assert_eq!(bytes("aes-128-ctr", "reference"), bytes("aes-128-ctr", "reference"));
        assert_ne!(bytes("aes-128-ctr", "reference"), bytes("aes-192-ctr", "reference"));
        assert_ne!(bytes("aes-128-ctr", "reference"), bytes("aes-128-ctr", "stream"));
    }

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

    fn algorithm(name: &str) -> &'static Algorithm {
        Algorithm::find(name).unwrap()
    }

    #[test]
    fn every_size_of_the_sweep_and_around_every_power_is_there() {
        let gcm = algorithm("aes-128-gcm");
        assert_eq!(sweep_sizes(gcm).collect::<Vec<_>>(), (0..=257).collect::<Vec<_>>());
        let large: Vec<_> = large_sizes(gcm).collect();
        assert_eq!(large[..3], [511, 512, 513]);
        assert_eq!(large[large.len() - 3..], [65535, 65536, 65537]);
        assert_eq!(large.len(), 8 * 3);
        assert_eq!(large.iter().max(), Some(&MAX_LEN));
    }

    #[test]
    fn sizes_that_an_algorithm_does_not_define_are_left_out() {
        assert!(sweep_sizes(algorithm("aes-128-cbc")).all(|n| n.is_multiple_of(16)));
        assert!(large_sizes(algorithm("aes-128-cbc")).all(|n| n.is_power_of_two()));
        assert_eq!(sweep_sizes(algorithm("aes-128-xts")).next(), Some(16));
        assert_eq!(few_sizes(algorithm("aes-128-xts")).next(), Some(16));
    }

    #[test]
    fn drawn_sizes_come_from_the_seed_lie_beyond_the_sweep_and_are_defined() {
        let draw =
            |algorithm, seed| drawn_sizes(algorithm, &mut Inputs::drawn(algorithm, "test", seed));
        for algorithm in Algorithm::all() {
            for seed in 0..20 {
                let sizes = draw(algorithm, seed);
                assert_eq!((sizes.len(), &sizes), (DRAWN, &draw(algorithm, seed)));
                let fits = |n: &usize| (SWEEP_END + 1..=LARGEST_DRAWN).contains(n);
                assert!(sizes.iter().all(fits), "{algorithm} {sizes:?}");
                assert!(sizes.iter().all(|n| algorithm.sizes.allows(*n)), "{algorithm} {sizes:?}");
            }
        }
        let gcm = algorithm("aes-128-gcm");
        assert_ne!(draw(gcm, 1), draw(gcm, 2));
        let all: Vec<usize> = (0..100).flat_map(|seed| draw(gcm, seed)).collect();
        for from in (9..20).map(|n| 1 << n) {
            let octave = all.iter().filter(|n| (from..2 * from).contains(*n)).count();
            assert!((20..90).contains(&octave), "{octave} of 600 from {from} on");
        }
    }

    #[test]
    fn a_changed_byte_on_either_side_is_found_and_named() {
        let mut area = Area::new(100);
        for place in [Place::Offset(3), Place::Head, Place::Tail] {
            area.copy(place, &[7; 20]);
            assert_eq!(area.bytes(), [7; 20]);
            assert_eq!(area.stray(), None, "{place:?}");
        }
        area.copy(Place::Offset(3), &[7; 20]);
        let end = area.at.end;
        area.memory.as_mut_slice()[end] = 0;
        assert_eq!(area.stray().unwrap(), "byte 1 after the end of");
        area.copy(Place::Tail, &[7; 20]);
        let start = area.at.start;
        area.memory.as_mut_slice()[start - 2] = 0;
        assert_eq!(area.stray().unwrap(), "byte 2 before the beginning of");
    }

    #[test]
    fn places_are_aligned_as_asked_and_flush_with_the_guard_pages() {
        let mut area = Area::new(100);
        area.fill(Place::Offset(5), 10, 1);
        assert_eq!((area.bytes().as_ptr() as usize) % 64, 5);
        area.fill(Place::Head, 10, 1);
        assert_eq!(area.at.start, 0);
        area.fill(Place::Tail, 10, 1);
        assert_eq!(area.at.end, area.memory.capacity());
    }

    #[test]
    fn a_longer_part_gets_more_memory() {
        let mut area = Area::new(1);
        area.fill(Place::Offset(63), 100_000, 1);
        assert_eq!((area.bytes().len(), area.stray()), (100_000, None));
    }
}
