//! Least power: what a worker process gives up before it loads a library, and what after. `--library` runs
//! code that a user was handed: a shared object's initialisers run while it is loaded, its functions after
//! that. Neither needs the network, other processes, files to write, or more memory than the machine has.
//! What can be given up for good is given up before the library is loaded; what loading needs (to read the
//! library, what it depends on, and the directories of the system's libraries) goes after that. What this
//! kernel lacks is missing and told ([`record::Confinement`]); nothing fails for it. No restriction costs
//! anything but at system calls, and there is none inside the clock. It holds `unsafe` code: a signal
//! handler, system calls that no safe wrapper has. Here: the order of it, limits of resources, privileges,
//! what is left out for somebody who looks into a library that needs more, and the process of a language's
//! runtime; files, TCP ports, abstract sockets and signals, by Landlock (landlock(7), Linux 5.13 and later);
//! and what a shared object depends on and asks the loader to look for outside of the system's directories.

mod seccomp;

use crate::Dynamic;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    NetPort, PathBeneath, PathFd, RestrictSelfAttr as _, RestrictionStatus, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use record::{Confinement, Restriction};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use seccomp::Rule;
pub use seccomp::{Denied, Forked, end_with_parent, fork, hostile_so_far, leave, take_denied};
use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use strum::VariantArray as _;

#[derive(Debug)]
pub struct Needs<'a> {
    pub library: &'a Path,
    /// Files beside it that are loaded: what a tier's plan names.
    pub files: &'a [PathBuf],
    /// Opened files that are loaded: a tier's copies.
    pub copies: &'a [File],
    pub sockets: Sockets<'a>,
}

/// What a process that holds a library does with sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sockets<'a> {
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
    ports: Vec<u16>,
    store_bypass: Option<String>,
}

/// Gives up what neither the library nor loading it needs. The process should have no other thread.
pub fn before_loading(needs: &Needs<'_>) -> Result<Confined, String> {
    let left_out = LeftOut::from_environment()?;
    let wanted = |part| !left_out.has(part);
    let mut facts = Confinement { switched_off: left_out.reason(), ..Confinement::default() };
    let store_bypass = store_bypass();
    if wanted(Part::Limits) {
        add(&mut facts, "limits", lower_limits());
    }
    if wanted(Part::Capabilities) {
        add(&mut facts, "no-new-privileges", no_new_privileges());
    }
    let mut paths_limited = false;
    if wanted(Part::Landlock) {
        let outcome = only_what_loading_reads(needs);
        paths_limited = outcome.is_ok();
        add(&mut facts, "landlock", outcome);
    }
    if wanted(Part::Capabilities) && !paths_limited {
        add(&mut facts, "users", users_of_its_own());
    }
    if wanted(Part::Capabilities) {
        add(&mut facts, "capabilities", drop_capabilities(paths_limited));
    }
    if wanted(Part::Seccomp) {
        add(
            &mut facts,
            "seccomp",
            seccomp::install_handler().and_then(|()| seccomp::while_loading(needs.sockets)),
        );
    }
    let ports = if let Sockets::Made(ports) = needs.sockets { ports.to_vec() } else { Vec::new() };
    Ok(Confined { facts, ports, store_bypass })
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
            only_what_was_loaded(objects, &self.ports)?;
        }
        if in_force("seccomp") {
            seccomp::after_loading()?;
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
    pub fn limits_ports(&self) -> bool {
        let landlock = self.facts.in_force.iter().find(|r| r.name == "landlock");
        landlock.is_some_and(|r| r.detail.contains(PORTS))
    }

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

/// `off`, or a list of what to leave out: `landlock,seccomp`.
const VARIABLE: &str = "CIPHERMARK_CONFINEMENT";

/// What can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Part {
    Limits,
    Capabilities,
    Landlock,
    Seccomp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut(Vec<Part>);

impl LeftOut {
    pub(crate) fn from_environment() -> Result<Self, String> {
        let value = std::env::var_os(VARIABLE).unwrap_or_default();
        Self::parse(&value.to_string_lossy())
    }

    fn parse(value: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        for word in value.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            match (word, word.parse()) {
                ("on", _) => {}
                ("off", _) => parts.extend(Part::VARIANTS),
                (_, Ok(part)) => parts.push(part),
                (_, Err(_)) => {
                    return Err(format!(
                        "{VARIABLE} is '{value}': it takes on, off, or a list of what to leave out: limits, capabilities, landlock, seccomp"
                    ));
                }
            }
        }
        Ok(Self(parts))
    }

    pub(crate) fn has(&self, part: Part) -> bool {
        self.0.contains(&part)
    }

    /// Who asked for less, if anybody did.
    pub(crate) fn reason(&self) -> Option<String> {
        let out = Part::VARIANTS.iter().filter(|part| self.has(**part));
        let names: Vec<&str> = out.map(Into::into).collect();
        (!names.is_empty()).then(|| format!("{} left out by {VARIABLE}", names.join(", ")))
    }
}

