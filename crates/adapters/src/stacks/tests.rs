use crate::stacks::bench::{Stack, Trouble};
use crate::stacks::{Line, connect, load};
use probe::Clock;
use record::tls::{
    Case, Certificate, Exchange, Filter, Kind, LARGEST_RECORD, Protection, Suite, Version,
};
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

/// A system's library, where there is one: the tests need no other.
pub(crate) fn system(name: &str) -> Option<PathBuf> {
    let place = Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
    Some(place.join(name)).filter(|path| path.is_file())
}

/// A stack, and the right to be the only test that is under way.
pub(crate) type Alone = (Box<dyn Stack>, MutexGuard<'static, ()>);

pub(crate) fn openssl() -> Option<Alone> {
    let (Some(ssl), Some(crypto)) = (system("libssl.so.3"), system("libcrypto.so.3")) else {
        eprintln!("left out: there is no libssl.so.3");
        return None;
    };
    let alone = crate::stacks::alone();
    Some((load(&ssl, Some(&crypto)).unwrap(), alone))
}

/// The system's libwolfssl, or the one that `CIPHERMARK_TEST_WOLFSSL` names.
fn wolfssl() -> Option<Alone> {
    let named = std::env::var_os("CIPHERMARK_TEST_WOLFSSL").map(PathBuf::from);
    let Some(path) = named.or_else(|| system("libwolfssl.so.35")) else {
        eprintln!("left out: there is no libwolfssl.so.35, and CIPHERMARK_TEST_WOLFSSL is not set");
        return None;
    };
    let alone = crate::stacks::alone();
    Some((load(&path, None).unwrap(), alone))
}

/// Primes a resumption with a full handshake, then connects twice, and holds all to what was asked.
fn connected(stack: &dyn Stack, case: &Case) -> Result<record::tls::Negotiated, Trouble> {
    let clock = Clock::calibrate();
    let mut bench = stack.open(case)?;
    if case.kind.is_resumed() {
        let full = Case { kind: Kind::Full, ..*case };
        let first = connect(&mut *bench, &full, &clock, false, &mut || {})?;
        first.negotiated.map_err(|m| Trouble::Failed(m.why))?;
    }
    let first = connect(&mut *bench, case, &clock, false, &mut || {})?;
    let again = connect(&mut *bench, case, &clock, false, &mut || {})?;
    assert_eq!(first.negotiated, again.negotiated, "{case}");
    assert!(first.client_bytes > 100 && first.server_bytes > 100, "{case}: {first:?}");
    assert!(first.ticks.server > first.ticks.server_setup && first.ticks.client > 0, "{first:?}");
    again.negotiated.map_err(|m| Trouble::NotOffered(m.why))
}

/// What a stack offers is what was asked for; what it may lack, it refuses in words that begin so.
fn negotiates(stack: &dyn Stack, cases: &[Case], may_lack: &[Exchange], refusal: &str) {
    for case in cases {
        match connected(stack, case) {
            Ok(negotiated) => {
                assert_eq!(negotiated.resumed, case.kind.is_resumed(), "{case}");
                assert_eq!(negotiated.client_auth, case.client_auth, "{case}");
                assert_eq!(negotiated.group, group(case), "{case}");
            }
            Err(trouble) => {
                assert!(may_lack.contains(&case.exchange), "{case}: {trouble}");
                assert!(trouble.to_string().starts_with(refusal), "{case}: {trouble}");
            }
        }
    }
}

/// Records of every suite come out as they went in.
fn transfers(stack: &dyn Stack, sizes: &[usize]) {
    let clock = Clock::calibrate();
    for protection in Protection::all(&[], &[]) {
        for size in sizes {
            let mut line = Line::open(stack, protection, *size, &clock).unwrap();
            assert_eq!(line.negotiated().suite, protection.case().code().unwrap().openssl);
            let batch = line.batch(&clock).unwrap();
            assert!(batch.send > 0 && batch.receive > 0, "{protection} {size}: {batch:?}");
            assert!((21..100).contains(&line.overhead()), "{protection}: {}", line.overhead());
        }
    }
}

#[test]
fn every_case_of_the_matrix_is_what_was_asked_or_is_told_why_not() {
    let Some((stack, _alone)) = openssl() else { return };
    // OpenSSL 3.0 to 3.4 have no ML-KEM.
    negotiates(&*stack, &record::tls::matrix(&Filter::default()), &[Exchange::X25519Mlkem768], "");
}

/// A resumption of TLS 1.2 repeats no key exchange.
fn group(case: &Case) -> Option<String> {
    let none = matches!(case.kind, Kind::ResumedId | Kind::ResumedTicket);
    case.exchange.group().filter(|_| !none).map(|g| g.to_string())
}

#[test]
fn every_suite_is_the_one_that_was_asked_for() {
    let Some((stack, _alone)) = openssl() else { return };
    for suite in Suite::ALL {
        for version in Version::ALL {
            let certificate = Certificate::P256;
            let case = Case {
                suite: *suite,
                ..Case::usual(*version, Exchange::X25519, certificate, Kind::Full)
            };
            if case.exists() {
                let negotiated = connected(&*stack, &case).unwrap();
                assert_eq!(negotiated.suite, case.code().unwrap().openssl);
            }
        }
    }
}

#[test]
fn records_of_every_suite_and_size_come_out_as_they_went_in() {
    let Some((stack, _alone)) = openssl() else { return };
    transfers(&*stack, &[1, 64, 1400, LARGEST_RECORD]);
}

/// Of TLS 1.3 with AES-128-GCM: 5 bytes of header, 1 of content type, 16 of tag (RFC 8446 5.2).
#[test]
fn the_bytes_around_the_data_are_those_of_the_standard() {
    let Some((stack, _alone)) = openssl() else { return };
    let protection = Protection { version: Version::Tls13, suite: Suite::Aes128Gcm };
    let line = Line::open(&*stack, protection, 1000, &Clock::calibrate()).unwrap();
    assert_eq!((line.overhead(), line.records()), (22, 32));
    let protection = Protection { version: Version::Tls12, suite: Suite::Aes128Gcm };
    let line = Line::open(&*stack, protection, LARGEST_RECORD, &Clock::calibrate()).unwrap();
    // The nonce's explicit part in the place of the content type (RFC 5288 3).
    assert_eq!((line.overhead(), line.records()), (29, 4));
}

/// A handshake for a resumption whose session was never shown is no resumption.
#[test]
fn a_full_handshake_does_not_pass_for_a_resumption() {
    let Some((stack, _alone)) = openssl() else { return };
    let resumed =
        Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::ResumedPsk);
    let mut bench = stack.open(&resumed).unwrap();
    let clock = Clock::calibrate();
    let first = connect(&mut *bench, &resumed, &clock, false, &mut || {}).unwrap();
    let why = first.negotiated.unwrap_err().why;
    assert_eq!(why, "handshake: resumed was asked for, and full negotiated");
    let second = connect(&mut *bench, &resumed, &clock, false, &mut || {}).unwrap();
    assert!(second.negotiated.unwrap().resumed);
}

