//! What clients negotiate with a server.

use crate::document::ClientOutcome;
use crate::negotiate::negotiate;
use crate::offer::{ClientOffer, ServerOffer};
use crate::spec::{ClientShare, Spec, SpecError};
use tls::Exchange;

/// What each class of clients negotiates with the server of a specification, whose stack lacks some key
/// exchanges.
///
/// # Errors
/// The first thing that is wrong with the specification.
pub fn outcomes(spec: &Spec, lacking: &[Exchange]) -> Result<Vec<ClientOutcome>, SpecError> {
    spec.check()?;
    let mut server = ServerOffer::of(&spec.server)?;
    server.groups.retain(|group| !lacking.iter().any(|x| x.group() == Some(*group)));
    let offers = spec.client_offers()?.into_iter();
    Ok(offers.map(|(client, offer)| outcome(spec, &server, client, &offer)).collect())
}

/// What one class negotiates.
pub(crate) fn outcome(
    spec: &Spec,
    server: &ServerOffer,
    client: ClientShare,
    offer: &ClientOffer,
) -> ClientOutcome {
    ClientOutcome {
        agreement: negotiate(server, offer),
        resumed_share: client.resumed_share.unwrap_or(spec.resumption.share),
        share: client.share,
        class: client.class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiate::Agreement;
    use crate::words::Profile;

    #[test]
    fn a_stack_without_a_group_negotiates_the_next() {
        let mut spec = Spec::default();
        spec.server.profile = Some(Profile::Intermediate);
        let exchange = |lacking: &[Exchange]| match &outcomes(&spec, lacking).unwrap()[0].agreement
        {
            Agreement::Agreed { case, .. } => case.exchange,
            other => panic!("{other:?}"),
        };
        assert_eq!(exchange(&[]), Exchange::X25519Mlkem768);
        assert_eq!(exchange(&[Exchange::X25519Mlkem768]), Exchange::X25519);
    }
}
