//! A run over a page store, from what was asked for to its record: staged part by part, proven, changed, and
//! timed on the schedule that everything is timed on.

mod prices;
mod proof;

use crate::cpus::{measuring_cpu, placed_cpus};
use crate::evidence::{Operation, leave_their_tier};
use crate::kinds::{Page, Subject};
use crate::libraries::{Attached, at_tiers};
use crate::plan::{self, Budget};
use crate::pool::Source;
use crate::progress::{self, CaseProgress, End, Event};
use crate::protocol::{Finding, PageVisit};
use crate::survey::{Ended, Keeping, SampledRun, Sampling, SurveyError, sample_all};
use crate::time::Stop;
use crate::verification::{Extra, verify_all, was_found};
use base::model::{Algorithm, Direction, Model, RANDOM, RANDOM_NONCE, Tier};
pub use prices::Pairs;
use prices::WINDOW;
use prices::{Kept, PriceList};
use probe::Clock;
use proof::{Copy, PART, Proof, Stage, Standing, Standings, Workers, verdicts};
use record::at_rest::scheme::{NonceRule, Profile, Recipe, Sum};
use record::at_rest::store::{Scan, Store, StoreError};
use record::at_rest::{
    Cell, CellKey, CellSamples, FORMAT_VERSION, KIND, Keying, Medium, Nonces, PageStore,
    PagesRecord, ProfileFacts, Scale, Seen, Snapshot, Timing, cell, nonces, scheme_facts,
    set_over_none,
};
use record::{Host, Journal, JournalHead};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug)]
pub struct PagesPlan {
    /// The schemes, `none` first.
    pub recipes: Vec<Recipe>,
    /// The real system whose way they are.
    pub profile: Option<Profile>,
    /// Where pages come from and go to; none: no time is taken.
    pub media: Vec<Medium>,
    pub threads: Vec<u32>,
    pub tier: Tier,
    /// Keys, nonces of verification and orders come from it.
    pub seed: u64,
    pub budget: Duration,
    /// Half the width of the interval at which sampling of a cell ends, as a fraction.
    pub precision: f64,
    pub command: Vec<String>,
    pub pages_per_visit: usize,
    /// Probes of each kind; 0: none.
    pub probes: u32,
    /// Directory for files to read and write.
    pub scratch: PathBuf,
    pub copy_to: Option<PathBuf>,
    pub stop: Stop,
    /// Prices alone; all pairs and media where there is nothing.
    pub priced: Option<Priced>,
}

/// Which prices are asked for: one page after the other in memory, from the price list as far as it has them.
#[derive(Debug)]
pub struct Priced {
    pub pairs: Pairs,
    /// Whether all are measured, whatever the list has.
    pub is_fresh: bool,
}

impl PagesPlan {
    fn takes(&self, library: usize, recipe: &Recipe) -> bool {
        let is_it = |(l, scheme): &(usize, String)| (*l, scheme) == (library, &recipe.scheme);
        self.priced.as_ref().is_none_or(|priced| priced.pairs.iter().any(is_it))
    }

    fn scratch(&self) -> Option<&Path> {
        self.media.iter().any(|m| m.has_io()).then_some(&*self.scratch)
    }
}

#[derive(Clone, Copy, Debug)]
pub enum PagesEvent<'a> {
    Reading {
        done: u64,
        of: u64,
    },
    /// Standard checks done.
    Checking {
        done: u64,
        of: u64,
    },
    /// Pages through all libraries and schemes.
    Verifying {
        done: u64,
        of: u64,
    },
    Probing {
        done: u64,
        of: u64,
    },
    Timing(Event<'a>),
}

