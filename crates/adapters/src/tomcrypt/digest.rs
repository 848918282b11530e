//! Digests, HMAC and Poly1305: begun, fed and ended.

use super::Request;
use super::aead::DoneFn;
use super::api::{Index, OK, outcome};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::{c_concat, calls, operations};
use base::model::Primitive;
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_int, c_ulong, c_void};

/// `sha256_init` and the like: state.
type InitFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `sha256_process`, `hmac_process`, `poly1305_process`: state, input, length.
type ProcessFn = unsafe extern "C" fn(*mut c_void, In, c_ulong) -> c_int;
/// `sha256_done` and the like: state, digest.
type DigestFn = unsafe extern "C" fn(*mut c_void, Out) -> c_int;
/// `hmac_init`: state, hash, key, length.
type HmacInitFn = unsafe extern "C" fn(*mut c_void, Index, In, c_ulong) -> c_int;
/// `poly1305_init`: state, key, length.
type PolyInitFn = unsafe extern "C" fn(*mut c_void, In, c_ulong) -> c_int;

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
    fn table(
        hash: H,
        process: ProcessFn,
        [message, stream]: [Aligned; 2],
        (flags, call): (u32, &'static CStr),
    ) -> raw::Session {
        let state = Self { hash, process, message, stream, begun: false };
        Table::new(state, raw::IN_PLACE | flags, call).parts().raw()
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

operations! { impl[H: Hash] for State<H>;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            self.hash.begin(context),
            (self.process)(context, m.input, m.len as c_ulong),
            self.hash.end(context, m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        self.abandon();
        let error = self.hash.begin(self.stream.context());
        self.begun = error == OK;
        outcome(error)
    }

    fn update(&mut self, input, _output, len) {
        outcome((self.process)(self.stream.context(), input, len as c_ulong))
    }

    fn finish(&mut self, tag) {
        self.begun = false;
        outcome(self.hash.end(self.stream.context(), tag))
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

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let api = request.library;
    // SHA-384 is fed by SHA-512's function, and all of SHA-3 is fed and ended by the same.
    macro_rules! names {
        ($init:literal, $process:literal, $done:literal) => {
            ($init, $process, $done, c_concat!($init, ", ", $process, ", ", $done))
        };
    }
    let (init, process, done, call) = match request.algorithm.cipher {
        Primitive::Sha256 => names!("sha256_init", "sha256_process", "sha256_done"),
        Primitive::Sha384 => names!("sha384_init", "sha512_process", "sha384_done"),
        Primitive::Sha512 => names!("sha512_init", "sha512_process", "sha512_done"),
        Primitive::Sha3_256 => names!("sha3_256_init", "sha3_process", "sha3_done"),
        Primitive::Sha3_384 => names!("sha3_384_init", "sha3_process", "sha3_done"),
        Primitive::Sha3_512 => names!("sha3_512_init", "sha3_process", "sha3_done"),
        Primitive::Blake2b => names!("blake2b_512_init", "blake2b_process", "blake2b_done"),
        _ => return Err(request.absent("LibTomCrypt")),
    };
    // SAFETY: the types are those of tomcrypt_hash.h for the symbols named.
    let (hash, process) = unsafe {
        let hash = Digest { init: api.object.exported(init)?, done: api.object.exported(done)? };
        (hash, api.object.exported(process)?)
    };
    let memory = || api.memory(c"hash_state", 4 * 416);
    Ok(State::table(hash, process, [memory(), memory()], (0, call)))
}

struct Hmac {
    hash: Index,
    key: Vec<u8>,
    tag_len: usize,
    init: HmacInitFn,
    done: DoneFn,
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

pub(super) fn open_hmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let hash = api
        .hash(request.algorithm.cipher)
        .ok_or_else(|| request.absent("this build of LibTomCrypt"))?;
    let (key, tag_len) = (request.key.to_vec(), request.algorithm.tag_len);
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let (hash, process) = unsafe {
        let (init, done) = (api.object.exported("hmac_init")?, api.object.exported("hmac_done")?);
        (Hmac { hash, key, tag_len, init, done }, api.object.exported("hmac_process")?)
    };
    let memory = || api.memory(c"hmac_state", 4 * 848);
    // hmac_init allocates the padded key, which hmac_done frees: no copy of a keyed state can be
    // kept, so the key pads are made anew for each message.
    Ok(State::table(
        hash,
        process,
        [memory(), memory()],
        (raw::ALLOCATES, c"hmac_init, hmac_process, hmac_done"),
    ))
}

struct Poly1305 {
    key: Vec<u8>,
    init: PolyInitFn,
    done: DoneFn,
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

pub(super) fn open_poly1305(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let key = request.key.to_vec();
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let (hash, process) = unsafe {
        let (init, done) =
            (api.object.exported("poly1305_init")?, api.object.exported("poly1305_done")?);
        (Poly1305 { key, init, done }, api.object.exported("poly1305_process")?)
    };
    let memory = || api.memory(c"poly1305_state", 4 * 88);
    Ok(State::table(
        hash,
        process,
        [memory(), memory()],
        (0, c"poly1305_init, poly1305_process, poly1305_done"),
    ))
}
