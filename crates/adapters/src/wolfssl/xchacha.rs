//! XChaCha20-Poly1305 in parts: the one-shot functions want the tag behind the ciphertext.

use super::api::{Context, MAC_WRONG_TAG, calls, close, done, given, lengths, outcome, verdict};
use contract::{OpenError, raw};
use loader::SharedObject;
use model::Direction;
use std::ffi::{c_int, c_void};

/// `wc_XChaCha20Poly1305_Init`: context, associated data, length, nonce, length, key, length,
/// whether to encrypt.
type InitFn = unsafe extern "C" fn(
    *mut c_void,
    *const u8,
    u32,
    *const u8,
    u32,
    *const u8,
    u32,
    c_int,
) -> c_int;
/// `wc_ChaCha20Poly1305_UpdateAad`: context, associated data, length.
type AadFn = unsafe extern "C" fn(*mut c_void, *const u8, u32) -> c_int;
/// `wc_ChaCha20Poly1305_UpdateData`: context, input, output, length.
type DataFn = unsafe extern "C" fn(*mut c_void, *const u8, *mut u8, u32) -> c_int;
/// `wc_ChaCha20Poly1305_Final`: context, tag.
type FinalFn = unsafe extern "C" fn(*mut c_void, *mut u8) -> c_int;
/// `wc_ChaCha20Poly1305_CheckTag`: the two tags.
type CheckFn = unsafe extern "C" fn(*const u8, *const u8) -> c_int;

struct State {
    message: Context,
    stream: Context,
    key: [u8; 32],
    encrypts: bool,
    init: InitFn,
    aad: AadFn,
    data: DataFn,
    end: FinalFn,
    check: CheckFn,
}

pub(super) fn open(
    object: &SharedObject,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let encrypts = direction == Direction::Encrypt;
    // SAFETY: the types are those of chacha20_poly1305.h for the symbols named.
    let mut state = unsafe {
        State {
            message: Context::zeroed(),
            stream: Context::zeroed(),
            key: key.try_into().expect("XChaCha20 has keys of 32 bytes"),
            encrypts,
            init: object.offered("wc_XChaCha20Poly1305_Init")?,
            aad: object.offered("wc_ChaCha20Poly1305_UpdateAad")?,
            data: object.offered("wc_ChaCha20Poly1305_UpdateData")?,
            end: object.offered("wc_ChaCha20Poly1305_Final")?,
            check: object.offered("wc_ChaCha20Poly1305_CheckTag")?,
        }
    };
    // The header of 5.5 names key and nonce the other way round than the code takes them. Both
    // check their lengths, so a build in which it were so would say it here.
    // SAFETY: the nonce has 24 bytes.
    let code = unsafe { state.begin_stream([0; 24].as_ptr()) };
    done("wc_XChaCha20Poly1305_Init", code)?;
    let call = if encrypts {
        c"wc_XChaCha20Poly1305_Init, wc_ChaCha20Poly1305_UpdateAad, wc_ChaCha20Poly1305_UpdateData, wc_ChaCha20Poly1305_Final"
    } else {
        c"wc_XChaCha20Poly1305_Init, wc_ChaCha20Poly1305_UpdateAad, wc_ChaCha20Poly1305_UpdateData, wc_ChaCha20Poly1305_Final, wc_ChaCha20Poly1305_CheckTag"
    };
    Ok(raw::Session {
        state: given(state),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        finish: None,
        call: call.as_ptr(),
        close: Some(close::<State>),
        rekey: Some(rekey),
        rekey_call: c"none: the key is an argument of each message".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has 32 bytes.
    unsafe { (*state.cast::<State>()).key = key.cast::<[u8; 32]>().read() };
    raw::OK
}

impl State {
    /// The associated data is not given to the beginning, which forgets to note its length.
    ///
    /// # Safety
    /// `nonce` covers 24 bytes; the context is zeroed, as [`State::end`] leaves it: the beginning
    /// does not set the lengths back either.
    #[inline]
    unsafe fn begin(&self, context: &Context, nonce: *const u8) -> c_int {
        let (key, way) = (self.key.as_ptr(), c_int::from(self.encrypts));
        // SAFETY: the caller's promise. No associated data; older versions want a pointer anyway.
        unsafe { (self.init)(context.pointer(), nonce, 0, nonce, 24, key, 32, way) }
    }

    /// Begins a stream, in a context of its own: one that was begun before has no cheaper end.
    ///
    /// # Safety
    /// `nonce` covers 24 bytes.
    unsafe fn begin_stream(&mut self, nonce: *const u8) -> c_int {
        self.stream = Context::zeroed();
        // SAFETY: the caller's promise.
        unsafe { self.begin(&self.stream, nonce) }
    }

    /// # Safety
    /// `tag` covers 16 bytes, writable for encryption.
    #[inline]
    unsafe fn end(&self, tag: *mut u8) -> i32 {
        let mut own = [0; 16];
        // SAFETY: the caller's promise.
        unsafe {
            if self.encrypts {
                return outcome((self.end)(self.message.pointer(), tag));
            }
            let code = (self.end)(self.message.pointer(), own.as_mut_ptr());
            if code != 0 {
                return outcome(code);
            }
            verdict((self.check)(tag, own.as_ptr()), MAC_WRONG_TAG)
        }
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        lengths!(len = m.len, aad_len = m.aad_len);
        let context = state.message.pointer();
        calls!(
            state.begin(&state.message, m.nonce),
            (state.aad)(context, m.aad, aad_len),
            (state.data)(context, m.input, m.output, len),
        );
        state.end(m.tag)
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        calls!(state.begin_stream(nonce))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; the buffers keep the interface's rules.
    unsafe {
        let state = &*state.cast::<State>();
        lengths!(len = len);
        calls!((state.data)(state.stream.pointer(), input, output, len))
    }
}
