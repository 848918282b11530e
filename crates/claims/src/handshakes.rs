//! Runs of `ciphermark tls handshake` as something that questions are put to.

use crate::evidence::label;
use crate::expression::Missing;
use crate::value::Interval;
use record::{LibraryId, State};
use tls::{Case, Document, Handshake, Temperature};

/// What one or several runs measured, on one machine.
#[derive(Clone, Debug, Default)]
pub struct Handshakes(Vec<Stack>);

#[derive(Clone, Debug)]
struct Stack {
    /// The library under the stack, as records have it.
    library: LibraryId,
    rows: Vec<Handshake>,
}

impl Handshakes {
    /// Of these runs.
    #[must_use]
    pub fn of(documents: &[Document]) -> Self {
        let of_one = |document: &Document| {
            let rows = |label: &str| {
                let of_it = document.handshakes.iter().filter(|row| row.stack == label);
                of_it.cloned().collect()
            };
            let stack = |stack: &tls::Stack| Stack {
                library: LibraryId {
                    name: stack.name.clone(),
                    version: stack.version.clone(),
                    path: stack.crypto_path.clone(),
                    id: stack.crypto_id.clone(),
                },
                rows: rows(&stack.label),
            };
            document.stacks.iter().map(stack).collect::<Vec<_>>()
        };
        Self(documents.iter().flat_map(of_one).collect())
    }

    pub(crate) fn libraries(&self) -> impl Iterator<Item = &LibraryId> {
        self.0.iter().map(|stack| &stack.library)
    }

    /// What a case costs the server in a library's stack, in µs, from caches that are hot.
    pub(crate) fn time(&self, case: &Case, library: &LibraryId) -> Result<Interval, Missing> {
        let missing = |why: &str| Missing(format!("{case} in {}: {why}", label(library)));
        let of_it = self.0.iter().filter(|stack| stack.library == *library);
        let is_it = |row: &&Handshake| row.case == *case && row.temperature == Temperature::Hot;
        let mut rows = of_it.flat_map(|stack| &stack.rows).filter(is_it);
        let row = rows.next().ok_or_else(|| {
            missing("no such handshake was measured; a run of ciphermark tls handshake has them")
        })?;
        match (row.state, row.server) {
            (State::Measured, Some(cost)) => {
                let us = |ns: f64| ns / 1000.0;
                Ok(Interval {
                    low: us(cost.low_ns),
                    mid: us(cost.median_ns),
                    high: us(cost.high_ns),
                })
            }
            (state, _) => {
                let reason = row.reason.as_deref().unwrap_or("no reason given");
                Err(missing(&format!("{}: {reason}", state.name())))
            }
        }
    }
}
