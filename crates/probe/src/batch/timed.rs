//! The timed path, top to bottom: one reading of the clock, the operations, the other reading; one timed batch
//! lies between two readings of the core clock and two of the throughput probe. Operations run in parts on
//! stacks of four alignments; messages and updates have a loop each, which ends in the loops of `arch`;
//! messages that are in flight go by rounds. And how a case begins and comes to its speed in a new process: the
//! core forgets what other code has taught it, memory is mapped as it is touched, caches and predictors learn,
//! and the case runs until it is as fast as it gets. How long that takes differs from core to core and from
//! case to case, so the costs on the way are kept.

use crate::arch::{self, RING, Slot};
use crate::batch::arena::Arena;
use crate::batch::{Memory, MessageBatch, Stepped};
use crate::clock::{Clock, warm_probe};
use crate::fault::GuardedBuffer;
use crate::step::{Stepper, Unavailable};
use crate::surroundings::OthersTime;
use base::model::{Algorithm, Kind, RawSample, Settling};
use contract::raw::DrainFn;
use contract::{Outcome, Session};
use std::arch::asm;
use std::convert::Infallible;
use std::ffi::c_void;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct Taken {
    pub sample: RawSample,
    /// The bits of every return code, or-ed: 0 when every call succeeded.
    pub codes: i32,
}

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Nanoseconds that a timed batch should take where the clock's steps are short ([`Clock::stretch`]).
    pub sample_ns: f64,
    /// Nanoseconds of untimed warm-up before it.
    pub warm_up_ns: f64,
}

impl Default for Pace {
    /// 30 µs: 3000 steps of a clock of 10 ns, so that its reading is exact to a thirtieth of
    /// a per cent, and short against a scheduler's slice and a timer interrupt's period. A third of
    /// that warms caches, predictors and the core's power state for the library: the visit before
    /// was another's.
    fn default() -> Self {
        Self { sample_ns: 30_000.0, warm_up_ns: 10_000.0 }
    }
}

/// How long the clock is watched for what interrupts it, and what is no interruption yet.
const WATCHED: Duration = Duration::from_micros(500);
const INTERRUPTION: Duration = Duration::from_nanos(500);
/// The share of samples that may be interrupted where they are as long as elsewhere, and how long they are where more
/// would be: the clock's own cost and the loop's beginning are a per cent of that.
const MAY_BE_INTERRUPTED: f64 = 0.2;
const SHORT_NS: f64 = 10_000.0;

impl Pace {
    /// For the core at hand. Hypervisors take some every thirty to sixty microseconds, for two or three of them, which no
    /// kernel counts: of the usual samples more than half would be a tenth too long.
    pub fn here(clock: &Clock, ticks_per_ns: f64) -> Self {
        let seen = clock.interruptions(ticks_per_ns, WATCHED, INTERRUPTION);
        let alone_ns = seen.seconds * 1e9 / seen.gaps_ns.len().max(1) as f64;
        Self::between(alone_ns / clock.stretch() as f64)
    }

    /// Where the core is taken every so many nanoseconds, each as long as one where the clock's steps are short.
    fn between(alone_ns: f64) -> Self {
        let usual = Self::default();
        match usual.sample_ns > MAY_BE_INTERRUPTED * alone_ns {
            true => Self::short(),
            false => usual,
        }
    }

    /// Where the core is taken all the time.
    fn short() -> Self {
        Self { sample_ns: SHORT_NS, ..Self::default() }
    }

    /// Whether samples are shorter than elsewhere.
    pub fn is_short(self) -> bool {
        self.sample_ns < Self::default().sample_ns
    }

    /// Of a batch that takes as long as elsewhere, the operations that one takes here. Of less than four each is on one
    /// of the alignments of the stack, which is drawn.
    pub fn ops_of(self, usual: u32) -> u32 {
        if !self.is_short() {
            return usual;
        }
        let part = (f64::from(usual) * self.sample_ns / Self::default().sample_ns) as u32;
        match part {
            0..ALIGNMENTS => part.max(1),
            _ => balanced(part, 0.0).min(usual),
        }
    }

    /// For batches in a runtime's process: ten times as long, because a process begins such a batch behind a switch from
    /// another one, and reads a clock that takes up to a tenth of a microsecond.
    pub fn of_a_runtime() -> Self {
        let Self { sample_ns, warm_up_ns } = Self::default();
        Self { sample_ns: 10.0 * sample_ns, warm_up_ns: 10.0 * warm_up_ns }
    }
}

/// When a batch is made ready in a sample: behind a probe the first operations are slower, on a core that has to give
/// AVX-512 its power back by thousands of cycles, and behind the chain a little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    BehindProbe,
    BehindChain,
}

