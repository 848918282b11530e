//! `run` over healthy libraries: everything asked for is measured, with its proof.

use crate::support::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::OnceLock;

const CIPHER_LIBRARIES: [&str; 3] = ["openssl", "libgcrypt", "rustcrypto"];

/// One survey that several tests look at.
struct Survey {
    printed: Done,
    file: String,
    rows: Vec<Value>,
}

/// Both models, two ciphers and the baselines over all libraries, as a record on both ways out.
fn survey() -> &'static Survey {
    static SURVEY: OnceLock<Survey> = OnceLock::new();
    SURVEY.get_or_init(|| {
        let made = shared("survey", surveyed);
        let text = |name: &str| text(&made, name).to_owned();
        let (stdout, file) = (text("stdout"), text("file"));
        let bytes = stdout.clone().into_bytes();
        let code = i32::try_from(made["code"].as_i64().unwrap()).unwrap();
        let rows = measurements(&file);
        Survey { printed: Done { code, bytes, stdout, stderr: text("stderr") }, file, rows }
    })
}

fn surveyed() -> Value {
    let directory = scratch();
    let path = directory.path().join("survey.json");
    let what = "-a aes-128-ctr -a aes-128-gcm -a xxh3-64 -a memcpy -a null \
                -l openssl -l libgcrypt -l rustcrypto -l baselines \
                -m message -m stream -s 16,1K --seed 7 --format json";
    let what: Vec<&str> = what.split_whitespace().collect();
    let Done { code, stdout, stderr, .. } =
        measure(&[&what[..], &QUICK, &["-o", arg(&path)]].concat());
    let file = std::fs::read_to_string(&path).unwrap();
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 1, "nothing but the record is left in its directory");
    serde_json::json!({ "code": code, "stdout": stdout, "stderr": stderr, "file": file })
}

fn checks(row: &Value) -> BTreeSet<&str> {
    rows(row, "checks").iter().map(|check| text(check, "name")).collect()
}

/// A limit is known for all but `null`; a measured case is within it, because the others are refused.
#[test]
#[ignore = "long: takes ten seconds or more"]
#[cfg(target_arch = "x86_64")]
fn each_measurement_stands_beside_its_limit() {
    let record: Value = serde_json::from_str(&survey().file).unwrap();
    if record["limits"]["core"].is_null() {
        assert!(!text(&record["limits"], "reason").is_empty());
        return;
    }
    assert!(!rows(&record["limits"], "floors").is_empty());
    for row in survey().rows.iter().filter(|row| row["state"] == "measured") {
        if row["algorithm"] == "null" || row["limit_fraction"].is_null() {
            assert!(row["limited_by"].is_null(), "{row}");
            continue;
        }
        let fraction = number(row, "limit_cycles_per_op") / number(row, "cycles_per_op.median");
        assert!((fraction - number(row, "limit_fraction")).abs() < 1e-9, "{row}");
        assert!(!text(row, "limited_by").is_empty(), "{row}");
    }
}

#[test]
fn everything_that_was_asked_for_is_measured() {
    let rows = &survey().rows;
    for library in CIPHER_LIBRARIES {
        for direction in ["encrypt", "decrypt"] {
            let of_library = [("library.name", library), ("direction", direction)];
            for (algorithm, model) in
                [("aes-128-ctr", "message"), ("aes-128-ctr", "stream"), ("aes-128-gcm", "message")]
            {
                let case = [("algorithm", algorithm), ("model", model)];
                let found = where_(rows, &[of_library, case].concat());
                let sizes: Vec<f64> = found.iter().map(|row| number(row, "size")).collect();
                assert_eq!(sizes, [16.0, 1024.0], "{of_library:?} {case:?}");
                all_are(found, "measured");
            }
        }
    }
    for (algorithm, direction) in [("xxh3-64", "digest"), ("memcpy", "copy"), ("null", "copy")] {
        let of = [("algorithm", algorithm), ("direction", direction), ("model", "message")];
        let found = where_(rows, &of);
        assert_eq!(found.len(), 2, "{algorithm} is the baselines' alone");
        all_are(found, "measured");
    }
}

