//! `advise --for tls-server`: a run of handshakes asked what a server should be set to.

use crate::support::*;
use crate::tls::stack;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A run with one stack in which ECDSA costs 80 µs, RSA of 2048 bits 400 and everything of TLS 1.2 a tenth
/// more.
fn run_in(directory: &Path) -> PathBuf {
    run_of(directory, "9.9", true)
}

/// The same in a stack of that version, with or without ML-KEM.
pub(crate) fn run_of(directory: &Path, version: &str, has_ml_kem: bool) -> PathBuf {
    let label = format!("openssl@{version}");
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
            let has = has_ml_kem || exchange != "x25519mlkem768";
            let state = if has { "measured" } else { "unsupported" };
            let cost = if has { cost } else { Value::Null };
            rows.push(json!({
                "stack": label, "temperature": "hot", "state": state, "reason": null,
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
        "stacks": [{"label": label, "name": "openssl", "version": version, "path": "", "id": "",
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
    ciphermark(&[&what[..], arguments].concat(), b"").with_code(code).json()
}

#[test]
fn a_run_is_answered_from_with_what_the_flags_say() {
    let directory = scratch();
    let run = run_in(directory.path());
    let found = advice(&run, &["--certificates", "rsa-2048,p256"], 0);
    keeps_to(&found, "docs/tls-advice.schema.json");
    assert_eq!(text(&found, "choice.candidate.profile"), "modern");
    assert_eq!(found["choice"]["candidate"]["certificates"], json!(["p256"]));
    let flags = ["--certificates", "rsa-2048", "--clients", "browser,firefox-45=5%"];
    let found = advice(&run, &flags, 0);
    assert_eq!(text(&found, "choice.candidate.profile"), "intermediate");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn without_a_run_the_handshakes_are_measured_and_kept() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let kept = file(&directory, "kept.json");
    let what = "--for tls-server --certificates p256";
    let measured =
        |budget: &str| call(&format!("advise {what} -l {stack} -q --budget {budget} -o {kept}"));
    assert!(with_more_time(measured).stdout.contains("p256, system@"));
    let again = call(&format!("advise {kept} {what}")).with_code(0);
    assert!(again.stdout.contains("p256, system@"));
    call(&format!("report {kept} -o {}", file(&directory, "page.html"))).with_code(0);
}

#[test]
fn what_cannot_be_asked_gets_one_line_that_helps() {
    let directory = scratch();
    let run = run_in(directory.path());
    for (flags, words) in [
        ("--clients netscape", "'netscape' is no class of clients"),
        ("--integrity none", "--integrity is for stored data"),
        ("--bytes 1K", "--bytes needs a price"),
        ("-l botan", "the run has no stack that matches 'botan'"),
    ] {
        refuses(&format!("advise {} --for tls-server {flags}", arg(&run)), &[words]);
    }
    refuses(&format!("advise {} --for postgres", arg(&run)), &["is a run of TLS"]);
    let other = "advise --for postgres --clients browser";
    refuses(other, &["--clients is for --for tls-server only"]);
    let none = advice(&run, &["--certificates", "ed25519"], 1);
    assert!(none["choice"].is_null(), "{none:#}");
}
