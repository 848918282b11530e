//! Which library this is: asked of the library itself, never of its file name.

use contract::loader::{LoadError, SharedObject};
use std::ffi::{CStr, c_char, c_int, c_ulong};
use std::fmt;

type TextFn = unsafe extern "C" fn(c_int) -> *const c_char;

/// Product and version as the library gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Product {
    /// As in `--library`.
    pub(super) name: String,
    /// As it writes itself.
    title: String,
    pub(super) version: String,
}

impl Product {
    /// OpenSSL 3.0 makes a new context of the digest's own for every message, and so HMAC, also
    /// where the context of the caller's stays. From 3.5 on it does not.
    pub(super) fn allocates_digests(&self) -> bool {
        self.title == "OpenSSL" && self.version.starts_with("3.0.")
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.title, self.version)
    }
}

/// Product, version and how it was built, one fact a line.
///
/// # Errors
/// [`LoadError::Unusable`] when it gives no version.
pub(super) fn ask(object: &SharedObject) -> Result<(Product, Vec<String>), LoadError> {
    let texts = Texts::of(object).ok_or_else(|| {
        object.unusable("it exports neither `OpenSSL_version` nor `SSLeay_version`")
    })?;
    let whole = texts.get(0).ok_or_else(|| object.unusable("it gives no version string"))?;
    let mut build = vec![whole.clone()];
    build.extend(texts.facts());
    build.extend(fips_module(object));
    if let Some(product) = read(&whole) {
        return match contradiction(&product, interface_number(object)) {
            Some(why) => Err(object.unusable(why)),
            None => Ok((product, build)),
        };
    }
    // BoringSSL has no releases: all it has is the interface that it follows.
    let number = interface_number(object)
        .ok_or_else(|| object.unusable(format!("'{whole}' gives no version number")))?;
    build.push(format!("interface: OpenSSL {}", dotted(number)));
    let title = title(&whole).to_owned();
    let version = format!("{}-compatible", dotted(number));
    Ok((Product { name: title.to_lowercase(), title, version }, build))
}

/// The texts of `OpenSSL_version`, or of the function of that purpose before OpenSSL 1.1.0.
struct Texts {
    text: TextFn,
    /// Compiler, build date, platform, and from OpenSSL 3 on what of the CPU is used.
    kinds: &'static [c_int],
}

impl Texts {
    fn of(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of crypto.h.
        let (new, old) = unsafe {
            (
                object.function::<TextFn>("OpenSSL_version"),
                object.function::<TextFn>("SSLeay_version"),
            )
        };
        let new = new.map(|text| Self { text, kinds: &[1, 2, 3, 9] });
        new.or_else(|| old.map(|text| Self { text, kinds: &[2, 3, 4] }))
    }

    fn get(&self, kind: c_int) -> Option<String> {
        // SAFETY: any number is answered.
        let text = unsafe { (self.text)(kind) };
        if text.is_null() {
            return None;
        }
        // SAFETY: not null, so a static NUL-terminated string.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().replace('\n', " ");
        (!text.is_empty()).then_some(text)
    }

    /// What the library knows about its build.
    fn facts(&self) -> impl Iterator<Item = String> {
        self.kinds.iter().filter_map(|kind| self.get(*kind)).filter(|text| {
            let text = text.to_lowercase();
            !text.ends_with("n/a") && !text.ends_with("not available")
        })
    }
}

/// Titles that the family is known under, the descendants first: theirs stand beside OpenSSL's in
/// texts such as `OpenSSL 1.1.1 (compatible; AWS-LC 1.30.0)`.
const TITLES: &[&str] = &["AWS-LC", "BoringSSL", "LibreSSL", "OpenSSL"];

fn title(whole: &str) -> &str {
    TITLES
        .iter()
        .find(|title| whole.contains(**title))
        .copied()
        .or_else(|| whole.split_whitespace().next())
        .unwrap_or(whole)
}

/// Title and version of a text such as `OpenSSL 3.0.19 27 Jan 2026`; `None` without a number.
fn read(whole: &str) -> Option<Product> {
    let title = title(whole);
    let (_, rest) = whole.split_once(title)?;
    let version = rest
        .split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?
        .trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    Some(Product {
        name: title.to_lowercase(),
        title: title.to_owned(),
        version: version.to_owned(),
    })
}

