//! `ciphermark watch -- COMMAND`: runs a program as it would run without us, with an object that the dynamic loader
//! loads beside it to count its calls, and samples it from outside. Input, output, exit code and signals are the program's own.

use crate::commands::watch::{WatchArgs, claim};
use crate::{Exit, Failure, screen};
use engine::watching::{Sampling, SeenByCalls};
use host::{WATCH_VARIABLE, WatchFile};
use record::{CALLS_SCHEMA, CALLS_VERSION, Calls};
use rustix::process::{Pid, Resource, Rlimit, Signal, getpgrp, kill_process, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::Signals;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The object that counts calls.
const AGENT: &str = "libciphermarkwatch.so";
/// Between two looks at whether the program has ended.
const PAUSE: Duration = Duration::from_millis(10);
/// Between two looks at whether there is room for more processes.
const TIDY: Duration = Duration::from_millis(250);
/// What is passed on. The others cannot be caught, or are about this process alone.
const PASSED_ON: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH];
/// What shells return for a program that is not there, and for one that may not be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

/// Runs the program, and prints and writes what it called.
pub fn command(args: &WatchArgs) -> Result<Exit, Failure> {
    let [program, arguments @ ..] = &args.program[..] else {
        return Err(Failure::usage("name a program, or a process with -p"));
    };
    let agent = host::companion(AGENT).ok_or_else(|| {
        Failure::not_done(format!("{AGENT} is not beside the program: build it with make attached"))
    })?;
    if let Some(path) = &args.output {
        claim(path)?;
    }
    // Once the program has ended, they are for this process again.
    let has_ended = Arc::new(AtomicBool::new(false));
    let unwatched = |e| Failure::not_done(format!("cannot watch for signals: {e}"));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&has_ended))
            .map_err(unwatched)?;
    }
    let mut signals = Signals::new(PASSED_ON).map_err(unwatched)?;
    if let Some(why) = found(program).and_then(|path| unseen(&path)) {
        say(&why);
    }
    let mut watched = Watched::begin()?;
    let mut child = start(program, arguments, &agent, &watched.file)?;
    let (status, answered) = attend(&mut child, &mut signals, args, &mut watched)?;
    has_ended.store(true, Ordering::Relaxed);
    if !answered && let Err(failure) = watched.answer(args) {
        // The exit code is the program's.
        say(&failure.message);
    }
    // Ending by a signal drops nothing.
    drop(watched);
    Ok(end_as(status))
}

/// One line on standard error.
fn say(text: &str) {
    anstream::eprintln!("ciphermark: {}", base::text::one_line(text));
}

/// What is known of the program while it runs.
struct Watched {
    file: WatchFile,
    since: Instant,
    sampling: Result<Sampling, String>,
}

impl Watched {
    fn begin() -> Result<Self, Failure> {
        let file = WatchFile::create()
            .map_err(|e| Failure::not_done(format!("no file to count calls in: {e}")))?;
        Ok(Self { file, since: Instant::now(), sampling: Sampling::of_what_this_thread_starts() })
    }

    /// Prints what was seen until now, and writes it. Samples end here.
    fn answer(&mut self, args: &WatchArgs) -> Result<(), Failure> {
        let seconds = self.since.elapsed().as_secs_f64();
        // Nothing is started any more that would inherit it, and files of strangers are read.
        if let Err(why) = host::memory::bind() {
            say(&why);
        }
        let read = self.file.read();
        let mut calls =
            read.map_err(|e| Failure::not_done(format!("cannot read the counts: {e}")))?;
        describe(&mut calls, seconds);
        let sampling = std::mem::replace(&mut self.sampling, Err("they ended".to_owned()));
        match sampling.and_then(|sampling| sampling.finish(&by_file(&calls))) {
            Ok(sampled) => calls.sampled = Some(sampled),
            Err(why) => calls.not_sampled = Some(why),
        }
        if args.share {
            host::share(&mut calls);
        }
        let calls = calls.without_home();
        let wrote =
            args.output.as_deref().map(|path| screen::write_document(path, &calls)).transpose();
        if args.json {
            screen::print_json(&calls)?;
        } else {
            screen::print_aside(|options| report::watched(&calls, options))?;
            if let Some(path) = args.output.as_deref().filter(|_| calls.rows().next().is_some()) {
                say(&format!(
                    "what a change would save: ciphermark advise --from {}",
                    path.display()
                ));
            }
        }
        wrote.map(|_| ())
    }
}

