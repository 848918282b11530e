//! What an algorithm's execution depends on: the same operations under other keys, each in a process of its
//! own, stepped and compared. All are forked from one that has done everything once, so addresses compare as
//! they are. Private keys under TLS likewise.

use crate::process;
use crate::protocol::{Finding, Judged, Judging, known, not_opened};
use crate::worker::forks::{SAID, printed, said_since, wait};
use crate::worker::material::{Material, Plaintext};
use crate::worker::original;
use crate::worker::stack::not_offered;
use adapters::stacks::{PrivateKeys, Secret};
use base::model::{Algorithm, Direction, Mapped};
use contract::{Library, Message, Outcome, Session};
use host::confine::Forked;
use probe::leaks::{Judgement, Operation, Recordings, Stage, judge};
use probe::step::{Code, End, Recorder, Tape, hide_forks, thread_pointer};
use record::tls::Scheme;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

/// A library in this process.
pub(crate) struct Loaded<'a> {
    pub(crate) library: &'static dyn Library,
    /// The files that its code comes from.
    pub(crate) objects: &'a [PathBuf],
    pub(crate) file: &'a Path,
    /// What is mapped in that one's place, or the same.
    pub(crate) mapped: &'a Path,
}

/// Judges one algorithm, or the use of private keys of one scheme.
pub(crate) fn judge_secrets(of: &Loaded<'_>, asked: &Judging) -> Result<Judged, Finding> {
    let private =
        adapters::stacks::PRIVATE.iter().find(|(scheme, _)| scheme.name() == asked.algorithm);
    match private {
        Some((scheme, operation)) => judge_private(of, *scheme, *operation, asked),
        None => messages(of, asked),
    }
}

/// The share of the steps that a key's set-up and a first message may take where they are looked at first.
const OF_OPENING: usize = 4;

fn messages(of: &Loaded<'_>, asked: &Judging) -> Result<Judged, Finding> {
    let (library, objects) = (of.library, of.objects);
    let algorithm = known(&asked.algorithm)?;
    if algorithm.key_len == 0 {
        return Err(Finding::unsupported(format!("{algorithm} has no key")));
    }
    let mut children = Children::new(asked.most_steps)?;
    let sizes = chosen_sizes(library, algorithm, &asked.sizes, &mut children)?;
    let mut operations = Operations::new(library, algorithm);
    let mut messages = Messages::new(algorithm, &sizes);
    let secrets = operations.warm(&mut messages, asked.secrets.max(2) as usize)?;
    let places = if algorithm.rejects() {
        wrong_tag_places(algorithm.tag_len, secrets.len())
    } else {
        Vec::new()
    };
    let stages = operations.stages(&messages);
    let mut judged = |kept: Kept, places: &[usize], most_steps: usize| {
        children.limit(most_steps);
        let traces = traces(&mut children, &mut operations, &mut messages, kept, &secrets, places)?;
        let judgement = judge(&Recordings {
            stages: &stages[..kept.most().min(stages.len())],
            secrets: &traces.secrets,
            twin: traces.twin.as_ref().unwrap_or(&traces.secrets[0]),
            forgeries: &traces.forgeries,
            secret: &[range(&messages.key)],
            public: &[],
            code: &Code::of_this_process(&|mapped| original(mapped, objects)),
            thread: thread_pointer(),
            show: asked.trace.as_deref(),
        });
        let depends = judgement.findings.iter().any(|leak| leak.compared);
        let is_opening = kept == Kept::Opening && (depends || traces.secrets[0].is_cut_at_first());
        Ok(Judged { is_opening, ..judgement.into() })
    };
    if asked.until_one {
        let opening = judged(Kept::Opening, &[], asked.most_steps / OF_OPENING)?;
        if opening.is_opening {
            return Ok(opening);
        }
    }
    judged(Kept::All, &places, asked.most_steps)
}

struct Traces {
    secrets: Vec<Tape>,
    /// The first key again; none where the first was not seen to the end of its set-up.
    twin: Option<Tape>,
    /// Rejections of tags that are wrong at several places, under the first key.
    forgeries: Vec<Tape>,
}

/// Records what is kept of all operations, under each secret, and with a tag that is wrong at each of the places.
fn traces(
    children: &mut Children,
    operations: &mut Operations,
    messages: &mut Messages,
    kept: Kept,
    secrets: &[Vec<u8>],
    places: &[usize],
) -> Result<Traces, Finding> {
    let mut child = |key: &[u8], wrong: usize, kept: Kept| {
        messages.key.copy_from_slice(key);
        messages.wrong = wrong;
        children.record(kept, |call| operations.all(messages, call).map(|()| 0))
    };
    // From here to the last fork nothing is allocated: what moves this heap moves what the next child allocates.
    let mut traces = Traces {
        secrets: Vec::with_capacity(secrets.len()),
        twin: None,
        forgeries: Vec::with_capacity(places.len()),
    };
    for key in secrets {
        traces.secrets.push(child(key, 0, kept)?);
        if traces.secrets[0].is_cut_at_first() {
            return Ok(traces);
        }
    }
    traces.twin = Some(child(&secrets[0], 0, kept)?);
    for place in places {
        traces.forgeries.push(child(&secrets[0], *place, Kept::Rejections)?);
    }
    Ok(traces)
}

