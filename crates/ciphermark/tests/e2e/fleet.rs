//! A survey on many machines: through a real Slurm on the loopback, a stand-in for kubectl and a real
//! Kubernetes; and every manifest that `fleet plan` prints, read by kubectl (`kubectl set --local` asks no
//! cluster) with nothing lost.

use crate::support::*;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use yaml_rust2::{Yaml, YamlLoader};

/// What a job measures: some cases, for some seconds.
pub const ARGUMENTS: &str = r#"["-l", "openssl@*", "-a", "aes-256-gcm", "-s", "1K,4K,8K,16K", "-d", "encrypt", "--no-evidence", "--precision", "0.0001%", "--budget", "4s"]"#;

/// Demands that what is said of a machine begins with these words.
#[track_caller]
pub fn is_said(done: &Done, of: &str, words: &str) {
    let said = self::words(done, of);
    assert!(said.starts_with(words), "{of}: {words}: {}", done.stdout);
}

pub fn words(done: &Done, of: &str) -> String {
    let line = done.stdout.lines().find_map(|line| line.strip_prefix(of));
    let line = line.unwrap_or_else(|| panic!("no line of {of}: {}", done.stdout));
    line.trim_start_matches(':').trim().to_owned()
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
    is_said(&submitted, "c7a", "submitted as ");
    let unknown = "refused: unknown type: no node of the cluster has the feature 'r9x'";
    is_said(&submitted, "r9x", unknown);
    // Once they measure, one is requeued and another's node goes down.
    cluster.wait_for("three journals", |c| journals(&c.scratch()).len() == 3);
    let id = |of: &str| words(&submitted, of).strip_prefix("submitted as ").unwrap().to_owned();
    cluster.ask("scontrol", &["update", "nodename=n3", "state=down", "reason=test"]);
    cluster.ask("scontrol", &["requeue", &id("c7i")]);
    let shown = |c: &SlurmCluster, of: &str| c.ask("scontrol", &["-o", "show", "job", &id(of)]);
    cluster.wait_for("waiting for a node that is down", |c| {
        let is_down =
            |of: &&str| ["DOWN", "ReqNodeNotAvail"].iter().any(|w| shown(c, of).contains(w));
        ["m8g", "gone.large"].iter().all(is_down)
    });
    let down = "waits: the nodes of this type are down";
    let status = fleet("status", &[]).with_code(1);
    is_said(&status, "gone.large", down);
    is_said(&status, "r9x", "refused: unknown type");
    says(words(&status, "c7i"), ["requeued once"]);
    // What is under way is not submitted again.
    let again = fleet("run", &[]).with_code(1);
    let is_again = |of: &&str| words(&again, of).contains("submitted");
    assert!(!["c7a", "c7i"].iter().any(is_again), "{}", again.stdout);
    cluster.wait_for("the requeued job's end", |c| {
        c.ask("scontrol", &["-o", "show", "job", &id("c7i")]).contains("JobState=COMPLETED")
    });
    is_said(&fleet("status", &[]).with_code(1), "m8g", down);
    let first = fleet("gather", &[]).with_code(1).says(["2 of 5 records are here; 3 are not here"]);
    says(words(&first, "c7a"), ["gathered into"]);
    // Its node comes back.
    cluster.ask("scontrol", &["update", "nodename=n3", "state=resume"]);
    cluster.ask("scancel", &[&id("gone.large")]);
    let next = ["3 of 5 records are here", "next: ciphermark archive add STORE "];
    let rest = fleet("gather", &["--wait", "60s"]).with_code(1).says(next);
    says(words(&rest, "m8g"), ["gathered into"]);
    assert!(![&first, &rest].iter().any(|d| d.stdout.contains("doubtful")), "{}", rest.stdout);
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
  "get jobs,pods") [ ! -e endless-list ] || exec cat /dev/zero; cat listed.json;;
  "get nodes") cat nodes.json;;
  "exec "*) shift 5
    [ ! -e endless ] || exec cat /dev/zero
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
        script(&directory, "kubectl", KUBECTL);
        let path = format!("{}:{}", arg(directory.path()), std::env::var("PATH").unwrap());
        let text = format!(
            "survey = 'k'\nengine = 'kubernetes'\narguments = {}\nkey = 'key'\n[kubernetes]\nimage = 'r/c:1'\n\
             context = 'test'\nnamespace = 'bench'\n[[machine]]\ntype = 'c7a.large'\n",
            ARGUMENTS.replace("\"4s\"", "\"1s\"")
        );
        written(&directory, "fleet.toml", text);
        let signers = signing_key(&file(&directory, "key"));
        written(&directory, "signers", signers);
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
        let out = format!("{}/out/", arg(self.directory.path()));
        let script = |of: &str| pod[of][0]["args"][0].as_str().unwrap().replace("/out/", &out);
        let kind = &pod["nodeSelector"]["node.kubernetes.io/instance-type"];
        assert_eq!(kind.as_str(), Some("c7a.large"));
        (script("initContainers"), script("containers"))
    }

    fn shell(&self, script: &str) {
        let bin = program().parent().unwrap();
        let path = format!("{}:{}", arg(bin), self.path);
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).env("PATH", path).env("CIPHERMARK_BUNDLED", "");
        let done = shell.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// The stand-in answers as a cluster does; a real one is another matter (docs/FLEET.md).
