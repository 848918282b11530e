//! Digests and HMAC through the general digest layer, and Poly1305.

use super::context::Context;
use super::{Request, done, outcome};
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use base::model::{Mode, Primitive};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_char, c_int, c_void};

functions! {
    /// md.h: what finds a digest.
    struct Functions {
        mbedtls_md_info_from_string: fn(*const c_char) -> *const c_void;
        mbedtls_md_get_size: fn(*const c_void) -> u8;
        /// Context, digest, whether with HMAC.
        mbedtls_md_setup: fn(*mut c_void, *const c_void, c_int) -> c_int;
    }
}
/// `mbedtls_md_starts`, `mbedtls_md_hmac_reset`
type BeginFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `mbedtls_md_update`, `mbedtls_md_hmac_starts`, `_update`, `mbedtls_poly1305_update`: context,
/// bytes, length.
type BytesFn = unsafe extern "C" fn(*mut c_void, In, usize) -> c_int;
/// `mbedtls_poly1305_starts`: context, key.
type KeyFn = unsafe extern "C" fn(*mut c_void, In) -> c_int;
/// `mbedtls_md_finish`, `mbedtls_md_hmac_finish`, `mbedtls_poly1305_finish`: context, output.
type FinishFn = unsafe extern "C" fn(*mut c_void, Out) -> c_int;

#[derive(Clone, Copy)]
enum Begin {
    /// A digest, or HMAC under the key that it has.
    Again(BeginFn),
    /// Poly1305, whose key is for one message only.
    Key(KeyFn),
}

struct State {
    context: Context,
    begin: Begin,
    update: BytesFn,
    finish: FinishFn,
    key: Vec<u8>,
}

/// Opens a digest or authentication code.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (state, call) = match request.algorithm.mode {
        Mode::OneTimeMac => poly1305(request)?,
        Mode::Hmac => hmac(request)?,
        _ => digest(request)?,
    };
    Ok(Table::new(state, raw::IN_PLACE, call).parts().raw())
}

fn digest(request: &Request<'_>) -> Result<(State, &'static CStr), OpenError> {
    let context = context(request, 0)?;
    // SAFETY: md.h.
    let state = unsafe {
        State {
            context,
            begin: Begin::Again(request.function("mbedtls_md_starts")?),
            update: request.function("mbedtls_md_update")?,
            finish: request.function("mbedtls_md_finish")?,
            key: Vec::new(),
        }
    };
    Ok((state, c"mbedtls_md_starts, mbedtls_md_update, mbedtls_md_finish"))
}

fn hmac(request: &Request<'_>) -> Result<(State, &'static CStr), OpenError> {
    let mut context = context(request, 1)?;
    // SAFETY: md.h; the key covers its length.
    let (code, state) = unsafe {
        let set_key: BytesFn = request.function("mbedtls_md_hmac_starts")?;
        let code = set_key(context.get(), request.key.as_ptr(), request.key.len());
        let state = State {
            context,
            begin: Begin::Again(request.function("mbedtls_md_hmac_reset")?),
            update: request.function("mbedtls_md_hmac_update")?,
            finish: request.function("mbedtls_md_hmac_finish")?,
            key: Vec::new(),
        };
        (code, state)
    };
    done("mbedtls_md_hmac_starts", code)?;
    Ok((state, c"mbedtls_md_hmac_reset, mbedtls_md_hmac_update, mbedtls_md_hmac_finish"))
}

/// A context of the digest layer. Digests are found by their names: their numbers changed between
/// versions 2 and 3.
fn context(request: &Request<'_>, hmac: c_int) -> Result<Context, OpenError> {
    let name = match request.algorithm.cipher {
        Primitive::Sha256 => c"SHA256",
        Primitive::Sha384 => c"SHA384",
        Primitive::Sha512 => c"SHA512",
        Primitive::Sha3_256 => c"SHA3-256",
        Primitive::Sha3_384 => c"SHA3-384",
        Primitive::Sha3_512 => c"SHA3-512",
        _ => return Err(request.none()),
    };
    let mut context = Context::new(request, "mbedtls_md")?;
    let f = Functions::of(&request.library.object)?;
    // SAFETY: the name is NUL-terminated; a description that is not null is one of a digest.
    let code = unsafe {
        let info = (f.mbedtls_md_info_from_string)(name.as_ptr());
        if info.is_null() || usize::from((f.mbedtls_md_get_size)(info)) != request.algorithm.tag_len
        {
            return Err(request.none());
        }
        (f.mbedtls_md_setup)(context.get(), info, hmac)
    };
    done("mbedtls_md_setup", code)?;
    Ok(context)
}

fn poly1305(request: &Request<'_>) -> Result<(State, &'static CStr), OpenError> {
    // SAFETY: poly1305.h.
    let state = unsafe {
        State {
            context: Context::new(request, "mbedtls_poly1305")?,
            begin: Begin::Key(request.function("mbedtls_poly1305_starts")?),
            update: request.function("mbedtls_poly1305_update")?,
            finish: request.function("mbedtls_poly1305_finish")?,
            key: request.key.to_vec(),
        }
    };
    Ok((state, c"mbedtls_poly1305_starts, mbedtls_poly1305_update, mbedtls_poly1305_finish"))
}

impl State {
    #[inline]
    fn begin(&mut self) -> c_int {
        // SAFETY: the context is the function's; the key has what it reads.
        unsafe {
            match self.begin {
                Begin::Again(begin) => begin(self.context.get()),
                Begin::Key(begin) => begin(self.context.get(), self.key.as_ptr()),
            }
        }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        calls!(
            self.begin(),
            (self.update)(self.context.get(), m.input, m.len),
            (self.finish)(self.context.get(), m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        calls!(self.begin())
    }

    fn update(&mut self, input, _output, len) {
        calls!((self.update)(self.context.get(), input, len))
    }

    fn finish(&mut self, tag) {
        calls!((self.finish)(self.context.get(), tag))
    }
}
