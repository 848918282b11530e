//! Settings of both ends for one case: version, suite, groups, signatures, certificates, the sessions that a
//! client is given; and the functions of libssl and libcrypto that are called, by their names.

use crate::stacks::keys::{Keys, dh_parameters, groups, keys};
use crate::stacks::{End, Trouble, c_text};
use contract::functions;
use record::tls::{Case, Certificate, Kind, Version};
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};
use std::ptr::null_mut;

/// `SSL_CTX`, freed with the value.
#[derive(Debug)]
pub(crate) struct Context {
    api: &'static Api,
    pub(crate) raw: Ptr,
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
pub(crate) enum Groups<'a> {
    /// Those of the case alone.
    OfCase,
    /// These, by colons.
    Named(&'a str),
    /// Those that the stack has where nothing is set.
    Unset,
}

impl Context {
    pub(crate) fn new(
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
            self.text("SSL_CTX_set_ciphersuites", Some(set), None, code.openssl)?;
        } else if let Some(set) = ssl.SSL_CTX_set1_tls13_ciphers {
            // Older BoringSSLs have neither and choose; what they chose is read back.
            // SAFETY: the context is live; one number is read, and there are no flags.
            let done = unsafe { set(self.raw, &raw const code.number, std::ptr::null(), 1) == 1 };
            self.done(done, "SSL_CTX_set1_tls13_ciphers")?;
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

    pub(crate) fn control(&self, command: c_int, number: c_long, pointer: Ptr) -> c_long {
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
        let Keys { chain, key, root, .. } = keys(case.certificate);
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
        Certificate::Mldsa44 => "mldsa44",
        Certificate::Mldsa65 => "mldsa65",
        Certificate::Mldsa87 => "mldsa87",
    }
}

// The sessions that a client is given: kept by the callback, because a session of TLS 1.3 comes after
// the handshake, in a ticket (RFC 8446 4.6.1).

thread_local! {
    /// Sessions that came since they were last asked for.
    static CAME: RefCell<Vec<Ptr>> = const { RefCell::new(Vec::new()) };
}

/// The callback: takes the session's reference.
pub(crate) unsafe extern "C" fn remember(_: Ptr, session: Ptr) -> c_int {
    CAME.with_borrow_mut(|came| came.push(session));
    1
}

/// The newest session of one client.
#[derive(Debug)]
pub(crate) struct Newest {
    api: &'static Api,
    pub(crate) session: Option<Ptr>,
}

impl Newest {
    pub(crate) fn new(api: &'static Api) -> Self {
        Self { api, session: None }
    }

    /// Takes what came; a client that got nothing new keeps the old one.
    pub(crate) fn renew(&mut self) {
        let came = CAME.with_borrow_mut(std::mem::take);
        for session in came {
            self.replace(Some(session));
        }
    }

    fn replace(&mut self, newer: Option<Ptr>) {
        if let Some(older) = std::mem::replace(&mut self.session, newer) {
            // SAFETY: the callback took this reference; connections hold their own.
            unsafe { (self.api.ssl.SSL_SESSION_free)(older) };
        }
    }
}

impl Drop for Newest {
    fn drop(&mut self) {
        self.replace(None);
    }
}

// The functions of libssl and libcrypto that are called, by their names.
//
// Types are those of the public headers of OpenSSL 3, which LibreSSL, BoringSSL and AWS-LC share but
// for widths of numbers that travel in a register either way.

/// Any of the library's objects.
pub(crate) type Ptr = *mut c_void;

/// `int (*new_session_cb)(SSL *, SSL_SESSION *)`
pub(crate) type NewSession = unsafe extern "C" fn(Ptr, Ptr) -> c_int;
pub(crate) type BioWrite = unsafe extern "C" fn(Ptr, *const c_char, c_int) -> c_int;
pub(crate) type BioRead = unsafe extern "C" fn(Ptr, *mut c_char, c_int) -> c_int;
/// `long (*ctrl)(BIO *, int, long, void *)`
pub(crate) type BioCtrl = unsafe extern "C" fn(Ptr, c_int, c_long, Ptr) -> c_long;
/// `X509 *PEM_read_bio_X509(BIO *, X509 **, pem_password_cb *, void *)` and its kin.
pub(crate) type PemRead = unsafe extern "C" fn(Ptr, Ptr, Ptr, Ptr) -> Ptr;

functions! {
    /// Of libssl.
    pub(crate) struct Ssl
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
        // BoringSSL's: the numbers of suites, flags of each or null, how many.
        SSL_CTX_set1_tls13_ciphers: fn(Ptr, *const u16, *const u32, usize) -> c_int;
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
    pub(crate) struct Crypto
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
pub(crate) mod ctrl {
    use std::ffi::c_int;

    pub(crate) const SET_TMP_DH: c_int = 3;
    pub(crate) const GET_SESSION_REUSED: c_int = 8;
    pub(crate) const EXTRA_CHAIN_CERT: c_int = 14;
    pub(crate) const OPTIONS: c_int = 32;
    pub(crate) const MODE: c_int = 33;
    pub(crate) const SET_READ_AHEAD: c_int = 41;
    pub(crate) const SET_SESS_CACHE_MODE: c_int = 44;
    pub(crate) const SET_TLSEXT_HOSTNAME: c_int = 55;
    pub(crate) const SET_GROUPS_LIST: c_int = 92;
    pub(crate) const SET_SIGALGS_LIST: c_int = 98;
    pub(crate) const GET_PEER_SIGNATURE_NID: c_int = 108;
    pub(crate) const SET_MIN_PROTO_VERSION: c_int = 123;
    pub(crate) const SET_MAX_PROTO_VERSION: c_int = 124;
    pub(crate) const GET_NEGOTIATED_GROUP: c_int = 134;
}

/// Both libraries' functions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Api {
    pub(crate) ssl: Ssl,
    pub(crate) crypto: Crypto,
    /// The method of the BIOs that end in our memory.
    pub(crate) method: Ptr,
}

impl Crypto {
    /// What a function reads from PEM; null where it finds nothing.
    pub(crate) fn with_pem(&self, pem: &str, read: impl FnOnce(Ptr) -> Ptr) -> Ptr {
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
    pub(crate) fn read_pem(&self, pem: &str, read: PemRead) -> Ptr {
        // SAFETY: the BIO is live.
        self.with_pem(pem, |bio| unsafe { read(bio, null_mut(), null_mut(), null_mut()) })
    }

    /// The oldest error that the library remembers, in its words, after the call that failed; forgets
    /// all of them.
    pub(crate) fn words(&self, call: &str) -> String {
        self.error(call).1
    }

    /// The same, with the number of its reason (`ERR_GET_REASON`): twelve bits in each library, of more in OpenSSL 3.
    pub(crate) fn error(&self, call: &str) -> (c_ulong, String) {
        let mut text = [0_u8; 256];
        // SAFETY: the buffer is as long as is said, and is filled with a C string.
        let reason = unsafe {
            let code = (self.ERR_get_error)();
            if code & 0xffff_ffff == 0 {
                return (0, format!("{call} failed without a word"));
            }
            (self.ERR_error_string_n)(code, text.as_mut_ptr().cast(), text.len());
            (self.ERR_clear_error)();
            code & 0xfff
        };
        let whole = c_text(&text);
        // `error:0A0000B9:SSL routines::no cipher match`: the last part is for people.
        let words = whole.rsplit(':').next().filter(|r| !r.is_empty()).unwrap_or(&whole);
        (reason, format!("{call}: {words}"))
    }
}
