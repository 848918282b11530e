//! Everything that shows a record, over records whose fields hold anything.

use crate::check;
use crate::mutation::{Choices, RECORD, changed};
use base::text::Options;
use judge::claims::{Evidence, Source};
use judge::compare::{Best, Matching, Question, Settings, Side};
use record::{Measurement, Record};
use report::page::Content;
use report::{CallRow, ComparisonFormat, ExecutedRow, Format};
use std::sync::LazyLock;

/// The first bytes say how it is shown, the others what the record's fields hold.
pub(crate) fn run(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let (Some(wide), Some(how)) = (choices.byte(), choices.byte()) else { return };
    let options = Options { width: 20 + usize::from(wide), color: how & 1 == 1 };
    let text = changed(&mut choices).to_string();
    match record::from_json(&text, "r.json") {
        Err(why) => check::line(&why),
        Ok(record) => {
            // The same with a harmless letter where markup would begin.
            let harmless = record::to_json(&record).replace('<', "x");
            let harmless =
                record::from_json(&harmless, "r.json").expect("it differs in texts only");
            let shown = Shown { record: &record, harmless: &harmless, options };
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
        assert_eq!(check::spreadsheet("CSV", &report::tabular::csv(record, &rows)), rows.len() + 1);
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
        let packed = report::tabular::parquet(self.record, &rows).expect("any record is a table");
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
