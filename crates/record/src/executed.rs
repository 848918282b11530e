//! What one operation executed, instruction by instruction.

use crate::{LibraryId, Measurement};
use base::model::{Direction, Model, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the operations of one algorithm executed, in one library at one tier. Counts are of one
/// operation as the timed loop calls it, from the first instruction of the function that it calls
/// to that function's return.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Executed {
    /// Which build.
    pub library: LibraryId,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions the library could see.
    pub tier: Tier,
    /// Where the counts per byte and per message come from: `single-step`, `pmu`; null where
    /// nothing was counted.
    pub source: Option<String>,
    /// Why nothing was counted, or not all.
    pub reason: Option<String>,
    /// Instructions that each further byte costs: what two sizes differ by.
    pub per_byte: Option<f64>,
    /// Instructions that a message costs whatever its length.
    pub per_message: Option<f64>,
    /// Every size that was counted, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<ExecutedSize>,
    /// The two of `sizes` that the counts per byte and per message come from, smaller first; empty
    /// where there are none, and in records without it, where they are the last two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slope_sizes: Vec<usize>,
    /// Measured sizes that were not counted, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<UncountedSize>,
    /// What kinds of instructions they are: each instruction is in one class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassCount>,
    /// Instructions that read memory, whatever their class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_reads: Option<Share>,
    /// Instructions that write memory, whatever their class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_writes: Option<Share>,
    /// Instruction sets that were executed in the library, beyond what every x86-64 CPU has, in
    /// lower case: `aes`, `vaes`, `avx512f`, …
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instruction_sets: Vec<String>,
    /// The functions that executed the most, as far as symbols tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<FunctionCount>,
    /// What the tier excludes and code that is not the library's own executed all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excepted: Option<String>,
    /// The performance counter's counts, or why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pmu: Option<PmuCount>,
}

impl Executed {
    /// Whether it belongs to a measurement: one entry belongs to those of every size.
    #[must_use]
    pub fn is_of(&self, m: &Measurement) -> bool {
        (self.tier, self.model, self.direction) == (m.tier, m.model, m.direction)
            && self.algorithm == m.algorithm
            && self.library == m.library
    }

    /// What one operation of a size executes of the instructions that limits count, from the counts of two sizes. None
    /// where nothing was counted.
    #[must_use]
    pub fn seen(&self, size: usize) -> Option<base::analysis::bound::Seen> {
        self.source.as_ref()?;
        let lanes = |class: &str| {
            let of_class = self.classes.iter().filter(|c| c.class == class);
            let blocks = |c: &ClassCount| {
                let each = f64::from(c.width.unwrap_or(128)) / 128.0;
                (c.per_byte * size as f64 + c.per_message).max(0.0) * each
            };
            of_class.map(blocks).sum()
        };
        Some(base::analysis::bound::Seen {
            aes_rounds: lanes("aes-round"),
            products: lanes("carry-less"),
        })
    }
}

/// Exact count of one operation of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutedSize {
    /// Bytes of plaintext.
    pub size: usize,
    /// Instructions of the whole operation.
    pub instructions: u64,
}

/// A measured size without a count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UncountedSize {
    /// Bytes of plaintext.
    pub size: usize,
    /// Why it has no count.
    pub reason: String,
}

/// A count, divided into what each byte and what each message costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// For each byte.
    pub per_byte: f64,
    /// For each message, whatever its length.
    pub per_message: f64,
}

/// Instructions of one class at one width.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassCount {
    /// `aes-round`, `carry-less`, `vector-logic`, `load`, …, as in `docs/METHOD.md`.
    pub class: String,
    /// Bits of the widest vector register or vector in memory that the instruction works on; null
    /// for instructions without any.
    pub width: Option<u16>,
    /// For each byte.
    pub per_byte: f64,
    /// For each message, whatever its length.
    pub per_message: f64,
}

/// Instructions of one function, without those of the functions that it calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCount {
    /// Its symbol; null where the object has none for the address.
    pub function: Option<String>,
    /// File name of the object that it is in; `ciphermark` for the adapter's own.
    pub object: String,
    /// For each byte.
    pub per_byte: f64,
    /// For each message, whatever its length.
    pub per_message: f64,
}

/// What the performance counter for instructions counted in user space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PmuCount {
    /// Why there is no count.
    pub reason: Option<String>,
    /// For each byte.
    pub per_byte: Option<f64>,
    /// For each message, whatever its length.
    pub per_message: Option<f64>,
    /// By how much the counter differs from single-stepping at the largest size that both counted,
    /// as a fraction of the latter.
    pub difference: Option<f64>,
}
