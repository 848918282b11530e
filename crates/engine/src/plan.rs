//! What was asked for, laid out as cases; and what footprint and threads of a case come to on this machine.

#[cfg(test)]
mod properties;

use crate::libraries::{Attached, at_asked_tiers};
use crate::protocol::{Finding, NO_FORGERY, Offer};
use base::model::{
    Algorithm, Case, Direction, Footprint, Kind, Model, NameGlob, Tier, ranges_of_list,
};
use probe::Place;
use record::{Cache, Host, PlannedCase};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// When sampling of a case, and of the run, ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Half-width of the interval, as a fraction of the median, at which a case is done.
    pub precision: f64,
    pub time: Duration,
}

/// What a look has shown that operations take at the least, and what is measured of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screened {
    /// Bytes of plaintext of the operations that were looked at: larger ones take as long and longer.
    pub size: usize,
    /// Nanoseconds, by library (its place among those that are attached), algorithm and direction.
    pub least_ns: BTreeMap<(usize, &'static str, Direction), u64>,
    /// What is measured all the same; everything where there is nothing.
    pub only: Option<BTreeSet<(usize, &'static str)>>,
}

impl Screened {
    /// The same where only these algorithms in libraries are to be measured.
    pub fn but(&self, only: BTreeSet<(usize, &'static str)>) -> Self {
        Self { only: Some(only), ..self.clone() }
    }

    /// What both directions took at the least, in nanoseconds; none where one was not seen.
    pub fn both(&self, library: usize, algorithm: &'static str) -> Option<u64> {
        let of = |direction| self.least_ns.get(&(library, algorithm, direction)).copied();
        match of(Direction::Digest) {
            Some(ns) => Some(2 * ns),
            None => Some(of(Direction::Encrypt)? + of(Direction::Decrypt)?),
        }
    }

    pub(crate) fn finding(&self, case: &Case) -> Option<Finding> {
        let algorithm = Algorithm::find(&case.algorithm).ok()?.name;
        let only = self.only.as_ref()?;
        (!only.contains(&(case.library, algorithm))).then(|| self.bound(case, algorithm))
    }

    /// A case that is not measured, with what is known of it.
    pub(crate) fn bound(&self, case: &Case, algorithm: &'static str) -> Finding {
        let least = self.least_ns.get(&(case.library, algorithm, case.direction)).copied();
        Finding::screened(least.filter(|_| case.size >= self.size))
    }
}

/// Which instructions are counted before anything is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// None: tiers are trusted.
    Nothing,
    /// Those at tiers other than `native`, where nothing else tells whether the code keeps to what it may use.
    Tiers,
    /// All, with verdicts on secrets.
    All,
}

impl Counting {
    pub(crate) fn takes(self, tier: Tier) -> bool {
        self == Self::All || self == Self::Tiers && tier != Tier::Native
    }
}

#[derive(Clone, Debug)]
pub struct Request {
    /// Suite that filled in the rest, if any.
    pub suite: Option<String>,
    pub algorithms: Vec<&'static Algorithm>,
    /// Directions of ciphers; digests and copies have their own.
    pub directions: Vec<Direction>,
    pub models: Vec<Model>,
    pub sizes: Vec<usize>,
    pub tiers: Vec<Tier>,
    pub footprints: Vec<Footprint>,
    pub threads: Vec<u32>,
    pub in_place: Vec<bool>,
    /// What of all these combinations is measured; every one where there is none.
    pub cases: Vec<PlannedCase>,
    /// Whether single operations are timed as well.
    pub latency: bool,
    pub budget: Budget,
    pub counting: Counting,
    /// Cases that need not be measured, with what they take at the least.
    pub screened: Screened,
    /// Seed of every random choice but the placement of buffers.
    pub seed: u64,
    pub command: Vec<String>,
}

/// What [`Request::cases`] differ in mostly.
type Key<'a> = (&'a str, Direction, Model, usize, Footprint);

