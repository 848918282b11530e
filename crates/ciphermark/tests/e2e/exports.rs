//! Records in other programs' formats, and other programs' figures in records.

use crate::support::*;
use std::process::Command;

/// Versions with wheels for Python 3.9 to 3.13.
const PACKAGES: [(&str, &str); 3] =
    [("pandas", "2.2.3"), ("pyarrow", "19.0.1"), ("duckdb", "1.2.2")];

/// A small record with a row in every state.
fn record() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/sample.json")
}

#[test]
#[ignore = "long: packages from PyPI"]
fn pandas_and_duckdb_read_the_rows_and_numbers_of_the_record() {
    let python = python_with("tables", &PACKAGES);
    let directory = scratch();
    let mut command = Command::new(python);
    command.arg(repository("tests/python/tables.py")).arg(program()).arg(record());
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
    let (record, file) = (record(), file(&directory, "out"));
    for format in ["table", "csv", "jsonl", "markdown", "openssl", "openssl-mr", "parquet"] {
        let printed = call(&format!("show {record} --format {format}")).with_code(0);
        let written = call(&format!("export {record} --format {format} -o {file}")).with_code(0);
        assert_eq!((written.stdout.as_str(), written.stderr.as_str()), ("", ""));
        assert_eq!(std::fs::read(&file).unwrap(), printed.bytes, "{format}");
    }
}

#[test]
fn no_record_is_overwritten_by_what_is_made_from_one() {
    let directory = scratch();
    let copy = file(&directory, "r.json");
    std::fs::copy(record(), &copy).unwrap();
    let export = format!("export {} --format csv -o", record());
    refuses(&format!("{export} {copy}"), &["is a ciphermark record: not overwritten"]);
    let done = call(&format!("{export} /no/such/place/r.csv")).with_code(4);
    assert!(done.only_line_on_stderr().contains("cannot write '/no/such/place/r.csv'"));
}

#[test]
fn parquet_is_not_written_to_a_terminal() {
    let shown = record();
    let done = in_terminal(&format!("ciphermark show '{shown}' --format parquet")).with_code(2);
    assert!(done.stdout.contains("Parquet is not text"), "{done:?}");
}

#[test]
fn what_the_machines_own_openssl_speed_prints_is_imported() {
    for flags in [&["-mr"][..], &[]] {
        let mut speed = Command::new("openssl");
        speed.args(["speed", "-seconds", "1", "-bytes", "1024", "-evp", "aes-128-gcm"]).args(flags);
        let output = speed.output().expect("the machine has openssl");
        // As with 2>&1: the tests go to standard error, the results to standard output.
        let both = [output.stderr, output.stdout].concat();
        let import = ["import", "openssl-speed", "-", "--format", "json"];
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
    let table = published("highgo");
    call(&format!("import table {table} --beside {} -o {both}", record())).with_code(0);
    let show = |format: &str| call(&format!("show {both} --format {format}")).with_code(0);
    let own = rows(&read(record()), "measurements").len();
    assert_eq!(measurements(&show("json").stdout).len(), own + 85);
    for format in ["table", "markdown"] {
        let text = show(format).stdout;
        assert!(text.contains("†6338") && text.contains("imported and unverified"), "{text}");
        assert!(text.contains("Shawn Wang (HighGo Software)"), "{text}");
    }
    assert_eq!(show("csv").stdout.matches(",imported,").count(), 85);
    // Figures that nobody verified are not handed on as if they were.
    assert!(!show("openssl-mr").stdout.contains("aes-128-ecb"));
    let only = format!("show {both} -l openssl@1.0.2k -a aes-128-ecb -t native");
    let text = call(&only).with_code(0).stdout;
    assert!(text.contains("†"), "{text}");
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
    let done = call(&format!("import openssl-speed {input} --beside {} -o {both}", record()));
    let told: Vec<&str> = done.stderr.lines().collect();
    for said in
        ["hmac-sha256 at 16384 B: no core can reach", "only 0.01 s of CPU time in a test of 3 s"]
    {
        assert_eq!(told.iter().filter(|line| line.contains(said)).count(), 1, "{told:?}");
    }
    let show = |rest: &str| call(&format!("show {both} {rest}")).with_code(0).stdout;
    for format in ["table", "markdown"] {
        let text = show(&format!("-s 16K -m stream --format {format}"));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let marked = ["†?132710", "†?2130", "NOT TO BE BELIEVED at 16K: no core can", "†131.5"];
        for said in [&marked[..], &["no CPU time at 8192 bytes", "†?: not to be believed"]].concat()
        {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
    assert_eq!(show("--format csv").matches(",no core can reach 132710 MB/s").count(), 1);
    refuses(&format!("rank {both} -a aes-256-cbc-hmac-sha256 -s 16K"), &["no measured case"]);
}

/// A table of published figures.
fn published(name: &str) -> String {
    arg(&repository(&format!("claims/tables/{name}.csv"))).to_owned()
}

#[test]
fn every_published_table_is_imported() {
    for name in ["highgo", "asecuritysite", "tls"] {
        call(&format!("import table {}", published(name))).with_code(0);
    }
    let table = published("transactional");
    refuses(&format!("import table {table}"), &["53 of 53 rows have no size"]);
    call(&format!("import table {table} --size 8K")).with_code(0);
}

#[test]
fn what_is_no_figure_gets_one_line_and_no_other_file_is_overwritten() {
    let directory = scratch();
    let (input, strange) = (file(&directory, "in"), file(&directory, "notes.txt"));
    for (what, text, expected) in [
        ("openssl-speed", "+H:1\x1b[2J6\n", "line 1: '1[2J6' is no number of bytes"),
        ("table", "library,algorithm,size,mb_per_s\n", "no line says where the table comes from"),
    ] {
        std::fs::write(&input, text).unwrap();
        refuses(&format!("import {what} {input}"), &[expected]);
    }
    refuses("import table /no/such/file", &["cannot read '/no/such/file': No such file"]);
    std::fs::write(&strange, "mine").unwrap();
    std::fs::write(&input, "+H:16\n+F:1:aes-128-gcm:5\n").unwrap();
    let words = ["is not a ciphermark record: not overwritten"];
    refuses(&format!("import openssl-speed {input} -o {strange}"), &words);
    assert_eq!(std::fs::read_to_string(&strange).unwrap(), "mine");
}
