//! What operations are made of and what they must leave: keys, nonces and messages, all from the run's seed, so that
//! every worker of a run makes the same; an opened algorithm; and outputs held against the reference.

use crate::protocol::{Finding, NO_FORGERY, Visit, not_opened};
use base::model::{AAD_LEN, Algorithm, Direction, Kind, MAX_REPEATED_SIZE, Mode, Model};
use contract::{Library, Message, Outcome, Session, raw};
use probe::{Done, MessageBatch, MessageSet};
use rand::Rng;
use rand::rngs::StdRng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use verify::reference::Reference;
use xxhash_rust::xxh3::xxh3_64;

pub(crate) struct Material {
    pub(crate) key: Vec<u8>,
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
}

impl Material {
    pub(crate) fn new(seed: u64, algorithm: &Algorithm) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // A stream of its own for each algorithm, found by its name.
        rng.set_stream(xxhash_rust::xxh3::xxh3_64(algorithm.name.as_bytes()));
        let mut bytes = |len: usize| {
            let mut bytes = vec![0; len];
            rng.fill_bytes(&mut bytes);
            bytes
        };
        let (key, mut nonce) = (bytes(algorithm.key_len), bytes(algorithm.nonce_len));
        let aad = bytes(if algorithm.takes_aad() { AAD_LEN } else { 0 });
        if algorithm.mode == Mode::Ctr
            && let Some(counter) = nonce.get_mut(12..)
        {
            // A block counter that begins at one behind a nonce of twelve bytes (RFC 3686 §4), where
            // blocks have sixteen. Where it begins matters: libraries take a slower path when its low
            // byte overflows.
            counter.copy_from_slice(&[0, 0, 0, 1]);
        }
        // The counter in the nonce's first eight bytes begins low, so that no run overflows it.
        if let Some(top) = nonce.get_mut(7) {
            *top &= 0x0f;
        }
        Self { key, nonce, aad }
    }

    /// The first nonce raised by `by` in its first eight bytes, little-endian; shorter nonces stay.
    pub(crate) fn nonce_raised(&self, by: u64) -> Vec<u8> {
        let mut nonce = self.nonce.clone();
        if let Some(counter) = nonce.first_chunk_mut::<8>() {
            *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
        }
        nonce
    }

    /// The key raised by `by` in its first eight bytes, little-endian; shorter keys stay.
    pub(crate) fn key_raised(&self, by: u64) -> Vec<u8> {
        let mut key = self.key.clone();
        if let Some(counter) = key.first_chunk_mut::<8>() {
            *counter = u64::from_le_bytes(*counter).wrapping_add(by).to_le_bytes();
        }
        key
    }

    /// Ciphertexts of the messages of `size` bytes that `plain` is made of: encrypted by the
    /// reference, not by the library that is measured; with `rekeyed` each under a key of its own.
    pub(crate) fn encrypted(
        &self,
        reference: &Reference<'_>,
        size: usize,
        plain: &[u8],
        rekeyed: bool,
    ) -> Ciphertexts {
        self.encrypted_from(0, reference, size, plain, rekeyed)
    }

    /// As [`Material::encrypted`], with nonces and keys raised by `first` before the first message.
    pub(crate) fn encrypted_from(
        &self,
        first: u64,
        reference: &Reference<'_>,
        size: usize,
        plain: &[u8],
        rekeyed: bool,
    ) -> Ciphertexts {
        let mut made = Ciphertexts { inputs: vec![0; plain.len()], ..Ciphertexts::default() };
        let outputs = made.inputs.chunks_exact_mut(size);
        for (i, (input, output)) in plain.chunks_exact(size).zip(outputs).enumerate() {
            let number = first + i as u64;
            let nonce = self.nonce_raised(number);
            let mut tag = vec![0; reference.algorithm().tag_len];
            if rekeyed {
                let key = self.key_raised(number);
                reference.under(&key).encrypt(&nonce, &self.aad, input, output, &mut tag);
                made.keys.push(key);
            } else {
                reference.encrypt(&nonce, &self.aad, input, output, &mut tag);
            }
            made.nonces.push(nonce);
            made.tags.push(tag);
        }
        made
    }
}

