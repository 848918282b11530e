//! rustls over Graviola as a TLS stack that ciphermark loads: `libciphermarktls_rustls_graviola.so`.
contract::stack! { c"rustls-graviola", rustls_graviola }
