//! Runs that are cut short: killed, interrupted, gone on with.

use crate::support::*;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Far more than ending takes, far less than the run's budget.
const SOON: Duration = Duration::from_secs(15);

fn journal(record: &Path) -> std::path::PathBuf {
    record.with_file_name("r.json.partial")
}

/// Samples in whole lines of the journal.
fn samples_in_journal(record: &Path) -> usize {
    let text = std::fs::read_to_string(journal(record)).unwrap();
    text.split_inclusive('\n').filter(|l| l.contains(" {\"sample\"") && l.ends_with('\n')).count()
}

fn samples_in_record(rows: &[Value]) -> usize {
    let count = |row: &Value, field: &str| row[field].as_u64().unwrap() as usize;
    rows.iter().map(|row| count(row, "samples") + count(row, "samples_disturbed")).sum()
}

fn read(record: &Path) -> (Value, Vec<Value>) {
    let text = std::fs::read_to_string(record).unwrap();
    (serde_json::from_str(&text).unwrap(), measurements(&text))
}

#[test]
fn a_killed_run_leaves_no_worker_behind_and_is_gone_on_with() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let what = ["-a", "aes-128-ctr", "-l", "openssl", "-s", "16,1K", "--seed", "5"];
    let mut running = Background::start_run(&what, &record);
    let (id, mut workers) = (running.id(), Vec::new());
    // Between one pass and the next there is none for a moment.
    running.wait_until("a worker runs", || {
        workers = processes_below(id);
        !workers.is_empty()
    });
    running.send(Signal::KILL);
    assert_eq!(running.ends_within(SOON).status.code(), None);
    wait_until_gone(&workers);
    assert!(!record.exists(), "the record is written when it is whole");
    let kept = samples_in_journal(&record);

    let resume = ["--resume", arg(&record), "--budget", "2s", "--format", "json"];
    let done = measure(&resume).with_code(0);
    let (whole, rows) = read(&record);
    assert_eq!(done.stdout, std::fs::read_to_string(&record).unwrap());
    assert!(samples_in_record(&rows) > kept, "samples of before and of now");
    assert!(rows.iter().all(|row| text(row, "state") == "measured"), "{rows:?}");
    assert_eq!((rows.len(), &whole["plan"]["seed"]), (4, &5.into()));
    assert!(!journal(&record).exists());
    let line = refusal(&["run", "--resume", arg(&record)]);
    assert!(line.contains("nothing to go on with"), "{line}");
}

/// A process is gone when none of that number and start time lives.
fn wait_until_gone(processes: &[(u32, String)]) {
    let lives = |(pid, start): &(u32, String)| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit_once(") ").map_or("", |s| s.1).split(' ').collect();
        !["", "Z", "X"].contains(&fields[0]) && fields[19] == start
    };
    for _ in 0..500 {
        if !processes.iter().any(lives) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("workers outlive the scheduler: {processes:?}");
}

#[test]
fn a_worker_whose_library_hangs_dies_with_the_scheduler_too() {
    let mut running =
        Background::start(&["verify", "-a", "aes-128-ctr", "-l", &fakes::library("hang")]);
    let id = running.id();
    running.wait_until("a worker runs", || !processes_below(id).is_empty());
    // Past the greeting the library hangs in its first check.
    std::thread::sleep(Duration::from_millis(500));
    let workers = processes_below(id);
    assert!(!workers.is_empty());
    running.send(Signal::KILL);
    running.ends_within(SOON);
    wait_until_gone(&workers);
}

#[test]
fn an_interrupt_ends_in_order_and_says_how_to_go_on() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let what = ["-a", "aes-128-ctr", "-l", "openssl", "-s", "16,1K"];
    let running = Background::start_run(&what, &record);
    running.send(Signal::INT);
    let output = running.ends_within(SOON);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains(&format!("ciphermark run --resume {}", arg(&record))), "{said}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("aes-128-ctr"));
    let (_, rows) = read(&record);
    for row in &rows {
        assert_eq!((text(row, "state"), text(row, "stopped")), ("measured", "interrupted"));
    }
    let before = samples_in_record(&rows);

    measure(&["--resume", arg(&record), "--budget", "2s"]).with_code(0);
    let (_, rows) = read(&record);
    assert!(samples_in_record(&rows) > before);
    assert!(rows.iter().all(|row| text(row, "stopped") == "budget"), "{rows:?}");
    assert!(!journal(&record).exists());
}

#[test]
fn an_interrupt_ends_a_run_that_is_still_verifying() {
    let hang = fakes::library("hang");
    let mut running = Background::start(&["run", "-a", "aes-128-ctr", "-l", &hang, "-s", "16"]);
    let id = running.id();
    running.wait_until("a worker runs", || !processes_below(id).is_empty());
    std::thread::sleep(Duration::from_millis(500));
    running.send(Signal::INT);
    running.ends_within(SOON);
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let hang = fakes::library("hang");
    let mut running = Background::start(&["run", "-a", "aes-128-ctr", "-l", &hang, "-s", "16"]);
    let id = running.id();
    running.wait_until("a worker runs", || !processes_below(id).is_empty());
    std::thread::sleep(Duration::from_millis(500));
    running.send(Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    if !processes_below(std::process::id()).iter().any(|(pid, _)| *pid == id) {
        return; // The first one was enough.
    }
    running.send(Signal::INT);
    running.ends_within(Duration::from_secs(2));
}

#[test]
fn another_build_under_the_same_path_is_not_mixed_into_the_samples() {
    let directory = scratch();
    let (record, object) = (directory.path().join("r.json"), directory.path().join("mine.so"));
    std::fs::copy(fakes::object("correct", ""), &object).unwrap();
    let mine = format!("mine={}", arg(&object));
    let running = Background::start_run(&["-a", "aes-128-ctr", "-l", &mine, "-s", "16"], &record);
    running.send(Signal::KILL);
    running.ends_within(SOON);
    let kept = std::fs::read(journal(&record)).unwrap();
    std::fs::remove_file(&object).unwrap();
    std::fs::copy(fakes::object("noisy", ""), &object).unwrap();
    let line = refusal(&["run", "--resume", arg(&record)]);
    assert!(line.contains("mine.so") && line.contains("another build"), "{line}");
    assert_eq!(std::fs::read(journal(&record)).unwrap(), kept, "nothing is lost");
}

#[test]
fn a_torn_last_line_costs_that_sample_alone() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let what = ["-a", "aes-128-ctr", "-l", "openssl", "-s", "16", "-d", "encrypt"];
    let running = Background::start_run(&what, &record);
    running.send(Signal::KILL);
    running.ends_within(SOON);
    let mut text = std::fs::read_to_string(journal(&record)).unwrap();
    let end = text.rfind('\n').unwrap();
    text.truncate(end - 20);
    std::fs::write(journal(&record), &text).unwrap();
    let kept = samples_in_journal(&record);
    measure(&["--resume", arg(&record), "--budget", "1s"]).with_code(0);
    assert!(samples_in_record(&read(&record).1) > kept);
}

#[test]
fn the_bare_program_surveys_every_library_and_an_interrupt_prints_what_there_is() {
    let running = Background::start(&[]);
    // Verification of everything takes some seconds; the budget is most of a minute.
    std::thread::sleep(Duration::from_secs(8));
    running.send(Signal::INT);
    let output = running.ends_within(SOON);
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{output:?}");
    let table = String::from_utf8(output.stdout).unwrap();
    for word in ["openssl@", "libgcrypt@", "rustcrypto@", "aes-256-gcm", "memcpy", "8K"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("interrupted"), "{said}");
}