/// Times `run` between the probes; nothing else is inside the clock.
#[inline(always)]
pub(crate) fn bracket<B: ?Sized>(
    clock: &Clock,
    process: u32,
    ops: u32,
    batch: &mut B,
    ready: &mut dyn FnMut(&mut B, Moment),
    run: impl FnOnce(&mut B) -> i32,
) -> Taken {
    let quiet = Undisturbed::begin();
    let probe_before = warm_probe(clock, clock.cycles_per_tick());
    ready(batch, Moment::BehindProbe);
    // As the operations have made it: AVX-512 code can lower it by several per cent.
    let clock_before = clock.cycles_per_tick();
    ready(batch, Moment::BehindChain);
    let begin = clock.begin();
    let codes = run(batch);
    let end = clock.end();
    let clock_after = clock.cycles_per_tick();
    let probe_after = clock.instructions_per_cycle(clock_after, BLOCKS_AFTER);
    let sample = RawSample {
        process,
        ops,
        ticks: clock.net(begin, end),
        clock_before,
        clock_after,
        probe_before,
        probe_after,
        waited_us: clock.take_waited_us(),
        ..quiet.end().noted()
    };
    Taken { sample, codes }
}

/// A time in which the thread should be left alone.
#[derive(Clone, Copy, Debug)]
pub struct Undisturbed {
    usage: Usage,
    cpu: i32,
}

#[derive(Clone, Copy, Debug)]
pub struct Met {
    usage: Usage,
    migrated: bool,
    cpu: i32,
}

impl Undisturbed {
    pub fn begin() -> Self {
        Self { usage: Usage::now(), cpu: current_cpu() }
    }

    pub fn end(self) -> Met {
        let (usage, cpu) = (Usage::now().since(self.usage), current_cpu());
        Met { usage, migrated: cpu != self.cpu, cpu }
    }
}

impl Met {
    /// Whether no other program ran in between, here or by moving the thread.
    pub fn nothing(&self) -> bool {
        self.usage.involuntary == 0 && self.usage.major_faults == 0 && !self.migrated
    }

    pub(crate) fn noted(&self) -> RawSample {
        let Usage { involuntary, voluntary, minor_faults, major_faults } = self.usage;
        RawSample {
            switches: involuntary + voluntary,
            migrated: self.migrated,
            voluntary,
            page_faults: minor_faults + major_faults,
            major_faults,
            cpu: u32::try_from(self.cpu).unwrap_or(0),
            ..RawSample::default()
        }
    }
}

/// Behind a batch the probe's code is known from before it.
const BLOCKS_AFTER: usize = 2;

/// Finds how many operations fill the pace's sample.
///
/// Batches are doubled until one is long enough to scale from, and the scaled batch is timed twice
/// more: the first ones ran cold.
pub(crate) fn calibrate_ops(
    clock: &Clock,
    ticks_per_ns: f64,
    pace: Pace,
    batch: &mut impl Batch,
) -> u32 {
    let (most, together) = (batch.most().min(MAX_OPS), batch.together());
    let sample_ns = pace.sample_ns * clock.stretch() as f64;
    let mut time = |ops: u32| {
        batch.prepare(ops);
        batch.time(clock, ticks_per_ns, ops)
    };
    let scale = |ops: u32, ns: f64| {
        let op_ns = ns.max(1.0) / f64::from(ops);
        let ops = balanced((sample_ns / op_ns).round() as u32, op_ns);
        ops.next_multiple_of(together).min(most)
    };
    let mut ops = 1_u32;
    time(ops);
    loop {
        let ns = time(ops);
        // A quarter of the sample is long enough to scale from within a per cent or two.
        if ns >= sample_ns / 4.0 || ops >= most {
            let scaled = scale(ops, ns);
            // The faster of two: an interrupt in the one that counts would leave every sample of
            // the case too short.
            let again = time(scaled).min(time(scaled));
            return scale(scaled, again);
        }
        ops = (ops * 2).min(most);
    }
}

/// The number of operations near `ops` that gives every placement and every stack alignment the same
/// share of a batch: whole rounds of the ring, or else of the alignments, unless that would take
/// longer than [`LONGEST_ROUND_NS`].
fn balanced(ops: u32, op_ns: f64) -> u32 {
    let nearest = |step: u32| (ops + step / 2) / step * step;
    if ops >= RING as u32 {
        nearest(RING as u32)
    } else if f64::from(ALIGNMENTS) * op_ns <= LONGEST_ROUND_NS {
        nearest(ALIGNMENTS).max(ALIGNMENTS)
    } else {
        ops.max(1)
    }
}

/// Longer samples meet an interrupt of the system's or the hypervisor's too often: hundreds come in a second, and the
/// kernel counts them nowhere.
const LONGEST_ROUND_NS: f64 = 1.6e5;

