//! What is kept of a record, so that others can be held against it without reading it again.

use crate::compare::Case;
use record::{Cpu, Measurement, Record, Samples, State};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// Samples of a case from which on they are its own: two cases of a few samples may be equal by chance.
const LEAST_SAMPLES: usize = 6;

/// What a record is judged by when others come. Some 17 bytes for each measured case, once it is packed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// How sentences call it.
    pub name: String,
    /// The type it is said to be of.
    pub machine_type: Option<String>,
    /// [`samples_digest`].
    pub samples: Option<String>,
    /// When it began, as it says.
    pub started: String,
    /// Its processor, as it says.
    pub cpu: Kin,
    /// Each measured case, by the hash of its build and name.
    #[serde(with = "columns")]
    pub cases: BTreeMap<u64, KnownCase>,
    /// Instructions of one operation, by the hash of build, CPU, name and size.
    #[serde(with = "columns")]
    pub instructions: BTreeMap<u64, u64>,
}

/// What two processors of one kind have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kin {
    /// Brand string.
    pub name: String,
    /// Vendor, family, model, stepping.
    pub identity: (String, u32, u32, u32),
}

/// A measured case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownCase {
    /// Hash of its samples; none of a few.
    pub samples: Option<u64>,
    /// Core cycles of one operation, if undisturbed.
    pub cycles: Option<f64>,
}

/// A map as its keys' distances and a column for each part of its values: an archive keeps one for each case of each
/// record, and this packs to a fifth less than names would.
mod columns {
    use super::KnownCase;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
    use std::collections::BTreeMap;

    pub(super) trait Row: Copy {
        type Columns: Serialize + DeserializeOwned;
        fn columns(rows: Vec<Self>) -> Self::Columns;
        fn rows(columns: Self::Columns) -> Vec<Self>;
    }

    impl Row for u64 {
        type Columns = Vec<Self>;
        fn columns(rows: Vec<Self>) -> Vec<Self> {
            rows
        }
        fn rows(columns: Vec<Self>) -> Vec<Self> {
            columns
        }
    }

    impl Row for KnownCase {
        type Columns = (Vec<Option<u64>>, Vec<Option<f64>>);
        fn columns(rows: Vec<Self>) -> Self::Columns {
            rows.into_iter().map(|row| (row.samples, row.cycles)).unzip()
        }
        fn rows((samples, cycles): Self::Columns) -> Vec<Self> {
            samples
                .into_iter()
                .zip(cycles)
                .map(|(samples, cycles)| Self { samples, cycles })
                .collect()
        }
    }

    pub(super) fn serialize<R: Row, S: Serializer>(
        map: &BTreeMap<u64, R>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        let distances = map.keys().map(|key| key - std::mem::replace(&mut last, *key));
        (distances.collect::<Vec<_>>(), R::columns(map.values().copied().collect())).serialize(to)
    }

    pub(super) fn deserialize<'de, R: Row, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<u64, R>, D::Error> {
        let (distances, columns) = <(Vec<u64>, R::Columns)>::deserialize(from)?;
        let mut last = 0_u64;
        let keys = distances.into_iter().map(|distance| {
            last = last.wrapping_add(distance);
            last
        });
        Ok(keys.zip(R::rows(columns)).collect())
    }
}

impl Known {
    /// What is kept of a record.
    #[must_use]
    pub fn of(name: &str, machine_type: Option<&str>, record: &Record) -> Self {
        let measured = record.measurements.iter().filter(|m| m.state == State::Measured);
        Self {
            name: name.to_owned(),
            machine_type: machine_type.map(ToOwned::to_owned),
            samples: samples_digest(record),
            started: record.started.clone(),
            cpu: Kin::of(&record.host.cpu),
            cases: measured.map(|m| (case(record, m), KnownCase::of(m))).collect(),
            instructions: instructions(record)
                .map(|counted| (counted.key, counted.count))
                .collect(),
        }
    }
}

