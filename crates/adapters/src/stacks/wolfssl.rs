//! wolfSSL, by its own interface: its functions, the settings of both ends for one case, the callbacks by
//! which it reads and writes the wire, and what an end says of its connection.

use crate::stacks::connection::{Pipe, Wire};
use crate::stacks::keys::{Keys, dh_parameters, groups, keys};
use crate::stacks::{Bench, End, Stack, Step, Trouble, c_text, offered};
use contract::functions;
use contract::loader::SharedObject;
use record::tls::{Case, Certificate, EndSays, Exchange, Group, Kind, Version};
use std::ffi::{CString, c_char, c_int, c_long, c_uchar, c_ulong, c_ushort, c_void};
use std::ptr::null_mut;

/// A loaded libwolfssl.
#[derive(Debug)]
pub(crate) struct WolfSsl(&'static Api);

impl WolfSsl {
    pub(crate) fn attach(object: &SharedObject) -> Result<Self, String> {
        let api = Api::of(object)?;
        // SAFETY: takes nothing.
        let outcome = unsafe { (api.wolfSSL_Init)() };
        if outcome != SUCCESS {
            return Err(api.words("wolfSSL_Init", outcome));
        }
        Ok(Self(Box::leak(Box::new(api))))
    }
}

impl Stack for WolfSsl {
    fn open(&self, case: &Case) -> Result<Box<dyn Bench>, Trouble> {
        let contexts =
            [Context::new(self.0, case, End::Client)?, Context::new(self.0, case, End::Server)?];
        Ok(Box::new(Connections {
            api: self.0,
            keeps_sessions: case.kind.is_resumed(),
            ends: [null_mut(); 2],
            done: [false; 2],
            session: null_mut(),
            wire: Wire::new(),
            contexts,
        }))
    }
}

/// Both ends of one case.
struct Connections {
    api: &'static Api,
    keeps_sessions: bool,
    /// `WOLFSSL` of each, null between connections.
    ends: [Ptr; 2],
    done: [bool; 2],
    /// The client's newest session; null before the first.
    session: Ptr,
    wire: Wire,
    /// The client's and the server's.
    contexts: [Context; 2],
}

/// `WOLFSSL_ERROR_WANT_READ`
const WANT_READ: c_int = 2;
/// `WOLFSSL_SNI_HOST_NAME`
const HOST_NAME: u8 = 0;

impl Connections {
    fn ssl(&self, end: End) -> Ptr {
        self.ends[end as usize]
    }

    /// What a client says first: whom it wants, and what it remembers.
    fn introduce(&self, connection: Ptr) -> Result<(), Trouble> {
        let (api, name) = (self.api, c"localhost");
        // SAFETY: the connection is live; the name is copied; the session is referenced by us.
        unsafe {
            let outcome = (api.wolfSSL_check_domain_name)(connection, name.as_ptr());
            if outcome != SUCCESS {
                return Err(Trouble::Failed(api.words("wolfSSL_check_domain_name", outcome)));
            }
            if let Some(set) = api.wolfSSL_UseSNI {
                set(connection, HOST_NAME, name.as_ptr().cast(), name.count_bytes() as u16);
            }
            if let (Some(set), false) = (api.wolfSSL_set_session, self.session.is_null()) {
                set(connection, self.session);
            }
        }
        Ok(())
    }

    /// Takes a reference of the session that the client holds now: in TLS 1.3 its ticket comes after the
    /// handshake, with the first data.
    fn keep_session(&mut self) {
        let (Some(get), true) = (self.api.wolfSSL_get1_session, self.keeps_sessions) else {
            return;
        };
        // SAFETY: the connection is live; the reference becomes ours.
        let newer = unsafe { get(self.ssl(End::Client)) };
        if !newer.is_null() {
            self.replace_session(newer);
        }
    }

    fn replace_session(&mut self, newer: Ptr) {
        let older = std::mem::replace(&mut self.session, newer);
        if let (Some(free), false) = (self.api.wolfSSL_SESSION_free, older.is_null()) {
            // SAFETY: `wolfSSL_get1_session` gave us this reference; connections hold their own.
            unsafe { free(older) };
        }
    }

    fn failed(&self, call: &str, end: End, outcome: c_int) -> Trouble {
        // SAFETY: the connection is live.
        let number = unsafe { (self.api.wolfSSL_get_error)(self.ssl(end), outcome) };
        Trouble::Failed(self.api.words(call, number))
    }
}

impl Bench for Connections {
    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn begin(&mut self, end: End) -> Result<(), Trouble> {
        let api = self.api;
        // SAFETY: the context is live, and so is the pipe, longer than the connection.
        let connection = unsafe {
            let connection = (api.wolfSSL_new)(self.contexts[end as usize].raw);
            if connection.is_null() {
                return Err(Trouble::Failed("wolfSSL_new gives nothing".to_owned()));
            }
            let pipe: Ptr = self.wire.pipe(end).cast();
            (api.wolfSSL_SetIOReadCtx)(connection, pipe);
            (api.wolfSSL_SetIOWriteCtx)(connection, pipe);
            connection
        };
        self.ends[end as usize] = connection;
        match end {
            End::Client => self.introduce(connection),
            End::Server => Ok(()),
        }
    }

    fn step(&mut self, end: End) -> Result<Step, Trouble> {
        let step = match end {
            End::Client => self.api.wolfSSL_connect,
            End::Server => self.api.wolfSSL_accept,
        };
        // SAFETY: the connection is live.
        let outcome = unsafe { step(self.ssl(end)) };
        if outcome == SUCCESS {
            self.done[end as usize] = true;
            return Ok(Step::Done);
        }
        // SAFETY: the connection is live.
        match unsafe { (self.api.wolfSSL_get_error)(self.ssl(end), outcome) } {
            WANT_READ => Ok(Step::Waits),
            number => Err(Trouble::Failed(self.api.words(end.handshake(), number))),
        }
    }

    fn take_byte(&mut self) -> Result<(), Trouble> {
        let mut byte = [0];
        self.receive(&mut byte, 1)?;
        self.keep_session();
        if byte == *b"!" {
            Ok(())
        } else {
            Err(Trouble::Failed("wolfSSL_read gave another byte than was sent".to_owned()))
        }
    }

    fn send(&mut self, data: &[u8], times: u32) -> Result<(), Trouble> {
        let server = self.ssl(End::Server);
        let length = c_int::try_from(data.len()).expect("a record is short");
        for _ in 0..times {
            // SAFETY: the connection is live; as many bytes are read as there are.
            let sent = unsafe { (self.api.wolfSSL_write)(server, data.as_ptr().cast(), length) };
            if sent != length {
                return Err(self.failed("wolfSSL_write", End::Server, sent));
            }
        }
        Ok(())
    }

    fn receive(&mut self, into: &mut [u8], size: usize) -> Result<(), Trouble> {
        let client = self.ssl(End::Client);
        let length = c_int::try_from(size).expect("a record is short");
        for one in into.chunks_exact_mut(size) {
            // SAFETY: the connection is live; at most as many bytes are written as there is room for.
            let taken = unsafe { (self.api.wolfSSL_read)(client, one.as_mut_ptr().cast(), length) };
            if taken != length {
                return Err(self.failed("wolfSSL_read", End::Client, taken));
            }
        }
        Ok(())
    }

    fn says(&self, end: End) -> EndSays {
        says(self.api, self.ssl(end), end)
    }

    fn end(&mut self, end: End) {
        let connection = std::mem::replace(&mut self.ends[end as usize], null_mut());
        if connection.is_null() {
            return;
        }
        // SAFETY: the connection is live and freed once.
        unsafe {
            if std::mem::take(&mut self.done[end as usize]) {
                (self.api.wolfSSL_shutdown)(connection);
            }
            (self.api.wolfSSL_free)(connection);
        }
    }

    fn between(&mut self) {
        self.wire.clear();
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        self.end(End::Client);
        self.end(End::Server);
        self.replace_session(null_mut());
    }
}

// Settings of both ends for one case: version, suite, groups, signatures, certificates, sessions.

/// `WOLFSSL_CTX`, freed with the value.
struct Context {
    api: &'static Api,
    raw: Ptr,
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: made by `wolfSSL_CTX_new`, freed once.
        unsafe { (self.api.wolfSSL_CTX_free)(self.raw) };
    }
}

