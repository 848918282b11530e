//! Connections of one thread, one after the other.

use super::http1;
use super::http2::Http2;
use super::stream::Stream;
use crate::server::job::{Ends, Job, Libraries, Told};
use adapters::stacks::{Flow, Secured, Side, Sockets, Trust};
use judge::load::Http;
use record::tls::{Case, Version};
use std::time::{Duration, Instant};

/// Connections before those that count: caches, the server's memory, the kernel's tables.
const WARM_UP: u64 = 4;

pub(super) struct Lane<'a> {
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
pub(super) struct Open {
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
    pub(super) fn ready(libraries: &Libraries, job: &'a Job, at: u32) -> Result<Self, String> {
        let lanes = u64::from(job.at_once.max(1));
        let share = job.connections / lanes + u64::from(u64::from(at) < job.connections % lanes);
        let requests = job.responses.iter().map(|bytes| http1::request(*bytes, job.request_bytes));
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
    pub(super) fn run(&mut self) -> Result<Told, String> {
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
                    http1::ask(&mut open.stream, request, *bytes, scratch, told)?;
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
pub(super) fn side(libraries: &Libraries, job: &Job) -> Result<Option<Side>, String> {
    let Some(case) = job.tls else { return Ok(None) };
    let trust = if job.ends == Ends::Abandoned { Trust::Nobody } else { Trust::Anybody };
    sockets(libraries)?.client(&case, alpn(job), trust).map(Some).map_err(|t| t.to_string())
}

/// The library, loaded once and then the same.
pub(super) fn sockets(libraries: &Libraries) -> Result<Sockets, String> {
    Sockets::load(&libraries.ssl, Some(&libraries.crypto))
}

/// The protocols of the client's hello.
pub(super) fn alpn(job: &Job) -> &'static [u8] {
    if job.http == Http::Http2 { b"\x02h2" } else { b"" }
}

pub(super) fn shake(
    side: &mut Side,
    socket: std::os::fd::OwnedFd,
    resume: bool,
) -> Result<Secured, String> {
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
