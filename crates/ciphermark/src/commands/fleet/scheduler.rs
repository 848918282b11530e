//! What is asked of Slurm or Kubernetes, through their own programs, with a deadline and a bound.

use crate::error::Failure;
use crate::fleet;
use crate::fleet::{Fleet, Job, Machine, Phase, Seen, kubernetes, slurm};
use serde_json::Value;
use std::process::{Command, Output};
use std::time::Duration;

/// Seconds that `srun` waits for a node that should be idle.
const IMMEDIATE: &str = "--immediate=60";
/// Prints a job's hash and record; `$0` is its directory.
const SEND: &str = r#"cat "$0/record.json.sha256" "$0/record.json""#;

/// A scheduler.
pub enum Cluster<'a> {
    /// By `sbatch`, `srun`, `scontrol`, `sinfo`, `squeue`, `scancel`.
    Slurm(&'a Fleet, &'a fleet::Slurm),
    /// By `kubectl`.
    Kubernetes(&'a Fleet, &'a fleet::Kubernetes),
}

/// A record as its node sent it.
pub struct Sent {
    /// What the node says is its SHA-256, in hexadecimal.
    pub sha256: String,
    /// Its bytes.
    pub record: Vec<u8>,
    /// Which node.
    pub node: Option<String>,
}

impl<'a> Cluster<'a> {
    /// The one that the file names.
    pub fn of(fleet: &'a Fleet) -> Self {
        match (fleet.engine, &fleet.slurm, &fleet.kubernetes) {
            (fleet::Engine::Slurm, Some(slurm), _) => Self::Slurm(fleet, slurm),
            (fleet::Engine::Kubernetes, _, Some(kubernetes)) => Self::Kubernetes(fleet, kubernetes),
            _ => unreachable!("a file without its engine's table is refused"),
        }
    }

    /// What `plan` calls a type's file.
    pub fn file_name(&self, machine: &Machine) -> String {
        match self {
            Self::Slurm(..) => format!("{}.sh", machine.slug()),
            Self::Kubernetes(..) => format!("{}.yaml", machine.slug()),
        }
    }

    /// What stands before a file where all of them are printed.
    pub fn heading(&self, file: &str) -> String {
        match self {
            Self::Slurm(..) => format!("### {file}\n"),
            // The whole is what `kubectl apply -f -` takes.
            Self::Kubernetes(..) => "---\n".to_owned(),
        }
    }

    /// The script or the manifest of a type's job.
    pub fn text(&self, machine: &Machine, seed: u64) -> String {
        match self {
            Self::Slurm(fleet, slurm) => slurm::script(fleet, slurm, machine, seed),
            Self::Kubernetes(fleet, kubernetes) => {
                kubernetes::manifest(fleet, kubernetes, machine, seed)
            }
        }
    }

    /// Submits a type's job; the engine's name for it, or why it was refused.
    pub fn submit(&self, machine: &Machine, seed: u64) -> Result<Result<String, String>, Failure> {
        let text = self.text(machine, seed);
        match self {
            Self::Slurm(fleet, _) => {
                let name = fleet.job_name(machine);
                // One that was submitted before this program was killed.
                let queued =
                    call("squeue", &["--noheader", "--me", "--name", &name, "--format=%i"], "")?;
                let queued = queued.text();
                if let Some(id) = queued.lines().next().map(str::trim).filter(|id| !id.is_empty()) {
                    return Ok(Ok(id.to_owned()));
                }
                let done = call("sbatch", &["--parsable"], &text)?;
                let id = done.text().trim().split(';').next().unwrap_or_default().to_owned();
                let is_taken = done.success && !id.is_empty();
                Ok(if is_taken { Ok(id) } else { Err(slurm::refusal(machine, &done.stderr)) })
            }
            Self::Kubernetes(fleet, _) => {
                let name = fleet.job_name(machine);
                // One that failed: a job's pods cannot be changed.
                let gone = self
                    .kubectl(&["delete", "job", &name, "--ignore-not-found", "--wait=true"], "")?;
                if !gone.success {
                    return Ok(Err(kubernetes::refusal(&gone.stderr)));
                }
                let done = self.kubectl(&["apply", "-f", "-"], &text)?;
                Ok(if done.success { Ok(name) } else { Err(kubernetes::refusal(&done.stderr)) })
            }
        }
    }

