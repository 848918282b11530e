//! One message with the registers watched.

use crate::registers::{self, Left};
use contract::{Message, Outcome, Session, raw};
use model::Direction;

/// One whole message, and what the call left in the registers.
///
/// # Panics
/// As [`Session::message`].
pub fn call(session: &mut Session, m: Message<'_>) -> (Outcome, Left) {
    let algorithm = session.algorithm();
    let digest = session.direction() == Direction::Digest;
    assert!(digest || m.output.len() == m.input.len(), "output is as long as input");
    assert_eq!(m.nonce.len(), algorithm.nonce_len, "nonce length");
    assert_eq!(m.tag.len(), algorithm.tag_len, "tag length");
    let message = raw::Message {
        nonce: m.nonce.as_ptr(),
        aad: m.aad.as_ptr(),
        aad_len: m.aad.len(),
        input: m.input.as_ptr(),
        len: m.input.len(),
        output: m.output.as_mut_ptr(),
        tag: m.tag.as_mut_ptr(),
    };
    let table = session.raw();
    let function = table.message.expect("the model `message` is offered");
    // SAFETY: `Session::new`'s contract; every pointer covers the length that the contract names.
    let (code, left) = unsafe { registers::call(function, table, &message) };
    (code.into(), left)
}
