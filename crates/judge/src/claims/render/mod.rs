//! Claims and tables as text, Markdown, CSV and JSON.

mod csv;
mod json;
mod markdown;
mod text;

use crate::claims::expression::{Interval, Unit, Value};
use crate::claims::printed::PUBLISHED;
use crate::claims::{Column, Group, Judged, Line, PrintedTable, Source, Verdict};
use base::text::Options;

/// How they are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal.
    Text,
    /// An array of objects.
    Json,
    /// GitHub-flavoured Markdown.
    Markdown,
    /// One row a figure.
    Csv,
}

/// The judged claims as text that ends with a line break.
#[must_use]
pub fn claims(judged: &[Judged<'_>], format: Format, options: Options) -> String {
    match format {
        Format::Text => text::claims(judged, options),
        Format::Json => json::claims(judged),
        Format::Markdown => markdown::claims(judged),
        Format::Csv => csv::claims(judged),
    }
}

/// A published table with this machine's figures, as text that ends with a line break.
#[must_use]
pub fn table(table: &PrintedTable, format: Format, options: Options) -> String {
    match format {
        Format::Text => text::table(table, options),
        Format::Json => json::table(table),
        Format::Markdown => markdown::table(table),
        Format::Csv => csv::table(table),
    }
}

/// The source as literature lists have it.
fn reference(source: &Source) -> String {
    let published = source.published.as_deref().map(|p| format!(", {p}")).unwrap_or_default();
    format!("{}, \"{}\"{published}, {}", source.author, source.title, source.url)
}

/// `of 30 that were judged 20 hold, 3 do not, 5 depend, 2 are not testable here`
fn summary(judged: &[Judged<'_>]) -> String {
    let count = |v: Verdict| judged.iter().filter(|j| j.verdict == v).count();
    format!(
        "of {} that were judged {} hold, {} do not, {} depend, {} are not testable here",
        judged.len(),
        count(Verdict::Holds),
        count(Verdict::DoesNotHold),
        count(Verdict::Depends),
        count(Verdict::NotTestable)
    )
}

/// What there is to say beside the verdict, sentence by sentence.
fn remarks(judged: &Judged<'_>) -> Vec<String> {
    let claim = judged.claim;
    let mut remarks = Vec::new();
    remarks.extend(claim.went_wrong.as_ref().map(|w| format!("what went wrong: {w}")));
    if !claim.refused_by.is_empty() {
        remarks.push(format!("refused here by: {}", claim.refused_by.join("; ")));
    }
    remarks.extend(claim.note.clone());
    remarks
}

fn heading(column: Column) -> String {
    match column {
        Column::Size(size) => format!("{size} B"),
        Column::Speed => "MB/s".to_owned(),
        Column::Cycles => "cycles/B".to_owned(),
        Column::Instructions => "instr/B".to_owned(),
        Column::Limit => "limit here".to_owned(),
    }
}

/// The number alone: its unit stands in the heading; marked where it is above what this core permits.
fn bare(group: &Group, line: &Line, at: usize, mark: &str) -> String {
    let Some(number) = line.cells[at] else { return String::new() };
    let text = Value::Number(Interval::exact(number.median), Unit::One).to_string();
    let is_marked = at == 0 && group.impossible_here && line.who == PUBLISHED;
    if is_marked { text + mark } else { text }
}

/// A number of a table, as programs read it.
struct Cell<'a> {
    group: &'a Group,
    line: &'a Line,
    column: Column,
    /// Bytes, where they are known.
    size: Option<usize>,
    value: Value,
}

/// Every number of a table.
fn cells(table: &PrintedTable) -> impl Iterator<Item = Cell<'_>> {
    let lines = table.groups.iter().flat_map(|g| g.lines.iter().map(move |line| (g, line)));
    lines.flat_map(move |(group, line)| {
        let columns = table.columns.iter().zip(&line.cells);
        columns.filter_map(move |(column, cell)| {
            let size = match column {
                Column::Size(size) => Some(*size),
                _ if line.who == PUBLISHED => None,
                _ => table.size_here,
            };
            let value = Value::Number((*cell)?, column.unit());
            Some(Cell { group, line, column: *column, size, value })
        })
    })
}

