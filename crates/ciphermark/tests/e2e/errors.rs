//! Bad input: exit code 2, one clear line that names the input and what helps, nothing lost.

use crate::support::*;
use std::path::{Path, PathBuf};

/// Demands that the one line has each of these words.
#[track_caller]
fn refuses(arguments: &[&str], words: &[&str]) {
    let line = refusal(arguments);
    for word in words {
        assert!(line.contains(word), "{arguments:?}: no '{word}' in: {line}");
    }
}

/// A file of the machine whose name depends on the architecture's directory.
fn system_object(name: &str) -> PathBuf {
    let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
    let places = ["/usr/lib", "/lib"].map(|d| Path::new(d).join(&multiarch).join(name));
    let more = ["/usr/lib64", "/lib64"].map(|d| Path::new(d).join(name));
    let found = places.into_iter().chain(more).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("this machine has no {name}"))
}

fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    arg(&path).to_owned()
}

#[test]
fn an_unknown_algorithm_gets_the_nearest_spelling() {
    for command in ["run", "verify"] {
        refuses(
            &[command, "-a", "aes-128-gmc"],
            &["'aes-128-gmc'", "did you mean 'aes-128-gcm'?", "ciphermark list algorithms"],
        );
        refuses(&[command, "-a", "zzz*"], &["'zzz*'", "ciphermark list algorithms"]);
    }
}

#[test]
fn capitals_get_the_nearest_spelling_too() {
    refuses(&["run", "-a", "AES-128-GCM"], &["did you mean 'aes-128-gcm'?"]);
}

#[test]
fn an_unknown_library_gets_the_nearest_name_and_what_was_found() {
    for command in [&["run"][..], &["verify"], &["list", "libraries"]] {
        let with = |glob| [command, &["-l", glob]].concat();
        refuses(&with("opensl"), &["'opensl'", "did you mean 'openssl'?", "libgcrypt@"]);
        refuses(&with("zz*"), &["'zz*'", "openssl@"]);
    }
}

#[test]
fn a_file_that_is_no_library_is_named_with_what_it_is() {
    let directory = scratch();
    let text = write(directory.path(), "text.so", "hello\n");
    let library = |path: &str| refusal(&["run", "-l", &format!("mine={path}")]);
    let has = |line: String, words: &[&str]| {
        words.iter().for_each(|word| assert!(line.contains(word), "no '{word}' in: {line}"));
    };
    has(library("/no/such.so"), &["mine", "/no/such.so"]);
    has(library(arg(directory.path())), &["mine", arg(directory.path())]);
    has(library(&text), &["mine", "text.so", "not an ELF shared object"]);
    has(library(arg(program())), &["mine", "ciphermark"]);
    let math = system_object("libm.so.6");
    has(library(arg(&math)), &["libm.so.6", "ciphermark_adapter"]);
    // It is linked with libcrypto, whose functions a look-up through it would find.
    let tls = system_object("libssl.so.3");
    has(library(arg(&tls)), &["libssl.so.3", "ciphermark_adapter"]);
}

#[test]
fn a_library_name_that_is_none_is_refused() {
    let object = fakes::object("correct", "");
    refuses(&["run", "-l", &format!("a b={}", arg(&object))], &["'a b=", "letters"]);
    refuses(&["run", "-l", &format!("={}", arg(&object))], &["letters"]);
}

#[test]
fn bad_globs_are_named() {
    refuses(&["run", "-a", "aes-[1"], &["'aes-[1'", "glob"]);
    refuses(&["run", "-a", "aes-{128,256}-gcm,aes-128-gmc"], &["did you mean 'aes-128-gcm'?"]);
    refuses(&["run", "-a", "aes-128-gcm,"], &["''"]);
    refuses(&["run", "-l", "open[1"], &["'open[1'", "glob"]);
}

