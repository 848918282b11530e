//! The libraries of a run: found, loaded once to learn who they are and what they offer at each tier, and
//! selected. Runtimes of languages are among them.

use crate::process::{Worker, WorkerError, once_more_if_killed, out_of_protocol};
use crate::protocol::{Finding, Hello, Offer, Ready, Reply, Request, StackHello, VERSION};
use adapters::runtime::{Places, Program};
use base::model::{
    Algorithm, Brought, KERNEL_PATH, NameGlob, RUNTIME_PREFIX, Tier, nearest, provider_of,
};
use host::tier::Mechanism;
use record::AppliedTier;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A library that was loaded once, with what it said.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    /// Facts for the record; `error` says why it could not be loaded.
    pub facts: record::Library,
    pub given_name: Option<String>,
    /// Name that it was built under with us, where the library itself cannot tell two builds apart; or with its provider's.
    pub bundled_name: Option<String>,
    pub offers: Vec<Offer>,
    pub ready: Option<Ready>,
    /// What it offers at other tiers than `native`, as far as that was asked.
    pub tiers: Vec<AtTier>,
    pub copies: Option<Arc<host::tier::Copies>>,
}

#[derive(Clone, Debug)]
pub struct AtTier {
    pub tier: Tier,
    /// What it offers there; else why the tier cannot be had.
    pub offers: Result<Vec<Offer>, Finding>,
    pub objects: Vec<PathBuf>,
}

impl Attached {
    /// `name@version`.
    pub fn label(&self) -> String {
        format!("{}@{}", self.facts.name, self.facts.version)
    }

    pub fn hello(&self, tier: Tier, cpu: Option<u32>, process: u32, seed: u64) -> Hello {
        Hello {
            protocol: VERSION,
            path: PathBuf::from(&self.facts.path),
            name: self.given_name.as_ref().or(self.bundled_name.as_ref()).cloned(),
            version: self.ready.as_ref().map(|ready| ready.version.clone()),
            tier,
            cpu,
            process,
            seed,
            plan: self.copies.as_ref().filter(|_| tier != Tier::Native).map(|c| c.plan.clone()),
            ..Hello::default()
        }
    }

    /// What it offers at a tier; else why the tier cannot be had.
    pub fn offers_at(&self, tier: Tier) -> Result<&[Offer], Finding> {
        if tier == Tier::Native {
            return Ok(&self.offers);
        }
        let at = self.tiers.iter().find(|at| at.tier == tier);
        at.map_or_else(
            || Err(Finding::failed(format!("tier {tier} was not tried"))),
            |at| at.offers.as_deref().map_err(Clone::clone),
        )
    }

    /// Whether whole messages of an algorithm can be asked for at a tier.
    pub fn takes_messages(&self, tier: Tier, algorithm: &str) -> bool {
        let offers = self.offers_at(tier).unwrap_or_default();
        let mut own = offers.iter().filter(|offer| offer.algorithm == algorithm);
        own.any(|offer| offer.models.contains(&base::model::Model::Message))
    }

    pub(crate) fn matches(&self, glob: &NameGlob) -> bool {
        glob.matches(&self.facts.name) || glob.matches(&self.label())
    }
}

/// A stack: the file with the protocol, and the library under it.
#[derive(Clone, Debug)]
pub struct StackFile {
    pub facts: record::tls::Stack,
    pub path: PathBuf,
    /// The file with the primitives, where that is another one.
    pub crypto: Option<PathBuf>,
    pub tier: Tier,
    pub copies: Option<Arc<host::tier::Copies>>,
}

impl StackFile {
    /// A stack that may see every instruction.
    pub(crate) fn native(
        facts: record::tls::Stack,
        path: PathBuf,
        crypto: Option<PathBuf>,
    ) -> Self {
        Self { facts, path, crypto, tier: Tier::Native, copies: None }
    }

    pub(crate) fn hello(&self) -> StackHello {
        StackHello {
            path: self.path.clone(),
            crypto: self.crypto.clone(),
            tier: self.tier,
            plan: self.copies.as_ref().map(|copies| copies.plan.clone()),
            ..StackHello::default()
        }
    }

