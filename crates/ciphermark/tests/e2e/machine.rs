//! What the machine has and how quiet it is: `list`, `doctor`, and `quietly`, which stops another program
//! while its core is busy.

use crate::support::{fakes, *};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

fn json(what: &str) -> Vec<Value> {
    let done = call(&format!("list {what} --json")).with_code(0);
    assert_eq!(done.stderr, "");
    done.rows()
}

fn plain(what: &str) -> String {
    call(&format!("list {what}")).with_code(0).stdout
}

#[test]
fn libraries_have_name_version_path_and_id_and_what_cannot_be_used_its_reason() {
    let directory = scratch();
    std::fs::write(directory.path().join("stray.so"), "no library\n").unwrap();
    let listed = |flags: &[&str]| {
        let variables = [("CIPHERMARK_LIBS", arg(directory.path())), ("CIPHERMARK_CACHE", "")];
        ciphermark_with(&[&["list", "libraries"], flags].concat(), &variables).with_code(0)
    };
    let (all, table) = (listed(&["--json"]).rows(), listed(&[]).stdout);
    for name in ["openssl", "libgcrypt", "rustcrypto", "baselines"] {
        let library = where_(&all, &[("name", name)])[0];
        assert!(library["error"].is_null(), "{library}");
        assert!(!text(library, "version").is_empty() && !text(library, "id").is_empty());
        assert!(std::path::Path::new(text(library, "path")).is_file(), "{library}");
    }
    for library in &all {
        assert!(table.contains(text(library, "path")), "{table}");
    }
    let stray = all.iter().find(|l| text(l, "path").ends_with("stray.so")).unwrap();
    assert!(text(stray, "error").contains("ELF"), "{stray}");
    let kernel = where_(&all, &[("name", "linux-kernel")])[0];
    assert_eq!(text(kernel, "path"), "af_alg:");
    match kernel["error"].as_str() {
        None => assert!(!text(kernel, "version").is_empty() && !text(kernel, "id").is_empty()),
        Some(why) => {
            says(why, ["this kernel gives no AF_ALG socket"]);
            says(&table, ["not usable: cannot use 'af_alg:'"]);
            let words = ["this kernel gives no AF_ALG socket"];
            refuses("verify -a aes-128-cbc -l mine=af_alg:", &words);
        }
    }
}

#[test]
fn libraries_are_selected_as_for_a_run() {
    let fake = fakes::library("correct");
    let chosen = json(&format!("libraries -l openssl -l {fake}"));
    let names: Vec<&str> = chosen.iter().map(|l| text(l, "name")).collect();
    assert!(names.contains(&"correct") && names.contains(&"openssl"), "{names:?}");
    assert!(!names.contains(&"libgcrypt"), "{names:?}");
}

#[test]
#[ignore = "long: seconds"]
fn algorithms_have_lengths_and_the_libraries_that_offer_them() {
    let all = json("algorithms");
    let gcm = where_(&all, &[("name", "aes-256-gcm")])[0];
    assert_eq!(lengths(gcm), [32, 12, 16]);
    assert!(gcm["warning"].is_null(), "{gcm}");
    let xts = where_(&all, &[("name", "aes-256-xts")])[0];
    assert_eq!(lengths(xts), [64, 16, 0]);
    assert!(text(xts, "warning").contains("integrity"), "{xts}");
    let offering = gcm["libraries"].as_array().unwrap();
    for library in ["openssl@", "libgcrypt@", "rustcrypto@"] {
        assert!(offering.iter().any(|l| l.as_str().unwrap().starts_with(library)), "{gcm}");
    }
    let table = plain("algorithms");
    for algorithm in &all {
        assert!(table.contains(text(algorithm, "name")), "{algorithm}");
        assert!(table.contains(text(algorithm, "family")), "{algorithm}");
    }
}

#[test]
fn algorithms_are_found_by_glob_and_by_the_names_that_people_type() {
    let names = |globs: &str| -> Vec<String> {
        let found = json(&format!("algorithms -l baselines {globs}"));
        found.iter().map(|a| text(a, "name").to_owned()).collect()
    };
    assert_eq!(
        names("-a bf-c?c,SHA-1 -a rijndael-128-cbc -a des3 -a id-aes256-GCM"),
        ["aes-128-cbc", "aes-256-gcm", "des-ede3-cbc", "bf-cbc", "sha1"]
    );
    let of_tls = |name: &str| format!("list algorithms -l baselines -a {name}");
    for other in ["ml-kem-768", "ecdsa", "rsa2048"] {
        refuses(&of_tls(other), &["tls primitives"]);
    }
}

/// Bytes of key, nonce and tag.
fn lengths(algorithm: &Value) -> [u64; 3] {
    ["key_bytes", "nonce_bytes", "tag_bytes"].map(|field| algorithm[field].as_u64().unwrap())
}

