//! An `EVP_CIPHER_CTX` with its key schedule done: everything that a session does once.

use super::api::{Api, Calls, Ctx, ctrl};
use super::method::Method;
use super::params::Param;
use base::model::{Algorithm, Direction, Mode, Primitive};
use std::ffi::c_int;
use std::ptr;

/// A context, freed when dropped.
pub(super) struct Context {
    ctx: Ctx,
    free: unsafe extern "C" fn(Ctx),
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context came from EVP_CIPHER_CTX_new and is freed nowhere else.
        unsafe { (self.free)(self.ctx) }
    }
}

impl Context {
    /// A context without a cipher.
    ///
    /// # Errors
    /// The library's reason.
    pub(super) fn empty(api: &Api) -> Result<Self, String> {
        // SAFETY: takes nothing.
        let ctx = unsafe { (api.f.EVP_CIPHER_CTX_new)() };
        if ctx.is_null() {
            return Err(format!("EVP_CIPHER_CTX_new: {}", api.errors.take()));
        }
        Ok(Self { ctx, free: api.f.EVP_CIPHER_CTX_free })
    }

    pub(super) fn as_ptr(&self) -> Ctx {
        self.ctx
    }

    /// Makes a context and does the key schedule. `key` has the cipher's length.
    ///
    /// # Errors
    /// Which call failed, with the library's reason.
    pub(super) fn open(
        api: &Api,
        cipher: &Method,
        algorithm: &Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Self, String> {
        let context = Self::empty(api)?;
        let set_up = SetUp { api, ctx: context.ctx, calls: api.calls(direction) };
        set_up.cipher(cipher)?;
        if matches!(algorithm.mode, Mode::Ccm | Mode::Ocb) {
            // Both take part in CCM's and OCB's set-up, so they come before the key.
            set_up.lengths(algorithm, direction)?;
        }
        set_up.key(key)?;
        if matches!(algorithm.mode, Mode::Ecb | Mode::Cbc) {
            // After the cipher, whose initialisation turns padding on again.
            set_up.no_padding()?;
        }
        if (algorithm.cipher, algorithm.mode) == (Primitive::Sm4, Mode::Xts) {
            set_up.ieee_xts()?;
        }
        // Libraries may leave entries behind from set-ups that went well.
        api.errors.clear();
        Ok(context)
    }
}

struct SetUp<'a> {
    api: &'a Api,
    ctx: Ctx,
    calls: Calls,
}

impl SetUp<'_> {
    fn cipher(&self, cipher: &Method) -> Result<(), String> {
        // SAFETY: a fresh context and a cipher of the same library; no engine, key or IV yet.
        let code = unsafe {
            let cipher = cipher.as_ptr();
            (self.calls.init)(self.ctx, cipher, ptr::null_mut(), ptr::null(), ptr::null())
        };
        self.check(code, "initialising the cipher")
    }

    fn lengths(&self, algorithm: &Algorithm, direction: Direction) -> Result<(), String> {
        let len = |n: usize| c_int::try_from(n).expect("lengths of nonces and tags are small");
        let control = self.api.f.EVP_CIPHER_CTX_ctrl;
        // SAFETY: sets a number.
        let code = unsafe {
            control(self.ctx, ctrl::SET_IVLEN, len(algorithm.nonce_len), ptr::null_mut())
        };
        self.check(code, "setting the nonce length")?;
        // OpenSSL 1.0.2 and LibreSSL take the length for CCM decryption only with a tag. Encryption
        // takes no tag, and OCB takes none before its key.
        let mut no_tag = [0_u8; 16];
        let with_tag = algorithm.mode == Mode::Ccm && direction == Direction::Decrypt;
        let tag = if with_tag { no_tag.as_mut_ptr().cast() } else { ptr::null_mut() };
        // SAFETY: reads `tag_len` bytes, which are at most 16, where the pointer is not null.
        let code = unsafe { control(self.ctx, ctrl::SET_TAG, len(algorithm.tag_len), tag) };
        self.check(code, "setting the tag length")
    }

    fn key(&self, key: &[u8]) -> Result<(), String> {
        // SAFETY: the cipher is set and reads its key length, which is that of `key`; null keeps
        // the cipher.
        let code = unsafe {
            (self.calls.init)(self.ctx, ptr::null(), ptr::null_mut(), key.as_ptr(), ptr::null())
        };
        self.check(code, "setting the key")
    }

    fn no_padding(&self) -> Result<(), String> {
        // SAFETY: sets a flag of a context with a cipher.
        let code = unsafe { (self.api.f.EVP_CIPHER_CTX_set_padding)(self.ctx, 0) };
        self.check(code, "turning padding off")
    }

    /// OpenSSL's SM4-XTS follows GB/T 17964, whose field has its bits the other way round, unless
    /// it is told to follow IEEE 1619.
    fn ieee_xts(&self) -> Result<(), String> {
        let set_params = self.api.f.EVP_CIPHER_CTX_set_params;
        let set_params = set_params.ok_or("it exports no `EVP_CIPHER_CTX_set_params`")?;
        let params = [Param::text(c"xts_standard", c"IEEE"), Param::END];
        // SAFETY: a context with a cipher; the list ends with `END`, and its texts are static.
        let code = unsafe { set_params(self.ctx, params.as_ptr()) };
        self.check(code, "setting xts_standard")
    }

    fn check(&self, code: c_int, doing: &str) -> Result<(), String> {
        if code > 0 { Ok(()) } else { Err(format!("{doing} failed: {}", self.api.errors.take())) }
    }
}