#[derive(Debug, Default)]
pub(crate) struct Ciphertexts {
    pub(crate) inputs: Vec<u8>,
    pub(crate) nonces: Vec<Vec<u8>>,
    pub(crate) tags: Vec<Vec<u8>>,
    /// Of the model `rekey`.
    pub(crate) keys: Vec<Vec<u8>>,
}

impl Ciphertexts {
    pub(crate) fn forged_tags(&self) -> Vec<Vec<u8>> {
        let forged = self.tags.iter().enumerate().map(|(i, tag)| {
            let mut tag = tag.clone();
            let at = i * 5 % tag.len().max(1);
            if let Some(byte) = tag.get_mut(at) {
                *byte ^= 1 << (i % 8);
            }
            tag
        });
        forged.collect()
    }
}

/// What a batch of whole messages works on.
pub(crate) struct Feed<'a> {
    size: usize,
    cost: Option<usize>,
    plain: &'a [u8],
    aad: &'a [u8],
    /// Of decryption.
    made: Option<&'a Ciphertexts>,
    /// Of forgeries.
    forged: Option<Vec<Vec<u8>>>,
    /// To count up from.
    nonce: [Vec<u8>; 1],
    key: Option<[Vec<u8>; 1]>,
}

impl<'a> Feed<'a> {
    /// For a visit; nonces and keys that count up begin `first` above the material's own.
    pub(crate) fn new(
        material: &'a Material,
        visit: &Visit,
        plain: &'a [u8],
        made: Option<&'a Ciphertexts>,
        first: u64,
    ) -> Self {
        let forged = made.filter(|_| visit.model == Model::Forgery).map(Ciphertexts::forged_tags);
        let key = visit.model.rekeys().then(|| [material.key_raised(first)]);
        let (size, cost) = (visit.input_len(), visit.cost());
        let nonce = [material.nonce_raised(first)];
        Self { size, cost, plain, aad: &material.aad, made, forged, nonce, key }
    }

    pub(crate) fn authentic(self) -> Self {
        Self { forged: None, ..self }
    }

    /// As the probe takes it: the same few buffers again and again.
    pub(crate) fn set(&self) -> MessageSet<'_> {
        let key = self.key.as_ref().map_or([].as_slice(), |key| key);
        let (inputs, nonces, tags, keys) = match self.made {
            Some(made) => {
                let tags = self.forged.as_ref().unwrap_or(&made.tags);
                (&*made.inputs, &*made.nonces, &**tags, &*made.keys)
            }
            None => (self.plain, self.nonce.as_slice(), [].as_slice(), key),
        };
        MessageSet {
            size: self.size,
            cost: self.cost,
            inputs,
            nonces,
            tags,
            keys,
            aad: self.aad,
            expected: if self.forged.is_some() { raw::REJECTED } else { raw::OK },
            in_place: false,
            walk: None,
        }
    }
}

/// The run's plaintext: every message is cut from its beginning.
pub(crate) struct Plaintext {
    rng: ChaCha8Rng,
    bytes: Vec<u8>,
}

impl Plaintext {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), bytes: Vec::new() }
    }

    pub(crate) fn first(&mut self, len: usize) -> &[u8] {
        let have = self.bytes.len();
        if have < len {
            self.bytes.resize(len, 0);
            self.rng.fill_bytes(&mut self.bytes[have..]);
        }
        &self.bytes[..len]
    }
}

// An opened algorithm in one direction with what checks it.

/// Messages in flight need an output each.
const LARGEST_IN_FLIGHT: usize = 1 << 20;

/// Why a runtime's rows have no model `rekey`.
const NEW_KEYS: &str = "a runtime's program sets one key for many messages";

pub(crate) struct Subject {
    pub(crate) session: Session,
    pub(crate) reference: Reference<'static>,
    pub(crate) material: Material,
    /// Whether its key is a new one for each message.
    rekeys: bool,
    /// By message size.
    ciphertexts: HashMap<usize, Ciphertexts>,
    /// Of messages that come again under the same nonce, or none.
    pub(crate) answers: Answers,
}