type OfCase = (Option<Tier>, Option<NameGlob>);

/// [`Request::cases`].
struct Wanted<'a>(HashMap<Key<'a>, Vec<OfCase>>);

impl<'a> Wanted<'a> {
    fn of(request: &'a Request) -> Self {
        let mut wanted: HashMap<_, Vec<_>> = HashMap::new();
        for case in &request.cases {
            // A text that is no glob names no library.
            if let Ok(libraries) = case.libraries.as_deref().map(NameGlob::parse).transpose() {
                let PlannedCase { algorithm, direction, model, size, footprint, .. } = case;
                let key = (&**algorithm, *direction, *model, *size, *footprint);
                wanted.entry(key).or_default().push((case.tier, libraries));
            }
        }
        Self(wanted)
    }

    fn takes(&self, case: &Case, attached: &Attached) -> bool {
        let key = (&*case.algorithm, case.direction, case.model, case.size, case.footprint);
        let mut all = self.0.get(&key).into_iter().flatten();
        all.any(|place| Self::is_in(place, attached, case.tier))
    }

    fn is_in((tier, libraries): &OfCase, attached: &Attached, at: Tier) -> bool {
        tier.is_none_or(|tier| tier == at)
            && libraries.as_ref().is_none_or(|glob| attached.matches(glob))
    }
}

/// A case and, where that is known without measuring, what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    pub case: Case,
    pub verdict: Option<Finding>,
    /// What of it is the machine's.
    pub(crate) setting: Setting,
}

pub(crate) fn at_tiers(request: &Request, libraries: &[Attached]) -> Vec<Attached> {
    let wanted = Wanted::of(request);
    let is_asked = |attached: &Attached, tier| {
        let mut all = wanted.0.values().flatten();
        request.cases.is_empty() || all.any(|place| Wanted::is_in(place, attached, tier))
    };
    at_asked_tiers(libraries, &request.tiers, is_asked)
}

/// Every case of a request over the libraries, in the order in which the record lists them.
/// Baselines (`memcpy`, `xxh3-64`, `null`) are rows of the libraries that offer them only: no
/// cipher library is the poorer for not having them.
pub fn cases(request: &Request, libraries: &[Attached], machine: &Machine) -> Vec<Planned> {
    let mut planned = Vec::new();
    let wanted = Wanted::of(request);
    for (library, attached) in libraries.iter().enumerate() {
        for algorithm in &request.algorithms {
            for direction in directions(request, algorithm) {
                for model in &request.models {
                    for kind in kinds(request, *model) {
                        // Of a tier that cannot be applied the offers at `native` are rows.
                        let offers = attached.offers_at(kind.tier).unwrap_or(&attached.offers);
                        if is_baseline(algorithm)
                            && offered(attached, offers, algorithm, direction, *model).is_err()
                        {
                            continue;
                        }
                        let setting = machine.setting(
                            kind.footprint,
                            kind.in_place,
                            kind.threads,
                            request.latency && *model != Model::Stream,
                        );
                        for size in &request.sizes {
                            let case = Case {
                                library,
                                algorithm: algorithm.name.to_owned(),
                                direction,
                                model: *model,
                                size: *size,
                                ..kind.clone()
                            };
                            if !request.cases.is_empty() && !wanted.takes(&case, attached) {
                                continue;
                            }
                            let mut plan =
                                plan(attached, algorithm, case, setting.clone(), machine);
                            let screened = request.screened.finding(&plan.case);
                            plan.verdict = plan.verdict.or(screened);
                            planned.push(plan);
                        }
                    }
                }
            }
        }
    }
    planned
}

