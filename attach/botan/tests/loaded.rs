//! The compiled object, loaded the way ciphermark loads it.
use contract::Library;
use std::sync::OnceLock;

/// Botan's releases that have headers of their own.
const BOTAN_3: testing::trial::Foreign = testing::trial::Foreign {
    directory: "attach/botan",
    compiler: &["g++", "-O2", "-std=c++20", "-isystem", "/usr/include/botan-3"],
    ending: "cpp",
    header: "botan/build.h",
    link: "botan-3",
};
const BOTAN_2: testing::trial::Foreign = testing::trial::Foreign {
    compiler: &["g++", "-O2", "-std=c++17", "-isystem", "/usr/include/botan-2"],
    link: "botan-2",
    ..BOTAN_3
};

/// Takes padding of more than seven bytes, which RFC 5649 §3 forbids: README.md.
fn is_loose(algorithm: &str) -> bool {
    algorithm.ends_with("-kwp")
}

/// `None` where Botan's headers are not on this machine.
fn library() -> Option<Box<dyn Library>> {
    static OBJECT: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
    let object = OBJECT.get_or_init(|| BOTAN_3.compile().or_else(|| BOTAN_2.compile())).as_deref();
    object.map(testing::trial::load)
}

#[test]
fn the_library_says_its_version_and_what_it_chose_on_this_cpu() {
    let Some(library) = library() else { return };
    let facts = ["Botan ", "AES-256 ", "SHA-256 ", "headers ", "adapter compiled by "];
    testing::trial::is_called(library.identity(), "botan", &facts);
}

#[test]
#[ignore = "long: every check of everything that it offers"]
fn everything_that_it_offers_passes_every_check_but_padded_key_wrap() {
    let Some(library) = library() else { return };
    let offer = testing::trial::whole_offer(&*library);
    for (algorithm, why) in &offer.refused {
        assert!(is_loose(algorithm) && why.contains("known-forgeries"), "{algorithm}: {why}");
    }
    offer.has(
        "aes-128-ecb aes-192-cbc aes-256-cfb aes-128-cfb8 aes-256-ofb aes-128-ctr aes-256-xts \
        aes-256-gcm aes-128-ccm aes-192-eax aes-256-ocb aes-128-siv aes-192-kw aes-256-kwp aes-256-gmac \
        camellia-256-gcm aria-128-ctr sm4-xts des-ede3-ctr chacha20 chacha20-poly1305 \
        xchacha20-poly1305 sha3-384 blake2b512 hmac-sha512 poly1305 serpent-192-cbc \
        twofish-256-ocb bf-cfb cast5-ofb idea-ecb seed-ctr des-cbc aes-256-ccm8 xchacha20 chacha8 \
        salsa20 rc4 md4 sha1 sha512-256 shake256 sm3 rmd160 whirlpool streebog-512 crc32 adler32 \
        hmac-sha3-256 hmac-sm3 aes-192-cmac des-ede3-cmac siphash-1-3",
    );
}
