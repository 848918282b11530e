//! The built object, loaded the way ciphermark loads it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
use base::model::{Algorithm, Direction, Kind};
use contract::{Library, OpenError};

fn library() -> Box<dyn Library> {
    testing::trial::load(&testing::trial::object(env!("CARGO_PKG_NAME")))
}

#[test]
fn the_object_says_what_it_was_built_from() {
    let library = library();
    let identity = library.identity();
    assert_eq!(identity.name, "baselines");
    assert_eq!(identity.version, env!("CARGO_PKG_VERSION"));
    for fact in ["crate xxhash-rust 0.", "crate crc-fast 1.", "rustc 1.", "target features "] {
        testing::trial::fact(identity, fact);
    }
}

#[test]
fn it_offers_the_baselines_and_nothing_else_and_all_pass_every_check() {
    let offer = testing::trial::whole_offer(&*library());
    assert_eq!(offer.refused, []);
    assert_eq!(offer.names, ["random", "xxh3-64", "crc32c", "crc32", "memcpy", "null"]);
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