    /// How far each job is.
    pub fn look(&self, jobs: &[(&Machine, &Job)]) -> Result<Vec<Seen>, Failure> {
        match self {
            Self::Slurm(..) => jobs.iter().map(|(_, job)| look_at(job)).collect(),
            Self::Kubernetes(fleet, _) if !jobs.is_empty() => {
                let listed = self.list(fleet)?;
                let seen = |(machine, _): &(&Machine, &Job)| {
                    let job = fleet.job_name(machine);
                    let blind = kubernetes::seen(&listed, &job, machine, None);
                    // Only of a job that waits it matters which nodes there are.
                    let nodes =
                        (blind.phase == Phase::Waiting).then(|| self.nodes(machine)).flatten();
                    nodes.map_or(blind, |nodes| {
                        kubernetes::seen(&listed, &job, machine, Some(nodes))
                    })
                };
                Ok(jobs.iter().map(seen).collect())
            }
            Self::Kubernetes(..) => Ok(Vec::new()),
        }
    }

    /// Brings a job's record.
    pub fn fetch(&self, machine: &Machine, job: &Job) -> Result<Result<Sent, String>, Failure> {
        match self {
            Self::Slurm(fleet, slurm) => {
                let directory = slurm::directory(fleet, slurm, machine, job.seed);
                let nodes = match &job.node {
                    Some(node) => vec![node.clone()],
                    None => candidates(machine)?,
                };
                let mut why = "no node of this type answers".to_owned();
                for node in nodes {
                    let done = srun(slurm, &node, &["sh", "-c", SEND, &directory])?;
                    match sent(&done, Some(node.clone())) {
                        Ok(sent) => return Ok(Ok(sent)),
                        Err(said) => why = format!("{node}: {said}"),
                    }
                }
                Ok(Err(why))
            }
            Self::Kubernetes(fleet, _) => {
                let listed = self.list(fleet)?;
                let pod = kubernetes::pod(&listed, &fleet.job_name(machine)).map(kubernetes::name);
                let Some(pod) = pod else { return Ok(Err("its pod is gone".to_owned())) };
                let directory = kubernetes::directory(job.seed);
                let done = self.kubectl(
                    &["exec", pod, "-c", "hold", "--", "sh", "-c", SEND, &directory],
                    "",
                )?;
                Ok(sent(&done, None))
            }
        }
    }

    /// Lets go of a job whose record is here.
    pub fn release(&self, machine: &Machine, job: &Job) -> Result<(), Failure> {
        if let Self::Kubernetes(fleet, _) = self {
            let listed = self.list(fleet)?;
            let pod = kubernetes::pod(&listed, &fleet.job_name(machine)).map(kubernetes::name);
            let fetched = format!("{}/fetched", kubernetes::directory(job.seed));
            // The pod may end before the answer comes.
            pod.map(|pod| self.kubectl(&["exec", pod, "-c", "hold", "--", "touch", &fetched], ""))
                .transpose()?;
        }
        Ok(())
    }

    /// Cancels a job. One that the engine does not know any more is cancelled.
    pub fn cancel(&self, machine: &Machine, id: &str) -> Result<(), Failure> {
        let done = match self {
            Self::Slurm(..) => call("scancel", &[id], "")?,
            Self::Kubernetes(fleet, kubernetes) => {
                let name = fleet.job_name(machine);
                let what =
                    if kubernetes.volume.is_some() { "job,persistentvolumeclaim" } else { "job" };
                self.kubectl(&["delete", what, &name, "--ignore-not-found", "--wait=false"], "")?
            }
        };
        let is_over = ["Invalid job id", "already completing or completed"];
        if done.success || is_over.iter().any(|words| done.stderr.contains(words)) {
            return Ok(());
        }
        Err(Failure::not_done(match self {
            Self::Slurm(..) => slurm::refusal(machine, &done.stderr),
            Self::Kubernetes(..) => kubernetes::refusal(&done.stderr),
        }))
    }

    /// kubectl in the file's context and namespace.
    fn kubectl(&self, arguments: &[&str], input: &str) -> Result<Done, Failure> {
        let Self::Kubernetes(_, kubernetes) = self else { unreachable!("Slurm has no kubectl") };
        let mut all = Vec::new();
        kubernetes.context.iter().for_each(|context| all.extend(["--context", context]));
        kubernetes.namespace.iter().for_each(|namespace| all.extend(["--namespace", namespace]));
        all.extend(arguments);
        call("kubectl", &all, input)
    }

