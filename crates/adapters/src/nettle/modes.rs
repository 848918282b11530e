//! Modes for which the library has one function for a whole message: ECB, CBC, CFB, CFB8 and CTR over any
//! block cipher, XTS, ChaCha20 and Salsa20, and SIV and GCM-SIV, whose tag is in one piece with the ciphertext.
//!
//! ECB, CBC, CFB, CFB8 and CTR: one function for each mode over any block cipher.

use crate::family::{Aligned, In, Out, in_turn, operations, steps, symbol};
use crate::nettle::{CipherFn, CipherMeta, CryptFn, ModeFn, Request, SetFn, plenty, schedule};
use crate::rc4::{self, Keyed};
use crate::wrap::{self, CHECK, INITIAL, KeyWrap};
use base::model::{Mode, Primitive};
use contract::{Table, raw};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// `nettle_cbc_aes256_encrypt`: context, IV, length, destination, source.
type AesCbcFn = unsafe extern "C" fn(*const c_void, Out, usize, Out, In);

#[derive(Clone, Copy)]
enum BlockCall {
    /// The block cipher itself (ECB).
    Blocks,
    /// A mode's function.
    Mode(ModeFn),
    /// CBC encryption as one with AES, since Nettle 3.8.
    AesCbc(AesCbcFn),
}

#[derive(Clone, Copy)]
enum SetKey {
    Cipher(SetFn),
    /// Whose result says whether the key is a strong one.
    Judging(JudgingFn),
}

/// `des_set_key` and its like: context, key; 0 for a weak key, which is set all the same.
type JudgingFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;

steps! { impl for SetKey;
    fn run(self, context: *mut c_void, key: In) {
        match self {
            Self::Cipher(set) => set(context, key),
            Self::Judging(set) => {
                set(context, key);
            }
        }
    }
}

struct BlockState {
    call: BlockCall,
    block: CipherFn,
    context: Aligned,
    set_key: SetKey,
    block_len: usize,
    /// Of the message that is under way; the library keeps it up to date.
    iv: [u8; 16],
    /// A message must be a multiple of it, or the library would end the process.
    unit: usize,
    /// An update of a stream must be one: only the last may end within a block.
    stream_unit: usize,
    /// It did: the stream can only begin anew.
    ended: bool,
}

pub(crate) fn open_block(request: &Request<'_>) -> Option<raw::Session> {
    let cipher = cipher(request)?;
    let (call, block, words) = call(request, &cipher)?;
    let Cipher { context, set_key, block_len, words: [_, _, rekey_words], .. } = cipher;
    let mode = request.algorithm.mode;
    let state = BlockState {
        call,
        block,
        context,
        set_key,
        block_len,
        iv: [0; 16],
        unit: if matches!(mode, Mode::Ecb | Mode::Cbc) { block_len } else { 1 },
        stream_unit: if mode == Mode::Cfb8 { 1 } else { block_len },
        ended: false,
    };
    Some(Table::new(state, raw::IN_PLACE, words).streams().rekeys(rekey_words).raw())
}

