//! Pages through a file: from the page cache, past it, and at the end of a log ([`log`]).

mod log;

pub(super) use log::log;

use super::memory::Room;
use super::time::{Lane, Part, Scene, failed, refused};
use crate::protocol::Finding;
use base::model::Direction;
use probe::pages::{Codec, Draw};
use rand_chacha::rand_core::Rng as _;
use record::at_rest::Medium;
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
struct Kept<'a> {
    codec: &'a mut Codec,
    file: &'a File,
    /// Byte of the file at which its pages begin.
    offset: u64,
    /// Which staged pages they are.
    picks: Vec<usize>,
    beside: Vec<Vec<u8>>,
}

fn below(lane: &mut Lane, n: usize) -> usize {
    (lane.rng.next_u64() % n as u64) as usize
}

/// Reads with decryption, or writes with encryption, of single pages.
pub(super) fn pages(
    lane: &mut Lane,
    codec: &mut Codec,
    scene: &Scene<'_>,
) -> Result<Vec<Part>, Finding> {
    let file = file(scene)?;
    let share = if scene.visit.medium == Medium::Direct { DISK_SHARE } else { 1 };
    let operations = (scene.pages() / share).max(1);
    lane.room(scene.staged.page_size);
    let mut kept = Kept::put(lane, codec, file, scene, operations)?;
    scene.samples(operations, |_| match scene.visit.direction {
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
    /// Puts pages into this thread's part of the file.
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
            codec.seal(at, plain, page.all(), &mut beside[i], Draw::System).map_err(failed)?;
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

    /// One page read and decrypted.
    fn read(&mut self, lane: &mut Lane, scene: &Scene<'_>) -> Result<(u64, u64), Finding> {
        let Scene { staged, clock, .. } = scene;
        let (i, offset) = self.any(lane, scene);
        let size = staged.page_size;
        let (cipher, plain) = (lane.sealed.page(0, size), lane.back.page(0, size));
        let (io, result) = clock.time(|| self.file.read_exact_at(cipher, offset));
        result.map_err(io_failed)?;
        let at = &staged.places[self.picks[i]];
        let stored = (&*cipher, &*self.beside[i]);
        let crypto = self.codec.unseal_timed(clock, false, at, stored, plain).map_err(refused)?;
        if *plain != *staged.page(self.picks[i]) {
            return Err(Finding::refused(
                "timed-output: a page that was read came back as another",
            ));
        }
        Ok((crypto, io))
    }

    /// One page encrypted and written.
    fn write(&mut self, lane: &mut Lane, scene: &Scene<'_>) -> Result<(u64, u64), Finding> {
        let Scene { staged, clock, .. } = scene;
        let (i, offset) = self.any(lane, scene);
        let size = staged.page_size;
        let (cipher, plain) = (lane.sealed.page(0, size), lane.back.page(0, size));
        plain.copy_from_slice(staged.page(self.picks[i]));
        let at = &staged.places[self.picks[i]];
        let beside = &mut self.beside[i];
        let crypto =
            self.codec.seal_timed(clock, false, (at, plain), cipher, beside).map_err(failed)?;
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
