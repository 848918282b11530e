//! Several surveys of one machine as one record, so that they can be kept, shown and judged again.

use record::{Library, Record};

/// The records in one: host, clock and limits of the first; libraries, plans, counts and measurements
/// of all. `None` of none.
#[must_use]
pub fn merged(records: Vec<Record>) -> Option<Record> {
    let mut records = records.into_iter();
    let mut first = records.next()?;
    for record in records {
        first.measuring_seconds += record.measuring_seconds;
        first.measurements.extend(record.measurements);
        first.executed.extend(record.executed);
        first.fits.extend(record.fits);
        for library in record.libraries {
            add_library(&mut first.libraries, library);
        }
        for floor in record.limits.floors {
            let same = |f: &base::analysis::bound::Floor| {
                (&f.algorithm, f.direction, f.model, f.tier)
                    == (&floor.algorithm, floor.direction, floor.model, floor.tier)
            };
            if !first.limits.floors.iter().any(same) {
                first.limits.floors.push(floor);
            }
        }
        // Samples of several runs, each disturbed in its own way: said of the whole or not at all.
        if let (Some(noise), Some(more)) = (&mut first.noise, record.noise) {
            noise.samples += more.samples;
            noise.clean += more.clean;
            for why in base::model::Disturbance::ALL {
                noise.disturbed.add(why, more.disturbed.of(why));
            }
            noise.stolen_seconds =
                noise.stolen_seconds.zip(more.stolen_seconds).map(|(a, b)| a + b);
        }
        let (plan, more) = (&mut first.plan, record.plan);
        add(&mut plan.algorithms, more.algorithms);
        add(&mut plan.sizes, more.sizes);
        add(&mut plan.models, more.models);
        add(&mut plan.directions, more.directions);
        add(&mut plan.tiers, more.tiers);
        plan.budget_seconds += more.budget_seconds;
    }
    first.plan.sizes.sort_unstable();
    Some(first)
}

fn add<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for value in more {
        if !all.contains(&value) {
            all.push(value);
        }
    }
}

fn add_library(libraries: &mut Vec<Library>, library: Library) {
    match libraries.iter_mut().find(|l| l.path == library.path && l.id == library.id) {
        Some(known) => {
            add(&mut known.calls, library.calls);
            add(&mut known.tiers, library.tiers);
        }
        None => libraries.push(library),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::sample;

    #[test]
    fn what_was_measured_apart_stands_in_one_record_and_each_library_once() {
        let one = sample::record();
        let mut two = one.clone();
        two.plan.sizes = vec![16];
        two.libraries[0].calls.clear();
        let both = merged(vec![one.clone(), two]).unwrap();
        assert_eq!(both.measurements.len(), 2 * one.measurements.len());
        assert_eq!(both.libraries, one.libraries);
        assert!(both.plan.sizes.starts_with(&[16]));
        record::from_json(&record::to_json(&both), "both").unwrap();
        assert_eq!(merged(Vec::new()), None);
    }
}
