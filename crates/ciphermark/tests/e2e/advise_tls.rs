//! `advise --for tls-server`: a run of handshakes asked what a server should be set to.

use crate::support::*;
use crate::tls::{keeps_to, stack};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A run with one stack in which ECDSA costs 80 µs, RSA of 2048 bits 400 and everything of TLS 1.2 a tenth
/// more.
fn run_in(directory: &Path) -> PathBuf {
    let mut rows = Vec::new();
    for (certificate, us) in [("p256", 80.0), ("rsa-2048", 400.0), ("rsa-3072", 1200.0)] {
        for (version, exchange, times) in [
            ("1.3", "x25519mlkem768", 1.0),
            ("1.3", "x25519", 0.9),
            ("1.2", "x25519", 1.1),
            ("1.2", "p256", 1.1),
        ] {
            let ns = us * times * 1000.0;
            let cost = json!({"median_ns": ns, "low_ns": ns * 0.99, "high_ns": ns * 1.01, "mean_ns": ns,
                "max_ns": ns, "setup_ns": 0.0, "cycles": null});
            rows.push(json!({
                "stack": "openssl@9.9", "temperature": "hot", "state": "measured", "reason": null,
                "case": {"version": version, "exchange": exchange, "certificate": certificate, "kind": "full",
                    "client_auth": false, "suite": "aes-128-gcm"},
                "negotiated": null, "server": cost, "client": cost, "first": null, "bytes": null, "memory": null,
                "samples": 30, "handshakes": 30, "processes": 6, "contended": false, "stopped": null,
                "disturbed": json!(record::Disturbances::default()),
            }));
        }
    }
    let run = json!({
        "format_version": "1.0", "kind": "tls-handshakes", "started": "2026-11-21T00:00:00Z", "seconds": 1.0,
        "command": [], "host": json!(record::Host::default()), "span": "",
        "plan": {"precision": 0.02, "budget_seconds": 1.0, "seed": 1, "cpu": 0},
        "stacks": [{"label": "openssl@9.9", "name": "openssl", "version": "9.9", "path": "", "id": "",
            "crypto_path": "", "crypto_id": "", "build": []}],
        "noise": {"samples": 1, "clean": 1, "disturbed": json!(record::Disturbances::default()),
            "stolen_seconds": null, "core_alone": false},
        "handshakes": rows,
    });
    let path = directory.join("tls.json");
    std::fs::write(&path, run.to_string()).unwrap();
    path
}

fn advice(run: &Path, arguments: &[&str], code: i32) -> Value {
    let what = ["advise", arg(run), "--for", "tls-server", "--format", "json"];
    let done = ciphermark(&[&what[..], arguments].concat(), b"").with_code(code);
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn the_clients_decide_the_profile_and_the_price_the_certificate() {
    let directory = scratch();
    let run = run_in(directory.path());
    let found = advice(&run, &["--certificates", "rsa-2048,p256"], 0);
    keeps_to(&found, "docs/tls-advice.schema.json");
    assert_eq!(text(&found, "choice.candidate.profile"), "modern");
    assert_eq!(found["choice"]["candidate"]["certificates"], json!(["p256"]));
    let found =
        advice(&run, &["--certificates", "rsa-2048", "--clients", "browser,firefox-45=5%"], 0);
    assert_eq!(text(&found, "choice.candidate.profile"), "intermediate");
    let refused = &found["rejected"][0];
    assert_eq!(
        (text(refused, "rule"), text(refused, "detail")),
        ("client-refused", "firefox-45: no version in common")
    );
    let wishes: Vec<&str> =
        found["changes"].as_array().unwrap().iter().map(|c| text(c, "wish")).collect();
    assert!(wishes.contains(&"with a certificate p256"), "{wishes:?}");
    assert!(wishes.contains(&"without the clients firefox-45"), "{wishes:?}");
}

#[test]
fn text_names_the_rules_and_nginx_settings() {
    let directory = scratch();
    let run = run_in(directory.path());
    let done = ciphermark(&["advise", arg(&run), "--for", "tls-server"], b"").with_code(0);
    assert!(done.stdout.contains("ssl_protocols TLSv1.3;"), "{}", done.stdout);
    assert!(done.stdout.contains("Rejected, wider-than-needed:"), "{}", done.stdout);
}

#[test]
fn without_a_run_the_handshakes_are_measured_and_kept() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let kept = directory.path().join("kept.json");
    let what = ["advise", "--for", "tls-server", "--certificates", "p256", "-l", &stack, "-q"];
    let measured = |budget: &str| {
        ciphermark(&[&what[..], &["--budget", budget, "-o", arg(&kept)]].concat(), b"")
    };
    // On a machine that has other things to do, once more with more time.
    let first = measured("20s");
    let done = if first.code == 0 { first } else { measured("120s") };
    assert!(done.with_code(0).stdout.contains("p256, system@"));
    let again =
        ciphermark(&["advise", arg(&kept), "--for", "tls-server", "--certificates", "p256"], b"");
    assert!(again.with_code(0).stdout.contains("p256, system@"));
    let page = directory.path().join("page.html");
    ciphermark(&["report", arg(&kept), "-o", arg(&page)], b"").with_code(0);
}

#[test]
fn what_cannot_be_asked_gets_one_line_that_helps() {
    let directory = scratch();
    let run = run_in(directory.path());
    let line = |arguments: &[&str]| {
        refusal(&[&["advise", arg(&run), "--for", "tls-server"], arguments].concat())
    };
    assert!(line(&["--clients", "netscape"]).contains("'netscape' is no class of clients"));
    assert!(line(&["--integrity", "none"]).contains("--integrity asks of stored data"));
    assert!(line(&["--bytes", "1K"]).contains("--bytes needs what prices them"));
    assert!(line(&["-l", "botan"]).contains("no stack of the run matches 'botan'"));
    let other = refusal(&["advise", arg(&run), "--for", "postgres"]);
    assert!(other.contains("is a run of TLS"), "{other}");
    let other = refusal(&["advise", "--for", "postgres", "--clients", "browser"]);
    assert!(other.contains("--clients is for --for tls-server only"), "{other}");
    let none = advice(&run, &["--certificates", "ed25519"], 1);
    assert!(none["choice"].is_null(), "{none:#}");
}
