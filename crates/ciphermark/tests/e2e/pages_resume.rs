//! Runs over a page store that are cut short: killed, interrupted, resumed.

use crate::support::*;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Far more than ending takes, far less than the run's budget.
const SOON: Duration = Duration::from_secs(60);

/// A store, and a run over it that is under way.
fn started(directory: &Path) -> (std::path::PathBuf, std::path::PathBuf, Background) {
    let (store, record) = (directory.join("store"), directory.join("p.json"));
    std::fs::write(&store, (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
        .unwrap();
    let what = ["pages", arg(&store), "-l", "openssl", "-s", "aes-128-gcm", "--pages", "32"];
    let how = ["--media", "memory,cache", "--probes", "0", "--scratch", arg(directory)];
    let running = Background::start_kept(&[&what[..], &how].concat(), &record, "10m", 60);
    (store, record, running)
}

fn samples_in_journal(record: &Path) -> usize {
    let text = std::fs::read_to_string(journal(record)).unwrap();
    text.split_inclusive('\n').filter(|l| l.contains(" {\"sample\"") && l.ends_with('\n')).count()
}

fn samples_in_record(record: &Value) -> usize {
    rows(record, "measurements").iter().map(|c| rows(&c["raw"], "ticks").len()).sum()
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_killed_run_over_a_store_is_resumed_over_the_same_store_only() {
    let directory = scratch();
    let (store, record, running) = started(directory.path());
    running.send(Signal::KILL);
    running.ends_within(SOON).with_code(BY_SIGNAL);
    assert!(!record.exists(), "the record is written when it is whole");
    let kept = samples_in_journal(&record);
    let (before, bytes) =
        (std::fs::read(journal(&record)).unwrap(), std::fs::read(&store).unwrap());

    std::fs::write(&store, vec![7; bytes.len()]).unwrap();
    let resume = format!("pages --resume {} --budget 40s", arg(&record));
    refuses(&resume, &["the store has changed", "run again without --resume"]);
    assert_eq!(std::fs::read(journal(&record)).unwrap(), before, "nothing is lost");
    refuses(&format!("run --resume {}", arg(&record)), &["`ciphermark pages`"]);

    std::fs::write(&store, bytes).unwrap();
    let printed = call(&format!("{resume} --format json")).with_code(0).stdout;
    let whole = read(&record);
    assert_eq!(printed, std::fs::read_to_string(&record).unwrap());
    assert!(samples_in_record(&whole) > kept, "samples of before and of now");
    all_are(rows(&whole, "measurements"), "measured");
    let cells = rows(&whole, "measurements");
    assert_eq!(cells.len(), 14, "{cells:#?}");
    assert!(cells.iter().all(|c| text(c, "stopped") != "interrupted"), "{cells:#?}");
    assert!(!journal(&record).exists());
    refuses(&resume, &["nothing to resume"]);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn an_interrupted_run_over_a_store_keeps_what_it_has_and_says_how_to_resume() {
    let directory = scratch();
    let (_, record, running) = started(directory.path());
    running.send(Signal::INT);
    let done = running.ends_within(SOON).with_code(INTERRUPTED);
    assert!(done.only_line_on_stderr().contains(&format!("--resume {}", arg(&record))));
    assert!(done.stdout.contains("aes-128-gcm"), "{done:?}");
    let found = read(&record);
    let kept = samples_in_journal(&record);
    assert_eq!(samples_in_record(&found), kept, "nothing is lost");
    for cell in rows(&found, "measurements") {
        assert_eq!(text(cell, "stopped"), "interrupted");
        // Whose turn had not come has no number.
        if text(cell, "state") == "failed" {
            continue;
        }
        let io = cell["details"]["raw_io_ticks"].as_array().map_or(0, Vec::len);
        let expected = if cell["details"]["medium"] == "cache" {
            rows(&cell["raw"], "ticks").len()
        } else {
            0
        };
        assert_eq!(io, expected, "{cell}");
    }
    // Time for the proof too, which a busy machine takes seconds for.
    call(&format!("pages --resume {} --budget 10s", arg(&record))).with_code(0);
    assert!(samples_in_record(&read(&record)) >= kept);
    assert!(!journal(&record).exists());
}

#[test]
fn a_run_over_a_store_that_took_no_time_is_shown_again() {
    let directory = scratch();
    let record = file(&directory, "p.json");
    let what = "pages -q --synthetic 1M -l openssl -s aes-256-xts --media none --probes 0";
    let printed = call(&format!("{what} -o {record}")).with_code(0).stdout;
    assert!(printed.contains("2 schemes in 1 libraries"), "{printed}");
    assert_eq!(call(&format!("show {record}")).with_code(0).stdout, printed);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_killed_run_that_writes_a_copy_is_resumed_and_writes_only_where_it_is_told() {
    let directory = scratch();
    let (store, record) = (directory.path().join("store"), directory.path().join("p.json"));
    std::fs::write(&store, (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
        .unwrap();
    let copy = directory.path().join("copy");
    let what = ["pages", arg(&store), "-l", "openssl", "-s", "aes-128-gcm", "--pages", "32"];
    let how = ["--media", "memory", "--probes", "0", "--decrypt-to", arg(&copy)];
    let running = Background::start_kept(&[&what[..], &how].concat(), &record, "10m", 30);
    running.send(Signal::KILL);
    running.ends_within(SOON).with_code(BY_SIGNAL);
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&store).unwrap());
    let resume = format!("pages -q --resume {} --budget 10s", arg(&record));
    refuses(&resume, &["resume it with --decrypt-to PATH"]);
    // It is there already, and stays as it is.
    std::fs::write(&copy, "mine").unwrap();
    call(&format!("{resume} --decrypt-to {}", arg(&copy))).with_code(0);
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), "mine");
    assert!(!journal(&record).exists());
}
