//! Pages through a file: from the page cache, past it, and at the end of a log. Schemes take turns
//! operation by operation, so that the disk's drift meets all of them alike.

use super::codec::{Codec, Draw};
use super::memory::Room;
use super::time::{Lane, Watch, failed, refused};
use crate::pages::TimedCell;
use crate::protocol::Finding;
use at_rest::{Keying, Medium};
use model::Direction;
use rand_chacha::rand_core::Rng as _;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Bytes of the scratch file that all threads' pages together take, at most: a worker may write no
/// larger file.
const SCRATCH: usize = 48 << 20;

/// Most pages of a scheme in the file.
const MOST_PAGES: usize = 128;

/// Bytes of a log before it begins anew in the same space, as a recycled segment of `PostgreSQL`'s
/// does: 16 MiB (`wal_segment_size`).
pub(crate) const LOG: u64 = 16 << 20;

/// How much fewer operations are timed where each waits for a disk.
const DISK_SHARE: usize = 4;
const LOG_SHARE: usize = 8;

/// The pages of one scheme in the scratch file.
struct Kept {
    codec: Codec,
    recipe: usize,
    /// Byte of the file at which its pages begin.
    offset: u64,
    /// Which staged pages they are.
    picks: Vec<usize>,
    beside: Vec<Vec<u8>>,
}

/// Reads with decryption and writes with encryption of single pages.
pub(super) fn pages(lane: &mut Lane<'_>, medium: Medium) -> Vec<TimedCell> {
    let mut cells = Vec::new();
    let file = match file(lane, medium) {
        Ok(file) => file,
        Err(finding) => return findings(lane, medium, &BOTH, &finding),
    };
    let mut kept = match keep(lane, file) {
        Ok(kept) => kept,
        Err(finding) => return findings(lane, medium, &BOTH, &finding),
    };
    let mut timed: Vec<[TimedCell; 2]> =
        kept.iter().map(|k| BOTH.map(|d| empty(k.recipe, medium, d))).collect();
    let watch = Watch::begin(lane.clock);
    let share = if medium == Medium::Direct { DISK_SHARE } else { 1 };
    let operations = (lane.pages / share).max(1);
    let mut turn = 0;
    'all: for _ in 0..operations {
        for _ in 0..kept.len() {
            turn += 1;
            let i = turn % kept.len();
            let outcome = read(lane, file, &mut kept[i], &mut timed[i][1])
                .and_then(|()| write(lane, file, &mut kept[i], &mut timed[i][0]));
            if let Err(finding) = outcome {
                timed[i].iter_mut().for_each(|c| c.finding = Some(finding.clone()));
                break 'all;
            }
        }
        // The scheme that comes first is another one each time.
        turn += 1;
    }
    let mut whole = empty(0, medium, Direction::Encrypt);
    watch.end(lane.clock, &mut whole);
    for (kept, timed) in kept.into_iter().zip(timed) {
        lane.codecs[kept.recipe] = Ok(kept.codec);
        cells.extend(timed.map(|c| TimedCell { throughput: whole.throughput, ..c }));
    }
    cells
}

const BOTH: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

fn empty(recipe: usize, medium: Medium, direction: Direction) -> TimedCell {
    TimedCell {
        recipe,
        medium,
        keying: Keying::Reused,
        direction,
        crypto_ns: Vec::new(),
        io_ns: Vec::new(),
        disturbed: false,
        throughput: 0.0,
        finding: None,
    }
}

fn findings(
    lane: &Lane<'_>,
    medium: Medium,
    directions: &[Direction],
    finding: &Finding,
) -> Vec<TimedCell> {
    let cells = (0..lane.codecs.len()).flat_map(|recipe| {
        let cell = move |d: &Direction| empty(recipe, medium, *d);
        directions.iter().map(cell)
    });
    cells.map(|c| TimedCell { finding: Some(finding.clone()), ..c }).collect()
}

fn file<'a>(lane: &Lane<'a>, medium: Medium) -> Result<&'a File, Finding> {
    let scratch = || Finding::unsupported("there is no scratch file");
    match medium {
        Medium::Direct => {
            lane.files.direct.as_ref().map_err(|why| Finding::unsupported(why.clone()))
        }
        _ => lane.files.scratch.as_ref().ok_or_else(scratch),
    }
}

/// Takes every codec that opened and puts pages of it into this thread's part of the file.
fn keep(lane: &mut Lane<'_>, file: &File) -> Result<Vec<Kept>, Finding> {
    let size = lane.staged.page_size;
    let schemes = lane.codecs.len();
    let each = (SCRATCH / (size * schemes * lane.threads)).clamp(4, MOST_PAGES);
    let part = (lane.thread * schemes * each * size) as u64;
    let mut kept = Vec::new();
    let mut page = Room::new(size);
    for recipe in 0..schemes {
        let slot = &mut lane.codecs[recipe];
        if slot.is_err() {
            continue;
        }
        let taken = std::mem::replace(slot, Err(Finding::failed("in use")));
        let mut codec = taken?;
        let all = lane.staged.places.len() as u64;
        let picks: Vec<usize> = (0..each).map(|_| (lane.rng.next_u64() % all) as usize).collect();
        let offset = part + (recipe * each * size) as u64;
        let mut beside = vec![vec![0; codec.metadata_bytes()]; each];
        for (i, pick) in picks.iter().enumerate() {
            let (at, plain) = (&lane.staged.places[*pick], lane.staged.page(*pick));
            codec.seal(at, plain, page.all(), &mut beside[i], Draw::System).map_err(failed)?;
            file.write_all_at(page.all(), offset + (i * size) as u64).map_err(io_failed)?;
        }
        kept.push(Kept { codec, recipe, offset, picks, beside });
    }
    file.sync_data().map_err(io_failed)?;
    Ok(kept)
}

