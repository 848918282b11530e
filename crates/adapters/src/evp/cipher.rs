//! Ciphers by `EVP_CIPHER`: found, set up once with the key schedule, and the calls that an application makes
//! for one message. CCM, GCM-SIV and SIV have calls of their own.

use crate::evp::{
    self, Api, Calls, CipherPtr, CtrlFn, Ctx, Errors, FinalFn, InitFn, Method, Param, UpdateFn,
    Ways, ctrl,
};
use crate::family::{In, Object, Out, Request, messages, operations, steps};
use crate::rc4::{self, Keyed};
use base::model::{Algorithm, Direction, Mode, Primitive};
use contract::loader::SharedObject;
use contract::{Operations, Table, raw};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;

/// The table for the timing loop; `close` there frees the context.
pub(crate) fn cipher_session(
    api: &Api,
    context: Context,
    algorithm: &Algorithm,
    direction: Direction,
) -> raw::Session {
    let state = State::new(api, context, algorithm, direction);
    let encrypts = direction == Direction::Encrypt;
    let streams = match algorithm.mode {
        // A message's length goes into its first block, and all of the message into one update.
        Mode::Ccm => false,
        // The tag, which encryption begins with, is made of the whole message.
        Mode::GcmSiv => false,
        Mode::Xts => state.repeats_units(),
        _ => true,
    };
    // Associated data is kept in memory that is allocated for it.
    let allocates = if algorithm.mode == Mode::GcmSiv { raw::ALLOCATES } else { 0 };
    let call = calls_of(algorithm.mode, direction);
    let table = Table::new(state, raw::IN_PLACE | allocates, call).streams_if(streams);
    let table = table.rekeys(calls_of_rekey(direction)).raw();
    let message: raw::MessageFn = match algorithm.mode {
        Mode::Ecb => ecb,
        Mode::Stream => chacha,
        Mode::Ccm if encrypts => encrypt_ccm,
        Mode::Ccm => decrypt_ccm,
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 if encrypts => aead_encrypt,
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 => aead_decrypt,
        Mode::GcmSiv if encrypts => encrypt_gcm_siv,
        Mode::GcmSiv => decrypt_gcm_siv,
        _ => return table,
    };
    let (start, update) = match algorithm.mode {
        Mode::Ecb => (Some(start_ecb as raw::StartFn), table.update),
        Mode::Stream => (Some(start_chacha as raw::StartFn), table.update),
        Mode::Ocb => (table.start, Some(update_blocks as raw::UpdateFn)),
        _ => (table.start, table.update),
    };
    raw::Session { message: Some(message), start, update, ..table }
}

operations! { impl for State;
    fn message(&mut self, m) {
        self.plain(m, m.nonce)
    }

    fn start(&mut self, nonce) {
        self.done(self.begin(nonce))
    }

    /// Continues a stream: one update, as in `openssl speed -evp`.
    fn update(&mut self, input, output, len) {
        self.done(whole(self.feed(input, output, len), len))
    }

    /// A new key for the context, which keeps its cipher; the nonce comes with the message.
    fn rekey(&mut self, key) {
        self.done(self.set_key(key))
    }
}

/// Whether so many bytes were written as the message has.
#[inline(always)]
pub(crate) fn whole(written: c_int, len: usize) -> bool {
    usize::try_from(written) == Ok(len)
}

/// ChaCha20's IV in OpenSSL and LibreSSL is the counter's start, which is 0, before the nonce.
///
/// # Safety
/// `nonce` has 12 bytes.
#[inline(always)]
unsafe fn chacha_iv(nonce: *const u8) -> [u8; 16] {
    let mut iv = [0; 16];
    // SAFETY: 12 bytes are left behind the counter, as many as the nonce has.
    unsafe { ptr::copy_nonoverlapping(nonce, iv.as_mut_ptr().add(4), 12) };
    iv
}