fn plan(
    attached: &Attached,
    algorithm: &Algorithm,
    case: Case,
    setting: Result<Setting, String>,
    machine: &Machine,
) -> Planned {
    let offered = verdict(attached, algorithm, &case);
    let (setting, impossible) = match setting {
        Ok(setting) => {
            let why = does_not_fit(algorithm, &case, &setting);
            let (size, threads) = (case.size, case.threads);
            let why = why.or_else(|| lacks_memory(algorithm, size, threads, machine.room_bytes));
            (setting, why)
        }
        Err(why) => (Setting::default(), Some(why)),
    };
    Planned { case, verdict: offered.or(impossible.map(Finding::unsupported)), setting }
}

/// Why operations of this size cannot be, in so many threads at once, where a worker may take so many bytes.
pub fn lacks_memory(
    algorithm: &Algorithm,
    size: usize,
    threads: u32,
    room_bytes: u64,
) -> Option<String> {
    let needed = algorithm.memory_bytes(size) * u64::from(threads.max(1));
    (needed > room_bytes).then(|| {
        let threads = if threads > 1 { format!(" in {threads} threads") } else { String::new() };
        format!(
            "{} need {} MiB of memory{threads}, and a worker may take {} MiB: half of this machine's, and no more than is available (MemAvailable, a container's limit)",
            algorithm.size_in_words(size),
            needed >> 20,
            room_bytes >> 20
        )
    })
}

/// Why an operation does not fit the case's footprint.
fn does_not_fit(algorithm: &Algorithm, case: &Case, setting: &Setting) -> Option<String> {
    if case.model == Model::Stream {
        return (!case.footprint.is_hot()).then(|| {
            "a stream goes over one buffer again and again, so it has the footprint hot only"
                .to_owned()
        });
    }
    if matches!(case.footprint, Footprint::Hot | Footprint::Memory) {
        return None;
    }
    let (bytes, fits) = (
        Place::of(algorithm, case.direction, case.size, case.in_place).bytes(),
        setting.walk_bytes.unwrap_or(0),
    );
    (bytes > fits).then(|| {
        format!(
            "the {bytes} bytes that an operation touches are more than the {fits} of the footprint {}",
            case.footprint
        )
    })
}

/// Every combination of tier, threads, footprint and place; the rest of each is to be filled in. A
/// stream is in place in any case, and so it comes once.
fn kinds(request: &Request, model: Model) -> Vec<Case> {
    let places = if model == Model::Stream { &[false][..] } else { &request.in_place[..] };
    let mut kinds = Vec::new();
    for tier in &request.tiers {
        for threads in &request.threads {
            for footprint in &request.footprints {
                for in_place in places {
                    let (tier, threads) = (*tier, *threads);
                    let (footprint, in_place) = (*footprint, *in_place);
                    kinds.push(Case { tier, threads, footprint, in_place, ..Case::default() });
                }
            }
        }
    }
    kinds
}

fn directions(request: &Request, algorithm: &Algorithm) -> Vec<Direction> {
    Direction::of(algorithm.kind)
        .iter()
        .copied()
        .filter(|d| is_baseline(algorithm) || request.directions.contains(d))
        .collect()
}

fn is_baseline(algorithm: &Algorithm) -> bool {
    !algorithm.encrypts()
}

fn verdict(attached: &Attached, algorithm: &Algorithm, case: &Case) -> Option<Finding> {
    let offers = match attached.offers_at(case.tier) {
        Ok(offers) => offers,
        Err(finding) => return Some(finding),
    };
    if let Err(finding) = offered(attached, offers, algorithm, case.direction, case.model) {
        return Some(finding);
    }
    if case.in_place && !offer(offers, algorithm, case.direction).is_some_and(|o| o.in_place) {
        return Some(Finding::unsupported("the library's interface does not work in place"));
    }
    if case.threads > 1
        && let Some(why) = attached.ready.as_ref().and_then(|r| r.one_thread_only.clone())
    {
        return Some(Finding::unsupported(why));
    }
    let is_held = !matches!(case.footprint, Footprint::Hot | Footprint::Memory);
    if case.model.is_between() && (case.in_place || case.threads > 1 || is_held) {
        let why = "between messages other work is done by one thread, and fills the caches itself: a message comes from it (hot) or from memory";
        return Some(Finding::unsupported(why));
    }
    if algorithm.kind == Kind::Derivation
        && (case.model == Model::Rekey || !case.footprint.is_hot())
    {
        let why = "a derivation takes its passphrase with each call, and its memory is its own";
        return Some(Finding::unsupported(why));
    }
    if algorithm.kind == Kind::Random && !case.footprint.is_hot() {
        return Some(Finding::unsupported("what draws random bytes reads no message"));
    }
    (!algorithm.sizes.allows(case.size)).then(|| Finding::unsupported(algorithm.size_reason()))
}

