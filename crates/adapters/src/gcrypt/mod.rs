//! libgcrypt through its public C functions. `README.md` beside this file says which, and why.

mod api;
mod session;
#[cfg(test)]
mod tests;

use crate::loader::{LoadError, SharedObject};
use api::{Api, Error, ctl, err, error_code};
use contract::{Identity, Library, OpenError, Session};
use model::{Algorithm, Direction, Mode, Primitive};
use session::{Cipher, State};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Attaches a libgcrypt of any version.
///
/// # Errors
/// [`LoadError::Unusable`] when a function is missing, or the library does not initialise.
pub(crate) fn attach(
    object: SharedObject,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    let api = Api::load(&object)?;
    let version = initialise(&object, &api)?;
    let name = name.unwrap_or("libgcrypt").to_owned();
    let identity = Identity { name, version, build: build(&object) };
    Ok(Box::new(Gcrypt { identity, api }))
}

/// Does what the manual asks for before anything else is called ("Initializing the library"), and
/// returns the version. Without secure memory: cipher handles do not ask for it, and locked pages
/// would need a limit raised.
fn initialise(object: &SharedObject, api: &Api) -> Result<String, LoadError> {
    type VersionFn = unsafe extern "C" fn(*const c_char) -> *const c_char;
    type ControlFn = unsafe extern "C" fn(c_int, ...) -> Error;
    // SAFETY: the types are those of gcrypt.h.
    let (check_version, control) = unsafe {
        (
            object.required::<VersionFn>("gcry_check_version")?,
            object.required::<ControlFn>("gcry_control")?,
        )
    };
    // SAFETY: a null pointer asks for the version only; it must be the first call.
    let version = unsafe { check_version(ptr::null()) };
    if version.is_null() {
        return Err(object.unusable("gcry_check_version gives no version"));
    }
    // SAFETY: not null, so a static NUL-terminated string.
    let version = unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned();
    // SAFETY: this command takes no argument.
    if unsafe { control(ctl::INITIALIZATION_FINISHED_P) } != 0 {
        return Ok(version);
    }
    for command in [ctl::DISABLE_SECMEM, ctl::INITIALIZATION_FINISHED] {
        // SAFETY: both commands take one int, which they ignore.
        let error = unsafe { control(command, 0 as c_int) };
        if error != 0 {
            let words = api.words(error);
            return Err(object.unusable(format!("gcry_control({command}): {words}")));
        }
    }
    Ok(version)
}

/// How the library says it was built and which CPU features it uses (`hwflist`), where it can say
/// so: gcry_get_config came with 1.8.
fn build(object: &SharedObject) -> Vec<String> {
    type ConfigFn = unsafe extern "C" fn(c_int, *const c_char) -> *mut c_char;
    type FreeFn = unsafe extern "C" fn(*mut c_void);
    // SAFETY: the types are those of gcrypt.h.
    let functions = unsafe {
        (object.function::<ConfigFn>("gcry_get_config"), object.function::<FreeFn>("gcry_free"))
    };
    let (Some(get_config), Some(free)) = functions else { return Vec::new() };
    // SAFETY: mode 0 and a null name ask for everything.
    let text = unsafe { get_config(0, ptr::null()) };
    if text.is_null() {
        return Vec::new();
    }
    // SAFETY: not null, so a NUL-terminated string that is ours until it is freed below.
    let lines =
        unsafe { CStr::from_ptr(text) }.to_string_lossy().lines().map(str::to_owned).collect();
    // SAFETY: allocated by the library for us, freed once, not used afterwards.
    unsafe { free(text.cast()) };
    lines
}

struct Gcrypt {
    identity: Identity,
    api: Api,
}

impl Library for Gcrypt {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        let (cipher, mode) = numbers(algorithm).ok_or_else(|| {
            OpenError::Unsupported(format!("libgcrypt has no {algorithm} among its ciphers"))
        })?;
        if !Direction::of(algorithm.kind).contains(&direction) {
            return Err(OpenError::Unsupported(format!(
                "{algorithm} has no direction {direction}"
            )));
        }
        let open = || self.cipher((cipher, mode), algorithm, key);
        let state = State::new(&self.api, [open()?, open()?], algorithm, direction);
        // SAFETY: the functions keep the rules of the interface for the mode that was opened, and
        // the state is theirs alone.
        Ok(unsafe { Session::new(state.into_session(algorithm.mode), algorithm, direction) })
    }
}

impl Gcrypt {
    /// A handle with its key schedule done.
    fn cipher(
        &self,
        (cipher, mode): (c_int, c_int),
        algorithm: &Algorithm,
        key: &[u8],
    ) -> Result<Cipher, OpenError> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is writable; flags 0: ordinary memory.
        let error = unsafe { (self.api.open)(&raw mut handle, cipher, mode, 0) };
        if error != 0 {
            return Err(self.open_error(error));
        }
        let cipher = Cipher { handle, close: self.api.close };
        // SAFETY: `key` covers its length.
        let error = unsafe { (self.api.setkey)(handle, key.as_ptr().cast(), key.len()) };
        self.done("gcry_cipher_setkey", error)?;
        if algorithm.mode == Mode::Ocb {
            self.set_tag_len(handle, algorithm.tag_len)?;
        }
        Ok(cipher)
    }

    /// OCB's tag length goes into its first block (RFC 7253 §4.2), so it is said before the nonce.
    fn set_tag_len(&self, handle: api::Handle, tag_len: usize) -> Result<(), OpenError> {
        let mut len = c_int::try_from(tag_len).expect("tags are a few bytes");
        // SAFETY: the command takes an int.
        let error = unsafe {
            (self.api.ctl)(handle, ctl::SET_TAGLEN, (&raw mut len).cast(), size_of::<c_int>())
        };
        self.done("gcry_cipher_ctl(GCRYCTL_SET_TAGLEN)", error)
    }

    fn done(&self, call: &str, error: Error) -> Result<(), OpenError> {
        match error {
            0 => Ok(()),
            _ => Err(OpenError::Failed(format!("{call}: {}", self.api.words(error)))),
        }
    }

    /// Tells what this build or version does not have from what went wrong.
    fn open_error(&self, error: Error) -> OpenError {
        let text = format!("gcry_cipher_open: {}", self.api.words(error));
        match error_code(error) {
            err::CIPHER_ALGO | err::INV_CIPHER_MODE | err::NOT_SUPPORTED | err::NOT_IMPLEMENTED => {
                OpenError::Unsupported(text)
            }
            _ => OpenError::Failed(text),
        }
    }
}

/// The numbers of cipher and mode in `enum gcry_cipher_algos` and `enum gcry_cipher_modes`.
fn numbers(algorithm: &Algorithm) -> Option<(c_int, c_int)> {
    let mode = match algorithm.mode {
        Mode::Ecb => 1,
        Mode::Cfb => 2,
        Mode::Cbc => 3,
        Mode::Ofb => 5,
        Mode::Ctr => 6,
        Mode::Ccm => 8,
        Mode::Gcm => 9,
        Mode::Poly1305 => 10,
        Mode::Ocb => 11,
        Mode::Xts => 13,
        _ => return None,
    };
    // An XTS key is two keys of the cipher.
    let key_len = algorithm.key_len / if algorithm.mode == Mode::Xts { 2 } else { 1 };
    let cipher = match (algorithm.cipher, key_len) {
        (Primitive::Aes, 16) => 7,
        (Primitive::Aes, 24) => 8,
        (Primitive::Aes, 32) => 9,
        (Primitive::ChaCha20, 32) => 316,
        _ => return None,
    };
    Some((cipher, mode))
}
