//! Pages in the worker: staged ones are taken into memory, encrypted and decrypted through the library, and
//! changed in every way there is a name for, to see what is noticed.

mod timing;

use crate::protocol::{
    Finding, Hello, PageAnswer, PageFiles, PageJob, PageVisit, ProbeJob, Reply, Staging, VerifyJob,
    VisitResult, not_opened,
};
use crate::worker;
use crate::worker::checks::Pulse;
use contract::Library;
use probe::Clock;
use probe::pages::{Codec, Draw, Refusal};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use record::at_rest::ProbeCounts;
use record::at_rest::scheme::{
    Effect, Expected, POSITION_BYTES, Position, Probe, Recipe, SchemeClass, expected,
};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use timing::{PageBench, Scene};
use xxhash_rust::xxh3::Xxh3;

pub(crate) struct Desk {
    files: Files,
    staged: Staged,
    bench: PageBench,
}

/// The scheduler's files, opened by this worker: positions and modes are its own.
pub(crate) struct Files {
    plain: File,
    places: File,
    out: File,
    scratch: Option<File>,
    /// The scratch file without the page cache; else why not.
    direct: Result<File, String>,
    log: Option<File>,
}

#[derive(Default)]
pub(crate) struct Staged {
    bytes: Vec<u8>,
    places: Vec<Position>,
    page_size: usize,
}

impl Staged {
    fn page(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.page_size..][..self.page_size]
    }
}

impl Desk {
    /// Opens what the scheduler has open, and takes what is staged into memory.
    pub(crate) fn open(hello: &Hello, files: &PageFiles) -> Result<Self, String> {
        let staging = files.staged;
        let open = |fd: i32, write: bool| {
            let file = OpenOptions::new().read(true).write(write).open(path(files, fd));
            file.map_err(|e| format!("a file for pages: {e}"))
        };
        let write = |fd: Option<i32>| fd.map(|fd| open(fd, true)).transpose();
        let files = Files {
            plain: open(files.plain, false)?,
            places: open(files.places, false)?,
            out: open(files.out, true)?,
            scratch: write(files.scratch)?,
            direct: match files.scratch {
                Some(fd) => direct(&path(files, fd)),
                None => Err("no scratch file".to_owned()),
            },
            log: write(files.log)?,
        };
        let tick_ns = 1.0 / hello.ticks_per_ns.unwrap_or(1.0);
        let bench = PageBench::new(hello.process, tick_ns, hello.seed);
        let mut desk = Self { files, staged: Staged::default(), bench };
        if let Some(staging) = staging {
            desk.load(staging)?;
        }
        Ok(desk)
    }

    pub(crate) fn answer(
        &mut self,
        library: &'static dyn Library,
        clock: &Clock,
        job: &PageJob,
    ) -> Result<Reply, Finding> {
        let answer = match job {
            PageJob::Load(staging) => {
                self.load(*staging).map(|()| PageAnswer::Loaded).map_err(Finding::failed)
            }
            PageJob::Verify(job) => verify_pages(library, &self.staged, &self.files.out, job),
            PageJob::Probe(job) => probe_pages(library, &self.staged, job),
            PageJob::Time { visits, .. } => {
                let results = visits.iter().map(|visit| self.visit(library, clock, visit));
                return Ok(Reply::Samples { results: results.collect() });
            }
        };
        answer.map(|answer| Reply::Pages(Box::new(answer)))
    }

    /// Takes the samples of a visit, which count only if the library reached for nothing it must not and left
    /// the process as it was.
    fn visit(
        &mut self,
        library: &'static dyn Library,
        clock: &Clock,
        visit: &PageVisit,
    ) -> Vec<VisitResult> {
        if self.staged.places.is_empty() {
            return vec![VisitResult::Finding(Finding::failed("no pages are staged"))];
        }
        let threads = visit.cpus.len().max(1);
        let PageBench { process, tick_ns, .. } = self.bench;
        let Self { files, staged, bench } = self;
        let pulse = Pulse::now();
        let mut results =
            bench.visit(&Scene { library, clock, staged, files, visit, process, tick_ns, threads });
        if threads == 1
            && let Some(finding) = pulse.changed()
        {
            results = vec![VisitResult::Finding(finding)];
        }
        results.into_iter().map(worker::held_visit).collect()
    }

