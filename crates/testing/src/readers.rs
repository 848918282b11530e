//! Readers of what strangers write, over any bytes: everything that is typed, files of a known form, lines of
//! the protocol, records and journals, figures from elsewhere, objects; and everything that shows a record,
//! over records whose fields hold anything. TLS as well: runs of handshakes, records and primitives,
//! calibrations, specifications of servers and the lists in them, shown in every form, calculated with, asked
//! for causes and for advice.

use crate::check::{self, Choices, RECORD, changed, changed_of};
use base::model::{MAX_SIZE, Model, NameGlob, QuietRates, RawSample};
use base::text::{LibraryText, Options, Suite, flags};
use engine::decode;
use engine::protocol::{Reply, VisitResult};
use judge::claims::{Evidence, Source};
use judge::compare::{Best, Matching, Question, Settings, Side};
use judge::load::{Calibration, HandshakeParts, Inputs, Question as LoadQuestion, Spec};
use record::import::{Format as Figures, Row, Said};
use record::tls::{Format as TlsFormat, Run, RunKind};
use record::{Imported, Journal, Measurement, Record, Samples};
use report::page::Content;
use report::{CallRow, ComparisonFormat, ExecutedRow, Format};
use serde_json::Value;
use std::sync::LazyLock;

/// The first bytes say how it is shown, the others what the record's fields hold.
pub(crate) fn show_records(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let (Some(wide), Some(how)) = (choices.byte(), choices.byte()) else { return };
    let options = Options { width: 20 + usize::from(wide), color: how & 1 == 1 };
    let text = changed(&mut choices).to_string();
    match record::from_json(&text, "r.json") {
        Err(why) => check::line(&why),
        Ok(record) => {
            let shown = Shown { record: &record, harmless: &harmless(&record), options };
            match how / 2 % 5 {
                0 => shown.tables(),
                1 => shown.data(),
                2 => shown.answers(),
                3 => shown.page(),
                _ => shown.claims(),
            }
        }
    }
}

/// The same with a harmless letter where markup would begin.
fn harmless(record: &Record) -> Record {
    let harmless = record::to_json(record).replace('<', "x");
    record::from_json(&harmless, "r.json").expect("it differs in texts only")
}

struct Shown<'a> {
    record: &'a Record,
    harmless: &'a Record,
    options: Options,
}

fn all(record: &Record) -> Vec<&Measurement> {
    record.measurements.iter().collect()
}

