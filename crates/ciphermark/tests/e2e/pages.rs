//! Page stores: a real cluster that its own server made, what is refused, stand-ins with planted faults, hint
//! bits that keep a page's LSN even where checksums are on, and runs that are killed, interrupted, resumed.

use crate::support::{fakes, *};
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Two states of a cluster, between which nothing happened but reading: hint bits change pages and
/// leave their LSN. Then it gets checksums, which a decrypted copy must still have.
fn cluster_with_two_states() -> Cluster {
    let cluster = Cluster::new();
    let data = cluster.data();
    cluster.start(&data);
    cluster.client("pgbench", &["-i", "-q", "-s", "3", "postgres"]);
    let table = "create table unread as select generate_series(1, 100000) as n";
    sql(&cluster, table);
    sql(&cluster, "create extension amcheck");
    refuses(&format!("pages {}", arg(&data)), &["postmaster.pid", "pg_ctl stop"]);
    cluster.stop(&data);
    copy_of(&data, &cluster.beside("before"));
    cluster.start(&data);
    sql(&cluster, "select count(*) from unread");
    cluster.stop(&data);
    cluster
}

fn copy_of(data: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").args(["-a", arg(data), arg(to)]).status();
    assert!(copied.unwrap().success());
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
    says(text(&repeated["named"][0], "page"), [" block "]);
    says(text(&repeated["named"][0], "other"), ["(state 1, LSN "]);
    let of_blocks = rule("block-lsn")["repeated_different"].as_u64();
    assert!(of_blocks > repeated["repeated_different"].as_u64());
    let verdicts = rows(&found["nonces"], "schemes").iter().map(|s| text(s, "verdict"));
    assert_eq!(verdicts.collect::<Vec<_>>(), ["none", "by-design", "random"]);

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
    sql(cluster, "select 1 / (count(*) / 100000) from unread");
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
    let units = "edb 8192, pg_tde 8192, sqlcipher3 1024, sqlcipher4 4096, gocryptfs 4096, luks 4096, \
        fscrypt 4096";
    for (profile, unit) in units.split(", ").filter_map(|of| of.split_once(' ')) {
        let kept = file(&directory, &format!("{profile}.json"));
        let run = format!("pages --synthetic 1M --as {profile} --media none -o {kept}");
        let printed = call(&run).with_code(0).stdout;
        let found = run_of(&read(&kept));
        assert_eq!(found["store"]["page_size"].to_string(), unit, "{profile}");
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
    let small = written(&directory, "small", "not a page");
    let image = written(&directory, "image", [7; 8192]);
    let record = std::fs::read(SAMPLE).unwrap();
    let half = written(&directory, "half", [&record[..], &record[..record.len() / 2]].concat());
    let place = arg(directory.path());
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
        ("postgresql://u:pw@h/d", "'postgresql://u:***@h/d' holds a password"),
    ] {
        refuses(&format!("pages {what}"), &[words]);
    }
    let refused = "is not a run of this command: not overwritten";
    refuses(&format!("pages --synthetic -o {small}"), &[refused]);
    assert_eq!(std::fs::read(&small).unwrap(), b"not a page");
    // A record of its own it would overwrite: what stops it here is the store.
    let copy = file(&directory, "own.json");
    std::fs::copy(repository("crates/record/tests/at-rest.json"), &copy).unwrap();
    refuses(&format!("pages {small} -o {copy}"), &["no whole page"]);
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

// Stand-in libraries with planted faults under `pages`: each is found, and none gets a number.

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
fn no_number(found: &Value, library: &str, scheme: &str, state: &str, why: &str) {
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
    no_number(&found, "wrong_tag", "aes-128-gcm", "refused", "known");
    no_number(&found, "overrun", "aes-128-gcm", "refused", "after the end of the output");
    no_number(&found, "overrun", "aes-128-ctr", "refused", "after the end of the output");
    says(printed, ["REFUSED aes-128-gcm in wrong_tag@1.0"]);
    // What is right beside it has its numbers.
    let right = of(&found, "verified", "wrong_tag", "aes-128-ctr");
    assert_eq!(text(right[0], "state"), "measured");
    let cells = of(&found, "cells", "wrong_tag", "aes-128-ctr");
    assert!(cells.iter().any(|c| !c["crypto_ns"].is_null()));
}

#[test]
#[ignore = "long: seconds"]
fn a_library_that_agrees_with_itself_alone_or_gives_back_others_pages_is_refused() {
    let libraries = [
        fakes::variant("later_pages", "LATER=100"),
        fakes::variant("later_pages", "AGREED=100"),
        fakes::library("correct"),
        fakes::library("copies"),
    ];
    let (found, _) = pages(&libraries, "--media none --probes 0", 3);
    let why = "2 libraries agree on other bytes for the same pages";
    no_number(&found, "agreed", "aes-128-ctr", "refused", why);
    no_number(&found, "later", "aes-128-ctr", "refused", "it comes back as another");
    let right = of(&found, "verified", "copies", "aes-128-ctr");
    assert_eq!((text(right[0], "state"), &right[0]["agreeing"]), ("measured", &Value::from(2)));
}

#[test]
#[ignore = "long: seconds"]
fn a_library_that_dies_in_one_scheme_is_priced_in_the_next() {
    let libraries = [fakes::variant("later_pages", "DIES=100")];
    let (found, _) = pages(&libraries, "--media memory --probes 0", 3);
    no_number(&found, "dies", "aes-128-ctr", "failed", "SIGSEGV");
    let next = of(&found, "cells", "dies", "aes-128-gcm");
    assert!(next.iter().any(|cell| !cell["crypto_ns"].is_null()), "{next:?}");
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
#[ignore = "long: seconds"]
fn forgeries_that_are_taken_for_pages_end_the_run_with_exit_code_1() {
    let libraries = [fakes::variant("accepts_forgery", "FORGED_AT=8192")];
    let (found, printed) = pages(&libraries, "--media none --probes 8", 1);
    let probed = of(&found, "probes", "forged_at", "aes-128-gcm");
    assert_eq!(probed[0]["as_expected"], false, "{probed:?}");
    assert_eq!(probed[0]["against_accidents"], false);
    assert!(printed.contains("UNEXPECTED"), "{printed}");
}

const PAGE: usize = 8192;

/// A cluster with checksums, few buffers and no checkpoints of its own, running.
fn cluster() -> Cluster {
    let cluster = Cluster::new();
    let data = cluster.data();
    cluster.run("pg_checksums", &["--enable", "-D", arg(&data)]);
    let settings = "shared_buffers = 512kB\nbgwriter_lru_maxpages = 0\n\
        checkpoint_timeout = 1h\nmax_wal_size = 4GB\n";
    let path = data.join("postgresql.conf");
    let all = std::fs::read_to_string(&path).unwrap() + settings;
    std::fs::write(&path, all).unwrap();
    cluster.start(&data);
    cluster.client("pgbench", &["-i", "-q", "-s", "2", "postgres"]);
    sql(&cluster, "create table hinted as select generate_series(1, 20) as n");
    cluster
}

fn sql(cluster: &Cluster, command: &str) {
    cluster.client("psql", &["-q", "-d", "postgres", "-c", command]);
}

/// Where the table's one page lies.
fn relation_file(cluster: &Cluster) -> PathBuf {
    let said = cluster.beside("path");
    let query = "select pg_relation_filepath('hinted')";
    cluster.client("psql", &["-At", "-d", "postgres", "-o", arg(&said), "-c", query]);
    cluster.data().join(std::fs::read_to_string(said).unwrap().trim())
}

/// The page as the server wrote it, once it has written another than `before`: thousands of pages go
/// through a few dozen buffers, not in a ring of their own.
fn evicted(cluster: &Cluster, file: &Path, before: &[u8]) -> Vec<u8> {
    let others = "set enable_seqscan = off; set enable_bitmapscan = off; \
        set enable_indexonlyscan = off; select count(abalance) from pgbench_accounts where aid > 0";
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        sql(cluster, others);
        let page = std::fs::read(file).unwrap();
        if page != before {
            assert_eq!(page.len(), PAGE);
            return page;
        }
        assert!(Instant::now() < end, "the page stays in its buffer");
    }
}

fn lsn(page: &[u8]) -> &[u8] {
    &page[..8]
}

#[test]
#[ignore = "long: a server"]
fn checksums_do_not_make_the_lsn_a_nonce() {
    let cluster = cluster();
    let data = cluster.data();
    let file = relation_file(&cluster);
    sql(&cluster, "checkpoint");
    let created = std::fs::read(&file).unwrap();
    // The first change after the checkpoint: the page gets a new LSN, and its image goes to the log.
    sql(&cluster, "update hinted set n = n + 1");
    let updated = evicted(&cluster, &file, &created);
    assert_ne!(lsn(&created), lsn(&updated));
    // Reading sets hint bits. The LSN is past the checkpoint, so that nothing is logged.
    sql(&cluster, "select count(*) from hinted");
    let hinted = evicted(&cluster, &file, &updated);
    assert_eq!(lsn(&updated), lsn(&hinted), "hint bits were logged");
    let checksum = |page: &[u8]| [page[8], page[9]];
    assert!(checksum(&updated) != [0, 0] && checksum(&updated) != checksum(&hinted));

    // Two states of the store that hold what the server wrote: nonces of the LSN are broken.
    cluster.stop(&data);
    assert_eq!(std::fs::read(&file).unwrap(), hinted);
    let before = cluster.beside("before");
    copy_of(&data, &before);
    let old = before.join(file.strip_prefix(&data).unwrap());
    std::fs::write(old, updated).unwrap();
    let states = format!("pages {} --snapshot {}", arg(&data), arg(&before));
    let how = "-l openssl --media none --probes 0 -s aes-256-gcm --nonce lsn";
    let broken = ["checksums of its own", "BROKEN aes-256-gcm: a nonce came twice"];
    call(&format!("{states} {how}")).with_code(1).says(broken);
}

// Runs over a page store that are cut short: killed, interrupted, resumed.

/// Far more than ending takes, far less than the run's budget.
const SOON: Duration = Duration::from_secs(60);

/// A store, and a run over it that is under way.
fn started(directory: &Path) -> (std::path::PathBuf, std::path::PathBuf, Background) {
    let (store, record) = (directory.join("store"), directory.join("p.json"));
    std::fs::write(&store, numbers(1 << 20)).unwrap();
    let what = ["pages", arg(&store), "-l", "openssl", "-s", "aes-128-gcm", "--pages", "32"];
    let how = ["--media", "memory,cache", "--probes", "0", "--scratch", arg(directory)];
    let running = Background::start_kept(&[&what[..], &how].concat(), &record, "10m", 60);
    (store, record, running)
}

fn samples_in_record(record: &Value) -> usize {
    rows(record, "measurements").iter().map(|c| rows(&c["raw"], "ticks").len()).sum()
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_killed_run_over_a_store_is_resumed_over_the_same_store_only() {
    let directory = scratch();
    let (store, record, running) = started(directory.path());
    running.send(Signal::KILL);
    running.ends_within(SOON).with_code(BY_SIGNAL);
    assert!(!record.exists(), "the record is written when it is whole");
    let kept = samples_in_journal(&record);
    let (before, bytes) =
        (std::fs::read(journal(&record)).unwrap(), std::fs::read(&store).unwrap());

    std::fs::write(&store, vec![7; bytes.len()]).unwrap();
    let resume = format!("pages --resume {} --budget 40s", arg(&record));
    refuses(&resume, &["the store has changed", "run again without --resume"]);
    assert_eq!(std::fs::read(journal(&record)).unwrap(), before, "nothing is lost");
    refuses(&format!("run --resume {}", arg(&record)), &["`ciphermark pages`"]);

    std::fs::write(&store, bytes).unwrap();
    let printed = call(&format!("{resume} --format json")).with_code(0).stdout;
    let whole = read(&record);
    assert_eq!(printed, std::fs::read_to_string(&record).unwrap());
    assert!(samples_in_record(&whole) > kept, "samples of before and of now");
    all_are(rows(&whole, "measurements"), "measured");
    let cells = rows(&whole, "measurements");
    assert_eq!(cells.len(), 14, "{cells:#?}");
    assert!(cells.iter().all(|c| text(c, "stopped") != "interrupted"), "{cells:#?}");
    assert!(!journal(&record).exists());
    refuses(&resume, &["nothing to resume"]);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn an_interrupted_run_over_a_store_keeps_what_it_has_and_says_how_to_resume() {
    let directory = scratch();
    let (_, record, running) = started(directory.path());
    running.send(Signal::INT);
    let resume = format!("--resume {}", arg(&record));
    running.ends_within(SOON).ends(INTERRUPTED, [&*resume]).says(["aes-128-gcm"]);
    let found = read(&record);
    let kept = samples_in_journal(&record);
    assert_eq!(samples_in_record(&found), kept, "nothing is lost");
    for cell in rows(&found, "measurements") {
        assert_eq!(text(cell, "stopped"), "interrupted");
        // Whose turn had not come has no number.
        if text(cell, "state") == "failed" {
            continue;
        }
        let io = cell["details"]["raw_io_ticks"].as_array().map_or(0, Vec::len);
        let is_read = cell["details"]["medium"] == "cache";
        let expected = if is_read { rows(&cell["raw"], "ticks").len() } else { 0 };
        assert_eq!(io, expected, "{cell}");
    }
    // Time for the proof too, which a busy machine takes seconds for.
    call(&format!("pages --resume {} --budget 10s", arg(&record))).with_code(0);
    assert!(samples_in_record(&read(&record)) >= kept);
    assert!(!journal(&record).exists());
}

#[test]
#[ignore = "long: prices measured until all are known"]
fn a_second_store_is_answered_from_the_price_list_and_fresh_measures_again() {
    let directory = scratch();
    let cache = file(&directory, "cache");
    let priced = |name: &str, bytes: u32, more: &str| {
        let (store, kept) = (written(&directory, name, numbers(bytes)), file(&directory, "p.json"));
        let line = format!("pages {store} -q -l openssl --page-size 4K -o {kept} {more}");
        let done = call_with(&line, &[("CIPHERMARK_CACHE", &*cache)]);
        (run_of(&read(&kept)), done.stdout)
    };
    let is_listed = |found: &Value| found["timing"]["from_list"].is_string();
    let all_from_list = |found: &Value| is_listed(found) && number(found, "timing.seconds") == 0.0;
    // A busy machine may need several runs.
    let first = (0..10).map(|_| priced("one", 1 << 20, "").0).find(all_from_list);
    let first = first.expect("prices are known in the end");
    let (second, screen) = priced("other", 3 << 20, "");
    assert!(all_from_list(&second), "{screen}");
    says(screen, ["minutes old", "--fresh measures them again"]);
    let costs = |found: &Value| -> Vec<Value> {
        rows(found, "cells").iter().map(|c| c["crypto_ns"].clone()).collect()
    };
    assert_eq!(costs(&first), costs(&second));
    assert!(!is_listed(&priced("other", 3 << 20, "--fresh").0));
}

#[test]
fn an_interrupt_ends_the_reading_of_a_large_store() {
    let asked = ["pages", "--synthetic", "64G", "--thorough", "-q", "-l", "nettle"];
    let mut running = Background::start(&asked);
    running.wait_until_it_watches();
    running.send(Signal::TERM);
    let done = running.ends_within(Duration::from_secs(120)).with_code(INTERRUPTED);
    says(done.stderr, ["interrupted while the store was read"]);
}

#[test]
fn a_run_over_a_store_that_took_no_time_is_shown_again() {
    let directory = scratch();
    let record = file(&directory, "p.json");
    let what = "pages -q --synthetic 1M -l openssl -s aes-256-xts --media none --probes 0";
    let printed = call(&format!("{what} -o {record}")).with_code(0).stdout;
    assert!(printed.contains("2 schemes in 1 libraries"), "{printed}");
    assert_eq!(call(&format!("show {record}")).with_code(0).stdout, printed);
}

#[test]
#[ignore = "long: seconds"]
fn a_copy_of_a_strangers_store_runs_as_nobody_else() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = scratch();
    let (store, copy) = (directory.path().join("store"), directory.path().join("copy"));
    std::fs::write(&store, vec![7; 1 << 20]).unwrap();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o7755)).unwrap();
    let what = "-q -l openssl -s aes-256-xts --media none --probes 0 --page-size 8K";
    call(&format!("pages {} {what} --decrypt-to {}", arg(&store), arg(&copy))).with_code(0);
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o7777, 0o755);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_killed_run_that_writes_a_copy_is_resumed_and_writes_only_where_it_is_told() {
    let directory = scratch();
    let (store, record) = (directory.path().join("store"), directory.path().join("p.json"));
    std::fs::write(&store, numbers(1 << 20)).unwrap();
    let copy = directory.path().join("copy");
    let what = ["pages", arg(&store), "-l", "openssl", "-s", "aes-128-gcm", "--pages", "32"];
    let how = ["--media", "memory", "--probes", "0", "--decrypt-to", arg(&copy)];
    let running = Background::start_kept(&[&what[..], &how].concat(), &record, "10m", 30);
    running.send(Signal::KILL);
    running.ends_within(SOON).with_code(BY_SIGNAL);
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&store).unwrap());
    let resume = format!("pages -q --resume {} --budget 10s", arg(&record));
    refuses(&resume, &["resume it with --decrypt-to PATH"]);
    // It is there already, and stays as it is.
    std::fs::write(&copy, "mine").unwrap();
    call(&format!("{resume} --decrypt-to {}", arg(&copy))).with_code(0);
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), "mine");
    assert!(!journal(&record).exists());
}
