//! What ends offer and what two offers come to, by the rules of OpenSSL. What counts for a server's load is
//! not what stands first in its list but what its clients negotiate.
//!
//! The rules are those of OpenSSL: the highest version that both have (RFC 8446 4.1.3); suites in the order of the
//! client, or of the server with `ssl_prefer_server_ciphers`; in TLS 1.2 a suite counts only with a certificate of its
//! kind and a group or field that both have; in TLS 1.3 a group as the server's version picks it ([`Picking`]).
//!
//! [`Picking`]: crate::load::Picking

use crate::load::spec::{ClientShare, Profile, Settings, Spec, Suite12, expand};
use record::tls::{Case, Certificate, Exchange, Group, Kind, Suite, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

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
    let usable = |c: &&Certificate| takes(client, **c);
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
        let exchange = if suite.is_ecdhe() {
            let Some(group) = curves.first() else { continue };
            exchange_of(*group)
        } else if suite.is_dhe() {
            let Some(field) = server.dh else { continue };
            Some(field)
        } else {
            Some(Exchange::Rsa)
        };
        let Some(exchange) = exchange else { return unpriced(format!("group {}", curves[0])) };
        let Some((priced, exact)) = priced_as(suite) else {
            return unpriced(suite.0.to_owned());
        };
        let case = Case::usual(Version::Tls12, exchange, certificate, Kind::Full);
        let case = Case { suite: priced, ..case };
        return Agreement::Agreed { case, suite: suite.0.to_owned(), priced_as_another: !exact };
    }
    refused("no suite in common that the server has a certificate, a group or a field for")
}

/// Whether a client verifies a kind of certificate. No known client verifies ML-DSA's.
fn takes(client: &ClientOffer, certificate: Certificate) -> bool {
    match certificate {
        Certificate::Ed25519 => client.takes_ed25519,
        other => !other.is_post_quantum(),
    }
}

fn certificate_for(
    suite: Suite12,
    server: &ServerOffer,
    client: &ClientOffer,
) -> Option<Certificate> {
    let fits = |c: &&Certificate| match suite.has("ECDSA") {
        true => !c.is_rsa() && takes(client, **c),
        false => c.is_rsa(),
    };
    server.certificates.iter().find(fits).copied()
}

fn exchange_of(group: Group) -> Option<Exchange> {
    Exchange::ALL.iter().copied().find(|x| x.group() == Some(group))
}

/// The measured suite whose cost a suite has, and whether it is that one itself.
fn priced_as(suite: Suite12) -> Option<(Suite, bool)> {
    let is_128 = suite.has("128");
    Some(if suite.has("CHACHA20") {
        (Suite::Chacha20Poly1305, true)
    } else if !suite.has("AES") {
        return None;
    } else if suite.has("GCM") {
        (if is_128 { Suite::Aes128Gcm } else { Suite::Aes256Gcm }, true)
    } else if suite.has("CCM") {
        (Suite::Aes128Ccm, suite.has("AES128-CCM") && !suite.has("CCM8"))
    } else if suite.has_mac("SHA") {
        (if is_128 { Suite::Aes128CbcSha1 } else { Suite::Aes256CbcSha1 }, true)
    } else if suite.has_mac("SHA384") {
        (Suite::Aes256CbcSha384, true)
    } else {
        (Suite::Aes128CbcSha256, is_128)
    })
}

// Which group a server of TLS 1.3 picks, and when it asks the client again for it.
//
// Not the standard's to say: RFC 8446 4.1.1 leaves it to the server. OpenSSL has changed its rule once, in 3.5
// (`tls_parse_ctos_key_share`, `final_key_share`; SSL_CTX_set1_groups_list(3)).

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Picking {
    /// As OpenSSL before 3.5, and all stacks of which nothing else is known: the first of the client's key shares that
    /// it takes; where it takes none, it asks again for the first of its own groups that the client has.
    #[default]
    ByShare,
    /// As OpenSSL from 3.5 on: its groups stand in tuples. In the first that has any of the client's groups, it picks
    /// among the client's key shares, else it asks again, though a later tuple has a share.
    ByTuple,
}

/// What a server picked when a client offered it groups, as read from the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Picked {
    /// The client's groups, by colons; only of the first it sent a key share.
    pub offered: String,
    /// The group that was agreed on; null where there was no connection.
    pub group: Option<Group>,
    /// Whether the client was asked for a second hello.
    pub hello_retry: bool,
    /// Why there was no connection.
    pub reason: Option<String>,
}

