//! EAX, SIV, GCM-SIV and ChaCha20-Poly1305: one call a message that takes the key itself; and
//! XChaCha20-Poly1305 in parts, whose one-shot functions want the tag behind the ciphertext.

use crate::family::{In, KEY_IN_EACH_MESSAGE, Out, calls, operations, symbol};
use crate::wolfssl::{
    Context, EAX_WRONG_TAG, GCM_WRONG_TAG, MAC_WRONG_TAG, Request, SIV_WRONG_TAG, done, lengths,
    outcome, verdict,
};
use base::model::Mode;
use contract::loader::SharedObject;
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// `wc_AesEaxEncryptAuth`, `wc_AesEaxDecryptAuth`: key, length, output, input, length, nonce,
/// length, tag, length, associated data, length.
type EaxFn = unsafe extern "C" fn(In, u32, Out, In, u32, In, u32, Out, u32, In, u32) -> c_int;
/// `wc_AesSivEncrypt`, `wc_AesSivDecrypt`: both keys, length, associated data, length, nonce,
/// length, input, length, tag, output.
type SivFn = unsafe extern "C" fn(In, u32, In, u32, In, u32, In, u32, Out, Out) -> c_int;
/// `wc_AesGcmSivEncrypt`, `wc_AesGcmSivDecrypt`: key, length, nonce, length, associated data,
/// length, input, length, output, tag, length.
type GcmSivFn = unsafe extern "C" fn(In, u32, In, u32, In, u32, In, u32, Out, Out, u32) -> c_int;
/// `wc_ChaCha20Poly1305_Encrypt`, `wc_ChaCha20Poly1305_Decrypt`: key, nonce, associated data,
/// length, input, length, then output and tag; decryption has the tag first.
type ChaChaFn = unsafe extern "C" fn(In, In, In, u32, In, u32, Out, Out) -> c_int;

/// The function, by its type.
#[derive(Clone, Copy)]
enum Call {
    Eax(EaxFn),
    Siv(SivFn),
    GcmSiv(GcmSivFn),
    ChaChaEncrypt(ChaChaFn),
    ChaChaDecrypt(ChaChaFn),
}

struct State {
    key: Vec<u8>,
    call: Call,
    wrong_tag: c_int,
    encrypts: bool,
    stream: Option<Stream>,
}

pub(crate) fn open_one_shot(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let encrypts = request.encrypts();
    let ((call, wrong_tag), name) = function(object, request.algorithm.mode, encrypts)?;
    let stream = Stream::new(object, request.algorithm.mode, encrypts);
    let streams = stream.is_some();
    // EAX decrypts before it authenticates the ciphertext, which in place is no longer there: every
    // message would be rejected.
    let in_place = request.algorithm.mode != Mode::Eax || encrypts;
    let state = State { key: request.key.to_vec(), call, wrong_tag, encrypts, stream };
    Ok(Table::new(state, if in_place { raw::IN_PLACE } else { 0 }, name)
        .streams_if(streams)
        .rekeys(KEY_IN_EACH_MESSAGE)
        .raw())
}

