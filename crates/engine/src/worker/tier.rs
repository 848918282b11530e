//! Loading a library at a tier.

use crate::protocol::Hello;
use ::host::tier::{Applied, Mechanism, Plan};
use base::model::{Algorithm, Feature, KERNEL_PATH, Tier};
use contract::Library;
use record::AppliedTier;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// What is loaded at a tier, found out while the process may still do everything.
pub(super) struct Prepared {
    /// `None` at `native`.
    plan: Option<Result<Plan, String>>,
    /// The files of the plan.
    pub(super) files: Vec<PathBuf>,
    /// The copies that the plan loads, which stay open: the loader knows an object by its name, and the name
    /// of a copy is the number of its descriptor, which no later copy may get.
    pub(super) copies: &'static [File],
}

/// Finds out what is to be loaded, where the scheduler has not, and opens the scheduler's copies: no process
/// that has given up its power can.
pub(super) fn prepare(hello: &Hello) -> Result<Prepared, String> {
    if hello.tier == Tier::Native {
        return Ok(Prepared { plan: None, files: Vec::new(), copies: &[] });
    }
    if base::model::runs_elsewhere(&hello.path) {
        let kernel = hello.path.as_os_str() == KERNEL_PATH;
        let who = if kernel { "the kernel" } else { "a runtime" };
        return Err(format!("{who} chooses its instructions by itself"));
    }
    ::host::tier::hide(hello.tier)?;
    let own = if hello.plan.is_none() { Some(::host::tier::prepare(&hello.path)) } else { None };
    let plan = match (&hello.plan, &own) {
        (Some(plan), _) => Ok(plan.clone()),
        (None, Some(Ok(copies))) => Ok(copies.plan.clone()),
        (None, Some(Err(why))) => Err(why.clone()),
        (None, None) => unreachable!("one of them is there"),
    };
    let (plan, copies) = match plan.and_then(adopt) {
        Ok((plan, copies)) => (Ok(plan), copies),
        Err(why) => (Err(why), Vec::new()),
    };
    let objects = plan.iter().flat_map(|plan| &plan.objects);
    let files = objects.map(|object| object.original.clone()).collect();
    Ok(Prepared { plan: Some(plan), files, copies: Vec::leak(copies) })
}

/// The plan with its copies opened by this process.
fn adopt(mut plan: Plan) -> Result<(Plan, Vec<File>), String> {
    let mut copies = Vec::new();
    for object in plan.objects.iter_mut().filter(|o| o.load != o.original) {
        let copy = File::open(&object.load).map_err(|e| {
            format!("the copy of '{}' cannot be opened: {e}", object.original.display())
        })?;
        object.load = PathBuf::from(format!("/proc/self/fd/{}", copy.as_raw_fd()));
        copies.push(copy);
    }
    Ok((plan, copies))
}

/// Applies the tier and loads the library.
pub(super) fn load(
    hello: &Hello,
    prepared: Prepared,
) -> Result<(Box<dyn Library>, Option<Applied>), String> {
    let (path, name) = (hello.path.as_path(), hello.name.as_deref());
    let Some(plan) = prepared.plan else {
        return Ok((adapters::load(path, name).map_err(|e| e.to_string())?, None));
    };
    let applied = ::host::tier::apply(hello.tier, path, plan, Mechanism::wanted()?)?;
    let library = adapters::load_copy(path, &applied.load, name).map_err(|e| e.to_string())?;
    Ok((library, Some(applied)))
}

/// The files of loaded objects: copies by the files that they are of, which are among those that were
/// prepared.
pub(super) fn originals(loaded: Vec<PathBuf>, prepared: &[PathBuf]) -> Vec<PathBuf> {
    let (copies, files): (Vec<_>, Vec<_>) =
        loaded.into_iter().partition(|path| ::host::tier::copied_name(path).is_some());
    let of = copies.iter().filter_map(|copy| original(copy, prepared).map(Path::to_owned));
    files.into_iter().chain(of).collect()
}

/// The file that a mapped copy is of: the copy has neither its path nor all of its symbols.
pub(super) fn original<'a>(mapped: &Path, originals: &'a [PathBuf]) -> Option<&'a Path> {
    let name = ::host::tier::copied_name(mapped)?;
    let of = originals.iter().find(|o| o.file_name().is_some_and(|n| n == name));
    of.map(PathBuf::as_path)
}

/// CPUID instructions answered so far.
pub(super) fn answered(applied: &Applied) -> Option<u64> {
    (applied.mechanism != Mechanism::LibrarySwitch)
        .then(|| ::host::tier::answered() - applied.answered_before)
}

/// Why an algorithm cannot be offered at a tier, though the library could: XXH3 in composites is
/// ciphermark's own and takes AVX2, which no answer to the library changes.
pub(super) fn beyond(tier: Tier, algorithm: &Algorithm) -> Option<String> {
    let own = algorithm.composite.is_some_and(|c| c.check == "xxh3-64");
    (own && !tier.shows(Feature::Avx2))
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
