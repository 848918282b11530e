//! CCM in one call with a key that is scheduled already.

use super::aead::TAG;
use super::api::{Api, ERROR, Index, OK, close, given, outcome};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::{Direction, Primitive};
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;

/// `rijndael_setup`, `camellia_setup`: key, length, rounds, state.
type SetupFn = unsafe extern "C" fn(*const u8, c_int, c_int, *mut c_void) -> c_int;
/// `ccm_memory`: cipher, key, length, scheduled key, nonce, length, header, length, plaintext,
/// length, ciphertext, tag, its length, direction (0 encrypts).
type MemoryFn = unsafe extern "C" fn(
    Index,
    *const u8,
    c_ulong,
    *mut c_void,
    *const u8,
    c_ulong,
    *const u8,
    c_ulong,
    *mut u8,
    c_ulong,
    *mut u8,
    *mut u8,
    *mut c_ulong,
    c_int,
) -> c_int;

struct State {
    setup: SetupFn,
    key_len: c_int,
    cipher: Index,
    key: Aligned,
    memory: MemoryFn,
}

pub(super) fn open(
    api: &Api,
    primitive: Primitive,
    cipher: Index,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let setup = match primitive {
        Primitive::Camellia => "camellia_setup",
        _ => "rijndael_setup",
    };
    let scheduled = api.memory(c"symmetric_key", 4 * 4256);
    let len = c_int::try_from(key.len()).expect("keys are a few bytes");
    // SAFETY: the types are those of tomcrypt_cipher.h and tomcrypt_mac.h for the symbols named;
    // the key covers its length.
    let (error, set_up, memory) = unsafe {
        let set_up = api.object.offered::<SetupFn>(setup)?;
        (
            set_up(key.as_ptr(), len, 0, scheduled.context()),
            set_up,
            api.object.offered("ccm_memory")?,
        )
    };
    api.done(setup, error)?;
    let state = State { setup: set_up, key_len: len, cipher, key: scheduled, memory };
    let decrypts = direction == Direction::Decrypt;
    // Decryption goes through a buffer that the library allocates, and is copied out of it.
    let forced = if decrypts { raw::COPIES | raw::ALLOCATES } else { 0 };
    Ok(raw::Session {
        state: given(state),
        flags: raw::IN_PLACE | forced,
        message: Some(if decrypts { decrypt } else { encrypt }),
        call: c"ccm_memory".as_ptr(),
        close: Some(close::<State>),
        rekey: Some(rekey),
        rekey_call: c"rijndael_setup or camellia_setup".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        outcome((state.setup)(key, state.key_len, 0, state.key.context()))
    }
}

impl State {
    /// # Safety
    /// The message keeps the interface's rules; `plain` and `cipher` cover its length.
    #[inline]
    unsafe fn call(
        &self,
        m: &raw::Message,
        (plain, cipher): (*mut u8, *mut u8),
        direction: c_int,
    ) -> c_int {
        let (len, mut tag_len) = (m.len as c_ulong, TAG as c_ulong);
        // SAFETY: the caller's promise; without a key the scheduled one is used.
        unsafe {
            (self.memory)(
                self.cipher,
                ptr::null(),
                0,
                self.key.context(),
                m.nonce,
                12,
                m.aad,
                m.aad_len as c_ulong,
                plain,
                len,
                cipher,
                m.tag,
                &raw mut tag_len,
                direction,
            )
        }
    }
}

unsafe extern "C" fn encrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        outcome(state.call(m, (m.input.cast_mut(), m.output), 0))
    }
}

/// A wrong tag is `CRYPT_ERROR`: the library gives the truth value of its comparison back as the
/// error code. Nothing else in `ccm_memory` has that code.
unsafe extern "C" fn decrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        match state.call(m, (m.output, m.input.cast_mut()), 1) {
            OK => raw::OK,
            ERROR => raw::REJECTED,
            other => outcome(other),
        }
    }
}
