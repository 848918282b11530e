//! Where a page lies, and how its place is written down for tweaks, associated data and MACs.

use serde::{Deserialize, Serialize};

/// Bytes of a staged position ([`Position::to_bytes`]).
pub const POSITION_BYTES: usize = 32;

/// Where a page lies and which version of it this is. What a store has no such thing for is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize)]
pub struct Position {
    /// `PostgreSQL`: OID of a tablespace other than the default and the global one.
    pub space: u32,
    /// `PostgreSQL`: OID of the database; 0 for relations that all share.
    pub database: u32,
    /// `PostgreSQL`: relfilenode; else the number of the file.
    pub relation: u32,
    /// `PostgreSQL`: 0 main, 1 free space map, 2 visibility map, 3 init.
    pub fork: u8,
    /// Number of the page within the fork or the file, over all segments.
    pub block: u32,
    /// `PostgreSQL`: the page's LSN.
    pub version: u64,
}

impl Position {
    /// Whether both pages are of the same file.
    #[must_use]
    pub fn same_file(&self, other: &Self) -> bool {
        self.file() == other.file()
    }

    /// What tells files apart.
    #[must_use]
    #[inline]
    pub fn file(&self) -> (u32, u32, u32, u8) {
        (self.space, self.database, self.relation, self.fork)
    }

    /// As staged for workers: all fields, little-endian, padded with zeros.
    #[must_use]
    #[inline]
    pub fn to_bytes(&self) -> [u8; POSITION_BYTES] {
        let mut bytes = [0; POSITION_BYTES];
        bytes[0..4].copy_from_slice(&self.space.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.database.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.relation.to_le_bytes());
        bytes[12] = self.fork;
        bytes[16..20].copy_from_slice(&self.block.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.version.to_le_bytes());
        bytes
    }

    /// The reverse of [`Position::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: &[u8; POSITION_BYTES]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            space: word(0),
            database: word(4),
            relation: word(8),
            fork: bytes[12],
            block: word(16),
            version: u64::from(word(24)) | u64::from(word(28)) << 32,
        }
    }
}

/// A piece of a tweak, of associated data or of what a MAC covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(Serialize, Deserialize, schemars::JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Field {
    /// Low 24 bits of the tablespace's OID, little-endian.
    Space24,
    /// Database, 32 bits, little-endian.
    Database32,
    /// Relation or file, 32 bits, little-endian.
    Relation32,
    /// Fork, one byte.
    Fork8,
    /// As `fork8`, with the init fork counted as the main one, which it becomes by copying.
    ForkOfUse8,
    /// Block, 32 bits, little-endian.
    Block32,
    /// Block, 32 bits, big-endian.
    Block32Be,
    /// Block, 64 bits, big-endian.
    Block64Be,
    /// Block counted from one, 32 bits, little-endian.
    PageNumber32,
    /// Number of the 512-byte sector that the page begins at, 64 bits, little-endian.
    Sector64,
    /// Block, 64 bits, little-endian.
    Block64,
    /// Version (LSN), 64 bits, little-endian.
    Version64,
    /// One zero byte.
    Zero,
}

/// Writes the fields one after the other into `to`; what is left of it becomes zero.
///
/// # Panics
/// When the fields do not fit, which [`crate::at_rest::scheme::check_lengths`] rules out.
// These are within the clock: compiled where that is.
#[inline]
pub fn write_fields(fields: &[Field], position: &Position, page_size: usize, to: &mut [u8]) {
    let mut at = 0;
    for field in fields {
        let (bytes, len) = field.of(position, page_size);
        to[at..at + len].copy_from_slice(&bytes[..len]);
        at += len;
    }
    to[at..].fill(0);
}

impl Field {
    /// Bytes that it takes.
    #[must_use]
    #[inline]
    pub fn bytes(self) -> usize {
        self.of(&Position::default(), 0).1
    }

    /// What it is of a position: so many of the bytes.
    #[inline]
    fn of(self, p: &Position, page_size: usize) -> ([u8; 8], usize) {
        let block = u64::from(p.block);
        match self {
            Self::Space24 => (u64::from(p.space & 0xff_ffff).to_le_bytes(), 3),
            Self::Database32 => (u64::from(p.database).to_le_bytes(), 4),
            Self::Relation32 => (u64::from(p.relation).to_le_bytes(), 4),
            Self::Fork8 => (u64::from(p.fork).to_le_bytes(), 1),
            Self::ForkOfUse8 => (u64::from(if p.fork == 3 { 0 } else { p.fork }).to_le_bytes(), 1),
            Self::Block32 => (block.to_le_bytes(), 4),
            Self::Block32Be => ((block << 32).to_be_bytes(), 4),
            Self::Block64Be => (block.to_be_bytes(), 8),
            Self::PageNumber32 => (u64::from(p.block.wrapping_add(1)).to_le_bytes(), 4),
            Self::Sector64 => ((block * (page_size as u64 / 512)).to_le_bytes(), 8),
            Self::Block64 => (block.to_le_bytes(), 8),
            Self::Version64 => (p.version.to_le_bytes(), 8),
            Self::Zero => ([0; 8], 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Position = Position {
        space: 7,
        database: 5,
        relation: 16_384,
        fork: 3,
        block: 258,
        version: 0x1_0000_0002,
    };

    #[test]
    fn a_staged_position_comes_back_as_it_was() {
        assert_eq!(Position::from_bytes(&HERE.to_bytes()), HERE);
    }

    #[test]
    fn fields_are_written_in_order_and_the_rest_is_zero() {
        let mut out = [0xff; 16];
        let fields = [Field::Block32Be, Field::Fork8, Field::ForkOfUse8, Field::PageNumber32];
        write_fields(&fields, &HERE, 8192, &mut out);
        assert_eq!(out, [0, 0, 1, 2, 3, 0, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        write_fields(&[Field::Sector64], &HERE, 4096, &mut out);
        assert_eq!(u64::from_le_bytes(out[..8].try_into().unwrap()), 258 * 8);
        write_fields(&[Field::Block64Be, Field::Version64], &HERE, 4096, &mut out);
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 0, 0, 0]);
    }
}
