//! Which change of configuration saves most: the same sum for each, and the difference with its own interval.

use crate::load::changes::{Change, improvements, losses};
use crate::load::document::Alternative;
use crate::load::formula::{Sum, sum};
use crate::load::inputs::Prices;
use crate::load::spec::Spec;
use crate::load::words::Regime;

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
        let then = sum(&change.spec, prices, regime);
        let cost = then.as_ref().map(Sum::total).ok();
        let saved = cost.as_ref().map(|cost| prices.figures.eval(&now.plus(cost, -1.0)));
        Alternative {
            change: change.text,
            cpu_us_per_s: cost.map(|cost| prices.figures.eval(&cost)),
            saves_us_per_s: saved,
            saves_share: saved.filter(|_| total != 0.0).map(|saved| saved.value / total),
            note: match then {
                Ok(then) if then.traffic.refused > base.traffic.refused => {
                    Some("some clients can no longer connect".to_owned())
                }
                Ok(_) => change.note.map(str::to_owned),
                Err(why) => Some(why.to_string()),
            },
        }
    };
    let changes = improvements(spec).into_iter().chain(losses(spec));
    let mut all: Vec<_> = changes.map(one).collect();
    let saving = |a: &Alternative| a.saves_us_per_s.map_or(f64::NEG_INFINITY, |s| s.value);
    all.sort_by(|a, b| saving(b).total_cmp(&saving(a)));
    all
}
