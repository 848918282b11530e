//! Each visit in a process of its own, forked from the one that has loaded the library: code that forks find
//! mapped, the heap that each draws anew, and company for an experiment.
//!
//! The process with the library opens no session and takes no sample: its heap, its pages and what its
//! branches have taught the core are the same whatever is asked of it, and so is what a visit begins with.
//! What a fork inherits, it draws anew: where the heap puts the session (`draw_heap`), where buffers and
//! stacks lie.

use crate::process::{LAST_WORDS, LastWords, SIGKILL};
use crate::protocol::{Finding, Request, Visit, VisitResult};
use crate::worker::visit::Bench;
use crate::{decode, process, worker};
use adapters::runtime::RUNTIME_ENDED;
use base::model::{Algorithm, Direction, Model, RawSample, SAME_SPEED, mark_interrupted};
use contract::Library;
use host::confine::Forked;
use rand::rngs::{StdRng, SysRng};
use rand::{Rng as _, SeedableRng as _};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::panic::AssertUnwindSafe;

/// The exit code of a visit's process that has said all it had to say.
pub(crate) const SAID: i32 = 86;

/// Room for a block's results: what fits stays out of the heap that the visits inherit.
const ROOM: usize = 1 << 20;

pub(crate) struct Sampler {
    /// Where a visit's process leaves how many visits the block has, and its results as JSON.
    results: File,
    reply: Vec<u8>,
}

impl Sampler {
    /// Before the cage, in which no memory file is made: they are bounded by nothing.
    pub(crate) fn new() -> Result<Self, String> {
        let results = rustix::fs::memfd_create("ciphermark:results", MemfdFlags::CLOEXEC);
        let results = results.map_err(|e| format!("no memory file: {e}"))?;
        Ok(Self { results: File::from(results), reply: Vec::with_capacity(ROOM) })
    }

