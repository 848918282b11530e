//! Formats for programs: JSON and JSON Lines; measurements as one flat table with typed columns, CSV and
//! Parquet (`docs/FORMAT.md` lists the columns); and those of Bencher, github-action-benchmark, LNT and benchstat. Text
//! in them is data and stays as it is. Pure: plain data in, bytes out.

#[cfg(feature = "parquet")]
mod parquet;

use base::text::{csv_as_is, guarded, one_line};
use judge::compare::Case;
#[cfg(feature = "parquet")]
pub use parquet::{ParquetError, parquet};
use record::{Estimate, Executed, Leaks, Measurement, ProcessCosts, Record, State};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::ops::Deref;

pub(crate) fn as_json(record: &Record, selection: &[&Measurement]) -> String {
    record::to_json(&Record {
        limits: record.limits.clone(),
        executed: executed_by(&record.executed, selection),
        leaks: leaks_of(record, selection),
        measurements: selection.iter().copied().cloned().collect(),
        fits: record.fits.clone(),
        details: record.details.clone(),
        ..record.circumstances()
    })
}

fn executed_by(executed: &[Executed], selection: &[&Measurement]) -> Vec<Executed> {
    executed.iter().filter(|e| selection.iter().any(|m| e.is_of(m))).cloned().collect()
}

/// The verdicts on the selected measurements; of everything, those too that no measurement belongs to.
fn leaks_of(record: &Record, selection: &[&Measurement]) -> Vec<Leaks> {
    if selection.len() == record.measurements.len() {
        return record.leaks.clone();
    }
    let kept = |l: &&Leaks| selection.iter().any(|m| l.is_of(&m.library, &m.algorithm, m.tier));
    record.leaks.iter().filter(kept).cloned().collect()
}

/// One object a line: a measurement with the record's version and time, so that lines of several
/// records can stand in one file.
pub(crate) fn as_json_lines(record: &Record, selection: &[&Measurement]) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        format_version: &'a str,
        started: &'a str,
        #[serde(flatten)]
        measurement: &'a Measurement,
    }
    let mut out = String::new();
    for measurement in selection {
        let (format_version, started) = (&record.format_version, &record.started);
        let line = Line { format_version, started, measurement };
        out += &serde_json::to_string(&line).expect("plain data always serialises");
        out.push('\n');
    }
    out
}

// Measurements in the formats of programs that keep histories: Bencher, github-action-benchmark and LNT.

/// What a measurement is called there: one name for each case and library, whatever its version.
fn name(m: &Measurement) -> String {
    let mut words = vec![m.library.name.clone(), m.algorithm.clone(), m.direction.to_string()];
    words.extend((m.size > 0).then(|| m.size.to_string()));
    words.extend(Case::of(m).circumstances());
    words.join(" ")
}

/// The measured rows under names of their own: a library of which there are several builds has its version in them. What
/// only a busy core showed is a bound, which those programs would take for a change.
fn named<'a>(rows: &[&'a Measurement]) -> Vec<(String, &'a Measurement)> {
    let measured: Vec<&Measurement> = rows
        .iter()
        .copied()
        .filter(|m| m.state == State::Measured && m.ns_per_op.is_some() && !m.contended)
        .collect();
    let several = |m: &Measurement| {
        measured.iter().any(|o| o.library.name == m.library.name && o.library != m.library)
    };
    let is_twin = |m: &Measurement, o: &Measurement| {
        o.library.label() == m.library.label() && o.library != m.library
    };
    let label = |m: &Measurement| {
        let twin = measured.iter().any(|o| is_twin(m, o));
        let build = m.library.id.rsplit(':').next().unwrap_or_default().chars().take(8);
        m.library.label()
            + &if twin { format!("-{}", String::from_iter(build)) } else { String::new() }
    };
    let with_version = |m: &Measurement| name(m).replacen(&m.library.name, &label(m), 1);
    measured.iter().map(|m| (if several(m) { with_version(m) } else { name(m) }, *m)).collect()
}

/// Bencher Metric Format: `latency` in nanoseconds with its interval, `throughput` in operations a second.
pub fn bencher(rows: &[&Measurement]) -> String {
    let measures = |m: &Measurement| {
        let e = m.ns_per_op?;
        Some(json!({
            "latency": { "value": e.median, "lower_value": e.low, "upper_value": e.high },
            "throughput": { "value": 1e9 / e.median, "lower_value": 1e9 / e.high, "upper_value": 1e9 / e.low },
        }))
    };
    let all: Map<String, Value> =
        named(rows).into_iter().filter_map(|(name, m)| Some((name, measures(m)?))).collect();
    record::pretty(&all)
}

