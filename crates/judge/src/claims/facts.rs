//! What conditions of claims ask, and records of surveys and of TLS handshakes as something that is asked;
//! several surveys of one machine as one record.

use crate::claims::expression::{Argument, Expression, Kind, Missing, Term, Unit, Value};
use base::analysis::Estimate;
use base::model::{
    Algorithm, Direction, Footprint, MAX_SIZE, Model, NameGlob, Tier, version_numbers,
};
use record::import::Row;
use record::tls::{Case, Filter, Row as Handshake, Run, Temperature};
use record::{Call, LibraryId, Measurement, Record, State};
use std::collections::BTreeSet;
use strum::VariantNames as _;

#[derive(Clone, Debug)]
pub enum Fact {
    Cases(Asked, Box<Cases>),
    /// What a TLS handshake costs the server.
    Handshake(Case),
}

#[derive(Clone, Debug, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Asked {
    /// `speed`: MB/s.
    Speed,
    /// `fastest`: the most MB/s of all algorithms and libraries that match.
    Fastest,
    /// `cycles`: core cycles per byte.
    Cycles,
    /// `instructions`: instructions that each further byte costs.
    Instructions,
    /// `executed`: those of one class.
    Executed(String),
    /// `limit`: MB/s that this core permits.
    Limit,
    /// `measured`: whether there is a verified measurement.
    Measured,
    /// `copies`: whether the library's own interface copies every message.
    Copies,
    /// `allocates`: whether it allocates memory for every message.
    Allocates,
}

#[derive(Clone, Debug)]
pub struct Cases {
    pub algorithm: NameGlob,
    pub size: usize,
    /// `None`: encrypt, or what the algorithm has instead.
    pub direction: Option<Direction>,
    pub model: Model,
    /// Which CPU instructions the library may see.
    pub tier: Tier,
    /// `None`: the library that the claim is judged for.
    pub library: Option<NameGlob>,
}

/// Reads an expression over measurements. Terms that do not name a model have this one.
pub fn parse(text: &str, model: Model) -> Result<Expression<Fact>, String> {
    let expression = Expression::parse(text, &|term| fact(term, model))?;
    expression.kind(&Fact::kind)?;
    Ok(expression)
}

/// Evaluates an expression over measurements; facts that name no library are of `library`.
pub fn evaluate(
    expression: &Expression<Fact>,
    evidence: &Evidence<'_>,
    library: Option<&LibraryId>,
) -> Result<Value, Missing> {
    expression.evaluate(&|fact| fact.value(evidence, library))
}

impl Fact {
    pub fn kind(&self) -> Kind {
        match self {
            Self::Cases(Asked::Speed | Asked::Fastest | Asked::Limit, _) => {
                Kind::Number(Unit::MbPerSecond)
            }
            Self::Cases(Asked::Cycles, _) => Kind::Number(Unit::CyclesPerByte),
            Self::Cases(Asked::Instructions | Asked::Executed(_), _) => {
                Kind::Number(Unit::InstructionsPerByte)
            }
            Self::Cases(Asked::Measured | Asked::Copies | Asked::Allocates, _) => Kind::Truth,
            Self::Handshake(_) => Kind::Number(Unit::Microseconds),
        }
    }

    /// Whether it is of a library that it names itself, or of all.
    pub(crate) fn names_libraries(&self) -> bool {
        match self {
            Self::Cases(asked, cases) => cases.library.is_some() || *asked == Asked::Fastest,
            Self::Handshake(_) => false,
        }
    }

    fn value(
        &self,
        evidence: &Evidence<'_>,
        library: Option<&LibraryId>,
    ) -> Result<Value, Missing> {
        let unnamed = |what: String| Missing::Impossible(format!("no library is named for {what}"));
        let (asked, cases) = match self {
            Self::Handshake(case) => {
                let library = library.ok_or_else(|| unnamed(case.to_string()))?;
                let cost = evidence.handshake(case, library)?;
                return Ok(Value::Number(cost, Unit::Microseconds));
            }
            Self::Cases(asked, cases) => (asked, cases),
        };
        let number = |interval| match self.kind() {
            Kind::Number(unit) => Value::Number(interval, unit),
            _ => unreachable!("only numbers are made by it"),
        };
        if *asked == Asked::Fastest {
            return evidence.fastest(cases).map(number);
        }
        let library = match &cases.library {
            None => library.ok_or_else(|| unnamed(asked_for(cases)))?,
            Some(glob) => newest(evidence, glob)?,
        };
        let truth = |truth| Ok(Value::Truth(Some(truth)));
        match asked {
            Asked::Measured => truth(evidence.is_measured(cases, library)?),
            Asked::Copies => truth(evidence.call(cases, library)?.copies),
            Asked::Allocates => truth(evidence.call(cases, library)?.allocates),
            _ => evidence.number(asked, cases, library).map(number),
        }
    }
}

