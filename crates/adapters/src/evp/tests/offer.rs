//! The whole offer of the library and what sessions say of themselves; objects that look like a library of
//! the family and lack something, made with the C compiler that links this test as well.

use crate::evp::tests::*;
use contract::loader::SharedObject;
use std::process::Command;
use testing::trial::primitives;

#[test]
fn the_systems_openssl_offers_all_that_it_has() {
    if EVP.named().is_some() {
        eprintln!("skipped: another library was named");
        return;
    }
    let library = library();
    let version = openssl_version(&*library).expect("the system's library is OpenSSL");
    if version > (3, 0) && version < (3, 5) {
        eprintln!("skipped: nobody has looked what OpenSSL {version:?} has");
        return;
    }
    use base::model::{Mode, Primitive};
    let module = EVP.path().unwrap().with_file_name("ossl-modules").join("legacy.so");
    let legacy = module.exists();
    let missing = |a: &Algorithm| match (a.cipher, a.mode) {
        _ if a.kind == base::model::Kind::Random => a.name != "random",
        (_, Mode::Bcrypt | Mode::S2k) => true,
        (_, Mode::Hkdf) => version < (3, 2),
        (cipher, Mode::MemoryHard) => cipher != Primitive::Scrypt && version < (3, 2),
        (Primitive::Adiantum { .. }, _) => true,
        (Primitive::Aes, mode) => {
            matches!(mode, Mode::Eax | Mode::Hctr2) || mode == Mode::GcmSiv && version < (3, 5)
        }
        (Primitive::Camellia, mode) => {
            matches!(mode, Mode::Xts | Mode::Gcm | Mode::Ccm | Mode::Ocb | Mode::Eax | Mode::Siv)
        }
        (Primitive::Aria, mode) => {
            matches!(mode, Mode::Xts | Mode::Ocb | Mode::Eax | Mode::Siv)
        }
        (
            Primitive::Sm4,
            Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Ofb | Mode::Ctr | Mode::Cmac,
        ) => false,
        (Primitive::Sm4, Mode::Gcm | Mode::Ccm | Mode::Xts) => version < (3, 5),
        (Primitive::Sm4, _) => true,
        (Primitive::TripleDes, mode) => mode == Mode::Ctr,
        (
            Primitive::Blowfish
            | Primitive::Cast5
            | Primitive::Seed
            | Primitive::Rc2
            | Primitive::Des,
            mode,
        ) => !legacy || mode == Mode::Ctr,
        (Primitive::Md4 | Primitive::Whirlpool | Primitive::Rc4, _) => !legacy,
        (
            Primitive::Serpent
            | Primitive::Twofish
            | Primitive::Kuznyechik
            | Primitive::Magma
            | Primitive::ChaCha8
            | Primitive::ChaCha12
            | Primitive::XChaCha20
            | Primitive::Salsa20
            | Primitive::XSalsa20
            | Primitive::Ascon
            | Primitive::AsconHash256
            | Primitive::TurboShake128
            | Primitive::TurboShake256
            | Primitive::Kt128
            | Primitive::Streebog256
            | Primitive::Streebog512
            | Primitive::Blake3
            | Primitive::Ghash
            | Primitive::Polyval
            | Primitive::None,
            _,
        ) => true,
        (Primitive::Blake2b256, _) => version < (3, 5),
        (Primitive::Keccak256, _) => version < (3, 2),
        (Primitive::Aegis128 { .. } | Primitive::Aegis256 { .. }, _) => true,
        _ => a.is_checksum(),
    };
    // Distributions leave IDEA out, or not.
    for algorithm in primitives().filter(|a| a.cipher != Primitive::Idea) {
        for &direction in Direction::of(algorithm.kind) {
            let session = open(&*library, algorithm, direction, &bytes(algorithm.key_len, 1));
            assert_eq!(session.is_none(), missing(algorithm), "{algorithm} {direction}");
        }
    }
}

