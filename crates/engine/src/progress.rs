//! A case on its way: what was sampled of it, how it ended, and what an earlier part of the run left of it;
//! what a run reports while it goes on; and how long the case settles.
//!
//! For how long a case's processes run it untimed before their first sample: as long as the case itself shows
//! that it needs on this core. Some of a case's processes settle for as long as any may; what they cost on
//! the way says from when on nothing gets faster. Every other process of a drawn tenth of the cases, and of
//! those whose processes scatter, settles longer than was found to be enough: where these cost less, it was
//! not.

use crate::cpus::measuring_cpu;
use crate::kinds::{Ends, Facts, Judged, Message, PILOT, PROCESSES, Pass, Subject, Visit};
use crate::plan::Planned;
use crate::protocol::{Finding, Other};
use base::analysis::{Estimator, Group, MIN_PER_PROCESS, of_visits};
use base::model::{Case, OtherEnd, QuietRates, RUNTIME_PREFIX, RawSample, Settling};
use rand::rngs::StdRng;
use rand::{Rng, RngExt as _};
use record::tls::HandshakeSample;
use record::{
    JournalFacts, JournalFinding, JournalHead, JournalSample, Kept, Latencies, Library, Plan,
    Stopped,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// The wave of cases that wait.
pub(crate) const LAST: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct CaseProgress {
    pub(crate) index: usize,
    pub(crate) subject: Subject,
    /// Index of the processes that sample it.
    pub(crate) pool: usize,
    /// Of subjects with two ends the server's.
    pub(crate) samples: Vec<RawSample>,
    /// Both ends', where there are two: of pages the scheme's own work, and reading or writing.
    pub(crate) ends: Ends,
    pub(crate) facts: Facts,
    pub(crate) end: Option<End>,
    /// Single operations, of each visit that timed some.
    pub(crate) latencies: Vec<Latencies>,
    /// The same of what is timed beside the samples.
    pub(crate) other_latencies: Vec<Latencies>,
    ops: Option<u32>,
    /// Samples taken of it, whatever the number of threads.
    pub(crate) taken: u32,
    /// Those that no disturbance was seen in when they were taken.
    clean: u32,
    pub(crate) pass: Pass,
    /// Processes at which it is next asked whether it is precise enough.
    pub(crate) next_look: usize,
    pub(crate) settling: CaseSettling,
    /// Whether it was precise after the pilot. Cases that were not have their turn first.
    pub(crate) waits: bool,
    /// Whether a rough idea of what it takes is enough.
    pub(crate) is_rough: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Stopped(Stopped),
    Found(Finding),
}

impl CaseProgress {
    pub(crate) fn new(index: usize, subject: Subject) -> Self {
        Self {
            index,
            subject,
            pool: 0,
            samples: Vec::new(),
            ends: Ends::default(),
            facts: Facts::default(),
            end: None,
            latencies: Vec::new(),
            other_latencies: Vec::new(),
            ops: None,
            taken: 0,
            clean: 0,
            pass: Pass::default(),
            next_look: PILOT,
            settling: CaseSettling::default(),
            waits: false,
            is_rough: false,
        }
    }

    /// With what an earlier part of the run has of it. A visit of several threads that was cut off
    /// does not count.
    pub(crate) fn continued(mut self, earlier: Vec<JournalSample>) -> Self {
        let threads = self.subject.threads() as usize;
        let whole = earlier.len() / threads * threads;
        for entry in earlier.into_iter().take(whole) {
            let JournalSample { sample, settling, latency, other, other_latency, .. } = entry;
            if let Some(settling) = settling {
                self.settling.settled(settling);
                self.settling.believe();
            }
            let both = other.map(|other| HandshakeSample { server: sample, other });
            self.samples.push(both.map_or(sample, |both| both.server_sample()));
            self.ends.0.extend(both);
            self.latencies.extend(latency);
            self.other_latencies.extend(other_latency);
        }
        self.ops = self.samples.first().map(|s| s.ops);
        self.taken = (whole / threads) as u32;
        self.clean = self.taken;
        self.mark_unsettled();
        self
    }

    /// Counts a sample that no disturbance was seen in.
    pub(crate) fn count_clean(&mut self) {
        self.pass.clean += 1;
        self.clean += 1;
    }

    /// How much of the way there is behind it, up to 1. With the clean samples that all need a case is nearly done: most
    /// end then.
    pub(crate) fn fraction(&self) -> f64 {
        if self.end.is_some() {
            return 1.0;
        }
        0.9 * (f64::from(self.clean) / (MIN_PER_PROCESS * PROCESSES) as f64).min(1.0)
    }

    pub(crate) fn is_due(&self) -> bool {
        self.taken as usize >= MIN_PER_PROCESS * self.next_look
    }

    /// One sample for each visit, whatever the number of threads.
    pub(crate) fn of_visits(&self, quiet: &QuietRates) -> Cow<'_, [RawSample]> {
        of_visits(&self.samples, self.subject.threads(), quiet)
    }

    pub(crate) fn judged(&self, quiet: &QuietRates) -> Option<Judged> {
        self.subject.judged(&self.samples, &self.ends, quiet)
    }

    pub(crate) fn is_precise(&self, quiet: &QuietRates, asked: f64) -> bool {
        let wanted = self.subject.precision(asked);
        self.judged(quiet).is_some_and(|j| j.is_complete && j.precision <= wanted)
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.end.is_none() && !self.subject.is_done(self.pass)
    }

    /// Whether later waves wait for it. They stop waiting when it has a number, or twice the processes that a number
    /// takes: on a busy machine too few of its samples may ever count.
    pub(crate) fn is_awaited(&self) -> bool {
        let processes = self.samples.chunk_by(|a, b| a.process == b.process).count();
        self.next_look == PILOT && processes < 2 * PILOT
    }

    /// How soon it has its turn where there is no time for all: the lowest first.
    pub(crate) fn wave(&self) -> u32 {
        if self.waits { LAST } else { self.subject.wave() }
    }

    pub(crate) fn visit(&mut self, pass: u32) -> Visit {
        let visit = self.subject.visit(self.pass, self.taken, self.ops);
        if self.is_rough {
            return visit.roughly();
        }
        visit.settle_for(self.settling.ask_us(pass))
    }

    pub(crate) fn mark_unsettled(&mut self) {
        let needed_us = self.settling.needed_us();
        let ends = self.ends.0.iter_mut().map(|both| &mut both.server);
        for sample in self.samples.iter_mut().chain(ends) {
            sample.unsettled = sample.settled_us > 0 && sample.settled_us < needed_us;
        }
    }

    /// Asks again whether it is precise, after as many processes as a new case.
    pub(crate) fn look_again(&mut self) {
        (self.end, self.next_look, self.waits) = (None, PROCESSES, false);
    }

    pub(crate) fn deadline(&self) -> Duration {
        self.subject.deadline()
    }

    /// Every later batch has as many operations as the first one, or, where the core is taken all the time, a third.
    pub(crate) fn freeze(&mut self, sample: &RawSample) {
        self.ops.get_or_insert(sample.ops);
    }

    pub(crate) fn take(&mut self, samples: &[RawSample], latency: Option<Latencies>) {
        samples.iter().for_each(|sample| self.freeze(sample));
        if let Subject::Message(message) = &mut self.subject {
            message.is_sampled();
        }
        self.taken += 1;
        self.pass.taken += 1;
        self.samples.extend(samples);
        self.latencies.extend(latency);
    }

    /// Takes what was timed beside one visit's samples.
    pub(crate) fn take_other(&mut self, samples: &[RawSample], other: Option<&Other>) {
        let Some(other) = other else { return };
        let both = |(sample, ticks): (&RawSample, &u64)| {
            let other = OtherEnd { ticks: *ticks, ..OtherEnd::default() };
            HandshakeSample { server: *sample, other }
        };
        self.ends.0.extend(samples.iter().zip(&other.ticks).map(both));
        self.other_latencies.push(other.latency.clone());
    }

    pub(crate) fn take_ends(&mut self, sample: HandshakeSample) {
        self.take(&[sample.server_sample()], None);
        self.ends.0.push(sample);
    }
}

