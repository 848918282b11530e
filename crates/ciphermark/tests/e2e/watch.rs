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

/// What all processes called.
fn all_rows(calls: &Value) -> impl Iterator<Item = &Value> {
    rows(calls, "processes").iter().flat_map(|process| rows(process, "rows"))
}

/// How many messages of an operation, algorithm and size there are, over all processes.
fn count(calls: &Value, operation: &str, algorithm: &str, size: u64) -> u64 {
    let is = |row: &&Value| {
        row["operation"] == operation && row["algorithm"] == algorithm && row["size"][0] == size
    };
    all_rows(calls).filter(is).map(|row| row["count"].as_u64().unwrap()).sum()
}

fn processes(calls: &Value) -> usize {
    rows(calls, "processes").len()
}

#[test]
#[ignore = "long: seconds"]
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
fn a_child_that_is_forked_while_a_thread_binds_functions_does_not_hang() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let (_, done) = watch(directory.path(), &[arg(&program), "binds", "200"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
}

#[test]
fn a_program_that_confines_itself_lives_on_and_its_calls_are_counted() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    // A call of each 1,024 writes CPU time down.
    let (calls, done) = watch(directory.path(), &[arg(&program), "confines", "3000"]);
    assert_eq!(done.status.code(), Some(5), "{done:?}");
    assert_eq!(count(&calls, "digest", "sha512", 2000), 2 * 3000, "{calls}");
    assert_eq!(rows(&calls, "processes")[1]["cpu_is_least"], true, "{calls}");
}

#[test]
fn a_program_that_locks_or_bounds_its_memory_has_as_much_as_without() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let (_, done) = watch(directory.path(), &[arg(&program), "locks", "10"]);
    // Who is not root may lock less than a program has.
    if done.status.code() != Some(4) {
        let taken: u64 = String::from_utf8(done.stdout).unwrap().trim().parse().unwrap();
        assert!(taken < 64, "{taken} MiB");
    }
    let line = format!("ulimit -v 400000; exec {} plain 10", arg(&program));
    let (calls, _) = watch(directory.path(), &["sh", "-c", &line]);
    assert_eq!(count(&calls, "digest", "sha256", 1000), 10, "{calls}");
}

#[test]
fn a_call_from_the_top_of_a_stack_reads_nothing_above_it() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let (_, done) = watch(directory.path(), &[arg(&program), "edge", "10"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
}

#[test]
fn a_child_of_vfork_that_leaves_does_not_end_its_parent() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let (calls, done) = watch(directory.path(), &[arg(&program), "vforks", "10"]);
    assert_eq!(done.status.signal(), Some(9), "{done:?}");
    assert_eq!(calls["processes"][0]["ended"], false, "{calls}");
    assert_eq!(count(&calls, "digest", "sha512", 2000), 10);
}

#[test]
fn a_process_in_another_namespace_is_no_stranger_with_its_number() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    // The first process of a namespace survives its own signals.
    let line = format!("{} killed 10 & wait", arg(&program));
    let line = ["unshare", "-Urpf", "--kill-child", "sh", "-c", &line];
    let (calls, done) = watch(directory.path(), &line);
    if processes(&calls) == 0 {
        eprintln!("no namespaces for this user: {done:?}");
        return;
    }
    let own = &calls["processes"][0];
    assert_eq!((&own["pid"], &own["cpu_is_least"]), (&2.into(), &true.into()), "{calls}");
    assert!(own["cpu_seconds"].as_f64().unwrap() < 1.0, "{calls}");
}

