//! A survey on many machines: through a real Slurm on the loopback, and through a stand-in for kubectl.

use crate::support::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a job measures: some cases, for some seconds.
pub const ARGUMENTS: &str = r#"["-l", "openssl@*", "-a", "aes-256-gcm", "-s", "1K,4K,8K,16K", "-d", "encrypt", "--no-evidence", "--precision", "0.0001%", "--budget", "4s"]"#;

pub fn words(done: &Done, of: &str) -> String {
    let line = done.stdout.lines().find_map(|line| line.strip_prefix(of));
    line.unwrap_or_else(|| panic!("no line of {of}: {}", done.stdout))
        .trim_start_matches(':')
        .trim()
        .to_owned()
}

#[test]
#[ignore = "long: a Slurm cluster of three nodes"]
fn three_types_through_slurm_with_one_down_one_requeued_and_one_unknown() {
    let cluster =
        SlurmCluster::new(&[("n1", "c7a"), ("n2", "c7i"), ("n3", "m8g")], &[("n4", "gone")]);
    let here = scratch();
    let file = here.path().join("fleet.toml");
    let text = format!(
        "survey = 'a'\nengine = 'slurm'\ntime = '10m'\narguments = {ARGUMENTS}\n[slurm]\nprogram = '{}'\ndirectory = '{}'\n\
         [[machine]]\ntype = 'c7a'\n[[machine]]\ntype = 'c7i'\n[[machine]]\ntype = 'm8g'\n[[machine]]\ntype = 'r9x'\n\
         [[machine]]\ntype = 'gone.large'\nselect = 'gone'\n",
        arg(program()),
        arg(&cluster.scratch())
    );
    std::fs::write(&file, text).unwrap();
    let configuration = cluster.configuration();
    let fleet = |command: &str, more: &[&str]| {
        let all = [&["fleet", command, arg(&file)], more].concat();
        ciphermark_with(&all, &[("SLURM_CONF", arg(&configuration))])
    };
    let submitted = fleet("run", &[]).with_code(1);
    assert!(words(&submitted, "c7a").starts_with("submitted as "), "{}", submitted.stdout);
    let unknown = words(&submitted, "r9x");
    assert!(
        unknown.starts_with("refused: unknown type: no node of the cluster has the feature 'r9x'"),
        "{unknown}"
    );
    // Once they measure, one is requeued and another's node goes down.
    cluster.wait_for("three journals", |c| journals(&c.scratch()).len() == 3);
    let id = |of: &str| words(&submitted, of).strip_prefix("submitted as ").unwrap().to_owned();
    cluster.ask("scontrol", &["update", "nodename=n3", "state=down", "reason=test"]);
    cluster.ask("scontrol", &["requeue", &id("c7i")]);
    let shown = |c: &SlurmCluster, of: &str| c.ask("scontrol", &["-o", "show", "job", &id(of)]);
    cluster.wait_for("waiting for a node that is down", |c| {
        ["m8g", "gone.large"]
            .iter()
            .all(|of| shown(c, of).contains("DOWN") || shown(c, of).contains("ReqNodeNotAvail"))
    });
    let status = fleet("status", &[]).with_code(1);
    assert!(
        words(&status, "gone.large").starts_with("waits: the nodes of this type are down"),
        "{}",
        status.stdout
    );
    assert!(words(&status, "r9x").starts_with("refused: unknown type"), "{}", status.stdout);
    assert!(words(&status, "c7i").contains("requeued once"), "{}", status.stdout);
    // What is under way is not submitted again.
    let again = fleet("run", &[]).with_code(1);
    assert!(
        !words(&again, "c7a").contains("submitted") && !words(&again, "c7i").contains("submitted"),
        "{}",
        again.stdout
    );
    cluster.wait_for("the requeued job's end", |c| {
        c.ask("scontrol", &["-o", "show", "job", &id("c7i")]).contains("JobState=COMPLETED")
    });
    let down = fleet("status", &[]).with_code(1);
    assert!(
        words(&down, "m8g").starts_with("waits: the nodes of this type are down"),
        "{}",
        down.stdout
    );
    let first = fleet("gather", &[]).with_code(1);
    assert!(words(&first, "c7a").contains("gathered into"), "{}", first.stdout);
    assert!(first.stdout.contains("2 of 5 records are here; 3 are not here"), "{}", first.stdout);
    // Its node comes back.
    cluster.ask("scontrol", &["update", "nodename=n3", "state=resume"]);
    cluster.ask("scancel", &[&id("gone.large")]);
    let rest = fleet("gather", &["--wait", "60s"]).with_code(1);
    assert!(words(&rest, "m8g").contains("gathered into"), "{}", rest.stdout);
    assert!(
        rest.stdout.contains("3 of 5 records are here")
            && rest.stdout.contains("next: ciphermark archive add STORE ")
    );
    assert!(
        !rest.stdout.contains("doubtful") && !first.stdout.contains("doubtful"),
        "{}",
        rest.stdout
    );
    // Again: nothing to do, nothing changed.
    let records = here.path().join("records");
    let before = std::fs::read(records.join("a-c7i.json")).unwrap();
    fleet("gather", &[]);
    assert_eq!(std::fs::read(records.join("a-c7i.json")).unwrap(), before);
    for kind in ["c7a", "c7i", "m8g"] {
        let record = read(records.join(format!("a-{kind}.json")));
        let manifest = read(records.join(format!("a-{kind}.json.manifest")));
        assert_eq!(record["plan"]["seed"], manifest["seed"], "{kind}");
        assert_eq!(manifest["machine_type"], kind);
        all_are(rows(&record, "measurements"), "measured");
    }
    fleet("cancel", &[]).with_code(0);
}

