//! Each visit in a process of its own, forked from the one that has loaded the library.
//!
//! The process with the library opens no session and takes no sample: its heap, its pages and what its
//! branches have taught the core are the same whatever is asked of it, and so is what a visit begins with.
//! What a fork inherits, it draws anew: where the heap puts the session (`heap::draw`), where buffers and
//! stacks lie.

use super::bench::Bench;
use super::{company, heap, power};
use crate::decode;
use crate::last_words::{self, LAST_WORDS, LastWords, SIGKILL};
use crate::protocol::{Finding, Request, Visit, VisitResult};
use adapters::runtime::RUNTIME_ENDED;
use base::model::RawSample;
use contract::Library;
use host::confine::Forked;
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::panic::AssertUnwindSafe;

/// The exit code of a visit's process that has said all it had to say.
pub(super) const SAID: i32 = 86;

/// Room for a block's results: what fits stays out of the heap that the visits inherit.
const ROOM: usize = 1 << 20;

/// What the processes of visits are forked with.
pub(super) struct Sampler {
    /// Where a visit's process leaves how many visits the block has, and its results as JSON.
    results: File,
    reply: Vec<u8>,
}

impl Sampler {
    /// Must be made before memory files are denied.
    pub(super) fn new() -> Result<Self, String> {
        let results = rustix::fs::memfd_create("ciphermark:results", MemfdFlags::CLOEXEC);
        let results = results.map_err(|e| format!("no memory file: {e}"))?;
        Ok(Self { results: File::from(results), reply: Vec::with_capacity(ROOM) })
    }

