//! The worker's TLS stack: handshakes of each case, records over open connections, primitives; each held to
//! what was asked, and timed.

use crate::protocol::{Finding, QuietCore, Ready, StackHello, VisitResult};
use crate::worker::checks::Pulse;
use crate::worker::{Power, Prepared, checks, originals, prepare, ready_with, tier_facts};
use adapters::stacks::{
    Bench, Connection, Line, NoLine, Span, Stack, Ticks, Trouble, Workbench, connect,
};
use base::model::{Settling, Tier};
use contract::Identity;
use host::tier::{Applied, Mechanism};
use probe::{Clock, Evictor, around_parts};
use record::tls::{
    Case, Facts, Found, Group, HandshakeSample, Kind, Mismatch, Negotiated, Primitive,
    PrimitiveFacts, Protection, RecordFacts, Subject, Temperature, Unset, Version, Visit,
};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Nanoseconds that a sample should take at least: 10,000 steps of the coarsest clock.
const HANDSHAKES_NS: f64 = 100_000.0;
/// Handshakes in a sample at most, and with ML-DSA at least: how often a server tries to sign is by lot, so that the
/// median of single handshakes is less than what connections cost.
const MOST_HANDSHAKES: u32 = 16;
/// How long untimed handshakes go on before a visit's first sample, at least: the visit before was another's.
const HANDSHAKES_WARM_UP: Duration = Duration::from_micros(200);

/// How long the core sleeps before each step of a handshake that is not hot: a server that is idle at
/// a few per cent waits about so long for the network.
const PAUSE: Duration = Duration::from_micros(100);
/// Memory that is written to evict a core's own caches: twice the largest second level there is (2 MiB).
const EVICTED_BYTES: usize = 4 << 20;

pub(crate) struct StackBench {
    stack: Box<dyn Stack>,
    confinement: Option<record::Confinement>,
    clock: Clock,
    ticks_per_ns: f64,
    process: u32,
    core_alone: bool,
    cases: HashMap<Case, Result<OpenCase, Finding>>,
    lines: Lines,
    primitives: Primitives,
    evictor: Evictor,
    /// Whether any connection was made in this process.
    used: bool,
    objects: Vec<PathBuf>,
    tier: Option<Applied>,
}

/// What a visit gave, ...
pub(crate) type Taken = Result<Visited, Finding>;

/// ... with facts at the first one of its subject in a process.
pub(crate) struct Visited {
    /// None where nothing runs before the samples.
    pub(crate) settling: Option<Settling>,
    pub(crate) samples: Vec<HandshakeSample>,
    pub(crate) facts: Option<Found>,
}

pub(crate) struct Timing<'a> {
    pub(crate) stack: &'a dyn Stack,
    pub(crate) clock: &'a Clock,
    pub(crate) ticks_per_ns: f64,
    pub(crate) process: u32,
    /// How long the subject runs untimed, at least.
    pub(crate) settle: Duration,
}

impl Timing<'_> {
    /// Runs operations untimed, for `least` or as long as asked, until they get no faster; `run` gives their ticks.
    pub(crate) fn settle(
        &self,
        least: Duration,
        mut run: impl FnMut(u32) -> Result<u64, Finding>,
    ) -> Result<Settling, Finding> {
        let ns = |ticks: u64| ticks as f64 / self.ticks_per_ns;
        let least = least.max(self.settle);
        let settled = probe::settle(least, || self.clock.is_quiet(), |ops| run(ops).map(ns))?;
        Ok(Settling { process: self.process, ..settled })
    }
}

struct OpenCase {
    bench: Box<dyn Bench>,
    negotiated: Negotiated,
    /// Handshakes in a hot sample.
    ops: u32,
}

