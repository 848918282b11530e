//! Witnesses from outside: `lab/loop.c`, the program that checks our figures; Python's `cryptography` package
//! with an OpenSSL of its own; and `scripts/accuracy`, which measures accuracy by kind of CPU and makes its
//! page.

use crate::support::{fakes, *};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

fn compiled(source: &Path, object: &Path, arguments: &[&str]) {
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-o"]).arg(object).arg(source).args(arguments).arg("-ldl");
    assert!(cc.status().unwrap().success(), "{cc:?}");
}

fn run(library: &Path, arguments: &[&str]) -> Output {
    static LOOP: OnceLock<tempfile::TempDir> = OnceLock::new();
    let directory = LOOP.get_or_init(|| {
        let directory = scratch();
        let program = directory.path().join("loop");
        compiled(&repository("lab/loop.c"), &program, &["-Wextra", "-Werror"]);
        directory
    });
    Command::new(directory.path().join("loop")).arg(library).args(arguments).output().unwrap()
}

/// One that this process may run on.
fn a_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().to_owned()
}

fn libcrypto() -> PathBuf {
    system_libraries().join("libcrypto.so.3")
}

/// Whether libcrypto, with one function of its own in front of it, is refused with those words.
fn refuses_with(function: &str, words: &str) {
    let directory = scratch();
    let (source, object) = (directory.path().join("fault.c"), directory.path().join("fault.so"));
    let headers = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <string.h>\n";
    std::fs::write(&source, format!("{headers}{function}\n")).unwrap();
    compiled(&source, &object, &["-shared", "-fPIC", "-Wl,--no-as-needed", arg(&libcrypto())]);
    refuses(&object, words);
}

fn refuses(library: &Path, words: &str) {
    let done = run(library, &[]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains(words) && said.lines().count() == 1, "{said}");
}

#[test]
#[ignore = "long: seconds"]
fn the_loop_gets_published_answers_and_times_each_case() {
    let done = run(&libcrypto(), &[]);
    assert!(done.status.success(), "{done:?}");
    let cases = ["aes-256-gcm:message:16", "aes-128-cbc:stream:64", "sha256:message:1024"];
    let done = run(&libcrypto(), &[&a_cpu(), "0.01", cases[0], cases[1], cases[2]]);
    assert!(done.status.success(), "{done:?}");
    let printed = String::from_utf8(done.stdout).unwrap();
    let rows: Vec<Value> = printed.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    for (row, case) in rows.iter().zip(cases) {
        let named = format!("{}:{}:{}", text(row, "algorithm"), text(row, "model"), row["size"]);
        assert_eq!(named, case);
        assert!(row["ns"].as_f64().unwrap() > 1.0, "{row}");
    }
    assert_eq!(rows.len(), cases.len());
}

#[test]
fn the_loop_names_the_algorithm_that_a_library_lacks_or_gets_wrong() {
    refuses_with(
        "void *EVP_CIPHER_fetch(void *c, const char *name, const char *p) {
             void *(*real)(void *, const char *, const char *) = dlsym(RTLD_NEXT, __func__);
             return strstr(name, \"poly1305\") ? 0 : real(c, name, p); }",
        "this libcrypto has no chacha20-poly1305",
    );
    refuses_with(
        "int EVP_DigestFinal_ex(void *c, unsigned char *out, unsigned *n) {
             int (*real)(void *, void *, void *) = dlsym(RTLD_NEXT, __func__);
             int code = real(c, out, n); out[31] ^= 1; return code; }",
        "sha256: a wrong answer",
    );
    refuses_with(
        "int EVP_CIPHER_CTX_ctrl(void *c, int what, int n, void *p) {
             int (*real)(void *, int, int, void *) = dlsym(RTLD_NEXT, __func__);
             return what == 0x10 ? 1 : real(c, what, n, p); }",
        "aes-256-gcm: a wrong answer",
    );
}

#[test]
fn the_loop_says_that_another_library_is_none_of_openssl_3() {
    refuses(&fakes::object("early_return", ""), "this needs OpenSSL 3 or newer");
    refuses(Path::new("/nonexistent.so"), "cannot load /nonexistent.so");
}

/// A version with wheels for Python 3.9 and later.
const PACKAGE: (&str, &str) = ("cryptography", "50.0.2");

