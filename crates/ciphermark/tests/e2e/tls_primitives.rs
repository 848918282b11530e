//! `tls primitives`: what lies under a handshake, in the machine's own libcrypto, as far as it has one, and
//! in one that cheats.

use crate::support::*;
use crate::tls::{soon, stack, system};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn primitives(stack: &str, what: &str, code: i32) -> Value {
    run_of(&soon(&format!("tls primitives -l {stack} --format json {what}"), code).json())
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn every_row_has_both_spans_and_what_it_was_held_to() {
    let Some(stack) = stack() else { return };
    let some = "x25519,ecdsa-p256,rsa-2048-pss,ed25519,sha256,hmac-sha384";
    let run = primitives(&stack, &format!("-p {some} -s 64,1400"), 0);
    let all = rows(&run, "rows");
    // Generating and agreeing, three signatures made and verified, two digests of two sizes.
    assert_eq!(all.len(), 2 + 6 + 4, "{run:#}");
    for row in all {
        assert_eq!(text(row, "state"), "measured", "{row:#}");
        assert!(!rows(row, "checks").is_empty(), "{row:#}");
        for span in ["whole", "call"] {
            let cost = |what: &str| number(row, &format!("{span}.{what}_ns"));
            assert!(0.0 < cost("low") && cost("low") <= cost("median"), "{row:#}");
            assert!(cost("median") <= cost("high") && cost("mean") <= cost("max"), "{row:#}");
        }
        let is_digest = row["primitive"]["operation"] == "digest";
        assert_eq!(row["primitive"]["size"].is_null(), !is_digest, "{row:#}");
    }
    let answers = all.iter().filter(|row| row["checks"].to_string().contains("known answer"));
    // X25519's agreement, Ed25519's signature, the digests.
    assert_eq!(answers.count(), 2 + 4, "{run:#}");
}

#[test]
fn what_a_library_does_not_offer_has_its_own_words_and_no_number() {
    let Some(stack) = stack() else { return };
    // Until 3.5 OpenSSL has no ML-KEM; from then on this is measured.
    let run = primitives(&stack, "-p mlkem768,x25519mlkem768", 0);
    for row in rows(&run, "rows") {
        match text(row, "state") {
            "unsupported" => {
                assert!(row["whole"].is_null() && row["call"].is_null(), "{row:#}");
                assert!(text(row, "reason").starts_with("EVP_PKEY_CTX_new_from_name"), "{row:#}");
            }
            state => assert_eq!(state, "measured", "{row:#}"),
        }
    }
}

#[test]
fn a_table_says_what_lies_inside_the_clock() {
    let Some(stack) = stack() else { return };
    let done = soon(&format!("tls primitives -l {stack} -p sha256 -s 64"), 0);
    assert!(done.stdout.contains("whole µs") && done.stdout.contains("64 B"), "{}", done.stdout);
    assert!(done.stdout.contains("as openssl speed has it"), "{}", done.stdout);
}

/// A libcrypto with `tests/fakes/crypto_shim.c` before it.
fn shimmed(define: &str, directory: &Path) -> Option<String> {
    let shim = shim("crypto_shim.c", &[define], directory)?;
    Some(format!("{}={}", define.to_lowercase(), arg(&shim)))
}

/// A libcrypto with a source of `tests/fakes` before it. The real one goes by another name, so that no
/// other of its name is found beside the one that is meant.
pub(crate) fn shim(source: &str, defines: &[&str], directory: &Path) -> Option<PathBuf> {
    let [ssl, crypto] = system()?;
    for (from, to) in [(ssl, "libssl.so"), (crypto, "zibcrypto.so.3")] {
        let mut bytes = std::fs::read(from).unwrap();
        let name = b"libcrypto.so.3";
        let places: Vec<usize> = bytes
            .windows(name.len())
            .enumerate()
            .filter(|(_, w)| w == name)
            .map(|(i, _)| i)
            .collect();
        assert!(!places.is_empty(), "{to}");
        places.iter().for_each(|at| bytes[*at] = b'z');
        std::fs::write(directory.join(to), bytes).unwrap();
    }
    let shim = directory.join("libcrypto.so");
    let mut cc = fakes::compiler(&shim);
    // Workers load a copy of the shim, which lies elsewhere.
    cc.args(["-O2", "-Wl,--no-as-needed", &format!("-Wl,-rpath,{}", arg(directory))]);
    cc.args(defines.iter().map(|define| format!("-D{define}")));
    cc.arg(repository("tests/fakes").join(source));
    fakes::succeed(cc.arg(directory.join("zibcrypto.so.3")).arg("-ldl"));
    Some(shim)
}

#[test]
fn a_library_that_cheats_is_refused_by_what_its_calls_left() {
    for (define, what, operation, why) in [
        ("SIGNS_ONCE", "ecdsa-p256", "sign", "the signature does not verify"),
        ("TAKES_EVERY_SIGNATURE", "rsa-2048-pss", "verify", "a changed bit was not noticed"),
        ("RETURNS_EARLY", "x25519", "agree", "the secret is not the one that the other side has"),
        ("ONE_KEY", "p256", "generate", "two new keys are the same"),
        ("DIGESTS_THE_BEGINNING", "sha256", "digest", "the digest is wrong"),
    ] {
        let directory = scratch();
        let Some(stack) = shimmed(define, directory.path()) else { return };
        let run = primitives(&stack, &format!("-p {what} -O {operation} -s 1400"), 3);
        let row = &run["rows"][0];
        assert_eq!((text(row, "state"), text(row, "reason")), ("refused", why), "{define}");
        assert!(row["whole"].is_null() && row["checks"] == serde_json::json!([]), "{row:#}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_page_has_a_run_of_each_kind() {
    let Some(stack) = stack() else { return };
    let directory = scratch();
    let handshake = "handshake -V 1.3 -x x25519 -c p256 -k full --client-auth no -t hot";
    let kinds =
        ["primitives -p sha256 -s 64", "records -V 1.3 --cipher aes-128-gcm -s 64", handshake];
    let names = ["primitives.json", "records.json", "handshakes.json.gz"];
    let paths = names.map(|name| file(&directory, name));
    for (what, path) in kinds.iter().zip(&paths) {
        soon(&format!("tls {what} -l {stack} -o {path}"), 0);
    }
    let page = file(&directory, "page.html");
    call(&format!("report {} -o {page}", paths.join(" "))).with_code(0);
    let html = std::fs::read_to_string(page).unwrap();
    for words in ["TLS handshakes", "TLS records", "under a TLS handshake"] {
        assert!(html.contains(words), "{words}");
    }
}
