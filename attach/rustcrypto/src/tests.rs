//! The exported functions against the reference. Most of it stands on the same crates, so what is
//! tested here is the attaching: lengths, pointers, directions, state between calls. XTS and the
//! streams of OCB are the reference's own code.

use crate::ciphermark_adapter;
use contract::{Message, Outcome, Session, raw};
use model::{Algorithm, Direction, Kind, Mode, Primitive, SizeRule};
use std::ffi::{CStr, CString};
use verify::reference::Reference;

const DIRECTIONS: [Direction; 2] = [Direction::Encrypt, Direction::Decrypt];

fn adapter() -> &'static raw::Adapter {
    // SAFETY: points to a static.
    unsafe { &*ciphermark_adapter() }
}

fn text(pointer: *const std::ffi::c_char) -> &'static str {
    // SAFETY: the adapter's strings are static and NUL-terminated.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap()
}

/// The session's table, or the code and the reason.
fn open_raw(
    algorithm: &Algorithm,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, (i32, String)> {
    let name = CString::new(algorithm.name).unwrap();
    let request = raw::Request {
        algorithm: name.as_ptr(),
        direction: raw::direction_number(direction),
        key: key.as_ptr(),
        key_len: key.len(),
        nonce_len: algorithm.nonce_len,
        tag_len: algorithm.tag_len,
    };
    let mut session = raw::Session::empty();
    let mut why = [0x7f_u8; 200];
    let open = adapter().open.unwrap();
    // SAFETY: every pointer covers its length.
    let code =
        unsafe { open(&raw const request, &raw mut session, why.as_mut_ptr().cast(), why.len()) };
    match code {
        raw::OK => Ok(session),
        code => Err((code, CStr::from_bytes_until_nul(&why).unwrap().to_str().unwrap().to_owned())),
    }
}

fn open(algorithm: &'static Algorithm, direction: Direction) -> Session {
    let table = open_raw(algorithm, direction, &key(algorithm)).unwrap();
    // SAFETY: the table was opened for this algorithm and direction.
    unsafe { Session::new(table, algorithm, direction) }
}

fn key(algorithm: &Algorithm) -> Vec<u8> {
    (0..algorithm.key_len).map(|i| (i * 3 + 1) as u8).collect()
}

fn reference(algorithm: &'static Algorithm) -> Reference {
    Reference::new(algorithm, &key(algorithm))
}

/// What is offered.
fn offered() -> impl Iterator<Item = &'static Algorithm> {
    trial::primitives().filter(|a| is_offered(a))
}

fn ciphers() -> impl Iterator<Item = &'static Algorithm> {
    offered().filter(|a| a.encrypts())
}

/// The family has no crate of the rest.
fn is_offered(algorithm: &Algorithm) -> bool {
    let no_crate = matches!(
        algorithm.cipher,
        Primitive::Aegis128 { .. }
            | Primitive::Aegis256 { .. }
            | Primitive::Blake3
            | Primitive::Xxh3
            | Primitive::Crc32c
            | Primitive::None
    );
    !no_crate && algorithm.mode != Mode::Cfb1
}

/// Every remainder of the widest kernels, and lengths past several of their batches.
fn sizes(rule: SizeRule) -> impl Iterator<Item = usize> {
    (0..=257).chain(1000..=1040).chain([4096, 16384, 16401]).filter(move |&n| rule.allows(n))
}

fn input(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + len) as u8).collect()
}

fn nonce(algorithm: &Algorithm) -> Vec<u8> {
    (0..algorithm.nonce_len).map(|i| 0xf0_u8.wrapping_add(i as u8)).collect()
}

fn aad(algorithm: &Algorithm, len: usize) -> Vec<u8> {
    if algorithm.kind == Kind::Aead { input(len % 35) } else { Vec::new() }
}

/// What goes in, what must come out, and the tag in between.
struct Example {
    nonce: Vec<u8>,
    aad: Vec<u8>,
    input: Vec<u8>,
    output: Vec<u8>,
    tag: Vec<u8>,
}

fn example(reference: &Reference, direction: Direction, len: usize) -> Example {
    let algorithm = reference.algorithm();
    let (nonce, aad, plain) = (nonce(algorithm), aad(algorithm, len), input(len));
    let (mut cipher, mut tag) = (vec![0; len], vec![0; algorithm.tag_len]);
    reference.encrypt(&nonce, &aad, &plain, &mut cipher, &mut tag);
    let (input, output) = match direction {
        Direction::Decrypt => (cipher, plain),
        _ => (plain, cipher),
    };
    Example { nonce, aad, input, output, tag }
}

