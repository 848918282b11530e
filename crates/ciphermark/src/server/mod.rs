//! TLS over this machine's loopback: a client that resumes and counts, a minimal server, nginx, and the CPU
//! time that each server took. Client and minimal server are processes of their own, hidden subcommands of
//! this program: a process holds one library. No unsafe code: libssl is called through `adapters::stacks`.
//! Here are the hidden processes: what they are told and what they answer, one line of JSON each; the measuring
//! process's hold on them (started, told, waited for, ended); the hidden subcommand itself; and what they give up
//! before a stranger's libssl is loaded.

mod client;
mod cpu;
mod minimal;
mod nginx;
mod rounds;
mod validation;

use adapters::stacks::{self, Trouble};
pub use cpu::{Cpu, Level, Tally, Usage, Visit, client_cpu};
use host::confine::{Confined, Needs, Sockets};
use judge::load::{Http, Picked};
pub use nginx::{Nginx, NginxFacts, Sessions, Site, SiteTls, find as find_nginx};
use record::tls::{Case, Negotiated};
pub use rounds::{
    Calibrating, Cell, Course, Loopback, Setting, calibrate, calibration_cells, plain, rounds,
    secured,
};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
pub use validation::{PARTS, Planned, part, validate};

/// What bodies of responses are filled with.
pub(crate) const FILLER: u8 = b'x';

/// Why something over the loopback did not come about, in one line.
pub(crate) fn trouble(what: &str, why: impl std::fmt::Display) -> String {
    format!("{what}: {why}")
}

/// The files of the library that a process loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libraries {
    pub ssl: PathBuf,
    /// libcrypto, which it must be bound to.
    pub crypto: PathBuf,
}

/// What the minimal server is to offer: a port for each, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinimalPlan {
    pub libraries: Libraries,
    /// None is plain HTTP.
    pub ports: Vec<Option<MinimalTls>>,
}

/// What the minimal server answers when it listens, or why it does not.
pub type Listening = Result<Listens, String>;

/// The ports at which the minimal server listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listens {
    /// As many as were asked for; the stack's words where it does not offer a case.
    pub ports: Vec<Result<u16, String>>,
}

/// What a client process is for. It is confined to this before it loads a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientPlan {
    pub libraries: Libraries,
    /// The servers' ports of 127.0.0.1.
    pub ports: Vec<u16>,
    /// Whether somebody chose the library: where no kernel holds it to the ports, it is not loaded.
    pub chosen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinimalTls {
    pub case: Case,
    /// Tickets after a full handshake of TLS 1.3; none as the stack does it.
    pub tickets: Option<u8>,
    /// Most bytes of data in a record.
    pub record_bytes: u32,
}

/// Requests that the client has open at once in a connection of HTTP/2.
pub const STREAMS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// Requests are answered, then the client closes it.
    Answered,
    /// The server refuses the client's first message: it has no suite in common with it.
    Refused,
    /// The client does not trust the server's chain, and ends it after the server's flight.
    Abandoned,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub port: u16,
    /// What is to be negotiated; none for plain HTTP. A kind that resumes says how those resume that do.
    pub tls: Option<Case>,
    pub http: Http,
    /// Share of the connections that resume, 0 to 1.
    pub resumed: f64,
    pub ends: Ends,
    pub request_bytes: u32,
    /// Bytes of the responses of each connection, in order.
    pub responses: Vec<u64>,
    /// Whether connections are made before the word to go and stay open until after the end: then only
    /// requests are counted, and each burst of `responses` takes the place of a connection.
    pub held: bool,
    pub at_once: u32,
    /// Microseconds between the end of a connection and the beginning of the next.
    pub pause_us: u64,
    pub connections: u64,
    /// Seconds of all slices together after which no more are begun.
    pub seconds: f64,
    /// Lists of groups, by colons. Before all else a client offers each once, with a key share of its first group, and
    /// leaves the choice to the server.
    pub offers: Vec<String>,
    /// Seconds after which the client pauses until the next word, so that the servers' CPU can be looked at:
    /// a slice. Each thread does something in each.
    pub slice_seconds: f64,
}

