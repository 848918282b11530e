//! What a journal holds.

use crate::{Circumstance, Latencies, Library, Plan, State};
use base::model::{OtherEnd, RawSample, Settling};
use serde::{Deserialize, Serialize};

/// What a run must know to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalHead {
    /// As in the record.
    pub format_version: String,
    /// What is measured: `survey`, or as in the record of a TLS run or of pages.
    pub kind: String,
    /// As in the record.
    pub started: String,
    /// As in the record.
    pub command: Vec<String>,
    /// Brand string of the CPU: samples of two machines are never mixed.
    pub cpu: String,
    /// Its microcode, which may change what instructions cost.
    pub microcode: Option<String>,
    /// What tells this machine from others with the same CPU, as a hash; `None` where it has no
    /// such thing.
    pub machine: Option<String>,
    /// As in the record: they decide which code runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub circumstances: Vec<Circumstance>,
    /// As in the record.
    pub plan: Plan,
    /// Number of cases that the plan had over these libraries.
    pub cases: usize,
    /// The libraries, each with the name that it was given on the command line, if any.
    pub libraries: Vec<(Option<String>, Library)>,
    /// Of a run over a page store its SHA-256 in hexadecimal, as in the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
}

/// One line after the head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JournalEntry {
    /// A sample, as it arrived.
    Sample(JournalSample),
    /// What a process found of a case before its first sample.
    Facts(JournalFacts),
    /// A case that ended without a number.
    Found(JournalFinding),
    /// Seconds of measuring since the run began, its earlier parts too.
    Seconds(f64),
}

impl JournalEntry {
    /// The case that it is of, if it is of one.
    #[must_use]
    pub fn case(&self) -> Option<usize> {
        match self {
            Self::Sample(sample) => Some(sample.case),
            Self::Facts(facts) => Some(facts.case),
            Self::Found(finding) => Some(finding.case),
            Self::Seconds(_) => None,
        }
    }
}

/// One sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalSample {
    /// Index of the case in the plan.
    pub case: usize,
    /// The sample.
    pub sample: RawSample,
    /// How its process came to its speed, with the first sample behind that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settling: Option<Settling>,
    /// Single operations of the same visit, where they were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latencies>,
    /// The other end's part, where there are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherEnd>,
    /// Its single operations, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_latency: Option<Latencies>,
}

/// What a process found of a case before its first sample, in the words of its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalFacts {
    /// Index of the case in the plan.
    pub case: usize,
    /// The facts.
    pub facts: serde_json::Value,
}

/// Why a case has no number. Kept, so that going on does not give a case another chance that a run
/// without a break would not have given it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalFinding {
    /// Index of the case in the plan.
    pub case: usize,
    /// `unsupported`, `refused` or `failed`.
    pub state: State,
    /// As in the record.
    pub reason: String,
}

/// What a journal has kept of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The run.
    pub head: JournalHead,
    /// Its samples, in the order in which they were taken.
    pub samples: Vec<JournalSample>,
    /// What its processes found.
    pub facts: Vec<JournalFacts>,
    /// Its cases without a number.
    pub findings: Vec<JournalFinding>,
    /// Seconds of measuring.
    pub seconds: f64,
    /// Whole lines that were left out, because they stand behind a damaged one. A line that is torn
    /// off at the end is no damage.
    pub left_out: usize,
}

impl Kept {
    pub(super) fn new(head: JournalHead) -> Self {
        Self {
            head,
            samples: Vec::new(),
            facts: Vec::new(),
            findings: Vec::new(),
            seconds: 0.0,
            left_out: 0,
        }
    }

    pub(super) fn add(&mut self, entry: JournalEntry) {
        match entry {
            JournalEntry::Sample(sample) => self.samples.push(sample),
            JournalEntry::Facts(facts) => self.facts.push(facts),
            JournalEntry::Found(finding) => self.findings.push(finding),
            JournalEntry::Seconds(seconds) => self.seconds = seconds,
        }
    }
}
