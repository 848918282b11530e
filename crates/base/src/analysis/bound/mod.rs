//! What a core can do at best: measured throughputs and latencies in, the floor of each algorithm out, with
//! what it is bound by and whom it binds. Pure: no I/O, no clock, no unsafe code. `docs/LIMITS.md` has the
//! derivations in words. Here stand the words of it: what was measured of a core, and what a floor is.

mod demand;
#[cfg(test)]
mod fixtures;
mod limit;

use crate::model::{Direction, Model, Tier};
pub use limit::{Limit, Operation, Seen, floor, limit, proven};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

// The floor of an algorithm: what the best implementation known to us takes, and what is proven of it.

/// What bounds an algorithm on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// AES rounds a cycle.
    #[strum(serialize = "AES units")]
    AesUnits,
    /// Carry-less multiplications a cycle.
    #[strum(serialize = "carry-less multiply")]
    CarrylessMultiply,
    /// Units that several kinds of vector instructions wait for together.
    #[strum(serialize = "shared vector ports")]
    SharedVectorPorts,
    /// Instructions of which each needs the one before.
    #[strum(serialize = "latency chain")]
    LatencyChain,
    /// Integer multiplications a cycle.
    #[strum(serialize = "multiply")]
    Multiply,
    /// Loads and stores a cycle in the first-level cache.
    #[strum(serialize = "load/store")]
    LoadStore,
    /// Bandwidth of memory or of an outer cache.
    #[strum(serialize = "memory")]
    Memory,
}

/// Whom a limit binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Every implementation: each has to do this work, and the core does no more of it in a cycle.
    #[strum(serialize = "proven")]
    Proven,
    /// Every implementation that was seen to execute the instructions that the limit counts.
    #[strum(serialize = "if executed")]
    IfExecuted,
    /// The best methods known to us: a better one may be faster.
    #[strum(serialize = "known methods")]
    KnownMethods,
}

/// What an algorithm costs at least on this core, for each byte of a long message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions may be used.
    pub tier: Tier,
    /// Core cycles per byte of a long message in the first-level cache; null where no bound is known.
    pub cycles_per_byte: Option<f64>,
    /// What bounds it.
    pub limited_by: Option<Bound>,
    /// Whom it binds; null where no bound is known, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// Why no bound is known.
    pub reason: Option<String>,
}

// What was measured of a core: instructions, pairs of instructions, bandwidths.

/// What one core can do, as the run's own probes measured it on the CPU that took the samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Core {
    /// Instructions that ciphers are made of, each width by itself.
    pub instructions: Vec<Instruction>,
    /// Two instructions in turn: whether they wait for the same execution units.
    pub pairs: Vec<Pair>,
    /// Bytes a cycle from and to each level of memory.
    pub bandwidths: Vec<Bandwidth>,
    /// Dependent instructions of one chain that the core holds while it begins with the next
    /// chain: by so many steps the chains of two messages can overlap. Null where not measured.
    pub window: Option<f64>,
    /// What this CPU has and what the core was not quiet for long enough to read. As long as there is
    /// any of it no bound is known: what was read may be slower than what was not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl Core {
    /// A core that does more in a cycle than any that was ever built: what it cannot do, none can.
    #[must_use]
    pub fn faster_than_any() -> Self {
        const INSTRUCTIONS: [&str; 14] = [
            "aesenc",
            "aesdec",
            "aesenclast",
            "pclmulqdq",
            "pxor",
            "paddd",
            "paddq",
            "pmuludq",
            "pmadd52luq",
            "sha256rnds2",
            "sha512rnds2",
            "add",
            "imul",
            "crc32",
        ];
        let of_width = |width_bits| {
            INSTRUCTIONS.map(|name| Instruction {
                name: name.to_owned(),
                width_bits,
                per_cycle: 8.0,
                latency_cycles: Some(2.0),
                spread: 0.0,
                samples: 0,
            })
        };
        let load = Bandwidth {
            level: Level::L1,
            access: Access::Read,
            by: String::new(),
            buffer_bytes: 0,
            bytes_per_cycle: 256.0,
            gb_per_s: 0.0,
            spread: 0.0,
            samples: 0,
        };
        Self {
            instructions: [64, 128, 256, 512].map(of_width).into_iter().flatten().collect(),
            bandwidths: vec![load],
            window: Some(1000.0),
            ..Self::default()
        }
    }
}

/// One instruction at one width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Instruction {
    /// Name as assemblers write it, without the prefix `v` that only says how it is encoded.
    pub name: String,
    /// Bits of the registers that it works on.
    pub width_bits: u32,
    /// Independent ones a core cycle.
    pub per_cycle: f64,
    /// Core cycles from one to the next that depends on it; null where there is no such chain.
    pub latency_cycles: Option<f64>,
    /// Half the distance between the quartiles of the readings, as a fraction of the median; the
    /// larger of throughput's and latency's.
    pub spread: f64,
    /// Quiet readings that count.
    pub samples: u32,
}

/// Two instructions in turn, all of them independent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// One.
    pub first: String,
    /// The other.
    pub second: String,
    /// Bits of the registers that the first works on.
    pub width_bits: u32,
    /// Bits of the registers that the second works on.
    pub second_width_bits: u32,
    /// Pairs a core cycle.
    pub per_cycle: f64,
    /// As for [`Instruction`].
    pub spread: f64,
    /// Quiet readings that count.
    pub samples: u32,
}

/// A level of memory, from the core outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// First-level data cache.
    L1,
    /// Second-level cache.
    L2,
    /// Third-level cache.
    L3,
    /// Memory.
    Memory,
}

/// What is done to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Loaded.
    Read,
    /// Stored.
    Write,
    /// Loaded from one place and stored to another.
    Copy,
}

/// The bandwidth of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bandwidth {
    /// Where the bytes are.
    pub level: Level,
    /// What is done to them.
    pub access: Access,
    /// What does it best of what was tried: `load-512`, `store-256`, `non-temporal-512`,
    /// `rep-movsb`, …
    pub by: String,
    /// Bytes of the buffer or buffers that were walked through.
    pub buffer_bytes: u64,
    /// Bytes a core cycle; copied ones count once.
    pub bytes_per_cycle: f64,
    /// 10^9 bytes a second.
    pub gb_per_s: f64,
    /// As for [`Instruction`].
    pub spread: f64,
    /// Quiet readings that count.
    pub samples: u32,
}
