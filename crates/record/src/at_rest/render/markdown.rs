//! The record in Markdown.

use super::rows::{integrity, nonce_lines, rows, store_lines, threads, times, verified_lines};
use crate::at_rest::format::PagesRecord;
use base::text::escape_markdown;

/// The record in GitHub-flavoured Markdown.
#[must_use]
pub fn markdown(record: &PagesRecord) -> String {
    let mut out = String::new();
    for line in store_lines(record).iter().chain(&verified_lines(record)) {
        out += &format!("- {}\n", escape_markdown(line));
    }
    for threads in threads(record) {
        out += &format!(
            "\nNanoseconds a page, threads: {threads} (\\* no other library is surely faster)\n\n"
        );
        out += &times(&rows(record, threads), false).markdown();
    }
    out += "\n| scheme | accidents | adversaries | old page | unnoticed, and what became of it |\n";
    out += "| --- | --- | --- | --- | --- |\n";
    for i in integrity(record) {
        let mut last = vec![i.unnoticed];
        last.extend(i.unexpected.iter().map(|u| format!("UNEXPECTED {u}")));
        let last = escape_markdown(&last.join("; "));
        let words = [i.accident, i.adversary, i.rollback].map(ToOwned::to_owned);
        out += &line([escape_markdown(&i.scheme)].into_iter().chain(words).chain([last]));
    }
    out.push('\n');
    for text in nonce_lines(record) {
        let indent = if text.starts_with("  ") { "  " } else { "" };
        out += &format!("{indent}- {}\n", escape_markdown(text.trim()));
    }
    out
}

fn line(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::rows::HEAD;
    use super::*;
    use crate::at_rest::sample;

    #[test]
    fn every_row_of_a_table_has_as_many_cells_as_its_head() {
        let mut record = sample();
        record.libraries[0].name = "a|b".into();
        let text = markdown(&record);
        let times: Vec<&str> =
            text.lines().skip_while(|l| !l.starts_with("| scheme | extra")).collect();
        let cells = |l: &str| l.replace("\\|", "").matches('|').count();
        let table: Vec<&&str> = times.iter().take_while(|l| l.starts_with('|')).collect();
        assert!(table.len() > 4 && table.iter().all(|l| cells(l) == HEAD.len() + 1), "{text}");
    }
}
