//! Languages' runtimes: Go, Node, Python, Java. Their code runs in a process of its own, a small program in the language
//! (`runtimes/` of the source), which the worker asks over pipes. `README.md` beside this file has the protocol.

mod java;
mod link;
mod programs;
mod session;
#[cfg(test)]
mod tests;

pub use link::RUNTIME_ENDED;
pub use programs::{Places, Program, names, prepare};

use crate::family::has_direction;
use base::model::{Algorithm, Direction};
use contract::loader::LoadError;
use contract::{Identity, Library, OpenError, Session};
use link::Link;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Done, and what was asked for.
const DONE: u8 = 0;
/// Not offered, with the reason.
const UNSUPPORTED: u8 = 2;

/// A runtime's process with its program.
struct Runtime {
    identity: Identity,
    process: u32,
    compiles: bool,
    allocates: bool,
    link: Arc<Mutex<Link>>,
}

/// Starts a runtime's program, in a process that `confine` sees to before, and asks who it is. `name` is what to call it.
///
/// # Errors
/// [`LoadError::Unusable`] when it does not start or does not answer.
pub fn attach(
    program: &Program,
    name: &str,
    confine: &mut dyn FnMut(&mut Command) -> Result<(), String>,
) -> Result<Box<dyn Library>, LoadError> {
    let unusable = |why| LoadError::Unusable { path: PathBuf::from(name), why };
    let mut command = program.command();
    confine(&mut command).map_err(unusable)?;
    let mut link = Link::start(command, name).map_err(unusable)?;
    let (status, told) = link.try_ask(b"H").map_err(unusable)?;
    if status != DONE {
        return Err(unusable("its program does not say who it is".to_owned()));
    }
    let told = String::from_utf8_lossy(&told).into_owned();
    let of = |word: &str| -> Vec<String> {
        told.lines().filter_map(|l| Some(l.strip_prefix(word)?.trim().to_owned())).collect()
    };
    let mut build = of("build ");
    build.extend(program.facts.iter().cloned());
    let version = of("version ").pop().unwrap_or_default();
    let identity = Identity { name: name.to_owned(), version, build };
    let compiles = told.lines().any(|line| line == "jit");
    let (process, allocates) = (link.process(), program.allocates);
    let link = Arc::new(Mutex::new(link));
    Ok(Box::new(Runtime { identity, process, compiles, allocates, link }))
}

impl Library for Runtime {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn one_thread_only(&self) -> Option<&str> {
        Some("a runtime's program works in one thread")
    }

    fn process(&self) -> Option<u32> {
        Some(self.process)
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        has_direction(algorithm, direction)?;
        session::open(self, algorithm, direction, key)
    }
}
