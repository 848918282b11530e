//! What the page knows, in the form in which it stands in it. `assets/js/data.js` is the other side.

use crate::formats::{COLUMNS, Column, Of, Row};
use crate::page::{Content, Source, clean, rounded, tidy};
use crate::stacks_screen;
use base::model::{Algorithm, Direction, Disturbance, Footprint, Model, RawSample, Tier};
use base::text::Options;
use judge::advise::{Advised, Told};
use record::at_rest::{Cell, PagesRecord, Verified};
use record::tls::{Run, RunKind};
use record::{
    Estimate, Executed, Fit, Imported, Leak, Leaks, LibraryId, Measurement, Record, State, Stopped,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most lines of the table that a page opens with.
const LINES_OF_ANSWER: usize = 24;

pub(crate) struct Data {
    /// What the first paint needs; stands in the page as it is.
    pub(crate) head: Head,
    /// What each survey comes to, with its label; stands in the page as HTML.
    pub(crate) answers: Vec<(String, crate::Summary)>,
    /// What changes would save a watched program; stands in the page as it is printed.
    pub(crate) program: String,
    /// Every case and fitted line; stands in the page packed.
    pub(crate) cases: Cases,
    /// What was executed, by library, algorithm, direction, model and tier; packed, unpacked when
    /// it is looked at.
    pub(crate) executed: Vec<serde_json::Value>,
    /// What depends on secrets, by library, algorithm and tier; packed, unpacked when it is looked at.
    pub(crate) leaks: Vec<serde_json::Value>,
    /// Raw samples of [`CASES_IN_CHUNK`] cases each; packed, unpacked when one of them is
    /// looked at.
    pub(crate) samples: Vec<Vec<u8>>,
    /// Records of page stores, and advice; packed, unpacked when it is looked at.
    pub(crate) sheets: Vec<serde_json::Value>,
}

/// Every case, one array a field, with the names that the arrays count.
#[derive(Serialize)]
pub(crate) struct Cases {
    names: Names,
    columns: Columns,
    facts: Vec<Fact>,
    /// The sign of what depends on secrets, one a case.
    secrets: Vec<&'static str>,
    fits: Vec<serde_json::Value>,
    /// What a size of each algorithm is, where it is a cost and no number of bytes.
    cost_units: Vec<Option<&'static str>>,
    /// What runs inside the clock: for each library a list of calls.
    calls: Vec<serde_json::Value>,
    samples_in_chunk: usize,
}

impl Data {
    pub(crate) fn of(sources: &[Source<'_>]) -> Self {
        let mut names = Names::default();
        let mut columns = Columns::default();
        let mut facts = Fact::all();
        let mut samples = Chunks::default();
        let (mut fits, mut calls, mut executed) = (Vec::new(), Vec::new(), Vec::new());
        let (mut leaks, mut secrets) = (Vec::new(), Vec::new());
        let surveys = sources.iter().filter_map(|source| match source.content {
            Content::Survey(record) => Some(record),
            _ => None,
        });
        for (number, record) in surveys.enumerate() {
            names.enter_record(number, record);
            for m in &record.measurements {
                columns.push(m, &mut names);
                facts.iter_mut().for_each(|fact| fact.push(&Row::of(record, m)));
                secrets.push(crate::leaks::mark(record.leaks_of(m).map(|l| l.verdict)));
                samples.push(m, record);
            }
            fits.extend(fits_of(record, &mut names));
            calls.extend(calls_of(record, &mut names));
            executed.extend(executed_of(record, &mut names));
            leaks.extend(leaks_of(record, &mut names));
        }
        let cost_units = names.algorithms.list.iter().map(|name| cost_unit(name)).collect();
        let samples_in_chunk = CASES_IN_CHUNK;
        let cases =
            Cases { names, columns, facts, secrets, fits, cost_units, calls, samples_in_chunk };
        let labels = labels(sources);
        let answers =
            sources.iter().zip(&labels).filter_map(|(source, label)| match source.content {
                Content::Survey(record) => {
                    Some((label.clone(), crate::Summary::of(record, LINES_OF_ANSWER)?))
                }
                _ => None,
            });
        let answers = answers.collect();
        Self {
            answers,
            program: String::new(),
            head: Head::of(sources, &labels),
            cases,
            executed,
            leaks,
            samples: samples.finish(),
            sheets: sheets(sources, &labels),
        }
    }
}

// What the first paint needs: records, machines, libraries.

/// Facts of the records, in the order in which they were given.
#[derive(Serialize)]
pub(crate) struct Head {
    pub(crate) records: Vec<RecordFacts>,
    /// One entry a file of another kind.
    pub(crate) sheets: Vec<SheetFacts>,
}

/// What the frame says of a file that is no survey.
#[derive(Serialize)]
pub(crate) struct SheetFacts {
    pub(crate) label: String,
    /// `pages`, `tls` or `advice`.
    pub(crate) kind: &'static str,
    /// The same for people.
    pub(crate) words: &'static str,
    pub(crate) cpu: String,
    pub(crate) day: String,
}

#[derive(Serialize)]
pub(crate) struct RecordFacts {
    /// What it is called on the page: its file's name without endings, which no other has.
    pub(crate) label: String,
    pub(crate) file: String,
    pub(crate) cpu: String,
    pub(crate) started: String,
    pub(crate) day: String,
    /// Cases by what became of them: measured, unsupported, refused, failed, imported. Without those that there was no time for.
    pub(crate) states: [usize; 5],
    /// Cases that there was no time for, or that an interrupt cut off.
    pub(crate) left_out: usize,
    /// Everything else, as in the record.
    facts: Value,
}

impl RecordFacts {
    pub(crate) fn has_refused(&self) -> bool {
        self.states[2] > 0
    }

    /// Whether any figure comes from elsewhere.
    pub(crate) fn has_imported(&self) -> bool {
        self.states[4] > 0
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.states[3] > 0
    }
}

const STATES: [State; 5] =
    [State::Measured, State::Unsupported, State::Refused, State::Failed, State::Imported];

/// What each file is called on the page: its name without endings, which no other has.
pub(crate) fn labels(sources: &[Source<'_>]) -> Vec<String> {
    let mut taken = HashSet::new();
    let of = |source: &Source<'_>| {
        let mut label = stem(source.file);
        let mut number = 1;
        while !taken.insert(label.clone()) {
            number += 1;
            label = format!("{} ({number})", stem(source.file));
        }
        label
    };
    sources.iter().map(of).collect()
}

impl Head {
    pub(crate) fn of(sources: &[Source<'_>], labels: &[String]) -> Self {
        let mut head = Self { records: Vec::new(), sheets: Vec::new() };
        for (source, label) in sources.iter().zip(labels) {
            let mut sheet = |kind, words, cpu: &str, started: &str| {
                let (label, cpu, day) = (label.clone(), clean(cpu), day(started));
                head.sheets.push(SheetFacts { label, kind, words, cpu, day });
            };
            match source.content {
                Content::Survey(record) => {
                    head.records.push(survey(record, label.clone(), clean(source.file)));
                }
                Content::Pages(record) => {
                    sheet("pages", "pages of a store", &record.host.cpu.name, &record.started);
                }
                Content::Tls(run) => {
                    let words = match run.kind {
                        RunKind::Handshakes => "TLS handshakes",
                        RunKind::Records => "TLS records",
                        RunKind::Primitives => "under a TLS handshake",
                    };
                    sheet("tls", words, &run.host.cpu.name, &run.started);
                }
                Content::Advice(advised) => {
                    let basis = &advised.advice.basis;
                    sheet("advice", "advice", &basis.cpu, &basis.started);
                }
            }
        }
        head
    }

    /// Whether the views of surveys have anything to show.
    pub(crate) fn has_surveys(&self) -> bool {
        !self.records.is_empty()
    }
}

fn survey(r: &Record, label: String, file: String) -> RecordFacts {
    RecordFacts {
        label,
        file,
        cpu: clean(&r.host.cpu.name),
        started: clean(&r.started),
        day: day(&r.started),
        states: STATES
            .map(|s| r.measurements.iter().filter(|m| m.state == s && !m.is_left_out()).count()),
        left_out: r.measurements.iter().filter(|m| m.is_left_out()).count(),
        facts: facts(r),
    }
}

fn day(started: &str) -> String {
    clean(&started.chars().take(10).collect::<String>())
}

/// `run.json.gz` as `run`.
fn stem(file: &str) -> String {
    let stem = file.strip_suffix(".gz").unwrap_or(file);
    clean(stem.strip_suffix(".json").unwrap_or(stem))
}

fn facts(r: &Record) -> Value {
    let mut libraries = serde_json::to_value(&r.libraries).expect("plain data");
    for library in libraries.as_array_mut().into_iter().flatten() {
        // Long, and told where a case is looked at.
        library.as_object_mut().map(|fields| fields.remove("calls"));
    }
    let value = json!({
        "format_version": r.format_version,
        "tool": r.tool,
        "measuring_seconds": r.measuring_seconds,
        "host": r.host,
        "libraries": libraries,
        "plan": r.plan,
        // A number of 64 bits, which JavaScript has not.
        "seed": r.plan.seed.to_string(),
        "noise": r.noise,
        "core": r.limits.core,
        "limits_reason": r.limits.reason,
    });
    tidy(value)
}

// Names that cases share: written once, counted afterwards.

/// The lists of names that the columns count.
#[derive(Default, Serialize)]
pub(crate) struct Names {
    /// One entry for each build of each record.
    libraries: Vec<LibraryName>,
    pub(crate) algorithms: Words,
    pub(crate) directions: Words,
    pub(crate) models: Words,
    pub(crate) tiers: Words,
    pub(crate) footprints: Words,
    /// Reasons, warnings and other sentences.
    pub(crate) texts: Words,
    /// Lists of checks that passed, as JSON.
    pub(crate) checks: Words,
    #[serde(skip)]
    record: usize,
    #[serde(skip)]
    numbers: HashMap<(usize, LibraryId), usize>,
}

#[derive(Serialize)]
struct LibraryName {
    record: usize,
    name: String,
    version: String,
    path: String,
    id: String,
    /// What it is called where there is little room: no two builds of a record have the same.
    label: String,
}

impl Names {
    /// The libraries of the next record.
    pub(crate) fn enter_record(&mut self, number: usize, record: &Record) {
        self.record = number;
        let mut same: BTreeMap<String, usize> = BTreeMap::new();
        for l in &record.libraries {
            *same.entry(versioned(&l.name, &l.version)).or_default() += 1;
        }
        for l in &record.libraries {
            let twins = same[&versioned(&l.name, &l.version)] > 1;
            self.add_library(&l.identity(), twins);
        }
    }

    /// The number of a build of the record that was entered last.
    pub(crate) fn library(&mut self, id: &LibraryId) -> usize {
        match self.numbers.get(&(self.record, id.clone())) {
            Some(number) => *number,
            // A record made by hand may name libraries that it does not list.
            None => self.add_library(id, false),
        }
    }

    fn add_library(&mut self, id: &LibraryId, twins: bool) -> usize {
        let number = self.libraries.len();
        let mut label = versioned(&id.name, &id.version);
        if twins {
            let hex = id.id.split_once(':').map_or(id.id.as_str(), |(_, hex)| hex);
            label += &format!("#{}", hex.chars().take(6).collect::<String>());
        }
        let taken = |label: &str| {
            self.libraries.iter().any(|l| l.record == self.record && l.label == label)
        };
        let mut label = clean(&label);
        while taken(&label) {
            label += "′";
        }
        self.libraries.push(LibraryName {
            record: self.record,
            name: clean(&id.name),
            version: clean(&id.version),
            path: clean(&id.path),
            id: clean(&id.id),
            label,
        });
        self.numbers.insert((self.record, id.clone()), number);
        number
    }
}

fn versioned(name: &str, version: &str) -> String {
    if version.is_empty() { name.to_owned() } else { format!("{name}@{version}") }
}

/// A list in which each text stands once.
#[derive(Default)]
pub(crate) struct Words {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Words {
    pub(crate) fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.list.len();
        self.list.push(clean(text));
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

impl Serialize for Words {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

// Every case, one array a field.

type Number = Option<f64>;

/// Declares the arrays, each with what a case puts into it.
macro_rules! columns {
    (
        $(#[$meta:meta])* $name:ident |$m:ident, $names:ident|
        $($(#[$doc:meta])* $field:ident: $type:ty = $value:expr;)*
    ) => {
        $(#[$meta])*
        #[derive(Default, Serialize)]
        pub(crate) struct $name {
            $($(#[$doc])* $field: Vec<$type>,)*
        }

        impl $name {
            pub(crate) fn push(&mut self, $m: &Measurement, $names: &mut Names) {
                $(self.$field.push($value);)*
            }
        }
    };
}

/// Why a case has no number, and what a reader must know of one that has.
fn said(m: &Measurement) -> Option<String> {
    let kinds = m.kinds_in_words().map(|kinds| format!("two kinds of processes: {kinds}"));
    let said: Vec<String> = m.reason.iter().cloned().chain(kinds).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn cost_unit(algorithm: &str) -> Option<&'static str> {
    Algorithm::find(algorithm).ok()?.cost_unit()
}

/// The page's state of what has no number, and failed at nothing.
const LEFT_OUT: &str = "left-out";

columns! {
    /// Entry `i` of each array belongs to case `i`; `null` is what the record does not know. Units are
    /// the record's.
    Columns |m, names|
    library: usize = names.library(&m.library);
    algorithm: usize = names.algorithms.number(&m.algorithm);
    direction: usize = names.directions.number(m.direction.name());
    model: usize = names.models.number(m.model.name());
    model_version: u32 = m.model_version;
    size: usize = m.size;
    tier: usize = names.tiers.number(m.tier.name());
    threads: u32 = m.threads;
    footprint: usize = names.footprints.number(m.footprint.name());
    in_place: u8 = m.in_place.into();
    state: &'static str = if m.is_left_out() { LEFT_OUT } else { m.state.name() };
    reason: Option<usize> = said(m).map(|r| names.texts.number(&r));
    /// Where a figure comes from that was not measured here.
    imported: Option<usize> = m.imported.as_ref().map(|i| names.texts.number(&source(i)));
    /// The sign before its speed.
    mark: &'static str = crate::mark(m);
    warning: Option<usize> = m.warning.as_deref().map(|w| names.texts.number(w));
    ns: Number = of(m.ns_per_op, |e| e.median);
    ns_low: Number = of(m.ns_per_op, |e| e.low);
    ns_high: Number = of(m.ns_per_op, |e| e.high);
    cycles: Number = of(m.cycles_per_op, |e| e.median);
    cycles_low: Number = of(m.cycles_per_op, |e| e.low);
    cycles_high: Number = of(m.cycles_per_op, |e| e.high);
    /// Whether an operation has bytes, and so a speed by them.
    has_bytes: u8 = m.mb_per_s.is_some().into();
    /// Only where it is not size by time: several threads.
    mb_per_s: Number = m.mb_per_s.filter(|_| m.threads > 1).map(rounded);
    limit: Number = m.limit_fraction.map(rounded);
    limit_cycles: Number = m.limit_cycles_per_op.map(rounded);
    limited_by: Option<usize> = limited_by(m).map(|by| names.texts.number(&by));
    stopped: Option<usize> = m.stopped.map(|s| names.texts.number(stopped(s)));
    samples: u64 = m.samples;
    disturbed: Option<Vec<u64>> = disturbed(m);
    processes: u32 = m.processes;
    contended: u8 = m.contended.into();
    checks: Option<usize> = checks(m).map(|list| names.checks.number(&list));
    clock: usize = names.texts.number(&m.evidence.clock);
    cycles_from: usize = names.texts.number(&m.evidence.cycles);
    outputs_checked: u64 = m.evidence.outputs_checked;
    calls_succeeded: u64 = m.evidence.calls_succeeded;
}

/// A column of the tabular formats that stands among the facts of a case, whatever it is.
#[derive(Serialize)]
pub(crate) struct Fact {
    words: &'static str,
    /// One a case; `null` is what the record does not know.
    values: Vec<Value>,
    #[serde(skip)]
    of: Of,
}

impl Fact {
    fn all() -> Vec<Self> {
        let fact = |column: &Column| {
            let words = column.on_page?;
            Some(Self { words, values: Vec::new(), of: column.of })
        };
        COLUMNS.iter().filter_map(fact).collect()
    }

    fn push(&mut self, row: &Row<'_>) {
        self.values.push(match self.of {
            Of::Text(of) => json!(of(row).map(|text| clean(&text))),
            Of::Count(of) => json!(of(row)),
            Of::Real(of) => json!(of(row).map(rounded)),
            Of::Flag(of) => json!(of(row).then_some("yes")),
        });
    }
}

fn source(from: &Imported) -> String {
    let machine = from.machine.as_ref().map(|m| format!(", on {m}")).unwrap_or_default();
    format!("{}{machine}", from.source)
}

fn of(estimate: Option<Estimate>, part: fn(Estimate) -> f64) -> Number {
    estimate.map(part).filter(|n| n.is_finite()).map(rounded)
}

fn limited_by(m: &Measurement) -> Option<String> {
    let by = m.limited_by?;
    Some(m.limit_basis.map_or_else(|| by.to_string(), |basis| format!("{by}, {basis}")))
}

fn disturbed(m: &Measurement) -> Option<Vec<u64>> {
    let by_reason = Disturbance::ALL.map(|why| m.disturbed.of(why));
    let all = std::iter::once(m.samples_disturbed).chain(by_reason);
    (m.samples_disturbed > 0).then(|| all.collect())
}

fn checks(m: &Measurement) -> Option<String> {
    let list: Vec<String> = m.checks.iter().map(|c| format!("{} {}", c.name, c.count)).collect();
    (!list.is_empty()).then(|| list.join(", "))
}

fn stopped(why: Stopped) -> &'static str {
    match why {
        Stopped::Precision => "the asked precision was reached",
        Stopped::Screened => "a look at it showed that it takes too long to be chosen",
        Stopped::Scatter => "its processes differ too much for the asked precision",
        Stopped::Budget => "the time budget ran out",
        Stopped::Interrupted => "the run was interrupted",
    }
}

// Fitted lines, calls and executed instructions: as in the record, with numbers for the names.

type SeriesOf<'a> = ((&'a LibraryId, &'a str, Direction, Model), (Tier, u32, Footprint, bool));

fn of_series(m: &Measurement) -> SeriesOf<'_> {
    let own = (&m.library, &*m.algorithm, m.direction, m.model);
    (own, (m.tier, m.threads, m.footprint, m.in_place))
}

pub(crate) fn fits_of(record: &Record, names: &mut Names) -> Vec<Value> {
    let mut value = |fit: &Fit| {
        let what = Numbers::of(&fit.library, &fit.algorithm, fit.direction, names);
        what.into_fields_of(fit, fit.model.name(), fit.tier.name(), names)
    };
    // A line through costs is of no bytes, and one through bounds of nothing.
    let bounds: HashSet<_> =
        record.measurements.iter().filter(|m| m.contended).map(of_series).collect();
    let is_line = |fit: &&Fit| {
        let own = (&fit.library, &*fit.algorithm, fit.direction, fit.model);
        cost_unit(&fit.algorithm).is_none()
            && !bounds.contains(&(own, (fit.tier, fit.threads, fit.footprint, fit.in_place)))
    };
    record.fits.iter().filter(is_line).map(&mut value).collect()
}

pub(crate) fn executed_of(record: &Record, names: &mut Names) -> Vec<Value> {
    let mut value = |e: &Executed| {
        let what = Numbers::of(&e.library, &e.algorithm, e.direction, names);
        what.into_fields_of(e, e.model.name(), e.tier.name(), names)
    };
    record.executed.iter().map(&mut value).collect()
}

/// What runs inside the clock in the model `message`.
pub(crate) fn calls_of(record: &Record, names: &mut Names) -> Vec<Value> {
    let mut all = Vec::new();
    for l in &record.libraries {
        let id = l.identity();
        for call in &l.calls {
            let what = Numbers::of(&id, &call.algorithm, call.direction, names);
            let functions = call.functions.as_deref().map(|f| names.texts.number(f));
            let rekey = call.rekey_functions.as_deref().map(|f| names.texts.number(f));
            all.push(json!([
                what.library,
                what.algorithm,
                what.direction,
                functions,
                u8::from(call.copies),
                u8::from(call.allocates),
                rekey
            ]));
        }
    }
    all
}

/// Which library, algorithm and direction, by number.
struct Numbers {
    library: usize,
    algorithm: usize,
    direction: usize,
}

impl Numbers {
    fn of(id: &LibraryId, algorithm: &str, direction: Direction, names: &mut Names) -> Self {
        Self {
            library: names.library(id),
            algorithm: names.algorithms.number(algorithm),
            direction: names.directions.number(direction.name()),
        }
    }

    /// The entry with numbers in the places of its names.
    fn into_fields_of(
        self,
        entry: &impl Serialize,
        model: &str,
        tier: &str,
        names: &mut Names,
    ) -> Value {
        let mut value = tidy(serde_json::to_value(entry).expect("plain data"));
        value["library"] = self.library.into();
        value["algorithm"] = self.algorithm.into();
        value["direction"] = self.direction.into();
        value["model"] = names.models.number(model).into();
        value["tier"] = names.tiers.number(tier).into();
        if let Some(footprint) = value.get("footprint").and_then(Value::as_str).map(str::to_owned) {
            value["footprint"] = names.footprints.number(&footprint).into();
        }
        value
    }
}

// What depends on secrets: each verdict with its words, with numbers for the names.

pub(crate) fn leaks_of(record: &Record, names: &mut Names) -> Vec<Value> {
    let mut value = |l: &Leaks| {
        let mut value = tidy(json!({
            "verdict": l.verdict.name(), "words": l.to_string(), "places": l.findings.iter().map(place).collect::<Vec<_>>(),
        }));
        value["library"] = names.library(&l.library).into();
        value["algorithm"] = names.algorithms.number(&l.algorithm).into();
        value["tier"] = names.tiers.number(l.tier.name()).into();
        value
    };
    record.leaks.iter().map(&mut value).collect()
}

/// The words, and the instruction that they are of.
fn place(f: &Leak) -> [String; 2] {
    let more = if f.places > 1 { format!(" and {} more", f.places - 1) } else { String::new() };
    let operations = f.operations.join(", ");
    let at =
        format!("{} at {:#x} of {}{more}, in {operations}", f.instruction, f.address, f.object);
    [f.to_string(), at]
}

// Raw samples as bytes. `assets/js/samples.js` reads them.
//
// A case is: the number of samples; then, unless that is 0, one byte that is 1 where the values are
// core cycles an operation and 0 where they are nanoseconds; the smallest value, a little-endian
// 32-bit float; each sample's worker process; each sample's mark (0 counts, 1 does not for no reason
// that can be told, 2 … the reasons in the order of [`Disturbance::ALL`]); each sample's value as
// steps of [`STEP`] of the smallest above it. Whole numbers but the marks are LEB128.

/// Cases whose samples are packed together: one chunk unpacks in a few milliseconds.
pub(crate) const CASES_IN_CHUNK: usize = 512;

/// The grain of a value, as a fraction of the case's smallest: finer than any clock.
const STEP: f64 = 1e-4;

/// Chunks of cases, in the order of the cases.
#[derive(Default)]
pub(crate) struct Chunks {
    done: Vec<Vec<u8>>,
    open: Vec<u8>,
    cases: usize,
}

impl Chunks {
    pub(crate) fn push(&mut self, m: &Measurement, record: &Record) {
        write_case(&mut self.open, m, record);
        self.cases += 1;
        if self.cases == CASES_IN_CHUNK {
            self.done.push(std::mem::take(&mut self.open));
            self.cases = 0;
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Vec<u8>> {
        if self.cases > 0 {
            self.done.push(self.open);
        }
        self.done
    }
}

fn write_case(out: &mut Vec<u8>, m: &Measurement, record: &Record) {
    let samples: Vec<(RawSample, bool)> = m.raw.iter().collect();
    write_number(out, samples.len() as u64);
    if samples.is_empty() {
        return;
    }
    let has_cycles = samples.iter().all(|(s, _)| s.clock() > 0.0);
    let value = |s: &RawSample| {
        if has_cycles {
            s.cycles_per_op()
        } else {
            s.ticks_per_op() / record.host.clock.ticks_per_second * 1e9
        }
    };
    let values: Vec<f64> = samples.iter().map(|(s, _)| value(s)).collect();
    let positive = values.iter().copied().filter(|v| v.is_finite() && *v > 0.0);
    // Four bytes are seven digits, which is more than the grain.
    #[expect(clippy::cast_possible_truncation)]
    let least = positive.fold(f64::INFINITY, f64::min).min(f64::from(f32::MAX)) as f32;
    out.push(has_cycles.into());
    out.extend(least.to_le_bytes());
    samples.iter().for_each(|(s, _)| write_number(out, s.process.into()));
    out.extend(samples.iter().map(|(s, clean)| mark(s, *clean, quiet_rate(record, s.cpu))));
    values.iter().for_each(|v| write_number(out, steps(*v, least.into())));
}

/// What the throughput probe gives on that CPU's quiet core.
fn quiet_rate(record: &Record, cpu: u32) -> f64 {
    let quiet = record.noise.as_ref().and_then(|n| n.quiet.iter().find(|q| q.cpu == cpu));
    quiet.map(|q| q.rate).or(record.host.clock.quiet_probe).unwrap_or(0.0)
}

fn mark(s: &RawSample, clean: bool, quiet: f64) -> u8 {
    if clean {
        return 0;
    }
    let why = s.disturbance(quiet);
    let place = why.and_then(|why| Disturbance::ALL.iter().position(|w| *w == why));
    place.map_or(1, |place| u8::try_from(place + 2).expect("eight reasons"))
}

fn steps(value: f64, least: f64) -> u64 {
    let steps = ((value / least - 1.0) / STEP).round();
    // A conversion that saturates: below the least is 0, and past 32 bits is no sample.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let steps = steps as u64;
    steps.min(u32::MAX.into())
}

/// LEB128, unsigned.
fn write_number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let byte = u8::try_from(number & 0x7f).expect("seven bits");
        number >>= 7;
        if number == 0 {
            return out.push(byte);
        }
        out.push(byte | 0x80);
    }
}

// What is no survey: records of page stores, runs of TLS, and advice. Each stands in the page as it was read.

/// Of every file that is no survey: what the page's scripts show of it.
pub(crate) fn sheets(sources: &[Source<'_>], labels: &[String]) -> Vec<Value> {
    let of = |(source, label): (&Source<'_>, &String)| match source.content {
        Content::Survey(_) => None,
        Content::Pages(record) => Some(pages(record, label)),
        Content::Advice(advised) => Some(advice(advised, label)),
        Content::Tls(run) => Some(tls(run, label)),
    };
    sources.iter().zip(labels).filter_map(of).collect()
}

fn pages(record: &PagesRecord, label: &str) -> Value {
    let mut value = serde_json::to_value(record).expect("plain data");
    // A number of 64 bits, which JavaScript has not.
    value["seed"] = record.seed.to_string().into();
    for library in value["libraries"].as_array_mut().into_iter().flatten() {
        // Long, and shown nowhere.
        library.as_object_mut().map(|fields| fields.remove("calls"));
    }
    mark_left_out(&mut value["cells"], record.cells.iter().map(Cell::is_left_out));
    mark_left_out(&mut value["verified"], record.verified.iter().map(Verified::is_left_out));
    value["withdrawn"] = json!(record.withdrawn());
    let answer = judge::advise::prices::of_record(record, SCREEN);
    json!({"kind": "pages", "label": label, "answer": answer, "record": tidy(value)})
}

/// What the page calls rows that there was no time for.
fn mark_left_out(rows: &mut Value, left_out: impl Iterator<Item = bool>) {
    let written = rows.as_array_mut().into_iter().flatten();
    for (row, _) in written.zip(left_out).filter(|(_, left_out)| *left_out) {
        row["state"] = LEFT_OUT.into();
    }
}

const SCREEN: Options = Options { width: crate::screen::WIDTH, color: false };

fn tls(run: &Run, label: &str) -> Value {
    let what = match run.kind {
        RunKind::Handshakes => "handshakes",
        RunKind::Records => "records",
        RunKind::Primitives => "primitives",
    };
    let mut value = json!(run);
    // It is said beside.
    value.as_object_mut().map(|fields| fields.remove("kind"));
    mark_left_out(&mut value["rows"], run.rows.iter().map(record::tls::Row::is_left_out));
    if run.kind == RunKind::Records {
        value["lines"] = json!(run.lines());
    }
    value["own_signatures"] = json!(record::tls::own_signatures(run));
    // A number of 64 bits, which JavaScript has not.
    value["plan"]["seed"] = run.plan.seed.to_string().into();
    let answer = stacks_screen(run, None, SCREEN);
    json!({"kind": "tls", "label": label, "what": what, "answer": answer, "run": tidy(value)})
}

fn advice(advised: &Advised, label: &str) -> Value {
    let value = serde_json::to_value(&advised.advice).expect("plain data");
    let record = crate::page::clean(&advised.record);
    let told = tidy(json!(Told::of(&advised.advice)));
    json!({"kind": "advice", "label": label, "record": record, "advice": tidy(value), "told": told})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_one_name_are_told_apart() {
        let record = record::fixtures::sample();
        let pages = include_str!("../../../record/tests/at-rest.json");
        let pages = record::read_run(pages, "sample", record::at_rest::of).unwrap();
        let source = |file| Source { file, content: Content::Survey(&record) };
        let store = Source { file: "a.json", content: Content::Pages(&pages) };
        let sources = [source("a.json"), source("a.json.gz"), source("a\u{202e}.json"), store];
        let head = Head::of(&sources, &labels(&sources));
        let names: Vec<&str> = head.records.iter().map(|r| r.label.as_str()).collect();
        assert_eq!(names, ["a", "a (2)", "a\u{fffd}"]);
        assert_eq!((head.sheets[0].label.as_str(), head.sheets[0].kind), ("a (3)", "pages"));
    }

    #[test]
    fn a_verdict_has_its_words_and_where_its_places_are() {
        let mut record = record::fixtures::sample();
        record.leaks[0].findings[0].instruction = "mov \u{1b}[2J".to_owned();
        let mut names = Names::default();
        names.enter_record(0, &record);
        let all = leaks_of(&record, &mut names);
        assert_eq!(all[0]["verdict"], "depends");
        let words = all[0]["words"].as_str().unwrap();
        assert!(words.starts_with("secret-dependent lookups in AES_encrypt (1024"), "{words}");
        let place = all[0]["places"][0][1].as_str().unwrap();
        assert!(place.ends_with("at 0x1a2b of libcrypto.so.3 and 15 more, in encrypt"), "{place}");
        assert!(!place.contains('\u{1b}'), "{place}");
    }

    #[test]
    fn a_stack_that_lost_the_race_is_left_out_of_the_page_and_did_not_fail() {
        use record::tls::{Case, Certificate, Exchange, Kind, Version, fixtures};
        let case = Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full);
        let mut lost = fixtures::handshake("slow@1", case, None);
        (lost.state, lost.stopped) = (record::State::Failed, Some(record::Stopped::Screened));
        let rows = vec![fixtures::handshake("fast@1", case, Some(71.2)), lost];
        let run = fixtures::run(RunKind::Handshakes, &["fast@1", "slow@1"], rows);
        let states = &tls(&run, "run")["run"]["rows"];
        assert_eq!(states[0]["state"], "measured");
        assert_eq!(states[1]["state"], LEFT_OUT);
    }

    #[test]
    fn the_page_has_a_word_for_each_reason_for_which_a_sample_does_not_count() {
        let script = include_str!("../../assets/js/samples.js");
        let words = script.lines().find(|line| line.starts_with("const MARKS = [")).unwrap();
        assert_eq!(words.matches('"').count(), 2 * (2 + Disturbance::ALL.len()), "{words}");
    }

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        let written = |n| {
            let mut out = Vec::new();
            write_number(&mut out, n);
            out
        };
        assert_eq!(written(0), [0]);
        assert_eq!(written(127), [127]);
        assert_eq!(written(300), [0xac, 2]);
    }

    #[test]
    fn a_value_is_kept_to_the_grain() {
        assert_eq!(steps(100.0, 100.0), 0);
        assert_eq!(steps(101.0, 100.0), 100);
        assert_eq!(steps(0.0, 100.0), 0);
        assert_eq!(steps(f64::INFINITY, 100.0), u64::from(u32::MAX));
    }

    #[test]
    fn a_sample_that_does_not_count_says_why() {
        let quiet = base::model::fixtures::sample(0, 1, 1.0);
        assert_eq!(mark(&quiet, true, 5.0), 0);
        assert_eq!(mark(&quiet, false, 5.0), 1);
        assert_eq!(mark(&RawSample { migrated: true, ..quiet }, false, 5.0), 2);
        assert_eq!(mark(&RawSample { probe_after: 3.0, ..quiet }, false, 5.0), 7);
    }
}
