//! What an end offers: a server by its settings and profile, a client by its class.

use crate::load::ciphers::expand;
use crate::load::clients::{CLASSES, Class};
use crate::load::groups::{Picking, groups, shares_of, tuples};
use crate::load::spec::{ClientShare, Settings, Spec, SpecError};
use crate::load::suites::Suite12;
use crate::load::words::Profile;
use record::tls::{Certificate, Exchange, Group, Suite, Version};

/// What a server offers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServerOffer {
    pub(crate) versions: Vec<Version>,
    pub(crate) suites_12: Vec<&'static Suite12>,
    pub(crate) suites_13: Vec<Suite>,
    /// Its groups, in tuples.
    pub(crate) tuples: Vec<Vec<Group>>,
    pub(crate) picking: Picking,
    pub(crate) own_order: bool,
    pub(crate) dh: Option<Exchange>,
    pub(crate) certificates: Vec<Certificate>,
    /// Words of its cipher string that name nothing.
    pub(crate) passed_over: Vec<String>,
}

/// What a client offers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClientOffer {
    pub(crate) versions: Vec<Version>,
    pub(crate) suites_12: Vec<&'static Suite12>,
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
    /// Versions.
    pub versions: &'static [Version],
    /// Cipher string of TLS 1.2; empty where it has none.
    pub ciphers: &'static str,
    /// Suites of TLS 1.3, by colons.
    pub ciphersuites: &'static str,
    /// Groups, by colons.
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
    #[must_use]
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
    pub(crate) fn of(settings: &Settings, picking: Picking) -> Result<Self, SpecError> {
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
            return Err(SpecError(format!(
                "server.ciphers '{ciphers}' leaves no suite of TLS 1.2 that a certificate goes with"
            )));
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

    /// All of its groups, in one list.
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
    pub(crate) fn of(client: &ClientShare) -> Result<Self, SpecError> {
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
fn own_class(client: &ClientShare) -> Result<Class, SpecError> {
    let Some(versions) = client.versions.clone() else {
        let known: Vec<_> = CLASSES.iter().map(|c| c.name.as_str()).collect();
        let known = known.join(", ");
        return Err(SpecError(format!(
            "clients.class '{}' is none of {known}; a class of one's own has versions, ciphers and groups",
            client.class
        )));
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
#[must_use]
pub fn client_classes() -> Vec<(&'static str, &'static str)> {
    CLASSES.iter().map(|c| (c.name.as_str(), c.what.as_str())).collect()
}

impl Spec {
    /// The clients, with what each offers.
    pub(crate) fn client_offers(&self) -> Result<Vec<(ClientShare, ClientOffer)>, SpecError> {
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

fn suites_13(text: &str) -> Result<Vec<Suite>, SpecError> {
    let one = |name: &str| {
        let code = |s: &Suite| s.code(Version::Tls13, Exchange::X25519, Certificate::P256);
        let is_it = |s: &Suite| code(s).is_some_and(|code| code.openssl == name);
        let unknown = || SpecError(format!("'{name}' is no suite of TLS 1.3 that is measured"));
        Suite::ALL.iter().copied().find(is_it).ok_or_else(unknown)
    };
    text.split(':').map(str::trim).filter(|t| !t.is_empty()).map(one).collect()
}
