//! Puts Rust libraries behind the C functions of `include/ciphermark.h`. An attached object
//! implements [`Mode`], [`Streaming`], [`Digest`] or [`StreamingDigest`] in safe code; this crate
//! turns them into a [`raw::Session`], one set of functions per type and direction, so that between
//! the timing loop and the library's own call there is nothing but the call.
//!
//! This crate holds `unsafe` code: it is one side of a C interface. What its `SAFETY` notes lean
//! on: ciphermark calls a session's functions with the state that the session carries, one at a
//! time, until `close`; pointers cover the lengths that the header gives them, may be null where
//! that length is zero, and input and output are the same buffer or do not overlap.

mod cipher;
mod digest;
mod open;
mod pointers;

pub use self::cipher::{Mode, Streaming, Update};
pub use self::digest::{Digest, StreamingDigest};
pub use self::open::{Opened, Wanted, open};
pub use crate::{OpenError, raw};
pub use ::cipher::inout::InOutBuf;
pub use pointers::Bytes;

/// Input and output of a call: the same buffer, or two that do not overlap.
pub type Buffer<'a> = InOutBuf<'a, 'a, u8>;

/// What a call made, or why it did not succeed.
pub type Done<T = ()> = Result<T, Refusal>;

/// A call's outcome as the interface's code.
#[inline]
fn code(done: Done) -> i32 {
    done.map_or_else(|refusal| refusal as i32, |()| raw::OK)
}

/// Why a call did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Refusal {
    /// The tag is wrong.
    Tag = raw::REJECTED,
    /// The library does not take the message; its length, mostly.
    Failed = raw::FAILED,
}

/// Defines the one symbol that an attached object exports: `$open` turns a [`Wanted`] into [`Opened`], the
/// name is a C string. Version and facts of the build are those that the crate `built` wrote down.
#[macro_export]
macro_rules! adapter {
    ($library:expr, $open:path) => {
        include!(concat!(env!("OUT_DIR"), "/built.rs"));

        static ADAPTER: $crate::export::raw::Adapter = $crate::export::raw::Adapter {
            abi: $crate::export::raw::ABI,
            library: $library.as_ptr(),
            version: VERSION.as_ptr(),
            build: BUILD.as_ptr(),
            open: Some(open_for_c),
        };

        unsafe extern "C" fn open_for_c(
            request: *const $crate::export::raw::Request,
            session: *mut $crate::export::raw::Session,
            why: *mut std::ffi::c_char,
            why_len: usize,
        ) -> i32 {
            // SAFETY: handed on as it came from ciphermark.
            unsafe { $crate::export::open(request, session, (why, why_len), $open) }
        }

        /// The library, for whoever has loaded this object.
        // SAFETY: the name is the interface's own; nothing else defines it.
        #[unsafe(no_mangle)]
        pub extern "C" fn ciphermark_adapter() -> *const $crate::export::raw::Adapter {
            &raw const ADAPTER
        }
    };
}
