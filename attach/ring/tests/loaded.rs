//! The built object, loaded the way ciphermark loads it.
#[test]
fn it_says_what_it_was_built_from_and_all_that_it_offers_passes_every_check() {
    let library = testing::trial::built_object(env!("CARGO_PKG_NAME"), "ring", "ring");
    let offer = testing::trial::whole_offer(&*library);
    assert_eq!(offer.refused, []);
    let expected = "aes-128-gcm aes-256-gcm chacha20-poly1305 sha1 sha256 sha384 sha512 sha512-256 \
        hmac-sha1 hmac-sha256 hmac-sha384 hmac-sha512 pbkdf2-sha1 pbkdf2-sha256 pbkdf2-sha512 \
        hkdf-sha256 hkdf-sha512 random";
    assert_eq!(offer.names, expected.split(' ').collect::<Vec<_>>());
}
