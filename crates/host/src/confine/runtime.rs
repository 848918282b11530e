//! The process of a language's runtime: a program that compiles code while it runs and starts threads, and needs no
//! network and no files to write.

use crate::confine::calls::Rule;
use crate::confine::left_out::{LeftOut, Part};
use crate::confine::{add, files, filter, privileges};
use record::Confinement;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

/// Sockets, and reaching into other processes.
#[rustfmt::skip]
const DENIED: [i64; 15] = [
    libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept,
    libc::SYS_accept4, libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg, libc::SYS_ptrace,
    libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_pidfd_getfd, libc::SYS_bpf, libc::SYS_io_uring_setup,
];

/// Has the command's process give up the network, writing files but for one directory's, and privileges, and end with the
/// thread that starts it.
///
/// # Errors
/// When the environment variable `CIPHERMARK_CONFINEMENT` says what it cannot.
pub fn runtime(command: &mut Command, writes: Option<&Path>) -> Result<Confinement, String> {
    let left_out = LeftOut::from_environment()?;
    let wanted = |part| !left_out.has(part);
    let mut facts = Confinement { switched_off: left_out.reason(), ..Confinement::default() };
    let rules = if wanted(Part::Landlock) { Some(files::nothing_to_write(writes)) } else { None };
    let program = if wanted(Part::Seccomp) { Some(filter::denying(denied())) } else { None };
    let (ready_rules, described) = halves(rules);
    if let Some(outcome) = described {
        add(&mut facts, "landlock", outcome);
    }
    let (ready_program, described) = halves(program);
    if let Some(outcome) = described {
        add(&mut facts, "seccomp", outcome);
    }
    let mut ready_rules = ready_rules;
    let confine = move || {
        let failed = std::io::Error::other;
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        privileges::no_new().map_err(failed)?;
        if let Some(rules) = ready_rules.take() {
            files::enforce_rules(rules).map_err(failed)?;
        }
        ready_program.as_ref().map_or(Ok(()), |program| filter::set(program).map_err(failed))
    };
    // SAFETY: between fork and exec the closure makes system calls with what was made before; the worker has one thread,
    // so that no other holds a lock of the heap.
    unsafe { command.pre_exec(confine) };
    Ok(facts)
}

/// What is to be applied, and how the record tells it.
fn halves<T>(
    made: Option<Result<(T, String), String>>,
) -> (Option<T>, Option<Result<String, String>>) {
    match made {
        None => (None, None),
        Some(Ok((ready, told))) => (Some(ready), Some(Ok(told))),
        Some(Err(why)) => (None, Some(Err(why))),
    }
}

fn denied() -> Vec<Rule> {
    DENIED.iter().map(|call| Rule { call: *call, conditions: Vec::new() }).collect()
}
