//! How adapters are tested: the same tests over every family's library, against the reference implementations
//! and the checks; and which libraries those are. What else there is to test of a family is in its own
//! `tests`.

use base::model::{Algorithm, Direction};
use contract::Library;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use testing::trial::{Offer, offered, open, primitives};

pub(crate) enum Names {
    All,
    /// With blanks between them.
    These(&'static str),
}

impl Names {
    fn have(&self, algorithm: &Algorithm) -> bool {
        match self {
            Self::All => true,
            Self::These(names) => names.split_whitespace().any(|name| name == algorithm.name),
        }
    }
}

/// A family's library, and what is known of it. Versions are of the library that is tested.
pub(crate) struct Family {
    /// The variable that may name another file than the system's.
    pub(crate) variable: &'static str,
    /// The system's file.
    pub(crate) system: &'static str,
    /// The package that brings it; without one, tests are skipped where the file is not there.
    pub(crate) package: Option<&'static str>,
    /// Below `target/libs`: tested as well where it was built.
    pub(crate) bundled: Option<&'static str>,
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// What lines of its build facts begin with.
    pub(crate) facts: &'static [&'static str],
    /// What it has at least, and does not have; with blanks between the names.
    pub(crate) has: &'static str,
    pub(crate) has_not: &'static str,
    /// Whether the system's library of a version has an algorithm, where all of the offer is known.
    pub(crate) offers: Option<fn(name: &str, version: &str) -> bool>,
    /// What the checks find of an algorithm in a version, rightly.
    pub(crate) fault: fn(name: &str, finding: &str, version: &str) -> bool,
    /// Ciphers whose streams are compared with the reference update by update.
    pub(crate) streams: Names,
}

/// Of which nothing is known.
pub(crate) const UNKNOWN: Family = Family {
    variable: "",
    system: "",
    package: None,
    bundled: None,
    name: "",
    version: "",
    facts: &[],
    has: "",
    has_not: "",
    offers: None,
    fault: |_, _, _| false,
    streams: Names::All,
};

/// Libraries initialise themselves once per process, which is not something to do twice at a time.
static LOADING: Mutex<()> = Mutex::new(());

impl Family {
    pub(crate) fn named(&self) -> Option<PathBuf> {
        std::env::var_os(self.variable).map(PathBuf::from)
    }

    /// The file to test, else the system's.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        let places = [&*multiarch, "/usr/lib64", "/usr/lib", "/usr/local/lib"];
        let found = || places.iter().map(|p| Path::new(p).join(self.system)).find(|p| p.exists());
        let path = self.named().or_else(found);
        if let Some(package) = self.package {
            assert!(path.is_some(), "{package} ({}) is installed", self.system);
        }
        path
    }

    pub(crate) fn library(&self) -> Option<Box<dyn Library>> {
        self.libraries().into_iter().next()
    }

    /// The library, and the one that is built with us, as far as they are here.
    pub(crate) fn libraries(&self) -> Vec<Box<dyn Library>> {
        let libs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/libs");
        let ours = self.bundled.map(|file| libs.join(file));
        let ours = ours.filter(|path| self.named().is_none() && path.exists());
        let paths: Vec<PathBuf> = self.path().into_iter().chain(ours).collect();
        if paths.is_empty() {
            println!("skipped: {} is not here; {} can name one", self.system, self.variable);
        }
        let _one_at_a_time = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        paths.iter().map(|path| crate::load(path, None).unwrap()).collect()
    }
}

// The families' libraries, and the tests that all of them pass.

pub(crate) const AEGIS: Family = Family {
    variable: "CIPHERMARK_TEST_LIBAEGIS",
    system: "libaegis.so",
    bundled: Some("libaegis/libaegis.so"),
    name: "libaegis",
    version: "unversioned",
    facts: &["cpu features: "],
    offers: Some(|name, _| name.starts_with("aegis-")),
    ..UNKNOWN
};