/// What github-action-benchmark reads as `customSmallerIsBetter`.
pub fn github_action(rows: &[&Measurement]) -> String {
    let entry = |(name, m): (String, &Measurement)| {
        let e = m.ns_per_op?;
        let half = (e.high - e.low) / 2.0;
        let extra = format!("{} {}", m.library.label(), m.library.id);
        Some(
            json!({ "name": name, "unit": "ns/op", "value": e.median, "range": format!("± {half:.3}"), "extra": extra }),
        )
    };
    record::pretty(&named(rows).into_iter().filter_map(entry).collect::<Value>())
}

/// Go's benchmark format, which benchstat reads: a line for each process that counts, so that its test compares what
/// ours does. What a case is stands as `/key=value`, for `benchstat -col /lib`.
pub fn benchstat(record: &Record, rows: &[&Measurement]) -> String {
    let mut out = format!("cpu: {}\npkg: ciphermark\n", one_line(&record.host.cpu.name));
    for (name, m) in named(rows) {
        let what = format!(" {} {}", m.algorithm, m.direction);
        let library = name.split_once(&what).map_or(&*name, |(library, _)| library);
        let mut keys = vec![
            ("lib", library.to_owned()),
            ("alg", m.algorithm.clone()),
            ("tier", m.tier.to_string()),
            ("footprint", m.footprint.to_string()),
            ("threads", m.threads.to_string()),
            ("inplace", m.in_place.to_string()),
            ("setting", m.setting.clone()),
            ("size", m.size.to_string()),
            ("dir", m.direction.to_string()),
        ];
        keys.retain(|(_, value)| !value.is_empty());
        let divides = |c: char| c.is_whitespace() || c.is_control() || c == '/';
        let keys =
            keys.iter().map(|(key, value)| format!("/{key}={}", value.replace(divides, "_")));
        let model = m.model.name();
        let title = model[..1].to_uppercase() + &model[1..] + &keys.collect::<String>();
        // Of what was kept without its processes all that is known is one line.
        let mut costs = ProcessCosts::of(record, m).unwrap_or_default();
        if costs.ns.is_empty() {
            costs.ns.extend(m.ns_per_op.map(|e| e.median));
            costs.cycles.push(m.cycles_per_op.map_or(0.0, |e| e.median));
        }
        for (ns, cycles) in costs.ns.iter().zip(&costs.cycles) {
            out += &format!("Benchmark{title} 1 {ns:.4} ns/op");
            if let Some((speed, of_all)) = m.mb_per_s.zip(m.ns_per_op) {
                out += &format!(" {:.2} MB/s", speed * of_all.median / ns);
            }
            if *cycles > 0.0 {
                out += &format!(" {cycles:.2} cycles/op");
            }
            out.push('\n');
        }
    }
    out
}

/// LNT's report, format version 2: seconds of an operation, one test a case.
pub fn lnt(record: &Record, rows: &[&Measurement]) -> String {
    let test = |(name, m): (String, &Measurement)| {
        let seconds = m.ns_per_op?.median * 1e-9;
        Some(
            json!({ "name": format!("ciphermark.{}", name.replace('.', "_")), "execution_time": [seconds] }),
        )
    };
    let tests: Vec<Value> = named(rows).into_iter().filter_map(test).collect();
    let cpu = &record.host.cpu;
    let time = record.started.trim_end_matches('Z').split('.').next().unwrap_or_default();
    record::pretty(&json!({
        "format_version": "2",
        "machine": { "name": cpu.name, "kernel": record.host.kernel.release, "microcode": cpu.microcode },
        "run": { "start_time": time, "end_time": time, "ciphermark": record.tool.version },
        "tests": tests,
    }))
}

// The columns: one list that every tabular format is made from.

/// A measurement with what the record says of it elsewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    m: &'a Measurement,
    leaks: Option<&'a Leaks>,
    instructions: Option<f64>,
}

impl<'a> Row<'a> {
    pub(crate) fn of(record: &'a Record, m: &'a Measurement) -> Self {
        let instructions = judge::compare::instructions_of(record, m);
        Self { m, leaks: record.leaks_of(m), instructions }
    }
}

