//! What a comparison comes to: verdicts counted, verdicts of pairs of processes in their place, and the
//! conditions that make it fail (`--fail-if`).
//!
//! What the shared cases say together.

use crate::compare::comparison::Comparison;
use crate::compare::{Change, Compared, InstructionRow, Matching, OnlyIn};
use base::analysis::{Ratio, Verdict, geometric_mean};
use record::LibraryId;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use strum::VariantArray as _;

/// How many cases have which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Within the tolerance.
    pub same: usize,
    /// Of these, cases whose samples are the same ones.
    pub identical: usize,
    /// Faster.
    pub faster: usize,
    /// Slower.
    pub slower: usize,
    /// None of these can be said.
    pub undecided: usize,
}

impl Tally {
    pub(crate) fn of<'a>(cases: impl IntoIterator<Item = &'a Compared>) -> Self {
        let mut tally = Self::default();
        for case in cases {
            tally.identical += usize::from(case.identical);
            *match case.verdict {
                Verdict::Same => &mut tally.same,
                Verdict::Faster => &mut tally.faster,
                Verdict::Slower => &mut tally.slower,
                Verdict::Undecided => &mut tally.undecided,
            } += 1;
        }
        tally
    }

    /// All cases.
    #[must_use]
    pub fn cases(&self) -> usize {
        self.same + self.faster + self.slower + self.undecided
    }
}

/// Shared cases, summed up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The two libraries, where several pairs are compared.
    pub libraries: Option<(LibraryId, LibraryId)>,
    /// The family of algorithms; none for all.
    pub family: Option<String>,
    /// Verdicts.
    #[serde(flatten)]
    pub tally: Tally,
    /// Geometric mean of the cases' ratios, the new cost over the base's.
    pub ratio: Option<Ratio>,
}

/// Families, then all of them. Libraries that were matched by name are two runs' or two versions'
/// of the same set: they have a mean together and one each. One library against others has a mean
/// with each of them only.
pub(crate) fn summaries(cases: &[Compared], matching: Matching) -> (Vec<Summary>, Vec<Summary>) {
    let mut pairs: Vec<_> = cases.iter().map(Compared::libraries).collect();
    pairs.sort();
    pairs.dedup();
    let several = pairs.len() > 1;
    let of_pair = |pair| cases.iter().filter(move |c| c.libraries() == pair).collect::<Vec<_>>();
    let (mut families, mut overall) = (Vec::new(), Vec::new());
    if !cases.is_empty() && (!several || matching == Matching::ByName) {
        families = by_family(None, &cases.iter().collect::<Vec<_>>());
        overall.push(summary(None, None, cases.iter().collect()));
    }
    for pair in pairs.into_iter().filter(|_| several) {
        let libraries = Some((pair.0.clone(), pair.1.clone()));
        if matching == Matching::Every {
            families.extend(by_family(libraries.clone(), &of_pair(pair)));
        }
        overall.push(summary(libraries, None, of_pair(pair)));
    }
    (families, overall)
}

fn by_family(libraries: Option<(LibraryId, LibraryId)>, cases: &[&Compared]) -> Vec<Summary> {
    let names: BTreeSet<&String> = cases.iter().map(|c| &c.family).collect();
    let of_family = |name: &String| cases.iter().filter(|c| c.family == *name).copied().collect();
    names.into_iter().map(|n| summary(libraries.clone(), Some(n.clone()), of_family(n))).collect()
}

fn summary(
    libraries: Option<(LibraryId, LibraryId)>,
    family: Option<String>,
    cases: Vec<&Compared>,
) -> Summary {
    // What the harness itself costs is no library's merit.
    let counts = |c: &&&Compared| c.case.algorithm != "null";
    let ratios = cases.iter().filter(counts).filter_map(|c| c.ratio);
    let ratios: Vec<Ratio> = ratios.collect();
    Summary { libraries, family, tally: Tally::of(cases), ratio: geometric_mean(&ratios) }
}

// Verdicts of pairs of processes in the place of verdicts from a record's samples.

/// What pairs of processes said of a case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByPairs {
    /// Their verdict; `undecided` leaves the case's own as it was.
    pub verdict: Verdict,
    /// The new cost over the base's by pairs; its interval is of the last look.
    pub ratio: Option<Ratio>,
    /// Pairs of processes.
    pub pairs: usize,
    /// Seconds that it took.
    pub seconds: f64,
    /// The verdict from the records' samples.
    pub verdict_before: Verdict,
    /// The ratio from the records' samples.
    pub ratio_before: Option<Ratio>,
}

impl ByPairs {
    /// Whether pairs decided the case.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.verdict != Verdict::Undecided
    }
}

