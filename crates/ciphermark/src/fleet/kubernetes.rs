//! Kubernetes: the manifest of a job, and what the cluster's answers mean.

use crate::fleet::{self, Fleet, Machine, Phase, Seen, code, measure};
use base::text::flags::parse_duration;
use serde_json::Value;
use std::fmt::Write as _;

/// Nobody's on the node: no measurement of a survey needs the superuser, and the "restricted" profile refuses it.
const USER: u32 = 65_532;
/// What that profile asks of each container.
const CONTAINER: &str = "{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}";

/// Where a pod keeps journal and record.
pub fn directory(seed: u64) -> String {
    format!("/out/{seed}")
}

/// YAML takes strings as JSON writes them.
fn string(text: &str) -> String {
    Value::from(text).to_string()
}

fn block(script: &str, indent: usize) -> String {
    let mut text = String::new();
    for line in script.lines() {
        let _ = writeln!(text, "{:indent$}{line}", "");
    }
    text
}

/// The manifest of a type's job, for `kubectl apply`.
///
/// No limit of CPU: its quota would stop the clock's process in the middle of samples. The record leaves by `kubectl
/// exec`, which the second container waits for: the kubelet keeps 10 MiB of a log.
pub fn manifest(
    fleet: &Fleet,
    kubernetes: &fleet::Kubernetes,
    machine: &Machine,
    seed: u64,
) -> String {
    let name = fleet.job_name(machine);
    let labels = format!("{{app: ciphermark, survey: {}}}", string(&fleet.survey));
    let keep = keep(kubernetes);
    format!(
        r#"# Survey '{survey}' on a machine of type '{kind}', written by `ciphermark fleet plan`.
# Apply it with: kubectl apply -f FILE
{claim}apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
  labels: {labels}
spec:
  backoffLimit: 3
  activeDeadlineSeconds: {deadline}
  template:
    metadata:
      labels: {labels}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext: {{runAsNonRoot: true, runAsUser: {USER}, runAsGroup: {USER}, fsGroup: {USER}, seccompProfile: {{type: RuntimeDefault}}}}
      nodeSelector: {{{label}: {selector}}}
      tolerations: [{{key: ciphermark, operator: Exists}}]
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - {{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {{app: ciphermark}}}}}}
{containers}"#,
        survey = fleet.survey,
        kind = machine.name,
        claim = claim(kubernetes, &name, &labels),
        deadline = fleet.time().as_secs() + keep,
        label = string(&kubernetes.label),
        selector = string(machine.selector()),
        containers = containers(
            kubernetes,
            &name,
            &measure(fleet, seed, "ciphermark", &directory(seed)),
            seed
        ),
    )
}

/// Seconds that a finished pod waits.
fn keep(kubernetes: &fleet::Kubernetes) -> u64 {
    parse_duration(&kubernetes.keep).map_or(3600, |keep| keep.as_secs())
}

/// The first measures, the second keeps the record until it is fetched.
fn containers(kubernetes: &fleet::Kubernetes, name: &str, script: &str, seed: u64) -> String {
    let keep = keep(kubernetes);
    let hold = format!(
        "for second in $(seq {keep}); do\n  [ ! -e /out/{seed}/fetched ] || exit 0\n  sleep 1\ndone\n"
    );
    let volume = match &kubernetes.volume {
        Some(_) => format!("persistentVolumeClaim: {{claimName: {name}}}"),
        None => "emptyDir: {}".to_owned(),
    };
    format!(
        r#"      initContainers:
        - name: measure
          image: {image}
          command: [/bin/sh, -c]
          args:
            - |
{script}          resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}
          workingDir: /out
          securityContext: {CONTAINER}
          volumeMounts: [{{name: out, mountPath: /out}}]
      containers:
        - name: hold
          image: {image}
          command: [/bin/sh, -c]
          args:
            - |
{hold}          workingDir: /out
          securityContext: {CONTAINER}
          volumeMounts: [{{name: out, mountPath: /out}}]
      volumes:
        - name: out
          {volume}
"#,
        image = string(&kubernetes.image),
        cpu = string(&kubernetes.cpu),
        memory = string(&kubernetes.memory),
        script = block(script, 14),
        hold = block(&hold, 14),
    )
}

fn claim(kubernetes: &fleet::Kubernetes, name: &str, labels: &str) -> String {
    let Some(size) = &kubernetes.volume else { return String::new() };
    let class = kubernetes.storage_class.as_deref();
    let class =
        class.map(|class| format!("  storageClassName: {}\n", string(class))).unwrap_or_default();
    format!(
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata:\n  name: {name}\n  labels: {labels}\nspec:\n{class}  \
         accessModes: [ReadWriteOnce]\n  resources: {{requests: {{storage: {}}}}}\n---\n",
        string(size)
    )
}

pub fn refusal(said: &str) -> String {
    let has = |words: &str| said.contains(words);
    let line = said
        .lines()
        .rev()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("kubectl said nothing")
        .trim();
    let line = line.strip_prefix("Error from server ").unwrap_or(line);
    if has("orbidden") || has("Unauthorized") || has("must be logged in") {
        format!("no rights: {line}")
    } else if has("namespaces") && has("not found") {
        format!("no such namespace: {line}")
    } else if has("onnection refused")
        || has("Unable to connect")
        || has("no such host")
        || has("timed out")
    {
        format!("the cluster does not answer: {line}")
    } else if has("context") && has("does not exist") {
        format!("{line}: check `context` in [kubernetes]")
    } else {
        line.to_owned()
    }
}

