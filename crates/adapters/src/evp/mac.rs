//! Message authentication codes: by `EVP_MAC` where the library has it, else by what it has had before:
//! `HMAC_CTX`, `CMAC_CTX`, `SIPHASH_24`, `CRYPTO_poly1305_*`, `EVP_DigestSign*`, and for GMAC GCM's `EVP_CIPHER`.

use crate::evp::cipher::{Context, State};
use crate::evp::digest::{Contexts, Parts, session_in_parts};
use crate::evp::{Api, Errors, Method, Param, cipher};
use crate::family::{Aligned, In, Object, Out, operations, steps, whole};
use base::model::{Algorithm, Direction, Mode, Primitive};
use contract::loader::SharedObject;
use contract::{Table, functions, raw};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

// `EVP_MAC`: OpenSSL 3 on.

/// `EVP_MAC_CTX *`
type MacCtx = *mut c_void;

functions! {
    /// Of evp.h, from OpenSSL 3 on.
    pub(crate) struct EvpMac {
        EVP_MAC_fetch: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_MAC_free: fn(*mut c_void);
        EVP_MAC_CTX_new: fn(*mut c_void) -> MacCtx;
        EVP_MAC_CTX_free: fn(MacCtx);
        EVP_MAC_init: fn(MacCtx, In, usize, *const Param) -> c_int;
        EVP_MAC_update: fn(MacCtx, In, usize) -> c_int;
        EVP_MAC_final: fn(MacCtx, Out, *mut usize, usize) -> c_int;
    }
}

impl EvpMac {
    /// Does the key schedule; `None` when the library was built without the algorithm.
    pub(crate) fn session(
        &self,
        errors: Errors,
        algorithm: &Algorithm,
        key: &[u8],
    ) -> Option<Result<raw::Session, String>> {
        let text = |text: String| {
            Setting::Text(CString::new(text).expect("names of digests and ciphers have no NUL"))
        };
        let siphash = |rounds: [usize; 2]| {
            let [of_message, last] = rounds.map(Setting::Number);
            // By itself it has 16 bytes.
            let size = Setting::Number(algorithm.tag_len);
            vec![(c"size", size), (c"c-rounds", of_message), (c"d-rounds", last)]
        };
        let (name, anew, settings) = match (algorithm.mode, algorithm.cipher) {
            (Mode::Hmac, _) => {
                let digest = text(algorithm.name.replace("hmac-", ""));
                (c"HMAC", Anew::Nothing, vec![(c"digest", digest)])
            }
            (Mode::Gmac, _) => {
                (c"GMAC", Anew::Nonce, vec![(c"cipher", text(cipher::gcm_of(algorithm)))])
            }
            (Mode::Cmac, _) => {
                (c"CMAC", Anew::Nothing, vec![(c"cipher", text(cipher::cbc_of(algorithm)))])
            }
            (Mode::OneTimeMac, _) => (c"POLY1305", Anew::Key, vec![]),
            // Their outputs have the algorithms' lengths by themselves.
            (Mode::Kmac, Primitive::Shake128) => (c"KMAC-128", Anew::Nothing, vec![]),
            (Mode::Kmac, Primitive::Shake256) => (c"KMAC-256", Anew::Nothing, vec![]),
            (Mode::Keyed, Primitive::Blake2b) => (c"BLAKE2BMAC", Anew::Nothing, vec![]),
            (Mode::Keyed, Primitive::Blake2s) => (c"BLAKE2SMAC", Anew::Nothing, vec![]),
            (Mode::Keyed, Primitive::SipHash24) => (c"SIPHASH", Anew::Nothing, siphash([2, 4])),
            (Mode::Keyed, Primitive::SipHash13) => (c"SIPHASH", Anew::Nothing, siphash([1, 3])),
            _ => return None,
        };
        let Some(ctx) = self.context(name) else {
            errors.clear();
            return None;
        };
        let mut state = MacState {
            ctx,
            functions: *self,
            anew,
            nonce_len: algorithm.nonce_len,
            tag_len: algorithm.tag_len,
            key: key.to_vec(),
        };
        let call = c"EVP_MAC_init, EVP_MAC_update, EVP_MAC_final";
        Some(state.set_up(errors, &settings).map(|()| session_in_parts(state, errors, call)))
    }

