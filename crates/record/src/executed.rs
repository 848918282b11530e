//! What one operation executed, instruction by instruction, and what of it depends on secrets.

use crate::{LibraryId, Measurement};
use base::model::{Direction, Model, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What the operations of one algorithm executed, in one library at one tier. Counts are of one
/// operation as the timed loop calls it, from the first instruction of the function that it calls
/// to that function's return.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Whether it belongs to a measurement: one entry belongs to those of every size. Messages are counted with an
    /// output of their own, and say nothing of one that overwrites its input.
    pub fn is_of(&self, m: &Measurement) -> bool {
        (self.tier, self.model, self.direction) == (m.tier, m.model, m.direction)
            && (!m.in_place || m.model == Model::Stream)
            && self.algorithm == m.algorithm
            && self.library == m.library
    }

    /// What one operation of a size executes of the instructions that limits count, from the counts of two sizes. None
    /// where nothing was counted.
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
    /// Its symbol; where the object has none `(no symbol)`, where its code begins, the section, and the nearest symbol
    /// before; null where nothing tells that.
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

// What of an algorithm's execution depends on its secrets, as far as single-stepping shows.
//
// The words of a verdict are here, so that table, page, advice and exports say the same. None of them says
// "constant-time": what was not seen may still leak (docs/CONSTANT-TIME.md).

/// The verdict on one algorithm in one library at one tier.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Leaks {
    /// Which build.
    pub library: LibraryId,
    /// Name of the algorithm; of what a TLS stack does with a key, the primitive's: `x25519`, `ecdsa-p256`.
    pub algorithm: String,
    /// Which CPU instructions the library could see.
    pub tier: Tier,
    /// What was found, in one word.
    pub verdict: LeakVerdict,
    /// Why nothing was judged, or what was not: `step limit`, `taint lost`, …; null where all was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Secrets whose traces were compared, the twin not counted.
    pub secrets: u32,
    /// What was stepped, in the order of execution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<SteppedOperation>,
    /// Each place that depends on a secret, or may: the gravest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Leak>,
}

crate::named! {
    /// One word for what was found.
    #[derive(Default)]
    LeakVerdict {
        /// All secrets gave the same trace, and taint found nothing that could have differed.
        SameTrace = "same-trace",
        /// Nothing was found, and not all could be judged.
        #[default]
        NotJudged = "not-judged",
        /// All secrets gave the same trace; by taint a place may depend on them.
        MayDepend = "may-depend",
        /// Traces differ with the secret.
        Depends = "depends",
    }
}

/// One operation that was stepped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SteppedOperation {
    /// `key-set-up`, `encrypt`, `decrypt`, `reject`, `digest`; of TLS `agree`, `sign`, `decapsulate`.
    pub operation: String,
    /// Bytes of plaintext; null where there is no message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Instructions stepped for one secret.
    pub steps: u64,
}

crate::named! {
    /// What about a place depends on the secret.
    LeakKind {
        /// Which way a branch, an indirect call or a repeated instruction goes.
        Branch = "branch",
        /// Which address is read or written.
        Lookup = "lookup",
        /// The operands of a division, whose time depends on them on many cores.
        Division = "division",
        /// How far a comparison of tags runs: it depends on where the tag differs.
        TagComparison = "tag-comparison",
    }
}

/// The instructions of one function that depend on a secret in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Leak {
    /// What depends on the secret.
    pub kind: LeakKind,
    /// The function's symbol, or the nearest named caller's with ` and what it calls`; null where there is none.
    pub function: Option<String>,
    /// File name of the object that it is in.
    pub object: String,
    /// Address of the first such instruction within the object, as a disassembler shows it.
    pub address: u64,
    /// That instruction; of x86-64 in Intel's syntax.
    pub instruction: String,
    /// Instructions of the function that do so.
    pub places: u32,
    /// Of lookups: bytes from the lowest to the highest address seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Of lookups: cache lines of 64 bytes seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// The operations that it was found in: `key-set-up`, `encrypt`, …
    pub operations: Vec<String>,
    /// Sizes in bytes that it was found at, in ascending order; empty where there is no message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<usize>,
    /// Whether traces differed.
    pub compared: bool,
    /// Whether taint reached it.
    pub tainted: bool,
}

impl fmt::Display for Leak {
    /// `secret-dependent lookups in AES_encrypt (256 bytes, 4 lines)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.function.as_deref().unwrap_or(&self.object);
        if !self.compared {
            f.write_str("may depend: ")?;
        }
        match self.kind {
            LeakKind::TagComparison => {
                write!(f, "tag comparison depends on where it differs ({place})")?;
            }
            LeakKind::Branch => write!(f, "secret-dependent branch in {place}")?,
            LeakKind::Division => write!(f, "secret-dependent division in {place}")?,
            LeakKind::Lookup => {
                write!(f, "secret-dependent lookups in {place}")?;
                if let (Some(bytes), Some(lines)) = (self.bytes, self.lines) {
                    let s = if lines == 1 { "" } else { "s" };
                    write!(f, " ({bytes} bytes, {lines} line{s})")?;
                }
            }
        }
        if self.compared { Ok(()) } else { f.write_str(" (taint only)") }
    }
}

impl fmt::Display for Leaks {
    /// The whole verdict in one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not_judged = self.reason.as_ref().map(|why| format!("not judged: {why}"));
        let findings = self.findings.iter().map(ToString::to_string);
        let words: Vec<String> = findings.chain(not_judged).collect();
        if words.is_empty() {
            return write!(f, "same trace over {} secrets", self.secrets);
        }
        f.write_str(&words.join("; "))
    }
}

impl Leaks {
    pub fn is_of(&self, library: &LibraryId, algorithm: &str, tier: Tier) -> bool {
        self.tier == tier && self.algorithm == algorithm && self.library == *library
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{leak, leaks};

    #[test]
    fn each_kind_of_finding_has_its_words() {
        let words = |kind, compared| leak(kind, "AES_encrypt", compared).to_string();
        assert_eq!(
            words(LeakKind::Lookup, true),
            "secret-dependent lookups in AES_encrypt (256 bytes, 4 lines)"
        );
        assert_eq!(words(LeakKind::Branch, true), "secret-dependent branch in AES_encrypt");
        assert_eq!(
            words(LeakKind::Division, false),
            "may depend: secret-dependent division in AES_encrypt (taint only)"
        );
        assert_eq!(
            words(LeakKind::TagComparison, true),
            "tag comparison depends on where it differs (AES_encrypt)"
        );
    }

    #[test]
    fn a_verdict_is_one_line_and_says_what_was_not_judged() {
        let library = crate::sample::record().measurements.remove(0).library;
        let mut leaks = leaks(library, "aes-128-gcm", LeakVerdict::SameTrace);
        assert_eq!(leaks.to_string(), "same trace over 16 secrets");
        leaks.reason = Some("step limit".into());
        assert_eq!(leaks.to_string(), "not judged: step limit");
        leaks.findings.push(leak(LeakKind::Branch, "AES_encrypt", true));
        assert_eq!(
            leaks.to_string(),
            "secret-dependent branch in AES_encrypt; not judged: step limit"
        );
    }
}
