//! Where no registers are looked at.

use contract::raw;

/// What a call left behind that is not its own: nothing is looked at here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Never told here.
    pub uppers: bool,
}

impl Left {
    pub fn broken_rules(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Calls `message` of a session once.
///
/// # Safety
/// As a call of the function itself: the rules of `include/ciphermark.h` hold for both arguments.
pub(crate) unsafe fn call(
    function: raw::MessageFn,
    session: &raw::Session,
    message: &raw::Message,
) -> (i32, Left) {
    // SAFETY: the caller's.
    (unsafe { function(session.state, message) }, Left::default())
}
