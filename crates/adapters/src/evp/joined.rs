//! `EVP_AEAD` where the tag can only stand behind the ciphertext: LibreSSL, and decryption by
//! AES-GCM-SIV in older BoringSSL.
//!
//! A message has its tag apart, and no room behind its ciphertext. So the ciphertext is sealed
//! into, or opened from, a buffer of the adapter's, and copied: inside the clock, and declared.

use super::aead::{Ctx, FreeFn, GetterFn, NewFn, getter};
use super::api::Errors;
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::operations;
use base::model::{Algorithm, Direction};
use contract::loader::SharedObject;
use contract::{Table, raw};
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;

/// `EVP_R_BAD_DECRYPT` in LibreSSL and `CIPHER_R_BAD_DECRYPT` in BoringSSL: the tag is wrong, as
/// against "too large" and the like. Neither gives the other's number to anything that opening a
/// message can end with.
const BAD_DECRYPT: [c_ulong; 2] = [100, 101];

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

/// A context with its key, freed when dropped.
struct Context {
    ctx: Ctx,
    making: Making,
    /// Where `ctx` points with [`Making::Init`].
    _room: Aligned,
}

impl Drop for Context {
    fn drop(&mut self) {
        let (Making::New(_, free) | Making::Init(_, free)) = self.making;
        // SAFETY: made by the function that this one belongs to, and freed nowhere else.
        unsafe { free(self.ctx) }
    }
}

/// The functions, and the algorithm.
#[derive(Clone, Copy)]
pub(super) struct Joined {
    getter: GetterFn,
    making: Making,
    seal: CryptFn,
    open: CryptFn,
}

impl Joined {
    /// `None` when the library does not have them, or not for this algorithm.
    pub(super) fn find(object: &SharedObject, algorithm: &Algorithm) -> Option<Self> {
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

    /// Does the key schedule.
    ///
    /// # Errors
    /// The library's reason.
    pub(super) fn session(
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
        let state = State { context, crypt, nonce_len, tag_len, joined: Vec::new(), errors };
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
        (!ctx.is_null()).then_some(Context { ctx, making: self.making, _room: room })
    }
}

struct State {
    context: Context,
    crypt: CryptFn,
    nonce_len: usize,
    tag_len: usize,
    /// Ciphertext and tag.
    joined: Vec<u8>,
    errors: Errors,
}

impl State {
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

    #[cold]
    fn failed(&self) -> i32 {
        self.errors.clear();
        raw::FAILED
    }

    #[cold]
    fn not_opened(&self) -> i32 {
        let rejected = BAD_DECRYPT.contains(&self.errors.last_reason());
        self.errors.clear();
        if rejected { raw::REJECTED } else { raw::FAILED }
    }
}

operations! { impl for State;
    /// Seals the message into the buffer, and copies ciphertext and tag out of it.
    fn message(&mut self, m) {
        // The buffer has room for ciphertext and tag.
        let joined = self.room_for(m.len);
        let (whole, mut written) = (m.len + self.tag_len, 0);
        let (ctx, nonce_len, written_to) = (self.context.ctx, self.nonce_len, &raw mut written);
        let (nonce, aad, aad_len) = (m.nonce, m.aad, m.aad_len);
        let code = (self.crypt)(
            ctx, joined, written_to, whole, nonce, nonce_len, m.input, m.len, aad, aad_len,
        );
        if code != 1 || written != whole {
            return self.failed();
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
        let (ctx, nonce_len, written_to) = (self.context.ctx, self.nonce_len, &raw mut written);
        let (nonce, aad, aad_len) = (m.nonce, m.aad, m.aad_len);
        let code = (self.crypt)(
            ctx, m.output, written_to, m.len, nonce, nonce_len, joined, whole, aad, aad_len,
        );
        if code != 1 {
            return self.not_opened();
        }
        if written == m.len { raw::OK } else { self.failed() }
    }
}
