//! Timing, on the schedule that everything is timed on.

use super::prove::Standings;
use super::run::{Events, PagesError, PagesEvent, PagesPlan};
use super::stage::Stage;
use crate::attached::Attached;
use crate::case_progress::{CaseProgress, End};
use crate::earlier;
use crate::kinds::{Page, Subject};
use crate::plan::Budget;
use crate::sampling::{Sampled, Sampling, sample_all};
use crate::survey::Keeping;
use crate::worker_pool::Source;
use base::model::Direction;
use record::at_rest::{
    Cell, CellKey, CellSamples, Keying, Medium, Scale, Timing, cell, set_over_none,
};
use record::{Host, Journal, JournalHead};
use std::path::Path;

/// Passes that are made however long they take: the medians of two processes show whether they agree.
const LEAST_PASSES: u32 = 2;

/// What is timed, and where.
pub(super) struct Scene<'a> {
    pub(super) plan: &'a PagesPlan,
    pub(super) libraries: &'a [Attached],
    /// In the order in which threads are placed.
    pub(super) cpus: &'a [u32],
    pub(super) stage: &'a Stage,
    pub(super) page_size: usize,
    /// The store's SHA-256.
    pub(super) store: &'a str,
    /// When the run began.
    pub(super) began: &'a str,
}

/// All that was timed.
pub(super) struct Timed {
    pub(super) started: String,
    pub(super) host: Host,
    pub(super) timing: Option<Timing>,
    pub(super) cells: Vec<Cell>,
    pub(super) journal: Option<Journal>,
}

/// Times every pair that stands, until all cells are precise or the time is over.
pub(super) fn time(
    scene: &Scene<'_>,
    standings: &Standings,
    keeping: Keeping,
    events: Events<'_>,
) -> Result<Timed, PagesError> {
    let Scene { plan, libraries, stage, page_size, .. } = *scene;
    let keys = keys(plan, standings);
    let of_key = |(i, key): (usize, &CellKey)| CaseProgress::new(i, Subject::Page(scene.page(key)));
    let files = stage.files(Some(page_size));
    let source = |library: usize, tier| Source::Pages(&libraries[library], tier, files);
    let sampling = Sampling {
        head: scene.head(keys.len()),
        all_progress: keys.iter().enumerate().map(of_key).collect(),
        source: &source,
        budget: Budget { precision: plan.precision, time: plan.budget },
        least_passes: LEAST_PASSES,
        cpu: scene.cpu(),
    };
    let tell = |event: crate::events::Event<'_>| events(PagesEvent::Timing(event));
    let (sampled, journal) = sample_all(sampling, keeping, &plan.stop, &tell)?;
    let scale =
        Scale { ticks_per_ns: sampled.ticks_per_ns, page_size, quiet: sampled.quiet.clone() };
    let samples: Vec<(CellKey, CellSamples)> =
        keys.into_iter().zip(sampled.all_progress.iter().map(samples)).collect();
    let name = |key: &CellKey| &*plan.recipes[key.scheme].scheme;
    let mut cells: Vec<Cell> = samples.iter().map(|(k, s)| cell(k, name(k), s, &scale)).collect();
    set_over_none(&mut cells, &samples, 0, &scale);
    let timing = Some(scene.timing(&sampled));
    let Sampled { started, host, .. } = sampled;
    Ok(Timed { started, host, timing, cells, journal })
}

/// Every cell of the pairs that stand, where the library has a scheme beside `none`.
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

/// What is timed of a scheme.
fn ways(plan: &PagesPlan, has_cipher: bool) -> Vec<(Medium, Keying, Direction)> {
    let mut ways = Vec::new();
    for medium in &plan.media {
        let rekeys = *medium == Medium::Sequential && has_cipher;
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

/// What a progress has for its cell.
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

impl Scene<'_> {
    fn cpu(&self) -> u32 {
        self.cpus.first().copied().unwrap_or(0)
    }

    fn page(&self, key: &CellKey) -> Page {
        // A log has one end.
        let threads = if key.medium == Medium::Log { 1 } else { key.threads };
        Page {
            library: key.library,
            tier: self.plan.tier,
            recipe: self.plan.recipes[key.scheme].clone(),
            medium: key.medium,
            keying: key.keying,
            direction: key.direction,
            cpus: self.cpus.iter().copied().take(threads as usize).collect(),
            pages: self.plan.pages_per_visit,
            page_size: self.page_size,
        }
    }

    /// What the journal says at its head; the schemes come from the command line again.
    fn head(&self, cells: usize) -> JournalHead {
        let plan = record::Plan {
            precision: self.plan.precision,
            budget_seconds: self.plan.budget.as_secs_f64(),
            seed: self.plan.seed,
            ..record::Plan::default()
        };
        let named = self.libraries.iter().map(|l| (l.given_name.clone(), l.facts.clone()));
        let (named, command) = (named.collect(), &self.plan.command);
        let head = earlier::head(record::at_rest::KIND, (plan, cells), named, command, self.cpu());
        JournalHead { started: self.began.to_owned(), store: Some(self.store.to_owned()), ..head }
    }

    fn timing(&self, sampled: &Sampled) -> Timing {
        let processes = |progress: &CaseProgress| {
            let mut all: Vec<u32> = progress.samples.iter().map(|s| s.process).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        Timing {
            rounds: sampled.all_progress.iter().map(processes).max().unwrap_or(0) as u32,
            seconds: sampled.seconds,
            pages_per_visit: self.plan.pages_per_visit,
            window_bytes: self.stage.pages as u64 * self.page_size as u64,
            clock: sampled.host.clock.source.clone(),
            random_source: "getrandom(2), a call for each nonce".to_owned(),
            scratch: self.plan.scratch().and_then(file_system),
            quiet_throughput: sampled.quiet.of(self.cpu()),
            precision: Some(self.plan.precision),
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
