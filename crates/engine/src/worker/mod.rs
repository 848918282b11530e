//! The worker: a process that holds one library and answers the scheduler's requests.

mod checks;
mod counting;
mod forks;
mod honesty;
mod loading;
mod material;
mod pages;
mod secrets;
mod stack;
mod visit;

use crate::decode;
use crate::protocol::{
    Finding, Hello, PIPE_GONE, PageJob, QuietCore, Ready, Reply, Request, VERSION,
};
use base::model::{Algorithm, Direction, Tier};
use checks::{judge, run_once, verify_one};
use contract::Library;
use counting::Counter;
use forks::{OwnMemory, Sampler};
use host::tier::Applied;
use loading::{Power, Reins, offers};
use pages::Desk;
use probe::InstructionCounter;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use record::Confinement;
use stack::StackBench;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use verify::reference::Reference;
use visit::Bench;

// The worker's request loop.

/// Room for lines of the protocol: what fits stays out of the heap that the processes of visits inherit.
const ROOM: usize = 1 << 20;

/// Bytes of the message that the references' own one-time work is done with.
const WARMING: usize = 32;

/// Serves requests from standard input until it closes. Standard output becomes a copy of
/// standard error before any library is loaded: whatever a library prints stays out of the
/// protocol.
///
/// Ends the process with [`PIPE_GONE`] when a pipe is not there any more.
///
/// # Errors
/// When the pipes cannot be set up: the process is of no use then.
pub fn serve() -> std::io::Result<()> {
    let mut replies =
        Replies { pipe: take_standard_output()?, token: None, line: Vec::with_capacity(ROOM) };
    host::confine::close_inherited(replies.pipe.as_fd());
    // A hung library reads no end of file: without this, a killed scheduler would leave it behind.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    if is_orphan() {
        return Ok(());
    }
    be_first_to_go();
    probe::fault::install()?;
    // What a library starts is found and ended, also where it was started twice over.
    probe::surroundings::adopt()?;
    if requests(&mut replies).is_err() {
        std::process::exit(PIPE_GONE);
    }
    Ok(())
}

/// Answers until there are no more requests.
///
/// # Errors
/// When one of the protocol's pipes is gone.
fn requests(replies: &mut Replies) -> std::io::Result<()> {
    let (mut state, mut stack): (Option<State>, _) = (None, None);
    let mut requests = BufReader::new(std::io::stdin());
    let mut line = Vec::with_capacity(ROOM);
    loop {
        line.clear();
        if requests.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if let Some(Err(why)) = state.as_mut().map(|state| state.reins.let_go()) {
            say(replies, &no_number(Finding::failed(why)))?;
            continue;
        }
        if let (true, Some(state)) = (Sampler::is_asked(&line), &mut state) {
            let reply = state.sampler.answer(&line, state.library, &mut state.bench);
            // Before the next block is asked for. A process that takes no signal is gone, which the next request finds.
            let _ = state.reins.hold();
            replies.say(reply)?;
            continue;
        }
        match decode::request(&line) {
            Ok(Request::Hello(hello)) => state = greet(&hello, replies)?,
            Ok(Request::Stack(hello)) => stack = greet_stack(&hello, replies)?,
            Ok(Request::Tls { visits, quiet }) => {
                say(replies, &visit_stack(stack.as_mut(), &visits, quiet))?;
            }
            Ok(request) => match &mut state {
                Some(state) => answer(state, request, replies)?,
                None => say(replies, &no_number(Finding::failed("no hello came before")))?,
            },
            Err(e) => say(replies, &no_number(Finding::failed(format!("bad request: {e}"))))?,
        }
        let _ = state.as_ref().map(|state| state.reins.hold());
    }
}

/// Whether the scheduler, whose number is the argument, died before its death could be a signal. A
/// worker that is started by hand has no such argument.
fn is_orphan() -> bool {
    let scheduler = std::env::args_os().nth(2).and_then(|number| number.to_str()?.parse().ok());
    let parent = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    scheduler.is_some_and(|scheduler: i32| parent != Some(scheduler))
}

