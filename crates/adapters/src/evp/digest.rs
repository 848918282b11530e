//! Digests by `EVP_MD`; and what they have in common with MACs (`mac`): a message is begun, fed and ended.

use crate::evp::{self, Errors, Method, Param, Ways};
use crate::family::{In, Object, Out, operations, steps};
use contract::loader::SharedObject;
use contract::{Table, raw};
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ptr;

/// A context of a digest or MAC. Inlined into the functions of the session, which are made for
/// each kind of context.
pub(crate) trait Parts {
    /// Begins a message.
    ///
    /// # Safety
    /// `nonce` has the algorithm's length; it may be null where that is 0.
    unsafe fn begin(&mut self, nonce: *const u8) -> bool;

    /// Takes a part of it.
    ///
    /// # Safety
    /// `input` has `len` bytes.
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool;

    /// Ends it.
    ///
    /// # Safety
    /// `tag` has room for the algorithm's tag.
    unsafe fn end(&mut self, tag: *mut u8) -> bool;
}

/// The table for the timing loop; `close` there drops the parts.
pub(crate) fn session_in_parts<P: Parts>(
    parts: P,
    errors: Errors,
    call: &'static CStr,
) -> raw::Session {
    Table::new(InParts { parts, errors }, raw::IN_PLACE, call).parts().raw()
}

struct InParts<P> {
    parts: P,
    /// The library's queue of errors.
    errors: Errors,
}

#[inline(always)]
fn done(errors: &Errors, done: bool) -> i32 {
    if done { raw::OK } else { errors.failed() }
}

operations! { impl[P: Parts] for InParts<P>;
    fn message(&mut self, m) {
        let parts = &mut self.parts;
        let all = parts.begin(m.nonce) && parts.feed(m.input, m.len) && parts.end(m.tag);
        done(&self.errors, all)
    }

    fn start(&mut self, nonce) {
        let begun = self.parts.begin(nonce);
        done(&self.errors, begun)
    }

    fn update(&mut self, input, _output, len) {
        let fed = self.parts.feed(input, len);
        done(&self.errors, fed)
    }

    fn finish(&mut self, tag) {
        let ended = self.parts.end(tag);
        done(&self.errors, ended)
    }
}

/// `EVP_MD_CTX *`
type DigestCtx = *mut c_void;

const WAYS: Ways =
    Ways { fetch: "EVP_MD_fetch", free: "EVP_MD_free", by_name: "EVP_get_digestbyname" };

/// The library's digest of that name; `None` when it has none of that length.
pub(crate) fn find_digest(
    object: &SharedObject,
    errors: Errors,
    name: &str,
    len: usize,
) -> Option<Method> {
    type LenFn = unsafe extern "C" fn(*const c_void) -> c_int;
    let digest = named(object, errors, name);
    // SAFETY: the type is that of evp.h, where the first is the name since OpenSSL 3.
    let size = unsafe {
        object.function::<LenFn>("EVP_MD_get_size").or_else(|| object.function("EVP_MD_size"))
    }?;
    // A longer one would be written past the end of the tag.
    digest.filter(|d| {
        // SAFETY: a digest of this library.
        usize::try_from(unsafe { size(d.as_ptr()) }) == Ok(len)
    })
}

pub(crate) fn named(object: &SharedObject, errors: Errors, name: &str) -> Option<Method> {
    let getter = match name {
        "rmd160" => "EVP_ripemd160".to_owned(),
        "streebog-256" | "streebog-512" => format!("EVP_{}", name.replace('-', "")),
        _ => format!("EVP_{}", name.replace('-', "_")),
    };
    let name = CString::new(name).expect("names of digests have no NUL");
    let digest = evp::find_method(object, &WAYS, &name, &getter);
    // A failed search leaves its reason in the queue.
    errors.clear();
    digest
}

#[derive(Clone, Copy)]
pub(crate) struct Contexts {
    new: unsafe extern "C" fn() -> DigestCtx,
    free: unsafe extern "C" fn(DigestCtx),
}

impl Contexts {
    /// `None` when one is missing.
    pub(crate) fn load(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of evp.h; the second are the names before OpenSSL 1.1.0.
        unsafe {
            Some(Self {
                new: object
                    .function("EVP_MD_CTX_new")
                    .or_else(|| object.function("EVP_MD_CTX_create"))?,
                free: object
                    .function("EVP_MD_CTX_free")
                    .or_else(|| object.function("EVP_MD_CTX_destroy"))?,
            })
        }
    }

    pub(crate) fn make(&self) -> Option<Object> {
        // SAFETY: takes nothing.
        Object::of(unsafe { (self.new)() }, self.free)
    }
}

/// How a context is begun anew.
#[derive(Clone, Copy)]
enum InitFn {
    /// `EVP_DigestInit_ex2(ctx, md, params)`, from OpenSSL 3 on.
    Params(unsafe extern "C" fn(DigestCtx, *const c_void, *const c_void) -> c_int),
    /// `EVP_DigestInit_ex(ctx, md, engine)`
    Engine(unsafe extern "C" fn(DigestCtx, *const c_void, *mut c_void) -> c_int),
}

#[derive(Clone, Copy)]
pub(crate) struct DigestFunctions {
    contexts: Contexts,
    init: InitFn,
    update: unsafe extern "C" fn(DigestCtx, In, usize) -> c_int,
    finish: unsafe extern "C" fn(DigestCtx, Out, *mut c_uint) -> c_int,
}