fn newest<'a>(evidence: &Evidence<'a>, glob: &NameGlob) -> Result<&'a LibraryId, Missing> {
    let found = evidence.libraries(glob).into_iter().max_by_key(|l| version_numbers(&l.version));
    found.ok_or_else(|| Missing::Impossible(format!("no library '{}' was measured", glob.text())))
}

/// `speed(aes-128-ctr, 8192, decrypt, noaes, message, in = openssl@3.*)`
fn fact(term: Term, model: Model) -> Result<Fact, String> {
    if term.name == "handshake" {
        return handshake(term);
    }
    let asked: Asked = term.name.parse().map_err(|_| {
        let (name, known) = (&term.name, Asked::VARIANTS.join(", "));
        format!("unknown function '{name}'; there are {known}, handshake, max, min")
    })?;
    let mut arguments = Arguments::of(term);
    let asked = match asked {
        Asked::Executed(_) => Asked::Executed(arguments.next("the class of the instructions")?),
        asked => asked,
    };
    let mut cases = Cases {
        algorithm: glob(&arguments.next("an algorithm")?)?,
        size: size(&arguments.next("a size in bytes")?)?,
        direction: None,
        model,
        tier: Tier::Native,
        library: None,
    };
    arguments.rest.try_for_each(|argument| option(&argument, &mut cases))?;
    Ok(Fact::Cases(asked, Box::new(cases)))
}

/// `handshake(1.2, x25519, rsa-2048, full)`
fn handshake(term: Term) -> Result<Fact, String> {
    let wrong = |e: record::tls::UnknownName| e.to_string();
    let mut arguments = Arguments::of(term);
    let case = Case {
        version: Filter::version(&arguments.next("a version")?).map_err(wrong)?,
        exchange: Filter::exchange(&arguments.next("a key exchange")?).map_err(wrong)?,
        certificate: Filter::certificate(&arguments.next("a certificate")?).map_err(wrong)?,
        kind: Filter::kind(&arguments.next("a kind of handshake")?).map_err(wrong)?,
        client_auth: false,
        suite: record::tls::Suite::Aes128Gcm,
    };
    match arguments.rest.next() {
        Some(more) => Err(format!("'{}' after a whole handshake", more.text)),
        None if case.exists() => Ok(Fact::Handshake(case)),
        None => Err(format!("TLS has no handshake '{case}'")),
    }
}

struct Arguments {
    function: String,
    rest: std::vec::IntoIter<Argument>,
}

impl Arguments {
    fn of(term: Term) -> Self {
        Self { function: term.name, rest: term.arguments.unwrap_or_default().into_iter() }
    }

    fn next(&mut self, what: &str) -> Result<String, String> {
        match self.rest.next() {
            Some(Argument { key: None, text }) => Ok(text),
            _ => Err(format!("'{}' lacks {what}", self.function)),
        }
    }
}

fn glob(text: &str) -> Result<NameGlob, String> {
    NameGlob::parse(text).map_err(|e| e.to_string())
}

fn size(text: &str) -> Result<usize, String> {
    let size = text.parse().ok().filter(|size| (1..=MAX_SIZE).contains(size));
    size.ok_or_else(|| format!("'{text}' where a size in bytes must stand"))
}

fn option(argument: &Argument, cases: &mut Cases) -> Result<(), String> {
    let word = argument.text.as_str();
    match argument.key.as_deref() {
        Some("in") => cases.library = Some(glob(word)?),
        Some(key) => return Err(format!("'{key}' is not 'in'")),
        None => {
            let directions = [Direction::Encrypt, Direction::Decrypt];
            if let Some(direction) = directions.iter().find(|d| d.name() == word) {
                cases.direction = Some(*direction);
            } else if let Some(model) = Model::ALL.iter().find(|m| m.name() == word) {
                cases.model = *model;
            } else if let Some(tier) = Tier::ALL.iter().find(|t| t.name() == word) {
                cases.tier = *tier;
            } else {
                return Err(format!(
                    "'{word}' is no direction, model or tier, and not 'in = LIBRARY'"
                ));
            }
        }
    }
    Ok(())
}