/// Where the machine has no memory left, a worker is what it can do without: the scheduler, which
/// keeps what was measured, starts another, and other programs have nothing to do with it.
fn be_first_to_go() {
    // A kernel that does not let it be said chooses for itself.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

fn take_standard_output() -> std::io::Result<File> {
    let protocol: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok(File::from(protocol))
}

/// The protocol's pipe.
struct Replies {
    pipe: File,
    /// What each line begins with, and a space, once the greeting has said so.
    token: Option<String>,
    line: Vec<u8>,
}

impl Replies {
    /// Says what is JSON already.
    fn say(&mut self, reply: &[u8]) -> std::io::Result<()> {
        self.line.clear();
        if let Some(token) = &self.token {
            self.line.extend_from_slice(token.as_bytes());
            self.line.push(b' ');
        }
        self.line.extend_from_slice(reply);
        self.line.push(b'\n');
        self.pipe.write_all(&self.line)
    }
}

fn say(replies: &mut Replies, reply: &Reply) -> std::io::Result<()> {
    replies.say(&serde_json::to_vec(reply)?)
}

fn no_number(finding: Finding) -> Reply {
    Reply::Finding(finding)
}

struct State {
    /// Never unloaded: sessions of all threads refer to it.
    library: &'static dyn Library,
    /// How its tier was applied; `None` at `native`.
    tier: Option<Applied>,
    /// The library's file.
    file: PathBuf,
    /// The files whose code was in the process before the library.
    before: BTreeSet<PathBuf>,
    /// The files whose code came into the process with the library.
    objects: Vec<PathBuf>,
    bench: Bench,
    sampler: Sampler,
    reins: Reins,
    core_alone: bool,
    counter: Counter,
    confinement: Option<Confinement>,
    /// For jobs with pages.
    desk: Option<Desk>,
}

fn greet(hello: &Hello, replies: &mut Replies) -> std::io::Result<Option<State>> {
    replies.token.clone_from(&hello.token);
    match load(hello) {
        Ok(state) => {
            let (identity, clock) = (state.library.identity().clone(), state.bench.clock());
            let ready = Ready {
                name: identity.name,
                version: identity.version,
                build: identity.build,
                clock: clock.source().to_owned(),
                clock_reason: clock.reason().map(ToOwned::to_owned),
                step_ticks: clock.step_ticks(),
                overhead_ticks: clock.overhead_ticks(),
                multiplication_cycles: Some(clock.multiplication_cycles()).filter(|c| *c > 0.0),
                cycles_reason: clock.cycles_reason().map(ToOwned::to_owned),
                tier: state.tier.as_ref().map(|a| loading::tier_facts(hello.tier, a)),
                core_alone: state.core_alone,
                one_thread_only: state.library.one_thread_only().map(ToOwned::to_owned),
                confinement: state.confinement.clone(),
                objects: Vec::new(),
            };
            say(replies, &Reply::Ready(Box::new(ready)))?;
            Ok(Some(state))
        }
        Err(why) => {
            say(replies, &Reply::Unusable { why })?;
            Ok(None)
        }
    }
}

/// Loads a TLS stack in the place of a library.
fn greet_stack(
    hello: &record::tls::StackHello,
    replies: &mut Replies,
) -> std::io::Result<Option<StackBench>> {
    replies.token.clone_from(&hello.token);
    match StackBench::load(hello) {
        Ok(bench) => {
            say(replies, &Reply::Ready(Box::new(bench.ready())))?;
            Ok(Some(bench))
        }
        Err(why) => {
            say(replies, &Reply::Unusable { why })?;
            Ok(None)
        }
    }
}

fn visit_stack(
    stack: Option<&mut StackBench>,
    visits: &[record::tls::Visit],
    quiet: QuietCore,
) -> Reply {
    let Some(stack) = stack else {
        return no_number(Finding::failed("no stack was loaded before"));
    };
    stack.expect(quiet);
    Reply::Samples { results: visits.iter().map(|visit| stack.visit(visit)).collect() }
}

/// Loads the library, in a process that has given up what loading does not need, and then gives up the rest.
fn load(hello: &Hello) -> Result<State, String> {
    if hello.protocol != VERSION {
        return Err(format!("protocol {} asked, {VERSION} spoken", hello.protocol));
    }
    // Opened now or never, as what follows.
    let desk = hello.pages.as_ref().map(|files| Desk::open(hello, files)).transpose()?;
    // Several workers start side by side, while nothing is measured: half of them load on the
    // measuring CPU, half where the scheduler is, and then all move to the measuring CPU.
    let pin = || match hello.cpu {
        Some(cpu) => probe::pin_to(&[cpu]).map_err(|e| format!("cannot stay on CPU {cpu}: {e}")),
        None => Ok(()),
    };
    let runtime = base::model::runtime_name(&hello.path);
    if std::process::id() % 2 == 1 && runtime.is_none() {
        pin()?;
    }
    warm_references();
    let before = host::loaded_objects();
    let prepared = loading::prepare(hello)?;
    if hello.cpu.is_none() {
        // Only where nothing is measured are operations stepped.
        probe::step::prepare();
    }
    // Opened now or never: the superuser's right to have one is given up too.
    let counter = InstructionCounter::open();
    let memory = hello.cpu.and_then(|_| OwnMemory::open().ok());
    let power = Power::give_up(hello, &prepared)?;
    let sampler = Sampler::new()?;
    let files = prepared.files.clone();
    let load = || loading::load_at_tier(hello, prepared).map_err(loading::why);
    let mut of_runtime = None;
    let (library, tier) = match (runtime, hello.tier) {
        (Some(runtime), _) => {
            let (library, confinement) = loading::start_runtime(hello, runtime)?;
            of_runtime = confinement;
            (library, None)
        }
        (None, Tier::Native) => checks::load_watched(load)?,
        // Tiers are applied by handlers of signals, among other things.
        _ => load()?,
    };
    is_the_same(hello, library.as_ref())?;
    let library: &'static dyn Library = Box::leak(library);
    if hello.cpu.is_some() {
        initialise(library);
    }
    let loaded: Vec<PathBuf> = host::loaded_objects().difference(&before).cloned().collect();
    if hello.cpu.is_some() {
        host::tier::give_own_pages(&loaded);
    }
    if let Some(memory) = memory {
        memory.keep_code_for_forks();
    }
    let objects = loading::originals(loaded, &files);
    pin()?;
    let mut reins = Reins::of(library);
    reins.let_go()?;
    // Only where it measures: a worker that checks needs no core of its own.
    let core_alone = hello.cpu.is_some() && probe::have_core_alone().is_ok();
    let bench = Bench::new(hello.process, hello.seed, hello.ticks_per_ns);
    let confinement = power.give_up_more(&objects)?.or(of_runtime);
    let file = hello.path.clone();
    Ok(State {
        library,
        tier,
        file,
        before,
        objects,
        bench,
        sampler,
        reins,
        core_alone,
        counter,
        confinement,
        desk,
    })
}

/// Has the library do what it does once, at its first use: one algorithm of each kind is opened and closed, always
/// the same ones. The processes of visits would each do it again.
fn initialise(library: &dyn Library) {
    let mut kinds = Vec::new();
    let _ = StdRng::seed_from_u64(0).next_u64();
    for algorithm in Algorithm::all().iter().filter(|a| !a.name.contains('+')) {
        let direction = Direction::of(algorithm.kind)[0];
        let key: Vec<u8> = (1..=algorithm.key_len as u8).collect();
        if !kinds.contains(&algorithm.kind) && library.open(algorithm, direction, &key).is_ok() {
            kinds.push(algorithm.kind);
        }
    }
}

/// Has the references ask the processor at their first use which instructions it has: in a virtual machine each question
/// takes microseconds, and a library's tier, which comes later, is none of theirs.
fn warm_references() {
    let mut seen = BTreeSet::new();
    for algorithm in Algorithm::all().iter().filter(|a| !a.name.contains('+')) {
        // Keys of another length take the same code.
        if seen.insert(algorithm.name.replace(|c: char| c.is_ascii_digit(), "")) {
            let key: Vec<u8> = (1..=algorithm.key_len as u8).collect();
            warm(&Reference::new(algorithm, &key));
        }
    }
}

/// Has a reference do its one-time work.
fn warm(reference: &Reference) {
    let algorithm = reference.algorithm();
    if algorithm.sizes.allows(WARMING) {
        let (nonce, mut tag) = (vec![0; algorithm.nonce_len], vec![0; algorithm.tag_len]);
        let mut output = vec![0; if algorithm.writes_output() { WARMING } else { 0 }];
        reference.encrypt(&nonce, &[], &[0; WARMING], &mut output, &mut tag);
    }
}

/// Whether the library is still what it was in an earlier process.
fn is_the_same(hello: &Hello, library: &dyn Library) -> Result<(), String> {
    let now = &library.identity().version;
    match &hello.version {
        Some(before) if before != now => {
            Err(format!("it says that it is version {now}, and said before that it is {before}"))
        }
        _ => Ok(()),
    }
}

fn offer(state: &State, without: &[String], replies: &mut Replies) -> std::io::Result<()> {
    let mut announce = |name: &str| say(replies, &Reply::Checking { check: name.to_owned() });
    let offers = offers(state.library, state.tier_of(), without, &mut announce)?;
    let instructions = host::instructions_in(&state.objects);
    let cpuid_answered = state.tier.as_ref().and_then(loading::answered);
    let (denied, objects) = (loading::denied(), state.all_objects());
    say(replies, &Reply::Offers { offers, instructions, cpuid_answered, denied, objects })
}

fn answer(state: &mut State, request: Request, replies: &mut Replies) -> std::io::Result<()> {
    let library = state.library;
    match request {
        Request::Hello(_) | Request::Stack(_) | Request::Tls { .. } | Request::Sample { .. } => {
            unreachable!("the caller answers it")
        }
        Request::Offers => offer(state, &[], replies),
        Request::OffersWithout(crashed) => offer(state, &crashed, replies),
        Request::Verify { algorithm, seed, sizes } => {
            let scope = verify::Scope { seed, sizes: &sizes, spent: &checks::spent_since_now() };
            verify_one(library, &algorithm, &scope, replies)
        }
        Request::Vector { algorithm, vector } => say(replies, &judge(library, &algorithm, &vector)),
        Request::Meter(asked) => {
            let costs = counting::count_costs(library, &asked);
            let reply = costs.map_or_else(no_number, |costs| Reply::Metered { costs });
            say(replies, &loading::held_reply(reply))
        }
        Request::Step(asked) => {
            let steps = counting::count_steps(library, &state.objects, &asked, &mut state.counter);
            say(replies, &loading::held_reply(steps.map_or_else(no_number, Reply::Stepped)))
        }
        Request::Leaks(asked) => {
            let judged = secrets::judge_secrets(&state.loaded(), &asked);
            let reply = judged.map_or_else(no_number, |judged| Reply::Leaks(Box::new(judged)));
            say(replies, &loading::held_reply(reply))
        }
        Request::Pages(job) => {
            if let PageJob::Time { quiet, .. } = &*job {
                state.bench.expect(*quiet);
            }
            let answer = match &mut state.desk {
                Some(desk) => desk.answer(library, state.bench.clock(), &job),
                None => Err(Finding::failed("no files for pages came with the greeting")),
            };
            say(replies, &loading::held_reply(answer.unwrap_or_else(no_number)))
        }
        Request::Once(once) => {
            let reply = run_once(library, &once).unwrap_or_else(no_number);
            say(replies, &loading::held_reply(reply))
        }
    }
}

impl State {
    fn loaded(&self) -> secrets::Loaded<'_> {
        let (library, objects, file) = (self.library, &self.objects, &*self.file);
        let mapped = self.tier.as_ref().map_or(file, |applied| &applied.load);
        secrets::Loaded { library, objects, file, mapped }
    }

    /// The files that the library's code is in by now, what it has loaded itself among them; a runtime's.
    fn all_objects(&self) -> Vec<PathBuf> {
        if let Some(process) = self.library.process() {
            let files = host::loaded_objects_of(process).unwrap_or_default();
            return files.into_iter().collect();
        }
        let loaded = host::loaded_objects().difference(&self.before).cloned().collect();
        loading::originals(loaded, &self.objects)
    }

    fn tier_of(&self) -> Tier {
        self.tier.as_ref().map_or(Tier::Native, |applied| applied.tier)
    }
}
