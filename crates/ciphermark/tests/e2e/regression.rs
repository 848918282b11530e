//! The workflow of `docs/examples/regression.yml`: it is YAML of the right shape, and its shell steps
//! do what they say, with two stand-in libraries in the place of two builds.

use crate::support::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use yaml_rust2::{Yaml, YamlLoader};

/// The steps that need neither a repository nor a network.
const OURS: [&str; 3] = ["Verify", "Measure", "Compare"];

fn workflow() -> Yaml {
    let text = std::fs::read_to_string(repository("docs/examples/regression.yml")).unwrap();
    YamlLoader::load_from_str(&text).unwrap().remove(0)
}

fn words(yaml: &Yaml) -> &str {
    yaml.as_str().unwrap_or_else(|| panic!("no text: {yaml:?}"))
}

fn steps(workflow: &Yaml) -> Vec<Yaml> {
    workflow["jobs"]["speed"]["steps"].as_vec().unwrap().clone()
}

fn named<'a>(steps: &'a [Yaml], name: &str) -> &'a Yaml {
    steps.iter().find(|s| words(&s["name"]) == name).unwrap_or_else(|| panic!("no step {name}"))
}

/// What the runner would set for the steps of ours.
struct Runner {
    directory: tempfile::TempDir,
    variables: BTreeMap<String, String>,
}

impl Runner {
    fn new(base: &Path, head: &Path) -> Self {
        let directory = scratch();
        let workflow = workflow();
        let of_file = workflow["env"].as_hash().unwrap().iter();
        let mut variables: BTreeMap<String, String> =
            of_file.map(|(k, v)| (words(k).to_owned(), words(v).to_owned())).collect();
        // The one algorithm that the stand-ins have, whose work is planted.
        variables.insert("ALGORITHMS".to_owned(), "crc32c".to_owned());
        variables.insert("SIZES".to_owned(), "1K,16K".to_owned());
        let summary = arg(&directory.path().join("summary.md")).to_owned();
        let found = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{found}", arg(program().parent().unwrap()));
        let set = [("BASE", arg(base)), ("HEAD", arg(head)), ("GITHUB_STEP_SUMMARY", &*summary)];
        variables.extend(set.map(|(k, v)| (k.to_owned(), v.to_owned())));
        variables
            .extend([("PATH".to_owned(), path), ("CIPHERMARK_BUNDLED".to_owned(), String::new())]);
        Self { directory, variables }
    }

    /// Runs a step as the runner does, and gives its exit code.
    fn run(&self, name: &str) -> i32 {
        let steps = steps(&workflow());
        let script = words(&named(&steps, name)["run"]).to_owned();
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]);
        let output =
            bash.current_dir(self.directory.path()).envs(&self.variables).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked") && !said.contains("usage"), "{name}: {said}");
        output.status.code().unwrap()
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.directory.path().join(name)).unwrap()
    }
}

#[test]
fn the_workflow_has_the_shape_that_actions_want() {
    let workflow = workflow();
    assert_eq!(words(&workflow["on"]), "pull_request");
    assert_eq!(words(&workflow["permissions"]["contents"]), "read");
    for step in steps(&workflow) {
        let (run, uses) = (step["run"].as_str(), step["uses"].as_str());
        assert!(run.is_some() != uses.is_some(), "one of run and uses: {step:?}");
        assert!(uses.is_none_or(|u| u.contains('@')), "without a version: {step:?}");
    }
    let steps = steps(&workflow);
    OURS.iter().for_each(|name| assert!(named(&steps, name)["run"].as_str().is_some()));
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_head_that_does_four_times_the_work_fails_and_the_summary_says_why() {
    let (base, head) =
        (fakes::object("planted", "PLANTED=0"), fakes::object("planted", "PLANTED=3000"));
    let runner = Runner::new(&base, &head);
    assert_eq!(OURS.map(|step| runner.run(step)), [0, 0, 1]);
    let summary = runner.file("summary.md");
    assert!(summary.starts_with("### ❌ 2 slower, 0 faster"), "{summary}");
    assert!(summary.contains("instructions grew in 1 case"), "{summary}");
    assert!(summary.contains("confirmed by pairs: 2 of 2 candidates settled"), "{summary}");
    // The other way round it is an improvement.
    let runner = Runner::new(&head, &base);
    assert_eq!(OURS.map(|step| runner.run(step)), [0; 3]);
    assert!(runner.file("summary.md").starts_with("### ✅ 0 slower, 2 faster"));
}
