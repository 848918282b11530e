//! What was negotiated, as the bytes on the wire and either end say, and whether it was what was asked for.

use crate::tls::Case;
use crate::tls::words::{Exchange, Group, Kind, Signature, Suite, Version};
use serde::{Deserialize, Serialize};

/// What one end's own functions say; what a stack has no function for is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndSays {
    pub version: u16,
    pub suite: Option<u16>,
    /// Whether an earlier session was used.
    pub reused: bool,
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
        signature: signature(case, seen, client, server)?.map(|s| s.name_by(case.certificate)),
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

// What the bytes on the wire say was negotiated.
//
// Both ends' Finished messages authenticate these very bytes (RFC 5246 7.4.9, RFC 8446 4.4.4), so
// where both ends say that they are done, this is what both used: the same evidence for every stack.

/// Content types (RFC 8446 5.1).
const CHANGE_CIPHER_SPEC: u8 = 20;
const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;

/// Handshake types (RFC 5246 7.4, RFC 5077 3.3).
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const NEW_SESSION_TICKET: u8 = 4;
const CERTIFICATE: u8 = 11;
const SERVER_KEY_EXCHANGE: u8 = 12;
const CERTIFICATE_VERIFY: u8 = 15;

/// Extensions (registry "TLS ExtensionType Values").
const SESSION_TICKET: u16 = 35;
const PRE_SHARED_KEY: u16 = 41;
const SUPPORTED_VERSIONS: u16 = 43;
const KEY_SHARE: u16 = 51;

/// The random of a ServerHello that asks for a second ClientHello: SHA-256 of "HelloRetryRequest"
/// (RFC 8446 4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// What begins each prime of RFC 7919 (appendix A): 64 ones and the first digits of e.
const RFC_7919: [u8; 16] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xad, 0xf8, 0x54, 0x58, 0xa2, 0xbb, 0x4a, 0x9a,
];

/// What the bytes of one handshake say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Version of the protocol, by its number.
    pub version: u16,
    pub suite: u16,
    /// Group of the key exchange; none where RSA encrypts, or where a resumption agrees on nothing new.
    pub group: Option<Group>,
    /// The server's signature, in TLS 1.2, where it is sent in the clear.
    pub signature: Option<Signature>,
    /// Whether the client was asked for a second hello.
    pub hello_retry: bool,
    /// Whether an earlier connection's secret was used.
    pub resumed: bool,
    /// Whether the client showed a ticket of TLS 1.2.
    pub ticket_shown: bool,
    /// Whether the server gave a ticket of TLS 1.2.
    pub ticket_given: bool,
    /// Whether the client proved itself; only TLS 1.2 shows it.
    pub client_proved: Option<bool>,
}