/// What a client has done between a word to go and its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Connections that were made and ended as they were to; of held ones their bursts.
    pub connections: u64,
    /// Of these, those that both resumed a session and were to.
    pub resumed: u64,
    pub requests: u64,
    pub bytes: u64,
    /// From the first connection to the end of the last, without what lies between slices.
    pub seconds: f64,
    /// Requests that took 30 ms or longer: what a delayed acknowledgement costs, not a processor.
    pub stalls: u64,
    /// What a full connection negotiated, as the wire and the client say.
    pub full: Option<Negotiated>,
    /// The same of a resumed one.
    pub by_session: Option<Negotiated>,
    /// What the server picked, for each of the job's offers.
    pub picked: Vec<Picked>,
}

impl Told {
    /// What two slices did together; what was negotiated stays.
    pub fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.resumed += other.resumed;
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
        self.stalls += other.stalls;
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Sessions are there, caches are warm: it waits for the word.
    Ready,
    /// What one slice did: it waits for the word.
    Slice(Told),
    /// It is done; what all slices did together.
    Done(Told),
    /// One end does not offer what was asked for.
    Refused(String),
    Failed(String),
}

impl From<Trouble> for Answer {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::NotOffered(why) => Self::Refused(why),
            Trouble::Failed(why) => Self::Failed(why),
        }
    }
}

/// What the process answers through. Standard output becomes standard error, so that what a library prints is no answer.
pub(crate) fn take_standard_output() -> std::io::Result<File> {
    let answers: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    host::confine::close_inherited(answers.as_fd());
    Ok(File::from(answers))
}

/// Loads the libraries in the cage, which is closed for good; `if_held` says whether it is strong enough. The process has
/// one thread.
pub(crate) fn load(
    libraries: &Libraries,
    sockets: Sockets<'_>,
    if_held: impl Fn(&Confined) -> Result<(), String>,
) -> Result<stacks::Sockets, String> {
    let before = host::loaded_objects();
    let mut confined = close_behind(libraries, sockets)?;
    if_held(&confined)?;
    let loaded = stacks::Sockets::load(&libraries.ssl, Some(&libraries.crypto))?;
    let mut readable: Vec<_> = host::loaded_objects().difference(&before).cloned().collect();
    // OpenSSL reads its configuration, and loads what that names, when it is first asked for something.
    readable.extend(host::configuration_files());
    confined.after_loading(&readable)?;
    is_peaceful()?;
    Ok(loaded)
}

/// Gives up everything but computing, reading the libraries and these sockets.
fn close_behind(libraries: &Libraries, sockets: Sockets<'_>) -> Result<Confined, String> {
    // A library may block the gentler signal.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| trouble("prctl", e))?;
    let mut files: Vec<PathBuf> = vec![libraries.crypto.clone()];
    for path in [&libraries.ssl, &libraries.crypto] {
        host::check_elf(path).map_err(|why| format!("'{}' {why}", path.display()))?;
    }
    files.extend(host::configuration_files());
    let needs = Needs { library: &libraries.ssl, files: &files, copies: &[], sockets };
    host::confine::before_loading(&needs)
}

/// Whether the library has reached for other programs or processes so far.
pub(crate) fn is_peaceful() -> Result<(), String> {
    host::confine::hostile_so_far().map_or(Ok(()), Err)
}

/// How long a process may take beyond what it was told to take.
const PATIENCE: Duration = Duration::from_secs(60);

const LONGEST_ANSWER: u64 = 1 << 20;

/// The next line; none where there is no more, or it has no end.
fn line_of(from: &mut BufReader<ChildStdout>) -> Option<String> {
    let mut line = String::new();
    from.take(LONGEST_ANSWER).read_line(&mut line).ok()?;
    line.ends_with('\n').then_some(line)
}

#[derive(Debug)]
struct Hidden {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<String>,
}

