//! CCM and ChaCha20-Poly1305: a call for a whole message.

use super::context::Context;
use super::{Missing, Request, calls, done};
use contract::raw;
use std::ffi::{c_int, c_uint, c_void};

/// `mbedtls_ccm_setkey`: context, cipher, key, bits.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, c_int, *const u8, c_uint) -> c_int;
/// `mbedtls_ccm_encrypt_and_tag`: context, length, nonce, associated data, input, output, tag; with a
/// tag to read `mbedtls_ccm_auth_decrypt`.
type CcmFn = unsafe extern "C" fn(
    *mut c_void,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *mut u8,
    *mut u8,
    usize,
) -> c_int;
/// `mbedtls_chachapoly_setkey`: context, key.
type SetChaChaKeyFn = unsafe extern "C" fn(*mut c_void, *const u8) -> c_int;
/// `mbedtls_chachapoly_encrypt_and_tag`: context, length, nonce, associated data, input, output, tag.
type SealFn = unsafe extern "C" fn(
    *mut c_void,
    usize,
    *const u8,
    *const u8,
    usize,
    *const u8,
    *mut u8,
    *mut u8,
) -> c_int;
/// `mbedtls_chachapoly_auth_decrypt`: context, length, nonce, associated data, tag, input, output.
type OpenFn = unsafe extern "C" fn(
    *mut c_void,
    usize,
    *const u8,
    *const u8,
    usize,
    *const u8,
    *const u8,
    *mut u8,
) -> c_int;
/// `mbedtls_chachapoly_starts`: context, nonce, direction.
type StartFn = unsafe extern "C" fn(*mut c_void, *const u8, c_int) -> c_int;
/// `mbedtls_chachapoly_update`: context, length, input, output.
type UpdateFn = unsafe extern "C" fn(*mut c_void, usize, *const u8, *mut u8) -> c_int;

/// `MBEDTLS_ERR_CCM_AUTH_FAILED`
const CCM_AUTH_FAILED: c_int = -0x0f;
/// `MBEDTLS_ERR_CHACHAPOLY_AUTH_FAILED`
const CHACHAPOLY_AUTH_FAILED: c_int = -0x56;

struct Ccm {
    context: Context,
    set_key: SetKeyFn,
    id: c_int,
    key_bits: c_uint,
    call: CcmFn,
    nonce_len: usize,
    tag_len: usize,
}

/// Opens CCM. A stream of it would have to know its length.
pub(super) fn open_ccm(request: &Request<'_>) -> Result<raw::Session, Missing> {
    /// `MBEDTLS_ERR_CCM_BAD_INPUT`: also for a cipher that was not built in.
    const BAD_INPUT: c_int = -0x0d;
    let id = request.cipher_id()?;
    let words = if request.decrypts() {
        c"mbedtls_ccm_auth_decrypt"
    } else {
        c"mbedtls_ccm_encrypt_and_tag"
    };
    let mut context = Context::new(request, "mbedtls_ccm")?;
    // SAFETY: ccm.h; the key has so many bits. That decryption reads the tag changes nothing in how
    // it is called.
    let (code, set_key, call) = unsafe {
        let set_key: SetKeyFn = request.function("mbedtls_ccm_setkey")?;
        (
            set_key(context.get(), id, request.key.as_ptr(), request.key_bits()),
            set_key,
            request.function::<CcmFn>(words.to_str().expect("symbols are ASCII"))?,
        )
    };
    if code == BAD_INPUT {
        return Err(Missing::Function);
    }
    done(c"mbedtls_ccm_setkey", code)?;
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    let key_bits = request.key_bits();
    let state = Ccm { context, set_key, id, key_bits, call, nonce_len, tag_len };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message_ccm),
        call: words.as_ptr(),
        close: Some(close::<Ccm>),
        rekey: Some(rekey_ccm),
        rekey_call: c"mbedtls_ccm_setkey".as_ptr(),
        ..raw::Session::empty()
    })
}