impl Kin {
    pub(super) fn of(cpu: &Cpu) -> Self {
        let identity = (cpu.vendor.clone(), cpu.family, cpu.model, cpu.stepping);
        Self { name: cpu.name.clone(), identity }
    }
}

impl KnownCase {
    pub(super) fn of(m: &Measurement) -> Self {
        // Contended or hardly measured cases say little of a CPU.
        let is_good = !m.contended && m.precision.is_some_and(|precision| precision < 0.05);
        let cycles = m.cycles_per_op.filter(|_| is_good && m.threads == 1);
        Self { samples: samples(&m.raw), cycles: cycles.map(|c| rounded(c.median)) }
    }
}

/// To five digits: peers are far apart before they are doubted, and each digit takes room for every case.
fn rounded(cycles: f64) -> f64 {
    format!("{cycles:.4e}").parse().unwrap_or(cycles)
}

/// Of all samples of a record, in hexadecimal; `None` of a record without. Records with the same one are of the same
/// run, whatever else they say.
#[must_use]
pub fn samples_digest(record: &Record) -> Option<String> {
    let mut digest = Sha256::new();
    let mut any = false;
    for m in record.measurements.iter().filter(|m| !m.raw.is_empty()) {
        any = true;
        feed(&mut digest, &m.raw);
    }
    any.then(|| hex::encode(digest.finalize()))
}

fn samples(raw: &Samples) -> Option<u64> {
    (raw.len() >= LEAST_SAMPLES).then(|| {
        let mut digest = Sha256::new();
        feed(&mut digest, raw);
        short(digest)
    })
}

/// Ticks and clock readings: what a forger would have to make up.
fn feed(digest: &mut Sha256, raw: &Samples) {
    digest.update((raw.len() as u64).to_le_bytes());
    raw.ticks.iter().for_each(|ticks| digest.update(ticks.to_le_bytes()));
    let clocks = raw.clock_before.iter().chain(&raw.clock_after);
    clocks.for_each(|clock| digest.update(clock.to_le_bytes()));
}

/// 56 bits: two among the millions of cases that are held against each other are equal by chance once in ten million
/// records.
fn short(digest: Sha256) -> u64 {
    let bytes: [u8; 32] = digest.finalize().into();
    u64::from_le_bytes(bytes[..8].try_into().expect("eight of thirty-two bytes")) >> 8
}

fn hash(fields: &impl Serialize) -> u64 {
    let text = serde_json::to_vec(fields).expect("plain data always serialises");
    short(Sha256::new_with_prefix(text))
}

/// Which build and case, under which circumstances.
pub(super) fn case(record: &Record, m: &Measurement) -> u64 {
    let case = hash(&(&m.library.name, &m.library.id, m.model_version, Case::of(m)));
    under_circumstances(case, record)
}

/// The same where nothing is set, as in records that do not say.
fn under_circumstances(key: u64, record: &Record) -> u64 {
    match &record.host.circumstances[..] {
        [] => key,
        set => hash(&(key, set.iter().map(|c| (&c.name, &c.value, &c.sha256)).collect::<Vec<_>>())),
    }
}

/// Instructions of one operation.
pub(super) struct Counted<'a> {
    pub(super) key: u64,
    pub(super) executed: &'a record::Executed,
    pub(super) size: usize,
    pub(super) count: u64,
}

/// Every exact count of a record.
pub(super) fn instructions(record: &Record) -> impl Iterator<Item = Counted<'_>> {
    // Libraries choose their code by the CPU; adapters are the tool's.
    let cpu = (Kin::of(&record.host.cpu), &record.host.cpu.features, &record.tool.version);
    let cpu = under_circumstances(hash(&cpu), record);
    record.executed.iter().flat_map(move |e| {
        let name =
            (cpu, &e.library.name, &e.library.id, &e.algorithm, e.direction, e.model, e.tier);
        let key = hash(&name);
        e.sizes.iter().map(move |at| Counted {
            key: hash(&(key, at.size)),
            executed: e,
            size: at.size,
            count: at.instructions,
        })
    })
}
