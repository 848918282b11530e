//! Timing of single pages, in one thread or in several at once: in memory, through a file, and at the end of
//! a log.

use crate::protocol::{Finding, LOG_BYTES, Latencies, Other, PageVisit, VisitResult, not_opened};
use crate::worker::pages::{Files, Staged};
use base::model::{Direction, RawSample, Settling};
use contract::Library;
use probe::pages::{Codec, Draw, Refusal};
use probe::{Clock, around_parts};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use record::at_rest::scheme::Recipe;
use record::at_rest::{Keying, Medium};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::Barrier;
use std::time::Duration;

/// Times that a page is encrypted or decrypted untimed before a sample: its code and its keys are warm,
/// its pages are not.
const WARM_UPS: usize = 6;

pub(crate) struct PageBench {
    pub(crate) process: u32,
    pub(crate) tick_ns: f64,
    seed: u64,
    lanes: Vec<Lane>,
}

pub(crate) struct Scene<'a> {
    pub(crate) library: &'static dyn Library,
    pub(crate) clock: &'a Clock,
    pub(crate) staged: &'a Staged,
    pub(crate) files: &'a Files,
    pub(crate) visit: &'a PageVisit,
    pub(crate) process: u32,
    pub(crate) tick_ns: f64,
    pub(crate) threads: usize,
}

pub(crate) struct Part {
    sample: RawSample,
    crypto: Vec<u64>,
    io: Vec<u64>,
}

type Parts = Result<Vec<Part>, Finding>;

impl PageBench {
    pub(crate) fn new(process: u32, tick_ns: f64, seed: u64) -> Self {
        Self { process, tick_ns, seed, lanes: Vec::new() }
    }

    pub(crate) fn visit(&mut self, scene: &Scene<'_>) -> Vec<VisitResult> {
        self.taken(scene).unwrap_or_else(|finding| vec![VisitResult::Finding(finding)])
    }

    fn taken(&mut self, scene: &Scene<'_>) -> Result<Vec<VisitResult>, Finding> {
        if scene.threads > 1
            && let Some(why) = scene.library.one_thread_only()
        {
            return Err(Finding::unsupported(format!("one thread only: {why}")));
        }
        let seed = self.seed.rotate_left(32) ^ u64::from(self.process);
        for thread in self.lanes.len()..scene.threads {
            self.lanes.push(Lane::new(seed, thread));
        }
        let meet = Barrier::new(scene.threads);
        if scene.threads == 1 {
            let parts = self.lanes[0].visit(scene, &meet)?;
            let samples = parts.into_iter().map(|part| together(scene, vec![part]));
            return Ok(self.lanes[0].settled().into_iter().chain(samples).collect());
        }
        let parts: Vec<Parts> = std::thread::scope(|scope| {
            let started: Vec<_> = (self.lanes.iter_mut().zip(&scene.visit.cpus))
                .map(|(lane, cpu)| {
                    let meet = &meet;
                    scope.spawn(move || {
                        // A thread that cannot be pinned still counts: the kernel places it.
                        let _ = probe::pin_to(&[*cpu]);
                        lane.visit(scene, meet)
                    })
                })
                .collect();
            let panicked = || Finding::failed("a thread that timed pages panicked");
            started.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(panicked()))).collect()
        });
        let parts: Vec<Vec<Part>> = parts.into_iter().collect::<Result<_, _>>()?;
        let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        let next = |_| parts.iter_mut().filter_map(Iterator::next).collect();
        let samples = (0..SAMPLES).map(next).map(|parts| together(scene, parts));
        Ok(self.lanes[0].settled().into_iter().chain(samples).collect())
    }
}

/// One sample's parts of all threads.
fn together(scene: &Scene<'_>, parts: Vec<Part>) -> VisitResult {
    let has_io = scene.visit.medium.has_io();
    // Work that waits for a disk is interrupted by design.
    let is_cut = |s: &RawSample| !has_io && (s.involuntary() > 0 || s.migrated);
    let all = |of: fn(&Part) -> &Vec<u64>| {
        let mut latency = Latencies::default();
        let mut counts = BTreeMap::new();
        for part in &parts {
            if is_cut(&part.sample) {
                latency.disturbed += of(part).len() as u64;
            } else {
                of(part).iter().for_each(|ticks| *counts.entry(*ticks).or_insert(0) += 1);
            }
        }
        Latencies { ticks: counts.into_iter().collect(), ..latency }
    };
    let other = has_io.then(|| Other {
        ticks: parts.iter().map(|part| part.io.iter().sum()).collect(),
        latency: all(|part| &part.io),
    });
    let latency = Some(all(|part| &part.crypto));
    VisitResult::Taken { samples: parts.iter().map(|part| part.sample).collect(), latency, other }
}

