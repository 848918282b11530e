//! Page schemes: how a page is encrypted, bound to its place and checked, and what tampering each is
//! expected to notice. Pure data and arithmetic: no cipher is called here.

mod catalogue;

use base::model::{Algorithm, Mode};
pub use catalogue::{
    Profile, SOURCES_READ, good_practice, profile, profiles, unknown_scheme, with_lsn_nonces,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// A recipe: everything that decides which bytes a page becomes.

/// How a page is encrypted, bound to its place and checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recipe {
    /// `none`, a cipher's name, or a cipher's and a sum's joined with a plus.
    pub scheme: String,
    /// The cipher's name; null for `none`.
    pub cipher: Option<String>,
    /// What is kept beside the ciphertext to notice changes, where the cipher has no tag.
    pub sum: Option<Sum>,
    /// Where the nonce, IV or tweak comes from.
    pub nonce: NonceRule,
    /// The page's place: associated data of an authenticated cipher, seed of a checksum.
    pub bound: Vec<Field>,
    /// What a MAC covers, in order.
    pub mac: Vec<MacPart>,
    /// How many pages share a key.
    pub key: KeyScope,
    /// Whether a page that begins with 32 zero bytes is taken for one that was never written, and is
    /// handed on undecrypted.
    pub zero_passes: bool,
    /// Whether a page that is zeros from end to end, with what is stored beside it, is taken for one
    /// that was never written and read as zeros, although its MAC does not fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub zero_page_passes: bool,
    /// Bytes that the format sets aside for each page's nonce and tag; 0: as many as they are.
    pub reserve: usize,
    /// The library's generator that a nonce is drawn from while it is timed; the system's where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<String>,
}

crate::named! {
    /// What is kept to notice changes.
    Sum {
        /// XXH3 over the plaintext, its seed the XXH3 of the place.
        Xxh3 = "xxh3-64",
        /// CRC-32C over the place and the plaintext.
        Crc32c = "crc32c",
        /// HMAC-SHA-1 over what [`Recipe::mac`] names.
        HmacSha1 = "hmac-sha1",
        /// HMAC-SHA-256 over what [`Recipe::mac`] names.
        HmacSha256 = "hmac-sha256",
        /// HMAC-SHA-512 over what [`Recipe::mac`] names.
        HmacSha512 = "hmac-sha512",
    }
}

/// Where a nonce comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonceRule {
    /// There is none.
    None,
    /// Drawn for each write and stored beside the page. Of a counter block the last 16 bits are zero:
    /// they count the page's blocks.
    Random,
    /// Made of the page's version and place as they stand in the page itself, in clear: nothing more is
    /// stored.
    Lsn(Vec<Field>),
    /// Made of the page's place, nothing is stored.
    Place(Vec<Field>),
    /// Made of the page's place and masked with a secret value of its file, nothing is stored.
    MaskedPlace(Vec<Field>),
}

/// A part of what a MAC covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MacPart {
    /// The nonce.
    Nonce,
    /// The page's place.
    Place(Vec<Field>),
    /// The ciphertext.
    Ciphertext,
}

/// How many pages share a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyScope {
    /// All.
    Store,
    /// Those of a relation or file.
    File,
}

/// How a cipher takes changes of its ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemeClass {
    Plain,
    /// A key stream: a bit of ciphertext is a bit of plaintext.
    Stream,
    /// Blocks on their own: 16 bytes of ciphertext are 16 bytes of plaintext.
    Blocks,
    /// Chained blocks: a change garbles its block and shows in the next.
    Chain,
    /// The whole page as one block: any change garbles all of it.
    Wide,
    Authenticated,
}

/// Against whom a scheme protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Protection {
    /// Nobody.
    None,
    /// Accidents.
    Accident,
    /// Adversaries, but for putting an old page back.
    Adversary,
}

/// What a nonce that comes twice under one key gives away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnReuse {
    /// There is no nonce.
    Nothing,
    /// Which plaintexts, or which of their blocks, are equal.
    EqualitySeen,
    /// The two plaintexts' difference.
    PlaintextsLeak,
    /// That, and messages can be forged (NIST SP 800-38D §8, RFC 8439 §4, RFC 7253 §5).
    PlaintextsLeakAndForgery,
}

impl Sum {
    pub fn bytes(self) -> usize {
        match self {
            Self::Crc32c => 4,
            Self::Xxh3 => 8,
            Self::HmacSha1 => 20,
            Self::HmacSha256 => 32,
            Self::HmacSha512 => 64,
        }
    }

    #[inline]
    pub fn is_mac(self) -> bool {
        !matches!(self, Self::Xxh3 | Self::Crc32c)
    }
}

