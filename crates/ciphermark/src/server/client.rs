//! The client: makes connections as it is told, resumes them or not, asks, and counts what really happened.
//! The first connections go through a relay that keeps every byte: a client's own words do not tell the field
//! of a DHE, and a resumption is believed only where the wire shows it (see `record::tls::read_wire`).
//! Also a client's connection, plain or not, whose calls wait, and HTTP over it, as far as it takes to ask a
//! server of ours for files: HTTP/1.1 (RFC 9112), and HTTP/2 (RFC 9113) with no dynamic table, no Huffman code,
//! windows as wide as they go.

use crate::server::{Answer, Ends, FILLER, Job, Libraries, STREAMS, Told};
use adapters::stacks::{Flow, Secured, Side, Sockets, Trouble, Trust};
use judge::load::{Http, Picked};
use record::tls::{Case, EndSays, Kind, Negotiated, Seen, Version};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, Scope};
use std::time::{Duration, Instant};

/// Does one job: makes ready, says so, and at each word does a slice and tells of it; when all is done, it
/// tells so at the next word, and what was held open is closed. `go` is false where nobody waits any more.
pub(crate) fn run(
    libraries: &Libraries,
    job: &Job,
    say: &mut dyn FnMut(&Answer) -> Result<(), String>,
    go: &mut dyn FnMut() -> bool,
) -> Result<(), String> {
    let seen = match look(libraries, job) {
        Ok(seen) => seen,
        Err(why) => return say(&why.into()),
    };
    std::thread::scope(|scope| {
        let lanes: Vec<Running> =
            (0..job.at_once.max(1)).map(|at| Running::start(scope, libraries, job, at)).collect();
        if let Some(why) = lanes.iter().find_map(Running::failed) {
            return say(&why.into());
        }
        say(&Answer::Ready)?;
        let mut all = seen;
        while go() {
            if all.seconds >= job.seconds || all.connections >= job.connections {
                return say(&Answer::Done(all));
            }
            match slice(&lanes) {
                Err(why) => return say(&why.into()),
                Ok(told) => {
                    all.add(&told);
                    say(&Answer::Slice(told))?;
                }
            }
        }
        Ok(())
    })
}

/// Has every lane do its part of a slice.
fn slice(lanes: &[Running]) -> Result<Told, Trouble> {
    let begun = Instant::now();
    lanes.iter().for_each(Running::go);
    let mut told = Told::default();
    for lane in lanes {
        told.add(&lane.told()?);
    }
    told.seconds = begun.elapsed().as_secs_f64();
    Ok(told)
}

/// A thread with one lane: connections that follow one another.
struct Running {
    start: Sender<()>,
    ready: Receiver<Option<Trouble>>,
    told: Receiver<Result<Told, Trouble>>,
}

impl Running {
    fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        libraries: &'scope Libraries,
        job: &'scope Job,
        at: u32,
    ) -> Self {
        let ((start, begin), (is_ready, ready), (tell, told)) = (channel(), channel(), channel());
        scope.spawn(move || {
            let mut lane = match Lane::ready(libraries, job, at) {
                Ok(lane) => lane,
                Err(why) => return drop(is_ready.send(Some(why))),
            };
            // Who waits no longer needs no answer. What is held stays open until the sender is gone.
            let _ = is_ready.send(None);
            while begin.recv().is_ok() && tell.send(lane.run()).is_ok() {}
        });
        Self { start, ready, told }
    }

    fn failed(&self) -> Option<Trouble> {
        self.ready.recv().unwrap_or_else(|_| Some(thread_ended()))
    }

    fn go(&self) {
        // A thread that is gone is told of by `told`.
        let _ = self.start.send(());
    }

    fn told(&self) -> Result<Told, Trouble> {
        self.told.recv().unwrap_or_else(|_| Err(thread_ended()))
    }
}

fn thread_ended() -> Trouble {
    Trouble::Failed("a thread of the client ended".to_owned())
}

// Connections of one thread, one after the other.

