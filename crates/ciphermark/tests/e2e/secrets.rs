//! What depends on secrets, wherever a record with made-up verdicts is shown; and `explain`: what runs inside
//! the clock.

use crate::support::{fakes, *};
use record::{LeakVerdict, Leaks, Record};
use serde_json::Value;
use std::path::Path;

fn sample() -> Record {
    record::load(&repository("crates/record/tests/sample.json")).unwrap()
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
        survey.leaks.push(Leaks {
            library,
            algorithm: "aes-256-gcm".to_owned(),
            verdict: *verdict,
            reason: None,
            findings: if has_findings { findings.clone() } else { Vec::new() },
            ..sample().leaks.remove(0)
        });
    }
    survey
}

fn two() -> Record {
    judged(&[("openssl@4.0.3", LeakVerdict::SameTrace), ("openssl@3.0.19", LeakVerdict::Depends)])
}

#[test]
fn a_table_has_the_sign_and_who_it_is_and_the_rows_of_csv_the_words() {
    let directory = scratch();
    let path = saved(&directory, "r.json", &two());
    let table = call(&format!("show {path} -a aes-256-gcm -d encrypt -s 8K")).with_code(0).stdout;
    assert!(table.contains("openssl@3.0.19‡ ") && !table.contains("openssl@4.0.3‡"), "{table}");
    let note = "‡: depends on the secret, 1 in all: openssl@3.0.19 aes-256-gcm";
    assert!(table.contains(note), "{table}");
    let csv = call(&format!("show {path} -l openssl@3.0.19 -a aes-256-gcm -t native --format csv"));
    let csv = csv.with_code(0).stdout;
    assert!(csv.lines().next().unwrap().contains(",leaks,leaks_words"), "{csv}");
    let row = csv.lines().nth(1).unwrap();
    assert!(row.contains(",depends,\"secret-dependent lookups in AES_encrypt"), "{row}");
}

#[test]
fn the_verdicts_of_a_record_are_shown_alone_as_far_as_the_filter_keeps_them() {
    let directory = scratch();
    let path = saved(&directory, "r.json", &two());
    let text = call(&format!("show {path} --leaks")).with_code(0).stdout;
    assert!(text.contains("openssl@3.0.19, tier native: 1 depends on the secret"), "{text}");
    assert!(text.contains("2 verdicts: 1 depends on the secret, 1 same trace"), "{text}");
    let json = call(&format!("show {path} --leaks -l openssl@4.0.3 --format json")).with_code(0);
    let rows = json.json();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["verdict"]), (1, &"same-trace".into()));
    // Of verdicts alone, as `leaks -o` may write them.
    let alone = Record { measurements: Vec::new(), ..two() };
    let alone = saved(&directory, "alone.json", &alone);
    let text = call(&format!("show {alone} --leaks -a aes-256-*")).with_code(0).stdout;
    assert!(text.contains("2 verdicts"), "{text}");
    assert!(call(&format!("show {alone}")).with_code(0).stdout.contains("2 verdicts"));
    refuses(&format!("show {path} --leaks -a sm4-gcm"), &["leave no verdict"]);
    refuses(&format!("show {path} --leaks --format parquet"), &["--leaks has table"]);
    refuses(&format!("show {} --leaks", published()), &["no verdicts on secrets"]);
}

#[test]
fn explain_names_the_function_and_the_instruction() {
    let path = repository("crates/record/tests/sample.json");
    let text = call(&format!("explain {} -d encrypt", arg(&path))).with_code(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "secrets depends at tier native, 16 secrets; not judged: step limit: encrypt at 8192 bytes",
        "lookups in AES_encrypt (1024 bytes, 16 lines): mov eax,[rcx+rdx*4] at 0x1a2b of libcrypto.so.3",
        "and 15 more, in encrypt of 16 B",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn a_ranking_of_same_traces_leaves_out_the_rest_and_says_how_many() {
    let directory = scratch();
    let path = saved(&directory, "r.json", &two());
    let what = format!("rank {path} -a aes-256-gcm -s 8K --same-trace");
    let whole = call(&format!("{what} --format json")).with_code(0).json();
    let rows = whole[0]["standings"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (&rows[0]["library"]["version"], &rows[0]["leaks"]),
        (&"4.0.3".into(), &"same-trace".into())
    );
    assert_eq!(whole[0]["secret"]["depends"], 1);
    assert!(whole[0]["secret"]["without_verdict"].as_u64().unwrap() > 10, "{whole}");
    let text = call(&what).with_code(0).stdout;
    assert!(text.contains("left out: 1 depend on the secret,"), "{text}");
    let all = call(&format!("rank {path} -a aes-256-gcm -s 8K --rows all")).with_code(0).stdout;
    assert!(all.contains("openssl@3.0.19‡") && all.contains("‡: depends on the secret"), "{all}");
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
    let done = call(&format!("compare {clean} {leaky} --fail-if leaks")).with_code(1);
    for said in [
        "depends on secrets: 1 changed, 0 equal",
        "same-trace → depends; new: secret-dependent lookups in AES_encrypt",
        "--fail-if leaks: newly depends on the secret: aes-128-gcm",
    ] {
        let text = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said), "{said}: {text}");
    }
    call(&format!("compare {leaky} {clean} --fail-if leaks")).with_code(0);
    let markdown = call(&format!("compare {clean} {leaky} --fail-if leaks --format markdown"));
    assert!(markdown.with_code(1).stdout.contains("**Depends on secrets: 1 changed, 0 equal**"));
    let mut unjudged = sample();
    unjudged.leaks.clear();
    let unjudged = saved(&directory, "unjudged.json", &unjudged);
    refuses(
        &format!("compare {unjudged} {leaky} --fail-if leaks"),
        &["--fail-if leaks: no algorithm was judged on both sides"],
    );
}

#[test]
fn advice_avoids_what_depends_on_the_secret_unless_one_is_alone() {
    let directory = scratch();
    let name = repository("records/at-rest-2026-11-23-gnr.json.gz");
    let mut at_rest = record::load(&name).unwrap();
    let ids: Vec<_> = at_rest.libraries.iter().map(record::Library::identity).collect();
    at_rest.leaks = ids
        .into_iter()
        .map(|library| Leaks {
            library,
            algorithm: "aegis-256x4".to_owned(),
            ..sample().leaks.remove(0)
        })
        .collect();
    let path = saved(&directory, "r.json", &at_rest);
    let asked = format!("advise {path} --for postgres");
    let said = |line: &str| {
        call(line).with_code(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = said(&asked);
    assert!(text.contains("avoids aegis-256x4 in libaegis"), "{text}");
    let text = said(&format!("{asked} --alone yes"));
    assert!(text.contains("choice aegis-256x4 in libaegis"), "{text}");
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
    let text = call(&what).with_code(0).stdout;
    assert!(
        text.contains("1024 B: 1 allocation (1124 B), 1024 B copied (1.0 × the message)"),
        "{text}"
    );
    let without =
        format!("explain -l {} -a aes-128-gcm -d encrypt -s 1024", fakes::library("correct"));
    let text = call(&without).with_code(0).stdout;
    assert!(text.contains("1024 B: no allocation, nothing copied"), "{text}");
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
