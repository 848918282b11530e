//! Advice as text, Markdown and JSON, and advice that was written as JSON, read again by the page that shows
//! it.

use crate::advise::cost::Price;
use crate::advise::data::Verdict;
use crate::advise::{Advice, Choice, Fitting, Outcome, sentences};
use anstyle::Style;
use base::analysis::Estimate;
use base::text::{ALARM, BEST, CAUTION, HEADING, Options, PLAIN, clean, escape_markdown, paint};
use record::{printable, unmarked};
use serde::Deserialize;

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

/// All of the advice as text that ends with a line break; `origin` names the record.
pub fn render(advice: &Advice, origin: &str, format: Format, options: Options) -> String {
    match format {
        Format::Text => as_text(advice, origin, options),
        Format::Markdown => as_markdown(advice, origin),
        Format::Json => {
            let mut json = serde_json::to_value(advice).expect("plain data always serialises");
            json["kind"] = serde_json::Value::from(KIND);
            json["format_version"] = serde_json::Value::from(FORMAT_VERSION);
            json["record"] = serde_json::Value::from(origin);
            record::pretty(&json)
        }
    }
}

// The first screen: choice, cost, limit and day, three things to respect, the nearest other answer.

/// Things to respect that are shown.
const REMARKS: usize = 3;
/// Other answers that are shown where there is none.
const WAYS_OUT: usize = 4;
const LIBRARIES: usize = 3;

/// One screen of the advice for a terminal; `origin` names the record.
pub fn first_screen(advice: &Advice, origin: &str, options: Options) -> String {
    let mut page = Page::new(options);
    page.line("", &sentences::title(advice), HEADING);
    page.line("from", &sentences::basis(advice, origin), PLAIN);
    page.line("asked", &sentences::terms(advice, true), PLAIN);
    for reason in &advice.basis.stale {
        page.line("STALE", reason, CAUTION);
    }
    page.gap();
    match &advice.outcome {
        Outcome::Choice(choice) => choice_in_brief(&mut page, advice, choice),
        Outcome::None(_) => {
            page.line("choice", &sentences::none(advice).unwrap_or_default(), ALARM);
            for (i, change) in advice.changes.iter().take(WAYS_OUT).enumerate() {
                page.line(if i == 0 { "instead" } else { "" }, &sentences::change(change), PLAIN);
            }
        }
    }
    page.line("candidates", &sentences::candidates(advice), PLAIN);
    for open in sentences::open(advice) {
        page.line("OPEN", &open, CAUTION);
    }
    page.line("more", &more(advice), PLAIN);
    page.out
}

fn choice_in_brief(page: &mut Page, advice: &Advice, choice: &Choice) {
    let price = &choice.price;
    page.line("choice", &format!("{} in {}", choice.scheme, price.label()), BEST);
    let cost = format!(
        "write {}, read {} a {}{}; {} bytes stored with each",
        sentences::nanoseconds(&price.write_ns),
        sentences::nanoseconds(&price.read_ns),
        advice.unit,
        if price.between_sizes { ", between two measured sizes" } else { "" },
        choice.stored_bytes
    );
    page.line("cost", &cost, PLAIN);
    if let Some(libraries) = advice.fitting.first().and_then(libraries) {
        page.line("beside", &libraries, PLAIN);
    }
    if let Some(secrets) = sentences::secrets(choice) {
        page.line("secrets", &secrets, PLAIN);
    }
    let (limit, reached) = sentences::limit(choice, &advice.unit);
    page.line("limit", &format!("{limit}, {reached}"), PLAIN);
    if let Some(day) = sentences::rotate_by(choice) {
        page.line("rotate by", &day, PLAIN);
    }
    if let Some(longer) = sentences::longer(choice) {
        page.line("or later", &longer, PLAIN);
    }
    for (i, remark) in choice.remarks.iter().take(REMARKS).enumerate() {
        page.line(if i == 0 { "respect" } else { "" }, &remark.says, PLAIN);
    }
    if let Some(change) = advice.changes.first() {
        page.line("else", &sentences::change(change), PLAIN);
    }
}