pub(crate) const BOTAN: Family = Family {
    variable: "CIPHERMARK_TEST_BOTAN",
    system: "libbotan-2.so.19",
    package: Some("libbotan-2-19"),
    name: "botan-c",
    version: "2.",
    facts: &["Botan ", "C interface "],
    offers: Some(|name, _| {
        // What Botan has in no version, and what came with Botan 3.
        let never = "adiantum aegis- memcpy null blake3 xxh crc32c rc2- magma- turboshake kt128 sha512-224 \
            blake2s256-mac xsalsa20- ghash polyval bcrypt";
        let new = "random kuznyechik- ascon- kmac blake2s256 blake2b512-mac";
        let mut other = never.split_whitespace().chain(new.split_whitespace());
        !["-cfb1", "-gcm-siv", "-hctr2", "-kwp"].iter().any(|end| name.ends_with(end))
            && !other.any(|start| name.starts_with(start))
    }),
    streams: Names::These(
        "aes-128-cbc aes-256-cfb aes-192-ctr aes-256-xts serpent-256-ofb cast5-ctr chacha12 salsa20 \
        xchacha20",
    ),
    ..UNKNOWN
};

pub(crate) const EVP: Family = Family {
    variable: "CIPHERMARK_TEST_LIBCRYPTO",
    system: "libcrypto.so.3",
    package: Some("libssl3"),
    name: "openssl",
    version: "3.",
    facts: &["OpenSSL 3.", "compiler: ", "platform: ", "CPUINFO: "],
    // `evp::tests::offer` knows the whole.
    has: "aes-256-ccm8 md5 sha512-224 shake128 sm3 rmd160 hmac-sha1 kmac256 camellia-256-cmac siphash-1-3 blake2s256-mac",
    has_not: "serpent-256-xts bf-ctr kuznyechik-cbc chacha8 ascon-aead128 kt128 ghash blake3-keyed crc32",
    fault: |name, finding, version| {
        // evp/README.md, "Disagreements and traps": empty messages in AES-SIV.
        let siv = name.ends_with("-siv") && !name.ends_with("-gcm-siv");
        siv && finding.contains(" of 0 bytes") && before_3_5(version)
    },
    ..UNKNOWN
};

/// Whether a version is an OpenSSL's before 3.5.
fn before_3_5(version: &str) -> bool {
    ["3.0.", "3.1.", "3.2.", "3.3.", "3.4."].iter().any(|v| version.starts_with(v))
}

pub(crate) const GCRYPT: Family = Family {
    variable: "CIPHERMARK_TEST_LIBGCRYPT",
    system: "libgcrypt.so.20",
    package: Some("libgcrypt20"),
    name: "libgcrypt",
    version: "1.",
    facts: &["hwflist:"],
    // What 1.10 has; later versions have ARIA as well, earlier ones lack some.
    has: "aes-192-cfb8 aes-256-eax aes-128-siv aes-192-siv aes-256-gcm-siv camellia-256-xts \
        camellia-128-siv sm4-gcm des-ede3-ctr des-ede3-cfb8 chacha20 sha3-384 blake2b512 \
        hmac-sha384 aes-192-gmac poly1305 aes-256-ccm8 serpent-192-ctr serpent-128-xts serpent-256-ocb \
        twofish-256-eax twofish-128-gcm seed-cbc bf-cbc cast5-cfb idea-ofb rc2-cbc des-ctr salsa20 md4 md5 sha1 \
        sha224 sha512-224 sha512-256 sha3-224 shake128 shake256 blake2b256 blake2s256 sm3 rmd160 whirlpool \
        streebog-256 streebog-512 crc32 hmac-md5 hmac-sha1 hmac-sha224 hmac-sha512-256 hmac-sha3-256 hmac-sha3-512 \
        hmac-sm3 hmac-rmd160 aes-192-cmac camellia-256-cmac sm4-cmac des-ede3-cmac blake2b512-mac blake2s256-mac random random-nonce rc4 aes-192-kw aes-256-kwp",
    has_not: "xxh3-64 crc32c adler32 aes-128-cfb1 aegis-256 twofish-192-cbc magma-cbc kuznyechik-cbc xchacha20 chacha8 \
        xsalsa20-poly1305 kmac128 ghash memcpy null",
    ..UNKNOWN
};

