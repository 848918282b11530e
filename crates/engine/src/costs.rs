//! What follows from several measurements together: key set-up, fitted lines.

use base::analysis::{Line, fit_line};
use base::model::Model;
use record::{Fit, KeySetup, Measurement, State};
use std::collections::BTreeMap;

/// Everything that two cases have in common which differ in their size only.
type Series<'a> = (
    &'a record::LibraryId,
    &'a str,
    base::model::Direction,
    Model,
    base::model::Tier,
    u32,
    base::model::Footprint,
    bool,
);

fn series(m: &Measurement, model: Model) -> Series<'_> {
    let Measurement { library, algorithm, direction, tier, threads, footprint, in_place, .. } = m;
    (library, algorithm, *direction, model, *tier, *threads, *footprint, *in_place)
}

/// Sets what a new key costs, where both models were measured.
pub(crate) fn set_key_setup(measurements: &mut [Measurement]) {
    let setups: Vec<Option<KeySetup>> = {
        let of = |m: &Measurement| Some((m.ns_per_op?.median, m.cycles_per_op.map(|c| c.median)));
        let messages: BTreeMap<_, _> = measurements
            .iter()
            .filter(|m| m.model == Model::Message && m.state == State::Measured)
            .filter_map(|m| Some(((series(m, Model::Message), m.size), of(m)?)))
            .collect();
        let setup = |m: &Measurement| {
            if m.model != Model::Rekey || m.state != State::Measured {
                return None;
            }
            let ((ns, cycles), (less_ns, less_cycles)) =
                (of(m)?, messages.get(&(series(m, Model::Message), m.size))?);
            let cycles = cycles.zip(*less_cycles).map(|(all, less)| all - less);
            Some(KeySetup { ns: ns - less_ns, cycles })
        };
        measurements.iter().map(setup).collect()
    };
    for (m, setup) in measurements.iter_mut().zip(setups) {
        m.key_setup = setup;
    }
}

/// The line through each series of measured sizes that is long enough.
pub(crate) fn fits(measurements: &[Measurement]) -> Vec<Fit> {
    let mut found: BTreeMap<Series<'_>, BTreeMap<usize, &Measurement>> = BTreeMap::new();
    for m in measurements.iter().filter(|m| m.state == State::Measured) {
        found.entry(series(m, m.model)).or_default().insert(m.size, m);
    }
    found.into_values().filter_map(|sizes| fit(&sizes)).collect()
}

fn fit(sizes: &BTreeMap<usize, &Measurement>) -> Option<Fit> {
    let any = *sizes.values().next()?;
    let line = |time: fn(&Measurement) -> Option<f64>| -> Option<Line> {
        let points: Option<Vec<_>> =
            sizes.iter().map(|(size, m)| Some((*size as f64, time(m)?))).collect();
        fit_line(&points?)
    };
    let ns = line(|m| m.ns_per_op.map(|e| e.median))?;
    let cycles = line(|m| m.cycles_per_op.map(|e| e.median));
    Some(Fit {
        library: any.library.clone(),
        algorithm: any.algorithm.clone(),
        direction: any.direction,
        model: any.model,
        tier: any.tier,
        threads: any.threads,
        footprint: any.footprint,
        in_place: any.in_place,
        sizes: sizes.keys().copied().collect(),
        ns_per_message: ns.intercept,
        ns_per_byte: ns.slope,
        cycles_per_message: cycles.map(|c| c.intercept),
        cycles_per_byte: cycles.map(|c| c.slope),
        residual: ns.residual,
        half_speed_bytes: ns.half_speed(),
        linear: ns.is_linear(),
    })
}
