//! A `PostgreSQL` cluster of a test's own, made by the system's packages: no network, a socket in a
//! directory that goes with the test.

use super::arg;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A cluster and the directory that it lives in.
pub struct Cluster {
    directory: tempfile::TempDir,
    binaries: PathBuf,
}

/// Where Debian's packages put the server's programs, the newest version first.
fn binaries() -> PathBuf {
    let all = std::fs::read_dir("/usr/lib/postgresql").expect("scripts/setup tests installs it");
    let mut found: Vec<PathBuf> = all.map(|e| e.unwrap().path().join("bin")).collect();
    found.retain(|bin| bin.join("initdb").is_file());
    found.sort();
    found.pop().expect("a version with its server")
}

impl Cluster {
    /// A cluster with a table that nobody has read yet, shut down.
    pub fn new() -> Self {
        // Not below the directory for temporary files of a user that the server's cannot enter.
        let directory = tempfile::tempdir().unwrap();
        let cluster = Self { directory, binaries: binaries() };
        cluster.give(cluster.directory.path());
        cluster.run("initdb", &["-D", arg(&cluster.data()), "-A", "trust", "-U", "postgres", "-N"]);
        cluster
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// A path beside it.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts the server on a data directory.
    pub fn start(&self, data: &Path) {
        let socket = arg(self.directory.path());
        let options = format!(
            "-c listen_addresses= -c unix_socket_directories={socket} -c fsync=off -c autovacuum=off"
        );
        let log = self.beside("log");
        let start =
            ["-w", "-s", "-t", "60", "-D", arg(data), "-l", arg(&log), "-o", &options, "start"];
        self.run("pg_ctl", &start);
    }

    /// Where a client finds it.
    #[cfg(feature = "postgres")]
    pub fn address(&self) -> String {
        format!("postgres://postgres@{}/postgres", arg(self.directory.path()).replace('/', "%2F"))
    }

    /// Stops it in order.
    pub fn stop(&self, data: &Path) {
        self.run("pg_ctl", &["-w", "-s", "-D", arg(data), "-m", "fast", "stop"]);
    }

    /// Runs one of the client's programs against the server.
    pub fn client(&self, program: &str, arguments: &[&str]) {
        let host = arg(self.directory.path());
        self.run(program, &[&["-h", host, "-U", "postgres"], arguments].concat());
    }

    /// Runs one of the server's programs as a user that it accepts.
    pub fn run(&self, program: &str, arguments: &[&str]) {
        let path = self.binaries.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        // A server that inherits a pipe keeps it open, and whoever reads it waiting.
        let errors = tempfile::tempfile().unwrap();
        let status = command
            .args(arguments)
            .current_dir(self.directory.path())
            .env("PGOPTIONS", "")
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(errors.try_clone().unwrap())
            .status()
            .unwrap();
        if !status.success() {
            use std::io::{Read as _, Seek as _};
            let (mut errors, mut said) = (errors, String::new());
            errors.rewind().unwrap();
            errors.read_to_string(&mut said).unwrap();
            panic!("{program} {arguments:?}: {status}: {said}");
        }
    }

    /// Gives a path to the user that the server runs as.
    pub fn give(&self, path: &Path) {
        if is_root() {
            let given = Command::new("chown").args(["-R", "nobody:nogroup", arg(path)]).status();
            assert!(given.unwrap().success());
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // A test that failed half-way leaves a server behind.
        for data in [self.data(), self.beside("copy")] {
            if data.join("postmaster.pid").exists() {
                let stop = ["-D", arg(&data), "-m", "immediate", "stop"].map(ToOwned::to_owned);
                let mut command = Command::new(if is_root() { "setpriv" } else { "true" });
                command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
                let _ = command.arg(self.binaries.join("pg_ctl")).args(stop).status();
            }
        }
    }
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}
