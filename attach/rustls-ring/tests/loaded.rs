//! The built object, loaded the way ciphermark loads it.
use record::tls::{Certificate, Exchange, Suite};

#[test]
fn what_ring_has_is_negotiated_and_the_rest_is_told_in_words() {
    let offer =
        testing::trial::whole_stack(&testing::trial::object(env!("CARGO_PKG_NAME"))).unwrap();
    assert_eq!(offer.identity.name, "rustls-ring");
    assert!(offer.identity.build.iter().any(|fact| fact.starts_with("crate ring ")), "{offer:?}");
    let curves = [Exchange::X25519, Exchange::P256, Exchange::P384];
    for case in &offer.handshakes {
        assert!(curves.contains(&case.exchange), "{case}");
    }
    // ring has no ML-DSA.
    let signs = |c: &&Certificate| !c.to_string().starts_with("mldsa");
    for certificate in Certificate::ALL.iter().filter(signs) {
        assert!(offer.handshakes.iter().any(|c| c.certificate == *certificate), "{certificate}");
    }
    for (case, words) in &offer.not_offered {
        assert!(!curves.contains(&case.exchange), "{case}: {words}");
        assert!(words.contains("the provider"), "{case}: {words}");
    }
    let aead = [Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::Chacha20Poly1305];
    assert_eq!(offer.records.len(), 2 * aead.len(), "{:?}", offer.records);
}
