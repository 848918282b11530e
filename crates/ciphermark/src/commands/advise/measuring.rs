//! What an answer is measured from: everything is looked at, what seems cheapest is judged and measured, and the rest is
//! ruled out by how long it takes at the least.

use super::AdviseArgs;
use super::judging::{IN_LINE, is_build, judge_in, judged_first};
use crate::commands::choose;
use crate::commands::run::{claim_output, survey, watch_signals};
use crate::screen::Bar;
use crate::{Failure, screen};
use base::model::{Algorithm, Footprint, MAX_REPEATED_SIZE};
use engine::{Attached, Budget, Looks, Request, Screened, Stop};
use jiff::civil::Date;
use judge::advise::{Data, Evidence, Only, OpenWhy, Outcome, Question, Surroundings, Wished};
use record::{LeakVerdict, Leaks, LibraryId, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Half-width of each case's interval when measuring on the spot: ties are decided by other things.
const PRECISION: f64 = 0.02;

/// Time of sampling of a thorough answer.
const THOROUGH: Duration = Duration::from_secs(20);

/// The share of what is left of the time that a look at everything may take, verdicts on what seems cheapest then, and
/// measuring what they leave.
const LOOK: f64 = 0.5;
const JUDGE: f64 = 0.4;
const MEASURE: f64 = 0.7;
/// How many times as much as the cheapest one what is measured first seems to take at the most: a few, so that there is an
/// answer. What may be cheaper than that is measured then.
const FIRST: f64 = 1.25;
/// Times that it is measured at most, and the time below which it is not worth it.
const ROUNDS: usize = 4;
const ENOUGH: Duration = Duration::from_secs(2);

/// What the answer and its neighbours need, in every library that may be used.
pub(crate) fn measure(
    data: &Data,
    args: &AdviseArgs,
    question: &Question<'_>,
) -> Result<Record, Failure> {
    measured_now(args, question.wishes.only.as_ref(), |libraries, stop| {
        let measuring = Measuring { data, args, question, libraries, stop: stop.clone() };
        match args.time.thorough {
            true => measuring.thoroughly(),
            false => measuring.by_elimination(),
        }
    })
}

/// What is measured for a question in the libraries that may be used, kept where that was asked for.
pub(crate) fn measured_now(
    args: &AdviseArgs,
    only: Option<&Only>,
    measure: impl FnOnce(Vec<Attached>, &Stop) -> Result<Record, Failure>,
) -> Result<Record, Failure> {
    // Given back, with nothing in it, when the record is written.
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let stop = args.time.limit(&watch_signals()?);
    let record = measure(engine::at_tiers(&attached(args, only)?, &[args.tier]), &stop)?;
    screen::say(args.quiet, stop.is_interrupted(), "interrupted; advice from what there is");
    keep(args, &record)?;
    Ok(record)
}

pub(super) fn keep(args: &AdviseArgs, record: &Record) -> Result<(), Failure> {
    let path = args.output.as_deref();
    path.map_or(Ok(()), |path| record::save(record, path).map_err(Failure::not_done))
}

/// The libraries that were named, else those that the program can use, a language's among them.
fn attached(args: &AdviseArgs, only: Option<&Only>) -> Result<Vec<Attached>, Failure> {
    match only {
        Some(only) if args.library.is_empty() && !only.libraries.is_empty() => {
            let texts: Vec<String> =
                only.libraries.iter().map(|glob| glob.text().to_owned()).collect();
            choose::attached_of_those(&texts, args.quiet).map_err(|_| {
                Failure::not_done(format!(
                    "--only {}: {}; none of its libraries ({}) can be used here",
                    only.typed,
                    only.says,
                    texts.join(", ")
                ))
            })
        }
        _ => choose::attached(&args.library),
    }
}

/// What each library seems to take, in a share of the time. It is no figure: it says who is measured.
pub(crate) fn look(
    quiet: bool,
    request: &Request,
    libraries: &[Attached],
    looks: Looks,
    stop: &Stop,
    share: f64,
) -> engine::Look {
    let left = stop.left().unwrap_or(request.budget.time);
    let stop = stop.within(left.mul_f64(share));
    Bar::during(quiet, |bar| {
        engine::screen(request, libraries, looks, &stop, &|event| bar.show(event))
    })
}

type Pairs = BTreeSet<(LibraryId, String)>;

pub(super) struct Measuring<'a> {
    pub(super) data: &'a Data,
    pub(super) args: &'a AdviseArgs,
    pub(super) question: &'a Question<'a>,
    pub(super) libraries: Vec<Attached>,
    pub(super) stop: Stop,
}