fn journals(scratch: &Path) -> Vec<PathBuf> {
    let jobs = std::fs::read_dir(scratch).unwrap().map(|entry| entry.unwrap().path());
    let journal = |job: PathBuf| job.join("record.json.partial");
    let has_samples =
        |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|t| t.lines().count() > 8);
    jobs.map(journal).filter(has_samples).collect()
}

/// kubectl, as far as `fleet` calls it: notes each call, answers from files, runs what is executed in a pod here.
const KUBECTL: &str = r#"#!/bin/sh
cd "$FAKE" || exit 9
echo "$*" >>calls
while [ "${1#--}" != "$1" ]; do shift 2; done
case "$1 $2" in
  "apply -f") if [ -e forbidden ]; then cat forbidden >&2; exit 1; fi; cat >applied.yaml; echo job.batch/x created;;
  "delete "*) ;;
  "get jobs,pods") cat listed.json;;
  "get nodes") cat nodes.json;;
  "exec "*) shift 5
    [ ! -e torn ] || { rm torn; printf '00\n{'; exit 0; }
    case "$1" in
      sh) exec sh -c "$3" "$FAKE$4";;
      touch) exec touch "$FAKE$2";;
    esac;;
  *) echo "error: unknown command $*" >&2; exit 1;;
esac
"#;

struct Fake {
    directory: tempfile::TempDir,
    path: String,
}

