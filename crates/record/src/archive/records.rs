//! Records into the archive and out of it. Adding one is all of it or nothing, and once; it comes back as the
//! archive has it: without samples, with the costs of its processes.

use crate::archive::database::{
    Database, MOST_ROWS, Row, Value, decode_figures, encode_figures, pack, unpack_field,
};
use crate::archive::{Archive, ArchiveError, Listed, Trust, database, seconds};
use crate::{Executed, Imported, LibraryId, Measurement, ProcessCosts, Record, State, Stopped};
use base::model::{Direction, Footprint, Model, Tier};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

/// A record and what is known of it.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    pub record: &'a Record,
    /// Its text, compressed by gzip, as it is kept.
    pub packed: &'a [u8],
    /// SHA-256 of its text.
    pub sha256: &'a str,
    pub samples: Option<&'a str>,
    pub machine: &'a str,
    /// Where it is rented.
    pub region: Option<&'a str>,
    /// Whether its figures are believed.
    pub trust: Trust,
    pub signer: Option<&'a str>,
    /// What checks found, in sentences.
    pub doubts: &'a [String],
    /// What later records are judged by, as text of the judge's own.
    pub known: Option<&'a str>,
    /// Now, seconds since 1970.
    pub added: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    New(usize),
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

const RECORD: [&str; 18] = [
    "id", "sha256", "samples", "machine", "region", "cpu", "kind", "started", "added", "trust",
    "signer", "doubts", "cases", "head", "leaks", "absent", "known", "shape",
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
            database::encode_counts(counts, e, workloads);
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
            cpu(&self.record.host.cpu.name).into(),
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
            shape(self.record, self.record.measurements.iter().map(|m| &m.library)).into(),
        ]
    }
}

/// The beginning of a processor's name, as an index takes it.
pub(crate) fn cpu(name: &str) -> String {
    name.chars().take(200).collect()
}

/// What a run was asked for, to tell runs apart that hide each other from those that add to each other.
pub fn asked(record: &Record) -> String {
    let p = &record.plan;
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        record.kind(),
        p.algorithms,
        p.sizes,
        p.models,
        p.directions,
        p.tiers,
        p.footprints,
        p.threads,
        p.in_place
    )
}

/// A digest of that and of the releases that it measured.
fn shape<'a>(record: &Record, libraries: impl Iterator<Item = &'a LibraryId>) -> String {
    let releases: BTreeSet<(&str, &str)> = libraries.map(|l| (&*l.name, &*l.version)).collect();
    let text = format!("{} {releases:?}", asked(record));
    hex::encode(&Sha256::digest(text)[..16])
}

/// Writes the shapes of an older archive's records.
pub(crate) fn fill_shapes(db: &mut dyn Database) -> Result<(), String> {
    let rows = db.rows("SELECT id, name, version, path, build FROM library", &[])?;
    let libraries: Result<BTreeMap<i64, LibraryId>, String> = rows.iter().map(library_of).collect();
    let libraries = libraries?;
    let ids = db.rows("SELECT id FROM record WHERE shape IS NULL", &[])?;
    for id in ids.iter().map(|row| row.int(0)).collect::<Result<Vec<i64>, String>>()? {
        let head = db.rows("SELECT head FROM record WHERE id = $1", &[id.into()])?;
        let Some(head) = head.first() else { continue };
        // What is damaged is told when it is read: it has no shape, and is read each time.
        let Ok(record) =
            unpack_field(head.bytes(0)?).and_then(|json| crate::value_from_json::<Record>(&json))
        else {
            continue;
        };
        let uses = db.rows("SELECT library FROM uses WHERE record = $1", &[id.into()])?;
        let numbers: Result<Vec<i64>, String> = uses.iter().map(|row| row.int(0)).collect();
        let own = numbers?;
        let shape = shape(&record, own.iter().filter_map(|number| libraries.get(number)));
        db.run("UPDATE record SET shape = $1 WHERE id = $2", &[shape.into(), id.into()])?;
    }
    Ok(())
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
            figures: encode_figures(m, ProcessCosts::of(record, m).as_ref()),
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
    Record { details: kind, ..record.circumstances() }
}

fn note(m: &Measurement) -> Option<String> {
    let (reason, warning) = (m.reason.as_deref(), m.warning.as_deref());
    let stopped = m.stopped.filter(|_| m.is_left_out());
    let note = Note { reason, warning, imported: m.imported.as_ref(), stopped };
    let is_empty = m.reason.is_none() && m.warning.is_none() && m.imported.is_none();
    (!is_empty && m.state != State::Unsupported)
        .then(|| serde_json::to_string(&note).expect("plain data always serialises"))
}

