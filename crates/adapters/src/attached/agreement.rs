//! How an adapter is tested: its sessions against the reference implementations.

use contract::{Library, Message, OpenError, Outcome, Session, raw};
use model::{Algorithm, Direction};
use std::path::{Path, PathBuf};
use verify::reference::Reference;

/// Every length up to this, so that every remainder of every kernel's stride is met.
const ALL_LENGTHS_TO: usize = 257;

/// The files to test an adapter with: the one that `variable` names, else the system's and the one
/// that is built with us, as far as they are there. Says so when there is none.
pub(crate) fn files(variable: &str, system: &str, bundled: &str) -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os(variable) {
        return vec![PathBuf::from(named)];
    }
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let places = [&multiarch, "/usr/lib64", "/usr/lib"].map(|p| Path::new(p).join(system));
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/libs").join(bundled);
    let installed = places.into_iter().find(|p| p.exists());
    let found: Vec<_> = installed.into_iter().chain(Some(ours).filter(|p| p.exists())).collect();
    if found.is_empty() {
        eprintln!("skipped: neither {system} nor {bundled} is here; {variable} can name one");
    }
    found
}

/// Whether a library has an algorithm; what it fails to open is a failure of the test.
pub(crate) fn offers(library: &dyn Library, algorithm: &'static Algorithm) -> bool {
    let direction = Direction::of(algorithm.kind)[0];
    match library.open(algorithm, direction, &bytes(algorithm.key_len, 1)) {
        Ok(_) => true,
        Err(OpenError::Unsupported(_)) => false,
        Err(OpenError::Failed(why)) => panic!("{algorithm}: {why}"),
    }
}

/// The names of what a library has; composites are tested where they are made.
pub(crate) fn offer(library: &dyn Library) -> Vec<&'static Algorithm> {
    let single = Algorithm::all().iter().filter(|a| a.composite.is_none());
    single.filter(|a| offers(library, a)).collect()
}

/// Bytes that differ from place to place and from `salt` to `salt`.
pub(crate) fn bytes(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(167).wrapping_add(salt) ^ (i >> 8) as u8).collect()
}

/// A message of an algorithm, both ways round.
pub(crate) struct Sealed {
    pub(crate) nonce: Vec<u8>,
    pub(crate) aad: Vec<u8>,
    pub(crate) plain: Vec<u8>,
    pub(crate) cipher: Vec<u8>,
    pub(crate) tag: Vec<u8>,
}

impl Sealed {
    /// The reference's message of `len` bytes; the associated data differs in length as well.
    pub(crate) fn new(reference: &Reference, len: usize) -> Self {
        let algorithm = reference.algorithm();
        let aad_len = if algorithm.tag_len == 0 { 0 } else { [16, 37, 0, 1][len % 4] };
        let (nonce, aad) = (bytes(algorithm.nonce_len, len as u8), bytes(aad_len, 5));
        let (plain, mut cipher) = (bytes(len, 9), vec![0; len]);
        let mut tag = vec![0; algorithm.tag_len];
        reference.encrypt(&nonce, &aad, &plain, &mut cipher, &mut tag);
        Self { nonce, aad, plain, cipher, tag }
    }

    /// What a session of the forward direction makes of the plaintext.
    pub(crate) fn encrypt_with(&self, session: &mut Session) -> (Outcome, Vec<u8>, Vec<u8>) {
        let (mut output, mut tag) = (vec![0; self.plain.len()], vec![0; self.tag.len()]);
        let outcome = session.message(Message {
            nonce: &self.nonce,
            aad: &self.aad,
            input: &self.plain,
            output: &mut output,
            tag: &mut tag,
        });
        (outcome, output, tag)
    }

    /// What a session of the backward direction makes of ciphertext and tag.
    pub(crate) fn decrypt_with(&self, session: &mut Session) -> (Outcome, Vec<u8>) {
        let mut output = vec![0; self.cipher.len()];
        let outcome = session.message(Message {
            nonce: &self.nonce,
            aad: &self.aad,
            input: &self.cipher,
            output: &mut output,
            tag: &mut self.tag.clone(),
        });
        (outcome, output)
    }
}

