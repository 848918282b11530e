//! `run` over libraries that are refused for what the zoo has no stand-in for.

use crate::support::{fakes, *};

#[test]
fn an_object_of_another_interface_version_is_refused_by_name() {
    let library = fakes::library("wrong_abi");
    refuses(&format!("run -l {library} -s 16"), &["wrong_abi", "adapter interface 5"]);
}

/// More calls than any check makes; a few timed batches of a copy make as many.
#[test]
fn success_without_work_after_thousands_of_right_calls_is_found_in_the_timed_loop() {
    let library = fakes::variant("early_return", "AFTER=21000");
    let record = record(&format!("-l {library} -a memcpy -s 16"), 3);
    for row in where_(rows(&record, "measurements"), &[("library.name", "after")]) {
        assert_eq!(text(row, "state"), "refused", "{row}");
        assert!(text(row, "reason").starts_with("timed-output: "), "{row}");
        assert!(row["ns_per_op"].is_null(), "{row}");
    }
}

/// The stand-in executes AES instructions whatever it is told of the CPU.
#[test]
#[ignore = "long: takes ten seconds or more"]
#[cfg(target_arch = "x86_64")]
fn a_library_that_executes_what_its_tier_takes_away_is_refused_there_alone() {
    let what = format!("-l {} -a memcpy -s 64 -t native -t noaes", fakes::library("counted"));
    let all = rows(&record(&what, 3), "measurements").clone();
    let at = |tier: &str| where_(&all, &[("tier", tier)])[0];
    assert_eq!(text(at("native"), "state"), "measured");
    assert!(number(at("native"), "instructions_per_byte") > 10.0 / 16.0);
    assert_eq!(text(at("native"), "evidence.instructions"), "single-step");
    let (refused, why) = (at("noaes"), text(at("noaes"), "reason"));
    assert_eq!(text(refused, "state"), "refused", "{why}");
    assert!(why.starts_with("tier: executed ") && why.contains("instructions of aes"), "{why}");
    assert!(why.contains("aesenc at ") && why.contains("counted"), "{why}");
    assert!(refused["instructions_per_byte"].is_null(), "{refused}");
    let without = record(&format!("{what} --no-evidence"), 0);
    all_are(where_(rows(&without, "measurements"), &[("tier", "noaes")]), "measured");
}