/// Which cases of records are read: all where neither is named.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    workloads: Option<Vec<i64>>,
    libraries: Option<Vec<i64>>,
}

/// The words that numbers stand for.
#[derive(Clone)]
pub(crate) struct Words {
    workloads: Arc<BTreeMap<i64, Measurement>>,
    libraries: Arc<BTreeMap<i64, LibraryId>>,
}

#[derive(Default, Deserialize)]
struct KeptNote {
    reason: Option<String>,
    warning: Option<String>,
    imported: Option<Imported>,
    stopped: Option<Stopped>,
}

impl Archive {
    /// Which cases to read. `case` sees measurements without library and figures.
    pub fn choose(
        &mut self,
        case: Option<&dyn Fn(&Measurement) -> bool>,
        library: Option<&dyn Fn(&LibraryId) -> bool>,
    ) -> Result<Chosen, ArchiveError> {
        let words = self.words()?;
        let of_case = |case: &dyn Fn(&Measurement) -> bool| {
            words.workloads.iter().filter(|(_, m)| case(m)).map(|(id, _)| *id).collect()
        };
        let libraries = library.map(|library| self.libraries(library)).transpose()?;
        Ok(Chosen { workloads: case.map(of_case), libraries }.sought(&words))
    }

    /// The same cases of some libraries only.
    pub fn narrow(
        &mut self,
        chosen: &Chosen,
        library: Option<&dyn Fn(&LibraryId) -> bool>,
    ) -> Result<Chosen, ArchiveError> {
        let libraries = library.map(|library| self.libraries(library)).transpose()?;
        let narrow = Chosen { libraries: libraries.or(chosen.libraries.clone()), ..chosen.clone() };
        Ok(narrow.sought(&self.words()?))
    }

    /// The builds that a record measured.
    pub fn uses(&mut self, of: &Listed) -> Result<Vec<LibraryId>, ArchiveError> {
        let words = self.words()?;
        let rows = self.rows("SELECT library FROM uses WHERE record = $1", &[of.id.into()])?;
        let library = |row: &Row| -> Result<LibraryId, String> {
            let id = row.int(0)?;
            words.libraries.get(&id).cloned().ok_or_else(|| format!("there is no library {id}"))
        };
        let all: Result<_, String> = rows.iter().map(library).collect();
        all.map_err(self.damaged())
    }

    pub(crate) fn libraries(
        &mut self,
        takes: &dyn Fn(&LibraryId) -> bool,
    ) -> Result<Vec<i64>, ArchiveError> {
        let words = self.words()?;
        Ok(words.libraries.iter().filter(|(_, l)| takes(l)).map(|(id, _)| *id).collect())
    }

    /// Whether a record has any of the chosen cases, with a figure.
    pub fn has_case(&mut self, of: &Listed, chosen: &Chosen) -> Result<bool, ArchiveError> {
        let has_number = |row: &Row| {
            let state = usize::try_from(row.int(1)?).ok().and_then(|state| STATES.get(state));
            Ok(state.is_some_and(|state| state.has_number()))
        };
        let rows = self.cases(of, chosen, "id, state")?;
        let found: Result<Vec<bool>, String> = rows.iter().map(has_number).collect();
        Ok(found.map_err(self.damaged())?.contains(&true))
    }

    /// The chosen rows of a record; `columns` begin with their number.
    fn cases(
        &mut self,
        of: &Listed,
        chosen: &Chosen,
        columns: &str,
    ) -> Result<Vec<Row>, ArchiveError> {
        let (first, next) = database::rows_of_record(of.id);
        let (sql, takes_next) = chosen.sql(columns);
        let values: [Value; 2] = [first.into(), next.into()];
        let mut rows = self.rows(&sql, &values[..if takes_next { 2 } else { 1 }])?;
        rows.retain(|row| {
            row.int(0).map(database::parts_of_row).is_ok_and(|(w, l)| chosen.takes(w, l))
        });
        Ok(rows)
    }

