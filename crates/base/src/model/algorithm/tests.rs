use super::*;

#[test]
fn every_name_is_unique_and_found_again() {
    for a in ALL {
        assert_eq!(Algorithm::find(a.name).unwrap(), a);
        assert_eq!(ALL.iter().filter(|b| b.name == a.name).count(), 1);
    }
}

#[test]
fn a_misspelt_name_gets_the_nearest_one() {
    let e = Algorithm::find("aes-128-gmc").unwrap_err();
    assert!(e.to_string().contains("did you mean 'aes-128-gcm'?"), "{e}");
}

#[test]
fn every_algorithm_but_authenticated_encryption_carries_a_warning() {
    for a in ALL {
        assert_eq!(a.warning().is_none(), a.kind == Kind::Aead, "{a}");
        assert_eq!(a.warning().is_none(), a.warning_label().is_none(), "{a}");
    }
}

#[test]
fn a_composite_has_its_parts_keys_and_the_checks_tag() {
    for a in ALL {
        let Some(parts) = a.composite else { continue };
        let cipher = Algorithm::find(parts.cipher).unwrap();
        let check = Algorithm::find(parts.check).unwrap();
        assert_eq!(a.key_len, cipher.key_len + check.key_len, "{a}");
        assert_eq!((a.nonce_len, a.tag_len), (cipher.nonce_len, check.tag_len), "{a}");
        assert_eq!((a.cipher, a.sizes), (cipher.cipher, cipher.sizes), "{a}");
        assert_eq!(a.takes_aad(), check.kind == Kind::Mac, "{a}");
        assert!(a.name.starts_with(&format!("{cipher}+")), "{a}");
    }
}

#[test]
fn the_table_has_what_published_comparisons_name() {
    let names = "aes-128-cfb1 aes-192-cfb8 aes-256-eax aes-256-siv aes-128-gcm-siv \
        camellia-256-cbc aria-128-gcm sm4-ctr des-ede3-cbc chacha20 xchacha20-poly1305 \
        aegis-128l aegis-256x4 sha3-512 blake2b512 hmac-sha256 aes-256-gmac crc32c \
        aes-256-ctr+xxh3 aes-128-xts+xxh3-onepass aes-256-cbc+hmac-sha256";
    for name in names.split(' ') {
        Algorithm::find(name).unwrap();
    }
}

#[test]
fn xts_keys_are_two_aes_keys() {
    assert_eq!(Algorithm::find("aes-128-xts").unwrap().key_len, 32);
    assert_eq!(Algorithm::find("aes-256-xts").unwrap().key_len, 64);
}
