//! One visit: a sample of a case in one thread or in several, between clock and throughput probes, with the
//! output held against the reference before it counts.

use crate::protocol::{Finding, Latencies, QuietCore, Visit, VisitResult, known};
use crate::worker;
use crate::worker::checks::{self, Pulse};
use crate::worker::material::{Ciphertexts, Expected, Feed, Plaintext, Subject, time_for};
use base::model::{Algorithm, Direction, Footprint, Kind, Model, RawSample, Settling};
use contract::{Library, Outcome, Session, raw};
use probe::{
    Arena, Batch, Clock, MessageBatch, MessageSet, Moment, Pace, Place, StreamBatch, Taken,
    Together, Undisturbed, WalkSize, Work, messages_for, sample_together,
};
use rand::rngs::{StdRng, SysRng};
use rand::{Rng as _, SeedableRng as _};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use verify::may_be_refused;

/// Everything that a worker samples with.
pub(crate) struct Bench {
    clock: Clock,
    ticks_per_ns: f64,
    pace: Pace,
    process: u32,
    seed: u64,
    /// One for each thread that measures.
    lanes: Vec<Lane>,
    /// How the case that this process samples has settled; empty until its first sample.
    settling: OnceLock<Settling>,
    /// The process as it was before the first visit.
    pulse: Option<Pulse>,
}

pub(crate) type Part = Result<(RawSample, Option<Latencies>), Finding>;

impl Bench {
    pub(crate) fn new(process: u32, seed: u64, ticks_per_ns: Option<f64>) -> Self {
        let clock = Clock::calibrate();
        let ticks_per_ns = ticks_per_ns.unwrap_or_else(|| clock.rough_ticks_per_ns());
        Self {
            clock,
            ticks_per_ns,
            pace: Pace::default(),
            process,
            seed,
            lanes: Vec::new(),
            settling: OnceLock::new(),
            pulse: None,
        }
    }

    /// A hypervisor begins to take a core all the time, or ceases to, from one minute to the next.
    pub(crate) fn look_at_the_core(&mut self) {
        self.pace = Pace::here(&self.clock, self.ticks_per_ns);
    }

    /// Whether the core is taken so often that samples are short.
    pub(crate) fn is_taken(&self) -> bool {
        self.pace.is_short()
    }

    /// What runs next is to settle anew.
    pub(crate) fn unsettle(&mut self) {
        self.settling = OnceLock::new();
    }

    pub(crate) fn expect(&mut self, quiet: QuietCore) {
        self.clock.expect_quiet(quiet.rate, quiet.longest_wait());
    }

