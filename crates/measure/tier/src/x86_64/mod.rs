//! CPUID answered by a signal handler.

mod apply;
mod closure;
mod fault;
mod features;
#[cfg(test)]
mod fixtures;
mod marker;
mod object;
mod rewrite;
mod sites;
mod switch;
mod trap;

pub use apply::apply;
pub use rewrite::prepare;
pub use trap::answered;

use crate::Mechanism;
use model::Tier;

/// What is read of a file that is to be loaded at a tier: how many places of it are CPUID
/// instructions and how many only look so, and how many instruction sets its code needs. For tests
/// of what any file does to the reader.
///
/// # Errors
/// Why the file cannot be read.
#[doc(hidden)]
pub fn read_object(bytes: &[u8]) -> Result<[usize; 3], String> {
    let image = object::Image::parse(bytes)?;
    let found = sites::find(&image)?;
    let within =
        |offset: &u64| bytes.get(*offset as usize..).is_some_and(|b| b.starts_with(&marker::CPUID));
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
    let fault = fault::available().is_ok();
    let mechanism = if fault { Mechanism::CpuidFault } else { Mechanism::CpuidRewrite };
    Ok((Some(mechanism), note))
}