/// Fills in what the file does not know.
fn describe(calls: &mut Calls, seconds: f64) {
    let cpu = host::facts(0).cpu;
    calls.schema = CALLS_SCHEMA.to_owned();
    calls.version = CALLS_VERSION;
    calls.tool = env!("CARGO_PKG_VERSION").to_owned();
    calls.cpu_has_aes = cpu.features.iter().any(|feature| feature == "aes");
    calls.cpu = cpu.kind();
    calls.seconds = seconds;
    let of_processes: f64 = calls.processes.iter().map(|process| process.cpu_seconds).sum();
    calls.cpu_seconds = host::cpu_of_children().unwrap_or(0.0).max(of_processes);
    for library in &mut calls.libraries {
        (library.version, library.build_id) = engine::watching::build(&library.path);
    }
}

fn by_file(calls: &Calls) -> Vec<SeenByCalls> {
    let seconds =
        |index| calls.rows().filter(|row| row.library == index).map(|row| row.seconds).sum();
    let of = |(index, library): (usize, &record::CalledLibrary)| SeenByCalls {
        path: library.path.clone(),
        seconds: seconds(index),
    };
    calls.libraries.iter().enumerate().map(of).collect()
}

/// Where the shell would find the program.
fn found(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return Some(path.to_owned());
    }
    let directories = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&directories)
        .map(|directory| directory.join(path))
        .find(|path| path.is_file())
}

/// Why no call of a program can be seen, where that is known before it runs.
fn unseen(path: &Path) -> Option<String> {
    let facts = path.metadata().ok()?;
    let shown = path.display();
    let own = rustix::process::geteuid().as_raw();
    let (is_setuid, is_setgid) = (facts.mode() & 0o4000 != 0, facts.mode() & 0o2010 == 0o2010);
    if is_setuid && facts.uid() != own
        || is_setgid && facts.gid() != rustix::process::getegid().as_raw()
    {
        return Some(format!(
            "'{shown}' runs with the rights of another user: the loader lets nobody count its calls"
        ));
    }
    let mut head = [0; 4];
    let read = record::open_regular(path).and_then(|mut file| file.read_exact(&mut head));
    let is_object = read.is_ok() && head == *b"\x7fELF";
    if is_object && host::Dynamic::of(path).is_none() {
        return Some(format!("'{shown}' is linked statically: only samples can see what it does"));
    }
    None
}

fn start(
    program: &OsStr,
    arguments: &[OsString],
    agent: &Path,
    file: &WatchFile,
) -> Result<Child, Failure> {
    let mut audit = std::env::var_os("LD_AUDIT").unwrap_or_default();
    if !audit.is_empty() {
        audit.push(":");
    }
    audit.push(agent);
    let mut command = Command::new(program);
    command.args(arguments).env("LD_AUDIT", audit).env(WATCH_VARIABLE, file.path());
    command.spawn().map_err(|e| {
        let code = if e.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN };
        let message = format!("cannot run '{}': {e}", program.display());
        Failure { exit: Exit::Program(code), ..Failure::not_done(message) }
    })
}

/// Waits until the program has ended, passes signals on, and answers when its time is over. Says whether it did.
fn attend(
    child: &mut Child,
    signals: &mut Signals,
    args: &WatchArgs,
    watched: &mut Watched,
) -> Result<(ExitStatus, bool), Failure> {
    let until = args.time.map(|time| watched.since + time);
    let mut answered = false;
    let mut tidied = Instant::now();
    loop {
        for signal in signals.pending() {
            pass_on(child, signal);
        }
        if let Some(status) = child.try_wait().map_err(Failure::not_done)? {
            return Ok((status, answered));
        }
        if !answered && until.is_some_and(|until| Instant::now() >= until) {
            // The program runs on, whatever becomes of the answer.
            if let Err(failure) = watched.answer(args) {
                say(&failure.message);
            }
            answered = true;
        }
        if tidied.elapsed() >= TIDY {
            tidied = Instant::now();
            // What cannot be tidied away is still read at the end.
            let _ = watched.file.tidy();
        }
        std::thread::sleep(PAUSE);
    }
}

/// A signal of the terminal has reached the program already: it is in the same group.
fn pass_on(child: &Child, signal: i32) {
    let is_of_terminal = matches!(signal, SIGINT | SIGQUIT | SIGWINCH);
    if is_of_terminal && is_in_foreground() {
        return;
    }
    if let Some(signal) = Signal::from_named_raw(signal) {
        // One that is gone has ended, which waiting tells.
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

/// Whether what is typed at the terminal reaches this process's group.
fn is_in_foreground() -> bool {
    host::stat_field("self", 5) == Some(getpgrp().as_raw_nonzero().get())
}

/// Ends as the program ended: with its code, or by its signal.
fn end_as(status: ExitStatus) -> Exit {
    if let Some(signal) = status.signal() {
        // The program's own core was written where it was to be.
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _ = setrlimit(Resource::Core, none);
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return Exit::Program(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    Exit::Program(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
