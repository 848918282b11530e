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

pub const FAMILIES: [Family; 10] = [
    evp::FAMILY,
    gcrypt::FAMILY,
    gnutls::FAMILY,
    nettle::FAMILY,
    nss::FAMILY,
    mbedtls::FAMILY,
    wolfssl::FAMILY,
    sodium::FAMILY,
    botan::FAMILY,
    small::FAMILY,
];
