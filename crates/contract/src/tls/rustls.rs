//! rustls behind the interface of TLS stacks, for shared objects that bring a provider of cryptography: the
//! functions of the table (what they are given is what [`crate::tls`] says), both ends of one case, their
//! settings, the wire. It holds `unsafe` code: the interface is C's.
#![expect(clippy::missing_safety_doc, reason = "said once above")]

use crate::tls::{Bytes, Pipe, Says, end, resumption, status};
use rustls::client::{Resumption, Tls12Resumption};
pub use rustls::crypto::CryptoProvider;
use rustls::crypto::{SupportedKxGroup, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{
    NoServerSessionStorage, ProducesTickets, ServerSessionMemoryCache, WebPkiClientVerifier,
};
use rustls::{
    ClientConfig, ClientConnection, ConnectionCommon, HandshakeKind, NamedGroup, RootCertStore,
    ServerConfig, ServerConnection, SideData, SignatureScheme, SupportedCipherSuite,
    SupportedProtocolVersion,
};
use std::ffi::{c_char, c_void};
use std::fmt::Display;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::sync::Arc;

/// What rustls leaves to others: the cryptography.
pub trait Provider: 'static {
    /// Suites, groups, signatures.
    fn provider() -> CryptoProvider;

    /// What a server's tickets are protected with.
    fn ticketer() -> Tickets;
}

/// What protects a server's tickets, or why there is none.
pub type Tickets = Result<Arc<dyn ProducesTickets>, rustls::Error>;

/// Exports rustls with the cryptography of a module, under a name that is a C string. Version and facts
/// of the build are those that the crate `built` wrote down.
#[macro_export]
macro_rules! stack {
    ($library:expr, $($provider:ident)::+) => {
        include!(concat!(env!("OUT_DIR"), "/built.rs"));

        struct Cryptography;

        impl $crate::tls::rustls::Provider for Cryptography {
            fn provider() -> $crate::tls::rustls::CryptoProvider {
                $($provider)::+::default_provider()
            }

            fn ticketer() -> $crate::tls::rustls::Tickets {
                $($provider)::+::Ticketer::new()
            }
        }

        /// The table of functions.
        #[unsafe(no_mangle)]
        pub extern "C" fn ciphermark_tls_1() -> *const $crate::tls::Table {
            extern "C" fn library() -> *const std::ffi::c_char {
                $library.as_ptr()
            }
            extern "C" fn version() -> *const std::ffi::c_char {
                VERSION.as_ptr()
            }
            extern "C" fn build() -> *const std::ffi::c_char {
                BUILD.as_ptr()
            }
            static TABLE: $crate::tls::Table = $crate::tls::Table {
                library,
                version,
                build,
                open: $crate::tls::rustls::open::<Cryptography>,
                close: $crate::tls::rustls::close,
                begin: $crate::tls::rustls::begin,
                step: $crate::tls::rustls::step,
                send: $crate::tls::rustls::send,
                receive: $crate::tls::rustls::receive,
                says: $crate::tls::rustls::says,
                end: $crate::tls::rustls::end,
                between: $crate::tls::rustls::between,
                words: $crate::tls::rustls::words,
            };
            &TABLE
        }
    };
}

/// # Safety
/// The bytes are readable for as long as the reference is used.
unsafe fn bytes<'a>(bytes: Bytes) -> &'a [u8] {
    if bytes.length == 0 {
        return &[];
    }
    // SAFETY: the caller vouches for it.
    unsafe { std::slice::from_raw_parts(bytes.first, bytes.length) }
}

/// # Safety
/// What [`open`] gave, not closed yet, and used by nothing else during the call.
unsafe fn session<'a>(session: *mut c_void) -> &'a mut Session {
    // SAFETY: the caller vouches for it.
    unsafe { &mut *session.cast::<Session>() }
}

/// Writes a C string, cut where there is no room.
///
/// # Safety
/// So many bytes are writable.
unsafe fn write_text(text: &str, into: *mut c_char, room: usize) {
    let Some(most) = room.checked_sub(1) else { return };
    let length = text.len().min(most);
    // SAFETY: no more than there is room for, and the zero behind it.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), into.cast(), length);
        *into.add(length) = 0;
    }
}