/// What OpenSSL has where nothing is set, as far as it is priced: of 3.5 and later with tuples, and ML-KEM first.
const UNSET: &str = "X25519:P-256:P-384";
const UNSET_TUPLES: &str = "X25519MLKEM768/X25519:P-256/P-384";

impl Picking {
    pub fn of(name: &str, version: &str) -> Self {
        let mut numbers = version.split(['.', '-']).map_while(|n| n.parse::<u32>().ok());
        let number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if name == "openssl" && number >= (3, 5) { Self::ByTuple } else { Self::ByShare }
    }

    /// Of a stack by its label, `openssl@3.5.5`.
    pub fn of_label(label: &str) -> Self {
        let (name, version) = label.split_once('@').unwrap_or((label, ""));
        Self::of(name, version)
    }

    /// A server's groups where none are named.
    pub(crate) fn unset(self) -> &'static str {
        match self {
            Self::ByShare => UNSET,
            Self::ByTuple => UNSET_TUPLES,
        }
    }

    /// The group of a connection of TLS 1.3, and whether the client is asked again for it; none where both have none
    /// in common.
    pub(crate) fn pick(
        self,
        tuples: &[Vec<Group>],
        own_order: bool,
        client: &ClientOffer,
    ) -> Option<(Group, Kind)> {
        self.among(tuples, own_order, &client.key_shares, &client.groups)
    }

    fn among(
        self,
        tuples: &[Vec<Group>],
        own_order: bool,
        key_shares: &[Group],
        groups: &[Group],
    ) -> Option<(Group, Kind)> {
        if self == Self::ByTuple {
            let of_tuple = |tuple: &Vec<Group>| {
                let first = |theirs: &[Group]| ordered(tuple, theirs, own_order).first().copied();
                let shared = first(key_shares).map(|group| (group, Kind::Full));
                shared.or_else(|| first(groups).map(|group| (group, Kind::HelloRetry)))
            };
            return tuples.iter().find_map(of_tuple);
        }
        let own = tuples.concat();
        let shared = ordered(&own, key_shares, false).first().map(|group| (*group, Kind::Full));
        let again = || ordered(&own, groups, true).first().map(|g| (*g, Kind::HelloRetry));
        shared.or_else(again)
    }
}

impl Picked {
    /// What it says against the rule of the server's stack, in one line; none where both agree, or nothing was picked.
    pub(crate) fn against(&self, picking: Picking) -> Option<String> {
        let own = picking.unset();
        let (tuples, groups) = (tuples("", own, picking).ok()?, groups("", &self.offered).ok()?);
        let key_shares: Vec<Group> = groups.first().copied().into_iter().collect();
        let found = picking.among(&tuples, false, &key_shares, &groups);
        let kind = if self.hello_retry { Kind::HelloRetry } else { Kind::Full };
        let seen = self.group.map(|group| (group, kind));
        let named = |(group, kind): (Group, Kind)| format!("{group} ({kind})");
        (seen.is_some() && seen != found).then(|| {
            let (seen, found) = (seen.map(named), found.map(named));
            format!(
                "offered {}, the calibrated server picked {}, where the rule of its stack has {}: handshakes with groups \
                 that nobody named may be priced as others",
                self.offered,
                seen.unwrap_or_default(),
                found.unwrap_or_else(|| "none".to_owned())
            )
        })
    }
}

/// The first that both have, in the order of the one that decides.
pub(crate) fn ordered<T: PartialEq + Copy>(server: &[T], client: &[T], own_order: bool) -> Vec<T> {
    let (first, second) = if own_order { (server, client) } else { (client, server) };
    first.iter().filter(|x| second.contains(x)).copied().collect()
}

/// Reads tuples of groups, by any of the names that OpenSSL, the registry and the standards give them.
pub(crate) fn tuples(field: &str, text: &str, picking: Picking) -> Result<Vec<Vec<Group>>, String> {
    let unset = text == "auto" || text.eq_ignore_ascii_case("default");
    let text = if unset { picking.unset() } else { text };
    let one = |name: &str| -> Result<Group, String> {
        let plain = name.trim_start_matches(['*', '?']).to_ascii_lowercase();
        Ok(match plain.as_str() {
            "prime256v1" | "secp256r1" => Group::P256,
            "secp384r1" => Group::P384,
            "secp521r1" => Group::P521,
            "x448" => Group::Other(30),
            "ffdhe6144" => Group::Other(259),
            "ffdhe8192" => Group::Other(260),
            other => Group::of_name(other)
                .ok_or_else(|| format!("{field}: '{name}' is no group that is known"))?,
        })
    };
    let tuple = |text: &str| -> Result<Vec<Group>, String> {
        text.split(':').map(str::trim).filter(|t| !t.is_empty()).map(one).collect()
    };
    text.split('/').map(tuple).collect()
}

