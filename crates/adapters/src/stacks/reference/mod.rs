//! Independent implementations of what a TLS handshake is made of: what a library's primitives are held
//! to. None of it is ever timed.
//!
//! ring for elliptic curves of NIST, RSA and Ed25519; x25519-dalek; RustCrypto's ML-KEM, SHA-2 and HMAC;
//! num-bigint for finite fields. ring's curves come from `BoringSSL`, so that a mistake that both have would
//! pass: the known answers of [`known`] are from no implementation.
mod agreement;
mod der;
mod digest;
mod encapsulation;
mod known;
mod signature;

pub use agreement::{Agreement, Field, Partner};
pub(crate) use der::{INTEGER, SEQUENCE, integer_of, wrapped};
pub use der::{finite_field, integer, pem, public_key, with_public_key};
pub use digest::{Digest, digest, hmac};
pub use encapsulation::{Receiver, encapsulate};
pub(crate) use encapsulation::{encapsulate_with, expanded, expanded_decapsulate, from_seed};
pub use known::{AgreementAnswer, agreement_answer, digest_answer, ed25519_answer, hmac_answer};
pub use signature::verifies;