/// Where tags are wrong: in the first byte and the last, and in as many between as there are keys.
fn wrong_tag_places(tag_len: usize, secrets: usize) -> Vec<usize> {
    let count = secrets.min(tag_len).max(2);
    let mut places: Vec<usize> =
        (0..count).map(|i| i * tag_len.saturating_sub(1) / (count - 1)).collect();
    places.dedup();
    places
}

impl From<Judgement> for Judged {
    fn from(Judgement { findings, reason, operations, objects, shown }: Judgement) -> Self {
        Self { reason, operations, findings, objects, trace: shown, ..Self::default() }
    }
}

// The processes that are stepped: forked, recorded, waited for.

/// Which operations of a process are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    All,
    Rejections,
    /// A key's set-up and a first message.
    Opening,
    FirstMessage,
}

impl Kept {
    fn keeps(self, operation: Operation, recorded: usize) -> bool {
        match self {
            Self::All => true,
            Self::Rejections => operation == Operation::Reject,
            Self::Opening => recorded < self.most(),
            Self::FirstMessage => recorded == 0 && operation != Operation::KeySetUp,
        }
    }

    fn most(self) -> usize {
        match self {
            Self::All | Self::Rejections => usize::MAX,
            Self::Opening => 2,
            Self::FirstMessage => 1,
        }
    }
}

struct Children {
    recorder: Recorder,
    most_steps: usize,
    /// The most of them that a key's set-up may take.
    most_of_set_up: usize,
}

impl Children {
    fn new(most_steps: usize) -> Result<Self, Finding> {
        let recorder = Recorder::new().map_err(|why| Finding::unsupported(why.0))?;
        Ok(Self { recorder, most_steps, most_of_set_up: most_steps })
    }

    /// Leaves so many steps to what follows a key's set-up.
    fn keep_for_use(&mut self, steps: usize) {
        self.most_of_set_up = self.most_steps.saturating_sub(steps);
    }

    /// Records so many steps from now on; how many it was.
    fn limit(&mut self, most_steps: usize) -> usize {
        std::mem::replace(&mut self.most_steps, most_steps)
    }

    /// Forks, has the child do its work with each call recorded that is kept, and waits. The tape has the word that
    /// the work ends with.
    fn record(
        &mut self,
        kept: Kept,
        mut work: impl FnMut(&mut Call<'_>) -> Result<u64, String>,
    ) -> Result<Tape, Finding> {
        let failed = |why: String| Finding::failed(why);
        let mut tape =
            Tape::new(self.most_steps).map_err(|e| failed(format!("no memory for traces: {e}")))?;
        let said_before = printed();
        match host::confine::fork().map_err(|e| failed(format!("no process can be forked: {e}")))? {
            Forked::Child => {
                let done = std::panic::catch_unwind(AssertUnwindSafe(|| {
                    host::confine::end_with_parent().map_err(|e| e.to_string())?;
                    self.work(&mut tape, kept, &mut work).map(|word| tape.leave_word(word))
                }));
                if let Ok(Err(why)) = &done {
                    eprintln!("{why}");
                }
                host::confine::leave(if matches!(done, Ok(Ok(()))) { SAID } else { 101 })
            }
            Forked::Parent(number) => {
                let status = wait(number);
                let code = status.and_then(rustix::process::WaitStatus::exit_status);
                if code == Some(SAID) {
                    return Ok(tape);
                }
                let signal = status.and_then(rustix::process::WaitStatus::terminating_signal);
                Err(failed(process::ending(signal, code, said_since(said_before))))
            }
        }
    }

    fn work(
        &mut self,
        tape: &mut Tape,
        kept: Kept,
        work: &mut impl FnMut(&mut Call<'_>) -> Result<u64, String>,
    ) -> Result<u64, String> {
        let (mut recorded, mut unavailable) = (0, None);
        let (recorder, most_steps, of_set_up) =
            (&mut self.recorder, self.most_steps, self.most_of_set_up);
        let done = work(&mut |operation, step: &mut Step<'_>| {
            if !kept.keeps(operation, recorded) {
                return step();
            }
            recorded += 1;
            let is_set_up = operation == Operation::KeySetUp;
            match recorder.record(tape, if is_set_up { of_set_up } else { most_steps }, step) {
                Ok((code, _)) => code,
                Err(why) => {
                    unavailable = Some(why.0);
                    0
                }
            }
        });
        unavailable.map_or(done, Err)
    }
}

// What is stepped: a new key, messages of all sizes encrypted and decrypted, forgeries rejected.

type Step<'a> = dyn FnMut() -> i32 + 'a;

/// Makes a call, recorded or not.
type Call<'a> = dyn FnMut(Operation, &mut Step<'_>) -> i32 + 'a;

