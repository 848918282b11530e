//! The library's errors as return codes of the adapter interface.

use super::api::{Error, err, error_code};
use contract::raw;

/// A `gcry_error_t` as a return code of the interface: 0 is done, a wrong tag is told from other
/// errors, everything else stays as it is. Errors carry their source in bits 24 to 31, so that none
/// of them is one of the interface's own small numbers; one without a source would be.
#[inline]
pub(super) fn outcome(error: Error) -> i32 {
    match error {
        0 => raw::OK,
        e if error_code(e) == err::CHECKSUM => raw::REJECTED,
        1..=3 => raw::FAILED,
        e => e.cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_wrong_tag_is_a_rejection() {
        let from_gcrypt = |code: u32| 1 << 24 | code;
        assert_eq!(outcome(0), raw::OK);
        assert_eq!(outcome(from_gcrypt(err::CHECKSUM)), raw::REJECTED);
        assert_eq!(outcome(from_gcrypt(139)), (1 << 24) + 139);
    }

    #[test]
    fn an_error_without_a_source_is_never_taken_for_the_interfaces_own_code() {
        assert!((1..=3).all(|error| outcome(error) == raw::FAILED));
    }
}
