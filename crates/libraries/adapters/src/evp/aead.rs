//! `EVP_AEAD` of BoringSSL and AWS-LC, with the tag apart from the ciphertext.

use super::Evp;
use super::api::Errors;
use crate::bytes::{In, Out};
use crate::family::{Request, operations};
use contract::loader::SharedObject;
use contract::{Operations, Table, raw};
use model::Algorithm;
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;

/// `CIPHER_R_BAD_DECRYPT`: the tag is wrong, as against "too large" and the like.
const BAD_DECRYPT: c_ulong = 101;

/// `EVP_AEAD_CTX *`
pub(super) type Ctx = *mut c_void;
pub(super) type GetterFn = unsafe extern "C" fn() -> *const c_void;
pub(super) type NewFn = unsafe extern "C" fn(*const c_void, In, usize, usize) -> Ctx;
pub(super) type FreeFn = unsafe extern "C" fn(Ctx);

/// `EVP_AEAD_CTX_seal_scatter(ctx, out, out_tag, out_tag_len, max_out_tag_len, nonce, nonce_len,
/// in, in_len, extra_in, extra_in_len, ad, ad_len)`
type SealFn = unsafe extern "C" fn(
    Ctx,
    Out,
    Out,
    *mut usize,
    usize,
    In,
    usize,
    In,
    usize,
    In,
    usize,
    In,
    usize,
) -> c_int;

/// `EVP_AEAD_CTX_open_gather(ctx, out, nonce, nonce_len, in, in_len, in_tag, in_tag_len, ad,
/// ad_len)`
type OpenFn = unsafe extern "C" fn(Ctx, Out, In, usize, In, usize, In, usize, In, usize) -> c_int;

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
    pub(super) fn session<S: Operations, const MAC: bool>(
        &self,
        request: &Request<'_, Evp>,
        stream: Option<S>,
    ) -> Result<Option<raw::Session>, String> {
        let (errors, key) = (request.library.api.errors, request.key);
        let Algorithm { nonce_len, tag_len, key_len, .. } = *request.algorithm;
        // SAFETY: the getter takes nothing; the key covers its length.
        let ctx = unsafe { (self.new)((self.getter)(), key.as_ptr(), key_len, tag_len) };
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
        let Aead { free, new, getter, .. } = self.functions;
        // The old context is used no more, also where there is no new one: freeing null does
        // nothing, and no message follows a failure.
        free(self.ctx);
        self.ctx = new(getter(), key, self.key_len, self.tag_len);
        if self.ctx.is_null() { self.failed() } else { raw::OK }
    }
}

impl<S, const MAC: bool> Drop for State<S, MAC> {
    fn drop(&mut self) {
        // SAFETY: the context came from EVP_AEAD_CTX_new and is freed nowhere else.
        unsafe { (self.functions.free)(self.ctx) }
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
            (self.functions.seal)(
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
            (self.functions.open)(
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