struct OneSize {
    size: usize,
    plain: Vec<u8>,
    /// Ciphertext and tag, as encryption makes them.
    made: Vec<u8>,
    tag: Vec<u8>,
    opened: Vec<u8>,
    given: Vec<u8>,
}

/// Buffers at the same addresses in every process.
struct Messages {
    key: Vec<u8>,
    /// The byte of the tag that is wrong where a message is to be rejected.
    wrong: usize,
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

fn range(buffer: &[u8]) -> Range<u64> {
    let from = buffer.as_ptr() as u64;
    from..from + buffer.len() as u64
}

impl Messages {
    fn new(algorithm: &Algorithm, sizes: &[usize]) -> Self {
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
struct Operations {
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    /// What sessions are opened with that then take the key.
    other_key: Vec<u8>,
}

impl Operations {
    fn new(library: &'static dyn Library, algorithm: &'static Algorithm) -> Self {
        let other_key = (1..=algorithm.key_len).map(|i| i as u8).collect();
        Self { library, algorithm, other_key }
    }

    /// Has the library do what it does once, and finds keys that it takes: the keys.
    fn warm(&mut self, messages: &mut Messages, secrets: usize) -> Result<Vec<Vec<u8>>, Finding> {
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
    fn stages(&self, messages: &Messages) -> Vec<Stage> {
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

    fn all(&mut self, messages: &mut Messages, call: &mut Call<'_>) -> Result<(), String> {
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
    let mut outcome = Outcome::Done;
    let verdict = call(operation, &mut || {
        let (output, tag) = (&mut *output, &mut *tag);
        outcome = session.message(Message { nonce, aad, input, output, tag });
        // The one question that acceptance and rejection answer differently: any other branch on the verdict here would
        // pass for the library's.
        i32::from(matches!(outcome, Outcome::Rejected))
    });
    if let Outcome::Error(code) = outcome { code } else { verdict }
}

// Which sizes are stepped where none are asked for.

/// Less than a block; the nearest that takes whole blocks only, or no less than one.
const PARTIAL: [usize; 3] = [11, 8, 21];

const BLOCK: usize = 16;

/// The widest loops take 48 blocks of 16 bytes (GCM with AVX-512) or 16 of 64 (ChaCha20) at once: this is a
/// round of either and some of the narrower loops that follow, down to a part of a block. Then the nearest that
/// takes whole blocks.
const WIDE: [usize; 2] = [1024 + 512 + 64 + 16 + 11, 1024 + 512 + 64 + 16];

/// Code that takes so many instructions for each byte has no such loops: it is bit-sliced by eight blocks of 16
/// bytes, or goes by tables block by block. A round, a block and a part of one.
const MOST_PER_BYTE: usize = 12;
const SLOW: [usize; 2] = [128 + 16 + 11, 128 + 16];

/// The sizes that were asked for and are taken, or a part of a block, a block, and a length that meets the widest
/// loops and their rests.
fn chosen_sizes(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    asked: &[usize],
    children: &mut Children,
) -> Result<Vec<usize>, Finding> {
    let first = |of: &[usize]| of.iter().copied().find(|size| algorithm.sizes.allows(*size));
    let mut sizes: Vec<usize> = if asked.is_empty() {
        let wide = first(&WIDE).filter(|size| is_fast(library, algorithm, *size, children));
        let wide = wide.or_else(|| first(&SLOW));
        [first(&PARTIAL), first(&[BLOCK]), wide].into_iter().flatten().collect()
    } else {
        asked.iter().copied().filter(|size| algorithm.sizes.allows(*size)).collect()
    };
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() { Err(Finding::unsupported(algorithm.size_reason())) } else { Ok(sizes) }
}

/// Whether a message of this size takes few instructions for each byte. What cannot be stepped is slow.
fn is_fast(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    size: usize,
    children: &mut Children,
) -> bool {
    let mut operations = Operations::new(library, algorithm);
    let mut messages = Messages::new(algorithm, &[size]);
    let most = children.limit(MOST_PER_BYTE * size);
    let recorded =
        children.record(Kept::FirstMessage, |call| operations.all(&mut messages, call).map(|()| 0));
    children.limit(most);
    recorded.is_ok_and(|tape| tape.calls().last().is_some_and(|c| c.end == End::Returned))
}

// Where a secret lies in this process's memory.

/// Memory that is looked through at once.
const PIECE: usize = 1 << 20;

/// The places on the heap and among libraries' variables where these bytes lie; none where memory cannot be read.
fn find_images(images: &[Vec<u8>]) -> Vec<Range<u64>> {
    let longest = images.iter().map(Vec::len).max().unwrap_or(0);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mappings = maps.lines().filter_map(Mapped::parse).filter(is_data).map(|m| m.range);
    let mappings: Vec<Range<u64>> = mappings.collect();
    let Ok(memory) = File::open("/proc/self/mem") else { return Vec::new() };
    // Only now is there a copy of memory, in a mapping that is not among those.
    let mut piece = vec![0; PIECE + longest];
    let mut found = Vec::new();
    for mapping in mappings {
        for from in mapping.clone().step_by(PIECE) {
            let len = piece.len().min((mapping.end - from) as usize);
            if memory.read_exact_at(&mut piece[..len], from).is_ok() {
                let within = |image: &Vec<u8>| image_places(&piece[..len], image);
                let all = images.iter().flat_map(within);
                found.extend(all.map(|at| from + at.start as u64..from + at.end as u64));
            }
        }
    }
    found
}

/// A mapping that is written to, and no stack.
fn is_data(mapped: &Mapped<'_>) -> bool {
    mapped.permissions == "rw-p" && !mapped.name.starts_with("[stack")
}

fn image_places(memory: &[u8], image: &[u8]) -> Vec<Range<usize>> {
    let Some(first) = image.first() else { return Vec::new() };
    let last = (memory.len() + 1).saturating_sub(image.len());
    let begins = memory[..last].iter().enumerate().filter(|(_, byte)| *byte == first);
    let begins = begins.map(|(at, _)| at).filter(|at| memory[*at..].starts_with(image));
    begins.map(|at| at..at + image.len()).collect()
}

// Private keys under TLS: each is read in a process of its own and used twice, and the uses are stepped.
//
// The first use sets up what a library keeps with a key (of RSA, Montgomery forms and blinding), so that it passes
// for the key's set-up. Reading is not stepped: DER and base64 are read by tables, once, where nobody sends requests.

/// Traces of one key that there is room for, if they are as long as can be: of two keys and of the first again.
const LONGEST: usize = 3;

/// Why taint is not asked: the key's numbers are kept in no form that is known, and what follows from them is public in
/// part.
const NO_TAINT: &str = "by taint, which cannot follow this kind of private key";

fn judge_private(
    of: &Loaded<'_>,
    scheme: Scheme,
    operation: record::tls::Operation,
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
    let secret = find_images(&all[0].images);
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
    let mut judged: Judged = judgement.into();
    let mut reasons: Vec<String> = judged.reason.take().into_iter().collect();
    if secret.is_empty() {
        reasons.push(NO_TAINT.to_owned());
        reasons.extend(is_same.then_some(same));
    }
    judged.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
    Ok(Judged { secrets: Some(tapes.len() as u32), ..judged })
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
    fn tags_are_wrong_at_both_ends_and_in_as_many_places_as_there_are_keys() {
        assert_eq!(wrong_tag_places(16, 2), [0, 15]);
        assert_eq!(wrong_tag_places(16, 16), (0..16).collect::<Vec<_>>());
        assert_eq!(wrong_tag_places(16, 64), (0..16).collect::<Vec<_>>());
        assert_eq!(wrong_tag_places(4, 3), [0, 1, 3]);
    }

    #[test]
    fn bytes_on_the_heap_are_found_where_they_are() {
        let image: Vec<u8> = (0..40_u8).map(|i| i.wrapping_mul(101) ^ 0x5a).collect();
        let own = image.clone();
        let at = own.as_ptr() as u64;
        let found = find_images(std::slice::from_ref(&image));
        assert!(found.contains(&(at..at + 40)), "{at:#x} {found:x?}");
        assert!(find_images(&[]).is_empty());
    }

    #[test]
    fn only_data_is_looked_through() {
        let is_data = |line: &str| is_data(&Mapped::parse(line).expect("a line of maps"));
        let line = "7f00-17f00 rw-p 00000000 00:00 0";
        assert!(is_data(line) && is_data(&format!("{line}   [heap]")));
        assert!(is_data(&format!("{line}   /opt/libx.so")));
        assert!(!is_data(&format!("{line}   [stack]")));
        assert!(!is_data("7f00-17f00 r-xp 00000000 00:00 0"));
        assert!(!is_data("7f00-17f00 rw-s 00000000 00:01 9   /dev/zero (deleted)"));
    }

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