impl Hidden {
    fn start(what: &str, cpu: u32, environment: &[(String, String)]) -> Result<Self, String> {
        let wrong = |e: std::io::Error| trouble("cannot start a process", e);
        let mut child = Command::new(std::env::current_exe().map_err(wrong)?)
            .args([SUBCOMMAND, what, &std::process::id().to_string(), &cpu.to_string()])
            .env_clear()
            .envs(host::environment())
            // An interrupt from the terminal is for the measuring process, which ends everything in order.
            .process_group(0)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // What a library prints is nobody's answer, and nothing for a terminal.
            .stderr(Stdio::null())
            .spawn()
            .map_err(wrong)?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let from = from.expect("the pipe was asked for");
        let (send, lines) = sync_channel(1);
        std::thread::spawn(move || {
            let mut from = BufReader::new(from);
            // What has no end is no answer, and whoever writes it is not listened to any more.
            while let Some(line) = line_of(&mut from) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, to, from: lines })
    }

    fn tell(&mut self, line: &str) -> Result<(), String> {
        let to = self.to.as_mut().expect("closed by `drop` alone");
        writeln!(to, "{line}").map_err(|e| trouble("a process of ours is gone", e))
    }

    fn hear<T: DeserializeOwned>(&mut self, within: Duration) -> Result<T, String> {
        match self.from.recv_timeout(within) {
            Ok(line) => serde_json::from_str(&line).map_err(|e| trouble("answer", e)),
            Err(why) => {
                // A process that dies closes its pipes before it is gone; what it has forked may hold them.
                let (grace, alive) = match why {
                    RecvTimeoutError::Timeout => {
                        (Duration::ZERO, format!("did not answer within {} s", within.as_secs()))
                    }
                    RecvTimeoutError::Disconnected => {
                        (Duration::from_secs(2), "answers no more".to_owned())
                    }
                };
                let is_over = host::ends_within(&self.child, grace);
                let status = is_over.then(|| host::end_group(&mut self.child)).flatten();
                let how = status.map_or(alive, |status| format!("ended ({status})"));
                Err(format!("a process of ours {how}"))
            }
        }
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // The end of its input ends it; what does not heed that, or was started by its library, is killed.
        drop(self.to.take());
        host::end_group(&mut self.child);
    }
}

#[derive(Debug)]
pub struct Client(Hidden);

impl Client {
    pub fn start(plan: &ClientPlan, cpu: u32) -> Result<Self, String> {
        let mut process = Hidden::start(CLIENT, cpu, &[])?;
        process.tell(&serde_json::to_string(plan).map_err(|e| trouble("plan", e))?)?;
        Ok(Self(process))
    }

    /// Has a job done. `around` is called when everything is ready and nothing has begun, with none, and after each
    /// slice with what it did; what is held open still is then. Returned is what all slices did.
    ///
    /// # Errors
    /// In one line, the client's trouble or that of `around`. The client is of no more use where
    /// `around` or the client itself failed.
    pub fn run(
        &mut self,
        job: &Job,
        around: &mut dyn FnMut(Option<&Told>) -> Result<(), String>,
    ) -> Result<Told, Trouble> {
        let line = serde_json::to_string(job).map_err(|e| trouble("job", e))?;
        let within = PATIENCE + Duration::from_secs_f64(job.seconds.clamp(0.0, 3600.0));
        self.0.tell(&line)?;
        match self.0.hear(within)? {
            Answer::Ready => {}
            Answer::Refused(why) => return Err(Trouble::NotOffered(why)),
            Answer::Failed(why) => return Err(why.into()),
            Answer::Slice(_) | Answer::Done(_) => return Err(out_of_step().into()),
        }
        around(None)?;
        loop {
            self.0.tell("go")?;
            match self.0.hear(within)? {
                Answer::Slice(told) => around(Some(&told))?,
                Answer::Done(told) => return Ok(told),
                Answer::Refused(why) => return Err(Trouble::NotOffered(why)),
                Answer::Failed(why) => return Err(why.into()),
                Answer::Ready => return Err(out_of_step().into()),
            }
        }
    }
}

fn out_of_step() -> String {
    "the client is out of step".to_owned()
}

/// The minimal server, on a CPU that it shares with servers only.
#[derive(Debug)]
pub struct Minimal {
    process: Hidden,
    /// For each port of the plan: its number, or the stack's words where it does not offer the case.
    pub ports: Vec<Result<u16, String>>,
}

