//! A case on its way: what was sampled of it, and how it ended.

use crate::kinds::{Ends, Facts, Judged, PILOT, PROCESSES, Pass, Subject, Visit};
use crate::protocol::{Finding, Other};
use crate::settling::CaseSettling;
use base::analysis::{MIN_PER_PROCESS, of_visits};
use base::model::{OtherEnd, QuietRates, RawSample};
use record::tls::HandshakeSample;
use record::{JournalSample, Latencies, Stopped};
use std::borrow::Cow;
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
