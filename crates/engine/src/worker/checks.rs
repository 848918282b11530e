//! The worker's checks: every one of an algorithm, one published vector, one operation by hand; and how a
//! library behaves toward the process that it runs in, beside what it computes. And libraries that work
//! otherwise where they are looked at: batches that look like timed ones from within the library and are
//! none, and whether what was met before takes less than what is new.
//! Such batches are of lengths that nobody can foresee, with what they left checked, and for decryption with
//! forged tags among them. A library that does its work only where it is looked at cannot know where that is.

use crate::protocol::{Finding, Once, Reply, Visit, known, not_opened};
use crate::worker::forks;
use crate::worker::material::{Ciphertexts, Expected, Feed, Plaintext, Subject, time_for};
use crate::worker::visit::codes;
use crate::worker::{Replies, no_number, say};
use base::model::{Algorithm, Direction, Footprint, Kind, Model};
use contract::{Library, Message, Outcome, Session, raw};
use probe::surroundings::{OthersTime, Process, Signals};
use probe::{Arena, Batch as _, MAX_MESSAGES, MessageBatch, messages_for};
use rand::Rng as _;
use rand::rngs::StdRng;
use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};
use verify::vectors::{Judged, Vector};

pub(crate) fn verify_one(
    library: &'static dyn Library,
    name: &str,
    scope: &verify::Scope<'_>,
    replies: &mut Replies,
) -> std::io::Result<()> {
    let algorithm = match known(name) {
        Ok(algorithm) => algorithm,
        Err(finding) => return say(replies, &no_number(finding)),
    };
    let mut broken_pipe = None;
    let before = Before::now();
    // Registers first: what is left in them can bring any other check down.
    let mut announce = |check: &str| {
        if let Err(e) = say(replies, &Reply::Checking { check: check.to_owned() }) {
            broken_pipe = Some(e);
        }
    };
    announce(SURROUNDINGS);
    let unchanged = || {
        let changed = before.changed();
        changed.map_err(|what| Finding::refused(format!("{}: {what}", SURROUNDINGS)))
    };
    let verified = calls(library, algorithm).and_then(|mut calls| {
        unchanged()?;
        let passed =
            verify::verify(library, algorithm, scope, &mut announce).map_err(finding_of)?;
        let forked = if algorithm.kind == Kind::Random && library.process().is_none() {
            announce(FORKS);
            let forked = try_forks(library, algorithm)?;
            calls.remarks.extend(forked.remarks());
            Some(forked.compared)
        } else {
            None
        };
        announce(SURROUNDINGS);
        calls.remarks.extend(periods(library, algorithm)?);
        unchanged()?;
        Ok((calls, passed, forked))
    });
    if let Some(e) = broken_pipe {
        return Err(e);
    }
    let reply = verified
        .map_or_else(no_number, |(calls, passed, forked)| all_passed(calls, passed, forked));
    say(replies, &crate::worker::held_reply(reply))
}

fn all_passed(calls: Calls, passed: verify::Passed, forked: Option<u64>) -> Reply {
    let check = |name: &str, count| record::Check { name: name.to_owned(), count };
    let own = (calls.count > 0).then(|| check(SURROUNDINGS, calls.count));
    let others = passed.checks.into_iter().map(|c| check(c.name, c.count));
    Reply::Verified {
        checks: own.into_iter().chain(others).chain(forked.map(|n| check(FORKS, n))).collect(),
        digest: hex::encode(passed.digest),
        remarks: calls.remarks,
        tried: passed.tried,
    }
}

fn finding_of(finding: verify::Finding) -> Finding {
    match finding {
        verify::Finding::Unsupported(why) => Finding::unsupported(why),
        verify::Finding::Refused { check, why } => Finding::refused(format!("{check}: {why}")),
        verify::Finding::Failed(why) => Finding::failed(why),
    }
}

pub(crate) fn judge(library: &dyn Library, algorithm: &str, vector: &Vector) -> Reply {
    let judged = Algorithm::find(algorithm)
        .map_err(|e| e.to_string())
        .and_then(|algorithm| verify::vectors::judge(library, algorithm, vector));
    match crate::worker::held_judgement(judged) {
        Ok(judged) => Reply::Judged { rejected: judged == Judged::Rejected, wrong: None },
        Err(wrong) => Reply::Judged { rejected: false, wrong: Some(wrong) },
    }
}

