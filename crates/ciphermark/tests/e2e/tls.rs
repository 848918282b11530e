//! `tls`: handshakes, records and primitives of the machine's own stack, as far as it has one, and of shims
//! that cheat; and the group that each libssl at hand picks, read from the wire. `tls load`, `tls why`, `tls
//! calibrate` and `tls load --validate`: calculated from a calibration whose costs are known, and counted with
//! nginx on the loopback. What a validation finds is not looked at, only that it is told. Nothing here depends on
//! how fast anything is.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use crate::support::{fakes, *};
use judge::load::{Agreement, ClientShare, Picking, Settings, Spec, outcomes};
use record::tls::{Certificate, Kind, Version};
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

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
    let line =
        format!("tls handshake -l {stack} --temperature hot --client-auth no --format json {what}");
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

/// Demands that a row's costs of this part are in order.
fn is_in_order(row: &Value, part: &str) {
    let cost = |what: &str| number(row, &format!("{part}.{what}_ns"));
    assert!(0.0 < cost("low") && cost("low") <= cost("median"), "{row:#}");
    assert!(cost("median") <= cost("high") && cost("mean") <= cost("max"), "{row:#}");
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
            is_in_order(row, end);
            assert!(0.0 < cost("setup") && cost("setup") < cost("mean"), "{row:#}");
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
            state => {
                assert_eq!((state, text(row, "negotiated.group")), ("measured", "x25519mlkem768"));
            }
        }
    }
}

/// Without a selection, what people ask is answered in a screen; `--all` prints the table of the same rows.
#[test]
#[ignore = "long: measures for seconds"]
fn without_a_selection_the_answer_fits_a_screen() {
    let Some(stack) = stack() else { return };
    for command in ["handshake", "records", "primitives"] {
        let done = soon(&format!("tls {command} -l {stack}"), 0);
        let lines: Vec<&str> = done.stdout.lines().collect();
        assert!(lines.len() <= 40, "{}", done.stdout);
        assert!(lines.iter().all(|line| line.chars().count() <= 100), "{}", done.stdout);
        let next = format!("ciphermark tls {command} --thorough");
        says(&done.stdout, [&*next]);
        assert!(!done.stdout.contains("Inside the clock"), "{}", done.stdout);
        soon(&format!("tls {command} -l {stack} --all"), 0).says(["Inside the clock"]);
    }
}

/// rustls, and the system's wolfSSL where there is one.
#[test]
#[ignore = "long: measures for seconds"]
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
    compile(&shim, "tls_shim.c", &[define], &[arg(&ssl)]);
    // A copy: the shim is looked for beside the library that is meant, wherever a link would lead.
    std::fs::copy(crypto, directory.join("libcrypto.so")).unwrap();
    Some(format!("{}={}", define.to_lowercase(), arg(&shim)))
}

