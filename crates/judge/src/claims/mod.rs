//! The published claims (`claims/*.toml`, `claims/tables/*.csv`): what they say, what has to be measured to
//! judge them, and the verdict of records on them. `claims/README.md` describes them and the language of
//! conditions. Pure: records in, text out.

pub mod expression;
mod facts;
mod report;

use base::model::{Algorithm, Footprint, Model, NameGlob, Tier};
use expression::{Expression, Kind, Missing, Value};
use facts::label;
pub use facts::{Asked, Cases, Evidence, Fact, Handshakes, evaluate, parse};
use record::import::{Row, Table};
use record::{LibraryId, PlannedCase};
pub use report::{
    Column, Format, Group, Line, PrintedTable, printed_table, published, render_claims,
    render_table,
};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeSet;

// The claims as data.

/// Where claims were published.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Short name, as `--source` takes it.
    pub id: String,
    pub author: String,
    pub title: String,
    /// Year or day.
    pub published: Option<String>,
    pub url: String,
    pub machine: String,
    /// The model of terms that name none.
    pub model: Model,
    #[serde(skip)]
    pub claims: Vec<Claim>,
}

/// One claim; `E` is a text while it is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim<E = Expression<Fact>> {
    /// Name, beginning with the source's.
    pub id: String,
    pub says: String,
    /// For which libraries it is judged, each by itself; `None` where its terms name them.
    #[serde(default, deserialize_with = "glob")]
    pub each: Option<NameGlob>,
    #[serde(default = "Vec::new")]
    pub figures: Vec<Figure<E>>,
    pub parts: Vec<Part<E>>,
    /// What the answer depends on, where it does.
    pub depends_on: Option<String>,
    /// What went wrong with figures that are impossible.
    pub went_wrong: Option<String>,
    /// The checks of ciphermark that refuse such figures.
    #[serde(default)]
    pub refused_by: Vec<String>,
    /// What a reader should know beside the verdict.
    pub note: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure<E = Expression<Fact>> {
    pub of: String,
    pub published: Option<String>,
    pub here: E,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part<E = Expression<Fact>> {
    /// What it says; empty where the claim is of this part alone.
    #[serde(default)]
    pub says: String,
    pub holds: E,
}

const BUILT_IN: [&str; 4] = [
    include_str!("../../../../claims/highgo.toml"),
    include_str!("../../../../claims/transactional.toml"),
    include_str!("../../../../claims/asecuritysite.toml"),
    include_str!("../../../../claims/tls.toml"),
];

pub fn built_in() -> Vec<Source> {
    let read = |text: &&str| parse_source(text).expect("the built-in claims are tested");
    BUILT_IN.iter().map(read).collect()
}

/// Reads one source with its claims from TOML.
pub fn parse_source(text: &str) -> Result<Source, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        source: Source,
        #[serde(default)]
        claim: Vec<Claim<String>>,
    }
    let read = base::text::from_toml(text).map_err(|e| e.to_string());
    let File { mut source, claim } = read?;
    let typed = |claim: Claim<String>| {
        let id = claim.id.clone();
        claim.typed(source.model).map_err(|e| format!("claim '{id}': {e}"))
    };
    source.claims = claim.into_iter().map(typed).collect::<Result<_, _>>()?;
    Ok(source)
}

fn glob<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NameGlob>, D::Error> {
    let text = String::deserialize(deserializer)?;
    NameGlob::parse(&text).map(Some).map_err(serde::de::Error::custom)
}

