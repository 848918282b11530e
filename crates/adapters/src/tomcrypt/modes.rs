//! ECB, CBC, CFB, OFB and CTR: a key schedule with a chaining value.

use super::api::{Api, Index, calls, close, given};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::{Algorithm, Direction, Mode};
use std::ffi::{CStr, c_int, c_ulong, c_void};

/// `ecb_start`: cipher, key, length, rounds (0: as many as the cipher has), state.
type StartEcbFn = unsafe extern "C" fn(Index, *const u8, c_int, c_int, *mut c_void) -> c_int;
/// `cbc_start`, `cfb_start`, `ofb_start`: cipher, IV, key, length, rounds, state.
type StartFn =
    unsafe extern "C" fn(Index, *const u8, *const u8, c_int, c_int, *mut c_void) -> c_int;
/// `ctr_start`: as the others, with the counter's kind before the state.
type StartCtrFn =
    unsafe extern "C" fn(Index, *const u8, *const u8, c_int, c_int, c_int, *mut c_void) -> c_int;
/// `*_setiv`: IV, length, state.
type SetIvFn = unsafe extern "C" fn(*const u8, c_ulong, *mut c_void) -> c_int;
/// `*_encrypt`, `*_decrypt`: input, output, length, state.
type CryptFn = unsafe extern "C" fn(*const u8, *mut u8, c_ulong, *mut c_void) -> c_int;
/// `*_done`: state.
type DoneFn = unsafe extern "C" fn(*mut c_void) -> c_int;

/// `CTR_COUNTER_BIG_ENDIAN`. The low eight bits are the counter's width in bytes, 0 being the whole
/// block; `LTC_CTR_RFC3686` (0x2000) would add one to the counter before the first block.
const CTR_COUNTER_BIG_ENDIAN: c_int = 0x1000;
/// Four times the largest of these states in 1.18.2.
const STATE: usize = 4 * 4608;

/// The names of a mode's functions.
struct Names {
    state: &'static CStr,
    start: &'static str,
    set_iv: &'static str,
    encrypt: &'static str,
    decrypt: &'static str,
    done: &'static str,
    calls: [&'static CStr; 2],
}

macro_rules! names {
    ($mode:literal, $state:literal) => {
        Names {
            state: $state,
            start: concat!($mode, "_start"),
            set_iv: concat!($mode, "_setiv"),
            encrypt: concat!($mode, "_encrypt"),
            decrypt: concat!($mode, "_decrypt"),
            done: concat!($mode, "_done"),
            calls: [
                c_str(concat!($mode, "_setiv, ", $mode, "_encrypt\0")),
                c_str(concat!($mode, "_setiv, ", $mode, "_decrypt\0")),
            ],
        }
    };
}

const fn c_str(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("one NUL, at the end"),
    }
}

const ECB: Names =
    Names { calls: [c"ecb_encrypt", c"ecb_decrypt"], ..names!("ecb", c"symmetric_ECB") };
const CBC: Names = names!("cbc", c"symmetric_CBC");
const CFB: Names = names!("cfb", c"symmetric_CFB");
const OFB: Names = names!("ofb", c"symmetric_OFB");
const CTR: Names = names!("ctr", c"symmetric_CTR");

/// What begins a state with its key schedule.
#[derive(Clone, Copy)]
enum Begin {
    Ecb(StartEcbFn),
    Ctr(StartCtrFn),
    Other(StartFn),
}

impl Begin {
    /// # Safety
    /// The state is the mode's, the key covers its length.
    #[inline]
    unsafe fn run(
        self,
        cipher: Index,
        (key, len): (*const u8, c_int),
        state: *mut c_void,
    ) -> c_int {
        // As long as the longest block.
        let iv = [0; 16];
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Self::Ecb(start) => start(cipher, key, len, 0, state),
                Self::Ctr(start) => {
                    start(cipher, iv.as_ptr(), key, len, 0, CTR_COUNTER_BIG_ENDIAN, state)
                }
                Self::Other(start) => start(cipher, iv.as_ptr(), key, len, 0, state),
            }
        }
    }
}

