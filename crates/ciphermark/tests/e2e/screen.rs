//! What a terminal gets and what a pipe gets: colours, the progress bar, a reader that goes away.

use crate::support::*;
use std::process::{Command, Stdio};

const ESCAPE: char = '\u{1b}';

/// A case that takes a moment, so that there is progress to show.
const A_MOMENT: &str =
    "run -a aes-128-ctr -l openssl -d encrypt -s 16 --precision 0.0001% --budget 2s";

#[test]
fn colours_follow_the_flag_then_no_color_then_the_terminal() {
    let list = ["list", "algorithms"];
    let colored = |flags: &[&str]| {
        ciphermark(&[&list[..], flags].concat(), b"").with_code(0).stdout.contains(ESCAPE)
    };
    assert!(!colored(&[]), "a pipe");
    assert!(colored(&["--color", "always"]));
    assert!(!colored(&["--color", "never"]));
    let terminal = |command: &str| in_terminal(command).with_code(0).stdout.contains(ESCAPE);
    assert!(terminal("ciphermark list algorithms"));
    assert!(!terminal("NO_COLOR=1 ciphermark list algorithms"));
    assert!(!terminal("ciphermark list algorithms --color never"));
    assert!(terminal("NO_COLOR=1 ciphermark list algorithms --color always"));
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn the_progress_bar_is_on_standard_error_and_only_on_a_terminal() {
    let bar = in_terminal(&format!("ciphermark {A_MOMENT} > /dev/null")).with_code(0).stdout;
    assert!(bar.contains("measuring") && bar.contains("left"), "{bar:?}");
    let quiet = in_terminal(&format!("ciphermark {A_MOMENT} --quiet > /dev/null")).with_code(0);
    assert_eq!(quiet.stdout, "");
    let piped: Vec<&str> = A_MOMENT.split(' ').skip(1).collect();
    assert_eq!(measure(&piped).with_code(0).stderr, "");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(program())
        .args(["list", "algorithms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn a_full_disk_under_standard_output_is_told() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(program()).args(["list", "tiers"]).stdout(full).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{error}");
    assert!(error.starts_with("ciphermark: cannot write to standard output: "), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn every_line_fits_the_terminal_or_what_columns_says() {
    let record = published();
    let fits = |text: &str, width: usize| {
        let wide = text.lines().filter(|l| l.trim_end_matches('\r').chars().count() > width);
        let wide: Vec<&str> = wide.collect();
        assert!(wide.is_empty(), "{width}: {wide:?}");
    };
    for width in [60, 80, 120, 200] {
        let columns = [("COLUMNS", width.to_string())];
        let columns = columns.each_ref().map(|(name, value)| (*name, value.as_str()));
        for command in [
            &["show", &*record, "-s", "16,8K"][..],
            &["rank", &*record],
            &["compare", &*record, "--libraries", "openssl@3.0*,openssl@4*", "--fail-if", "never"],
        ] {
            let piped = ciphermark_with(command, &columns).with_code(0);
            assert!(!piped.stdout.contains(ESCAPE));
            fits(&piped.stdout, width);
        }
        let command = format!(
            "stty rows 40 cols {width}; ciphermark show {record} -a 'aes-128-*' --color never"
        );
        fits(&in_terminal(&command).with_code(0).stdout, width);
    }
}
