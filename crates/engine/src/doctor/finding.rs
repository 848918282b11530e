//! What is said of one fact.

use serde::Serialize;

/// How a fact bears on measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// Worth knowing: it costs precision or time, or something cannot be measured here.
    Note,
    /// It would make figures wrong.
    Problem,
}

/// One line of the examination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it belongs to: `machine`, `clock`, `noise`, `instructions`, `libraries`,
    /// `confinement`, `hardware`.
    pub topic: &'static str,
    /// What was looked at.
    pub name: String,
    /// How it bears on measuring.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What mends it, a command where there is one.
    pub mend: Option<String>,
}

impl Finding {
    pub(crate) fn ok(topic: &'static str, name: &str, found: impl Into<String>) -> Self {
        Self { topic, name: name.to_owned(), verdict: Verdict::Ok, found: found.into(), mend: None }
    }

    pub(crate) fn note(self, mend: impl Into<String>) -> Self {
        Self { verdict: Verdict::Note, mend: Some(mend.into()), ..self }
    }

    pub(crate) fn problem(self, mend: impl Into<String>) -> Self {
        Self { verdict: Verdict::Problem, mend: Some(mend.into()), ..self }
    }

    /// A note where `applies`, as it was otherwise.
    pub(crate) fn note_if(self, applies: bool, mend: &str) -> Self {
        if applies { self.note(mend) } else { self }
    }
}
