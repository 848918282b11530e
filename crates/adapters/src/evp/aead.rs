//! `EVP_AEAD` of BoringSSL and AWS-LC, with the tag apart from the ciphertext.

use super::api::Errors;
use super::mac::gmac;
use super::{messages, state};
use contract::raw;
use loader::SharedObject;
use model::{Algorithm, Direction, Mode};
use std::ffi::{CStr, c_int, c_ulong, c_void};
use std::ptr;

/// `CIPHER_R_BAD_DECRYPT`: the tag is wrong, as against "too large" and the like.
const BAD_DECRYPT: c_ulong = 101;

/// `EVP_AEAD_CTX *`
pub(super) type Ctx = *mut c_void;
pub(super) type GetterFn = unsafe extern "C" fn() -> *const c_void;
pub(super) type NewFn = unsafe extern "C" fn(*const c_void, *const u8, usize, usize) -> Ctx;
pub(super) type FreeFn = unsafe extern "C" fn(Ctx);

/// `EVP_AEAD_CTX_seal_scatter(ctx, out, out_tag, out_tag_len, max_out_tag_len, nonce, nonce_len,
/// in, in_len, extra_in, extra_in_len, ad, ad_len)`
type SealFn = unsafe extern "C" fn(
    Ctx,
    *mut u8,
    *mut u8,
    *mut usize,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
) -> c_int;

/// `EVP_AEAD_CTX_open_gather(ctx, out, nonce, nonce_len, in, in_len, in_tag, in_tag_len, ad,
/// ad_len)`
type OpenFn = unsafe extern "C" fn(
    Ctx,
    *mut u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
) -> c_int;

/// The name of the function that gives the `EVP_AEAD` of an algorithm; GMAC is made with GCM.
pub(super) fn getter(algorithm: &Algorithm) -> String {
    format!("EVP_aead_{}", algorithm.name.replace("-gmac", "-gcm").replace('-', "_"))
}

/// The functions that keep the tag apart from the ciphertext, and the algorithm.
#[derive(Clone, Copy)]
pub(super) struct Aead {
    getter: GetterFn,
    new: NewFn,
    free: FreeFn,
    seal: SealFn,
    open: OpenFn,
}

impl Aead {
    /// `None` when the library does not have them, or not for this algorithm.
    pub(super) fn find(object: &SharedObject, algorithm: &Algorithm) -> Option<Self> {
        // SAFETY: the types are those of aead.h.
        unsafe {
            Some(Self {
                getter: object.function(&getter(algorithm))?,
                new: object.function("EVP_AEAD_CTX_new")?,
                free: object.function("EVP_AEAD_CTX_free")?,
                seal: object.function("EVP_AEAD_CTX_seal_scatter")?,
                open: object.function("EVP_AEAD_CTX_open_gather")?,
            })
        }
    }

    /// Does the key schedule. `stream`, where there is one, is the same cipher under the same key
    /// as an `EVP_CIPHER`: an `EVP_AEAD` takes whole messages only. `None` when the library opens
    /// no messages of this algorithm whose tag is apart.
    ///
    /// # Errors
    /// The library's reason.
    pub(super) fn session(
        &self,
        errors: Errors,
        algorithm: &Algorithm,
        direction: Direction,
        key: &[u8],
        stream: Option<state::State>,
    ) -> Result<Option<raw::Session>, String> {
        // SAFETY: the getter takes nothing; `key` covers its length.
        let ctx =
            unsafe { (self.new)((self.getter)(), key.as_ptr(), key.len(), algorithm.tag_len) };
        if ctx.is_null() {
            return Err(format!("EVP_AEAD_CTX_new: {}", errors.take()));
        }
        let Algorithm { nonce_len, tag_len, .. } = *algorithm;
        let streams = stream.is_some();
        let key_len = key.len();
        let state = State { ctx, functions: *self, key_len, nonce_len, tag_len, errors, stream };
        if direction == Direction::Decrypt && !state.gathers() {
            return Ok(None);
        }
        let (message, call): (raw::MessageFn, &CStr) = match direction {
            Direction::Digest => (authenticate, c"EVP_AEAD_CTX_seal_scatter"),
            Direction::Decrypt => (decrypt, c"EVP_AEAD_CTX_open_gather"),
            _ => (encrypt, c"EVP_AEAD_CTX_seal_scatter"),
        };
        let (update, finish): (raw::UpdateFn, Option<raw::FinishFn>) = match algorithm.mode {
            Mode::Gmac => (gmac_update, Some(gmac_finish)),
            _ => (update, None),
        };
        Ok(Some(raw::Session {
            state: Box::into_raw(Box::new(state)).cast(),
            flags: raw::IN_PLACE,
            message: Some(message),
            start: streams.then_some(start),
            update: streams.then_some(update),
            finish: finish.filter(|_| streams),
            call: call.as_ptr(),
            close: Some(close),
            rekey: Some(rekey),
            rekey_call: c"EVP_AEAD_CTX_free, EVP_AEAD_CTX_new".as_ptr(),
            ..raw::Session::empty()
        }))
    }
}