    /// A record with the chosen cases, as verdicts need it: without samples, with the costs of the processes.
    pub fn load(&mut self, of: &Listed, chosen: &Chosen) -> Result<Record, ArchiveError> {
        let words = self.words()?;
        let sql = "SELECT head, leaks, absent FROM record WHERE id = $1";
        let rows = self.rows(sql, &[of.id.into()])?;
        let damaged = self.damaged();
        let gone = || damaged(format!("the record {} is gone", of.sha256));
        let (mut record, absent) = head_of(rows.first().ok_or_else(gone)?).map_err(&damaged)?;
        let is_damaged = |why: String| damaged(format!("{}: {why}", of.sha256));
        record.executed = self.counted(of, chosen, &words)?;
        let cases = self.cases(of, chosen, "id, state, note, ns, cycles, figures")?;
        let notes = self.notes(&cases)?;
        for row in &cases {
            record.measurements.push(measurement(row, &words, &notes).map_err(is_damaged)?);
        }
        for (workload, library) in absent {
            if chosen.takes(workload, library) {
                let m = words.case(workload, library).map_err(&damaged)?;
                record.measurements.push(Measurement { state: State::Unsupported, ..m });
            }
        }
        crate::format::bring(&mut record);
        Ok(record)
    }

    /// The instructions that were counted in the chosen cases.
    fn counted(
        &mut self,
        of: &Listed,
        chosen: &Chosen,
        words: &Words,
    ) -> Result<Vec<Executed>, ArchiveError> {
        let mut sql = "SELECT library, counts FROM uses WHERE record = $1".to_owned();
        if let Some(libraries) = &chosen.libraries {
            sql += &format!(" AND library IN ({})", list(libraries));
        }
        let mut all = Vec::new();
        for row in &self.rows(&sql, &[of.id.into()])? {
            let found = row.int(0).and_then(|library| {
                let bytes = unpack_field(row.bytes(1)?)?;
                let is_wanted = |workload| chosen.takes(workload, library);
                let found = database::decode_counts(&bytes, (words, library), is_wanted);
                found.ok_or_else(|| "the counts of a library are torn".to_owned())
            });
            all.extend(found.map_err(self.damaged())?);
        }
        Ok(all)
    }

    /// The texts of the notes that rows name.
    fn notes(&mut self, rows: &[Row]) -> Result<BTreeMap<i64, KeptNote>, ArchiveError> {
        let mut numbers: Vec<i64> = rows.iter().filter_map(|row| row.int(2).ok()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sql = format!("SELECT id, content FROM note WHERE id IN ({})", list(&numbers));
        let note = |row: &Row| -> Result<(i64, KeptNote), String> {
            Ok((row.int(0)?, crate::value_from_json(row.text(1)?.as_bytes())?))
        };
        let notes: Result<_, String> = self.rows(&sql, &[])?.iter().map(note).collect();
        notes.map_err(self.damaged())
    }

    pub(crate) fn words(&mut self) -> Result<Words, ArchiveError> {
        if let Some(words) = &self.words {
            return Ok(words.clone());
        }
        let sql = "SELECT id, algorithm, direction, model, model_version, size, tier, threads, footprint, in_place, \
                   setting FROM workload";
        let workloads: Result<_, String> = self.rows(sql, &[])?.iter().map(workload_of).collect();
        let sql = "SELECT id, name, version, path, build FROM library";
        let libraries: Result<_, String> = self.rows(sql, &[])?.iter().map(library_of).collect();
        let words = Words {
            workloads: Arc::new(workloads.map_err(self.damaged())?),
            libraries: Arc::new(libraries.map_err(self.damaged())?),
        };
        self.words = Some(words.clone());
        Ok(words)
    }
}

/// So many libraries are sought case by case: reading all rows of a record for them takes ten times as long.
const FEW: usize = 4;
const MOST_SOUGHT: usize = 20_000;

impl Chosen {
    fn sought(mut self, words: &Words) -> Self {
        let is_few = self.libraries.as_ref().is_some_and(|libraries| libraries.len() <= FEW);
        if is_few && self.workloads.is_none() {
            self.workloads = Some(words.workloads.keys().copied().collect());
        }
        self
    }

    fn takes(&self, workload: i64, library: i64) -> bool {
        let has = |all: &Option<Vec<i64>>, one| {
            all.as_ref().is_none_or(|all| all.binary_search(&one).is_ok())
        };
        has(&self.workloads, workload) && has(&self.libraries, library)
    }

