//! Digests, HMAC and Poly1305: begun, fed and ended.

use super::Request;
use super::api::{Context, NO_DEVICE, done, lengths, outcome};
use crate::bytes::{In, Out};
use crate::family::{c_concat, calls, operations};
use base::model::Primitive;
use contract::{OpenError, Table, functions, raw};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// `wc_InitSha256`, `wc_InitSha384`, `wc_InitSha512`: context.
type Sha2InitFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `wc_InitSha3_256` and the like: context, heap hint, device.
type Sha3InitFn = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int) -> c_int;
/// `wc_InitBlake2b`: context, length of the digest.
type BlakeInitFn = unsafe extern "C" fn(*mut c_void, u32) -> c_int;
/// `wc_Sha256Update`, `wc_Blake2bUpdate`, `wc_Poly1305SetKey`: context, input, length.
type UpdateFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_Sha256Final`: context, tag.
type FinalFn = unsafe extern "C" fn(*mut c_void, Out) -> c_int;
/// `wc_Blake2bFinal`: context, digest, its length.
type BlakeFinalFn = unsafe extern "C" fn(*mut c_void, Out, u32) -> c_int;

functions! {
    /// HMAC's, of hmac.h.
    struct HmacFunctions {
        /// Context, hash, key, length.
        wc_HmacSetKey: fn(*mut c_void, c_int, In, u32) -> c_int;
        wc_HmacUpdate: fn(*mut c_void, In, u32) -> c_int;
        wc_HmacFinal: fn(*mut c_void, Out) -> c_int;
    }
}

functions! {
    /// Poly1305's, of poly1305.h.
    struct PolyFunctions {
        wc_Poly1305SetKey: fn(*mut c_void, In, u32) -> c_int;
        wc_Poly1305Update: fn(*mut c_void, In, u32) -> c_int;
        wc_Poly1305Final: fn(*mut c_void, Out) -> c_int;
    }
}

/// Bytes of BLAKE2b's digest.
const BLAKE2B: u32 = 64;

/// How a message begins.
enum Begin {
    Sha2(Sha2InitFn),
    Sha3(Sha3InitFn),
    Blake(BlakeInitFn),
    /// The context is as its key or the end of the message before left it.
    Ready,
    Key(UpdateFn, [u8; 32]),
}

/// How it ends.
enum End {
    Plain(FinalFn),
    Blake(BlakeFinalFn),
}

struct State {
    begin: Begin,
    update: UpdateFn,
    end: End,
    message: Context,
    stream: Context,
    /// Whether the stream was begun and not ended.
    begun: bool,
}

impl State {
    fn into_session(self, call: &'static CStr) -> raw::Session {
        Table::new(self, raw::IN_PLACE, call).parts().raw()
    }

    #[inline]
    fn begin(&self, context: &Context) -> c_int {
        let context = context.pointer();
        // SAFETY: a context of the kind; the key covers its length.
        unsafe {
            match &self.begin {
                Begin::Sha2(init) => init(context),
                Begin::Sha3(init) => init(context, ptr::null_mut(), NO_DEVICE),
                Begin::Blake(init) => init(context, BLAKE2B),
                Begin::Ready => 0,
                Begin::Key(set_key, key) => set_key(context, key.as_ptr(), 32),
            }
        }
    }

    /// # Safety
    /// `tag` has room for the algorithm's tag.
    #[inline]
    unsafe fn end(&self, context: &Context, tag: *mut u8) -> c_int {
        // SAFETY: the caller's promise; a context of the kind that was begun.
        unsafe {
            match self.end {
                End::Plain(end) => end(context.pointer(), tag),
                End::Blake(end) => end(context.pointer(), tag, BLAKE2B),
            }
        }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        lengths!(len = m.len);
        calls!(
            self.begin(&self.message),
            (self.update)(self.message.pointer(), m.input, len),
            self.end(&self.message, m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        // No tag is longer than 64 bytes.
        if self.begun && matches!(self.begin, Begin::Ready) {
            // Only its end brings a keyed context back to where a message begins.
            let mut unwanted = [0; 64];
            let code = self.end(&self.stream, unwanted.as_mut_ptr());
            if code != 0 {
                return outcome(code);
            }
        }
        self.begun = true;
        outcome(self.begin(&self.stream))
    }

    fn update(&mut self, input, _output, len) {
        lengths!(len = len);
        outcome((self.update)(self.stream.pointer(), input, len))
    }

    fn finish(&mut self, tag) {
        self.begun = false;
        outcome(self.end(&self.stream, tag))
    }
}

/// The names of a digest's functions: beginning, feeding, ending, freeing, all that run inside the
/// clock.
type Names = (&'static str, &'static str, &'static str, &'static str, &'static CStr);

fn names(primitive: Primitive) -> Option<Names> {
    macro_rules! names {
        ($init:literal, $prefix:literal) => {
            (
                $init,
                concat!($prefix, "Update"),
                concat!($prefix, "Final"),
                concat!($prefix, "Free"),
                c_concat!($init, ", ", $prefix, "Update, ", $prefix, "Final"),
            )
        };
    }
    Some(match primitive {
        Primitive::Sha256 => names!("wc_InitSha256", "wc_Sha256"),
        Primitive::Sha384 => names!("wc_InitSha384", "wc_Sha384"),
        Primitive::Sha512 => names!("wc_InitSha512", "wc_Sha512"),
        Primitive::Sha3_256 => names!("wc_InitSha3_256", "wc_Sha3_256_"),
        Primitive::Sha3_384 => names!("wc_InitSha3_384", "wc_Sha3_384_"),
        Primitive::Sha3_512 => names!("wc_InitSha3_512", "wc_Sha3_512_"),
        Primitive::Blake2b => names!("wc_InitBlake2b", "wc_Blake2b"),
        _ => return None,
    })
}

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let (init, update, end, free, call) =
        names(request.algorithm.cipher).ok_or_else(|| request.absent("wolfCrypt"))?;
    // SAFETY: the types are those of sha256.h, sha512.h, sha3.h and blake2.h for the symbols
    // named; BLAKE2b's context needs no freeing and has no function for it.
    let state = unsafe {
        let (begin, end) = match request.algorithm.cipher {
            Primitive::Sha256 | Primitive::Sha384 | Primitive::Sha512 => {
                (Begin::Sha2(object.exported(init)?), End::Plain(object.exported(end)?))
            }
            Primitive::Blake2b => {
                (Begin::Blake(object.exported(init)?), End::Blake(object.exported(end)?))
            }
            _ => (Begin::Sha3(object.exported(init)?), End::Plain(object.exported(end)?)),
        };
        let context = || Context::zeroed().freed_by(object, free);
        let (message, stream) = (context(), context());
        State { begin, update: object.exported(update)?, end, message, stream, begun: false }
    };
    // Freeing a context expects one that was begun.
    for context in [&state.message, &state.stream] {
        done(init, state.begin(context))?;
    }
    Ok(state.into_session(call))
}

pub(super) fn open_hmac(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    // enum wc_HashType. FIPS modules older than 2018 have other numbers; they would answer with
    // tags of another hash, which the checks refuse.
    let hash = match request.algorithm.cipher {
        Primitive::Sha256 => 6,
        Primitive::Sha384 => 7,
        _ => 8,
    };
    let f = HmacFunctions::of(object)?;
    let keyed = || {
        // SAFETY: the types are those of hmac.h for the symbols named.
        let context = unsafe { Context::initialised(object, "wc_HmacInit", "wc_HmacFree") }?;
        let (key, len) = (request.key.as_ptr(), request.key_len());
        // SAFETY: the key covers its length.
        let code = unsafe { (f.wc_HmacSetKey)(context.pointer(), hash, key, len) };
        done("wc_HmacSetKey", code).map(|()| context)
    };
    let (update, end) = (f.wc_HmacUpdate, End::Plain(f.wc_HmacFinal));
    let (message, stream) = (keyed()?, keyed()?);
    let state = State { begin: Begin::Ready, update, end, message, stream, begun: false };
    Ok(state.into_session(c"wc_HmacUpdate, wc_HmacFinal"))
}

pub(super) fn open_poly1305(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = PolyFunctions::of(&request.library.object)?;
    let key = request.key.try_into().expect("Poly1305 has keys of 32 bytes");
    let state = State {
        begin: Begin::Key(f.wc_Poly1305SetKey, key),
        update: f.wc_Poly1305Update,
        end: End::Plain(f.wc_Poly1305Final),
        message: Context::zeroed(),
        stream: Context::zeroed(),
        begun: false,
    };
    Ok(state.into_session(c"wc_Poly1305SetKey, wc_Poly1305Update, wc_Poly1305Final"))
}
