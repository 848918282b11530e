//! An opened cipher, and the single steps that its messages are made of.

use super::api::{Api, CtrlFn, Ctx, Errors, FinalFn, InitFn, UpdateFn, ctrl};
use super::context::Context;
use base::model::{Algorithm, Direction};
use contract::raw;
use std::ffi::c_int;
use std::ptr;

/// An opened cipher in one direction.
pub(super) struct State {
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

/// Written by no call that went well.
pub(super) const FAILED_LEN: c_int = -1;

impl State {
    /// Takes the context over.
    pub(super) fn new(
        api: &Api,
        context: Context,
        algorithm: &Algorithm,
        direction: Direction,
    ) -> Self {
        let calls = api.calls(direction);
        Self {
            ctx: context.as_ptr(),
            init: calls.init,
            update: calls.update,
            finish: calls.finish,
            ctrl: api.f.EVP_CIPHER_CTX_ctrl,
            tag_len: c_int::try_from(algorithm.tag_len).expect("tags are short"),
            errors: api.errors,
            _context: context,
        }
    }

    pub(super) fn ctx(&self) -> Ctx {
        self.ctx
    }

    /// Sets the nonce and keeps cipher, key and direction: a new message.
    ///
    /// # Safety
    /// `nonce` has the algorithm's length, or is null for ECB.
    #[inline(always)]
    pub(super) unsafe fn begin(&self, nonce: *const u8) -> bool {
        // SAFETY: the context is ours and set up; null keeps what was set.
        unsafe { (self.init)(self.ctx, ptr::null(), ptr::null_mut(), ptr::null(), nonce) > 0 }
    }

    /// Sets a new key and keeps cipher and direction.
    ///
    /// # Safety
    /// `key` has the algorithm's length.
    #[inline(always)]
    pub(super) unsafe fn set_key(&self, key: *const u8) -> bool {
        // SAFETY: the context is ours and set up; null keeps what was set.
        unsafe { (self.init)(self.ctx, ptr::null(), ptr::null_mut(), key, ptr::null()) > 0 }
    }

    /// One update; gives the bytes that it wrote, [`FAILED_LEN`] when it failed.
    ///
    /// # Safety
    /// `input` has `len` bytes; `output` too, unless a null says that `input` is associated data.
    #[inline(always)]
    pub(super) unsafe fn feed(&self, input: *const u8, output: *mut u8, len: usize) -> c_int {
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
    pub(super) unsafe fn associate(&self, m: &raw::Message) -> bool {
        // SAFETY: as the caller promises.
        m.aad_len == 0 || unsafe { self.feed(m.aad, ptr::null_mut(), m.aad_len) } >= 0
    }

    /// The message's update, where there is a message: a null pointer would end it.
    ///
    /// # Safety
    /// As the contract of `message`.
    #[inline(always)]
    pub(super) unsafe fn body(&self, m: &raw::Message) -> c_int {
        // SAFETY: as the caller promises.
        if m.len == 0 { 0 } else { unsafe { self.feed(m.input, m.output, m.len) } }
    }

    /// Ends the message; gives all the bytes written (OCB holds part blocks back until here),
    /// [`FAILED_LEN`] when it failed.
    ///
    /// # Safety
    /// `written` bytes of `output` have been written; it has room for what is held back.
    #[inline(always)]
    pub(super) unsafe fn end(&self, output: *mut u8, written: c_int) -> c_int {
        let mut last = FAILED_LEN;
        let rest = output.wrapping_offset(written as isize);
        // SAFETY: as the caller promises.
        let code = unsafe { (self.finish)(self.ctx, rest, &raw mut last) };
        if code > 0 { written.wrapping_add(last) } else { FAILED_LEN }
    }

    /// # Safety
    /// `tag` has `tag_len` writable bytes.
    #[inline(always)]
    pub(super) unsafe fn get_tag(&self, tag: *mut u8) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.ctrl)(self.ctx, ctrl::GET_TAG, self.tag_len, tag.cast()) > 0 }
    }

    /// # Safety
    /// `tag` has `tag_len` readable bytes.
    #[inline(always)]
    pub(super) unsafe fn set_tag(&self, tag: *mut u8) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.ctrl)(self.ctx, ctrl::SET_TAG, self.tag_len, tag.cast()) > 0 }
    }

    /// Whether update after update is taken under one tweak, each a data unit of its own. AWS-LC
    /// takes one unit for each tweak that is set; tried out here, as no library says which it is.
    pub(super) fn repeats_units(&self) -> bool {
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
    pub(super) fn done(&self, done: bool) -> i32 {
        if done { raw::OK } else { self.not_done(raw::FAILED) }
    }

    #[cold]
    pub(super) fn not_done(&self, code: i32) -> i32 {
        self.errors.clear();
        code
    }
}
