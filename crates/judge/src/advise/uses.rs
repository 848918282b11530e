//! Uses: what `--for` takes.

use crate::advise::question::{IntegrityLevel, NonceSource};
use crate::advise::rules::last;
use serde::Deserialize;

/// A kind of store: its unit, what it can do, and what is assumed where a question is silent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// Name.
    pub id: String,
    /// In words.
    pub title: String,
    /// What the unit is called.
    pub unit: String,
    /// Bytes of the unit.
    pub size: usize,
    /// Whether a unit is written again at its place under the same key.
    pub rewrites: bool,
    /// Whether it is stored, rather than sent.
    pub storage: bool,
    /// Bytes that a durable counter takes in each unit.
    pub counter_bytes: u32,
    /// Bytes that there is room for; none where any number can be had.
    pub expansion: Option<u32>,
    /// What of a change must be noticed.
    pub integrity: IntegrityLevel,
    /// What nonces are made of.
    pub nonce: NonceSource,
    /// Whether copies of the store go on under the same key.
    pub snapshots: bool,
    /// Shortest key in bits.
    pub key_bits: u32,
    /// Units written a second, by each writer.
    pub writes_per_second: f64,
    /// Instances that write under the same keys where copies go on.
    pub writers: u32,
    /// Share of decryption in the cost that ranks, 0 to 1.
    pub reads: f64,
    /// What to know of it.
    pub(crate) notes: Vec<Note>,
}

/// A sentence with its source.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub says: String,
    #[serde(default = "last")]
    pub rank: u8,
    pub source: String,
}

#[cfg(test)]
mod tests {
    use crate::advise::data::Data;

    #[test]
    fn every_use_is_there_with_sane_numbers_and_a_note() {
        let data = Data::built_in();
        let ids: Vec<&str> = data.uses.iter().map(|u| u.id.as_str()).collect();
        let all = ["postgres", "wal", "disk", "sqlite", "object-store", "backup", "messages"];
        assert_eq!(ids, all);
        for one in &data.uses {
            assert!(one.size.is_multiple_of(16) && !one.notes.is_empty(), "{}", one.id);
            assert!((0.0..=1.0).contains(&one.reads) && one.writes_per_second > 0.0, "{}", one.id);
            // Copies that go on are more than one writer.
            assert_eq!(one.writers > 1, one.snapshots, "{}", one.id);
        }
    }
}
