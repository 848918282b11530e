//! `run` over libraries with planted faults: each is found by the check that is meant for it, is a
//! row with that reason, and leaves the others alone.

use crate::support::*;
use serde_json::Value;

/// A run of stand-ins beside OpenSSL, with the record's rows and the table that it gives.
struct Found {
    rows: Vec<Value>,
    table: String,
}

/// Measures AES-128 in CTR and GCM in OpenSSL and in one broken library; OpenSSL's rows must be
/// as if it were alone.
fn beside_openssl(broken: &str, sizes: &str, more: &[&str]) -> Found {
    let directory = scratch();
    let path = directory.path().join("r.json");
    let what = ["-a", "aes-128-ctr", "-a", "aes-128-gcm", "-l", "openssl", "-l", broken];
    let out = ["-s", sizes, "-o", arg(&path)];
    let done = measure(&[&what[..], &out, &QUICK, more].concat()).with_code(3);
    assert_eq!(done.stderr, "", "reasons stand in the rows");
    let rows = measurements(&std::fs::read_to_string(&path).unwrap());
    for row in where_(&rows, &[("library.name", "openssl")]) {
        assert_eq!(text(row, "state"), "measured", "{row}");
    }
    Found { rows, table: done.stdout }
}

impl Found {
    fn of<'a>(&'a self, library: &'a str, algorithm: &'a str) -> Vec<&'a Value> {
        where_(&self.rows, &[("library.name", library), ("algorithm", algorithm)])
    }

    /// Demands that all rows of an algorithm have this state for this reason, which the table shows.
    #[track_caller]
    fn all(&self, library: &str, algorithm: &str, state: &str, reason: &str) {
        for row in self.of(library, algorithm) {
            self.one(row, state, reason);
        }
    }

    #[track_caller]
    fn one(&self, row: &Value, state: &str, reason: &str) {
        assert_eq!(text(row, "state"), state, "{row}");
        let why = text(row, "reason");
        assert!(why.starts_with(reason), "'{why}' does not begin with '{reason}'");
        for field in ["ns_per_op", "mb_per_s", "cycles_per_byte"] {
            assert!(row[field].is_null(), "a number that is not to be believed: {row}");
        }
        assert!(self.table.contains(&state.to_uppercase()), "{}", self.table);
        // The table may break the line anywhere in a long reason.
        let begin = reason.split(' ').next().unwrap();
        assert!(self.table.contains(begin), "{begin}: {}", self.table);
    }

    fn healthy(&self, library: &str, algorithm: &str) {
        for row in self.of(library, algorithm) {
            assert_eq!(text(row, "state"), "measured", "{row}");
        }
    }
}

#[test]
fn success_without_work_is_found_by_what_was_not_written() {
    let found = beside_openssl(&fakes::library("early_return"), "16", &[]);
    found.all("early_return", "aes-128-ctr", "refused", "written: encrypt");
    found.all("early_return", "aes-128-gcm", "refused", "written: encrypt");
}

#[test]
fn success_without_work_on_long_messages_is_found_whatever_sizes_are_asked_for() {
    let found = beside_openssl(&fakes::variant("early_return", "ABOVE=1024"), "16", &[]);
    found.all("above", "aes-128-ctr", "refused", "written: encrypt of 4096 bytes");
    found.all("above", "aes-128-gcm", "refused", "written: encrypt of 4096 bytes");
}

#[test]
fn success_without_work_after_so_many_calls_is_found_before_timing() {
    let broken = fakes::variant("early_return", "AFTER=1000");
    let found = beside_openssl(&broken, "16", &[]);
    found.all("after", "aes-128-ctr", "refused", "repeated-calls: encrypt of ");
    found.all("after", "aes-128-gcm", "refused", "repeated-calls: encrypt of ");
}

#[test]
fn success_without_work_after_more_calls_than_any_check_makes_is_found_in_the_timed_loop() {
    // A copy takes so little that a few timed batches make more.
    let broken = fakes::variant("early_return", "AFTER=21000");
    let found = beside_openssl(&broken, "16", &["-a", "memcpy"]);
    found.all("after", "memcpy", "refused", "timed-output: ");
}