    /// The same stack at a tier, if that can be had; its facts say how.
    pub fn at_tier(&self, tier: Tier) -> Result<Self, String> {
        if tier == self.tier {
            return Ok(self.clone());
        }
        let copies = host::tier::prepare(&self.path).ok().map(Arc::new);
        let mut there = Self { tier, copies, ..self.clone() };
        let mut worker = Worker::launch_stack(there.hello()).map_err(|e| e.to_string())?;
        worker.greet(None).map_err(|e| e.to_string())?;
        let applied = worker.ready().tier.as_ref();
        let mechanism = applied.and_then(|a| a.mechanism.clone()).unwrap_or_default();
        let proof = applied.and_then(|a| a.proof.clone()).unwrap_or_default();
        there.facts.build.push(format!("tier {tier}: {mechanism}, {proof}"));
        Ok(there)
    }
}

/// Opening every algorithm in every direction once.
const OFFERS_DEADLINE: Duration = Duration::from_secs(20);

/// What `--library` asks for.
#[derive(Clone, Debug)]
pub enum LibraryChoice {
    /// Among those found, by name or `name@version`.
    Glob(NameGlob),
    /// This file, under this name.
    Path { name: String, path: PathBuf },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    #[error("no library matches '{glob}'{}; found: {found}",
        nearest.as_ref().map(|n| format!(", did you mean '{n}'?")).unwrap_or_default())]
    NoMatch { glob: String, nearest: Option<String>, found: String },
    /// A library that was named, as a file or as the only one of its name, cannot be used.
    #[error("library '{name}': {why}")]
    Unusable { name: String, why: String },
    #[error(
        "no library found; install one (libssl3, libgcrypt20) or name a file with --library NAME=PATH"
    )]
    None,
}

/// Finds libraries and loads each once, side by side. Files that `choices` name come first; where
/// every choice is a file, nothing else is loaded.
///
/// Runtimes are among them only where a glob names one: their programs are compiled first.
pub fn discover(choices: &[LibraryChoice]) -> Vec<Attached> {
    let globs = choices.iter().filter_map(|c| match c {
        LibraryChoice::Glob(glob) => Some(glob),
        LibraryChoice::Path { .. } => None,
    });
    find_and_load(choices, asked_runtimes(globs))
}

pub fn discover_all() -> Vec<Attached> {
    find_and_load(&[], all_runtimes())
}

fn find_and_load(choices: &[LibraryChoice], runtimes: Vec<PathBuf>) -> Vec<Attached> {
    probe::give_large_blocks_back();
    let (mut files, mut globs) = (Vec::new(), Vec::new());
    for choice in choices {
        match choice {
            LibraryChoice::Path { name, path } => files.push(File::given(name, path)),
            LibraryChoice::Glob(glob) => globs.push(glob),
        }
    }
    let mut others = Vec::new();
    if files.is_empty() || !globs.is_empty() {
        let found = host::find_libraries(&adapters::file_names()).into_iter().map(File::found);
        let (meant, not): (Vec<File>, _) =
            found.partition(|file| globs.is_empty() || file.may_be_meant(&globs));
        files.extend(meant);
        others = not;
    }
    files.extend(runtimes.into_iter().map(File::of));
    let mut loaded = load_all(&files);
    loaded.extend(load_all(&with_providers(&globs, &loaded)));
    // What nothing matches is answered with all that there is.
    if globs.iter().any(|glob| !loaded.iter().any(|library| library.matches(glob))) {
        loaded.extend(load_all(&others));
    }
    // In the order of the choices: of two that bring one name with different meanings it is always the second that is told.
    loaded.iter_mut().for_each(make_known);
    loaded
}

/// What globs such as `openssl:fips` ask for: libraries that are there, each once more with that provider alone.
fn with_providers(globs: &[&NameGlob], loaded: &[Attached]) -> Vec<File> {
    let asked = globs.iter().filter_map(|glob| glob.with_provider());
    let mut files = Vec::new();
    for (glob, provider) in asked {
        for Attached { facts, .. } in loaded.iter().filter(|l| l.matches(&glob)) {
            let name = format!("{}:{provider}", facts.name);
            files.push(File { with_provider: Some(name), ..File::of(PathBuf::from(&facts.path)) });
        }
    }
    files
}

fn load_all(files: &[File]) -> Vec<Attached> {
    std::thread::scope(|scope| {
        let loads: Vec<_> = files.iter().map(|file| scope.spawn(|| load(file))).collect();
        loads
            .into_iter()
            .map(|l| l.join().expect("loading reports errors, it does not panic"))
            .collect()
    })
}