#[test]
fn a_file_that_is_no_stack_is_named() {
    let _alone = crate::stacks::alone();
    let Err(e) = load(Path::new("/nowhere/libssl.so"), None) else { panic!("loaded") };
    assert!(e.contains("'/nowhere/libssl.so'"), "{e}");
    let Some(crypto) = system("libcrypto.so.3") else { return };
    let Err(e) = load(&crypto, None) else { panic!("loaded") };
    assert!(e.contains("no TLS stack"), "{e}");
}

/// What is slow or said elsewhere already: large fields, which wolfSSL's client tests for primes.
fn is_quick(case: &Case) -> bool {
    let by_field = case.exchange.is_finite_field();
    !by_field || (case.exchange == Exchange::OwnDh2048 && case.certificate == Certificate::Rsa2048)
}

#[test]
fn wolfssl_negotiates_what_it_is_asked_for_or_says_why_not() {
    let Some((stack, _alone)) = wolfssl() else { return };
    let mut cases = record::tls::matrix(&Filter::default());
    cases.retain(is_quick);
    // Older ones have no ML-KEM; static RSA is off unless it is asked for in the build.
    let may_lack = [Exchange::X25519Mlkem768, Exchange::Rsa];
    negotiates(&*stack, &cases, &may_lack, "wolfSSL_CTX_set_");
}

#[test]
fn wolfssls_records_come_out_as_they_went_in() {
    let Some((stack, _alone)) = wolfssl() else { return };
    transfers(&*stack, &[1, 1400, LARGEST_RECORD]);
}
