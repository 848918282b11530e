//! Directives of nginx's `ngx_http_ssl_module` that set a server as it was chosen. nginx does not start with a
//! group that its library lacks: what is not known to be there is left out, and named.

use crate::tls_server::candidate::{CLASSIC, Candidate};
use crate::tls_server::price::Evidence;
use crate::tls_server::question::Question;
use tls::Exchange;

/// Directives, and what of the profile is not in them.
pub(super) struct Settings {
    pub directives: Vec<String>,
    pub left_out: Option<String>,
}

pub(super) fn settings(
    candidate: &Candidate,
    question: &Question,
    evidence: &Evidence<'_>,
) -> Settings {
    let profile = candidate.profile.recommended();
    let versions: Vec<String> = profile.versions.iter().map(|v| format!("TLSv{v}")).collect();
    let mut lines = vec![format!("ssl_protocols {};", versions.join(" "))];
    if !profile.ciphers.is_empty() {
        lines.push(format!("ssl_ciphers {};", profile.ciphers));
    }
    let wanted = if question.post_quantum { profile.groups } else { CLASSIC };
    let (groups, left_out) = groups(wanted, &candidate.stack, evidence);
    lines.push(format!("ssl_ecdh_curve {groups};"));
    let order = if profile.own_order { "on" } else { "off" };
    lines.push(format!("ssl_prefer_server_ciphers {order};"));
    let certificates = &candidate.certificates;
    lines.extend(certificates.iter().map(|c| format!("ssl_certificate {c}.chain.pem;")));
    lines.extend(certificates.iter().map(|c| format!("ssl_certificate_key {c}.key.pem;")));
    Settings { directives: lines, left_out }
}

/// The groups that the stack has, by colons; and which it has not, with the reason.
fn groups(wanted: &str, stack: &str, evidence: &Evidence<'_>) -> (String, Option<String>) {
    let name = Exchange::X25519Mlkem768.group().and_then(tls::Group::openssl).unwrap_or_default();
    if evidence.has(stack, Exchange::X25519Mlkem768) || !wanted.split(':').any(|g| g == name) {
        return (wanted.to_owned(), None);
    }
    let kept: Vec<&str> = wanted.split(':').filter(|g| *g != name).collect();
    let why = match evidence.lacking(stack).contains(&Exchange::X25519Mlkem768) {
        true => format!("{stack} does not have it"),
        false => format!("no handshake with it was measured in {stack}"),
    };
    let left_out = format!(
        "{name} is left out of ssl_ecdh_curve: {why}, and nginx does not start with a group that its library lacks"
    );
    (kept.join(":"), Some(left_out))
}

#[cfg(test)]
mod tests {
    use crate::tls_server::price::Evidence;
    use crate::tls_server::sample::{document, question};

    fn chosen(stack: &str, post_quantum: bool) -> (String, Vec<String>) {
        let mut handshakes = document();
        handshakes.stacks.retain(|s| s.label == stack);
        let evidence = Evidence { handshakes: &handshakes, records: None, calibration: None };
        let mut question = question(&["browser"]);
        question.post_quantum = post_quantum;
        let choice = crate::tls_server::advise(&question, &evidence).unwrap().choice.unwrap();
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
}
