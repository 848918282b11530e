//! Every page of the store through every library and scheme and back, held against each other: the workers,
//! the files that pages are staged in for them, and a copy of the store whose pages went through.

use crate::libraries::Attached;
use crate::pages::{Events, PagesError, PagesEvent, within};
use crate::process::{Worker, WorkerError, out_of_protocol};
use crate::protocol::{
    Finding, Hello, LOG_BYTES, PageAnswer, PageFiles, PageJob, ProbeJob, Reply, Request, Staging,
    VerifyJob,
};
use crate::time::Stop;
use base::model::Tier;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use record::State;
use record::at_rest::scheme::{Position, Recipe};
use record::at_rest::store::{Kind, PageRef, Store, StoreError};
use record::at_rest::{ProbeCounts, Probed, Verified, judge};
use rustix::fs::{CWD, MemfdFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// Bytes of a part where there is no time for the whole store.
const SMALL_PART: usize = 256 << 10;

const RUN: usize = 4;

/// The share of what is left of a run's time that the proof of pages may take, and then the probes.
const SHARE: f64 = 0.25;
/// The most that the proof takes where prices are known before.
const SHORT: Duration = Duration::from_secs(2);

/// A library and a scheme.
pub(crate) type Pair = (usize, usize);

#[derive(Clone, Debug)]
pub(crate) struct Standing {
    pub(crate) outcome: Result<(), Finding>,
    pages: u64,
    agreeing: u64,
    digest: String,
    pub(crate) sum_by: Option<String>,
}

impl Standing {
    /// A pair that has passed what came before, or has not.
    pub(crate) fn new(outcome: Result<(), Finding>) -> Self {
        Self { outcome, pages: 0, agreeing: u64::MAX, digest: String::new(), sum_by: None }
    }
}

pub(crate) type Standings = BTreeMap<Pair, Standing>;

pub(crate) struct Proof<'a> {
    pub(crate) store: &'a Store,
    pub(crate) recipes: &'a [Recipe],
    pub(crate) stage: &'a mut Stage,
    pub(crate) workers: Workers<'a>,
    pub(crate) standings: &'a mut Standings,
    pub(crate) seed: u64,
    pub(crate) events: Events<'a>,
}

