//! `advise`: what to encrypt with, from a record and measured on the spot, in every format, with exit codes;
//! for a TLS server, whose every printed configuration nginx loads, with each libssl at hand; and for
//! PostgreSQL from its own statistics.

use crate::support::*;
use crate::tls::stack;
use ::record::tls::{Case, Certificate, Exchange, Kind, RunKind, Version, fixtures};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn record() -> &'static str {
    static RECORD: OnceLock<String> = OnceLock::new();
    RECORD.get_or_init(published_at_rest)
}

fn advice(arguments: &[&str], code: i32) -> Value {
    let all = [&["advise"], arguments, &["--format", "json"]].concat();
    ciphermark(&all, b"").with_code(code).json()
}

#[test]
#[ignore = "long: seconds"]
fn what_has_no_price_leaves_the_answer_open_and_is_no_conflict_of_wishes() {
    let directory = scratch();
    let path = file(&directory, "r.json");
    let mut none = ::record::load(Path::new(record())).unwrap();
    for m in &mut none.measurements {
        (m.state, m.ns_per_op) = (::record::State::Failed, None);
        m.stopped = Some(::record::Stopped::Budget);
    }
    ::record::save(&none, Path::new(&path)).unwrap();
    assert!(!advice(&[&path, "--for", "postgres"], 3)["outcome"]["none"].is_null());
    let published = |name: &str| repository(&format!("records/{name}-2026-11-22-spr.json.gz"));
    let [run, calibration] = ["tls-handshake", "tls-calibration"].map(published);
    let asked = ["--for", "tls-server", "--clients", "browser", "--calibration", arg(&calibration)];
    let answer = advice(&[&[arg(&run)], &asked[..]].concat(), 3);
    assert!(text(&answer["choice"]["candidate"], "stack").starts_with("openssl@"), "{answer}");
    let open = rows(&answer, "missing").iter().map(|c| text(c, "stack"));
    assert!(open.clone().any(|stack| stack.starts_with("aws-lc@")), "{answer}");
}

#[test]
fn a_servers_times_of_another_cpu_are_not_added_up() {
    let directory = scratch();
    let published = |name: &str| repository(&format!("records/{name}-2026-11-22-spr.json.gz"));
    let text = ::record::load_text(&published("tls-calibration")).unwrap();
    let mut calibration: serde_json::Value = serde_json::from_str(&text).unwrap();
    // Virtual machines give one name to CPUs of many years.
    calibration["host"]["cpu"]["model"] = 207.into();
    let other = file(&directory, "cal.json");
    std::fs::write(&other, calibration.to_string()).unwrap();
    let run = published("tls-handshake");
    for line in [
        format!("advise {} --for tls-server --calibration {other}", arg(&run)),
        format!("tls why --from 1% --to 2% --handshakes {} --calibration {other}", arg(&run)),
    ] {
        let said = call(&line).with_code(2).stderr;
        assert!(said.contains("model 207") && said.contains("do not add up"), "{line}: {said}");
    }
}

#[test]
#[ignore = "long: seconds"]
fn the_day_on_which_a_key_must_change_follows_its_birth_and_what_all_writers_write() {
    for (flags, day) in [
        // 2^32 writes by one writer: 49.7 days at 1000 a second.
        ("--writes-per-second 1000 --keys 1 --writers 1", "2026-02-19"),
        ("--writes-per-second 10000 --keys 10 --writers 1", "2026-02-19"),
        ("--writes-per-second 1 --keys 1 --writers 1", "2028-01-01"),
        // Replicas and restored copies count: without them a key lasts as much longer.
        ("", "2026-01-17"),
        ("--writers 1", "2026-02-19"),
        ("--snapshots no", "2026-02-19"),
        ("--key-per epoch", "2028-01-01"),
    ] {
        let asked = format!("--for postgres --fips algorithm --key-born 2026-01-01 {flags}");
        let words: Vec<&str> = asked.split_whitespace().collect();
        let answer = advice(&[&[record()][..], &words[..]].concat(), 0);
        assert_eq!(text(&answer, "outcome.choice.key.rotate_by"), day, "{flags}");
    }
}

