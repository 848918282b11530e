//! One message with the registers watched.

use crate::surroundings::{Left, registers};
use base::model::Direction;
use contract::{Message, Outcome, Session, raw};
use std::ffi::c_void;

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
    if table.drain.is_none() {
        // SAFETY: `Session::new`'s contract; every pointer covers the length that the contract names.
        let (code, left) = unsafe { registers::call(function, table, &message) };
        return (code.into(), left);
    }
    // Much of the work is done while the message is drained: both calls are watched as one.
    let both =
        raw::Session { state: (&raw const *table).cast_mut().cast(), ..raw::Session::empty() };
    // SAFETY: as above; `complete` takes the table as its state.
    let (code, left) = unsafe { registers::call(complete, &both, &message) };
    (code.into(), left)
}

/// A message of the session whose table is the state, completed.
unsafe extern "C" fn complete(table: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: `call` passes a table and a message, which are only read, with the header's rules kept.
    unsafe { (*table.cast::<raw::Session>()).complete(&*message) }
}
