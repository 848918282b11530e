//! What costs are taken from: a survey's record, or that of a page store.

use record::Record;
use record::at_rest::PagesRecord;

/// A record that an answer rests on.
#[derive(Clone, Copy, Debug)]
pub enum Evidence<'a> {
    /// Of messages in a loop: the scheme's own work, warm.
    Survey(&'a Record),
    /// Of a store's pages: nonces, sums and cold caches included, reading and writing beside it.
    Pages(&'a PagesRecord),
}

impl<'a> Evidence<'a> {
    /// When the run began, RFC 3339.
    pub(crate) fn started(self) -> &'a str {
        match self {
            Self::Survey(record) => &record.started,
            Self::Pages(record) => &record.started,
        }
    }

    /// Name of the CPU.
    #[must_use]
    pub fn cpu(self) -> &'a str {
        match self {
            Self::Survey(record) => &record.host.cpu.name,
            Self::Pages(record) => &record.host.cpu.name,
        }
    }

    /// What a reader of the answer must know of a store.
    pub(crate) fn store(self) -> Vec<String> {
        let Self::Pages(record) = self else { return Vec::new() };
        let store = &record.store;
        let mut lines = vec![format!(
            "{} {}, {} pages of {} bytes; every page encrypted, decrypted and equal, in every scheme that has a price",
            store.kind, store.name, store.pages, store.page_size
        )];
        let rounds = record.timing.as_ref().map_or(0, |t| t.rounds);
        if rounds < ROUNDS_OF_INTERVALS {
            lines.push(format!("{rounds} rounds give no intervals: ties are not seen"));
        }
        lines.extend(repeats(record));
        lines
    }
}

/// Rounds from which on an interval of order statistics holds the median at 95 %.
const ROUNDS_OF_INTERVALS: u32 = 6;

/// Ways to make nonces that gave one twice for different pages of this store.
fn repeats(record: &PagesRecord) -> Vec<String> {
    let of = |row: &record::at_rest::NonceRow| {
        format!(
            "in {} states of it {} nonces made of {} came twice with different pages",
            record.nonces.states, row.repeated_different, row.rule
        )
    };
    let bad = |row: &&record::at_rest::NonceRow| row.repeated_different > 0;
    record.nonces.rules.iter().filter(bad).map(of).collect()
}
