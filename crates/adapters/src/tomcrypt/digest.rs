//! Digests, HMAC and Poly1305: begun, fed and ended.

use super::api::{Api, Index, OK, close, given, outcome};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::{Algorithm, Primitive};
use std::ffi::{CStr, c_int, c_ulong, c_void};

/// `sha256_init` and the like: state.
type InitFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `sha256_process`, `hmac_process`, `poly1305_process`: state, input, length.
type ProcessFn = unsafe extern "C" fn(*mut c_void, *const u8, c_ulong) -> c_int;
/// `sha256_done` and the like: state, digest.
type DigestFn = unsafe extern "C" fn(*mut c_void, *mut u8) -> c_int;
/// `hmac_init`: state, hash, key, length.
type HmacInitFn = unsafe extern "C" fn(*mut c_void, Index, *const u8, c_ulong) -> c_int;
/// `poly1305_init`: state, key, length.
type PolyInitFn = unsafe extern "C" fn(*mut c_void, *const u8, c_ulong) -> c_int;
/// `hmac_done`, `poly1305_done`: state, tag, room for it and length.
type MacDoneFn = unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_ulong) -> c_int;

/// What differs between them. Every function returns the library's error code.
///
/// # Safety
/// Of each function: `state` is a state of the kind; `tag` has room for the algorithm's tag.
trait Hash {
    unsafe fn begin(&self, state: *mut c_void) -> c_int;
    unsafe fn end(&self, state: *mut c_void, tag: *mut u8) -> c_int;
}

struct State<H: Hash> {
    hash: H,
    process: ProcessFn,
    message: Aligned,
    stream: Aligned,
    /// Whether the stream was begun and not ended: HMAC's beginning allocates what its end frees.
    begun: bool,
}

impl<H: Hash> State<H> {
    fn into_session(self, flags: u32, call: &'static CStr) -> raw::Session {
        raw::Session {
            state: given(self),
            flags: raw::IN_PLACE | flags,
            message: Some(message::<H>),
            start: Some(start::<H>),
            update: Some(update::<H>),
            finish: Some(finish::<H>),
            call: call.as_ptr(),
            close: Some(close::<Self>),
            ..raw::Session::empty()
        }
    }

    /// Ends a stream that nobody has ended.
    fn abandon(&mut self) {
        if self.begun {
            let mut tag = [0; 64];
            self.begun = false;
            // SAFETY: a state that was begun; no tag is longer than 64 bytes. Its result is of no
            // use any more.
            let _ = unsafe { self.hash.end(self.stream.context(), tag.as_mut_ptr()) };
        }
    }
}

impl<H: Hash> Drop for State<H> {
    fn drop(&mut self) {
        self.abandon();
    }
}

unsafe extern "C" fn message<H: Hash>(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State<H>>(), &*m);
        let context = state.message.context();
        let error = state.hash.begin(context);
        if error != OK {
            return outcome(error);
        }
        let error = (state.process)(context, m.input, m.len as c_ulong);
        if error != OK {
            return outcome(error);
        }
        outcome(state.hash.end(context, m.tag))
    }
}

unsafe extern "C" fn start<H: Hash>(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `into_session` made.
    unsafe {
        let state = &mut *state.cast::<State<H>>();
        state.abandon();
        let error = state.hash.begin(state.stream.context());
        state.begun = error == OK;
        outcome(error)
    }
}

unsafe extern "C" fn update<H: Hash>(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `into_session` made; `input` covers `len` bytes.
    unsafe {
        let state = &*state.cast::<State<H>>();
        outcome((state.process)(state.stream.context(), input, len as c_ulong))
    }
}

unsafe extern "C" fn finish<H: Hash>(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: `state` is what `into_session` made; `tag` has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State<H>>();
        state.begun = false;
        outcome(state.hash.end(state.stream.context(), tag))
    }
}

struct Digest {
    init: InitFn,
    done: DigestFn,
}

impl Hash for Digest {
    #[inline]
    unsafe fn begin(&self, state: *mut c_void) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.init)(state) }
    }

    #[inline]
    unsafe fn end(&self, state: *mut c_void, tag: *mut u8) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.done)(state, tag) }
    }
}

