//! For a terminal.

use super::{bare, heading, reference, remarks, row_name, summary, table_head};
use crate::claims::{Answer, Judged, PrintedTable, Verdict};
use base::text::{ALARM, ASIDE, Align, BEST, CAUTION, Cell, Columns, Options, PLAIN, clean, paint};

/// Where the claims' text begins: past the longest verdict.
const INDENT: usize = 19;

pub(super) fn claims(judged: &[Judged<'_>], options: Options) -> String {
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
        out += &claim(one, options);
    }
    out + &format!("\n{}\n", summary(judged))
}

fn claim(judged: &Judged<'_>, options: Options) -> String {
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
        Verdict::NotTestable => ASIDE,
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
pub(super) fn here(answers: &[Answer]) -> String {
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

pub(super) fn table(table: &PrintedTable, options: Options) -> String {
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