type Events<'a> = &'a (dyn Fn(PagesEvent<'_>) + Sync);

#[derive(Debug, thiserror::Error)]
pub enum PagesError {
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("cannot make a file in '{path}': {why}; name another directory with --scratch")]
    Scratch { path: PathBuf, why: String },
    /// The decrypted copy.
    #[error("--decrypt-to: {0}")]
    Copy(String),
    #[error("interrupted while the store was read: nothing was measured")]
    Interrupted,
    #[error("no library that was selected has any of the schemes; see `ciphermark list libraries`")]
    Nothing,
    /// The earlier part of the run does not fit, or the journal cannot be begun.
    #[error("{0}")]
    Sampling(#[from] SurveyError),
}

/// Verifies, probes and times page schemes over a store. `is_open` is asked of a record whose prices are all from the
/// list: where a question is open, those that are known widely are measured again.
pub fn run(
    plan: &PagesPlan,
    store: &Store,
    snapshots: &[Store],
    libraries: &[Attached],
    keeping: Keeping,
    is_open: &dyn Fn(&PagesRecord) -> bool,
    events: Events<'_>,
) -> Result<Ended<PagesRecord>, PagesError> {
    let began = jiff::Timestamp::now().to_string();
    let libraries = &*at_tiers(libraries, &[plan.tier]);
    let copy = plan.copy_to.as_deref().map(|to| Copy::begin(store, to).map_err(PagesError::Copy));
    let copy = copy.transpose()?;
    let mut stage = Stage::new(plan.scratch())
        .map_err(|e| PagesError::Scratch { path: plan.scratch.clone(), why: e.to_string() })?;
    let scan = first_scan(plan, store, events)?;
    is_unchanged(&keeping, &scan)?;
    let (nonces, others) = try_nonces(plan, store, snapshots, &scan, events)?;
    let list = PriceList::of(plan, libraries, store.page_size());
    let Checked { mut standings, generators } = checked(plan, libraries, &list, events);
    if standings.values().all(|s| s.outcome.is_err()) {
        return Err(PagesError::Nothing);
    }
    let mut proof = Proof {
        store,
        recipes: &plan.recipes,
        workers: Workers::new(libraries, plan.tier, stage.files(None), &plan.stop),
        stage: &mut stage,
        standings: &mut standings,
        seed: plan.seed,
        events,
    };
    proof.verify(copy, plan.priced.is_some())?;
    let probes = proof.probe(plan.probes)?;
    // Workers that timing starts have the machine to themselves.
    drop(proof);
    let document = |timed: Timed, after: Option<Scan>| PagesRecord {
        kind: KIND.to_owned(),
        format_version: FORMAT_VERSION.to_owned(),
        tool: record::Tool::here(plan.command.clone()),
        started: timed.started,
        host: timed.host,
        store: PageStore { snapshots: others.clone(), ..page_store(store, &scan, after) },
        profile: plan.profile.as_ref().map(profile_facts),
        tier: plan.tier,
        seed: plan.seed,
        libraries: libraries.iter().map(|l| l.facts.clone()).collect(),
        schemes: plan.recipes.iter().map(scheme_facts).collect(),
        verified: verdicts(&standings, &plan.recipes),
        probes: probes.clone(),
        nonces: nonces.clone(),
        timing: timed.timing,
        cells: timed.cells,
    };
    let before = Before {
        began,
        sha256: &scan.sha256,
        standings: &standings,
        generators: &generators,
        is_open: &|timed| is_open(&record::shared(document(timed, None))),
    };
    let mut timed = timed(plan, store, &list, &mut stage, &before, keeping, events)?;
    let journal = timed.journal.take();
    let interrupted = timed.timing.is_some() && plan.stop.is_interrupted();
    // Nothing is read again where somebody waits for the end.
    let of = scan.pages;
    let after = read(store, false, events, &|done| done < of && !plan.stop.is_interrupted())?;
    let after = Some(after).filter(|after| after.pages >= of);
    Ok(Ended { document: record::shared(document(timed, after)), interrupted, journal })
}

/// Samples of two states of a store are never mixed.
fn is_unchanged(keeping: &Keeping, now: &Scan) -> Result<(), SurveyError> {
    let then = keeping.earlier.as_ref().and_then(|kept| kept.head.store.as_ref());
    match then.filter(|then| **then != now.sha256) {
        Some(then) => Err(SurveyError::Resume(format!(
            "the store has changed: its SHA-256 was {then} and is {}; run again without --resume",
            now.sha256
        ))),
        None => Ok(()),
    }
}

/// What is known before time is taken.
struct Before<'a> {
    /// When the run began, RFC 3339.
    began: String,
    /// Of the store.
    sha256: &'a str,
    standings: &'a Standings,
    generators: &'a Generators,
    /// Whether prices that are all from the list leave a question open.
    is_open: &'a dyn Fn(Timed) -> bool,
}

fn timed(
    plan: &PagesPlan,
    store: &Store,
    list: &PriceList<'_>,
    stage: &mut Stage,
    before: &Before<'_>,
    keeping: Keeping,
    events: Events<'_>,
) -> Result<Timed, PagesError> {
    let libraries = list.libraries;
    if plan.media.is_empty() {
        let (host, journal) = (host(libraries), keeping.journal);
        let started = before.began.clone();
        return Ok(Timed { started, host, timing: None, cells: Vec::new(), journal });
    }
    let bytes = if plan.priced.is_some() { WINDOW } else { PART };
    let window = bytes / store.page_size();
    let mut pages = store.spread(window as u64, 16);
    if plan.priced.is_some() {
        // A price hangs on the room that pages come from, so a small store's are repeated.
        pages = pages.iter().copied().cycle().take(window).collect();
    }
    stage.put(store, &pages)?;
    let cpus = &*placed_cpus();
    let page_size = store.page_size();
    let scene = Scene { plan, libraries, before, list, cpus, stage, page_size };
    time(&scene, keeping, events)
}

/// The share of the time for prices that reading a store may take: they are of a page, not of all pages.
const READING: f64 = 0.1;

/// Reads the store; for prices alone as much of it as there is time for.
fn first_scan(plan: &PagesPlan, store: &Store, events: Events<'_>) -> Result<Scan, PagesError> {
    if plan.priced.is_none() {
        return whole_scan(plan, store, events);
    }
    let limit = within(&plan.stop, READING);
    Ok(read(store, true, events, &|_| !limit.is_over())?)
}

fn whole_scan(plan: &PagesPlan, store: &Store, events: Events<'_>) -> Result<Scan, PagesError> {
    let scan = read(store, true, events, &|_| !plan.stop.is_interrupted())?;
    match plan.stop.is_interrupted() {
        true => Err(PagesError::Interrupted),
        false => Ok(scan),
    }
}

/// Reads pages while `goes_on`, which is told how many were read.
fn read(
    store: &Store,
    keep: bool,
    events: Events<'_>,
    goes_on: &dyn Fn(u64) -> bool,
) -> Result<Scan, StoreError> {
    let of = store.pages();
    store.scan(keep, &mut |done| {
        events(PagesEvent::Reading { done, of });
        goes_on(done)
    })
}

/// Nonces over all states of the store, and what the other states are.
fn try_nonces(
    plan: &PagesPlan,
    store: &Store,
    snapshots: &[Store],
    own: &Scan,
    events: Events<'_>,
) -> Result<(Nonces, Vec<Snapshot>), PagesError> {
    let (mut stores, mut scans, mut others) = (vec![store], vec![own.clone()], Vec::new());
    for snapshot in snapshots {
        let found = whole_scan(plan, snapshot, events)?;
        others.push(Snapshot {
            name: file_name(snapshot.root()),
            pages: found.pages,
            sha256: found.sha256.clone(),
        });
        stores.push(snapshot);
        scans.push(found);
    }
    let seen: Vec<Seen> = scans
        .iter()
        .enumerate()
        .flat_map(|(snapshot, scan)| {
            scan.sightings.iter().enumerate().map(move |(page, s)| Seen {
                snapshot,
                page,
                position: s.position,
                content: s.content,
            })
        })
        .collect();
    let name = |seen: &Seen| {
        let page = scans[seen.snapshot].sightings[seen.page].page;
        let lsn = seen.position.version;
        let place = stores[seen.snapshot].describe(page);
        format!("{place} (state {}, LSN {:X}/{:X})", seen.snapshot, lsn >> 32, lsn & 0xffff_ffff)
    };
    Ok((nonces(&plan.recipes, &seen, store.has_versions(), &name), others))
}

/// Each library's generator for nonces, where it has one that passes every check; the system's is asked elsewhere.
type Generators = BTreeMap<usize, &'static str>;

fn generator(library: &Attached, tier: Tier) -> Option<&'static str> {
    let offers = library.offers_at(tier).ok()?;
    [RANDOM_NONCE, RANDOM].into_iter().find(|name| {
        offers.iter().any(|o| o.algorithm == *name && o.models.contains(&Model::Message))
    })
}