/// `libgcrypt@1.10.1 884 ns (=), openssl@4.0.3 901 ns`: who else has the choice.
fn libraries(chosen: &Fitting) -> Option<String> {
    let shown: Vec<String> = chosen.others.iter().take(LIBRARIES).map(sentences::other).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

fn more(advice: &Advice) -> String {
    let remarks = match &advice.outcome {
        Outcome::Choice(choice) => choice.remarks.len().saturating_sub(REMARKS),
        Outcome::None(_) => 0,
    };
    let respect = if remarks > 0 { format!("{remarks} more to respect, ") } else { String::new() };
    format!(
        "--why: what was assumed, {respect}schemes ({} fit, {} do not), rules and sources",
        advice.fitting.len(),
        advice.rejected.len()
    )
}

// Everything, for a terminal.

/// Schemes that fit which are shown: the rest is in the JSON.
const FITTING: usize = 8;
const CHANGES: usize = 8;

fn as_text(advice: &Advice, origin: &str, options: Options) -> String {
    let mut page = Page::new(options);
    page.line("", &sentences::title(advice), HEADING);
    page.line("from", &sentences::basis(advice, origin), PLAIN);
    page.line("asked", &sentences::terms(advice, true), PLAIN);
    page.line("assumed", &sentences::terms(advice, false), PLAIN);
    for line in &advice.basis.store {
        page.line("store", line, PLAIN);
    }
    for reason in &advice.basis.stale {
        page.line("STALE", reason, CAUTION);
    }
    match &advice.outcome {
        Outcome::Choice(choice) => page.choice(advice, choice),
        Outcome::None(_) => {
            page.gap();
            page.line("choice", &sentences::none(advice).unwrap_or_default(), ALARM);
        }
    }
    page.line("candidates", &sentences::candidates(advice), PLAIN);
    for open in sentences::open(advice) {
        page.line("OPEN", &open, CAUTION);
    }
    page.changes(advice);
    page.fitting(&advice.fitting);
    page.rejected(advice);
    page.out
}

impl Page {
    fn choice(&mut self, advice: &Advice, choice: &Choice) {
        self.gap();
        let label = choice.price.label();
        self.line("choice", &format!("{} in {label}", choice.scheme), BEST);
        for (topic, text) in sentences::choice(choice, &advice.unit) {
            self.line(topic, &text, PLAIN);
        }
        let ids: Vec<&str> = choice.price.libraries.iter().map(|l| l.id.as_str()).collect();
        let until = advice.basis.stale_from.map(|d| format!(", until {d}")).unwrap_or_default();
        self.line("holds for", &format!("{label} ({}){until}", ids.join(", ")), PLAIN);
        self.heading("To respect");
        for remark in &choice.remarks {
            self.line("  -", &format!("{} [{}]", remark.says, remark.source), PLAIN);
        }
    }

    fn changes(&mut self, advice: &Advice) {
        self.heading("What would change the answer, the smallest change first");
        if advice.changes.is_empty() {
            self.line("  -", "no change of one wish or two", PLAIN);
        }
        for change in advice.changes.iter().take(CHANGES) {
            self.line("  -", &sentences::change(change), PLAIN);
        }
    }

    fn fitting(&mut self, fitting: &[Fitting]) {
        if fitting.is_empty() {
            return;
        }
        self.heading("What fits");
        let columns = fitting.iter().map(|f| f.scheme.len()).max().unwrap_or_default();
        for one in fitting.iter().take(FITTING) {
            let tie = sentences::sign(one.tied, one.undecided);
            let text = format!(
                "{:<columns$}  {:>9.0} ns  {:>6.2}×{tie}  {:>3} B  {}",
                one.scheme,
                one.ns.median,
                one.times,
                one.stored_bytes,
                clean(&one.library)
            );
            self.out += &format!("  {text}\n");
            let others: Vec<String> = one.others.iter().map(sentences::other).collect();
            self.line("", &others.join(", "), PLAIN);
        }
        if fitting.len() > FITTING {
            let more = fitting.len() - FITTING;
            self.out += &format!("  and {more} more (--format json)\n");
        }
    }

    fn rejected(&mut self, advice: &Advice) {
        self.heading("What does not, and the rule that decided");
        for (verdict, rule, members) in sentences::by_rule(advice) {
            let (word, style) = match verdict {
                Verdict::Wrong => ("WRONG", ALARM),
                _ => ("no", PLAIN),
            };
            let used = &advice.rules[&rule];
            let says = format!("{rule}: {} [{}]", used.says, used.source);
            self.line(word, &says, style);
            self.line("", &sentences::members(&members), PLAIN);
        }
    }
}

// GitHub-flavoured Markdown.

fn as_markdown(advice: &Advice, origin: &str) -> String {
    let mut out = format!("### {}\n\n", safe(&sentences::title(advice)));
    out += &format!("From {}.\n", safe(&sentences::basis(advice, origin)));
    for (what, typed) in [("Asked", true), ("Assumed", false)] {
        let terms = sentences::terms(advice, typed);
        if !terms.is_empty() {
            out += &format!("{what}: `{}`.\n", clean(&terms).replace('`', "'"));
        }
    }
    for line in &advice.basis.store {
        out += &format!("\n{}.\n", safe(line));
    }
    for reason in &advice.basis.stale {
        out += &format!("\n> **Stale**: {}\n", safe(reason));
    }
    out += &match &advice.outcome {
        Outcome::Choice(choice) => choice_in_markdown(advice, choice),
        Outcome::None(_) => {
            format!("\n**{}**\n", safe(&sentences::none(advice).unwrap_or_default()))
        }
    };
    out += &format!("\nCandidates: {}.\n", safe(&sentences::candidates(advice)));
    for open in sentences::open(advice) {
        out += &format!("\n> **Open**: {}\n", safe(&open));
    }
    out + &changes(advice) + &fitting(advice) + &rejected(advice)
}

fn choice_in_markdown(advice: &Advice, choice: &Choice) -> String {
    let label = choice.price.label();
    let mut out =
        format!("\n**{} in {}**\n\n| | |\n| --- | --- |\n", safe(&choice.scheme), safe(&label));
    for (topic, text) in sentences::choice(choice, &advice.unit) {
        out += &format!("| {topic} | {} |\n", safe(&text));
    }
    out += "\nTo respect:\n\n";
    for remark in &choice.remarks {
        out += &format!("- {} ({})\n", safe(&remark.says), safe(&remark.source));
    }
    out
}

fn changes(advice: &Advice) -> String {
    if advice.changes.is_empty() {
        return "\nNo change of one wish or two gives another answer.\n".to_owned();
    }
    let mut out = "\nWhat would change the answer, the smallest change first:\n\n".to_owned();
    for change in &advice.changes {
        out += &format!("- {}\n", safe(&sentences::change(change)));
    }
    out
}

fn fitting(advice: &Advice) -> String {
    if advice.fitting.is_empty() {
        return String::new();
    }
    let mut out = "\n| fits | library | ns | times | bytes |\n| --- | --- | ---: | ---: | ---: |\n"
        .to_owned();
    for one in &advice.fitting {
        let tie = sentences::sign(one.tied, one.undecided);
        out += &format!(
            "| {} | {} | {:.0} | {:.2}{tie} | {} |\n",
            safe(&one.scheme),
            safe(&one.library),
            one.ns.median,
            one.times,
            one.stored_bytes
        );
    }
    out
}

fn rejected(advice: &Advice) -> String {
    let mut out = "\n| does not | rule | source |\n| --- | --- | --- |\n".to_owned();
    for (verdict, rule, members) in sentences::by_rule(advice) {
        let used = &advice.rules[&rule];
        let wrong = if verdict == Verdict::Wrong { "**wrong**: " } else { "" };
        out += &format!(
            "| {} | {wrong}{}: {} | {} |\n",
            safe(&sentences::members(&members)),
            safe(&rule),
            safe(&used.says),
            safe(&used.source)
        );
    }
    out
}

fn safe(text: &str) -> String {
    escape_markdown(&clean(text))
}

// A page of topics, each with its text beside it.

/// Where the text beside topics begins.
const INDENT: usize = 12;

pub(crate) struct Page {
    pub out: String,
    options: Options,
}

impl Page {
    pub fn new(options: Options) -> Self {
        Self { out: String::new(), options }
    }

    pub fn gap(&mut self) {
        self.out.push('\n');
    }

    pub fn heading(&mut self, text: &str) {
        self.gap();
        self.out += &(paint(text, HEADING, self.options.color) + "\n");
    }

    /// A topic with its text beside it; nothing where there is no text.
    pub fn line(&mut self, topic: &str, text: &str, style: Style) {
        let indent = if topic.is_empty() && self.out.is_empty() { 0 } else { INDENT };
        let lead = format!("{topic:<indent$}");
        self.out += &self.options.behind(&lead, indent, &clean(text), style);
    }
}

pub(crate) const KIND: &str = "advice";
/// Version of the format, `major.minor`; minor versions only add optional fields.
pub(crate) const FORMAT_VERSION: &str = "1.2";

/// Most entries of each list: ten times what there are.
const MOST: usize = 1000;
/// Beyond any time or speed, and so small that what is computed from it stays finite.
const MOST_RATE: f64 = 1e18;

#[derive(Clone, Debug, Deserialize)]
pub struct Advised {
    #[serde(flatten)]
    pub advice: Advice,
    /// What it was made from, in words: `record run.json`.
    pub record: String,
}

#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    format_version: Option<String>,
}

