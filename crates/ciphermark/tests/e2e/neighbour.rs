//! Nobody learns what is not theirs: another user of the machine, who reads the directories of a command
//! while it runs and the process list; and what is made to be shared, which says nothing of who made it.

use crate::support::*;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PAGE: &str = "canary-of-a-page-5e1f";
const PASSWORD: &str = "canary-of-a-password-77ab";
const KEY: &str = "PRIVATE KEY-----";
const CONTROL: &str = "canary-of-a-control-90cd";

/// A process of user 65534 that looks for the canaries.
struct Neighbour {
    child: Child,
    stdin: Option<ChildStdin>,
    said: Arc<Mutex<Vec<String>>>,
    /// Two of one user would read each other's pipes empty.
    _alone: Lock,
}

impl Neighbour {
    /// `None`, with the reason printed, where nobody can be somebody else.
    fn beside(directories: &[&Path]) -> Option<Self> {
        if !rustix::process::getuid().is_root() {
            eprintln!("left out: only root can start a process of another user");
            return None;
        }
        let alone = lock("neighbour");
        let script = include_str!("neighbour.py");
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "python3", "-c", script]);
        // The system's Python: root's own is behind doors that are closed to others.
        command.current_dir("/").env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let told = json!({
            "directories": directories.iter().map(|d| arg(d)).collect::<Vec<_>>(),
            "canaries": {"page": PAGE, "password": PASSWORD, "key": KEY, "control": CONTROL},
        });
        writeln!(stdin, "{told}").unwrap();
        let said = Arc::new(Mutex::new(Vec::new()));
        let (lines, all) = (BufReader::new(child.stdout.take().unwrap()), Arc::clone(&said));
        std::thread::spawn(move || {
            lines.lines().map_while(Result::ok).for_each(|line| all.lock().unwrap().push(line));
        });
        let mut neighbour = Self { child, stdin: Some(stdin), said, _alone: alone };
        neighbour.wait_for("ready");
        Some(neighbour)
    }

    fn wait_for(&mut self, what: &str) {
        wait_until(&format!("the neighbour says {what}"), 120, || {
            let has_ended = self.stdin.is_some() && self.child.try_wait().unwrap().is_some();
            assert!(!has_ended, "the neighbour ended: {:?}", self.said);
            self.said.lock().unwrap().iter().any(|line| line.starts_with(what))
        });
    }

    fn wait_for_opening(&self, file: &Path) {
        let (file, fds) = (file.canonicalize().unwrap(), format!("/proc/{}/fd", self.child.id()));
        wait_until("the neighbour opens a public file", 120, || {
            let mut all = std::fs::read_dir(&fds).unwrap().flatten();
            all.any(|fd| std::fs::read_link(fd.path()).is_ok_and(|open| open == file))
        });
    }

    /// Ends it after it has seen what everybody may read. Demands that it saw nothing else.
    fn saw_nothing_but_a_control(mut self, place: &Path) {
        let public = place.join("public");
        let file = std::fs::File::options().write(true).create_new(true).mode(0o644).open(&public);
        let mut file = file.unwrap();
        self.wait_for_opening(&public);
        // What was opened before is read, though nobody else may open it now.
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).unwrap();
        file.write_all(CONTROL.as_bytes()).unwrap();
        let mut process = Command::new("sleep").arg("600").arg0(CONTROL).spawn().unwrap();
        self.wait_for(&format!("saw control in /proc/{}/cmdline", process.id()));
        process.kill().unwrap();
        process.wait().unwrap();
        drop(self.stdin.take());
        assert!(self.child.wait().unwrap().success());
        self.wait_for("{");
        self.wait_for(&format!("saw control in {}", arg(&public)));
        let said = self.said.lock().unwrap();
        let tried: Value = serde_json::from_str(said.last().unwrap()).unwrap();
        assert!(number(&tried, "files") > 1.0 && number(&tried, "processes") > 10.0, "{tried}");
        let seen: Vec<&String> = said
            .iter()
            .filter(|line| line.starts_with("saw ") && !line.starts_with("saw control"))
            .collect();
        assert!(seen.is_empty(), "{seen:#?}");
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Directories that everybody may enter, as a shared machine's are.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(scratch());
        for name in ["", "tmp", "store", "home", "out", "stage"] {
            let path = place.path(name);
            std::fs::create_dir_all(&path).unwrap();
            let mode = if name == "tmp" { 0o1777 } else { 0o755 };
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file that is its owner's alone.
    fn secret(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        let mut options = std::fs::File::options();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&path).unwrap();
        file.write_all(bytes).unwrap();
        arg(&path).to_owned()
    }

    fn neighbour(&self) -> Option<Neighbour> {
        Neighbour::beside(&[self.0.path(), Path::new("/dev/shm")])
    }

    /// A command with its temporary files and its home in these directories, under a mask that hides nothing.
    fn call(&self, line: &str, variables: &[(&str, &str)]) -> Done {
        let mut command = Command::new("sh");
        command.args(["-c", "umask 022; exec \"$0\" \"$@\""]).arg(program());
        command.args(line.split_whitespace());
        command.env("TMPDIR", self.path("tmp")).env("HOME", self.path("home"));
        command.env("CIPHERMARK_BUNDLED", "").env("CIPHERMARK_CACHE", "");
        command.envs(variables.iter().copied());
        Background::of(command).ends_within(Duration::from_secs(300))
    }
}

