//! A handle of the library's: closed when dropped.

use super::api::{CloseFn, Handle};

/// A `gcry_cipher_hd_t`, `gcry_md_hd_t` or `gcry_mac_hd_t` with the function that closes it.
pub(super) struct Opened {
    pub(super) handle: Handle,
    pub(super) close: CloseFn,
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the handle came from the library and is closed nowhere else.
        unsafe { (self.close)(self.handle) }
    }
}
