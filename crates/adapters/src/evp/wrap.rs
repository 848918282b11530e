//! AES key wrap: by `EVP_CIPHER`, and by `AES_wrap_key` and `AES_wrap_key_padded` in BoringSSL and AWS-LC, which have no
//! `EVP_CIPHER` of it.

use crate::evp::cipher::{Context, FAILED_LEN, State, calls_of_rekey, whole};
use crate::evp::{Api, Errors};
use crate::family::{Aligned, In, Out, Request, steps};
use crate::wrap::{self, CHECK, KeyWrap};
use base::model::Mode;
use contract::loader::SharedObject;
use contract::{functions, raw};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// An `EVP_CIPHER_CTX`.
struct Cipher {
    state: State,
    padded: bool,
}

/// The table for the timing loop; `close` there frees the context.
pub(crate) fn cipher_session<L>(
    api: &Api,
    context: Context,
    request: &Request<'_, L>,
) -> raw::Session {
    let padded = request.algorithm.mode == Mode::KeyWrapPadded;
    let state = State::new(api, context, request.algorithm, request.direction);
    let calls = [
        c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptFinal_ex, memcpy",
        match padded {
            false => c"memcpy, EVP_DecryptInit_ex, EVP_DecryptUpdate, EVP_DecryptFinal_ex",
            true => c"memcpy, EVP_DecryptInit_ex, EVP_DecryptUpdate, EVP_DecryptFinal_ex, memcpy",
        },
    ];
    let state = Cipher { state, padded };
    wrap::session(state, request.decrypts(), 0, calls, calls_of_rekey(request.direction))
}

steps! { #[inline(always)] impl for Cipher;
    /// The one update and final; the bytes that came out, [`FAILED_LEN`] where one failed.
    fn call(&self, input: In, len: usize, output: Out) -> c_int {
        let written = self.state.feed(input, output, len);
        if written < 0 { FAILED_LEN } else { self.state.end(output, written) }
    }
}

steps! { #[inline(always)] impl KeyWrap for Cipher;
    fn wrap(&mut self, key: In, len: usize, wrapped: Out) -> i32 {
        let state = &self.state;
        let done = state.begin(ptr::null()) && whole(self.call(key, len, wrapped), len + CHECK);
        state.done(done)
    }

    /// What was wrapped is checked in the update.
    fn unwrap(&mut self, wrapped: Out, len: usize, key: Out) -> i32 {
        let state = &self.state;
        if !state.begin(ptr::null()) {
            return state.not_done(raw::FAILED);
        }
        // A key that turns out to be wrong is wiped with eight bytes more than it has (README).
        let output = if self.padded { wrapped } else { key };
        match self.call(wrapped, len + CHECK, output) {
            FAILED_LEN => state.not_done(raw::REJECTED),
            written if whole(written, len) => {
                if self.padded {
                    ptr::copy_nonoverlapping(wrapped, key, len);
                }
                raw::OK
            }
            _ => state.not_done(raw::FAILED),
        }
    }

    fn rekey(&mut self, key: In) -> i32 {
        self.state.done(self.state.set_key(key))
    }
}

functions! {
    /// aes.h, as BoringSSL and AWS-LC have it: lengths are `size_t`.
    struct AesFunctions {
        /// Key, bits, schedule.
        AES_set_encrypt_key: fn(In, c_uint, *mut c_void) -> c_int;
        AES_set_decrypt_key: fn(In, c_uint, *mut c_void) -> c_int;
        /// Schedule, check or null for the default, output, input; bytes of output, -1.
        AES_wrap_key: fn(*const c_void, In, Out, In, usize) -> c_int;
        AES_unwrap_key: fn(*const c_void, In, Out, In, usize) -> c_int;
        /// Schedule, output, its length, its room, input; 1, 0.
        AES_wrap_key_padded: fn(*const c_void, Out, *mut usize, usize, In, usize) -> c_int;
        AES_unwrap_key_padded: fn(*const c_void, Out, *mut usize, usize, In, usize) -> c_int;
    }
}

/// Twice the `AES_KEY` of aes.h.
const AES_KEY: usize = 512;

struct Aes {
    schedule: Aligned,
    set_key: unsafe extern "C" fn(In, c_uint, *mut c_void) -> c_int,
    bits: c_uint,
    padded: bool,
    f: AesFunctions,
    errors: Errors,
}

/// `None` where the library does not have it, or has it under the same name with other types.
pub(crate) fn aes_session<L>(
    object: &SharedObject,
    errors: Errors,
    request: &Request<'_, L>,
) -> Option<Result<raw::Session, String>> {
    if object.has("EVP_aes_128_wrap") {
        return None;
    }
    let f = AesFunctions::of(object).ok()?;
    let bits = request.key_len::<c_uint>() * 8;
    let (set_key, name) = match request.decrypts() {
        true => (f.AES_set_decrypt_key, c"AES_set_decrypt_key"),
        false => (f.AES_set_encrypt_key, c"AES_set_encrypt_key"),
    };
    let padded = request.algorithm.mode == Mode::KeyWrapPadded;
    let schedule = Aligned::zeroed(AES_KEY);
    let mut state = Aes { schedule, set_key, bits, padded, f, errors };
    // SAFETY: the key has so many bits.
    if unsafe { state.rekey(request.key.as_ptr()) } != raw::OK {
        return Some(Err(format!("{} failed", name.to_string_lossy())));
    }
    let calls = match padded {
        false => [c"AES_wrap_key, memcpy", c"memcpy, AES_unwrap_key"],
        true => [c"AES_wrap_key_padded, memcpy", c"memcpy, AES_unwrap_key_padded"],
    };
    Some(Ok(wrap::session(state, request.decrypts(), 0, calls, name)))
}

steps! { impl KeyWrap for Aes;
    fn wrap(&mut self, key: In, len: usize, wrapped: Out) -> i32 {
        let (schedule, room, mut written) = (self.schedule.as_ptr(), len + CHECK, 0);
        let done = if self.padded {
            let call = self.f.AES_wrap_key_padded;
            call(schedule, wrapped, &raw mut written, room, key, len) == 1 && written == room
        } else {
            whole((self.f.AES_wrap_key)(schedule, ptr::null(), wrapped, key, len), room)
        };
        if done { raw::OK } else { self.errors.failed() }
    }

    fn unwrap(&mut self, wrapped: Out, len: usize, key: Out) -> i32 {
        let (schedule, all, mut written) = (self.schedule.as_ptr(), len + CHECK, 0);
        let done = if self.padded {
            let call = self.f.AES_unwrap_key_padded;
            call(schedule, key, &raw mut written, len, wrapped, all) == 1 && written == len
        } else {
            whole((self.f.AES_unwrap_key)(schedule, ptr::null(), key, wrapped, all), len)
        };
        if done { raw::OK } else { self.rejected() }
    }

    fn rekey(&mut self, key: In) -> i32 {
        match (self.set_key)(key, self.bits, self.schedule.as_mut_ptr()) {
            0 => raw::OK,
            _ => self.errors.failed(),
        }
    }
}

impl Aes {
    #[cold]
    fn rejected(&self) -> i32 {
        self.errors.clear();
        raw::REJECTED
    }
}