// The earlier part of a run that is gone on with.

pub(crate) fn journal_head(
    kind: &str,
    plan: Plan,
    cases: usize,
    libraries: Vec<(Option<String>, Library)>,
    command: &[String],
    cpu: u32,
) -> JournalHead {
    let host = host::facts(cpu);
    JournalHead {
        format_version: record::FORMAT_VERSION.to_owned(),
        kind: kind.to_owned(),
        started: jiff::Timestamp::now().to_string(),
        command: command.to_vec(),
        cpu: host.cpu.kind(),
        microcode: host.cpu.microcode,
        features: host.cpu.features,
        kernel: host.kernel.release,
        c_library: host.c_library,
        machine: host::machine_hash(),
        program: crate::pool::program_hash(),
        circumstances: host.circumstances,
        plan,
        cases,
        libraries,
        store: None,
    }
}

/// What an earlier part of the run left, if there was one.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    pub(crate) started: Option<String>,
    pub(crate) seconds: f64,
    samples: Vec<JournalSample>,
    facts: Vec<JournalFacts>,
    findings: Vec<JournalFinding>,
}

impl Earlier {
    /// Holds the earlier part against this one: samples of two machines, of two builds or of two
    /// plans are never mixed.
    pub(crate) fn of(kept: Option<Kept>, now: &JournalHead) -> Result<Self, String> {
        let Some(kept) = kept else { return Ok(Self::default()) };
        difference(&kept.head, now).map_or(Ok(()), Err)?;
        let Kept { head: first, samples, facts, findings, seconds, .. } = kept;
        Ok(Self { started: Some(first.started), seconds, samples, facts, findings })
    }

