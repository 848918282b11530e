//! Imported rows, and the record that they become.

use super::doubt::{beyond_any_core, beyond_this_core};
use crate::{Estimate, Imported, LibraryId, Measurement, Plan, Record, State, Tool};
use base::model::{Algorithm, Direction, Footprint, Model, Tier};

/// One figure from elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the source calls the row, where that is not the algorithm's name.
    pub label: String,
    /// Name of the library.
    pub library: String,
    /// Its version, empty where the source does not say it.
    pub version: String,
    /// Name of the algorithm, as ciphermark writes it.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is, as far as the source tells.
    pub model: Model,
    /// Which CPU instructions the library could see, as far as the source tells.
    pub tier: Tier,
    /// Bytes in one operation; `None` where the source does not say it.
    pub size: Option<usize>,
    /// Processes or threads that worked at once.
    pub threads: u32,
    /// Megabytes (10^6 bytes) a second, of all threads together.
    pub mb_per_s: f64,
    /// Core cycles per byte, where the source gives them.
    pub cycles_per_byte: Option<f64>,
    /// Instructions per byte, where the source gives them.
    pub instructions_per_byte: Option<f64>,
    /// Why the figure is not to be believed, where the source shows that.
    pub doubt: Option<String>,
    /// What else the source says of the algorithm.
    pub remarks: Vec<String>,
}

impl Row {
    /// The direction that an algorithm has when nothing is said: ciphers encrypt.
    #[must_use]
    pub fn usual_direction(algorithm: &str) -> Direction {
        Algorithm::find(algorithm).map_or(Direction::Encrypt, |a| Direction::of(a.kind)[0])
    }

    /// As a measurement that was not made here. Without a size there is none.
    fn measurement(&self, from: &Imported) -> Option<Measurement> {
        let size = self.size?;
        let ns = size as f64 / self.mb_per_s * f64::from(self.threads) * 1e3;
        let library = LibraryId {
            name: self.library.clone(),
            version: self.version.clone(),
            path: String::new(),
            id: String::new(),
        };
        let algorithm = Algorithm::find(&self.algorithm);
        let mut m = Measurement {
            direction: self.direction,
            model: self.model,
            model_version: self.model.version(),
            size,
            tier: self.tier,
            threads: self.threads,
            in_place: self.model == Model::Stream,
            imported: Some(from.clone()),
            reason: self.doubt.clone(),
            remarks: self.remarks.clone(),
            warning: algorithm.ok().and_then(Algorithm::warning).map(str::to_owned),
            ns_per_op: Some(Estimate::exactly(ns)),
            cycles_per_op: self.cycles_per_byte.map(|c| Estimate::exactly(c * size as f64)),
            ns_per_byte: Some(ns / size as f64),
            mb_per_s: Some(self.mb_per_s),
            cycles_per_byte: self.cycles_per_byte,
            instructions_per_byte: self.instructions_per_byte,
            ..Measurement::blank(library, &self.algorithm, State::Imported)
        };
        if m.reason.is_none() {
            m.reason = beyond_any_core(&m);
        }
        Some(m)
    }
}

/// A record of nothing but imported rows; those without a size are left out. `started` is when it was
/// made (RFC 3339), `command` the words of the command line.
#[must_use]
pub fn record(rows: &[Row], from: &Imported, started: &str, command: Vec<String>) -> Record {
    let measurements: Vec<Measurement> = rows.iter().filter_map(|r| r.measurement(from)).collect();
    Record {
        format_version: crate::FORMAT_VERSION.to_owned(),
        tool: Tool {
            name: "ciphermark".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
        },
        started: started.to_owned(),
        plan: plan(&measurements),
        measurements,
        ..Record::default()
    }
}

/// What the measurements are of, each once.
fn plan(measurements: &[Measurement]) -> Plan {
    fn each<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
        let mut values: Vec<T> = values.collect();
        values.sort();
        values.dedup();
        values
    }
    let of = measurements.iter();
    Plan {
        algorithms: each(of.clone().map(|m| m.algorithm.clone())),
        sizes: each(of.clone().map(|m| m.size)),
        models: each(of.clone().map(|m| m.model)),
        directions: each(of.clone().map(|m| m.direction)),
        tiers: each(of.clone().map(|m| m.tier)),
        footprints: vec![Footprint::Hot],
        threads: each(of.clone().map(|m| m.threads)),
        in_place: each(of.map(|m| m.in_place)),
        ..Plan::default()
    }
}

/// A record with the imported rows beside its own. What it said of itself stays. Rows that its core cannot reach are
/// marked, unless they say that they are of another machine.
#[must_use]
pub fn beside(mut record: Record, mut imported: Record) -> Record {
    let elsewhere = |m: &Measurement| m.imported.as_ref().is_some_and(|i| i.machine.is_some());
    for m in imported.measurements.iter_mut().filter(|m| m.reason.is_none() && !elsewhere(m)) {
        m.reason = beyond_this_core(m, &record);
    }
    record.format_version = imported.format_version;
    record.measurements.extend(imported.measurements);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn row() -> Row {
        Row {
            label: "CTR".to_owned(),
            library: "openssl".to_owned(),
            version: "1.0.2k".to_owned(),
            algorithm: "aes-128-ctr".to_owned(),
            direction: Direction::Encrypt,
            model: Model::Stream,
            tier: Tier::Native,
            size: Some(8192),
            threads: 1,
            mb_per_s: 6303.97611,
            cycles_per_byte: None,
            instructions_per_byte: Some(1.5),
            doubt: None,
            remarks: Vec::new(),
        }
    }

    fn from() -> Imported {
        Imported { source: "a blog".to_owned(), machine: Some("i5".to_owned()) }
    }

    #[test]
    fn an_imported_row_is_a_record_that_is_read_again_and_claims_no_proof() {
        let record = record(&[row()], &from(), "2026-11-21T00:00:00Z", Vec::new());
        let again = crate::from_json(&crate::to_json(&record), "r").unwrap();
        assert_eq!(again, record);
        let m = &record.measurements[0];
        assert_eq!((m.state, m.samples, m.checks.len()), (State::Imported, 0, 0));
        assert_eq!(m.imported, Some(from()));
        assert!((m.ns_per_op.unwrap().median - 1299.497).abs() < 0.001);
        assert_eq!(m.precision, None);
        assert!(m.warning.as_deref().unwrap().contains("integrity"));
    }

    #[test]
    fn a_row_without_a_size_is_no_case() {
        let without = Row { size: None, ..row() };
        assert!(record(&[without], &from(), "", Vec::new()).measurements.is_empty());
    }

    #[test]
    fn beside_a_record_the_rows_change_nothing_of_what_it_measured() {
        let own = crate::sample::record();
        let imported = record(&[row()], &from(), "", Vec::new());
        let both = beside(own.clone(), imported);
        assert_eq!(both.host, own.host);
        assert_eq!(both.measurements[..own.measurements.len()], own.measurements[..]);
        assert_eq!(both.measurements.len(), own.measurements.len() + 1);
    }
}