/// A block cipher with the key schedule that the direction needs.
struct Cipher {
    context: Aligned,
    set_key: SetKey,
    block_len: usize,
    encrypt: CipherFn,
    decrypt: CipherFn,
    /// What encrypts and decrypts blocks and sets a key, for readers.
    words: [&'static CStr; 3],
}

fn cipher(request: &Request<'_>) -> Option<Cipher> {
    if let Some(names) = undescribed(request.algorithm.cipher) {
        return judging(request, names);
    }
    let cipher = request.cipher()?;
    let backwards = request.decrypts() && matches!(request.algorithm.mode, Mode::Ecb | Mode::Cbc);
    let set_key = if backwards { cipher.set_decrypt_key } else { cipher.set_encrypt_key };
    let context = schedule(cipher, set_key, request.key);
    Some(Cipher {
        context,
        set_key: SetKey::Cipher(set_key),
        block_len: cipher.block_size as usize,
        encrypt: cipher.encrypt,
        decrypt: cipher.decrypt,
        words: [
            c"nettle_cipher.encrypt",
            c"nettle_cipher.decrypt",
            c"nettle_cipher.set_encrypt_key or set_decrypt_key",
        ],
    })
}

/// The ciphers that the library does not describe, because setting a key says whether it is a strong one: their
/// functions that encrypt, decrypt and set a key.
fn undescribed(cipher: Primitive) -> Option<[&'static CStr; 3]> {
    Some(match cipher {
        Primitive::TripleDes => {
            [c"nettle_des3_encrypt", c"nettle_des3_decrypt", c"nettle_des3_set_key"]
        }
        Primitive::Des => [c"nettle_des_encrypt", c"nettle_des_decrypt", c"nettle_des_set_key"],
        Primitive::Blowfish => {
            [c"nettle_blowfish_encrypt", c"nettle_blowfish_decrypt", c"nettle_blowfish128_set_key"]
        }
        _ => return None,
    })
}

fn judging(request: &Request<'_>, words: [&'static CStr; 3]) -> Option<Cipher> {
    let [encrypt, decrypt, set_key] = words.map(symbol);
    // SAFETY: des.h and blowfish.h.
    let (set_key, encrypt, decrypt) = unsafe {
        (
            request.function::<JudgingFn>(set_key)?,
            request.function::<CipherFn>(encrypt)?,
            request.function::<CipherFn>(decrypt)?,
        )
    };
    let mut context = plenty();
    // SAFETY: the largest of the structs, `struct blowfish_ctx`, has 4168 bytes; the key is the cipher's.
    unsafe { set_key(context.as_mut_ptr(), request.key.as_ptr()) };
    let set_key = SetKey::Judging(set_key);
    Some(Cipher { context, set_key, block_len: 8, encrypt, decrypt, words })
}

/// The mode's function, the block function that it takes, and both in words.
fn call(
    request: &Request<'_>,
    &Cipher { encrypt, decrypt, words: [encrypts, decrypts, _], .. }: &Cipher,
) -> Option<(BlockCall, CipherFn, &'static CStr)> {
    let mode = |symbol: &str| {
        // SAFETY: cbc.h, cfb.h and ctr.h give them all this type.
        unsafe { request.function::<ModeFn>(symbol) }.map(BlockCall::Mode)
    };
    let aes = request.algorithm.cipher == Primitive::Aes;
    Some(match (request.algorithm.mode, request.decrypts()) {
        (Mode::Ecb, false) => (BlockCall::Blocks, encrypt, encrypts),
        (Mode::Ecb, true) => (BlockCall::Blocks, decrypt, decrypts),
        (Mode::Cbc, true) => (mode("nettle_cbc_decrypt")?, decrypt, c"nettle_cbc_decrypt"),
        (Mode::Cbc, false) => {
            let symbol = format!("nettle_cbc_aes{}_encrypt", request.key_bits());
            // SAFETY: cbc.h.
            match unsafe { request.function::<AesCbcFn>(&symbol) }.filter(|_| aes) {
                Some(whole) => {
                    let words = match request.key_bits() {
                        128 => c"nettle_cbc_aes128_encrypt",
                        192 => c"nettle_cbc_aes192_encrypt",
                        _ => c"nettle_cbc_aes256_encrypt",
                    };
                    (BlockCall::AesCbc(whole), encrypt, words)
                }
                None => (mode("nettle_cbc_encrypt")?, encrypt, c"nettle_cbc_encrypt"),
            }
        }
        (Mode::Cfb, false) => (mode("nettle_cfb_encrypt")?, encrypt, c"nettle_cfb_encrypt"),
        (Mode::Cfb, true) => (mode("nettle_cfb_decrypt")?, encrypt, c"nettle_cfb_decrypt"),
        (Mode::Cfb8, false) => (mode("nettle_cfb8_encrypt")?, encrypt, c"nettle_cfb8_encrypt"),
        (Mode::Cfb8, true) => (mode("nettle_cfb8_decrypt")?, encrypt, c"nettle_cfb8_decrypt"),
        (Mode::Ctr, _) => (mode("nettle_ctr_crypt")?, encrypt, c"nettle_ctr_crypt"),
        _ => return None,
    })
}

