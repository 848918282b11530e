//! What a TLS server can be set to, and the directives of nginx's `ngx_http_ssl_module` that set it so. nginx
//! does not start with a group that its library lacks: what is not known to be there is left out, and named.

use crate::advise::tls_server::Question;
use crate::advise::tls_server::choice::Evidence;
use crate::load::{ClientOutcome, Picking, Profile, Settings, Spec, SpecError, outcomes};
use record::tls::{Certificate, Exchange, Suite, Version};
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

/// Directives, and what of the profile is not in them.
pub(crate) struct Directives {
    pub directives: Vec<String>,
    pub left_out: Vec<String>,
}

/// Stacks without OpenSSL's interface, with which nginx cannot be built. Of a name that somebody gave, it is not known.
const UNUSABLE: [&str; 9] =
    ["rustls", "gnutls", "mbedtls", "wolfssl", "s2n", "botan", "nss", "go", "java"];

/// Whether nginx can use a stack, by its label.
pub(crate) fn can_use(stack: &str) -> bool {
    !UNUSABLE.iter().any(|name| stack.starts_with(name))
}

pub(crate) fn directives(
    candidate: &Candidate,
    question: &Question,
    evidence: &Evidence<'_>,
) -> Directives {
    if !can_use(&candidate.stack) {
        let why = format!("nginx cannot use {}", candidate.stack);
        return Directives { directives: Vec::new(), left_out: vec![why] };
    }
    let profile = candidate.profile.recommended();
    let versions: Vec<String> = profile.versions.iter().map(|v| format!("TLSv{v}")).collect();
    let mut lines = vec![format!("ssl_protocols {};", versions.join(" "))];
    let mut left_out = Vec::new();
    if !profile.ciphers.is_empty() {
        let ciphers = ciphers(profile.ciphers, &candidate.stack, evidence, &mut left_out);
        lines.push(format!("ssl_ciphers {ciphers};"));
    }
    let wanted = if question.post_quantum { profile.groups } else { CLASSIC };
    let groups = groups(wanted, &candidate.stack, evidence, &mut left_out);
    lines.push(format!("ssl_ecdh_curve {groups};"));
    let order = if profile.own_order { "on" } else { "off" };
    lines.push(format!("ssl_prefer_server_ciphers {order};"));
    let certificates = &candidate.certificates;
    lines.extend(certificates.iter().map(|c| format!("ssl_certificate {c}.chain.pem;")));
    lines.extend(certificates.iter().map(|c| format!("ssl_certificate_key {c}.key.pem;")));
    Directives { directives: lines, left_out }
}

/// The groups that the stack has, by colons; which it has not is told, with the reason.
fn groups(
    wanted: &str,
    stack: &str,
    evidence: &Evidence<'_>,
    left_out: &mut Vec<String>,
) -> String {
    let name =
        Exchange::X25519Mlkem768.group().and_then(record::tls::Group::openssl).unwrap_or_default();
    if evidence.has(stack, Exchange::X25519Mlkem768) || !wanted.split(':').any(|g| g == name) {
        return wanted.to_owned();
    }
    let why = match evidence.lacking(stack).contains(&Exchange::X25519Mlkem768) {
        true => format!("{stack} does not have it"),
        false => format!("no handshake with it was measured in {stack}"),
    };
    left_out.push(format!(
        "{name} is left out of ssl_ecdh_curve: {why}, and nginx does not start with a group that its library lacks"
    ));
    wanted.split(':').filter(|g| *g != name).collect::<Vec<_>>().join(":")
}

/// The same of the suites of TLS 1.2; of a list that would be empty nothing is left out.
fn ciphers(
    wanted: &str,
    stack: &str,
    evidence: &Evidence<'_>,
    left_out: &mut Vec<String>,
) -> String {
    let lacking: Vec<&str> = evidence.lacking_suites(stack).into_iter().flat_map(names).collect();
    let (without, kept): (Vec<&str>, Vec<&str>) =
        wanted.split(':').partition(|name| lacking.contains(name));
    if without.is_empty() || kept.is_empty() {
        return wanted.to_owned();
    }
    let suites = without.join(", ");
    left_out.push(format!("left out of ssl_ciphers: {suites}: {stack} does not have them"));
    kept.join(":")
}

/// What OpenSSL calls a suite of TLS 1.2, with each key exchange and certificate.
fn names(suite: Suite) -> Vec<&'static str> {
    let exchanges = [Exchange::X25519, Exchange::Ffdhe2048, Exchange::Rsa];
    let all = exchanges.iter().flat_map(|exchange| {
        [Certificate::P256, Certificate::Rsa2048].map(|certificate| (*exchange, certificate))
    });
    let name = |(exchange, certificate)| suite.code(Version::Tls12, exchange, certificate);
    all.filter_map(name).map(|code| code.openssl).collect()
}

#[cfg(test)]
mod tests {
    use crate::advise::sample::{document, lacking, question};
    use crate::advise::tls_server::choice::Evidence;
    use record::tls::Suite;

    fn chosen(stack: &str, post_quantum: bool) -> (String, Vec<String>) {
        let mut handshakes = document();
        handshakes.stacks.retain(|s| s.label == stack);
        let evidence = Evidence { handshakes: &handshakes, records: None, calibration: None };
        let mut question = question(&["browser"]);
        question.post_quantum = post_quantum;
        let choice =
            crate::advise::tls_server::advise(&question, &evidence).unwrap().choice.unwrap();
        let groups = choice.nginx.iter().find(|l| l.starts_with("ssl_ecdh_curve")).unwrap();
        (groups.clone(), choice.remarks)
    }

    #[test]
    fn a_group_that_the_stack_lacks_is_left_out_and_named() {
        let (groups, remarks) = chosen("fast@1.0", true);
        assert_eq!(groups, "ssl_ecdh_curve X25519MLKEM768:X25519:P-256:P-384;");
        assert!(remarks.iter().all(|r| !r.contains("left out")), "{remarks:?}");
        let (groups, remarks) = chosen("slow@1.0", true);
        assert_eq!(groups, "ssl_ecdh_curve X25519:P-256:P-384;");
        let named = "X25519MLKEM768 is left out of ssl_ecdh_curve: slow@1.0 does not have it";
        assert!(remarks.iter().any(|r| r.starts_with(named)), "{remarks:?}");
        let (groups, remarks) = chosen("slow@1.0", false);
        assert_eq!(groups, "ssl_ecdh_curve X25519:P-256:P-384;");
        assert!(remarks.iter().all(|r| !r.contains("left out")), "{remarks:?}");
    }

    #[test]
    fn suites_that_the_stack_lacks_are_left_out_and_named() {
        let handshakes = document();
        let records = lacking("fast@1.0", Suite::Chacha20Poly1305);
        let evidence =
            Evidence { handshakes: &handshakes, records: Some(&records), calibration: None };
        let question = question(&["browser=90%", "firefox-45=10%"]);
        let choice =
            crate::advise::tls_server::advise(&question, &evidence).unwrap().choice.unwrap();
        let suites = choice.nginx.iter().find(|l| l.starts_with("ssl_ciphers")).unwrap();
        assert!(suites.contains("AES128-GCM") && !suites.contains("CHACHA20"), "{suites}");
        let named = "left out of ssl_ciphers: ECDHE-ECDSA-CHACHA20-POLY1305, \
            ECDHE-RSA-CHACHA20-POLY1305: fast@1.0 does not have them";
        assert!(choice.remarks.iter().any(|r| r == named), "{:?}", choice.remarks);
    }
}
