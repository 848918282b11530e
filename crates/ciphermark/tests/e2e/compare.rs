//! `compare`: two records, or two libraries or tiers of one. The published record stands in for runs,
//! so nothing here depends on this machine.

use crate::support::*;

fn compare(arguments: &str) -> Done {
    call(&format!("compare {arguments}"))
}

#[test]
fn two_versions_in_one_record_are_compared_by_case_and_family() {
    let versions = format!("{} --libraries openssl@3.0*,openssl@4* --format json", published());
    let whole = compare(&versions).with_code(1).json();
    let family = |name: &str| where_(rows(&whole, "families"), &[("family", name)])[0];
    // VAES came to GCM between the two; CFB with segments of one bit became slower.
    assert!(number(family("aes-gcm"), "ratio.high") < 0.6, "{}", family("aes-gcm"));
    assert!(number(family("aes-cfb1"), "ratio.low") > 1.1, "{}", family("aes-cfb1"));
    assert_eq!(whole["failed"][0]["condition"], "slower");
    for lenient in ["--fail-if never", "--fail-if slower:60% --fail-if refused"] {
        compare(&format!("{versions} {lenient}")).with_code(0);
    }
}

#[test]
fn one_library_is_compared_with_each_of_the_others() {
    let one = "--libraries openssl@4* -a aes-256-gcm -s 8K --fail-if never";
    let one = format!("{} {one}", published());
    let whole = compare(&format!("{one} --format json")).with_code(0).json();
    assert!(rows(&whole, "overall").len() > 10, "{}", whole["overall"]);
    let text = compare(&one).with_code(0).stdout;
    assert!(text.contains("openssl@4.0.3 → libtomcrypt@1.18.2"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn what_a_longer_key_costs_is_one_question_and_one_line() {
    let what = "--algorithms aes-128-gcm,aes-256-gcm -l openssl@4* -s 8K -d encrypt";
    let asked = format!("{} {what}", published());
    let whole = compare(&format!("{asked} --format json")).with_code(0).json();
    let [case] = &rows(&whole, "cases")[..] else { panic!("{}", whole["cases"]) };
    assert_eq!(
        (text(case, "base_algorithm"), text(case, "algorithm")),
        ("aes-128-gcm", "aes-256-gcm")
    );
    assert_eq!((text(case, "verdict"), &whole["between"]["what"]), ("slower", &"algorithm".into()));
    assert!(number(case, "ratio.estimate") > 1.1 && number(case, "ratio.low") > 1.0, "{case}");
    let table = compare(&asked).with_code(0).stdout;
    let line = table.lines().find(|l| l.starts_with("aes-256-gcm takes +")).unwrap();
    let words = [" at 95 %) over aes-128-gcm; openssl@4.0.3, encrypt, 8 KiB"];
    assert!(words.iter().all(|w| line.contains(w)), "{table}");
    assert!(table.contains("aes-128-gcm → aes-256-gcm"), "{table}");
    let csv = compare(&format!("{asked} --format csv")).with_code(0).stdout;
    assert!(csv.contains("base_algorithm") && csv.contains("aes-256-gcm,"), "{csv}");
    let markdown = compare(&format!("{asked} --format markdown")).with_code(0).stdout;
    assert!(markdown.contains("**aes-256-gcm takes +"), "{markdown}");
    compare(&format!("{asked} --fail-if slower")).with_code(1);
}

#[test]
fn a_star_pairs_every_algorithm_that_has_both_key_lengths() {
    let asked = format!("{} --algorithms aes-128-*,aes-256-* -l openssl@4*", published());
    let whole = compare(&format!("{asked} --format json")).with_code(0).json();
    let cases = rows(&whole, "cases");
    assert!(cases.len() > 10, "{}", cases.len());
    for case in cases {
        let base = text(case, "base_algorithm").replace("128", "256");
        assert_eq!(base, text(case, "algorithm"));
    }
}

#[test]
fn sizes_are_compared_a_byte_and_directions_an_operation() {
    let of = |what: &str| {
        let filter = "-a aes-256-gcm -l openssl@4* --format json";
        compare(&format!("{} {what} {filter}", published())).with_code(0).json()
    };
    let sizes = of("--sizes 16,8K");
    for case in rows(&sizes, "cases") {
        assert_eq!((number(case, "base_size"), number(case, "size")), (16.0, 8192.0));
        // A byte of a long message costs a fraction of one of a short message's.
        assert!(number(case, "ratio.high") < 0.5, "{case}");
        assert!(number(case, "new_cost") > number(case, "base_cost"), "{case}");
    }
    let directions = of("--directions encrypt,decrypt");
    for case in rows(&directions, "cases") {
        assert_eq!((text(case, "base_direction"), text(case, "direction")), ("encrypt", "decrypt"));
    }
    assert!(!rows(&sizes, "cases").is_empty() && !rows(&directions, "cases").is_empty());
}

#[test]
fn what_cannot_be_compared_gets_one_line_that_helps() {
    for (arguments, words) in [
        ("", &["NEW"][..]),
        ("no/such.json", &["no/such.json"]),
        ("--libraries openssl*,wolfssl", &["matches 3 libraries (openssl@3.0.19, "]),
        ("--libraries opensl,wolfssl", &["did you mean 'openssl'?"]),
        ("--tiers noaes,native", &["no case at tier noaes", "run -t noaes"]),
        (
            "--libraries wolfssl@5.9*,openssl@4* --fail-if slow",
            &["'slow' is none of: slower[:PERCENT]"],
        ),
        ("--libraries libaegis,ring", &["have no case in common"]),
        ("--algorithms aes-128-gcm", &["give two, as in aes-128-gcm,aes-256-gcm"]),
        ("--algorithms aes-128-gcm,aes-*-gcm", &["a star each, as in 'aes-128-*,aes-256-*'"]),
        ("--algorithms aes-128-gcm,aes-256-gmc", &["no case of 'aes-256-gmc'", "'aes-256-gcm'"]),
        ("--sizes 8K,8K", &["the two are the same"]),
        ("--sizes 8K,17", &["no case of '17'"]),
        ("--sizes 16,8K --tiers noaes,native", &["cannot be used with"]),
    ] {
        refuses(&format!("compare {} {arguments}", published()), words);
    }
    // Measured with --no-evidence.
    let uncounted = repository("records/at-rest-2026-11-23-gnr.json.gz");
    refuses(
        &format!(
            "compare {} --libraries wolfssl@5.9*,openssl@4* --fail-if instructions",
            arg(&uncounted)
        ),
        &["no instructions were counted on both sides"],
    );
}
