//! The client: makes connections as it is told, resumes them or not, asks, and counts what really happened.
//! The first connections go through a relay that keeps every byte: a client's own words do not tell the field
//! of a DHE, and a resumption is believed only where the wire shows it (see `record::tls::read_wire`).

mod http;

use crate::server::Trouble;
use crate::server::job::{Answer, Ends, Job, Libraries, Told};
use adapters::stacks::{Flow, Secured, Side, Sockets, Trust};
use http::{Http2, PATIENCE, Stream};
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
    say: &mut dyn FnMut(&Answer) -> Result<(), Trouble>,
    go: &mut dyn FnMut() -> bool,
) -> Result<(), Trouble> {
    let seen = match look(libraries, job) {
        Ok(seen) => seen,
        Err(why) => return say(&Answer::Failed(why)),
    };
    std::thread::scope(|scope| {
        let lanes: Vec<Running> =
            (0..job.at_once.max(1)).map(|at| Running::start(scope, libraries, job, at)).collect();
        if let Some(why) = lanes.iter().find_map(Running::failed) {
            return say(&Answer::Failed(why));
        }
        say(&Answer::Ready)?;
        let mut all = seen;
        while go() {
            if all.seconds >= job.seconds || all.connections >= job.connections {
                return say(&Answer::Done(all));
            }
            match slice(&lanes) {
                Err(why) => return say(&Answer::Failed(why)),
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
fn slice(lanes: &[Running]) -> Result<Told, String> {
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
    ready: Receiver<Option<String>>,
    told: Receiver<Result<Told, String>>,
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

    fn failed(&self) -> Option<String> {
        self.ready.recv().unwrap_or_else(|_| Some("a thread of the client ended".to_owned()))
    }

    fn go(&self) {
        // A thread that is gone is told of by `told`.
        let _ = self.start.send(());
    }

    fn told(&self) -> Result<Told, String> {
        self.told.recv().unwrap_or_else(|_| Err("a thread of the client ended".to_owned()))
    }
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

/// A connection with the protocol above it.
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
    fn ready(libraries: &Libraries, job: &'a Job, at: u32) -> Result<Self, String> {
        let lanes = u64::from(job.at_once.max(1));
        let share = job.connections / lanes + u64::from(u64::from(at) < job.connections % lanes);
        let requests =
            job.responses.iter().map(|bytes| http::http1_request(*bytes, job.request_bytes));
        let asker = Asker { requests: requests.collect(), scratch: vec![0; 1 << 16] };
        let number = u64::from(at);
        let side = side(libraries, job)?;
        let mut lane = Self { job, number, connections: share, side, asker, held: None, made: 0 };
        let mut uncounted = Told::default();
        if job.resumed > 0.0 {
            lane.connection(false, &mut uncounted)?;
            if !lane.side.as_mut().is_some_and(Side::renew) {
                return Err("no session came that could be resumed".to_owned());
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

    /// A slice of what counts.
    fn run(&mut self) -> Result<Told, String> {
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

    fn connection(&mut self, resume: bool, told: &mut Told) -> Result<(), String> {
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

    fn open(&mut self, resume: bool) -> Result<Open, String> {
        let job = self.job;
        let socket = Stream::connect(job.port)?;
        let Some((side, case)) = self.side.as_mut().zip(job.tls) else {
            let http2 = (job.http == Http::Http2).then(|| Http2::new(false, job.request_bytes));
            return Ok(Open { stream: Stream::Plain(socket), http2, resumed: false });
        };
        let secured = shake(side, socket.into(), resume)?;
        let resumed = held_to(&case, &secured)?;
        if job.http == Http::Http2 && secured.protocol() != b"h2" {
            return Err("the server does not speak HTTP/2".to_owned());
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
                    http::ask_http1(&mut open.stream, request, *bytes, scratch, told)?;
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

/// The client's side of a job.
fn side(libraries: &Libraries, job: &Job) -> Result<Option<Side>, String> {
    let Some(case) = job.tls else { return Ok(None) };
    let trust = if job.ends == Ends::Abandoned { Trust::Nobody } else { Trust::Anybody };
    sockets(libraries)?.client(&case, alpn(job), trust).map(Some).map_err(|t| t.to_string())
}

/// The library, loaded once and then the same.
fn sockets(libraries: &Libraries) -> Result<Sockets, String> {
    Sockets::load(&libraries.ssl, Some(&libraries.crypto))
}

/// The protocols of the client's hello.
fn alpn(job: &Job) -> &'static [u8] {
    if job.http == Http::Http2 { b"\x02h2" } else { b"" }
}

fn shake(side: &mut Side, socket: std::os::fd::OwnedFd, resume: bool) -> Result<Secured, String> {
    let mut secured = side.over(socket, resume).map_err(|t| t.to_string())?;
    match secured.handshake().map_err(|t| t.to_string())? {
        Flow::Done(_) => Ok(secured),
        Flow::Closed => Err("the server closed the connection during the handshake".to_owned()),
        Flow::WantsRead | Flow::WantsWrite => Err("the handshake did not end in time".to_owned()),
    }
}

/// Holds a connection to its case, by what the client says; whether it was resumed.
fn held_to(case: &Case, secured: &Secured) -> Result<bool, String> {
    let says = secured.says();
    if says.version != case.version.number() {
        return Err(format!("version {:#06x} was negotiated", says.version));
    }
    let asked = case.code().map(|code| code.number);
    if says.suite != asked {
        let used = says.suite.map_or("none".to_owned(), record::tls::Suite::name_of);
        return Err(format!("suite {used} was negotiated"));
    }
    // A resumption of TLS 1.2 agrees on nothing new, and of fields the ends tell no number: the wire does.
    let untold = case.exchange.is_finite_field() || says.reused && case.version == Version::Tls12;
    let asked = case.exchange.group().and_then(record::tls::Group::number);
    if let (false, Some(asked), Some(used)) = (untold, asked, says.group)
        && asked != used
    {
        return Err(format!("group {} was negotiated", record::tls::Group::of_number(used)));
    }
    Ok(says.reused)
}

/// What connections of the job negotiate: a full one and, where some are to resume, one that does.
fn look(libraries: &Libraries, job: &Job) -> Result<Told, String> {
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
    let request = http::http1_request(bytes, job.request_bytes);
    http::ask_http1(&mut stream, &request, bytes, &mut [0; 1 << 14], &mut Told::default())?;
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
