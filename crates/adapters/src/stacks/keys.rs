//! The keys and certificates that handshakes are made with: public test keys, made once by
//! `scripts/tls-test-keys`. Anybody has them; they protect nothing.

use crate::stacks::End;
use record::tls::{Case, Certificate, Exchange, Group, Kind, Scheme, Version};

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
            chain: include_str!(concat!("../../keys/", $name, ".chain.pem")),
            key: include_str!(concat!("../../keys/", $name, ".key.pem")),
            root: include_str!(concat!("../../keys/", $name, ".root.pem")),
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
        Exchange::Ffdhe2048 => Some(include_str!("../../keys/ffdhe2048.pem")),
        Exchange::Ffdhe4096 => Some(include_str!("../../keys/ffdhe4096.pem")),
        Exchange::OwnDh2048 => Some(include_str!("../../keys/own-dh-2048.pem")),
        _ => None,
    }
}

/// The groups that an end takes, the first of them the client's guess.
pub(crate) fn groups(case: &Case, end: End) -> Vec<Group> {
    // DHE of TLS 1.2 takes the server's file as long as the client knows no field of RFC 7919.
    let has_file = case.version == Version::Tls12 && case.exchange.is_finite_field();
    let wanted = case.exchange.group().filter(|_| !has_file).unwrap_or(Group::X25519);
    let mut list = vec![wanted];
    if case.kind == Kind::HelloRetry && end == End::Client {
        list.insert(0, Group::X25519);
    }
    // In TLS 1.2 the curve of a certificate must be among them (RFC 8422 5.1.1).
    let of_certificate = match case.certificate {
        Certificate::P256 => Some(Group::P256),
        Certificate::P384 => Some(Group::P384),
        _ => None,
    };
    let missing = |curve: &Group| case.version == Version::Tls12 && !list.contains(curve);
    let missing = of_certificate.filter(missing);
    list.extend(missing);
    list
}

/// The public key of a kind of certificate, without what stands around it (RFC 5280 4.1).
pub(crate) fn public_key(certificate: Certificate) -> Vec<u8> {
    let pem = match certificate {
        Certificate::Rsa2048 => include_str!("../../keys/rsa-2048.public.pem"),
        Certificate::Rsa3072 => include_str!("../../keys/rsa-3072.public.pem"),
        Certificate::Rsa4096 => include_str!("../../keys/rsa-4096.public.pem"),
        Certificate::P256 => include_str!("../../keys/p256.public.pem"),
        Certificate::P384 => include_str!("../../keys/p384.public.pem"),
        Certificate::Ed25519 => include_str!("../../keys/ed25519.public.pem"),
    };
    let info = crate::stacks::reference::pem(pem).expect("our own files are PEM");
    crate::stacks::reference::public_key(&info).expect("our own files hold public keys").to_vec()
}

/// The private key of a known answer, in PEM; none where there is no answer.
pub(crate) fn known_key(scheme: Scheme) -> Option<&'static str> {
    match scheme {
        Scheme::X25519 => Some(include_str!("../../keys/known-x25519.key.pem")),
        Scheme::P256 => Some(include_str!("../../keys/known-p256.key.pem")),
        Scheme::P384 => Some(include_str!("../../keys/known-p384.key.pem")),
        Scheme::Ed25519 => Some(include_str!("../../keys/known-ed25519.key.pem")),
        _ => None,
    }
}

/// The parameters of a finite field, in PEM; none of what is over none.
pub(crate) fn field_parameters(scheme: Scheme) -> Option<&'static str> {
    match scheme {
        Scheme::Ffdhe2048 => dh_parameters(Exchange::Ffdhe2048),
        Scheme::Ffdhe3072 => Some(include_str!("../../keys/ffdhe3072.pem")),
        Scheme::Ffdhe4096 => dh_parameters(Exchange::Ffdhe4096),
        Scheme::OwnDh2048 => dh_parameters(Exchange::OwnDh2048),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_have_as_many_bits_as_their_names_say() {
        for (scheme, bits) in [
            (Scheme::Ffdhe2048, 2048),
            (Scheme::Ffdhe3072, 3072),
            (Scheme::Ffdhe4096, 4096),
            (Scheme::OwnDh2048, 2048),
        ] {
            let der = crate::stacks::reference::pem(field_parameters(scheme).unwrap()).unwrap();
            assert_eq!(
                crate::stacks::reference::finite_field(&der).unwrap().bits(),
                bits,
                "{scheme}"
            );
        }
    }

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
