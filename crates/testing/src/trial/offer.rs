//! Everything that a library offers, held against every check.

use crate::trial::bytes;
use base::model::{Algorithm, Direction};
use contract::{Library, OpenError};
use std::panic::resume_unwind;
use verify::Finding;

/// What a library offers and what became of it. Composites are made of other algorithms'
/// sessions and are tested where they are made.
#[derive(Debug, Default)]
pub struct Offer {
    /// Everything that it opens.
    pub names: Vec<&'static str>,
    /// What did not pass, each with the finding.
    pub refused: Vec<(&'static str, String)>,
}

impl Offer {
    /// Demands these algorithms, with blanks between their names.
    ///
    /// # Panics
    /// When one is missing.
    pub fn has(&self, names: &str) {
        for name in names.split(' ') {
            assert!(self.names.contains(&name), "{name} is missing: {:?}", self.names);
        }
    }
}

/// Runs every check over every algorithm that the library offers, on all CPUs where its sessions may be used so.
///
/// # Panics
/// When an algorithm does not say why it is unsupported, is offered in one direction only, or
/// does not say what it calls.
#[must_use]
pub fn whole_offer(library: &dyn Library) -> Offer {
    let offered = offered(library);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if library.one_thread_only().is_some() { 1 } else { cpus };
    let checked = &|first: usize| -> Vec<_> {
        let own = offered.iter().skip(first).step_by(threads);
        own.filter_map(|algorithm| refusal(library, algorithm)).collect()
    };
    let mut refused: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|first| scope.spawn(move || checked(first))).collect();
        all.into_iter().flat_map(|one| one.join().unwrap_or_else(|p| resume_unwind(p))).collect()
    });
    refused.sort();
    Offer { names: offered.iter().map(|a| a.name).collect(), refused }
}

fn refusal(library: &dyn Library, algorithm: &'static Algorithm) -> Option<(&'static str, String)> {
    match verify::verify(library, algorithm, &verify::Scope::BRIEF, &mut |_| {}) {
        Ok(_) => None,
        Err(Finding::Unsupported(why)) => panic!("{algorithm} in one direction only: {why}"),
        Err(finding) => Some((algorithm.name, finding.to_string())),
    }
}

/// Every algorithm that is no composite of others.
pub fn primitives() -> impl Iterator<Item = &'static Algorithm> {
    Algorithm::all().iter().filter(|a| a.composite.is_none())
}

/// What a library opens.
///
/// # Panics
/// As [`whole_offer`].
#[must_use]
pub fn offered(library: &dyn Library) -> Vec<&'static Algorithm> {
    primitives().filter(|a| is_offered(library, a)).collect()
}

fn is_offered(library: &dyn Library, algorithm: &'static Algorithm) -> bool {
    let key = bytes(algorithm.key_len, 1);
    match library.open(algorithm, Direction::of(algorithm.kind)[0], &key) {
        Ok(session) => {
            let calls = session.calls().unwrap_or_default();
            assert!(!calls.is_empty(), "{algorithm} does not say what it calls");
            true
        }
        Err(OpenError::Unsupported(why)) => {
            assert!(!why.is_empty() && why != "the adapter gives no reason", "{algorithm}");
            false
        }
        Err(OpenError::Failed(why)) => panic!("{algorithm} cannot be opened: {why}"),
    }
}