/// What came of settling a comparison's candidates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Confirmation {
    /// Cases that were called faster or slower, or undecided with an estimate beyond the tolerance.
    pub candidates: usize,
    /// Of these, decided by pairs.
    pub settled: usize,
    /// Compared by pairs and undecided still.
    pub undecided: usize,
    /// Not compared by pairs, whatever the reason.
    pub left: usize,
    /// Why cases were left, each reason once, with how many cases.
    pub reasons: Vec<(String, usize)>,
    /// Seconds that were allowed.
    pub budget_seconds: f64,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Confirmation {
    /// Counts a case that is left.
    pub fn leave(&mut self, reason: &str) {
        self.left += 1;
        match self.reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => self.reasons.push((reason.to_owned(), 1)),
        }
    }
}

impl Comparison {
    /// Cases that pairs are worth it for, the one that matters most first: what would fail a gate before
    /// what would not, a large difference before a small one.
    #[must_use]
    pub fn candidates(&self) -> Vec<usize> {
        let mut found: Vec<(bool, bool, f64, usize)> = Vec::new();
        for (index, case) in self.cases.iter().enumerate().filter(|(_, c)| !c.identical) {
            let Some(ratio) = case.ratio else { continue };
            let size = ratio.estimate.ln();
            let decided = matches!(case.verdict, Verdict::Faster | Verdict::Slower);
            let suspicious =
                case.verdict == Verdict::Undecided && size.abs() > self.tolerance.ln_1p();
            if decided || suspicious {
                found.push((size < 0.0, !decided, -size.abs(), index));
            }
        }
        found.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        found.into_iter().map(|(.., index)| index).collect()
    }

    /// Puts what pairs said of a case beside its verdict, and in its place where they decided.
    pub fn settle(&mut self, index: usize, verdict: Verdict, told: Told) {
        let Some(case) = self.cases.get_mut(index) else { return };
        let by_pairs = ByPairs {
            verdict,
            ratio: told.ratio,
            pairs: told.pairs,
            seconds: told.seconds,
            verdict_before: case.verdict,
            ratio_before: case.ratio,
        };
        if by_pairs.is_settled() {
            case.verdict = verdict;
            case.ratio = told.ratio.or(case.ratio);
        }
        case.by_pairs = Some(by_pairs);
    }

    /// Sums up anew after cases were settled.
    pub fn sum_up(&mut self, matching: Matching, confirmation: Confirmation) {
        self.tally = Tally::of(&self.cases);
        (self.families, self.overall) = summaries(&self.cases, matching);
        self.confirmation = Some(confirmation);
    }
}

/// What a comparison by pairs measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The new cost over the base's.
    pub ratio: Option<Ratio>,
    /// Pairs of processes.
    pub pairs: usize,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Compared {
    /// Whether its verdict is that of pairs.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.by_pairs.as_ref().is_some_and(ByPairs::is_settled)
    }
}

/// What a comparison is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Sought {
    /// A case that is surely slower, and by more than a fraction by its estimate.
    Slower,
    /// A geometric mean over all shared cases that is surely slower, and by more than a fraction.
    Mean,
    /// Instructions for each byte, for each message or of an operation of a measured size that grew by
    /// more than a fraction.
    Instructions,
    /// Instructions of an operation of a measured size.
    InstructionsPerOperation,
    /// Instructions for each byte.
    InstructionsPerByte,
    /// Instructions for each message.
    InstructionsPerMessage,
    /// A place that depends on the secret now, and did not in the base.
    Leaks,
    /// A case that was measured in the base and is refused or failed now.
    Refused,
    /// A case that was measured in the base and is not there now.
    Missing,
    /// A case that can be called neither the same nor faster nor slower.
    Undecided,
    /// Nothing fails.
    Never,
}

impl Sought {
    /// Whether it takes a fraction.
    fn has_least(self) -> bool {
        self.is_of_instructions() || matches!(self, Self::Slower | Self::Mean)
    }

    /// Whether it is found in counted instructions.
    #[must_use]
    pub fn is_of_instructions(self) -> bool {
        matches!(
            self,
            Self::Instructions
                | Self::InstructionsPerOperation
                | Self::InstructionsPerByte
                | Self::InstructionsPerMessage
        )
    }
}

/// A condition under which a comparison has found something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// What is sought.
    pub sought: Sought,
    /// The fraction that it must exceed.
    least: f64,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, percent) = match text.split_once(':') {
            Some((name, percent)) => (name, Some(percent)),
            None => (text, None),
        };
        let sought: Sought = name.parse().map_err(|_| none_of(text))?;
        match percent {
            Some(_) if !sought.has_least() => Err(format!("'{name}' takes no percentage")),
            Some(percent) => Ok(Self { sought, least: fraction(text, percent)? }),
            None => Ok(Self { sought, least: 0.0 }),
        }
    }
}