impl Fake {
    fn new() -> Self {
        let directory = scratch();
        let kubectl = directory.path().join("kubectl");
        std::fs::write(&kubectl, KUBECTL).unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&kubectl, executable).unwrap();
        let path = format!("{}:{}", arg(directory.path()), std::env::var("PATH").unwrap());
        let text = format!(
            "survey = 'k'\nengine = 'kubernetes'\narguments = {}\nkey = 'key'\n[kubernetes]\nimage = 'r/c:1'\n\
             context = 'test'\nnamespace = 'bench'\n[[machine]]\ntype = 'c7a.large'\n",
            ARGUMENTS.replace("\"4s\"", "\"1s\"")
        );
        std::fs::write(directory.path().join("fleet.toml"), text).unwrap();
        let key = directory.path().join("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(key)
            .status();
        assert!(made.unwrap().success());
        Self { directory, path }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn fleet(&self, command: &str) -> Done {
        let variables = [("PATH", self.path.as_str()), ("FAKE", arg(self.directory.path()))];
        ciphermark_with(&["fleet", command, arg(&self.file("fleet.toml"))], &variables)
    }

    fn lists(&self, status: Value) {
        let job = "ciphermark-k-c7a-large";
        let all = json!({"items": [
            {"kind": "Job", "metadata": {"name": job}, "status": {}},
            {"kind": "Pod", "metadata": {"name": "pod-1", "creationTimestamp": "2026-12-01T00:00:00Z", "labels": {"job-name": job}},
             "spec": {"nodeName": "node-7", "initContainers": [{"image": "r/c:1"}]}, "status": status}]});
        std::fs::write(self.file("listed.json"), all.to_string()).unwrap();
    }

    /// The scripts of the containers of what was applied.
    fn scripts(&self) -> (String, String) {
        let text = std::fs::read_to_string(self.file("applied.yaml")).unwrap();
        let all = yaml_rust2::YamlLoader::load_from_str(&text).unwrap();
        let pod = &all[0]["spec"]["template"]["spec"];
        let script = |of: &str| {
            pod[of][0]["args"][0]
                .as_str()
                .unwrap()
                .replace("/out/", &format!("{}/out/", arg(self.directory.path())))
        };
        assert_eq!(
            pod["nodeSelector"]["node.kubernetes.io/instance-type"].as_str(),
            Some("c7a.large")
        );
        (script("initContainers"), script("containers"))
    }

    fn shell(&self, script: &str) {
        let bin = program().parent().unwrap();
        let path = format!("{}:{}", arg(bin), self.path);
        let done = Command::new("sh")
            .args(["-c", script])
            .env("PATH", path)
            .env("CIPHERMARK_BUNDLED", "")
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// The stand-in answers as a cluster does; a real one is another matter (docs/FLEET.md).
#[test]
fn a_type_through_kubectl_is_measured_gathered_signed_and_let_go() {
    let fake = Fake::new();
    let forbidden = "Error from server (Forbidden): jobs.batch is forbidden: User \"x\" cannot create resource \"jobs\"\n";
    std::fs::write(fake.file("forbidden"), forbidden).unwrap();
    let refused = fake.fleet("run").with_code(1);
    assert!(
        words(&refused, "c7a.large").starts_with("refused: no rights: (Forbidden)"),
        "{}",
        refused.stdout
    );
    std::fs::remove_file(fake.file("forbidden")).unwrap();
    let submitted = fake.fleet("run").with_code(0);
    assert_eq!(words(&submitted, "c7a.large"), "submitted as ciphermark-k-c7a-large");
    std::fs::write(fake.file("nodes.json"), json!({"items": []}).to_string()).unwrap();
    fake.lists(json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]}));
    let waits = fake.fleet("status").with_code(0);
    assert_eq!(
        words(&waits, "c7a.large"),
        "waits: unknown type, or none is up yet: no node is labelled 'c7a.large'"
    );
    let (measure, hold) = fake.scripts();
    fake.shell(&measure);
    // A pod that is started again after it had finished changes nothing.
    fake.shell(&measure);
    fake.lists(json!({"phase": "Running"}));
    let done = fake.fleet("status").with_code(0);
    assert_eq!(words(&done, "c7a.large"), "done on node-7: gather it");
    // The first transfer loses its end.
    std::fs::write(fake.file("torn"), "").unwrap();
    let gathered = fake.fleet("gather").with_code(0);
    let said = words(&gathered, "c7a.large");
    assert!(said.contains("k-c7a-large.json'") && said.ends_with("signed"), "{}", gathered.stdout);
    assert!(
        gathered.stdout.contains("1 of 1 records are here\nnext: ciphermark archive add STORE "),
        "{}",
        gathered.stdout
    );
    fake.shell(&hold);
    let record = fake.file("records/k-c7a-large.json");
    let manifest = read(fake.file("records/k-c7a-large.json.manifest"));
    assert_eq!(read(&record)["plan"]["seed"], manifest["seed"]);
    let public = std::fs::read_to_string(fake.file("key.pub")).unwrap();
    std::fs::write(fake.file("signers"), format!("bench@example.com {public}")).unwrap();
    let (store, signers) = (fake.file("fleet.db"), fake.file("signers"));
    let add = ["archive", "add", arg(&store), arg(&record), "--allowed-signers", arg(&signers)];
    let added = ciphermark(&add, b"").with_code(0).stderr;
    assert!(added.contains("cases, signed"), "{added}");
    let calls = std::fs::read_to_string(fake.file("calls")).unwrap();
    assert!(
        calls.lines().all(|call| call.starts_with("--context test --namespace bench ")),
        "{calls}"
    );
    assert!(!calls.contains(" logs "), "logs are cut off at 10 MiB: {calls}");
    let count = calls.lines().count();
    assert!(fake.fleet("gather").with_code(0).stdout.starts_with("1 of 1"));
    let calls = std::fs::read_to_string(fake.file("calls")).unwrap();
    assert_eq!(calls.lines().count(), count, "what is here is not asked for again");
}

