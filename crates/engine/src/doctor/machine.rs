//! What the machine says of itself.

use record::{Host, Library};

/// Facts that are read and not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// As in every record.
    pub host: Host,
    /// The core's performance counters.
    pub counters: host::Counters,
    /// Bytes of memory that programs can still have.
    pub available_bytes: Option<u64>,
    /// Tiers and how each would be applied here, or why it cannot be.
    pub tiers: Vec<(String, Result<String, String>)>,
    /// The libraries that were found.
    pub libraries: Vec<Library>,
}

/// Reads what there is to read. Libraries and tiers are for the caller to fill in.
#[must_use]
pub fn machine(measuring_cpu: u32) -> Machine {
    Machine {
        host: host::facts(measuring_cpu),
        counters: host::counters(),
        available_bytes: host::available_bytes(),
        ..Machine::default()
    }
}