impl Measuring<'_> {
    /// All that fits, and what would with one wish changed.
    fn thoroughly(&self) -> Result<Record, Failure> {
        let mut algorithms = self.algorithms(Wished::Asked);
        algorithms.extend(self.algorithms(Wished::Changed));
        self.survey(&self.request(&algorithms), &self.stop)
    }

    /// What could be chosen, until nothing that could be is missing; then what could with one wish changed.
    pub(super) fn by_elimination(&self) -> Result<Record, Failure> {
        let asked = self.algorithms(Wished::Asked);
        if asked.is_empty() {
            // Wishes that stand against each other: what there is without one of them.
            return self.round(&self.algorithms(Wished::Changed), None, Wished::Changed);
        }
        let mut record = self.round(&asked, None, Wished::Asked)?;
        if self.has_time() {
            record = self.with_line(record)?;
        }
        let more: BTreeSet<&'static str> =
            self.algorithms(Wished::Changed).difference(&asked).copied().collect();
        if !more.is_empty() && self.has_time() {
            record = self.round(&more, Some(record), Wished::Changed)?;
        }
        Ok(record)
    }

    /// What could be chosen and is not measured; none where that is nothing.
    pub(super) fn what_is_missing(&self, record: &mut Record) -> Result<Option<Record>, Failure> {
        let wanted = self.missing(record)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let request = self.request(&self.algorithms(Wished::Asked));
        self.measured(&request, &Screened::default(), &wanted).map(Some)
    }

    fn has_time(&self) -> bool {
        !self.stop.is_over() && self.stop.left().is_none_or(|left| left >= ENOUGH)
    }

    /// Looks at these algorithms in all libraries and measures what could be chosen, beside what is known of others.
    fn round(
        &self,
        algorithms: &BTreeSet<&'static str>,
        known: Option<Record>,
        whose: Wished,
    ) -> Result<Record, Failure> {
        let request = Request { sizes: vec![self.question.size], ..self.request(algorithms) };
        let quick = Request { latency: false, ..request.clone() };
        let (ignored, stop) = (Looks::Ignored, &self.stop);
        let look = look(self.args.quiet, &quick, &self.libraries, ignored, stop, LOOK);
        let mut bounds = match &known {
            Some(known) => beside(known.clone(), look.record),
            None => look.record,
        };
        let judged = bounds.leaks.len();
        let mut wanted = self.contenders(&mut bounds, &look.screened, whose);
        let mut record = self.measured(&request, &look.screened, &wanted)?;
        record.leaks.extend(bounds.leaks.split_off(judged));
        let mut done = Pairs::new();
        for _ in 1..ROUNDS {
            if whose != Wished::Asked || !self.has_time() {
                break;
            }
            done.append(&mut wanted);
            let mut missing = self.missing(&mut record)?;
            missing.retain(|pair| !done.contains(pair));
            if missing.is_empty() || !self.has_time() {
                break;
            }
            wanted = self.contenders(&mut record, &look.screened, whose);
            wanted.retain(|pair| missing.contains(pair));
            if wanted.is_empty() {
                wanted = missing;
            }
            let more = self.measured(&request, &look.screened, &wanted)?;
            record = completed(record, more);
        }
        Ok(match known {
            Some(known) => beside(known, record),
            None => record,
        })
    }

    /// What seems cheapest of what is not measured, and verdicts on it: what depends on a secret gives its place to the next.
    /// Once a cipher of a library does not, what is worth it ends a few libraries behind it.
    fn contenders(&self, bounds: &mut Record, screened: &Screened, whose: Wished) -> Pairs {
        let Self { data, args, question, stop, .. } = self;
        let share =
            |share| stop.left().map_or(stop.clone(), |left| stop.within(left.mul_f64(share)));
        let (soon, late) = (share(JUDGE), share(MEASURE));
        let mut is_settled = question.wishes.alone;
        loop {
            let evidence = Evidence::Survey(bounds);
            let found = judge::advise::contenders(data, question, evidence, whose, FIRST);
            let leaks = &bounds.leaks;
            let is_fine = |(id, name): &&(LibraryId, &'static str)| {
                let mut own = leaks.iter().filter(|v| v.verdict == LeakVerdict::SameTrace);
                own.any(|v| v.is_of(id, cipher_of(name), question.tier))
            };
            let fine: BTreeSet<&LibraryId> = found.iter().filter(is_fine).map(|(l, _)| l).collect();
            let pairs = self.in_line(&found, leaks, screened);
            let until = if fine.is_empty() { &late } else { &soon };
            if is_settled || until.is_over() {
                // Those that there was no time to judge, too, and the next four.
                let is_seen = |id: &LibraryId| leaks.iter().any(|v| v.library == *id);
                let is_next = |id: &LibraryId| pairs.iter().any(|(next, _)| next == id);
                // With one wish changed, what is cheapest by all of them is not what is cheapest by one.
                let all = fine.is_empty() || whose != Wished::Asked;
                let is_worth = |id: &LibraryId| all || is_seen(id) || is_next(id);
                let worth = found.iter().filter(|(id, _)| is_worth(id));
                return worth.map(|(id, name)| (id.clone(), (*name).to_owned())).collect();
            }
            let judged = judge_in(&self.libraries, args.quiet, &pairs, question.tier, until);
            is_settled = !judged.iter().any(|v| v.verdict == LeakVerdict::Depends);
            let wholes: Vec<Leaks> = judged.iter().flat_map(|v| of_part(v, &found)).collect();
            bounds.leaks.extend(judged.into_iter().chain(wholes));
        }
    }

    /// What is judged next: of each library the cipher that seems cheapest, for what holds for one mode mostly holds for the
    /// others; of what has parts first its cipher.
    fn in_line(
        &self,
        found: &BTreeSet<(LibraryId, &'static str)>,
        leaks: &[Leaks],
        screened: &Screened,
    ) -> Pairs {
        let tier = self.question.tier;
        let mut open: BTreeMap<&LibraryId, (u64, &'static str)> = BTreeMap::new();
        for (id, name) in found {
            let is_known = |name: &str| leaks.iter().any(|v| v.is_of(id, name, tier));
            if is_known(name) || !encrypts(name) {
                continue;
            }
            let library = self.libraries.iter().position(|own| is_build(own, id));
            let least = library.and_then(|l| screened.both(l, name)).unwrap_or(u64::MAX);
            let cipher = cipher_of(name);
            let one = (least, if is_known(cipher) { *name } else { cipher });
            let best = open.entry(id).or_insert(one);
            *best = one.min(*best);
        }
        let mut open: Vec<_> =
            open.into_iter().map(|(id, (least, name))| (least, id, name)).collect();
        open.sort_unstable();
        let next = open.into_iter().take(IN_LINE);
        next.map(|(_, id, name)| (id.clone(), name.to_owned())).collect()
    }

    /// With what the choice takes at other sizes, and the line through them.
    fn with_line(&self, record: Record) -> Result<Record, Failure> {
        let Self { data, question, .. } = self;
        let evidence = Evidence::Survey(&record);
        let advice = judge::advise::advise(data, question, evidence, &around(&record));
        let Outcome::Choice(choice) = advice.outcome else { return Ok(record) };
        let price = &choice.price;
        let of = |l: &LibraryId| {
            Pairs::from_iter(price.algorithms.iter().map(|a| (l.clone(), a.clone())))
        };
        let pairs = price.libraries.iter().flat_map(of).collect();
        let named: Vec<&str> = price.algorithms.iter().map(String::as_str).collect();
        let algorithms = Algorithm::all().iter().map(|a| a.name).filter(|a| named.contains(a));
        let request = self.request(&algorithms.collect());
        let mut more = self.measured(&request, &Screened::default(), &pairs)?;
        more.measurements.retain(|m| m.size != question.size);
        Ok(with_rows(record, more))
    }

    /// Verifies and measures these, and nothing else.
    fn measured(
        &self,
        request: &Request,
        all: &Screened,
        wanted: &Pairs,
    ) -> Result<Record, Failure> {
        let key = |(l, a): &(LibraryId, String)| {
            let library = self.libraries.iter().position(|own| is_build(own, l))?;
            Some((library, Algorithm::find(a).ok()?.name))
        };
        let only = wanted.iter().filter_map(key).collect();
        let request = Request { screened: all.but(only), ..request.clone() };
        let left = self.stop.left();
        let stop = left.map_or(self.stop.clone(), |left| self.stop.within(left.mul_f64(MEASURE)));
        self.survey(&request, &stop)
    }

    fn survey(&self, request: &Request, stop: &Stop) -> Result<Record, Failure> {
        survey(self.args.quiet, request, &self.libraries, stop)
    }

    fn algorithms(&self, whose: Wished) -> BTreeSet<&'static str> {
        let needed = judge::advise::needed_schemes(self.data, self.question, whose);
        needed.iter().flat_map(|s| s.algorithms()).map(|a| a.name).collect()
    }

    fn request(&self, algorithms: &BTreeSet<&'static str>) -> Request {
        let (question, time) = (self.question, &self.args.time);
        let wanted = Algorithm::all().iter().filter(|a| algorithms.contains(a.name)).collect();
        let budget = Budget { precision: PRECISION, time: time.sampling(THOROUGH) };
        let footprints = BTreeSet::from([Footprint::Hot, question.used.footprint]);
        // Without evidence: secrets are judged when it is known whose.
        Request {
            models: vec![question.model()],
            footprints: footprints.into_iter().collect(),
            sizes: sizes(question.size),
            tiers: vec![question.tier],
            latency: question.wishes.max_p99_us.is_some(),
            ..choose::plain_request(wanted, budget)
        }
    }

    /// What could still be chosen and was not measured, when what would be chosen is judged.
    fn missing(&self, record: &mut Record) -> Result<Pairs, Failure> {
        let mut around = around(record);
        let Self { data, args, question, stop, .. } = self;
        let evidence = Evidence::Survey(record);
        // Nothing is measured after the end.
        let no_longer = Duration::ZERO;
        let advice =
            judged_first(args.quiet, data, question, evidence, &mut around, stop, no_longer)?;
        record.leaks.append(&mut around.judged);
        if matches!(advice.outcome, Outcome::None(_)) {
            // What seemed cheapest was refused: the next in line, by the same bounds.
            let evidence = Evidence::Survey(record);
            let next = judge::advise::contenders(
                data,
                question,
                evidence,
                Wished::Asked,
                judge::advise::WORTH,
            );
            return Ok(next.into_iter().map(|(l, a)| (l, a.to_owned())).collect());
        }
        let missing = advice.open.into_iter().filter(|o| o.kind == OpenWhy::Missing);
        let pairs = missing.flat_map(|o| {
            let algorithms = o.algorithms;
            o.builds
                .into_iter()
                .flat_map(move |l| algorithms.clone().into_iter().map(move |a| (l.clone(), a)))
        });
        Ok(pairs.collect())
    }
}

