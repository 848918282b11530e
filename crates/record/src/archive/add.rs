//! Adding a record: all of it or nothing, and once.

use crate::archive::database::{Value, pack};
use crate::archive::figures::encode;
use crate::archive::{Archive, ArchiveError, Trust, database, figures, seconds};
use crate::{LibraryId, Measurement, ProcessCosts, Record, State};
use base::model::{Direction, Footprint, Model, Tier};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A record and what is known of it.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// The record.
    pub record: &'a Record,
    /// Its text, compressed by gzip, as it is kept.
    pub packed: &'a [u8],
    /// SHA-256 of its text.
    pub sha256: &'a str,
    /// A digest of its raw samples.
    pub samples: Option<&'a str>,
    /// The machine's type.
    pub machine: &'a str,
    /// Where it is rented.
    pub region: Option<&'a str>,
    /// Whether its figures are believed.
    pub trust: Trust,
    /// Who signed it.
    pub signer: Option<&'a str>,
    /// What checks found, in sentences.
    pub doubts: &'a [String],
    /// What later records are judged by, as text of the judge's own.
    pub known: Option<&'a str>,
    /// Now, seconds since 1970.
    pub added: i64,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is in, with so many cases.
    New(usize),
    /// It was in before.
    Known,
}

/// What a case says in words.
#[derive(Serialize)]
struct Note<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<&'a crate::Imported>,
    /// Of a case that there was no time for.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<crate::Stopped>,
}

/// Columns of a table that has a number for each row.
struct Dictionary {
    table: &'static str,
    columns: &'static [&'static str],
}

const MACHINES: Dictionary = Dictionary { table: "machine", columns: &["name"] };
const LIBRARIES: Dictionary =
    Dictionary { table: "library", columns: &["name", "version", "path", "build"] };
const NOTES: Dictionary = Dictionary { table: "note", columns: &["content"] };
const WORKLOADS: Dictionary = Dictionary {
    table: "workload",
    columns: &[
        "algorithm",
        "direction",
        "model",
        "model_version",
        "size",
        "tier",
        "threads",
        "footprint",
        "in_place",
        "setting",
    ],
};

const RECORD: [&str; 17] = [
    "id", "sha256", "samples", "machine", "region", "cpu", "kind", "started", "added", "trust",
    "signer", "doubts", "cases", "head", "leaks", "absent", "known",
];
const MEASUREMENT: [&str; 6] = ["id", "state", "note", "ns", "cycles", "figures"];

/// The number of a state in the table.
pub(crate) const STATES: [State; 4] =
    [State::Measured, State::Refused, State::Failed, State::Imported];

impl Archive {
    /// Adds a record, unless it is there. A program that is killed at any moment leaves the archive as it was, or the
    /// record whole; several programs may add at once.
    ///
    /// # Errors
    /// [`ArchiveError`]; nothing was added.
    pub fn add(&mut self, entry: &Entry<'_>) -> Result<Added, ArchiveError> {
        if self.has(entry.sha256)? {
            return Ok(Added::Known);
        }
        // What takes long is done before others have to wait.
        let prepared = Prepared::of(entry);
        self.writing(|archive| {
            // Another program may have been faster.
            if archive.has(entry.sha256)? {
                return Ok(Added::Known);
            }
            let put = archive.objects.put(archive.db.as_mut(), entry.sha256, entry.packed);
            put.map_err(|e| archive.troubled(e))?;
            archive.insert(entry, prepared).map(Added::New)
        })
    }

    fn has(&mut self, sha256: &str) -> Result<bool, ArchiveError> {
        Ok(!self.rows("SELECT 1 FROM record WHERE sha256 = $1", &[sha256.into()])?.is_empty())
    }

