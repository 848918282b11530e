//! Answers of real schedulers, and the files of docs/examples/fleet.

use super::*;
use serde_json::{Value, json};

const SLURM: &str = include_str!("../../../../docs/examples/fleet/slurm.toml");
const KUBERNETES: &str = include_str!("../../../../docs/examples/fleet/kubernetes.toml");

fn slurm() -> Fleet {
    Fleet::parse(SLURM).unwrap()
}

fn why(text: &str) -> String {
    Fleet::parse(text).unwrap_err()
}

#[test]
fn what_is_no_survey_is_one_line_with_its_place() {
    let of = |from: &str, to: &str| {
        assert!(SLURM.contains(from), "{from}");
        why(&SLURM.replacen(from, to, 1))
    };
    for (from, to, said) in [
        ("\"2026-12\"", "\"Dec 26\"", "line 2: 'Dec 26' is no name of a survey"),
        ("\"slurm\"", "\"nomad\"", "line 3: unknown variant `nomad`"),
        (
            "engine = \"slurm\"",
            "engine = \"kubernetes\"",
            "line 3: the engine needs a table [kubernetes]",
        ),
        ("\"30m\"", "\"long\"", "line 5: time: write a time"),
        (
            "[\"--suite\", \"quick\"]",
            "[\"--seed\", \"1\"]",
            "line 4: '--seed' is given by `fleet` itself",
        ),
        ("[\"--suite\", \"quick\"]", "[\"--output=x\"]", "line 4: '--output=x' is given"),
        ("\"/var/tmp\"", "\"tmp\"", "line 7: "),
        (
            "type = \"c7i.large\"",
            "type = \"C7a-large\"",
            "line 20: 'C7a-large' has the name of 'c7a.large'",
        ),
        ("type = \"c7i.large\"", "typ = \"c7i.large\"", "line 21: unknown field `typ`"),
        ("select = \"c7i\"", "select = \"c7 i\"", "line 20: 'c7 i' is nothing to select nodes by"),
        ("price_per_hour = 0.1026", "price_per_hour = -1.0", "line 12: -1 is no price"),
    ] {
        let why = of(from, to);
        assert!(why.starts_with(said) && why.lines().count() == 1, "{from} → {to}: {why}");
    }
    assert!(why(SLURM.split("[[machine]]").next().unwrap()).contains("no [[machine]]"));
    let long = SLURM.replace("2026-12", &"x".repeat(60));
    assert!(why(&long).contains("63 characters at most"), "{}", why(&long));
}

#[test]
fn names_that_a_shell_or_yaml_would_read_as_code_stay_names() {
    let text = SLURM.replace("[\"--suite\", \"quick\"]", "[\"-a\", \"aes-*'$(id)\"]");
    let fleet = Fleet::parse(&text).unwrap();
    let machine = fleet.machines().next().unwrap();
    let script = slurm::script(&fleet, fleet.slurm.as_ref().unwrap(), machine, 1);
    assert!(script.contains(r"'-a' 'aes-*'\''$(id)' --seed 1"), "{script}");
    let text = KUBERNETES.replace("1700m", "1, memory: 9Ti");
    let fleet = Fleet::parse(&text).unwrap();
    let manifest = kubernetes::manifest(&fleet, fleet.kubernetes.as_ref().unwrap(), machine, 1);
    assert!(manifest.contains("cpu: \"1, memory: 9Ti\","), "{manifest}");
}

#[test]
fn a_tarball_is_unpacked_on_the_node() {
    let fleet =
        Fleet::parse(&SLURM.replace("bin/ciphermark\"", "ciphermark-0.1.0.tar.xz\"")).unwrap();
    let machine = fleet.machines().next().unwrap();
    let script = slurm::script(&fleet, fleet.slurm.as_ref().unwrap(), machine, 5);
    assert!(script.contains("tar -x -f '/opt/ciphermark/ciphermark-0.1.0.tar.xz' -C"), "{script}");
    assert!(
        script.contains("ciphermark-2026-12-c7a-large-5'/program/*/bin/ciphermark run"),
        "{script}"
    );
}