impl Deref for Row<'_> {
    type Target = Measurement;

    fn deref(&self) -> &Measurement {
        self.m
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    Text(fn(&Row<'_>) -> Option<String>),
    /// A whole number, never negative.
    Count(fn(&Row<'_>) -> Option<u64>),
    Real(fn(&Row<'_>) -> Option<f64>),
    Flag(fn(&Row<'_>) -> bool),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Name in CSV: the field of the record, nested ones joined by an underscore.
    pub(crate) name: &'static str,
    /// Unit of its numbers, where the name does not say it.
    unit: Option<&'static str>,
    /// What it is called on the page, where it stands among the facts of a case.
    pub(crate) on_page: Option<&'static str>,
    pub(crate) of: Of,
}

impl Column {
    /// The name with its unit, for formats in which a column stands without its documentation.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only Parquet's schema asks for it")
    )]
    pub(crate) fn name_with_unit(&self) -> String {
        match self.unit {
            Some(unit) => format!("{}_{unit}", self.name),
            None => self.name.to_owned(),
        }
    }

    const fn in_unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    const fn on_page(self, words: &'static str) -> Self {
        Self { on_page: Some(words), ..self }
    }
}

const fn text(name: &'static str, of: fn(&Row<'_>) -> Option<String>) -> Column {
    Column { name, unit: None, on_page: None, of: Of::Text(of) }
}

const fn count(name: &'static str, of: fn(&Row<'_>) -> Option<u64>) -> Column {
    Column { name, unit: None, on_page: None, of: Of::Count(of) }
}

const fn real(name: &'static str, of: fn(&Row<'_>) -> Option<f64>) -> Column {
    Column { name, unit: None, on_page: None, of: Of::Real(of) }
}

const fn flag(name: &'static str, of: fn(&Row<'_>) -> bool) -> Column {
    Column { name, unit: None, on_page: None, of: Of::Flag(of) }
}

/// Every column, in the order in which formats have them. New ones come last.
pub(crate) const COLUMNS: [Column; 61] = [
    text("library_name", |m| written(&m.library.name)),
    text("library_version", |m| written(&m.library.version)),
    text("library_path", |m| written(&m.library.path)),
    text("library_id", |m| written(&m.library.id)),
    text("algorithm", |m| written(&m.algorithm)),
    text("direction", |m| written(m.direction.name())),
    text("model", |m| written(m.model.name())),
    count("model_version", |m| Some(m.model_version.into())),
    count("size", |m| Some(m.size as u64)).in_unit("bytes"),
    text("tier", |m| written(m.tier.name())),
    count("threads", |m| Some(m.threads.into())),
    text("footprint", |m| written(m.footprint.name())),
    text("state", |m| written(m.state.name())),
    text("reason", |m| m.reason.clone()),
    text("warning", |m| m.warning.clone()),
    real("ns_per_op_median", |m| median(m.ns_per_op)),
    real("ns_per_op_low", |m| low(m.ns_per_op)),
    real("ns_per_op_high", |m| high(m.ns_per_op)),
    real("cycles_per_op_median", |m| median(m.cycles_per_op)),
    real("cycles_per_op_low", |m| low(m.cycles_per_op)),
    real("cycles_per_op_high", |m| high(m.cycles_per_op)),
    real("ns_per_byte", |m| m.ns_per_byte),
    real("mb_per_s", |m| m.mb_per_s),
    real("cycles_per_byte", |m| m.cycles_per_byte),
    real("instructions_per_byte", |m| m.instructions_per_byte).on_page("instructions per byte"),
    real("limit_fraction", |m| m.limit_fraction),
    real("precision", |m| m.precision).in_unit("fraction"),
    text("stopped", |m| word(m.stopped.as_ref()?)),
    count("samples", |m| Some(m.samples)),
    count("samples_disturbed", |m| Some(m.samples_disturbed)),
    count("processes", |m| Some(m.processes.into())),
    text("checks", checks),
    text("evidence_clock", |m| written(&m.evidence.clock)),
    text("evidence_cycles", |m| written(&m.evidence.cycles)),
    count("evidence_outputs_checked", |m| Some(m.evidence.outputs_checked)),
    count("evidence_calls_succeeded", |m| Some(m.evidence.calls_succeeded)),
    real("limit_cycles_per_op", |m| m.limit_cycles_per_op),
    text("limited_by", |m| word(m.limited_by.as_ref()?)),
    flag("in_place", |m| m.in_place),
    real("key_setup_ns", |m| Some(m.key_setup?.ns)).on_page("ns for a new key"),
    real("key_setup_cycles", |m| m.key_setup?.cycles),
    real("latency_ns_p50", |m| Some(m.latency_ns.as_ref()?.p50)).on_page("ns, latency p50"),
    real("latency_ns_p99", |m| m.latency_ns.as_ref()?.p99).on_page("ns, latency p99"),
    real("latency_ns_p99_9", |m| m.latency_ns.as_ref()?.p99_9).on_page("ns, latency p99.9"),
    count("latency_ns_operations", |m| Some(m.latency_ns.as_ref()?.operations)),
    flag("contended", |m| m.contended),
    real("instructions_per_message", |m| m.instructions_per_message)
        .on_page("instructions for each message"),
    text("evidence_instructions", |m| m.evidence.instructions.clone()),
    text("imported_source", |m| Some(m.imported.as_ref()?.source.clone())),
    text("imported_machine", |m| m.imported.as_ref()?.machine.clone()),
    text("remarks", |m| written(&m.remarks.join("; "))),
    text("limit_basis", |m| word(m.limit_basis.as_ref()?)),
    text("setting", |m| written(&m.setting)),
    text("details", |m| Some(m.details.as_ref()?.to_string())),
    text("leaks", |m| Some(m.leaks?.verdict.name().to_owned())),
    text("leaks_words", |m| Some(m.leaks?.to_string())),
    count("settled_us", |m| Some(m.settled?.us.into())).on_page("µs until it had settled"),
    real("settled_first_ns", |m| Some(m.settled?.first_ns)).on_page("ns for the first message"),
    text("kinds", |m| m.kinds_in_words()).on_page("kinds of processes"),
    real("at_least_ns", |m| m.at_least_ns).on_page("ns at least"),
    real("instructions_per_cycle", instructions_per_cycle).on_page("instructions per cycle"),
];

/// Instructions of an operation in each core cycle. Well below 1: it waits, for a result or for memory.
pub(crate) fn instructions_per_cycle(m: &Row<'_>) -> Option<f64> {
    Some(m.instructions? / m.cycles_per_op?.median)
}

fn median(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|e| e.median)
}

fn low(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|e| e.low)
}

