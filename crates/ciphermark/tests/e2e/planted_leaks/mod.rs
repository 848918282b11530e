//! Controls of the verdicts on secret-dependent execution: leaks that are planted in a right library are found, with
//! their kind, in their function and operations and nowhere else; what only looks like a leak is not.

mod private;
mod table;

use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use table::{Control, Planted};

/// Compiles all, two at a time.
fn built(controls: &[Control], directory: &Path) -> Vec<PathBuf> {
    let base = directory.join("base.o");
    let mut cc = Command::new("cc");
    cc.args(["-c", "-fPIC", "-O2", "-maes", "-mpclmul", "-mssse3", "-I"])
        .arg(repository("include"));
    fakes::succeed(cc.arg("-o").arg(&base).arg(repository("tests/fakes/leaks/base.c")));
    let queue = Mutex::new(controls.iter());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(control) = queue.lock().unwrap().next() else { return };
                    let mut cc = fakes::compiler(&object(directory, control));
                    cc.args(["-O2", "-masm=intel"]);
                    cc.args(control.defines.iter().map(|define| format!("-D{define}")));
                    cc.arg(&base).arg(repository("tests/fakes/leaks/controls.c"));
                    fakes::succeed(&mut cc);
                }
            });
        }
    });
    controls.iter().map(|control| object(directory, control)).collect()
}

fn object(directory: &Path, control: &Control) -> PathBuf {
    directory.join(control.name).with_extension("so")
}

/// The first feature that the CPU lacks of those that a control executes.
#[cfg(target_arch = "x86_64")]
fn lacks(control: &Control) -> Option<&str> {
    let has = |feature: &&str| match *feature {
        "avx" => is_x86_feature_detected!("avx"),
        "avx2" => is_x86_feature_detected!("avx2"),
        "bmi2" => is_x86_feature_detected!("bmi2"),
        "adx" => is_x86_feature_detected!("adx"),
        "rdrand" => is_x86_feature_detected!("rdrand"),
        "sha" => is_x86_feature_detected!("sha"),
        "gfni" => is_x86_feature_detected!("gfni"),
        "avx512f" => is_x86_feature_detected!("avx512f"),
        "avx512dq" => is_x86_feature_detected!("avx512dq"),
        "avx512bw" => is_x86_feature_detected!("avx512bw"),
        "avx512vl" => is_x86_feature_detected!("avx512vl"),
        "avx512ifma" => is_x86_feature_detected!("avx512ifma"),
        "avx512vbmi" => is_x86_feature_detected!("avx512vbmi"),
        other => panic!("table.rs names a feature that nobody asks the CPU for: {other}"),
    };
    control.needs.split_whitespace().find(|feature| !has(feature))
}

/// What `leaks` says of controls that are judged at the same tier and size.
fn judged(controls: &[&Control], directory: &Path) -> Vec<Value> {
    let of = controls[0];
    let size = of.size.to_string();
    let named = |c: &&Control| format!("{}={}", c.name, arg(&object(directory, c)));
    let libraries: Vec<String> = controls.iter().map(named).collect();
    let what =
        ["leaks", "-a", "aes-128-gcm", "-t", of.tier, "-s", &size, "--secrets", "16", "--json"];
    let libraries = libraries.iter().flat_map(|library| ["-l", library]);
    let all: Vec<&str> = what.into_iter().chain(libraries).collect();
    ciphermark_with_many(&all, &[("CIPHERMARK_CACHE", "")]).rows()
}

fn texts<'a>(of: &'a Value, field: &str) -> Vec<&'a str> {
    of[field].as_array().map_or(Vec::new(), |all| all.iter().filter_map(Value::as_str).collect())
}

