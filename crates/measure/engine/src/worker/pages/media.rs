//! Pages through a file: from the page cache, past it, and at the end of a log ([`log`]). Schemes take turns
//! operation by operation, so that the disk's drift meets all of them alike.

mod log;

pub(super) use log::log;

use super::codec::{Codec, Draw};
use super::memory::Room;
use super::time::{Lane, Watch, failed, refused};
use crate::protocol::Finding;
use crate::protocol::pages::TimedCell;
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

/// How much fewer operations are timed where each waits for a disk.
const DISK_SHARE: usize = 4;

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

impl Kept {
    /// One of its pages, and where in the file it begins.
    fn any(&self, lane: &mut Lane<'_>) -> (usize, u64) {
        let i = below(lane, self.picks.len());
        (i, self.offset + (i * lane.staged.page_size) as u64)
    }
}

fn below(lane: &mut Lane<'_>, n: usize) -> usize {
    (lane.rng.next_u64() % n as u64) as usize
}

/// Reads with decryption and writes with encryption of single pages.
pub(super) fn pages(lane: &mut Lane<'_>, medium: Medium) -> Vec<TimedCell> {
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
    for i in turns(operations, kept.len()) {
        let outcome = read(lane, file, &mut kept[i], &mut timed[i][1])
            .and_then(|()| write(lane, file, &mut kept[i], &mut timed[i][0]));
        if let Err(finding) = outcome {
            timed[i].iter_mut().for_each(|c| c.finding = Some(finding.clone()));
            break;
        }
    }
    let cells = timed.into_iter().flatten();
    let cells = seen(watch, lane, cells.collect());
    kept.into_iter().for_each(|kept| lane.codecs[kept.recipe] = Ok(kept.codec));
    cells
}

/// Which scheme's turn it is, operation by operation; the one that comes first is another one each time.
fn turns(operations: usize, schemes: usize) -> impl Iterator<Item = usize> {
    let round = move |n| (0..schemes).map(move |i| (n * (schemes + 1) + i + 1) % schemes);
    (0..operations).flat_map(round)
}

/// The cells with what the core did around all of them.
fn seen(watch: Watch, lane: &Lane<'_>, mut cells: Vec<TimedCell>) -> Vec<TimedCell> {
    let mut whole = empty(0, Medium::Cache, Direction::Encrypt);
    watch.end(lane.clock, &mut whole);
    cells.iter_mut().for_each(|c| c.throughput = whole.throughput);
    cells
}

/// One operation's two parts, in ticks.
fn note(lane: &Lane<'_>, cell: &mut TimedCell, crypto: u64, io: u64) {
    cell.crypto_ns.push(lane.nanoseconds(crypto));
    cell.io_ns.push(lane.nanoseconds(io));
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
        let all = lane.staged.places.len();
        let picks: Vec<usize> = (0..each).map(|_| below(lane, all)).collect();
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
    let (i, offset) = kept.any(lane);
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
    note(lane, cell, crypto, io);
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
    let (i, offset) = kept.any(lane);
    let (cipher, plain) = (lane.sealed.page(0, size), lane.back.page(0, size));
    plain.copy_from_slice(lane.staged.page(kept.picks[i]));
    let at = &lane.staged.places[kept.picks[i]];
    let clock = lane.clock;
    let (crypto, result) =
        clock.time(|| kept.codec.seal(at, plain, cipher, &mut kept.beside[i], Draw::System));
    result.map_err(failed)?;
    let (io, result) = clock.time(|| file.write_all_at(cipher, offset));
    result.map_err(io_failed)?;
    note(lane, cell, crypto, io);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_as_many_turns_and_none_is_always_first() {
        for schemes in 1..6 {
            let all: Vec<usize> = turns(30, schemes).collect();
            let of = |scheme: usize| all.iter().filter(|i| **i == scheme).count();
            assert!((0..schemes).all(|s| of(s) == 30), "{all:?}");
            let first = |scheme: usize| all.iter().step_by(schemes).any(|i| *i == scheme);
            assert!((0..schemes).all(first), "{all:?}");
        }
        assert_eq!(turns(5, 0).count(), 0);
    }
}
