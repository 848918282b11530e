//! What tells explanations apart: nginx's log variables and other looks (nginx.org: ngx_http_ssl_module,
//! ngx_http_core_module, ngx_http_v2_module).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A log variable, or another look, and what it decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What to log or to look at.
    pub look_at: String,
    /// What it tells.
    pub tells: String,
}

pub(crate) const REUSED: &str = "$ssl_session_reused";
pub(crate) const CIPHER: &str = "$ssl_cipher";
pub(crate) const CURVE: &str = "$ssl_curve";
pub(crate) const PROTOCOL: &str = "$ssl_protocol";
pub(crate) const BYTES: &str = "$bytes_sent";
pub(crate) const RECEIVED: &str = "$request_length";
pub(crate) const REQUESTS: &str = "$connection_requests";
pub(crate) const HTTP: &str = "$server_protocol";
pub(crate) const ERRORS: &str = "error_log at level info";
pub(crate) const KEY: &str = "the certificate's key";
pub(crate) const DH: &str = "the file of ssl_dhparam";

const ALL: [(&str, &str); 11] = [
    (
        REUSED,
        "`r` of a resumed connection, `.` of a full handshake: the number of full handshakes is the load",
    ),
    (CIPHER, "DHE or ECDHE, static RSA, ECDSA or RSA (TLS 1.2), CBC or AEAD"),
    (
        CURVE,
        "the group of the key exchange (nginx 1.21.5 and later): P-384 where P-256 or X25519 was meant",
    ),
    (PROTOCOL, "1.2 or 1.3: the kind of resumption, and who is still old"),
    (REQUESTS, "1 in most lines: a handshake for each request, keep-alive does not work"),
    (BYTES, "bytes in all: bulk encryption is this times a fraction of a nanosecond"),
    (RECEIVED, "bytes received: uploads are decrypted as well"),
    (HTTP, "HTTP/2.0 or HTTP/1.1"),
    (
        ERRORS,
        "handshakes that failed: scanners pay a handshake and leave no line in the access log",
    ),
    (
        KEY,
        "`openssl x509 -noout -text`: RSA of 2048, 3072 or 4096 bits, or ECDSA; no log variable has it",
    ),
    (DH, "`openssl dhparam -noout -text`: bits, and whether it is a named group"),
];

/// All of it.
pub(crate) fn all_evidence() -> Vec<Evidence> {
    let one = |(look_at, tells): &(&str, &str)| Evidence {
        look_at: (*look_at).to_owned(),
        tells: (*tells).to_owned(),
    };
    ALL.iter().map(one).collect()
}
