//! Where there is no CPUID: nothing but `native` can be had.

use crate::tier::rewrite::{Image, Questions};
use crate::tier::{Applied, Mechanism, Plan};
use base::model::Tier;
use std::collections::BTreeMap;
use std::path::Path;

const WHY: &str = "tiers are for x86-64 and aarch64";

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
/// Always, but for `native`.
pub fn hide(tier: Tier) -> Result<(), String> {
    machine(tier).map(|_| ())
}

pub(crate) fn questions(_: &Image<'_>, _: &[u8]) -> Result<Questions, String> {
    Err(WHY.to_owned())
}

pub(crate) fn features(_: &Image<'_>) -> Result<BTreeMap<String, usize>, String> {
    Err(WHY.to_owned())
}

/// None ever is.
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
