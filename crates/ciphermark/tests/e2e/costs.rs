//! What operations cost beyond their bytes: new keys, forgeries, footprints, threads, latencies, lines.

use crate::support::*;
use serde_json::Value;
use std::path::Path;

/// Measures and gives the record.
fn record(arguments: &[&str], code: i32) -> Value {
    let directory = scratch();
    let path = directory.path().join("r.json");
    measure(&[arguments, &["-q", "-o", arg(&path)], &QUICK].concat()).with_code(code);
    read(&path)
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rows(record: &Value) -> Vec<Value> {
    record["measurements"].as_array().unwrap().clone()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("{field} of {row}"))
}

fn of<'a>(rows: &'a [Value], fields: &[(&str, &str)]) -> Vec<&'a Value> {
    let found = where_(rows, fields);
    assert!(!found.is_empty(), "no row has {fields:?}");
    found
}

fn all_measured(rows: &[&Value]) {
    for row in rows {
        assert_eq!(text(row, "state"), "measured", "{row}");
        assert!(number(row, "cycles_per_byte") > 0.0, "{row}");
    }
}

#[test]
fn a_new_key_for_each_message_is_priced_by_reuse_and_by_opening_anew() {
    let both = ["-l", &fakes::library("rekeys"), "-l", &fakes::library("correct")];
    let what = ["-a", "aes-128-gcm", "-s", "64", "-m", "message,rekey"];
    let record = record(&[&both[..], &what].concat(), 0);
    let all = rows(&record);
    for (library, way) in [("rekeys", "reused"), ("correct", "reopened")] {
        let of_library = [("library.name", library), ("algorithm", "aes-128-gcm")];
        let keyed = of(&all, &[&of_library[..], &[("model", "rekey")]].concat());
        assert_eq!(keyed.len(), 2);
        all_measured(&keyed);
        for row in &keyed {
            let direction = [("model", "message"), ("direction", text(row, "direction"))];
            let plain = of(&all, &[&of_library[..], &direction].concat())[0];
            let both = [row, plain].map(|r| r["ns_per_op"]["median"].as_f64().unwrap());
            let setup = row["key_setup"]["ns"].as_f64().unwrap();
            assert!((setup - (both[0] - both[1])).abs() < 1e-6, "{setup} {both:?}");
            assert!(plain.get("key_setup").is_none());
        }
        let library = record["libraries"].as_array().unwrap().iter().find(|l| l["name"] == library);
        let calls = library.unwrap()["calls"].as_array().unwrap();
        let call = calls.iter().find(|c| c["algorithm"] == "aes-128-gcm").unwrap();
        assert_eq!(call["rekeying"], way);
    }
    let checked =
        |row: &Value| row["checks"].as_array().unwrap().iter().any(|c| c["name"] == "rekey");
    assert!(of(&all, &[("library.name", "rekeys"), ("model", "rekey")]).iter().any(|r| checked(r)));
}

#[test]
fn a_new_key_that_is_ignored_is_found_before_timing_and_in_the_timed_loop() {
    let what = ["-a", "aes-128-gcm", "-m", "message,rekey", "-s", "64,700"];
    for (define, reason) in
        [("IGNORES_KEY", "after a new key"), ("REFUSES_KEY", "setting a new key")]
    {
        let library = fakes::variant("rekeys", define);
        let found = rows(&record(&[&["-l", &library][..], &what].concat(), 3));
        for row in &found {
            assert_eq!(text(row, "state"), "refused", "{row}");
            assert!(text(row, "reason").starts_with("rekey: "), "{row}");
            assert!(text(row, "reason").contains(reason), "{row}");
        }
    }
    let library = fakes::variant("rekeys", "IGNORED_AT=700");
    let all = rows(&record(&[&["-l", &library][..], &what].concat(), 3));
    for row in of(&all, &[("model", "rekey")]) {
        let refused = row["size"] == 700;
        assert_eq!(text(row, "state"), if refused { "refused" } else { "measured" }, "{row}");
        if refused {
            assert!(text(row, "reason").starts_with("timed-output: "), "{row}");
        }
    }
}

