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

fn done(line: &str, code: i32) -> Done {
    call(line).with_code(code)
}

fn json(line: &str, code: i32) -> Value {
    done(line, code).json()
}

fn list(of: &Value) -> &Vec<Value> {
    of.as_array().unwrap_or_else(|| panic!("{of:#}"))
}

/// An archive with two runs of one machine.
fn filled(store: &str) {
    let files = [record_of(PUBLISHED), record_of(LADDER)].join(" ");
    let add = format!("archive add {store} {files} --machine gnr --region eu");
    says(done(&add, 0).stderr, [": 2934 cases, own", ": 546 cases, own"]);
    assert_eq!(done(&add, 0).stderr.matches("is in already").count(), 2);
}

/// What any archive must do, whatever its database.
fn works(store: &str) {
    filled(store);
    let [listing, check] = ["list", "check"].map(|what| format!("archive {what} {store}"));
    let listing = format!("{listing} --json");
    let listed = json(&listing, 0);
    assert_eq!(list(&listed).len(), 2);
    assert!(list(&listed).iter().all(|r| r["machine"] == "gnr" && r["trust"] == "own"));
    assert_eq!(done(&check, 0).stdout, "2 records, 0 damaged\n");
    has_the_verdicts_of_the_records(store);
    ranks_with_prices(store);
    shows_histories(store);
    makes_a_site(store);
    let first = listed[0]["sha256"].as_str().unwrap();
    done(&format!("archive remove {store} {}", &first[..10]), 0);
    assert_eq!(list(&json(&listing, 0)).len(), 1);
    assert_eq!(done(&check, 0).stdout, "1 records, 0 damaged\n");
}

/// An archive keeps costs to a millionth; a ratio is of two.
const KEPT: f64 = 4e-6;

/// Everything of each case but its figures, and these.
fn verdicts(comparison: &Value) -> Vec<(String, Vec<f64>)> {
    let figures = |c: &mut Value, name: &str| match c[name].take() {
        Value::Object(all) => all.values().filter_map(Value::as_f64).collect(),
        one => Vec::from_iter(one.as_f64()),
    };
    let apart = |c: &mut Value| {
        let all = ["ratio", "base_cost", "new_cost"].map(|name| figures(c, name)).concat();
        (c.to_string(), all)
    };
    let mut cases: Vec<_> = list(&comparison["cases"]).clone().iter_mut().map(apart).collect();
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
    let never = "--fail-if never --format json";
    let (base, new) = (record_of(PUBLISHED), record_of(LADDER));
    let own = json(&format!("compare {base} {new} {never}"), 0);
    let kept = json(&format!("compare --from {store} --since {BETWEEN} {never}"), 0);
    assert!(list(&own["cases"]).len() > 90);
    are_the_same(&kept["machines"][0]["comparison"], &own);
    assert_eq!(kept["machines"][0]["comparison"]["instructions"], own["instructions"]);
    let own = json(&format!("compare {base} --libraries openssl@3.0*,openssl@4* {never}"), 0);
    let sides = format!("--base library=openssl@3.0* --new library=openssl@4*,until={BETWEEN}");
    let kept = json(&format!("compare --from {store} {sides} {never}"), 0);
    are_the_same(&kept["machines"][0]["comparison"], &own);
    // OpenSSL's CFB of one bit became slower.
    let slower = done(&format!("compare --from {store} {sides} --fail-if slower:2%"), 1);
    slower.says(["slower: ", "aes-128-cfb1"]);
}

fn ranks_with_prices(store: &str) {
    let directory = scratch();
    let rows = "type,region,date,price_per_hour,currency\ngnr,eu,2026-11-01,0.36,USD\n";
    let prices = written(&directory, "prices.csv", rows);
    let asked = "-a aes-256-gcm -s 8K";
    let from = format!("rank --from {store} --prices {prices} {asked}");
    let answer = json(&format!("{from} --format json"), 0)["machines"][0].clone();
    assert_eq!(answer["machine"], "gnr");
    let best = &answer["ranking"]["standings"][0]["rows"][0];
    let own = json(&format!("rank {} {asked} --format json", record_of(LADDER)), 0);
    assert_eq!(best["library"], own[0]["standings"][0]["rows"][0]["library"], "of the newest run");
    // Two CPUs share 0.36 dollars an hour, 0.1 cents in 10 seconds.
    let dollars = number(best, "ns_per_op.median") * 1e-9 * (1e15 / 8192.0) * 0.36 / 2.0 / 3600.0;
    let told = number(&answer, "cost.amount.median");
    assert!((told / dollars - 1.0).abs() < 1e-9, "{told} {dollars}");
    done(&from, 0).says(["USD/PB", "gnr"]);
}

