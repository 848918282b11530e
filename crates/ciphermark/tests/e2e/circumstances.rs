//! What decides which code runs: with one cache, counts and verdicts are those of a fresh one, whatever was set when
//! the cache was filled.
#![cfg(target_arch = "x86_64")]

use crate::support::{fakes, *};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// OpenSSL without AES instructions and carry-less multiplication.
const MASK: (&str, &str) = ("OPENSSL_ia32cap", "~0x200000200000000");

#[derive(Clone, Copy, Debug, Default)]
struct Set<'a> {
    variable: Option<(&'a str, &'a str)>,
    /// A directory whose files are in /etc, in a private view of the file system.
    etc: Option<&'a Path>,
}

impl<'a> Set<'a> {
    fn variable(name: &'a str, value: &'a str) -> Self {
        Self { variable: Some((name, value)), etc: None }
    }
}

/// The first row of what a command prints as JSON.
fn row(line: &str, cache: &Path, set: Set<'_>) -> Value {
    let done = called(line, cache, set);
    assert!([0, 1].contains(&done.code), "{done:?}");
    done.rows()[0].clone()
}

fn called(line: &str, cache: &Path, set: Set<'_>) -> Done {
    let mut variables = vec![("CIPHERMARK_CACHE", arg(cache))];
    variables.extend(set.variable);
    let done = match set.etc {
        Some(etc) => Done::from(beneath(etc, line).envs(variables).output().unwrap()),
        None => call_with(line, &variables),
    };
    let name = set.variable.map_or("/etc/", |(name, _)| name);
    let told = done.stderr.matches(&format!("ciphermark: {name}")).count();
    let expected = usize::from(set.variable.is_some() || set.etc.is_some());
    assert_eq!(told, expected, "{name} is named once where it is set: {done:?}");
    done
}

/// The program with a directory over /etc.
fn beneath(etc: &Path, line: &str) -> Command {
    let mount = format!("mount -t overlay none -o lowerdir={}:/etc /etc && exec \"$@\"", arg(etc));
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &mount, "sh"]);
    command
        .arg(program())
        .args(line.split_whitespace())
        .env("CIPHERMARK_BUNDLED", "")
        .env_remove("LD_LIBRARY_PATH");
    command
}

/// What stepping shows of AES-256-GCM: whether it runs AES instructions, and instructions a byte, to a tenth, because
/// addresses decide about a few of an operation.
fn executed(library: &str, cache: &Path, set: Set<'_>) -> (bool, f64) {
    let line = format!("explain -l {library} -a aes-256-gcm -d encrypt --json");
    let row = row(&line, cache, set);
    let executed = &row["executed"][0];
    assert_eq!(executed["source"], "single-step", "{row}");
    let aes = rows(executed, "classes").iter().any(|class| text(class, "class") == "aes-round");
    (aes, (number(executed, "per_byte") * 10.0).round() / 10.0)
}

fn verdict(library: &str, cache: &Path, set: Set<'_>) -> String {
    let line = format!("leaks -l {library} -a aes-256-gcm -s 64 --secrets 2 --json");
    text(&row(&line, cache, set), "verdict").to_owned()
}

