//! The attaching: lengths, pointers, directions, reasons. What comes out is compared in `tests/loaded.rs`.
use super::ciphermark_adapter;
use base::model::{Algorithm, Direction, Kind, Mode, Primitive};
use contract::{Outcome, Session, raw};
use std::ffi::{CStr, CString};

const DIRECTIONS: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

fn adapter() -> &'static raw::Adapter {
    // SAFETY: points to a static.
    unsafe { &*ciphermark_adapter() }
}

fn text(pointer: *const std::ffi::c_char) -> &'static str {
    // SAFETY: the adapter's strings are static and NUL-terminated.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap()
}

/// The session's table, or the code and the reason.
fn open_raw(
    algorithm: &Algorithm,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, (i32, String)> {
    let name = CString::new(algorithm.name).unwrap();
    let request = raw::Request {
        algorithm: name.as_ptr(),
        direction: raw::direction_number(direction),
        key: key.as_ptr(),
        key_len: key.len(),
        nonce_len: algorithm.nonce_len,
        tag_len: algorithm.tag_len,
    };
    let mut session = raw::Session::empty();
    let mut why = [0x7f_u8; 200];
    let open = adapter().open.unwrap();
    // SAFETY: every pointer covers its length.
    let code =
        unsafe { open(&raw const request, &raw mut session, why.as_mut_ptr().cast(), why.len()) };
    match code {
        raw::OK => Ok(session),
        code => Err((code, CStr::from_bytes_until_nul(&why).unwrap().to_str().unwrap().to_owned())),
    }
}

fn open(algorithm: &'static Algorithm, direction: Direction) -> Session {
    let table = open_raw(algorithm, direction, &key(algorithm)).unwrap();
    // SAFETY: the table was opened for this algorithm and direction.
    unsafe { Session::new(table, algorithm, direction) }
}

fn key(algorithm: &Algorithm) -> Vec<u8> {
    (0..algorithm.key_len).map(|i| (i * 3 + 1) as u8).collect()
}

/// What is offered.
fn offered() -> impl Iterator<Item = &'static Algorithm> {
    testing::trial::primitives().filter(|a| is_offered(a))
}

fn ciphers() -> impl Iterator<Item = &'static Algorithm> {
    offered().filter(|a| a.encrypts())
}

/// The family has no crate of the rest.
fn is_offered(algorithm: &Algorithm) -> bool {
    let no_crate = matches!(
        algorithm.cipher,
        Primitive::Aegis128 { .. }
            | Primitive::Aegis256 { .. }
            | Primitive::Blake3
            | Primitive::Xxh3
            | Primitive::Crc32c
            | Primitive::None
    );
    !no_crate && algorithm.mode != Mode::Cfb1
}

fn input(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + len) as u8).collect()
}

fn nonce(algorithm: &Algorithm) -> Vec<u8> {
    (0..algorithm.nonce_len).map(|i| 0xf0_u8.wrapping_add(i as u8)).collect()
}

#[test]
fn authenticated_modes_offer_no_stream() {
    for algorithm in ciphers() {
        let session = open(algorithm, Direction::Encrypt);
        assert_eq!(session.has_stream(), algorithm.kind == Kind::Cipher, "{algorithm}");
        assert!(session.has_message() && session.in_place());
    }
}

#[test]
fn lengths_that_a_mode_does_not_take_fail() {
    for algorithm in ciphers().filter(|a| !a.sizes.allows(1)) {
        for direction in DIRECTIONS {
            let mut session = open(algorithm, direction);
            let bad = 7;
            let nonce = nonce(algorithm);
            let failed = Outcome::Error(raw::FAILED);
            assert_eq!(
                session.message_in_place(&nonce, b"", &mut input(bad), &mut []),
                failed,
                "{algorithm}"
            );
            assert_eq!(session.update_in_place(&mut input(16)), failed, "not started");
            assert_eq!(session.start(&nonce), Outcome::Done);
            assert_eq!(session.update_in_place(&mut input(bad)), failed, "{algorithm}");
        }
    }
}

#[test]
fn a_ccm_message_too_long_for_its_length_field_fails_in_both_directions() {
    let algorithm = Algorithm::find("aes-128-ccm").unwrap();
    let mut buffer = vec![0; 1 << 24];
    for direction in DIRECTIONS {
        let mut session = open(algorithm, direction);
        let outcome = session.message_in_place(&[1; 12], b"", &mut buffer, &mut [0; 16]);
        assert_eq!(outcome, Outcome::Error(raw::FAILED), "{direction}");
    }
}

