//! `tls`: handshakes of the machine's own stack, as far as it has one. Nothing here depends on how
//! fast anything is.

use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs until every case has the samples that it needs at least.
pub(crate) fn soon(line: &str, code: i32) -> Done {
    call(&[line, &QUICK.join(" ")].join(" ")).with_code(code)
}

/// The system's libssl and libcrypto of OpenSSL 3, where it has them.
pub(crate) fn system() -> Option<[PathBuf; 2]> {
    let pair = ["libssl.so.3", "libcrypto.so.3"].map(|file| system_libraries().join(file));
    if pair.iter().all(|file| file.is_file()) {
        return Some(pair);
    }
    eprintln!("left out: there is no libssl.so.3");
    None
}

/// The same as a library to be named: no other is loaded.
pub(crate) fn stack() -> Option<String> {
    system().map(|[ssl, _]| format!("system={}", arg(&ssl)))
}

/// Handshakes that are hot, as JSON.
fn handshakes(stack: &str, what: &str, code: i32) -> Value {
    let line = format!("tls handshake -l {stack} -t hot --client-auth no --format json {what}");
    run_of(&soon(&line, code).json())
}

fn records(stack: &str, what: &str, code: i32) -> Value {
    run_of(&records_record(stack, what, code))
}

fn records_record(stack: &str, what: &str, code: i32) -> Value {
    soon(&format!("tls records -l {stack} --format json {what}"), code).json()
}

