//! Claims, and published tables with this machine's figures beside theirs, as text, Markdown, CSV and JSON.

use crate::claims::expression::{Unit, Value};
use crate::claims::facts::{self, Evidence, label, limit, speed};
use crate::claims::{
    Answer, CaseOutcome, Figure, Judged, Outcome, SIZE, Source, Verdict, library_glob,
};
use base::analysis::Estimate;
use base::model::{Direction, NameGlob, Tier};
use base::text::{
    ALARM, ASIDE, Align, BEST, CAUTION, Cell, Columns, Options, PLAIN, clean, csv_of,
    escape_markdown, paint,
};
use record::import::{Row, Table};
use record::{Imported, Measurement, State};
use serde_json::{Value as Json, json};

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
pub fn render_claims(judged: &[Judged<'_>], format: Format, options: Options) -> String {
    match format {
        Format::Text => claims_as_text(judged, options),
        Format::Json => claims_as_json(judged),
        Format::Markdown => claims_as_markdown(judged),
        Format::Csv => claims_as_csv(judged),
    }
}

/// A published table with this machine's figures, as text that ends with a line break.
pub fn render_table(table: &PrintedTable, format: Format, options: Options) -> String {
    match format {
        Format::Text => table_as_text(table, options),
        Format::Json => table_as_json(table),
        Format::Markdown => table_as_markdown(table),
        Format::Csv => table_as_csv(table),
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
        "of {} that were judged {} hold, {} do not, {} depend, {} are not testable here{}",
        judged.len(),
        count(Verdict::Holds),
        count(Verdict::DoesNotHold),
        count(Verdict::Depends),
        count(Verdict::NotTestable),
        match count(Verdict::NoTime) {
            0 => String::new(),
            open => format!("; for {open} there was no time"),
        }
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
    let text = Value::Number(Estimate::exactly(number.median), Unit::One).to_string();
    let is_marked = at == 0 && group.impossible_here && line.who == PUBLISHED;
    if is_marked { text + mark } else { text }
}

struct Number<'a> {
    group: &'a Group,
    line: &'a Line,
    column: Column,
    /// Bytes, where they are known.
    size: Option<usize>,
    value: Value,
}

fn cells(table: &PrintedTable) -> impl Iterator<Item = Number<'_>> {
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
            Some(Number { group, line, column: *column, size, value })
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

// For a terminal.

/// Where the claims' text begins: past the longest verdict.
const INDENT: usize = 19;

fn claims_as_text(judged: &[Judged<'_>], options: Options) -> String {
    let mut out = String::new();
    for (i, one) in judged.iter().enumerate() {
        let of_another = i == 0 || judged[i - 1].source.id != one.source.id;
        if of_another {
            let head = format!(
                "{}: {}; figures: {}",
                one.source.id,
                reference(one.source),
                one.source.machine
            );
            out += if i == 0 { "" } else { "\n" };
            out += &options.hang(&clean(&head), 0, PLAIN);
        }
        out += &claim_as_text(one, options);
    }
    out + &format!("\n{}\n", summary(judged))
}

fn claim_as_text(judged: &Judged<'_>, options: Options) -> String {
    let mut said = vec![format!("{}: {}", judged.claim.id, judged.claim.says), judged.why()];
    for (figure, answers) in &judged.figures {
        let published = figure.published.as_deref();
        let published = published.map(|p| format!("published {p}; ")).unwrap_or_default();
        said.push(format!("{}: {published}here {}", figure.of, here(answers)));
    }
    said.extend(remarks(judged));
    let style = match judged.verdict {
        Verdict::Holds => BEST,
        Verdict::DoesNotHold => ALARM,
        Verdict::Depends => CAUTION,
        Verdict::NoTime | Verdict::NotTestable => ASIDE,
    };
    let verdict = format!("{:<1$}", judged.verdict.words(), INDENT);
    let mut margin = paint(&verdict, style, options.color);
    let mut out = String::from("\n");
    for text in said {
        let lines = options.behind(&margin, INDENT, &clean(&text), PLAIN);
        margin = if lines.is_empty() { margin } else { " ".repeat(INDENT) };
        out += &lines;
    }
    out
}

/// `9421 MB/s ±0.2 % (openssl@3.0.22), …`
fn here(answers: &[Answer]) -> String {
    let shown = |answer: &Answer| {
        let value = match &answer.value {
            Ok(value) => value.to_string(),
            Err(missing) => format!("– ({missing})"),
        };
        if answer.library.is_empty() { value } else { format!("{value} ({})", answer.library) }
    };
    // Where some libraries have the figure, those without it are noise.
    let known = answers.iter().filter(|a| a.value.is_ok());
    let known: Vec<String> = known.map(shown).collect();
    if known.is_empty() {
        return answers.first().map_or_else(|| "–".to_owned(), shown);
    }
    known.join(", ")
}

fn table_as_text(table: &PrintedTable, options: Options) -> String {
    let head = table_head(table);
    let head: String = head.iter().map(|line| options.hang(&clean(line), 0, PLAIN)).collect();
    let cells = |first: String, rest: Vec<String>| -> Vec<Cell> {
        std::iter::once(first).chain(rest).map(Cell::plain).collect()
    };
    let mut rows = vec![cells(String::new(), table.columns.iter().map(|c| heading(*c)).collect())];
    for group in &table.groups {
        rows.push(cells(clean(&row_name(group)), Vec::new()));
        for line in &group.lines {
            let figures = (0..line.cells.len()).map(|at| bare(group, line, at, " !")).collect();
            rows.push(cells(format!("  {}", clean(&line.who)), figures));
        }
    }
    // The first column to the left, the others to the right; a row of one cell is a title.
    let alignments = std::iter::repeat_n(Align::Right, table.columns.len());
    let mut columns = Columns::new(std::iter::once(Align::Left).chain(alignments));
    rows.iter().filter(|row| row.len() > 1).for_each(|row| columns.fit(row));
    let lines = rows.iter().map(|row| match &row[..] {
        [title] => title.text().to_owned() + "\n",
        row => columns.line(row, false) + "\n",
    });
    head + "\n" + &lines.collect::<String>()
}

// GitHub-flavoured Markdown.

fn claims_as_markdown(judged: &[Judged<'_>]) -> String {
    let mut out = format!("{}.\n", summary(judged));
    for (i, one) in judged.iter().enumerate() {
        if i == 0 || judged[i - 1].source.id != one.source.id {
            out += &format!(
                "\n### {}\n\n{}. Figures: {}.\n\n",
                safe(&one.source.id),
                safe(&reference(one.source)),
                safe(&one.source.machine)
            );
            out += "| claim | verdict | published | here |\n| --- | --- | --- | --- |\n";
        }
        out += &claim_as_markdown(one);
    }
    out
}

fn claim_as_markdown(judged: &Judged<'_>) -> String {
    let says =
        format!("`{}`<br>{}", judged.claim.id.replace(['`', '|'], ""), safe(&judged.claim.says));
    let mut verdict = format!("**{}**", judged.verdict.words());
    let mut sentences: Vec<String> =
        Some(judged.why()).filter(|w| !w.is_empty()).into_iter().collect();
    sentences.extend(remarks(judged));
    for sentence in sentences {
        verdict += &format!("<br>{}", safe(&sentence));
    }
    let published = judged.figures.iter().filter_map(|(figure, _)| {
        let published = figure.published.as_deref()?;
        Some(safe(&format!("{}: {published}", figure.of)))
    });
    let published = published.collect::<Vec<_>>().join("<br>");
    let here = judged.figures.iter().map(|(f, a)| safe(&format!("{}: {}", f.of, here(a))));
    let here = here.collect::<Vec<_>>().join("<br>");
    format!("| {says} | {verdict} | {published} | {here} |\n")
}

fn table_as_markdown(table: &PrintedTable) -> String {
    let head: Vec<String> = table_head(table).iter().map(|line| safe(line)).collect();
    let mut out = format!("{}\n\n", head.join("\\\n"));
    let headings: Vec<String> = table.columns.iter().map(|c| heading(*c)).collect();
    out += &format!("| | | {} |\n", headings.join(" | "));
    out += &format!("| --- | --- | {} |\n", vec!["---:"; headings.len()].join(" | "));
    for group in &table.groups {
        for (i, line) in group.lines.iter().enumerate() {
            let name = if i == 0 { safe(&row_name(group)) } else { String::new() };
            let cells: Vec<String> =
                (0..line.cells.len()).map(|at| bare(group, line, at, " \\!")).collect();
            out += &format!("| {name} | {} | {} |\n", safe(&line.who), cells.join(" | "));
        }
    }
    out
}

fn safe(text: &str) -> String {
    escape_markdown(&clean(text))
}

// CSV: one row a figure.

fn claims_as_csv(judged: &[Judged<'_>]) -> String {
    /// A claim, and one of its figures with an answer if there is any.
    type Row<'a> = (&'a Judged<'a>, Option<(&'a Figure, &'a Answer)>);
    let rows = judged.iter().flat_map(|j| {
        let figures =
            j.figures.iter().flat_map(|(f, answers)| answers.iter().map(move |a| (*f, a)));
        let none = j.figures.is_empty().then_some(None);
        figures.map(Some).chain(none).map(move |figure| (j, figure))
    });
    let value = |(_, of): &Row<'_>| numbers(of.and_then(|(_, answer)| answer.value.as_ref().ok()));
    let of = |(_, of): &Row<'_>, text: fn(&Figure, &Answer) -> String| {
        of.map(|(figure, answer)| text(figure, answer)).unwrap_or_default()
    };
    csv_of::<Row<'_>>(
        rows,
        &[
            ("source", &|(j, _)| j.source.id.clone()),
            ("id", &|(j, _)| j.claim.id.clone()),
            ("says", &|(j, _)| j.claim.says.clone()),
            ("verdict", &|(j, _)| j.verdict.words().to_owned()),
            ("why", &|(j, _)| j.why()),
            ("of", &|row| of(row, |figure, _| figure.of.clone())),
            ("published", &|row| of(row, |figure, _| figure.published.clone().unwrap_or_default())),
            ("library", &|row| of(row, |_, answer| answer.library.clone())),
            ("here", &|row| value(row)[0].clone()),
            ("low", &|row| value(row)[1].clone()),
            ("high", &|row| value(row)[2].clone()),
            ("unit", &|row| value(row)[3].clone()),
            ("missing", &|row| of(row, |_, a| a.value.as_ref().err().cloned().unwrap_or_default())),
        ],
    )
}

/// Value, lower and upper end, unit.
fn numbers(value: Option<&Value>) -> [String; 4] {
    match value {
        Some(Value::Number(i, unit)) => {
            [i.median.to_string(), i.low.to_string(), i.high.to_string(), unit.symbol().to_owned()]
        }
        Some(other) => [other.to_string(), String::new(), String::new(), String::new()],
        None => [const { String::new() }; 4],
    }
}

fn table_as_csv(table: &PrintedTable) -> String {
    let value = |cell: &Number<'_>| numbers(Some(&cell.value));
    let who = |cell: &Number<'_>| match cell.column {
        Column::Limit => "limit of this core".to_owned(),
        _ => cell.line.who.clone(),
    };
    csv_of(
        cells(table),
        &[
            ("label", &|cell| cell.group.label.clone()),
            ("algorithm", &|cell| cell.group.algorithm.clone()),
            ("direction", &|cell| cell.group.direction.to_string()),
            ("tier", &|cell| cell.group.tier.to_string()),
            ("who", &|cell| who(cell)),
            ("size", &|cell| cell.size.map(|size| size.to_string()).unwrap_or_default()),
            ("value", &|cell| value(cell)[0].clone()),
            ("low", &|cell| value(cell)[1].clone()),
            ("high", &|cell| value(cell)[2].clone()),
            ("unit", &|cell| value(cell)[3].clone()),
        ],
    )
}

// JSON: an array of objects.

fn claims_as_json(judged: &[Judged<'_>]) -> String {
    let one = |j: &Judged<'_>| {
        let figures = j.figures.iter().map(|(figure, answers)| {
            let here: Vec<Json> = answers.iter().map(answer).collect();
            json!({"of": figure.of, "published": figure.published, "here": here})
        });
        json!({
            "id": j.claim.id,
            "source": {
                "id": j.source.id, "author": j.source.author, "title": j.source.title,
                "published": j.source.published, "url": j.source.url, "machine": j.source.machine,
            },
            "says": j.claim.says,
            "verdict": j.verdict.words(),
            "why": j.why(),
            "parts": j.cases.iter().map(|c| case(j, c)).collect::<Vec<_>>(),
            "figures": figures.collect::<Vec<_>>(),
            "went_wrong": j.claim.went_wrong,
            "refused_by": j.claim.refused_by,
            "note": j.claim.note,
        })
    };
    record::pretty(&judged.iter().map(one).collect::<Vec<_>>())
}

fn case(judged: &Judged<'_>, case: &CaseOutcome) -> Json {
    let (outcome, missing) = match &case.outcome {
        Outcome::Holds => ("holds", None),
        Outcome::Fails => ("does not hold", None),
        Outcome::Undecided => ("undecided", None),
        Outcome::NoTime(why) => ("no time", Some(why)),
        Outcome::Missing(why) => ("missing", Some(why)),
    };
    let says = &judged.claim.parts[case.part].says;
    json!({"says": says, "library": case.library, "outcome": outcome, "missing": missing})
}

fn answer(answer: &Answer) -> Json {
    let mut json = match &answer.value {
        Ok(value) => number(value),
        Err(missing) => json!({"missing": missing}),
    };
    json["library"] = Json::from(answer.library.as_str());
    json
}

fn number(value: &Value) -> Json {
    match value {
        Value::Number(i, unit) => {
            json!({"value": i.median, "low": i.low, "high": i.high, "unit": unit.symbol()})
        }
        Value::Truth(truth) => json!({"value": truth}),
        word => json!({"value": word.to_string()}),
    }
}

fn table_as_json(table: &PrintedTable) -> String {
    let rows = cells(table).map(|Number { group, line, column, size, value }| {
        let mut row = json!({
            "label": group.label, "algorithm": group.algorithm,
            "direction": group.direction.name(), "tier": group.tier.name(),
            "who": line.who, "is_limit": column == Column::Limit, "size": size,
            "impossible_here": group.impossible_here && line.who == PUBLISHED,
        });
        if let (Json::Object(row), Json::Object(value)) = (&mut row, number(&value)) {
            row.extend(value);
        }
        row
    });
    record::pretty(&rows.collect::<Vec<_>>())
}

/// The tables that come with the program, by the name of their source.
const TABLES: [(&str, &str); 4] = [
    ("highgo", include_str!("../../../../claims/tables/highgo.csv")),
    ("transactional", include_str!("../../../../claims/tables/transactional.csv")),
    ("asecuritysite", include_str!("../../../../claims/tables/asecuritysite.csv")),
    ("tls", include_str!("../../../../claims/tables/tls.csv")),
];

/// A published table that comes with the program, by the name of its source.
pub fn published(source: &str) -> Option<Table> {
    let (_, text) = TABLES.iter().find(|(name, _)| *name == source)?;
    Some(record::import::parse_table(text).expect("the built-in tables are tested"))
}

pub(crate) const PUBLISHED: &str = "published";

#[derive(Clone, Debug)]
pub struct PrintedTable {
    pub from: Imported,
    pub columns: Vec<Column>,
    /// The size here, where the source does not say one.
    pub size_here: Option<usize>,
    /// Its rows, in the article's order.
    pub groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Size(usize),
    /// MB/s at the one size that there is.
    Speed,
    Cycles,
    Instructions,
    /// MB/s that this core permits.
    Limit,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub label: String,
    pub algorithm: String,
    pub direction: Direction,
    /// Which CPU instructions the library could see.
    pub tier: Tier,
    /// The published line, then one for each library here.
    pub lines: Vec<Line>,
    /// Whether the published speed is above what this core permits.
    pub impossible_here: bool,
}

/// The figures of one machine and library.
#[derive(Clone, Debug)]
pub struct Line {
    /// `published`, or the library.
    pub who: String,
    pub cells: Vec<Option<Estimate>>,
}

impl Column {
    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Size(_) | Self::Speed | Self::Limit => Unit::MbPerSecond,
            Self::Cycles => Unit::CyclesPerByte,
            Self::Instructions => Unit::InstructionsPerByte,
        }
    }
}

