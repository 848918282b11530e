//! What two offers come to. What counts for a server's load is not what stands first in its list but what its
//! clients negotiate.
//!
//! The rules are those of OpenSSL: the highest version that both have (RFC 8446 4.1.3); suites in the order of the
//! client, or of the server with `ssl_prefer_server_ciphers`; in TLS 1.2 a suite counts only with a certificate of its
//! kind and a group or field that both have; in TLS 1.3 a group as the server's version picks it ([`Picking`]).
//!
//! [`Picking`]: crate::load::Picking

use crate::load::groups::ordered;
use crate::load::offer::{ClientOffer, ServerOffer};
use crate::load::suites::{Auth, Enc, Kx, Mac, Suite12};
use record::tls::{Case, Certificate, Exchange, Group, Kind, Suite, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a client and a server agree on in a full handshake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// They agree.
    Agreed {
        /// The handshake; `kind` is `hello-retry` where the client's key shares were of no use.
        case: Case,
        /// OpenSSL's name of the suite.
        suite: String,
        /// Whether the suite is priced as another that is like it, because it is not measured itself.
        priced_as_another: bool,
    },
    /// The server refuses the client's first message.
    Refused {
        /// Why.
        reason: String,
    },
    /// They agree on something that is not measured.
    Unpriced {
        /// On what.
        what: String,
    },
}

/// Negotiates.
pub(crate) fn negotiate(server: &ServerOffer, client: &ClientOffer) -> Agreement {
    let common = |v: &&Version| server.versions.contains(v) && client.versions.contains(v);
    let version = Version::ALL.iter().rev().find(common);
    match version {
        Some(Version::Tls13) => negotiate_13(server, client),
        Some(Version::Tls12) => negotiate_12(server, client),
        None => refused("no version in common"),
    }
}

fn refused(reason: &str) -> Agreement {
    Agreement::Refused { reason: reason.to_owned() }
}

fn unpriced(what: String) -> Agreement {
    Agreement::Unpriced { what }
}

fn negotiate_13(server: &ServerOffer, client: &ClientOffer) -> Agreement {
    let suites = ordered(&server.suites_13, &client.suites_13, server.own_order);
    let Some(suite) = suites.first().copied() else { return refused("no suite in common") };
    let picked = server.picking.pick(&server.tuples, server.own_order, client);
    let Some((group, kind)) = picked else { return refused("no group in common") };
    let usable = |c: &&Certificate| **c != Certificate::Ed25519 || client.takes_ed25519;
    let ecdsa = server.certificates.iter().filter(usable).find(|c| !c.is_rsa());
    // Clients put signatures with elliptic curves before those of RSA.
    let Some(certificate) = ecdsa.or_else(|| server.certificates.iter().find(usable)) else {
        return refused("no certificate that the client takes");
    };
    let Some(exchange) = exchange_of(group) else { return unpriced(format!("group {group}")) };
    let case = Case { suite, ..Case::usual(Version::Tls13, exchange, *certificate, kind) };
    let name = case.code().map_or_else(|| suite.to_string(), |code| code.openssl.to_owned());
    Agreement::Agreed { case, suite: name, priced_as_another: false }
}

fn negotiate_12(server: &ServerOffer, client: &ClientOffer) -> Agreement {
    let suites = ordered(&server.suites_12, &client.suites_12, server.own_order);
    if suites.is_empty() {
        return refused("no suite in common");
    }
    let curves = |groups: &[Group]| -> Vec<Group> {
        let is_curve = |g: &&Group| {
            matches!(g, Group::P256 | Group::P384 | Group::P521 | Group::X25519 | Group::Other(30))
        };
        groups.iter().filter(is_curve).copied().collect()
    };
    let curves = ordered(&curves(&server.groups()), &curves(&client.groups), server.own_order);
    for suite in suites {
        let Some(certificate) = certificate_for(suite, server, client) else { continue };
        let exchange = match suite.kx {
            Kx::Rsa => Some(Exchange::Rsa),
            Kx::Dhe if server.dh.is_none() => continue,
            Kx::Dhe => server.dh,
            Kx::Ecdhe => match curves.first() {
                Some(group) => exchange_of(*group),
                None => continue,
            },
        };
        let Some(exchange) = exchange else { return unpriced(format!("group {}", curves[0])) };
        let Some((priced, exact)) = priced_as(suite) else {
            return unpriced(suite.name.to_owned());
        };
        let case = Case::usual(Version::Tls12, exchange, certificate, Kind::Full);
        let case = Case { suite: priced, ..case };
        return Agreement::Agreed { case, suite: suite.name.to_owned(), priced_as_another: !exact };
    }
    refused("no suite in common that the server has a certificate, a group or a field for")
}

fn certificate_for(
    suite: &Suite12,
    server: &ServerOffer,
    client: &ClientOffer,
) -> Option<Certificate> {
    let fits = |c: &&Certificate| match suite.auth {
        Auth::Rsa => c.is_rsa(),
        Auth::Ecdsa => !c.is_rsa() && (**c != Certificate::Ed25519 || client.takes_ed25519),
    };
    server.certificates.iter().find(fits).copied()
}

fn exchange_of(group: Group) -> Option<Exchange> {
    Exchange::ALL.iter().copied().find(|x| x.group() == Some(group))
}