/// Bytes that are no handshake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes on the wire cannot be read: {0}")]
pub struct Unreadable(pub &'static str);

/// Reads what each end wrote, from the first hello on.
pub fn read_wire(from_client: &[u8], from_server: &[u8]) -> Result<Seen, Unreadable> {
    let mut seen = Seen::default();
    let client = messages(from_client)?;
    let server = messages(from_server)?;
    let mut hello = false;
    for (kind, body) in &server {
        match *kind {
            SERVER_HELLO => {
                server_hello(body, &mut seen)?;
                hello = true;
            }
            NEW_SESSION_TICKET => seen.ticket_given = true,
            SERVER_KEY_EXCHANGE => key_exchange(body, &mut seen)?,
            _ => {}
        }
    }
    if !hello {
        return Err(Unreadable("there is no ServerHello"));
    }
    for (_, body) in client.iter().filter(|(kind, _)| *kind == CLIENT_HELLO) {
        seen.ticket_shown =
            extension_of_client(body, SESSION_TICKET)?.is_some_and(|t| !t.is_empty());
    }
    if seen.version < 0x0304 {
        // A resumption goes from the hellos to ChangeCipherSpec (RFC 5246 7.3, figure 2).
        seen.resumed = !server.iter().any(|(kind, _)| *kind == CERTIFICATE);
        seen.client_proved = Some(client.iter().any(|(kind, _)| *kind == CERTIFICATE_VERIFY));
    }
    Ok(seen)
}

/// Bytes of the last record of application data in a stream, its header with it; 0 where there is none.
pub fn last_data_record(stream: &[u8]) -> usize {
    let mut last = 0;
    let mut rest = Reader(stream);
    while let Ok((content, body)) = record(&mut rest) {
        last = if content == APPLICATION_DATA { 5 + body.len() } else { last };
    }
    last
}

/// Bytes in each record of a stream that holds application data only, their headers left out.
pub fn data_records(stream: &[u8]) -> Result<Vec<usize>, Unreadable> {
    let (mut rest, mut lengths) = (Reader(stream), Vec::new());
    while !rest.0.is_empty() {
        let (content, body) = record(&mut rest)?;
        if content != APPLICATION_DATA {
            return Err(Unreadable("a record is not of application data"));
        }
        lengths.push(body.len());
    }
    Ok(lengths)
}

/// The handshake messages of one end that are in the clear: up to its ChangeCipherSpec or its first
/// encrypted record.
fn messages(stream: &[u8]) -> Result<Vec<(u8, Vec<u8>)>, Unreadable> {
    let (mut joined, mut found) = (Vec::new(), Vec::new());
    let (mut rest, mut hellos) = (Reader(stream), 0);
    while !rest.0.is_empty() {
        let (content, body) = record(&mut rest)?;
        match content {
            HANDSHAKE => joined.extend_from_slice(body),
            // In TLS 1.3 it means nothing (RFC 8446 D.4): a second hello may come after it.
            CHANGE_CIPHER_SPEC if is_only_hellos(&joined) && hellos == 0 => hellos += 1,
            _ => break,
        }
    }
    let mut rest = Reader(&joined);
    while !rest.0.is_empty() {
        let kind = rest.number(1)? as u8;
        found.push((kind, rest.block(3)?.to_vec()));
    }
    Ok(found)
}

/// Whether there is a single message so far, a hello: what follows ChangeCipherSpec then can only be
/// told by looking on. In TLS 1.2 that is a resumption, whose next record is encrypted.
fn is_only_hellos(joined: &[u8]) -> bool {
    let mut rest = Reader(joined);
    let kind = rest.number(1).unwrap_or(0) as u8;
    let Ok(body) = rest.block(3) else { return false };
    let retry = kind == SERVER_HELLO && body.get(2..34) == Some(&RETRY[..]);
    rest.0.is_empty() && (retry || (kind == CLIENT_HELLO && offers_13(body)))
}

/// A client that offers TLS 1.2 alone may say so in the extension as well (RFC 8446 4.2.1), as rustls's does.
fn offers_13(body: &[u8]) -> bool {
    let Ok(Some(all)) = extension_of_client(body, SUPPORTED_VERSIONS) else { return false };
    all.get(1..).is_some_and(|versions| versions.chunks_exact(2).any(|v| v == [3, 4]))
}

fn record<'a>(rest: &mut Reader<'a>) -> Result<(u8, &'a [u8]), Unreadable> {
    let content = rest.number(1)? as u8;
    rest.number(2)?;
    Ok((content, rest.block(2)?))
}

fn server_hello(body: &[u8], seen: &mut Seen) -> Result<(), Unreadable> {
    let mut rest = Reader(body);
    seen.version = rest.number(2)? as u16;
    let retry = rest.take(32)? == RETRY;
    rest.block(1)?;
    seen.suite = rest.number(2)? as u16;
    rest.number(1)?;
    seen.hello_retry |= retry;
    if rest.0.is_empty() {
        return Ok(());
    }
    for (kind, value) in extensions(rest.block(2)?)? {
        let mut value = Reader(value);
        match kind {
            SUPPORTED_VERSIONS => seen.version = value.number(2)? as u16,
            KEY_SHARE => seen.group = Some(Group::of_number(value.number(2)? as u16)),
            PRE_SHARED_KEY => seen.resumed = true,
            _ => {}
        }
    }
    Ok(())
}

/// A ServerKeyExchange of ECDHE (RFC 8422 5.4) or DHE (RFC 5246 7.4.3).
fn key_exchange(body: &[u8], seen: &mut Seen) -> Result<(), Unreadable> {
    /// `named_curve`; a field's prime begins with the two bytes of its length, 0 or 1 or 2 or 4 first,
    /// and no field that is in use has 768 to 1023 bytes.
    const NAMED_CURVE: u8 = 3;
    let mut rest = Reader(body);
    if body.first() == Some(&NAMED_CURVE) {
        rest.number(1)?;
        seen.group = Some(Group::of_number(rest.number(2)? as u16));
        rest.block(1)?;
    } else {
        seen.group = Some(field(rest.block(2)?));
        rest.block(2)?;
        rest.block(2)?;
    }
    if !rest.0.is_empty() {
        seen.signature = Some(Signature(rest.number(2)? as u16));
    }
    Ok(())
}

