//! What depends on secrets, for algorithms in libraries at tiers: judged in workers of their own, side by
//! side, and kept from run to run.

use crate::libraries::Attached;
use crate::plan::Planned;
use crate::pool::{Asking, Cache, InWorkers, Key, deadline};
use crate::process::out_of_protocol;
use crate::progress::Event;
use crate::protocol::{Finding, Judged, Judging, Reply, Request};
use crate::time::Stop;
use base::model::{Algorithm, Tier};
use record::{LeakVerdict, Leaks, Record, State};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// Raised when a verdict changes its meaning, or how it is come to.
const VERSION: u32 = 3;

/// Steps that are recorded of all keys together: half a minute, and half a gigabyte for the traces.
const MOST_STEPS: usize = 3 << 20;

/// The same of private keys, which are stepped only where they are named.
const MOST_PRIVATE_STEPS: usize = 15 << 20;

/// The schemes of TLS whose private keys can be judged, by the names that `tls primitives` has for them.
pub fn private_schemes() -> Vec<&'static str> {
    adapters::stacks::PRIVATE.iter().map(|(scheme, _)| scheme.name()).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LeakSubject {
    pub library: usize,
    pub tier: Tier,
    /// Name of the algorithm; of private keys, of their scheme.
    pub algorithm: String,
}