#[test]
fn forgeries_are_rejected_every_time_or_the_case_is_refused() {
    let what = ["-a", "aes-128-gcm", "-a", "aes-128-ctr", "-s", "64,700", "-m", "forgery"];
    let all = rows(&record(&[&["-l", &fakes::library("correct")][..], &what].concat(), 0));
    let gcm = of(&all, &[("algorithm", "aes-128-gcm"), ("direction", "decrypt")]);
    all_measured(&gcm);
    let others = all.iter().filter(|row| !gcm.contains(row));
    for row in others {
        assert_eq!(text(row, "state"), "unsupported", "{row}");
        assert!(text(row, "reason").contains("only decryption with a tag"), "{row}");
    }
    let library = fakes::variant("accepts_forgery", "FORGED_IN_TIME=700");
    let all = rows(&record(&[&["-l", &library][..], &what].concat(), 3));
    for row in of(&all, &[("algorithm", "aes-128-gcm"), ("direction", "decrypt")]) {
        let refused = row["size"] == 700;
        assert_eq!(text(row, "state"), if refused { "refused" } else { "measured" }, "{row}");
        if refused {
            assert!(text(row, "reason").contains("accepted a forged tag"), "{row}");
        }
    }
}

#[test]
fn footprints_and_places_are_measured_where_they_can_be_and_said_where_not() {
    let what =
        ["-a", "aes-128-gcm", "-a", "memcpy", "-s", "1K,64K", "-l", &fakes::library("correct")];
    let how = ["--footprint", "hot,l1,l2", "--in-place", "both"];
    let all = rows(&record(&[&what[..], &how].concat(), 0));
    let known = |row: &Value| !text(row, "reason").contains("the system knows of no");
    for footprint in ["hot", "l1", "l2"] {
        let gcm = [("algorithm", "aes-128-gcm"), ("footprint", footprint)];
        for row in of(&all, &gcm).into_iter().filter(|row| row["state"] == "measured" || known(row))
        {
            if row["size"] == 64 << 10 && footprint == "l1" {
                assert!(text(row, "reason").contains("that an operation touches"), "{row}");
            } else {
                all_measured(&[row]);
            }
        }
        let places: Vec<bool> =
            of(&all, &gcm).iter().map(|row| row["in_place"].as_bool().unwrap()).collect();
        assert!(places.contains(&true) && places.contains(&false));
    }
    let copies = of(&all, &[("algorithm", "memcpy"), ("footprint", "hot")]);
    for row in copies.iter().filter(|row| row["in_place"] == true) {
        assert!(text(row, "reason").contains("does not work in place"), "{row}");
    }
}

#[test]
fn memory_that_no_cache_holds_is_walked_through_in_both_directions() {
    let what = ["-a", "aes-128-gcm", "-s", "4K", "-l", &fakes::library("correct")];
    let all = rows(&record(&[&what[..], &["--footprint", "memory"]].concat(), 0));
    assert_eq!(all.len(), 2);
    for row in &all {
        let small = row["state"] == "unsupported" && text(row, "reason").contains("memory");
        assert!(small || row["state"] == "measured", "{row}");
    }
}

