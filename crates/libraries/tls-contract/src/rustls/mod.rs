//! rustls behind the interface of TLS stacks, for shared objects that bring a provider of cryptography.
//!
//! It holds `unsafe` code: the interface is C's ([`crate`]).

mod config;
mod interface;
mod pipe;
mod session;

pub use interface::*;

pub use rustls::crypto::CryptoProvider;
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
    fn ticketer() -> Tickets;
}

/// What protects a server's tickets, or why there is none.
pub type Tickets = Result<Arc<dyn ProducesTickets>, rustls::Error>;

/// Exports rustls with the cryptography of a module, under a name that is a C string. Version and facts
/// of the build are those that the crate `built` wrote down.
#[macro_export]
macro_rules! stack {
    ($library:expr, $($provider:ident)::+) => {
        include!(concat!(env!("OUT_DIR"), "/built.rs"));

        struct Cryptography;

        impl $crate::rustls::Provider for Cryptography {
            fn provider() -> $crate::rustls::CryptoProvider {
                $($provider)::+::default_provider()
            }

            fn ticketer() -> $crate::rustls::Tickets {
                $($provider)::+::Ticketer::new()
            }
        }

        /// The table of functions.
        #[unsafe(no_mangle)]
        pub extern "C" fn ciphermark_tls_1() -> *const $crate::Table {
            extern "C" fn library() -> *const std::ffi::c_char {
                $library.as_ptr()
            }
            extern "C" fn version() -> *const std::ffi::c_char {
                VERSION.as_ptr()
            }
            extern "C" fn build() -> *const std::ffi::c_char {
                BUILD.as_ptr()
            }
            static TABLE: $crate::Table = $crate::Table {
                library,
                version,
                build,
                open: $crate::rustls::open::<Cryptography>,
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
