//! Which sizes are stepped where none are asked for.

use super::children::{Children, Kept};
use super::operations::{Messages, Operations};
use crate::protocol::Finding;
use base::model::Algorithm;
use contract::Library;
use probe::step::End;

/// Less than a block; the nearest that takes whole blocks only, or no less than one.
const PARTIAL: [usize; 3] = [11, 8, 21];

/// One block of 16 bytes.
const BLOCK: usize = 16;

/// The widest loops take 48 blocks of 16 bytes (GCM with AVX-512) or 16 of 64 (ChaCha20) at once: this is a
/// round of either and some of the narrower loops that follow, down to a part of a block. Then the nearest that
/// takes whole blocks.
const WIDE: [usize; 2] = [1024 + 512 + 64 + 16 + 11, 1024 + 512 + 64 + 16];

/// Code that takes so many instructions for each byte has no such loops: it is bit-sliced by eight blocks of 16
/// bytes, or goes by tables block by block. A round, a block and a part of one.
const MOST_PER_BYTE: usize = 12;
const SLOW: [usize; 2] = [128 + 16 + 11, 128 + 16];

/// The sizes that were asked for and are taken, or a part of a block, a block, and a length that meets the widest
/// loops and their rests.
pub(super) fn chosen(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    asked: &[usize],
    children: &mut Children,
) -> Result<Vec<usize>, Finding> {
    let first = |of: &[usize]| of.iter().copied().find(|size| algorithm.sizes.allows(*size));
    let mut sizes: Vec<usize> = if asked.is_empty() {
        let wide = first(&WIDE).filter(|size| is_fast(library, algorithm, *size, children));
        let wide = wide.or_else(|| first(&SLOW));
        [first(&PARTIAL), first(&[BLOCK]), wide].into_iter().flatten().collect()
    } else {
        asked.iter().copied().filter(|size| algorithm.sizes.allows(*size)).collect()
    };
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() { Err(Finding::unsupported(algorithm.size_reason())) } else { Ok(sizes) }
}

/// Whether a message of this size takes few instructions for each byte. What cannot be stepped is slow.
fn is_fast(
    library: &'static dyn Library,
    algorithm: &'static Algorithm,
    size: usize,
    children: &mut Children,
) -> bool {
    let mut operations = Operations::new(library, algorithm);
    let mut messages = Messages::new(algorithm, &[size]);
    let most = children.limit(MOST_PER_BYTE * size);
    let recorded =
        children.record(Kept::FirstMessage, |call| operations.all(&mut messages, call).map(|()| 0));
    children.limit(most);
    recorded.is_ok_and(|tape| tape.calls().last().is_some_and(|c| c.end == End::Returned))
}
