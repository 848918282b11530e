//! The minimal server: an event loop and HTTP/1.1, plain or over libssl. Its system calls are those that no
//! server can do without. Settings are those of web servers: TCP_NODELAY, buffers given back while idle,
//! output in pieces of a record.

use crate::server::{self, Listening, Listens, MinimalPlan, trouble};
use adapters::stacks::{Flow, Secured, Side};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_nodelay;
use rustix::net::{SocketFlags, accept_with};
use std::net::TcpListener;

/// Events that are fetched at once, as nginx does by default (`epoll_events`).
const EVENTS: usize = 512;
/// The event of the process's standard input, whose end ends the server.
const STDIN: u64 = u64::MAX;
/// What connections' events are counted from; below are listeners.
const FIRST_CONNECTION: u64 = 1 << 32;

struct Listener {
    socket: TcpListener,
    side: Option<Side>,
    /// Bytes that are written at once.
    piece: usize,
}

/// Serves until standard input ends.
pub(crate) fn serve(
    plan: &MinimalPlan,
    say: &mut dyn FnMut(&Listening) -> Result<(), String>,
) -> Result<(), String> {
    match open(plan) {
        Ok((mut server, listens)) => {
            say(&Ok(listens))?;
            server.run().map_err(|e| trouble("epoll", e))
        }
        Err(why) => say(&Err(why.to_string())),
    }
}

/// Listens first: a process that holds a library opens no socket.
fn open(plan: &MinimalPlan) -> Result<(Server, Listens), String> {
    let bound: std::io::Result<Vec<_>> = plan.ports.iter().map(|_| listen()).collect();
    let bound = bound.map_err(|e| trouble("cannot listen", e))?;
    let sockets = server::load(&plan.libraries, host::confine::Sockets::Taken, |_| Ok(()))?;
    let (mut listeners, mut ports) = (Vec::new(), Vec::new());
    for (case, bound) in plan.ports.iter().zip(bound) {
        let side = case.map(|tls| sockets.server(&tls.case, tls.tickets)).transpose();
        let side = side.map_err(|t| t.to_string());
        ports.push(side.map(|side| {
            let (socket, port) = bound;
            let piece = case.map_or(usize::MAX, |tls| tls.record_bytes as usize);
            listeners.push(Listener { socket, side, piece });
            port
        }));
    }
    server::is_peaceful()?;
    let server = Server::new(listeners).map_err(|e| trouble("epoll", e))?;
    Ok((server, Listens { ports }))
}

fn listen() -> std::io::Result<(TcpListener, u16)> {
    let socket = TcpListener::bind(("127.0.0.1", 0))?;
    socket.set_nonblocking(true)?;
    let port = socket.local_addr()?.port();
    Ok((socket, port))
}

struct Server {
    epoll: OwnedFd,
    listeners: Vec<Listener>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// What is read, before it is known whose it is.
    scratch: Vec<u8>,
}