impl Claim<String> {
    fn typed(self, model: Model) -> Result<Claim, String> {
        let figure = |Figure { of, published, here }: Figure<String>| {
            Ok(Figure { of, published, here: facts::parse(&here, model)? })
        };
        let part = |Part { says, holds }: Part<String>| {
            let holds = facts::parse(&holds, model)?;
            match holds.kind(&Fact::kind)? {
                Kind::Truth => Ok(Part { says, holds }),
                kind => Err(format!("`holds` is {kind}, no condition")),
            }
        };
        Ok(Claim {
            figures: self.figures.into_iter().map(figure).collect::<Result<_, String>>()?,
            parts: self.parts.into_iter().map(part).collect::<Result<_, String>>()?,
            id: self.id,
            says: self.says,
            each: self.each,
            depends_on: self.depends_on,
            went_wrong: self.went_wrong,
            refused_by: self.refused_by,
            note: self.note,
        })
    }
}

impl Claim {
    /// Everything that its conditions and figures ask.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &Fact> {
        let conditions = self.parts.iter().map(|part| &part.holds);
        conditions.chain(self.figures.iter().map(|f| &f.here)).flat_map(Expression::facts)
    }
}

// Verdicts: what the measurements say of each claim.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that it says is so, in every library that it is judged for.
    Holds,
    DoesNotHold,
    /// Some of it, in some libraries; or the intervals overlap.
    Depends,
    /// Nothing that was measured decides it, and more time would.
    NoTime,
    /// Nothing that can be measured here decides it.
    NotTestable,
}

impl Verdict {
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does not hold",
            Self::Depends => "depends",
            Self::NoTime => "no time",
            Self::NotTestable => "not testable here",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Holds,
    Fails,
    Undecided,
    /// There is no measurement for want of time: of what.
    NoTime(String),
    /// There is no measurement, and why.
    Missing(String),
}

