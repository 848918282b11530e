//! What joining a cipher and a check costs beside the two: a second call, a tag that is stored or
//! compared. Sums of parts that were measured apart leave it out, so that a scheme without a figure of
//! its own would win against one whose figure has it all.

use super::{Interval, Price, composed};
use crate::advise::cost::parts::Parts;
use crate::advise::schemes::Scheme;
use base::model::{Algorithm, Kind};
use record::LibraryId;

/// What was seen of one scheme that a library has both whole and in parts.
struct Seen {
    library: LibraryId,
    cipher: &'static str,
    check: Kind,
    write: Interval,
    read: Interval,
}

/// The differences between wholes and the sums of their parts, in a record.
pub(super) struct Joins {
    seen: Vec<Seen>,
}

impl Joins {
    pub fn of(schemes: &[Scheme], parts: &Parts<'_>) -> Self {
        Self { seen: schemes.iter().flat_map(|s| differences(s, parts)).collect() }
    }

    /// The sum with what joins it: as this library joins this cipher, else any cipher, else as the
    /// libraries of the record do, to a check of the same kind. Where the record has no whole, as it is, with much doubt.
    pub fn joined(&self, mut sum: Price, cipher: &Algorithm, check: &Algorithm) -> Price {
        let Some(library) = sum.libraries.first() else { return sum };
        let same_check = |s: &&Seen| s.check == check.kind;
        let own = |s: &&Seen| same_check(s) && s.library == *library;
        let closest: [Vec<&Seen>; 3] = [
            self.seen.iter().filter(|s| own(s) && s.cipher == cipher.name).collect(),
            self.seen.iter().filter(own).collect(),
            self.seen.iter().filter(same_check).collect(),
        ];
        let Some(seen) = closest.iter().find(|all| !all.is_empty()) else {
            sum.write_ns.high *= MOST_TIMES;
            sum.read_ns.high *= MOST_TIMES;
            return sum;
        };
        let (write, read) = (middle(seen, |s| s.write), middle(seen, |s| s.read));
        sum.join_ns = Some(f64::midpoint(write.median, read.median));
        sum.write_ns = sum.write_ns.with(write, |a, b| a + b);
        sum.read_ns = sum.read_ns.with(read, |a, b| a + b);
        // At this size: whether it grows with the size is not known.
        sum.line = sum.line.zip(sum.join_ns).map(|((a, b), join)| (a + join, b));
        sum
    }
}

/// A scheme's whole less its parts, in each library that has all three.
fn differences(scheme: &Scheme, parts: &Parts<'_>) -> Vec<Seen> {
    let ([cipher, check], Some(whole)) = (&scheme.composed[..], scheme.measured.first()) else {
        return Vec::new();
    };
    let sums = composed(&parts.priced(cipher), &parts.priced(check), check);
    let difference = |whole: Price| {
        let own = sums.iter().filter(|s| s.libraries.first() == whole.libraries.first());
        let sum = own.min_by(|a, b| a.cost(0.5).median.total_cmp(&b.cost(0.5).median))?;
        Some(Seen {
            library: whole.libraries.first()?.clone(),
            cipher: cipher.name,
            check: check.kind,
            write: whole.write_ns.independent(sum.write_ns, |whole, sum| whole - sum),
            read: whole.read_ns.independent(sum.read_ns, |whole, sum| whole - sum),
        })
    };
    parts.priced(whole).into_iter().filter_map(difference).collect()
}

/// How many times the sum of its parts a whole takes at the most, where none was seen: policy.
const MOST_TIMES: f64 = 2.0;

/// The median one, with all that were seen as its doubt. Below nothing is noise: no call is cheaper for coming with
/// another.
fn middle(seen: &[&Seen], of: fn(&Seen) -> Interval) -> Interval {
    let mut all: Vec<Interval> = seen.iter().map(|s| of(s)).collect();
    all.sort_by(|a, b| a.median.total_cmp(&b.median));
    let low = all.iter().map(|s| s.low).fold(f64::INFINITY, f64::min);
    let high = all.iter().map(|s| s.high).fold(0.0, f64::max);
    let median = all[all.len() / 2].median;
    Interval { median: median.max(0.0), low: low.max(0.0), high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::cost::Costs;
    use crate::advise::data::Data;
    use crate::advise::evidence::Evidence;
    use crate::advise::question::Question;
    use base::model::{Model, Tier};
    use jiff::civil::date;
    use record::{Record, State};

    /// The published record, without raw samples and other sizes than a page's; in core cycles, because
    /// its machine's core clock differs from case to case.
    fn record() -> Record {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/at-rest-2026-11-23-gnr.json.gz");
        let mut record = record::load(path.as_ref()).unwrap();
        record.measurements.retain(|m| m.size == 8192 && m.state == State::Measured);
        for m in &mut record.measurements {
            m.raw = record::Samples::default();
            m.ns_per_op = m.cycles_per_op;
        }
        record
    }

    fn joined(data: &Data, record: &Record, tier: Tier, id: &str, library: &LibraryId) -> Price {
        let mut question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 23));
        question.tier = tier;
        let costs = Costs::of(data, &question, Evidence::Survey(record), &[]);
        let scheme = data.schemes.iter().find(|s| s.id == id).unwrap();
        let of_library = |p: &&Price| p.libraries[0] == *library;
        let all = costs.prices(scheme).unwrap().iter().filter(of_library);
        all.min_by(|a, b| a.cost(0.5).median.total_cmp(&b.cost(0.5).median)).unwrap().clone()
    }

    /// Each whole is left out of the record in turn and told from the rest.
    #[test]
    fn a_sum_with_what_joins_it_is_nearer_to_the_whole_than_the_sum_alone() {
        let (data, record) = (Data::built_in(), record());
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for tier in [Tier::Native, Tier::Aesni, Tier::Noaes] {
            for scheme in data.schemes.iter().filter(|s| !s.composed.is_empty()) {
                let Some(whole) = scheme.measured.first() else { continue };
                let parts = Parts::of(&record, &[], (8192, tier, Model::Message));
                for price in parts.priced(whole) {
                    let library = &price.libraries[0];
                    let mut less = record.clone();
                    less.measurements
                        .retain(|m| m.library != *library || !m.algorithm.starts_with(whole.name));
                    let told = joined(&data, &less, tier, &scheme.id, library);
                    let truth = price.cost(0.5).median;
                    let error = |ns: f64| (ns - truth).abs() / truth;
                    let sum = told.cost(0.5).median;
                    with.push(error(sum));
                    without.push(error(sum - told.join_ns.unwrap()));
                }
            }
        }
        let median = |mut all: Vec<f64>| {
            all.sort_by(f64::total_cmp);
            (all[all.len() / 2], all[all.len() * 9 / 10], all.len())
        };
        let (with, without) = (median(with), median(without));
        assert!(with.2 > 50 && with.0 < 0.01 && with.0 < without.0 / 2.0, "{with:?} {without:?}");
    }

    #[test]
    fn a_record_without_wholes_gives_sums_as_they_are() {
        let (data, mut record) = (Data::built_in(), record());
        record.measurements.retain(|m| !m.algorithm.contains('+'));
        let library = record.measurements.iter().find(|m| m.algorithm == "aes-256-xts").unwrap();
        let library = library.library.clone();
        let sum = joined(&data, &record, Tier::Native, "aes-256-xts+crc32c", &library);
        assert_eq!((sum.join_ns, sum.libraries.len()), (None, 2));
    }
}
