//! Where two byte strings differ, in words.

/// The first difference between what a library left and what should be there; `None` when there
/// is none. `part` names what is compared (`the output`, `the tag`), `source` who says so.
pub(crate) fn difference(got: &[u8], want: &[u8], part: &str, source: &str) -> Option<String> {
    if got == want {
        return None;
    }
    let at = got.iter().zip(want).position(|(g, w)| g != w);
    Some(match at {
        Some(at) => {
            format!("byte {at} of {part} is {:02x}, {source} has {:02x}", got[at], want[at])
        }
        None => format!("{part} has {} bytes, {source} has {}", got.len(), want.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_with_both_bytes() {
        assert_eq!(difference(b"same", b"same", "the tag", "the reference"), None);
        assert_eq!(
            difference(&[1, 2, 3], &[1, 0xa0, 0xff], "the output", "the reference").as_deref(),
            Some("byte 1 of the output is 02, the reference has a0")
        );
        assert_eq!(
            difference(&[1], &[1, 2], "the output", "the vector").as_deref(),
            Some("the output has 1 bytes, the vector has 2")
        );
    }
}
