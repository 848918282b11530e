//! A connection of the client's, plain or not, whose calls wait.

use adapters::stacks::{Flow, Secured};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// How long anything of the server may take: the slowest handshake takes a fiftieth of a second.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(super) enum Stream {
    Plain(TcpStream),
    Secured(Box<Secured>),
}

impl Stream {
    pub(super) fn connect(port: u16) -> Result<TcpStream, String> {
        let socket =
            TcpStream::connect(("127.0.0.1", port)).map_err(|e| format!("connect: {e}"))?;
        let set = || {
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.set_write_timeout(Some(PATIENCE))
        };
        set().map_err(|e| format!("socket: {e}"))?;
        Ok(socket)
    }

    /// Some bytes.
    pub(super) fn read(&mut self, into: &mut [u8]) -> Result<usize, String> {
        match self {
            Self::Plain(socket) => match socket.read(into).map_err(|e| format!("read: {e}"))? {
                0 => Err(GONE.to_owned()),
                taken => Ok(taken),
            },
            Self::Secured(secured) => done(secured.read(into).map_err(|t| t.to_string())?),
        }
    }

    /// All bytes.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Plain(socket) => socket.write_all(bytes).map_err(|e| format!("write: {e}")),
            Self::Secured(secured) => {
                while !bytes.is_empty() {
                    let written = done(secured.write(bytes).map_err(|t| t.to_string())?)?;
                    bytes = &bytes[written..];
                }
                Ok(())
            }
        }
    }
}

const GONE: &str = "the server closed the connection";

fn done(flow: Flow) -> Result<usize, String> {
    match flow {
        Flow::Done(bytes) => Ok(bytes),
        Flow::Closed => Err(GONE.to_owned()),
        Flow::WantsRead | Flow::WantsWrite => Err("the server did not answer in time".to_owned()),
    }
}
