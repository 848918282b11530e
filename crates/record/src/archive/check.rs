//! Whether an archive is whole: every record there, as it was added, and every figure the record's own.

use crate::archive::archive::{Archive, Listed};
use crate::archive::load::Chosen;
use crate::archive::objects::unpack;
use crate::archive::{ArchiveError, Selection};
use crate::{Measurement, ProcessCosts, Record, State};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What is wrong with an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A record or its figures are not what was added.
    Damaged {
        /// Its SHA-256.
        sha256: String,
        /// What is wrong.
        what: String,
    },
    /// A file that no record names: what a killed program left. It does no harm.
    Leftover(PathBuf),
}

impl Problem {
    /// Whether something is lost.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { sha256, what } => write!(f, "record {sha256}: {what}"),
            Self::Leftover(path) => write!(f, "'{}' belongs to no record", path.display()),
        }
    }
}

type Read<'a> = &'a dyn Fn(&[u8]) -> Result<Record, String>;

impl Archive {
    /// Reads every record and compares it with its rows. `read` reads a record's text; `each` is told of every record
    /// as it is done.
    ///
    /// # Errors
    /// [`ArchiveError`] where the archive cannot be read at all.
    pub fn check(
        &mut self,
        read: Read<'_>,
        each: &mut dyn FnMut(&Listed),
    ) -> Result<Vec<Problem>, ArchiveError> {
        let all = self.list(&Selection::default(), true)?;
        let mut problems = Vec::new();
        for listed in &all {
            if let Err(what) = self.check_record(listed, read) {
                problems.push(Problem::Damaged { sha256: listed.sha256.clone(), what });
            }
            each(listed);
        }
        let files = self.objects.files().map_err(|e| self.troubled(e))?;
        let is_named = |name: &String| all.iter().any(|l| l.sha256 == *name);
        let left = files.into_iter().filter(|(name, _)| !is_named(name));
        problems.extend(left.map(|(_, path)| Problem::Leftover(path)));
        Ok(problems)
    }

    fn check_record(&mut self, listed: &Listed, read: Read<'_>) -> Result<(), String> {
        let packed = self.object(&listed.sha256).map_err(|_| "its file is lost".to_owned())?;
        let text = unpack(&packed).map_err(|why| format!("its file cannot be unpacked: {why}"))?;
        if hex::encode(Sha256::digest(&text)) != listed.sha256 {
            return Err("its file is not what was added".to_owned());
        }
        let record = read(&text)?;
        let kept = self.load(listed, &Chosen::default()).map_err(|e| e.to_string())?;
        same(&record, &kept)
    }
}

/// Whether all cases are in the rows, with the figures that the record's samples come to.
fn same(record: &Record, kept: &Record) -> Result<(), String> {
    let key = |m: &Measurement| {
        let what = (m.algorithm.clone(), m.direction, m.model, m.model_version, m.size, m.tier);
        (m.library.clone(), what, (m.threads, m.footprint, m.in_place, m.setting.clone()))
    };
    let of = |r: &Record| -> BTreeMap<_, Measurement> {
        r.measurements.iter().map(|m| (key(m), m.clone())).collect()
    };
    let (own, rows) = (of(record), of(kept));
    if own.len() != rows.len() {
        return Err(format!("it has {} cases, and {} rows", own.len(), rows.len()));
    }
    for (key, m) in &own {
        let row = rows.get(key).ok_or_else(|| format!("a case of {} has no row", m.algorithm))?;
        let is_same = m.state == row.state
            && (m.state == State::Unsupported || m.reason == row.reason)
            && m.ns_per_op.map(|e| e.median) == row.ns_per_op.map(|e| e.median)
            && same_costs(ProcessCosts::of(record, m).as_ref(), row.costs.as_ref());
        if !is_same {
            return Err(format!(
                "the row of {} at {} bytes is not the record's",
                m.algorithm, m.size
            ));
        }
    }
    Ok(())
}

fn same_costs(own: Option<&ProcessCosts>, row: Option<&ProcessCosts>) -> bool {
    let near = |a: &Vec<f64>, b: &Vec<f64>| {
        let is_near = |(a, b): (&f64, &f64)| a == b || (a / b - 1.0).abs() < 1e-6;
        a.len() == b.len() && a.iter().zip(b).all(is_near)
    };
    match (own, row) {
        (Some(a), Some(b)) => near(&a.ns, &b.ns) && near(&a.cycles, &b.cycles),
        (None, None) => true,
        _ => false,
    }
}
