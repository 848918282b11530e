//! Authenticated modes of LibTomCrypt: GCM with GMAC, EAX, OCB, CCM, and ChaCha20 alone and with Poly1305.
//! Most are begun, fed and ended with a tag; CCM is one call.

use crate::family::{Aligned, In, KEY_IN_EACH_MESSAGE, Out, calls, operations, steps};
use crate::tomcrypt::{ERROR, Index, NotEqualFn, OK, Request, outcome};
use base::model::Primitive;
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_ulong, c_void};
use std::ptr;

/// `gcm_done`, `eax_done`, `ocb3_done`, `hmac_done`, `poly1305_done`: state, tag, room for it and length.
pub(crate) type DoneFn = unsafe extern "C" fn(*mut c_void, Out, *mut c_ulong) -> c_int;

/// Bytes of every tag here but the shorter one of CCM.
pub(crate) const TAG: usize = 16;

/// What differs between the modes. Every function returns the library's error code.
///
/// # Safety
/// Of each function: `state` is a state of the mode, nonces and keys have the algorithm's length, buffers
/// cover their lengths and are the same or do not overlap.
pub(crate) trait AeadMode {
    unsafe fn rekey(&mut self, state: *mut c_void, key: In) -> c_int;
    unsafe fn begin(&self, state: *mut c_void, nonce: In, aad: (In, usize)) -> c_int;
    unsafe fn part(&self, state: *mut c_void, i: In, o: Out, len: usize) -> c_int;
    /// The part that no other follows.
    unsafe fn last(&self, state: *mut c_void, i: In, o: Out, len: usize) -> c_int {
        // SAFETY: the same promises.
        unsafe { self.part(state, i, o, len) }
    }
}

/// Keeps another key, of the same length, for the messages that follow.
///
/// # Safety
/// `key` covers it.
#[inline]
unsafe fn keep(own: &mut [u8], key: In) -> c_int {
    // SAFETY: the caller's.
    unsafe { own.as_mut_ptr().copy_from_nonoverlapping(key, own.len()) };
    OK
}

/// An opened authenticated mode. Streams have a state of their own.
pub(crate) struct AeadState<M> {
    mode: M,
    done: DoneFn,
    message: Aligned,
    stream: Aligned,
    /// Decryption: how tags are compared, because the library only ever makes them.
    not_equal: Option<NotEqualFn>,
}

impl<M: AeadMode> AeadState<M> {
    /// The table of a mode whose tags `done` makes, with a state for messages and one for streams.
    pub(crate) fn table(
        request: &Request<'_>,
        mode: M,
        done: DoneFn,
        [message, stream]: [Aligned; 2],
        (flags, call, rekey): (u32, &'static CStr, &'static CStr),
    ) -> Result<raw::Session, OpenError> {
        let not_equal = request.decrypts().then(|| request.library.not_equal()).transpose()?;
        let state = Self { mode, done, message, stream, not_equal };
        Ok(Table::new(state, flags, call).streams().rekeys(rekey).raw())
    }
}

steps! { impl[M: AeadMode] for AeadState<M>;
    fn end(&self, tag: Out) -> i32 {
        let (mut own, mut len) = ([0; TAG], TAG as c_ulong);
        let state = self.message.context();
        let Some(not_equal) = self.not_equal else {
            return outcome((self.done)(state, tag, &raw mut len));
        };
        let error = (self.done)(state, own.as_mut_ptr(), &raw mut len);
        if error != OK {
            return outcome(error);
        }
        let differ = not_equal(own.as_ptr().cast(), tag.cast(), TAG) != 0;
        if differ { raw::REJECTED } else { raw::OK }
    }
}

operations! { impl[M: AeadMode] for AeadState<M>;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            self.mode.begin(context, m.nonce, (m.aad, m.aad_len)),
            self.mode.last(context, m.input, m.output, m.len),
        );
        self.end(m.tag)
    }

    fn start(&mut self, nonce) {
        outcome(self.mode.begin(self.stream.context(), nonce, (nonce, 0)))
    }

    fn update(&mut self, input, output, len) {
        outcome(self.mode.part(self.stream.context(), input, output, len))
    }

    fn rekey(&mut self, key) {
        let context = self.message.context();
        outcome(self.mode.rekey(context, key))
    }
}

// GCM: the key schedule and the tables of its hash are made once.