messages! { for State;
    /// Update and final without an IV: the initialisation still separates message from message.
    fn ecb(state, m) {
        state.plain(m, ptr::null())
    }

    /// IV, update, final, with the counter before the nonce.
    fn chacha(state, m) {
        state.plain(m, chacha_iv(m.nonce).as_ptr())
    }

    /// Nonce, associated data, update, final, tag.
    fn aead_encrypt(state, m) {
        if !(state.begin(m.nonce) && state.associate(m)) {
            return state.not_done(raw::FAILED);
        }
        let written = state.body(m);
        state.done(
            written >= 0 && whole(state.end(m.output, written), m.len) && state.get_tag(m.tag),
        )
    }

    /// Nonce, expected tag, associated data, update, final: where the tag is compared.
    fn aead_decrypt(state, m) {
        if !(state.begin(m.nonce) && state.set_tag(m.tag) && state.associate(m)) {
            return state.not_done(raw::FAILED);
        }
        let written = state.body(m);
        if written < 0 {
            return state.not_done(raw::FAILED);
        }
        match state.end(m.output, written) {
            FAILED_LEN => state.not_done(raw::REJECTED),
            all => state.done(whole(all, m.len)),
        }
    }
}

/// A pointer to no bytes that is not null, which would mean something else.
#[inline(always)]
pub(crate) fn some_pointer(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() { ptr::dangling_mut() } else { pointer }
}

/// Begins a stream without an IV.
unsafe extern "C" fn start_ecb(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: the contract of `start`.
    unsafe { (*state.cast::<State>()).start(ptr::null()) }
}

/// Begins a stream with the counter before the nonce.
unsafe extern "C" fn start_chacha(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the contract of `start`.
    unsafe { (*state.cast::<State>()).start(chacha_iv(nonce).as_ptr()) }
}

/// Continues a stream in whole blocks: with a part block held back, a later update would write past
/// the end of its output.
unsafe extern "C" fn update_blocks(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    if !len.is_multiple_of(16) {
        return raw::FAILED;
    }
    // SAFETY: the contract of `update`.
    unsafe { (*state.cast::<State>()).update(input, output, len) }
}

// An opened cipher, and the single steps that its messages are made of.

pub(crate) struct State {
    ctx: Ctx,
    init: InitFn,
    update: UpdateFn,
    finish: FinalFn,
    ctrl: CtrlFn,
    tag_len: c_int,
    errors: Errors,
    /// Frees `ctx` when the state is dropped.
    _context: Context,
}

/// Written by no call that went well.
pub(crate) const FAILED_LEN: c_int = -1;

impl State {
    pub(crate) fn new(
        api: &Api,
        context: Context,
        algorithm: &Algorithm,
        direction: Direction,
    ) -> Self {
        let calls = api.calls(direction);
        Self {
            ctx: context.as_ptr(),
            init: calls.init,
            update: calls.update,
            finish: calls.finish,
            ctrl: api.f.EVP_CIPHER_CTX_ctrl,
            tag_len: c_int::try_from(algorithm.tag_len).expect("tags are short"),
            errors: api.errors,
            _context: context,
        }
    }

    pub(crate) fn ctx(&self) -> Ctx {
        self.ctx
    }

    /// Whether update after update is taken under one tweak, each a data unit of its own. AWS-LC
    /// takes one unit for each tweak that is set; tried out here, as no library says which it is.
    pub(crate) fn repeats_units(&self) -> bool {
        let (nonce, unit) = ([0; 16], [0; 16]);
        let mut outputs = [[0; 16]; 2];
        // SAFETY: a tweak has 16 bytes, and the buffers have the 16 of the shortest unit.
        let taken = unsafe {
            self.begin(nonce.as_ptr())
                && outputs.iter_mut().all(|o| self.feed(unit.as_ptr(), o.as_mut_ptr(), 16) == 16)
        };
        self.errors.clear();
        taken && outputs[0] == outputs[1]
    }

    #[inline(always)]
    pub(crate) fn done(&self, done: bool) -> i32 {
        if done { raw::OK } else { self.not_done(raw::FAILED) }
    }

    #[cold]
    pub(crate) fn not_done(&self, code: i32) -> i32 {
        self.errors.clear();
        code
    }
}