fn none_of(text: &str) -> String {
    let name = |sought: &Sought| {
        let percent = if sought.has_least() { "[:PERCENT]" } else { "" };
        format!("{}{percent}", <&str>::from(sought))
    };
    let names: Vec<String> = Sought::VARIANTS.iter().map(name).collect();
    format!("'{text}' is none of: {}", names.join(", "))
}

/// `2%`, or 0.02; nothing is a percentage as well here.
fn fraction(whole: &str, text: &str) -> Result<f64, String> {
    let found = base::text::flags::fraction(text).filter(|f| (0.0..=10.0).contains(f));
    found.ok_or_else(|| {
        format!("'{whole}': write the percentage as in slower:2% or instructions:0.5%")
    })
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sought.into())?;
        if self.least > 0.0 {
            // Percentages are typed with few digits; a fraction's own last ones are noise.
            write!(f, ":{}%", (self.least * 1e8).round() / 1e6)?;
        }
        Ok(())
    }
}

/// A condition that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// As it is typed.
    pub condition: String,
    /// What was found, in words.
    pub what: String,
}

impl Condition {
    /// What it finds in a comparison.
    #[must_use]
    pub fn find(&self, comparison: &Comparison) -> Option<Found> {
        let rows = &comparison.instructions;
        let grew = |what: &str, growth: fn(&InstructionRow) -> Option<f64>| {
            let growths = rows.iter().filter_map(growth).filter(|g| *g > self.least);
            let growths: Vec<f64> = growths.collect();
            let most = growths.iter().copied().fold(0.0, f64::max) * 100.0;
            let count = counted(growths.len(), &format!("{what} grew in"))?;
            Some(format!("{count}, by up to {most:.2} %"))
        };
        let what = match self.sought {
            Sought::Slower => counted(slower(comparison, self.least), "slower:"),
            Sought::Mean => mean(comparison, self.least),
            Sought::Instructions => grew("instructions", |row| Some(row.largest_growth())),
            Sought::InstructionsPerOperation => {
                grew("instructions of an operation", InstructionRow::per_operation_growth)
            }
            Sought::InstructionsPerByte => grew("instructions per byte", |row| row.per_byte_growth),
            Sought::InstructionsPerMessage => {
                grew("instructions per message", |row| row.per_message_growth)
            }
            Sought::Leaks => leaks(comparison),
            Sought::Refused => {
                let broken = comparison.states.iter().filter(|s| s.change == Change::Broken);
                counted(broken.count(), "measured before and refused or failed now:")
            }
            Sought::Missing => {
                let gone = comparison.only.iter().filter(|o| o.only_in == OnlyIn::Base);
                counted(gone.count(), "measured before and not there now:")
            }
            Sought::Undecided => counted(comparison.tally.undecided, "undecided:"),
            Sought::Never => None,
        }?;
        Some(Found { condition: self.to_string(), what })
    }
}

fn counted(count: usize, what: &str) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{what} {count} case{plural}"))
}

fn slower(comparison: &Comparison, least: f64) -> usize {
    let beyond = |estimate: f64| estimate > 1.0 + least;
    let cases = comparison.cases.iter().filter(|c| c.verdict == Verdict::Slower);
    cases.filter(|c| c.ratio.is_some_and(|r| beyond(r.estimate))).count()
}

fn leaks(comparison: &Comparison) -> Option<String> {
    let worse = comparison.leaks.iter().filter(|row| row.is_worse());
    let names: Vec<&str> = worse.map(|row| row.algorithm.as_str()).collect();
    let more =
        if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
    names.first().map(|name| format!("newly depends on the secret: {name}{more}"))
}

