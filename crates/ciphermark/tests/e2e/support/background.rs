//! What goes on beside a test: a run that is watched and killed from outside; and servers of a test's own, on
//! this machine alone: PostgreSQL on a socket in the test's directory, Slurm with a daemon for each pretended
//! machine type (no systemd, no cgroups, no accounting), and Kubernetes by `tests/kubernetes/cluster` with a node
//! for each.

use crate::support::{Done, Running, arg, by_path, program, repository, running, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A call of the program that goes on by itself; killed when it is dropped.
pub struct Background {
    child: Option<Child>,
    _running: Running,
}

impl Background {
    pub fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(program());
        command.args(by_path(arguments)).env("CIPHERMARK_BUNDLED", "").env("CIPHERMARK_CACHE", "");
        Self::of(command)
    }

    /// Starts another command, without input and with its output kept.
    pub fn of(mut command: Command) -> Self {
        // Cargo's, which a run notes as what decides which code runs.
        command.env_remove("LD_LIBRARY_PATH").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let _running = running();
        Self { child: Some(command.spawn().unwrap()), _running }
    }

    /// Starts `run -o record` and waits until its journal holds some hundred samples. It has a
    /// precision to reach that no machine has.
    pub fn start_run(arguments: &[&str], record: &Path) -> Self {
        Self::start_kept(&[&["run"], arguments].concat(), record, "10m", 300)
    }

    /// The same of any command that keeps a journal, until it has so many lines.
    pub fn start_kept(command: &[&str], record: &Path, budget: &str, lines: usize) -> Self {
        let endless =
            ["--precision", "0.0001%", "--budget", budget, "-o", crate::support::arg(record)];
        let mut running = Self::start(&[command, &endless].concat());
        let journal = journal(record);
        running.wait_until("the journal has samples", || {
            std::fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() > lines)
        });
        running
    }

    pub fn id(&self) -> u32 {
        self.child().id()
    }

    pub fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits while the program goes on.
    pub fn wait_until(&mut self, what: &str, mut reached: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(120);
        while !reached() {
            assert!(Instant::now() < end, "never happened: {what}");
            if self.has_ended() {
                panic!("ended before {what}: {:?}", self.child.take().unwrap().wait_with_output());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until SIGTERM asks it to end in order.
    pub fn wait_until_it_watches(&mut self) {
        let id = self.id();
        self.wait_until("it watches for SIGTERM", || {
            let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t"));
            caught.is_some_and(|bits| u64::from_str_radix(bits, 16).unwrap() & (1 << 14) != 0)
        });
    }

    /// Waits for the end, which must come within this time.
    pub fn ends_within(self, time: Duration) -> Done {
        self.output_within(time).into()
    }

    /// The same of a program that may end however it likes.
    pub fn output_within(mut self, time: Duration) -> Output {
        let end = Instant::now() + time;
        while !self.has_ended() {
            assert!(Instant::now() < end, "still running after {time:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.child.take().unwrap().wait_with_output().unwrap()
    }

    fn has_ended(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    fn child(&self) -> &Child {
        self.child.as_ref().unwrap()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Where a run is kept while it goes on.
pub fn journal(record: &Path) -> PathBuf {
    PathBuf::from(format!("{}.partial", record.display()))
}

/// Samples in whole lines of the journal of a run.
pub fn samples_in_journal(record: &Path) -> usize {
    let text = std::fs::read_to_string(journal(record)).unwrap();
    text.split_inclusive('\n').filter(|l| l.contains(" {\"sample\"") && l.ends_with('\n')).count()
}

/// A journal's line with its checksum (ISO 3309, as gzip has it), bit by bit.
pub fn journal_line(json: &str) -> String {
    let bit = |crc: u32| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    let byte = |crc, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| bit(crc));
    format!("{:08x} {json}\n", !json.as_bytes().iter().fold(u32::MAX, byte))
}

/// The processes that this one has started and that live: `(pid, start time)`, which names a
/// process for good.
pub fn processes_below(parent: u32) -> Vec<(u32, String)> {
    let parent = parent.to_string();
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let fields = stat(pid)?;
        let alive = !["Z", "X"].contains(&fields[0].as_str());
        (alive && fields[1] == parent).then(|| (pid, fields[19].clone()))
    })
    .collect()
}

/// What the kernel says of a process: its state, its parent, …, as the 20th its start time.
pub fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before them, in parentheses, may hold anything.
    Some(stat.rsplit_once(") ")?.1.split(' ').map(ToOwned::to_owned).collect())
}

/// These, and those that they have started: a visit of a case has a process below a worker's.
pub fn descendants(parent: u32) -> Vec<u32> {
    let below = processes_below(parent);
    below.into_iter().flat_map(|(pid, _)| [vec![pid], descendants(pid)].concat()).collect()
}

/// A cluster and the directory that it lives in.
pub struct Cluster {
    directory: tempfile::TempDir,
    /// Where the server's programs are.
    pub binaries: PathBuf,
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

    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

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
        let mut command = Command::new(&path);
        if is_root() {
            command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(path);
        }
        // A server that inherits a pipe keeps it open, and whoever reads it waiting.
        let errors = tempfile::tempfile().unwrap();
        command.args(arguments).current_dir(self.directory.path()).env("PGOPTIONS", "");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors.try_clone().unwrap());
        let status = command.status().unwrap();
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

// A Slurm cluster of a test's own, made by the system's packages: one controller and a daemon for each pretended machine
// type, all on the loopback. No systemd, no cgroups, no accounting.

/// A cluster and the directory that it lives in.
pub struct SlurmCluster {
    directory: tempfile::TempDir,
    nodes: Vec<&'static str>,
}

/// Ports from here on: the controller's, then a node's each.
const PORT: usize = 17_000;

impl SlurmCluster {
    /// A cluster with a node of each of these types; of the types in `down` nobody answers.
    pub fn new(types: &[(&'static str, &str)], down: &[(&str, &str)]) -> Self {
        assert!(
            rustix::process::getuid().is_root(),
            "slurmd starts jobs for others: run this test as root"
        );
        for program in ["slurmctld", "slurmd", "munged"] {
            let found =
                ["/usr/sbin", "/usr/bin"].iter().any(|bin| Path::new(bin).join(program).is_file());
            assert!(found, "{program} is missing: `scripts/setup tests` installs it");
        }
        let directory = tempfile::tempdir().unwrap();
        let nodes = types.iter().map(|(node, _)| *node).collect();
        let cluster = Self { directory, nodes };
        for name in ["state", "log", "scratch"] {
            std::fs::create_dir(cluster.path(name)).unwrap();
        }
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(cluster.directory.path(), open).unwrap();
        std::fs::write(cluster.configuration(), cluster.text(&[types, down].concat())).unwrap();
        cluster.authenticate();
        cluster.start("slurmctld", &["-c"]);
        for node in &cluster.nodes {
            std::fs::create_dir_all(cluster.path("spool").join(node)).unwrap();
            cluster.start("slurmd", &["-N", node]);
        }
        cluster.wait_for("idle nodes", |c| {
            c.ask("sinfo", &["-h", "-N", "-o", "%t"]).matches("idle").count() == types.len()
        });
        cluster
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `SLURM_CONF`.
    pub fn configuration(&self) -> PathBuf {
        self.path("slurm.conf")
    }

    pub fn scratch(&self) -> PathBuf {
        self.path("scratch")
    }

    /// A requeued job waits for as long as credentials last, of which five seconds are the least.
    fn text(&self, nodes: &[(&str, &str)]) -> String {
        let directory = arg(self.directory.path());
        let mut text = format!(
            "ClusterName=fleet\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={PORT}\nSlurmUser=root\n\
             AuthType=auth/munge\nAuthInfo=socket={directory}/munge.socket,cred_expire=5\n\
             CommunicationParameters=NoInAddrAny,NoCtldInAddrAny\nProctrackType=proctrack/linuxproc\n\
             TaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nJobCompType=jobcomp/none\nSelectType=select/linear\n\
             SlurmdParameters=config_overrides\nMpiDefault=none\nReturnToService=1\nKillWait=2\n\
             SchedulerParameters=sched_interval=1,batch_sched_delay=0,defer_batch\nStateSaveLocation={directory}/state\n\
             SlurmdSpoolDir={directory}/spool/%n\nSlurmctldPidFile={directory}/slurmctld.pid\n\
             SlurmdPidFile={directory}/slurmd-%n.pid\nSlurmctldLogFile={directory}/log/slurmctld\n\
             SlurmdLogFile={directory}/log/%n\n"
        );
        for (i, (node, feature)) in nodes.iter().enumerate() {
            let port = PORT + 1 + i;
            let _ = writeln!(
                text,
                "NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=1000 Feature={feature}"
            );
        }
        text + "PartitionName=all Nodes=ALL Default=YES MaxTime=60 OverSubscribe=EXCLUSIVE\n"
    }

    fn authenticate(&self) {
        let key = self.path("munge.key");
        std::fs::write(&key, [7; 128]).unwrap();
        let own = std::os::unix::fs::PermissionsExt::from_mode(0o400);
        std::fs::set_permissions(&key, own).unwrap();
        let files = "key-file=munge.key socket=munge.socket pid-file=munged.pid log-file=log/munged \
            seed-file=munge.seed";
        let option = |option: &str| {
            let (name, file) = option.split_once('=').unwrap();
            format!("--{name}={}", arg(&self.path(file)))
        };
        let options: Vec<String> = files.split(' ').map(option).collect();
        let all: Vec<&str> = options.iter().map(String::as_str).collect();
        self.start("munged", &[&["--force", "--num-threads=2"], &all[..]].concat());
    }

    /// Starts a daemon, which goes into the background.
    fn start(&self, program: &str, arguments: &[&str]) {
        let mut daemon = self.command(program);
        let status = daemon.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let log = self.path("log");
        assert!(status.unwrap().success(), "{program} {arguments:?}: see {}", arg(&log));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.configuration());
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::null());
        command
    }

    pub fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        wait_until(what, 60, || is_so(self));
    }
}

impl Drop for SlurmCluster {
    fn drop(&mut self) {
        let daemons = self.nodes.iter().map(|node| format!("slurmd-{node}.pid"));
        for file in daemons.chain(["slurmctld.pid".to_owned(), "munged.pid".to_owned()]) {
            let Ok(pid) = std::fs::read_to_string(self.path(&file)) else { continue };
            let pid = pid.trim();
            let _ = Command::new("kill").arg(pid).stderr(Stdio::null()).status();
            let end = Instant::now() + Duration::from_secs(10);
            // Where nobody reaps them they stay as zombies.
            let lives = || stat(pid.parse().ok()?).filter(|fields| fields[0] != "Z");
            while lives().is_some() && Instant::now() < end {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Says that a test without Kubernetes fails, as `make test-kubernetes` does.
const NEEDED: &str = "CIPHERMARK_TEST_KUBERNETES";

/// A cluster and the directory that it lives in.
pub struct KubernetesCluster {
    directory: tempfile::TempDir,
}

impl KubernetesCluster {
    /// A cluster with a node of each of these types (`NODE=TYPE`); none where Kubernetes was not built.
    pub fn new(nodes: &[&str]) -> Option<Self> {
        let kube = program().ancestors().nth(2).unwrap().join("kubernetes/kube");
        if !kube.is_file() {
            assert!(std::env::var_os(NEEDED).is_none(), "{} is missing", arg(&kube));
            // Past the test runner, which keeps to itself what passing tests print.
            let said = "\nSKIPPED, there is no Kubernetes here: `make test-kubernetes` builds it and runs this test\n";
            std::io::stderr().write_all(said.as_bytes()).unwrap();
            return None;
        }
        let root = rustix::process::getuid().is_root();
        assert!(root, "the kubelet needs root: run this test as root");
        let cluster = Self { directory: tempfile::tempdir().unwrap() };
        let up = [&["up", arg(&kube), arg(program())], nodes].concat();
        cluster.run(&up);
        Some(cluster)
    }

    pub fn run(&self, words: &[&str]) {
        let script = repository("tests/kubernetes/cluster");
        let done = Command::new(script).arg(self.directory.path()).args(words).output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "cluster {words:?}: {errors}\n{}", self.logs());
    }

    /// The last lines of what its daemons said.
    fn logs(&self) -> String {
        let Ok(all) = std::fs::read_dir(self.path("log")) else { return String::new() };
        let end = |path: PathBuf| {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(5).collect();
            format!("{}:\n{}\n", path.display(), lines.join("\n"))
        };
        all.map(|entry| end(entry.unwrap().path())).collect()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `PATH` and `KUBECONFIG`.
    pub fn variables(&self) -> (String, String) {
        let path = format!("{}:{}", arg(&self.path("bin")), std::env::var("PATH").unwrap());
        (path, arg(&self.path("kubeconfig")).to_owned())
    }

    pub fn kubectl(&self, arguments: &[&str]) -> String {
        let (path, configuration) = self.variables();
        let mut kubectl = Command::new(self.path("bin/kubectl"));
        kubectl.args(arguments).env("PATH", path).env("KUBECONFIG", configuration);
        let done = kubectl.output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "kubectl {arguments:?}: {errors}");
        String::from_utf8(done.stdout).unwrap()
    }

    pub fn wait_for(&self, what: &str, mut is_so: impl FnMut(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(120);
        while !is_so(self) {
            let pods = || self.kubectl(&["get", "jobs,pods,events", "-o", "wide"]);
            assert!(Instant::now() < end, "never happened: {what}\n{}", pods());
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Journals with samples in them, on the volumes that pods claim.
    pub fn journals(&self) -> Vec<PathBuf> {
        let below = |path: &Path| -> Vec<PathBuf> {
            let found = std::fs::read_dir(path).into_iter().flatten();
            found.map(|entry| entry.unwrap().path()).collect()
        };
        let jobs = below(&self.path("volume")).into_iter().flat_map(|volume| below(&volume));
        let has_samples =
            |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|t| t.lines().count() > 8);
        jobs.map(|job| job.join("record.json.partial")).filter(has_samples).collect()
    }
}

impl Drop for KubernetesCluster {
    fn drop(&mut self) {
        let script = repository("tests/kubernetes/cluster");
        let _ = Command::new(script).arg(self.directory.path()).arg("down").output();
    }
}
