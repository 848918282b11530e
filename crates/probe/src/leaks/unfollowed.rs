//! Where nobody has written down what instructions do to a secret's bytes: traces are compared, and that is all.

use crate::leaks::Recordings;
use crate::leaks::compare::Found;
use crate::leaks::decoded::Decodes;
use crate::step::{Recorded, Tape};

/// Why a clean comparison is no verdict.
pub(crate) const UNFOLLOWED: Option<&str> = Some(
    "traces were compared; the secret's way through them (taint) is not followed on this architecture",
);

/// What taint found: nothing.
pub(crate) struct Tainted {
    pub(crate) found: Found,
    pub(crate) lost: Vec<(String, usize)>,
}

pub(crate) fn run(
    _recordings: &Recordings<'_>,
    _calls: &[Recorded],
    _first: &Tape,
    _decodes: &mut Decodes<'_>,
) -> Tainted {
    Tainted { found: Found::new(), lost: Vec::new() }
}
