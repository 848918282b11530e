//! Runs of `ciphermark tls handshake` as something that questions are put to.

use crate::claims::evidence::label;
use crate::claims::expression::{Interval, Missing};
use record::tls::{Case, Document, Handshake, Temperature};
use record::{LibraryId, State};

/// What one or several runs measured, on one machine: each handshake with the library under its stack.
#[derive(Clone, Debug, Default)]
pub struct Handshakes(Vec<(LibraryId, Handshake)>);

impl Handshakes {
    /// Of these runs.
    #[must_use]
    pub fn of(documents: &[Document]) -> Self {
        let all = documents.iter().flat_map(|d| d.rows.iter().map(move |row| (d, row)));
        let with_library = |(document, row): (&Document, &Handshake)| {
            let stack = document.stacks.iter().find(|stack| stack.label == row.stack)?;
            let library = LibraryId {
                name: stack.name.clone(),
                version: stack.version.clone(),
                path: stack.crypto_path.clone(),
                id: stack.crypto_id.clone(),
            };
            Some((library, row.clone()))
        };
        Self(all.filter_map(with_library).collect())
    }

    pub(crate) fn libraries(&self) -> impl Iterator<Item = &LibraryId> {
        self.0.iter().map(|(library, _)| library)
    }

    /// What a case costs the server in a library's stack, in µs, from caches that are hot.
    pub(crate) fn time(&self, case: &Case, library: &LibraryId) -> Result<Interval, Missing> {
        let missing = |why: &str| Missing(format!("{case} in {}: {why}", label(library)));
        let is_it = |(of, row): &&(LibraryId, Handshake)| {
            (of, row.case, row.temperature) == (library, *case, Temperature::Hot)
        };
        let (_, row) = self.0.iter().find(is_it).ok_or_else(|| {
            missing("no such handshake was measured; a run of ciphermark tls handshake has them")
        })?;
        match (row.state, row.server) {
            (State::Measured, Some(cost)) => {
                let us = |ns: f64| ns / 1000.0;
                Ok(Interval {
                    median: us(cost.median_ns),
                    low: us(cost.low_ns),
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