fn field(prime: &[u8]) -> Group {
    let start = prime.iter().position(|b| *b != 0).unwrap_or(prime.len());
    let prime = &prime[start..];
    let bits = prime.first().map_or(0, |first| prime.len() as u32 * 8 - first.leading_zeros());
    match bits {
        2048 if prime.starts_with(&RFC_7919) => Group::Ffdhe2048,
        3072 if prime.starts_with(&RFC_7919) => Group::Ffdhe3072,
        4096 if prime.starts_with(&RFC_7919) => Group::Ffdhe4096,
        _ => Group::OwnDh { bits },
    }
}

fn extension_of_client(body: &[u8], wanted: u16) -> Result<Option<&[u8]>, Unreadable> {
    let mut rest = Reader(body);
    rest.take(2 + 32)?;
    rest.block(1)?;
    rest.block(2)?;
    rest.block(1)?;
    if rest.0.is_empty() {
        return Ok(None);
    }
    let all = extensions(rest.block(2)?)?;
    Ok(all.into_iter().find(|(kind, _)| *kind == wanted).map(|(_, value)| value))
}

fn extensions(block: &[u8]) -> Result<Vec<(u16, &[u8])>, Unreadable> {
    let (mut rest, mut all) = (Reader(block), Vec::new());
    while !rest.0.is_empty() {
        let kind = rest.number(2)? as u16;
        all.push((kind, rest.block(2)?));
    }
    Ok(all)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(Unreadable("they are cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<u32, Unreadable> {
        Ok(self.take(bytes)?.iter().fold(0, |n, b| n << 8 | u32::from(*b)))
    }

    /// Bytes behind their own length, a number of `width` bytes.
    fn block(&mut self, width: usize) -> Result<&'a [u8], Unreadable> {
        let length = self.number(width)? as usize;
        self.take(length)
    }
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

    fn block(width: usize, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32).to_be_bytes();
        [&length[4 - width..], body].concat()
    }

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        [&[kind][..], &block(3, body)].concat()
    }

    fn of_record(content: u8, body: &[u8]) -> Vec<u8> {
        [&[content, 3, 3][..], &block(2, body)].concat()
    }

    fn extension(kind: u16, value: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes()[..], &block(2, value)].concat()
    }

    fn hello(random: &[u8; 32], suite: u16, extensions: &[Vec<u8>]) -> Vec<u8> {
        let all = block(2, &extensions.concat());
        let body = [&[3, 3][..], random, &[0], &suite.to_be_bytes(), &[0], &all].concat();
        message(SERVER_HELLO, &body)
    }

    fn client_hello(extensions: &[Vec<u8>]) -> Vec<u8> {
        let all = block(2, &extensions.concat());
        let body = [&[3, 3][..], &[7; 32], &[0], &[0, 2, 0x13, 1], &[1, 0], &all].concat();
        of_record(HANDSHAKE, &message(CLIENT_HELLO, &body))
    }

    fn offering_13() -> Vec<u8> {
        client_hello(&[extension(SUPPORTED_VERSIONS, &[2, 3, 4])])
    }

    #[test]
    fn of_tls_13_version_group_and_resumption_are_in_the_server_hello() {
        let extensions = [
            extension(SUPPORTED_VERSIONS, &[3, 4]),
            extension(KEY_SHARE, &[0x11, 0xec, 0, 0]),
            extension(PRE_SHARED_KEY, &[0, 0]),
        ];
        let mut server = of_record(HANDSHAKE, &hello(&[1; 32], 0x1301, &extensions));
        server.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
        server.extend(of_record(APPLICATION_DATA, &[0; 40]));
        let seen = read_wire(&offering_13(), &server).unwrap();
        assert_eq!((seen.version, seen.suite), (0x0304, 0x1301));
        assert_eq!(seen.group, Some(Group::X25519Mlkem768));
        assert!(seen.resumed && !seen.hello_retry);
        assert_eq!(seen.client_proved, None);
        assert_eq!(last_data_record(&server), 45);
    }

    #[test]
    fn records_of_data_are_counted_and_nothing_else_passes_for_one() {
        let data = [of_record(APPLICATION_DATA, &[0; 40]), of_record(APPLICATION_DATA, &[1; 7])];
        assert_eq!(data_records(&data.concat()), Ok(vec![40, 7]));
        assert!(data_records(&data.concat()[..50]).is_err());
        assert!(data_records(&of_record(HANDSHAKE, &[0; 40])).is_err());
        assert_eq!(data_records(&[]), Ok(Vec::new()));
    }

    #[test]
    fn a_second_hello_is_seen_behind_a_change_cipher_spec() {
        let version = || extension(SUPPORTED_VERSIONS, &[3, 4]);
        let retry = [version(), extension(KEY_SHARE, &[0, 23])];
        let real = [version(), extension(KEY_SHARE, &[0, 23, 0, 0])];
        let mut server = of_record(HANDSHAKE, &hello(&RETRY, 0x1301, &retry));
        server.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
        server.extend(of_record(HANDSHAKE, &hello(&[1; 32], 0x1301, &real)));
        server.extend(of_record(APPLICATION_DATA, &[0; 9]));
        let mut client = offering_13();
        client.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
        client.extend(offering_13());
        let seen = read_wire(&client, &server).unwrap();
        assert!(seen.hello_retry && !seen.resumed);
        assert_eq!(seen.group, Some(Group::P256));
    }

    #[test]
    fn of_tls_12_the_key_exchange_names_group_and_signature() {
        let exchange = [&[3, 0, 24, 1, 4][..], &[8, 4], &block(2, &[0; 4])].concat();
        let flight = [
            hello(&[1; 32], 0xc02f, &[]),
            message(CERTIFICATE, &[0; 3]),
            message(SERVER_KEY_EXCHANGE, &exchange),
        ];
        let server = of_record(HANDSHAKE, &flight.concat());
        let mut client = client_hello(&[]);
        client.extend(of_record(HANDSHAKE, &message(CERTIFICATE_VERIFY, &[0; 8])));
        let seen = read_wire(&client, &server).unwrap();
        assert_eq!((seen.version, seen.suite), (0x0303, 0xc02f));
        assert_eq!(seen.group, Some(Group::P384));
        assert_eq!(seen.signature, Some(Signature(0x0804)));
        assert_eq!((seen.resumed, seen.client_proved), (false, Some(true)));
    }

    #[test]
    fn a_field_is_told_by_its_prime() {
        let mut prime = vec![0xff; 256];
        prime[..16].copy_from_slice(&RFC_7919);
        assert_eq!(field(&prime), Group::Ffdhe2048);
        prime[9] = 0;
        assert_eq!(field(&prime), Group::OwnDh { bits: 2048 });
        let padded = [&[0, 0x3f][..], &[1; 255]].concat();
        assert_eq!(field(&padded), Group::OwnDh { bits: 2046 });
        assert_eq!(field(&[]), Group::OwnDh { bits: 0 });
    }

    #[test]
    fn a_resumption_of_tls_12_goes_from_the_hello_to_change_cipher_spec() {
        let mut server = of_record(HANDSHAKE, &hello(&[1; 32], 0xc02f, &[]));
        server.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
        // Encrypted: its first byte is no message's kind.
        server.extend(of_record(HANDSHAKE, &[0xee; 40]));
        let client = client_hello(&[extension(SESSION_TICKET, &[1; 20])]);
        let seen = read_wire(&client, &server).unwrap();
        assert!(seen.resumed && seen.ticket_shown && seen.group.is_none());
        // One that says in the extension too that it offers TLS 1.2 alone.
        let only_12 = [extension(SUPPORTED_VERSIONS, &[2, 3, 3]), extension(SESSION_TICKET, &[1])];
        let mut client = client_hello(&only_12);
        client.extend(of_record(CHANGE_CIPHER_SPEC, &[1]));
        client.extend(of_record(HANDSHAKE, &[0xee; 40]));
        assert!(read_wire(&client, &server).unwrap().resumed);
        let empty = client_hello(&[extension(SESSION_TICKET, &[])]);
        assert!(!read_wire(&empty, &server).unwrap().ticket_shown);
    }

    #[test]
    fn what_is_cut_off_anywhere_is_an_error_or_says_less_and_never_panics() {
        let extensions = [extension(SUPPORTED_VERSIONS, &[3, 4]), extension(KEY_SHARE, &[0, 29])];
        let server = of_record(HANDSHAKE, &hello(&[1; 32], 0x1301, &extensions));
        for end in 0..server.len() {
            assert!(read_wire(&offering_13(), &server[..end]).is_err(), "{end}");
        }
        assert!(read_wire(&[], &server).is_ok());
    }
}