/// Sets and clears with one cache, in both orders, and demands each time what a fresh cache gave.
fn holds<T: PartialEq + std::fmt::Debug>(seen: impl Fn(&Path, Set<'_>) -> T, set: Set<'_>) {
    let none = Set::default();
    let one_after_another = |sets: [Set<'_>; 3]| {
        let cache = scratch();
        sets.map(|set| seen(cache.path(), set))
    };
    let [with, without_later, with_again] = one_after_another([set, none, set]);
    let [without, with_later, without_again] = one_after_another([none, set, none]);
    assert_ne!(with, without, "{set:?} decides nothing here");
    assert_eq!((&with_later, &with_again), (&with, &with), "{set:?}");
    assert_eq!((&without_later, &without_again), (&without, &without), "{set:?}");
}

fn system(library: &str) -> String {
    format!("mine={}", arg(&system_libraries().join(library)))
}

/// Where the processor has them, libraries run them unless they are hidden.
fn has_aes() -> bool {
    fs::read_to_string("/proc/cpuinfo").unwrap().contains(" aes ")
}

#[test]
#[ignore = "long: measures for seconds"]
fn counts_under_hidden_cpu_features_are_not_told_of_a_run_without_nor_the_other_way_round() {
    if has_aes() {
        let openssl = system("libcrypto.so.3");
        holds(|cache, set| executed(&openssl, cache, set), Set::variable(MASK.0, MASK.1));
    }
}

#[test]
#[ignore = "long: steps several libraries a dozen times each"]
fn every_library_the_loader_and_files_of_the_system_are_kept_apart_by_what_is_set() {
    if !has_aes() {
        return;
    }
    let openssl = system("libcrypto.so.3");
    holds(|cache, set| verdict(&openssl, cache, set), Set::variable(MASK.0, MASK.1));
    let directory = scratch();
    let hides = format!("setenv(\"{}\", \"{}\", 1);", MASK.0, MASK.1);
    let preloaded = in_workers(directory.path(), &hides);
    let preload = Set::variable("LD_PRELOAD", arg(&preloaded));
    holds(|cache, set| executed(&openssl, cache, set), preload);
    let nettle = system("libnettle.so.8");
    let set = Set::variable("NETTLE_FAT_OVERRIDE", "vendor:intel");
    holds(|cache, set| executed(&nettle, cache, set), set);
    let denied = "intel-aesni\nintel-pclmul\nintel-vaes-vpclmul\n";
    let etc = scratch();
    fs::create_dir(etc.path().join("gcrypt")).unwrap();
    fs::write(etc.path().join("gcrypt/hwf.deny"), denied).unwrap();
    let set = Set { etc: Some(etc.path()), variable: None };
    if beneath(etc.path(), "--version").output().unwrap().status.success() {
        let gcrypt = system("libgcrypt.so.20");
        holds(|cache, set| executed(&gcrypt, cache, set), set);
    } else {
        println!("not tried: no private view of the file system here");
    }
}

/// An object that, loaded before all others, does something in workers; the program itself sees nothing of that.
fn in_workers(directory: &Path, deed: &str) -> PathBuf {
    let (source, object) = (directory.join("first.c"), directory.join("first.so"));
    let text = format!(
        "#include <stdlib.h>\n#include <string.h>\n\
         __attribute__((constructor)) static void first(int count, char **words) {{\n\
           if (count > 1 && strcmp(words[1], \"worker\") == 0) {{ {deed} }}\n\
         }}\n"
    );
    fs::write(&source, text).unwrap();
    fakes::succeed(fakes::compiler(&object).arg(&source));
    object
}

#[test]
fn a_configuration_is_read_where_one_is_named_and_counts_by_its_content() {
    let directory = scratch();
    let path = directory.path().join("openssl.cnf");
    let cache = scratch();
    let line = format!("verify -l {} -a aes-256-gcm", system("libcrypto.so.3"));
    let verified = |text: &str| {
        fs::write(&path, text).unwrap();
        let done = called(&line, cache.path(), Set::variable("OPENSSL_CONF", arg(&path)));
        (done.code, done.stderr.contains("OPENSSL_CONF="))
    };
    assert_eq!(verified("# nothing\n"), (0, true));
    let nobody = "openssl_conf = top\n[top]\nalg_section = algorithms\n[algorithms]\n\
                  default_properties = provider=nobody\n";
    assert_eq!(verified(nobody), (4, true));
    // Not a machine's own: only what is named counts.
    called(&line, cache.path(), Set::default()).with_code(0);
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_record_has_what_was_set_and_compare_and_doctor_name_it() {
    let directory = scratch();
    let fake = fakes::library("correct");
    let measured = |name: &str, set: &[(&str, &str)]| {
        let path = file(&directory, name);
        let line = format!("run -l {fake} -a aes-128-ctr -s 64 -d encrypt --no-evidence -o {path}");
        let variables = [&[("CIPHERMARK_CACHE", "")], set].concat();
        (call_with(&format!("{line} {}", QUICK.join(" ")), &variables).with_code(0), path)
    };
    let words = "OPENSSL_ia32cap=~0x200000200000000 is set: it hides CPU features (openssl, ";
    let ((clean, base), (masked, new)) = (measured("a.json", &[]), measured("b.json", &[MASK]));
    assert!(masked.stdout.contains(words) && masked.stderr.contains(words), "{masked:?}");
    assert!(!clean.stdout.contains("is set") && !clean.stderr.contains("is set"), "{clean:?}");
    let record = read(&new);
    let [set] = &rows(&record["host"], "circumstances")[..] else { panic!("{}", record["host"]) };
    assert_eq!((text(set, "name"), text(set, "value")), MASK);
    assert!(read(&base)["host"].get("circumstances").is_none());
    call(&format!("show {new}")).says([words]);
    let differs = "OPENSSL_ia32cap decides which code runs, and differs: not set and ~0x2";
    call(&format!("compare {base} {new}")).says([differs, "so it is OPENSSL_ia32cap that is"]);
    call_with("doctor", &[MASK]).says(["unset OPENSSL_ia32cap"]);
}

#[test]
fn workers_get_what_is_listed_and_what_is_passed_on_by_name_and_nothing_else() {
    let directory = scratch();
    let preloaded = in_workers(directory.path(), "if (getenv(\"SECRET\")) abort();");
    let line = format!("verify -l {} -a aes-128-ctr", fakes::library("correct"));
    let code = |more: &[(&str, &str)]| {
        let set = [("SECRET", "x"), ("LD_PRELOAD", arg(&preloaded)), ("CIPHERMARK_CACHE", "")];
        call_with(&line, &[&set, more].concat()).code
    };
    assert_eq!(code(&[]), 0);
    assert_ne!(code(&[("CIPHERMARK_PASS", "OTHER,SECRET")]), 0);
}

/// OpenSSL's providers are columns: of each, nothing but what it has itself is measured.
#[test]
fn a_provider_alone_is_another_build_with_its_own_algorithms() {
    let file = system_libraries().join("libcrypto.so.3");
    let with = |name: &str, algorithms: &str| {
        let library = format!("{name}={}", arg(&file));
        call(&format!("verify -l {library} -a {algorithms} --json"))
    };
    let passed = |name: &str| -> Vec<String> {
        let rows = with(name, "rc4,aes-256-gcm,aes-256-kw,scrypt,random").rows();
        assert!(rows.iter().all(|row| row["state"] == "passed"), "{name}: {rows:?}");
        rows.iter().map(|row| row["algorithm"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(passed("openssl:legacy"), ["rc4"]);
    assert_eq!(passed("openssl:default"), ["aes-256-gcm", "aes-256-kw", "random", "scrypt"]);
    for (name, words) in [
        ("openssl:nosuch", &["provider 'nosuch'", "cannot be loaded"][..]),
        ("openssl:a.b", &["letters, digits"]),
    ] {
        let said = refusal(&["verify", "-l", &format!("{name}={}", arg(&file)), "-a", "rc4"]);
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    let gcrypt = format!("x:y={}", arg(&system_libraries().join("libgcrypt.so.20")));
    assert!(refusal(&["verify", "-l", &gcrypt, "-a", "rc4"]).contains("only OpenSSL 3"));
}

/// Of the release that `make libs` builds: the provider beside it starts with the settings beside it.
#[test]
#[ignore = "long: needs the library that is built here"]
fn the_fips_provider_of_a_build_is_found_by_the_librarys_name() {
    let built = repository("target/libs");
    let variables = [("CIPHERMARK_BUNDLED", arg(&built))];
    let line = "run -q -l openssl@3.5*,openssl:fips@3.5* -a aes-256-gcm,chacha20-poly1305 -s 16 -d encrypt --budget 5s --format json";
    let record = call_with(line, &variables).with_code(0).json();
    let [own, fips] = &rows(&record, "libraries")[..] else { panic!("{record}") };
    assert_eq!((text(own, "name"), text(fips, "name")), ("openssl", "openssl:fips"));
    assert_ne!(own["id"], fips["id"]);
    assert!(fips["build"].to_string().contains("provider: fips alone"), "{fips}");
    assert!(fips["objects"].to_string().contains("ossl-modules/fips.so"), "{fips}");
    for (algorithm, is_there) in [("chacha20-poly1305", false), ("aes-256-gcm", true)] {
        let of = [("library.name", "openssl:fips"), ("algorithm", algorithm)];
        let row = where_(rows(&record, "measurements"), &of)[0];
        assert_eq!(text(row, "state") != "unsupported", is_there, "{row}");
    }
}
