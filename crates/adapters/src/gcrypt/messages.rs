//! What runs inside the clock: the calls for one message of a cipher, and the states of ciphers, message
//! authentication codes (`gcry_mac_*`) and digests (`gcry_md_*`).

use crate::family::{In, KEY_IN_EACH_MESSAGE, Out, calls, messages, operations, steps};
use crate::gcrypt::{
    self, BytesFn, CipherApi, CryptFn, CtlFn, Error, ExtractFn, GetTagFn, InfoFn, MacApi, MdApi,
    Opened, ctl, outcome, unless_weak,
};
use crate::rc4::{self, Keyed};
use crate::wrap::{self, CHECK, KeyWrap};
use base::model::{Algorithm, Direction, Mode};
use contract::{Table, raw};
use std::ffi::{c_int, c_void};
use std::ptr;

/// The table of a mode, whose messages are not all made of nonce and text.
pub(crate) fn with_messages(mode: Mode, table: raw::Session) -> raw::Session {
    let message: raw::MessageFn = match mode {
        Mode::Ecb => message_ecb,
        Mode::Ccm => message_ccm,
        Mode::Ocb => message_ocb,
        Mode::Gcm | Mode::Poly1305 => message_aead,
        Mode::Eax => message_eax,
        Mode::Siv => message_siv,
        Mode::GcmSiv => message_gcm_siv,
        _ => return table,
    };
    let start = match mode {
        Mode::Ecb => Some(start_ecb as raw::StartFn),
        Mode::Eax => Some(start_eax as raw::StartFn),
        _ => table.start,
    };
    raw::Session { message: Some(message), start, ..table }
}

messages! { for CipherState;
    fn message_ecb(s, m) {
        calls!(s.crypt(&s.message, m.input, m.output, m.len))
    }

    fn message_aead(s, m) {
        calls!(
            s.set_nonce(&s.message, m.nonce),
            s.authenticate(m),
            s.crypt(&s.message, m.input, m.output, m.len),
            s.tag(m.tag),
        )
    }

    /// CCM is told all lengths before the first byte (RFC 3610 §2.2: they are in the first block).
    fn message_ccm(s, m) {
        calls!(
            s.set_nonce(&s.message, m.nonce),
            s.set_lengths(m),
            s.authenticate(m),
            s.crypt(&s.message, m.input, m.output, m.len),
            s.tag(m.tag),
        )
    }

    /// OCB treats the last block differently (RFC 7253 §4.2), so it is told which call is the last.
    fn message_ocb(s, m) {
        calls!(
            s.set_nonce(&s.message, m.nonce),
            s.authenticate(m),
            s.ctl(&s.message, ctl::FINALIZE, ptr::null_mut(), 0),
            s.crypt(&s.message, m.input, m.output, m.len),
            s.tag(m.tag),
        )
    }

    /// setiv alone would leave the rest of the last message's key stream to be used up first.
    fn message_eax(s, m) {
        calls!(
            s.reset(&s.message),
            s.set_nonce(&s.message, m.nonce),
            s.authenticate(m),
            s.crypt(&s.message, m.input, m.output, m.len),
            s.tag(m.tag),
        )
    }

    /// The vector of RFC 5297 is associated data, nonce, plaintext: an empty string that is there is
    /// not the same as none, so associated data are given also when they are empty.
    fn message_siv(s, m) {
        calls!(
            s.reset(&s.message),
            s.authenticate_always(m),
            s.set_nonce(&s.message, m.nonce),
            s.crypt_synthetic(m),
        )
    }

    fn message_gcm_siv(s, m) {
        calls!(
            s.reset(&s.message),
            s.set_nonce(&s.message, m.nonce),
            s.authenticate(m),
            s.crypt_synthetic(m),
        )
    }
}

/// ECB has no nonce, and nothing to begin.
unsafe extern "C" fn start_ecb(_state: *mut c_void, _nonce: *const u8) -> i32 {
    raw::OK
}

unsafe extern "C" fn start_eax(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the session's own state; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<CipherState>();
        calls!(state.reset(&state.stream), state.set_nonce(&state.stream, nonce))
    }
}

// A cipher's state, and one call of the library's for each step of a message.

