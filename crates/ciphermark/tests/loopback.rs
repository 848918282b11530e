//! The client against both servers, over real sockets. Nothing here depends on how fast anything is.
//!
//! The executable is its own client and server, as `ciphermark` is.
#![allow(clippy::unwrap_used, reason = "a test, though with a main of its own")]
use adapters::stacks::Trouble;
use ciphermark::server::{
    Client, ClientPlan, Ends, Job, Libraries, Minimal, MinimalPlan, MinimalTls, Nginx, SUBCOMMAND,
    Sessions, Site, SiteTls, Told, find_nginx, serve,
};
use judge::load::Http;
use record::tls::{Case, Certificate, Exchange, Kind, Version};
use std::path::{Path, PathBuf};
use std::process::Command;

type Test = (&'static str, fn(&Libraries));

fn main() {
    if std::env::args().nth(1).is_some_and(|word| word == engine::doctor::quietly::SUBCOMMAND) {
        panic!("{:?}", engine::doctor::quietly::serve());
    }
    if std::env::args().nth(1).is_some_and(|word| word == SUBCOMMAND) {
        if let Err(why) = serve() {
            eprintln!("{why}");
            std::process::exit(4);
        }
        return;
    }
    let tests: [Test; 7] = [
        ("the_minimal_server_answers_every_case_that_is_asked", every_case),
        ("a_share_that_resumes_is_counted", shares),
        ("connections_that_are_held_are_made_before_the_word", held),
        ("handshakes_that_are_to_fail_do", failures),
        ("a_case_that_the_server_does_not_have_is_told_by_the_client", contradiction),
        ("a_library_does_nothing_outside_while_it_is_loaded", confined),
        ("nginx_answers_and_leaves_nothing_behind", nginx),
    ];
    // As test runners ask: for the names, or for one test by its name. None is a long one.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| words.iter().any(|w| w == word);
    if has("--ignored") {
        return;
    }
    if has("--list") {
        return tests.iter().for_each(|(name, _)| println!("{name}: test"));
    }
    let Some(libraries) = libraries() else {
        return eprintln!("left out: there is no libssl.so.3");
    };
    let all = words.iter().all(|word| word.starts_with("--"));
    for (name, test) in tests.into_iter().filter(|(name, _)| all || has(name)) {
        test(&libraries);
        println!("test {name} ... ok");
    }
}

fn libraries() -> Option<Libraries> {
    let place = Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    let [ssl, crypto] = ["libssl.so.3", "libcrypto.so.3"].map(|file| place.join(file));
    (ssl.is_file() && crypto.is_file()).then_some(Libraries { ssl, crypto })
}

fn cases() -> Vec<Case> {
    use Kind::{Full, ResumedId, ResumedPsk, ResumedTicket};
    use Version::{Tls12, Tls13};
    vec![
        Case::usual(Tls13, Exchange::X25519, Certificate::P256, Full),
        Case::usual(Tls13, Exchange::X25519, Certificate::P256, ResumedPsk),
        Case::usual(Tls12, Exchange::P256, Certificate::Rsa2048, ResumedTicket),
        Case::usual(Tls12, Exchange::P256, Certificate::P256, ResumedId),
        Case::usual(Tls12, Exchange::OwnDh2048, Certificate::Rsa2048, Full),
        Case::usual(Tls12, Exchange::Rsa, Certificate::Rsa2048, Full),
    ]
}

/// What only a server that is set for it does.
fn demanding() -> [Case; 2] {
    let usual = Case::usual(Version::Tls13, Exchange::P256, Certificate::Rsa2048, Kind::HelloRetry);
    [usual, Case { kind: Kind::Full, client_auth: true, ..usual }]
}

fn cpu(at: usize) -> u32 {
    let cpus = probe::allowed_cpus();
    cpus[at.min(cpus.len() - 1)]
}

fn job(port: u16, tls: Option<Case>) -> Job {
    Job {
        port,
        tls,
        http: Http::Http1,
        resumed: if tls.is_some_and(|c| c.kind.is_resumed()) { 1.0 } else { 0.0 },
        ends: Ends::Answered,
        request_bytes: 500,
        responses: vec![1024, 40_000],
        held: false,
        at_once: 1,
        pause_us: 0,
        connections: 6,
        seconds: 60.0,
        slice_seconds: 60.0,
        offers: Vec::new(),
    }
}

fn client(libraries: &Libraries, ports: &[Result<u16, String>]) -> Client {
    let ports = ports.iter().filter_map(|port| port.clone().ok()).collect();
    let plan = ClientPlan { libraries: libraries.clone(), ports, chosen: false };
    Client::start(&plan, cpu(1)).unwrap()
}

fn run(client: &mut Client, job: &Job) -> Told {
    client.run(job, &mut |_| Ok(())).unwrap_or_else(|why| panic!("{why}: {job:?}"))
}

fn minimal(libraries: &Libraries, cases: &[Case]) -> Minimal {
    let tls = cases
        .iter()
        .map(|case| Some(MinimalTls { case: *case, tickets: None, record_bytes: 4096 }));
    let ports = std::iter::once(None).chain(tls).collect();
    let plan = MinimalPlan { libraries: libraries.clone(), ports };
    Minimal::start(&plan, cpu(0), &[]).unwrap()
}

fn port(server: &Minimal, at: usize) -> u16 {
    *server.ports[at].as_ref().unwrap()
}

fn every_case(libraries: &Libraries) {
    let cases = [cases(), demanding().to_vec()].concat();
    let server = minimal(libraries, &cases);
    let mut client = client(libraries, &server.ports);
    let before = server.cpu().at_rest().unwrap();
    let told = run(&mut client, &job(port(&server, 0), None));
    assert_eq!((told.connections, told.requests, told.bytes), (6, 12, 6 * 41_024));
    for (at, case) in cases.iter().enumerate() {
        let told = run(&mut client, &job(port(&server, at + 1), Some(*case)));
        assert_eq!((told.connections, told.requests), (6, 12), "{case}");
        assert_eq!(told.resumed, if case.kind.is_resumed() { 6 } else { 0 }, "{case}: {told:?}");
        let full = told.full.unwrap();
        assert_eq!((full.version, full.resumed), (case.version, false), "{case}");
        assert_eq!(full.group, case.exchange.group().map(|g| g.to_string()), "{case}");
        assert_eq!(
            told.by_session.map(|n| n.resumed),
            case.kind.is_resumed().then_some(true),
            "{case}"
        );
    }
    assert!(server.cpu().at_rest().unwrap().since(before).ns > 0);
}

fn shares(libraries: &Libraries) {
    let case = Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::ResumedPsk);
    let server = minimal(libraries, &[case]);
    let mut client = client(libraries, &server.ports);
    let mixed = Job { resumed: 0.6, connections: 10, ..job(port(&server, 1), Some(case)) };
    let told = run(&mut client, &mixed);
    assert_eq!((told.connections, told.resumed), (10, 6));
    let told = run(&mut client, &Job { at_once: 3, connections: 30, ..mixed.clone() });
    assert_eq!((told.connections, told.resumed), (30, 18));
    // Also where each lane makes one connection only.
    let told = run(&mut client, &Job { at_once: 10, ..mixed });
    assert_eq!((told.connections, told.resumed), (10, 6));
}

