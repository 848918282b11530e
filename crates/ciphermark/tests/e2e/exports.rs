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
    let (record, file) = (record(), directory.path().join("out"));
    for format in ["table", "csv", "jsonl", "markdown", "openssl", "openssl-mr", "parquet"] {
        let printed = ciphermark(&["show", record, "--format", format], b"").with_code(0);
        let export = ["export", record, "--format", format, "-o", arg(&file)];
        let written = ciphermark(&export, b"").with_code(0);
        assert_eq!((written.stdout.as_str(), written.stderr.as_str()), ("", ""));
        assert_eq!(std::fs::read(&file).unwrap(), printed.bytes, "{format}");
    }
}

#[test]
fn no_record_is_overwritten_by_what_is_made_from_one() {
    let directory = scratch();
    let copy = directory.path().join("r.json");
    std::fs::copy(record(), &copy).unwrap();
    let why = refusal(&["export", record(), "--format", "csv", "-o", arg(&copy)]);
    assert!(why.contains("is a ciphermark record: not overwritten"), "{why}");
    let nowhere = ["export", record(), "--format", "csv", "-o", "/no/such/place/r.csv"];
    let done = ciphermark(&nowhere, b"").with_code(4);
    assert!(done.only_line_on_stderr().contains("cannot write '/no/such/place/r.csv'"));
}

#[test]
fn parquet_is_not_written_to_a_terminal() {
    let shown = record();
    let done = in_terminal(&format!("ciphermark show '{shown}' --format parquet")).with_code(2);
    assert!(done.stdout.contains("Parquet is no text"), "{done:?}");
}

#[test]
fn what_is_exported_in_the_words_of_openssl_speed_is_imported_again() {
    let printed = ciphermark(&["export", record(), "--format", "openssl-mr"], b"");
    let printed = printed.with_code(0).stdout;
    assert!(printed.contains("+F:25:aes-128-gcm:8192000000.00"), "{printed}");
    let again = ["import", "openssl-speed", "-", "--format", "json"];
    let rows = measurements(&ciphermark(&again, printed.as_bytes()).with_code(0).stdout);
    let row = where_(&rows, &[("state", "imported"), ("algorithm", "aes-128-gcm")])[0];
    assert_eq!(row["mb_per_s"], 8192.0);
    assert_eq!(row["checks"].as_array().unwrap().len(), 0);
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
    let both = directory.path().join("both.json");
    let table = repository("claims/tables/highgo.csv");
    let record = record();
    let import = ["import", "table", arg(&table), "--beside", record, "-o", arg(&both)];
    ciphermark(&import, b"").with_code(0);
    let show =
        |format: &str| ciphermark(&["show", arg(&both), "--format", format], b"").with_code(0);
    let own = measurements(&std::fs::read_to_string(record).unwrap()).len();
    assert_eq!(measurements(&show("json").stdout).len(), own + 85);
    for format in ["table", "markdown"] {
        let text = show(format).stdout;
        assert!(text.contains("†6338") && text.contains("imported and unverified"), "{text}");
        assert!(text.contains("Shawn Wang (HighGo Software)"), "{text}");
    }
    assert_eq!(show("csv").stdout.matches(",imported,").count(), 85);
    // Figures that nobody verified are not handed on as if they were.
    assert!(!show("openssl-mr").stdout.contains("aes-128-ecb"));
    let only = ["show", arg(&both), "-l", "openssl@1.0.2k", "-a", "aes-128-ecb", "-t", "native"];
    let text = ciphermark(&only, b"").with_code(0).stdout;
    assert!(text.contains("†"), "{text}");
}

#[test]
fn every_published_table_is_imported() {
    for name in ["highgo", "asecuritysite", "tls"] {
        let table = repository(&format!("claims/tables/{name}.csv"));
        ciphermark(&["import", "table", arg(&table)], b"").with_code(0);
    }
    let table = repository("claims/tables/transactional.csv");
    let why = refusal(&["import", "table", arg(&table)]);
    assert!(why.contains("53 of 53 rows have no size"), "{why}");
    ciphermark(&["import", "table", arg(&table), "--size", "8K"], b"").with_code(0);
}

#[test]
fn hostile_input_gets_one_line_and_harms_nothing() {
    let directory = scratch();
    let file = directory.path().join("in");
    let cases: [(&str, &[u8], &str); 7] = [
        ("openssl-speed", b"", "no line of it is a figure"),
        ("openssl-speed", b"\xff\xfe", "is not text (byte 0 is not UTF-8)"),
        ("openssl-speed", b"+H:1\x1b[2J6\n", "line 1: '1[2J6' is no number of bytes"),
        ("openssl-speed", b"+H:16\n+F:1:a:b\n", "line 2: 'b' is no number"),
        ("table", b"library,algorithm,size,mb_per_s\n", "no line says where the table comes from"),
        (
            "table",
            b"# source: s\nlibrary,algorithm,size,mb_per_s\na,b,16,NaN\n",
            "line 3: mb_per_s 'NaN' is no positive number",
        ),
        ("table", b"# source: s\n\"", "line 2: unknown column"),
    ];
    for (what, input, expected) in cases {
        std::fs::write(&file, input).unwrap();
        let why = refusal(&["import", what, arg(&file)]);
        assert!(why.contains(expected), "{why}");
    }
    let why = refusal(&["import", "table", "/no/such/file"]);
    assert!(why.contains("cannot read '/no/such/file': No such file"), "{why}");
    let strange = directory.path().join("notes.txt");
    std::fs::write(&strange, "mine").unwrap();
    std::fs::write(&file, "+H:16\n+F:1:aes-128-gcm:5\n").unwrap();
    let why = refusal(&["import", "openssl-speed", arg(&file), "-o", arg(&strange)]);
    assert!(why.contains("is no ciphermark record: not overwritten"), "{why}");
    assert_eq!(std::fs::read_to_string(&strange).unwrap(), "mine");
}
