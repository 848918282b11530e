//! Every algorithm: the one table that names and lengths come from.

use super::{Algorithm, Composite, Kind, Mode, Passes, Primitive, SizeRule};

/// A block cipher's modes under one key length.
const fn block(
    name: &'static str,
    cipher: Primitive,
    mode: Mode,
    cipher_key_len: usize,
) -> Algorithm {
    let block_len = match cipher {
        Primitive::TripleDes => 8,
        _ => 16,
    };
    let (kind, nonce_len, tag_len, sizes) = match mode {
        Mode::Ecb => (Kind::Cipher, 0, 0, SizeRule::MultipleOf(block_len)),
        Mode::Cbc => (Kind::Cipher, block_len, 0, SizeRule::MultipleOf(block_len)),
        Mode::Xts => (Kind::Cipher, 16, 0, SizeRule::AtLeast(16)),
        // RFC 5116 §5: 12-byte nonces and 16-byte tags for GCM and CCM; RFC 7253 for OCB; RFC 8452
        // for GCM-SIV.
        Mode::Gcm | Mode::Ocb | Mode::GcmSiv => (Kind::Aead, 12, 16, SizeRule::Any),
        // A 12-byte nonce leaves CCM three bytes for the length (NIST SP 800-38C A.1).
        Mode::Ccm => (Kind::Aead, 12, 16, SizeRule::LessThan(1 << 24)),
        // Both take nonces of any length; a block is what their papers' vectors have.
        Mode::Eax | Mode::Siv => (Kind::Aead, 16, 16, SizeRule::Any),
        Mode::Gmac => (Kind::Mac, 12, 16, SizeRule::Any),
        _ => (Kind::Cipher, block_len, 0, SizeRule::Any),
    };
    // XTS: data key and tweak key (IEEE 1619 §5.1). SIV: MAC key and CTR key (RFC 5297 §2.2).
    let keys = match mode {
        Mode::Xts | Mode::Siv => 2,
        _ => 1,
    };
    let key_len = cipher_key_len * keys;
    Algorithm { name, kind, cipher, mode, key_len, nonce_len, tag_len, sizes, composite: None }
}

/// What is no block cipher's mode; `lens` are key, nonce and tag.
const fn other(
    name: &'static str,
    kind: Kind,
    cipher: Primitive,
    mode: Mode,
    lens: (usize, usize, usize),
) -> Algorithm {
    let (key_len, nonce_len, tag_len) = lens;
    let (sizes, composite) = (SizeRule::Any, None);
    Algorithm { name, kind, cipher, mode, key_len, nonce_len, tag_len, sizes, composite }
}

const fn digest(name: &'static str, cipher: Primitive, tag_len: usize) -> Algorithm {
    other(name, Kind::Digest, cipher, Mode::None, (0, 0, tag_len))
}

/// HMAC under a key as long as the digest, the shortest that FIPS 198-1 and RFC 2104 §3 advise.
const fn hmac(name: &'static str, cipher: Primitive, digest_len: usize) -> Algorithm {
    other(name, Kind::Mac, cipher, Mode::Hmac, (digest_len, 0, digest_len))
}

const fn aegis(name: &'static str, cipher: Primitive) -> Algorithm {
    let len = match cipher {
        Primitive::Aegis256 { .. } => 32,
        _ => 16,
    };
    // The longer of the draft's two tags: the one that every implementation offers.
    other(name, Kind::Aead, cipher, Mode::Aegis, (len, len, 32))
}

/// An AES mode and a check; both key lengths.
const fn composite(
    name: &'static str,
    parts: Composite,
    cipher_key_len: usize,
    mac: bool,
) -> Algorithm {
    let (kind, mac_key_len, tag_len) =
        if mac { (Kind::Aead, 32, 32) } else { (Kind::Checked, 0, 8) };
    let bytes = parts.cipher.as_bytes();
    // The mode is the name's last three letters.
    let sizes = match bytes[bytes.len() - 3] {
        b'c' if bytes[bytes.len() - 2] == b'b' => SizeRule::MultipleOf(16),
        b'x' => SizeRule::AtLeast(16),
        _ => SizeRule::Any,
    };
    Algorithm {
        name,
        kind,
        cipher: Primitive::Aes,
        mode: Mode::Composite,
        key_len: cipher_key_len + mac_key_len,
        nonce_len: 16,
        tag_len,
        sizes,
        composite: Some(parts),
    }
}

