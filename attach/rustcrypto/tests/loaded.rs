//! The built object, loaded the way ciphermark loads it.
use base::model::Direction;

#[test]
#[ignore = "long: every check of everything that it offers"]
fn everything_that_it_offers_passes_every_check() {
    let library = testing::trial::load(&testing::trial::object(env!("CARGO_PKG_NAME")));
    let offer = testing::trial::whole_offer(&*library);
    assert_eq!(offer.refused, []);
    // Everything but CFB with segments of a bit, HCTR2, Adiantum, AEGIS, BLAKE3, SEED, KMAC, SipHash, NaCl's secretbox,
    // RC4, key wrap, two of EAX, checksums, S2K, random bytes and what is no algorithm.
    assert_eq!(offer.names.len(), testing::trial::primitives().count() - 55);
}

/// Most of the reference stands on the same crates; XTS and the streams of OCB are its own code.
#[test]
fn streams_are_the_references_and_leave_nothing_to_the_next_message() {
    let library = testing::trial::load(&testing::trial::object(env!("CARGO_PKG_NAME")));
    for algorithm in
        testing::trial::offered(&*library).into_iter().filter(|a| a.encrypts() && !a.rejects())
    {
        // Magma's type cannot be copied, as a stream would.
        if testing::trial::open(&*library, algorithm.name, Direction::Encrypt).has_stream() {
            testing::trial::streams_agree(&*library, algorithm);
        }
    }
}
