//! The file that watched processes write and `ciphermark watch` reads, in words of 64 bits, which both map or read
//! by these constants. It is sparse: what no process touches takes no memory.
//!
//! ```text
//! file      its head, then REGIONS regions: one for each process that loads a crypto library
//! region    facts | libraries | names of algorithms | contexts | areas
//! context   a message in progress, found by the address of the library's own context
//! area      the finished messages of one thread: ROWS rows; the first area is shared by all threads that found no other
//! row       operation, library, algorithm, direction, size, associated data; sums; a histogram of ticks
//! ```
//!
//! Nothing in it comes from a key, a nonce, a message or an argument of the program: names, addresses, sizes, ticks.
#![allow(dead_code, reason = "each of the two programs uses its part")]

/// First word of the file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"cmwatch3");
/// The file's own words: the magic, how many processes found no room, and which regions are somebody's.
pub const FILE_REFUSED: usize = 1;
pub const FILE_CLAIMED: usize = 512;
pub const FILE_WORDS: usize = FILE_CLAIMED + REGIONS;

pub const REGIONS: usize = 512;
pub const LIBRARIES: usize = 32;
pub const LIBRARY_WORDS: usize = 32;
pub const ALGORITHMS: usize = 512;
pub const ALGORITHM_WORDS: usize = 6;
pub const CONTEXTS: usize = 4096;
pub const CONTEXT_WORDS: usize = 9;
pub const AREAS: usize = 64;
pub const ROWS: usize = 128;

// Facts of a region.
/// 0 until there is something to read; then `TAKEN`, at last `ENDED`.
pub const STATE: usize = 0;
pub const TAKEN: u64 = 1;
pub const ENDED: u64 = 2;
pub const PID: usize = 1;
pub const PARENT: usize = 2;
/// CPU time of the process when it took the region and when it last said so, in ns.
pub const CPU_BEFORE: usize = 3;
pub const CPU_NOW: usize = 4;
pub const LIBRARY_COUNT: usize = 5;
pub const ALGORITHM_COUNT: usize = 6;
/// Threads that called: so many areas behind the shared one are theirs, as far as there are any.
pub const AREA_COUNT: usize = 7;
/// Contexts that were forgotten because too many were in use.
pub const EVICTED: usize = 8;
/// Finished messages that no row had room for: what is under `OTHER`.
pub const OVERFLOWN: usize = 9;
/// Functions that were not replaced, because all places were taken.
pub const UNBOUND: usize = 10;
/// Inode of the namespace that `PID` is a number of; 0 where nobody knows.
pub const NAMESPACE: usize = 11;
/// Ticks that two readings of the clock in a row cost, taken off each call.
pub const CLOCK_TICKS: usize = 12;
/// Locks of the two lists of names.
pub const LOCK: usize = 13;
/// What being timed cost in some of the calls, in ticks, and how many those are: from the clock's reading behind the call to
/// one more before the program goes on, which takes as long as the one ahead of the call.
pub const OWN_TICKS: usize = 14;
pub const OWN_COUNT: usize = 15;
pub const PROGRAM: usize = 16;
pub const PROGRAM_WORDS: usize = 32;

/// The machine's tick and the monotonic clock's ns at one moment: when the region was taken, and the last time that CPU
/// time was written down.
pub const BEGAN: usize = 48;
pub const STAMPED: usize = 50;

pub const LIBRARY_AT: usize = 64;
pub const ALGORITHM_AT: usize = LIBRARY_AT + LIBRARIES * LIBRARY_WORDS;
pub const CONTEXT_AT: usize = (ALGORITHM_AT + ALGORITHMS * ALGORITHM_WORDS).next_multiple_of(512);
pub const AREA_AT: usize = CONTEXT_AT + CONTEXTS * CONTEXT_WORDS;
pub const REGION_WORDS: usize = AREA_AT + AREAS * AREA_WORDS;
pub const WORDS: usize = FILE_WORDS + REGIONS * REGION_WORDS;

// A context.
pub const C_ADDRESS: usize = 0;
/// What it is about, and how far it is: the key of a row without its size, and the flags below.
pub const C_WHAT: usize = 1;
pub const C_TICKS: usize = 2;
pub const C_BYTES: usize = 3;
/// Associated data, and the tag in the upper half.
pub const C_AAD: usize = 4;
/// Pieces, and keys in the upper half.
pub const C_PIECES: usize = 5;
pub const C_KEY_TICKS: usize = 6;
pub const C_USED: usize = 7;
/// What of its input was read ahead of the call: `far`.
pub const C_FAR: usize = 8;
/// A message has begun.
pub const LIVE: u64 = 1 << 48;
/// It has ended; what still comes, such as the tag, belongs to it.
pub const DONE: u64 = 1 << 49;
/// Input and output are at the same place.
pub const IN_PLACE: u64 = 1 << 50;
pub const NAMED: u64 = 1 << 51;

/// A message, as it is counted.
#[derive(Default)]
pub struct Message {
    pub what: u64,
    pub size: u64,
    pub aad: u64,
    pub tag: u64,
    pub pieces: u64,
    pub keys: u64,
    pub key_ticks: u64,
    pub in_place: bool,
    /// What of its input was read ahead of the call: `far`.
    pub far: u64,
    pub ticks: u64,
}

/// A byte of an input that was read ahead of the call, and the ticks that it took longer than once it was in the first-level
/// cache; sums of such words are counts and ticks.
pub const fn far(ticks: u64) -> u64 {
    1 << 40 | ticks
}