/// One thread's part.
pub(crate) struct Lane {
    pub(crate) thread: usize,
    seed: u64,
    codecs: Vec<(Recipe, Codec)>,
    pub(crate) rng: ChaCha8Rng,
    evict: Eviction,
    pub(crate) sealed: Room,
    pub(crate) back: Room,
    /// How the scheme came to its speed in this visit.
    settling: Option<Settling>,
}

impl Lane {
    fn settled(&mut self) -> Option<VisitResult> {
        self.settling.take().map(VisitResult::Settled)
    }

    fn new(seed: u64, thread: usize) -> Self {
        Self {
            thread,
            seed,
            codecs: Vec::new(),
            rng: ChaCha8Rng::seed_from_u64(seed ^ (thread as u64) << 32),
            evict: Eviction::new(),
            sealed: Room::new(0),
            back: Room::new(0),
            settling: None,
        }
    }

    fn visit(&mut self, scene: &Scene<'_>, meet: &Barrier) -> Parts {
        let codec = self.codec(scene);
        // Whoever cannot begin still has to come: the others wait.
        meet.wait();
        let mut codec = codec?;
        if scene.threads == 1 {
            scene.clock.wait_until_quiet();
        }
        let parts = match scene.visit.medium {
            Medium::Sequential | Medium::Random => self.in_memory(&mut codec, scene),
            Medium::Cache | Medium::Direct => file_pages(self, &mut codec, scene),
            Medium::Log => log_end(self, &mut codec, scene),
        };
        self.codecs.push((scene.visit.recipe.clone(), codec));
        parts
    }

    fn codec(&mut self, scene: &Scene<'_>) -> Result<Codec, Finding> {
        let recipe = &scene.visit.recipe;
        match self.codecs.iter().position(|(of, _)| of == recipe) {
            Some(at) => Ok(self.codecs.swap_remove(at).1),
            None => Codec::open(scene.library, recipe, scene.staged.page_size, self.seed)
                .map_err(not_opened),
        }
    }

    /// Room for so many pages; what is there already stays.
    pub(crate) fn room(&mut self, bytes: usize) {
        for room in [&mut self.sealed, &mut self.back] {
            if room.all().len() < bytes {
                *room = Room::new(bytes);
            }
        }
    }

    fn in_memory(&mut self, codec: &mut Codec, scene: &Scene<'_>) -> Parts {
        let picks = self.picks(scene);
        self.room(picks.len() * scene.staged.page_size);
        let parts = self.both_ways(codec, scene, &picks);
        let reset = match scene.visit.keying {
            Keying::PerPage => codec.reset(),
            Keying::Reused => Ok(()),
        };
        parts.and_then(|parts| reset.map_err(not_opened).map(|()| parts))
    }

    fn picks(&mut self, scene: &Scene<'_>) -> Vec<usize> {
        let all = scene.staged.places.len();
        let pages = scene.pages();
        let from = (self.rng.next_u64() % all as u64) as usize;
        match scene.visit.medium {
            Medium::Sequential => (0..pages).map(|i| (from + i) % all).collect(),
            _ => (0..pages).map(|_| (self.rng.next_u64() % all as u64) as usize).collect(),
        }
    }

    /// Encrypts and decrypts the pages, whichever of it was asked for: what comes back is what was there.
    fn both_ways(&mut self, codec: &mut Codec, scene: &Scene<'_>, picks: &[usize]) -> Parts {
        let (sealed, back) = (&mut self.sealed, &mut self.back);
        let beside = vec![0; codec.metadata_bytes() * picks.len()];
        let mut pages = Pages { codec, scene, picks, sealed, back, beside };
        let warm = WARM_UPS.min(picks.len());
        let encrypts = scene.visit.direction == Direction::Encrypt;
        if encrypts {
            self.settling = Some(scene.settle(picks.len(), |i| pages.seal(i))?);
        }
        self.evict.run();
        let encrypted =
            scene.samples(picks.len(), warm, |i| pages.seal(i).map(|ticks| (ticks, 0)))?;
        self.evict.run();
        if !encrypts {
            self.settling = Some(scene.settle(picks.len(), |i| pages.unseal(i))?);
        }
        pages.back.all().fill(0x5a);
        self.evict.run();
        let decrypted =
            scene.samples(picks.len(), warm, |i| pages.unseal(i).map(|ticks| (ticks, 0)))?;
        for (i, pick) in picks.iter().enumerate() {
            if pages.back.read(i, scene.staged.page_size) != scene.staged.page(*pick) {
                return Err(Finding::refused(
                    "timed-output: a page that was timed came back as another",
                ));
            }
        }
        Ok(if encrypts { encrypted } else { decrypted })
    }
}