    fn load(&mut self, Staging { pages, page_size }: Staging) -> Result<(), String> {
        let mut staged =
            Staged { bytes: vec![0; pages * page_size], places: Vec::new(), page_size };
        let mut places = vec![0; pages * POSITION_BYTES];
        let failed = |e: std::io::Error| format!("cannot read staged pages: {e}");
        self.files.plain.read_exact_at(&mut staged.bytes, 0).map_err(failed)?;
        self.files.places.read_exact_at(&mut places, 0).map_err(failed)?;
        let (places, _) = places.as_chunks::<POSITION_BYTES>();
        staged.places = places.iter().map(Position::from_bytes).collect();
        self.staged = staged;
        Ok(())
    }
}

/// Where a file that the scheduler has open is found.
fn path(files: &PageFiles, fd: i32) -> String {
    format!("/proc/{}/fd/{fd}", files.owner)
}

fn direct(path: &str) -> Result<File, String> {
    let flags = rustix::fs::OFlags::DIRECT.bits();
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(i32::try_from(flags).unwrap_or(0));
    options.open(path).map_err(|e| format!("the scratch file's system has no direct I/O ({e})"))
}

// Every staged page through the library and back.

/// Encrypts every page under nonces that are the same in every library, and decrypts it.
fn verify_pages(
    library: &'static dyn Library,
    staged: &Staged,
    out: &File,
    job: &VerifyJob,
) -> Result<PageAnswer, Finding> {
    let mut codec =
        Codec::open(library, &job.recipe, staged.page_size, job.seed).map_err(not_opened)?;
    let mut digest = Xxh3::new();
    let (mut cipher, mut back) = (vec![0; staged.page_size], vec![0; staged.page_size]);
    let mut beside = vec![0; codec.metadata_bytes()];
    for (i, place) in staged.places.iter().enumerate() {
        let plain = staged.page(i);
        codec.seal(place, plain, &mut cipher, &mut beside, Draw::Fixed(job.seed)).map_err(
            |code| Finding::failed(format!("page {i}: the library returned error {code}")),
        )?;
        if job.recipe.cipher.is_some() && cipher == plain {
            return Err(Finding::refused(format!("page {i}: the ciphertext is the plaintext")));
        }
        digest.update(&cipher);
        digest.update(&beside);
        back.fill(0xa5);
        codec.unseal(place, &cipher, &beside, &mut back).map_err(|refusal| match refusal {
            Refusal::Noticed => Finding::refused(format!("page {i}: its own page is not taken")),
            Refusal::Failed(code) => {
                Finding::failed(format!("page {i}: the library returned error {code}"))
            }
        })?;
        if back != plain {
            return Err(Finding::refused(format!("page {i}: it comes back as another")));
        }
        if job.copy.is_some_and(|(every, from)| i % every == from) {
            out.write_all_at(&back, (i * staged.page_size) as u64)
                .map_err(|e| Finding::failed(format!("cannot hand a page on: {e}")))?;
        }
    }
    let sum_by = codec.sum_by().map(ToOwned::to_owned);
    Ok(PageAnswer::Verified { digest: hex::encode(digest.digest128().to_be_bytes()), sum_by })
}

// Probes: stored pages are changed in every way there is a name for, then read.

/// Bytes of each half that an older version of a page has otherwise.
const CHANGED: usize = 64;

