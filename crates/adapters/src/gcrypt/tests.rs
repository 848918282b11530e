//! The system's libgcrypt, or the one that CIPHERMARK_TEST_LIBGCRYPT names, against the reference
//! implementations.

use super::*;
use contract::{Message, Outcome};
use std::path::PathBuf;
use std::sync::Mutex;
use verify::reference::Reference;

/// The library initialises itself once per process, which is not something to do twice at a time.
static LOADING: Mutex<()> = Mutex::new(());

fn library() -> Box<dyn Library> {
    let _one_at_a_time = LOADING.lock().unwrap();
    let places =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let path = std::env::var_os("CIPHERMARK_TEST_LIBGCRYPT").map_or_else(
        || {
            let found = places.iter().map(|p| PathBuf::from(p).join("libgcrypt.so.20"));
            found.into_iter().find(|p| p.exists()).expect("libgcrypt20 is installed")
        },
        PathBuf::from,
    );
    crate::load(&path, None).unwrap()
}

fn ciphers() -> impl Iterator<Item = &'static Algorithm> {
    Algorithm::all().iter().filter(|a| matches!(a.kind, model::Kind::Cipher | model::Kind::Aead))
}

/// Bytes that differ from place to place and from `salt` to `salt`.
fn bytes(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(167).wrapping_add(salt) ^ (i >> 8) as u8).collect()
}

/// A message of an algorithm, both ways round.
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

fn decrypted(session: &mut Session, s: &Sealed) -> (Outcome, Vec<u8>) {
    let mut output = vec![0; s.cipher.len()];
    let outcome = session.message(Message {
        nonce: &s.nonce,
        aad: &s.aad,
        input: &s.cipher,
        output: &mut output,
        tag: &mut s.tag.clone(),
    });
    (outcome, output)
}

#[test]
fn the_library_says_who_it_is() {
    let library = library();
    let identity = library.identity();
    assert_eq!(identity.name, "libgcrypt");
    assert!(identity.version.starts_with(|c: char| c.is_ascii_digit()), "{identity:?}");
    assert!(identity.build.iter().any(|line| line.starts_with("hwflist:")), "{identity:?}");
}

#[test]
fn every_message_up_to_257_bytes_is_the_references_both_ways_and_in_place() {
    let library = library();
    for algorithm in ciphers() {
        let key = bytes(algorithm.key_len, 1);
        let reference = Reference::new(algorithm, &key);
        let mut encrypt = library.open(algorithm, Direction::Encrypt, &key).unwrap();
        let mut decrypt = library.open(algorithm, Direction::Decrypt, &key).unwrap();
        for len in (0..=257).chain([4096, 65_536 + 16]).filter(|len| algorithm.sizes.allows(*len)) {
            let s = sealed(&reference, len);
            let (mut output, mut tag) = (vec![0; len], vec![0; s.tag.len()]);
            let outcome = encrypt.message(Message {
                nonce: &s.nonce,
                aad: &s.aad,
                input: &s.plain,
                output: &mut output,
                tag: &mut tag,
            });
            assert_eq!(outcome, Outcome::Done, "{algorithm} {len}");
            assert_eq!((&output, &tag), (&s.cipher, &s.tag), "{algorithm} {len}");
            assert_eq!(
                decrypted(&mut decrypt, &s),
                (Outcome::Done, s.plain.clone()),
                "{algorithm} {len}"
            );

            let (mut buffer, mut tag) = (s.plain.clone(), vec![0; s.tag.len()]);
            let outcome = encrypt.message_in_place(&s.nonce, &s.aad, &mut buffer, &mut tag);
            assert_eq!(
                (outcome, &buffer, &tag),
                (Outcome::Done, &s.cipher, &s.tag),
                "{algorithm} {len}"
            );
            let outcome = decrypt.message_in_place(&s.nonce, &s.aad, &mut buffer, &mut tag);
            assert_eq!((outcome, &buffer), (Outcome::Done, &s.plain), "{algorithm} {len}");
        }
    }
}

#[test]
fn each_forged_part_is_rejected_and_a_good_message_passes_afterwards() {
    let library = library();
    for algorithm in ciphers().filter(|a| a.tag_len > 0) {
        let key = bytes(algorithm.key_len, 2);
        let reference = Reference::new(algorithm, &key);
        let mut session = library.open(algorithm, Direction::Decrypt, &key).unwrap();
        for len in [1, 16, 100, 1000] {
            for part in 0..4 {
                let mut forged = sealed(&reference, len);
                forged.aad = bytes(16, 5);
                reference.encrypt(
                    &forged.nonce,
                    &forged.aad,
                    &forged.plain,
                    &mut forged.cipher,
                    &mut forged.tag,
                );
                assert_eq!(decrypted(&mut session, &forged).0, Outcome::Done, "{algorithm} {len}");
                let parts =
                    [&mut forged.cipher, &mut forged.tag, &mut forged.nonce, &mut forged.aad];
                *parts.into_iter().nth(part).unwrap().last_mut().unwrap() ^= 1;
                let outcome = decrypted(&mut session, &forged).0;
                assert_eq!(outcome, Outcome::Rejected, "{algorithm} {len} part {part}");
            }
            let good = sealed(&reference, len);
            assert_eq!(decrypted(&mut session, &good), (Outcome::Done, good.plain.clone()));
        }
    }
}

