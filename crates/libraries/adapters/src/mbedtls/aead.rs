//! CCM and ChaCha20-Poly1305: a call for a whole message.

use super::context::Context;
use super::{Missing, Request, done, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations, symbol};
use contract::{Table, raw};
use std::ffi::{c_int, c_uint, c_void};

/// `mbedtls_ccm_setkey`: context, cipher, key, bits.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, c_int, In, c_uint) -> c_int;
/// `mbedtls_ccm_encrypt_and_tag`: context, length, nonce, associated data, input, output, tag; with a
/// tag to read `mbedtls_ccm_auth_decrypt`.
type CcmFn =
    unsafe extern "C" fn(*mut c_void, usize, In, usize, In, usize, In, Out, Out, usize) -> c_int;
/// `mbedtls_chachapoly_setkey`: context, key.
type SetChaChaKeyFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
/// `mbedtls_chachapoly_encrypt_and_tag`: context, length, nonce, associated data, input, output, tag.
type SealFn = unsafe extern "C" fn(*mut c_void, usize, In, In, usize, In, Out, Out) -> c_int;
/// `mbedtls_chachapoly_auth_decrypt`: context, length, nonce, associated data, tag, input, output.
type OpenFn = unsafe extern "C" fn(*mut c_void, usize, In, In, usize, In, In, Out) -> c_int;
/// `mbedtls_chachapoly_starts`: context, nonce, direction.
type StartFn = unsafe extern "C" fn(*mut c_void, In, c_int) -> c_int;
/// `mbedtls_chachapoly_update`: context, length, input, output.
type UpdateFn = unsafe extern "C" fn(*mut c_void, usize, In, Out) -> c_int;

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
            request.function::<CcmFn>(symbol(words))?,
        )
    };
    if code == BAD_INPUT {
        return Err(Missing::Function);
    }
    done(c"mbedtls_ccm_setkey", code)?;
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    let key_bits = request.key_bits();
    let state = Ccm { context, set_key, id, key_bits, call, nonce_len, tag_len };
    Ok(Table::new(state, raw::IN_PLACE, words).rekeys(c"mbedtls_ccm_setkey").raw())
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
    let call = if request.decrypts() {
        c"mbedtls_chachapoly_auth_decrypt"
    } else {
        c"mbedtls_chachapoly_encrypt_and_tag"
    };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts()).streams();
    Ok(table.rekeys(c"mbedtls_chachapoly_setkey").raw())
}

operations! { impl for Ccm;
    fn message(&mut self, m) {
        let (context, nonce, aad) = (self.context.get(), m.nonce, m.aad);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        let call = self.call;
        let code = call(
            context, m.len, nonce, nonce_len, aad, m.aad_len, m.input, m.output, m.tag, tag_len,
        );
        if code == CCM_AUTH_FAILED { raw::REJECTED } else { outcome(code) }
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.context.get(), self.id, key, self.key_bits))
    }
}

operations! { impl for ChaChaPoly;
    fn message(&mut self, m) {
        let context = self.context.get();
        calls!((self.seal)(context, m.len, m.nonce, m.aad, m.aad_len, m.input, m.output, m.tag))
    }

    fn decrypt(&mut self, m) {
        let context = self.context.get();
        let code = (self.open)(context, m.len, m.nonce, m.aad, m.aad_len, m.tag, m.input, m.output);
        if code == CHACHAPOLY_AUTH_FAILED { raw::REJECTED } else { outcome(code) }
    }

    fn start(&mut self, nonce) {
        calls!((self.start)(self.context.get(), nonce, self.way))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.update)(self.context.get(), len, input, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.context.get(), key))
    }
}
