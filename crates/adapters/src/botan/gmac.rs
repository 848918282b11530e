//! GMAC for versions whose MAC interface takes no nonce (Botan 2): GCM with associated data alone,
//! which is how NIST SP 800-38D defines it.

use super::api::{Api, FINAL, Object};
use super::{Request, calls, names};
use contract::{OpenError, raw};
use std::ffi::c_void;
use std::ptr;

struct State {
    api: Api,
    cipher: Object,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
}

/// Opens GCM to authenticate with. There is no stream: the associated data is given at once.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let name = names::gcm_for_gmac(request.algorithm).expect("GMAC has a block cipher");
    let cipher = request.cipher(&name)?;
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    let key_len = request.key.len();
    let state = State { api: *request.api(), cipher, key_len, nonce_len, tag_len };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        // Associated data is read where it lies.
        flags: raw::IN_PLACE | (request.forced() & raw::ALLOCATES),
        message: Some(message),
        call: c"botan_cipher_set_associated_data, botan_cipher_start, botan_cipher_update".as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"botan_cipher_set_key".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    let (mut written, mut consumed) = (0, 0);
    // SAFETY: `state` is what `open` made; the message keeps the header's rules; the tag has the
    // length that is said.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        let cipher = state.cipher.handle;
        calls!(
            (state.api.cipher_set_aad)(cipher, m.input, m.len),
            (state.api.cipher_start)(cipher, m.nonce, state.nonce_len),
            (state.api.cipher_update)(
                cipher,
                FINAL,
                m.tag,
                state.tag_len,
                &raw mut written,
                ptr::null(),
                0,
                &raw mut consumed,
            ),
        );
        if written == state.tag_len { raw::OK } else { raw::FAILED }
    }
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.api.cipher_set_key)(state.cipher.handle, key, state.key_len))
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
