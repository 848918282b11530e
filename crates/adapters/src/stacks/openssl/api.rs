//! The functions of libssl and libcrypto that are called, by their names.
//!
//! Types are those of the public headers of OpenSSL 3, which LibreSSL, BoringSSL and AWS-LC share but
//! for widths of numbers that travel in a register either way.

use crate::stacks::c_text;
use contract::functions;
use std::ffi::{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};
use std::ptr::null_mut;

/// Any of the library's objects.
pub(super) type Ptr = *mut c_void;

/// `int (*new_session_cb)(SSL *, SSL_SESSION *)`
pub(super) type NewSession = unsafe extern "C" fn(Ptr, Ptr) -> c_int;
/// `int (*write)(BIO *, const char *, int)`
pub(super) type BioWrite = unsafe extern "C" fn(Ptr, *const c_char, c_int) -> c_int;
/// `int (*read)(BIO *, char *, int)`
pub(super) type BioRead = unsafe extern "C" fn(Ptr, *mut c_char, c_int) -> c_int;
/// `long (*ctrl)(BIO *, int, long, void *)`
pub(super) type BioCtrl = unsafe extern "C" fn(Ptr, c_int, c_long, Ptr) -> c_long;
/// `X509 *PEM_read_bio_X509(BIO *, X509 **, pem_password_cb *, void *)` and its kin.
pub(super) type PemRead = unsafe extern "C" fn(Ptr, Ptr, Ptr, Ptr) -> Ptr;

functions! {
    /// Of libssl.
    pub(super) struct Ssl
    required {
        TLS_method: fn() -> *const c_void;
        SSL_CTX_new: fn(*const c_void) -> Ptr;
        SSL_CTX_free: fn(Ptr);
        SSL_CTX_use_certificate: fn(Ptr, Ptr) -> c_int;
        SSL_CTX_use_PrivateKey: fn(Ptr, Ptr) -> c_int;
        SSL_CTX_get_cert_store: fn(Ptr) -> Ptr;
        SSL_CTX_get0_param: fn(Ptr) -> Ptr;
        SSL_CTX_set_verify: fn(Ptr, c_int, *const c_void);
        SSL_CTX_set_cipher_list: fn(Ptr, *const c_char) -> c_int;
        SSL_CTX_set_session_id_context: fn(Ptr, *const c_uchar, c_uint) -> c_int;
        SSL_CTX_sess_set_new_cb: fn(Ptr, NewSession);
        SSL_new: fn(Ptr) -> Ptr;
        SSL_free: fn(Ptr);
        SSL_set_bio: fn(Ptr, Ptr, Ptr);
        SSL_set_accept_state: fn(Ptr);
        SSL_set_connect_state: fn(Ptr);
        SSL_set_session: fn(Ptr, Ptr) -> c_int;
        SSL_SESSION_free: fn(Ptr);
        SSL_do_handshake: fn(Ptr) -> c_int;
        SSL_get_error: fn(Ptr, c_int) -> c_int;
        SSL_read: fn(Ptr, Ptr, c_int) -> c_int;
        SSL_write: fn(Ptr, *const c_void, c_int) -> c_int;
        SSL_shutdown: fn(Ptr) -> c_int;
        SSL_version: fn(Ptr) -> c_int;
        SSL_get_current_cipher: fn(Ptr) -> Ptr;
        SSL_CIPHER_get_id: fn(Ptr) -> c_uint;
    }
    optional {
        // Macros in one stack, functions in another.
        SSL_CTX_ctrl: fn(Ptr, c_int, c_long, Ptr) -> c_long;
        SSL_ctrl: fn(Ptr, c_int, c_long, Ptr) -> c_long;
        SSL_CTX_set_min_proto_version: fn(Ptr, u16) -> c_int;
        SSL_CTX_set_max_proto_version: fn(Ptr, u16) -> c_int;
        SSL_CTX_set1_groups_list: fn(Ptr, *const c_char) -> c_int;
        SSL_CTX_set1_curves_list: fn(Ptr, *const c_char) -> c_int;
        SSL_CTX_set1_sigalgs_list: fn(Ptr, *const c_char) -> c_int;
        SSL_CTX_set_ciphersuites: fn(Ptr, *const c_char) -> c_int;
        SSL_CTX_set_options: fn(Ptr, u64) -> u64;
        SSL_CTX_set_session_cache_mode: fn(Ptr, c_int) -> c_int;
        SSL_CTX_add_extra_chain_cert: fn(Ptr, Ptr) -> c_int;
        SSL_CTX_set0_tmp_dh_pkey: fn(Ptr, Ptr) -> c_int;
        SSL_set_tlsext_host_name: fn(Ptr, *const c_char) -> c_int;
        SSL_session_reused: fn(Ptr) -> c_int;
        SSL_get_group_id: fn(Ptr) -> u16;
        SSL_get_curve_id: fn(Ptr) -> u16;
        SSL_get_peer_signature_algorithm: fn(Ptr) -> u16;
        SSL_get_peer_signature_type_nid: fn(Ptr, *mut c_int) -> c_int;
        SSL_get1_peer_certificate: fn(Ptr) -> Ptr;
        SSL_get_peer_certificate: fn(Ptr) -> Ptr;
        // For connections over sockets.
        SSL_set_fd: fn(Ptr, c_int) -> c_int;
        SSL_CTX_set_num_tickets: fn(Ptr, usize) -> c_int;
        SSL_CTX_set_mode: fn(Ptr, u32) -> u32;
        SSL_CTX_set_read_ahead: fn(Ptr, c_int);
        SSL_CTX_set_alpn_protos: fn(Ptr, *const c_uchar, c_uint) -> c_int;
        SSL_get0_alpn_selected: fn(Ptr, *mut *const c_uchar, *mut c_uint);
    }
}