impl Server {
    fn new(listeners: Vec<Listener>) -> std::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (at, listener) in listeners.iter().enumerate() {
            epoll::add(&epoll, &listener.socket, EventData::new_u64(at as u64), EventFlags::IN)?;
        }
        epoll::add(&epoll, rustix::stdio::stdin(), EventData::new_u64(STDIN), EventFlags::IN)?;
        let (connections, free, scratch) = (Vec::new(), Vec::new(), vec![0; 1 << 14]);
        Ok(Self { epoll, listeners, connections, free, scratch })
    }

    fn run(&mut self) -> std::io::Result<()> {
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?,
            };
            for event in events.drain(..) {
                match event.data.u64() {
                    STDIN => return Ok(()),
                    at if at < FIRST_CONNECTION => self.accept(at as usize)?,
                    at => self.go_on((at - FIRST_CONNECTION) as usize)?,
                }
            }
        }
    }

    /// One connection for each event, as nginx does without `multi_accept`.
    fn accept(&mut self, at: usize) -> std::io::Result<()> {
        let listener = &mut self.listeners[at];
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let Ok(socket) = accept_with(&listener.socket, flags) else { return Ok(()) };
        set_tcp_nodelay(&socket, true)?;
        let place = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let data = EventData::new_u64(FIRST_CONNECTION + place as u64);
        epoll::add(
            &self.epoll,
            &socket,
            data,
            EventFlags::IN | EventFlags::RDHUP | EventFlags::ET,
        )?;
        let wire = match &mut listener.side {
            None => Wire::Plain(socket),
            Some(side) => match side.over(socket, false) {
                Ok(secured) => Wire::Secured(Box::new(secured)),
                Err(_) => {
                    self.free.push(place);
                    return Ok(());
                }
            },
        };
        self.connections[place] = Some(Connection::new(wire, listener.piece));
        Ok(())
    }

    fn go_on(&mut self, place: usize) -> std::io::Result<()> {
        let Some(connection) = &mut self.connections[place] else { return Ok(()) };
        if connection.go_on(&mut self.scratch) {
            // Whether it is to be told of room for writing as well.
            if let Some(socket) = connection.wants_room() {
                let data = EventData::new_u64(FIRST_CONNECTION + place as u64);
                let all = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
                epoll::modify(&self.epoll, socket, data, all)?;
            }
        } else {
            // Its socket is closed and leaves the epoll with it.
            self.connections[place] = None;
            self.free.push(place);
        }
        Ok(())
    }
}

// One connection of the minimal server: the handshake, requests, responses.

/// Bytes that are made ready at once (`output_buffers` of nginx).
const BUFFER: usize = 1 << 15;
const LONGEST: usize = 1 << 13;

enum Wire {
    Plain(OwnedFd),
    Secured(Box<Secured>),
}

struct Connection {
    wire: Wire,
    handshaken: bool,
    /// Bytes that are written at once: a record of TLS (`ssl_buffer_size` of nginx).
    piece: usize,
    request: Vec<u8>,
    out: Out,
    /// Whether the kernel has no room for what is to be written, and since when.
    blocked: Option<bool>,
}

#[derive(Default)]
struct Out {
    buffer: Vec<u8>,
    written: usize,
    /// Bytes of the body that are not in the buffer yet.
    left: usize,
}

impl Connection {
    fn new(wire: Wire, piece: usize) -> Self {
        let handshaken = matches!(wire, Wire::Plain(_));
        Self { wire, handshaken, piece, request: Vec::new(), out: Out::default(), blocked: None }
    }

    /// Goes on as far as it can without waiting; false where the connection is over.
    fn go_on(&mut self, scratch: &mut [u8]) -> bool {
        if !self.handshaken {
            match self.handshake() {
                Some(Flow::Done(_)) => self.handshaken = true,
                Some(Flow::WantsRead | Flow::WantsWrite) => return true,
                Some(Flow::Closed) | None => return false,
            }
        }
        loop {
            match self.write_out() {
                Some(true) => {}
                Some(false) => return true,
                None => return false,
            }
            if self.respond() {
                continue;
            }
            match self.read(scratch) {
                Some(Flow::Done(taken @ 1..)) if self.request.len() + taken <= LONGEST => {
                    self.request.extend_from_slice(&scratch[..taken]);
                }
                Some(Flow::WantsRead | Flow::WantsWrite) => return true,
                _ => {
                    if let Wire::Secured(secured) = &mut self.wire {
                        secured.close();
                    }
                    return false;
                }
            }
        }
    }

