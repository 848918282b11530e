//! Finding a cipher: outside the clock, by the newest of the three ways that the library has.

use super::api::{Api, CipherPtr};
use crate::loader::SharedObject;
use model::{Algorithm, Mode};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// An `EVP_CIPHER`; freed when dropped if it was fetched.
pub(super) struct Cipher {
    pointer: CipherPtr,
    free: Option<FreeFn>,
}

type FreeFn = unsafe extern "C" fn(*mut c_void);

impl Cipher {
    pub(super) fn as_ptr(&self) -> CipherPtr {
        self.pointer
    }
}

impl Drop for Cipher {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: came from EVP_CIPHER_fetch; contexts that use it hold references of their own.
            unsafe { free(self.pointer.cast_mut()) }
        }
    }
}

/// The library's cipher for an algorithm; `None` when it has none with that length of key.
pub(super) fn find(object: &SharedObject, api: &Api, algorithm: &Algorithm) -> Option<Cipher> {
    let name = CString::new(algorithm.name).expect("names of algorithms have no NUL");
    let cipher = match fetch(object, &name) {
        Fetched::Cipher(cipher) => Some(cipher),
        Fetched::Nothing => None,
        Fetched::NoFetching => by_name(object, &name).or_else(|| by_getter(object, algorithm)),
    };
    // A failed fetch leaves its reason in the queue.
    api.errors.clear();
    // The key is read by the cipher's length: one that disagrees would be read past its end.
    cipher.filter(|c| key_len(object, c).is_none_or(|len| len == algorithm.key_len))
}

enum Fetched {
    Cipher(Cipher),
    Nothing,
    NoFetching,
}

/// OpenSSL 3 on. Its documentation asks for one explicit fetch instead of the implicit one that
/// every initialisation with a name or a getter's cipher would do again.
fn fetch(object: &SharedObject, name: &CStr) -> Fetched {
    type FetchFn = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
    // SAFETY: the types are those of evp.h.
    let functions = unsafe {
        (
            object.function::<FetchFn>("EVP_CIPHER_fetch"),
            object.function::<FreeFn>("EVP_CIPHER_free"),
        )
    };
    let (Some(fetch), Some(free)) = functions else { return Fetched::NoFetching };
    // SAFETY: the default library context, no properties.
    let pointer = unsafe { fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
    if pointer.is_null() {
        return Fetched::Nothing;
    }
    Fetched::Cipher(Cipher { pointer, free: Some(free) })
}

fn by_name(object: &SharedObject, name: &CStr) -> Option<Cipher> {
    type ByNameFn = unsafe extern "C" fn(*const c_char) -> CipherPtr;
    // SAFETY: the type is that of evp.h.
    let by_name = unsafe { object.function::<ByNameFn>("EVP_get_cipherbyname") }?;
    // SAFETY: a NUL-terminated name; the result is static.
    let pointer = unsafe { by_name(name.as_ptr()) };
    (!pointer.is_null()).then_some(Cipher { pointer, free: None })
}

/// `EVP_aes_128_gcm()` and its like: BoringSSL's table of names has only a few of its ciphers.
fn by_getter(object: &SharedObject, algorithm: &Algorithm) -> Option<Cipher> {
    type GetterFn = unsafe extern "C" fn() -> CipherPtr;
    let mut symbol = format!("EVP_{}", algorithm.name.replace('-', "_"));
    if algorithm.mode == Mode::Cfb {
        // `EVP_aes_128_cfb` is a macro for the segments of 128 bits.
        symbol.push_str("128");
    }
    // SAFETY: the type is that of evp.h for every getter.
    let getter = unsafe { object.function::<GetterFn>(&symbol) }?;
    // SAFETY: takes nothing; the result is static.
    let pointer = unsafe { getter() };
    (!pointer.is_null()).then_some(Cipher { pointer, free: None })
}

fn key_len(object: &SharedObject, cipher: &Cipher) -> Option<usize> {
    type KeyLenFn = unsafe extern "C" fn(CipherPtr) -> c_int;
    // SAFETY: the type is that of evp.h; the first is the name since OpenSSL 3. BoringSSL's
    // `unsigned` differs from `int` in no length of a key.
    let key_len = unsafe {
        object
            .function::<KeyLenFn>("EVP_CIPHER_get_key_length")
            .or_else(|| object.function::<KeyLenFn>("EVP_CIPHER_key_length"))
    }?;
    // SAFETY: a cipher of this library.
    usize::try_from(unsafe { key_len(cipher.as_ptr()) }).ok()
}
