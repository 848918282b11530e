//! `archive`, and questions over one: the same on SQLite and on PostgreSQL. What `archive add` believes:
//! honest runs, not those in which something was changed; and what a signature is worth.

use crate::support::*;
use crate::tls::{soon, stack};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const PUBLISHED: &str = "published-2026-11-23-gnr";
const LADDER: &str = "ladder-2026-11-23-gnr";
const BETWEEN: &str = "2026-11-23T17:10:00Z";

fn record_of(name: &str) -> String {
    arg(&repository(&format!("records/{name}.json.gz"))).to_owned()
}

fn done(arguments: &[&str], code: i32) -> Done {
    ciphermark(arguments, b"").with_code(code)
}

fn json(arguments: &[&str], code: i32) -> Value {
    serde_json::from_str(&done(arguments, code).stdout).unwrap()
}

/// An archive with two runs of one machine.
fn filled(store: &str) {
    let files = [record_of(PUBLISHED), record_of(LADDER)];
    let add = ["archive", "add", store, &files[0], &files[1], "--machine", "gnr", "--region", "eu"];
    let said = done(&add, 0).stderr;
    assert!(said.contains(": 2934 cases, own") && said.contains(": 546 cases, own"), "{said}");
    assert_eq!(done(&add, 0).stderr.matches("is in already").count(), 2);
}

/// What any archive must do, whatever its database.
fn works(store: &str) {
    filled(store);
    let listed = json(&["archive", "list", store, "--json"], 0);
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert!(
        listed.as_array().unwrap().iter().all(|r| r["machine"] == "gnr" && r["trust"] == "own")
    );
    assert_eq!(done(&["archive", "check", store], 0).stdout, "2 records, 0 damaged\n");
    has_the_verdicts_of_the_records(store);
    ranks_with_prices(store);
    shows_histories(store);
    makes_a_site(store);
    let first = listed[0]["sha256"].as_str().unwrap();
    done(&["archive", "remove", store, &first[..10]], 0);
    assert_eq!(json(&["archive", "list", store, "--json"], 0).as_array().unwrap().len(), 1);
    assert_eq!(done(&["archive", "check", store], 0).stdout, "1 records, 0 damaged\n");
}

/// An archive keeps costs to a millionth; a ratio is of two.
const KEPT: f64 = 4e-6;

/// Everything of each case but its figures, and these.
fn verdicts(comparison: &Value) -> Vec<(String, Vec<f64>)> {
    let figures = |c: &mut Value, name: &str| match c[name].take() {
        Value::Object(all) => all.values().filter_map(Value::as_f64).collect(),
        one => Vec::from_iter(one.as_f64()),
    };
    let mut cases: Vec<(String, Vec<f64>)> = comparison["cases"]
        .as_array()
        .unwrap()
        .clone()
        .iter_mut()
        .map(|c| {
            let all = ["ratio", "base_cost", "new_cost"].map(|name| figures(c, name)).concat();
            (c.to_string(), all)
        })
        .collect();
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    cases
}

fn are_the_same(kept: &Value, own: &Value) {
    let (kept, own) = (verdicts(kept), verdicts(own));
    assert_eq!(kept.len(), own.len());
    for ((case, kept), (expected, own)) in kept.iter().zip(&own) {
        assert_eq!(case, expected);
        let near = kept.iter().zip(own).all(|(a, b)| (a / b - 1.0).abs() < KEPT);
        assert!(near && kept.len() == own.len(), "{case}: {kept:?} {own:?}");
    }
}