steps! { #[inline(always)] impl for State;
    /// IV, update, final; no IV for ECB.
    fn plain(&self, m: &raw::Message, nonce: In) -> i32 {
        if !self.begin(nonce) {
            return self.not_done(raw::FAILED);
        }
        let written = self.body(m);
        self.done(written >= 0 && whole(self.end(m.output, written), m.len))
    }

    /// Sets the nonce, none for ECB, and keeps cipher, key and direction: a new message.
    pub(crate) fn begin(&self, nonce: In) -> bool {
        (self.init)(self.ctx, ptr::null(), ptr::null_mut(), ptr::null(), nonce) > 0
    }

    pub(crate) fn set_key(&self, key: In) -> bool {
        (self.init)(self.ctx, ptr::null(), ptr::null_mut(), key, ptr::null()) > 0
    }

    /// One update; gives the bytes that it wrote, [`FAILED_LEN`] when it failed. No output says that the input is associated
    /// data.
    pub(crate) fn feed(&self, input: In, output: Out, len: usize) -> c_int {
        let Ok(len) = c_int::try_from(len) else { return FAILED_LEN };
        let mut written = FAILED_LEN;
        let code = (self.update)(self.ctx, output, &raw mut written, input, len);
        if code > 0 { written } else { FAILED_LEN }
    }

    /// Associated data, where there is any: a null pointer would end the message.
    fn associate(&self, m: &raw::Message) -> bool {
        m.aad_len == 0 || self.feed(m.aad, ptr::null_mut(), m.aad_len) >= 0
    }

    /// The message's update, where there is a message: a null pointer would end it.
    fn body(&self, m: &raw::Message) -> c_int {
        if m.len == 0 { 0 } else { self.feed(m.input, m.output, m.len) }
    }

    /// Ends the message, of which so many bytes have been written; gives all of them (OCB holds part blocks back until
    /// here), [`FAILED_LEN`] when it failed.
    pub(crate) fn end(&self, output: Out, written: c_int) -> c_int {
        let mut last = FAILED_LEN;
        let rest = output.wrapping_offset(written as isize);
        let code = (self.finish)(self.ctx, rest, &raw mut last);
        if code > 0 { written.wrapping_add(last) } else { FAILED_LEN }
    }

    pub(crate) fn get_tag(&self, tag: Out) -> bool {
        (self.ctrl)(self.ctx, ctrl::GET_TAG, self.tag_len, tag.cast()) > 0
    }

    fn set_tag(&self, tag: Out) -> bool {
        (self.ctrl)(self.ctx, ctrl::SET_TAG, self.tag_len, tag.cast()) > 0
    }
}

// An `EVP_CIPHER_CTX` with its key schedule done: everything that a session does once.

pub(crate) struct Context(Object);

impl Context {
    pub(crate) fn empty(api: &Api) -> Result<Self, String> {
        // SAFETY: takes nothing.
        let object = Object::of(unsafe { (api.f.EVP_CIPHER_CTX_new)() }, api.f.EVP_CIPHER_CTX_free);
        object.map(Self).ok_or_else(|| format!("EVP_CIPHER_CTX_new: {}", api.errors.take()))
    }

    pub(crate) fn as_ptr(&self) -> Ctx {
        self.0.raw
    }