pub(crate) fn groups(field: &str, text: &str) -> Result<Vec<Group>, String> {
    Ok(tuples(field, text, Picking::default())?.concat())
}

/// Of which groups a client sends key shares that says nothing of it: those with a star, else the first.
pub(crate) fn shares_of(list: &str) -> String {
    let all = || list.split([':', '/']).map(str::trim);
    let starred: Vec<&str> =
        all().filter(|g| g.starts_with(['*', '?']) && g.contains('*')).collect();
    let first = || all().next().unwrap_or_default().to_owned();
    if starred.is_empty() { first() } else { starred.join(":") }
}

// What an end offers: a server by its settings and profile, a client by its class.

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerOffer {
    pub(crate) versions: Vec<Version>,
    pub(crate) suites_12: Vec<Suite12>,
    pub(crate) suites_13: Vec<Suite>,
    pub(crate) tuples: Vec<Vec<Group>>,
    pub(crate) picking: Picking,
    pub(crate) own_order: bool,
    pub(crate) dh: Option<Exchange>,
    pub(crate) certificates: Vec<Certificate>,
    /// Words of its cipher string that name nothing.
    pub(crate) passed_over: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClientOffer {
    pub(crate) versions: Vec<Version>,
    pub(crate) suites_12: Vec<Suite12>,
    pub(crate) suites_13: Vec<Suite>,
    pub(crate) groups: Vec<Group>,
    pub(crate) key_shares: Vec<Group>,
    pub(crate) takes_ed25519: bool,
}

const SUITES_13: &str =
    "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
/// Of clients of one's own that say nothing, and of Mozilla's older profiles.
const GROUPS: &str = "X25519:P-256:P-384";

/// What a profile says of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recommended {
    pub versions: &'static [Version],
    /// Cipher string of TLS 1.2; empty where it has none.
    pub ciphers: &'static str,
    /// Suites of TLS 1.3, by colons.
    pub ciphersuites: &'static str,
    pub groups: &'static str,
    /// Whether the server's order of suites counts.
    pub own_order: bool,
}

const BOTH: &[Version] = &[Version::Tls12, Version::Tls13];
const MOZILLA_13: &str =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";

impl Profile {
    /// Mozilla's guidelines as data (ssl-config.mozilla.org/guidelines): `modern` and `intermediate` of 6.0, `old` of
    /// 5.8, the last that has it, and `intermediate-2016` of 4.0. Versions below 1.2 are left out: no stack of today
    /// offers them unasked.
    pub fn recommended(self) -> Recommended {
        let today = Recommended {
            versions: BOTH,
            ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:\
                ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305",
            ciphersuites: MOZILLA_13,
            groups: "X25519MLKEM768:X25519:P-256:P-384",
            own_order: false,
        };
        match self {
            Self::Modern => Recommended { versions: &[Version::Tls13], ciphers: "", ..today },
            Self::Intermediate => today,
            Self::Old => Recommended {
                ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:\
                    ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:\
                    ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:\
                    DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:\
                    ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:\
                    ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:\
                    DHE-RSA-AES128-SHA256:DHE-RSA-AES256-SHA256:AES128-GCM-SHA256:AES256-GCM-SHA384:\
                    AES128-SHA256:AES256-SHA256:AES128-SHA:AES256-SHA:DES-CBC3-SHA",
                groups: GROUPS,
                own_order: true,
                ..today
            },
            Self::Intermediate2016 => Recommended {
                versions: &[Version::Tls12],
                ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256:\
                    ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:\
                    DHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-SHA256:\
                    ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES256-SHA384:\
                    ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA:\
                    ECDHE-RSA-AES256-SHA:DHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA:DHE-RSA-AES256-SHA256:\
                    DHE-RSA-AES256-SHA:AES128-GCM-SHA256:AES256-GCM-SHA384:AES128-SHA256:AES256-SHA256:\
                    AES128-SHA:AES256-SHA:DES-CBC3-SHA:!DSS",
                ciphersuites: "",
                groups: "P-256:P-384:P-521",
                own_order: true,
            },
        }
    }
}

