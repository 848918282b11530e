//! Measurements sorted into what a ranked table shows: sections, rows, cells.

use crate::labels::{self, Libraries};
use base::model::{Algorithm, Direction, Footprint, Kind, Model, Tier};
use base::text::clean;
use judge::compare::REFERENCE_SIZE;
use record::{Fit, LibraryId, Measurement, Record, State, Stopped};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a ranked table shows of a selection.
pub(crate) struct Survey<'a> {
    /// Sizes in bytes, ascending: the columns.
    pub(crate) sizes: Vec<usize>,
    /// The size at which rows are ranked.
    pub(crate) reference: usize,
    /// In the order in which they are shown.
    pub(crate) sections: Vec<Section<'a>>,
    /// What the harness itself costs, by model.
    pub(crate) null: BTreeMap<Model, &'a Measurement>,
    /// Names of the libraries.
    pub(crate) libraries: Libraries<'a>,
}

/// What the rows of a section have in common, in the order in which sections are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Common {
    tier: Tier,
    threads: u32,
    footprint: Footprint,
    in_place: bool,
    // What an application does comes first.
    order: u8,
    pub(crate) model: Model,
    group: Group,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Encrypt,
    Decrypt,
    Digests,
    Baselines,
}

/// Rows that can be compared with each other, the fastest first.
pub(crate) struct Section<'a> {
    pub(crate) common: Common,
    pub(crate) rows: Vec<Row<'a>>,
}

/// One algorithm in one library.
pub(crate) struct Row<'a> {
    /// The line through its times, where there is one.
    pub(crate) fit: Option<&'a Fit>,
    /// Name of the algorithm.
    pub(crate) algorithm: String,
    /// Name of the library.
    pub(crate) library: String,
    /// The sign of what depends on secrets, behind the library's name.
    pub(crate) secret: &'static str,
    /// What must stand beside the algorithm.
    pub(crate) warning: Option<String>,
    /// Measurements by size.
    pub(crate) cells: BTreeMap<usize, &'a Measurement>,
}

/// What stands where the time was over before there was a number.
pub(crate) const LEFT_OUT: &str = "…";

/// A reason for which cells of a row have no number.
pub(crate) struct Problem {
    pub(crate) state: State,
    /// Sizes; empty when it is all of the row.
    pub(crate) sizes: Vec<usize>,
    pub(crate) reason: String,
}

impl<'a> Survey<'a> {
    pub(crate) fn of(record: &'a Record, selection: &[&'a Measurement]) -> Self {
        let libraries = Libraries::of(selection);
        let shown: Vec<&Measurement> = selection.iter().copied().filter(|m| !is_null(m)).collect();
        let mut sizes: Vec<usize> = shown.iter().map(|m| m.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let largest = sizes.last().copied().unwrap_or_default();
        let reference = if sizes.contains(&REFERENCE_SIZE) { REFERENCE_SIZE } else { largest };
        let sections = sections(&shown, reference, &libraries, record);
        Self { sizes, reference, sections, null: null_costs(selection), libraries }
    }
}

/// A measured null operation is no row: it moves no bytes, so it has no speed.
fn is_null(m: &Measurement) -> bool {
    let null = Algorithm::find(&m.algorithm).is_ok_and(|a| a.kind == Kind::Null);
    null && matches!(m.state, State::Measured | State::Unsupported)
}

/// The smallest size's: the cost does not depend on it.
fn null_costs<'a>(selection: &[&'a Measurement]) -> BTreeMap<Model, &'a Measurement> {
    let mut costs: BTreeMap<Model, &Measurement> = BTreeMap::new();
    for m in selection.iter().filter(|m| is_null(m) && m.state == State::Measured) {
        let kept = costs.entry(m.model).or_insert(m);
        if (m.tier, m.size) < (kept.tier, kept.size) {
            *kept = m;
        }
    }
    costs
}

fn sections<'a>(
    shown: &[&'a Measurement],
    reference: usize,
    libraries: &Libraries<'a>,
    record: &'a Record,
) -> Vec<Section<'a>> {
    type Rows<'a> = BTreeMap<(&'a LibraryId, &'a str, Direction), BTreeMap<usize, &'a Measurement>>;
    let mut found: BTreeMap<Common, Rows<'_>> = BTreeMap::new();
    for m in shown.iter().copied() {
        let row = (&m.library, m.algorithm.as_str(), m.direction);
        let rows = found.entry(Common::of(m)).or_default();
        rows.entry(row).or_default().insert(m.size, m);
    }
    let sections = found.into_iter().map(|(common, rows)| {
        let rows = rows.into_values().filter(|cells| !all_unsupported(cells));
        // Above the tables it is said how many there was no time for.
        let rows = rows.filter(|cells| !cells.values().all(|m| m.is_left_out()));
        let mut rows: Vec<Row<'_>> =
            rows.filter_map(|cells| Row::of(cells, libraries, record)).collect();
        rows.sort_by(|a, b| a.rank(b, reference));
        Section { common, rows }
    });
    sections.filter(|s| !s.rows.is_empty()).collect()
}