pub(crate) fn run_once(library: &dyn Library, once: &Once) -> Result<Reply, Finding> {
    let algorithm = known(&once.algorithm)?;
    let bytes = |what: &str, text: &str| {
        hex::decode(text).map_err(|e| Finding::failed(format!("{what}: {e}")))
    };
    let (key, nonce) = (bytes("key", &once.key)?, bytes("nonce", &once.nonce)?);
    let (aad, input) = (bytes("associated data", &once.aad)?, bytes("input", &once.input)?);
    let mut tag = bytes("tag", &once.tag)?;
    if (key.len(), nonce.len()) != (algorithm.key_len, algorithm.nonce_len) {
        return Err(Finding::failed("key or nonce has another length than the algorithm's"));
    }
    if !algorithm.sizes.allows(input.len()) {
        return Err(Finding::unsupported(algorithm.size_reason()));
    }
    tag.resize(algorithm.tag_len, 0);
    let mut session = library.open(algorithm, once.direction, &key).map_err(not_opened)?;
    if !session.has_message() {
        return Err(Finding::unsupported("the library does not offer whole messages"));
    }
    let mut output = vec![0; if algorithm.writes_output() { input.len() } else { 0 }];
    let (nonce, aad, input) = (&*nonce, &*aad, &*input);
    match session.message(Message { nonce, aad, input, output: &mut output, tag: &mut tag }) {
        Outcome::Done => Ok(Reply::Result { output: hex::encode(output), tag: hex::encode(tag) }),
        Outcome::Rejected => Err(Finding::refused("the tag is wrong: nothing was decrypted")),
        Outcome::Error(code) => Err(Finding::failed(format!("the library returned error {code}"))),
    }
}

pub(crate) const SURROUNDINGS: &str = "surroundings";

/// Sizes of the messages that the registers are looked at after: within a block, around a wide stride.
const SIZES: [usize; 4] = [16, 64, 257, 1024];

/// CPU time of other threads that is none: the kernel books some of its own work so.
const NO_TIME: Duration = Duration::from_millis(5);

/// Calls that are timed one by one, and the longest that they may take.
const CALLS: usize = 4096;
const LONGEST: Duration = Duration::from_millis(20);

pub(crate) struct Before {
    process: Process,
    time: OthersTime,
}

impl Before {
    pub(crate) fn now() -> Self {
        Self { process: Process::now(), time: OthersTime::now() }
    }

    /// What the library changed since, in one line.
    pub(crate) fn changed(&self) -> Result<(), String> {
        // Before the look at the descriptors: a child has them as well.
        let children = probe::surroundings::end_children();
        let mut changes = self.process.changes(&Process::now());
        if children > 0 {
            changes.push(format!("{children} other processes were started and left to run"));
        }
        changes.extend(worked_aside(self.time));
        if changes.is_empty() { Ok(()) } else { Err(changes.join("; ")) }
    }
}

fn worked_aside(since: OthersTime) -> Option<String> {
    let (own, others) = OthersTime::now().since(since);
    (others > NO_TIME && others > own / 20).then(|| {
        format!(
            "threads of the library's own worked for {others:.0?} beside {own:.0?} of the calls"
        )
    })
}

/// Tells the CPU time of this thread since now; a tenth of the time that passed where that is more, for a library that
/// sleeps. Another program on the CPU takes nothing from what is tried.
pub(crate) fn spent_since_now() -> impl Fn() -> Duration {
    let (cpu, begun) = (OthersTime::now(), Instant::now());
    move || OthersTime::now().since(cpu).0.max(begun.elapsed() / 10)
}

/// What is looked at after every visit: it takes some microseconds.
pub(crate) struct Pulse {
    signals: Signals,
    time: OthersTime,
}

impl Pulse {
    pub(crate) fn now() -> Self {
        Self { signals: Signals::now(), time: OthersTime::now() }
    }

    pub(crate) fn changed(&self) -> Option<Finding> {
        let mut changes = self.signals.changes(&Signals::now());
        if probe::surroundings::children_exist() {
            let children = probe::surroundings::end_children();
            changes.push(format!("{children} other processes were started and left to run"));
        }
        changes.extend(worked_aside(self.time));
        (!changes.is_empty()).then(|| {
            Finding::refused(format!("{SURROUNDINGS}: while it was timed, {}", changes.join("; ")))
        })
    }
}

/// What single calls leave behind in registers, and when they take long.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) count: u64,
    /// What a reader is told of them.
    pub(crate) remarks: Vec<String>,
}

