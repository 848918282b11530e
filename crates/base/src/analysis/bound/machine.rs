//! A core as an implementation sees it: what was measured, cut down to a tier.

use crate::analysis::bound::{Access, Basis, Bound, Core, Instruction, Level, Limit};
use crate::model::{Feature, Tier};

/// Bits of one block of AES, the unit in which vector work is counted.
pub(crate) const LANE_BITS: u32 = 128;

/// What does a round of AES: x86-64's instruction, or AArch64's two.
pub(crate) const ROUNDS: &[&str] =
    &["aesenc", "aesenclast", "aesdec", "aese+aesmc", "aesd+aesimc", "aese+aesmc-sve"];
/// AArch64's last round has the first of the two alone, and no cipher has fewer than ten.
const LAST_ROUND: &str = "aese";
const LAST_PART: f64 = 0.1;
/// What multiplies polynomials.
pub(crate) const CARRYLESS: &[&str] = &["pclmulqdq", "pmull.1q", "pmullb-sve"];

/// A core under a tier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine<'a> {
    core: &'a Core,
    tier: Tier,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(core: &'a Core, tier: Tier) -> Self {
        Self { core, tier }
    }

    /// Whether AES instructions may be used.
    pub(crate) fn has_aes(&self) -> bool {
        ROUNDS.iter().any(|name| self.per_cycle(name, 128).is_some())
    }

    /// Whether carry-less multiplication may be used.
    pub(crate) fn has_products(&self) -> bool {
        !self.widths(CARRYLESS).is_empty()
    }

    /// Each width at which rounds of AES may be done: lanes, and cycles of a cipher's average round.
    pub(crate) fn rounds(&self) -> Vec<(f64, f64)> {
        let whole = self.widths(ROUNDS);
        let Some(last) = self.per_cycle(LAST_ROUND, LANE_BITS).map(|rate| 1.0 / rate) else {
            return whole;
        };
        whole.into_iter().map(|(lanes, cycles)| (lanes, average_round(cycles, last))).collect()
    }

    /// Cycles from one round of AES to the next that needs it.
    pub(crate) fn round_latency(&self) -> Option<f64> {
        let whole = ["aese+aesmc", "aesd+aesimc"].iter().filter_map(|name| self.latency(name));
        let average = || {
            let whole = whole.min_by(f64::total_cmp)?;
            Some(average_round(whole, self.latency(LAST_ROUND)?))
        };
        self.latency("aesenc").or_else(average)
    }

    /// Whether SHA instructions may be used.
    pub(crate) fn has_sha(&self) -> bool {
        self.tier.shows(Feature::Sha)
    }

    /// Widest registers that instructions may work on which have a narrow form and a wide one. AArch64's work on 128
    /// bits, but for SVE's.
    fn most_bits(&self, narrow: Option<Feature>, wide: Feature) -> u32 {
        if narrow.is_some_and(|feature| !self.tier.shows(feature)) {
            0
        } else if !self.tier.shows(wide) {
            128
        } else if self.tier.shows(Feature::Avx512) {
            512
        } else {
            256
        }
    }

    fn allowed(&self, i: &Instruction) -> bool {
        let (name, tier) = (i.name.as_str(), self.tier);
        // What AArch64's tiers hide beside widths.
        let hidden = name.ends_with("-sve") && !tier.shows(Feature::Sve)
            || matches!(name, "eor3.16b" | "sha512h") && !tier.shows(Feature::Sha3);
        let most = if name.starts_with("aes") {
            self.most_bits(Some(Feature::Aes), Feature::Vaes)
        } else if CARRYLESS.contains(&name) {
            self.most_bits(Some(Feature::Clmul), Feature::Vpclmul)
        } else {
            self.most_bits(None, Feature::Avx2)
        };
        !hidden && i.width_bits <= most
    }

    /// The instruction at a width, as far as the tier has it.
    fn find(&self, name: &str, width_bits: u32) -> Option<&'a Instruction> {
        let all = self.core.instructions.iter();
        all.filter(|i| self.allowed(i)).find(|i| i.name == name && i.width_bits == width_bits)
    }

    /// Independent ones a cycle.
    pub(crate) fn per_cycle(&self, name: &str, width_bits: u32) -> Option<f64> {
        self.find(name, width_bits).map(|i| i.per_cycle).filter(|rate| *rate > 0.0)
    }

    /// Cycles from one to the next that depends on it, at the narrowest width that is known.
    pub(crate) fn latency(&self, name: &str) -> Option<f64> {
        let all = self.core.instructions.iter().filter(|i| self.allowed(i) && i.name == name);
        all.min_by_key(|i| i.width_bits).and_then(|i| i.latency_cycles)
    }

    /// Each width at which one of the instructions may be used: lanes of 128 bits, and cycles of
    /// the fastest of them.
    pub(crate) fn widths(&self, names: &[&str]) -> Vec<(f64, f64)> {
        [128, 256, 512]
            .into_iter()
            .filter_map(|bits| {
                let rates = names.iter().filter_map(|name| self.per_cycle(name, bits));
                let best = rates.fold(0.0, f64::max);
                (best > 0.0).then(|| (f64::from(bits / LANE_BITS), 1.0 / best))
            })
            .collect()
    }

    /// The largest relative spread among the instructions that may be used.
    pub(crate) fn spread(&self, names: &[&str]) -> f64 {
        let all = self.core.instructions.iter().filter(|i| self.allowed(i));
        all.filter(|i| names.contains(&i.name.as_str())).map(|i| i.spread).fold(0.0, f64::max)
    }

    /// What takes so many cycles by these instructions.
    pub(crate) fn limit(&self, cycles: f64, (by, basis): (Bound, Basis), names: &[&str]) -> Limit {
        Limit { cycles, by, basis, spread: self.spread(names) }
    }

    /// Chain steps that two messages can overlap by.
    pub(crate) fn window(&self) -> Option<f64> {
        self.core.window
    }

    /// Cycles for one byte of a level, and the spread of that figure.
    pub(crate) fn per_byte(&self, level: Level, access: Access) -> Option<(f64, f64)> {
        let mut all = self.core.bandwidths.iter();
        let found = all.find(|b| b.level == level && b.access == access)?;
        (found.bytes_per_cycle > 0.0).then(|| (1.0 / found.bytes_per_cycle, found.spread))
    }

    /// Cycles in which so many rounds of AES and products of polynomials are done, at the most favourable widths that
    /// were measured together.
    pub(crate) fn rounds_beside_products(&self, rounds: f64, products: f64) -> Option<f64> {
        let x86 = self.shared(("aesenc", rounds), ("pclmulqdq", products));
        x86.or_else(|| {
            // Wider ones were not measured together, and may do better.
            let [(_, whole)] = self.widths(ROUNDS)[..] else { return None };
            let [_] = self.widths(CARRYLESS)[..] else { return None };
            // Last rounds are less work.
            let part = self.rounds().first()?.1 / whole;
            self.shared(("aese+aesmc", rounds * part), ("pmull.1q", products))
        })
    }

    /// Cycles in which at least `lanes` and `second_lanes` of 128 bits go through two instructions
    /// that wait for the same units, at the most favourable widths that were measured together.
    ///
    /// With T(a, b) the least time for a of the one and b of the other: T never falls when work is
    /// added, and two programs one after the other take no less than the best joint one, so for a ≥ b
    /// T(a, b) ≥ a·T(1, 1) − (a − b)·T(0, 1), and likewise with the two exchanged.
    pub(crate) fn shared(&self, first: (&str, f64), second: (&str, f64)) -> Option<f64> {
        let (mut least, mut known) = (f64::INFINITY, 0);
        for pair in self.core.pairs.iter().filter(|p| p.first == first.0 && p.second == second.0) {
            let (Some(one), Some(other)) = (
                self.per_cycle(first.0, pair.width_bits),
                self.per_cycle(second.0, pair.second_width_bits),
            ) else {
                continue;
            };
            let lanes = |bits: u32| f64::from(bits / LANE_BITS);
            let (a, b) =
                (first.1 / lanes(pair.width_bits), second.1 / lanes(pair.second_width_bits));
            let together = 1.0 / pair.per_cycle;
            let bound =
                if a >= b { a * together - (a - b) / other } else { b * together - (b - a) / one };
            least = least.min(bound.max(a / one).max(b / other));
            known += 1;
        }
        (known > 0).then_some(least)
    }
}

