//! A Slurm cluster of a test's own, made by the system's packages: one controller and a daemon for each pretended machine
//! type, all on the loopback. No systemd, no cgroups, no accounting.

use super::{arg, stat};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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

    /// A directory of the nodes.
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
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o400))
            .unwrap();
        let option = |name: &str, file: &str| format!("--{name}={}", arg(&self.path(file)));
        self.start(
            "munged",
            &[
                "--force",
                &option("key-file", "munge.key"),
                &option("socket", "munge.socket"),
                &option("pid-file", "munged.pid"),
                &option("log-file", "log/munged"),
                &option("seed-file", "munge.seed"),
                "--num-threads=2",
            ],
        );
    }

    /// Starts a daemon, which goes into the background.
    fn start(&self, program: &str, arguments: &[&str]) {
        let status = self
            .command(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(
            status.unwrap().success(),
            "{program} {arguments:?}: see {}",
            arg(&self.path("log"))
        );
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("SLURM_CONF", self.configuration())
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        command.stdin(Stdio::null());
        command
    }

    /// What one of the cluster's programs prints.
    pub fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until something is so.
    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_so(self) {
            assert!(Instant::now() < end, "never happened: {what}");
            std::thread::sleep(Duration::from_millis(100));
        }
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