/// Pages with the canary in each sector, and bytes without sense between.
fn pages() -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let sector = |_| {
        let mut sector: Vec<u8> = (0..512).map(|_| byte()).collect();
        sector[8..][..PAGE.len()].copy_from_slice(PAGE.as_bytes());
        sector
    };
    (0..4096).flat_map(sector).collect()
}

#[test]
#[ignore = "long: a second user watches for seconds"]
fn another_user_reads_no_page_while_a_store_is_tried_decrypted_and_timed() {
    let place = Place::new();
    let store = place.secret("store/image", &pages());
    let Some(neighbour) = place.neighbour() else { return };
    let (copy, record) = (place.path("out/copy"), place.path("out/r.json"));
    let what = "-l openssl -s aes-256-gcm --budget 1s --pages 32";
    let stage = arg(&place.path("stage")).to_owned();
    let line = format!("pages {store} {what} --scratch {stage} -o {}", arg(&record));
    place.call(&format!("{line} --decrypt-to {}", arg(&copy)), &[]).with_code(0);
    assert!(std::fs::read(&copy).unwrap() == pages());
    neighbour.saw_nothing_but_a_control(place.0.path());
}

#[test]
#[ignore = "long: a second user watches for seconds"]
fn another_user_reads_no_password_and_no_key() {
    let place = Place::new();
    place.secret("home/.pgpass", format!("*:*:*:me:{PASSWORD}\n").as_bytes());
    // Something for the process list to be read by.
    let psql = place.secret("tmp/psql", b"#!/bin/sh\nsleep 1\nexit 1\n");
    std::fs::set_permissions(&psql, std::fs::Permissions::from_mode(0o755)).unwrap();
    let Some(neighbour) = place.neighbour() else { return };
    let path = format!("{}:{}", arg(&place.path("tmp")), std::env::var("PATH").unwrap());
    let asked = "advise --for postgres --from postgresql://me@127.0.0.1/x";
    for variables in [&[("PATH", &*path)][..], &[("PATH", &*path), ("PGPASSWORD", PASSWORD)]] {
        place.call(asked, variables).with_code(4);
    }
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        // Lets each client wait for a second.
        server.incoming().for_each(|client| {
            std::thread::sleep(Duration::from_secs(1));
            drop(client);
        });
    });
    let list = format!("archive list postgres://me@127.0.0.1:{port}/x");
    if cfg!(feature = "postgres") {
        place.call(&list, &[]).with_code(4);
        place.call(&list, &[("PGPASSWORD", PASSWORD)]).with_code(4);
    }
    let handshake =
        "tls handshake -l openssl -x x25519 -c p256 -k full -V 1.3 --temperature hot --budget 1s";
    let done = place.call(&format!("{handshake} --precision 50%"), &[]);
    assert!([0, 3].contains(&done.code), "{done:?}");
    neighbour.saw_nothing_but_a_control(place.0.path());
}