impl StackBench {
    pub(crate) fn load(hello: &StackHello) -> Result<Self, String> {
        let before = host::loaded_objects();
        let prepared = prepare(hello.tier, &hello.path, hello.plan.as_ref())?;
        let power = Power::give_up_for_stack(hello, &prepared)?;
        let files = prepared.files.clone();
        let load = || load_at_tier(hello, prepared).map_err(crate::worker::why_not_loaded);
        let (stack, tier) = match hello.tier {
            Tier::Native => checks::load_watched(load)?,
            // Tiers are applied by handlers of signals, among other things.
            _ => load()?,
        };
        let loaded = host::loaded_objects().difference(&before).cloned().collect();
        let objects = originals(loaded, &files);
        bound_to(hello, &objects)?;
        if let Some(cpu) = hello.cpu {
            probe::pin_to(&[cpu]).map_err(|e| format!("cannot stay on CPU {cpu}: {e}"))?;
        }
        let core_alone = hello.cpu.is_some() && probe::have_core_alone().is_ok();
        let clock = Clock::calibrate();
        let ticks_per_ns = hello.ticks_per_ns.unwrap_or_else(|| clock.rough_ticks_per_ns());
        let confinement = power.give_up_more(&objects)?;
        Ok(Self {
            stack,
            confinement,
            clock,
            ticks_per_ns,
            process: hello.process,
            core_alone,
            cases: HashMap::new(),
            lines: Lines::default(),
            primitives: Primitives::default(),
            evictor: Evictor::new(EVICTED_BYTES),
            used: false,
            objects,
            tier,
        })
    }

    pub(crate) fn ready(&self) -> Ready {
        let Identity { name, version, build } = self.stack.identity().unwrap_or_default();
        Ready {
            name,
            version,
            build,
            tier: self.tier.as_ref().map(|applied| tier_facts(applied.tier, applied)),
            core_alone: self.core_alone,
            confinement: self.confinement.clone(),
            objects: self.objects.clone(),
            ..ready_with(&self.clock)
        }
    }

    /// Takes the samples of a visit, which count only if the stack reached for nothing it must not and
    /// left the process as it was.
    pub(crate) fn visit(&mut self, visit: &Visit) -> Vec<VisitResult> {
        let pulse = Pulse::now();
        let taken = self.sampled(visit);
        let denied = host::confine::take_denied().reason();
        let changed = pulse.changed().map(|finding| finding.why);
        match denied.into_iter().chain(changed).reduce(|one, other| format!("{one}; {other}")) {
            None => match taken {
                Ok(Visited { settling, samples, facts }) => {
                    let ends = VisitResult::Ends { samples, facts: facts.map(Box::new) };
                    settling.map(VisitResult::Settled).into_iter().chain([ends]).collect()
                }
                Err(finding) => vec![VisitResult::Finding(finding)],
            },
            Some(why) => vec![VisitResult::Finding(Finding::refused(why))],
        }
    }

    pub(crate) fn expect(&mut self, quiet: QuietCore) {
        self.clock.expect_quiet(quiet.rate, quiet.longest_wait());
    }

    fn sampled(&mut self, visit: &Visit) -> Taken {
        self.clock.wait_until_quiet();
        let facts = match &visit.subject {
            Subject::Handshake(case) => self.opened(case)?,
            _ => None,
        };
        let timing = Timing {
            stack: &*self.stack,
            clock: &self.clock,
            ticks_per_ns: self.ticks_per_ns,
            process: self.process,
            settle: Duration::from_micros(visit.settle_us.into()),
        };
        let case = match visit.subject {
            Subject::Records { protection, size } => {
                return self.lines.sampled(&timing, protection, size, visit.samples);
            }
            Subject::Primitive(primitive) => {
                return self.primitives.sampled(&timing, primitive, visit.samples);
            }
            Subject::Handshake(case) => case,
        };
        let Some(Ok(opened)) = self.cases.get_mut(&case) else {
            unreachable!("it was just opened")
        };
        let (temperature, evictor) = (visit.temperature, &mut self.evictor);
        let ops = match temperature {
            Temperature::Hot => visit.ops.unwrap_or(opened.ops),
            // Each handshake is cold by itself.
            Temperature::Idle | Temperature::Cold => 1,
        };
        let mut connecting =
            Connecting { timing: &timing, case: &case, temperature, opened, evictor };
        let settling = connecting.warm_up()?;
        let samples =
            (0..visit.samples).map(|_| connecting.sample(ops)).collect::<Result<_, _>>()?;
        Ok(Visited { settling, samples, facts: facts.map(Found::Handshake) })
    }

    /// Opens a case with the process's first visit of it; what was found then.
    fn opened(&mut self, case: &Case) -> Result<Option<Facts>, Finding> {
        match self.cases.get(case) {
            Some(Ok(_)) => return Ok(None),
            Some(Err(finding)) => return Err(finding.clone()),
            None => {}
        }
        let opened = self.open(case);
        self.used = true;
        let (slot, facts) = match opened {
            Ok((opened, facts)) => (Ok(opened), Ok(Some(facts))),
            Err(finding) => (Err(finding.clone()), Err(finding)),
        };
        self.cases.insert(*case, slot);
        facts
    }