fn offered(
    attached: &Attached,
    offers: &[Offer],
    algorithm: &Algorithm,
    direction: Direction,
    model: Model,
) -> Result<(), Finding> {
    let offer = offer(offers, algorithm, direction)
        .ok_or_else(|| Finding::unsupported(format!("{} does not offer it", attached.label())))?;
    if offer.models.contains(&model) {
        return Ok(());
    }
    if !offer.models.is_empty() {
        match model {
            Model::Rekey | Model::BetweenRekey if algorithm.key_len == 0 => {
                return Err(Finding::unsupported(format!("{algorithm} has no key")));
            }
            Model::Rekey | Model::BetweenRekey if offer.in_flight.is_some() => {
                return Err(Finding::unsupported(contract::ONE_KEY));
            }
            Model::Forgery if !(algorithm.rejects() && direction == Direction::Decrypt) => {
                return Err(Finding::unsupported(NO_FORGERY));
            }
            _ => {}
        }
    }
    let why = offer.reason.clone().unwrap_or_else(|| {
        format!("{} does not offer {algorithm} in the model {model}", attached.label())
    });
    Err(if offer.failed { Finding::failed(why) } else { Finding::unsupported(why) })
}

pub(crate) fn offer<'a>(
    offers: &'a [Offer],
    algorithm: &Algorithm,
    direction: Direction,
) -> Option<&'a Offer> {
    offers.iter().find(|o| o.algorithm == algorithm.name && o.direction == direction)
}

// What a case's footprint and threads come to on this machine: bytes to walk through, CPUs.

/// Single operations that are timed alone in each visit: thirty visits give several thousand, enough
/// for one in a thousand to be seen several times.
const LATENCY_OPS: u32 = 200;

/// The part of a cache that is walked through, at most: the rest is for the library's tables, keys
/// and stack, for descriptors, and for lines that fall on the same place.
const PART_OF_CACHE: f64 = 0.75;

/// How many times the last cache level the memory is that is walked through: of memory four times as
/// large, a quarter at most is found in the cache by chance.
const TIMES_LAST_LEVEL: u64 = 4;

/// The part of the machine's memory that may be walked through, all threads together. Besides it half
/// as much again is read between samples.
const PART_OF_MEMORY: f64 = 0.25;

/// What of a case is not its own but the machine's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Bytes that each thread's operations walk through, at most; at least, where no cache is to hold
    /// them.
    pub(crate) walk_bytes: Option<usize>,
    pub(crate) cpus: Vec<u32>,
    pub(crate) latency_ops: u32,
}

#[derive(Clone, Debug)]
pub struct Machine {
    caches: Vec<Cache>,
    memory_bytes: u64,
    /// Bytes that a worker may take.
    room_bytes: u64,
    /// CPUs that may be used, in the order in which threads are placed: the measuring CPU first, then
    /// CPUs of other cores, then hardware threads of cores that measure already.
    cpus: Vec<u32>,
}

impl Machine {
    /// The machine around the measuring CPU. `cpus` in the order of placement.
    pub fn new(host: &Host, cpus: Vec<u32>) -> Self {
        let (caches, memory_bytes) = (host.cpu.caches.clone(), host.memory.total_bytes);
        Self { caches, memory_bytes, room_bytes: u64::MAX, cpus }
    }