/// An opened algorithm in one direction.
///
/// Streams have a handle of their own: up to 1.10.1 at least, setiv in GCM forgets to drop the part
/// of a block that an unfinished message left in the authentication, so a message after a stream
/// under the same handle would get a wrong tag. Two handles cost nothing inside the clock.
pub(crate) struct CipherState {
    pub(crate) message: Opened,
    pub(crate) stream: Opened,
    crypt: CryptFn,
    set_nonce: BytesFn,
    authenticate: BytesFn,
    tag: TagFn,
    ctl: CtlFn,
    set_key: BytesFn,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
}

/// Encryption gets the tag, decryption checks it.
#[derive(Clone, Copy)]
enum TagFn {
    Get(GetTagFn),
    Check(BytesFn),
}

impl CipherState {
    /// Takes over two handles that are opened for the algorithm.
    pub(crate) fn new(
        api: &CipherApi,
        [message, stream]: [Opened; 2],
        algorithm: &Algorithm,
        direction: Direction,
    ) -> Self {
        let encrypts = direction == Direction::Encrypt;
        Self {
            message,
            stream,
            crypt: if encrypts { api.gcry_cipher_encrypt } else { api.gcry_cipher_decrypt },
            // In counter mode setiv is accepted, and sets something that the mode never reads.
            set_nonce: if algorithm.mode == Mode::Ctr {
                api.gcry_cipher_setctr
            } else {
                api.gcry_cipher_setiv
            },
            authenticate: api.gcry_cipher_authenticate,
            tag: if encrypts {
                TagFn::Get(api.gcry_cipher_gettag)
            } else {
                TagFn::Check(api.gcry_cipher_checktag)
            },
            ctl: api.gcry_cipher_ctl,
            set_key: api.gcry_cipher_setkey,
            key_len: algorithm.key_len,
            nonce_len: algorithm.nonce_len,
            tag_len: algorithm.tag_len,
        }
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(crate) fn into_session(self, mode: Mode, direction: Direction) -> raw::Session {
        // Each call of the XTS functions is one data unit and raises the tweak by one.
        let next_unit = if mode == Mode::Xts { raw::NEXT_UNIT } else { 0 };
        // CCM has the lengths of a message in its first block; the SIVs go over it twice.
        let streams = !matches!(mode, Mode::Ccm | Mode::Siv | Mode::GcmSiv);
        let (flags, call) = (raw::IN_PLACE | next_unit, gcrypt::cipher_calls(mode, direction));
        let table = Table::new(self, flags, call).streams_if(streams).rekeys(c"gcry_cipher_setkey");
        with_messages(mode, table.raw())
    }
}

steps! { impl for CipherState;
    fn set_nonce(&self, cipher: &Opened, nonce: In) -> Error {
        (self.set_nonce)(cipher.raw, nonce.cast(), self.nonce_len)
    }

    fn crypt(&self, cipher: &Opened, input: In, output: Out, len: usize) -> Error {
        crypt(self.crypt, cipher, input, output, len)
    }

    fn authenticate(&self, m: &raw::Message) -> Error {
        if m.aad_len == 0 { 0 } else { self.authenticate_always(m) }
    }

    fn authenticate_always(&self, m: &raw::Message) -> Error {
        (self.authenticate)(self.message.raw, m.aad.cast(), m.aad_len)
    }

    /// The modes whose tag the ciphertext depends on: decryption is given the tag first, and
    /// rejects the message itself.
    fn crypt_synthetic(&self, m: &raw::Message) -> Error {
        let crypt = || self.crypt(&self.message, m.input, m.output, m.len);
        match self.tag {
            TagFn::Get(_) => match crypt() {
                0 => self.tag(m.tag),
                error => error,
            },
            TagFn::Check(_) => {
                let command = ctl::SET_DECRYPTION_TAG;
                match self.ctl(&self.message, command, m.tag.cast(), self.tag_len) {
                    0 => crypt(),
                    error => error,
                }
            }
        }
    }

    fn tag(&self, tag: Out) -> Error {
        match self.tag {
            TagFn::Get(get) => get(self.message.raw, tag.cast(), self.tag_len),
            TagFn::Check(check) => check(self.message.raw, tag.cast(), self.tag_len),
        }
    }

    fn ctl(&self, cipher: &Opened, command: i32, buffer: *mut c_void, len: usize) -> Error {
        (self.ctl)(cipher.raw, command, buffer, len)
    }

    fn set_lengths(&self, m: &raw::Message) -> Error {
        let mut lengths = [m.len as u64, m.aad_len as u64, self.tag_len as u64];
        let (buffer, size) = (lengths.as_mut_ptr().cast(), size_of_val(&lengths));
        self.ctl(&self.message, ctl::SET_CCM_LENGTHS, buffer, size)
    }

    fn reset(&self, cipher: &Opened) -> Error {
        self.ctl(cipher, ctl::RESET, ptr::null_mut(), 0)
    }
}

operations! { impl for CipherState;
    fn message(&mut self, m) {
        calls!(
            self.set_nonce(&self.message, m.nonce),
            self.crypt(&self.message, m.input, m.output, m.len)
        )
    }

    fn start(&mut self, nonce) {
        calls!(self.set_nonce(&self.stream, nonce))
    }

    fn update(&mut self, input, output, len) {
        calls!(self.crypt(&self.stream, input, output, len))
    }

    fn rekey(&mut self, key) {
        calls!(unless_weak((self.set_key)(self.message.raw, key.cast(), self.key_len)))
    }
}

/// One call.
///
/// # Safety
/// `call` is the library's, and the buffers cover the length.
#[inline]
unsafe fn crypt(call: CryptFn, cipher: &Opened, input: In, output: Out, len: usize) -> Error {
    // In place is asked for by a null input, not by equal pointers.
    let (input, input_len) = if ptr::eq(input, output) { (ptr::null(), 0) } else { (input, len) };
    // SAFETY: the caller's.
    unsafe { call(cipher.raw, output.cast(), len, input.cast(), input_len) }
}

/// RC4, in one direction.
struct Arcfour {
    cipher: Opened,
    set_key: BytesFn,
    crypt: CryptFn,
    key_len: usize,
}

pub(crate) fn rc4_session(
    api: &CipherApi,
    handles: [Opened; 2],
    request: &gcrypt::Request<'_>,
) -> raw::Session {
    let (set_key, key_len) = (api.gcry_cipher_setkey, request.key.len());
    let (crypt, call) = match request.decrypts() {
        true => (api.gcry_cipher_decrypt, c"gcry_cipher_setkey, gcry_cipher_decrypt"),
        false => (api.gcry_cipher_encrypt, c"gcry_cipher_setkey, gcry_cipher_encrypt"),
    };
    let states = handles.map(|cipher| Arcfour { cipher, set_key, crypt, key_len });
    rc4::session(states, request.key, 0, call)
}

steps! { impl Keyed for Arcfour;
    fn schedule(&mut self, key: In) -> i32 {
        outcome((self.set_key)(self.cipher.raw, key.cast(), self.key_len))
    }

    fn advance(&mut self, input: In, output: Out, len: usize) -> i32 {
        outcome(crypt(self.crypt, &self.cipher, input, output, len))
    }
}

/// AES key wrap, in one direction.
struct AesWrap {
    cipher: Opened,
    crypt: CryptFn,
    /// With padding: what says how long the key was that came out, if it was wrapped so.
    info: Option<InfoFn>,
    set_key: BytesFn,
    key_len: usize,
}

/// `None` where nothing says whether a key was wrapped with padding.
pub(crate) fn wrap_session(
    api: &CipherApi,
    cipher: Opened,
    request: &gcrypt::Request<'_>,
) -> Option<raw::Session> {
    let (set_key, key_len) = (api.gcry_cipher_setkey, request.key.len());
    let crypt = if request.decrypts() { api.gcry_cipher_decrypt } else { api.gcry_cipher_encrypt };
    let padded = request.algorithm.mode == Mode::KeyWrapPadded;
    let info = if padded { Some(api.gcry_cipher_info?) } else { None };
    let state = AesWrap { cipher, crypt, info, set_key, key_len };
    let calls = match padded {
        false => [c"gcry_cipher_encrypt, memcpy", c"memcpy, gcry_cipher_decrypt"],
        true => [c"gcry_cipher_encrypt, memcpy", c"memcpy, gcry_cipher_decrypt, gcry_cipher_info"],
    };
    Some(wrap::session(state, request.decrypts(), 0, calls, c"gcry_cipher_setkey"))
}

steps! { impl KeyWrap for AesWrap;
    fn wrap(&mut self, key: In, len: usize, wrapped: Out) -> i32 {
        outcome((self.crypt)(self.cipher.raw, wrapped.cast(), len + CHECK, key.cast(), len))
    }

    fn unwrap(&mut self, wrapped: Out, len: usize, key: Out) -> i32 {
        let (cipher, wrapped) = (self.cipher.raw, wrapped.cast_const().cast());
        let error = (self.crypt)(cipher, key.cast(), len, wrapped, len + CHECK);
        let Some(info) = self.info.filter(|_| error == 0) else { return outcome(error) };
        // It takes what was wrapped without padding as well, and says then that there was no length.
        let (mut plain, mut room) = ([0; 4], 4);
        match info(cipher, ctl::GET_KEYLEN, plain.as_mut_ptr().cast(), &raw mut room) {
            0 if u32::from_be_bytes(plain) as usize == len => raw::OK,
            0 => raw::REJECTED,
            error => outcome(error),
        }
    }

    fn rekey(&mut self, key: In) -> i32 {
        outcome((self.set_key)(self.cipher.raw, key.cast(), self.key_len))
    }
}

/// A MAC with its key set. Streams have a handle of their own, because setiv does not make a GMAC
/// forget a message that was not finished; it does make it forget one that was.
pub(crate) struct MacState {
    mac: MacApi,
    message: Opened,
    stream: Opened,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
}

/// The call that failed when a MAC or digest was opened, and its error.
type OpenFailure = (&'static str, Error);

impl MacState {
    /// Opens a MAC and sets its key, which for HMAC hashes both key pads.
    pub(crate) fn open(
        mac: MacApi,
        number: c_int,
        algorithm: &Algorithm,
        key: &[u8],
    ) -> Result<Self, OpenFailure> {
        let open = || {
            let mut handle = ptr::null_mut();
            // SAFETY: `handle` is writable; flags 0: ordinary memory; no context is needed.
            let error = unsafe { (mac.gcry_mac_open)(&raw mut handle, number, 0, ptr::null_mut()) };
            if error != 0 {
                return Err(("gcry_mac_open", error));
            }
            let opened = Opened { raw: handle, free: mac.gcry_mac_close };
            // SAFETY: `key` covers its length.
            match unsafe { (mac.gcry_mac_setkey)(handle, key.as_ptr().cast(), key.len()) } {
                0 => Ok(opened),
                error => Err(("gcry_mac_setkey", error)),
            }
        };
        let (message, stream) = (open()?, open()?);
        let (nonce_len, tag_len) = (algorithm.nonce_len, algorithm.tag_len);
        Ok(Self { mac, message, stream, key_len: key.len(), nonce_len, tag_len })
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(crate) fn into_session(self, mode: Mode) -> raw::Session {
        // The inner digest of an HMAC is moved through memory allocated for it.
        let flags = if mode == Mode::Hmac { raw::ALLOCATES } else { 0 };
        let call = gcrypt::mac_calls(mode);
        let table = Table::new(self, flags, call).parts().rekeys(c"gcry_mac_setkey").raw();
        if mode != Mode::Gmac {
            return table;
        }
        raw::Session { message: Some(message_with_nonce), start: Some(start_with_nonce), ..table }
    }
}

steps! { impl for MacState;
    fn reset(&self, handle: &Opened) -> Error {
        (self.mac.gcry_mac_ctl)(handle.raw, ctl::RESET, ptr::null_mut(), 0)
    }

    fn set_nonce(&self, handle: &Opened, nonce: In) -> Error {
        (self.mac.gcry_mac_setiv)(handle.raw, nonce.cast(), self.nonce_len)
    }

    fn write(&self, handle: &Opened, input: In, len: usize) -> Error {
        (self.mac.gcry_mac_write)(handle.raw, input.cast(), len)
    }

    fn read(&self, handle: &Opened, tag: Out) -> Error {
        let mut len = self.tag_len;
        (self.mac.gcry_mac_read)(handle.raw, tag.cast(), &raw mut len)
    }
}

operations! { impl for MacState;
    fn message(&mut self, m) {
        calls!(
            self.reset(&self.message),
            self.write(&self.message, m.input, m.len),
            self.read(&self.message, m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        outcome(self.reset(&self.stream))
    }

    fn update(&mut self, input, _output, len) {
        outcome(self.write(&self.stream, input, len))
    }

    fn finish(&mut self, tag) {
        outcome(self.read(&self.stream, tag))
    }

    fn rekey(&mut self, key) {
        calls!((self.mac.gcry_mac_setkey)(self.message.raw, key.cast(), self.key_len))
    }
}

messages! { for MacState;
    fn message_with_nonce(s, m) {
        calls!(
            s.set_nonce(&s.message, m.nonce),
            s.write(&s.message, m.input, m.len),
            s.read(&s.message, m.tag),
        )
    }
}

unsafe extern "C" fn start_with_nonce(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the session's own state; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<MacState>();
        calls!(state.reset(&state.stream), state.set_nonce(&state.stream, nonce))
    }
}

pub(crate) enum Way {
    Buffer,
    Handle,
    /// Through a handle, to as many bytes as are asked for.
    Extract(ExtractFn),
    /// Through a handle under this key. A reset would forget it, and setting it is a reset.
    Keyed(Vec<u8>),
}

pub(crate) struct DigestState {
    md: MdApi,
    /// For streams, and for messages that do not go in one call.
    handle: Opened,
    algorithm: c_int,
    len: usize,
    way: Way,
}

impl DigestState {
    /// Opens a digest of `len` bytes, which says whether the library has it.
    pub(crate) fn open(
        md: MdApi,
        algorithm: c_int,
        len: usize,
        way: Way,
    ) -> Result<Self, OpenFailure> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is writable; flags 0: ordinary memory, no HMAC.
        let error = unsafe { (md.gcry_md_open)(&raw mut handle, algorithm, 0) };
        if error != 0 {
            return Err(("gcry_md_open", error));
        }
        let handle = Opened { raw: handle, free: md.gcry_md_close };
        let state = Self { md, handle, algorithm, len, way };
        // SAFETY: the handle is open.
        match unsafe { state.begin() } {
            0 => Ok(state),
            error => Err(("gcry_md_setkey", error)),
        }
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(crate) fn into_session(self) -> raw::Session {
        let (call, keyed) = (gcrypt::digest_calls(&self.way), matches!(self.way, Way::Keyed(_)));
        let table = Table::new(self, 0, call).parts();
        if keyed { table.rekeys(KEY_IN_EACH_MESSAGE).raw() } else { table.raw() }
    }
}

steps! { impl for DigestState;
    /// Makes the handle ready for a message.
    fn begin(&self) -> Error {
        match &self.way {
            Way::Keyed(key) => {
                (self.md.gcry_md_setkey)(self.handle.raw, key.as_ptr().cast(), key.len())
            }
            _ => {
                (self.md.gcry_md_reset)(self.handle.raw);
                0
            }
        }
    }

    /// Ends a message. What the library gives has the digest's length.
    fn end(&self, tag: Out) -> i32 {
        let (handle, algorithm) = (self.handle.raw, self.algorithm);
        if let Way::Extract(extract) = self.way {
            return outcome(extract(handle, algorithm, tag.cast(), self.len));
        }
        let digest = (self.md.gcry_md_read)(handle, algorithm);
        if digest.is_null() {
            return raw::FAILED;
        }
        ptr::copy_nonoverlapping(digest, tag, self.len);
        raw::OK
    }
}

operations! { impl for DigestState;
    fn message(&mut self, m) {
        if matches!(self.way, Way::Buffer) {
            (self.md.gcry_md_hash_buffer)(self.algorithm, m.tag.cast(), m.input.cast(), m.len);
            return raw::OK;
        }
        let error = self.begin();
        if error != 0 {
            return outcome(error);
        }
        (self.md.gcry_md_write)(self.handle.raw, m.input.cast(), m.len);
        self.end(m.tag)
    }

    fn start(&mut self, _nonce) {
        outcome(self.begin())
    }

    fn update(&mut self, input, _output, len) {
        (self.md.gcry_md_write)(self.handle.raw, input.cast(), len);
        raw::OK
    }

    fn finish(&mut self, tag) {
        self.end(tag)
    }

    fn rekey(&mut self, key) {
        if let Way::Keyed(kept) = &mut self.way {
            ptr::copy_nonoverlapping(key, kept.as_mut_ptr(), kept.len());
        }
        raw::OK
    }
}