/// Most operations in a batch: a batch of nothing at all, at a quarter of a nanosecond each, would
/// still end after milliseconds.
const MAX_OPS: u32 = 1 << 24;

/// What this thread has met so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) involuntary: u32,
    voluntary: u32,
    minor_faults: u32,
    major_faults: u32,
}

impl Usage {
    pub(crate) fn now() -> Self {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to a whole `rusage`, which zeroes are a valid value of.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        // Differences are what counts: they survive the cut to 32 bits.
        Self {
            involuntary: usage.ru_nivcsw as u32,
            voluntary: usage.ru_nvcsw as u32,
            minor_faults: usage.ru_minflt as u32,
            major_faults: usage.ru_majflt as u32,
        }
    }

    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            involuntary: self.involuntary.wrapping_sub(earlier.involuntary),
            voluntary: self.voluntary.wrapping_sub(earlier.voluntary),
            minor_faults: self.minor_faults.wrapping_sub(earlier.minor_faults),
            major_faults: self.major_faults.wrapping_sub(earlier.major_faults),
        }
    }
}

fn current_cpu() -> i32 {
    // SAFETY: takes nothing, returns a number.
    unsafe { libc::sched_getcpu() }
}

// What all batches have in common: calibrated, run, timed, alone and together.

pub trait Batch {
    /// Makes the next operations' data what they must be, outside any clock. Most batches need
    /// nothing: theirs stays.
    fn prepare(&mut self, ops: u32);

    /// Most operations that can be run after one [`Batch::prepare`].
    fn most(&self) -> u32;

    /// Operations that are in work side by side: a sample holds whole groups of so many.
    fn together(&self) -> u32 {
        1
    }

    /// Runs operations outside any clock; returns the bits of their return codes, each exclusive-or
    /// the expected one.
    fn run(&mut self, ops: u32) -> i32;

    /// Runs operations untimed, of which nobody looks at what they leave.
    fn warm(&mut self, ops: u32) {
        self.run(ops);
    }

    /// Runs until the code is as fast as it gets, where it is compiled while it runs.
    fn settle_compiled(&mut self) -> Option<Settling> {
        None
    }

    /// Runs for so long, and until the code is as fast as it gets.
    fn settle(&mut self, clock: &Clock, ticks_per_ns: f64, least: Duration) -> Settling {
        if let Some(settled) = self.settle_compiled() {
            return settled;
        }
        let most = self.most();
        let settled = settle(
            least,
            || clock.is_quiet(),
            |ops| {
                let ops = ops.min(most);
                self.prepare(ops);
                Ok::<_, Infallible>(self.time(clock, ticks_per_ns, ops))
            },
        );
        settled.unwrap_or_else(|never| match never {})
    }

    /// Nanoseconds that operations take outside of a sample.
    fn time(&mut self, clock: &Clock, ticks_per_ns: f64, ops: u32) -> f64 {
        let begin = clock.begin();
        self.run(ops);
        clock.net(begin, clock.end()) as f64 / ticks_per_ns
    }

    /// Runs operations and adds the ticks of each to a list, the clock's own cost taken off.
    fn run_alone(&mut self, clock: &Clock, ops: u32, ticks: &mut Vec<u64>) -> i32;

    fn calibrate(&mut self, clock: &Clock, ticks_per_ns: f64, pace: Pace) -> u32
    where
        Self: Sized,
    {
        calibrate_ops(clock, ticks_per_ns, pace, self)
    }

    /// Whether making it ready takes so long that the core's clock could be another by then.
    fn readies_slowly(&self) -> bool {
        false
    }

    /// Times operations; `ready` makes data and code ready for them right before.
    fn sample(
        &mut self,
        clock: &Clock,
        process: u32,
        ops: u32,
        ready: &mut dyn FnMut(&mut Self, Moment),
    ) -> Taken
    where
        Self: Sized,
    {
        bracket(clock, process, ops, self, ready, |batch| batch.run(ops))
    }
}

// The timed loop over a batch.