    pub fn with_room(self, room_bytes: u64) -> Self {
        Self { room_bytes, ..self }
    }

    pub fn measuring_cpu(&self) -> u32 {
        self.cpus.first().copied().unwrap_or(0)
    }

    /// Bytes of a core's second-level cache, where no other core shares it.
    pub(crate) fn second_level_bytes(&self) -> Option<u64> {
        let cache = self.caches.iter().find(|c| c.level == 2 && c.size_bytes > 0)?;
        let sharing = self.cpus.iter().filter(|cpu| lists(&cache.shared_by, **cpu)).count();
        (sharing <= 1).then_some(cache.size_bytes)
    }

    pub(crate) fn setting(
        &self,
        footprint: Footprint,
        in_place: bool,
        threads: u32,
        latency: bool,
    ) -> Result<Setting, String> {
        let n = threads as usize;
        if n > self.cpus.len() {
            let have = self.cpus.len();
            return Err(format!("{n} threads need as many CPUs, this process may use {have}"));
        }
        let cpus = &self.cpus[..n];
        let walk_bytes = match footprint {
            Footprint::Hot if !in_place => None,
            Footprint::Hot | Footprint::L1 => Some(self.part_of_cache(1, cpus)?),
            Footprint::L2 => Some(self.part_of_cache(2, cpus)?),
            Footprint::L3 => Some(self.part_of_cache(3, cpus)?),
            Footprint::Memory => Some(self.beyond_caches(threads)?),
        };
        let cpus = if n > 1 { cpus.to_vec() } else { Vec::new() };
        Ok(Setting { walk_bytes, cpus, latency_ops: if latency { LATENCY_OPS } else { 0 } })
    }

    /// One thread's part of a cache level, which the other threads on CPUs that share it walk through
    /// as well.
    fn part_of_cache(&self, level: u32, cpus: &[u32]) -> Result<usize, String> {
        let cache = self
            .caches
            .iter()
            .find(|c| c.level == level && c.kind != "Instruction" && c.size_bytes > 0)
            .ok_or_else(|| format!("the system knows of no level {level} cache"))?;
        let sharing = cpus.iter().filter(|cpu| lists(&cache.shared_by, **cpu)).count().max(1);
        Ok((cache.size_bytes as f64 * PART_OF_CACHE) as usize / sharing)
    }

    fn beyond_caches(&self, threads: u32) -> Result<usize, String> {
        let last = self.caches.iter().map(|c| c.size_bytes).max().filter(|bytes| *bytes > 0);
        let last = last.ok_or("the system does not say how large its caches are")?;
        let bytes = last * TIMES_LAST_LEVEL;
        let room = (self.memory_bytes as f64 * PART_OF_MEMORY) as u64;
        if bytes * u64::from(threads) > room {
            return Err(format!(
                "{threads} times {} MiB, {TIMES_LAST_LEVEL} times the largest cache, are more than a quarter of this machine's memory ({} MiB)",
                bytes >> 20,
                self.memory_bytes >> 20
            ));
        }
        usize::try_from(bytes).map_err(|e| e.to_string())
    }
}

