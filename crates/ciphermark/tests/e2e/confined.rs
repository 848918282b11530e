//! Strangers: a library's code does nothing in a worker but compute, each other deed fails, is named, and
//! costs only its own library; and of files, servers and archives that mean no good nothing runs outside of
//! the cage, waits or grows without end.

use crate::support::{fakes, *};
use rustix::process::Signal;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// What a stand-in does, and the system call that the reason names; none where the kernel refuses the call's
/// argument, which a library may go on without.
const DEEDS: [(&str, Option<&str>); 20] = [
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
    // What lies in such files counts as no process's memory.
    ("MEMORY_FILE", Some("memfd_create")),
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
    let chosen: String = libraries.iter().map(|library| format!(" -l {library}")).collect();
    let line = format!("verify --json -a aes-128-ctr{chosen}");
    call_with(&line, &[&given(file), more].concat())
}

/// A file that nothing may have touched, where the kernel has what these tests are about.
fn kept() -> (tempfile::TempDir, PathBuf) {
    let mechanisms = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail");
    assert!(mechanisms.is_ok_and(|all| all.contains("trap")), "this kernel has no seccomp filter");
    let directory = scratch();
    let file = PathBuf::from(written(&directory, "mine", "kept"));
    (directory, file)
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn each_deed_in_an_operation_fails_and_is_named_and_costs_its_own_library_alone() {
    let (_directory, file) = kept();
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
                says(text(row, "reason"), ["SIGSYS, forbidden system call"]);
            }
            Some(call) => {
                assert_eq!(text(row, "state"), "refused", "{row}");
                says(text(row, "reason"), ["confinement: the library called ", call]);
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
    let (_directory, file) = kept();
    for (deed, call) in DEEDS {
        let done = verify(&[library("LOAD", deed)], &file, &[]);
        let all = format!("{}{}", done.stdout, done.stderr);
        assert!(!all.contains("the deed succeeded"), "{deed}: {done:?}");
        if call.is_some_and(|call| HOSTILE.contains(&call)) {
            done.ends(2, [call.unwrap()]);
        } else {
            assert_eq!(done.code, 0, "{deed}: {done:?}");
            assert_eq!(text(&done.rows()[0], "state"), "passed", "{deed}");
        }
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
}

/// Each command that loads a library which it is told by its path, with what it needs to do so.
const LOADING: [&str; 15] = [
    "run -a aes-128-ctr -s 16 --budget 1s -l",
    "list algorithms -l",
    "verify -a aes-128-ctr -l",
    "leaks -a aes-128-ctr --budget 5s -l",
    "once -a aes-128-ctr --key 00112233445566778899aabbccddeeff --nonce 00112233445566778899aabbccddeeff -l",
    "advise --for tls-server --budget 1s -l",
    "claims --budget 1s -l",
    "explain -a aes-128-ctr -s 64 -l",
    "rank -a aes-128-ctr -s 64 --budget 1s -l",
    "pages --synthetic 1M --media none --budget 1s -l",
    "pair -a aes-128-ctr --budget 1s openssl",
    "tls handshake -x x25519 -c p256 -k full --budget 1s -l",
    "tls records --cipher aes-128-gcm -s 1K --budget 1s -l",
    "tls primitives -p x25519 --budget 1s -l",
    "tls calibrate --no-nginx --regime low --rounds 1 --visit 20ms --budget 5s -l",
];

/// Which choose among what a record has; `compare` measures that again, in workers.
const CHOOSING: [&str; 3] = ["show", "trend", "compare"];

#[test]
#[ignore = "long: seconds"]
fn every_command_that_loads_a_library_does_so_in_the_cage() {
    let hostile = library("LOAD", "KILL");
    for line in LOADING {
        refuses(&format!("{line} {hostile}"), &["confinement: the library called kill"]);
    }
    for command in commands(&["", "tls"]) {
        let is_tried = LOADING.iter().any(|line| line.starts_with(&format!("{command} ")));
        let takes = call(&format!("{command} --help")).stdout.contains("NAME=PATH");
        let is_known = is_tried || CHOOSING.contains(&&*command) || command == "tls";
        assert!(is_known || !takes, "{command} loads libraries: say how in LOADING");
    }
}

/// Each command that reads a file which it is told by its path, with FILE in the place of that.
const READING: [&str; 41] = [
    "run --suite FILE",
    "run --resume FILE",
    "run -a aes-128-ctr -s 16 -l x=FILE",
    "list libraries -l x=FILE",
    "verify -a aes-128-ctr -l x=FILE",
    "verify -a aes-128-ctr -t noaes -l x=FILE",
    "verify --vectors FILE",
    "leaks -a aes-128-ctr -l x=FILE",
    "once -a aes-128-ctr --key 00112233445566778899aabbccddeeff --nonce 00112233445566778899aabbccddeeff -l x=FILE",
    "show FILE",
    "export FILE --format csv",
    "import --from openssl-speed FILE",
    "advise FILE --for postgres",
    "advise --for postgres --record FILE",
    "advise --for tls-server --calibration FILE",
    "claims FILE",
    "explain FILE",
    "explain -a aes-128-ctr -s 16 -l x=FILE",
    "report FILE -o OUT",
    "report --from FILE -o OUT",
    "archive add FILE RECORD",
    "archive add STORE FILE --machine m",
    "archive list FILE",
    "archive check FILE",
    "archive remove FILE 0123",
    "trend FILE -a aes-256-gcm -s 16K",
    "rank FILE",
    "rank --from FILE",
    "compare FILE FILE",
    "compare --from FILE",
    "pages --resume FILE",
    "pair x=FILE openssl -a aes-128-ctr",
    "tls handshake -l x=FILE",
    "tls records --resume FILE",
    "tls primitives -l x=FILE",
    "tls calibrate --no-nginx -l x=FILE",
    "tls load FILE --calibration FILE",
    "tls why --spec FILE --calibration FILE",
    "run -a aes-128-ctr -s 16 -l x=runtime:FILE",
    "fleet plan FILE",
    "fleet status FILE",
];

/// Of whose arguments none is such a file, or which have tests of their own.
const NOT_READING: &str = "tls quietly cache archive doctor completions man pages watch";

#[test]
#[ignore = "long: takes ten seconds or more"]
fn whatever_lies_where_a_file_is_named_there_is_one_line_and_nothing_is_written() {
    let directory = scratch();
    let traps = directory.path().join("traps");
    std::fs::create_dir(&traps).unwrap();
    let trap = |name: &[u8]| traps.join(OsStr::from_bytes(name));
    std::os::unix::fs::symlink(trap(b"loop"), trap(b"loop")).unwrap();
    std::fs::create_dir(trap(b"directory")).unwrap();
    let _socket = UnixDatagram::bind(trap(b"socket")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", trap(b"endless")).unwrap();
    std::fs::write(trap(b"nested"), "[".repeat(2 << 20)).unwrap();
    let noise: Vec<u8> = (0..100_000_u64).map(|i| ((i * i) >> 7) as u8).collect();
    std::fs::write(trap(b"noise"), noise).unwrap();
    std::fs::write(trap(b"torn"), [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]).unwrap();
    std::fs::write(trap(b"named\xff.json"), "{").unwrap();
    std::fs::File::create(trap(b"holes")).unwrap().set_len(1 << 40).unwrap();
    let list = || -> Vec<_> {
        let all = std::fs::read_dir(&traps).unwrap().map(|e| e.unwrap().path());
        let mut all: Vec<_> =
            all.map(|path| (std::fs::symlink_metadata(&path).unwrap().len(), path)).collect();
        all.sort();
        all
    };
    let at_first = list();
    for (_, trap) in &at_first {
        for line in READING {
            let words = line.split(' ').map(|word| match word {
                "FILE" => trap.clone().into_os_string(),
                "x=FILE" => OsString::from_iter([OsStr::new("x="), trap.as_os_str()]),
                "x=runtime:FILE" => {
                    OsString::from_iter([OsStr::new("x=runtime:"), trap.as_os_str()])
                }
                "OUT" => file(&directory, "out.html").into(),
                "STORE" => file(&directory, "s.db").into(),
                "RECORD" => published().into(),
                _ => word.into(),
            });
            let mut command = Command::new(program());
            command.envs(PRIVATE).args(words).stdin(std::process::Stdio::null());
            let done = Background::of(command).ends_within(Duration::from_secs(120));
            assert!([2, 4].contains(&done.code), "{line} {}: {done:?}", trap.display());
            done.only_line_on_stderr();
            assert_eq!(list(), at_first, "{line}");
        }
    }
    for command in commands(&["", "tls", "archive"]) {
        let is_tried = READING.iter().any(|line| line.starts_with(&format!("{command} ")));
        let is_known = is_tried || NOT_READING.split(' ').any(|c| c == command);
        assert!(is_known, "{command}: say in READING what it reads");
    }
}

/// What a library is built to reach, watched from outside.
struct Outside {
    directory: tempfile::TempDir,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixDatagram,
    neighbour: Child,
    at_first: String,
}

impl Outside {
    fn new() -> Self {
        let directory = scratch();
        let place = directory.path().join("place");
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("kept"), "kept").unwrap();
        let unix = UnixDatagram::bind(directory.path().join("place.socket")).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        unix.set_nonblocking(true).unwrap();
        let neighbour = Command::new("sleep").arg("3600").spawn().unwrap();
        let mut outside = Self { directory, tcp, udp, unix, neighbour, at_first: String::new() };
        outside.at_first = outside.state_of_neighbour();
        outside
    }

    /// The stranger, which is a TLS stack besides.
    fn library(&self, defines: &[&str]) -> String {
        let object = self.directory.path().join(format!("stranger{}.so", defines.concat()));
        let mut cc = fakes::compiler(&object);
        cc.args(["-O2", "-I"]).arg(repository("include")).args(defines);
        cc.arg(format!("-DPLACE=\"{}/place\"", self.directory.path().display()));
        cc.arg(format!("-DPORT={}", self.tcp.local_addr().unwrap().port()));
        cc.arg(format!("-DPID={}", self.neighbour.id()));
        cc.arg(repository("tests/fakes/stranger.c")).arg("-Wl,--no-as-needed");
        let ssl = ["libssl.so.3", "libcrypto.so.3"].map(|name| system_libraries().join(name));
        fakes::succeed(cc.args(ssl));
        format!("stranger={}", arg(&object))
    }

    fn state_of_neighbour(&self) -> String {
        let read = |what: &str| {
            std::fs::read_to_string(format!("/proc/{}/{what}", self.neighbour.id())).unwrap()
        };
        let status = read("status");
        let cpus = status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap();
        let nice = stat(self.neighbour.id()).unwrap()[16].clone();
        format!("{cpus} {nice} {}", read("limits"))
    }

    /// Demands that nothing came of it, and that nothing of it is left. Without Landlock whoever may make connections of TCP
    /// may make any.
    fn is_untouched(&mut self, line: &str, connects: bool) {
        let place = self.directory.path().join("place");
        let names: Vec<_> =
            std::fs::read_dir(&place).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["kept"], "{line}");
        assert_eq!(std::fs::read_to_string(place.join("kept")).unwrap(), "kept", "{line}");
        let mut byte = [0];
        let none = |outcome: std::io::Result<()>| {
            outcome.is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock)
        };
        assert!(connects || none(self.tcp.accept().map(drop)), "{line}: TCP");
        assert!(none(self.udp.recv(&mut byte).map(drop)), "{line}: UDP");
        assert!(none(self.unix.recv(&mut byte).map(drop)), "{line}: a socket by its path");
        assert!(self.neighbour.try_wait().unwrap().is_none(), "{line}: a signal");
        assert_eq!(self.state_of_neighbour(), self.at_first, "{line}");
        let directory = arg(self.directory.path());
        let is_left = |entry: &std::fs::DirEntry| {
            let maps = std::fs::read_to_string(entry.path().join("maps")).unwrap_or_default();
            maps.contains(directory)
        };
        // What was sent a signal has gone when the kernel gives it a turn.
        wait_until(&format!("{line}: its processes end"), 10, || {
            !std::fs::read_dir("/proc").unwrap().flatten().any(|entry| is_left(&entry))
        });
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.neighbour.kill();
        let _ = self.neighbour.wait();
    }
}

