//! rustls over Graviola as a TLS stack that ciphermark loads: `libciphermarktls_rustls_graviola.so`.

use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;
use std::sync::Arc;
use tls_contract::rustls::Provider;

include!(concat!(env!("OUT_DIR"), "/built.rs"));

tls_contract::stack! {
    library: c"rustls-graviola",
    version: VERSION,
    build: BUILD,
    provider: Cryptography,
}

struct Cryptography;

impl Provider for Cryptography {
    fn provider() -> CryptoProvider {
        rustls_graviola::default_provider()
    }

    fn ticketer() -> Result<Arc<dyn ProducesTickets>, rustls::Error> {
        rustls_graviola::Ticketer::new()
    }
}
