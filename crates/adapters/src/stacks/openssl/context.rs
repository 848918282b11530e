//! Settings of both ends for one case: version, suite, groups, signatures, certificates, sessions.

use super::api::{Api, PemRead, Ptr, ctrl};
use super::session::remember;
use crate::stacks::bench::{End, Trouble};
use crate::stacks::keys::{Keys, dh_parameters, groups, keys};
use record::tls::{Case, Certificate, Kind, Version};
use std::ffi::{CString, c_int, c_long};
use std::ptr::null_mut;

/// `SSL_CTX`, freed with the value.
#[derive(Debug)]
pub(super) struct Context {
    api: &'static Api,
    pub(super) raw: Ptr,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `SSL_CTX_new`, freed once.
        unsafe { (self.api.ssl.SSL_CTX_free)(self.raw) };
    }
}

/// `SSL_OP_NO_TICKET`: the same bit in all of them.
const NO_TICKET: u64 = 1 << 14;
/// `SSL_VERIFY_PEER`, `SSL_VERIFY_FAIL_IF_NO_PEER_CERT`
const VERIFY: c_int = 1;
const VERIFY_OR_FAIL: c_int = 3;
/// `SSL_SESS_CACHE_OFF`, `_CLIENT`, `_SERVER`
const CACHE_OFF: c_int = 0;
const CACHE_CLIENT: c_int = 1;
const CACHE_SERVER: c_int = 2;

/// Which groups an end takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Groups<'a> {
    /// Those of the case alone.
    OfCase,
    /// These, by colons.
    Named(&'a str),
    /// Those that the stack has where nothing is set.
    Unset,
}

impl Context {
    /// One end's context for a case.
    pub(super) fn new(
        api: &'static Api,
        case: &Case,
        end: End,
        groups: Groups<'_>,
    ) -> Result<Self, Trouble> {
        // SAFETY: takes no pointers but the method it has just returned.
        let raw = unsafe {
            (api.crypto.ERR_clear_error)();
            (api.ssl.SSL_CTX_new)((api.ssl.TLS_method)())
        };
        if raw.is_null() {
            return Err(Trouble::Failed(api.crypto.words("SSL_CTX_new")));
        }
        let context = Self { api, raw };
        context.negotiate(case, end, groups)?;
        context.prove(case, end)?;
        context.keep_sessions(case, end)?;
        Ok(context)
    }

    /// Version, suite, groups, signatures: one of each, so that nothing else can be negotiated.
    fn negotiate(&self, case: &Case, end: End, groups: Groups<'_>) -> Result<(), Trouble> {
        self.version(case.version)?;
        let code =
            case.code().ok_or_else(|| Trouble::NotOffered("there is no such suite".to_owned()))?;
        let ssl = &self.api.ssl;
        if case.version == Version::Tls12 {
            self.text(
                "SSL_CTX_set_cipher_list",
                Some(ssl.SSL_CTX_set_cipher_list),
                None,
                code.openssl,
            )?;
        } else if let Some(set) = ssl.SSL_CTX_set_ciphersuites {
            // Without it the stack chooses; what it chose is read back.
            self.text("SSL_CTX_set_ciphersuites", Some(set), None, code.openssl)?;
        }
        let names = match groups {
            Groups::OfCase => Some(group_names(case, end)),
            Groups::Named(names) => Some(names.to_owned()),
            Groups::Unset => None,
        };
        if let Some(names) = names {
            let set = ssl.SSL_CTX_set1_groups_list.or(ssl.SSL_CTX_set1_curves_list);
            let control = Some(ctrl::SET_GROUPS_LIST);
            self.text("SSL_CTX_set1_groups_list", set, control, &names)?;
        }
        let schemes = schemes(case.certificate);
        let set = ssl.SSL_CTX_set1_sigalgs_list;
        // LibreSSL has no such function; the wire or an end tells what was used.
        if set.is_some() || self.has_controls_of_openssl() {
            self.text("SSL_CTX_set1_sigalgs_list", set, Some(ctrl::SET_SIGALGS_LIST), schemes)?;
        }
        match dh_parameters(case.exchange) {
            Some(pem) if end == End::Server && case.version == Version::Tls12 => self.field(pem),
            _ => Ok(()),
        }
    }

    /// LibreSSL kept `SSL_CTX_ctrl` and made functions of what it added.
    fn has_controls_of_openssl(&self) -> bool {
        self.api.ssl.SSL_CTX_ctrl.is_some() && self.api.ssl.SSL_CTX_set1_groups_list.is_none()
    }