functions! {
    /// GCM's, of tomcrypt_mac.h.
    pub(crate) struct GcmFunctions {
        /// State, cipher, key, length.
        gcm_init: fn(*mut c_void, Index, In, c_int) -> c_int;
        gcm_reset: fn(*mut c_void) -> c_int;
        /// State, bytes, length.
        gcm_add_iv: fn(*mut c_void, In, c_ulong) -> c_int;
        gcm_add_aad: fn(*mut c_void, In, c_ulong) -> c_int;
        /// State, plaintext, length, ciphertext, direction (0 encrypts).
        gcm_process: fn(*mut c_void, Out, c_ulong, Out, c_int) -> c_int;
        /// State, tag, its length.
        gcm_done: fn(*mut c_void, Out, *mut c_ulong) -> c_int;
    }
}

struct Gcm {
    f: GcmFunctions,
    cipher: Index,
    key_len: c_int,
    decrypts: bool,
}

steps! { impl AeadMode for Gcm;
    fn rekey(&mut self, state: *mut c_void, key: In) -> c_int {
        (self.f.gcm_init)(state, self.cipher, key, self.key_len)
    }

    fn begin(&self, state: *mut c_void, nonce: In, aad: (In, usize)) -> c_int {
        let error = (self.f.gcm_reset)(state);
        if error != OK {
            return error;
        }
        let error = (self.f.gcm_add_iv)(state, nonce, 12);
        if error != OK || aad.1 == 0 {
            return error;
        }
        (self.f.gcm_add_aad)(state, aad.0, aad.1 as c_ulong)
    }

    /// The input of the direction is only read.
    fn part(&self, state: *mut c_void, i: In, o: Out, len: usize) -> c_int {
        let (plain, cipher) = if self.decrypts { (o, i.cast_mut()) } else { (i.cast_mut(), o) };
        let way = c_int::from(self.decrypts);
        (self.f.gcm_process)(state, plain, len as c_ulong, cipher, way)
    }
}

pub(crate) fn open_gcm(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let f = GcmFunctions::of(&request.library.object)?;
    let decrypts = request.decrypts();
    let mode = Gcm { f, cipher, key_len: request.key_len(), decrypts };
    let memories = [gcm_memory(request, &f, cipher)?, gcm_memory(request, &f, cipher)?];
    let call = if decrypts {
        c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_process, gcm_done, mem_neq"
    } else {
        c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_process, gcm_done"
    };
    AeadState::table(request, mode, f.gcm_done, memories, (raw::IN_PLACE, call, c"gcm_init"))
}

/// A state of GCM with its key schedule and its tables (64 KiB) made.
pub(crate) fn gcm_memory(
    request: &Request<'_>,
    f: &GcmFunctions,
    cipher: Index,
) -> Result<Aligned, OpenError> {
    let (api, key, len) = (request.library, request.key.as_ptr(), request.key_len());
    // Four times the size in 1.18.2, which the tables dominate.
    let memory = api.memory(c"gcm_state", 4 * 69_904);
    // SAFETY: the key covers its length.
    let error = unsafe { (f.gcm_init)(memory.context(), cipher, key, len) };
    api.done("gcm_init", error)?;
    Ok(memory)
}

// GMAC: GCM whose message is all associated data.

struct GmacState {
    message: Aligned,
    stream: Aligned,
    f: GcmFunctions,
}

pub(crate) fn open_gmac(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let f = GcmFunctions::of(&request.library.object)?;
    let memory = || gcm_memory(request, &f, cipher);
    let state = GmacState { message: memory()?, stream: memory()?, f };
    let call = c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_done";
    Ok(Table::new(state, raw::IN_PLACE, call).parts().raw())
}

steps! { impl for GmacState;
    fn end(&self, context: *mut c_void, tag: Out) -> c_int {
        let mut len = TAG as c_ulong;
        (self.f.gcm_done)(context, tag, &raw mut len)
    }
}

operations! { impl for GmacState;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            (self.f.gcm_reset)(context),
            (self.f.gcm_add_iv)(context, m.nonce, 12),
            (self.f.gcm_add_aad)(context, m.input, m.len as c_ulong),
            self.end(context, m.tag),
        )
    }

    fn start(&mut self, nonce) {
        let context = self.stream.context();
        calls!((self.f.gcm_reset)(context), (self.f.gcm_add_iv)(context, nonce, 12))
    }

    fn update(&mut self, input, _output, len) {
        calls!((self.f.gcm_add_aad)(self.stream.context(), input, len as c_ulong))
    }

    fn finish(&mut self, tag) {
        calls!(self.end(self.stream.context(), tag))
    }
}

// EAX: every message takes the key anew.