impl Batch for MessageBatch<'_> {
    fn prepare(&mut self, ops: u32) {
        let poison = self.poison_byte();
        if let Memory::Walk(places) = &mut self.memory {
            places.prepare(&self.control.walk, ops as usize, poison);
        }
    }

    fn most(&self) -> u32 {
        match &self.memory {
            // In place a message is overwritten, and can be taken once; what was used is in the
            // caches.
            Memory::Walk(places) if places.in_place() || places.is_cold() => places.round(),
            _ => u32::MAX,
        }
    }

    fn together(&self) -> u32 {
        if self.flight.is_some() { self.kept(u32::MAX) as u32 } else { 1 }
    }

    fn run(&mut self, ops: u32) -> i32 {
        if self.is_after_work() {
            return self.run_after_work(ops, |step| step(1));
        }
        if self.session.is_remote() {
            return self.run_remotely(ops);
        }
        let together = self.together();
        self.loop_over(ops, together, |step, ops| step(ops))
    }

    fn warm(&mut self, ops: u32) {
        if self.session.is_remote() {
            self.turn(ops);
        } else {
            self.run(ops);
        }
    }

    fn settle_compiled(&mut self) -> Option<Settling> {
        let compiles = self.session.remote().is_some_and(|remote| remote.compiles());
        compiles.then(|| self.settle_remotely())
    }

    fn time(&mut self, clock: &Clock, ticks_per_ns: f64, ops: u32) -> f64 {
        if self.is_after_work() {
            let mut ticks = Vec::new();
            self.time_after_work(clock, ops, &mut ticks);
            return ticks.iter().sum::<u64>() as f64 / ticks_per_ns;
        }
        if self.session.is_remote() {
            return self.turn(ops).ns;
        }
        let begin = clock.begin();
        self.run(ops);
        clock.net(begin, clock.end()) as f64 / ticks_per_ns
    }

    fn calibrate(&mut self, clock: &Clock, ticks_per_ns: f64, pace: Pace) -> u32 {
        if self.is_after_work() {
            return self.operations_after_work(clock, ticks_per_ns);
        }
        if self.is_large {
            return 1;
        }
        calibrate_ops(clock, ticks_per_ns, pace, self)
    }

    fn readies_slowly(&self) -> bool {
        self.is_long || self.is_cold()
    }

    fn sample(
        &mut self,
        clock: &Clock,
        process: u32,
        ops: u32,
        ready: &mut dyn FnMut(&mut Self, Moment),
    ) -> Taken {
        if self.is_after_work() {
            return self.sample_after_work(clock, process, ops, ready);
        }
        if self.session.is_remote() {
            return self.sample_remotely(clock, process, ops, ready);
        }
        if self.is_long {
            return sample_of_cpu_time(clock, process, ops, self, ready);
        }
        bracket(clock, process, ops, self, ready, |batch| batch.run(ops))
    }

    fn run_alone(&mut self, clock: &Clock, ops: u32, ticks: &mut Vec<u64>) -> i32 {
        if self.is_after_work() {
            return self.time_after_work(clock, ops, ticks);
        }
        if self.session.is_remote() {
            return self.run_alone_remotely(clock, ops, ticks);
        }
        self.loop_over(ops, 1, |step, ops| {
            (0..ops).fold(0, |codes, _| {
                let begin = clock.begin();
                let code = step(1);
                let end = clock.end();
                ticks.push(clock.net(begin, end));
                codes | code
            })
        })
    }
}

/// Nanoseconds from which on a batch of what may take long is counted in CPU time: some slices of a scheduler come in
/// between, and below that a sample that was left alone is had soon.
const LONG_NS: u128 = 500_000;

/// Whether one operation of so many bytes is a sample: what does nothing takes no longer for them.
pub(crate) fn is_large(algorithm: &Algorithm, size: usize) -> bool {
    algorithm.kind != Kind::Null && algorithm.is_large(size)
}

/// A sample in which other programs may run: its ticks are those for which the process did. All of its threads
/// count, so that nobody gains by handing work to another one.
fn sample_of_cpu_time<B: Batch>(
    clock: &Clock,
    process: u32,
    ops: u32,
    batch: &mut B,
    ready: &mut dyn FnMut(&mut B, Moment),
) -> Taken {
    let (mut cpu, mut wall) = (Duration::ZERO, Duration::ZERO);
    let mut taken = bracket(clock, process, ops, batch, ready, |batch| {
        let (before, begun) = (OthersTime::now(), Instant::now());
        let codes = batch.run(ops);
        wall = begun.elapsed();
        let (own, others) = OthersTime::now().since(before);
        cpu = own + others;
        codes
    });
    if wall.as_nanos() >= LONG_NS {
        let elapsed = taken.sample.ticks;
        // What reads the clocks is in the CPU time too.
        let share = (cpu.as_secs_f64() / wall.as_secs_f64()).min(1.0);
        taken.sample.ticks = (elapsed as f64 * share).round() as u64;
        taken.sample.away_ticks = elapsed - taken.sample.ticks;
    }
    taken
}