    /// The survey's jobs and pods.
    fn list(&self, fleet: &Fleet) -> Result<Value, Failure> {
        let labels = format!("app=ciphermark,survey={}", fleet.survey);
        let done = self.kubectl(&["get", "jobs,pods", "-l", &labels, "-o", "json"], "")?;
        if !done.success {
            return Err(Failure::not_done(kubernetes::refusal(&done.stderr)));
        }
        record::value_from_json(&done.stdout)
            .map_err(|e| Failure::not_done(format!("kubectl printed no JSON: {e}")))
    }

    /// The nodes of a type, if the user may see nodes.
    fn nodes(&self, machine: &Machine) -> Option<kubernetes::Nodes> {
        let Self::Kubernetes(_, kubernetes) = self else { return None };
        let label = format!("{}={}", kubernetes.label, machine.selector());
        let done = self.kubectl(&["get", "nodes", "-l", &label, "-o", "json"], "").ok()?;
        let listed = record::value_from_json(&done.stdout).ok().filter(|_| done.success)?;
        Some(kubernetes::Nodes::of(&listed))
    }
}

fn look_at(job: &Job) -> Result<Seen, Failure> {
    let id = job.id.as_deref().unwrap_or_default();
    let done = call("scontrol", &["--oneliner", "show", "job", id], "")?;
    if let Some(seen) = slurm::seen(&done.text()).filter(|_| done.success) {
        return Ok(seen);
    }
    if done.stderr.contains("Invalid job id") {
        let words = "Slurm has forgotten it: `gather` looks for its record on the nodes".to_owned();
        return Ok(Seen { phase: Phase::Gone, words, node: job.node.clone() });
    }
    Err(Failure::not_done(format!("scontrol: {}", done.stderr.trim())))
}

/// Nodes that may have a job's record, where nobody noted which one ran it.
fn candidates(machine: &Machine) -> Result<Vec<String>, Failure> {
    let done = call("sinfo", &["--noheader", "--Node", "--format=%N %t %f"], "")?;
    Ok(slurm::candidates(machine, &done.text()))
}

/// Runs something on a node, in a step of a job of its own.
fn srun(slurm: &fleet::Slurm, node: &str, command: &[&str]) -> Result<Done, Failure> {
    let node = format!("--nodelist={node}");
    let mut all = vec![
        "--quiet",
        "--nodes=1",
        "--ntasks=1",
        "--input=none",
        "--job-name=ciphermark-gather",
        "--chdir=/",
        IMMEDIATE,
        &node,
    ];
    all.extend(slurm.options.iter().map(String::as_str));
    all.extend(command);
    call("srun", &all, "")
}

/// A hash, a line's end, and the record.
fn sent(done: &Done, node: Option<String>) -> Result<Sent, String> {
    if !done.success {
        let line = done
            .stderr
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("nothing was sent");
        return Err(line.trim().to_owned());
    }
    let line = done.stdout.iter().position(|byte| *byte == b'\n').ok_or("nothing was sent")?;
    let (sha256, rest) = done.stdout.split_at(line);
    let sha256 = String::from_utf8_lossy(sha256).into_owned();
    Ok(Sent { sha256, record: rest[1..].to_vec(), node })
}

// Runs the scheduler's own programs.

/// How long a scheduler's program may take: `srun` waits a minute for a node, and then brings a record.
const PATIENCE: Duration = Duration::from_secs(600);
/// Most bytes of what it prints: those of a record.
const MOST_BYTES: u64 = 1 << 30;

/// What a program did.
pub struct Done {
    /// Whether it succeeded.
    pub success: bool,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained of.
    pub stderr: String,
}

impl Done {
    /// What it printed, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { success: output.status.success(), stdout: output.stdout, stderr }
    }
}

/// Runs a program to its end, with this on its standard input.
pub fn call(program: &str, arguments: &[&str], input: &str) -> Result<Done, Failure> {
    let cannot = |e: std::io::Error| {
        Failure::not_done(match e.kind() {
            std::io::ErrorKind::NotFound => missing(program),
            _ => format!("cannot run {program}: {e}"),
        })
    };
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C");
    host::output(&mut command, input.as_bytes(), PATIENCE, MOST_BYTES)
        .map(Done::from)
        .map_err(cannot)
}

fn missing(program: &str) -> String {
    match program {
        "kubectl" => {
            "there is no kubectl here: install it, or run this where your cluster's is".to_owned()
        }
        _ => format!(
            "there is no {program} here: run this on a login node of the cluster, or install slurm-client"
        ),
    }
}
