//! The built object, loaded the way ciphermark loads it.

use model::Direction;

#[test]
fn everything_that_it_offers_passes_every_check() {
    let library = trial::load(&trial::object(env!("CARGO_PKG_NAME")));
    let offer = trial::whole_offer(&*library);
    assert_eq!(offer.refused, []);
    // Everything but CFB with segments of a bit, AEGIS, checksums and what is no algorithm.
    assert_eq!(offer.names.len(), trial::primitives().count() - 22);
}

/// Most of the reference stands on the same crates; XTS and the streams of OCB are its own code.
#[test]
fn messages_streams_pieces_and_forgeries_are_the_references() {
    let library = trial::load(&trial::object(env!("CARGO_PKG_NAME")));
    for algorithm in trial::offered(&*library) {
        if !algorithm.encrypts() {
            let parts = trial::open(&*library, algorithm.name, Direction::Digest).has_parts();
            parts.then(|| trial::pieces_agree(&*library, algorithm));
            continue;
        }
        trial::messages_agree(&*library, algorithm, |_| true);
        if algorithm.rejects() {
            trial::forgeries_are_rejected(&*library, algorithm);
        } else {
            trial::streams_agree(&*library, algorithm);
        }
    }
}