functions! {
    /// EAX's, of tomcrypt_mac.h.
    struct EaxFunctions {
        /// State, cipher, key, length, nonce, length, header, length.
        eax_init: fn(*mut c_void, Index, In, c_ulong, In, c_ulong, In, c_ulong) -> c_int;
        /// State, input, output, length.
        eax_encrypt: fn(*mut c_void, In, Out, c_ulong) -> c_int;
        eax_decrypt: fn(*mut c_void, In, Out, c_ulong) -> c_int;
        /// State, tag, its length.
        eax_done: fn(*mut c_void, Out, *mut c_ulong) -> c_int;
    }
}

/// EAX takes its key with each nonce.
struct Eax {
    f: EaxFunctions,
    crypt: unsafe extern "C" fn(*mut c_void, In, Out, c_ulong) -> c_int,
    cipher: Index,
    key: Vec<u8>,
}

steps! { impl AeadMode for Eax;
    fn rekey(&mut self, _state: *mut c_void, key: In) -> c_int {
        keep(&mut self.key, key)
    }

    fn begin(&self, state: *mut c_void, nonce: In, aad: (In, usize)) -> c_int {
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as c_ulong);
        let (init, cipher) = (self.f.eax_init, self.cipher);
        init(state, cipher, key, key_len, nonce, 16, aad.0, aad.1 as c_ulong)
    }

    fn part(&self, state: *mut c_void, i: In, o: Out, len: usize) -> c_int {
        (self.crypt)(state, i, o, len as c_ulong)
    }
}

pub(crate) fn open_eax(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let f = EaxFunctions::of(&request.library.object)?;
    let (crypt, call) = match request.decrypts() {
        true => (f.eax_decrypt, c"eax_init, eax_decrypt, eax_done, mem_neq"),
        false => (f.eax_encrypt, c"eax_init, eax_encrypt, eax_done"),
    };
    let mode = Eax { f, crypt, cipher, key: request.key.to_vec() };
    let memory = || request.library.memory(c"eax_state", 4 * 14_232);
    // eax_init and eax_done allocate their intermediate values.
    let how = (raw::IN_PLACE | raw::ALLOCATES, call, KEY_IN_EACH_MESSAGE);
    AeadState::table(request, mode, f.eax_done, [memory(), memory()], how)
}

// OCB, version 3 (RFC 7253): every message takes the key anew.

functions! {
    /// OCB's, of tomcrypt_mac.h.
    struct OcbFunctions {
        /// State, cipher, key, length, nonce, length, length of the tag.
        ocb3_init: fn(*mut c_void, Index, In, c_ulong, In, c_ulong, c_ulong) -> c_int;
        /// State, bytes, length.
        ocb3_add_aad: fn(*mut c_void, In, c_ulong) -> c_int;
        /// State, input, length, output.
        ocb3_encrypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        ocb3_encrypt_last: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        ocb3_decrypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        ocb3_decrypt_last: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        /// State, tag, its length.
        ocb3_done: fn(*mut c_void, Out, *mut c_ulong) -> c_int;
    }
}
type CryptFn = unsafe extern "C" fn(*mut c_void, In, c_ulong, Out) -> c_int;

/// OCB takes its key with each nonce.
struct Ocb {
    f: OcbFunctions,
    part: CryptFn,
    last: CryptFn,
    cipher: Index,
    key: Vec<u8>,
}

steps! { impl AeadMode for Ocb;
    fn rekey(&mut self, _state: *mut c_void, key: In) -> c_int {
        keep(&mut self.key, key)
    }

    fn begin(&self, state: *mut c_void, nonce: In, aad: (In, usize)) -> c_int {
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as c_ulong);
        let (init, cipher) = (self.f.ocb3_init, self.cipher);
        let error = init(state, cipher, key, key_len, nonce, 12, TAG as c_ulong);
        if error != OK || aad.1 == 0 {
            return error;
        }
        (self.f.ocb3_add_aad)(state, aad.0, aad.1 as c_ulong)
    }

    fn part(&self, state: *mut c_void, i: In, o: Out, len: usize) -> c_int {
        (self.part)(state, i, len as c_ulong, o)
    }

    fn last(&self, state: *mut c_void, i: In, o: Out, len: usize) -> c_int {
        (self.last)(state, i, len as c_ulong, o)
    }
}

