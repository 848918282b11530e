//! Whether a handshake was the one that was asked for: by the wire and by what either end says.

use crate::tls::case::Case;
use crate::tls::suite::Suite;
use crate::tls::wire::Seen;
use crate::tls::words::{Exchange, Group, Kind, Signature, Version};
use serde::{Deserialize, Serialize};

/// What one end's own functions say; what a stack has no function for is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndSays {
    /// Version, by its number.
    pub version: u16,
    /// Suite, by its number.
    pub suite: Option<u16>,
    /// Whether an earlier session was used.
    pub reused: bool,
    /// Group, by its number.
    pub group: Option<u16>,
    /// The server's signature, by its number.
    pub signature: Option<u16>,
    /// Whether the other end showed a certificate.
    pub peer_proved: Option<bool>,
}

/// What was negotiated, as it is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Negotiated {
    /// Version of the protocol.
    pub version: Version,
    /// Suite, as OpenSSL calls it.
    pub suite: String,
    /// Group of the key exchange; null where there is none.
    pub group: Option<String>,
    /// The server's signature; null where it made none. In TLS 1.3, where the wire does not show it and
    /// no end tells, the one that the client alone allows.
    pub signature: Option<String>,
    /// Whether an earlier connection's secret was used.
    pub resumed: bool,
    /// Whether the client was asked for a second hello.
    pub hello_retry: bool,
    /// Whether the client proved itself.
    pub client_auth: bool,
}

/// What a server of TLS 1.3 picks whose groups nobody has set, for a client that offers all that are measured and
/// stakes its only key share on one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Unset {
    /// The group, by the wire.
    pub group: Group,
    /// Whether the client was asked for a second hello.
    pub hello_retry: bool,
}

/// A handshake that is not its case's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Mismatch {
    /// In one line, what was negotiated instead, or what does not go together.
    pub why: String,
    /// Whether the wire and the ends tell different things. Else they agree on something that was not
    /// asked for: the stack does not offer what was.
    pub contradiction: bool,
}

fn other(why: String) -> Mismatch {
    Mismatch { why, contradiction: false }
}

fn contradiction(why: String) -> Mismatch {
    Mismatch { why, contradiction: true }
}

/// Holds a handshake to its case.
///
/// # Errors
/// [`Mismatch`] where something else was negotiated, or where the ends contradict the wire or each other.
pub fn negotiated(
    case: &Case,
    seen: &Seen,
    client: &EndSays,
    server: &EndSays,
) -> Result<Negotiated, Mismatch> {
    let resumed = case.kind.is_resumed();
    agree(
        "version",
        [Some(seen.version), Some(client.version), Some(server.version)],
        case.version.number(),
        hexadecimal,
    )?;
    let code = case.code().ok_or_else(|| other("there is no such suite".to_owned()))?;
    agree("suite", [Some(seen.suite), client.suite, server.suite], code.number, hexadecimal)?;
    let reused = [seen.resumed, client.reused, server.reused].map(Some);
    let in_words = |reused| if reused { "resumed" } else { "full" }.to_owned();
    agree("handshake", reused, resumed, in_words)?;
    group(case, seen, client, server)?;
    kind(case, seen)?;
    Ok(Negotiated {
        version: case.version,
        suite: Suite::name_of(seen.suite),
        group: seen.group.map(|g| g.to_string()),
        signature: signature(case, seen, client, server)?.map(|s| s.to_string()),
        resumed,
        hello_retry: seen.hello_retry,
        client_auth: proof(case, seen, server)?,
    })
}

/// Who tells, in the order of what they tell.
const WHO: [&str; 3] = ["wire", "client", "server"];

/// All that is told must be one and the same, and what was asked for.
fn agree<T: PartialEq + Copy>(
    what: &str,
    told: [Option<T>; 3],
    asked: T,
    show: impl Fn(T) -> String,
) -> Result<(), Mismatch> {
    let mut told = WHO.into_iter().zip(told).filter_map(|(who, told)| Some((who, told?)));
    let Some((first, used)) = told.next() else { return Ok(()) };
    if let Some((who, else_used)) = told.find(|(_, t)| *t != used) {
        let (used, else_used) = (show(used), show(else_used));
        return Err(contradiction(format!(
            "{what}: the {first} says {used}, and the {who} {else_used}"
        )));
    }
    if used != asked {
        let (asked, used) = (show(asked), show(used));
        return Err(other(format!("{what}: {asked} was asked for, and {used} negotiated")));
    }
    Ok(())
}