    fn open(&self, case: &Case) -> Result<(OpenCase, Facts), Finding> {
        let mut bench = self.stack.open(case).map_err(not_offered)?;
        let mut make = |case: &Case, weigh: bool| {
            connect(&mut *bench, case, &self.clock, weigh, &mut || {}).map_err(not_offered)
        };
        if case.kind.is_resumed() {
            let full = Case { kind: Kind::Full, ..*case };
            make(&full, false)?.negotiated.map_err(another)?;
        }
        let first = make(case, false)?;
        let negotiated = first.negotiated.map_err(another)?;
        let weighed = make(case, true)?;
        let ns = |ticks: Ticks| (ticks.server + ticks.client) as f64 / self.ticks_per_ns;
        // The first handshake of all takes up to twice as long as others. Where even half of it fills a
        // sample, there is nothing more to find out.
        let fills = ns(first.ticks) > 2.0 * HANDSHAKES_NS;
        let ns = ns(if fills { first.ticks } else { make(case, false)?.ticks });
        let facts = Facts {
            negotiated: negotiated.clone(),
            unset: unset(&*self.stack, case),
            first_server_ticks: first.ticks.server,
            first_client_ticks: first.ticks.client,
            first_of_process: !self.used,
            client_bytes: first.client_bytes,
            server_bytes: first.server_bytes,
            server_memory: adapters::stacks::live_bytes().map(|_| weighed.server_memory),
            client_memory: adapters::stacks::live_bytes().map(|_| weighed.client_memory),
        };
        Ok((OpenCase { bench, negotiated, ops: handshakes_in_a_sample(case, ns) }, facts))
    }
}

/// How many handshakes of so many nanoseconds are in a hot sample.
fn handshakes_in_a_sample(case: &Case, ns: f64) -> u32 {
    let is_by_lot = case.certificate.is_post_quantum() && !case.kind.is_resumed();
    let least = if is_by_lot { MOST_HANDSHAKES } else { 1 };
    ((HANDSHAKES_NS / ns.max(1.0)).ceil() as u32).clamp(least, MOST_HANDSHAKES)
}

/// What the server picks where nobody sets its groups, for a client whose key share is of the case's group, and
/// that has all others that the stack has.
fn unset(stack: &dyn Stack, case: &Case) -> Option<Unset> {
    let first = case.exchange.group()?;
    if case.version != Version::Tls13 || case.kind != Kind::Full {
        return None;
    }
    let others = [Group::X25519Mlkem768, Group::X25519, Group::P256, Group::P384];
    // A stack without ML-KEM refuses the first list.
    [&others[..], &others[1..]].into_iter().find_map(|others| {
        let others = others.iter().filter(|group| **group != first);
        let names = std::iter::once(&first).chain(others).filter_map(|group| group.openssl());
        let offered = names.collect::<Vec<_>>().join(":");
        let seen = stack.pick(None, &offered).ok()?;
        Some(Unset { group: seen.group?, hello_retry: seen.hello_retry })
    })
}

struct Connecting<'a> {
    timing: &'a Timing<'a>,
    case: &'a Case,
    temperature: Temperature,
    opened: &'a mut OpenCase,
    evictor: &'a mut Evictor,
}

