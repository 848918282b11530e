//! Clusters made by hand.

use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A control file as version 15 lays it out, as far as it is read here.
pub(crate) fn control_file(state: u32, block_size: u32, checksums: u32) -> Vec<u8> {
    let mut bytes = vec![0; 8192];
    bytes[..8].copy_from_slice(&0x0102_0304_0506_0708_u64.to_le_bytes());
    bytes[8..12].copy_from_slice(&1300_u32.to_le_bytes());
    bytes[16..20].copy_from_slice(&state.to_le_bytes());
    let at = 208;
    bytes[at..at + 8].copy_from_slice(&1_234_567.0_f64.to_le_bytes());
    bytes[at + 8..at + 12].copy_from_slice(&block_size.to_le_bytes());
    bytes[at + 12..at + 16].copy_from_slice(&131_072_u32.to_le_bytes());
    bytes[at + 44..at + 48].copy_from_slice(&checksums.to_le_bytes());
    let crc_at = at + 80;
    let crc = crc32c::crc32c(&bytes[..crc_at]);
    bytes[crc_at..crc_at + 4].copy_from_slice(&crc.to_le_bytes());
    bytes
}

pub(crate) struct Cluster(TempDir);

impl Cluster {
    pub(crate) fn new(state: u32) -> Self {
        let cluster = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(cluster.path().join("global")).unwrap();
        fs::create_dir_all(cluster.path().join("base/5")).unwrap();
        fs::write(cluster.path().join("PG_VERSION"), "15\n").unwrap();
        fs::write(cluster.path().join("global/pg_control"), control_file(state, 8192, 1)).unwrap();
        cluster
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file of so many pages, none of them zero.
    pub(crate) fn file(&self, name: &str, pages: usize) {
        let mut bytes = vec![0; pages * 8192];
        for (i, page) in bytes.chunks_exact_mut(8192).enumerate() {
            page[4] = i as u8 + 1;
            page[100] = name.len() as u8;
        }
        fs::write(self.path().join(name), bytes).unwrap();
    }

    pub(crate) fn zero(&self, name: &str, pages: usize) {
        fs::write(self.path().join(name), vec![0; pages * 8192]).unwrap();
    }
}
