//! A run of `ciphermark tls primitives`.

use crate::tls::document::{Cost, Run};
use crate::tls::primitive::Primitive;
use crate::{Disturbances, State, Stopped};
use serde::{Deserialize, Serialize};

/// What lies inside the clock, in words.
pub const PRIMITIVES_SPAN: &str = "whole: from long-lived keys and what is on the wire to the result, as \
    in a handshake: the call's context is made, set and freed, the other side's public key is read from \
    its bytes, a new key's bytes are written; call: the library's one call alone, on a context that was \
    made before, as openssl speed has it";

/// A run of primitives.
pub type PrimitivesDocument = Run<PrimitiveRow>;

/// One operation of one stack. Numbers are null unless the state is `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimitiveRow {
    /// The stack, by its label.
    pub stack: String,
    /// What was done, and with what.
    pub primitive: Primitive,
    /// What became of it.
    pub state: State,
    /// Why, when not measured or not precise; in the library's own words where it has any.
    pub reason: Option<String>,
    /// What was held to be so in each process, and of every timed batch what it left; empty unless
    /// measured.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Whole, as a handshake has it.
    pub whole: Option<Cost>,
    /// The library's call alone.
    pub call: Option<Cost>,
    /// Clean samples.
    pub samples: u64,
    /// Operations in them, of each span.
    pub operations: u64,
    /// Processes that they come from.
    pub processes: u64,
    /// Samples that do not count, by reason.
    pub disturbed: Disturbances,
    /// Whether contended samples count, because too few quiet ones came.
    pub contended: bool,
    /// Why sampling ended.
    pub stopped: Option<Stopped>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tls::fixtures::cost;
    use crate::tls::primitive::{Operation, Scheme};

    pub(crate) fn row(
        stack: &str,
        scheme: Scheme,
        operation: Operation,
        us: Option<f64>,
    ) -> PrimitiveRow {
        let size = (operation == Operation::Digest).then_some(1400);
        PrimitiveRow {
            stack: stack.to_owned(),
            primitive: Primitive { scheme, operation, size },
            state: if us.is_some() { State::Measured } else { State::Unsupported },
            reason: us.is_none().then(|| "no|such\u{1b}[31m".to_owned()),
            checks: if us.is_some() { vec!["known answer".to_owned()] } else { Vec::new() },
            whole: us.map(|us| cost(us * 1000.0)),
            call: us.map(|us| cost(us * 900.0)),
            samples: 30,
            operations: 300,
            processes: 6,
            disturbed: Disturbances::default(),
            contended: false,
            stopped: None,
        }
    }
}