#[test]
#[ignore = "long: a real nginx"]
fn another_user_reads_no_key_of_a_server_that_is_calibrated_and_loaded() {
    let cpus = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
    if ciphermark::server::find_nginx(None).is_err() || !cpus {
        eprintln!("left out: there is no nginx, or only one CPU");
        return;
    }
    let place = Place::new();
    let Some(neighbour) = place.neighbour() else { return };
    let (calibration, validation) = (place.path("out/c.json"), place.path("out/v.json"));
    let short = "--regime steady --rounds 1 --visit 10ms --budget 10m";
    let calibrate = format!("tls calibrate {short} -o {}", arg(&calibration));
    place.call(&calibrate, &[]).with_code(0);
    let load = format!("tls load --validate --part resumption {short} -o {}", arg(&validation));
    let done = place.call(&load, &[]);
    // Whether the model holds hangs on the machine's other work.
    assert!([0, 1, 4].contains(&done.code), "{done:?}");
    neighbour.saw_nothing_but_a_control(place.0.path());
}

/// No name of a file or of a word in any other text.
const PERSON: &str = "zoe-canary";

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    entries.flat_map(of).collect()
}

fn has_person(bytes: &[u8]) -> bool {
    bytes.windows(PERSON.len()).any(|window| window == PERSON.as_bytes())
}

#[test]
#[ignore = "long: measures for seconds"]
fn records_pages_tables_and_archives_name_the_home_directory_by_a_tilde_and_are_read_again() {
    let directory = scratch();
    let home = directory.path().join(PERSON);
    std::fs::create_dir_all(home.join("lib")).unwrap();
    std::fs::create_dir(home.join("shared")).unwrap();
    let library = home.join("lib/libcrypto.so.3");
    std::fs::copy(system_libraries().join("libcrypto.so.3"), &library).unwrap();
    let home = arg(&home);
    let ended = |line: &str, code: i32| {
        let line = line.replace("~/", &format!("{home}/"));
        call_with(&line, &[("HOME", home), ("CIPHERMARK_CACHE", "")]).with_code(code)
    };
    let at_home = |line: &str| ended(line, 0);
    let run = "run -l openssl=~/lib/libcrypto.so.3 -a aes-256-gcm -s 512,8K,32K --no-evidence -q";
    at_home(&format!("{run} --precision 50% --budget 200s -o ~/shared/r.json"));
    let image: Vec<u8> = (0..64_u32 << 10).map(|i| ((i * i) >> 3) as u8).collect();
    std::fs::write(format!("{home}/image"), image).unwrap();
    for line in [
        "pages ~/image -l openssl=~/lib/libcrypto.so.3 -s aes-256-gcm --media none --probes 0 -o ~/shared/p.json",
        "pages ~/shared/p.json --format markdown",
        "report ~/shared/r.json -o ~/shared/r.html",
        "export ~/shared/r.json --format csv -o ~/shared/r.csv",
        "export ~/shared/r.json --format parquet -o ~/shared/r.parquet",
        "archive add ~/shared/a.db ~/shared/r.json --machine m7i",
        "report --from ~/shared/a.db -o ~/shared/site",
    ] {
        at_home(line);
    }
    let record = format!("{home}/shared/r.json");
    let told = [
        at_home("compare ~/shared/r.json ~/shared/r.json --format json"),
        at_home("show ~/shared/r.json --format markdown"),
        at_home("explain -l openssl=~/lib/libcrypto.so.3 -a aes-256-gcm --json"),
    ];
    for done in &told {
        assert!(!has_person(&done.bytes), "{}", done.stdout);
    }
    let all = files_below(Path::new(home));
    let named: Vec<&PathBuf> =
        all.iter().filter(|f| has_person(&std::fs::read(f).unwrap())).collect();
    assert!(named.is_empty() && all.len() > 6, "{named:?}");
    let whole = read(Path::new(&record));
    assert_eq!(whole["libraries"][0]["path"], "~/lib/libcrypto.so.3");
    assert!(whole["tool"]["command"].as_array().unwrap().contains(&json!("~/shared/r.json")));

    // The file is found again, and its build is the same.
    let stale = |code: &str| {
        // Of one algorithm: most candidates are missing.
        let done = ended("advise ~/shared/r.json --for backup -s 8K --format json", 3);
        let stale = done.json()["basis"]["stale"].clone();
        assert_eq!(stale != Value::Array(Vec::new()), !code.is_empty(), "{stale}");
        assert!(stale.to_string().contains(code), "{stale}");
    };
    stale("");
    std::fs::remove_file(&library).unwrap();
    stale("there is no ~/lib/libcrypto.so.3 here");
}
