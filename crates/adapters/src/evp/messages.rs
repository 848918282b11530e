//! What runs inside the clock: the calls that an application makes for one message.

use super::api::{Api, CtrlFn, Ctx, Errors, FinalFn, InitFn, UpdateFn, ctrl};
use super::context::Context;
use contract::raw;
use model::{Algorithm, Direction, Mode};
use std::ffi::{c_int, c_void};
use std::ptr;

/// An opened cipher in one direction.
struct State {
    ctx: Ctx,
    init: InitFn,
    update: UpdateFn,
    finish: FinalFn,
    ctrl: CtrlFn,
    tag_len: c_int,
    errors: Errors,
    /// Frees `ctx` when the state is dropped.
    _context: Context,
}

/// The table for the timing loop; `close` there frees the context.
pub(super) fn session(
    api: &Api,
    context: Context,
    algorithm: &Algorithm,
    direction: Direction,
) -> raw::Session {
    let calls = api.calls(direction);
    let state = State {
        ctx: context.as_ptr(),
        init: calls.init,
        update: calls.update,
        finish: calls.finish,
        ctrl: api.ctrl,
        tag_len: c_int::try_from(algorithm.tag_len).expect("tags are short"),
        errors: api.errors,
        _context: context,
    };
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
    }
}

/// Frees the state.
unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `session` made it of a box; the contract has `close` called once, last.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}

/// Written by no call that went well.
const FAILED_LEN: c_int = -1;

impl State {
    /// Sets the nonce and keeps cipher, key and direction: a new message.
    ///
    /// # Safety
    /// `nonce` has the algorithm's length, or is null for ECB.
    #[inline(always)]
    unsafe fn begin(&self, nonce: *const u8) -> bool {
        // SAFETY: the context is ours and set up; null keeps what was set.
        unsafe { (self.init)(self.ctx, ptr::null(), ptr::null_mut(), ptr::null(), nonce) > 0 }
    }

    /// One update; gives the bytes that it wrote, [`FAILED_LEN`] when it failed.
    ///
    /// # Safety
    /// `input` has `len` bytes; `output` too, unless a null says that `input` is associated data.
    #[inline(always)]
    unsafe fn feed(&self, input: *const u8, output: *mut u8, len: usize) -> c_int {
        let Ok(len) = c_int::try_from(len) else { return FAILED_LEN };
        let mut written = FAILED_LEN;
        // SAFETY: as the caller promises; `written` is writable.
        let code = unsafe { (self.update)(self.ctx, output, &raw mut written, input, len) };
        if code > 0 { written } else { FAILED_LEN }
    }

    /// Associated data, where there is any: a null pointer would end the message.
    ///
    /// # Safety
    /// As the contract of `message`.
    #[inline(always)]
    unsafe fn associate(&self, m: &raw::Message) -> bool {
        // SAFETY: as the caller promises.
        m.aad_len == 0 || unsafe { self.feed(m.aad, ptr::null_mut(), m.aad_len) } >= 0
    }

    /// The message's update, where there is a message: a null pointer would end it.
    ///
    /// # Safety
    /// As the contract of `message`.
    #[inline(always)]
    unsafe fn body(&self, m: &raw::Message) -> c_int {
        // SAFETY: as the caller promises.
        if m.len == 0 { 0 } else { unsafe { self.feed(m.input, m.output, m.len) } }
    }

    /// Ends the message; gives all the bytes written (OCB holds part blocks back until here),
    /// [`FAILED_LEN`] when it failed.
    ///
    /// # Safety
    /// `written` bytes of `output` have been written; it has room for what is held back.
    #[inline(always)]
    unsafe fn end(&self, output: *mut u8, written: c_int) -> c_int {
        let mut last = FAILED_LEN;
        let rest = output.wrapping_offset(written as isize);
        // SAFETY: as the caller promises.
        let code = unsafe { (self.finish)(self.ctx, rest, &raw mut last) };
        if code > 0 { written.wrapping_add(last) } else { FAILED_LEN }
    }

    /// # Safety
    /// `tag` has `tag_len` writable bytes.
    #[inline(always)]
    unsafe fn get_tag(&self, tag: *mut u8) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.ctrl)(self.ctx, ctrl::GET_TAG, self.tag_len, tag.cast()) > 0 }
    }

    /// # Safety
    /// `tag` has `tag_len` readable bytes.
    #[inline(always)]
    unsafe fn set_tag(&self, tag: *mut u8) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.ctrl)(self.ctx, ctrl::SET_TAG, self.tag_len, tag.cast()) > 0 }
    }

    /// Whether update after update is taken under one tweak, each a data unit of its own. AWS-LC
    /// takes one unit for each tweak that is set; tried out here, as no library says which it is.
    fn repeats_units(&self) -> bool {
        let (nonce, unit) = ([0; 16], [0; 16]);
        let mut outputs = [[0; 16]; 2];
        // SAFETY: a tweak has 16 bytes, and the buffers have the 16 of the shortest unit.
        let taken = unsafe {
            self.begin(nonce.as_ptr())
                && outputs.iter_mut().all(|o| self.feed(unit.as_ptr(), o.as_mut_ptr(), 16) == 16)
        };
        self.errors.clear();
        taken && outputs[0] == outputs[1]
    }

    #[inline(always)]
    fn done(&self, done: bool) -> i32 {
        if done { raw::OK } else { self.not_done(raw::FAILED) }
    }

    #[cold]
    fn not_done(&self, code: i32) -> i32 {
        self.errors.clear();
        code
    }
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
