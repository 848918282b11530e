//! What a server can be set to.

use crate::advise::tls_server::question::Question;
use crate::load::{ClientOutcome, Picking, Profile, Settings, Spec, SpecError, outcomes};
use record::tls::{Certificate, Exchange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stack with a profile and certificates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The stack, by its label.
    pub stack: String,
    /// Mozilla's profile.
    pub profile: Profile,
    /// Certificates: one, or one of ECDSA beside one of RSA.
    pub certificates: Vec<Certificate>,
}

/// Profiles, the narrowest first. That of 2016 is history.
const PROFILES: [Profile; 3] = [Profile::Modern, Profile::Intermediate, Profile::Old];
/// Groups without ML-KEM.
pub(crate) const CLASSIC: &str = "X25519:P-256:P-384";

impl Candidate {
    /// Everything that the certificates allow, in a stack.
    pub(crate) fn all(stack: &str, question: &Question) -> Vec<Self> {
        let has = &question.certificates;
        let alone = has.iter().map(|certificate| vec![*certificate]);
        let ecdsa = has.iter().copied().find(|c| *c == Certificate::P256);
        let rsa = has.iter().copied().filter(|c| c.is_rsa()).min();
        let both = ecdsa.zip(rsa).map(|(ecdsa, rsa)| vec![ecdsa, rsa]);
        let certificates: Vec<Vec<Certificate>> = alone.chain(both).collect();
        let of = |profile: &Profile| {
            let profile = *profile;
            certificates.clone().into_iter().map(move |certificates| Self {
                stack: stack.to_owned(),
                profile,
                certificates,
            })
        };
        PROFILES.iter().flat_map(of).collect()
    }

    /// How narrow its profile is; 0 is the narrowest.
    pub(crate) fn width(&self) -> usize {
        PROFILES.iter().position(|p| *p == self.profile).unwrap_or(PROFILES.len())
    }

    /// The specification of a server that is set so.
    pub(crate) fn spec(&self, question: &Question) -> Spec {
        let mut spec = Spec { clients: question.clients.clone(), ..Spec::default() };
        spec.resumption.share = question.resumed_share;
        spec.server = Settings {
            profile: Some(self.profile),
            certificates: self.certificates.clone(),
            groups: (!question.post_quantum).then(|| CLASSIC.to_owned()),
            ..Settings::default()
        };
        spec
    }

    /// What each class of clients negotiates with it, in its stack, which lacks some key exchanges.
    pub(crate) fn outcomes(
        &self,
        question: &Question,
        lacking: &[Exchange],
    ) -> Result<Vec<ClientOutcome>, SpecError> {
        outcomes(&self.spec(question), Picking::of_label(&self.stack), lacking)
    }
}

impl std::fmt::Display for Candidate {
    /// `intermediate, p256 + rsa-2048, openssl@3.0.22`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let certificates: Vec<&str> = self.certificates.iter().map(|c| c.name()).collect();
        write!(f, "{}, {}, {}", self.profile, certificates.join(" + "), self.stack)
    }
}