/// Makes every probe so many times.
fn probe_pages(
    library: &'static dyn Library,
    staged: &Staged,
    job: &ProbeJob,
) -> Result<PageAnswer, Finding> {
    let codec =
        Codec::open(library, &job.recipe, staged.page_size, job.seed).map_err(not_opened)?;
    let mut prober = Prober {
        codec,
        staged,
        recipe: &job.recipe,
        rng: ChaCha8Rng::seed_from_u64(job.seed),
        fit: fit(staged),
    };
    let mut counts = Vec::new();
    for &probe in Probe::ALL {
        let mut count = ProbeCounts { probe, tried: 0, noticed: 0, effects: Vec::new() };
        if expected(&job.recipe, probe) != Expected::NotApplicable {
            for _ in 0..job.count {
                if !prober.one(probe, &mut count)? {
                    // No page has a partner, and finding that out takes each page with each other.
                    break;
                }
            }
        }
        counts.push(count);
    }
    Ok(PageAnswer::Probed { counts })
}

/// Pages whose halves both hold something: on others a change may change nothing.
fn fit(staged: &Staged) -> Vec<usize> {
    let holds = |bytes: &[u8]| bytes.iter().filter(|b| **b != 0).count() >= CHANGED;
    let fits = |i: &usize| {
        let (first, second) = staged.page(*i).split_at(staged.page_size / 2);
        holds(first) && holds(second)
    };
    (0..staged.places.len()).filter(fits).collect()
}

struct Prober<'a> {
    codec: Codec,
    staged: &'a Staged,
    recipe: &'a Recipe,
    rng: ChaCha8Rng,
    fit: Vec<usize>,
}

#[derive(Clone)]
struct Stored {
    cipher: Vec<u8>,
    beside: Vec<u8>,
}