#[test]
fn bad_sizes_are_named_with_the_grammar() {
    for bad in ["0", "x", "", "16..", "64..16", "1G", "17M", "-4", "16,0,32"] {
        let sizes = format!("-s{bad}");
        let flag: Vec<&str> = if bad.is_empty() { vec!["-s", ""] } else { vec![&sizes] };
        refuses(&[&["run"], &flag[..]].concat(), &["is not a size", "16..64K"]);
    }
}

#[test]
fn bad_values_of_flags_are_one_line_that_names_flag_and_value() {
    for (flag, value, help) in [
        ("--precision", "0", "1%"),
        ("--precision", "often", "1%"),
        ("--precision", "200%", "1%"),
        ("--budget", "0s", "60s"),
        ("--budget", "soon", "60s"),
        ("--seed", "seven", ""),
        ("--direction", "sideways", "decrypt"),
        ("--model", "steam", "stream"),
        ("--tier", "turbo", "native"),
        ("--format", "xml", "csv"),
    ] {
        refuses(&["run", flag, value], &[flag, &format!("'{value}'"), help]);
    }
}

#[test]
fn unknown_words_are_one_line() {
    refuses(&["rum"], &["'rum'", "run"]);
    refuses(&["run", "--algoritm", "x"], &["--algoritm", "--algorithm"]);
    refuses(&["list", "libs"], &["'libs'", "libraries"]);
    refuses(&["once"], &["--algorithm", "--library"]);
    refuses(&["once", "-a", "aes-128-ctr", "-l", "openssl", "--key", "xyz"], &["--key", "'xyz'"]);
}

#[test]
fn an_unknown_or_malformed_suite_is_named_with_the_place() {
    let directory = scratch();
    let suite = |text: &str| write(directory.path(), "suite.toml", text);
    refuses(&["run", "--suite", "quik"], &["'quik'", "did you mean 'quick'?"]);
    refuses(&["run", "--suite", "no/such.toml"], &["no/such.toml"]);
    refuses(&["run", "--suite", &suite("name = ")], &["suite.toml", "line 1"]);
    refuses(&["run", "--suite", &suite("name = 'x'\n")], &["suite.toml", "reason"]);
    let good = "name = 'mine'\nreason = 'r'\nalgorithms = ['aes-128-ctr']\nsizes = '16'\n\
                models = ['message']\ndirections = ['encrypt']\nprecision = '1%'\nbudget = '1s'\n";
    let broken = |from: &str, to: &str| suite(&good.replace(from, to));
    refuses(&["run", "--suite", &broken("'message'", "'massage'")], &["line 5", "massage"]);
    refuses(&["run", "--suite", &broken("budget = '1s'", "budget = 'x'")], &["mine", "60s"]);
    refuses(&["run", "--suite", &broken("'16'", "'0'")], &["'0' is not a size"]);
    refuses(&["run", "--suite", &broken("aes-128-ctr", "aes-128-crt")], &["'aes-128-ctr'?"]);
    refuses(&["run", "--suite", &broken("reason", "raisin")], &["line 2", "raisin"]);
}

#[test]
fn control_characters_in_what_was_typed_do_not_break_the_line() {
    refuses(&["run", "-a", "aes\n\u{1b}[31m"], &["aes"]);
    refuses(&["run", "-l", "mine=/no\n/such"], &["mine"]);
    refuses(&["show", "no\nsuch"], &["such"]);
}

#[test]
fn what_is_no_record_is_refused_with_the_place() {
    let directory = scratch();
    let file = |text: &str| write(directory.path(), "r.json", text);
    let show = |path: &str, words: &[&str]| refuses(&["show", path], words);
    show("no/such.json", &["no/such.json"]);
    show(arg(directory.path()), &[arg(directory.path())]);
    show(&file("hello"), &["r.json", "not a ciphermark record", "line 1"]);
    show(&file(""), &["r.json", "not a ciphermark record"]);
    show(&file("{\"a\": 1}"), &["r.json", "format_version"]);
    show(&file("{\"format_version\": \"99.0\"}"), &["r.json", "99.0", "1."]);
    let cut = sample_record();
    show(&file(&cut[..cut.len() / 2]), &["r.json", "ends too early"]);
    show(arg(&fakes::object("correct", "")), &["not a ciphermark record"]);
}