fn outcome(session: &mut Session, result: Result<(), String>) -> i32 {
    match result {
        Ok(()) => status::DONE,
        Err(words) => {
            session.words = words;
            status::FAILED
        }
    }
}

/// [`crate::tls::Table::open`]
pub unsafe extern "C" fn open<P: Provider>(
    wanted: *const crate::tls::Wanted,
    pipes: *const Pipe,
    into: *mut *mut c_void,
    words: *mut c_char,
    room: usize,
) -> i32 {
    // SAFETY: all of them are what the contract says, until this returns, and the pipes for longer.
    unsafe {
        let wanted = &*wanted;
        let safe = Wanted {
            of: wanted,
            name: std::str::from_utf8(bytes(wanted.name)).unwrap_or_default(),
            chain: bytes(wanted.chain),
            key: bytes(wanted.key),
            root: bytes(wanted.root),
        };
        match Configs::new::<P>(&safe) {
            Ok(configs) => {
                let pipes = [Wire(*pipes), Wire(*pipes.add(1))];
                let (client, server, words) = (None, None, String::new());
                let session = Session { configs, pipes, client, server, words };
                *into = Box::into_raw(Box::new(session)).cast();
                status::DONE
            }
            Err(why) => {
                write_text(&why, words, room);
                status::NOT_OFFERED
            }
        }
    }
}

/// [`crate::tls::Table::close`]
pub unsafe extern "C" fn close(of: *mut c_void) {
    // SAFETY: boxed by `open`, freed once.
    drop(unsafe { Box::from_raw(of.cast::<Session>()) });
}

/// [`crate::tls::Table::begin`]
pub unsafe extern "C" fn begin(of: *mut c_void, end: i32) -> i32 {
    // SAFETY: as the contract says.
    let session = unsafe { session(of) };
    let begun = session.begin(end);
    outcome(session, begun)
}

/// [`crate::tls::Table::step`]
pub unsafe extern "C" fn step(of: *mut c_void, end: i32) -> i32 {
    // SAFETY: as the contract says.
    let session = unsafe { session(of) };
    match session.step(end) {
        Ok(true) => status::DONE,
        Ok(false) => status::WAITS,
        Err(words) => outcome(session, Err(words)),
    }
}

/// [`crate::tls::Table::send`]
pub unsafe extern "C" fn send(of: *mut c_void, data: *const u8, length: usize, times: u32) -> i32 {
    // SAFETY: as the contract says.
    let (session, data) = unsafe { (session(of), std::slice::from_raw_parts(data, length)) };
    let sent = session.send(data, times);
    outcome(session, sent)
}

/// [`crate::tls::Table::receive`]
pub unsafe extern "C" fn receive(
    of: *mut c_void,
    into: *mut u8,
    length: usize,
    size: usize,
) -> i32 {
    // SAFETY: as the contract says.
    let (session, into) = unsafe { (session(of), std::slice::from_raw_parts_mut(into, length)) };
    let received = session.receive(into, size);
    outcome(session, received)
}

/// [`crate::tls::Table::says`]
pub unsafe extern "C" fn says(of: *mut c_void, end: i32, into: *mut Says) {
    // SAFETY: as the contract says.
    unsafe { *into = session(of).says(end).unwrap_or_default() };
}

/// [`crate::tls::Table::end`]
pub unsafe extern "C" fn end(of: *mut c_void, which: i32) {
    // SAFETY: as the contract says.
    unsafe { session(of) }.end(which);
}

/// [`crate::tls::Table::between`]: rustls keeps sessions in its configuration.
pub unsafe extern "C" fn between(_: *mut c_void) {}

/// [`crate::tls::Table::words`]
pub unsafe extern "C" fn words(of: *mut c_void, into: *mut c_char, room: usize) {
    // SAFETY: as the contract says.
    unsafe { write_text(&session(of).words, into, room) };
}

// Both ends of one case: connections are made and freed one after the other.

/// What the interface's functions work on.
pub struct Session {
    pub(crate) configs: Configs,
    pub(crate) pipes: [Wire; 2],
    pub(crate) client: Option<ClientConnection>,
    pub(crate) server: Option<ServerConnection>,
    /// Why the last call failed.
    pub(crate) words: String,
}

