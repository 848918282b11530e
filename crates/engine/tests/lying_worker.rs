//! Workers that lie. A library shares its worker's process, so whatever that says may be the library's
//! doing, and the scheduler must come to an end with it and believe no more than it can.
//!
//! This program is scheduler and worker, as `ciphermark` is, so it has its own `main`: started as a
//! worker it tells the lie that its library's file is named after.
#![allow(clippy::unwrap_used)] // helpers of tests are outside `#[test]` functions
use base::model::{Algorithm, Direction, Model, Tier};
use ciphermark_engine::protocol::{Ready, Reply, Request, Steps};
use ciphermark_engine::{
    Attached, Extra, LibraryChoice, Operation, SUBCOMMAND, Stop, Wanted, discover, gather,
    verify_all,
};
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Each lie, which is also the name of the library's file, with what must come of it.
const TESTS: [(&str, fn()); 3] = [
    ("another-size", a_size_that_was_not_asked_for_is_not_asked_for_again),
    ("check-after-check", checks_that_are_announced_without_end_end_together),
    ("another-name", the_name_that_the_user_gave_stands),
];

/// How often a lie is told before the liar gives up: where the scheduler believes it, the test fails
/// and does not hang.
const PERSISTENCE: usize = 400;

/// Between two lies: far less than any wait for one takes with [`SHARE`].
const BREATH: Duration = Duration::from_millis(20);

/// Of every deadline, so that all checks together have 2.4 s and each has 0.3 s.
const SHARE: &str = "0.01";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [SUBCOMMAND, _] => lie(),
        ["scheduler", lie] => TESTS.iter().find(|(name, _)| *name == lie).unwrap().1(),
        // As test runners ask: for the names, or for one test by its name. None is a long one.
        [.., "--ignored"] | ["--ignored", ..] => {}
        ["--list", ..] => TESTS.iter().for_each(|(name, _)| println!("{name}: test")),
        ref asked => {
            let is_asked = |name: &str| {
                let mut names = asked.iter().filter(|word| !word.starts_with("--")).peekable();
                names.peek().is_none() || names.any(|word| *word == name)
            };
            let tests = TESTS.iter().filter(|(lie, _)| is_asked(lie));
            let believed = tests.filter(|(lie, _)| !in_a_process_of_its_own(lie)).count();
            assert_eq!(believed, 0, "lies that were believed");
        }
    }
}

/// With its own variables: nothing is remembered from an earlier test, and deadlines are short.
fn in_a_process_of_its_own(lie: &str) -> bool {
    let mut scheduler = Command::new(std::env::current_exe().unwrap());
    scheduler.args(["scheduler", lie]);
    scheduler.env("CIPHERMARK_CACHE", "").env("CIPHERMARK_PATIENCE", SHARE);
    let ended_well = scheduler.status().unwrap().success();
    println!("{lie}: {}", if ended_well { "ok" } else { "FAILED" });
    ended_well
}

fn a_size_that_was_not_asked_for_is_not_asked_for_again() {
    let operation = Operation {
        library: 0,
        tier: Tier::Native,
        algorithm: "aes-128-ctr".into(),
        direction: Direction::Encrypt,
        model: Model::Message,
    };
    let libraries = [attached("another-size")];
    let wanted = Wanted { of: &|_| Vec::new(), allowance: None };
    let found = gather(&libraries, &[operation], wanted, &Stop::default(), &|_, _| ());
    let why = found[0].executed.reason.as_deref();
    assert!(why.is_some_and(|why| why.starts_with("answered out of protocol: Stepped")), "{why:?}");
}

fn checks_that_are_announced_without_end_end_together() {
    let libraries = [attached("check-after-check")];
    let subject = (0, Tier::Native, Algorithm::find("aes-128-ctr").unwrap());
    let extra = Extra { seed: 1, sizes: &[], cases: &[], before_a_run: false };
    let verdicts = verify_all(&libraries, &[subject], extra, &Stop::default(), &|| ());
    let why =
        &verdicts[0].outcome.as_ref().expect_err("what announces for ever proves nothing").why;
    assert!(why.starts_with("in check one more: no answer within"), "{why}");
}

fn the_name_that_the_user_gave_stands() {
    let library = attached("another-name");
    assert_eq!((library.label(), library.given_name), ("mine@1".into(), Some("mine".into())));
}

/// The library `mine`, in the file whose name is the lie.
fn attached(lie: &str) -> Attached {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(lie);
    std::fs::write(&path, shared_object()).unwrap();
    let mut found = discover(&[LibraryChoice::Path { name: "mine".into(), path }]);
    let library = found.remove(0);
    assert_eq!(library.facts.error, None);
    library
}

/// The header of a shared object for this machine, and nothing behind it.
fn shared_object() -> Vec<u8> {
    // Fields of a 64-bit ELF header by their offsets: the kind of file, where the tables of segments and
    // of sections are, and how many entries they have.
    const BYTES: usize = 64;
    const KIND: usize = 16;
    const SHARED: u8 = 3;
    let mut header = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    header.truncate(BYTES);
    header[KIND] = SHARED;
    for field in [32..48, 56..58, 60..62] {
        header[field].fill(0);
    }
    header
}

/// A worker that tells one lie, again and again.
fn lie() {
    let mut requests = std::io::stdin().lock().lines();
    let mut next = || Some(serde_json::from_str::<Request>(&requests.next()?.ok()?).unwrap());
    let Some(Request::Hello(hello)) = next() else { return };
    let token = hello.token.unwrap();
    let say = |reply: Reply| {
        let mut out = std::io::stdout().lock();
        let line = serde_json::to_string(&reply).unwrap();
        // The scheduler may have had enough.
        let _ = writeln!(out, "{token} {line}").and_then(|()| out.flush());
    };
    say(Reply::Ready(Box::new(ready(&hello.path, hello.name))));
    let mut told = 0;
    while let Some(request) = next().filter(|_| told < PERSISTENCE) {
        match request {
            Request::Offers => say(Reply::Offers {
                offers: Vec::new(),
                instructions: None,
                cpuid_answered: None,
                denied: Vec::new(),
                objects: Vec::new(),
            }),
            Request::Step(asked) => {
                told += 1;
                say(Reply::Stepped(Steps {
                    size: asked.size + 1,
                    complete: true,
                    ..Steps::default()
                }));
            }
            Request::Verify { .. } => {
                for _ in 0..PERSISTENCE {
                    say(Reply::Checking { check: "one more".into() });
                    std::thread::sleep(BREATH);
                }
                say(Reply::Verified {
                    checks: Vec::new(),
                    digest: "00".into(),
                    remarks: Vec::new(),
                    tried: Default::default(),
                });
            }
            other => panic!("{other:?}"),
        }
    }
}

fn ready(library: &Path, given: Option<String>) -> Ready {
    let lies = library.ends_with("another-name");
    let name = given.filter(|_| !lies).unwrap_or_else(|| "openssl".into());
    Ready { name, version: "1".into(), clock: "tsc".into(), ..Ready::default() }
}