/// Such rows are summed up below the tables.
pub(crate) fn all_unsupported(cells: &BTreeMap<usize, &Measurement>) -> bool {
    cells.values().all(|m| m.state == State::Unsupported)
}

impl Common {
    pub(crate) fn of(m: &Measurement) -> Self {
        Self {
            tier: m.tier,
            threads: m.threads,
            footprint: m.footprint,
            in_place: m.in_place,
            order: match m.model {
                Model::Message => 0,
                Model::Rekey => 1,
                Model::Forgery => 2,
                Model::Stream => 3,
                Model::Handshake | Model::Records | Model::Primitive | Model::Page => 4,
            },
            model: m.model,
            group: match m.direction {
                Direction::Encrypt => Group::Encrypt,
                Direction::Decrypt => Group::Decrypt,
                Direction::Digest => Group::Digests,
                Direction::Copy => Group::Baselines,
                // Tables of their own show these: `tls::render`.
                Direction::Server | Direction::Send | Direction::Whole => Group::Encrypt,
                Direction::Client | Direction::Receive | Direction::Call => Group::Decrypt,
            },
        }
    }
}

impl Section<'_> {
    /// `encrypt, model message, tier native`.
    pub(crate) fn title(&self) -> String {
        let common = &self.common;
        let what = match common.group {
            Group::Encrypt => "encrypt",
            Group::Decrypt => "decrypt",
            Group::Digests => "digests, checksums and MACs",
            Group::Baselines => "baselines",
        };
        format!("{what}, {}", common.words())
    }
}

impl Common {
    /// `model message, tier native`, and what is not as usual.
    pub(crate) fn words(&self) -> String {
        let mut words = format!("model {}, tier {}", self.model, self.tier);
        if !self.footprint.is_hot() {
            words += &format!(", footprint {}", self.footprint);
        }
        if self.in_place {
            words += ", in place";
        }
        if self.threads > 1 {
            words += &format!(", {} threads", self.threads);
        }
        words
    }
}

impl<'a> Row<'a> {
    fn of(
        cells: BTreeMap<usize, &'a Measurement>,
        libraries: &Libraries<'a>,
        record: &'a Record,
    ) -> Option<Self> {
        let any = *cells.values().next()?;
        Some(Self {
            fit: record.fits.iter().find(|fit| crate::costs::is_of(fit, any)),
            algorithm: clean(&any.algorithm),
            library: libraries.label(&any.library).to_owned(),
            secret: crate::secrets::mark(record.leaks_of(any).map(|l| l.verdict)),
            warning: labels::warning(any),
            cells,
        })
    }

    /// The library's name in so many columns, with the sign of what depends on secrets.
    pub(crate) fn library(&self, columns: usize) -> String {
        base::text::clip(&self.library, columns.saturating_sub(base::text::width(self.secret)))
            + self.secret
    }

    /// The measured case at a size.
    pub(crate) fn measured(&self, size: usize) -> Option<&'a Measurement> {
        self.cells.get(&size).copied().filter(|m| m.state == State::Measured)
    }

    pub(crate) fn has_number(&self) -> bool {
        self.cells.values().any(|m| m.state.has_number())
    }

    /// Faster first. Rows without the reference size follow, by their largest size; then those
    /// with imported figures only, which nothing vouches for; then those without a number.
    fn rank(&self, other: &Self, reference: usize) -> Ordering {
        let speed = |row: &Self| {
            let at_reference = row.measured(reference);
            let largest = || row.cells.keys().rev().find_map(|size| row.measured(*size));
            let speed = at_reference.or_else(largest).and_then(|m| m.mb_per_s);
            (at_reference.is_some(), speed.unwrap_or(f64::NEG_INFINITY))
        };
        let ((at, speed), (other_at, other_speed)) = (speed(self), speed(other));
        let names = (&self.algorithm, &self.library).cmp(&(&other.algorithm, &other.library));
        let without_number = self.has_number().cmp(&other.has_number()).reverse();
        other_at.cmp(&at).then(other_speed.total_cmp(&speed)).then(without_number).then(names)
    }

    /// Why cells have no number, each reason once.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let bad = |m: &&Measurement| is_bad(m) || is_doubted(m);
        let mut sizes: BTreeMap<(State, String), Vec<usize>> = BTreeMap::new();
        for m in self.cells.values().copied().filter(bad) {
            let reason = clean(m.reason.as_deref().unwrap_or("no reason given"));
            sizes.entry((m.state, reason)).or_default().push(m.size);
        }
        let whole = sizes.len() == 1 && !self.has_number();
        let problem = |((state, reason), sizes)| Problem {
            state,
            reason,
            sizes: if whole { Vec::new() } else { sizes },
        };
        sizes.into_iter().map(problem).collect()
    }
}

