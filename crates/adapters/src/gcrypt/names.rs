//! Which of the library's functions a message calls, for readers; macros of `gcrypt.h` by their
//! names there.

use crate::family::c_concat;
use base::model::{Direction, Mode};
use std::ffi::CStr;

/// One list for each direction: what the two have in common, then what differs.
macro_rules! lists {
    ($direction:expr, $before:literal, $encrypt:literal, $decrypt:literal) => {
        if $direction == Direction::Encrypt {
            c_concat!($before, "gcry_cipher_encrypt", $encrypt)
        } else {
            c_concat!($before, $decrypt)
        }
    };
}

/// The functions that a message of a cipher calls, in order.
pub(super) fn cipher_calls(mode: Mode, direction: Direction) -> &'static CStr {
    match mode {
        Mode::Ecb => lists!(direction, "", "", "gcry_cipher_decrypt"),
        Mode::Ctr => lists!(direction, "gcry_cipher_setctr, ", "", "gcry_cipher_decrypt"),
        Mode::Gcm | Mode::Poly1305 => lists!(
            direction,
            "gcry_cipher_setiv, gcry_cipher_authenticate, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_decrypt, gcry_cipher_checktag"
        ),
        Mode::Ccm => lists!(
            direction,
            "gcry_cipher_setiv, gcry_cipher_ctl(GCRYCTL_SET_CCM_LENGTHS), gcry_cipher_authenticate, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_decrypt, gcry_cipher_checktag"
        ),
        Mode::Ocb => lists!(
            direction,
            "gcry_cipher_setiv, gcry_cipher_authenticate, gcry_cipher_final, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_decrypt, gcry_cipher_checktag"
        ),
        Mode::Eax => lists!(
            direction,
            "gcry_cipher_reset, gcry_cipher_setiv, gcry_cipher_authenticate, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_decrypt, gcry_cipher_checktag"
        ),
        Mode::Siv => lists!(
            direction,
            "gcry_cipher_reset, gcry_cipher_authenticate, gcry_cipher_setiv, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_set_decryption_tag, gcry_cipher_decrypt"
        ),
        Mode::GcmSiv => lists!(
            direction,
            "gcry_cipher_reset, gcry_cipher_setiv, gcry_cipher_authenticate, ",
            ", gcry_cipher_gettag",
            "gcry_cipher_set_decryption_tag, gcry_cipher_decrypt"
        ),
        _ => lists!(direction, "gcry_cipher_setiv, ", "", "gcry_cipher_decrypt"),
    }
}

/// The functions that a message of a MAC calls, in order.
pub(super) fn mac_calls(mode: Mode) -> &'static CStr {
    match mode {
        Mode::Gmac => c"gcry_mac_setiv, gcry_mac_write, gcry_mac_read",
        _ => c"gcry_mac_reset, gcry_mac_write, gcry_mac_read",
    }
}