/// What `scontrol --oneliner show job` of Slurm 22.05 prints, shortened.
fn job(state: &str, more: &str) -> String {
    format!(
        "JobId=3 JobName=ciphermark-a-m8g UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901757 Nice=0 \
         Account=(null) QOS=(null) JobState={state} {more} Requeue=1 BatchFlag=1 TimeLimit=00:10:00 \
         ReqNodeList=(null) ExcNodeList=(null) Features=m8g Command=(null) WorkDir=/var/tmp"
    )
}

#[test]
fn slurms_answers_are_plain_words() {
    for (said, phase, words) in [
        (
            job("PENDING", "Reason=Priority Restarts=0 ExitCode=0:0 NodeList="),
            Phase::Waiting,
            "waits for a machine",
        ),
        (
            job(
                "PENDING",
                "Reason=Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions Restarts=0 NodeList=(null)",
            ),
            Phase::Waiting,
            "waits: the nodes of this type are down or drained",
        ),
        (
            job(
                "PENDING",
                "Reason=ReqNodeNotAvail,_UnavailableNodes:n3 Restarts=0 NodeList=(null)",
            ),
            Phase::Waiting,
            "waits: the nodes of this type are down or drained",
        ),
        (
            job("PENDING", "Reason=BeginTime Restarts=1 NodeList=(null)"),
            Phase::Waiting,
            "waits: it was requeued, and Slurm starts it again in some two minutes, requeued once",
        ),
        (
            job("PENDING", "Reason=launch_failed_requeued_held Restarts=2 NodeList=(null)"),
            Phase::Waiting,
            "held (launch_failed_requeued_held): `scontrol release` lets it go on, requeued 2 times",
        ),
        (
            job("RUNNING", "Reason=None Restarts=0 ExitCode=0:0 NodeList=n3"),
            Phase::Running,
            "measures on n3",
        ),
        (
            job("COMPLETED", "Reason=None Restarts=1 ExitCode=0:0 NodeList=n3"),
            Phase::Done,
            "done on n3, requeued once: gather it",
        ),
        (
            job("FAILED", "Reason=NonZeroExitCode Restarts=0 ExitCode=72:0 NodeList=n3"),
            Phase::Failed,
            "failed on n3: there is no ciphermark on the node: check `program`",
        ),
        (
            job("FAILED", "Reason=NonZeroExitCode Restarts=0 ExitCode=73:0 NodeList=n3"),
            Phase::Failed,
            "failed on n3: the node's directory takes no files: no space, or no rights; check `directory`",
        ),
        (
            job("FAILED", "Reason=NonZeroExitCode Restarts=0 ExitCode=137:0 NodeList=n3"),
            Phase::Failed,
            "failed on n3: it was killed (SIGKILL): out of memory, or by hand",
        ),
        (
            job("FAILED", "Reason=RaisedSignal:9(Killed) Restarts=0 ExitCode=0:9 NodeList=n3"),
            Phase::Failed,
            "failed on n3: it was killed (SIGKILL): out of memory, or by hand",
        ),
        (
            job("TIMEOUT", "Reason=TimeLimit Restarts=0 ExitCode=0:15 NodeList=n3"),
            Phase::Failed,
            "killed on n3: it took longer than `time`",
        ),
        (
            job("NODE_FAIL", "Reason=NodeDown Restarts=0 ExitCode=0:0 NodeList=n3"),
            Phase::Failed,
            "its node went down on n3",
        ),
        (
            job("CANCELLED", "Reason=None Restarts=0 ExitCode=0:0 NodeList=n3"),
            Phase::Failed,
            "cancelled",
        ),
        (
            job("PENDING", "Reason=PartitionTimeLimit Restarts=0 NodeList=(null)"),
            Phase::Waiting,
            "waits for ever: `time` is longer than the partition allows",
        ),
    ] {
        let seen = slurm::seen(&said).unwrap();
        assert_eq!((seen.phase, seen.words.as_str()), (phase, words), "{said}");
        assert_eq!(seen.node.as_deref(), said.contains("NodeList=n3").then_some("n3"), "{said}");
    }
    assert_eq!(slurm::seen("slurm_load_jobs error: Invalid job id specified"), None);
}