struct State {
    ctx: Ctx,
    functions: Aead,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
    errors: Errors,
    stream: Option<state::State>,
}

/// An `EVP_AEAD_CTX` has no call for a new key: it is made anew.
unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: the contract of `rekey`; the old context is used no more, also where there is no new one:
    // freeing null does nothing, and no message follows a failure.
    unsafe {
        let s = &mut *state.cast::<State>();
        (s.functions.free)(s.ctx);
        s.ctx = (s.functions.new)((s.functions.getter)(), key, s.key_len, s.tag_len);
        if s.ctx.is_null() { s.failed() } else { raw::OK }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the context came from EVP_AEAD_CTX_new and is freed nowhere else.
        unsafe { (self.functions.free)(self.ctx) }
    }
}

impl State {
    /// Seals `input` with `aad` around it.
    ///
    /// # Safety
    /// The contract of `message`, for each part.
    #[inline(always)]
    unsafe fn seal(
        &self,
        m: &raw::Message,
        (input, len): (*const u8, usize),
        (aad, aad_len): (*const u8, usize),
    ) -> i32 {
        let mut tag_len = 0;
        // SAFETY: as the caller promises; no extra input.
        let code = unsafe {
            (self.functions.seal)(
                self.ctx,
                m.output,
                m.tag,
                &raw mut tag_len,
                self.tag_len,
                m.nonce,
                self.nonce_len,
                input,
                len,
                ptr::null(),
                0,
                aad,
                aad_len,
            )
        };
        if code == 1 && tag_len == self.tag_len { raw::OK } else { self.failed() }
    }

    /// Opens `m`.
    ///
    /// # Safety
    /// The contract of `message`.
    #[inline(always)]
    unsafe fn open(&self, m: &raw::Message) -> i32 {
        // SAFETY: as the caller promises.
        let code = unsafe {
            (self.functions.open)(
                self.ctx,
                m.output,
                m.nonce,
                self.nonce_len,
                m.input,
                m.len,
                m.tag,
                self.tag_len,
                m.aad,
                m.aad_len,
            )
        };
        if code == 1 { raw::OK } else { self.not_opened() }
    }

    /// Whether a forgery of an empty message is found to be one: BoringSSL of 2022 says of
    /// AES-GCM-SIV that it does not have this call.
    fn gathers(&self) -> bool {
        let (nonce, mut tag) = ([0_u8; 64], [0_u8; 64]);
        let forgery = raw::Message {
            nonce: nonce.as_ptr(),
            aad: ptr::null(),
            aad_len: 0,
            input: ptr::null(),
            len: 0,
            output: ptr::null_mut(),
            tag: tag.as_mut_ptr(),
        };
        // SAFETY: nonces and tags are shorter than theirs here; all else is empty.
        unsafe { self.open(&forgery) != raw::FAILED }
    }

    #[cold]
    fn failed(&self) -> i32 {
        self.errors.clear();
        raw::FAILED
    }

    #[cold]
    fn not_opened(&self) -> i32 {
        let rejected = self.errors.last_reason() == BAD_DECRYPT;
        self.errors.clear();
        if rejected { raw::REJECTED } else { raw::FAILED }
    }

    /// The state that the functions of streams take.
    fn stream(&self) -> *mut c_void {
        let stream = self.stream.as_ref().expect("streams are offered where there is one");
        ptr::from_ref(stream).cast_mut().cast()
    }
}

/// Frees the state.
unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `session` made it of a box; the contract has `close` called once, last.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}

/// One call seals the whole message.
unsafe extern "C" fn encrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (s, m) = (&*state.cast::<State>(), &*message);
        s.seal(m, (m.input, m.len), (m.aad, m.aad_len))
    }
}

/// GMAC: one call seals nothing, with the message as its associated data.
unsafe extern "C" fn authenticate(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`; nothing is written to the output.
    unsafe {
        let (s, m) = (&*state.cast::<State>(), &*message);
        s.seal(m, (ptr::null(), 0), (m.input, m.len))
    }
}

/// One call opens the whole message.
unsafe extern "C" fn decrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (s, m) = (&*state.cast::<State>(), &*message);
        s.open(m)
    }
}

/// Sets the nonce of the `EVP_CIPHER`.
unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the contract of `start`.
    unsafe { messages::start((*state.cast::<State>()).stream(), nonce) }
}

/// One update of the `EVP_CIPHER`.
unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the contract of `update`.
    unsafe { messages::update((*state.cast::<State>()).stream(), input, output, len) }
}

/// One update of GMAC's `EVP_CIPHER`.
unsafe extern "C" fn gmac_update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the contract of `update`.
    unsafe { gmac::update((*state.cast::<State>()).stream(), input, output, len) }
}

/// Ends GMAC's `EVP_CIPHER`.
unsafe extern "C" fn gmac_finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: the contract of `finish`.
    unsafe { gmac::finish((*state.cast::<State>()).stream(), tag) }
}