struct File {
    given_name: Option<String>,
    /// Its name with the provider's, where it is measured with that alone.
    with_provider: Option<String>,
    path: PathBuf,
    /// Why there is no need to try.
    problem: Option<String>,
}

impl File {
    fn of(path: PathBuf) -> Self {
        Self { given_name: None, with_provider: None, path, problem: None }
    }

    fn given(name: &str, path: &Path) -> Self {
        Self { given_name: Some(name.to_owned()), ..Self::of(path.to_owned()) }
    }

    fn found(found: host::Found) -> Self {
        Self { problem: found.problem, ..Self::of(found.path) }
    }

    /// Whether one of the globs may match, whatever the version: a bundled library has its name from its build, and is not
    /// loaded for a name that is another one.
    fn may_be_meant(&self, globs: &[&NameGlob]) -> bool {
        let Some(bundled) = host::bundled(&self.path) else { return true };
        globs.iter().any(|glob| {
            let name = glob.text().split([':', '@']).next().unwrap_or_default();
            name.contains(['*', '?', '[', '{', '\\']) || name == bundled.name
        })
    }
}

fn load(file: &File) -> Attached {
    let path = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
    let bundled = host::bundled(&path);
    // A resumed run names the file and takes the name away: the provider stays.
    let given_provider = file.given_name.clone().filter(|name| provider_of(name).is_some());
    let with_provider = file.with_provider.clone().or(given_provider);
    let bundled_name = with_provider.or_else(|| bundled.as_ref().map(|b| b.name.clone()));
    let name = file.given_name.as_ref().or(bundled_name.as_ref());
    let is_named = name.is_some();
    let mut attached = Attached {
        facts: record::Library {
            name: name.map_or_else(|| stem(&path), ToOwned::to_owned),
            version: String::new(),
            path: path.display().to_string(),
            id: String::new(),
            ..record::Library::default()
        },
        given_name: file.given_name.clone(),
        bundled_name,
        ..Attached::default()
    };
    let answer = file.problem.clone().map_or_else(|| inquire(&attached, &path), Err);
    match answer {
        Ok((Offered { ready, offers, instructions, confinement, .. }, id, objects)) => {
            attached.facts.confinement = confinement;
            attached.facts.objects = Some(objects);
            attached.facts.instructions = instructions;
            // What the user or the build calls it stands, whatever the library says.
            if !is_named {
                attached.facts.name.clone_from(&ready.name);
            }
            attached.facts.version.clone_from(&ready.version);
            attached.facts.build.clone_from(&ready.build);
            if let Some(bundled) = bundled {
                add_bundled(&mut attached.facts, bundled);
            }
            attached.facts.id = id;
            attached.facts.brings =
                ready.brings.iter().map(|brought| with_answers(brought, &offers)).collect();
            attached.offers = offers;
            attached.ready = Some(ready);
        }
        Err(why) => attached.facts.error = Some(why),
    }
    attached
}

/// What it stands for in records: vectors can be copied by who computes something else.
fn with_answers(brought: &Brought, offers: &[Offer]) -> Brought {
    let of_it = offers.iter().filter(|offer| offer.algorithm == brought.name);
    let answers = of_it.filter_map(|offer| offer.answers.as_deref()).next();
    let both = brought.sha256.as_deref().zip(answers);
    let sha256 = both.map(|(said, answers)| host::text_hash(&format!("{said}\n{answers}")));
    Brought { sha256: sha256.or_else(|| brought.sha256.clone()), ..brought.clone() }
}

/// Makes the algorithms known that the library brings; one that cannot be makes the library unusable.
fn make_known(attached: &mut Attached) {
    let brought = attached.facts.brings.iter().map(|brought| brought.bring());
    if let Some(why) = brought.filter_map(Result::err).next() {
        attached.facts.error = Some(format!("it brings {why}"));
        attached.facts.brings.clear();
        (attached.offers, attached.ready) = (Vec::new(), None);
    }
}

