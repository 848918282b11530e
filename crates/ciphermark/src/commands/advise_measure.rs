//! Measuring for a question: all candidates are looked at, those that could be chosen are verified and measured, and the
//! rest is ruled out by how long it takes at the least.

use super::advise::{is_build, judged_first};
use super::run::{claim_output, random_seed, say, survey, watch_signals};
use crate::args_advise::AdviseArgs;
use crate::choose;
use crate::error::Failure;
use crate::progress::Bar;
use base::model::{Algorithm, Direction, Footprint, MAX_SIZE};
use engine::{Attached, Budget, Request, Screened, Stop};
use jiff::civil::Date;
use judge::advise::{Data, Evidence, OpenWhy, Outcome, Question, Surroundings, Wished};
use record::{LibraryId, Record};
use std::collections::BTreeSet;
use std::time::Duration;

/// Half-width of each case's interval when measuring on the spot: ties are decided by other things.
const PRECISION: f64 = 0.02;

/// Time of sampling of a thorough answer.
const THOROUGH: Duration = Duration::from_secs(20);

/// The share of what is left of the time that a look at everything may take, and measuring what it leaves.
const LOOK: f64 = 0.5;
const MEASURE: f64 = 0.7;
/// Times that it is measured at most, and the time below which it is not worth it.
const ROUNDS: usize = 3;
const WORTH: Duration = Duration::from_secs(3);

/// What the answer and its neighbours need, in every library that may be used.
pub(super) fn measure(
    data: &Data,
    args: &AdviseArgs,
    question: &Question<'_>,
) -> Result<Record, Failure> {
    // Given back, with nothing in it, when the record is written.
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let stop = args.time.limit(&watch_signals()?);
    let libraries = engine::at_tiers(&choose::attached(&args.library)?, &[question.tier]);
    let measuring = Measuring { data, args, question, libraries, stop: stop.clone() };
    let record = match args.time.thorough {
        true => measuring.thoroughly()?,
        false => measuring.by_elimination()?,
    };
    say(args.quiet, stop.is_interrupted(), "interrupted; advice from what there is");
    if let Some(path) = &args.output {
        record::save(&record, path).map_err(Failure::not_done)?;
    }
    Ok(record)
}

/// Algorithms in builds.
type Pairs = BTreeSet<(LibraryId, String)>;

struct Measuring<'a> {
    data: &'a Data,
    args: &'a AdviseArgs,
    question: &'a Question<'a>,
    libraries: Vec<Attached>,
    stop: Stop,
}

impl Measuring<'_> {
    /// All that fits, and what would with one wish changed.
    fn thoroughly(&self) -> Result<Record, Failure> {
        let mut algorithms = self.algorithms(Wished::Asked);
        algorithms.extend(self.algorithms(Wished::Changed));
        self.survey(&self.request(&algorithms), &self.stop)
    }

    /// What could be chosen, until nothing that could be is missing; then what could with one wish changed.
    fn by_elimination(&self) -> Result<Record, Failure> {
        let asked = self.algorithms(Wished::Asked);
        if asked.is_empty() {
            // Wishes that stand against each other: what there is without one of them.
            return self.round(&self.algorithms(Wished::Changed), None, Wished::Changed);
        }
        let mut record = self.round(&asked, None, Wished::Asked)?;
        let more: BTreeSet<&'static str> =
            self.algorithms(Wished::Changed).difference(&asked).copied().collect();
        if !more.is_empty() && self.has_time() {
            record = self.round(&more, Some(record), Wished::Changed)?;
        }
        Ok(record)
    }

    fn has_time(&self) -> bool {
        !self.stop.is_over() && self.stop.left().is_none_or(|left| left >= WORTH)
    }

    /// Looks at these algorithms in all libraries and measures what could be chosen, beside what is known of others.
    fn round(
        &self,
        algorithms: &BTreeSet<&'static str>,
        known: Option<Record>,
        whose: Wished,
    ) -> Result<Record, Failure> {
        let request = self.request(algorithms);
        let look = self.look(&request);
        let bounds = match &known {
            Some(known) => beside(known.clone(), look.record),
            None => look.record,
        };
        let found =
            judge::advise::contenders(self.data, self.question, Evidence::Survey(&bounds), whose);
        let mut wanted: Pairs = found.into_iter().map(|(l, a)| (l, a.to_owned())).collect();
        let mut record = self.measured(&request, &look.screened, &wanted)?;
        let mut done = Pairs::new();
        for _ in 1..ROUNDS {
            if whose != Wished::Asked || !self.has_time() {
                break;
            }
            done.append(&mut wanted);
            wanted = self.missing(&mut record)?.difference(&done).cloned().collect();
            if wanted.is_empty() || !self.has_time() {
                break;
            }
            let more = self.measured(&request, &look.screened, &wanted)?;
            record = completed(record, more);
        }
        Ok(match known {
            Some(known) => beside(known, record),
            None => record,
        })
    }

    fn look(&self, request: &Request) -> engine::Look {
        let request =
            Request { sizes: vec![self.question.size], latency: false, ..request.clone() };
        let left = self.stop.left().unwrap_or(request.budget.time);
        let bar = Bar::new(self.args.quiet);
        let stop = self.stop.within(left.mul_f64(LOOK));
        let look = engine::screen(&request, &self.libraries, &stop, &|event| bar.show(event));
        bar.finish();
        look
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
        Request {
            suite: None,
            algorithms: Algorithm::all().iter().filter(|a| algorithms.contains(a.name)).collect(),
            directions: vec![Direction::Encrypt, Direction::Decrypt],
            models: vec![question.model()],
            sizes: sizes(question.size),
            tiers: vec![question.tier],
            footprints: vec![Footprint::Hot],
            threads: vec![1],
            in_place: vec![false],
            latency: question.wishes.max_p99_us.is_some(),
            budget: Budget { precision: PRECISION, time: time.sampling(THOROUGH) },
            // Secrets are judged when it is known whose.
            evidence: false,
            screened: Screened::default(),
            seed: random_seed(),
            command: super::typed(),
        }
    }

    /// What could still be chosen and was not measured, when what would be chosen is judged.
    fn missing(&self, record: &mut Record) -> Result<Pairs, Failure> {
        let mut around = Surroundings {
            today: Date::default(),
            cpu: Some(record.host.cpu.name.clone()),
            libraries: Vec::new(),
            judged: Vec::new(),
        };
        let Self { data, args, question, stop, .. } = self;
        let evidence = Evidence::Survey(record);
        let advice = judged_first(args, data, question, evidence, &mut around, stop)?;
        record.leaks.append(&mut around.judged);
        if matches!(advice.outcome, Outcome::None(_)) {
            // What seemed cheapest was refused: the next in line, by the same bounds.
            let evidence = Evidence::Survey(record);
            let next = judge::advise::contenders(data, question, evidence, Wished::Asked);
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

/// The unit's, and two more for the line through them, in whole blocks.
fn sizes(size: usize) -> Vec<usize> {
    let blocks = |n: usize| (n / 16).max(1) * 16;
    let all = BTreeSet::from([blocks(size / 16), size, blocks(size * 4).min(MAX_SIZE)]);
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_sizes_make_a_line_and_are_whole_blocks_beside_the_units_own() {
        assert_eq!(sizes(8192), [512, 8192, 32768]);
        assert_eq!(sizes(100), [16, 100, 400]);
        assert_eq!(sizes(MAX_SIZE), [MAX_SIZE / 16, MAX_SIZE]);
    }
}