#[test]
fn slurms_refusals_name_the_remedy() {
    let fleet = slurm();
    let machine = fleet.machines().next().unwrap();
    for (said, words) in [
        (
            "sbatch: error: Batch job submission failed: Invalid feature specification\n",
            "unknown type: no node of the cluster has the feature 'c7a'",
        ),
        (
            "sbatch: error: Batch job submission failed: Requested node configuration is not available\n",
            "unknown type: ",
        ),
        (
            "sbatch: error: invalid partition specified: bench\nsbatch: error: Batch job submission failed: Invalid partition name specified\n",
            "Batch job submission failed: Invalid partition name specified: check `options`",
        ),
        (
            "sbatch: error: Batch job submission failed: User's group not permitted to use this partition\n",
            "no rights: Batch job",
        ),
        ("sbatch: error: Batch job submission failed: Access/permission denied\n", "no rights: "),
        (
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n",
            "the cluster's controller does not answer",
        ),
        ("", "Slurm said nothing"),
    ] {
        let found = slurm::refusal(machine, said);
        assert!(found.starts_with(words) && found.lines().count() == 1, "{said}: {found}");
    }
    let listed = "n1 idle c7a,nvme\nn1 idle c7a,nvme\nn2 mix c7a\nn3 down* c7a\nn4 idle c7i\nn5 idle* c7a\nn6 drain c7a\n";
    assert_eq!(slurm::candidates(machine, listed), ["n1", "n2"]);
}

fn listed(items: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn pod(created: &str, status: Value) -> Value {
    json!({"kind": "Pod", "metadata": {"name": format!("p-{created}"), "creationTimestamp": created,
        "labels": {"job-name": "ciphermark-2026-12-c7a-large"}},
        "spec": {"nodeName": "n1", "initContainers": [{"image": "r/c:1"}]}, "status": status})
}

#[test]
fn kubernetes_answers_are_plain_words() {
    let fleet = Fleet::parse(KUBERNETES).unwrap();
    let machine = fleet.machines().next().unwrap();
    let name = fleet.job_name(machine);
    let job = |conditions: Value| json!({"kind": "Job", "metadata": {"name": name}, "status": {"conditions": conditions}});
    let init =
        |state: Value| json!({"phase": "Pending", "initContainerStatuses": [{"state": state}]});
    let unscheduled = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
        "reason": "Unschedulable", "message": "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."}]});
    let terminated = |reason: &str, code: i32| json!({"phase": "Failed", "initContainerStatuses": [{"state": {"terminated": {"reason": reason, "exitCode": code}}}]});
    let over = json!([{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}]);
    let late = json!([{"type": "Failed", "status": "True", "reason": "DeadlineExceeded"}]);
    let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: ephemeral-storage."});
    let none = Some(kubernetes::Nodes { all: 0, ready: 0 });
    let down = Some(kubernetes::Nodes { all: 2, ready: 0 });
    for (conditions, status, nodes, phase, words) in [
        (
            json!([]),
            unscheduled.clone(),
            none,
            Phase::Waiting,
            "waits: unknown type, or none is up yet: no node is labelled 'c7a.large'",
        ),
        (
            json!([]),
            unscheduled.clone(),
            down,
            Phase::Waiting,
            "waits: the nodes of this type are down",
        ),
        (
            json!([]),
            unscheduled,
            None,
            Phase::Waiting,
            "waits for a node: 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
        ),
        (
            json!([]),
            init(json!({"waiting": {"reason": "ImagePullBackOff"}})),
            None,
            Phase::Waiting,
            "waits: the node cannot pull the image 'r/c:1' (ImagePullBackOff)",
        ),
        (json!([]), init(json!({"running": {}})), None, Phase::Running, "measures on n1"),
        (json!([]), json!({"phase": "Running"}), None, Phase::Done, "done on n1: gather it"),
        (
            json!([]),
            json!({"phase": "Succeeded"}),
            None,
            Phase::Failed,
            "its pod ended before the record was gathered: raise `keep`",
        ),
        (
            json!([]),
            terminated("Error", 143),
            None,
            Phase::Waiting,
            "failed: it was interrupted; it is tried again",
        ),
        (
            over.clone(),
            terminated("OOMKilled", 137),
            None,
            Phase::Failed,
            "killed: out of memory, raise `memory`",
        ),
        (
            over.clone(),
            terminated("Error", 73),
            None,
            Phase::Failed,
            "failed: the node's directory takes no files: no space, or no rights; check `directory`",
        ),
        (
            over,
            evicted,
            None,
            Phase::Failed,
            "evicted: no space on the node: The node was low on resource: ephemeral-storage.",
        ),
        (
            late,
            init(json!({"running": {}})),
            None,
            Phase::Failed,
            "killed: it took longer than `time`",
        ),
    ] {
        // An older pod says nothing any more.
        let all = listed(json!([
            job(conditions),
            pod("2026-12-01T00:00:00Z", json!({"phase": "Failed"})),
            pod("2026-12-01T00:05:00Z", status.clone())
        ]));
        let seen = kubernetes::seen(&all, &name, machine, nodes);
        assert_eq!((seen.phase, seen.words.as_str()), (phase, words), "{status}");
    }
    let gone = kubernetes::seen(&listed(json!([])), &name, machine, None);
    assert_eq!(gone.phase, Phase::Gone);
    let nodes = listed(
        json!([{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}]),
    );
    assert_eq!(kubernetes::Nodes::of(&nodes), kubernetes::Nodes { all: 2, ready: 1 });
}