/// The MAC beside a cipher, where it is the library's own and not built in.
fn mac(library: &Attached, tier: Tier, recipe: &Recipe) -> Option<&'static str> {
    let sum = recipe.sum.filter(|sum| sum.is_mac())?;
    let offers = library.offers_at(tier).ok()?;
    let mut own = offers.iter().filter(|o| o.algorithm == sum.name());
    own.any(|o| o.models.contains(&Model::Message)).then_some(sum.name())
}

/// What passed the standard checks.
struct Checked {
    standings: Standings,
    generators: Generators,
}

/// Every pair that can be, after the standard checks of its cipher, its MAC and the generator that its nonces are drawn from.
fn checked(
    plan: &PagesPlan,
    libraries: &[Attached],
    list: &PriceList<'_>,
    events: Events<'_>,
) -> Checked {
    let mut standings = Standings::new();
    let mut subjects = BTreeSet::new();
    let is_none = |scheme: usize| plan.recipes[scheme].cipher.is_none();
    for (l, library) in libraries.iter().enumerate() {
        for (s, recipe) in plan.recipes.iter().enumerate() {
            let Some(algorithm) = recipe.algorithm() else { continue };
            if !plan.takes(l, recipe) {
                continue;
            }
            let outcome = offered(library, plan.tier, algorithm);
            let parts = || std::iter::once(algorithm.name).chain(mac(library, plan.tier, recipe));
            // What has a price has passed the checks, in this build and by this program; another command may have found more.
            let is_passed = list.is_settled(l, s) && !parts().any(|part| was_found(library, part));
            if outcome.is_ok() && !is_passed {
                subjects.extend(parts().map(|part| (l, part)));
                let draws = recipe.nonce == NonceRule::Random;
                subjects.extend(generator(library, plan.tier).filter(|_| draws).map(|g| (l, g)));
            }
            standings.insert((l, s), Standing::new(outcome));
        }
        // Of a price list one library's touch of a page stands for all.
        let is_touched = plan.priced.is_some() && standings.keys().any(|(_, s)| is_none(*s));
        if !is_touched && standings.iter().any(|((of, _), s)| *of == l && s.outcome.is_ok()) {
            for (s, _) in plan.recipes.iter().enumerate().filter(|(_, r)| r.cipher.is_none()) {
                standings.insert((l, s), Standing::new(Ok(())));
            }
        }
    }
    let generators = check(plan, libraries, &subjects, &mut standings, events);
    Checked { standings, generators }
}