impl Connecting<'_> {
    /// Handshakes that do not count: what is not hot needs none. The first of
    /// them, where one is to be resumed, may be a full one: since the last visit the server's cache may have
    /// filled with others' sessions (wolfSSL's holds 33, for the whole process).
    fn warm_up(&mut self) -> Result<Option<Settling>, Finding> {
        if self.case.kind.is_resumed() {
            self.connect(Temperature::Hot)?;
        }
        if self.temperature != Temperature::Hot {
            return Ok(None);
        }
        let timing = self.timing;
        let made = |ops| {
            (0..ops).map(|_| self.one().map(|made| made.ticks.server + made.ticks.client)).sum()
        };
        timing.settle(HANDSHAKES_WARM_UP, made).map(Some)
    }

    fn sample(&mut self, ops: u32) -> Result<HandshakeSample, Finding> {
        let Timing { clock, process, .. } = *self.timing;
        // A handshake takes so long that making ready for it would double what a sample costs.
        let run = |this: &mut Self| (0..ops).map(|_| this.one()).collect::<Result<Vec<_>, _>>();
        let (all, around) = around_parts(clock, process, self, |_| Ok(()), run)?;
        let mut sample = HandshakeSample { server: around, ..HandshakeSample::default() };
        sample.server.ops = ops;
        for Connection { ticks, .. } in all {
            sample.server.ticks += ticks.server;
            sample.other.ticks += ticks.client;
            sample.other.own_setup_ticks += ticks.server_setup;
            sample.other.setup_ticks += ticks.client_setup;
        }
        Ok(sample)
    }

    /// One handshake, which must be what the first one was.
    fn one(&mut self) -> Result<Connection, Finding> {
        let made = self.connect(self.temperature)?;
        match &made.negotiated {
            Ok(negotiated) if *negotiated == self.opened.negotiated => Ok(made),
            Ok(other) => {
                Err(Finding::refused(format!("one handshake in between negotiated {other:?}")))
            }
            Err(mismatch) => Err(Finding::refused(format!("one handshake in between: {mismatch}"))),
        }
    }

    fn connect(&mut self, temperature: Temperature) -> Result<Connection, Finding> {
        let evictor = &mut *self.evictor;
        let mut pause = || match temperature {
            Temperature::Hot => {}
            Temperature::Idle => std::thread::sleep(PAUSE),
            Temperature::Cold => {
                std::thread::sleep(PAUSE);
                evictor.evict();
            }
        };
        connect(&mut *self.opened.bench, self.case, self.timing.clock, false, &mut pause)
            .map_err(|trouble| Finding::failed(trouble.to_string()))
    }
}

/// Applies the tier and loads the stack: its files, or the copies in their place.
fn load_at_tier(
    hello: &StackHello,
    prepared: Prepared,
) -> Result<(Box<dyn Stack>, Option<Applied>), String> {
    let (path, crypto) = (hello.path.as_path(), hello.crypto.as_deref());
    let Some(plan) = prepared.plan else {
        return Ok((adapters::stacks::load(path, crypto)?, None));
    };
    // A switch of its own is in the file with the primitives.
    let switched = crypto.unwrap_or(path);
    let applied = host::tier::apply(hello.tier, switched, plan.clone(), Mechanism::wanted()?)?;
    let objects = match applied.mechanism {
        Mechanism::CpuidRewrite => plan.map(|plan| plan.objects).unwrap_or_default(),
        _ => Vec::new(),
    };
    let copy = |file: &Path| {
        let whole = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let is_it = |original: &Path| original.canonicalize().is_ok_and(|path| path == whole);
        let found = objects.iter().find(|object| is_it(&object.original));
        found.map_or_else(|| file.to_owned(), |object| object.load.clone())
    };
    let of_crypto = crypto.map(copy);
    let both = crypto.zip(of_crypto.as_deref());
    let stack = adapters::stacks::load_copy((path, &copy(path)), both)?;
    Ok((stack, Some(applied)))
}

/// The stack must have its own libcrypto: another one that is mapped under the same name would be
/// measured in its place.
fn bound_to(hello: &StackHello, loaded: &[PathBuf]) -> Result<(), String> {
    let Some(wanted) = &hello.crypto else { return Ok(()) };
    let wanted = wanted.canonicalize().unwrap_or_else(|_| wanted.clone());
    let is_crypto =
        |p: &&PathBuf| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("libcrypto"));
    let is_wanted = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned()) == wanted;
    match loaded.iter().filter(is_crypto).find(|path| !is_wanted(path)) {
        Some(other) => Err(format!(
            "'{}' is bound to '{}', not to '{}'",
            hello.path.display(),
            other.display(),
            wanted.display()
        )),
        None => Ok(()),
    }
}

/// Another handshake than was asked for, at the first try: the stack does something else in its place,
/// unless it contradicts itself.
pub(crate) fn another(mismatch: Mismatch) -> Finding {
    let why = mismatch.why;
    if mismatch.contradiction { Finding::refused(why) } else { Finding::unsupported(why) }
}

/// At the first try every trouble is the stack's way to say that it does not do it.
pub(crate) fn not_offered(trouble: Trouble) -> Finding {
    Finding::unsupported(trouble.to_string())
}

