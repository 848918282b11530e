//! What a library's code can do in a worker: nothing but compute. Stand-ins reach for more, while they are loaded and with
//! each message; each deed fails, is named where a system call shows it, and costs only its own library.

use crate::support::*;
use serde_json::Value;
use std::path::Path;

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