/// Whether a handshake is over, or why there is none.
type Stepped = Result<bool, String>;

impl Session {
    pub(crate) fn begin(&mut self, which: i32) -> Result<(), String> {
        if which == end::CLIENT {
            let config = Arc::clone(&self.configs.client);
            let name = self.configs.name.clone();
            self.client = Some(ClientConnection::new(config, name).map_err(|e| e.to_string())?);
        } else {
            let config = Arc::clone(&self.configs.server);
            self.server = Some(ServerConnection::new(config).map_err(|e| e.to_string())?);
        }
        Ok(())
    }

    pub(crate) fn step(&mut self, which: i32) -> Stepped {
        let [of_client, of_server] = &mut self.pipes;
        if which == end::CLIENT {
            shake_hands(connected(&mut self.client)?, of_client)
        } else {
            shake_hands(connected(&mut self.server)?, of_server)
        }
    }

    pub(crate) fn send(&mut self, data: &[u8], times: u32) -> Result<(), String> {
        let (server, pipe) = (connected(&mut self.server)?, &mut self.pipes[1]);
        for _ in 0..times {
            server.writer().write_all(data).map_err(|e| e.to_string())?;
            flush(server, pipe)?;
        }
        Ok(())
    }

    /// Fills the buffer record by record.
    pub(crate) fn receive(&mut self, into: &mut [u8], size: usize) -> Result<(), String> {
        let (client, pipe) = (connected(&mut self.client)?, &mut self.pipes[0]);
        into.chunks_exact_mut(size).try_for_each(|one| receive_record(client, pipe, one))
    }

    pub(crate) fn says(&mut self, which: i32) -> Option<Says> {
        if which == end::CLIENT {
            self.client.as_deref().map(says_of)
        } else {
            self.server.as_deref().map(says_of)
        }
    }

    /// Says goodbye where the handshake is over.
    pub(crate) fn end(&mut self, which: i32) {
        let [of_client, of_server] = &mut self.pipes;
        if which == end::CLIENT {
            say_goodbye(self.client.take(), of_client);
        } else {
            say_goodbye(self.server.take(), of_server);
        }
    }
}

fn connected<C>(connection: &mut Option<C>) -> Result<&mut C, String> {
    connection.as_mut().ok_or_else(|| "there is no connection".to_owned())
}

fn shake_hands<D: SideData>(connection: &mut ConnectionCommon<D>, pipe: &mut Wire) -> Stepped {
    take(connection, pipe)?;
    flush(connection, pipe)?;
    Ok(!connection.is_handshaking())
}

/// Takes everything that has come.
fn take<D: SideData>(connection: &mut ConnectionCommon<D>, pipe: &mut Wire) -> Result<(), String> {
    while connection.wants_read() && more(connection, pipe)? {}
    Ok(())
}

/// Takes a piece of what has come; whether there was any.
fn more<D: SideData>(
    connection: &mut ConnectionCommon<D>,
    pipe: &mut Wire,
) -> Result<bool, String> {
    match connection.read_tls(pipe) {
        Ok(_) => connection.process_new_packets().map(|_| true).map_err(|e| e.to_string()),
        Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(e) => Err(e.to_string()),
    }
}