/// Cycles of a round of AES, of which a tenth are last ones.
fn average_round(whole: f64, last: f64) -> f64 {
    whole * (1.0 - LAST_PART) + whole.min(last) * LAST_PART
}

/// The least time in which instructions of these widths go over `lanes` lanes once. Each entry is
/// lanes and cycles of one instruction; whole instructions only, unless a register may hold lanes of
/// `several` operations.
pub(crate) fn cover(lanes: f64, widths: &[(f64, f64)], several: bool) -> f64 {
    let best = widths.iter().map(|(l, t)| t / l).fold(f64::INFINITY, f64::min);
    // Past a few registers the last one no longer decides, and any split of them is allowed for.
    if several || lanes > 64.0 {
        return lanes * best;
    }
    let lanes = lanes.ceil() as usize;
    let mut least = vec![0.0_f64; lanes + 1];
    for n in 1..=lanes {
        let cost = |(l, t): &(f64, f64)| t + least[n.saturating_sub(*l as usize)];
        least[n] = widths.iter().map(cost).fold(f64::INFINITY, f64::min);
    }
    least[lanes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_block_cannot_fill_a_wide_register() {
        let widths = [(1.0, 0.5), (2.0, 0.5), (4.0, 1.0)];
        assert_eq!(cover(0.0, &widths, false), 0.0);
        assert_eq!(cover(1.0, &widths, false), 0.5);
        assert_eq!(cover(2.0, &widths, false), 0.5);
        assert_eq!(cover(3.0, &widths, false), 1.0);
        assert_eq!(cover(5.0, &widths, false), 1.5);
        assert_eq!(cover(4096.0, &widths, false), 1024.0);
        assert_eq!(cover(1.0, &widths, true), 0.25);
    }

    #[test]
    fn aarch64_does_a_round_by_two_instructions_and_the_last_by_one() {
        let core = crate::analysis::bound::fixtures::aarch64();
        let machine = |tier| Machine::new(&core, tier);
        assert!(machine(Tier::Aes).has_aes() && !machine(Tier::Noaes).has_aes());
        assert_eq!(machine(Tier::Native).rounds(), [(1.0, 0.9 * 1.0 + 0.1 * 0.5)]);
        assert_eq!(machine(Tier::Native).round_latency(), Some(0.9 * 4.0 + 0.1 * 2.0));
        let wide = |tier| machine(tier).widths(&["eor.16b", "eor-sve"]).len();
        assert_eq!((wide(Tier::Native), wide(Tier::Nosve), wide(Tier::Noaes)), (2, 1, 1));
        let fused = |name| machine(name).per_cycle("eor3.16b", 128).is_some();
        assert!(fused(Tier::Nosve) && !fused(Tier::Aes));
    }

    #[test]
    fn narrow_tiers_have_narrow_instructions() {
        let core = crate::analysis::bound::fixtures::zen4();
        let native = Machine::new(&core, Tier::Native);
        let lanes = |tier| {
            let widths = Machine::new(&core, tier).widths(&["aesenc"]);
            widths.iter().map(|w| w.0).fold(0.0, f64::max)
        };
        assert!(native.has_aes());
        assert_eq!([Tier::Native, Tier::Vaes256, Tier::Aesni].map(lanes), [4.0, 2.0, 1.0]);
        assert!(!Machine::new(&core, Tier::Noaes).has_aes());
        assert!(!Machine::new(&core, Tier::Baseline).has_aes());
        let wide = Machine::new(&core, Tier::Noaes).widths(&["pxor"]);
        assert_eq!(wide.last().map(|w| w.0), Some(2.0));
    }

    #[test]
    fn instructions_that_share_all_their_units_take_their_times_together() {
        let mut core = crate::analysis::bound::fixtures::zen4();
        let machine = |core: &Core| {
            Machine::new(core, Tier::Native).shared(("aesenc", 40.0), ("pclmulqdq", 12.0)).unwrap()
        };
        // Apart: 10 and 6 cycles, the longer of which counts.
        assert!((machine(&core) - 10.0).abs() < 1e-9);
        for p in &mut core.pairs {
            p.per_cycle = if p.width_bits == 512 { 1.0 / 3.0 } else { 1.0 / 2.5 };
        }
        // Together: the sum; narrower registers need twice as many instructions.
        assert!((machine(&core) - 16.0).abs() < 1e-9);
    }
}
