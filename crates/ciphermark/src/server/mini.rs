//! The minimal server: an event loop, HTTP/1.1 and nothing else, plain or over libssl.
//!
//! Its system calls for a connection are those that no server can do without; what a real server adds is
//! the same with and without TLS, nearly. Settings are those of web servers: TCP_NODELAY, buffers given
//! back while idle, output in pieces of a record.

mod connection;

use crate::server::job::{Libraries, Listening, Listens, MinimalPlan};
use crate::server::{Trouble, door};
use adapters::stacks::{Side, Sockets};
use connection::{Connection, Wire};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::net::{SocketFlags, accept_with, sockopt::set_tcp_nodelay};
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
    say: &mut dyn FnMut(&Listening) -> Result<(), Trouble>,
) -> Result<(), Trouble> {
    match open(plan) {
        Ok((mut server, listens)) => {
            say(&Ok(listens))?;
            server.run().map_err(|e| Trouble::of("epoll", e))
        }
        Err(why) => say(&Err(why.to_string())),
    }
}

/// Listens first: a process that holds a library opens no socket.
fn open(plan: &MinimalPlan) -> Result<(Server, Listens), Trouble> {
    let bound: Vec<_> = plan.ports.iter().map(|_| listen()).collect();
    let _confined = door::close_behind(&plan.libraries, host::confine::Sockets::Taken)?;
    let Libraries { ssl, crypto } = &plan.libraries;
    let sockets = Sockets::load(ssl, Some(crypto)).map_err(Trouble)?;
    let (mut listeners, mut ports) = (Vec::new(), Vec::new());
    for (case, bound) in plan.ports.iter().zip(bound) {
        let side = case.map(|tls| sockets.server(&tls.case, tls.tickets)).transpose();
        let side = side.map_err(|t| t.to_string());
        ports.push(side.and_then(|side| {
            let (socket, port) = bound.map_err(|e| format!("cannot listen: {e}"))?;
            let piece = case.map_or(usize::MAX, |tls| tls.record_bytes as usize);
            listeners.push(Listener { socket, side, piece });
            Ok(port)
        }));
    }
    door::is_peaceful().map_err(Trouble)?;
    let server = Server::new(listeners).map_err(|e| Trouble::of("epoll", e))?;
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