fn has_the_verdicts_of_the_records(store: &str) {
    let never = ["--fail-if", "never", "--format", "json"];
    let (base, new) = (record_of(PUBLISHED), record_of(LADDER));
    let own = json(&[&["compare", &base, &new], &never[..]].concat(), 0);
    let kept = json(&[&["compare", "--from", store, "--since", BETWEEN], &never[..]].concat(), 0);
    assert!(own["cases"].as_array().unwrap().len() > 90);
    are_the_same(&kept["machines"][0]["comparison"], &own);
    assert_eq!(kept["machines"][0]["comparison"]["instructions"], own["instructions"]);
    let libraries = ["--libraries", "openssl@3.0*,openssl@4*"];
    let own = json(&[&["compare", &base], &libraries[..], &never[..]].concat(), 0);
    let sides = [
        "--base",
        "library=openssl@3.0*",
        "--new",
        "library=openssl@4*,until=2026-11-23T17:10:00Z",
    ];
    let kept = json(&[&["compare", "--from", store], &sides[..], &never[..]].concat(), 0);
    are_the_same(&kept["machines"][0]["comparison"], &own);
    // OpenSSL's CFB of one bit became slower.
    let slower =
        done(&[&["compare", "--from", store], &sides[..], &["--fail-if", "slower:2%"]].concat(), 1);
    assert!(
        slower.stdout.contains("slower: ") && slower.stdout.contains("aes-128-cfb1"),
        "{}",
        slower.stdout
    );
}

fn ranks_with_prices(store: &str) {
    let directory = scratch();
    let prices = file(&directory, "prices.csv");
    std::fs::write(
        &prices,
        "type,region,date,price_per_hour,currency\ngnr,eu,2026-11-01,0.36,USD\n",
    )
    .unwrap();
    let asked = ["-a", "aes-256-gcm", "-s", "8K", "--format", "json"];
    let from = [&["rank", "--from", store, "--prices", &prices], &asked[..]].concat();
    let answer = json(&from, 0)["machines"][0].clone();
    assert_eq!(answer["machine"], "gnr");
    let best = &answer["ranking"]["standings"][0]["rows"][0];
    let own = json(&[&["rank", &record_of(LADDER)], &asked[..]].concat(), 0);
    assert_eq!(best["library"], own[0]["standings"][0]["rows"][0]["library"], "of the newest run");
    // Two CPUs share 0.36 dollars an hour, 0.1 cents in 10 seconds.
    let ns = best["ns_per_op"]["median"].as_f64().unwrap();
    let dollars = ns * 1e-9 * (1e15 / 8192.0) * 0.36 / 2.0 / 3600.0;
    let told = answer["cost"]["amount"]["median"].as_f64().unwrap();
    assert!((told / dollars - 1.0).abs() < 1e-9, "{told} {dollars}");
    let text =
        done(&["rank", "--from", store, "--prices", &prices, "-a", "aes-256-gcm", "-s", "8K"], 0)
            .stdout;
    assert!(text.contains("USD/PB") && text.contains("gnr"), "{text}");
}

fn shows_histories(store: &str) {
    let asked = [
        "trend",
        store,
        "-a",
        "aes-256-gcm",
        "-s",
        "8K",
        "-l",
        "aws-lc",
        "-t",
        "native",
        "-d",
        "encrypt",
    ];
    let lines = json(&[&asked[..], &["--format", "json"]].concat(), 0);
    let points = lines[0]["points"].as_array().unwrap();
    assert_eq!((lines.as_array().unwrap().len(), points.len()), (1, 2), "{lines}");
    assert!(points[0]["verdict"].is_null() && points[1]["verdict"].is_string(), "{lines}");
    assert!(done(&asked, 0).stdout.contains("aes-256-gcm, encrypt, 8K, message, native of aws-lc"));
    let directory = scratch();
    let output = file(&directory, "history");
    done(&[&asked[..], &["--format", "otava", "-o", &output]].concat(), 0);
    let yaml = std::fs::read_to_string(directory.path().join("history/otava.yaml")).unwrap();
    let documents = yaml_rust2::YamlLoader::load_from_str(&yaml).unwrap();
    let tests = documents[0]["tests"].as_hash().unwrap();
    let file = tests.values().next().unwrap()["file"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), 3, "a heading and two runs");
}

