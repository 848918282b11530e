//! Page stores: a `PostgreSQL` data directory, an `SQLite` file, a raw image, or one made of a seed.
//! Everything is opened for reading only.

mod kinds;

use crate::at_rest::scheme::Position;
use sha2::{Digest as _, Sha256};
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Page sizes that are taken, in bytes.
pub const PAGE_SIZES: [usize; 8] = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];

crate::named! {
    Kind {
        /// A `PostgreSQL` data directory.
        Postgres = "postgres",
        /// An `SQLite` database.
        Sqlite = "sqlite",
        Image = "image",
        Synthetic = "synthetic",
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PageFile {
    /// `None` for what is made of a seed.
    listed: Option<Listed>,
    /// Path within the store.
    name: String,
    first: Position,
    pages: u64,
}

/// A file as it was when the store was opened: nothing else in its place is read.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Listed {
    fn new(path: PathBuf, meta: &Metadata) -> Self {
        Self { path, device: meta.dev(), inode: meta.ino() }
    }

    fn open(&self) -> Result<File, StoreError> {
        let file = regular(&self.path)?;
        let meta = file.metadata().map_err(|e| StoreError::read(&self.path, e))?;
        if (meta.dev(), meta.ino()) != (self.device, self.inode) {
            let why = "has become another file since the store was opened";
            return Err(StoreError::unfit(&self.path, why));
        }
        Ok(file)
    }
}

#[derive(Clone, Debug)]
pub struct Store {
    kind: Kind,
    page_size: usize,
    /// Bytes of the store's own pages, where they are not the units that it is read in.
    own_page_size: usize,
    files: Vec<PageFile>,
    /// Facts that its own files state, one a line.
    facts: Vec<String>,
    /// The directory or file; empty for what is made of a seed.
    root: PathBuf,
    /// Whether the store keeps a checksum in each page.
    checksums: Option<bool>,
    /// Files in it that hold no pages, or not whole ones.
    left_out: u64,
    seed: u64,
}

/// Before the number that `initdb` gives a cluster, among its facts.
const IDENTITY: &str = "system identifier";

/// Most pages of a store: 128 GiB of PostgreSQL's. Each is read, and a note kept of it.
const MOST_PAGES: u64 = 1 << 24;

/// The beginning of a regular file, as far as so many bytes.
fn head(path: &Path, most: u64) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let read = regular(path)?.take(most).read_to_end(&mut bytes);
    read.map_err(|e| StoreError::read(path, e))?;
    Ok(bytes)
}

fn regular(path: &Path) -> Result<File, StoreError> {
    crate::open_regular(path).map_err(|e| StoreError::read(path, e))
}

/// A page by its file and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRef {
    file: usize,
    page: u64,
}

impl Store {
    /// Opens what lies at the path: a directory must be `PostgreSQL`'s; a file is `SQLite`'s where it
    /// begins like one, else an image.
    pub fn open(path: &Path, page_size: Option<usize>) -> Result<Self, StoreError> {
        let meta = std::fs::metadata(path).map_err(|e| StoreError::read(path, e))?;
        let store = if meta.is_dir() {
            kinds::open_cluster(path, page_size)
        } else if kinds::is_database(path)? {
            kinds::open_database(path, page_size)
        } else {
            kinds::open_image(path, page_size)
        }?;
        match store.pages() {
            0 => Err(StoreError::unfit(path, "holds no whole page")),
            pages if pages > MOST_PAGES => {
                let why = format!(
                    "holds {pages} pages, and all would be read, at most {MOST_PAGES}: price a part of it, or a \
                     running server (ciphermark advise --from)"
                );
                Err(StoreError::unfit(path, why))
            }
            _ => Ok(store),
        }
    }

    pub fn synthetic(seed: u64, bytes: u64, page_size: usize) -> Self {
        kinds::store(seed, bytes, page_size)
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Bytes in the units that it is read in.
    pub fn page_size(&self) -> usize {
        self.page_size
    }

    /// The directory or file; empty for what is made of a seed.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Facts that its own files state, one a line.
    pub fn facts(&self) -> &[String] {
        &self.facts
    }

    /// Whether the store keeps a checksum in each page; `None` where there is no such thing.
    pub fn checksums(&self) -> Option<bool> {
        self.checksums
    }

    /// Files in it that hold no pages, or not whole ones.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    pub fn files(&self) -> usize {
        self.files.len()
    }

