//! For how long a case's processes run it untimed before their first sample: as long as the case itself shows
//! that it needs on this core.
//!
//! For how long a case's processes run it untimed before their first sample: as long as the case itself shows that it needs
//! on this core.
//!
//! Some of a case's processes settle for as long as any may; what they cost on the way says from when on nothing gets faster.
//! Every other process of a drawn tenth of the cases, and of those whose processes scatter, settles longer than was found
//! to be enough: where these cost less, it was not.

use base::analysis::{Estimator, Group, MIN_PER_PROCESS};
use base::model::{QuietRates, RawSample, Settling};
use rand::rngs::StdRng;
use rand::{Rng, RngExt as _};
use std::collections::BTreeMap;
use std::time::Duration;

/// What a process settles for at the least.
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

/// How a case settles.
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

    /// For the record.
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
        let sample = |process| RawSample {
            process,
            ops: 10,
            ticks: ticks + u64::from(process % 5),
            clock_before: 1.0,
            clock_after: 1.0,
            settled_us,
            ..RawSample::default()
        };
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