#[test]
fn the_sizes_that_are_measured_are_checked_before() {
    let broken = fakes::variant("accepts_forgery", "FORGED_AT=700");
    let found = beside_openssl(&broken, "16,700", &[]);
    let words = "other-sizes: decryption did not reject a message of 700 bytes";
    found.all("forged_at", "aes-128-gcm", "refused", words);
    found.healthy("forged_at", "aes-128-ctr");
}

#[test]
fn success_without_work_where_no_check_before_looks_is_found_in_the_timed_loop() {
    let both = ["-m", "message", "-m", "stream"];
    let found = beside_openssl(&fakes::variant("one_size", "SKIP"), "16,700", &both);
    for algorithm in ["aes-128-ctr", "aes-128-gcm"] {
        let offered = found.of("skip", algorithm).into_iter();
        for row in offered.filter(|row| text(row, "state") != "unsupported") {
            if row["size"] == 700 {
                found.one(row, "refused", "timed-output: ");
            } else {
                assert_eq!(text(row, "state"), "measured", "{row}");
            }
        }
    }
    assert!(found.table.contains("REFUSED at 700: timed-output"), "{}", found.table);
}

#[test]
fn a_wrong_tag_in_the_timed_loop_alone_is_found() {
    let found = beside_openssl(&fakes::variant("one_size", "TAG"), "700", &["-d", "encrypt"]);
    found.all("tag", "aes-128-gcm", "refused", "timed-output: the tag");
    found.healthy("tag", "aes-128-ctr");
}

#[test]
fn an_error_in_the_timed_loop_alone_is_found() {
    let found = beside_openssl(&fakes::variant("one_size", "CODE"), "700", &[]);
    found.all("code", "aes-128-ctr", "refused", "return-codes: ");
    found.all("code", "aes-128-gcm", "refused", "return-codes: ");
}

#[test]
fn a_wrong_tag_is_found_by_the_known_answers() {
    let found = beside_openssl(&fakes::library("wrong_tag"), "16", &[]);
    found.all("wrong_tag", "aes-128-gcm", "refused", "known-answers: ");
    found.healthy("wrong_tag", "aes-128-ctr");
}

#[test]
fn decryption_that_accepts_forgeries_is_found_by_tampering() {
    let found = beside_openssl(&fakes::library("accepts_forgery"), "16", &[]);
    found.all("accepts_forgery", "aes-128-gcm", "refused", "tamper: decryption accepted");
    found.healthy("accepts_forgery", "aes-128-ctr");
}

#[test]
fn a_byte_past_the_end_is_found_by_the_bounds() {
    let found = beside_openssl(&fakes::library("overrun"), "16", &[]);
    found.all("overrun", "aes-128-ctr", "refused", "bounds: ");
    found.all("overrun", "aes-128-gcm", "refused", "bounds: ");
}

#[test]
fn an_error_beside_right_bytes_is_no_success() {
    let found = beside_openssl(&fakes::library("error_code"), "16", &[]);
    for algorithm in ["aes-128-ctr", "aes-128-gcm"] {
        for row in found.of("error_code", algorithm) {
            assert_eq!(text(row, "state"), "refused", "{row}");
            assert!(text(row, "reason").ends_with("returned error code 1042"), "{row}");
        }
    }
}

#[test]
fn a_crash_costs_its_own_cases_and_is_told_with_its_last_words() {
    let found = beside_openssl(&fakes::library("crash"), "16", &[]);
    found.all("crash", "aes-128-ctr", "failed", "in check ");
    for row in found.of("crash", "aes-128-gcm") {
        let why = text(row, "reason");
        assert!(why.contains("SIGSEGV") && why.contains("about to read address zero"), "{why}");
    }
}