    pub fn pages(&self) -> u64 {
        self.files.iter().map(|f| f.pages).sum()
    }

    /// All pages, in the order of the files.
    pub fn all(&self) -> impl Iterator<Item = PageRef> + '_ {
        let of =
            |(file, f): (usize, &PageFile)| (0..f.pages).map(move |page| PageRef { file, page });
        self.files.iter().enumerate().flat_map(of)
    }

    /// So many pages from all over the store, in runs of `run` neighbours.
    pub fn spread(&self, count: u64, run: u64) -> Vec<PageRef> {
        let all = self.pages();
        if all <= count {
            return self.all().collect();
        }
        let runs = count.div_ceil(run).max(1);
        let apart = all as f64 / runs as f64;
        let wanted = (0..runs).map(|i| (i as f64 * apart) as u64);
        let mut starts = wanted.peekable();
        let (mut picked, mut left) = (Vec::new(), 0);
        for (at, page) in self.all().enumerate() {
            while starts.peek().is_some_and(|start| *start <= at as u64) {
                starts.next();
                left = run;
            }
            if left > 0 && (picked.len() as u64) < count {
                picked.push(page);
                left -= 1;
            }
        }
        picked
    }

    /// The first pages of as many files as there are, at least `of_each`, up to `count` pages
    /// in all: what has neighbours in its file, and pages of the same number in other files.
    pub fn heads(&self, count: u64, of_each: u64) -> Vec<PageRef> {
        let of_each = of_each.max(count / self.files.len().max(1) as u64);
        let mut picked = Vec::new();
        for (file, f) in self.files.iter().enumerate() {
            if f.pages < 2 {
                continue;
            }
            let left = count.saturating_sub(picked.len() as u64);
            picked.extend((0..f.pages.min(of_each.min(left))).map(|page| PageRef { file, page }));
            if picked.len() as u64 >= count {
                break;
            }
        }
        if picked.is_empty() { self.all().take(count as usize).collect() } else { picked }
    }

    /// Reads a page into `to`, which is as long as one, and says where it lies.
    pub fn read(&self, page: PageRef, to: &mut [u8]) -> Result<Position, StoreError> {
        let file = &self.files[page.file];
        match &file.listed {
            Some(listed) => listed
                .open()?
                .read_exact_at(to, page.page * self.page_size as u64)
                .map_err(|e| StoreError::read(&listed.path, e))?,
            None => kinds::fill(self.seed, page.file, page.page, to),
        }
        Ok(self.position(page, to))
    }

    /// Where a page lies, its version taken from its content.
    fn position(&self, page: PageRef, content: &[u8]) -> Position {
        let first = self.files[page.file].first;
        let block = first.block.wrapping_add(page.page as u32);
        let version = if self.has_versions() { PageHeader::of(content).lsn } else { 0 };
        Position { block, version, ..first }
    }

    /// Whether its pages have a version, their LSN: in units of another size they have none.
    pub fn has_versions(&self) -> bool {
        matches!(self.kind, Kind::Postgres | Kind::Synthetic)
            && self.page_size == self.own_page_size
    }

    /// Why the other one cannot be another state of this store; none where it can.
    pub fn is_no_state(&self, other: &Self) -> Option<StoreError> {
        let identity = |store: &Self| store.facts.iter().find(|f| f.starts_with(IDENTITY)).cloned();
        let why = match (self.kind == other.kind, identity(self) == identity(other)) {
            (true, true) => return None,
            (true, false) => {
                "is of another cluster (its system identifier is another), whose keys are others"
            }
            (false, _) => "is a store of another kind",
        };
        Some(StoreError::unfit(&other.root, format!("{why}: it is no other state of this store")))
    }

    /// The page's file and number, for people.
    pub fn describe(&self, page: PageRef) -> String {
        let file = &self.files[page.file];
        format!("{} block {}", file.name, u64::from(file.first.block) + page.page)
    }

    /// The path of the page's file within the store, and where in it the page begins.
    pub fn place_in_file(&self, page: PageRef) -> (&str, u64) {
        (&self.files[page.file].name, page.page * self.page_size as u64)
    }

    /// Paths of the files with pages, within the store.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|f| f.name.as_str())
    }
}

// One pass over all pages: the store's hash, what its pages are like, and each page's fingerprint.