/// Loads what may bring algorithms that are not known here, so that they can be named: files of the adapter interface
/// that say that they do, those that `choices` name and, with `others`, those that are found. Returned is what the former
/// bring.
pub fn learn_algorithms(
    choices: &[LibraryChoice],
    others: bool,
) -> Result<Vec<&'static Algorithm>, SelectError> {
    let named = choices.iter().filter_map(|choice| match choice {
        LibraryChoice::Path { name, path } => Some((name.clone(), path.clone())),
        LibraryChoice::Glob(_) => None,
    });
    let mut files: Vec<(String, PathBuf)> = named.collect();
    if others && (files.is_empty() || files.len() < choices.len()) {
        let found = host::find_libraries(&adapters::file_names()).into_iter();
        let found = found.filter(|f| f.family == host::Family::Attached && f.problem.is_none());
        files.extend(found.map(|f| (String::new(), f.path)));
    }
    let choices: Vec<LibraryChoice> = files
        .into_iter()
        .filter(|(_, path)| host::exports(path, contract::raw::ALGORITHMS_SYMBOL))
        .map(|(name, path)| LibraryChoice::Path { name, path })
        .collect();
    let mut brought = Vec::new();
    // Without a choice everything that is found would be loaded.
    let loaded = if choices.is_empty() { Vec::new() } else { discover(&choices) };
    for Attached { facts, given_name, .. } in loaded {
        let Some(name) = given_name.filter(|name| !name.is_empty()) else { continue };
        if let Some(why) = facts.error {
            return Err(SelectError::Unusable { name, why });
        }
        brought.extend(facts.brings.iter().filter_map(|b| Algorithm::find(&b.name).ok()));
    }
    Ok(brought)
}

/// Adds what the build wrote down, and the version where the library has none of its own: BoringSSL
/// says only whom it is compatible with, libaegis nothing.
fn add_bundled(facts: &mut record::Library, bundled: host::Bundled) {
    facts.build.extend(bundled.build);
    let own = !facts.version.ends_with("-compatible") && facts.version != "unversioned";
    if !own {
        let fact = format!("version: of its source; the library itself says '{}'", facts.version);
        facts.build.push(fact);
        facts.version = bundled.version;
    }
}

/// What a worker says, the library's id, and the files whose code it is.
type LibraryAnswer = (Offered, String, Vec<record::LoadedFile>);

fn inquire(attached: &Attached, path: &Path) -> Result<LibraryAnswer, String> {
    let mut program = None;
    let id = if is_kernel(path) {
        host::kernel_id()
    } else if let Some(runtime) = base::model::runtime_name(path) {
        program = Some(prepare_runtime(runtime)?);
        String::new()
    } else {
        host::check_elf(path).map_err(|e| format!("'{}' {e}", path.display()))?;
        host::file_id(path).map_err(|e| format!("cannot read '{}': {e}", path.display()))?
    };
    let offered = ask_offers(attached, Tier::Native).map_err(|e| e.to_string())?;
    let ready = &offered.ready;
    let mut objects = offered.objects.clone();
    match &program {
        Some(_) => {
            let jars = ready.build.iter().filter_map(|fact| fact.strip_prefix("jar: "));
            objects.extend(jars.map(PathBuf::from));
        }
        // A library in the cage may name any file, whose hash it would not see otherwise.
        None => objects.retain(|object| host::is_object(object)),
    }
    // The library's own file among them: what rewrites code after linking leaves the note with the build id as it was.
    let objects = host::loaded_files(&objects);
    let id = program.map_or(id, |program| id_of_runtime(&program, ready));
    let name = attached.given_name.as_ref().or(attached.bundled_name.as_ref());
    let id = host::id_with_provider(&id, name.and_then(|name| provider_of(name)));
    Ok((offered, host::whole_id(&id, &objects), objects))
}

/// What tells one state of a runtime from another: its program, and what it says of itself and what is under it.
fn id_of_runtime(program: &Program, ready: &Ready) -> String {
    let tool = host::file_id(&program.tool).unwrap_or_default();
    let told = [&program.sources, &tool, &ready.version].map(String::as_str).join("\n");
    format!("sha256:{}", host::text_hash(&format!("{told}\n{}", ready.build.join("\n"))))
}

pub(crate) struct Offered {
    pub(crate) ready: Ready,
    pub(crate) offers: Vec<Offer>,
    pub(crate) instructions: Option<Vec<String>>,
    pub(crate) objects: Vec<PathBuf>,
    pub(crate) cpuid_answered: Option<u64>,
    pub(crate) confinement: Option<record::Confinement>,
}

/// Algorithms whose opening may end a process before the library is given up.
const MOST_CRASHES: usize = 32;