fn held(libraries: &Libraries) {
    let case = Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full);
    let server = minimal(libraries, &[case]);
    let mut client = client(libraries, &server.ports);
    let job = Job { held: true, at_once: 4, ..job(port(&server, 1), Some(case)) };
    let mut open = Vec::new();
    let told = client.run(&job, &mut |_| {
        open.push(connections_to(port(&server, 1)));
        Ok(())
    });
    assert_eq!(told.unwrap().requests, 12);
    assert_eq!(open, [4, 4], "connections before and after");
}

/// Established ones, as the kernel lists the server's ends: state 01 (proc(5), `net/tcp`). Where other programs change the table
/// meanwhile, a reading misses some and has others twice: different ones are counted, and the largest of several counts.
fn connections_to(port: u16) -> usize {
    let local = format!("0100007F:{port:04X}");
    let count = |_| {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let rows = table.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
        let ours =
            rows.filter(|row| row.get(1) == Some(&local.as_str()) && row.get(3) == Some(&"01"));
        ours.map(|row| row[2].to_owned()).collect::<std::collections::BTreeSet<_>>().len()
    };
    (0..20).map(count).max().unwrap_or(0)
}

fn failures(libraries: &Libraries) {
    let case = Case::usual(Version::Tls12, Exchange::P256, Certificate::Rsa2048, Kind::Full);
    let server = minimal(libraries, &[case]);
    let mut client = client(libraries, &server.ports);
    let abandoned = Job { ends: Ends::Abandoned, ..job(port(&server, 1), Some(case)) };
    assert_eq!(run(&mut client, &abandoned).connections, 6);
    let stranger = Case { certificate: Certificate::P256, ..case };
    let refused = Job { ends: Ends::Refused, tls: Some(stranger), ..abandoned.clone() };
    assert_eq!(run(&mut client, &refused).connections, 6);
    let sound = Job { ends: Ends::Refused, ..abandoned };
    let why = client.run(&sound, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(&why, Trouble::Failed(why) if why.contains("was to fail")), "{why}");
}

