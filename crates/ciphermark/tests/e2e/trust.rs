//! What `archive add` believes: honest runs of TLS and of pages, and not those in which something was changed; what a
//! signature is worth.

use crate::support::*;
use crate::tls::{soon, stack};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// What a forger changes, and the doubt by which it must be found.
type Forgery = (&'static str, &'static str, fn(&mut Value));

/// Of any run.
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

/// A measured case.
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
fn a_run_of_tls_is_believed_and_no_forgery_of_it() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let path = file(&directory, "t.json");
    let what = "-t hot --client-auth no -x x25519,p256 -c p256 -k full";
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

    /// Signs the manifest as it is.
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
fn a_signature_by_others_for_something_else_or_over_another_text_is_none() {
    let signed = Signed::new();
    let is = |trust: &str, code: i32| {
        let (said, listed) = signed.add(code);
        assert_eq!(listed["trust"], trust, "{said}");
        said
    };
    is("unsigned", 0);
    signed.sign("other", "ciphermark-record");
    is("unsigned", 0);
    signed.sign("key", "file");
    is("unsigned", 0);
    // Another machine's name after it was signed.
    signed.sign("key", "ciphermark-record");
    let mut manifest = signed.manifest();
    manifest["machine_type"] = json!("c7a.large");
    signed.write(&manifest);
    is("unsigned", 0);
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