impl Shown<'_> {
    fn for_people(&self, what: &str, text: &str) {
        check::for_people(what, text, self.options.color);
    }

    /// The same of both records; what is markup in neither.
    fn markdown(&self, what: &str, render: impl Fn(&Record) -> String) {
        check::markdown(what, &[render(self.record), render(self.harmless)]);
    }

    fn tables(&self) {
        let (record, options, rows) = (self.record, self.options, all(self.record));
        let best = Best::of(record, &rows);
        let table = report::render(record, &rows, &best, Format::Table, options);
        self.for_people("the table", &table);
        self.for_people("costs", &report::costs(record, &rows, options));
        let leaks = |record: &Record, format| report::leaks(&record.leaks, format, options);
        self.for_people("what depends on secrets", &leaks(record, Format::Table));
        self.markdown("what depends on secrets in Markdown", |r| leaks(r, Format::Markdown));
        check::spreadsheet("what depends on secrets", &leaks(record, Format::Csv));
        check::json("what depends on secrets", &leaks(record, Format::Json));
        self.for_people("limits", &report::limits(&record.limits, options));
        self.for_people("libraries", &report::libraries(&record.libraries, options));
        self.for_people("what was executed", &report::calls(&calls(record), options));
        self.for_people("leaks on a screen", &report::leaks_screen(&record.leaks, options));
        let costs = report::explain_screen(&calls(record), Some(record), &rows, options);
        self.for_people("costs on a screen", &costs);
        self.markdown("Markdown", |r| {
            report::render(r, &all(r), &Best::default(), Format::Markdown, options)
        });
        for text in [
            record::import::openssl_speed::text(record, &rows),
            record::import::openssl_speed::machine_readable(record, &rows),
        ] {
            check::for_people("openssl speed", &text, false);
            if let Err(record::import::openssl_speed::NotSpeed::Broken { line, why }) =
                record::import::openssl_speed::read(&text)
            {
                panic!("what is written as openssl speed is not read: line {line}: {why}: {text}");
            }
        }
    }

    fn data(&self) {
        let (record, options, rows) = (self.record, self.options, all(self.record));
        let none = Best::default();
        check::json("JSON", &report::render(record, &rows, &none, Format::Json, options));
        let lines = report::render(record, &rows, &none, Format::Jsonl, options);
        assert_eq!(lines.lines().count(), rows.len());
        lines.lines().for_each(|line| check::json("a line of JSON", line));
        assert_eq!(check::spreadsheet("CSV", &report::formats::csv(record, &rows)), rows.len() + 1);
        let again = record::from_json(&record::to_json(record), "r.json");
        assert_eq!(&again.expect("what was written is read"), record);
    }

    fn answers(&self) {
        let ask = |record: &Record| {
            let questions = Question::usual(record).into_iter();
            questions.filter_map(|q| judge::compare::rank(record, &q, 3).ok()).collect::<Vec<_>>()
        };
        let (asked, harmless) = (ask(self.record), ask(self.harmless));
        let render = |answers: &[_], format| report::rankings(answers, format, self.options);
        self.for_people("an answer", &render(&asked, ComparisonFormat::Text));
        check::json("answers", &render(&asked, ComparisonFormat::Json));
        check::spreadsheet("answers", &render(&asked, ComparisonFormat::Csv));
        let marked = [&asked, &harmless].map(|a| render(a, ComparisonFormat::Markdown));
        check::markdown("answers in Markdown", &marked);
        for (base, new) in [(&*RECORD, self.record), (self.record, self.record)] {
            let other = if std::ptr::eq(base, self.record) { self.harmless } else { base };
            self.comparison([base, new], [other, self.harmless]);
        }
    }

    fn comparison(&self, hostile: [&Record; 2], harmless: [&Record; 2]) {
        let matching = Matching::ByName;
        let settings =
            Settings { tolerance: 0.02, matching, apart: judge::compare::Apart::Nothing };
        let compared = |[base, new]: [&Record; 2]| {
            judge::compare::compare(&side(base, "base"), &side(new, "new"), &settings)
        };
        let (shown, harmless) = (compared(hostile), compared(harmless));
        let found: Vec<_> = ["slower", "leaks"]
            .iter()
            .filter_map(|text| text.parse::<judge::compare::Condition>().ok()?.find(&shown))
            .collect();
        let render = |c, format| report::comparison(c, &found, format, 50, self.options);
        self.for_people("a comparison", &render(&shown, ComparisonFormat::Text));
        check::json("a comparison", &render(&shown, ComparisonFormat::Json));
        check::spreadsheet("a comparison", &render(&shown, ComparisonFormat::Csv));
        let marked = [&shown, &harmless].map(|c| render(c, ComparisonFormat::Markdown));
        check::markdown("a comparison in Markdown", &marked);
    }

    fn page(&self) {
        check::page([self.record, self.harmless].map(Content::Survey));
        let rows = all(self.record);
        let packed = report::formats::parquet(self.record, &rows).expect("any record is a table");
        assert!(packed.starts_with(b"PAR1") && packed.ends_with(b"PAR1"));
    }

    fn claims(&self) {
        static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(judge::claims::built_in);
        let records = [self.record.clone()];
        let evidence = Evidence::of(&records);
        let each = SOURCES.iter().flat_map(|s| s.claims.iter().map(move |c| (s, c)));
        let judged: Vec<_> = each.map(|(s, c)| judge::claims::judge(s, c, &evidence)).collect();
        let render = |format| judge::claims::render_claims(&judged, format, self.options);
        self.for_people("claims", &render(judge::claims::Format::Text));
        check::for_people("claims in Markdown", &render(judge::claims::Format::Markdown), false);
        check::json("claims", &render(judge::claims::Format::Json));
        check::spreadsheet("claims", &render(judge::claims::Format::Csv));
    }
}

