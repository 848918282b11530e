//! What of an algorithm's execution depends on its secrets, as far as single-stepping shows.
//!
//! The words of a verdict are here, so that table, page, advice and exports say the same. None of them says
//! "constant-time": what was not seen may still leak (docs/CONSTANT-TIME.md).

use crate::LibraryId;
use base::model::Tier;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The verdict on one algorithm in one library at one tier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// One word for what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeakVerdict {
    /// All secrets gave the same trace, and taint found nothing that could have differed.
    SameTrace,
    /// Nothing was found, and not all could be judged.
    NotJudged,
    /// All secrets gave the same trace; by taint a place may depend on them.
    MayDepend,
    /// Traces differ with the secret.
    Depends,
}

impl LeakVerdict {
    /// As in records and exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SameTrace => "same-trace",
            Self::NotJudged => "not-judged",
            Self::MayDepend => "may-depend",
            Self::Depends => "depends",
        }
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

/// What about a place depends on the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeakKind {
    /// Which way a branch, an indirect call or a repeated instruction goes.
    Branch,
    /// Which address is read or written.
    Lookup,
    /// The operands of a division, whose time depends on them on many cores.
    Division,
    /// How far a comparison of tags runs: it depends on where the tag differs.
    TagComparison,
}

impl LeakKind {
    /// As in records and exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Lookup => "lookup",
            Self::Division => "division",
            Self::TagComparison => "tag-comparison",
        }
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
    /// Whether it is of this build, algorithm and tier.
    #[must_use]
    pub fn is_of(&self, library: &LibraryId, algorithm: &str, tier: Tier) -> bool {
        self.tier == tier && self.algorithm == algorithm && self.library == *library
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leak(kind: LeakKind, compared: bool) -> Leak {
        Leak {
            kind,
            function: Some("AES_encrypt".into()),
            object: "libcrypto.so.3".into(),
            address: 0x1a2b,
            instruction: "mov eax,[rcx+rdx*4]".into(),
            places: 4,
            bytes: Some(256),
            lines: Some(4),
            operations: vec!["encrypt".into()],
            sizes: vec![16],
            compared,
            tainted: true,
        }
    }

    #[test]
    fn each_kind_of_finding_has_its_words() {
        let words = |kind, compared| leak(kind, compared).to_string();
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
        let mut leaks = Leaks {
            library: crate::sample::record().measurements.remove(0).library,
            algorithm: "aes-128-gcm".into(),
            tier: Tier::Native,
            verdict: LeakVerdict::SameTrace,
            reason: None,
            secrets: 16,
            operations: Vec::new(),
            findings: Vec::new(),
        };
        assert_eq!(leaks.to_string(), "same trace over 16 secrets");
        leaks.reason = Some("step limit".into());
        assert_eq!(leaks.to_string(), "not judged: step limit");
        leaks.findings.push(leak(LeakKind::Branch, true));
        assert_eq!(
            leaks.to_string(),
            "secret-dependent branch in AES_encrypt; not judged: step limit"
        );
    }
}
