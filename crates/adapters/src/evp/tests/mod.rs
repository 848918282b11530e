//! The system's libcrypto, or the one that CIPHERMARK_TEST_LIBCRYPTO names, against published
//! vectors and the reference implementations.

mod offer;
mod parts;
mod refusal;
mod rejection;
mod streams;
mod vectors;

use super::*;
use contract::raw;
use contract::{Message, Outcome};
use std::path::PathBuf;
use verify::reference::Reference;

/// Every length around blocks and the remainders of kernels that take 4, 8 or 16 blocks at once.
const LENS: &[usize] = &[
    0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65, 80, 95, 96, 111, 112, 127, 128, 129, 143,
    144, 160, 176, 191, 192, 193, 207, 208, 224, 240, 255, 256, 257, 272, 288, 304, 336, 368, 384,
    511, 512, 513, 767, 768, 769, 1023, 1024, 1025, 1040, 1536, 4095, 4096, 4097, 16384, 16400,
];

/// What stands behind a buffer and must still stand there afterwards.
const CANARY: [u8; 64] = [0xc5; 64];

fn named_library() -> Option<PathBuf> {
    std::env::var_os("CIPHERMARK_TEST_LIBCRYPTO").map(PathBuf::from)
}

fn path() -> PathBuf {
    let places =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    named_library().unwrap_or_else(|| {
        let found = places.iter().map(|p| PathBuf::from(p).join("libcrypto.so.3"));
        found.into_iter().find(|p| p.exists()).expect("libssl3 (libcrypto.so.3) is installed")
    })
}

fn library() -> Box<dyn Library> {
    crate::load(&path(), None).unwrap()
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

/// Ciphers that there is something to hold against.
fn ciphers() -> impl Iterator<Item = &'static Algorithm> {
    Algorithm::all().iter().filter(|a| a.encrypts() && a.composite.is_none())
}

/// Major and minor of an OpenSSL; `None` for other libraries.
fn openssl_version(library: &dyn Library) -> Option<(u32, u32)> {
    let identity = library.identity();
    let mut numbers = identity.version.split('.').map_while(|n| n.parse().ok());
    let version = (numbers.next()?, numbers.next()?);
    (identity.name == "openssl").then_some(version)
}

/// Whether the library takes messages of that length: README.md, "Disagreements and traps", has
/// why OpenSSL before 3.5 makes nothing of an empty one in SIV.
fn takes(library: &dyn Library, algorithm: &Algorithm, len: usize) -> bool {
    let no_empty = algorithm.mode == model::Mode::Siv
        && openssl_version(library).is_some_and(|version| version < (3, 5));
    algorithm.sizes.allows(len) && !(no_empty && len == 0)
}

/// Bytes that differ from place to place and from `salt` to `salt`.
fn bytes(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(151).wrapping_add(salt) ^ (i >> 8) as u8).collect()
}

/// One message both ways round, as the reference has it.
struct Sealed {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plain: Vec<u8>,
    cipher: Vec<u8>,
    tag: Vec<u8>,
}

fn sealed(reference: &Reference, len: usize) -> Sealed {
    let algorithm = reference.algorithm();
    let aad_len = if algorithm.tag_len == 0 { 0 } else { [16, 0, 1, 37][len % 4] };
    let (nonce, aad) = (bytes(algorithm.nonce_len, len as u8), bytes(aad_len, 5));
    let (plain, mut cipher, mut tag) = (bytes(len, 9), vec![0; len], vec![0; algorithm.tag_len]);
    reference.encrypt(&nonce, &aad, &plain, &mut cipher, &mut tag);
    Sealed { nonce, aad, plain, cipher, tag }
}

impl Sealed {
    /// Input and right output of a direction.
    fn ends(&self, direction: Direction) -> (&[u8], &[u8]) {
        match direction {
            Direction::Decrypt => (&self.cipher, &self.plain),
            _ => (&self.plain, &self.cipher),
        }
    }

