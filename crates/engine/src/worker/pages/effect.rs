//! What an unnoticed change did to a page, by what the page now is.

use record::at_rest::scheme::Effect;

/// What a page can have become.
pub(super) struct Contents<'a> {
    pub(super) present: &'a [u8],
    pub(super) old: &'a [u8],
    /// The page that came into its place; empty where there is none.
    pub(super) other: &'a [u8],
    /// What the one who wrote it meant; empty where nobody did.
    pub(super) meant: &'a [u8],
}

/// Bytes of a cipher block.
const BLOCK: usize = 16;

impl Contents<'_> {
    /// What `got` is.
    pub(super) fn effect(&self, got: &[u8]) -> Effect {
        let half = got.len() / 2;
        if got == self.present {
            return Effect::None;
        }
        if got == self.meant {
            return Effect::AsMeant;
        }
        if got == self.old {
            return Effect::OldPage;
        }
        if got.iter().all(|b| *b == 0) {
            return Effect::Zeros;
        }
        if !self.other.is_empty() && differing(got, self.other) <= BLOCK {
            return Effect::OtherPage;
        }
        if got[..half] == self.present[..half] && got[half..].iter().all(|b| *b == 0) {
            return Effect::HalfZero;
        }
        let mixed = differing(&got[..half], &self.present[..half])
            + differing(&got[half..], &self.old[half..]);
        if mixed <= BLOCK {
            return Effect::Mixed;
        }
        small(got, self.present)
    }
}

fn differing(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

/// A bit, a block, a block and a bit; else garbage.
fn small(got: &[u8], present: &[u8]) -> Effect {
    let bits = |block: usize| -> u32 {
        let range = block * BLOCK..(block + 1) * BLOCK;
        got[range.clone()].iter().zip(&present[range]).map(|(a, b)| (a ^ b).count_ones()).sum()
    };
    let blocks: Vec<usize> = (0..got.len() / BLOCK).filter(|b| bits(*b) > 0).collect();
    match blocks[..] {
        [one] if bits(one) == 1 => Effect::OneBit,
        [_] => Effect::OneBlock,
        [first, next] if next == first + 1 && bits(next) == 1 => Effect::BlockAndBit,
        _ => Effect::Garbage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_a_page_is_told_by_what_it_is() {
        let present: Vec<u8> = (0..=255).cycle().take(512).collect();
        let old: Vec<u8> = present.iter().map(|b| b ^ 0x55).collect();
        let other: Vec<u8> = present.iter().map(|b| b.wrapping_mul(7) ^ 3).collect();
        let meant: Vec<u8> = present.iter().rev().copied().collect();
        let contents = Contents { present: &present, old: &old, other: &other, meant: &meant };
        let changed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut got = present.clone();
            change(&mut got);
            contents.effect(&got)
        };
        assert_eq!(changed(&|_| ()), Effect::None);
        assert_eq!(changed(&|g| g[100] ^= 8), Effect::OneBit);
        assert_eq!(changed(&|g| g[96..112].iter_mut().for_each(|b| *b ^= 0x3c)), Effect::OneBlock);
        assert_eq!(
            changed(&|g| {
                g[96..112].iter_mut().for_each(|b| *b ^= 0x3c);
                g[115] ^= 1;
            }),
            Effect::BlockAndBit
        );
        assert_eq!(changed(&|g| g[256..].copy_from_slice(&old[256..])), Effect::Mixed);
        assert_eq!(changed(&|g| g[256..].fill(0)), Effect::HalfZero);
        assert_eq!(changed(&|g| g.fill(0)), Effect::Zeros);
        assert_eq!(changed(&|g| g.copy_from_slice(&other)), Effect::OtherPage);
        assert_eq!(changed(&|g| g.copy_from_slice(&old)), Effect::OldPage);
        assert_eq!(changed(&|g| g.copy_from_slice(&meant)), Effect::AsMeant);
        assert_eq!(
            changed(&|g| g.iter_mut().for_each(|b| *b = b.wrapping_add(77))),
            Effect::Garbage
        );
    }
}
