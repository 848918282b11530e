//! Advice as text, Markdown and JSON.

mod brief;
mod markdown;
mod page;
mod sentences;
mod text;

use crate::advise::answer::Advice;
use crate::advise::read::{FORMAT_VERSION, KIND};
use base::text::Options;

/// How it is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal.
    Text,
    /// An object.
    Json,
    /// GitHub-flavoured Markdown.
    Markdown,
}

/// One screen of the advice for a terminal; `origin` names the record.
#[must_use]
pub fn first_screen(advice: &Advice, origin: &str, options: Options) -> String {
    brief::brief(advice, origin, options)
}

/// All of the advice as text that ends with a line break; `origin` names the record.
#[must_use]
pub fn render(advice: &Advice, origin: &str, format: Format, options: Options) -> String {
    match format {
        Format::Text => text::text(advice, origin, options),
        Format::Markdown => markdown::markdown(advice, origin),
        Format::Json => {
            let mut json = serde_json::to_value(advice).expect("plain data always serialises");
            json["kind"] = serde_json::Value::from(KIND);
            json["format_version"] = serde_json::Value::from(FORMAT_VERSION);
            json["record"] = serde_json::Value::from(origin);
            let mut text = serde_json::to_string_pretty(&json).expect("so does this");
            text.push('\n');
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::data::Data;
    use crate::advise::evidence::Evidence;
    use crate::advise::fresh::Surroundings;
    use crate::advise::question::{IntegrityLevel, Question};
    use jiff::civil::date;
    use record::Record;

    fn record() -> Record {
        let text = include_str!("../../../../record/tests/sample.json");
        let mut record = record::from_json(text, "sample").unwrap();
        let mut decrypt = record.measurements[0].clone();
        decrypt.direction = base::model::Direction::Decrypt;
        record.measurements.push(decrypt);
        record.leaks.clear();
        record
    }

    fn written(record: &Record, format: Format, with: impl Fn(&mut Question<'_>)) -> String {
        let data = Data::built_in();
        let mut question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 21));
        // What the sample has.
        question.wishes.key_bits = 128;
        with(&mut question);
        let around = Surroundings {
            today: date(2027, 6, 1),
            cpu: None,
            libraries: Vec::new(),
            judged: Vec::new(),
        };
        let advice = crate::advise::advise(&data, &question, Evidence::Survey(record), &around);
        render(&advice, "record r.json", format, Options { width: 90, color: false })
    }

    #[test]
    fn the_text_has_the_choice_its_cost_the_day_and_what_lost() {
        let text = written(&record(), Format::Text, |_| ());
        for said in [
            "choice      aes-128-gcm in openssl@",
            "MB/s",
            "core-seconds a GiB",
            "rotate by   2026-12-07",
            "STALE",
            "WRONG       ecb-leaks",
            "aes-128-ecb, aes-256-ecb",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(text.lines().all(|l| base::text::width(l) <= 90), "{text}");
    }

    #[test]
    fn names_of_strangers_steer_neither_terminal_nor_markdown() {
        let mut record = record();
        for m in &mut record.measurements {
            m.library.version = "1|<b>\u{1b}[31m\n# x".to_owned();
        }
        record.host.cpu.name = "<img src=x>\u{202e}".to_owned();
        let text = written(&record, Format::Text, |_| ());
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        let markdown = written(&record, Format::Markdown, |_| ());
        assert!(!markdown.contains("<b>") && !markdown.contains("<img"), "{markdown}");
        assert!(!markdown.contains("\n# x") && !markdown.contains("1|"), "{markdown}");
    }

    #[test]
    fn none_is_said_with_what_stands_in_the_way_in_every_format() {
        let rollback = |q: &mut Question<'_>| q.wishes.integrity = IntegrityLevel::Rollback;
        for format in [Format::Text, Format::Markdown] {
            let text = written(&record(), format, rollback);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains("none: no scheme fulfils --integrity rollback"), "{text}");
        }
        let json: serde_json::Value =
            serde_json::from_str(&written(&record(), Format::Json, rollback)).unwrap();
        assert_eq!(json["outcome"]["none"]["flags"][0], "--integrity rollback");
        assert_eq!(json["record"], "record r.json");
    }
}
