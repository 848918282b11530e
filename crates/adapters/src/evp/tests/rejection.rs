//! Decryption with something changed: rejected, and the next message is right again.

use super::*;

/// Each part of a message that the tag covers, changed in one bit.
fn forgeries(s: &Sealed) -> Vec<(&'static str, Sealed)> {
    let copy = || Sealed {
        nonce: s.nonce.clone(),
        aad: s.aad.clone(),
        plain: s.plain.clone(),
        cipher: s.cipher.clone(),
        tag: s.tag.clone(),
    };
    let mut forgeries = Vec::new();
    for (what, bit) in [("tag's first bit", 0), ("tag's last bit", 8 * s.tag.len() - 1)] {
        let mut forgery = copy();
        forgery.tag[bit / 8] ^= 0x80 >> (bit % 8);
        forgeries.push((what, forgery));
    }
    let mut forgery = copy();
    forgery.nonce[3] ^= 1;
    forgeries.push(("nonce", forgery));
    if let Some(byte) = s.aad.len().checked_sub(1) {
        let mut forgery = copy();
        forgery.aad[byte] ^= 0x10;
        forgeries.push(("associated data", forgery));
    }
    if let Some(byte) = s.cipher.len().checked_sub(1) {
        let mut forgery = copy();
        forgery.cipher[byte] ^= 0x80;
        forgeries.push(("ciphertext", forgery));
    }
    forgeries
}

fn decrypt(session: &mut Session, s: &Sealed) -> Outcome {
    let mut output = vec![0; s.cipher.len()];
    session.message(Message {
        nonce: &s.nonce,
        aad: &s.aad,
        input: &s.cipher,
        output: &mut output,
        tag: &mut s.tag.clone(),
    })
}

#[test]
fn whatever_is_changed_is_rejected_and_the_next_message_is_right() {
    let library = library();
    for algorithm in ciphers().filter(|a| a.rejects()) {
        let key = bytes(algorithm.key_len, 12);
        let Some(mut session) = open(&*library, algorithm, Direction::Decrypt, &key) else {
            continue;
        };
        let reference = Reference::new(algorithm, &key);
        // With and without associated data and message; see `sealed` for the lengths of the first.
        let takes = |len: &usize| takes(&*library, algorithm, *len);
        for len in [0, 1, 16, 33, 100, 101, 256, 4096].into_iter().filter(takes) {
            let good = sealed(&reference, len);
            for (what, forgery) in forgeries(&good) {
                let at = format!("{algorithm} {len} B, {what}");
                assert_eq!(decrypt(&mut session, &forgery), Outcome::Rejected, "{at}");
                for next in [len, 101, 100, 0].into_iter().filter(takes) {
                    sealed(&reference, next).check(&mut session);
                }
            }
        }
    }
}
