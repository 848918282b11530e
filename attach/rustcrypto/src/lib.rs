//! The RustCrypto crates as a library that ciphermark loads: `libciphermark_rustcrypto.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
mod ciphers;
mod derivation;
mod digest;

use aes::{Aes128, Aes192, Aes256};
use aes_siv::siv::CmacSiv;
use aes_siv::{Aes128SivAead, Aes256SivAead};
use aria::{Aria128, Aria192, Aria256};
use blowfish::Blowfish;
use camellia::{Camellia128, Camellia192, Camellia256};
use cast5::Cast5;
use cipher::consts::{U8, U32, U64};
use cipher::{Iv, KeyInit, KeyIvInit, KeySizeUser, StreamCipher};
use ciphers::{
    AeadChaCha, Ascon, BlockCipher, Cbc, CcmMode, Cfb, Cfb8, Cipher64, Cipher128, Ctr, Ctr64,
    EaxMode, Ecb, Gcm, GcmSiv, KeyStream, Ocb, Ofb, Siv, SivAead, XChaCha, Xts,
};
use cmac::Cmac;
use contract::export::{Bytes, Mode, OpenError, Opened, Wanted};
use derivation::{Argon, Bcrypt, Expand, Pbkdf2, Scrypt};
use des::{Des, TdesEde3};
use digest::{Gmac, Hash, Keyed, OneTime, Polynomial, Xof};
use hmac::{Hmac, Mac, SimpleHmac};
use idea::Idea;
use kuznyechik::Kuznyechik;
use magma::Magma;
use rc2::Rc2;
use serpent::Serpent;
use sm4::Sm4;
use std::ops::Add;
use twofish::Twofish;

contract::adapter! { c"rustcrypto", open }
// Opening an algorithm: its name chooses the types, its key is expanded here, outside the clock.

