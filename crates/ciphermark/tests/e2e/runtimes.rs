//! Languages' runtimes as libraries: verified and measured like any other, and faults of theirs refused. What a machine
//! must have for it is what `scripts/setup tests` installs.

use crate::support::*;
use std::path::{Path, PathBuf};
use std::process::Command;

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
    assert!(told.stdout.contains("Seal of a kept cipher.AEAD"), "{told:?}");
}

#[test]
#[ignore = "long: four faults in programs of four languages"]
fn faults_in_every_runtime_are_refused() {
    let cache = scratch();
    for (language, program) in programs(cache.path()) {
        for fault in FAULTS {
            let done = with_fault(&program, fault, cache.path());
            assert!([1, 3].contains(&done.code), "{language} {fault}: {done:?}");
            assert!(done.stdout.contains("refused"), "{language} {fault}: {}", done.stdout);
        }
        let honest = with_fault(&program, "none", cache.path());
        assert_eq!(honest.code, 0, "{language}: {honest:?}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_runtime_that_ends_costs_the_case_that_ended_it_and_no_other() {
    let program = repository("tests/fakes/runtimes/faulty.py").canonicalize().unwrap();
    if !Command::new("python3").args(["-c", "import cryptography"]).status().unwrap().success() {
        eprintln!("left out: there is no Python package cryptography");
        return;
    }
    let cache = scratch();
    let path = file(&cache, "r.json");
    let library = format!("faulty=runtime:{}", arg(&program));
    let line = ["run", "-l", &library, "-a", "aes-256-gcm", "-s", "64,700,4K", "-d", "encrypt"];
    let variables = [("CIPHERMARK_CACHE", arg(cache.path())), ("CIPHERMARK_FAULT", "ends")];
    let rest = ["--no-evidence", "-q", "-o", &path];
    ciphermark_with(&[&line[..], &rest, &QUICK].concat(), &variables).with_code(3);
    for row in rows(&read(&path), "measurements") {
        let ended = row["size"] == 700;
        assert_eq!(text(row, "state"), if ended { "failed" } else { "measured" }, "{row}");
        assert!(!ended || text(row, "reason").contains("no more of these"), "{row}");
    }
}

/// Measures what the program can be wrong in.
fn with_fault(program: &Path, fault: &str, cache: &Path) -> Done {
    let library = format!("faulty=runtime:{}", arg(program));
    let line = ["run", "-l", &library, "-a", "aes-256-gcm", "-s", "32K", "--no-evidence", "-q"];
    let variables = [("CIPHERMARK_CACHE", arg(cache)), ("CIPHERMARK_FAULT", fault)];
    ciphermark_with(&[&line[..], &QUICK].concat(), &variables)
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
