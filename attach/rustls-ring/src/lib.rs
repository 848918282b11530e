//! rustls over ring as a TLS stack that ciphermark loads: `libciphermarktls_rustls_ring.so`.
contract::stack! { c"rustls-ring", rustls::crypto::ring }
