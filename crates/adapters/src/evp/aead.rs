//! What libraries have beside `EVP_CIPHER`: `EVP_AEAD` of BoringSSL and AWS-LC with the tag apart, and of
//! LibreSSL with the tag behind the ciphertext, ChaCha20 by `CRYPTO_chacha_20` and XChaCha20 by `CRYPTO_xchacha_20`.

use crate::evp::{Errors, Evp};
use crate::family::{Aligned, In, Object, Out, Request, operations, steps, whole};
use base::model::{Algorithm, Direction};
use contract::loader::SharedObject;
use contract::{Operations, Table, functions, raw};
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;

/// `CIPHER_R_BAD_DECRYPT` in BoringSSL and `EVP_R_BAD_DECRYPT` in LibreSSL: the tag is wrong, as against "too large" and
/// the like. Neither gives the other's number to anything that opening a message can end with.
const BAD_DECRYPT: [c_ulong; 2] = [101, 100];

/// `EVP_AEAD_CTX *`
pub(crate) type Ctx = *mut c_void;
pub(crate) type GetterFn = unsafe extern "C" fn() -> *const c_void;
pub(crate) type NewFn = unsafe extern "C" fn(*const c_void, In, usize, usize) -> Ctx;
pub(crate) type FreeFn = unsafe extern "C" fn(Ctx);

