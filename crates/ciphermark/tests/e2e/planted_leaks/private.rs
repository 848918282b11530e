//! Controls of the verdicts on private keys: `tests/fakes/leaks/private.c` before the system's libcrypto.

use crate::support::*;
use crate::tls_primitives::shim;
use serde_json::Value;

/// A scheme, what is planted, and what is to be found: kind and function.
type Control = (&'static str, &'static [&'static str], Option<(&'static str, &'static str)>);

const LADDERS: [Control; 3] = [
    ("x25519", &["LADDER"], None),
    ("x25519", &["LADDER", "SWAP=swap_by_branch"], Some(("branch", "swap_by_branch"))),
    ("x25519", &["LADDER", "BIT=bit_by_digit"], Some(("lookup", "bit_by_digit"))),
];

/// What signs is planted before OpenSSL's own code: that branches by how r is written and, of RSA, by its numbers
/// (Karatsuba's multiplication), and what differs after a branch may follow from it.
const BEFORE: [&str; 2] = ["SIGN=nothing", "BEFORE=square_and_multiply"];

const SLOW: [Control; 6] = [
    ("mlkem768", &["KEM"], None),
    ("mlkem768", &["KEM", "DIFFER=differ_early"], Some(("branch", "differ_early"))),
    ("mlkem768", &["KEM", "CHOOSE=choose_by_branch"], Some(("branch", "choose_by_branch"))),
    ("ecdsa-p256", &["SIGN=by_form"], None),
    ("ecdsa-p256", &BEFORE, Some(("branch", "square_and_multiply"))),
    ("rsa-2048-pkcs1", &BEFORE, Some(("branch", "square_and_multiply"))),
];

/// Functions that only the controls have.
const OWN: [&str; 6] = [
    "swap_by_branch",
    "bit_by_digit",
    "differ_early",
    "choose_by_branch",
    "square_and_multiply",
    "by_form",
];

const UNREACHED: &str = "taint lost: it did not reach all of the output";

/// What is not as planted.
fn wrong((scheme, defines, found): &Control) -> Option<String> {
    let directory = scratch();
    let object = shim("leaks/private.c", defines, directory.path())?;
    let library = format!("fake={}", arg(&object));
    // As few as show it: of ECDSA so many that two signatures are of one form.
    let secrets = match *scheme {
        "mlkem768" => "4",
        "ecdsa-p256" => "8",
        _ => "2",
    };
    let what = ["leaks", "-l", &library, "-a", scheme, "--secrets", secrets, "--json", "-q"];
    let done = ciphermark_with_many(&what, &[("CIPHERMARK_CACHE", "")]);
    let verdict = &done.rows()[0];
    let empty = Vec::new();
    let findings = verdict["findings"].as_array().unwrap_or(&empty);
    let of = |finding: &Value| (text(finding, "kind").to_owned(), function(finding));
    let told = format!("{defines:?} {verdict:#}");
    let is_planted = |f: &&Value| OWN.contains(&function(f).as_str());
    let planted: Vec<_> = findings.iter().filter(is_planted).map(of).collect();
    let wanted = found.map(|(kind, name)| (kind.to_owned(), name.to_owned()));
    if planted != wanted.iter().cloned().collect::<Vec<_>>() {
        return Some(format!("found {planted:?}: {told}"));
    }
    // Beside what signs OpenSSL's own code runs, in which there may be more.
    let is_beside = defines[0].starts_with("SIGN");
    if !is_beside && findings.len() > planted.len() {
        return Some(format!("a false alarm: {told}"));
    }
    let steps = verdict["operations"].as_array().map_or(0, Vec::len);
    let reason = verdict["reason"].as_str().unwrap_or_default();
    let same = format!("by comparison, same trace over {secrets} secrets");
    // Numbers of ECDSA and RSA are not followed.
    let right = match (findings.is_empty(), is_beside) {
        (true, false) => verdict["verdict"] == "same-trace" && reason.is_empty(),
        (false, false) => {
            // Taint does not follow what a branch decides.
            let may_end = matches!(found, Some(("branch", _))) && reason.starts_with(UNREACHED);
            verdict["verdict"] == "depends" && (reason.is_empty() || may_end)
        }
        (true, true) => verdict["verdict"] == "not-judged" && reason.ends_with(&same),
        (false, true) => verdict["verdict"] == "depends" && reason.contains("by taint, which"),
    };
    (!right || steps != 2).then(|| format!("not in these words: {told}"))
}

fn function(finding: &Value) -> String {
    finding["function"].as_str().unwrap_or_default().to_owned()
}

fn all_are_right(controls: &[Control]) {
    let faults: Vec<String> = controls.iter().filter_map(wrong).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
#[ignore = "long: steps millions of instructions of X25519"]
#[cfg(target_arch = "x86_64")]
fn a_ladder_that_branches_or_looks_up_by_the_scalar_is_told_from_one_that_does_neither() {
    all_are_right(&LADDERS);
}

#[test]
#[ignore = "long: steps millions of instructions of signatures and decapsulations"]
#[cfg(target_arch = "x86_64")]
fn a_refusal_that_shows_where_it_was_decided_and_a_branch_on_a_signing_key_are_found() {
    all_are_right(&SLOW);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn private_keys_are_judged_where_they_are_named_and_only_of_libraries_that_have_them() {
    let none = fakes::library("correct");
    let line = format!("leaks -q -l {none} -a x25519");
    let done = ciphermark(&line.split(' ').collect::<Vec<_>>(), b"").with_code(4);
    for part in ["offers private keys of these schemes", "is known for x25519"] {
        assert!(done.only_line_on_stderr().contains(part), "{done:?}");
    }
    refuses(&format!("leaks -q -l {none} -a rsa-4096-pss"), &["rsa-4096-pss"]);
}
