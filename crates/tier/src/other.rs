//! Where there is no CPUID: nothing but `native` can be had.

use crate::Mechanism;
use model::Tier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const WHY: &str = "tiers are for x86-64: this architecture has no CPUID instruction";

/// A file to be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The file itself.
    pub original: PathBuf,
    /// What to load.
    pub load: PathBuf,
    /// CPUID instructions in it.
    pub cpuid_instructions: u64,
}

/// A library as it is to be loaded at a tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// In this order, the library last.
    pub objects: Vec<Object>,
    /// The CPU features that the code needs.
    pub features: BTreeMap<String, usize>,
}

/// A library's plan with the copies that it speaks of.
#[derive(Debug)]
pub struct Copies {
    /// The plan.
    pub plan: Plan,
}

/// How a tier was applied.
#[derive(Debug)]
pub struct Applied {
    /// The tier.
    pub tier: Tier,
    /// The mechanism.
    pub mechanism: Mechanism,
    /// What to load in the place of the library's file.
    pub load: PathBuf,
    /// The files of which copies were loaded.
    pub originals: Vec<PathBuf>,
    /// CPUID instructions.
    pub cpuid_instructions: Option<u64>,
    /// CPUID instructions answered before the library was loaded.
    pub answered_before: u64,
    /// What proved it.
    pub proof: String,
    /// What is to be known of it.
    pub note: Option<String>,
}

/// As on x86-64: it cannot be done.
///
/// # Errors
/// Always.
pub fn apply(
    _: Tier,
    _: &Path,
    _: Result<Plan, String>,
    _: Option<Mechanism>,
) -> Result<Applied, String> {
    Err(WHY.to_owned())
}

/// As on x86-64: it cannot be done.
///
/// # Errors
/// Always.
pub fn prepare(_: &Path) -> Result<Copies, String> {
    Err(WHY.to_owned())
}

/// None ever is.
#[must_use]
pub fn answered() -> u64 {
    0
}

/// As on x86-64: only `native` can be had.
///
/// # Errors
/// For every other tier.
pub fn machine(tier: Tier) -> Result<(Option<Mechanism>, Option<String>), String> {
    if tier == Tier::Native { Ok((None, None)) } else { Err(WHY.to_owned()) }
}