fn flush<D: SideData>(connection: &mut ConnectionCommon<D>, pipe: &mut Wire) -> Result<(), String> {
    while connection.wants_write() {
        connection.write_tls(pipe).map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn receive_record<D: SideData>(
    connection: &mut ConnectionCommon<D>,
    pipe: &mut Wire,
    into: &mut [u8],
) -> Result<(), String> {
    let mut filled = 0;
    while filled < into.len() {
        match connection.reader().read(&mut into[filled..]) {
            Ok(0) => return Err("the other end has said goodbye".to_owned()),
            Ok(taken) => filled += taken,
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                if !more(connection, pipe)? {
                    return Err("less has come than was sent".to_owned());
                }
            }
            Err(e) => return Err(e.to_string()),
        }
    }
    Ok(())
}

fn say_goodbye<D: SideData, C: std::ops::DerefMut<Target = ConnectionCommon<D>>>(
    connection: Option<C>,
    pipe: &mut Wire,
) {
    let Some(mut connection) = connection else { return };
    if !connection.is_handshaking() {
        connection.send_close_notify();
        // What cannot be said goodbye to is left all the same.
        _ = flush(&mut connection, pipe);
    }
}

fn says_of<D>(connection: &ConnectionCommon<D>) -> Says {
    Says {
        version: connection.protocol_version().map_or(0, u16::from),
        suite: connection.negotiated_cipher_suite().map_or(0, |suite| u16::from(suite.suite())),
        group: connection.negotiated_key_exchange_group().map_or(0, |g| u16::from(g.name())),
        // rustls does not tell.
        signature: 0,
        reused: i32::from(connection.handshake_kind() == Some(HandshakeKind::Resumed)),
        peer_proved: i32::from(connection.peer_certificates().is_some()),
    }
}

// Settings of both ends for one case: version, suite, groups, signatures, certificates, sessions.

/// Sessions that a cache holds at most; both ends' are far from it.
const CACHED: usize = 32;

/// What is to be negotiated, and its bytes as safe values.
pub(crate) struct Wanted<'a> {
    pub(crate) of: &'a crate::tls::Wanted,
    pub(crate) name: &'a str,
    pub(crate) chain: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) root: &'a [u8],
}

/// Both ends' settings.
pub(crate) struct Configs {
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) server: Arc<ServerConfig>,
    pub(crate) name: ServerName<'static>,
}

/// What is not offered, in words.
pub(crate) type NotOffered = String;

fn in_words(e: impl Display) -> NotOffered {
    e.to_string()
}

impl Configs {
    pub(crate) fn new<P: Provider>(wanted: &Wanted<'_>) -> Result<Self, NotOffered> {
        let name = ServerName::try_from(wanted.name).map_err(in_words)?.to_owned();
        Ok(Self { client: client::<P>(wanted)?, server: server::<P>(wanted)?, name })
    }
}

fn client<P: Provider>(wanted: &Wanted<'_>) -> Result<Arc<ClientConfig>, NotOffered> {
    let guesses: &[u16] = &[wanted.of.guess, wanted.of.group];
    let groups = if wanted.of.guess == wanted.of.group { &guesses[1..] } else { guesses };
    let provider = narrowed(P::provider(), wanted, groups)?;
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[version(wanted)?])
        .map_err(in_words)?
        .with_root_certificates(roots(wanted)?);
    let mut config = if wanted.of.client_auth != 0 {
        builder.with_client_auth_cert(chain(wanted)?, key(wanted)?).map_err(in_words)?
    } else {
        builder.with_no_client_auth()
    };
    let kept = Resumption::in_memory_sessions(CACHED);
    config.resumption = match wanted.of.resumption {
        resumption::NONE => Resumption::disabled(),
        resumption::ID => kept.tls12_resumption(Tls12Resumption::SessionIdOnly),
        _ => kept,
    };
    Ok(Arc::new(config))
}

/// A server with tickets that hold the session, as other stacks' do, in the place of rustls's own cache; but for
/// resumption by id, which needs one.
fn server<P: Provider>(wanted: &Wanted<'_>) -> Result<Arc<ServerConfig>, NotOffered> {
    let provider = Arc::new(narrowed(P::provider(), wanted, &[wanted.of.group])?);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[version(wanted)?])
        .map_err(in_words)?;
    let builder = if wanted.of.client_auth != 0 {
        let roots = Arc::new(roots(wanted)?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
        builder.with_client_cert_verifier(verifier.map_err(in_words)?)
    } else {
        builder.with_no_client_auth()
    };
    let mut config = builder.with_single_cert(chain(wanted)?, key(wanted)?).map_err(in_words)?;
    if wanted.of.resumption == resumption::ID {
        config.session_storage = ServerSessionMemoryCache::new(CACHED);
    } else {
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.ticketer = P::ticketer().map_err(in_words)?;
    }
    Ok(Arc::new(config))
}

