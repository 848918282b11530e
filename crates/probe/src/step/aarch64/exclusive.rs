//! Loops of exclusive loads and stores (LDXR, STXR), which never end while they are stepped: each step takes the
//! exclusive access away (Arm ARM, B2.17). They run in one piece, up to a breakpoint behind them.

/// Words behind an exclusive load in which its store must be: compilers and hand-written code need fewer than ten.
const MOST: u64 = 16;

/// Where such a loop can be left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Words in it.
    pub(super) words: u64,
    /// Places that it leaves for, each with the words that were executed until then.
    pub(super) exits: Vec<(u64, u64)>,
}

/// The block that begins with the exclusive load at `begin`; `None` where the word is none, or its store is not found.
pub(super) fn block(begin: u64, mut word: impl FnMut(u64) -> Option<u32>) -> Option<Block> {
    if !is_load(word(begin)?) {
        return None;
    }
    let store = (1..MOST).find(|i| word(begin + 4 * i).is_some_and(is_store))?;
    // The jump back to the load, if the store did not succeed.
    let again = word(begin + 4 * (store + 1)).and_then(jump);
    let words = store + 1 + u64::from(again.is_some());
    let end = begin + 4 * words;
    let mut exits = vec![(end, words)];
    for i in 1..words {
        let at = begin + 4 * i;
        let to = word(at).and_then(jump).map(|distance| at.wrapping_add_signed(distance));
        if let Some(to) = to.filter(|to| !(begin..=end).contains(to)) {
            exits.push((to, i + 1));
        }
    }
    Some(Block { words, exits })
}

/// LDXR, LDAXR, LDXP, LDAXP of any size (Arm ARM, C4.1: load/store exclusive; CASP, with the same bits, is of sizes 0
/// and 1 only).
fn is_load(word: u32) -> bool {
    word & 0x3fc0_0000 == 0x0840_0000 && !is_compare_and_swap(word)
}

/// STXR, STLXR, STXP, STLXP.
fn is_store(word: u32) -> bool {
    word & 0x3fc0_0000 == 0x0800_0000 && !is_compare_and_swap(word)
}

fn is_compare_and_swap(word: u32) -> bool {
    word & 0x8020_0000 == 0x0020_0000
}

/// How far a conditional jump goes, in bytes: B.cond, CBZ, CBNZ, TBZ, TBNZ.
fn jump(word: u32) -> Option<i64> {
    let signed =
        |bits: u32, len: u32| i64::from((bits << (32 - len)).cast_signed() >> (32 - len)) * 4;
    if word & 0xff00_0010 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        Some(signed(word >> 5 & 0x7_ffff, 19))
    } else if word & 0x7e00_0000 == 0x3600_0000 {
        Some(signed(word >> 5 & 0x3fff, 14))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u32]) -> Option<Block> {
        block(0x1000, |at| words.get(usize::try_from(at.checked_sub(0x1000)? / 4).ok()?).copied())
    }

    #[test]
    fn a_loop_that_adds_is_one_block() {
        // ldxr w1, [x0]; add w2, w1, #1; stxr w3, w2, [x0]; cbnz w3, .-12; ret
        let found = of(&[0x885f_7c01, 0x1100_0422, 0x8803_7c02, 0x35ff_ffa3, 0xd65f_03c0]);
        assert_eq!(found, Some(Block { words: 4, exits: vec![(0x1010, 4)] }));
    }

    #[test]
    fn a_comparison_may_leave_before_the_store() {
        // ldaxr x1, [x0]; cmp x1, x2; b.ne .+16; stlxr w3, x4, [x0]; cbnz w3, .-16; clrex (of the exit)
        let found =
            of(&[0xc85f_fc01, 0xeb02_003f, 0x5400_0081, 0xc803_fc04, 0x35ff_ff83, 0, 0xd503_3f5f]);
        assert_eq!(found, Some(Block { words: 5, exits: vec![(0x1014, 5), (0x1018, 3)] }));
    }

    #[test]
    fn what_is_no_exclusive_load_or_has_no_store_is_none() {
        // ldar w1, [x0]; ldr w1, [x0]; casp w0, w1, w2, w3, [x4]; ldxr without a store
        for word in [0x88df_fc01, 0xb940_0001, 0x0820_7c82, 0x0860_7c82, 0x885f_7c01] {
            assert_eq!(of(&[word, 0xd503_201f]), None, "{word:#x}");
        }
    }
}
