//! `run`. Over healthy libraries everything asked for is measured, with its proof. Languages' runtimes are
//! libraries like any other, and faults of theirs are refused; what a machine must have for it,
//! `scripts/setup tests` installs. Libraries that are refused for what the zoo has no stand-in for; how cases
//! come to their speed, processes that come in kinds, and a core that earlier runs saw quieter: one that a
//! neighbour accompanies from its beginning to its end could not know it by itself; and one record in every
//! format, from `run` and from `show`, whole and filtered.

use crate::support::{fakes, *};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const CIPHER_LIBRARIES: [&str; 2] = ["openssl", "rustcrypto"];

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
                -l openssl -l rustcrypto -l baselines \
                -m message -m stream -s 16,1K -d encrypt --seed 7 --format json";
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
#[ignore = "long: seconds"]
fn everything_that_was_asked_for_is_measured() {
    let rows = &survey().rows;
    for library in CIPHER_LIBRARIES {
        for (algorithm, model) in
            [("aes-128-ctr", "message"), ("aes-128-ctr", "stream"), ("aes-128-gcm", "message")]
        {
            let of_library = [("library.name", library), ("direction", "encrypt")];
            let case = [("algorithm", algorithm), ("model", model)];
            let found = where_(rows, &[of_library, case].concat());
            let sizes: Vec<f64> = found.iter().map(|row| number(row, "size")).collect();
            assert_eq!(sizes, [16.0, 1024.0], "{of_library:?} {case:?}");
            all_are(found, "measured");
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
#[ignore = "long: seconds"]
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
#[ignore = "long: seconds"]
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
#[ignore = "long: seconds"]
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
#[ignore = "long: seconds"]
fn results_go_to_standard_output_and_nothing_to_standard_error() {
    let survey = survey();
    assert_eq!(survey.printed.stdout, survey.file, "`--format json` prints the record");
    assert_eq!(survey.printed.stderr, "");
}

#[test]
fn two_builds_stand_side_by_side_under_their_own_names() {
    let object = fakes::object("correct", "");
    let path = arg(&object);
    let what = format!("verify --json -a aes-128-ctr -l old={path} -l new={path}");
    let all = call(&what).with_code(0).rows();
    assert_eq!(all.len(), 2, "no other library was asked for: {all:?}");
    for name in ["old", "new"] {
        let row = where_(&all, &[("library.name", name), ("state", "passed")])[0];
        let path = record::expanded(text(row, "library.path"));
        assert_eq!(path.canonicalize().unwrap(), object.canonicalize().unwrap());
        assert!(checks(row).contains("cross-library"), "compared with each other: {row}");
    }
}

#[test]
#[ignore = "long: seconds"]
fn a_suite_file_says_what_is_measured_and_flags_override_it() {
    let directory = scratch();
    let suite = file(&directory, "mine.toml");
    let body = "name = 'mine'\nreason = 'one case for a test'\nalgorithms = ['aes-128-ctr']\n\
                sizes = '32'\nmodels = ['stream']\ndirections = ['decrypt']\n\
                precision = '50%'\nbudget = '60s'\n";
    std::fs::write(&suite, body).unwrap();
    // Nothing is asked of the figures, so that they need not be precise.
    let what = format!("--suite {suite} -l openssl --format json -s 48 --no-evidence --budget 1s");
    let done = measure(&what.split_whitespace().collect::<Vec<_>>());
    let [row] = &measurements(&done.stdout)[..] else { panic!("{done:?}") };
    assert_eq!(
        (text(row, "model"), text(row, "direction"), &row["size"]),
        ("stream", "decrypt", &48.into())
    );
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_table_longer_than_a_screen_gives_way_to_the_answer_and_is_there_with_all() {
    let what = "run -q -l openssl -l libgcrypt -a aes-*-{cbc,ctr,gcm,ccm,xts,ofb,cfb,cfb8,ecb} \
                -d encrypt -s 16 \
                --no-evidence --precision 50% --budget 20s";
    let screen = call(what).with_code(0).stdout;
    assert!(screen.lines().count() <= 40, "{screen}");
    says(&screen, ["Authenticated", "Keeps the length", "system's openssl@", "run with --all"]);
    let whole = call(&format!("{what} --all")).with_code(0).says(["aes-128-cfb8"]).stdout;
    assert!(whole.lines().count() > 40, "{whole}");
}

/// Runtimes that need nothing but their packages of Debian.
const RUNTIMES: [&str; 6] =
    ["go", "java-sunjce", "node", "node-webcrypto", "python-cryptography", "python-hashlib"];

const FAULTS: [&str; 4] = ["accepts", "memoises", "defers", "swallows"];

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_runtime_that_cannot_be_started_is_listed_with_what_it_lacks_and_measured_by_nobody() {
    let listed = call("list libraries").with_code(0).stdout;
    let reason = ["its program needs a directory", "is not installed: apt-get install"];
    assert!(listed.contains("runtime:go") && reason.iter().any(|r| listed.contains(r)), "{listed}");
    refuses("run -l go -s 16", &["library 'go'"]);
    let record = record("-a memcpy -s 16", 0);
    let all = rows(&record, "libraries").iter().map(|l| text(l, "path"));
    assert!(all.clone().all(|path| !path.starts_with("runtime:")), "{:?}", all.collect::<Vec<_>>());
}

#[test]
#[ignore = "long: compiles programs in four languages and checks every algorithm in each"]
fn every_runtime_passes_every_check_and_is_measured_beside_a_library_in_c() {
    let cache = scratch();
    let variables = [("CIPHERMARK_CACHE", arg(cache.path()))];
    for runtime in RUNTIMES {
        let line = ["verify", "-l", runtime, "-q"];
        ciphermark_with_many(&line, &variables).with_code(0);
    }
    let path = file(&cache, "r.json");
    let named: Vec<&str> = RUNTIMES.iter().flat_map(|name| ["-l", name]).collect();
    let rest = ["-l", "openssl", "-a", "aes-256-gcm,sha256", "-s", "64,4K,64K", "-q", "-o", &path];
    // On a busy machine a case finds few quiet moments, or none.
    let long = ["--precision", "50%", "--budget", "200s"];
    let line = [&["run"], &named[..], &rest, &long].concat();
    let done = ciphermark_with_many(&line, &variables);
    assert!([0, 3].contains(&done.code), "{done:?}");
    let record = read(&path);
    for row in rows(&record, "measurements") {
        assert!(text(row, "state") != "refused", "{row}");
    }
    for runtime in RUNTIMES {
        let own = where_(rows(&record, "measurements"), &[("library.name", runtime)]);
        let measured = own.iter().filter(|row| text(row, "state") == "measured").count();
        assert!(measured >= 1, "{runtime}: {measured}");
        let library = where_(rows(&record, "libraries"), &[("name", runtime)])[0];
        assert!(
            !text(library, "version").is_empty() && rows(library, "build").len() > 1,
            "{library}"
        );
    }
    let told = call(&format!("explain {path} -l go -a aes-256-gcm")).with_code(0);
    says(&told.stdout, ["Seal of a kept cipher.AEAD"]);
}

#[test]
#[ignore = "long: four faults in programs of four languages"]
fn faults_in_every_runtime_are_refused() {
    let cache = scratch();
    for (language, program) in programs(cache.path()) {
        for fault in FAULTS {
            let done = with_fault(&program, fault, cache.path());
            assert!([1, 3].contains(&done.code), "{language} {fault}: {done:?}");
            says(&done.stdout, ["refused"]);
        }
        let honest = with_fault(&program, "none", cache.path());
        assert_eq!(honest.code, 0, "{language}: {honest:?}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_runtime_that_ends_costs_the_case_that_ended_it_and_no_other() {
    let Some(program) = faulty() else { return };
    let cache = scratch();
    let path = file(&cache, "r.json");
    let library = format!("faulty=runtime:{}", arg(&program));
    let line = format!("run -l {library} -a aes-256-gcm -s 64,700,4K -d encrypt --no-evidence -q");
    let variables = [("CIPHERMARK_CACHE", arg(cache.path())), ("CIPHERMARK_FAULT", "ends")];
    call_with(&format!("{line} -o {path} {}", QUICK.join(" ")), &variables).with_code(3);
    for row in rows(&read(&path), "measurements") {
        let ended = row["size"] == 700;
        assert_eq!(text(row, "state"), if ended { "failed" } else { "measured" }, "{row}");
        assert!(!ended || text(row, "reason").contains("no more of these"), "{row}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_a_runtimes_program_starts_cannot_leave_the_group_that_ends_with_its_worker() {
    let Some(program) = faulty() else { return };
    let cache = scratch();
    with_fault(&program, "leaves", cache.path()).with_code(0);
}

#[test]
fn a_runtime_that_does_not_start_says_its_status_and_its_last_words() {
    let directory = scratch();
    let text = "#!/bin/sh\necho 'ImportError: no module named x' >&2\nexit 3\n";
    let program = script(&directory, "broken", text);
    let words = ["process ended (exit status: 3): ImportError: no module named x"];
    refuses(&format!("run -l mine=runtime:{program} -a aes-256-gcm"), &words);
}

/// A program in Python with planted faults; none where that lacks what it needs.
fn faulty() -> Option<PathBuf> {
    if !Command::new("python3").args(["-c", "import cryptography"]).status().unwrap().success() {
        eprintln!("left out: there is no Python package cryptography");
        return None;
    }
    Some(repository("tests/fakes/runtimes/faulty.py").canonicalize().unwrap())
}

/// Measures what the program can be wrong in.
fn with_fault(program: &Path, fault: &str, cache: &Path) -> Done {
    let library = format!("faulty=runtime:{}", arg(program));
    let line = format!("run -l {library} -a aes-256-gcm -d decrypt -s 32K --no-evidence -q");
    let variables = [("CIPHERMARK_CACHE", arg(cache)), ("CIPHERMARK_FAULT", fault)];
    call_with(&format!("{line} {}", QUICK.join(" ")), &variables)
}

/// A program with planted faults in each language: a script, or what is compiled into the directory.
fn programs(directory: &Path) -> [(&'static str, PathBuf); 4] {
    let fakes = repository("tests/fakes/runtimes").canonicalize().unwrap();
    [
        ("Python", fakes.join("faulty.py")),
        ("Node", fakes.join("faulty.js")),
        ("Go", go(&fakes, &directory.join("go"))),
        ("Java", java(&fakes, &directory.join("java"))),
    ]
}

/// The sources of the honest program, in which what opens an algorithm has another name.
fn go(fakes: &Path, directory: &Path) -> PathBuf {
    std::fs::create_dir_all(directory).unwrap();
    let own = repository("runtimes/go");
    let copy = |name: &str, text: String| std::fs::write(directory.join(name), text).unwrap();
    let source = |path: PathBuf| std::fs::read_to_string(path).unwrap();
    copy("main.go", source(own.join("main.go")));
    let renamed =
        source(own.join("algorithms.go")).replace("func provide(", "func provideHonestly(");
    copy("algorithms.go", renamed);
    copy("faulty.go", source(fakes.join("go/faulty.go")));
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/local/go/bin";
    let run = |arguments: &[&str]| {
        let mut command = Command::new("sh");
        command.args(["-c", arguments[0]]).current_dir(directory).env("PATH", &path);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    run(&["sed 's/^module std/module ciphermark/' \"$(go env GOROOT)/src/go.mod\" > go.mod"]);
    run(&[
        "ln -s \"$(go env GOROOT)/src/vendor\" vendor && GOPROXY=off go build -mod=vendor -o program .",
    ]);
    directory.join("program")
}

fn java(fakes: &Path, directory: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(directory).unwrap();
    let own = repository("runtimes/java");
    let sources =
        [own.join("Main.java"), own.join("Algorithms.java"), fakes.join("java/Faulty.java")];
    let done = Command::new("javac").arg("-d").arg(directory).args(&sources).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let program = directory.join("program");
    let line = format!(
        "#!/bin/sh\nexec java -Xbatch -XX:-UsePerfData -cp {} Main Faulty\n",
        arg(directory)
    );
    std::fs::write(&program, line).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[test]
fn an_object_of_another_interface_version_is_refused_by_name() {
    let library = fakes::library("wrong_abi");
    refuses(&format!("run -l {library} -s 16"), &["wrong_abi", "adapter interface 5"]);
}

/// More calls than any check makes; a few timed batches of a copy make as many.
#[test]
#[ignore = "long: seconds"]
fn success_without_work_after_thousands_of_right_calls_is_found_in_the_timed_loop() {
    let library = fakes::variant("early_return", "AFTER=21000");
    let record = record(&format!("-l {library} -a memcpy -s 16"), 3);
    for row in where_(rows(&record, "measurements"), &[("library.name", "after")]) {
        assert_eq!(text(row, "state"), "refused", "{row}");
        assert!(text(row, "reason").starts_with("timed-output: "), "{row}");
        assert!(row["ns_per_op"].is_null(), "{row}");
    }
}

/// The stand-in executes AES instructions whatever it is told of the CPU.
#[test]
#[ignore = "long: takes ten seconds or more"]
#[cfg(target_arch = "x86_64")]
fn a_library_that_executes_what_its_tier_takes_away_is_refused_there_alone() {
    let what = format!("-l {} -a memcpy -s 64 -t native -t noaes", fakes::library("counted"));
    let all = rows(&record(&what, 3), "measurements").clone();
    let at = |tier: &str| where_(&all, &[("tier", tier)])[0];
    assert_eq!(text(at("native"), "state"), "measured");
    assert!(number(at("native"), "instructions_per_byte") > 10.0 / 16.0);
    assert_eq!(text(at("native"), "evidence.instructions"), "single-step");
    let (refused, why) = (at("noaes"), text(at("noaes"), "reason"));
    assert_eq!(text(refused, "state"), "refused", "{why}");
    assert!(why.starts_with("tier: executed ") && why.contains("instructions of aes"), "{why}");
    says(why, ["aesenc at ", "counted"]);
    assert!(refused["instructions_per_byte"].is_null(), "{refused}");
    let without = record(&format!("{what} --no-evidence"), 0);
    all_are(where_(rows(&without, "measurements"), &[("tier", "noaes")]), "measured");
    // As `rank` and all others measure for their answers.
    let library = fakes::library("counted");
    let (_, object) = library.split_once('=').unwrap();
    let pair = format!("pair a={object} b={object} -a memcpy -s 64 -t noaes -q");
    call(&pair).ends(3, ["tier: executed "]);
}

/// A record of one case of a stand-in, its file and the case. The shortest of three budgets in which `enough` was seen: how
/// many samples count depends on what else runs.
fn measured(library: &str, enough: impl Fn(&Value) -> bool) -> (tempfile::TempDir, String, Value) {
    let directory = scratch();
    let path = file(&directory, "r.json");
    let line = format!("-q --no-evidence -l {library} -a memcpy -s 64 -m message -o {path}");
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut row = Value::Null;
    for budget in ["6s", "24s", "96s"] {
        let _ = std::fs::remove_file(&path);
        // A precision that twelve processes do not reach, all of one kind or nearly: there are to be many.
        measure(&[&words[..], &["--precision", "0.05%", "--budget", budget]].concat()).with_code(0);
        row = rows(&read(&path), "measurements")[0].clone();
        assert_eq!(text(&row, "state"), "measured", "{row}");
        if enough(&row) {
            break;
        }
    }
    (directory, path, row)
}

/// Up to the end of the first window that has no slow call of `settles.c`, which are 0.8 ms at the least.
const SLOW_US: f64 = 1600.0;

#[test]
#[ignore = "long: measures for seconds"]
fn a_library_that_is_slow_in_a_processs_first_milliseconds_gets_its_settled_number() {
    let (_directory, path, row) = measured(&fakes::library("settles"), |row| {
        // Where too few processes had time for it, the others count too, and the reason says so.
        let all_had_time = !row["reason"].as_str().unwrap_or_default().contains("had settled");
        all_had_time && row["settled"]["us"].as_f64().is_some_and(|us| us >= SLOW_US)
    });
    let settled = &row["settled"];
    assert!(number(settled, "us") >= SLOW_US, "{settled}");
    assert!(number(settled, "first_ns") > 2.0 * number(&row, "ns_per_op.median"), "{row}");
    // None of the samples that count were taken before.
    let raw = &row["raw"];
    let all = rows(raw, "clean").iter().zip(rows(raw, "settled_us"));
    let counted: Vec<f64> =
        all.filter(|(clean, _)| **clean == true).filter_map(|(_, us)| us.as_f64()).collect();
    assert!(!counted.is_empty() && counted.iter().all(|us| *us >= SLOW_US), "{counted:?}");
    let explained = ciphermark(&["explain", &path], b"").with_code(0).stdout;
    says(&explained, ["settles after", "the first operation costs"]);
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_library_whose_processes_are_of_two_kinds_is_shown_as_two() {
    let (_directory, path, row) = measured(&fakes::library("two_kinds"), |row| {
        row["kinds"].as_array().is_some_and(|kinds| kinds.len() == 2)
    });
    let kinds = rows(&row, "kinds");
    assert_eq!(kinds.len(), 2, "{row}");
    assert!(number(&kinds[1], "cost") > 1.5 * number(&kinds[0], "cost"), "{kinds:?}");
    let estimate = number(&row, "cycles_per_op.median");
    assert!(number(&kinds[0], "cost") < estimate && estimate < number(&kinds[1], "cost"), "{row}");
    ciphermark(&["show", &path], b"").with_code(0).says(["has processes of two kinds"]);
}

/// A run that ends with its budget, with what earlier ones left in `cache`.
fn run_beside_earlier(cache: &Path, budget: &str) -> Value {
    let run = format!("run -l {} -a aes-128-ctr -s 64 -d encrypt", fakes::library("correct"));
    let how = format!("--no-evidence --precision 0.0001% --format json --budget {budget}");
    let variables = [("CIPHERMARK_CACHE", arg(cache))];
    call_with(&format!("{run} {how}"), &variables).with_code(0).json()
}

/// The quiet rate of the CPU that took a record's samples.
fn rate(record: &Value) -> f64 {
    record["host"]["clock"]["quiet_probe"].as_f64().unwrap()
}

#[test]
#[ignore = "long: takes ten seconds or more"]
#[cfg(target_arch = "x86_64")]
fn a_core_that_earlier_runs_saw_quieter_than_this_one_is_called_contended() {
    let cache = scratch();
    let path = kept_rates(cache.path(), |budget| {
        let first = rate(&run_beside_earlier(cache.path(), budget));
        assert!(first < QUIETER, "{first}");
    });
    // As if this run had been accompanied and two earlier ones not.
    remember_rate(&path, QUIETER);
    let later = run_beside_earlier(cache.path(), "6s");
    assert_eq!(rate(&later), QUIETER);
    let row = &later["measurements"][0];
    assert_eq!(row["contended"], true, "{row}");
    // A file that nobody can read is no more than a machine of which nothing is known.
    std::fs::write(&path, "torn = [").unwrap();
    assert!(rate(&run_beside_earlier(cache.path(), "6s")) < QUIETER);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn run_prints_what_show_prints_of_its_record_which_replaces_an_older_one() {
    let directory = scratch();
    let path = file(&directory, "r.json");
    for format in ["table", "jsonl", "csv", "markdown"] {
        let what = ["-a", "aes-128-ctr", "-l", "openssl", "-d", "encrypt", "-s", "16"];
        let run = measure(&[&what[..], &QUICK, &["-o", &path, "--format", format]].concat());
        let show = call(&format!("show {path} --format {format}")).with_code(0);
        assert_eq!(run.with_code(0).stdout, show.stdout, "{format}");
    }
}

/// The sample of the format with a row for each choice of two algorithms, libraries, directions, models and sizes.
fn sample_of_many_rows() -> Value {
    let mut record = read(repository("crates/record/tests/sample.json"));
    let all = rows(&record, "measurements").iter();
    let mut made: Vec<Value> = all.take(1).cloned().collect();
    for (field, values) in [
        ("algorithm", ["aes-128-ctr", "aes-128-gcm"].map(Value::from)),
        ("direction", ["encrypt", "decrypt"].map(Value::from)),
        ("model", ["message", "stream"].map(Value::from)),
        ("size", [16, 100].map(Value::from)),
        (
            "library",
            [("openssl", "3.0.22"), ("wrong_tag", "1.0")].map(|(name, version)| {
                let mut library = made[0]["library"].clone();
                (library["name"], library["version"]) = (name.into(), version.into());
                library
            }),
        ),
    ] {
        let with = |row: &Value, value: Value| {
            let mut row = row.clone();
            row[field] = value;
            row
        };
        made = values.iter().flat_map(|v| made.iter().map(|row| with(row, v.clone()))).collect();
    }
    record["measurements"] = made.into();
    record
}

#[test]
fn filters_leave_the_rows_that_were_asked_for_as_a_record_again() {
    let directory = scratch();
    let [path, part] = ["r.json", "part.json"].map(|name| file(&directory, name));
    std::fs::write(&path, sample_of_many_rows().to_string()).unwrap();
    let show = |of: &str, filter: &str| {
        let done = call(&format!("show {of} {filter} --format json")).with_code(0);
        assert_eq!(done.stderr, "");
        done.stdout
    };
    let rows = |filter: &str| measurements(&show(&path, filter));
    let all = rows("");
    for (filter, field, value) in [
        ("-a *-gcm", "algorithm", "aes-128-gcm"),
        ("-l openssl", "library.name", "openssl"),
        ("-l openssl@*", "library.name", "openssl"),
        ("-l wrong*@1.0", "library.name", "wrong_tag"),
        ("-d decrypt", "direction", "decrypt"),
        ("-m stream", "model", "stream"),
    ] {
        let left = rows(filter);
        assert!(left.iter().all(|row| text(row, field) == value), "{filter}: {left:?}");
        assert_eq!(left.len(), where_(&all, &[(field, value)]).len(), "{filter}");
    }
    assert_eq!(rows("-t native").len(), all.len());
    refuses(&format!("show {path} -t noaes"), &["the filters leave no row"]);
    assert_eq!(rows("-a aes-128-ctr -l openssl -d encrypt -m message").len(), 2);
    let sizes = rows("-s 64..1K,100");
    assert_eq!(sizes.len(), all.len() / 2);
    assert!(sizes.iter().all(|row| row["size"] == 100), "{sizes:?}");
    std::fs::write(&part, show(&path, "-a aes-128-ctr")).unwrap();
    assert_eq!(show(&part, ""), std::fs::read_to_string(&part).unwrap());
}
