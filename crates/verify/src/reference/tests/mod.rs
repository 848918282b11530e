//! The reference against published vectors, and its streams against its messages.

mod published;
mod streams;
mod wycheproof;

use super::Reference;
use model::Algorithm;

/// A reference under a key in hexadecimal.
fn reference(name: &str, key: &str) -> Reference {
    Reference::new(Algorithm::find(name).unwrap(), &bytes(key))
}

fn bytes(text: &str) -> Vec<u8> {
    hex::decode(text.replace(' ', "")).unwrap()
}

fn encrypt(reference: &Reference, nonce: &[u8], aad: &[u8], input: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut output = vec![0; input.len()];
    let mut tag = vec![0; reference.algorithm().tag_len];
    reference.encrypt(nonce, aad, input, &mut output, &mut tag);
    (output, tag)
}

fn decrypt(
    reference: &Reference,
    nonce: &[u8],
    aad: &[u8],
    input: &[u8],
    tag: &[u8],
) -> Option<Vec<u8>> {
    let mut output = vec![0; input.len()];
    reference.decrypt(nonce, aad, input, &mut output, tag).then_some(output)
}

/// Holds both directions against a vector, and that any changed bit of the tag is rejected.
fn check(reference: &Reference, [nonce, aad, plain, cipher, tag]: [&str; 5]) {
    let [nonce, aad, plain, cipher, tag] = [nonce, aad, plain, cipher, tag].map(bytes);
    let made = encrypt(reference, &nonce, &aad, &plain);
    assert_eq!(made, (cipher.clone(), tag.clone()), "{reference:?}");
    assert_eq!(decrypt(reference, &nonce, &aad, &cipher, &tag), Some(plain), "{reference:?}");
    for bit in 0..tag.len() * 8 {
        let mut wrong = tag.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(decrypt(reference, &nonce, &aad, &cipher, &wrong), None, "{reference:?}");
    }
}