impl Example {
    /// Runs the message out of place and in place; the outcome must be the same.
    fn run(&self, session: &mut Session, tag: &[u8]) -> (Outcome, [Vec<u8>; 2], Vec<u8>) {
        let Self { nonce, aad, input, .. } = self;
        let (mut output, mut made) = (vec![0xaa; input.len()], tag.to_vec());
        let outcome =
            session.message(Message { nonce, aad, input, output: &mut output, tag: &mut made });
        let (mut buffer, mut made_in_place) = (input.clone(), tag.to_vec());
        let in_place = session.message_in_place(nonce, aad, &mut buffer, &mut made_in_place);
        assert_eq!((in_place, &made_in_place), (outcome, &made));
        (outcome, [output, buffer], made)
    }

    fn succeeds(&self, session: &mut Session) {
        let case =
            format!("{} bytes, {} {}", self.input.len(), session.algorithm(), session.direction());
        let tag = match session.direction() {
            Direction::Decrypt => self.tag.clone(),
            _ => vec![0xaa; self.tag.len()],
        };
        let (outcome, outputs, tag) = self.run(session, &tag);
        assert_eq!(outcome, Outcome::Done, "{case}");
        assert!(outputs.iter().all(|o| *o == self.output), "{case}");
        assert_eq!(tag, self.tag, "{case}");
    }
}

#[test]
fn every_message_is_the_ciphers() {
    for algorithm in ciphers() {
        let reference = reference(algorithm);
        for direction in DIRECTIONS {
            let mut session = open(algorithm, direction);
            for len in sizes(algorithm.sizes) {
                example(&reference, direction, len).succeeds(&mut session);
            }
        }
    }
}

#[test]
fn a_wrong_tag_is_rejected_and_the_next_message_is_not() {
    for algorithm in ciphers().filter(|a| a.kind == Kind::Aead) {
        let reference = reference(algorithm);
        let mut session = open(algorithm, Direction::Decrypt);
        for len in [0, 1, 16, 100, 1024] {
            let example = example(&reference, Direction::Decrypt, len);
            for byte in 0..example.tag.len() {
                let mut wrong = example.tag.clone();
                wrong[byte] ^= 0x80;
                let (outcome, ..) = example.run(&mut session, &wrong);
                assert_eq!(outcome, Outcome::Rejected, "{len} bytes of {algorithm}");
            }
            example.succeeds(&mut session);
        }
    }
}

#[test]
fn changed_ciphertext_nonce_and_associated_data_are_rejected() {
    for algorithm in ciphers().filter(|a| a.kind == Kind::Aead) {
        let reference = reference(algorithm);
        let mut session = open(algorithm, Direction::Decrypt);
        let changes: [fn(&mut Example); 4] =
            [|e| e.input[50] ^= 1, |e| e.nonce[11] ^= 0x40, |e| e.aad[3] ^= 1, |e| e.aad.push(0)];
        for change in changes {
            let mut changed = example(&reference, Direction::Decrypt, 100);
            change(&mut changed);
            let tag = changed.tag.clone();
            assert_eq!(changed.run(&mut session, &tag).0, Outcome::Rejected, "{algorithm}");
        }
    }
}

#[test]
fn a_stream_of_whole_blocks_is_the_ciphers() {
    streams_agree(&[64, 16, 0, 1024, 256, 48], |_| true);
}

#[test]
fn a_stream_of_any_pieces_is_the_ciphers() {
    streams_agree(&[32, 5, 30, 16, 0, 64, 3, 100, 1000], |rule| rule == SizeRule::Any);
    streams_agree(&[32, 17, 30, 16, 1001], |rule| rule == SizeRule::AtLeast(16));
}

