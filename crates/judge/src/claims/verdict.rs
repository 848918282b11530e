//! Verdicts: what the measurements say of each claim.

use crate::claims::claim::{Claim, Figure, Source};
use crate::claims::evidence::{Evidence, label};
use crate::claims::expression::Value;
use crate::claims::fact::{Fact, evaluate};
use record::LibraryId;

/// What is to be said of a claim on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that it says is so, in every library that it is judged for.
    Holds,
    /// Nothing of it is so.
    DoesNotHold,
    /// Some of it, in some libraries; or the intervals overlap.
    Depends,
    /// Nothing that was measured decides it.
    NotTestable,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Depends => "depends",
            Self::NotTestable => "not testable here",
        }
    }
}

/// What became of one part in one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is so.
    Holds,
    /// It is not so.
    Fails,
    /// The intervals overlap.
    Undecided,
    /// There is no measurement, and why.
    Missing(String),
}

/// One part in one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseOutcome {
    /// Label of the library; empty where the condition names its libraries.
    pub library: String,
    /// Index of the part.
    pub part: usize,
    /// What became of it.
    pub outcome: Outcome,
}

/// A figure here, in one library.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Label of the library; empty where the expression names its own.
    pub library: String,
    /// The value, or what is missing.
    pub value: Result<Value, String>,
}

/// A claim with what the measurements say of it.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// Where it was published.
    pub source: &'a Source,
    /// The claim.
    pub claim: &'a Claim,
    /// The verdict.
    pub verdict: Verdict,
    /// What decides it: each part in each library.
    pub cases: Vec<CaseOutcome>,
    /// Published figures, each with the same here.
    pub figures: Vec<(&'a Figure, Vec<Answer>)>,
}

const OUTCOMES: [(Outcome, &str); 3] = [
    (Outcome::Holds, "holds"),
    (Outcome::Fails, "does not hold"),
    (Outcome::Undecided, "undecided"),
];

impl Judged<'_> {
    /// The verdict in a sentence: which parts hold where, what it depends on, why it is not testable.
    #[must_use]
    pub fn why(&self) -> String {
        let reason = match self.verdict {
            Verdict::NotTestable => self.reason_missing(),
            Verdict::Depends => {
                let on = self.claim.depends_on.as_ref();
                let on = on.map(|on| format!("on {on}: ")).unwrap_or_default();
                on + &self.sides().join("; ")
            }
            _ if self.claim.each.is_some() => format!("in {}", self.decided_libraries().join(", ")),
            _ => String::new(),
        };
        let mut sentences: Vec<String> =
            Some(reason).filter(|r| !r.is_empty()).into_iter().collect();
        if self.verdict != Verdict::NotTestable {
            sentences.extend(self.left_open());
        }
        sentences.join("; ")
    }

    fn reason_missing(&self) -> String {
        let missing = self.cases.iter().find_map(|c| match &c.outcome {
            Outcome::Missing(why) => Some(why.clone()),
            _ => None,
        });
        missing.unwrap_or_else(|| match &self.claim.each {
            Some(glob) => format!("no library '{}' was measured", glob.text()),
            None => "nothing was measured".to_owned(),
        })
    }

    fn decided_libraries(&self) -> Vec<String> {
        let mut libraries: Vec<String> = Vec::new();
        for case in &self.cases {
            let missing = matches!(case.outcome, Outcome::Missing(_));
            if !missing && !libraries.contains(&case.library) {
                libraries.push(case.library.clone());
            }
        }
        libraries
    }

    /// For each part: `what it says: holds in a, b, does not hold in c`.
    fn sides(&self) -> Vec<String> {
        let parts = self.claim.parts.iter().enumerate();
        let sides = parts.filter_map(|(part, of)| {
            let outcomes: Vec<String> = OUTCOMES
                .iter()
                .filter_map(|(outcome, words)| {
                    self.places(part, outcome).map(|p| format!("{words}{p}"))
                })
                .collect();
            let said = outcomes.join(", ");
            match (outcomes.is_empty(), self.claim.parts.len()) {
                (true, _) => None,
                (false, 1) => Some(said),
                (false, _) => Some(format!("{}: {said}", of.says)),
            }
        });
        sides.collect()
    }

    /// Where a part has an outcome: ` in a, b`, nothing where no library is named; `None` where it
    /// has it nowhere.
    fn places(&self, part: usize, outcome: &Outcome) -> Option<String> {
        let cases = self.cases.iter().filter(|c| c.part == part && c.outcome == *outcome);
        let libraries: Vec<&str> = cases.map(|c| c.library.as_str()).collect();
        let named: Vec<&str> = libraries.iter().copied().filter(|l| !l.is_empty()).collect();
        match (libraries.is_empty(), named.is_empty()) {
            (true, _) => None,
            (false, true) => Some(String::new()),
            (false, false) => Some(format!(" in {}", named.join(", "))),
        }
    }

    /// Parts that nothing decides, beside those that something does.
    fn left_open(&self) -> Vec<String> {
        // The last reason, where no library decides the part.
        let open = |part: usize| {
            let of_it = self.cases.iter().filter(|c| c.part == part);
            let missing = of_it.map(|case| match &case.outcome {
                Outcome::Missing(why) => Some(why),
                _ => None,
            });
            missing.collect::<Option<Vec<_>>>()?.pop()
        };
        let parts = self.claim.parts.iter().enumerate();
        let said = parts.filter_map(|(i, part)| {
            let why = open(i)?;
            Some(format!("not testable here: {}: {why}", part.says))
        });
        said.collect()
    }
}

