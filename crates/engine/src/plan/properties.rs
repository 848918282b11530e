//! What must hold of the plan for any request over any libraries.

use crate::libraries::AtTier;
use crate::plan::tests::{attached, machine, offer};
use crate::plan::*;
use crate::progress::all_progress;
use base::model::RawSample;
use proptest::prelude::*;
use proptest::sample::subsequence;
use record::JournalSample;
use std::collections::{BTreeMap, BTreeSet};

const ALGORITHMS: [&str; 6] =
    ["aes-128-gcm", "aes-256-ctr", "chacha20-poly1305", "aes-128-ecb", "sha256", "memcpy"];
const SIZES: [usize; 5] = [1, 16, 100, 8192, 1 << 20];

fn some<T: Clone + std::fmt::Debug + 'static>(all: &[T]) -> impl Strategy<Value = Vec<T>> {
    subsequence(all.to_vec(), 1..=all.len())
}

prop_compose! {
    fn any_request()(
        algorithms in some(&ALGORITHMS), directions in some(&[Direction::Encrypt, Direction::Decrypt]),
        models in some(&[Model::Stream, Model::Message, Model::Rekey, Model::Forgery]),
        sizes in some(&SIZES), tiers in some(&[Tier::Native, Tier::Noaes, Tier::Baseline]),
        footprints in some(&[Footprint::Hot, Footprint::L1, Footprint::Memory]),
        threads in some(&[1, 2]), in_place in some(&[false, true]),
    ) -> Request {
        Request {
            directions, models, sizes, tiers, footprints, threads, in_place,
            ..super::tests::request(&algorithms)
        }
    }
}

prop_compose! {
    /// Offers some of the algorithms, at some tiers others.
    fn any_library()(offered in some(&ALGORITHMS), elsewhere in some(&ALGORITHMS), applies: bool) -> Attached {
        let offers = |names: &[&str]| -> Vec<Offer> {
            let both = [Direction::Encrypt, Direction::Decrypt, Direction::Digest, Direction::Copy];
            names.iter().flat_map(|a| both.map(|d| offer(a, d, None))).collect()
        };
        let mut library = attached(offers(&offered));
        let at = if applies { Ok(offers(&elsewhere)) } else { Err(Finding::unsupported("no way")) };
        library.tiers = [Tier::Noaes, Tier::Baseline].map(|tier| AtTier { tier, offers: at.clone(), objects: Vec::new() }).to_vec();
        library
    }
}

fn libraries() -> impl Strategy<Value = Vec<Attached>> {
    prop::collection::vec(any_library(), 1..3)
}

/// The plan as a set: each case with what becomes of it.
fn planned(request: &Request, libraries: &[Attached]) -> BTreeSet<String> {
    let rows = cases(request, libraries, &machine());
    rows.iter().map(|p| format!("{:?} {:?}", p.case, p.verdict)).collect()
}

fn turned<T: Clone>(values: &[T], by: usize) -> Vec<T> {
    let mut values: Vec<T> = values.to_vec();
    let middle = by % values.len();
    values.rotate_left(middle);
    values
}

proptest! {
    #[test]
    fn every_case_is_there_once(request in any_request(), libraries in libraries()) {
        let rows = cases(&request, &libraries, &machine());
        let keys: BTreeSet<String> = rows.iter().map(|p| format!("{:?}", p.case)).collect();
        prop_assert_eq!(keys.len(), rows.len());
        for row in &rows {
            let case = &row.case;
            prop_assert!(request.sizes.contains(&case.size) && request.models.contains(&case.model));
            prop_assert!(request.tiers.contains(&case.tier) && request.threads.contains(&case.threads));
            prop_assert!(request.algorithms.iter().any(|a| a.name == case.algorithm));
        }
    }

    #[test]
    fn the_order_in_which_things_were_asked_for_is_no_part_of_what_is_measured(
        request in any_request(), libraries in libraries(), by in 0..100_usize,
    ) {
        let other = Request {
            algorithms: turned(&request.algorithms, by), directions: turned(&request.directions, by),
            models: turned(&request.models, by), sizes: turned(&request.sizes, by),
            tiers: turned(&request.tiers, by), footprints: turned(&request.footprints, by),
            threads: turned(&request.threads, by), in_place: turned(&request.in_place, by),
            ..request.clone()
        };
        prop_assert_eq!(planned(&request, &libraries), planned(&other, &libraries));
    }

    #[test]
    #[ignore = "long: seconds"]
    fn what_two_requests_ask_for_is_what_one_for_both_does(
        request in any_request(), libraries in libraries(), cut in 0..100_usize,
    ) {
        /// Two lists that are all of it together, and may share some.
        fn split<T: Clone>(all: &[T], cut: usize) -> [Vec<T>; 2] {
            let at = cut % all.len();
            [all[..=at].to_vec(), all[at..].to_vec()]
        }
        let whole = planned(&request, &libraries);
        let union = |parts: [Request; 2]| -> BTreeSet<String> {
            parts.iter().flat_map(|part| planned(part, &libraries)).collect()
        };
        let sizes = split(&request.sizes, cut).map(|sizes| Request { sizes, ..request.clone() });
        prop_assert_eq!(&union(sizes), &whole);
        let algorithms = split(&request.algorithms, cut);
        let algorithms = algorithms.map(|algorithms| Request { algorithms, ..request.clone() });
        prop_assert_eq!(&union(algorithms), &whole);
        let tiers = split(&request.tiers, cut).map(|tiers| Request { tiers, ..request.clone() });
        prop_assert_eq!(&union(tiers), &whole);
        let directions = split(&request.directions, cut);
        let directions = directions.map(|directions| Request { directions, ..request.clone() });
        prop_assert_eq!(&union(directions), &whole);
        let models = split(&request.models, cut).map(|models| Request { models, ..request.clone() });
        prop_assert_eq!(&union(models), &whole);
    }

    #[test]
    fn what_was_done_and_what_is_left_are_the_plan(
        request in any_request(), libraries in libraries(),
        done in prop::collection::vec((any::<prop::sample::Index>(), 0..9_u32), 0..40),
    ) {
        let rows = cases(&request, &libraries, &machine());
        let sample = |ops| RawSample { ops: ops + 1, ticks: 1, ..RawSample::default() };
        let earlier: Vec<JournalSample> = done
            .iter()
            .filter(|_| !rows.is_empty())
            .map(|(index, ops)| (index.index(rows.len()), *ops))
            .map(|(case, ops)| JournalSample {
                case,
                sample: sample(ops),
                ..JournalSample::default()
            })
            .collect();
        let all_progress = all_progress(&rows, &earlier);
        let open: Vec<usize> =
            (0..rows.len()).filter(|i| rows[*i].verdict.is_none()).collect();
        prop_assert_eq!(all_progress.iter().map(|t| t.index).collect::<Vec<_>>(), open);
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        earlier.iter().for_each(|e| *counts.entry(e.case).or_default() += 1);
        for progress in &all_progress {
            let threads = progress.subject.threads() as usize;
            let had = counts.get(&progress.index).copied().unwrap_or(0);
            prop_assert_eq!(progress.taken as usize, had / threads);
            prop_assert_eq!(progress.samples.len(), had / threads * threads);
            prop_assert!(progress.end.is_none(), "what is left is sampled on");
        }
    }
}