/// The measured suite whose cost a suite has, and whether it is that one itself.
fn priced_as(suite: &Suite12) -> Option<(Suite, bool)> {
    Some(match (suite.enc, suite.bits, suite.mac) {
        (Enc::AesGcm, 128, _) => (Suite::Aes128Gcm, true),
        (Enc::AesGcm, _, _) => (Suite::Aes256Gcm, true),
        (Enc::Chacha20, ..) => (Suite::Chacha20Poly1305, true),
        (Enc::AesCcm, 128, _) => (Suite::Aes128Ccm, true),
        (Enc::AesCcm | Enc::AesCcm8, ..) => (Suite::Aes128Ccm, false),
        (Enc::AesCbc, 128, Mac::Sha1) => (Suite::Aes128CbcSha1, true),
        (Enc::AesCbc, 128, _) => (Suite::Aes128CbcSha256, true),
        (Enc::AesCbc, _, Mac::Sha1) => (Suite::Aes256CbcSha1, true),
        (Enc::AesCbc, _, Mac::Sha384) => (Suite::Aes256CbcSha384, true),
        (Enc::AesCbc, ..) => (Suite::Aes128CbcSha256, false),
        (Enc::AriaGcm | Enc::Camellia, ..) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::groups::Picking;
    use crate::load::spec::{ClientShare, Settings};
    use crate::load::words::Profile;

    fn agreed(settings: &Settings, class: &str) -> String {
        let server = ServerOffer::of(settings, Picking::ByShare).unwrap();
        let client = ClientOffer::of(&ClientShare::of(class, 1.0)).unwrap();
        match negotiate(&server, &client) {
            Agreement::Agreed { case, suite, .. } => {
                format!("{} {} {} {}", suite, case.exchange, case.certificate, case.kind)
            }
            Agreement::Refused { reason } => reason,
            Agreement::Unpriced { what } => what,
        }
    }

    fn hardened() -> Settings {
        Settings {
            versions: Some(vec![Version::Tls12]),
            ciphers: Some("EECDH+AESGCM:EDH+AESGCM:AES256+EECDH:AES256+EDH".to_owned()),
            prefer_server_ciphers: Some(true),
            groups: Some("P-384".to_owned()),
            dh: Some(Exchange::Ffdhe4096),
            ..Settings::default()
        }
    }

    /// Classes of clients, each with what it negotiates.
    fn all_agree(settings: &Settings, wanted: &[(&str, &str)]) {
        for (class, outcome) in wanted {
            assert_eq!(agreed(settings, class), *outcome, "{class}");
        }
    }

    #[test]
    fn what_is_negotiated_depends_on_the_client_not_on_the_first_suite_of_the_list() {
        let wanted = [
            ("chrome-49", "ECDHE-RSA-AES128-GCM-SHA256 p384 rsa-2048 full"),
            // No ECDHE with RSA and GCM: it falls to DHE.
            ("ie-11-win7", "DHE-RSA-AES256-GCM-SHA384 ffdhe4096 rsa-2048 full"),
            ("openssl-1.0.1", "ECDHE-RSA-AES256-GCM-SHA384 p384 rsa-2048 full"),
            ("tls-1.0", "no version in common"),
        ];
        all_agree(&hardened(), &wanted);
    }

    #[test]
    fn without_a_field_no_suite_with_dhe_is_negotiated() {
        let settings = Settings { dh: None, ..hardened() };
        all_agree(&settings, &[("ie-11-win7", "ECDHE-RSA-AES256-SHA384 p384 rsa-2048 full")]);
    }

    #[test]
    fn the_profiles_negotiate_what_their_clients_can() {
        let all = |profile, wanted: &[(&str, &str)]| {
            all_agree(&Settings { profile: Some(profile), ..Settings::default() }, wanted);
        };
        let wanted = [
            ("browser", "TLS_AES_128_GCM_SHA256 x25519mlkem768 rsa-2048 full"),
            ("chrome-49", "ECDHE-RSA-AES128-GCM-SHA256 p256 rsa-2048 full"),
        ];
        all(Profile::Intermediate, &wanted);
        all(Profile::Modern, &[("chrome-49", "no version in common")]);
        all(Profile::Old, &[("ie-11-win7", "ECDHE-RSA-AES128-SHA256 p256 rsa-2048 full")]);
    }

    #[test]
    fn a_client_whose_key_share_is_of_no_use_is_asked_again() {
        let settings = Settings { groups: Some("P-384:P-256".to_owned()), ..Settings::default() };
        all_agree(&settings, &[("go-1.17", "TLS_AES_128_GCM_SHA256 p384 rsa-2048 hello-retry")]);
    }

    #[test]
    fn the_order_of_curves_is_that_of_the_one_that_decides() {
        for (own_order, outcome) in [
            (None, "ECDHE-RSA-AES256-GCM-SHA384 p384 rsa-2048 full"),
            (Some(true), "ECDHE-RSA-AES256-GCM-SHA384 p256 rsa-2048 full"),
        ] {
            let settings = Settings {
                versions: Some(vec![Version::Tls12]),
                groups: Some("P-256:P-384".to_owned()),
                prefer_server_ciphers: own_order,
                ..Settings::default()
            };
            all_agree(&settings, &[("android-4.4", outcome)]);
        }
    }

    #[test]
    fn with_two_certificates_the_suite_decides_and_in_tls_1_3_the_client() {
        let both = vec![Certificate::Rsa2048, Certificate::P256];
        let settings = Settings { certificates: both, ..Settings::default() };
        let wanted = [
            ("go-1.17", "TLS_AES_128_GCM_SHA256 x25519 p256 full"),
            ("safari-9", "ECDHE-ECDSA-AES256-GCM-SHA384 p256 p256 full"),
        ];
        all_agree(&settings, &wanted);
    }

    #[test]
    fn a_certificate_that_the_client_does_not_take_is_none() {
        let settings = Settings { certificates: vec![Certificate::Ed25519], ..Settings::default() };
        let wanted = [
            ("browser", "no certificate that the client takes"),
            ("go-1.17", "TLS_AES_128_GCM_SHA256 x25519 ed25519 full"),
        ];
        all_agree(&settings, &wanted);
    }
}
