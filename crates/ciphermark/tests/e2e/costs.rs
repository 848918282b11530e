//! What operations cost beyond their bytes: new keys, forgeries, footprints, threads, latencies, lines; and
//! libraries that work on several messages at once: the stand-in `defers`, and IPsec-MB with several jobs
//! where it is installed.

use crate::support::{fakes, *};
use serde_json::Value;
use std::process::Command;

/// The rows of a record that is measured now.
fn measured(what: &str, code: i32) -> Vec<Value> {
    rows(&record(what, code), "measurements").clone()
}

fn all_measured<'a>(rows: impl IntoIterator<Item = &'a Value>) {
    for row in rows {
        assert_eq!(text(row, "state"), "measured", "{row}");
        assert!(number(row, "cycles_per_byte") > 0.0, "{row}");
    }
}

/// Demands that rows of 700 bytes alone are refused, with these words.
fn refused_at_700(rows: &[&Value], words: &str) {
    for row in rows {
        let refused = row["size"] == 700;
        assert_eq!(text(row, "state"), if refused { "refused" } else { "measured" }, "{row}");
        assert!(!refused || text(row, "reason").contains(words), "{row}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_new_key_for_each_message_is_priced_by_reuse_and_by_opening_anew() {
    let (rekeys, correct) = (fakes::library("rekeys"), fakes::library("correct"));
    let what = format!("-l {rekeys} -l {correct} -a aes-128-gcm -s 64 -m message,rekey");
    let record = record(&what, 0);
    let all = rows(&record, "measurements");
    for (library, way) in [("rekeys", "reused"), ("correct", "reopened")] {
        let keyed = where_(all, &[("library.name", library), ("model", "rekey")]);
        assert_eq!(keyed.len(), 2);
        all_measured(keyed.iter().copied());
        for row in keyed {
            let direction = text(row, "direction");
            let plain = [("library.name", library), ("model", "message"), ("direction", direction)];
            let plain = where_(all, &plain)[0];
            let difference = number(row, "ns_per_op.median") - number(plain, "ns_per_op.median");
            assert!((number(row, "key_setup.ns") - difference).abs() < 1e-6, "{row} {plain}");
            assert!(plain.get("key_setup").is_none());
        }
        let library = where_(rows(&record, "libraries"), &[("name", library)])[0];
        let call = where_(rows(library, "calls"), &[("algorithm", "aes-128-gcm")])[0];
        assert_eq!(call["rekeying"], way);
    }
    let checked = |row: &&Value| rows(row, "checks").iter().any(|c| c["name"] == "rekey");
    assert!(where_(all, &[("library.name", "rekeys"), ("model", "rekey")]).iter().any(checked));
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_new_key_that_is_ignored_is_found_before_timing_and_in_the_timed_loop() {
    let what = "-a aes-128-gcm -m message,rekey -s 64,700";
    for (define, reason) in
        [("IGNORES_KEY", "after a new key"), ("REFUSES_KEY", "setting a new key")]
    {
        let library = fakes::variant("rekeys", define);
        for row in &measured(&format!("-l {library} {what}"), 3) {
            assert_eq!(text(row, "state"), "refused", "{row}");
            assert!(text(row, "reason").starts_with("rekey: "), "{row}");
            assert!(text(row, "reason").contains(reason), "{row}");
        }
    }
    let library = fakes::variant("rekeys", "IGNORED_AT=700");
    let all = measured(&format!("-l {library} {what}"), 3);
    refused_at_700(&where_(&all, &[("model", "rekey")]), "timed-output: ");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn forgeries_are_rejected_every_time_or_the_case_is_refused() {
    let what = "-a aes-128-gcm -a aes-128-ctr -s 64,700 -m forgery";
    let with_tag = [("algorithm", "aes-128-gcm"), ("direction", "decrypt")];
    let all = measured(&format!("-l {} {what}", fakes::library("correct")), 0);
    let gcm = where_(&all, &with_tag);
    all_measured(gcm.iter().copied());
    for row in all.iter().filter(|row| !gcm.contains(row)) {
        assert_eq!(text(row, "state"), "unsupported", "{row}");
        assert!(text(row, "reason").contains("only decryption with a tag"), "{row}");
    }
    let library = fakes::variant("accepts_forgery", "FORGED_IN_TIME=700");
    let all = measured(&format!("-l {library} {what}"), 3);
    refused_at_700(&where_(&all, &with_tag), "accepted a forged tag");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn footprints_and_places_are_measured_where_they_can_be_and_said_where_not() {
    let what = "-a aes-128-gcm -a memcpy -s 1K,64K --footprint hot,l1,l2 --in-place both";
    let all = measured(&format!("{what} -l {}", fakes::library("correct")), 0);
    let known = |row: &Value| !text(row, "reason").contains("the system knows of no");
    for footprint in ["hot", "l1", "l2"] {
        let gcm = where_(&all, &[("algorithm", "aes-128-gcm"), ("footprint", footprint)]);
        for row in gcm.iter().filter(|row| row["state"] == "measured" || known(row)) {
            if row["size"] == 64 << 10 && footprint == "l1" {
                assert!(text(row, "reason").contains("that an operation touches"), "{row}");
            } else {
                all_measured([*row]);
            }
        }
        for place in [true, false] {
            assert!(gcm.iter().any(|row| row["in_place"] == place), "{gcm:?}");
        }
    }
    let copies = where_(&all, &[("algorithm", "memcpy"), ("footprint", "hot")]);
    for row in copies.iter().filter(|row| row["in_place"] == true) {
        assert!(text(row, "reason").contains("does not work in place"), "{row}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn memory_that_no_cache_holds_is_walked_through_in_both_directions() {
    let what = format!("-a aes-128-gcm -s 4K -l {}", fakes::library("correct"));
    let all = measured(&format!("{what} --footprint memory"), 0);
    assert_eq!(all.len(), 2);
    for row in &all {
        let small = row["state"] == "unsupported" && text(row, "reason").contains("memory");
        assert!(small || row["state"] == "measured", "{row}");
    }
}

/// The least and the most that the samples of a thread say, in MB/s: however disturbed a machine is, a
/// summary lies in between.
fn range(row: &Value, thread: u64, ticks_per_second: f64) -> (f64, f64) {
    let [ops, ticks, of] = ["ops", "ticks", "thread"].map(|column| rows(&row["raw"], column));
    let bytes = number(row, "size");
    let own = (0..of.len()).filter(|i| of[*i] == thread);
    let rates = own.map(|i| {
        bytes * ops[i].as_f64().unwrap() / ticks[i].as_f64().unwrap() * ticks_per_second / 1e6
    });
    rates.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), rate| {
        (least.min(rate), most.max(rate))
    })
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn threads_measure_at_once_and_more_than_there_are_cpus_is_a_wrong_use() {
    let cpus = std::thread::available_parallelism().unwrap().get();
    let many = format!("--threads {}", cpus + 1);
    refuses(&format!("run -l openssl {many}"), &[&many, &cpus.to_string()]);
    if cpus < 2 {
        return;
    }
    let (new, old) = (fakes::library("correct"), fakes::library("abi_2"));
    let what = format!("-l {new} -l {old} -a aes-128-gcm -s 1K -d decrypt --threads 1,2");
    let record = record_alone(&what, 0);
    let all = rows(&record, "measurements");
    let of = |library: &str, threads: u64| {
        let own = where_(all, &[("library.name", library)]).into_iter();
        own.filter(|row| row["threads"] == threads).collect::<Vec<_>>()
    };
    all_measured(where_(all, &[("library.name", "correct")]));
    let two = of("correct", 2)[0];
    let shares = rows(two, "per_thread");
    assert_eq!(shares.len(), 2, "{two}");
    assert_ne!(shares[0]["cpu"], shares[1]["cpu"]);
    let ticks_per_second = number(&record, "host.clock.ticks_per_second");
    let ranges = [0, 1].map(|thread| range(two, thread, ticks_per_second));
    for (share, (least, most)) in shares.iter().zip(&ranges) {
        let own = number(share, "mb_per_s");
        assert!(least * 0.99 < own && own < most * 1.01, "{own} {ranges:?}");
    }
    let [(least, most), (other_least, other_most)] = ranges;
    let total = number(two, "mb_per_s");
    let within = (least + other_least) * 0.99 < total && total < (most + other_most) * 1.01;
    assert!(within, "{total} {ranges:?}");
    let samples = rows(&two["raw"], "thread");
    assert!(samples.chunks(2).all(|visit| visit[0] == 0 && visit[1] == 1), "{samples:?}");
    all_measured(of("abi_2", 1));
    let two = of("abi_2", 2)[0];
    assert_eq!(text(two, "state"), "unsupported");
    assert!(text(two, "reason").contains("adapter interface 2"), "{two}");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn latencies_are_percentiles_of_single_operations() {
    let what = format!("-a aes-128-gcm -s 64 -l {}", fakes::library("correct"));
    for row in &measured(&format!("{what} --latency -m message,rekey,stream"), 0) {
        let latency = &row["latency_ns"];
        if text(row, "model") == "stream" {
            assert!(latency.is_null(), "{row}");
            continue;
        }
        let [p50, p99, p99_9] = ["p50", "p99", "p99_9"].map(|p| number(latency, p));
        assert!(0.0 < p50 && p50 <= p99 && p99 <= p99_9, "{latency}");
        let counted: u64 =
            rows(latency, "ticks").iter().map(|pair| pair[1].as_u64().unwrap()).sum();
        assert_eq!(latency["operations"].as_u64().unwrap(), counted);
        assert!(counted >= 1000 && number(latency, "resolution_ns") > 0.0, "{latency}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_line_is_fitted_to_three_sizes_and_explained() {
    let directory = scratch();
    let what = format!("-a aes-128-gcm -s 64,1K,4K -d encrypt -l {}", fakes::library("correct"));
    let record = record(&format!("{what} -m message,rekey"), 0);
    let fits = rows(&record, "fits");
    assert_eq!(fits.len(), 2);
    for fit in fits {
        assert_eq!(fit["sizes"], serde_json::json!([64, 1024, 4096]));
        assert!(number(fit, "ns_per_byte") > 0.0 && number(fit, "residual") >= 0.0, "{fit}");
    }
    let path = written(&directory, "r.json", record.to_string());
    let line = ["model message", "model rekey", "ns/B", "largest residual"];
    let explained = call(&format!("explain {path} --all")).with_code(0);
    explained.says(line).says(["key set-up", "opened anew"]);
}

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
        // What overwrites its input is not counted.
        if text(row, "algorithm") == "aes-128-ctr" && row["in_place"] == false {
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
#[ignore = "long: measures for seconds"]
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
