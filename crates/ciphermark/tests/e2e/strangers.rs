//! Files, servers and neighbours that mean no good: nothing of them runs outside of the cage, nothing is written where
//! they say, nothing waits or grows without end, and nobody reads along.

use crate::support::*;
use rustix::process::Signal;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A module that leaves a mark where the loader runs it, and a right library that names it.
fn audited(directory: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
    let (mark, source) = (directory.join("ran"), directory.join("audit.c"));
    let text = format!(
        "#include <fcntl.h>\nunsigned la_version(unsigned v) {{ open(\"{}\", O_CREAT | O_WRONLY, 0600); return v; }}\n",
        mark.display()
    );
    std::fs::write(&source, text).unwrap();
    let (module, library) = (directory.join("audit.so"), directory.join("audited.so"));
    fakes::succeed(fakes::compiler(&module).arg(source));
    let mut cc = fakes::compiler(&library);
    cc.args(["-O2", "-I"]).arg(repository("include")).arg(repository("tests/fakes/correct.c"));
    fakes::succeed(cc.arg(format!("-Wl,--audit={}", module.display())));
    (library, mark)
}

#[test]
fn a_library_that_names_an_audit_module_is_refused_by_every_command_and_the_module_does_not_run() {
    let directory = scratch();
    let (library, mark) = audited(directory.path());
    let library = arg(&library);
    for line in
        ["verify", "verify -t noaes", "verify -t native -t noaes", "run", "run -t noaes", "leaks"]
    {
        refuses(&format!("{line} -a aes-128-ctr -l mine={library}"), &["DT_AUDIT"]);
    }
    refuses(&format!("tls handshake -l mine={library}"), &["DT_AUDIT"]);
    refuses(&format!("tls calibrate --no-nginx --library mine={library}"), &["DT_AUDIT"]);
    assert!(!mark.exists());
}

#[test]
fn a_password_in_an_argument_is_refused_and_never_shown() {
    for connection in [
        "postgresql://me:hunter2@localhost/x",
        "postgres://me:hunter2@@localhost/x",
        "postgresql://localhost/x?user=me&password=hunter2",
    ] {
        for line in [
            format!("advise --for postgres --from {connection}"),
            format!("archive list {connection}"),
            format!("archive add {connection} r.json"),
            format!("rank --from {connection}"),
            format!("trend {connection} -a aes-256-gcm -s 16K"),
        ] {
            let done = call(&line).with_code(2);
            let said = done.only_line_on_stderr();
            assert!(said.contains("PGPASSWORD") && said.contains("***"), "{line}: {said}");
            assert!(!said.contains("hunter2"), "{line}: {said}");
        }
    }
    let words = ["advise", "--for", "postgres", "--from", "host=x password = 'hunter2 it is'"];
    let done = ciphermark(&words, b"").with_code(2);
    assert!(!done.stderr.contains("hunter2"), "{done:?}");
}

/// `PATH` with a program of this name before all others.
fn with_program(directory: &Path, name: &str, script: &str) -> String {
    let program = directory.join(name);
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", directory.display(), std::env::var("PATH").unwrap())
}

#[test]
fn a_server_that_answers_without_end_is_given_up() {
    let directory = scratch();
    let path = with_program(directory.path(), "psql", "exec cat /dev/zero");
    let asked = ["advise", "--for", "postgres", "--from", "host=x dbname=y"];
    let done = ciphermark_with(&asked, &[("PATH", &path)]).with_code(4);
    assert!(done.only_line_on_stderr().contains("it printed more than"), "{done:?}");
}

#[test]
fn a_device_in_the_place_of_a_record_has_an_end() {
    let directory = scratch();
    let store = file(&directory, "s.db");
    for line in [format!("archive add {store} /dev/zero"), "show /dev/zero".to_owned()] {
        let done = call(&line).with_code(2);
        assert!(done.only_line_on_stderr().contains("it has more than 1 GiB"), "{done:?}");
    }
}

#[test]
fn a_trap_in_the_place_of_a_journal_is_named_and_left_as_it_is() {
    let directory = scratch();
    let (record, victim) = (file(&directory, "r.json"), directory.path().join("victim"));
    let journal = journal(Path::new(&record));
    let run = format!("run -a aes-128-ctr -s 16 -l openssl -o {record}");
    std::os::unix::fs::symlink(&victim, &journal).unwrap();
    refuses(&run, &["r.json.partial", "is a symbolic link"]);
    assert!(!victim.exists());
    std::fs::remove_file(&journal).unwrap();
    assert!(Command::new("mkfifo").arg(&journal).status().unwrap().success());
    refuses(&run, &["r.json.partial", "is not a regular file"]);
    std::fs::remove_file(&journal).unwrap();
    std::fs::write(&journal, "deadbeef").unwrap();
    refuses(&run, &["r.json.partial", "it is no journal"]);
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), "deadbeef");
}