#[test]
fn streams_continue_as_the_references_do_from_update_to_update_and_begin_anew() {
    let library = library();
    for algorithm in ciphers() {
        let key = bytes(algorithm.key_len, 3);
        let reference = Reference::new(algorithm, &key);
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            let mut session = library.open(algorithm, direction, &key).unwrap();
            assert_eq!(session.has_stream(), algorithm.mode != Mode::Ccm, "{algorithm}");
            if !session.has_stream() {
                continue;
            }
            for round in 0..2 {
                let nonce = bytes(algorithm.nonce_len, round);
                let mut stream = reference.stream(direction, &nonce, session.next_unit()).unwrap();
                assert_eq!(session.start(&nonce), Outcome::Done);
                let sizes = [16, 1, 15, 64, 17, 256, 100, 33, 1024, 4096, 31, 48, 16];
                for len in sizes.into_iter().filter(|n| reference.stream_sizes().allows(*n)) {
                    let (mut expected, mut buffer) = (bytes(len, 7), bytes(len, 7));
                    stream.update(&mut expected);
                    let outcome = session.update_in_place(&mut buffer);
                    assert_eq!(outcome, Outcome::Done, "{algorithm} {direction} {len}");
                    assert_eq!(buffer, expected, "{algorithm} {direction} {len}");
                }
            }
            // A message under a new nonce does not see what the stream left over.
            if direction == Direction::Decrypt {
                let s = sealed(&reference, 48);
                let result = decrypted(&mut session, &s);
                assert_eq!(result, (Outcome::Done, s.plain.clone()), "{algorithm}");
            }
        }
    }
}

#[test]
fn the_stream_of_a_counter_mode_is_its_message_in_pieces() {
    let library = library();
    let algorithm = Algorithm::find("aes-256-ctr").unwrap();
    let key = bytes(32, 4);
    let mut session = library.open(algorithm, Direction::Encrypt, &key).unwrap();
    // The counter runs over from its last 128-bit value to zero on the way.
    let nonce = [0xff; 16];
    let (mut whole, mut pieces) = (bytes(1000, 8), bytes(1000, 8));
    assert_eq!(session.message_in_place(&nonce, &[], &mut whole, &mut []), Outcome::Done);
    assert_eq!(session.start(&nonce), Outcome::Done);
    for piece in pieces.chunks_mut(77) {
        assert_eq!(session.update_in_place(piece), Outcome::Done);
    }
    assert_eq!(whole, pieces);
}

/// NIST SP 800-38A F.1.1, F.2.1, F.3.13, F.4.1 and F.5.1, first block each: a check that does not
/// hang on the reference implementations.
#[test]
fn the_first_blocks_of_sp_800_38a_come_out() {
    let library = library();
    let key = hex::decode("2b7e151628aed2a6abf7158809cf4f3c").unwrap();
    let plain = hex::decode("6bc1bee22e409f96e93d7e117393172a").unwrap();
    let iv = hex::decode("000102030405060708090a0b0c0d0e0f").unwrap();
    let counter = hex::decode("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").unwrap();
    for (name, nonce, expected) in [
        ("aes-128-ecb", &[][..], "3ad77bb40d7a3660a89ecaf32466ef97"),
        ("aes-128-cbc", &iv, "7649abac8119b246cee98e9b12e9197d"),
        ("aes-128-cfb", &iv, "3b3fd92eb72dad20333449f8e83cfb4a"),
        ("aes-128-ofb", &iv, "3b3fd92eb72dad20333449f8e83cfb4a"),
        ("aes-128-ctr", &counter, "874d6191b620e3261bef6864990db6ce"),
    ] {
        let algorithm = Algorithm::find(name).unwrap();
        let mut session = library.open(algorithm, Direction::Encrypt, &key).unwrap();
        let mut output = plain.clone();
        assert_eq!(session.message_in_place(nonce, &[], &mut output, &mut []), Outcome::Done);
        assert_eq!(hex::encode(output), expected, "{name}");
    }
}

#[test]
fn what_is_no_cipher_is_unsupported_and_a_broken_block_is_the_librarys_own_error() {
    let library = library();
    for name in ["xxh3-64", "memcpy", "null"] {
        let algorithm = Algorithm::find(name).unwrap();
        let error = library.open(algorithm, Direction::of(algorithm.kind)[0], &[]).unwrap_err();
        assert!(matches!(error, OpenError::Unsupported(why) if why.contains(name)));
    }
    let cbc = Algorithm::find("aes-128-cbc").unwrap();
    let mut session = library.open(cbc, Direction::Encrypt, &bytes(16, 1)).unwrap();
    let outcome = session.message_in_place(&bytes(16, 2), &[], &mut [0; 17], &mut []);
    assert!(
        matches!(outcome, Outcome::Error(code) if code.cast_unsigned() >> 24 == 1),
        "{outcome:?}"
    );
}