#[test]
#[ignore = "long: seconds"]
fn a_type_through_kubectl_is_measured_gathered_signed_and_let_go() {
    let fake = Fake::new();
    let forbidden = "Error from server (Forbidden): jobs.batch is forbidden: User \"x\" cannot create resource \"jobs\"\n";
    written(&fake.directory, "forbidden", forbidden);
    is_said(&fake.fleet("run").with_code(1), "c7a.large", "refused: no rights: (Forbidden)");
    std::fs::remove_file(fake.file("forbidden")).unwrap();
    let submitted = fake.fleet("run").with_code(0);
    assert_eq!(words(&submitted, "c7a.large"), "submitted as ciphermark-k-c7a-large");
    written(&fake.directory, "nodes.json", json!({"items": []}).to_string());
    fake.lists(json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]}));
    let waits = "waits: unknown type, or none is up yet: no node is labelled 'c7a.large'";
    assert_eq!(words(&fake.fleet("status").with_code(0), "c7a.large"), waits);
    let (measure, hold) = fake.scripts();
    fake.shell(&measure);
    // A pod that is started again after it had finished changes nothing.
    fake.shell(&measure);
    fake.lists(json!({"phase": "Running"}));
    assert_eq!(words(&fake.fleet("status").with_code(0), "c7a.large"), "done on node-7: gather it");
    // The first transfer loses its end.
    written(&fake.directory, "torn", "");
    let next = "1 of 1 records are here\nnext: ciphermark archive add STORE ";
    let gathered = fake.fleet("gather").with_code(0).says([next]);
    let said = words(&gathered, "c7a.large");
    assert!(said.contains("k-c7a-large.json'") && said.ends_with("signed"), "{}", gathered.stdout);
    fake.shell(&hold);
    let record = fake.file("records/k-c7a-large.json");
    let manifest = read(fake.file("records/k-c7a-large.json.manifest"));
    assert_eq!(read(&record)["plan"]["seed"], manifest["seed"]);
    let [store, signers] = ["fleet.db", "signers"].map(|name| file(&fake.directory, name));
    let add = format!("archive add {store} {} --allowed-signers {signers}", arg(&record));
    says(call(&add).with_code(0).stderr, ["cases, signed"]);
    let calls = std::fs::read_to_string(fake.file("calls")).unwrap();
    let ours = "--context test --namespace bench ";
    assert!(calls.lines().all(|call| call.starts_with(ours)), "{calls}");
    assert!(!calls.contains(" logs "), "logs are cut off at 10 MiB: {calls}");
    let count = calls.lines().count();
    assert!(fake.fleet("gather").with_code(0).stdout.starts_with("1 of 1"));
    let calls = std::fs::read_to_string(fake.file("calls")).unwrap();
    assert_eq!(calls.lines().count(), count, "what is here is not asked for again");
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_record_of_another_run_is_brought_and_called_doubtful() {
    let fake = Fake::new();
    fake.fleet("run").with_code(0);
    let (measure, _) = fake.scripts();
    let seed = measure.split("--seed ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let other = measure.replace(&format!("--seed {seed} "), "--seed 7 ");
    fake.shell(&other);
    fake.lists(json!({"phase": "Running"}));
    let doubt = format!("doubtful: its seed is 7, and {seed} was given for this run");
    fake.fleet("gather").with_code(1).says([&*doubt]);
}

#[test]
fn what_a_host_or_a_scheduler_sends_has_an_end() {
    let fake = Fake::new();
    fake.fleet("run").with_code(0);
    fake.lists(json!({"phase": "Running"}));
    written(&fake.directory, "endless", "");
    let gathered = fake.fleet("gather").with_code(4).says(["0 of 1 records are here"]);
    let said = "not gathered: cannot run kubectl: it printed more than 268435456 bytes";
    assert_eq!(words(&gathered, "c7a.large"), said);
    written(&fake.directory, "endless-list", "");
    for command in ["gather", "status"] {
        fake.fleet(command).ends(4, ["cannot run kubectl: it printed more than 16777216 bytes"]);
    }
    std::fs::remove_file(fake.file("endless-list")).unwrap();
    let state = fake.file("fleet.state.json");
    std::fs::File::create(&state).unwrap().set_len(1 << 40).unwrap();
    fake.fleet("status").ends(2, ["fleet.state.json' has more than 16 MiB"]);
}

#[test]
fn what_cannot_be_asked_is_one_line_with_the_remedy() {
    let fake = Fake::new();
    let file = fake.file("fleet.toml");
    let slurm = repository("docs/examples/fleet/slurm.toml");
    for (file, said) in [(&file, "there is no kubectl here"), (&slurm, "there is no squeue here")] {
        let state = fake.file("other.state");
        let line = format!("fleet run {} -o {}", arg(file), arg(&state));
        call_with(&line, &[("PATH", "")]).ends(4, [said]);
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
        let plan = format!("fleet plan {}", arg(&file));
        let done = call(&format!("{plan} -o {}", arg(&written))).with_code(0);
        let mut names: Vec<_> =
            std::fs::read_dir(&example).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(done.stdout.lines().count(), names.len());
        for name in names {
            let text = std::fs::read_to_string(written.join(&name)).unwrap();
            let shown = std::fs::read_to_string(example.join(&name)).unwrap();
            let again = format!("`ciphermark fleet plan {engine}.toml -o {engine}` writes it anew");
            assert_eq!(text, shown, "{again}");
            if engine == "slurm" {
                let script = written.join(&name);
                assert!(Command::new("sh").arg("-n").arg(&script).status().unwrap().success());
            }
        }
        let printed = call(&plan).with_code(0).stdout;
        if engine == "kubernetes" {
            let all = yaml_rust2::YamlLoader::load_from_str(&printed).unwrap();
            let kinds: Vec<_> = all.iter().filter_map(|d| d["kind"].as_str()).collect();
            assert_eq!(kinds, ["PersistentVolumeClaim", "Job", "PersistentVolumeClaim", "Job"]);
        }
    }
}

fn spec(survey: &str, image: &str, more: &str, types: &[&str]) -> String {
    let machines: String = types.iter().map(|t| format!("[[machine]]\ntype = '{t}'\n")).collect();
    // Long enough to be interrupted.
    let arguments = ARGUMENTS.replace("\"4s\"", "\"15s\"");
    format!(
        "survey = '{survey}'\nengine = 'kubernetes'\ntime = '10m'\narguments = {arguments}\nkey = 'key'\n[kubernetes]\n\
         image = '{image}'\ncpu = '1'\nmemory = '64Mi'\n{more}\n{machines}"
    )
}

#[test]
#[ignore = "long: a Kubernetes of three nodes; `make test-kubernetes` builds it"]
fn three_types_through_a_real_kubernetes_with_one_down_one_killed_and_one_unknown() {
    let Some(cluster) = KubernetesCluster::new(&["n1=c7a.large", "n2=c7i.large", "n3=m8g.large"])
    else {
        return;
    };
    let here = scratch();
    let signers = written(&here, "signers", signing_key(&file(&here, "key")));
    let (path, configuration) = cluster.variables();
    let fleet = |command: &str, of: &str| {
        let variables = [("PATH", path.as_str()), ("KUBECONFIG", configuration.as_str())];
        ciphermark_with(&["fleet", command, &file(&here, of)], &variables)
    };
    let claims = "volume = '1Gi'\nstorage_class = 'fleet'";
    let types = ["c7a.large", "c7i.large", "m8g.large", "r9x.large"];
    let whole = spec("a", "docker.io/local/ciphermark:1", claims, &types);
    written(&here, "a.toml", whole);
    cluster.run(&["stop", "n3"]);
    let submitted = fleet("run", "a.toml").with_code(0);
    assert_eq!(words(&submitted, "c7a.large"), "submitted as ciphermark-a-c7a-large");
    // Once both measure, one of them is evicted; its claim keeps the journal.
    cluster.wait_for("two journals", |c| c.journals().len() == 2);
    let label = "job-name=ciphermark-a-c7i-large";
    cluster.kubectl(&["delete", "pod", "-l", label, "--grace-period=1", "--wait=false"]);
    let status = fleet("status", "a.toml").with_code(0);
    let unknown = "waits: unknown type, or none is up yet: no node is labelled 'r9x.large'";
    assert_eq!(words(&status, "r9x.large"), unknown, "{}", status.stdout);
    assert_eq!(words(&status, "m8g.large"), "waits: the nodes of this type are down");
    // What is under way is not submitted again.
    let again = fleet("run", "a.toml").with_code(0);
    assert!(!again.stdout.contains("submitted"), "{}", again.stdout);
    cluster.run(&["start", "n3"]);
    cluster.wait_for("three that are done", |_| {
        let status = fleet("status", "a.toml");
        status.stdout.matches(": gather it").count() == 3
    });
    cluster.kubectl(&["delete", "job", "ciphermark-a-r9x-large"]);
    let gathered = fleet("gather", "a.toml").with_code(1);
    says(&gathered.stdout, ["3 of 4 records are here; 1 are not here"]);
    assert!(!gathered.stdout.contains("doubtful"), "{}", gathered.stdout);
    let path = |kind: &&str| file(&here, &format!("records/a-{}.json", kind.replace('.', "-")));
    let records: Vec<String> = types[..3].iter().map(path).collect();
    for (kind, path) in types.iter().zip(&records) {
        let (record, manifest) = (read(path), read(format!("{path}.manifest")));
        assert_eq!(record["plan"]["seed"], manifest["seed"], "{kind}");
        assert_eq!(manifest["machine_type"], *kind);
        all_are(rows(&record, "measurements"), "measured");
    }
    let add = format!("archive add {} --allowed-signers {signers}", file(&here, "fleet.db"));
    let added = call(&format!("{add} {}", records.join(" "))).with_code(0);
    assert_eq!(added.stderr.matches("cases, signed").count(), 3, "{}", added.stderr);
    // Let go of, their pods end.
    cluster.wait_for("pods that have ended", |c| {
        let phase = "--field-selector=status.phase=Running";
        c.kubectl(&["get", "pods", "-l", "survey=a", phase, "-o", "name"]).trim().is_empty()
    });
    says_what_is_wrong(&cluster, &here, &fleet);
}

/// An image that is not there, and a user who may not.
fn says_what_is_wrong(
    cluster: &KubernetesCluster,
    here: &tempfile::TempDir,
    fleet: &dyn Fn(&str, &str) -> Done,
) {
    let types = ["c7a.large"];
    // Nothing listens there.
    let without_image = spec("b", "127.0.0.1:1/none:1", "", &types);
    written(here, "b.toml", without_image);
    fleet("run", "b.toml").with_code(0);
    cluster.wait_for("an image that cannot be pulled", |_| {
        let status = fleet("status", "b.toml");
        status.stdout.contains("the node cannot pull the image '127.0.0.1:1/none:1'")
    });
    assert_eq!(words(&fleet("cancel", "b.toml").with_code(0), "c7a.large"), "cancelled");
    cluster.wait_for("no job of a cancelled survey", |c| {
        c.kubectl(&["get", "jobs", "-l", "survey=b", "-o", "name"]).is_empty()
    });
    for (survey, more, said) in [
        ("c", "context = 'stranger'", "refused: no rights"),
        ("d", "namespace = 'nowhere'", "refused: no such namespace"),
    ] {
        let name = format!("{survey}.toml");
        let text = spec(survey, "docker.io/local/ciphermark:1", more, &types);
        written(here, &name, text);
        is_said(&fleet("run", &name).with_code(1), "c7a.large", said);
    }
}

// Every manifest that `fleet plan` prints is read by kubectl: decoded into Kubernetes' own types, with nothing lost.
// No cluster is asked: `kubectl set` changes files by itself (`--local`).

/// What kubectl makes of an object, or its words. It decodes what has a pod: a service account can be set there.
fn read_by_kubectl(object: &Value) -> Result<Value, String> {
    let what = ["set", "serviceaccount", "--local", "-f", "-", "none", "-o", "json"];
    let mut kubectl = Command::new("kubectl")
        .args(what)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    kubectl.stdin.take().unwrap().write_all(object.to_string().as_bytes()).unwrap();
    let done = kubectl.wait_with_output().unwrap();
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    Ok(serde_json::from_slice(&done.stdout).unwrap())
}

/// A claim has no pod: it is read as a set's template of claims, which is the same type.
fn with_a_pod(object: Value) -> Value {
    if object["kind"] != "PersistentVolumeClaim" {
        return object;
    }
    let pod = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"}, "spec": {
        "serviceName": "s", "selector": {"matchLabels": {"a": "b"}}, "template": pod,
        "volumeClaimTemplates": [object]}})
}

