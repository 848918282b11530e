//! Runs that are cut short: killed, interrupted, resumed.

use crate::support::{fakes, *};
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Far more than ending takes, far less than the run's budget.
const SOON: Duration = Duration::from_secs(15);

fn samples_in_record(record: &Value) -> usize {
    let taken = |row: &Value| number(row, "samples") + number(row, "samples_disturbed");
    rows(record, "measurements").iter().map(taken).sum::<f64>() as usize
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_killed_run_leaves_no_worker_behind_and_is_resumed() {
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
    running.ends_within(SOON).with_code(BY_SIGNAL);
    wait_until_gone(&workers);
    assert!(!record.exists(), "the record is written when it is whole");
    let kept = samples_in_journal(&record);

    let resume = ["--resume", arg(&record), "--budget", "2s", "--format", "json"];
    let done = measure(&resume).with_code(0);
    let whole = read(&record);
    assert_eq!(done.stdout, std::fs::read_to_string(&record).unwrap());
    assert!(samples_in_record(&whole) > kept, "samples of before and of now");
    all_are(rows(&whole, "measurements"), "measured");
    assert_eq!((rows(&whole, "measurements").len(), &whole["plan"]["seed"]), (4, &5.into()));
    assert!(!journal(&record).exists());
    refuses(&format!("run --resume {}", arg(&record)), &["nothing to resume"]);
}

/// A process is gone when none of that number and start time lives.
fn wait_until_gone(processes: &[(u32, String)]) {
    let lives = |(pid, start): &(u32, String)| {
        stat(*pid).is_some_and(|f| !["Z", "X"].contains(&&*f[0]) && f[19] == *start)
    };
    wait_until("the scheduler's workers end", 5, || !processes.iter().any(lives));
}

/// A command with a library that hangs, once its worker is past the greeting and in its first check.
fn hanging(command: &str) -> Background {
    let library = fakes::library("hang");
    let mut running = Background::start(&[command, "-a", "aes-128-ctr", "-l", &library]);
    let id = running.id();
    running.wait_until("a worker runs", || !processes_below(id).is_empty());
    std::thread::sleep(Duration::from_millis(500));
    running
}

#[test]
fn a_worker_whose_library_hangs_dies_with_the_scheduler_too() {
    let running = hanging("verify");
    let workers = processes_below(running.id());
    assert!(!workers.is_empty());
    running.send(Signal::KILL);
    running.ends_within(SOON);
    wait_until_gone(&workers);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn an_interrupt_or_sigterm_ends_in_order_and_says_how_to_resume() {
    for signal in [Signal::INT, Signal::TERM] {
        let directory = scratch();
        let record = directory.path().join("r.json");
        let what = ["-a", "aes-128-ctr", "-l", "openssl", "-s", "16,1K"];
        let running = Background::start_run(&what, &record);
        running.send(signal);
        let resume = format!("ciphermark run --resume {}", arg(&record));
        running.ends_within(SOON).ends(INTERRUPTED, [&*resume]).says(["aes-128-ctr"]);
        let whole = read(&record);
        for row in rows(&whole, "measurements") {
            assert_eq!((text(row, "state"), text(row, "stopped")), ("measured", "interrupted"));
        }
        assert!(journal(&record).exists());

        measure(&["--resume", arg(&record), "--budget", "2s"]).with_code(0);
        let after = read(&record);
        assert!(samples_in_record(&after) > samples_in_record(&whole));
        let stopped = |row: &Value| text(row, "stopped") == "budget";
        assert!(rows(&after, "measurements").iter().all(stopped), "{after}");
        assert!(!journal(&record).exists());
    }
}

#[test]
#[ignore = "long: seconds"]
fn an_interrupt_ends_a_run_that_is_still_verifying_and_a_second_one_ends_it_at_once() {
    let running = hanging("run");
    running.send(Signal::INT);
    running.ends_within(SOON);

    let running = hanging("run");
    running.send(Signal::INT);
    std::thread::sleep(Duration::from_millis(100));
    if !processes_below(std::process::id()).iter().any(|(pid, _)| *pid == running.id()) {
        return; // The first one was enough.
    }
    running.send(Signal::INT);
    running.ends_within(Duration::from_secs(2));
}

#[test]
#[ignore = "long: measures for seconds"]
fn another_build_under_the_same_path_is_not_mixed_into_the_samples() {
    let directory = scratch();
    let (record, object) = (directory.path().join("r.json"), directory.path().join("mine.so"));
    std::fs::copy(fakes::object("correct", ""), &object).unwrap();
    let mine = format!("mine={}", arg(&object));
    let running = Background::start_run(&["-a", "aes-128-ctr", "-l", &mine, "-s", "16"], &record);
    running.send(Signal::KILL);
    running.ends_within(SOON);
    let kept = std::fs::read_to_string(journal(&record)).unwrap();
    // A journal may be anybody's, and starts no program.
    let mark = directory.path().join("ran");
    let program = script(&directory, "program", &format!("#!/bin/sh\ntouch {}\n", arg(&mark)));
    let named = format!("runtime:{program}");
    let (head, samples) = kept.split_once('\n').unwrap();
    // Behind the words that begin a journal and a checksum.
    let (magic, line) = head.split_at("ciphermark journal ".len());
    let json = line[9..].replace(arg(&object), &named);
    let strange = format!("{magic}{}{samples}", journal_line(&json));
    std::fs::write(journal(&record), strange).unwrap();
    refuses(&format!("run --resume {}", arg(&record)), &["names a program"]);
    assert!(!mark.exists());
    std::fs::write(journal(&record), &kept).unwrap();
    std::fs::remove_file(&object).unwrap();
    std::fs::copy(fakes::object("noisy", ""), &object).unwrap();
    refuses(&format!("run --resume {}", arg(&record)), &["mine.so", "another build"]);
    std::fs::write(&record, "years of work").unwrap();
    refuses(&format!("run --resume {}", arg(&record)), &["r.json", "not overwritten"]);
    assert_eq!(std::fs::read_to_string(&record).unwrap(), "years of work");
    assert_eq!(std::fs::read_to_string(journal(&record)).unwrap(), kept, "nothing is lost");
}

/// The legacy provider has RC4 and no AES; what a tier offers is asked anew.
#[test]
#[ignore = "long: measures for seconds"]
fn a_killed_run_of_one_provider_alone_is_resumed_with_that_provider() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let what =
        "-l openssl:legacy@3* -a rc4,aes-256-gcm -s 64 -d encrypt -t native,noaes --no-evidence";
    let running = Background::start_run(&what.split(' ').collect::<Vec<_>>(), &record);
    running.send(Signal::KILL);
    running.ends_within(SOON);
    measure(&["--resume", arg(&record), "--budget", "2s", "--no-evidence"]).with_code(0);
    let whole = read(&record);
    assert_eq!(text(&rows(&whole, "libraries")[0], "name"), "openssl:legacy");
    let of = |algorithm| where_(rows(&whole, "measurements"), &[("algorithm", algorithm)]);
    all_are(of("rc4"), "measured");
    all_are(of("aes-256-gcm"), "unsupported");
}

#[test]
#[ignore = "long: a whole survey"]
fn the_bare_program_surveys_every_library_and_an_interrupt_prints_what_there_is() {
    // Verification of everything takes some seconds, more on a busy machine; the budget is most of a minute.
    let interrupted = |seconds| {
        let running = Background::start(&[]);
        std::thread::sleep(Duration::from_secs(seconds));
        running.send(Signal::INT);
        running.ends_within(SOON)
    };
    let words = ["openssl@", "libgcrypt@", "rustcrypto@", "aes-256-gcm", "memcpy", "8K"];
    let is_there = |output: &Done| words.iter().all(|word| output.stdout.contains(word));
    let mut outputs = [8, 16, 32].into_iter().map(interrupted);
    let output = outputs.find(is_there).expect("half a minute is enough");
    assert_eq!(output.code, INTERRUPTED, "{output:?}");
    says(output.only_line_on_stderr(), ["interrupted"]);
}

/// A run of TLS that was ended by a signal once its journal had samples, with their number.
fn cut_short(command: &[&str], record: &Path, signal: Signal, code: i32) -> usize {
    let running = Background::start_kept(command, record, "30s", 40);
    running.send(signal);
    running.ends_within(SOON).with_code(code);
    samples_in_journal(record)
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_tls_run_that_was_killed_or_interrupted_is_resumed() {
    let Some(stack) = crate::tls::stack() else { return };
    let directory = scratch();
    let record = directory.path().join("tls.json");
    let what = ["-l", &*stack, "--seed", "7"];
    let one = ["tls", "handshake", "-x", "x25519", "-c", "p256", "-k", "full", "-V", "1.3"];
    let handshake = [&one[..], &["--temperature", "hot", "--client-auth", "no"], &what].concat();
    let kept = cut_short(&handshake, &record, Signal::KILL, BY_SIGNAL);
    assert!(kept > 0 && !record.exists(), "the document is written when it is whole");

    // Of another command's run nothing is taken, and it stays.
    let primitives = format!("tls primitives --resume {}", arg(&record));
    refuses(&primitives, &["of kind 'tls-handshakes'", "not of this command"]);
    refuses(&format!("run --resume {}", arg(&record)), &["resume it with `ciphermark tls`"]);

    // Interrupted, it says how to go on, and what there is counts.
    let resume = ["tls", "handshake", "--resume", arg(&record)];
    let mut running = Background::start(&[&resume[..], &["--budget", "10m"]].concat());
    let more = || samples_in_journal(&record) > kept + 20;
    running.wait_until("there are more samples", more);
    running.send(Signal::INT);
    let said = running.ends_within(SOON).with_code(INTERRUPTED).stderr;
    assert!(said.contains("interrupted; resume with --resume"), "{said}");
    let interrupted = read(&record);
    assert_eq!(text(&rows(&interrupted, "measurements")[0], "stopped"), "interrupted");
    let kept = samples_in_journal(&record);

    let done = call(&format!("{} --budget 10s --format json", resume.join(" "))).with_code(0);
    let whole = read(&record);
    assert_eq!(done.json(), whole);
    keeps_to(&whole, "docs/record.schema.json");
    let noise = &whole["noise"];
    assert!(number(noise, "samples") as usize > kept, "samples of before and of now: {noise}");
    assert_eq!((&whole["plan"]["seed"], &whole["started"]), (&7.into(), &interrupted["started"]));
    assert!(!journal(&record).exists());
    refuses(&resume.join(" "), &["nothing to resume"]);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn primitives_and_records_of_tls_are_resumed_too() {
    let Some(stack) = crate::tls::stack() else { return };
    let directory = scratch();
    let all = [
        ("primitives", "-p x25519 --operation agree"),
        ("records", "--cipher aes-128-gcm -V 1.3 -s 1400"),
    ];
    for (command, what) in all {
        let record = directory.path().join(format!("{command}.json"));
        let words: Vec<&str> = what.split(' ').collect();
        let typed = [&["tls", command, "-l", &*stack][..], &words].concat();
        let kept = cut_short(&typed, &record, Signal::KILL, BY_SIGNAL);
        let resume = format!("tls {command} --resume {} --budget 10s --format json", arg(&record));
        let whole = call(&resume).with_code(0).json();
        assert!(
            number(&whole["noise"], "samples") as usize > kept,
            "{command}: {}",
            whole["noise"]
        );
        all_are(rows(&whole, "measurements"), "measured");
        assert!(!journal(&record).exists());
    }
}