fn hexadecimal(number: u16) -> String {
    format!("{number:#06x}")
}

/// Whether the client proved itself, as was asked. A resumption repeats no proof; the server may
/// remember the first.
fn proof(case: &Case, seen: &Seen, server: &EndSays) -> Result<bool, Mismatch> {
    if case.kind.is_resumed() {
        return Ok(false);
    }
    let in_words =
        |proved| if proved { "proves itself" } else { "does not prove itself" }.to_owned();
    let told = [seen.client_proved, None, server.peer_proved];
    if case.client_auth && told == [None; 3] {
        return Err(other("nothing tells whether the client proves itself".to_owned()));
    }
    agree("client", told, case.client_auth, in_words)?;
    Ok(case.client_auth)
}

fn group(case: &Case, seen: &Seen, client: &EndSays, server: &EndSays) -> Result<(), Mismatch> {
    // A resumption of TLS 1.2 agrees on nothing new; what the ends remember is the first one's.
    if case.kind.is_resumed() && case.version == Version::Tls12 {
        return Ok(());
    }
    let asked = case.exchange.group();
    if seen.group != asked {
        let name = |g: Option<Group>| g.map_or("none".to_owned(), |g| g.to_string());
        return Err(other(format!(
            "group: {} was asked for, and {} used",
            name(asked),
            name(seen.group)
        )));
    }
    match asked.and_then(Group::number) {
        // Of fields in TLS 1.2 the ends tell no number, or that of a field that is like it.
        Some(number) if !case.exchange.is_finite_field() => {
            agree("group", [Some(number), client.group, server.group], number, hexadecimal)
        }
        _ => Ok(()),
    }
}

fn kind(case: &Case, seen: &Seen) -> Result<(), Mismatch> {
    if seen.hello_retry != (case.kind == Kind::HelloRetry) {
        let what = if seen.hello_retry {
            "a second hello was asked for"
        } else {
            "there was no second hello"
        };
        return Err(other(what.to_owned()));
    }
    match (case.kind, seen.ticket_shown) {
        (Kind::ResumedId, true) => Err(other("it was resumed by a ticket".to_owned())),
        (Kind::ResumedTicket, false) => Err(other("it was resumed without a ticket".to_owned())),
        _ => Ok(()),
    }
}