impl Subject {
    /// Opens it; with `rekeys` for new keys, by opening it again for each where the library's
    /// context takes none.
    pub(crate) fn open(
        library: &'static dyn Library,
        algorithm: &'static Algorithm,
        direction: Direction,
        seed: u64,
        rekeys: bool,
    ) -> Result<Self, Finding> {
        let material = Material::new(seed, algorithm);
        if rekeys && algorithm.key_len == 0 {
            return Err(Finding::unsupported(format!("{algorithm} has no key")));
        }
        let mut session = library.open(algorithm, direction, &material.key).map_err(not_opened)?;
        if rekeys && session.is_remote() {
            return Err(Finding::unsupported(NEW_KEYS));
        }
        if rekeys && !session.has_rekey() {
            session = contract::reopening(library, algorithm, direction, &material.key)
                .map_err(not_opened)?;
        }
        let reference = Reference::of(library, algorithm, &material.key);
        let (ciphertexts, answers) = (HashMap::new(), Answers::new());
        Ok(Self { session, reference, material, rekeys, ciphertexts, answers })
    }

    pub(crate) fn offers(&self, visit: &Visit) -> Result<(), Finding> {
        if visit.model == Model::Stream {
            return self.offers_stream(visit);
        }
        if !self.session.has_message() {
            return Err(Finding::unsupported("the library does not offer whole messages"));
        }
        if self.session.in_flight() > 1 && visit.size > LARGEST_IN_FLIGHT {
            return Err(Finding::unsupported(format!(
                "with several messages in flight, none is larger than {LARGEST_IN_FLIGHT} bytes"
            )));
        }
        if self.session.is_remote() && self.session.algorithm().is_large(visit.size) {
            return Err(Finding::unsupported(format!(
                "a runtime's program takes messages of up to {MAX_REPEATED_SIZE} bytes"
            )));
        }
        if visit.in_place && !self.session.in_place() {
            return Err(Finding::unsupported("the library's interface does not work in place"));
        }
        if visit.model == Model::Forgery
            && !(self.session.algorithm().rejects() && visit.direction == Direction::Decrypt)
        {
            return Err(Finding::unsupported(NO_FORGERY));
        }
        Ok(())
    }

    fn offers_stream(&self, visit: &Visit) -> Result<(), Finding> {
        if !self.session.has_stream() || !self.session.in_place() {
            return Err(Finding::unsupported(format!(
                "the library has no repeated update in place for {}",
                visit.algorithm
            )));
        }
        if !self.reference.stream_sizes().allows(visit.size) {
            return Err(Finding::unsupported(format!(
                "a stream of {} takes updates of whole blocks of 16 bytes",
                visit.algorithm
            )));
        }
        Ok(())
    }

    /// What a visit of decryption works on: made of `plain`, or kept from an earlier visit.
    pub(crate) fn ciphertexts(&mut self, visit: &Visit, plain: &[u8]) -> Option<Ciphertexts> {
        (visit.direction == Direction::Decrypt).then(|| {
            let kept = self.ciphertexts.remove(&visit.size);
            let make = || self.material.encrypted(&self.reference, visit.size, plain, self.rekeys);
            kept.unwrap_or_else(make)
        })
    }

    pub(crate) fn keep(&mut self, size: usize, made: Ciphertexts) {
        self.ciphertexts.insert(size, made);
    }

    /// After forgeries: that the first message, as it should be, is still taken. A session that
    /// rejects everything is fast as well.
    pub(crate) fn still_accepts(
        &mut self,
        made: &Ciphertexts,
        plain: &[u8],
    ) -> Result<(), Finding> {
        let mut output = vec![0; plain.len()];
        let mut tag = made.tags[0].clone();
        let outcome = self.session.message(Message {
            nonce: &made.nonces[0],
            aad: &self.material.aad,
            input: &made.inputs[..plain.len()],
            output: &mut output,
            tag: &mut tag,
        });
        if outcome == Outcome::Done && output == plain {
            return Ok(());
        }
        Err(Finding::refused(format!(
            "timed-output: after forgeries the message itself gives {outcome:?} and {} plaintext",
            if output == plain { "its" } else { "another" }
        )))
    }

    /// Holds what `ops` updates left of `initial` against the reference, whose part is worked out
    /// once.
    pub(crate) fn check_stream(
        &self,
        direction: Direction,
        nonce: &[u8],
        ops: u32,
        initial: &[u8],
        left: &[u8],
    ) -> Result<(), Finding> {
        let mut expected = initial.to_vec();
        let next_unit = self.session.next_unit();
        if let Some(mut stream) = self.reference.stream(direction, nonce, next_unit) {
            (0..ops).for_each(|_| stream.update(&mut expected));
        }
        if left == expected {
            return Ok(());
        }
        Err(Finding::refused(format!(
            "timed-output: after {ops} timed updates the buffer is not what the reference gives"
        )))
    }
}

