//! What depends on secrets, wherever a record with made-up verdicts is shown; and `explain`: what runs inside
//! the clock. Controls of the verdicts on secret-dependent execution and on private keys: leaks that are planted
//! in a right library (`tests/fakes/leaks`) are found, with their kind, in their function and operations and
//! nowhere else; what only looks like a leak is not.

use crate::support::{fakes, *};
use crate::tls::shim;
use record::{LeakVerdict, Leaks, Record};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

fn sample() -> Record {
    record::fixtures::sample()
}

fn saved(directory: &tempfile::TempDir, name: &str, record: &Record) -> String {
    let path = file(directory, name);
    record::save(record, Path::new(&path)).unwrap();
    path
}

/// The published survey, in which these libraries' AES-256-GCM has a verdict.
fn judged(verdicts: &[(&str, LeakVerdict)]) -> Record {
    let mut survey = record::load(Path::new(&published())).unwrap();
    let findings = sample().leaks.remove(0).findings;
    for (name, verdict) in verdicts {
        let named = |id: &record::LibraryId| format!("{}@{}", id.name, id.version) == *name;
        let library = survey.libraries.iter().map(record::Library::identity).find(named).unwrap();
        let has_findings = *verdict == LeakVerdict::Depends;
        let findings = if has_findings { findings.clone() } else { Vec::new() };
        let leaks = record::fixtures::leaks(library, "aes-256-gcm", *verdict);
        survey.leaks.push(Leaks { findings, ..leaks });
    }
    survey
}

fn two() -> Record {
    judged(&[("openssl@4.0.3", LeakVerdict::SameTrace), ("openssl@3.0.19", LeakVerdict::Depends)])
}

#[test]
#[ignore = "long: seconds"]
fn a_table_has_the_sign_and_who_it_is_and_the_rows_of_csv_the_words() {
    let directory = scratch();
    let path = saved(&directory, "r.json", &two());
    let table = call(&format!("show {path} -a aes-256-gcm -d encrypt -s 8K")).with_code(0).stdout;
    assert!(table.contains("openssl@3.0.19‡ ") && !table.contains("openssl@4.0.3‡"), "{table}");
    let note = "‡: depends on the secret, 1 in all: openssl@3.0.19 aes-256-gcm";
    says(&table, [note]);
    let csv = call(&format!("show {path} -l openssl@3.0.19 -a aes-256-gcm -t native --format csv"));
    let csv = csv.with_code(0).stdout;
    says(csv.lines().next().unwrap(), [",leaks,leaks_words"]);
    says(csv.lines().nth(1).unwrap(), [",depends,\"secret-dependent lookups in AES_encrypt"]);
}

#[test]
#[ignore = "long: seconds"]
fn the_verdicts_of_a_record_are_shown_alone_as_far_as_the_filter_keeps_them() {
    let directory = scratch();
    let path = saved(&directory, "r.json", &two());
    let show = |line: &str| call(&format!("show {line}")).with_code(0);
    let all = "2 verdicts: 1 depends on the secret, 1 same trace";
    show(&format!("{path} --leaks"))
        .says(["openssl@3.0.19, tier native: 1 depends on the secret", all]);
    let rows = show(&format!("{path} --leaks -l openssl@4.0.3 --format json")).rows();
    assert_eq!((rows.len(), &rows[0]["verdict"]), (1, &"same-trace".into()));
    // Of verdicts alone, as `leaks -o` may write them.
    let alone = Record { measurements: Vec::new(), ..two() };
    let alone = saved(&directory, "alone.json", &alone);
    show(&format!("{alone} --leaks -a aes-256-*")).says(["2 verdicts"]);
    show(&alone).says(["2 verdicts"]);
    refuses(&format!("show {path} --leaks -a sm4-gcm"), &["leave no verdict"]);
    refuses(&format!("show {path} --leaks --format parquet"), &["--leaks has table"]);
    refuses(&format!("show {} --leaks", published()), &["no verdicts on secrets"]);
}

#[test]
fn explain_names_the_function_and_the_instruction() {
    let text = call(&format!("explain {SAMPLE} -d encrypt")).with_code(0).stdout;
    says(
        flat(text),
        [
            "secrets depends at tier native, 16 secrets; not judged: step limit: encrypt at 8192 bytes",
            "lookups in AES_encrypt (1024 bytes, 16 lines): mov eax,[rcx+rdx*4] at 0x1a2b of libcrypto.so.3",
            "and 15 more, in encrypt of 16 B",
        ],
    );
    refuses(&format!("explain {SAMPLE} -m rekey"), &["the filters leave no"]);
}