/// What one or several records measured, on one machine.
pub struct Evidence<'a> {
    records: &'a [Record],
    handshakes: Option<&'a Handshakes>,
}

/// `openssl@3.0.22`.
pub(crate) fn label(library: &LibraryId) -> String {
    if library.version.is_empty() { library.name.clone() } else { library.label() }
}

fn is(glob: &NameGlob, library: &LibraryId) -> bool {
    glob.matches(&library.name) || glob.matches(&label(library))
}

impl<'a> Evidence<'a> {
    pub fn of(records: &'a [Record]) -> Self {
        Self { records, handshakes: None }
    }

    /// And of runs of TLS handshakes of the same machine.
    pub fn with(self, handshakes: &'a Handshakes) -> Self {
        Self { handshakes: Some(handshakes), ..self }
    }

    /// The libraries that match and of which anything was to be measured, each once.
    pub fn libraries(&self, glob: &NameGlob) -> Vec<&'a LibraryId> {
        let of_stacks = self.handshakes.into_iter().flat_map(Handshakes::libraries);
        let measured = self.own().map(|m| &m.library).chain(of_stacks);
        let libraries: BTreeSet<&LibraryId> = measured.filter(|l| is(glob, l)).collect();
        libraries.into_iter().collect()
    }

    /// What was measured here: imported figures prove nothing.
    pub(crate) fn own(&self) -> impl Iterator<Item = &'a Measurement> {
        self.records.iter().flat_map(|r| &r.measurements).filter(|m| {
            m.state != State::Imported
                && m.threads == 1
                && m.footprint == Footprint::Hot
                // Out of place where there is a choice; updates of a stream are always in place.
                && (!m.in_place || m.model == base::model::Model::Stream)
        })
    }

    /// What a handshake costs the server in a library's stack, in µs.
    pub(crate) fn handshake(
        &self,
        case: &record::tls::Case,
        library: &LibraryId,
    ) -> Result<Estimate, Missing> {
        self.handshakes.unwrap_or(&Handshakes::default()).time(case, library)
    }

    pub(crate) fn number(
        &self,
        asked: &Asked,
        cases: &Cases,
        library: &LibraryId,
    ) -> Result<Estimate, Missing> {
        if let Asked::Executed(class) = asked {
            return self.executed(class, cases, library);
        }
        let m = self.measurement(cases, library)?;
        let lacking = |what: &str| Missing::Impossible(format!("no {what} of {}", described(m)));
        match asked {
            Asked::Cycles => {
                let cycles = m.cycles_per_op.ok_or_else(|| lacking("core cycles"))?;
                let cycles = cycles.map(|cycles| cycles / m.size as f64);
                Ok(if m.contended { Estimate { low: 0.0, ..cycles } } else { cycles })
            }
            Asked::Instructions => {
                let per_byte = m.instructions_per_byte;
                per_byte.map(Estimate::exactly).ok_or_else(|| lacking("instruction counts"))
            }
            Asked::Limit => limit(m).unwrap_or_else(|| Err(lacking("limit"))),
            _ => speed(m),
        }
    }

    /// The most of all libraries and algorithms that match: of each that is named something must be known.
    pub(crate) fn fastest(&self, cases: &Cases) -> Result<Estimate, Missing> {
        let matches = |m: &&Measurement| {
            cases.algorithm.matches(&m.algorithm)
                && matches_case(m, cases)
                && cases.library.as_ref().is_none_or(|glob| is(glob, &m.library))
        };
        let of_it: Vec<&Measurement> = self.own().filter(matches).collect();
        let is_pattern = cases.algorithm.text().contains(['*', '?', '[']);
        let is_unknown = |a: &&Algorithm| {
            cases.algorithm.matches(a.name) && !of_it.iter().any(|m| m.algorithm == a.name)
        };
        let nothing = |of: &str| Missing::Impossible(format!("nothing measured of {of}"));
        if let Some(unknown) = Algorithm::all().iter().find(is_unknown).filter(|_| !is_pattern) {
            return Err(nothing(&format!("{unknown}, one of {}", asked_for(cases))));
        }
        let measured = of_it.iter().filter(|m| m.state == State::Measured);
        // The largest is at least the largest lower end, and may be as large as the largest upper one.
        let fastest = measured.filter_map(|m| speed(m).ok()).reduce(|a, b| Estimate {
            median: a.median.max(b.median),
            low: a.low.max(b.low),
            high: a.high.max(b.high),
        });
        let is_open = |m: &&&Measurement| {
            let most = m.at_least_ns.map(|ns| m.size as f64 / ns * 1e3);
            m.is_left_out() && most.zip(fastest).is_none_or(|(most, fastest)| most > fastest.low)
        };
        if let Some(open) = of_it.iter().find(is_open) {
            return Err(Missing::Time(described(open)));
        }
        fastest.ok_or_else(|| nothing(&asked_for(cases)))
    }

    /// Whether there is a measurement of a case, with every check passed.
    pub(crate) fn is_measured(&self, cases: &Cases, library: &LibraryId) -> Result<bool, Missing> {
        match self.found(cases, library) {
            Some(m) if m.is_left_out() => Err(Missing::Time(described(m))),
            Some(m) => Ok(m.state == State::Measured),
            None => Err(Missing::Impossible(format!(
                "{} was not asked for {}",
                label(library),
                asked_for(cases)
            ))),
        }
    }

    /// What the record says of the library's interface.
    pub(crate) fn call(&self, cases: &Cases, library: &LibraryId) -> Result<&'a Call, Missing> {
        let built = self.records.iter().flat_map(|r| &r.libraries);
        let of_it = built.filter(|l| l.path == library.path && l.id == library.id);
        let mut calls = of_it.flat_map(|l| &l.calls).filter(|c| {
            let usual = Row::usual_direction(&c.algorithm);
            cases.algorithm.matches(&c.algorithm) && c.direction == cases.direction.unwrap_or(usual)
        });
        calls.next().ok_or_else(|| {
            Missing::Impossible(format!("the record does not say what {} calls", label(library)))
        })
    }

    fn executed(
        &self,
        class: &str,
        cases: &Cases,
        library: &LibraryId,
    ) -> Result<Estimate, Missing> {
        let is_wrong = |m: &&Measurement| {
            matches!(m.state, State::Refused | State::Failed) && !m.is_left_out()
        };
        if self.found(cases, library).filter(is_wrong).is_some() {
            self.measurement(cases, library)?;
        }
        let all = self.records.iter().flat_map(|r| &r.executed);
        let mut of_it = all.filter(|e| {
            e.library == *library
                && cases.algorithm.matches(&e.algorithm)
                && (e.model, e.tier) == (cases.model, cases.tier)
                && e.direction == cases.direction.unwrap_or(Row::usual_direction(&e.algorithm))
                && e.source.is_some()
        });
        let found = of_it.next().ok_or_else(|| {
            if let Some(m) = self.found(cases, library).filter(|m| m.is_left_out()) {
                return Missing::Time(described(m));
            }
            Missing::Impossible(format!(
                "no instruction counts of {} in {}",
                asked_for(cases),
                label(library)
            ))
        })?;
        let of_class = found.classes.iter().filter(|c| c.class == class);
        // The sum of none is -0.
        Ok(Estimate::exactly(of_class.map(|c| c.per_byte).sum::<f64>() + 0.0))
    }

    fn measurement(&self, cases: &Cases, library: &LibraryId) -> Result<&'a Measurement, Missing> {
        match self.found(cases, library) {
            Some(m) if m.state == State::Measured => Ok(m),
            Some(m) if m.is_left_out() => Err(Missing::Time(described(m))),
            Some(m) => {
                let reason = m.reason.as_deref().unwrap_or("no reason given");
                Err(Missing::Impossible(format!("{}: {}: {reason}", described(m), m.state.name())))
            }
            None => Err(Missing::Impossible(format!(
                "{} in {} was not measured",
                asked_for(cases),
                label(library)
            ))),
        }
    }

    /// A measured one where there is one.
    fn found(&self, cases: &Cases, library: &LibraryId) -> Option<&'a Measurement> {
        let same = |m: &&Measurement| {
            m.library == *library && cases.algorithm.matches(&m.algorithm) && matches_case(m, cases)
        };
        let measured = self.own().filter(same).find(|m| m.state == State::Measured);
        measured.or_else(|| self.own().find(same))
    }
}