    fn version(&self, version: Version) -> Result<(), Trouble> {
        let ssl = &self.api.ssl;
        let number = version.number();
        let (min, max) = (ssl.SSL_CTX_set_min_proto_version, ssl.SSL_CTX_set_max_proto_version);
        for (which, set, command) in
            [("min", min, ctrl::SET_MIN_PROTO_VERSION), ("max", max, ctrl::SET_MAX_PROTO_VERSION)]
        {
            let done = match set {
                // SAFETY: the context is live; the other is a number.
                Some(set) => unsafe { set(self.raw, number) == 1 },
                None => self.control(command, c_long::from(number), null_mut()) == 1,
            };
            self.done(done, &format!("SSL_CTX_set_{which}_proto_version to {version}"))?;
        }
        Ok(())
    }

    /// Sets a text by a function, or by a control where that is a macro.
    fn text(
        &self,
        call: &str,
        set: Option<unsafe extern "C" fn(Ptr, *const std::ffi::c_char) -> c_int>,
        control: Option<c_int>,
        text: &str,
    ) -> Result<(), Trouble> {
        let text = CString::new(text).expect("our own words have no zeros");
        let done = match (set, control) {
            // SAFETY: the context is live; the text is a C string that the call copies.
            (Some(set), _) => unsafe { set(self.raw, text.as_ptr()) > 0 },
            (None, Some(command)) => self.control(command, 0, text.as_ptr().cast_mut().cast()) > 0,
            (None, None) => return Err(Trouble::missing(call)),
        };
        self.done(done, call)
    }

    fn done(&self, done: bool, call: &str) -> Result<(), Trouble> {
        if done { Ok(()) } else { Err(Trouble::NotOffered(self.api.crypto.words(call))) }
    }

    pub(super) fn control(&self, command: c_int, number: c_long, pointer: Ptr) -> c_long {
        let Some(control) = self.api.ssl.SSL_CTX_ctrl else { return 0 };
        // SAFETY: the context is live; the pointer is what the command's macro passes.
        unsafe { control(self.raw, command, number, pointer) }
    }

    /// Parameters of DHE: as a key where the stack takes one (OpenSSL 3), else as DH.
    fn field(&self, pem: &str) -> Result<(), Trouble> {
        let crypto = &self.api.crypto;
        let (parameters, dh) = (crypto.PEM_read_bio_Parameters, crypto.PEM_read_bio_DHparams);
        let done = match (self.api.ssl.SSL_CTX_set0_tmp_dh_pkey, parameters, dh) {
            (Some(set), Some(read), _) => {
                // SAFETY: the BIO is live.
                let key = self.api.crypto.with_pem(pem, |bio| unsafe { read(bio, null_mut()) });
                let key = self.found(key)?;
                // SAFETY: both are live; the key becomes the context's.
                unsafe { set(self.raw, key) == 1 }
            }
            (_, _, Some(read)) => {
                let dh = self.read_pem(pem, read)?;
                let done = self.control(ctrl::SET_TMP_DH, 0, dh) == 1;
                if let Some(free) = crypto.DH_free {
                    // SAFETY: the context has made its own copy.
                    unsafe { free(dh) };
                }
                done
            }
            _ => return Err(Trouble::NotOffered("it has no finite fields".to_owned())),
        };
        self.done(done, "setting the DH parameters")
    }

    /// Certificates: the server's, the client's where it is asked for one, and the root to trust.
    fn prove(&self, case: &Case, end: End) -> Result<(), Trouble> {
        let Keys { chain, key, root } = keys(case.certificate);
        if end == End::Server || case.client_auth {
            self.identity(chain, key)?;
        }
        let verifies = end == End::Client || case.client_auth;
        if !verifies {
            return Ok(());
        }
        let (api, mode) = (self.api, if end == End::Server { VERIFY_OR_FAIL } else { VERIFY });
        let root = self.read_pem(root, api.crypto.PEM_read_bio_X509)?;
        // SAFETY: context and certificate are live; the store takes its own reference.
        let trusted = unsafe {
            (api.ssl.SSL_CTX_set_verify)(self.raw, mode, std::ptr::null());
            let store = (api.ssl.SSL_CTX_get_cert_store)(self.raw);
            let added = (api.crypto.X509_STORE_add_cert)(store, root);
            (api.crypto.X509_free)(root);
            let name = c"localhost";
            let parameters = (api.ssl.SSL_CTX_get0_param)(self.raw);
            let length = name.count_bytes();
            added == 1
                && (end == End::Server
                    || (api.crypto.X509_VERIFY_PARAM_set1_host)(parameters, name.as_ptr(), length)
                        == 1)
        };
        self.done(trusted, "trusting the root")
    }