/// Loads a library at a tier in a worker of its own, and asks. An algorithm whose opening ends the worker fails, and
/// another worker is asked for the rest.
pub(crate) fn ask_offers(attached: &Attached, tier: Tier) -> Result<Offered, WorkerError> {
    let mut crashed: Vec<(String, String)> = Vec::new();
    loop {
        let names: Vec<String> = crashed.iter().map(|c| c.0.clone()).collect();
        let mut opened = String::new();
        match once_more_if_killed(|| ask_a_worker(attached, tier, &names, &mut opened)) {
            Ok(mut offered) => {
                for offer in &mut offered.offers {
                    let why = crashed.iter().find(|(name, _)| *name == offer.algorithm);
                    offer.reason = why.map(|c| c.1.clone()).or_else(|| offer.reason.take());
                }
                return Ok(offered);
            }
            Err(why @ WorkerError::Died(_))
                if !opened.is_empty() && crashed.len() < MOST_CRASHES =>
            {
                crashed.push((opened, why.to_string()));
            }
            Err(why) => return Err(why),
        }
    }
}

/// Asks for all but what is named; `opened` is what was opened last.
fn ask_a_worker(
    attached: &Attached,
    tier: Tier,
    without: &[String],
    opened: &mut String,
) -> Result<Offered, WorkerError> {
    opened.clear();
    let mut worker = Worker::start(attached.hello(tier, None, 0, 0))?;
    let request =
        if without.is_empty() { Request::Offers } else { Request::OffersWithout(without.to_vec()) };
    worker.send(&request);
    loop {
        match worker.reply(OFFERS_DEADLINE)? {
            Reply::Checking { check } => *opened = check,
            Reply::Offers { offers, instructions, cpuid_answered, denied, objects } => {
                let ready = worker.ready().clone();
                let confinement = ready.confinement.clone().map(|c| with_denied(c, denied));
                return Ok(Offered {
                    ready,
                    offers,
                    instructions,
                    objects,
                    cpuid_answered,
                    confinement,
                });
            }
            other => return Err(out_of_protocol(&other)),
        }
    }
}

fn with_denied(mut confinement: record::Confinement, more: Vec<String>) -> record::Confinement {
    confinement.denied.extend(more);
    confinement.denied.sort_unstable();
    confinement.denied.dedup();
    confinement
}

fn is_kernel(path: &Path) -> bool {
    path.as_os_str() == KERNEL_PATH
}

fn stem(path: &Path) -> String {
    if is_kernel(path) {
        return "linux-kernel".to_owned();
    }
    if let Some(runtime) = base::model::runtime_name(path) {
        return runtime.to_owned();
    }
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = file.split(".so").next().unwrap_or(&file).to_owned();
    file.trim_start_matches("lib").to_owned()
}

/// Picks the libraries that the choices ask for; all usable ones without a choice. A library that
/// was named as a file must be usable, as must one of those that a glob matches; one that was only
/// found need not be.
pub fn select(
    found: Vec<Attached>,
    choices: &[LibraryChoice],
) -> Result<Vec<Attached>, SelectError> {
    for library in &found {
        if let (Some(name), Some(why)) = (&library.given_name, &library.facts.error) {
            return Err(SelectError::Unusable { name: name.clone(), why: why.clone() });
        }
    }
    let (usable, broken): (Vec<Attached>, Vec<Attached>) =
        found.into_iter().partition(|l| l.facts.error.is_none());
    if usable.is_empty() {
        return Err(SelectError::None);
    }
    let globs: Vec<&NameGlob> = choices
        .iter()
        .filter_map(|c| if let LibraryChoice::Glob(g) = c { Some(g) } else { None })
        .collect();
    if let Some(glob) = globs.iter().find(|g| !usable.iter().any(|l| l.matches(g))) {
        let matched = broken.iter().find(|l| l.matches(glob));
        if let Some((name, why)) =
            matched.and_then(|l| Some((&l.facts.name, l.facts.error.as_ref()?)))
        {
            return Err(SelectError::Unusable { name: name.clone(), why: why.clone() });
        }
        let labels: Vec<String> = usable.iter().map(Attached::label).collect();
        let begun = labels.iter().find(|label| label.starts_with(glob.text())).cloned();
        let near = || nearest(glob.text(), usable.iter().map(|l| l.facts.name.as_str()));
        return Err(SelectError::NoMatch {
            glob: glob.text().to_owned(),
            nearest: begun.or_else(near),
            found: labels.join(", "),
        });
    }
    let wanted = |l: &Attached| {
        choices.is_empty() || l.given_name.is_some() || globs.iter().any(|g| l.matches(g))
    };
    Ok(usable.into_iter().filter(wanted).collect())
}

