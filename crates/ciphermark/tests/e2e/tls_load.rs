//! `tls load` and `tls why` with a calibration of a server whose costs are known.

use crate::support::*;
use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;

fn calibration() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("cal.json");
    let text = serde_json::to_string(&tls_load::sample::calibration()).unwrap();
    std::fs::write(&path, text).unwrap();
    (directory, path)
}

fn tls(arguments: &[&str], calibration: &std::path::Path, code: i32) -> Done {
    let path = arg(calibration);
    ciphermark(&[&["tls"], arguments, &["--calibration", path]].concat(), b"").with_code(code)
}

fn keeps_to(document: &Value, schema: &str) {
    let text = std::fs::read_to_string(repository(schema)).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

fn example() -> String {
    arg(&repository("docs/examples/tls-site.toml")).to_owned()
}

#[test]
fn the_example_is_calculated_explained_and_kept() {
    let (directory, path) = calibration();
    let kept = directory.path().join("load.json.gz");
    let spec = example();
    let arguments = ["load", &spec, "--explain", "--format", "json", "-o", arg(&kept)];
    let load: Value = serde_json::from_str(&tls(&arguments, &path, 0).stdout).unwrap();
    keeps_to(&load, "docs/tls-load.schema.json");
    let shares: f64 =
        load["terms"].as_array().unwrap().iter().map(|t| t["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    assert!(load["alternatives"].as_array().unwrap().len() > 5);
    assert!(kept.is_file());
    let spec: Value = load["spec"].clone();
    keeps_to(&spec, "docs/tls-load-spec.schema.json");
    let text = tls(&["load", &example()], &path, 0).stdout;
    assert!(text.contains("most connections a second"), "{text}");
}

#[test]
fn both_examples_are_read_and_the_old_one_pays_for_its_settings() {
    let (_directory, path) = calibration();
    let spec = arg(&repository("docs/examples/tls-2016.toml")).to_owned();
    let arguments = ["why", "--from", "0.5%", "--to", "2..3%", "--spec", &spec, "--format", "json"];
    let why: Value = serde_json::from_str(&tls(&arguments, &path, 0).stdout).unwrap();
    let changes = why["changes"].as_array().unwrap();
    let verdict = |text: &str| {
        let found = changes.iter().find(|c| c["change"].as_str().unwrap().contains(text)).unwrap();
        found["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("AES-128-GCM before"), "cannot");
    assert_ne!(verdict("no DHE"), "cannot");
}

#[test]
fn what_is_typed_goes_before_the_file() {
    let (_directory, path) = calibration();
    let of = |arguments: &[&str]| -> Value {
        let spec = example();
        let all = [&["load", &spec, "--format", "json"], arguments].concat();
        serde_json::from_str(&tls(&all, &path, 0).stdout).unwrap()
    };
    let cpu = |load: &Value| load["cpu_us_per_s"]["value"].as_f64().unwrap();
    let plain = of(&[]);
    assert!(cpu(&of(&["--connections", "40"])) > cpu(&plain));
    assert!(
        cpu(&of(&["--certificate", "rsa-4096"])) > cpu(&of(&["--certificate", "p256,rsa-2048"]))
    );
    let old = of(&["--ciphers", "EDH+AESGCM", "--dh", "ffdhe4096", "--client", "ie-11-win7"]);
    let agreed = &old["negotiated"][0]["agreement"]["agreed"];
    assert_eq!(agreed["case"]["exchange"], "ffdhe4096");
}

#[test]
fn a_rise_is_answered_and_cpu_alone_does_not_decide() {
    let (_directory, path) = calibration();
    let arguments = ["why", "--from", "0.5%", "--to", "2..3%", "--slower", "1.3..2.5"];
    let text = tls(&arguments, &path, 0).stdout;
    for word in ["Cannot decide from CPU % alone", "$ssl_session_reused", "$ssl_cipher", "Mbit"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let spec = example();
    let why = [&arguments[..], &["--spec", &spec, "--format", "json"]].concat();
    let why: Value = serde_json::from_str(&tls(&why, &path, 0).stdout).unwrap();
    keeps_to(&why, "docs/tls-why.schema.json");
    assert!(!why["changes"].as_array().unwrap().is_empty());
}

/// It would take minutes: that there is no nginx at the place that was named ends it at once.
#[test]
fn without_a_calibration_a_load_begins_to_measure_one_and_a_rise_names_the_command() {
    let load = ciphermark(&["tls", "load", "--nginx", "/nonexistent/nginx"], b"").with_code(4);
    assert!(load.stderr.contains("/nonexistent/nginx"), "{}", load.stderr);
    let why = ciphermark(&["tls", "why", "--from", "1%", "--to", "2%"], b"").with_code(4);
    assert!(why.stderr.contains("tls calibrate -o"), "{}", why.stderr);
}

#[test]
fn the_help_names_every_class_of_clients() {
    let help = ciphermark(&["tls", "load", "--help"], b"").with_code(0).stdout;
    for (class, _) in tls_load::client_classes() {
        assert!(help.contains(class), "{class}");
    }
}

#[test]
fn wrong_input_is_named_in_one_line() {
    let (directory, path) = calibration();
    let spec = directory.path().join("wrong.toml");
    std::fs::write(&spec, "[traffic]\nconnection_per_s = 3\n").unwrap();
    let wrong = arg(&spec);
    let cases: [(&[&str], &str); 8] = [
        (&["load", wrong], "connection_per_s"),
        (&["load", "--connections", "-3"], "-3"),
        (&["load", "--profile", "modernn"], "modernn"),
        (&["load", "--groups", "X25518"], "X25518"),
        (&["load", "--client", "netscape"], "netscape"),
        (&["load", "--ciphers", "RC4", "--client", "chrome-49"], "RC4"),
        (&["why", "--from", "3%", "--to", "2%"], "no rise"),
        (&["why", "--from", "1%", "--to", "2%", "--slower", "0"], "above 0"),
    ];
    for (arguments, named) in cases {
        let done = tls(arguments, &path, 2);
        assert!(done.stderr.contains(named), "{arguments:?}: {}", done.stderr);
        assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
    }
    let done = tls(&["load"], &spec, 2);
    assert!(done.stderr.contains("wrong.toml"), "{}", done.stderr);
    let stranger = arg(&spec);
    tls(&["load", "-o", stranger], &path, 2);
    assert!(std::fs::read_to_string(&spec).unwrap().contains("connection_per_s"));
}
