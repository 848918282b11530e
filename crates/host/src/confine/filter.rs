//! System calls, by seccomp (seccomp(2), Linux 3.17 and later).

use crate::confine::calls::{self, Condition, Rule};
use crate::confine::{Sockets, fork};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};
use std::collections::BTreeMap;

/// To all threads; and not as a request for mitigations of speculative execution, which kernels before 5.16
/// take any other filter for.
const FLAGS: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_TSYNC | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;

/// From now on only the calls that computing and loading need.
pub(crate) fn while_loading(sockets: Sockets<'_>) -> Result<String, String> {
    let mut allowed = calls::allowed(std::process::id(), fork::word());
    allowed.extend(calls::of_sockets(sockets));
    let count = allowed.len();
    // First those that are to be taken for unknown: the C library does without them then. The other filter
    // must allow them, for what it catches comes before an error number.
    let unknown =
        program(calls::unknown(), SeccompAction::Errno(libc::ENOSYS as u32), SeccompAction::Allow)?;
    let allowed = program(allowed, SeccompAction::Allow, SeccompAction::Trap)?;
    set(&unknown)?;
    set(&allowed)?;
    let which = match sockets {
        Sockets::None => "no sockets",
        Sockets::Taken => "no sockets but those it listens at",
        Sockets::Made(_) => "no sockets but TCP",
    };
    Ok(format!("{count} system calls: {which}, no programs, no other processes, no files to write"))
}

/// From now on also without those that only loading needs.
pub(crate) fn after_loading() -> Result<(), String> {
    set(&program(calls::only_for_loading(), SeccompAction::Trap, SeccompAction::Allow)?)
}

/// A program that denies these calls and allows all others.
pub(crate) fn denying(rules: Vec<Rule>) -> Result<(BpfProgram, String), String> {
    let told =
        format!("{} system calls denied: no sockets, no reach into other processes", rules.len());
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    Ok((program(rules, denied, SeccompAction::Allow)?, told))
}

fn program(
    rules: Vec<Rule>,
    matched: SeccompAction,
    other: SeccompAction,
) -> Result<BpfProgram, String> {
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|e: BackendError| e.to_string())?;
    let mut by_call: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for Rule { call, conditions } in rules {
        let chain = by_call.entry(call).or_default();
        if !conditions.is_empty() {
            let conditions: Result<Vec<_>, _> = conditions.iter().map(condition).collect();
            let rule = conditions.and_then(SeccompRule::new).map_err(|e| e.to_string())?;
            chain.push(rule);
        }
    }
    let filter = SeccompFilter::new(by_call, other, matched, arch).map_err(|e| e.to_string())?;
    filter.try_into().map_err(|e: BackendError| e.to_string())
}

fn condition(c: &Condition) -> Result<SeccompCondition, BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    match *c {
        Condition::Masked { argument, mask, value } => {
            let operator = SeccompCmpOp::MaskedEq(u64::from(mask));
            SeccompCondition::new(argument, Dword, operator, u64::from(value))
        }
        Condition::Not { argument, value } => {
            SeccompCondition::new(argument, Dword, SeccompCmpOp::Ne, u64::from(value))
        }
        Condition::Word { argument, value } => {
            SeccompCondition::new(argument, Qword, SeccompCmpOp::Eq, value)
        }
        Condition::Null { argument } => SeccompCondition::new(argument, Qword, SeccompCmpOp::Eq, 0),
    }
}

pub(crate) fn set(program: &[sock_filter]) -> Result<(), String> {
    #[repr(C)]
    struct Program {
        len: libc::c_ushort,
        filter: *const sock_filter,
    }
    let len = libc::c_ushort::try_from(program.len()).map_err(|e| e.to_string())?;
    let program = Program { len, filter: program.as_ptr() };
    // SAFETY: the kernel copies the program, whose length is its own.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::c_ulong::from(libc::SECCOMP_SET_MODE_FILTER),
            FLAGS,
            &raw const program,
        )
    };
    match outcome {
        0 => Ok(()),
        1.. => Err(format!("thread {outcome} has a filter of its own")),
        _ => Err(format!("this kernel takes no filter: {}", std::io::Error::last_os_error())),
    }
}
