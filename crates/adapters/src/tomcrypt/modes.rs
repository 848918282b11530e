//! ECB, CBC, CFB, OFB and CTR: a key schedule with a chaining value.

use super::Request;
use super::api::{Index, outcome};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::{c_concat, calls, operations};
use base::model::Mode;
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_int, c_ulong, c_void};

/// `ecb_start`: cipher, key, length, rounds (0: as many as the cipher has), state.
type StartEcbFn = unsafe extern "C" fn(Index, In, c_int, c_int, *mut c_void) -> c_int;
/// `cbc_start`, `cfb_start`, `ofb_start`: cipher, IV, key, length, rounds, state.
type StartFn = unsafe extern "C" fn(Index, In, In, c_int, c_int, *mut c_void) -> c_int;
/// `ctr_start`: as the others, with the counter's kind before the state.
type StartCtrFn = unsafe extern "C" fn(Index, In, In, c_int, c_int, c_int, *mut c_void) -> c_int;
/// `*_setiv`: IV, length, state.
type SetIvFn = unsafe extern "C" fn(In, c_ulong, *mut c_void) -> c_int;
/// `*_encrypt`, `*_decrypt`: input, output, length, state.
type CryptFn = unsafe extern "C" fn(In, Out, c_ulong, *mut c_void) -> c_int;
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
                c_concat!($mode, "_setiv, ", $mode, "_encrypt"),
                c_concat!($mode, "_setiv, ", $mode, "_decrypt"),
            ],
        }
    };
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

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let names = match request.algorithm.mode {
        Mode::Ecb => &ECB,
        Mode::Cbc => &CBC,
        Mode::Cfb => &CFB,
        Mode::Ofb => &OFB,
        _ => &CTR,
    };
    let ecb = request.algorithm.mode == Mode::Ecb;
    let encrypts = request.encrypts();
    // SAFETY: the types are those of tomcrypt_cipher.h for the symbols named.
    let begin = unsafe {
        match request.algorithm.mode {
            Mode::Ecb => Begin::Ecb(api.object.exported(names.start)?),
            Mode::Ctr => Begin::Ctr(api.object.exported(names.start)?),
            _ => Begin::Other(api.object.exported(names.start)?),
        }
    };
    let key_len = request.key_len();
    let started = || -> Result<Aligned, OpenError> {
        let memory = api.memory(names.state, STATE);
        // SAFETY: the state is the mode's, the key covers its length.
        let error = unsafe { begin.run(cipher, (request.key.as_ptr(), key_len), memory.context()) };
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
            set_iv: if ecb { None } else { Some(api.object.exported(names.set_iv)?) },
            crypt: api.object.exported(if encrypts { names.encrypt } else { names.decrypt })?,
            done: api.object.function(names.done),
            iv_len: request.algorithm.nonce_len as c_ulong,
        }
    };
    let (flags, call) = (raw::IN_PLACE, names.calls[usize::from(!encrypts)]);
    let rekey = c"the mode's start function";
    Ok(if ecb {
        Table::new(Ecb(state), flags, call).streams().rekeys(rekey).raw()
    } else {
        Table::new(state, flags, call).streams().rekeys(rekey).raw()
    })
}

operations! { impl for State;
    fn message(&mut self, m) {
        calls!(
            self.set_iv(&self.message, m.nonce),
            (self.crypt)(m.input, m.output, m.len as c_ulong, self.message.context()),
        )
    }

    fn start(&mut self, nonce) {
        calls!(self.set_iv(&self.stream, nonce))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.crypt)(input, output, len as c_ulong, self.stream.context()))
    }

    fn rekey(&mut self, key) {
        calls!(self.begin.run(self.cipher, (key, self.key_len), self.message.context()))
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

/// ECB has no IV, and nothing to begin.
struct Ecb(State);

operations! { impl for Ecb;
    fn message(&mut self, m) {
        let context = self.0.message.context();
        calls!((self.0.crypt)(m.input, m.output, m.len as c_ulong, context))
    }

    fn update(&mut self, input, output, len) {
        let context = self.0.stream.context();
        calls!((self.0.crypt)(input, output, len as c_ulong, context))
    }

    fn rekey(&mut self, key) {
        self.0.rekey(key)
    }
}