#[test]
fn a_crash_in_the_timed_loop_costs_that_case_alone() {
    let found = beside_openssl(&fakes::variant("one_size", "CRASH"), "16,700", &[]);
    for row in where_(&found.rows, &[("library.name", "crash")]) {
        if row["size"] == 700 {
            found.one(row, "failed", "crashed: SIGSEGV");
        } else {
            assert_eq!(text(row, "state"), "measured", "{row}");
        }
    }
}

#[test]
fn a_hang_in_a_check_is_ended_and_the_run_goes_on() {
    let broken = fakes::library("hang");
    // One algorithm alone: each costs the deadline of a check.
    let found = run_alone(&["-a", "aes-128-ctr", "-l", "openssl", "-l", &broken, "-s", "16"]);
    found.healthy("openssl", "aes-128-ctr");
    found.all("hang", "aes-128-ctr", "failed", "in check ");
    for row in found.of("hang", "aes-128-ctr") {
        assert!(text(row, "reason").contains("hung"), "{row}");
    }
}

#[test]
fn a_hang_in_the_timed_loop_costs_that_case_alone() {
    let broken = fakes::variant("one_size", "HANG");
    let found = run_alone(&["-a", "aes-128-ctr", "-l", &broken, "-s", "16,700", "-d", "encrypt"]);
    for row in found.of("hang", "aes-128-ctr") {
        if row["size"] == 700 {
            found.one(row, "failed", "no answer within ");
        } else {
            assert_eq!(text(row, "state"), "measured", "{row}");
        }
    }
}

fn run_alone(what: &[&str]) -> Found {
    let directory = scratch();
    let path = directory.path().join("r.json");
    let done = measure(&[what, &QUICK, &["-o", arg(&path)]].concat()).with_code(3);
    let rows = measurements(&std::fs::read_to_string(&path).unwrap());
    Found { rows, table: done.stdout }
}

#[test]
fn chatter_on_standard_output_harms_nothing() {
    let noisy = fakes::library("noisy");
    let what = ["-a", "aes-128-{ctr,gcm}", "-l", &noisy, "-s", "16", "--format", "json"];
    let done = measure(&[&what[..], &QUICK].concat()).with_code(0);
    let rows = measurements(&done.stdout);
    assert!(rows.iter().all(|row| text(row, "state") == "measured"), "{rows:?}");
    assert_eq!(done.stderr, "");
}

#[test]
fn an_object_of_another_interface_version_is_refused_by_name() {
    let line = refusal(&["run", "-l", &fakes::library("wrong_abi"), "-s", "16"]);
    assert!(line.contains("wrong_abi") && line.contains("adapter interface 5"), "{line}");
}

/// The stand-in executes AES instructions whatever it is told of the CPU.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_library_that_executes_what_its_tier_takes_away_is_refused_there_alone() {
    let fake = fakes::library("counted");
    let arguments = ["-l", &fake, "-a", "memcpy", "-s", "64", "-t", "native", "-t", "noaes"];
    let done = measure(&[&arguments[..], &QUICK, &["--format", "json"]].concat()).with_code(3);
    let rows = measurements(&done.stdout);
    let at = |tier: &str| where_(&rows, &[("tier", tier)])[0].clone();
    assert_eq!(text(&at("native"), "state"), "measured");
    assert!(at("native")["instructions_per_byte"].as_f64().unwrap() > 10.0 / 16.0);
    assert_eq!(text(&at("native"), "evidence.instructions"), "single-step");
    let (refused, why) = (at("noaes"), text(&at("noaes"), "reason").to_owned());
    assert_eq!(text(&refused, "state"), "refused", "{why}");
    assert!(why.starts_with("tier: executed ") && why.contains("instructions of aes"), "{why}");
    assert!(why.contains("aesenc at ") && why.contains("counted"), "{why}");
    assert!(refused["instructions_per_byte"].is_null(), "{refused}");
    let without = [&arguments[..], &QUICK, &["--format", "json", "--no-evidence"]].concat();
    let rows = measurements(&measure(&without).with_code(0).stdout);
    assert_eq!(text(where_(&rows, &[("tier", "noaes")])[0], "state"), "measured");
}