pub fn is_advice(text: &str) -> bool {
    record::older_kind(text).as_deref() == Some(KIND)
}

/// Reads what `advise --format json` wrote; `origin` names it in errors.
pub fn from_json(text: &str, origin: &str) -> Result<Advised, String> {
    let wrong = |why: String| format!("'{origin}' is not ciphermark advice: {}", printable(&why));
    let text = unmarked(text);
    let head: Head = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    if head.kind.as_deref() != Some(KIND) {
        return Err(wrong("it is of another kind".to_owned()));
    }
    let version = head.format_version.unwrap_or_default();
    if version.split('.').next() != FORMAT_VERSION.split('.').next() {
        return Err(wrong(format!("its format is {version}, this program reads {FORMAT_VERSION}")));
    }
    let advised: Advised = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    contradiction(&advised.advice).map_err(wrong)?;
    Ok(advised)
}

/// What the types cannot rule out.
fn contradiction(advice: &Advice) -> Result<(), String> {
    let lists = [
        ("terms", advice.terms.len()),
        ("fitting", advice.fitting.len()),
        ("rejected", advice.rejected.len()),
        ("changes", advice.changes.len()),
        ("rules", advice.rules.len()),
    ];
    if let Some((name, count)) = lists.into_iter().find(|(_, count)| *count > MOST) {
        return Err(format!("`{name}` has {count} entries"));
    }
    let unknown = advice.rejected.iter().find(|r| !advice.rules.contains_key(&r.rule));
    if let Some(rejected) = unknown {
        return Err(format!("the rule '{}' is not among `rules`", rejected.rule));
    }
    for one in &advice.fitting {
        interval("fitting.ns", one.ns)?;
        rate("fitting.times", one.times)?;
        if one.others.len() > MOST {
            return Err(format!("`fitting.others` has {} entries", one.others.len()));
        }
        for other in &one.others {
            interval("fitting.others.ns", other.ns)?;
        }
    }
    if let Outcome::Choice(choice) = &advice.outcome {
        price(&choice.price)?;
        if choice.key.longer.len() > MOST {
            return Err(format!("`key.longer` has {} entries", choice.key.longer.len()));
        }
        rate("write_core_seconds_per_gib", choice.write_core_seconds_per_gib)?;
        rate("read_core_seconds_per_gib", choice.read_core_seconds_per_gib)?;
        rate("write_mb_per_s", choice.write_mb_per_s)?;
        rate("read_mb_per_s", choice.read_mb_per_s)?;
    }
    Ok(())
}

