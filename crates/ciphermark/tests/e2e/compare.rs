//! `compare` and `pair`: two records, or two libraries or tiers of one, and two libraries held against each
//! other; a gate over two builds, and the workflow of `docs/examples/regression.yml` that stands on it. Four
//! times the work is more, whatever the speed of this machine.

use crate::support::{fakes, *};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use yaml_rust2::{Yaml, YamlLoader};

fn compare(arguments: &str) -> Done {
    call(&format!("compare {arguments}"))
}

#[test]
fn two_versions_in_one_record_are_compared_by_case_and_family() {
    let versions = format!("{} --libraries openssl@3.0*,openssl@4* --format json", published());
    let whole = compare(&versions).with_code(1).json();
    let family = |name: &str| where_(rows(&whole, "families"), &[("family", name)])[0];
    // VAES came to GCM between the two; CFB with segments of one bit became slower.
    assert!(number(family("aes-gcm"), "ratio.high") < 0.6, "{}", family("aes-gcm"));
    assert!(number(family("aes-cfb1"), "ratio.low") > 1.1, "{}", family("aes-cfb1"));
    assert_eq!(whole["failed"][0]["condition"], "slower");
    for lenient in ["--fail-if never", "--fail-if slower:60% --fail-if refused"] {
        compare(&format!("{versions} {lenient}")).with_code(0);
    }
}

#[test]
fn a_reader_that_has_seen_enough_takes_no_exit_code_away() {
    // More than a pipe holds, so that the program meets its end.
    let format = "--format json --libraries openssl@3.0*,openssl@4*";
    for (gate, code) in [("slower:2%", 1), ("never", 0)] {
        let line = format!("compare {} {format} --fail-if {gate}", published());
        let mut program = Command::new(program());
        let mut child =
            program.args(line.split_whitespace()).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{gate}");
    }
}

