//! Streams against messages; the messages of every mode are held to published vectors in `vectors`.

use super::Reference;
use base::model::{Algorithm, Direction, Kind, Mode, SizeRule};

/// A reference under a key in hexadecimal.
fn reference(name: &str, key: &str) -> Reference {
    Reference::new(Algorithm::find(name).unwrap(), &hex::decode(key).unwrap())
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

fn ciphers() -> impl Iterator<Item = Reference> {
    Algorithm::all().iter().filter(|a| a.encrypts()).map(|a| {
        let key: Vec<u8> = (0..a.key_len).map(|i| i as u8).collect();
        Reference::new(a, &key)
    })
}

fn nonce(reference: &Reference) -> Vec<u8> {
    (0..reference.algorithm().nonce_len).map(|i| 0xf0_u8.wrapping_add(i as u8)).collect()
}

fn message(reference: &Reference, direction: Direction, nonce: &[u8], input: &[u8]) -> Vec<u8> {
    if direction == Direction::Encrypt {
        return encrypt(reference, nonce, b"", input).0;
    }
    // A valid tag needs the plaintext, which a key stream makes from the ciphertext; all the
    // authenticated modes with a stream but OCB are key streams.
    let tag = match reference.algorithm().mode {
        Mode::Gcm | Mode::Eax | Mode::Poly1305 => {
            let plain = encrypt(reference, nonce, b"", input).0;
            encrypt(reference, nonce, b"", &plain).1
        }
        _ => Vec::new(),
    };
    decrypt(reference, nonce, b"", input, &tag).expect("the tag is right")
}

fn input(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 13) as u8).collect()
}

fn directions(reference: &Reference) -> &'static [Direction] {
    match reference.algorithm().mode {
        // Compared with the crate, both ways, where the offsets are.
        Mode::Ocb => &[Direction::Encrypt],
        _ => Direction::of(Kind::Cipher),
    }
}

#[test]
fn the_first_update_is_the_message() {
    let mut streams = 0;
    for reference in ciphers() {
        let nonce = nonce(&reference);
        for &direction in directions(&reference) {
            for len in (0..257).filter(|&len| reference.stream_sizes().allows(len)) {
                let Some(mut stream) = reference.stream(direction, &nonce, false) else { continue };
                let mut buffer = input(len);
                stream.update(&mut buffer);
                let expected = message(&reference, direction, &nonce, &input(len));
                assert_eq!(buffer, expected, "{len} bytes of {reference:?} {direction}");
                streams += 1;
            }
        }
    }
    assert!(streams > 1000, "{streams}");
}

#[test]
fn updates_continue_the_message() {
    for reference in ciphers().filter(|r| r.algorithm().mode != Mode::Xts) {
        let nonce = nonce(&reference);
        let lens: &[usize] = match reference.stream_sizes() {
            SizeRule::MultipleOf(8) => &[16, 0, 8, 48, 1024, 24],
            SizeRule::MultipleOf(_) => &[16, 0, 48, 1024, 16],
            // Partial, then over two block borders, then whole, while inside a segment.
            _ => &[32, 5, 30, 16, 0, 64, 3, 100],
        };
        let all = input(lens.iter().sum());
        for &direction in directions(&reference) {
            let Some(mut stream) = reference.stream(direction, &nonce, false) else { continue };
            let mut pieces = all.clone();
            let mut rest = pieces.as_mut_slice();
            for &len in lens {
                let (piece, after) = rest.split_at_mut(len);
                stream.update(piece);
                rest = after;
            }
            let expected = message(&reference, direction, &nonce, &all);
            assert_eq!(pieces, expected, "{reference:?} {direction}");
        }
    }
}

#[test]
fn each_update_of_xts_is_a_data_unit_of_its_own() {
    for reference in ciphers().filter(|r| r.algorithm().mode == Mode::Xts) {
        let mut nonce = nonce(&reference);
        // Raised by one, this carries into the second byte.
        nonce[0] = 0xff;
        let mut raised = nonce.clone();
        (raised[0], raised[1]) = (0, nonce[1] + 1);
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            for (next_unit, second) in [(false, &nonce), (true, &raised)] {
                let mut stream = reference.stream(direction, &nonce, next_unit).unwrap();
                for tweak in [&nonce, second] {
                    let mut buffer = input(77);
                    stream.update(&mut buffer);
                    assert_eq!(buffer, message(&reference, direction, tweak, &input(77)));
                }
            }
        }
    }
}

#[test]
fn what_has_no_updates_has_no_stream() {
    for algorithm in Algorithm::all() {
        let reference = Reference::new(algorithm, &vec![1; algorithm.key_len]);
        let stream = reference.stream(Direction::Encrypt, &vec![2; algorithm.nonce_len], false);
        let needs_the_whole = matches!(
            algorithm.mode,
            Mode::Ccm | Mode::Siv | Mode::GcmSiv | Mode::Aegis | Mode::Composite
        );
        let without = needs_the_whole || !algorithm.encrypts();
        assert_eq!(stream.is_none(), without, "{algorithm}");
    }
}

#[test]
fn a_copy_copies_and_null_leaves_everything_alone() {
    let (copy, null) = (reference("memcpy", ""), reference("null", ""));
    assert_eq!(encrypt(&copy, b"", b"", b"abc").0, b"abc");
    assert_eq!(decrypt(&copy, b"", b"", b"abc", b"").unwrap(), b"abc");
    let nonce = [9; 16];
    assert_eq!(encrypt(&null, &nonce, b"", b"abc").0, [0; 3]);
    assert_eq!(decrypt(&null, &nonce, b"", b"abc", b"").unwrap(), [0; 3]);
}

#[test]
fn all_128_bits_of_the_ctr_counter_count() {
    let key = "2b7e151628aed2a6abf7158809cf4f3c";
    let (ctr, ecb) = (reference("aes-128-ctr", key), reference("aes-128-ecb", key));
    let made = encrypt(&ctr, &[0xff; 16], b"", &[0; 32]).0;
    assert_eq!(made[..16], encrypt(&ecb, b"", b"", &[0xff; 16]).0);
    assert_eq!(made[16..], encrypt(&ecb, b"", b"", &[0; 16]).0);
}
