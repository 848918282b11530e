//! Whether a handshake was the one that was asked for: by the wire and by what either end says.

use crate::case::Case;
use crate::wire::Seen;
use crate::words::{Exchange, Group, Kind, Signature, Suite, Version};
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

/// Holds a handshake to its case.
///
/// # Errors
/// In one line, what was negotiated instead, or where the ends contradict each other.
pub fn negotiated(
    case: &Case,
    seen: &Seen,
    client: &EndSays,
    server: &EndSays,
) -> Result<Negotiated, String> {
    let resumed = case.kind.is_resumed();
    agree(
        "version",
        &[seen.version, client.version, server.version].map(Some),
        case.version.number(),
    )?;
    let code = case.code().ok_or("there is no such suite")?;
    agree("suite", &[Some(seen.suite), client.suite, server.suite], code.number)?;
    for (who, reused) in
        [("wire", seen.resumed), ("client", client.reused), ("server", server.reused)]
    {
        if reused != resumed {
            let what = if reused { "resumed" } else { "full" };
            return Err(format!("{} was asked for and the {who} says {what}", case.kind));
        }
    }
    group(case, seen, client, server)?;
    kind(case, seen)?;
    let proofs = [seen.client_proved, server.peer_proved];
    let proved = proofs.iter().flatten().all(|p| *p) && proofs.iter().flatten().count() > 0;
    // A resumption repeats no proof; the server may remember the first.
    if !resumed && proved != case.client_auth {
        let what = if proved { "proved itself" } else { "did not prove itself" };
        return Err(format!("the client {what}"));
    }
    Ok(Negotiated {
        version: case.version,
        suite: Suite::name_of(seen.suite),
        group: seen.group.map(|g| g.to_string()),
        signature: signature(case, seen, client, server)?.map(|s| s.to_string()),
        resumed,
        hello_retry: seen.hello_retry,
        client_auth: !resumed && proved,
    })
}

fn agree(what: &str, told: &[Option<u16>], asked: u16) -> Result<(), String> {
    match told.iter().flatten().find(|t| **t != asked) {
        Some(other) => {
            Err(format!("{what} {asked:#06x} was asked for and {other:#06x} negotiated"))
        }
        None => Ok(()),
    }
}

fn group(case: &Case, seen: &Seen, client: &EndSays, server: &EndSays) -> Result<(), String> {
    // A resumption of TLS 1.2 agrees on nothing new; what the ends remember is the first one's.
    if case.kind.is_resumed() && case.version == Version::Tls12 {
        return Ok(());
    }
    let asked = case.exchange.group();
    if seen.group != asked {
        let name = |g: Option<Group>| g.map_or("none".to_owned(), |g| g.to_string());
        return Err(format!("group {} was asked for and {} used", name(asked), name(seen.group)));
    }
    match asked.and_then(Group::number) {
        // Of fields in TLS 1.2 the ends tell no number, or that of a field that is like it.
        Some(number) if !case.exchange.is_finite_field() => {
            agree("group", &[client.group, server.group], number)
        }
        _ => Ok(()),
    }
}

fn kind(case: &Case, seen: &Seen) -> Result<(), String> {
    if seen.hello_retry != (case.kind == Kind::HelloRetry) {
        let what = if seen.hello_retry {
            "a second hello was asked for"
        } else {
            "there was no second hello"
        };
        return Err(what.to_owned());
    }
    match (case.kind, seen.ticket_shown) {
        (Kind::ResumedId, true) => Err("it was resumed by a ticket".to_owned()),
        (Kind::ResumedTicket, false) => Err("it was resumed without a ticket".to_owned()),
        _ => Ok(()),
    }
}

/// The server's signature: as the wire or an end says, else the one that the client alone allows.
fn signature(
    case: &Case,
    seen: &Seen,
    client: &EndSays,
    server: &EndSays,
) -> Result<Option<Signature>, String> {
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
        return Err(format!("the ends tell different signatures: {told:?}"));
    }
    if !used.is_of(case.certificate) {
        return Err(format!("a signature {used} is none of a certificate {}", case.certificate));
    }
    Ok(Some(used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Certificate;

    fn case() -> Case {
        Case {
            version: Version::Tls13,
            exchange: Exchange::X25519,
            certificate: Certificate::P256,
            kind: Kind::Full,
            client_auth: false,
            suite: Suite::Aes128Gcm,
        }
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
        let refused = |case: Case, seen: Seen, client: EndSays, server: EndSays| {
            negotiated(&case, &seen, &client, &server).unwrap_err()
        };
        let e = refused(case(), Seen { suite: 0x1302, ..seen() }, says(), says());
        assert_eq!(e, "suite 0x1301 was asked for and 0x1302 negotiated");
        let e = refused(case(), Seen { group: Some(Group::P256), ..seen() }, says(), says());
        assert_eq!(e, "group x25519 was asked for and p256 used");
        let e = refused(case(), seen(), says(), EndSays { group: Some(23), ..says() });
        assert!(e.starts_with("group 0x001d"), "{e}");
        let e = refused(case(), seen(), EndSays { version: 0x0303, ..says() }, says());
        assert!(e.starts_with("version"), "{e}");
        let e = refused(case(), seen(), EndSays { signature: Some(0x0807), ..says() }, says());
        assert!(e.contains("different signatures"), "{e}");
        let e = refused(case(), Seen { hello_retry: true, ..seen() }, says(), says());
        assert_eq!(e, "a second hello was asked for");
        let e = refused(case(), seen(), says(), EndSays { peer_proved: Some(true), ..says() });
        assert_eq!(e, "the client proved itself");
    }

    /// What happens in a stack whose client keeps no session: every "resumption" is a full handshake.
    #[test]
    fn a_resumption_that_did_not_happen_on_one_end_is_none() {
        let resumed = Case { kind: Kind::ResumedPsk, ..case() };
        let reused = EndSays { reused: true, ..says() };
        let on_wire = Seen { resumed: true, ..seen() };
        assert!(negotiated(&resumed, &on_wire, &reused, &reused).unwrap().resumed);
        let e = negotiated(&resumed, &on_wire, &says(), &reused).unwrap_err();
        assert_eq!(e, "resumed-psk was asked for and the client says full");
        let e = negotiated(&resumed, &seen(), &reused, &reused).unwrap_err();
        assert_eq!(e, "resumed-psk was asked for and the wire says full");
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
        assert_eq!(e, "group own-dh-2048 was asked for and ffdhe2048 used");
    }
}