impl Proof<'_> {
    /// Takes the whole store through every pair that stands; a random sample of it where the run has an end.
    /// Decrypted pages go into the copy, if there is to be one, from all pairs in turn.
    pub(crate) fn verify(
        &mut self,
        mut copy: Option<Copy>,
        is_short: bool,
    ) -> Result<(), PagesError> {
        let (store, stop) = (self.store, self.workers.stop);
        let (all, in_part) = match stop.left() {
            None => (store.all().collect(), PART / store.page_size()),
            Some(_) => (drawn(store, self.seed), SMALL_PART / store.page_size()),
        };
        let limit = if is_short { within(stop, SHARE).within(SHORT) } else { within(stop, SHARE) };
        let mut done = 0;
        for part in all.chunks(in_part.max(1)) {
            // The first part is for every pair.
            if done > 0 && limit.is_over() {
                break;
            }
            self.put(part)?;
            let turns = copy.as_ref().map(|_| standing(self.standings));
            for scheme in 0..self.recipes.len() {
                let found = self.one_scheme(scheme, turns.as_deref());
                settle(self.standings, scheme, found, part.len() as u64);
                let share = part.len() as u64 * (scheme as u64 + 1) / self.recipes.len() as u64;
                let of = all.len() as u64;
                (self.events)(PagesEvent::Verifying { done: done + share, of });
            }
            if let Some(copy) = &mut copy {
                hand_on(store, self.stage, part, copy).map_err(PagesError::Copy)?;
            }
            done += part.len() as u64;
        }
        // One that an interrupt has cut off goes.
        let copy = copy.filter(|_| done == all.len() as u64);
        copy.map_or(Ok(()), |copy| copy.finish(store).map_err(PagesError::Copy))
    }

    fn put(&mut self, pages: &[PageRef]) -> Result<(), PagesError> {
        self.stage.put(self.store, pages)?;
        let mut libraries: Vec<usize> =
            standing(self.standings).into_iter().map(|(library, _)| library).collect();
        libraries.dedup();
        for library in libraries {
            let loaded = self.workers.load(library, self.stage.pages, self.store.page_size());
            if let Err(finding) = loaded {
                for ((l, _), standing) in self.standings.iter_mut() {
                    if *l == library && standing.outcome.is_ok() {
                        standing.outcome = Err(finding.clone());
                    }
                }
            }
        }
        Ok(())
    }

    fn standing_of(&self, scheme: usize) -> Vec<usize> {
        let own = standing(self.standings).into_iter().filter(|pair| pair.1 == scheme);
        own.map(|pair| pair.0).collect()
    }

    /// One scheme in all libraries at once: none of it is timed.
    fn one_scheme(&mut self, scheme: usize, turns: Option<&[Pair]>) -> Found {
        let own = self.standing_of(scheme);
        for library in &own {
            self.workers.back(*library, self.stage.pages, self.store.page_size());
            let slot = |turns: &[Pair]| {
                Some((turns.len(), turns.iter().position(|pair| *pair == (*library, scheme))?))
            };
            let (recipe, copy) = (self.recipes[scheme].clone(), turns.and_then(slot));
            let job = VerifyJob { recipe, seed: self.seed, copy };
            self.workers.ask(*library, PageJob::Verify(job));
        }
        let answer = |library: usize| {
            let found = self.workers.answer(library);
            let found = found.and_then(|answer| match answer {
                PageAnswer::Verified { digest, sum_by } => Ok((digest, sum_by)),
                _ => Err(Finding::failed("answered something else")),
            });
            (library, found)
        };
        own.into_iter().map(answer).collect()
    }

    /// Changes pages of every pair that stands, so many of each kind, and sees what is noticed.
    pub(crate) fn probe(&mut self, count: u32) -> Result<Vec<Probed>, PagesError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let most = (PART / self.store.page_size()) as u64;
        self.put(&self.store.heads(most.min(1024), 8))?;
        let mut probed = Vec::new();
        let share = within(self.workers.stop, SHARE);
        for (scheme, recipe) in self.recipes.iter().enumerate() {
            if share.is_over() {
                break;
            }
            let own = self.standing_of(scheme);
            for library in &own {
                self.workers.back(*library, self.stage.pages, self.store.page_size());
                let job = ProbeJob { recipe: recipe.clone(), seed: self.seed, count };
                self.workers.ask(*library, PageJob::Probe(job));
            }
            for library in own {
                match self.workers.answer(library).and_then(counts) {
                    Ok(counts) => probed.push(judge(library, recipe, counts)),
                    // What is only not probed is proven all the same.
                    Err(finding) if finding.stopped.is_some() => {}
                    Err(finding) => {
                        if let Some(standing) = self.standings.get_mut(&(library, scheme)) {
                            standing.outcome = Err(finding);
                        }
                    }
                }
            }
            let (done, of) = (scheme as u64 + 1, self.recipes.len() as u64);
            (self.events)(PagesEvent::Probing { done, of });
        }
        Ok(probed)
    }
}

/// All pages in random order, but for runs of neighbours: where the time is up, those before are a sample.
fn drawn(store: &Store, seed: u64) -> Vec<PageRef> {
    let all: Vec<PageRef> = store.all().collect();
    let mut runs: Vec<&[PageRef]> = all.chunks(RUN).collect();
    runs.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    runs.concat()
}

fn standing(standings: &Standings) -> Vec<Pair> {
    standings.iter().filter(|(_, s)| s.outcome.is_ok()).map(|(pair, _)| *pair).collect()
}

type Found = Vec<(usize, Result<(String, Option<String>), Finding>)>;

/// Holds the libraries' digests of one part against each other: who is outvoted is refused.
fn settle(standings: &mut Standings, scheme: usize, found: Found, pages: u64) {
    let mut votes: HashMap<String, u64> = HashMap::new();
    for (_, found) in &found {
        if let Ok((digest, _)) = found {
            *votes.entry(digest.clone()).or_default() += 1;
        }
    }
    let most = votes.values().copied().max().unwrap_or(0);
    for (library, found) in found {
        let Some(standing) = standings.get_mut(&(library, scheme)) else { continue };
        match found {
            Ok((digest, sum_by)) if votes[&digest] == most => {
                standing.pages += pages;
                standing.agreeing = standing.agreeing.min(most);
                standing.digest += &digest;
                standing.sum_by = sum_by;
            }
            Ok(_) => {
                standing.outcome = Err(Finding::refused(format!(
                    "cross-library: {most} libraries agree on other bytes for the same pages"
                )));
            }
            Err(finding) => standing.outcome = Err(finding),
        }
    }
}

