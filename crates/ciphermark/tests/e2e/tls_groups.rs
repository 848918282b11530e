//! The group that each libssl at hand picks is the one that the model has, and it asks the client again where the
//! model says so: read from the wire, both ends in memory.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use judge::load::{Agreement, ClientShare, Picking, Settings, Spec, outcomes};
use record::tls::{Certificate, Kind, Version};
use std::path::{Path, PathBuf};
use std::process::Command;

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
        one.args([
            "--exact",
            "tls_groups::one_libssl_picks_the_group_that_the_model_has",
            "--nocapture",
        ]);
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