// Limits of resources: no core file, no file that grows without end, no more memory than the machine can
// give, and the first to go when memory runs out.

/// A library that writes without end to the descriptors that it has must not fill the disk: standard error
/// is a file.
const FILE_BYTES: u64 = 64 << 20;

/// Descriptors. The most that a worker has are two for each algorithm that it samples.
const DESCRIPTORS: u64 = 1024;

/// The C library sets address space aside for each thread that allocates (two times 64 MiB) and for its
/// stack, which is not memory yet.
const ADDRESSES_PER_CPU: u64 = 256 << 20;

pub(crate) fn lower_limits() -> Result<String, String> {
    let memory = half_of_memory();
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let mut failed = Vec::new();
    let mut limit = |name: &str, resource, most| {
        if let Err(e) = lower_to(resource, most) {
            failed.push(format!("{name}: {e}"));
        }
    };
    limit("core files", Resource::Core, 0);
    limit("size of files", Resource::Fsize, FILE_BYTES);
    limit("descriptors", Resource::Nofile, DESCRIPTORS);
    limit("memory", Resource::Data, memory);
    limit("address space", Resource::As, memory.saturating_add(cpus * ADDRESSES_PER_CPU));
    if let Err(e) = std::fs::write("/proc/self/oom_score_adj", "1000") {
        failed.push(format!("first to go when memory runs out: {e}"));
    }
    if !failed.is_empty() {
        return Err(failed.join("; "));
    }
    Ok(format!(
        "no core file, files to {} MiB, {DESCRIPTORS} descriptors, {} MiB of memory, first to go when memory runs out",
        FILE_BYTES >> 20,
        memory >> 20
    ))
}

/// Lowers both limits; one that is lower already stays.
fn lower_to(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let now = getrlimit(resource);
    let lower = |limit: Option<u64>| Some(limit.map_or(most, |l| l.min(most)));
    setrlimit(resource, Rlimit { current: lower(now.current), maximum: lower(now.maximum) })
}

/// Half of the machine's memory: more than any case takes, and what a library that asks for all of it
/// leaves to everybody else.
pub(crate) fn half_of_memory() -> u64 {
    let system = rustix::system::sysinfo();
    (system.totalram as u64).saturating_mul(u64::from(system.mem_unit)) / 2
}

// Privileges and open descriptors.

/// No program that the process could execute gets privileges that it has not, and an unprivileged process
/// may set filters (prctl(2), `PR_SET_NO_NEW_PRIVS`).
pub(crate) fn no_new_privileges() -> Result<String, String> {
    set_no_new_privs(true).map_err(|e| e.to_string())?;
    Ok("none by executing a program".to_owned())
}

/// A namespace of users of its own: from another one nobody reads a process's memory and environment (ptrace(2), access mode
/// checking), be it of the same user. The process should have no other thread.
fn users_of_its_own() -> Result<String, String> {
    // SAFETY: a system call without pointers.
    match unsafe { libc::unshare(libc::CLONE_NEWUSER) } {
        0 => Ok("no memory and environment of other processes".to_owned()),
        _ => Err(format!("no namespace of users can be had: {}", std::io::Error::last_os_error())),
    }
}