impl Message {
    /// The one that a context is in the middle of.
    pub fn of_context(word: impl Fn(usize) -> u64) -> Option<Self> {
        let (of, aad, pieces) = (word(C_WHAT), word(C_AAD), word(C_PIECES));
        if of & LIVE == 0 {
            return None;
        }
        let is_message = of & DONE != 0 || pieces & 0xffff_ffff != 0 || aad & 0xffff_ffff != 0;
        let without = of & WHAT_MASK;
        Some(Self {
            // Set up, and not used: the time for it is not lost.
            what: if is_message { without } else { without & !(0xff << 32) | KEY << 32 },
            size: word(C_BYTES),
            aad: aad & 0xffff_ffff,
            tag: aad >> 32 & 0xff,
            pieces: pieces & 0xffff_ffff,
            keys: pieces >> 32,
            key_ticks: word(C_KEY_TICKS),
            in_place: of & IN_PLACE != 0,
            far: word(C_FAR),
            ticks: word(C_TICKS),
        })
    }
}

// An area.
pub const AREA_THREAD: usize = 0;
/// Calls that its threads have made.
pub const AREA_CALLS: usize = 1;
pub const AREA_ROWS: usize = 8;
pub const AREA_WORDS: usize = (AREA_ROWS + ROWS * ROW_WORDS).next_multiple_of(512);

// A row.
pub const R_WHAT: usize = 0;
pub const R_SIZE: usize = 1;
pub const R_BYTES: usize = 2;
pub const R_PIECES: usize = 3;
pub const R_KEYS: usize = 4;
pub const R_KEY_TICKS: usize = 5;
pub const R_IN_PLACE: usize = 6;
/// Of a class: the second word that all its messages would have, or that they differ.
pub const R_ONLY: usize = 7;
pub const MIXED: u64 = u64::MAX;
/// Inputs that were looked at, and ticks: see `far`.
pub const R_LOOKS: usize = 8;
pub const R_FAR_TICKS: usize = 9;
pub const R_BUCKETS: usize = 10;
/// Half octaves of ticks, each with how many messages and their ticks, from `FIRST_OCTAVE` on.
pub const BUCKETS: usize = 48;
pub const FIRST_OCTAVE: u32 = 5;
pub const ROW_WORDS: usize = R_BUCKETS + 2 * BUCKETS;

/// The half octave that ticks belong to.
pub const fn bucket(ticks: u64) -> usize {
    let octave = 63 - (ticks | 1).leading_zeros();
    let half = if octave == 0 { 0 } else { (ticks >> (octave - 1)) & 1 };
    let index = octave.saturating_sub(FIRST_OCTAVE) as usize * 2 + half as usize;
    match octave < FIRST_OCTAVE {
        true => 0,
        false if index >= BUCKETS => BUCKETS - 1,
        false => index,
    }
}

/// A row's first word: bits of operation, direction, library and algorithm; `CLASS` where the size is a class.
pub const fn what(operation: u64, direction: u64, library: u64, algorithm: u64) -> u64 {
    USED | operation << 32 | direction << 28 | library << 16 | algorithm
}
pub const USED: u64 = 1 << 62;
pub const CLASS: u64 = 1 << 61;
/// The part of a context's word that is a row's.
pub const WHAT_MASK: u64 = USED | 0xff_ffff_ffff;
pub const fn operation_of(what: u64) -> u64 {
    what >> 32 & 0xff
}
pub const fn direction_of(what: u64) -> u64 {
    what >> 28 & 3
}
pub const fn library_of(what: u64) -> u64 {
    what >> 16 & 0xff
}
pub const fn algorithm_of(what: u64) -> u64 {
    what & 0xffff
}

/// A row's second word: size, associated data and tag.
pub const fn sizes(size: u64, aad: u64, tag: u64) -> u64 {
    let size = if size > MOST_BYTES { MOST_BYTES } else { size };
    let aad = if aad > 0xffff { 0xffff } else { aad };
    size << 24 | aad << 8 | (tag & 0xff)
}
const MOST_BYTES: u64 = (1 << 40) - 1;

/// Where the quarter of an octave begins that a size is in; small sizes are their own.
pub const fn class(size: u64) -> u64 {
    let octave = 63 - (size | 1).leading_zeros();
    if octave < 3 { size } else { size >> (octave - 2) << (octave - 2) }
}

/// The largest size of the class that begins there.
pub const fn class_end(first: u64) -> u64 {
    let octave = 63 - (first | 1).leading_zeros();
    if octave < 3 { first } else { first + (1 << (octave - 2)) - 1 }
}

/// Most sizes of one kind that are kept as they come; of others, those that are alone in their class.
pub const EXACT: usize = 8;

// Operations.
pub const OTHER: u64 = 0;
pub const CIPHER: u64 = 1;
pub const DIGEST: u64 = 2;
pub const MAC: u64 = 3;
pub const SIGN: u64 = 4;
pub const VERIFY: u64 = 5;
pub const DERIVE: u64 = 6;
pub const KDF: u64 = 7;
pub const RANDOM: u64 = 8;
pub const KEYGEN: u64 = 9;
pub const SEAL: u64 = 10;
pub const OPEN: u64 = 11;
pub const FETCH: u64 = 12;
pub const NEW: u64 = 13;
pub const FREE: u64 = 14;
pub const SETTING: u64 = 15;
pub const KEY: u64 = 16;

// Directions.
pub const NEITHER: u64 = 0;
pub const ENCRYPT: u64 = 1;
pub const DECRYPT: u64 = 2;