/// Updates in place and out of place, restarted once, against the reference's streams.
fn streams_agree(lens: &[usize], suits: impl Fn(SizeRule) -> bool) {
    let suited = ciphers().filter(|a| a.kind == Kind::Cipher && suits(a.sizes));
    let mut streams = 0;
    for (algorithm, direction) in suited.flat_map(|a| DIRECTIONS.map(|d| (a, d))) {
        let reference = reference(algorithm);
        let mut session = open(algorithm, direction);
        let nonce = nonce(algorithm);
        for first_in_place in [0, 1] {
            assert_eq!(session.start(&nonce), Outcome::Done);
            let mut expected = reference.stream(direction, &nonce, session.next_unit()).unwrap();
            let allowed = lens.iter().filter(|&&n| algorithm.sizes.allows(n));
            for (i, &len) in allowed.enumerate() {
                let mut made = input(len);
                if i % 2 == first_in_place {
                    assert_eq!(session.update_in_place(&mut made), Outcome::Done);
                } else {
                    made = update_out_of_place(&session, &input(len));
                }
                let mut right = input(len);
                expected.update(&mut right);
                assert_eq!(made, right, "{algorithm} {direction}, update {i} of {len} bytes");
            }
            streams += 1;
        }
    }
    assert!(streams > 0);
}

fn update_out_of_place(session: &Session, input: &[u8]) -> Vec<u8> {
    let mut output = vec![0xaa; input.len()];
    let raw = session.raw();
    let update = raw.update.unwrap();
    // SAFETY: both buffers have that length, the session is open.
    let code = unsafe { update(raw.state, input.as_ptr(), output.as_mut_ptr(), input.len()) };
    assert_eq!(code, raw::OK);
    output
}

#[test]
fn authenticated_modes_offer_no_stream() {
    for algorithm in ciphers() {
        let session = open(algorithm, Direction::Encrypt);
        assert_eq!(session.has_stream(), algorithm.kind == Kind::Cipher, "{algorithm}");
        assert!(session.has_message() && session.in_place());
    }
}

#[test]
fn lengths_that_a_mode_does_not_take_fail() {
    for algorithm in ciphers().filter(|a| !a.sizes.allows(1)) {
        for direction in DIRECTIONS {
            let mut session = open(algorithm, direction);
            let bad = 7;
            let nonce = nonce(algorithm);
            let failed = Outcome::Error(raw::FAILED);
            assert_eq!(
                session.message_in_place(&nonce, b"", &mut input(bad), &mut []),
                failed,
                "{algorithm}"
            );
            assert_eq!(session.update_in_place(&mut input(16)), failed, "not started");
            assert_eq!(session.start(&nonce), Outcome::Done);
            assert_eq!(session.update_in_place(&mut input(bad)), failed, "{algorithm}");
        }
    }
}

#[test]
fn a_ccm_message_too_long_for_its_length_field_fails_in_both_directions() {
    let algorithm = Algorithm::find("aes-128-ccm").unwrap();
    let mut buffer = vec![0; 1 << 24];
    for direction in DIRECTIONS {
        let mut session = open(algorithm, direction);
        let outcome = session.message_in_place(&[1; 12], b"", &mut buffer, &mut [0; 16]);
        assert_eq!(outcome, Outcome::Error(raw::FAILED), "{direction}");
    }
}

#[test]
fn null_pointers_to_nothing_are_taken() {
    for algorithm in ciphers().filter(|a| a.sizes.allows(0)) {
        let session = open(algorithm, Direction::Encrypt);
        let nonce = nonce(algorithm);
        let mut tag = vec![0; algorithm.tag_len];
        let message = raw::Message {
            nonce: if nonce.is_empty() { std::ptr::null() } else { nonce.as_ptr() },
            aad: std::ptr::null(),
            aad_len: 0,
            input: std::ptr::null(),
            len: 0,
            output: std::ptr::null_mut(),
            tag: if tag.is_empty() { std::ptr::null_mut() } else { tag.as_mut_ptr() },
        };
        let call = session.raw().message.unwrap();
        // SAFETY: what is null has length zero.
        assert_eq!(unsafe { call(session.raw().state, &raw const message) }, raw::OK);
    }
}

#[test]
fn everything_is_offered_that_the_family_has_a_crate_of_and_the_rest_says_why_not() {
    for algorithm in Algorithm::all() {
        let direction = Direction::of(algorithm.kind)[0];
        match open_raw(algorithm, direction, &key(algorithm)) {
            Ok(table) => {
                assert!(is_offered(algorithm) && algorithm.composite.is_none(), "{algorithm}");
                // SAFETY: the table was opened for this algorithm and direction.
                drop(unsafe { Session::new(table, algorithm, direction) });
            }
            Err((code, why)) => {
                assert!(!is_offered(algorithm) || algorithm.composite.is_some(), "{algorithm}");
                assert_eq!(code, raw::UNSUPPORTED);
                assert!(why.contains("RustCrypto") && why.contains(algorithm.name), "{why}");
            }
        }
    }
}