/// Gives capabilities up for good: of this thread, and of those that it starts.
///
/// The superuser keeps one where the paths that can be read are limited by other means: to read what it
/// could read before, for the library may lie in another user's private directory, and its symbols are
/// read there later too.
pub(crate) fn drop_capabilities(paths_limited: bool) -> Result<String, String> {
    let had = capabilities(None).map_err(|e| e.to_string())?;
    let kept = if paths_limited { CapabilitySet::DAC_READ_SEARCH } else { CapabilitySet::empty() };
    let kept = kept & had.effective;
    if had.effective.contains(CapabilitySet::SETPCAP) {
        let all = (0..64).map(|number| CapabilitySet::from_bits_retain(1 << number));
        for one in all.filter(|one| !kept.contains(*one)) {
            // Numbers that this kernel does not know are refused; there is nothing to drop.
            let _ = remove_capability_from_bounding_set(one);
        }
    }
    // Kernels before 4.3 have none.
    let _ = clear_ambient_capability_set();
    let sets =
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(|e| e.to_string())?;
    let nothing_but = if kept.is_empty() { "none" } else { "none but to read the files below" };
    Ok(nothing_but.to_owned())
}

/// Closes every descriptor but the three standard ones and `kept`: the scheduler opens its own files so that
/// no worker inherits them, and whoever started the scheduler may not have.
///
/// Only for a process that has opened nothing else yet.
pub fn close_inherited(kept: BorrowedFd<'_>) {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let names = entries.flatten().map(|e| e.file_name());
    // All at once: the directory itself is open while it is read.
    let open: Vec<RawFd> = names.filter_map(|n| n.to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|d| *d > 2 && *d != kept.as_raw_fd()) {
        // SAFETY: the caller vouches that nobody in this process owns it. The directory's own is closed
        // already, which is an error that harms nothing.
        unsafe { libc::close(descriptor) };
    }
}

/// Sockets, reaching into other processes and their memory, keys, objects that outlive a process, signals to others (those to
/// its own threads are `tgkill`), leaving the process group, which ends with its worker; and what changes a file that was opened to
/// be read, or none, where no rule of Landlock looks: owners, modes, times and attributes, and lengths before Linux 6.2.
#[rustfmt::skip]
const DENIED_TO_RUNTIMES: [i64; 56] = [
    libc::SYS_socket, libc::SYS_connect, libc::SYS_bind, libc::SYS_listen, libc::SYS_accept,
    libc::SYS_accept4, libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg, libc::SYS_ptrace,
    libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_pidfd_getfd, libc::SYS_bpf, libc::SYS_io_uring_setup,
    libc::SYS_perf_event_open, libc::SYS_setsid, libc::SYS_setpgid, libc::SYS_setpriority, libc::SYS_keyctl, libc::SYS_add_key,
    libc::SYS_request_key, libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_semget, libc::SYS_semctl,
    libc::SYS_semop, libc::SYS_semtimedop, libc::SYS_msgctl, libc::SYS_msgget, libc::SYS_msgrcv, libc::SYS_msgsnd,
    libc::SYS_mq_open, libc::SYS_mq_unlink, libc::SYS_ioprio_set, libc::SYS_process_madvise, libc::SYS_pidfd_send_signal,
    libc::SYS_kill, libc::SYS_tkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_fchmod, libc::SYS_fchmodat, FCHMODAT2, libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_utimensat,
    libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr, libc::SYS_removexattr, libc::SYS_lremovexattr,
    libc::SYS_fremovexattr, libc::SYS_truncate, libc::SYS_openat2,
];

/// Since Linux 6.6, by the same number everywhere; and the newest calls for attributes, since 6.13 and 6.17.
const FCHMODAT2: i64 = 452;
const NEWEST: [i64; 3] = [463, 466, 469];

