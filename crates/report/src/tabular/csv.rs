//! CSV.

use crate::tabular::columns::{COLUMNS, Column, Of, Row};
use base::text::{csv_as_is, guarded};
use record::{Measurement, Record};

/// A header, then one row a measurement of the record: every field but the raw samples, and the verdict on its secrets.
/// Text that a spreadsheet
/// would take for a formula is preceded by an apostrophe; numbers are as they are.
#[must_use]
pub fn csv(record: &Record, selection: &[&Measurement]) -> String {
    let heading = COLUMNS.map(|c| c.name);
    let rows = selection.iter().map(|m| Row::of(record, m));
    csv_as_is(&heading, rows.map(|row| COLUMNS.map(|c| field(&c, &row))))
}

fn field(column: &Column, m: &Row<'_>) -> String {
    let field = match column.of {
        Of::Text(of) => of(m).map(guarded),
        Of::Count(of) => of(m).map(|count| count.to_string()),
        Of::Real(of) => of(m).map(|real| real.to_string()),
        Of::Flag(of) => Some(of(m).to_string()),
    };
    field.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tabular::sample;
    use proptest::prelude::*;

    fn rows(measurements: &[Measurement]) -> Vec<::csv::StringRecord> {
        let text = csv(&sample::record(), &measurements.iter().collect::<Vec<_>>());
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        reader.records().map(Result::unwrap).collect()
    }

    fn column(name: &str) -> usize {
        COLUMNS.iter().position(|c| c.name == name).unwrap()
    }

    #[test]
    fn commas_quotes_and_line_breaks_in_reasons_stay_in_their_field() {
        let mut m = sample::measurements()[0].clone();
        m.reason = Some("a \"b\",\nc".to_owned());
        let rows = rows(&[m]);
        assert_eq!(rows.len(), 1);
        assert_eq!(&rows[0][column("reason")], "a \"b\",\nc");
        assert_eq!(csv(&sample::record(), &[]).lines().count(), 1);
    }

    #[test]
    fn text_that_begins_like_a_formula_is_made_text_and_a_negative_number_stays_a_number() {
        let mut m = sample::measurements()[0].clone();
        m.key_setup = Some(record::KeySetup { ns: -3.5, cycles: None });
        for hostile in ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"] {
            m.library.name = hostile.to_owned();
            m.reason = Some(format!("{hostile}\",=2"));
            let rows = rows(std::slice::from_ref(&m));
            assert_eq!(rows[0][column("library_name")], format!("'{hostile}"));
            assert_eq!(rows[0][column("reason")], format!("'{hostile}\",=2"));
            assert_eq!(&rows[0][column("key_setup_ns")], "-3.5");
        }
        m.library.name = "a=b".to_owned();
        assert_eq!(&rows(&[m])[0][column("library_name")], "a=b");
    }

    #[test]
    fn the_verdict_on_secrets_stands_beside_each_row_that_it_is_of() {
        let record = sample::record();
        let judged = record.measurements[0].clone();
        let other = Measurement { tier: base::model::Tier::Baseline, ..judged.clone() };
        let rows = rows(&[judged, other]);
        assert_eq!(&rows[0][column("leaks")], "depends");
        assert!(
            rows[0][column("leaks_words")].starts_with("secret-dependent lookups in AES_encrypt")
        );
        assert_eq!((&rows[1][column("leaks")], &rows[1][column("leaks_words")]), ("", ""));
    }

    fn real(field: &str) -> Option<f64> {
        (!field.is_empty()).then(|| field.parse().unwrap())
    }

    proptest! {
        #[test]
        fn what_is_written_comes_back_in_its_column(
            texts in [any::<String>(), any::<String>(), any::<String>()], size: usize, samples: u64,
            ns in any::<f64>().prop_filter("finite", |n| n.is_finite()), in_place: bool,
        ) {
            let mut m = sample::measurements()[0].clone();
            let [name, version, reason] = texts;
            (m.size, m.samples, m.in_place, m.ns_per_byte) = (size, samples, in_place, Some(ns));
            (m.library.name, m.library.version) = (name.clone(), version.clone());
            m.reason = Some(reason.clone());
            let rows = rows(&[m]);
            prop_assert_eq!(rows.len(), 1);
            let field = |column_: &str| rows[0][column(column_)].to_owned();
            for (column, text) in [("library_name", name), ("library_version", version), ("reason", reason)] {
                let read = field(column);
                prop_assert!(read == text || read.strip_prefix('\'') == Some(&text), "{read:?}");
                prop_assert_eq!(&guarded(read.clone()), &read);
            }
            prop_assert_eq!(real(&field("ns_per_byte")), Some(ns));
            prop_assert_eq!(field("size"), size.to_string());
            prop_assert_eq!(field("samples"), samples.to_string());
            prop_assert_eq!(field("in_place"), in_place.to_string());
        }
    }
}