fn offered(library: &Attached, tier: Tier, algorithm: &Algorithm) -> Result<(), Finding> {
    let offers = library.offers_at(tier)?;
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let offer = plan::offer(offers, algorithm, direction);
        if !offer.is_some_and(|o| o.models.contains(&Model::Message)) {
            let reason = offer.and_then(|o| o.reason.clone());
            let why = reason.unwrap_or_else(|| format!("the library does not offer {algorithm}"));
            return Err(Finding::unsupported(why));
        }
    }
    Ok(())
}

/// The same end, and that of a share of what is left until then; none where it has none.
fn within(stop: &Stop, share: f64) -> Stop {
    stop.left().map_or_else(|| stop.clone(), |left| stop.within(left.mul_f64(share)))
}

fn check(
    plan: &PagesPlan,
    libraries: &[Attached],
    subjects: &BTreeSet<(usize, &'static str)>,
    standings: &mut Standings,
    events: Events<'_>,
) -> Generators {
    let asked: Vec<crate::verification::Subject> = subjects
        .iter()
        .filter_map(|(l, name)| Algorithm::find(name).ok().map(|a| (*l, plan.tier, a)))
        .collect();
    let done = std::sync::atomic::AtomicU64::new(0);
    let step = || {
        let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        events(PagesEvent::Checking { done, of: asked.len() as u64 });
    };
    // Every page of the store is verified as well, so the page's size is.
    let extra = Extra { seed: plan.seed, sizes: &[], cases: &[], before_a_run: true };
    let mut generators = Generators::new();
    for verdict in verify_all(libraries, &asked, extra, &within(&plan.stop, 0.35), &step) {
        let Err(finding) = verdict.outcome else {
            if [RANDOM_NONCE, RANDOM].contains(&verdict.algorithm) {
                generators.insert(verdict.library, verdict.algorithm);
            }
            continue;
        };
        refuse(plan, standings, verdict.library, verdict.algorithm, &finding);
    }
    let operations: Vec<Operation> = asked
        .iter()
        .flat_map(|(library, tier, algorithm)| {
            Direction::of(algorithm.kind).iter().map(|direction| Operation {
                library: *library,
                tier: *tier,
                algorithm: algorithm.name.to_owned(),
                direction: *direction,
                model: Model::Message,
            })
        })
        .collect();
    for (one, finding) in leave_their_tier(libraries, &operations, &within(&plan.stop, 0.35)) {
        refuse(plan, standings, one.library, &one.algorithm, &finding);
    }
    generators
}

/// Takes every scheme with this part in this library away.
fn refuse(
    plan: &PagesPlan,
    standings: &mut Standings,
    library: usize,
    part: &str,
    finding: &Finding,
) {
    for ((of, scheme), standing) in standings.iter_mut() {
        let recipe = &plan.recipes[*scheme];
        let parts = [recipe.cipher.as_deref(), recipe.sum.map(Sum::name)];
        if *of == library && parts.contains(&Some(part)) {
            standing.outcome = Err(finding.clone());
        }
    }
}

fn page_store(store: &Store, before: &Scan, after: Option<Scan>) -> PageStore {
    PageStore {
        kind: store.kind().name().to_owned(),
        name: file_name(store.root()),
        page_size: store.page_size(),
        pages: store.pages(),
        read: Some(before.pages).filter(|read| *read < store.pages()),
        files: store.files() as u64,
        left_out: store.left_out(),
        zero_pages: before.zero_pages,
        without_lsn: before.without_lsn,
        hole_bytes: before.hole_bytes,
        checksums: store.checksums(),
        sha256_before: before.sha256.clone(),
        sha256_after: after.map(|scan| scan.sha256).unwrap_or_default(),
        facts: store.facts().to_vec(),
        snapshots: Vec::new(),
    }
}

/// The last part of a path: a record is for others, whom the rest does not concern.
fn file_name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| "made of a seed".to_owned(), |n| n.to_string_lossy().into_owned())
}

