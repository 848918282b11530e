//! What a case is beside its library.

use base::model::{Algorithm, Direction, Footprint, Model, Tier};
use record::Measurement;
use serde::Serialize;

/// A case without its library: what two cases must have in common to be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Case {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Bytes of plaintext in one operation.
    pub size: usize,
    /// Which CPU instructions the library may see; of two tiers that are compared, the new one.
    pub tier: Tier,
    /// Threads measuring at once.
    pub threads: u32,
    /// Working set.
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    pub in_place: bool,
    /// What else tells it from others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub setting: String,
}

impl Case {
    /// The case of a measurement.
    #[must_use]
    pub fn of(m: &Measurement) -> Self {
        Self {
            algorithm: m.algorithm.clone(),
            direction: m.direction,
            model: m.model,
            size: m.size,
            tier: m.tier,
            threads: m.threads,
            footprint: m.footprint,
            in_place: m.in_place,
            setting: m.setting.clone(),
        }
    }
}

/// What a [`Case`] has, borrowed, in the same order.
pub(crate) type Borrowed<'a> =
    (&'a str, Direction, Model, usize, Tier, u32, Footprint, bool, &'a str);

/// The case of a measurement, without a copy of its names.
pub(crate) fn borrowed(m: &Measurement) -> Borrowed<'_> {
    let (footprint, in_place, setting) = (m.footprint, m.in_place, m.setting.as_str());
    (&m.algorithm, m.direction, m.model, m.size, m.tier, m.threads, footprint, in_place, setting)
}

/// What is not an authenticated cipher of its own says so.
pub(crate) fn label(m: &Measurement) -> Option<String> {
    match Algorithm::find(&m.algorithm) {
        Ok(a) => {
            let composite = a.composite.is_some().then_some("composite");
            let words: Vec<&str> = composite.into_iter().chain(a.warning_label()).collect();
            (!words.is_empty()).then(|| words.join(", "))
        }
        Err(_) => m.warning.clone(),
    }
}
