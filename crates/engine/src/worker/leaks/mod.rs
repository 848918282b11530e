//! What an algorithm's execution depends on: the same operations under other keys, each in a process of its own,
//! stepped and compared.
//!
//! All processes are forked from one that has done everything once, before any trace is looked at: so heap,
//! stack and the library's state are the same in all, and addresses compare as they are.

mod children;
mod images;
mod operations;
mod private;
mod sizes;

use super::tier::original;
use crate::protocol::{Finding, Judged, Judging};
use base::model::Algorithm;
use children::{Children, Kept};
use contract::Library;
use operations::{Messages, Operations};
use probe::leaks::{Recordings, judge, thread_pointer};
use probe::step::Code;
use std::path::{Path, PathBuf};

/// A library in this process.
pub(super) struct Loaded<'a> {
    pub(super) library: &'static dyn Library,
    /// The files that its code comes from.
    pub(super) objects: &'a [PathBuf],
    /// Its own file.
    pub(super) file: &'a Path,
    /// What is mapped in that one's place, or the same.
    pub(super) mapped: &'a Path,
}

/// Judges one algorithm, or the use of private keys of one scheme.
pub(super) fn run(of: &Loaded<'_>, asked: &Judging) -> Result<Judged, Finding> {
    let private =
        adapters::stacks::PRIVATE.iter().find(|(scheme, _)| scheme.name() == asked.algorithm);
    private.map_or_else(|| messages(of, asked), |one| private::run(of, *one, asked))
}

/// Judges one algorithm.
fn messages(of: &Loaded<'_>, asked: &Judging) -> Result<Judged, Finding> {
    let (library, objects) = (of.library, of.objects);
    let algorithm =
        Algorithm::find(&asked.algorithm).map_err(|e| Finding::failed(e.to_string()))?;
    if algorithm.key_len == 0 {
        return Err(Finding::unsupported(format!("{algorithm} has no key")));
    }
    let mut children = Children::new(asked.most_steps)?;
    let sizes = sizes::chosen(library, algorithm, &asked.sizes, &mut children)?;
    let mut operations = Operations::new(library, algorithm);
    let mut messages = Messages::new(algorithm, &sizes);
    let secrets = operations.warm(&mut messages, asked.secrets.max(2) as usize)?;
    let places =
        if algorithm.rejects() { places(algorithm.tag_len, secrets.len()) } else { Vec::new() };
    // From here to the last fork nothing is allocated: what moves this heap moves what the next child allocates.
    let mut tapes = Vec::with_capacity(secrets.len());
    let mut forgeries = Vec::with_capacity(places.len());
    let mut child = |key: &[u8], wrong: usize, kept: Kept| {
        messages.key.copy_from_slice(key);
        messages.wrong = wrong;
        children.record(kept, |call| operations.all(&mut messages, call).map(|()| 0))
    };
    for key in &secrets {
        tapes.push(child(key, 0, Kept::All)?);
    }
    let twin = child(&secrets[0], 0, Kept::All)?;
    for place in places {
        forgeries.push(child(&secrets[0], place, Kept::Rejections)?);
    }
    let code = Code::of_this_process(&|mapped| original(mapped, objects));
    let stages = operations.stages(&messages);
    let judgement = judge(&Recordings {
        stages: &stages,
        secrets: &tapes,
        twin: &twin,
        forgeries: &forgeries,
        secret: &[operations::range(&messages.key)],
        public: &[],
        code: &code,
        thread: thread_pointer(),
        show: asked.trace.as_deref(),
    });
    Ok(Judged {
        reason: judgement.reason,
        secrets: None,
        operations: judgement.operations,
        findings: judgement.findings,
        objects: judgement.objects,
        trace: judgement.shown,
    })
}

/// Where tags are wrong: in the first byte and the last, and in as many between as there are keys.
fn places(tag_len: usize, secrets: usize) -> Vec<usize> {
    let count = secrets.min(tag_len).max(2);
    let mut places: Vec<usize> =
        (0..count).map(|i| i * tag_len.saturating_sub(1) / (count - 1)).collect();
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_wrong_at_both_ends_and_in_as_many_places_as_there_are_keys() {
        assert_eq!(places(16, 2), [0, 15]);
        assert_eq!(places(16, 16), (0..16).collect::<Vec<_>>());
        assert_eq!(places(16, 64), (0..16).collect::<Vec<_>>());
        assert_eq!(places(4, 3), [0, 1, 3]);
    }
}