// Libraries at other tiers than `native`: each is loaded once at every tier that was asked for, to
// learn whether the tier can be applied to it and what it offers there.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierHere {
    /// Whether the CPU has what the tier is named for.
    pub available: bool,
    /// How it is applied; `None` for `native`, and where it cannot be.
    pub mechanism: Option<&'static str>,
    /// Why it is not available; or what it is the same as.
    pub reason: Option<String>,
}

pub fn tier_here(tier: Tier) -> TierHere {
    match host::tier::machine(tier) {
        Ok((mechanism, reason)) => {
            TierHere { available: true, mechanism: mechanism.map(Mechanism::name), reason }
        }
        Err(why) => TierHere { available: false, mechanism: None, reason: Some(why) },
    }
}

/// The libraries with what they offer at each of the tiers, and how it was applied. As many are
/// loaded at once as there are CPUs.
pub fn at_tiers(libraries: &[Attached], tiers: &[Tier]) -> Vec<Attached> {
    at_asked_tiers(libraries, tiers, |_, _| true)
}

/// The same of the tiers that each library is asked for.
pub(crate) fn at_asked_tiers(
    libraries: &[Attached],
    tiers: &[Tier],
    is_asked: impl Fn(&Attached, Tier) -> bool,
) -> Vec<Attached> {
    let mut libraries = libraries.to_vec();
    let asked = (0..libraries.len())
        .flat_map(|library| tiers.iter().map(move |tier| (library, *tier)))
        .filter(|(library, tier)| {
            let attached = &libraries[*library];
            *tier != Tier::Native
                && !attached.tiers.iter().any(|at| at.tier == *tier)
                && is_asked(attached, *tier)
        });
    let asked: Vec<(usize, Tier)> = asked.collect();
    prepare_copies(&mut libraries, &asked);
    for (library, at, applied) in ask_all(&libraries, asked) {
        libraries[library].tiers.push(at);
        libraries[library].facts.tiers.push(applied);
    }
    libraries
}

/// Makes the copies that workers load, once for all of them: their memory is shared. Where that
/// fails, the first worker tries again and has the reason.
fn prepare_copies(libraries: &mut [Attached], asked: &[(usize, Tier)]) {
    let wanted = libraries.iter_mut().enumerate().filter(|(i, library)| {
        let path = Path::new(&library.facts.path);
        library.copies.is_none()
            && !base::model::runs_elsewhere(path)
            && asked.iter().any(|(l, _)| l == i)
    });
    let queue = Mutex::new(wanted.map(|(_, library)| library));
    std::thread::scope(|scope| {
        for _ in 0..threads(asked.len()) {
            scope.spawn(|| {
                while let Some(library) = next(&queue) {
                    library.copies =
                        host::tier::prepare(Path::new(&library.facts.path)).ok().map(Arc::new);
                }
            });
        }
    });
}

fn threads(work: usize) -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(work)
}

type TierAnswer = (usize, AtTier, AppliedTier);

fn ask_all(libraries: &[Attached], asked: Vec<(usize, Tier)>) -> Vec<TierAnswer> {
    let threads = threads(asked.len());
    let queue = Mutex::new(asked.into_iter());
    let answers = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((library, tier)) = next(&queue) {
                    let (at, applied) = ask_at_tier(&libraries[library], tier);
                    let mut answers = answers.lock().expect("no thread panics holding it");
                    answers.push((library, at, applied));
                }
            });
        }
    });
    let mut answers = answers.into_inner().expect("no thread panics holding it");
    answers.sort_by_key(|(library, at, _)| (*library, at.tier));
    answers
}

fn next<T>(queue: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    queue.lock().expect("no thread panics holding it").next()
}

