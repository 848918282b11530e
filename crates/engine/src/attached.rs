//! A library that was loaded once, and what it said.

use crate::protocol::{Finding, Hello, Offer, Ready, VERSION};
use base::model::{NameGlob, Tier};
use std::path::PathBuf;
use std::sync::Arc;

/// A library that was loaded once, with what it said.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    /// Facts for the record; `error` says why it could not be loaded.
    pub facts: record::Library,
    /// Name that was given on the command line.
    pub given_name: Option<String>,
    /// Name that it was built under with us: the library itself cannot tell two builds apart.
    pub bundled_name: Option<String>,
    /// What it offers.
    pub offers: Vec<Offer>,
    /// The worker's clock, from its greeting.
    pub ready: Option<Ready>,
    /// What it offers at other tiers than `native`, as far as that was asked.
    pub tiers: Vec<AtTier>,
    /// What its workers load at other tiers than `native`.
    pub copies: Option<Arc<host::tier::Copies>>,
}

/// A library at a tier.
#[derive(Clone, Debug)]
pub struct AtTier {
    /// The tier.
    pub tier: Tier,
    /// What it offers there; else why the tier cannot be had.
    pub offers: Result<Vec<Offer>, Finding>,
}

impl Attached {
    /// `name@version`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}@{}", self.facts.name, self.facts.version)
    }

    /// What starts a worker process with this library.
    #[must_use]
    pub fn hello(&self, tier: Tier, cpu: Option<u32>, process: u32, seed: u64) -> Hello {
        Hello {
            protocol: VERSION,
            path: PathBuf::from(&self.facts.path),
            name: self.given_name.as_ref().or(self.bundled_name.as_ref()).cloned(),
            version: self.ready.as_ref().map(|ready| ready.version.clone()),
            tier,
            cpu,
            process,
            seed,
            ticks_per_ns: None,
            token: None,
            plan: self.copies.as_ref().filter(|_| tier != Tier::Native).map(|c| c.plan.clone()),
            pages: None,
        }
    }

    /// What it offers at a tier; else why the tier cannot be had.
    ///
    /// # Errors
    /// The finding that every case of the tier gets.
    pub fn offers_at(&self, tier: Tier) -> Result<&[Offer], Finding> {
        if tier == Tier::Native {
            return Ok(&self.offers);
        }
        let at = self.tiers.iter().find(|at| at.tier == tier);
        at.map_or_else(
            || Err(Finding::failed(format!("tier {tier} was not tried"))),
            |at| at.offers.as_deref().map_err(Clone::clone),
        )
    }

    pub(crate) fn matches(&self, glob: &NameGlob) -> bool {
        glob.matches(&self.facts.name) || glob.matches(&self.label())
    }
}

/// A stack: the file with the protocol, and the library under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackFile {
    /// Facts for the document.
    pub facts: record::tls::Stack,
    /// The file with the protocol.
    pub path: PathBuf,
    /// The file with the primitives, where that is another one.
    pub crypto: Option<PathBuf>,
}