/// Messages of a cipher, both ways, with and without a second buffer.
pub(crate) fn messages_agree(library: &dyn Library, algorithm: &'static Algorithm) {
    let key = bytes(algorithm.key_len, 1);
    let reference = Reference::new(algorithm, &key);
    let mut encrypt = library.open(algorithm, Direction::Encrypt, &key).unwrap();
    let mut decrypt = library.open(algorithm, Direction::Decrypt, &key).unwrap();
    let lengths = (0..=ALL_LENGTHS_TO).chain([4096, 65_536 + 16]);
    for len in lengths.filter(|len| algorithm.sizes.allows(*len)) {
        let s = Sealed::new(&reference, len);
        let encrypted = s.encrypt_with(&mut encrypt);
        assert_eq!(
            encrypted,
            (Outcome::Done, s.cipher.clone(), s.tag.clone()),
            "{algorithm} {len}"
        );
        let decrypted = s.decrypt_with(&mut decrypt);
        assert_eq!(decrypted, (Outcome::Done, s.plain.clone()), "{algorithm} {len}");

        let (mut buffer, mut tag) = (s.plain.clone(), vec![0; s.tag.len()]);
        let outcome = encrypt.message_in_place(&s.nonce, &s.aad, &mut buffer, &mut tag);
        let right = (Outcome::Done, &s.cipher, &s.tag);
        assert_eq!((outcome, &buffer, &tag), right, "{algorithm} {len} in place");
        let outcome = decrypt.message_in_place(&s.nonce, &s.aad, &mut buffer, &mut tag);
        assert_eq!((outcome, &buffer), (Outcome::Done, &s.plain), "{algorithm} {len} in place");
    }
}

/// Each part of a message changed alone is rejected, and a good message passes after each.
pub(crate) fn forgeries_are_rejected(library: &dyn Library, algorithm: &'static Algorithm) {
    let key = bytes(algorithm.key_len, 2);
    let reference = Reference::new(algorithm, &key);
    let mut session = library.open(algorithm, Direction::Decrypt, &key).unwrap();
    // Lengths that give associated data.
    for len in [1, 16, 100, 1001] {
        for part in 0..4 {
            let mut forged = Sealed::new(&reference, len);
            let parts = [&mut forged.cipher, &mut forged.tag, &mut forged.nonce, &mut forged.aad];
            *parts.into_iter().nth(part).unwrap().last_mut().unwrap() ^= 1;
            let outcome = forged.decrypt_with(&mut session).0;
            assert_eq!(outcome, Outcome::Rejected, "{algorithm} {len} part {part}");
            let good = Sealed::new(&reference, len);
            assert_eq!(good.decrypt_with(&mut session), (Outcome::Done, good.plain.clone()));
        }
    }
}

/// Streams continue from update to update, begin anew, and leave nothing to the next message.
pub(crate) fn streams_agree(library: &dyn Library, algorithm: &'static Algorithm) {
    let key = bytes(algorithm.key_len, 3);
    let reference = Reference::new(algorithm, &key);
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let mut session = library.open(algorithm, direction, &key).unwrap();
        for round in 0..2 {
            let nonce = bytes(algorithm.nonce_len, round);
            let mut stream = reference.stream(direction, &nonce, session.next_unit()).unwrap();
            assert_eq!(session.start(&nonce), Outcome::Done);
            let sizes = [16, 1, 15, 64, 17, 256, 100, 33, 1024, 4096, 31, 48, 16];
            for len in sizes.into_iter().filter(|n| reference.stream_sizes().allows(*n)) {
                let (mut expected, mut buffer) = (bytes(len, 7), bytes(len, 7));
                stream.update(&mut expected);
                let outcome = session.update_in_place(&mut buffer);
                assert_eq!(outcome, Outcome::Done, "{algorithm} {direction} {len}");
                assert_eq!(buffer, expected, "{algorithm} {direction} {len}");
            }
            let s = Sealed::new(&reference, 48);
            if direction == Direction::Decrypt {
                let decrypted = s.decrypt_with(&mut session);
                assert_eq!(decrypted, (Outcome::Done, s.plain.clone()), "{algorithm}");
            }
        }
    }
}