impl Prober<'_> {
    fn below(&mut self, n: usize) -> usize {
        (self.rng.next_u64() % n.max(1) as u64) as usize
    }

    /// One probe of a page that is picked at random; false where there is none to pick.
    fn one(&mut self, probe: Probe, count: &mut ProbeCounts) -> Result<bool, Finding> {
        let Some((page, partner)) = self.pick(probe) else { return Ok(false) };
        let at = self.staged.places[page];
        let present = self.staged.page(page).to_vec();
        let old = self.older(&present);
        let before = Position { version: at.version.wrapping_sub(1), ..at };
        let now = self.stored(&at, &present)?;
        let then = self.stored(&before, &old)?;
        let other = partner.map(|p| (self.staged.places[p], self.staged.page(p).to_vec()));
        let other_stored = match &other {
            Some((place, content)) => Some(self.stored(place, content)?),
            None => None,
        };
        let other = other.map(|(_, content)| content).unwrap_or_default();
        let mut meant = Vec::new();
        let read = match probe {
            Probe::Swap | Probe::OtherFile => other_stored.unwrap_or(now),
            Probe::Replay => then,
            Probe::Rewrite => {
                let made = self.rewritten(&at, &present, &now, &old, &then);
                meant = made.1;
                made.0
            }
            _ => self.changed(probe, &now, &then),
        };
        let mut got = vec![0x5a; present.len()];
        count.tried += 1;
        match self.codec.unseal(&at, &read.cipher, &read.beside, &mut got) {
            Err(Refusal::Noticed) => count.noticed += 1,
            Err(Refusal::Failed(code)) => {
                return Err(Finding::failed(format!(
                    "probe {}: the library returned error {code}",
                    probe.name()
                )));
            }
            Ok(()) => {
                let contents =
                    Contents { present: &present, old: &old, other: &other, meant: &meant };
                count.add(contents.effect(&got));
            }
        }
        Ok(true)
    }

    /// A page, and the one that it changes places with.
    fn pick(&mut self, probe: Probe) -> Option<(usize, Option<usize>)> {
        if self.fit.is_empty() {
            return None;
        }
        let needs_partner = matches!(probe, Probe::Swap | Probe::OtherFile);
        let start = self.below(self.fit.len());
        for step in 0..self.fit.len() {
            let page = self.fit[(start + step) % self.fit.len()];
            if !needs_partner {
                return Some((page, None));
            }
            if let Some(partner) = self.partner(probe, page) {
                return Some((page, Some(partner)));
            }
        }
        None
    }

    fn partner(&self, probe: Probe, page: usize) -> Option<usize> {
        let at = self.staged.places[page];
        let suits = |candidate: &usize| {
            let there = self.staged.places[*candidate];
            let fits = match probe {
                Probe::Swap => at.same_file(&there) && at.block != there.block,
                // Another relation: a fork of the same one can share its key.
                _ => {
                    (at.database, at.relation) != (there.database, there.relation)
                        && at.block == there.block
                        && at.fork == there.fork
                }
            };
            let differ = |(a, b): &(&u8, &u8)| a != b;
            fits && self
                .staged
                .page(page)
                .iter()
                .zip(self.staged.page(*candidate))
                .filter(differ)
                .count()
                > 2 * CHANGED
        };
        self.fit.iter().copied().find(suits)
    }

    fn stored(&mut self, at: &Position, plain: &[u8]) -> Result<Stored, Finding> {
        let mut made =
            Stored { cipher: vec![0; plain.len()], beside: vec![0; self.codec.metadata_bytes()] };
        let draw = Draw::Fixed(self.rng.next_u64());
        self.codec
            .seal(at, plain, &mut made.cipher, &mut made.beside, draw)
            .map_err(|code| Finding::failed(format!("the library returned error {code}")))?;
        Ok(made)
    }

    /// An older version of a page: in each half some bytes were others.
    fn older(&mut self, present: &[u8]) -> Vec<u8> {
        let mut old = present.to_vec();
        let half = old.len() / 2;
        for from in [0, half] {
            let at = from + self.below(half - CHANGED);
            old[at..at + CHANGED].iter_mut().for_each(|b| *b ^= 0x5f);
        }
        old
    }

    /// The present page with what an accident or a vandal does to it.
    fn changed(&mut self, probe: Probe, now: &Stored, then: &Stored) -> Stored {
        let mut read = now.clone();
        let half = read.cipher.len() / 2;
        let nonce = self.recipe.stored_nonce_bytes();
        match probe {
            Probe::FlipCiphertext => {
                let last = read.cipher.len();
                // Not in the last block, so that a chain has a next one.
                let bit = self.below((last - 16) * 8);
                read.cipher[bit / 8] ^= 1 << (bit % 8);
            }
            Probe::FlipNonce => {
                let bit = self.below(nonce * 8);
                read.beside[bit / 8] ^= 1 << (bit % 8);
            }
            Probe::FlipTag | Probe::FlipSum => {
                let len = read.beside.len() - nonce;
                let bit = self.below(len * 8);
                read.beside[nonce + bit / 8] ^= 1 << (bit % 8);
            }
            Probe::Torn => read.cipher[half..].copy_from_slice(&then.cipher[half..]),
            Probe::Truncated => read.cipher[half..].fill(0),
            _ => {
                read.cipher.fill(0);
                read.beside.fill(0);
            }
        }
        read
    }

    /// What somebody makes who knows both contents and both ciphertexts and has no key, and what they
    /// mean the page to read.
    fn rewritten(
        &mut self,
        at: &Position,
        present: &[u8],
        now: &Stored,
        old: &[u8],
        then: &Stored,
    ) -> (Stored, Vec<u8>) {
        let mut made = now.clone();
        let mut meant = present.to_vec();
        match self.recipe.class() {
            SchemeClass::Plain => {
                meant[..CHANGED].copy_from_slice(&[b'!'; CHANGED]);
                made.cipher.clone_from(&meant);
            }
            SchemeClass::Stream | SchemeClass::Authenticated => {
                meant[..CHANGED].copy_from_slice(&[b'!'; CHANGED]);
                let change = present.iter().zip(&meant).map(|(a, b)| a ^ b);
                made.cipher.iter_mut().zip(change).for_each(|(c, x)| *c ^= x);
            }
            // The old version, whole.
            SchemeClass::Wide => {
                meant.copy_from_slice(old);
                made.cipher.clone_from(&then.cipher);
            }
            // Of two versions' blocks whichever one likes.
            SchemeClass::Blocks => {
                let half = present.len() / 2;
                meant[..half].copy_from_slice(&old[..half]);
                made.cipher[..half].copy_from_slice(&then.cipher[..half]);
            }
            // The chain goes on behind the splice, which garbles one block.
            SchemeClass::Chain => {
                let half = present.len() / 2;
                meant[half..].copy_from_slice(&old[half..]);
                made.cipher[half..].copy_from_slice(&then.cipher[half..]);
            }
        }
        self.codec.forge_checksum(at, &meant, &mut made.beside);
        (made, meant)
    }
}

