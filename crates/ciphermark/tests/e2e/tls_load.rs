//! `tls load` and `tls why` with a calibration of a server whose costs are known.

use crate::support::*;
use tempfile::TempDir;

fn calibration() -> (TempDir, String) {
    let directory = scratch();
    let path = file(&directory, "cal.json");
    let text = serde_json::to_string(&judge::load::sample::calibration()).unwrap();
    std::fs::write(&path, text).unwrap();
    (directory, path)
}

fn tls(line: &str, calibration: &str) -> Done {
    call(&format!("tls {line} --calibration {calibration}")).with_code(0)
}

fn example() -> String {
    arg(&repository("docs/examples/tls-site.toml")).to_owned()
}

#[test]
fn the_example_is_calculated_explained_and_kept() {
    let (directory, path) = calibration();
    let (kept, spec) = (file(&directory, "load.json.gz"), example());
    let load = tls(&format!("load {spec} --explain --format json -o {kept}"), &path).json();
    keeps_to(&load, "docs/tls-load.schema.json");
    let shares: f64 = rows(&load, "terms").iter().map(|term| number(term, "share")).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    assert!(rows(&load, "alternatives").len() > 5);
    assert!(std::path::Path::new(&kept).is_file());
    keeps_to(&load["spec"], "docs/tls-load-spec.schema.json");
    let text = tls(&format!("load {spec}"), &path).stdout;
    assert!(text.contains("most connections a second"), "{text}");
}

#[test]
fn both_examples_are_read_and_the_old_one_pays_for_its_settings() {
    let (_directory, path) = calibration();
    let spec = arg(&repository("docs/examples/tls-2016.toml")).to_owned();
    let why = tls(&format!("why --from 0.5% --to 2..3% --spec {spec} --format json"), &path).json();
    let verdict = |words: &str| {
        let mut changes = rows(&why, "changes").iter();
        let found = changes.find(|change| text(change, "change").contains(words)).unwrap();
        text(found, "verdict").to_owned()
    };
    assert_eq!(verdict("AES-128-GCM before"), "cannot");
    assert_ne!(verdict("no DHE"), "cannot");
}

#[test]
fn what_is_typed_goes_before_the_file() {
    let (_directory, path) = calibration();
    let of = |flags: &str| tls(&format!("load {} --format json {flags}", example()), &path).json();
    let cpu = |flags: &str| number(&of(flags), "cpu_us_per_s.value");
    assert!(cpu("--connections 40") > cpu(""));
    assert!(cpu("--certificate rsa-4096") > cpu("--certificate p256,rsa-2048"));
    let old = of("--ciphers EDH+AESGCM --dh ffdhe4096 --client ie-11-win7");
    let agreed = &old["negotiated"][0]["agreement"]["agreed"];
    assert_eq!(agreed["case"]["exchange"], "ffdhe4096");
}

#[test]
fn a_rise_is_answered_and_cpu_alone_does_not_decide() {
    let (_directory, path) = calibration();
    let why = "why --from 0.5% --to 2..3% --slower 1.3..2.5";
    let text = tls(why, &path).stdout;
    for word in ["Cannot decide from CPU % alone", "$ssl_session_reused", "$ssl_cipher", "Mbit"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let why = tls(&format!("{why} --spec {} --format json", example()), &path).json();
    keeps_to(&why, "docs/tls-why.schema.json");
    assert!(!rows(&why, "changes").is_empty());
}

/// It would take minutes: that there is no nginx at the place that was named ends it at once.
#[test]
fn without_a_calibration_a_load_begins_to_measure_one_and_a_rise_names_the_command() {
    let load = call("tls load --nginx /nonexistent/nginx").with_code(4);
    assert!(load.stderr.contains("/nonexistent/nginx"), "{}", load.stderr);
    let why = call("tls why --from 1% --to 2%").with_code(4);
    assert!(why.stderr.contains("tls calibrate -o"), "{}", why.stderr);
}

#[test]
fn the_help_names_every_class_of_clients() {
    let help = call("tls load --help").with_code(0).stdout;
    for (class, _) in judge::load::client_classes() {
        assert!(help.contains(class), "{class}");
    }
}

#[test]
fn wrong_input_is_named_in_one_line() {
    let (directory, path) = calibration();
    let wrong = file(&directory, "wrong.toml");
    std::fs::write(&wrong, "[traffic]\nconnection_per_s = 3\n").unwrap();
    for (line, named) in [
        (&*format!("load {wrong}"), "connection_per_s"),
        ("load --connections -3", "-3"),
        ("load --profile modernn", "modernn"),
        ("load --groups X25518", "X25518"),
        ("load --client netscape", "netscape"),
        ("load --ciphers RC4 --client chrome-49", "RC4"),
        ("load --regime low,steady", "--regime: give one"),
        ("why --from 3% --to 2%", "no rise"),
        ("why --from 1% --to 2% --slower 0", "above 0"),
        (&format!("load -o {wrong}"), "not overwritten"),
    ] {
        refuses(&format!("tls {line} --calibration {path}"), &[named]);
    }
    refuses(&format!("tls load --calibration {wrong}"), &["wrong.toml"]);
    assert!(std::fs::read_to_string(&wrong).unwrap().contains("connection_per_s"));
}
