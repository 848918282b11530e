//! `--tier`: what a library sees of the CPU, and that it is right in what it then does.

use crate::support::{fakes, *};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

fn greeting(library: &std::path::Path, tier: &str) -> Value {
    let hello = json!({"hello": {
        "protocol": 3, "path": library, "name": null, "tier": tier, "cpu": null, "process": 0,
        "seed": 1, "ticks_per_ns": 1.0,
    }});
    let mut worker = Command::new(program())
        .arg("worker")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = worker.stdin.take().unwrap();
    writeln!(stdin, "{hello}").unwrap();
    drop(stdin);
    let output = worker.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Letters of the features that the stand-in saw, the same at every moment.
fn seen(object: &std::path::Path, tier: &str) -> String {
    let reply = greeting(object, tier);
    let version = text(&reply["ready"], "version");
    let letters: Vec<&str> =
        version.split(' ').filter_map(|w| w.split_once('=').map(|(_, l)| l)).collect();
    let [start, link, now] = letters[..] else { panic!("{reply}") };
    assert_eq!((start, link), (now, now), "not the same at every moment: {reply}");
    now.to_owned()
}

/// Whether this machine's CPU has a feature.
fn cpu_has(flag: &str) -> bool {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    flags.split_whitespace().any(|f| f == flag)
}

/// What a machine has, by the kernel's names.
fn has(machine: &str) -> Vec<&'static str> {
    let steps: [(&str, &[&str]); 9] = [
        ("qemu64", &["pni", "cx16"]),
        ("core2", &["ssse3"]),
        ("nehalem", &["sse4_1", "sse4_2", "popcnt"]),
        ("westmere", &["aes", "pclmulqdq"]),
        ("sandybridge", &["xsave", "avx"]),
        ("haswell", &["avx2", "bmi1", "bmi2", "fma", "f16c", "abm", "movbe"]),
        ("skylake", &["adx"]),
        ("zen1", &["sha_ni"]),
        ("icelake", &["gfni", "vaes", "vpclmulqdq", "avx512vl", "avx512_vbmi2", "avx512_bitalg"]),
    ];
    let upto = steps.iter().position(|(name, _)| *name == machine).map_or(0, |at| at + 1);
    steps[..upto].iter().flat_map(|(_, flags)| *flags).copied().collect()
}

/// A tier that this machine's CPU has all of.
fn here(tier: &str) -> bool {
    match tier {
        "vaes256" => cpu_has("vaes") && cpu_has("vpclmulqdq"),
        "aesni" | "noavx2" => cpu_has("aes") && cpu_has("pclmulqdq"),
        "nopclmul" => cpu_has("aes"),
        machine => has(machine).iter().all(|flag| cpu_has(flag)),
    }
}

fn each_tier_is_seen(object: &std::path::Path) {
    // Letters that a tier takes away, from the widest to the narrowest.
    let gone = [
        ("native", ""),
        ("vaes256", "5"),
        ("aesni", "5V"),
        ("noaes", "5VAP"),
        ("baseline", "5VAP2S"),
        ("nopclmul", "P"),
        ("noavx2", "5V2"),
        ("icelake", ""),
        ("zen1", "5V"),
        ("skylake", "5V"),
        ("haswell", "5V"),
        ("sandybridge", "5V2"),
        ("westmere", "5V2"),
        ("nehalem", "5VAP2"),
        ("core2", "5VAP2"),
        ("qemu64", "5VAP2S"),
    ];
    let native = seen(object, "native");
    let all = [
        ('S', "ssse3"),
        ('P', "pclmulqdq"),
        ('A', "aes"),
        ('2', "avx2"),
        ('V', "vaes"),
        ('5', "avx512f"),
    ];
    for (letter, flag) in all {
        assert_eq!(native.contains(letter), cpu_has(flag), "{flag}: {native}");
    }
    for (tier, gone) in gone.iter().filter(|(tier, _)| here(tier)) {
        let left = native.replace(|c: char| gone.contains(c), "-");
        assert_eq!(seen(object, tier), left, "{tier}");
    }
}

#[test]
fn a_library_in_c_sees_the_tier_from_its_first_initialiser_on() {
    each_tier_is_seen(&fakes::object("asks", ""));
}

