//! Operations of a library on messages or a stream.

use super::{PROCESSES, Pass};
use crate::protocol::Visit;
use crate::setting::Setting;
use base::analysis::MIN_PER_PROCESS;
use base::model::Case;
use rand::rngs::{StdRng, SysRng};
use rand::{RngExt as _, SeedableRng as _};
use std::time::Duration;

/// Visits of a case in one pass at most: twice what a process needs of clean samples for its median to
/// count. Where fewer than half of the samples are clean, more of the same would not be either.
pub(crate) const MOST_VISITS: u32 = 2 * MIN_PER_PROCESS as u32;

/// Samples of a process that takes them because they do not agree.
const MOST_IN_A_ROW: u32 = 5;

/// A case of one library.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) case: Case,
    pub(crate) setting: Setting,
    /// The sample that every check is made behind: one of those that every case has.
    checked_at: u32,
    /// Whether it was, or is asked for.
    checked: Checked,
}

/// Whether a case has had every check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checked {
    NotYet,
    /// Until there is a sample of it, it was not.
    Asked,
    Done,
}

impl Message {
    pub(crate) fn new(case: Case, setting: Setting) -> Self {
        let checked_at = drawn((PROCESSES * MIN_PER_PROCESS) as u32);
        Self { case, setting, checked_at, checked: Checked::NotYet }
    }

    /// Until there is a sample of the visit that makes every check, it was not made.
    pub(crate) fn is_sampled(&mut self) {
        if self.checked == Checked::Asked {
            self.checked = Checked::Done;
        }
    }

    pub(crate) fn visit(&mut self, pass: Pass, taken: u32, ops: Option<u32>) -> Visit {
        let samples = (MIN_PER_PROCESS - pass.clean.min(MIN_PER_PROCESS - 1)) as u32;
        let due = self.checked_at < taken + samples;
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
            settle_us: 0,
            ops,
            samples,
            most: if self.case.threads > 1 { samples } else { MOST_IN_A_ROW },
            every_check,
        }
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

pub(super) fn is_done(pass: Pass) -> bool {
    pass.clean >= MIN_PER_PROCESS || pass.taken >= MOST_VISITS
}

/// A number below the bound that no library can foresee: from the kernel, not from the run's seed, which workers know.
fn drawn(below: u32) -> u32 {
    let mut rng = StdRng::try_from_rng(&mut SysRng).expect("the kernel has random numbers");
    rng.random_range(0..below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::{Direction, Footprint, Model, Tier};

    fn message(checked_at: u32) -> Message {
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
        Message { checked_at, ..Message::new(case, Setting::default()) }
    }

    #[test]
    fn one_of_the_visits_that_every_case_has_makes_every_check_and_a_lost_one_is_asked_for_again() {
        for at in 0..(PROCESSES * MIN_PER_PROCESS) as u32 {
            let (mut message, mut made, mut visits) = (message(at), 0, 0);
            for process in 0..PROCESSES as u32 {
                let asked = message.visit(Pass::default(), visits, None).every_check;
                // Its worker died, and it is asked for once more.
                let again = message.visit(Pass::default(), visits, None).every_check;
                assert_eq!(asked, again, "{at}");
                made += usize::from(asked);
                message.is_sampled();
                // Two samples, or more because they did not agree.
                visits += 2 + (process + at) % 4;
            }
            assert_eq!(made, 1, "{at}");
        }
    }
}