/// Whether a list of CPUs as the kernel writes it (`0-3,8`) has this one.
pub(crate) fn lists(list: &str, cpu: u32) -> bool {
    ranges_of_list(list).into_iter().flatten().any(|range| range.contains(&cpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libraries::AtTier;
    use base::text::fixtures::says;

    pub(crate) fn attached(offers: Vec<Offer>) -> Attached {
        let facts = record::Library {
            name: "lib".into(),
            version: "1".into(),
            path: "lib.so".into(),
            id: "sha256:0".into(),
            ..record::Library::default()
        };
        Attached { facts, offers, ..Attached::default() }
    }

    pub(crate) fn offer(algorithm: &str, direction: Direction, reason: Option<&str>) -> Offer {
        Offer {
            algorithm: algorithm.into(),
            direction,
            models: if reason.is_none() { vec![Model::Message] } else { Vec::new() },
            reason: reason.map(ToOwned::to_owned),
            ..Offer::default()
        }
    }

    pub(crate) fn request(algorithms: &[&str]) -> Request {
        Request {
            suite: None,
            algorithms: algorithms.iter().map(|a| Algorithm::find(a).unwrap()).collect(),
            directions: vec![Direction::Encrypt],
            models: vec![Model::Message],
            sizes: vec![16, 100],
            tiers: vec![Tier::Native],
            footprints: vec![Footprint::Hot],
            threads: vec![1],
            in_place: vec![false],
            cases: Vec::new(),
            latency: false,
            budget: Budget { precision: 0.01, time: Duration::from_secs(1) },
            counting: Counting::All,
            screened: Screened::default(),
            seed: 1,
            command: Vec::new(),
        }
    }

    pub(crate) fn machine() -> Machine {
        let cache = |level, size_bytes| record::Cache {
            level,
            kind: "Data".into(),
            size_bytes,
            line_bytes: 64,
            shared_by: "0".into(),
        };
        let mut host = record::Host::default();
        host.cpu.caches = vec![cache(1, 32 << 10), cache(2, 1 << 20)];
        host.memory.total_bytes = 1 << 30;
        Machine::new(&host, vec![0])
    }

    fn of(library: Attached, change: impl FnOnce(&mut Request)) -> Vec<Planned> {
        let mut request = request(&["aes-128-gcm"]);
        request.sizes = vec![1024];
        change(&mut request);
        cases(&request, &[library], &machine())
    }

    fn gcm() -> Attached {
        let both = [Direction::Encrypt, Direction::Decrypt].map(|direction| Offer {
            models: vec![Model::Message, Model::Rekey, Model::Forgery],
            ..offer("aes-128-gcm", direction, None)
        });
        let mut library = attached(both.to_vec());
        library.offers[0].models.pop();
        library
    }

    #[test]
    fn a_footprint_that_cannot_hold_an_operation_is_unsupported() {
        let planned = of(gcm(), |r| {
            r.footprints = vec![Footprint::L1, Footprint::L2, Footprint::L3];
            r.sizes = vec![1024, 16 << 10];
        });
        let reason = |i: usize| planned[i].verdict.as_ref().map(|v| v.why.clone());
        assert_eq!((reason(0), reason(2), reason(3)), (None, None, None));
        assert!(reason(1).unwrap().contains("are more than the 24576 of the footprint l1"));
        assert!(reason(4).unwrap().contains("no level 3 cache"));
    }

    #[test]
    fn after_other_work_a_message_comes_from_it_or_from_memory() {
        let mut library = gcm();
        library.offers[0].models.push(Model::Between);
        let planned = of(library, |r| {
            (r.models, r.directions) = (vec![Model::Between], vec![Direction::Encrypt]);
            r.footprints = vec![Footprint::Hot, Footprint::L2, Footprint::Memory];
        });
        let is_held = |p: &Planned| p.verdict.as_ref().is_some_and(|v| v.why.contains("itself"));
        assert_eq!(planned.iter().map(is_held).collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn in_place_and_forgeries_are_there_where_they_can_be() {
        let planned = of(gcm(), |r| r.in_place = vec![false, true]);
        assert_eq!(planned[0].verdict, None);
        assert!(planned[1].verdict.as_ref().unwrap().why.contains("does not work in place"));
        let planned = of(gcm(), |r| {
            r.models = vec![Model::Forgery];
            r.directions = vec![Direction::Encrypt, Direction::Decrypt];
        });
        assert!(planned[0].verdict.as_ref().unwrap().why.contains("only decryption"));
        assert_eq!(planned[1].verdict, None);
    }

    #[test]
    fn a_library_of_one_thread_is_not_measured_with_two() {
        let mut library = gcm();
        library.ready = Some(crate::protocol::Ready {
            one_thread_only: Some("one thread".into()),
            ..Default::default()
        });
        let planned = of(library, |r| r.threads = vec![1, 2]);
        assert_eq!(planned[0].verdict, None);
        assert_eq!(planned[1].verdict, Some(Finding::unsupported("one thread")));
    }

    #[test]
    fn what_is_not_offered_is_a_row_with_its_reason() {
        let library = attached(vec![offer("aes-128-ocb", Direction::Encrypt, Some("no OCB here"))]);
        let planned = cases(&request(&["aes-128-ocb"]), &[library], &machine());
        assert_eq!(planned.len(), 2);
        assert_eq!(planned[0].verdict, Some(Finding::unsupported("no OCB here")));
    }

    #[test]
    fn a_size_that_the_mode_does_not_define_is_unsupported() {
        let library = attached(vec![offer("aes-128-ecb", Direction::Encrypt, None)]);
        let planned = cases(&request(&["aes-128-ecb"]), &[library], &machine());
        assert_eq!(planned[0].verdict, None);
        says(&planned[1].verdict.as_ref().unwrap().why, ["whole blocks of 16 bytes"]);
    }

    #[test]
    fn each_tier_has_its_own_offers_and_one_that_cannot_be_applied_its_reason() {
        let mut library = attached(vec![offer("aes-128-ocb", Direction::Encrypt, None)]);
        let without = vec![offer("aes-128-ocb", Direction::Encrypt, Some("needs AES-NI"))];
        library.tiers = vec![
            AtTier { tier: Tier::Noaes, offers: Ok(without), objects: Vec::new() },
            AtTier {
                tier: Tier::Baseline,
                offers: Err(Finding::unsupported("no way")),
                objects: Vec::new(),
            },
        ];
        let tiers = vec![Tier::Native, Tier::Noaes, Tier::Baseline];
        let request = Request { tiers, sizes: vec![16], ..request(&["aes-128-ocb"]) };
        let planned = cases(&request, &[library], &machine());
        let verdicts: Vec<_> =
            planned.iter().map(|p| p.verdict.as_ref().map(|f| f.why.as_str())).collect();
        assert_eq!(verdicts, [None, Some("needs AES-NI"), Some("no way")]);
    }

    #[test]
    fn baselines_are_rows_only_where_they_are_offered() {
        let with = attached(vec![offer("memcpy", Direction::Copy, None)]);
        let without = attached(vec![offer("memcpy", Direction::Copy, Some("no"))]);
        let planned = cases(&request(&["memcpy"]), &[with, without], &machine());
        assert_eq!(planned.len(), 2);
        assert!(planned.iter().all(|p| p.case.library == 0 && p.verdict.is_none()));
    }

    #[test]
    fn what_a_look_rules_out_is_not_measured_and_bounded_at_its_size_and_above() {
        let key = (0, "aes-128-gcm", Direction::Encrypt);
        let looked = Screened { size: 1024, least_ns: BTreeMap::from([(key, 250)]), only: None };
        // A look alone rules nothing out.
        let all = of(gcm(), |request| request.screened = looked.clone());
        assert!(all.iter().all(|p| p.verdict.is_none()));
        let rest = of(gcm(), |request| {
            request.sizes = vec![64, 1024, 4096];
            request.screened = looked.but(BTreeSet::new());
        });
        let findings: Vec<&Finding> = rest.iter().filter_map(|p| p.verdict.as_ref()).collect();
        let bounds: Vec<Option<u64>> = findings.iter().map(|f| f.at_least_ns).collect();
        assert_eq!(bounds, [None, Some(250), Some(250)]);
        assert!(findings.iter().all(|f| f.stopped == Some(record::Stopped::Screened)));
        let wanted = looked.but(BTreeSet::from([(0, "aes-128-gcm")]));
        let measured = of(gcm(), |request| request.screened = wanted);
        assert!(measured.iter().all(|p| p.verdict.is_none()));
    }

    fn cache(level: u32, kind: &str, size_bytes: u64, shared_by: &str) -> Cache {
        let (kind, shared_by) = (kind.to_owned(), shared_by.to_owned());
        Cache { level, kind, size_bytes, line_bytes: 64, shared_by }
    }

    fn machine_with_memory(memory_mib: u64) -> Machine {
        let caches = vec![
            cache(1, "Instruction", 64 << 10, "1"),
            cache(1, "Data", 32 << 10, "1"),
            cache(2, "Unified", 1 << 20, "1"),
            cache(3, "Unified", 32 << 20, "0-3,8"),
        ];
        let memory_bytes = memory_mib << 20;
        Machine { caches, memory_bytes, room_bytes: memory_bytes / 2, cpus: vec![1, 0, 9] }
    }

    fn bytes(footprint: Footprint, threads: u32) -> Result<Option<usize>, String> {
        machine_with_memory(8192).setting(footprint, false, threads, false).map(|s| s.walk_bytes)
    }

    #[test]
    fn footprints_are_parts_of_the_data_caches_and_memory_is_beyond_all() {
        assert_eq!(bytes(Footprint::Hot, 1), Ok(None));
        assert_eq!(bytes(Footprint::L1, 1), Ok(Some(24 << 10)));
        assert_eq!(bytes(Footprint::L2, 1), Ok(Some(768 << 10)));
        assert_eq!(bytes(Footprint::L3, 1), Ok(Some(24 << 20)));
        assert_eq!(bytes(Footprint::Memory, 1), Ok(Some(128 << 20)));
    }

    #[test]
    fn threads_share_the_caches_that_their_cpus_share() {
        assert_eq!(bytes(Footprint::L1, 2), Ok(Some(24 << 10)));
        assert_eq!(bytes(Footprint::L3, 2), Ok(Some(12 << 20)));
        // CPU 9 has another third level.
        assert_eq!(bytes(Footprint::L3, 3), Ok(Some(12 << 20)));
    }

    #[test]
    fn in_place_is_fresh_data_within_the_first_level() {
        let hot = machine_with_memory(8192).setting(Footprint::Hot, true, 1, false).unwrap();
        assert_eq!(hot.walk_bytes, Some(24 << 10));
    }

    #[test]
    fn messages_that_need_more_memory_than_there_is_are_unsupported_and_say_so() {
        let library = || attached(vec![offer("aes-128-ctr", Direction::Encrypt, None)]);
        let planned = |memory_mib, threads: &[u32]| {
            let sizes = vec![1024, 256 << 20];
            let request = Request { sizes, threads: threads.to_vec(), ..request(&["aes-128-ctr"]) };
            cases(&request, &[library()], &machine_with_memory(memory_mib))
        };
        let why = |planned: &Planned| planned.verdict.as_ref().map(|v| v.why.clone());
        assert!(planned(4096, &[1]).iter().all(|p| p.verdict.is_none()));
        let [small, large] = &planned(4096, &[2])[..] else { panic!("two cases") };
        assert_eq!(why(small), None);
        let why = why(large).unwrap();
        assert!(why.starts_with("268435456 bytes need 4096 MiB of memory in 2 threads"), "{why}");
        says(&why, ["may take 2048 MiB"]);
    }

    #[test]
    fn what_this_machine_cannot_do_is_said() {
        let small =
            machine_with_memory(256).setting(Footprint::Memory, false, 1, false).unwrap_err();
        says(&small, ["128 MiB", "256 MiB"]);
        let mut unknown = machine_with_memory(8192);
        unknown.caches.retain(|c| c.level < 3);
        says(unknown.setting(Footprint::L3, false, 1, false).unwrap_err(), ["no level 3 cache"]);
        let why = machine_with_memory(8192).setting(Footprint::Hot, false, 4, false).unwrap_err();
        says(&why, ["4 threads", "may use 3"]);
    }
}
