//! The end of a log, each unit forced to the disk.

use super::super::codec::Draw;
use super::super::time::{Lane, Watch, failed, refused};
use super::{below, empty, findings, io_failed, note, seen, turns};
use crate::protocol::Finding;
use crate::protocol::pages::{LOG_BYTES, TimedCell};
use at_rest::Medium;
use model::Direction;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// How much fewer operations are timed where each waits for a disk.
const LOG_SHARE: usize = 8;

/// Units encrypted, appended with what belongs beside them, and forced to the disk.
pub(in crate::worker::pages) fn log(lane: &mut Lane<'_>) -> Vec<TimedCell> {
    let Some(log) = lane.files.log.as_ref() else {
        let finding = Finding::unsupported("there is no scratch file");
        return findings(lane, Medium::Log, &[Direction::Encrypt], &finding);
    };
    let mut cells: Vec<TimedCell> = (0..lane.codecs.len())
        .map(|recipe| empty(recipe, Medium::Log, Direction::Encrypt))
        .collect();
    let operations = (lane.pages / LOG_SHARE).max(1);
    let mut end = 0;
    let watch = Watch::begin(lane.clock);
    for i in turns(operations, cells.len()) {
        if cells[i].finding.is_none()
            && let Err(finding) = append(lane, log, &mut end, &mut cells[i])
        {
            cells[i].finding = Some(finding);
        }
    }
    seen(watch, lane, cells)
}

fn append(
    lane: &mut Lane<'_>,
    log: &File,
    end: &mut u64,
    cell: &mut TimedCell,
) -> Result<(), Finding> {
    let size = lane.staged.page_size;
    let pick = below(lane, lane.staged.places.len());
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
    if *end + unit.len() as u64 > LOG_BYTES {
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
    note(lane, cell, crypto, io);
    Ok(())
}
