//! `watch -- COMMAND`: programs that know what they call are watched, and are as they were without it.

use crate::support::*;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs `watch` with these arguments; what it wrote, and how it ended.
fn watch(directory: &Path, arguments: &[&str]) -> (Value, Output) {
    let calls = directory.join("calls.json");
    let mut command = Command::new(program());
    command.args(["watch", "-o", arg(&calls), "--"]).args(arguments);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = std::fs::read_to_string(&calls).unwrap_or_default();
    (serde_json::from_str(&text).unwrap_or(Value::Null), output)
}

/// The program that knows its calls; none where OpenSSL's headers are missing.
fn watched(directory: &Path) -> Option<PathBuf> {
    if !Path::new("/usr/include/openssl/evp.h").is_file() {
        eprintln!("no OpenSSL headers: nothing to compile");
        return None;
    }
    let program = directory.join("watched");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-o"]).arg(&program).arg(repository("tests/fakes/watched.c"));
    fakes::succeed(cc.args(["-lcrypto", "-lpthread"]));
    Some(program)
}

/// How many messages of an operation, algorithm and size there are, over all processes.
fn count(calls: &Value, operation: &str, algorithm: &str, size: u64) -> u64 {
    let processes = calls["processes"].as_array().unwrap();
    let rows = processes.iter().flat_map(|process| process["rows"].as_array().unwrap());
    let is = |row: &&Value| {
        row["operation"] == operation && row["algorithm"] == algorithm && row["size"][0] == size
    };
    rows.filter(is).map(|row| row["count"].as_u64().unwrap()).sum()
}

fn processes(calls: &Value) -> usize {
    calls["processes"].as_array().unwrap().len()
}

#[test]
fn every_call_of_threads_forks_and_killed_processes_is_counted() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let of = |mode: &str| watch(directory.path(), &[arg(&program), mode, "700"]);
    let (calls, done) = of("threads");
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(count(&calls, "digest", "sha256", 1000), 700);
    assert_eq!(count(&calls, "digest", "sha512", 2000), 64 * 700);
    let (calls, _) = of("forks");
    assert_eq!(count(&calls, "digest", "sha256", 1000), 700, "a child has none of its parent's");
    assert_eq!(count(&calls, "digest", "sha512", 2000), 4 * 700, "by fork and by a plain clone");
    assert_eq!(processes(&calls), 5);
    let (calls, done) = of("killed");
    assert_eq!(done.status.signal(), Some(9), "{done:?}");
    assert_eq!(count(&calls, "digest", "sha256", 1000), 700, "nothing is lost with it: {calls}");
}

#[test]
fn three_libraries_with_the_same_names_are_told_apart() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let own = system_libraries().join("libcrypto.so.3");
    if !own.is_file() {
        return;
    }
    let copies = ["a", "b", "c"].map(|name| {
        let copy = directory.path().join(format!("libcrypto-{name}.so"));
        std::fs::copy(&own, &copy).unwrap();
        copy
    });
    let [a, b, c] = copies.each_ref().map(|copy| arg(copy));
    let (calls, done) = watch(directory.path(), &[arg(&program), "libraries", "10", a, b, c]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let rows = calls["processes"][0]["rows"].as_array().unwrap();
    for (copy, times) in copies.iter().zip([20, 30, 40]) {
        let index = calls["libraries"].as_array().unwrap();
        let index = index.iter().position(|library| library["path"] == arg(copy)).unwrap();
        let own = rows.iter().filter(|row| row["library"] == index && row["operation"] == "digest");
        let counts: Vec<u64> = own.map(|row| row["count"].as_u64().unwrap()).collect();
        assert_eq!(counts, [times], "{copy:?}");
    }
    assert_eq!(count(&calls, "digest", "sha256", 1000), 10, "of the one that it is linked with");
}

