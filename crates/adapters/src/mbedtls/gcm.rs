//! GCM, and GMAC, which is GCM without a message.

use super::context::Context;
use super::{Request, done, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use base::model::Mode;
use contract::{OpenError, Table, functions, raw};
use std::ffi::{c_int, c_uint, c_void};

functions! {
    /// gcm.h, what all versions have alike.
    struct Functions {
        /// Context, cipher, key, bits.
        mbedtls_gcm_setkey: fn(*mut c_void, c_int, In, c_uint) -> c_int;
        /// Context, direction, length, IV, associated data, input, output, tag.
        mbedtls_gcm_crypt_and_tag: fn(
            *mut c_void, c_int, usize, In, usize, In, usize, In, Out, usize, Out
        ) -> c_int;
        /// Context, length, IV, associated data, tag, input, output.
        mbedtls_gcm_auth_decrypt: fn(
            *mut c_void, usize, In, usize, In, usize, In, usize, In, Out
        ) -> c_int;
    }
}
/// `mbedtls_gcm_starts` of version 2: context, direction, IV, associated data.
type OldStartFn = unsafe extern "C" fn(*mut c_void, c_int, In, usize, In, usize) -> c_int;
/// `mbedtls_gcm_update` of version 2: context, length, input, output.
type OldUpdateFn = unsafe extern "C" fn(*mut c_void, usize, In, Out) -> c_int;
/// `mbedtls_gcm_starts` since version 3: context, direction, IV.
type StartFn = unsafe extern "C" fn(*mut c_void, c_int, In, usize) -> c_int;
/// `mbedtls_gcm_update` since version 3: context, input, output, how much came out.
type UpdateFn = unsafe extern "C" fn(*mut c_void, In, usize, Out, usize, *mut usize) -> c_int;

/// `MBEDTLS_ERR_GCM_AUTH_FAILED`
const AUTH_FAILED: c_int = -0x12;
/// `MBEDTLS_GCM_ENCRYPT`
const ENCRYPT: c_int = 1;

#[derive(Clone, Copy)]
enum Stream {
    /// Version 2, which takes whole blocks until the last.
    Old(OldStartFn, OldUpdateFn),
    New(StartFn, UpdateFn),
}

struct State {
    context: Context,
    f: Functions,
    id: c_int,
    key_bits: c_uint,
    stream: Stream,
    way: c_int,
    nonce_len: usize,
    tag_len: usize,
}

/// Opens GCM or GMAC.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let state = state(request)?;
    let (flags, seal, set_key) =
        (raw::IN_PLACE, c"mbedtls_gcm_crypt_and_tag", c"mbedtls_gcm_setkey");
    if request.algorithm.mode == Mode::Gmac {
        return Ok(Table::new(Gmac(state), flags, seal).rekeys(set_key).raw());
    }
    let call = if request.decrypts() { c"mbedtls_gcm_auth_decrypt" } else { seal };
    let table = Table::new(state, flags, call).decrypts(request.decrypts()).streams();
    Ok(table.rekeys(set_key).raw())
}

fn state(request: &Request<'_>) -> Result<State, OpenError> {
    /// `MBEDTLS_ERR_GCM_BAD_INPUT`: also for a cipher that was not built in.
    const BAD_INPUT: c_int = -0x14;
    let (id, key_bits) = (request.cipher_id()?, request.key_bits());
    let mut context = Context::new(request, "mbedtls_gcm")?;
    let f = Functions::of(&request.library.object)?;
    let (start, update) = ("mbedtls_gcm_starts", "mbedtls_gcm_update");
    // SAFETY: gcm.h of the version.
    let stream = unsafe {
        if request.library.major < 3 {
            Stream::Old(request.function(start)?, request.function(update)?)
        } else {
            Stream::New(request.function(start)?, request.function(update)?)
        }
    };
    // SAFETY: the key has so many bits.
    match unsafe { (f.mbedtls_gcm_setkey)(context.get(), id, request.key.as_ptr(), key_bits) } {
        BAD_INPUT => return Err(request.none()),
        code => done("mbedtls_gcm_setkey", code)?,
    }
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    Ok(State { context, f, id, key_bits, stream, way: request.way(), nonce_len, tag_len })
}

impl State {
    /// Encrypts `input` and authenticates it with `aad` before it.
    ///
    /// # Safety
    /// The message keeps the header's rules, each part covers its length.
    #[inline(always)]
    unsafe fn seal(
        &mut self,
        m: &raw::Message,
        (input, output, len): (*const u8, *mut u8, usize),
        (aad, aad_len): (*const u8, usize),
    ) -> i32 {
        let seal = self.f.mbedtls_gcm_crypt_and_tag;
        let (context, nonce, tag) = (self.context.get(), m.nonce, m.tag);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        // SAFETY: the caller's.
        unsafe {
            calls!(seal(
                context, ENCRYPT, len, nonce, nonce_len, aad, aad_len, input, output, tag_len, tag
            ))
        }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        self.seal(m, (m.input, m.output, m.len), (m.aad, m.aad_len))
    }

    fn decrypt(&mut self, m) {
        let (context, nonce, aad) = (self.context.get(), m.nonce, m.aad);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        let code = (self.f.mbedtls_gcm_auth_decrypt)(
            context, m.len, nonce, nonce_len, aad, m.aad_len, m.tag, tag_len, m.input, m.output,
        );
        if code == AUTH_FAILED { raw::REJECTED } else { outcome(code) }
    }

    fn start(&mut self, nonce) {
        let context = self.context.get();
        match self.stream {
            Stream::Old(start, _) => {
                calls!(start(context, self.way, nonce, self.nonce_len, std::ptr::null(), 0))
            }
            Stream::New(start, _) => calls!(start(context, self.way, nonce, self.nonce_len)),
        }
    }

    fn update(&mut self, input, output, len) {
        let context = self.context.get();
        match self.stream {
            // It would take the rest for the last of the message, and say nothing.
            Stream::Old(..) if !len.is_multiple_of(16) => raw::FAILED,
            Stream::Old(_, update) => calls!(update(context, len, input, output)),
            Stream::New(_, update) => {
                let mut written = 0;
                let code = update(context, input, len, output, len, &raw mut written);
                if code == 0 && written != len { raw::FAILED } else { outcome(code) }
            }
        }
    }

    fn rekey(&mut self, key) {
        calls!((self.f.mbedtls_gcm_setkey)(self.context.get(), self.id, key, self.key_bits))
    }
}

/// The message is the associated data; there is nothing to read or write beside it.
struct Gmac(State);

operations! { impl for Gmac;
    fn message(&mut self, m) {
        let nothing = (std::ptr::null(), std::ptr::null_mut(), 0);
        self.0.seal(m, nothing, (m.input, m.len))
    }

    fn rekey(&mut self, key) {
        self.0.rekey(key)
    }
}
