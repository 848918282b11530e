//! How a library behaves toward the process that it runs in, beside what it computes.

use super::material::Plaintext;
use super::subject::Subject;
use crate::protocol::Finding;
use base::model::{Algorithm, Direction};
use contract::{Library, Message, Outcome};
use probe::surroundings::{OthersTime, Process, Signals};
use std::time::{Duration, Instant};

/// Name of the check.
pub(super) const CHECK: &str = "surroundings";

/// Sizes of the messages that the registers are looked at after: within a block, around a wide stride.
const SIZES: [usize; 4] = [16, 64, 257, 1024];

/// CPU time of other threads that is none: the kernel books some of its own work so.
const NO_TIME: Duration = Duration::from_millis(5);

/// Calls that are timed one by one, and the longest that they may take.
const CALLS: usize = 4096;
const LONGEST: Duration = Duration::from_millis(20);

/// The process before the library is called.
pub(super) struct Before {
    process: Process,
    time: OthersTime,
}

impl Before {
    pub(super) fn now() -> Self {
        Self { process: Process::now(), time: OthersTime::now() }
    }

    /// What the library changed since, in one line.
    pub(super) fn changed(&self) -> Result<(), String> {
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
pub(super) fn spent() -> impl Fn() -> Duration {
    let (cpu, begun) = (OthersTime::now(), Instant::now());
    move || OthersTime::now().since(cpu).0.max(begun.elapsed() / 10)
}

/// What is looked at after every visit: it takes some microseconds.
pub(super) struct Pulse {
    signals: Signals,
    time: OthersTime,
}

impl Pulse {
    pub(super) fn now() -> Self {
        Self { signals: Signals::now(), time: OthersTime::now() }
    }

    /// What is no longer as it was.
    pub(super) fn changed(&self) -> Option<Finding> {
        let mut changes = self.signals.changes(&Signals::now());
        if probe::surroundings::children_exist() {
            let children = probe::surroundings::end_children();
            changes.push(format!("{children} other processes were started and left to run"));
        }
        changes.extend(worked_aside(self.time));
        (!changes.is_empty()).then(|| {
            Finding::refused(format!("{CHECK}: while it was timed, {}", changes.join("; ")))
        })
    }
}

/// What single calls leave behind in registers, and when they take long.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// How many were looked at.
    pub(super) count: u64,
    /// What a reader is told of them.
    pub(super) remarks: Vec<String>,
}

/// Makes calls of every direction. What they return, and whether it is right, is looked at by the other
/// checks.
pub(super) fn calls(
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
pub(super) fn periods(
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
    Err(Finding::refused(format!("{CHECK}: {direction} of {size} bytes: {}", broken.join("; "))))
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
pub(super) fn watched<T>(load: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let before = Before::now();
    let loaded = load()?;
    match before.changed() {
        Ok(()) => Ok(loaded),
        Err(what) => Err(format!("{CHECK}: while it was loaded, {what}")),
    }
}
