//! One record in every format, from `run` and from `show`, whole and filtered.

use crate::support::{fakes, *};
use std::sync::OnceLock;

/// A record with measured, unsupported and refused rows.
fn record() -> &'static str {
    static RECORD: OnceLock<String> = OnceLock::new();
    RECORD.get_or_init(|| {
        let broken = fakes::library("wrong_tag");
        let what = ["-a", "aes-128-{ctr,gcm,ecb}", "-l", "openssl", "-l", &broken, "-s", "16,100"];
        let models = ["-m", "message", "-m", "stream", "--format", "json"];
        let made = || measure(&[&what[..], &models, &QUICK].concat()).with_code(3).stdout.into();
        shared("formats", made).as_str().unwrap().to_owned()
    })
}

/// What `show` prints of the record.
fn show(flags: &str) -> String {
    let directory = scratch();
    let path = file(&directory, "r.json");
    std::fs::write(&path, record()).unwrap();
    let done = call(&format!("show {path} {flags}")).with_code(0);
    assert_eq!(done.stderr, "");
    done.stdout
}

#[test]
fn the_record_has_rows_in_every_state_that_formats_must_show() {
    let rows = measurements(record());
    for state in ["measured", "unsupported", "refused"] {
        where_(&rows, &[("state", state)]);
    }
}

#[test]
fn json_of_everything_is_the_record_itself() {
    assert_eq!(show("--format json"), record());
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn csv_has_one_row_of_all_columns_for_each_measurement() {
    let printed = show("--format csv");
    let mut reader = csv::Reader::from_reader(printed.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|h| h == name).unwrap();
    // The reader refuses rows of another length than the header's.
    let found: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let rows = measurements(record());
    assert_eq!(found.len(), rows.len());
    for (cells, row) in found.iter().zip(&rows) {
        for field in ["algorithm", "direction", "model", "state", "reason"] {
            assert_eq!(&cells[column(field)], text(row, field));
        }
        assert_eq!(&cells[column("library_name")], text(row, "library.name"));
        assert_eq!(cells[column("size")], row["size"].to_string());
        let speed = cells[column("mb_per_s")].parse::<f64>().ok();
        assert_eq!(speed, row["mb_per_s"].as_f64());
    }
}

#[test]
fn the_table_is_plain_text_where_nobody_looks_at_a_terminal() {
    let printed = show("");
    for word in ["encrypt", "decrypt", "stream", "aes-128-gcm", "openssl@", "MB/s", "REFUSED"] {
        assert!(printed.contains(word), "{word}: {printed}");
    }
    assert!(!printed.contains('\u{1b}'));
    assert!(printed.lines().all(|line| line.chars().count() <= 120), "{printed}");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn run_prints_what_show_prints_of_its_record_which_replaces_an_older_one() {
    let directory = scratch();
    let path = file(&directory, "r.json");
    for format in ["table", "jsonl", "csv", "markdown"] {
        let what = ["-a", "aes-128-ctr", "-l", "openssl", "-d", "encrypt", "-s", "16"];
        let run = measure(&[&what[..], &QUICK, &["-o", &path, "--format", format]].concat());
        let show = call(&format!("show {path} --format {format}")).with_code(0);
        assert_eq!(run.with_code(0).stdout, show.stdout, "{format}");
    }
}

#[test]
fn filters_leave_the_rows_that_were_asked_for() {
    let rows = |filter: &str| measurements(&show(&format!("{filter} --format json")));
    let all = rows("");
    for (filter, field, value) in [
        ("-a *-gcm", "algorithm", "aes-128-gcm"),
        ("-l openssl", "library.name", "openssl"),
        ("-l openssl@*", "library.name", "openssl"),
        ("-l wrong*@1.0", "library.name", "wrong_tag"),
        ("-d decrypt", "direction", "decrypt"),
        ("-m stream", "model", "stream"),
        ("-t native", "tier", "native"),
    ] {
        let left = rows(filter);
        assert!(left.iter().all(|row| text(row, field) == value), "{filter}: {left:?}");
        assert_eq!(left.len(), where_(&all, &[(field, value)]).len(), "{filter}");
    }
    assert_eq!(rows("-a aes-128-ctr -l openssl -d encrypt -m message").len(), 2);
    let sizes = rows("-s 64..1K,100");
    assert_eq!(sizes.len(), all.len() / 2);
    assert!(sizes.iter().all(|row| row["size"] == 100), "{sizes:?}");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_filtered_record_is_a_record_again() {
    let directory = scratch();
    let part = file(&directory, "part.json");
    std::fs::write(&part, show("-a aes-128-ctr --format json")).unwrap();
    let again = call(&format!("show {part} --format json")).with_code(0);
    assert_eq!(again.bytes, std::fs::read(&part).unwrap());
}
