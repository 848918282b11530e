//! `ciphermark quietly`: another program, stopped while its core is busy.

use crate::support::*;
use std::path::Path;
use std::time::{Duration, Instant};

/// The program gets its slices on a busy core, too.
const ANYWAY: [&str; 4] = ["quietly", "--wait", "1ms", "--anyway"];

/// A shell's words on the measuring CPU; nothing is known of how quiet that can be.
fn quietly(words: &[&str], script: &str) -> Done {
    let words = [&ANYWAY[..], words, &["--", "sh", "-c", script]].concat();
    ciphermark_with(&words, &[("CIPHERMARK_CACHE", "")])
}

/// Work that takes longer than a few slices on any machine.
const WORK: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done";

#[test]
fn a_program_runs_to_its_end_and_what_was_seen_is_told() {
    let place = scratch();
    let file = file(&place, "seen.json");
    let done = quietly(&["-o", &file], WORK).with_code(0);
    assert_eq!(done.stdout, "done\n");
    assert!(done.stderr.starts_with("quietly: "), "{}", done.stderr);
    let seen = read(&file);
    let number = |name: &str| number(&seen, name);
    assert!(number("cpu_seconds") > 0.0, "{seen}");
    assert!(number("cpu_seconds") <= number("seconds") + 0.01, "{seen}");
    assert!(number("quiet_cpu_seconds") <= number("cpu_seconds"), "{seen}");
    assert!(number("slices") >= 1.0 && seen["exit_code"] == 0, "{seen}");
    // Once more, over what was written.
    quietly(&["-q", "-o", &file], "true").with_code(0);
}

#[test]
fn the_exit_code_is_the_programs_own() {
    quietly(&["-q"], "exit 7").with_code(7);
    quietly(&["-q"], "kill -9 $$").with_code(128 + 9);
    let gone = call("quietly -q --wait 1ms --anyway no-such-program").with_code(127);
    assert!(gone.stderr.contains("no-such-program"), "{}", gone.stderr);
}

#[test]
fn wrong_use_is_told() {
    for line in ["quietly", "quietly --slice soon true", "quietly -o /nowhere/seen.json true"] {
        refuses(line, &[]);
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
#[cfg(target_arch = "x86_64")]
fn a_program_that_finds_no_quiet_moment_is_ended_and_leaves_nothing() {
    let cache = scratch();
    let fake = fakes::library("correct");
    let words = ["run", "-l", &fake, "-a", "aes-128-ctr", "-s", "64", "-d", "encrypt"];
    let words =
        [&words[..], &["--no-evidence", "--precision", "0.0001%", "--budget", "10s"]].concat();
    let environment = [("CIPHERMARK_CACHE", arg(cache.path()))];
    ciphermark_with(&words, &environment).with_code(0);
    remember_rate(&kept_rates(cache.path()), QUIETER);
    let mark = cache.path().join("mark");
    let script = format!("touch {0}; sleep 3; touch {0}.late", arg(&mark));
    let words = ["quietly", "--wait", "100ms", "sh", "-c", &script];
    let done = ciphermark_with(&words, &environment).with_code(4);
    assert!(done.stderr.contains("no quiet moment in"), "{}", done.stderr);
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert!(!cache.path().join("mark.late").exists(), "it went on");
}

#[test]
fn an_interrupt_asks_the_program_to_end() {
    let place = scratch();
    let mark = place.path().join("mark");
    let script =
        format!("trap 'touch {0}.asked; exit 3' TERM; touch {0}; while :; do :; done", arg(&mark));
    let mut running = Background::start(&[&ANYWAY[..], &["sh", "-c", &script]].concat());
    running.wait_until("the program runs", || mark.exists());
    running.send(rustix::process::Signal::INT);
    running.ends_within(Duration::from_secs(60)).with_code(3);
    assert!(place.path().join("mark.asked").exists());
}

#[test]
fn a_program_does_not_outlive_ciphermark() {
    let place = scratch();
    let mark = place.path().join("mark");
    let script =
        format!("touch {0}; while [ ! -e {0}.end ]; do :; done; touch {0}.late", arg(&mark));
    let mut running = Background::start(&[&ANYWAY[..], &["sh", "-c", &script]].concat());
    running.wait_until("the program runs", || mark.exists());
    let programs = processes_below(running.id());
    assert_eq!(programs.len(), 1, "{programs:?}");
    running.send(rustix::process::Signal::KILL);
    drop(running);
    let end = Instant::now() + Duration::from_secs(60);
    while Path::new(&format!("/proc/{}/fd/0", programs[0].0)).exists() {
        assert!(Instant::now() < end, "{programs:?} still live");
        std::thread::sleep(Duration::from_millis(20));
    }
}
