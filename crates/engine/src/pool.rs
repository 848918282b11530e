//! Workers for many questions: the worker process of one library at one tier, or of one TLS stack, that is
//! sampled, one after another; and workers that answer side by side on all CPUs, for what is the same however
//! busy the machine is. What these showed in earlier runs is kept.
//! What single-stepping showed in earlier runs is the same as long as the code that runs is: the library's,
//! that of the objects that it runs through, and the program's own, whose adapters are part of an operation.
//! Which of it runs is decided by CPU, kernel, tier and circumstances. A file an entry, named after the hash
//! of all that it hangs on and that decides which code runs, written beside and renamed, with a hash of its
//! content in its first line: an entry is either whole or not there. Nothing that goes wrong here is an
//! error: what is not kept is stepped again.

use crate::cpus;
use crate::libraries::{Attached, StackFile};
use crate::process::{Worker, WorkerError, once_more_if_killed};
use crate::protocol::{Finding, Hello, PageFiles, Reply, Request, StackHello};
use crate::time::Stop;
use base::model::{KERNEL_PATH, QuietRates, Tier};
use probe::Clock;
use record::Circumstance;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How often a process that the system does not start is tried again, and after what pause: short of
/// memory or processes it may have some a moment later, and without a worker no case goes on.
const MORE_TRIES: usize = 3;
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// CPUs to measure on, side by side; workers start on the first.
    pub(crate) cpus: Vec<u32>,
    pub(crate) seed: u64,
    pub(crate) ticks_per_ns: Option<f64>,
    /// The throughput probe's quiet rates, as far as they are known before the first sample.
    pub(crate) quiet: QuietRates,
}

impl Start {
    /// On this CPU, after a look at it.
    pub(crate) fn on(cpu: u32, clock: &Clock, seed: u64) -> Self {
        let quiet = cpus::watch_quiet_rate(clock, cpu);
        Self { cpus: vec![cpu], seed, ticks_per_ns: Some(clock.rough_ticks_per_ns()), quiet }
    }
}

/// What workers load.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    Library(&'a Attached, Tier),
    /// With files of staged pages.
    Pages(&'a Attached, Tier, PageFiles),
    Stack(&'a StackFile),
}

/// The process that is sampled now. Each has a memory layout of its own.
#[derive(Debug)]
pub(crate) struct WorkerPool<'a> {
    source: Source<'a>,
    start: Start,
    worker: Option<Worker>,
    /// Number of the next process.
    next: u32,
}

impl<'a> WorkerPool<'a> {
    /// No process is started yet; the first will have the number `next`.
    pub(crate) fn new(source: Source<'a>, start: Start, next: u32) -> Self {
        Self { source, start, worker: None, next }
    }

    pub(crate) fn worker(&mut self, stop: &Stop) -> Result<&mut Worker, WorkerError> {
        if self.worker.is_none() {
            let mut started = self.started();
            for _ in 0..MORE_TRIES {
                if !matches!(started, Err(WorkerError::Start(_))) {
                    break;
                }
                std::thread::sleep(PAUSE);
                started = self.started();
            }
            let mut worker = started?;
            worker.greet(Some(stop))?;
            self.worker = Some(worker);
        }
        Ok(self.worker.as_mut().expect("just filled"))
    }

    pub(crate) fn measure_on(&mut self, cpu: u32) {
        self.start.cpus = vec![cpu];
    }

    fn started(&mut self) -> Result<Worker, WorkerError> {
        let Start { seed, ticks_per_ns, .. } = self.start;
        let cpu = self.start.cpus.first().copied();
        let process = self.next;
        self.next += 1;
        match self.source {
            Source::Library(library, tier) => {
                let hello = library.hello(tier, cpu, process, seed);
                Worker::launch(Hello { ticks_per_ns, ..hello })
            }
            Source::Pages(library, tier, files) => {
                let hello = library.hello(tier, cpu, process, seed);
                Worker::launch(Hello { ticks_per_ns, pages: Some(files), ..hello })
            }
            Source::Stack(stack) => {
                let hello = stack.hello();
                Worker::launch_stack(StackHello { cpu, process, ticks_per_ns, ..hello })
            }
        }
    }

    /// Whether there is a worker, and it has something to say or is gone, of those that have been asked.
    pub(crate) fn asked(&self) -> Option<&Worker> {
        self.worker.as_ref()
    }

