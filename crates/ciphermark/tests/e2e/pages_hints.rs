//! Hint bits keep a page's LSN even where checksums are on: what a real server writes.

use crate::support::*;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
fn file(cluster: &Cluster) -> PathBuf {
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
fn checksums_do_not_make_the_lsn_a_nonce() {
    let cluster = cluster();
    let data = cluster.data();
    let file = file(&cluster);
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
    let copied =
        std::process::Command::new("cp").args(["-a", arg(&data), arg(&before)]).status().unwrap();
    assert!(copied.success());
    let old = before.join(file.strip_prefix(&data).unwrap());
    std::fs::write(old, updated).unwrap();
    let states = format!("pages {} --snapshot {}", arg(&data), arg(&before));
    let how = "-l openssl --media none --probes 0 -s aes-256-gcm --nonce lsn";
    let printed = call(&format!("{states} {how}")).with_code(1).stdout;
    assert!(printed.contains("checksums of its own"), "{printed}");
    assert!(printed.contains("BROKEN aes-256-gcm: a nonce came twice"), "{printed}");
}