fn profile_facts(profile: &Profile) -> ProfileFacts {
    ProfileFacts {
        name: profile.name.to_owned(),
        title: profile.title.to_owned(),
        differs: profile.differs.to_owned(),
        source: profile.source.to_owned(),
        read: record::at_rest::scheme::SOURCES_READ.to_owned(),
    }
}

fn host(libraries: &[Attached]) -> record::Host {
    let mut host = host::facts(measuring_cpu());
    let ready = libraries.iter().find_map(|l| l.ready.as_ref());
    host.clock.source = ready.map(|r| r.clock.clone()).unwrap_or_default();
    host.clock.ticks_per_second = Clock::calibrate().rough_ticks_per_ns() * 1e9;
    host
}

/// Passes that are made however long they take: the medians of two processes show whether they agree.
const LEAST_PASSES: u32 = 2;
/// Time for prices that are known, and not well enough for what is asked.
const REFINE: Duration = Duration::from_secs(2);

struct Scene<'a> {
    plan: &'a PagesPlan,
    libraries: &'a [Attached],
    before: &'a Before<'a>,
    list: &'a PriceList<'a>,
    /// In the order in which threads are placed.
    cpus: &'a [u32],
    stage: &'a Stage,
    page_size: usize,
}

struct Timed {
    started: String,
    host: Host,
    timing: Option<Timing>,
    cells: Vec<Cell>,
    journal: Option<Journal>,
}

