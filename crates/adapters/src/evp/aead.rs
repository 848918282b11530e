//! `EVP_AEAD` of BoringSSL and AWS-LC, with the tag apart from the ciphertext.

use super::Evp;
use super::api::Errors;
use crate::bytes::{In, Out};
use crate::family::{Request, operations};
use base::model::Algorithm;
use contract::loader::SharedObject;
use contract::{Operations, Table, functions, raw};
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;

/// `CIPHER_R_BAD_DECRYPT`: the tag is wrong, as against "too large" and the like.
const BAD_DECRYPT: c_ulong = 101;

/// `EVP_AEAD_CTX *`
pub(super) type Ctx = *mut c_void;
pub(super) type GetterFn = unsafe extern "C" fn() -> *const c_void;
pub(super) type NewFn = unsafe extern "C" fn(*const c_void, In, usize, usize) -> Ctx;
pub(super) type FreeFn = unsafe extern "C" fn(Ctx);

/// The name of the function that gives the `EVP_AEAD` of an algorithm; GMAC is made with GCM.
pub(super) fn getter(algorithm: &Algorithm) -> String {
    format!("EVP_aead_{}", algorithm.name.replace("-gmac", "-gcm").replace('-', "_"))
}

functions! {
    /// Of aead.h.
    struct Functions {
        EVP_AEAD_CTX_new: fn(*const c_void, In, usize, usize) -> Ctx;
        EVP_AEAD_CTX_free: fn(Ctx);
        /// Context, out, tag, its length, room for it, nonce, length, in, length, extra in, length,
        /// associated data, length.
        EVP_AEAD_CTX_seal_scatter: fn(
            Ctx, Out, Out, *mut usize, usize, In, usize, In, usize, In, usize, In, usize
        ) -> c_int;
        /// Context, out, nonce, length, in, length, tag, length, associated data, length.
        EVP_AEAD_CTX_open_gather: fn(
            Ctx, Out, In, usize, In, usize, In, usize, In, usize
        ) -> c_int;
    }
}

/// The functions that keep the tag apart from the ciphertext, and the algorithm.
#[derive(Clone, Copy)]
pub(super) struct Aead {
    getter: GetterFn,
    f: Functions,
}

impl Aead {
    /// `None` when the library does not have them, or not for this algorithm.
    pub(super) fn find(object: &SharedObject, algorithm: &Algorithm) -> Option<Self> {
        // SAFETY: the type is that of aead.h.
        let getter = unsafe { object.function(&getter(algorithm)) }?;
        Some(Self { getter, f: Functions::of(object).ok()? })
    }

    /// Does the key schedule. `stream`, where there is one, is the same cipher under the same key
    /// as an `EVP_CIPHER`: an `EVP_AEAD` takes whole messages only. `None` when the library opens
    /// no messages of this algorithm whose tag is apart.
    ///
    /// # Errors
    /// The library's reason.
    pub(super) fn session<S: Operations, const MAC: bool>(
        &self,
        request: &Request<'_, Evp>,
        stream: Option<S>,
    ) -> Result<Option<raw::Session>, String> {
        let (errors, key) = (request.library.api.errors, request.key);
        let Algorithm { nonce_len, tag_len, key_len, .. } = *request.algorithm;
        // SAFETY: the getter takes nothing; the key covers its length.
        let ctx =
            unsafe { (self.f.EVP_AEAD_CTX_new)((self.getter)(), key.as_ptr(), key_len, tag_len) };
        if ctx.is_null() {
            return Err(format!("EVP_AEAD_CTX_new: {}", errors.take()));
        }
        let streams = stream.is_some();
        let functions = *self;
        let state = State::<S, MAC> { ctx, functions, key_len, nonce_len, tag_len, errors, stream };
        let decrypts = request.decrypts();
        if decrypts && !state.gathers() {
            return Ok(None);
        }
        let call =
            if decrypts { c"EVP_AEAD_CTX_open_gather" } else { c"EVP_AEAD_CTX_seal_scatter" };
        let table = Table::new(state, raw::IN_PLACE, call).decrypts(decrypts);
        let table = if MAC { table.parts_if(streams) } else { table.streams_if(streams) };
        Ok(Some(table.rekeys(c"EVP_AEAD_CTX_free, EVP_AEAD_CTX_new").raw()))
    }
}

/// A context, and how the same algorithm streams. GMAC (`MAC`) seals nothing, with the message as its associated data.
struct State<S, const MAC: bool> {
    ctx: Ctx,
    functions: Aead,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
    errors: Errors,
    stream: Option<S>,
}

operations! { impl[S: Operations, const MAC: bool] for State<S, MAC>;
    /// One call seals the whole message.
    fn message(&mut self, m) {
        // GMAC writes nothing to the output.
        if MAC {
            self.seal(m, (ptr::null(), 0), (m.input, m.len))
        } else {
            self.seal(m, (m.input, m.len), (m.aad, m.aad_len))
        }
    }

    /// One call opens the whole message.
    fn decrypt(&mut self, m) {
        self.open(m)
    }

    fn start(&mut self, nonce) {
        let Some(stream) = &mut self.stream else { return raw::FAILED };
        stream.start(nonce)
    }

    fn update(&mut self, input, output, len) {
        let Some(stream) = &mut self.stream else { return raw::FAILED };
        stream.update(input, output, len)
    }

    fn finish(&mut self, tag) {
        let Some(stream) = &mut self.stream else { return raw::FAILED };
        stream.finish(tag)
    }

    /// An `EVP_AEAD_CTX` has no call for a new key: it is made anew.
    fn rekey(&mut self, key) {
        let Aead { getter, f } = self.functions;
        // The old context is used no more, also where there is no new one: freeing null does
        // nothing, and no message follows a failure.
        (f.EVP_AEAD_CTX_free)(self.ctx);
        self.ctx = (f.EVP_AEAD_CTX_new)(getter(), key, self.key_len, self.tag_len);
        if self.ctx.is_null() { self.failed() } else { raw::OK }
    }
}

impl<S, const MAC: bool> Drop for State<S, MAC> {
    fn drop(&mut self) {
        // SAFETY: the context came from EVP_AEAD_CTX_new and is freed nowhere else.
        unsafe { (self.functions.f.EVP_AEAD_CTX_free)(self.ctx) }
    }
}

impl<S, const MAC: bool> State<S, MAC> {
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
            let (room, nonce_len, tag_len) = (self.tag_len, self.nonce_len, &raw mut tag_len);
            (self.functions.f.EVP_AEAD_CTX_seal_scatter)(
                self.ctx,
                m.output,
                m.tag,
                tag_len,
                room,
                m.nonce,
                nonce_len,
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
            let (ctx, nonce, aad, aad_len) = (self.ctx, m.nonce, m.aad, m.aad_len);
            let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
            (self.functions.f.EVP_AEAD_CTX_open_gather)(
                ctx, m.output, nonce, nonce_len, m.input, m.len, m.tag, tag_len, aad, aad_len,
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
}
