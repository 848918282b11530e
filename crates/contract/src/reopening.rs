//! New keys where a library's context takes none: the algorithm is opened anew for each.

use crate::{Library, OpenError, Operations, Session, Table, raw};
use base::model::{Algorithm, Direction};

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
    let raw::Session { flags, call, .. } = *session.raw();
    let offers = session.has_message();
    let state = State { library, algorithm, direction, session: Some(session) };
    let table = Table::new(state, flags, c"").rekeys(c"").raw();
    let message = table.message.filter(|_| offers);
    let table = raw::Session { message, call, rekey_call: std::ptr::null(), ..table };
    // SAFETY: the state's functions hand messages on to a session of this algorithm and direction.
    Ok(unsafe { Session::new(table, algorithm, direction) })
}

impl Operations for State {
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        let Some(session) = &self.session else { return raw::FAILED };
        let table = session.raw();
        let Some(call) = table.message else { return raw::FAILED };
        // SAFETY: the session's own function and state; the message is the caller's promise.
        unsafe { call(table.state, m) }
    }

    unsafe fn rekey(&mut self, key: *const u8) -> i32 {
        // SAFETY: the caller's key is as long as the algorithm's.
        let key = unsafe { std::slice::from_raw_parts(key, self.algorithm.key_len) };
        // Closed first: an application has one context at a time.
        self.session = None;
        match self.library.open(self.algorithm, self.direction, key) {
            Ok(session) => {
                self.session = Some(session);
                raw::OK
            }
            Err(_) => raw::FAILED,
        }
    }
}
