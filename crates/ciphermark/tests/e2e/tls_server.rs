//! `tls calibrate` and `tls load --validate`: nginx on the loopback, counted and held to the model. Nothing here
//! depends on how fast anything is: what a validation finds is not looked at, only that it is told.

use crate::support::*;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;

/// Whether there are an nginx and two CPUs.
fn has_nginx() -> bool {
    let found = tls_server::find_nginx(None).is_ok();
    let cpus = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
    if !(found && cpus) {
        eprintln!("left out: there is no nginx, or only one CPU");
    }
    found && cpus
}

fn keeps_to(document: &Value, schema: &str) {
    let text = std::fs::read_to_string(repository(schema)).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

const SHORT: [&str; 6] = ["--rounds", "1", "--visit", "10ms", "--budget", "10m"];

#[test]
fn what_is_validated_was_counted_and_a_second_run_adds_only_what_is_missing() {
    if !has_nginx() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("validation.json");
    let arguments = ["tls", "load", "--validate", "--regime", "steady", "-o", arg(&file)];
    let part = |name| {
        let all = [&arguments[..], &["--part", name], &SHORT].concat();
        let done = ciphermark(&all, b"");
        // Whether the model holds hangs on the machine's other work.
        assert!([0, 1, 4].contains(&done.code), "{done:?}");
        done
    };
    part("resumption");
    let validation = read(&file);
    keeps_to(&validation, "docs/tls-validation.schema.json");
    let rows = validation["parts"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!(text(row, "state"), "measured", "{row:#}");
        assert_eq!(row["counted"]["resumed"], row["counted"]["connections"], "{row:#}");
        assert_eq!(row["by_session"]["resumed"], true, "{row:#}");
        assert_eq!(row["full"]["resumed"], false, "{row:#}");
        assert!(row["predicted_cpu_us"]["value"].as_f64().unwrap() > 0.0, "{row:#}");
        assert!(row["measured_cpu_us"]["value"].as_f64().unwrap() > 0.0, "{row:#}");
    }
    let server = &validation["parts"][0]["calibration"]["server"];
    assert!(text(server, "configuration").contains("ssl_session_cache shared:"), "{server:#}");
    // Once more: nothing is measured, the same is shown.
    let again = part("resumption");
    assert_eq!(read(&file), validation);
    assert!(again.stdout.contains("all by PSK, 1.3"), "{again:?}");
}

#[test]
fn a_calibration_is_what_loads_are_calculated_from() {
    if !has_nginx() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("cal.json");
    let arguments = ["tls", "calibrate", "--regime", "steady", "-o", arg(&file)];
    let shown = ciphermark(&[&arguments[..], &SHORT].concat(), b"").with_code(0).stdout;
    assert!(shown.contains("minimal-tls") && shown.contains("real-plain"), "{shown}");
    let calibration = read(&file);
    keeps_to(&calibration, "docs/tls-calibration.schema.json");
    for point in calibration["points"].as_array().unwrap() {
        let state = text(point, "state");
        let is_hybrid = point["served"].to_string().contains("x25519mlkem768");
        assert!(state == "measured" || is_hybrid && state == "unsupported", "{point:#}");
    }
    assert_eq!(calibration["memory"].as_array().unwrap().len(), 4);
    let load = ["tls", "load", "--connections", "10", "--calibration", arg(&file)];
    let load = ciphermark(&load, b"").with_code(0).stdout;
    assert!(load.contains("% of a core"), "{load}");
}

#[test]
fn a_run_that_is_killed_leaves_no_server_behind() {
    if !has_nginx() {
        return;
    }
    let endless = ["--rounds", "50", "--visit", "1s", "--budget", "10m", "--part", "resumption"];
    for signal in [Signal::KILL, Signal::TERM, Signal::INT] {
        let mut running =
            Background::start(&[&["tls", "load", "--validate", "--quiet"], &endless[..]].concat());
        let place = format!("ciphermark-nginx-{}-", running.id());
        running.wait_until("there are a master and a worker of nginx", || named(&place) >= 2);
        running.send(signal);
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while named(&place) > 0 {
            assert!(std::time::Instant::now() < end, "{signal:?}: nginx is still there");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// nginx processes with a configuration at a place: masters name it in their arguments, workers are their
/// children.
fn named(place: &str) -> usize {
    let read =
        |pid: &str, what: &str| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids: Vec<String> = pids.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    let is_master = |pid: &&String| {
        let line = read(pid, "cmdline");
        line.starts_with(b"nginx: master") && String::from_utf8_lossy(&line).contains(place)
    };
    let masters: Vec<&String> = pids.iter().filter(is_master).collect();
    let is_worker = |pid: &&String| {
        let stat = String::from_utf8_lossy(&read(pid, "stat")).into_owned();
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1).map(str::to_owned));
        parent.is_some_and(|parent| masters.iter().any(|master| **master == parent))
    };
    masters.len() + pids.iter().filter(is_worker).count()
}

#[test]
fn wrong_usage_and_a_missing_nginx_are_one_line_each() {
    let validate = |arguments: &[&str], code| {
        let all = [&["tls", "load", "--validate"], arguments].concat();
        ciphermark(&all, b"").with_code(code).stderr
    };
    let missing = validate(&["--nginx", "/nowhere/nginx"], 4);
    assert!(missing.contains("'/nowhere/nginx' is no nginx"), "{missing}");
    let other = validate(&["--nginx", "/bin/true"], 4);
    assert!(other.contains("is no nginx: it does not say its version"), "{other}");
    let part = validate(&["--part", "nonsense"], 2);
    assert!(part.contains("unknown part 'nonsense': one of certificates"), "{part}");
    let regime = validate(&["--regime", "idle"], 2);
    assert!(regime.contains("unknown regime 'idle'"), "{regime}");
    let directory = tempfile::tempdir().unwrap();
    let strangers = directory.path().join("notes.txt");
    std::fs::write(&strangers, "mine").unwrap();
    let kept = validate(&["-o", arg(&strangers)], 2);
    assert!(kept.contains("not overwritten"), "{kept}");
    assert_eq!(std::fs::read_to_string(&strangers).unwrap(), "mine");
}
