//! Page stores: a real cluster that its own server made, and what is refused.

use crate::support::*;
use serde_json::Value;

/// Two states of a cluster, between which nothing happened but reading: hint bits change pages and
/// leave their LSN. Then it gets checksums, which a decrypted copy must still have.
fn cluster_with_two_states() -> Cluster {
    let cluster = Cluster::new();
    let data = cluster.data();
    cluster.start(&data);
    cluster.client("pgbench", &["-i", "-q", "-s", "3", "postgres"]);
    let table = "create table unread as select generate_series(1, 100000) as n";
    cluster.client("psql", &["-q", "-d", "postgres", "-c", table]);
    cluster.client("psql", &["-q", "-d", "postgres", "-c", "create extension amcheck"]);
    refuses(&format!("pages {}", arg(&data)), &["postmaster.pid", "pg_ctl stop"]);
    cluster.stop(&data);
    let copied = std::process::Command::new("cp")
        .args(["-a", arg(&data), arg(&cluster.beside("before"))])
        .status();
    assert!(copied.unwrap().success());
    cluster.start(&data);
    cluster.client("psql", &["-q", "-d", "postgres", "-c", "select count(*) from unread"]);
    cluster.stop(&data);
    cluster
}

#[test]
#[ignore = "long: a real PostgreSQL"]
fn a_real_cluster_comes_back_whole_and_its_server_starts_on_the_decrypted_copy() {
    let cluster = cluster_with_two_states();
    let (data, kept) = (cluster.data(), cluster.beside("pages.json"));
    let two_states = format!("pages {} --snapshot {}", arg(&data), arg(&cluster.beside("before")));
    let two_states = format!("{two_states} -l openssl --media none --probes 0 -s aes-256-xts");
    call(&format!("{two_states} -s aes-256-gcm -o {}", arg(&kept))).with_code(0);
    let found = run_of(&read(&kept));
    let rule = |name: &str| where_(rows(&found["nonces"], "rules"), &[("rule", name)])[0];
    // Place and LSN come again with other bytes, and the pages are named.
    let repeated = rule("place-lsn");
    assert!(repeated["repeated_different"].as_u64().unwrap() > 400, "{repeated}");
    assert!(text(&repeated["named"][0], "page").contains(" block "), "{repeated}");
    assert!(text(&repeated["named"][0], "other").contains("(state 1, LSN "), "{repeated}");
    assert!(
        rule("block-lsn")["repeated_different"].as_u64() > repeated["repeated_different"].as_u64()
    );
    let verdicts = rows(&found["nonces"], "schemes");
    assert_eq!(
        verdicts.iter().map(|s| text(s, "verdict")).collect::<Vec<_>>(),
        ["none", "by-design", "random"]
    );

    // Two states between which nothing was written but hint bits are enough.
    let printed = call(&format!("{two_states} -s aes-256-ctr --nonce lsn")).with_code(1).stdout;
    assert!(printed.contains("BROKEN aes-256-ctr: a nonce came twice"), "{printed}");
    assert!(!printed.contains("BROKEN aes-256-xts"), "{printed}");
    cluster.run("pg_checksums", &["--enable", "-D", arg(&data)]);
    proven_and_decrypted(&cluster, &kept);
}

fn proven_and_decrypted(cluster: &Cluster, kept: &std::path::Path) {
    let (data, copy) = (cluster.data(), cluster.beside("copy"));
    let schemes =
        ["aes-256-ctr+hmac-sha256", "aes-256-xts+xxh3-64", "aes-256-gcm", "chacha20-poly1305"];
    let what = format!("pages {} --decrypt-to {} -o {}", arg(&data), arg(&copy), arg(kept));
    let how = "-l openssl -l libgcrypt -l nettle --budget 1s --pages 32 --format csv";
    let printed = call(&format!("{what} {how} -s {}", schemes.join(" -s "))).with_code(0).stdout;
    let found = run_of(&read(kept));
    let store = &found["store"];
    assert!(store["pages"].as_u64().unwrap() > 8000, "{store}");
    assert_eq!(store["sha256_before"], store["sha256_after"]);
    assert_eq!((&store["checksums"], text(store, "kind")), (&Value::Bool(true), "postgres"));
    for pair in rows(&found, "verified") {
        assert_eq!((text(pair, "state"), &pair["pages"]), ("measured", &store["pages"]), "{pair}");
        assert!(pair["agreeing"].as_u64().unwrap() >= 2, "{pair}");
    }
    assert!(rows(&found, "verified").len() >= 3 * schemes.len(), "{found}");
    probes_are_all_there(&found);
    let cells = rows(&found, "cells");
    for medium in ["sequential", "random", "cache", "direct", "log"] {
        let own: Vec<_> = cells.iter().filter(|c| text(c, "medium") == medium).collect();
        // A file system without direct I/O is named in the reason.
        let without = own.iter().all(|c| text(c, "state") == "unsupported" && medium == "direct");
        let timed = own.iter().all(|c| c["crypto_ns"]["median"].as_f64().unwrap_or(0.0) > 0.0);
        assert!(!own.is_empty() && (timed || without), "{medium}: {own:?}");
    }
    assert!(cells.iter().any(|c| c["keying"] == "per-page" && c["over_none_ns"].is_object()));
    assert_eq!(printed.lines().count(), cells.len() + 1);

    cluster.give(&copy);
    cluster.run("pg_checksums", &["--check", "-D", arg(&copy)]);
    cluster.start(&copy);
    cluster.client("pg_amcheck", &["--heapallindexed", "-d", "postgres"]);
    cluster.client(
        "psql",
        &["-q", "-d", "postgres", "-c", "select 1 / (count(*) / 100000) from unread"],
    );
    cluster.stop(&copy);
}