/// A digest or MAC in pieces is that of the whole, also after a message that was given up.
pub(crate) fn pieces_agree(mut session: Session, piece_len: usize) {
    let algorithm = session.algorithm();
    let (data, nonce) = (bytes(1000, 6), bytes(algorithm.nonce_len, 8));
    let mut whole = vec![0; algorithm.tag_len];
    let message =
        Message { nonce: &nonce, aad: &[], input: &data, output: &mut [], tag: &mut whole };
    assert_eq!(session.message(message), Outcome::Done, "{algorithm}");
    let table = session.raw();
    let (start, update, finish) =
        (table.start.unwrap(), table.update.unwrap(), table.finish.unwrap());
    let mut tag = vec![0; whole.len()];
    let none = std::ptr::null_mut();
    // SAFETY: a session of a digest or MAC; nonce, pieces and tag cover their lengths.
    unsafe {
        assert_eq!(start(table.state, nonce.as_ptr()), raw::OK);
        assert_eq!(update(table.state, data.as_ptr(), none, 99), raw::OK);
        assert_eq!(start(table.state, nonce.as_ptr()), raw::OK);
        for piece in data.chunks(piece_len) {
            assert_eq!(update(table.state, piece.as_ptr(), none, piece.len()), raw::OK);
        }
        assert_eq!(finish(table.state, tag.as_mut_ptr()), raw::OK);
    }
    assert_eq!(tag, whole, "{algorithm}");
}

/// Everything that a library offers passes every check of verification; gives the names of what it
/// does not offer.
pub(crate) fn whole_offer_passes(library: &dyn Library) -> Vec<&'static str> {
    let (unsupported, refused) = verify_whole_offer(library);
    assert!(refused.is_empty(), "{refused:#?}");
    unsupported
}

/// The names of what a library does not offer, and what of the rest verification refuses, with the
/// reasons. Composites are made of other algorithms' sessions and are tested where they are made.
pub(crate) fn verify_whole_offer(library: &dyn Library) -> (Vec<&'static str>, Vec<String>) {
    let (mut unsupported, mut refused) = (Vec::new(), Vec::new());
    for algorithm in Algorithm::all().iter().filter(|a| a.composite.is_none()) {
        let offered = Direction::of(algorithm.kind).iter().all(|&direction| {
            let key = bytes(algorithm.key_len, 0);
            !matches!(library.open(algorithm, direction, &key), Err(OpenError::Unsupported(_)))
        });
        if !offered {
            unsupported.push(algorithm.name);
        } else if let Err(finding) =
            verify::verify(library, algorithm, &verify::Scope::BRIEF, &mut |_| {})
        {
            refused.push(format!("{algorithm}: {finding}"));
        }
    }
    (unsupported, refused)
}

/// A digest or MAC taken in parts is that of the whole, after a message that was not finished too.
pub(crate) fn parts_agree(library: &dyn Library, algorithm: &'static Algorithm) {
    let key = bytes(algorithm.key_len, 4);
    let session = library.open(algorithm, Direction::Digest, &key).unwrap();
    let (nonce, data) = (bytes(algorithm.nonce_len, 6), bytes(1000, 8));
    let mut whole = vec![0; algorithm.tag_len];
    let raw = session.raw();
    let (message, start) = (raw.message.unwrap(), raw.start.unwrap());
    let (update, finish) = (raw.update.unwrap(), raw.finish.unwrap());
    let m = contract::raw::Message {
        nonce: nonce.as_ptr(),
        aad: std::ptr::null(),
        aad_len: 0,
        input: data.as_ptr(),
        len: data.len(),
        output: std::ptr::null_mut(),
        tag: whole.as_mut_ptr(),
    };
    // SAFETY: every pointer covers the length that the interface gives it; the state is open.
    assert_eq!(unsafe { message(raw.state, &raw const m) }, 0, "{algorithm}");
    for part in [1000, 1, 7, 16, 64, 129] {
        let mut tag = vec![0; algorithm.tag_len];
        // SAFETY: as above.
        unsafe {
            // A message that nobody finishes.
            assert_eq!(start(raw.state, nonce.as_ptr()), 0, "{algorithm}");
            assert_eq!(update(raw.state, data.as_ptr(), std::ptr::null_mut(), 5), 0, "{algorithm}");
            assert_eq!(start(raw.state, nonce.as_ptr()), 0, "{algorithm}");
            for piece in data.chunks(part) {
                let outcome = update(raw.state, piece.as_ptr(), std::ptr::null_mut(), piece.len());
                assert_eq!(outcome, 0, "{algorithm}");
            }
            assert_eq!(finish(raw.state, tag.as_mut_ptr()), 0, "{algorithm}");
        }
        assert_eq!(tag, whole, "{algorithm} in parts of {part}");
    }
}