    pub(crate) fn settling(&self) -> Option<&Settling> {
        self.settling.get()
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn ticks_per_ns(&self) -> f64 {
        self.ticks_per_ns
    }

    /// Takes one sample of a case in each of its threads and checks what their last operations left.
    pub(crate) fn visit(&mut self, library: &'static dyn Library, visit: &Visit) -> VisitResult {
        match &visit.cpus[..] {
            [] | [_] => match self.watched(library, visit) {
                Ok((sample, None)) => VisitResult::Sample(sample),
                Ok((sample, latency)) => {
                    VisitResult::Taken { samples: vec![sample], latency, other: None }
                }
                Err(finding) => VisitResult::Finding(finding),
            },
            cpus => match self.together(library, visit, cpus) {
                Ok(samples) => VisitResult::Taken { samples, latency: None, other: None },
                Err(finding) => VisitResult::Finding(finding),
            },
        }
    }

    /// A visit of one thread, after which the process must be as before.
    fn watched(&mut self, library: &'static dyn Library, visit: &Visit) -> Part {
        let pulse = self.pulse.take().unwrap_or_else(Pulse::now);
        if self.settling.get().is_none() {
            // What other cases' processes have taught the core is no part of a program that has this one.
            probe::forget_branches(&self.clock);
        }
        let taken = self.alone(library, visit);
        let changed = pulse.changed();
        // What was changed is told once.
        self.pulse = changed.is_none().then_some(pulse);
        taken.and_then(|taken| changed.map_or(Ok(taken), Err))
    }

    fn alone(&mut self, library: &'static dyn Library, visit: &Visit) -> Part {
        self.lanes_for(1);
        let Self { clock, ticks_per_ns, pace, process, lanes, settling, .. } = self;
        let around = Around {
            clock,
            ticks_per_ns: *ticks_per_ns,
            pace: match library.process() {
                None => *pace,
                Some(_) => Pace::of_a_runtime(),
            },
            process: *process,
            settling: settling.get().is_none().then_some(settling),
            meeting: None,
        };
        lanes[0].visit(library, visit, &around)
    }

    fn lanes_for(&mut self, threads: usize) {
        while self.lanes.len() < threads {
            let thread = self.lanes.len() as u32;
            self.lanes.push(Lane::new(self.process, thread, self.seed));
        }
    }

    fn together(
        &mut self,
        library: &'static dyn Library,
        visit: &Visit,
        cpus: &[u32],
    ) -> Result<Vec<RawSample>, Finding> {
        if let Some(why) = library.one_thread_only() {
            return Err(Finding::unsupported(why));
        }
        self.lanes_for(cpus.len());
        let Self { clock, ticks_per_ns, pace, process, lanes, settling, .. } = self;
        let settling = settling.get().is_none().then_some(&*settling);
        let (together, failed) = (Together::new(cpus.len()), AtomicBool::new(false));
        let ops = OnceLock::new();
        let parts: Vec<Part> = std::thread::scope(|scope| {
            let threads: Vec<_> = lanes
                .iter_mut()
                .zip(cpus)
                .enumerate()
                .map(|(thread, (lane, cpu))| {
                    let meeting =
                        Meeting { thread, together: &together, failed: &failed, ops: &ops };
                    let around = Around {
                        clock,
                        ticks_per_ns: *ticks_per_ns,
                        pace: *pace,
                        process: *process,
                        settling,
                        meeting: Some(meeting),
                    };
                    scope.spawn(move || {
                        let pinned = probe::pin_to(&[*cpu])
                            .map_err(|e| Finding::failed(format!("cannot stay on CPU {cpu}: {e}")));
                        around.gather(pinned)?;
                        lane.visit(library, visit, &around)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|_| Err(Finding::failed("a thread panicked"))))
                .collect()
        });
        // Their time is no other's.
        self.pulse = None;
        // The finding of the thread that has one of its own, and not the others' that it ended.
        let own = |part: &&Part| matches!(part, Err(finding) if *finding != Around::ended());
        if let Some(Err(finding)) = parts.iter().find(own) {
            return Err(finding.clone());
        }
        parts.into_iter().map(|part| part.map(|(sample, _)| sample)).collect()
    }
}

// One thread's sessions and memory, and what it does in a visit.

/// Ciphertexts up to this size stay in memory between visits; making larger ones anew costs little
/// against the operations on them.
const KEPT_BYTES: usize = 256 << 10;

/// Nonces set aside for one visit: far more than its operations, warm-up and calibration.
pub(crate) const NONCES_PER_VISIT: u64 = 1 << 26;

/// One visit of a case makes every check ([`Visit::every_check`]), and others some: which ones, no library can foresee.
/// Of so many one runs its batch once more at another length, ...
const AGAIN_OF: u64 = 4;
/// ... one makes calls whose outputs lie apart, ...
const APART_OF: u64 = 2;
/// ... and one looks whether anything is remembered or worked out ahead.
const NOVELTY_OF: f64 = 8.0;
/// Of visits with long operations fewer look, ...
const FEWEST_NOVELTY_OF: f64 = 32.0;
/// ... so that a look, which takes a dozen operations at least, costs a visit about so many nanoseconds, ...
const NOVELTY_NS: f64 = 60_000.0;
const NOVELTY_OPS: f64 = 12.0;
/// ... and from here on the visit that makes every check does so by chance like others.
const LONG_OP_NS: f64 = 1e6;

/// Messages larger than this would need much memory for outputs that lie apart, and a batch of them is one
/// operation, which is compared whole.
const LARGEST_APART: usize = 1 << 20;

/// Memory to walk through in place where nobody says how much: three quarters of a small first-level
/// cache.
const SMALL_WALK_BYTES: usize = 24 << 10;

/// What was compared of what a sample left.
#[derive(Clone, Copy, Default)]
struct Seen {
    all: bool,
    took: Duration,
}

pub(crate) struct Lane {
    seed: u64,
    arena: Arena,
    /// Places each visit's buffers; not from the run's seed, because layouts must differ between
    /// runs for their agreement to mean anything; from the kernel, so that forks of one process differ too.
    placement: StdRng,
    nonces_used: u64,
    plaintext: Plaintext,
    subjects: HashMap<(&'static str, Direction, bool), Subject>,
    /// What is done between messages, in the models that have such.
    work: Option<Work>,
}

impl Lane {
    pub(crate) fn new(process: u32, thread: u32, seed: u64) -> Self {
        Self {
            seed,
            arena: Arena::new(),
            placement: StdRng::try_from_rng(&mut SysRng).expect("the kernel has random numbers"),
            // Processes and threads share the key, so each counts its nonces in a range of its own.
            nonces_used: (u64::from(process) << 48) + (u64::from(thread) << 42),
            plaintext: Plaintext::new(seed),
            subjects: HashMap::new(),
            work: None,
        }
    }

    pub(crate) fn visit(
        &mut self,
        library: &'static dyn Library,
        visit: &Visit,
        around: &Around<'_>,
    ) -> Part {
        let rekeys = visit.model.rekeys();
        let opened = self.take(library, visit, rekeys);
        let mut subject = around.gather(opened)?;
        let key = (subject.session.algorithm().name, visit.direction, rekeys);
        let taken = match visit.model {
            Model::Stream => self.stream(&mut subject, visit, around),
            Model::Message
            | Model::Rekey
            | Model::Forgery
            | Model::Between
            | Model::BetweenRekey => self.message(&mut subject, visit, around),
            other @ (Model::Handshake | Model::Records | Model::Primitive | Model::Page) => {
                Err(Finding::unsupported(format!("{other} is no model of a library's messages")))
            }
        };
        self.subjects.insert(key, subject);
        taken
    }

    fn take(
        &mut self,
        library: &'static dyn Library,
        visit: &Visit,
        rekeys: bool,
    ) -> Result<Subject, Finding> {
        let algorithm = known(&visit.algorithm)?;
        if !algorithm.sizes.allows(visit.size) {
            return Err(Finding::unsupported(algorithm.size_reason()));
        }
        let subject = match self.subjects.remove(&(algorithm.name, visit.direction, rekeys)) {
            Some(subject) => subject,
            None => Subject::open(library, algorithm, visit.direction, self.seed, rekeys)?,
        };
        subject.offers(visit)?;
        Ok(subject)
    }

    fn message(&mut self, subject: &mut Subject, visit: &Visit, around: &Around<'_>) -> Part {
        let size = visit.input_len();
        let made = subject.ciphertexts(visit, self.plaintext.first(size * messages_for(size)));
        let (taken, latency, seen) = self.timed(subject, visit, around, made.as_ref())?;
        let hot = visit.footprint == Footprint::Hot && !visit.in_place;
        if around.meeting.is_none() && hot && subject.session.algorithm().kind != Kind::Null {
            let op_ns = taken.sample.ticks_per_op() / around.ticks_per_ns;
            self.untimed(subject, visit, made.as_ref(), op_ns, seen)?;
        }
        if let Some(made) = made {
            if visit.model == Model::Forgery {
                subject.still_accepts(&made, self.plaintext.first(size))?;
            }
            if made.inputs.len() <= KEPT_BYTES {
                subject.keep(size, made);
            }
        }
        part(taken, latency)
    }

    /// The sample, with what it left compared.
    fn timed(
        &mut self,
        subject: &mut Subject,
        visit: &Visit,
        around: &Around<'_>,
        made: Option<&Ciphertexts>,
    ) -> Result<(Taken, Option<Latencies>, Seen), Finding> {
        let (size, first, roll) =
            (visit.input_len(), self.next_nonces(), self.placement.next_u64());
        let plain = self.plaintext.first(size * messages_for(size));
        let Subject { session, reference, material, answers, .. } = subject;
        let algorithm = session.algorithm();
        let feed = Feed::new(material, visit, plain, made, first);
        let walk = around.gather(walk(session, visit))?;
        let remote = session.is_remote();
        if visit.model.is_between() && self.work.is_none() {
            let why = |e| Finding::failed(format!("no pipe for the work between messages: {e}"));
            self.work = Some(Work::new(self.placement.next_u64()).map_err(why)?);
        }
        let set = MessageSet { in_place: visit.in_place, walk, ..feed.set() };
        let mut batch = MessageBatch::place(session, &mut self.arena, &set, roll);
        if visit.model.is_between() {
            batch.after(self.work.as_mut());
        }
        let poison = batch.poison_byte();
        let (taken, ops) = around.measure(&mut batch, visit, &|batch, warm_up, ops| {
            ready(batch, warm_up, ops, poison);
        });
        let (forges, mut seen) = (visit.model == Model::Forgery, Seen::default());
        if taken.codes != 0 && may_be_refused(algorithm, size, material.aad.len()) && !forges {
            return Err(Finding::unsupported(format!(
                "the library's interface reports an error for messages of {size} bytes"
            )));
        }
        codes(taken.codes, visit.model)?;
        if !forges {
            let (aad, took) = (&material.aad, seen.took);
            let mut expected = Expected::new(reference, visit, aad, plain, poison, answers, took);
            let ns = taken.sample.ticks as f64 / around.ticks_per_ns;
            let time = time_for(Duration::from_nanos(ns as u64));
            seen.all = expected.check(&batch, ops, time, &mut self.placement)?;
            let drawn = self.placement.next_u64().is_multiple_of(AGAIN_OF);
            // The largest are not tried before the run.
            let again = visit.every_check || drawn || algorithm.is_large(visit.size);
            if around.meeting.is_none() && again {
                checks::run_again(&mut expected, &mut batch, ops, &mut self.placement)?;
            }
            seen.took = expected.took;
        }
        let watched = visit.every_check || self.placement.next_u64().is_multiple_of(AGAIN_OF);
        if remote && watched {
            worker::works_inside_the_clock(&mut batch, ops)?;
        }
        let (latency, alone) = around.alone(&mut batch, visit, &taken);
        codes(alone, visit.model)?;
        Ok((taken, latency, seen))
    }

    /// What follows a sample outside any clock: at random, as no library can foresee.
    fn untimed(
        &mut self,
        subject: &mut Subject,
        visit: &Visit,
        made: Option<&Ciphertexts>,
        op_ns: f64,
        seen: Seen,
    ) -> Result<(), Finding> {
        let (size, first) = (visit.input_len(), self.next_nonces());
        let plain = self.plaintext.first(size * messages_for(size));
        let rng = &mut self.placement;
        // Where every call of the sample was compared, none of them was left out.
        let apart = visit.every_check || !seen.all && rng.next_u64().is_multiple_of(APART_OF);
        if apart && size <= LARGEST_APART {
            let Subject { session, reference, material, answers, .. } = &mut *subject;
            let feed = Feed::new(material, visit, plain, made, first).authentic();
            let roll = rng.next_u64();
            let set = feed.set();
            let mut batch = MessageBatch::place_apart(session, &mut self.arena, &set, roll);
            let (aad, poison, took) = (&material.aad, batch.poison_byte(), seen.took);
            let mut expected = Expected::new(reference, visit, aad, plain, poison, answers, took);
            let ops = checks::untimed_length(op_ns, visit.every_check, rng);
            checks::run_apart(&mut expected, &mut batch, ops, rng)?;
        }
        let every = visit.every_check && op_ns < LONG_OP_NS;
        if (every || looks(op_ns, rng)) && checks::can_tell_memory(subject, visit) {
            checks::check_memory(subject, &mut self.arena, visit, plain, made, op_ns, rng)?;
        }
        Ok(())
    }

    /// Where the nonces and keys of a batch begin that count up.
    fn next_nonces(&mut self) -> u64 {
        let first = self.nonces_used;
        self.nonces_used += NONCES_PER_VISIT;
        first
    }

    fn stream(&mut self, subject: &mut Subject, visit: &Visit, around: &Around<'_>) -> Part {
        let initial = self.plaintext.first(visit.size);
        let roll = self.placement.next_u64();
        let nonce = &subject.material.nonce;
        let mut batch =
            StreamBatch::place(&mut subject.session, &mut self.arena, initial, nonce, roll);
        around.gather(begun(batch.restart()))?;
        let (taken, ops) = around.measure(&mut batch, visit, &|batch, warm_up, _| {
            batch.warm_up(warm_up);
        });
        codes(taken.codes, visit.model)?;
        let (left, nonce, all) = (batch.buffer().to_vec(), batch.nonce().to_vec(), batch.updates());
        debug_assert!(all >= ops);
        subject.check_stream(visit.direction, &nonce, all, initial, &left)?;
        part(taken, None)
    }
}

/// Whether a visit whose operations take so long looks whether anything is remembered.
fn looks(op_ns: f64, rng: &mut StdRng) -> bool {
    let share = NOVELTY_NS / (NOVELTY_OPS * op_ns.max(1.0));
    let share = share.clamp(1.0 / FEWEST_NOVELTY_OF, 1.0 / NOVELTY_OF);
    f64::from(rng.next_u32()) < share * 2_f64.powi(32)
}

fn walk(session: &Session, visit: &Visit) -> Result<Option<WalkSize>, Finding> {
    let (in_flight, algorithm) = (session.in_flight() as usize, session.algorithm());
    if session.is_remote() && visit.footprint != Footprint::Hot {
        return Err(Finding::unsupported("a runtime has its messages in memory of its own"));
    }
    let place = Place::of(algorithm, visit.direction, visit.size, visit.in_place);
    let size = match (visit.footprint, visit.walk_bytes) {
        (Footprint::Hot, _) if !visit.in_place => return Ok(None),
        // Fresh data for each operation: two places at least, so that none is used twice in a row.
        (Footprint::Hot, bytes) => {
            let least = in_flight.next_power_of_two().max(2) * place.bytes();
            WalkSize::Within(bytes.unwrap_or(SMALL_WALK_BYTES).max(least))
        }
        (Footprint::Memory, Some(bytes)) => WalkSize::Cold { at_least: bytes, evict: bytes / 2 },
        (_, Some(bytes)) => WalkSize::Within(bytes),
        (footprint, None) => {
            return Err(Finding::failed(format!(
                "nothing says how large the footprint {footprint} is"
            )));
        }
    };
    match place.count(size) {
        Some(places) if places < in_flight => Err(Finding::unsupported(format!(
            "the footprint {} holds {places} operations, and {in_flight} are in flight",
            visit.footprint
        ))),
        Some(_) => Ok(Some(size)),
        None => Err(Finding::unsupported(format!(
            "the {} bytes that an operation touches do not fit the footprint {}",
            place.bytes(),
            visit.footprint
        ))),
    }
}

/// Untimed operations, and data for the timed ones.
fn ready(batch: &mut MessageBatch<'_>, warm_up: u32, ops: u32, poison: u8) {
    match batch.round() {
        // One preparation for both: what is touched after it is in the caches.
        Some(_) if batch.is_cold() => {
            batch.prepare(warm_up.saturating_add(ops));
            batch.run(warm_up);
        }
        // Making the data ready brings them into the cache that is to hold them. What warming up has
        // used must not be used again: in place it is no message any more, and elsewhere its output
        // is there already.
        Some(round) => {
            let warm_up = warm_up.min(batch.most());
            batch.prepare(warm_up);
            batch.run(warm_up);
            if warm_up.saturating_add(ops) > round {
                batch.prepare(ops);
            }
        }
        None => {
            batch.warm(warm_up);
            batch.poison(poison);
        }
    }
}

/// What return codes say; each bit is of some call's code, exclusive-or the expected one.
pub(crate) fn codes(codes: i32, model: Model) -> Result<(), Finding> {
    match (codes, model) {
        (0, _) => Ok(()),
        // Every code was either the rejection or success.
        (raw::REJECTED, Model::Forgery) => {
            Err(Finding::refused("return-codes: a timed call accepted a forged tag"))
        }
        (_, Model::Forgery) => Err(Finding::refused(format!(
            "return-codes: a timed call on a forged tag returned an error and must reject it (bits {codes:#x})"
        ))),
        _ => Err(Finding::refused(format!(
            "return-codes: a timed call returned an error (bits {codes:#x})"
        ))),
    }
}

fn begun(outcome: Outcome) -> Result<(), Finding> {
    match outcome {
        Outcome::Done => Ok(()),
        other => Err(Finding::failed(format!("setting the nonce of a stream returned {other:?}"))),
    }
}

// What is around a batch: calibration, warm-up, the sample, single operations; alone or in step
// with other threads.

/// Single operations between two looks at whether the thread was left alone: a look is a system
/// call, which takes some of the branch predictors' memory with it.
const LOOK_EVERY: u32 = 16;

/// Longest that single operations of one visit may take: as much as a block of other visits. Below
/// that their number falls.
const LONGEST_ALONE_NS: f64 = 2e6;

/// One of so many parts of a batch runs between chain and batch.
const PARTS_OF_A_BATCH: u32 = 8;
/// A part that takes so much longer than the fastest one was interrupted.
const TAKEN_NS: f64 = 500.0;
/// A hypervisor that takes the core all the time comes again in less. Longer parts do not fit between.
const LONGEST_WATCH: Duration = Duration::from_micros(200);
const LONG_PART_NS: f64 = 20_000.0;

/// What every visit is measured with.
pub(crate) struct Around<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) ticks_per_ns: f64,
    pub(crate) pace: Pace,
    pub(crate) process: u32,
    /// Where nothing of the case has run in this process yet, what is to be said of how it settles.
    pub(crate) settling: Option<&'a OnceLock<Settling>>,
    /// None where one thread measures alone.
    pub(crate) meeting: Option<Meeting<'a>>,
}

/// One thread's place among those that measure together.
#[derive(Clone, Copy)]
pub(crate) struct Meeting<'a> {
    pub(crate) thread: usize,
    pub(crate) together: &'a Together,
    /// Whether a thread cannot go on: then none does.
    pub(crate) failed: &'a AtomicBool,
    /// Operations of each thread's batch, as the first one found it.
    pub(crate) ops: &'a OnceLock<u32>,
}

impl Around<'_> {
    /// Goes on only if all threads do.
    pub(crate) fn gather<T>(&self, own: Result<T, Finding>) -> Result<T, Finding> {
        let Some(meeting) = &self.meeting else { return own };
        if own.is_err() {
            meeting.failed.store(true, Ordering::SeqCst);
        }
        meeting.together.meet();
        let go_on = !meeting.failed.load(Ordering::SeqCst);
        // Nobody may fail for another reason before all have looked.
        meeting.together.meet();
        match own {
            Ok(value) if go_on => Ok(value),
            Ok(_) => Err(Self::ended()),
            Err(finding) => Err(finding),
        }
    }

