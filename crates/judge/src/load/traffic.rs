//! Who connects how often, and what comes of it.

use crate::load::document::ClientOutcome;
use crate::load::groups::Picking;
use crate::load::handshakes::resumed;
use crate::load::inputs::Prices;
use crate::load::negotiate::{Agreement, negotiate};
use crate::load::offer::{ClientOffer, ServerOffer};
use crate::load::spec::{ClientShare, Spec, SpecError};
use record::tls::{Case, Exchange, Kind};

/// Connections per second, by what becomes of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    /// Handshakes and how many of each a second; the same case may stand here twice.
    pub(crate) handshakes: Vec<(Case, f64)>,
    /// Connections that bring requests.
    pub(crate) served: f64,
    /// Connections that the server refuses at the first message.
    pub(crate) refused: f64,
    /// Those that the client ends after the server's flight, by what would have been negotiated.
    pub(crate) abandoned: Vec<(Case, f64)>,
    /// What each class negotiates.
    pub(crate) outcomes: Vec<ClientOutcome>,
    pub(crate) remarks: Vec<String>,
}

/// Lets each class negotiate.
pub(crate) fn traffic(spec: &Spec, prices: &Prices) -> Result<Traffic, SpecError> {
    let rate = spec.traffic.connections_per_s;
    let mut found = Traffic { refused: spec.traffic.refused_per_s, ..Traffic::default() };
    if !spec.server.tls {
        found.served = rate;
        found.refused = 0.0;
        return Ok(found);
    }
    let server = server(spec, prices, &mut found.remarks)?;
    for (client, offer) in spec.client_offers()? {
        let outcome = outcome(spec, &server, client, &offer);
        let (share, resumed_share) = (outcome.share, outcome.resumed_share);
        let per_s = rate * share;
        match &outcome.agreement {
            Agreement::Agreed { case, .. } => {
                found.served += per_s;
                found.handshakes.push((*case, per_s * (1.0 - resumed_share)));
                let again = resumed(*case, spec.resumption.tls12);
                found.handshakes.push((again, per_s * resumed_share));
                found.abandoned.push((*case, spec.traffic.abandoned_per_s * share));
            }
            Agreement::Refused { .. } => found.refused += per_s,
            Agreement::Unpriced { what } => {
                return Err(SpecError(format!(
                    "class '{}' negotiates {what}, which is not measured: there is no price for it",
                    outcome.class
                )));
            }
        }
        found.outcomes.push(outcome);
    }
    Ok(found)
}

/// What the server offers, as far as its stack has it.
fn server(
    spec: &Spec,
    prices: &Prices,
    remarks: &mut Vec<String>,
) -> Result<ServerOffer, SpecError> {
    let mut server = ServerOffer::of(&spec.server, prices.picking)?;
    let offered = server.groups();
    let offered = |x: &&Exchange| x.group().is_some_and(|g| offered.contains(&g));
    let lacking = Exchange::ALL.iter().filter(offered).filter(|x| prices.handshakes.lacks(**x));
    for exchange in lacking {
        server.drop_groups(|group| Some(group) == exchange.group());
        remarks
            .push(format!("the calibrated stack has no {exchange}: the server does not offer it"));
    }
    if !server.passed_over.is_empty() {
        let words = server.passed_over.join(", ");
        remarks.push(format!("the server's cipher string: passed over, as nothing is to be negotiated with it: {words}"));
    }
    Ok(server)
}

/// What each class of clients negotiates with the server of a specification, whose stack picks groups so and lacks
/// some key exchanges.
///
/// # Errors
/// The first thing that is wrong with the specification.
pub fn outcomes(
    spec: &Spec,
    picking: Picking,
    lacking: &[Exchange],
) -> Result<Vec<ClientOutcome>, SpecError> {
    spec.check()?;
    let mut server = ServerOffer::of(&spec.server, picking)?;
    server.drop_groups(|group| lacking.iter().any(|x| x.group() == Some(group)));
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

/// `TLS 1.3 x25519 rsa-2048 full`, without what makes no difference.
pub(crate) fn named(case: Case) -> String {
    let Case { version, exchange, certificate, kind, .. } = case;
    match kind {
        Kind::ResumedPsk => format!("TLS {version} {exchange} {kind}"),
        kind if kind.is_resumed() => format!("TLS {version} {kind}"),
        kind => format!("TLS {version} {exchange} {certificate} {kind}"),
    }
}

/// The same handshakes once, those that never happen left out.
pub(crate) fn merged(of: &[(Case, f64)]) -> Vec<(Case, f64)> {
    let mut out: Vec<(Case, f64)> = Vec::new();
    for (case, per_s) in of.iter().filter(|(_, per_s)| *per_s > 0.0) {
        match out.iter_mut().find(|(c, _)| c == case) {
            Some((_, sum)) => *sum += per_s,
            None => out.push((*case, *per_s)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::words::Profile;

    #[test]
    fn a_stack_without_a_group_negotiates_the_next() {
        let mut spec = Spec::default();
        spec.server.profile = Some(Profile::Intermediate);
        let exchange = |lacking: &[Exchange]| match &outcomes(&spec, Picking::ByShare, lacking)
            .unwrap()[0]
            .agreement
        {
            Agreement::Agreed { case, .. } => case.exchange,
            other => panic!("{other:?}"),
        };
        assert_eq!(exchange(&[]), Exchange::X25519Mlkem768);
        assert_eq!(exchange(&[Exchange::X25519Mlkem768]), Exchange::X25519);
    }
}
