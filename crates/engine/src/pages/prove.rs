//! Every page of the store through every library and scheme and back, held against each other.

use super::copy::Copy;
use super::run::{Events, PagesError, PagesEvent, within};
use super::stage::{PART, Stage};
use super::workers::Workers;
use crate::protocol::Finding;
use crate::protocol::pages::{Answer, Job, ProbeJob, VerifyJob};
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use record::State;
use record::at_rest::scheme::Recipe;
use record::at_rest::store::{PageRef, Store};
use record::at_rest::{ProbeCounts, Probed, Verified, judge};
use std::collections::{BTreeMap, HashMap};

/// Bytes of a part where there is no time for the whole store.
const SMALL_PART: usize = 256 << 10;

/// Pages that are neighbours in a sample.
const RUN: usize = 4;

/// The share of what is left of a run's time that the proof of pages may take, and then the probes.
const SHARE: f64 = 0.25;

/// A library and a scheme.
pub(super) type Pair = (usize, usize);

/// What became of a pair so far.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) outcome: Result<(), Finding>,
    pages: u64,
    agreeing: u64,
    digest: String,
    pub(super) sum_by: Option<String>,
}

impl Standing {
    /// A pair that has passed what came before, or has not.
    pub(super) fn new(outcome: Result<(), Finding>) -> Self {
        Self { outcome, pages: 0, agreeing: u64::MAX, digest: String::new(), sum_by: None }
    }
}

pub(super) type Standings = BTreeMap<Pair, Standing>;

