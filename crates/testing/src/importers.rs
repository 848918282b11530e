//! Figures from elsewhere: what `openssl speed` printed, and published tables.

use crate::check;
use base::model::Tier;
use base::text::Options;
use record::import::{Row, SpeedSource};
use record::{Imported, Measurement};
use report::Format;

/// The first byte says which reader the rest is for.
pub(crate) fn run(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    if which % 2 == 0 { speed(text, which & 2 != 0) } else { table(text) }
}

fn speed(text: &str, decrypt: bool) {
    let library = "openssl".to_owned();
    let source = SpeedSource { library, version: None, decrypt, tier: Tier::Native };
    match record::import::rows_of_speed(text, &source) {
        Err(why) => check::line(&why),
        Ok(rows) => {
            let source = "what openssl speed printed".to_owned();
            delivered(&rows, &Imported { source, machine: None });
        }
    }
}

fn table(text: &str) {
    match record::import::parse_table(text) {
        Err(why) => check::line(&why),
        Ok(mut table) => {
            table.rows.iter_mut().for_each(|row| row.size = row.size.or(Some(16)));
            delivered(&table.rows, &table.from);
        }
    }
}

/// The rows as a record, which is read again and shown.
fn delivered(rows: &[Row], from: &Imported) {
    let imported = record::import::record(rows, from, "2026-01-01T00:00:00Z", Vec::new());
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
    assert_eq!(check::spreadsheet("CSV", &report::tabular::csv(&imported, &all)), all.len() + 1);
}
