//! Both ends of one case: connections are made and freed one after the other.

use crate::tls::rustls::config::Configs;
use crate::tls::rustls::pipe::Wire;
use crate::tls::{Says, end};
use rustls::{ClientConnection, ConnectionCommon, HandshakeKind, ServerConnection, SideData};
use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Arc;

/// What the interface's functions work on.
pub struct Session {
    pub(crate) configs: Configs,
    pub(crate) pipes: [Wire; 2],
    pub(crate) client: Option<ClientConnection>,
    pub(crate) server: Option<ServerConnection>,
    /// Why the last call failed.
    pub(crate) words: String,
}

/// Whether a handshake is over, or why there is none.
type Stepped = Result<bool, String>;

impl Session {
    pub(crate) fn begin(&mut self, which: i32) -> Result<(), String> {
        if which == end::CLIENT {
            let config = Arc::clone(&self.configs.client);
            let name = self.configs.name.clone();
            self.client = Some(ClientConnection::new(config, name).map_err(|e| e.to_string())?);
        } else {
            let config = Arc::clone(&self.configs.server);
            self.server = Some(ServerConnection::new(config).map_err(|e| e.to_string())?);
        }
        Ok(())
    }

    pub(crate) fn step(&mut self, which: i32) -> Stepped {
        let [of_client, of_server] = &mut self.pipes;
        if which == end::CLIENT {
            step(connected(&mut self.client)?, of_client)
        } else {
            step(connected(&mut self.server)?, of_server)
        }
    }

    pub(crate) fn send(&mut self, data: &[u8], times: u32) -> Result<(), String> {
        let (server, pipe) = (connected(&mut self.server)?, &mut self.pipes[1]);
        for _ in 0..times {
            server.writer().write_all(data).map_err(|e| e.to_string())?;
            flush(server, pipe)?;
        }
        Ok(())
    }

    /// Fills the buffer record by record.
    pub(crate) fn receive(&mut self, into: &mut [u8], size: usize) -> Result<(), String> {
        let (client, pipe) = (connected(&mut self.client)?, &mut self.pipes[0]);
        into.chunks_exact_mut(size).try_for_each(|one| receive(client, pipe, one))
    }

    pub(crate) fn says(&mut self, which: i32) -> Option<Says> {
        if which == end::CLIENT {
            self.client.as_deref().map(says)
        } else {
            self.server.as_deref().map(says)
        }
    }

    /// Says goodbye where the handshake is over.
    pub(crate) fn end(&mut self, which: i32) {
        let [of_client, of_server] = &mut self.pipes;
        if which == end::CLIENT {
            part(self.client.take(), of_client);
        } else {
            part(self.server.take(), of_server);
        }
    }
}

fn connected<C>(connection: &mut Option<C>) -> Result<&mut C, String> {
    connection.as_mut().ok_or_else(|| "there is no connection".to_owned())
}

fn step<D: SideData>(connection: &mut ConnectionCommon<D>, pipe: &mut Wire) -> Stepped {
    take(connection, pipe)?;
    flush(connection, pipe)?;
    Ok(!connection.is_handshaking())
}

/// Takes everything that has come.
fn take<D: SideData>(connection: &mut ConnectionCommon<D>, pipe: &mut Wire) -> Result<(), String> {
    while connection.wants_read() && more(connection, pipe)? {}
    Ok(())
}

/// Takes a piece of what has come; whether there was any.
fn more<D: SideData>(
    connection: &mut ConnectionCommon<D>,
    pipe: &mut Wire,
) -> Result<bool, String> {
    match connection.read_tls(pipe) {
        Ok(_) => connection.process_new_packets().map(|_| true).map_err(|e| e.to_string()),
        Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(e) => Err(e.to_string()),
    }
}

fn flush<D: SideData>(connection: &mut ConnectionCommon<D>, pipe: &mut Wire) -> Result<(), String> {
    while connection.wants_write() {
        connection.write_tls(pipe).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn receive<D: SideData>(
    connection: &mut ConnectionCommon<D>,
    pipe: &mut Wire,
    into: &mut [u8],
) -> Result<(), String> {
    let mut filled = 0;
    while filled < into.len() {
        match connection.reader().read(&mut into[filled..]) {
            Ok(0) => return Err("the other end has said goodbye".to_owned()),
            Ok(taken) => filled += taken,
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                if !more(connection, pipe)? {
                    return Err("less has come than was sent".to_owned());
                }
            }
            Err(e) => return Err(e.to_string()),
        }
    }
    Ok(())
}

fn part<D: SideData, C: std::ops::DerefMut<Target = ConnectionCommon<D>>>(
    connection: Option<C>,
    pipe: &mut Wire,
) {
    let Some(mut connection) = connection else { return };
    if !connection.is_handshaking() {
        connection.send_close_notify();
        // What cannot be said goodbye to is left all the same.
        _ = flush(&mut connection, pipe);
    }
}

fn says<D>(connection: &ConnectionCommon<D>) -> Says {
    Says {
        version: connection.protocol_version().map_or(0, u16::from),
        suite: connection.negotiated_cipher_suite().map_or(0, |suite| u16::from(suite.suite())),
        group: connection.negotiated_key_exchange_group().map_or(0, |g| u16::from(g.name())),
        // rustls does not tell.
        signature: 0,
        reused: i32::from(connection.handshake_kind() == Some(HandshakeKind::Resumed)),
        peer_proved: i32::from(connection.peer_certificates().is_some()),
    }
}