functions! {
    /// Of libcrypto.
    pub(super) struct Crypto
    required {
        BIO_meth_new: fn(c_int, *const c_char) -> Ptr;
        BIO_meth_set_write: fn(Ptr, BioWrite) -> c_int;
        BIO_meth_set_read: fn(Ptr, BioRead) -> c_int;
        BIO_meth_set_ctrl: fn(Ptr, BioCtrl) -> c_int;
        BIO_new: fn(Ptr) -> Ptr;
        BIO_free: fn(Ptr) -> c_int;
        BIO_new_mem_buf: fn(*const c_void, c_int) -> Ptr;
        BIO_set_data: fn(Ptr, Ptr);
        BIO_get_data: fn(Ptr) -> Ptr;
        BIO_set_init: fn(Ptr, c_int);
        BIO_set_flags: fn(Ptr, c_int);
        BIO_clear_flags: fn(Ptr, c_int);
        PEM_read_bio_X509: fn(Ptr, Ptr, Ptr, Ptr) -> Ptr;
        PEM_read_bio_PrivateKey: fn(Ptr, Ptr, Ptr, Ptr) -> Ptr;
        X509_free: fn(Ptr);
        X509_STORE_add_cert: fn(Ptr, Ptr) -> c_int;
        X509_VERIFY_PARAM_set1_host: fn(Ptr, *const c_char, usize) -> c_int;
        EVP_PKEY_free: fn(Ptr);
        ERR_get_error: fn() -> c_ulong;
        ERR_error_string_n: fn(c_ulong, *mut c_char, usize);
        ERR_clear_error: fn();
    }
    optional {
        PEM_read_bio_Parameters: fn(Ptr, Ptr) -> Ptr;
        PEM_read_bio_DHparams: fn(Ptr, Ptr, Ptr, Ptr) -> Ptr;
        DH_free: fn(Ptr);
    }
}

/// Numbers of `SSL_CTX_ctrl` and `SSL_ctrl` (openssl/ssl.h), where there are macros only.
pub(super) mod ctrl {
    use std::ffi::c_int;

    pub(in super::super) const SET_TMP_DH: c_int = 3;
    pub(in super::super) const GET_SESSION_REUSED: c_int = 8;
    pub(in super::super) const EXTRA_CHAIN_CERT: c_int = 14;
    pub(in super::super) const OPTIONS: c_int = 32;
    pub(in super::super) const MODE: c_int = 33;
    pub(in super::super) const SET_READ_AHEAD: c_int = 41;
    pub(in super::super) const SET_SESS_CACHE_MODE: c_int = 44;
    pub(in super::super) const SET_TLSEXT_HOSTNAME: c_int = 55;
    pub(in super::super) const SET_GROUPS_LIST: c_int = 92;
    pub(in super::super) const SET_SIGALGS_LIST: c_int = 98;
    pub(in super::super) const GET_PEER_SIGNATURE_NID: c_int = 108;
    pub(in super::super) const SET_MIN_PROTO_VERSION: c_int = 123;
    pub(in super::super) const SET_MAX_PROTO_VERSION: c_int = 124;
    pub(in super::super) const GET_NEGOTIATED_GROUP: c_int = 134;
}

/// Both libraries' functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Api {
    pub(super) ssl: Ssl,
    pub(super) crypto: Crypto,
    /// The method of the BIOs that end in our memory.
    pub(super) method: Ptr,
}

impl Crypto {
    /// What a function reads from PEM; null where it finds nothing.
    pub(super) fn with_pem(&self, pem: &str, read: impl FnOnce(Ptr) -> Ptr) -> Ptr {
        let length = c_int::try_from(pem.len()).expect("keys and certificates are short");
        // SAFETY: the text outlives the BIO, which only reads it.
        let bio = unsafe { (self.BIO_new_mem_buf)(pem.as_ptr().cast(), length) };
        if bio.is_null() {
            return null_mut();
        }
        let object = read(bio);
        // SAFETY: made above, freed once.
        unsafe { (self.BIO_free)(bio) };
        object
    }

    /// The same by a function of the usual type, without a password.
    pub(super) fn read_pem(&self, pem: &str, read: PemRead) -> Ptr {
        // SAFETY: the BIO is live.
        self.with_pem(pem, |bio| unsafe { read(bio, null_mut(), null_mut(), null_mut()) })
    }

    /// The oldest error that the library remembers, in its words, after the call that failed; forgets
    /// all of them.
    pub(super) fn words(&self, call: &str) -> String {
        let mut text = [0_u8; 256];
        // SAFETY: the buffer is as long as is said, and is filled with a C string.
        unsafe {
            let code = (self.ERR_get_error)();
            if code & 0xffff_ffff == 0 {
                return format!("{call} failed without a word");
            }
            (self.ERR_error_string_n)(code, text.as_mut_ptr().cast(), text.len());
            (self.ERR_clear_error)();
        }
        let whole = c_text(&text);
        // `error:0A0000B9:SSL routines::no cipher match`: the last part is for people.
        let reason = whole.rsplit(':').next().filter(|r| !r.is_empty()).unwrap_or(&whole);
        format!("{call}: {reason}")
    }
}
