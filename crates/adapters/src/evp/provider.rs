//! One provider of OpenSSL 3 in the place of the default one (`openssl:fips`): loading it, and having all fetches take
//! their methods from it alone.

use super::{Errors, Param, TextFn};
use contract::functions;
use contract::loader::{LoadError, SharedObject};
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_ulong, c_void};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::ptr;

functions! {
    /// Of provider.h, evp.h, conf.h and bio.h, from OpenSSL 3 on.
    struct Functions {
        OSSL_PROVIDER_load: fn(*mut c_void, *const c_char) -> *mut c_void;
        OSSL_PROVIDER_get_params: fn(*mut c_void, *mut Param) -> c_int;
        OSSL_PROVIDER_set_default_search_path: fn(*mut c_void, *const c_char) -> c_int;
        EVP_set_default_properties: fn(*mut c_void, *const c_char) -> c_int;
        NCONF_new: fn(*mut c_void) -> *mut c_void;
        NCONF_free: fn(*mut c_void);
        NCONF_load_bio: fn(*mut c_void, *mut c_void, *mut c_long) -> c_int;
        CONF_modules_load: fn(*mut c_void, *const c_char, c_ulong) -> c_int;
        BIO_new_mem_buf: fn(*const c_void, c_int) -> *mut c_void;
        BIO_free: fn(*mut c_void) -> c_int;
    }
}

const FIPS: &str = "fips";

/// The FIPS provider's settings, which `openssl fipsinstall` writes: a checksum of its file, without which it does not start
/// unless its build has one within.
const FIPS_SETTINGS: &str = "fipsmodule.cnf";

/// Has every fetch from now on take what this provider has, and nothing else; a line for the record.
pub(super) fn choose(
    object: &SharedObject,
    errors: Errors,
    name: &str,
) -> Result<String, LoadError> {
    let unusable = |why: String| object.unusable(format!("provider '{name}': {why}"));
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if name.is_empty() || !name.bytes().all(is_plain) {
        return Err(unusable("a provider's name has letters, digits, '-' and '_'".to_owned()));
    }
    let f = Functions::of(object).map_err(|_| unusable("only OpenSSL 3 on has them".to_owned()))?;
    let text = |text: &str| CString::new(text).expect("no NUL in what was looked at");
    let beside = object.path().with_file_name("ossl-modules");
    if let Some(path) = beside.to_str().filter(|_| beside.is_dir()) {
        // SAFETY: the default context and a NUL-terminated path, which it copies.
        unsafe { (f.OSSL_PROVIDER_set_default_search_path)(ptr::null_mut(), text(path).as_ptr()) };
    }
    if name == FIPS {
        // Before it is loaded: without its settings it fails for good.
        if let Some(settings) = settings_of(object, &beside).iter().find_map(|file| read(file)) {
            configure(&f, &settings);
        }
    }
    // SAFETY: the default context and a NUL-terminated name; it stays loaded as long as the library.
    let provider = unsafe { (f.OSSL_PROVIDER_load)(ptr::null_mut(), text(name).as_ptr()) };
    let why = errors.take();
    if provider.is_null() {
        return Err(unusable(format!("it cannot be loaded: {why}")));
    }
    let only = format!("provider={name}");
    // SAFETY: the default context and a NUL-terminated text, which it copies.
    if unsafe { (f.EVP_set_default_properties)(ptr::null_mut(), text(&only).as_ptr()) } != 1 {
        return Err(unusable(format!("it cannot be made the only one: {}", errors.take())));
    }
    let told = [c"name", c"version"].map(|key| told(&f, provider, key));
    let told: Vec<String> = told.into_iter().flatten().collect();
    Ok(format!("provider: {name} alone ({})", told.join(" ")))
}

/// Where the settings may be: with the module, or where this build's configuration is.
fn settings_of(object: &SharedObject, beside: &Path) -> Vec<PathBuf> {
    /// `OPENSSL_INFO_CONFIG_DIR`
    const CONFIG_DIR: c_int = 1001;
    // SAFETY: the type is that of crypto.h.
    let info = unsafe { object.function::<TextFn>("OPENSSL_info") };
    // SAFETY: any number is answered, by a static NUL-terminated string or null.
    let directory = info.and_then(|info| unsafe { contract::text(info(CONFIG_DIR)) });
    let directories = [Some(beside.to_owned()), directory.map(PathBuf::from)];
    directories.into_iter().flatten().map(|d| d.join(FIPS_SETTINGS)).collect()
}

/// A file of some hundred bytes; a library may have named any.
fn read(file: &Path) -> Option<String> {
    const MOST_BYTES: u64 = 1 << 16;
    let mut text = String::new();
    File::open(file).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Gives the FIPS provider its settings, which stand in section `fips_sect`, as an openssl.cnf that includes them does
/// (config(5), fips_config(5)).
fn configure(f: &Functions, settings: &str) {
    let text = format!(
        "openssl_conf = top\n[top]\nproviders = all\n[all]\n{FIPS} = fips_sect\n{settings}\n"
    );
    // SAFETY: each object is used as conf.h and bio.h say and freed once; the text outlives the BIO, and modules copy what
    // they keep.
    unsafe {
        let bio = (f.BIO_new_mem_buf)(text.as_ptr().cast(), text.len() as c_int);
        let conf = (f.NCONF_new)(ptr::null_mut());
        let mut line = 0;
        if (f.NCONF_load_bio)(conf, bio, &raw mut line) > 0 {
            // Where it fails, so does loading, which has the reason.
            (f.CONF_modules_load)(conf, ptr::null(), 0);
        }
        (f.NCONF_free)(conf);
        (f.BIO_free)(bio);
    }
}

/// What the provider says of itself (provider-base(7)).
fn told(f: &Functions, provider: *mut c_void, key: &'static CStr) -> Option<String> {
    let mut text: *const c_char = ptr::null();
    let mut params = [Param::asked_for_text(key, &raw mut text), Param::END];
    // SAFETY: a loaded provider; the list ends with `END`, and what is written is a pointer to a text of the provider's.
    unsafe {
        ((f.OSSL_PROVIDER_get_params)(provider, params.as_mut_ptr()) == 1)
            .then(|| contract::text(text))?
    }
}