impl MessageBatch<'_> {
    /// Runs `part` on each of the stacks, which is given what runs operations. Of messages that are in
    /// flight, so many at once.
    #[inline(always)]
    pub(crate) fn loop_over(
        &mut self,
        ops: u32,
        together: u32,
        mut part: impl FnMut(&mut dyn FnMut(u32) -> i32, u32) -> i32,
    ) -> i32 {
        let Self { stacks, control, descriptors, at, roll, flight, .. } = self;
        let first = (&raw mut **descriptors).cast::<Slot>();
        let simple = control.rekey.is_none() && !control.walk.is_walked();
        let (state, call, expected) = (control.state, control.call, control.expected);
        let plain = arch::message_loop(call as *const () as usize, control.fresh);
        let controlled = if simple { None } else { Some(arch::control_loop(control)) };
        let oldest = *at;
        let mut step = |ops: u32| {
            let from = *at;
            *at = (from + ops as usize) % RING;
            // SAFETY: `from` is below `RING`, the number of descriptors.
            let slot = unsafe { first.add(from) };
            match controlled {
                // SAFETY: `Session::new`'s contract holds for the table; the slots are a whole
                // ring, aligned to its size, and point at the placed set, whose lengths were
                // checked against the algorithm.
                None => unsafe { plain(call, state, slot.cast(), ops, expected) },
                Some(run) => {
                    control.at = slot.cast();
                    // SAFETY: as above; each descriptor's key lies `TO_KEY` behind it, and the walk's
                    // places are memory that the batch has borrowed.
                    unsafe { run(&raw mut *control, ops) }
                }
            }
        };
        let Some(flight) = flight else {
            return stacks.spread(*roll, ops, |ops| part(&mut step, ops));
        };
        // SAFETY: the ring that `step` runs on, of which it writes no nonce itself, and the session's own
        // functions; nothing is in flight yet.
        let mut rounds = unsafe { flight.rounds((first, oldest), together, &mut step) };
        let codes = stacks.spread(*roll, ops, |ops| part(&mut |ops| rounds.hand_over(ops), ops));
        codes | rounds.drain()
    }
}

// Stacks of our own, placed anew for every batch.
//
// Where a library spills vectors to the stack, its speed hangs on how the stack lies: 16-byte
// alignment is all that the calling convention gives, so a 32- or 64-byte spill may or may not
// straddle cache lines, and which it is was drawn once when the process started. A batch is run in
// four parts on the four possible alignments instead, so that every sample is their mean.

/// Alignments modulo a cache line that the calling convention (16 bytes) allows.
pub(crate) const ALIGNMENTS: u32 = 4;
/// What the calling convention aligns stacks to (System V ABI AMD64 §3.2.2, AAPCS64 §6.2.3).
const STACK_ALIGN: usize = 16;
const LINE: usize = 64;
/// A page: where a stack lies within it decides what its lines share cache sets with.
const PAGE: usize = 4096;
/// Pages that a stack may begin in: as for the buffers, see `arena`.
const PAGES: usize = 64;
/// As much as a thread's default stack on Linux has room for in practice: ciphers use some
/// kilobytes, and what runs over hits the guard page.
const STACK_LEN: usize = 1 << 20;

/// Memory for a stack with a guard page below.
#[derive(Debug)]
pub(crate) struct Stacks {
    memory: GuardedBuffer,
}

impl Stacks {
    pub(crate) fn new() -> Self {
        Self { memory: GuardedBuffer::new(STACK_LEN) }
    }

    /// Runs `ops` operations in four parts, each on a stack of another alignment; `roll` picks the
    /// place within some pages and which alignment comes first. Returns the or of what the parts return.
    #[inline(always)]
    pub(crate) fn spread(&mut self, roll: u64, ops: u32, mut run: impl FnMut(u32) -> i32) -> i32 {
        // Other bits than those that place the buffers.
        let line = ((roll >> 40) as usize % (PAGES * PAGE / LINE)) * LINE;
        let first = (roll >> 48) as u32;
        let mut codes = 0;
        for part in 0..ALIGNMENTS {
            let share = ops / ALIGNMENTS + u32::from(part < ops % ALIGNMENTS);
            if share > 0 {
                let alignment = (first.wrapping_add(part) % ALIGNMENTS) as usize * STACK_ALIGN;
                codes |= self.run_on(line + alignment, || run(share));
            }
        }
        codes
    }

    /// Runs one operation on a stack that begins at the same place every time: what it executes may
    /// hang on how its stack lies.
    pub(crate) fn once<R>(&mut self, run: impl FnOnce() -> R) -> R {
        self.run_on(0, run)
    }

    /// Runs `f` on the stack that begins so many bytes below the memory's top.
    #[inline(always)]
    fn run_on<R>(&mut self, below_top: usize, f: impl FnOnce() -> R) -> R {
        let memory = self.memory.as_mut_slice();
        let len = memory.len() - below_top;
        // SAFETY: `len` bytes from the memory's beginning are ours, writable and aligned to 16
        // bytes, because `below_top` is; nothing else uses them while `f` runs, and `f` comes
        // back: it calls C functions, through which no panic unwinds.
        unsafe { psm::on_stack(memory.as_mut_ptr(), len, f) }
    }
}