pub(crate) fn open(wanted: &Wanted<'_>) -> Opened {
    let name = wanted.algorithm;
    match name {
        "chacha20" => key_stream::<chacha20::ChaCha20>(wanted),
        "chacha12" => key_stream::<chacha20::ChaCha12>(wanted),
        "chacha8" => key_stream::<chacha20::ChaCha8>(wanted),
        "xchacha20" => key_stream::<chacha20::XChaCha20>(wanted),
        "salsa20" => key_stream::<salsa20::Salsa20>(wanted),
        "chacha20-poly1305" => aead(wanted, AeadChaCha::keyed),
        "xchacha20-poly1305" => aead(wanted, XChaCha::keyed),
        "ascon-aead128" => aead(wanted, Ascon::keyed),
        "md4" => hash::<md4::Md4>(wanted),
        "md5" => hash::<md5::Md5>(wanted),
        "sha1" => hash::<sha1::Sha1>(wanted),
        "sha224" => hash::<sha2::Sha224>(wanted),
        "sha256" => hash::<sha2::Sha256>(wanted),
        "sha384" => hash::<sha2::Sha384>(wanted),
        "sha512" => hash::<sha2::Sha512>(wanted),
        "sha512-224" => hash::<sha2::Sha512_224>(wanted),
        "sha512-256" => hash::<sha2::Sha512_256>(wanted),
        "sha3-224" => hash::<sha3::Sha3_224>(wanted),
        "sha3-256" => hash::<sha3::Sha3_256>(wanted),
        "sha3-384" => hash::<sha3::Sha3_384>(wanted),
        "sha3-512" => hash::<sha3::Sha3_512>(wanted),
        "keccak-256" => hash::<sha3::Keccak256>(wanted),
        "blake2b512" => hash::<blake2::Blake2b512>(wanted),
        "blake2b256" => hash::<blake2::Blake2b256>(wanted),
        "blake2s256" => hash::<blake2::Blake2s256>(wanted),
        "sm3" => hash::<sm3::Sm3>(wanted),
        "rmd160" => hash::<ripemd::Ripemd160>(wanted),
        "whirlpool" => hash::<whirlpool::Whirlpool>(wanted),
        "streebog-256" => hash::<streebog::Streebog256>(wanted),
        "streebog-512" => hash::<streebog::Streebog512>(wanted),
        "ascon-hash256" => hash::<ascon_hash::AsconHash256>(wanted),
        "shake128" => wanted.streaming_digest(Xof::<cshake::CShake128, U32>::new()),
        "shake256" => wanted.streaming_digest(Xof::<cshake::CShake256, U64>::new()),
        "turboshake128" => wanted.streaming_digest(Xof::<turboshake::TurboShake128, U32>::new()),
        "turboshake256" => wanted.streaming_digest(Xof::<turboshake::TurboShake256, U64>::new()),
        "kt128" => wanted.streaming_digest(Xof::<k12::Kt128, U32>::new()),
        "hmac-md5" => mac::<Hmac<md5::Md5>>(wanted),
        "hmac-sha1" => mac::<Hmac<sha1::Sha1>>(wanted),
        "hmac-sha224" => mac::<Hmac<sha2::Sha224>>(wanted),
        "hmac-sha256" => mac::<Hmac<sha2::Sha256>>(wanted),
        "hmac-sha384" => mac::<Hmac<sha2::Sha384>>(wanted),
        "hmac-sha512" => mac::<Hmac<sha2::Sha512>>(wanted),
        "hmac-sha512-256" => mac::<Hmac<sha2::Sha512_256>>(wanted),
        "hmac-sha3-256" => mac::<SimpleHmac<sha3::Sha3_256>>(wanted),
        "hmac-sha3-512" => mac::<SimpleHmac<sha3::Sha3_512>>(wanted),
        "hmac-sm3" => mac::<Hmac<sm3::Sm3>>(wanted),
        "hmac-rmd160" => mac::<Hmac<ripemd::Ripemd160>>(wanted),
        "blake2b512-mac" => mac::<blake2::Blake2bMac512>(wanted),
        "blake2s256-mac" => mac::<blake2::Blake2sMac256>(wanted),
        "ghash" => wanted.digest(Polynomial::<ghash::GHash>(keyed(wanted)?)),
        "polyval" => wanted.digest(Polynomial::<polyval::Polyval>(keyed(wanted)?)),
        "poly1305" => wanted.digest(OneTime(keyed(wanted)?)),
        "pbkdf2-sha1" => wanted.derivation(Pbkdf2::<sha1::Sha1>::new()),
        "pbkdf2-sha256" => wanted.derivation(Pbkdf2::<sha2::Sha256>::new()),
        "pbkdf2-sha512" => wanted.derivation(Pbkdf2::<sha2::Sha512>::new()),
        "hkdf-sha256" => wanted.derivation(Expand::<sha2::Sha256>::new()),
        "hkdf-sha512" => wanted.derivation(Expand::<sha2::Sha512>::new()),
        "scrypt" => wanted.derivation(Scrypt),
        "bcrypt" => wanted.derivation(Bcrypt),
        "argon2id-t1" => wanted.derivation(Argon(argon2::Algorithm::Argon2id, 1)),
        "argon2id-t2" => wanted.derivation(Argon(argon2::Algorithm::Argon2id, 2)),
        "argon2id-t3" => wanted.derivation(Argon(argon2::Algorithm::Argon2id, 3)),
        "argon2i-t3" => wanted.derivation(Argon(argon2::Algorithm::Argon2i, 3)),
        "argon2d-t1" => wanted.derivation(Argon(argon2::Algorithm::Argon2d, 1)),
        _ => mode_of_a_cipher(wanted),
    }
}