#[test]
fn what_a_library_lacks_is_a_row_with_its_reason_and_costs_no_exit_code() {
    let survey = survey();
    assert_eq!(survey.printed.code, 0, "{}", survey.printed.stderr);
    for row in &survey.rows {
        let state = text(row, "state");
        assert!(["measured", "unsupported"].contains(&state), "{row}");
        assert!(state == "measured" || !text(row, "reason").is_empty(), "{row}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn each_number_stands_beside_its_proof() {
    let measured = where_(&survey().rows, &[("state", "measured")]);
    for row in measured {
        let samples = number(row, "samples");
        assert!(samples > 0.0 && number(row, "processes") >= 6.0, "{row}");
        let precise = text(row, "stopped") == "precision";
        assert!(precise && row["reason"].is_null(), "there was time enough: {row}");
        let taken = samples + number(row, "samples_disturbed");
        let raw = row["raw"]["ticks"].as_array().unwrap().len();
        assert_eq!(taken, raw as f64, "every raw sample is kept");
        assert!(number(row, "evidence.outputs_checked") >= taken, "{row}");
        let succeeded = number(row, "evidence.calls_succeeded");
        assert!(succeeded >= number(row, "evidence.outputs_checked"), "{row}");
        assert!(!text(row, "evidence.clock").is_empty(), "{row}");
        assert!(!checks(row).is_empty(), "{row}");
        let counts = row["checks"].as_array().unwrap().iter().map(|check| number(check, "count"));
        assert!(
            counts.min_by(f64::total_cmp).unwrap() > 0.0,
            "a check that compared nothing: {row}"
        );
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn ciphers_passed_the_checks_that_matter_for_them() {
    let every = ["known-answers", "reference", "guard-pages", "round-trip", "unaligned", "written"];
    for (algorithm, more) in [
        ("aes-128-ctr", &["key-matters", "nonce-matters", "cross-library", "stream"][..]),
        ("aes-128-gcm", &["tamper", "aad-matters", "nonce-matters", "cross-library"][..]),
    ] {
        for row in where_(&survey().rows, &[("algorithm", algorithm), ("state", "measured")]) {
            let passed = checks(row);
            let missing: Vec<&&str> =
                every.iter().chain(more).filter(|check| !passed.contains(**check)).collect();
            assert!(missing.is_empty(), "{missing:?} missing: {row}");
        }
    }
}

#[test]
fn the_units_of_a_row_agree_with_each_other() {
    for row in where_(&survey().rows, &[("state", "measured")]) {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
        let (ns, size) = (number(row, "ns_per_op.median"), number(row, "size"));
        assert!(ns > 0.0, "{row}");
        for estimate in ["ns_per_op", "cycles_per_op"] {
            let part = |part: &str| number(row, &format!("{estimate}.{part}"));
            assert!(part("low") <= part("median") && part("median") <= part("high"), "{row}");
        }
        assert!(near(number(row, "ns_per_byte"), ns / size), "{row}");
        let cycles = number(row, "cycles_per_op.median");
        assert!(near(number(row, "cycles_per_byte"), cycles / size), "{row}");
        if text(row, "algorithm") == "null" {
            assert!(row["mb_per_s"].is_null(), "nothing was moved: {row}");
        } else {
            assert!(near(number(row, "mb_per_s"), size / ns * 1e3), "{row}");
        }
    }
}

#[test]
fn the_record_fits_its_schema_and_says_what_was_asked_for() {
    let record: Value = serde_json::from_str(&survey().file).unwrap();
    keeps_to(&record, "docs/record.schema.json");
    let plan = &record["plan"];
    assert_eq!(plan["sizes"], serde_json::json!([16, 1024]));
    assert_eq!((&plan["seed"], &plan["precision"]), (&7.into(), &0.5.into()));
    assert_eq!(plan["budget_seconds"], 200.0);
    assert!(!text(&record, "host.cpu.name").is_empty() && !text(&record, "started").is_empty());
    for name in CIPHER_LIBRARIES.iter().chain(&["baselines"]) {
        let library = where_(rows(&record, "libraries"), &[("name", name)])[0];
        assert!(record::expanded(text(library, "path")).is_file(), "{library}");
        let id = text(library, "id");
        assert!(id.starts_with("build-id:") || id.starts_with("sha256:"), "{library}");
        assert!(text(library, "version").starts_with(|c: char| c.is_ascii_digit()), "{library}");
    }
}

#[test]
fn results_go_to_standard_output_and_nothing_to_standard_error() {
    let survey = survey();
    assert_eq!(survey.printed.stdout, survey.file, "`--format json` prints the record");
    assert_eq!(survey.printed.stderr, "");
}

#[test]
fn sizes_that_a_mode_does_not_define_are_unsupported() {
    let what = "-a aes-128-{ecb,xts} -l openssl -s 1,16..64+24 -d encrypt";
    let record = record(what, 0);
    let all = rows(&record, "measurements");
    assert_eq!(all.len(), 2 * 4);
    for (algorithm, size, state, why) in [
        ("aes-128-ecb", 40, "unsupported", "whole blocks of 16 bytes"),
        ("aes-128-xts", 1, "unsupported", "at least 16 bytes"),
        ("aes-128-ecb", 64, "measured", ""),
        ("aes-128-xts", 40, "measured", ""),
        ("aes-128-xts", 16, "measured", ""),
    ] {
        let mut found = where_(all, &[("algorithm", algorithm)]).into_iter();
        let row = found.find(|row| row["size"] == size).unwrap();
        assert_eq!(text(row, "state"), state, "{row}");
        assert!(text(row, "reason").contains(why), "{row}");
    }
}

#[test]
fn two_builds_stand_side_by_side_under_their_own_names() {
    let object = fakes::object("correct", "");
    let path = arg(&object);
    let what = format!("-a aes-128-ctr -s 64 -d encrypt -l old={path} -l new={path}");
    let whole = record(&what, 0);
    let all = rows(&whole, "measurements");
    assert_eq!(all.len(), 2, "no other library was asked for: {all:?}");
    for name in ["old", "new"] {
        let row = where_(all, &[("library.name", name), ("state", "measured")])[0];
        let path = record::expanded(text(row, "library.path"));
        assert_eq!(path.canonicalize().unwrap(), object.canonicalize().unwrap());
        assert!(checks(row).contains("cross-library"), "compared with each other: {row}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_library_is_selected_by_name_by_version_and_by_glob() {
    let select = |glob: &str| {
        let record = record(&format!("-a aes-128-ctr -s 64 -d encrypt -l {glob}"), 0);
        let [row] = &rows(&record, "measurements")[..] else { panic!("{record}") };
        assert_eq!(text(row, "library.name"), "libgcrypt");
        text(row, "library.version").to_owned()
    };
    let version = select("libg*");
    select(&format!("libgcrypt@{version}"));
}

#[test]
fn a_suite_file_says_what_is_measured_and_flags_override_it() {
    let directory = scratch();
    let suite = file(&directory, "mine.toml");
    let body = "name = 'mine'\nreason = 'one case for a test'\nalgorithms = ['aes-128-ctr']\n\
                sizes = '32'\nmodels = ['stream']\ndirections = ['decrypt']\n\
                precision = '50%'\nbudget = '60s'\n";
    std::fs::write(&suite, body).unwrap();
    let cases = |flags: &str| {
        let what = format!("--suite {suite} -l openssl --format json {flags}");
        let done = measure(&what.split_whitespace().collect::<Vec<_>>()).with_code(0);
        let case = |row: &Value| (text(row, "model").to_owned(), row["size"].as_u64().unwrap());
        let all = measurements(&done.stdout);
        assert!(all.iter().all(|row| text(row, "direction") == "decrypt"), "{all:?}");
        all.iter().map(case).collect::<Vec<_>>()
    };
    assert_eq!(cases(""), [("stream".to_owned(), 32)]);
    let overridden = [48, 64].map(|size| ("message".to_owned(), size));
    assert_eq!(cases("-s 48,64 -m message"), overridden);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_table_longer_than_a_screen_gives_way_to_the_answer_and_is_there_with_all() {
    let what = "run -q -l openssl -l libgcrypt -a aes-*-{cbc,ctr,gcm,ccm,xts,ofb,cfb,cfb8,ecb} \
                -d encrypt -s 16 \
                --no-evidence --precision 50% --budget 20s";
    let screen = call(what).with_code(0).stdout;
    assert!(screen.lines().count() <= 40, "{screen}");
    for expected in ["Authenticated", "Keeps the length", "your openssl@", "run with --all"] {
        assert!(screen.contains(expected), "{expected}\n{screen}");
    }
    let whole = call(&format!("{what} --all")).with_code(0).stdout;
    assert!(whole.lines().count() > 40, "{whole}");
    assert!(whole.contains("aes-128-cfb8"), "{whole}");
}