fn makes_a_site(store: &str) {
    let directory = scratch();
    let output = file(&directory, "site");
    done(&["report", "--from", store, "-o", &output], 0);
    let page = std::fs::read_to_string(directory.path().join("site/index.html")).unwrap();
    // The newer run has five algorithms; what only the older one has is there as well.
    assert!(
        page.contains("aes-256-gcm") && page.contains("aes-128-cfb1") && page.contains("data/0.js")
    );
    let records = std::fs::read_dir(directory.path().join("site/records")).unwrap();
    for record in records {
        // Each figure links to its record, which is the one that was added.
        done(&["show", arg(&record.unwrap().path()), "-a", "aes-256-gcm"], 0);
    }
    done(&["report", "--from", store, "-o", &output], 0);
    std::fs::write(directory.path().join("site/index.html"), "mine").unwrap();
    let refused = done(&["report", "--from", store, "-o", &output], 2).stderr;
    assert!(refused.contains("holds no site by ciphermark"), "{refused}");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn an_archive_in_a_file_answers_as_its_records_do() {
    let directory = scratch();
    works(&file(&directory, "fleet.db"));
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "long: starts a PostgreSQL server"]
fn an_archive_on_a_server_answers_as_its_records_do() {
    let server = Cluster::new();
    server.start(&server.data());
    works(&server.address());
    server.stop(&server.data());
}

fn kills(store: &str) {
    let program = program();
    let script = repository("scripts/archive-kills");
    let done = std::process::Command::new(script)
        .args([arg(std::path::Path::new(&program)), store, "--kills", "60"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success() && said.contains("nothing lost, nothing twice"),
        "{said} {done:?}"
    );
}

#[test]
#[ignore = "long: kills 60 additions"]
fn a_killed_addition_leaves_nothing_half_in_a_file() {
    let directory = scratch();
    kills(&file(&directory, "fleet.db"));
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "long: kills 60 additions to a PostgreSQL server"]
fn a_killed_addition_leaves_nothing_half_on_a_server() {
    let server = Cluster::new();
    server.start(&server.data());
    kills(&server.address());
    server.stop(&server.data());
}

#[test]
fn what_a_check_finds_fault_with_is_in_as_doubtful_and_left_out() {
    let directory = scratch();
    let store = file(&directory, "fleet.db");
    let text = done(&["show", &record_of(LADDER), "--format", "json"], 0).stdout;
    let mut record: Value = serde_json::from_str(&text).unwrap();
    let measured = record["measurements"].as_array_mut().unwrap();
    let case = measured.iter_mut().find(|m| m["state"] == "measured").unwrap();
    let ns = case["ns_per_op"]["median"].as_f64().unwrap();
    case["ns_per_op"]["median"] = Value::from(ns * 0.9);
    case["ns_per_op"]["low"] = Value::from(ns * 0.89);
    let forged = file(&directory, "forged.json");
    std::fs::write(&forged, record.to_string()).unwrap();
    let said = done(&["archive", "add", &store, &forged], 1).stderr;
    assert!(said.contains("doubtful") && said.contains("recomputed"), "{said}");
    let again = done(&["archive", "add", &store, &forged, "--quiet"], 1).stderr;
    assert!(again.contains("is in already, doubtful"), "{again}");
    let refused = done(&["rank", "--from", &store], 2).stderr;
    assert!(
        refused.contains("1 doubtful or unsigned ones are left out without --doubtful"),
        "{refused}"
    );
    done(&["rank", "--from", &store, "--doubtful"], 0);
    let shown = done(&["archive", "list", &store, "--doubtful"], 0).stdout;
    assert!(shown.contains("1 doubtful; --why says") && !shown.contains("recomputed"), "{shown}");
    let shown = done(&["archive", "list", &store, "--doubtful", "--why"], 0).stdout;
    assert!(shown.contains("recomputed"), "{shown}");
    let listed = json(&["archive", "list", &store, "--doubtful", "--json"], 0);
    assert!(listed[0]["doubts"][0].as_str().unwrap().contains("recomputed"), "{listed}");
}

/// An archive with a run of the machine a and, doubtful, one of b without AEGIS-256.
fn of_two_machines(directory: &tempfile::TempDir) -> String {
    let store = file(directory, "fleet.db");
    done(&["archive", "add", &store, &record_of(LADDER), "--machine", "a"], 0);
    let text = done(&["show", &record_of(LADDER), "--format", "json"], 0).stdout;
    let mut record: Value = serde_json::from_str(&text).unwrap();
    record["started"] = json!("2026-11-24T10:00:00Z");
    record["measurements"].as_array_mut().unwrap().retain(|m| m["algorithm"] != "aegis-256");
    let other = file(directory, "other.json");
    std::fs::write(&other, record.to_string()).unwrap();
    done(&["archive", "add", &store, &other, "--machine", "b"], 1);
    store
}

#[test]
fn a_machine_without_such_a_case_is_named_beside_the_others() {
    let directory = scratch();
    let store = of_two_machines(&directory);
    let asked = ["rank", "--from", &store, "--doubtful", "-a", "aegis-256"];
    let text = done(&asked, 0).stdout;
    assert!(text.contains("no answer: b: the record has no measured case"), "{text}");
    let answer = json(&[&asked[..], &["--format", "json"]].concat(), 0);
    assert_eq!(
        (&answer["machines"][0]["machine"], &answer["without"][0]["machine"]),
        (&json!("a"), &json!("b"))
    );
}

#[test]
fn prices_of_two_currencies_are_in_no_column_and_each_is_named() {
    let directory = scratch();
    let store = of_two_machines(&directory);
    let prices = file(&directory, "prices.csv");
    let rows = "type,date,price_per_hour,currency\na,2026-11-01,0.3,USD\nb,2026-11-01,0.2,EUR\n";
    std::fs::write(&prices, rows).unwrap();
    let site = file(&directory, "site");
    let asked = ["--from", &store, "--doubtful", "--prices", &prices];
    let said = "'a' is in USD and 'b' in EUR";
    for command in [&["rank", "-a", "aes-256-gcm"][..], &["report", "-o", &site]] {
        let refused = done(&[command, &asked[..]].concat(), 2).stderr;
        assert!(refused.contains(said), "{refused}");
    }
    let one = ["--select", "machine=b"];
    done(&[&["rank", "-a", "aes-256-gcm"], &asked[..], &one[..]].concat(), 0);
}

#[test]
fn with_allowed_signers_an_unsigned_record_is_a_strangers() {
    let directory = scratch();
    let (store, signers) = (file(&directory, "fleet.db"), file(&directory, "signers"));
    std::fs::write(&signers, "").unwrap();
    let add = ["archive", "add", &store, &record_of(LADDER), "--allowed-signers", &signers];
    let said = done(&add, 1).stderr;
    assert!(said.contains("cases, unsigned"), "{said}");
    // Without the list it is still what it was added as.
    let again = done(&add[..4], 1).stderr;
    assert!(again.contains("is in already, unsigned"), "{again}");
    assert!(
        done(&["archive", "list", &store], 0).stdout.contains("1 doubtful or unsigned left out")
    );
    done(&["trend", &store, "-a", "aes-256-gcm"], 2);
    done(&["trend", &store, "-a", "aes-256-gcm", "--doubtful"], 0);
}

#[test]
fn what_is_wrong_is_said_in_a_line_with_what_helps() {
    let directory = scratch();
    let store = file(&directory, "fleet.db");
    for (arguments, said) in [
        (&["rank", "--from", &store][..], "there is no archive"),
        (&["archive", "add", &store, "/no/such/file"], "cannot read record '/no/such/file'"),
        (&["compare", "--from", &store], "--since"),
        (&["rank", &record_of(LADDER), "--doubtful"], "--from STORE"),
        (&["archive", "list", &store, "--select", "host=x"], "write machine=GLOB"),
        (&["compare", "--from", &store, "--since", "last week"], "write a day as in 2026-11-25"),
        (&["archive", "list", &record_of(LADDER)], "is no ciphermark archive"),
    ] {
        let done = done(arguments, 2);
        assert!(
            done.stderr.contains(said) && done.stdout.is_empty(),
            "{arguments:?}: {}",
            done.stderr
        );
    }
}

/// What a forger changes, and the doubt by which it must be found.
type Forgery = (&'static str, &'static str, fn(&mut Value));

const ANYWHERE: [Forgery; 12] = [
    ("a tenth faster", "recomputed", |r| scale(case(r, 0), "ns_per_op", 0.9)),
    ("a tenth slower", "recomputed", |r| scale(case(r, 1), "ns_per_op", 1.1)),
    ("an interval of nothing", "recomputed", |r| {
        let median = case(r, 0)["ns_per_op"]["median"].clone();
        case(r, 0)["ns_per_op"] = json!({"median": median, "low": median, "high": median});
    }),
    ("samples a tenth faster", "recomputed", |r| {
        let ticks = case(r, 0)["raw"]["ticks"].as_array_mut().unwrap();
        ticks.iter_mut().for_each(|t| *t = json!(t.as_u64().unwrap() * 9 / 10));
    }),
    ("the figures of another case", "recomputed", |r| {
        let other = case(r, 1)["ns_per_op"].clone();
        case(r, 0)["ns_per_op"] = other;
    }),
    ("another case's samples and figures", "copied", |r| {
        let first = case(r, 0).clone();
        for field in ["raw", "ns_per_op", "cycles_per_op", "samples", "samples_disturbed"] {
            case(r, 1)[field] = first[field].clone();
        }
    }),
    ("half of the samples", "counts", |r| {
        for column in case(r, 0)["raw"].as_object_mut().unwrap().values_mut() {
            let column = column.as_array_mut().unwrap();
            column.truncate(column.len() / 2);
        }
    }),
    ("no samples at all", "samples-missing", |r| {
        for case in r["measurements"].as_array_mut().unwrap() {
            for column in case["raw"].as_object_mut().unwrap().values_mut() {
                *column = json!([]);
            }
        }
    }),
    ("a quicker clock", "recomputed", |r| {
        let ticks = &mut r["host"]["clock"]["ticks_per_second"];
        *ticks = json!(ticks.as_f64().unwrap() * 1.1);
    }),
    ("in the future", "impossible-time", |r| r["started"] = json!("2099-01-01T00:00:00Z")),
    ("in no time", "impossible-time", |r| r["measuring_seconds"] = json!(1e-6)),
    ("on another maker's CPU", "relabelled", |r| {
        let is_amd = r["host"]["cpu"]["vendor"] == "AuthenticAMD";
        r["host"]["cpu"]["name"] = json!(if is_amd { "Intel Xeon" } else { "AMD EPYC" });
        r["host"]["cpu"]["vendor"] = json!(if is_amd { "AuthenticAMD" } else { "GenuineIntel" });
    }),
];

const OF_TLS: [Forgery; 4] = [
    ("a tenth of the cycles less", "recomputed", |r| scale(case(r, 0), "cycles_per_op", 0.9)),
    ("without its last part", "truncated", |r| {
        r["measurements"].as_array_mut().unwrap().pop();
    }),
    ("without a case", "truncated", |r| {
        let name = case(r, 0)["algorithm"].clone();
        r["measurements"].as_array_mut().unwrap().retain(|m| m["algorithm"] != name);
    }),
    ("other calls than were checked", "counts", |r| {
        case(r, 0)["evidence"]["calls_succeeded"] = json!(1);
    }),
];

const OF_PAGES: [Forgery; 2] = [
    ("without a case", "truncated", |r| drop(r["measurements"].as_array_mut().unwrap().remove(0))),
    ("a higher rate", "derived", |r| {
        let rate = &mut case(r, 0)["mb_per_s"];
        *rate = json!(rate.as_f64().unwrap() * 1.1);
    }),
];

fn case(record: &mut Value, nth: usize) -> &mut Value {
    let all = record["measurements"].as_array_mut().unwrap();
    all.iter_mut().filter(|m| m["state"] == "measured").nth(nth).unwrap()
}

fn scale(case: &mut Value, field: &str, by: f64) {
    for of in ["median", "low", "high"] {
        case[field][of] = json!(case[field][of].as_f64().unwrap() * by);
    }
}

fn add(directory: &tempfile::TempDir, store: &str, record: &Value) -> Done {
    let path = file(directory, "r.json");
    std::fs::write(&path, record.to_string()).unwrap();
    ciphermark(&["archive", "add", &file(directory, store), &path], b"")
}

/// Adds the run, which is honest, and each forgery of it to an archive of its own.
fn only_forgeries_are_doubted(honest: &Value, forgeries: &[&[Forgery]]) {
    let directory = scratch();
    let said = add(&directory, "honest.db", honest).with_code(0).stderr;
    assert!(said.contains("cases, own"), "{said}");
    let mut missed = Vec::new();
    for (at, (what, code, change)) in forgeries.iter().copied().flatten().enumerate() {
        let mut record = honest.clone();
        change(&mut record);
        let done = add(&directory, &format!("{at}.db"), &record);
        if done.code != 1 || !done.stderr.contains(&format!("  {code}: ")) {
            missed.push(format!("{what}: {code} expected: {}", done.stderr));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    // The same again at another time is a replay.
    let mut replay = honest.clone();
    replay["started"] = json!("2026-01-01T00:00:00Z");
    let said = add(&directory, "honest.db", &replay).with_code(1).stderr;
    assert!(said.contains("  replayed: "), "{said}");
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_run_of_tls_is_believed_and_no_forgery_of_it() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let path = file(&directory, "t.json");
    let what = "--temperature hot --client-auth no -x x25519,p256 -c p256 -k full";
    soon(&format!("tls handshake -l {stack} {what} -o {path}"), 0);
    only_forgeries_are_doubted(&read(&path), &[&ANYWHERE, &OF_TLS]);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_run_over_pages_is_believed_and_no_forgery_of_it() {
    let directory = scratch();
    let path = file(&directory, "p.json");
    let what = "pages -q --synthetic 1M -l openssl -s aes-256-xts --media memory --probes 0";
    call(&format!("{what} --precision 50% -o {path}")).with_code(0);
    only_forgeries_are_doubted(&read(&path), &[&ANYWHERE, &OF_PAGES]);
}

#[test]
fn published_runs_of_every_kind_are_believed_and_what_is_unchecked_is_said() {
    let directory = scratch();
    for name in ["tls-handshake-2026-11-22-spr", "pages-2026-11-21-zen4", "leaks-2026-11-25-zen4"] {
        let path = repository(&format!("records/{name}.json.gz"));
        let add = ["archive", "add", &file(&directory, "fleet.db"), arg(&path)];
        let said = ciphermark(&add, b"").with_code(0).stderr;
        let without = "unchecked: figures: the record has no samples";
        assert_eq!(said.contains(without), !name.starts_with("leaks"), "{name}: {said}");
    }
}

/// A record, its manifest and a key, as `fleet gather` has them.
struct Signed {
    directory: tempfile::TempDir,
}

impl Signed {
    fn new() -> Self {
        let signed = Self { directory: scratch() };
        std::fs::copy(
            repository("records/ladder-2026-11-23-gnr.json.gz"),
            signed.path("r.json.gz"),
        )
        .unwrap();
        for name in ["key", "other"] {
            let mut keygen = Command::new("ssh-keygen");
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &signed.path(name)]);
            assert!(keygen.status().unwrap().success());
        }
        let public = std::fs::read_to_string(signed.path("key.pub")).unwrap();
        std::fs::write(signed.path("signers"), format!("bench@example.com {public}")).unwrap();
        signed.write(&signed.manifest());
        signed
    }

    fn path(&self, name: &str) -> String {
        file(&self.directory, name)
    }

    fn manifest(&self) -> Value {
        let sum = Command::new("sha256sum").arg(self.path("r.json.gz")).output().unwrap();
        let sum = String::from_utf8(sum.stdout).unwrap();
        let shown = ["show", &self.path("r.json.gz"), "--format", "json"];
        let record: Value = ciphermark(&shown, b"").json();
        json!({
            "record_sha256": sum.split(' ').next(), "machine_type": "c8i.large", "survey": "a",
            "seed": record["plan"]["seed"], "given": record["started"],
        })
    }

    fn write(&self, manifest: &Value) {
        std::fs::write(self.path("r.json.gz.manifest"), manifest.to_string()).unwrap();
    }

    fn sign(&self, key: &str, namespace: &str) {
        let _ = std::fs::remove_file(self.path("r.json.gz.manifest.sig"));
        let mut sign = Command::new("ssh-keygen");
        sign.args(["-Y", "sign", "-q", "-n", namespace, "-f", &self.path(key)]);
        assert!(sign.arg(self.path("r.json.gz.manifest")).status().unwrap().success());
    }

    /// Adds it to a new archive; what is said, and how the archive lists it.
    fn add(&self, code: i32) -> (String, Value) {
        let (store, signers) = (self.path("fleet.db"), self.path("signers"));
        let _ = std::fs::remove_file(Path::new(&store));
        let add =
            ["archive", "add", &store, &self.path("r.json.gz"), "--allowed-signers", &signers];
        let said = ciphermark(&add, b"").with_code(code).stderr;
        let list = ["archive", "list", &store, "--doubtful", "--json"];
        (said, ciphermark(&list, b"").json()[0].take())
    }
}

#[test]
fn a_record_that_an_allowed_signer_signed_counts_and_says_who() {
    let signed = Signed::new();
    signed.sign("key", "ciphermark-record");
    let (said, listed) = signed.add(0);
    assert!(said.contains(": 546 cases, signed"), "{said}");
    assert_eq!(
        (&listed["trust"], &listed["signer"]),
        (&json!("signed"), &json!("bench@example.com"))
    );
    assert_eq!(listed["machine"], "c8i.large", "the manifest's");
    let rank = ["rank", "--from", &signed.path("fleet.db"), "-a", "aes-256-gcm", "-s", "8K"];
    ciphermark(&rank, b"").with_code(0);
}

#[test]
#[ignore = "long: checks a record seven times"]
fn a_signature_by_others_for_something_else_or_over_another_text_is_none() {
    let signed = Signed::new();
    let is = |trust: &str, code: i32| {
        let (said, listed) = signed.add(code);
        assert_eq!(listed["trust"], trust, "{said}");
        said
    };
    is("unsigned", 1);
    signed.sign("other", "ciphermark-record");
    is("unsigned", 1);
    signed.sign("key", "file");
    is("unsigned", 1);
    // Another machine's name after it was signed.
    signed.sign("key", "ciphermark-record");
    let mut manifest = signed.manifest();
    manifest["machine_type"] = json!("c7a.large");
    signed.write(&manifest);
    is("unsigned", 1);
    // Signed, and of another record.
    manifest["record_sha256"] = json!("00".repeat(32));
    signed.write(&manifest);
    signed.sign("key", "ciphermark-record");
    let said = is("doubtful", 1);
    assert!(said.contains("manifest: it is of another record"), "{said}");
    // Signed, and not of this run.
    manifest = signed.manifest();
    manifest["seed"] = json!(7);
    signed.write(&manifest);
    signed.sign("key", "ciphermark-record");
    assert!(is("doubtful", 1).contains("not-fresh: its seed is "));
}
