//! A store made of a seed: the same on every machine, for runs without data of one's own.

use crate::at_rest::scheme::Position;
use crate::at_rest::store::{Kind, PageFile, Store};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use std::path::PathBuf;

/// Files that the pages are spread over.
const FILES: u64 = 8;

pub(crate) fn store(seed: u64, bytes: u64, page_size: usize) -> Store {
    let pages = (bytes / page_size as u64).max(2 * FILES);
    let file = |i: u64| PageFile {
        path: None,
        name: format!("synthetic/{}", 16_384 + i),
        first: Position { database: 5, relation: 16_384 + i as u32, ..Position::default() },
        pages: pages / FILES + u64::from(i < pages % FILES),
    };
    Store {
        kind: Kind::Synthetic,
        page_size,
        own_page_size: page_size,
        files: (0..FILES).map(file).collect(),
        facts: vec![format!("made of the seed {seed}: pages half of random bytes, half of text")],
        root: PathBuf::new(),
        checksums: None,
        left_out: 0,
        seed,
    }
}

/// A page with a header like `PostgreSQL`'s, a random half and one that repeats itself.
pub(crate) fn fill(seed: u64, file: usize, page: u64, to: &mut [u8]) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((file as u64) << 40 | page);
    let half = to.len() / 2;
    rng.fill_bytes(&mut to[..half]);
    let text = b"the quick brown fox jumps over the lazy dog; ";
    to[half..].iter_mut().zip(text.iter().cycle()).for_each(|(b, t)| *b = *t);
    let lsn = 0x0100_0000 + (page << 13 | (file as u64) << 8);
    to[..4].copy_from_slice(&((lsn >> 32) as u32).to_le_bytes());
    to[4..8].copy_from_slice(&(lsn as u32).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_pages_and_another_one_others() {
        let page = |seed, file, page| {
            let mut bytes = vec![0; 4096];
            fill(seed, file, page, &mut bytes);
            bytes
        };
        assert_eq!(page(1, 2, 3), page(1, 2, 3));
        assert_ne!(page(1, 2, 3), page(2, 2, 3));
        assert_ne!(page(1, 2, 3), page(1, 3, 3));
    }

    #[test]
    fn all_bytes_asked_for_are_there() {
        assert_eq!(store(1, 100 * 8192, 8192).pages(), 100);
    }
}