/// `WOLFSSL_SUCCESS`
const SUCCESS: c_int = 1;
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
    fn new(api: &'static Api, case: &Case, end: End) -> Result<Self, Trouble> {
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
            (api.wolfSSL_CTX_SetIORecv)(raw, receive);
            (api.wolfSSL_CTX_SetIOSend)(raw, send);
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
                let set = offered!(api, wolfSSL_CTX_SetTmpDH_buffer)?;
                self.bytes("wolfSSL_CTX_SetTmpDH_buffer", set, pem)
            }
            _ => Ok(()),
        }
    }

    fn curves(&self, groups: &[c_int]) -> Result<(), Trouble> {
        let set = offered!(self.api, wolfSSL_CTX_UseSupportedCurve)?;
        groups.iter().try_for_each(|group| {
            let number = u16::try_from(*group).expect("a group's number has 16 bits");
            // SAFETY: the context is live.
            self.done("wolfSSL_CTX_UseSupportedCurve", unsafe { set(self.raw, number) })
        })
    }

    fn groups(&self, groups: &mut [c_int]) -> Result<(), Trouble> {
        let (set, count) = (offered!(self.api, wolfSSL_CTX_set_groups)?, groups.len() as c_int);
        // SAFETY: the context is live; as many numbers as are told are read.
        let outcome = unsafe { set(self.raw, groups.as_mut_ptr(), count) };
        self.done("wolfSSL_CTX_set_groups", outcome)
    }

    /// Certificates: the server's, the client's where it is asked for one, and the root to trust.
    fn prove(&self, case: &Case, end: End) -> Result<(), Trouble> {
        let api = self.api;
        let Keys { chain, key, root, .. } = keys(case.certificate);
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
            let set = offered!(api, wolfSSL_CTX_UseSessionTicket)?;
            // SAFETY: the context is live.
            self.done("wolfSSL_CTX_UseSessionTicket", unsafe { set(self.raw) })?;
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
        // It finds their signature by the key alone.
        Certificate::Mldsa44 | Certificate::Mldsa65 | Certificate::Mldsa87 => "ECDSA+SHA256",
    }
}

