//! Strangers: a library's code does nothing in a worker but compute, each other deed fails, is named, and
//! costs only its own library; and of files, servers and archives that mean no good nothing runs outside of
//! the cage, waits or grows without end.

use crate::support::{fakes, *};
use rustix::process::Signal;
use serde_json::Value;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What a stand-in does, and the system call that the reason names; none where the kernel refuses the call's
/// argument, which a library may go on without.
const DEEDS: [(&str, Option<&str>); 19] = [
    ("CONNECT", Some("socket")),
    ("SERVICE", Some("socket")),
    ("EXEC", Some("execve")),
    // The C library blocks all signals around it, so nothing can be told but that it was forbidden.
    ("SYSTEM", Some("SIGSYS")),
    ("FORKS", Some("clone")),
    ("KILL", Some("kill")),
    ("KILL_ALL", Some("kill")),
    ("PTRACE", Some("ptrace")),
    ("PEEK", None),
    ("WRITE", Some("openat")),
    ("REMOVE", Some("unlink")),
    ("READ", None),
    ("MEMORY", None),
    ("LIMITS", Some("prlimit64")),
    ("OUTLIVE", Some("prctl")),
    ("SIGNAL_OWNER", Some("fcntl")),
    ("HIDE", Some("rt_sigaction")),
    ("RING", Some("io_uring_setup")),
    // Nothing in its own memory opens the cage.
    ("SEARCH", Some("kill")),
];

/// Calls that are no accident: a library that makes one while it is loaded is not used.
const HOSTILE: [&str; 5] = ["execve", "clone", "kill", "ptrace", "SIGSYS"];

fn library(when: &str, deed: &str) -> String {
    let object = fakes::object("grab_power", &format!("{when}={deed}"));
    format!("{}={}", deed.to_lowercase(), arg(&object))
}