    /// Whether the line asks for samples. It is read by the processes that take them.
    pub(super) fn is_asked(line: &[u8]) -> bool {
        line.starts_with(br#"{"sample":"#)
    }

    /// Takes the samples that the line asks for: the reply.
    pub(super) fn answer(
        &mut self,
        line: &[u8],
        library: &'static dyn Library,
        bench: &mut Bench,
    ) -> &[u8] {
        self.reply.clear();
        self.reply.extend_from_slice(br#"{"samples":{"results":["#);
        let mut visits = 1;
        let mut at = 0;
        while at < visits {
            if at > 0 {
                self.reply.push(b',');
            }
            let mut ended = self.one(line, at, library, bench);
            if matches!(&ended, Err(Ended { killed: true, .. })) {
                // By nobody here: once more.
                ended = self.one(line, at, library, bench);
            }
            match ended {
                Ok(count) => visits = count,
                // None of the other visits could be: the scheduler starts another worker and asks for each alone. The
                // last words are on standard error.
                Err(Ended { of_runtime: true, .. }) => host::confine::leave(RUNTIME_ENDED),
                Err(Ended { finding, .. }) => {
                    let results = [VisitResult::Finding(finding)];
                    serde_json::to_writer(&mut self.reply, &results).expect("plain data");
                    // The line has as many visits as it has, whatever became of this one's process.
                    visits = visits.max(visits_in(line));
                }
            }
            at += 1;
        }
        self.reply.extend_from_slice(b"]}}");
        &self.reply
    }

    /// Forks for one visit and waits: how many visits the block has.
    fn one(
        &mut self,
        line: &[u8],
        at: usize,
        library: &'static dyn Library,
        bench: &mut Bench,
    ) -> Result<usize, Ended> {
        let said_before = printed();
        let failed =
            |why| Ended { finding: Finding::failed(why), killed: false, of_runtime: false };
        self.results.set_len(0).map_err(|e| failed(format!("results: {e}")))?;
        match host::confine::fork().map_err(|e| failed(format!("no process can be forked: {e}")))? {
            Forked::Child => {
                let said = std::panic::catch_unwind(AssertUnwindSafe(|| {
                    self.visit(line, at, library, bench)
                }));
                host::confine::leave(if said.is_ok_and(|said| said) { SAID } else { 101 })
            }
            Forked::Parent(number) => self.take(wait(number), said_before),
        }
    }

    /// In the visit's process: draws what it inherits anew, takes the samples, leaves the results. Whether
    /// it could.
    fn visit(
        &self,
        line: &[u8],
        at: usize,
        library: &'static dyn Library,
        bench: &mut Bench,
    ) -> bool {
        if host::confine::end_with_parent().is_err() {
            return false;
        }
        let drawn = heap::draw();
        let (results, count) = match decode::request(line) {
            Ok(Request::Sample { visits, quiet }) => {
                bench.expect(quiet);
                company::keep(library, bench, &visits[at]);
                (samples(library, bench, &visits[at]), visits.len())
            }
            _ => (vec![VisitResult::Finding(Finding::failed("not a request for samples"))], 1),
        };
        let mut said = (count as u64).to_le_bytes().to_vec();
        let written = serde_json::to_writer(&mut said, &results).is_ok();
        std::hint::black_box(drawn);
        written && self.results.write_all_at(&said, 0).is_ok()
    }

    /// Adds what a visit's process has left to the reply.
    fn take(&mut self, status: Option<WaitStatus>, said_before: u64) -> Result<usize, Ended> {
        let code = status.and_then(WaitStatus::exit_status);
        let mut count = [0; 8];
        if code == Some(SAID) && self.results.read_exact_at(&mut count, 0).is_ok() {
            let len = self.results.metadata().map_or(0, |m| m.len()) as usize;
            let begin = self.reply.len();
            self.reply.resize(begin + len.saturating_sub(count.len()), 0);
            if self.results.read_exact_at(&mut self.reply[begin..], count.len() as u64).is_ok() {
                return Ok(u64::from_le_bytes(count) as usize);
            }
            self.reply.truncate(begin);
        }
        let signal = status.and_then(WaitStatus::terminating_signal);
        let why = last_words::ending(signal, code, said_since(said_before));
        Err(Ended {
            finding: Finding::failed(why),
            killed: signal == Some(SIGKILL),
            of_runtime: code == Some(RUNTIME_ENDED),
        })
    }
}

/// A visit's process that ended before it had said anything.
struct Ended {
    finding: Finding,
    /// Whether another process or the kernel ended it.
    killed: bool,
    /// Whether it ended because its runtime's process had.
    of_runtime: bool,
}

/// The visit's samples, up to a finding.
fn samples(library: &'static dyn Library, bench: &mut Bench, asked: &Visit) -> Vec<VisitResult> {
    let mut visit = asked.clone();
    let least = if library.process().is_some() { OF_A_RUNTIME } else { 1 };
    let (mut results, mut taken) = (Vec::with_capacity(1 + asked.samples as usize), Vec::new());
    for count in 1.. {
        visit.every_check = asked.every_check && count == asked.samples;
        let result = power::held(bench.visit(library, &visit));
        visit.ops = visit.ops.or_else(|| result.ops());
        taken.extend(result.sample());
        let found = matches!(result, VisitResult::Finding(_));
        if count == 1 {
            results.extend(bench.settling().cloned().map(VisitResult::Settled));
        }
        results.push(result);
        let long = |s: &RawSample| s.ticks as f64 > LONG_NS * bench.ticks_per_ns();
        let more = count < asked.most && !agree(&taken, asked.samples) && !taken.iter().all(long);
        if found || count >= asked.samples.max(least) && !more {
            break;
        }
    }
    results
}

/// Samples of a visit of a runtime: until its code has settled takes a hundred times as long as they do.
const OF_A_RUNTIME: u32 = 9;

/// Samples that are longer are as many as were asked for.
const LONG_NS: f64 = 2e6;

/// Two samples of one process that agree differ by no more.
const AGREE: f64 = 0.01;

/// Whether of a process's samples as many as were asked for were left alone, as far as it shows here, and two of them agree.
/// An interrupt, which the kernel counts nowhere, makes one longer by some per cent up to several times, and two so
/// rarely by the same.
fn agree(taken: &[RawSample], asked: u32) -> bool {
    let left_alone = taken.iter().filter(|s| s.disturbance(0.0).is_none());
    let mut costs: Vec<f64> = left_alone
        .map(|s| if s.clock() > 0.0 { s.cycles_per_op() } else { s.ticks_per_op() })
        .collect();
    costs.sort_unstable_by(f64::total_cmp);
    let agree = costs.windows(2).any(|two| two[1] <= two[0] * (1.0 + AGREE));
    costs.len() >= asked as usize && (asked < 2 || agree)
}

fn visits_in(line: &[u8]) -> usize {
    match decode::request(line) {
        Ok(Request::Sample { visits, .. }) => visits.len(),
        _ => 1,
    }
}

pub(super) fn wait(number: i32) -> Option<WaitStatus> {
    loop {
        match waitpid(Pid::from_raw(number), WaitOptions::empty()) {
            Ok(ended) => return ended.map(|(_, status)| status),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Bytes on standard error so far.
pub(super) fn printed() -> u64 {
    rustix::fs::fstat(rustix::stdio::stderr()).map_or(0, |stat| stat.st_size.cast_unsigned())
}

/// What was said last on standard error, if anything was after so many bytes.
pub(super) fn said_since(before: u64) -> Option<LastWords> {
    let now = printed();
    let from = before.max(now.saturating_sub(LAST_WORDS));
    let mut bytes = vec![0; now.saturating_sub(from) as usize];
    let read = rustix::io::pread(rustix::stdio::stderr(), &mut bytes, from).ok()?;
    last_words::of(&bytes[..read])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ticks: u64) -> RawSample {
        let (clock_before, clock_after) = (1.5, 1.5);
        RawSample { ops: 10, ticks, clock_before, clock_after, ..RawSample::default() }
    }

    #[test]
    fn a_process_has_enough_when_two_samples_that_were_left_alone_agree() {
        let of = |ticks: &[u64], asked| {
            agree(&ticks.iter().map(|t| sample(*t)).collect::<Vec<_>>(), asked)
        };
        assert!(!of(&[1000], 2));
        assert!(of(&[1000, 1009], 2));
        assert!(!of(&[1000, 1300], 2));
        assert!(of(&[1000, 1300, 1004], 2));
        assert!(!of(&[1000, 1300, 1600, 1150], 2));
        assert!(of(&[1000], 1), "one alone is what was asked for");
        let switched = RawSample { switches: 1, ..sample(1000) };
        assert!(!agree(&[sample(1000), switched], 2));
    }
}
