//! Where nobody has written down what instructions do to a secret's bytes: traces are compared, and that is all.

use super::Recordings;
use super::decoded::Decodes;
use super::found::Found;
use crate::step::{Recorded, Tape};

/// Why a clean comparison is no verdict.
pub(super) const UNFOLLOWED: Option<&str> = Some(
    "traces were compared; the secret's way through them (taint) is not followed on this architecture",
);

/// What taint found: nothing.
pub(super) struct Tainted {
    pub(super) found: Found,
    pub(super) lost: Vec<(String, usize)>,
}

pub(super) fn run(
    _recordings: &Recordings<'_>,
    _calls: &[Recorded],
    _first: &Tape,
    _decodes: &mut Decodes<'_>,
) -> Tainted {
    Tainted { found: Found::new(), lost: Vec::new() }
}