/// The file that it may try to read, write or remove, which its worker is told.
fn given(file: &Path) -> [(&'static str, &str); 3] {
    [("GRAB_PATH", arg(file)), ("CIPHERMARK_PASS", "GRAB_PATH"), ("CIPHERMARK_CACHE", "")]
}

/// `verify` over a library with a file that it may try to read, write or remove.
fn verify(libraries: &[String], file: &Path, more: &[(&str, &str)]) -> Done {
    let mut arguments = vec!["verify", "--json", "-a", "aes-128-ctr"];
    arguments.extend(libraries.iter().flat_map(|l| ["-l", l.as_str()]));
    let variables = [&given(file), more].concat();
    ciphermark_with(&arguments, &variables)
}

/// The kernel of these tests must have what they are about.
fn here() -> bool {
    let mechanisms = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail");
    mechanisms.is_ok_and(|actions| actions.contains("trap"))
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn each_deed_in_an_operation_fails_and_is_named_and_costs_its_own_library_alone() {
    assert!(here(), "this kernel has no seccomp filter");
    let directory = scratch();
    let file = directory.path().join("mine");
    std::fs::write(&file, "kept").unwrap();
    let mut libraries: Vec<String> = DEEDS.iter().map(|(deed, _)| library("WORK", deed)).collect();
    libraries.push("openssl".to_owned());
    let done = verify(&libraries, &file, &[]).with_code(1);
    assert!(!done.stdout.contains("the deed succeeded"), "{done:?}");
    let rows = done.rows();
    for (deed, call) in DEEDS {
        let name = deed.to_lowercase();
        let row = where_(&rows, &[("library.name", &name)])[0];
        match call {
            Some("SIGSYS") => {
                assert_eq!(text(row, "state"), "failed", "{row}");
                assert!(text(row, "reason").contains("SIGSYS, forbidden system call"), "{row}");
            }
            Some(call) => {
                assert_eq!(text(row, "state"), "refused", "{row}");
                let why = text(row, "reason");
                assert!(why.contains("confinement: the library called "), "{row}");
                assert!(why.contains(call), "{call}: {row}");
            }
            None => assert_eq!(text(row, "state"), "passed", "{row}"),
        }
    }
    assert_eq!(text(where_(&rows, &[("library.name", "openssl")])[0], "state"), "passed");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn each_deed_of_an_initialiser_fails_and_is_named() {
    assert!(here(), "this kernel has no seccomp filter");
    let directory = scratch();
    let file = directory.path().join("mine");
    std::fs::write(&file, "kept").unwrap();
    for (deed, call) in DEEDS {
        let done = verify(&[library("LOAD", deed)], &file, &[]);
        let all = format!("{}{}", done.stdout, done.stderr);
        assert!(!all.contains("the deed succeeded"), "{deed}: {done:?}");
        if call.is_some_and(|call| HOSTILE.contains(&call)) {
            assert_eq!(done.code, 2, "{deed}: {done:?}");
            let line = done.only_line_on_stderr();
            assert!(line.contains(call.unwrap()), "{deed}: {line}");
        } else {
            assert_eq!(done.code, 0, "{deed}: {done:?}");
            assert_eq!(text(&done.rows()[0], "state"), "passed", "{deed}");
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

/// Each command that loads a library which it is told by its path, with what it needs to do so.
const LOADING: [&str; 15] = [
    "run -a aes-128-ctr -s 16 -l",
    "list algorithms -l",
    "verify -a aes-128-ctr -l",
    "leaks -a aes-128-ctr -l",
    "once -a aes-128-ctr --key 00112233445566778899aabbccddeeff --nonce 00112233445566778899aabbccddeeff -l",
    "advise --for tls-server -l",
    "claims -l",
    "explain -a aes-128-ctr -s 64 -l",
    "rank -a aes-128-ctr -s 64 -l",
    "pages --synthetic 1M --media none -l",
    "pair -a aes-128-ctr openssl",
    "tls handshake -l",
    "tls records -l",
    "tls primitives -l",
    "tls calibrate --no-nginx -l",
];

/// Which choose among what a record has; `compare` measures that again, in workers.
const CHOOSING: [&str; 3] = ["show", "trend", "compare"];

#[test]
fn every_command_that_loads_a_library_does_so_in_the_cage() {
    let hostile = library("LOAD", "KILL");
    for line in LOADING {
        let words: Vec<&str> = line.split(' ').chain([hostile.as_str()]).collect();
        let done = ciphermark(&words, b"").with_code(2);
        let said = done.only_line_on_stderr();
        assert!(said.contains("confinement: the library called kill"), "{line}: {said}");
    }
    let names = |of: &str| -> Vec<String> {
        let help = call(&format!("{of} --help")).stdout;
        let listed = help.lines().skip_while(|l| *l != "Commands:").skip(1);
        let listed = listed.take_while(|l| !l.is_empty());
        let named = listed.filter_map(|l| l.strip_prefix("  ").filter(|l| !l.starts_with(' ')));
        named.map(|l| format!("{of} {}", l.split(' ').next().unwrap()).trim().to_owned()).collect()
    };
    for command in [names(""), names("tls")].concat() {
        let is_tried = LOADING.iter().any(|line| line.starts_with(&format!("{command} ")));
        let takes = call(&format!("{command} --help")).stdout.contains("NAME=PATH");
        let is_known = is_tried || CHOOSING.contains(&&*command) || command == "tls";
        assert!(is_known || !takes, "{command} loads libraries: say how in LOADING");
    }
}

/// As on kernels before 5.13: what no file is needed for.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn without_landlock_nothing_is_reached_but_files_that_are_read() {
    assert!(here(), "this kernel has no seccomp filter");
    let directory = scratch();
    let file = directory.path().join("mine");
    std::fs::write(&file, "kept").unwrap();
    for (deed, _) in DEEDS.iter().filter(|(deed, _)| !["READ", "PEEK"].contains(deed)) {
        for when in ["LOAD", "WORK"] {
            let without = [("CIPHERMARK_CONFINEMENT", "landlock")];
            let done = verify(&[library(when, deed)], &file, &without);
            let all = format!("{}{}", done.stdout, done.stderr);
            assert!(!all.contains("the deed succeeded"), "{when} {deed}: {done:?}");
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn nothing_is_written_at_home_or_among_temporary_files_and_a_record_is_the_schedulers_alone() {
    let directory = scratch();
    for file in ["home/.bashrc", "tmp/left"] {
        let path = directory.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        verify(&[library("WORK", "WRITE"), library("LOAD", "WRITE")], &path, &[]).with_code(1);
        assert!(!path.exists(), "{file}");
    }
    let record = directory.path().join("r.json");
    let writer = library("WORK", "WRITE");
    let run =
        ["run", "-a", "aes-128-ctr", "-s", "16", "-l", "openssl", "-l", &writer, "-d", "encrypt"];
    let arguments = [&run[..], &QUICK, &["-o", arg(&record)]].concat();
    ciphermark_with(&arguments, &given(&record)).with_code(3);
    let whole = read(&record);
    for (library, state) in [("openssl", "measured"), ("write", "refused")] {
        all_are(where_(rows(&whole, "measurements"), &[("library.name", library)]), state);
    }
}

#[test]
fn the_record_says_what_was_given_up_and_what_a_library_tried_while_it_was_loaded() {
    let record = record_of(&library("LOAD", "SERVICE"), &[]);
    let confinement = &record["libraries"][0]["confinement"];
    let names = |list: &str| -> Vec<String> {
        let all = confinement[list].as_array().into_iter().flatten();
        all.map(|r| text(r, "name").to_owned()).collect()
    };
    let given_up = [names("in_force"), names("missing")].concat();
    for name in ["limits", "no-new-privileges", "landlock", "capabilities", "seccomp"] {
        assert!(given_up.iter().any(|n| n == name), "{name}: {confinement}");
    }
    assert_eq!(confinement["denied"], serde_json::json!(["socket"]), "{confinement}");
    assert!(confinement["switched_off"].is_null(), "{confinement}");
    // Otherwise all code would run slower than it does elsewhere.
    assert!(!given_up.iter().any(|n| n == "speed"), "{confinement}");
}

#[test]
fn less_is_given_up_only_where_somebody_says_so_and_that_is_told() {
    let reader = library("WORK", "SERVICE");
    let record = record_of(&reader, &[("CIPHERMARK_CONFINEMENT", "seccomp")]);
    let confinement = &record["libraries"][0]["confinement"];
    assert!(text(confinement, "switched_off").starts_with("seccomp left out by"), "{confinement}");
    // The stand-in aborts where its deed succeeds.
    let row = &record["measurements"][0];
    assert!(text(row, "reason").contains("the deed succeeded"), "{row}");
    let done = verify(&[reader], Path::new("/"), &[("CIPHERMARK_CONFINEMENT", "none")]);
    let line = done.with_code(2).only_line_on_stderr().to_owned();
    assert!(line.contains("CIPHERMARK_CONFINEMENT is 'none'"), "{line}");
}

fn record_of(library: &str, variables: &[(&str, &str)]) -> Value {
    let run = ["run", "-a", "aes-128-ctr", "-s", "16", "-l", library, "-d", "encrypt"];
    let arguments = [&run[..], &QUICK, &["--format", "json"]].concat();
    let variables = [&[("CIPHERMARK_CACHE", "")], variables].concat();
    ciphermark_with(&arguments, &variables).json()
}

#[test]
fn descriptors_of_whoever_started_it_do_not_reach_a_library() {
    let directory = scratch();
    let file = directory.path().join("secret");
    std::fs::write(&file, "secret").unwrap();
    let object = fakes::object("grab_descriptor", "");
    // The shell leaves descriptor 9 open for whatever it starts.
    let script = format!(
        "exec 9<'{}'; exec '{}' verify --json -a aes-128-ctr -l 'd={}'",
        arg(&file),
        arg(program()),
        arg(&object)
    );
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(text(&rows[0], "state"), "passed", "{rows}");
}

// Files, servers and neighbours that mean no good: nothing of them runs outside of the cage, nothing is written where
// they say, nothing waits or grows without end, and nobody reads along.

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
