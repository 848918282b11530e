//! `advise --for postgres --from`: what encryption would take of a server, from its statistics.

use crate::support::*;
use serde_json::{Value, json};

fn record() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/at-rest-2026-11-23-gnr.json.gz")
}

/// The query of docs/AT-REST.md that takes a snapshot.
fn query() -> String {
    let text = std::fs::read_to_string(repository("docs/AT-REST.md")).unwrap();
    let begin = text.find("SELECT json_build_object(").expect("the document has the query");
    text[begin..].split("\nEND").next().unwrap().to_owned()
}

#[test]
fn the_document_has_the_query_that_the_program_uses() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&query()), words(judge::advise::postgres::QUERY));
    // What newer versions have instead of the last two rows.
    let io = words(judge::advise::postgres::QUERY_IO);
    let document = std::fs::read_to_string(repository("docs/AT-REST.md")).unwrap();
    let last = io.rsplit_once("'pg_stat_io'").unwrap().1;
    assert!(words(&document).contains(&format!("'pg_stat_io'{last}")), "{last}");
}

/// Files that no server wrote, with what is wrong with them.
#[test]
fn what_is_no_pair_of_snapshots_is_refused_with_what_helps() {
    let directory = scratch();
    let snapshot = |name: &str, at: &str, read: u64| {
        let counters = json!({"xact_commit": read, "xact_rollback": 0, "blks_read": read, "stats_reset": null});
        let value = json!({"at": at, "version": 150_018, "started": "2026-11-24T09:00:00Z", "block_size": 8192,
            "track_counts": "on", "lsn": "0/100", "bytes": 0, "pg_stat_database": [counters],
            "pg_stat_wal": {"wal_bytes": 1, "wal_write": 1, "stats_reset": "x"},
            "pg_stat_bgwriter": {"buffers_checkpoint": 1, "buffers_clean": 1, "buffers_backend": 1, "stats_reset": "x"}});
        let path = file(&directory, name);
        std::fs::write(&path, value.to_string()).unwrap();
        path
    };
    let first = snapshot("first", "2026-11-24T10:00:00Z", 100);
    let soon = snapshot("soon", "2026-11-24T10:00:01Z", 100);
    let reset = snapshot("reset", "2026-11-24T10:01:00Z", 10);
    let good = snapshot("good", "2026-11-24T10:01:00Z", 200);
    let asked = |pair: &str| format!("advise {} --for postgres --from {pair}", record());
    refuses(&asked(&format!("{first},{soon}")), &["1.0 s between the snapshots"]);
    refuses(&asked(&format!("{good},{first}")), &["60 s older than the first"]);
    refuses(&asked(&format!("{first},{reset}")), &["counters were reset"]);
    refuses(&asked(&format!("{first},/no/such")), &["/no/such"]);
    refuses(&asked(&format!("{first},{}", record())), &["no snapshot of PostgreSQL's statistics"]);
    refuses(&asked("first"), &["a connection string", "FIRST,SECOND"]);
    refuses(&asked("dbname=x --interval 1s"), &["--interval 1.0s", "5s at least"]);
    let other = format!("advise {} --for wal --from {first},{good}", record());
    refuses(&other, &["--from is for --for postgres only"]);
    // No psql, and no server.
    let live = ["advise", record(), "--for", "postgres", "--from", "host=/no/where dbname=x"];
    let none = ciphermark_with(&live, &[("PATH", "")]).with_code(4);
    assert!(none.only_line_on_stderr().contains("there is no psql here"), "{none:?}");
    let unreachable = ciphermark_with(&live, &[]).with_code(4);
    assert!(unreachable.only_line_on_stderr().contains("/no/where"), "{unreachable:?}");
    // What is right is answered, from files as from a server.
    let pair = format!("{first},{good}");
    let done = ciphermark(&["advise", record(), "--for", "postgres", "--from", &pair], b"");
    let text = done.with_code(0).stdout;
    assert!(text.contains("1.7 transactions a second") && text.lines().count() <= 30, "{text}");
}

fn prediction(from: &str, more: &[&str]) -> Value {
    let asked = ["advise", record(), "--for", "postgres", "-l", "openssl*", "-q", "--from", from];
    ciphermark(&[&asked[..], more, &["--format", "json"]].concat(), b"").with_code(0).json()
}

#[test]
#[ignore = "long: a PostgreSQL cluster, and ten seconds of watching it"]
fn counts_of_a_cluster_are_what_pgbench_did() {
    let cluster = Cluster::new();
    cluster.start(&cluster.data());
    cluster.client("pgbench", &["-i", "-q", "-s", "1", "postgres"]);
    // A cold cache.
    cluster.stop(&cluster.data());
    cluster.start(&cluster.data());
    let query = query();
    let take = |name: &str| {
        let path = cluster.beside(name);
        cluster.client("psql", &["-XqAt", "-o", arg(&path), "-c", &query, "postgres"]);
        arg(&path).to_owned()
    };
    let first = take("first");
    cluster.client("psql", &["-c", "SELECT sum(abalance) FROM pgbench_accounts", "postgres"]);
    cluster.client("pgbench", &["-n", "-c", "2", "-t", "500", "postgres"]);
    cluster.client("psql", &["-c", "CHECKPOINT", "postgres"]);
    std::thread::sleep(std::time::Duration::from_millis(5500));
    let last = take("last");
    let found = prediction(&format!("{first},{last}"), &[]);
    let count = |path: &str| number(&found, &format!("work.{path}"));
    let within = |what: &str, n: f64, low: f64, high: f64| {
        assert!(low <= n && n <= high, "{what} {n}: {}", found["work"])
    };
    within("transactions", count("transactions"), 1000.0, 1040.0);
    // The table has 1640 pages, its index 276; the catalogs a few hundred.
    within("read", count("read.median"), 1640.0, 2400.0);
    // 1000 updates at random touch 748 of 1640 pages and 268 of the index's 276, and put their new rows on some twenty
    // more; the cluster's own processes add some.
    within("written", count("written.median"), 650.0, 1500.0);
    // A commit is a write, but for those that share one. Each page touched is in the log once.
    within("log writes", count("log_writes.median"), 500.0, 1100.0);
    within("log", count("log.median"), 1150.0, 2500.0);
    let rows = found["rows"].as_array().unwrap();
    assert!(rows.iter().all(|r| text(r, "library").starts_with("openssl@")), "{rows:?}");
    let xts = rows.iter().find(|r| r["scheme"] == "aes-256-xts").unwrap();
    let pages = count("read.median") + count("written.median") + count("log.median");
    let ns = number(xts, "us_per_transaction.median") * 1e3 * count("transactions") / pages;
    within("ns a page", ns, number(xts, "write_ns.low").min(number(xts, "read_ns.low")), 5000.0);
    // The same of a server that is watched.
    let socket = cluster.data();
    let connection =
        format!("host={} user=postgres dbname=postgres", arg(socket.parent().unwrap()));
    let idle = prediction(&connection, &["--interval", "5s"]);
    assert!(number(&idle, "work.transactions") < 50.0, "{idle}");
    cluster.stop(&cluster.data());
}
