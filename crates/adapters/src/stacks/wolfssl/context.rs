//! Settings of both ends for one case: version, suite, groups, signatures, certificates, sessions.

use super::api::{Api, Ptr};
use super::io;
use crate::stacks::bench::{End, Trouble};
use crate::stacks::keys::{Keys, dh_parameters, groups, keys};
use record::tls::{Case, Certificate, Exchange, Group, Kind, Version};
use std::ffi::{CString, c_int, c_long, c_uchar, c_ushort};

/// `WOLFSSL_CTX`, freed with the value.
pub(super) struct Context {
    api: &'static Api,
    pub(super) raw: Ptr,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `wolfSSL_CTX_new`, freed once.
        unsafe { (self.api.wolfSSL_CTX_free)(self.raw) };
    }
}

/// `WOLFSSL_SUCCESS`
pub(super) const SUCCESS: c_int = 1;
/// `WOLFSSL_FILETYPE_PEM`
const PEM: c_int = 1;
/// `WOLFSSL_VERIFY_NONE`, `_PEER`, `_PEER | _FAIL_IF_NO_PEER_CERT`
const VERIFY_NONE: c_int = 0;
const VERIFY: c_int = 1;
const VERIFY_OR_FAIL: c_int = 3;
/// `WOLFSSL_SESS_CACHE_OFF`, `_CLIENT`, `_SERVER`
const CACHE_OFF: c_long = 0;
const CACHE_CLIENT: c_long = 1;
const CACHE_SERVER: c_long = 2;

/// Bytes of a coordinate of P-384.
const P384_BYTES: c_ushort = 48;

/// A call that sets something from a text in memory.
type SetBytes = unsafe extern "C" fn(Ptr, *const c_uchar, c_long, c_int) -> c_int;

impl Context {
    /// One end's context for a case.
    pub(super) fn new(api: &'static Api, case: &Case, end: End) -> Result<Self, Trouble> {
        let (name, method) = match (case.version, end) {
            (Version::Tls12, End::Client) => ("TLSv1_2_client", api.wolfTLSv1_2_client_method),
            (Version::Tls12, End::Server) => ("TLSv1_2_server", api.wolfTLSv1_2_server_method),
            (Version::Tls13, End::Client) => ("TLSv1_3_client", api.wolfTLSv1_3_client_method),
            (Version::Tls13, End::Server) => ("TLSv1_3_server", api.wolfTLSv1_3_server_method),
        };
        let method = method.ok_or_else(|| Trouble::missing(&format!("wolf{name}_method")))?;
        // SAFETY: the method becomes the context's.
        let raw = unsafe { (api.wolfSSL_CTX_new)(method()) };
        if raw.is_null() {
            return Err(Trouble::Failed("wolfSSL_CTX_new gives nothing".to_owned()));
        }
        let context = Self { api, raw };
        // SAFETY: the context is live; the callbacks have the header's type.
        unsafe {
            (api.wolfSSL_CTX_SetIORecv)(raw, io::receive);
            (api.wolfSSL_CTX_SetIOSend)(raw, io::send);
        }
        context.prove(case, end)?;
        context.negotiate(case, end)?;
        context.keep_sessions(case, end)?;
        Ok(context)
    }

    /// Suite, groups, signatures: one of each, so that nothing else can be negotiated.
    fn negotiate(&self, case: &Case, end: End) -> Result<(), Trouble> {
        let api = self.api;
        let code =
            case.code().ok_or_else(|| Trouble::NotOffered("there is no such suite".to_owned()))?;
        let set = api.wolfSSL_CTX_set_cipher_list;
        self.text("wolfSSL_CTX_set_cipher_list", set, code.openssl)?;
        match case.version {
            Version::Tls12 => self.curves(&group_numbers(case, end))?,
            Version::Tls13 => self.groups(&mut group_numbers(case, end))?,
        }
        // Of the curves that its client takes, a server of TLS 1.2 takes the one of this size.
        if let (Exchange::P384, Some(set)) = (case.exchange, api.wolfSSL_CTX_SetTmpEC_DHE_Sz) {
            // SAFETY: the context is live.
            self.done("wolfSSL_CTX_SetTmpEC_DHE_Sz", unsafe { set(self.raw, P384_BYTES) })?;
        }
        // Without it both ends choose; the wire or an end tells what they chose.
        if let Some(set) = api.wolfSSL_CTX_set1_sigalgs_list {
            let schemes = schemes(case.certificate);
            self.text("wolfSSL_CTX_set1_sigalgs_list", set, schemes)?;
        }
        match dh_parameters(case.exchange) {
            Some(pem) if end == End::Server && case.version == Version::Tls12 => {
                let call = "wolfSSL_CTX_SetTmpDH_buffer";
                let set = api.wolfSSL_CTX_SetTmpDH_buffer.ok_or_else(|| Trouble::missing(call))?;
                self.bytes(call, set, pem)
            }
            _ => Ok(()),
        }
    }