/// Demands that a row says of resumption what its kind asks for.
fn is_measured_as_asked(row: &Value) -> bool {
    assert_eq!(text(row, "state"), "measured", "{row:#}");
    let resumed = text(row, "case.kind").starts_with("resumed");
    assert_eq!(row["negotiated"]["resumed"], resumed, "{row:#}");
    resumed
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_was_negotiated_stands_in_every_row_with_both_ends_costs() {
    let Some(stack) = stack() else { return };
    let run = handshakes(&stack, "-x x25519,p256 -c p256 -k full,resumed-psk,resumed-id", 0);
    let rows = rows(&run, "rows");
    // TLS 1.3 full and by PSK, 1.2 full and by id, each with two groups.
    assert_eq!(rows.len(), 8, "{run:#}");
    for row in rows {
        let resumed = is_measured_as_asked(row);
        assert_eq!(row["negotiated"]["version"], row["case"]["version"]);
        assert_eq!(row["negotiated"]["signature"].is_null(), resumed, "{row:#}");
        if row["case"]["kind"] != "resumed-id" {
            assert_eq!(row["negotiated"]["group"], row["case"]["exchange"], "{row:#}");
        }
        for end in ["server", "client"] {
            let cost = |what: &str| number(row, &format!("{end}.{what}_ns"));
            assert!(cost("low") <= cost("median") && cost("median") <= cost("high"), "{row:#}");
            assert!(0.0 < cost("setup") && cost("setup") < cost("mean"), "{row:#}");
            assert!(cost("mean") <= cost("max"), "{row:#}");
            assert!(number(row, &format!("bytes.{end}")) > 100.0, "{row:#}");
            assert!(number(row, &format!("memory.{end}")) > 1000.0, "{row:#}");
            assert!(number(row, &format!("first.{end}_ns")) > 0.0, "{row:#}");
        }
    }
}

#[test]
fn what_a_stack_does_not_offer_has_its_own_words_and_no_number() {
    let Some(stack) = stack() else { return };
    // Until 3.5 OpenSSL has no ML-KEM; from then on this is measured.
    let run = handshakes(&stack, "-V 1.3 -x x25519mlkem768 -c p256 -k full", 0);
    for row in rows(&run, "rows") {
        match text(row, "state") {
            "unsupported" => {
                assert!(row["server"].is_null() && row["negotiated"].is_null(), "{row:#}");
                assert!(text(row, "reason").starts_with("SSL_CTX_set1_groups_list"), "{row:#}");
            }
            state => assert_eq!(
                (state, &row["negotiated"]["group"]),
                ("measured", &"x25519mlkem768".into())
            ),
        }
    }
}

#[test]
fn a_table_names_what_lies_inside_the_clock_and_a_file_keeps_the_run() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let file = file(&directory, "tls.json.gz");
    let what = format!("tls handshake -l {stack} -x x25519 -c p256 -k full -V 1.3");
    let what = format!("{what} --client-auth no -t hot -o {file}");
    let done = soon(&what, 0);
    assert!(done.stdout.contains("TLS 1.3 full, aes-128-gcm, hot"), "{}", done.stdout);
    assert!(done.stdout.contains("Inside the clock, each end apart:"), "{}", done.stdout);
    let kept = Command::new("gzip").args(["-dc", &file]).output().unwrap().stdout;
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(kept["details"]["kind"], "tls-handshakes");
    // A run may be replaced by a run, and nothing else by one.
    std::fs::write(&file, "mine").unwrap();
    refuses(&what, &["not overwritten"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

/// rustls, and the system's wolfSSL where there is one.
#[test]
fn stacks_that_have_nothing_of_openssls_are_held_to_their_rows_as_well() {
    let mut stacks = vec![format!("rustls={}", arg(&attached_object("ciphermarktls-rustls-ring")))];
    let wolfssl = system_libraries().join("libwolfssl.so.35");
    if wolfssl.is_file() {
        stacks.push(format!("wolfssl={}", arg(&wolfssl)));
    }
    for stack in stacks {
        let kinds = "full,resumed-id,resumed-ticket,resumed-psk";
        let run = handshakes(&stack, &format!("-x x25519 -c p256 -k {kinds}"), 0);
        assert_eq!(rows(&run, "rows").len(), 5, "{stack}: {run:#}");
        for row in rows(&run, "rows") {
            is_measured_as_asked(row);
        }
    }
}

/// A stack of the system's libssl with a shim before it: `tests/fakes/tls_shim.c`.
fn shimmed(define: &str, directory: &Path) -> Option<String> {
    let [ssl, crypto] = system()?;
    let shim = directory.join("libssl.so");
    let mut cc = fakes::compiler(&shim);
    cc.args(["-O2", "-Wl,--no-as-needed"]).arg(format!("-D{define}"));
    fakes::succeed(cc.arg(repository("tests/fakes/tls_shim.c")).arg(ssl).arg("-ldl"));
    // A copy: the shim is looked for beside the library that is meant, wherever a link would lead.
    std::fs::copy(crypto, directory.join("libcrypto.so")).unwrap();
    Some(format!("{}={}", define.to_lowercase(), arg(&shim)))
}

/// State and reason of a full handshake and of a resumed one in a shimmed stack, with its exit code.
fn full_and_resumed(define: &str, code: i32) -> Option<[(String, String); 2]> {
    let directory = scratch();
    let stack = shimmed(define, directory.path())?;
    let run = handshakes(&stack, "-V 1.3 -x x25519 -c p256 -k full,resumed-psk", code);
    let rows = rows(&run, "rows");
    assert_eq!(rows.len(), 2, "{run:#}");
    Some([0, 1].map(|i| {
        let row = &rows[i];
        let measured = text(row, "state") == "measured";
        assert_eq!((row["server"].is_null(), row["bytes"].is_null()), (!measured, !measured));
        (text(row, "state").to_owned(), text(row, "reason").to_owned())
    }))
}

/// One never resumes, one says resumed of full handshakes, one stops resuming while it is timed, one misnames
/// its suite.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_stack_that_says_what_is_not_so_is_found_by_the_wire_or_by_the_other_end() {
    let measured = ("measured", "");
    let asked = "handshake: resumed was asked for, and full negotiated";
    let wire = ("refused", "handshake: the wire says full, and the client resumed");
    let later = ("refused", "one handshake in between: handshake: resumed was");
    let suite = ("refused", "suite: the wire says 0x1301, and the client 0x1302");
    for (define, code, full, resumed) in [
        ("NEVER_HEARS", 0, measured, Some(("unsupported", asked))),
        ("FORGETS", 3, wire, Some(wire)),
        ("FORGETS_LATER", 3, measured, Some(later)),
        ("MISNAMES", 3, suite, None),
    ] {
        let Some(found) = full_and_resumed(define, code) else { return };
        for ((state, why), wanted) in found.iter().zip([Some(full), resumed]) {
            let Some((wanted, reason)) = wanted else { continue };
            assert!(state == wanted && why.starts_with(reason), "{define}: {found:?}");
        }
    }
}

#[test]
fn records_stand_beside_the_bare_cipher_with_lines_through_their_sizes() {
    let Some(stack) = stack() else { return };
    let record = records_record(&stack, "--cipher aes-128-gcm,aes-128-cbc+sha1 -s 64,1K,16K", 0);
    let run = run_of(&record);
    // GCM in both versions, CBC in TLS 1.2.
    assert_eq!(rows(&run, "rows").len(), 9, "{run:#}");
    for row in rows(&run, "rows") {
        assert_eq!(text(row, "state"), "measured", "{row:#}");
        assert_eq!(row["negotiated"]["version"], row["protection"]["version"], "{row:#}");
        let of_13 = row["protection"]["version"] == "1.3";
        // RFC 8446 5.2: header, content type, tag.
        assert_eq!(row["overhead_bytes"] == 22, of_13, "{row:#}");
        let suite = text(row, "protection.suite");
        assert_eq!(text(row, "bare.algorithm"), suite.split('+').next().unwrap());
        for (end, bare) in [("send", "encrypt"), ("receive", "decrypt")] {
            assert!(number(row, &format!("{end}.median_ns")) > 0.0, "{row:#}");
            assert!(number(row, &format!("bare.{bare}.median_ns")) > 0.0, "{row:#}");
        }
    }
    assert_eq!(rows(&record["details"], "lines").len(), 3, "{run:#}");
    for line in rows(&record["details"], "lines") {
        for what in ["send", "receive", "bare_encrypt", "bare_decrypt"] {
            assert!(number(line, &format!("{what}.ns_per_byte")).is_finite(), "{line:#}");
        }
    }
}

/// What a survey's record can be asked, that of TLS can as well.
#[test]
fn a_run_is_shown_ranked_compared_and_exported_as_any_record() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let path = file(&directory, "tls.json.gz");
    let what = "-x x25519,p256 -c p256 -k full -V 1.3 --client-auth no -t hot";
    let printed = soon(&format!("tls handshake -l {stack} {what} -o {path}"), 0).stdout;
    assert_eq!(call(&format!("show {path}")).with_code(0).stdout, printed);
    let one = call(&format!("show {path} -a *p256?p256*")).with_code(0).stdout;
    assert!(one.contains("p256") && !one.contains("x25519"), "{one}");

    let ranked = call(&format!("rank {path} --direction client")).with_code(0).stdout;
    assert!(ranked.contains("fastest on client (model handshake"), "{ranked}");
    assert!(ranked.contains("µs/op") && !ranked.contains("MB/s"), "{ranked}");
    let ranked = call(&format!("rank {path} -m handshake --per algorithm")).with_code(0).stdout;
    assert!(ranked.contains("1.3 p256 p256 full"), "{ranked}");
    refuses(&format!("rank {path} --setting cold"), &["no setting 'cold', only hot"]);
    refuses("run -m handshake", &["invalid value 'handshake'"]);
    refuses("rank -m handshake --per library", &["`ciphermark tls`"]);

    let same = call(&format!("compare {path} {path}")).with_code(0).stdout;
    assert!(same.contains("4 same (the very same samples)"), "{same}");
    let csv = call(&format!("show {path} --format csv")).with_code(0).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let column = |name: &str| reader.headers().unwrap().iter().position(|h| h == name).unwrap();
    let [direction, setting, speed] = ["direction", "setting", "mb_per_s"].map(column);
    let found: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let parts: Vec<&str> = found.iter().map(|row| &row[direction]).collect();
    assert_eq!(parts, ["server", "client", "server", "client"]);
    assert!(found.iter().all(|row| &row[setting] == "hot" && row[speed].is_empty()), "{csv}");
    let parquet = file(&directory, "tls.parquet");
    call(&format!("export {path} --format parquet -o {parquet}")).with_code(0);
    assert!(std::fs::read(parquet).unwrap().starts_with(b"PAR1"));
    refuses(&format!("show {path} --format openssl"), &["is no survey"]);
    refuses(&format!("explain {path}"), &["is no survey"]);
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn records_that_are_not_what_they_should_be_are_refused() {
    for (define, why) in [
        ("SPLITS", "2 records for 1 writes"),
        ("TAKES_ALL", "a record that was changed on the way was taken all the same"),
        ("GARBLES", "what was received is not what was sent"),
    ] {
        let directory = scratch();
        let Some(stack) = shimmed(define, directory.path()) else { return };
        let run = records(&stack, "-V 1.3 --cipher aes-128-gcm -s 64", 3);
        let row = &run["rows"][0];
        assert_eq!((text(row, "state"), text(row, "reason")), ("refused", why), "{define}");
        assert!(row["send"].is_null() && row["overhead_bytes"].is_null(), "{row:#}");
    }
}

#[test]
fn what_cannot_be_gets_one_line_that_helps() {
    for (line, words) in [
        ("handshake -x x25591", &["'x25591'", "did you mean 'x25519'?"][..]),
        ("handshake -V 1.3 -x rsa", &["do not go together"]),
        ("records -s 32K", &["1 to 16384 bytes of data (RFC 8446 5.1), not 32768"]),
        ("records -V 1.3 --cipher aes-128-cbc+sha1", &["do not go together"]),
        ("primitives -p ecdsa-p265", &["'ecdsa-p265'", "did you mean 'ecdsa-p256'?"]),
        ("primitives -p sha256 -O sign", &["no such operations"]),
        ("primitives -s 32K", &["1 to 16384 bytes of data (RFC 8446 5.1), not 32768"]),
    ] {
        refuses(&format!("tls {line}"), words);
    }
    let done = call(&format!("tls handshake -l {}", fakes::library("correct"))).with_code(4);
    assert!(done.only_line_on_stderr().contains("no TLS stack: none of correct@1.0"), "{done:?}");
}