/// Connections before those that count: caches, the server's memory, the kernel's tables.
const WARM_UP: u64 = 4;

struct Lane<'a> {
    job: &'a Job,
    /// Its number among the job's lanes.
    number: u64,
    /// Which share of the connections in all is this thread's.
    connections: u64,
    side: Option<Side>,
    asker: Asker,
    held: Option<Open>,
    /// Connections so far that count.
    made: u64,
}

struct Open {
    stream: Stream,
    http2: Option<Http2>,
    resumed: bool,
}

/// What is asked, made ready before.
struct Asker {
    /// Of HTTP/1.1.
    requests: Vec<Vec<u8>>,
    scratch: Vec<u8>,
}

impl<'a> Lane<'a> {
    /// Loads the library, gets a session where one is to be resumed, warms up.
    fn ready(libraries: &Libraries, job: &'a Job, at: u32) -> Result<Self, Trouble> {
        let lanes = u64::from(job.at_once.max(1));
        let share = job.connections / lanes + u64::from(u64::from(at) < job.connections % lanes);
        let requests = job.responses.iter().map(|bytes| http1_request(*bytes, job.request_bytes));
        let asker = Asker { requests: requests.collect(), scratch: vec![0; 1 << 16] };
        let number = u64::from(at);
        let side = side(libraries, job)?;
        let mut lane = Self { job, number, connections: share, side, asker, held: None, made: 0 };
        let mut uncounted = Told::default();
        if job.resumed > 0.0 {
            lane.connection(false, &mut uncounted)?;
            if !lane.side.as_mut().is_some_and(Side::renew) {
                return refused("no session came that could be resumed");
            }
        }
        // Together the lanes warm as much as one of them alone.
        for at in 0..WARM_UP.div_ceil(lanes) {
            lane.connection(lane.resumes(at), &mut uncounted)?;
        }
        if job.held {
            let mut open = lane.open(lane.resumes(0))?;
            lane.ask(&mut open, &mut uncounted)?;
            lane.held = Some(open);
        }
        Ok(lane)
    }

    fn run(&mut self) -> Result<Told, Trouble> {
        let (mut told, begun) = (Told::default(), Instant::now());
        let pause = Duration::from_micros(self.job.pause_us);
        while self.made < self.connections {
            let at = self.made;
            if told.connections > 0 && begun.elapsed().as_secs_f64() >= self.job.slice_seconds {
                break;
            }
            if at > 0 && !pause.is_zero() {
                std::thread::sleep(pause);
            }
            self.made += 1;
            match self.held.take() {
                Some(mut open) => {
                    self.ask(&mut open, &mut told)?;
                    told.connections += 1;
                    self.held = Some(open);
                }
                None => self.connection(self.resumes(at), &mut told)?,
            }
        }
        Ok(told)
    }

    /// Spreads the share evenly over all lanes, so that it is the same however few connections each makes: of n
    /// connections in all, the whole part of n times the share resume.
    fn resumes(&self, at: u64) -> bool {
        let until = |n: u64| (n as f64 * self.job.resumed + 1e-9).floor();
        let at = at * u64::from(self.job.at_once.max(1)) + self.number;
        until(at + 1) > until(at)
    }

    fn connection(&mut self, resume: bool, told: &mut Told) -> Result<(), Trouble> {
        match self.job.ends {
            Ends::Answered => {
                let mut open = self.open(resume)?;
                self.ask(&mut open, told)?;
                told.resumed += u64::from(open.resumed && resume);
                open.close();
                if let Some(side) = self.side.as_mut().filter(|_| self.job.resumed > 0.0) {
                    side.renew();
                }
            }
            Ends::Refused | Ends::Abandoned => self.fail()?,
        }
        told.connections += 1;
        Ok(())
    }