fn hand_on(store: &Store, stage: &Stage, part: &[PageRef], copy: &mut Copy) -> Result<(), String> {
    let mut page = vec![0; store.page_size()];
    for (i, reference) in part.iter().enumerate() {
        stage
            .decrypted(i, &mut page)
            .map_err(|e| format!("page {i} was not handed on by the library in turn: {e}"))?;
        copy.put(store, *reference, &page)?;
    }
    Ok(())
}

fn counts(answer: PageAnswer) -> Result<Vec<ProbeCounts>, Finding> {
    match answer {
        PageAnswer::Probed { counts } => Ok(counts),
        _ => Err(Finding::failed("answered something else")),
    }
}

/// What the record says of all pairs.
pub(crate) fn verdicts(standings: &Standings, recipes: &[Recipe]) -> Vec<Verified> {
    let one = |((library, scheme), standing): (&Pair, &Standing)| {
        let (state, reason, stopped) = match &standing.outcome {
            Ok(()) => (State::Measured, None, None),
            Err(finding) => (finding.state, Some(finding.why.clone()), finding.stopped),
        };
        let proven = standing.pages > 0;
        let hash = xxhash_rust::xxh3::xxh3_128(standing.digest.as_bytes());
        Verified {
            library: *library,
            scheme: recipes[*scheme].scheme.clone(),
            state,
            reason,
            stopped,
            pages: standing.pages,
            agreeing: if proven { standing.agreeing } else { 0 },
            digest: proven.then(|| format!("{hash:032x}")),
            sum_by: standing.sum_by.clone(),
        }
    };
    standings.iter().map(one).collect()
}

// One worker for each library, started when it is needed and again when it has died.

/// One part of the store through one scheme in the slowest library, with as many workers at it as there
/// are libraries.
const SCHEME_DEADLINE: Duration = Duration::from_secs(300);

pub(crate) struct Workers<'a> {
    libraries: &'a [Attached],
    tier: Tier,
    files: PageFiles,
    /// What ends a wait.
    pub(crate) stop: &'a Stop,
    workers: Vec<Option<Worker>>,
}

impl<'a> Workers<'a> {
    pub(crate) fn new(
        libraries: &'a [Attached],
        tier: Tier,
        files: PageFiles,
        stop: &'a Stop,
    ) -> Self {
        let workers = libraries.iter().map(|_| None).collect();
        Self { libraries, tier, files, stop, workers }
    }

    pub(crate) fn load(
        &mut self,
        library: usize,
        pages: usize,
        page_size: usize,
    ) -> Result<(), Finding> {
        if self.workers[library].is_none() {
            let hello = self.libraries[library].hello(self.tier, None, 0, 0);
            let hello = Hello { pages: Some(self.files), ..hello };
            let worker = Worker::start(hello).map_err(|e| Finding::failed(e.to_string()))?;
            self.workers[library] = Some(worker);
        }
        self.ask(library, PageJob::Load(Staging { pages, page_size }));
        self.answer(library).map(|_| ())
    }

    /// Starts a library's worker again if it died in another scheme: that one's fault is not the next one's. What does not
    /// start is told when it is asked.
    fn back(&mut self, library: usize, pages: usize, page_size: usize) {
        if self.workers[library].is_none() && self.stop.why().is_none() {
            let _ = self.load(library, pages, page_size);
        }
    }

    pub(crate) fn ask(&mut self, library: usize, job: PageJob) {
        if let Some(worker) = &mut self.workers[library] {
            worker.send(&Request::Pages(Box::new(job)));
        }
    }

    /// Waits for the answer; a worker that does not give one is gone.
    pub(crate) fn answer(&mut self, library: usize) -> Result<PageAnswer, Finding> {
        let worker = &mut self.workers[library];
        let left_out = |why| Finding::left_out(why, "proven");
        let Some(alive) = worker else {
            let dead = || Finding::failed("its worker died in another scheme");
            return Err(self.stop.why().map_or_else(dead, left_out));
        };
        let dead = match alive.reply_unless(self.stop, SCHEME_DEADLINE) {
            Ok(Reply::Pages(answer)) => return Ok(*answer),
            Ok(Reply::Finding(finding)) => return Err(finding),
            Ok(other) => out_of_protocol(&other),
            Err(dead) => dead,
        };
        *worker = None;
        let stopped = self.stop.why().filter(|_| matches!(dead, WorkerError::Interrupted));
        Err(stopped.map_or_else(|| Finding::failed(dead.to_string()), left_out))
    }
}