// The worker's records: one open connection for each suite and size.

/// Nanoseconds that a sample should take at least.
const RECORDS_NS: f64 = 100_000.0;
/// How long untimed batches go on before a visit's first sample, at least.
const RECORDS_WARM_UP: Duration = Duration::from_micros(100);

#[derive(Default)]
pub(crate) struct Lines(HashMap<(Protection, u32), Result<OpenLine, Finding>>);

struct OpenLine {
    line: Line,
    batches: u32,
}

impl Lines {
    pub(crate) fn sampled(
        &mut self,
        timing: &Timing<'_>,
        protection: Protection,
        size: u32,
        samples: u32,
    ) -> Taken {
        let mut facts = None;
        let slot = self.0.entry((protection, size)).or_insert_with(|| {
            let opened = OpenLine::open(timing, protection, size)?;
            facts = Some(Found::Records(RecordFacts {
                negotiated: opened.line.negotiated().clone(),
                overhead_bytes: opened.line.overhead() as u32,
            }));
            Ok(opened)
        });
        let opened = slot.as_mut().map_err(|finding| finding.clone())?;
        let settling = Some(opened.warm_up(timing)?);
        let samples = (0..samples).map(|_| opened.sample(timing)).collect::<Result<Vec<_>, _>>()?;
        Ok(Visited { settling, samples, facts })
    }
}

impl OpenLine {
    fn open(timing: &Timing<'_>, protection: Protection, size: u32) -> Result<Self, Finding> {
        let line = Line::open(timing.stack, protection, size as usize, timing.clock);
        let mut line = line.map_err(at_first)?;
        // The first fills caches; the second says how long one takes.
        line.batch(timing.clock).map_err(later)?;
        let batch = line.batch(timing.clock).map_err(later)?;
        let ns = (batch.send + batch.receive) as f64 / timing.ticks_per_ns;
        let batches = (RECORDS_NS / ns.max(1.0)).ceil().clamp(1.0, 1000.0) as u32;
        Ok(Self { line, batches })
    }

    fn warm_up(&mut self, timing: &Timing<'_>) -> Result<Settling, Finding> {
        let mut one = || {
            let batch = self.line.batch(timing.clock).map_err(later)?;
            Ok(batch.send + batch.receive)
        };
        timing.settle(RECORDS_WARM_UP, |batches| (0..batches).map(|_| one()).sum())
    }

    fn sample(&mut self, timing: &Timing<'_>) -> Result<HandshakeSample, Finding> {
        let Self { line, batches } = self;
        let (clock, batches) = (timing.clock, *batches);
        let (all, around) = around_parts(
            clock,
            timing.process,
            line,
            |line| line.batch(clock).map(|_| ()),
            |line| (0..batches).map(|_| line.batch(clock)).collect::<Result<Vec<_>, _>>(),
        )
        .map_err(later)?;
        let mut sample = HandshakeSample { server: around, ..HandshakeSample::default() };
        sample.server.ops = batches * line.records();
        for batch in all {
            sample.server.ticks += batch.send;
            sample.other.ticks += batch.receive;
        }
        Ok(sample)
    }
}

/// At the first try, what a stack does not do.
fn at_first(no: NoLine) -> Finding {
    match no {
        NoLine::Trouble(trouble) => not_offered(trouble),
        NoLine::Mismatch(mismatch) => another(mismatch),
        NoLine::Wrong(why) => Finding::refused(why),
    }
}

/// A connection that worked and does no longer.
fn later(no: NoLine) -> Finding {
    match &no {
        NoLine::Trouble(_) => Finding::failed(no.to_string()),
        NoLine::Mismatch(_) | NoLine::Wrong(_) => Finding::refused(no.to_string()),
    }
}

// The worker's primitives: one workbench for each operation, whose results are held to be right after
// every timed batch.

/// Nanoseconds that either part of a sample should take at least: 10,000 steps of the coarsest clock.
const PART_NS: f64 = 100_000.0;
/// Operations of a part at most.
const MOST_PRIMITIVE_OPS: u32 = 4096;
/// The part of a sample's operations that make the core ready for them: none where few fill a sample.
const READY_OF: u32 = 8;
/// How long untimed operations go on before a visit's first sample, at least.
const PRIMITIVES_WARM_UP: Duration = Duration::from_micros(200);

