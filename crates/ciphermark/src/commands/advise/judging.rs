//! Verdicts on secrets that an answer needs: of what it would choose, and of what is worth measuring.

use crate::Failure;
use crate::commands::choose;
use crate::screen::Bar;
use base::model::Tier;
use engine::{Attached, LeakSubject, LibraryChoice, Secrets, Stop};
use judge::advise::{Advice, Data, Evidence, Question, Surroundings};
use record::{Leaks, LibraryId};
use std::collections::BTreeSet;
use std::time::Duration;

/// What is judged side by side: the cheapest that are not.
pub(super) const IN_LINE: usize = 4;
/// How much longer a choice waits for its verdict than the time that there is for all of them: none is made without one for
/// want of time.
pub(crate) const FOR_ONE: Duration = Duration::from_secs(60);

/// The answer, with what could be judged before `stop`: here, where the record's CPU and builds are. So much `longer` it waits
/// for the verdict on what it would choose.
pub(crate) fn judged_first(
    quiet: bool,
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &mut Surroundings,
    stop: &Stop,
    longer: Duration,
) -> Result<Advice, Failure> {
    let longer = stop.longer(longer);
    while !longer.is_over() && around.cpu == Some(evidence.cpu().kind()) {
        let is_late = stop.is_over();
        let most = if is_late { 1 } else { IN_LINE };
        let pairs = judge::advise::unjudged(data, question, evidence, around, most);
        if is_late && judge::advise::is_judged(data, question, evidence, around) {
            break;
        }
        let until = if is_late { &longer } else { stop };
        let is_known =
            |v: &Leaks| around.judged.iter().any(|k| k.is_of(&v.library, &v.algorithm, v.tier));
        let judged = judge(quiet, &pairs, question.tier, until)?;
        let new: Vec<Leaks> = judged.into_iter().filter(|v| !is_known(v)).collect();
        // What was broken off for the time is judged again, alone.
        let is_broken_off = !is_late && stop.is_over();
        if new.is_empty() && !is_broken_off {
            break;
        }
        around.judged.extend(new);
    }
    Ok(judge::advise::advise(data, question, evidence, around))
}

/// Verdicts on algorithms in the builds that are still here.
pub(crate) fn judge(
    quiet: bool,
    pairs: &BTreeSet<(LibraryId, String)>,
    tier: Tier,
    stop: &Stop,
) -> Result<Vec<Leaks>, Failure> {
    let libraries = engine::at_tiers(&found_again(pairs.iter().map(|(l, _)| l))?, &[tier]);
    Ok(judge_in(&libraries, quiet, pairs, tier, stop))
}

/// The same in libraries that are loaded.
pub(crate) fn judge_in(
    libraries: &[Attached],
    quiet: bool,
    pairs: &BTreeSet<(LibraryId, String)>,
    tier: Tier,
    stop: &Stop,
) -> Vec<Leaks> {
    let subject = |(id, algorithm): &(LibraryId, String)| {
        let library = libraries.iter().position(|l| is_build(l, id))?;
        Some(LeakSubject { library, tier, algorithm: algorithm.clone() })
    };
    let subjects: Vec<LeakSubject> = pairs.iter().filter_map(subject).collect();
    let judged = Bar::during(quiet, |bar| {
        let show = |done, of| bar.stepping(done, of);
        engine::judge_leaks(libraries, &subjects, &Secrets::quick(), stop, &show)
    });
    judged.leaks
}

/// The libraries that are now at the files of these builds: the same, or newer ones.
pub(super) fn found_again<'a>(
    builds: impl Iterator<Item = &'a LibraryId>,
) -> Result<Vec<Attached>, Failure> {
    let named = builds.filter(|l| is_file(l));
    let named = named.map(|l| format!("{}={}", l.name, record::expanded(&l.path).display()));
    let named: Vec<String> = named.collect::<BTreeSet<_>>().into_iter().collect();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let named: Vec<LibraryChoice> = choose::libraries(&named)?.into_iter().collect();
    Ok(choose::discover(&named))
}

pub(super) fn is_file(library: &LibraryId) -> bool {
    record::expanded(&library.path).is_file()
}

/// As records name it.
pub(crate) fn build_of(library: &Attached) -> LibraryId {
    let own = library.facts.identity();
    LibraryId { path: record::shown(&own.path), ..own }
}

pub(crate) fn is_build(library: &Attached, id: &LibraryId) -> bool {
    build_of(library) == *id
}