/// The validated module that BoringSSL and AWS-LC are built around when they are built for FIPS.
fn fips_module(object: &SharedObject) -> Option<String> {
    type NameFn = unsafe extern "C" fn() -> *const c_char;
    type VersionFn = unsafe extern "C" fn() -> u32;
    // SAFETY: the types are those of crypto.h.
    let (name, version) = unsafe {
        (
            object.function::<NameFn>("FIPS_module_name")?,
            object.function::<VersionFn>("FIPS_version")?,
        )
    };
    // SAFETY: both take nothing; 0 says that this build is not around a module.
    let (name, version) = unsafe { (name(), version()) };
    if name.is_null() || version == 0 {
        return None;
    }
    // SAFETY: not null, so a static NUL-terminated string.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    Some(format!("FIPS module: {name} {version}"))
}

/// `OpenSSL_version_num()`: which OpenSSL's interface this is.
fn interface_number(object: &SharedObject) -> Option<c_ulong> {
    type NumberFn = unsafe extern "C" fn() -> c_ulong;
    // SAFETY: the type is that of crypto.h.
    let number = unsafe { object.function::<NumberFn>("OpenSSL_version_num") }?;
    // SAFETY: takes nothing.
    Some(unsafe { number() })
}

/// What is wrong where an OpenSSL's text and its number name different releases. The number's third part
/// moved in OpenSSL 3, the first two did not. Descendants follow an interface whose number is not theirs.
fn contradiction(product: &Product, number: Option<c_ulong>) -> Option<String> {
    let number = number.filter(|_| product.title == "OpenSSL")?;
    let said = product.version.splitn(3, '.').take(2).collect::<Vec<_>>().join(".");
    let numbered = format!("{}.{}", number >> 28 & 0xf, number >> 20 & 0xff);
    (said != numbered).then(|| {
        format!(
            "it says in words that it is {product}, and its `OpenSSL_version_num` says {numbered}"
        )
    })
}

/// `0xMNNFFPPS` as major, minor, fix.
fn dotted(number: c_ulong) -> String {
    format!("{}.{}.{}", number >> 28 & 0xf, number >> 20 & 0xff, number >> 12 & 0xff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_product_is_read_from_what_it_says() {
        for (whole, name, version) in [
            ("OpenSSL 3.0.19 27 Jan 2026", "openssl", "3.0.19"),
            ("OpenSSL 1.0.2k-fips  26 Jan 2017", "openssl", "1.0.2k-fips"),
            ("OpenSSL 4.1.0-dev ", "openssl", "4.1.0-dev"),
            ("LibreSSL 3.1.0", "libressl", "3.1.0"),
            ("AWS-LC 5.12.0", "aws-lc", "5.12.0"),
            ("AWS-LC FIPS 3.0.0", "aws-lc", "3.0.0"),
            ("OpenSSL 1.1.1 (compatible; AWS-LC 1.30.0)", "aws-lc", "1.30.0"),
            ("Tongsuo 8.4.0 1 Jan 2024", "tongsuo", "8.4.0"),
        ] {
            let product = read(whole).expect(whole);
            assert_eq!((product.name.as_str(), product.version.as_str()), (name, version));
        }
    }

    #[test]
    fn a_text_without_a_number_is_no_version() {
        assert_eq!(read("BoringSSL"), None);
        assert_eq!(read("OpenSSL 1.1.1 (compatible; BoringSSL)"), None);
        assert_eq!(title("OpenSSL 1.1.1 (compatible; BoringSSL)"), "BoringSSL");
    }

    #[test]
    fn an_openssl_whose_number_is_another_release_is_contradicted() {
        let product = |whole| read(whole).unwrap();
        for (whole, number) in [
            ("OpenSSL 3.0.19 27 Jan 2026", 0x3000_0130),
            ("OpenSSL 1.1.1w  11 Sep 2023", 0x1010_117f),
            ("OpenSSL 4.1.0-dev ", 0x4010_0000),
            ("LibreSSL 3.1.0", 0x2000_0000),
            ("AWS-LC 5.12.0", 0x1010_107f),
        ] {
            assert_eq!(contradiction(&product(whole), Some(number)), None, "{whole}");
        }
        let why = contradiction(&product("OpenSSL 9.9.9 1 Apr 2099"), Some(0x1010_117f)).unwrap();
        assert!(why.contains("OpenSSL 9.9.9") && why.ends_with("says 1.1"), "{why}");
        assert_eq!(contradiction(&product("OpenSSL 1.0.2k-fips  26 Jan 2017"), None), None);
    }

    #[test]
    fn the_interface_number_is_read_by_its_fields() {
        assert_eq!(dotted(0x1010_107f), "1.1.1");
        assert_eq!(dotted(0x1000_20ff), "1.0.2");
    }
}