#[test]
fn what_a_program_does_is_measured_again_and_every_change_has_its_price() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let (calls, _) = watch(directory.path(), &[arg(&program), "encrypts", "300"]);
    let own = rows(&calls, "libraries")[0]["path"].as_str().unwrap();
    assert!(own.contains("libcrypto"), "{own}");
    let [calls_at, mix] = ["calls.json", "mix.json"].map(|name| file(&directory, name));
    let line =
        ["run", "--workload", &calls_at, "-l", "libgcrypt", "--budget", "15s", "-q", "-o", &mix];
    let done = ciphermark(&line, b"");
    assert!(matches!(done.code, 0 | 3), "{done:?}");

    let record = read(&mix);
    let cases = rows(&record["plan"], "cases");
    let of = |name: &str| cases.iter().filter(|c| c["algorithm"] == name).count();
    assert_eq!((of("sha256"), of("aes-256-gcm")), (2, 2), "in a loop and after other work");
    assert!(of("aes-128-gcm") == 2 && of("chacha20-poly1305") == 2, "what could replace it");
    let ids: Vec<&Value> =
        rows(&record, "libraries").iter().map(|library| &library["id"]).collect();
    assert!(ids.len() == 2, "the program's own build is added to the one that was named: {ids:?}");
    let measured =
        where_(rows(&record, "measurements"), &[("model", "between"), ("algorithm", "sha256")]);
    assert!(measured.len() == 2 && measured.iter().all(|m| m["size"] == 1000), "{measured:?}");

    let advice = ciphermark(&["advise", &mix, "--from", &calls_at, "--format", "json"], b"");
    let advice = advice.with_code(0).json();
    let sizes: Vec<u64> =
        rows(&advice, "rows").iter().map(|row| row["size"].as_u64().unwrap()).collect();
    assert!(sizes.contains(&1000) && sizes.contains(&1500), "{sizes:?}");
    let changes = rows(&advice, "changes");
    let kinds = |kind: &str| changes.iter().filter(|c| c["change"] == kind).count();
    assert!(kinds("algorithm") >= 2 && kinds("library") >= 1, "{changes:?}");
    let fetch = changes.iter().find(|c| c["fault"] == "fetch").unwrap();
    assert_eq!(fetch["calls"], 300, "the fault that was planted: {fetch}");
    let saved = &fetch["saved_seconds"];
    assert!(
        saved["low"] == saved["high"] && saved["low"].as_f64().unwrap() > 0.0,
        "it was measured: {saved}"
    );

    let ranked = ciphermark(&["rank", &mix, "--from", &calls_at, "--format", "json"], b"");
    let ranked = ranked.with_code(0).json();
    assert!(rows(&ranked, "changes").iter().all(|c| c["change"] == "library"), "{ranked}");
    let compare = ["compare", &mix, "--from", &calls_at, "--libraries", "program,libgcrypt"];
    let compared = ciphermark(&compare, b"").with_code(0);
    assert!(
        compared.stdout.contains("libgcrypt@") && compared.stdout.contains("1500"),
        "{compared:?}"
    );
    let none = refusal(&["compare", &mix, "--from", &calls_at, "--libraries", "nobody"]);
    assert!(none.contains("program@"), "it names the program's own: {none}");
    let page = file(&directory, "program.html");
    ciphermark(&["report", &mix, "--from", &calls_at, "-o", &page], b"").with_code(0);
    assert!(
        std::fs::read_to_string(&page).unwrap().contains("What changes would save the program")
    );
}

#[test]
fn a_file_that_is_no_watched_program_is_refused_in_one_line() {
    let directory = scratch();
    let path = file(&directory, "calls.json");
    for (text, why) in [("{}", "missing field"), ("no JSON", "expected")] {
        std::fs::write(&path, text).unwrap();
        let line = refusal(&["run", "--workload", &path]);
        assert!(line.contains("watch -o") && line.contains(why), "{line}");
    }
    let line = refusal(&["advise", "--from", &path]);
    assert!(line.contains("--for postgres"), "{line}");
}

#[test]
fn a_program_that_closes_all_descriptors_or_executes_itself_is_seen_on() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let (calls, done) = watch(directory.path(), &[arg(&program), "closes", "50"]);
    assert_eq!(done.status.code(), Some(5));
    assert_eq!(count(&calls, "digest", "sha512", 2000), 50);
    let (calls, _) = watch(directory.path(), &[arg(&program), "execs", "50"]);
    assert_eq!(count(&calls, "digest", "sha256", 1000), 100, "before and after: {calls}");
}

#[test]
fn output_exit_code_and_signals_are_the_programs_own() {
    let directory = scratch();
    let of = |script: &str| watch(directory.path(), &["sh", "-c", script]).1;
    let done = of("cat; echo out; echo err >&2; exit 7");
    assert_eq!((done.status.code(), &*done.stdout), (Some(7), &b"out\n"[..]));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.starts_with("err\n") && said.contains("No call into a crypto library"), "{said}");
    let done = of("echo $CIPHERMARK_WATCH; kill -TERM $$");
    assert_eq!(done.status.signal(), Some(15));
    let counts = String::from_utf8(done.stdout).unwrap();
    assert!(!Path::new(counts.trim()).parent().unwrap().exists(), "{counts}");
    assert_eq!(watch(directory.path(), &["/nonexistent"]).1.status.code(), Some(127));
    assert_eq!(watch(directory.path(), &[arg(directory.path())]).1.status.code(), Some(126));

    let mut command = Command::new(program());
    let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    command.args(["watch", "--", "sh", "-c", script]).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    let out = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(9), "the program caught it");
}

