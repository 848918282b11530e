//! What an end says of its connection, by the library's own functions.

use super::api::{Api, Ptr, ctrl};
use crate::stacks::bench::End;
use record::tls::EndSays;
use std::ffi::{c_int, c_long};
use std::ptr::null_mut;

/// Numbers of objects (openssl/obj_mac.h) and the numbers of their groups.
const GROUPS: [(c_long, u16); 6] =
    [(415, 23), (715, 24), (716, 25), (1034, 29), (1126, 256), (1128, 258)];
/// `TLSEXT_nid_unknown`: a group that has no object, by its own number.
const NO_OBJECT: c_long = 0x0100_0000;
/// Of a signature: the key's object and the digest's, and the number of the scheme.
const SCHEMES: [(c_int, c_int, u16); 9] = [
    (6, 672, 0x0401),
    (6, 673, 0x0501),
    (6, 674, 0x0601),
    (912, 672, 0x0804),
    (912, 673, 0x0805),
    (912, 674, 0x0806),
    (408, 672, 0x0403),
    (408, 673, 0x0503),
    (1087, 0, 0x0807),
];

/// Asks an end of a connection whose handshake is over.
pub(super) fn says(api: &Api, connection: Ptr, end: End) -> EndSays {
    let ssl = &api.ssl;
    // SAFETY: the connection is live, its handshake over; a suite is looked at only where there is one.
    unsafe {
        let suite = (ssl.SSL_get_current_cipher)(connection);
        EndSays {
            version: (ssl.SSL_version)(connection) as u16,
            suite: (!suite.is_null()).then(|| (ssl.SSL_CIPHER_get_id)(suite) as u16),
            reused: match (ssl.SSL_session_reused, ssl.SSL_ctrl) {
                (Some(reused), _) => reused(connection) != 0,
                (None, Some(control)) => {
                    control(connection, ctrl::GET_SESSION_REUSED, 0, null_mut()) != 0
                }
                (None, None) => false,
            },
            group: group(api, connection),
            signature: (end == End::Client).then(|| signature(api, connection)).flatten(),
            peer_proved: (end == End::Server).then(|| peer_proved(api, connection)).flatten(),
        }
    }
}

fn group(api: &Api, connection: Ptr) -> Option<u16> {
    let ssl = &api.ssl;
    if let Some(ask) = ssl.SSL_get_group_id.or(ssl.SSL_get_curve_id) {
        // SAFETY: the connection is live.
        return Some(unsafe { ask(connection) }).filter(|number| *number != 0);
    }
    // SAFETY: as above; a library that does not know the command answers 0.
    let object = unsafe { ssl.SSL_ctrl?(connection, ctrl::GET_NEGOTIATED_GROUP, 0, null_mut()) };
    if object & NO_OBJECT != 0 {
        return u16::try_from(object & !NO_OBJECT).ok();
    }
    GROUPS.iter().find(|(known, _)| *known == object).map(|(_, number)| *number)
}

/// The scheme of the server's signature, as its client saw it.
fn signature(api: &Api, connection: Ptr) -> Option<u16> {
    let ssl = &api.ssl;
    if let Some(ask) = ssl.SSL_get_peer_signature_algorithm {
        // SAFETY: the connection is live.
        return Some(unsafe { ask(connection) }).filter(|number| *number != 0);
    }
    let (mut key, mut digest): (c_int, c_int) = (0, 0);
    // SAFETY: the connection is live; both write one number where there is one.
    let told = unsafe {
        let told = ssl.SSL_get_peer_signature_type_nid?(connection, &raw mut key);
        let place = (&raw mut digest).cast();
        ssl.SSL_ctrl?(connection, ctrl::GET_PEER_SIGNATURE_NID, 0, place);
        told
    };
    let known = SCHEMES.iter().find(|(k, d, _)| *k == key && (*d == digest || *d == 0));
    known.filter(|_| told == 1).map(|(.., number)| *number)
}

fn peer_proved(api: &Api, connection: Ptr) -> Option<bool> {
    let ask = api.ssl.SSL_get1_peer_certificate.or(api.ssl.SSL_get_peer_certificate)?;
    // SAFETY: the connection is live; the reference that it returns is given back.
    unsafe {
        let certificate = ask(connection);
        if !certificate.is_null() {
            (api.crypto.X509_free)(certificate);
        }
        Some(!certificate.is_null())
    }
}