fn compile(object: &Path, source: &str, defines: &[&str], more: &[&str]) {
    let mut cc = fakes::compiler(object);
    cc.args(["-O2", "-Wl,--no-as-needed"]).args(defines.iter().map(|d| format!("-D{d}")));
    fakes::succeed(cc.arg(repository("tests/fakes").join(source)).args(more).arg("-ldl"));
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
#[ignore = "long: measures for seconds"]
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
#[ignore = "long: seconds"]
fn a_run_is_kept_shown_ranked_compared_and_exported_as_any_record() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let path = file(&directory, "tls.json.gz");
    let what = "-x x25519,p256 -c p256 -k full -V 1.3 --client-auth no --temperature hot";
    let run = format!("tls handshake -l {stack} {what} -o {path}");
    let words = ["TLS 1.3 full, aes-128-gcm, hot", "Inside the clock, each end apart:"];
    let printed = soon(&run, 0).says(words).stdout;
    let kept = Command::new("gzip").args(["-dc", &path]).output().unwrap().stdout;
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(kept["details"]["kind"], "tls-handshakes");
    assert_eq!(call(&format!("show {path}")).with_code(0).stdout, printed);
    let one = call(&format!("show {path} -a *p256?p256*")).with_code(0).stdout;
    assert!(one.contains("p256") && !one.contains("x25519"), "{one}");

    let ranked = call(&format!("rank {path} --direction client")).with_code(0).stdout;
    says(&ranked, ["fastest on client (model handshake"]);
    assert!(ranked.contains("µs/op") && !ranked.contains("MB/s"), "{ranked}");
    let ranked = call(&format!("rank {path} -m handshake --per algorithm")).with_code(0).stdout;
    says(&ranked, ["1.3 p256 p256 full"]);
    refuses(&format!("rank {path} --setting cold"), &["no setting 'cold', only hot"]);
    refuses("run -m handshake", &["invalid value 'handshake'"]);
    refuses("rank -m handshake --per library", &["`ciphermark tls`"]);

    let same = call(&format!("compare {path} {path}")).with_code(0).stdout;
    says(&same, ["4 same (the very same samples)"]);
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
    // A run may be replaced by a run, and nothing else by one.
    std::fs::write(&path, "mine").unwrap();
    refuses(&run, &["not overwritten"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}

/// BoringSSL has a function of its own for the suites of TLS 1.3.
#[test]
#[ignore = "long: a bundled library"]
fn a_boringssl_negotiates_the_suite_of_tls_13_that_it_is_asked_for() {
    let built = std::env::var_os("CIPHERMARK_LIBS").map(PathBuf::from);
    let ssl = built.unwrap_or_else(|| repository("target/libs")).join("boringssl/libssl.so");
    if !ssl.is_file() {
        eprintln!("left out: no BoringSSL was built (make libs)");
        return;
    }
    let suites = "aes-128-gcm,aes-256-gcm,chacha20-poly1305";
    let run =
        records(&format!("boringssl={}", arg(&ssl)), &format!("-V 1.3 --cipher {suites} -s 64"), 0);
    assert_eq!(rows(&run, "rows").len(), 3, "{run:#}");
    for row in rows(&run, "rows") {
        assert_eq!(text(row, "state"), "measured", "{row:#}");
    }
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
    call(&format!("tls handshake -l {}", fakes::library("correct")))
        .ends(4, ["no TLS stack: none of correct@1.0"]);
}

// `tls primitives`: what lies under a handshake, in the machine's own libcrypto, as far as it has one, and
// in one that cheats.

fn primitives(stack: &str, what: &str, code: i32) -> Value {
    run_of(&soon(&format!("tls primitives -l {stack} --format json {what}"), code).json())
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn every_row_has_both_spans_and_what_it_was_held_to() {
    let Some(stack) = stack() else { return };
    let some =
        "x25519,x448,p521,ecdsa-p256,ecdsa-p521,rsa-2048-pss,ed25519,ed448,sha256,hmac-sha384";
    let run = primitives(&stack, &format!("-p {some} -s 64,1400"), 0);
    let all = rows(&run, "rows");
    // Three key exchanges, five signatures made and verified, two digests of two sizes.
    assert_eq!(all.len(), 6 + 10 + 4, "{run:#}");
    for row in all {
        assert_eq!(text(row, "state"), "measured", "{row:#}");
        assert!(!rows(row, "checks").is_empty(), "{row:#}");
        ["whole", "call"].iter().for_each(|span| is_in_order(row, span));
        let is_digest = row["primitive"]["operation"] == "digest";
        assert_eq!(row["primitive"]["size"].is_null(), !is_digest, "{row:#}");
    }
    let answers = all.iter().filter(|row| row["checks"].to_string().contains("known answer"));
    // Three agreements, two signatures of Ed25519's family, the digests.
    assert_eq!(answers.count(), 3 + 2 + 4, "{run:#}");
}

#[test]
fn what_a_library_does_not_offer_has_its_own_words_and_no_number() {
    let Some(stack) = stack() else { return };
    // Until 3.5 OpenSSL has no ML-KEM and no ML-DSA; from then on this is measured.
    let some = "mlkem512,mlkem768,mlkem1024,x25519mlkem768,secp256r1mlkem768,secp384r1mlkem1024";
    let run = primitives(&stack, &format!("-p {some},mldsa44,mldsa65,mldsa87"), 0);
    assert_eq!(rows(&run, "rows").len(), 6 * 3 + 3 * 2, "{run:#}");
    for row in rows(&run, "rows") {
        match text(row, "state") {
            "unsupported" => {
                assert!(row["whole"].is_null() && row["call"].is_null(), "{row:#}");
                let signs = row["primitive"]["scheme"].to_string().contains("mldsa");
                let call =
                    if signs { "PEM_read_bio_PrivateKey" } else { "EVP_PKEY_CTX_new_from_name" };
                assert!(text(row, "reason").starts_with(&format!("{call} of ")), "{row:#}");
            }
            state => assert_eq!(state, "measured", "{row:#}"),
        }
    }
}

#[test]
#[ignore = "long: seconds"]
fn a_table_says_what_lies_inside_the_clock() {
    let Some(stack) = stack() else { return };
    let done = soon(&format!("tls primitives -l {stack} -p sha256 -s 64"), 0);
    says(&done.stdout, ["whole µs", "64 B", "as openssl speed has it"]);
}

/// A libcrypto with `tests/fakes/crypto_shim.c` before it.
fn shimmed_crypto(define: &str, directory: &Path) -> Option<String> {
    let shim = shim("crypto_shim.c", &[define], directory)?;
    Some(format!("{}={}", define.to_lowercase(), arg(&shim)))
}

/// A libcrypto with a source of `tests/fakes` before it. The real one goes by another name, so that no
/// other of its name is found beside the one that is meant.
pub(crate) fn shim(source: &str, defines: &[&str], directory: &Path) -> Option<PathBuf> {
    let [ssl, crypto] = system()?;
    for (from, to) in [(ssl, "libssl.so"), (crypto, "zibcrypto.so.3")] {
        let mut bytes = std::fs::read(from).unwrap();
        let name = b"libcrypto.so.3";
        let windows = bytes.windows(name.len()).enumerate();
        let places: Vec<usize> = windows.filter(|(_, w)| w == name).map(|(i, _)| i).collect();
        assert!(!places.is_empty(), "{to}");
        places.iter().for_each(|at| bytes[*at] = b'z');
        std::fs::write(directory.join(to), bytes).unwrap();
    }
    let shim = directory.join("libcrypto.so");
    // Workers load a copy of the shim, which lies elsewhere.
    let beside = format!("-Wl,-rpath,{}", arg(directory));
    compile(&shim, source, defines, &[arg(&directory.join("zibcrypto.so.3")), &beside]);
    Some(shim)
}

#[test]
#[ignore = "long: several surveys"]
fn a_library_that_cheats_is_refused_by_what_its_calls_left() {
    for (define, what, operation, why) in [
        ("SIGNS_ONCE", "ecdsa-p256", "sign", "the signature does not verify"),
        ("TAKES_EVERY_SIGNATURE", "rsa-2048-pss", "verify", "a changed bit was not noticed"),
        ("RETURNS_EARLY", "x25519", "agree", "the secret is not the one that the other side has"),
        ("ONE_KEY", "p256", "generate", "two new keys are the same"),
        ("DIGESTS_THE_BEGINNING", "sha256", "digest", "the digest is wrong"),
    ] {
        let directory = scratch();
        let Some(stack) = shimmed_crypto(define, directory.path()) else { return };
        let run = primitives(&stack, &format!("-p {what} -O {operation} -s 1400"), 3);
        let row = &run["rows"][0];
        assert_eq!((text(row, "state"), text(row, "reason")), ("refused", why), "{define}");
        assert!(row["whole"].is_null() && row["checks"] == serde_json::json!([]), "{row:#}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_page_has_a_run_of_each_kind() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let handshake = "handshake -V 1.3 -x x25519 -c p256 -k full --client-auth no --temperature hot";
    let kinds =
        ["primitives -p sha256 -s 64", "records -V 1.3 --cipher aes-128-gcm -s 64", handshake];
    let names = ["primitives.json", "records.json", "handshakes.json.gz"];
    let paths = names.map(|name| file(&directory, name));
    for (what, path) in kinds.iter().zip(&paths) {
        soon(&format!("tls {what} -l {stack} -o {path}"), 0);
    }
    let page = file(&directory, "page.html");
    call(&format!("report {} -o {page}", paths.join(" "))).with_code(0);
    let html = std::fs::read_to_string(page).unwrap();
    says(&html, ["TLS handshakes", "TLS records", "under a TLS handshake"]);
}

// The group that each libssl at hand picks is the one that the model has, and it asks the client again where the
// model says so: read from the wire, both ends in memory.

/// Where the test of one library finds its libssl. A process holds one: two of the same name would be bound to one
/// libcrypto.
const LIBSSL: &str = "CIPHERMARK_TEST_LIBSSL";

/// Groups of a server, where any are named, and of a client with a key share of its first.
const LISTS: [(Option<&str>, &str); 11] = [
    (None, "X25519:P-256"),
    (None, "P-256:X25519"),
    (None, "P-384:X25519"),
    (None, "P-384:P-256"),
    (None, "X25519:X25519MLKEM768"),
    (None, "X25519MLKEM768:X25519"),
    (Some("X25519:P-256:P-384"), "P-384:X25519"),
    (Some("P-384:P-256"), "X25519:P-256:P-384"),
    (Some("P-384:P-256"), "X25519:P-384:P-256"),
    (Some("X25519MLKEM768:X25519:P-256:P-384"), "X25519:X25519MLKEM768"),
    (Some("P-256/X25519"), "X25519:P-256"),
];

/// The system's libssl, and those that were built.
fn libraries() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let built = std::env::var_os("CIPHERMARK_LIBS").map(PathBuf::from);
    let entries = std::fs::read_dir(built.unwrap_or_else(|| root.join("target/libs")));
    let below = entries.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let system = Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let files = |directory: PathBuf| [3, 4].map(|n| directory.join(format!("libssl.so.{n}")));
    let all = std::iter::once(system).chain(below).flat_map(files);
    all.filter(|file| file.is_file() && version(file).is_some()).collect()
}

fn crypto(ssl: &Path) -> PathBuf {
    let ending = ssl.file_name().unwrap().to_str().unwrap().strip_prefix("libssl").unwrap();
    ssl.with_file_name(format!("libcrypto{ending}"))
}

/// `3.5.5`, as its libcrypto has it among its texts; none of those that are not OpenSSL.
fn version(ssl: &Path) -> Option<String> {
    let bytes = std::fs::read(crypto(ssl)).ok()?;
    let starts = bytes.windows(9).enumerate().filter(|(_, w)| w.starts_with(b"OpenSSL "));
    let mut numbers = starts.filter(|(_, w)| w[8].is_ascii_digit()).map(|(at, _)| &bytes[at + 8..]);
    let number = numbers.next()?.iter().take_while(|b| b.is_ascii_digit() || **b == b'.');
    Some(number.map(|b| char::from(*b)).collect())
}

/// What the model has: the group's name, and whether the client is asked again.
fn modelled(picking: Picking, server: Option<&str>, client: &str) -> Option<(String, bool)> {
    let versions = Some(vec![Version::Tls13]);
    let spec = Spec {
        server: Settings {
            versions: versions.clone(),
            groups: server.map(str::to_owned),
            certificates: vec![Certificate::P256],
            ..Settings::default()
        },
        clients: vec![ClientShare {
            versions,
            groups: Some(client.to_owned()),
            ..ClientShare::of("a client of one's own", 1.0)
        }],
        ..Spec::default()
    };
    match &outcomes(&spec, picking, &[]).unwrap()[0].agreement {
        Agreement::Agreed { case, .. } => {
            Some((case.exchange.group().unwrap().to_string(), case.kind == Kind::HelloRetry))
        }
        _ => None,
    }
}

#[test]
fn every_libssl_at_hand_picks_the_group_that_the_model_has() {
    let all = libraries();
    if all.is_empty() {
        eprintln!("left out: there is no libssl");
    }
    for ssl in all {
        let mut one = Command::new(std::env::current_exe().unwrap());
        one.args(["--exact", "tls::one_libssl_picks_the_group_that_the_model_has", "--nocapture"]);
        let done = one.env(LIBSSL, &ssl).env("OPENSSL_CONF", "/dev/null").output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned()
            + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.contains("1 passed"), "{}: {said}", ssl.display());
    }
}

/// Does nothing by itself: the test above starts it, once for each library.
#[test]
fn one_libssl_picks_the_group_that_the_model_has() {
    let Some(ssl) = std::env::var_os(LIBSSL).map(PathBuf::from) else { return };
    let version = version(&ssl).unwrap();
    let picking = Picking::of("openssl", &version);
    let stack = adapters::stacks::load(&ssl, Some(&crypto(&ssl))).unwrap();
    let mut compared = 0;
    for (server, client) in LISTS {
        let names_mlkem = [server.unwrap_or_default(), client].concat().contains("MLKEM");
        let has_tuples = picking == Picking::ByTuple;
        if !has_tuples && (names_mlkem || server.is_some_and(|list| list.contains('/'))) {
            // What came with 3.5, older ones do not take.
            assert!(stack.pick(server, client).is_err(), "{version} {server:?} {client}");
            continue;
        }
        let seen = stack.pick(server, client);
        let seen = seen.unwrap_or_else(|why| panic!("{version} {server:?} {client}: {why}"));
        let seen = seen.group.map(|group| (group.to_string(), seen.hello_retry));
        assert_eq!(seen, modelled(picking, server, client), "{version} {server:?} {client}");
        compared += 1;
    }
    assert!(compared >= 7, "{compared}");
}

fn calibration() -> (TempDir, String) {
    let directory = scratch();
    let text = serde_json::to_string(&judge::load::sample::calibration()).unwrap();
    let path = written(&directory, "cal.json", text);
    (directory, path)
}

fn with_calibration(line: &str, calibration: &str) -> Done {
    call(&format!("tls {line} --calibration {calibration}")).with_code(0)
}

fn example() -> String {
    arg(&repository("docs/examples/tls-site.toml")).to_owned()
}

#[test]
fn the_example_is_calculated_explained_and_kept() {
    let (directory, path) = calibration();
    let (kept, spec) = (file(&directory, "load.json.gz"), example());
    let load =
        with_calibration(&format!("load {spec} --explain --format json -o {kept}"), &path).json();
    keeps_to(&load, "docs/tls-load.schema.json");
    let shares: f64 = rows(&load, "terms").iter().map(|term| number(term, "share")).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    assert!(rows(&load, "alternatives").len() > 5);
    assert!(std::path::Path::new(&kept).is_file());
    keeps_to(&load["spec"], "docs/tls-load-spec.schema.json");
    with_calibration(&format!("load {spec}"), &path).says(["most connections a second"]);
}

#[test]
fn both_examples_are_read_and_the_old_one_pays_for_its_settings() {
    let (_directory, path) = calibration();
    let spec = arg(&repository("docs/examples/tls-2016.toml")).to_owned();
    let why = format!("why --from 0.5% --to 2..3% --spec {spec} --format json");
    let why = with_calibration(&why, &path).json();
    let verdict = |words: &str| {
        let mut changes = rows(&why, "changes").iter();
        let found = changes.find(|change| text(change, "change").contains(words)).unwrap();
        text(found, "verdict").to_owned()
    };
    assert_eq!(verdict("AES-128-GCM before"), "cannot");
    assert_ne!(verdict("no DHE"), "cannot");
}

#[test]
fn what_is_typed_goes_before_the_file() {
    let (_directory, path) = calibration();
    let of = |flags: &str| {
        with_calibration(&format!("load {} --format json {flags}", example()), &path).json()
    };
    let cpu = |flags: &str| number(&of(flags), "cpu_us_per_s.value");
    assert!(cpu("--connections 40") > cpu(""));
    assert!(cpu("--certificate rsa-4096") > cpu("--certificate p256,rsa-2048"));
    let old = of("--ciphers EDH+AESGCM --dh ffdhe4096 --client ie-11-win7");
    let agreed = &old["negotiated"][0]["agreement"]["agreed"];
    assert_eq!(agreed["case"]["exchange"], "ffdhe4096");
}

#[test]
fn a_rise_is_answered_and_cpu_alone_does_not_decide() {
    let (_directory, path) = calibration();
    let why = "why --from 0.5% --to 2..3% --slower 1.3..2.5";
    let text = with_calibration(why, &path).stdout;
    says(&text, ["Cannot decide from CPU % alone", "$ssl_session_reused", "$ssl_cipher", "Mbit"]);
    let why = with_calibration(&format!("{why} --spec {} --format json", example()), &path).json();
    keeps_to(&why, "docs/tls-why.schema.json");
    assert!(!rows(&why, "changes").is_empty());
}

/// It would take minutes: that there is no nginx at the place that was named ends it at once.
#[test]
fn without_a_calibration_a_load_begins_to_measure_one_and_a_rise_names_the_command() {
    says(call("tls load --nginx /nonexistent/nginx").with_code(4).stderr, ["/nonexistent/nginx"]);
    says(call("tls why --from 1% --to 2%").with_code(4).stderr, ["tls calibrate -o"]);
}

#[test]
fn the_help_names_every_class_of_clients() {
    let help = call("tls load --help").with_code(0).stdout;
    for (class, _) in judge::load::client_classes() {
        assert!(help.contains(class), "{class}");
    }
}

#[test]
fn wrong_input_is_named_in_one_line() {
    let (directory, path) = calibration();
    let wrong = written(&directory, "wrong.toml", "[traffic]\nconnection_per_s = 3\n");
    for (line, named) in [
        (&*format!("load {wrong}"), "connection_per_s"),
        ("load --connections -3", "-3"),
        ("load --profile modernn", "modernn"),
        ("load --groups X25518", "X25518"),
        ("load --client netscape", "netscape"),
        ("load --ciphers RC4 --client chrome-49", "RC4"),
        ("load --regime low,steady", "--regime: give one"),
        ("why --from 3% --to 2%", "no rise"),
        ("why --from 1% --to 2% --slower 0", "above 0"),
        (&format!("load -o {wrong}"), "not overwritten"),
    ] {
        refuses(&format!("tls {line} --calibration {path}"), &[named]);
    }
    refuses(&format!("tls load --calibration {wrong}"), &["wrong.toml"]);
    assert!(std::fs::read_to_string(&wrong).unwrap().contains("connection_per_s"));
}

// `tls calibrate` and `tls load --validate`: nginx on the loopback, counted and held to the model. Nothing here
// depends on how fast anything is: what a validation finds is not looked at, only that it is told.

/// Whether there are an nginx and two CPUs.
fn has_nginx() -> bool {
    let found = ciphermark::server::find_nginx(None).is_ok();
    let cpus = std::thread::available_parallelism().is_ok_and(|n| n.get() > 1);
    if !(found && cpus) {
        eprintln!("left out: there is no nginx, or only one CPU");
    }
    found && cpus
}

const SHORT: &str = "--rounds 1 --visit 10ms --budget 10m";

#[test]
#[ignore = "long: a real nginx"]
fn what_is_validated_was_counted_and_a_second_run_adds_only_what_is_missing() {
    if !has_nginx() {
        return;
    }
    let directory = scratch();
    let file = file(&directory, "validation.json");
    let resumption = || {
        let what = "tls load --validate --regime steady --part resumption";
        let done = call(&format!("{what} -o {file} {SHORT}"));
        // Whether the model holds hangs on the machine's other work.
        assert!([0, 1, 4].contains(&done.code), "{done:?}");
        done
    };
    resumption();
    let validation = read(&file);
    keeps_to(&validation, "docs/tls-validation.schema.json");
    let rows = rows(&validation["parts"][0], "rows");
    assert_eq!(rows.len(), 5);
    for row in rows {
        assert_eq!(text(row, "state"), "measured", "{row:#}");
        assert_eq!(row["counted"]["resumed"], row["counted"]["connections"], "{row:#}");
        assert_eq!(row["by_session"]["resumed"], true, "{row:#}");
        assert_eq!(row["full"]["resumed"], false, "{row:#}");
        // Of one round: no more is known than that it was calculated, not even its sign.
        assert!(number(row, "predicted_cpu_us.value").is_finite(), "{row:#}");
        assert!(number(row, "measured_cpu_us.value") > 0.0, "{row:#}");
    }
    let server = &validation["parts"][0]["calibration"]["server"];
    assert!(text(server, "configuration").contains("ssl_session_cache shared:"), "{server:#}");
    // Once more: nothing is measured, the same is shown.
    let again = resumption();
    assert_eq!(read(&file), validation);
    says(&again.stdout, ["all by PSK, 1.3"]);
}

#[test]
#[ignore = "long: a real nginx"]
fn a_calibration_is_what_loads_are_calculated_from() {
    if !has_nginx() {
        return;
    }
    let directory = scratch();
    let file = file(&directory, "cal.json");
    let shown =
        call(&format!("tls calibrate --regime steady -o {file} {SHORT}")).with_code(0).stdout;
    says(&shown, ["minimal-tls", "real-plain"]);
    let calibration = read(&file);
    keeps_to(&calibration, "docs/tls-calibration.schema.json");
    for point in rows(&calibration, "points") {
        let state = text(point, "state");
        let is_hybrid = point["served"].to_string().contains("x25519mlkem768");
        assert!(state == "measured" || is_hybrid && state == "unsupported", "{point:#}");
    }
    assert_eq!(rows(&calibration, "memory").len(), 4);
    // Of an OpenSSL without ML-KEM, two of the offers cannot be made.
    let picked = rows(&calibration, "picked");
    assert_eq!(picked.len(), 5);
    let none = picked.iter().filter(|one| one["group"].is_null());
    assert!(none.clone().all(|one| text(one, "offered").contains("MLKEM")), "{picked:#?}");
    says(&shown, ["offered X25519:P-256:P-384, the server picks x25519"]);
    let load = call(&format!("tls load --connections 10 --calibration {file}")).with_code(0).stdout;
    says(&load, ["% of a core"]);
}

#[test]
#[ignore = "long: a real nginx"]
fn a_run_that_is_killed_leaves_no_server_behind() {
    if !has_nginx() {
        return;
    }
    let endless = ["--rounds", "50", "--visit", "1s", "--budget", "10m", "--part", "resumption"];
    for signal in [Signal::KILL, Signal::TERM, Signal::INT] {
        let mut running =
            Background::start(&[&["tls", "load", "--validate", "--quiet"], &endless[..]].concat());
        let place = format!("ciphermark-nginx-{}-", running.id());
        running.wait_until("there are a master and a worker of nginx", || named(&place) >= 2);
        running.send(signal);
        wait_until(&format!("{signal:?}: nginx ends"), 60, || named(&place) == 0);
    }
}

/// nginx processes with a configuration at a place: masters name it in their arguments, workers are their
/// children.
fn named(place: &str) -> usize {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let masters = pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with(b"nginx: master") && String::from_utf8_lossy(&line).contains(place)
    });
    masters.map(|pid| 1 + processes_below(pid).len()).sum()
}

#[test]
fn wrong_usage_and_a_missing_nginx_are_one_line_each() {
    let directory = scratch();
    let notes = written(&directory, "notes.txt", "mine");
    for (flags, code, words) in [
        ("--nginx /nowhere/nginx", 4, "'/nowhere/nginx' is no nginx"),
        ("--nginx /bin/true", 4, "is no nginx: it does not say its version"),
        ("--part nonsense", 2, "'nonsense'"),
        ("--part nonsense", 2, "certificates"),
        ("--regime idle", 2, "'idle'"),
        (&format!("-o {notes}"), 2, "not overwritten"),
    ] {
        let said = call(&format!("tls load --validate {flags}")).with_code(code).stderr;
        assert!(said.contains(words), "{flags}: {said}");
    }
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
}
