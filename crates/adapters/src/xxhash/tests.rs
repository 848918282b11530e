//! The system's libxxhash, or the one that CIPHERMARK_TEST_XXHASH names, against the checks.

use crate::testing::{findings, offered, streams_end_in_the_messages_tag, system_library};
use contract::{Library, OpenError};
use model::{Algorithm, Direction};

fn library() -> Box<dyn Library> {
    system_library("CIPHERMARK_TEST_XXHASH", "libxxhash.so.0").expect("libxxhash0 is installed")
}

#[test]
fn the_library_says_who_it_is_and_how_it_chooses_its_kernels() {
    let library = library();
    let identity = library.identity();
    assert_eq!(identity.name, "xxhash");
    assert!(identity.version.starts_with("0.8."), "{identity:?}");
    assert!(identity.build[0].starts_with("dispatch: "), "{identity:?}");
}

#[test]
fn its_checksum_passes_every_check() {
    let library = library();
    assert_eq!(offered(&*library), ["xxh3-64"]);
    assert_eq!(findings(&*library), []);
}

#[test]
fn a_stream_in_pieces_ends_with_the_tag_of_the_whole_message() {
    let library = library();
    streams_end_in_the_messages_tag(&*library, Algorithm::find("xxh3-64").unwrap());
}

#[test]
fn ciphers_are_unsupported() {
    let aes = Algorithm::find("aes-128-ctr").unwrap();
    let error = library().open(aes, Direction::Encrypt, &[0; 16]).unwrap_err();
    assert!(matches!(error, OpenError::Unsupported(why) if why.contains("aes-128-ctr")));
}