// What operations left, held against the reference: of as many as there is time for, the last one always.

/// Time for outputs besides the last one; where the batch took longer, as long as it took.
const LEAST_COMPARING: Duration = Duration::from_micros(30);
/// And no longer than this: batches of one long operation are checked whole with their last output.
const MOST_COMPARING: Duration = Duration::from_millis(1);
/// Bytes that cannot all be the poison by chance: one in 2^64.
const SURE: usize = 8;
const KEPT_ANSWER_BYTES: usize = 64 << 10;

/// Outputs and tags of messages that come again, by size and number of the message: worked out once.
pub(crate) type Answers = HashMap<(usize, usize), (Vec<u8>, Vec<u8>)>;

/// What operations on a visit's messages must leave.
pub(crate) struct Expected<'a> {
    pub(crate) algorithm: &'static Algorithm,
    pub(crate) direction: Direction,
    pub(crate) model: Model,
    /// Bytes of a message.
    pub(crate) size: usize,
    pub(crate) cost: Option<usize>,
    pub(crate) reference: &'a Reference<'static>,
    pub(crate) aad: &'a [u8],
    /// All messages, one after the other.
    pub(crate) plain: &'a [u8],
    /// What outputs and, but for decryption, tags were filled with before.
    pub(crate) poison: u8,
    pub(crate) answers: &'a mut Answers,
    /// What the last comparison took.
    pub(crate) took: Duration,
}

/// Time for comparing what a batch left that took this long.
pub(crate) fn time_for(batch: Duration) -> Duration {
    batch.clamp(LEAST_COMPARING, MOST_COMPARING)
}

impl<'a> Expected<'a> {
    /// For a visit's messages, with their associated data before them; outputs are poisoned with this byte.
    pub(crate) fn new(
        reference: &'a Reference<'static>,
        visit: &Visit,
        aad: &'a [u8],
        plain: &'a [u8],
        poison: u8,
        answers: &'a mut Answers,
        took: Duration,
    ) -> Self {
        let algorithm = reference.algorithm();
        let Visit { direction, model, .. } = *visit;
        let (size, cost) = (visit.input_len(), visit.cost());
        Self {
            algorithm,
            direction,
            model,
            size,
            cost,
            reference,
            aad,
            plain,
            poison,
            answers,
            took,
        }
    }

    /// Compares what the last of `ran` operations left, and as much of what is left of those before it, in
    /// random order, as there is time for. Of the others, whether they were written at all. Whether all were
    /// compared.
    pub(crate) fn check(
        &mut self,
        batch: &MessageBatch<'_>,
        ran: u32,
        time: Duration,
        rng: &mut StdRng,
    ) -> Result<bool, Finding> {
        let begun = Instant::now();
        self.check_last(batch)?;
        self.check_from(1, batch, ran, begun, time, rng)
    }

    /// Compares what the last operation left.
    pub(crate) fn check_last(&mut self, batch: &MessageBatch<'_>) -> Result<(), Finding> {
        self.compare(batch, 0)
    }

    /// As [`Expected::check`]; from the last operation on, it has no right to be compared.
    pub(crate) fn check_from(
        &mut self,
        first: usize,
        batch: &MessageBatch<'_>,
        ran: u32,
        begun: Instant,
        time: Duration,
        rng: &mut StdRng,
    ) -> Result<bool, Finding> {
        let kept = batch.kept(ran);
        let mut left: Vec<usize> = (first..kept).collect();
        let mut all = kept == ran as usize;
        while !left.is_empty() {
            let back = left.swap_remove(rng.next_u64() as usize % left.len());
            if may_go_on(self.took, begun.elapsed(), time, rng) {
                self.compare(batch, back)?;
            } else {
                self.is_written(&batch.done(back))?;
                all = false;
            }
        }
        Ok(all)
    }

