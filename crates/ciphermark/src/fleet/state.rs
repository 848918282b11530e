//! What is known of a survey between two calls: a file beside FLEET.toml.

use super::{Fleet, Machine};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// Of the file's layout.
const VERSION: u32 = 1;

/// A survey that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    version: u32,
    /// FLEET.toml's.
    pub survey: String,
    /// One for each machine type that was submitted.
    pub jobs: Vec<Job>,
}

/// A job of a machine type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The machine type.
    pub machine_type: String,
    /// The run's seed: a record with another one is not this job's.
    pub seed: u64,
    /// When it was given, RFC 3339.
    pub given: String,
    /// The engine's name for it; `None` where it was not taken.
    pub id: Option<String>,
    /// Why it was not taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Where it ran, once that is known: Slurm forgets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// SHA-256 of the record that was gathered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gathered: Option<String>,
    /// Whether it was cancelled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
}

impl State {
    /// Of a survey that has no jobs yet.
    pub fn new(survey: &str) -> Self {
        Self { version: VERSION, survey: survey.to_owned(), jobs: Vec::new() }
    }

    /// Where the state of a survey is kept, unless the user says where.
    pub fn path(fleet: &Path) -> PathBuf {
        fleet.with_extension("state.json")
    }

    /// Reads the state; `None` where there is no file.
    ///
    /// # Errors
    /// One line: the file cannot be read, or is no state.
    pub fn load(path: &Path) -> Result<Option<Self>, String> {
        let shown = path.display();
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(format!("cannot read '{shown}': {e}")),
        };
        let state: Self = serde_json::from_str(&text)
            .map_err(|e| format!("'{shown}' is no state of a survey: {e}"))?;
        if state.version != VERSION {
            return Err(format!(
                "'{shown}' has version {}; this program reads {VERSION}",
                state.version
            ));
        }
        Ok(Some(state))
    }

    /// Writes it: at every moment the old one or the new one is there, whole.
    ///
    /// # Errors
    /// One line.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).expect("plain data always serialises") + "\n";
        record::write_file(path, text.as_bytes())
            .map_err(|e| format!("cannot write '{}': {e}", path.display()))
    }

    /// The job of a machine type.
    pub fn job(&self, machine: &Machine) -> Option<&Job> {
        self.jobs.iter().find(|job| job.machine_type == machine.name)
    }

    /// Notes a job in the place of an earlier one of its type.
    pub fn put(&mut self, job: Job) {
        match self.jobs.iter_mut().find(|other| other.machine_type == job.machine_type) {
            Some(other) => *other = job,
            None => self.jobs.push(job),
        }
    }

    /// Each machine type of the file with its job.
    pub fn with<'a>(
        &'a self,
        fleet: &'a Fleet,
    ) -> impl Iterator<Item = (&'a Machine, Option<&'a Job>)> {
        fleet.machines().map(|machine| (machine, self.job(machine)))
    }
}
