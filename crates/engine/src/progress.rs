//! A case on its way: what was sampled of it, how it ended, and what an earlier part of the run left of it;
//! and what a run reports while it goes on.

use crate::kinds::{Ends, Facts, Judged, Message, PILOT, PROCESSES, Pass, Subject, Visit};
use crate::plan::Planned;
use crate::protocol::{Finding, Other};
use crate::settling::CaseSettling;
use base::analysis::{MIN_PER_PROCESS, of_visits};
use base::model::{OtherEnd, QuietRates, RawSample};
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

/// A case on its way.
#[derive(Clone, Debug)]
pub(crate) struct CaseProgress {
    /// Index of the case in the plan.
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
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Stopped(Stopped),
    Found(Finding),
}

impl CaseProgress {
    /// A case to sample.
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
            let both = other.map(|other| HandshakeSample::of(sample, other));
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

    /// Whether there can be as many processes as its next look needs.
    pub(crate) fn is_due(&self) -> bool {
        self.taken as usize >= MIN_PER_PROCESS * self.next_look
    }

    /// One sample for each visit, whatever the number of threads.
    pub(crate) fn of_visits(&self, quiet: &QuietRates) -> Cow<'_, [RawSample]> {
        of_visits(&self.samples, self.subject.threads(), quiet)
    }

    /// What the samples come to so far.
    pub(crate) fn judged(&self, quiet: &QuietRates) -> Option<Judged> {
        self.subject.judged(&self.samples, &self.ends, quiet)
    }

    /// Whether it is as precise as it was to be.
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

    /// What to ask for next, in the given pass.
    pub(crate) fn visit(&mut self, pass: u32) -> Visit {
        let visit = self.subject.visit(self.pass, self.taken, self.ops);
        visit.settle_for(self.settling.ask_us(pass))
    }

    /// Marks samples whose process had not run the case for as long as it needs.
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

    /// Longest wait for a visit.
    pub(crate) fn deadline(&self) -> Duration {
        self.subject.deadline()
    }

    /// Every later batch has as many operations as this one.
    pub(crate) fn freeze(&mut self, sample: &RawSample) {
        self.ops = Some(sample.ops);
    }

    /// Takes one visit's samples.
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
            HandshakeSample::of(*sample, OtherEnd { ticks: *ticks, ..OtherEnd::default() })
        };
        self.ends.0.extend(samples.iter().zip(&other.ticks).map(both));
        self.other_latencies.push(other.latency.clone());
    }

    /// Takes a sample of both ends.
    pub(crate) fn take_ends(&mut self, sample: HandshakeSample) {
        self.take(&[sample.server_sample()], None);
        self.ends.0.push(sample);
    }
}

// The earlier part of a run that is gone on with.

/// What the journal says of a run at its head.
pub(crate) fn journal_head(
    kind: &str,
    (plan, cases): (Plan, usize),
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
        cpu: host.cpu.name,
        microcode: host.cpu.microcode,
        machine: host::machine_hash(),
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
    /// When it began.
    pub(crate) started: Option<String>,
    /// Seconds of measuring.
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

    /// What was found stays found.
    pub(crate) fn tell(&self, planned: &mut [Planned]) {
        for JournalFinding { case, state, reason } in &self.findings {
            if let Some(plan) = planned.get_mut(*case) {
                plan.verdict.get_or_insert(Finding::of(*state, reason.clone()));
            }
        }
    }

    /// The cases to sample, with what there is of them.
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

/// The cases to sample, with their samples among these.
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

/// Why what was kept then cannot be gone on with now.
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
    if then.microcode != now.microcode {
        let shown = |head: &JournalHead| head.microcode.clone().unwrap_or("none".into());
        return Some(format!(
            "the CPU's microcode was {} then and is {} now",
            shown(then),
            shown(now)
        ));
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

/// What a run reports while it goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// So many pairs of library and algorithm of so many are verified.
    Verifying {
        /// Done.
        done: usize,
        /// In all.
        of: usize,
    },
    /// So many operations of so many are stepped.
    Stepping {
        /// Done.
        done: usize,
        /// In all.
        of: usize,
    },
    /// Looking at what could be chosen.
    Screening(Progress),
    /// Sampling.
    Sampling(Progress),
    /// Something for the user to know at once, in one line: what was measured cannot be kept, or can
    /// be again.
    Remark(&'a str),
}

/// How far sampling is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Cases that have ended.
    pub ended: usize,
    /// Cases in all.
    pub cases: usize,
    /// The part of the work that is done, as far as it can be foreseen.
    pub fraction: f64,
    /// Time that is left, likewise.
    pub left: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

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
            command: Vec::new(),
            cpu: "a CPU".into(),
            microcode: Some("0x1".into()),
            machine: Some("one".into()),
            circumstances: Vec::new(),
            plan: Plan {
                suite: None,
                algorithms: Vec::new(),
                sizes: Vec::new(),
                models: Vec::new(),
                directions: Vec::new(),
                tiers: Vec::new(),
                footprints: Vec::new(),
                threads: Vec::new(),
                in_place: Vec::new(),
                latency: false,
                precision: 0.01,
                budget_seconds: 1.0,
                seed: 1,
            },
            cases: 2,
            libraries: vec![(None, library)],
            store: None,
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
        let mask = |h: &mut JournalHead| {
            let (name, value) = ("OPENSSL_ia32cap".into(), Some("~0x2".into()));
            h.circumstances = vec![record::Circumstance { name, value, ..Default::default() }];
        };
        named(mask, "OPENSSL_ia32cap was ~0x2 then and is not set now");
        named(|h| h.libraries[0].1.id = "sha256:2".into(), "'/l.so' is another build");
        named(|h| h.libraries.clear(), "other algorithms");
        named(|h| h.cases = 3, "other algorithms");
    }
}
