//! A survey through a real Kubernetes and its kubectl: what the stand-in of `fleet.rs` cannot know.

use crate::fleet::{ARGUMENTS, words};
use crate::support::*;
use std::process::Command;

/// A survey of these types.
fn spec(survey: &str, image: &str, more: &str, types: &[&str]) -> String {
    let machines: String = types.iter().map(|t| format!("[[machine]]\ntype = '{t}'\n")).collect();
    // Long enough to be interrupted.
    let arguments = ARGUMENTS.replace("\"4s\"", "\"15s\"");
    format!(
        "survey = '{survey}'\nengine = 'kubernetes'\ntime = '10m'\narguments = {arguments}\nkey = 'key'\n[kubernetes]\n\
         image = '{image}'\ncpu = '1'\nmemory = '64Mi'\n{more}\n{machines}"
    )
}

/// A new key of OpenSSH, and the file of allowed signers that names it.
fn signer(directory: &tempfile::TempDir) -> String {
    let (key, signers) = (file(directory, "key"), file(directory, "signers"));
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &key]);
    assert!(keygen.status().unwrap().success());
    let public = std::fs::read_to_string(directory.path().join("key.pub")).unwrap();
    std::fs::write(&signers, format!("bench@example.com {public}")).unwrap();
    signers
}

#[test]
#[ignore = "long: a Kubernetes of three nodes; `make test-kubernetes` builds it"]
fn three_types_through_a_real_kubernetes_with_one_down_one_killed_and_one_unknown() {
    let Some(cluster) = KubernetesCluster::new(&["n1=c7a.large", "n2=c7i.large", "n3=m8g.large"])
    else {
        return;
    };
    let here = scratch();
    let signers = signer(&here);
    let (path, configuration) = cluster.variables();
    let fleet = |command: &str, of: &str| {
        let variables = [("PATH", path.as_str()), ("KUBECONFIG", configuration.as_str())];
        ciphermark_with(&["fleet", command, &file(&here, of)], &variables)
    };
    let claims = "volume = '1Gi'\nstorage_class = 'fleet'";
    let types = ["c7a.large", "c7i.large", "m8g.large", "r9x.large"];
    let whole = spec("a", "docker.io/local/ciphermark:1", claims, &types);
    std::fs::write(here.path().join("a.toml"), whole).unwrap();
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
    assert!(
        gathered.stdout.contains("3 of 4 records are here; 1 are not here"),
        "{}",
        gathered.stdout
    );
    assert!(!gathered.stdout.contains("doubtful"), "{}", gathered.stdout);
    let records: Vec<String> = types[..3]
        .iter()
        .map(|kind| file(&here, &format!("records/a-{}.json", kind.replace('.', "-"))))
        .collect();
    for (kind, path) in types.iter().zip(&records) {
        let (record, manifest) = (read(path), read(format!("{path}.manifest")));
        assert_eq!(record["plan"]["seed"], manifest["seed"], "{kind}");
        assert_eq!(manifest["machine_type"], *kind);
        all_are(rows(&record, "measurements"), "measured");
    }
    let store = file(&here, "fleet.db");
    let add = ["archive", "add", &store, "--allowed-signers", &signers];
    let all: Vec<&str> = add.into_iter().chain(records.iter().map(String::as_str)).collect();
    let added = ciphermark(&all, b"").with_code(0);
    assert_eq!(added.stderr.matches("cases, signed").count(), 3, "{}", added.stderr);
    // Let go of, their pods end.
    cluster.wait_for("pods that have ended", |c| {
        let running = [
            "get",
            "pods",
            "-l",
            "survey=a",
            "--field-selector=status.phase=Running",
            "-o",
            "name",
        ];
        c.kubectl(&running).trim().is_empty()
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
    std::fs::write(here.path().join("b.toml"), without_image).unwrap();
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
        std::fs::write(here.path().join(&name), text).unwrap();
        let refused = fleet("run", &name).with_code(1);
        assert!(words(&refused, "c7a.large").starts_with(said), "{}", refused.stdout);
    }
}