pub(crate) fn open_ocb(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let f = OcbFunctions::of(&request.library.object)?;
    let decrypts = request.decrypts();
    let (part, last) = match decrypts {
        true => (f.ocb3_decrypt, f.ocb3_decrypt_last),
        false => (f.ocb3_encrypt, f.ocb3_encrypt_last),
    };
    let mode = Ocb { f, part, last, cipher, key: request.key.to_vec() };
    let memory = || request.library.memory(c"ocb3_state", 4 * 9544);
    let memories = [memory(), memory()];
    // Encryption reads each block of plaintext again, for the checksum, after it has written the
    // ciphertext: in place the tag would be wrong.
    let (flags, call) = if decrypts {
        (raw::IN_PLACE, c"ocb3_init, ocb3_add_aad, ocb3_decrypt_last, ocb3_done, mem_neq")
    } else {
        (0, c"ocb3_init, ocb3_add_aad, ocb3_encrypt_last, ocb3_done")
    };
    let how = (flags, call, KEY_IN_EACH_MESSAGE);
    AeadState::table(request, mode, f.ocb3_done, memories, how)
}

// CCM in one call with a key that is scheduled already.

/// `rijndael_setup`, `camellia_setup`: key, length, rounds, state.
type SetupFn = unsafe extern "C" fn(In, c_int, c_int, *mut c_void) -> c_int;
functions! {
    /// CCM's, of tomcrypt_mac.h.
    struct CcmFunctions {
        /// Cipher, key, length, scheduled key, nonce, length, header, length, plaintext, length,
        /// ciphertext, tag, its length, direction (0 encrypts).
        ccm_memory: fn(
            Index, In, c_ulong, *mut c_void, In, c_ulong, In, c_ulong, Out, c_ulong, Out, Out,
            *mut c_ulong, c_int
        ) -> c_int;
    }
}

struct CcmState {
    setup: SetupFn,
    key_len: c_int,
    cipher: Index,
    key: Aligned,
    f: CcmFunctions,
    tag_len: c_ulong,
}

pub(crate) fn open_ccm(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let setup = match request.algorithm.cipher {
        Primitive::Camellia => "camellia_setup",
        _ => "rijndael_setup",
    };
    let (key, key_len) = (api.memory(c"symmetric_key", 4 * 4256), request.key_len());
    let f = CcmFunctions::of(&api.object)?;
    // SAFETY: the type is that of tomcrypt_cipher.h for both; the key covers its length.
    let (set_up, error) = unsafe {
        let set_up = api.object.exported::<SetupFn>(setup)?;
        (set_up, set_up(request.key.as_ptr(), key_len, 0, key.context()))
    };
    api.done(setup, error)?;
    let tag_len = request.algorithm.tag_len as c_ulong;
    let state = CcmState { setup: set_up, key_len, cipher, key, f, tag_len };
    let decrypts = request.decrypts();
    // Decryption goes through a buffer that the library allocates, and is copied out of it.
    let forced = if decrypts { raw::COPIES | raw::ALLOCATES } else { 0 };
    Ok(Table::new(state, raw::IN_PLACE | forced, c"ccm_memory")
        .decrypts(decrypts)
        .rekeys(c"rijndael_setup or camellia_setup")
        .raw())
}

operations! { impl for CcmState;
    fn message(&mut self, m) {
        outcome(self.call(m, (m.input.cast_mut(), m.output), 0))
    }

    /// A wrong tag is `CRYPT_ERROR`: the library gives the truth value of its comparison back as the
    /// error code. Nothing else in `ccm_memory` has that code.
    fn decrypt(&mut self, m) {
        match self.call(m, (m.output, m.input.cast_mut()), 1) {
            OK => raw::OK,
            ERROR => raw::REJECTED,
            other => outcome(other),
        }
    }

    fn rekey(&mut self, key) {
        outcome((self.setup)(key, self.key_len, 0, self.key.context()))
    }
}

steps! { impl for CcmState;
    /// Without a key the scheduled one is used.
    fn call(&self, m: &raw::Message, (plain, cipher): (Out, Out), direction: c_int) -> c_int {
        let (len, mut tag_len) = (m.len as c_ulong, self.tag_len);
        let (aad_len, key, no_key) = (m.aad_len as c_ulong, self.key.context(), ptr::null());
        let (seal, tag_len) = (self.f.ccm_memory, &raw mut tag_len);
        seal(
            self.cipher, no_key, 0, key, m.nonce, 12, m.aad, aad_len, plain, len, cipher, m.tag,
            tag_len, direction,
        )
    }
}

functions! {
    /// ChaCha20's, of tomcrypt_cipher.h.
    struct ChaChaFunctions {
        /// State, key, length, rounds.
        chacha_setup: fn(*mut c_void, In, c_ulong, c_int) -> c_int;
        /// State, nonce of 96 bits, length, block counter.
        chacha_ivctr32: fn(*mut c_void, In, c_ulong, u32) -> c_int;
        /// State, input, length, output.
        chacha_crypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
    }
}