/// A page that was seen: where, and what its content hashes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub page: PageRef,
    /// Where it lies, with its version.
    pub position: Position,
    /// XXH3-128 of its content.
    pub content: u128,
}

/// What a pass over all pages found.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// SHA-256 over names, lengths and contents of the files with pages, as far as they were read, in hexadecimal.
    pub sha256: String,
    pub pages: u64,
    pub zero_pages: u64,
    /// Pages with LSN 0 that are not all zeros; stores with page headers only.
    pub without_lsn: u64,
    /// Bytes in holes between line pointers and tuples; stores with page headers only.
    pub hole_bytes: u64,
    /// Every page, where they were asked for.
    pub sightings: Vec<Sighting>,
}

const AT_ONCE: usize = 64;

impl Store {
    /// Reads every page once, in the order of the files. `keep`: note each page; `goes_on` is told how many pages were
    /// read, and whether more are to be is what it says.
    pub fn scan(
        &self,
        keep: bool,
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Scan, StoreError> {
        let mut scan = Scan::default();
        let mut hash = Sha256::new();
        let mut buffer = vec![0; AT_ONCE * self.page_size];
        'all: for (file, f) in self.files.iter().enumerate() {
            hash.update(f.name.as_bytes());
            hash.update([0]);
            hash.update(f.pages.to_le_bytes());
            let mut from = match &f.listed {
                Some(listed) => Some((listed.open()?, &listed.path)),
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
                            kinds::fill(self.seed, file, page + i as u64, to);
                        }
                    }
                }
                hash.update(&*bytes);
                for (i, content) in bytes.chunks_exact(self.page_size).enumerate() {
                    let page = PageRef { file, page: page + i as u64 };
                    self.note(&mut scan, page, content, keep);
                }
                page += count as u64;
                if !goes_on(scan.pages) {
                    break 'all;
                }
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
        if self.kind == Kind::Postgres && self.page_size == self.own_page_size {
            scan.without_lsn += u64::from(position.version == 0 && !zero);
            scan.hole_bytes += PageHeader::of(content).hole() as u64;
        }
        if keep {
            scan.sightings.push(Sighting { page, position, content: xxh3_128(content) });
        }
    }
}

// The beginning of a `PostgreSQL` page (`PageHeaderData`, src/include/storage/bufpage.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageHeader {
    /// Log sequence number of the last change that was logged.
    pub lsn: u64,
    /// End of the line pointers.
    pub lower: u16,
    pub upper: u16,
}

impl PageHeader {
    /// The header of a page; zeros of one that is too short.
    pub fn of(page: &[u8]) -> Self {
        let half = |at: usize| page.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
        let word = |at: usize| u64::from(half(at)) | u64::from(half(at + 2)) << 16;
        // The LSN is two 32-bit numbers, the higher one first.
        Self { lsn: word(0) << 32 | word(4), lower: half(12), upper: half(14) }
    }

    /// Bytes of the hole between line pointers and tuples.
    pub fn hole(&self) -> usize {
        if self.lower == 0 { 0 } else { usize::from(self.upper.saturating_sub(self.lower)) }
    }
}

// What can be wrong with a store, in one line each.

/// Why a store cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("cannot read '{}': {why}", .path.display())]
    Read { path: PathBuf, why: String },
    /// It is no store, is in use, or holds what no store has.
    #[error("'{}' {why}", .path.display())]
    Unfit {
        path: PathBuf,
        /// What is wrong, and the remedy where there is one.
        why: String,
    },
}

impl StoreError {
    pub(crate) fn read(path: &Path, e: impl ToString) -> Self {
        Self::Read { path: path.to_owned(), why: e.to_string() }
    }

