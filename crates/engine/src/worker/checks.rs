//! The worker's checks: every one of an algorithm, one published vector, one operation by hand; and how a
//! library behaves toward the process that it runs in, beside what it computes.

use crate::protocol::{Finding, Once, Reply, not_opened};
use crate::worker::material::{Plaintext, Subject};
use crate::worker::{Replies, no_number, say};
use base::model::{Algorithm, Direction};
use contract::{Library, Message, Outcome};
use probe::surroundings::{OthersTime, Process, Signals};
use std::time::{Duration, Instant};
use verify::vectors::{Judged, Vector};

pub(crate) fn verify_one(
    library: &'static dyn Library,
    name: &str,
    scope: &verify::Scope<'_>,
    replies: &mut Replies,
) -> std::io::Result<()> {
    let algorithm = match Algorithm::find(name) {
        Ok(algorithm) => algorithm,
        Err(e) => return say(replies, &no_number(Finding::failed(e.to_string()))),
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
        announce(SURROUNDINGS);
        calls.remarks.extend(periods(library, algorithm)?);
        unchanged()?;
        Ok((calls, passed))
    });
    if let Some(e) = broken_pipe {
        return Err(e);
    }
    let reply = verified.map_or_else(no_number, |(calls, passed)| all_passed(calls, passed));
    say(replies, &crate::worker::loading::held_reply(reply))
}

fn all_passed(calls: Calls, passed: verify::Passed) -> Reply {
    let check = |name: &str, count| record::Check { name: name.to_owned(), count };
    let own = (calls.count > 0).then(|| check(SURROUNDINGS, calls.count));
    let others = passed.checks.into_iter().map(|c| check(c.name, c.count));
    Reply::Verified {
        checks: own.into_iter().chain(others).collect(),
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
    match crate::worker::loading::held_judgement(judged) {
        Ok(judged) => Reply::Judged { rejected: judged == Judged::Rejected, wrong: None },
        Err(wrong) => Reply::Judged { rejected: false, wrong: Some(wrong) },
    }
}

pub(crate) fn run_once(library: &dyn Library, once: &Once) -> Result<Reply, Finding> {
    let algorithm = Algorithm::find(&once.algorithm).map_err(|e| Finding::failed(e.to_string()))?;
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

/// Name of the check.
pub(crate) const SURROUNDINGS: &str = "surroundings";

/// Sizes of the messages that the registers are looked at after: within a block, around a wide stride.
const SIZES: [usize; 4] = [16, 64, 257, 1024];

/// CPU time of other threads that is none: the kernel books some of its own work so.
const NO_TIME: Duration = Duration::from_millis(5);

/// Calls that are timed one by one, and the longest that they may take.
const CALLS: usize = 4096;
const LONGEST: Duration = Duration::from_millis(20);

/// The process before the library is called.
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

/// Whether threads of the library's own have done a part of the work.
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

    /// What is no longer as it was.
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
    /// How many were looked at.
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
        for size in SIZES.into_iter().filter(|size| algorithm.sizes.allows(*size)) {
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

/// What a reader is told of the times of single calls.
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

/// Buffers of one message.
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

/// Whether every so many calls one takes long.
fn periodic(subject: &mut Subject, direction: Direction) -> Option<String> {
    let algorithm = subject.session.algorithm();
    let size = SIZES.into_iter().find(|size| algorithm.sizes.allows(*size))?;
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
        "{direction}: every {}th call takes some {} µs, the others {} µs; its figures are averages of both",
        found.every,
        microseconds(found.long),
        microseconds(found.usual)
    ))
}

fn microseconds(nanos: u64) -> String {
    let us = nanos as f64 / 1e3;
    if us < 10.0 { format!("{us:.1}") } else { format!("{us:.0}") }
}

/// Loads a library, and says what the loading changed.
pub(crate) fn load_watched<T>(load: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let before = Before::now();
    let loaded = load()?;
    match before.changed() {
        Ok(()) => Ok(loaded),
        Err(what) => Err(format!("{SURROUNDINGS}: while it was loaded, {what}")),
    }
}