/// The server's signature: as the wire or an end says, else the one that the client alone allows.
fn signature(
    case: &Case,
    seen: &Seen,
    client: &EndSays,
    server: &EndSays,
) -> Result<Option<Signature>, Mismatch> {
    if case.kind.is_resumed() || case.exchange == Exchange::Rsa {
        return Ok(None);
    }
    let told: Vec<Signature> =
        [seen.signature, client.signature.map(Signature), server.signature.map(Signature)]
            .into_iter()
            .flatten()
            .collect();
    let used = told.first().copied().unwrap_or(case.certificate.signature());
    if told.iter().any(|t| *t != used) {
        return Err(contradiction(format!("the ends tell different signatures: {told:?}")));
    }
    if !used.is_of(case.certificate) {
        let certificate = case.certificate;
        return Err(other(format!("a signature {used} is none of a certificate {certificate}")));
    }
    Ok(Some(used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::words::Certificate;

    fn case() -> Case {
        Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full)
    }

    fn says() -> EndSays {
        EndSays {
            version: 0x0304,
            suite: Some(0x1301),
            reused: false,
            group: Some(29),
            signature: Some(0x0403),
            peer_proved: Some(false),
        }
    }

    fn seen() -> Seen {
        Seen { version: 0x0304, suite: 0x1301, group: Some(Group::X25519), ..Seen::default() }
    }

    #[test]
    fn what_was_asked_for_is_labelled_with_what_was_used() {
        let label = negotiated(&case(), &seen(), &says(), &says()).unwrap();
        assert_eq!(label.suite, "TLS_AES_128_GCM_SHA256");
        assert_eq!(label.group.as_deref(), Some("x25519"));
        assert_eq!(label.signature.as_deref(), Some("ecdsa_secp256r1_sha256"));
    }

    #[test]
    fn anything_else_does_not_count() {
        let refused = |seen: Seen, client: EndSays, server: EndSays| {
            let mismatch = negotiated(&case(), &seen, &client, &server).unwrap_err();
            assert!(!mismatch.contradiction, "{mismatch}");
            mismatch.to_string()
        };
        let other = EndSays { suite: Some(0x1302), ..says() };
        let e = refused(Seen { suite: 0x1302, ..seen() }, other, other);
        assert_eq!(e, "suite: 0x1301 was asked for, and 0x1302 negotiated");
        let e = refused(Seen { group: Some(Group::P256), ..seen() }, says(), says());
        assert_eq!(e, "group: x25519 was asked for, and p256 used");
        let e = refused(Seen { hello_retry: true, ..seen() }, says(), says());
        assert_eq!(e, "a second hello was asked for");
        let e = refused(seen(), says(), EndSays { peer_proved: Some(true), ..says() });
        assert_eq!(e, "client: does not prove itself was asked for, and proves itself negotiated");
    }

    #[test]
    fn an_end_that_contradicts_the_wire_is_not_believed() {
        let refused = |client: EndSays, server: EndSays| {
            let mismatch = negotiated(&case(), &seen(), &client, &server).unwrap_err();
            assert!(mismatch.contradiction, "{mismatch}");
            mismatch.to_string()
        };
        let e = refused(says(), EndSays { group: Some(23), ..says() });
        assert_eq!(e, "group: the wire says 0x001d, and the server 0x0017");
        let e = refused(EndSays { version: 0x0303, ..says() }, says());
        assert!(e.starts_with("version"), "{e}");
        let e = refused(
            EndSays { signature: Some(0x0807), ..says() },
            EndSays { signature: Some(0x0403), ..says() },
        );
        assert!(e.contains("different signatures"), "{e}");
        let e = refused(EndSays { suite: Some(0x1302), ..says() }, says());
        assert_eq!(e, "suite: the wire says 0x1301, and the client 0x1302");
    }

    /// What happens in a stack whose client keeps no session: every "resumption" is a full handshake.
    #[test]
    fn a_resumption_that_did_not_happen_on_one_end_is_none() {
        let resumed = Case { kind: Kind::ResumedPsk, ..case() };
        let reused = EndSays { reused: true, ..says() };
        let on_wire = Seen { resumed: true, ..seen() };
        assert!(negotiated(&resumed, &on_wire, &reused, &reused).unwrap().resumed);
        let e = negotiated(&resumed, &seen(), &says(), &says()).unwrap_err();
        assert_eq!(e, other("handshake: resumed was asked for, and full negotiated".to_owned()));
        let e = negotiated(&resumed, &on_wire, &says(), &reused).unwrap_err();
        let why = "handshake: the wire says resumed, and the client full".to_owned();
        assert_eq!(e, contradiction(why));
        let e = negotiated(&resumed, &seen(), &reused, &reused).unwrap_err();
        let why = "handshake: the wire says full, and the client resumed".to_owned();
        assert_eq!(e, contradiction(why));
        assert!(negotiated(&case(), &on_wire, &reused, &reused).is_err());
    }

    /// OpenSSL 4.0 takes a field of RFC 7919 though the server was given one of its own.
    #[test]
    fn another_field_than_the_servers_own_does_not_count() {
        let own = Case {
            version: Version::Tls12,
            exchange: Exchange::OwnDh2048,
            certificate: Certificate::Rsa2048,
            ..case()
        };
        let says = EndSays {
            version: 0x0303,
            suite: Some(0x009e),
            group: None,
            signature: None,
            ..says()
        };
        let seen = |group| Seen {
            version: 0x0303,
            suite: 0x009e,
            group: Some(group),
            signature: Some(Signature(0x0804)),
            client_proved: Some(false),
            ..Seen::default()
        };
        let label = negotiated(&own, &seen(Group::OwnDh { bits: 2048 }), &says, &says).unwrap();
        assert_eq!(label.group.as_deref(), Some("own-dh-2048"));
        let e = negotiated(&own, &seen(Group::Ffdhe2048), &says, &says).unwrap_err();
        let why = "group: own-dh-2048 was asked for, and ffdhe2048 used".to_owned();
        assert_eq!(e, other(why));
    }
}