fn side<'a>(record: &'a Record, name: &str) -> Side<'a> {
    Side { record, name: name.to_owned(), rows: all(record) }
}

/// As `explain RECORD` shows them.
fn calls(record: &Record) -> Vec<CallRow> {
    let row = |executed: &record::Executed| CallRow {
        library: format!("{}@{}", executed.library.name, executed.library.version),
        algorithm: executed.algorithm.clone(),
        direction: executed.direction.to_string(),
        functions: executed.reason.clone(),
        copies: true,
        allocates: false,
        costs: Ok(Vec::new()),
        executed: vec![ExecutedRow {
            executed: executed.clone(),
            refused: executed.excepted.clone(),
            exact: Vec::new(),
        }],
        leaks: record.leaks.clone(),
    };
    record.executed.iter().map(row).collect()
}

// What is typed: sizes, globs, quantities, libraries, conditions, expressions.

/// The first byte says which grammar the rest is of.
pub(crate) fn read_typed(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    // As the system hands over arguments: what is not UTF-8 never arrives.
    let text = &*String::from_utf8_lossy(rest);
    match which % 10 {
        0 => sizes(text),
        1 => glob(text),
        2 => fraction(text),
        3 => duration(text),
        4 => flags::parse_rows(text).map_or_else(|why| check::shown(&why), |_| ()),
        5 => hexadecimal(text),
        6 => library(text),
        8 => expression(text),
        _ => text
            .parse::<judge::compare::Condition>()
            .map_or_else(|why| check::shown(&why), condition),
    }
}

fn sizes(text: &str) {
    match base::model::parse_sizes(text) {
        Err(why) => check::shown(&why),
        Ok(sizes) => {
            assert!(!sizes.is_empty() && sizes.windows(2).all(|w| w[0] < w[1]));
            assert!(sizes.iter().all(|s| (1..=MAX_SIZE).contains(s)));
            let printed = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            assert_eq!(base::model::parse_sizes(&printed).as_ref(), Ok(&sizes));
        }
    }
}

fn glob(text: &str) {
    match NameGlob::parse(text) {
        Err(why) => check::shown(&why),
        Ok(glob) => {
            assert_eq!(glob.text(), text);
            let again = NameGlob::parse(glob.text()).expect("it was read before");
            for name in ["aes-128-gcm", "openssl@3.0.22", "", "{", text] {
                assert_eq!(glob.matches(name), again.matches(name));
            }
            let _ = base::model::nearest(text, ["openssl", "libgcrypt"]);
        }
    }
}

fn fraction(text: &str) {
    match flags::parse_fraction(text) {
        Err(why) => check::shown(&why),
        Ok(fraction) => assert!(fraction > 0.0 && fraction <= 1.0),
    }
}

fn duration(text: &str) {
    match flags::parse_duration(text) {
        Err(why) => check::shown(&why),
        Ok(time) => assert!((0.0009..=86_400.0).contains(&time.as_secs_f64())),
    }
}

fn hexadecimal(text: &str) {
    match flags::parse_hex(text) {
        Err(why) => check::shown(&why),
        Ok(bytes) => assert_eq!(bytes.0.len() * 2, text.trim().len()),
    }
}

fn library(text: &str) {
    match LibraryText::parse(text) {
        Err(why) => check::shown(&why),
        Ok(LibraryText::Glob(glob)) => assert_eq!(glob.text(), text),
        Ok(LibraryText::File { name, path }) => {
            assert_eq!(format!("{name}={path}"), text);
            assert!(!name.contains(['/', '\0', '\n', ' ']) && !name.is_empty());
        }
    }
}