#[test]
#[ignore = "long: packages from PyPI"]
fn the_same_bytes_as_pythons_cryptography_package() {
    let python = python_with("python", &[PACKAGE]);
    let script = repository("tests/python/agree.py");
    let mut command = Command::new(python);
    let output = command.arg(script).arg(program()).args(libraries()).output().unwrap();
    let (printed, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{said}");
    let compared: usize = printed.split(' ').next().unwrap().parse().unwrap();
    assert!(compared > 2500, "{printed}");
}

/// `NAME=PATH` for each library: named so, each is loaded alone.
fn libraries() -> Vec<String> {
    let list = ciphermark(&["list", "libraries", "--json"], b"").with_code(0);
    let all: Vec<Value> = serde_json::from_str(&list.stdout).unwrap();
    let path = |name: &str| text(where_(&all, &[("name", name)])[0], "path").to_owned();
    ["openssl", "libgcrypt", "rustcrypto"].map(|n| format!("{n}={}", path(n))).to_vec()
}

/// Answers as ciphermark does, at once: every case takes 100 cycles, ±1, in the second survey one takes 103. It writes a line
/// for each run, and fails at the run whose number `FAIL_AT` has.
const STAND_IN: &str = r#"#!/usr/bin/env python3
import json, os, pathlib, sys
log = pathlib.Path(os.environ["LOG"])
words = sys.argv[1:]
if words[0] == "--version":
    print("ciphermark 9.9")
elif words[0] == "compare":
    print(json.dumps({"tally": {"same": 4, "undecided": 0, "faster": 0, "slower": 0}, "cases": []}))
else:
    with log.open("a") as file:
        file.write(" ".join(words) + "\n")
    number = len(log.read_text().splitlines())
    if str(number) == os.environ.get("FAIL_AT"):
        sys.exit(9)
    rows = []
    for algorithm, direction, size in [("aes-256-cbc", "encrypt", 16), ("aes-256-gcm", "encrypt", 256),
                                       ("aes-256-xts", "decrypt", 8192), ("aes-256-ctr", "encrypt", 16)]:
        c = 103.0 if number == 2 and algorithm == "aes-256-ctr" else 100.0
        rows.append({"library": {"name": "l", "version": "1"}, "algorithm": algorithm, "direction": direction, "size": size,
                     "state": "measured", "contended": False, "cycles_per_op": {"median": c, "low": c - 1, "high": c + 1}})
    if "null" in words:
        rows = [{**rows[0], "state": "failed" if "BUSY" in os.environ else "measured", "ns_per_op": {"median": 1.0}}]
    host = {"cpu": {"vendor": "GenuineIntel", "family": 6, "model": 9999, "name": "X", "cpus_online": 2}, "hypervisor": None,
            "kernel": {"release": "6.1.2"}, "os": "Debian"}
    print(json.dumps({"measurements": rows, "noise": {"samples": 10, "clean": 8}, "host": host}))
"#;

fn accuracy(words: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut script = Command::new("python3");
    script.arg(repository("scripts/accuracy")).args(words).envs(variables.iter().copied());
    script.output().unwrap()
}

#[test]
fn the_page_of_accuracy_is_what_its_data_give() {
    let directory = scratch();
    let page = file(&directory, "page.md");
    let done = accuracy(&["page", "-o", &page], &[]);
    assert!(done.status.success(), "{done:?}");
    let [made, kept] = [Path::new(&page), &repository("docs/ACCURACY.md")]
        .map(|p| std::fs::read_to_string(p).unwrap());
    assert!(made == kept, "scripts/accuracy page writes another docs/ACCURACY.md");
}

#[test]
#[ignore = "long: the whole page is made four times"]
fn an_interrupted_measurement_of_accuracy_continues_and_its_kind_is_added_to_the_others() {
    let directory = scratch();
    let [program, log, page] = ["ciphermark", "log", "page.md"].map(|name| file(&directory, name));
    std::fs::write(&program, STAND_IN).unwrap();
    Command::new("chmod").args(["+x", &program]).status().unwrap();
    let [results, data] = ["results", "data"].map(|name| file(&directory, name));
    std::fs::create_dir(&data).unwrap();
    for entry in std::fs::read_dir(repository("docs/accuracy")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, Path::new(&data).join(path.file_name().unwrap())).unwrap();
    }
    let parts = [program.as_str(), "repeat", "coverage", "company"];
    let places = ["--results", &results, "--data", &data, "-o", &page];
    let words = [&parts[..], &places].concat();
    let failed = accuracy(&words, &[("LOG", &log), ("FAIL_AT", "5")]);
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    says(&said, ["min", "left: survey-1", "exit code 9"]);

    let done = accuracy(&words, &[("LOG", &log)]);
    assert!(done.status.success(), "{done:?}");
    // Ten surveys, the long one, 21 cases alone, the machine, and the run that failed.
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 10 + 1 + 21 + 1 + 1);
    let made = std::fs::read_to_string(&page).unwrap();
    for row in [
        "80 % | two surveys | 4 | 0.00 % | 3.00 % | 3.00 % | 3.00 % | 75.0 % |",
        "| **84 of 84** |",
        "| 97.5 % of 40 |",
        "| 180 | **0** | 180 | 0 |",
    ] {
        let kind = "| GenuineIntel family 6 model 9999, ";
        assert!(made.lines().any(|l| l.starts_with(kind) && l.contains(row)), "{row}\n{made}");
    }
    let published = std::fs::read_to_string(repository("docs/ACCURACY.md")).unwrap();
    for row in published.lines().filter(|l| l.starts_with("| ") && !l.contains("---")) {
        assert!(made.contains(row), "{row} is gone");
    }

    // The next one measures anew.
    let lines = || std::fs::read_to_string(&log).unwrap().lines().count();
    let words = [&[program.as_str(), "repeat", "null"], &places[..]].concat();
    let busy = accuracy(&words, &[("LOG", &log), ("BUSY", "yes")]);
    assert_eq!(lines(), 34 + 4);
    let made = std::fs::read_to_string(&page).unwrap();
    assert!(made.contains("**84 of 84**"), "the other parts stay");

    // On a busy machine a part stays without figures, and the same command measures that one alone.
    let said = String::from_utf8_lossy(&busy.stderr).into_owned();
    assert!(busy.status.code() == Some(1) && said.contains("too busy for null"), "{said}");
    assert!(accuracy(&words, &[("LOG", &log)]).status.success());
    assert_eq!(lines(), 38 + 2);
}

