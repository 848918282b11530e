//! Libraries at other tiers than `native`: each is loaded once at every tier that was asked for, to
//! learn whether the tier can be applied to it and what it offers there.

use crate::attached::{AtTier, Attached};
use crate::discover::{Offered, ask_offers};
use crate::link::WorkerError;
use crate::protocol::Finding;
use base::model::Tier;
use host::tier::Mechanism;
use record::AppliedTier;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A tier on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierHere {
    /// Whether the CPU has what the tier is named for.
    pub available: bool,
    /// How it is applied; `None` for `native`, and where it cannot be.
    pub mechanism: Option<&'static str>,
    /// Why it is not available; or what it is the same as.
    pub reason: Option<String>,
}

/// How this machine applies a tier.
#[must_use]
pub fn tier_here(tier: Tier) -> TierHere {
    match host::tier::machine(tier) {
        Ok((mechanism, reason)) => {
            TierHere { available: true, mechanism: mechanism.map(Mechanism::name), reason }
        }
        Err(why) => TierHere { available: false, mechanism: None, reason: Some(why) },
    }
}

/// The libraries with what they offer at each of the tiers, and how it was applied. As many are
/// loaded at once as there are CPUs.
#[must_use]
pub fn at_tiers(libraries: &[Attached], tiers: &[Tier]) -> Vec<Attached> {
    let mut libraries = libraries.to_vec();
    let asked = (0..libraries.len())
        .flat_map(|library| tiers.iter().map(move |tier| (library, *tier)))
        .filter(|(library, tier)| {
            *tier != Tier::Native && !libraries[*library].tiers.iter().any(|at| at.tier == *tier)
        });
    let asked: Vec<(usize, Tier)> = asked.collect();
    prepare(&mut libraries, &asked);
    for (library, at, applied) in ask_all(&libraries, asked) {
        libraries[library].tiers.push(at);
        libraries[library].facts.tiers.push(applied);
    }
    libraries
}

/// Makes the copies that workers load, once for all of them: their memory is shared. Where that
/// fails, the first worker tries again and has the reason.
fn prepare(libraries: &mut [Attached], asked: &[(usize, Tier)]) {
    let wanted = libraries.iter_mut().enumerate().filter(|(i, library)| {
        let path = Path::new(&library.facts.path);
        library.copies.is_none()
            && !base::model::runs_elsewhere(path)
            && asked.iter().any(|(l, _)| l == i)
    });
    let queue = Mutex::new(wanted.map(|(_, library)| library));
    std::thread::scope(|scope| {
        for _ in 0..threads(asked.len()) {
            scope.spawn(|| {
                while let Some(library) = next(&queue) {
                    library.copies =
                        host::tier::prepare(Path::new(&library.facts.path)).ok().map(Arc::new);
                }
            });
        }
    });
}

fn threads(work: usize) -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(work)
}

type Answer = (usize, AtTier, AppliedTier);

fn ask_all(libraries: &[Attached], asked: Vec<(usize, Tier)>) -> Vec<Answer> {
    let threads = threads(asked.len());
    let queue = Mutex::new(asked.into_iter());
    let answers = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((library, tier)) = next(&queue) {
                    let (at, applied) = ask(&libraries[library], tier);
                    let mut answers = answers.lock().expect("no thread panics holding it");
                    answers.push((library, at, applied));
                }
            });
        }
    });
    let mut answers = answers.into_inner().expect("no thread panics holding it");
    answers.sort_by_key(|(library, at, _)| (*library, at.tier));
    answers
}

fn next<T>(queue: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    queue.lock().expect("no thread panics holding it").next()
}

fn ask(library: &Attached, tier: Tier) -> (AtTier, AppliedTier) {
    let not_applied = |reason: &str| AppliedTier {
        tier,
        mechanism: None,
        cpuid_instructions: None,
        cpuid_answered: None,
        proof: None,
        reason: Some(reason.to_owned()),
    };
    match ask_offers(library, tier) {
        Ok(Offered { ready, offers, cpuid_answered, .. }) => {
            let applied = ready.tier.map(|applied| AppliedTier { cpuid_answered, ..applied });
            let applied = applied.unwrap_or_else(|| not_applied("the worker does not say how"));
            (AtTier { tier, offers: Ok(offers) }, applied)
        }
        Err(error) => {
            let finding = match error {
                WorkerError::Unusable(why) => {
                    Finding::unsupported(format!("at tier {tier}: {why}"))
                }
                other => Finding::failed(format!("at tier {tier}: {other}")),
            };
            let applied = not_applied(&finding.why);
            (AtTier { tier, offers: Err(finding) }, applied)
        }
    }
}
