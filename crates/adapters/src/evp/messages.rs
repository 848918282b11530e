//! What runs inside the clock: the calls that an application makes for one message.

use super::api::Api;
use super::context::Context;
use super::state::{FAILED_LEN, State};
use contract::raw;
use model::{Algorithm, Direction, Mode};
use std::ffi::{c_int, c_void};
use std::ptr;

/// The table for the timing loop; `close` there frees the context.
pub(super) fn session(
    api: &Api,
    context: Context,
    algorithm: &Algorithm,
    direction: Direction,
) -> raw::Session {
    let state = State::new(api, context, algorithm, direction);
    let encrypts = direction == Direction::Encrypt;
    let message: raw::MessageFn = match algorithm.mode {
        Mode::Ecb => ecb,
        Mode::Ccm if encrypts => ccm_encrypt,
        Mode::Ccm => ccm_decrypt,
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 if encrypts => aead_encrypt,
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 => aead_decrypt,
        _ => cipher,
    };
    let (start, update): (raw::StartFn, raw::UpdateFn) = match algorithm.mode {
        Mode::Ecb => (start_ecb, update),
        Mode::Ocb => (start, update_blocks),
        _ => (start, update),
    };
    let streams = match algorithm.mode {
        // A message's length goes into its first block, and all of the message into one update.
        Mode::Ccm => false,
        Mode::Xts => state.repeats_units(),
        _ => true,
    };
    raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: streams.then_some(start),
        update: streams.then_some(update),
        close: Some(close),
        ..raw::Session::empty()
    }
}

/// Frees the state.
unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `session` made it of a box; the contract has `close` called once, last.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}

/// Whether so many bytes were written as the message has.
#[inline(always)]
fn whole(written: c_int, len: usize) -> bool {
    usize::try_from(written) == Ok(len)
}

/// # Safety
/// As the contract of `message`; the nonce is that of `m`, or null for ECB.
#[inline(always)]
unsafe fn plain(state: &State, m: &raw::Message, nonce: *const u8) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        if !state.begin(nonce) {
            return state.not_done(raw::FAILED);
        }
        let written = state.body(m);
        state.done(written >= 0 && whole(state.end(m.output, written), m.len))
    }
}

/// IV, update, final.
unsafe extern "C" fn cipher(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        plain(state, m, m.nonce)
    }
}

/// As [`cipher`], without an IV: the initialisation still separates message from message.
unsafe extern "C" fn ecb(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe { plain(&*state.cast::<State>(), &*message, ptr::null()) }
}

/// Nonce, associated data, update, final, tag.
unsafe extern "C" fn aead_encrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        if !(state.begin(m.nonce) && state.associate(m)) {
            return state.not_done(raw::FAILED);
        }
        let written = state.body(m);
        state.done(
            written >= 0 && whole(state.end(m.output, written), m.len) && state.get_tag(m.tag),
        )
    }
}

/// Nonce, expected tag, associated data, update, final: where the tag is compared.
unsafe extern "C" fn aead_decrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        if !(state.begin(m.nonce) && state.set_tag(m.tag) && state.associate(m)) {
            return state.not_done(raw::FAILED);
        }
        let written = state.body(m);
        if written < 0 {
            return state.not_done(raw::FAILED);
        }
        match state.end(m.output, written) {
            FAILED_LEN => state.not_done(raw::REJECTED),
            all => state.done(whole(all, m.len)),
        }
    }
}

/// What the three bytes of length that a nonce of 12 bytes leaves can say (NIST SP 800-38C A.1).
/// OpenSSL is not asked for more: it would fail at the update, and leave a context whose next
/// messages fail too, because `CRYPTO_ccm128_encrypt` returns with the flags of its nonce cut off.
const CCM_MAX_LEN: usize = (1 << 24) - 1;

/// Total length and associated data of a CCM message. The data's update is made even when there
/// is none: after a rejected message it is what AWS-LC begins the next one with.
///
/// # Safety
/// As the contract of `message`.
#[inline(always)]
unsafe fn ccm_associate(state: &State, m: &raw::Message) -> bool {
    // SAFETY: as the caller promises; a null input and output announce the length.
    unsafe {
        m.len <= CCM_MAX_LEN
            && state.feed(ptr::null(), ptr::null_mut(), m.len) >= 0
            && state.feed(some_pointer(m.aad.cast_mut()), ptr::null_mut(), m.aad_len) >= 0
    }
}

/// A pointer to no bytes that is not null, which would mean something else.
#[inline(always)]
fn some_pointer(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() { ptr::dangling_mut() } else { pointer }
}

/// Nonce, total length, associated data, the one update, tag. CCM's final does nothing.
unsafe extern "C" fn ccm_encrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`. An empty message needs its update: the tag is made there.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        state.done(
            state.begin(m.nonce)
                && ccm_associate(state, m)
                && whole(state.feed(input, output, m.len), m.len)
                && state.get_tag(m.tag),
        )
    }
}

/// Nonce, expected tag, total length, associated data, the one update: where the tag is compared.
unsafe extern "C" fn ccm_decrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`. An empty message needs its update: the tag is read there.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        if !(state.begin(m.nonce) && state.set_tag(m.tag) && ccm_associate(state, m)) {
            return state.not_done(raw::FAILED);
        }
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        match state.feed(input, output, m.len) {
            FAILED_LEN => state.not_done(raw::REJECTED),
            all => state.done(whole(all, m.len)),
        }
    }
}

/// Sets the IV of a stream.
unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the contract of `start`.
    unsafe {
        let state = &*state.cast::<State>();
        state.done(state.begin(nonce))
    }
}

/// As [`start`], without an IV.
unsafe extern "C" fn start_ecb(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: the contract of `start`.
    unsafe { start(state, ptr::null()) }
}

/// Continues a stream: one update, as in `openssl speed -evp`.
unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the contract of `update`.
    unsafe {
        let state = &*state.cast::<State>();
        state.done(whole(state.feed(input, output, len), len))
    }
}

/// As [`update`], in whole blocks: with a part block held back, a later update would write past
/// the end of its output.
unsafe extern "C" fn update_blocks(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    if !len.is_multiple_of(16) {
        return raw::FAILED;
    }
    // SAFETY: the contract of `update`.
    unsafe { update(state, input, output, len) }
}
