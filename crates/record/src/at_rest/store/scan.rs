//! One pass over all pages: the store's hash, what its pages are like, and each page's fingerprint.

use crate::at_rest::scheme::Position;
use crate::at_rest::store::{PageHeader, PageRef, Store, StoreError};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Read as _;
use xxhash_rust::xxh3::xxh3_128;

/// A page that was seen: where, and what its content hashes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Which page.
    pub page: PageRef,
    /// Where it lies, with its version.
    pub position: Position,
    /// XXH3-128 of its content.
    pub content: u128,
}

/// What a pass over all pages found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// SHA-256 over names, lengths and contents of all files with pages, in hexadecimal.
    pub sha256: String,
    /// Pages.
    pub pages: u64,
    /// Pages of zeros.
    pub zero_pages: u64,
    /// Pages with LSN 0 that are not all zeros; stores with page headers only.
    pub without_lsn: u64,
    /// Bytes in holes between line pointers and tuples; stores with page headers only.
    pub hole_bytes: u64,
    /// Every page, where they were asked for.
    pub sightings: Vec<Sighting>,
}

/// Pages that are read at once.
const AT_ONCE: usize = 64;

impl Store {
    /// Reads every page once. `keep`: note each page; `step` is told how many pages were read.
    ///
    /// # Errors
    /// [`StoreError::Read`].
    pub fn scan(&self, keep: bool, step: &mut dyn FnMut(u64)) -> Result<Scan, StoreError> {
        let mut scan = Scan::default();
        let mut hash = Sha256::new();
        let mut buffer = vec![0; AT_ONCE * self.page_size];
        for (file, f) in self.files.iter().enumerate() {
            hash.update(f.name.as_bytes());
            hash.update([0]);
            hash.update(f.pages.to_le_bytes());
            let mut from = match &f.path {
                Some(path) => {
                    Some((File::open(path).map_err(|e| StoreError::read(path, e))?, path))
                }
                None => None,
            };
            let mut page = 0;
            while page < f.pages {
                let count = (AT_ONCE as u64).min(f.pages - page) as usize;
                let bytes = &mut buffer[..count * self.page_size];
                match &mut from {
                    Some((from, path)) => {
                        from.read_exact(bytes).map_err(|e| StoreError::read(path, e))?;
                    }
                    None => {
                        for (i, to) in bytes.chunks_exact_mut(self.page_size).enumerate() {
                            crate::at_rest::store::synthetic::fill(
                                self.seed,
                                file,
                                page + i as u64,
                                to,
                            );
                        }
                    }
                }
                hash.update(&*bytes);
                for (i, content) in bytes.chunks_exact(self.page_size).enumerate() {
                    let page = PageRef { file, page: page + i as u64 };
                    self.note(&mut scan, page, content, keep);
                }
                page += count as u64;
                step(scan.pages);
            }
        }
        scan.sha256 = hex::encode(hash.finalize());
        Ok(scan)
    }

    fn note(&self, scan: &mut Scan, page: PageRef, content: &[u8], keep: bool) {
        scan.pages += 1;
        let position = self.position(page, content);
        let zero = content.iter().all(|b| *b == 0);
        scan.zero_pages += u64::from(zero);
        if self.kind == crate::at_rest::store::Kind::Postgres
            && self.page_size == self.own_page_size
        {
            scan.without_lsn += u64::from(position.version == 0 && !zero);
            scan.hole_bytes += PageHeader::of(content).hole() as u64;
        }
        if keep {
            scan.sightings.push(Sighting { page, position, content: xxh3_128(content) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::store::testing::Cluster;

    #[test]
    fn a_scan_sees_every_page_and_any_change() {
        let cluster = Cluster::new(1);
        cluster.file("base/5/16384", 100);
        cluster.file("base/5/16385", 2);
        let store = Store::open(cluster.path(), None).unwrap();
        let scan = store.scan(true, &mut |_| ()).unwrap();
        assert_eq!((scan.pages, scan.sightings.len(), scan.zero_pages), (102, 102, 0));
        assert_eq!(scan.sha256, store.scan(false, &mut |_| ()).unwrap().sha256);
        cluster.zero("base/5/16385", 2);
        let changed = store.scan(false, &mut |_| ()).unwrap();
        assert_ne!(scan.sha256, changed.sha256);
        assert_eq!(changed.zero_pages, 2);
    }

    #[test]
    fn a_synthetic_store_has_one_hash_for_each_seed() {
        let hash =
            |seed| Store::synthetic(seed, 1 << 20, 8192).scan(false, &mut |_| ()).unwrap().sha256;
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }
}
