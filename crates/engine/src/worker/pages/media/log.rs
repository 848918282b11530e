//! The end of a log, each unit forced to the disk.

use super::super::time::{Lane, Part, Scene, failed, refused};
use super::{below, io_failed};
use crate::protocol::Finding;
use crate::protocol::pages::LOG_BYTES;
use probe::pages::Codec;
use std::os::unix::fs::FileExt as _;

/// How much fewer operations are timed where each waits for a disk.
const LOG_SHARE: usize = 8;

/// Units encrypted, appended with what belongs beside them, and forced to the disk.
pub(in crate::worker::pages) fn log(
    lane: &mut Lane,
    codec: &mut Codec,
    scene: &Scene<'_>,
) -> Result<Vec<Part>, Finding> {
    let Scene { staged, clock, files, .. } = scene;
    let Some(log) = &files.log else {
        return Err(Finding::unsupported("there is no scratch file"));
    };
    let mut end = 0;
    scene.samples((scene.pages() / LOG_SHARE).max(1), |_| {
        let pick = below(lane, staged.places.len());
        let (at, plain) = (&staged.places[pick], staged.page(pick));
        let mut unit = vec![0; staged.page_size + codec.metadata_bytes()];
        let (cipher, beside) = unit.split_at_mut(staged.page_size);
        let crypto = codec.seal_timed(clock, false, (at, plain), cipher, beside).map_err(failed)?;
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