/// Samples of a visit: as many as a process's median needs.
const SAMPLES: usize = base::analysis::MIN_PER_PROCESS;

impl Scene<'_> {
    pub(crate) fn pages(&self) -> usize {
        self.visit.pages.min(self.staged.places.len()).max(1)
    }

    /// Runs operations on so many pages in turn, untimed, until they get no faster.
    fn settle(
        &self,
        pages: usize,
        mut one: impl FnMut(usize) -> Result<u64, Finding>,
    ) -> Result<Settling, Finding> {
        let least = Duration::from_micros(self.visit.settle_us.into());
        let mut at = 0;
        let settled = probe::settle(
            least,
            || self.clock.is_quiet(),
            |ops| {
                let ticks = (at..at + ops as usize).map(|i| one(i % pages));
                at += ops as usize;
                Ok(ticks.sum::<Result<u64, Finding>>()? as f64 * self.tick_ns)
            },
        )?;
        Ok(Settling { process: self.process, ..settled })
    }

    /// Two samples of so many operations together, each behind so many untimed ones. Each operation says its own ticks and
    /// those of reading or writing.
    pub(crate) fn samples(
        &self,
        operations: usize,
        warm: usize,
        mut one: impl FnMut(usize) -> Result<(u64, u64), Finding>,
    ) -> Parts {
        // An odd one is in both, as the only one is.
        let half = operations.div_ceil(SAMPLES);
        let sample = |range: std::ops::Range<usize>| {
            let (mut crypto, mut io) = (Vec::with_capacity(half), Vec::with_capacity(half));
            // The page that is timed last of all, or was before these.
            let page = (range.start + operations - 1) % operations;
            let ((), around) = around_parts(
                self.clock,
                self.process,
                &mut one,
                |one| (0..warm).try_for_each(|_| one(page).map(|_| ())),
                |one| {
                    range.into_iter().try_for_each(|i| {
                        let (own, other) = one(i)?;
                        crypto.push(own);
                        io.push(other);
                        Ok(())
                    })
                },
            )?;
            let (ops, ticks) = (crypto.len() as u32, crypto.iter().sum());
            Ok(Part { sample: RawSample { ops, ticks, ..around }, crypto, io })
        };
        [0..half, operations - half..operations].into_iter().map(sample).collect()
    }
}

struct Pages<'a> {
    codec: &'a mut Codec,
    scene: &'a Scene<'a>,
    picks: &'a [usize],
    sealed: &'a mut Room,
    back: &'a mut Room,
    beside: Vec<u8>,
}

impl Pages<'_> {
    /// Encrypts one: its ticks.
    fn seal(&mut self, i: usize) -> Result<u64, Finding> {
        let Scene { staged, clock, visit, .. } = self.scene;
        let per_page = visit.keying == Keying::PerPage;
        let (codec, len) = (&mut *self.codec, self.beside.len() / self.picks.len());
        let (page, at) = (staged.page(self.picks[i]), &staged.places[self.picks[i]]);
        let out = self.sealed.page(i, staged.page_size);
        let beside = &mut self.beside[i * len..][..len];
        codec.seal_timed(clock, per_page, at, page, out, beside).map_err(failed)
    }

    /// Decrypts one: its ticks.
    fn unseal(&mut self, i: usize) -> Result<u64, Finding> {
        let Scene { staged, clock, visit, .. } = self.scene;
        let per_page = visit.keying == Keying::PerPage;
        let (codec, len) = (&mut *self.codec, self.beside.len() / self.picks.len());
        let at = &staged.places[self.picks[i]];
        let cipher = self.sealed.read(i, staged.page_size);
        let (beside, out) = (&self.beside[i * len..][..len], self.back.page(i, staged.page_size));
        codec.unseal_timed(clock, per_page, at, cipher, beside, out).map_err(refused)
    }
}

pub(crate) fn failed(code: i32) -> Finding {
    Finding::failed(format!("the library returned error {code}"))
}

pub(crate) fn refused(refusal: Refusal) -> Finding {
    match refusal {
        Refusal::Noticed => Finding::refused("timed-output: its own page is not taken"),
        Refusal::Failed(code) => failed(code),
    }
}

// Pages through a file: from the page cache, past it, and at the end of a log ([`log`]).

/// Bytes of the scratch file that all threads' pages together take, at most: a worker may write no
/// larger file.
const SCRATCH: usize = 48 << 20;

