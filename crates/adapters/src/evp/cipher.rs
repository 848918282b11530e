//! The library's `EVP_CIPHER` for an algorithm.

use super::api::{Api, CipherPtr};
use super::method::{self, Method, Ways};
use base::model::{Algorithm, Mode, Primitive};
use contract::loader::SharedObject;
use std::ffi::{CString, c_int};

const WAYS: Ways =
    Ways { fetch: "EVP_CIPHER_fetch", free: "EVP_CIPHER_free", by_name: "EVP_get_cipherbyname" };

/// The library's cipher for an algorithm; `None` when it has none with that length of key.
pub(super) fn find(object: &SharedObject, api: &Api, algorithm: &Algorithm) -> Option<Method> {
    named(object, api, algorithm.name, &getter(algorithm), algorithm.key_len)
}

/// The cipher that GMAC is made with: GCM of the same key.
pub(super) fn find_gcm(object: &SharedObject, api: &Api, gmac: &Algorithm) -> Option<Method> {
    let name = gcm_of(gmac);
    named(object, api, &name, &format!("EVP_{}", name.replace('-', "_")), gmac.key_len)
}

/// `aes-128-gcm` for `aes-128-gmac`.
pub(super) fn gcm_of(gmac: &Algorithm) -> String {
    gmac.name.replace("-gmac", "-gcm")
}

fn named(object: &SharedObject, api: &Api, name: &str, getter: &str, key: usize) -> Option<Method> {
    let name = CString::new(name).expect("names of algorithms have no NUL");
    let cipher = method::find(object, &WAYS, &name, getter);
    // A failed search leaves its reason in the queue.
    api.errors.clear();
    // The key is read by the cipher's length: one that disagrees would be read past its end.
    cipher.filter(|c| {
        let lens = ["EVP_CIPHER_get_key_length", "EVP_CIPHER_key_length"];
        number(object, lens, c.as_ptr()).is_none_or(|len| len == key)
    })
}

/// `EVP_aes_128_cfb` and its like are macros for the segments of a whole block.
fn getter(algorithm: &Algorithm) -> String {
    let segment = match (algorithm.mode, algorithm.cipher) {
        (Mode::Cfb, Primitive::TripleDes) => "64",
        (Mode::Cfb, _) => "128",
        _ => "",
    };
    format!("EVP_{}{segment}", algorithm.name.replace('-', "_"))
}

/// Bytes of the cipher's IV, if the library says so.
pub(super) fn iv_len(object: &SharedObject, cipher: &Method) -> Option<usize> {
    number(object, ["EVP_CIPHER_get_iv_length", "EVP_CIPHER_iv_length"], cipher.as_ptr())
}

/// A length that a cipher has; the first name is the one since OpenSSL 3.
fn number(object: &SharedObject, symbols: [&str; 2], cipher: CipherPtr) -> Option<usize> {
    type NumberFn = unsafe extern "C" fn(CipherPtr) -> c_int;
    // SAFETY: the type is that of evp.h. BoringSSL's `unsigned` differs from `int` in no length.
    let number = symbols.iter().find_map(|s| unsafe { object.function::<NumberFn>(s) })?;
    // SAFETY: a cipher of this library.
    usize::try_from(unsafe { number(cipher) }).ok()
}
