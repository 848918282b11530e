//! libgcrypt through its public C functions. `README.md` beside this file says which, and why.

mod api;
mod cipher;
mod digest;
mod handle;
mod mac;
mod messages;
mod names;
mod numbers;
mod outcome;
#[cfg(test)]
mod tests;

use crate::family::{self, Attached, Family};
use api::{Api, Error, ctl, err, error_code};
use base::model::{Algorithm, Kind, Mode, Primitive};
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, raw};
use handle::Opened;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Attaches a libgcrypt of any version.
///
/// # Errors
/// [`LoadError::Unusable`] when a function is missing, or the library does not initialise.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let api = Api::of(&object)?;
    let version = initialise(&object, &api)?;
    family::library((name, "libgcrypt"), &version, build(&object), api)
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
            object.exported::<VersionFn>("gcry_check_version")?,
            object.exported::<ControlFn>("gcry_control")?,
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

type Request<'a> = family::Request<'a, Api>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Api {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        match request.algorithm.kind {
            Kind::Cipher | Kind::Aead => request.cipher(),
            Kind::Digest => request.digest(),
            Kind::Mac => request.mac(),
            _ => Err(absent(request.algorithm)),
        }
    }
}

/// What no version has.
fn absent(algorithm: &Algorithm) -> OpenError {
    let why = match algorithm.cipher {
        Primitive::Crc32c => ": its CRCs have other polynomials",
        _ => "",
    };
    OpenError::Unsupported(format!("libgcrypt has no {algorithm}{why}"))
}

impl Request<'_> {
    fn cipher(&self) -> Result<raw::Session, OpenError> {
        let algorithm = self.algorithm;
        let numbers = numbers::cipher(algorithm).ok_or_else(|| absent(algorithm))?;
        let handles = [self.keyed(numbers)?, self.keyed(numbers)?];
        let state = cipher::State::new(&self.library.cipher, handles, algorithm, self.direction);
        Ok(state.into_session(algorithm.mode, self.direction))
    }

    fn digest(&self) -> Result<raw::Session, OpenError> {
        let number = numbers::digest(self.algorithm).ok_or_else(|| absent(self.algorithm))?;
        let md = self.library.md.ok_or_else(|| missing("gcry_md_*"))?;
        let state = digest::State::open(md, number, self.algorithm.tag_len)
            .map_err(|error| self.library.open_error("gcry_md_open", error))?;
        Ok(state.into_session())
    }

    fn mac(&self) -> Result<raw::Session, OpenError> {
        let number = numbers::mac(self.algorithm).ok_or_else(|| absent(self.algorithm))?;
        let mac = self.library.mac.ok_or_else(|| missing("gcry_mac_*"))?;
        let state = mac::State::open(mac, number, self.algorithm, self.key)
            .map_err(|failure| self.library.open_error(failure.call, failure.error))?;
        Ok(state.into_session(self.algorithm.mode))
    }

    /// A cipher's handle with its key schedule done.
    fn keyed(&self, (cipher, mode): (c_int, c_int)) -> Result<Opened, OpenError> {
        let (api, mut handle) = (&self.library.cipher, ptr::null_mut());
        // SAFETY: `handle` is writable; flags 0: ordinary memory.
        let error = unsafe { (api.gcry_cipher_open)(&raw mut handle, cipher, mode, 0) };
        if error != 0 {
            return Err(self.library.open_error("gcry_cipher_open", error));
        }
        let opened = Opened { handle, close: api.gcry_cipher_close };
        // SAFETY: the key covers its length.
        let error =
            unsafe { (api.gcry_cipher_setkey)(handle, self.key.as_ptr().cast(), self.key.len()) };
        self.library.done("gcry_cipher_setkey", error)?;
        if self.algorithm.mode == Mode::Ocb {
            self.library.set_tag_len(handle, self.algorithm.tag_len)?;
        }
        Ok(opened)
    }
}

impl Api {
    /// OCB's tag length goes into its first block (RFC 7253 §4.2), so it is said before the nonce.
    fn set_tag_len(&self, handle: api::Handle, tag_len: usize) -> Result<(), OpenError> {
        let mut len = c_int::try_from(tag_len).expect("tags are a few bytes");
        // SAFETY: the command takes an int.
        let error = unsafe {
            (self.cipher.gcry_cipher_ctl)(
                handle,
                ctl::SET_TAGLEN,
                (&raw mut len).cast(),
                size_of::<c_int>(),
            )
        };
        self.done("gcry_cipher_ctl(GCRYCTL_SET_TAGLEN)", error)
    }

    fn done(&self, call: &str, error: Error) -> Result<(), OpenError> {
        match error {
            0 => Ok(()),
            _ => Err(OpenError::Failed(format!("{call}: {}", self.words(error)))),
        }
    }

    /// Tells what this build or version does not have from what went wrong.
    fn open_error(&self, call: &str, error: Error) -> OpenError {
        let text = format!("{call}: {}", self.words(error));
        match error_code(error) {
            err::CIPHER_ALGO
            | err::DIGEST_ALGO
            | err::MAC_ALGO
            | err::INV_CIPHER_MODE
            | err::NOT_SUPPORTED
            | err::NOT_IMPLEMENTED => OpenError::Unsupported(text),
            _ => OpenError::Failed(text),
        }
    }
}

fn missing(functions: &str) -> OpenError {
    OpenError::Unsupported(format!("this libgcrypt does not export {functions}"))
}
