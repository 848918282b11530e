//! CBC with dm-crypt's IV (`essiv:sha256`) as one operation, over any library: the sector's number goes through the
//! library's own AES-256 under its SHA-256 of the key, and what comes out is the IV of its own CBC.

use crate::family::{has_direction, operations};
use base::model::{Algorithm, Direction};
use contract::{Library, Message, OpenError, Outcome, Session, Table, raw};
use std::ffi::CString;
use std::ptr;

const BLOCK_LEN: usize = 16;

pub(crate) fn open(
    library: &dyn Library,
    algorithm: &'static Algorithm,
    direction: Direction,
    key: &[u8],
) -> Result<Session, OpenError> {
    has_direction(algorithm, direction)?;
    let session = |name: &str, direction: Direction, key: &[u8]| {
        let part = Algorithm::find(name).expect("the table has the parts");
        let session = library.open(part, direction, key).map_err(|error| match error {
            OpenError::Unsupported(why) => OpenError::Unsupported(format!("{name}: {why}")),
            OpenError::Failed(why) => OpenError::Failed(format!("{name}: {why}")),
        })?;
        if session.has_message() && session.in_flight() <= 1 {
            return Ok(session);
        }
        Err(OpenError::Unsupported(format!("{name}: not offered one whole message at a time")))
    };
    let cbc = session(algorithm.name.trim_end_matches("-essiv"), direction, key)?;
    let mut salt = [0; 32];
    let hashed = session("sha256", Direction::Digest, &[])?.message(Message {
        nonce: &[],
        aad: &[],
        input: key,
        output: &mut [],
        tag: &mut salt,
    });
    if hashed != Outcome::Done {
        return Err(OpenError::Failed(format!("sha256 of the key returned {hashed:?}")));
    }
    let numbers = session("aes-256-ecb", Direction::Encrypt, &salt)?;
    let in_words = |session: &Session| session.calls().unwrap_or_default();
    let call = format!("{}, {}", in_words(&numbers), in_words(&cbc));
    let call = CString::new(call).ok();
    let either = numbers.raw().flags | cbc.raw().flags;
    let flags = (cbc.raw().flags & raw::IN_PLACE) | (either & (raw::COPIES | raw::ALLOCATES));
    // The state keeps the text, which does not move with it.
    let text = call.as_ref().map_or(ptr::null(), |c| c.as_ptr());
    let table =
        Table::new(State { numbers, cbc, iv: [0; BLOCK_LEN], _call: call }, flags, c"").raw();
    // SAFETY: a message of this algorithm is one of CBC's with a nonce as long; the state is the session's own.
    Ok(unsafe { Session::new(raw::Session { call: text, ..table }, algorithm, direction) })
}

struct State {
    numbers: Session,
    cbc: Session,
    iv: [u8; BLOCK_LEN],
    _call: Option<CString>,
}

impl State {
    /// # Safety
    /// The message keeps the header's rules.
    unsafe fn crypt(&mut self, m: &raw::Message) -> i32 {
        let number = raw::Message {
            nonce: ptr::null(),
            aad: ptr::null(),
            aad_len: 0,
            input: m.nonce,
            len: BLOCK_LEN,
            output: self.iv.as_mut_ptr(),
            tag: ptr::null_mut(),
        };
        // SAFETY: a nonce is a block, and so is the IV.
        let code = unsafe { message(&self.numbers, &number) };
        if code != raw::OK {
            return code;
        }
        let data = raw::Message { nonce: self.iv.as_ptr(), aad_len: 0, tag: ptr::null_mut(), ..*m };
        // SAFETY: the caller's.
        unsafe { message(&self.cbc, &data) }
    }
}

/// # Safety
/// The message is one of the session's algorithm.
unsafe fn message(session: &Session, m: &raw::Message) -> i32 {
    let raw::Session { message, state, .. } = *session.raw();
    let message = message.expect("opening asked for it");
    // SAFETY: the session's own function and state; the caller's.
    unsafe { message(state, &raw const *m) }
}

operations! { impl for State;
    fn message(&mut self, m) {
        self.crypt(m)
    }
}
