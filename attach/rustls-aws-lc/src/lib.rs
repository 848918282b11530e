//! rustls over AWS-LC as a TLS stack that ciphermark loads: `libciphermarktls_rustls_aws_lc.so`.

use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;
use tls_contract::rustls::Provider;
use std::sync::Arc;

include!(concat!(env!("OUT_DIR"), "/built.rs"));

tls_contract::stack! {
    library: c"rustls-aws-lc",
    version: VERSION,
    build: BUILD,
    provider: Cryptography,
}

struct Cryptography;

impl Provider for Cryptography {
    fn provider() -> CryptoProvider {
        rustls::crypto::aws_lc_rs::default_provider()
    }

    fn ticketer() -> Result<Arc<dyn ProducesTickets>, rustls::Error> {
        rustls::crypto::aws_lc_rs::Ticketer::new()
    }
}