    /// The socket, where it has to be told of room for the first time.
    fn wants_room(&mut self) -> Option<BorrowedFd<'_>> {
        match (&self.blocked, &self.wire) {
            (Some(false), wire) => {
                self.blocked = Some(true);
                Some(match wire {
                    Wire::Plain(socket) => socket.as_fd(),
                    Wire::Secured(secured) => secured.socket(),
                })
            }
            _ => None,
        }
    }

    fn handshake(&mut self) -> Option<Flow> {
        match &mut self.wire {
            Wire::Plain(_) => Some(Flow::Done(0)),
            Wire::Secured(secured) => secured.handshake().ok(),
        }
    }

    fn read(&mut self, into: &mut [u8]) -> Option<Flow> {
        match &mut self.wire {
            Wire::Plain(socket) => flow(rustix::io::read(socket, into), Flow::WantsRead),
            Wire::Secured(secured) => secured.read(into).ok(),
        }
    }

    /// Writes what there is; whether all of it went. None where the connection is over.
    fn write_out(&mut self) -> Option<bool> {
        while let Some(piece) = self.out.next() {
            let flow = match &mut self.wire {
                Wire::Plain(socket) => flow(rustix::io::write(socket, piece), Flow::WantsWrite)?,
                Wire::Secured(secured) => {
                    secured.write(&piece[..piece.len().min(self.piece)]).ok()?
                }
            };
            match flow {
                Flow::Done(written) => self.out.written += written,
                Flow::WantsRead | Flow::WantsWrite => {
                    self.blocked.get_or_insert(false);
                    return Some(false);
                }
                Flow::Closed => return None,
            }
        }
        Some(true)
    }

    /// Takes a whole request off what was read, and makes its response ready.
    fn respond(&mut self) -> bool {
        let Some(end) = self.request.windows(4).position(|four| four == b"\r\n\r\n") else {
            return false;
        };
        let bytes = asked_for(&self.request[..end]).unwrap_or(0);
        self.request.drain(..end + 4);
        let head = format!(
            "HTTP/1.1 200 OK\r\nServer: ciphermark\r\nContent-Type: application/octet-stream\r\n\
             Content-Length: {bytes}\r\nLast-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n\
             Connection: keep-alive\r\nETag: \"386d4380-400\"\r\nAccept-Ranges: bytes\r\n\r\n"
        );
        self.out = Out { buffer: head.into_bytes(), written: 0, left: bytes };
        self.out.fill();
        true
    }
}

impl Out {
    fn next(&mut self) -> Option<&[u8]> {
        if self.written == self.buffer.len() {
            if self.left == 0 {
                return None;
            }
            self.buffer.clear();
            self.written = 0;
            self.fill();
        }
        Some(&self.buffer[self.written..])
    }

    fn fill(&mut self) {
        let more = self.left.min(BUFFER - self.buffer.len().min(BUFFER));
        self.buffer.resize(self.buffer.len() + more, crate::server::FILLER);
        self.left -= more;
    }
}

/// `GET /1024 HTTP/1.1` asks for 1024 bytes.
fn asked_for(head: &[u8]) -> Option<usize> {
    let line = head.split(|b| *b == b'\r').next()?;
    let path = line.split(|b| *b == b' ').nth(1)?.strip_prefix(b"/")?;
    std::str::from_utf8(path).ok()?.parse().ok()
}

/// Of a system call; none where the connection is over.
fn flow(outcome: rustix::io::Result<usize>, waits: Flow) -> Option<Flow> {
    match outcome {
        Ok(0) => Some(Flow::Closed),
        Ok(some) => Some(Flow::Done(some)),
        Err(Errno::AGAIN) => Some(waits),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_the_bytes_it_wants() {
        assert_eq!(asked_for(b"GET /1024 HTTP/1.1\r\nHost: localhost"), Some(1024));
        assert_eq!(asked_for(b"GET /x HTTP/1.1"), None);
        assert_eq!(asked_for(b""), None);
    }

    #[test]
    fn what_is_written_is_head_and_body_in_pieces() {
        let mut out = Out { buffer: b"head".to_vec(), written: 0, left: 100_000 };
        out.fill();
        let mut all = Vec::new();
        while let Some(piece) = out.next() {
            let taken = piece.len().min(10_000);
            assert!(piece.len() <= BUFFER);
            all.extend_from_slice(&piece[..taken]);
            out.written += taken;
        }
        assert_eq!(all.len(), 100_004);
        assert_eq!(&all[..6], b"headxx");
    }
}
