//! Both ends of a hidden process: the measuring process's hold on it (started, told, waited for, ended), and
//! the hidden subcommand itself.

use crate::server::cpu::Cpu;
use crate::server::job::{Answer, ClientPlan, Job, Libraries, Listening, MinimalPlan, Told};
use crate::server::{Trouble, client, job, minimal};
use host::confine::Sockets;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long a process may take beyond what it was told to take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A hidden process.
#[derive(Debug)]
struct Hidden {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<String>,
}

impl Hidden {
    fn start(what: &str, cpu: u32, environment: &[(String, String)]) -> Result<Self, Trouble> {
        let wrong = |e: std::io::Error| Trouble::of("cannot start a process", e);
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
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(from).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, to, from: lines })
    }

    fn tell(&mut self, line: &str) -> Result<(), Trouble> {
        let to = self.to.as_mut().expect("closed by `drop` alone");
        writeln!(to, "{line}").map_err(|e| Trouble::of("a process of ours is gone", e))
    }

    fn hear<T: DeserializeOwned>(&mut self, within: Duration) -> Result<T, Trouble> {
        match self.from.recv_timeout(within) {
            Ok(line) => serde_json::from_str(&line).map_err(|e| Trouble::of("answer", e)),
            Err(RecvTimeoutError::Timeout) => Err(Trouble(format!(
                "a process of ours did not answer within {} s",
                within.as_secs()
            ))),
            Err(RecvTimeoutError::Disconnected) => {
                let end =
                    self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
                Err(Trouble(format!("a process of ours ended ({end})")))
            }
        }
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        // The end of its input ends it; what does not heed that is killed.
        drop(self.to.take());
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The client, on a CPU of its own.
#[derive(Debug)]
pub struct Client(Hidden);

impl Client {
    /// Starts it.
    ///
    /// # Errors
    /// In one line, why not.
    pub fn start(plan: &ClientPlan, cpu: u32) -> Result<Self, Trouble> {
        let mut process = Hidden::start(CLIENT, cpu, &[])?;
        process.tell(&serde_json::to_string(plan).map_err(|e| Trouble::of("plan", e))?)?;
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
        around: &mut dyn FnMut(Option<&Told>) -> Result<(), Trouble>,
    ) -> Result<Told, Trouble> {
        let line = serde_json::to_string(job).map_err(|e| Trouble::of("job", e))?;
        let within = PATIENCE + Duration::from_secs_f64(job.seconds.clamp(0.0, 3600.0));
        self.0.tell(&line)?;
        match self.0.hear(within)? {
            Answer::Ready => {}
            Answer::Failed(why) => return Err(Trouble(why)),
            Answer::Slice(_) | Answer::Done(_) => return Err(out_of_step()),
        }
        around(None)?;
        loop {
            self.0.tell("go")?;
            match self.0.hear(within)? {
                Answer::Slice(told) => around(Some(&told))?,
                Answer::Done(told) => return Ok(told),
                Answer::Failed(why) => return Err(Trouble(why)),
                Answer::Ready => return Err(out_of_step()),
            }
        }
    }
}

fn out_of_step() -> Trouble {
    Trouble("the client is out of step".to_owned())
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
    ///
    /// # Errors
    /// In one line, why not.
    pub fn start(
        plan: &MinimalPlan,
        cpu: u32,
        environment: &[(String, String)],
    ) -> Result<Self, Trouble> {
        let mut process = Hidden::start(SERVER, cpu, environment)?;
        let line = serde_json::to_string(plan).map_err(|e| Trouble::of("plan", e))?;
        process.tell(&line)?;
        let listening: Listening = process.hear(PATIENCE)?;
        let ports = listening.map_err(Trouble)?.ports;
        Ok(Self { process, ports })
    }

    /// Its CPU time.
    #[must_use]
    pub fn cpu(&self) -> Cpu {
        Cpu::of(self.process.child.id())
    }
}

// The hidden subcommand: what the processes beside the measuring one do.

/// The name of the hidden subcommand.
pub const SUBCOMMAND: &str = "loopback";

/// What such a process is for.
pub(crate) const CLIENT: &str = "client";
pub(crate) const SERVER: &str = "server";

/// Serves what the subcommand's arguments ask for: `client|server PARENT CPU`.
///
/// # Errors
/// In one line, what went wrong.
pub fn serve() -> Result<(), Trouble> {
    let arguments = std::env::args_os().skip(2).map(|a| a.to_string_lossy().into_owned());
    let arguments: Vec<String> = arguments.collect();
    let [what, parent, cpu] = &arguments[..] else {
        return Err(Trouble("for ciphermark's own use".to_owned()));
    };
    let number = |text: &str| text.parse::<u32>().map_err(|e| Trouble::of(text, e));
    engine::doctor::quietly::die_with(number(parent)?)?;
    let cpu = number(cpu)?;
    probe::pin_to(&[cpu]).map_err(|e| Trouble::of(&format!("cannot run on CPU {cpu}"), e))?;
    let answers = job::take_standard_output().map_err(|e| Trouble::of("standard output", e))?;
    match what.as_str() {
        CLIENT => serve_client(answers),
        SERVER => serve_minimal(answers),
        _ => Err(Trouble("for ciphermark's own use".to_owned())),
    }
}

fn serve_client(mut answers: File) -> Result<(), Trouble> {
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
            let held = job::is_peaceful().map_err(Answer::Failed);
            say(&mut answers, held.as_ref().map_or_else(|failed| failed, |()| answer))
        };
        client::run(&plan.libraries, &job, &mut say, &mut || {
            lines.next().is_some_and(|line| line.is_ok_and(|word| word == "go"))
        })?;
    }
    Ok(())
}

fn enter(plan: &ClientPlan) -> Result<(), Trouble> {
    let confined = job::close_behind(&plan.libraries, Sockets::Made(&plan.ports))?;
    if plan.chosen && !confined.limits_ports() && confined.facts().switched_off.is_none() {
        let Libraries { ssl, .. } = &plan.libraries;
        return Err(Trouble(format!(
            "'{}' is not loaded: this kernel cannot hold it to the servers' ports (Landlock, Linux 6.7); \
             CIPHERMARK_CONFINEMENT=landlock loads it all the same",
            ssl.display()
        )));
    }
    Ok(())
}

fn serve_minimal(mut answers: File) -> Result<(), Trouble> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|e| Trouble::of("plan", e))?;
    let plan: MinimalPlan = read("plan", &line)?;
    let mut say = |listening: &Listening| say(&mut answers, listening);
    minimal::serve(&plan, &mut say)
}

fn read<T: DeserializeOwned>(what: &str, line: &str) -> Result<T, Trouble> {
    serde_json::from_str(line).map_err(|e| Trouble::of(what, e))
}

fn say<T: serde::Serialize>(answers: &mut File, answer: &T) -> Result<(), Trouble> {
    let text = serde_json::to_string(answer).map_err(|e| Trouble::of("answer", e))?;
    writeln!(answers, "{text}").map_err(|e| Trouble::of("answer", e))
}
