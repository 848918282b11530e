//! Where the hidden processes give up what a stranger's libssl has no use for, before it is loaded.

use crate::server::Trouble;
use crate::server::job::Libraries;
use host::confine::{Confined, Needs, Sockets};
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

/// What the process answers through. Standard output becomes standard error, so that what a library prints is no answer.
pub(crate) fn take_standard_output() -> std::io::Result<File> {
    let answers: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    host::confine::close_inherited(answers.as_fd());
    Ok(File::from(answers))
}

/// Gives up everything but computing, reading the libraries and these sockets. The process has one thread.
pub(crate) fn close_behind(
    libraries: &Libraries,
    sockets: Sockets<'_>,
) -> Result<Confined, Trouble> {
    // A library may block the gentler signal.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| Trouble::of("prctl", e))?;
    let mut files: Vec<PathBuf> = vec![libraries.crypto.clone()];
    for path in [&libraries.ssl, &libraries.crypto] {
        host::check_elf(path).map_err(|why| Trouble(format!("'{}' {why}", path.display())))?;
    }
    files.extend(host::configuration_files());
    let needs = Needs { library: &libraries.ssl, files: &files, copies: &[], sockets };
    host::confine::before_loading(&needs).map_err(Trouble)
}

/// Whether the library has reached for other programs or processes so far.
pub(crate) fn is_peaceful() -> Result<(), String> {
    host::confine::hostile_so_far().map_or(Ok(()), Err)
}
