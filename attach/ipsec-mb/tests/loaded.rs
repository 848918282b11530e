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

#[test]
fn everything_that_it_offers_passes_every_check() {
    let Some(library) = library() else { return };
    let offer = trial::whole_offer(&*library);
    assert_eq!(offer.refused, [], "what it refuses beyond 65534 bytes is no fault");
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