    fn insert(&mut self, entry: &Entry<'_>, prepared: Prepared<'_>) -> Result<usize, ArchiveError> {
        self.words = None;
        let id = self.next_id("record")?;
        let machine = self.number(&MACHINES, vec![entry.machine.into()], None)?;
        let cases = &prepared.cases;
        let libraries =
            self.numbers(&LIBRARIES, cases.iter().map(|c| &c.m.library), |id| library(id))?;
        let workloads = self.numbers(&WORKLOADS, cases.iter().map(|c| key(c.m)), workload)?;
        let texts = cases.iter().filter_map(|c| c.note.as_deref());
        let mut notes = self.numbers(&NOTES, texts, |text| vec![(*text).into()])?.into_iter();
        let numbers: Vec<(i64, i64)> = workloads.into_iter().zip(libraries).collect();
        let uses = uses(entry.record, cases, &numbers);
        let mut rows = BTreeMap::new();
        let mut absent = Vec::new();
        for (case, (workload, library)) in prepared.cases.into_iter().zip(numbers) {
            let Some(state) = STATES.iter().position(|s| *s == case.m.state) else {
                absent.extend([workload as u32, library as u32].map(u32::to_le_bytes).concat());
                continue;
            };
            let note = case.note.as_ref().and_then(|_| notes.next());
            let row = database::row_of_case(id, workload, library).ok_or_else(|| self.full())?;
            rows.insert(row, case.row(row, state, note));
        }
        let count = rows.len();
        let record = entry.row(
            id,
            machine,
            count,
            (prepared.known, [prepared.head, prepared.leaks, pack(&absent)]),
        );
        let failed = self.failed();
        let mut insert = |table, rows: &mut dyn Iterator<Item = Vec<Value>>| {
            self.db.insert(table, rows).map_err(&failed)
        };
        insert(("record", &RECORD), &mut std::iter::once(record))?;
        let mut uses = uses.into_iter().map(|(l, counts)| vec![id.into(), l.into(), counts.into()]);
        insert(("uses", &["record", "library", "counts"]), &mut uses)?;
        insert(("measurement", &MEASUREMENT), &mut rows.into_values())?;
        Ok(count)
    }

    fn full(&self) -> ArchiveError {
        self.failed()("it is full: it has more words than its rows' numbers hold".to_owned())
    }

    /// One more than the largest number of a table: nobody else writes at this moment.
    fn next_id(&mut self, table: &str) -> Result<i64, ArchiveError> {
        let rows = self.rows(&format!("SELECT max(id) FROM {table}"), &[])?;
        let most = rows.first().map_or(Ok(None), |row| row.optional_int(0));
        Ok(most.map_err(self.damaged())?.unwrap_or(0) + 1)
    }

    /// The numbers of words, new ones for those that the archive has not met.
    fn numbers<K: Hash + Eq>(
        &mut self,
        of: &Dictionary,
        words: impl Iterator<Item = K>,
        values: impl Fn(&K) -> Vec<Value>,
    ) -> Result<Vec<i64>, ArchiveError> {
        let mut known: HashMap<K, i64> = HashMap::new();
        let mut next = self.next_id(of.table)?;
        let mut numbers = Vec::new();
        for word in words {
            let number = match known.get(&word) {
                Some(number) => *number,
                None => {
                    let number = self.number(of, values(&word), Some(next))?;
                    next = next.max(number + 1);
                    known.insert(word, number);
                    number
                }
            };
            numbers.push(number);
        }
        Ok(numbers)
    }

    fn number(
        &mut self,
        of: &Dictionary,
        mut values: Vec<Value>,
        next: Option<i64>,
    ) -> Result<i64, ArchiveError> {
        let is = |(i, column): (usize, &&str)| format!("{column} = ${}", i + 1);
        let same: Vec<String> = of.columns.iter().enumerate().map(is).collect();
        let sql = format!("SELECT id FROM {} WHERE {}", of.table, same.join(" AND "));
        if let Some(row) = self.rows(&sql, &values)?.first() {
            return row.int(0).map_err(self.damaged());
        }
        let id = match next {
            Some(next) => next,
            None => self.next_id(of.table)?,
        };
        values.insert(0, id.into());
        let columns: Vec<&str> = std::iter::once("id").chain(of.columns.iter().copied()).collect();
        let failed = self.failed();
        self.db.insert((of.table, &columns), &mut std::iter::once(values)).map_err(failed)?;
        Ok(id)
    }
}