    /// Whether the worker has its core to itself, as far as the kernel can give it that.
    pub(crate) fn core_alone(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.ready().core_alone)
    }

    pub(crate) fn end(&mut self) {
        self.worker = None;
    }

    /// Starts a new process without waiting for it: those of several libraries load side by side.
    /// [`WorkerPool::greet`] must come next.
    pub(crate) fn launch(&mut self) {
        self.worker = self.started().ok();
    }

    /// Waits for the new process. One that does not start is tried again, and its error told, when
    /// it is asked for.
    pub(crate) fn greet(&mut self, stop: &Stop) {
        if self.worker.as_mut().is_some_and(|worker| worker.greet(Some(stop)).is_err()) {
            self.worker = None;
        }
    }
}

// Asking workers about many subjects, side by side on all CPUs, a few subjects in one worker: for what is the
// same however busy the machine is.

/// Subjects that one worker answers for: few enough that all CPUs have work to the end.
const BATCH: usize = 8;

/// Longest that a step takes, with the machine's other CPUs busy: ten times what is usual.
const STEP: Duration = Duration::from_micros(200);
/// Opening the algorithm, making the messages and decoding, on top.
const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) fn deadline(steps: u64) -> Duration {
    DEADLINE + STEP * u32::try_from(steps).unwrap_or(u32::MAX)
}

/// What is shared by all workers that are asked.
#[derive(Clone, Copy)]
pub(crate) struct InWorkers<'a> {
    pub(crate) libraries: &'a [Attached],
    pub(crate) stop: &'a Stop,
    /// Called after each subject, with how many of how many.
    pub(crate) done: &'a (dyn Fn(usize, usize) + Sync),
}

impl InWorkers<'_> {
    /// Has workers go through the subjects, which are sorted by what `of` says: the library and its tier.
    pub(crate) fn each<T: Send>(
        &self,
        mut subjects: Vec<T>,
        of: impl Fn(&T) -> (usize, Tier),
        work: impl Fn(&mut Asking<'_>, &mut T) + Sync,
    ) {
        let (count, total) = (AtomicUsize::new(0), subjects.len());
        let batches = subjects.chunk_by_mut(|a, b| of(a) == of(b));
        let batches = batches.flat_map(|chunk| chunk.chunks_mut(BATCH));
        let queue: Mutex<VecDeque<&mut [T]>> = Mutex::new(batches.collect());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let work = || {
            let take = || queue.lock().expect("no thread panics holding it").pop_front();
            while let Some(batch) = take() {
                let mut asking = Asking { of: self, worker: None };
                for one in batch {
                    work(&mut asking, one);
                    (self.done)(count.fetch_add(1, Ordering::Relaxed) + 1, total);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    }
}

pub(crate) struct Asking<'a> {
    of: &'a InWorkers<'a>,
    worker: Option<Worker>,
}

impl Asking<'_> {
    /// Why nothing of a library can be stepped.
    pub(crate) fn cannot_step(library: &Attached) -> Option<Finding> {
        let kernel = library.facts.path == KERNEL_PATH;
        let where_to = if kernel { "the kernel" } else { "a process of its runtime" };
        let why = format!("it runs in {where_to}, which cannot be stepped");
        base::model::runs_elsewhere(Path::new(&library.facts.path))
            .then(|| Finding::unsupported(why))
    }

    /// Asks a worker with the library at the tier, once more where somebody else has killed it. A worker that
    /// gave no answer is dead; the next question starts another.
    pub(crate) fn ask(
        &mut self,
        library: usize,
        tier: Tier,
        request: &Request,
        deadline: Duration,
    ) -> Result<Reply, Finding> {
        if let Some(why) = self.of.stop.why() {
            return Err(Finding::left_out(why, "stepped"));
        }
        let answer = once_more_if_killed(|| self.once(library, tier, request, deadline));
        match answer.map_err(|e: WorkerError| Finding::failed(e.to_string()))? {
            Reply::Finding(finding) => Err(finding),
            reply => Ok(reply),
        }
    }

    fn once(
        &mut self,
        library: usize,
        tier: Tier,
        request: &Request,
        deadline: Duration,
    ) -> Result<Reply, WorkerError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(self.of.libraries[library].hello(tier, None, 0, 0))?,
        };
        worker.send(request);
        let reply = worker.reply_unless(self.of.stop, deadline)?;
        self.worker = Some(worker);
        Ok(reply)
    }
}

