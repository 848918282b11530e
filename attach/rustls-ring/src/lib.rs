//! rustls over ring as a TLS stack that ciphermark loads: `libciphermarktls_rustls_ring.so`.

tls_contract::stack! { c"rustls-ring", rustls::crypto::ring }