pub(crate) const MBEDTLS: Family = Family {
    variable: "CIPHERMARK_TEST_MBEDTLS",
    system: "libmbedcrypto.so.7",
    package: Some("libmbedcrypto7"),
    name: "mbedtls",
    version: "2.",
    facts: &["MBEDTLS_AESNI_C"],
    offers: Some(|name, _| {
        let block = |ciphers: &[&str], modes: &[&str]| {
            ciphers.iter().any(|c| name.starts_with(c)) && modes.iter().any(|m| name.ends_with(m))
        };
        let others = "sha256 sha384 sha512 poly1305 chacha20 chacha20-poly1305 md4 md5 sha1 sha224 rmd160 random rc4";
        block(&["aes-"], &["-cbc-essiv", "-cfb8", "-ofb", "-xts", "-gmac", "-ccm8", "-cmac"])
            || block(&["aes-", "camellia-"], &["-ecb", "-cbc", "-cfb", "-ctr", "-gcm", "-ccm"])
            || block(&["des-"], &["-ecb", "-cbc", "-cmac"])
            || block(&["bf-"], &["-ecb", "-cbc", "-cfb", "-ctr"])
            || others.split_whitespace().any(|other| name == other)
            || ["pbkdf2-", "hkdf-"].iter().any(|start| name.starts_with(start))
            || name.starts_with("hmac-")
                && !["sha512-256", "sha3-256", "sha3-512", "sm3"].iter().any(|h| name.ends_with(h))
    }),
    streams: Names::These("aes-128-cbc aes-256-cfb aes-192-ctr aes-192-ofb chacha20-poly1305"),
    ..UNKNOWN
};

pub(crate) const NETTLE: Family = Family {
    variable: "CIPHERMARK_TEST_NETTLE",
    system: "libnettle.so.8",
    package: Some("libnettle8"),
    name: "nettle",
    version: "3.",
    offers: Some(|name, version| {
        // The last of them came with Nettle 3.10.
        let never = "aria- adiantum aegis- xchacha20 chacha8 chacha12 xsalsa20 ascon- poly1305 memcpy null blake xxh crc32 \
            adler32 keccak-256 kuznyechik- magma- seed- idea- whirlpool turboshake kt128 kmac siphash- ghash polyval scrypt \
            argon2 bcrypt s2k- random shake128";
        let new = name.starts_with("sm4-") || name.ends_with("-ocb") || name.ends_with("-gcm-siv");
        let missing = never.split_whitespace().any(|start| name.starts_with(start))
            || ["-ofb", "-cfb1", "-hctr2", "-kwp"].iter().any(|end| name.ends_with(end))
            || new && version < "3.9";
        !missing
    }),
    // Only the last update of a stream may end within a block.
    streams: Names::These(""),
    ..UNKNOWN
};

pub(crate) const SODIUM: Family = Family {
    variable: "CIPHERMARK_TEST_LIBSODIUM",
    system: "libsodium.so.23",
    bundled: Some("libsodium/libsodium.so"),
    name: "libsodium",
    version: "1.0.",
    facts: &["cpu features: "],
    has: "aes-256-gcm chacha20-poly1305 xchacha20-poly1305 chacha20 sha256 sha512 blake2b512 \
        hmac-sha256 hmac-sha512 poly1305 xchacha20 salsa20 xsalsa20-poly1305 blake2b256 blake2b512-mac siphash-2-4 random",
    has_not: "random-nonce aes-128-gcm aes-256-ctr aegis-128x2 sha384 hmac-sha384 hmac-sha512-256 crc32c sha1",
    ..UNKNOWN
};