fn probes_are_all_there(found: &Value) {
    for probed in rows(found, "probes") {
        assert_eq!(probed["as_expected"], true, "{probed}");
        for row in rows(probed, "rows") {
            let tried = row["tried"].as_u64().unwrap();
            let expected = if row["expected"] == "not-applicable" { 0 } else { 200 };
            assert_eq!(tried, expected, "{row}");
        }
    }
    let verdict = |scheme: &str, which: &str| {
        let of = rows(found, "probes").iter().filter(|p| text(p, "scheme") == scheme);
        let all: Vec<bool> = of.map(|p| p[which].as_bool().unwrap()).collect();
        assert!(!all.is_empty() && all.iter().all(|v| *v == all[0]), "{scheme} {which}: {all:?}");
        all[0]
    };
    assert!(!verdict("none", "against_accidents"));
    assert!(verdict("aes-256-xts+xxh3-64", "against_accidents"));
    assert!(!verdict("aes-256-xts+xxh3-64", "against_adversaries"));
    assert!(verdict("aes-256-gcm", "against_adversaries"));
    assert!(!verdict("aes-256-gcm", "against_rollback"));
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn every_profile_proves_what_it_expects_and_a_record_is_shown_again() {
    let directory = scratch();
    for (profile, unit) in [
        ("edb", 8192),
        ("pg_tde", 8192),
        ("sqlcipher3", 1024),
        ("sqlcipher4", 4096),
        ("gocryptfs", 4096),
        ("luks", 4096),
        ("fscrypt", 4096),
    ] {
        let kept = file(&directory, &format!("{profile}.json"));
        let run = format!("pages --synthetic 1M --as {profile} --media none -o {kept}");
        let printed = call(&run).with_code(0).stdout;
        let found = run_of(&read(&kept));
        assert_eq!(found["store"]["page_size"], unit, "{profile}");
        assert!(rows(&found, "probes").iter().all(|p| p["as_expected"] == true), "{printed}");
        assert!(!text(&found["profile"], "source").is_empty());
        let again = call(&format!("pages {kept}")).with_code(0).stdout;
        assert_eq!(again, printed);
        // What is only shown again is written by another command.
        let unread = file(&directory, "x.csv");
        let export = format!("pages {kept} --format csv -o {unread}");
        refuses(&export, &["is a record", "`ciphermark export "]);
        assert!(!std::path::Path::new(&unread).exists());
        for format in ["json", "csv", "markdown"] {
            let shown = call(&format!("pages {kept} --format {format}")).with_code(0);
            assert!(shown.stdout.len() > 100, "{format}: {shown:?}");
        }
    }
}

#[test]
fn what_cannot_be_a_store_is_refused_in_one_line() {
    let directory = scratch();
    let (small, place) = (file(&directory, "small"), arg(directory.path()));
    std::fs::write(&small, b"not a page").unwrap();
    let image = file(&directory, "image");
    std::fs::write(&image, vec![7; 8192]).unwrap();
    let half = file(&directory, "half");
    let record = std::fs::read(repository("crates/record/tests/sample.json")).unwrap();
    std::fs::write(&half, [&record[..], &record[..record.len() / 2]].concat()).unwrap();
    for (what, words) in [
        ("/nonexistent", "cannot read '/nonexistent'"),
        (place, "no PostgreSQL data directory: it has no PG_VERSION"),
        (&small, "no whole page"),
        ("--synthetic -s aes-256-xst", "did you mean 'aes-256-xts'?"),
        ("--synthetic --page-size 5000", "--page-size 5000"),
        ("--synthetic 9X", "--synthetic 9X"),
        ("--synthetic --as edb --page-size 4K", "--as edb has units of 8192 bytes"),
        ("--synthetic -s none", "'none' alone"),
        ("--synthetic --nonce lsn --as edb", "--as"),
        (&format!("{image} --nonce lsn"), "only the pages of a PostgreSQL store"),
        (&format!("{image} --as sqlcipher4"), "does not begin like one"),
        (&half, "is text, so it is no image of pages"),
    ] {
        refuses(&format!("pages {what}"), &[words]);
    }
    refuses(
        &format!("pages --synthetic -o {small}"),
        &["is not a run of this command: not overwritten"],
    );
    assert_eq!(std::fs::read(&small).unwrap(), b"not a page");
}

/// Every probe comes out as with random nonces; what differs is room, and that they can come twice.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn nonces_of_the_lsn_take_no_room_and_are_tried_like_all_others() {
    let directory = scratch();
    let kept = file(&directory, "lsn.json");
    let run = format!("pages --synthetic 1M --nonce lsn --media none -o {kept}");
    call(&format!("{run} -s aes-256-ctr -s aes-256-gcm -s aes-256-xts")).with_code(0);
    let found = run_of(&read(&kept));
    assert!(rows(&found, "probes").iter().all(|p| p["as_expected"] == true), "{found}");
    for (scheme, extra_bytes) in [("aes-256-ctr", 0), ("aes-256-gcm", 16)] {
        let one = where_(rows(&found, "schemes"), &[("recipe.scheme", scheme)])[0];
        assert_eq!(one["extra_bytes"], extra_bytes, "{one}");
    }
    let gcm = where_(rows(&found["nonces"], "schemes"), &[("scheme", "aes-256-gcm")])[0];
    assert_eq!((text(gcm, "rule"), text(gcm, "verdict")), ("block-lsn", "unique"));
    refuses(&format!("advise {kept} --for postgres"), &["was taken with --nonce lsn"]);
}
