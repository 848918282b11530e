//! Finding a method (`EVP_CIPHER`, `EVP_MD`): outside the clock, by the newest of the three ways
//! that the library has.

use contract::loader::SharedObject;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// A method of the library; freed when dropped if it was fetched.
pub(super) struct Method {
    pointer: *const c_void,
    free: Option<FreeFn>,
}

type FreeFn = unsafe extern "C" fn(*mut c_void);

impl Method {
    pub(super) fn as_ptr(&self) -> *const c_void {
        self.pointer
    }

    fn lasting(pointer: *const c_void) -> Option<Self> {
        (!pointer.is_null()).then_some(Self { pointer, free: None })
    }
}

impl Drop for Method {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: fetched, so ours to free; contexts that use it hold references of their own.
            unsafe { free(self.pointer.cast_mut()) }
        }
    }
}

/// The names of the functions that find one kind of method.
pub(super) struct Ways {
    pub(super) fetch: &'static str,
    pub(super) free: &'static str,
    pub(super) by_name: &'static str,
}

/// The method of that name, or by that getter in libraries that fetch nothing.
pub(super) fn find(
    object: &SharedObject,
    ways: &Ways,
    name: &CStr,
    getter: &str,
) -> Option<Method> {
    if object.has("OSSL_PROVIDER_load") {
        // What no provider has is not there, though a getter by its name may be.
        return fetch(object, ways, name);
    }
    by_name(object, ways, name).or_else(|| by_getter(object, getter))
}

/// OpenSSL 3 on. Its documentation asks for one explicit fetch instead of the implicit one that
/// every initialisation with a name or a getter's method would do again. BoringSSL's
/// `EVP_MD_fetch` is another name of `EVP_get_digestbyname`, whose table lacks SHA-3: it is not
/// used.
fn fetch(object: &SharedObject, ways: &Ways, name: &CStr) -> Option<Method> {
    type FetchFn = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
    // SAFETY: the types are those of evp.h, the same for every kind of method.
    let (fetch, free) =
        unsafe { (object.function::<FetchFn>(ways.fetch)?, object.function::<FreeFn>(ways.free)?) };
    // SAFETY: the default library context, no properties.
    let pointer = unsafe { fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
    (!pointer.is_null()).then_some(Method { pointer, free: Some(free) })
}

fn by_name(object: &SharedObject, ways: &Ways, name: &CStr) -> Option<Method> {
    type ByNameFn = unsafe extern "C" fn(*const c_char) -> *const c_void;
    // SAFETY: the type is that of evp.h.
    let by_name = unsafe { object.function::<ByNameFn>(ways.by_name) }?;
    // SAFETY: a NUL-terminated name; the result is static.
    Method::lasting(unsafe { by_name(name.as_ptr()) })
}

/// `EVP_aes_128_gcm()` and its like: BoringSSL's tables of names have only a part of what it has.
fn by_getter(object: &SharedObject, getter: &str) -> Option<Method> {
    type GetterFn = unsafe extern "C" fn() -> *const c_void;
    // SAFETY: the type is that of evp.h for every getter.
    let getter = unsafe { object.function::<GetterFn>(getter) }?;
    // SAFETY: takes nothing; the result is static.
    Method::lasting(unsafe { getter() })
}