impl DigestFunctions {
    /// `None` when one is missing.
    pub(crate) fn load(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of evp.h.
        unsafe {
            let params = object.function("EVP_DigestInit_ex2").map(InitFn::Params);
            let engine = || object.function("EVP_DigestInit_ex").map(InitFn::Engine);
            Some(Self {
                contexts: Contexts::load(object)?,
                init: params.or_else(engine)?,
                update: object.function("EVP_DigestUpdate")?,
                finish: object.function("EVP_DigestFinal_ex")?,
            })
        }
    }

    pub(crate) fn session(
        &self,
        errors: Errors,
        digest: Method,
        len: usize,
    ) -> Result<raw::Session, String> {
        let state = self.state(errors, digest, len)?;
        let call: &'static CStr = match self.init {
            InitFn::Params(_) => c"EVP_DigestInit_ex2, EVP_DigestUpdate, EVP_DigestFinal_ex",
            InitFn::Engine(_) => c"EVP_DigestInit_ex, EVP_DigestUpdate, EVP_DigestFinal_ex",
        };
        Ok(session_in_parts(state, errors, call))
    }

    /// `len` bytes of a function that gives as many as it is asked for.
    pub(crate) fn session_of_xof(
        &self,
        object: &SharedObject,
        errors: Errors,
        xof: Method,
        len: usize,
    ) -> Option<Result<raw::Session, String>> {
        // SAFETY: the type is that of evp.h.
        let finish = unsafe { object.function("EVP_DigestFinalXOF") }?;
        let call: &'static CStr = match self.init {
            InitFn::Params(_) => c"EVP_DigestInit_ex2, EVP_DigestUpdate, EVP_DigestFinalXOF",
            InitFn::Engine(_) => c"EVP_DigestInit_ex, EVP_DigestUpdate, EVP_DigestFinalXOF",
        };
        let state = self.state(errors, xof, len);
        Some(state.map(|state| session_in_parts(Xof { state, finish }, errors, call)))
    }

    /// A digest that is told to have `len` bytes, fewer than by itself; `None` when it stays at its own length.
    pub(crate) fn session_of_size(
        &self,
        errors: Errors,
        digest: Method,
        len: usize,
    ) -> Option<Result<raw::Session, String>> {
        let InitFn::Params(init) = self.init else { return None };
        let mut sized = match self.state(errors, digest, len) {
            Ok(state) => Resized { state, init },
            Err(why) => return Some(Err(why)),
        };
        let mut room = [0; LONGEST_DIGEST];
        // SAFETY: no nonce; the room is enough for the digest at its own length too.
        let takes = unsafe { sized.begin(ptr::null()) && sized.end(room.as_mut_ptr()) };
        errors.clear();
        let call = c"EVP_DigestInit_ex2, EVP_DigestUpdate, EVP_DigestFinal_ex";
        takes.then(|| Ok(session_in_parts(sized, errors, call)))
    }

    fn state(&self, errors: Errors, digest: Method, len: usize) -> Result<DigestState, String> {
        let ctx =
            self.contexts.make().ok_or_else(|| format!("EVP_MD_CTX_new: {}", errors.take()))?;
        Ok(DigestState { ctx, functions: *self, md: digest.as_ptr(), len, _md: digest })
    }
}

/// `EVP_MAX_MD_SIZE`
const LONGEST_DIGEST: usize = 64;

struct DigestState {
    ctx: Object,
    functions: DigestFunctions,
    md: *const c_void,
    len: usize,
    /// What `md` points to.
    _md: Method,
}

steps! { #[inline(always)] impl Parts for DigestState;
    fn begin(&mut self, _nonce: In) -> bool {
        match self.functions.init {
            InitFn::Params(init) => init(self.ctx.raw, self.md, ptr::null()) > 0,
            InitFn::Engine(init) => init(self.ctx.raw, self.md, ptr::null_mut()) > 0,
        }
    }

    fn feed(&mut self, input: In, len: usize) -> bool {
        (self.functions.update)(self.ctx.raw, input, len) > 0
    }

    fn end(&mut self, tag: Out) -> bool {
        let mut len: c_uint = 0;
        let code = (self.functions.finish)(self.ctx.raw, tag, &raw mut len);
        code > 0 && len as usize == self.len
    }
}

struct Xof {
    state: DigestState,
    /// `EVP_DigestFinalXOF(ctx, out, len)`
    finish: unsafe extern "C" fn(DigestCtx, Out, usize) -> c_int,
}

steps! { #[inline(always)] impl Parts for Xof;
    fn begin(&mut self, nonce: In) -> bool {
        self.state.begin(nonce)
    }

    fn feed(&mut self, input: In, len: usize) -> bool {
        self.state.feed(input, len)
    }

    fn end(&mut self, tag: Out) -> bool {
        (self.finish)(self.state.ctx.raw, tag, self.state.len) > 0
    }
}

struct Resized {
    state: DigestState,
    init: unsafe extern "C" fn(DigestCtx, *const c_void, *const c_void) -> c_int,
}

steps! { #[inline(always)] impl Parts for Resized;
    /// With the length, which the digest keeps for one message.
    fn begin(&mut self, _nonce: In) -> bool {
        let params = [Param::number(c"size", &self.state.len), Param::END];
        (self.init)(self.state.ctx.raw, self.state.md, params.as_ptr().cast()) > 0
    }

    fn feed(&mut self, input: In, len: usize) -> bool {
        self.state.feed(input, len)
    }

    fn end(&mut self, tag: Out) -> bool {
        self.state.end(tag)
    }
}
