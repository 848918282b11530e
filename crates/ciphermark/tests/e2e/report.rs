//! The HTML page as a file. What stands in it is tested in a browser (`web/test`).

use crate::support::*;
use std::path::{Path, PathBuf};

const BEGINNING: &str = "<!doctype html>\n<!-- ciphermark report -->\n";

fn report(arguments: &[&str]) -> Done {
    ciphermark(&[&["report"], arguments].concat(), b"")
}

/// A copy of a small record in a directory of the test's own.
fn record_in(directory: &Path) -> PathBuf {
    let path = directory.join("r.json");
    std::fs::copy(repository("crates/record/tests/sample.json"), &path).unwrap();
    path
}

#[test]
fn a_pipe_gets_the_page_and_a_file_the_same() {
    let directory = scratch();
    let record = record_in(directory.path());
    let page = directory.path().join("p.html");
    let printed = report(&[arg(&record)]).with_code(0);
    assert!(printed.stdout.starts_with(BEGINNING), "{}", &printed.stdout[..200]);
    assert!(printed.stdout.ends_with("</html>"));
    let written = report(&[arg(&record), "-o", arg(&page)]).with_code(0);
    assert_eq!(written.stdout, "");
    assert!(written.only_line_on_stderr().contains("p.html"));
    assert_eq!(std::fs::read(&page).unwrap(), printed.bytes);
    let dash = report(&[arg(&record), "-o", "-"]).with_code(0);
    assert_eq!(dash.bytes, printed.bytes);
}

#[test]
fn a_terminal_gets_a_file_named_after_the_record_which_replaces_pages_only() {
    let directory = scratch();
    let record = record_in(directory.path());
    let page = directory.path().join("r.html");
    let command = format!("cd '{}' && ciphermark report '{}'", arg(directory.path()), arg(&record));
    assert!(in_terminal(&command).with_code(0).stdout.contains("wrote r.html"));
    assert!(std::fs::read_to_string(&page).unwrap().starts_with(BEGINNING));
    in_terminal(&command).with_code(0);
    std::fs::write(&page, "somebody's").unwrap();
    assert!(in_terminal(&command).with_code(2).stdout.contains("'r.html' exists"));
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "somebody's");
}

#[test]
fn the_survey_with_every_sample_is_a_small_file_that_names_no_other() {
    let page = report(&[&published()]).with_code(0).stdout;
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    for word in ["src=", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("The MIT License"), "the chart library's licence goes with it");
}

#[test]
fn a_record_is_never_overwritten_by_its_page() {
    let directory = scratch();
    let record = record_in(directory.path());
    let before = std::fs::read(&record).unwrap();
    let link = directory.path().join("link.html");
    std::os::unix::fs::symlink(&record, &link).unwrap();
    for output in [&record, &link] {
        let words = ["is a record that the page is made from"];
        refuses(&format!("report {} -o {}", arg(&record), arg(output)), &words);
    }
    assert_eq!(std::fs::read(&record).unwrap(), before);
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let directory = scratch();
    let record = record_in(directory.path());
    let (record, torn) = (arg(&record), file(&directory, "torn.json"));
    std::fs::write(&torn, "{").unwrap();
    refuses(&format!("report {record} {torn}"), &["torn.json"]);
    let nowhere = format!("report {record} -o /nowhere/p.html");
    refuses(&nowhere, &["cannot write the page '/nowhere/p.html'"]);
    refuses("report", &["RECORD"]);
}
