//! Message authentication codes: by `EVP_MAC` where the library has it, else by what it has had
//! for each of them before.

pub(super) mod gmac;
pub(super) mod hmac;
pub(super) mod poly1305;
pub(super) mod provided;
pub(super) mod signature;