steps! { impl for BlockState;
    fn begin(&mut self, nonce: In) {
        if !matches!(self.call, BlockCall::Blocks) {
            // No block is longer than the IV.
            nonce.copy_to_nonoverlapping(self.iv.as_mut_ptr(), self.block_len);
        }
    }

    fn crypt(&mut self, input: In, output: Out, len: usize) -> i32 {
        let (context, iv) = (self.context.as_mut_ptr(), self.iv.as_mut_ptr());
        match self.call {
            BlockCall::Blocks => (self.block)(context, len, output, input),
            BlockCall::Mode(f) => f(context, self.block, self.block_len, iv, len, output, input),
            BlockCall::AesCbc(f) => f(context, iv, len, output, input),
        }
        raw::OK
    }
}

operations! { impl for BlockState;
    fn message(&mut self, m) {
        if !m.len.is_multiple_of(self.unit) {
            return raw::FAILED;
        }
        self.begin(m.nonce);
        self.crypt(m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        self.ended = false;
        self.begin(nonce);
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        if (self.ended && len > 0) || !len.is_multiple_of(self.unit) {
            return raw::FAILED;
        }
        // Nettle forgets the rest of a block's key stream: what ends within one is the last part.
        self.ended |= !len.is_multiple_of(self.stream_unit);
        self.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        self.set_key.run(self.context.as_mut_ptr(), key);
        raw::OK
    }
}

// XTS: a function for a whole data unit.

/// `nettle_xts_aes256_encrypt_message`: key, tweak, length, destination, source.
type AesFn = unsafe extern "C" fn(*mut c_void, In, usize, Out, In);
/// `nettle_xts_encrypt_message`: contexts of data and tweak, the function for both, tweak, length,
/// destination, source.
type EncryptFn = unsafe extern "C" fn(*const c_void, *const c_void, CipherFn, In, usize, Out, In);
/// `nettle_xts_decrypt_message`: contexts of data and tweak, a function for each, tweak, length,
/// destination, source.
type DecryptFn =
    unsafe extern "C" fn(*const c_void, *const c_void, CipherFn, CipherFn, In, usize, Out, In);

enum XtsCall {
    /// Both keys in one struct.
    Aes { call: AesFn, key: Aligned },
    /// Any block cipher, encryption.
    Encrypt { call: EncryptFn, data: Aligned, tweak: Aligned, cipher: &'static CipherMeta },
    /// Any block cipher, decryption.
    Decrypt { call: DecryptFn, data: Aligned, tweak: Aligned, cipher: &'static CipherMeta },
}

struct XtsState {
    call: XtsCall,
    /// Of every data unit of a stream.
    tweak: [u8; 16],
}

/// Opens XTS: with AES by its own functions, else by the general one.
pub(crate) fn open_xts(request: &Request<'_>) -> Option<raw::Session> {
    let (call, words) = xts_aes(request).or_else(|| xts_any(request))?;
    Some(Table::new(XtsState { call, tweak: [0; 16] }, raw::IN_PLACE, words).streams().raw())
}

fn xts_aes(request: &Request<'_>) -> Option<(XtsCall, &'static CStr)> {
    if request.algorithm.cipher != Primitive::Aes {
        return None;
    }
    let way = if request.decrypts() { "decrypt" } else { "encrypt" };
    let prefix = format!("nettle_xts_aes{}", request.key_bits());
    // SAFETY: xts.h.
    let (set_key, call) = unsafe {
        (
            request.function::<SetFn>(&format!("{prefix}_set_{way}_key"))?,
            request.function::<AesFn>(&format!("{prefix}_{way}_message"))?,
        )
    };
    let mut key = plenty();
    // SAFETY: `struct xts_aes256_key` holds two AES contexts, below 500 bytes together; the key has both
    // keys.
    unsafe { set_key(key.as_mut_ptr(), request.key.as_ptr()) };
    let words = match (request.key_bits(), request.decrypts()) {
        (128, false) => c"nettle_xts_aes128_encrypt_message",
        (128, true) => c"nettle_xts_aes128_decrypt_message",
        (_, false) => c"nettle_xts_aes256_encrypt_message",
        (_, true) => c"nettle_xts_aes256_decrypt_message",
    };
    Some((XtsCall::Aes { call, key }, words))
}

fn xts_any(request: &Request<'_>) -> Option<(XtsCall, &'static CStr)> {
    let cipher = request.cipher()?;
    let (data_key, tweak_key) = request.key.split_at(request.key.len() / 2);
    let tweak = schedule(cipher, cipher.set_encrypt_key, tweak_key);
    // SAFETY: xts.h.
    Some(unsafe {
        if request.decrypts() {
            let data = schedule(cipher, cipher.set_decrypt_key, data_key);
            let call = request.function("nettle_xts_decrypt_message")?;
            (XtsCall::Decrypt { call, data, tweak, cipher }, c"nettle_xts_decrypt_message")
        } else {
            let data = schedule(cipher, cipher.set_encrypt_key, data_key);
            let call = request.function("nettle_xts_encrypt_message")?;
            (XtsCall::Encrypt { call, data, tweak, cipher }, c"nettle_xts_encrypt_message")
        }
    })
}

steps! { impl for XtsCall;
    fn unit(&mut self, nonce: In, input: In, output: Out, len: usize) -> i32 {
        // The library would end the process.
        if len < 16 {
            return raw::FAILED;
        }
        match self {
            Self::Aes { call, key } => call(key.as_mut_ptr(), nonce, len, output, input),
            Self::Encrypt { call, data, tweak, cipher } => {
                let [data, tweak] = [data, tweak].map(|c| c.as_mut_ptr());
                call(data, tweak, cipher.encrypt, nonce, len, output, input);
            }
            Self::Decrypt { call, data, tweak, cipher } => {
                let [data, tweak] = [data, tweak].map(|c| c.as_mut_ptr());
                call(data, tweak, cipher.decrypt, cipher.encrypt, nonce, len, output, input);
            }
        }
        raw::OK
    }
}

operations! { impl for XtsState;
    fn message(&mut self, m) {
        self.call.unit(m.nonce, m.input, m.output, m.len)
    }

    fn start(&mut self, nonce) {
        self.tweak = nonce.cast::<[u8; 16]>().read_unaligned();
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        self.call.unit(self.tweak.as_ptr(), input, output, len)
    }
}

// RC4; ChaCha20 with a nonce of twelve bytes, and Salsa20. These two without a stream: the library drops what is left of a
// key stream's block of 64 bytes at the end of each call, so that only the last may end within one.

/// A stream cipher of the library's. Setting the nonce sets the counter back as well.
struct StreamState {
    context: Aligned,
    set_key: SetFn,
    set_nonce: SetFn,
    crypt: CryptFn,
}

/// `arcfour_ctx`.
struct Arcfour {
    context: Aligned,
    set_key: SetFn,
    crypt: CryptFn,
}

fn open_arcfour(request: &Request<'_>) -> Option<raw::Session> {
    let ([set_key, crypt], words) = in_turn!("nettle_arcfour": "128_set_key", "_crypt");
    // SAFETY: arcfour.h; `struct arcfour_ctx` has 258 bytes.
    let (set_key, crypt) = unsafe { (request.function(set_key)?, request.function(crypt)?) };
    let states = [(); 2].map(|()| Arcfour { context: plenty(), set_key, crypt });
    Some(rc4::session(states, request.key, 0, words))
}

steps! { impl Keyed for Arcfour;
    fn schedule(&mut self, key: In) -> i32 {
        (self.set_key)(self.context.as_mut_ptr(), key);
        raw::OK
    }

    fn advance(&mut self, input: In, output: Out, len: usize) -> i32 {
        (self.crypt)(self.context.as_mut_ptr(), len, output, input);
        raw::OK
    }
}

pub(crate) fn open_stream(request: &Request<'_>) -> Option<raw::Session> {
    if request.algorithm.cipher == Primitive::Rc4 {
        return open_arcfour(request);
    }
    let (set_key, ([set_nonce, crypt], words)) = match request.algorithm.cipher {
        // `nettle_chacha_crypt32`, for the 32-bit counter that goes with twelve bytes of nonce, came with Nettle 3.7.
        Primitive::ChaCha20 => {
            (c"nettle_chacha_set_key", in_turn!("nettle_chacha_": "set_nonce96", "crypt32"))
        }
        Primitive::Salsa20 => {
            (c"nettle_salsa20_256_set_key", in_turn!("nettle_salsa20_": "set_nonce", "crypt"))
        }
        _ => return None,
    };
    let mut context = plenty();
    // SAFETY: chacha.h and salsa20.h; `struct chacha_ctx` and `struct salsa20_ctx` have 64 bytes; the key has 32.
    let state = unsafe {
        let rekey = request.function::<SetFn>(symbol(set_key))?;
        rekey(context.as_mut_ptr(), request.key.as_ptr());
        StreamState {
            context,
            set_key: rekey,
            set_nonce: request.function(set_nonce)?,
            crypt: request.function(crypt)?,
        }
    };
    Some(Table::new(state, raw::IN_PLACE, words).rekeys(set_key).raw())
}

operations! { impl for StreamState;
    fn message(&mut self, m) {
        (self.set_nonce)(self.context.as_mut_ptr(), m.nonce);
        (self.crypt)(self.context.as_mut_ptr(), m.len, m.output, m.input);
        raw::OK
    }

    fn rekey(&mut self, key) {
        (self.set_key)(self.context.as_mut_ptr(), key);
        raw::OK
    }
}

// SIV and GCM-SIV: functions for a whole message, which has its tag in one piece with the ciphertext
// (SIV before it, GCM-SIV behind it). What lies apart is put together or taken apart in a buffer of the
// session's.

/// `siv_gcm_aes256_encrypt_message`, `siv_cmac_aes256_encrypt_message`: key, lengths before bytes of
/// nonce, associated data and ciphertext, source.
type SealFn = unsafe extern "C" fn(*const c_void, usize, In, usize, In, usize, Out, In);
/// The same for decryption, with the plaintext's length; 1 when the tag is right.
type OpenFn = unsafe extern "C" fn(*const c_void, usize, In, usize, In, usize, Out, In) -> c_int;
/// `siv_cmac_encrypt_message`: CMAC's key and cipher, description, CTR's cipher, then as [`SealFn`].
type SealAnyFn = AnyFn<()>;
/// As [`SealAnyFn`] with [`OpenFn`]'s result.
type OpenAnyFn = AnyFn<c_int>;
type AnyFn<R> = unsafe extern "C" fn(
    *const c_void,
    *const c_void,
    *const CipherMeta,
    *const c_void,
    usize,
    In,
    usize,
    In,
    usize,
    Out,
    In,
) -> R;
/// `siv_cmac_aes256_set_key`
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In);
/// `siv_cmac_set_key`: CMAC's key and cipher, CTR's cipher, description, key.
type SetAnyKeyFn =
    unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *const CipherMeta, In);

enum JoinedCall {
    Seal { key: Aligned, seal: SealFn },
    Open { key: Aligned, open: OpenFn },
    SealAny { keys: [Aligned; 3], cipher: &'static CipherMeta, seal: SealAnyFn },
    OpenAny { keys: [Aligned; 3], cipher: &'static CipherMeta, open: OpenAnyFn },
}

struct JoinedState {
    call: JoinedCall,
    nonce_len: usize,
    tag_len: usize,
    tag_first: bool,
    /// One whole message of the library's. Grows with the first message of a size, which is a
    /// warm-up's.
    joined: Vec<u8>,
}

/// Opens a mode: SIV-CMAC since Nettle 3.6 (with AES-128 and AES-256 by functions of their own), GCM-SIV since
/// 3.9.
pub(crate) fn open_joined(request: &Request<'_>) -> Option<raw::Session> {
    let (call, words) = match request.algorithm.mode {
        Mode::Siv => siv_aes(request).or_else(|| siv_any(request))?,
        _ => gcm_siv(request)?,
    };
    let state = JoinedState {
        call,
        nonce_len: request.algorithm.nonce_len,
        tag_len: request.algorithm.tag_len,
        tag_first: request.algorithm.mode == Mode::Siv,
        joined: Vec::new(),
    };
    Some(Table::new(state, raw::IN_PLACE | raw::COPIES, words).decrypts(request.decrypts()).raw())
}

fn siv_aes(request: &Request<'_>) -> Option<(JoinedCall, &'static CStr)> {
    if request.algorithm.cipher != Primitive::Aes {
        return None;
    }
    let prefix = format!("nettle_siv_cmac_aes{}", request.key_bits());
    // SAFETY: siv-cmac.h.
    let set_key = unsafe { request.function::<SetKeyFn>(&format!("{prefix}_set_key"))? };
    let mut key = plenty();
    // SAFETY: `struct siv_cmac_aes256_ctx` has 32 bytes and two AES contexts, together below 600.
    unsafe { set_key(key.as_mut_ptr(), request.key.as_ptr()) };
    let call = whole(request, &prefix, key)?;
    let words = match (request.key_bits(), request.decrypts()) {
        (128, false) => c"nettle_siv_cmac_aes128_encrypt_message",
        (128, true) => c"nettle_siv_cmac_aes128_decrypt_message",
        (_, false) => c"nettle_siv_cmac_aes256_encrypt_message",
        (_, true) => c"nettle_siv_cmac_aes256_decrypt_message",
    };
    Some((call, words))
}

fn gcm_siv(request: &Request<'_>) -> Option<(JoinedCall, &'static CStr)> {
    let cipher = request.cipher()?;
    let key = schedule(cipher, cipher.set_encrypt_key, request.key);
    let call = whole(request, &format!("nettle_siv_gcm_{}", request.cipher_name()?), key)?;
    let words = match (request.key_bits(), request.decrypts()) {
        (128, false) => c"nettle_siv_gcm_aes128_encrypt_message",
        (128, true) => c"nettle_siv_gcm_aes128_decrypt_message",
        (_, false) => c"nettle_siv_gcm_aes256_encrypt_message",
        (_, true) => c"nettle_siv_gcm_aes256_decrypt_message",
    };
    Some((call, words))
}

fn whole(request: &Request<'_>, prefix: &str, key: Aligned) -> Option<JoinedCall> {
    // SAFETY: siv-cmac.h and siv-gcm.h.
    Some(unsafe {
        if request.decrypts() {
            JoinedCall::Open { key, open: request.function(&format!("{prefix}_decrypt_message"))? }
        } else {
            JoinedCall::Seal { key, seal: request.function(&format!("{prefix}_encrypt_message"))? }
        }
    })
}

fn siv_any(request: &Request<'_>) -> Option<(JoinedCall, &'static CStr)> {
    let cipher = request.cipher()?;
    // SAFETY: siv-cmac.h.
    let set_key = unsafe { request.function::<SetAnyKeyFn>("nettle_siv_cmac_set_key")? };
    let context = || Aligned::zeroed(cipher.context_size as usize);
    // `struct cmac128_key` has 32 bytes.
    let mut keys = [plenty(), context(), context()];
    let [cmac, mac_cipher, ctr_cipher] = keys.each_mut().map(Aligned::as_mut_ptr);
    // SAFETY: the contexts have the sizes that the library says; the key has both keys.
    unsafe { set_key(cmac, mac_cipher, ctr_cipher, cipher, request.key.as_ptr()) };
    // SAFETY: siv-cmac.h.
    Some(unsafe {
        if request.decrypts() {
            let open = request.function("nettle_siv_cmac_decrypt_message")?;
            (JoinedCall::OpenAny { keys, cipher, open }, c"nettle_siv_cmac_decrypt_message")
        } else {
            let seal = request.function("nettle_siv_cmac_encrypt_message")?;
            (JoinedCall::SealAny { keys, cipher, seal }, c"nettle_siv_cmac_encrypt_message")
        }
    })
}

impl JoinedState {
    /// The buffer for a message of `len` bytes, and where text and tag lie in it.
    #[inline]
    fn joined(&mut self, len: usize) -> (*mut u8, usize, usize) {
        let whole = len + self.tag_len;
        if self.joined.len() < whole {
            self.joined.resize(whole, 0);
        }
        let (text_at, tag_at) = if self.tag_first { (self.tag_len, 0) } else { (0, len) };
        (self.joined.as_mut_ptr(), text_at, tag_at)
    }
}

operations! { impl for JoinedState;
    fn message(&mut self, m) {
        // The buffer holds ciphertext and tag, and is nobody else's.
        let (joined, text_at, tag_at) = self.joined(m.len);
        let (nonce_len, whole) = (self.nonce_len, m.len + self.tag_len);
        match &mut self.call {
            JoinedCall::Seal { key, seal } => {
                seal(key.as_mut_ptr(), nonce_len, m.nonce, m.aad_len, m.aad, whole, joined, m.input)
            }
            JoinedCall::SealAny { keys, cipher, seal } => {
                let [cmac, mac_cipher, ctr_cipher] = keys.each_mut().map(Aligned::as_mut_ptr);
                seal(
                    cmac, mac_cipher, *cipher, ctr_cipher, nonce_len, m.nonce, m.aad_len, m.aad,
                    whole, joined, m.input,
                );
            }
            JoinedCall::Open { .. } | JoinedCall::OpenAny { .. } => return raw::FAILED,
        }
        ptr::copy_nonoverlapping(joined.add(text_at), m.output, m.len);
        ptr::copy_nonoverlapping(joined.add(tag_at), m.tag, self.tag_len);
        raw::OK
    }

    fn decrypt(&mut self, m) {
        let (joined, text_at, tag_at) = self.joined(m.len);
        ptr::copy_nonoverlapping(m.input, joined.add(text_at), m.len);
        ptr::copy_nonoverlapping(m.tag, joined.add(tag_at), self.tag_len);
        let nonce_len = self.nonce_len;
        let right = match &mut self.call {
            JoinedCall::Open { key, open: decrypt } => decrypt(
                key.as_mut_ptr(),
                nonce_len,
                m.nonce,
                m.aad_len,
                m.aad,
                m.len,
                m.output,
                joined,
            ),
            JoinedCall::OpenAny { keys, cipher, open: decrypt } => {
                let [cmac, mac_cipher, ctr_cipher] = keys.each_mut().map(Aligned::as_mut_ptr);
                decrypt(
                    cmac, mac_cipher, *cipher, ctr_cipher, nonce_len, m.nonce, m.aad_len, m.aad,
                    m.len, m.output, joined,
                )
            }
            JoinedCall::Seal { .. } | JoinedCall::SealAny { .. } => return raw::FAILED,
        };
        if right == 1 { raw::OK } else { raw::REJECTED }
    }
}

// AES key wrap: functions for a whole key since Nettle 3.8, which is one piece with its check.

/// `aes128_keywrap`: schedule, check, bytes that come out, output, input.
type WrapFn = unsafe extern "C" fn(*mut c_void, In, usize, Out, In);
/// `aes128_keyunwrap`: the same; 1 when the check is right.
type UnwrapFn = unsafe extern "C" fn(*mut c_void, In, usize, Out, In) -> c_int;

enum WrapCall {
    Wrap(WrapFn),
    Unwrap(UnwrapFn),
}

struct WrapState {
    schedule: Aligned,
    set_key: SetFn,
    call: WrapCall,
}

pub(crate) fn open_wrap(request: &Request<'_>) -> Option<raw::Session> {
    let cipher = request.cipher()?;
    let (way, set_key) = match request.decrypts() {
        true => ("un", cipher.set_decrypt_key),
        false => ("", cipher.set_encrypt_key),
    };
    let name = format!("nettle_{}_key{way}wrap", request.cipher_name()?);
    // SAFETY: nist-keywrap.h.
    let call = unsafe {
        match request.decrypts() {
            true => WrapCall::Unwrap(request.function(&name)?),
            false => WrapCall::Wrap(request.function(&name)?),
        }
    };
    let schedule = schedule(cipher, set_key, request.key);
    let calls = match request.key_bits() {
        128 => [c"nettle_aes128_keywrap, memcpy", c"memcpy, nettle_aes128_keyunwrap"],
        192 => [c"nettle_aes192_keywrap, memcpy", c"memcpy, nettle_aes192_keyunwrap"],
        _ => [c"nettle_aes256_keywrap, memcpy", c"memcpy, nettle_aes256_keyunwrap"],
    };
    let state = WrapState { schedule, set_key, call };
    Some(wrap::session(state, request.decrypts(), 0, calls, c"the set_key function of the cipher"))
}

steps! { impl KeyWrap for WrapState;
    fn wrap(&mut self, key: In, len: usize, wrapped: Out) -> i32 {
        let WrapCall::Wrap(call) = self.call else { return raw::FAILED };
        call(self.schedule.as_mut_ptr(), INITIAL.as_ptr(), len + CHECK, wrapped, key);
        raw::OK
    }

    fn unwrap(&mut self, wrapped: Out, len: usize, key: Out) -> i32 {
        let WrapCall::Unwrap(call) = self.call else { return raw::FAILED };
        let right = call(self.schedule.as_mut_ptr(), INITIAL.as_ptr(), len, key, wrapped);
        if right == 1 { raw::OK } else { raw::REJECTED }
    }

    fn rekey(&mut self, key: In) -> i32 {
        (self.set_key)(self.schedule.as_mut_ptr(), key);
        raw::OK
    }
}
