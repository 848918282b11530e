//! CPUID answered by a signal handler.

mod apply;
#[cfg(test)]
pub(crate) mod fixtures;
mod sites;
pub(crate) mod trap;

use crate::tier::Mechanism;
use crate::tier::rewrite::{Image, Patch, Questions};
pub use apply::apply;
use base::model::Tier;
pub(crate) use sites::features;
pub use trap::answered;

/// Nothing of a tier has to be applied before the process gives up its power.
///
/// # Errors
/// None.
pub fn hide(_: Tier) -> Result<(), String> {
    Ok(())
}

/// The CPUID instructions of a file, each replaced by the marker of [`marker`].
pub(crate) fn questions(image: &Image<'_>, _: &[u8]) -> Result<Questions, String> {
    let found = sites::find(image)?.instructions;
    let (was, becomes) = (trap::CPUID.to_vec(), trap::MARKER.to_vec());
    let patch = |offset| Patch { offset, was: was.clone(), becomes: becomes.clone() };
    Ok(Questions { places: found.len() as u64, patches: found.into_iter().map(patch).collect() })
}

/// What is read of a file that is to be loaded at a tier: how many places of it are CPUID
/// instructions and how many only look so, and how many instruction sets its code needs. For tests
/// of what any file does to the reader.
///
/// # Errors
/// Why the file cannot be read.
#[doc(hidden)]
pub fn read_object(bytes: &[u8]) -> Result<[usize; 3], String> {
    let image = Image::parse(bytes)?;
    let found = sites::find(&image)?;
    let within =
        |offset: &u64| bytes.get(*offset as usize..).is_some_and(|b| b.starts_with(&trap::CPUID));
    assert!(
        found.instructions.iter().chain(&found.others).all(within),
        "a place that is not CPUID"
    );
    Ok([found.instructions.len(), found.others.len(), sites::features(&image)?.len()])
}

/// How this machine applies tiers, and what each tier is here: `Err` says why a tier cannot be had
/// with any library.
///
/// # Errors
/// What this CPU lacks.
pub fn machine(tier: Tier) -> Result<(Option<Mechanism>, Option<String>), String> {
    let note = apply::exceeded(tier, &trap::cpuid)?;
    if tier == Tier::Native {
        return Ok((None, note));
    }
    let fault = trap::can_fault().is_ok();
    let mechanism = if fault { Mechanism::CpuidFault } else { Mechanism::CpuidRewrite };
    Ok((Some(mechanism), note))
}