pub(crate) const TOMCRYPT: Family = Family {
    variable: "CIPHERMARK_TEST_TOMCRYPT",
    system: "libtomcrypt.so.1",
    package: Some("libtomcrypt1"),
    name: "libtomcrypt",
    version: "1.",
    facts: &["Endianness: ", "options: "],
    // AES, Camellia and Twofish: five plain modes and most with a tag; GMAC of AES; five modes of older ciphers; CMAC;
    // ChaCha with and without Poly1305; most digests and HMACs, two checksums.
    offers: Some(|name, _| {
        let ends = |modes: &[&str]| modes.iter().any(|mode| name.ends_with(mode));
        let plain = ends(&["-ecb", "-cbc", "-cfb", "-ofb", "-ctr"]);
        match name.split('-').next().unwrap_or_default() {
            "aes" => plain || ends(&["-gcm", "-ccm", "-ccm8", "-ocb", "-eax", "-xts", "-gmac", "-cmac", "-cbc-essiv"]),
            "camellia" => plain || ends(&["-gcm", "-ccm", "-ocb", "-eax", "-xts", "-cmac"]),
            "twofish" => plain || ends(&["-gcm", "-ocb", "-eax", "-xts"]),
 "des" => plain || ends(&["-cmac"]),
            "pbkdf2" | "hkdf" => true,
            "random" => name == "random",
            "hmac" => !ends(&["-sm3"]),
            first => {
                "seed bf cast5 rc2 rc4 chacha8 chacha12 chacha20 poly1305 md4 md5 sha1 sha224 sha256 sha384 sha512 sha3 \
                    shake128 shake256 blake2b256 blake2b512 blake2s256 rmd160 whirlpool crc32 adler32"
                    .split_whitespace()
                    .any(|name| name == first)
            }
        }
    }),
    // 1.18.2 leaves out the padding of associated data that no message follows (README).
    fault: |name, finding, version| {
        version == "1.18.2"
            && name == "chacha20-poly1305"
            && finding.contains("known-answers: encrypt of 0 bytes")
    },
    streams: Names::These(""),
    ..UNKNOWN
};

pub(crate) const WOLFSSL: Family = Family {
    variable: "CIPHERMARK_TEST_WOLFSSL",
    system: "libwolfssl.so.35",
    bundled: Some("wolfssl/libwolfssl.so"),
    name: "wolfssl",
    version: "5",
    has: "aes-128-cfb1 aes-192-gmac aes-256-xts aes-256-siv camellia-192-cbc des-ede3-ecb \
        xchacha20-poly1305 blake2b512 hmac-sha384 poly1305 xchacha20 des-cbc aes-192-kw aes-128-ccm8 aes-256-cmac md4 md5 sha1 \
        sha224 sha512-224 sha512-256 sha3-224 shake256 rmd160 blake2b256 blake2s256 blake2b512-mac blake2s256-mac \
        hmac-md5 hmac-sha3-512 siphash-2-4",
    has_not: "aes-128-kwp aes-128-ocb camellia-128-ecb rc2-ecb sm3 siphash-1-3",
    // 5.5.4 does not count a block that came in parts (README).
    fault: |name, finding, version| {
        version == "5.5.4" && name == "siphash-2-4" && finding.contains(" in parts of ")
    },
    streams: Names::These(""),
    ..UNKNOWN
};

pub(crate) const XXHASH: Family = Family {
    variable: "CIPHERMARK_TEST_XXHASH",
    system: "libxxhash.so.0",
    package: Some("libxxhash0"),
    name: "xxhash",
    version: "0.8.",
    facts: &["dispatch: "],
    offers: Some(|name, _| name.starts_with("xxh")),
    ..UNKNOWN
};

