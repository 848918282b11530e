//! Where there is no CPUID: nothing but `native` can be had.

use crate::{Applied, Copies, Mechanism, Plan};
use model::Tier;
use std::path::Path;

const WHY: &str = "tiers are for x86-64: this architecture has no CPUID instruction";

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