fn contradiction(libraries: &Libraries) {
    let offered = Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full);
    let server = minimal(libraries, &[offered]);
    let mut client = client(libraries, &server.ports);
    let asked = Case { exchange: Exchange::P384, ..offered };
    let job_of = |asked| job(port(&server, 1), Some(asked));
    // By the alert's number or by what was agreed on, not by a library's words for it.
    let why = client.run(&job_of(asked), &mut |_| Ok(())).unwrap_err();
    assert!(matches!(why, Trouble::NotOffered(_)), "{why}");
    // The client is of use all the same.
    run(&mut client, &job_of(offered));
}

/// libssl behind an object whose initialiser does one deed, and aborts where that succeeds.
fn reaching(libraries: &Libraries, directory: &Path, deed: &str) -> Libraries {
    let fakes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fakes");
    let ssl = directory.join(format!("libssl-{deed}.so"));
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&ssl).arg("-I").arg(fakes.join("../../include"));
    if deed == "MAKE" {
        let source = directory.join("make.c");
        let made = directory.join("made");
        let text = format!(
            "#include <fcntl.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void load(void) \
             {{ if (open(\"{}\", O_WRONLY | O_CREAT, 0600) >= 0) abort(); }}\n",
            made.display()
        );
        std::fs::write(&source, text).unwrap();
        compiler.arg(source);
    } else {
        compiler.arg(format!("-DLOAD={deed}")).arg(fakes.join("grab_power.c"));
    }
    compiler.arg("-Wl,--no-as-needed").args([&libraries.ssl, &libraries.crypto]);
    let done = compiler.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Libraries { ssl, crypto: libraries.crypto.clone() }
}

fn confined(libraries: &Libraries) {
    let scratch = tempfile::tempdir().unwrap();
    let case = Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full);
    let server = minimal(libraries, &[case]);
    let asked = job(port(&server, 1), Some(case));
    // What fails like that on other systems, too: the library goes on.
    for deed in ["MAKE", "SERVICE", "READ", "PEEK"] {
        let own = reaching(libraries, scratch.path(), deed);
        assert_eq!(run(&mut client(&own, &server.ports), &asked).requests, 12, "{deed}");
        let servers = minimal(&own, &[case]);
        let asked = job(port(&servers, 1), Some(case));
        assert_eq!(run(&mut client(&own, &servers.ports), &asked).requests, 12, "{deed}");
    }
    assert!(!scratch.path().join("made").exists());
    // What no library does by accident ends it.
    for (deed, call) in [("EXEC", "execve"), ("KILL", "kill"), ("PTRACE", "ptrace")] {
        let own = reaching(libraries, scratch.path(), deed);
        let why = client(&own, &server.ports).run(&asked, &mut |_| Ok(())).unwrap_err();
        assert!(why.to_string().contains(call), "{deed}: {why}");
        let plan = MinimalPlan { libraries: own, ports: vec![None] };
        let why = Minimal::start(&plan, cpu(0), &[]).unwrap_err();
        assert!(why.to_string().contains(call), "{deed}: {why}");
    }
    // A client reaches its servers alone, where the kernel knows ports; its servers nobody.
    let own = reaching(libraries, scratch.path(), "CONNECT");
    minimal(&own, &[case]);
    let plan = ClientPlan { libraries: own, ports: vec![port(&server, 1)], chosen: true };
    match Client::start(&plan, cpu(1)).unwrap().run(&asked, &mut |_| Ok(())) {
        Ok(told) => assert_eq!(told.requests, 12),
        Err(why) => assert!(why.to_string().contains("is not loaded: this kernel"), "{why}"),
    }
}