// What an unnoticed change did to a page, by what the page now is.

/// What a page can have become.
struct Contents<'a> {
    present: &'a [u8],
    old: &'a [u8],
    /// The page that came into its place; empty where there is none.
    other: &'a [u8],
    /// What the one who wrote it meant; empty where nobody did.
    meant: &'a [u8],
}

/// Bytes of a cipher block.
const BLOCK: usize = 16;

impl Contents<'_> {
    fn effect(&self, got: &[u8]) -> Effect {
        let half = got.len() / 2;
        if got == self.present {
            return Effect::None;
        }
        if got == self.meant {
            return Effect::AsMeant;
        }
        if got == self.old {
            return Effect::OldPage;
        }
        if got.iter().all(|b| *b == 0) {
            return Effect::Zeros;
        }
        if !self.other.is_empty() && differing(got, self.other) <= BLOCK {
            return Effect::OtherPage;
        }
        if got[..half] == self.present[..half] && got[half..].iter().all(|b| *b == 0) {
            return Effect::HalfZero;
        }
        let mixed = differing(&got[..half], &self.present[..half])
            + differing(&got[half..], &self.old[half..]);
        if mixed <= BLOCK {
            return Effect::Mixed;
        }
        small(got, self.present)
    }
}

fn differing(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

fn small(got: &[u8], present: &[u8]) -> Effect {
    let bits = |block: usize| -> u32 {
        let range = block * BLOCK..(block + 1) * BLOCK;
        got[range.clone()].iter().zip(&present[range]).map(|(a, b)| (a ^ b).count_ones()).sum()
    };
    let blocks: Vec<usize> = (0..got.len() / BLOCK).filter(|b| bits(*b) > 0).collect();
    match blocks[..] {
        [one] if bits(one) == 1 => Effect::OneBit,
        [_] => Effect::OneBlock,
        [first, next] if next == first + 1 && bits(next) == 1 => Effect::BlockAndBit,
        _ => Effect::Garbage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_page_is_told_by_what_it_is() {
        let present: Vec<u8> = (0..=255).cycle().take(512).collect();
        let old: Vec<u8> = present.iter().map(|b| b ^ 0x55).collect();
        let other: Vec<u8> = present.iter().map(|b| b.wrapping_mul(7) ^ 3).collect();
        let meant: Vec<u8> = present.iter().rev().copied().collect();
        let contents = Contents { present: &present, old: &old, other: &other, meant: &meant };
        let changed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut got = present.clone();
            change(&mut got);
            contents.effect(&got)
        };
        assert_eq!(changed(&|_| ()), Effect::None);
        assert_eq!(changed(&|g| g[100] ^= 8), Effect::OneBit);
        assert_eq!(changed(&|g| g[96..112].iter_mut().for_each(|b| *b ^= 0x3c)), Effect::OneBlock);
        assert_eq!(
            changed(&|g| {
                g[96..112].iter_mut().for_each(|b| *b ^= 0x3c);
                g[115] ^= 1;
            }),
            Effect::BlockAndBit
        );
        assert_eq!(changed(&|g| g[256..].copy_from_slice(&old[256..])), Effect::Mixed);
        assert_eq!(changed(&|g| g[256..].fill(0)), Effect::HalfZero);
        assert_eq!(changed(&|g| g.fill(0)), Effect::Zeros);
        assert_eq!(changed(&|g| g.copy_from_slice(&other)), Effect::OtherPage);
        assert_eq!(changed(&|g| g.copy_from_slice(&old)), Effect::OldPage);
        assert_eq!(changed(&|g| g.copy_from_slice(&meant)), Effect::AsMeant);
        assert_eq!(
            changed(&|g| g.iter_mut().for_each(|b| *b = b.wrapping_add(77))),
            Effect::Garbage
        );
    }
}
