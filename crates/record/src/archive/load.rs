//! Records as the archive has them: without samples, with the costs of their processes.

use crate::archive::add::STATES;
use crate::archive::database::{MOST_ROWS, Row, Value, unpack_field};
use crate::archive::figures::decode;
use crate::archive::{Archive, ArchiveError, Listed, database, figures};
use crate::{Executed, Imported, LibraryId, Measurement, Record, State, Stopped};
use base::model::{Direction, Footprint, Model, Tier};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

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
struct Note {
    reason: Option<String>,
    warning: Option<String>,
    imported: Option<Imported>,
    stopped: Option<Stopped>,
}

impl Archive {
    /// Which cases to read. `case` sees measurements without library and figures.
    ///
    /// # Errors
    /// [`ArchiveError`]
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
    ///
    /// # Errors
    /// [`ArchiveError`]
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
    ///
    /// # Errors
    /// [`ArchiveError`]
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

    /// The numbers of libraries.
    pub(crate) fn libraries(
        &mut self,
        takes: &dyn Fn(&LibraryId) -> bool,
    ) -> Result<Vec<i64>, ArchiveError> {
        let words = self.words()?;
        Ok(words.libraries.iter().filter(|(_, l)| takes(l)).map(|(id, _)| *id).collect())
    }

    /// A record with the chosen cases, as verdicts need it: without samples, with the costs of the processes.
    ///
    /// # Errors
    /// [`ArchiveError`]
    pub fn load(&mut self, of: &Listed, chosen: &Chosen) -> Result<Record, ArchiveError> {
        let words = self.words()?;
        let sql = "SELECT head, leaks, absent FROM record WHERE id = $1";
        let rows = self.rows(sql, &[of.id.into()])?;
        let damaged = self.damaged();
        let gone = || damaged(format!("the record {} is gone", of.sha256));
        let (mut record, absent) = head(rows.first().ok_or_else(gone)?).map_err(&damaged)?;
        let is_damaged = |why: String| damaged(format!("{}: {why}", of.sha256));
        record.executed = self.counted(of, chosen, &words)?;
        let (first, next) = database::rows_of_record(of.id);
        let (sql, takes_next) = chosen.sql();
        let values: [Value; 2] = [first.into(), next.into()];
        let mut cases = self.rows(&sql, &values[..if takes_next { 2 } else { 1 }])?;
        let is_taken = |row: &Row| {
            row.int(0).map(database::parts_of_row).is_ok_and(|(w, l)| chosen.takes(w, l))
        };
        cases.retain(is_taken);
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
                let found = figures::decode_counts(&bytes, (words, library), is_wanted);
                found.ok_or_else(|| "the counts of a library are torn".to_owned())
            });
            all.extend(found.map_err(self.damaged())?);
        }
        Ok(all)
    }

    /// The texts of the notes that rows name.
    fn notes(&mut self, rows: &[Row]) -> Result<BTreeMap<i64, Note>, ArchiveError> {
        let mut numbers: Vec<i64> = rows.iter().filter_map(|row| row.int(2).ok()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sql = format!("SELECT id, content FROM note WHERE id IN ({})", list(&numbers));
        let note = |row: &Row| -> Result<(i64, Note), String> {
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
        let workloads: Result<_, String> = self.rows(sql, &[])?.iter().map(workload).collect();
        let sql = "SELECT id, name, version, path, build FROM library";
        let libraries: Result<_, String> = self.rows(sql, &[])?.iter().map(library).collect();
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
/// The most cases that are sought one by one.
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
    fn sql(&self) -> (String, bool) {
        let all = "SELECT id, state, note, ns, cycles, figures FROM";
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

fn list(numbers: &[i64]) -> String {
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
fn head(row: &Row) -> Result<(Record, Vec<(i64, i64)>), String> {
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
    notes: &BTreeMap<i64, Note>,
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
    decode(row.bytes(5)?, medians, &mut m).ok_or("the figures of a case are torn")?;
    Ok(m)
}

fn workload(row: &Row) -> Result<(i64, Measurement), String> {
    let count = |at| row.int(at).and_then(|n| u32::try_from(n).map_err(|e| e.to_string()));
    let nobody = LibraryId {
        name: String::new(),
        version: String::new(),
        path: String::new(),
        id: String::new(),
    };
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

fn library(row: &Row) -> Result<(i64, LibraryId), String> {
    let [name, version, path, id] = [row.text(1)?, row.text(2)?, row.text(3)?, row.text(4)?];
    Ok((row.int(0)?, LibraryId { name, version, path, id }))
}
