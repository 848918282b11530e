//! rustls over ring as a TLS stack that ciphermark loads: `libciphermarktls_rustls_ring.so`.

use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;
use std::sync::Arc;
use tls_contract::rustls::Provider;

include!(concat!(env!("OUT_DIR"), "/built.rs"));

tls_contract::stack! {
    library: c"rustls-ring",
    version: VERSION,
    build: BUILD,
    provider: Cryptography,
}

struct Cryptography;

impl Provider for Cryptography {
    fn provider() -> CryptoProvider {
        rustls::crypto::ring::default_provider()
    }

    fn ticketer() -> Result<Arc<dyn ProducesTickets>, rustls::Error> {
        rustls::crypto::ring::Ticketer::new()
    }
}