impl ServerOffer {
    /// What settings come to in a stack that picks groups so; the profile's where they say nothing.
    pub(crate) fn of(settings: &Settings, picking: Picking) -> Result<Self, String> {
        let usual = Recommended {
            versions: BOTH,
            ciphers: "DEFAULT",
            ciphersuites: SUITES_13,
            groups: picking.unset(),
            own_order: false,
        };
        let base = settings.profile.map_or(usual, Profile::recommended);
        let text =
            |own: &Option<String>, base: &str| own.clone().unwrap_or_else(|| base.to_owned());
        let expanded = expand(&text(&settings.ciphers, base.ciphers));
        let suites_13 = suites_13(&text(&settings.ciphersuites, base.ciphersuites))?;
        let versions = settings.versions.clone().unwrap_or_else(|| base.versions.to_vec());
        if versions.contains(&Version::Tls12) && expanded.suites.is_empty() {
            let ciphers = text(&settings.ciphers, base.ciphers);
            return Err(format!(
                "server.ciphers '{ciphers}' leaves no suite of TLS 1.2 that a certificate goes with"
            ));
        }
        Ok(Self {
            versions,
            suites_12: expanded.suites,
            suites_13,
            tuples: tuples("server.groups", &text(&settings.groups, base.groups), picking)?,
            picking,
            own_order: settings.prefer_server_ciphers.unwrap_or(base.own_order),
            dh: settings.dh,
            certificates: settings.certificates.clone(),
            passed_over: expanded.passed_over,
        })
    }

    pub(crate) fn groups(&self) -> Vec<Group> {
        self.tuples.concat()
    }

    /// Takes out what its stack lacks.
    pub(crate) fn drop_groups(&mut self, lacks: impl Fn(Group) -> bool) {
        self.tuples.iter_mut().for_each(|tuple| tuple.retain(|group| !lacks(*group)));
    }
}

impl ClientOffer {
    /// What a class comes to, or what the specification says of it.
    pub(crate) fn of(client: &ClientShare) -> Result<Self, String> {
        let class = match Class::of(&client.class) {
            Some(known) => known.clone(),
            None => own_class(client)?,
        };
        let text = |own: &Option<String>, known: String| own.clone().unwrap_or(known);
        let key_shares = match (&client.key_shares, &client.groups) {
            (Some(own), _) => own.clone(),
            (None, Some(own)) => shares_of(own),
            (None, None) => class.key_shares,
        };
        Ok(Self {
            versions: client.versions.clone().unwrap_or(class.versions),
            suites_12: expand(&text(&client.ciphers, class.ciphers)).suites,
            suites_13: suites_13(&text(&client.ciphersuites, class.ciphersuites))?,
            groups: groups("clients.groups", &text(&client.groups, class.groups))?,
            key_shares: groups("clients.key_shares", &key_shares)?,
            takes_ed25519: class.takes_ed25519,
        })
    }
}

/// What a class of one's own offers where it says nothing.
fn own_class(client: &ClientShare) -> Result<Class, String> {
    let Some(versions) = client.versions.clone() else {
        let known: Vec<_> = CLASSES.iter().map(|c| c.name.as_str()).collect();
        let known = known.join(", ");
        return Err(format!(
            "clients.class '{}' is none of {known}; a class of one's own has versions, ciphers and groups",
            client.class
        ));
    };
    Ok(Class {
        name: client.class.clone(),
        what: String::new(),
        versions,
        ciphers: "DEFAULT".to_owned(),
        ciphersuites: SUITES_13.to_owned(),
        groups: GROUPS.to_owned(),
        key_shares: shares_of(GROUPS),
        takes_ed25519: true,
    })
}

/// The class that connects where none is named.
pub(crate) fn usual_clients() -> Vec<ClientShare> {
    vec![ClientShare::of("browser", 1.0)]
}

/// Names and meanings of all known classes.
pub fn client_classes() -> Vec<(&'static str, &'static str)> {
    CLASSES.iter().map(|c| (c.name.as_str(), c.what.as_str())).collect()
}

impl Spec {
    pub(crate) fn client_offers(&self) -> Result<Vec<(ClientShare, ClientOffer)>, String> {
        let clients = if self.clients.is_empty() { usual_clients() } else { self.clients.clone() };
        clients
            .into_iter()
            .map(|client| {
                let offer = ClientOffer::of(&client)?;
                Ok((client, offer))
            })
            .collect()
    }
}