#[test]
fn signatures_of_a_digests_context_and_the_data_beside_ccm_are_counted() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let (calls, _) = watch(directory.path(), &[arg(&program), "signs", "20"]);
    assert_eq!(count(&calls, "sign", "rsa-2048", 0), 20, "{calls}");
    assert_eq!(count(&calls, "digest", "sha512", 2000), 20, "{calls}");
    let (calls, _) = watch(directory.path(), &[arg(&program), "ccm", "20"]);
    let all = rows(&calls, "processes").iter().flat_map(|process| rows(process, "rows"));
    let ccm: Vec<&Value> = all.filter(|row| row["operation"] == "cipher").collect();
    assert_eq!((&ccm[0]["count"], &ccm[0]["aad"][0]), (&20.into(), &13.into()), "{calls}");
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
#[ignore = "long: measures for seconds"]
fn what_a_program_does_is_measured_again_and_every_change_has_its_price() {
    let directory = scratch();
    let Some(program) = watched(directory.path()) else { return };
    let (calls, _) = watch(directory.path(), &[arg(&program), "encrypts", "300"]);
    let own = rows(&calls, "libraries")[0]["path"].as_str().unwrap();
    says(own, ["libcrypto"]);
    let [calls_at, mix] = ["calls.json", "mix.json"].map(|name| file(&directory, name));
    let done = call(&format!("run --workload {calls_at} -l libgcrypt --budget 15s -q -o {mix}"));
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

    let asked = |what: &str, more: &str| call(&format!("{what} {mix} --from {calls_at} {more}"));
    let advice = asked("advise", "--format json").with_code(0).json();
    let sizes: Vec<u64> =
        rows(&advice, "rows").iter().map(|row| row["size"].as_u64().unwrap()).collect();
    assert!(sizes.contains(&1000) && sizes.contains(&1500), "{sizes:?}");
    let changes = rows(&advice, "changes");
    let kinds = |kind: &str| changes.iter().filter(|c| c["change"] == kind).count();
    assert!(kinds("algorithm") >= 2 && kinds("library") >= 1, "{changes:?}");
    let fetch = changes.iter().find(|c| c["fault"] == "fetch").unwrap();
    assert_eq!(fetch["calls"], 300, "the fault that was planted: {fetch}");
    let saved = &fetch["saved_seconds"];
    let is_measured = saved["low"] == saved["high"] && number(saved, "low") > 0.0;
    assert!(is_measured, "it was measured: {saved}");

    let ranked = asked("rank", "--format json").with_code(0).json();
    assert!(rows(&ranked, "changes").iter().all(|c| c["change"] == "library"), "{ranked}");
    let compared = asked("compare", "--libraries program,libgcrypt").with_code(0);
    compared.says(["libgcrypt@", "1500"]);
    // It names the program's own.
    asked("compare", "--libraries nobody").ends(2, ["program@"]);
    let page = file(&directory, "program.html");
    asked("report", &format!("-o {page}")).with_code(0);
    says(std::fs::read_to_string(&page).unwrap(), ["What changes would save the program"]);
}

