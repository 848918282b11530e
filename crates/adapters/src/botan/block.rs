//! ECB: Botan has no mode of that name; its raw block cipher takes any number of blocks.

use super::Request;
use super::api::{BlocksFn, BytesFn, Object};
use super::calls;
use contract::{OpenError, raw};
use model::Direction;
use std::ffi::c_void;

struct State {
    cipher: Object,
    blocks: BlocksFn,
    block_len: usize,
    set_key: BytesFn,
    key_len: usize,
}

/// Opens a block cipher.
pub(super) fn open(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let api = request.api();
    let cipher = request.object(name, api.block_destroy, |handle, name| {
        // SAFETY: the handle is writable, the name NUL-terminated.
        unsafe { (api.block_init)(handle, name) }
    })?;
    // SAFETY: the key covers its length.
    let code =
        unsafe { (api.block_set_key)(cipher.handle, request.key.as_ptr(), request.key.len()) };
    request.done("botan_block_cipher_set_key", code)?;
    // SAFETY: a handle; the result is the size, or a negative error.
    let size = unsafe { (api.block_size)(cipher.handle) };
    let block_len = usize::try_from(size)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| request.failed("botan_block_cipher_block_size", size))?;
    let (blocks, call) = match request.direction {
        Direction::Decrypt => (api.block_decrypt, c"botan_block_cipher_decrypt_blocks"),
        _ => (api.block_encrypt, c"botan_block_cipher_encrypt_blocks"),
    };
    let state =
        State { cipher, blocks, block_len, set_key: api.block_set_key, key_len: request.key.len() };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        call: call.as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"botan_block_cipher_set_key".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the header's rules.
    unsafe { update(state, (*m).input, (*m).output, (*m).len) }
}

unsafe extern "C" fn start(_: *mut c_void, _: *const u8) -> i32 {
    raw::OK
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made.
    let state = unsafe { &*state.cast::<State>() };
    let blocks = len / state.block_len;
    if blocks * state.block_len != len {
        return raw::FAILED;
    }
    // SAFETY: input and output cover so many blocks.
    unsafe { calls!((state.blocks)(state.cipher.handle, input, output, blocks)) }
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.set_key)(state.cipher.handle, key, state.key_len))
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
