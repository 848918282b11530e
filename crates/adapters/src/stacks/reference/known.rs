//! Known answers, from the standards.

use crate::stacks::reference::digest::Digest;
use record::tls::Scheme;

/// Two private keys that agree: one of them, the other's public key, and what they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementAnswer {
    /// The private key's own bytes.
    pub private: Vec<u8>,
    /// The other side's public key.
    pub peer: Vec<u8>,
    /// The secret.
    pub secret: Vec<u8>,
}

/// The standard's answer; none where there is none.
#[must_use]
pub fn agreement_answer(of: Scheme) -> Option<AgreementAnswer> {
    let [private, peer, secret] = match of {
        // RFC 7748 5.2, the first vector.
        Scheme::X25519 => [
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ],
        // RFC 5903 8.1, the initiator's side.
        Scheme::P256 => [
            "c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433",
            "04d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63\
             56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab",
            "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de",
        ],
        // RFC 5903 8.2, the initiator's side.
        Scheme::P384 => [
            "099f3c7034d4a2c699884d73a375a67f7624ef7c6b3c0f160647b67414dce655\
             e35b538041e649ee3faef896783ab194",
            "04e558dbef53eecde3d3fccfc1aea08a89a987475d12fd950d83cfa41732bc509d\
             0d1ac43a0336def96fda41d0774a3571dcfbec7aacf3196472169e838430367f\
             66eebe3c6e70c416dd5f0c68759dd1fff83fa40142209dff5eaad96db9e6386c",
            "11187331c279962d93d604243fd592cb9d0a926f422e47187521287e7156c5c4\
             d603135569b9e9d09cf5d4a270f59746",
        ],
        _ => return None,
    }
    .map(bytes);
    Some(AgreementAnswer { private, peer, secret })
}

/// Private key, public key, message and signature of Ed25519 (RFC 8032 7.1, TEST 3).
#[must_use]
pub fn ed25519_answer() -> (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>) {
    (
        bytes("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"),
        bytes("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"),
        bytes("af82"),
        bytes(
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
             18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    )
}

/// Bytes and their digest: "abc", the first example of NIST's "Cryptographic Standards and Guidelines:
/// Examples with Intermediate Values" for FIPS 180-4.
#[must_use]
pub fn digest_answer(of: Digest) -> (&'static [u8], Vec<u8>) {
    let answer = match of {
        Digest::Sha256 => "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        Digest::Sha384 => {
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
             8086072ba1e7cc2358baeca134c825a7"
        }
    };
    (b"abc", bytes(answer))
}

/// Key, bytes and their HMAC (RFC 4231 4.3, test case 2).
#[must_use]
pub fn hmac_answer(of: Digest) -> (&'static [u8], &'static [u8], Vec<u8>) {
    let answer = match of {
        Digest::Sha256 => "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        Digest::Sha384 => {
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
             8e2240ca5e69e2c78b3239ecfab21649"
        }
    };
    (b"Jefe", b"what do ya want for nothing?", bytes(answer))
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    hex::decode(hexadecimal).expect("our own vectors are of hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_x25519_comes_out_of_the_reference() {
        let AgreementAnswer { private, peer, secret } = agreement_answer(Scheme::X25519).unwrap();
        let [private, peer]: [[u8; 32]; 2] = [private, peer].map(|b| b.try_into().unwrap());
        let shared = x25519_dalek::StaticSecret::from(private).diffie_hellman(&peer.into());
        assert_eq!(shared.as_bytes().to_vec(), secret);
    }
}