impl Recipe {
    pub fn algorithm(&self) -> Option<&'static Algorithm> {
        self.cipher.as_deref().and_then(|name| Algorithm::find(name).ok())
    }

    /// Bytes of the nonce, stored or not.
    pub fn nonce_bytes(&self) -> usize {
        self.algorithm().map_or(0, |a| a.nonce_len)
    }

    /// Bytes that are stored of the nonce, beside the page or in it.
    pub fn stored_nonce_bytes(&self) -> usize {
        match self.nonce {
            NonceRule::Random | NonceRule::Lsn(_) => self.nonce_bytes(),
            _ => 0,
        }
    }

    /// Bytes of the cipher's own tag.
    pub fn tag_bytes(&self) -> usize {
        self.algorithm().map_or(0, |a| a.tag_len)
    }

    /// Bytes of nonce, tag and sum together.
    pub fn metadata_bytes(&self) -> usize {
        self.stored_nonce_bytes() + self.tag_bytes() + self.sum.map_or(0, Sum::bytes)
    }

    /// Bytes that a page costs beside itself.
    pub fn extra_bytes(&self) -> usize {
        let in_page = match self.nonce {
            NonceRule::Lsn(_) => self.stored_nonce_bytes(),
            _ => 0,
        };
        self.reserve.max(self.metadata_bytes() - in_page)
    }

    /// How the cipher takes changes.
    pub fn class(&self) -> SchemeClass {
        match self.algorithm() {
            None => SchemeClass::Plain,
            Some(a) if a.rejects() => SchemeClass::Authenticated,
            Some(a) => match a.mode {
                Mode::Xts => SchemeClass::Blocks,
                Mode::Cbc => SchemeClass::Chain,
                Mode::Hctr2 | Mode::Adiantum => SchemeClass::Wide,
                _ => SchemeClass::Stream,
            },
        }
    }

    /// Against whom it protects.
    pub fn protection(&self) -> Protection {
        match (self.class(), self.sum) {
            (SchemeClass::Authenticated, _) => Protection::Adversary,
            (_, Some(sum)) if sum.is_mac() => Protection::Adversary,
            (_, Some(_)) => Protection::Accident,
            (_, None) => Protection::None,
        }
    }

    /// What a nonce that comes twice under one key gives away.
    pub fn on_reuse(&self) -> OnReuse {
        let Some(algorithm) = self.algorithm() else { return OnReuse::Nothing };
        match algorithm.mode {
            // CBC: equal beginnings show; XTS: equal blocks at one place; the others: equal pages.
            Mode::Xts | Mode::Cbc | Mode::Hctr2 | Mode::Adiantum | Mode::GcmSiv | Mode::Siv => {
                OnReuse::EqualitySeen
            }
            Mode::Gcm | Mode::Ocb | Mode::Poly1305 | Mode::Ccm | Mode::Eax | Mode::Aegis => {
                OnReuse::PlaintextsLeakAndForgery
            }
            _ => OnReuse::PlaintextsLeak,
        }
    }
}

/// Whether every list of fields fits where it goes: tweaks and nonces no longer than the cipher's.
pub fn check_lengths(recipe: &Recipe) -> bool {
    let bytes = |fields: &[Field]| fields.iter().map(|f| f.bytes()).sum::<usize>();
    let nonce_fits = match &recipe.nonce {
        NonceRule::None => recipe.nonce_bytes() == 0,
        NonceRule::Random => recipe.nonce_bytes() > 0,
        NonceRule::Lsn(f) | NonceRule::Place(f) | NonceRule::MaskedPlace(f) => {
            bytes(f) <= recipe.nonce_bytes()
        }
    };
    nonce_fits && bytes(&recipe.bound) <= 64
}

// Where a page lies, and how its place is written down for tweaks, associated data and MACs.

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
    pub fn same_file(&self, other: &Self) -> bool {
        self.file() == other.file()
    }

    #[inline]
    pub fn file(&self) -> (u32, u32, u32, u8) {
        (self.space, self.database, self.relation, self.fork)
    }

    /// As staged for workers: all fields, little-endian, padded with zeros.
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
/// When the fields do not fit, which [`check_lengths`] rules out.
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

// Probes of integrity, and what each scheme is expected to notice: one table.

