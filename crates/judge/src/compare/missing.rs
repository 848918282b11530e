//! What a ranking lacks: algorithms in libraries that the question is about, of which the record has no row that the
//! question asks for. Not measured is not slow.

use crate::compare::Question;
use crate::compare::ranking::{Terms, of_library};
use base::model::Direction;
use record::{LibraryId, Measurement, Record, State};
use serde::Serialize;
use std::collections::BTreeSet;

/// An algorithm in a library that could take part and was not measured as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    pub algorithm: String,
    pub library: LibraryId,
}

/// All of them. That a library has an algorithm is known from other rows of it; where there is none, from the plan, which
/// leaves a row of whatever it asked for.
pub(crate) fn missing(record: &Record, question: &Question, terms: &Terms) -> Vec<Missing> {
    let asked = |m: &&Measurement| question.takes_case(m) && of_library(question, m);
    let rows: Vec<&Measurement> = record.measurements.iter().filter(asked).collect();
    let there: BTreeSet<_> = rows.iter().filter(|m| terms.takes(m)).map(pair).collect();
    // Who decrypts encrypts, and the other way round.
    let is_cipher =
        |direction: Direction| matches!(direction, Direction::Encrypt | Direction::Decrypt);
    let of_direction = |direction: Direction| {
        direction == terms.direction || is_cipher(direction) && is_cipher(terms.direction)
    };
    let measured = |m: &&&Measurement| {
        m.state == State::Measured && of_direction(m.direction) || m.is_left_out()
    };
    let mut could: BTreeSet<_> = rows.iter().filter(measured).map(pair).collect();
    let any: BTreeSet<_> = rows.iter().map(pair).collect();
    // Elsewhere in the record it is, and this library has no word of it.
    let known: BTreeSet<&str> = rows.iter().filter(measured).map(|m| &*m.algorithm).collect();
    let planned = record.plan.algorithms.iter().map(String::as_str);
    let planned: Vec<&str> = planned.filter(|a| known.contains(a)).collect();
    let libraries: BTreeSet<&LibraryId> = rows.iter().map(|m| &m.library).collect();
    for library in libraries {
        let gone = planned.iter().filter(|a| !any.contains(&(**a, library)));
        could.extend(gone.map(|a| (*a, library)));
    }
    let missing = could.difference(&there).map(|(algorithm, library)| Missing {
        algorithm: (*algorithm).to_owned(),
        library: (*library).clone(),
    });
    missing.collect()
}

fn pair<'a>(m: &&'a Measurement) -> (&'a str, &'a LibraryId) {
    (&m.algorithm, &m.library)
}
