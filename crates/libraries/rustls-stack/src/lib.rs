//! rustls behind the interface of TLS stacks, for shared objects that bring a provider of cryptography.
//!
//! This crate holds `unsafe` code: the interface is C's ([`tls_contract`]).

mod config;
mod interface;
mod pipe;
mod session;

pub use interface::*;

use rustls::crypto::CryptoProvider;
use rustls::server::ProducesTickets;
use std::sync::Arc;

#[doc(hidden)]
pub use tls_contract;

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
        pub extern "C" fn ciphermark_tls_1() -> *const $crate::tls_contract::Table {
            extern "C" fn library() -> *const std::ffi::c_char {
                $library.as_ptr()
            }
            extern "C" fn version() -> *const std::ffi::c_char {
                $version.as_ptr()
            }
            extern "C" fn build() -> *const std::ffi::c_char {
                $build.as_ptr()
            }
            static TABLE: $crate::tls_contract::Table = $crate::tls_contract::Table {
                library,
                version,
                build,
                open: $crate::open::<$provider>,
                close: $crate::close,
                begin: $crate::begin,
                step: $crate::step,
                send: $crate::send,
                receive: $crate::receive,
                says: $crate::says,
                end: $crate::end,
                between: $crate::between,
                words: $crate::words,
            };
            &TABLE
        }
    };
}