#[test]
fn one_library_is_compared_with_each_of_the_others() {
    let one = "--libraries openssl@4* -a aes-256-gcm -s 8K --fail-if never";
    let one = format!("{} {one}", published());
    let whole = compare(&format!("{one} --format json")).with_code(0).json();
    assert!(rows(&whole, "overall").len() > 10, "{}", whole["overall"]);
    let text = compare(&format!("{one} --rows 20")).with_code(0).stdout;
    says(&text, ["openssl@4.0.3 → libtomcrypt@1.18.2"]);
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn what_a_longer_key_costs_is_one_question_and_one_line() {
    let what = "--algorithms aes-128-gcm,aes-256-gcm -l openssl@4* -s 8K -d encrypt";
    let asked = format!("{} {what}", published());
    let whole = compare(&format!("{asked} --format json")).with_code(0).json();
    let [case] = &rows(&whole, "cases")[..] else { panic!("{}", whole["cases"]) };
    assert_eq!(
        (text(case, "base_algorithm"), text(case, "algorithm")),
        ("aes-128-gcm", "aes-256-gcm")
    );
    assert_eq!((text(case, "verdict"), &whole["between"]["what"]), ("slower", &"algorithm".into()));
    assert!(number(case, "ratio.estimate") > 1.1 && number(case, "ratio.low") > 1.0, "{case}");
    let table = compare(&asked).with_code(0).stdout;
    let over = " at 95 %) over aes-128-gcm; openssl@4.0.3, encrypt, 8 KiB";
    says(flat(table), ["aes-256-gcm takes +", over, "aes-128-gcm → aes-256-gcm"]);
    let of = |format: &str| compare(&format!("{asked} --format {format}")).with_code(0);
    of("csv").says(["base_algorithm", "aes-256-gcm,"]);
    of("markdown").says(["**aes-256-gcm takes +"]);
    compare(&format!("{asked} --fail-if slower")).with_code(1);
}

#[test]
fn sizes_are_compared_a_byte_and_directions_an_operation() {
    let of = |what: &str| {
        let filter = "-a aes-256-gcm -l openssl@4* --format json";
        compare(&format!("{} {what} {filter}", published())).with_code(0).json()
    };
    let sizes = of("--sizes 16,8K");
    for case in rows(&sizes, "cases") {
        assert_eq!((number(case, "base_size"), number(case, "size")), (16.0, 8192.0));
        // A byte of a long message costs a fraction of one of a short message's.
        assert!(number(case, "ratio.high") < 0.5, "{case}");
        assert!(number(case, "new_cost") > number(case, "base_cost"), "{case}");
    }
    let directions = of("--directions encrypt,decrypt");
    for case in rows(&directions, "cases") {
        assert_eq!((text(case, "base_direction"), text(case, "direction")), ("encrypt", "decrypt"));
    }
    assert!(!rows(&sizes, "cases").is_empty() && !rows(&directions, "cases").is_empty());
}

#[test]
#[ignore = "long: seconds"]
fn what_cannot_be_compared_gets_one_line_that_helps() {
    for (arguments, words) in [
        ("", &["NEW"][..]),
        ("no/such.json", &["no/such.json"]),
        ("--libraries openssl*,wolfssl", &["matches 3 libraries (openssl@3.0.19, "]),
        ("--libraries opensl,wolfssl", &["did you mean 'openssl'?"]),
        ("--tiers noaes,native", &["no case at tier noaes", "run -t noaes"]),
        (
            "--libraries wolfssl@5.9*,openssl@4* --fail-if slow",
            &["'slow' is none of: slower[:PERCENT]"],
        ),
        ("--libraries libaegis,ring", &["have no case in common"]),
        ("--algorithms aes-128-gcm", &["give two, as in aes-128-gcm,aes-256-gcm"]),
        ("--algorithms aes-128-gcm,aes-*-gcm", &["a star each, as in 'aes-128-*,aes-256-*'"]),
        ("--algorithms aes-128-gcm,aes-256-gmc", &["no case of 'aes-256-gmc'", "'aes-256-gcm'"]),
        ("--sizes 8K,8K", &["the two are the same"]),
        ("--sizes 8K,17", &["no case of '17', only of 16, 1024, 8192"]),
        ("--sizes 16,8K --tiers noaes,native", &["cannot be used with"]),
    ] {
        refuses(&format!("compare {} {arguments}", published()), words);
    }
    // Measured with --no-evidence.
    let uncounted = published_at_rest();
    refuses(
        &format!("compare {uncounted} --libraries wolfssl@5.9*,openssl@4* --fail-if instructions"),
        &["no instructions were counted on both sides"],
    );
}

fn planted(per_mille: u32) -> String {
    let object = fakes::object("planted", &format!("PLANTED={per_mille}"));
    format!("planted{per_mille}={}", arg(&object))
}

fn compare_pair(base: &str, new: &str, more: &str) -> Done {
    within("200s", base, new, more)
}

fn within(budget: &str, base: &str, new: &str, more: &str) -> Done {
    call(&format!("pair {base} {new} -a crc32c -s 16000 --budget {budget} {more}"))
}

#[test]
#[ignore = "long: seconds"]
fn a_library_with_four_times_the_work_is_slower_and_the_other_way_round_faster() {
    let (base, new) = (planted(0), planted(3000));
    let whole = compare_pair(&base, &new, "--json").with_code(1).json();
    let trial = &whole["trials"][0];
    assert_eq!(text(trial, "verdict"), "slower", "{trial}");
    assert_eq!(rows(trial, "pairs").len(), 12, "the first look is enough: {trial}");
    assert!(number(trial, "ratio.low") > 1.0, "{trial}");
    assert_eq!(whole["false_verdicts"], 0.001);
    let done = compare_pair(&new, &base, "--trials 2 --fail-if undecided").with_code(0);
    done.says(["2 trials: 0 same, 2 faster, 0 slower"]);
}

#[test]
#[ignore = "long: seconds"]
fn without_a_verdict_there_is_advice_and_an_exit_code_for_who_asks() {
    let (base, new) = (planted(0), planted(3000));
    // No pair of processes is through in this time.
    let hurried = |more: &str| within("1ms", &base, &new, more);
    hurried("").with_code(0).says(["undecided: the budget was spent after 0 "]);
    hurried("--fail-if slower --fail-if undecided").with_code(1);
    let whole = hurried("--json").json();
    assert!(text(&whole["trials"][0], "advice").contains("--budget"), "{whole}");
}

#[test]
fn a_library_that_fails_a_check_is_not_compared() {
    let (right, wrong) = (fakes::library("correct"), fakes::library("wrong_tag"));
    let done = call(&format!("pair {right} {wrong} -a aes-128-gcm -s 64"));
    done.ends(3, ["wrong_tag@1.0: known-answers: "]);
}

#[test]
fn what_is_no_pair_gets_one_line_that_helps() {
    let correct = fakes::library("correct");
    for (flags, words) in [
        ("-a aes-128-ctr -s 16,64", "'16,64' for '--size <BYTES>': give one size"),
        ("-a aes-128-ctr -d both", "[possible values: encrypt, decrypt]"),
        ("-a aes-129-ctr", "aes-129-ctr"),
    ] {
        refuses(&format!("pair {correct} {correct} {flags}"), &[words]);
    }
}

// What a gate over two builds stands on: instructions at the measured sizes, and verdicts that pairs of
// processes settle. Nothing here depends on how fast this machine is: four times the work is more.

/// A run over two builds into one record.
fn measured(base: &Path, head: &Path, directory: &Path, sizes: &str) -> PathBuf {
    let record = directory.join("speed.json");
    let what = format!("-q -l base={} -l head={} -a crc32c -s {sizes}", arg(base), arg(head));
    let how = format!("{what} --precision 5% --budget 4s -o {}", arg(&record));
    measure(&how.split(' ').collect::<Vec<_>>()).with_code(0);
    record
}

/// With the record's directory as the home directory.
fn compare_builds(record: &Path, more: &str) -> Done {
    let line = format!("compare {} --libraries base,head {more}", arg(record));
    call_with(&line, &[("HOME", arg(record.parent().unwrap())), ("CIPHERMARK_CACHE", "")])
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn three_per_cent_more_instructions_at_8_kib_alone_fail_the_gate_and_an_equal_build_passes() {
    let directory = scratch();
    // The same code on both sides: where the planted steps begin is a constant in it.
    let base = fakes::object("planted", "PLANTED=50 FROM=1000000 TO=1000000");
    let head = fakes::object("planted", "PLANTED=50 FROM=8192 TO=8192");
    let record = measured(&base, &head, directory.path(), "64,8K");
    let gate = "--fail-if instructions:0.5%";
    let done = compare_builds(&record, &format!("{gate} --format json")).with_code(1);
    let row = &done.json()["instructions"][0];
    let growth = |size: u64| {
        let of_size = rows(row, "sizes").iter().find(|s| s["size"] == size);
        number(of_size.unwrap_or_else(|| panic!("{row}")), "growth")
    };
    assert_eq!(growth(64), 0.0);
    assert!((0.02..0.06).contains(&growth(8192)), "{row}");
    // What the gate had before: the two sizes of the slope go past it.
    assert_eq!(row["per_byte_growth"], 0.0, "{row}");
    assert!(number(row, "per_message_growth") < 0.005, "{row}");
    compare_builds(&record, "--fail-if instructions-per-byte:0.5%").with_code(0);
    compare_builds(&record, gate).with_code(1).says(["instructions grew in 1 case, by up to "]);

    let equal = fakes::object("planted", "PLANTED=50 FROM=1000001 TO=1000001");
    let record = measured(&base, &equal, directory.path(), "64,8K");
    compare_builds(&record, "--fail-if instructions").with_code(0);
}

/// Clean samples of twelve processes that agree within a tenth of a per cent.
fn made_up(ticks: u32) -> Value {
    let (ticks, all): (u64, Vec<u64>) = (ticks.into(), (0..60).collect());
    let of = |value: &dyn Fn(u64) -> Value| all.iter().map(|i| value(*i)).collect::<Vec<_>>();
    json!({
        "process": of(&|i| (i / 5).into()), "ops": of(&|_| 10.into()),
        "ticks": of(&|i| (ticks + ticks * (i % 7) / 10_000).into()),
        "clock_before": of(&|_| 1.0.into()), "clock_after": of(&|_| 1.0.into()),
        "probe_before": of(&|_| 4.0.into()), "probe_after": of(&|_| 4.0.into()),
        "switches": of(&|_| 0.into()), "migrated": of(&|_| false.into()),
        "clean": of(&|_| true.into()),
    })
}

/// The head is four times as fast as the base, and the record says that it is five times as slow.
fn wrong_record(directory: &Path) -> (PathBuf, PathBuf) {
    let (base, head) = (directory.join("base.so"), directory.join("head.so"));
    std::fs::copy(fakes::object("planted", "PLANTED=3000"), &base).unwrap();
    std::fs::copy(fakes::object("planted", "PLANTED=0"), &head).unwrap();
    let path = measured(&base, &head, directory, "16000");
    let mut record = read(&path);
    for m in record["measurements"].as_array_mut().unwrap() {
        m["contended"] = false.into();
        let ticks = if m["library"]["name"] == "head" { 50_000 } else { 10_000 };
        m["raw"] = made_up(ticks);
        let ns = f64::from(ticks) / 10.0;
        m["ns_per_op"] = json!({"median": ns, "low": ns * 0.99, "high": ns * 1.01});
    }
    // The files below the home directory, as records that are shared name them.
    let here = record::shown(arg(&directory.canonicalize().unwrap()));
    let text = record.to_string().replace(&here, "~");
    assert!(text.contains("\"~/head.so\""), "{text}");
    std::fs::write(&path, text).unwrap();
    (path, head)
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_wrong_verdict_is_settled_by_pairs_and_the_exit_code_follows() {
    let directory = scratch();
    let (record, head) = wrong_record(directory.path());
    let before = compare_builds(&record, "--format json").with_code(1).json();
    assert_eq!(before["cases"][0]["verdict"], "slower");
    assert!(before["confirmation"].is_null());
    let confirm = "--confirm --budget 200s -q";
    let whole = compare_builds(&record, &format!("{confirm} --format json")).with_code(0).json();
    let case = &whole["cases"][0];
    assert_eq!(
        (text(case, "verdict"), text(case, "by_pairs.verdict_before")),
        ("faster", "slower")
    );
    assert!(number(case, "ratio.high") < 1.0, "{case}");
    assert!(number(case, "by_pairs.ratio_before.low") > 1.0, "{case}");
    let counts = ["tally.faster", "tally.slower", "confirmation.settled", "confirmation.left"];
    assert_eq!(counts.map(|count| number(&whole, count)), [1.0, 0.0, 1.0, 0.0]);
    // Why has a column only where there is room, and on a busy machine there is more to say.
    compare_builds(&record, confirm).with_code(0).says(["1 of 1 candidates settled"]);

    // A build that is not there any more leaves the verdict as it was, and is named.
    std::fs::remove_file(&head).unwrap();
    let words = ["0 of 1 candidates settled", "1 left", "head@1.0 is not available"];
    compare_builds(&record, confirm).with_code(1).says(words);
}

#[test]
#[ignore = "long: seconds"]
fn without_time_or_on_another_processor_candidates_are_left_and_said_to_be() {
    let directory = scratch();
    let (path, _) = wrong_record(directory.path());
    let hurried = compare_builds(&path, "--confirm --budget 1ms").with_code(1);
    hurried.says(["1 left", "no time left"]);
    let mut record = read(&path);
    record["host"]["cpu"]["name"] = "Another CPU".into();
    std::fs::write(&path, record.to_string()).unwrap();
    let elsewhere = compare_builds(&path, "--confirm").with_code(1);
    elsewhere.says(["measured on another processor (Another CPU family "]);
}

#[test]
#[ignore = "long: seconds"]
fn what_no_library_offers_ends_as_what_could_not_be_done_in_every_command() {
    let correct = fakes::library("correct");
    for (line, words) in [
        (format!("run -q -l {correct} -a sm4-ctr -s 64 --budget 1s"), "nothing was measured"),
        (format!("verify -q -l {correct} -a sm4-ctr"), "none of the selected libraries offers"),
        (format!("pair -q {correct} {correct} -a sm4-ctr -s 64"), "correct@1.0"),
        (format!("explain -l {correct} -a sm4-ctr"), "no library that was selected offers any"),
    ] {
        call(&line).ends(4, [words]);
    }
}

// The workflow of `docs/examples/regression.yml`: it is YAML of the right shape, and its shell steps
// do what they say, with two stand-in libraries in the place of two builds.

/// The steps that need neither a repository nor a network.
const OURS: [&str; 3] = ["Verify", "Measure", "Compare"];

fn workflow() -> Yaml {
    let text = std::fs::read_to_string(repository("docs/examples/regression.yml")).unwrap();
    YamlLoader::load_from_str(&text).unwrap().remove(0)
}

fn words(yaml: &Yaml) -> &str {
    yaml.as_str().unwrap_or_else(|| panic!("no text: {yaml:?}"))
}

fn steps(workflow: &Yaml) -> Vec<Yaml> {
    workflow["jobs"]["speed"]["steps"].as_vec().unwrap().clone()
}

fn named<'a>(steps: &'a [Yaml], name: &str) -> &'a Yaml {
    steps.iter().find(|s| words(&s["name"]) == name).unwrap_or_else(|| panic!("no step {name}"))
}

/// What the runner would set for the steps of ours.
struct Runner {
    directory: tempfile::TempDir,
    variables: BTreeMap<String, String>,
}

impl Runner {
    fn new(base: &Path, head: &Path) -> Self {
        let directory = scratch();
        let workflow = workflow();
        let of_file = workflow["env"].as_hash().unwrap().iter();
        let mut variables: BTreeMap<String, String> =
            of_file.map(|(k, v)| (words(k).to_owned(), words(v).to_owned())).collect();
        // The one algorithm that the stand-ins have, whose work is planted.
        variables.insert("ALGORITHMS".to_owned(), "crc32c".to_owned());
        variables.insert("SIZES".to_owned(), "1K,16K".to_owned());
        let summary = arg(&directory.path().join("summary.md")).to_owned();
        let found = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{found}", arg(program().parent().unwrap()));
        let set = [("BASE", arg(base)), ("HEAD", arg(head)), ("GITHUB_STEP_SUMMARY", &*summary)];
        variables.extend(set.map(|(k, v)| (k.to_owned(), v.to_owned())));
        variables
            .extend([("PATH".to_owned(), path), ("CIPHERMARK_BUNDLED".to_owned(), String::new())]);
        Self { directory, variables }
    }

    /// Runs a step as the runner does, and gives its exit code.
    fn run(&self, name: &str) -> i32 {
        let steps = steps(&workflow());
        let script = words(&named(&steps, name)["run"]).to_owned();
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]);
        let output =
            bash.current_dir(self.directory.path()).envs(&self.variables).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked") && !said.contains("usage"), "{name}: {said}");
        output.status.code().unwrap()
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.directory.path().join(name)).unwrap()
    }
}

