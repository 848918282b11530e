//! The text of `openssl speed`: written from a record, and read into figures. Pure: text in, text
//! out.
//!
//! The form is that of `apps/speed.c` of OpenSSL 1.1.1, 3.0 and 3.2 to 4.0 and of LibreSSL 3
//! (openssl-speed(1)); `docs/FORMAT.md` describes the lines.
mod read;
#[cfg(test)]
mod sample;
mod write;

pub use read::{Figure, NotSpeed, Output, read};
pub use write::{machine_readable, text};