fn matches_case(m: &Measurement, cases: &Cases) -> bool {
    (m.size, m.model, m.tier) == (cases.size, cases.model, cases.tier)
        && m.direction == cases.direction.unwrap_or(Row::usual_direction(&m.algorithm))
}

/// MB/s; the longest time is the lowest speed, and a busy core bounds none from above.
pub(crate) fn speed(m: &Measurement) -> Result<Estimate, Missing> {
    let Some(Estimate { median, low, high }) = m.ns_per_op.filter(|e| e.low > 0.0) else {
        return Err(Missing::Impossible(format!("{} has no time", described(m))));
    };
    let of = |ns: f64| m.size as f64 / ns * 1e3;
    let most = if m.contended { f64::INFINITY } else { of(low) };
    Ok(Estimate { median: of(median), low: of(high), high: most })
}

/// MB/s that this core permits; none where no limit is known.
pub(crate) fn limit(m: &Measurement) -> Option<Result<Estimate, Missing>> {
    let fraction = m.limit_fraction.filter(|f| *f > 0.0)?;
    Some(speed(m).map(|s| Estimate::exactly(s.median / fraction)))
}

fn described(m: &Measurement) -> String {
    let Measurement { algorithm, direction, model, size, tier, library, .. } = m;
    format!(
        "{algorithm} {direction} of {size} B, model {model}, tier {tier}, in {}",
        label(library)
    )
}

