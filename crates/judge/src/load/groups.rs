//! Which group a server of TLS 1.3 picks, and when it asks the client again for it.
//!
//! Not the standard's to say: RFC 8446 4.1.1 leaves it to the server. OpenSSL has changed its rule once, in 3.5
//! (`tls_parse_ctos_key_share`, `final_key_share`; SSL_CTX_set1_groups_list(3)).

use crate::load::offer::ClientOffer;
use crate::load::spec::SpecError;
use record::tls::{Group, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a server picks a group.
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
    /// Of a stack, by its name and version.
    #[must_use]
    pub fn of(name: &str, version: &str) -> Self {
        let mut numbers = version.split(['.', '-']).map_while(|n| n.parse::<u32>().ok());
        let number = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if name == "openssl" && number >= (3, 5) { Self::ByTuple } else { Self::ByShare }
    }

    /// Of a stack by its label, `openssl@3.5.5`.
    #[must_use]
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
pub(crate) fn tuples(
    field: &str,
    text: &str,
    picking: Picking,
) -> Result<Vec<Vec<Group>>, SpecError> {
    let unset = text == "auto" || text.eq_ignore_ascii_case("default");
    let text = if unset { picking.unset() } else { text };
    let one = |name: &str| -> Result<Group, SpecError> {
        let plain = name.trim_start_matches(['*', '?']).to_ascii_lowercase();
        Ok(match plain.as_str() {
            "prime256v1" | "secp256r1" => Group::P256,
            "secp384r1" => Group::P384,
            "secp521r1" => Group::P521,
            "x448" => Group::Other(30),
            "ffdhe6144" => Group::Other(259),
            "ffdhe8192" => Group::Other(260),
            other => Group::of_name(other)
                .ok_or_else(|| SpecError(format!("{field}: '{name}' is no group that is known")))?,
        })
    };
    let tuple = |text: &str| -> Result<Vec<Group>, SpecError> {
        text.split(':').map(str::trim).filter(|t| !t.is_empty()).map(one).collect()
    };
    text.split('/').map(tuple).collect()
}

/// A client's groups, in one list.
pub(crate) fn groups(field: &str, text: &str) -> Result<Vec<Group>, SpecError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::spec::ClientShare;

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