fn nginx(libraries: &Libraries) {
    let facts = match find_nginx(None) {
        Ok(facts) => facts,
        Err(why) => return eprintln!("left out: {why}"),
    };
    let tls = |case: &Case| SiteTls {
        certificate: case.certificate,
        dh: case.exchange.is_finite_field().then_some(case.exchange),
        group: (case.kind == Kind::HelloRetry).then_some(case.exchange),
        sessions: if case.kind == Kind::ResumedId { Sessions::Cache } else { Sessions::Tickets },
        record_bytes: 16_384,
    };
    let mut cases = cases();
    cases.push(demanding()[0]);
    let plain = |http2| Site { tls: None, http2, sendfile: false };
    let mut sites = vec![plain(false), plain(true)];
    sites.extend(cases.iter().map(|case| Site {
        tls: Some(tls(case)),
        http2: false,
        sendfile: false,
    }));
    sites.push(Site { tls: Some(tls(&cases[0])), http2: true, sendfile: false });
    let nginx = Nginx::start(&facts, &sites, &[1024, 40_000], cpu(0), &[]).unwrap();
    let ports: Vec<_> = nginx.ports.iter().copied().map(Ok).collect();
    let mut client = client(libraries, &ports);
    for http in [Http::Http1, Http::Http2] {
        let at = usize::from(http == Http::Http2);
        let told = run(&mut client, &Job { http, ..job(nginx.ports[at], None) });
        assert_eq!((told.connections, told.requests, told.bytes), (6, 12, 6 * 41_024), "{http}");
    }
    for (case, port) in cases.iter().zip(&nginx.ports[2..]) {
        let told = run(&mut client, &job(*port, Some(*case)));
        assert_eq!(told.resumed, if case.kind.is_resumed() { 6 } else { 0 }, "{case}: {told:?}");
        assert_eq!(
            told.full.unwrap().group,
            case.exchange.group().map(|g| g.to_string()),
            "{case}"
        );
    }
    // Unpinned: what it picks, by the wire.
    let offers = vec!["P-256:X25519".to_owned(), "P-384:P-256".to_owned()];
    let offering = Job { offers, ..job(nginx.ports[2], Some(cases[0])) };
    let picked = run(&mut client, &offering).picked;
    assert_eq!(picked[0].group, Some(record::tls::Group::P256), "{picked:?}");
    assert!(!picked[0].hello_retry && picked[1].reason.is_none(), "{picked:?}");
    let both = Job {
        http: Http::Http2,
        responses: [1024, 40_000].repeat(10),
        ..job(*nginx.ports.last().unwrap(), Some(cases[0]))
    };
    assert_eq!(run(&mut client, &both).requests, 120);
    assert!(nginx.cpu().at_rest().unwrap().ns > 0);
    let (worker, place) = (nginx.worker(), directory_of(&nginx.configuration));
    assert!(place.is_dir());
    drop(nginx);
    assert!(!place.exists(), "{}", place.display());
    assert!(!Path::new(&format!("/proc/{worker}")).exists());
}

fn directory_of(configuration: &str) -> PathBuf {
    let line = configuration.lines().find_map(|line| line.strip_prefix("pid ")).unwrap();
    Path::new(line.trim_end_matches(';')).parent().unwrap().to_owned()
}
