//! What an end says of its connection, by the library's own functions.

use super::api::{Api, Ptr};
use super::context::SUCCESS;
use crate::stacks::bench::End;
use record::tls::EndSays;
use std::ffi::c_int;

/// wolfSSL's numbers of curves that have an object (wolfssl/openssl/ec.h), and those of their groups; of
/// all others it tells the group's own number.
const CURVES: [(c_int, u16); 3] = [(415, 23), (715, 24), (716, 25)];

/// What a key signs with, by wolfSSL's numbers: `WC_EVP_PKEY_RSA`, `WC_NID_rsassaPss`, `WC_EVP_PKEY_EC` and
/// `ED25519k`, the last in either of its two ways to number (`WOLFSSL_OLD_OID_SUM`).
const RSA: [c_int; 2] = [6, 16];
const PSS: c_int = 912;
const EC: [c_int; 2] = [18, 408];
const ED25519: [c_int; 2] = [256, 0x7f8f_65d4];
/// `WC_NID_sha256` and the two behind it.
const SHA256: c_int = 672;

/// Asks an end of a connection whose handshake is over.
pub(super) fn says(api: &Api, connection: Ptr, end: End) -> EndSays {
    // SAFETY: the connection is live, its handshake over.
    unsafe {
        EndSays {
            version: (api.wolfSSL_version)(connection) as u16,
            suite: u16::try_from((api.wolfSSL_get_current_cipher_suite)(connection)).ok(),
            reused: (api.wolfSSL_session_reused)(connection) != 0,
            group: group(api, connection),
            signature: (end == End::Client).then(|| signature(api, connection)).flatten(),
            peer_proved: (end == End::Server).then(|| peer_proved(api, connection)).flatten(),
        }
    }
}

fn group(api: &Api, connection: Ptr) -> Option<u16> {
    // SAFETY: the connection is live.
    let told = unsafe { api.wolfSSL_get_negotiated_group?(connection) };
    let curve = CURVES.iter().find(|(known, _)| *known == told);
    curve.map(|(_, group)| *group).or_else(|| u16::try_from(told).ok().filter(|n| *n != 0))
}

/// The scheme of the server's signature, as its client saw it.
fn signature(api: &Api, connection: Ptr) -> Option<u16> {
    let (mut key, mut digest): (c_int, c_int) = (0, 0);
    // SAFETY: the connection is live; both write one number where there is one.
    let told = unsafe {
        let told = api.wolfSSL_get_peer_signature_type_nid?(connection, &raw mut key);
        api.wolfSSL_get_peer_signature_nid?(connection, &raw mut digest);
        told
    };
    if told != SUCCESS {
        return None;
    }
    if ED25519.contains(&key) {
        return Some(0x0807);
    }
    let nth = u16::try_from(digest - SHA256).ok().filter(|nth| *nth < 3)?;
    match key {
        PSS => Some(0x0804 + nth),
        rsa if RSA.contains(&rsa) => Some(0x0401 + nth * 0x0100),
        ec if EC.contains(&ec) => Some(0x0403 + nth * 0x0100),
        _ => None,
    }
}

fn peer_proved(api: &Api, connection: Ptr) -> Option<bool> {
    let ask = api.wolfSSL_get_peer_certificate?;
    // SAFETY: the connection is live; the reference that it returns is given back.
    unsafe {
        let certificate = ask(connection);
        if !certificate.is_null()
            && let Some(free) = api.wolfSSL_X509_free
        {
            free(certificate);
        }
        Some(!certificate.is_null())
    }
}
