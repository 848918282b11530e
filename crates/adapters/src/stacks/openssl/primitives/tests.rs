use crate::stacks::Span;
use crate::stacks::bench::Trouble;
use crate::stacks::tests::{openssl, system};
use crate::stacks::{PRIVATE, private_keys, secrets};
use record::tls::{Operation, Primitive, Scheme};

#[test]
fn every_primitive_is_right_in_both_spans_or_is_told_why_not() {
    let Some((stack, _alone)) = openssl() else { return };
    for primitive in Primitive::all(&[], &[], &[1, 64, 1400, 16384]) {
        let mut bench = match stack.primitive(&primitive) {
            Ok(bench) => bench,
            // OpenSSL 3.0 to 3.4 have no ML-KEM.
            Err(Trouble::Failed(why) | Trouble::NotOffered(why)) => {
                let of_kem = matches!(primitive.scheme, Scheme::Mlkem768 | Scheme::X25519Mlkem768);
                assert!(of_kem, "{primitive}: {why}");
                continue;
            }
        };
        bench.examine().unwrap_or_else(|why| panic!("{primitive}: {why}"));
        // Slow ones take a tenth of a second each.
        let is_fast = primitive.operation == Operation::Digest;
        for times in if is_fast { [3, 150] } else { [1, 9] } {
            for span in [Span::Whole, Span::Call] {
                bench.run(span, times).unwrap_or_else(|why| panic!("{primitive}: {why}"));
            }
            bench.prove().unwrap_or_else(|why| panic!("{primitive}: {why}"));
        }
        assert!(!bench.checks().is_empty(), "{primitive}");
    }
}

#[test]
fn what_no_scheme_does_is_not_offered() {
    let Some((stack, _alone)) = openssl() else { return };
    let primitive = Primitive { scheme: Scheme::Sha256, operation: Operation::Sign, size: None };
    let Err(trouble) = stack.primitive(&primitive) else { panic!("opened") };
    assert_eq!(trouble, Trouble::NotOffered("sha256 has no such operation".to_owned()));
}

#[test]
fn a_private_key_of_each_scheme_is_used_as_often_as_it_is_asked_and_gives_what_it_must() {
    let Some(file) = system("libcrypto.so.3") else { return };
    let _alone = crate::stacks::alone();
    for (scheme, _) in PRIVATE {
        let mut keys = private_keys(&file, &file, scheme).unwrap();
        let all = secrets(scheme, 4, keys.takes_seeds());
        for (number, secret) in all.iter().enumerate() {
            if let Err(trouble) = keys.read(secret) {
                // OpenSSL 3.0 to 3.4 have no ML-KEM.
                assert_eq!(scheme, Scheme::Mlkem768, "{trouble}");
                continue;
            }
            for _ in 0..2 {
                keys.call().unwrap();
                keys.prove(secret).unwrap_or_else(|why| panic!("{scheme} {number}: {why}"));
            }
            let other = &all[(number + 1) % all.len()];
            // Signatures have no one answer, and of P-256's secrets only the first one's is known.
            assert!(other.output.is_none() || keys.prove(other).is_err(), "{scheme}");
        }
    }
}

#[test]
fn private_keys_are_asked_only_of_what_is_a_libcrypto_itself() {
    let Some(file) = system("libssl.so.3") else { return };
    let _alone = crate::stacks::alone();
    let Err(Trouble::NotOffered(why)) = private_keys(&file, &file, Scheme::X25519) else {
        panic!("libssl is none")
    };
    assert!(why.contains("is known for x25519"), "{why}");
}