/// wolfSSL's numbers of curves that have an object (wolfssl/openssl/ec.h), and those of their groups; of
/// all others it tells the group's own number.
const CURVES: [(c_int, u16); 3] = [(415, 23), (715, 24), (716, 25)];

/// What a key signs with, by wolfSSL's numbers: `WC_EVP_PKEY_RSA`, `WC_NID_rsassaPss`, `WC_EVP_PKEY_EC` and
/// `ED25519k`, the last in either of its two ways to number (`WOLFSSL_OLD_OID_SUM`).
const RSA: [c_int; 2] = [6, 16];
const PSS: c_int = 912;
const EC: [c_int; 2] = [18, 408];
const ED25519: [c_int; 2] = [256, 0x7f8f_65d4];
/// `WC_NID_sha256` and the two behind it.
const SHA256: c_int = 672;

/// Asks an end of a connection whose handshake is over.
fn says(api: &Api, connection: Ptr, end: End) -> EndSays {
    // SAFETY: the connection is live, its handshake over.
    unsafe {
        EndSays {
            version: (api.wolfSSL_version)(connection) as u16,
            suite: u16::try_from((api.wolfSSL_get_current_cipher_suite)(connection)).ok(),
            reused: (api.wolfSSL_session_reused)(connection) != 0,
            group: group(api, connection),
            signature: (end == End::Client).then(|| signature(api, connection)).flatten(),
            peer_proved: (end == End::Server).then(|| peer_proved(api, connection)).flatten(),
        }
    }
}

