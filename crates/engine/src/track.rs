//! A case on its way: what was sampled of it, and how it ended.

use crate::protocol::{Finding, Visit};
use crate::schedule::PROCESSES;
use crate::setting::Setting;
use analysis::{MIN_PER_PROCESS, of_visits};
use model::{Case, QuietRates, RawSample, Tier};
use rand::rngs::{StdRng, SysRng};
use rand::{RngExt as _, SeedableRng as _};
use record::{JournalSample, Latencies, Stopped};
use std::borrow::Cow;
use std::time::Duration;

/// Visits of a case in one pass at most: twice what a process needs of clean samples for its median to
/// count. Where fewer than half of the samples are clean, more of the same would not be either.
pub(crate) const MOST_VISITS: u32 = 2 * MIN_PER_PROCESS as u32;

/// Samples of a process that takes them because they do not agree.
const MOST_IN_A_ROW: u32 = 5;

/// A case on its way.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    /// Index of the case in the plan.
    pub(crate) index: usize,
    pub(crate) case: Case,
    /// Index of the processes that sample it: those of its library at its tier.
    pub(crate) bank: usize,
    pub(crate) samples: Vec<RawSample>,
    pub(crate) end: Option<End>,
    /// Single operations, of each visit that timed some.
    pub(crate) latencies: Vec<Latencies>,
    pub(crate) setting: Setting,
    ops: Option<u32>,
    pub(crate) visits: u32,
    /// The sample that every check is made behind: one of those that every case has.
    checked_at: u32,
    /// Whether it was, or is asked for.
    checked: Checked,
    pub(crate) pass: Pass,
    /// Processes at which it is next asked whether it is precise enough.
    pub(crate) next_look: usize,
}

/// Whether a case has had every check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checked {
    NotYet,
    /// Until there is a sample of it, it was not.
    Asked,
    Done,
}

/// What a case got of the pass that is going on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass {
    pub(crate) visits: u32,
    pub(crate) clean: usize,
}

impl Pass {
    pub(crate) fn is_done(self) -> bool {
        self.clean >= MIN_PER_PROCESS || self.visits >= MOST_VISITS
    }
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Stopped(Stopped),
    Found(Finding),
}

impl Track {
    /// A case to sample, with what an earlier part of the run has of it.
    pub(crate) fn new(index: usize, case: Case, setting: Setting) -> Self {
        Self {
            index,
            case,
            bank: 0,
            samples: Vec::new(),
            end: None,
            latencies: Vec::new(),
            setting,
            ops: None,
            visits: 0,
            checked_at: drawn((PROCESSES * MIN_PER_PROCESS) as u32),
            checked: Checked::NotYet,
            pass: Pass::default(),
            next_look: PROCESSES,
        }
    }

    /// With what an earlier part of the run has of it. A visit of several threads that was cut off
    /// does not count.
    pub(crate) fn continued(mut self, earlier: Vec<JournalSample>) -> Self {
        let threads = self.case.threads.max(1) as usize;
        let whole = earlier.len() / threads * threads;
        for entry in earlier.into_iter().take(whole) {
            self.samples.push(entry.sample);
            self.latencies.extend(entry.latency);
        }
        self.ops = self.samples.first().map(|s| s.ops);
        self.visits = (whole / threads) as u32;
        self
    }

    /// Whether there can be as many processes as its next look needs.
    pub(crate) fn is_due(&self) -> bool {
        self.visits as usize >= MIN_PER_PROCESS * self.next_look
    }

    /// One sample for each visit, whatever the number of threads.
    pub(crate) fn of_visits(&self, quiet: &QuietRates) -> Cow<'_, [RawSample]> {
        of_visits(&self.samples, self.case.threads, quiet)
    }

    pub(crate) fn bank_key(&self) -> (usize, Tier) {
        (self.case.library, self.case.tier)
    }

    /// What to ask for next.
    pub(crate) fn visit(&mut self) -> Visit {
        let samples = (MIN_PER_PROCESS - self.pass.clean.min(MIN_PER_PROCESS - 1)) as u32;
        let due = self.checked_at < self.visits + samples;
        let every_check = due && self.checked != Checked::Done;
        if every_check {
            self.checked = Checked::Asked;
        }
        Visit {
            algorithm: self.case.algorithm.clone(),
            direction: self.case.direction,
            model: self.case.model,
            size: self.case.size,
            footprint: self.case.footprint,
            in_place: self.case.in_place,
            walk_bytes: self.setting.walk_bytes,
            cpus: self.setting.cpus.clone(),
            latency_ops: self.setting.latency_ops,
            ops: self.ops,
            samples,
            most: if self.case.threads > 1 { samples } else { MOST_IN_A_ROW },
            every_check,
        }
    }

    /// Every later batch has as many operations as this one.
    pub(crate) fn freeze(&mut self, sample: &RawSample) {
        self.ops = Some(sample.ops);
    }

    pub(crate) fn take(&mut self, samples: &[RawSample], latency: Option<Latencies>) {
        samples.iter().for_each(|sample| self.freeze(sample));
        if self.checked == Checked::Asked {
            self.checked = Checked::Done;
        }
        self.visits += 1;
        self.pass.visits += 1;
        self.samples.extend(samples);
        self.latencies.extend(latency);
    }

    /// Longest wait for a sample of this case. The slowest software known does some megabytes a
    /// second, and calibration, warm-up, reference and sample are some ten operations in each thread;
    /// memory to walk through is filled at some hundred megabytes a second where it is scattered.
    pub(crate) fn deadline(&self) -> Duration {
        let threads = u64::from(self.case.threads.max(1));
        let walked = self.setting.walk_bytes.unwrap_or(0) as u64;
        let (operations, filling) = (8 * self.case.size as u64 * threads, walked * threads / 20);
        Duration::from_secs(3) + Duration::from_micros(operations + filling)
    }
}

/// A number below the bound that no library can foresee: from the kernel, not from the run's seed, which workers know.
fn drawn(below: u32) -> u32 {
    let mut rng = StdRng::try_from_rng(&mut SysRng).expect("the kernel has random numbers");
    rng.random_range(0..below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Direction, Footprint, Model};

    fn track() -> Track {
        let case = Case {
            library: 0,
            algorithm: "aes-128-ctr".into(),
            direction: Direction::Encrypt,
            model: Model::Message,
            size: 16,
            tier: Tier::Native,
            threads: 1,
            footprint: Footprint::Hot,
            in_place: false,
        };
        Track::new(0, case, Setting::default())
    }

    #[test]
    fn one_of_the_visits_that_every_case_has_makes_every_check_and_a_lost_one_is_asked_for_again() {
        for at in 0..(PROCESSES * MIN_PER_PROCESS) as u32 {
            let mut track = Track { checked_at: at, ..track() };
            let mut made = 0;
            for process in 0..PROCESSES as u32 {
                track.pass = Pass::default();
                let asked = track.visit().every_check;
                // Its worker died, and it is asked for once more.
                assert_eq!(track.visit().every_check, asked, "{at}");
                made += usize::from(asked);
                // Two samples, or more because they did not agree.
                let samples = 2 + (process + at) % 4;
                (0..samples).for_each(|_| track.take(&[RawSample::default()], None));
            }
            assert_eq!(made, 1, "{at}");
        }
    }
}