impl Outcome {
    fn is_decided(&self) -> bool {
        !matches!(self, Self::NoTime(_) | Self::Missing(_))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseOutcome {
    /// Label of the library; empty where the condition names its libraries.
    pub library: String,
    pub part: usize,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Label of the library; empty where the expression names its own.
    pub library: String,
    pub value: Result<Value, String>,
}

#[derive(Clone, Debug)]
pub struct Judged<'a> {
    pub source: &'a Source,
    pub claim: &'a Claim,
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
    pub fn why(&self) -> String {
        let reason = match self.verdict {
            Verdict::NotTestable | Verdict::NoTime => self.reason_missing(),
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
        if !matches!(self.verdict, Verdict::NotTestable | Verdict::NoTime) {
            sentences.extend(self.left_open());
            let open = self.libraries_without_time();
            if !open.is_empty() {
                sentences.push(format!("no time in {}", open.join(", ")));
            }
        }
        sentences.join("; ")
    }

    fn reason_missing(&self) -> String {
        let missing = self.cases.iter().find_map(|c| match (&c.outcome, self.verdict) {
            (Outcome::NoTime(why), Verdict::NoTime) => Some(why.clone()),
            (Outcome::Missing(why), Verdict::NotTestable) => Some(why.clone()),
            _ => None,
        });
        missing.unwrap_or_else(|| match &self.claim.each {
            Some(glob) => format!("no library '{}' was measured", glob.text()),
            None => "nothing was measured".to_owned(),
        })
    }

    fn decided_libraries(&self) -> Vec<&str> {
        let open = self.libraries_without_time();
        let decided = self.distinct_libraries(Outcome::is_decided);
        decided.into_iter().filter(|library| !open.contains(library)).collect()
    }

    fn libraries_without_time(&self) -> Vec<&str> {
        self.distinct_libraries(|outcome| matches!(outcome, Outcome::NoTime(_)))
    }

    /// Those with such an outcome, each once.
    fn distinct_libraries(&self, has: impl Fn(&Outcome) -> bool) -> Vec<&str> {
        let mut libraries = Vec::new();
        for case in self.cases.iter().filter(|case| has(&case.outcome)) {
            if !libraries.contains(&&*case.library) {
                libraries.push(&*case.library);
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
                Outcome::Missing(why) | Outcome::NoTime(why) => Some(why),
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
                Err(missing @ Missing::Time(_)) => Outcome::NoTime(missing.to_string()),
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

/// Of the libraries of which everything was measured that can be: a part that there was no time for may turn it.
fn verdict(cases: &[CaseOutcome]) -> Verdict {
    let is_open = |c: &CaseOutcome| matches!(c.outcome, Outcome::NoTime(_));
    let open: BTreeSet<&String> = cases.iter().filter(|c| is_open(c)).map(|c| &c.library).collect();
    let any = |outcome: &Outcome| {
        cases.iter().any(|c| c.outcome == *outcome && !open.contains(&c.library))
    };
    // A part that no library can be tested for leaves the others a part.
    let is_missing = |c: &CaseOutcome| matches!(c.outcome, Outcome::Missing(_));
    let tested = |c: &CaseOutcome| cases.iter().any(|o| o.part == c.part && !is_missing(o));
    let is_whole = cases.iter().all(tested);
    match (any(&Outcome::Holds), any(&Outcome::Fails), any(&Outcome::Undecided)) {
        (false, false, false) if !open.is_empty() => Verdict::NoTime,
        (true, false, false) if is_whole => Verdict::Holds,
        (false, true, false) if is_whole => Verdict::DoesNotHold,
        (false, false, false) => Verdict::NotTestable,
        _ => Verdict::Depends,
    }
}

// What has to be measured to judge claims: read off their expressions.

/// A survey: its cases, each of its own tier and libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Need {
    pub cases: BTreeSet<PlannedCase>,
    /// Whether what they execute is counted.
    pub instructions: bool,
}

impl Need {
    fn add(&mut self, asked: &Asked, cases: &Cases, each: Option<&str>) {
        let Cases { algorithm, size, direction, model, tier, library } = cases;
        let named = library.as_ref().map(NameGlob::text);
        let libraries = match (named, each) {
            (Some(glob), _) => Some(glob.to_owned()),
            // Of all libraries.
            (None, _) if *asked == Asked::Fastest => None,
            (None, Some(glob)) => Some(glob.to_owned()),
            (None, None) => return,
        };
        for a in Algorithm::all().iter().filter(|a| algorithm.matches(a.name)) {
            let case = PlannedCase {
                algorithm: a.name.to_owned(),
                direction: direction.unwrap_or(Row::usual_direction(a.name)),
                model: *model,
                size: *size,
                footprint: Footprint::Hot,
                tier: Some(*tier),
                libraries: libraries.clone(),
            };
            self.insert(case, matches!(asked, Asked::Instructions | Asked::Executed(_)));
        }
    }

    fn insert(&mut self, case: PlannedCase, counts: bool) {
        // That nothing that the tier excludes ran is proved by what was executed.
        self.instructions |= counts || case.tier != Some(Tier::Native);
        self.cases.insert(case);
    }
}

/// The size at which tables are printed whose source does not say one: a page of `PostgreSQL`.
pub(crate) const SIZE: usize = 8192;

pub fn need_of_claims(claims: &[&Claim]) -> Need {
    let mut need = Need::default();
    for claim in claims {
        let each = claim.each.as_ref().map(NameGlob::text);
        for fact in claim.facts() {
            if let Fact::Cases(asked, cases) = fact {
                need.add(asked, cases, each);
            }
        }
    }
    need
}

/// Handshakes to be measured in the stacks of some libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandshakeNeed {
    pub libraries: BTreeSet<String>,
    pub cases: BTreeSet<record::tls::Case>,
}

pub fn handshakes_of_claims(claims: &[&Claim]) -> HandshakeNeed {
    let mut need = HandshakeNeed::default();
    for claim in claims {
        let Some(each) = &claim.each else { continue };
        for fact in claim.facts() {
            if let Fact::Handshake(case) = fact {
                need.libraries.insert(each.text().to_owned());
                need.cases.insert(*case);
            }
        }
    }
    need
}

/// What a published table needs to stand beside this machine's figures.
pub fn need_of_table(table: &Table) -> Need {
    let mut need = Need::default();
    for row in &table.rows {
        // Only figures of ciphers and digests that ciphermark has can stand beside others.
        for a in Algorithm::all().iter().filter(|a| a.name == row.algorithm) {
            let case = PlannedCase {
                algorithm: a.name.to_owned(),
                direction: row.direction,
                model: row.model,
                size: row.size.unwrap_or(SIZE),
                footprint: Footprint::Hot,
                tier: Some(row.tier),
                libraries: Some(library_glob(row)),
            };
            need.insert(case, row.instructions_per_byte.is_some());
        }
    }
    need
}

/// A library and its other builds: `wolfssl`, `wolfssl-noasm`.
pub(crate) fn library_glob(row: &Row) -> String {
    format!("{{{0},{0}@*,{0}-no*}}", row.library)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use base::model::{Algorithm, Direction, Model};

    #[test]
    fn every_built_in_claim_has_a_name_of_its_own_and_something_to_decide_it() {
        let sources = built_in();
        let names: Vec<&str> = sources.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(names, ["highgo", "transactional", "asecuritysite", "tls"]);
        let claims: Vec<&Claim> = sources.iter().flat_map(|s| &s.claims).collect();
        let mut ids: Vec<&str> = claims.iter().map(|c| c.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), claims.len());
        for claim in claims {
            assert!(!claim.parts.is_empty() && !claim.says.is_empty(), "{}", claim.id);
            assert!(claim.parts.len() == 1 || claim.parts.iter().all(|p| !p.says.is_empty()));
        }
    }

    #[test]
    fn the_claims_of_tls_name_handshakes() {
        let sources = built_in();
        let all: Vec<&Claim> = sources.iter().flat_map(|s| &s.claims).collect();
        let need = super::handshakes_of_claims(&all);
        assert_eq!(need.libraries.into_iter().collect::<Vec<_>>(), ["openssl"]);
        assert!(need.cases.len() >= 8, "{:?}", need.cases);
    }

    #[test]
    fn every_algorithm_that_a_claim_names_exists() {
        for claim in built_in().iter().flat_map(|source| &source.claims) {
            for fact in claim.facts() {
                let Fact::Cases(_, cases) = fact else { continue };
                let known = Algorithm::all().iter().any(|a| cases.algorithm.matches(a.name));
                assert!(known, "{}: {}", claim.id, cases.algorithm.text());
            }
        }
    }

    #[test]
    fn a_broken_claim_is_named() {
        for (claim, expected) in [
            (
                "parts = [{ holds = 'speed(a, 1) > 1' }]",
                "claim 'a-x': MB/s and a plain number cannot be compared",
            ),
            ("parts = [{ holds = '1' }]", "claim 'a-x': `holds` is a plain number, no condition"),
            ("parts = [{}]", "line 11: missing field `holds`"),
            ("parts = 3", "line 11: invalid type"),
        ] {
            let why = crate::sample::source_of_claim(Model::Stream, claim).unwrap_err().to_string();
            assert!(why.starts_with(expected), "{claim}: {why}");
        }
    }

    fn judged(claim: &str) -> (Verdict, String) {
        let source = sample::source_of_claim(Model::Message, claim).unwrap();
        let records = [sample::record_for_claims()];
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
                Depends,
                "p: holds; not testable here: q: a ratio to what may be zero",
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
        let source = sample::source_of_claim(Model::Message, claim).unwrap();
        let records = [sample::record_for_claims()];
        let judged = judge(&source, &source.claims[0], &Evidence::of(&records));
        let counts: Vec<usize> = judged.figures.iter().map(|(_, answers)| answers.len()).collect();
        assert_eq!(counts, [2, 1]);
        assert_eq!(judged.figures[0].1[1].library, "openssl@4.0.1");
    }

    #[test]
    fn a_claim_needs_what_its_expressions_name_and_nothing_else() {
        let claim = "each = 'openssl'\n\
             figures = [{ of = 'z', here = 'fastest(sha{256,384}, 64, message)' }]\n\
             parts = [{ holds = 'speed(aes-128-ctr, 16, decrypt) / speed(aes-128-ctr, 16, noaes) > 1' }]";
        let source = crate::sample::source_of_claim(Model::Stream, claim).unwrap();
        let need = need_of_claims(&[&source.claims[0]]);
        assert!(need.instructions, "a tier is proved by counts");
        let case = |algorithm: &str, size, model| PlannedCase {
            algorithm: algorithm.to_owned(),
            direction: Direction::Encrypt,
            model,
            size,
            footprint: Footprint::Hot,
            tier: Some(Tier::Native),
            libraries: None,
        };
        let ctr = PlannedCase {
            libraries: Some("openssl".to_owned()),
            ..case("aes-128-ctr", 16, Model::Stream)
        };
        let noaes = PlannedCase { tier: Some(Tier::Noaes), ..ctr.clone() };
        let digest =
            |name| PlannedCase { direction: Direction::Digest, ..case(name, 64, Model::Message) };
        let decrypt = PlannedCase { direction: Direction::Decrypt, ..ctr };
        let all = BTreeSet::from([noaes, digest("sha256"), digest("sha384"), decrypt]);
        assert_eq!(need.cases, all);
    }

    /// Of 4.0.1 GCM had no time.
    #[test]
    fn what_there_was_no_time_for_is_no_answer() {
        let mut record = sample::record_for_claims();
        let is_it = |m: &&mut record::Measurement| {
            m.library.version == "4.0.1" && m.algorithm == "aes-128-gcm"
        };
        let m = record.measurements.iter_mut().find(is_it).unwrap();
        (m.state, m.stopped) = (record::State::Failed, Some(record::Stopped::Budget));
        (m.ns_per_op, m.mb_per_s) = (None, None);
        let of = |claim: &str| {
            let source = sample::source_of_claim(Model::Message, claim).unwrap();
            let judged =
                judge(&source, &source.claims[0], &Evidence::of(std::slice::from_ref(&record)));
            (judged.verdict, judged.why())
        };
        let no_time = "no time for aes-128-gcm encrypt of 8192 B, model message, tier native, in openssl@4.0.1";
        for holds in ["measured(aes-128-gcm, 8192)", "fastest(aes-128-gcm, 8192) > 1 MB/s"] {
            let claim = format!("each = 'openssl@4.0.1'\nparts = [{{ holds = '{holds}' }}]");
            assert_eq!(of(&claim), (Verdict::NoTime, no_time.to_owned()), "{holds}");
        }
        let claim = "each = 'openssl'\nparts = [{ says = 'a', holds = 'speed(aes-128-ctr, 8192) > 1 MB/s' }, \
            { says = 'b', holds = 'speed(aes-128-gcm, 8192) > 1 MB/s' }]";
        let said = "in openssl@3.0.22; no time in openssl@4.0.1".to_owned();
        assert_eq!(of(claim), (Verdict::Holds, said), "the half of a claim is no answer");
    }

    #[test]
    fn a_table_needs_its_rows_also_in_other_builds_of_a_library() {
        let text = "# source: s\nlibrary,algorithm,size,mb_per_s,tier\nwolfssl,aes-256-ctr,,1,noaes\n\
            wolfssl,rot13,,1,noaes\n";
        let need = need_of_table(&record::import::parse_table(text).unwrap());
        let case = need.cases.first().unwrap();
        assert_eq!((need.cases.len(), &*case.algorithm, case.size), (1, "aes-256-ctr", SIZE));
        let glob = NameGlob::parse(case.libraries.as_deref().unwrap()).unwrap();
        assert!(glob.matches("wolfssl") && glob.matches("wolfssl-noasm"));
        assert!(!glob.matches("wolfsslx"));
    }
}