/// Makes calls of every direction. What they return, and whether it is right, is looked at by the other
/// checks.
pub(crate) fn calls(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
) -> Result<Calls, Finding> {
    let mut found = Calls::default();
    for &direction in Direction::of(algorithm.kind) {
        let mut subject = match Subject::open(library, algorithm, direction, 0, false) {
            Ok(subject) if subject.session.has_message() => subject,
            // The checks that follow say so.
            _ => continue,
        };
        for size in sizes(algorithm) {
            let uppers = one(&mut subject, direction, size)?;
            found.count += 1;
            let remark = "leaves the upper halves of vector registers in use: SSE code that runs after it is slower on many cores";
            if uppers && !found.remarks.iter().any(|r| r == remark) {
                found.remarks.push(remark.to_owned());
            }
        }
    }
    Ok(found)
}

pub(crate) fn periods(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
) -> Result<Vec<String>, Finding> {
    let mut remarks = Vec::new();
    for &direction in Direction::of(algorithm.kind) {
        let mut subject = Subject::open(library, algorithm, direction, 0, false)?;
        remarks.extend(periodic(&mut subject, direction));
    }
    Ok(remarks)
}

/// Bytes around each buffer that is written: what goes past it is for the check of the bounds to find, and
/// must not bring this one down.
const MARGIN: usize = 256;

struct Sheet {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    input: Vec<u8>,
    /// Output and tag with margins.
    output: Vec<u8>,
    tag: Vec<u8>,
}

impl Sheet {
    fn new(subject: &Subject, direction: Direction, size: usize) -> Self {
        let (algorithm, material) = (subject.session.algorithm(), &subject.material);
        let plain = Plaintext::new(0).first(size).to_vec();
        let (input, tag) = if direction == Direction::Decrypt {
            let made = material.encrypted(&subject.reference, size, &plain, false);
            (made.inputs, made.tags.first().cloned().unwrap_or_default())
        } else {
            (plain, vec![0; algorithm.tag_len])
        };
        let output = vec![0; if direction == Direction::Digest { 0 } else { size }];
        let (nonce, aad) = (material.nonce.clone(), material.aad.clone());
        let padded = |bytes: Vec<u8>| [vec![0; MARGIN], bytes, vec![0; MARGIN]].concat();
        Self { nonce, aad, input: padded(input), output: padded(output), tag: padded(tag) }
    }

    fn message(&mut self) -> Message<'_> {
        let within = |padded: &[u8]| MARGIN..padded.len() - MARGIN;
        let Self { nonce, aad, input, output, tag } = self;
        let (of_input, of_output, of_tag) = (within(input), within(output), within(tag));
        Message {
            nonce,
            aad,
            input: &input[of_input],
            output: &mut output[of_output],
            tag: &mut tag[of_tag],
        }
    }
}

/// Whether the upper halves are left in use; a finding where something is that no function may leave.
fn one(subject: &mut Subject, direction: Direction, size: usize) -> Result<bool, Finding> {
    let mut sheet = Sheet::new(subject, direction, size);
    let message = sheet.message();
    let parts = [message.nonce, message.aad, message.input, &*message.output, &*message.tag];
    probe::fault::entering(direction, size, parts);
    let (_, left) = probe::surroundings::call(&mut subject.session, message);
    probe::fault::left();
    let broken = left.broken_rules();
    if broken.is_empty() {
        return Ok(left.uppers);
    }
    Err(Finding::refused(format!(
        "{SURROUNDINGS}: {direction} of {size} bytes: {}",
        broken.join("; ")
    )))
}

/// The sizes that an algorithm has; what needs memory, the least of it.
fn sizes(algorithm: &'static Algorithm) -> impl Iterator<Item = usize> {
    let own = SIZES.into_iter().filter(|size| algorithm.sizes.allows(*size));
    let least = [2048, 8192].into_iter().find(|size| algorithm.sizes.allows(*size));
    own.clone().chain(least.filter(|_| own.clone().next().is_none()))
}

fn periodic(subject: &mut Subject, direction: Direction) -> Option<String> {
    let algorithm = subject.session.algorithm();
    let size = sizes(algorithm).next()?;
    let mut sheet = Sheet::new(subject, direction, size);
    let mut times = Vec::with_capacity(CALLS);
    let begun = Instant::now();
    while times.len() < CALLS && begun.elapsed() < LONGEST {
        let call = Instant::now();
        if subject.session.message(sheet.message()) != Outcome::Done {
            return None;
        }
        times.push(call.elapsed().as_nanos() as u64);
    }
    let found = base::analysis::period(&times)?;
    Some(format!(
        "{direction}: every {}th call takes some {} µs, the others {} µs; its figures are averages of both, but for `between` \
         and `watch`, which leave the slowest twentieth out",
        found.every,
        microseconds(found.long),
        microseconds(found.usual)
    ))
}