/// The table of a source with this machine's figures beside it.
pub fn printed_table(table: &Table, evidence: &Evidence<'_>) -> PrintedTable {
    let without_size = table.rows.iter().any(|row| row.size.is_none());
    let columns = if without_size {
        vec![Column::Speed, Column::Cycles, Column::Instructions, Column::Limit]
    } else {
        let mut sizes: Vec<usize> = table.rows.iter().filter_map(|row| row.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter().map(Column::Size).collect()
    };
    let mut groups: Vec<Group> = Vec::new();
    let mut rows: &[Row] = &table.rows;
    while let Some(first) = rows.first() {
        let same = |row: &&Row| {
            (&row.label, &row.algorithm, row.direction, row.tier, &row.library)
                == (&first.label, &first.algorithm, first.direction, first.tier, &first.library)
        };
        let of_one = rows.iter().take_while(same).count();
        groups.push(group(&rows[..of_one], &columns, evidence));
        rows = &rows[of_one..];
    }
    PrintedTable {
        from: table.from.clone(),
        columns,
        size_here: without_size.then_some(SIZE),
        groups,
    }
}

fn group(rows: &[Row], columns: &[Column], evidence: &Evidence<'_>) -> Group {
    let first = &rows[0];
    let published = Line {
        who: PUBLISHED.to_owned(),
        cells: columns.iter().map(|column| published_cell(rows, *column)).collect(),
    };
    // The name of a published library is not of our making.
    let glob = NameGlob::parse(&library_glob(first)).ok();
    let libraries = glob.map(|glob| evidence.libraries(&glob)).unwrap_or_default();
    let mut lines = vec![published];
    let mut impossible_here = false;
    for library in libraries {
        let of_it: Vec<&Measurement> = evidence
            .own()
            .filter(|m| {
                m.library == *library
                    && m.state == State::Measured
                    && m.algorithm == first.algorithm
                    && (m.direction, m.tier, m.model) == (first.direction, first.tier, first.model)
            })
            .collect();
        if of_it.is_empty() {
            continue;
        }
        let cells = columns.iter().map(|column| cell_here(&of_it, *column)).collect();
        let limit = of_it.iter().find(|m| m.size == first.size.unwrap_or(SIZE));
        let limit = limit.and_then(|m| facts::limit(m)?.ok());
        impossible_here |= limit.is_some_and(|limit| first.mb_per_s > limit.median);
        lines.push(Line { who: label(library), cells });
    }
    Group {
        label: first.label.clone(),
        algorithm: first.algorithm.clone(),
        direction: first.direction,
        tier: first.tier,
        lines,
        impossible_here,
    }
}

fn published_cell(rows: &[Row], column: Column) -> Option<Estimate> {
    let number = match column {
        Column::Size(size) => Some(rows.iter().find(|row| row.size == Some(size))?.mb_per_s),
        Column::Speed => Some(rows[0].mb_per_s),
        Column::Cycles => rows[0].cycles_per_byte,
        Column::Instructions => rows[0].instructions_per_byte,
        Column::Limit => None,
    };
    number.map(Estimate::exactly)
}

fn cell_here(of_it: &[&Measurement], column: Column) -> Option<Estimate> {
    let size = if let Column::Size(size) = column { size } else { SIZE };
    let m = of_it.iter().find(|m| m.size == size)?;
    match column {
        Column::Size(_) | Column::Speed => speed(m).ok(),
        Column::Cycles => m.cycles_per_byte.map(Estimate::exactly),
        Column::Instructions => m.instructions_per_byte.map(Estimate::exactly),
        Column::Limit => limit(m)?.ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::{printed_table, *};
    use crate::claims::{Evidence, judge};
    use crate::sample;

    fn source() -> Source {
        let claim = "each = 'openssl'\nwent_wrong = 'w'\nrefused_by = ['return codes']\nnote = 'n'\n\
             figures = [{ of = 'p', published = '1 MB/s', here = 'speed(aes-128-gcm, 8192)' }]\n\
             parts = [{ holds = 'speed(aes-128-gcm, 8192) > 9 GB/s' }]";
        sample::source_of_claim(base::model::Model::Message, claim).unwrap()
    }

    fn rendered(format: Format) -> String {
        let (source, records) = (source(), [sample::record_for_claims()]);
        let judged = judge(&source, &source.claims[0], &Evidence::of(&records));
        render_claims(&[judged], format, Options { width: 90, color: false })
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
    }

    #[test]
    fn json_has_the_verdict_and_each_figure_with_its_unit() {
        let json: serde_json::Value = serde_json::from_str(&rendered(Format::Json)).unwrap();
        assert_eq!(json[0]["verdict"], "depends");
        assert_eq!(json[0]["figures"][0]["here"][0]["unit"], "MB/s");
        assert_eq!(json[0]["figures"][0]["here"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn a_table_has_the_published_row_above_each_local_one_in_every_format() {
        let text = "# source: s|s\nlabel,library,algorithm,size,mb_per_s,model\n\
            =x,openssl,aes-128-gcm,8192,300000,message\n";
        let records = [sample::record_for_claims()];
        let printed =
            printed_table(&record::import::parse_table(text).unwrap(), &Evidence::of(&records));
        let rendered =
            |format| render_table(&printed, format, Options { width: 100, color: false });
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
    fn every_source_has_its_whole_table() {
        let rows = |name| published(name).unwrap().rows.len();
        assert_eq!(
            [rows("highgo"), rows("transactional"), rows("asecuritysite"), rows("tls")],
            [85, 53, 6, 40]
        );
        assert!(published("elsewhere").is_none());
    }

    #[test]
    fn the_published_row_comes_first_and_each_version_here_below_it() {
        let text = "# source: s\n# machine: m\nlabel,library,algorithm,size,mb_per_s,model\n\
            x,openssl,aes-128-gcm,16,100,message\nx,openssl,aes-128-gcm,8192,20000,message\n";
        let table = record::import::parse_table(text).unwrap();
        let records = [sample::record_for_claims()];
        let printed = printed_table(&table, &Evidence::of(&records));
        assert_eq!(printed.columns, [Column::Size(16), Column::Size(8192)]);
        let [group] = &printed.groups[..] else { panic!("{printed:?}") };
        let who: Vec<&str> = group.lines.iter().map(|l| l.who.as_str()).collect();
        assert_eq!(who, ["published", "openssl@3.0.22", "openssl@4.0.1"]);
        assert_eq!(group.lines[1].cells[0], None);
        assert_eq!(group.lines[1].cells[1].unwrap().median, 8192.0);
        // 100 MB/s at 16 bytes, which was not measured here, is nothing impossible.
        assert!(!group.impossible_here);
    }

    #[test]
    fn a_speed_above_what_this_core_permits_is_marked() {
        let records = [sample::record_for_claims()];
        let impossible = |speed: &str| {
            let head = "# source: s\nlibrary,algorithm,size,mb_per_s,model\n";
            let text = format!("{head}openssl,aes-128-gcm,,{speed},message\n");
            let table = record::import::parse_table(&text).unwrap();
            printed_table(&table, &Evidence::of(&records)).groups[0].impossible_here
        };
        // The limit of the one version is 16384 MB/s, of the other 24000: half is reached.
        assert!(impossible("300000"));
        assert!(!impossible("16000"));
    }
}
