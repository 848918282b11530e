//! wolfCrypt, the library below wolfSSL, through its public C functions. `README.md` beside this
//! file says which, and why.

mod api;
mod cipher;
mod digest;
mod gmac;
mod keyed;
mod one_shot;
#[cfg(test)]
mod tests;
mod xchacha;
mod xts;

use contract::{Identity, Library, OpenError, Session, raw};
use loader::{LoadError, SharedObject};
use model::{Algorithm, Direction, Kind, Mode, Primitive};
use std::ffi::{CStr, c_char, c_int};

/// Attaches a wolfSSL of any version.
///
/// # Errors
/// [`LoadError::Unusable`] when the library does not initialise.
pub(crate) fn attach(
    object: SharedObject,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    initialise(&object)?;
    // Builds with --enable-cryptonly leave every function out that would tell.
    let version = text(&object, "wolfSSL_lib_version").unwrap_or_else(|| "unknown".to_owned());
    let build = [("configure", "wolfSSL_configure_args"), ("flags", "wolfSSL_global_cflags")];
    let fact = |(name, symbol): (&str, &str)| Some(format!("{name}: {}", text(&object, symbol)?));
    let build = build.into_iter().filter_map(fact).collect();
    let identity = Identity { name: name.unwrap_or("wolfssl").to_owned(), version, build };
    Ok(Box::new(Wolfssl { identity, object }))
}

/// The manual asks for `wolfCrypt_Init` before anything else where wolfSSL_Init is not called.
fn initialise(object: &SharedObject) -> Result<(), LoadError> {
    type InitFn = unsafe extern "C" fn() -> c_int;
    // SAFETY: the type is that of wc_port.h.
    match unsafe { object.function::<InitFn>("wolfCrypt_Init") } {
        // SAFETY: takes nothing; later calls only count.
        Some(init) => match unsafe { init() } {
            0 => Ok(()),
            code => Err(object.unusable(format!("wolfCrypt_Init returned {code}"))),
        },
        None => Ok(()),
    }
}

/// What a function without arguments says, on one line; `None` where it is not there or silent.
fn text(object: &SharedObject, symbol: &str) -> Option<String> {
    type TextFn = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the type is that of ssl.h and logging.h for the symbols that are asked for.
    let text = unsafe { object.function::<TextFn>(symbol)?() };
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so a static NUL-terminated string.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then_some(words)
}

struct Wolfssl {
    identity: Identity,
    object: SharedObject,
}

impl Library for Wolfssl {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        if !Direction::of(algorithm.kind).contains(&direction) {
            let why = format!("{algorithm} has no direction {direction}");
            return Err(OpenError::Unsupported(why));
        }
        let table = self.table(algorithm, direction, key)?;
        // SAFETY: the functions keep the rules of the interface for the mode that was opened, and
        // the state is theirs alone.
        Ok(unsafe { Session::new(table, algorithm, direction) })
    }
}

impl Wolfssl {
    fn table(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<raw::Session, OpenError> {
        let object = &self.object;
        if algorithm.kind == Kind::Digest {
            return digest::open(object, algorithm);
        }
        match (algorithm.cipher, algorithm.mode) {
            (_, Mode::Hmac) => digest::open_hmac(object, algorithm, key),
            (Primitive::Poly1305, _) => digest::open_poly1305(object, key),
            (Primitive::Aes, Mode::Xts) => xts::open(object, direction, key),
            (Primitive::Aes, Mode::Gcm | Mode::Ccm) => {
                keyed::open(object, algorithm.mode, direction, key)
            }
            (Primitive::Aes, Mode::Eax | Mode::Siv | Mode::GcmSiv)
            | (Primitive::ChaCha20, Mode::Poly1305) => {
                one_shot::open(object, algorithm, direction, key)
            }
            (Primitive::XChaCha20, _) => xchacha::open(object, direction, key),
            (Primitive::Aes, Mode::Gmac) => gmac::open(object, key),
            _ => cipher::open(object, algorithm, direction, key),
        }
    }
}
