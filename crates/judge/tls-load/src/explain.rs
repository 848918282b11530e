//! Which change of configuration saves most: the same sum for each, and the difference with its own interval.

use crate::changes::{Change, improvements, losses};
use crate::document::Alternative;
use crate::formula::{Sum, sum};
use crate::inputs::Prices;
use crate::spec::Spec;
use crate::words::Regime;

/// Prices all changes that make sense for a specification, the most saving first; those without a price last.
pub(crate) fn alternatives(
    spec: &Spec,
    prices: &Prices,
    regime: Regime,
    base: &Sum,
) -> Vec<Alternative> {
    let now = base.total();
    let total = prices.figures.eval(&now).value;
    let one = |change: Change| {
        let note = change.note.map(str::to_owned);
        match sum(&change.spec, prices, regime) {
            Ok(then) => {
                let refuses = then.traffic.refused > base.traffic.refused;
                let saved = prices.figures.eval(&now.plus(&then.total(), -1.0));
                Alternative {
                    change: change.text,
                    cpu_us_per_s: Some(prices.figures.eval(&then.total())),
                    saves_us_per_s: Some(saved),
                    saves_share: (total != 0.0).then(|| saved.value / total),
                    note: if refuses {
                        Some("some clients can no longer connect".to_owned())
                    } else {
                        note
                    },
                }
            }
            Err(why) => Alternative {
                change: change.text,
                cpu_us_per_s: None,
                saves_us_per_s: None,
                saves_share: None,
                note: Some(why.to_string()),
            },
        }
    };
    let changes = improvements(spec).into_iter().chain(losses(spec));
    let mut all: Vec<_> = changes.map(one).collect();
    let saving = |a: &Alternative| a.saves_us_per_s.map_or(f64::NEG_INFINITY, |s| s.value);
    all.sort_by(|a, b| saving(b).total_cmp(&saving(a)));
    all
}
