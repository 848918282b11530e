//! Digests: `crypto_hash_*` and `crypto_generichash`, which is BLAKE2b.

use super::absent;
use super::api::{
    FinalFn, Functions, GenericFinalFn, GenericHashFn, GenericInitFn, HashFn, InitFn, UpdateFn,
    outcome,
};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::{Algorithm, Primitive};
use std::ffi::{CStr, c_void};
use std::ptr;

/// Opens a digest.
pub(super) fn open(
    functions: &Functions,
    algorithm: &Algorithm,
) -> Result<raw::Session, OpenError> {
    match algorithm.cipher {
        Primitive::Sha256 => hash(functions, c"crypto_hash_sha256"),
        Primitive::Sha512 => hash(functions, c"crypto_hash_sha512"),
        Primitive::Sha3_256 => hash(functions, c"crypto_hash_sha3256"),
        Primitive::Sha3_512 => hash(functions, c"crypto_hash_sha3512"),
        Primitive::Blake2b => generic(functions, algorithm.tag_len),
        _ => Err(absent(algorithm)),
    }
}

struct Hash {
    whole: HashFn,
    init: InitFn,
    update: UpdateFn,
    finish: FinalFn,
    parts: Aligned,
}

fn hash(functions: &Functions, name: &'static CStr) -> Result<raw::Session, OpenError> {
    let prefix = name.to_str().expect("names of C functions are ASCII");
    // SAFETY: the types are those of crypto_hash_*.h.
    let state = unsafe {
        Hash {
            whole: functions.get(prefix)?,
            init: functions.get(&format!("{prefix}_init"))?,
            update: functions.get(&format!("{prefix}_update"))?,
            finish: functions.get(&format!("{prefix}_final"))?,
            parts: Aligned::zeroed(functions.length(&format!("{prefix}_statebytes"))?),
        }
    };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        message: Some(hash_message),
        start: Some(hash_start),
        update: Some(hash_update),
        finish: Some(hash_finish),
        call: name.as_ptr(),
        close: Some(close::<Hash>),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn hash_message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `hash` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<Hash>(), &*m);
        outcome((state.whole)(m.tag, m.input, m.len as u64))
    }
}

unsafe extern "C" fn hash_start(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `hash` made.
    unsafe {
        let state = &mut *state.cast::<Hash>();
        outcome((state.init)(state.parts.as_mut_ptr()))
    }
}

unsafe extern "C" fn hash_update(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `hash` made; the input keeps the interface's rules.
    unsafe {
        let state = &mut *state.cast::<Hash>();
        outcome((state.update)(state.parts.as_mut_ptr(), input, len as u64))
    }
}

unsafe extern "C" fn hash_finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: `state` is what `hash` made; the tag has the digest's length.
    unsafe {
        let state = &mut *state.cast::<Hash>();
        outcome((state.finish)(state.parts.as_mut_ptr(), tag))
    }
}

struct Generic {
    whole: GenericHashFn,
    init: GenericInitFn,
    update: UpdateFn,
    finish: GenericFinalFn,
    parts: Aligned,
    len: usize,
}

fn generic(functions: &Functions, len: usize) -> Result<raw::Session, OpenError> {
    // SAFETY: the types are those of crypto_generichash.h.
    let state = unsafe {
        Generic {
            whole: functions.get("crypto_generichash")?,
            init: functions.get("crypto_generichash_init")?,
            update: functions.get("crypto_generichash_update")?,
            finish: functions.get("crypto_generichash_final")?,
            parts: Aligned::zeroed(functions.length("crypto_generichash_statebytes")?),
            len,
        }
    };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        // All of the message goes through the state's buffer, block by block.
        flags: raw::COPIES,
        message: Some(generic_message),
        start: Some(generic_start),
        update: Some(generic_update),
        finish: Some(generic_finish),
        call: c"crypto_generichash".as_ptr(),
        close: Some(close::<Generic>),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn generic_message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `generic` made; the message keeps the interface's rules; no key.
    unsafe {
        let (state, m) = (&*state.cast::<Generic>(), &*m);
        outcome((state.whole)(m.tag, state.len, m.input, m.len as u64, ptr::null(), 0))
    }
}

unsafe extern "C" fn generic_start(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `generic` made; no key.
    unsafe {
        let state = &mut *state.cast::<Generic>();
        outcome((state.init)(state.parts.as_mut_ptr(), ptr::null(), 0, state.len))
    }
}

unsafe extern "C" fn generic_update(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `generic` made; the input keeps the interface's rules.
    unsafe {
        let state = &mut *state.cast::<Generic>();
        outcome((state.update)(state.parts.as_mut_ptr(), input, len as u64))
    }
}

unsafe extern "C" fn generic_finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: `state` is what `generic` made; the tag has the digest's length.
    unsafe {
        let state = &mut *state.cast::<Generic>();
        outcome((state.finish)(state.parts.as_mut_ptr(), tag, state.len))
    }
}

unsafe extern "C" fn close<S>(state: *mut c_void) {
    // SAFETY: `state` is the box of this type that was given away; called once.
    drop(unsafe { Box::from_raw(state.cast::<S>()) });
}