fn shows_histories(store: &str) {
    let asked = format!("trend {store} -a aes-256-gcm -s 8K -l aws-lc -t native -d encrypt");
    let lines = json(&format!("{asked} --format json"), 0);
    let points = rows(&lines[0], "points");
    assert_eq!((list(&lines).len(), points.len()), (1, 2), "{lines}");
    assert!(points[0]["verdict"].is_null() && points[1]["verdict"].is_string(), "{lines}");
    done(&asked, 0).says(["aes-256-gcm, encrypt, 8K, message, native of aws-lc"]);
    let directory = scratch();
    done(&format!("{asked} --format otava -o {}", file(&directory, "history")), 0);
    let yaml = std::fs::read_to_string(directory.path().join("history/otava.yaml")).unwrap();
    let documents = yaml_rust2::YamlLoader::load_from_str(&yaml).unwrap();
    let tests = documents[0]["tests"].as_hash().unwrap();
    let file = tests.values().next().unwrap()["file"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap().lines().count(), 3, "a heading and two runs");
}

fn makes_a_site(store: &str) {
    let directory = scratch();
    let site = format!("report --from {store} -o {}", file(&directory, "site"));
    done(&site, 0);
    let page = std::fs::read_to_string(directory.path().join("site/index.html")).unwrap();
    // The newer run has five algorithms; what only the older one has is there as well.
    says(page, ["aes-256-gcm", "aes-128-cfb1", "data/0.js"]);
    for record in std::fs::read_dir(directory.path().join("site/records")).unwrap() {
        // Each figure links to its record, which is the one that was added.
        done(&format!("show {} -a aes-256-gcm", arg(&record.unwrap().path())), 0);
    }
    done(&site, 0);
    written(&directory, "site/index.html", "mine");
    says(done(&site, 2).stderr, ["holds no site by ciphermark"]);
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
    let mut script = Command::new(repository("scripts/archive-kills"));
    let done = script.args([arg(program()), store, "--kills", "60"]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let is_whole = done.status.success() && said.contains("nothing lost, nothing twice");
    assert!(is_whole, "{said} {done:?}");
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

/// The whole record of a run, in which something is changed.
fn changed(directory: &tempfile::TempDir, change: impl Fn(&mut Value)) -> String {
    let mut record = json(&format!("show {} --format json", record_of(LADDER)), 0);
    change(&mut record);
    written(directory, "changed.json", record.to_string())
}

#[test]
fn what_a_check_finds_fault_with_is_in_as_doubtful_and_left_out() {
    let directory = scratch();
    let store = file(&directory, "fleet.db");
    let forged = changed(&directory, |r| scale(case(r, 0), "ns_per_op", 0.9));
    let add = format!("archive add {store} {forged}");
    says(done(&add, 1).stderr, ["doubtful", "recomputed"]);
    says(done(&format!("{add} --quiet"), 1).stderr, ["is in already, doubtful"]);
    let rank = format!("rank --from {store}");
    let left_out = "1 doubtful or unsigned ones are left out without --doubtful";
    says(done(&rank, 2).stderr, [left_out]);
    done(&format!("{rank} --doubtful"), 0);
    let listing = format!("archive list {store} --doubtful");
    let shown = done(&listing, 0).says(["1 doubtful; --why says"]).stdout;
    assert!(!shown.contains("recomputed"), "{shown}");
    done(&format!("{listing} --why"), 0).says(["recomputed"]);
    let listed = json(&format!("{listing} --json"), 0);
    says(listed[0]["doubts"][0].as_str().unwrap(), ["recomputed"]);
}

/// An archive with a run of the machine a and, doubtful, one of b without AEGIS-256.
fn of_two_machines(directory: &tempfile::TempDir) -> String {
    let store = file(directory, "fleet.db");
    done(&format!("archive add {store} {} --machine a", record_of(LADDER)), 0);
    let other = changed(directory, |r| {
        r["started"] = json!("2026-11-24T10:00:00Z");
        r["measurements"].as_array_mut().unwrap().retain(|m| m["algorithm"] != "aegis-256");
    });
    done(&format!("archive add {store} {other} --machine b"), 1);
    store
}

#[test]
fn a_machine_without_such_a_case_is_named_beside_the_others() {
    let directory = scratch();
    let asked = format!("rank --from {} --doubtful -a aegis-256", of_two_machines(&directory));
    done(&asked, 0).says(["no answer: b: the record has no measured case"]);
    let answer = json(&format!("{asked} --format json"), 0);
    let names = ["machines", "without"].map(|part| &answer[part][0]["machine"]);
    assert_eq!(names, [&json!("a"), &json!("b")]);
}

#[test]
fn prices_of_two_currencies_are_in_no_column_and_each_is_named() {
    let directory = scratch();
    let store = of_two_machines(&directory);
    let rows = "type,date,price_per_hour,currency\na,2026-11-01,0.3,USD\nb,2026-11-01,0.2,EUR\n";
    let prices = written(&directory, "prices.csv", rows);
    let asked = format!("--from {store} --doubtful --prices {prices}");
    let rank = format!("rank -a aes-256-gcm {asked}");
    for line in [&rank, &format!("report -o {} {asked}", file(&directory, "site"))] {
        says(done(line, 2).stderr, ["'a' is in USD and 'b' in EUR"]);
    }
    done(&format!("{rank} --select machine=b"), 0);
}

#[test]
fn with_allowed_signers_an_unsigned_record_is_a_strangers() {
    let directory = scratch();
    let (store, signers) = (file(&directory, "fleet.db"), written(&directory, "signers", ""));
    let add = format!("archive add {store} {}", record_of(LADDER));
    says(done(&format!("{add} --allowed-signers {signers}"), 1).stderr, ["cases, unsigned"]);
    // Without the list it is still what it was added as.
    says(done(&add, 1).stderr, ["is in already, unsigned"]);
    done(&format!("archive list {store}"), 0).says(["1 doubtful or unsigned left out"]);
    done(&format!("trend {store} -a aes-256-gcm"), 2);
    done(&format!("trend {store} -a aes-256-gcm --doubtful"), 0);
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
        says(refusal(arguments), [said]);
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
    let path = written(directory, "r.json", record.to_string());
    call(&format!("archive add {} {path}", file(directory, store)))
}

/// Adds the run, which is honest, and each forgery of it to an archive of its own.
fn only_forgeries_are_doubted(honest: &Value, forgeries: &[&[Forgery]]) {
    let directory = scratch();
    says(add(&directory, "honest.db", honest).with_code(0).stderr, ["cases, own"]);
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
    says(add(&directory, "honest.db", &replay).with_code(1).stderr, ["  replayed: "]);
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
        let store = file(&directory, "fleet.db");
        let said = done(&format!("archive add {store} {}", record_of(name)), 0).stderr;
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
        std::fs::copy(record_of(LADDER), signed.path("r.json.gz")).unwrap();
        written(&signed.directory, "signers", signing_key(&signed.path("key")));
        signing_key(&signed.path("other"));
        signed.write(&signed.manifest());
        signed
    }

    fn path(&self, name: &str) -> String {
        file(&self.directory, name)
    }

    fn manifest(&self) -> Value {
        let sum = Command::new("sha256sum").arg(self.path("r.json.gz")).output().unwrap();
        let sum = String::from_utf8(sum.stdout).unwrap();
        let record = json(&format!("show {} --format json", self.path("r.json.gz")), 0);
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
        let record = self.path("r.json.gz");
        let said = done(&format!("archive add {store} {record} --allowed-signers {signers}"), code);
        let listed = json(&format!("archive list {store} --doubtful --json"), 0)[0].take();
        (said.stderr, listed)
    }
}

#[test]
fn a_record_that_an_allowed_signer_signed_counts_and_says_who() {
    let signed = Signed::new();
    signed.sign("key", "ciphermark-record");
    let (said, listed) = signed.add(0);
    says(&said, [": 546 cases, signed"]);
    let listed = ["trust", "signer", "machine"].map(|field| text(&listed, field).to_owned());
    assert_eq!(listed, ["signed", "bench@example.com", "c8i.large"], "the manifest's machine");
    done(&format!("rank --from {} -a aes-256-gcm -s 8K", signed.path("fleet.db")), 0);
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
    says(is("doubtful", 1), ["manifest: it is of another record"]);
    // Signed, and not of this run.
    manifest = signed.manifest();
    manifest["seed"] = json!(7);
    signed.write(&manifest);
    signed.sign("key", "ciphermark-record");
    assert!(is("doubtful", 1).contains("not-fresh: its seed is "));
}