#[test]
#[ignore = "long: seconds"]
fn a_ranking_of_same_traces_leaves_out_the_rest_and_says_how_many() {
    let directory = scratch();
    let path = saved(&directory, "r.json", &two());
    let what = format!("rank {path} -a aes-256-gcm -s 8K --same-trace");
    let whole = call(&format!("{what} --format json")).with_code(0).json();
    let rows = rows(&whole[0]["standings"][0], "rows");
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (text(&rows[0], "library.version"), text(&rows[0], "leaks")),
        ("4.0.3", "same-trace")
    );
    assert_eq!(whole[0]["secret"]["depends"], 1);
    assert!(whole[0]["secret"]["without_verdict"].as_u64().unwrap() > 10, "{whole}");
    call(&what).with_code(0).says(["left out: 1 depend on the secret,"]);
    let all = call(&format!("rank {path} -a aes-256-gcm -s 8K --leaking --rows all"));
    all.with_code(0).says(["openssl@3.0.19‡", "‡: depends on the secret"]);
    let none = format!("rank {} -a aes-256-gcm -s 8K --same-trace", published());
    refuses(&none, &["without a verdict"]);
}

#[test]
fn a_new_place_that_depends_on_the_secret_fails_a_comparison() {
    let directory = scratch();
    let leaky = saved(&directory, "leaky.json", &sample());
    let mut clean = sample();
    clean.leaks[0].findings.clear();
    clean.leaks[0].verdict = LeakVerdict::SameTrace;
    let clean = saved(&directory, "clean.json", &clean);
    let gate = |base: &str, new: &str, more: &str| {
        call(&format!("compare {base} {new} --fail-if leaks {more}"))
    };
    says(
        flat(gate(&clean, &leaky, "").with_code(1).stdout),
        [
            "depends on secrets: 1 changed, 0 equal",
            "same-trace → depends; new: secret-dependent lookups in AES_encrypt",
            "--fail-if leaks: newly depends on the secret: aes-128-gcm",
        ],
    );
    gate(&leaky, &clean, "").with_code(0);
    let markdown = gate(&clean, &leaky, "--format markdown").with_code(1);
    markdown.says(["**Depends on secrets: 1 changed, 0 equal**"]);
    let mut unjudged = sample();
    unjudged.leaks.clear();
    let unjudged = saved(&directory, "unjudged.json", &unjudged);
    gate(&unjudged, &leaky, "").ends(2, ["--fail-if leaks: no algorithm was judged on both sides"]);
}

