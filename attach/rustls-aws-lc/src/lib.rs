//! rustls over AWS-LC as a TLS stack that ciphermark loads: `libciphermarktls_rustls_aws_lc.so`.
contract::stack! { c"rustls-aws-lc", rustls::crypto::aws_lc_rs }
