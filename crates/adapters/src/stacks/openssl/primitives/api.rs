//! The functions of libcrypto that primitives are called by. Types are those of OpenSSL 3's headers, and
//! of `BoringSSL`'s and AWS-LC's for what only they have.

use super::super::api::Ptr;
use contract::functions;
use std::ffi::{c_char, c_int, c_long, c_uchar, c_uint, c_void};

/// A digest's or an algorithm's method.
pub(super) type Method = *const c_void;
/// Bytes that are read.
pub(super) type In = *const c_uchar;
/// Bytes that are written.
pub(super) type Out = *mut c_uchar;

functions! {
    /// Of libcrypto, for primitives.
    pub(super) struct Functions
    required {
        OBJ_sn2nid: fn(*const c_char) -> c_int;
        EVP_PKEY_new: fn() -> Ptr;
        EVP_PKEY_assign: fn(Ptr, c_int, Ptr) -> c_int;
        EVP_PKEY_copy_parameters: fn(Ptr, Ptr) -> c_int;
        EVP_PKEY_CTX_new: fn(Ptr, Ptr) -> Ptr;
        EVP_PKEY_CTX_new_id: fn(c_int, Ptr) -> Ptr;
        EVP_PKEY_CTX_free: fn(Ptr);
        EVP_PKEY_keygen_init: fn(Ptr) -> c_int;
        EVP_PKEY_keygen: fn(Ptr, *mut Ptr) -> c_int;
        EVP_PKEY_derive_init: fn(Ptr) -> c_int;
        EVP_PKEY_derive_set_peer: fn(Ptr, Ptr) -> c_int;
        EVP_PKEY_derive: fn(Ptr, Out, *mut usize) -> c_int;
        EVP_PKEY_sign_init: fn(Ptr) -> c_int;
        EVP_PKEY_sign: fn(Ptr, Out, *mut usize, In, usize) -> c_int;
        EVP_PKEY_verify_init: fn(Ptr) -> c_int;
        EVP_PKEY_verify: fn(Ptr, In, usize, In, usize) -> c_int;
        EVP_MD_CTX_new: fn() -> Ptr;
        EVP_MD_CTX_free: fn(Ptr);
        EVP_DigestInit_ex: fn(Ptr, Method, Ptr) -> c_int;
        EVP_DigestUpdate: fn(Ptr, *const c_void, usize) -> c_int;
        EVP_DigestFinal_ex: fn(Ptr, Out, *mut c_uint) -> c_int;
        EVP_Digest: fn(*const c_void, usize, Out, *mut c_uint, Method, Ptr) -> c_int;
        EVP_DigestSignInit: fn(Ptr, *mut Ptr, Method, Ptr, Ptr) -> c_int;
        EVP_DigestSignFinal: fn(Ptr, Out, *mut usize) -> c_int;
        EVP_DigestVerifyInit: fn(Ptr, *mut Ptr, Method, Ptr, Ptr) -> c_int;
        EVP_DigestVerifyFinal: fn(Ptr, In, usize) -> c_int;
        EVP_sha256: fn() -> Method;
        EVP_sha384: fn() -> Method;
        HMAC: fn(Method, *const c_void, c_int, In, usize, Out, *mut c_uint) -> Out;
        HMAC_CTX_new: fn() -> Ptr;
        HMAC_CTX_free: fn(Ptr);
        HMAC_Init_ex: fn(Ptr, *const c_void, c_int, Method, Ptr) -> c_int;
        HMAC_Update: fn(Ptr, In, usize) -> c_int;
        HMAC_Final: fn(Ptr, Out, *mut c_uint) -> c_int;
        i2d_PUBKEY: fn(Ptr, *mut Out) -> c_int;
        d2i_PUBKEY: fn(*mut Ptr, *mut In, c_long) -> Ptr;
    }
    optional {
        // OpenSSL from 3.0 on.
        EVP_PKEY_CTX_new_from_name: fn(Ptr, *const c_char, *const c_char) -> Ptr;
        EVP_PKEY_get1_encoded_public_key: fn(Ptr, *mut Out) -> usize;
        EVP_PKEY_set1_encoded_public_key: fn(Ptr, In, usize) -> c_int;
        EVP_MD_fetch: fn(Ptr, *const c_char, *const c_char) -> Method;
        CRYPTO_free: fn(Ptr, *const c_char, c_int);
        // In all, with lengths of one width or another.
        RAND_bytes: fn(Out, usize) -> c_int;
        // BoringSSL and AWS-LC.
        EVP_PKEY_get1_tls_encodedpoint: fn(Ptr, *mut Out) -> usize;
        EVP_PKEY_set1_tls_encodedpoint: fn(Ptr, In, usize) -> c_int;
        OPENSSL_free: fn(Ptr);
        // Macros in LibreSSL.
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid: fn(Ptr, c_int) -> c_int;
        EVP_PKEY_CTX_set_rsa_padding: fn(Ptr, c_int) -> c_int;
        EVP_PKEY_CTX_set_rsa_pss_saltlen: fn(Ptr, c_int) -> c_int;
        EVP_PKEY_CTX_set_signature_md: fn(Ptr, Method) -> c_int;
        EVP_PKEY_CTX_ctrl: fn(Ptr, c_int, c_int, c_int, c_int, Ptr) -> c_int;
        // Not in LibreSSL 3.1.
        EVP_PKEY_new_raw_public_key: fn(c_int, Ptr, In, usize) -> Ptr;
        EVP_PKEY_get_raw_public_key: fn(Ptr, Out, *mut usize) -> c_int;
        EVP_DigestSign: fn(Ptr, Out, *mut usize, In, usize) -> c_int;
        EVP_DigestVerify: fn(Ptr, In, usize, In, usize) -> c_int;
        // Curve25519 without EVP.
        X25519_keypair: fn(Out, Out);
        X25519: fn(Out, In, In) -> c_int;
        // ML-KEM: the last two steps are called alike, keys are made differently by each.
        EVP_PKEY_encapsulate_init: fn(Ptr, *const c_void) -> c_int;
        EVP_PKEY_encapsulate: fn(Ptr, Out, *mut usize, Out, *mut usize) -> c_int;
        EVP_PKEY_decapsulate_init: fn(Ptr, *const c_void) -> c_int;
        EVP_PKEY_decapsulate: fn(Ptr, Out, *mut usize, In, usize) -> c_int;
        EVP_PKEY_CTX_kem_set_params: fn(Ptr, c_int) -> c_int;
        EVP_PKEY_kem_new_raw_public_key: fn(c_int, In, usize) -> Ptr;
        EVP_pkey_ml_kem_768: fn() -> Method;
        EVP_PKEY_generate_from_alg: fn(Method) -> Ptr;
        EVP_PKEY_from_raw_public_key: fn(Method, In, usize) -> Ptr;
        EVP_PKEY_from_private_seed: fn(Method, In, usize) -> Ptr;
        EVP_PKEY_kem_new_raw_secret_key: fn(c_int, In, usize) -> Ptr;
    }
}