fn time(scene: &Scene<'_>, keeping: Keeping, events: Events<'_>) -> Result<Timed, PagesError> {
    let Scene { plan, libraries, stage, page_size, .. } = *scene;
    let (mut known, mut keys) = known_and_not(scene.list, keys(plan, scene.before.standings));
    let (mut widely, mut limit) = (BTreeMap::new(), (plan.budget, LEAST_PASSES, plan.stop.clone()));
    // No choice hangs on what a page costs to touch.
    let decides = |key: &CellKey| plan.recipes[key.scheme].cipher.is_some();
    if !keys.iter().any(decides) && !known.is_empty() {
        limit = (plan.budget.min(REFINE), 0, plan.stop.within(REFINE));
    }
    if keys.is_empty() && !known.is_empty() {
        let is_wide = known.iter().any(|(key, kept)| decides(key) && kept.is_wide());
        let all = || known.iter().map(|(_, kept)| kept.clone()).collect();
        if !is_wide || !(scene.before.is_open)(scene.listed(all())) {
            return Ok(Timed { journal: keeping.journal, ..scene.listed(all()) });
        }
        widely = known.extract_if(.., |(key, kept)| decides(key) && kept.is_wide()).collect();
        keys = widely.keys().cloned().collect();
    }
    let (budget, least_passes, stop) = limit;
    let mut known: Vec<Kept> = known.into_iter().map(|(_, kept)| kept).collect();
    let of_key = |(i, key): (usize, &CellKey)| CaseProgress::new(i, Subject::Page(scene.page(key)));
    let files = stage.files(Some(page_size));
    let source = |library: usize, tier| Source::Pages(&libraries[library], tier, files);
    let sampling = Sampling {
        head: scene.head(keys.len()),
        all_progress: keys.iter().enumerate().map(of_key).collect(),
        source: &source,
        budget: Budget { precision: plan.precision, time: budget },
        least_passes,
        race: None,
        cpu: scene.cpu(),
    };
    let tell = |event: crate::progress::Event<'_>| events(PagesEvent::Timing(event));
    let (sampled, journal) = sample_all(sampling, keeping, &stop, &tell)?;
    let scale =
        Scale { ticks_per_ns: sampled.ticks_per_ns, page_size, quiet: sampled.quiet.clone() };
    let samples: Vec<(CellKey, CellSamples)> =
        keys.into_iter().zip(sampled.all_progress.iter().map(samples)).collect();
    let name = |key: &CellKey| &*plan.recipes[key.scheme].scheme;
    let mut cells: Vec<Cell> = samples.iter().map(|(k, s)| cell(k, name(k), s, &scale)).collect();
    set_over_none(&mut cells, &samples, 0, &scale);
    let mut measured = Vec::new();
    for ((key, _), cell) in samples.iter().zip(cells) {
        match widely.remove(key).and_then(|kept| kept.or(&cell)) {
            Some(kept) => known.push(kept),
            None => {
                if scene.draws_as_ever(key) {
                    scene.list.store(key, &cell, &sampled.started);
                }
                measured.push(cell);
            }
        }
    }
    let mut cells = measured;
    let timing = Some(scene.timing(&sampled, &known));
    cells.extend(known.into_iter().map(|kept| kept.cell));
    let SampledRun { started, host, .. } = sampled;
    Ok(Timed { started, host, timing, cells, journal })
}

fn known_and_not(list: &PriceList<'_>, keys: Vec<CellKey>) -> (Vec<(CellKey, Kept)>, Vec<CellKey>) {
    let (mut known, mut others) = (Vec::new(), Vec::new());
    for key in keys {
        match list.load(&key) {
            Some(kept) => known.push((key, kept)),
            None => others.push(key),
        }
    }
    (known, others)
}

fn keys(plan: &PagesPlan, standings: &Standings) -> Vec<CellKey> {
    let stands = standings.iter().filter(|(_, s)| s.outcome.is_ok()).map(|(pair, _)| *pair);
    let stands: Vec<(usize, usize)> = stands.collect();
    let has_cipher = |scheme: usize| plan.recipes[scheme].cipher.is_some();
    let mut keys = Vec::new();
    for (library, scheme) in &stands {
        if !stands.iter().any(|(l, s)| l == library && has_cipher(*s)) {
            continue;
        }
        for (medium, keying, direction) in ways(plan, has_cipher(*scheme)) {
            keys.extend(plan.threads.iter().map(|threads| CellKey {
                library: *library,
                scheme: *scheme,
                medium,
                keying,
                direction,
                threads: *threads,
            }));
        }
    }
    keys
}

fn ways(plan: &PagesPlan, has_cipher: bool) -> Vec<(Medium, Keying, Direction)> {
    let mut ways = Vec::new();
    for medium in &plan.media {
        let rekeys = *medium == Medium::Sequential && has_cipher && plan.priced.is_none();
        let keyings =
            if rekeys { &[Keying::Reused, Keying::PerPage][..] } else { &[Keying::Reused] };
        for keying in keyings {
            ways.push((*medium, *keying, Direction::Encrypt));
            if *medium != Medium::Log {
                ways.push((*medium, *keying, Direction::Decrypt));
            }
        }
    }
    ways
}

fn samples(progress: &CaseProgress) -> CellSamples {
    let (finding, stopped) = match &progress.end {
        Some(End::Found(finding)) => (Some((finding.state, finding.why.clone())), finding.stopped),
        Some(End::Stopped(why)) => (None, Some(*why)),
        None => (None, None),
    };
    CellSamples {
        crypto: progress.samples.clone(),
        io: progress.ends.others(),
        threads: progress.subject.threads(),
        latencies: progress.latencies.clone(),
        io_latencies: progress.other_latencies.clone(),
        finding,
        stopped,
    }
}