    /// What a thread finds that another one ended.
    pub(crate) fn ended() -> Finding {
        Finding::failed("another thread ended the visit")
    }

    pub(crate) fn measure<B: Batch>(
        &self,
        batch: &mut B,
        visit: &Visit,
        ready: &dyn Fn(&mut B, u32, u32),
    ) -> (Taken, u32) {
        let least = Duration::from_micros(visit.settle_us.into());
        if let Some(settling) = self.settling {
            if self.meeting.is_none() {
                self.clock.wait_until_quiet();
            }
            let settled = batch.settle(self.clock, self.ticks_per_ns, least);
            // Of several threads the first that is done speaks for all.
            let _ = settling.set(Settling { process: self.process, ..settled });
        }
        let ops = self.ops(batch, visit);
        let warm_up = self.warm_up_ops(ops);
        let few = ops.div_ceil(PARTS_OF_A_BATCH).next_multiple_of(batch.together());
        let is_hot = visit.is_steady() && !visit.in_place;
        let taken = match &self.meeting {
            None => {
                // After a wait caches and predictors may be another tenant's.
                let waited = self.clock.wait_until_quiet();
                let begun = Instant::now();
                while waited && begun.elapsed() < least {
                    ready(batch, warm_up, ops);
                }
                let slowly = batch.readies_slowly();
                if slowly {
                    ready(batch, warm_up, ops);
                }
                batch.sample(self.clock, self.process, ops, &mut |batch, moment| match moment {
                    _ if slowly => {}
                    Moment::BehindProbe if is_hot && self.pace.is_short() => {
                        self.run_until_interrupted(batch, few);
                    }
                    Moment::BehindProbe => ready(batch, warm_up, ops),
                    // Elsewhere it takes so long that the clock may change meanwhile.
                    Moment::BehindChain if is_hot => ready(batch, few, ops),
                    Moment::BehindChain => {}
                })
            }
            Some(meeting) => {
                let (process, thread) = (self.process, meeting.thread);
                sample_together(
                    self.clock,
                    meeting.together,
                    process,
                    thread,
                    ops,
                    batch,
                    |batch| {
                        ready(batch, warm_up, ops);
                    },
                )
            }
        };
        (taken, ops)
    }

