//! What there is to test of the libraries besides `testing`.

mod offer;
mod refusal;

use super::*;
use crate::testing::EVP;
use base::model::{Algorithm, Direction};
use contract::{Library, Outcome, Session};
use testing::trial::{Sealed, bytes};
use verify::reference::Reference;

fn library() -> Box<dyn Library> {
    EVP.library().unwrap()
}

/// A session; `None` when the library does not have the algorithm. What the system's library has
/// is what `offer` says.
fn open(
    library: &dyn Library,
    algorithm: &'static Algorithm,
    direction: Direction,
    key: &[u8],
) -> Option<Session> {
    match library.open(algorithm, direction, key) {
        Ok(session) => Some(session),
        Err(OpenError::Unsupported(why)) => {
            let named = why.contains(algorithm.name);
            assert!(named, "the reason names the algorithm: {why}");
            None
        }
        Err(e) => panic!("{algorithm} {direction}: {e:?}"),
    }
}

/// Major and minor of an OpenSSL; `None` for other libraries.
fn openssl_version(library: &dyn Library) -> Option<(u32, u32)> {
    let identity = library.identity();
    let mut numbers = identity.version.split('.').map_while(|n| n.parse().ok());
    let version = (numbers.next()?, numbers.next()?);
    (identity.name == "openssl").then_some(version)
}

#[test]
fn a_given_name_overrides_the_librarys_own() {
    let library = crate::load(&EVP.path().unwrap(), Some("mine")).unwrap();
    assert_eq!(library.identity().name, "mine");
}

/// A message of that length is what the reference makes of it.
fn passes(session: &mut Session, key: &[u8], len: usize) {
    let s = Sealed::new(&Reference::new(session.algorithm(), key), len);
    let right = match session.direction() {
        Direction::Decrypt => s.decrypt_with(session) == (Outcome::Done, s.plain.clone()),
        _ => s.encrypt_with(session) == (Outcome::Done, s.cipher.clone(), s.tag.clone()),
    };
    assert!(right, "{} {}", session.algorithm(), session.direction());
}

/// NIST SP 800-38C A.1: 12-byte nonces leave three bytes for the length.
#[test]
fn a_ccm_message_of_16_mib_fails_and_is_not_called_a_forgery() {
    let library = library();
    let algorithm = Algorithm::find("aes-128-ccm").unwrap();
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let Some(mut session) = open(&*library, algorithm, direction, &bytes(16, 1)) else {
            return;
        };
        let mut buffer = vec![0; 1 << 24];
        let outcome = session.message_in_place(&[1; 12], &[], &mut buffer, &mut [0; 16]);
        assert_eq!(outcome, Outcome::Error(raw::FAILED), "{direction}");
        passes(&mut session, &bytes(16, 1), 100);
    }
}

#[test]
fn lengths_that_a_mode_does_not_have_fail_and_the_next_message_works() {
    let library = library();
    for (name, len) in [("aes-128-cbc", 17), ("aes-128-ecb", 15), ("aes-128-xts", 15)] {
        let algorithm = Algorithm::find(name).unwrap();
        let key = bytes(algorithm.key_len, 50);
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let Some(mut session) = open(&*library, algorithm, direction, &key) else { continue };
            let nonce = bytes(algorithm.nonce_len, 0);
            let outcome = session.message_in_place(&nonce, &[], &mut bytes(len, 0), &mut []);
            assert_eq!(outcome, Outcome::Error(raw::FAILED), "{name} {direction}");
            passes(&mut session, &key, 64);
        }
    }
}

#[test]
fn what_is_no_cipher_is_unsupported_with_the_librarys_name_and_the_algorithms() {
    let library = library();
    for name in ["xxh3-64", "memcpy", "null"] {
        let algorithm = Algorithm::find(name).unwrap();
        let direction = Direction::of(algorithm.kind)[0];
        let Err(OpenError::Unsupported(why)) = library.open(algorithm, direction, &[]) else {
            panic!("{name} is offered");
        };
        assert!(why.ends_with(&format!(" has no {name}")), "{why}");
        assert!(why.contains(&library.identity().version), "{why}");
    }
}

#[test]
fn a_key_of_another_length_and_a_direction_that_is_none_are_refused() {
    let library = library();
    let gcm = Algorithm::find("aes-128-gcm").unwrap();
    let short = library.open(gcm, Direction::Encrypt, &[0; 15]);
    assert!(matches!(short, Err(OpenError::Failed(why)) if why.contains("16 bytes")));
    let copied = library.open(gcm, Direction::Copy, &[0; 16]);
    assert!(matches!(copied, Err(OpenError::Unsupported(_))));
}

/// Where the test below says that it is to be the child.
const CHILD: &str = "CIPHERMARK_TEST_EVP_CHILD";
/// How it ends.
const OPENED: i32 = 40;
const NOT_OPENED: i32 = 41;

/// A configuration under which no cipher can be fetched; in processes of its own, because the library reads one once in
/// a process's life, or never.
#[test]
fn a_configuration_is_read_where_one_is_named() {
    let gcm = Algorithm::find("aes-128-gcm").unwrap();
    if std::env::var_os(CHILD).is_some() {
        let opened = library().open(gcm, Direction::Encrypt, &[0; 16]);
        std::process::exit(if opened.is_ok() { OPENED } else { NOT_OPENED });
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let text = "openssl_conf = top\n[top]\nalg_section = algorithms\n[algorithms]\n\
                default_properties = provider=nobody\n";
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    for (named, code) in [("".as_ref(), OPENED), (file.path(), NOT_OPENED)] {
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "evp::tests::a_configuration_is_read_where_one_is_named"])
            .env(CHILD, "1")
            .env("OPENSSL_CONF", named)
            .status();
        assert_eq!(status.unwrap().code(), Some(code), "{}", named.display());
    }
}

#[test]
fn a_ccm_message_is_no_stream() {
    let library = library();
    let algorithm = Algorithm::find("aes-128-ccm").unwrap();
    if let Some(session) = open(&*library, algorithm, Direction::Encrypt, &bytes(16, 1)) {
        assert!(session.has_message() && !session.has_stream());
    }
}

/// With the remainder held back, the next update would write past its output.
#[test]
fn an_ocb_stream_takes_whole_blocks_only() {
    let library = library();
    let algorithm = Algorithm::find("aes-128-ocb").unwrap();
    let Some(mut session) = open(&*library, algorithm, Direction::Encrypt, &bytes(16, 1)) else {
        return;
    };
    assert_eq!(session.start(&bytes(12, 1)), Outcome::Done);
    assert_eq!(session.update_in_place(&mut [0; 17]), Outcome::Error(raw::FAILED));
    assert_eq!(session.update_in_place(&mut [0; 32]), Outcome::Done);
}