    /// Makes a context and does the key schedule. `key` has the cipher's length.
    pub(crate) fn open(
        api: &Api,
        cipher: &Method,
        algorithm: &Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Self, String> {
        let context = Self::empty(api)?;
        let set_up = SetUp { api, ctx: context.as_ptr(), calls: api.calls(direction) };
        if algorithm.wraps_keys() {
            set_up.allow_wrap();
        }
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

    /// Before OpenSSL 3 key wrap has to be allowed, as its manual asks for.
    fn allow_wrap(&self) {
        /// `EVP_CIPHER_CTX_FLAG_WRAP_ALLOW`
        const WRAP_ALLOW: c_int = 1;
        if let Some(set_flags) = self.api.f.EVP_CIPHER_CTX_set_flags {
            // SAFETY: sets a flag.
            unsafe { set_flags(self.ctx, WRAP_ALLOW) }
        }
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

// The library's `EVP_CIPHER` for an algorithm.

const WAYS: Ways =
    Ways { fetch: "EVP_CIPHER_fetch", free: "EVP_CIPHER_free", by_name: "EVP_get_cipherbyname" };

/// The library's cipher for an algorithm; `None` when it has none with that length of key.
pub(crate) fn find_cipher(
    object: &SharedObject,
    api: &Api,
    algorithm: &Algorithm,
) -> Option<Method> {
    let name = name_of(algorithm);
    named(object, api, &name, &getter(algorithm, &name), algorithm.key_len)
}

/// The library's name: a tag's length is no part of it.
fn name_of(algorithm: &Algorithm) -> Cow<'static, str> {
    match algorithm.mode {
        Mode::Ccm => algorithm.name.trim_end_matches('8').into(),
        Mode::KeyWrap => format!("id-aes{}-wrap", 8 * algorithm.key_len).into(),
        Mode::KeyWrapPadded => format!("id-aes{}-wrap-pad", 8 * algorithm.key_len).into(),
        _ => algorithm.name.into(),
    }
}

/// CMAC's is CBC: `aes-128-cbc` for `aes-128-cmac`.
pub(crate) fn cbc_of(cmac: &Algorithm) -> String {
    cmac.name.replace("-cmac", "-cbc")
}

/// `aes-128-gcm` for `aes-128-gmac`.
pub(crate) fn gcm_of(gmac: &Algorithm) -> String {
    gmac.name.replace("-gmac", "-gcm")
}

pub(crate) fn named(
    object: &SharedObject,
    api: &Api,
    name: &str,
    getter: &str,
    key: usize,
) -> Option<Method> {
    let name = CString::new(name).expect("names of algorithms have no NUL");
    let cipher = evp::find_method(object, &WAYS, &name, getter);
    // A failed search leaves its reason in the queue.
    api.errors.clear();
    // The key is read by the cipher's length: one that disagrees would be read past its end.
    cipher.filter(|c| {
        let lens = ["EVP_CIPHER_get_key_length", "EVP_CIPHER_key_length"];
        number(object, lens, c.as_ptr()).is_none_or(|len| len == key)
    })
}

/// `EVP_aes_128_cfb` and its like are macros for the segments of a whole block.
fn getter(algorithm: &Algorithm, name: &str) -> String {
    let segment = match (algorithm.mode, algorithm.cipher.block_len()) {
        (Mode::Cfb, Some(8)) => "64",
        (Mode::Cfb, _) => "128",
        _ => "",
    };
    // The getter of `id-aes128-wrap` is `EVP_aes_128_wrap`.
    let name = name.replace("id-aes", "aes-").replace('-', "_");
    format!("EVP_{name}{segment}")
}

/// Bytes of the cipher's IV, if the library says so.
pub(crate) fn iv_len(object: &SharedObject, cipher: &Method) -> Option<usize> {
    number(object, ["EVP_CIPHER_get_iv_length", "EVP_CIPHER_iv_length"], cipher.as_ptr())
}

/// A length that a cipher has; the first name is the one since OpenSSL 3.
fn number(object: &SharedObject, symbols: [&str; 2], cipher: CipherPtr) -> Option<usize> {
    type NumberFn = unsafe extern "C" fn(CipherPtr) -> c_int;
    // SAFETY: the type is that of evp.h. BoringSSL's `unsigned` differs from `int` in no length.
    let number = symbols.iter().find_map(|s| unsafe { object.function::<NumberFn>(s) })?;
    // SAFETY: a cipher of this library.
    usize::try_from(unsafe { number(cipher) }).ok()
}

// What a session says it calls for a message: the library's functions in the order in which they
// run inside the clock.

/// The calls on an `EVP_CIPHER_CTX`. Associated data is an update of its own; the control calls
/// set or get the tag.
pub(crate) fn calls_of(mode: Mode, direction: Direction) -> &'static CStr {
    if direction == Direction::Decrypt {
        calls_of_decryption(mode)
    } else {
        calls_of_encryption(mode)
    }
}

fn calls_of_encryption(mode: Mode) -> &'static CStr {
    match mode {
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 => {
            c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl"
        }
        Mode::Ccm => {
            c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_CIPHER_CTX_ctrl"
        }
        Mode::Gmac => {
            c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl"
        }
        Mode::GcmSiv => {
            c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl"
        }
        Mode::Siv => {
            c"EVP_CIPHER_CTX_copy, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl"
        }
        _ => c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptFinal_ex",
    }
}

fn calls_of_decryption(mode: Mode) -> &'static CStr {
    match mode {
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 => {
            c"EVP_DecryptInit_ex, EVP_CIPHER_CTX_ctrl, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptFinal_ex"
        }
        Mode::Ccm => {
            c"EVP_DecryptInit_ex, EVP_CIPHER_CTX_ctrl, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptUpdate"
        }
        Mode::GcmSiv => {
            c"EVP_DecryptInit_ex, EVP_CIPHER_CTX_ctrl, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptFinal_ex"
        }
        Mode::Siv => {
            c"EVP_CIPHER_CTX_copy, EVP_CIPHER_CTX_ctrl, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptFinal_ex"
        }
        _ => c"EVP_DecryptInit_ex, EVP_DecryptUpdate, EVP_DecryptFinal_ex",
    }
}