    /// Warms up until the hypervisor has just taken the core: a short batch fits before it does so again.
    fn run_until_interrupted<B: Batch>(&self, batch: &mut B, few: u32) {
        let (begun, mut least) = (Instant::now(), f64::INFINITY);
        loop {
            let ns = batch.time(self.clock, self.ticks_per_ns, few);
            let took = begun.elapsed();
            let was_taken = ns > least + TAKEN_NS && took.as_nanos() as f64 > self.pace.warm_up_ns;
            least = least.min(ns);
            if was_taken || took > LONGEST_WATCH || ns > LONG_PART_NS {
                return;
            }
        }
    }

    /// Batches are as long as the first one of the case, which nobody asks for, or a part of that.
    fn ops<B: Batch>(&self, batch: &mut B, visit: &Visit) -> u32 {
        let pace = if self.pace.is_short() { Pace::default() } else { self.pace };
        let mut find = || batch.calibrate(self.clock, self.ticks_per_ns, pace);
        match (&self.meeting, visit.ops) {
            (_, Some(ops)) if visit.model.is_between() => ops,
            (_, Some(ops)) => self.pace.ops_of(ops).next_multiple_of(batch.together()).min(ops),
            (None, None) => find(),
            (Some(meeting), None) => {
                if meeting.thread == 0 {
                    let _ = meeting.ops.set(find());
                }
                meeting.together.meet();
                *meeting.ops.get().expect("the first thread has found it")
            }
        }
    }