/// Most pages of a scheme in the file.
const MOST_PAGES: usize = 128;

/// How much fewer operations are timed where each waits for a disk.
const DISK_SHARE: usize = 4;

/// The pages of one scheme in the scratch file.
struct Kept<'a> {
    codec: &'a mut Codec,
    file: &'a File,
    /// Byte of the file at which its pages begin.
    offset: u64,
    picks: Vec<usize>,
    beside: Vec<Vec<u8>>,
}

fn below(lane: &mut Lane, n: usize) -> usize {
    (lane.rng.next_u64() % n as u64) as usize
}

/// Reads with decryption, or writes with encryption, of single pages.
pub(crate) fn file_pages(
    lane: &mut Lane,
    codec: &mut Codec,
    scene: &Scene<'_>,
) -> Result<Vec<Part>, Finding> {
    let file = file(scene)?;
    let share = if scene.visit.medium == Medium::Direct { DISK_SHARE } else { 1 };
    let operations = (scene.pages() / share).max(1);
    lane.room(scene.staged.page_size);
    let mut kept = Kept::put(lane, codec, file, scene, operations)?;
    scene.samples(operations, 0, |_| match scene.visit.direction {
        Direction::Encrypt => kept.write(lane, scene),
        _ => kept.read(lane, scene),
    })
}

fn file<'a>(scene: &Scene<'a>) -> Result<&'a File, Finding> {
    let scratch = || Finding::unsupported("there is no scratch file");
    let files = scene.files;
    match scene.visit.medium {
        Medium::Direct => files.direct.as_ref().map_err(|why| Finding::unsupported(why.clone())),
        _ => files.scratch.as_ref().ok_or_else(scratch),
    }
}

fn io_failed(e: std::io::Error) -> Finding {
    Finding::failed(format!("scratch file: {e}"))
}

impl<'a> Kept<'a> {
    fn put(
        lane: &mut Lane,
        codec: &'a mut Codec,
        file: &'a File,
        scene: &Scene<'_>,
        operations: usize,
    ) -> Result<Self, Finding> {
        let size = scene.staged.page_size;
        let most = MOST_PAGES.min(operations).max(4);
        let each = (SCRATCH / (size * scene.threads)).clamp(4, most);
        let offset = (lane.thread * each * size) as u64;
        let all = scene.staged.places.len();
        let picks: Vec<usize> = (0..each).map(|_| below(lane, all)).collect();
        let mut beside = vec![vec![0; codec.metadata_bytes()]; each];
        let mut page = Room::new(size);
        for (i, pick) in picks.iter().enumerate() {
            let (at, plain) = (&scene.staged.places[*pick], scene.staged.page(*pick));
            codec.seal(at, plain, page.all(), &mut beside[i], Draw::Unforeseen).map_err(failed)?;
            file.write_all_at(page.all(), offset + (i * size) as u64).map_err(io_failed)?;
        }
        file.sync_data().map_err(io_failed)?;
        Ok(Self { codec, file, offset, picks, beside })
    }

    /// One of its pages, and where in the file it begins.
    fn any(&self, lane: &mut Lane, scene: &Scene<'_>) -> (usize, u64) {
        let i = below(lane, self.picks.len());
        (i, self.offset + (i * scene.staged.page_size) as u64)
    }

    fn read(&mut self, lane: &mut Lane, scene: &Scene<'_>) -> Result<(u64, u64), Finding> {
        let Scene { staged, clock, .. } = scene;
        let (i, offset) = self.any(lane, scene);
        let size = staged.page_size;
        let (cipher, plain) = (lane.sealed.page(0, size), lane.back.page(0, size));
        let (io, result) = clock.time(|| self.file.read_exact_at(cipher, offset));
        result.map_err(io_failed)?;
        let at = &staged.places[self.picks[i]];
        let beside = &self.beside[i];
        let crypto =
            self.codec.unseal_timed(clock, false, at, cipher, beside, plain).map_err(refused)?;
        if *plain != *staged.page(self.picks[i]) {
            return Err(Finding::refused(
                "timed-output: a page that was read came back as another",
            ));
        }
        Ok((crypto, io))
    }