    /// The rows of a record whose first number is `$1`, those that are chosen among them; whether `$2` is the first
    /// number of the next record. The same text for every record, so that a database prepares it once.
    fn sql(&self, columns: &str) -> (String, bool) {
        let all = format!("SELECT {columns} FROM");
        // SQLite goes through what is named first.
        let among = |numbers: Vec<i64>, is: &str| {
            let values: Vec<String> = numbers.iter().map(|n| format!("({n})")).collect();
            let values = values.join(",");
            (format!("{all} (VALUES {values}) AS sought CROSS JOIN measurement WHERE {is}"), false)
        };
        let none = || (format!("{all} measurement WHERE id = $1"), false);
        let first = "CAST($1 AS BIGINT) + column1";
        match (&self.workloads, &self.libraries) {
            (Some(workloads), _) if workloads.is_empty() => none(),
            (_, Some(libraries)) if libraries.is_empty() => none(),
            (Some(workloads), Some(libraries))
                if workloads.len() * libraries.len() <= MOST_SOUGHT =>
            {
                let of = |w: &i64| {
                    libraries
                        .iter()
                        .map(|l| database::row_within_record(*w, *l))
                        .collect::<Vec<_>>()
                };
                among(workloads.iter().flat_map(of).collect(), &format!("id = {first}"))
            }
            (Some(workloads), _) if workloads.len() <= MOST_SOUGHT => {
                let numbers =
                    workloads.iter().map(|w| database::row_within_record(*w, 0)).collect();
                let next = database::row_within_record(1, 0);
                among(numbers, &format!("id >= {first} AND id < {first} + {next}"))
            }
            _ => (format!("{all} measurement WHERE id >= $1 AND id < $2"), true),
        }
    }
}

pub(crate) fn list(numbers: &[i64]) -> String {
    // No number is 0: an empty list takes nothing.
    let all = if numbers.is_empty() { &[0][..] } else { numbers };
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl Words {
    pub(crate) fn case(&self, workload: i64, library: i64) -> Result<Measurement, String> {
        let unknown = |what: &str, number| format!("there is no {what} {number}");
        let m = self.workloads.get(&workload).ok_or_else(|| unknown("workload", workload))?;
        let library = self.libraries.get(&library).ok_or_else(|| unknown("library", library))?;
        Ok(Measurement { library: library.clone(), ..m.clone() })
    }
}

/// A record without measurements, and the cases that were not offered.
fn head_of(row: &Row) -> Result<(Record, Vec<(i64, i64)>), String> {
    let mut record: Record = crate::value_from_json(&unpack_field(row.bytes(0)?)?)?;
    record.leaks = crate::value_from_json(&unpack_field(row.bytes(1)?)?)?;
    let numbers = unpack_field(row.bytes(2)?)?;
    if numbers.len() / 8 > MOST_ROWS {
        return Err(format!("it has more than {MOST_ROWS} cases that were not offered"));
    }
    let number =
        |bytes: &[u8]| i64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let absent = numbers.chunks_exact(8).map(|pair| (number(&pair[..4]), number(&pair[4..])));
    Ok((record, absent.collect()))
}

fn measurement(
    row: &Row,
    words: &Words,
    notes: &BTreeMap<i64, KeptNote>,
) -> Result<Measurement, String> {
    let (workload, library) = database::parts_of_row(row.int(0)?);
    let mut m = words.case(workload, library)?;
    let state = usize::try_from(row.int(1)?).ok().and_then(|state| STATES.get(state));
    m.state = *state.ok_or("a state is unknown")?;
    if let Some(note) = row.optional_int(2)?.and_then(|number| notes.get(&number)) {
        (m.reason, m.warning) = (note.reason.clone(), note.warning.clone());
        (m.imported, m.stopped) = (note.imported.clone(), note.stopped);
    }
    let medians = (row.optional_real(3)?, row.optional_real(4)?);
    decode_figures(row.bytes(5)?, medians, &mut m).ok_or("the figures of a case are torn")?;
    Ok(m)
}

fn workload_of(row: &Row) -> Result<(i64, Measurement), String> {
    let count = |at| row.int(at).and_then(|n| u32::try_from(n).map_err(|e| e.to_string()));
    let nobody = LibraryId::default();
    Ok((
        row.int(0)?,
        Measurement {
            direction: named(Direction::ALL, Direction::name, &row.text(2)?)?,
            model: named(Model::RECORDED, Model::name, &row.text(3)?)?,
            model_version: count(4)?,
            size: count(5)? as usize,
            tier: named(Tier::ALL, Tier::name, &row.text(6)?)?,
            threads: count(7)?,
            footprint: named(Footprint::ALL, Footprint::name, &row.text(8)?)?,
            in_place: row.int(9)? != 0,
            setting: row.text(10)?,
            ..Measurement::blank(nobody, &row.text(1)?, State::Measured)
        },
    ))
}

fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Result<T, String> {
    all.iter().copied().find(|one| name(*one) == text).ok_or_else(|| format!("'{text}' is unknown"))
}

fn library_of(row: &Row) -> Result<(i64, LibraryId), String> {
    let [name, version, path, id] = [row.text(1)?, row.text(2)?, row.text(3)?, row.text(4)?];
    Ok((row.int(0)?, LibraryId { name, version, path, id }))
}
