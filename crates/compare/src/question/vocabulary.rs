//! The words that a question is made of. What is not here is not understood.

use super::{By, Class, Per, Question};
use model::{Direction, Footprint, Model, Tier};

/// A phrase with its meaning.
#[derive(Clone, Copy)]
pub struct Word {
    /// Ways to say it; the first is the usual one. Words of a phrase are parted by one space.
    pub phrases: &'static [&'static str],
    /// What it asks for.
    pub meaning: &'static str,
    /// The flag that says the same; empty where there is none.
    pub flag: &'static str,
    pub(super) set: fn(&mut Question),
}

/// Questions that show what can be asked.
pub const EXAMPLES: [&str; 9] = [
    "fastest authenticated at 8 KiB",
    "fastest on decrypt at 64 B",
    "best without AES instructions",
    "best per library",
    "fastest authenticated with 256-bit keys per library",
    "fewest instructions authenticated at 16 KiB",
    "fastest with new keys at 64 B",
    "fastest algorithm aes-*-gcm on 2 threads from memory",
    "best digest at 1 KiB",
];

/// Words that only hold a sentence together.
pub(super) const FILLERS: [&str; 25] = [
    "the",
    "a",
    "an",
    "is",
    "are",
    "which",
    "what",
    "who",
    "for",
    "on",
    "at",
    "of",
    "with",
    "in",
    "to",
    "and",
    "one",
    "from",
    "key",
    "keys",
    "cipher",
    "ciphers",
    "tier",
    "footprint",
    "model",
];

macro_rules! word {
    ([$($phrase:literal),+], $meaning:literal, $flag:literal, |$q:ident| $set:expr) => {
        Word { phrases: &[$($phrase),+], meaning: $meaning, flag: $flag, set: |$q| $set }
    };
}

/// Every phrase of a fixed wording. Beside them: a size (`8 KiB`, `64 B`), a key length (`256-bit`),
/// `N threads`, `algorithm GLOB` and `library GLOB`.
pub const WORDS: &[Word] = &[
    word!(["fastest", "best", "quickest"], "least time of an operation", "--by time", |q| q.by =
        Some(By::Time)),
    word!(
        ["fewest instructions", "least instructions"],
        "fewest instructions of an operation",
        "--by instructions",
        |q| q.by = Some(By::Instructions)
    ),
    word!(["authenticated", "aead"], "tampering is noticed", "--authenticated", |q| q.class =
        Some(Class::Authenticated)),
    word!(
        ["unauthenticated"],
        "encryption that does not notice tampering",
        "--class unauthenticated",
        |q| q.class = Some(Class::Unauthenticated)
    ),
    word!(
        ["composite", "composites"],
        "a cipher joined with a checksum or a MAC",
        "--class composite",
        |q| q.class = Some(Class::Composite)
    ),
    word!(
        ["digest", "digests", "hash", "checksum"],
        "digests and checksums",
        "--class digest",
        |q| q.class = Some(Class::Digest)
    ),
    word!(["mac", "macs"], "message authentication codes", "--class mac", |q| q.class =
        Some(Class::Mac)),
    word!(
        ["encrypt", "encryption", "encrypting"],
        "encryption (the default)",
        "--direction encrypt",
        |q| q.direction = Some(Direction::Encrypt)
    ),
    word!(["decrypt", "decryption", "decrypting"], "decryption", "--direction decrypt", |q| q
        .direction =
        Some(Direction::Decrypt)),
    word!(["native"], "with everything the CPU has (the default)", "--tier native", |q| q.tier =
        Some(Tier::Native)),
    word!(
        ["without avx-512", "without avx512", "vaes256"],
        "VAES of 256 bits, no AVX-512",
        "--tier vaes256",
        |q| q.tier = Some(Tier::Vaes256)
    ),
    word!(
        ["without vaes", "aesni", "aes-ni"],
        "AES instructions of 128 bits only",
        "--tier aesni",
        |q| q.tier = Some(Tier::Aesni)
    ),
    word!(
        ["without aes instructions", "without aes-ni", "without aes", "noaes"],
        "no AES instructions, no carry-less multiply",
        "--tier noaes",
        |q| q.tier = Some(Tier::Noaes)
    ),
    word!(["baseline", "sse2 only"], "SSE2 only", "--tier baseline", |q| q.tier =
        Some(Tier::Baseline)),
    word!(["per library"], "the best of each library", "--per library", |q| q.per =
        Some(Per::Library)),
    word!(["per algorithm"], "the best of each algorithm", "--per algorithm", |q| q.per =
        Some(Per::Algorithm)),
    word!(["per family"], "the best of each family (aes-gcm, aegis, …)", "--per family", |q| q
        .per =
        Some(Per::Family)),
    word!(["per size"], "the best at each size", "--per size", |q| q.per = Some(Per::Size)),
    word!(["per tier"], "the best at each tier", "--per tier", |q| q.per = Some(Per::Tier)),
    word!(["message", "messages"], "whole messages (the default)", "--model message", |q| q
        .model =
        Some(Model::Message)),
    word!(["stream"], "updates of one long stream", "--model stream", |q| q.model =
        Some(Model::Stream)),
    word!(["new keys", "new key", "rekey"], "a new key for each message", "--model rekey", |q| q
        .model =
        Some(Model::Rekey)),
    word!(
        ["rejecting forgeries", "forgery", "forgeries"],
        "rejection of a wrong tag",
        "--model forgery",
        |q| q.model = Some(Model::Forgery)
    ),
    word!(["hot"], "the same few buffers (the default)", "--footprint hot", |q| q.footprint =
        Some(Footprint::Hot)),
    word!(["l1"], "buffers that fill the first-level cache", "--footprint l1", |q| q.footprint =
        Some(Footprint::L1)),
    word!(["l2"], "buffers that fill the second-level cache", "--footprint l2", |q| q.footprint =
        Some(Footprint::L2)),
    word!(["l3"], "buffers that fill the third-level cache", "--footprint l3", |q| q.footprint =
        Some(Footprint::L3)),
    word!(["memory"], "buffers that no cache holds", "--footprint memory", |q| q.footprint =
        Some(Footprint::Memory)),
    word!(["not in place"], "output beside the input (the default)", "--in-place no", |q| q
        .in_place =
        Some(false)),
    word!(["in place"], "output over the input", "--in-place yes", |q| q.in_place = Some(true)),
];

/// Every single word that can stand in a question, for completion.
#[must_use]
pub fn words() -> Vec<&'static str> {
    let phrases = WORDS.iter().flat_map(|w| w.phrases.iter());
    let mut words: Vec<&str> = phrases.flat_map(|p| p.split(' ')).collect();
    words.extend(["at", "on", "with", "threads", "128-bit", "256-bit", "64", "8K", "library"]);
    words.extend(["algorithm"]);
    words.sort_unstable();
    words.dedup();
    words
}