fn io_failed(e: std::io::Error) -> Finding {
    Finding::failed(format!("scratch file: {e}"))
}

/// One page read and decrypted.
fn read(
    lane: &mut Lane<'_>,
    file: &File,
    kept: &mut Kept,
    cell: &mut TimedCell,
) -> Result<(), Finding> {
    let size = lane.staged.page_size;
    let i = (lane.rng.next_u64() % kept.picks.len() as u64) as usize;
    let offset = kept.offset + (i * size) as u64;
    let (cipher, plain) = (lane.sealed.page(0, size), lane.back.page(0, size));
    let clock = lane.clock;
    let (io, result) = clock.time(|| file.read_exact_at(cipher, offset));
    result.map_err(io_failed)?;
    let at = &lane.staged.places[kept.picks[i]];
    let (crypto, result) = clock.time(|| kept.codec.unseal(at, cipher, &kept.beside[i], plain));
    result.map_err(refused)?;
    if *plain != *lane.staged.page(kept.picks[i]) {
        return Err(Finding::refused("timed-output: a page that was read came back as another"));
    }
    cell.io_ns.push(lane.nanoseconds(io));
    cell.crypto_ns.push(lane.nanoseconds(crypto));
    Ok(())
}

/// One page encrypted and written.
fn write(
    lane: &mut Lane<'_>,
    file: &File,
    kept: &mut Kept,
    cell: &mut TimedCell,
) -> Result<(), Finding> {
    let size = lane.staged.page_size;
    let i = (lane.rng.next_u64() % kept.picks.len() as u64) as usize;
    let offset = kept.offset + (i * size) as u64;
    let (cipher, plain) = (lane.sealed.page(0, size), lane.back.page(0, size));
    plain.copy_from_slice(lane.staged.page(kept.picks[i]));
    let at = &lane.staged.places[kept.picks[i]];
    let clock = lane.clock;
    let (crypto, result) =
        clock.time(|| kept.codec.seal(at, plain, cipher, &mut kept.beside[i], Draw::System));
    result.map_err(failed)?;
    let (io, result) = clock.time(|| file.write_all_at(cipher, offset));
    result.map_err(io_failed)?;
    cell.io_ns.push(lane.nanoseconds(io));
    cell.crypto_ns.push(lane.nanoseconds(crypto));
    Ok(())
}

/// Units encrypted, appended with what belongs beside them, and forced to the disk.
pub(super) fn log(lane: &mut Lane<'_>) -> Vec<TimedCell> {
    let Some(log) = lane.files.log.as_ref() else {
        let finding = Finding::unsupported("there is no scratch file");
        return findings(lane, Medium::Log, &[Direction::Encrypt], &finding);
    };
    let mut cells: Vec<TimedCell> = (0..lane.codecs.len())
        .map(|recipe| empty(recipe, Medium::Log, Direction::Encrypt))
        .collect();
    let operations = (lane.pages / LOG_SHARE).max(1);
    let (mut end, mut turn) = (0, 0);
    let watch = Watch::begin(lane.clock);
    for _ in 0..operations {
        for _ in 0..cells.len() {
            turn += 1;
            let i = turn % cells.len();
            if cells[i].finding.is_none()
                && let Err(finding) = append(lane, log, &mut end, &mut cells[i])
            {
                cells[i].finding = Some(finding);
            }
        }
        turn += 1;
    }
    let mut whole = empty(0, Medium::Log, Direction::Encrypt);
    watch.end(lane.clock, &mut whole);
    cells.into_iter().map(|c| TimedCell { throughput: whole.throughput, ..c }).collect()
}

fn append(
    lane: &mut Lane<'_>,
    log: &File,
    end: &mut u64,
    cell: &mut TimedCell,
) -> Result<(), Finding> {
    let size = lane.staged.page_size;
    let pick = (lane.rng.next_u64() % lane.staged.places.len() as u64) as usize;
    let (at, plain) = (&lane.staged.places[pick], lane.staged.page(pick));
    let codec = match &mut lane.codecs[cell.recipe] {
        Ok(codec) => codec,
        Err(finding) => return Err(finding.clone()),
    };
    let mut unit = vec![0; size + codec.metadata_bytes()];
    let clock = lane.clock;
    let (cipher, beside) = unit.split_at_mut(size);
    let (crypto, result) = clock.time(|| codec.seal(at, plain, cipher, beside, Draw::System));
    result.map_err(failed)?;
    if *end + unit.len() as u64 > LOG {
        *end = 0;
    }
    let (io, result) = clock.time(|| log.write_all_at(&unit, *end).and_then(|()| log.sync_data()));
    result.map_err(io_failed)?;
    *end += unit.len() as u64;
    let (cipher, beside) = unit.split_at(size);
    let mut back = vec![0; size];
    codec.unseal(at, cipher, beside, &mut back).map_err(refused)?;
    if back != plain {
        return Err(Finding::refused("timed-output: a unit of the log came back as another"));
    }
    cell.io_ns.push(lane.nanoseconds(io));
    cell.crypto_ns.push(lane.nanoseconds(crypto));
    Ok(())
}
