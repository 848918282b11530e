//! Loading a library at a tier.

use crate::protocol::Hello;
use ::tier::{Applied, Mechanism};
use contract::Library;
use model::{Algorithm, KERNEL_PATH, Tier};
use record::AppliedTier;
use std::path::{Path, PathBuf};

/// Applies the tier and loads the library.
pub(super) fn load(hello: &Hello) -> Result<(Box<dyn Library>, Option<Applied>), String> {
    let (path, name) = (hello.path.as_path(), hello.name.as_deref());
    if hello.tier == Tier::Native {
        let library = adapters::load(path, name).map_err(|e| e.to_string())?;
        return Ok((library, None));
    }
    if path.as_os_str() == KERNEL_PATH {
        return Err("the kernel chooses its instructions by itself".to_owned());
    }
    let wanted = Mechanism::wanted()?;
    let applied = ::tier::apply(hello.tier, path, hello.plan.clone(), wanted)?;
    let library = adapters::load_copy(path, &applied.load, name).map_err(|e| e.to_string())?;
    Ok((library, Some(applied)))
}

/// The files of loaded objects: copies by the files that they are of.
pub(super) fn originals(loaded: Vec<PathBuf>, applied: Option<&Applied>) -> Vec<PathBuf> {
    let files = loaded.into_iter().filter(|path| ::tier::copied_name(path).is_none());
    let originals = applied.into_iter().flat_map(|a| a.originals.iter().cloned());
    files.chain(originals).collect()
}

/// The file that a mapped copy is of: the copy has neither its path nor all of its symbols.
pub(super) fn original<'a>(mapped: &Path, originals: &'a [PathBuf]) -> Option<&'a Path> {
    let name = ::tier::copied_name(mapped)?;
    let of = originals.iter().find(|o| o.file_name().is_some_and(|n| n == name));
    of.map(PathBuf::as_path)
}

/// CPUID instructions answered so far.
pub(super) fn answered(applied: &Applied) -> Option<u64> {
    (applied.mechanism != Mechanism::LibrarySwitch)
        .then(|| ::tier::answered() - applied.answered_before)
}

/// Why an algorithm cannot be offered at a tier, though the library could: XXH3 in composites is
/// ciphermark's own and takes AVX2, which no answer to the library changes.
pub(super) fn beyond(tier: Tier, algorithm: &Algorithm) -> Option<String> {
    let own = algorithm.composite.is_some_and(|c| c.check == "xxh3-64");
    (own && tier == Tier::Baseline)
        .then(|| format!("its checksum is ciphermark's own, which goes beyond tier {tier}"))
}

/// For the greeting and the record.
pub(super) fn facts(tier: Tier, applied: &Applied) -> AppliedTier {
    AppliedTier {
        tier,
        mechanism: Some(applied.mechanism.name().to_owned()),
        cpuid_instructions: applied.cpuid_instructions,
        cpuid_answered: answered(applied),
        proof: Some(applied.proof.clone()),
        reason: applied.note.clone(),
    }
}
