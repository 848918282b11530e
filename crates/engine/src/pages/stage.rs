//! Files that workers open in this process: staged pages in memory, and files on a disk to read and write.

use crate::protocol::pages::LOG_BYTES;
use crate::protocol::pages::{PageFiles, Staging};
use record::at_rest::scheme::Position;
use record::at_rest::store::{PageRef, Store, StoreError};
use rustix::fs::MemfdFlags;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes of pages that are staged at once: a worker takes them into memory, and may write no file
/// that is larger.
pub(super) const PART: usize = 32 << 20;

/// The files. No program that is started inherits them.
pub(super) struct Stage {
    plain: File,
    places: File,
    out: File,
    scratch: Option<File>,
    log: Option<File>,
    /// What is staged.
    pub(super) pages: usize,
}

impl Stage {
    /// Makes the files; those on a disk in `scratch`, where there is to be one.
    pub(super) fn new(scratch: Option<&Path>) -> io::Result<Self> {
        let memory = |name: &str| -> io::Result<File> {
            Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
        };
        let disk =
            || -> io::Result<Option<File>> { scratch.map(tempfile::tempfile_in).transpose() };
        let log = disk()?;
        if let Some(log) = &log {
            // Its space is taken beforehand, as that of a segment is.
            log.write_all_at(&vec![0; LOG_BYTES as usize], 0)?;
            log.sync_all()?;
        }
        Ok(Self {
            plain: memory("pages")?,
            places: memory("places")?,
            out: memory("out")?,
            scratch: disk()?,
            log,
            pages: 0,
        })
    }

    /// Their numbers, for a worker; with a page's size, one that is to take what is staged into memory at once.
    pub(super) fn files(&self, page_size: Option<usize>) -> PageFiles {
        PageFiles {
            owner: std::process::id(),
            plain: self.plain.as_raw_fd(),
            places: self.places.as_raw_fd(),
            out: self.out.as_raw_fd(),
            scratch: self.scratch.as_ref().map(|f| f.as_raw_fd()),
            log: self.log.as_ref().map(|f| f.as_raw_fd()),
            staged: page_size.map(|page_size| Staging { pages: self.pages, page_size }),
        }
    }

    /// Stages these pages in the place of those before.
    pub(super) fn put(&mut self, store: &Store, pages: &[PageRef]) -> Result<(), StoreError> {
        let failed =
            |e: io::Error| StoreError::Read { path: "staged pages".into(), why: e.to_string() };
        let mut page = vec![0; store.page_size()];
        let mut places: Vec<u8> =
            Vec::with_capacity(pages.len() * record::at_rest::scheme::POSITION_BYTES);
        for (i, reference) in pages.iter().enumerate() {
            let at: Position = store.read(*reference, &mut page)?;
            self.plain.write_all_at(&page, (i * page.len()) as u64).map_err(failed)?;
            places.extend(at.to_bytes());
        }
        self.places.write_all_at(&places, 0).map_err(failed)?;
        self.out.set_len(0).map_err(failed)?;
        self.pages = pages.len();
        Ok(())
    }

    /// A page that a worker has left decrypted.
    pub(super) fn decrypted(&self, i: usize, to: &mut [u8]) -> io::Result<()> {
        self.out.read_exact_at(to, (i * to.len()) as u64)
    }
}