fn suites_13(text: &str) -> Result<Vec<Suite>, String> {
    let one = |name: &str| {
        let code = |s: &Suite| s.code(Version::Tls13, Exchange::X25519, Certificate::P256);
        let is_it = |s: &Suite| code(s).is_some_and(|code| code.openssl == name);
        let unknown = || format!("'{name}' is no suite of TLS 1.3 that is measured");
        Suite::ALL.iter().copied().find(is_it).ok_or_else(unknown)
    };
    text.split(':').map(str::trim).filter(|t| !t.is_empty()).map(one).collect()
}

// Classes of clients: what each offers, as `clients.toml` has it with its sources.

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) versions: Vec<Version>,
    /// Suites of TLS 1.2, the first the dearest to it.
    pub(crate) ciphers: String,
    /// Suites of TLS 1.3.
    pub(crate) ciphersuites: String,
    pub(crate) groups: String,
    /// Groups that its first message has key shares of.
    pub(crate) key_shares: String,
    /// Whether it takes Ed25519 in certificates.
    pub(crate) takes_ed25519: bool,
}

/// The classes, today's first.
pub(crate) static CLASSES: LazyLock<Vec<Class>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        class: Vec<Class>,
    }
    let file: File =
        toml::from_str(include_str!("clients.toml")).expect("our own file is read by every test");
    file.class
});

