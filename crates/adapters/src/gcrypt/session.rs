//! What runs inside the clock: the calls that an application makes for one message.

use super::api::{
    Api, BytesFn, CloseFn, CryptFn, CtlFn, Error, GetTagFn, Handle, ctl, err, error_code,
};
use contract::raw;
use model::{Algorithm, Direction, Mode};
use std::ffi::c_void;
use std::ptr;

/// A handle with its key set; closed when dropped.
pub(super) struct Cipher {
    pub(super) handle: Handle,
    pub(super) close: CloseFn,
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: the handle came from gcry_cipher_open and is closed nowhere else.
        unsafe { (self.close)(self.handle) }
    }
}

/// An opened algorithm in one direction.
///
/// Streams have a handle of their own: up to 1.10.1 at least, setiv in GCM forgets to drop the part
/// of a block that an unfinished message left in the authentication, so a message after a stream
/// under the same handle would get a wrong tag. Two handles cost nothing inside the clock.
pub(super) struct State {
    message: Cipher,
    stream: Cipher,
    crypt: CryptFn,
    set_nonce: BytesFn,
    authenticate: BytesFn,
    tag: TagFn,
    ctl: CtlFn,
    nonce_len: usize,
    tag_len: usize,
}

/// Encryption gets the tag, decryption checks it.
#[derive(Clone, Copy)]
enum TagFn {
    Get(GetTagFn),
    Check(BytesFn),
}

impl State {
    /// Takes over two handles that are opened for the algorithm.
    pub(super) fn new(
        api: &Api,
        [message, stream]: [Cipher; 2],
        algorithm: &Algorithm,
        direction: Direction,
    ) -> Self {
        let encrypts = direction == Direction::Encrypt;
        Self {
            message,
            stream,
            crypt: if encrypts { api.encrypt } else { api.decrypt },
            // In counter mode setiv is accepted, and sets something that the mode never reads.
            set_nonce: if algorithm.mode == Mode::Ctr { api.setctr } else { api.setiv },
            authenticate: api.authenticate,
            tag: if encrypts { TagFn::Get(api.gettag) } else { TagFn::Check(api.checktag) },
            ctl: api.ctl,
            nonce_len: algorithm.nonce_len,
            tag_len: algorithm.tag_len,
        }
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(super) fn into_session(self, mode: Mode) -> raw::Session {
        let message: raw::MessageFn = match mode {
            Mode::Ecb => message_ecb,
            Mode::Ccm => message_ccm,
            Mode::Ocb => message_ocb,
            Mode::Gcm | Mode::Poly1305 => message_aead,
            _ => message_cipher,
        };
        let start: raw::StartFn = if mode == Mode::Ecb { start_ecb } else { start };
        // The lengths of a CCM message go into its first block: there is no stream of it.
        let streams = mode != Mode::Ccm;
        // Each call of the XTS functions is one data unit and raises the tweak by one.
        let next_unit = if mode == Mode::Xts { raw::NEXT_UNIT } else { 0 };
        raw::Session {
            state: Box::into_raw(Box::new(self)).cast(),
            flags: raw::IN_PLACE | next_unit,
            message: Some(message),
            start: streams.then_some(start),
            update: streams.then_some(update),
            close: Some(close),
            ..raw::Session::empty()
        }
    }

    /// # Safety
    /// `nonce` has the algorithm's length.
    #[inline]
    unsafe fn set_nonce(&self, cipher: &Cipher, nonce: *const u8) -> Error {
        // SAFETY: the caller's promise.
        unsafe { (self.set_nonce)(cipher.handle, nonce.cast(), self.nonce_len) }
    }

    /// # Safety
    /// `input` and `output` cover `len` bytes and are the same or do not overlap.
    #[inline]
    unsafe fn crypt(
        &self,
        cipher: &Cipher,
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> Error {
        // In place is asked for by a null input, not by equal pointers.
        let (input, input_len) =
            if ptr::eq(input, output) { (ptr::null(), 0) } else { (input, len) };
        // SAFETY: the caller's promise.
        unsafe { (self.crypt)(cipher.handle, output.cast(), len, input.cast(), input_len) }
    }

    /// # Safety
    /// `m.aad` covers `m.aad_len` bytes.
    #[inline]
    unsafe fn authenticate(&self, m: &raw::Message) -> Error {
        if m.aad_len == 0 {
            return 0;
        }
        // SAFETY: the caller's promise.
        unsafe { (self.authenticate)(self.message.handle, m.aad.cast(), m.aad_len) }
    }

    /// # Safety
    /// `tag` has the algorithm's length and is writable for encryption.
    #[inline]
    unsafe fn tag(&self, tag: *mut u8) -> Error {
        // SAFETY: the caller's promise.
        unsafe {
            match self.tag {
                TagFn::Get(get) => get(self.message.handle, tag.cast(), self.tag_len),
                TagFn::Check(check) => check(self.message.handle, tag.cast(), self.tag_len),
            }
        }
    }

    /// # Safety
    /// `buffer` is what the command asks for.
    #[inline]
    unsafe fn ctl(&self, command: i32, buffer: *mut c_void, len: usize) -> Error {
        // SAFETY: the caller's promise.
        unsafe { (self.ctl)(self.message.handle, command, buffer, len) }
    }
}

/// A `gcry_error_t` as a return code of the interface: 0 is done, a wrong tag is told from other
/// errors, everything else stays as it is. Errors carry their source in bits 24 to 31, so that none
/// of them is one of the interface's own small numbers; one without a source would be.
fn outcome(error: Error) -> i32 {
    match error {
        0 => raw::OK,
        e if error_code(e) == err::CHECKSUM => raw::REJECTED,
        1..=3 => raw::FAILED,
        e => e.cast_signed(),
    }
}

/// Calls in order, and returns the first error as the interface's code.
macro_rules! calls {
    ($($call:expr),+ $(,)?) => {{
        $(
            let error = $call;
            if error != 0 {
                return outcome(error);
            }
        )+
        raw::OK
    }};
}

unsafe extern "C" fn message_ecb(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(state.crypt(&state.message, m.input, m.output, m.len))
    }
}

unsafe extern "C" fn message_cipher(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.crypt(&state.message, m.input, m.output, m.len)
        )
    }
}