fn price(price: &Price) -> Result<(), String> {
    interval("write_ns", price.write_ns)?;
    interval("read_ns", price.read_ns)?;
    for one in &price.in_store {
        rate("in_store.scheme_ns", one.scheme_ns)?;
        rate("in_store.io_ns", one.io_ns)?;
        rate("in_store.share", one.share)?;
    }
    Ok(())
}

fn interval(name: &str, interval: Estimate) -> Result<(), String> {
    rate(name, interval.median)?;
    let out = |end: f64| !(-MOST_RATE..=MOST_RATE).contains(&end);
    if out(interval.low) || out(interval.high) {
        return Err(format!("the interval of `{name}` is beyond any run's"));
    }
    Ok(())
}

fn rate(name: &str, rate: f64) -> Result<(), String> {
    if (0.0..=MOST_RATE).contains(&rate) {
        return Ok(());
    }
    Err(format!("`{name}` is {rate:e}, which no run has"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::data::Data;
    use crate::advise::question::{Evidence, IntegrityLevel, Question, Surroundings};
    use jiff::civil::date;
    use record::{Record, State};

    fn record() -> Record {
        let mut record = crate::sample::committed();
        let mut decrypt = record.measurements[0].clone();
        decrypt.direction = base::model::Direction::Decrypt;
        record.measurements.push(decrypt);
        record.measurements.retain(|m| m.state == State::Measured);
        record.leaks.clear();
        record
    }

    fn written(record: &Record, format: Format, with: impl Fn(&mut Question<'_>)) -> String {
        let data = Data::built_in();
        let mut question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 21));
        // What the sample has.
        question.wishes.key_bits = 128;
        with(&mut question);
        let around = Surroundings::on(date(2027, 6, 1));
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