const PRIVATE: [(&str, &str); 2] = [("CIPHERMARK_CACHE", ""), ("CIPHERMARK_BUNDLED", "")];

#[test]
#[ignore = "long: takes ten seconds or more"]
fn whatever_a_library_tries_while_it_is_there_nothing_outside_is_reached() {
    let mut outside = Outside::new();
    for library in [outside.library(&[]), outside.library(&["-DLOUD"])] {
        for without in ["on", "landlock"] {
            for line in LOADING {
                let cage = [("CIPHERMARK_CONFINEMENT", without)];
                let done = call_with(&format!("{line} {library}"), &[&PRIVATE[..], &cage].concat());
                assert!((0..=4).contains(&done.code), "{line}: {done:?}");
                let connects = without == "landlock" && line.starts_with("tls calibrate");
                outside.is_untouched(&format!("{line} {library}, {without} left out"), connects);
            }
        }
    }
}

/// The word lies in its memory.
#[test]
fn what_a_library_forks_ends_with_the_command_though_the_worker_died_before() {
    let mut outside = Outside::new();
    let library = outside.library(&["-DFORKING"]);
    for line in ["verify -a aes-128-ctr -l", "tls handshake -l", "tls calibrate --no-nginx -l"] {
        let done = call_with(&format!("{line} {library}"), &PRIVATE);
        // The word that it found in its memory.
        says(done.only_line_on_stderr(), ["42"]);
        outside.is_untouched(line, false);
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_library_that_waits_for_ever_is_given_up_by_every_command() {
    let mut outside = Outside::new();
    let kinds = ["-DHANGING=1", "-DHANGING=2", "-DHANGING=3"];
    let libraries = kinds.map(|when| outside.library(&[when]));
    // Each waits by itself.
    let all: Vec<_> = libraries
        .iter()
        .flat_map(|library| LOADING.map(|line| format!("{line} {library}")))
        .map(|line| (Background::start(&line.split(' ').collect::<Vec<_>>()), line))
        .collect();
    for (running, line) in all {
        let done = running.ends_within(Duration::from_secs(300));
        assert!((0..=4).contains(&done.code), "{line}: {done:?}");
    }
    outside.is_untouched("waits", false);
}

/// As on kernels before 5.13: what no file is needed for.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn without_landlock_nothing_is_reached_but_files_that_are_read() {
    let (_directory, file) = kept();
    // Another process's memory, where the kernel gives a namespace of users.
    let own_users = Command::new("unshare").args(["--user", "true"]).output();
    let peeks = !own_users.is_ok_and(|done| done.status.success());
    let is_left_out = |deed: &str| deed == "READ" || deed == "PEEK" && peeks;
    for (deed, _) in DEEDS.iter().filter(|(deed, _)| !is_left_out(deed)) {
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
#[ignore = "long: seconds"]
fn nothing_is_written_elsewhere_and_the_schedulers_record_says_what_was_given_up_and_tried() {
    let directory = scratch();
    for file in ["home/.bashrc", "tmp/left"] {
        let path = directory.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        verify(&[library("WORK", "WRITE"), library("LOAD", "WRITE")], &path, &[]).with_code(1);
        assert!(!path.exists(), "{file}");
    }
    let record = directory.path().join("r.json");
    let (writer, caller) = (library("WORK", "WRITE"), library("LOAD", "SERVICE"));
    let run = format!("run -a aes-128-ctr -s 16 -l {writer} -l {caller} -d encrypt --no-evidence");
    let run = format!("{run} {} -o {}", QUICK.join(" "), arg(&record));
    call_with(&run, &given(&record)).with_code(3);
    let whole = read(&record);
    for (library, state) in [("service", "measured"), ("write", "refused")] {
        all_are(where_(rows(&whole, "measurements"), &[("library.name", library)]), state);
    }
    let called = where_(rows(&whole, "libraries"), &[("name", "service")])[0];
    says_what_was_given_up_and_tried(&called["confinement"]);
}

fn says_what_was_given_up_and_tried(confinement: &Value) {
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
#[ignore = "long: seconds"]
fn less_is_given_up_only_where_somebody_says_so_and_that_is_told() {
    let reader = library("WORK", "SERVICE");
    let record = record_of(&reader, &[("CIPHERMARK_CONFINEMENT", "seccomp")]);
    let confinement = &record["libraries"][0]["confinement"];
    assert!(text(confinement, "switched_off").starts_with("seccomp left out by"), "{confinement}");
    // The stand-in aborts where its deed succeeds.
    let row = &record["measurements"][0];
    assert!(text(row, "reason").contains("the deed succeeded"), "{row}");
    let done = verify(&[reader], Path::new("/"), &[("CIPHERMARK_CONFINEMENT", "none")]);
    done.ends(2, ["CIPHERMARK_CONFINEMENT is 'none'"]);
}

fn record_of(library: &str, variables: &[(&str, &str)]) -> Value {
    let run = format!("run -a aes-128-ctr -s 16 -l {library} -d encrypt --format json");
    let variables = [&[("CIPHERMARK_CACHE", "")], variables].concat();
    call_with(&format!("{run} {}", QUICK.join(" ")), &variables).json()
}

#[test]
fn descriptors_of_whoever_started_it_do_not_reach_a_library() {
    let directory = scratch();
    let file = written(&directory, "secret", "secret");
    let object = fakes::object("grab_descriptor", "");
    // The shell leaves descriptor 9 open for whatever it starts.
    let script = format!(
        "exec 9<'{}'; exec '{}' verify --json -a aes-128-ctr -l 'd={}'",
        file,
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
fn audited(directory: &Path) -> (PathBuf, PathBuf) {
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
            let said = call(&line).ends(2, ["PGPASSWORD", "***"]).stderr;
            assert!(!said.contains("hunter2"), "{line}: {said}");
        }
    }
    let words = ["advise", "--for", "postgres", "--from", "host=x password = 'hunter2 it is'"];
    let done = ciphermark(&words, b"").with_code(2);
    assert!(!done.stderr.contains("hunter2"), "{done:?}");
}

/// `PATH` with a program of this name before all others.
fn with_program(directory: &tempfile::TempDir, name: &str, text: &str) -> String {
    script(directory, name, &format!("#!/bin/sh\n{text}\n"));
    format!("{}:{}", arg(directory.path()), std::env::var("PATH").unwrap())
}

/// Demands that a server which answers so is given up with these words.
fn is_given_up(psql: &str, words: &str) {
    let directory = scratch();
    let path = with_program(&directory, "psql", psql);
    let asked = ["advise", "--for", "postgres", "--from", "host=x dbname=y"];
    ciphermark_with(&asked, &[("PATH", &path)]).ends(4, [words]);
}

#[test]
fn a_server_that_answers_without_end_is_given_up() {
    is_given_up("exec cat /dev/zero", "it printed more than");
}

#[test]
#[ignore = "long: takes a minute"]
fn a_server_that_never_answers_is_given_up() {
    is_given_up("exec sleep 600", "it did not end within");
}

/// Pod Security Standards, "restricted"; and no name in a directory where others write.
#[test]
fn what_the_examples_run_on_other_machines_has_no_more_rights_than_it_needs() {
    let examples = |of: &str| -> Vec<String> {
        let all = std::fs::read_dir(repository(&format!("docs/examples/fleet/{of}"))).unwrap();
        all.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
    };
    let ansible = examples("ansible").concat();
    says(&ansible, ["mode: \"0700\""]);
    assert!(!ansible.contains("/tmp") && !ansible.contains("/dev/shm"), "{ansible}");
    // In a directory of everybody's there is nothing but the job's own directory.
    let jobs = examples("slurm").concat();
    assert_eq!(jobs.matches("--output=").count(), jobs.matches("--output=/dev/null\n").count());
    let pods = examples("kubernetes").concat();
    let pods_of = pods.matches("containers:").count();
    assert!(pods_of > 0, "{pods}");
    for wanted in ["runAsNonRoot: true", "seccompProfile: {type: RuntimeDefault}"] {
        assert!(pods.matches(wanted).count() >= pods_of, "{wanted}: {pods}");
    }
    let container =
        "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}";
    assert_eq!(pods.matches(container).count(), pods.matches("image:").count(), "{pods}");
    for refused in ["privileged: true", "hostPath", "hostNetwork: true", "hostPID: true"] {
        assert!(!pods.contains(refused), "{refused}: {pods}");
    }
}

/// What takes a hundred times the room when it is read, or a million times when it is unpacked.
#[test]
#[ignore = "long: seconds"]
fn a_small_file_that_unfolds_is_given_up_in_one_line() {
    let directory = scratch();
    let (record, store) = (file(&directory, "r.json"), file(&directory, "s.db"));
    let mut bomb = read(SAMPLE);
    // As a machine with little memory has it.
    let least = [("CIPHERMARK_MEMORY", "0.1"), ("CIPHERMARK_CACHE", "")];
    bomb["measurements"][0]["details"] = serde_json::json!("HERE");
    let text =
        bomb.to_string().replace("\"HERE\"", &format!("[{}0]", "{\"a\":0},".repeat(1 << 18)));
    std::fs::write(&record, text).unwrap();
    for line in [
        format!("show {record}"),
        format!("compare {record} {record}"),
        format!("archive add {store} {record} --machine m"),
        // What measures afterwards.
        format!("run -a aes-128-ctr -s 16 --budget 1s -o {record}"),
        format!("run --resume {record}"),
        format!("tls handshake --budget 1s -o {record}"),
    ] {
        call_with(&line, &least).ends(4, ["need more memory than is allowed"]);
    }
    let show = format!("show {record} --format json");
    call_with(&show, &PRIVATE).with_code(0);
    call_with(&show, &[("CIPHERMARK_MEMORY", "much")]).ends(2, ["CIPHERMARK_MEMORY is 'much'"]);
}

#[test]
fn an_argument_of_any_bytes_is_an_argument() {
    let directory = scratch();
    let record = directory.path().join(OsStr::from_bytes(b"r\xff.json"));
    let mut command = assert_cmd::Command::new(program());
    command.args(["import", "-", "-o"]).arg(&record);
    let speed = "+H:1024\n+F:25:AES-128-GCM:1875017600.00\n";
    let done = command.write_stdin(speed).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let typed = rows(&read(&record)["tool"], "command").last().unwrap().clone();
    assert!(typed.as_str().unwrap().ends_with("r\u{fffd}.json"), "{typed}");
}

/// What waits for a file that never comes ends, though the first signal only asks it to.
#[test]
fn a_second_signal_ends_a_command_wherever_it_waits() {
    let directory = scratch();
    let suite = file(&directory, "suite.toml");
    pipe(&suite);
    let mut running = Background::start(&["run", "--suite", &suite]);
    let id = running.id();
    running.wait_until_it_watches();
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
const STORES: [(&str, &str); 4] = [
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
];

#[test]
#[ignore = "long: seconds"]
fn an_archive_of_a_stranger_is_read_within_bounds_of_memory_or_refused_in_a_line() {
    let directory = scratch();
    let own = file(&directory, "own.db");
    call(&format!("archive add {own} {} --machine m", ladder())).with_code(0);
    let within_bounds = |line: &str| {
        let mut command = Command::new("prlimit");
        command.arg("--data=1610612736").arg(program()).args(line.split(' '));
        let done = command.output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let in_site = STORES.map(|(change, said)| (change, "report -o SITE --from", said));
    let doubts = "do('UPDATE record SET trust = ?, doubts = ?', 'doubtful', 'x' * (65 << 20))";
    let in_list = (doubts, "archive list --doubtful --why", "a field of more than 64 MiB");
    for (at, (change, read, said)) in in_site.into_iter().chain([in_list]).enumerate() {
        let (store, site) =
            (file(&directory, &format!("{at}.db")), file(&directory, &format!("{at}")));
        std::fs::copy(&own, &store).unwrap();
        std::os::unix::fs::symlink(format!("{own}.objects"), format!("{store}.objects")).unwrap();
        let script = format!(
            "import gzip, sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as db:\n    \
             do = lambda sql, *values: db.execute(sql, values)\n    {change}\ndb.close()"
        );
        let changed = Command::new("python3").args(["-c", &script, &store]).output().unwrap();
        assert!(changed.status.success(), "{changed:?}");
        let (code, why) = within_bounds(&format!("{} {store}", read.replace("SITE", &site)));
        assert!(code == Some(4) && why.contains(said) && why.lines().count() == 1, "{why}");
    }
    // Holes of a terabyte behind it.
    std::fs::File::options().write(true).open(&own).unwrap().set_len(1 << 40).unwrap();
    let (code, why) = within_bounds(&format!("archive list {own}"));
    assert!(code == Some(0), "{why}");
}

fn ends(line: &str) -> Done {
    let words: Vec<&str> = line.split(' ').collect();
    Background::start(&words).ends_within(Duration::from_secs(120))
}

/// What lies where an archive keeps its files is no record, and SQLite neither waits for it nor writes there.
#[test]
fn a_trap_in_an_archives_directory_is_named_at_once_and_left_as_it_is() {
    let directory = scratch();
    let (store, site) = (file(&directory, "s.db"), file(&directory, "site"));
    call(&format!("archive add {store} {} --machine m", ladder())).with_code(0);
    let folder = std::fs::read_dir(format!("{store}.objects")).unwrap().next().unwrap().unwrap();
    let object = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let (kept, victim) = (file(&directory, "kept"), directory.path().join("victim"));
    std::fs::rename(&object, &kept).unwrap();
    std::fs::write(&victim, "victim").unwrap();
    let fifo = |at: &Path| pipe(at);
    let link = |to: &str, at: &Path| std::os::unix::fs::symlink(to, at).unwrap();
    let holes = |at: &Path| std::fs::File::create(at).unwrap().set_len(1 << 40).unwrap();
    let endless = |at: &Path| link("/dev/zero", at);
    let elsewhere = |at: &Path| link(arg(&victim), at);
    let traps: [&dyn Fn(&Path); 4] = [&fifo, &endless, &elsewhere, &holes];
    for trap in traps {
        trap(&object);
        ends(&format!("archive check {store}")).with_code(1).says(["its file is lost"]);
        let done = ends(&format!("report --from {store} -o {site}")).with_code(4);
        let said = done.only_line_on_stderr();
        assert!(said.contains("no regular file") || said.contains("more than 1 GiB"), "{said}");
        std::fs::remove_file(&object).unwrap();
    }
    std::fs::rename(&kept, &object).unwrap();
    fifo(&Path::new(&format!("{store}.objects")).join("fifo"));
    ends(&format!("archive check {store}")).with_code(0).says(["fifo' belongs to no record"]);
    for suffix in ["-wal", "-shm", "-journal"] {
        let beside = PathBuf::from(format!("{store}{suffix}"));
        let _ = std::fs::remove_file(&beside);
        let traps: [&dyn Fn(&Path); 2] = [&fifo, &elsewhere];
        for trap in traps {
            trap(&beside);
            ends(&format!("archive list {store}")).ends(4, [suffix, "is no regular file"]);
            std::fs::remove_file(&beside).unwrap();
        }
    }
    // A journal that ends in another file's name has SQLite remove that file.
    let mut journal = vec![0; 512];
    journal.extend(arg(&victim).as_bytes());
    journal.extend([0; 8]);
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    let beside = format!("{store}-journal");
    std::fs::write(&beside, journal).unwrap();
    ends(&format!("archive list {store}")).ends(4, ["names another file"]);
    std::fs::remove_file(&beside).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "victim");
    call(&format!("archive list {store}")).with_code(0);
}

/// A provider of OpenSSL's that leaves a mark where it is loaded, and a configuration that names it.
fn planted(directory: &Path) -> (PathBuf, PathBuf) {
    let (mark, source) = (directory.join("ran"), directory.join("planted.c"));
    let text = format!(
        "#include <fcntl.h>\n\
         __attribute__((constructor)) static void mark(void) {{ open(\"{}\", O_CREAT | O_WRONLY, 0600); }}\n\
         int OSSL_provider_init(const void *h, const void *in, const void **out, void **c) {{ return 0; }}\n",
        mark.display()
    );
    std::fs::write(&source, text).unwrap();
    fakes::succeed(fakes::compiler(&directory.join("planted.so")).arg(source));
    let configuration = directory.join("planted.cnf");
    let text = "openssl_conf = all\n[all]\nproviders = list\n[list]\nplanted = it\ndefault = own\n\
                [it]\nactivate = 1\n[own]\nactivate = 1\n";
    std::fs::write(&configuration, text).unwrap();
    (configuration, mark)
}

/// What somebody else's script has left in the environment.
#[test]
fn a_provider_that_the_environment_plants_is_loaded_in_the_cage_alone() {
    let directory = scratch();
    let (configuration, mark) = planted(directory.path());
    let planted = [
        ("OPENSSL_CONF", arg(&configuration)),
        ("OPENSSL_MODULES", arg(directory.path())),
        ("SSLKEYLOGFILE", arg(&mark)),
        ("GCONV_PATH", arg(directory.path())),
        ("CIPHERMARK_CACHE", ""),
        ("CIPHERMARK_BUNDLED", ""),
    ];
    let openssl = format!("system={}", arg(&system_libraries().join("libcrypto.so.3")));
    let stack = format!("system={}", arg(&system_libraries().join("libssl.so.3")));
    // One of each: all commands load libraries through one door, as the test of the cage above shows.
    let words = ["verify", "-a", "aes-128-ctr", "-l", &openssl];
    let handshake = "tls handshake -x x25519 -c p256 -k full -V 1.3 --budget 1s -l";
    let handshake: Vec<&str> = handshake.split(' ').chain([stack.as_str()]).collect();
    for line in [&words[..], &handshake] {
        let done = ciphermark_with(line, &planted);
        assert!((0..=4).contains(&done.code), "{line:?}: {done:?}");
        assert!(!mark.exists(), "{line:?}: {done:?}");
    }
    ciphermark_with(&words, &[&planted[..], &[("CIPHERMARK_CONFINEMENT", "off")]].concat());
    assert!(mark.exists(), "without the cage it would have been seen");
}

#[test]
fn a_configuration_without_an_end_is_refused_in_a_line_before_anything_reads_it() {
    let directory = scratch();
    let at = |name: &str| directory.path().join(name);
    pipe(at("fifo"));
    std::fs::write(at("large"), vec![b'#'; 2 << 20]).unwrap();
    std::fs::write(at("includes"), format!(".include {}", arg(&at("fifo")))).unwrap();
    for path in [at("fifo"), at("large"), at("includes"), "/dev/zero".into()] {
        let done = call_with("verify -a aes-128-ctr -l openssl", &[("OPENSSL_CONF", arg(&path))]);
        done.ends(2, ["OPENSSL_CONF leads to '"]);
    }
}

/// `watch` reads what a process that may be anybody's says of itself.
#[test]
fn whatever_is_named_to_be_watched_there_is_an_answer_or_one_line() {
    let directory = scratch();
    let fifo = file(&directory, "fifo");
    pipe(&fifo);
    std::fs::set_permissions(&fifo, std::fs::Permissions::from_mode(0o700)).unwrap();
    for pid in ["0", "-1", "4294967296", "x"] {
        ends(&format!("watch --for 1s -p {pid}")).with_code(2).only_line_on_stderr();
    }
    ends("watch --for 1s -p 2147483647").with_code(4).only_line_on_stderr();
    let own = std::process::id();
    ends(&format!("watch --for 1s -o {fifo} -p {own}")).ends(4, ["fifo"]);
    ends(&format!("watch --for 1s -- {fifo}")).with_code(126);
    ends(&format!("watch --for 1s -- {}", arg(directory.path()))).with_code(126);
    if rustix::process::getuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program());
        command.args(["watch", "--for", "1s", "-p", &own.to_string()]).current_dir("/");
        Background::of(command).ends_within(Duration::from_secs(120)).ends(4, ["root may"]);
    }
}

/// `scripts/fetch-release`, of a release that is one file.
#[test]
fn a_release_is_taken_by_its_hash_or_by_who_built_it_and_else_not_at_all() {
    let directory = scratch();
    let at = |name: &str| directory.path().join(name);
    let file = format!("ciphermark-1.0.0-{}-linux.tar.xz", std::env::consts::ARCH);
    let release = at("releases/v1.0.0").join(file);
    std::fs::create_dir_all(release.parent().unwrap()).unwrap();
    std::fs::create_dir_all(at("ciphermark-1.0.0/bin")).unwrap();
    std::fs::write(at("ciphermark-1.0.0/bin/ciphermark"), "the program").unwrap();
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(directory.path()).arg("-cJf").arg(&release).arg("ciphermark-1.0.0");
    assert!(tar.status().unwrap().success());
    let summed = Command::new("sha256sum").arg(&release).output().unwrap().stdout;
    let right = String::from_utf8(summed).unwrap()[..64].to_owned();
    // Whether it is taken; who built it is asked only where there is a repository's name.
    let takes = |hash: &str, repository: &str, gh: &str| {
        let (place, path) = (at("fetched"), with_program(&directory, "gh", gh));
        let _ = std::fs::remove_dir_all(&place);
        let mut fetch = Command::new("sh");
        fetch.arg(crate::support::repository("scripts/fetch-release"));
        fetch.arg(format!("file://{}", at("releases").display())).arg("1.0.0").arg(&place);
        let done =
            fetch.arg(hash).env("PATH", path).env("REPOSITORY", repository).output().unwrap();
        let is_there = place.join("bin/ciphermark").is_file();
        assert_eq!(done.status.success(), is_there, "{done:?}");
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), usize::from(is_there), "{done:?}");
        is_there
    };
    let asked = format!("echo \"$@\" >'{}'", at("asked").display());
    assert!(takes(&right, "", "exit 1"));
    assert!(!takes(&"0".repeat(64), "me/ciphermark", "exit 0"), "a hash that is given must fit");
    assert!(!takes("", "", "exit 0"), "nobody says whose it is");
    assert!(!takes("", "me/ciphermark", "exit 1"), "somebody else's");
    assert!(takes("", "me/ciphermark", &asked));
    let asked = std::fs::read_to_string(at("asked")).unwrap();
    for word in ["attestation verify", "--repo me/ciphermark", "release.yml", "refs/tags/v1.0.0"] {
        says(&asked, [word]);
    }
}