#[test]
fn the_workflow_has_the_shape_that_actions_want() {
    let workflow = workflow();
    assert_eq!(words(&workflow["on"]), "pull_request");
    assert_eq!(words(&workflow["permissions"]["contents"]), "read");
    for step in steps(&workflow) {
        let (run, uses) = (step["run"].as_str(), step["uses"].as_str());
        assert!(run.is_some() != uses.is_some(), "one of run and uses: {step:?}");
        assert!(uses.is_none_or(|u| u.contains('@')), "without a version: {step:?}");
    }
    let steps = steps(&workflow);
    OURS.iter().for_each(|name| assert!(named(&steps, name)["run"].as_str().is_some()));
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_head_that_does_four_times_the_work_fails_and_the_summary_says_why() {
    let (base, head) =
        (fakes::object("planted", "PLANTED=0"), fakes::object("planted", "PLANTED=3000"));
    let runner = Runner::new(&base, &head);
    assert_eq!(OURS.map(|step| runner.run(step)), [0, 0, 1]);
    let summary = runner.file("summary.md");
    assert!(summary.starts_with("### ❌ 2 slower, 0 faster"), "{summary}");
    let confirmed = "confirmed by pairs: 2 of 2 candidates settled";
    says(&summary, ["instructions grew in 1 case", confirmed]);
    // The other way round it is an improvement.
    let runner = Runner::new(&head, &base);
    assert_eq!(OURS.map(|step| runner.run(step)), [0; 3]);
    assert!(runner.file("summary.md").starts_with("### ✅ 0 slower, 2 faster"));
}