type Function = ((Call, c_int), &'static CStr);

fn function(object: &SharedObject, mode: Mode, encrypts: bool) -> Result<Function, OpenError> {
    let name = match (mode, encrypts) {
        (Mode::Eax, true) => c"wc_AesEaxEncryptAuth",
        (Mode::Eax, false) => c"wc_AesEaxDecryptAuth",
        (Mode::Siv, true) => c"wc_AesSivEncrypt",
        (Mode::Siv, false) => c"wc_AesSivDecrypt",
        (Mode::GcmSiv, true) => c"wc_AesGcmSivEncrypt",
        (Mode::GcmSiv, false) => c"wc_AesGcmSivDecrypt",
        (_, true) => c"wc_ChaCha20Poly1305_Encrypt",
        (_, false) => c"wc_ChaCha20Poly1305_Decrypt",
    };
    let symbol = symbol(name);
    // SAFETY: the types are those of aes.h and chacha20_poly1305.h for the symbols named.
    let call = unsafe {
        match mode {
            Mode::Eax => (Call::Eax(object.exported(symbol)?), EAX_WRONG_TAG),
            Mode::Siv => (Call::Siv(object.exported(symbol)?), SIV_WRONG_TAG),
            Mode::GcmSiv => (Call::GcmSiv(object.exported(symbol)?), GCM_WRONG_TAG),
            _ if encrypts => (Call::ChaChaEncrypt(object.exported(symbol)?), MAC_WRONG_TAG),
            _ => (Call::ChaChaDecrypt(object.exported(symbol)?), MAC_WRONG_TAG),
        }
    };
    Ok((call, name))
}

impl State {
    /// # Safety
    /// The message keeps the interface's rules; the lengths are its own.
    #[inline]
    unsafe fn run(&self, m: &raw::Message, len: u32, aad_len: u32) -> c_int {
        // Keys are a few bytes.
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as u32);
        // SAFETY: the caller's promise.
        unsafe {
            match self.call {
                Call::Eax(f) => {
                    f(key, key_len, m.output, m.input, len, m.nonce, 16, m.tag, 16, m.aad, aad_len)
                }
                Call::Siv(f) => {
                    f(key, key_len, m.aad, aad_len, m.nonce, 16, m.input, len, m.tag, m.output)
                }
                Call::GcmSiv(f) => {
                    f(key, key_len, m.nonce, 12, m.aad, aad_len, m.input, len, m.output, m.tag, 16)
                }
                Call::ChaChaEncrypt(f) => {
                    f(key, m.nonce, m.aad, aad_len, m.input, len, m.output, m.tag)
                }
                Call::ChaChaDecrypt(f) => {
                    f(key, m.nonce, m.aad, aad_len, m.input, len, m.tag, m.output)
                }
            }
        }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        lengths!(len = m.len, aad_len = m.aad_len);
        verdict(self.run(m, len, aad_len), self.wrong_tag)
    }

    fn start(&mut self, nonce) {
        let Some(stream) = &mut self.stream else { return raw::FAILED };
        calls!(stream.begin(&self.key, nonce, self.encrypts))
    }

    fn update(&mut self, input, output, len) {
        let Some(stream) = &self.stream else { return raw::FAILED };
        lengths!(len = len);
        calls!(stream.update(input, output, len))
    }

    fn rekey(&mut self, key) {
        let len = self.key.len();
        self.key.as_mut_ptr().copy_from_nonoverlapping(key, len);
        raw::OK
    }
}

functions! {
    /// EAX in parts, of aes.h.
    struct Eax {
        /// Context, key, length, nonce, length, associated data, length.
        wc_AesEaxInit: fn(*mut c_void, In, u32, In, u32, In, u32) -> c_int;
        /// Context, output, input, length, associated data, length.
        wc_AesEaxEncryptUpdate: fn(*mut c_void, Out, In, u32, In, u32) -> c_int;
        wc_AesEaxDecryptUpdate: fn(*mut c_void, Out, In, u32, In, u32) -> c_int;
        wc_AesEaxFree: fn(*mut c_void) -> c_int;
    }
}

functions! {
    /// ChaCha20-Poly1305 in parts, of chacha20_poly1305.h.
    struct ChaCha {
        /// Context, key, nonce, whether to encrypt.
        wc_ChaCha20Poly1305_Init: fn(*mut c_void, In, In, c_int) -> c_int;
        /// Context, input, output, length.
        wc_ChaCha20Poly1305_UpdateData: fn(*mut c_void, In, Out, u32) -> c_int;
    }
}

#[derive(Clone, Copy)]
enum Parts {
    EaxEncrypt(Eax),
    EaxDecrypt(Eax),
    ChaCha(ChaCha),
}

/// The same algorithms in parts.
struct Stream {
    context: Context,
    parts: Parts,
    begun: bool,
}

impl Stream {
    fn new(object: &SharedObject, mode: Mode, encrypts: bool) -> Option<Self> {
        let parts = match mode {
            Mode::Eax if encrypts => Parts::EaxEncrypt(Eax::of(object).ok()?),
            Mode::Eax => Parts::EaxDecrypt(Eax::of(object).ok()?),
            Mode::Poly1305 => Parts::ChaCha(ChaCha::of(object).ok()?),
            // Synthetic vectors come out of the whole message: there is no stream of those modes.
            _ => return None,
        };
        Some(Self { context: Context::zeroed(), parts, begun: false })
    }

    /// # Safety
    /// `nonce` has the algorithm's length.
    unsafe fn begin(&mut self, key: &[u8], nonce: *const u8, encrypts: bool) -> c_int {
        self.end();
        self.begun = true;
        let (context, no_aad) = (self.context.pointer(), ptr::null());
        // SAFETY: the caller's promise; the key covers its length.
        unsafe {
            match self.parts {
                Parts::EaxEncrypt(f) | Parts::EaxDecrypt(f) => {
                    let len = key.len() as u32;
                    (f.wc_AesEaxInit)(context, key.as_ptr(), len, nonce, 16, no_aad, 0)
                }
                Parts::ChaCha(f) => {
                    let way = c_int::from(encrypts);
                    (f.wc_ChaCha20Poly1305_Init)(context, key.as_ptr(), nonce, way)
                }
            }
        }
    }