#[test]
#[ignore = "long: seconds"]
fn only_what_a_program_or_a_list_has_is_chosen_and_in_its_libraries() {
    let backup =
        |only: &str, code: i32| advice(&[record(), "--for", "backup", "--only", only], code);
    let borg = backup("borg", 0);
    let choice = &borg["outcome"]["choice"];
    let has = ["aes-256-ocb", "chacha20-poly1305", "aes-256-ctr+hmac-sha256"];
    assert!(has.contains(&text(choice, "scheme")), "{choice}");
    for library in choice["price"]["libraries"].as_array().unwrap() {
        assert!(["openssl", "libressl"].contains(&text(library, "name")), "{choice}");
    }
    let listed = backup("aes-*-gcm,aes-256-siv", 0);
    assert!(text(&listed, "outcome.choice.scheme").ends_with("-gcm"), "{listed}");
    // Its one cipher is none of the schemes: nothing may be chosen, and the wish that stands against an answer is named.
    let restic = backup("restic", 1);
    assert_eq!(restic["outcome"]["none"]["flags"], json!(["--only restic"]), "{restic}");
    let asked = format!("advise {} --for backup --only", record());
    call(&format!("{asked} restic")).with_code(1).says(["--only restic"]);
    refuses(&format!("{asked} brg"), &["--only brg", "did you mean 'borg'?", "gocryptfs"]);
    refuses("advise --for tls-server --only borg", &["--only borg", "apache, haproxy, nginx"]);
}

