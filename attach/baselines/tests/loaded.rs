//! The built object, loaded the way ciphermark loads it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use contract::{Library, Message, OpenError, Outcome, Session};
use model::{Algorithm, Direction, Kind};

fn library() -> Box<dyn Library> {
    trial::load(&trial::object(env!("CARGO_PKG_NAME")))
}

fn session(library: &dyn Library, name: &str) -> Session {
    let algorithm = Algorithm::find(name).unwrap();
    library.open(algorithm, Direction::of(algorithm.kind)[0], &[]).unwrap()
}

#[test]
fn the_object_says_what_it_was_built_from() {
    let library = library();
    let identity = library.identity();
    assert_eq!(identity.name, "baselines");
    assert_eq!(identity.version, env!("CARGO_PKG_VERSION"));
    for fact in ["crate xxhash-rust 0.", "crate crc-fast 1.", "rustc 1.", "target features "] {
        trial::fact(identity, fact);
    }
}

#[test]
fn it_offers_the_baselines_and_nothing_else_and_all_pass_every_check() {
    let offer = trial::whole_offer(&*library());
    assert_eq!(offer.refused, []);
    assert_eq!(offer.names, ["xxh3-64", "crc32c", "memcpy", "null"]);
}

#[test]
fn a_copy_is_a_message_and_never_in_place_and_has_no_other_direction() {
    let library = library();
    let copies = |a: &&Algorithm| matches!(a.kind, Kind::Copy | Kind::Null);
    for algorithm in Algorithm::all().iter().filter(copies) {
        let session = library.open(algorithm, Direction::Copy, &[]).unwrap();
        assert!(session.has_message() && !session.has_stream() && !session.in_place());
        let opened = library.open(algorithm, Direction::Digest, &[]);
        assert!(matches!(opened, Err(OpenError::Unsupported(_))), "{algorithm}");
    }
}

#[test]
fn memcpy_copies_every_byte() {
    let library = library();
    let mut session = session(&*library, "memcpy");
    for len in (0..=257).chain([65_536]) {
        let input: Vec<u8> = (0..len).map(|i| (i * 31 + 1) as u8).collect();
        let mut output = vec![0; len];
        let message =
            Message { nonce: &[], aad: &[], input: &input, output: &mut output, tag: &mut [] };
        assert_eq!(session.message(message), Outcome::Done);
        assert_eq!(output, input);
    }
}

#[test]
fn null_leaves_the_output_alone() {
    let library = library();
    let (nonce, mut output) = ([0; 16], [7; 100]);
    let message =
        Message { nonce: &nonce, aad: &[], input: &[1; 100], output: &mut output, tag: &mut [] };
    assert_eq!(session(&*library, "null").message(message), Outcome::Done);
    assert_eq!(output, [7; 100]);
}

/// From `XSUM_XXH3_testdata` of xxHash 0.8.2 (cli/xsum_sanity_check.c): seed 0, first bytes of its
/// generator. They are big-endian numbers, which is the canonical form.
#[test]
fn xxh3_gives_the_authors_values() {
    const PRIME32: u64 = 2_654_435_761;
    const PRIME64: u64 = 11_400_714_785_074_694_797;
    let input: Vec<u8> = std::iter::successors(Some(PRIME32), |n| Some(n.wrapping_mul(PRIME64)))
        .map(|n| (n >> 56) as u8)
        .take(2243)
        .collect();
    let library = library();
    let mut session = session(&*library, "xxh3-64");
    for (len, expected) in [
        (0, 0x2D06_8005_38D3_94C2_u64),
        (1, 0xC44B_DFF4_074E_ECDB),
        (6, 0x27B5_6A84_CD2D_7325),
        (12, 0xA713_DAF0_DFBB_77E7),
        (24, 0xA3FE_70BF_9D35_10EB),
        (48, 0x397D_A259_ECBA_1F11),
        (80, 0xBCDE_FBBB_2C47_C90A),
        (195, 0xCD94_217E_E362_EC3A),
        (403, 0xCDEB_804D_65C6_DEA4),
        (512, 0x617E_4959_9013_CB6B),
        (2048, 0xDD59_E2C3_A5F0_38E0),
        (2240, 0x6E73_A905_39CF_2948),
    ] {
        let mut tag = [0; 8];
        let message =
            Message { nonce: &[], aad: &[], input: &input[..len], output: &mut [], tag: &mut tag };
        assert_eq!(session.message(message), Outcome::Done);
        assert_eq!(tag, expected.to_be_bytes(), "{len} bytes");
    }
}

/// RFC 3720 appendix B.4, whose bytes are in the order of transmission, and the check value of the
/// catalogues for `123456789`.
#[test]
fn crc32c_gives_the_published_values() {
    let library = library();
    let mut session = session(&*library, "crc32c");
    let counting: Vec<u8> = (0..32).collect();
    for (input, expected) in [
        (&[0; 32][..], 0x8A91_36AA_u32),
        (&[0xff; 32], 0x62A8_AB43),
        (&counting, 0x46DD_794E),
        (b"123456789", 0xE306_9283),
    ] {
        let mut tag = [0; 4];
        let message = Message { nonce: &[], aad: &[], input, output: &mut [], tag: &mut tag };
        assert_eq!(session.message(message), Outcome::Done);
        assert_eq!(tag, expected.to_be_bytes(), "{input:?}");
    }
}
