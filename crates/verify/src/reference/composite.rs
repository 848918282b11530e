//! A cipher and what notices damage, put together of two references. One pass or two give the
//! same bytes.

use super::{Implementation, Reference};
use base::model::{Algorithm, Composite, Kind};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A composite's implementation; the key is the cipher's, then the MAC's.
pub(super) fn composite(parts: Composite, key: &[u8]) -> Box<dyn Implementation> {
    let [cipher, check] = [parts.cipher, parts.check]
        .map(|name| Algorithm::find(name).expect("composites are made of algorithms"));
    let (cipher_key, check_key) = key.split_at(cipher.key_len);
    let cipher = Reference::new(cipher, cipher_key);
    if check.kind == Kind::Mac {
        assert_eq!(check.name, "hmac-sha256", "the one MAC that composites are made of");
        let keyed = <Hmac<Sha256> as KeyInit>::new_from_slice(check_key)
            .expect("HMAC takes keys of any length");
        Box::new(Authenticated { cipher, keyed })
    } else {
        Box::new(Checked { cipher, digest: Reference::new(check, check_key) })
    }
}

/// A digest of the plaintext beside the ciphertext.
struct Checked {
    cipher: Reference,
    digest: Reference,
}

impl Implementation for Checked {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        self.digest.encrypt(&[], &[], buffer, &mut [], tag);
        self.cipher.encrypt_in_place(nonce, buffer);
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        self.cipher.decrypt_in_place(nonce, buffer);
        self.digest.decrypt(&[], &[], buffer, &mut [], tag)
    }
}

/// Encrypt, then MAC, with what RFC 7518 §5.2.2.1 puts under the MAC.
struct Authenticated {
    cipher: Reference,
    keyed: Hmac<Sha256>,
}

impl Authenticated {
    fn tag(&self, nonce: &[u8], aad: &[u8], ciphertext: &[u8]) -> [u8; 32] {
        let aad_bits = (aad.len() as u64) * 8;
        self.keyed
            .clone()
            .chain_update(aad)
            .chain_update(nonce)
            .chain_update(ciphertext)
            .chain_update(aad_bits.to_be_bytes())
            .finalize()
            .into_bytes()
            .into()
    }
}

impl Implementation for Authenticated {
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        self.cipher.encrypt_in_place(nonce, buffer);
        tag.copy_from_slice(&self.tag(nonce, aad, buffer));
    }

    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        if self.tag(nonce, aad, buffer) != *tag {
            return false;
        }
        self.cipher.decrypt_in_place(nonce, buffer);
        true
    }
}