#[test]
fn each_session_names_functions_that_the_library_exports() {
    let library = library();
    let object = SharedObject::open(&EVP.path().unwrap()).unwrap();
    for algorithm in primitives() {
        for &direction in Direction::of(algorithm.kind) {
            let key = bytes(algorithm.key_len, 3);
            let Some(session) = open(&*library, algorithm, direction, &key) else { continue };
            let calls = session.calls().expect("every session says what it calls");
            for call in calls.split(", ").filter(|call| *call != "memcpy") {
                assert!(object.has(call), "{algorithm} {direction}: {call}");
            }
            assert_eq!(session.copies(), calls.contains("memcpy"), "{algorithm} {direction}");
        }
    }
}

/// BoringSSL's and AWS-LC's headers ask for `EVP_AEAD` instead; streams stay where they were.
#[test]
fn gcm_is_sealed_by_evp_aead_where_its_tag_can_stand_apart() {
    let library = library();
    let object = SharedObject::open(&EVP.path().unwrap()).unwrap();
    let algorithm = Algorithm::find("aes-256-gcm").unwrap();
    let session = open(&*library, algorithm, Direction::Encrypt, &bytes(32, 3)).unwrap();
    let aead = object.has("EVP_AEAD_CTX_seal_scatter");
    assert_eq!(session.calls().unwrap() == "EVP_AEAD_CTX_seal_scatter", aead);
    assert!(session.has_stream());
}

#[test]
fn a_session_that_allocates_for_each_message_says_so() {
    let library = library();
    let kmac = Algorithm::find("kmac128").unwrap();
    if let Some(session) = open(&*library, kmac, Direction::Digest, &bytes(kmac.key_len, 3)) {
        assert!(session.allocates());
    }
    for name in ["aes-256-siv", "aes-256-gcm-siv"] {
        let algorithm = Algorithm::find(name).unwrap();
        let key = bytes(algorithm.key_len, 3);
        if let Some(session) = open(&*library, algorithm, Direction::Encrypt, &key) {
            let by_cipher = session.calls().unwrap().contains("EVP_EncryptUpdate");
            assert_eq!(session.allocates(), by_cipher, "{name}");
        }
    }
    let algorithm = Algorithm::find("sha256").unwrap();
    let session = open(&*library, algorithm, Direction::Digest, &[]).unwrap();
    assert_eq!(session.allocates(), openssl_version(&*library) == Some((3, 0)));
}

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

/// The library would write the digest by its own length, past the end of the tag.
#[test]
fn a_digest_of_another_length_is_not_used() {
    let library = object(&format!(
        "{REQUIRED} const char *OpenSSL_version(int t) {{ return \"OpenSSL 9.9.9\"; }}
         const void *EVP_get_digestbyname(const char *n) {{ return n; }}
         int EVP_MD_size(const void *d) {{ return 99; }}"
    ))
    .unwrap();
    for name in ["sha256", "hmac-sha256"] {
        let algorithm = Algorithm::find(name).unwrap();
        let key = bytes(algorithm.key_len, 0);
        let error = library.open(algorithm, Direction::Digest, &key).unwrap_err();
        assert_eq!(error, OpenError::Unsupported(format!("OpenSSL 9.9.9 has no {name}")));
    }
}

/// Whose ChaCha20 takes a nonce of 8 bytes under the name of another one.
#[test]
fn a_chacha20_of_libressls_is_not_taken_for_boringssls() {
    let functions = format!(
        "{REQUIRED} const char *OpenSSL_version(int t) {{ return \"LibreSSL 2.2.0\"; }}
         void CRYPTO_chacha_20(void) {{}}"
    );
    let chacha20 = Algorithm::find("chacha20").unwrap();
    let open = |functions: &str| {
        object(functions).unwrap().open(chacha20, Direction::Encrypt, &bytes(32, 0)).map(drop)
    };
    assert_eq!(open(&functions), Ok(()));
    let why = "LibreSSL 2.2.0 has no chacha20".to_owned();
    let libressl = format!("{functions} void ChaCha_set_key(void) {{}}");
    assert_eq!(open(&libressl), Err(OpenError::Unsupported(why)));
}
