//! What a library offers: each algorithm and direction, opened once.

use crate::protocol::Offer;
use base::model::{Algorithm, Direction, Model, Tier};
use contract::{Library, OpenError};
use record::Rekeying;

/// All offers. Opened is each algorithm that is not among `without`, after it was announced.
pub(super) fn offers(
    library: &dyn Library,
    tier: Tier,
    without: &[String],
    announce: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> std::io::Result<Vec<Offer>> {
    let mut offers = Vec::new();
    for algorithm in Algorithm::all() {
        if without.iter().any(|name| name == algorithm.name) {
            let crashed = |direction| Offer { failed: true, ..nothing(algorithm, direction) };
            offers.extend(Direction::of(algorithm.kind).iter().copied().map(crashed));
            continue;
        }
        announce(algorithm.name)?;
        for direction in Direction::of(algorithm.kind) {
            probe::fault::opening(algorithm.name, *direction);
            let mut offer = offer(library, algorithm, *direction);
            probe::fault::left();
            super::power::hold_offer(&mut offer);
            if let Some(why) = super::tier::beyond(tier, algorithm) {
                (offer.models, offer.reason) = (Vec::new(), Some(why));
            }
            offers.push(offer);
        }
    }
    Ok(offers)
}

fn offer(library: &dyn Library, algorithm: &'static Algorithm, direction: Direction) -> Offer {
    // Any key will do to ask, but XTS refuses two equal halves (FIPS 140-3 IG C.I).
    let key: Vec<u8> = (1..=algorithm.key_len as u8).collect();
    let mut offer = nothing(algorithm, direction);
    match library.open(algorithm, direction, &key) {
        Ok(session) => {
            if session.has_stream() && session.in_place() {
                offer.models.push(Model::Stream);
            }
            if session.has_message() {
                offer.models.push(Model::Message);
                let in_flight = session.in_flight();
                offer.in_flight = (in_flight > 1).then_some(in_flight);
                if algorithm.key_len > 0 && in_flight == 1 && !session.is_remote() {
                    offer.models.push(Model::Rekey);
                    let reused = session.has_rekey();
                    offer.rekeying =
                        Some(if reused { Rekeying::Reused } else { Rekeying::Reopened });
                    offer.rekey_functions = session.rekey_calls();
                }
                if algorithm.rejects() && direction == Direction::Decrypt {
                    offer.models.push(Model::Forgery);
                }
            }
            offer.in_place = session.in_place();
            (offer.copies, offer.allocates) = (session.copies(), session.allocates());
            offer.functions = session.calls();
        }
        Err(OpenError::Unsupported(why)) => offer.reason = Some(why),
        Err(OpenError::Failed(why)) => (offer.reason, offer.failed) = (Some(why), true),
    }
    offer
}

fn nothing(algorithm: &Algorithm, direction: Direction) -> Offer {
    Offer {
        algorithm: algorithm.name.to_owned(),
        direction,
        models: Vec::new(),
        reason: None,
        failed: false,
        functions: None,
        copies: false,
        allocates: false,
        rekeying: None,
        rekey_functions: None,
        in_place: false,
        in_flight: None,
    }
}