    /// Whether the line asks for samples. It is read by the processes that take them.
    pub(crate) fn is_asked(line: &[u8]) -> bool {
        line.starts_with(br#"{"sample":"#)
    }

    pub(crate) fn answer(
        &mut self,
        line: &[u8],
        library: &'static dyn Library,
        bench: &mut Bench,
    ) -> &[u8] {
        if library.process().is_none() {
            bench.look_at_the_core();
        }
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
        let drawn = draw_heap();
        let (results, count) = match decode::request(line) {
            Ok(Request::Sample { visits, quiet }) => {
                bench.expect(quiet);
                keep_company(library, bench, &visits[at]);
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
        let why = process::ending(signal, code, said_since(said_before));
        Err(Ended {
            finding: Finding::failed(why),
            killed: signal == Some(SIGKILL),
            of_runtime: code == Some(RUNTIME_ENDED),
        })
    }
}

struct Ended {
    finding: Finding,
    /// Whether another process or the kernel ended it.
    killed: bool,
    /// Whether it ended because its runtime's process had.
    of_runtime: bool,
}

fn samples(library: &'static dyn Library, bench: &mut Bench, asked: &Visit) -> Vec<VisitResult> {
    let mut visit = asked.clone();
    let least = if library.process().is_some() { OF_A_RUNTIME } else { 1 };
    // Elsewhere the fastest is that whose memory lay best.
    let is_held = asked.is_steady() && library.process().is_none() && bench.is_taken();
    let (wanted, most) = match is_held {
        true => (asked.samples.max(2), asked.most.max(MOST_OF_HELD)),
        false => (asked.samples, asked.most),
    };
    let (mut results, mut taken) = (Vec::with_capacity(1 + asked.samples as usize), Vec::new());
    for count in 1.. {
        visit.every_check = asked.every_check && count == asked.samples;
        let result = worker::held_visit(bench.visit(library, &visit));
        visit.ops = visit.ops.or_else(|| result.ops());
        taken.extend(result.sample());
        let found = matches!(result, VisitResult::Finding(_));
        if count == 1 {
            results.extend(bench.settling().cloned().map(VisitResult::Settled));
        }
        results.push(result);
        let long = |s: &RawSample| s.ticks as f64 > LONG_NS * bench.ticks_per_ns();
        let more = count < most && !agree(&taken, wanted, is_held) && !taken.iter().all(long);
        if found || count >= wanted.max(least) && !more {
            break;
        }
    }
    let short = |s: &RawSample| (s.ticks as f64) < SHORT_NS * bench.ticks_per_ns();
    if is_held && taken.iter().all(short) {
        mark_interrupted(&mut taken);
        let own = results.iter_mut().filter_map(VisitResult::sample_mut);
        own.zip(taken).for_each(|(own, marked)| *own = marked);
    }
    results
}

/// Longer samples meet so many interruptions that none is without.
const SHORT_NS: f64 = 1e5;

/// Samples of a visit of a runtime: until its code has settled takes a hundred times as long as they do.
const OF_A_RUNTIME: u32 = 9;

/// Samples that are longer are as many as were asked for.
const LONG_NS: f64 = 2e6;

/// Samples of a process at most where its fastest have to agree.
const MOST_OF_HELD: u32 = 9;

/// Whether of a process's samples as many as were asked for were left alone, as far as it shows here, and two of them agree;
/// where they are held to the fastest, the two fastest. An interruption, which the kernel counts nowhere,
/// makes one longer by some per cent up to several times, and two rarely by the same.
fn agree(taken: &[RawSample], asked: u32, is_held: bool) -> bool {
    let left_alone = taken.iter().filter(|s| s.disturbance(0.0).is_none());
    let mut costs: Vec<f64> = left_alone.map(RawSample::cost_within_process).collect();
    costs.sort_unstable_by(f64::total_cmp);
    let mut pairs = costs.windows(2).take(if is_held { 1 } else { usize::MAX });
    let agree = pairs.any(|two| two[1] <= two[0] * (1.0 + SAME_SPEED));
    costs.len() >= asked as usize && (asked < 2 || agree)
}

fn visits_in(line: &[u8]) -> usize {
    match decode::request(line) {
        Ok(Request::Sample { visits, .. }) => visits.len(),
        _ => 1,
    }
}

pub(crate) fn wait(number: i32) -> Option<WaitStatus> {
    loop {
        match waitpid(Pid::from_raw(number), WaitOptions::empty()) {
            Ok(ended) => return ended.map(|(_, status)| status),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

pub(crate) fn printed() -> u64 {
    rustix::fs::fstat(rustix::stdio::stderr()).map_or(0, |stat| stat.st_size.cast_unsigned())
}

/// What was said last on standard error, if anything was after so many bytes.
pub(crate) fn said_since(before: u64) -> Option<LastWords> {
    let now = printed();
    let from = before.max(now.saturating_sub(LAST_WORDS));
    let mut bytes = vec![0; now.saturating_sub(from) as usize];
    let read = rustix::io::pread(rustix::stdio::stderr(), &mut bytes, from).ok()?;
    process::last_words_of(&bytes[..read])
}

// Code that forks find mapped. A fork inherits the pages of a mapped file only where the mapping has a page of
// its own; else each fork meets a page fault for every sixteen pages that it touches: three microseconds in a virtual machine.

/// Mappings shorter than this are not worth what a fork pays for each.
const SHORTEST: u64 = 64 << 10;

pub(crate) struct OwnMemory(File);

impl OwnMemory {
    /// Must be opened before files are denied.
    pub(crate) fn open() -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).open("/proc/self/mem").map(Self)
    }

    /// Gives each mapping of code and constants a page of its own, by writing its first byte once more. Where the
    /// kernel does not allow it, forks take longer and nothing else changes.
    pub(crate) fn keep_code_for_forks(&self) {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        // Of long code forks touch little: to copy all entries would take longer than a fault for each part.
        let own = std::env::current_exe().ok();
        let own = own.as_deref().and_then(std::path::Path::to_str);
        let is_own = |line: &str| own.is_some_and(|own| line.ends_with(own));
        let short = |line: &&str| !is_own(line) && !line.contains("/memfd:");
        for begin in maps.lines().filter(short).filter_map(begin_of_code) {
            let mut byte = [0];
            if self.0.read_exact_at(&mut byte, begin).is_ok() {
                let _ = self.0.write_all_at(&byte, begin);
            }
        }
    }
}

/// Where the mapping begins, if it is of a file, private and never written.
fn begin_of_code(line: &str) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let (begin, end) = fields.next()?.split_once('-')?;
    let (begin, end) = (u64::from_str_radix(begin, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let kept = matches!(fields.next()?, "r-xp" | "r--p");
    let is_file = fields.nth(2)? != "0";
    (kept && is_file && end - begin >= SHORTEST).then_some(begin)
}

// A heap as programs have it: the C library's allocator puts a session where the program's history has left
// room. A visit's process draws that history.

/// Sizes of small pieces: their lists are what a session's parts are taken from first.
const SMALL: std::ops::RangeInclusive<usize> = 1..=64;
const HEAP_STEP: usize = 16;
/// Pieces of each size at most that are taken out of those lists.
const MOST_OF_A_SIZE: u32 = 4;
/// What is taken from the top: places within a page, and in some pages, as for buffers and stacks.
const HEAP_TOP: usize = 64 << 10;

/// Takes pieces of random numbers and sizes, to be kept as long as the process samples.
pub(crate) fn draw_heap() -> Vec<Vec<u8>> {
    // Not the thread's own generator, whose state a fork would inherit.
    let mut rng = StdRng::try_from_rng(&mut SysRng).expect("the kernel has random numbers");
    let mut pieces: Vec<Vec<u8>> = Vec::with_capacity(SMALL.count() * MOST_OF_A_SIZE as usize + 1);
    for size in SMALL {
        for _ in 0..rng.next_u32() % MOST_OF_A_SIZE {
            pieces.push(Vec::with_capacity(size * HEAP_STEP - HEAP_STEP / 2));
        }
    }
    pieces.push(Vec::with_capacity(
        rng.next_u32() as usize % (HEAP_TOP / HEAP_STEP) * HEAP_STEP + HEAP_STEP,
    ));
    pieces
}

// Company for an experiment (docs/METHOD.md, What a number is): what else a visit's process does before it samples its case.
// Without the variable it does nothing.

/// `cases=N`: samples N other cases of the library first. `opened`: opens all its other algorithms and keeps
/// them. `heap=N`: takes N MiB of heap in pieces and gives a third of them back.
const VARIABLE: &str = "CIPHERMARK_COMPANY";

/// Bytes of a piece of heap.
const PIECE: usize = 4000;

pub(crate) fn keep_company(library: &'static dyn Library, bench: &mut Bench, visit: &Visit) {
    let Ok(kind) = std::env::var(VARIABLE) else { return };
    let (kind, number) = kind.split_once('=').unwrap_or((&kind, "0"));
    let number: usize = number.parse().unwrap_or(0);
    match kind {
        "cases" => others(library, visit, number).iter().for_each(|other| {
            // Whatever comes of it.
            let _ = bench.visit(library, other);
        }),
        "opened" => opened(library),
        "heap" => fragmented(number << 20),
        _ => {}
    }
    bench.unsettle();
}

fn others(library: &'static dyn Library, visit: &Visit, number: usize) -> Vec<Visit> {
    let offered = |a: &&'static Algorithm| {
        a.name != visit.algorithm
            && a.key_len > 0
            && library.open(a, Direction::Encrypt, &any_key(a)).is_ok()
    };
    let algorithms: Vec<&'static Algorithm> = Algorithm::all().iter().filter(offered).collect();
    let other = |(i, algorithm): (usize, &&'static Algorithm)| Visit {
        algorithm: algorithm.name.to_owned(),
        direction: Direction::Encrypt,
        model: Model::Message,
        size: [16, 64, 256, 1024, 4096][i % 5],
        ops: None,
        samples: 1,
        most: 0,
        every_check: false,
        ..visit.clone()
    };
    algorithms.iter().cycle().take(number).enumerate().map(other).collect()
}

fn opened(library: &'static dyn Library) {
    for algorithm in Algorithm::all() {
        for direction in Direction::of(algorithm.kind) {
            std::mem::forget(library.open(algorithm, *direction, &any_key(algorithm)));
        }
    }
}

fn fragmented(bytes: usize) {
    let mut pieces: Vec<Vec<u8>> = (0..bytes / PIECE).map(|_| vec![1; PIECE]).collect();
    let mut i = 0;
    pieces.retain(|_| {
        i += 1;
        i % 3 != 0
    });
    std::mem::forget(pieces);
}

/// Any key will do, but XTS refuses two equal halves.
fn any_key(algorithm: &Algorithm) -> Vec<u8> {
    (1..=algorithm.key_len as u8).collect()
}

#[cfg(test)]
mod tests {
    use super::{draw_heap, *};

    fn sample(ticks: u64) -> RawSample {
        let (clock_before, clock_after) = (1.5, 1.5);
        RawSample { ops: 10, ticks, clock_before, clock_after, ..RawSample::default() }
    }

    #[test]
    fn a_process_has_enough_when_two_samples_that_were_left_alone_agree() {
        let of = |ticks: &[u64], asked| {
            agree(&ticks.iter().map(|t| sample(*t)).collect::<Vec<_>>(), asked, false)
        };
        assert!(!of(&[1000], 2));
        assert!(of(&[1000, 1009], 2));
        assert!(!of(&[1000, 1300], 2));
        assert!(of(&[1000, 1300, 1004], 2));
        assert!(!of(&[1000, 1300, 1600, 1150], 2));
        assert!(of(&[1000], 1), "one alone is what was asked for");
        let switched = RawSample { switches: 1, ..sample(1000) };
        assert!(!agree(&[sample(1000), switched], 2, false));
        let fastest_alone = [1000, 1300, 1304].map(sample);
        assert!(agree(&fastest_alone, 2, false) && !agree(&fastest_alone, 2, true));
    }

    #[test]
    fn long_private_mappings_of_files_that_nobody_writes_are_kept() {
        let file = "7f00-17f00 r-xp 00026000 fe:00 1234  /usr/lib/libc.so.6";
        assert_eq!(begin_of_code(file), Some(0x7f00));
        for other in ["rw-p", "r-xs", "---p"] {
            assert_eq!(begin_of_code(&file.replace("r-xp", other)), None, "{other}");
        }
        assert_eq!(begin_of_code("7f00-17f00 r-xp 00000000 00:00 0  [vdso]"), None);
        assert_eq!(begin_of_code("7f00-8f00 r-xp 00026000 fe:00 1234  /usr/lib/libc.so.6"), None);
    }

    #[test]
    fn a_librarys_code_has_a_page_of_its_own_afterwards_and_the_programs_has_none() {
        OwnMemory::open().unwrap().keep_code_for_forks();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let program = std::env::current_exe().unwrap();
        let own = |file: &str| {
            let mut code = maps.split(" r-xp ").skip(1);
            let of_file = code.find(|code| code.lines().next().unwrap().ends_with(file)).unwrap();
            let pages = of_file.lines().find(|l| l.starts_with("Anonymous:")).unwrap();
            !pages.ends_with(" 0 kB")
        };
        assert!(own("libc.so.6"));
        assert!(!own(program.to_str().unwrap()));
    }

    #[test]
    fn what_is_allocated_next_lies_elsewhere_after_each_draw() {
        let mut kept = Vec::new();
        let places: std::collections::BTreeSet<usize> = (0..32)
            .map(|_| {
                kept.push(draw_heap());
                let session = vec![0_u8; 300];
                let place = session.as_ptr() as usize % 4096;
                kept.push(vec![session]);
                place
            })
            .collect();
        assert!(places.len() > 8, "{places:?}");
    }
}