/// The name of the function that gives the `EVP_AEAD` of an algorithm; GMAC is made with GCM.
pub(crate) fn getter(algorithm: &Algorithm) -> String {
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
pub(crate) struct Aead {
    getter: GetterFn,
    f: Functions,
}

impl Aead {
    /// `None` when the library does not have them, or not for this algorithm.
    pub(crate) fn find(object: &SharedObject, algorithm: &Algorithm) -> Option<Self> {
        // SAFETY: the type is that of aead.h.
        let getter = unsafe { object.function(&getter(algorithm)) }?;
        Some(Self { getter, f: Functions::of(object).ok()? })
    }

    /// Does the key schedule. `stream`, where there is one, is the same cipher under the same key
    /// as an `EVP_CIPHER`: an `EVP_AEAD` takes whole messages only. `None` when the library opens
    /// no messages of this algorithm whose tag is apart.
    pub(crate) fn session<S: Operations, const MAC: bool>(
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
        let state =
            AeadState::<S, MAC> { ctx, functions, key_len, nonce_len, tag_len, errors, stream };
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
struct AeadState<S, const MAC: bool> {
    ctx: Ctx,
    functions: Aead,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
    errors: Errors,
    stream: Option<S>,
}

operations! { impl[S: Operations, const MAC: bool] for AeadState<S, MAC>;
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
        if self.ctx.is_null() { self.errors.failed() } else { raw::OK }
    }
}

impl<S, const MAC: bool> Drop for AeadState<S, MAC> {
    fn drop(&mut self) {
        // SAFETY: the context came from EVP_AEAD_CTX_new and is freed nowhere else.
        unsafe { (self.functions.f.EVP_AEAD_CTX_free)(self.ctx) }
    }
}

steps! { #[inline(always)] impl[S, const MAC: bool] for AeadState<S, MAC>;
    /// Seals `input` with `aad` around it.
    fn seal(&self, m: &raw::Message, (input, len): (In, usize), (aad, aad_len): (In, usize)) -> i32 {
        let mut tag_len = 0;
        let (room, nonce_len, no_input) = (self.tag_len, self.nonce_len, ptr::null());
        let code = (self.functions.f.EVP_AEAD_CTX_seal_scatter)(
            self.ctx, m.output, m.tag, &raw mut tag_len, room, m.nonce, nonce_len, input, len,
            no_input, 0, aad, aad_len,
        );
        if code == 1 && tag_len == self.tag_len { raw::OK } else { self.errors.failed() }
    }

    fn open(&self, m: &raw::Message) -> i32 {
        let (ctx, nonce, aad, aad_len) = (self.ctx, m.nonce, m.aad, m.aad_len);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        let code = (self.functions.f.EVP_AEAD_CTX_open_gather)(
            ctx, m.output, nonce, nonce_len, m.input, m.len, m.tag, tag_len, aad, aad_len,
        );
        if code == 1 { raw::OK } else { self.not_opened() }
    }
}

impl<S, const MAC: bool> AeadState<S, MAC> {
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
    fn not_opened(&self) -> i32 {
        self.errors.not_opened(&BAD_DECRYPT)
    }
}

// `EVP_AEAD` where the tag can only stand behind the ciphertext: LibreSSL, and decryption by
// AES-GCM-SIV in older BoringSSL.
//
// A message has its tag apart, and no room behind its ciphertext. So the ciphertext is sealed
// into, or opened from, a buffer of the adapter's, and copied: inside the clock, and declared.

/// `EVP_AEAD_CTX_seal(ctx, out, out_len, max_out_len, nonce, nonce_len, in, in_len, ad, ad_len)`,
/// and `EVP_AEAD_CTX_open` with the same.
type CryptFn =
    unsafe extern "C" fn(Ctx, Out, *mut usize, usize, In, usize, In, usize, In, usize) -> c_int;
/// `EVP_AEAD_CTX_init(ctx, aead, key, key_len, tag_len, engine)`
type InitFn = unsafe extern "C" fn(Ctx, *const c_void, In, usize, usize, *mut c_void) -> c_int;

/// Bytes for an `EVP_AEAD_CTX`, whose size only the header knows: two pointers in LibreSSL 3.1,
/// under 600 bytes in any other library of the family.
const CTX_LEN: usize = 4096;

/// How a context is made and freed.
#[derive(Clone, Copy)]
enum Making {
    /// By the library: BoringSSL, newer LibreSSL.
    New(NewFn, FreeFn),
    /// In memory of the caller's.
    Init(InitFn, FreeFn),
}

struct Context {
    ctx: Object,
    /// Where `ctx` points with [`Making::Init`].
    _room: Aligned,
}

/// The functions, and the algorithm.
#[derive(Clone, Copy)]
pub(crate) struct Joined {
    getter: GetterFn,
    making: Making,
    seal: CryptFn,
    open: CryptFn,
}

impl Joined {
    /// `None` when the library does not have them, or not for this algorithm.
    pub(crate) fn find(object: &SharedObject, algorithm: &Algorithm) -> Option<Self> {
        // SAFETY: the types are those of evp.h.
        unsafe {
            let new = object.function("EVP_AEAD_CTX_new").zip(object.function("EVP_AEAD_CTX_free"));
            let init =
                object.function("EVP_AEAD_CTX_init").zip(object.function("EVP_AEAD_CTX_cleanup"));
            Some(Self {
                getter: object.function(&getter(algorithm))?,
                making: new
                    .map(|(new, free)| Making::New(new, free))
                    .or_else(|| init.map(|(init, cleanup)| Making::Init(init, cleanup)))?,
                seal: object.function("EVP_AEAD_CTX_seal")?,
                open: object.function("EVP_AEAD_CTX_open")?,
            })
        }
    }

    pub(crate) fn session(
        &self,
        errors: Errors,
        algorithm: &Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<raw::Session, String> {
        let context = self
            .context(key, algorithm.tag_len)
            .ok_or_else(|| format!("setting up the EVP_AEAD: {}", errors.take()))?;
        let Algorithm { nonce_len, tag_len, .. } = *algorithm;
        let encrypts = direction == Direction::Encrypt;
        let crypt = if encrypts { self.seal } else { self.open };
        let state = JoinedState { context, crypt, nonce_len, tag_len, joined: Vec::new(), errors };
        let call =
            if encrypts { c"EVP_AEAD_CTX_seal, memcpy" } else { c"memcpy, EVP_AEAD_CTX_open" };
        // The interface takes whole messages only: no `start`.
        let table = Table::new(state, raw::IN_PLACE | raw::COPIES, call);
        Ok(table.decrypts(!encrypts).raw())
    }

    fn context(&self, key: &[u8], tag_len: usize) -> Option<Context> {
        let room = Aligned::zeroed(CTX_LEN);
        // SAFETY: the getter takes nothing; `key` covers its length; `room` is large enough, and
        // zeroed, for any context.
        let ctx = unsafe {
            let aead = (self.getter)();
            match self.making {
                Making::New(new, _) => new(aead, key.as_ptr(), key.len(), tag_len),
                Making::Init(init, _) => {
                    let (ctx, engine) = (room.context(), ptr::null_mut());
                    let code = init(ctx, aead, key.as_ptr(), key.len(), tag_len, engine);
                    if code == 1 { ctx } else { ptr::null_mut() }
                }
            }
        };
        let (Making::New(_, free) | Making::Init(_, free)) = self.making;
        Some(Context { ctx: Object::of(ctx, free)?, _room: room })
    }
}

struct JoinedState {
    context: Context,
    crypt: CryptFn,
    nonce_len: usize,
    tag_len: usize,
    joined: Vec<u8>,
    errors: Errors,
}

impl JoinedState {
    /// Room for ciphertext and tag, which only the first message of a length has to make.
    #[inline(always)]
    fn room_for(&mut self, len: usize) -> *mut u8 {
        if self.joined.len() < len + self.tag_len {
            self.grow(len);
        }
        self.joined.as_mut_ptr()
    }

    #[cold]
    fn grow(&mut self, len: usize) {
        self.joined.resize(len + self.tag_len, 0);
    }
}

operations! { impl for JoinedState;
    /// Seals the message into the buffer, and copies ciphertext and tag out of it.
    fn message(&mut self, m) {
        // The buffer has room for ciphertext and tag.
        let joined = self.room_for(m.len);
        let (whole, mut written) = (m.len + self.tag_len, 0);
        let (ctx, nonce_len, written_to) = (self.context.ctx.raw, self.nonce_len, &raw mut written);
        let (nonce, aad, aad_len) = (m.nonce, m.aad, m.aad_len);
        let code = (self.crypt)(
            ctx, joined, written_to, whole, nonce, nonce_len, m.input, m.len, aad, aad_len,
        );
        if code != 1 || written != whole {
            return self.errors.failed();
        }
        ptr::copy_nonoverlapping(joined, m.output, m.len);
        ptr::copy_nonoverlapping(joined.add(m.len), m.tag, self.tag_len);
        raw::OK
    }

    /// Copies ciphertext and tag into the buffer, and opens the message from there.
    fn decrypt(&mut self, m) {
        // The buffer has room for ciphertext and tag.
        let joined = self.room_for(m.len);
        ptr::copy_nonoverlapping(m.input, joined, m.len);
        ptr::copy_nonoverlapping(m.tag, joined.add(m.len), self.tag_len);
        let (whole, mut written) = (m.len + self.tag_len, 0);
        let (ctx, nonce_len, written_to) = (self.context.ctx.raw, self.nonce_len, &raw mut written);
        let (nonce, aad, aad_len) = (m.nonce, m.aad, m.aad_len);
        let code = (self.crypt)(
            ctx, m.output, written_to, m.len, nonce, nonce_len, joined, whole, aad, aad_len,
        );
        if code != 1 {
            return self.errors.not_opened(&BAD_DECRYPT);
        }
        if written == m.len { raw::OK } else { self.errors.failed() }
    }
}

// ChaCha20 by `CRYPTO_chacha_20`: BoringSSL and AWS-LC, which have no `EVP_CIPHER` of it. One
// call takes key, nonce and counter; there is nothing to set up, and no stream.

/// `CRYPTO_chacha_20(out, in, in_len, key, nonce, counter)`
type ChachaFn = unsafe extern "C" fn(Out, In, usize, In, In, u32);

/// `None` when the library does not have it. LibreSSL's function of that name takes a nonce of 8
/// bytes; the other functions of its ChaCha tell it apart.
pub(crate) fn chacha_session(object: &SharedObject, key: [u8; 32]) -> Option<raw::Session> {
    if object.has("ChaCha_set_key") {
        return None;
    }
    // SAFETY: the type is that of chacha.h.
    let chacha: ChachaFn = unsafe { object.function("CRYPTO_chacha_20") }?;
    Some(whole(raw::IN_PLACE, c"CRYPTO_chacha_20", move |m| {
        // SAFETY: the message keeps the header's rules; it begins with block 0.
        unsafe { chacha(m.output, m.input, m.len, key.as_ptr(), m.nonce, 0) };
        raw::OK
    }))
}

// XChaCha20 by `CRYPTO_xchacha_20`: LibreSSL. One call takes key and nonce, and counts from 0.

/// `CRYPTO_xchacha_20(out, in, in_len, key, nonce)`
type XChachaFn = unsafe extern "C" fn(Out, In, usize, In, In);

/// `None` when the library does not have it.
pub(crate) fn xchacha_session(object: &SharedObject, key: [u8; 32]) -> Option<raw::Session> {
    // SAFETY: the type is that of chacha.h.
    let xchacha: XChachaFn = unsafe { object.function("CRYPTO_xchacha_20") }?;
    Some(whole(raw::IN_PLACE, c"CRYPTO_xchacha_20", move |m| {
        // SAFETY: the message keeps the header's rules.
        unsafe { xchacha(m.output, m.input, m.len, key.as_ptr(), m.nonce) };
        raw::OK
    }))
}
