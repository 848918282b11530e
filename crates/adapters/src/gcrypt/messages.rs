//! What runs inside the clock: the calls that an application makes for one message of a cipher.

use super::api::ctl;
use super::cipher::State;
use super::outcome::outcome;
use crate::family::calls;
use base::model::Mode;
use contract::raw;
use std::ffi::c_void;
use std::ptr;

/// The table of a mode, whose messages are not all made of nonce and text.
pub(super) fn of(mode: Mode, table: raw::Session) -> raw::Session {
    let message: raw::MessageFn = match mode {
        Mode::Ecb => message_ecb,
        Mode::Ccm => message_ccm,
        Mode::Ocb => message_ocb,
        Mode::Gcm | Mode::Poly1305 => message_aead,
        Mode::Eax => message_eax,
        Mode::Siv => message_siv,
        Mode::GcmSiv => message_gcm_siv,
        _ => return table,
    };
    let start = match mode {
        Mode::Ecb => Some(start_ecb as raw::StartFn),
        Mode::Eax => Some(start_eax as raw::StartFn),
        _ => table.start,
    };
    raw::Session { message: Some(message), start, ..table }
}

/// Functions of the table: the calls of a message in their order.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident($state:ident, $m:ident): $($call:expr),+;)+) => {$(
        $(#[$doc])*
        unsafe extern "C" fn $name(state: *mut c_void, m: *const raw::Message) -> i32 {
            // SAFETY: the session's own state; the message keeps the interface's rules.
            unsafe {
                let ($state, $m) = (&*state.cast::<State>(), &*m);
                calls!($($call),+)
            }
        }
    )+};
}

messages! {
    message_ecb(s, m): s.crypt(&s.message, m.input, m.output, m.len);

    message_aead(s, m):
        s.set_nonce(&s.message, m.nonce),
        s.authenticate(m),
        s.crypt(&s.message, m.input, m.output, m.len),
        s.tag(m.tag);

    /// CCM is told all lengths before the first byte (RFC 3610 §2.2: they are in the first block).
    message_ccm(s, m):
        s.set_nonce(&s.message, m.nonce),
        s.set_lengths(m),
        s.authenticate(m),
        s.crypt(&s.message, m.input, m.output, m.len),
        s.tag(m.tag);

    /// OCB treats the last block differently (RFC 7253 §4.2), so it is told which call is the last.
    message_ocb(s, m):
        s.set_nonce(&s.message, m.nonce),
        s.authenticate(m),
        s.ctl(&s.message, ctl::FINALIZE, ptr::null_mut(), 0),
        s.crypt(&s.message, m.input, m.output, m.len),
        s.tag(m.tag);

    /// setiv alone would leave the rest of the last message's key stream to be used up first.
    message_eax(s, m):
        s.reset(&s.message),
        s.set_nonce(&s.message, m.nonce),
        s.authenticate(m),
        s.crypt(&s.message, m.input, m.output, m.len),
        s.tag(m.tag);

    /// The vector of RFC 5297 is associated data, nonce, plaintext: an empty string that is there is
    /// not the same as none, so associated data are given also when they are empty.
    message_siv(s, m):
        s.reset(&s.message),
        s.authenticate_always(m),
        s.set_nonce(&s.message, m.nonce),
        s.crypt_synthetic(m);

    message_gcm_siv(s, m):
        s.reset(&s.message),
        s.set_nonce(&s.message, m.nonce),
        s.authenticate(m),
        s.crypt_synthetic(m);
}

/// ECB has no nonce, and nothing to begin.
unsafe extern "C" fn start_ecb(_state: *mut c_void, _nonce: *const u8) -> i32 {
    raw::OK
}

unsafe extern "C" fn start_eax(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the session's own state; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.reset(&state.stream), state.set_nonce(&state.stream, nonce))
    }
}
