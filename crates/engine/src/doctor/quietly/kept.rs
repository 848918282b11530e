//! The hidden subcommand that becomes another program: on one CPU, and gone with the process that asked for it.

use crate::doctor::quietly::GateError;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// The name of the hidden subcommand: `keep PARENT CPU PROGRAM [ARGUMENT…]`.
pub const SUBCOMMAND: &str = "keep";

/// A program that runs on one CPU, with its threads and children, and dies when this process does, whatever ends it.
/// `executable` is ciphermark's own.
#[must_use]
pub fn kept(executable: &Path, cpu: u32, program: &OsStr) -> Command {
    let mut command = Command::new(executable);
    command
        .args([SUBCOMMAND, &std::process::id().to_string(), &cpu.to_string()])
        .arg(program)
        // An interrupt from the terminal is for this process, which ends everything in order.
        .process_group(0);
    command
}

/// Becomes the program that the subcommand's arguments name.
///
/// # Errors
/// In one line, why it cannot be executed.
pub fn serve() -> Result<(), GateError> {
    let arguments: Vec<OsString> = std::env::args_os().skip(2).collect();
    let [parent, cpu, program, arguments @ ..] = &arguments[..] else {
        return Err(GateError("for ciphermark's own use".to_owned()));
    };
    die_with(number(parent)?)?;
    let cpu = number(cpu)?;
    probe::pin_to(&[cpu]).map_err(|e| GateError::of(&format!("cannot run on CPU {cpu}"), e))?;
    // The request to die with the parent and the CPU outlive the exec (prctl(2), execve(2)).
    let why = Command::new(program).args(arguments).exec();
    Err(GateError::of(&program.to_string_lossy(), why))
}

/// Has this process end with its parent, whatever ends that.
///
/// # Errors
/// In one line: the parent is not the one that is named, because that is gone already.
pub fn die_with(parent: u32) -> Result<(), GateError> {
    // SIGKILL would leave what this process started; a stopped process takes it when it goes on, and the
    // kernel lets the group of a process that is gone go on (POSIX, orphaned process groups).
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(|e| GateError::of("prctl", e))?;
    let alive = getppid().is_some_and(|p| p.as_raw_nonzero().get().unsigned_abs() == parent);
    if alive { Ok(()) } else { Err(GateError("the measuring process is gone".to_owned())) }
}

fn number(text: &OsStr) -> Result<u32, GateError> {
    let text = text.to_string_lossy();
    text.parse().map_err(|e| GateError::of(&text, e))
}