    fn context(&self, name: &CStr) -> Option<Object> {
        // SAFETY: the default library context, a NUL-terminated name, no properties. The context
        // holds a reference of its own to what was fetched.
        let raw = unsafe {
            let mac = (self.EVP_MAC_fetch)(ptr::null_mut(), name.as_ptr(), ptr::null());
            if mac.is_null() {
                return None;
            }
            let raw = (self.EVP_MAC_CTX_new)(mac);
            (self.EVP_MAC_free)(mac);
            raw
        };
        Object::of(raw, self.EVP_MAC_CTX_free)
    }
}

enum Setting {
    /// The name of what it is made of.
    Text(CString),
    Number(usize),
}

/// What a message has that the one before it had not.
#[derive(Clone, Copy)]
enum Anew {
    Nothing,
    Nonce,
    /// OpenSSL takes a Poly1305 key for one message only.
    Key,
}

struct MacState {
    ctx: Object,
    functions: EvpMac,
    anew: Anew,
    nonce_len: usize,
    tag_len: usize,
    key: Vec<u8>,
}

impl MacState {
    /// Gives the context what it is made of, and its key.
    fn set_up(
        &mut self,
        errors: Errors,
        settings: &[(&'static CStr, Setting)],
    ) -> Result<(), String> {
        let params = settings.iter().map(|(key, setting)| match setting {
            Setting::Text(text) => Param::text(key, text),
            Setting::Number(number) => Param::number(key, number),
        });
        let params: Vec<Param> = params.chain([Param::END]).collect();
        // SAFETY: the key covers its length; the list ends with `END`, and its values outlive the
        // call.
        let code = unsafe {
            (self.functions.EVP_MAC_init)(
                self.ctx.raw,
                self.key.as_ptr(),
                self.key.len(),
                params.as_ptr(),
            )
        };
        if code > 0 { Ok(()) } else { Err(format!("EVP_MAC_init: {}", errors.take())) }
    }
}

steps! { #[inline(always)] impl Parts for MacState;
    /// Keeps key and parameters but for what the MAC has anew for each message.
    fn begin(&mut self, nonce: In) -> bool {
        // An empty list would be gone through: none is, as callers have it.
        let (mut key, mut key_len, mut params) = (ptr::null(), 0, ptr::null());
        let with_nonce;
        match self.anew {
            Anew::Nothing => {}
            Anew::Nonce => {
                with_nonce = [Param::bytes(c"iv", nonce, self.nonce_len), Param::END];
                params = with_nonce.as_ptr();
            }
            Anew::Key => (key, key_len) = (self.key.as_ptr(), self.key.len()),
        }
        (self.functions.EVP_MAC_init)(self.ctx.raw, key, key_len, params) > 0
    }

    fn feed(&mut self, input: In, len: usize) -> bool {
        (self.functions.EVP_MAC_update)(self.ctx.raw, input, len) > 0
    }

    fn end(&mut self, tag: Out) -> bool {
        let mut len = 0;
        let code = (self.functions.EVP_MAC_final)(self.ctx.raw, tag, &raw mut len, self.tag_len);
        code > 0 && len == self.tag_len
    }
}

// HMAC by `HMAC_CTX`: OpenSSL before 3, LibreSSL, BoringSSL, AWS-LC.

type HmacCtx = *mut c_void;

#[derive(Clone, Copy)]
pub(crate) struct Hmac {
    making: Making,
    /// `HMAC_Init_ex(ctx, key, key_len, md, engine)`; the length is an `int` or a `size_t`, which
    /// differ in nothing that is passed here.
    init: unsafe extern "C" fn(HmacCtx, In, usize, *const c_void, *mut c_void) -> c_int,
    update: unsafe extern "C" fn(HmacCtx, In, usize) -> c_int,
    finish: unsafe extern "C" fn(HmacCtx, Out, *mut c_uint) -> c_int,
}

/// How a context is made and freed.
#[derive(Clone, Copy)]
enum Making {
    /// By the library: `HMAC_CTX_new`, `HMAC_CTX_free`.
    New(unsafe extern "C" fn() -> HmacCtx, unsafe extern "C" fn(HmacCtx)),
    /// In memory of the caller's, before OpenSSL 1.1.0: `HMAC_CTX_init`, `HMAC_CTX_cleanup`.
    Init(unsafe extern "C" fn(HmacCtx), unsafe extern "C" fn(HmacCtx)),
}

/// Bytes for an `HMAC_CTX`, whose size only the header knows: under 300 in OpenSSL 1.0.2.
const CTX_LEN: usize = 2048;

impl Hmac {
    /// `None` when one is missing.
    pub(crate) fn load(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of hmac.h.
        unsafe {
            let new = object.function("HMAC_CTX_new").zip(object.function("HMAC_CTX_free"));
            let init = object.function("HMAC_CTX_init").zip(object.function("HMAC_CTX_cleanup"));
            Some(Self {
                making: new
                    .map(|(new, free)| Making::New(new, free))
                    .or_else(|| init.map(|(init, cleanup)| Making::Init(init, cleanup)))?,
                init: object.function("HMAC_Init_ex")?,
                update: object.function("HMAC_Update")?,
                finish: object.function("HMAC_Final")?,
            })
        }
    }

    /// Does the key schedule: the digest's states behind the inner and the outer pad. `None` when the library makes no
    /// HMAC of the digest, though it has it.
    pub(crate) fn session(
        &self,
        errors: Errors,
        digest: Method,
        tag_len: usize,
        key: &[u8],
    ) -> Option<Result<raw::Session, String>> {
        let room = Aligned::zeroed(CTX_LEN);
        // SAFETY: `room` is large enough for any context.
        let ctx = unsafe {
            match self.making {
                Making::New(new, free) => Object::of(new(), free),
                Making::Init(init, cleanup) => {
                    init(room.context());
                    Object::of(room.context(), cleanup)
                }
            }
        };
        let Some(ctx) = ctx else {
            return Some(Err(format!("HMAC_CTX_new: {}", errors.take())));
        };
        let state = HmacState { ctx, functions: *self, tag_len, _room: room, _digest: digest };
        // SAFETY: a fresh context; the key covers its length; no engine.
        let code = unsafe {
            let digest = state._digest.as_ptr();
            (self.init)(state.ctx.raw, key.as_ptr(), key.len(), digest, ptr::null_mut())
        };
        if code != 1 {
            // AWS-LC refuses all but the digests of a list of its own, and gives no reason.
            let reason = errors.last_reason() != 0;
            return reason.then(|| Err(format!("HMAC_Init_ex: {}", errors.take())));
        }
        Some(Ok(session_in_parts(state, errors, c"HMAC_Init_ex, HMAC_Update, HMAC_Final")))
    }
}

struct HmacState {
    ctx: Object,
    functions: Hmac,
    tag_len: usize,
    /// Where `ctx` points with [`Making::Init`].
    _room: Aligned,
    /// The context points to it.
    _digest: Method,
}

steps! { #[inline(always)] impl Parts for HmacState;
    /// No key and no digest keep those that were set, and nothing of them is computed again.
    fn begin(&mut self, _nonce: In) -> bool {
        let Hmac { init, .. } = self.functions;
        init(self.ctx.raw, ptr::null(), 0, ptr::null(), ptr::null_mut()) == 1
    }

    fn feed(&mut self, input: In, len: usize) -> bool {
        (self.functions.update)(self.ctx.raw, input, len) == 1
    }

    fn end(&mut self, tag: Out) -> bool {
        let mut len: c_uint = 0;
        let code = (self.functions.finish)(self.ctx.raw, tag, &raw mut len);
        code == 1 && len as usize == self.tag_len
    }
}

// CMAC by `CMAC_CTX`: OpenSSL before 3, LibreSSL, BoringSSL, AWS-LC.

type CmacCtx = *mut c_void;

functions! {
    /// Of cmac.h.
    pub(crate) struct Cmac
    required {
        CMAC_CTX_new: fn() -> CmacCtx;
        CMAC_CTX_free: fn(CmacCtx);
        CMAC_Init: fn(CmacCtx, In, usize, *const c_void, *mut c_void) -> c_int;
        CMAC_Update: fn(CmacCtx, In, usize) -> c_int;
        CMAC_Final: fn(CmacCtx, Out, *mut usize) -> c_int;
    }
    optional {
        /// BoringSSL's and AWS-LC's.
        CMAC_Reset: fn(CmacCtx) -> c_int;
    }
}

impl Cmac {
    /// Does the key schedule and makes the two subkeys.
    pub(crate) fn session(
        &self,
        errors: Errors,
        cipher: &Method,
        tag_len: usize,
        key: &[u8],
    ) -> Result<raw::Session, String> {
        // SAFETY: takes nothing.
        let ctx = Object::of(unsafe { (self.CMAC_CTX_new)() }, self.CMAC_CTX_free);
        let ctx = ctx.ok_or_else(|| format!("CMAC_CTX_new: {}", errors.take()))?;
        let state = CmacState { ctx, functions: *self, tag_len };
        // SAFETY: a fresh context; the key covers its length, which is the cipher's; no engine.
        let code = unsafe {
            let (ctx, cipher) = (state.ctx.raw, cipher.as_ptr());
            (self.CMAC_Init)(ctx, key.as_ptr(), key.len(), cipher, ptr::null_mut())
        };
        if code != 1 {
            return Err(format!("CMAC_Init: {}", errors.take()));
        }
        let call: &'static CStr = match self.CMAC_Reset {
            Some(_) => c"CMAC_Reset, CMAC_Update, CMAC_Final",
            None => c"CMAC_Init, CMAC_Update, CMAC_Final",
        };
        Ok(session_in_parts(state, errors, call))
    }
}

struct CmacState {
    ctx: Object,
    functions: Cmac,
    tag_len: usize,
}

steps! { #[inline(always)] impl Parts for CmacState;
    /// Keeps cipher, key and subkeys: by a reset, else by an initialisation with nothing.
    fn begin(&mut self, _nonce: In) -> bool {
        let (ctx, f) = (self.ctx.raw, &self.functions);
        let code = match f.CMAC_Reset {
            Some(reset) => reset(ctx),
            None => (f.CMAC_Init)(ctx, ptr::null(), 0, ptr::null(), ptr::null_mut()),
        };
        code == 1
    }

    fn feed(&mut self, input: In, len: usize) -> bool {
        (self.functions.CMAC_Update)(self.ctx.raw, input, len) == 1
    }

    fn end(&mut self, tag: Out) -> bool {
        let mut len = 0;
        let code = (self.functions.CMAC_Final)(self.ctx.raw, tag, &raw mut len);
        code == 1 && len == self.tag_len
    }
}

// SipHash-2-4 by `SIPHASH_24`: BoringSSL and AWS-LC. One call takes the key; there are no parts.

/// `SIPHASH_24(key, in, in_len)`
type SipHashFn = unsafe extern "C" fn(*const u64, In, usize) -> u64;

/// `None` when the library does not have it.
pub(crate) fn siphash_session(object: &SharedObject, key: [u8; 16]) -> Option<raw::Session> {
    // SAFETY: the type is that of siphash.h.
    let siphash: SipHashFn = unsafe { object.function("SIPHASH_24") }?;
    let word = |at: usize| std::array::from_fn(|i| key[at + i]);
    let key = [0, 8].map(|at| u64::from_le_bytes(word(at)));
    // The number's bytes, the least significant first, as its authors' code writes them.
    Some(whole(raw::IN_PLACE, c"SIPHASH_24", move |m| {
        // SAFETY: the message keeps the header's rules.
        unsafe {
            let number = siphash(key.as_ptr(), m.input, m.len);
            m.tag.cast::<[u8; 8]>().write(number.to_le_bytes());
        }
        raw::OK
    }))
}

// Poly1305 by `CRYPTO_poly1305_*`: LibreSSL, BoringSSL, AWS-LC.

/// `poly1305_state *`
type Poly1305Ctx = *mut c_void;

functions! {
    /// Of poly1305.h; none of them can fail.
    pub(crate) struct Poly1305 {
        CRYPTO_poly1305_init: fn(Poly1305Ctx, In);
        CRYPTO_poly1305_update: fn(Poly1305Ctx, In, usize);
        CRYPTO_poly1305_finish: fn(Poly1305Ctx, Out);
    }
}

/// Bytes for a `poly1305_state`, whose size only the header knows: 512 in BoringSSL and AWS-LC, 144
/// in LibreSSL.
const STATE_LEN: usize = 4096;

struct Poly1305State {
    room: Aligned,
    functions: Poly1305,
    key: [u8; 32],
}

impl Poly1305 {
    /// The key is taken in anew for each message: it is made for one alone (RFC 8439 §2.5).
    pub(crate) fn session(&self, errors: Errors, key: [u8; 32]) -> raw::Session {
        let state = Poly1305State { room: Aligned::zeroed(STATE_LEN), functions: *self, key };
        let call = c"CRYPTO_poly1305_init, CRYPTO_poly1305_update, CRYPTO_poly1305_finish";
        session_in_parts(state, errors, call)
    }
}

steps! { #[inline(always)] impl Parts for Poly1305State;
    fn begin(&mut self, _nonce: In) -> bool {
        (self.functions.CRYPTO_poly1305_init)(self.room.context(), self.key.as_ptr());
        true
    }

    fn feed(&mut self, input: In, len: usize) -> bool {
        (self.functions.CRYPTO_poly1305_update)(self.room.context(), input, len);
        true
    }

    fn end(&mut self, tag: Out) -> bool {
        (self.functions.CRYPTO_poly1305_finish)(self.room.context(), tag);
        true
    }
}

// Poly1305 by `EVP_DigestSign*`: OpenSSL 1.1.1, which has it as a kind of private key.

/// `EVP_PKEY_POLY1305`
const POLY1305: c_int = 1061;
/// `EVP_MD_CTX_FLAG_FINALISE`: final works on the context, not on a copy that it allocates, as
/// the documentation advises where a message does not go on behind its tag.
const FINALISE: c_int = 0x200;

/// `EVP_MD_CTX *`
type SignatureCtx = *mut c_void;
/// `EVP_PKEY *`
type Pkey = *mut c_void;

functions! {
    /// Of evp.h; `EVP_DigestSignUpdate` is a macro for the update.
    struct SignatureFunctions {
        EVP_MD_CTX_set_flags: fn(SignatureCtx, c_int);
        EVP_PKEY_new_raw_private_key: fn(c_int, *mut c_void, In, usize) -> Pkey;
        EVP_PKEY_free: fn(Pkey);
        EVP_DigestSignInit: fn(SignatureCtx, *mut c_void, *const c_void, *mut c_void, Pkey) -> c_int;
        EVP_DigestUpdate: fn(SignatureCtx, In, usize) -> c_int;
        EVP_DigestSignFinal: fn(SignatureCtx, Out, *mut usize) -> c_int;
    }
}

#[derive(Clone, Copy)]
pub(crate) struct DigestSign {
    contexts: Contexts,
    f: SignatureFunctions,
}

impl DigestSign {
    /// `None` when one is missing.
    pub(crate) fn of(object: &SharedObject) -> Option<Self> {
        Some(Self { contexts: Contexts::load(object)?, f: SignatureFunctions::of(object).ok()? })
    }