impl Class {
    pub(crate) fn of(name: &str) -> Option<&'static Self> {
        CLASSES.iter().find(|c| c.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::{Picking, *};
    use crate::load::spec::{ClientShare, Profile, Settings};

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

    /// Servers, each with clients and what these negotiate.
    #[test]
    fn what_is_negotiated_depends_on_both_ends() {
        let usual = Settings::default;
        let profile = |profile| Settings { profile: Some(profile), ..usual() };
        let certificates = |certificates| Settings { certificates, ..usual() };
        let ordered = |prefer_server_ciphers| Settings {
            versions: Some(vec![Version::Tls12]),
            groups: Some("P-256:P-384".to_owned()),
            prefer_server_ciphers,
            ..usual()
        };
        for (settings, class, outcome) in [
            // Not the first suite of the list.
            (hardened(), "chrome-49", "ECDHE-RSA-AES128-GCM-SHA256 p384 rsa-2048 full"),
            // No ECDHE with RSA and GCM: it falls to DHE, and without a field to neither.
            (hardened(), "ie-11-win7", "DHE-RSA-AES256-GCM-SHA384 ffdhe4096 rsa-2048 full"),
            (
                Settings { dh: None, ..hardened() },
                "ie-11-win7",
                "ECDHE-RSA-AES256-SHA384 p384 rsa-2048 full",
            ),
            (hardened(), "openssl-1.0.1", "ECDHE-RSA-AES256-GCM-SHA384 p384 rsa-2048 full"),
            (hardened(), "tls-1.0", "no version in common"),
            (
                profile(Profile::Intermediate),
                "browser",
                "TLS_AES_128_GCM_SHA256 x25519mlkem768 rsa-2048 full",
            ),
            (
                profile(Profile::Intermediate),
                "chrome-49",
                "ECDHE-RSA-AES128-GCM-SHA256 p256 rsa-2048 full",
            ),
            (profile(Profile::Modern), "chrome-49", "no version in common"),
            (profile(Profile::Old), "ie-11-win7", "ECDHE-RSA-AES128-SHA256 p256 rsa-2048 full"),
            // A key share that is of no use is asked for again.
            (
                Settings { groups: Some("P-384:P-256".to_owned()), ..usual() },
                "go-1.17",
                "TLS_AES_128_GCM_SHA256 p384 rsa-2048 hello-retry",
            ),
            // The order of curves is that of the one that decides.
            (ordered(None), "android-4.4", "ECDHE-RSA-AES256-GCM-SHA384 p384 rsa-2048 full"),
            (ordered(Some(true)), "android-4.4", "ECDHE-RSA-AES256-GCM-SHA384 p256 rsa-2048 full"),
            // Of two certificates the suite decides, and in TLS 1.3 the client.
            (
                certificates(vec![Certificate::Rsa2048, Certificate::P256]),
                "go-1.17",
                "TLS_AES_128_GCM_SHA256 x25519 p256 full",
            ),
            (
                certificates(vec![Certificate::Rsa2048, Certificate::P256]),
                "safari-9",
                "ECDHE-ECDSA-AES256-GCM-SHA384 p256 p256 full",
            ),
            (
                certificates(vec![Certificate::Ed25519]),
                "browser",
                "no certificate that the client takes",
            ),
            (
                certificates(vec![Certificate::Ed25519]),
                "go-1.17",
                "TLS_AES_128_GCM_SHA256 x25519 ed25519 full",
            ),
        ] {
            assert_eq!(agreed(&settings, class), outcome, "{class} of {settings:?}");
        }
    }

    fn picked(picking: Picking, server: &str, client: &str, own_order: bool) -> String {
        let own = ClientShare {
            versions: Some(vec![record::tls::Version::Tls13]),
            groups: Some(client.to_owned()),
            ..ClientShare::of("a client of one's own", 1.0)
        };
        let client = ClientOffer::of(&own).unwrap();
        let tuples = tuples("server.groups", server, picking).unwrap();
        let found = picking.pick(&tuples, own_order, &client);
        found.map_or("none".to_owned(), |(group, kind)| format!("{group} {kind}"))
    }

    /// Each line was read back from OpenSSL 3.0, 3.5 and 4.0 too (`tls-server`, tests/groups.rs).
    #[test]
    fn openssl_3_5_asks_again_where_older_ones_took_what_was_sent() {
        for (server, client, by_share, by_tuple) in [
            ("auto", "X25519:P-256", "x25519 full", "x25519 full"),
            ("auto", "P-256:X25519", "p256 full", "p256 full"),
            ("auto", "P-384:X25519", "p384 full", "x25519 hello-retry"),
            ("auto", "X25519:X25519MLKEM768", "x25519 full", "x25519mlkem768 hello-retry"),
            ("X25519:P-256:P-384", "P-384:X25519", "p384 full", "p384 full"),
            ("P-384:P-256", "X25519:P-256:P-384", "p384 hello-retry", "p256 hello-retry"),
            ("P-384", "X25519", "none", "none"),
        ] {
            let of = |picking| picked(picking, server, client, false);
            assert_eq!(of(Picking::ByShare), by_share, "{server} {client}");
            assert_eq!(of(Picking::ByTuple), by_tuple, "{server} {client}");
        }
        let own = picked(Picking::ByTuple, "P-384:P-256", "X25519:P-256:P-384", true);
        assert_eq!(own, "p384 hello-retry");
    }

    #[test]
    fn a_server_that_picks_otherwise_is_told_of() {
        let picked = |offered: &str, group, hello_retry| Picked {
            offered: offered.to_owned(),
            group,
            hello_retry,
            reason: None,
        };
        let offered = "X25519:X25519MLKEM768";
        let again = picked(offered, Some(Group::X25519Mlkem768), true);
        assert_eq!(again.against(Picking::ByTuple), None);
        let why = again.against(Picking::ByShare).unwrap();
        assert!(why.contains("x25519mlkem768 (hello-retry)") && why.contains("x25519 (full)"));
        assert_eq!(picked(offered, None, false).against(Picking::ByTuple), None);
    }

    #[test]
    fn a_stack_picks_by_its_version() {
        for (label, picking) in [
            ("openssl@3.0.22", Picking::ByShare),
            ("openssl@3.5.5", Picking::ByTuple),
            ("openssl@4.0.3 #2", Picking::ByTuple),
            ("openssl@3.10.0-dev", Picking::ByTuple),
            ("aws-lc@1.61.0", Picking::ByShare),
            ("openssl", Picking::ByShare),
        ] {
            assert_eq!(Picking::of_label(label), picking, "{label}");
        }
    }

    #[test]
    fn stars_say_of_which_groups_key_shares_are_sent() {
        let wanted = "?*X25519MLKEM768:?*X25519";
        assert_eq!(shares_of("?*X25519MLKEM768 / ?*X25519:?secp256r1"), wanted);
        assert_eq!(shares_of("P-256:X25519"), "P-256");
        let all = tuples("x", "?*X25519MLKEM768 / ?*X25519:?secp256r1", Picking::ByTuple).unwrap();
        assert_eq!(all, [vec![Group::X25519Mlkem768], vec![Group::X25519, Group::P256]]);
        assert!(tuples("x", "X25519:P-999", Picking::ByTuple).is_err());
    }
}