#[test]
#[ignore = "long: seconds"]
fn advice_avoids_what_depends_on_the_secret_unless_one_is_alone() {
    let directory = scratch();
    let mut at_rest = record::load(Path::new(&published_at_rest())).unwrap();
    at_rest.measurements.retain(|m| m.tier == base::model::Tier::Native);
    let findings = sample().leaks.remove(0).findings;
    let depends = |library| Leaks {
        findings: findings.clone(),
        ..record::fixtures::leaks(library, "aegis-256x4", LeakVerdict::Depends)
    };
    at_rest.leaks = at_rest.libraries.iter().map(record::Library::identity).map(depends).collect();
    let path = saved(&directory, "r.json", &at_rest);
    let said = |more: &str| {
        flat(call(&format!("advise {path} --for postgres {more}")).with_code(0).stdout)
    };
    says(said(""), ["avoids aegis-256x4 in libaegis"]);
    says(said("--alone yes"), ["choice aegis-256x4 in libaegis"]);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_a_library_allocates_and_copies_for_a_message_is_counted() {
    let what = format!("explain -l {} -a aes-128-gcm -s 16,1024", fakes::library("copies"));
    let all = call(&format!("{what} --json")).with_code(0).rows();
    assert_eq!(all.len(), 2, "encrypt and decrypt: {all:?}");
    for row in &all {
        for (cost, size) in rows(row, "costs").iter().zip([16.0, 1024.0]) {
            assert_eq!(cost["size"], size as u64, "{row}");
            assert_eq!(cost["allocations"], 1.0, "{row}");
            assert_eq!(cost["allocated_bytes"], size + 100.0, "{row}");
            assert_eq!(cost["copied_bytes"], size, "{row}");
        }
    }
    let copied = "1024 B: 1 allocation (1124 B), 1024 B copied (1.0 × the message)";
    call(&what).with_code(0).says([copied]);
    let without = fakes::library("correct");
    let without = call(&format!("explain -l {without} -a aes-128-gcm -d encrypt -s 1024"));
    without.with_code(0).says(["1024 B: no allocation, nothing copied"]);
}

/// What `explain --json` says that a stand-in executes for a copy, with instruction counts kept in
/// `cache`.
fn executed(cache: &str) -> Value {
    let fake = fakes::library("counted");
    let arguments = ["explain", "-l", &fake, "-a", "memcpy", "-s", "48", "--json"];
    let done = ciphermark_with(&arguments, &[("CIPHERMARK_CACHE", cache)]).with_code(0);
    done.json()[0]["executed"][0].clone()
}

/// Share of a class: per byte and per message.
fn share(executed: &Value, class: &str) -> (f64, f64) {
    let found = where_(rows(executed, "classes"), &[("class", class)])[0];
    (number(found, "per_byte"), number(found, "per_message"))
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_instructions_of_an_operation_are_counted_exactly_and_the_same_every_time() {
    let first = executed("");
    assert_eq!(first["source"], "single-step", "{first}");
    assert_eq!(share(&first, "aes-round"), (10.0 / 16.0, 0.0), "{first}");
    assert!(share(&first, "other").1 >= 7.0, "{first}");
    let sum: f64 = rows(&first, "classes").iter().map(|class| number(class, "per_byte")).sum();
    assert!((sum - number(&first, "per_byte")).abs() < 1e-9, "{first}");
    let sets: Vec<&str> =
        rows(&first, "instruction_sets").iter().filter_map(Value::as_str).collect();
    assert!(sets.contains(&"aes") && !sets.contains(&"vaes"), "{sets:?}");
    assert_eq!(first["exact"][0]["size"], 48);
    assert!(number(&first["exact"][0], "instructions") > 30.0 + 7.0, "{first}");
    assert_eq!(executed(""), first);
}

#[test]
#[cfg(target_arch = "x86_64")]
#[ignore = "long: seconds"]
fn counts_are_kept_and_what_is_damaged_of_them_is_counted_anew() {
    let scratch = scratch();
    let counted = executed(arg(scratch.path()));
    let files = || {
        let directory = std::fs::read_dir(scratch.path().join("evidence")).unwrap();
        directory.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let [file] = &files()[..] else { panic!("{:?}", files()) };
    let written = std::fs::metadata(file).unwrap().modified().unwrap();
    assert_eq!(executed(arg(scratch.path())), counted);
    assert_eq!(std::fs::metadata(file).unwrap().modified().unwrap(), written, "written anew");
    std::fs::write(file, "torn").unwrap();
    assert_eq!(executed(arg(scratch.path())), counted);
    assert!(std::fs::metadata(file).unwrap().len() > 100);
}

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
    macro_rules! has {
        ($asked:expr; $($feature:tt)*) => { match $asked {
            $($feature => is_x86_feature_detected!($feature),)*
            other => panic!("table.rs names a feature that nobody asks the CPU for: {other}"),
        } };
    }
    let has = |feature: &&str| {
        has!(*feature; "avx" "avx2" "bmi2" "adx" "rdrand" "sha" "gfni" "avx512f" "avx512dq"
            "avx512bw" "avx512vl" "avx512ifma" "avx512vbmi")
    };
    control.needs.split_whitespace().find(|feature| !has(feature))
}

/// What `leaks` says of controls that are judged at the same tier and size.
fn judged_controls(controls: &[&Control], directory: &Path) -> Vec<Value> {
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
        all_controls().into_iter().partition(|control| lacks(control).is_none());
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
        let verdicts = judged_controls(&controls, directory.path());
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
#[ignore = "long: seconds"]
fn a_branch_on_the_key_in_rejections_alone_is_a_finding_and_fails_a_comparison() {
    let directory = scratch();
    let controls = [honest_control(), branch_in_rejection()];
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
    says(&done.stdout, ["newly depends on the secret: aes-128-gcm"]);
    call(&format!("compare {leaky} {honest} --fail-if leaks")).with_code(0);
}

#[test]
#[cfg(target_arch = "x86_64")]
#[ignore = "long: seconds"]
fn a_run_judges_no_more_where_a_first_message_depends_on_the_key_and_leaks_does() {
    let (directory, cache) = (scratch(), scratch());
    let controls = [leaks("lookup", "", "sbox_table").remove(0), branch_in_rejection()];
    built(&controls, directory.path());
    let cache = [("CIPHERMARK_CACHE", arg(cache.path()))];
    let of_run = |control: &Control| {
        let library = format!("mine={}", arg(&object(directory.path(), control)));
        let path = file(&directory, control.name);
        let what = ["run", "-l", &library, "-a", "aes-128-gcm", "-s", "64", "--budget", "1s", "-o"];
        ciphermark_with_many(&[&what[..], &[&path]].concat(), &cache);
        record::load(Path::new(&path)).unwrap().leaks.remove(0)
    };
    let early = of_run(&controls[0]);
    assert_eq!((early.verdict, early.operations.len()), (LeakVerdict::Depends, 2));
    let late = of_run(&controls[1]);
    assert_eq!(late.verdict, LeakVerdict::Depends);
    assert!(late.operations.len() > 2, "{:?}", late.operations);
    let library = format!("mine={}", arg(&object(directory.path(), &controls[0])));
    let whole = ["leaks", "-l", &library, "-a", "aes-128-gcm", "--secrets", "2", "--json"];
    let whole = ciphermark_with_many(&whole, &cache).with_code(1);
    assert_eq!(wrong(&controls[0], &whole.rows()[0]), None, "{}", whole.stdout);
}

/// A scheme, what is planted, and what is to be found: kind and function.
type PrivateControl = (&'static str, &'static [&'static str], Option<(&'static str, &'static str)>);

const LADDERS: [PrivateControl; 3] = [
    ("x25519", &["LADDER"], None),
    ("x25519", &["LADDER", "SWAP=swap_by_branch"], Some(("branch", "swap_by_branch"))),
    ("x25519", &["LADDER", "BIT=bit_by_digit"], Some(("lookup", "bit_by_digit"))),
];

/// What signs is planted before OpenSSL's own code: that branches by how r is written and, of RSA, by its numbers
/// (Karatsuba's multiplication), and what differs after a branch may follow from it.
const BEFORE: [&str; 2] = ["SIGN=nothing", "BEFORE=square_and_multiply"];

const SLOW: [PrivateControl; 6] = [
    ("mlkem768", &["KEM"], None),
    ("mlkem768", &["KEM", "DIFFER=differ_early"], Some(("branch", "differ_early"))),
    ("mlkem768", &["KEM", "CHOOSE=choose_by_branch"], Some(("branch", "choose_by_branch"))),
    ("ecdsa-p256", &["SIGN=by_form"], None),
    ("ecdsa-p256", &BEFORE, Some(("branch", "square_and_multiply"))),
    ("rsa-2048-pkcs1", &BEFORE, Some(("branch", "square_and_multiply"))),
];

/// Functions that only the controls have.
const OWN: &str =
    "swap_by_branch bit_by_digit differ_early choose_by_branch square_and_multiply by_form";

const UNREACHED: &str = "taint lost: it did not reach all of the output";

/// What is not as planted.
fn wrong_private((scheme, defines, found): &PrivateControl) -> Option<String> {
    let directory = scratch();
    let object = shim("leaks/private.c", defines, directory.path())?;
    let library = format!("fake={}", arg(&object));
    // As few as show it: of ECDSA so many that two signatures are of one form.
    let secrets = match *scheme {
        "mlkem768" => "4",
        "ecdsa-p256" => "8",
        _ => "2",
    };
    let what = ["leaks", "-l", &library, "-a", scheme, "--secrets", secrets, "--json", "-q"];
    let done = ciphermark_with_many(&what, &[("CIPHERMARK_CACHE", "")]);
    let verdict = &done.rows()[0];
    let empty = Vec::new();
    let findings = verdict["findings"].as_array().unwrap_or(&empty);
    let of = |finding: &Value| (text(finding, "kind").to_owned(), function(finding));
    let told = format!("{defines:?} {verdict:#}");
    let is_planted = |f: &&Value| OWN.split(' ').any(|own| own == function(f));
    let planted: Vec<_> = findings.iter().filter(is_planted).map(of).collect();
    let wanted = found.map(|(kind, name)| (kind.to_owned(), name.to_owned()));
    if planted != wanted.iter().cloned().collect::<Vec<_>>() {
        return Some(format!("found {planted:?}: {told}"));
    }
    // Beside what signs OpenSSL's own code runs, in which there may be more.
    let is_beside = defines[0].starts_with("SIGN");
    if !is_beside && findings.len() > planted.len() {
        return Some(format!("a false alarm: {told}"));
    }
    let steps = verdict["operations"].as_array().map_or(0, Vec::len);
    let reason = verdict["reason"].as_str().unwrap_or_default();
    let same = format!("by comparison, same trace over {secrets} secrets");
    // Numbers of ECDSA and RSA are not followed.
    let right = match (findings.is_empty(), is_beside) {
        (true, false) => verdict["verdict"] == "same-trace" && reason.is_empty(),
        (false, false) => {
            // Taint does not follow what a branch decides.
            let may_end = matches!(found, Some(("branch", _))) && reason.starts_with(UNREACHED);
            verdict["verdict"] == "depends" && (reason.is_empty() || may_end)
        }
        (true, true) => verdict["verdict"] == "not-judged" && reason.ends_with(&same),
        (false, true) => verdict["verdict"] == "depends" && reason.contains("by taint, which"),
    };
    (!right || steps != 2).then(|| format!("not in these words: {told}"))
}

fn function(finding: &Value) -> String {
    finding["function"].as_str().unwrap_or_default().to_owned()
}

fn all_are_right(controls: &[PrivateControl]) {
    let faults: Vec<String> = controls.iter().filter_map(wrong_private).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
#[ignore = "long: steps millions of instructions of X25519"]
#[cfg(target_arch = "x86_64")]
fn a_ladder_that_branches_or_looks_up_by_the_scalar_is_told_from_one_that_does_neither() {
    all_are_right(&LADDERS);
}

#[test]
#[ignore = "long: steps millions of instructions of signatures and decapsulations"]
#[cfg(target_arch = "x86_64")]
fn a_refusal_that_shows_where_it_was_decided_and_a_branch_on_a_signing_key_are_found() {
    all_are_right(&SLOW);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn private_keys_are_judged_where_they_are_named_and_only_of_libraries_that_have_them() {
    let none = fakes::library("correct");
    let words = ["offers private keys of these schemes", "is known for x25519"];
    call(&format!("leaks -q -l {none} -a x25519")).ends(4, words);
    refuses(&format!("leaks -q -l {none} -a rsa-4096-pss"), &["rsa-4096-pss"]);
}
#[derive(Clone, Debug)]
pub struct Control {
    /// Its name to `--library`.
    pub name: &'static str,
    /// `-D` of `controls.c`.
    pub defines: Vec<String>,
    /// What is to be found; nothing, of a clean one.
    pub found: Option<Planted>,
    /// CPU features that it executes, separated by spaces.
    pub needs: &'static str,
    /// Where else findings are no false alarms: functions that what is planted calls or leads on to.
    pub also: &'static [&'static str],
    pub tier: &'static str,
    /// Bytes of plaintext.
    pub size: usize,
}

#[derive(Clone, Debug)]
pub struct Planted {
    pub kind: &'static str,
    pub function: &'static str,
    pub operations: &'static [&'static str],
    /// Whether sixteen secrets show it; else only taint does.
    pub compared: bool,
    pub tainted: bool,
}

/// Two blocks, and a remainder of five bytes.
const SIZE: usize = 37;
/// Takes the loop for wide messages, without a remainder of five bytes.
const WIDE: usize = 144;

fn control(name: &'static str, found: Option<Planted>) -> Control {
    let defines = vec![format!("LEAK={name}")];
    Control { name, defines, found, needs: "", also: &[], tier: "native", size: SIZE }
}

fn planted(kind: &'static str, function: &'static str) -> Planted {
    Planted { kind, function, operations: &["encrypt", "decrypt"], compared: true, tainted: true }
}

impl Control {
    fn needs(self, needs: &'static str) -> Self {
        Self { needs, ..self }
    }

    fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// Only taint sees it.
    fn by_taint(mut self) -> Self {
        self.found = self.found.map(|found| Planted { compared: false, ..found });
        self
    }

    /// Another name, called at another place, and found in these operations.
    fn at(mut self, name: &'static str, place: &str, operations: &'static [&'static str]) -> Self {
        self.defines.push(format!("PLACE={place}"));
        self.found = self.found.map(|found| Planted { operations, ..found });
        Self { name, ..self }
    }
}

/// A control for each of these names.
fn leaks(kind: &'static str, needs: &'static str, names: &'static str) -> Vec<Control> {
    let one = |name| control(name, Some(planted(kind, name))).needs(needs);
    names.split_whitespace().map(one).collect()
}

fn clean(needs: &'static str, names: &'static str) -> Vec<Control> {
    names.split_whitespace().map(|name| control(name, None).needs(needs)).collect()
}

pub fn all_controls() -> Vec<Control> {
    [lookups(), branches(), places(), tags(), ciphers(), rare(), unseen(), harmless()].concat()
}

fn lookups() -> Vec<Control> {
    let plain = "sbox_table one_line wide_table store_at signed_index pointer_of_row thread_local_table \
     high_byte cmov_then_load setcc_then_load borrow_then_load product_then_load rotate_then_load \
     vector_then_load lahf_then_load exchange_then_load translate bit_in_memory prefetch flush_line \
     alloca_size aes_then_load";
    let masks = "masked_load masked_store expand_load compress_store";
    let by_taint =
        |of: Vec<Control>| -> Vec<Control> { of.into_iter().map(Control::by_taint).collect() };
    let in_libc = |name, also| control(name, Some(planted("lookup", name))).also(also);
    [
        leaks("lookup", "", plain),
        leaks("lookup", "bmi2", "pext_then_load pdep_then_load"),
        // No general register has the indices.
        by_taint(leaks("lookup", "avx2", "gather_avx2 gather_quadwords")),
        by_taint(leaks("lookup", "avx512f", "gather_avx512 scatter_avx512")),
        by_taint(leaks("lookup", "avx512f", masks)),
        by_taint(leaks("lookup", "avx2", "masked_store_avx2")),
        by_taint(leaks("lookup", "", "masked_store_sse2")),
        vec![in_libc("malloc_size", &["libc.so.6"]), in_libc("memcpy_to", &["libc.so.6"])],
    ]
    .concat()
}

fn branches() -> Vec<Control> {
    let plain = "branch_on_bit bit_test parity count_register vector_test byte_mask compare_doubles overflow \
     jump_table indirect_call return_to loop_count loop_instruction until_lowest_bit copy_length \
     fill_length scan_for_byte by_count by_shift_count";
    let in_libc = "memset_length free_if call_of_kernel_if";
    let libc = |c: Control| c.also(&["libc.so.6"]);
    let x87 = control(
        "compare_x87",
        Some(Planted { tainted: false, ..planted("branch", "compare_x87") }),
    );
    let divisions = "divide_8 divide_32 divide_64 divide_signed divisor";
    [
        leaks("branch", "", plain),
        leaks("branch", "bmi2", "by_bmi_shift"),
        leaks("branch", "avx512f", "by_permuted_index"),
        leaks("branch", "avx", "vector_test_avx"),
        leaks("branch", "avx512f", "mask_or_test"),
        leaks("branch", "avx512dq", "mask_test"),
        leaks("branch", "avx512bw avx512vl", "mask_of_compare"),
        leaks("branch", "", in_libc).into_iter().map(libc).collect(),
        leaks("branch", "", "once_in_2_to_16 once_in_2_to_32")
            .into_iter()
            .map(Control::by_taint)
            .collect(),
        leaks("division", "", divisions),
        vec![x87],
    ]
    .concat()
}

/// Where a leak is, and nowhere else.
fn places() -> Vec<Control> {
    let lookup = || control("sbox_table", Some(planted("lookup", "sbox_table")));
    let wide = lookup().at("only_wide", "WIDE", &["encrypt", "decrypt"]);
    vec![
        lookup().at("only_key_set_up", "KEY_SET_UP", &["key-set-up"]),
        lookup().at("only_encryption", "ENCRYPT", &["encrypt"]),
        lookup().at("only_decryption", "DECRYPT", &["decrypt"]),
        lookup().at("only_rejection", "REJECT", &["reject"]),
        branch_in_rejection(),
        lookup().at("only_remainder", "REMAINDER", &["encrypt", "decrypt"]),
        lookup().at("only_first_message", "FIRST", &["encrypt", "decrypt"]),
        Control { size: WIDE, ..wide },
    ]
}

/// A branch on a bit of the key, where a tag is wrong and nowhere else.
pub fn branch_in_rejection() -> Control {
    let branch = control("branch_on_bit", Some(planted("branch", "branch_on_bit")));
    branch.at("branch_in_rejection", "REJECT", &["reject"])
}

/// Comparisons of tags: leaky ones, and ones that are as they should be.
fn tags() -> Vec<Control> {
    let of = |name: &'static str, found| Control {
        defines: vec![format!("COMPARE={name}")],
        ..control(name, found)
    };
    let leaky = |name, also| {
        // The branches that taint finds there are part of the comparison.
        let found = Planted { tainted: false, ..planted("tag-comparison", name) };
        of(name, Some(Planted { operations: &["reject"], ..found })).also(also)
    };
    vec![
        leaky("early_exit", &[]),
        leaky("word_by_word", &[]),
        leaky("libc_memcmp", &["libc.so.6"]),
        leaky("libc_strncmp", &["libc.so.6"]),
        leaky("repeated_compare", &[]),
        leaky("place_of_difference", &[]),
        of("all_words", None),
        of("one_vector", None),
    ]
}

/// Whole ciphers and S-boxes in the place of AES-NI's.
fn ciphers() -> Vec<Control> {
    let with = |name, define: &str, found| Control {
        defines: vec![define.to_owned()],
        ..control(name, found)
    };
    // Key set-up encrypts a block of zeros for GHASH.
    let tables = || Planted {
        operations: &["key-set-up", "encrypt", "decrypt"],
        ..planted("lookup", "tables_encrypt")
    };
    let without = |tier, found| Control {
        tier,
        ..with("tables_without_aes", "TABLES=!__builtin_cpu_supports(\"aes\")", found)
    };
    let set_up =
        Planted { operations: &["key-set-up"], ..planted("lookup", "substitute_by_table") };
    let also = &["tables_ghash", "set_key", "rekey"];
    vec![
        with("tables", "TABLES=1", Some(tables())).also(also),
        without("noaes", Some(tables())).also(also),
        Control { name: "aesni_where_it_is", ..without("native", None) },
        with("sbox_in_set_up", "SUBSTITUTE=substitute_by_table", Some(set_up)),
        with("sbox_arithmetic", "SUBSTITUTE=substitute_arithmetic", None),
        with("sbox_bitsliced", "SUBSTITUTE=substitute_bitsliced", None),
    ]
}

/// Ways of a secret to a branch that is hardly ever taken.
fn rare() -> Vec<Control> {
    let plain = "by_aes by_carry_less_product by_shuffle by_palignr by_unpack by_byte_mask by_blend \
     by_packed_double by_multiply_vector by_carry by_flags_word by_cmov by_kept_cmov by_setcc \
     by_byte_order by_checksum by_partial_register by_leal by_repeated_move by_lods_stos \
     by_exchange by_locked_add by_compare_exchange by_bytes_in_memory by_memory_and";
    let avx2 = "by_upper_lane by_broadcast by_gathered_value";
    let avx512 = "by_mask_register by_mask_of_compare by_masked_move by_compress by_permute by_ternary_logic \
     by_upper_zmm by_register_above_15";
    let all = [
        leaks("branch", "", plain),
        leaks("branch", "avx2", avx2),
        leaks("branch", "bmi2", "by_multiply"),
        leaks("branch", "adx", "by_adx"),
        leaks("branch", "avx512bw avx512vl", avx512),
        leaks("branch", "avx512ifma avx512vl", "by_ifma"),
        leaks("branch", "gfni", "by_galois_field"),
        leaks("branch", "sha", "by_sha"),
    ];
    all.concat().into_iter().map(Control::by_taint).collect()
}

/// What docs/CONSTANT-TIME.md says is not seen: x87 registers, and the state that FXSAVE stores.
fn unseen() -> Vec<Control> {
    clean("", "by_saved_state by_x87")
}

pub fn honest_control() -> Control {
    control("nothing", None)
}

fn harmless() -> Vec<Control> {
    let plain = "nothing whole_table cmov_select mask_select public_division table_in_register only_address \
     public_index copy_and_clear public_repeat public_allocation counts_calls zeroed_by_xor \
     zeroed_by_sub zeroed_by_vector_xor ones_by_compare zeroed_by_and ones_by_or \
     overwritten_register overwritten_memory other_byte upper_half_cleared public_flag_kept";
    [
        clean("", plain),
        clean("bmi2", "multiply"),
        clean("rdrand", "clock_and_random"),
        clean("avx2", "gather_of_secrets vector_tail_cleared zeroupper"),
        clean("avx512f avx512vl", "ternary_ones masked_select"),
        clean("avx512vbmi", "table_in_registers"),
    ]
    .concat()
}