// Files that workers open in this process: staged pages in memory, and files on a disk to read and write.

/// Bytes of pages that are staged at once: a worker takes them into memory, and may write no file
/// that is larger.
pub(crate) const PART: usize = 32 << 20;

/// The files. No program that is started inherits them.
pub(crate) struct Stage {
    plain: File,
    places: File,
    out: File,
    scratch: Option<File>,
    log: Option<File>,
    pub(crate) pages: usize,
}

impl Stage {
    pub(crate) fn new(scratch: Option<&Path>) -> io::Result<Self> {
        let memory = |name: &str| -> io::Result<File> {
            Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
        };
        let disk =
            || -> io::Result<Option<File>> { scratch.map(tempfile::tempfile_in).transpose() };
        let log = disk()?;
        if let Some(log) = &log {
            // Its space is taken beforehand, as that of a segment is.
            log.write_all_at(&vec![0; LOG_BYTES as usize], 0)?;
            log.sync_all()?;
        }
        Ok(Self {
            plain: memory("pages")?,
            places: memory("places")?,
            out: memory("out")?,
            scratch: disk()?,
            log,
            pages: 0,
        })
    }

    /// Their numbers, for a worker; with a page's size, one that is to take what is staged into memory at once.
    pub(crate) fn files(&self, page_size: Option<usize>) -> PageFiles {
        PageFiles {
            owner: std::process::id(),
            plain: self.plain.as_raw_fd(),
            places: self.places.as_raw_fd(),
            out: self.out.as_raw_fd(),
            scratch: self.scratch.as_ref().map(|f| f.as_raw_fd()),
            log: self.log.as_ref().map(|f| f.as_raw_fd()),
            staged: page_size.map(|page_size| Staging { pages: self.pages, page_size }),
        }
    }

    /// Stages these pages in the place of those before.
    pub(crate) fn put(&mut self, store: &Store, pages: &[PageRef]) -> Result<(), StoreError> {
        let failed =
            |e: io::Error| StoreError::Read { path: "staged pages".into(), why: e.to_string() };
        let mut page = vec![0; store.page_size()];
        let mut places: Vec<u8> =
            Vec::with_capacity(pages.len() * record::at_rest::scheme::POSITION_BYTES);
        for (i, reference) in pages.iter().enumerate() {
            let at: Position = store.read(*reference, &mut page)?;
            self.plain.write_all_at(&page, (i * page.len()) as u64).map_err(failed)?;
            places.extend(at.to_bytes());
        }
        self.places.write_all_at(&places, 0).map_err(failed)?;
        self.out.set_len(0).map_err(failed)?;
        self.pages = pages.len();
        Ok(())
    }

    /// A page that a worker has left decrypted.
    pub(crate) fn decrypted(&self, i: usize, to: &mut [u8]) -> io::Result<()> {
        self.out.read_exact_at(to, (i * to.len()) as u64)
    }
}

// A copy of a store whose pages have been encrypted and decrypted: everything else as it was.

/// A copy under construction, which nobody else can read: its place is a directory or file of its own beside the one
/// that it is for, and becomes that one when all pages are in it. Its page files begin empty, so that no page gets
/// there but by decryption.
pub(crate) struct Copy {
    to: PathBuf,
    place: PathBuf,
    whole: bool,
    open: Option<(String, File)>,
}

/// A part of a copy is no use to anybody: a resumed run begins another.
impl Drop for Copy {
    fn drop(&mut self) {
        // Renamed away where it is whole.
        let _ = remove_own(&self.place);
    }
}

