use super::*;
use crate::kernel::af_alg::{self, Control};
use base::model::{Algorithm, Direction};
use contract::{Message, Outcome, Session};
use std::mem::offset_of;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::path::Path;
use std::{io, ptr};
use testing::trial::{bytes, whole_offer};

fn named(name: &str) -> &'static Algorithm {
    Algorithm::find(name).unwrap()
}

#[test]
fn the_kernels_offer_passes_the_checks_or_it_says_why_it_has_none() {
    match crate::load(Path::new(KERNEL_PATH), None) {
        Ok(kernel) => {
            assert_eq!(kernel.identity().name, "linux-kernel");
            assert_eq!(whole_offer(&*kernel).refused, []);
        }
        Err(error) => {
            eprintln!("skipped: {error}");
            let text = error.to_string();
            assert!(text.starts_with("cannot use 'af_alg:': this kernel gives no AF_ALG socket: "));
        }
    }
}

#[test]
fn a_kernel_without_the_sockets_is_told_from_one_that_forbids_them() {
    let reason = |errno| af_alg::reason(&io::Error::from_raw_os_error(errno));
    assert!(reason(libc::EAFNOSUPPORT).contains("CONFIG_CRYPTO_USER_API"));
    assert!(reason(libc::EPERM).contains("not allowed here"));
    assert!(!reason(libc::EPERM).contains('\n'));
}

/// `struct sockaddr_alg` of `linux/if_alg.h`: 88 bytes; family, type[14], feat, mask, name[64].
#[test]
fn an_address_has_the_layout_of_the_kernels_header() {
    let offsets = [
        offset_of!(libc::sockaddr_alg, salg_family),
        offset_of!(libc::sockaddr_alg, salg_type),
        offset_of!(libc::sockaddr_alg, salg_feat),
        offset_of!(libc::sockaddr_alg, salg_mask),
        offset_of!(libc::sockaddr_alg, salg_name),
    ];
    assert_eq!((size_of::<libc::sockaddr_alg>(), offsets), (88, [0, 2, 16, 20, 24]));
    let address = af_alg::address("skcipher", "cbc(aes)");
    assert_eq!(address.salg_family, 38);
    assert_eq!(&address.salg_type[..9], b"skcipher\0");
    assert_eq!(&address.salg_name[..9], b"cbc(aes)\0");
    assert_eq!((address.salg_feat, address.salg_mask), (0, 0));
    let long = af_alg::address(&"t".repeat(40), &"n".repeat(100));
    assert_eq!((long.salg_type[13], long.salg_name[63]), (0, 0));
}

/// Level, type and value of every control message, as the macros of cmsg(3) find them.
fn control_messages(control: &mut Control) -> Vec<(i32, i32, Vec<u8>)> {
    let mut header = af_alg::header(&mut []);
    control.attach(&mut header);
    let mut found = Vec::new();
    // SAFETY: the macros stay within the control buffer, which lives until the end.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while !message.is_null() {
            let head = message.read_unaligned();
            let len = head.cmsg_len as usize - libc::CMSG_LEN(0) as usize;
            let value = std::slice::from_raw_parts(libc::CMSG_DATA(message), len).to_vec();
            found.push((head.cmsg_level, head.cmsg_type, value));
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
    }
    found
}

/// SOL_ALG is 279; ALG_SET_IV is 2, ALG_SET_OP 3, ALG_SET_AEAD_ASSOCLEN 4; ALG_OP_ENCRYPT is 1.
#[test]
fn control_messages_are_operation_iv_and_length_of_the_associated_data() {
    let mut control = Control::new(1, &[0; 12], 0, 12, true);
    let nonce = bytes(12, 3);
    // SAFETY: the nonce has 12 bytes.
    unsafe { control.set_nonce(nonce.as_ptr()) };
    control.set_aad_len(0x0102_0304);
    let iv = [&12_u32.to_ne_bytes()[..], &nonce].concat();
    assert_eq!(
        control_messages(&mut control),
        [
            (279, 3, 1_u32.to_ne_bytes().to_vec()),
            (279, 2, iv),
            (279, 4, 0x0102_0304_u32.to_ne_bytes().to_vec()),
        ]
    );
    let mut ecb = Control::new(0, &[], 0, 0, false);
    // SAFETY: a nonce of no bytes.
    unsafe { ecb.set_nonce(ptr::null()) };
    assert_eq!(control_messages(&mut ecb), [(279, 3, vec![0; 4])]);
}

#[test]
fn ivs_are_laid_out_as_the_kernel_wants_them() {
    let iv = |name: &str| {
        let target = super::target_of(named(name)).unwrap();
        let mut iv = target.iv;
        iv[target.nonce_at..][..target.nonce_len].fill(0xee);
        iv
    };
    // crypto/ccm.c: three bytes of length, so the first byte is 2; the counter is zero.
    assert_eq!(iv("aes-128-ccm"), [&[2][..], &[0xee; 12], &[0; 3]].concat());
    // crypto/chacha: block counter, then the nonce.
    assert_eq!(iv("chacha20"), [&[0; 4][..], &[0xee; 12]].concat());
    assert_eq!(iv("xchacha20"), [&[0xee; 24][..], &[0; 8]].concat());
    assert_eq!(iv("aes-256-gcm"), [0xee; 12]);
    assert_eq!(iv("des-ede3-cbc"), [0xee; 8]);
}

