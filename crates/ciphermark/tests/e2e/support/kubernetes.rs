//! A Kubernetes of a test's own, by `tests/kubernetes/cluster`: a node for each pretended machine type.

use super::{arg, program, repository};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

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

    /// A verb of the script.
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

    /// What kubectl prints.
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        let (path, configuration) = self.variables();
        let mut kubectl = Command::new(self.path("bin/kubectl"));
        kubectl.args(arguments).env("PATH", path).env("KUBECONFIG", configuration);
        let done = kubectl.output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "kubectl {arguments:?}: {errors}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Waits until something is so.
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