    /// Decryption gets the tag, encryption has to make it.
    fn tag_for(&self, direction: Direction) -> Vec<u8> {
        if direction == Direction::Decrypt { self.tag.clone() } else { vec![0; self.tag.len()] }
    }

    /// Runs the message apart and in place; checks results, tag and what stands behind the buffers.
    fn check(&self, session: &mut Session) {
        let direction = session.direction();
        let at = format!("{} {direction} {} B", session.algorithm(), self.plain.len());
        let (input, right) = self.ends(direction);
        let (mut output, mut tag) = (vec![0; input.len()], self.tag_for(direction));
        output.extend(CANARY);
        let outcome = session.message(Message {
            nonce: &self.nonce,
            aad: &self.aad,
            input,
            output: &mut output[..input.len()],
            tag: &mut tag,
        });
        assert_eq!(outcome, Outcome::Done, "{at}");
        assert_eq!(&output[..input.len()], right, "{at}");
        assert_eq!(output[input.len()..], CANARY, "{at}: wrote past the output");
        assert_eq!(tag, self.tag, "{at}: tag");

        let (mut buffer, mut tag) = (input.to_vec(), self.tag_for(direction));
        buffer.extend(CANARY);
        let (message, canary) = buffer.split_at_mut(input.len());
        let outcome = session.message_in_place(&self.nonce, &self.aad, message, &mut tag);
        assert_eq!(outcome, Outcome::Done, "{at} in place");
        assert_eq!((&*message, &*canary), (right, &CANARY[..]), "{at} in place");
        assert_eq!(tag, self.tag, "{at} in place: tag");
    }
}

#[test]
fn the_library_says_who_it_is_and_how_it_was_built() {
    let library = library();
    let identity = library.identity();
    eprintln!("{identity:#?}");
    assert!(identity.version.starts_with(|c: char| c.is_ascii_digit()), "{identity:?}");
    if named_library().is_none() {
        assert_eq!(identity.name, "openssl");
        assert!(identity.version.starts_with("3."), "{identity:?}");
        for start in ["OpenSSL 3.", "compiler: ", "platform: ", "CPUINFO: "] {
            assert!(identity.build.iter().any(|l| l.starts_with(start)), "{start}: {identity:?}");
        }
    }
}

#[test]
fn a_given_name_overrides_the_librarys_own() {
    let library = crate::load(&path(), Some("mine")).unwrap();
    assert_eq!(library.identity().name, "mine");
}

#[test]
fn every_message_is_what_the_reference_makes_of_it() {
    let library = library();
    for algorithm in ciphers() {
        let key = bytes(algorithm.key_len, 77);
        let reference = Reference::new(algorithm, &key);
        let mut offered = Vec::new();
        for &direction in Direction::of(algorithm.kind) {
            let Some(mut session) = open(&*library, algorithm, direction, &key) else { continue };
            for &len in LENS.iter().filter(|len| takes(&*library, algorithm, **len)) {
                sealed(&reference, len).check(&mut session);
            }
            offered.push(format!(
                "{direction}: message{}",
                if session.has_stream() { ", stream" } else { "" }
            ));
        }
        eprintln!("{algorithm:20} {}", offered.join("; "));
    }
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
        sealed(&Reference::new(algorithm, &bytes(16, 1)), 100).check(&mut session);
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
            sealed(&Reference::new(algorithm, &key), 64).check(&mut session);
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

/// A configuration under which no cipher can be fetched; a process of its own, because the
/// library reads it once in a process's life or, as here, never.
#[test]
fn the_machines_configuration_file_is_not_read() {
    let gcm = Algorithm::find("aes-128-gcm").unwrap();
    if std::env::var_os(CHILD).is_some() {
        library().open(gcm, Direction::Encrypt, &[0; 16]).unwrap();
        return;
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let text = "openssl_conf = top\n[top]\nalg_section = algorithms\n[algorithms]\n\
                default_properties = provider=nobody\n";
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "evp::tests::the_machines_configuration_file_is_not_read"])
        .env(CHILD, "1")
        .env("OPENSSL_CONF", file.path())
        .status()
        .unwrap();
    assert!(status.success());
}
