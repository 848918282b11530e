//! The worker: a process that holds one library and answers the scheduler's requests. And how it comes by the
//! library: loading it at a tier, or starting a runtime in its place; the power that the worker gives up
//! around it and what becomes of a library that reaches for more; and what the library offers.

mod checks;
mod counting;
mod forks;
mod material;
mod pages;
mod secrets;
mod stack;
mod visit;

use crate::protocol::{
    Finding, Hello, Offer, PIPE_GONE, PageJob, QuietCore, Ready, Reply, Request, StackHello,
    VERSION, VisitResult,
};
use crate::{decode, libraries};
use base::model::{Algorithm, Brought, Direction, Feature, KERNEL_PATH, Kind, Model, Tier};
use checks::{OUTSIDE, in_decoy, judge, run_once, verify_one};
use contract::{Library, Message, OpenError, Outcome, Session};
use counting::Counter;
use forks::{OwnMemory, Sampler};
use host::confine::{Confined, Needs, Sockets};
use host::tier::{Applied, Mechanism, Plan};
use pages::Desk;
use probe::{Clock, InstructionCounter, MessageBatch};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use record::{AppliedTier, Confinement, Rekeying};
use rustix::process::{Pid, Signal, kill_process};
use stack::StackBench;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use verify::reference::Reference;
use verify::vectors::Judged;
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
    tier: Option<Applied>,
    file: PathBuf,
    /// The files whose code was in the process before the library.
    before: BTreeSet<PathBuf>,
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
    greeted(load(hello), replies, |state| {
        let identity = state.library.identity().clone();
        Ready {
            name: identity.name,
            version: identity.version,
            build: identity.build,
            tier: state.tier.as_ref().map(|a| tier_facts(hello.tier, a)),
            core_alone: state.core_alone,
            one_thread_only: state.library.one_thread_only().map(ToOwned::to_owned),
            confinement: state.confinement.clone(),
            brings: state.library.brings().iter().map(defined).collect(),
            ..ready_with(state.bench.clock())
        }
    })
}

/// Answers a greeting.
fn greeted<T>(
    loaded: Result<T, String>,
    replies: &mut Replies,
    ready: impl FnOnce(&T) -> Ready,
) -> std::io::Result<Option<T>> {
    let reply = match &loaded {
        Ok(loaded) => Reply::Ready(Box::new(ready(loaded))),
        Err(why) => Reply::Unusable { why: why.clone() },
    };
    say(replies, &reply)?;
    Ok(loaded.ok())
}

/// What every greeting says of the clock.
pub(crate) fn ready_with(clock: &Clock) -> Ready {
    Ready {
        clock: clock.source().to_owned(),
        clock_reason: clock.reason().map(ToOwned::to_owned),
        step_ticks: clock.step_ticks(),
        overhead_ticks: clock.overhead_ticks(),
        multiplication_cycles: Some(clock.multiplication_cycles()).filter(|c| *c > 0.0),
        cycles_reason: clock.cycles_reason().map(ToOwned::to_owned),
        ..Ready::default()
    }
}

