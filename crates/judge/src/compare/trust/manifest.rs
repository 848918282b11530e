//! What a signature is over: which record, of which machine, for which survey.

use super::{Given, Told};
use serde::{Deserialize, Serialize};

/// Written beside a record by whoever collected it; `ssh-keygen -Y sign -n ciphermark-record` signs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// SHA-256 of the record's file, in hexadecimal.
    pub record_sha256: String,
    /// The machine type that it was measured on.
    pub machine_type: String,
    /// The survey that asked for it.
    pub survey: String,
    /// The seed that the survey gave.
    pub seed: u64,
    /// When, RFC 3339.
    pub given: String,
}

impl Manifest {
    /// As the file has it: JSON, one field a line, so that the same manifest is the same bytes.
    #[must_use]
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data always serialises") + "\n"
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn parse(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|e| base::text::one_line(&e.to_string()))
    }

    /// What a record is judged by that comes with it.
    #[must_use]
    pub fn told<'a>(&'a self, now: Option<&'a str>) -> Told<'a> {
        let given = Given { seed: self.seed, at: Some(&self.given) };
        Told { now, machine_type: Some(&self.machine_type), given: Some(given) }
    }
}