    fn curves(&self, groups: &[c_int]) -> Result<(), Trouble> {
        let call = "wolfSSL_CTX_UseSupportedCurve";
        let set = self.api.wolfSSL_CTX_UseSupportedCurve.ok_or_else(|| Trouble::missing(call))?;
        groups.iter().try_for_each(|group| {
            let number = u16::try_from(*group).expect("a group's number has 16 bits");
            // SAFETY: the context is live.
            self.done(call, unsafe { set(self.raw, number) })
        })
    }

    fn groups(&self, groups: &mut [c_int]) -> Result<(), Trouble> {
        let call = "wolfSSL_CTX_set_groups";
        let set = self.api.wolfSSL_CTX_set_groups.ok_or_else(|| Trouble::missing(call))?;
        let count = groups.len() as c_int;
        // SAFETY: the context is live; as many numbers as are told are read.
        self.done(call, unsafe { set(self.raw, groups.as_mut_ptr(), count) })
    }

    /// Certificates: the server's, the client's where it is asked for one, and the root to trust.
    fn prove(&self, case: &Case, end: End) -> Result<(), Trouble> {
        let api = self.api;
        let Keys { chain, key, root } = keys(case.certificate);
        if end == End::Server || case.client_auth {
            let call = "wolfSSL_CTX_use_certificate_chain_buffer";
            let length = c_long::try_from(chain.len()).expect("a chain is short");
            // SAFETY: the context is live; as many bytes as are told are read.
            let outcome = unsafe {
                (api.wolfSSL_CTX_use_certificate_chain_buffer)(self.raw, chain.as_ptr(), length)
            };
            self.done(call, outcome)?;
            let set = api.wolfSSL_CTX_use_PrivateKey_buffer;
            self.bytes("wolfSSL_CTX_use_PrivateKey_buffer", set, key)?;
        }
        let mode = match (end, case.client_auth) {
            (End::Client, _) => VERIFY,
            (End::Server, true) => VERIFY_OR_FAIL,
            (End::Server, false) => VERIFY_NONE,
        };
        // SAFETY: the context is live; there is no callback.
        unsafe { (api.wolfSSL_CTX_set_verify)(self.raw, mode, std::ptr::null()) };
        if mode == VERIFY_NONE {
            return Ok(());
        }
        let set = api.wolfSSL_CTX_load_verify_buffer;
        self.bytes("wolfSSL_CTX_load_verify_buffer", set, root)
    }

    /// Caches only where the case is about them, and tickets of TLS 1.2 where it is about those: the
    /// client has to ask for them.
    fn keep_sessions(&self, case: &Case, end: End) -> Result<(), Trouble> {
        let api = self.api;
        let mode = match end {
            End::Client if case.kind.is_resumed() => CACHE_CLIENT,
            End::Server if case.kind == Kind::ResumedId => CACHE_SERVER,
            _ => CACHE_OFF,
        };
        if let Some(set) = api.wolfSSL_CTX_set_session_cache_mode {
            // SAFETY: the context is live.
            unsafe { set(self.raw, mode) };
        }
        if case.kind == Kind::ResumedTicket && end == End::Client {
            let call = "wolfSSL_CTX_UseSessionTicket";
            let set = api.wolfSSL_CTX_UseSessionTicket.ok_or_else(|| Trouble::missing(call))?;
            // SAFETY: the context is live.
            self.done(call, unsafe { set(self.raw) })?;
        }
        Ok(())
    }

    fn text(
        &self,
        call: &str,
        set: unsafe extern "C" fn(Ptr, *const std::ffi::c_char) -> c_int,
        text: &str,
    ) -> Result<(), Trouble> {
        let c_text = CString::new(text).expect("our own words have no zeros");
        // SAFETY: the context is live; the text is a C string that the call copies.
        let outcome = unsafe { set(self.raw, c_text.as_ptr()) };
        match outcome {
            0 => Err(Trouble::NotOffered(format!("{call} does not take {text}"))),
            other => self.done(call, other),
        }
    }

    fn bytes(&self, call: &str, set: SetBytes, text: &str) -> Result<(), Trouble> {
        let length = c_long::try_from(text.len()).expect("keys and certificates are short");
        // SAFETY: the context is live; as many bytes as are told are read.
        let outcome = unsafe { set(self.raw, text.as_ptr(), length, PEM) };
        self.done(call, outcome)
    }

    fn done(&self, call: &str, outcome: c_int) -> Result<(), Trouble> {
        if outcome == SUCCESS {
            Ok(())
        } else {
            Err(Trouble::NotOffered(self.api.words(call, outcome)))
        }
    }
}

/// The groups that an end takes, by their numbers.
fn group_numbers(case: &Case, end: End) -> Vec<c_int> {
    let number = |group: Group| c_int::from(group.number().expect("groups of the matrix have one"));
    groups(case, end).into_iter().map(number).collect()
}

/// The signature that is asked for, and the one in RSA's certificates, as wolfSSL spells them.
fn schemes(certificate: Certificate) -> &'static str {
    match certificate {
        Certificate::Rsa2048 | Certificate::Rsa3072 | Certificate::Rsa4096 => {
            "RSA-PSS+SHA256:RSA+SHA256"
        }
        Certificate::P256 => "ECDSA+SHA256",
        Certificate::P384 => "ECDSA+SHA384",
        Certificate::Ed25519 => "ED25519",
    }
}
