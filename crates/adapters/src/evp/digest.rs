//! Digests: `EVP_MD`.

use super::api::Errors;
use super::method::{self, Method, Ways};
use super::parts::{self, Parts};
use crate::bytes::{In, Out};
use contract::loader::SharedObject;
use contract::raw;
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::ptr;

/// `EVP_MD_CTX *`
type Ctx = *mut c_void;

const WAYS: Ways =
    Ways { fetch: "EVP_MD_fetch", free: "EVP_MD_free", by_name: "EVP_get_digestbyname" };

/// The library's digest of that name; `None` when it has none of that length.
pub(super) fn find(
    object: &SharedObject,
    errors: Errors,
    name: &str,
    len: usize,
) -> Option<Method> {
    type LenFn = unsafe extern "C" fn(*const c_void) -> c_int;
    let getter = format!("EVP_{}", name.replace('-', "_"));
    let name = CString::new(name).expect("names of digests have no NUL");
    let digest = method::find(object, &WAYS, &name, &getter);
    // A failed search leaves its reason in the queue.
    errors.clear();
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

/// Makes and frees contexts.
#[derive(Clone, Copy)]
pub(super) struct Contexts {
    new: unsafe extern "C" fn() -> Ctx,
    free: unsafe extern "C" fn(Ctx),
}

impl Contexts {
    /// `None` when one is missing.
    pub(super) fn load(object: &SharedObject) -> Option<Self> {
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

    pub(super) fn make(&self) -> Option<Ctx> {
        // SAFETY: takes nothing.
        let ctx = unsafe { (self.new)() };
        (!ctx.is_null()).then_some(ctx)
    }

    pub(super) fn free(&self, ctx: Ctx) {
        // SAFETY: `ctx` came from `make`, whose callers free it once.
        unsafe { (self.free)(ctx) }
    }
}

/// How a context is begun anew.
#[derive(Clone, Copy)]
enum InitFn {
    /// `EVP_DigestInit_ex2(ctx, md, params)`, from OpenSSL 3 on.
    Params(unsafe extern "C" fn(Ctx, *const c_void, *const c_void) -> c_int),
    /// `EVP_DigestInit_ex(ctx, md, engine)`
    Engine(unsafe extern "C" fn(Ctx, *const c_void, *mut c_void) -> c_int),
}

/// The functions of one library.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    contexts: Contexts,
    init: InitFn,
    update: unsafe extern "C" fn(Ctx, In, usize) -> c_int,
    finish: unsafe extern "C" fn(Ctx, Out, *mut c_uint) -> c_int,
}

impl Functions {
    /// `None` when one is missing.
    pub(super) fn load(object: &SharedObject) -> Option<Self> {
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

    /// # Errors
    /// The library's reason.
    pub(super) fn session(
        &self,
        errors: Errors,
        digest: Method,
        len: usize,
    ) -> Result<raw::Session, String> {
        let ctx =
            self.contexts.make().ok_or_else(|| format!("EVP_MD_CTX_new: {}", errors.take()))?;
        let state = State { ctx, functions: *self, md: digest.as_ptr(), len, _md: digest };
        let call: &'static CStr = match self.init {
            InitFn::Params(_) => c"EVP_DigestInit_ex2, EVP_DigestUpdate, EVP_DigestFinal_ex",
            InitFn::Engine(_) => c"EVP_DigestInit_ex, EVP_DigestUpdate, EVP_DigestFinal_ex",
        };
        Ok(parts::session(state, errors, call))
    }
}

struct State {
    ctx: Ctx,
    functions: Functions,
    md: *const c_void,
    len: usize,
    /// What `md` points to.
    _md: Method,
}

impl Drop for State {
    fn drop(&mut self) {
        self.functions.contexts.free(self.ctx);
    }
}

impl Parts for State {
    #[inline(always)]
    unsafe fn begin(&mut self, _nonce: *const u8) -> bool {
        // SAFETY: a context and a digest of ours; no parameters, no engine.
        unsafe {
            match self.functions.init {
                InitFn::Params(init) => init(self.ctx, self.md, ptr::null()) > 0,
                InitFn::Engine(init) => init(self.ctx, self.md, ptr::null_mut()) > 0,
            }
        }
    }

    #[inline(always)]
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.functions.update)(self.ctx, input, len) > 0 }
    }

    #[inline(always)]
    unsafe fn end(&mut self, tag: *mut u8) -> bool {
        let mut len: c_uint = 0;
        // SAFETY: as the caller promises; the digest has `len` bytes.
        let code = unsafe { (self.functions.finish)(self.ctx, tag, &raw mut len) };
        code > 0 && len as usize == self.len
    }
}
