//! Least power: what a worker process gives up before it loads a library, and what after.
//!
//! `--library` runs code that a user was handed: a shared object's initialisers run while it is loaded,
//! its functions after that. Neither needs the network, other processes, files to write, or more memory than
//! the machine has. What can be given up for good is given up before the library is loaded; what loading
//! needs (to read the library, what it depends on, and the directories of the system's libraries) goes
//! after that.
//!
//! What this kernel lacks is missing and told ([`record::Confinement`]); nothing fails for it. No restriction
//! costs anything but at system calls, and there is none inside the clock.
//!
//! This crate holds `unsafe` code: a signal handler, system calls that no safe wrapper has.

mod calls;
mod denied;
mod files;
mod filter;
mod fork;
mod left_out;
mod limits;
mod names;
mod needed;
mod privileges;
mod runtime;

pub use denied::{Denied, hostile_so_far, take_denied};
pub use fork::{Forked, end_with_parent, fork, leave};
pub use privileges::close_inherited;
pub use runtime::runtime;

use left_out::{LeftOut, Part};
use record::{Confinement, Restriction};
use std::fs::File;
use std::path::{Path, PathBuf};

/// What a worker keeps while it loads a library.
#[derive(Debug)]
pub struct Needs<'a> {
    /// The library's file.
    pub library: &'a Path,
    /// Files beside it that are loaded: what a tier's plan names.
    pub files: &'a [PathBuf],
    /// Opened files that are loaded: a tier's copies.
    pub copies: &'a [File],
    /// What it does with sockets.
    pub sockets: Sockets<'a>,
}

/// What a process that holds a library does with sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sockets<'a> {
    /// Nothing.
    None,
    /// It takes connections from those that it opened before, and makes none.
    Taken,
    /// It makes TCP connections to these ports of this machine.
    Made(&'a [u16]),
}

/// A process that has given up what loading a library does not need.
#[derive(Debug)]
pub struct Confined {
    facts: Confinement,
    store_bypass: Option<String>,
}

/// Gives up what neither the library nor loading it needs. The process should have no other thread.
///
/// # Errors
/// When the environment variable `CIPHERMARK_CONFINEMENT` says what it cannot.
pub fn before_loading(needs: &Needs<'_>) -> Result<Confined, String> {
    let left_out = LeftOut::from_environment()?;
    let wanted = |part| !left_out.has(part);
    let mut facts = Confinement { switched_off: left_out.reason(), ..Confinement::default() };
    let store_bypass = store_bypass();
    if wanted(Part::Limits) {
        add(&mut facts, "limits", limits::lower());
    }
    if wanted(Part::Capabilities) {
        add(&mut facts, "no-new-privileges", privileges::no_new());
    }
    let mut paths_limited = false;
    if wanted(Part::Landlock) {
        let outcome = files::only_what_loading_reads(needs);
        paths_limited = outcome.is_ok();
        add(&mut facts, "landlock", outcome);
    }
    if wanted(Part::Capabilities) {
        add(&mut facts, "capabilities", privileges::drop_capabilities(paths_limited));
    }
    if wanted(Part::Seccomp) {
        add(
            &mut facts,
            "seccomp",
            denied::install().and_then(|()| filter::while_loading(needs.sockets)),
        );
    }
    Ok(Confined { facts, store_bypass })
}

impl Confined {
    /// Gives up what only loading needed; `objects` are the files that code was loaded from, and may
    /// still be read.
    ///
    /// # Errors
    /// When what could be given up before can no longer: code of the library has seen to that.
    pub fn after_loading(&mut self, objects: &[PathBuf]) -> Result<(), String> {
        let in_force = |name: &str| self.facts.in_force.iter().any(|r| r.name == name);
        if in_force("landlock") {
            files::only_what_was_loaded(objects)?;
        }
        if in_force("seccomp") {
            filter::after_loading()?;
        }
        let now = store_bypass();
        if now != self.store_bypass {
            let word = |state: &Option<String>| state.clone().unwrap_or_else(|| "unknown".into());
            self.facts.missing.push(Restriction {
                name: "speed".to_owned(),
                detail: format!(
                    "confinement changed how the processor runs this process: speculative store bypass was '{}' and is '{}'",
                    word(&self.store_bypass),
                    word(&now)
                ),
            });
        }
        Ok(())
    }

    /// Whether the kernel holds connections to the ports that were named; seccomp does not see them.
    #[must_use]
    pub fn limits_ports(&self) -> bool {
        let landlock = self.facts.in_force.iter().find(|r| r.name == "landlock");
        landlock.is_some_and(|r| r.detail.contains(files::PORTS))
    }

    /// What is in force and what is not.
    #[must_use]
    pub fn facts(&self) -> &Confinement {
        &self.facts
    }
}

fn add(facts: &mut Confinement, name: &str, outcome: Result<String, String>) {
    let (list, detail) = match outcome {
        Ok(detail) => (&mut facts.in_force, detail),
        Err(why) => (&mut facts.missing, why),
    };
    list.push(Restriction { name: name.to_owned(), detail });
}

/// Whether stores may be bypassed speculatively (`Speculation_Store_Bypass` of proc_pid_status(5)). Kernels
/// before 5.16 forbid it to processes with a seccomp filter, which makes all code slower, unless the filter
/// is set with `SECCOMP_FILTER_FLAG_SPEC_ALLOW`, as ours is.
fn store_bypass() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("Speculation_Store_Bypass:"))?;
    Some(line.trim().to_owned())
}