fn expression(text: &str) {
    match judge::claims::parse(text, Model::Message) {
        Err(why) => check::shown(&why),
        Ok(expression) => {
            let records = std::slice::from_ref(&*RECORD);
            let evidence = Evidence::of(records);
            let library = RECORD.measurements.first().map(|m| &m.library);
            match judge::claims::evaluate(&expression, &evidence, library) {
                Ok(value) => check::shown(&value),
                Err(why) => check::shown(&why),
            }
        }
    }
}

fn condition(condition: judge::compare::Condition) {
    let again = condition.to_string().parse::<judge::compare::Condition>();
    assert_eq!(again.ok().map(|c| c.to_string()), Some(condition.to_string()));
}

// Suites, claims and manifests (TOML), and vectors (JSON): files of a known form.

/// The first byte says which reader the rest is for.
pub(crate) fn read_documents(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    // The program names a file that is no text before any of these sees it.
    let Ok(text) = std::str::from_utf8(rest) else { return };
    match which % 4 {
        0 => suite(text),
        1 => judge::claims::parse_source(text).map_or_else(|why| check::shown(&why), drop),
        2 => host::inputs::read_manifest(text).map_or_else(|why| check::shown(&why), drop),
        _ => vectors(text),
    }
}

fn suite(text: &str) {
    match Suite::parse(text) {
        Err(why) => check::shown(&why),
        Ok(suite) => {
            suite.algorithms.iter().for_each(|glob| {
                let _ = base::model::NameGlob::parse(glob);
            });
            let _ =
                (base::model::parse_sizes(&suite.sizes), flags::parse_fraction(&suite.precision));
            let _ = flags::parse_duration(&suite.budget);
        }
    }
}

fn vectors(text: &str) {
    match verify::vectors::read(text) {
        Err(why) => check::line(&why),
        Ok(file) => {
            for (algorithm, vector) in &file.vectors {
                let bytes = |hex: &str| hex.len() / 2;
                assert_eq!(bytes(&vector.key), algorithm.key_len);
                assert_eq!(bytes(&vector.nonce), algorithm.nonce_len);
                assert_eq!(bytes(&vector.tag), algorithm.tag_len);
            }
            file.skipped.iter().for_each(|(_, why)| check::shown(why));
        }
    }
}

pub(crate) fn read_records(bytes: &[u8]) {
    record(bytes);
    journal(bytes);
}

fn record(bytes: &[u8]) {
    match record::from_bytes(bytes.to_vec(), "r.json") {
        Err(why) => check::line(&why),
        Ok(read) => {
            let written = record::to_json(&read);
            let again = record::from_json(&written, "r.json");
            assert_eq!(again.expect("what was written is read"), read);
        }
    }
}

fn journal(bytes: &[u8]) {
    match Journal::read_from(bytes, "r.json.partial") {
        Err(why) => check::line(&why),
        Ok(kept) => assert!(kept.samples.iter().all(|s| s.case < kept.head.cases)),
    }
}

// Figures from elsewhere: what other benchmarks printed, and tables.

/// The first byte says what is known beside the text, and which format it is said to be.
pub(crate) fn read_figures(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let formats = Figures::ALL;
    let format = formats.get(usize::from(which >> 1) % (formats.len() + 1)).copied();
    let said = Said { decrypt: which & 1 != 0, size: Some(16), ..Said::default() };
    match record::import::read(text, format, &said) {
        Err(why) => check::line(&why),
        Ok(found) => {
            let source = found.source.unwrap_or_else(|| "what a program printed".to_owned());
            delivered(&[(found.rows, Imported { source, machine: found.machine })]);
        }
    }
}

/// The rows as a record, which is read again and shown.
fn delivered(sources: &[(Vec<Row>, Imported)]) {
    let imported = record::import::record(sources, "2026-01-01T00:00:00Z", Vec::new());
    let again = record::from_json(&record::to_json(&imported), "r.json");
    assert_eq!(again.expect("what was imported is read"), imported);
    let all: Vec<&Measurement> = imported.measurements.iter().collect();
    let table = report::render(
        &imported,
        &all,
        &judge::compare::Best::default(),
        Format::Table,
        Options::default(),
    );
    check::for_people("the table", &table, false);
    assert_eq!(check::spreadsheet("CSV", &report::formats::csv(&imported, &all)), all.len() + 1);
}