pub(super) fn open(api: &Api, algorithm: &Algorithm) -> Result<raw::Session, OpenError> {
    // SHA-384 is fed by SHA-512's function, and all of SHA-3 is fed and ended by the same.
    let (init, process, done, call) = match algorithm.cipher {
        Primitive::Sha256 => (
            "sha256_init",
            "sha256_process",
            "sha256_done",
            c"sha256_init, sha256_process, sha256_done",
        ),
        Primitive::Sha384 => (
            "sha384_init",
            "sha512_process",
            "sha384_done",
            c"sha384_init, sha512_process, sha384_done",
        ),
        Primitive::Sha512 => (
            "sha512_init",
            "sha512_process",
            "sha512_done",
            c"sha512_init, sha512_process, sha512_done",
        ),
        Primitive::Sha3_256 => (
            "sha3_256_init",
            "sha3_process",
            "sha3_done",
            c"sha3_256_init, sha3_process, sha3_done",
        ),
        Primitive::Sha3_384 => (
            "sha3_384_init",
            "sha3_process",
            "sha3_done",
            c"sha3_384_init, sha3_process, sha3_done",
        ),
        Primitive::Sha3_512 => (
            "sha3_512_init",
            "sha3_process",
            "sha3_done",
            c"sha3_512_init, sha3_process, sha3_done",
        ),
        Primitive::Blake2b => (
            "blake2b_512_init",
            "blake2b_process",
            "blake2b_done",
            c"blake2b_512_init, blake2b_process, blake2b_done",
        ),
        _ => return Err(OpenError::Unsupported(format!("LibTomCrypt has no {algorithm}"))),
    };
    // SAFETY: the types are those of tomcrypt_hash.h for the symbols named.
    let (hash, process) = unsafe {
        let hash = Digest { init: api.object.offered(init)?, done: api.object.offered(done)? };
        (hash, api.object.offered(process)?)
    };
    let memory = || api.memory(c"hash_state", 4 * 416);
    let state = State { hash, process, message: memory(), stream: memory(), begun: false };
    Ok(state.into_session(0, call))
}

struct Hmac {
    hash: Index,
    key: Vec<u8>,
    tag_len: usize,
    init: HmacInitFn,
    done: MacDoneFn,
}

impl Hash for Hmac {
    #[inline]
    unsafe fn begin(&self, state: *mut c_void) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.init)(state, self.hash, self.key.as_ptr(), self.key.len() as c_ulong) }
    }

    #[inline]
    unsafe fn end(&self, state: *mut c_void, tag: *mut u8) -> c_int {
        let mut len = self.tag_len as c_ulong;
        // SAFETY: the trait's promises.
        unsafe { (self.done)(state, tag, &raw mut len) }
    }
}

pub(super) fn open_hmac(
    api: &Api,
    algorithm: &Algorithm,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let hash = api
        .hash(algorithm.cipher)
        .ok_or_else(|| OpenError::Unsupported(format!("this build has no hash for {algorithm}")))?;
    let (key, tag_len) = (key.to_vec(), algorithm.tag_len);
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let (hash, process) = unsafe {
        let (init, done) = (api.object.offered("hmac_init")?, api.object.offered("hmac_done")?);
        (Hmac { hash, key, tag_len, init, done }, api.object.offered("hmac_process")?)
    };
    let memory = || api.memory(c"hmac_state", 4 * 848);
    let state = State { hash, process, message: memory(), stream: memory(), begun: false };
    // hmac_init allocates the padded key, which hmac_done frees: no copy of a keyed state can be
    // kept, so the key pads are made anew for each message.
    Ok(state.into_session(raw::ALLOCATES, c"hmac_init, hmac_process, hmac_done"))
}

struct Poly1305 {
    key: Vec<u8>,
    init: PolyInitFn,
    done: MacDoneFn,
}

impl Hash for Poly1305 {
    #[inline]
    unsafe fn begin(&self, state: *mut c_void) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.init)(state, self.key.as_ptr(), self.key.len() as c_ulong) }
    }

    #[inline]
    unsafe fn end(&self, state: *mut c_void, tag: *mut u8) -> c_int {
        let mut len = super::aead::TAG as c_ulong;
        // SAFETY: the trait's promises.
        unsafe { (self.done)(state, tag, &raw mut len) }
    }
}

pub(super) fn open_poly1305(api: &Api, key: &[u8]) -> Result<raw::Session, OpenError> {
    let key = key.to_vec();
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let (hash, process) = unsafe {
        let (init, done) =
            (api.object.offered("poly1305_init")?, api.object.offered("poly1305_done")?);
        (Poly1305 { key, init, done }, api.object.offered("poly1305_process")?)
    };
    let memory = || api.memory(c"poly1305_state", 4 * 88);
    let state = State { hash, process, message: memory(), stream: memory(), begun: false };
    Ok(state.into_session(0, c"poly1305_init, poly1305_process, poly1305_done"))
}
