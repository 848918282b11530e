//! Fitted lines, calls and executed instructions: as in the record, with numbers for the names.

use super::names::Names;
use crate::page::text::tidy;
use base::model::Direction;
use record::{Executed, Fit, LibraryId, Record};
use serde::Serialize;
use serde_json::{Value, json};

/// The fitted lines.
pub(crate) fn fits(record: &Record, names: &mut Names) -> Vec<Value> {
    let mut value = |fit: &Fit| {
        let what = Numbers::of(&fit.library, &fit.algorithm, fit.direction, names);
        what.into_fields_of(fit, fit.model.name(), fit.tier.name(), names)
    };
    record.fits.iter().map(&mut value).collect()
}

/// What was executed.
pub(crate) fn executed(record: &Record, names: &mut Names) -> Vec<Value> {
    let mut value = |e: &Executed| {
        let what = Numbers::of(&e.library, &e.algorithm, e.direction, names);
        what.into_fields_of(e, e.model.name(), e.tier.name(), names)
    };
    record.executed.iter().map(&mut value).collect()
}

/// What runs inside the clock in the model `message`.
pub(crate) fn calls(record: &Record, names: &mut Names) -> Vec<Value> {
    let mut all = Vec::new();
    for l in &record.libraries {
        let id = l.identity();
        for call in &l.calls {
            let what = Numbers::of(&id, &call.algorithm, call.direction, names);
            let functions = call.functions.as_deref().map(|f| names.texts.number(f));
            let rekey = call.rekey_functions.as_deref().map(|f| names.texts.number(f));
            all.push(json!([
                what.library,
                what.algorithm,
                what.direction,
                functions,
                u8::from(call.copies),
                u8::from(call.allocates),
                rekey
            ]));
        }
    }
    all
}

/// Which library, algorithm and direction, by number.
struct Numbers {
    library: usize,
    algorithm: usize,
    direction: usize,
}

impl Numbers {
    fn of(id: &LibraryId, algorithm: &str, direction: Direction, names: &mut Names) -> Self {
        Self {
            library: names.library(id),
            algorithm: names.algorithms.number(algorithm),
            direction: names.directions.number(direction.name()),
        }
    }

    /// The entry with numbers in the places of its names.
    fn into_fields_of(
        self,
        entry: &impl Serialize,
        model: &str,
        tier: &str,
        names: &mut Names,
    ) -> Value {
        let mut value = tidy(serde_json::to_value(entry).expect("plain data"));
        value["library"] = self.library.into();
        value["algorithm"] = self.algorithm.into();
        value["direction"] = self.direction.into();
        value["model"] = names.models.number(model).into();
        value["tier"] = names.tiers.number(tier).into();
        if let Some(footprint) = value.get("footprint").and_then(Value::as_str).map(str::to_owned) {
            value["footprint"] = names.footprints.number(&footprint).into();
        }
        value
    }
}