// Messages that are in work side by side: handed over a round at a time, and drained at its end.
//
// A round is as many messages as there are descriptors with an output of their own, so that nothing
// that a message in flight reads or writes is used for another. Its end is inside the clock, as a
// caller's is who hands over a burst of packets.

/// How a session's messages are completed.
#[derive(Clone, Copy)]
pub(crate) struct Flight {
    drain: DrainFn,
    state: *mut c_void,
    /// Whether nonces count up, once their messages are done.
    pub(crate) counts: bool,
}

/// Rounds of messages, while a batch runs.
pub(crate) struct Rounds<'a> {
    flight: Flight,
    ring: *mut Slot,
    /// The descriptor of the oldest message in flight.
    oldest: usize,
    in_flight: u32,
    together: u32,
    step: &'a mut dyn FnMut(u32) -> i32,
}

impl Flight {
    /// `None` where a session's messages are done when its function returns.
    pub(crate) fn of(session: &Session, counts: bool) -> Option<Self> {
        let table = session.raw();
        table.drain.map(|drain| Self { drain, state: table.state, counts })
    }

    /// Rounds of `together` messages, which `step` hands over from the ring's descriptor `oldest` on.
    ///
    /// # Safety
    /// While the rounds are used, the ring is whole, no reference to it is, and the session lives;
    /// `together` is not more than the ring's descriptors.
    pub(crate) unsafe fn rounds<'a>(
        &self,
        (ring, oldest): (*mut Slot, usize),
        together: u32,
        step: &'a mut dyn FnMut(u32) -> i32,
    ) -> Rounds<'a> {
        Rounds { flight: *self, ring, oldest, in_flight: 0, together, step }
    }

    /// Completes what is in flight, outside of rounds.
    ///
    /// # Safety
    /// The session lives.
    pub(crate) unsafe fn drain(&self) -> i32 {
        // SAFETY: `Session::new`'s contract.
        unsafe { (self.drain)(self.state) }
    }

    pub(crate) fn call(&self) -> (DrainFn, *mut c_void) {
        (self.drain, self.state)
    }
}

impl Rounds<'_> {
    /// Hands messages over, and drains at the end of each round. Returns the or of the return codes.
    pub(crate) fn hand_over(&mut self, ops: u32) -> i32 {
        let (mut left, mut codes) = (ops, 0);
        while left > 0 {
            let now = left.min(self.together - self.in_flight);
            codes |= (self.step)(now);
            self.in_flight += now;
            left -= now;
            if self.in_flight == self.together {
                codes |= self.drain();
            }
        }
        codes
    }

    /// Completes what is in flight; then its nonces may be raised.
    pub(crate) fn drain(&mut self) -> i32 {
        if self.in_flight == 0 {
            return 0;
        }
        // SAFETY: the promise of `Flight::rounds`.
        let code = unsafe { self.flight.drain() };
        if self.flight.counts {
            for i in 0..self.in_flight as usize {
                // SAFETY: within the ring, which nothing else uses now.
                unsafe { (*self.ring.add((self.oldest + i) % RING)).raise_nonce(RING as u64) };
            }
        }
        self.oldest = (self.oldest + self.in_flight as usize) % RING;
        self.in_flight = 0;
        code
    }
}

// The `stream` model: nonce set once outside the clock, then repeated updates over one buffer,
// in place, as `openssl speed -evp` does.

/// AEADs make the key of the tag and take in associated data with the first update, and some libraries fill a store of key
/// stream with the second.
const FIRST_UPDATES: u32 = 2;

pub struct StreamBatch<'a> {
    session: &'a mut Session,
    buffer: &'a mut [u8],
    stacks: &'a mut Stacks,
    roll: u64,
    initial: &'a [u8],
    nonce: Vec<u8>,
    updates: u32,
}

impl<'a> StreamBatch<'a> {
    /// Places a buffer with its first content in the arena. `roll` picks the placement.
    ///
    /// # Panics
    /// When the session does not work in place or the nonce does not fit: the caller's mistake.
    pub fn place(
        session: &'a mut Session,
        arena: &'a mut Arena,
        initial: &'a [u8],
        nonce: &[u8],
        roll: u64,
    ) -> Self {
        assert!(session.in_place() && session.has_stream(), "a stream in place");
        let (buffer, _, stacks) = arena.place(roll, initial.len(), 0);
        Self { session, buffer, stacks, roll, initial, nonce: nonce.to_vec(), updates: 0 }
    }

