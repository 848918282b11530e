//! The compiled object, loaded the way ciphermark loads it.
use base::model::{Algorithm, Direction};
use contract::{Library, OpenError, Outcome};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, OnceLock};
use testing::trial::Sealed;

const ALONE: testing::trial::Foreign = testing::trial::Foreign {
    directory: "attach/ipsec-mb",
    compiler: &["cc", "-O2"],
    ending: "c",
    header: "intel-ipsec-mb.h",
    link: "IPSec_MB",
};
const JOBS: testing::trial::Foreign =
    testing::trial::Foreign { compiler: &["cc", "-O2", "-DJOBS"], ..ALONE };

/// `None` where the library is not on this machine.
fn library() -> Option<Box<dyn Library>> {
    static OBJECT: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
    OBJECT.get_or_init(|| ALONE.compile()).as_deref().map(testing::trial::load)
}

/// Before 2.0.2 the code for AVX-512 reads beyond a message.
fn has_cmac(library: &dyn Library) -> bool {
    let identity = library.identity();
    testing::trial::fact(identity, "code for ") != "AVX-512" || &*identity.version >= "2.0.2"
}

fn jobs() -> Option<Box<dyn Library>> {
    static OBJECT: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
    OBJECT.get_or_init(|| JOBS.compile()).as_deref().map(testing::trial::load)
}

#[test]
fn the_library_says_its_version_and_which_code_it_chose() {
    let Some(library) = library() else { return };
    let identity = library.identity();
    assert_eq!(identity.name, "ipsec-mb");
    assert!(identity.version.starts_with(|c: char| c.is_ascii_digit()), "{identity:?}");
    assert_eq!(testing::trial::fact(identity, "headers "), identity.version);
    assert_ne!(testing::trial::fact(identity, "code for "), "unknown");
}

#[test]
fn everything_that_it_offers_passes_every_check() {
    let Some(library) = library() else { return };
    let offer = testing::trial::whole_offer(&*library);
    assert_eq!(offer.refused, [], "what it refuses beyond 65534 bytes is no fault");
    offer.has(
        "aes-128-ecb aes-192-cbc aes-256-ctr aes-128-gcm aes-256-ccm aes-192-gmac \
        des-ede3-cbc des-cbc chacha20-poly1305 aes-256-ccm8 sha1 sha384 crc32 hmac-sha1 hmac-sha256 \
        ghash poly1305",
    );
    assert_eq!(offer.names.contains(&"aes-128-cmac"), has_cmac(&*library));
}

#[test]
fn everything_that_it_offers_with_several_jobs_in_flight_passes_every_check() {
    let Some(library) = jobs() else { return };
    assert_eq!(library.identity().name, "ipsec-mb-jobs");
    let offer = testing::trial::whole_offer(&*library);
    assert_eq!(offer.refused, [], "what it refuses beyond 65520 bytes is no fault");
    let expected = "aes-128-cbc aes-192-cbc aes-256-cbc des-ede3-cbc des-cbc sha1 sha224 sha256 sha384 \
        sha512 hmac-sha1 hmac-sha224 hmac-sha256 hmac-sha384 hmac-sha512 aes-128-cmac \
        aes-256-cmac";
    let cmac = has_cmac(&*library);
    let expected = expected.split(' ').filter(|name| cmac || !name.ends_with("-cmac"));
    assert_eq!(offer.names, expected.collect::<Vec<_>>());
}

#[test]
fn a_session_that_is_opened_while_another_thread_makes_errors_is_right_from_its_first_message() {
    let Some(library) = library() else { return };
    let library = &*library;
    let message = &Sealed::under(&[7; 16], algorithm("aes-128-ccm"), 64);
    let too_long = &Sealed::under(&[7; 20], algorithm("hmac-sha1"), 70_000);
    let (is_done, erring) = (&AtomicBool::new(false), &Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut session = library.open(algorithm("hmac-sha1"), Direction::Digest, &[7; 20]);
            let session = session.as_mut().expect("it is offered");
            erring.wait();
            while !is_done.load(Ordering::Relaxed) {
                let refused = too_long.encrypt_with(session).0;
                assert!(matches!(refused, Outcome::Error(_)), "{refused:?}");
            }
        });
        erring.wait();
        let wrong = (0..3000).find(|_| {
            let session = library.open(algorithm("aes-128-ccm"), Direction::Encrypt, &[7; 16]);
            let (_, made, _) = message.encrypt_with(&mut session.expect("it is offered"));
            made != message.cipher
        });
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None);
    });
}

fn algorithm(name: &str) -> &'static Algorithm {
    Algorithm::find(name).expect("an algorithm of ours")
}

#[test]
fn what_has_no_row_with_several_jobs_says_why() {
    let Some(library) = jobs() else { return };
    for (name, why) in [
        ("aes-128-ctr", "several in flight gain nothing"),
        ("aes-128-gcm", "several in flight gain nothing"),
        ("aes-128-ccm", "which of the tags in flight is wrong"),
        ("camellia-128-cbc", "has no camellia-128-cbc"),
    ] {
        match library.open(algorithm(name), Direction::Encrypt, &[7; 16]) {
            Err(OpenError::Unsupported(said)) => assert!(said.contains(why), "{name}: {said}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn its_jobs_in_flight_share_one_key_and_are_sixteen() {
    let Some(library) = jobs() else { return };
    let session = library.open(algorithm("aes-128-cbc"), Direction::Encrypt, &[7; 16]);
    let session = session.expect("it is offered");
    assert!(session.in_flight() == 16 && !session.has_rekey());
    let calls = session.calls().unwrap_or_default();
    assert!(calls.contains("16 jobs in flight"), "{calls}");
}