    /// Why a case that has samples cannot be measured any more, before what was found is told: fewer CPUs or less memory
    /// are no answer of the library's.
    pub(crate) fn not_possible_now(&self, planned: &[Planned]) -> Option<String> {
        let mut sampled = self.samples.iter().filter_map(|sample| planned.get(sample.case));
        let (plan, found) = sampled.find_map(|plan| Some((plan, plan.verdict.as_ref()?)))?;
        let Case { algorithm, size, .. } = &plan.case;
        Some(format!("it has samples of {algorithm} at {size} bytes, and now: {}", found.why))
    }

    /// What was found stays found.
    pub(crate) fn tell(&self, planned: &mut [Planned]) {
        for JournalFinding { case, state, reason } in &self.findings {
            if let Some(plan) = planned.get_mut(*case) {
                plan.verdict.get_or_insert(Finding::of(*state, reason.clone()));
            }
        }
    }

    pub(crate) fn all_progress(&self, planned: &[Planned]) -> Vec<CaseProgress> {
        all_progress(planned, &self.samples)
    }

    /// Fresh cases with what there is of them, what ended them with it.
    pub(crate) fn continued(&self, fresh: Vec<CaseProgress>) -> Vec<CaseProgress> {
        let mut samples = by_case(&self.samples);
        let progress = |progress: CaseProgress| {
            let earlier = samples.remove(&progress.index).unwrap_or_default();
            progress.continued(earlier)
        };
        let mut all_progress: Vec<CaseProgress> = fresh.into_iter().map(progress).collect();
        for JournalFacts { case, facts } in &self.facts {
            let found = serde_json::from_value(facts.clone()).ok();
            if let (Some(progress), Some(found)) = (all_progress.get_mut(*case), found) {
                progress.facts.push(found);
            }
        }
        for JournalFinding { case, state, reason } in &self.findings {
            if let Some(progress) = all_progress.get_mut(*case) {
                progress.end = Some(End::Found(Finding::of(*state, reason.clone())));
            }
        }
        all_progress
    }
}

fn by_case(samples: &[JournalSample]) -> BTreeMap<usize, Vec<JournalSample>> {
    let mut cases: BTreeMap<usize, Vec<JournalSample>> = BTreeMap::new();
    for entry in samples {
        cases.entry(entry.case).or_default().push(entry.clone());
    }
    cases
}

pub(crate) fn all_progress(planned: &[Planned], earlier: &[JournalSample]) -> Vec<CaseProgress> {
    let mut samples = by_case(earlier);
    let open = planned.iter().enumerate().filter(|(_, p)| p.verdict.is_none());
    open.map(|(i, p)| {
        let message = Message::new(p.case.clone(), p.setting.clone());
        let progress = CaseProgress::new(i, Subject::Message(message));
        progress.continued(samples.remove(&i).unwrap_or_default())
    })
    .collect()
}

/// Why a journal's run cannot go on here, whatever its libraries: to be asked before any of these is loaded, because a
/// journal may be anybody's.
pub fn of_elsewhere(then: &JournalHead) -> Option<String> {
    let (plan, libraries) = (then.plan.clone(), then.libraries.clone());
    let now = journal_head(&then.kind, plan, then.cases, libraries, &[], measuring_cpu());
    difference(then, &now)
}

