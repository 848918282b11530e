//! Verification: proves that a library computes what its algorithm's name says, before anything
//! is timed and after. No unsafe code, no clock.
//!
//! [`verify`] runs every check that an algorithm has against one library; each check is a function in
//! `checks/`. The answers come from [`reference`] and from published vectors (`vectors/`).
#![forbid(unsafe_code)]

mod checks;
mod context;
mod inputs;
pub mod reference;
pub mod vectors;

use base::model::Algorithm;
pub use checks::NAMES as CHECK_NAMES;
use context::Context;
pub use context::{Check, Finding, Passed, Repeated, Scope, Tried};
use contract::Library;
pub use inputs::{FIXED_SIZES, may_be_refused};

/// Proves that `library` computes `algorithm`, in every direction that the algorithm has. `scope` says
/// what is tried beside the fixed inputs.
///
/// `progress` is called with the name of each check before it begins, so that a crash of the
/// process can be named after the check that it happened in.
///
/// # Errors
/// [`Finding`] says whether the library lacks the algorithm, failed to open it, or was refused by
/// a check, and why. Nothing that was found may be timed.
pub fn verify(
    library: &dyn Library,
    algorithm: &'static Algorithm,
    scope: &Scope<'_>,
    progress: &mut dyn FnMut(&'static str),
) -> Result<Passed, Finding> {
    let mut context = Context::new(library, algorithm, scope, progress)?;
    let mut passed = Vec::with_capacity(checks::ALL.len());
    for check in checks::ALL.iter().filter(|c| (c.applies)(algorithm)) {
        context.announce(check.name);
        let count = (check.run)(&mut context).map_err(|stop| stop.during(check.name))?;
        // A check of something that the session does not offer compares nothing, and a check
        // that compared nothing has not passed.
        if count > 0 {
            passed.push(Check { name: check.name, count });
        }
    }
    let (tried, digest) = context.into_results();
    Ok(Passed { checks: passed, digest, tried })
}