crate::named! {
    /// A way in which a stored page can be wrong.
    Probe {
        /// One bit of the ciphertext is another.
        FlipCiphertext = "flip-ciphertext",
        /// One bit of the stored nonce is another.
        FlipNonce = "flip-nonce",
        /// One bit of the tag, or of the MAC, is another.
        FlipTag = "flip-tag",
        /// One bit of the checksum is another.
        FlipSum = "flip-sum",
        /// Two pages of a file, each with what is stored beside it, have changed places.
        Swap = "swap",
        /// In a page's place lies the page of the same number of another file.
        OtherFile = "other-file",
        /// The page's second half is that of an older version: a write that was cut short.
        Torn = "torn",
        /// The page's second half is lost, and reads as zeros.
        Truncated = "truncated",
        /// The page and what is stored beside it read as zeros.
        Zeroed = "zeroed",
        /// An older version of the page, with what was stored beside it then.
        Replay = "replay",
        /// Whoever knows the page's present and an older content, but no key, writes what serves them.
        Rewrite = "rewrite",
    }
}

/// What an unnoticed change did to the plaintext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Nothing: the page reads as it should.
    None,
    /// One bit is another.
    OneBit,
    /// At most one block of 16 bytes is garbled.
    OneBlock,
    /// One block of 16 bytes is garbled, and one bit of the next is another.
    BlockAndBit,
    /// The other page's content, but for at most a block: under another IV a chain loses its first.
    OtherPage,
    /// An older content of the page.
    OldPage,
    /// The first half of the one version and the second half of the other, but for at most a block.
    Mixed,
    /// The second half is zeros.
    HalfZero,
    /// Zeros.
    Zeros,
    /// Exactly what was meant by whoever wrote it.
    AsMeant,
    /// Garbage.
    Garbage,
}

/// What is expected of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// There is nothing to change.
    NotApplicable,
    /// Every one is noticed.
    Noticed,
    /// None is noticed, and this becomes of the plaintext.
    Unnoticed(Effect),
}

impl Probe {
    /// Whether it is something that happens by itself.
    pub fn is_accident(self) -> bool {
        !matches!(self, Self::Replay | Self::Rewrite)
    }
}

/// What becomes unnoticed of a plaintext, by class: `None` where the scheme has nothing to change.
type Row = (Probe, [Expected; 5]);

const fn un(effect: Effect) -> Expected {
    Expected::Unnoticed(effect)
}

const fn all(effects: [Effect; 5]) -> [Expected; 5] {
    let [plain, stream, blocks, chain, wide] = effects;
    [un(plain), un(stream), un(blocks), un(chain), un(wide)]
}

const NA: Expected = Expected::NotApplicable;

/// Without any check: plain, stream under a stored nonce, blocks whose tweak names place and file, chain
/// under a key of its file's. [`without_check`] has what differs for others.
const WITHOUT_CHECK: [Row; 11] = {
    use Effect::{
        AsMeant, BlockAndBit, Garbage, HalfZero, Mixed, OldPage, OneBit, OneBlock, OtherPage, Zeros,
    };
    [
        (Probe::FlipCiphertext, all([OneBit, OneBit, OneBlock, BlockAndBit, Garbage])),
        (Probe::FlipNonce, [NA, un(Garbage), NA, un(OneBit), NA]),
        (Probe::FlipTag, [NA; 5]),
        (Probe::FlipSum, [NA; 5]),
        (Probe::Swap, all([OtherPage, OtherPage, Garbage, OtherPage, Garbage])),
        (Probe::OtherFile, all([OtherPage, OtherPage, Garbage, Garbage, Garbage])),
        (Probe::Torn, all([Mixed, Garbage, Mixed, Mixed, Garbage])),
        (Probe::Truncated, all([HalfZero, Garbage, Garbage, Garbage, Garbage])),
        (Probe::Zeroed, all([Zeros, Garbage, Garbage, Garbage, Garbage])),
        (Probe::Replay, [un(OldPage); 5]),
        (Probe::Rewrite, all([AsMeant, AsMeant, AsMeant, Mixed, AsMeant])),
    ]
};

pub fn expected(recipe: &Recipe, probe: Probe) -> Expected {
    let stored_nonce = recipe.stored_nonce_bytes() > 0;
    match probe {
        Probe::FlipNonce if !stored_nonce => return NA,
        Probe::FlipTag if recipe.tag_bytes() == 0 && !recipe.sum.is_some_and(Sum::is_mac) => {
            return NA;
        }
        Probe::FlipSum if recipe.sum.is_none_or(Sum::is_mac) => return NA,
        // No per-page scheme tells an old page from the present one.
        Probe::Replay => return un(Effect::OldPage),
        Probe::Zeroed if recipe.zero_page_passes => return un(Effect::Zeros),
        _ => {}
    }
    match (recipe.protection(), probe) {
        (Protection::Adversary, _) => adversary(recipe, probe),
        // Whoever can rewrite the page can work out its checksum anew.
        (Protection::Accident, Probe::Rewrite) | (Protection::None, _) => {
            without_check(recipe, probe)
        }
        (Protection::Accident, _) => Expected::Noticed,
    }
}