/// One mode's rows: names made of the parts.
macro_rules! rows {
    ($cipher:ident, $mode:ident, $suffix:literal: $($prefix:literal $key_len:literal),+) => {
        &[$(block(concat!($prefix, $suffix), Primitive::$cipher, Mode::$mode, $key_len)),+]
    };
}

/// The modes that are defined for any block cipher of 128 bits, for one cipher.
macro_rules! modes {
    ($cipher:ident: $($prefix:literal $key_len:literal),+; xts $($xts:literal $xts_len:literal),+) => {
        &[
            rows!($cipher, Ecb, "-ecb": $($prefix $key_len),+),
            rows!($cipher, Cbc, "-cbc": $($prefix $key_len),+),
            rows!($cipher, Cfb, "-cfb": $($prefix $key_len),+),
            rows!($cipher, Cfb8, "-cfb8": $($prefix $key_len),+),
            rows!($cipher, Cfb1, "-cfb1": $($prefix $key_len),+),
            rows!($cipher, Ofb, "-ofb": $($prefix $key_len),+),
            rows!($cipher, Ctr, "-ctr": $($prefix $key_len),+),
            rows!($cipher, Xts, "-xts": $($xts $xts_len),+),
            rows!($cipher, Gcm, "-gcm": $($prefix $key_len),+),
            rows!($cipher, Ccm, "-ccm": $($prefix $key_len),+),
            rows!($cipher, Ocb, "-ocb": $($prefix $key_len),+),
            rows!($cipher, Eax, "-eax": $($prefix $key_len),+),
            rows!($cipher, Siv, "-siv": $($prefix $key_len),+),
        ]
    };
}

/// A composite in two passes and in one.
macro_rules! composites {
    ($($cipher:literal $key_len:literal + $check:literal as $suffix:literal, mac $mac:literal);+ $(;)?) => {
        &[$(
            composite(
                concat!($cipher, "+", $suffix),
                Composite { cipher: $cipher, check: $check, passes: Passes::Two },
                $key_len,
                $mac,
            ),
            composite(
                concat!($cipher, "+", $suffix, "-onepass"),
                Composite { cipher: $cipher, check: $check, passes: Passes::One },
                $key_len,
                $mac,
            ),
        )+]
    };
}

// IEEE 1619 defines XTS for two 128-bit or two 256-bit keys only.
const AES: &[&[Algorithm]] =
    modes!(Aes: "aes-128" 16, "aes-192" 24, "aes-256" 32; xts "aes-128" 16, "aes-256" 32);
// RFC 8452 §4 has no 192-bit keys.
const AES_ALONE: &[&[Algorithm]] = &[
    rows!(Aes, GcmSiv, "-gcm-siv": "aes-128" 16, "aes-256" 32),
    rows!(Aes, Gmac, "-gmac": "aes-128" 16, "aes-192" 24, "aes-256" 32),
];
const CAMELLIA: &[&[Algorithm]] = modes!(Camellia: "camellia-128" 16, "camellia-192" 24, "camellia-256" 32; xts "camellia-128" 16, "camellia-256" 32);
const ARIA: &[&[Algorithm]] =
    modes!(Aria: "aria-128" 16, "aria-192" 24, "aria-256" 32; xts "aria-128" 16, "aria-256" 32);
