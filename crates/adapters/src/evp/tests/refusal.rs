//! Objects that look like a library of the family and lack something. They are made with the C
//! compiler that links this test as well.

use super::*;
use std::process::Command;

/// The functions that every library of the family has; none is called here.
const REQUIRED: &str = "
    void EVP_CIPHER_CTX_new(void) {}
    void EVP_CIPHER_CTX_free(void) {}
    void EVP_CIPHER_CTX_ctrl(void) {}
    void EVP_CIPHER_CTX_set_padding(void) {}
    void EVP_EncryptInit_ex(void) {}
    void EVP_EncryptUpdate(void) {}
    void EVP_EncryptFinal_ex(void) {}
    void EVP_DecryptInit_ex(void) {}
    void EVP_DecryptUpdate(void) {}
    void EVP_DecryptFinal_ex(void) {}
";

/// Loads an object of these functions.
fn object(functions: &str) -> Result<Box<dyn Library>, LoadError> {
    let dir = tempfile::tempdir().unwrap();
    let (source, object) = (dir.path().join("fake.c"), dir.path().join("fake.so"));
    std::fs::write(&source, functions).unwrap();
    let mut compiler = Command::new("cc");
    let status = compiler.args(["-shared", "-fPIC", "-o"]).arg(&object).arg(&source).status();
    assert!(status.expect("cc is installed").success());
    crate::load(&object, None)
}

fn refusal(functions: &str) -> String {
    match object(functions) {
        Ok(library) => panic!("attached: {:?}", library.identity()),
        Err(e) => e.to_string(),
    }
}

fn unsupported(library: &dyn Library, name: &str) -> String {
    let algorithm = Algorithm::find(name).unwrap();
    match library.open(algorithm, Direction::Encrypt, &bytes(algorithm.key_len, 0)) {
        Err(OpenError::Unsupported(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_library_without_one_of_the_functions_is_refused_by_that_functions_name() {
    let why = refusal("void EVP_CIPHER_CTX_new(void) {}");
    assert!(why.ends_with("it does not export `EVP_CIPHER_CTX_free`"), "{why}");
}

#[test]
fn a_library_that_gives_no_version_is_refused() {
    let why = refusal(REQUIRED);
    assert!(why.ends_with("it exports neither `OpenSSL_version` nor `SSLeay_version`"), "{why}");
    let text = |text| format!("{REQUIRED} const char *OpenSSL_version(int t) {{ return {text}; }}");
    let why = refusal(&text("0"));
    assert!(why.ends_with("it gives no version string"), "{why}");
    let why = refusal(&text("\"Homemade\""));
    assert!(why.ends_with("'Homemade' gives no version number"), "{why}");
}

#[test]
fn a_library_that_fails_to_initialise_is_refused() {
    let why = refusal(&format!("{REQUIRED} int OPENSSL_init_crypto(void) {{ return 0; }}"));
    assert!(why.ends_with("OPENSSL_init_crypto failed"), "{why}");
}

#[test]
fn a_library_without_releases_goes_by_the_interface_that_it_follows() {
    let library = object(&format!(
        "{REQUIRED} const char *OpenSSL_version(int t) {{ return t ? \"compiler: n/a\" : \"BoringSSL\"; }}
         unsigned long OpenSSL_version_num(void) {{ return 0x1010107fUL; }}"
    ))
    .unwrap();
    let identity = library.identity();
    assert_eq!((&*identity.name, &*identity.version), ("boringssl", "1.1.1-compatible"));
    assert_eq!(identity.build, ["BoringSSL", "interface: OpenSSL 1.1.1"]);
    assert!(unsupported(&*library, "aes-128-xts").ends_with("has no aes-128-xts"));
}

#[test]
fn an_aead_that_keeps_its_tag_behind_the_ciphertext_is_unsupported_with_that_reason() {
    let library = object(&format!(
        "{REQUIRED} const char *SSLeay_version(int t) {{ return \"LibreSSL 3.1.0\"; }}
         void EVP_aead_chacha20_poly1305(void) {{}} void EVP_AEAD_CTX_seal(void) {{}}"
    ))
    .unwrap();
    let why = unsupported(&*library, "chacha20-poly1305");
    assert!(why.starts_with("LibreSSL 3.1.0 has chacha20-poly1305 only as"), "{why}");
}

/// The library would read the key by the cipher's length, past the end of ours.
#[test]
fn a_cipher_with_another_length_of_key_is_not_used() {
    let library = object(&format!(
        "{REQUIRED} const char *OpenSSL_version(int t) {{ return \"OpenSSL 9.9.9\"; }}
         const void *EVP_get_cipherbyname(const char *n) {{ return n; }}
         int EVP_CIPHER_key_length(const void *c) {{ return 99; }}"
    ))
    .unwrap();
    assert_eq!(unsupported(&*library, "aes-128-gcm"), "OpenSSL 9.9.9 has no aes-128-gcm");
}
