//! What clients negotiate with a server, where no price is asked for.

use crate::document::ClientOutcome;
use crate::negotiate::negotiate;
use crate::offer::ServerOffer;
use crate::spec::{Spec, SpecError};
use crate::words::Profile;
use tls::{Exchange, Version};

/// What each class of clients negotiates with the server of a specification, whose stack lacks some key
/// exchanges.
///
/// # Errors
/// The first thing that is wrong with the specification.
pub fn outcomes(spec: &Spec, lacking: &[Exchange]) -> Result<Vec<ClientOutcome>, SpecError> {
    spec.check()?;
    let mut server = ServerOffer::of(&spec.server)?;
    server.groups.retain(|group| !lacking.iter().any(|x| x.group() == Some(*group)));
    let of = |(client, offer): (crate::ClientShare, crate::offer::ClientOffer)| ClientOutcome {
        agreement: negotiate(&server, &offer),
        resumed_share: client.resumed_share.unwrap_or(spec.resumption.share),
        share: client.share,
        class: client.class,
    };
    Ok(spec.client_offers()?.into_iter().map(of).collect())
}

/// What a profile sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileSettings {
    /// Versions.
    pub versions: &'static [Version],
    /// Cipher string of TLS 1.2; empty where it has none.
    pub ciphers: &'static str,
    /// Groups by colons.
    pub groups: &'static str,
    /// Whether the server's order of suites counts.
    pub own_order: bool,
}

/// What a profile sets, as a server's configuration has it.
#[must_use]
pub fn settings_of(profile: Profile) -> ProfileSettings {
    let recommended = profile.recommended();
    ProfileSettings {
        versions: recommended.versions,
        ciphers: recommended.ciphers,
        groups: recommended.groups,
        own_order: recommended.own_order,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::negotiate::Agreement;

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
        assert_eq!(settings_of(Profile::Modern).versions, [Version::Tls13]);
    }
}