const RANDOM_SOURCE: &str =
    "the library's own generator where it has one that passes the checks, else getrandom(2)";

impl Scene<'_> {
    fn cpu(&self) -> u32 {
        self.cpus.first().copied().unwrap_or(0)
    }

    fn page(&self, key: &CellKey) -> Page {
        // A log has one end.
        let threads = if key.medium == Medium::Log { 1 } else { key.threads };
        let recipe = &self.plan.recipes[key.scheme];
        let draws = recipe.nonce == NonceRule::Random;
        let generator = self.before.generators.get(&key.library).filter(|_| draws);
        let generator = generator.map(|name| (*name).to_owned());
        Page {
            library: key.library,
            tier: self.plan.tier,
            page_size: self.page_size,
            visit: PageVisit {
                recipe: Recipe { generator, ..recipe.clone() },
                medium: key.medium,
                keying: key.keying,
                direction: key.direction,
                cpus: self.cpus.iter().copied().take(threads as usize).collect(),
                pages: self.plan.pages_per_visit,
                settle_us: 0,
            },
        }
    }

    fn head(&self, cells: usize) -> JournalHead {
        let plan = record::Plan {
            precision: self.plan.precision,
            budget_seconds: self.plan.budget.as_secs_f64(),
            seed: self.plan.seed,
            ..record::Plan::default()
        };
        let named = self.libraries.iter().map(|l| (l.given_name.clone(), l.facts.clone()));
        let (named, command) = (named.collect(), &self.plan.command);
        let head =
            progress::journal_head(record::at_rest::KIND, plan, cells, named, command, self.cpu());
        JournalHead {
            started: self.before.began.clone(),
            store: Some(self.before.sha256.to_owned()),
            ..head
        }
    }

    /// Whether a page's nonces come from where they would in any run: there was time to check the library's generator.
    fn draws_as_ever(&self, key: &CellKey) -> bool {
        let draws = self.plan.recipes[key.scheme].nonce == NonceRule::Random;
        let library = &self.libraries[key.library];
        !draws
            || self.before.generators.contains_key(&key.library)
            || generator(library, self.plan.tier).is_none()
    }

    /// What stands in the price list, where nothing is left to be timed.
    fn listed(&self, known: Vec<Kept>) -> Timed {
        let host = host(self.libraries);
        let timing = self.timed(&host, &known);
        let cells = known.into_iter().map(|kept| kept.cell).collect();
        let started = self.before.began.clone();
        Timed { started, host, timing: Some(timing), cells, journal: None }
    }

    fn timing(&self, sampled: &SampledRun, known: &[Kept]) -> Timing {
        let processes = |progress: &CaseProgress| {
            let mut all: Vec<u32> = progress.samples.iter().map(|s| s.process).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        let own = sampled.all_progress.iter().map(processes).max().unwrap_or(0);
        let of_list = self.timed(&sampled.host, known);
        Timing {
            rounds: of_list.rounds.max(own as u32),
            seconds: sampled.seconds,
            scratch: self.plan.scratch().and_then(file_system),
            quiet_throughput: sampled.quiet.of(self.cpu()),
            ..of_list
        }
    }

    /// Of these prices alone.
    fn timed(&self, host: &Host, known: &[Kept]) -> Timing {
        Timing {
            rounds: known.iter().map(|kept| kept.cell.rounds).max().unwrap_or(0),
            seconds: 0.0,
            pages_per_visit: self.plan.pages_per_visit,
            window_bytes: self.stage.pages as u64 * self.page_size as u64,
            clock: host.clock.source.clone(),
            random_source: RANDOM_SOURCE.to_owned(),
            scratch: None,
            quiet_throughput: 0.0,
            precision: Some(self.plan.precision),
            // When the first of them was taken.
            from_list: known.iter().map(|kept| kept.taken.clone()).min(),
        }
    }
}

/// The kernel's name of a directory's file system, by the longest mount point above it.
fn file_system(directory: &Path) -> Option<String> {
    let directory = directory.canonicalize().ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let of = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        let (point, kind) = (fields.next()?.replace("\\040", " "), fields.next()?.to_owned());
        directory.starts_with(&point).then_some((point.len(), kind))
    };
    mounts.lines().filter_map(of).max_by_key(|(len, _)| *len).map(|(_, kind)| kind)
}
