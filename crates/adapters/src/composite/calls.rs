//! What a composite calls, in words.

use base::model::{Direction, Passes};
use contract::Session;
use std::ffi::CString;

/// The functions of both parts, in the order in which they run.
pub(super) fn text(
    cipher: &Session,
    check: &str,
    passes: Passes,
    check_first_on_encryption: bool,
    direction: Direction,
) -> Option<CString> {
    let cipher = cipher.calls().unwrap_or_else(|| "the cipher".to_owned());
    let check_first = check_first_on_encryption == (direction == Direction::Encrypt);
    let (first, second) = if check_first { (check, &*cipher) } else { (&*cipher, check) };
    let text = match passes {
        Passes::Two => format!("{first}; then {second}"),
        Passes::One => {
            format!("in turn on pieces of {} bytes: {first}; {second}", super::pieces::PIECE)
        }
    };
    CString::new(text).ok()
}