#[test]
fn real_programs_are_counted_and_their_secrets_are_nowhere() {
    let directory = scratch();
    let path = |name: &str| directory.path().join(name);
    let (plain, key, nonce) = (
        "canary-plaintext",
        "c0ffee5ec2e7c0ffee5ec2e7c0ffee5e",
        "facade0ddba11facade0ddba11facade",
    );
    std::fs::write(path("plain"), plain.repeat(62_500)).unwrap();
    let (plaintext, sealed, counts) = (path("plain"), path("sealed"), path("counts"));
    // The first regions of the file that calls are counted in: nearly all of it is empty.
    let script = format!(
        "openssl enc -aes-128-cbc -K {key} -iv {nonce} -in {} -out {} && head -c 16M $CIPHERMARK_WATCH >{}",
        arg(&plaintext),
        arg(&sealed),
        arg(&counts)
    );
    let (calls, done) = watch(directory.path(), &["sh", "-c", &script]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(sealed.metadata().unwrap().len(), 1_000_016);
    assert_eq!(count(&calls, "cipher", "aes-128-cbc", 1_000_000), 1, "{calls}");
    let written = path("calls.json");
    assert_eq!(written.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&written).unwrap() + &String::from_utf8_lossy(&done.stderr);
    let counts = String::from_utf8_lossy(&std::fs::read(counts).unwrap()).into_owned();
    assert!(counts.contains("aes-128-cbc"));
    for secret in [plain, key, nonce, arg(&plaintext), "-aes-128-cbc"] {
        assert!(!text.contains(secret) && !counts.contains(secret), "{secret}");
    }
    let (calls, _) = watch(directory.path(), &["openssl", "dgst", "-sha256", arg(&plaintext)]);
    assert_eq!(count(&calls, "digest", "sha256", 1_000_000), 1);
    let python = "import hashlib\nfor i in range(500): hashlib.sha256(b'x' * 5000).digest()";
    if Path::new("/usr/bin/python3").is_file() {
        let (calls, _) = watch(directory.path(), &["/usr/bin/python3", "-c", python]);
        assert_eq!(count(&calls, "digest", "sha256", 5000), 500);
    }
}

/// Sizes tell the messages of one statement apart: `n` has one to three digits. Of each login the client derives a key by
/// 4,096 rounds, of which the first has the salt, and signs twice, and the server checks twice (RFC 5802 section 3).
#[test]
#[ignore = "long: PostgreSQL's server"]
fn a_database_and_its_clients_are_counted_to_the_message() {
    let cluster = Cluster::new();
    let beside = |name: &str| cluster.beside(name);
    // The server's user may not enter where this program lies.
    let own = beside("bin");
    std::fs::create_dir(&own).unwrap();
    for name in ["ciphermark", "libciphermarkwatch.so"] {
        std::fs::copy(program().parent().unwrap().join(name), own.join(name)).unwrap();
    }
    let (host, data) = (arg(&beside("")).to_owned(), arg(&cluster.data()).to_owned());
    let script = format!(
        "set -e; export PGHOST={host} PGPASSWORD=x
        printf 'local all r scram-sha-256\nlocal all all trust\n' >{data}/pg_hba.conf
        {server}/pg_ctl -w -s -D {data} -l log -o '-c listen_addresses= -c unix_socket_directories={host} -c fsync=off' start
        psql -qXU postgres -c 'create extension pgcrypto' -c \"create role r login password 'x'\"
        for login in 1 2 3; do psql -qXAtU r -d postgres -c 'select 1'; done
        psql -qXAtU postgres -c \"select count(digest(repeat('x', 3000) || n, 'sha256')),
          count(encrypt(convert_to(repeat('x', 1000), 'utf8'), '0123456789abcdef', 'aes-cbc')) from generate_series(1, 700) n\"
        {server}/pg_ctl -w -s -D {data} -m fast stop",
        server = arg(&cluster.binaries),
    );
    let calls = beside("calls.json");
    let line = ["watch", "-o", arg(&calls), "--", "sh", "-c", &script];
    cluster.run(arg(&own.join("ciphermark")), &line);
    let calls = read(arg(&calls));
    for (operation, algorithm, size, expected) in [
        ("digest", "sha256", 3001, 9),
        ("digest", "sha256", 3002, 90),
        ("digest", "sha256", 3003, 601),
        ("cipher", "aes-128-cbc", 1000, 700),
        // The role's password was derived once, too.
        ("mac", "hmac-sha256", 32, (3 + 1) * 4095),
        ("mac", "hmac-sha256", 20, 3 + 1),
        ("mac", "hmac-sha256", 10, (3 + 1) * 2),
    ] {
        assert_eq!(count(&calls, operation, algorithm, size), expected, "{algorithm} {size}");
    }
}

#[test]
fn what_is_shared_has_classes_of_sizes_and_no_directories() {
    let directory = scratch();
    let Some(watched) = watched(directory.path()) else { return };
    let mut command = Command::new(program());
    command.args(["watch", "--share", "--json", "--", arg(&watched), "plain", "10"]);
    let output = command.output().unwrap();
    let calls: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(calls["schema"], "ciphermark-calls");
    assert_eq!(count(&calls, "digest", "sha256", 1000), 0);
    assert_eq!(count(&calls, "digest", "sha256", 896), 10, "{calls}");
    let text = calls.to_string();
    assert!(!text.contains(arg(directory.path())) && !text.contains("/usr/"), "{text}");
}

#[test]
fn a_static_program_gets_a_line_and_runs() {
    let directory = scratch();
    let program = directory.path().join("static");
    let source = directory.path().join("static.c");
    std::fs::write(&source, "int main(void) { return 6; }").unwrap();
    fakes::succeed(Command::new("cc").arg("-static").arg("-o").arg(&program).arg(&source));
    let (_, done) = watch(directory.path(), &[arg(&program)]);
    assert_eq!(done.status.code(), Some(6));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("is linked statically: only samples"), "{said}");
}
