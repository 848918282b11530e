//! What the wire says: the first connections go through a relay that keeps every byte.
//!
//! A client's own words are not enough: of a DHE of TLS 1.2 they do not tell the field, and a resumption
//! is believed only where the wire shows it (see `record::tls::read_wire`).

use super::http1;
use super::lane::{alpn, shake, side, sockets};
use super::stream::{PATIENCE, Stream};
use crate::server::job::{Ends, Job, Libraries, Told};
use adapters::stacks::{Side, Sockets};
use judge::load::{Http, Picked};
use record::tls::{Case, EndSays, Kind, Negotiated, Seen};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

/// What connections of the job negotiate: a full one and, where some are to resume, one that does.
pub(super) fn look(libraries: &Libraries, job: &Job) -> Result<Told, String> {
    let mut told = Told::default();
    if job.ends != Ends::Answered {
        return Ok(told);
    }
    if let Some((mut side, case)) = side(libraries, job)?.zip(job.tls) {
        let kind = if case.kind.is_resumed() { Kind::Full } else { case.kind };
        let full = Case { kind, ..case };
        told.full = Some(negotiated(job, &mut side, &full)?);
        if job.resumed > 0.0 && side.renew() {
            told.by_session = Some(negotiated(job, &mut side, &case)?);
        }
        let sockets = sockets(libraries)?;
        let picked = job.offers.iter().map(|offered| picked(&sockets, job, &case, offered));
        told.picked = picked.collect();
    }
    Ok(told)
}

/// What the server picks for a client that leaves it the choice.
fn picked(sockets: &Sockets, job: &Job, case: &Case, offered: &str) -> Picked {
    let mut picked = Picked { offered: offered.to_owned(), ..Picked::default() };
    match seen(sockets, job, case, offered) {
        Ok(seen) => (picked.group, picked.hello_retry) = (seen.group, seen.hello_retry),
        Err(why) => picked.reason = Some(why),
    }
    picked
}

fn seen(sockets: &Sockets, job: &Job, case: &Case, offered: &str) -> Result<Seen, String> {
    let mut side = sockets.offering(case, offered, alpn(job)).map_err(|t| t.to_string())?;
    let (socket, relay) = relay(job.port)?;
    let connected = connect(job, &mut side, socket, false);
    let [from_client, from_server] = relay.join().map_err(|_| "the relay ended")?;
    connected?;
    record::tls::read_wire(&from_client, &from_server).map_err(|e| e.to_string())
}

fn negotiated(job: &Job, side: &mut Side, case: &Case) -> Result<Negotiated, String> {
    let (socket, relay) = relay(job.port)?;
    let client = connect(job, side, socket, case.kind.is_resumed());
    let [from_client, from_server] = relay.join().map_err(|_| "the relay ended")?;
    let client = client?;
    let seen = record::tls::read_wire(&from_client, &from_server).map_err(|e| e.to_string())?;
    // The server is another process: what it says is not known, but that one that demands a certificate has
    // answered.
    let peer_proved = case.client_auth.then_some(true);
    let server = EndSays { suite: None, group: None, signature: None, peer_proved, ..client };
    record::tls::negotiated(case, &seen, &client, &server).map_err(|m| m.to_string())
}

/// One connection with one request, so that tickets of TLS 1.3 are read too.
fn connect(job: &Job, side: &mut Side, to: UnixStream, resume: bool) -> Result<EndSays, String> {
    let mut secured = shake(side, to.into(), resume)?;
    let says = secured.says();
    if job.http == Http::Http2 {
        // The server says its settings without being asked.
        secured.read(&mut [0; 4096]).map_err(|t| t.to_string())?;
        secured.close();
        return Ok(says);
    }
    let mut stream = Stream::Secured(Box::new(secured));
    let bytes = job.responses.first().copied().unwrap_or(0);
    let request = http1::request(bytes, job.request_bytes);
    http1::ask(&mut stream, &request, bytes, &mut [0; 1 << 14], &mut Told::default())?;
    if let Stream::Secured(secured) = &mut stream {
        secured.close();
    }
    Ok(says)
}

/// What went from the client and from the server.
type Relay = JoinHandle<[Vec<u8>; 2]>;

/// An end of a connection whose bytes are passed on to a server. Not TCP: the process listens nowhere.
fn relay(to: u16) -> Result<(UnixStream, Relay), String> {
    let server = Stream::connect(to)?;
    let made = || {
        let (end, client) = UnixStream::pair()?;
        end.set_read_timeout(Some(PATIENCE))?;
        end.set_write_timeout(Some(PATIENCE))?;
        Ok((end, client.try_clone()?, client, server.try_clone()?))
    };
    let made: std::io::Result<_> = made();
    let (end, towards, client, back) = made.map_err(|e| format!("relay: {e}"))?;
    let relay = std::thread::spawn(move || {
        let from_server = std::thread::spawn(move || {
            pass(back, towards, |client: &UnixStream| client.shutdown(Shutdown::Write))
        });
        let from_client =
            pass(client, server, |server: &TcpStream| server.shutdown(Shutdown::Write));
        [from_client, from_server.join().unwrap_or_default()]
    });
    Ok((end, relay))
}

/// Passes everything on until the end, and keeps it.
fn pass<To>(mut from: impl Read, to: To, end: fn(&To) -> std::io::Result<()>) -> Vec<u8>
where
    for<'a> &'a To: Write,
{
    let (mut kept, mut scratch) = (Vec::new(), [0; 1 << 14]);
    while let Ok(taken @ 1..) = from.read(&mut scratch) {
        kept.extend_from_slice(&scratch[..taken]);
        if (&to).write_all(&scratch[..taken]).is_err() {
            break;
        }
    }
    // Who is gone already needs no goodbye.
    drop(end(&to));
    kept
}