    pub(crate) fn unfit(path: &Path, why: impl Into<String>) -> Self {
        Self::Unfit { path: path.to_owned(), why: why.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Cluster;

    #[test]
    fn a_spread_comes_from_all_over_in_runs() {
        let store = Store::synthetic(1, 4 << 20, 8192);
        let all: Vec<PageRef> = store.all().collect();
        let some = store.spread(64, 8);
        assert_eq!(some.len(), 64);
        assert_eq!(some[0], all[0]);
        assert_eq!(some[1], all[1]);
        let at = all.iter().position(|p| *p == some[63]).unwrap();
        assert!(at > all.len() * 3 / 4, "{at} of {}", all.len());
        assert_eq!(store.spread(u64::MAX, 8).len(), all.len());
    }

    #[test]
    fn heads_have_neighbours_and_counterparts() {
        let store = Store::synthetic(1, 4 << 20, 8192);
        let heads = store.heads(32, 8);
        let mut page = vec![0; 8192];
        let places: Vec<Position> =
            heads.iter().map(|h| store.read(*h, &mut page).unwrap()).collect();
        assert!(places.iter().any(|p| places.iter().any(|q| p.same_file(q) && p.block != q.block)));
        assert!(
            places.iter().any(|p| places.iter().any(|q| !p.same_file(q) && p.block == q.block))
        );
    }

    #[test]
    fn a_scan_sees_every_page_and_any_change() {
        let cluster = Cluster::new(1);
        cluster.file("base/5/16384", 100);
        cluster.file("base/5/16385", 2);
        let store = Store::open(cluster.path(), None).unwrap();
        let scan = store.scan(true, &mut |_| true).unwrap();
        assert_eq!((scan.pages, scan.sightings.len(), scan.zero_pages), (102, 102, 0));
        assert_eq!(scan.sha256, store.scan(false, &mut |_| true).unwrap().sha256);
        cluster.zero("base/5/16385", 2);
        let changed = store.scan(false, &mut |_| true).unwrap();
        assert_ne!(scan.sha256, changed.sha256);
        assert_eq!(changed.zero_pages, 2);
    }

    #[test]
    fn a_scan_that_is_ended_has_read_so_far_and_twice_the_same() {
        let store = Store::synthetic(1, 8 << 20, 8192);
        let some = || store.scan(false, &mut |done| done < 200).unwrap();
        assert!((200..200 + AT_ONCE as u64).contains(&some().pages), "{}", some().pages);
        assert_eq!(some().sha256, some().sha256);
        assert_ne!(some().sha256, store.scan(false, &mut |_| true).unwrap().sha256);
    }

    #[test]
    fn what_takes_the_place_of_a_file_of_pages_is_not_read() {
        let cluster = Cluster::new(1);
        cluster.file("base/5/16384", 100);
        let store = Store::open(cluster.path(), None).unwrap();
        let place = cluster.path().join("base/5/16384");
        let away = cluster.path().join("away");
        std::fs::rename(&place, &away).unwrap();
        let scan = || store.scan(false, &mut |_| true).map_err(|e| e.to_string()).unwrap_err();
        std::fs::copy(&away, &place).unwrap();
        assert!(scan().contains("has become another file"), "{}", scan());
        std::fs::remove_file(&place).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &place,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(scan().contains("no regular file"), "{}", scan());
    }

    #[test]
    fn another_state_is_of_the_same_kind_and_cluster() {
        let (one, later, other) = (Cluster::new(1), Cluster::new(1), Cluster::new(1));
        other.identify(7);
        for cluster in [&one, &later, &other] {
            cluster.file("base/5/16384", 1);
        }
        let open = |cluster: &Cluster| Store::open(cluster.path(), None).unwrap();
        assert_eq!(open(&one).is_no_state(&open(&later)), None);
        let why = open(&one).is_no_state(&open(&other)).unwrap().to_string();
        assert!(why.contains("is of another cluster"), "{why}");
        let why = open(&one).is_no_state(&Store::synthetic(1, 1 << 20, 8192)).unwrap().to_string();
        assert!(why.contains("of another kind"), "{why}");
    }

    #[test]
    fn pages_in_other_units_than_the_clusters_have_no_version() {
        let cluster = Cluster::new(1);
        cluster.file("base/5/16384", 2);
        let has = |unit| Store::open(cluster.path(), unit).unwrap().has_versions();
        assert_eq!((has(None), has(Some(4096))), (true, false));
    }

    #[test]
    fn a_synthetic_store_has_one_hash_for_each_seed() {
        let hash =
            |seed| Store::synthetic(seed, 1 << 20, 8192).scan(false, &mut |_| true).unwrap().sha256;
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }

    #[test]
    fn the_lsns_higher_half_comes_first() {
        let mut page = vec![0; 8192];
        page[0] = 1;
        page[4] = 2;
        page[12..16].copy_from_slice(&[40, 0, 0, 1]);
        let header = PageHeader::of(&page);
        assert_eq!(header.lsn, 1 << 32 | 2);
        assert_eq!(header.hole(), 256 - 40);
        assert_eq!(PageHeader::of(&[]), PageHeader::default());
    }
}