#[test]
fn a_file_that_is_no_watched_program_is_refused_in_one_line() {
    let directory = scratch();
    let path = file(&directory, "calls.json");
    for (text, why) in [("{}", "missing field"), ("no JSON", "expected")] {
        std::fs::write(&path, text).unwrap();
        says(refusal(&["run", "--workload", &path]), ["watch -o", why]);
    }
    says(refusal(&["advise", "--from", &path]), ["--for postgres"]);
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
#[ignore = "long: seconds"]
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

/// Runs a script of the shell, with the test's directory as its own, and watches it; what it printed, too.
fn script(directory: &Path, script: &str) -> (Value, String) {
    let (calls, done) =
        watch(directory, &["sh", "-c", &format!("set -e; cd {}\n{script}", arg(directory))]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    (calls, String::from_utf8(done.stdout).unwrap())
}

/// A port that nobody listens at.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The server says itself how many pages and blocks it encrypted. Each row that is inserted has an undo record and an insert
/// in its encrypted log, but for a few beside which something else happens.
#[test]
#[ignore = "long: MariaDB's server"]
fn a_database_with_encrypted_tables_is_counted_to_the_page() {
    let directory = scratch();
    let (calls, said) = script(
        directory.path(),
        "PATH=$PATH:/usr/sbin
        printf '1;%032x\\n' 1 >keys
        mariadb-install-db --no-defaults --user=$(id -un) --datadir=$PWD/data --skip-test-db --auth-root-authentication-method=normal >&2
        mariadbd --no-defaults --user=$(id -un) --datadir=$PWD/data --socket=$PWD/s --skip-networking --log-error=$PWD/log \
            --plugin-load-add=file_key_management --loose-file-key-management-filename=$PWD/keys \
            --loose-file-key-management-encryption-algorithm=AES_CTR --innodb-encrypt-tables=ON --innodb-encrypt-log=ON \
            --innodb-encryption-threads=1 --innodb-buffer-pool-size=8M --innodb-max-dirty-pages-pct=0 &
        server=$!; trap 'kill -9 $server' EXIT
        ask() { mariadb --no-defaults -NB -u root -S s \"$@\"; }
        until ask -e 'select 1' >&2; do kill -0 $server; sleep .1; done
        ask -e \"create database d; use d; create table t (id int primary key auto_increment, v varbinary(1000));
            insert into t (v) select random_bytes(1000) from seq_1_to_20000; alter table t add key (v(200));
            select count(v) from t use index ()\" >&2
        while [ $(ask -e \"show status like 'innodb_buffer_pool_pages_dirty'\" | cut -f 2) != 0 ]; do sleep .1; done
        ask -e \"show status like 'innodb%crypted'\"",
    );
    let own = |name: &str| -> u64 {
        let mut lines = said.lines().filter_map(|line| line.split_once('\t'));
        lines.find(|(of, _)| *of == name).unwrap().1.parse().unwrap()
    };
    let count = |direction: &str, least: u64, most: u64| -> u64 {
        let mut count = 0;
        for row in all_rows(&calls) {
            let [first, last] = [0, 1].map(|at| row["size"][at].as_u64().unwrap());
            let is_it = row["algorithm"] == "aes-128-ctr" && row["direction"] == direction;
            if is_it && first >= least && last <= most {
                count += row["count"].as_u64().unwrap();
            }
        }
        count
    };
    // All but the header and the checksum of a page.
    let page = 16_384 - 26 - 4;
    let block = 1 << 20;
    let merged = |how: &str| own(&format!("Innodb_encryption_n_merge_blocks_{how}"));
    for (of, found, expected) in [
        ("pages", count("encrypt", page, page), own("Innodb_num_pages_encrypted")),
        ("pages", count("decrypt", page, page), own("Innodb_num_pages_decrypted")),
        ("blocks", count("encrypt", block, block), merged("encrypted")),
        ("blocks", count("decrypt", block, block), merged("decrypted")),
        ("undo", count("encrypt", 12, 15), 20_000),
        ("inserts", count("encrypt", 1024, 1279), 20_000),
    ] {
        let is_near = expected > 0 && found.abs_diff(expected) <= expected / 1000;
        assert!(is_near, "{of}: {found}, {expected}: {said} {calls}");
    }
    assert_eq!(self::count(&calls, "random", "random", 1000), 20_000);
}

/// What fits into the first window goes in packets of 32 KiB: each has 9 bytes of header, its own length of padding, padding.
/// OpenSSH takes an HMAC of digests, and for each packet of ChaCha20 the length apart, a key for Poly1305, and the rest.
#[test]
#[ignore = "long: OpenSSH's server"]
fn a_server_that_separates_privileges_and_its_client_are_counted_to_the_packet() {
    let directory = scratch();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("data"), vec![0; 2_000_000]).unwrap();
    let packets = 2_000_000 / 32_768;
    let connection = |cipher: &str| {
        let text = format!(
            "PATH=$PATH:/usr/sbin
            [ -w /run ] && mkdir -p /run/sshd
            [ -e host ] || {{ ssh-keygen -q -t ed25519 -N '' -f host; ssh-keygen -q -t ed25519 -N '' -f user; }}
            printf 'ListenAddress 127.0.0.1:{port}\nHostKey %s/host\nAuthorizedKeysFile %s/user.pub\n' $PWD $PWD >conf
            printf 'StrictModes no\nUsePAM no\nPidFile none\nCiphers {cipher}\nMACs hmac-sha2-256-etm@openssh.com\n' >>conf
            $(command -v sshd) -D -f $PWD/conf -E $PWD/log & server=$!; trap 'kill $server' EXIT
            until grep -q 'listening on' log; do kill -0 $server; sleep .05; done
            ssh -F none -p {port} -i user -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
                -o BatchMode=yes -o LogLevel=error 127.0.0.1 'wc -c' <data
            until grep -qE 'Disconnected from|Connection closed' log; do sleep .05; done; rm log; sleep .1",
            port = free_port(),
        );
        let (calls, said) = script(directory.path(), &text);
        assert_eq!(said.trim(), "2000000");
        calls
    };
    let calls = connection("aes256-gcm@openssh.com");
    for (size, expected) in [(32_784, packets), (1168, 1)] {
        assert_eq!(count(&calls, "cipher", "aes-256-gcm", size), 2 * expected, "at both ends");
    }
    let gcm = all_rows(&calls);
    let mut gcm = gcm.filter(|row| row["algorithm"] == "aes-256-gcm");
    assert!(gcm.all(|row| row["aad"][0] == 4 && row["tag"] == 16), "also of the last: {calls}");
    let calls = connection("aes256-ctr");
    assert_eq!(count(&calls, "cipher", "aes-256-ctr", 32_784), 2 * packets);
    // The number of the packet and its length come first.
    assert_eq!(count(&calls, "digest", "sha256", 4 + 4 + 32_784), 2 * packets, "{calls}");
    let calls = connection("chacha20-poly1305@openssh.com");
    assert_eq!(count(&calls, "cipher", "chacha20", 32_784), 2 * packets);
    let (mut lengths, mut others) = (0, 0);
    for row in all_rows(&calls) {
        let of = if row["size"] == serde_json::json!([4, 4]) { &mut lengths } else { &mut others };
        *of += if row["algorithm"] == "chacha20" { row["count"].as_u64().unwrap() } else { 0 };
    }
    // Who gets a packet reads its length twice.
    assert!(lengths > 3 * packets && lengths % 3 == 0 && others == lengths / 3 * 4, "{calls}");
}

/// The server puts header and file into records of 16 KiB; the last byte of a record is its type (RFC 8446 section 5.2).
#[test]
#[ignore = "long: programs of several packages"]
fn clients_of_three_tls_libraries_and_their_server_are_counted_to_the_record() {
    let directory = scratch();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("data"), vec![7; 200_000]).unwrap();
    std::fs::write(
        path("both.py"),
        "import ssl
def end(server):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    if server: context.load_cert_chain('cert', 'key')
    else: context.check_hostname = False; context.load_verify_locations('cert')
    inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
    return context.wrap_bio(inward, outward, server_side=server), inward, outward
a, b = end(False), end(True)
for step in range(4):
    for one, other in (a, b), (b, a):
        try: one[0].do_handshake()
        except ssl.SSLWantReadError: pass
        other[1].write(one[2].read())
for message in range(100):
    a[0].write(bytes(5000)); b[1].write(a[2].read())
    assert len(b[0].read(5000)) == 5000
",
    )
    .unwrap();
    let port = free_port();
    let (calls, said) = script(
        directory.path(),
        &format!(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key -out cert -subj /CN=localhost \
                -addext subjectAltName=IP:127.0.0.1 2>/dev/null
            openssl s_server -quiet -key key -cert cert -WWW -accept 127.0.0.1:{port} >/dev/null 2>&1 &
            server=$!; trap 'kill $server' EXIT
            until curl -s --cacert cert -o /dev/null -w '%{{size_download}} %{{size_header}}\\n' https://127.0.0.1:{port}/data
            do kill -0 $server; sleep .1; done
            {{ printf 'GET /data HTTP/1.0\r\n\r\n'; sleep .5; }} | gnutls-cli --insecure -p {port} 127.0.0.1 >gnutls
            /usr/bin/python3 both.py"
        ),
    );
    let (body, header) = said.lines().last().unwrap().split_once(' ').unwrap();
    let all: u64 = body.parse::<u64>().unwrap() + header.parse::<u64>().unwrap();
    let of = |size| count(&calls, "cipher", "aes-256-gcm", size);
    // curl, GnuTLS, and the server for each.
    assert_eq!(of(16_384 + 1), 4 * (all / 16_384), "{calls}");
    assert_eq!(of(all % 16_384 + 1), 4, "{calls}");
    assert_eq!(of(5000 + 1), 2 * 100, "Python at both ends: {calls}");
}

/// GnuPG says the length of what it encrypted, which a byte of version stands before; SQLCipher has a tag of each page.
#[test]
#[ignore = "long: programs of several packages"]
fn what_gnupg_and_sqlcipher_write_is_counted_to_the_byte_and_the_page() {
    let directory = scratch();
    std::fs::write(directory.path().join("data"), vec![7; 300_000]).unwrap();
    let (calls, said) = script(
        directory.path(),
        "mkdir -m 700 home; export GNUPGHOME=$PWD/home
        gpg -q --batch --pinentry-mode loopback --passphrase x -z 0 --cipher-algo AES256 --s2k-count 65536 -o sealed -c data
        env -u LD_AUDIT gpg -q --batch --pinentry-mode loopback --passphrase x --list-packets sealed | grep -A 1 ':encrypted data'
        gpgconf --kill all
        sqlcipher -batch db >/dev/null \"pragma key='x'; pragma journal_mode=off; begin; create table t (v); with recursive n(i) as
            (select 1 union all select i + 1 from n where i < 700) insert into t select randomblob(600) from n; commit\"
        sqlcipher -batch db \"pragma key='x'; select count(*), sum(length(v)) from t; pragma page_count\"",
    );
    let word = |before: &str| {
        let behind = said.split_once(before).unwrap().1;
        behind.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(count(&calls, "cipher", "aes-256-cfb", word("length: ") - 1), 1, "{said} {calls}");
    let pages = word("700|420000\n");
    let all = |operation: &str, algorithm: &str| -> u64 {
        let is = |row: &&Value| {
            row["operation"] == operation
                && row["algorithm"].as_str().unwrap().starts_with(algorithm)
        };
        all_rows(&calls).filter(is).map(|row| row["count"].as_u64().unwrap()).sum()
    };
    assert_eq!(all("cipher", "aes-256-cbc"), 2 * pages, "written and read: {calls}");
    assert_eq!(all("mac", "hmac-sha"), 2 * pages, "{calls}");
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
    says(String::from_utf8(done.stderr).unwrap(), ["is linked statically: only samples"]);
}