    fn open(&mut self, resume: bool) -> Result<Open, Trouble> {
        let job = self.job;
        let socket = Stream::connect(job.port)?;
        let Some((side, case)) = self.side.as_mut().zip(job.tls) else {
            let http2 = (job.http == Http::Http2).then(|| Http2::new(false, job.request_bytes));
            return Ok(Open { stream: Stream::Plain(socket), http2, resumed: false });
        };
        let secured = shake(side, socket.into(), resume)?;
        let resumed = held_to(&case, &secured)?;
        if job.http == Http::Http2 && secured.protocol() != b"h2" {
            return refused("the server does not speak HTTP/2");
        }
        let http2 = (job.http == Http::Http2).then(|| Http2::new(true, job.request_bytes));
        Ok(Open { stream: Stream::Secured(Box::new(secured)), http2, resumed })
    }

    fn ask(&mut self, open: &mut Open, told: &mut Told) -> Result<(), String> {
        let (sizes, scratch) = (&self.job.responses, &mut self.asker.scratch);
        match &mut open.http2 {
            Some(http2) => http2.ask(&mut open.stream, sizes, scratch, told),
            None => {
                for (request, bytes) in self.asker.requests.iter().zip(sizes) {
                    ask_http1(&mut open.stream, request, *bytes, scratch, told)?;
                }
                Ok(())
            }
        }
    }

    /// A connection whose handshake is to come to nothing.
    fn fail(&mut self) -> Result<(), String> {
        let socket = Stream::connect(self.job.port)?;
        let side = self.side.as_mut().ok_or("plain HTTP has no handshake to fail")?;
        match shake(side, socket.into(), false) {
            Ok(_) => Err("a handshake that was to fail did not".to_owned()),
            Err(_) => Ok(()),
        }
    }
}

impl Open {
    fn close(&mut self) {
        if let Stream::Secured(secured) = &mut self.stream {
            secured.close();
        }
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::NotOffered(why.into()))
}

fn side(libraries: &Libraries, job: &Job) -> Result<Option<Side>, Trouble> {
    let Some(case) = job.tls else { return Ok(None) };
    let trust = if job.ends == Ends::Abandoned { Trust::Nobody } else { Trust::Anybody };
    sockets(libraries)?.client(&case, alpn(job), trust).map(Some)
}

/// The library, loaded once and then the same.
fn sockets(libraries: &Libraries) -> Result<Sockets, String> {
    Sockets::load(&libraries.ssl, Some(&libraries.crypto))
}

/// The protocols of the client's hello.
fn alpn(job: &Job) -> &'static [u8] {
    if job.http == Http::Http2 { b"\x02h2" } else { b"" }
}

fn shake(side: &mut Side, socket: std::os::fd::OwnedFd, resume: bool) -> Result<Secured, Trouble> {
    let mut secured = side.over(socket, resume)?;
    let why = match secured.handshake()? {
        Flow::Done(_) => return Ok(secured),
        Flow::Closed => "the server closed the connection during the handshake",
        Flow::WantsRead | Flow::WantsWrite => "the handshake did not end in time",
    };
    Err(Trouble::Failed(why.to_owned()))
}

/// Holds a connection to its case, by what the client says; whether it was resumed.
fn held_to(case: &Case, secured: &Secured) -> Result<bool, Trouble> {
    let says = secured.says();
    if says.version != case.version.number() {
        return refused(format!("version {:#06x} was negotiated", says.version));
    }
    let asked = case.code().map(|code| code.number);
    if says.suite != asked {
        let used = says.suite.map_or("none".to_owned(), record::tls::Suite::name_of);
        return refused(format!("suite {used} was negotiated"));
    }
    // A resumption of TLS 1.2 agrees on nothing new, and of fields the ends tell no number: the wire does.
    let untold = case.exchange.is_finite_field() || says.reused && case.version == Version::Tls12;
    let asked = case.exchange.group().and_then(record::tls::Group::number);
    if let (false, Some(asked), Some(used)) = (untold, asked, says.group)
        && asked != used
    {
        return refused(format!("group {} was negotiated", record::tls::Group::of_number(used)));
    }
    Ok(says.reused)
}

