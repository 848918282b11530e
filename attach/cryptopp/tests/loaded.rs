//! The compiled object, loaded the way ciphermark loads it.
use contract::Library;
use std::sync::OnceLock;

/// In place, Crypto++ gets ARIA wrong in the modes that hand a block cipher the message to be added
/// to its output: README.md.
fn is_wrong_in_place(algorithm: &str) -> bool {
    let mut modes = ["-cfb", "-ctr", "-gcm", "-ccm", "-eax"].into_iter();
    algorithm.starts_with("aria-") && modes.any(|mode| algorithm.ends_with(mode))
}

/// `None` where Crypto++ is not on this machine.
fn library() -> Option<Box<dyn Library>> {
    static OBJECT: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
    let foreign = testing::trial::Foreign {
        directory: "attach/cryptopp",
        compiler: &["g++", "-O2", "-std=c++17"],
        ending: "cpp",
        header: "cryptopp/aes.h",
        link: "cryptopp",
    };
    let object = OBJECT.get_or_init(|| foreign.compile()).as_deref();
    object.map(testing::trial::load)
}

#[test]
fn the_library_says_its_version_and_what_it_chose_on_this_cpu() {
    let Some(library) = library() else { return };
    let facts = ["AES ", "SHA-256 ", "CRC-32C ", "headers ", "adapter compiled by "];
    testing::trial::is_called(library.identity(), "cryptopp", &facts);
}

#[test]
#[ignore = "long: every check of everything that it offers"]
fn everything_that_it_offers_passes_every_check_but_aria_in_place() {
    let Some(library) = library() else { return };
    let offer = testing::trial::whole_offer(&*library);
    for (algorithm, why) in &offer.refused {
        assert!(is_wrong_in_place(algorithm), "{algorithm}: {why}");
        assert!(why.contains("in place") || why.contains("stream"), "{algorithm}: {why}");
    }
    offer.has(
        "aes-128-ecb aes-192-cbc aes-256-cfb aes-128-cfb8 aes-256-ofb aes-128-ctr aes-256-xts \
        aes-256-gcm aes-128-ccm aes-192-eax aes-256-gmac camellia-256-gcm aria-128-cbc \
        sm4-xts des-ede3-ctr chacha20 chacha20-poly1305 xchacha20-poly1305 sha3-384 \
        blake2b512 crc32c hmac-sha512 poly1305 serpent-192-cbc twofish-256-eax bf-cfb cast5-ofb \
        idea-ecb rc2-cbc seed-ctr des-cbc aes-256-ccm8 xchacha20 salsa20 rc4 xsalsa20-poly1305 md4 sha1 \
        shake256 blake2b256 sm3 rmd160 whirlpool crc32 adler32 hmac-sha3-256 hmac-sm3 aes-192-cmac \
        des-ede3-cmac siphash-1-3 blake2b512-mac blake2s256-mac pbkdf2-sha1 pbkdf2-sha512 scrypt hkdf-sha256",
    );
}