/// What sets a new key.
pub(crate) fn calls_of_rekey(direction: Direction) -> &'static CStr {
    match direction {
        Direction::Decrypt => c"EVP_DecryptInit_ex",
        _ => c"EVP_EncryptInit_ex",
    }
}

// CCM: the message's length comes first, and its tag is compared in the one update.

/// What the three bytes of length that a nonce of 12 bytes leaves can say (NIST SP 800-38C A.1).
/// OpenSSL is not asked for more: it would fail at the update, and leave a context whose next
/// messages fail too, because `CRYPTO_ccm128_encrypt` returns with the flags of its nonce cut off.
const CCM_MAX_LEN: usize = (1 << 24) - 1;

steps! { #[inline(always)] impl for State;
    /// Total length and associated data of a CCM message. The data's update is made even when there
    /// is none: after a rejected message it is what AWS-LC begins the next one with.
    fn associate_ccm(&self, m: &raw::Message) -> bool {
        // A null input and output announce the length.
        m.len <= CCM_MAX_LEN
            && self.feed(ptr::null(), ptr::null_mut(), m.len) >= 0
            && self.feed(some_pointer(m.aad.cast_mut()), ptr::null_mut(), m.aad_len) >= 0
    }

    /// Associated data of a GCM-SIV message. An update of no bytes drops that of the message before,
    /// which OpenSSL would otherwise go on from.
    fn associate_gcm_siv(&self, m: &raw::Message) -> bool {
        self.feed(ptr::dangling(), ptr::null_mut(), 0) >= 0 && self.associate(m)
    }
}

// An empty message needs its update, too: there the tag is made, or read. GCM-SIV is OpenSSL's, which 3.0 does not have yet.
messages! { for State;
    /// Nonce, total length, associated data, the one update, tag. CCM's final does nothing.
    fn encrypt_ccm(state, m) {
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        state.done(
            state.begin(m.nonce)
                && state.associate_ccm(m)
                && whole(state.feed(input, output, m.len), m.len)
                && state.get_tag(m.tag),
        )
    }

    /// Nonce, expected tag, total length, associated data, the one update: where the tag is compared.
    fn decrypt_ccm(state, m) {
        if !(state.begin(m.nonce) && state.set_tag(m.tag) && state.associate_ccm(m)) {
            return state.not_done(raw::FAILED);
        }
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        match state.feed(input, output, m.len) {
            FAILED_LEN => state.not_done(raw::REJECTED),
            all => state.done(whole(all, m.len)),
        }
    }

    /// Nonce, associated data, the one update, final, tag.
    fn encrypt_gcm_siv(state, m) {
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        state.done(
            state.begin(m.nonce)
                && state.associate_gcm_siv(m)
                && whole(state.feed(input, output, m.len), m.len)
                && state.end(output, 0) == 0
                && state.get_tag(m.tag),
        )
    }

    /// Nonce, expected tag, associated data, the one update, final: where the tag is compared.
    fn decrypt_gcm_siv(state, m) {
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        let decrypted = state.begin(m.nonce)
            && state.set_tag(m.tag)
            && state.associate_gcm_siv(m)
            && whole(state.feed(input, output, m.len), m.len);
        if !decrypted {
            return state.not_done(raw::FAILED);
        }
        match state.end(output, 0) {
            FAILED_LEN => state.not_done(raw::REJECTED),
            rest => state.done(rest == 0),
        }
    }
}

// RC4, whose message begins with the key.