#[test]
fn files_that_are_no_text_or_have_no_end_are_one_line_in_every_reader() {
    let directory = scratch();
    let path = directory.path().join("wide.txt");
    std::fs::write(&path, b"\xff\xfen\0a\0m\0e\0").unwrap();
    let wide = arg(&path);
    for reader in [
        &["show", wide][..],
        &["report", wide, "-o", "-"],
        &["compare", wide, wide],
        &["rank", wide],
        &["claims", wide],
        &["explain", wide],
        &["run", "--suite", wide],
        &["verify", "--vectors", wide],
        &["import", "openssl-speed", wide],
        &["import", "table", wide],
    ] {
        refuses(reader, &["wide.txt", "is not text (byte 0 is not UTF-8)"]);
    }
    for reader in [&["verify", "--vectors"][..], &["import", "table"]] {
        refuses(&[reader, &["/dev/zero"]].concat(), &["/dev/zero", "more than 64 MiB"]);
    }
}

#[test]
fn what_is_typed_turns_no_reading_direction_and_its_quotation_has_an_end() {
    let line = refusal(&["run", "-a", "aes\u{202e}mcg"]);
    assert!(!line.contains('\u{202e}'), "{line}");
    let long = "9".repeat(100_000);
    assert!(refusal(&["run", "-s", &long]).chars().count() < 1100);
}

/// A record that the record crate's own tests keep.
fn sample_record() -> String {
    std::fs::read_to_string(repository("crates/record/tests/sample.json")).unwrap()
}

#[test]
fn filters_that_leave_nothing_say_so() {
    let directory = scratch();
    let path = write(directory.path(), "r.json", &sample_record());
    refuses(&["show", &path, "-a", "aes-128-gmc"], &["did you mean 'aes-128-gcm'?"]);
    refuses(&["show", &path, "-l", "opensl"], &["did you mean 'openssl'?"]);
    refuses(&["show", &path, "-s", "77"], &["no row"]);
}

#[test]
fn a_place_that_takes_no_record_is_refused_before_measuring() {
    let directory = scratch();
    refuses(&["run", "-o", "/no/such/directory/r.json"], &["/no/such/directory"]);
    refuses(&["run", "-o", arg(directory.path())], &[arg(directory.path())]);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_no_record_is_not_overwritten() {
    let directory = scratch();
    let path = write(directory.path(), "thesis.txt", "years of work\n");
    refuses(&["run", "-o", &path], &["thesis.txt", "not overwritten"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "years of work\n");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_record_of_another_version_is_not_overwritten_either() {
    let directory = scratch();
    let text = sample_record().replacen("\"1.3\"", "\"99.0\"", 1);
    let path = write(directory.path(), "r.json", &text);
    refuses(&["run", "-o", &path], &["r.json"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn nothing_to_go_on_with_is_said() {
    let directory = scratch();
    let whole = write(directory.path(), "whole.json", &sample_record());
    refuses(&["run", "--resume", &whole], &["whole.json", "nothing to go on with"]);
    refuses(&["run", "--resume", "no/such.json"], &["no/such.json"]);
    refuses(&["run", "--resume", &whole, "-o", "other.json"], &["--resume", "--output"]);
    assert_eq!(std::fs::read_to_string(&whole).unwrap(), sample_record());
}

#[test]
fn a_damaged_journal_is_named_and_kept() {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let journal = write(directory.path(), "r.json.partial", "{\"format_version\": 1}\n");
    refuses(&["run", "--resume", arg(&record)], &["r.json.partial", "line 1"]);
    assert_eq!(std::fs::read_to_string(journal).unwrap(), "{\"format_version\": 1}\n");
}

#[test]
fn a_run_without_any_case_is_exit_code_4() {
    let none = ciphermark(&["run", "-a", "null", "-l", "openssl", "-s", "16"], b"").with_code(4);
    assert!(none.only_line_on_stderr().contains("nothing to measure"), "{none:?}");
}