/// `aes-128-gcm`: the cipher's name ends with its key length, where it has several.
fn mode_of_a_cipher(wanted: &Wanted<'_>) -> Opened {
    // Names of composites begin like those of modes; the program makes them of their parts.
    let Some((cipher, mode)) = split(wanted.algorithm) else { return Err(no_crate(wanted)) };
    match (cipher, mode) {
        ("aes-128", "siv") => aead(wanted, SivAead::<Aes128SivAead>::keyed),
        ("aes-256", "siv") => aead(wanted, SivAead::<Aes256SivAead>::keyed),
        ("aes-128", "gcm-siv" | "gmac" | "ccm8") => aes_alone::<Aes128>(wanted, mode),
        ("aes-192", "gmac") => aes_alone::<Aes192>(wanted, mode),
        ("aes-256", "gcm-siv" | "gmac" | "ccm8") => aes_alone::<Aes256>(wanted, mode),
        ("aes-128", _) => mode_128::<Aes128>(wanted, mode),
        ("aes-192", _) => mode_128::<Aes192>(wanted, mode),
        ("aes-256", _) => mode_128::<Aes256>(wanted, mode),
        ("camellia-128", _) => mode_128::<Camellia128>(wanted, mode),
        ("camellia-192", _) => mode_128::<Camellia192>(wanted, mode),
        ("camellia-256", _) => mode_128::<Camellia256>(wanted, mode),
        ("aria-128", _) => mode_128::<Aria128>(wanted, mode),
        ("aria-192", _) => mode_128::<Aria192>(wanted, mode),
        ("aria-256", _) => mode_128::<Aria256>(wanted, mode),
        ("sm4", _) => mode_128::<Sm4>(wanted, mode),
        // `Eax` stores the key, and both types have one length of it as theirs.
        ("serpent-256", "eax") | ("twofish-128", "eax") => Err(no_crate(wanted)),
        ("serpent-128" | "serpent-192" | "serpent-256", _) => finalist::<Serpent>(wanted, mode),
        ("twofish-128" | "twofish-192" | "twofish-256", _) => finalist::<Twofish>(wanted, mode),
        ("kuznyechik", _) => plain_128::<Kuznyechik>(wanted, mode),
        ("des-ede3", "cmac") => mac::<Cmac<TdesEde3>>(wanted),
        ("des-ede3", _) => mode_64::<TdesEde3>(wanted, mode),
        ("des", _) => mode_64::<Des>(wanted, mode),
        ("bf", _) => mode_64::<Blowfish>(wanted, mode),
        ("cast5", _) => mode_64::<Cast5>(wanted, mode),
        ("idea", _) => mode_64::<Idea>(wanted, mode),
        ("rc2", _) => mode_64::<Rc2>(wanted, mode),
        // Its type cannot be copied, as streams would.
        ("magma", "ecb") => wanted.cipher(Ecb(keyed::<Magma>(wanted)?)),
        ("magma", "cbc") => wanted.cipher(Cbc(keyed::<Magma>(wanted)?)),
        _ => Err(no_crate(wanted)),
    }
}

/// The cipher's part of a name and the mode's.
fn split(name: &str) -> Option<(&str, &str)> {
    const CIPHERS: [&str; 24] = [
        "aes-128",
        "aes-192",
        "aes-256",
        "camellia-128",
        "camellia-192",
        "camellia-256",
        "aria-128",
        "aria-192",
        "aria-256",
        "sm4",
        "serpent-128",
        "serpent-192",
        "serpent-256",
        "twofish-128",
        "twofish-192",
        "twofish-256",
        "kuznyechik",
        "des-ede3",
        "des",
        "bf",
        "cast5",
        "idea",
        "rc2",
        "magma",
    ];
    CIPHERS.into_iter().find_map(|c| Some((c, name.strip_prefix(c)?.strip_prefix('-')?)))
}

