//! CCM and ChaCha20-Poly1305: a call for a whole message.

use super::context::Context;
use super::{Request, done, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{c_int, c_uint, c_void};

functions! {
    /// ccm.h.
    struct CcmFunctions {
        /// Context, cipher, key, bits.
        mbedtls_ccm_setkey: fn(*mut c_void, c_int, In, c_uint) -> c_int;
        /// Context, length, nonce, associated data, input, output, tag.
        mbedtls_ccm_encrypt_and_tag: fn(
            *mut c_void, usize, In, usize, In, usize, In, Out, Out, usize
        ) -> c_int;
        /// The same, with a tag to read.
        mbedtls_ccm_auth_decrypt: fn(
            *mut c_void, usize, In, usize, In, usize, In, Out, Out, usize
        ) -> c_int;
    }
}

functions! {
    /// chachapoly.h.
    struct Functions {
        mbedtls_chachapoly_setkey: fn(*mut c_void, In) -> c_int;
        /// Context, length, nonce, associated data, input, output, tag.
        mbedtls_chachapoly_encrypt_and_tag: fn(
            *mut c_void, usize, In, In, usize, In, Out, Out
        ) -> c_int;
        /// Context, length, nonce, associated data, tag, input, output.
        mbedtls_chachapoly_auth_decrypt: fn(*mut c_void, usize, In, In, usize, In, In, Out) -> c_int;
        /// Context, nonce, direction.
        mbedtls_chachapoly_starts: fn(*mut c_void, In, c_int) -> c_int;
        /// Context, length, input, output.
        mbedtls_chachapoly_update: fn(*mut c_void, usize, In, Out) -> c_int;
    }
}

/// `MBEDTLS_ERR_CCM_AUTH_FAILED`
const CCM_AUTH_FAILED: c_int = -0x0f;
/// `MBEDTLS_ERR_CHACHAPOLY_AUTH_FAILED`
const CHACHAPOLY_AUTH_FAILED: c_int = -0x56;

struct Ccm {
    context: Context,
    f: CcmFunctions,
    id: c_int,
    key_bits: c_uint,
    nonce_len: usize,
    tag_len: usize,
}

/// Opens CCM. A stream of it would have to know its length.
pub(super) fn open_ccm(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    /// `MBEDTLS_ERR_CCM_BAD_INPUT`: also for a cipher that was not built in.
    const BAD_INPUT: c_int = -0x0d;
    let (id, key_bits) = (request.cipher_id()?, request.key_bits());
    let mut context = Context::new(request, "mbedtls_ccm")?;
    let f = CcmFunctions::of(&request.library.object)?;
    // SAFETY: the key has so many bits.
    match unsafe { (f.mbedtls_ccm_setkey)(context.get(), id, request.key.as_ptr(), key_bits) } {
        BAD_INPUT => return Err(request.none()),
        code => done("mbedtls_ccm_setkey", code)?,
    }
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    let call = match request.decrypts() {
        true => c"mbedtls_ccm_auth_decrypt",
        false => c"mbedtls_ccm_encrypt_and_tag",
    };
    let state = Ccm { context, f, id, key_bits, nonce_len, tag_len };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts());
    Ok(table.rekeys(c"mbedtls_ccm_setkey").raw())
}

struct ChaChaPoly {
    context: Context,
    f: Functions,
    way: c_int,
}

/// Opens ChaCha20-Poly1305.
pub(super) fn open_chachapoly(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let mut context = Context::new(request, "mbedtls_chachapoly")?;
    let f = Functions::of(&request.library.object)?;
    // SAFETY: the key has 32 bytes.
    let code = unsafe { (f.mbedtls_chachapoly_setkey)(context.get(), request.key.as_ptr()) };
    done("mbedtls_chachapoly_setkey", code)?;
    let call = match request.decrypts() {
        true => c"mbedtls_chachapoly_auth_decrypt",
        false => c"mbedtls_chachapoly_encrypt_and_tag",
    };
    // MBEDTLS_CHACHAPOLY_ENCRYPT is 0, unlike the other modules' numbers.
    let state = ChaChaPoly { context, f, way: c_int::from(request.decrypts()) };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts()).streams();
    Ok(table.rekeys(c"mbedtls_chachapoly_setkey").raw())
}

operations! { impl for Ccm;
    fn message(&mut self, m) {
        let (context, nonce, aad) = (self.context.get(), m.nonce, m.aad);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        calls!((self.f.mbedtls_ccm_encrypt_and_tag)(
            context, m.len, nonce, nonce_len, aad, m.aad_len, m.input, m.output, m.tag, tag_len,
        ))
    }

    fn decrypt(&mut self, m) {
        let (context, nonce, aad) = (self.context.get(), m.nonce, m.aad);
        let (nonce_len, tag_len) = (self.nonce_len, self.tag_len);
        let code = (self.f.mbedtls_ccm_auth_decrypt)(
            context, m.len, nonce, nonce_len, aad, m.aad_len, m.input, m.output, m.tag, tag_len,
        );
        if code == CCM_AUTH_FAILED { raw::REJECTED } else { outcome(code) }
    }

    fn rekey(&mut self, key) {
        calls!((self.f.mbedtls_ccm_setkey)(self.context.get(), self.id, key, self.key_bits))
    }
}

operations! { impl for ChaChaPoly;
    fn message(&mut self, m) {
        let (context, seal) = (self.context.get(), self.f.mbedtls_chachapoly_encrypt_and_tag);
        calls!(seal(context, m.len, m.nonce, m.aad, m.aad_len, m.input, m.output, m.tag))
    }

    fn decrypt(&mut self, m) {
        let (context, open) = (self.context.get(), self.f.mbedtls_chachapoly_auth_decrypt);
        let code = open(context, m.len, m.nonce, m.aad, m.aad_len, m.tag, m.input, m.output);
        if code == CHACHAPOLY_AUTH_FAILED { raw::REJECTED } else { outcome(code) }
    }

    fn start(&mut self, nonce) {
        calls!((self.f.mbedtls_chachapoly_starts)(self.context.get(), nonce, self.way))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.f.mbedtls_chachapoly_update)(self.context.get(), len, input, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.f.mbedtls_chachapoly_setkey)(self.context.get(), key))
    }
}
