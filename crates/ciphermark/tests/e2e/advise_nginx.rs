//! Every configuration that is printed for nginx is loaded by nginx: with the system's libssl, and with each other
//! that nginx can run with here.

use crate::advise_tls::run_of;
use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One libssl that nginx runs with.
struct Loaded {
    /// Its directory; none is the system's.
    directory: Option<PathBuf>,
    /// `3.0.19`
    version: String,
}

/// Directories that have a libssl with the name that nginx asks for.
fn others() -> Vec<PathBuf> {
    let built = std::env::var_os("CIPHERMARK_LIBS").map(PathBuf::from);
    let below = built.unwrap_or_else(|| repository("target/libs"));
    let entries = std::fs::read_dir(below).into_iter().flatten().filter_map(Result::ok);
    let has_libssl = |d: &PathBuf| d.join("libssl.so.3").exists();
    entries.map(|e| e.path()).filter(has_libssl).collect()
}

fn nginx(path: &Path, with: Option<&Path>) -> Command {
    let mut command = Command::new(path);
    if let Some(directory) = with {
        command.env("LD_LIBRARY_PATH", directory);
    }
    command
}

/// Each libssl, by what nginx says that it runs with.
fn loaded(path: &Path) -> Vec<Loaded> {
    let of = |directory: Option<PathBuf>| {
        let said = nginx(path, directory.as_deref()).arg("-V").output().ok()?;
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        let line = said.lines().find_map(|l| l.strip_prefix("built with OpenSSL "))?;
        let running = line.split_once("running with OpenSSL ").map_or(line, |(_, r)| r);
        let version = running.split(' ').next()?.to_owned();
        Some(Loaded { directory, version })
    };
    let all = [None].into_iter().chain(others().into_iter().map(Some));
    all.filter_map(of).collect()
}

/// Whether nginx takes the directives, in a server of their own.
fn loads(path: &Path, with: &Loaded, directives: &[String]) -> Result<(), String> {
    let place = tempfile::tempdir().unwrap();
    let keys = repository("crates/adapters/keys");
    for entry in std::fs::read_dir(keys).unwrap() {
        let file = entry.unwrap().path();
        std::fs::copy(&file, place.path().join(file.file_name().unwrap())).unwrap();
    }
    let lines: String = directives.iter().map(|d| format!("    {d}\n")).collect();
    let shown = arg(place.path());
    let text = format!(
        "pid {shown}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n  access_log off;\n  server {{\n    \
         listen unix:{shown}/socket ssl;\n{lines}  }}\n}}\n"
    );
    let conf = place.path().join("nginx.conf");
    std::fs::write(&conf, text).unwrap();
    let mut command = nginx(path, with.directory.as_deref());
    let done = command.args(["-t", "-p", shown, "-c", arg(&conf)]).output().unwrap();
    if done.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&done.stderr).into_owned())
}

/// Clients that call for each profile, from the narrowest on.
const CLIENTS: [&str; 3] = ["browser", "browser,firefox-45=5%", "browser,ie-11-win7=5%"];

#[test]
fn every_configuration_that_is_printed_is_loaded_by_nginx() {
    let Ok(facts) = ciphermark::server::find_nginx(None) else {
        eprintln!("left out: there is no nginx");
        return;
    };
    let all = loaded(&facts.path);
    assert!(!all.is_empty(), "{facts:?}");
    for with in &all {
        // ML-KEM came with 3.5 (its change log).
        let number: Vec<u32> = with.version.split('.').filter_map(|n| n.parse().ok()).collect();
        let has_ml_kem = number[..] >= [3, 5][..];
        let directory = scratch();
        let run = run_of(directory.path(), &with.version, has_ml_kem);
        for clients in CLIENTS {
            for certificates in ["p256", "rsa-2048", "rsa-2048,p256"] {
                let asked = ["--clients", clients, "--certificates", certificates];
                let asked = [&["advise", arg(&run), "--for", "tls-server"], &asked[..]].concat();
                let found = ciphermark(&[&asked[..], &["--format", "json"]].concat(), b"");
                let found = found.with_code(0).json();
                let lines: Vec<String> = rows(&found["choice"], "nginx")
                    .iter()
                    .map(|line: &Value| line.as_str().unwrap().to_owned())
                    .collect();
                loads(&facts.path, with, &lines)
                    .unwrap_or_else(|why| panic!("{} {asked:?}: {why}{lines:#?}", with.version));
                let all = lines.join("\n");
                let profile = text(&found, "choice.candidate.profile");
                let wants = profile != "old";
                assert_eq!(all.contains("X25519MLKEM768"), has_ml_kem && wants, "{all}");
                let named = found["choice"]["remarks"].to_string().contains("is left out of ssl_");
                assert_eq!(named, !has_ml_kem && wants, "{found:#}");
            }
        }
        // What was printed before: the check can fail.
        let before = ["ssl_ecdh_curve X25519MLKEM768:X25519;", "ssl_certificate p256.chain.pem;"];
        let before = [&before[..], &["ssl_certificate_key p256.key.pem;"]].concat();
        let before: Vec<String> = before.into_iter().map(str::to_owned).collect();
        assert_eq!(loads(&facts.path, with, &before).is_ok(), has_ml_kem, "{}", with.version);
    }
}

/// What `tls why` says to log.
#[test]
fn every_variable_that_is_to_be_logged_is_known_to_nginx() {
    let Ok(facts) = ciphermark::server::find_nginx(None) else {
        eprintln!("left out: there is no nginx");
        return;
    };
    let directory = scratch();
    let calibration = file(&directory, "cal.json");
    let sample = serde_json::to_string(&judge::load::sample::calibration()).unwrap();
    std::fs::write(&calibration, sample).unwrap();
    let why = format!("tls why --from 0.5% --to 2..3% --format json --calibration {calibration}");
    let why = call(&why).with_code(0).json();
    let all = rows(&why, "evidence").iter().map(|one| text(one, "look_at"));
    let variables: Vec<&str> = all.filter(|name| name.starts_with('$')).collect();
    assert!(variables.len() >= 7, "{variables:?}");
    let logged = |variables: &str| {
        let format = format!("log_format tls '{variables}';");
        checked(&facts.path, &format, "access_log PLACE/log tls;")
    };
    logged(&variables.join(" ")).unwrap();
    assert!(logged("$ssl_nonsense").unwrap_err().contains("ssl_nonsense"));
}

/// The documents print configuration too.
#[test]
fn the_log_format_of_the_documents_is_loaded_by_nginx() {
    let Ok(facts) = ciphermark::server::find_nginx(None) else {
        eprintln!("left out: there is no nginx");
        return;
    };
    let document = std::fs::read_to_string(repository("docs/TLS-LOAD.md")).unwrap();
    let format = document.split('`').find(|part| part.starts_with("log_format ")).unwrap();
    checked(&facts.path, format, "access_log PLACE/log tls;").unwrap();
}

/// Whether nginx takes directives of `http` and of a server without TLS; `PLACE` in these is a directory.
fn checked(path: &Path, http: &str, server: &str) -> Result<(), String> {
    let place = tempfile::tempdir().unwrap();
    let shown = arg(place.path());
    let conf = place.path().join("nginx.conf");
    let server = server.replace("PLACE", shown);
    let text = format!(
        "pid {shown}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n  {http}\n  server {{\n    \
         listen unix:{shown}/socket;\n    {server}\n  }}\n}}\n"
    );
    std::fs::write(&conf, text).unwrap();
    let done = nginx(path, None).args(["-t", "-p", shown, "-c", arg(&conf)]).output().unwrap();
    if done.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&done.stderr).into_owned())
}