pub(crate) fn asked_for(cases: &Cases) -> String {
    let Cases { algorithm, size, direction, model, tier, .. } = cases;
    let direction: &str = direction.map_or("", Direction::name);
    let direction = if direction.is_empty() { String::new() } else { format!(" {direction}") };
    format!("{}{direction} of {size} B, model {model}, tier {tier}", algorithm.text())
}

// Runs of `ciphermark tls handshake` as something that questions are put to.

/// What one or several runs measured, on one machine: each handshake with the library under its stack.
#[derive(Clone, Debug, Default)]
pub struct Handshakes(Vec<(LibraryId, Handshake)>);

impl Handshakes {
    pub fn of(runs: &[Run]) -> Self {
        let all = runs.iter().flat_map(|run| run.rows.iter().map(move |row| (run, row)));
        let with_library = |(run, row): (&Run, &Handshake)| {
            let stack = run.stacks.iter().find(|stack| stack.label == row.stack)?;
            let library = LibraryId {
                name: stack.name.clone(),
                version: stack.version.clone(),
                path: stack.crypto_path.clone(),
                id: stack.crypto_id.clone(),
            };
            Some((library, row.clone()))
        };
        Self(all.filter_map(with_library).collect())
    }

    pub(crate) fn libraries(&self) -> impl Iterator<Item = &LibraryId> {
        self.0.iter().map(|(library, _)| library)
    }

