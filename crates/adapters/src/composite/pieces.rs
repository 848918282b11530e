//! What runs inside the clock: both parts over the whole message, or over its pieces in turn.

use super::check::{Check, done};
use crate::family::operations;
use base::model::Direction;
use contract::{Session, Table, raw};
use std::ffi::CString;

/// Bytes that both parts of a one-pass composite take in turn: what is read and what is written
/// fit together four times into the smallest first-level cache there is (32 KiB), and a piece is
/// long against what a call costs.
pub(super) const PIECE: usize = 4096;

/// A composite's parts, which go over the message one after the other, or `ONCE` over its pieces in turn.
pub(super) struct State<C, const ONCE: bool> {
    cipher: Session,
    check: C,
    nonce_len: usize,
    call: Option<CString>,
}

impl<C: Check, const ONCE: bool> State<C, ONCE> {
    pub(super) fn new(cipher: Session, check: C, call: Option<CString>) -> Self {
        let nonce_len = cipher.algorithm().nonce_len;
        Self { cipher, check, nonce_len, call }
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(super) fn into_session(self, direction: Direction) -> raw::Session {
        let flags = self.cipher.raw().flags & (raw::IN_PLACE | raw::COPIES | raw::ALLOCATES);
        // The state keeps the text, which does not move with it.
        let call = self.call.as_ref().map_or(std::ptr::null(), |c| c.as_ptr());
        let table = Table::new(self, flags, c"").decrypts(direction == Direction::Decrypt);
        raw::Session { call, ..table.raw() }
    }

    /// The cipher over the whole message.
    fn crypt(&mut self, m: &raw::Message) -> Result<(), i32> {
        let raw::Session { message, state, .. } = *self.cipher.raw();
        let message = message.expect("opening asked for it");
        // A cipher without authentication takes neither associated data nor a tag.
        let m = raw::Message { aad_len: 0, tag: std::ptr::null_mut(), ..*m };
        // SAFETY: the session's own function and state, a message of its algorithm's lengths.
        done(unsafe { message(state, &raw const m) })
    }

    fn start(&mut self, m: &raw::Message) -> Result<(), i32> {
        let raw::Session { start, state, .. } = *self.cipher.raw();
        let start = start.expect("opening asked for it");
        // SAFETY: the session's own function and state; the nonce is the cipher's.
        done(unsafe { start(state, m.nonce) })
    }

    unsafe fn encrypt_twice(&mut self, m: &raw::Message) -> Result<(), i32> {
        if !C::FIRST_ON_ENCRYPTION {
            self.crypt(m)?;
        }
        // SAFETY: the header's rules: what is read was given, or has just been written.
        let bytes = unsafe {
            slice(if C::FIRST_ON_ENCRYPTION { m.input } else { m.output.cast_const() }, m.len)
        };
        // SAFETY: the header's rules.
        let tag = unsafe { self.check.whole(m, self.nonce_len, bytes) }?;
        if C::FIRST_ON_ENCRYPTION {
            self.crypt(m)?;
        }
        // SAFETY: the tag has room for the check's.
        unsafe { tag.write(m.tag) };
        Ok(())
    }

    unsafe fn decrypt_twice(&mut self, m: &raw::Message) -> Result<i32, i32> {
        if C::FIRST_ON_ENCRYPTION {
            self.crypt(m)?;
        }
        // SAFETY: the header's rules: what is read was given, or has just been written.
        let bytes = unsafe {
            slice(if C::FIRST_ON_ENCRYPTION { m.output.cast_const() } else { m.input }, m.len)
        };
        // SAFETY: the header's rules.
        let tag = unsafe { self.check.whole(m, self.nonce_len, bytes) }?;
        // SAFETY: the tag that came has the check's length.
        let verdict = unsafe { tag.compare(m.tag) };
        // A MAC is checked before anything is decrypted.
        if verdict == raw::OK && !C::FIRST_ON_ENCRYPTION {
            self.crypt(m)?;
        }
        Ok(verdict)
    }

    /// `checks_input`: the check takes what goes into the cipher, else what comes out of it.
    unsafe fn once(
        &mut self,
        m: &raw::Message,
        checks_input: bool,
    ) -> Result<super::check::Tag, i32> {
        self.start(m)?;
        let nonce_len = self.nonce_len;
        // The check is borrowed for the whole message, the cipher for each piece.
        let Self { cipher, check, .. } = self;
        // SAFETY: the header's rules.
        let mut running = unsafe { check.begin(m, nonce_len) }?;
        let mut at = 0;
        while at < m.len {
            let len = PIECE.min(m.len - at);
            if checks_input {
                // SAFETY: the piece lies inside the message.
                C::update(&mut running, unsafe { slice(m.input.add(at), len) })?;
            }
            crypt_piece(cipher, m, at, len)?;
            if !checks_input {
                // SAFETY: the piece lies inside the message and has just been written.
                C::update(&mut running, unsafe { slice(m.output.add(at).cast_const(), len) })?;
            }
            at += len;
        }
        C::finish(running)
    }
}

/// The cipher over the piece that begins at `at`.
fn crypt_piece(cipher: &Session, m: &raw::Message, at: usize, len: usize) -> Result<(), i32> {
    let raw::Session { update, state, .. } = *cipher.raw();
    let update = update.expect("opening asked for it");
    // SAFETY: the session's own function and state; the piece lies inside the message.
    done(unsafe { update(state, m.input.add(at), m.output.add(at), len) })
}

operations! { impl[C: Check, const ONCE: bool] for State<C, ONCE>;
    fn message(&mut self, m) {
        let done = if ONCE {
            self.once(m, C::FIRST_ON_ENCRYPTION).map(|tag| tag.write(m.tag))
        } else {
            self.encrypt_twice(m)
        };
        done.map_or_else(|code| code, |()| raw::OK)
    }

    fn decrypt(&mut self, m) {
        let verdict = if ONCE {
            self.once(m, !C::FIRST_ON_ENCRYPTION).map(|tag| tag.compare(m.tag))
        } else {
            self.decrypt_twice(m)
        };
        verdict.unwrap_or_else(|code| code)
    }
}

/// The bytes behind a pointer, which may be null where there are none.
///
/// # Safety
/// `pointer` covers `len` bytes for as long as the result is used, and nobody writes them then.
pub(super) unsafe fn slice<'a>(pointer: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(pointer, len) }
}
