//! Whether a stand-in was found where its fault is, and only there.

use super::{Animal, StandIn};
use crate::support::*;
use serde_json::Value;
use std::fmt;

/// What became of a stand-in.
pub struct Caught {
    pub animal: Animal,
    /// In the program's words.
    pub reason: String,
    /// What is not as the table says.
    pub wrong: Option<String>,
}

impl Caught {
    pub fn new(animal: &Animal, reason: String, wrong: Option<String>) -> Self {
        Self { animal: animal.clone(), reason, wrong }
    }
}

impl fmt::Display for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.wrong.is_some() { "MISSED" } else { "caught" };
        let Animal { id, of, .. } = &self.animal;
        write!(f, "{mark} {id}: {} [{}] {}", of.state, of.check, self.reason)
    }
}

impl fmt::Debug for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}\n    {}", self.wrong.as_deref().unwrap_or_default())
    }
}

/// Looks at all rows of a stand-in.
pub fn judge(animal: &Animal, rows: &[Value], table: &str) -> Caught {
    let of = &animal.of;
    let own = where_(rows, &[("library.name", &animal.id)]);
    let (bad, good): (Vec<&Value>, Vec<&Value>) = own.into_iter().partition(|row| {
        let algorithms = of.algorithms.as_ref();
        algorithms.is_none_or(|a| a.iter().any(|a| a == text(row, "algorithm")))
            && of.size.is_none_or(|size| row["size"] == size)
            && of.direction.as_ref().is_none_or(|d| d == text(row, "direction"))
    });
    let mut wrong = Vec::new();
    if bad.is_empty() {
        wrong.push("no row has the fault".to_owned());
    }
    let mut reason = String::new();
    for row in bad {
        let found = found(row, of);
        reason = found.as_ref().map_or_else(|_| String::new(), Clone::clone);
        wrong.extend(found.err());
    }
    if of.state != "remarked" && !table.contains(&of.state.to_uppercase()) {
        wrong.push("the table does not say so".to_owned());
    }
    for row in good {
        // What finds it in one case may find it in others too: it costs no case that is right.
        let why = row["reason"].as_str().unwrap_or_default();
        let found_too = why.starts_with(&format!("{}: ", of.check));
        if text(row, "state") != "measured" && !found_too {
            wrong.push(format!("costs more than its own cases: {}", brief(row)));
        }
    }
    let wrong = (!wrong.is_empty()).then(|| wrong.join("\n    "));
    Caught::new(animal, reason, wrong)
}

/// The reason or remark that has these words, where the row is in this state.
fn found(row: &Value, of: &StandIn) -> Result<String, String> {
    let state = of.state.as_str();
    let is_number = !row["ns_per_op"].is_null();
    let (is_right, said) = if state == "remarked" {
        let remarks = row["remarks"].as_array().cloned().unwrap_or_default();
        let remarks = remarks.iter().filter_map(Value::as_str);
        (text(row, "state") == "measured" && is_number, remarks.map(str::to_owned).collect())
    } else {
        (text(row, "state") == state && !is_number, vec![text(row, "reason").to_owned()])
    };
    let said: Vec<String> = said;
    let nothing = of.reason.is_empty().then(String::new);
    let told = said.iter().find(|line| of.tells(line)).cloned().or(nothing);
    told.filter(|_| is_right).ok_or_else(|| brief(row))
}

fn brief(row: &Value) -> String {
    format!(
        "{} {} of {}: {} '{}' {}",
        text(row, "algorithm"),
        text(row, "direction"),
        row["size"],
        text(row, "state"),
        text(row, "reason"),
        row["remarks"]
    )
}
