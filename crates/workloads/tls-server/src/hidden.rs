//! The hidden subcommand: what the processes beside the measuring one do.

use crate::job::{Job, MinimalPlan};
use crate::{Trouble, client, mini};
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
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let [what, parent, cpu] = &arguments[..] else {
        return Err(Trouble("for ciphermark's own use".to_owned()));
    };
    let number = |text: &str| text.parse::<u32>().map_err(|e| Trouble::of(text, e));
    doctor::quietly::die_with(number(parent)?)?;
    let cpu = number(cpu)?;
    probe::pin_to(&[cpu]).map_err(|e| Trouble::of(&format!("cannot run on CPU {cpu}"), e))?;
    match what.as_str() {
        CLIENT => serve_client(),
        SERVER => serve_minimal(),
        _ => Err(Trouble("for ciphermark's own use".to_owned())),
    }
}

fn serve_client() -> Result<(), Trouble> {
    let mut lines = std::io::stdin().lock().lines();
    while let Some(Ok(line)) = lines.next() {
        let job: Job = serde_json::from_str(&line).map_err(|e| Trouble::of("job", e))?;
        client::run(&job, &mut |answer| say(answer), &mut || {
            lines.next().is_some_and(|line| line.is_ok_and(|word| word == "go"))
        })?;
    }
    Ok(())
}

fn serve_minimal() -> Result<(), Trouble> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|e| Trouble::of("plan", e))?;
    let plan: MinimalPlan = serde_json::from_str(&line).map_err(|e| Trouble::of("plan", e))?;
    mini::serve(&plan, &mut |listens| say(listens))
}

fn say<T: serde::Serialize>(answer: &T) -> Result<(), Trouble> {
    let text = serde_json::to_string(answer).map_err(|e| Trouble::of("answer", e))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|e| Trouble::of("answer", e))
}