    /// Compares what the operation left after which there were `back` more.
    fn compare(&mut self, batch: &MessageBatch<'_>, back: usize) -> Result<(), Finding> {
        let begun = Instant::now();
        let (done, size) = (batch.done(back), self.size);
        let message = &self.plain[done.message * size..][..size];
        let found = match (self.direction, self.algorithm.kind) {
            (Direction::Decrypt, _) => self.compare_with(&done, message, done.tag),
            (_, Kind::Random) => self.compare_draw(&done),
            (_, Kind::Null) => self.compare_with(&done, &vec![self.poison; size], done.tag),
            _ => {
                let key = (size, done.message);
                let known = if batch.counts() { None } else { self.answers.remove(&key) };
                let answer = known.unwrap_or_else(|| self.answer(&done, message));
                let found = self.compare_answer(&done, &answer, batch.is_poisoned_whole());
                if !batch.counts() && size <= KEPT_ANSWER_BYTES {
                    self.answers.insert(key, answer);
                }
                found
            }
        };
        self.took = begun.elapsed();
        found
    }

    /// What is drawn has no right answer: it must be there, and none that was compared before in this process.
    fn compare_draw(&mut self, done: &Done<'_>) -> Result<(), Finding> {
        self.is_written(done)?;
        let draw = (done.output.len(), xxh3_64(done.output) as usize);
        if draw.0 < SURE || self.answers.insert(draw, Default::default()).is_none() {
            return Ok(());
        }
        Err(Finding::refused(format!(
            "timed-output: {} bytes that the timed loop drew are what an earlier call had drawn",
            self.size
        )))
    }

    fn answer(&self, done: &Done<'_>, message: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let writes = self.algorithm.writes_output();
        let mut output = vec![0; if writes { message.len() } else { 0 }];
        let mut tag = vec![0; self.algorithm.tag_len];
        let own = self.model.rekeys().then(|| self.reference.under(&done.key));
        if let Some(cost) = self.cost {
            own.as_ref().unwrap_or(self.reference).derive(&done.nonce, cost, &mut tag);
            return (output, tag);
        }
        own.as_ref().unwrap_or(self.reference).encrypt(
            &done.nonce,
            self.aad,
            message,
            &mut output,
            &mut tag,
        );
        (output, tag)
    }

    /// An answer without an output is that of an algorithm that writes none: there the poison stays.
    fn compare_answer(
        &self,
        done: &Done<'_>,
        (output, tag): &(Vec<u8>, Vec<u8>),
        poisoned: bool,
    ) -> Result<(), Finding> {
        if !output.is_empty() {
            return self.compare_with(done, output, tag);
        }
        let size = if poisoned { self.size } else { 0 };
        self.compare_with(done, &vec![self.poison; size], tag)
    }

    fn compare_with(&self, done: &Done<'_>, output: &[u8], tag: &[u8]) -> Result<(), Finding> {
        let Done { output: left, from, .. } = *done;
        let output = output.get(from..).unwrap_or_default();
        let both = output.len().min(left.len());
        // As a whole first: the largest have hundreds of millions of bytes.
        let differs = output[..both] != left[..both];
        let differing = || output.iter().zip(left).position(|(a, b)| a != b);
        if let Some(at) = differs.then(differing).flatten() {
            return Err(Finding::refused(format!(
                "timed-output: byte {} of {} that the timed loop left is {:02x}, the reference has {:02x}",
                from + at,
                self.size,
                left[at],
                output[at]
            )));
        }
        if tag != done.tag {
            return Err(Finding::refused(
                "timed-output: the tag that the timed loop left is not the reference's",
            ));
        }
        Ok(())
    }

    /// Whether anything was written, without the reference.
    fn is_written(&self, done: &Done<'_>) -> Result<(), Finding> {
        let poisoned =
            |bytes: &[u8]| bytes.len() >= SURE && bytes.iter().all(|b| *b == self.poison);
        let writes = self.algorithm.writes_output();
        let edge = done.output.len().min(2 * SURE);
        let (first, last) = (&done.output[..edge], &done.output[done.output.len() - edge..]);
        let encrypts = self.direction != Direction::Decrypt;
        if writes && (poisoned(first) || poisoned(last)) || encrypts && poisoned(done.tag) {
            return Err(Finding::refused(format!(
                "timed-output: the {} of {} bytes that the timed loop left is as it was before",
                if poisoned(done.tag) { "tag of a message" } else { "output" },
                self.size
            )));
        }
        Ok(())
    }
}

