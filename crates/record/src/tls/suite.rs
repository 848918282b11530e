//! What protects the records: suites, their numbers, and OpenSSL's names.

use crate::named;
use crate::tls::words::{Certificate, Exchange, Version};

named! {
    /// What protects the records.
    Suite {
        /// AES-128 in GCM.
        Aes128Gcm = "aes-128-gcm",
        /// AES-256 in GCM.
        Aes256Gcm = "aes-256-gcm",
        /// ChaCha20-Poly1305.
        Chacha20Poly1305 = "chacha20-poly1305",
        /// AES-128 in CCM.
        Aes128Ccm = "aes-128-ccm",
        /// AES-128 in CBC with HMAC-SHA-1 (TLS 1.2).
        Aes128CbcSha1 = "aes-128-cbc+sha1",
        /// AES-256 in CBC with HMAC-SHA-1 (TLS 1.2).
        Aes256CbcSha1 = "aes-256-cbc+sha1",
        /// AES-128 in CBC with HMAC-SHA-256 (TLS 1.2).
        Aes128CbcSha256 = "aes-128-cbc+sha256",
        /// AES-256 in CBC with HMAC-SHA-384 (TLS 1.2).
        Aes256CbcSha384 = "aes-256-cbc+sha384",
    }
}

/// How a suite is called by OpenSSL and its kin, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteCode {
    /// Number on the wire.
    pub number: u16,
    /// OpenSSL's name.
    pub openssl: &'static str,
}

impl Suite {
    /// The suite of a version, a key exchange and a certificate; none where there is no such suite.
    #[must_use]
    pub fn code(
        self,
        version: Version,
        exchange: Exchange,
        certificate: Certificate,
    ) -> Option<SuiteCode> {
        if version == Version::Tls13 {
            return self.code_13();
        }
        let row = SUITES_12.iter().find(|(suite, ..)| *suite == self)?;
        let (_, ecdhe_ecdsa, ecdhe_rsa, dhe, rsa) = row;
        let (number, openssl) = match exchange {
            Exchange::Rsa if certificate.is_rsa() => (*rsa)?,
            e if e.is_finite_field() && certificate.is_rsa() => (*dhe)?,
            Exchange::P256 | Exchange::P384 | Exchange::X25519 if certificate.is_rsa() => {
                (*ecdhe_rsa)?
            }
            Exchange::P256 | Exchange::P384 | Exchange::X25519 => (*ecdhe_ecdsa)?,
            _ => return None,
        };
        Some(SuiteCode { number, openssl })
    }

    fn code_13(self) -> Option<SuiteCode> {
        let (number, openssl) = match self {
            Self::Aes128Gcm => (0x1301, "TLS_AES_128_GCM_SHA256"),
            Self::Aes256Gcm => (0x1302, "TLS_AES_256_GCM_SHA384"),
            Self::Chacha20Poly1305 => (0x1303, "TLS_CHACHA20_POLY1305_SHA256"),
            Self::Aes128Ccm => (0x1304, "TLS_AES_128_CCM_SHA256"),
            _ => return None,
        };
        Some(SuiteCode { number, openssl })
    }

    /// The name of a suite by its number, as far as it is one of these.
    #[must_use]
    pub fn name_of(number: u16) -> String {
        let of_13 = Self::ALL.iter().filter_map(|s| s.code_13());
        let of_12 = SUITES_12.iter().flat_map(|(_, a, b, c, d)| [a, b, c, d]);
        let of_12 = of_12.flatten().map(|(number, openssl)| SuiteCode { number: *number, openssl });
        let known = of_13.chain(of_12).find(|code| code.number == number);
        known.map_or_else(|| format!("{number:#06x}"), |code| code.openssl.to_owned())
    }
}

/// A number and OpenSSL's name.
type Code = Option<(u16, &'static str)>;

/// The suites of TLS 1.2: ECDHE with ECDSA (Ed25519 too: RFC 8422 5.10), ECDHE with RSA, DHE with RSA, RSA.
#[rustfmt::skip]
const SUITES_12: [(Suite, Code, Code, Code, Code); 8] = [
    (Suite::Aes128Gcm, Some((0xc02b, "ECDHE-ECDSA-AES128-GCM-SHA256")), Some((0xc02f, "ECDHE-RSA-AES128-GCM-SHA256")),
        Some((0x009e, "DHE-RSA-AES128-GCM-SHA256")), Some((0x009c, "AES128-GCM-SHA256"))),
    (Suite::Aes256Gcm, Some((0xc02c, "ECDHE-ECDSA-AES256-GCM-SHA384")), Some((0xc030, "ECDHE-RSA-AES256-GCM-SHA384")),
        Some((0x009f, "DHE-RSA-AES256-GCM-SHA384")), Some((0x009d, "AES256-GCM-SHA384"))),
    (Suite::Chacha20Poly1305, Some((0xcca9, "ECDHE-ECDSA-CHACHA20-POLY1305")), Some((0xcca8, "ECDHE-RSA-CHACHA20-POLY1305")),
        Some((0xccaa, "DHE-RSA-CHACHA20-POLY1305")), None),
    (Suite::Aes128Ccm, Some((0xc0ac, "ECDHE-ECDSA-AES128-CCM")), None,
        Some((0xc09e, "DHE-RSA-AES128-CCM")), Some((0xc09c, "AES128-CCM"))),
    (Suite::Aes128CbcSha1, Some((0xc009, "ECDHE-ECDSA-AES128-SHA")), Some((0xc013, "ECDHE-RSA-AES128-SHA")),
        Some((0x0033, "DHE-RSA-AES128-SHA")), Some((0x002f, "AES128-SHA"))),
    (Suite::Aes256CbcSha1, Some((0xc00a, "ECDHE-ECDSA-AES256-SHA")), Some((0xc014, "ECDHE-RSA-AES256-SHA")),
        Some((0x0039, "DHE-RSA-AES256-SHA")), Some((0x0035, "AES256-SHA"))),
    (Suite::Aes128CbcSha256, Some((0xc023, "ECDHE-ECDSA-AES128-SHA256")), Some((0xc027, "ECDHE-RSA-AES128-SHA256")),
        Some((0x0067, "DHE-RSA-AES128-SHA256")), Some((0x003c, "AES128-SHA256"))),
    (Suite::Aes256CbcSha384, Some((0xc024, "ECDHE-ECDSA-AES256-SHA384")), Some((0xc028, "ECDHE-RSA-AES256-SHA384")),
        None, None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_exist_where_the_registry_has_them() {
        let code = |s: Suite, e, c| s.code(Version::Tls12, e, c).map(|c| c.number);
        assert_eq!(code(Suite::Aes128Gcm, Exchange::X25519, Certificate::Ed25519), Some(0xc02b));
        assert_eq!(code(Suite::Aes128Gcm, Exchange::Rsa, Certificate::Rsa2048), Some(0x009c));
        assert_eq!(code(Suite::Aes128Gcm, Exchange::Rsa, Certificate::P256), None);
        assert_eq!(code(Suite::Aes128Ccm, Exchange::P256, Certificate::Rsa2048), None);
        let code = |s: Suite| s.code(Version::Tls13, Exchange::X25519, Certificate::P256);
        assert_eq!(code(Suite::Aes256Gcm).map(|c| c.number), Some(0x1302));
        assert_eq!(code(Suite::Aes128CbcSha1), None);
    }

    #[test]
    fn numbers_lead_back_to_names() {
        assert_eq!(Suite::name_of(0xc02f), "ECDHE-RSA-AES128-GCM-SHA256");
        assert_eq!(Suite::name_of(0x9999), "0x9999");
    }
}