impl Problem {
    /// `REFUSED at 16, 8K: round trip: byte 3 differs`.
    pub(crate) fn text(&self) -> String {
        let sizes: BTreeSet<usize> = self.sizes.iter().copied().collect();
        let sizes: Vec<String> = sizes.into_iter().map(labels::size).collect();
        let at = if sizes.is_empty() { String::new() } else { format!(" at {}", sizes.join(", ")) };
        let what = match self.state {
            State::Imported => "NOT TO BE BELIEVED".to_owned(),
            state => shout(state),
        };
        format!("{what}{at}: {}", self.reason)
    }
}

/// Whether a check, or the library, failed: what there was no time for is no fault of anything.
pub(crate) fn is_bad(m: &Measurement) -> bool {
    matches!(m.state, State::Refused | State::Failed) && !m.is_left_out()
}

/// The state so that nobody overlooks it.
pub(crate) fn shout(state: State) -> String {
    state.name().to_uppercase()
}

/// Whether the case is short of the asked precision.
pub(crate) fn is_rough(m: &Measurement) -> bool {
    m.state == State::Measured && (m.stopped != Some(Stopped::Precision) || m.reason.is_some())
}

/// Whether a figure from elsewhere is not to be believed.
pub(crate) fn is_doubted(m: &Measurement) -> bool {
    m.state == State::Imported && m.reason.is_some()
}

/// The sign before a figure from elsewhere that is not to be believed.
pub(crate) const DOUBTED: &str = "†?";

/// The sign before a speed: `†` where it comes from elsewhere and nothing was checked, `†?` where it is not to be
/// believed either; `>` where only a busy core was seen, so that the library is at least so fast, else `~` where the
/// asked precision was not reached.
#[must_use]
pub fn mark(m: &Measurement) -> &'static str {
    match (m.state, m.contended, is_rough(m)) {
        (State::Imported, _, _) if is_doubted(m) => DOUBTED,
        (State::Imported, _, _) => "†",
        (_, true, _) => ">",
        (_, false, true) => "~",
        (_, false, false) => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn order(edit: impl Fn(&mut Vec<Measurement>)) -> Vec<String> {
        let record = sample::record();
        let mut measurements = record.measurements.clone();
        edit(&mut measurements);
        let selection: Vec<&Measurement> = measurements.iter().collect();
        let survey = Survey::of(&record, &selection);
        let rows = survey.sections[0].rows.iter();
        rows.map(|row| format!("{} {}", row.algorithm, row.library)).collect()
    }

    #[test]
    fn rows_are_ranked_at_the_reference_size_and_those_without_a_number_come_last() {
        let order = order(|_| ());
        assert_eq!(order.first().unwrap(), "aes-256-xts openssl@3.0.22");
        assert_eq!(order.last().unwrap(), "aes-256-xts libgcrypt@1.10.1");
    }

    #[test]
    fn imported_figures_stand_behind_everything_that_was_measured_however_fast_they_claim_to_be() {
        let order = order(|all| {
            for m in all.iter_mut().filter(|m| m.algorithm == "aes-128-ctr") {
                m.state = State::Imported;
                m.mb_per_s = m.mb_per_s.map(|speed| speed * 1e6);
            }
        });
        let place = |name: &str| order.iter().position(|row| row == name).unwrap();
        assert!(place("aes-128-ccm openssl@3.0.22") < place("aes-128-ctr libgcrypt@1.10.1"));
        let without = place("aes-256-xts libgcrypt@1.10.1");
        assert!(place("aes-128-ctr openssl@3.0.22") < without, "{order:?}");
    }

    #[test]
    fn a_row_without_the_reference_size_ranks_behind_those_that_have_it() {
        let order = order(|all| {
            all.retain(|m| !(m.algorithm == "aes-128-gcm" && m.size == REFERENCE_SIZE));
        });
        let place = |name: &str| order.iter().position(|row| row == name).unwrap();
        let without = place("aes-128-gcm openssl@3.0.22");
        assert!(place("aes-128-ccm openssl@3.0.22") < without, "{order:?}");
        assert!(without < place("aes-256-xts libgcrypt@1.10.1"), "{order:?}");
    }

    #[test]
    fn without_the_reference_size_the_largest_takes_its_place() {
        let record = sample::record();
        let mut measurements = record.measurements.clone();
        measurements.retain(|m| m.size < REFERENCE_SIZE);
        let selection: Vec<&Measurement> = measurements.iter().collect();
        let survey = Survey::of(&record, &selection);
        assert_eq!(Some(&survey.reference), survey.sizes.last());
    }
}