#[test]
fn kubectls_errors_name_the_remedy() {
    for (said, words) in [
        (
            "Error from server (Forbidden): error when creating \"STDIN\": jobs.batch is forbidden: User \"x\" cannot create resource \"jobs\"",
            "no rights: (Forbidden)",
        ),
        (
            "error: You must be logged in to the server (Unauthorized)",
            "no rights: error: You must be logged in",
        ),
        (
            "Error from server (NotFound): error when creating \"STDIN\": namespaces \"bench\" not found",
            "no such namespace: ",
        ),
        (
            "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\nUnable to connect to the server",
            "the cluster does not answer: ",
        ),
        (
            "error: context \"x\" does not exist",
            "error: context \"x\" does not exist: check `context`",
        ),
        ("", "kubectl said nothing"),
    ] {
        let found = kubernetes::refusal(said);
        assert!(found.starts_with(words), "{said}: {found}");
    }
}

#[test]
fn a_state_comes_back_as_it_was_saved_and_no_other_file_is_taken_for_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = State::path(&directory.path().join("fleet.toml"));
    assert_eq!(path.file_name().unwrap(), "fleet.state.json");
    assert_eq!(State::load(&path), Ok(None));
    let mut state = State::new("2026-12");
    let job = Job {
        machine_type: "c7a.large".to_owned(),
        seed: u64::MAX,
        given: "2026-12-01T00:00:00Z".to_owned(),
        id: Some("3".to_owned()),
        refused: None,
        node: None,
        gathered: None,
        cancelled: false,
    };
    state.put(job.clone());
    state.put(Job { cancelled: true, ..job });
    state.save(&path).unwrap();
    assert_eq!(State::load(&path), Ok(Some(state.clone())));
    assert_eq!(state.jobs.len(), 1);
    std::fs::write(&path, "{}").unwrap();
    assert!(State::load(&path).unwrap_err().contains("is no state of a survey"));
}