/// An opened mode. Streams have a state of their own: a message in between must not touch them.
struct State {
    message: Aligned,
    stream: Aligned,
    begin: Begin,
    cipher: Index,
    key_len: c_int,
    /// `None`: ECB.
    set_iv: Option<SetIvFn>,
    crypt: CryptFn,
    done: Option<DoneFn>,
    iv_len: c_ulong,
}

pub(super) fn open(
    api: &Api,
    algorithm: &Algorithm,
    cipher: Index,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let names = match algorithm.mode {
        Mode::Ecb => &ECB,
        Mode::Cbc => &CBC,
        Mode::Cfb => &CFB,
        Mode::Ofb => &OFB,
        _ => &CTR,
    };
    let ecb = algorithm.mode == Mode::Ecb;
    let encrypts = direction == Direction::Encrypt;
    // SAFETY: the types are those of tomcrypt_cipher.h for the symbols named.
    let begin = unsafe {
        match algorithm.mode {
            Mode::Ecb => Begin::Ecb(api.object.offered(names.start)?),
            Mode::Ctr => Begin::Ctr(api.object.offered(names.start)?),
            _ => Begin::Other(api.object.offered(names.start)?),
        }
    };
    let key_len = c_int::try_from(key.len()).expect("keys are a few bytes");
    let started = || -> Result<Aligned, OpenError> {
        let memory = api.memory(names.state, STATE);
        // SAFETY: the state is the mode's, the key covers its length.
        let error = unsafe { begin.run(cipher, (key.as_ptr(), key_len), memory.context()) };
        api.done(names.start, error)?;
        Ok(memory)
    };
    // SAFETY: the types are those of tomcrypt_cipher.h for the symbols named.
    let state = unsafe {
        State {
            message: started()?,
            stream: started()?,
            begin,
            cipher,
            key_len,
            set_iv: if ecb { None } else { Some(api.object.offered(names.set_iv)?) },
            crypt: api.object.offered(if encrypts { names.encrypt } else { names.decrypt })?,
            done: api.object.function(names.done),
            iv_len: algorithm.nonce_len as c_ulong,
        }
    };
    Ok(raw::Session {
        state: given(state),
        flags: raw::IN_PLACE,
        message: Some(if ecb { message_ecb } else { message }),
        start: Some(if ecb { start_ecb } else { start }),
        update: Some(update),
        finish: None,
        call: names.calls[usize::from(!encrypts)].as_ptr(),
        close: Some(close::<State>),
        rekey: Some(rekey),
        rekey_call: c"the mode's start function".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.begin.run(state.cipher, (key, state.key_len), state.message.context()))
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let Some(done) = self.done else { return };
        for memory in [&self.message, &self.stream] {
            // SAFETY: a state that was started, ended once. Its result is of no use any more.
            let _ = unsafe { done(memory.context()) };
        }
    }
}

impl State {
    /// # Safety
    /// `nonce` covers the mode's IV.
    #[inline]
    unsafe fn set_iv(&self, memory: &Aligned, nonce: *const u8) -> c_int {
        match self.set_iv {
            // SAFETY: the caller's promise; the state was started.
            Some(set_iv) => unsafe { set_iv(nonce, self.iv_len, memory.context()) },
            None => super::api::OK,
        }
    }
}

unsafe extern "C" fn message_ecb(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!((state.crypt)(m.input, m.output, m.len as c_ulong, state.message.context()))
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.set_iv(&state.message, m.nonce),
            (state.crypt)(m.input, m.output, m.len as c_ulong, state.message.context()),
        )
    }
}

/// ECB has no IV, and nothing to begin.
unsafe extern "C" fn start_ecb(_state: *mut c_void, _nonce: *const u8) -> i32 {
    raw::OK
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.set_iv(&state.stream, nonce))
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
        calls!((state.crypt)(input, output, len as c_ulong, state.stream.context()))
    }
}