/// One screen says what to do; everything else is behind a flag.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn the_first_screen_is_short_and_why_has_the_rest() {
    for used in ["postgres", "wal", "disk", "sqlite", "object-store", "backup", "messages"] {
        let asked = ["advise", record(), "--for", used];
        let short = ciphermark(&asked, b"").with_code(0).stdout;
        assert!(short.lines().count() <= 30, "{used}: {short}");
        for topic in ["choice ", "cost ", "limit ", "rotate by ", "respect ", "more "] {
            assert!(short.lines().any(|l| l.starts_with(topic)), "{topic}: {short}");
        }
        let long = ciphermark(&[&asked[..], &["--why"]].concat(), b"").with_code(0).stdout;
        assert!(long.contains("What does not, and the rule that decided"), "{long}");
        assert!(long.lines().count() > 2 * short.lines().count(), "{long}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn without_a_record_what_the_question_needs_is_measured_and_kept() {
    let directory = scratch();
    let kept = directory.path().join("kept.json");
    let asked = ["--for", "sqlite", "-l", "openssl", "--fips", "algorithm"];
    let measured = |budget: &str| {
        let how = ["--format", "json", "--budget", budget, "-o", arg(&kept)];
        ciphermark(&[&["advise"], &asked[..], &how].concat(), b"")
    };
    let answer = with_more_time(measured).json();
    let choice = &answer["outcome"]["choice"];
    let algorithms = [text(choice, "scheme")];
    assert!(algorithms[0].starts_with("aes-"), "{choice}");
    assert!(text(&answer, "record").starts_with("measured now"), "{answer}");
    // What was kept answers the same question.
    let again = advice(&[&[arg(&kept)], &asked[..]].concat(), 0);
    assert_eq!(again["outcome"]["choice"]["scheme"], choice["scheme"]);
    assert_eq!(again["basis"]["stale"], Value::Array(Vec::new()));
    // Nothing was measured that no answer could come from.
    let rows = measurements(&std::fs::read_to_string(&kept).unwrap());
    assert!(rows.iter().all(|row| !text(row, "algorithm").ends_with("-ecb")), "{rows:?}");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn mariadb_gets_one_of_its_own_schemes_timed_after_other_work_in_the_systems_openssl() {
    let directory = scratch();
    let kept = file(&directory, "kept.json");
    let asked = ["advise", "--for", "mariadb", "--format", "json", "-o", &kept, "--budget"];
    let answer = with_more_time(|budget| ciphermark(&[&asked[..], &[budget]].concat(), b"")).json();
    let choice = &answer["outcome"]["choice"];
    assert!(text(choice, "scheme").starts_with("aes-") && text(choice, "scheme").ends_with("-ctr"));
    for library in rows(&choice["price"], "libraries") {
        let is_of_system =
            ["/usr/lib", "/lib"].iter().any(|p| text(library, "path").starts_with(p));
        assert!(is_of_system && text(library, "name") == "openssl", "{choice}");
    }
    let measured = measurements(&std::fs::read_to_string(&kept).unwrap());
    assert!(measured.iter().all(|row| text(row, "model") == "between-rekey"), "{measured:?}");
    let copied = advice(&[&kept, "--for", "mariadb", "--snapshots", "yes"], 1);
    assert!(!copied["outcome"]["none"].is_null(), "its nonces repeat in copies: {copied}");
    refuses(&format!("advise {} --for mariadb", record()), &["no model between-rekey"]);
}

#[test]
#[ignore = "long: seconds"]
fn what_a_record_cannot_answer_is_named_with_what_would_measure_it() {
    for (flags, words) in [
        ("-t baseline", "has no tier baseline; `ciphermark run --suite at-rest -t baseline"),
        ("--key-per write", "-m rekey"),
        ("-s 1M", "-s 1048576"),
        ("-l nss", "has no library that matches 'nss'"),
        ("--max-p99 20us", "--latency"),
        ("--writes-per-second 0", "--writes-per-second 0"),
        ("--reads 101%", "101%"),
        ("--certificate 4985", "--library"),
    ] {
        refuses(&format!("advise {} --for postgres {flags}", record()), &[words]);
    }
    refuses("advise /no/such.json --for wal", &["/no/such.json"]);
}

/// A record of pages: its own size, its own times, and what it cannot answer.
#[test]
fn a_record_of_pages_answers_with_what_its_store_cost() {
    let pages = repository("crates/record/tests/at-rest.json");
    // Of three schemes: others that would do were not asked for.
    let answer = advice(&[arg(&pages), "--for", "postgres"], 3);
    let choice = &answer["outcome"]["choice"];
    assert_eq!((text(choice, "scheme"), text(choice, "price.how")), ("aes-256-gcm", "store"));
    assert_eq!(choice["price"]["in_store"][0]["medium"], "cache");
    assert_eq!((text(&answer, "kind"), &answer["size"]), ("advice", &Value::from(8192)));
    let shown = call(&format!("advise {} --for postgres --why", arg(&pages))).with_code(3).stdout;
    assert!(shown.contains("in store    cache: 2000 ns beside 1700 ns of reading"), "{shown}");
    advice(&[arg(&pages), "--for", "postgres", "--expansion", "0"], 1);
    for (flags, words) in [
        ("postgres -t noaes", "`ciphermark pages … -t noaes`"),
        ("postgres -s 4K", "has pages of 8192 bytes"),
        ("messages", "--for messages needs"),
        ("postgres -l nss", "no library that matches 'nss'"),
    ] {
        refuses(&format!("advise {} --for {flags}", arg(&pages)), &[words]);
    }
    let withdrawn = arg(&repository("records/pages-2026-11-21-zen4.json.gz")).to_owned();
    refuses(&format!("advise {withdrawn} --for postgres"), &["its prices are withdrawn", "300 ns"]);
    let directory = scratch();
    let kept = file(&directory, "advice.json");
    std::fs::write(&kept, answer.to_string()).unwrap();
    refuses(&format!("advise {kept} --for postgres"), &["is advice already"]);
}

// `advise --for tls-server`: a run of handshakes asked what a server should be set to.

/// A run with one stack in which ECDSA costs 80 µs, RSA of 2048 bits 400 and everything of TLS 1.2 a tenth
/// more.
fn run_in(directory: &Path) -> PathBuf {
    run_of(directory, "9.9", true)
}

/// The same in a stack of that version, with or without ML-KEM.
pub(crate) fn run_of(directory: &Path, version: &str, has_ml_kem: bool) -> PathBuf {
    let label = format!("openssl@{version}");
    let certificates = [Certificate::P256, Certificate::Rsa2048, Certificate::Rsa3072];
    let mut all = Vec::new();
    for (certificate, us) in certificates.into_iter().zip([80.0, 400.0, 1200.0]) {
        for (version, exchange, times) in [
            (Version::Tls13, Exchange::X25519Mlkem768, 1.0),
            (Version::Tls13, Exchange::X25519, 0.9),
            (Version::Tls12, Exchange::X25519, 1.1),
            (Version::Tls12, Exchange::P256, 1.1),
        ] {
            let has = has_ml_kem || exchange != Exchange::X25519Mlkem768;
            let case = Case::usual(version, exchange, certificate, Kind::Full);
            all.push(fixtures::handshake(&label, case, has.then_some(us * times)));
        }
    }
    let run = fixtures::run(RunKind::Handshakes, &[label.as_str()], all);
    let path = directory.join("tls.json");
    ::record::save(&::record::tls::into_record(&run, &[]), &path).unwrap();
    path
}

fn advice_for_server(run: &Path, arguments: &[&str], code: i32) -> Value {
    let what = ["advise", arg(run), "--for", "tls-server", "--format", "json"];
    ciphermark(&[&what[..], arguments].concat(), b"").with_code(code).json()
}

#[test]
fn a_run_is_answered_from_with_what_the_flags_say() {
    let directory = scratch();
    let run = run_in(directory.path());
    let found = advice_for_server(&run, &["--certificates", "rsa-2048,p256"], 0);
    keeps_to(&found, "docs/tls-advice.schema.json");
    assert_eq!(text(&found, "choice.candidate.profile"), "modern");
    assert_eq!(found["choice"]["candidate"]["certificates"], json!(["p256"]));
    let flags = ["--certificates", "rsa-2048", "--clients", "browser,firefox-45=5%"];
    let found = advice_for_server(&run, &flags, 0);
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

/// Made up: what a call takes in one library.
fn with_derivations(path: &str, rows: &[(&str, usize, f64)]) {
    let mut record = ::record::fixtures::sample();
    let sample = record.measurements.remove(0);
    let row = |(algorithm, size, ns): &(&str, usize, f64)| ::record::Measurement {
        algorithm: (*algorithm).to_owned(),
        direction: base::model::Direction::Digest,
        size: *size,
        ns_per_op: Some(::record::fixtures::about(*ns)),
        ..sample.clone()
    };
    record.measurements = rows.iter().map(row).collect();
    ::record::save(&record, Path::new(path)).unwrap();
}

#[test]
#[ignore = "long: seconds"]
fn a_passphrase_is_answered_from_a_record_or_what_the_record_lacks_is_named() {
    let directory = scratch();
    let path = file(&directory, "made-up.json");
    with_derivations(
        &path,
        &[("argon2id-t2", 19 << 20, 2e7), ("bcrypt", 64, 3e6), ("pbkdf2-sha256", 10_000, 1e6)],
    );
    let parameters = |flags: &[&str]| {
        let answer = advice(&[&[&*path, "--for", "passphrase"], flags].concat(), 0);
        let choice = answer["choice"].as_u64().unwrap() as usize;
        text(&answer["prices"][choice], "parameters").to_owned()
    };
    assert_eq!(parameters(&[]), "t=2, m=19 MiB, p=1");
    assert_eq!(parameters(&["--fips", "algorithm"]), "600,000 iterations");
    assert_eq!(parameters(&["--memory", "1M"]), "cost 10");
    let said = call(&format!("advise {path} --for passphrase --time 250ms")).with_code(0);
    // 20.2 ms at the most for two passes.
    let said = said.says(["argon2id with t=24, m=19 MiB, p=1 in "]).stdout;
    assert!(said.lines().count() <= 40, "{said}");
    let lacks = call(&format!("advise {} --for passphrase", record())).with_code(3);
    lacks.says(["`ciphermark advise --for passphrase -o FILE`"]);
    for (line, words) in [
        ("advise --for passphrase --expansion 8", &["--expansion", "passphrase"][..]),
        ("advise --for postgres --time 1s", &["--time is for --for passphrase only"]),
        ("advise --for passphrase --only rot13", &["--only rot13", "restic", "argon2id"]),
        ("advise --for passphrase --fips validated", &["--fips algorithm"]),
    ] {
        refuses(line, words);
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_a_passphrase_costs_is_measured_for_the_question_and_kept() {
    let directory = scratch();
    let kept = file(&directory, "kept.json");
    let what = "--for passphrase --only pbkdf2-sha512 -l openssl --format json -q";
    // On a busy machine the time may be too short for a number: then that is said.
    let first = call(&format!("advise {what} --budget 15s -o {kept}"));
    assert!([0, 3].contains(&first.code), "{}", first.stderr);
    let answer = first.json();
    assert_eq!(text(&answer, "kind"), "passphrase-advice");
    for price in rows(&answer, "prices") {
        assert_eq!(text(price, "parameters"), "220,000 iterations");
    }
    assert_eq!(rows(&answer, "prices").is_empty(), !rows(&answer, "missing").is_empty());
    let again = call(&format!("advise {kept} {what}")).json();
    assert_eq!(again["prices"], answer["prices"]);
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
    let none = advice_for_server(&run, &["--certificates", "ed25519"], 1);
    assert!(none["choice"].is_null(), "{none:#}");
}

// Every configuration that is printed for nginx is loaded by nginx: with the system's libssl, and with each other
// that nginx can run with here.

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

/// Whether nginx takes directives of `http` and of a server; `PLACE` in these is a directory with keys.
fn loads(path: &Path, with: Option<&Path>, http: &str, server: &[String]) -> Result<(), String> {
    let place = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(repository("crates/adapters/keys")).unwrap() {
        let file = entry.unwrap().path();
        std::fs::copy(&file, place.path().join(file.file_name().unwrap())).unwrap();
    }
    let shown = arg(place.path());
    let server = server.join("\n    ").replace("PLACE", shown);
    let text = format!(
        "pid {shown}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n  {http}\n  server {{\n    {server}\n  }}\n}}\n"
    );
    let conf = place.path().join("nginx.conf");
    std::fs::write(&conf, text).unwrap();
    let done = nginx(path, with).args(["-t", "-p", shown, "-c", arg(&conf)]).output().unwrap();
    if done.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&done.stderr).into_owned())
}

/// The same with a format of a log.
fn logs(path: &Path, format: &str) -> Result<(), String> {
    let server = ["listen unix:PLACE/socket;", "access_log PLACE/log tls;"];
    loads(path, None, format, &server.map(str::to_owned))
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
        let loads = |directives: &[String]| {
            let listen = ["listen unix:PLACE/socket ssl;".to_owned()];
            let server = [&listen[..], directives].concat();
            loads(&facts.path, with.directory.as_deref(), "access_log off;", &server)
        };
        // ML-KEM came with 3.5 (its change log).
        let number: Vec<u32> = with.version.split('.').filter_map(|n| n.parse().ok()).collect();
        let has_ml_kem = number[..] >= [3, 5][..];
        let directory = scratch();
        let run = run_of(directory.path(), &with.version, has_ml_kem);
        for clients in CLIENTS {
            for certificates in ["p256", "rsa-2048", "rsa-2048,p256"] {
                let asked = format!(
                    "advise {} --for tls-server --clients {clients} --certificates {certificates}",
                    arg(&run)
                );
                let found = call(&format!("{asked} --format json")).with_code(0).json();
                let lines: Vec<String> = rows(&found["choice"], "nginx")
                    .iter()
                    .map(|line: &Value| line.as_str().unwrap().to_owned())
                    .collect();
                loads(&lines)
                    .unwrap_or_else(|why| panic!("{} {asked}: {why}{lines:#?}", with.version));
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
        assert_eq!(loads(&before).is_ok(), has_ml_kem, "{}", with.version);
    }
}

/// What `tls why` says to log, and the documents.
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
    let logged = |variables: &str| logs(&facts.path, &format!("log_format tls '{variables}';"));
    logged(&variables.join(" ")).unwrap();
    assert!(logged("$ssl_nonsense").unwrap_err().contains("ssl_nonsense"));
    let document = std::fs::read_to_string(repository("docs/TLS-LOAD.md")).unwrap();
    let format = document.split('`').find(|part| part.starts_with("log_format ")).unwrap();
    logs(&facts.path, format).unwrap();
}

// `advise --for postgres --from`: what encryption would take of a server, from its statistics.

/// The query of docs/AT-REST.md that takes a snapshot.
fn query() -> String {
    let text = std::fs::read_to_string(repository("docs/AT-REST.md")).unwrap();
    let begin = text.find("SELECT json_build_object(").expect("the document has the query");
    text[begin..].split("\nEND").next().unwrap().to_owned()
}

#[test]
fn the_document_has_the_query_that_the_program_uses() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(&query()), words(judge::advise::postgres::QUERY));
    // What newer versions have instead of the last two rows.
    let io = words(judge::advise::postgres::QUERY_IO);
    let document = std::fs::read_to_string(repository("docs/AT-REST.md")).unwrap();
    let last = io.rsplit_once("'pg_stat_io'").unwrap().1;
    assert!(words(&document).contains(&format!("'pg_stat_io'{last}")), "{last}");
}

/// Files that no server wrote, with what is wrong with them.
#[test]
fn what_is_no_pair_of_snapshots_is_refused_with_what_helps() {
    let directory = scratch();
    let snapshot = |name: &str, at: &str, read: u64| {
        let counters = json!({"xact_commit": read, "xact_rollback": 0, "blks_read": read, "stats_reset": null});
        let value = json!({"at": at, "version": 150_018, "started": "2026-11-24T09:00:00Z", "block_size": 8192,
            "track_counts": "on", "lsn": "0/100", "bytes": 0, "pg_stat_database": [counters],
            "pg_stat_wal": {"wal_bytes": 1, "wal_write": 1, "stats_reset": "x"},
            "pg_stat_bgwriter": {"buffers_checkpoint": 1, "buffers_clean": 1, "buffers_backend": 1, "stats_reset": "x"}});
        written(&directory, name, value.to_string())
    };
    let first = snapshot("first", "2026-11-24T10:00:00Z", 100);
    let soon = snapshot("soon", "2026-11-24T10:00:01Z", 100);
    let reset = snapshot("reset", "2026-11-24T10:01:00Z", 10);
    let good = snapshot("good", "2026-11-24T10:01:00Z", 200);
    let idle = snapshot("idle", "2026-11-24T10:01:00Z", 101);
    let asked = |pair: &str| format!("advise {} --for postgres --from {pair}", record());
    refuses(&asked(&format!("{first},{soon}")), &["1.0 s between the snapshots"]);
    refuses(&asked(&format!("{good},{first}")), &["60 s older than the first"]);
    refuses(&asked(&format!("{first},{reset}")), &["counters were reset"]);
    refuses(&asked(&format!("{first},{idle}")), &["1 pages in 60 s", "under load"]);
    refuses(&asked(&format!("{first},/no/such")), &["/no/such"]);
    refuses(&asked(&format!("{first},{}", record())), &["no snapshot of PostgreSQL's statistics"]);
    refuses(&asked("first"), &["a connection string", "FIRST,SECOND"]);
    refuses(&asked("dbname=x --interval 1s"), &["--interval 1.0s", "5s at least"]);
    let other = format!("advise {} --for wal --from {first},{good}", record());
    refuses(&other, &["--from is for --for postgres only"]);
    // No psql, and no server.
    let live = ["advise", record(), "--for", "postgres", "--from", "host=/no/where dbname=x"];
    ciphermark_with(&live, &[("PATH", "")]).ends(4, ["there is no psql here"]);
    ciphermark_with(&live, &[]).ends(4, ["/no/where"]);
    // What is right is answered, from files as from a server.
    let done = call(&asked(&format!("{first},{good}"))).with_code(0);
    let text = done.says(["1.7 transactions a second"]).stdout;
    assert!(text.lines().count() <= 30, "{text}");
}

fn prediction(from: &str, more: &[&str]) -> Value {
    let asked = ["advise", record(), "--for", "postgres", "-l", "openssl*", "-q", "--from", from];
    ciphermark(&[&asked[..], more, &["--format", "json"]].concat(), b"").with_code(0).json()
}

#[test]
#[ignore = "long: a PostgreSQL cluster, and ten seconds of watching it"]
fn counts_of_a_cluster_are_what_pgbench_did() {
    let cluster = Cluster::new();
    cluster.start(&cluster.data());
    cluster.client("pgbench", &["-i", "-q", "-s", "1", "postgres"]);
    // A cold cache.
    cluster.stop(&cluster.data());
    cluster.start(&cluster.data());
    let query = query();
    let take = |name: &str| {
        let path = cluster.beside(name);
        cluster.client("psql", &["-XqAt", "-o", arg(&path), "-c", &query, "postgres"]);
        arg(&path).to_owned()
    };
    let first = take("first");
    cluster.client("psql", &["-c", "SELECT sum(abalance) FROM pgbench_accounts", "postgres"]);
    cluster.client("pgbench", &["-n", "-c", "2", "-t", "500", "postgres"]);
    cluster.client("psql", &["-c", "CHECKPOINT", "postgres"]);
    std::thread::sleep(std::time::Duration::from_millis(5500));
    let last = take("last");
    let found = prediction(&format!("{first},{last}"), &[]);
    let count = |path: &str| number(&found, &format!("work.{path}"));
    let within = |what: &str, n: f64, low: f64, high: f64| {
        assert!(low <= n && n <= high, "{what} {n}: {}", found["work"])
    };
    within("transactions", count("transactions"), 1000.0, 1040.0);
    // The table has 1640 pages, its index 276; the catalogs a few hundred.
    within("read", count("read.median"), 1640.0, 2400.0);
    // 1000 updates at random touch 748 of 1640 pages and 268 of the index's 276, and put their new rows on some twenty
    // more; the cluster's own processes add some.
    within("written", count("written.median"), 650.0, 1500.0);
    // A commit is a write, but for those that share one. Each page touched is in the log once.
    within("log writes", count("log_writes.median"), 500.0, 1100.0);
    within("log", count("log.median"), 1150.0, 2500.0);
    let rows = found["rows"].as_array().unwrap();
    assert!(rows.iter().all(|r| text(r, "library").starts_with("openssl@")), "{rows:?}");
    let xts = rows.iter().find(|r| r["scheme"] == "aes-256-xts").unwrap();
    let pages = count("read.median") + count("written.median") + count("log.median");
    let ns = number(xts, "us_per_transaction.median") * 1e3 * count("transactions") / pages;
    within("ns a page", ns, number(xts, "write_ns.low").min(number(xts, "read_ns.low")), 5000.0);
    // The same of a server that is watched while it works.
    let socket = cluster.data();
    let connection =
        format!("host={} user=postgres dbname=postgres", arg(socket.parent().unwrap()));
    let watched = std::thread::scope(|scope| {
        scope.spawn(|| cluster.client("pgbench", &["-n", "-T", "12", "postgres"]));
        std::thread::sleep(std::time::Duration::from_secs(1));
        prediction(&connection, &["--interval", "5s"])
    });
    assert!(number(&watched, "work.transactions") > 0.0, "{watched}");
    cluster.stop(&cluster.data());
}
