//! What is watched, a file a library.

mod botan;
mod evp;
mod gcrypt;
mod gnutls;
mod mbedtls;
mod nettle;
mod nss;
mod small;
mod sodium;
mod wolfssl;

use crate::table::Family;

pub const FAMILIES: [Family; 12] = [
    evp::FAMILY,
    gcrypt::FAMILY,
    gnutls::FAMILY,
    nettle::FAMILY,
    nss::FAMILY,
    mbedtls::FAMILY,
    mbedtls::TWO,
    mbedtls::LATER,
    wolfssl::FAMILY,
    sodium::FAMILY,
    botan::FAMILY,
    small::FAMILY,
];

#[cfg(test)]
mod tests {
    use super::FAMILIES;
    use crate::table::Function;
    use std::process::{Command, Stdio};

    const HEADERS: &[&str] = &[
        "botan/ffi.h",
        "gcrypt.h",
        "gnutls/abstract.h",
        "gnutls/crypto.h",
        "gnutls/gnutls.h",
        "aegis.h",
        "mbedtls/ccm.h",
        "mbedtls/chachapoly.h",
        "mbedtls/cipher.h",
        "mbedtls/ctr_drbg.h",
        "mbedtls/gcm.h",
        "mbedtls/sha512.h",
        "mcrypt.h",
        "nettle/chacha-poly1305.h",
        "nettle/curve25519.h",
        "nettle/ecdsa.h",
        "nettle/eddsa.h",
        "nettle/gcm.h",
        "nettle/hmac.h",
        "nettle/pbkdf2.h",
        "nettle/rsa.h",
        "nettle/yarrow.h",
        "nss.h",
        "openssl/cmac.h",
        "openssl/evp.h",
        "openssl/hkdf.h",
        "openssl/hmac.h",
        "openssl/kdf.h",
        "openssl/rand.h",
        "openssl/rsa.h",
        "pk11pub.h",
        "psa/crypto.h",
        "sodium.h",
        "wolfssl/options.h",
        "wolfssl/wolfcrypt/aes.h",
        "wolfssl/wolfcrypt/hmac.h",
    ];

    /// How many arguments the text behind a parenthesis lists.
    fn arguments(list: &str) -> Option<usize> {
        let (mut depth, mut commas) = (1, 0);
        for (at, byte) in list.bytes().enumerate() {
            match byte {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b',' if depth == 1 => commas += 1,
                _ => {}
            }
            if depth == 0 {
                let is_none = matches!(list[..at].trim(), "" | "void");
                return Some(if is_none { 0 } else { commas + 1 });
            }
        }
        None
    }

    #[test]
    fn functions_have_as_many_arguments_as_the_headers_say() {
        let source: String = HEADERS
            .iter()
            .map(|name| format!("#if __has_include(<{name}>)\n#include <{name}>\n#endif\n"))
            .collect();
        let mut cc = Command::new("cc");
        cc.args(["-E", "-P", "-xc", "-", "-I/usr/include/nss", "-I/usr/include/nspr"]);
        let cc = cc.arg("-I/usr/include/botan-2").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = cc.stderr(Stdio::null()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut input, source.as_bytes()).unwrap();
        drop(input);
        let text = String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let all = || FAMILIES.iter().flat_map(|family| family.functions);
        let mut wrong = Vec::new();
        for function in all() {
            let said = text.match_indices(function.name).find_map(|(at, name)| {
                let rest = text[at + name.len()..].trim_start().strip_prefix('(')?;
                if text[..at].ends_with(is_word) { None } else { arguments(rest) }
            });
            // Versions of a library differ in some, which have a line each.
            let is_so = |said: &usize| {
                let same = |other: &&Function| other.name == function.name;
                all().filter(same).any(|other| usize::from(other.arguments) == *said)
            };
            wrong.extend(said.filter(|said| !is_so(said)).map(|said| (function.name, said)));
        }
        assert_eq!(wrong, [], "as the header says");
    }
}
