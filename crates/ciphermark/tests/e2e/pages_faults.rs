//! Stand-in libraries with planted faults under `pages`: each is found, and none gets a number.

use crate::support::*;
use serde_json::Value;

/// One run over 128 pages with these libraries, in which something is wrong.
fn pages(libraries: &[String], more: &str, code: i32) -> (Value, String) {
    let directory = scratch();
    let kept = file(&directory, "pages.json");
    let what = "pages --synthetic 1M --thorough --precision 50% -s aes-128-ctr -s aes-128-gcm";
    let line = format!("{what} -l {} {more} -o {kept}", libraries.join(" -l "));
    let printed = call(&line).with_code(code).stdout;
    (run_of(&read(&kept)), printed)
}

fn of<'a>(found: &'a Value, part: &str, library: &str, scheme: &str) -> Vec<&'a Value> {
    let libraries = rows(found, "libraries");
    let at = libraries.iter().position(|l| l["name"] == library);
    let at = at.unwrap_or_else(|| panic!("no {library}: {libraries:?}"));
    let own = |v: &&Value| v["library"] == at && v["scheme"] == scheme;
    rows(found, part).iter().filter(own).collect()
}

/// The pair has this state for a reason with these words, and there is no number of it anywhere.
fn no_number(found: &Value, (library, scheme): (&str, &str), state: &str, why: &str) {
    let verified = of(found, "verified", library, scheme);
    assert_eq!(text(verified[0], "state"), state, "{verified:?}");
    assert!(text(verified[0], "reason").contains(why), "{verified:?}");
    for cell in of(found, "cells", library, scheme) {
        assert_ne!(cell["state"], "measured", "{cell}");
        for number in ["crypto_ns", "crypto_tails", "io_ns", "over_none_ns", "pages_per_s"] {
            assert!(cell[number].is_null(), "{cell}");
        }
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_wrong_tag_and_a_write_past_the_end_are_found_before_any_page() {
    let libraries = [fakes::library("wrong_tag"), fakes::library("overrun")];
    let (found, printed) = pages(&libraries, "--media memory", 3);
    no_number(&found, ("wrong_tag", "aes-128-gcm"), "refused", "known");
    no_number(&found, ("overrun", "aes-128-gcm"), "refused", "after the end of the output");
    no_number(&found, ("overrun", "aes-128-ctr"), "refused", "after the end of the output");
    assert!(printed.contains("REFUSED aes-128-gcm in wrong_tag@1.0"), "{printed}");
    // What is right beside it has its numbers.
    let right = of(&found, "verified", "wrong_tag", "aes-128-ctr");
    assert_eq!(text(right[0], "state"), "measured");
    assert!(
        of(&found, "cells", "wrong_tag", "aes-128-ctr").iter().any(|c| !c["crypto_ns"].is_null())
    );
}

#[test]
fn pages_that_come_back_as_others_after_many_right_ones_are_found() {
    let (found, _) = pages(&[fakes::variant("later_pages", "LATER=100")], "--media none", 3);
    no_number(&found, ("later", "aes-128-ctr"), "refused", "it comes back as another");
}

#[test]
fn a_library_that_agrees_with_itself_alone_is_outvoted() {
    let libraries = [
        fakes::variant("later_pages", "AGREED=100"),
        fakes::library("correct"),
        fakes::library("copies"),
    ];
    let (found, _) = pages(&libraries, "--media none", 3);
    let why = "2 libraries agree on other bytes for the same pages";
    no_number(&found, ("agreed", "aes-128-ctr"), "refused", why);
    let right = of(&found, "verified", "copies", "aes-128-ctr");
    assert_eq!((text(right[0], "state"), &right[0]["agreeing"]), ("measured", &Value::from(2)));
}

/// Behind all that is verified: in time's own calls a session goes on to more pages than the store has,
/// and what they left is compared as well.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn pages_that_are_wrong_only_while_time_is_taken_are_found() {
    let libraries = [fakes::variant("later_pages", "LATER=200")];
    let (found, printed) = pages(&libraries, "--media memory,cache --probes 0", 3);
    let verified = of(&found, "verified", "later", "aes-128-ctr");
    assert_eq!(text(verified[0], "state"), "measured", "{verified:?}");
    let cells = of(&found, "cells", "later", "aes-128-ctr");
    let cached: Vec<_> = cells.iter().filter(|c| text(c, "medium") == "cache").collect();
    assert!(!cached.is_empty(), "{printed}");
    for cell in cached {
        assert_eq!((text(cell, "state"), &cell["crypto_ns"]), ("refused", &Value::Null), "{cell}");
        assert!(text(cell, "reason").contains("came back as another"), "{cell}");
    }
}

#[test]
fn forgeries_that_are_taken_for_pages_end_the_run_with_exit_code_1() {
    let libraries = [fakes::variant("accepts_forgery", "FORGED_AT=8192")];
    let (found, printed) = pages(&libraries, "--media none", 1);
    let probed = of(&found, "probes", "forged_at", "aes-128-gcm");
    assert_eq!(probed[0]["as_expected"], false, "{probed:?}");
    assert_eq!(probed[0]["against_accidents"], false);
    assert!(printed.contains("UNEXPECTED"), "{printed}");
}