/// Numbers of the headers, the same in every family.
pub(super) mod number {
    use std::ffi::c_int;

    /// `NID_X9_62_id_ecPublicKey`, which is `EVP_PKEY_EC`.
    pub(in super::super) const EC: c_int = 408;
    /// `NID_rsaEncryption`, which is `EVP_PKEY_RSA`.
    pub(in super::super) const RSA: c_int = 6;
    /// `NID_dhKeyAgreement`, which is `EVP_PKEY_DH`.
    pub(in super::super) const DH: c_int = 28;
    /// `NID_X9_62_prime256v1`
    pub(in super::super) const P256: c_int = 415;
    /// `NID_secp384r1`
    pub(in super::super) const P384: c_int = 715;
    /// `RSA_PKCS1_PADDING`
    pub(in super::super) const PKCS1: c_int = 1;
    /// `RSA_PKCS1_PSS_PADDING`
    pub(in super::super) const PSS: c_int = 6;
    /// `RSA_PSS_SALTLEN_DIGEST`
    pub(in super::super) const SALT_AS_DIGEST: c_int = -1;

    // Of LibreSSL 3, whose headers have macros for these.
    /// `EVP_PKEY_OP_PARAMGEN | EVP_PKEY_OP_KEYGEN`
    pub(in super::super) const OP_GENERATE: c_int = (1 << 1) | (1 << 2);
    /// `EVP_PKEY_OP_SIGN | EVP_PKEY_OP_VERIFY`
    pub(in super::super) const OP_SIGNATURE: c_int = (1 << 3) | (1 << 4);
    /// `EVP_PKEY_OP_TYPE_SIG`
    pub(in super::super) const OP_ALL_SIGNATURES: c_int = 0x1f << 3;
    /// `EVP_PKEY_CTRL_MD`
    pub(in super::super) const CTRL_DIGEST: c_int = 1;
    /// `EVP_PKEY_CTRL_EC_PARAMGEN_CURVE_NID`
    pub(in super::super) const CTRL_CURVE: c_int = 0x1001;
    /// `EVP_PKEY_CTRL_RSA_PADDING`
    pub(in super::super) const CTRL_PADDING: c_int = 0x1001;
    /// `EVP_PKEY_CTRL_RSA_PSS_SALTLEN`
    pub(in super::super) const CTRL_SALT: c_int = 0x1002;
}
