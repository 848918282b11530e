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