#[test]
fn a_record_of_another_run_is_brought_and_called_doubtful() {
    let fake = Fake::new();
    fake.fleet("run").with_code(0);
    let (measure, _) = fake.scripts();
    let seed = measure.split("--seed ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let other = measure.replace(&format!("--seed {seed} "), "--seed 7 ");
    fake.shell(&other);
    fake.lists(json!({"phase": "Running"}));
    let gathered = fake.fleet("gather").with_code(1);
    assert!(
        gathered
            .stdout
            .contains(&format!("doubtful: its seed is 7, and {seed} was given for this run")),
        "{}",
        gathered.stdout
    );
}

#[test]
fn what_cannot_be_asked_is_one_line_with_the_remedy() {
    let fake = Fake::new();
    let file = fake.file("fleet.toml");
    for (path, file, said) in [
        ("", arg(&file).to_owned(), "there is no kubectl here"),
        (
            "",
            arg(&repository("docs/examples/fleet/slurm.toml")).to_owned(),
            "there is no squeue here",
        ),
    ] {
        let state = fake.file("other.state");
        let all = ["fleet", "run", &file, "-o", arg(&state)];
        let done = ciphermark_with(&all, &[("PATH", path)]).with_code(4);
        assert!(done.only_line_on_stderr().contains(said), "{}", done.stderr);
        std::fs::remove_file(state).unwrap();
    }
    refuses("fleet status /no/such/fleet.toml", &["/no/such/fleet.toml"]);
    std::fs::write(&file, "survey = 1\n").unwrap();
    refuses(&format!("fleet plan {}", arg(&file)), &["fleet.toml': line 1: invalid type"]);
}

#[test]
fn what_is_planned_is_what_the_examples_show_and_a_shell_can_read_it() {
    let directory = scratch();
    for engine in ["slurm", "kubernetes"] {
        let example = repository("docs/examples/fleet").join(engine);
        let file = example.with_extension("toml");
        let written = directory.path().join(engine);
        let done =
            ciphermark(&["fleet", "plan", arg(&file), "-o", arg(&written)], b"").with_code(0);
        let mut names: Vec<_> =
            std::fs::read_dir(&example).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(done.stdout.lines().count(), names.len());
        for name in names {
            let text = std::fs::read_to_string(written.join(&name)).unwrap();
            let shown = std::fs::read_to_string(example.join(&name)).unwrap();
            assert_eq!(
                text, shown,
                "`ciphermark fleet plan {engine}.toml -o {engine}` writes it anew"
            );
            if engine == "slurm" {
                let script = written.join(&name);
                assert!(Command::new("sh").arg("-n").arg(&script).status().unwrap().success());
            }
        }
        let printed = ciphermark(&["fleet", "plan", arg(&file)], b"").with_code(0).stdout;
        if engine == "kubernetes" {
            let all = yaml_rust2::YamlLoader::load_from_str(&printed).unwrap();
            let kinds: Vec<_> = all.iter().filter_map(|d| d["kind"].as_str()).collect();
            assert_eq!(kinds, ["PersistentVolumeClaim", "Job", "PersistentVolumeClaim", "Job"]);
        }
    }
}
