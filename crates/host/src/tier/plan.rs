//! What is found of a library that is to be loaded at a tier, and what became of it.

use crate::tier::Mechanism;
use base::model::Tier;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

/// A file to be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// The file itself.
    pub original: PathBuf,
    /// What to load: the copy, or the file itself where nothing in it has to be another.
    pub load: PathBuf,
    /// CPUID instructions in it; on aarch64, places that ask what the CPU has: reads of ID registers, calls of
    /// getauxval(3), names of files of the kernel's that say it.
    pub cpuid_instructions: u64,
}

/// A library as it is to be loaded at a tier. The copies it speaks of belong to the process that
/// made them, and are there as long as [`Copies`] is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// In this order, the library last.
    pub objects: Vec<Object>,
    /// The CPU features that the code needs (as iced-x86 names them), each with the number of
    /// instructions; only of a library without any CPUID instruction.
    pub features: BTreeMap<String, usize>,
}

impl Plan {
    /// CPUID instructions in the library and in what it loads.
    #[must_use]
    pub fn cpuid_instructions(&self) -> u64 {
        self.objects.iter().map(|o| o.cpuid_instructions).sum()
    }
}

/// A library's plan with the copies that it speaks of.
#[derive(Debug)]
pub struct Copies {
    /// The plan, which other processes of the same user can follow too.
    pub plan: Plan,
    pub(crate) _files: Vec<File>,
}

/// How a tier was applied.
#[derive(Debug)]
pub struct Applied {
    /// The tier.
    pub tier: Tier,
    /// The mechanism.
    pub mechanism: Mechanism,
    /// What to load in the place of the library's file.
    pub load: PathBuf,
    /// The files of which copies were loaded.
    pub originals: Vec<PathBuf>,
    /// CPUID instructions in the library and in what it loads; `None` where they were not looked
    /// for.
    pub cpuid_instructions: Option<u64>,
    /// CPUID instructions answered before the library was loaded: those of the self-test.
    pub answered_before: u64,
    /// What proved it.
    pub proof: String,
    /// What is to be known of it.
    pub note: Option<String>,
}