fn mean(comparison: &Comparison, least: f64) -> Option<String> {
    let ratios = comparison.overall.iter().filter_map(|summary| summary.ratio);
    let worst = ratios
        .filter(|r| r.low > 1.0 && r.estimate > 1.0 + least)
        .max_by(|a, b| a.estimate.total_cmp(&b.estimate))?;
    Some(format!("the geometric mean takes {:.2} % longer", (worst.estimate - 1.0) * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::sample::{case, record};
    use crate::compare::{Settings, Side, compare};
    use record::Record;

    /// As many processes as it takes to be sure of one case among several.
    type Costs = [f64; 14];
    const STEADY: Costs = [
        1000.0, 1001.0, 1002.0, 999.0, 998.0, 1000.5, 1001.5, 999.5, 998.5, 1000.2, 1001.2, 999.2,
        1000.7, 999.7,
    ];
    const WIDE: Costs = [
        500.0, 2000.0, 800.0, 1700.0, 400.0, 2500.0, 600.0, 1900.0, 900.0, 1600.0, 450.0, 2400.0,
        1000.0, 1100.0,
    ];

    fn side(record: &Record) -> Side<'_> {
        Side { record, name: record.started.clone(), rows: record.measurements.iter().collect() }
    }

    /// Each algorithm with the factor by which it changed, and how its processes scatter.
    fn compared(cases: &[(&str, f64, Costs)]) -> Comparison {
        let of = |costs: &Costs, factor: f64| costs.map(|c| c * factor).to_vec();
        let base = cases.iter().map(|(a, _, costs)| case(a, 16, &of(costs, 1.0))).collect();
        let new = cases.iter().map(|(a, factor, costs)| case(a, 16, &of(costs, *factor))).collect();
        let (base, new) = (record("a", base), record("b", new));
        let settings = Settings {
            tolerance: 0.005,
            matching: Matching::ByName,
            apart: crate::compare::Apart::Nothing,
        };
        compare(&side(&base), &side(&new), &settings)
    }

    fn names(c: &Comparison) -> Vec<&str> {
        c.candidates().into_iter().map(|i| &*c.cases[i].case.algorithm).collect()
    }

    #[test]
    fn candidates_are_what_could_be_wrong_with_what_would_fail_a_gate_first() {
        let c = compared(&[
            ("aes-128-cbc", 1.1, STEADY),
            ("aes-128-ccm", 0.7, STEADY),
            ("aes-128-cfb", 1.3, STEADY),
            ("aes-128-ctr", 1.0001, STEADY),
            ("aes-128-gcm", 1.2, WIDE),
            ("aes-128-ofb", 1.001, WIDE),
            ("aes-128-xts", 0.8, WIDE),
        ]);
        let order = ["aes-128-cfb", "aes-128-cbc", "aes-128-gcm", "aes-128-ccm", "aes-128-xts"];
        assert_eq!(names(&c), order);
        let same = compared(&[("aes-128-cbc", 1.0, STEADY)]);
        assert!(same.cases[0].identical && same.candidates().is_empty());
    }

    #[test]
    fn a_settled_case_has_the_verdict_of_pairs_and_an_undecided_one_keeps_its_own() {
        let mut c = compared(&[("aes-128-cbc", 1.1, STEADY), ("aes-128-gcm", 1.2, STEADY)]);
        let before = c.cases[0].ratio;
        let by_pairs = Ratio { estimate: 1.0, low: 0.999, high: 1.001, level: 0.9995 };
        let told = Told { ratio: Some(by_pairs), pairs: 12, seconds: 1.0 };
        c.settle(0, Verdict::Same, told);
        c.settle(1, Verdict::Undecided, told);
        c.settle(7, Verdict::Faster, told);
        c.sum_up(Matching::ByName, Confirmation::default());
        let settled = &c.cases[0];
        assert!(settled.is_confirmed() && !c.cases[1].is_confirmed());
        assert_eq!((settled.verdict, settled.ratio), (Verdict::Same, Some(by_pairs)));
        let kept = settled.by_pairs.as_ref().unwrap();
        assert_eq!((kept.verdict_before, kept.ratio_before), (Verdict::Slower, before));
        assert_eq!(c.cases[1].verdict, Verdict::Slower);
        assert!((c.cases[1].ratio.unwrap().estimate - 1.2).abs() < 1e-9);
        assert_eq!((c.tally.same, c.tally.slower), (1, 1));
        assert_eq!((c.overall[0].tally.same, c.overall[0].tally.slower), (1, 1));
        let slower = "slower".parse::<super::Condition>().unwrap().find(&c).unwrap();
        assert_eq!(slower.what, "slower: 1 case");
    }

    #[test]
    fn reasons_for_cases_that_are_left_are_counted_each_once() {
        let mut confirmation = Confirmation::default();
        ["gone", "late", "gone"].iter().for_each(|reason| confirmation.leave(reason));
        assert_eq!(confirmation.left, 3);
        assert_eq!(confirmation.reasons, [("gone".to_owned(), 2), ("late".to_owned(), 1)]);
    }

    #[test]
    fn conditions_are_read_as_they_are_written() {
        for text in ["slower", "slower:2%", "instructions:0.5%", "mean:1%", "refused", "never"] {
            assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
        }
        assert_eq!("slower:0.02".parse::<Condition>(), "slower:2%".parse());
        assert_eq!("instructions:0%".parse::<Condition>(), "instructions".parse());
    }

    #[test]
    fn what_is_no_condition_is_told_what_there_is() {
        let error = |text: &str| text.parse::<Condition>().unwrap_err();
        assert!(error("slow").contains("'slow' is none of: slower[:PERCENT], mean"));
        assert!(error("slower:x").contains("'slower:x': write the percentage as in slower:2%"));
        assert!(error("slower:-1%").contains("slower:-1%"));
        assert_eq!(error("refused:2%"), "'refused' takes no percentage");
    }
}