functions! {
    /// ChaCha20-Poly1305's, of tomcrypt_mac.h.
    struct ChaChaPolyFunctions {
        /// State, bytes, length.
        chacha20poly1305_init: fn(*mut c_void, In, c_ulong) -> c_int;
        chacha20poly1305_setiv: fn(*mut c_void, In, c_ulong) -> c_int;
        chacha20poly1305_add_aad: fn(*mut c_void, In, c_ulong) -> c_int;
        /// State, input, length, output.
        chacha20poly1305_encrypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        chacha20poly1305_decrypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        /// State, tag, its length.
        chacha20poly1305_done: fn(*mut c_void, Out, *mut c_ulong) -> c_int;
    }
}

struct ChaChaState {
    f: ChaChaFunctions,
    rounds: c_int,
    message: Aligned,
    stream: Aligned,
}

pub(crate) fn open_chacha(request: &Request<'_>, rounds: c_int) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let f = ChaChaFunctions::of(&api.object)?;
    let keyed = || {
        let memory = api.memory(c"chacha_state", 4 * 152);
        let (key, len) = (request.key.as_ptr(), request.key.len() as c_ulong);
        // SAFETY: the key covers its length.
        let error = unsafe { (f.chacha_setup)(memory.context(), key, len, rounds) };
        api.done("chacha_setup", error).map(|()| memory)
    };
    let state = ChaChaState { f, rounds, message: keyed()?, stream: keyed()? };
    let table = Table::new(state, raw::IN_PLACE, c"chacha_ivctr32, chacha_crypt").streams();
    Ok(table.rekeys(c"chacha_setup").raw())
}

operations! { impl for ChaChaState;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            (self.f.chacha_ivctr32)(context, m.nonce, 12, 0),
            (self.f.chacha_crypt)(context, m.input, m.len as c_ulong, m.output),
        )
    }

    fn start(&mut self, nonce) {
        calls!((self.f.chacha_ivctr32)(self.stream.context(), nonce, 12, 0))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.f.chacha_crypt)(self.stream.context(), input, len as c_ulong, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.f.chacha_setup)(self.message.context(), key, 32, self.rounds))
    }
}

/// Its end wipes the key out of the state, so that every message begins with the key again; there
/// is no schedule to it.
struct ChaChaPoly {
    key: [u8; 32],
    f: ChaChaPolyFunctions,
    crypt: unsafe extern "C" fn(*mut c_void, In, c_ulong, Out) -> c_int,
}

steps! { impl AeadMode for ChaChaPoly;
    fn rekey(&mut self, _state: *mut c_void, key: In) -> c_int {
        keep(&mut self.key, key)
    }

    fn begin(&self, state: *mut c_void, nonce: In, aad: (In, usize)) -> c_int {
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as c_ulong);
        let error = (self.f.chacha20poly1305_init)(state, key, key_len);
        if error != OK {
            return error;
        }
        let error = (self.f.chacha20poly1305_setiv)(state, nonce, 12);
        if error != OK || aad.1 == 0 {
            return error;
        }
        (self.f.chacha20poly1305_add_aad)(state, aad.0, aad.1 as c_ulong)
    }

    fn part(&self, state: *mut c_void, i: In, o: Out, len: usize) -> c_int {
        (self.crypt)(state, i, len as c_ulong, o)
    }
}

pub(crate) fn open_chacha_poly(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = ChaChaPolyFunctions::of(&request.library.object)?;
    let decrypts = request.decrypts();
    let crypt = if decrypts { f.chacha20poly1305_decrypt } else { f.chacha20poly1305_encrypt };
    let key = request.key.try_into().expect("ChaCha20 has keys of 32 bytes");
    let mode = ChaChaPoly { key, f, crypt };
    let memory = || request.library.memory(c"chacha20poly1305_state", 4 * 264);
    let call = if decrypts {
        c"chacha20poly1305_init, chacha20poly1305_setiv, chacha20poly1305_add_aad, \
          chacha20poly1305_decrypt, chacha20poly1305_done, mem_neq"
    } else {
        c"chacha20poly1305_init, chacha20poly1305_setiv, chacha20poly1305_add_aad, \
          chacha20poly1305_encrypt, chacha20poly1305_done"
    };
    let memories = [memory(), memory()];
    let how = (raw::IN_PLACE, call, KEY_IN_EACH_MESSAGE);
    AeadState::table(request, mode, f.chacha20poly1305_done, memories, how)
}