// The oracle: another hand's rules about what to encrypt with, held against `advise`.

fn oracle(program: &str, questions: &str, record: &str) -> Output {
    let oracle = repository("lab/oracle");
    let asked = ["records", "--ciphermark", program, "--questions", questions, record];
    Command::new(oracle).args(asked).output().unwrap()
}

fn agrees(questions: &str, record: &str) {
    let done = oracle(env!("CARGO_BIN_EXE_ciphermark"), questions, record);
    let said = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}{errors}");
    says(&said, [&*format!("{questions} questions, 0 answered otherwise")]);
}

#[test]
#[ignore = "long: 144 questions of half a second and more"]
fn another_hands_rules_choose_what_advise_does_for_every_use_wish_and_tier() {
    agrees("144", &published_at_rest());
}

/// And the oracle can say no: of an advice that names a scheme without a tag where tampering must be noticed.
#[test]
#[ignore = "long: seconds"]
fn an_advice_that_breaks_another_hands_rules_is_found() {
    let record = published_at_rest();
    let directory = scratch();
    let liar = file(&directory, "liar");
    let program = env!("CARGO_BIN_EXE_ciphermark");
    // The choice's name alone: what fits and was rejected stays as it was.
    let text = format!(
        "#!/usr/bin/env python3\nimport json, subprocess, sys\n\
         done = subprocess.run(['{program}', *sys.argv[1:]], capture_output=True, text=True)\n\
         advice = json.loads(done.stdout)\n\
         if 'choice' in advice['outcome']: advice['outcome']['choice']['scheme'] = 'aes-256-ctr'\n\
         print(json.dumps(advice))\n"
    );
    std::fs::write(&liar, text).unwrap();
    std::fs::set_permissions(&liar, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let done = oracle(&liar, "2", &record);
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(done.status.code(), Some(1), "{said}");
    says(&said, ["WRONG", "the oracle rules the former out"]);
}