#[test]
fn wrong_keys_and_directions_are_unsupported_with_a_reason() {
    let unsupported = |name: &str, direction, key: &[u8]| {
        let (code, why) = open_raw(Algorithm::find(name).unwrap(), direction, key).unwrap_err();
        assert_eq!(code, raw::UNSUPPORTED);
        why
    };
    let why = unsupported("aes-256-gcm", Direction::Encrypt, &[0; 31]);
    assert_eq!(why, "aes-256-gcm takes no key of 31 bytes");
    let why = unsupported("aes-256-gcm", Direction::Digest, &[0; 32]);
    assert_eq!(why, "aes-256-gcm has no direction digest");
    assert_eq!(unsupported("sha256", Direction::Copy, &[]), "sha256 has no direction copy");
}

#[test]
fn only_what_the_crates_force_is_flagged() {
    for algorithm in offered() {
        let session = open(algorithm, Direction::of(algorithm.kind)[0]);
        assert_eq!(session.copies(), algorithm.mode == Mode::Xts, "{algorithm}");
        assert!(!session.allocates() && !session.calls().unwrap().is_empty(), "{algorithm}");
    }
}

#[test]
fn a_digest_in_pieces_is_that_of_the_whole() {
    let in_pieces = |a: &&Algorithm| matches!(a.mode, Mode::None | Mode::Hmac);
    let mut digests = 0;
    for algorithm in offered().filter(in_pieces) {
        let mut session = open(algorithm, Direction::Digest);
        let message = input(1000);
        let mut whole = vec![0; algorithm.tag_len];
        let (input, output) = (&message[..], &mut [][..]);
        let call = Message { nonce: &[], aad: &[], input, output, tag: &mut whole };
        assert_eq!(session.message(call), Outcome::Done);
        let mut tag = vec![0xaa; algorithm.tag_len];
        assert_eq!(
            pieces(&session, &[&message[..1], &message[1..200], b"", &message[200..]], &mut tag),
            raw::OK
        );
        assert_eq!(tag, whole, "{algorithm}");
        digests += 1;
    }
    assert_eq!(digests, 10);
}

/// Begins a message, gives it up, begins it again and ends it; a second end fails.
fn pieces(session: &Session, pieces: &[&[u8]], tag: &mut [u8]) -> i32 {
    let raw = session.raw();
    let (start, update, finish) = (raw.start.unwrap(), raw.update.unwrap(), raw.finish.unwrap());
    let none = std::ptr::null_mut();
    // SAFETY: every pointer covers the length beside it, the session is open.
    unsafe {
        let mut code = start(raw.state, none) | update(raw.state, b"other".as_ptr(), none, 5);
        code |= start(raw.state, none);
        for piece in pieces {
            code |= update(raw.state, piece.as_ptr(), none, piece.len());
        }
        code |= finish(raw.state, tag.as_mut_ptr());
        assert_eq!(finish(raw.state, tag.as_mut_ptr()), raw::FAILED, "nothing was begun");
        code
    }
}

#[test]
fn the_version_and_every_crates_version_are_told() {
    assert_eq!(text(adapter().library), "rustcrypto");
    assert_eq!(adapter().abi, raw::ABI);
    let build = text(adapter().build);
    for name in
        ["aes-gcm", "ccm", "ocb3", "xts-mode", "polyval", "chacha20", "poly1305", "sm4", "keccak"]
    {
        let line = build.lines().find(|l| l.starts_with(&format!("crate {name} "))).unwrap();
        assert!(line.ends_with(|c: char| c.is_ascii_digit()), "{line}");
    }
    assert!(build.contains(&format!("crate aes {}\n", text(adapter().version))), "{build}");
    for fact in
        ["rustc ", "profile ", "opt-level ", "codegen-units ", "target-cpu ", "target features "]
    {
        assert!(build.lines().any(|l| l.starts_with(fact)), "no {fact}in {build}");
    }
    assert!(!build.contains("ciphermark"), "our own packages are not the library: {build}");
}