/// Modes of ciphers with 128-bit blocks.
fn mode_128<C: Cipher128>(wanted: &Wanted<'_>, mode: &str) -> Opened
where
    C::KeySize: Add,
    CmacSiv<C>: KeyInit,
{
    match mode {
        "ccm" => aead(wanted, CcmMode::<C>::keyed),
        "siv" => wanted.cipher(Siv::<C>(keyed(wanted)?)),
        "cmac" => mac::<Cmac<C>>(wanted),
        _ => finalist::<C>(wanted, mode),
    }
}

/// Those that Serpent and Twofish are asked for.
fn finalist<C: Cipher128>(wanted: &Wanted<'_>, mode: &str) -> Opened {
    match mode {
        "xts" => {
            let xts = Xts::<C>::new(wanted.key).ok_or_else(|| wanted.no_such_key())?;
            wanted.streaming_cipher(xts)
        }
        "gcm" => aead(wanted, Gcm::<C>::keyed),
        "ocb" => aead(wanted, Ocb::<C>::keyed),
        "eax" => aead(wanted, EaxMode::<C>::keyed),
        _ => plain_128::<C>(wanted, mode),
    }
}

/// Those without authentication.
fn plain_128<C: Cipher128>(wanted: &Wanted<'_>, mode: &str) -> Opened {
    match mode {
        "ctr" => wanted.streaming_cipher(Ctr(keyed::<C>(wanted)?)),
        _ => mode_of_any::<C>(wanted, mode),
    }
}

fn aes_alone<C: Cipher128>(wanted: &Wanted<'_>, mode: &str) -> Opened {
    match mode {
        "gcm-siv" => aead(wanted, GcmSiv::<C>::keyed),
        "gmac" => {
            let gcm = Gcm::<C>::keyed(wanted.key).ok_or_else(|| wanted.no_such_key())?;
            wanted.digest(Gmac(gcm))
        }
        "ccm8" => aead(wanted, CcmMode::<C, U8>::keyed),
        _ => Err(no_crate(wanted)),
    }
}

/// Modes of ciphers with 64-bit blocks.
fn mode_64<C: Cipher64>(wanted: &Wanted<'_>, mode: &str) -> Opened {
    match mode {
        "ctr" => wanted.streaming_cipher(Ctr64(keyed::<C>(wanted)?)),
        _ => mode_of_any::<C>(wanted, mode),
    }
}

fn mode_of_any<C: BlockCipher + Clone>(wanted: &Wanted<'_>, mode: &str) -> Opened {
    match mode {
        "ecb" => wanted.streaming_cipher(Ecb(keyed::<C>(wanted)?)),
        "cbc" => wanted.streaming_cipher(Cbc(keyed::<C>(wanted)?)),
        "cfb" => wanted.streaming_cipher(Cfb(keyed::<C>(wanted)?)),
        "cfb8" => wanted.streaming_cipher(Cfb8(keyed::<C>(wanted)?)),
        "ofb" => wanted.streaming_cipher(Ofb(keyed::<C>(wanted)?)),
        _ => Err(no_crate(wanted)),
    }
}

/// A type that takes the whole key.
fn keyed<K: KeyInit + KeySizeUser>(wanted: &Wanted<'_>) -> Result<K, OpenError> {
    K::new_from_slice(wanted.key).map_err(|_| wanted.no_such_key())
}

fn aead<M: Mode>(wanted: &Wanted<'_>, keyed: fn(&[u8]) -> Option<M>) -> Opened {
    wanted.cipher(keyed(wanted.key).ok_or_else(|| wanted.no_such_key())?)
}

fn key_stream<S: StreamCipher + KeyIvInit<KeySize = U32> + 'static>(wanted: &Wanted<'_>) -> Opened
where
    Iv<S>: Bytes,
{
    wanted.streaming_cipher(KeyStream::<S>::new(wanted.key_of()?))
}

fn hash<H: hmac::digest::Digest + 'static>(wanted: &Wanted<'_>) -> Opened {
    wanted.streaming_digest(Hash::<H>::new())
}

fn mac<M: Mac + KeyInit + Clone + 'static>(wanted: &Wanted<'_>) -> Opened {
    let mac = Keyed::<M>::new(wanted.key).ok_or_else(|| wanted.no_such_key())?;
    wanted.streaming_digest(mac)
}

fn no_crate(wanted: &Wanted<'_>) -> OpenError {
    OpenError::Unsupported(format!("no RustCrypto crate of these is {}", wanted.algorithm))
}