/// Judges a claim by what was measured.
#[must_use]
pub fn judge<'a>(source: &'a Source, claim: &'a Claim, evidence: &Evidence<'_>) -> Judged<'a> {
    let libraries: Vec<Option<&LibraryId>> = match &claim.each {
        None => vec![None],
        Some(glob) => evidence.libraries(glob).into_iter().map(Some).collect(),
    };
    let mut cases = Vec::new();
    for (part, of) in claim.parts.iter().enumerate() {
        cases.extend(libraries.iter().map(|library| {
            let outcome = match evaluate(&of.holds, evidence, *library) {
                Ok(Value::Truth(Some(true))) => Outcome::Holds,
                Ok(Value::Truth(Some(false))) => Outcome::Fails,
                Ok(_) => Outcome::Undecided,
                Err(missing) => Outcome::Missing(missing.to_string()),
            };
            CaseOutcome { library: library.map(label).unwrap_or_default(), part, outcome }
        }));
    }
    let figures = claim.figures.iter().map(|f| (f, answers(f, &libraries, evidence))).collect();
    Judged { source, claim, verdict: verdict(&cases), cases, figures }
}

/// One for each library, or one where the expression names all of its libraries itself.
fn answers(
    figure: &Figure,
    libraries: &[Option<&LibraryId>],
    evidence: &Evidence<'_>,
) -> Vec<Answer> {
    let of_its_own = figure.here.facts().into_iter().all(Fact::names_libraries);
    let libraries = if of_its_own { &[None] } else { libraries };
    let answer = |library: &Option<&LibraryId>| Answer {
        library: library.map(label).unwrap_or_default(),
        value: evaluate(&figure.here, evidence, *library).map_err(|missing| missing.to_string()),
    };
    libraries.iter().map(answer).collect()
}

fn verdict(cases: &[CaseOutcome]) -> Verdict {
    let any = |outcome: &Outcome| cases.iter().any(|c| c.outcome == *outcome);
    match (any(&Outcome::Holds), any(&Outcome::Fails), any(&Outcome::Undecided)) {
        (true, false, false) => Verdict::Holds,
        (false, true, false) => Verdict::DoesNotHold,
        (false, false, false) => Verdict::NotTestable,
        _ => Verdict::Depends,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::sample;
    use base::model::Model;

    fn judged(claim: &str) -> (Verdict, String) {
        let source = sample::source(Model::Message, claim).unwrap();
        let records = [sample::record()];
        let judged = judge(&source, &source.claims[0], &Evidence::of(&records));
        (judged.verdict, judged.why())
    }

    #[test]
    fn verdicts_follow_from_parts_and_libraries_and_say_why() {
        use Verdict::{Depends, DoesNotHold, Holds, NotTestable};
        for (claim, verdict, why) in [
            (
                "each = 'openssl'\nparts = [{ holds = 'speed(aes-128-ctr, 8192) > 1 GB/s' }]",
                Holds,
                "in openssl@3.0.22, openssl@4.0.1",
            ),
            (
                "each = 'openssl'\nparts = [{ holds = 'speed(aes-128-ctr, 8192) < 1 GB/s' }]",
                DoesNotHold,
                "in openssl@3.0.22, openssl@4.0.1",
            ),
            (
                "each = 'openssl'\ndepends_on = 'the version'\n\
                 parts = [{ holds = 'speed(aes-128-gcm, 8192) > speed(aes-128-ctr, 8192)' }]",
                Depends,
                "on the version: holds in openssl@4.0.1, does not hold in openssl@3.0.22",
            ),
            (
                "parts = [{ says = 'one is less than two', holds = '1 < 2' }, \
                 { says = 'two is less than one', holds = '2 < 1' }]",
                Depends,
                "one is less than two: holds; two is less than one: does not hold",
            ),
            // The intervals overlap.
            (
                "each = 'openssl@3.0.22'\n\
                 parts = [{ holds = 'speed(aes-128-ctr, 8192) < speed(aes-128-ecb, 8192)' }]",
                Depends,
                "undecided in openssl@3.0.22",
            ),
            (
                "each = 'botan'\nparts = [{ holds = 'speed(a, 1) > 1 MB/s' }]",
                NotTestable,
                "no library 'botan' was measured",
            ),
            (
                "parts = [{ says = 'p', holds = '1 < 2' }, { says = 'q', holds = '1 / (1 - 1) > 2' }]",
                Holds,
                "not testable here: q: a ratio to what may be zero",
            ),
            // 4.0.1 has no such measurement.
            (
                "each = 'openssl'\nparts = [{ holds = 'speed(aes-128-ecb, 8192) > 1 GB/s' }]",
                Holds,
                "in openssl@3.0.22",
            ),
        ] {
            assert_eq!(judged(claim), (verdict, why.to_owned()), "{claim}");
        }
    }

    #[test]
    fn figures_are_answered_for_each_library_or_once() {
        let claim = "each = 'openssl'\nparts = [{ holds = '1 < 2' }]\n\
            figures = [{ of = 'p', published = '1 MB/s', here = 'speed(aes-128-gcm, 8192)' }, \
            { of = 'q', here = 'fastest(aes-*, 8192)' }]";
        let source = sample::source(Model::Message, claim).unwrap();
        let records = [sample::record()];
        let judged = judge(&source, &source.claims[0], &Evidence::of(&records));
        let counts: Vec<usize> = judged.figures.iter().map(|(_, answers)| answers.len()).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!(judged.figures[0].1[1].library, "openssl@4.0.1");
    }
}
