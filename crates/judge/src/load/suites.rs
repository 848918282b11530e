//! The cipher suites that a server with a certificate of RSA or ECDSA can negotiate in TLS 1.2, in the order in
//! which OpenSSL 3.0 arranges them before it reads a cipher string: facts of `openssl ciphers -V
//! 'ALL:COMPLEMENTOFALL:@SECLEVEL=0'`.

/// Key exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kx {
    Ecdhe,
    Dhe,
    Rsa,
}

/// What the server signs with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    Ecdsa,
    Rsa,
}

/// The cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enc {
    AesGcm,
    AesCcm,
    AesCcm8,
    AesCbc,
    Chacha20,
    AriaGcm,
    Camellia,
}

/// What authenticates records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mac {
    Aead,
    Sha1,
    Sha256,
    Sha384,
}

/// The version that a suite came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Least {
    Ssl3,
    Tls1,
    Tls12,
}

/// A suite of TLS 1.2.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Suite12 {
    pub(crate) name: &'static str,
    pub(crate) kx: Kx,
    pub(crate) auth: Auth,
    pub(crate) enc: Enc,
    pub(crate) mac: Mac,
    pub(crate) bits: u16,
    pub(crate) least: Least,
    /// Whether it belongs to `DEFAULT`.
    pub(crate) is_default: bool,
}

impl Suite12 {
    /// By its name in OpenSSL.
    pub(crate) fn of(name: &str) -> Option<&'static Self> {
        SUITES_12.iter().find(|s| s.name == name)
    }
}

#[expect(clippy::too_many_arguments, reason = "a row of a table")]
const fn s(
    name: &'static str,
    kx: Kx,
    auth: Auth,
    enc: Enc,
    mac: Mac,
    bits: u16,
    least: Least,
    is_default: bool,
) -> Suite12 {
    Suite12 { name, kx, auth, enc, mac, bits, least, is_default }
}

