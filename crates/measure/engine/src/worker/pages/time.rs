//! Timing of single pages, in one thread or in several at once.

use super::codec::{Codec, Draw, Refusal};
use super::media;
use super::memory::{Eviction, Room};
use super::{Files, Staged};
use crate::protocol::Finding;
use crate::protocol::pages::{Answer, TimeJob, TimedCell};
use at_rest::{Keying, Medium};
use contract::Library;
use model::Direction;
use probe::{Clock, Undisturbed};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::sync::Barrier;

/// Pages that are encrypted and decrypted untimed before a visit: its code and its keys are warm,
/// its pages are not.
const WARM_UPS: usize = 6;

/// Takes one visit of every scheme in every medium.
pub(super) fn run(
    library: &'static dyn Library,
    (clock, ticks_per_ns): (&Clock, f64),
    staged: &Staged,
    files: &Files,
    job: &TimeJob,
) -> Result<Answer, Finding> {
    if job.cpus.len() > 1
        && let Some(why) = library.one_thread_only()
    {
        return Err(Finding::unsupported(format!("one thread only: {why}")));
    }
    let threads = job.cpus.len().max(1);
    let meet = Barrier::new(threads);
    let lane = |thread: usize| -> Result<Vec<TimedCell>, Finding> {
        let lane = Lane::open(library, (clock, ticks_per_ns), staged, files, (thread, job));
        // Whoever cannot begin still has to come to every meeting: the others wait there.
        Lane::visit_all(lane, &meet, job)
    };
    if threads == 1 {
        return lane(0).map(|cells| Answer::Timed { cells });
    }
    let parts: Vec<Result<Vec<TimedCell>, Finding>> = std::thread::scope(|scope| {
        let lane = &lane;
        let started: Vec<_> = job
            .cpus
            .iter()
            .enumerate()
            .map(|(thread, cpu)| {
                scope.spawn(move || {
                    // A thread that cannot be pinned still counts: the kernel places it.
                    let _ = probe::pin_to(&[*cpu]);
                    lane(thread)
                })
            })
            .collect();
        let ended = started.into_iter().map(|t| {
            t.join().unwrap_or_else(|_| Err(Finding::failed("a thread that timed pages panicked")))
        });
        ended.collect()
    });
    let mut cells = Vec::new();
    for part in parts {
        cells.extend(part?);
    }
    Ok(Answer::Timed { cells })
}

/// One thread's part.
pub(super) struct Lane<'a> {
    pub(super) clock: &'a Clock,
    ticks_per_ns: f64,
    pub(super) staged: &'a Staged,
    pub(super) files: &'a Files,
    pub(super) thread: usize,
    pub(super) threads: usize,
    /// One for each scheme; or why there is none.
    pub(super) codecs: Vec<Result<Codec, Finding>>,
    pub(super) rng: ChaCha8Rng,
    pub(super) pages: usize,
    evict: Eviction,
    pub(super) sealed: Room,
    pub(super) back: Room,
}