    /// Makes the key. `None` when the library has no such kind of key.
    pub(crate) fn poly1305(
        &self,
        errors: Errors,
        key: &[u8],
        tag_len: usize,
    ) -> Option<Result<raw::Session, String>> {
        // SAFETY: no engine; the key covers its length.
        let pkey = unsafe {
            let new = self.f.EVP_PKEY_new_raw_private_key;
            new(POLY1305, ptr::null_mut(), key.as_ptr(), key.len())
        };
        let Some(pkey) = Object::of(pkey, self.f.EVP_PKEY_free) else {
            errors.clear();
            return None;
        };
        let Some(ctx) = self.contexts.make() else {
            return Some(Err(format!("EVP_MD_CTX_new: {}", errors.take())));
        };
        let state = SignatureState { ctx, pkey, functions: *self, tag_len };
        // SAFETY: a context of ours.
        unsafe { (self.f.EVP_MD_CTX_set_flags)(state.ctx.raw, FINALISE) };
        let call = c"EVP_DigestSignInit, EVP_DigestUpdate, EVP_DigestSignFinal";
        Some(Ok(session_in_parts(state, errors, call)))
    }
}

struct SignatureState {
    ctx: Object,
    pkey: Object,
    functions: DigestSign,
    tag_len: usize,
}

steps! { #[inline(always)] impl Parts for SignatureState;
    /// Takes the key in anew; this kind of key has no digest.
    fn begin(&mut self, _nonce: In) -> bool {
        let (none, no_digest) = (ptr::null_mut(), ptr::null());
        let (init, ctx, pkey) = (self.functions.f.EVP_DigestSignInit, self.ctx.raw, self.pkey.raw);
        init(ctx, none, no_digest, none, pkey) == 1
    }

    fn feed(&mut self, input: In, len: usize) -> bool {
        (self.functions.f.EVP_DigestUpdate)(self.ctx.raw, input, len) == 1
    }

    fn end(&mut self, tag: Out) -> bool {
        let mut len = self.tag_len;
        let code = (self.functions.f.EVP_DigestSignFinal)(self.ctx.raw, tag, &raw mut len);
        code == 1 && len == self.tag_len
    }
}

// GMAC by GCM's `EVP_CIPHER`: a message of associated data alone. For libraries without
// `EVP_MAC`.

/// The table for the timing loop; `close` there frees the context.
pub(crate) fn gmac_session(api: &Api, context: Context, algorithm: &Algorithm) -> raw::Session {
    let state = Gmac(State::new(api, context, algorithm, Direction::Digest));
    let call = cipher::calls_of(algorithm.mode, Direction::Digest);
    Table::new(state, raw::IN_PLACE, call).parts().raw()
}

/// A context of GCM.
pub(crate) struct Gmac(pub(crate) State);

steps! { #[inline(always)] impl for Gmac;
    /// Associated data, where there is any.
    fn feed(&self, input: In, len: usize) -> bool {
        len == 0 || self.0.feed(input, ptr::null_mut(), len) >= 0
    }

    /// Final, tag.
    fn end(&self, tag: Out) -> bool {
        self.0.end(ptr::dangling_mut(), 0) == 0 && self.0.get_tag(tag)
    }
}

operations! { impl for Gmac;
    /// Nonce, associated data, final, tag.
    fn message(&mut self, m) {
        let done = self.0.begin(m.nonce) && self.feed(m.input, m.len) && self.end(m.tag);
        self.0.done(done)
    }

    fn start(&mut self, nonce) {
        self.0.done(self.0.begin(nonce))
    }

    fn update(&mut self, input, _output, len) {
        self.0.done(self.feed(input, len))
    }

    fn finish(&mut self, tag) {
        self.0.done(self.end(tag))
    }
}