/// Entries that were written so long ago are removed: each new build of the program leaves all
/// earlier ones behind.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// All that an entry hangs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Key {
    /// Raised when what is kept changes its meaning.
    version: u32,
    /// SHA-256 of the library's file.
    library: String,
    /// Id of its build, in which all files are that it maps.
    build: String,
    /// Name that it was given, which chooses the adapter where the file's own does not.
    name: Option<String>,
    /// SHA-256 of this program.
    program: String,
    /// CPU and kernel, in words: what libraries look at to choose their code.
    machine: String,
    /// All that are set: which of them a library heeds is not known.
    circumstances: Vec<Circumstance>,
    tier: String,
    mechanism: Option<String>,
    subject: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry<T> {
    key: Key,
    /// The files that the instructions are in, with their SHA-256.
    objects: Vec<(PathBuf, String)>,
    kept: T,
}

/// The directory of entries, where there is one, and what all of them hang on.
#[derive(Debug)]
pub(crate) struct Cache {
    directory: Option<PathBuf>,
    machine: String,
    circumstances: Vec<Circumstance>,
    program: PathBuf,
}

impl Cache {
    pub(crate) fn open(name: &str) -> Self {
        let host = host::facts(0);
        Self::at(host::cache_directory(name), machine(&host), host.circumstances)
    }

    fn at(directory: Option<PathBuf>, machine: String, circumstances: Vec<Circumstance>) -> Self {
        let program = std::env::current_exe().unwrap_or_default();
        if let Some(directory) = &directory {
            remove_old(directory);
        }
        Self { directory, machine, circumstances, program }
    }

    pub(crate) fn key(
        &self,
        version: u32,
        library: &Attached,
        tier: Tier,
        subject: &[String],
    ) -> Option<Key> {
        self.directory.as_ref()?;
        let applied = library.facts.tiers.iter().find(|t| t.tier == tier);
        Some(Key {
            version,
            library: Self::hash(Path::new(&library.facts.path))?,
            build: library.facts.id.clone(),
            name: library.given_name.clone().or_else(|| library.bundled_name.clone()),
            program: Self::hash(&self.program)?,
            machine: self.machine.clone(),
            circumstances: self.circumstances.clone(),
            tier: tier.to_string(),
            mechanism: applied.and_then(|t| t.mechanism.clone()),
            subject: subject.to_vec(),
        })
    }

    pub(crate) fn load<T: DeserializeOwned>(&self, key: &Key) -> Option<T> {
        let text = std::fs::read_to_string(self.path(key)?).ok()?;
        let (checksum, body) = text.split_once('\n')?;
        let entry: Entry<T> = serde_json::from_str(body).ok()?;
        let same = |(path, hash): &(PathBuf, String)| Self::hash(path).as_ref() == Some(hash);
        let sound = checksum == host::text_hash(body)
            && entry.key == *key
            && entry.objects.iter().all(same);
        sound.then_some(entry.kept)
    }

    pub(crate) fn store<'a, T: Serialize>(
        &self,
        key: &Key,
        kept: &T,
        objects: impl Iterator<Item = &'a PathBuf>,
    ) {
        let Some(path) = self.path(key) else { return };
        let files: BTreeSet<&PathBuf> = objects.collect();
        // A copy in memory, made to apply a tier, is the library's own, which the key has.
        let objects =
            files.into_iter().filter_map(|path| Some((path.clone(), Self::hash(path)?))).collect();
        let entry = Entry { key: key.clone(), objects, kept };
        let Ok(body) = serde_json::to_string(&entry) else { return };
        let write = || -> std::io::Result<()> {
            let directory = path.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(directory)?;
            let mut file = tempfile::NamedTempFile::new_in(directory)?;
            write!(file, "{}\n{body}", host::text_hash(&body))?;
            file.persist(&path)?;
            Ok(())
        };
        // What cannot be kept is stepped again.
        let _ = write();
    }

    fn path(&self, key: &Key) -> Option<PathBuf> {
        let name = host::text_hash(&serde_json::to_string(key).ok()?);
        Some(self.directory.as_ref()?.join(format!("{name}.json")))
    }

    fn hash(path: &Path) -> Option<String> {
        host::content_hash(path).ok()
    }
}