/// The table for the timing loop; `close` there frees both contexts.
pub(crate) fn rc4_session<L>(
    api: &Api,
    contexts: [Context; 2],
    request: &Request<'_, L>,
) -> raw::Session {
    let (algorithm, direction) = (request.algorithm, request.direction);
    let states = contexts.map(|context| State::new(api, context, algorithm, direction));
    rc4::session(states, request.key, 0, calls_of(algorithm.mode, direction))
}

steps! { #[inline(always)] impl Keyed for State;
    fn schedule(&mut self, key: In) -> i32 {
        self.done(self.set_key(key))
    }

    fn advance(&mut self, input: In, output: Out, len: usize) -> i32 {
        self.done(whole(self.feed(input, output, len), len))
    }

    /// With the final call.
    fn whole(&mut self, input: In, output: Out, len: usize) -> i32 {
        // A null pointer would end the message.
        let written = if len == 0 { 0 } else { self.feed(input, output, len) };
        self.done(written >= 0 && whole(self.end(output, written), len))
    }
}

// AES-SIV of OpenSSL 3 on. A context takes one message and then needs its key again; what keeps
// the key schedule is a copy of a context that has it.

struct Siv {
    /// Has the key and no message.
    keyed: Context,
    copy: unsafe extern "C" fn(Ctx, Ctx) -> c_int,
    message: State,
    nonce_len: usize,
    init: InitFn,
}

/// The table for the timing loop; `close` there frees both contexts.
pub(crate) fn siv_session(
    api: &Api,
    keyed: Context,
    algorithm: &Algorithm,
    direction: Direction,
) -> Result<raw::Session, String> {
    let copy = api.f.EVP_CIPHER_CTX_copy.ok_or("it exports no `EVP_CIPHER_CTX_copy`")?;
    let message = State::new(api, Context::empty(api)?, algorithm, direction);
    let init = api.calls(direction).init;
    let state = Siv { keyed, copy, message, nonce_len: algorithm.nonce_len, init };
    // The copy of a context is allocated. The tag, which encryption begins with, is made of the whole
    // message: no `start`.
    let flags = raw::IN_PLACE | raw::ALLOCATES;
    let table = Table::new(state, flags, calls_of(algorithm.mode, direction));
    let table = table.decrypts(direction == Direction::Decrypt);
    Ok(table.rekeys(calls_of_rekey(direction)).raw())
}

steps! { #[inline(always)] impl for Siv;
    fn begin(&self) -> bool {
        (self.copy)(self.message.ctx(), self.keyed.as_ptr()) > 0
    }

    /// The vector of RFC 5297 §3: associated data, even when there is none, and the nonce.
    fn associate(&self, m: &raw::Message) -> bool {
        let aad = some_pointer(m.aad.cast_mut());
        self.message.feed(aad, ptr::null_mut(), m.aad_len) >= 0
            && self.message.feed(m.nonce, ptr::null_mut(), self.nonce_len) >= 0
    }
}

operations! { impl for Siv;
    /// A copy of the keyed context, the vector, the one update, final, tag.
    fn message(&mut self, m) {
        // An empty message needs its update: the tag is made there.
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        self.message.done(
            self.begin()
                && self.associate(m)
                && whole(self.message.feed(input, output, m.len), m.len)
                && self.message.end(output, 0) == 0
                && self.message.get_tag(m.tag),
        )
    }

    /// A copy of the keyed context, expected tag, the vector, the one update, where the tag is
    /// compared, and final.
    fn decrypt(&mut self, m) {
        // An empty message needs its update: the tag is read there.
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        if !(self.begin() && self.message.set_tag(m.tag) && self.associate(m)) {
            return self.message.not_done(raw::FAILED);
        }
        match self.message.feed(input, output, m.len) {
            FAILED_LEN => self.message.not_done(raw::REJECTED),
            all => self.message.done(whole(all, m.len) && self.message.end(output, 0) == 0),
        }
    }

    /// A new key for the context that is copied.
    fn rekey(&mut self, key) {
        // Null keeps the cipher.
        let keyed = self.keyed.as_ptr();
        let code = (self.init)(keyed, ptr::null(), ptr::null_mut(), key, ptr::null());
        self.message.done(code > 0)
    }
}
