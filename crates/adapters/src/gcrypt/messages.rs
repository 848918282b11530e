//! What runs inside the clock: the calls that an application makes for one message of a cipher.

use super::api::ctl;
use super::cipher::State;
use super::outcome::calls;
use contract::raw;
use model::Mode;
use std::ffi::c_void;
use std::ptr;

/// The table's functions for a mode; `message` and, where the mode has streams, `start` and
/// `update`.
pub(super) fn functions(mode: Mode) -> (raw::MessageFn, Option<(raw::StartFn, raw::UpdateFn)>) {
    let whole: raw::MessageFn = match mode {
        Mode::Ecb => message_ecb,
        Mode::Ccm => message_ccm,
        Mode::Ocb => message_ocb,
        Mode::Gcm | Mode::Poly1305 => message_aead,
        Mode::Eax => message_eax,
        Mode::Siv => message_siv,
        Mode::GcmSiv => message_gcm_siv,
        _ => message_cipher,
    };
    let stream: Option<(raw::StartFn, raw::UpdateFn)> = match mode {
        Mode::Ecb => Some((start_ecb, update)),
        Mode::Eax => Some((start_eax, update)),
        // CCM has the lengths of a message in its first block; the SIVs go over it twice.
        Mode::Ccm | Mode::Siv | Mode::GcmSiv => None,
        _ => Some((start, update)),
    };
    (whole, stream)
}

unsafe extern "C" fn message_ecb(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(state.crypt(&state.message, m.input, m.output, m.len))
    }
}

unsafe extern "C" fn message_cipher(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.crypt(&state.message, m.input, m.output, m.len)
        )
    }
}

unsafe extern "C" fn message_aead(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
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
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        let mut lengths = [m.len as u64, m.aad_len as u64, state.tag_len as u64];
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.ctl(
                &state.message,
                ctl::SET_CCM_LENGTHS,
                lengths.as_mut_ptr().cast(),
                size_of_val(&lengths)
            ),
            state.authenticate(m),
            state.crypt(&state.message, m.input, m.output, m.len),
            state.tag(m.tag),
        )
    }
}

/// OCB treats the last block differently (RFC 7253 §4.2), so it is told which call is the last.
unsafe extern "C" fn message_ocb(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
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
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
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
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
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
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
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

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `into_session` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.set_nonce(&state.stream, nonce))
    }
}

unsafe extern "C" fn start_eax(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `into_session` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.reset(&state.stream), state.set_nonce(&state.stream, nonce))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `into_session` made; the buffers keep the interface's rules.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.crypt(&state.stream, input, output, len))
    }
}
