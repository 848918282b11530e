//! The hidden subcommand: what the processes beside the measuring one do.

use crate::server::job::{Answer, ClientPlan, Job, Libraries, Listening, MinimalPlan};
use crate::server::{Trouble, client, door, mini};
use host::confine::Sockets;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{BufRead as _, Write as _};

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
    let answers = door::take_standard_output().map_err(|e| Trouble::of("standard output", e))?;
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
            let held = door::is_peaceful().map_err(Answer::Failed);
            say(&mut answers, held.as_ref().map_or_else(|failed| failed, |()| answer))
        };
        client::run(&plan.libraries, &job, &mut say, &mut || {
            lines.next().is_some_and(|line| line.is_ok_and(|word| word == "go"))
        })?;
    }
    Ok(())
}

fn enter(plan: &ClientPlan) -> Result<(), Trouble> {
    let confined = door::close_behind(&plan.libraries, Sockets::Made(&plan.ports))?;
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
    mini::serve(&plan, &mut say)
}

fn read<T: DeserializeOwned>(what: &str, line: &str) -> Result<T, Trouble> {
    serde_json::from_str(line).map_err(|e| Trouble::of(what, e))
}

fn say<T: serde::Serialize>(answers: &mut File, answer: &T) -> Result<(), Trouble> {
    let text = serde_json::to_string(answer).map_err(|e| Trouble::of("answer", e))?;
    writeln!(answers, "{text}").map_err(|e| Trouble::of("answer", e))
}