const SM4: &[&[Algorithm]] = modes!(Sm4: "sm4" 16; xts "sm4" 16);
const TRIPLE_DES: &[&[Algorithm]] = &[&[
    block("des-ede3-ecb", Primitive::TripleDes, Mode::Ecb, 24),
    block("des-ede3-cbc", Primitive::TripleDes, Mode::Cbc, 24),
    block("des-ede3-cfb", Primitive::TripleDes, Mode::Cfb, 24),
    block("des-ede3-cfb8", Primitive::TripleDes, Mode::Cfb8, 24),
    block("des-ede3-cfb1", Primitive::TripleDes, Mode::Cfb1, 24),
    block("des-ede3-ofb", Primitive::TripleDes, Mode::Ofb, 24),
    block("des-ede3-ctr", Primitive::TripleDes, Mode::Ctr, 24),
]];
const STREAMS: &[&[Algorithm]] = &[&[
    other("chacha20", Kind::Cipher, Primitive::ChaCha20, Mode::Stream, (32, 12, 0)),
    other("chacha20-poly1305", Kind::Aead, Primitive::ChaCha20, Mode::Poly1305, (32, 12, 16)),
    other("xchacha20-poly1305", Kind::Aead, Primitive::XChaCha20, Mode::Poly1305, (32, 24, 16)),
    aegis("aegis-128l", Primitive::Aegis128 { lanes: 1 }),
    aegis("aegis-128x2", Primitive::Aegis128 { lanes: 2 }),
    aegis("aegis-128x4", Primitive::Aegis128 { lanes: 4 }),
    aegis("aegis-256", Primitive::Aegis256 { lanes: 1 }),
    aegis("aegis-256x2", Primitive::Aegis256 { lanes: 2 }),
    aegis("aegis-256x4", Primitive::Aegis256 { lanes: 4 }),
]];
const COMPOSITES: &[&[Algorithm]] = &[composites! {
    "aes-128-ctr" 16 + "xxh3-64" as "xxh3", mac false;
    "aes-256-ctr" 32 + "xxh3-64" as "xxh3", mac false;
    "aes-128-xts" 32 + "xxh3-64" as "xxh3", mac false;
    "aes-256-xts" 64 + "xxh3-64" as "xxh3", mac false;
    "aes-128-ctr" 16 + "hmac-sha256" as "hmac-sha256", mac true;
    "aes-256-ctr" 32 + "hmac-sha256" as "hmac-sha256", mac true;
    "aes-128-cbc" 16 + "hmac-sha256" as "hmac-sha256", mac true;
    "aes-256-cbc" 32 + "hmac-sha256" as "hmac-sha256", mac true;
}];
const DIGESTS: &[&[Algorithm]] = &[&[
    digest("sha256", Primitive::Sha256, 32),
    digest("sha384", Primitive::Sha384, 48),
    digest("sha512", Primitive::Sha512, 64),
    digest("sha3-256", Primitive::Sha3_256, 32),
    digest("sha3-384", Primitive::Sha3_384, 48),
    digest("sha3-512", Primitive::Sha3_512, 64),
    digest("blake2b512", Primitive::Blake2b, 64),
    digest("blake3", Primitive::Blake3, 32),
    digest("xxh3-64", Primitive::Xxh3, 8),
    digest("crc32c", Primitive::Crc32c, 4),
    hmac("hmac-sha256", Primitive::Sha256, 32),
    hmac("hmac-sha384", Primitive::Sha384, 48),
    hmac("hmac-sha512", Primitive::Sha512, 64),
    other("poly1305", Kind::Mac, Primitive::Poly1305, Mode::OneTimeMac, (32, 0, 16)),
]];
const BASELINES: &[&[Algorithm]] = &[&[
    other("memcpy", Kind::Copy, Primitive::None, Mode::None, (0, 0, 0)),
    // A nonce, so that its price holds what the harness does to keep nonces fresh.
    other("null", Kind::Null, Primitive::None, Mode::None, (0, 16, 0)),
]];

const GROUPS: &[&[&[Algorithm]]] =
    &[AES, AES_ALONE, CAMELLIA, ARIA, SM4, TRIPLE_DES, STREAMS, COMPOSITES, DIGESTS, BASELINES];

const fn count() -> usize {
    let (mut n, mut g) = (0, 0);
    while g < GROUPS.len() {
        let mut r = 0;
        while r < GROUPS[g].len() {
            n += GROUPS[g][r].len();
            r += 1;
        }
        g += 1;
    }
    n
}

/// Every algorithm, in the order in which lists show them.
pub(super) static ALL: &[Algorithm] = &flattened();

const fn flattened() -> [Algorithm; count()] {
    let mut all = [GROUPS[0][0][0]; count()];
    let (mut n, mut g) = (0, 0);
    while g < GROUPS.len() {
        let mut r = 0;
        while r < GROUPS[g].len() {
            let mut i = 0;
            while i < GROUPS[g][r].len() {
                all[n] = GROUPS[g][r][i];
                n += 1;
                i += 1;
            }
            r += 1;
        }
        g += 1;
    }
    all
}
