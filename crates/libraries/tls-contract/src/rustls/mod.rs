//! rustls behind the interface of TLS stacks, for shared objects that bring a provider of cryptography.
//!
//! It holds `unsafe` code: the interface is C's ([`crate`]).

mod config;
mod interface;
mod pipe;
mod session;

pub use interface::*;

use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;
use std::sync::Arc;

/// What rustls leaves to others: the cryptography.
pub trait Provider: 'static {
    /// Suites, groups, signatures.
    fn provider() -> CryptoProvider;

    /// What a server's tickets are protected with.
    ///
    /// # Errors
    /// rustls's own.
    fn ticketer() -> Result<Arc<dyn ProducesTickets>, rustls::Error>;
}

/// Exports rustls with a [`Provider`]: name, version and facts of the build are C strings.
#[macro_export]
macro_rules! stack {
    (library: $library:expr, version: $version:expr, build: $build:expr, provider: $provider:ty $(,)?) => {
        /// The table of functions.
        #[unsafe(no_mangle)]
        pub extern "C" fn ciphermark_tls_1() -> *const $crate::Table {
            extern "C" fn library() -> *const std::ffi::c_char {
                $library.as_ptr()
            }
            extern "C" fn version() -> *const std::ffi::c_char {
                $version.as_ptr()
            }
            extern "C" fn build() -> *const std::ffi::c_char {
                $build.as_ptr()
            }
            static TABLE: $crate::Table = $crate::Table {
                library,
                version,
                build,
                open: $crate::rustls::open::<$provider>,
                close: $crate::rustls::close,
                begin: $crate::rustls::begin,
                step: $crate::rustls::step,
                send: $crate::rustls::send,
                receive: $crate::rustls::receive,
                says: $crate::rustls::says,
                end: $crate::rustls::end,
                between: $crate::rustls::between,
                words: $crate::rustls::words,
            };
            &TABLE
        }
    };
}
