//! `lab/loop.c`, the program that checks our figures from outside.

use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn compiled(source: &Path, object: &Path, arguments: &[&str]) {
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-o"]).arg(object).arg(source).args(arguments).arg("-ldl");
    assert!(cc.status().unwrap().success(), "{cc:?}");
}

fn run(library: &Path, arguments: &[&str]) -> Output {
    let directory = scratch();
    let program = directory.path().join("loop");
    compiled(&repository("lab/loop.c"), &program, &["-Wextra", "-Werror"]);
    Command::new(program).arg(library).args(arguments).output().unwrap()
}

/// One that this process may run on.
fn a_cpu() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().to_owned()
}

fn libcrypto() -> PathBuf {
    let list = ciphermark(&["list", "libraries", "--json"], b"").with_code(0);
    let all: Vec<Value> = serde_json::from_str(&list.stdout).unwrap();
    let of_three =
        |l: &&Value| text(l, "name") == "openssl" && text(l, "version").starts_with(['3', '4']);
    PathBuf::from(text(all.iter().find(of_three).expect("OpenSSL 3 or newer"), "path"))
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
