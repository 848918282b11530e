//! The measuring process's hold on the hidden ones: started, told, waited for, ended.

use crate::server::Trouble;
use crate::server::cpu::Cpu;
use crate::server::hidden::{CLIENT, SERVER, SUBCOMMAND};
use crate::server::job::{Answer, ClientPlan, Job, Listening, MinimalPlan, Told};
use serde::de::DeserializeOwned;
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