fn encrypts(name: &str) -> bool {
    Algorithm::find(name).is_ok_and(Algorithm::encrypts)
}

/// The cipher of what has parts, else the algorithm itself.
fn cipher_of(name: &'static str) -> &'static str {
    let parts = Algorithm::find(name).ok().and_then(|a| a.composite);
    parts.map_or(name, |parts| parts.cipher)
}

/// What of these has this part, where it depends on the secret: they do, too, at its places. None of theirs was stepped.
fn of_part(part: &Leaks, found: &BTreeSet<(LibraryId, &'static str)>) -> Vec<Leaks> {
    let whole = |name: &str| Leaks {
        algorithm: name.to_owned(),
        secrets: 0,
        operations: Vec::new(),
        reason: None,
        ..part.clone()
    };
    let depends = part.verdict == LeakVerdict::Depends;
    let has_part = |name| cipher_of(name) == part.algorithm && name != part.algorithm;
    let own = found.iter().filter(|(id, name)| depends && *id == part.library && has_part(name));
    own.map(|(_, name)| whole(name)).collect()
}

/// What is known of this machine while it is measured.
fn around(record: &Record) -> Surroundings {
    Surroundings { cpu: Some(record.host.cpu.kind()), ..Surroundings::on(Date::default()) }
}

/// A record with what a later one of the same plan has measured.
fn completed(mut record: Record, later: Record) -> Record {
    for (row, new) in record.measurements.iter_mut().zip(&later.measurements) {
        if row.is_left_out() && !new.is_left_out() {
            *row = new.clone();
        }
    }
    record.fits.extend(later.fits);
    record
}

/// A record with another of the same libraries, of other algorithms.
fn beside(mut record: Record, mut other: Record) -> Record {
    record.plan.algorithms.append(&mut other.plan.algorithms);
    for library in &mut record.libraries {
        let same = other.libraries.iter_mut().find(|l| l.identity() == library.identity());
        library.calls.extend(same.into_iter().flat_map(|l| std::mem::take(&mut l.calls)));
    }
    record.measurements.append(&mut other.measurements);
    record.leaks.append(&mut other.leaks);
    record.fits.append(&mut other.fits);
    record
}

/// The unit's, and two more for the line through them, in whole blocks. None is added whose operation is a sample.
fn sizes(size: usize) -> Vec<usize> {
    let blocks = |n: usize| (n / 16).max(1) * 16;
    let larger = blocks(size * 4).min(MAX_REPEATED_SIZE).max(size);
    let all = BTreeSet::from([blocks(size / 16), size, larger]);
    all.into_iter().collect()
}

/// A record with the rows of a later one in the place of its own.
pub(crate) fn with_rows(mut record: Record, mut new: Record) -> Record {
    let case = |m: &record::Measurement| {
        let what = (m.library.clone(), m.algorithm.clone(), m.direction, m.size);
        (what, m.tier, m.model.name(), m.threads, m.footprint, m.in_place)
    };
    new.measurements.retain(|m| !m.is_left_out());
    let taken: Vec<_> = new.measurements.iter().map(case).collect();
    record.measurements.retain(|m| !taken.contains(&case(m)));
    let fit = |f: &record::Fit| (f.library.clone(), f.algorithm.clone(), f.direction, f.tier);
    let refitted: Vec<_> = new.fits.iter().map(fit).collect();
    record.fits.retain(|f| !refitted.contains(&fit(f)));
    for library in &mut new.libraries {
        let same = record.libraries.iter().find(|l| l.identity() == library.identity());
        library.calls.retain(|call| same.is_none_or(|own| !own.calls.contains(call)));
    }
    new.plan.algorithms.retain(|a| !record.plan.algorithms.contains(a));
    let sizes = &mut record.plan.sizes;
    sizes.append(&mut new.plan.sizes);
    sizes.sort_unstable();
    sizes.dedup();
    new.plan.tiers.retain(|t| !record.plan.tiers.contains(t));
    record.plan.tiers.append(&mut new.plan.tiers);
    beside(record, new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_sizes_make_a_line_and_are_whole_blocks_beside_the_units_own() {
        assert_eq!(sizes(8192), [512, 8192, 32768]);
        assert_eq!(sizes(100), [16, 100, 400]);
        assert_eq!(sizes(64 << 20), [4 << 20, 64 << 20]);
    }
}