fn plain(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Hash(all) => {
            let pairs = all.iter().map(|(k, v)| (k.as_str().unwrap().to_owned(), plain(v)));
            Value::Object(pairs.collect())
        }
        Yaml::Array(all) => all.iter().map(plain).collect(),
        Yaml::String(text) => json!(text),
        Yaml::Integer(number) => json!(number),
        Yaml::Boolean(yes) => json!(yes),
        other => panic!("{other:?}"),
    }
}

/// The first thing that was written and is not in what was read.
fn lost(written: &Value, read: &Value, place: &str) -> Option<String> {
    match written {
        Value::Object(all) => {
            all.iter().find_map(|(name, of)| lost(of, &read[name], &format!("{place}.{name}")))
        }
        Value::Array(all) => all
            .iter()
            .enumerate()
            .find_map(|(at, of)| lost(of, &read[at], &format!("{place}[{at}]"))),
        leaf => (leaf != read).then(|| place.to_owned()),
    }
}

fn all_of(printed: &str) -> Vec<Value> {
    YamlLoader::load_from_str(printed).unwrap().iter().map(plain).map(with_a_pod).collect()
}

#[test]
fn every_manifest_that_is_printed_is_read_by_kubectl_and_nothing_of_it_is_lost() {
    if Command::new("kubectl").args(["version", "--client"]).output().is_err() {
        eprintln!("left out: there is no kubectl");
        return;
    }
    let example = repository("docs/examples/fleet/kubernetes.toml");
    let printed = call(&format!("fleet plan {}", arg(&example))).with_code(0).stdout;
    let written = all_of(&printed);
    assert!(written.len() >= 4, "{printed}");
    for object in &written {
        let read = read_by_kubectl(object).unwrap_or_else(|why| panic!("{why}{object:#}"));
        assert_eq!(lost(object, &read, ""), None, "{object:#}");
    }
    // The check can fail: by a name that there is not, and by a value of another type.
    let misspelt = all_of(&printed.replace("backoffLimit", "backofLimit"));
    let misspelt = misspelt.iter().find(|o| o["kind"] == "Job").unwrap();
    let read = read_by_kubectl(misspelt).unwrap();
    assert_eq!(lost(misspelt, &read, "").as_deref(), Some(".spec.backofLimit"));
    let wrong = all_of(&printed.replace("backoffLimit: 3", "backoffLimit: few"));
    let why = read_by_kubectl(wrong.iter().find(|o| o["kind"] == "Job").unwrap()).unwrap_err();
    assert!(why.contains("backoffLimit"), "{why}");
}