/// Whether one more fits the time; of what fits in part, by chance as often as it would.
fn may_go_on(one: Duration, spent: Duration, time: Duration, rng: &mut StdRng) -> bool {
    let left = time.saturating_sub(spent);
    let chance = left.as_secs_f64() / one.as_secs_f64().max(1e-9);
    chance * 2_f64.powi(32) > f64::from(rng.next_u32())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_material_and_another_one_another() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let (a, b, c) = (Material::new(1, gcm), Material::new(1, gcm), Material::new(2, gcm));
        assert_eq!((&a.key, &a.nonce), (&b.key, &b.nonce));
        assert_ne!(a.key, c.key);
        assert_ne!(a.key, Material::new(1, Algorithm::find("aes-256-ocb").unwrap()).key);
    }

    #[test]
    fn every_algorithm_has_material_that_is_new_for_each_message() {
        for algorithm in Algorithm::all() {
            let m = Material::new(1, algorithm);
            assert_eq!((m.key.len(), m.nonce.len()), (algorithm.key_len, algorithm.nonce_len));
            let is_counted = algorithm.nonce_len >= 8;
            assert_eq!(m.nonce_raised(1) != m.nonce, is_counted, "{algorithm}");
        }
    }

    #[test]
    fn plaintext_grows_without_changing() {
        let (mut grown, mut whole) = (Plaintext::new(1), Plaintext::new(1));
        let short = grown.first(96).to_vec();
        assert_eq!(grown.first(320)[..96], short);
        assert_eq!(grown.first(320).len(), 320);
        assert_eq!(whole.first(320)[..96], short);
    }

    #[test]
    fn what_is_to_be_decrypted_is_what_was_encrypted() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let m = Material::new(1, gcm);
        let reference = Reference::new(gcm, &m.key);
        let plain: Vec<u8> = (0..=255).cycle().take(400).collect();
        let made = m.encrypted(&reference, 100, &plain, false);
        for i in 0..4 {
            let (mut out, input) = ([0; 100], &made.inputs[i * 100..][..100]);
            assert!(reference.decrypt(&made.nonces[i], &m.aad, input, &mut out, &made.tags[i]));
            assert_eq!(out, plain[i * 100..][..100]);
        }
        assert!(made.nonces[0] != made.nonces[1] && made.inputs[..100] != made.inputs[100..200]);
    }

    #[test]
    fn each_message_of_a_rekeyed_set_has_a_key_of_its_own() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let m = Material::new(1, gcm);
        let reference = Reference::new(gcm, &m.key);
        let made = m.encrypted(&reference, 16, &[7; 64], true);
        assert_eq!(made.keys[0], m.key);
        for i in 0..4 {
            let (mut out, input) = ([0; 16], &made.inputs[i * 16..][..16]);
            let own = Reference::new(gcm, &made.keys[i]);
            assert!(own.decrypt(&made.nonces[i], &m.aad, input, &mut out, &made.tags[i]));
            assert_eq!(
                reference.decrypt(&made.nonces[i], &m.aad, input, &mut out, &made.tags[i]),
                i == 0
            );
        }
    }

    #[test]
    fn a_forged_tag_differs_in_one_bit() {
        let gcm = Algorithm::find("aes-256-gcm").unwrap();
        let m = Material::new(1, gcm);
        let made = m.encrypted(&Reference::new(gcm, &m.key), 16, &[7; 256], false);
        for (tag, forged) in made.tags.iter().zip(made.forged_tags()) {
            let bits: u32 = tag.iter().zip(&forged).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert_eq!(bits, 1);
        }
    }

    #[test]
    fn comparisons_take_the_time_that_there_is_and_no_more() {
        let mut rng = StdRng::seed_from_u64(1);
        let us = Duration::from_micros;
        let mut went = |one, spent, time| {
            (0..3000).filter(|_| may_go_on(us(one), us(spent), us(time), &mut rng)).count()
        };
        assert_eq!(went(10, 0, 30), 3000);
        assert_eq!(went(10, 30, 30), 0);
        assert_eq!(went(10, 40, 30), 0);
        assert_eq!(went(0, 0, 30), 3000);
        // What fits to a third goes on one time in three.
        assert!((900..1100).contains(&went(90, 0, 30)));
    }

    #[test]
    fn outputs_get_as_long_as_their_batch_took_within_bounds() {
        let us = Duration::from_micros;
        assert_eq!([0, 30, 200, 5000].map(|t| time_for(us(t))), [30, 30, 200, 1000].map(us));
    }
}
