//! What Wycheproof's files call the algorithms.

use base::model::Algorithm;

/// The file's name, and ours with `{}` where the key's bits stand.
const NAMES: &[(&str, &str)] = &[
    ("AES-GCM", "aes-{}-gcm"),
    ("AES-CCM", "aes-{}-ccm"),
    ("AES-EAX", "aes-{}-eax"),
    ("AES-GCM-SIV", "aes-{}-gcm-siv"),
    ("AEAD-AES-SIV-CMAC", "aes-{}-siv"),
    ("AES-XTS", "aes-{}-xts"),
    ("AES-CBC", "aes-{}-cbc"),
    ("AES-ECB", "aes-{}-ecb"),
    ("AES-CTR", "aes-{}-ctr"),
    ("AES-OCB", "aes-{}-ocb"),
    ("AES-GMAC", "aes-{}-gmac"),
    ("ARIA-GCM", "aria-{}-gcm"),
    ("ARIA-CCM", "aria-{}-ccm"),
    ("CAMELLIA-GCM", "camellia-{}-gcm"),
    ("CAMELLIA-CCM", "camellia-{}-ccm"),
    ("SM4-GCM", "sm4-gcm"),
    ("SM4-CCM", "sm4-ccm"),
    ("CHACHA20-POLY1305", "chacha20-poly1305"),
    ("XCHACHA20-POLY1305", "xchacha20-poly1305"),
    ("AEGIS128L", "aegis-128l"),
    ("AEGIS256", "aegis-256"),
    ("HMACSHA256", "hmac-sha256"),
    ("HMACSHA384", "hmac-sha384"),
    ("HMACSHA512", "hmac-sha512"),
    ("POLY1305", "poly1305"),
    ("SHA-256", "sha256"),
    ("SHA-384", "sha384"),
    ("SHA-512", "sha512"),
    ("SHA3-256", "sha3-256"),
    ("SHA3-384", "sha3-384"),
    ("SHA3-512", "sha3-512"),
];

/// Every name that a file may have.
pub(super) fn known() -> Vec<&'static str> {
    NAMES.iter().map(|(theirs, _)| *theirs).collect()
}

/// Whether a file may have the name.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.iter().any(|(theirs, _)| *theirs == name)
}

/// The algorithm of that name with that length of the whole key in bytes.
pub(super) fn of(name: &str, key_len: usize) -> Option<&'static Algorithm> {
    let (_, ours) = NAMES.iter().find(|(theirs, _)| *theirs == name)?;
    let fits = |bits: &str| {
        let algorithm = Algorithm::find(&ours.replace("{}", bits)).ok()?;
        (algorithm.key_len == key_len).then_some(algorithm)
    };
    ["128", "192", "256"].into_iter().find_map(fits)
}