/// A MAC notices all but what it does not cover.
fn adversary(recipe: &Recipe, probe: Probe) -> Expected {
    let covers_file = recipe.key == KeyScope::File
        || recipe.class() == SchemeClass::Authenticated
        || recipe.mac.iter().any(|part| match part {
            MacPart::Place(fields) => fields.contains(&Field::Relation32),
            _ => false,
        });
    match probe {
        Probe::OtherFile if !covers_file => un(Effect::OtherPage),
        _ => Expected::Noticed,
    }
}

fn without_check(recipe: &Recipe, probe: Probe) -> Expected {
    let place_is_in_nonce = matches!(recipe.nonce, NonceRule::Place(_) | NonceRule::MaskedPlace(_));
    match (recipe.class(), probe) {
        // A file's number that is neither in the tweak nor in the key binds no page to its file.
        (SchemeClass::Blocks | SchemeClass::Wide, Probe::OtherFile) if !names_file(recipe) => {
            return un(Effect::OtherPage);
        }
        (SchemeClass::Chain, Probe::OtherFile) if recipe.key == KeyScope::Store => {
            return un(Effect::OtherPage);
        }
        (_, Probe::Zeroed) if recipe.zero_passes => return un(Effect::Zeros),
        (SchemeClass::Stream, Probe::Swap | Probe::OtherFile) if place_is_in_nonce => {
            return un(Effect::Garbage);
        }
        _ => {}
    }
    let column = match recipe.class() {
        SchemeClass::Plain => 0,
        SchemeClass::Stream => 1,
        SchemeClass::Blocks => 2,
        SchemeClass::Chain | SchemeClass::Authenticated => 3,
        SchemeClass::Wide => 4,
    };
    WITHOUT_CHECK.iter().find(|(p, _)| *p == probe).map_or(NA, |(_, row)| row[column])
}

fn names_file(recipe: &Recipe) -> bool {
    let in_nonce = match &recipe.nonce {
        NonceRule::Place(f) | NonceRule::MaskedPlace(f) => f.contains(&Field::Relation32),
        _ => false,
    };
    in_nonce || recipe.key == KeyScope::File
}

#[cfg(test)]
mod tests {
    use super::{good_practice, profiles, *};

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

    fn of(name: &str, probe: Probe) -> Expected {
        let all = good_practice();
        expected(all.iter().find(|r| r.scheme == name).unwrap(), probe)
    }

    #[test]
    fn the_table_has_every_probe_once() {
        for &probe in Probe::ALL {
            assert_eq!(WITHOUT_CHECK.iter().filter(|(p, _)| *p == probe).count(), 1, "{probe:?}");
        }
    }

    #[test]
    fn no_scheme_notices_an_old_page_in_its_own_place() {
        let all = good_practice().into_iter().chain(profiles().into_iter().flat_map(|p| p.recipes));
        for recipe in all {
            assert_eq!(expected(&recipe, Probe::Replay), Expected::Unnoticed(Effect::OldPage));
        }
    }

    #[test]
    fn a_checksum_notices_accidents_and_no_informed_rewrite() {
        for name in ["aes-256-ctr+xxh3-64", "aes-256-xts+xxh3-64", "aes-256-xts+crc32c"] {
            for &probe in Probe::ALL {
                let found = of(name, probe);
                let noticed = matches!(found, Expected::Noticed | Expected::NotApplicable);
                assert_eq!(noticed, probe.is_accident(), "{name} {}", probe.name());
            }
        }
    }

    #[test]
    fn authenticated_schemes_notice_all_but_replay() {
        for name in ["aes-256-gcm", "aes-256-ctr+hmac-sha256", "aegis-256", "aes-256-gcm-siv"] {
            for &probe in Probe::ALL {
                let unnoticed = matches!(of(name, probe), Expected::Unnoticed(_));
                assert_eq!(unnoticed, probe == Probe::Replay, "{name} {}", probe.name());
            }
        }
    }

    #[test]
    fn sqlcipher_3_takes_zeros_for_a_page_that_was_never_written_and_4_does_not() {
        let zeroed =
            |name: &str| expected(&super::profile(name).unwrap().recipes[0], Probe::Zeroed);
        assert_eq!(zeroed("sqlcipher3"), Expected::Unnoticed(Effect::Zeros));
        assert_eq!(zeroed("sqlcipher4"), Expected::Noticed);
    }

    #[test]
    fn sqlciphers_mac_does_not_know_of_files() {
        let sqlcipher = super::profile("sqlcipher4").unwrap();
        let found = expected(&sqlcipher.recipes[0], Probe::OtherFile);
        assert_eq!(found, Expected::Unnoticed(Effect::OtherPage));
    }
}
