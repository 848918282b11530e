//! EAX: every message takes the key anew.

use super::aead::{AeadMode, DoneFn, State, comparison};
use super::api::{Api, Index, OK};
use contract::{OpenError, raw};
use model::Direction;
use std::ffi::{c_int, c_ulong, c_void};

/// `eax_init`: state, cipher, key, length, nonce, length, header, length.
type InitFn = unsafe extern "C" fn(
    *mut c_void,
    Index,
    *const u8,
    c_ulong,
    *const u8,
    c_ulong,
    *const u8,
    c_ulong,
) -> c_int;
/// `eax_encrypt`, `eax_decrypt`: state, input, output, length.
type CryptFn = unsafe extern "C" fn(*mut c_void, *const u8, *mut u8, c_ulong) -> c_int;

/// EAX takes its key with each nonce.
struct Eax {
    cipher: Index,
    key: Vec<u8>,
    init: InitFn,
    crypt: CryptFn,
    done: DoneFn,
}

impl AeadMode for Eax {
    #[inline]
    unsafe fn rekey(&mut self, _: *mut c_void, key: *const u8) -> c_int {
        let len = self.key.len();
        // SAFETY: the trait's promises.
        unsafe { self.key.as_mut_ptr().copy_from_nonoverlapping(key, len) };
        OK
    }

    #[inline]
    unsafe fn begin(
        &self,
        state: *mut c_void,
        nonce: *const u8,
        aad: *const u8,
        len: usize,
    ) -> c_int {
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as c_ulong);
        // SAFETY: the trait's promises.
        unsafe { (self.init)(state, self.cipher, key, key_len, nonce, 16, aad, len as c_ulong) }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.crypt)(state, i, o, len as c_ulong) }
    }

    #[inline]
    unsafe fn done(&self, state: *mut c_void, tag: *mut u8, len: *mut c_ulong) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.done)(state, tag, len) }
    }
}

pub(super) fn open(
    api: &Api,
    cipher: Index,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let decrypts = direction == Direction::Decrypt;
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let mode = unsafe {
        Eax {
            cipher,
            key: key.to_vec(),
            init: api.object.offered("eax_init")?,
            crypt: api.object.offered(if decrypts { "eax_decrypt" } else { "eax_encrypt" })?,
            done: api.object.offered("eax_done")?,
        }
    };
    let memory = || api.memory(c"eax_state", 4 * 14_232);
    let not_equal = comparison(api, direction)?;
    let state = State { mode, message: memory(), stream: memory(), not_equal };
    let call = if decrypts {
        c"eax_init, eax_decrypt, eax_done, mem_neq"
    } else {
        c"eax_init, eax_encrypt, eax_done"
    };
    // eax_init and eax_done allocate their intermediate values.
    Ok(state.into_session(raw::IN_PLACE | raw::ALLOCATES, call))
}