/// SHA-256 of this program; none where it was removed.
pub(crate) fn program_hash() -> Option<String> {
    Cache::hash(&std::env::current_exe().ok()?)
}

/// CPU, kernel and C library. Which code a library chooses hangs on the CPU's features and caches; the kernel
/// decides which tiers can be applied how; libraries call the C library.
fn machine(host: &record::Host) -> String {
    let caches: Vec<u64> = host.cpu.caches.iter().map(|c| c.size_bytes).collect();
    let cpu = &host.cpu;
    format!(
        "{} [{}] {caches:?} {} {}",
        cpu.kind(),
        cpu.features.join(" "),
        host.kernel.release,
        host.c_library.as_deref().unwrap_or_default()
    )
}

fn remove_old(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) && host::is_cache_entry(&entry.path()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Kept = Vec<String>;

    struct Scene {
        directory: tempfile::TempDir,
        library: PathBuf,
        other: PathBuf,
    }

    impl Scene {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let (library, other) = (directory.path().join("lib.so"), directory.path().join("o.so"));
            std::fs::write(&library, "the library").unwrap();
            std::fs::write(&other, "what it calls").unwrap();
            Self { directory, library, other }
        }

        fn cache(&self, machine: &str) -> Cache {
            Cache::at(Some(self.directory.path().join("evidence")), machine.to_owned(), Vec::new())
        }

        fn key(&self, cache: &Cache, tier: Tier) -> Key {
            self.key_of_build(cache, tier, "sha256:0+1")
        }

        fn key_of_build(&self, cache: &Cache, tier: Tier, id: &str) -> Key {
            let facts = record::Library {
                name: "lib".into(),
                version: "1".into(),
                path: self.library.display().to_string(),
                id: id.into(),
                ..record::Library::default()
            };
            let library = Attached { facts, ..Attached::default() };
            cache.key(1, &library, tier, &["aes-128-gcm".to_owned()]).unwrap()
        }

        fn key_of(&self, given: &Given) -> Key {
            let facts = record::Library {
                path: self.library.display().to_string(),
                tiers: vec![record::AppliedTier {
                    tier: given.tier,
                    mechanism: given.mechanism.map(ToOwned::to_owned),
                    cpuid_instructions: None,
                    cpuid_answered: None,
                    proof: None,
                    reason: None,
                }],
                ..record::Library::default()
            };
            let given_name = given.name.map(ToOwned::to_owned);
            let library = Attached { facts, given_name, ..Attached::default() };
            let directory = Some(self.directory.path().join("evidence"));
            let mut cache = Cache::at(directory, given.machine.into(), given.circumstances.clone());
            cache.program.clone_from(&given.program);
            let subject = [given.subject.to_owned()];
            cache.key(given.version, &library, given.tier, &subject).unwrap()
        }

        /// What is kept of this scene.
        fn store(&self, cache: &Cache, key: &Key) {
            let files = [self.library.clone(), self.other.clone(), "/memfd:x (deleted)".into()];
            cache.store(key, &self.runs(), files.iter());
        }

        fn runs(&self) -> Kept {
            vec!["9 instructions".into(), "48 bytes".into()]
        }

        fn entry(&self) -> PathBuf {
            let mut entries = std::fs::read_dir(self.directory.path().join("evidence")).unwrap();
            entries.next().unwrap().unwrap().path()
        }
    }

    /// Each input of a key.
    #[derive(Clone)]
    struct Given {
        version: u32,
        name: Option<&'static str>,
        program: PathBuf,
        machine: &'static str,
        circumstances: Vec<Circumstance>,
        tier: Tier,
        mechanism: Option<&'static str>,
        subject: &'static str,
    }

    #[test]
    fn changing_any_input_of_a_key_misses() {
        let scene = Scene::new();
        let given = Given {
            version: 1,
            name: None,
            program: scene.other.clone(),
            machine: "m",
            circumstances: Vec::new(),
            tier: Tier::Native,
            mechanism: None,
            subject: "aes-128-gcm",
        };
        let set = |value: &str| Circumstance {
            name: "OPENSSL_ia32cap".into(),
            value: Some(value.into()),
            ..Circumstance::default()
        };
        let masked = Given { circumstances: vec![set("~0x2")], ..given.clone() };
        let file = Circumstance { name: "/etc/x".into(), sha256: Some("1".into()), ..set("") };
        let changed = |file: &Circumstance, sha256: &str| Circumstance {
            sha256: Some(sha256.into()),
            ..file.clone()
        };
        let others = [
            masked.clone(),
            Given { circumstances: vec![set("~0x4")], ..given.clone() },
            Given { circumstances: vec![file.clone()], ..given.clone() },
            Given { circumstances: vec![changed(&file, "2")], ..given.clone() },
            Given { circumstances: vec![set("~0x2"), file], ..given.clone() },
            Given { version: 2, ..given.clone() },
            Given { name: Some("mine"), ..given.clone() },
            Given { program: scene.library.clone(), ..given.clone() },
            Given { machine: "another", ..given.clone() },
            Given { tier: Tier::Noaes, ..given.clone() },
            Given { mechanism: Some("cpuid-fault"), ..given.clone() },
            Given { subject: "aes-256-gcm", ..given.clone() },
        ];
        for (at, other) in others.iter().enumerate() {
            let cache = scene.cache("m");
            let key = scene.key_of(other);
            cache.store(&key, &vec![at], std::iter::empty());
            assert_eq!(cache.load::<Vec<usize>>(&scene.key_of(&given)), None, "{key:?}");
            assert_eq!(cache.load::<Vec<usize>>(&key), Some(vec![at]));
        }
        for (at, other) in others.iter().enumerate() {
            // None has overwritten another one.
            assert_eq!(scene.cache("m").load(&scene.key_of(other)), Some(vec![at]));
        }
        std::fs::write(&scene.library, "another build").unwrap();
        assert_eq!(scene.cache("m").load::<Vec<usize>>(&scene.key_of(&masked)), None);
    }

    fn kept(scene: &Scene, machine: &str, tier: Tier) -> Option<Kept> {
        let cache = scene.cache(machine);
        cache.load(&scene.key(&cache, tier))
    }

    fn stored() -> Scene {
        let scene = Scene::new();
        let cache = scene.cache("m");
        scene.store(&cache, &scene.key(&cache, Tier::Native));
        scene
    }

    #[test]
    fn what_was_counted_is_there_again_for_the_same_code_only() {
        let scene = stored();
        assert_eq!(kept(&scene, "m", Tier::Native), Some(scene.runs()));
        assert_eq!(kept(&scene, "another CPU", Tier::Native), None);
        assert_eq!(kept(&scene, "m", Tier::Noaes), None);
        let cache = scene.cache("m");
        let swapped = scene.key_of_build(&cache, Tier::Native, "sha256:0+2");
        assert_eq!(cache.load::<Kept>(&swapped), None, "an object that it is linked to");
        std::fs::write(&scene.other, "changed").unwrap();
        assert_eq!(kept(&scene, "m", Tier::Native), None, "an object that it runs through");
        std::fs::write(&scene.other, "what it calls").unwrap();
        assert_eq!(kept(&scene, "m", Tier::Native), Some(scene.runs()));
        std::fs::write(&scene.library, "another build").unwrap();
        assert_eq!(kept(&scene, "m", Tier::Native), None, "the library");
    }

    #[test]
    fn an_entry_that_is_cut_short_or_changed_anywhere_is_not_believed() {
        let scene = stored();
        let whole = std::fs::read(scene.entry()).unwrap();
        for length in [0, 1, 64, 65, whole.len() / 2, whole.len() - 1] {
            std::fs::write(scene.entry(), &whole[..length]).unwrap();
            assert_eq!(kept(&scene, "m", Tier::Native), None, "{length} bytes");
        }
        let changed = String::from_utf8(whole).unwrap().replace("9 instructions", "8 instructions");
        std::fs::write(scene.entry(), changed).unwrap();
        assert_eq!(kept(&scene, "m", Tier::Native), None);
        let cache = scene.cache("m");
        scene.store(&cache, &scene.key(&cache, Tier::Native));
        assert_eq!(kept(&scene, "m", Tier::Native), Some(scene.runs()), "and is replaced");
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_no_error() {
        let scene = Scene::new();
        let cache = Cache::at(Some(scene.library.join("evidence")), "m".into(), Vec::new());
        let key = scene.key(&cache, Tier::Native);
        scene.store(&cache, &key);
        assert_eq!(cache.load::<Kept>(&key), None);
    }
}
