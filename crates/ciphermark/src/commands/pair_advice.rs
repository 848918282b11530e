//! Advice if pairs of processes give no verdict.

use base::analysis::LOOKS;
use engine::PairOutcome;
use std::time::Duration;

/// One line about what would give a verdict.
pub fn advice(o: &PairOutcome, margin: f64, budget: Duration) -> String {
    let most = LOOKS[LOOKS.len() - 1].pairs;
    let Some(ratio) = o.ratio else {
        return format!(
            "the budget was spent after {} of the {} pairs that a verdict needs: --budget {}",
            o.pairs.len(),
            LOOKS[0].pairs,
            longer(budget, 3.0)
        );
    };
    let half = (ratio.high / ratio.low).ln() / 2.0;
    let distance = ratio.estimate.ln().abs();
    // The interval has to lie within the margin, or clear of no difference.
    let room = if distance <= margin { margin - distance } else { distance };
    let wider =
        format!("--margin {:.1}% if differences so small do not matter", widest(ratio) * 100.0);
    let mut text = if o.pairs.len() >= most {
        format!("{most} pairs are the maximum: {wider}")
    } else if half > 6.0 * room {
        format!("more time would hardly help: {wider}")
    } else {
        let times = (half / room.max(1e-9)).powi(2).clamp(2.0, 30.0);
        format!("--budget {} may help; {wider}", longer(budget, times))
    };
    if o.disturbed.total() * 2 > o.samples as u64 {
        text += "; most samples were disturbed: a quieter machine helps (`ciphermark doctor`)";
    }
    text
}

/// The margin within which the two would have been the same, as far as is known, rounded up.
fn widest(ratio: base::analysis::Ratio) -> f64 {
    let most = (ratio.high - 1.0).max(1.0 / ratio.low - 1.0);
    // A hair less: 0.004 is a little more in binary.
    (most * 1000.0 - 1e-9).ceil() / 1000.0
}

fn longer(budget: Duration, times: f64) -> String {
    format!("{:.0}s", (budget.as_secs_f64() * times).max(1.0).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::analysis::{Ratio, Verdict};
    use record::Disturbances;

    fn outcome(pairs: usize, ratio: Option<(f64, f64, f64)>) -> PairOutcome {
        PairOutcome {
            verdict: Verdict::Undecided,
            ratio: ratio.map(|(low, estimate, high)| Ratio { estimate, low, high, level: 0.999 }),
            pairs: vec![(1.0, 1.0); pairs],
            unit: "cycles",
            seconds: 1.0,
            sampling_seconds: 1.0,
            samples: 100,
            disturbed: Disturbances::default(),
        }
    }

    fn said(outcome: &PairOutcome) -> String {
        advice(outcome, 0.002, Duration::from_secs(20))
    }

    #[test]
    fn the_advice_is_what_the_interval_lacks() {
        let few = said(&outcome(7, None));
        assert!(few.contains("after 7 of the 12 pairs") && few.ends_with("--budget 60s"), "{few}");
        let near = said(&outcome(40, Some((0.999, 1.003, 1.007))));
        assert!(near.starts_with("--budget 40s may help; --margin 0.7%"), "{near}");
        let hopeless = said(&outcome(40, Some((0.96, 1.0019, 1.05))));
        assert!(hopeless.starts_with("more time would hardly help"), "{hopeless}");
        let all = said(&outcome(192, Some((0.998, 1.001, 1.004))));
        assert!(
            all.starts_with("192 pairs are the maximum") && all.contains("--margin 0.4%"),
            "{all}"
        );
    }

    #[test]
    fn a_busy_machine_is_named_where_most_samples_were_disturbed() {
        let mut busy = outcome(40, Some((0.999, 1.003, 1.007)));
        assert!(!said(&busy).contains("disturbed"));
        busy.disturbed.contended = 51;
        assert!(said(&busy).contains("most samples were disturbed"));
    }
}