/// The same by their older names.
#[cfg(target_arch = "x86_64")]
const OLDER_NAMES: [i64; 6] = [
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_NAMES: [i64; 0] = [];

/// Has the command's process give up the network, writing files but for one directory's, and privileges, and end with the
/// thread that starts it.
pub fn runtime(command: &mut Command, writes: Option<&Path>) -> Result<Confinement, String> {
    Ok(confine_runtime(command, writes, &LeftOut::from_environment()?))
}

fn confine_runtime(
    command: &mut Command,
    writes: Option<&Path>,
    left_out: &LeftOut,
) -> Confinement {
    let wanted = |part| !left_out.has(part);
    let mut facts = Confinement { switched_off: left_out.reason(), ..Confinement::default() };
    let rules = wanted(Part::Landlock).then(|| nothing_to_write(writes));
    let (mut ready_rules, described) = halves(rules);
    let has_rules = ready_rules.is_some();
    if let Some(outcome) = described {
        add(&mut facts, "landlock", outcome);
    }
    // Where no rule holds signals to what the runtime has started, they go to its own threads.
    let to_itself_alone = !(has_rules && kernel_scopes_signals());
    let (filters, drops) = (wanted(Part::Seccomp), wanted(Part::Capabilities));
    if filters {
        let told = seccomp::denying(denied_to_runtimes(to_itself_alone.then_some(1)));
        add(&mut facts, "seccomp", told.map(|(_, told)| told));
    }
    let confine = move || -> std::io::Result<()> {
        let failed = std::io::Error::other;
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
        no_new_privileges().map_err(failed)?;
        if let Some(rules) = ready_rules.take() {
            enforce_rules(rules).map_err(failed)?;
        }
        if drops {
            if !has_rules {
                // A kernel that gives none has nothing better.
                let _ = users_of_its_own();
            }
            drop_capabilities(true).map_err(failed)?;
        }
        if filters {
            let own = to_itself_alone.then(std::process::id);
            let (program, _) = seccomp::denying(denied_to_runtimes(own)).map_err(failed)?;
            seccomp::set_filter(&program).map_err(failed)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes system calls and takes memory; the worker has one thread, so that no
    // other holds a lock of the heap.
    unsafe { command.pre_exec(confine) };
    facts
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

/// `own` is the process's number where signals go to its own threads alone.
fn denied_to_runtimes(own: Option<u32>) -> Vec<Rule> {
    let any = |call: &i64| Rule { call: *call, conditions: Vec::new() };
    let whole = DENIED_TO_RUNTIMES.iter().chain(&NEWEST).chain(&OLDER_NAMES).map(any);
    whole.chain(seccomp::calls_on_others(own)).collect()
}

/// The newest that is known; the kernel's own is used where that is older.
const ABI_KNOWN: ABI = ABI::V9;

/// Where the dynamic loader looks by itself (ld.so(8)), what it reads to know, and the checksum of OpenSSL's FIPS module.
#[rustfmt::skip]
const SYSTEM: [&str; 10] = [
    "/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib",
    "/etc/ld.so.cache", "/etc/pki/tls/fipsmodule.cnf", "/etc/ssl/fipsmodule.cnf",
];

/// What cryptographic libraries read when they are first used: randomness, what the CPU is, whether the
/// machine is in FIPS mode. The process reads of itself what single-stepping needs.
#[rustfmt::skip]
const ALWAYS: [&str; 9] = [
    "/dev/null", "/dev/random", "/dev/urandom", "/etc/gcrypt", "/proc/cpuinfo", "/proc/self",
    "/proc/sys/crypto", "/proc/sys/kernel/random", "/sys/devices/system",
];

const NO_LANDLOCK: &str = "this kernel has no Landlock (Linux 5.13), or it is not switched on";

/// What is said of a kernel that holds connections to ports.
pub(crate) const PORTS: &str = ", TCP to its servers alone";

/// From now on the process reads what loading needs, and writes nothing; reaches no other process.
pub(crate) fn only_what_loading_reads(needs: &Needs<'_>) -> Result<String, String> {
    let mut rules = ruleset()?;
    let mut paths: BTreeSet<PathBuf> = ALWAYS.iter().chain(&SYSTEM).map(PathBuf::from).collect();
    paths.extend(configured_directories());
    paths.extend(beside(needs.library));
    paths.insert(needs.library.to_owned());
    for file in needs.files {
        paths.extend(objects_needed(file));
        paths.insert(file.clone());
    }
    paths.extend(objects_needed(needs.library));
    paths.extend(std::env::current_exe());
    rules = allow_all(rules, &paths)?;
    if let Sockets::Made(ports) = needs.sockets {
        rules = allow_ports(rules, ports)?;
    }
    for copy in needs.copies {
        // A copy in memory has no place among files and needs no rule, and gets none.
        let rule = PathBeneath::new(copy, BitFlags::from(AccessFs::ReadFile));
        rules = match rules.try_clone().map(|r| r.add_rule(rule)) {
            Ok(Ok(added)) => added,
            _ => rules,
        };
    }
    let status = enforce(rules)?;
    let mut described = described(&status);
    if let Sockets::Made(_) = needs.sockets {
        described = described.replacen(", no TCP", PORTS, 1);
    }
    Ok(described)
}

/// From now on the process reads the objects that were loaded, OpenSSL's modules and itself. Threads that the
/// library has started already keep what they had on kernels before Landlock's ABI 8.
pub(crate) fn only_what_was_loaded(objects: &[PathBuf], ports: &[u16]) -> Result<(), String> {
    let mut paths: BTreeSet<PathBuf> = ALWAYS.iter().map(PathBuf::from).collect();
    paths.extend(objects.iter().cloned());
    let modules = objects.iter().filter_map(|object| modules_of(object));
    paths.extend(modules.filter(|path| is_own_directory(path)));
    paths.extend(std::env::current_exe());
    enforce(allow_ports(allow_all(ruleset()?, &paths)?, ports)?).map(drop)
}

/// Rules by which files are read and executed as before, and none is written but the null device and what lies in one
/// directory.
pub(crate) fn nothing_to_write(but: Option<&Path>) -> Result<(RulesetCreated, String), String> {
    if !kernel_has_landlock() {
        return Err(NO_LANDLOCK.to_owned());
    }
    let everywhere = PathFd::new("/").map_err(|e| e.to_string())?;
    let null = PathFd::new("/dev/null").map_err(|e| e.to_string())?;
    let reading = PathBeneath::new(everywhere, AccessFs::from_read(ABI_KNOWN));
    let writing = PathBeneath::new(null, AccessFs::WriteFile);
    let rules = ruleset()?.add_rule(reading).and_then(|rules| rules.add_rule(writing));
    let mut rules = rules.map_err(|e| e.to_string())?;
    if let Some(directory) = but {
        let own = PathFd::new(directory).map_err(|e| e.to_string())?;
        let all = PathBeneath::new(own, AccessFs::from_all(ABI_KNOWN));
        rules = rules.add_rule(all).map_err(|e| e.to_string())?;
    }
    let signals = if kernel_scopes_signals() { ", no signals to others" } else { "" };
    Ok((rules, format!("no file to write but temporary ones of its own{signals}")))
}

fn kernel_has_landlock() -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.handle_access(AccessFs::WriteFile).is_ok()
}

/// Whether Landlock holds signals to processes under the same rules (Linux 6.12).
fn kernel_scopes_signals() -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.scope(Scope::Signal).is_ok()
}

/// From now on these rules are in force, where the kernel has Landlock.
pub(crate) fn enforce_rules(rules: RulesetCreated) -> Result<(), String> {
    rules.no_new_privs(false).restrict_self().map(drop).map_err(|e| e.to_string())
}

fn ruleset() -> Result<RulesetCreated, String> {
    let all = || {
        Ruleset::default()
            .handle_access(AccessFs::from_all(ABI_KNOWN))?
            .handle_access(AccessNet::from_all(ABI_KNOWN))?
            .scope(Scope::from_all(ABI_KNOWN))?
            .create()
    };
    all().map_err(|e| e.to_string())
}

/// What is not there needs no rule.
fn allow_all(
    mut rules: RulesetCreated,
    paths: &BTreeSet<PathBuf>,
) -> Result<RulesetCreated, String> {
    let read = BitFlags::from(AccessFs::ReadFile);
    for path in paths {
        let Ok(opened) = PathFd::new(path) else { continue };
        let access = if path.is_dir() { read | AccessFs::ReadDir } else { read };
        rules = rules.add_rule(PathBeneath::new(opened, access)).map_err(|e| e.to_string())?;
    }
    Ok(rules)
}

fn allow_ports(mut rules: RulesetCreated, ports: &[u16]) -> Result<RulesetCreated, String> {
    for port in ports {
        let rule = NetPort::new(*port, AccessNet::ConnectTcp);
        rules = rules.add_rule(rule).map_err(|e| e.to_string())?;
    }
    Ok(rules)
}

fn enforce(rules: RulesetCreated) -> Result<RestrictionStatus, String> {
    let all_threads = rules.no_new_privs(false).all_threads(true).map_err(|e| e.to_string())?;
    let status = all_threads.restrict_self().map_err(|e| e.to_string())?;
    match (&status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotEnabled) => {
            Err("this kernel has Landlock and it is not switched on (lsm= on its command line)"
                .to_owned())
        }
        (RulesetStatus::NotEnforced, _) => Err(NO_LANDLOCK.to_owned()),
        _ => Ok(status),
    }
}

/// What the kernel's version of Landlock covers (landlock(7), "VERSIONS").
fn described(status: &RestrictionStatus) -> String {
    let LandlockStatus::Available { effective_abi: abi, .. } = status.landlock else {
        return String::new();
    };
    let mut covers = "files read-only, and few".to_owned();
    for (since, what) in [
        (ABI::V4, ", no TCP"),
        (ABI::V6, ", no abstract sockets, no signals to others"),
        (ABI::V9, ", no sockets by path"),
    ] {
        if abi >= since {
            covers.push_str(what);
        }
    }
    format!("ABI {abi}: {covers}")
}

/// Directories that the administrator has given to the loader (ldconfig(8)).
fn configured_directories() -> Vec<PathBuf> {
    let mut files = vec![PathBuf::from("/etc/ld.so.conf")];
    if let Ok(entries) = std::fs::read_dir("/etc/ld.so.conf.d") {
        files.extend(entries.flatten().map(|e| e.path()));
    }
    let texts = files.iter().filter_map(|f| std::fs::read_to_string(f).ok());
    texts.flat_map(|text| directories_of(&text)).collect()
}

fn directories_of(configuration: &str) -> Vec<PathBuf> {
    let lines = configuration.lines().map(str::trim).filter(|l| l.starts_with('/'));
    lines.map(PathBuf::from).collect()
}

/// What a library may load by itself from beside it, or compare itself with: other objects, modules in the
/// directories that OpenSSL gives them, and checksums of FIPS modules. Not the directory: it may be anybody's.
fn beside(library: &Path) -> Vec<PathBuf> {
    let Some(directory) = library.parent() else { return Vec::new() };
    if SYSTEM.iter().any(|system| directory.starts_with(system)) {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let belongs = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == "ossl-modules" || name.starts_with("engines-") {
            return is_own_directory(path);
        }
        if name.ends_with(".hmac") {
            // Under a second name it may be anything.
            return path.symlink_metadata().is_ok_and(|m| m.is_file() && m.nlink() == 1);
        }
        (name.ends_with(".so") || name.contains(".so.")) && crate::elf::is_object(path)
    };
    entries.flatten().map(|e| e.path()).filter(belongs).collect()
}

/// A link beside a library may lead to what is nobody's to show.
fn is_own_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|m| m.is_dir())
}