struct ChaChaPoly {
    context: Context,
    set_key: SetChaChaKeyFn,
    seal: SealFn,
    open: OpenFn,
    start: StartFn,
    update: UpdateFn,
    way: c_int,
}

/// Opens ChaCha20-Poly1305.
pub(super) fn open_chachapoly(request: &Request<'_>) -> Result<raw::Session, Missing> {
    let mut context = Context::new(request, "mbedtls_chachapoly")?;
    // SAFETY: chachapoly.h; the key has 32 bytes.
    let (code, state) = unsafe {
        let set_key: SetChaChaKeyFn = request.function("mbedtls_chachapoly_setkey")?;
        let code = set_key(context.get(), request.key.as_ptr());
        let state = ChaChaPoly {
            context,
            set_key,
            seal: request.function("mbedtls_chachapoly_encrypt_and_tag")?,
            open: request.function("mbedtls_chachapoly_auth_decrypt")?,
            start: request.function("mbedtls_chachapoly_starts")?,
            update: request.function("mbedtls_chachapoly_update")?,
            // MBEDTLS_CHACHAPOLY_ENCRYPT is 0, unlike the other modules' numbers.
            way: c_int::from(request.decrypts()),
        };
        (code, state)
    };
    done(c"mbedtls_chachapoly_setkey", code)?;
    let (message, call): (raw::MessageFn, _) = if request.decrypts() {
        (decrypt, c"mbedtls_chachapoly_auth_decrypt")
    } else {
        (encrypt, c"mbedtls_chachapoly_encrypt_and_tag")
    };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        call: call.as_ptr(),
        close: Some(close::<ChaChaPoly>),
        rekey: Some(rekey_chachapoly),
        rekey_call: c"mbedtls_chachapoly_setkey".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey_ccm(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open_ccm` made; the key has so many bits.
    unsafe {
        let state = &mut *state.cast::<Ccm>();
        calls!((state.set_key)(state.context.get(), state.id, key, state.key_bits))
    }
}

unsafe extern "C" fn rekey_chachapoly(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open_chachapoly` made; the key has 32 bytes.
    unsafe {
        let state = &mut *state.cast::<ChaChaPoly>();
        calls!((state.set_key)(state.context.get(), key))
    }
}

unsafe extern "C" fn message_ccm(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open_ccm` made; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&mut *state.cast::<Ccm>(), &*m);
        let code = (state.call)(
            state.context.get(),
            m.len,
            m.nonce,
            state.nonce_len,
            m.aad,
            m.aad_len,
            m.input,
            m.output,
            m.tag,
            state.tag_len,
        );
        if code == CCM_AUTH_FAILED { raw::REJECTED } else { super::outcome(code) }
    }
}

unsafe extern "C" fn encrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open_chachapoly` made; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&mut *state.cast::<ChaChaPoly>(), &*m);
        let context = state.context.get();
        calls!((state.seal)(context, m.len, m.nonce, m.aad, m.aad_len, m.input, m.output, m.tag))
    }
}

unsafe extern "C" fn decrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: as in `encrypt`.
    unsafe {
        let (state, m) = (&mut *state.cast::<ChaChaPoly>(), &*m);
        let context = state.context.get();
        let code =
            (state.open)(context, m.len, m.nonce, m.aad, m.aad_len, m.tag, m.input, m.output);
        if code == CHACHAPOLY_AUTH_FAILED { raw::REJECTED } else { super::outcome(code) }
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open_chachapoly` made; the nonce has twelve bytes.
    unsafe {
        let state = &mut *state.cast::<ChaChaPoly>();
        calls!((state.start)(state.context.get(), nonce, state.way))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open_chachapoly` made; the buffers keep the header's rules.
    unsafe {
        let state = &mut *state.cast::<ChaChaPoly>();
        calls!((state.update)(state.context.get(), len, input, output))
    }
}

unsafe extern "C" fn close<S>(state: *mut c_void) {
    // SAFETY: `state` is the box of this type that was given away; called once.
    drop(unsafe { Box::from_raw(state.cast::<S>()) });
}
