//! The keys and certificates that handshakes are made with: public test keys, made once by
//! `scripts/tls-test-keys`. Anybody has them; they protect nothing.

use tls::{Certificate, Exchange};

/// One kind of certificate, in PEM.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Leaf and intermediate.
    pub chain: &'static str,
    /// The leaf's key.
    pub key: &'static str,
    /// The root that the other end trusts.
    pub root: &'static str,
}

macro_rules! keys {
    ($name:literal) => {
        Keys {
            chain: include_str!(concat!("../keys/", $name, ".chain.pem")),
            key: include_str!(concat!("../keys/", $name, ".key.pem")),
            root: include_str!(concat!("../keys/", $name, ".root.pem")),
        }
    };
}

/// The keys of a kind of certificate.
#[must_use]
pub fn keys(certificate: Certificate) -> Keys {
    match certificate {
        Certificate::Rsa2048 => keys!("rsa-2048"),
        Certificate::Rsa3072 => keys!("rsa-3072"),
        Certificate::Rsa4096 => keys!("rsa-4096"),
        Certificate::P256 => keys!("p256"),
        Certificate::P384 => keys!("p384"),
        Certificate::Ed25519 => keys!("ed25519"),
    }
}

/// The file of DH parameters that a server is given for a key exchange, in PEM; none where it needs none.
#[must_use]
pub fn dh_parameters(exchange: Exchange) -> Option<&'static str> {
    match exchange {
        Exchange::Ffdhe2048 => Some(include_str!("../keys/ffdhe2048.pem")),
        Exchange::Ffdhe4096 => Some(include_str!("../keys/ffdhe4096.pem")),
        Exchange::OwnDh2048 => Some(include_str!("../keys/own-dh-2048.pem")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_chain_of_two_a_key_and_a_root() {
        for certificate in Certificate::ALL {
            let Keys { chain, key, root } = keys(*certificate);
            assert_eq!(chain.matches("BEGIN CERTIFICATE").count(), 2, "{certificate}");
            assert_eq!(root.matches("BEGIN CERTIFICATE").count(), 1, "{certificate}");
            assert_eq!(key.matches("BEGIN PRIVATE KEY").count(), 1, "{certificate}");
        }
    }
}