#[test]
fn algorithms_have_the_kernels_names() {
    for (name, kind, kernel) in [
        ("aes-128-cbc", "skcipher", "cbc(aes)"),
        ("aes-256-xts", "skcipher", "xts(aes)"),
        ("aes-256-hctr2", "skcipher", "hctr2(aes)"),
        ("aes-128-cbc-essiv", "skcipher", "essiv(cbc(aes),sha256)"),
        ("adiantum-xchacha20", "skcipher", "adiantum(xchacha20,aes)"),
        ("des-ede3-ctr", "skcipher", "ctr(des3_ede)"),
        ("sm4-gcm", "aead", "gcm(sm4)"),
        ("aria-192-ccm", "aead", "ccm(aria)"),
        ("chacha20-poly1305", "aead", "rfc7539(chacha20,poly1305)"),
        ("sha3-384", "hash", "sha3-384"),
        ("crc32c", "hash", "crc32c"),
        ("hmac-sha512", "hash", "hmac(sha512)"),
        ("serpent-256-xts", "skcipher", "xts(serpent)"),
        ("twofish-128-gcm", "aead", "gcm(twofish)"),
        ("bf-ecb", "skcipher", "ecb(blowfish)"),
        ("des-cbc", "skcipher", "cbc(des)"),
        ("aes-128-ccm8", "aead", "ccm(aes)"),
        ("xchacha20", "skcipher", "xchacha20"),
        ("des-ede3-cmac", "hash", "cmac(des3_ede)"),
        ("hmac-rmd160", "hash", "hmac(rmd160)"),
        ("blake2b512-mac", "hash", "blake2b-512"),
        ("whirlpool", "hash", "wp512"),
        ("ghash", "hash", "ghash"),
        ("xxh64", "hash", "xxhash64"),
    ] {
        let target = super::target_of(named(name)).unwrap();
        assert_eq!((target.kind.type_name(), &*target.name), (kind, kernel), "{name}");
    }
    let others = "xchacha20-poly1305 xsalsa20-poly1305 aes-128-ocb aegis-128l aes-128-gmac xxh3-64 crc32 chacha12 \
        idea-cbc rc2-cbc kuznyechik-ctr magma-ecb sha512-256 shake128 kmac128 siphash-2-4 blake3-keyed ascon-aead128 \
        ascon-hash256";
    for name in others.split_whitespace() {
        assert_eq!(super::target_of(named(name)), None, "{name}");
    }
}

#[test]
fn a_wrong_tag_is_a_rejection_and_no_errno_is_taken_for_the_interfaces_own_code() {
    assert_eq!(af_alg::code(libc::EBADMSG), contract::raw::REJECTED);
    assert_eq!(af_alg::code(libc::EINVAL), libc::EINVAL);
    assert!((0..=3).all(|errno| af_alg::code(errno) == contract::raw::FAILED));
}

#[test]
fn of_the_drivers_of_a_name_the_one_with_the_highest_priority_counts() {
    let listed = "name : gcm(aes)\ndriver : slow\npriority : 100\ninternal : no\n\n\
                  name : gcm(aes)\ndriver : fast\npriority : 400\ninternal : no\n\n\
                  name : gcm(aes)\ndriver : part\npriority : 900\ninternal : yes\n";
    assert_eq!(super::drivers(listed).into_iter().collect::<Vec<_>>(), [("gcm(aes)", "fast")]);
}

/// A socket for operations and the kernel's end of it: datagrams, as AF_ALG's operations are.
/// Control messages of a level that is not its own a Unix socket lets pass and forgets.
fn pair() -> (OwnedFd, OwnedFd) {
    let mut fds = [0; 2];
    // SAFETY: an array of two.
    let result =
        unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, fds.as_mut_ptr()) };
    assert_eq!(result, 0);
    // SAFETY: the kernel has just given them to us.
    let [ours, theirs] = fds.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    (ours, theirs)
}

/// What nobody accepts from.
fn no_transform() -> Transform {
    Transform::stand_in(std::fs::File::open("/dev/null").unwrap().into())
}

fn answer(kernel: &OwnedFd, parts: &[&[u8]]) {
    let all = parts.concat();
    // SAFETY: the bytes cover their length.
    let sent = unsafe { libc::send(kernel.as_raw_fd(), all.as_ptr().cast(), all.len(), 0) };
    assert_eq!(sent, all.len().cast_signed());
}

fn asked(kernel: &OwnedFd) -> Vec<u8> {
    let mut all = vec![0; 1000];
    let flags = libc::MSG_DONTWAIT;
    // SAFETY: the buffer covers its length.
    let len = unsafe { libc::recv(kernel.as_raw_fd(), all.as_mut_ptr().cast(), 1000, flags) };
    all.truncate(usize::try_from(len).expect("something was asked"));
    all
}