fn group(api: &Api, connection: Ptr) -> Option<u16> {
    // SAFETY: the connection is live.
    let told = unsafe { api.wolfSSL_get_negotiated_group?(connection) };
    let curve = CURVES.iter().find(|(known, _)| *known == told);
    curve.map(|(_, group)| *group).or_else(|| u16::try_from(told).ok().filter(|n| *n != 0))
}

/// The scheme of the server's signature, as its client saw it.
fn signature(api: &Api, connection: Ptr) -> Option<u16> {
    let (mut key, mut digest): (c_int, c_int) = (0, 0);
    // SAFETY: the connection is live; both write one number where there is one.
    let told = unsafe {
        let told = api.wolfSSL_get_peer_signature_type_nid?(connection, &raw mut key);
        api.wolfSSL_get_peer_signature_nid?(connection, &raw mut digest);
        told
    };
    if told != SUCCESS {
        return None;
    }
    if ED25519.contains(&key) {
        return Some(0x0807);
    }
    let nth = u16::try_from(digest - SHA256).ok().filter(|nth| *nth < 3)?;
    match key {
        PSS => Some(0x0804 + nth),
        rsa if RSA.contains(&rsa) => Some(0x0401 + nth * 0x0100),
        ec if EC.contains(&ec) => Some(0x0403 + nth * 0x0100),
        _ => None,
    }
}

fn peer_proved(api: &Api, connection: Ptr) -> Option<bool> {
    let ask = api.wolfSSL_get_peer_certificate?;
    // SAFETY: the connection is live; the reference that it returns is given back.
    unsafe {
        let certificate = ask(connection);
        if !certificate.is_null()
            && let Some(free) = api.wolfSSL_X509_free
        {
            free(certificate);
        }
        Some(!certificate.is_null())
    }
}

/// `WOLFSSL_CBIO_ERR_GENERAL`, `WOLFSSL_CBIO_ERR_WANT_READ` (wolfssl/error-ssl.h).
const IO_GENERAL: c_int = -1;
const IO_WANT_READ: c_int = -2;

unsafe extern "C" fn receive(_: Ptr, to: *mut c_char, bytes: c_int, pipe: Ptr) -> c_int {
    let Ok(wanted) = usize::try_from(bytes) else { return IO_GENERAL };
    // SAFETY: the library passes the pipe that its connection was given, which outlives it, and as many
    // writable bytes as it says; nothing else refers to the buffers during the call.
    let taken = unsafe { (*pipe.cast::<Pipe>()).take(to.cast(), wanted) };
    if taken == 0 && wanted > 0 { IO_WANT_READ } else { taken as c_int }
}

unsafe extern "C" fn send(_: Ptr, from: *mut c_char, bytes: c_int, pipe: Ptr) -> c_int {
    let Ok(length) = usize::try_from(bytes) else { return IO_GENERAL };
    // SAFETY: as in `receive`, with readable bytes.
    unsafe { (*pipe.cast::<Pipe>()).put(from.cast(), length) };
    bytes
}

// The functions of wolfSSL that are called, by their names; types as in wolfssl/ssl.h.

/// Any of the library's objects.
type Ptr = *mut c_void;
/// `CallbackIORecv`, and `CallbackIOSend`, which does not write to what it is given.
type Io = unsafe extern "C" fn(Ptr, *mut c_char, c_int, Ptr) -> c_int;

functions! {
    struct Api
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
    fn words(&self, call: &str, number: c_int) -> String {
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