/// Whatever the core, its floors follow from what was measured; no word about speed.
#[test]
#[ignore = "long: seconds"]
fn limits_have_what_was_measured_and_a_floor_or_a_reason_for_each_algorithm() {
    let limits = call("list limits -a *-128-ctr -a memcpy --json").with_code(0).json();
    if let Some(reason) = limits["reason"].as_str() {
        assert!(reason.contains("quiet") || reason.contains("no probes"), "{reason}");
        return;
    }
    let instructions = rows(&limits["core"], "instructions");
    assert!(instructions.iter().all(|i| number(i, "per_cycle") > 0.0), "{limits}");
    let floors = rows(&limits, "floors");
    // On a core that is hardly ever quiet something may not have been read: then there is no floor.
    let read = limits["core"]["unread"].is_null();
    for floor in floors {
        assert_ne!(floor["cycles_per_byte"].is_null(), floor["reason"].is_null(), "{floor}");
        assert!(read || floor["cycles_per_byte"].is_null(), "{floor}");
    }
    assert!(!read || instructions.iter().any(|i| i["name"] == "imul"), "{limits}");
    for tier in ["native", "vaes256", "aesni", "noaes", "baseline"] {
        assert_eq!(where_(floors, &[("algorithm", "aes-128-ctr"), ("tier", tier)]).len(), 2);
    }
    let camellia = where_(floors, &[("algorithm", "camellia-128-ctr")])[0];
    says(text(camellia, "reason"), ["no bound is known"]);
    let table = call("list limits -a memcpy").with_code(0).stdout;
    let whole = ["per cycle", "B/cycle", "memcpy", "load/store"].iter().all(|w| table.contains(w));
    assert!(whole || table.contains("not quiet for long enough"), "{table}");
    refuses("list limits -a aes-128-crt", &["aes-128-ctr"]);
}

#[test]
fn tiers_models_and_suites_have_names_and_summaries() {
    for (what, names) in [
        ("tiers", &["native", "vaes256", "aesni", "noaes", "baseline", "core2", "zen1"][..]),
        ("models", &["stream", "message"]),
        ("suites", &["quick", "published", "pages", "stream", "full", "everything"]),
    ] {
        let (all, table) = (json(what), plain(what));
        for name in names {
            let row = where_(&all, &[("name", name)])[0];
            assert!(!text(row, "summary").is_empty(), "{row}");
            says(&table, [*name]);
        }
    }
}

// `doctor`: what the machine is like to measure on.

