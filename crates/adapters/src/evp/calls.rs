//! What a session says it calls for a message: the library's functions in the order in which they
//! run inside the clock.

use base::model::{Direction, Mode};
use std::ffi::CStr;

/// The calls on an `EVP_CIPHER_CTX`. Associated data is an update of its own; the control calls
/// set or get the tag.
pub(super) fn cipher(mode: Mode, direction: Direction) -> &'static CStr {
    if direction == Direction::Decrypt { decrypt(mode) } else { encrypt(mode) }
}

fn encrypt(mode: Mode) -> &'static CStr {
    match mode {
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 => {
            c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl"
        }
        Mode::Ccm => {
            c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_CIPHER_CTX_ctrl"
        }
        Mode::Gmac => {
            c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl"
        }
        Mode::GcmSiv => {
            c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl"
        }
        Mode::Siv => {
            c"EVP_CIPHER_CTX_copy, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptUpdate, EVP_EncryptFinal_ex, EVP_CIPHER_CTX_ctrl"
        }
        _ => c"EVP_EncryptInit_ex, EVP_EncryptUpdate, EVP_EncryptFinal_ex",
    }
}

fn decrypt(mode: Mode) -> &'static CStr {
    match mode {
        Mode::Gcm | Mode::Ocb | Mode::Poly1305 => {
            c"EVP_DecryptInit_ex, EVP_CIPHER_CTX_ctrl, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptFinal_ex"
        }
        Mode::Ccm => {
            c"EVP_DecryptInit_ex, EVP_CIPHER_CTX_ctrl, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptUpdate"
        }
        Mode::GcmSiv => {
            c"EVP_DecryptInit_ex, EVP_CIPHER_CTX_ctrl, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptFinal_ex"
        }
        Mode::Siv => {
            c"EVP_CIPHER_CTX_copy, EVP_CIPHER_CTX_ctrl, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptUpdate, EVP_DecryptFinal_ex"
        }
        _ => c"EVP_DecryptInit_ex, EVP_DecryptUpdate, EVP_DecryptFinal_ex",
    }
}

/// What sets a new key.
pub(super) fn init(direction: Direction) -> &'static CStr {
    match direction {
        Direction::Decrypt => c"EVP_DecryptInit_ex",
        _ => c"EVP_EncryptInit_ex",
    }
}