/// The least and the most that the samples of a thread say, in MB/s: however disturbed a machine is, a
/// summary lies in between.
fn range(row: &Value, thread: u64, ticks_per_second: f64) -> (f64, f64) {
    let [ops, ticks, of] =
        ["ops", "ticks", "thread"].map(|column| row["raw"][column].as_array().unwrap());
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
fn threads_measure_at_once_and_more_than_there_are_cpus_is_a_wrong_use() {
    let cpus = std::thread::available_parallelism().unwrap().get();
    let many = (cpus + 1).to_string();
    let line = refusal(&["run", "-l", "openssl", "--threads", &many]);
    assert!(
        line.contains(&format!("--threads {many}")) && line.contains(&cpus.to_string()),
        "{line}"
    );
    if cpus < 2 {
        return;
    }
    let libraries = ["-l", &fakes::library("correct"), "-l", &fakes::library("abi_2")];
    let what = ["-a", "aes-128-gcm", "-s", "1K", "-d", "decrypt", "--threads", "1,2"];
    let record = record(&[&libraries[..], &what].concat(), 0);
    let all = rows(&record);
    let both = of(&all, &[("library.name", "correct")]);
    all_measured(&both);
    let two = both.iter().find(|row| row["threads"] == 2).unwrap();
    let shares = two["per_thread"].as_array().unwrap();
    assert_eq!(shares.len(), 2, "{two}");
    assert_ne!(shares[0]["cpu"], shares[1]["cpu"]);
    let ranges = [0, 1]
        .map(|thread| range(two, thread, number(&record["host"]["clock"], "ticks_per_second")));
    for (share, (least, most)) in shares.iter().zip(&ranges) {
        let own = number(share, "mb_per_s");
        assert!(least * 0.99 < own && own < most * 1.01, "{own} {ranges:?}");
    }
    let [(least, most), (other_least, other_most)] = ranges;
    let total = number(two, "mb_per_s");
    let within = (least + other_least) * 0.99 < total && total < (most + other_most) * 1.01;
    assert!(within, "{total} {ranges:?}");
    let samples = two["raw"]["thread"].as_array().unwrap();
    assert!(samples.chunks(2).all(|visit| visit[0] == 0 && visit[1] == 1), "{samples:?}");
    let old = of(&all, &[("library.name", "abi_2")]);
    let one = |row: &&&Value| row["threads"] == 1;
    all_measured(&old.iter().filter(one).copied().collect::<Vec<_>>());
    let two = old.iter().find(|row| row["threads"] == 2).unwrap();
    assert_eq!(text(two, "state"), "unsupported");
    assert!(text(two, "reason").contains("adapter interface 2"), "{two}");
}

#[test]
fn latencies_are_percentiles_of_single_operations() {
    let what = ["-a", "aes-128-gcm", "-s", "64", "-l", &fakes::library("correct"), "--latency"];
    let all = rows(&record(&[&what[..], &["-m", "message,rekey,stream"]].concat(), 0));
    for row in &all {
        let latency = &row["latency_ns"];
        if text(row, "model") == "stream" {
            assert!(latency.is_null(), "{row}");
            continue;
        }
        let [p50, p99, p99_9] = ["p50", "p99", "p99_9"].map(|p| number(latency, p));
        assert!(0.0 < p50 && p50 <= p99 && p99 <= p99_9, "{latency}");
        let counts = latency["ticks"].as_array().unwrap().iter();
        let counted: u64 = counts.map(|pair| pair[1].as_u64().unwrap()).sum();
        assert_eq!(latency["operations"].as_u64().unwrap(), counted);
        assert!(counted >= 1000 && number(latency, "resolution_ns") > 0.0, "{latency}");
    }
}

#[test]
fn a_line_is_fitted_to_three_sizes_and_explained() {
    let directory = scratch();
    let path = directory.path().join("r.json");
    let what =
        ["-a", "aes-128-gcm", "-s", "64,1K,4K", "-d", "encrypt", "-l", &fakes::library("correct")];
    measure(&[&what[..], &["-m", "message,rekey", "-q", "-o", arg(&path)], &QUICK].concat())
        .with_code(0);
    let record = read(&path);
    let fits = record["fits"].as_array().unwrap();
    assert_eq!(fits.len(), 2);
    for fit in fits {
        assert_eq!(fit["sizes"], serde_json::json!([64, 1024, 4096]));
        assert!(number(fit, "ns_per_byte") > 0.0 && number(fit, "residual") >= 0.0, "{fit}");
    }
    let told = ciphermark(&["explain", arg(&path)], b"").with_code(0).stdout;
    for expected in
        ["model message", "model rekey", "ns/B", "largest residual", "key set-up", "opened anew"]
    {
        assert!(told.contains(expected), "{expected}: {told}");
    }
}
