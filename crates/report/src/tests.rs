//! What holds of every rendering.

use super::{ComparisonFormat, Format, comparison, leaks, rankings, render};
use crate::sample;
use base::text::{Options, width};
use judge::compare::{Best, Class, Condition, Matching, Per, Question, Settings, Side};
use record::{Measurement, Record};

type Renderings = Vec<(&'static str, String)>;

/// With answers, a comparison, in which some of the cases differ, and verdicts on secrets.
fn record() -> Record {
    let ns = |m: &Measurement, ns| if m.algorithm == "aes-128-ctr" { ns * 1.2 } else { ns };
    Record { leaks: sample::leaks(), ..sample::with_samples(ns) }
}

fn rows(record: &Record) -> Vec<&Measurement> {
    record.measurements.iter().collect()
}

fn answered(record: &Record, format: ComparisonFormat, options: Options) -> String {
    let authenticated = Question { class: Some(Class::Authenticated), ..Question::default() };
    let per = |per| Question { per: Some(per), ..authenticated.clone() };
    let questions = [Question::default(), per(Per::Library), per(Per::Size)];
    let answers = questions.map(|q| judge::compare::rank(record, &q, 10).unwrap());
    rankings(&answers, format, options)
}

fn compared(record: &Record, format: ComparisonFormat, options: Options) -> String {
    let mut base = sample::with_samples(|_, ns| ns);
    base.leaks = record.leaks.clone();
    base.leaks.iter_mut().for_each(|l| l.findings.clear());
    let side = |record| Side { record, name: record.host.cpu.name.clone(), rows: rows(record) };
    let settings = Settings::of(Matching::Every);
    let c = judge::compare::compare(&side(&base), &side(record), &settings);
    let slower = "slower".parse::<Condition>().unwrap().find(&c);
    comparison(&c, &Vec::from_iter(slower), format, usize::MAX, options)
}

fn texts(record: &Record, options: Options) -> Renderings {
    let (all, format) = (rows(record), ComparisonFormat::Text);
    let best = Best::of(record, &all);
    vec![
        ("table", render(record, &all, &best, Format::Table, options)),
        ("answers", answered(record, format, options)),
        ("comparison", compared(record, format, options)),
        ("secrets", leaks(&record.leaks, Format::Table, options)),
    ]
}

#[test]
fn every_text_fits_its_width_and_colours_change_nothing_but_colours() {
    let record = record();
    for width in (60..160).step_by(3) {
        let plain = texts(&record, Options { width, color: false });
        let painted = texts(&record, Options { width, color: true });
        for ((name, plain), (_, painted)) in plain.iter().zip(painted) {
            let widest = plain.lines().map(base::text::width).max().unwrap();
            assert!(widest <= width, "{name}: {widest} > {width}\n{plain}");
            assert_ne!(&painted, plain, "{name}");
            assert_eq!(&sample::unpainted(&painted), plain, "{name} in {width} columns");
        }
    }
}

/// What a stranger may have written into a record.
fn hostile() -> Record {
    let hostile = "=1+1|\u{1b}[2J\n\u{202e}</summary><script>`x`暗号\r";
    let mut record = record();
    for m in &mut record.measurements {
        m.library.name = format!("{hostile}{}", m.library.name);
        m.reason = m.reason.as_ref().map(|_| hostile.repeat(20));
    }
    for m in record.measurements.iter_mut().filter(|m| m.algorithm == "aes-256-xts") {
        m.algorithm = hostile.repeat(10);
    }
    for l in &mut record.leaks {
        l.library.name = format!("{hostile}{}", l.library.name);
        l.reason = l.reason.as_ref().map(|_| hostile.repeat(20));
        l.findings.iter_mut().for_each(|f| f.function = Some(hostile.repeat(3)));
    }
    record.host.cpu.name = hostile.to_owned();
    record.host.kernel.release = hostile.to_owned();
    record.libraries[2].error = Some(hostile.to_owned());
    record
}

#[test]
fn hostile_names_and_reasons_steer_no_terminal_and_do_not_break_the_layout() {
    let options = Options { width: 120, color: false };
    for ((name, before), (_, after)) in
        texts(&record(), options).into_iter().zip(texts(&hostile(), options))
    {
        let steers = |c: char| c == '\u{202e}' || (c != '\n' && c.is_control());
        assert!(!after.contains(steers), "{name}: {after:?}");
        assert!(after.lines().all(|l| width(l) <= 120), "{name}: {after}");
        let rows = |text: &str| text.lines().filter(|l| l.contains("aes-128-gcm")).count();
        assert!(name != "table" || rows(&before) == rows(&after), "{after}");
    }
}