/// What connections of the job negotiate: a full one and, where some are to resume, one that does.
fn look(libraries: &Libraries, job: &Job) -> Result<Told, Trouble> {
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
        Err(why) => picked.reason = Some(why.to_string()),
    }
    picked
}

fn seen(sockets: &Sockets, job: &Job, case: &Case, offered: &str) -> Result<Seen, Trouble> {
    let mut side = sockets.offering(case, offered, alpn(job))?;
    let (socket, relay) = relay(job.port)?;
    let connected = connect(job, &mut side, socket, false);
    let wire = wire(relay);
    connected?;
    wire
}

fn wire(relay: Relay) -> Result<Seen, Trouble> {
    let [from_client, from_server] = relay.join().map_err(|_| "the relay ended".to_owned())?;
    let seen = record::tls::read_wire(&from_client, &from_server);
    seen.map_err(|e| Trouble::Failed(e.to_string()))
}

fn negotiated(job: &Job, side: &mut Side, case: &Case) -> Result<Negotiated, Trouble> {
    let (socket, relay) = relay(job.port)?;
    let client = connect(job, side, socket, case.kind.is_resumed());
    let seen = wire(relay);
    let (client, seen) = (client?, seen?);
    // The server is another process: what it says is not known, but that one that demands a certificate has
    // answered.
    let peer_proved = case.client_auth.then_some(true);
    let server = EndSays { suite: None, group: None, signature: None, peer_proved, ..client };
    record::tls::negotiated(case, &seen, &client, &server).map_err(|mismatch| {
        let why = mismatch.to_string();
        if mismatch.contradiction { Trouble::Failed(why) } else { Trouble::NotOffered(why) }
    })
}

/// One connection with one request, so that tickets of TLS 1.3 are read too.
fn connect(job: &Job, side: &mut Side, to: UnixStream, resume: bool) -> Result<EndSays, Trouble> {
    let mut secured = shake(side, to.into(), resume)?;
    let says = secured.says();
    if job.http == Http::Http2 {
        // The server says its settings without being asked.
        secured.read(&mut [0; 4096])?;
        secured.close();
        return Ok(says);
    }
    let mut stream = Stream::Secured(Box::new(secured));
    let bytes = job.responses.first().copied().unwrap_or(0);
    let request = http1_request(bytes, job.request_bytes);
    ask_http1(&mut stream, &request, bytes, &mut [0; 1 << 14], &mut Told::default())?;
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

/// How long anything of the server may take: the slowest handshake takes a fiftieth of a second.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) enum Stream {
    Plain(TcpStream),
    Secured(Box<Secured>),
}

