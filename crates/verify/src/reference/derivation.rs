//! Key derivations: RustCrypto's functions; bcrypt's key schedule around its Blowfish, and OpenPGP's S2K over a digest,
//! are written here. A cost comes as the length of the message, which nobody looks at.

use argon2::{Algorithm as Variant, Argon2, Params, Version};
use base::model::{Algorithm, Mode, Primitive};
use blowfish::Blowfish;
use hkdf::Hkdf;
use sha1::Sha1;
use sha2::digest::Digest;
use sha2::{Sha256, Sha512};

/// Derives from salt and message.
pub(super) type Deriver = Box<dyn Fn(&[u8], &[u8], &mut [u8]) + Send + Sync>;

/// What a key (a passphrase, mostly) gives.
pub(super) fn deriver(algorithm: &'static Algorithm, key: &[u8]) -> Deriver {
    let key = key.to_vec();
    match (algorithm.mode, algorithm.cipher) {
        (Mode::Pbkdf2, Primitive::Sha1) => with_rounds(key, pbkdf2::pbkdf2_hmac::<Sha1>),
        (Mode::Pbkdf2, Primitive::Sha256) => with_rounds(key, pbkdf2::pbkdf2_hmac::<Sha256>),
        (Mode::Pbkdf2, Primitive::Sha512) => with_rounds(key, pbkdf2::pbkdf2_hmac::<Sha512>),
        (Mode::S2k, Primitive::Sha1) => with_cost(key, s2k::<Sha1>),
        (Mode::S2k, Primitive::Sha256) => with_cost(key, s2k::<Sha256>),
        (Mode::Bcrypt, _) => with_cost(key, bcrypt),
        (Mode::MemoryHard, Primitive::Scrypt) => with_cost(key, scrypt),
        (Mode::MemoryHard, Primitive::Argon2d { passes }) => {
            argon2(Variant::Argon2d, u32::from(passes), key)
        }
        (Mode::MemoryHard, Primitive::Argon2i { passes }) => {
            argon2(Variant::Argon2i, u32::from(passes), key)
        }
        (Mode::MemoryHard, Primitive::Argon2id { passes }) => {
            argon2(Variant::Argon2id, u32::from(passes), key)
        }
        (Mode::Hkdf, Primitive::Sha256) => Box::new(move |salt, info, derived| {
            let extracted = Hkdf::<Sha256>::new(Some(salt), &key);
            extracted.expand(info, derived).expect("a few blocks");
        }),
        (Mode::Hkdf, Primitive::Sha512) => Box::new(move |salt, info, derived| {
            let extracted = Hkdf::<Sha512>::new(Some(salt), &key);
            extracted.expand(info, derived).expect("a few blocks");
        }),
        other => unreachable!("{other:?} is no derivation"),
    }
}

fn with_cost(key: Vec<u8>, derive: fn(&[u8], &[u8], usize, &mut [u8])) -> Deriver {
    Box::new(move |salt, message, derived| derive(&key, salt, message.len(), derived))
}

fn with_rounds(key: Vec<u8>, derive: fn(&[u8], &[u8], u32, &mut [u8])) -> Deriver {
    Box::new(move |salt, message, derived| derive(&key, salt, message.len() as u32, derived))
}

fn scrypt(key: &[u8], salt: &[u8], memory: usize, derived: &mut [u8]) {
    // 128 bytes times r for each of N.
    let log_n = (memory / 1024).ilog2() as u8;
    let params = scrypt::Params::new(log_n, 8, 1).expect("the size is one of scrypt's");
    scrypt::scrypt(key, salt, &params, derived).expect("the output has a length of scrypt's");
}

fn argon2(variant: Variant, passes: u32, key: Vec<u8>) -> Deriver {
    Box::new(move |salt, message, derived| {
        let kib = (message.len() / 1024) as u32;
        let params = Params::new(kib, passes, 1, Some(derived.len())).expect("Argon2's sizes");
        let argon2 = Argon2::new(variant, Version::V0x13, params);
        argon2.hash_password_into(&key, salt, derived).expect("Argon2's lengths");
    })
}

/// RFC 9580 §3.7.1.3: salt and passphrase over and over, so many octets of it, once whole at least; what is longer than
/// a digest comes from further ones with a zero octet more before it each.
fn s2k<D: Digest>(key: &[u8], salt: &[u8], octets: usize, derived: &mut [u8]) {
    let unit = [salt, key].concat();
    let octets = octets.max(unit.len());
    for (number, part) in derived.chunks_mut(<D as Digest>::output_size()).enumerate() {
        let mut hash = D::new();
        hash.update(vec![0; number]);
        let mut left = octets;
        while left > 0 {
            let now = left.min(unit.len());
            hash.update(&unit[..now]);
            left -= now;
        }
        part.copy_from_slice(&hash.finalize()[..part.len()]);
    }
}

/// Provos, Mazières: A Future-Adaptable Password Scheme, 1999, §5.
fn bcrypt(key: &[u8], salt: &[u8], rounds: usize, derived: &mut [u8]) {
    let mut passphrase = key.to_vec();
    passphrase.push(0);
    let mut state = Blowfish::bc_init_state();
    state.salted_expand_key(salt, &passphrase);
    for _ in 0..rounds {
        state.bc_expand_key(&passphrase);
        state.bc_expand_key(salt);
    }
    // "OrpheanBeholderScryDoubt"
    let text = [0x4f72_7068, 0x6561_6e42, 0x6568_6f6c, 0x6465_7253, 0x6372_7944, 0x6f75_6274];
    for (pair, out) in text.chunks(2).zip(derived.chunks_mut(8)) {
        let mut block = [pair[0], pair[1]];
        for _ in 0..64 {
            block = state.bc_encrypt(block);
        }
        let bytes = block.map(u32::to_be_bytes).concat();
        out.copy_from_slice(&bytes[..out.len()]);
    }
}