/// This machine's state decides whether it finds a problem, so both codes are right.
fn examined(line: &str) -> Done {
    let done = call(line);
    assert!([0, 1].contains(&done.code), "{done:?}");
    done
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn every_finding_has_a_verdict_and_what_is_not_ok_says_what_mends_it() {
    let done = examined("doctor --json");
    let findings = done.rows();
    for finding in &findings {
        let verdict = text(finding, "verdict");
        assert!(["ok", "note", "problem"].contains(&verdict), "{finding}");
        assert!(!text(finding, "found").is_empty(), "{finding}");
        assert_eq!(text(finding, "mend").is_empty(), verdict == "ok", "{finding}");
    }
    let problem = findings.iter().any(|f| text(f, "verdict") == "problem");
    assert_eq!(done.code, i32::from(problem), "{findings:#?}");
    for (topic, name) in [
        ("machine", "processor"),
        ("machine", "memory"),
        ("machine", "isolated CPUs"),
        ("clock", "source"),
        ("clock", "drift"),
        ("noise", "interruptions"),
        ("noise", "stolen time"),
        ("noise", "contention"),
        ("noise", "shared core"),
        ("instructions", "extensions"),
        ("instructions", "performance counters"),
        ("libraries", "found"),
    ] {
        where_(&findings, &[("topic", topic), ("name", name)]);
    }
}

#[test]
#[ignore = "long: seconds"]
fn the_page_has_a_line_for_each_finding_under_its_topic() {
    let done = examined("doctor");
    let lines: Vec<&str> = done.stdout.lines().collect();
    for topic in ["machine", "clock", "noise", "instructions", "libraries"] {
        assert!(lines.contains(&topic), "{topic}: {}", done.stdout);
    }
    let graded = |l: &&&str| ["  ok ", "  note ", "  PROBLEM "].iter().any(|g| l.starts_with(g));
    assert!(lines.iter().filter(graded).count() >= 12, "{}", done.stdout);
    assert_eq!(done.stderr, "");
}

/// The program gets its slices on a busy core, too.
const ANYWAY: [&str; 4] = ["quietly", "--wait", "1ms", "--anyway"];

/// A shell's words on the measuring CPU; nothing is known of how quiet that can be.
fn quietly(words: &[&str], script: &str) -> Done {
    let words = [&ANYWAY[..], words, &["--", "sh", "-c", script]].concat();
    ciphermark_with(&words, &[("CIPHERMARK_CACHE", "")])
}

/// Work that takes longer than a few slices on any machine.
const WORK: &str = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done";

#[test]
fn a_program_runs_to_its_end_and_what_was_seen_is_told() {
    let place = scratch();
    let file = file(&place, "seen.json");
    let done = quietly(&["-o", &file], WORK).with_code(0);
    assert_eq!(done.stdout, "done\n");
    assert!(done.stderr.starts_with("quietly: "), "{}", done.stderr);
    let seen = read(&file);
    let number = |name: &str| number(&seen, name);
    assert!(number("cpu_seconds") > 0.0, "{seen}");
    assert!(number("cpu_seconds") <= number("seconds") + 0.01, "{seen}");
    assert!(number("quiet_cpu_seconds") <= number("cpu_seconds"), "{seen}");
    assert!(number("slices") >= 1.0 && seen["exit_code"] == 0, "{seen}");
    // Once more, over what was written.
    quietly(&["-q", "-o", &file], "true").with_code(0);
}

#[test]
fn the_exit_code_is_the_programs_own() {
    quietly(&["-q"], "exit 7").with_code(7);
    quietly(&["-q"], "kill -9 $$").with_code(128 + 9);
    let gone = call("quietly -q --wait 1ms --anyway no-such-program").with_code(127);
    says(&gone.stderr, ["no-such-program"]);
}

#[test]
fn a_program_that_would_read_from_the_terminal_finds_nothing_there_and_ends() {
    let done = in_terminal("ciphermark quietly -q --wait 1ms --anyway -- sh -c 'cat; echo ended'");
    says(&done.with_code(0).stdout, ["ended"]);
}

#[test]
fn wrong_use_is_told() {
    for line in ["quietly", "quietly --slice soon true", "quietly -o /nowhere/seen.json true"] {
        refuses(line, &[]);
    }
    let place = scratch();
    let notes = written(&place, "notes.txt", "mine");
    refuses(&format!("quietly -o {notes} true"), &["notes.txt", "not overwritten"]);
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
}

#[test]
#[ignore = "long: takes ten seconds or more"]
#[cfg(target_arch = "x86_64")]
fn a_program_that_finds_no_quiet_moment_is_ended_and_leaves_nothing() {
    let cache = scratch();
    let fake = fakes::library("correct");
    let run =
        format!("run -l {fake} -a aes-128-ctr -s 64 -d encrypt --no-evidence --precision 0.0001%");
    let environment = [("CIPHERMARK_CACHE", arg(cache.path()))];
    let rates = kept_rates(cache.path(), |budget| {
        call_with(&format!("{run} --budget {budget}"), &environment).with_code(0);
    });
    remember_rate(&rates, QUIETER);
    let mark = cache.path().join("mark");
    let script = format!("touch {0}; sleep 3; touch {0}.late", arg(&mark));
    let words = ["quietly", "--wait", "100ms", "sh", "-c", &script];
    says(ciphermark_with(&words, &environment).with_code(4).stderr, ["no quiet moment in"]);
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert!(!cache.path().join("mark.late").exists(), "it went on");
}

#[test]
fn an_interrupt_asks_the_program_to_end() {
    let place = scratch();
    let mark = place.path().join("mark");
    // The shell's own words: on a busy machine each further program waits for slices.
    let script =
        format!("trap ': >{0}.asked; exit 3' TERM; : >{0}; while :; do :; done", arg(&mark));
    let mut running = Background::start(&[&ANYWAY[..], &["sh", "-c", &script]].concat());
    running.wait_until("the program runs", || mark.exists());
    running.send(rustix::process::Signal::INT);
    running.ends_within(Duration::from_secs(60)).with_code(3);
    assert!(place.path().join("mark.asked").exists());
}

#[test]
fn a_program_does_not_outlive_ciphermark() {
    let place = scratch();
    let mark = place.path().join("mark");
    let script = format!(": >{0}; while [ ! -e {0}.end ]; do :; done; : >{0}.late", arg(&mark));
    let mut running = Background::start(&[&ANYWAY[..], &["sh", "-c", &script]].concat());
    running.wait_until("the program runs", || mark.exists());
    let programs = processes_below(running.id());
    assert_eq!(programs.len(), 1, "{programs:?}");
    running.send(rustix::process::Signal::KILL);
    drop(running);
    let place = format!("/proc/{}/fd/0", programs[0].0);
    wait_until("the program ends", 60, || !Path::new(&place).exists());
}
