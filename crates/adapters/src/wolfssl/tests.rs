//! What there is to test of the library besides `testing`.

use crate::testing::WOLFSSL;
use base::model::Direction;
use contract::{Message, Outcome};
use testing::trial::open;

/// The published benchmark took an XTS call that returned an error at once for a fast one.
#[test]
fn a_call_that_the_library_refuses_is_an_error_and_not_a_fast_success() {
    let Some(library) = WOLFSSL.library() else { return };
    let mut session = open(&*library, "aes-256-xts", Direction::Encrypt);
    let outcome = session.message(Message {
        nonce: &[7; 16],
        aad: &[],
        input: &[0; 15],
        output: &mut [0; 15],
        tag: &mut [],
    });
    assert!(matches!(outcome, Outcome::Error(code) if code < 0), "{outcome:?}");
}