impl Copy {
    /// Begins a copy of a directory's or a file's store. What a run that was killed left of the same copy is removed.
    pub(crate) fn begin(store: &Store, to: &Path) -> Result<Self, String> {
        if to.symlink_metadata().is_ok() {
            return Err(format!("'{}' exists already: name a new path", to.display()));
        }
        let mut place = to.as_os_str().to_owned();
        place.push(".ciphermark-copy");
        let place = PathBuf::from(place);
        let failed = |e: io::Error| format!("cannot write '{}': {e}", place.display());
        remove_own(&place).map_err(failed)?;
        let mut copy = Self { to: to.to_owned(), place: place.clone(), whole: false, open: None };
        copy.whole = match store.kind() {
            Kind::Postgres => {
                let pages: Vec<&str> = store.file_names().collect();
                if pages.iter().any(|name| name.starts_with("pg_tblspc/")) {
                    return Err(
                        "the store has tablespaces elsewhere, which a copy would share".into()
                    );
                }
                directory(store.root(), &place, "", &pages).map_err(failed)?;
                true
            }
            Kind::Sqlite | Kind::Image => {
                // The store's own mode comes with its name.
                let (_, file) = copied(&store.root().canonicalize().map_err(failed)?, &place)
                    .map_err(failed)?;
                let whole = store.pages() * store.page_size() as u64;
                // The pages go, a rest that is no whole page stays.
                let zeros = vec![0; store.page_size()];
                for at in (0..whole).step_by(store.page_size()) {
                    file.write_all_at(&zeros, at).map_err(failed)?;
                }
                false
            }
            Kind::Synthetic => return Err("a store made of a seed has no files to copy".into()),
        };
        Ok(copy)
    }

    pub(crate) fn finish(self, store: &Store) -> Result<(), String> {
        let failed = |e: io::Error| format!("cannot write '{}': {e}", self.to.display());
        let mode = access(&fs::metadata(store.root()).map_err(failed)?);
        fs::set_permissions(&self.place, mode).map_err(failed)?;
        let (from, to) = (&self.place, &self.to);
        let renamed = renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE);
        match renamed {
            Err(Errno::INVAL | Errno::NOSYS) if to.symlink_metadata().is_err() => {
                fs::rename(from, to).map_err(failed)
            }
            other => other.map_err(|e| failed(e.into())),
        }
    }

    pub(crate) fn put(&mut self, store: &Store, page: PageRef, bytes: &[u8]) -> Result<(), String> {
        let (name, offset) = store.place_in_file(page);
        let path = if self.whole { self.place.join(name) } else { self.place.clone() };
        let failed = |e: io::Error| format!("cannot write '{}': {e}", path.display());
        if self.open.as_ref().is_none_or(|(open, _)| open != name) {
            // A stranger's store may have become a link since its files were listed.
            let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
            let opened = File::options().write(true).custom_flags(flags).open(&path);
            let file = opened.map_err(failed)?;
            self.open = Some((name.to_owned(), file));
        }
        let (_, file) = self.open.as_ref().expect("it was just opened");
        file.write_all_at(bytes, offset).map_err(failed)
    }
}

fn remove_own(place: &Path) -> io::Result<()> {
    let Ok(found) = place.symlink_metadata() else { return Ok(()) };
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("somebody else has made it"));
    }
    if found.is_dir() { fs::remove_dir_all(place) } else { fs::remove_file(place) }
}

/// Copies a directory with its modes; of files with pages only the names. `to` itself stays closed to others.
fn directory(from: &Path, to: &Path, name: &str, pages: &[&str]) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let inner = if name.is_empty() { file.clone() } else { format!("{name}/{file}") };
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            directory(&source, &target, &inner, pages)?;
            fs::set_permissions(&target, access(&fs::metadata(&source)?))?;
        } else if kind.is_file() && pages.contains(&&*inner) {
            created(&target)?.set_permissions(access(&fs::metadata(&source)?))?;
        } else if kind.is_file() {
            let (source, target) = copied(&source, &target)?;
            target.set_permissions(access(&source.metadata()?))?;
        } else if kind.is_symlink() {
            let below = format!("{inner}/");
            if pages.iter().any(|page| page.starts_with(&below) || *page == inner) {
                let why = "is a link to elsewhere, which a copy would share";
                return Err(io::Error::other(format!("'{}' {why}", source.display())));
            }
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        }
    }
    Ok(())
}

/// Who may read, write and execute; not as whom: a stranger's file that ran as its owner would run as the copy's.
fn access(of: &fs::Metadata) -> fs::Permissions {
    fs::Permissions::from_mode(of.mode() & 0o777)
}