pub(crate) const ZLIB: Family = Family {
    variable: "CIPHERMARK_TEST_ZLIB",
    system: "libz.so.1",
    package: Some("zlib1g"),
    name: "zlib",
    version: "1.",
    facts: &["zlibCompileFlags: 0x"],
    offers: Some(|name, _| ["crc32", "adler32"].contains(&name)),
    ..UNKNOWN
};

/// The tests of families, of each in a module of its name.
macro_rules! families {
    ($($module:ident: $family:ident),+ $(,)?) => {$(
        mod $module {
            use super::$family as FAMILY;
            use crate::testing::{Family, offer_passes, says_who_it_is, streams_agree};
            use testing::trial;

            fn each(test: fn(&Family, &dyn contract::Library)) {
                FAMILY.libraries().iter().for_each(|library| test(&FAMILY, &**library));
            }

            #[test]
            fn the_library_says_who_it_is() {
                each(says_who_it_is);
            }

            #[test]
            fn everything_that_is_offered_is_right_and_each_cipher_and_mode_passes_every_check() {
                each(|family, library| offer_passes(family, library, trial::offer));
            }

            #[test]
            #[ignore = "long: every check of everything that is offered"]
            fn everything_that_is_offered_passes_every_check() {
                each(|family, library| offer_passes(family, library, trial::whole_offer));
            }

            #[test]
            fn streams_are_the_references_and_leave_nothing_to_the_next_message() {
                each(streams_agree);
            }
        }
    )+};
}
pub(crate) use families;

families! {
    aegis: AEGIS, botan: BOTAN, evp: EVP, gcrypt: GCRYPT, mbedtls: MBEDTLS, nettle: NETTLE, sodium: SODIUM,
    tomcrypt: TOMCRYPT, wolfssl: WOLFSSL, xxhash: XXHASH, zlib: ZLIB,
}

pub(crate) fn says_who_it_is(family: &Family, library: &dyn Library) {
    let identity = library.identity();
    if family.named().is_some() {
        assert!(!identity.name.is_empty() && !identity.version.is_empty(), "{identity:?}");
        return;
    }
    assert_eq!(identity.name, family.name);
    assert!(identity.version.starts_with(family.version), "{identity:?}");
    for fact in family.facts {
        assert!(identity.build.iter().any(|line| line.starts_with(fact)), "{fact}: {identity:?}");
    }
}

pub(crate) fn offer_passes(
    family: &Family,
    library: &dyn Library,
    checked: fn(&dyn Library) -> Offer,
) {
    let version = &*library.identity().version;
    let Offer { names, refused } = checked(library);
    for (name, finding) in &refused {
        assert!((family.fault)(name, finding, version), "{name}: {finding}");
    }
    for name in &names {
        names_its_calls(library, Algorithm::find(name).unwrap());
    }
    if family.named().is_some() {
        return;
    }
    if let Some(offers) = family.offers {
        let expected = primitives().map(|a| a.name).filter(|name| offers(name, version));
        assert_eq!(names, expected.collect::<Vec<_>>());
    }
    for name in family.has.split_whitespace() {
        assert!(names.contains(&name), "{name} is missing: {names:?}");
    }
    for name in family.has_not.split_whitespace() {
        assert!(!names.contains(&name), "{name}: {names:?}");
    }
}

/// Every session says what it calls.
fn names_its_calls(library: &dyn Library, algorithm: &Algorithm) {
    for &direction in Direction::of(algorithm.kind) {
        let session = open(library, algorithm.name, direction);
        let calls = session.calls().unwrap_or_default();
        assert!(!calls.is_empty() && calls.is_ascii(), "{algorithm} {direction}: {calls:?}");
        assert!(session.has_message(), "{algorithm} {direction}");
    }
}

pub(crate) fn streams_agree(family: &Family, library: &dyn Library) {
    for algorithm in offered(library).into_iter().filter(|a| a.encrypts()) {
        let streams = open(library, algorithm.name, Direction::Encrypt).has_stream();
        if streams && family.streams.have(algorithm) {
            testing::trial::streams_agree(library, algorithm);
        }
    }
}