/// Where OpenSSL 3 installs its modules, of which it loads one (`legacy.so`) when an algorithm of it is opened.
fn modules_of(object: &Path) -> Option<PathBuf> {
    let name = object.file_name()?.to_string_lossy();
    name.starts_with("libcrypto.so").then(|| object.with_file_name("ossl-modules"))
}

/// As the loader takes them from beneath a directory (ld.so(8), "Hardware capabilities").
const VARIANTS: [&str; 4] =
    ["", "glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2"];

/// Objects deeper than this one are not looked for: nobody nests so deep.
const MOST_OBJECTS: usize = 256;

/// The objects that the library and its dependencies name and that lie in directories that they, or
/// `LD_LIBRARY_PATH`, name. Only files that are ELF objects: nobody is shown another by naming it.
pub(crate) fn objects_needed(library: &Path) -> BTreeSet<PathBuf> {
    let searched = crate::library_path();
    let (mut found, mut open) = (BTreeSet::new(), vec![library.to_owned()]);
    while let Some(object) = open.pop() {
        if found.len() > MOST_OBJECTS {
            break;
        }
        for path in dependencies_within(&object, &searched) {
            if found.insert(path.clone()) {
                open.push(path);
            }
        }
    }
    found
}

fn dependencies_within(object: &Path, searched: &[PathBuf]) -> Vec<PathBuf> {
    let Some(dynamic) = Dynamic::of(object) else { return Vec::new() };
    let origin = object.parent().unwrap_or(Path::new("/"));
    let directories: Vec<PathBuf> =
        dynamic.directories(origin).into_iter().chain(searched.iter().cloned()).collect();
    let candidates = |name: &String| {
        let name = crate::expanded(name, origin).unwrap_or_default();
        let within = |d: &PathBuf| VARIANTS.map(|v| d.join(v).join(&name));
        // A name with a slash is a path.
        let paths: Vec<PathBuf> = if name.contains('/') {
            vec![PathBuf::from(&name)]
        } else {
            directories.iter().flat_map(within).collect()
        };
        paths
    };
    dynamic.needed.iter().flat_map(candidates).filter(|path| crate::is_object(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_given_up_unless_a_word_says_otherwise() {
        let left_out = |value| LeftOut::parse(value).unwrap();
        assert_eq!((left_out(""), left_out("on").reason()), (LeftOut::default(), None));
        let less = left_out("seccomp, landlock");
        assert!(less.has(Part::Landlock) && less.has(Part::Seccomp));
        assert!(!less.has(Part::Limits) && !less.has(Part::Capabilities));
        assert!(less.reason().unwrap().starts_with("landlock, seccomp left out by"));
        assert!(left_out("off").has(Part::Limits));
    }

    /// Tries each deed that is not for a runtime's program, and says those that went well; signals by SIGURG, which nobody
    /// minds. Its arguments: another process, one of its threads, a file.
    const DEEDS: &str = r#"
        #define _GNU_SOURCE
        #include <errno.h>
        #include <fcntl.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/ioctl.h>
        #include <sys/mman.h>
        #include <sys/shm.h>
        #include <sys/socket.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <sys/xattr.h>
        #include <termios.h>
        #include <unistd.h>
        #define TRY(name, call) do { if ((long)(call) != -1) puts(name); } while (0)
        #define MINDED(name, call) do { if ((call) != -1 || errno != EPERM) puts(name); } while (0)
        int main(int count, char **word) {
            int other = atoi(word[1]), thread = atoi(word[2]), pair[2] = {-1, -1};
            const char *path = word[3];
            int file = open(path, O_RDONLY), none = open("/dev/null", O_RDONLY);
            TRY("own thread", syscall(SYS_tgkill, getpid(), gettid(), SIGURG));
            TRY("tgkill", syscall(SYS_tgkill, other, thread, SIGURG));
            TRY("kill", kill(other, SIGURG));
            socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
            MINDED("owner", ioctl(pair[0], FIOSETOWN, &other));
            MINDED("terminal", ioctl(none, TIOCSTI, "x"));
            TRY("chmod", chmod(path, 0777));
            TRY("fchmod", fchmod(file, 0777));
            TRY("fchmodat2", syscall(452, AT_FDCWD, path, 0777, 0));
            TRY("fchown", fchown(file, getuid(), getgid()));
            TRY("utimensat", futimens(file, 0));
            MINDED("setxattr", fsetxattr(file, "user.x", "x", 1, 0));
            TRY("truncate", truncate(path, 0));
            TRY("emptied", open(path, O_RDONLY | O_TRUNC));
            TRY("emptied", open(path, O_ACCMODE | O_TRUNC));
            TRY("shmget", shmget(IPC_PRIVATE, 4096, 0600));
            return 0;
        }"#;

    #[test]
    fn a_runtimes_program_changes_no_file_and_signals_nobody_with_landlock_and_without() {
        let directory = tempfile::tempdir().unwrap();
        let [source, program, file] =
            ["deeds.c", "deeds", "file"].map(|n| directory.path().join(n));
        std::fs::write(&source, DEEDS).unwrap();
        std::fs::write(&file, "kept").unwrap();
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let compiled = Command::new(compiler).arg("-o").arg(&program).arg(&source).status();
        assert!(compiled.unwrap().success());
        let before = file.metadata().unwrap();
        // What a kernel of each kind has to forbid them with.
        for without in ["", "landlock"] {
            let own = [std::process::id().to_string(), rustix::thread::gettid().to_string()];
            let mut command = Command::new(&program);
            command.args(own).arg(&file);
            let facts = confine_runtime(&mut command, None, &LeftOut::parse(without).unwrap());
            let done = command.output().unwrap();
            let went_well = String::from_utf8_lossy(&done.stdout).into_owned();
            assert_eq!(went_well, "own thread\n", "{without} {facts:?} {done:?}");
            let after = file.metadata().unwrap();
            let state = |m: &std::fs::Metadata| (m.mode(), m.len(), m.mtime(), m.mtime_nsec());
            assert_eq!(state(&before), state(&after));
        }
    }

    #[test]
    fn an_unknown_word_is_quoted_and_not_taken_for_everything() {
        let why = LeftOut::parse("none").unwrap_err();
        assert!(
            why.contains("CIPHERMARK_CONFINEMENT is 'none'") && why.contains("seccomp"),
            "{why}"
        );
    }

    #[test]
    fn beside_a_library_lie_objects_modules_and_checksums_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for name in [".libx.so.3.hmac", "id_rsa", "notes.solution", "text.so"] {
            std::fs::write(path(name), "").unwrap();
        }
        for name in ["ossl-modules", "engines-3", "mail", "dir.so"] {
            std::fs::create_dir(path(name)).unwrap();
        }
        let (object, secret) = (std::env::current_exe().unwrap(), path("id_rsa"));
        let links = [
            ("libx.so", &*object),
            ("libx.so.3.1", &object),
            ("secret.so", &secret),
            (".x.hmac", &secret),
            ("engines-4", Path::new("/")),
        ];
        for (name, target) in links {
            std::os::unix::fs::symlink(target, path(name)).unwrap();
        }
        let mut found = beside(&path("libx.so"));
        found.sort();
        let names = [".libx.so.3.hmac", "engines-3", "libx.so", "libx.so.3.1", "ossl-modules"];
        assert_eq!(found, names.map(path));
    }

    #[test]
    fn modules_are_openssls_alone() {
        let modules = |object: &str| modules_of(Path::new(object));
        assert_eq!(modules("/opt/x/libcrypto.so.3"), Some(PathBuf::from("/opt/x/ossl-modules")));
        assert_eq!(modules("/opt/x/libc.so.6"), None);
    }

    #[test]
    fn the_loaders_configuration_gives_directories() {
        let text = "include /etc/ld.so.conf.d/*.conf\n# Multiarch\n/usr/local/lib/x\n  /opt/y\n";
        assert_eq!(directories_of(text), ["/usr/local/lib/x", "/opt/y"].map(PathBuf::from));
    }
}