fn created(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

fn copied(from: &Path, to: &Path) -> io::Result<(File, File)> {
    // What was listed as a file may be a pipe or a link by now.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut source =
        File::options().read(true).custom_flags(flags.bits().cast_signed()).open(from)?;
    if !source.metadata()?.is_file() {
        return Err(io::Error::other(format!("'{}' is no file any more", from.display())));
    }
    let mut target = created(to)?;
    io::copy(&mut source, &mut target)?;
    Ok((source, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_outvoted_is_refused_and_who_is_alone_is_not() {
        let fresh = || Standing::new(Ok(()));
        let mut standings: Standings =
            [(0, 1), (1, 1), (2, 1), (3, 2)].map(|pair| (pair, fresh())).into();
        let said = |digest: &str| Ok((digest.to_owned(), None));
        settle(&mut standings, 1, vec![(0, said("a")), (1, said("b")), (2, said("a"))], 10);
        settle(&mut standings, 2, vec![(3, said("c"))], 10);
        assert!(standings[&(0, 1)].outcome.is_ok() && standings[&(3, 2)].outcome.is_ok());
        let refused = standings[&(1, 1)].outcome.as_ref().unwrap_err();
        assert_eq!(refused.state, State::Refused);
        assert!(refused.why.contains("2 libraries agree"), "{}", refused.why);
        assert_eq!((standings[&(2, 1)].pages, standings[&(2, 1)].agreeing), (10, 2));
    }

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o777
    }

    fn store(directory: &Path) -> Store {
        let path = directory.join("image");
        fs::write(&path, vec![7; 3 * 4096 + 5]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        Store::open(&path, Some(4096)).unwrap()
    }

    #[test]
    fn a_copy_is_nobody_elses_until_it_is_whole_and_has_its_name_only_then() {
        let directory = tempfile::tempdir().unwrap();
        let (store, to) = (store(directory.path()), directory.path().join("copy"));
        let mut copy = Copy::begin(&store, &to).unwrap();
        assert_eq!((mode(&copy.place), to.exists()), (0o600, false));
        for page in store.all() {
            copy.put(&store, page, &[7; 4096]).unwrap();
        }
        assert_eq!((mode(&copy.place), to.exists()), (0o600, false));
        copy.finish(&store).unwrap();
        assert_eq!((mode(&to), fs::read(&to).unwrap()), (0o640, vec![7; 3 * 4096 + 5]));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_part_of_a_copy_is_removed_and_what_a_killed_run_left_is_in_nobodys_way() {
        let directory = tempfile::tempdir().unwrap();
        let (store, to) = (store(directory.path()), directory.path().join("copy"));
        std::mem::forget(Copy::begin(&store, &to).unwrap());
        drop(Copy::begin(&store, &to).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        // A link that leads nowhere would have been followed.
        std::os::unix::fs::symlink(directory.path().join("victim"), &to).unwrap();
        let why = Copy::begin(&store, &to).map(drop).unwrap_err();
        assert!(why.contains("exists already"), "{why}");
        assert!(!directory.path().join("victim").exists());
    }

    #[test]
    fn a_directory_is_closed_before_anything_is_in_it_and_files_have_their_modes() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        fs::create_dir_all(from.join("base")).unwrap();
        for (name, bits) in [("base/1", 0o600), ("base/2", 0o644), ("version", 0o640)] {
            fs::write(from.join(name), name).unwrap();
            fs::set_permissions(from.join(name), fs::Permissions::from_mode(bits)).unwrap();
        }
        fs::set_permissions(&from, fs::Permissions::from_mode(0o755)).unwrap();
        super::directory(&from, &to, "", &["base/1"]).unwrap();
        assert_eq!(mode(&to), 0o700, "until the copy is whole");
        for (name, bits, text) in
            [("base/1", 0o600, ""), ("base/2", 0o644, "base/2"), ("version", 0o640, "version")]
        {
            let path = to.join(name);
            assert_eq!((mode(&path), &*fs::read_to_string(path).unwrap()), (bits, text), "{name}");
        }
    }

    /// Else each page would be written where the link leads.
    #[test]
    fn pages_behind_a_link_are_not_copied() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        let elsewhere = directory.path().join("elsewhere");
        fs::create_dir_all(&from).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, from.join("base")).unwrap();
        let why = super::directory(&from, &to, "", &["base/1"]).unwrap_err();
        assert!(why.to_string().contains("is a link to elsewhere"), "{why}");
        // What no page lies behind is copied as it is.
        fs::remove_dir_all(&to).unwrap();
        super::directory(&from, &to, "", &["global/1"]).unwrap();
        assert_eq!(fs::read_link(to.join("base")).unwrap(), elsewhere);
    }
}
