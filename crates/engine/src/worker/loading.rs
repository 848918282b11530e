//! Loading a library at a tier, or starting a runtime in its place; the power that the worker gives up around
//! it and what becomes of a library that reaches for more; and what the library offers.

use crate::libraries;
use crate::protocol::{Finding, Hello, Offer, Reply, VisitResult};
use crate::worker::honesty::{OUTSIDE, in_decoy};
use base::model::{Algorithm, Direction, Feature, KERNEL_PATH, Model, Tier};
use contract::{Library, OpenError};
use host::confine::{Confined, Needs, Sockets};
use host::tier::{Applied, Mechanism, Plan};
use probe::MessageBatch;
use record::{AppliedTier, Confinement, Rekeying};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use verify::vectors::Judged;

/// What is loaded at a tier, found out while the process may still do everything.
pub(crate) struct Prepared {
    /// `None` at `native`.
    plan: Option<Result<Plan, String>>,
    /// The files of the plan.
    pub(crate) files: Vec<PathBuf>,
    /// The copies that the plan loads, which stay open: the loader knows an object by its name, and the name
    /// of a copy is the number of its descriptor, which no later copy may get.
    pub(crate) copies: &'static [File],
}

/// Finds out what is to be loaded, where the scheduler has not, and opens the scheduler's copies: no process
/// that has given up its power can.
pub(crate) fn prepare(hello: &Hello) -> Result<Prepared, String> {
    if hello.tier == Tier::Native {
        return Ok(Prepared { plan: None, files: Vec::new(), copies: &[] });
    }
    if base::model::runs_elsewhere(&hello.path) {
        let kernel = hello.path.as_os_str() == KERNEL_PATH;
        let who = if kernel { "the kernel" } else { "a runtime" };
        return Err(format!("{who} chooses its instructions by itself"));
    }
    host::tier::hide(hello.tier)?;
    let own = if hello.plan.is_none() { Some(host::tier::prepare(&hello.path)) } else { None };
    let plan = match (&hello.plan, &own) {
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

/// The plan with its copies opened by this process.
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

/// Applies the tier and loads the library.
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

/// CPUID instructions answered so far.
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
    pub(crate) fn give_up_for_stack(hello: &record::tls::StackHello) -> Result<Self, String> {
        let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut files: Vec<PathBuf> = hello.crypto.iter().map(whole).collect();
        files.extend(host::configuration_files());
        let (library, sockets) = (&whole(&hello.path), Sockets::None);
        let needs = Needs { library, files: &files, copies: &[], sockets };
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

/// Why a library was not loaded, with what it was denied.
pub(crate) fn why(loading: String) -> String {
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

/// The same for a visit.
pub(crate) fn held_visit(result: VisitResult) -> VisitResult {
    match (host::confine::take_denied().reason(), result) {
        (None, result) => result,
        (Some(why), VisitResult::Finding(finding)) => VisitResult::Finding(joined(finding, &why)),
        (Some(why), _) => VisitResult::Finding(Finding::refused(why)),
    }
}

/// The same for a published vector.
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
        Ok(session) => {
            if session.has_stream() && session.in_place() {
                offer.models.push(Model::Stream);
            }
            if session.has_message() {
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

fn nothing(algorithm: &Algorithm, direction: Direction) -> Offer {
    Offer {
        algorithm: algorithm.name.to_owned(),
        direction,
        models: Vec::new(),
        reason: None,
        failed: false,
        functions: None,
        copies: false,
        allocates: false,
        rekeying: None,
        rekey_functions: None,
        in_place: false,
        in_flight: None,
    }
}

// A runtime in the place of a library: its program is started, confined, and runs where and when the worker measures.

/// Starts the runtime that the greeting names.
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