    fn identity(&self, chain: &str, key: &str) -> Result<(), Trouble> {
        let (ssl, crypto) = (&self.api.ssl, &self.api.crypto);
        let second = chain.rfind("-----BEGIN").expect("the chain has two certificates");
        let leaf = self.read_pem(&chain[..second], crypto.PEM_read_bio_X509)?;
        // SAFETY: both are live; the context takes its own reference.
        let used = unsafe {
            let used = (ssl.SSL_CTX_use_certificate)(self.raw, leaf);
            (crypto.X509_free)(leaf);
            used
        };
        self.done(used == 1, "SSL_CTX_use_certificate")?;
        let intermediate = self.read_pem(&chain[second..], crypto.PEM_read_bio_X509)?;
        let added = match ssl.SSL_CTX_add_extra_chain_cert {
            // SAFETY: both are live; the certificate becomes the context's.
            Some(add) => unsafe { add(self.raw, intermediate) == 1 },
            None => self.control(ctrl::EXTRA_CHAIN_CERT, 0, intermediate) == 1,
        };
        self.done(added, "SSL_CTX_add_extra_chain_cert")?;
        let key = self.read_pem(key, crypto.PEM_read_bio_PrivateKey)?;
        // SAFETY: both are live; the context takes its own reference.
        let used = unsafe {
            let used = (ssl.SSL_CTX_use_PrivateKey)(self.raw, key);
            (crypto.EVP_PKEY_free)(key);
            used
        };
        self.done(used == 1, "SSL_CTX_use_PrivateKey")
    }

    fn read_pem(&self, pem: &str, read: PemRead) -> Result<Ptr, Trouble> {
        self.found(self.api.crypto.read_pem(pem, read))
    }

    fn found(&self, object: Ptr) -> Result<Ptr, Trouble> {
        let call = "reading a certificate, a key or parameters";
        self.done(!object.is_null(), call).map(|()| object)
    }

    /// Caches only where the case is about them, and the client's newest session for the next.
    fn keep_sessions(&self, case: &Case, end: End) -> Result<(), Trouble> {
        let ssl = &self.api.ssl;
        let name = b"ciphermark";
        // SAFETY: the context is live; the name is copied; the callback has the header's type.
        unsafe {
            (ssl.SSL_CTX_set_session_id_context)(self.raw, name.as_ptr(), name.len() as u32);
            if end == End::Client && case.kind.is_resumed() {
                (ssl.SSL_CTX_sess_set_new_cb)(self.raw, remember);
            }
        }
        let mode = match end {
            End::Client if case.kind.is_resumed() => CACHE_CLIENT,
            End::Server if case.kind == Kind::ResumedId => CACHE_SERVER,
            _ => CACHE_OFF,
        };
        match ssl.SSL_CTX_set_session_cache_mode {
            // SAFETY: the context is live.
            Some(set) => _ = unsafe { set(self.raw, mode) },
            None => _ = self.control(ctrl::SET_SESS_CACHE_MODE, c_long::from(mode), null_mut()),
        }
        if case.kind == Kind::ResumedId {
            match ssl.SSL_CTX_set_options {
                // SAFETY: the context is live.
                Some(set) => _ = unsafe { set(self.raw, NO_TICKET) },
                None => _ = self.control(ctrl::OPTIONS, NO_TICKET as c_long, null_mut()),
            }
        }
        Ok(())
    }
}

/// The groups that an end takes, by their names.
fn group_names(case: &Case, end: End) -> String {
    let names = groups(case, end).into_iter();
    names
        .map(|group| group.openssl().expect("groups of the matrix have one"))
        .collect::<Vec<_>>()
        .join(":")
}

/// The signature that is asked for, and the one in RSA's certificates.
fn schemes(certificate: Certificate) -> &'static str {
    match certificate {
        Certificate::Rsa2048 | Certificate::Rsa3072 | Certificate::Rsa4096 => {
            "rsa_pss_rsae_sha256:rsa_pkcs1_sha256"
        }
        Certificate::P256 => "ecdsa_secp256r1_sha256",
        Certificate::P384 => "ecdsa_secp384r1_sha384",
        Certificate::Ed25519 => "ed25519",
    }
}