fn aead(direction: Direction) -> (Session, OwnedFd) {
    let algorithm = named("aes-128-gcm");
    let (ours, kernel) = pair();
    let target = super::target_of(algorithm).unwrap();
    let state = super::AeadState::new(no_transform(), ours, &target, 16, direction);
    // SAFETY: the state's own functions.
    (unsafe { Session::new(state.into_session(direction), algorithm, direction) }, kernel)
}

#[test]
fn an_aeads_parts_go_in_and_out_in_the_documented_order() {
    let (nonce, aad, input) = (bytes(12, 1), bytes(20, 2), bytes(40, 3));
    let (cipher, code) = (bytes(40, 4), bytes(16, 5));
    let (mut encrypt, kernel) = aead(Direction::Encrypt);
    answer(&kernel, &[&aad, &cipher, &code]);
    let (mut output, mut tag) = (vec![0; 40], vec![0; 16]);
    let outcome = encrypt.message(Message {
        nonce: &nonce,
        aad: &aad,
        input: &input,
        output: &mut output,
        tag: &mut tag,
    });
    assert_eq!((outcome, output, &tag), (Outcome::Done, cipher, &code));
    assert_eq!(asked(&kernel), [&aad[..], &input].concat());

    let (mut decrypt, kernel) = aead(Direction::Decrypt);
    answer(&kernel, &[&aad, &input]);
    let mut buffer = bytes(40, 6);
    let outcome = decrypt.message_in_place(&nonce, &aad, &mut buffer, &mut tag);
    assert_eq!((outcome, buffer), (Outcome::Done, input));
    assert_eq!(asked(&kernel), [&aad[..], &bytes(40, 6), &code].concat());
}

#[test]
fn an_answer_that_is_short_or_missing_is_an_error_and_nothing_waits() {
    let (mut decrypt, kernel) = aead(Direction::Decrypt);
    let (nonce, mut tag) = (bytes(12, 1), bytes(16, 2));
    let outcome = decrypt.message_in_place(&nonce, &[], &mut [0; 40], &mut tag);
    assert_eq!(outcome, Outcome::Error(libc::EAGAIN));
    answer(&kernel, &[&[0; 39]]);
    let outcome = decrypt.message_in_place(&nonce, &[], &mut [0; 40], &mut tag);
    assert_eq!(outcome, Outcome::Error(libc::EMSGSIZE));
    let outcome = decrypt.message_in_place(&nonce, &vec![0; 70_000], &mut [0; 40], &mut tag);
    assert_eq!(outcome, Outcome::Error(libc::EMSGSIZE));
}

#[test]
fn a_ciphers_message_is_sent_and_taken_back_and_an_empty_one_is_nothing() {
    let algorithm = named("aes-128-ctr");
    let (ours, kernel) = pair();
    let target = super::target_of(algorithm).unwrap();
    let state = super::CipherState::new(no_transform(), ours, &target, Direction::Encrypt);
    // SAFETY: the state's own functions.
    let mut session = unsafe { Session::new(state.into_session(), algorithm, Direction::Encrypt) };
    assert!(session.copies() && session.allocates() && session.in_place());
    answer(&kernel, &[&bytes(33, 7)]);
    let mut buffer = bytes(33, 8);
    let outcome = session.message_in_place(&bytes(16, 1), &[], &mut buffer, &mut []);
    assert_eq!((outcome, buffer), (Outcome::Done, bytes(33, 7)));
    assert_eq!(asked(&kernel), bytes(33, 8));
    let outcome = session.message_in_place(&bytes(16, 1), &[], &mut [], &mut []);
    assert_eq!(outcome, Outcome::Done);
    // A stream needs a socket of its own, which the stand-in has none to give for.
    assert_eq!(session.start(&bytes(16, 1)), Outcome::Error(contract::raw::FAILED));
}

#[test]
fn a_checksum_is_turned_into_the_byte_order_of_all_libraries_and_other_digests_are_not() {
    for (name, given, expected) in [
        ("crc32c", vec![1, 2, 3, 4], vec![4, 3, 2, 1]),
        ("sha256", bytes(32, 1), bytes(32, 1)),
        ("xxh64", (0..8).collect(), (0..8).rev().collect()),
    ] {
        let (ours, kernel) = pair();
        let state = super::HashState::new(no_transform(), ours, named(name));
        // SAFETY: the state's own functions.
        let mut session =
            unsafe { Session::new(state.into_session(), named(name), Direction::Digest) };
        answer(&kernel, &[&given]);
        let mut tag = vec![0; given.len()];
        let input = bytes(100, 2);
        let outcome = session.message(Message {
            nonce: &[],
            aad: &[],
            input: &input,
            output: &mut [],
            tag: &mut tag,
        });
        assert_eq!((outcome, tag), (Outcome::Done, expected), "{name}");
        assert_eq!(asked(&kernel), input, "{name}");
    }
}
