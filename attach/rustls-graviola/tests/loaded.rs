//! The built object, loaded the way ciphermark loads it.
use record::tls::{Certificate, Exchange, Version};

#[test]
fn what_graviola_has_is_negotiated_and_the_rest_is_told_in_words() {
    let offer =
        testing::trial::whole_stack(&testing::trial::object(env!("CARGO_PKG_NAME"))).unwrap();
    assert_eq!(offer.identity.name, "rustls-graviola");
    assert!(
        offer.identity.build.iter().any(|fact| fact.starts_with("crate graviola ")),
        "{offer:?}"
    );
    assert!(offer.identity.build.iter().all(|fact| !fact.starts_with("crate ring ")), "{offer:?}");
    let has = |exchange| offer.handshakes.iter().any(|c| c.exchange == exchange);
    assert!(
        [Exchange::X25519Mlkem768, Exchange::X25519, Exchange::P256, Exchange::P384].map(has)
            == [true; 4]
    );
    for (case, words) in &offer.not_offered {
        let ed25519_of_12 =
            case.version == Version::Tls12 && case.certificate == Certificate::Ed25519;
        assert!(ed25519_of_12 || words.contains("the provider"), "{case}: {words}");
    }
    assert_eq!(offer.records.len(), 6, "{:?}", offer.records);
}
