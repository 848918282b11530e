use crate::testing::{EVP, XXHASH};
use base::model::{Algorithm, Direction, Passes};
use contract::OpenError;

fn composites() -> impl Iterator<Item = &'static Algorithm> {
    Algorithm::all().iter().filter(|a| a.composite.is_some())
}

#[test]
fn every_composite_that_a_library_has_the_parts_of_passes_every_check() {
    let library = EVP.library().unwrap();
    let mut passed = 0;
    for algorithm in composites() {
        match verify::verify(&*library, algorithm, &verify::Scope::BRIEF, &mut |_| {}) {
            Ok(_) => passed += 1,
            Err(verify::Finding::Unsupported(why)) => {
                assert!(algorithm.name.ends_with("xts+xxh3-onepass"), "{algorithm}: {why}");
                assert!(why.contains("takes a data unit of XTS whole"), "{why}");
            }
            Err(finding) => panic!("{algorithm}: {finding}"),
        }
    }
    assert_eq!(passed, composites().count() - 2);
}

#[test]
fn a_composite_says_the_calls_of_both_parts_in_their_order() {
    let library = EVP.library().unwrap();
    let calls = |name: &str, direction| {
        let algorithm = Algorithm::find(name).unwrap();
        let key: Vec<u8> = (1..=algorithm.key_len as u8).collect();
        library.open(algorithm, direction, &key).unwrap().calls().unwrap()
    };
    let (encrypt, decrypt) = (Direction::Encrypt, Direction::Decrypt);
    assert!(calls("aes-256-ctr+xxh3", encrypt).starts_with("XXH3 (twox-hash); then EVP_"));
    assert!(calls("aes-256-ctr+xxh3", decrypt).ends_with("then XXH3 (twox-hash)"));
    let both = calls("aes-256-cbc+hmac-sha256", encrypt);
    assert!(both.starts_with("EVP_EncryptInit_ex, ") && both.contains("; then EVP_MAC_"), "{both}");
    assert!(calls("aes-128-ctr+xxh3-onepass", encrypt).contains("pieces of 4096 bytes"));
}

#[test]
fn a_library_without_a_part_says_which_one() {
    let library = XXHASH.library().unwrap();
    for algorithm in composites().filter(|a| a.composite.unwrap().passes == Passes::Two) {
        let key = vec![1; algorithm.key_len];
        match library.open(algorithm, Direction::Encrypt, &key) {
            Err(OpenError::Unsupported(why)) => {
                assert!(why.starts_with(algorithm.composite.unwrap().cipher), "{why}");
            }
            other => panic!("{algorithm}: {:?}", other.err()),
        }
    }
}