#[cfg(test)]
mod tests {
    use super::ciphermark_adapter;
    use base::model::{Algorithm, Direction, Kind, Mode, Primitive};
    use contract::{Outcome, Session, raw};
    use std::ffi::{CStr, CString};

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
        let code = unsafe {
            open(&raw const request, &raw mut session, why.as_mut_ptr().cast(), why.len())
        };
        match code {
            raw::OK => Ok(session),
            code => {
                Err((code, CStr::from_bytes_until_nul(&why).unwrap().to_str().unwrap().to_owned()))
            }
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

    fn offered() -> impl Iterator<Item = &'static Algorithm> {
        testing::trial::primitives().filter(|a| is_offered(a))
    }

    fn ciphers() -> impl Iterator<Item = &'static Algorithm> {
        offered().filter(|a| a.encrypts())
    }

    /// The family has no crate of the rest.
    fn is_offered(algorithm: &Algorithm) -> bool {
        use Primitive as P;
        let no_crate = matches!(
            algorithm.cipher,
            P::Adiantum { .. }
                | P::Aegis128 { .. }
                | P::Aegis256 { .. }
                | P::Blake3
                | P::Seed
                | P::XSalsa20
                | P::Rc4
                | P::SipHash24
                | P::SipHash13
                | P::None
        );
        let one_key_len = ["serpent-256-eax", "twofish-128-eax"].contains(&algorithm.name);
        let no_mode = matches!(
            algorithm.mode,
            Mode::Cfb1 | Mode::Essiv | Mode::Hctr2 | Mode::Kmac | Mode::S2k
        ) || one_key_len;
        !no_crate && !no_mode && !algorithm.wraps_keys() && !algorithm.is_checksum()
    }

    fn input(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i * 7 + len) as u8).collect()
    }

    fn nonce(algorithm: &Algorithm) -> Vec<u8> {
        (0..algorithm.nonce_len).map(|i| 0xf0_u8.wrapping_add(i as u8)).collect()
    }

    #[test]
    fn authenticated_modes_offer_no_stream() {
        for algorithm in ciphers() {
            let session = open(algorithm, Direction::Encrypt);
            let streams = algorithm.kind == Kind::Cipher && algorithm.cipher != Primitive::Magma;
            assert_eq!(session.has_stream(), streams, "{algorithm}");
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
                if !session.has_stream() {
                    continue;
                }
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
    fn a_digest_that_was_not_begun_has_no_end() {
        let mut session = open(Algorithm::find("sha256").unwrap(), Direction::Digest);
        let failed = Outcome::Error(raw::FAILED);
        assert_eq!((session.update_digest(b"a"), session.finish(&mut [0; 32])), (failed, failed));
        assert_eq!(
            (session.start(&[]), session.finish(&mut [0; 32])),
            (Outcome::Done, Outcome::Done)
        );
        assert_eq!(session.finish(&mut [0; 32]), failed);
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
    fn the_version_and_every_crates_version_are_told() {
        assert_eq!(text(adapter().library), "rustcrypto");
        assert_eq!(adapter().abi, raw::ABI);
        let build = text(adapter().build);
        for name in [
            "aes-gcm", "ccm", "ocb3", "xts-mode", "polyval", "chacha20", "poly1305", "sm4",
            "keccak",
        ] {
            let line = build.lines().find(|l| l.starts_with(&format!("crate {name} "))).unwrap();
            assert!(line.ends_with(|c: char| c.is_ascii_digit()), "{line}");
        }
        assert!(build.contains(&format!("crate aes {}\n", text(adapter().version))), "{build}");
        for fact in [
            "rustc ",
            "profile ",
            "opt-level ",
            "codegen-units ",
            "target-cpu ",
            "target features ",
        ] {
            assert!(build.lines().any(|l| l.starts_with(fact)), "no {fact}in {build}");
        }
        assert!(!build.contains("ciphermark"), "our own packages are not the library: {build}");
    }
}