fn high(estimate: Option<Estimate>) -> Option<f64> {
    estimate.map(|e| e.high)
}

fn checks(m: &Row<'_>) -> Option<String> {
    let checks: Vec<String> = m.checks.iter().map(|c| format!("{}:{}", c.name, c.count)).collect();
    written(&checks.join(";"))
}

/// Nothing where there is nothing to read.
fn written(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn word<T: Serialize>(value: &T) -> Option<String> {
    let value = serde_json::to_value(value).expect("plain data always serialises");
    value.as_str().map(str::to_owned)
}

// CSV.

/// A header, then one row a measurement of the record: every field but the raw samples, and the verdict on its secrets.
/// Text that a spreadsheet
/// would take for a formula is preceded by an apostrophe; numbers are as they are.
pub fn csv(record: &Record, selection: &[&Measurement]) -> String {
    let heading = COLUMNS.map(|c| c.name);
    let rows = selection.iter().map(|m| Row::of(record, m));
    csv_as_is(&heading, rows.map(|row| COLUMNS.map(|c| field(&c, &row))))
}

fn field(column: &Column, m: &Row<'_>) -> String {
    let field = match column.of {
        Of::Text(of) => of(m).map(guarded),
        Of::Count(of) => of(m).map(|count| count.to_string()),
        Of::Real(of) => of(m).map(|real| real.to_string()),
        Of::Flag(of) => Some(of(m).to_string()),
    };
    field.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn selection(record: &Record) -> Vec<&Measurement> {
        record.measurements.iter().collect()
    }

    #[test]
    fn json_of_everything_is_the_record_and_of_a_part_a_smaller_record() {
        let record = sample::record();
        assert_eq!(as_json(&record, &selection(&record)), record::to_json(&record));
        let part = record::from_json(&as_json(&record, &selection(&record)[..2]), "part").unwrap();
        assert_eq!(part.measurements, record.measurements[..2]);
        assert_eq!(part.host, record.host);
    }

    #[test]
    fn a_bound_is_no_figure_for_programs_that_keep_histories() {
        let mut record = sample::record();
        let names = |record: &Record| -> usize { named(&selection(record)).len() };
        let all = names(&record);
        let first = record.measurements.iter_mut().find(|m| m.state == State::Measured).unwrap();
        first.contended = true;
        assert_eq!(names(&record), all - 1);
    }

    #[test]
    fn verdicts_go_with_the_rows_that_they_are_of_and_stand_alone_where_there_are_none() {
        let record = Record { leaks: sample::leaks(), ..sample::record() };
        let read = |text: &str| record::from_json(text, "part").unwrap().leaks;
        let of_openssl: Vec<&Measurement> =
            record.measurements.iter().filter(|m| m.library.name == "openssl").collect();
        let part = read(&as_json(&record, &of_openssl));
        assert_eq!(part, record.leaks[..3], "at the tier that was measured");
        assert_eq!(read(&as_json(&record, &selection(&record))), record.leaks);
        let alone = Record { measurements: Vec::new(), ..record.clone() };
        assert_eq!(read(&as_json(&alone, &[])), record.leaks);
    }

    #[test]
    fn each_json_line_is_a_whole_measurement() {
        let record = sample::record();
        let text = as_json_lines(&record, &selection(&record));
        assert_eq!(text.lines().count(), record.measurements.len());
        for (line, m) in text.lines().zip(&record.measurements) {
            assert_eq!(&serde_json::from_str::<Measurement>(line).unwrap(), m);
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["format_version"], record::FORMAT_VERSION);
        }
    }

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_measured_case_is_there_once_under_a_name_of_its_own() {
        let record = sample::record();
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        let measured = rows.iter().filter(|m| m.state == State::Measured).count();
        assert!(measured > 2);
        let of_bencher = read(&bencher(&rows));
        assert_eq!(of_bencher.as_object().unwrap().len(), measured);
        assert_eq!(read(&github_action(&rows)).as_array().unwrap().len(), measured);
        assert_eq!(read(&lnt(&record, &rows))["tests"].as_array().unwrap().len(), measured);
        let lines = benchstat(&record, &rows);
        let names: std::collections::BTreeSet<&str> =
            lines.lines().filter_map(|l| l.strip_prefix("Benchmark")?.split(' ').next()).collect();
        assert_eq!(names.len(), measured, "{lines}");
    }

    #[test]
    fn a_name_of_several_words_or_lines_stays_one_value_of_a_benchmark() {
        let mut record = sample::record();
        for m in &mut record.measurements {
            m.library.name = format!("my {}\nown/lib", m.library.name);
        }
        let rows = selection(&record);
        let lines = benchstat(&record, &rows);
        let names: std::collections::BTreeSet<&str> =
            lines.lines().skip(2).map(|l| l.split(' ').next().unwrap()).collect();
        assert_eq!(names.len(), named(&rows).len(), "{lines}");
        assert!(names.iter().all(|name| name.starts_with("Benchmark")), "{lines}");
        assert!(lines.contains("/lib=my_openssl_own_lib/alg=aes-128-gcm/"), "{lines}");
    }

    #[test]
    fn figures_are_the_records_in_the_units_of_each_format() {
        let record = sample::record();
        let m = record.measurements.iter().find(|m| m.state == State::Measured).unwrap();
        let ns = m.ns_per_op.unwrap();
        let of_bencher = read(&bencher(&[m]));
        let measures = of_bencher.as_object().unwrap().values().next().unwrap();
        assert_eq!(measures["latency"]["value"], ns.median);
        assert_eq!(measures["throughput"]["lower_value"], 1e9 / ns.high);
        assert_eq!(read(&github_action(&[m]))[0]["value"], ns.median);
        let of_lnt = read(&lnt(&record, &[m]));
        assert_eq!(of_lnt["tests"][0]["execution_time"][0], ns.median * 1e-9);
        assert_eq!(of_lnt["format_version"], "2");
    }

    /// Fields that only JSON has: of disturbances, a column for each reason would say 0 nearly everywhere.
    const ELSEWHERE: [&str; 3] = ["per_thread", "disturbed", "raw"];

    #[test]
    fn every_field_of_a_measurement_has_a_column() {
        let schema = serde_json::to_value(record::schema()).unwrap();
        let fields = schema["$defs"]["Measurement"]["properties"].as_object().unwrap();
        assert!(fields.len() > 30);
        for field in fields.keys().filter(|field| !ELSEWHERE.contains(&field.as_str())) {
            let is = |c: &Column| c.name == field || c.name.starts_with(&format!("{field}_"));
            assert!(COLUMNS.iter().any(is), "{field}");
        }
    }

    #[test]
    fn each_column_holds_the_field_that_it_is_named_after() {
        let record = sample::full_record();
        let row = Row::of(&record, &record.measurements[0]);
        let value = serde_json::to_value(row.m).unwrap();
        let elsewhere = |c: &&Column| {
            ["checks", "instructions_per_cycle"].contains(&c.name) || c.name.starts_with("leaks")
        };
        for column in COLUMNS.iter().filter(|c| !elsewhere(c)) {
            let expected = match column.of {
                Of::Text(of) => serde_json::json!(of(&row)),
                Of::Count(of) => serde_json::json!(of(&row)),
                Of::Real(of) => serde_json::json!(of(&row)),
                Of::Flag(of) => serde_json::json!(of(&row)),
            };
            assert_eq!(columns_field(&value, column.name), &expected, "{}", column.name);
        }
    }

    fn columns_field<'a>(value: &'a Value, name: &'static str) -> &'a Value {
        let nested = [
            "library",
            "ns_per_op",
            "cycles_per_op",
            "key_setup",
            "latency_ns",
            "evidence",
            "imported",
        ];
        let split = |parent: &'static str| {
            let rest = name.strip_prefix(parent)?.strip_prefix('_')?;
            Some((parent, rest))
        };
        match nested.into_iter().find_map(split) {
            Some((parent, rest)) => &value[parent][rest],
            None => &value[name],
        }
    }

    #[test]
    fn every_column_is_listed_in_the_documentation() {
        let page = include_str!("../../../../docs/FORMAT.md");
        let page = page.split_once("## CSV").unwrap().1;
        let is_column = |word: &&str| COLUMNS.iter().any(|c| c.name == *word);
        let listed: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_column).collect();
        let names: Vec<&str> = COLUMNS.iter().map(|c| c.name).collect();
        assert_eq!(listed[..names.len()], names);
    }

    fn rows(measurements: &[Measurement]) -> Vec<::csv::StringRecord> {
        let text = csv(&sample::full_record(), &measurements.iter().collect::<Vec<_>>());
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        reader.records().map(Result::unwrap).collect()
    }

    fn column(name: &str) -> usize {
        COLUMNS.iter().position(|c| c.name == name).unwrap()
    }

    #[test]
    fn commas_quotes_and_line_breaks_in_reasons_stay_in_their_field() {
        let mut m = sample::full_measurements()[0].clone();
        m.reason = Some("a \"b\",\nc".to_owned());
        let rows = rows(&[m]);
        assert_eq!(rows.len(), 1);
        assert_eq!(&rows[0][column("reason")], "a \"b\",\nc");
        assert_eq!(csv(&sample::full_record(), &[]).lines().count(), 1);
    }

    #[test]
    fn text_that_begins_like_a_formula_is_made_text_and_a_negative_number_stays_a_number() {
        let mut m = sample::full_measurements()[0].clone();
        m.key_setup = Some(record::KeySetup { ns: -3.5, cycles: None });
        for hostile in ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"] {
            m.library.name = hostile.to_owned();
            m.reason = Some(format!("{hostile}\",=2"));
            let rows = rows(std::slice::from_ref(&m));
            assert_eq!(rows[0][column("library_name")], format!("'{hostile}"));
            assert_eq!(rows[0][column("reason")], format!("'{hostile}\",=2"));
            assert_eq!(&rows[0][column("key_setup_ns")], "-3.5");
        }
        m.library.name = "a=b".to_owned();
        assert_eq!(&rows(&[m])[0][column("library_name")], "a=b");
    }

    #[test]
    fn the_verdict_on_secrets_stands_beside_each_row_that_it_is_of() {
        let record = sample::full_record();
        let judged = record.measurements[0].clone();
        let other = Measurement { tier: base::model::Tier::Baseline, ..judged.clone() };
        let rows = rows(&[judged, other]);
        assert_eq!(&rows[0][column("leaks")], "depends");
        assert!(
            rows[0][column("leaks_words")].starts_with("secret-dependent lookups in AES_encrypt")
        );
        assert_eq!((&rows[1][column("leaks")], &rows[1][column("leaks_words")]), ("", ""));
    }
}