    /// # Safety
    /// The buffers cover `len` bytes; the stream was begun.
    #[inline]
    unsafe fn update(&self, input: *const u8, output: *mut u8, len: u32) -> c_int {
        let context = self.context.pointer();
        // SAFETY: the caller's promise.
        unsafe {
            match self.parts {
                Parts::EaxEncrypt(f) => {
                    (f.wc_AesEaxEncryptUpdate)(context, output, input, len, ptr::null(), 0)
                }
                Parts::EaxDecrypt(f) => {
                    (f.wc_AesEaxDecryptUpdate)(context, output, input, len, ptr::null(), 0)
                }
                Parts::ChaCha(f) => (f.wc_ChaCha20Poly1305_UpdateData)(context, input, output, len),
            }
        }
    }

    /// Gives back what the beginning may have allocated.
    fn end(&mut self) {
        if let (true, Parts::EaxEncrypt(f) | Parts::EaxDecrypt(f)) = (self.begun, self.parts) {
            // SAFETY: a context that was begun. Its result is of no use any more.
            let _ = unsafe { (f.wc_AesEaxFree)(self.context.pointer()) };
        }
        self.begun = false;
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.end();
    }
}

functions! {
    /// chacha20_poly1305.h.
    struct XChaChaFunctions {
        /// Context, associated data, length, nonce, length, key, length, whether to encrypt.
        wc_XChaCha20Poly1305_Init: fn(*mut c_void, In, u32, In, u32, In, u32, c_int) -> c_int;
        /// Context, associated data, length.
        wc_ChaCha20Poly1305_UpdateAad: fn(*mut c_void, In, u32) -> c_int;
        /// Context, input, output, length.
        wc_ChaCha20Poly1305_UpdateData: fn(*mut c_void, In, Out, u32) -> c_int;
        /// Context, tag.
        wc_ChaCha20Poly1305_Final: fn(*mut c_void, Out) -> c_int;
        /// The two tags.
        wc_ChaCha20Poly1305_CheckTag: fn(In, In) -> c_int;
    }
}

struct XChaChaState {
    message: Context,
    stream: Context,
    key: [u8; 32],
    encrypts: bool,
    f: XChaChaFunctions,
}

pub(crate) fn open_xchacha(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = XChaChaFunctions::of(&request.library.object)?;
    let encrypts = request.encrypts();
    let key = request.key.try_into().expect("XChaCha20 has keys of 32 bytes");
    let (message, stream) = (Context::zeroed(), Context::zeroed());
    let mut state = XChaChaState { message, stream, key, encrypts, f };
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
    Ok(Table::new(state, raw::IN_PLACE, call).streams().rekeys(KEY_IN_EACH_MESSAGE).raw())
}

operations! { impl for XChaChaState;
    fn message(&mut self, m) {
        lengths!(len = m.len, aad_len = m.aad_len);
        let context = self.message.pointer();
        calls!(
            self.begin(&self.message, m.nonce),
            (self.f.wc_ChaCha20Poly1305_UpdateAad)(context, m.aad, aad_len),
            (self.f.wc_ChaCha20Poly1305_UpdateData)(context, m.input, m.output, len),
        );
        self.end(m.tag)
    }

    fn start(&mut self, nonce) {
        calls!(self.begin_stream(nonce))
    }

    fn update(&mut self, input, output, len) {
        lengths!(len = len);
        calls!((self.f.wc_ChaCha20Poly1305_UpdateData)(self.stream.pointer(), input, output, len))
    }

    fn rekey(&mut self, key) {
        self.key = key.cast::<[u8; 32]>().read();
        raw::OK
    }
}

impl XChaChaState {
    /// The associated data is not given to the beginning, which forgets to note its length.
    ///
    /// # Safety
    /// `nonce` covers 24 bytes; the context is zeroed, as [`State::end`] leaves it: the beginning
    /// does not set the lengths back either.
    #[inline]
    unsafe fn begin(&self, context: &Context, nonce: *const u8) -> c_int {
        let (key, way) = (self.key.as_ptr(), c_int::from(self.encrypts));
        // SAFETY: the caller's promise. No associated data; older versions want a pointer anyway.
        unsafe {
            let init = self.f.wc_XChaCha20Poly1305_Init;
            init(context.pointer(), nonce, 0, nonce, 24, key, 32, way)
        }
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
                return outcome((self.f.wc_ChaCha20Poly1305_Final)(self.message.pointer(), tag));
            }
            let code = (self.f.wc_ChaCha20Poly1305_Final)(self.message.pointer(), own.as_mut_ptr());
            if code != 0 {
                return outcome(code);
            }
            let code = (self.f.wc_ChaCha20Poly1305_CheckTag)(tag, own.as_ptr());
            verdict(code, MAC_WRONG_TAG)
        }
    }
}
