//! What rows of every kind have in common: what they are called in a record.

use crate::tls::document::Handshake;
use crate::tls::primitives::PrimitiveRow;
use crate::tls::records::{RecordLines, RecordRow, record_lines};
use crate::{State, Stopped};
use base::model::{Direction, Model};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a row is called in a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The case, in the words of the command line.
    pub algorithm: String,
    /// Bytes of data; 0 where it has none.
    pub size: usize,
    /// What else tells it from others.
    pub setting: String,
}

/// A row of a run: its costs are fields with the names of its parts.
pub trait Row: Serialize + DeserializeOwned + Clone {
    /// The run's kind.
    const KIND: &'static str;
    /// The command of `ciphermark tls` that makes it.
    const COMMAND: &'static str;
    /// What one operation is.
    const MODEL: Model;
    /// Its parts.
    const PARTS: [Direction; 2];

    /// What it is called in a record.
    fn named(&self) -> Named;

    /// Its state, and why no more samples of it were taken.
    fn ended(&self) -> (State, Option<Stopped>);

    /// Whether there is no number because the time was over or somebody ended the run.
    fn is_left_out(&self) -> bool {
        let is_cut = |why| matches!(why, Stopped::Budget | Stopped::Interrupted);
        matches!(self.ended(), (State::Failed, Some(why)) if is_cut(why))
    }

    /// The lines through the sizes of rows, where they have sizes.
    fn lines(_: &[Self]) -> Vec<RecordLines>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

impl Row for Handshake {
    const KIND: &'static str = "tls-handshakes";
    const COMMAND: &'static str = "handshake";
    const MODEL: Model = Model::Handshake;
    const PARTS: [Direction; 2] = [Direction::Server, Direction::Client];

    fn ended(&self) -> (State, Option<Stopped>) {
        (self.state, self.stopped)
    }

    fn named(&self) -> Named {
        let (algorithm, setting) = (self.case.to_string(), self.temperature.to_string());
        Named { algorithm, size: 0, setting }
    }
}

impl Row for RecordRow {
    const KIND: &'static str = "tls-records";
    const COMMAND: &'static str = "records";
    const MODEL: Model = Model::Records;
    const PARTS: [Direction; 2] = [Direction::Send, Direction::Receive];

    fn ended(&self) -> (State, Option<Stopped>) {
        (self.state, self.stopped)
    }

    fn named(&self) -> Named {
        let algorithm = format!("{} {}", self.protection.version, self.protection.suite);
        Named { algorithm, size: self.size as usize, setting: String::new() }
    }

    fn lines(rows: &[Self]) -> Vec<RecordLines> {
        record_lines(rows)
    }
}

impl Row for PrimitiveRow {
    const KIND: &'static str = "tls-primitives";
    const COMMAND: &'static str = "primitives";
    const MODEL: Model = Model::Primitive;
    const PARTS: [Direction; 2] = [Direction::Whole, Direction::Call];

    fn ended(&self) -> (State, Option<Stopped>) {
        (self.state, self.stopped)
    }

    fn named(&self) -> Named {
        let algorithm = format!("{} {}", self.primitive.scheme, self.primitive.operation);
        let size = self.primitive.size.unwrap_or_default() as usize;
        Named { algorithm, size, setting: String::new() }
    }
}
