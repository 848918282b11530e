//! Primitives of libcrypto, as libssl calls them where the library has one way to: OpenSSL's functions of
//! EVP. `BoringSSL`, AWS-LC and LibreSSL lack some of these; what is called in their place stands beside
//! each use.

mod agree;
mod api;
mod digest;
mod encapsulate;
mod generate;
mod keys;
mod private;
mod raw_x25519;
mod reading;
mod sign;
mod verify;

use super::api::Crypto;
use crate::stacks::bench::Trouble;
use crate::stacks::primitive::{Made, PrivateKeys};
use api::Functions;
use contract::loader::SharedObject;
use record::tls::{Operation, Primitive, Scheme};

/// A libcrypto with its functions.
#[derive(Debug)]
pub(super) struct Library {
    crypto: Crypto,
    f: Functions,
}

impl Library {
    /// Lives as long as the process, as the library does.
    pub(super) fn of(crypto: Crypto, object: &SharedObject) -> Result<&'static Self, String> {
        let library = Self { crypto, f: Functions::of(object)? };
        Ok(Box::leak(Box::new(library)))
    }

    /// Makes ready to use private keys of a scheme.
    pub(super) fn private_keys(
        &'static self,
        scheme: Scheme,
    ) -> Result<Box<dyn PrivateKeys>, Trouble> {
        private::open(self, scheme)
    }

    /// Makes an operation ready.
    pub(super) fn open(&'static self, primitive: &Primitive) -> Made {
        let scheme = primitive.scheme;
        match primitive.operation {
            Operation::Generate if raw_x25519::is_all_there_is(self, scheme) => {
                raw_x25519::generate(self)
            }
            Operation::Agree if raw_x25519::is_all_there_is(self, scheme) => {
                raw_x25519::agree(self)
            }
            Operation::Generate => generate::open(self, scheme),
            Operation::Agree => agree::open(self, scheme),
            Operation::Sign => sign::open(self, scheme),
            Operation::Verify => verify::open(self, scheme),
            Operation::Encapsulate => encapsulate::open(self, scheme),
            Operation::Decapsulate => encapsulate::open_receiver(self, scheme),
            Operation::Digest => digest::open(self, scheme, primitive.size.unwrap_or(0) as usize),
        }
    }

    /// A call must have done what it was called for.
    #[inline]
    fn done(&self, done: bool, call: &str) -> Result<(), Trouble> {
        if done { Ok(()) } else { Err(self.failed(call)) }
    }

    #[cold]
    fn failed(&self, call: &str) -> Trouble {
        Trouble::Failed(self.crypto.words(call))
    }

    /// Forgets the errors that a call was meant to make.
    fn forget_errors(&self) {
        // SAFETY: takes nothing.
        unsafe { (self.crypto.ERR_clear_error)() };
    }
}

/// An object of a library's, freed with the value.
macro_rules! owned {
    ($(#[$meta:meta])* $name:ident, freed by |$library:ident| $free:expr) => {
        $(#[$meta])*
        pub(super) struct $name {
            library: &'static Library,
            pub(super) raw: Ptr,
        }

        impl $name {
            /// What a call has made; an error where that is nothing.
            #[inline]
            pub(super) fn of(
                library: &'static Library,
                raw: Ptr,
                call: &str,
            ) -> Result<Self, Trouble> {
                if raw.is_null() { Err(library.failed(call)) } else { Ok(Self { library, raw }) }
            }
        }

        impl Drop for $name {
            #[inline]
            fn drop(&mut self) {
                let $library = self.library;
                // SAFETY: made by the library, freed once.
                unsafe { $free(self.raw) };
            }
        }
    };
}
use owned;

/// What does not fit a scheme: the operations of each scheme are told by `record::tls::Scheme::operations`.
fn no_such(scheme: record::tls::Scheme) -> Trouble {
    Trouble::NotOffered(format!("{scheme} has no such operation"))
}

#[cfg(test)]
mod tests;