fn ask_at_tier(library: &Attached, tier: Tier) -> (AtTier, AppliedTier) {
    let not_applied = |reason: &str| AppliedTier {
        tier,
        mechanism: None,
        cpuid_instructions: None,
        cpuid_answered: None,
        proof: None,
        reason: Some(reason.to_owned()),
    };
    match ask_offers(library, tier) {
        Ok(Offered { ready, offers, objects, cpuid_answered, .. }) => {
            let applied = ready.tier.map(|applied| AppliedTier { cpuid_answered, ..applied });
            let applied = applied.unwrap_or_else(|| not_applied("the worker does not say how"));
            (AtTier { tier, offers: Ok(offers), objects }, applied)
        }
        Err(error) => {
            let finding = match error {
                WorkerError::Unusable(why) => {
                    Finding::unsupported(format!("at tier {tier}: {why}"))
                }
                other => Finding::failed(format!("at tier {tier}: {other}")),
            };
            let applied = not_applied(&finding.why);
            (AtTier { tier, offers: Err(finding), objects: Vec::new() }, applied)
        }
    }
}

// Languages' runtimes: which there are, and where their programs are kept.

pub(crate) fn prepare_runtime(runtime: &str) -> Result<Program, String> {
    adapters::runtime::prepare(runtime, &runtime_places())
}

fn runtime_places() -> Places {
    let libraries = std::env::var_os("CIPHERMARK_LIBS").unwrap_or_default();
    Places {
        cache: host::cache_directory("runtimes"),
        libraries: std::env::split_paths(&libraries)
            .filter(|p| !p.as_os_str().is_empty())
            .collect(),
        environment: host::environment(),
    }
}

/// The runtimes that a glob asks for: those that it matches by more than a star, because starting them takes time and
/// their programs are compiled first.
pub(crate) fn asked_runtimes<'a>(globs: impl Iterator<Item = &'a NameGlob>) -> Vec<PathBuf> {
    let named: Vec<&NameGlob> =
        globs.filter(|glob| !glob.text().starts_with(['*', '?', '['])).collect();
    let names =
        adapters::runtime::names().filter(|name| named.iter().any(|glob| glob.matches(name)));
    names.map(runtime_path).collect()
}

pub(crate) fn all_runtimes() -> Vec<PathBuf> {
    adapters::runtime::names().map(runtime_path).collect()
}

fn runtime_path(name: &str) -> PathBuf {
    PathBuf::from(format!("{RUNTIME_PREFIX}{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::text::fixtures::says;

    fn library(name: &str, version: &str, given: bool, error: Option<&str>) -> Attached {
        Attached {
            facts: record::Library {
                name: name.into(),
                version: version.into(),
                path: format!("{name}.so"),
                id: "sha256:0".into(),
                error: error.map(ToOwned::to_owned),
                ..record::Library::default()
            },
            given_name: given.then(|| name.to_owned()),
            ..Attached::default()
        }
    }

    fn glob(text: &str) -> LibraryChoice {
        LibraryChoice::Glob(NameGlob::parse(text).unwrap())
    }

    fn names(selected: &[Attached]) -> Vec<String> {
        selected.iter().map(Attached::label).collect()
    }

    #[test]
    fn a_glob_matches_the_name_or_the_name_with_its_version() {
        let found = || {
            vec![
                library("openssl", "3.0.19", false, None),
                library("openssl", "4.0.3", false, None),
            ]
        };
        assert_eq!(select(found(), &[glob("openssl")]).unwrap().len(), 2);
        assert_eq!(names(&select(found(), &[glob("openssl@3.*")]).unwrap()), ["openssl@3.0.19"]);
    }

    #[test]
    fn a_glob_without_a_match_names_what_there_is() {
        let told = |name: &str| {
            let found = vec![library("openssl", "3.0.19", false, None)];
            select(found, &[glob(name)]).unwrap_err().to_string()
        };
        says(told("opensl"), ["did you mean 'openssl'?", "openssl@3.0.19"]);
        says(told("openssl@3.0"), ["did you mean 'openssl@3.0.19'?"]);
    }

    #[test]
    fn a_broken_library_counts_only_when_it_was_asked_for() {
        let good = || library("openssl", "3", false, None);
        let stray = || library("stray", "", false, Some("not ELF"));
        assert_eq!(names(&select(vec![good(), stray()], &[]).unwrap()), ["openssl@3"]);
        let error = select(vec![good(), stray()], &[glob("stray")]).unwrap_err();
        assert_eq!(error.to_string(), "library 'stray': not ELF");
        assert_eq!(names(&select(vec![good(), stray()], &[glob("*")]).unwrap()), ["openssl@3"]);
        let asked = library("mine", "", true, Some("not ELF"));
        assert!(select(vec![good(), asked], &[]).unwrap_err().to_string().contains("not ELF"));
    }
}