impl Minimal {
    /// Starts it and waits until it listens. `environment` is added to what every worker gets.
    pub fn start(
        plan: &MinimalPlan,
        cpu: u32,
        environment: &[(String, String)],
    ) -> Result<Self, String> {
        let mut process = Hidden::start(SERVER, cpu, environment)?;
        let line = serde_json::to_string(plan).map_err(|e| trouble("plan", e))?;
        process.tell(&line)?;
        let listening: Listening = process.hear(PATIENCE)?;
        let ports = listening?.ports;
        Ok(Self { process, ports })
    }

    pub fn cpu(&self) -> Cpu {
        Cpu::of(self.process.child.id())
    }
}

// The hidden subcommand: what the processes beside the measuring one do.

pub const SUBCOMMAND: &str = "loopback";

pub(crate) const CLIENT: &str = "client";
pub(crate) const SERVER: &str = "server";

/// Serves what the subcommand's arguments ask for: `client|server PARENT CPU`.
pub fn serve() -> Result<(), String> {
    let arguments = std::env::args_os().skip(2).map(|a| a.to_string_lossy().into_owned());
    let arguments: Vec<String> = arguments.collect();
    let [what, parent, cpu] = &arguments[..] else {
        return Err("for ciphermark's own use".to_owned());
    };
    let number = |text: &str| text.parse::<u32>().map_err(|e| trouble(text, e));
    engine::doctor::quietly::die_with(number(parent)?).map_err(|e| e.0)?;
    let cpu = number(cpu)?;
    probe::pin_to(&[cpu]).map_err(|e| trouble(&format!("cannot run on CPU {cpu}"), e))?;
    let answers = take_standard_output().map_err(|e| trouble("standard output", e))?;
    match what.as_str() {
        CLIENT => serve_client(answers),
        SERVER => serve_minimal(answers),
        _ => Err("for ciphermark's own use".to_owned()),
    }
}

fn serve_client(mut answers: File) -> Result<(), String> {
    let mut lines = std::io::stdin().lock().lines();
    let Some(Ok(line)) = lines.next() else { return Ok(()) };
    let plan: ClientPlan = read("plan", &line)?;
    let entered = enter(&plan);
    while let Some(Ok(line)) = lines.next() {
        if let Err(why) = &entered {
            say(&mut answers, &Answer::Failed(why.to_string()))?;
            continue;
        }
        let job: Job = read("job", &line)?;
        let mut say = |answer: &Answer| {
            // An answer that comes after the library reached for others is none.
            let held = is_peaceful().map_err(Answer::Failed);
            say(&mut answers, held.as_ref().map_or_else(|failed| failed, |()| answer))
        };
        client::run(&plan.libraries, &job, &mut say, &mut || {
            lines.next().is_some_and(|line| line.is_ok_and(|word| word == "go"))
        })?;
    }
    Ok(())
}

fn enter(plan: &ClientPlan) -> Result<(), String> {
    let if_held = |confined: &Confined| {
        if plan.chosen && !confined.limits_ports() && confined.facts().switched_off.is_none() {
            let Libraries { ssl, .. } = &plan.libraries;
            return Err(format!(
                "'{}' is not loaded: this kernel cannot hold it to the servers' ports (Landlock, Linux 6.7); \
                 CIPHERMARK_CONFINEMENT=landlock loads it all the same",
                ssl.display()
            ));
        }
        Ok(())
    };
    load(&plan.libraries, Sockets::Made(&plan.ports), if_held).map(drop)
}

fn serve_minimal(mut answers: File) -> Result<(), String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|e| trouble("plan", e))?;
    let plan: MinimalPlan = read("plan", &line)?;
    let mut say = |listening: &Listening| say(&mut answers, listening);
    minimal::serve(&plan, &mut say)
}

fn read<T: DeserializeOwned>(what: &str, line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|e| trouble(what, e))
}

fn say<T: serde::Serialize>(answers: &mut File, answer: &T) -> Result<(), String> {
    let text = serde_json::to_string(answer).map_err(|e| trouble("answer", e))?;
    writeln!(answers, "{text}").map_err(|e| trouble("answer", e))
}
