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

        impl $crate::tls::rustls::Provider for Cryptography {
            fn provider() -> $crate::tls::rustls::CryptoProvider {
                $($provider)::+::default_provider()
            }

            fn ticketer() -> $crate::tls::rustls::Tickets {
                $($provider)::+::Ticketer::new()
            }
        }

        /// The table of functions.
        #[unsafe(no_mangle)]
        pub extern "C" fn ciphermark_tls_1() -> *const $crate::tls::Table {
            extern "C" fn library() -> *const std::ffi::c_char {
                $library.as_ptr()
            }
            extern "C" fn version() -> *const std::ffi::c_char {
                VERSION.as_ptr()
            }
            extern "C" fn build() -> *const std::ffi::c_char {
                BUILD.as_ptr()
            }
            static TABLE: $crate::tls::Table = $crate::tls::Table {
                library,
                version,
                build,
                open: $crate::tls::rustls::open::<Cryptography>,
                close: $crate::tls::rustls::close,
                begin: $crate::tls::rustls::begin,
                step: $crate::tls::rustls::step,
                send: $crate::tls::rustls::send,
                receive: $crate::tls::rustls::receive,
                says: $crate::tls::rustls::says,
                end: $crate::tls::rustls::end,
                between: $crate::tls::rustls::between,
                words: $crate::tls::rustls::words,
            };
            &TABLE
        }
    };
}