/// The program that a journal would have started as a runtime, by its command line or by its libraries' paths: only who
/// types it may.
pub fn strange_program(head: &JournalHead) -> Option<&str> {
    let words = head.command.iter().flat_map(|words| words.split(RUNTIME_PREFIX).skip(1));
    let words = words.map(|rest| rest.split(',').next().unwrap_or(rest));
    // A path is one name, whatever is in it.
    let paths = head.libraries.iter().filter_map(|(_, l)| l.path.strip_prefix(RUNTIME_PREFIX));
    words.chain(paths).find(|program| !adapters::runtime::names().any(|known| known == *program))
}

fn difference(then: &JournalHead, now: &JournalHead) -> Option<String> {
    if then.kind != now.kind {
        return Some(format!("it is a run of kind '{}', this is '{}'", then.kind, now.kind));
    }
    if then.cpu != now.cpu {
        return Some(format!("it ran on '{}', this is '{}'", then.cpu, now.cpu));
    }
    if then.machine != now.machine {
        return Some(format!("it ran on another machine with the same CPU, '{}'", now.cpu));
    }
    let none = || "none".to_owned();
    let microcode = |head: &JournalHead| head.microcode.clone().unwrap_or_else(none);
    let c_library = |head: &JournalHead| head.c_library.clone().unwrap_or_else(none);
    for (what, was, is) in [
        ("the CPU's microcode", microcode(then), microcode(now)),
        ("the kernel", then.kernel.clone(), now.kernel.clone()),
        ("the C library", c_library(then), c_library(now)),
    ] {
        if was != is {
            return Some(format!("{what} was {was} then and is {is} now"));
        }
    }
    let only_in = |one: &JournalHead, other: &JournalHead| {
        let only = one.features.iter().filter(|feature| !other.features.contains(feature));
        only.cloned().collect::<Vec<_>>().join(" ")
    };
    let (gone, new) = (only_in(then, now), only_in(now, then));
    if !(gone.is_empty() && new.is_empty()) {
        let sides = [(gone, "is gone"), (new, "is new")].into_iter();
        let sides = sides.filter(|(names, _)| !names.is_empty());
        let sides: Vec<String> = sides.map(|(names, is)| format!("{names} {is}")).collect();
        return Some(format!("the CPU has other features than then: {}", sides.join(", ")));
    }
    if then.program != now.program {
        return Some("it was measured by another build of ciphermark".to_owned());
    }
    let differing = record::differing_circumstances(&then.circumstances, &now.circumstances);
    if let Some([name, was, is]) = differing.first() {
        let shown = |text: &String| if text.is_empty() { "not set".into() } else { text.clone() };
        return Some(format!("{name} was {} then and is {} now", shown(was), shown(is)));
    }
    for ((_, a), (_, b)) in then.libraries.iter().zip(&now.libraries) {
        if (&a.path, &a.id) != (&b.path, &b.id) {
            return Some(format!("library '{}' is another build than it was", a.path));
        }
    }
    ((then.libraries.len(), then.cases) != (now.libraries.len(), now.cases))
        .then(|| "the libraries offer other algorithms than they did".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    Verifying {
        done: usize,
        of: usize,
    },
    /// So many operations of so many are stepped.
    Stepping {
        done: usize,
        of: usize,
    },
    /// Looking at what could be chosen.
    Screening(Progress),
    Sampling(Progress),
    /// Something for the user to know at once, in one line: what was measured cannot be kept, or can
    /// be again.
    Remark(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub ended: usize,
    pub cases: usize,
    /// The part of the work that is done, as far as it can be foreseen.
    pub fraction: f64,
    pub left: Duration,
}

const LEAST_US: u32 = 2 * Settling::FIRST_WINDOW_US;
/// Processes that are asked for long looks at the most.
const MOST_TRIES: u32 = 6;
/// Windows of a long look whose end was seen on a quiet core.
const WINDOWS: usize = (Settling::LONGEST_US / Settling::FIRST_WINDOW_US).ilog2() as usize;
/// The part of a run's time that long looks may take, ...
const LOOKS_SHARE: f64 = 0.15;
/// ... how many a case has at the most, and how many cases have one at the least.
const MOST_LOOKS: f64 = 1.0;
const LEAST_LOOKS: f64 = 0.1;
/// The part of the cases that is checked by settling twice as long.
const CHECKED: f64 = 0.1;
const TWICE: u32 = 2;
/// How much longer a case settles whose processes scatter, to see whether that is why.
const SCATTERED: u32 = 4;
/// What a longer settling must gain to count as one that was needed, and the chance that it gains as much for nothing.
const GAIN: f64 = 0.005;
const CHANCE: f64 = 0.01;

#[derive(Clone, Debug)]
pub(crate) struct CaseSettling {
    needed_us: u32,
    /// Long looks that it is still to have.
    looks: u32,
    /// Processes that were asked for one: on a core that is hardly ever quiet none may come about.
    tries: u32,
    /// What long looks found that it needs.
    found_us: Vec<u32>,
    /// The least that looks allow which a busy core has hidden a part of.
    at_most_us: Option<u32>,
    /// How many times as long every other process settles.
    factor: u32,
    /// Whether a longer settling was found to be needed than long looks had shown.
    raised: bool,
    first_ns: Vec<f64>,
    /// What it needed before there was no time for it.
    wanted_us: Option<u32>,
    /// What the process that is sampled now did, until a sample of it counts.
    latest: Option<Settling>,
    /// The same for the journal.
    unkept: Option<Settling>,
}

impl Default for CaseSettling {
    fn default() -> Self {
        Self {
            needed_us: LEAST_US,
            looks: 1,
            tries: 0,
            found_us: Vec::new(),
            at_most_us: None,
            factor: 1,
            raised: false,
            first_ns: Vec::new(),
            wanted_us: None,
            latest: None,
            unkept: None,
        }
    }
}

impl CaseSettling {
    /// Draws how many long looks each of so many cases has in a run of such a length on so many CPUs, and which are
    /// checked.
    pub(crate) fn drawn(
        cases: usize,
        time: Duration,
        cpus: usize,
        rng: &mut impl Rng,
    ) -> Vec<Self> {
        let look = f64::from(Settling::LONGEST_US) / 1e6;
        let affordable = LOOKS_SHARE * time.as_secs_f64() * cpus.max(1) as f64 / look;
        let each = (affordable / cases.max(1) as f64).clamp(LEAST_LOOKS, MOST_LOOKS);
        let mut one = || {
            let looks = each as u32 + u32::from(rng.random::<f64>() < each.fract());
            let factor = if rng.random::<f64>() < CHECKED { TWICE } else { 1 };
            Self { looks, factor, ..Self::default() }
        };
        (0..cases).map(|_| one()).collect()
    }

    /// Microseconds for which the process settles that is sampled in the given pass.
    pub(crate) fn ask_us(&self, pass: u32) -> u32 {
        if self.looks > 0 && self.tries < MOST_TRIES {
            return Settling::LONGEST_US;
        }
        let times = if pass % 2 == 1 { self.factor } else { 1 };
        self.needed_us.saturating_mul(times).min(Settling::LONGEST_US)
    }

    /// Takes looks and checks as drawn, but for those that an earlier part of the run has had.
    pub(crate) fn take_draw(&mut self, drawn: &Self) {
        self.looks = drawn.looks.saturating_sub(self.found_us.len() as u32);
        self.factor = drawn.factor;
    }

    /// How the process has settled, before its first sample is taken.
    pub(crate) fn not_kept(&mut self) -> Option<Settling> {
        self.unkept.take()
    }

    /// How a process has settled whose samples follow.
    pub(crate) fn settled(&mut self, settling: Settling) {
        self.tries += u32::from(settling.us >= Settling::LONGEST_US);
        self.unkept = Some(settling.clone());
        self.latest = Some(settling);
    }

    /// Microseconds for which the process has settled that samples are taken of.
    pub(crate) fn latest_us(&self) -> u32 {
        self.latest.as_ref().map_or(0, |settling| settling.us)
    }

    /// A sample of the process counts, so what it did before may be believed. Returns whether the case needs longer than
    /// was known.
    pub(crate) fn believe(&mut self) -> bool {
        let Some(latest) = &mut self.latest else { return false };
        if latest.ns_per_op.is_empty() {
            return false;
        }
        self.first_ns.push(latest.first_ns);
        let is_whole = latest.us >= Settling::LONGEST_US && latest.ns_per_op.len() >= WINDOWS;
        let found = latest.needed_us().filter(|_| is_whole);
        latest.ns_per_op.clear();
        match found {
            Some((us, true)) => {
                self.looks = self.looks.saturating_sub(1);
                self.found_us.push(us);
                self.raise(us)
            }
            hidden => {
                let most = hidden.map(|(us, _)| us).into_iter().chain(self.at_most_us);
                self.at_most_us = most.min();
                let is_last = self.looks > 0 && self.tries >= MOST_TRIES;
                // Longer than needed, perhaps, on a core that does not let it be seen.
                self.at_most_us.filter(|_| is_last).is_some_and(|us| self.raise(us))
            }
        }
    }

    /// Takes what other cases of its kind were found to need, where it has had no long look itself.
    pub(crate) fn take_over(&mut self, found_us: u32) -> bool {
        self.found_us.is_empty() && self.raise(found_us)
    }

    fn raise(&mut self, us: u32) -> bool {
        let before = self.needed_us;
        self.needed_us = before.max(us);
        self.needed_us > before
    }

    /// What long looks found that it needs; none before the first.
    pub(crate) fn found_us(&self) -> Option<u32> {
        self.found_us.iter().copied().max()
    }

    /// Its processes scatter by more than they should: perhaps because some have not settled.
    pub(crate) fn doubt(&mut self) {
        self.factor = self.factor.max(SCATTERED);
    }

    /// It is checked by settling twice as long.
    pub(crate) fn check(&mut self) {
        self.factor = self.factor.max(TWICE);
    }

    /// Whether processes that settled longer than needed cost less than the others: then that is needed.
    pub(crate) fn compare(&mut self, samples: &[RawSample], quiet: &QuietRates) -> bool {
        let longer_us =
            self.needed_us.saturating_mul(self.factor.max(TWICE)).min(Settling::LONGEST_US);
        if longer_us <= self.needed_us || !gains(samples, quiet, longer_us) {
            return false;
        }
        (self.needed_us, self.raised) = (longer_us, true);
        true
    }

    pub(crate) fn needed_us(&self) -> u32 {
        self.needed_us
    }

    /// There was no time for processes that settle as long as needed: samples of the others count.
    pub(crate) fn settle_for_less(&mut self) {
        self.wanted_us = Some(self.needed_us);
        self.needed_us = LEAST_US;
    }

    /// Microseconds for which processes should have settled that did not.
    pub(crate) fn wanted_us(&self) -> Option<u32> {
        self.wanted_us
    }

    pub(crate) fn facts(&self, samples: &[RawSample]) -> Option<record::Settled> {
        let mut first_ns = self.first_ns.clone();
        let longer = |s: &&RawSample| s.settled_us >= self.needed_us.saturating_mul(TWICE);
        let mut checked: Vec<u32> = samples.iter().filter(longer).map(|s| s.process).collect();
        checked.dedup();
        Some(record::Settled {
            us: self.wanted_us.unwrap_or(self.needed_us),
            first_ns: base::analysis::median(&mut first_ns)?,
            processes_longer: checked.len() as u32,
            raised: self.raised,
        })
    }
}

/// Whether processes that settled for so long cost less than those that did not, by more than chance has it.
fn gains(samples: &[RawSample], quiet: &QuietRates, longer_us: u32) -> bool {
    let mut by_process: BTreeMap<u32, Vec<&RawSample>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| s.disturbance(quiet.of(s.cpu)).is_none()) {
        by_process.entry(sample.process).or_default().push(sample);
    }
    let (mut longer, mut shorter) = (Vec::new(), Vec::new());
    for own in by_process.into_values().filter(|own| own.len() >= MIN_PER_PROCESS) {
        let cost =
            |s: &&RawSample| if s.clock() > 0.0 { s.cycles_per_op() } else { s.ticks_per_op() };
        let Some(cost) = base::analysis::median(&mut own.iter().map(cost).collect::<Vec<_>>())
        else {
            continue;
        };
        // What a process of the same setting took longer by chance is no longer settling.
        let is_longer = f64::from(own[0].settled_us) >= 0.9 * f64::from(longer_us);
        if is_longer { longer.push(cost) } else { shorter.push(cost) }
    }
    let of = |costs: &[f64]| Group::of(costs).zip(Estimator::TrimmedMean.of(&mut costs.to_vec()));
    let Some(((longer, long), (shorter, short))) = of(&longer).zip(of(&shorter)) else {
        return false;
    };
    long < short * (1.0 - GAIN) && longer.less(&shorter).chance(0.0) < CHANCE
}

/// What most cases of a run were found to need: four in five need no longer.
pub(crate) fn usual_us(found: &mut [u32]) -> Option<u32> {
    found.sort_unstable();
    found.get(found.len() * 4 / 5).copied()
}

/// Random numbers that no library can foresee.
pub(crate) fn unforeseen() -> StdRng {
    use rand::SeedableRng as _;
    StdRng::try_from_rng(&mut rand::rngs::SysRng).expect("the kernel has random numbers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    fn journal_head() -> JournalHead {
        let library = Library {
            name: "l".into(),
            version: "1".into(),
            path: "/l.so".into(),
            id: "sha256:1".into(),
            ..record::Library::default()
        };
        JournalHead {
            format_version: record::FORMAT_VERSION.into(),
            kind: "survey".into(),
            started: "2026-11-21T12:00:00Z".into(),
            cpu: "a CPU".into(),
            microcode: Some("0x1".into()),
            features: vec!["aes".into(), "sha_ni".into()],
            kernel: "6.12".into(),
            c_library: Some("glibc 2.41".into()),
            machine: Some("one".into()),
            program: Some("abc".into()),
            plan: Plan { precision: 0.01, budget_seconds: 1.0, seed: 1, ..Plan::default() },
            cases: 2,
            libraries: vec![(None, library)],
            ..JournalHead::default()
        }
    }

    #[test]
    fn the_same_machine_and_libraries_are_gone_on_with() {
        let later = JournalHead { started: "2026-11-22T12:00:00Z".into(), ..journal_head() };
        assert_eq!(difference(&journal_head(), &later), None);
    }

    #[test]
    fn each_difference_is_named() {
        let named = |change: fn(&mut JournalHead), words: &str| {
            let mut then = journal_head();
            change(&mut then);
            let why = difference(&then, &journal_head()).unwrap_or_default();
            assert!(why.contains(words), "{words}: {why}");
        };
        named(|h| h.kind = "tls".into(), "a run of kind 'tls', this is 'survey'");
        named(|h| h.cpu = "other CPU".into(), "it ran on 'other CPU', this is 'a CPU'");
        named(|h| h.machine = Some("two".into()), "another machine with the same CPU");
        named(|h| h.microcode = None, "microcode was none then and is 0x1 now");
        named(|h| h.kernel = "6.1".into(), "the kernel was 6.1 then and is 6.12 now");
        named(|h| h.c_library = None, "the C library was none then and is glibc 2.41 now");
        let masked = |h: &mut JournalHead| h.features = vec!["aes".into(), "vaes".into()];
        named(masked, "other features than then: vaes is gone, sha_ni is new");
        named(|h| h.program = None, "another build of ciphermark");
        let mask = |h: &mut JournalHead| {
            let (name, value) = ("OPENSSL_ia32cap".into(), Some("~0x2".into()));
            h.circumstances = vec![record::Circumstance { name, value, ..Default::default() }];
        };
        named(mask, "OPENSSL_ia32cap was ~0x2 then and is not set now");
        named(|h| h.libraries[0].1.id = "sha256:2".into(), "'/l.so' is another build");
        named(|h| h.libraries.clear(), "other algorithms");
        named(|h| h.cases = 3, "other algorithms");
    }

    #[test]
    fn samples_of_what_cannot_be_measured_any_more_are_not_dropped() {
        let mut planned = vec![Planned {
            case: Case { algorithm: "aes-128-ctr".into(), size: 16, threads: 2, ..Case::default() },
            verdict: None,
            setting: crate::plan::Setting::default(),
        }];
        let samples = vec![JournalSample::default()];
        let earlier = Earlier { samples, ..Earlier::default() };
        assert_eq!(earlier.not_possible_now(&planned), None);
        planned[0].verdict = Some(Finding::unsupported("only 1 CPU may be used"));
        assert_eq!(
            earlier.not_possible_now(&planned).unwrap(),
            "it has samples of aes-128-ctr at 16 bytes, and now: only 1 CPU may be used"
        );
        assert_eq!(Earlier::default().not_possible_now(&planned), None, "it has no samples");
    }

    #[test]
    fn a_journal_starts_the_known_runtimes_and_no_program_of_its_own() {
        for (words, path, expected) in [
            (&["-l", "go,node", "a=runtime:node,b=/l.so"][..], "runtime:go", None),
            (&["a=runtime:go,b=runtime:evil"], "/l.so", Some("evil")),
            (&[], "runtime:/tmp/x", Some("/tmp/x")),
            (&[], "runtime:go,/evil", Some("go,/evil")),
        ] {
            let mut head = journal_head();
            head.command = words.iter().map(|word| (*word).to_owned()).collect();
            path.clone_into(&mut head.libraries[0].1.path);
            assert_eq!(strange_program(&head), expected, "{words:?} {path}");
        }
    }

    fn looked(ns_per_op: &[f64]) -> Settling {
        Settling {
            us: Settling::LONGEST_US,
            first_ns: 900.0,
            ns_per_op: ns_per_op.to_vec(),
            process: 0,
        }
    }

    /// Two samples of each of so many processes.
    fn samples(processes: std::ops::Range<u32>, settled_us: u32, ticks: u64) -> Vec<RawSample> {
        let ticks = |process| ticks + u64::from(process % 5);
        let sample = |process| base::model::fixtures::sample(process, ticks(process), 1.0);
        let sample = |process| RawSample { settled_us, ..sample(process) };
        processes.flat_map(|process| [sample(process); 2]).collect()
    }

    #[test]
    fn every_case_has_a_long_look_where_there_is_time_and_a_tenth_where_there_is_none() {
        let looks = |cases, seconds| -> u32 {
            let mut rng = StdRng::seed_from_u64(1);
            let drawn = CaseSettling::drawn(cases, Duration::from_secs(seconds), 2, &mut rng);
            assert!(drawn.iter().all(|case| case.looks <= 1));
            drawn.iter().map(|case| case.looks).sum()
        };
        assert_eq!(looks(200, 25), 200);
        assert!((900..1100).contains(&looks(10_000, 1)), "{}", looks(10_000, 1));
        let most = LOOKS_SHARE * 240.0 * 2.0 / (f64::from(Settling::LONGEST_US) / 1e6);
        assert!(f64::from(looks(15_000, 240)) < 1.05 * most, "{}", looks(15_000, 240));
    }

    #[test]
    fn a_long_look_says_for_how_long_later_processes_settle() {
        let mut case = CaseSettling { looks: 1, ..CaseSettling::default() };
        assert_eq!(case.ask_us(0), Settling::LONGEST_US);
        case.settled(looked(&[90.0, 90.0, 90.0, 60.0, 60.1, 60.0, 60.2, 60.0]));
        assert_eq!(case.ask_us(1), Settling::LONGEST_US, "no sample of it counts yet");
        assert!(case.believe() && !case.believe(), "once");
        assert_eq!((case.needed_us(), case.ask_us(1)), (800, 800));
        assert_eq!(case.facts(&[]).unwrap().first_ns, 900.0);
    }

    #[test]
    fn looks_that_a_busy_core_hides_are_repeated_and_the_least_that_they_allow_is_taken() {
        let mut case = CaseSettling { looks: 1, ..CaseSettling::default() };
        for hidden in 1..=MOST_TRIES {
            assert_eq!((case.ask_us(0), case.needed_us()), (Settling::LONGEST_US, LEAST_US));
            let mut windows = [60.0; 8];
            windows[..(6 - hidden as usize).max(2)].fill(0.0);
            case.settled(looked(&windows));
            assert_eq!(case.believe(), hidden == MOST_TRIES);
        }
        assert_eq!((case.needed_us(), case.ask_us(0)), (400, 400));
    }

    #[test]
    fn processes_that_settle_longer_and_cost_less_raise_what_is_needed() {
        let compared = |longer: u64| {
            let mut case = CaseSettling { looks: 0, factor: TWICE, ..CaseSettling::default() };
            let mut taken = samples(0..7, 100, 1000);
            taken.extend(samples(7..14, 200, longer));
            let raised = case.compare(&taken, &QuietRates::default());
            (raised, case.needed_us(), case.facts(&taken))
        };
        assert_eq!((compared(900).0, compared(900).1), (true, 200));
        assert_eq!((compared(1000).0, compared(1000).1), (false, 100));
        assert!(!compared(1100).0, "what settles longer and costs more has not settled later");
    }

    #[test]
    fn every_other_process_of_a_case_that_is_checked_settles_longer() {
        let mut case = CaseSettling { looks: 0, ..CaseSettling::default() };
        assert_eq!((case.ask_us(0), case.ask_us(1)), (100, 100));
        case.check();
        assert_eq!((case.ask_us(2), case.ask_us(3)), (100, 200));
        case.doubt();
        assert_eq!((case.ask_us(2), case.ask_us(3)), (100, 400));
    }
}
