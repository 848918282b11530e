//! What the bytes on the wire say was negotiated.
//!
//! Both ends' Finished messages authenticate these very bytes (RFC 5246 7.4.9, RFC 8446 4.4.4), so
//! where both ends say that they are done, this is what both used: the same evidence for every stack.

use crate::tls::words::{Group, Signature};

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
    /// Suite, by its number.
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
///
/// # Errors
/// [`Unreadable`] where the bytes are cut off or malformed.
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
#[must_use]
pub fn last_data_record(stream: &[u8]) -> usize {
    let mut last = 0;
    let mut rest = Reader(stream);
    while let Ok((content, body)) = record(&mut rest) {
        last = if content == APPLICATION_DATA { 5 + body.len() } else { last };
    }
    last
}

/// Bytes in each record of a stream that holds application data only, their headers left out.
///
/// # Errors
/// [`Unreadable`] where a record is cut off or of another kind.
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

/// A finite field by its prime.
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

/// Takes from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Unreadable> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(Unreadable("they are cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// A big-endian number.
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
mod tests;