#[derive(Default)]
pub(crate) struct Primitives(HashMap<Primitive, Result<OpenWorkbench, Finding>>);

struct OpenWorkbench {
    bench: Box<dyn Workbench>,
    /// Operations of each part of a sample.
    ops: u32,
}

impl Primitives {
    pub(crate) fn sampled(
        &mut self,
        timing: &Timing<'_>,
        primitive: Primitive,
        samples: u32,
    ) -> Taken {
        let mut facts = None;
        let slot = self.0.entry(primitive).or_insert_with(|| {
            let opened = OpenWorkbench::open(timing, &primitive)?;
            let checks = opened.bench.checks();
            facts = Some(Found::Primitive(PrimitiveFacts { checks }));
            Ok(opened)
        });
        let opened = slot.as_mut().map_err(|finding| finding.clone())?;
        let mut both = || opened.parts(timing).map(|(whole, call)| whole + call);
        let settling =
            Some(timing.settle(PRIMITIVES_WARM_UP, |parts| (0..parts).map(|_| both()).sum())?);
        opened.bench.prove().map_err(wrong)?;
        let samples = (0..samples).map(|_| opened.sample(timing)).collect::<Result<Vec<_>, _>>()?;
        Ok(Visited { settling, samples, facts })
    }
}

impl OpenWorkbench {
    fn open(timing: &Timing<'_>, primitive: &Primitive) -> Result<Self, Finding> {
        let mut bench = timing.stack.primitive(primitive).map_err(not_offered)?;
        bench.examine().map_err(wrong)?;
        let mut opened = Self { bench, ops: 1 };
        // The first fills caches; the second says how long one takes.
        opened.parts(timing).map_err(|first| Finding::unsupported(first.why))?;
        let (whole, call) = opened.parts(timing)?;
        opened.bench.prove().map_err(wrong)?;
        let ns = |ticks: u64| (ticks as f64 / timing.ticks_per_ns).max(1.0);
        opened.ops =
            (PART_NS / ns(whole.min(call))).ceil().clamp(1.0, f64::from(MOST_PRIMITIVE_OPS)) as u32;
        opened.ops = opened.ops.max(opened.bench.least());
        Ok(opened)
    }

    /// As many operations whole, and as many calls alone: the ticks of each.
    fn parts(&mut self, timing: &Timing<'_>) -> Result<(u64, u64), Finding> {
        let Self { bench, ops, .. } = self;
        let (whole, of_whole) = timing.clock.part(|| bench.run(Span::Whole, *ops));
        let (call, of_call) = timing.clock.part(|| bench.run(Span::Call, *ops));
        whole.and(call).map_err(|t: Trouble| Finding::failed(t.to_string()))?;
        Ok((of_whole, of_call))
    }

    fn sample(&mut self, timing: &Timing<'_>) -> Result<HandshakeSample, Finding> {
        let ready = |this: &mut Self| {
            let few = this.ops / READY_OF;
            this.bench.run(Span::Call, few).map_err(|t| Finding::failed(t.to_string()))
        };
        let (parts, around) =
            around_parts(timing.clock, timing.process, self, ready, |this| this.parts(timing))?;
        let mut sample = HandshakeSample { server: around, ..HandshakeSample::default() };
        sample.server.ops = self.ops;
        (sample.server.ticks, sample.other.ticks) = parts;
        self.bench.prove().map_err(wrong)?;
        Ok(sample)
    }
}

/// A result that is not what it must be.
fn wrong(why: String) -> Finding {
    Finding::refused(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::tls::{Certificate, Exchange};

    #[test]
    fn a_sample_of_ml_dsa_has_many_handshakes_however_long_one_takes() {
        let of = |certificate, kind, ns| {
            let case = Case::usual(Version::Tls13, Exchange::X25519, certificate, kind);
            handshakes_in_a_sample(&case, ns)
        };
        assert_eq!(of(Certificate::Mldsa87, Kind::Full, 2e6), 16);
        assert_eq!(of(Certificate::Rsa2048, Kind::Full, 2e6), 1);
        assert_eq!(of(Certificate::P256, Kind::Full, 30_000.0), 4);
        // A resumption signs nothing.
        assert_eq!(of(Certificate::Mldsa87, Kind::ResumedPsk, 2e6), 1);
    }
}
