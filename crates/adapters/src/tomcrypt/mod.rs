//! LibTomCrypt through its public C functions. `README.md` beside this file says which, and why.

mod aead;
mod api;
mod ccm;
mod chacha;
mod digest;
mod eax;
mod gcm;
mod gmac;
mod modes;
mod ocb;
#[cfg(test)]
mod tests;
mod xts;

use api::{Api, Index};
use contract::{Identity, Library, OpenError, Session, raw};
use loader::{LoadError, SharedObject};
use model::{Algorithm, Direction, Kind, Mode, Primitive};
use std::ffi::{CStr, c_char};

/// Attaches a LibTomCrypt.
///
/// # Errors
/// [`LoadError::Unusable`] when it does not say who it is, or takes no cipher.
pub(crate) fn attach(
    object: SharedObject,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    let (version, build) = settings(&object)?;
    let identity = Identity { name: name.unwrap_or("libtomcrypt").to_owned(), version, build };
    let api = Api::load(object)?;
    Ok(Box::new(Tomcrypt { identity, api }))
}

/// Version and build facts out of `crypt_build_settings`: "LibTomCrypt 1.18.2 (www.libtom.net)",
/// then lines of `name: value` and lists of what is built in, which `list` shows anyway.
fn settings(object: &SharedObject) -> Result<(String, Vec<String>), LoadError> {
    // SAFETY: tomcrypt_misc.h declares `extern const char *crypt_build_settings`; what is asked
    // for here is the address of that variable.
    let text = unsafe { object.required::<*const *const c_char>("crypt_build_settings")? };
    // SAFETY: a variable of the library's that points to a static NUL-terminated string.
    let text = unsafe { CStr::from_ptr(*text) }.to_string_lossy().into_owned();
    let version = text.split_whitespace().nth(1).unwrap_or_default();
    if !text.starts_with("LibTomCrypt ") || version.is_empty() {
        return Err(object.unusable("crypt_build_settings names no version"));
    }
    let facts = text.lines().skip(2).map(str::trim_end);
    let is_fact = |line: &&str| {
        !line.starts_with(' ') && line.split_once(": ").is_some_and(|(_, value)| !value.is_empty())
    };
    // The last paragraph is one list of options over several lines of two spaces.
    let options = text
        .split("Various others:")
        .nth(1)
        .map(|list| format!("options: {}", list.split_whitespace().collect::<Vec<_>>().join(" ")));
    let build = facts.filter(is_fact).map(str::to_owned).chain(options).collect();
    Ok((version.to_owned(), build))
}

struct Tomcrypt {
    identity: Identity,
    api: Api,
}

impl Library for Tomcrypt {
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

impl Tomcrypt {
    fn table(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<raw::Session, OpenError> {
        let api = &self.api;
        if algorithm.kind == Kind::Digest {
            return digest::open(api, algorithm);
        }
        match (algorithm.cipher, algorithm.mode) {
            (_, Mode::Hmac) => digest::open_hmac(api, algorithm, key),
            (Primitive::Poly1305, _) => digest::open_poly1305(api, key),
            (Primitive::ChaCha20, Mode::Stream) => chacha::open(api, key),
            (Primitive::ChaCha20, Mode::Poly1305) => chacha::open_aead(api, direction, key),
            (cipher, mode) => {
                let index = api.cipher(cipher).ok_or_else(|| no_cipher(algorithm))?;
                self.block(algorithm, mode, index, direction, key)
            }
        }
    }

    /// A mode of a block cipher that is registered under `index`.
    fn block(
        &self,
        algorithm: &'static Algorithm,
        mode: Mode,
        index: Index,
        direction: Direction,
        key: &[u8],
    ) -> Result<raw::Session, OpenError> {
        let api = &self.api;
        match mode {
            Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Ofb | Mode::Ctr => {
                modes::open(api, algorithm, index, direction, key)
            }
            Mode::Xts => xts::open(api, index, direction, key),
            Mode::Gcm => gcm::open(api, index, direction, key),
            Mode::Eax => eax::open(api, index, direction, key),
            Mode::Ocb => ocb::open(api, index, direction, key),
            Mode::Ccm => ccm::open(api, algorithm.cipher, index, direction, key),
            Mode::Gmac => gmac::open(api, index, key),
            _ => Err(no_cipher(algorithm)),
        }
    }
}

fn no_cipher(algorithm: &Algorithm) -> OpenError {
    OpenError::Unsupported(format!("LibTomCrypt has no {algorithm}"))
}
