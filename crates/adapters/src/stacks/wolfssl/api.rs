//! The functions of wolfSSL that are called, by their names; types as in wolfssl/ssl.h.

use crate::stacks::c_text;
use contract::functions;
use std::ffi::{c_char, c_int, c_long, c_uchar, c_ulong, c_ushort, c_void};

/// Any of the library's objects.
pub(super) type Ptr = *mut c_void;
/// `CallbackIORecv`, and `CallbackIOSend`, which does not write to what it is given.
pub(super) type Io = unsafe extern "C" fn(Ptr, *mut c_char, c_int, Ptr) -> c_int;

functions! {
    /// Of libwolfssl.
    pub(super) struct Api
    required {
        wolfSSL_Init: fn() -> c_int;
        wolfSSL_CTX_new: fn(Ptr) -> Ptr;
        wolfSSL_CTX_free: fn(Ptr);
        wolfSSL_CTX_set_verify: fn(Ptr, c_int, *const c_void);
        wolfSSL_CTX_set_cipher_list: fn(Ptr, *const c_char) -> c_int;
        wolfSSL_CTX_use_certificate_chain_buffer: fn(Ptr, *const c_uchar, c_long) -> c_int;
        wolfSSL_CTX_use_PrivateKey_buffer: fn(Ptr, *const c_uchar, c_long, c_int) -> c_int;
        wolfSSL_CTX_load_verify_buffer: fn(Ptr, *const c_uchar, c_long, c_int) -> c_int;
        wolfSSL_CTX_SetIORecv: fn(Ptr, Io);
        wolfSSL_CTX_SetIOSend: fn(Ptr, Io);
        wolfSSL_new: fn(Ptr) -> Ptr;
        wolfSSL_free: fn(Ptr);
        wolfSSL_SetIOReadCtx: fn(Ptr, Ptr);
        wolfSSL_SetIOWriteCtx: fn(Ptr, Ptr);
        wolfSSL_check_domain_name: fn(Ptr, *const c_char) -> c_int;
        wolfSSL_connect: fn(Ptr) -> c_int;
        wolfSSL_accept: fn(Ptr) -> c_int;
        wolfSSL_read: fn(Ptr, Ptr, c_int) -> c_int;
        wolfSSL_write: fn(Ptr, *const c_void, c_int) -> c_int;
        wolfSSL_shutdown: fn(Ptr) -> c_int;
        wolfSSL_get_error: fn(Ptr, c_int) -> c_int;
        wolfSSL_ERR_error_string_n: fn(c_ulong, *mut c_char, c_ulong);
        wolfSSL_version: fn(Ptr) -> c_int;
        wolfSSL_get_current_cipher_suite: fn(Ptr) -> c_int;
        wolfSSL_session_reused: fn(Ptr) -> c_int;
    }
    optional {
        // What a build may leave out.
        wolfTLSv1_2_client_method: fn() -> Ptr;
        wolfTLSv1_2_server_method: fn() -> Ptr;
        wolfTLSv1_3_client_method: fn() -> Ptr;
        wolfTLSv1_3_server_method: fn() -> Ptr;
        wolfSSL_CTX_set_groups: fn(Ptr, *mut c_int, c_int) -> c_int;
        wolfSSL_CTX_UseSupportedCurve: fn(Ptr, c_ushort) -> c_int;
        wolfSSL_CTX_SetTmpEC_DHE_Sz: fn(Ptr, c_ushort) -> c_int;
        wolfSSL_CTX_SetTmpDH_buffer: fn(Ptr, *const c_uchar, c_long, c_int) -> c_int;
        wolfSSL_CTX_UseSessionTicket: fn(Ptr) -> c_int;
        wolfSSL_CTX_set_session_cache_mode: fn(Ptr, c_long) -> c_long;
        wolfSSL_UseSNI: fn(Ptr, c_uchar, *const c_void, c_ushort) -> c_int;
        wolfSSL_set_session: fn(Ptr, Ptr) -> c_int;
        wolfSSL_get1_session: fn(Ptr) -> Ptr;
        wolfSSL_SESSION_free: fn(Ptr);
        // Only with --enable-opensslextra.
        wolfSSL_CTX_set1_sigalgs_list: fn(Ptr, *const c_char) -> c_int;
        wolfSSL_get_negotiated_group: fn(Ptr) -> c_int;
        wolfSSL_get_peer_signature_nid: fn(Ptr, *mut c_int) -> c_int;
        wolfSSL_get_peer_signature_type_nid: fn(Ptr, *mut c_int) -> c_int;
        wolfSSL_get_peer_certificate: fn(Ptr) -> Ptr;
        wolfSSL_X509_free: fn(Ptr);
    }
}

impl Api {
    /// A call that failed, with the library's words for the number that it gave.
    pub(super) fn words(&self, call: &str, number: c_int) -> String {
        // `WOLFSSL_FAILURE` has no words.
        if number == 0 {
            return format!("{call} failed without a word");
        }
        let mut text = [0_u8; 256];
        // SAFETY: the buffer is as long as is said, and is filled with a C string.
        unsafe {
            let number = c_ulong::from(number.unsigned_abs());
            let (into, room) = (text.as_mut_ptr().cast(), text.len() as c_ulong);
            (self.wolfSSL_ERR_error_string_n)(number, into, room);
        }
        format!("{call}: {}", c_text(&text))
    }
}