/// A provider with nothing left but what is to be negotiated.
fn narrowed(
    whole: CryptoProvider,
    wanted: &Wanted<'_>,
    groups: &[u16],
) -> Result<CryptoProvider, NotOffered> {
    let suites: Vec<SupportedCipherSuite> = whole
        .cipher_suites
        .iter()
        .copied()
        .filter(|suite| u16::from(suite.suite()) == wanted.of.suite)
        .collect();
    if suites.is_empty() {
        let suite = rustls::CipherSuite::from(wanted.of.suite);
        return Err(format!("the provider has no suite {suite:?}"));
    }
    let kx_groups = groups
        .iter()
        .map(|number| group(&whole, *number))
        .collect::<Result<Vec<_>, NotOffered>>()?;
    let schemes = signatures(&whole.signature_verification_algorithms, wanted.of.signature)?;
    Ok(CryptoProvider {
        cipher_suites: suites,
        kx_groups,
        signature_verification_algorithms: schemes,
        ..whole
    })
}

fn group(whole: &CryptoProvider, number: u16) -> Result<&'static dyn SupportedKxGroup, NotOffered> {
    let found = whole.kx_groups.iter().find(|group| u16::from(group.name()) == number);
    found.copied().ok_or_else(|| {
        let all = listed(whole.kx_groups.iter().map(|group| format!("{:?}", group.name())));
        match number {
            0 => format!("no key exchange but by the provider's groups: {all}"),
            _ => format!("{:?} is none of the provider's groups: {all}", NamedGroup::from(number)),
        }
    })
}

/// Handshakes are signed with one scheme; certificates may be signed with any.
fn signatures(
    whole: &WebPkiSupportedAlgorithms,
    number: u16,
) -> Result<WebPkiSupportedAlgorithms, NotOffered> {
    let scheme = SignatureScheme::from(number);
    let mapping: Vec<_> = whole.mapping.iter().copied().filter(|(s, _)| *s == scheme).collect();
    if mapping.is_empty() {
        let all = listed(whole.mapping.iter().map(|(scheme, _)| format!("{scheme:?}")));
        return Err(format!("{scheme:?} is none of the provider's signatures: {all}"));
    }
    // The type wants it for ever. It is a few dozen bytes for each case.
    Ok(WebPkiSupportedAlgorithms { all: whole.all, mapping: Box::leak(mapping.into_boxed_slice()) })
}

fn listed(names: impl Iterator<Item = String>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn version(wanted: &Wanted<'_>) -> Result<&'static SupportedProtocolVersion, NotOffered> {
    let mut all = rustls::ALL_VERSIONS.iter();
    let found = all.find(|v| u16::from(v.version) == wanted.of.version);
    found.copied().ok_or_else(|| format!("no version {:#06x}", wanted.of.version))
}

fn roots(wanted: &Wanted<'_>) -> Result<RootCertStore, NotOffered> {
    let mut roots = RootCertStore::empty();
    for root in CertificateDer::pem_slice_iter(wanted.root) {
        roots.add(root.map_err(in_words)?).map_err(in_words)?;
    }
    Ok(roots)
}

fn chain(wanted: &Wanted<'_>) -> Result<Vec<CertificateDer<'static>>, NotOffered> {
    CertificateDer::pem_slice_iter(wanted.chain).collect::<Result<_, _>>().map_err(in_words)
}

fn key(wanted: &Wanted<'_>) -> Result<PrivateKeyDer<'static>, NotOffered> {
    PrivateKeyDer::from_pem_slice(wanted.key).map_err(in_words)
}

// The wire, as rustls reads and writes it.

/// One end's side of the wire, which outlives the session.
pub(crate) struct Wire(pub(crate) Pipe);

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the pipe is live, and the buffer as long as is told.
        match unsafe { (self.0.read)(self.0.context, into.as_mut_ptr(), into.len()) } {
            // To rustls 0 would be the connection's end.
            0 => Err(ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        // SAFETY: the pipe is live, and the bytes are as many as is told.
        unsafe { (self.0.write)(self.0.context, from.as_ptr(), from.len()) };
        Ok(from.len())
    }

    fn write_vectored(&mut self, all: &[IoSlice<'_>]) -> io::Result<usize> {
        all.iter().map(|one| self.write(one)).sum()
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
