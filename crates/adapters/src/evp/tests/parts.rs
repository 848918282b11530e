//! Digests and MACs in parts: composites are made of them.

use super::*;
use std::ptr;

fn digests() -> impl Iterator<Item = &'static Algorithm> {
    Algorithm::all().iter().filter(|a| Direction::of(a.kind) == [Direction::Digest])
}

fn whole(session: &mut Session, nonce: &[u8], input: &[u8]) -> Vec<u8> {
    let mut tag = vec![0; session.algorithm().tag_len];
    let message = Message { nonce, aad: &[], input, output: &mut [], tag: &mut tag };
    assert_eq!(session.message(message), Outcome::Done, "{}", session.algorithm());
    tag
}

/// In pieces, after a message that is given up.
fn in_pieces(session: &Session, nonce: &[u8], input: &[u8], piece: usize) -> Vec<u8> {
    let (table, name) = (session.raw(), session.algorithm().name);
    let (start, update, finish) =
        (table.start.unwrap(), table.update.unwrap(), table.finish.unwrap());
    let nonce = if nonce.is_empty() { ptr::null() } else { nonce.as_ptr() };
    let mut tag = vec![0; session.algorithm().tag_len];
    // SAFETY: a session of a digest; nonce, pieces and tag have the lengths that belong to it.
    unsafe {
        assert_eq!(start(table.state, nonce), raw::OK, "{name}");
        assert_eq!(update(table.state, input.as_ptr(), ptr::null_mut(), 99), raw::OK, "{name}");
        assert_eq!(start(table.state, nonce), raw::OK, "{name}");
        for part in input.chunks(piece) {
            let code = update(table.state, part.as_ptr(), ptr::null_mut(), part.len());
            assert_eq!(code, raw::OK, "{name}");
        }
        assert_eq!(finish(table.state, tag.as_mut_ptr()), raw::OK, "{name}");
    }
    tag
}

#[test]
fn a_digest_in_pieces_is_that_of_the_whole_also_after_one_that_was_given_up() {
    let library = library();
    let mut offered = 0;
    for algorithm in digests() {
        let key = bytes(algorithm.key_len, 6);
        let Some(mut session) = open(&*library, algorithm, Direction::Digest, &key) else {
            continue;
        };
        let (nonce, input) = (bytes(algorithm.nonce_len, 2), bytes(1000, 7));
        let right = whole(&mut session, &nonce, &input);
        for piece in [1, 77, 128, 1000] {
            let at = format!("{algorithm} by {piece}");
            assert_eq!(in_pieces(&session, &nonce, &input, piece), right, "{at}");
        }
        assert_eq!(whole(&mut session, &nonce, &input), right, "{algorithm}");
        offered += 1;
    }
    assert!(offered >= 9, "SHA-2, HMAC and GMAC are everywhere: {offered}");
}

/// FIPS 180-4 and FIPS 202 by NIST's examples ("abc"), RFC 7693 appendix A, RFC 8439 §2.5.2.
#[test]
fn published_digests_come_out() {
    let library = library();
    let poly1305_key = "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b";
    for (name, key, input, tag) in [
        ("sha256", "", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("sha3-256", "", "abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (
            "blake2b512",
            "",
            "abc",
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
             7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
        ),
        (
            "poly1305",
            poly1305_key,
            "Cryptographic Forum Research Group",
            "a8061dc1305136c6c22b8baf0c0127a9",
        ),
    ] {
        let algorithm = Algorithm::find(name).unwrap();
        let key = hex::decode(key).unwrap();
        if let Some(mut session) = open(&*library, algorithm, Direction::Digest, &key) {
            assert_eq!(hex::encode(whole(&mut session, &[], input.as_bytes())), tag, "{name}");
        }
    }
}

/// GMAC is GCM of no message: NIST SP 800-38D §3.
#[test]
fn a_gmac_is_the_tag_of_an_empty_gcm_message() {
    let library = library();
    for (gmac, gcm) in [
        ("aes-128-gmac", "aes-128-gcm"),
        ("aes-192-gmac", "aes-192-gcm"),
        ("aes-256-gmac", "aes-256-gcm"),
    ] {
        let (gmac, gcm) = (Algorithm::find(gmac).unwrap(), Algorithm::find(gcm).unwrap());
        let key = bytes(gmac.key_len, 8);
        let mut mac = open(&*library, gmac, Direction::Digest, &key).unwrap();
        let mut aead = open(&*library, gcm, Direction::Encrypt, &key).unwrap();
        for len in [0, 1, 16, 33, 4096] {
            let (nonce, data, mut tag) = (bytes(12, len as u8), bytes(len, 4), [0; 16]);
            let sealed =
                Message { nonce: &nonce, aad: &data, input: &[], output: &mut [], tag: &mut tag };
            assert_eq!(aead.message(sealed), Outcome::Done);
            assert_eq!(whole(&mut mac, &nonce, &data), tag, "{gmac} {len} B");
        }
    }
}