#[test]
fn an_argument_of_any_bytes_is_an_argument() {
    let directory = scratch();
    let record = directory.path().join(OsStr::from_bytes(b"r\xff.json"));
    let mut command = Command::new(program());
    command.env("CIPHERMARK_BUNDLED", "").env("CIPHERMARK_CACHE", "");
    command.args(["run", "-q", "-a", "aes-128-ctr", "-s", "16", "-l", "openssl", "-d", "encrypt"]);
    let done = command.args(QUICK).arg("-o").arg(&record).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let typed = rows(&read(&record)["tool"], "command").last().unwrap().clone();
    assert!(typed.as_str().unwrap().ends_with("r\u{fffd}.json"), "{typed}");
}

/// What waits for a file that never comes ends, though the first signal only asks it to.
#[test]
fn a_second_signal_ends_a_command_wherever_it_waits() {
    let directory = scratch();
    let suite = file(&directory, "suite.toml");
    assert!(Command::new("mkfifo").arg(&suite).status().unwrap().success());
    let mut running = Background::start(&["run", "--suite", &suite]);
    let id = running.id();
    let catches = || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
        caught.is_some_and(|bits| u64::from_str_radix(bits, 16).unwrap() & (1 << 14) != 0)
    };
    running.wait_until("it watches for SIGTERM", catches);
    for _ in 0..2 {
        running.send(Signal::TERM);
        // Two that are pending at once are one.
        running.wait_until("the signal was taken", || !is_pending(id));
    }
    running.ends_within(Duration::from_secs(60)).with_code(BY_SIGNAL);
}

fn is_pending(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let shared = status.lines().find_map(|line| line.strip_prefix("ShdPnd:\t"));
    shared.is_some_and(|bits| u64::from_str_radix(bits, 16).unwrap() != 0)
}

/// Each is what a stranger may have done to an archive, in Python, and what is said of it.
const STORES: [(&str, &str); 5] = [
    (
        "do('UPDATE record SET head = ?', gzip.compress(bytes(64 << 20)))",
        "more than 16 MiB unpacked",
    ),
    ("do('UPDATE record SET head = ?', bytes(80 << 20))", "a field of more than 64 MiB"),
    (
        "do('DROP TABLE workload'); do('CREATE VIEW workload AS SELECT 1 AS id')",
        "access to view \"workload\" prohibited",
    ),
    (
        "do('WITH RECURSIVE c(x) AS (SELECT 1000 UNION ALL SELECT x + 1 FROM c LIMIT 300000) \
         INSERT INTO library SELECT x, x, x, x, x FROM c')",
        "more than 262144 rows",
    ),
    ("do('UPDATE record SET doubts = ?', 'x' * (65 << 20))", "a field of more than 64 MiB"),
];

#[test]
fn an_archive_of_a_stranger_is_read_within_bounds_of_memory_or_refused_in_a_line() {
    let directory = scratch();
    let own = file(&directory, "own.db");
    call(&format!("archive add {own} {} --machine m", published())).with_code(0);
    let within_bounds = |line: &str| {
        let mut command = Command::new("prlimit");
        command.arg("--data=1610612736").arg(program()).args(line.split(' '));
        let done = command.output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    for (at, (change, said)) in STORES.into_iter().enumerate() {
        let (store, site) =
            (file(&directory, &format!("{at}.db")), file(&directory, &format!("{at}")));
        std::fs::copy(&own, &store).unwrap();
        let script = format!(
            "import gzip, sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as db:\n    \
             do = lambda sql, *values: db.execute(sql, values)\n    {change}\ndb.close()"
        );
        let changed = Command::new("python3").args(["-c", &script, &store]).output().unwrap();
        assert!(changed.status.success(), "{changed:?}");
        let (code, why) = within_bounds(&format!("report --from {store} -o {site}"));
        assert!(code == Some(4) && why.contains(said) && why.lines().count() == 1, "{why}");
    }
    // Holes of a terabyte behind it.
    std::fs::File::options().write(true).open(&own).unwrap().set_len(1 << 40).unwrap();
    let (code, why) = within_bounds(&format!("archive list {own}"));
    assert!(code == Some(0), "{why}");
}
