//! What runs inside the clock: the calls that an application makes for one message of a cipher.

use super::api::ctl;
use super::cipher::State;
use super::outcome::outcome;
use crate::family::calls;
use contract::raw;
use model::Mode;
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

unsafe extern "C" fn message_ecb(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(state.crypt(&state.message, m.input, m.output, m.len))
    }
}

unsafe extern "C" fn message_aead(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.authenticate(m),
            state.crypt(&state.message, m.input, m.output, m.len),
            state.tag(m.tag),
        )
    }
}

/// CCM is told all lengths before the first byte (RFC 3610 §2.2: they are in the first block).
unsafe extern "C" fn message_ccm(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        let mut lengths = [m.len as u64, m.aad_len as u64, state.tag_len as u64];
        let size = size_of_val(&lengths);
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.ctl(&state.message, ctl::SET_CCM_LENGTHS, lengths.as_mut_ptr().cast(), size),
            state.authenticate(m),
            state.crypt(&state.message, m.input, m.output, m.len),
            state.tag(m.tag),
        )
    }
}

/// OCB treats the last block differently (RFC 7253 §4.2), so it is told which call is the last.
unsafe extern "C" fn message_ocb(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.authenticate(m),
            state.ctl(&state.message, ctl::FINALIZE, ptr::null_mut(), 0),
            state.crypt(&state.message, m.input, m.output, m.len),
            state.tag(m.tag),
        )
    }
}

/// setiv alone would leave the rest of the last message's key stream to be used up first.
unsafe extern "C" fn message_eax(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.reset(&state.message),
            state.set_nonce(&state.message, m.nonce),
            state.authenticate(m),
            state.crypt(&state.message, m.input, m.output, m.len),
            state.tag(m.tag),
        )
    }
}

/// The vector of RFC 5297 is associated data, nonce, plaintext: an empty string that is there is
/// not the same as none, so associated data are given also when they are empty.
unsafe extern "C" fn message_siv(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.reset(&state.message),
            state.authenticate_always(m),
            state.set_nonce(&state.message, m.nonce),
            state.crypt_synthetic(m),
        )
    }
}

unsafe extern "C" fn message_gcm_siv(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.reset(&state.message),
            state.set_nonce(&state.message, m.nonce),
            state.authenticate(m),
            state.crypt_synthetic(m),
        )
    }
}

/// ECB has no nonce, and nothing to begin.
unsafe extern "C" fn start_ecb(_state: *mut c_void, _nonce: *const u8) -> i32 {
    raw::OK
}

unsafe extern "C" fn start_eax(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.reset(&state.stream), state.set_nonce(&state.stream, nonce))
    }
}
