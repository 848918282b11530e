//! The beginning of a `PostgreSQL` page (`PageHeaderData`, src/include/storage/bufpage.h).

/// What a page says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageHeader {
    /// Log sequence number of the last change that was logged.
    pub lsn: u64,
    /// End of the line pointers.
    pub lower: u16,
    /// Beginning of the tuples.
    pub upper: u16,
}

impl PageHeader {
    /// The header of a page; zeros of one that is too short.
    #[must_use]
    pub fn of(page: &[u8]) -> Self {
        let half = |at: usize| page.get(at..at + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
        let word = |at: usize| u64::from(half(at)) | u64::from(half(at + 2)) << 16;
        // The LSN is two 32-bit numbers, the higher one first.
        Self { lsn: word(0) << 32 | word(4), lower: half(12), upper: half(14) }
    }

    /// Bytes of the hole between line pointers and tuples.
    #[must_use]
    pub fn hole(&self) -> usize {
        if self.lower == 0 { 0 } else { usize::from(self.upper.saturating_sub(self.lower)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