unsafe extern "C" fn message_aead(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.authenticate(m),
            state.crypt(&state.message, m.input, m.output, m.len),
            state.tag(m.tag),
        )
    }
}

/// CCM is told all lengths before the first byte (RFC 3610 §2.2: they are in the first block).
unsafe extern "C" fn message_ccm(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        let mut lengths = [m.len as u64, m.aad_len as u64, state.tag_len as u64];
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.ctl(ctl::SET_CCM_LENGTHS, lengths.as_mut_ptr().cast(), size_of_val(&lengths)),
            state.authenticate(m),
            state.crypt(&state.message, m.input, m.output, m.len),
            state.tag(m.tag),
        )
    }
}

/// OCB treats the last block differently (RFC 7253 §4.2), so it is told which call is the last.
unsafe extern "C" fn message_ocb(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.authenticate(m),
            state.ctl(ctl::FINALIZE, ptr::null_mut(), 0),
            state.crypt(&state.message, m.input, m.output, m.len),
            state.tag(m.tag),
        )
    }
}

/// ECB has no nonce, and nothing to begin.
unsafe extern "C" fn start_ecb(_state: *mut c_void, _nonce: *const u8) -> i32 {
    raw::OK
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `into_session` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.set_nonce(&state.stream, nonce))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `into_session` made; the buffers keep the interface's rules.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.crypt(&state.stream, input, output, len))
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `into_session` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_wrong_tag_is_a_rejection() {
        let from_gcrypt = |code: u32| 1 << 24 | code;
        assert_eq!(outcome(0), raw::OK);
        assert_eq!(outcome(from_gcrypt(err::CHECKSUM)), raw::REJECTED);
        assert_eq!(outcome(from_gcrypt(139)), (1 << 24) + 139);
    }

    #[test]
    fn an_error_without_a_source_is_never_taken_for_the_interfaces_own_code() {
        assert!((1..=3).all(|error| outcome(error) == raw::FAILED));
    }
}