/// Each library that was measured, with what was counted in it.
fn uses(
    record: &Record,
    cases: &[PreparedCase<'_>],
    numbers: &[(i64, i64)],
) -> BTreeMap<i64, Vec<u8>> {
    let mut libraries: HashMap<&LibraryId, i64> = HashMap::new();
    let mut workloads: HashMap<_, Vec<i64>> = HashMap::new();
    for (PreparedCase { m, .. }, (workload, library)) in cases.iter().zip(numbers) {
        libraries.insert(&m.library, *library);
        let of = (*library, m.algorithm.as_str(), m.direction, m.model, m.tier);
        workloads.entry(of).or_default().push(*workload);
    }
    let mut uses: BTreeMap<i64, Vec<u8>> = libraries.values().map(|l| (*l, Vec::new())).collect();
    for e in &record.executed {
        let Some(library) = libraries.get(&e.library) else { continue };
        let of = (*library, e.algorithm.as_str(), e.direction, e.model, e.tier);
        if let (Some(workloads), Some(counts)) = (workloads.get(&of), uses.get_mut(library)) {
            figures::encode_counts(counts, e, workloads);
        }
    }
    uses.into_iter().map(|(library, counts)| (library, pack(&counts))).collect()
}

fn library(id: &LibraryId) -> Vec<Value> {
    [&id.name, &id.version, &id.path, &id.id].map(|text| text.as_str().into()).to_vec()
}

/// A case without its library, in the order of the columns.
type Key<'a> = (&'a str, Direction, Model, u32, usize, (Tier, u32, Footprint, bool, &'a str));

fn key(m: &Measurement) -> Key<'_> {
    let rest = (m.tier, m.threads, m.footprint, m.in_place, m.setting.as_str());
    (&m.algorithm, m.direction, m.model, m.model_version, m.size, rest)
}

fn workload((algorithm, direction, model, version, size, rest): &Key<'_>) -> Vec<Value> {
    let (tier, threads, footprint, in_place, setting) = rest;
    vec![
        (*algorithm).into(),
        direction.name().into(),
        model.name().into(),
        i64::from(*version).into(),
        (*size as i64).into(),
        tier.name().into(),
        i64::from(*threads).into(),
        footprint.name().into(),
        i64::from(*in_place).into(),
        (*setting).into(),
    ]
}

impl Entry<'_> {
    fn row(
        &self,
        id: i64,
        machine: i64,
        cases: usize,
        (known, [head, leaks, absent]): (Option<Vec<u8>>, [Vec<u8>; 3]),
    ) -> Vec<Value> {
        let doubts = serde_json::to_string(self.doubts).unwrap_or_else(|_| "[]".to_owned());
        vec![
            id.into(),
            self.sha256.into(),
            self.samples.into(),
            machine.into(),
            self.region.into(),
            self.record.host.cpu.name.as_str().into(),
            self.record.kind().into(),
            seconds(&self.record.started).unwrap_or(0).into(),
            self.added.into(),
            self.trust.name().into(),
            self.signer.into(),
            doubts.into(),
            (cases as i64).into(),
            head.into(),
            leaks.into(),
            absent.into(),
            known.into(),
        ]
    }
}

/// A record as it goes into the tables, but for the numbers of its words.
struct Prepared<'a> {
    known: Option<Vec<u8>>,
    head: Vec<u8>,
    leaks: Vec<u8>,
    cases: Vec<PreparedCase<'a>>,
}

struct PreparedCase<'a> {
    m: &'a Measurement,
    note: Option<String>,
    figures: Vec<u8>,
}

impl PreparedCase<'_> {
    fn row(self, id: i64, state: usize, note: Option<i64>) -> Vec<Value> {
        let of = |e: Option<crate::Estimate>| Value::from(e.map(|e| e.median));
        let (ns, cycles) = (of(self.m.ns_per_op), of(self.m.cycles_per_op));
        vec![id.into(), (state as i64).into(), note.into(), ns, cycles, self.figures.into()]
    }
}

impl<'a> Prepared<'a> {
    fn of(entry: &Entry<'a>) -> Self {
        let record = entry.record;
        let case = |m: &'a Measurement| PreparedCase {
            m,
            note: note(m),
            figures: encode(m, ProcessCosts::of(record, m).as_ref()),
        };
        Self {
            known: entry.known.map(|known| pack(known.as_bytes())),
            head: pack(&json(&head(record))),
            leaks: pack(&json(&record.leaks)),
            cases: record.measurements.iter().map(case).collect(),
        }
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain data always serialises")
}

/// All of a record but what it measured.
fn head(record: &Record) -> Record {
    let kind = record.kind().map(|kind| serde_json::json!({ "kind": kind }));
    Record {
        format_version: record.format_version.clone(),
        tool: record.tool.clone(),
        started: record.started.clone(),
        measuring_seconds: record.measuring_seconds,
        host: record.host.clone(),
        libraries: record.libraries.clone(),
        plan: record.plan.clone(),
        noise: record.noise.clone(),
        details: kind,
        ..Record::default()
    }
}

fn note(m: &Measurement) -> Option<String> {
    let (reason, warning) = (m.reason.as_deref(), m.warning.as_deref());
    let stopped = m.stopped.filter(|_| m.is_left_out());
    let note = Note { reason, warning, imported: m.imported.as_ref(), stopped };
    let is_empty = m.reason.is_none() && m.warning.is_none() && m.imported.is_none();
    (!is_empty && m.state != State::Unsupported)
        .then(|| serde_json::to_string(&note).expect("plain data always serialises"))
}