pub(crate) const FORKS: &str = "forks";

/// What a generator keeps of its state is copied with the process: bytes of a draw out of what was worked out ahead, and
/// of one that is not.
const DRAWS: [usize; 2] = [16, 4096];
/// Processes that are forked from one state, and what each draws, in the session that it inherits.
const CHILDREN: usize = 4;
const OF_A_CHILD: usize = 4;
/// As much of a draw as no other draw begins with by chance.
type Beginning = [u8; 12];

/// What processes drew that were forked.
#[derive(Debug, Default)]
struct Forked {
    compared: u64,
    /// What a process drew again, of a library that has handlers run by fork(3) and not by clone(2).
    again: Option<String>,
    /// Of the smaller draws, what the first of a process took at least, and each that followed.
    first: Duration,
    next: Duration,
}

impl Forked {
    /// What a reader is told: a program that forks for each of its clients pays it.
    fn remarks(&self) -> impl Iterator<Item = String> {
        let (first, next) = (self.first.as_nanos() as u64, self.next.as_nanos() as u64);
        let slower = (first > 4 * next.max(1_000)).then(|| {
            format!(
                "the first {} bytes in a forked process take {} µs, the next {} µs",
                DRAWS[0],
                microseconds(first),
                microseconds(next)
            )
        });
        let again = self.again.as_ref().map(|what| {
            format!("{what}; what it has fork(3) do there (pthread_atfork) was not run, and may see to it")
        });
        again.into_iter().chain(slower)
    }
}

/// What a process drew and how long each draw took.
type Drawn = Vec<(Beginning, Duration)>;