// Lines of the protocol, at both ends.

pub(crate) fn read_protocol(bytes: &[u8]) {
    for line in bytes.split(|b| *b == b'\n').take(64) {
        match decode::reply(line) {
            Err(why) => check::line(&why),
            Ok(reply) => decoded(&reply),
        }
        match decode::request(line) {
            Err(why) => check::line(&why),
            Ok(request) => {
                let again = decode::request(&serde_json::to_vec(&request).expect("plain data"));
                assert_eq!(again.as_ref(), Ok(&request));
            }
        }
    }
}

fn decoded(reply: &Reply) {
    let again = decode::reply(&serde_json::to_vec(reply).expect("plain data"));
    assert_eq!(again.as_ref(), Ok(reply), "a reply that was let through is let through again");
    if let Reply::Samples { results } = reply {
        summarised(&results.concat());
    }
}

/// What is let through can be computed with, and kept in a record.
fn summarised(results: &[VisitResult]) {
    let samples: Vec<RawSample> = results.iter().flat_map(of_visit).collect();
    let mut kept = Samples::default();
    samples.iter().for_each(|sample| kept.push(sample, true));
    let text = serde_json::to_string(&kept).expect("plain data");
    assert_eq!(serde_json::from_str::<Samples>(&text).expect("it was written"), kept);
    if let Some(summary) = base::analysis::summarise(&samples, &QuietRates::default()) {
        for estimate in std::iter::once(summary.ticks_per_op).chain(summary.cycles_per_op) {
            let base::analysis::Estimate { median, low, high } = estimate;
            assert!([median, low, high].iter().all(|n| n.is_finite()), "{estimate:?}");
            assert!(low <= median && median <= high && median >= 0.0, "{estimate:?}");
        }
    }
}

fn of_visit(result: &VisitResult) -> Vec<RawSample> {
    match result {
        VisitResult::Sample(sample) => vec![*sample],
        VisitResult::Taken { samples, .. } => samples.clone(),
        VisitResult::Ends { samples, .. } => {
            samples.iter().flat_map(|s| [s.server_sample(), s.client_sample()]).collect()
        }
        VisitResult::Settled(_) | VisitResult::Finding(_) => Vec::new(),
    }
}

// Files that are handed over as libraries, and what the kernel says of the machine.

/// The first byte says whether the rest is a file or a text of the kernel.
pub(crate) fn read_objects(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    if which % 2 == 0 {
        object(rest);
    } else {
        host::inputs::read_kernel_text(&String::from_utf8_lossy(rest));
    }
}

