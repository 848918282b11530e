//! What is made of records: rankings, verdicts on published claims, other programs' formats and back, and the
//! HTML page (what stands in it is tested in a browser, `web/test`).

use crate::support::{fakes, *};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn rank(arguments: &str) -> Done {
    call(&format!("rank {} {arguments}", published())).with_code(0)
}

fn answer(arguments: &str) -> Value {
    rank(&format!("{arguments} --format json")).rows()[0].clone()
}

#[test]
fn flags_say_which_cases_take_part() {
    let whole = answer("--authenticated -d decrypt -s 1K --key-bits 256");
    let rows = rows(&whole["standings"][0], "rows");
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!((text(row, "direction"), number(row, "size")), ("decrypt", 1024.0));
        assert!(!text(row, "algorithm").contains("128"), "{row}");
    }
    let each = answer("--authenticated --per library");
    assert_eq!(each["standings"][0]["group"], "libaegis@0.9.20");
}

#[test]
fn without_a_question_the_usual_ones_are_answered() {
    let text = rank("").stdout;
    assert!(text.matches("fastest authenticated").count() >= 4, "{text}");
    says(&text, ["per library (model message"]);
    assert!(!text.contains("tier noaes"), "the record has none: {text}");
}

#[test]
fn every_format_has_the_answer() {
    let as_format = |format: &str| rank(&format!("--authenticated -s 8K --format {format}")).stdout;
    let markdown = as_format("markdown");
    assert!(markdown.starts_with("### fastest authenticated"), "{markdown}");
    assert!(markdown.contains("| 1 |") || markdown.contains("| 1–"), "{markdown}");
    let csv = as_format("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert!(rows.len() >= 10 && rows[0][2].starts_with('1'), "{} rows", rows.len());
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_question_without_a_record_is_measured_now() {
    let correct = fakes::library("correct");
    let name = correct.split('=').next().unwrap();
    // It has AES by tables: what it encrypts with depends on the key.
    let what = format!("rank -a aes-128-gcm -s 64 -l {correct} --format json");
    refuses(&what, &["1 depend on the secret; --leaking ranks them, too"]);
    let whole = call(&format!("{what} --leaking")).with_code(0).json();
    assert_eq!(whole[0]["standings"][0]["rows"][0]["library"]["name"], name);
}

#[test]
fn what_is_not_understood_or_not_there_gets_one_line() {
    let published = published();
    for (asked, words) in [
        (&*format!("{published} -t noaes"), &["no tier noaes", "ciphermark run -t noaes"][..]),
        (&format!("{published} -s 64,8K"), &["--size '64,8K': a question is about one size"]),
        ("", &["give a record", "--help"]),
        ("no/such.json", &["no/such.json"]),
        // Words are no question.
        ("fastest", &["'fastest'", "No such file"]),
        (&format!("{published} fastest"), &["unexpected argument 'fastest'"]),
    ] {
        refuses(&format!("rank {asked}"), words);
    }
}

// The published claims, judged by records and by what is measured for them.

const VERDICTS: [&str; 4] = ["holds", "does not hold", "depends", "not testable here"];

fn judged(arguments: &str) -> Vec<Value> {
    call(&format!("claims {arguments} --format json")).with_code(0).rows()
}

/// One claim that is measured with these flags, and judged again by the record that was kept.
fn judged_twice(claim: &str, flags: &str) -> (Value, String) {
    let directory = scratch();
    let kept = file(&directory, "kept.json");
    let [told] = &judged(&format!("--only {claim} {flags} -o {kept}"))[..] else {
        panic!("one claim was asked for")
    };
    assert!(VERDICTS[..3].contains(&text(told, "verdict")), "{told}");
    let [again] = &judged(&format!("{kept} --only {claim}"))[..] else { panic!("{told}") };
    assert_eq!(again, told);
    (told.clone(), std::fs::read_to_string(kept).unwrap())
}

#[test]
fn every_claim_has_a_verdict_and_what_a_record_lacks_is_named() {
    let all = judged(SAMPLE);
    assert_eq!(all.len(), 36);
    for claim in &all {
        assert!(VERDICTS.contains(&text(claim, "verdict")), "{claim}");
        assert!(!text(claim, "why").is_empty(), "{claim}");
        assert!(text(claim, "source.url").starts_with("https://"), "{claim}");
    }
    assert_eq!(judged(&format!("{SAMPLE} --only highgo-* --only tls-kx-order")).len(), 9);
    assert_eq!(judged(&format!("{SAMPLE} --source tls")).len(), 7);
}

#[test]
#[ignore = "long: seconds"]
fn a_claim_is_measured_and_judged_in_one_call_and_its_record_judges_it_again() {
    let (claim, kept) = judged_twice("highgo-key-length", "-l openssl --budget 20s");
    let here = &claim["figures"][0]["here"][0];
    assert!(number(here, "value") > 0.0, "{claim}");
    assert!(here["low"].as_f64() <= here["value"].as_f64(), "{claim}");
    // What was measured is what the conditions name, and it is an ordinary record.
    let rows = measurements(&kept);
    assert!(rows.iter().all(|row| text(row, "algorithm").ends_with("-ctr")), "{rows:?}");
    let directory = scratch();
    call(&format!("show {}", written(&directory, "kept.json", kept))).with_code(0);
}

/// What TLS claims say is judged by handshakes of the machine's own OpenSSL.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_claim_of_handshakes_is_measured_and_its_run_judges_it_again() {
    let Some(stack) = crate::tls::stack() else { return };
    let stack = stack.replacen("system=", "openssl=", 1);
    let (claim, _) = judged_twice("tls-resumption", &format!("-l {stack} --budget 60s"));
    assert!(number(&claim["figures"][1]["here"][0], "value") > 0.0, "{claim}");
}

#[test]
fn an_articles_table_is_printed_again() {
    call(&format!("claims {SAMPLE} --table highgo")).with_code(0).says(["6338", "8192 B"]);
}

#[test]
fn wrong_names_get_one_line_with_the_nearest_right_one() {
    for (flags, words) in [
        ("--only highgo-ctr-clos", "did you mean 'highgo-ctr-close'?"),
        ("--source higho", "did you mean 'highgo'?"),
        ("--table tsl", "unknown source 'tsl'"),
    ] {
        refuses(&format!("claims {SAMPLE} {flags}"), &[words]);
    }
    refuses("claims /no/such.json", &["cannot read record '/no/such.json'"]);
    let other = repository("records/runtimes-2026-11-25-zen4.json.gz");
    let (one, other) = (published(), arg(&other));
    refuses(&format!("claims {one} {other}"), &["records of one machine"]);
    let said = call(&format!("claims {one}")).with_code(0).stdout;
    assert!(
        said.starts_with("Published claims on Intel(R) Xeon(R) Processor, 2026-11-23:"),
        "{said}"
    );
}

/// Versions with wheels for Python 3.9 to 3.13.
const PACKAGES: [(&str, &str); 3] =
    [("pandas", "2.2.3"), ("pyarrow", "19.0.1"), ("duckdb", "1.2.2")];

#[test]
#[ignore = "long: packages from PyPI"]
fn pandas_and_duckdb_read_the_rows_and_numbers_of_the_record() {
    let python = python_with("tables", &PACKAGES);
    let directory = scratch();
    let mut command = Command::new(python);
    command.arg(repository("tests/python/tables.py")).arg(program()).arg(SAMPLE);
    let output = command.arg(directory.path()).output().unwrap();
    let (printed, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{said}");
    let compared: usize = printed.split(' ').next().unwrap().parse().unwrap();
    assert!(compared > 50, "{printed}");
}

#[test]
fn a_file_gets_what_standard_output_would() {
    let directory = scratch();
    let (record, file) = (SAMPLE, file(&directory, "out"));
    for format in ["table", "csv", "jsonl", "markdown", "openssl", "openssl-mr", "parquet"] {
        // A file has the width of what is piped.
        let shown = ["show", record, "--format", format];
        let printed = ciphermark_with(&shown, &[("COLUMNS", "")]).with_code(0);
        let written = call(&format!("export {record} --format {format} -o {file}")).with_code(0);
        assert_eq!((written.stdout.as_str(), written.stderr.as_str()), ("", ""));
        assert_eq!(std::fs::read(&file).unwrap(), printed.bytes, "{format}");
    }
}

#[test]
fn no_record_is_overwritten_by_what_is_made_from_one() {
    let directory = scratch();
    let copy = file(&directory, "r.json");
    std::fs::copy(SAMPLE, &copy).unwrap();
    let export = format!("export {SAMPLE} --format csv -o");
    refuses(&format!("{export} {copy}"), &["is a ciphermark record: not overwritten"]);
    let done = call(&format!("{export} /no/such/place/r.csv")).with_code(4);
    assert!(done.only_line_on_stderr().contains("cannot write '/no/such/place/r.csv'"));
}

#[test]
fn parquet_is_not_written_to_a_terminal() {
    let done = in_terminal(&format!("ciphermark show '{SAMPLE}' --format parquet")).with_code(2);
    says(&done.stdout, ["Parquet is not text"]);
}

#[test]
#[ignore = "long: seconds"]
fn what_the_machines_own_openssl_speed_prints_is_imported() {
    for flags in [&["-mr"][..], &[]] {
        let mut speed = Command::new("openssl");
        speed.args(["speed", "-seconds", "1", "-bytes", "1024", "-evp", "aes-128-gcm"]).args(flags);
        let output = speed.output().expect("the machine has openssl");
        // As with 2>&1: the tests go to standard error, the results to standard output.
        let both = [output.stderr, output.stdout].concat();
        let import = ["import", "-", "--format", "json"];
        let rows = measurements(&ciphermark(&import, &both).with_code(0).stdout);
        assert_eq!(rows.len(), 1, "{}", String::from_utf8_lossy(&both));
        assert_eq!(
            (text(&rows[0], "algorithm"), rows[0]["size"].as_u64()),
            ("aes-128-gcm", Some(1024))
        );
        let named = !text(&rows[0], "library.version").is_empty();
        assert_eq!(named, flags.is_empty(), "only the text names the version");
    }
}

#[test]
fn imported_rows_stand_beside_measured_ones_and_every_renderer_marks_them() {
    let directory = scratch();
    let both = file(&directory, "both.json");
    let table = published_table("highgo");
    call(&format!("import {table} --beside {SAMPLE} -o {both}")).with_code(0);
    let show = |format: &str| call(&format!("show {both} --format {format}")).with_code(0);
    let own = rows(&read(SAMPLE), "measurements").len();
    assert_eq!(measurements(&show("json").stdout).len(), own + 85);
    // What was measured is not lost for figures alone.
    refuses(&format!("import {table} -o {both}"), &["measured rows", "--beside"]);
    let twice = file(&directory, "twice.json");
    std::fs::copy(&both, &twice).unwrap();
    call(&format!("import {table} --beside {twice} -o {twice}")).with_code(0);
    assert_eq!(rows(&read(&twice), "measurements").len(), own + 170);
    for format in ["table", "markdown"] {
        show(format).says(["†6338", "imported and unverified", "Shawn Wang (HighGo Software)"]);
    }
    assert_eq!(show("csv").stdout.matches(",imported,").count(), 85);
    // Figures that nobody verified are not handed on as if they were.
    assert!(!show("openssl-mr").stdout.contains("aes-128-ecb"));
    let only = format!("show {both} -l openssl@1.0.2k -a aes-128-ecb -t native");
    call(&only).with_code(0).says(["†"]);
}

#[test]
fn an_imported_figure_that_cannot_be_is_marked_at_its_row_with_the_reason() {
    let directory = scratch();
    let (input, both) = (file(&directory, "in"), file(&directory, "both.json"));
    let words = "Doing aes-256-cbc-hmac-sha256 for 3s on 16384 size blocks: 24300000 x's in 3.00s\n\
        Doing aes-256-cbc for 3s on 16384 size blocks: 1300 aes-256-cbc's in 0.01s\n\
        Doing aes-256-cbc for 3s on 8192 size blocks: 2600 aes-256-cbc's in 0.00s\n\
        Doing aes-128-cbc for 3s on 16384 size blocks: 24000 aes-128-cbc's in 2.99s\n";
    std::fs::write(&input, words).unwrap();
    let done = call(&format!("import {input} --beside {SAMPLE} -o {both}"));
    let told: Vec<&str> = done.stderr.lines().collect();
    for said in
        ["hmac-sha256 at 16384 B: no core can reach", "only 0.01 s of CPU time in a test of 3 s"]
    {
        assert_eq!(told.iter().filter(|line| line.contains(said)).count(), 1, "{told:?}");
    }
    let show = |rest: &str| call(&format!("show {both} {rest}")).with_code(0).stdout;
    for format in ["table", "markdown"] {
        let text = flat(show(&format!("-s 16K -m stream --format {format}")));
        says(&text, ["†?132710", "†?2130", "NOT TO BE BELIEVED at 16K: no core can", "†131.5"]);
        says(&text, ["no CPU time at 8192 bytes", "†?: not to be believed"]);
    }
    assert_eq!(show("--format csv").matches(",no core can reach 132710 MB/s").count(), 1);
    let rank = format!("rank {both} -a aes-256-cbc-hmac-sha256 -s 16K");
    refuses(&rank, &["figures are doubted (no core"]);
}

/// What `openssl speed -evp` prints of two releases, the second half as fast, and one child's line of `-multi`.
const SPEED: [&str; 2] = [
    "OpenSSL 1.1.1w  11 Sep 2023\nThe 'numbers' are in 1000s of bytes per second processed.\n\
     type             16 bytes   8192 bytes\naes-128-gcm     400000.00k  4000000.00k\nsha256           50000.00k   300000.00k\n",
    "version: 3.0.15\ntype             16 bytes   8192 bytes\naes-128-gcm     200000.00k  2000000.00k\nsha256           25000.00k   150000.00k\n",
];

#[test]
fn every_command_answers_from_imported_figures_or_says_in_a_line_why_not() {
    let directory = scratch();
    let [a, b, both] = ["a", "b", "both"].map(|name| file(&directory, &format!("{name}.json")));
    let [old, new] = [("old.txt", SPEED[0]), ("new.txt", SPEED[1])]
        .map(|(name, text)| written(&directory, name, text));
    call(&format!("import {old} -o {a}")).with_code(0);
    call(&format!("import {new} -o {b}")).with_code(0);
    call(&format!("import {old} {new} -o {both}")).with_code(0);
    let words = |line: &str| flat(call(line).with_code(0).stdout);
    let mean = "4 of them take +100.0 % time in the geometric mean (0.50× the speed)";
    let compared = words(&format!("compare {a} {b}"));
    says(compared, [mean, "+100.0 no interval 0.50×", "4 undecided"]);
    let csv = call(&format!("compare {a} {b} --format csv")).with_code(0).stdout;
    assert_eq!(csv.matches(",2,,,").count(), 4, "a ratio, and no end of an interval: {csv}");
    let ranked = words(&format!("rank {both} -a aes-128-gcm -s 8K"));
    says(ranked, ["1–2 aes-128-gcm openssl@1.1.1w †4000", "no interval"]);
    // The usual questions.
    says(words(&format!("rank {a}")), ["sha256"]);
    call(&format!("report {a} -o {}", file(&directory, "p.html"))).with_code(0);
    refuses(&format!("explain {a}"), &["its 4 figures are imported: nothing was counted in them"]);
    refuses(&format!("show {a} --leaks"), &["has no verdicts on secrets"]);
    refuses(&format!("claims {a}"), &["has only imported figures, which prove no claim"]);
    let store = file(&directory, "s.db");
    for record in [&a, &b] {
        call(&format!("archive add {store} {record} --machine mine")).with_code(0);
    }
    let trend = words(&format!("trend {store} -a aes-128-gcm -s 8K"));
    says(trend, ["1.1.1w †4000", "3.0.15 †2000"]);
    // The newest run's.
    says(words(&format!("rank --from {store} -a aes-128-gcm -s 8K")), ["openssl@3.0.15 †2000"]);
}

#[test]
fn files_of_one_version_are_told_apart_by_their_names() {
    let directory = scratch();
    let both = file(&directory, "both.json");
    let left = written(&directory, "left.txt", SPEED[0]);
    let twice = SPEED[0].replace("4000000.00k", "8000000.00k");
    let right = written(&directory, "right.txt", twice);
    call(&format!("import {left} {right} -o {both}")).with_code(0);
    let compared = call(&format!(
        "compare {both} --libraries openssl:left,openssl:right -s 8K -a aes-128-gcm"
    ));
    compared.with_code(0).says(["-50.0", "2.00×"]);
}

#[test]
fn processes_of_multi_are_no_cores_speed_and_keys_have_a_table_of_their_own() {
    let directory = scratch();
    let input = file(&directory, "in.txt");
    let multi = "Forked child 0\nForked child 1\nGot: +H:8192 from 0\nGot: +F:25:AES-128-GCM:2000000000.00 from 0\n\
        Got: +H:8192 from 1\nGot: +F:25:AES-128-GCM:2000000000.00 from 1\nversion: 3.0.15\nAES-128-GCM    4000000.00k\n\
        \x20                      keygen    encaps    decaps keygens/s  encaps/s  decaps/s\n\
        \x20        ML-KEM-768 0.000040s 0.000020s 0.000030s   50000.0   80000.0   66000.0\n";
    std::fs::write(&input, multi).unwrap();
    for format in ["table", "markdown"] {
        let text = call(&format!("import {input} --format {format}")).with_code(0).stdout;
        let keys = "mlkem768 encapsulate openssl@3.0.15 †25";
        says(flat(text.replace('|', " ")), ["2 threads", "not one core's speed", keys, "80000"]);
    }
}

fn published_table(name: &str) -> String {
    arg(&repository(&format!("claims/tables/{name}.csv"))).to_owned()
}

#[test]
fn every_published_table_is_imported() {
    for name in ["highgo", "asecuritysite", "tls"] {
        call(&format!("import {}", published_table(name))).with_code(0);
    }
    let table = published_table("transactional");
    refuses(&format!("import {table}"), &["53 of 53 rows have no size"]);
    call(&format!("import {table} --size 8K")).with_code(0);
}

#[test]
fn what_is_no_figure_gets_one_line_and_no_other_file_is_overwritten() {
    let directory = scratch();
    let strange = file(&directory, "notes.txt");
    let input = written(&directory, "in", "\0\0\x1b[2J");
    let words = ["no line of it is a figure", "`ciphermark import --help` lists the formats"];
    refuses(&format!("import {input}"), &words);
    refuses("import openssl-speed speed.txt", &["formats are recognised: leave it out"]);
    refuses("import /no/such/file", &["cannot read '/no/such/file': No such file"]);
    std::fs::write(&strange, "mine").unwrap();
    std::fs::write(&input, "+H:16\n+F:1:aes-128-gcm:5\n").unwrap();
    let words = ["is not a ciphermark record: not overwritten"];
    refuses(&format!("import {input} -o {strange}"), &words);
    assert_eq!(std::fs::read_to_string(&strange).unwrap(), "mine");
}

const BEGINNING: &str = "<!doctype html>\n<!-- ciphermark report -->\n";

fn report(arguments: &[&str]) -> Done {
    ciphermark(&[&["report"], arguments].concat(), b"")
}

/// A copy of a small record in a directory of the test's own.
fn record_in(directory: &Path) -> PathBuf {
    let path = directory.join("r.json");
    std::fs::copy(repository("crates/record/tests/sample.json"), &path).unwrap();
    path
}

#[test]
fn a_pipe_gets_the_page_and_a_file_the_same() {
    let directory = scratch();
    let record = record_in(directory.path());
    let page = directory.path().join("p.html");
    let printed = report(&[arg(&record)]).with_code(0);
    assert!(printed.stdout.starts_with(BEGINNING), "{}", &printed.stdout[..200]);
    assert!(printed.stdout.ends_with("</html>"));
    let written = report(&[arg(&record), "-o", arg(&page)]).with_code(0);
    assert_eq!(written.stdout, "");
    assert!(written.only_line_on_stderr().contains("p.html"));
    assert_eq!(std::fs::read(&page).unwrap(), printed.bytes);
    let dash = report(&[arg(&record), "-o", "-"]).with_code(0);
    assert_eq!(dash.bytes, printed.bytes);
}

#[test]
fn a_terminal_gets_a_file_named_after_the_record_which_replaces_pages_only() {
    let directory = scratch();
    let record = record_in(directory.path());
    let page = directory.path().join("r.html");
    let command = format!("cd '{}' && ciphermark report '{}'", arg(directory.path()), arg(&record));
    assert!(in_terminal(&command).with_code(0).stdout.contains("wrote r.html"));
    assert!(std::fs::read_to_string(&page).unwrap().starts_with(BEGINNING));
    in_terminal(&command).with_code(0);
    std::fs::write(&page, "somebody's").unwrap();
    assert!(in_terminal(&command).with_code(2).stdout.contains("'r.html' exists"));
    assert_eq!(std::fs::read_to_string(&page).unwrap(), "somebody's");
}

#[test]
fn the_survey_with_every_sample_is_a_small_file_that_names_no_other() {
    let page = report(&[&published()]).with_code(0).stdout;
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    for word in ["src=", "@import", "url("] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("The MIT License"), "the chart library's licence goes with it");
}

#[test]
fn a_record_is_never_overwritten_by_its_page() {
    let directory = scratch();
    let record = record_in(directory.path());
    let before = std::fs::read(&record).unwrap();
    let link = directory.path().join("link.html");
    std::os::unix::fs::symlink(&record, &link).unwrap();
    for output in [&record, &link] {
        let words = ["is a record that the page is made from"];
        refuses(&format!("report {} -o {}", arg(&record), arg(output)), &words);
    }
    assert_eq!(std::fs::read(&record).unwrap(), before);
}

#[test]
fn what_cannot_be_read_or_written_is_named() {
    let directory = scratch();
    let record = record_in(directory.path());
    let (record, torn) = (arg(&record), file(&directory, "torn.json"));
    std::fs::write(&torn, "{").unwrap();
    refuses(&format!("report {record} {torn}"), &["torn.json"]);
    let nowhere = format!("report {record} -o /nowhere/p.html");
    refuses(&nowhere, &["cannot write the page '/nowhere/p.html'"]);
    refuses("report", &["RECORD"]);
}