/// Loads a TLS stack in the place of a library.
fn greet_stack(hello: &StackHello, replies: &mut Replies) -> std::io::Result<Option<StackBench>> {
    replies.token.clone_from(&hello.token);
    greeted(StackBench::load(hello), replies, StackBench::ready)
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
    let prepared = prepare(hello.tier, &hello.path, hello.plan.as_ref())?;
    if hello.cpu.is_none() {
        // Only where nothing is measured are operations stepped.
        probe::step::prepare();
    }
    // Opened now or never: the superuser's right to have one is given up too.
    let counter = InstructionCounter::open();
    let memory = hello.cpu.and_then(|_| OwnMemory::open().ok());
    let sampler = Sampler::new()?;
    let power = Power::give_up(hello, &prepared)?;
    let files = prepared.files.clone();
    let load = || load_at_tier(hello, prepared).map_err(why_not_loaded);
    let mut of_runtime = None;
    let (library, tier) = match (runtime, hello.tier) {
        (Some(runtime), _) => {
            let (library, confinement) = start_runtime(hello, runtime)?;
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
    let objects = originals(loaded, &files);
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
/// the same ones. The processes of visits would each do it again. None that is weak: it may have the library load more,
/// as OpenSSL does for MD4.
fn initialise(library: &dyn Library) {
    let mut kinds = Vec::new();
    let _ = StdRng::seed_from_u64(0).next_u64();
    for algorithm in Algorithm::all().iter().filter(|a| !a.name.contains('+') && !a.is_weak()) {
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
    // Derivations take milliseconds, and their parts are here by themselves.
    let quick = |a: &&Algorithm| a.kind != Kind::Derivation && !a.name.contains('+');
    for algorithm in Algorithm::all().iter().filter(quick) {
        // Keys of another length take the same code.
        if seen.insert(algorithm.name.replace(|c: char| c.is_ascii_digit(), "")) {
            let key: Vec<u8> = (1..=algorithm.key_len as u8).collect();
            warm(&Reference::new(algorithm, &key));
        }
    }
}

fn warm(reference: &Reference<'_>) {
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

fn say_offers(state: &State, without: &[String], replies: &mut Replies) -> std::io::Result<()> {
    let mut announce = |name: &str| say(replies, &Reply::Checking { check: name.to_owned() });
    let offers = offers(state.library, state.tier_of(), without, &mut announce)?;
    let instructions = host::instructions_in(&state.objects);
    let cpuid_answered = state.tier.as_ref().and_then(answered);
    let (denied, objects) = (denied(), state.all_objects());
    say(replies, &Reply::Offers { offers, instructions, cpuid_answered, denied, objects })
}

fn answer(state: &mut State, request: Request, replies: &mut Replies) -> std::io::Result<()> {
    let library = state.library;
    match request {
        Request::Hello(_) | Request::Stack(_) | Request::Tls { .. } | Request::Sample { .. } => {
            unreachable!("the caller answers it")
        }
        Request::Offers => say_offers(state, &[], replies),
        Request::OffersWithout(crashed) => say_offers(state, &crashed, replies),
        Request::Verify { algorithm, seed, sizes } => {
            let scope = verify::Scope { seed, sizes: &sizes, spent: &checks::spent_since_now() };
            verify_one(library, &algorithm, &scope, replies)
        }
        Request::Vector { algorithm, vector } => say(replies, &judge(library, &algorithm, &vector)),
        Request::Meter(asked) => {
            let costs = counting::count_costs(library, &asked);
            let reply = costs.map_or_else(no_number, |costs| Reply::Metered { costs });
            say(replies, &held_reply(reply))
        }
        Request::Step(asked) => {
            let steps = counting::count_steps(library, &state.objects, &asked, &mut state.counter);
            say(replies, &held_reply(steps.map_or_else(no_number, Reply::Stepped)))
        }
        Request::Leaks(asked) => {
            let judged = secrets::judge_secrets(&state.loaded(), &asked);
            let reply = judged.map_or_else(no_number, |judged| Reply::Leaks(Box::new(judged)));
            say(replies, &held_reply(reply))
        }
        Request::Pages(job) => {
            if let PageJob::Time { quiet, .. } = &*job {
                state.bench.expect(*quiet);
            }
            let answer = match &mut state.desk {
                Some(desk) => desk.answer(library, state.bench.clock(), &job),
                None => Err(Finding::failed("no files for pages came with the greeting")),
            };
            say(replies, &held_reply(answer.unwrap_or_else(no_number)))
        }
        Request::Once(once) => {
            let reply = run_once(library, &once).unwrap_or_else(no_number);
            say(replies, &held_reply(reply))
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
        originals(loaded, &self.objects)
    }

    fn tier_of(&self) -> Tier {
        self.tier.as_ref().map_or(Tier::Native, |applied| applied.tier)
    }
}

/// What is loaded at a tier, found out while the process may still do everything.
pub(crate) struct Prepared {
    /// `None` at `native`.
    pub(crate) plan: Option<Result<Plan, String>>,
    pub(crate) files: Vec<PathBuf>,
    /// The copies that the plan loads, which stay open: the loader knows an object by its name, and the name
    /// of a copy is the number of its descriptor, which no later copy may get.
    pub(crate) copies: &'static [File],
}

/// Finds out what is to be loaded, where the scheduler has not, and opens the scheduler's copies: no process
/// that has given up its power can.
pub(crate) fn prepare(tier: Tier, path: &Path, plan: Option<&Plan>) -> Result<Prepared, String> {
    if tier == Tier::Native {
        return Ok(Prepared { plan: None, files: Vec::new(), copies: &[] });
    }
    if base::model::runs_elsewhere(path) {
        let kernel = path.as_os_str() == KERNEL_PATH;
        let who = if kernel { "the kernel" } else { "a runtime" };
        return Err(format!("{who} chooses its instructions by itself"));
    }
    host::tier::hide(tier)?;
    let own = if plan.is_none() { Some(host::tier::prepare(path)) } else { None };
    let plan = match (plan, &own) {
        (Some(plan), _) => Ok(plan.clone()),
        (None, Some(Ok(copies))) => Ok(copies.plan.clone()),
        (None, Some(Err(why))) => Err(why.clone()),
        (None, None) => unreachable!("one of them is there"),
    };
    let (plan, copies) = match plan.and_then(adopt) {
        Ok((plan, copies)) => (Ok(plan), copies),
        Err(why) => (Err(why), Vec::new()),
    };
    let objects = plan.iter().flat_map(|plan| &plan.objects);
    let files = objects.map(|object| object.original.clone()).collect();
    Ok(Prepared { plan: Some(plan), files, copies: Vec::leak(copies) })
}

fn adopt(mut plan: Plan) -> Result<(Plan, Vec<File>), String> {
    let mut copies = Vec::new();
    for object in plan.objects.iter_mut().filter(|o| o.load != o.original) {
        let copy = File::open(&object.load).map_err(|e| {
            format!("the copy of '{}' cannot be opened: {e}", object.original.display())
        })?;
        object.load = PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()));
        copies.push(copy);
    }
    Ok((plan, copies))
}

pub(crate) fn load_at_tier(
    hello: &Hello,
    prepared: Prepared,
) -> Result<(Box<dyn Library>, Option<Applied>), String> {
    let (path, name) = (hello.path.as_path(), hello.name.as_deref());
    let Some(plan) = prepared.plan else {
        return Ok((adapters::load(path, name).map_err(|e| e.to_string())?, None));
    };
    let applied = host::tier::apply(hello.tier, path, plan, Mechanism::wanted()?)?;
    let library = adapters::load_copy(path, &applied.load, name).map_err(|e| e.to_string())?;
    Ok((library, Some(applied)))
}

/// The files of loaded objects: copies by the files that they are of, which are among those that were
/// prepared.
pub(crate) fn originals(loaded: Vec<PathBuf>, prepared: &[PathBuf]) -> Vec<PathBuf> {
    let (copies, files): (Vec<_>, Vec<_>) =
        loaded.into_iter().partition(|path| host::tier::copied_name(path).is_some());
    let of = copies.iter().filter_map(|copy| original(copy, prepared).map(Path::to_owned));
    files.into_iter().chain(of).collect()
}

/// The file that a mapped copy is of: the copy has neither its path nor all of its symbols.
pub(crate) fn original<'a>(mapped: &Path, originals: &'a [PathBuf]) -> Option<&'a Path> {
    let name = host::tier::copied_name(mapped)?;
    let of = originals.iter().find(|o| o.file_name().is_some_and(|n| n == name));
    of.map(PathBuf::as_path)
}

pub(crate) fn answered(applied: &Applied) -> Option<u64> {
    (applied.mechanism != Mechanism::LibrarySwitch)
        .then(|| host::tier::answered() - applied.answered_before)
}

/// Why an algorithm cannot be offered at a tier, though the library could: XXH3 in composites is
/// ciphermark's own and takes AVX2, which no answer to the library changes.
pub(crate) fn beyond(tier: Tier, algorithm: &Algorithm) -> Option<String> {
    let own = algorithm.composite.is_some_and(|c| c.check == "xxh3-64");
    (own && !tier.shows(Feature::Avx2))
        .then(|| format!("its checksum is ciphermark's own, which goes beyond tier {tier}"))
}

/// For the greeting and the record.
pub(crate) fn tier_facts(tier: Tier, applied: &Applied) -> AppliedTier {
    AppliedTier {
        tier,
        mechanism: Some(applied.mechanism.name().to_owned()),
        cpuid_instructions: applied.cpuid_instructions,
        cpuid_answered: answered(applied),
        proof: Some(applied.proof.clone()),
        reason: applied.note.clone(),
    }
}

// The worker's power: given up around loading, and what becomes of a library that reaches for more.
//
// What is denied fails in the library as it does on a system that does not allow it, and is noted. While a
// library is loaded and its algorithms are opened, some try what they can do without (a device, a service of
// the system's): that is told in the record. Starting programs or reaching into other processes is not among
// it, and while a library computes nothing is: such a number is not to be trusted.

/// What a worker has given up so far.
pub(crate) enum Power {
    /// No code of a library comes into the process: the kernel's stays there, and a runtime is confined by itself.
    Needless,
    /// What loading does not need.
    Confined(Confined),
}

impl Power {
    /// Gives up what loading does not need.
    pub(crate) fn give_up(hello: &Hello, prepared: &Prepared) -> Result<Self, String> {
        if base::model::runs_elsewhere(&hello.path) {
            return Ok(Self::Needless);
        }
        let library = hello.path.canonicalize().unwrap_or_else(|_| hello.path.clone());
        let files = [prepared.files.clone(), host::configuration_files()].concat();
        let (copies, sockets) = (prepared.copies, Sockets::None);
        let needs = Needs { library: &library, files: &files, copies, sockets };
        host::confine::before_loading(&needs).map(Self::Confined)
    }

    /// The same before a TLS stack is loaded.
    pub(crate) fn give_up_for_stack(
        hello: &StackHello,
        prepared: &Prepared,
    ) -> Result<Self, String> {
        let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut files: Vec<PathBuf> = hello.crypto.iter().map(whole).collect();
        files.extend(prepared.files.iter().cloned());
        files.extend(host::configuration_files());
        let (library, sockets) = (&whole(&hello.path), Sockets::None);
        let needs = Needs { library, files: &files, copies: prepared.copies, sockets };
        host::confine::before_loading(&needs).map(Self::Confined)
    }

    /// Gives up what only loading needed.
    pub(crate) fn give_up_more(self, objects: &[PathBuf]) -> Result<Option<Confinement>, String> {
        let Self::Confined(mut confined) = self else { return Ok(None) };
        // OpenSSL reads its configuration, and loads what that names, when it is first asked for something.
        let readable = [objects, &host::configuration_files()].concat();
        confined.after_loading(&readable).map_err(|why| format!("cannot be confined: {why}"))?;
        let denied = host::confine::take_denied();
        if let Some(why) = denied.hostile() {
            return Err(format!("{why}, while it was loaded"));
        }
        let facts = confined.facts().clone();
        Ok(Some(Confinement { denied: denied.names().to_vec(), ..facts }))
    }
}

pub(crate) fn why_not_loaded(loading: String) -> String {
    match host::confine::take_denied().reason() {
        Some(denied) => format!("{loading}; {denied}, while it was loaded"),
        None => loading,
    }
}

/// What was denied since this was last asked.
pub(crate) fn denied() -> Vec<String> {
    host::confine::take_denied().names().to_vec()
}

/// From the algorithm on whose opening starts programs or the like, nothing is offered. What libraries may
/// try is left for [`denied`] to tell.
pub(crate) fn hold_offer(offer: &mut Offer) {
    if let Some(why) = host::confine::hostile_so_far() {
        (offer.models, offer.failed, offer.reason) = (Vec::new(), true, Some(why));
    }
}

/// A reply that gives a result, unless something was denied meanwhile.
pub(crate) fn held_reply(reply: Reply) -> Reply {
    match (host::confine::take_denied().reason(), reply) {
        (None, reply) => reply,
        (Some(why), Reply::Finding(finding)) => Reply::Finding(joined(finding, &why)),
        (Some(why), _) => Reply::Finding(Finding::refused(why)),
    }
}

pub(crate) fn held_visit(result: VisitResult) -> VisitResult {
    match (host::confine::take_denied().reason(), result) {
        (None, result) => result,
        (Some(why), VisitResult::Finding(finding)) => VisitResult::Finding(joined(finding, &why)),
        (Some(why), _) => VisitResult::Finding(Finding::refused(why)),
    }
}

pub(crate) fn held_judgement(judged: Result<Judged, String>) -> Result<Judged, String> {
    host::confine::take_denied().reason().map_or(judged, Err)
}

fn joined(finding: Finding, denied: &str) -> Finding {
    Finding::refused(format!("{}; {denied}", finding.why))
}

// What a library offers: each algorithm and direction, opened once.

/// All offers. Opened is each algorithm that is not among `without`, after it was announced.
pub(crate) fn offers(
    library: &dyn Library,
    tier: Tier,
    without: &[String],
    announce: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> std::io::Result<Vec<Offer>> {
    let mut offers = Vec::new();
    for algorithm in Algorithm::all() {
        if without.iter().any(|name| name == algorithm.name) {
            let crashed = |direction| Offer { failed: true, ..nothing(algorithm, direction) };
            offers.extend(Direction::of(algorithm.kind).iter().copied().map(crashed));
            continue;
        }
        announce(algorithm.name)?;
        for direction in Direction::of(algorithm.kind) {
            probe::fault::opening(algorithm.name, *direction);
            let mut offer = offer(library, algorithm, *direction);
            probe::fault::left();
            hold_offer(&mut offer);
            if let Some(why) = beyond(tier, algorithm) {
                (offer.models, offer.reason) = (Vec::new(), Some(why));
            }
            offers.push(offer);
        }
    }
    Ok(offers)
}

fn offer(library: &dyn Library, algorithm: &'static Algorithm, direction: Direction) -> Offer {
    // Any key will do to ask, but XTS refuses two equal halves (FIPS 140-3 IG C.I).
    let key: Vec<u8> = (1..=algorithm.key_len as u8).collect();
    let mut offer = nothing(algorithm, direction);
    match library.open(algorithm, direction, &key) {
        Ok(mut session) => {
            if session.has_stream() && session.in_place() {
                offer.models.push(Model::Stream);
            }
            if session.has_message() {
                if algorithm.is_brought() && direction != Direction::Decrypt {
                    offer.answers = answers(&mut session, algorithm);
                }
                offer.models.push(Model::Message);
                let in_flight = session.in_flight();
                offer.in_flight = (in_flight > 1).then_some(in_flight);
                if algorithm.key_len > 0 && in_flight == 1 && !session.is_remote() {
                    offer.models.push(Model::Rekey);
                    let reused = session.has_rekey();
                    offer.rekeying =
                        Some(if reused { Rekeying::Reused } else { Rekeying::Reopened });
                    offer.rekey_functions = session.rekey_calls();
                }
                if algorithm.rejects() && direction == Direction::Decrypt {
                    offer.models.push(Model::Forgery);
                }
                // Each is timed alone, so that none can be in flight, and in this process.
                let alone = in_flight == 1 && !session.is_remote();
                if alone && algorithm.kind != Kind::Derivation {
                    offer.models.push(Model::Between);
                    if algorithm.key_len > 0 {
                        offer.models.push(Model::BetweenRekey);
                    }
                }
            }
            offer.in_place = session.in_place();
            (offer.copies, offer.allocates) = (session.copies(), session.allocates());
            offer.functions = session.calls();
        }
        Err(OpenError::Unsupported(why)) => offer.reason = Some(why),
        Err(OpenError::Failed(why)) => (offer.reason, offer.failed) = (Some(why), true),
    }
    offer
}

/// Bytes behind a result, for what writes beyond it: a check of its own finds that.
const BEHIND: usize = 4096;

/// What it makes of some fixed messages; none where it makes nothing of one.
fn answers(session: &mut Session, algorithm: &Algorithm) -> Option<String> {
    let least = (1..=512).find(|len| algorithm.sizes.allows(*len))?;
    let bytes = |len: usize| (0..len).map(|i| (i * 151 + len) as u8).collect::<Vec<u8>>();
    let mut all = Vec::new();
    for len in [1, 7, 61, 1031].map(|times| times * least) {
        let (nonce, input) = (bytes(algorithm.nonce_len), bytes(len));
        let aad = bytes(if algorithm.takes_aad() { 13 } else { 0 });
        let (mut output, mut tag) = (vec![0; len + BEHIND], vec![0; algorithm.tag_len + BEHIND]);
        let (output, tag) = (&mut output[..len], &mut tag[..algorithm.tag_len]);
        let message = Message {
            nonce: &nonce,
            aad: &aad,
            input: &input,
            output: &mut *output,
            tag: &mut *tag,
        };
        if session.message(message) != Outcome::Done {
            return None;
        }
        all.push(format!("{output:02x?};{tag:02x?}"));
    }
    Some(host::text_hash(&all.join("\n")))
}

fn nothing(algorithm: &Algorithm, direction: Direction) -> Offer {
    Offer { algorithm: algorithm.name.to_owned(), direction, ..Offer::default() }
}

// A runtime in the place of a library: its program is started, confined, and runs where and when the worker measures.

pub(crate) fn start_runtime(
    hello: &Hello,
    runtime: &str,
) -> Result<(Box<dyn Library>, Option<Confinement>), String> {
    if hello.tier != Tier::Native {
        return Err("a runtime chooses its instructions in a process of its own".to_owned());
    }
    // Runtimes ask at their start how many CPUs there are, and choose by it how to collect garbage.
    let mut cpus = probe::allowed_cpus();
    cpus.extend(hello.cpu);
    probe::pin_to(&cpus).map_err(|e| e.to_string())?;
    let program = libraries::prepare_runtime(runtime)?;
    let mut facts = None;
    let name = hello.name.as_deref().unwrap_or(runtime);
    let library = adapters::runtime::attach(&program, name, &mut |command| {
        facts = Some(host::confine::runtime(command, program.writes.as_deref())?);
        Ok(())
    });
    let library = library.map_err(|e| e.to_string())?;
    if let Some(process) = library.process() {
        probe::surroundings::keep_child(process);
    }
    Ok((library, facts))
}

/// A runtime's process, if the library has one. It runs only while the worker is asked for something: what it does when it
/// has nothing to do, compiling and collecting garbage, would take time from other libraries' samples.
#[derive(Default)]
pub(crate) struct Reins {
    process: Option<Pid>,
    /// Where its threads are; none where they may be anywhere.
    cpu: Option<u32>,
}

impl Reins {
    pub(crate) fn of(library: &dyn Library) -> Self {
        let process = library.process().and_then(|process| i32::try_from(process).ok());
        Self { process: process.and_then(Pid::from_raw), cpu: None }
    }

    /// Has it run where the worker is, which the scheduler moves from CPU to CPU.
    pub(crate) fn let_go(&mut self) -> Result<(), String> {
        let Some(process) = self.process else { return Ok(()) };
        if let [cpu] = probe::allowed_cpus()[..]
            && self.cpu != Some(cpu)
        {
            probe::move_threads_to(process.as_raw_nonzero().get().unsigned_abs(), cpu)
                .map_err(|e| format!("its process cannot be moved to CPU {cpu}: {e}"))?;
            self.cpu = Some(cpu);
        }
        self.tell(Signal::CONT)
    }

    pub(crate) fn hold(&self) -> Result<(), String> {
        self.tell(Signal::STOP)
    }

    fn tell(&self, signal: Signal) -> Result<(), String> {
        let told = self.process.map_or(Ok(()), |process| kill_process(process, signal));
        told.map_err(|e| format!("its process takes no signal: {e}"))
    }
}

/// Times that all must say the same before it is believed: collecting garbage or compiling can fall into one of them. After
/// every second one the operations double: what is put off grows with them, what a busy machine costs does not.
const TIMES: u32 = 8;
/// Share of the claimed time that may be spent beside it, ...
const SHARE: f64 = 0.5;
/// ... and nanoseconds: waking up for a request, and outputs that come from another cache.
const LEAST_NS: f64 = 150_000.0;

/// Whether the process works when it says that it does: what a provider puts off until nobody looks at the clock is still
/// processor time of its process.
pub(crate) fn works_inside_the_clock(
    batch: &mut MessageBatch<'_>,
    ops: u32,
) -> Result<(), Finding> {
    let mut last = (0, 0.0, 0.0);
    for time in 0..TIMES {
        let more = ops.saturating_mul(1 << (time / 2));
        let (claimed, aside) = batch.claimed_and_aside(more);
        if aside <= claimed * SHARE + LEAST_NS {
            return Ok(());
        }
        last = (more, claimed / 1e3, aside / 1e3);
    }
    let (ops, claimed, aside) = last;
    Err(in_decoy(
        Finding::refused(format!(
            "{OUTSIDE}: its process worked for {aside:.0} µs more than the {claimed:.0} µs that it said"
        )),
        ops,
    ))
}
fn defined(brings: &contract::Bringing) -> Brought {
    let a = &brings.algorithm;
    let form = (a.kind, a.key_bytes, a.nonce_bytes, a.tag_bytes, a.size_multiple, a.size_least);
    let vectors = brings.vectors.iter().map(|v| {
        let parts = [&v.key, &v.nonce, &v.aad, &v.message, &v.ciphertext, &v.tag];
        parts.map(|part| format!("{part:02x?}")).join(";")
    });
    let all: Vec<String> = std::iter::once(format!("{form:?}")).chain(vectors).collect();
    Brought { sha256: Some(host::text_hash(&all.join("\n"))), ..a.clone() }
}
