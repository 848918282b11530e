//! `list`: what there is to measure.

use crate::support::*;
use serde_json::Value;

fn json(arguments: &[&str]) -> Vec<Value> {
    let done = ciphermark(&[&["list"], arguments, &["--json"]].concat(), b"").with_code(0);
    assert_eq!(done.stderr, "");
    done.rows()
}

fn plain(what: &str) -> String {
    ciphermark(&["list", what], b"").with_code(0).stdout
}

#[test]
fn libraries_have_name_version_path_and_id() {
    let all = json(&["libraries"]);
    for name in ["openssl", "libgcrypt", "rustcrypto", "baselines"] {
        let library = where_(&all, &[("name", name)])[0];
        assert!(library["error"].is_null(), "{library}");
        assert!(!text(library, "version").is_empty() && !text(library, "id").is_empty());
        assert!(std::path::Path::new(text(library, "path")).is_file(), "{library}");
    }
    let table = plain("libraries");
    for library in &all {
        assert!(table.contains(text(library, "path")), "{table}");
    }
}

#[test]
fn a_library_that_was_found_and_cannot_be_used_is_listed_with_its_reason() {
    let directory = scratch();
    std::fs::write(directory.path().join("stray.so"), "no library\n").unwrap();
    let variables = [("CIPHERMARK_LIBS", arg(directory.path()))];
    let done = ciphermark_with(&["list", "libraries", "--json"], &variables).with_code(0);
    let all = done.rows();
    let stray = all.iter().find(|l| text(l, "path").ends_with("stray.so")).unwrap();
    assert!(text(stray, "error").contains("ELF"), "{stray}");
}

/// Where the kernel has no sockets for its ciphers, it says so wherever it is asked for.
#[test]
fn the_kernel_is_listed_and_a_kernel_that_cannot_be_used_says_why() {
    let all = json(&["libraries"]);
    let kernel = where_(&all, &[("name", "linux-kernel")])[0];
    assert_eq!(text(kernel, "path"), "af_alg:");
    let Some(why) = kernel["error"].as_str() else {
        assert!(!text(kernel, "version").is_empty() && !text(kernel, "id").is_empty());
        return;
    };
    assert!(why.contains("this kernel gives no AF_ALG socket"), "{why}");
    assert!(plain("libraries").contains("not usable: cannot use 'af_alg:'"));
    for library in ["linux-kernel", "mine=af_alg:"] {
        let words = ["this kernel gives no AF_ALG socket"];
        refuses(&format!("verify -a aes-128-cbc -l {library}"), &words);
    }
}

#[test]
fn libraries_are_selected_as_for_a_run() {
    let fake = fakes::library("correct");
    let chosen = json(&["libraries", "-l", "openssl", "-l", &fake]);
    let names: Vec<&str> = chosen.iter().map(|l| text(l, "name")).collect();
    assert!(names.contains(&"correct") && names.contains(&"openssl"), "{names:?}");
    assert!(!names.contains(&"libgcrypt"), "{names:?}");
}

#[test]
fn algorithms_have_lengths_and_the_libraries_that_offer_them() {
    let all = json(&["algorithms"]);
    let gcm = where_(&all, &[("name", "aes-256-gcm")])[0];
    assert_eq!(lengths(gcm), [32, 12, 16]);
    assert!(gcm["warning"].is_null(), "{gcm}");
    let xts = where_(&all, &[("name", "aes-256-xts")])[0];
    assert_eq!(lengths(xts), [64, 16, 0]);
    assert!(text(xts, "warning").contains("integrity"), "{xts}");
    let offering = gcm["libraries"].as_array().unwrap();
    for library in ["openssl@", "libgcrypt@", "rustcrypto@"] {
        assert!(offering.iter().any(|l| l.as_str().unwrap().starts_with(library)), "{gcm}");
    }
    let table = plain("algorithms");
    for algorithm in &all {
        assert!(table.contains(text(algorithm, "name")), "{algorithm}");
    }
}

/// Bytes of key, nonce and tag.
fn lengths(algorithm: &Value) -> [u64; 3] {
    ["key_bytes", "nonce_bytes", "tag_bytes"].map(|field| algorithm[field].as_u64().unwrap())
}

/// Whatever the core, its floors follow from what was measured; no word about speed.
#[test]
fn limits_have_what_was_measured_and_a_floor_or_a_reason_for_each_algorithm() {
    let limits = call("list limits -a *-128-ctr -a memcpy --json").with_code(0).json();
    if let Some(reason) = limits["reason"].as_str() {
        assert!(reason.contains("quiet") || reason.contains("no probes"), "{reason}");
        return;
    }
    let instructions = rows(&limits["core"], "instructions");
    assert!(instructions.iter().all(|i| number(i, "per_cycle") > 0.0), "{limits}");
    let floors = rows(&limits, "floors");
    // On a core that is hardly ever quiet something may not have been read: then there is no floor.
    let read = limits["core"]["unread"].is_null();
    for floor in floors {
        assert_ne!(floor["cycles_per_byte"].is_null(), floor["reason"].is_null(), "{floor}");
        assert!(read || floor["cycles_per_byte"].is_null(), "{floor}");
    }
    assert!(!read || instructions.iter().any(|i| i["name"] == "imul"), "{limits}");
    for tier in ["native", "vaes256", "aesni", "noaes", "baseline"] {
        assert_eq!(where_(floors, &[("algorithm", "aes-128-ctr"), ("tier", tier)]).len(), 2);
    }
    let camellia = where_(floors, &[("algorithm", "camellia-128-ctr")])[0];
    assert!(text(camellia, "reason").contains("no bound is known"), "{camellia}");
    let table = call("list limits -a memcpy").with_code(0).stdout;
    let whole = ["per cycle", "B/cycle", "memcpy", "load/store"].iter().all(|w| table.contains(w));
    assert!(whole || table.contains("not quiet for long enough"), "{table}");
    refuses("list limits -a aes-128-crt", &["aes-128-ctr"]);
}

#[test]
fn tiers_models_and_suites_have_names_and_summaries() {
    for (what, names) in [
        ("tiers", &["native", "vaes256", "aesni", "noaes", "baseline", "core2", "zen1"][..]),
        ("models", &["stream", "message"]),
        ("suites", &["quick", "published", "pages", "stream", "full", "everything"]),
    ] {
        let (all, table) = (json(&[what]), plain(what));
        for name in names {
            let row = where_(&all, &[("name", name)])[0];
            assert!(!text(row, "summary").is_empty(), "{row}");
            assert!(table.contains(name), "{table}");
        }
    }
}
