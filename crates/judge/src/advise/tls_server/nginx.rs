//! Directives of nginx's `ngx_http_ssl_module` that set a server as it was chosen. nginx does not start with a
//! group that its library lacks: what is not known to be there is left out, and named; suites that it lacks too.

use crate::advise::tls_server::candidate::{CLASSIC, Candidate};
use crate::advise::tls_server::price::Evidence;
use crate::advise::tls_server::question::Question;
use record::tls::{Certificate, Exchange, Suite, Version};

/// Directives, and what of the profile is not in them.
pub(super) struct Settings {
    pub directives: Vec<String>,
    pub left_out: Vec<String>,
}

/// Stacks without OpenSSL's interface, with which nginx cannot be built. Of a name that somebody gave, it is not known.
const UNUSABLE: [&str; 9] =
    ["rustls", "gnutls", "mbedtls", "wolfssl", "s2n", "botan", "nss", "go", "java"];

/// Whether nginx can use a stack, by its label.
pub(super) fn can_use(stack: &str) -> bool {
    !UNUSABLE.iter().any(|name| stack.starts_with(name))
}

pub(super) fn settings(
    candidate: &Candidate,
    question: &Question,
    evidence: &Evidence<'_>,
) -> Settings {
    if !can_use(&candidate.stack) {
        let why = format!("nginx cannot use {}", candidate.stack);
        return Settings { directives: Vec::new(), left_out: vec![why] };
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
    Settings { directives: lines, left_out }
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
    use crate::advise::tls_server::price::Evidence;
    use crate::advise::tls_server::sample::{document, lacking, question};
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
