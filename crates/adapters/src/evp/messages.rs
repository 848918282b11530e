//! What runs inside the clock: the calls that an application makes for one message.

use super::api::Api;
use super::context::Context;
use super::state::{FAILED_LEN, State};
use super::{calls, ccm, gcm_siv};
use crate::family::operations;
use base::model::{Algorithm, Direction, Mode};
use contract::{Operations, Table, raw};
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
    let streams = match algorithm.mode {
        // A message's length goes into its first block, and all of the message into one update.
        Mode::Ccm => false,
        // The tag, which encryption begins with, is made of the whole message.
        Mode::GcmSiv => false,
        Mode::Xts => state.repeats_units(),
        _ => true,
    };
    // Associated data is kept in memory that is allocated for it.
    let allocates = if algorithm.mode == Mode::GcmSiv { raw::ALLOCATES } else { 0 };
    let call = calls::cipher(algorithm.mode, direction);
    let table = Table::new(state, raw::IN_PLACE | allocates, call).streams_if(streams);
    let table = table.rekeys(calls::init(direction)).raw();
    let message: raw::MessageFn = match algorithm.mode {
        Mode::Ecb => ecb,
        Mode::Stream => chacha,
        Mode::Ccm if encrypts => ccm::encrypt,
        Mode::Ccm => ccm::decrypt,
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 if encrypts => aead_encrypt,
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 => aead_decrypt,
        Mode::GcmSiv if encrypts => gcm_siv::encrypt,
        Mode::GcmSiv => gcm_siv::decrypt,
        _ => return table,
    };
    let (start, update) = match algorithm.mode {
        Mode::Ecb => (Some(start_ecb as raw::StartFn), table.update),
        Mode::Stream => (Some(start_chacha as raw::StartFn), table.update),
        Mode::Ocb => (table.start, Some(update_blocks as raw::UpdateFn)),
        _ => (table.start, table.update),
    };
    raw::Session { message: Some(message), start, update, ..table }
}

operations! { impl for State;
    /// IV, update, final.
    fn message(&mut self, m) {
        plain(self, m, m.nonce)
    }

    /// Sets the IV of a stream.
    fn start(&mut self, nonce) {
        self.done(self.begin(nonce))
    }

    /// Continues a stream: one update, as in `openssl speed -evp`.
    fn update(&mut self, input, output, len) {
        self.done(whole(self.feed(input, output, len), len))
    }

    /// A new key for the context, which keeps its cipher; the nonce comes with the message.
    fn rekey(&mut self, key) {
        self.done(self.set_key(key))
    }
}

/// Whether so many bytes were written as the message has.
#[inline(always)]
pub(super) fn whole(written: c_int, len: usize) -> bool {
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

/// Update and final without an IV: the initialisation still separates message from message.
unsafe extern "C" fn ecb(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe { plain(&*state.cast::<State>(), &*message, ptr::null()) }
}

/// ChaCha20's IV in OpenSSL and LibreSSL is the counter's start, which is 0, before the nonce.
///
/// # Safety
/// `nonce` has 12 bytes.
#[inline(always)]
unsafe fn chacha_iv(nonce: *const u8) -> [u8; 16] {
    let mut iv = [0; 16];
    // SAFETY: 12 bytes are left behind the counter, as many as the nonce has.
    unsafe { ptr::copy_nonoverlapping(nonce, iv.as_mut_ptr().add(4), 12) };
    iv
}

/// IV, update, final, with the counter before the nonce.
unsafe extern "C" fn chacha(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        plain(state, m, chacha_iv(m.nonce).as_ptr())
    }
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

/// A pointer to no bytes that is not null, which would mean something else.
#[inline(always)]
pub(super) fn some_pointer(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() { ptr::dangling_mut() } else { pointer }
}

/// Begins a stream without an IV.
unsafe extern "C" fn start_ecb(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: the contract of `start`.
    unsafe { (*state.cast::<State>()).start(ptr::null()) }
}

/// Begins a stream with the counter before the nonce.
unsafe extern "C" fn start_chacha(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the contract of `start`.
    unsafe { (*state.cast::<State>()).start(chacha_iv(nonce).as_ptr()) }
}

/// Continues a stream in whole blocks: with a part block held back, a later update would write past
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
    unsafe { (*state.cast::<State>()).update(input, output, len) }
}
