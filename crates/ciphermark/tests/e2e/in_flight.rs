//! Libraries that work on several messages at once: the stand-in `defers`, and IPsec-MB with several jobs
//! where it is installed.

use crate::support::{fakes, *};
use std::process::Command;

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_library_that_works_only_when_it_is_drained_is_measured_and_says_how_many_are_in_flight() {
    let what = format!("-a aes-128-{{ctr,gcm}} -s 16,700,8K -l {}", fakes::library("defers"));
    let more = "-d encrypt -m message,rekey --latency --in-place both";
    let record = record(&format!("{what} {more}"), 0);
    for row in rows(&record, "measurements") {
        if text(row, "model") == "rekey" {
            assert_eq!(text(row, "state"), "unsupported", "{row}");
            assert!(text(row, "reason").contains("share one key"), "{row}");
            continue;
        }
        assert_eq!(text(row, "state"), "measured", "{row}");
        assert!(number(row, "latency_ns.p50") > 0.0, "{row}");
        // A round of the stand-in's slow GCM is more than is stepped.
        if text(row, "algorithm") == "aes-128-ctr" {
            assert_eq!(text(row, "evidence.instructions"), "single-step", "{row}");
        }
    }
    // Decryption with a tag is one message at a time.
    for call in rows(&record["libraries"][0], "calls") {
        let alone = call["algorithm"] == "aes-128-gcm" && call["direction"] == "decrypt";
        assert_eq!(call["in_flight"].as_u64(), (!alone).then_some(8), "{call}");
    }
}

#[test]
fn messages_in_flight_execute_what_they_execute_alone_and_no_more() {
    let (defers, correct) = (fakes::library("defers"), fakes::library("correct"));
    let what = format!("-l {defers} -l {correct} -a aes-128-ctr -s 256 -d encrypt");
    let record = record(&what, 0);
    let counted = rows(&record, "measurements").iter();
    let counts: Vec<f64> =
        counted.filter_map(|row| row["instructions_per_byte"].as_f64()).collect();
    assert_eq!(counts.len(), 2, "{record}");
    assert!((counts[0] / counts[1] - 1.0).abs() < 0.01, "{counts:?}");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn draining_that_forgets_or_fails_is_found_before_timing_and_in_the_timed_loop() {
    for (define, reason) in [
        ("FORGETS AT=12", "written: encrypt"),
        ("FORGETS_AMONG AT=12", "timed-output: "),
        ("LOSES_ERROR AT=12", "timed-output: "),
        ("REPORTS_ERROR AT=12", "return-codes: "),
    ] {
        let library = format!("faulty={}", arg(&fakes::object("defers", define)));
        // Without --no-evidence, single-stepping finds it before the timed loop does.
        let what = "-a aes-128-{ctr,gcm} -d encrypt -s 700 --no-evidence -l";
        for row in rows(&record(&format!("{what} {library}"), 3), "measurements") {
            assert_eq!(text(row, "state"), "refused", "{define}: {row}");
            assert!(text(row, "reason").starts_with(reason), "{define}: {row}");
        }
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn footprints_that_hold_fewer_messages_than_are_in_flight_are_not_measured() {
    let what = "-a aes-128-ctr -d encrypt -s 1K,8K --footprint l1 -l";
    let record = record(&format!("{what} {}", fakes::library("defers")), 0);
    let [small, large] = &rows(&record, "measurements")[..] else { panic!("{record}") };
    assert_eq!((text(small, "state"), &small["size"]), ("measured", &1024.into()), "{small}");
    assert_eq!((text(large, "state"), &large["size"]), ("unsupported", &8192.into()), "{large}");
    assert!(text(large, "reason").contains("8 are in flight"), "{large}");
}

/// `--library` for IPsec-MB with several jobs; `None` where it is not on this machine.
fn jobs() -> Option<(tempfile::TempDir, String)> {
    let (sources, directory) = (repository("attach/ipsec-mb"), scratch());
    let object = directory.path().join("jobs.so");
    let mut cc = Command::new("sh");
    cc.current_dir(sources)
        .args(["-c", "cc -O2 -fPIC -shared -DJOBS *.c -I../../include -lIPSec_MB -o \"$0\""]);
    let done = cc.arg(&object).output().unwrap();
    if !done.status.success() {
        eprintln!("skipped: ipsec-mb is not here: {}", String::from_utf8_lossy(&done.stderr));
        return None;
    }
    let library = format!("ipsec-mb-jobs={}", arg(&object));
    Some((directory, library))
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn several_jobs_of_ipsec_mb_pass_every_check_and_are_measured() {
    let Some((_directory, library)) = jobs() else { return };
    let algorithms = "-a aes-*-cbc -a des-ede3-cbc -a {,hmac-}sha{256,384,512}";
    let all = call(&format!("verify --json {algorithms} -l {library}")).with_code(0).rows();
    assert_eq!(all.len(), 10, "{all:?}");
    all_are(&all, "passed");
    let what = "-a aes-128-cbc -a hmac-sha256 -s 64,1K,64K -d encrypt";
    let record = record(&format!("{what} -l {library}"), 0);
    for row in rows(&record, "measurements") {
        // Longer than a job: no fault, and none of the other sizes'.
        let state = if row["size"] == 65_536 { "unsupported" } else { "measured" };
        assert_eq!(text(row, "state"), state, "{row}");
    }
    let calls = rows(&record["libraries"][0], "calls");
    assert!(calls.iter().all(|call| call["in_flight"] == 16), "{calls:?}");
}