/// What the row of a table is of, where its label does not say it.
fn row_name(group: &Group) -> String {
    let tier = if group.tier == base::model::Tier::Native {
        String::new()
    } else {
        format!(", {}", group.tier)
    };
    let what = format!("{} {}{tier}", group.algorithm, group.direction);
    if group.label.is_empty() { what } else { format!("{} ({what})", group.label) }
}

/// What stands above a table.
fn table_head(table: &PrintedTable) -> Vec<String> {
    let mut head = vec![format!("published: {}", table.from.source)];
    head.extend(table.from.machine.iter().map(|m| format!("on {m}")));
    head.extend(
        table.size_here.map(|size| format!("the source does not say the size; here {size} B")),
    );
    if table.groups.iter().any(|g| g.impossible_here) {
        head.push("!: above what this core can do at best: no such work was done".to_owned());
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Evidence, built_in, judge, printed_table, sample};

    fn source() -> Source {
        let claim = "each = 'openssl'\nwent_wrong = 'w'\nrefused_by = ['return codes']\nnote = 'n'\n\
             figures = [{ of = 'p', published = '1 MB/s', here = 'speed(aes-128-gcm, 8192)' }]\n\
             parts = [{ holds = 'speed(aes-128-gcm, 8192) > 9 GB/s' }]";
        let mut source = sample::source(base::model::Model::Message, claim).unwrap();
        source.claims[0].note = Some("n\u{1b}[2J".to_owned());
        source
    }

    fn rendered(format: Format) -> String {
        let (source, mut record) = (source(), sample::record());
        for m in record.measurements.iter_mut().filter(|m| m.library.version == "4.0.1") {
            m.library.version = "4.0.1|<b>\u{1b}[31m".to_owned();
        }
        let records = [record];
        let judged = judge(&source, &source.claims[0], &Evidence::of(&records));
        claims(&[judged], format, Options { width: 90, color: false })
    }

    #[test]
    fn the_text_has_verdict_both_figures_and_the_check_that_refuses() {
        let text = rendered(Format::Text);
        for said in [
            "depends",
            "a-x: =y",
            "published 1 MB/s",
            "8192 MB/s ±0.5 %",
            "return codes",
            "1 depend",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(text.lines().all(|l| base::text::width(l) <= 90), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn markdown_and_csv_and_json_take_hostile_text_for_text() {
        let markdown = rendered(Format::Markdown);
        assert!(markdown.contains("4.0.1\\|&lt;b&gt;"), "{markdown}");
        assert!(!markdown.contains('\u{1b}'));
        let csv = rendered(Format::Csv);
        assert!(csv.contains(",'=y,"), "{csv}");
        let json: serde_json::Value = serde_json::from_str(&rendered(Format::Json)).unwrap();
        assert_eq!(json[0]["verdict"], "depends");
        assert_eq!(json[0]["figures"][0]["here"][0]["unit"], "MB/s");
        assert_eq!(json[0]["figures"][0]["here"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn a_table_has_the_published_row_above_each_local_one_in_every_format() {
        let text = "# source: s|s\nlabel,library,algorithm,size,mb_per_s,model\n\
            =x,openssl,aes-128-gcm,8192,300000,message\n";
        let records = [sample::record()];
        let printed =
            printed_table(&record::import::parse_table(text).unwrap(), &Evidence::of(&records));
        let rendered = |format| table(&printed, format, Options { width: 100, color: false });
        for format in [Format::Text, Format::Markdown, Format::Csv, Format::Json] {
            let text = rendered(format);
            let (published, here) = (text.find("published"), text.rfind("openssl@4.0.1"));
            assert!(published.unwrap() < here.unwrap(), "{text}");
            assert!(text.contains("300000"), "{text}");
        }
        assert!(rendered(Format::Text).contains("300000 !"), "{}", rendered(Format::Text));
        assert!(rendered(Format::Csv).contains("'=x"));
        serde_json::from_str::<serde_json::Value>(&rendered(Format::Json)).unwrap();
    }

    #[test]
    fn every_built_in_claim_is_rendered_without_any_measurement() {
        let sources = built_in();
        let evidence = Evidence::of(&[]);
        let judged: Vec<Judged<'_>> =
            sources.iter().flat_map(|s| s.claims.iter().map(|c| judge(s, c, &evidence))).collect();
        assert!(judged.iter().all(|j| !j.why().is_empty()));
        let text = claims(&judged, Format::Text, Options { width: 100, color: false });
        assert!(judged.iter().all(|j| text.contains(&j.claim.id)));
    }
}