#[test]
fn a_library_in_cpp_sees_the_tier_from_its_first_static_object_on() {
    let directory = scratch();
    let object = directory.path().join("asks.so");
    let source = std::fs::read_to_string(repository("tests/fakes/asks.c")).unwrap();
    // The stand-ins' shared part is C: as C++ it needs its casts left out.
    let cpp = written(&directory, "asks.cpp", source);
    let output = Command::new("c++")
        .args(["-shared", "-fPIC", "-O2", "-fpermissive", "-w", "-x", "c++", "-I"])
        .arg(repository("include"))
        .arg("-I")
        .arg(repository("tests/fakes"))
        .arg("-o")
        .arg(&object)
        .arg(&cpp)
        .output()
        .expect("a C++ compiler is installed as `c++`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    each_tier_is_seen(&object);
}

#[test]
#[ignore = "long: seconds"]
fn libraries_in_c_and_rust_pass_every_check_at_every_tier() {
    let tiers: Vec<&str> = ["aesni", "baseline"].into_iter().filter(|t| here(t)).collect();
    let what = "verify --json -l openssl -l rustcrypto -a aes-128-gcm -t";
    let all = call(&format!("{what} {}", tiers.join(" -t "))).with_code(0).rows();
    for library in ["openssl", "rustcrypto"] {
        for tier in &tiers {
            all_are(where_(&all, &[("library.name", library), ("tier", tier)]), "passed");
        }
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_run_measures_each_tier_by_itself_and_the_record_says_how() {
    let case = "-l openssl -l rustcrypto -a aes-128-ctr -s 64 -d encrypt -t native -t noaes";
    let record = record(case, 0);
    for library in ["openssl", "rustcrypto"] {
        for tier in ["native", "noaes"] {
            let of = [("library.name", library), ("tier", tier)];
            all_are(where_(rows(&record, "measurements"), &of), "measured");
        }
    }
    for library in rows(&record, "libraries") {
        let [applied] = &rows(library, "tiers")[..] else { panic!("{library}") };
        assert_eq!(applied["tier"], "noaes");
        assert!(
            ["cpuid-fault", "cpuid-rewrite"].contains(&text(applied, "mechanism")),
            "{applied}"
        );
        assert!(applied["cpuid_answered"].as_u64() > Some(0), "{applied}");
        assert!(applied["cpuid_instructions"].as_u64() > Some(0), "{applied}");
        assert!(text(applied, "proof").contains("answers of CPUID"), "{applied}");
    }
}

#[test]
fn one_operation_gives_the_same_at_every_tier() {
    let key = "000102030405060708090a0b0c0d0e0f";
    let at = |tier: &str| {
        let case = ["once", "-a", "aes-128-gcm", "-l", "openssl", "-t", tier, "--key", key];
        let nonce = ["--nonce", "000000000000000000000000"];
        ciphermark(&[&case[..], &nonce].concat(), b"the same bytes").with_code(0).bytes
    };
    let native = at("native");
    assert_eq!(native.len(), 14 + 16);
    for tier in ["aesni", "noaes"].into_iter().filter(|tier| here(tier)) {
        assert_eq!(at(tier), native, "{tier}");
    }
}

#[test]
fn tiers_are_taken_by_globs_and_an_unknown_one_is_refused() {
    let tier = |rows: &[Value]| rows.iter().map(|r| text(r, "tier").to_owned()).collect::<Vec<_>>();
    let rows = call("verify --json -l openssl -a aes-128-ctr -t bas*,noa[e]s").with_code(0).rows();
    assert_eq!(tier(&rows), ["noaes", "baseline"]);
    refuses("verify -l openssl -t noeas", &["unknown tier 'noeas'", "'noaes'"]);
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_machine_runs_its_own_code_and_a_table_says_what_that_is_not() {
    let done = call("run -l openssl -a aes-128-ctr -s 64 -d encrypt -t qemu64 --budget 1s");
    assert!(!done.stdout.contains("REFUSED"), "{}", done.stdout);
    let note = "tier qemu64: an emulated feature set on this CPU is not an old core's speed";
    assert!(done.stdout.replace("\n", " ").contains(note), "{}", done.stdout);
}

#[test]
fn code_that_asks_no_cpu_is_not_passed_off_as_within_a_tier() {
    let fixed = fakes::variant("asks", "FIXED");
    let rows = |tier: &str, code: i32| {
        call(&format!("verify --json -l {fixed} -a aes-128-ctr -t {tier}")).with_code(code).rows()
    };
    // Nothing was found, and nothing checked.
    let noaes = rows("noaes", 4);
    let [row] = &noaes[..] else { panic!("{noaes:?}") };
    assert_eq!(text(row, "state"), "unsupported");
    says(text(row, "reason"), ["its code needs AES and has no CPUID instruction"]);
    let code = "its code needs AES and has no CPUID instruction";
    for (command, said) in [("leaks", "not judged"), ("explain", "noaes instructions not counted")]
    {
        let done = call(&format!("{command} -q -l {fixed} -a aes-128-ctr -t noaes")).with_code(3);
        says(flat(done.stdout), [said, code]);
    }
    let stream = call(&format!("explain -q -l {fixed} -a aes-128-ctr -m forgery")).with_code(0);
    says(flat(stream.stdout), ["the library does not offer it as forgery"]);
    if here("aesni") {
        assert_eq!(text(&rows("aesni", 0)[0], "state"), "passed");
    }
}

/// Verifies AES in OpenSSL at a tier with one mechanism and no other.
fn by(mechanism: &str, more: &str) -> Done {
    let line = format!("verify --json -t noaes -a aes-128-ctr -l openssl {more}");
    call_with(&line, &[("CIPHERMARK_TIER_MECHANISM", mechanism)])
}

#[test]
fn a_library_with_a_switch_of_its_own_can_be_told_instead_and_one_without_cannot() {
    let asks = fakes::library("asks");
    let rows = by("switch", &format!("-l {asks}")).rows();
    all_are(where_(&rows, &[("library.name", "openssl")]), "passed");
    let asks = where_(&rows, &[("library.name", "asks")]);
    assert_eq!(text(asks[0], "state"), "unsupported");
    assert!(text(asks[0], "reason").contains("no switch of its own"), "{asks:?}");
}

#[test]
fn a_mechanism_that_does_not_exist_is_named() {
    by("magic", "")
        .says(["CIPHERMARK_TIER_MECHANISM is 'magic': it takes fault, rewrite or switch"]);
}

#[test]
fn the_list_of_tiers_says_how_this_machine_applies_each() {
    let rows = call("list tiers --json").with_code(0).rows();
    let noaes = where_(&rows, &[("name", "noaes")])[0];
    assert!(["cpuid-fault", "cpuid-rewrite"].contains(&text(noaes, "mechanism")), "{noaes}");
    assert_eq!(where_(&rows, &[("name", "native")])[0]["mechanism"], Value::Null);
    for row in &rows {
        let name = text(row, "name");
        assert_eq!(row["available"], here(name), "{row}");
        let lacks = row["reason"].as_str().is_some_and(|why| why.starts_with("this CPU has no "));
        assert_eq!(lacks, !here(name), "{row}");
    }
}