impl<'a> Lane<'a> {
    fn open(
        library: &'static dyn Library,
        (clock, ticks_per_ns): (&'a Clock, f64),
        staged: &'a Staged,
        files: &'a Files,
        (thread, job): (usize, &TimeJob),
    ) -> Self {
        let open = |recipe| Codec::open(library, recipe, staged.page_size, job.seed);
        let pages = job.pages.min(staged.places.len()).max(1);
        Self {
            clock,
            ticks_per_ns,
            staged,
            files,
            thread,
            threads: job.cpus.len().max(1),
            codecs: job.recipes.iter().map(open).collect(),
            rng: ChaCha8Rng::seed_from_u64(job.seed ^ (thread as u64) << 32),
            pages,
            evict: Eviction::new(),
            sealed: Room::new(pages * staged.page_size),
            back: Room::new(pages * staged.page_size),
        }
    }

    fn visit_all(mut lane: Self, meet: &Barrier, job: &TimeJob) -> Result<Vec<TimedCell>, Finding> {
        let mut cells = Vec::new();
        for medium in &job.media {
            match medium {
                Medium::Sequential | Medium::Random => {
                    for recipe in shuffled(&mut lane.rng, job.recipes.len(), job.seed) {
                        meet.wait();
                        cells.extend(lane.in_memory(recipe, *medium, Keying::Reused));
                        if *medium == Medium::Sequential && job.recipes[recipe].cipher.is_some() {
                            meet.wait();
                            cells.extend(lane.in_memory(recipe, *medium, Keying::PerPage));
                        }
                    }
                }
                Medium::Cache | Medium::Direct => {
                    meet.wait();
                    cells.extend(media::pages(&mut lane, *medium));
                }
                Medium::Log => {
                    meet.wait();
                    // A log has one end.
                    if lane.thread == 0 {
                        cells.extend(media::log(&mut lane));
                    }
                }
            }
        }
        Ok(cells)
    }

    /// One visit of a scheme in memory: both directions.
    fn in_memory(&mut self, recipe: usize, medium: Medium, keying: Keying) -> Vec<TimedCell> {
        let cell = |direction| TimedCell {
            recipe,
            medium,
            keying,
            direction,
            crypto_ns: Vec::new(),
            io_ns: Vec::new(),
            disturbed: false,
            throughput: 0.0,
            finding: None,
        };
        let mut cells = vec![cell(Direction::Encrypt), cell(Direction::Decrypt)];
        let mut codec =
            match std::mem::replace(&mut self.codecs[recipe], Err(Finding::failed("in use"))) {
                Ok(codec) => codec,
                Err(finding) => {
                    cells.iter_mut().for_each(|c| c.finding = Some(finding.clone()));
                    self.codecs[recipe] = Err(finding);
                    return cells;
                }
            };
        let picks = self.picks(medium);
        let outcome = self.both_ways(&mut codec, &picks, keying, &mut cells);
        let reset = if keying == Keying::PerPage { codec.reset() } else { Ok(()) };
        if let Err(finding) = outcome.and(reset) {
            cells.iter_mut().for_each(|c| c.finding = Some(finding.clone()));
        }
        self.codecs[recipe] = Ok(codec);
        cells
    }

    fn picks(&mut self, medium: Medium) -> Vec<usize> {
        let all = self.staged.places.len();
        let from = (self.rng.next_u64() % all as u64) as usize;
        match medium {
            Medium::Sequential => (0..self.pages).map(|i| (from + i) % all).collect(),
            _ => (0..self.pages).map(|_| (self.rng.next_u64() % all as u64) as usize).collect(),
        }
    }

    fn both_ways(
        &mut self,
        codec: &mut Codec,
        picks: &[usize],
        keying: Keying,
        cells: &mut [TimedCell],
    ) -> Result<(), Finding> {
        let size = self.staged.page_size;
        let per_page = keying == Keying::PerPage;
        let len = codec.metadata_bytes();
        let mut beside = vec![0; len * picks.len()];
        let clock = self.clock;
        self.evict.run();
        for (i, pick) in picks.iter().take(WARM_UPS).enumerate() {
            let (page, at) = (self.staged.page(*pick), &self.staged.places[*pick]);
            let out = self.sealed.page(i, size);
            seal(codec, at, page, out, &mut beside[..len], per_page).map_err(failed)?;
        }
        let watch = Watch::begin(clock);
        for (i, pick) in picks.iter().enumerate() {
            let (page, at) = (self.staged.page(*pick), &self.staged.places[*pick]);
            let out = self.sealed.page(i, size);
            let beside = &mut beside[i * len..][..len];
            let (ticks, result) = clock.time(|| seal(codec, at, page, out, beside, per_page));
            result.map_err(failed)?;
            cells[0].crypto_ns.push(self.nanoseconds(ticks));
        }
        watch.end(clock, &mut cells[0]);
        self.evict.run();
        self.back.all().fill(0x5a);
        self.evict.run();
        for (i, pick) in picks.iter().take(WARM_UPS).enumerate() {
            let at = &self.staged.places[*pick];
            let (cipher, beside) = (self.sealed.read(i, size), &beside[i * len..][..len]);
            let out = self.back.page(i, size);
            unseal(codec, at, cipher, beside, out, per_page).map_err(refused)?;
        }
        let watch = Watch::begin(clock);
        for (i, pick) in picks.iter().enumerate() {
            let at = &self.staged.places[*pick];
            let (cipher, beside) = (self.sealed.read(i, size), &beside[i * len..][..len]);
            let out = self.back.page(i, size);
            let (ticks, result) = clock.time(|| unseal(codec, at, cipher, beside, out, per_page));
            result.map_err(refused)?;
            cells[1].crypto_ns.push(self.nanoseconds(ticks));
        }
        watch.end(clock, &mut cells[1]);
        for (i, pick) in picks.iter().enumerate() {
            if self.back.read(i, size) != self.staged.page(*pick) {
                return Err(Finding::refused(
                    "timed-output: a page that was timed came back as another",
                ));
            }
        }
        Ok(())
    }

    /// Ticks as whole nanoseconds.
    pub(super) fn nanoseconds(&self, ticks: u64) -> u32 {
        (ticks as f64 / self.ticks_per_ns).round().min(f64::from(u32::MAX)) as u32
    }
}

#[inline(always)]
fn seal(
    codec: &mut Codec,
    at: &at_rest::scheme::Position,
    page: &[u8],
    out: &mut [u8],
    beside: &mut [u8],
    per_page: bool,
) -> Result<(), i32> {
    if per_page {
        codec.rekey(Direction::Encrypt, at)?;
    }
    codec.seal(at, page, out, beside, Draw::System)
}

#[inline(always)]
fn unseal(
    codec: &mut Codec,
    at: &at_rest::scheme::Position,
    cipher: &[u8],
    beside: &[u8],
    out: &mut [u8],
    per_page: bool,
) -> Result<(), Refusal> {
    if per_page {
        codec.rekey(Direction::Decrypt, at).map_err(Refusal::Failed)?;
    }
    codec.unseal(at, cipher, beside, out)
}

/// What disturbed a visit.
pub(super) struct Watch {
    quiet: Undisturbed,
    throughput: f64,
}

impl Watch {
    pub(super) fn begin(clock: &Clock) -> Self {
        let throughput = clock.throughput();
        Self { quiet: Undisturbed::begin(), throughput }
    }

    pub(super) fn end(self, clock: &Clock, cell: &mut TimedCell) {
        cell.disturbed = !self.quiet.end().nothing();
        cell.throughput = self.throughput.min(clock.throughput());
    }
}

pub(super) fn failed(code: i32) -> Finding {
    Finding::failed(format!("the library returned error {code}"))
}

pub(super) fn refused(refusal: Refusal) -> Finding {
    match refusal {
        Refusal::Noticed => Finding::refused("timed-output: its own page is not taken"),
        Refusal::Failed(code) => failed(code),
    }
}

/// An order of schemes, the same in all threads of a visit: they come to the same meetings.
fn shuffled(rng: &mut ChaCha8Rng, count: usize, seed: u64) -> Vec<usize> {
    let _ = rng.next_u64();
    let mut own = ChaCha8Rng::seed_from_u64(seed ^ 0x0bde);
    let mut order: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        order.swap(i, (own.next_u64() % (i as u64 + 1)) as usize);
    }
    order
}