fn object(bytes: &[u8]) {
    if let Err(why) = host::check_bytes(bytes) {
        check::line(&why);
    }
    let id = host::id_of(bytes);
    let (kind, digits) = id.split_once(':').expect("an id has its kind");
    assert!(["build-id", "sha256"].contains(&kind) && !digits.is_empty(), "{id}");
    assert!(digits.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    let _ = host::inputs::instruction_counts(bytes);
    host::inputs::read_for_loader(bytes);
    #[cfg(target_arch = "x86_64")]
    if let Err(why) = host::tier::read_object(bytes) {
        check::shown(&why);
    }
    for offset in [0, 64, bytes.len() as u64 / 2, bytes.len() as u64, u64::MAX] {
        let _ = probe::step::function_in(bytes, offset);
    }
}

/// Runs of every kind, small ones: as older versions wrote them, and as records.
static RUNS: LazyLock<[Value; 6]> = LazyLock::new(|| {
    let texts = [
        include_str!("../samples/handshakes.json"),
        include_str!("../samples/records.json"),
        include_str!("../samples/primitives.json"),
    ];
    let older = texts.map(|text| serde_json::from_str(text).expect("it is tested"));
    let record = |text| record::read(text, "sample").expect("it is tested");
    let records = texts.map(|text| serde_json::to_value(record(text)).expect("plain data"));
    let mut all = older.into_iter().chain(records);
    std::array::from_fn(|_| all.next().expect("there are twice three"))
});

/// A calibration of every point.
static CALIBRATION: LazyLock<Calibration> = LazyLock::new(judge::load::sample::calibration);
static CALIBRATION_VALUE: LazyLock<Value> =
    LazyLock::new(|| serde_json::to_value(&*CALIBRATION).expect("documents are plain data"));

/// The first byte says what the others are, the second how it is shown.
pub(crate) fn read_tls(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let (Some(kind), Some(how)) = (choices.byte(), choices.byte()) else { return };
    match kind % 8 {
        0..=2 => {
            let at = usize::from(kind % 8) + if kind < 128 { 0 } else { 3 };
            file(&changed_of(&RUNS[at], &mut choices).to_string(), how);
        }
        3 => calibration(&changed_of(&CALIBRATION_VALUE, &mut choices).to_string(), how),
        rest => {
            let Ok(text) = std::str::from_utf8(choices.0) else { return };
            match rest {
                4 => file(text, how),
                5 => calibration(text, how),
                6 => specification(text, how),
                _ => lists(text, how),
            }
        }
    }
}

const FORMATS: [TlsFormat; 4] =
    [TlsFormat::Table, TlsFormat::Json, TlsFormat::Csv, TlsFormat::Markdown];

fn options(how: u8) -> Options {
    Options { width: 20 + usize::from(how), color: false }
}

/// A rendering keeps the promises of its form.
fn shown(what: &str, render: &dyn Fn(TlsFormat) -> String) {
    for format in FORMATS {
        let text = render(format);
        match format {
            TlsFormat::Json => check::json(what, &text),
            TlsFormat::Csv => {
                check::spreadsheet(what, &text);
            }
            _ => check::for_people(what, &text, false),
        }
    }
}

fn file(text: &str, how: u8) {
    let read = |text: &str| record::read_run(text, "t.json", record::tls::from_record);
    let run = match read(text) {
        Err(why) => return check::line(&why),
        Ok(run) => run,
    };
    let render = |run: &Run, format| match format {
        TlsFormat::Table => record::tls::table(run, options(how).width),
        TlsFormat::Json => record::to_json(&record::tls::into_record(run, &[])),
        TlsFormat::Csv => {
            let record = record::tls::into_record(run, &[]);
            report::formats::csv(&record, &record.measurements.iter().collect::<Vec<_>>())
        }
        TlsFormat::Markdown => record::tls::markdown(run),
    };
    shown("a run of TLS", &|format| render(&run, format));
    let written = render(&run, TlsFormat::Json);
    assert_eq!(read(&written).expect("what was written is read"), run);
    // The same with a harmless letter where markup would begin.
    let harmless = read(&written.replace('<', "x"));
    let harmless = harmless.expect("it differs in texts only");
    let both = [&run, &harmless];
    check::no_markup("Markdown", &both.map(|r| render(r, TlsFormat::Markdown)));
    check::page(both.map(Content::Tls));
    used(&run, how);
}

/// What other commands make of a run.
fn used(run: &Run, how: u8) {
    let mut parts = HandshakeParts::default();
    let (mut records, stack) = (None, &CALIBRATION.stack);
    match run.kind {
        RunKind::Handshakes => {
            parts.add_memory(run, stack);
            advice(run, how);
        }
        RunKind::Records => records = Some(run),
        RunKind::Primitives => parts.add_primitives(run, stack),
    }
    let inputs = Inputs { calibration: &CALIBRATION, records, parts: Some(&parts) };
    loaded(&Spec::default(), &inputs, how);
}

fn advice(run: &Run, how: u8) {
    let clients = judge::advise::tls_server::Question::clients(&["browser".to_owned()]);
    let question = judge::advise::tls_server::Question {
        clients: clients.expect("a class that there is"),
        certificates: vec![record::tls::Certificate::Rsa2048, record::tls::Certificate::P256],
        resumed_share: 0.5,
        post_quantum: how & 1 == 1,
        bytes_per_connection: 1000,
        temperature: record::tls::Temperature::Hot,
        only: None,
    };
    let evidence = judge::advise::tls_server::Evidence {
        handshakes: run,
        records: None,
        calibration: Some(&CALIBRATION),
        secrets: &[],
    };
    match judge::advise::tls_server::advise(&question, &evidence) {
        Err(why) => check::shown(&why),
        Ok(advice) => {
            let render = |format| judge::advise::tls_server::render(&advice, format, options(how));
            check::for_people("advice", &render(judge::advise::Format::Text), false);
            check::for_people("advice", &render(judge::advise::Format::Markdown), false);
            check::json("advice", &render(judge::advise::Format::Json));
        }
    }
}

fn calibration(text: &str, how: u8) {
    match Calibration::parse(text, "c.json") {
        Err(why) => check::line(&why),
        Ok(read) => {
            let render = |format| judge::load::render_calibration(&read, format, options(how));
            shown("a calibration", &render);
            let again = Calibration::parse(&render(TlsFormat::Json), "c.json");
            assert_eq!(again.expect("what was written is read"), read);
            let inputs = Inputs { calibration: &read, records: None, parts: None };
            loaded(&Spec::default(), &inputs, how);
        }
    }
}

fn specification(text: &str, how: u8) {
    match Spec::parse(text) {
        Err(why) => check::shown(&why),
        Ok(spec) => {
            let inputs = Inputs { calibration: &CALIBRATION, records: None, parts: None };
            loaded(&spec, &inputs, how);
        }
    }
}

/// A cipher string, a list of groups and a class of clients, a line each.
fn lists(text: &str, how: u8) {
    let mut lines = text.lines().map(str::to_owned);
    let mut spec = Spec::default();
    spec.server.ciphers = lines.next();
    spec.server.groups = lines.next();
    if let Some(class) = lines.next() {
        let typed: Vec<String> = class.split(',').map(str::to_owned).collect();
        match judge::advise::tls_server::Question::clients(&typed) {
            Err(why) => check::shown(&why),
            Ok(clients) => spec.clients = clients,
        }
    }
    if let Err(why) = spec.check() {
        return check::shown(&why);
    }
    let inputs = Inputs { calibration: &CALIBRATION, records: None, parts: None };
    loaded(&spec, &inputs, how);
}

/// The server's CPU, what would save some, and what explains a rise of it.
fn loaded(spec: &Spec, inputs: &Inputs<'_>, how: u8) {
    match judge::load::load(spec, inputs, how & 1 == 1) {
        Err(why) => check::shown(&why),
        Ok(load) => {
            shown("a load", &|format| judge::load::render_load(&load, format, options(how)));
        }
    }
    let question = LoadQuestion {
        from_percent: (0.5, 0.5),
        to_percent: (2.0, 3.0),
        slower: (1.0, 2.0),
        spec: Some(spec.clone()),
        spec_is_before: how & 2 == 2,
        most_mbit_per_s: (how & 4 == 4).then_some(100.0),
    };
    match judge::load::why(&question, inputs) {
        Err(why) => check::shown(&why),
        Ok(why) => shown("causes", &|format| judge::load::render_why(&why, format, options(how))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_with_hostile_texts_everywhere_is_shown_as_text() {
        let record = check::hostile();
        for color in [false, true] {
            let options = Options { width: 120, color };
            let shown = Shown { record: &record, harmless: &harmless(&record), options };
            shown.tables();
            shown.data();
            shown.answers();
            shown.page();
            shown.claims();
        }
    }

    /// Else nothing behind the readers would ever be reached.
    #[test]
    fn the_samples_are_read() {
        for value in RUNS.iter() {
            record::read_run(&value.to_string(), "sample", record::tls::from_record)
                .expect("it is a run");
        }
        Calibration::parse(&CALIBRATION_VALUE.to_string(), "sample").expect("it is a calibration");
        for kind in (0..4).chain(128..132) {
            read_tls(&[kind, 1, 0, 0, 0]);
        }
        read_tls(b"\x07\x01HIGH:!aNULL\nX25519:P-256\nbrowser");
    }
}
