//! New keys where a library's context takes none: the algorithm is opened anew for each.

use crate::{Library, OpenError, Session, raw};
use model::{Algorithm, Direction};
use std::ffi::c_void;

/// Why sessions with several messages in flight take no new keys.
pub const ONE_KEY: &str = "several messages in flight share one key";

/// What stands behind the session that [`reopening`] gives.
struct State {
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    direction: Direction,
    /// None after an opening that failed.
    session: Option<Session>,
}

/// Opens an algorithm so that it takes new keys: `rekey` closes it and opens it under the new key.
/// That is what an application does with a library that has no call for it.
///
/// # Errors
/// As [`Library::open`]; and [`OpenError::Unsupported`] of a session with several messages in flight,
/// which closing would have to wait for.
pub fn reopening(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    direction: Direction,
    key: &[u8],
) -> Result<Session, OpenError> {
    let session = library.open(algorithm, direction, key)?;
    if session.in_flight() > 1 {
        return Err(OpenError::Unsupported(ONE_KEY.to_owned()));
    }
    let (flags, offers, call) =
        (session.raw().flags, session.raw().message.is_some(), session.raw().call);
    let state = Box::new(State { library, algorithm, direction, session: Some(session) });
    let table = raw::Session {
        state: Box::into_raw(state).cast(),
        flags,
        message: offers.then_some(message as raw::MessageFn),
        call,
        close: Some(close),
        rekey: Some(rekey),
        ..raw::Session::empty()
    };
    // SAFETY: the functions below take the state that was made here, and hand messages on to a
    // session of this algorithm and direction.
    Ok(unsafe { Session::new(table, algorithm, direction) })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: made by `reopening`; the caller's key is as long as the algorithm's.
    let (state, key) = unsafe {
        let state = &mut *state.cast::<State>();
        let len = state.algorithm.key_len;
        (state, std::slice::from_raw_parts(key, len))
    };
    // Closed first: an application has one context at a time.
    state.session = None;
    match state.library.open(state.algorithm, state.direction, key) {
        Ok(session) => {
            state.session = Some(session);
            raw::OK
        }
        Err(_) => raw::FAILED,
    }
}

unsafe extern "C" fn message(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: made by `reopening`.
    let state = unsafe { &mut *state.cast::<State>() };
    let Some(session) = &state.session else { return raw::FAILED };
    let table = session.raw();
    let Some(call) = table.message else { return raw::FAILED };
    // SAFETY: the session's own function and state; the message is the caller's promise.
    unsafe { call(table.state, message) }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: made by `reopening`, and this is the last call.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