/// Nodes with a type's label, of what `kubectl get nodes` lists as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    pub all: usize,
    pub ready: usize,
}

impl Nodes {
    pub fn of(listed: &Value) -> Self {
        let items = items(listed);
        let is_ready =
            |node: &&Value| condition(node, "Ready").is_some_and(|c| c["status"] == "True");
        Self { all: items.len(), ready: items.iter().filter(is_ready).count() }
    }
}

fn items(listed: &Value) -> &[Value] {
    listed["items"].as_array().map_or(&[], Vec::as_slice)
}

fn condition<'a>(of: &'a Value, kind: &str) -> Option<&'a Value> {
    of["status"]["conditions"].as_array()?.iter().find(|c| c["type"] == kind)
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The newest pod of a job, of what `kubectl get jobs,pods` lists as JSON.
pub fn pod<'a>(listed: &'a Value, job: &str) -> Option<&'a Value> {
    let own = |item: &&Value| {
        item["kind"] == "Pod"
            && (item["metadata"]["labels"]["job-name"] == job
                || item["metadata"]["labels"]["batch.kubernetes.io/job-name"] == job)
    };
    items(listed).iter().filter(own).max_by_key(|pod| text(pod, "/metadata/creationTimestamp"))
}

pub fn name(pod: &Value) -> &str {
    text(pod, "/metadata/name")
}

/// What the cluster says of a job. `nodes` are those of its type, where the user may see them.
pub fn seen(listed: &Value, job: &str, machine: &Machine, nodes: Option<Nodes>) -> Seen {
    let own = |item: &&Value| item["kind"] == "Job" && item["metadata"]["name"] == job;
    let Some(found) = items(listed).iter().find(own) else {
        return Seen::new(Phase::Gone, "the cluster does not know it any more");
    };
    let failed = condition(found, "Failed").filter(|c| c["status"] == "True");
    let pod = pod(listed, job);
    if let Some(why) = failed {
        let words = match text(why, "/reason") {
            "DeadlineExceeded" => "killed: it took longer than `time`".to_owned(),
            _ => pod.map_or_else(|| text(why, "/message").to_owned(), ended),
        };
        return Seen::new(Phase::Failed, words);
    }
    let Some(pod) = pod else { return Seen::new(Phase::Waiting, "waits for its pod") };
    let node = pod.pointer("/spec/nodeName").and_then(Value::as_str);
    of_pod(pod, machine, nodes).on(node)
}

fn of_pod(pod: &Value, machine: &Machine, nodes: Option<Nodes>) -> Seen {
    let on = format!(" on {}", text(pod, "/spec/nodeName"));
    let measure = "/status/initContainerStatuses/0/state";
    let waiting = text(pod, &format!("{measure}/waiting/reason"));
    if ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"]
        .contains(&waiting)
    {
        let image = text(pod, "/spec/initContainers/0/image");
        return Seen::new(
            Phase::Waiting,
            format!("waits: the node cannot pull the image '{image}' ({waiting})"),
        );
    }
    if ["CreateContainerError", "CreateContainerConfigError", "RunContainerError"]
        .contains(&waiting)
    {
        let why = text(pod, &format!("{measure}/waiting/message"));
        return Seen::new(Phase::Waiting, format!("waits: the container cannot start: {why}"));
    }
    match text(pod, "/status/phase") {
        "Pending" if pod.pointer(&format!("{measure}/running")).is_some() => {
            Seen::new(Phase::Running, format!("measures{on}"))
        }
        "Pending" => Seen::new(Phase::Waiting, unscheduled(pod, machine, nodes)),
        "Running" => Seen::new(Phase::Done, format!("done{on}: gather it")),
        "Succeeded" => Seen::new(
            Phase::Failed,
            "its pod ended before the record was gathered: raise `keep`".to_owned(),
        ),
        "Failed" => Seen::new(Phase::Waiting, format!("{}; it is tried again", ended(pod))),
        other => Seen::new(Phase::Waiting, format!("its node does not answer ({other})")),
    }
}

fn unscheduled(pod: &Value, machine: &Machine, nodes: Option<Nodes>) -> String {
    let why = condition(pod, "PodScheduled").filter(|c| c["status"] == "False");
    let Some(why) = why.map(|c| text(c, "/message")) else {
        return "waits for its container".to_owned();
    };
    let selector = machine.selector();
    match nodes {
        Some(Nodes { all: 0, .. }) => {
            format!("waits: unknown type, or none is up yet: no node is labelled '{selector}'")
        }
        Some(Nodes { ready: 0, .. }) => "waits: the nodes of this type are down".to_owned(),
        _ => format!("waits for a node: {why}"),
    }
}

/// How the measuring container of a pod ended.
fn ended(pod: &Value) -> String {
    if text(pod, "/status/reason") == "Evicted" {
        let why = text(pod, "/status/message");
        let space = ["ephemeral", "DiskPressure", "disk"].iter().any(|word| why.contains(word));
        return format!("evicted: {}{why}", if space { "no space on the node: " } else { "" });
    }
    let ended = pod.pointer("/status/initContainerStatuses/0/state/terminated");
    match ended {
        Some(ended) if ended["reason"] == "OOMKilled" => {
            "killed: out of memory, raise `memory`".to_owned()
        }
        Some(ended) => {
            let number =
                ended["exitCode"].as_i64().and_then(|n| i32::try_from(n).ok()).unwrap_or(-1);
            format!("failed: {}", code(number))
        }
        None => {
            let why = text(pod, "/status/reason");
            format!(
                "its pod was stopped{}",
                if why.is_empty() { String::new() } else { format!(": {why}") }
            )
        }
    }
}