    /// What a case costs the server in a library's stack, in µs, from caches that are hot.
    pub(crate) fn time(&self, case: &Case, library: &LibraryId) -> Result<Estimate, Missing> {
        let missing =
            |why: &str| Missing::Impossible(format!("{case} in {}: {why}", label(library)));
        let is_it = |(of, row): &&(LibraryId, Handshake)| {
            (of, row.case(), row.temperature) == (library, Some(case), Temperature::Hot)
        };
        let (_, row) = self.0.iter().find(is_it).ok_or_else(|| {
            missing("no such handshake was measured; a run of ciphermark tls handshake has them")
        })?;
        if row.is_left_out() {
            return Err(Missing::Time(format!("{case} in {}", label(library))));
        }
        match (row.state, row.cost()) {
            (State::Measured, Some(cost)) => {
                let (median, low, high) = (cost.median_ns, cost.low_ns, cost.high_ns);
                Ok(Estimate { median, low, high }.map(|ns| ns / 1000.0))
            }
            (state, _) => {
                let reason = row.reason.as_deref().unwrap_or("no reason given");
                Err(missing(&format!("{}: {reason}", state.name())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use record::Stopped;

    fn result(text: &str) -> Result<Value, Missing> {
        let records = [sample::record_for_claims()];
        let evidence = Evidence::of(&records);
        let openssl = evidence.libraries(&NameGlob::parse("openssl@3.0.22").unwrap());
        evaluate(&parse(text, Model::Message).unwrap(), &evidence, Some(openssl[0]))
    }

    #[test]
    fn each_function_reads_the_field_that_it_is_named_after() {
        // 8192 B in 1000 ns at 3 GHz, at half of the limit; counts as the sample has them.
        for (text, expected) in [
            ("speed(aes-128-gcm, 8192)", 8192.0),
            ("cycles(aes-128-gcm, 8192)", 3000.0 / 8192.0),
            ("instructions(aes-128-gcm, 8192)", 0.25),
            ("executed(aes-round, aes-128-gcm, 8192)", 0.156_25),
            ("1 ins/B + executed(store, aes-128-gcm, 8192)", 1.0),
            ("limit(aes-128-gcm, 8192)", 16_384.0),
            ("fastest(aes-128-*, 8192)", 12_000.0),
            ("fastest(aes-128-*, 8192, in = openssl@3.*)", 9010.0),
            ("speed(aes-128-ctr, 8192, decrypt)", 8900.0),
            ("speed(aes-128-ctr, 8192, noaes)", 600.0),
            ("speed(aes-128-ctr, 8192, stream)", 9500.0),
            ("speed(aes-128-gcm, 8192, in = openssl@4.0.1)", 12_000.0),
            // Of several that match the newest.
            ("speed(aes-128-gcm, 8192, in = openssl)", 12_000.0),
        ] {
            let median = result(text).unwrap().interval().unwrap().median;
            assert!((median / expected - 1.0).abs() < 1e-9, "{text}: {median}");
        }
        for (text, expected) in [
            ("measured(aes-128-gcm, 8192)", true),
            ("measured(aes-128-ocb, 8192)", false),
            ("copies(aes-128-gcm, 8192)", true),
            ("allocates(aes-128-gcm, 8192)", false),
        ] {
            assert_eq!(result(text), Ok(Value::Truth(Some(expected))), "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named_with_the_reason_where_there_is_one() {
        for (text, why) in [
            (
                "speed(aes-192-ctr, 16)",
                "aes-192-ctr of 16 B, model message, tier native in openssl@3.0.22 was not measured",
            ),
            (
                "speed(aes-128-ocb, 8192)",
                "aes-128-ocb encrypt of 8192 B, model message, tier native, in openssl@3.0.22: refused: round trip: byte 3 differs",
            ),
            ("speed(a, 1, in = botan)", "no library 'botan' was measured"),
            ("instructions(aes-128-ctr, 8192)", "no instruction counts of aes-128-ctr"),
            ("fastest(rot13, 1)", "nothing measured of rot13"),
        ] {
            let found = result(text).unwrap_err().to_string();
            assert!(found.starts_with(why), "{text}: {found}");
        }
    }

    fn fastest(record: &Record, algorithms: &str) -> Result<Estimate, Missing> {
        let text = format!("fastest({algorithms}, 8192)");
        let records = std::slice::from_ref(record);
        let fact = parse(&text, Model::Message).unwrap();
        evaluate(&fact, &Evidence::of(records), None).map(|value| value.interval().unwrap())
    }

    #[test]
    fn the_fastest_may_be_whatever_was_not_measured_or_not_well() {
        let mut record = sample::record_for_claims();
        let named = fastest(&record, "{aes-128-gcm,aes-256-gcm}").unwrap_err().to_string();
        assert!(named.starts_with("nothing measured of aes-256-gcm, one of {"), "{named}");
        let is_ecb = |m: &&mut Measurement| m.algorithm == "aes-128-ecb";
        let ecb = record.measurements.iter_mut().find(is_ecb).unwrap();
        ecb.ns_per_op = ecb.ns_per_op.map(|ns| Estimate { low: ns.median / 5.0, ..ns });
        let most = fastest(&record, "{aes-128-gcm,aes-128-ecb}").unwrap();
        assert_eq!(most.median.round(), 12_000.0);
        assert!((most.high / (5.0 * 9010.0) - 1.0).abs() < 1e-9, "{most:?}");
        let ecb = record.measurements.iter_mut().find(is_ecb).unwrap();
        ecb.ns_per_op = None;
        (ecb.state, ecb.stopped) = (State::Failed, Some(Stopped::Screened));
        assert!(matches!(fastest(&record, "aes-128-*"), Err(Missing::Time(_))));
        let ecb = record.measurements.iter_mut().find(is_ecb).unwrap();
        // 8,192 MB/s at the most.
        ecb.at_least_ns = Some(1000.0);
        assert!(fastest(&record, "aes-128-*").is_ok());
    }

    #[test]
    fn a_busy_core_bounds_a_speed_from_below_alone() {
        let mut record = sample::record_for_claims();
        record.measurements.iter_mut().for_each(|m| m.contended = true);
        let records = [record];
        let evidence = Evidence::of(&records);
        let libraries = evidence.libraries(&NameGlob::parse("openssl@3.0.22").unwrap());
        let of = |text: &str| {
            evaluate(&parse(text, Model::Message).unwrap(), &evidence, Some(libraries[0])).unwrap()
        };
        assert_eq!(of("speed(aes-128-ctr, 8192) > 1 GB/s"), Value::Truth(Some(true)));
        assert_eq!(of("speed(aes-128-ctr, 8192) < 10 GB/s"), Value::Truth(None));
        assert_eq!(of("cycles(aes-128-gcm, 8192) > 0.01 c/B"), Value::Truth(None));
        let ratio = of("speed(aes-128-ctr, 8192) / speed(aes-128-ecb, 8192)");
        assert_eq!(ratio.to_string(), "0.999 ±?");
        assert_eq!(of("speed(aes-128-ctr, 8192)").to_string(), "≥ 8911 MB/s");
    }

    #[test]
    fn imported_figures_decide_nothing() {
        let mut record = sample::record_for_claims();
        for m in &mut record.measurements {
            m.state = record::State::Imported;
        }
        let records = [record];
        let evidence = Evidence::of(&records);
        assert!(evidence.libraries(&NameGlob::parse("*").unwrap()).is_empty());
        let fastest = parse("fastest(aes-*, 8192)", Model::Message).unwrap();
        assert!(evaluate(&fastest, &evidence, None).is_err());
    }

    #[test]
    fn a_term_names_its_cases() {
        let text =
            "fastest({aes-128-ctr,aes-256-*}, 8192, decrypt, noaes, message, in = openssl@3.*)";
        let expression = parse(text, Model::Stream).unwrap();
        let [Fact::Cases(Asked::Fastest, cases)] = expression.facts()[..] else { panic!() };
        assert!(cases.algorithm.matches("aes-256-xts") && !cases.algorithm.matches("aes-128-xts"));
        assert_eq!((cases.size, cases.direction), (8192, Some(Direction::Decrypt)));
        assert_eq!((cases.model, cases.tier), (Model::Message, Tier::Noaes));
        assert!(cases.library.as_ref().unwrap().matches("openssl@3.0.22"));
        let ratio = "handshake(1.2, rsa, rsa-2048, full) / handshake(1.3, x25519, p256, full)";
        let facts = parse(ratio, Model::Stream).unwrap();
        assert!(matches!(facts.facts()[..], [Fact::Handshake(_), Fact::Handshake(_)]));
    }

    #[test]
    fn what_no_fact_can_be_is_refused() {
        for (text, expected) in [
            ("speed(a, 1.5)", "'1.5' where a size in bytes must stand"),
            ("speed(a, 0)", "'0' where a size in bytes must stand"),
            ("speed(a)", "'speed' lacks a size in bytes"),
            ("speed", "'speed' lacks an algorithm"),
            ("speed(a, 1, of = b)", "'of' is not 'in'"),
            (
                "speed(a, 16, sideways)",
                "'sideways' is no direction, model or tier, and not 'in = LIBRARY'",
            ),
            ("sped(a, 16)", "unknown function 'sped'; there are speed, "),
            ("speed(a, 1) > 3", "MB/s and a plain number cannot be compared"),
            ("handshake(1.3, rsa, rsa-2048, full)", "TLS has no handshake '1.3 rsa rsa-2048 full'"),
            ("handshake(1.3, x25519, p256, full, 1)", "'1' after a whole handshake"),
        ] {
            let why = parse(text, Model::Stream).unwrap_err().to_string();
            assert!(why.starts_with(expected), "{text}: {why}");
        }
        let why = parse("handshake(1.2, x25591, p256, full)", Model::Stream).unwrap_err();
        assert!(why.to_string().contains("did you mean 'x25519'?"), "{why}");
    }
}