    /// Begins anew, under another nonce: a library that keeps the key stream of the last one has nothing of it.
    pub fn restart(&mut self) -> Outcome {
        // Its beginning counts up, lowest byte first: the end of some counts blocks.
        for byte in &mut self.nonce {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        self.buffer.copy_from_slice(self.initial);
        self.updates = 0;
        self.session.start(&self.nonce)
    }

    /// The nonce that it last began with.
    pub fn nonce(&self) -> &[u8] {
        &self.nonce
    }

    /// Runs updates untimed, and then begins anew. What a library does once for each nonce, with the first updates, is no
    /// update's cost: these are made here.
    pub fn warm_up(&mut self, ops: u32) {
        // An outcome other than done shows in the buffer, which is checked.
        self.restart();
        self.run(ops);
        self.restart();
        self.run(FIRST_UPDATES);
    }

    /// How many operations there were since [`StreamBatch::restart`].
    pub fn updates(&self) -> u32 {
        self.updates
    }

    /// Single-steps the next operation. Returns its return code with what it executed.
    pub fn step(&mut self, stepper: &mut Stepper, most_steps: u64) -> Result<Stepped, Unavailable> {
        let table = self.session.raw();
        let call = table.update.expect("the model `stream` is offered");
        let buffer = self.buffer.as_mut_ptr() as usize;
        let arguments = [table.state as usize, buffer, buffer, self.buffer.len()];
        self.stacks.once(|| {
            // SAFETY: `Session::new`'s contract holds for the function and its arguments; input and
            // output are the same buffer, which `place` checked that the session allows.
            unsafe { stepper.call(call as *const (), arguments, most_steps) }
        })
    }

    /// What the operations since [`StreamBatch::restart`] have left.
    pub fn buffer(&self) -> &[u8] {
        self.buffer
    }
}

impl Batch for StreamBatch<'_> {
    fn prepare(&mut self, _ops: u32) {}

    fn most(&self) -> u32 {
        u32::MAX
    }

    fn run(&mut self, ops: u32) -> i32 {
        self.loop_over(ops, |step, ops| step(ops))
    }

    fn calibrate(&mut self, clock: &Clock, ticks_per_ns: f64, pace: Pace) -> u32 {
        if self.is_large() {
            return 1;
        }
        calibrate_ops(clock, ticks_per_ns, pace, self)
    }

    fn readies_slowly(&self) -> bool {
        self.is_large()
    }

    fn sample(
        &mut self,
        clock: &Clock,
        process: u32,
        ops: u32,
        ready: &mut dyn FnMut(&mut Self, Moment),
    ) -> Taken {
        if self.is_large() {
            return sample_of_cpu_time(clock, process, ops, self, ready);
        }
        bracket(clock, process, ops, self, ready, |batch| batch.run(ops))
    }

    fn run_alone(&mut self, clock: &Clock, ops: u32, ticks: &mut Vec<u64>) -> i32 {
        self.loop_over(ops, |step, ops| {
            (0..ops).fold(0, |codes, _| {
                let begin = clock.begin();
                let code = step(1);
                let end = clock.end();
                ticks.push(clock.net(begin, end));
                codes | code
            })
        })
    }
}

impl StreamBatch<'_> {
    fn is_large(&self) -> bool {
        is_large(self.session.algorithm(), self.buffer.len())
    }

    #[inline(always)]
    fn loop_over(
        &mut self,
        ops: u32,
        mut part: impl FnMut(&mut dyn FnMut(u32) -> i32, u32) -> i32,
    ) -> i32 {
        let table = self.session.raw();
        let call = table.update.expect("the model `stream` is offered");
        let run = arch::update_loop(call as *const () as usize);
        let (state, buffer, len) = (table.state, self.buffer.as_mut_ptr(), self.buffer.len());
        // SAFETY: `Session::new`'s contract holds for the table; input and output are the same
        // buffer, which `place` checked that the session allows.
        let mut step = |ops| unsafe { run(call, state, buffer, len, ops) };
        self.updates += ops;
        self.stacks.spread(self.roll, ops, |ops| part(&mut step, ops))
    }
}

/// Nanoseconds of a stretch between two looks at the time.
const STRETCH_NS: f64 = 8_000.0;
/// Time between two looks at whether the core is quiet: neighbours come and go in milliseconds.
const LOOK_EVERY: Duration = Duration::from_micros(400);
/// The part of a window's stretches of which the slowest stands for it.
const LOW_QUANTILE: f64 = 0.2;