/// What is not as the table says.
fn wrong(control: &Control, verdict: &Value) -> Option<String> {
    let empty = Vec::new();
    let findings = verdict["findings"].as_array().unwrap_or(&empty);
    let Some(planted) = &control.found else {
        let clean = findings.is_empty() && verdict["verdict"] == "same-trace";
        return (!clean).then(|| "false alarm, or not judged".to_owned());
    };
    let function = |finding: &Value| text(finding, "function").to_owned();
    let of_it = |finding: &&Value| {
        text(finding, "kind") == planted.kind && function(finding).starts_with(planted.function)
    };
    let Some(found) = findings.iter().find(of_it) else { return Some("missed".to_owned()) };
    let elsewhere = |finding: &&Value| {
        let object = text(finding, "object");
        let known = |name: &&str| function(finding).starts_with(name) || object == *name;
        !function(finding).starts_with(planted.function) && !control.also.iter().any(known)
    };
    if let Some(finding) = findings.iter().find(elsewhere) {
        return Some(format!("a false alarm in {}", function(finding)));
    }
    misplaced(planted, verdict, found)
}

/// Whether operations and evidence are others than those of what was planted.
fn misplaced(planted: &Planted, verdict: &Value, found: &Value) -> Option<String> {
    let operations = texts(found, "operations");
    // What decryption does, a rejection has done before it compares tags.
    let may = |at: &&str| {
        planted.operations.contains(at)
            || *at == "reject" && planted.operations.contains(&"decrypt")
    };
    let missing = planted.operations.iter().find(|at| !operations.contains(at));
    if let Some(at) = missing.or_else(|| operations.iter().find(|at| !may(at))) {
        return Some(format!("{at}: found in {operations:?}"));
    }
    if planted.tainted && found["tainted"] != true {
        return Some("taint did not get there".to_owned());
    }
    if found["compared"] != planted.compared {
        return Some(format!("compared is {}", found["compared"]));
    }
    let word = if planted.compared { "depends" } else { "may-depend" };
    (verdict["verdict"] != word).then(|| format!("the verdict is not {word}"))
}

#[test]
#[ignore = "long: compiles and steps some 170 libraries"]
#[cfg(target_arch = "x86_64")]
fn planted_leaks_are_found_where_they_are_and_what_only_looks_like_one_is_not() {
    let directory = scratch();
    let (able, unable): (Vec<Control>, Vec<Control>) =
        table::all().into_iter().partition(|control| lacks(control).is_none());
    for control in &unable {
        let lacking = lacks(control).unwrap_or_default();
        eprintln!("NOT TESTED: {}: this CPU has no {lacking}", control.name);
    }
    built(&able, directory.path());
    let mut groups: Vec<(&str, usize)> = able.iter().map(|c| (c.tier, c.size)).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut all = Vec::new();
    for group in groups {
        let controls: Vec<&Control> = able.iter().filter(|c| (c.tier, c.size) == group).collect();
        let verdicts = judged(&controls, directory.path());
        for control in controls {
            let verdict = where_(&verdicts, &[("library.name", control.name)])[0];
            if let Some(why) = wrong(control, verdict) {
                all.push(format!("{}: {why}: {control:?}\n    {verdict}", control.name));
            }
        }
    }
    assert!(all.is_empty(), "{} of {} controls:\n{}", all.len(), able.len(), all.join("\n"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_branch_on_the_key_in_rejections_alone_is_a_finding_and_fails_a_comparison() {
    let directory = scratch();
    let controls = [table::honest(), table::branch_in_rejection()];
    built(&controls, directory.path());
    let record = |control: &Control, code| {
        let (library, path) = (
            format!("mine={}", arg(&object(directory.path(), control))),
            file(&directory, control.name),
        );
        let what =
            ["leaks", "-l", &library, "-a", "aes-128-gcm", "-s", "37", "--json", "-o", &path];
        let done = ciphermark_with_many(&what, &[("CIPHERMARK_CACHE", "")]).with_code(code);
        assert_eq!(wrong(control, &done.rows()[0]), None, "{}", done.stdout);
        path
    };
    let (honest, leaky) = (record(&controls[0], 0), record(&controls[1], 1));
    let done = call(&format!("compare {honest} {leaky} --fail-if leaks")).with_code(1);
    assert!(done.stdout.contains("newly depends on the secret: aes-128-gcm"), "{}", done.stdout);
    call(&format!("compare {leaky} {honest} --fail-if leaks")).with_code(0);
}