/// Whether a process that is forked draws what its parent draws, or another that is forked from the same state.
fn try_forks(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
) -> Result<Forked, Finding> {
    let mut found = Forked { first: Duration::MAX, next: Duration::MAX, ..Forked::default() };
    let at_fork = || host::loaded_objects().iter().any(|o| host::imports(o, "__register_atfork"));
    let mut seen = HashMap::new();
    for size in DRAWS {
        let mut session = library.open(algorithm, Direction::Generate, &[]).map_err(not_opened)?;
        let before = drawn(&mut session, size, OF_A_CHILD).map_err(Finding::refused)?;
        let children = (0..CHILDREN)
            .map(|_| in_a_fork(|| drawn(&mut session, size, OF_A_CHILD)))
            .collect::<Result<Vec<Drawn>, Finding>>()?;
        let after = drawn(&mut session, size, OF_A_CHILD).map_err(Finding::refused)?;
        if size == DRAWS[0] {
            let least = |from: usize| children.iter().flat_map(move |c| &c[from..]).map(|d| d.1);
            let firsts = children.iter().map(|child| child[0].1);
            (found.first, found.next) =
                (firsts.min().unwrap_or_default(), least(1).min().unwrap_or_default());
        }
        let own = [before, after].map(|drawn| (None, drawn));
        let others = children.into_iter().enumerate().map(|(n, drawn)| (Some(n), drawn));
        for (who, drawn) in own.into_iter().chain(others) {
            for (beginning, _) in drawn {
                found.compared += 1;
                let of = match seen.insert(beginning, who) {
                    None => continue,
                    Some(earlier) if earlier == who => "itself had drawn",
                    Some(None) => "its parent draws",
                    Some(Some(_)) => "another one draws that was forked from the same state",
                };
                let again = format!(
                    "a process that was forked by clone(2) draws the {size} bytes that {of}"
                );
                if !at_fork() {
                    return Err(Finding::refused(format!("{FORKS}: {again}")));
                }
                found.again = Some(again);
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// How draws begin; a reason, where there is none.
fn drawn(session: &mut Session, size: usize, count: usize) -> Result<Drawn, String> {
    let (input, mut output) = (vec![0; size], vec![0; size]);
    let mut one = || {
        let begun = Instant::now();
        let (nonce, aad, input, tag) = (&[], &[], &input, &mut []);
        let outcome = session.message(Message { nonce, aad, input, output: &mut output, tag });
        let took = begun.elapsed();
        match output.first_chunk() {
            Some(beginning) if outcome == Outcome::Done => Ok((*beginning, took)),
            _ => Err(format!("{FORKS}: a draw of {size} bytes returned {outcome:?}")),
        }
    };
    (0..count).map(|_| one()).collect()
}

/// What is drawn in a process that is forked for it.
fn in_a_fork(draw: impl FnOnce() -> Result<Drawn, String>) -> Result<Drawn, Finding> {
    let failed = |why| Finding::failed(format!("{FORKS}: {why}"));
    let (mut from, mut to) =
        std::io::pipe().map_err(|e| failed(format!("no pipe to a forked process: {e}")))?;
    let forked = host::confine::fork();
    match forked.map_err(|e| failed(format!("no process can be forked: {e}")))? {
        host::confine::Forked::Child => {
            let told = std::panic::catch_unwind(AssertUnwindSafe(|| {
                host::confine::end_with_parent().is_ok()
                    && serde_json::to_writer(&mut to, &draw()).is_ok()
            }));
            host::confine::leave(i32::from(!told.unwrap_or(false)))
        }
        host::confine::Forked::Parent(number) => {
            drop(to);
            let mut said = Vec::new();
            let read = from.read_to_end(&mut said);
            forks::wait(number);
            let drawn: Option<Result<Drawn, String>> =
                read.ok().and_then(|_| serde_json::from_slice(&said).ok());
            drawn
                .unwrap_or(Err(format!("{FORKS}: a forked process died of a draw")))
                .map_err(Finding::refused)
        }
    }
}

fn microseconds(nanos: u64) -> String {
    let us = nanos as f64 / 1e3;
    if us < 10.0 { format!("{us:.1}") } else { format!("{us:.0}") }
}

pub(crate) fn load_watched<T>(load: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let before = Before::now();
    let loaded = load()?;
    match before.changed() {
        Ok(()) => Ok(loaded),
        Err(what) => Err(format!("{SURROUNDINGS}: while it was loaded, {what}")),
    }
}

/// Time of an untimed batch, in nanoseconds, where that is more than one operation: on average half of it.
const SHORT_NS: f64 = 30_000.0;
/// How many operations more the one visit has that makes every check: what bites once in fifty calls must meet one even
/// where a process makes fewer in its life.
const MANY: u32 = 50;
/// Longest that they may take: as much as hundreds of samples.
const LONGEST_NS: f64 = 25e6;

/// The check that a runtime's process works when it says that it does.
pub(crate) const OUTSIDE: &str = "outside-the-clock";

pub(crate) fn run_again(
    expected: &mut Expected<'_>,
    batch: &mut MessageBatch<'_>,
    timed: u32,
    rng: &mut StdRng,
) -> Result<(), Finding> {
    let most = timed.min(batch.most()).max(1);
    let ops = 1 + rng.next_u32() % most;
    batch.poison(batch.poison_byte());
    batch.prepare(ops);
    let found = codes(batch.run(ops), expected.model)
        .and_then(|()| expected.check(batch, ops, time_for(Duration::ZERO), rng));
    found.map_err(|finding| in_decoy(finding, ops))?;
    forge(expected, batch, timed, rng.next_u32())
}

/// A forged tag behind some right ones must be rejected, and nothing else.
fn forge(
    expected: &Expected<'_>,
    batch: &mut MessageBatch<'_>,
    timed: u32,
    roll: u32,
) -> Result<(), Finding> {
    let decrypts = expected.direction == Direction::Decrypt;
    if !decrypts || !expected.algorithm.rejects() || batch.round().is_some() {
        return Ok(());
    }
    let ops = 1 + roll % timed.min(probe::MAX_MESSAGES as u32);
    let found = batch.run_to_a_forgery(ops);
    if found == raw::OK ^ raw::REJECTED {
        return Ok(());
    }
    Err(Finding::refused(format!(
        "timed-forgery: {} a forged tag that came {ops} operations into an untimed batch (bits {found:#x})",
        if found == 0 { "accepted" } else { "returned an error for" }
    )))
}

pub(crate) fn untimed_length(op_ns: f64, every_check: bool, rng: &mut StdRng) -> u32 {
    let within = |ns: f64| (ns / op_ns.max(1.0)) as u32;
    let many = if every_check { MANY.min(within(LONGEST_NS)) } else { 0 };
    1 + rng.next_u32() % within(SHORT_NS).max(1) + many
}

/// Operations whose outputs lie apart, so that each leaves all of what it wrote.
pub(crate) fn run_apart(
    expected: &mut Expected<'_>,
    batch: &mut MessageBatch<'_>,
    ops: u32,
    rng: &mut StdRng,
) -> Result<(), Finding> {
    if expected.model == Model::Forgery {
        return forgeries_among(expected, batch, ops, rng);
    }
    let (most, mut time, mut ran) = (batch.kept(u32::MAX) as u32, time_for(Duration::ZERO), 0);
    while ran < ops {
        // Groups of unlike length: where one ends must not be foreseen either.
        let group = (1 + rng.next_u32() % most).min(ops - ran);
        batch.poison(batch.poison_byte());
        let codes = codes(batch.run(group), expected.model);
        let begun = Instant::now();
        let found =
            codes.and_then(|()| expected.check_from(0, batch, group, Instant::now(), time, rng));
        time = time.saturating_sub(begun.elapsed());
        ran += group;
        found.map_err(|finding| in_decoy(finding, ran))?;
    }
    Ok(())
}

/// As [`apart`], with every other tag on average forged. A library that says of a message that it is forged
/// without having looked would be right in a loop of forgeries.
fn forgeries_among(
    expected: &mut Expected<'_>,
    batch: &mut MessageBatch<'_>,
    ops: u32,
    rng: &mut StdRng,
) -> Result<(), Finding> {
    for ran in 1..=ops {
        let forged = rng.next_u32().is_multiple_of(2);
        batch.poison(batch.poison_byte());
        let found = if forged { batch.run_to_a_forgery(1) ^ raw::REJECTED } else { batch.run(1) };
        if found != raw::OK {
            let (what, judged) =
                if forged { ("a forged", "rejected") } else { ("the right", "taken") };
            return Err(Finding::refused(format!(
                "timed-forgery: {what} tag was not {judged} {ran} operations into an untimed batch (bits {found:#x})"
            )));
        }
        if !forged {
            expected.check_last(batch).map_err(|finding| in_decoy(finding, ran))?;
        }
    }
    Ok(())
}

pub(crate) fn in_decoy(finding: Finding, ops: u32) -> Finding {
    Finding { why: format!("{} (in an untimed batch of {ops} operations)", finding.why), ..finding }
}

// Whether what the library has met before takes less than what is new to it. The timed loop of a decryption or a
// digest goes through a few messages again and again, and that of an encryption counts nonces or keys up: a library
// that remembers answers or key schedules, or works ahead while nobody looks at the clock, would be measured by its
// memory.

/// Times that all must say the same before it is believed: anything can disturb one of them.
const TIMES: usize = 8;
/// How many times longer new messages take where answers are remembered. Branches that hang on the data are predicted
/// better the second time: a CRC bit by bit took 97 ns for 16 bytes that came again and 444 ns for new ones. A branch that is
/// foreseen wrongly half of the time costs ten cycles on average, which is seven times what a step without takes at least.
/// What is remembered costs a comparison and a copy, tenfold less.
const AGAIN_FACTOR: f64 = 8.0;
/// How many times longer numbers that are drawn take than numbers that count up, where work is done ahead.
const AHEAD_FACTOR: f64 = 1.5;
/// Bits of a number that are drawn; the others stay. Bit-serial key schedules branch on every bit: keys drawn as
/// a whole took 1.8 times as long as keys that count up (3DES of LibTomCrypt and wolfSSL), keys of which twelve bits were drawn
/// 1.2 times. As many numbers are more than a warm-up has time for.
const DRAWN: u64 = (1 << 12) - 1;
/// And by how much at least: new messages come from a cache that is not the nearest.
const LEAST: Duration = Duration::from_nanos(30);
/// Times that each message comes again in a long batch, where the sample says that it may have been a memory's. A
/// runtime takes some microseconds for a batch: two messages from a memory took 5 µs each, and 1.2 in a sample.
const LONG: u32 = 16;
/// Messages larger than this are not looked at: copies of the answers would take about as long.
const LARGEST: usize = 256 << 10;

/// Bytes of messages under keys that are looked at, where the algorithm has so short ones.
const SHORT: usize = 16;

/// Whether the visit is of a kind that is looked at.
pub(crate) fn can_tell_memory(subject: &Subject, visit: &Visit) -> bool {
    let alone = visit.cpus.len() < 2 && !visit.in_place && visit.footprint == Footprint::Hot;
    let works = !matches!(subject.session.algorithm().kind, Kind::Null | Kind::Copy | Kind::Random);
    visit.model != Model::Stream && alone && visit.size <= LARGEST && works
}

/// Times what is new against what is not. An operation of the sample took so many nanoseconds.
pub(crate) fn check_memory(
    subject: &mut Subject,
    arena: &mut Arena,
    visit: &Visit,
    plain: &[u8],
    made: Option<&Ciphertexts>,
    op_ns: f64,
    rng: &mut StdRng,
) -> Result<(), Finding> {
    let algorithm = subject.session.algorithm();
    let counts =
        visit.direction != Direction::Decrypt && (algorithm.nonce_len >= 8 || visit.model.rekeys());
    // A key is set before anything is known of the message: with a short one, it is most of the time.
    let short = visit.model.rekeys() && algorithm.sizes.allows(SHORT) && visit.size > SHORT;
    let short_visit = Visit { size: SHORT, ..visit.clone() };
    let short_plain = plain.get(..SHORT * messages_for(SHORT)).filter(|_| short);
    let short_made = short_plain
        .filter(|_| visit.direction == Direction::Decrypt)
        .map(|plain| subject.material.encrypted(&subject.reference, SHORT, plain, true));
    // What new messages may take, by the sample.
    let sampled = Duration::from_nanos(op_ns as u64).mul_f64(AGAIN_FACTOR);
    let (visit, plain, made, sampled) = match short_plain {
        Some(plain) => (&short_visit, plain, short_made.as_ref(), Duration::MAX),
        None => (visit, plain, made, sampled),
    };
    let mut last = (Duration::ZERO, Duration::ZERO);
    for _ in 0..TIMES {
        last = if counts {
            drawn_and_counted(subject, arena, visit, plain, rng)
        } else {
            new_and_again(subject, arena, visit, plain, made, sampled, rng)
        };
        let factor = if counts { AHEAD_FACTOR } else { AGAIN_FACTOR };
        if last.0 <= last.1.mul_f64(factor) || last.0 <= last.1 + LEAST {
            return Ok(());
        }
    }
    Err(Finding::refused(told(visit.model, counts, last.0, last.1)))
}

fn told(model: Model, counts: bool, new: Duration, known: Duration) -> String {
    let (what, of, is_kept) = match (model, counts) {
        (Model::Rekey | Model::BetweenRekey, true) => {
            ("keys", "key", "key schedules are remembered or made ahead")
        }
        (Model::Rekey | Model::BetweenRekey, false) => {
            ("keys", "key", "key schedules are remembered")
        }
        (_, true) => ("nonces", "nonce", "key streams are made ahead"),
        (Model::Forgery, false) => ("forgeries", "forgery", "answers are remembered"),
        (_, false) => ("messages", "message", "answers are remembered"),
    };
    let how = if counts { "that counts up" } else { "that comes again" };
    format!("new-{what}: a {of} {how} takes {known:.0?}, a new one {new:.0?}: {is_kept}")
}

/// Time of a new message, and of one that comes again; without what a batch takes, where a new one takes longer than
/// `sampled`.
fn new_and_again(
    subject: &mut Subject,
    arena: &mut Arena,
    visit: &Visit,
    plain: &[u8],
    made: Option<&Ciphertexts>,
    sampled: Duration,
    rng: &mut StdRng,
) -> (Duration, Duration) {
    let (roll, count) = (rng.next_u64(), messages_for(visit.input_len()) as u32);
    let Subject { session, material, reference, .. } = subject;
    let rekeys = visit.model.rekeys();
    let fresh = Plaintext::new(rng.next_u64()).first(plain.len()).to_vec();
    let decrypts = visit.direction == Direction::Decrypt;
    let fresh_made = decrypts
        .then(|| material.encrypted_from(elsewhere(rng), reference, visit.size, &fresh, rekeys));
    // The code, and the places in memory, are as warm for the new ones as for those that follow.
    let feed = Feed::new(material, visit, plain, made, 0);
    MessageBatch::place(session, arena, &feed.set(), roll).run(2 * count);
    let feed = Feed::new(material, visit, &fresh, fresh_made.as_ref(), 0);
    let mut batch = MessageBatch::place(session, arena, &feed.set(), roll);
    batch.poison(batch.poison_byte());
    let new = each(&mut batch, count);
    let mut best_of_two = |ops| each(&mut batch, ops).min(each(&mut batch, ops));
    let again = best_of_two(count);
    if new <= sampled {
        return (new, again);
    }
    let known = best_of_two(LONG * count).min(again);
    (new.saturating_sub(again - known), known)
}

/// Time of a message whose nonce and key are drawn at random, and of one where they count up.
fn drawn_and_counted(
    subject: &mut Subject,
    arena: &mut Arena,
    visit: &Visit,
    plain: &[u8],
    rng: &mut StdRng,
) -> (Duration, Duration) {
    let (roll, count) = (rng.next_u64(), messages_for(visit.input_len()) as u32);
    let Subject { session, material, .. } = subject;
    let feed = Feed::new(material, visit, plain, None, 0);
    let mut batch = MessageBatch::place(session, arena, &feed.set(), roll);
    let known = counted(&mut batch, count, rng);
    let near = count_up(&mut batch, count, rng);
    let mut drawn = BTreeSet::new();
    batch.renumber(|| near & !DRAWN | another(&mut drawn, rng));
    let new = each(&mut batch, count);
    if new <= known.mul_f64(AHEAD_FACTOR) {
        return (new, known);
    }
    // Code may have two speeds that last: a loop over a variable in memory takes one cycle or five for the same
    // instructions (Emerald Rapids, 2 or 7 µs), and changed between the two. What works ahead is as fast as before.
    (new, known.max(counted(&mut batch, count, rng)))
}

/// Time of a message where numbers count on. As many are drawn before it, for nothing: what follows that is slower by a
/// microsecond or two (16 bytes: 40 ns, then 148), whatever the library does.
fn counted(batch: &mut MessageBatch<'_>, count: u32, rng: &mut StdRng) -> Duration {
    let last = count_up(batch, count, rng) - MAX_MESSAGES as u64 + u64::from(2 * count);
    let (mut next, mut drawn) = (last, BTreeSet::new());
    batch.renumber(|| {
        next += 1;
        std::hint::black_box(another(&mut drawn, rng));
        next
    });
    each(batch, count)
}

/// A warm-up that counts from somewhere new. Returns the last of as many numbers as messages have places.
fn count_up(batch: &mut MessageBatch<'_>, count: u32, rng: &mut StdRng) -> u64 {
    let mut next = elsewhere(rng);
    batch.renumber(|| {
        next += 1;
        next
    });
    batch.run(2 * count);
    next
}

/// A number that was not drawn before: Java's ChaCha20 refuses the nonce that it saw last.
fn another(drawn: &mut BTreeSet<u64>, rng: &mut StdRng) -> u64 {
    loop {
        let number = rng.next_u64() & DRAWN;
        if drawn.insert(number) {
            return number;
        }
    }
}

/// A number far from those of visits, which are below twelve bits of process and thread.
fn elsewhere(rng: &mut StdRng) -> u64 {
    rng.next_u64() >> 4 | 1 << 59
}

/// Time of one of so many operations.
fn each(batch: &mut MessageBatch<'_>, count: u32) -> Duration {
    batch.spent(count) / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn decoys_are_as_long_as_a_sample_and_among_every_check_have_more_than_fifty_operations() {
        let mut rng = StdRng::seed_from_u64(1);
        let mut drawn = |op_ns, every_check| -> Vec<u32> {
            (0..9000).map(|_| untimed_length(op_ns, every_check, &mut rng)).collect()
        };
        for (op_ns, most) in [(50.0, 600), (1600.0, 18), (2e4, 1), (5e5, 1), (1e12, 1)] {
            let all = drawn(op_ns, false);
            assert!(all.contains(&1) && all.contains(&most), "{op_ns} ns");
            assert!(all.iter().all(|n| (1..=most).contains(n)), "{op_ns} ns");
        }
        for op_ns in [50.0, 1600.0, 2e4, 5e5] {
            assert!(drawn(op_ns, true).iter().all(|n| *n > MANY), "{op_ns} ns");
        }
        assert_eq!(drawn(1e7, true), vec![3; 9000]);
    }

    #[test]
    fn no_two_numbers_that_are_drawn_are_the_same() {
        let (mut drawn, mut rng) = (BTreeSet::new(), StdRng::seed_from_u64(1));
        let numbers: Vec<u64> = (0..1000).map(|_| another(&mut drawn, &mut rng)).collect();
        assert_eq!(numbers.iter().collect::<BTreeSet<_>>().len(), 1000);
        assert!(numbers.iter().all(|number| *number <= DRAWN));
    }

    #[test]
    fn a_refusal_names_what_was_new_and_what_it_took() {
        let said = |model, counts| {
            told(model, counts, Duration::from_nanos(700), Duration::from_nanos(90))
        };
        let ns = "takes 90ns, a new one 700ns: ";
        for (model, counts, begins, ends) in [
            (
                Model::Message,
                false,
                "new-messages: a message that comes again ",
                "answers are remembered",
            ),
            (
                Model::Message,
                true,
                "new-nonces: a nonce that counts up ",
                "key streams are made ahead",
            ),
            (
                Model::Forgery,
                false,
                "new-forgeries: a forgery that comes again ",
                "answers are remembered",
            ),
            (
                Model::Rekey,
                false,
                "new-keys: a key that comes again ",
                "key schedules are remembered",
            ),
            (
                Model::Rekey,
                true,
                "new-keys: a key that counts up ",
                "key schedules are remembered or made ahead",
            ),
        ] {
            assert_eq!(said(model, counts), format!("{begins}{ns}{ends}"));
        }
    }
}