    fn warm_up_ops(&self, ops: u32) -> u32 {
        ((f64::from(ops) * self.pace.warm_up_ns / self.pace.sample_ns).ceil() as u32).max(1)
    }

    /// Times single operations, each alone; the bits of their return codes beside.
    pub(crate) fn alone<B: Batch>(
        &self,
        batch: &mut B,
        visit: &Visit,
        taken: &Taken,
    ) -> (Option<Latencies>, i32) {
        if visit.latency_ops == 0 || self.meeting.is_some() {
            return (None, 0);
        }
        let op_ns = taken.sample.ticks_per_op() / self.ticks_per_ns;
        let fit = (LONGEST_ALONE_NS / op_ns.max(1.0)) as u32;
        let is_large = Algorithm::find(&visit.algorithm).is_ok_and(|a| a.is_large(visit.size));
        let least = if is_large { 1 } else { LOOK_EVERY };
        let wanted = visit.latency_ops.min(fit).max(least);
        let (mut counts, mut disturbed, mut codes) = (BTreeMap::new(), 0, 0);
        let mut ticks = Vec::with_capacity(LOOK_EVERY as usize);
        let mut left = wanted;
        while left > 0 {
            let now = left.min(LOOK_EVERY).min(batch.most());
            batch.prepare(now);
            ticks.clear();
            let quiet = Undisturbed::begin();
            codes |= batch.run_alone(self.clock, now, &mut ticks);
            if quiet.end().nothing() {
                ticks.iter().for_each(|t| *counts.entry(*t).or_insert(0) += 1);
            } else {
                disturbed += u64::from(now);
            }
            left -= now;
        }
        (Some(Latencies { ticks: counts.into_iter().collect(), disturbed }), codes)
    }
}

pub(crate) fn part(taken: Taken, latency: Option<Latencies>) -> Part {
    Ok((taken.sample, latency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_with_long_operations_look_less_often_but_do() {
        let mut rng = StdRng::seed_from_u64(1);
        let mut share =
            |op_ns| (0..6400).filter(|_| looks(op_ns, &mut rng)).count() as f64 / 6400.0;
        for (op_ns, expected) in [(10.0, 0.125), (2e4, 0.125), (5e4, 0.1), (1e9, 0.031)] {
            let share = share(op_ns);
            assert!((share - expected).abs() < 0.02, "{op_ns} ns: {share}");
        }
    }
}