impl LeakSubject {
    fn is_private(&self) -> bool {
        private_schemes().contains(&self.algorithm.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secrets {
    /// Keys whose traces are compared, beside the twin.
    pub count: u32,
    /// Bytes of plaintext; where there is none, sizes that meet every kind of loop.
    pub sizes: Vec<usize>,
    /// Print both traces around this function's first difference. Nothing is kept then.
    pub trace: Option<String>,
    /// Leave the rest unjudged where a key's set-up and a first message depend on the key already (the verdict is the same,
    /// and says less about where), and all where setting a key up takes a quarter of the steps that there are.
    pub until_one: bool,
    /// Leave out what an earlier run tried for as long as there is time, in vain.
    pub skips_long: bool,
}

impl Secrets {
    /// Two keys, and a verdict as soon as there is one: what a run has time for.
    pub fn quick() -> Self {
        Self { count: 2, sizes: Vec::new(), trace: None, until_one: true, skips_long: false }
    }

    /// Steps of one key. Of private keys as many as leave room for two and the first again: the worker steps more
    /// where they are shorter.
    fn most_steps(&self, subject: &LeakSubject) -> usize {
        let traces = self.count as usize + 1;
        if subject.is_private() { MOST_PRIVATE_STEPS / 3 } else { MOST_STEPS / traces }
    }

    fn asked(&self, subject: &LeakSubject) -> Judging {
        Judging {
            algorithm: subject.algorithm.clone(),
            secrets: self.count,
            sizes: self.sizes.clone(),
            most_steps: self.most_steps(subject),
            until_one: self.until_one && !subject.is_private(),
            trace: self.trace.clone(),
        }
    }
}

/// Verdicts, and what else came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AllJudged {
    /// One for each subject that there was time for.
    pub leaks: Vec<Leaks>,
    pub traces: Vec<String>,
    pub left_out: Vec<LeakSubject>,
    /// Private keys that a library does not offer, and why.
    pub not_offered: Vec<(LeakSubject, String)>,
}

/// Longest that judging takes of a run where nothing is kept from earlier ones; the next run judges what was
/// left out. With the cache full it takes nothing.
const IN_A_RUN: Duration = Duration::from_secs(8);

const IN_LATER_RUNS: Duration = Duration::from_secs(3);

/// The share of the time before sampling that it may take.
const SHARE: f64 = 0.3;

/// Judges what a run is going to measure, with the fewest keys.
pub(crate) fn of_plan(
    planned: &[Planned],
    libraries: &[Attached],
    stop: &Stop,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Vec<Leaks> {
    let open = planned.iter().filter(|p| p.verdict.is_none() && p.case.library < libraries.len());
    let keyed = |p: &&Planned| {
        let algorithm = Algorithm::find(&p.case.algorithm);
        let elsewhere =
            base::model::runs_elsewhere(Path::new(&libraries[p.case.library].facts.path));
        algorithm.is_ok_and(Algorithm::has_secret) && !elsewhere
    };
    let subject = |p: &Planned| LeakSubject {
        library: p.case.library,
        tier: p.case.tier,
        algorithm: p.case.algorithm.clone(),
    };
    let subjects: Vec<LeakSubject> = open.filter(keyed).map(subject).collect();
    let most = if any_is_kept(libraries, &subjects) { IN_LATER_RUNS } else { IN_A_RUN };
    let time = stop.left().map_or(most, |left| most.min(left.mul_f64(SHARE)));
    let stop = stop.within(time);
    let secrets = Secrets { skips_long: true, ..Secrets::quick() };
    judge_leaks(libraries, &subjects, &secrets, &stop, &|done, of| {
        events(Event::Stepping { done, of });
    })
    .leaks
}

fn any_is_kept(libraries: &[Attached], subjects: &[LeakSubject]) -> bool {
    let cache = Cache::open("leaks");
    subjects.iter().any(|subject| {
        let library = &libraries[subject.library];
        kept(&cache, library, subject.tier, &Secrets::quick().asked(subject)).is_some()
    })
}

struct One {
    subject: LeakSubject,
    judged: Option<Result<Judged, Finding>>,
}

pub fn judge_leaks(
    libraries: &[Attached],
    subjects: &[LeakSubject],
    secrets: &Secrets,
    stop: &Stop,
    done: &(dyn Fn(usize, usize) + Sync),
) -> AllJudged {
    let sorted: BTreeSet<LeakSubject> = subjects.iter().cloned().collect();
    let cache = Cache::open("leaks");
    let mut all: Vec<One> =
        sorted.into_iter().map(|subject| One { subject, judged: None }).collect();
    let workers = InWorkers { libraries, stop, done };
    let of = |one: &&mut One| (one.subject.library, one.subject.tier);
    workers.each(all.iter_mut().collect(), of, |asking, one| {
        let found = judged(libraries, &one.subject, secrets, &cache, stop, asking);
        // What ended in its midst is not found out.
        let cut = found.as_ref().is_err_and(|f| f.stopped.is_some() || stop.is_over());
        one.judged = (!cut).then_some(found);
    });
    let mut found = AllJudged::default();
    for one in all {
        let Some(judged) = one.judged else {
            found.left_out.push(one.subject);
            continue;
        };
        let mut judged = match judged {
            Ok(judged) => judged,
            // What a library offers of these is known only now.
            Err(f) if f.state == State::Unsupported && one.subject.is_private() => {
                found.not_offered.push((one.subject, f.why));
                continue;
            }
            Err(finding) => Judged { reason: Some(finding.why), ..Judged::default() },
        };
        if !judged.trace.is_empty() {
            let LeakSubject { library, tier, algorithm } = &one.subject;
            found.traces.push(format!("{} {algorithm} {tier}", libraries[*library].label()));
        }
        found.traces.append(&mut judged.trace);
        let library = &libraries[one.subject.library];
        found.leaks.push(verdict(library, one.subject, judged, secrets.count));
    }
    found
}

/// Verdicts that earlier runs left, under the most of so many keys; nothing is judged.
pub fn known_leaks(libraries: &[Attached], subjects: &[LeakSubject], counts: &[u32]) -> Vec<Leaks> {
    let cache = Cache::open("leaks");
    let known = |subject: &LeakSubject, count: u32| {
        let secrets = Secrets { count, ..Secrets::quick() };
        let library = &libraries[subject.library];
        let judged = kept(&cache, library, subject.tier, &secrets.asked(subject))?;
        Some(verdict(library, subject.clone(), judged, count))
    };
    let of = |subject| counts.iter().find_map(|count| known(subject, *count));
    subjects.iter().filter_map(of).collect()
}

fn judged(
    libraries: &[Attached],
    subject: &LeakSubject,
    secrets: &Secrets,
    cache: &Cache,
    stop: &Stop,
    asking: &mut Asking<'_>,
) -> Result<Judged, Finding> {
    let library = &libraries[subject.library];
    if let Some(why) = Asking::cannot_step(library) {
        return Err(why);
    }
    let asked = secrets.asked(subject);
    if let Some(judged) = kept(cache, library, subject.tier, &asked) {
        return Ok(judged);
    }
    // What takes long must not take the time of all others in every run.
    let tried = secrets.skips_long.then(|| tried_key(cache, library, subject)).flatten();
    let had: Option<Duration> = tried.as_ref().and_then(|key| cache.load(key));
    if had.zip(stop.left()).is_some_and(|(had, left)| left <= had) {
        return Err(Finding::left_out(record::Stopped::Budget, "judged"));
    }
    let begun = Instant::now();
    // The keys, the first of them again, and forgeries under it.
    let all = asked.most_steps as u64 * (u64::from(asked.secrets) + 2);
    let steps = if subject.is_private() { MOST_PRIVATE_STEPS as u64 } else { all };
    let request = Request::Leaks(asked.clone());
    let answer = asking.ask(subject.library, subject.tier, &request, deadline(steps));
    let is_cut = answer.as_ref().is_err_and(|f| f.stopped == Some(record::Stopped::Budget));
    if let (true, Some(key)) = (is_cut, &tried) {
        cache.store(key, &begun.elapsed(), std::iter::empty());
    }
    match answer? {
        Reply::Leaks(judged) => {
            let judging = Judging { until_one: judged.is_opening, ..asked };
            if let Some(key) = key(cache, library, subject.tier, &judging) {
                cache.store(&key, &judged, judged.objects.iter());
            }
            Ok(*judged)
        }
        other => Err(Finding::failed(out_of_protocol(&other).to_string())),
    }
}

fn kept(cache: &Cache, library: &Attached, tier: Tier, asked: &Judging) -> Option<Judged> {
    let load = |asked: &Judging| cache.load(&key(cache, library, tier, asked)?);
    let whole = load(&Judging { until_one: false, ..asked.clone() });
    whole.or_else(|| asked.until_one.then(|| load(asked)).flatten())
}

/// What a verdict is kept under; none where traces are to be printed.
fn key(cache: &Cache, library: &Attached, tier: Tier, asked: &Judging) -> Option<Key> {
    if asked.trace.is_some() {
        return None;
    }
    let Judging { algorithm, secrets, sizes, most_steps, until_one, .. } = asked;
    let subject = [
        algorithm.clone(),
        format!("{secrets} secrets"),
        format!("{sizes:?} bytes"),
        format!("{most_steps} steps{}", if *until_one { ", until one depends" } else { "" }),
    ];
    cache.key(VERSION, library, tier, &subject)
}

fn tried_key(cache: &Cache, library: &Attached, subject: &LeakSubject) -> Option<Key> {
    let what = [subject.algorithm.clone(), "tried".to_owned()];
    cache.key(VERSION, library, subject.tier, &what)
}

fn verdict(library: &Attached, subject: LeakSubject, judged: Judged, secrets: u32) -> Leaks {
    let Judged { reason, secrets: compared, operations, findings, .. } = judged;
    let verdict = if findings.iter().any(|leak| leak.compared) {
        LeakVerdict::Depends
    } else if !findings.is_empty() {
        LeakVerdict::MayDepend
    } else if reason.is_some() {
        LeakVerdict::NotJudged
    } else {
        LeakVerdict::SameTrace
    };
    Leaks {
        library: library.facts.identity(),
        algorithm: subject.algorithm,
        tier: subject.tier,
        verdict,
        reason,
        secrets: compared.unwrap_or(secrets),
        operations,
        findings,
    }
}

pub fn record_of_leaks(libraries: &[Attached], leaks: Vec<Leaks>, command: Vec<String>) -> Record {
    let algorithms: BTreeSet<String> = leaks.iter().map(|l| l.algorithm.clone()).collect();
    let tiers: BTreeSet<Tier> = leaks.iter().map(|l| l.tier).collect();
    let (algorithms, tiers) = (algorithms.into_iter().collect(), tiers.into_iter().collect());
    record::shared(Record {
        format_version: record::FORMAT_VERSION.to_owned(),
        tool: record::Tool::here(command),
        started: jiff::Timestamp::now().to_string(),
        host: host::facts(0),
        libraries: libraries.iter().map(|l| l.facts.clone()).collect(),
        plan: record::Plan { algorithms, tiers, ..record::Plan::default() },
        leaks,
        ..Record::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Leak, LeakKind};

    fn leak(compared: bool) -> Leak {
        record::fixtures::leak(LeakKind::Branch, "f", compared)
    }

    fn word(reason: Option<&str>, findings: Vec<Leak>) -> LeakVerdict {
        let facts = record::Library { name: "x".into(), ..record::Library::default() };
        let library = Attached { facts, ..Attached::default() };
        let algorithm = "aes-128-gcm".to_owned();
        let subject = LeakSubject { library: 0, tier: Tier::Native, algorithm };
        let reason = reason.map(ToOwned::to_owned);
        let judged = Judged { reason, findings, ..Judged::default() };
        super::verdict(&library, subject, judged, 2).verdict
    }

    #[test]
    fn the_gravest_finding_is_the_verdict_and_nothing_is_only_the_same_where_all_was_judged() {
        assert_eq!(word(None, Vec::new()), LeakVerdict::SameTrace);
        assert_eq!(word(Some("taint lost"), Vec::new()), LeakVerdict::NotJudged);
        assert_eq!(word(Some("taint lost"), vec![leak(false)]), LeakVerdict::MayDepend);
        assert_eq!(word(None, vec![leak(false), leak(true)]), LeakVerdict::Depends);
    }

    #[test]
    fn only_what_has_a_key_has_a_secret() {
        let has = |name: &str| Algorithm::find(name).unwrap().has_secret();
        assert!(has("aes-128-gcm") && has("hmac-sha256"));
        assert!(!has("sha256") && !has("memcpy") && !has("null"));
    }
}
