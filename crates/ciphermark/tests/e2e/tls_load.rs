//! `tls load`, `tls why`, `tls calibrate` and `tls load --validate`: calculated from a calibration whose
//! costs are known, and counted with nginx on the loopback. What a validation finds is not looked at, only
//! that it is told.

use crate::support::*;
use rustix::process::Signal;
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

// `tls calibrate` and `tls load --validate`: nginx on the loopback, counted and held to the model. Nothing here
// depends on how fast anything is: what a validation finds is not looked at, only that it is told.

/// Whether there are an nginx and two CPUs.
fn has_nginx() -> bool {
    let found = ciphermark::server::find_nginx(None).is_ok();
    let cpus = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
    if !(found && cpus) {
        eprintln!("left out: there is no nginx, or only one CPU");
    }
    found && cpus
}

const SHORT: &str = "--rounds 1 --visit 10ms --budget 10m";

#[test]
#[ignore = "long: a real nginx"]
fn what_is_validated_was_counted_and_a_second_run_adds_only_what_is_missing() {
    if !has_nginx() {
        return;
    }
    let directory = scratch();
    let file = file(&directory, "validation.json");
    let resumption = || {
        let what = "tls load --validate --regime steady --part resumption";
        let done = call(&format!("{what} -o {file} {SHORT}"));
        // Whether the model holds hangs on the machine's other work.
        assert!([0, 1, 4].contains(&done.code), "{done:?}");
        done
    };
    resumption();
    let validation = read(&file);
    keeps_to(&validation, "docs/tls-validation.schema.json");
    let rows = rows(&validation["parts"][0], "rows");
    assert_eq!(rows.len(), 5);
    for row in rows {
        assert_eq!(text(row, "state"), "measured", "{row:#}");
        assert_eq!(row["counted"]["resumed"], row["counted"]["connections"], "{row:#}");
        assert_eq!(row["by_session"]["resumed"], true, "{row:#}");
        assert_eq!(row["full"]["resumed"], false, "{row:#}");
        // Of one round: no more is known than that it was calculated, not even its sign.
        assert!(number(row, "predicted_cpu_us.value").is_finite(), "{row:#}");
        assert!(number(row, "measured_cpu_us.value") > 0.0, "{row:#}");
    }
    let server = &validation["parts"][0]["calibration"]["server"];
    assert!(text(server, "configuration").contains("ssl_session_cache shared:"), "{server:#}");
    // Once more: nothing is measured, the same is shown.
    let again = resumption();
    assert_eq!(read(&file), validation);
    assert!(again.stdout.contains("all by PSK, 1.3"), "{again:?}");
}

#[test]
#[ignore = "long: a real nginx"]
fn a_calibration_is_what_loads_are_calculated_from() {
    if !has_nginx() {
        return;
    }
    let directory = scratch();
    let file = file(&directory, "cal.json");
    let shown =
        call(&format!("tls calibrate --regime steady -o {file} {SHORT}")).with_code(0).stdout;
    assert!(shown.contains("minimal-tls") && shown.contains("real-plain"), "{shown}");
    let calibration = read(&file);
    keeps_to(&calibration, "docs/tls-calibration.schema.json");
    for point in rows(&calibration, "points") {
        let state = text(point, "state");
        let is_hybrid = point["served"].to_string().contains("x25519mlkem768");
        assert!(state == "measured" || is_hybrid && state == "unsupported", "{point:#}");
    }
    assert_eq!(rows(&calibration, "memory").len(), 4);
    // Of an OpenSSL without ML-KEM, two of the offers cannot be made.
    let picked = rows(&calibration, "picked");
    assert_eq!(picked.len(), 5);
    let none = picked.iter().filter(|one| one["group"].is_null());
    assert!(none.clone().all(|one| text(one, "offered").contains("MLKEM")), "{picked:#?}");
    assert!(shown.contains("offered X25519:P-256:P-384, the server picks x25519"), "{shown}");
    let load = call(&format!("tls load --connections 10 --calibration {file}")).with_code(0).stdout;
    assert!(load.contains("% of a core"), "{load}");
}

#[test]
#[ignore = "long: a real nginx"]
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
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let masters = pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with(b"nginx: master") && String::from_utf8_lossy(&line).contains(place)
    });
    masters.map(|pid| 1 + processes_below(pid).len()).sum()
}

#[test]
fn wrong_usage_and_a_missing_nginx_are_one_line_each() {
    let directory = scratch();
    let notes = file(&directory, "notes.txt");
    std::fs::write(&notes, "mine").unwrap();
    for (flags, code, words) in [
        ("--nginx /nowhere/nginx", 4, "'/nowhere/nginx' is no nginx"),
        ("--nginx /bin/true", 4, "is no nginx: it does not say its version"),
        ("--part nonsense", 2, "'nonsense'"),
        ("--part nonsense", 2, "certificates"),
        ("--regime idle", 2, "'idle'"),
        (&format!("-o {notes}"), 2, "not overwritten"),
    ] {
        let said = call(&format!("tls load --validate {flags}")).with_code(code).stderr;
        assert!(said.contains(words), "{flags}: {said}");
    }
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
}
