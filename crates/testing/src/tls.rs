//! TLS: runs of handshakes, records and primitives, calibrations, specifications of servers and the lists in
//! them, whose fields hold anything; shown in every form, calculated with, asked for causes and for advice.

use crate::check;
use crate::check::{Choices, changed_of};
use base::text::Options;
use judge::load::{Calibration, HandshakeParts, Inputs, Question, Spec};
use record::tls::{Document, Format, TlsFile};
use report::page::Content;
use serde_json::Value;
use std::sync::LazyLock;

/// Runs of every kind, small ones: as older versions wrote them, and as records.
static RUNS: LazyLock<[Value; 6]> = LazyLock::new(|| {
    let texts = [
        include_str!("../samples/handshakes.json"),
        include_str!("../samples/records.json"),
        include_str!("../samples/primitives.json"),
    ];
    let older = texts.map(|text| serde_json::from_str(text).expect("it is tested"));
    let record = |text| record::tls::read(text, "sample").expect("it is tested");
    let records = texts.map(|text| serde_json::to_value(record(text)).expect("plain data"));
    let mut all = older.into_iter().chain(records);
    std::array::from_fn(|_| all.next().expect("there are twice three"))
});

/// A calibration of every point.
static CALIBRATION: LazyLock<Calibration> = LazyLock::new(judge::load::sample::calibration);
static CALIBRATION_VALUE: LazyLock<Value> =
    LazyLock::new(|| serde_json::to_value(&*CALIBRATION).expect("documents are plain data"));

/// The first byte says what the others are, the second how it is shown.
pub(crate) fn run(bytes: &[u8]) {
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

const FORMATS: [Format; 4] = [Format::Table, Format::Json, Format::Csv, Format::Markdown];

fn options(how: u8) -> Options {
    Options { width: 20 + usize::from(how), color: false }
}

/// A rendering keeps the promises of its form.
fn shown(what: &str, render: &dyn Fn(Format) -> String) {
    for format in FORMATS {
        let text = render(format);
        match format {
            Format::Json => check::json(what, &text),
            Format::Csv => {
                check::spreadsheet(what, &text);
            }
            _ => check::for_people(what, &text, false),
        }
    }
}

fn file(text: &str, how: u8) {
    let run = match record::tls::from_json(text, "t.json") {
        Err(why) => return check::line(&why),
        Ok(run) => run,
    };
    let render = |run: &TlsFile, format| match format {
        Format::Table => run.table(options(how).width),
        Format::Json => record::to_json(&run.record()),
        Format::Csv => {
            let record = run.record();
            report::tabular::csv(&record, &record.measurements.iter().collect::<Vec<_>>())
        }
        Format::Markdown => run.markdown(),
    };
    shown("a run of TLS", &|format| render(&run, format));
    let written = render(&run, Format::Json);
    assert_eq!(record::tls::from_json(&written, "t.json").expect("what was written is read"), run);
    // The same with a harmless letter where markup would begin.
    let harmless = record::tls::from_json(&written.replace('<', "x"), "t.json");
    let harmless = harmless.expect("it differs in texts only");
    let both = [&run, &harmless];
    check::no_markup("Markdown", &both.map(|r| render(r, Format::Markdown)));
    check::page(both.map(Content::Tls));
    used(&run, how);
}

/// What other commands make of a run.
fn used(run: &TlsFile, how: u8) {
    let mut parts = HandshakeParts::default();
    let (mut records, stack) = (None, &CALIBRATION.stack);
    match run {
        TlsFile::Handshakes(d) => {
            parts.add_memory(d, stack);
            advice(d, how);
        }
        TlsFile::Records(d) => records = Some(d),
        TlsFile::Primitives(d) => parts.add_primitives(d, stack),
    }
    let inputs = Inputs { calibration: &CALIBRATION, records, parts: Some(&parts) };
    loaded(&Spec::default(), &inputs, how);
}

fn advice(run: &Document, how: u8) {
    let clients = judge::advise::tls_server::Question::clients(&["browser".to_owned()]);
    let question = judge::advise::tls_server::Question {
        clients: clients.expect("a class that there is"),
        certificates: vec![record::tls::Certificate::Rsa2048, record::tls::Certificate::P256],
        resumed_share: 0.5,
        post_quantum: how & 1 == 1,
        bytes_per_connection: 1000,
        temperature: record::tls::Temperature::Hot,
    };
    let evidence = judge::advise::tls_server::Evidence {
        handshakes: run,
        records: None,
        calibration: Some(&CALIBRATION),
    };
    match judge::advise::tls_server::advise(&question, &evidence) {
        Err(why) => check::shown(&why),
        Ok(advice) => {
            let render = |format| judge::advise::tls_server::render(&advice, format, options(how));
            check::for_people("advice", &render(judge::advise::tls_server::Format::Text), false);
            check::for_people(
                "advice",
                &render(judge::advise::tls_server::Format::Markdown),
                false,
            );
            check::json("advice", &render(judge::advise::tls_server::Format::Json));
        }
    }
}

fn calibration(text: &str, how: u8) {
    match Calibration::parse(text, "c.json") {
        Err(why) => check::line(&why),
        Ok(read) => {
            let render = |format| judge::load::render_calibration(&read, format, options(how));
            shown("a calibration", &render);
            let again = Calibration::parse(&render(Format::Json), "c.json");
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
    let question = Question {
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

    /// Else nothing behind the readers would ever be reached.
    #[test]
    fn the_samples_are_read() {
        for value in RUNS.iter() {
            record::tls::from_json(&value.to_string(), "sample").expect("it is a run");
        }
        Calibration::parse(&CALIBRATION_VALUE.to_string(), "sample").expect("it is a calibration");
        for kind in (0..4).chain(128..132) {
            run(&[kind, 1, 0, 0, 0]);
        }
        run(b"\x07\x01HIGH:!aNULL\nX25519:P-256\nbrowser");
    }
}