/// Takes the whole store through every pair that stands; a random sample of it where the run has an end. Decrypted pages go into the copy, if there is
/// to be one, from all pairs in turn.
pub(super) fn verify(
    store: &Store,
    recipes: &[Recipe],
    (stage, workers): (&mut Stage, &mut Workers<'_>),
    standings: &mut Standings,
    seed: u64,
    mut copy: Option<Copy>,
    events: Events<'_>,
) -> Result<(), PagesError> {
    let stop = workers.stop;
    let (all, in_part) = match stop.left() {
        None => (store.all().collect(), PART / store.page_size()),
        Some(_) => (drawn(store, seed), SMALL_PART / store.page_size()),
    };
    let proof = within(stop, SHARE);
    let mut done = 0;
    for part in all.chunks(in_part.max(1)) {
        // The first part is for every pair.
        if done > 0 && proof.is_over() {
            break;
        }
        stage.put(store, part)?;
        load(workers, standings, part.len(), store.page_size());
        let turns = copy.as_ref().map(|_| standing(standings));
        for scheme in 0..recipes.len() {
            let found = one_scheme(workers, standings, (recipes, scheme), seed, turns.as_deref());
            settle(standings, scheme, found, part.len() as u64);
            events(PagesEvent::Verifying {
                done: done + part.len() as u64 * (scheme as u64 + 1) / recipes.len() as u64,
                of: all.len() as u64,
            });
        }
        if let Some(copy) = &mut copy {
            hand_on(store, stage, part, copy).map_err(PagesError::Copy)?;
        }
        done += part.len() as u64;
    }
    // One that an interrupt has cut off goes.
    let copy = copy.filter(|_| done == all.len() as u64);
    copy.map_or(Ok(()), |copy| copy.finish(store).map_err(PagesError::Copy))
}

/// All pages in random order, but for runs of neighbours: where the time is up, those before are a sample.
fn drawn(store: &Store, seed: u64) -> Vec<PageRef> {
    let all: Vec<PageRef> = store.all().collect();
    let mut runs: Vec<&[PageRef]> = all.chunks(RUN).collect();
    runs.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    runs.concat()
}

/// The pairs that stand.
fn standing(standings: &Standings) -> Vec<Pair> {
    standings.iter().filter(|(_, s)| s.outcome.is_ok()).map(|(pair, _)| *pair).collect()
}

/// Has every library that still has a scheme to prove take the staged pages.
fn load(workers: &mut Workers<'_>, standings: &mut Standings, pages: usize, page_size: usize) {
    let mut libraries: Vec<usize> =
        standings.iter().filter(|(_, s)| s.outcome.is_ok()).map(|((l, _), _)| *l).collect();
    libraries.dedup();
    for library in libraries {
        if let Err(finding) = workers.load(library, pages, page_size) {
            for ((l, _), standing) in standings.iter_mut() {
                if *l == library && standing.outcome.is_ok() {
                    standing.outcome = Err(finding.clone());
                }
            }
        }
    }
}

type Found = Vec<(usize, Result<(String, Option<String>), Finding>)>;

/// One scheme in all libraries at once: none of it is timed.
fn one_scheme(
    workers: &mut Workers<'_>,
    standings: &Standings,
    (recipes, scheme): (&[Recipe], usize),
    seed: u64,
    turns: Option<&[Pair]>,
) -> Found {
    let own = standing(standings).into_iter().filter(|pair| pair.1 == scheme).map(|pair| pair.0);
    let own: Vec<usize> = own.collect();
    for library in &own {
        let slot = |turns: &[Pair]| {
            Some((turns.len(), turns.iter().position(|pair| *pair == (*library, scheme))?))
        };
        let copy = turns.and_then(slot);
        workers
            .ask(*library, Job::Verify(VerifyJob { recipe: recipes[scheme].clone(), seed, copy }));
    }
    let answer = |library: &usize| {
        let found = workers.answer(*library);
        let found = found.and_then(|answer| match answer {
            Answer::Verified { digest, sum_by } => Ok((digest, sum_by)),
            _ => Err(Finding::failed("answered something else")),
        });
        (*library, found)
    };
    own.iter().map(answer).collect()
}

/// Holds the libraries' digests of one part against each other: who is outvoted is refused.
fn settle(standings: &mut Standings, scheme: usize, found: Found, pages: u64) {
    let mut votes: HashMap<String, u64> = HashMap::new();
    for (_, found) in &found {
        if let Ok((digest, _)) = found {
            *votes.entry(digest.clone()).or_default() += 1;
        }
    }
    let most = votes.values().copied().max().unwrap_or(0);
    for (library, found) in found {
        let Some(standing) = standings.get_mut(&(library, scheme)) else { continue };
        match found {
            Ok((digest, sum_by)) if votes[&digest] == most => {
                standing.pages += pages;
                standing.agreeing = standing.agreeing.min(most);
                standing.digest += &digest;
                standing.sum_by = sum_by;
            }
            Ok(_) => {
                standing.outcome = Err(Finding::refused(format!(
                    "cross-library: {most} libraries agree on other bytes for the same pages"
                )));
            }
            Err(finding) => standing.outcome = Err(finding),
        }
    }
}

fn hand_on(store: &Store, stage: &Stage, part: &[PageRef], copy: &mut Copy) -> Result<(), String> {
    let mut page = vec![0; store.page_size()];
    for (i, reference) in part.iter().enumerate() {
        stage
            .decrypted(i, &mut page)
            .map_err(|e| format!("page {i} was not handed on by the library in turn: {e}"))?;
        copy.put(store, *reference, &page)?;
    }
    Ok(())
}

/// Changes pages of every pair that stands and sees what is noticed.
pub(super) fn probe(
    store: &Store,
    recipes: &[Recipe],
    (stage, workers): (&mut Stage, &mut Workers<'_>),
    standings: &mut Standings,
    (seed, count): (u64, u32),
    events: Events<'_>,
) -> Result<Vec<Probed>, PagesError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let most = (PART / store.page_size()) as u64;
    stage.put(store, &store.heads(most.min(1024), 8))?;
    load(workers, standings, stage.pages, store.page_size());
    let mut probed = Vec::new();
    let share = within(workers.stop, SHARE);
    for (scheme, recipe) in recipes.iter().enumerate() {
        if share.is_over() {
            break;
        }
        let own: Vec<usize> = standings
            .iter()
            .filter(|((_, s), standing)| *s == scheme && standing.outcome.is_ok())
            .map(|((library, _), _)| *library)
            .collect();
        for library in &own {
            workers.ask(*library, Job::Probe(ProbeJob { recipe: recipe.clone(), seed, count }));
        }
        for library in own {
            match workers.answer(library).and_then(counts) {
                Ok(counts) => probed.push(judge(library, recipe, counts)),
                // What is only not probed is proven all the same.
                Err(finding) if finding.stopped.is_some() => {}
                Err(finding) => {
                    if let Some(standing) = standings.get_mut(&(library, scheme)) {
                        standing.outcome = Err(finding);
                    }
                }
            }
        }
        events(PagesEvent::Probing { done: scheme as u64 + 1, of: recipes.len() as u64 });
    }
    Ok(probed)
}

fn counts(answer: Answer) -> Result<Vec<ProbeCounts>, Finding> {
    match answer {
        Answer::Probed { counts } => Ok(counts),
        _ => Err(Finding::failed("answered something else")),
    }
}

/// What the record says of all pairs.
pub(super) fn verdicts(standings: &Standings, recipes: &[Recipe]) -> Vec<Verified> {
    let one = |((library, scheme), standing): (&Pair, &Standing)| {
        let (state, reason, stopped) = match &standing.outcome {
            Ok(()) => (State::Measured, None, None),
            Err(finding) => (finding.state, Some(finding.why.clone()), finding.stopped),
        };
        let proven = standing.pages > 0;
        let hash = xxhash_rust::xxh3::xxh3_128(standing.digest.as_bytes());
        Verified {
            library: *library,
            scheme: recipes[*scheme].scheme.clone(),
            state,
            reason,
            stopped,
            pages: standing.pages,
            agreeing: if proven { standing.agreeing } else { 0 },
            digest: proven.then(|| format!("{hash:032x}")),
            sum_by: standing.sum_by.clone(),
        }
    };
    standings.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_outvoted_is_refused_and_who_is_alone_is_not() {
        let fresh = || Standing::new(Ok(()));
        let mut standings: Standings =
            [(0, 1), (1, 1), (2, 1), (3, 2)].map(|pair| (pair, fresh())).into();
        let said = |digest: &str| Ok((digest.to_owned(), None));
        settle(&mut standings, 1, vec![(0, said("a")), (1, said("b")), (2, said("a"))], 10);
        settle(&mut standings, 2, vec![(3, said("c"))], 10);
        assert!(standings[&(0, 1)].outcome.is_ok() && standings[&(3, 2)].outcome.is_ok());
        let refused = standings[&(1, 1)].outcome.as_ref().unwrap_err();
        assert_eq!(refused.state, State::Refused);
        assert!(refused.why.contains("2 libraries agree"), "{}", refused.why);
        assert_eq!((standings[&(2, 1)].pages, standings[&(2, 1)].agreeing), (10, 2));
    }
}