#[test]
fn null_pointers_to_nothing_are_taken() {
    for algorithm in ciphers().filter(|a| a.sizes.allows(0)) {
        let session = open(algorithm, Direction::Encrypt);
        let nonce = nonce(algorithm);
        let mut tag = vec![0; algorithm.tag_len];
        let message = raw::Message {
            nonce: if nonce.is_empty() { std::ptr::null() } else { nonce.as_ptr() },
            aad: std::ptr::null(),
            aad_len: 0,
            input: std::ptr::null(),
            len: 0,
            output: std::ptr::null_mut(),
            tag: if tag.is_empty() { std::ptr::null_mut() } else { tag.as_mut_ptr() },
        };
        let call = session.raw().message.unwrap();
        // SAFETY: what is null has length zero.
        assert_eq!(unsafe { call(session.raw().state, &raw const message) }, raw::OK);
    }
}

#[test]
fn everything_is_offered_that_the_family_has_a_crate_of_and_the_rest_says_why_not() {
    for algorithm in Algorithm::all() {
        let direction = Direction::of(algorithm.kind)[0];
        match open_raw(algorithm, direction, &key(algorithm)) {
            Ok(table) => {
                assert!(is_offered(algorithm) && algorithm.composite.is_none(), "{algorithm}");
                // SAFETY: the table was opened for this algorithm and direction.
                drop(unsafe { Session::new(table, algorithm, direction) });
            }
            Err((code, why)) => {
                assert!(!is_offered(algorithm) || algorithm.composite.is_some(), "{algorithm}");
                assert_eq!(code, raw::UNSUPPORTED);
                assert!(why.contains("RustCrypto") && why.contains(algorithm.name), "{why}");
            }
        }
    }
}

#[test]
fn wrong_keys_and_directions_are_unsupported_with_a_reason() {
    let unsupported = |name: &str, direction, key: &[u8]| {
        let (code, why) = open_raw(Algorithm::find(name).unwrap(), direction, key).unwrap_err();
        assert_eq!(code, raw::UNSUPPORTED);
        why
    };
    let why = unsupported("aes-256-gcm", Direction::Encrypt, &[0; 31]);
    assert_eq!(why, "aes-256-gcm takes no key of 31 bytes");
    let why = unsupported("aes-256-gcm", Direction::Digest, &[0; 32]);
    assert_eq!(why, "aes-256-gcm has no direction digest");
    assert_eq!(unsupported("sha256", Direction::Copy, &[]), "sha256 has no direction copy");
}

#[test]
fn a_digest_that_was_not_begun_has_no_end() {
    let mut session = open(Algorithm::find("sha256").unwrap(), Direction::Digest);
    let failed = Outcome::Error(raw::FAILED);
    assert_eq!((session.update_digest(b"a"), session.finish(&mut [0; 32])), (failed, failed));
    assert_eq!((session.start(&[]), session.finish(&mut [0; 32])), (Outcome::Done, Outcome::Done));
    assert_eq!(session.finish(&mut [0; 32]), failed);
}

#[test]
fn only_what_the_crates_force_is_flagged() {
    for algorithm in offered() {
        let session = open(algorithm, Direction::of(algorithm.kind)[0]);
        assert_eq!(session.copies(), algorithm.mode == Mode::Xts, "{algorithm}");
        assert!(!session.allocates() && !session.calls().unwrap().is_empty(), "{algorithm}");
    }
}

#[test]
fn the_version_and_every_crates_version_are_told() {
    assert_eq!(text(adapter().library), "rustcrypto");
    assert_eq!(adapter().abi, raw::ABI);
    let build = text(adapter().build);
    for name in
        ["aes-gcm", "ccm", "ocb3", "xts-mode", "polyval", "chacha20", "poly1305", "sm4", "keccak"]
    {
        let line = build.lines().find(|l| l.starts_with(&format!("crate {name} "))).unwrap();
        assert!(line.ends_with(|c: char| c.is_ascii_digit()), "{line}");
    }
    assert!(build.contains(&format!("crate aes {}\n", text(adapter().version))), "{build}");
    for fact in
        ["rustc ", "profile ", "opt-level ", "codegen-units ", "target-cpu ", "target features "]
    {
        assert!(build.lines().any(|l| l.starts_with(fact)), "no {fact}in {build}");
    }
    assert!(!build.contains("ciphermark"), "our own packages are not the library: {build}");
}
