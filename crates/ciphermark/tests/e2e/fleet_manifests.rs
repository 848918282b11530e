//! Every manifest that `fleet plan` prints is read by kubectl: decoded into Kubernetes' own types, with nothing lost.
//! No cluster is asked: `kubectl set` changes files by itself (`--local`).

use crate::support::*;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};
use yaml_rust2::{Yaml, YamlLoader};

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
    let printed = ciphermark(&["fleet", "plan", arg(&example)], b"").with_code(0).stdout;
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
