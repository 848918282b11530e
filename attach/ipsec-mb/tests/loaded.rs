//! The compiled object, loaded the way ciphermark loads it.

use contract::Library;
use std::sync::OnceLock;

/// `None` where the library is not on this machine.
fn library() -> Option<Box<dyn Library>> {
    static OBJECT: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
    let foreign = trial::Foreign {
        directory: "attach/ipsec-mb",
        compiler: &["cc", "-O2"],
        ending: "c",
        header: "intel-ipsec-mb.h",
        link: "IPSec_MB",
    };
    let object = OBJECT.get_or_init(|| foreign.compile()).as_deref();
    object.map(trial::load)
}

#[test]
fn the_library_says_its_version_and_which_code_it_chose() {
    let Some(library) = library() else { return };
    let identity = library.identity();
    assert_eq!(identity.name, "ipsec-mb");
    assert!(identity.version.starts_with(|c: char| c.is_ascii_digit()), "{identity:?}");
    assert_eq!(trial::fact(identity, "headers "), identity.version);
    assert_ne!(trial::fact(identity, "code for "), "unknown");
}

/// Its jobs count these messages' bytes in 16 bits, and there is no other way to make them: README.md.
const UP_TO_65534_BYTES: [&str; 5] =
    ["aes-128-ccm", "aes-256-ccm", "hmac-sha256", "hmac-sha384", "hmac-sha512"];

#[test]
fn everything_that_it_offers_passes_every_check_but_what_ends_below_64_kib() {
    let Some(library) = library() else { return };
    let offer = trial::whole_offer(&*library);
    for (algorithm, why) in &offer.refused {
        assert!(UP_TO_65534_BYTES.contains(algorithm), "{algorithm}: {why}");
        assert!(why.contains("65535 bytes returned error code 3"), "{algorithm}: {why}");
    }
    for algorithm in [
        "aes-128-ecb",
        "aes-192-cbc",
        "aes-256-ctr",
        "aes-128-gcm",
        "aes-256-ccm",
        "aes-192-gmac",
        "des-ede3-cbc",
        "chacha20-poly1305",
        "sha384",
        "hmac-sha256",
        "poly1305",
    ] {
        assert!(offer.names.contains(&algorithm), "{algorithm} is missing: {:?}", offer.names);
    }
}