/// Has `run` execute operations, so many as it is given, for `least` and until they get no faster, up to
/// [`Settling::LONGEST_US`] or twice `least`. `run` returns the nanoseconds that they took. Stretches count that have a
/// quiet core before and after them: `is_quiet` says whether it is.
pub fn settle<E>(
    least: Duration,
    is_quiet: impl Fn() -> bool,
    mut run: impl FnMut(u32) -> Result<f64, E>,
) -> Result<Settling, E> {
    let begun = Instant::now();
    let mut settling = Settling { first_ns: run(1)?, ..Settling::default() };
    let mut windows = Windows::default();
    let longest = Duration::from_micros(Settling::LONGEST_US.into()).max(2 * least);
    let (mut until, mut ops, mut looked, mut was_quiet) = (least, 1_u32, Duration::ZERO, true);
    loop {
        let ns = run(ops)?;
        let now = begun.elapsed();
        windows.add(now, ns / f64::from(ops));
        let fitting = STRETCH_NS * f64::from(ops) / ns.max(1.0);
        ops = (fitting as u32).clamp(1, ops.saturating_mul(4));
        let is_over = now >= until;
        if is_over || now >= looked + LOOK_EVERY {
            let quiet = is_quiet();
            windows.judge(quiet && was_quiet);
            (looked, was_quiet) = (begun.elapsed(), quiet);
        }
        if !is_over {
            continue;
        }
        settling.ns_per_op = windows.costs();
        if !settling.still_falls() || now >= longest {
            settling.us = u32::try_from(now.as_micros()).unwrap_or(u32::MAX);
            return Ok(settling);
        }
        until = (2 * now).min(longest);
    }
}

/// What stretches cost, by the window that they ended in.
#[derive(Default)]
struct Windows {
    counted: Vec<Vec<f64>>,
    /// Those since the last look at the core.
    pending: Vec<(usize, f64)>,
}

impl Windows {
    fn add(&mut self, now: Duration, cost: f64) {
        let first = u128::from(Settling::FIRST_WINDOW_US) * 1000;
        if let Some(window) = (now.as_nanos() / first).checked_ilog2() {
            self.pending.push((window as usize, cost));
        }
    }

    /// Counts what there was since the last look, or forgets it.
    fn judge(&mut self, counts: bool) {
        for (window, cost) in self.pending.drain(..).filter(|_| counts) {
            if self.counted.len() <= window {
                self.counted.resize(window + 1, Vec::new());
            }
            self.counted[window].push(cost);
        }
    }

    fn costs(&mut self) -> Vec<f64> {
        let low = |costs: &mut Vec<f64>| {
            let at = (costs.len() as f64 * LOW_QUANTILE) as usize;
            if costs.is_empty() { 0.0 } else { *costs.select_nth_unstable_by(at, f64::total_cmp).1 }
        };
        self.counted.iter_mut().map(low).collect()
    }
}

/// Has the core forget which way branches went: by going through 16,384 of them. About 65 µs.
pub fn forget_branches(clock: &Clock) {
    go_through_branches::<2048>(clock.begin().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
}

/// Goes through `GROUPS` times eight branches, each at an address of its own, that nobody can foresee: they follow from
/// `state`, which must not be 0. Returns the next state.
// Never inlined: the compiler takes the assembly for short, and aarch64's branches across it would not reach.
#[inline(never)]
pub(crate) fn go_through_branches<const GROUPS: usize>(mut state: u64) -> u64 {
    // G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003), number 14. Eight of its bits decide.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the branches go to the next instruction but one; nothing is changed but two registers and flags.
    unsafe {
        asm!(
            ".macro way bit",
            "bt {s}, \\bit",
            "jc 2f",
            "nop",
            "2:",
            ".endm",
            ".rept {groups}",
            "mov {t}, {s}",
            "shl {t}, 13",
            "xor {s}, {t}",
            "mov {t}, {s}",
            "shr {t}, 7",
            "xor {s}, {t}",
            "mov {t}, {s}",
            "shl {t}, 17",
            "xor {s}, {t}",
            ".irp bit, 0, 3, 6, 9, 12, 15, 18, 21",
            "way \\bit",
            ".endr",
            ".endr",
            ".purgem way",
            groups = const GROUPS,
            s = inout(reg) state,
            t = out(reg) _,
            options(nomem, nostack),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        asm!(
            ".macro way bit",
            "tbnz {s}, #\\bit, 2f",
            "nop",
            "2:",
            ".endm",
            ".rept {groups}",
            "eor {s}, {s}, {s}, lsl #13",
            "eor {s}, {s}, {s}, lsr #7",
            "eor {s}, {s}, {s}, lsl #17",
            ".irp bit, 0, 3, 6, 9, 12, 15, 18, 21",
            "way \\bit",
            ".endr",
            ".endr",
            ".purgem way",
            groups = const GROUPS,
            s = inout(reg) state,
            options(nomem, nostack),
        );
    }
    state
}

#[cfg(test)]
mod tests;