/// The suites.
#[rustfmt::skip]
pub(crate) const SUITES_12: &[Suite12] = &[
    s("ECDHE-ECDSA-AES256-GCM-SHA384", Kx::Ecdhe, Auth::Ecdsa, Enc::AesGcm, Mac::Aead, 256, Least::Tls12, true),
    s("ECDHE-RSA-AES256-GCM-SHA384", Kx::Ecdhe, Auth::Rsa, Enc::AesGcm, Mac::Aead, 256, Least::Tls12, true),
    s("DHE-RSA-AES256-GCM-SHA384", Kx::Dhe, Auth::Rsa, Enc::AesGcm, Mac::Aead, 256, Least::Tls12, true),
    s("ECDHE-ECDSA-CHACHA20-POLY1305", Kx::Ecdhe, Auth::Ecdsa, Enc::Chacha20, Mac::Aead, 256, Least::Tls12, true),
    s("ECDHE-RSA-CHACHA20-POLY1305", Kx::Ecdhe, Auth::Rsa, Enc::Chacha20, Mac::Aead, 256, Least::Tls12, true),
    s("DHE-RSA-CHACHA20-POLY1305", Kx::Dhe, Auth::Rsa, Enc::Chacha20, Mac::Aead, 256, Least::Tls12, true),
    s("ECDHE-ECDSA-AES256-CCM8", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCcm8, Mac::Aead, 256, Least::Tls12, false),
    s("ECDHE-ECDSA-AES256-CCM", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCcm, Mac::Aead, 256, Least::Tls12, false),
    s("DHE-RSA-AES256-CCM8", Kx::Dhe, Auth::Rsa, Enc::AesCcm8, Mac::Aead, 256, Least::Tls12, false),
    s("DHE-RSA-AES256-CCM", Kx::Dhe, Auth::Rsa, Enc::AesCcm, Mac::Aead, 256, Least::Tls12, false),
    s("ECDHE-ECDSA-ARIA256-GCM-SHA384", Kx::Ecdhe, Auth::Ecdsa, Enc::AriaGcm, Mac::Aead, 256, Least::Tls12, false),
    s("ECDHE-ARIA256-GCM-SHA384", Kx::Ecdhe, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 256, Least::Tls12, false),
    s("DHE-RSA-ARIA256-GCM-SHA384", Kx::Dhe, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 256, Least::Tls12, false),
    s("ECDHE-ECDSA-AES128-GCM-SHA256", Kx::Ecdhe, Auth::Ecdsa, Enc::AesGcm, Mac::Aead, 128, Least::Tls12, true),
    s("ECDHE-RSA-AES128-GCM-SHA256", Kx::Ecdhe, Auth::Rsa, Enc::AesGcm, Mac::Aead, 128, Least::Tls12, true),
    s("DHE-RSA-AES128-GCM-SHA256", Kx::Dhe, Auth::Rsa, Enc::AesGcm, Mac::Aead, 128, Least::Tls12, true),
    s("ECDHE-ECDSA-AES128-CCM8", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCcm8, Mac::Aead, 128, Least::Tls12, false),
    s("ECDHE-ECDSA-AES128-CCM", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCcm, Mac::Aead, 128, Least::Tls12, false),
    s("DHE-RSA-AES128-CCM8", Kx::Dhe, Auth::Rsa, Enc::AesCcm8, Mac::Aead, 128, Least::Tls12, false),
    s("DHE-RSA-AES128-CCM", Kx::Dhe, Auth::Rsa, Enc::AesCcm, Mac::Aead, 128, Least::Tls12, false),
    s("ECDHE-ECDSA-ARIA128-GCM-SHA256", Kx::Ecdhe, Auth::Ecdsa, Enc::AriaGcm, Mac::Aead, 128, Least::Tls12, false),
    s("ECDHE-ARIA128-GCM-SHA256", Kx::Ecdhe, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 128, Least::Tls12, false),
    s("DHE-RSA-ARIA128-GCM-SHA256", Kx::Dhe, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 128, Least::Tls12, false),
    s("ECDHE-ECDSA-AES256-SHA384", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCbc, Mac::Sha384, 256, Least::Tls12, true),
    s("ECDHE-RSA-AES256-SHA384", Kx::Ecdhe, Auth::Rsa, Enc::AesCbc, Mac::Sha384, 256, Least::Tls12, true),
    s("DHE-RSA-AES256-SHA256", Kx::Dhe, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 256, Least::Tls12, true),
    s("ECDHE-ECDSA-CAMELLIA256-SHA384", Kx::Ecdhe, Auth::Ecdsa, Enc::Camellia, Mac::Sha384, 256, Least::Tls12, false),
    s("ECDHE-RSA-CAMELLIA256-SHA384", Kx::Ecdhe, Auth::Rsa, Enc::Camellia, Mac::Sha384, 256, Least::Tls12, false),
    s("DHE-RSA-CAMELLIA256-SHA256", Kx::Dhe, Auth::Rsa, Enc::Camellia, Mac::Sha256, 256, Least::Tls12, false),
    s("ECDHE-ECDSA-AES128-SHA256", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCbc, Mac::Sha256, 128, Least::Tls12, true),
    s("ECDHE-RSA-AES128-SHA256", Kx::Ecdhe, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 128, Least::Tls12, true),
    s("DHE-RSA-AES128-SHA256", Kx::Dhe, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 128, Least::Tls12, true),
    s("ECDHE-ECDSA-CAMELLIA128-SHA256", Kx::Ecdhe, Auth::Ecdsa, Enc::Camellia, Mac::Sha256, 128, Least::Tls12, false),
    s("ECDHE-RSA-CAMELLIA128-SHA256", Kx::Ecdhe, Auth::Rsa, Enc::Camellia, Mac::Sha256, 128, Least::Tls12, false),
    s("DHE-RSA-CAMELLIA128-SHA256", Kx::Dhe, Auth::Rsa, Enc::Camellia, Mac::Sha256, 128, Least::Tls12, false),
    s("ECDHE-ECDSA-AES256-SHA", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCbc, Mac::Sha1, 256, Least::Tls1, true),
    s("ECDHE-RSA-AES256-SHA", Kx::Ecdhe, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 256, Least::Tls1, true),
    s("DHE-RSA-AES256-SHA", Kx::Dhe, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 256, Least::Ssl3, true),
    s("DHE-RSA-CAMELLIA256-SHA", Kx::Dhe, Auth::Rsa, Enc::Camellia, Mac::Sha1, 256, Least::Ssl3, false),
    s("ECDHE-ECDSA-AES128-SHA", Kx::Ecdhe, Auth::Ecdsa, Enc::AesCbc, Mac::Sha1, 128, Least::Tls1, true),
    s("ECDHE-RSA-AES128-SHA", Kx::Ecdhe, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 128, Least::Tls1, true),
    s("DHE-RSA-AES128-SHA", Kx::Dhe, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 128, Least::Ssl3, true),
    s("DHE-RSA-CAMELLIA128-SHA", Kx::Dhe, Auth::Rsa, Enc::Camellia, Mac::Sha1, 128, Least::Ssl3, false),
    s("AES256-GCM-SHA384", Kx::Rsa, Auth::Rsa, Enc::AesGcm, Mac::Aead, 256, Least::Tls12, true),
    s("AES256-CCM8", Kx::Rsa, Auth::Rsa, Enc::AesCcm8, Mac::Aead, 256, Least::Tls12, false),
    s("AES256-CCM", Kx::Rsa, Auth::Rsa, Enc::AesCcm, Mac::Aead, 256, Least::Tls12, false),
    s("ARIA256-GCM-SHA384", Kx::Rsa, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 256, Least::Tls12, false),
    s("AES128-GCM-SHA256", Kx::Rsa, Auth::Rsa, Enc::AesGcm, Mac::Aead, 128, Least::Tls12, true),
    s("AES128-CCM8", Kx::Rsa, Auth::Rsa, Enc::AesCcm8, Mac::Aead, 128, Least::Tls12, false),
    s("AES128-CCM", Kx::Rsa, Auth::Rsa, Enc::AesCcm, Mac::Aead, 128, Least::Tls12, false),
    s("ARIA128-GCM-SHA256", Kx::Rsa, Auth::Rsa, Enc::AriaGcm, Mac::Aead, 128, Least::Tls12, false),
    s("AES256-SHA256", Kx::Rsa, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 256, Least::Tls12, true),
    s("CAMELLIA256-SHA256", Kx::Rsa, Auth::Rsa, Enc::Camellia, Mac::Sha256, 256, Least::Tls12, false),
    s("AES128-SHA256", Kx::Rsa, Auth::Rsa, Enc::AesCbc, Mac::Sha256, 128, Least::Tls12, true),
    s("CAMELLIA128-SHA256", Kx::Rsa, Auth::Rsa, Enc::Camellia, Mac::Sha256, 128, Least::Tls12, false),
    s("AES256-SHA", Kx::Rsa, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 256, Least::Ssl3, true),
    s("CAMELLIA256-SHA", Kx::Rsa, Auth::Rsa, Enc::Camellia, Mac::Sha1, 256, Least::Ssl3, false),
    s("AES128-SHA", Kx::Rsa, Auth::Rsa, Enc::AesCbc, Mac::Sha1, 128, Least::Ssl3, true),
    s("CAMELLIA128-SHA", Kx::Rsa, Auth::Rsa, Enc::Camellia, Mac::Sha1, 128, Least::Ssl3, false),
];
