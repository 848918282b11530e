//! What the types of C functions are written with.

/// Bytes that the function reads.
pub(crate) type In = *const u8;
/// Bytes that the function writes.
pub(crate) type Out = *mut u8;