    fn write(&mut self, lane: &mut Lane, scene: &Scene<'_>) -> Result<(u64, u64), Finding> {
        let Scene { staged, clock, .. } = scene;
        let (i, offset) = self.any(lane, scene);
        let size = staged.page_size;
        let (cipher, plain) = (lane.sealed.page(0, size), lane.back.page(0, size));
        plain.copy_from_slice(staged.page(self.picks[i]));
        let at = &staged.places[self.picks[i]];
        let beside = &mut self.beside[i];
        let crypto =
            self.codec.seal_timed(clock, false, at, plain, cipher, beside).map_err(failed)?;
        let (io, result) = clock.time(|| self.file.write_all_at(cipher, offset));
        result.map_err(io_failed)?;
        self.codec.unseal(at, cipher, beside, plain).map_err(refused)?;
        if *plain != *staged.page(self.picks[i]) {
            return Err(Finding::refused(
                "timed-output: a page that was written came back as another",
            ));
        }
        Ok((crypto, io))
    }
}

// The end of a log, each unit forced to the disk.

/// How much fewer operations are timed where each waits for a disk.
const LOG_SHARE: usize = 8;

/// Units encrypted, appended with what belongs beside them, and forced to the disk.
pub(crate) fn log_end(
    lane: &mut Lane,
    codec: &mut Codec,
    scene: &Scene<'_>,
) -> Result<Vec<Part>, Finding> {
    let Scene { staged, clock, files, .. } = scene;
    let Some(log) = &files.log else {
        return Err(Finding::unsupported("there is no scratch file"));
    };
    let mut end = 0;
    scene.samples((scene.pages() / LOG_SHARE).max(1), 0, |_| {
        let pick = below(lane, staged.places.len());
        let (at, plain) = (&staged.places[pick], staged.page(pick));
        let mut unit = vec![0; staged.page_size + codec.metadata_bytes()];
        let (cipher, beside) = unit.split_at_mut(staged.page_size);
        let crypto = codec.seal_timed(clock, false, at, plain, cipher, beside).map_err(failed)?;
        if end + unit.len() as u64 > LOG_BYTES {
            end = 0;
        }
        let (io, result) =
            clock.time(|| log.write_all_at(&unit, end).and_then(|()| log.sync_data()));
        result.map_err(io_failed)?;
        end += unit.len() as u64;
        let (cipher, beside) = unit.split_at(staged.page_size);
        let mut back = vec![0; staged.page_size];
        codec.unseal(at, cipher, beside, &mut back).map_err(refused)?;
        if back != plain {
            return Err(Finding::refused("timed-output: a unit of the log came back as another"));
        }
        Ok((crypto, io))
    })
}

// Memory of a thread that times pages: room for what goes in and out, laid out once.
/// Bytes to which direct I/O wants its buffers aligned, on every file system.
const ALIGNMENT: usize = 4096;

/// Bytes read to push the pages of the last visit out of the near caches: twice the second level of
/// any core to date.
const EVICT: usize = 8 << 20;

pub(crate) struct Room {
    bytes: Vec<u8>,
    from: usize,
    len: usize,
}

impl Room {
    /// So many bytes, aligned, and written to: memory that is touched for the first time faults.
    pub(crate) fn new(len: usize) -> Self {
        let bytes = vec![0x5a; len + ALIGNMENT];
        let from = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, from, len }
    }

    pub(crate) fn all(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.len]
    }

    pub(crate) fn page(&mut self, i: usize, page_size: usize) -> &mut [u8] {
        &mut self.all()[i * page_size..][..page_size]
    }

    pub(crate) fn read(&self, i: usize, page_size: usize) -> &[u8] {
        &self.bytes[self.from..self.from + self.len][i * page_size..][..page_size]
    }
}

/// What is read between visits.
pub(crate) struct Eviction(Vec<u8>);

impl Eviction {
    pub(crate) fn new() -> Self {
        Self(vec![1; EVICT])
    }

    pub(crate) fn run(&self) {
        let sum = self.0.iter().step_by(64).fold(0_u8, |sum, b| sum.wrapping_add(*b));
        std::hint::black_box(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_aligned_and_as_long_as_asked() {
        let mut room = Room::new(3 * 8192);
        assert_eq!(room.all().len(), 3 * 8192);
        assert_eq!(room.all().as_ptr() as usize % ALIGNMENT, 0);
        room.page(2, 8192).fill(7);
        assert_eq!(room.read(2, 8192)[8191], 7);
        assert_ne!(room.read(1, 8192)[8191], 7);
    }

    #[test]
    fn pages_that_go_out_for_the_first_time_fault_no_more_than_later() {
        let faults = || -> u64 {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
            let (_, behind) = stat.rsplit_once(") ").unwrap();
            behind.split(' ').nth(7).unwrap().parse().unwrap()
        };
        let mut room = Room::new(1024 * 4096);
        let before = faults();
        (0..1024).for_each(|i| room.page(i, 4096)[0] = 1);
        let met = faults() - before;
        assert!(met < 512, "{met}");
    }
}