impl Stream {
    pub(crate) fn connect(port: u16) -> Result<TcpStream, String> {
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

    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<usize, String> {
        match self {
            Self::Plain(socket) => match socket.read(into).map_err(|e| format!("read: {e}"))? {
                0 => Err(GONE.to_owned()),
                taken => Ok(taken),
            },
            Self::Secured(secured) => done(secured.read(into).map_err(|t| t.to_string())?),
        }
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), String> {
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

/// A delayed acknowledgement takes 40 ms (Linux, TCP_DELACK_MIN).
pub(crate) const STALL: Duration = Duration::from_millis(30);

const LONGEST_HEAD: usize = 1 << 14;

/// A request for a file of so many bytes, filled up to its own length.
pub(crate) fn http1_request(bytes: u64, length: u32) -> Vec<u8> {
    let bare = format!("GET /{bytes} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n");
    let padding = (length as usize).saturating_sub(bare.len() + "X-Padding: \r\n\r\n".len());
    if padding == 0 {
        return format!("{bare}\r\n").into_bytes();
    }
    format!("{bare}X-Padding: {}\r\n\r\n", "p".repeat(padding)).into_bytes()
}

/// Asks, and holds the answer to its length and its filling.
pub(crate) fn ask_http1(
    stream: &mut Stream,
    request: &[u8],
    bytes: u64,
    scratch: &mut [u8],
    told: &mut Told,
) -> Result<(), String> {
    let begun = Instant::now();
    stream.write(request)?;
    let mut head = Vec::new();
    let end = loop {
        let taken = stream.read(scratch)?;
        head.extend_from_slice(&scratch[..taken]);
        if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if head.len() > LONGEST_HEAD {
            return Err("the response's head has no end".to_owned());
        }
    };
    let length = length_of(&head[..end])?;
    if length != bytes {
        return Err(format!("{bytes} bytes were asked for, and {length} are answered"));
    }
    filled(&head[end..])?;
    let mut got = (head.len() - end) as u64;
    while got < bytes {
        let taken = stream.read(scratch)?;
        filled(&scratch[..taken])?;
        got += taken as u64;
    }
    if got > bytes {
        return Err("the response is longer than it says".to_owned());
    }
    told.requests += 1;
    told.bytes += bytes;
    told.stalls += u64::from(begun.elapsed() >= STALL);
    Ok(())
}

/// Whether a part of a body is what servers of ours send.
pub(crate) fn filled(body: &[u8]) -> Result<(), String> {
    if body.iter().all(|byte| *byte == FILLER) {
        Ok(())
    } else {
        Err("the body is another".to_owned())
    }
}

fn length_of(head: &[u8]) -> Result<u64, String> {
    let head = std::str::from_utf8(head).map_err(|_| "the response's head is no text")?;
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(format!("the server answered {status:?}"));
    }
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    length.ok_or_else(|| "the response has no length".to_owned())
}

/// Frames (RFC 9113 6).
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
/// Flags. `END_STREAM` and `ACK` are the same bit, of different frames.
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// SETTINGS_INITIAL_WINDOW_SIZE, and the largest window (RFC 9113 6.9.1).
const INITIAL_WINDOW: u16 = 4;
const LARGEST: u32 = (1 << 31) - 1;
const DEFAULT_WINDOW: u32 = 65_535;

pub(crate) struct Http2 {
    secure: bool,
    request_bytes: u32,
    greeted: bool,
    next: u32,
    /// What has come and is not read yet.
    incoming: Vec<u8>,
}

/// A stream that is open: its number, what was asked, what has come, since when.
struct Asked {
    stream: u32,
    bytes: u64,
    got: u64,
    begun: Instant,
}

impl Http2 {
    pub(crate) fn new(secure: bool, request_bytes: u32) -> Self {
        Self { secure, request_bytes, greeted: false, next: 1, incoming: Vec::new() }
    }

    /// Asks for all of them, as many at once as [`STREAMS`].
    pub(crate) fn ask(
        &mut self,
        stream: &mut Stream,
        sizes: &[u64],
        scratch: &mut [u8],
        told: &mut Told,
    ) -> Result<(), String> {
        let (mut open, mut left): (Vec<Asked>, _) = (Vec::new(), sizes.iter());
        loop {
            let mut out = self.greeting();
            for bytes in left.by_ref().take(STREAMS - open.len()) {
                self.request(*bytes, &mut out);
                open.push(Asked {
                    stream: self.next,
                    bytes: *bytes,
                    got: 0,
                    begun: Instant::now(),
                });
                self.next += 2;
            }
            if !out.is_empty() {
                stream.write(&out)?;
            }
            if open.is_empty() {
                return Ok(());
            }
            let answer = self.receive(stream, scratch, &mut open, told)?;
            if !answer.is_empty() {
                stream.write(&answer)?;
            }
        }
    }

    /// What a client begins with (RFC 9113 3.4); empty from the second time on.
    fn greeting(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if !std::mem::replace(&mut self.greeted, true) {
            out.extend_from_slice(PREFACE);
            let mut window = INITIAL_WINDOW.to_be_bytes().to_vec();
            window.extend_from_slice(&LARGEST.to_be_bytes());
            frame(&mut out, SETTINGS, 0, 0, &window);
            frame(&mut out, WINDOW_UPDATE, 0, 0, &(LARGEST - DEFAULT_WINDOW).to_be_bytes());
        }
        out
    }

    fn request(&self, bytes: u64, out: &mut Vec<u8>) {
        // Of the static table (RFC 7541 appendix A): 2 is GET, 6 and 7 are the schemes; 4 and 1 are the names
        // of path and authority, written as literals that go into no table.
        let mut block = vec![0x80 | 2, 0x80 | if self.secure { 7 } else { 6 }];
        literal(&mut block, 4, format!("/{bytes}").as_bytes());
        literal(&mut block, 1, b"localhost");
        let rest = (self.request_bytes as usize).saturating_sub(9 + block.len() + 14);
        if rest > 0 {
            block.push(0);
            text(&mut block, b"x-padding");
            text(&mut block, &vec![b'p'; rest]);
        }
        frame(out, HEADERS, END_STREAM | END_HEADERS, self.next, &block);
    }

    /// Reads until a stream has ended; what is to be answered at once.
    fn receive(
        &mut self,
        stream: &mut Stream,
        scratch: &mut [u8],
        open: &mut Vec<Asked>,
        told: &mut Told,
    ) -> Result<Vec<u8>, String> {
        let (before, mut answer) = (open.len(), Vec::new());
        while open.len() == before {
            let taken = stream.read(scratch)?;
            self.incoming.extend_from_slice(&scratch[..taken]);
            let mut at = 0;
            while let Some((kind, flags, number, body, next)) = next_frame(&self.incoming, at) {
                take(kind, flags, number, body, open, &mut answer, told)?;
                at = next;
            }
            self.incoming.drain(..at);
            if !answer.is_empty() && open.len() == before {
                stream.write(&std::mem::take(&mut answer))?;
            }
        }
        Ok(answer)
    }
}

fn take(
    kind: u8,
    flags: u8,
    number: u32,
    body: &[u8],
    open: &mut Vec<Asked>,
    answer: &mut Vec<u8>,
    told: &mut Told,
) -> Result<(), String> {
    let place = open.iter().position(|asked| asked.stream == number);
    match (kind, place) {
        (SETTINGS, _) if flags & ACK == 0 => frame(answer, SETTINGS, ACK, 0, &[]),
        (PING, _) if flags & ACK == 0 => frame(answer, PING, ACK, 0, body),
        (GOAWAY, _) => return Err("the server ends the connection (GOAWAY)".to_owned()),
        (RST_STREAM, _) => return Err("the server gives a request up (RST_STREAM)".to_owned()),
        (HEADERS, Some(_)) if !succeeds(unpadded(flags, body)) => {
            return Err("the server does not answer 200".to_owned());
        }
        (DATA, Some(place)) => {
            let body = unpadded(flags, body);
            filled(body)?;
            open[place].got += body.len() as u64;
        }
        _ => {}
    }
    if let (DATA | HEADERS, Some(place)) = (kind, place)
        && flags & END_STREAM != 0
    {
        let asked = open.swap_remove(place);
        if asked.got != asked.bytes {
            return Err(format!("{} bytes were asked for, and {} came", asked.bytes, asked.got));
        }
        told.requests += 1;
        told.bytes += asked.bytes;
        told.stalls += u64::from(asked.begun.elapsed() >= STALL);
    }
    Ok(())
}

/// Whether a block begins with status 200, number 8 of the static table; the table's size may be set before
/// (RFC 7541 6.3).
fn succeeds(block: &[u8]) -> bool {
    let block = match block {
        [size, rest @ ..] if size & 0xe0 == 0x20 && size & 0x1f != 0x1f => rest,
        all => all,
    };
    block.first() == Some(&0x88)
}

fn unpadded(flags: u8, body: &[u8]) -> &[u8] {
    match body {
        [padding, rest @ ..] if flags & PADDED != 0 => {
            &rest[..rest.len().saturating_sub(usize::from(*padding))]
        }
        _ => body,
    }
}

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, body: &[u8]) {
    out.extend_from_slice(&(body.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(body);
}

/// Kind, flags, stream, body of the frame at a place, and the place behind it; none where it is not whole.
fn next_frame(bytes: &[u8], at: usize) -> Option<(u8, u8, u32, &[u8], usize)> {
    let head = bytes.get(at..at + 9)?;
    let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
    let body = bytes.get(at + 9..at + 9 + length)?;
    let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
    Some((head[3], head[4], stream, body, at + 9 + length))
}

/// A literal with an indexed name, not to be indexed itself (RFC 7541 6.2.2).
fn literal(block: &mut Vec<u8>, name: u8, value: &[u8]) {
    block.push(name);
    text(block, value);
}

/// A string without Huffman code (RFC 7541 5.2).
fn text(block: &mut Vec<u8>, value: &[u8]) {
    /// What seven bits hold (RFC 7541 5.1).
    const SEVEN: usize = 0x7f;
    if value.len() < SEVEN {
        block.push(value.len() as u8);
    } else {
        block.push(SEVEN as u8);
        let mut rest = value.len() - SEVEN;
        while rest >= 0x80 {
            block.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        block.push(rest as u8);
    }
    block.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_as_long_as_was_asked() {
        assert_eq!(http1_request(1024, 500).len(), 500);
        assert!(http1_request(1024, 500).starts_with(b"GET /1024 HTTP/1.1\r\n"));
        assert!(http1_request(7, 0).ends_with(b"\r\n\r\n"));
    }

    #[test]
    fn only_a_success_with_a_length_is_an_answer() {
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n";
        assert_eq!(length_of(head), Ok(12));
        assert!(
            length_of(b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n")
                .unwrap_err()
                .contains("404")
        );
        assert!(length_of(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }

    #[test]
    fn a_request_is_one_frame_of_about_the_length_asked() {
        let mut out = Vec::new();
        Http2::new(true, 500).request(1024, &mut out);
        let (kind, flags, stream, body, next) = next_frame(&out, 0).unwrap();
        assert_eq!((kind, flags, stream, next), (HEADERS, END_STREAM | END_HEADERS, 1, out.len()));
        assert_eq!(&body[..8], [0x82, 0x87, 4, 5, b'/', b'1', b'0', b'2']);
        assert!(out.len().abs_diff(500) <= 2, "{}", out.len());
    }

    /// RFC 7541 C.1.2: 1337 with a prefix of five bits; here seven bits.
    #[test]
    fn long_strings_have_lengths_of_several_bytes() {
        let mut block = Vec::new();
        text(&mut block, &[b'a'; 127 + 300]);
        assert_eq!(block[..3], [0x7f, (300 & 0x7f) as u8 | 0x80, (300 >> 7) as u8]);
    }

    #[test]
    fn an_answer_ends_its_stream_with_all_of_its_bytes() {
        let (mut told, mut answer) = (Told::default(), Vec::new());
        let asked = || vec![Asked { stream: 1, bytes: 3, got: 0, begun: Instant::now() }];
        let mut open = asked();
        take(SETTINGS, 0, 0, &[], &mut open, &mut answer, &mut told).unwrap();
        assert_eq!(answer, [0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0]);
        take(HEADERS, END_HEADERS, 1, &[0x20, 0x88], &mut open, &mut answer, &mut told).unwrap();
        take(DATA, END_STREAM, 1, b"xxx", &mut open, &mut answer, &mut told).unwrap();
        assert_eq!((open.len(), told.requests, told.bytes), (0, 1, 3));
        let refused = |kind, body: &[u8]| {
            let (mut open, mut told) = (asked(), Told::default());
            take(kind, END_STREAM, 1, body, &mut open, &mut Vec::new(), &mut told).unwrap_err()
        };
        assert!(refused(DATA, b"xx").contains("2 came"));
        assert!(refused(DATA, b"xxz").contains("another"));
        assert!(refused(HEADERS, &[0x8d]).contains("200"));
        assert!(refused(GOAWAY, &[]).contains("GOAWAY"));
    }
}
