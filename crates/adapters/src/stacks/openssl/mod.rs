//! OpenSSL and its kin: LibreSSL, BoringSSL, AWS-LC, at any version, by the functions they export.
//! Connections in memory over BIOs of our own, and what an end says of its connection. Connections over
//! sockets: a side's settings for one case, and each connection that it makes or takes; there the library
//! reads and writes the socket itself (`SSL_set_fd`), as servers let it.

mod context;
mod primitives;

use crate::stacks::connection::{Pipe, Wire, shake};
use crate::stacks::{Bench, End, PrivateKeys, Stack, Step, Trouble, Workbench};
use context::{Api, Context, Crypto, Groups, Newest, Ptr, Ssl};
use contract::loader::SharedObject;
use primitives::Library;
use record::tls::{Case, Certificate, EndSays, Exchange, Kind, Primitive, Scheme, Seen, Version};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long, c_ulong};
use std::io::ErrorKind;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::ptr::null_mut;

#[derive(Debug)]
pub(crate) struct OpenSsl {
    api: &'static Api,
    /// For primitives; or what it lacks.
    library: Result<&'static Library, String>,
}

impl OpenSsl {
    pub(crate) fn attach(ssl: &SharedObject, crypto: &SharedObject) -> Result<Self, String> {
        let object = crypto;
        let (ssl, crypto) = (Ssl::of(ssl)?, Crypto::of(object)?);
        let method = bio_method(&crypto)?;
        let api: &'static Api = Box::leak(Box::new(Api { ssl, crypto, method }));
        Ok(Self { api, library: Library::of(crypto, object) })
    }
}

/// The use of private keys in a libcrypto, whether or not there is a libssl.
pub(crate) fn private_keys(
    object: &SharedObject,
    scheme: Scheme,
) -> Result<Box<dyn PrivateKeys>, Trouble> {
    let library = Crypto::of(object).map_err(String::from);
    let library = library.and_then(|crypto| Library::of(crypto, object));
    library.map_err(Trouble::NotOffered)?.private_keys(scheme)
}

impl Stack for OpenSsl {
    fn open(&self, case: &Case) -> Result<Box<dyn Bench>, Trouble> {
        let connections = Connections::of(self.api, case, [Groups::OfCase; 2])?;
        Ok(Box::new(connections))
    }

    fn pick(&self, server: Option<&str>, client: &str) -> Result<Seen, Trouble> {
        let case = Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full);
        let server = server.map_or(Groups::Unset, Groups::Named);
        let mut both = Connections::of(self.api, &case, [Groups::Named(client), server])?;
        shake(&mut both)?;
        let wire = both.wire();
        let [client, server] = [End::Client, End::Server].map(|end| wire.written(end));
        let seen = record::tls::read_wire(client, server);
        for end in [End::Client, End::Server] {
            both.end(end);
        }
        both.between();
        seen.map_err(|e| Trouble::Failed(e.to_string()))
    }

    fn primitive(&self, primitive: &Primitive) -> Result<Box<dyn Workbench>, Trouble> {
        let library = self.library.as_ref().map_err(|why| Trouble::NotOffered(why.clone()))?;
        library.open(primitive)
    }
}

struct Connections {
    api: &'static Api,
    /// The client's and the server's.
    contexts: [Context; 2],
    ends: [Ptr; 2],
    done: [bool; 2],
    wire: Wire,
    newest: Newest,
}

/// `SSL_ERROR_WANT_READ`
const WANT_READ: c_int = 2;

impl Connections {
    /// Of the client's groups and the server's.
    fn of(api: &'static Api, case: &Case, groups: [Groups<'_>; 2]) -> Result<Self, Trouble> {
        let contexts = [
            Context::new(api, case, End::Client, groups[0])?,
            Context::new(api, case, End::Server, groups[1])?,
        ];
        Ok(Self {
            api,
            contexts,
            ends: [std::ptr::null_mut(); 2],
            done: [false; 2],
            wire: Wire::new(),
            newest: Newest::new(api),
        })
    }

    fn ssl(&self, end: End) -> Ptr {
        self.ends[end as usize]
    }

    fn failed(&self, call: &str) -> Trouble {
        Trouble::Failed(self.api.crypto.words(call))
    }
}

/// What a client says first: whom it wants, and what it remembers.
fn introduce(api: &Api, connection: Ptr, session: Option<Ptr>) {
    let ssl = &api.ssl;
    let name = c"localhost".as_ptr();
    // SAFETY: the connection is live; the name is copied; the session is referenced by the caller.
    unsafe {
        match (ssl.SSL_set_tlsext_host_name, ssl.SSL_ctrl) {
            (Some(set), _) => _ = set(connection, name),
            (None, Some(control)) => {
                _ = control(
                    connection,
                    context::ctrl::SET_TLSEXT_HOSTNAME,
                    0,
                    name.cast_mut().cast(),
                );
            }
            (None, None) => {}
        }
        if let Some(session) = session {
            (ssl.SSL_set_session)(connection, session);
        }
    }
}

impl Bench for Connections {
    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn begin(&mut self, end: End) -> Result<(), Trouble> {
        let ssl = &self.api.ssl;
        // SAFETY: the context is live; the BIO becomes the connection's, for both directions.
        let connection = unsafe {
            let connection = (ssl.SSL_new)(self.contexts[end as usize].raw);
            if connection.is_null() {
                return Err(self.failed("SSL_new"));
            }
            let bio = bio(self.api, &self.wire, end);
            (ssl.SSL_set_bio)(connection, bio, bio);
            connection
        };
        self.ends[end as usize] = connection;
        match end {
            // SAFETY: the connection is live.
            End::Client => unsafe { (ssl.SSL_set_connect_state)(connection) },
            // SAFETY: the connection is live.
            End::Server => unsafe { (ssl.SSL_set_accept_state)(connection) },
        }
        if end == End::Client {
            introduce(self.api, connection, self.newest.session);
        }
        Ok(())
    }

    fn step(&mut self, end: End) -> Result<Step, Trouble> {
        let (ssl, connection) = (&self.api.ssl, self.ssl(end));
        // SAFETY: the connection is live.
        let outcome = unsafe { (ssl.SSL_do_handshake)(connection) };
        if outcome == 1 {
            self.done[end as usize] = true;
            return Ok(Step::Done);
        }
        // SAFETY: the connection is live.
        match unsafe { (ssl.SSL_get_error)(connection, outcome) } {
            WANT_READ => Ok(Step::Waits),
            _ => Err(self.failed(end.handshake())),
        }
    }

    fn send_byte(&mut self) -> Result<(), Trouble> {
        // SAFETY: the connection is live; one byte is read.
        let sent =
            unsafe { (self.api.ssl.SSL_write)(self.ssl(End::Server), b"!".as_ptr().cast(), 1) };
        if sent == 1 { Ok(()) } else { Err(self.failed("SSL_write")) }
    }

    fn take_byte(&mut self) -> Result<(), Trouble> {
        let mut byte = 0_u8;
        // SAFETY: the connection is live; one byte is written.
        let taken =
            unsafe { (self.api.ssl.SSL_read)(self.ssl(End::Client), (&raw mut byte).cast(), 1) };
        if taken == 1 && byte == b'!' { Ok(()) } else { Err(self.failed("SSL_read")) }
    }

    fn send(&mut self, data: &[u8], times: u32) -> Result<(), Trouble> {
        let (ssl, server) = (&self.api.ssl, self.ssl(End::Server));
        let length = c_int::try_from(data.len()).expect("a record is short");
        for _ in 0..times {
            // SAFETY: the connection is live; as many bytes are read as there are.
            let sent = unsafe { (ssl.SSL_write)(server, data.as_ptr().cast(), length) };
            if sent != length {
                return Err(self.failed("SSL_write"));
            }
        }
        Ok(())
    }

    fn receive(&mut self, into: &mut [u8], size: usize) -> Result<(), Trouble> {
        let (ssl, client) = (&self.api.ssl, self.ssl(End::Client));
        let length = c_int::try_from(size).expect("a record is short");
        for one in into.chunks_exact_mut(size) {
            // SAFETY: the connection is live; at most as many bytes are written as there is room for.
            let taken = unsafe { (ssl.SSL_read)(client, one.as_mut_ptr().cast(), length) };
            if taken != length {
                return Err(self.failed("SSL_read"));
            }
        }
        Ok(())
    }

    fn says(&self, end: End) -> EndSays {
        says(self.api, self.ssl(end), end)
    }

    fn end(&mut self, end: End) {
        let connection = std::mem::replace(&mut self.ends[end as usize], std::ptr::null_mut());
        if connection.is_null() {
            return;
        }
        // SAFETY: the connection is live and freed once, and its BIO with it. A connection that says
        // no goodbye loses its session (RFC 2246 7.2.1, as OpenSSL has it).
        unsafe {
            if std::mem::take(&mut self.done[end as usize]) {
                (self.api.ssl.SSL_shutdown)(connection);
            }
            (self.api.ssl.SSL_free)(connection);
        }
    }

    fn between(&mut self) {
        self.wire.clear();
        self.newest.renew();
        // SAFETY: takes nothing.
        unsafe { (self.api.crypto.ERR_clear_error)() };
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        self.end(End::Client);
        self.end(End::Server);
    }
}

/// Numbers of objects (openssl/obj_mac.h) and the numbers of their groups.
const GROUPS: [(c_long, u16); 6] =
    [(415, 23), (715, 24), (716, 25), (1034, 29), (1126, 256), (1128, 258)];
/// `TLSEXT_nid_unknown`: a group that has no object, by its own number.
const NO_OBJECT: c_long = 0x0100_0000;
/// Of a signature: the key's object and the digest's, and the number of the scheme.
const SCHEMES: [(c_int, c_int, u16); 12] = [
    (6, 672, 0x0401),
    (6, 673, 0x0501),
    (6, 674, 0x0601),
    (912, 672, 0x0804),
    (912, 673, 0x0805),
    (912, 674, 0x0806),
    (408, 672, 0x0403),
    (408, 673, 0x0503),
    (1087, 0, 0x0807),
    (1457, 0, 0x0904),
    (1458, 0, 0x0905),
    (1459, 0, 0x0906),
];

/// Asks an end of a connection whose handshake is over.
fn says(api: &Api, connection: Ptr, end: End) -> EndSays {
    let ssl = &api.ssl;
    // SAFETY: the connection is live, its handshake over; a suite is looked at only where there is one.
    unsafe {
        let suite = (ssl.SSL_get_current_cipher)(connection);
        EndSays {
            version: (ssl.SSL_version)(connection) as u16,
            suite: (!suite.is_null()).then(|| (ssl.SSL_CIPHER_get_id)(suite) as u16),
            reused: match (ssl.SSL_session_reused, ssl.SSL_ctrl) {
                (Some(reused), _) => reused(connection) != 0,
                (None, Some(control)) => {
                    control(connection, context::ctrl::GET_SESSION_REUSED, 0, null_mut()) != 0
                }
                (None, None) => false,
            },
            group: group(api, connection),
            signature: (end == End::Client).then(|| signature(api, connection)).flatten(),
            peer_proved: (end == End::Server).then(|| peer_proved(api, connection)).flatten(),
        }
    }
}

fn group(api: &Api, connection: Ptr) -> Option<u16> {
    let ssl = &api.ssl;
    if let Some(ask) = ssl.SSL_get_group_id.or(ssl.SSL_get_curve_id) {
        // SAFETY: the connection is live.
        return Some(unsafe { ask(connection) }).filter(|number| *number != 0);
    }
    // SAFETY: as above; a library that does not know the command answers 0.
    let object =
        unsafe { ssl.SSL_ctrl?(connection, context::ctrl::GET_NEGOTIATED_GROUP, 0, null_mut()) };
    if object & NO_OBJECT != 0 {
        return u16::try_from(object & !NO_OBJECT).ok();
    }
    GROUPS.iter().find(|(known, _)| *known == object).map(|(_, number)| *number)
}

/// The scheme of the server's signature, as its client saw it.
fn signature(api: &Api, connection: Ptr) -> Option<u16> {
    let ssl = &api.ssl;
    if let Some(ask) = ssl.SSL_get_peer_signature_algorithm {
        // SAFETY: the connection is live.
        return Some(unsafe { ask(connection) }).filter(|number| *number != 0);
    }
    let (mut key, mut digest): (c_int, c_int) = (0, 0);
    // SAFETY: the connection is live; both write one number where there is one.
    let told = unsafe {
        let told = ssl.SSL_get_peer_signature_type_nid?(connection, &raw mut key);
        let place = (&raw mut digest).cast();
        ssl.SSL_ctrl?(connection, context::ctrl::GET_PEER_SIGNATURE_NID, 0, place);
        told
    };
    let known = SCHEMES.iter().find(|(k, d, _)| *k == key && (*d == digest || *d == 0));
    known.filter(|_| told == 1).map(|(.., number)| *number)
}

fn peer_proved(api: &Api, connection: Ptr) -> Option<bool> {
    let ask = api.ssl.SSL_get1_peer_certificate.or(api.ssl.SSL_get_peer_certificate)?;
    // SAFETY: the connection is live; the reference that it returns is given back.
    unsafe {
        let certificate = ask(connection);
        if !certificate.is_null() {
            (api.crypto.X509_free)(certificate);
        }
        Some(!certificate.is_null())
    }
}

// The BIOs that read and write the wire, in the place of the library's memory BIO.

thread_local! {
    /// The library whose BIO calls back on this thread: a callback is told nothing else.
    static CRYPTO: Cell<Option<&'static Crypto>> = const { Cell::new(None) };
}

/// A new BIO for an end; null when the library makes none.
#[inline]
fn bio(api: &'static Api, wire: &Wire, end: End) -> Ptr {
    CRYPTO.set(Some(&api.crypto));
    // SAFETY: the method is one of this library; the pipe lives as long as the wire, which outlives
    // the connection that the BIO goes to.
    unsafe {
        let bio = (api.crypto.BIO_new)(api.method);
        if !bio.is_null() {
            (api.crypto.BIO_set_data)(bio, wire.pipe(end).cast());
            (api.crypto.BIO_set_init)(bio, 1);
        }
        bio
    }
}

/// `BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY`, and all flags about retries (openssl/bio.h).
const RETRY_READ: c_int = 0x01 | 0x08;
const ALL_RETRIES: c_int = 0x0f;
/// `BIO_CTRL_FLUSH`
const FLUSH: c_int = 11;

fn bio_method(crypto: &Crypto) -> Result<Ptr, String> {
    /// `BIO_TYPE_SOURCE_SINK`, with a number that no BIO of the libraries has.
    const TYPE: c_int = 0x0400 | 0x7e;
    // SAFETY: the name is a C string that lives for ever; the callbacks have the types of the header.
    unsafe {
        let method = (crypto.BIO_meth_new)(TYPE, c"ciphermark".as_ptr());
        if method.is_null() {
            return Err("BIO_meth_new failed".to_owned());
        }
        (crypto.BIO_meth_set_write)(method, write);
        (crypto.BIO_meth_set_read)(method, read);
        (crypto.BIO_meth_set_ctrl)(method, control);
        Ok(method)
    }
}

unsafe extern "C" fn write(bio: Ptr, from: *const c_char, bytes: c_int) -> c_int {
    let Some(crypto) = CRYPTO.get() else { return -1 };
    let Ok(length) = usize::try_from(bytes) else { return -1 };
    // SAFETY: the library passes a BIO that `bio` made, and as many readable bytes as it says;
    // nothing else refers to the buffer during the call.
    unsafe {
        (crypto.BIO_clear_flags)(bio, ALL_RETRIES);
        let pipe = (crypto.BIO_get_data)(bio).cast::<Pipe>();
        (*pipe).put(from.cast(), length);
    }
    bytes
}

unsafe extern "C" fn read(bio: Ptr, to: *mut c_char, bytes: c_int) -> c_int {
    let Some(crypto) = CRYPTO.get() else { return -1 };
    let Ok(wanted) = usize::try_from(bytes) else { return -1 };
    // SAFETY: as in `write`, with as many writable bytes as it says.
    unsafe {
        (crypto.BIO_clear_flags)(bio, ALL_RETRIES);
        let pipe = (crypto.BIO_get_data)(bio).cast::<Pipe>();
        let taken = (*pipe).take(to.cast(), wanted);
        if taken == 0 {
            (crypto.BIO_set_flags)(bio, RETRY_READ);
            return -1;
        }
        taken as c_int
    }
}

unsafe extern "C" fn control(_: Ptr, command: c_int, _: c_long, _: Ptr) -> c_long {
    c_long::from(command == FLUSH)
}

/// A loaded libssl of OpenSSL or its kin. One for each thread: a file that is loaded again is the same one.
#[derive(Debug)]
pub struct Sockets(&'static Api);

/// `SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER`, `SSL_MODE_RELEASE_BUFFERS`
const ACCEPT_MOVING_WRITE_BUFFER: u32 = 0x02;
const RELEASE_BUFFERS: u32 = 0x10;
/// `SSL_VERIFY_NONE`
const VERIFY_NONE: c_int = 0;

/// Whom a client trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Anybody: a client that is there to load a server has no costs for it.
    Anybody,
    /// Nobody: it ends every connection with an alert.
    Nobody,
}

/// How far a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It is done, with as many bytes; of a handshake and a goodbye with none.
    Done(usize),
    /// It goes on when the socket can be read.
    WantsRead,
    /// It goes on when the socket can be written.
    WantsWrite,
    /// The other end is gone.
    Closed,
}

impl Sockets {
    /// Loads a libssl, and before it the libcrypto that it is to be bound to.
    pub fn load(ssl: &Path, crypto: Option<&Path>) -> Result<Self, String> {
        let open = |path: &Path| SharedObject::open(path).map_err(|e| e.to_string());
        let crypto = crypto.map(open).transpose()?;
        let ssl = open(ssl)?;
        let OpenSsl { api, .. } = OpenSsl::attach(&ssl, crypto.as_ref().unwrap_or(&ssl))?;
        match api.ssl.SSL_set_fd {
            Some(_) => Ok(Self(api)),
            None => Err("it does not export `SSL_set_fd`".to_owned()),
        }
    }

    /// A server for a case, set as web servers set theirs: buffers are given back while a connection is idle,
    /// and as much is read as the socket has. `tickets` is how many it gives after a full handshake of TLS 1.3;
    /// none as the stack does it.
    pub fn server(&self, case: &Case, tickets: Option<u8>) -> Result<Side, Trouble> {
        let side = Side::new(self.0, case, End::Server, Groups::OfCase)?;
        if let Some(tickets) = tickets {
            let refused =
                || Trouble::NotOffered("it does not let the number of tickets be set".to_owned());
            let set = self.0.ssl.SSL_CTX_set_num_tickets.ok_or_else(refused)?;
            // SAFETY: the context is live; the other is a number.
            if unsafe { set(side.context.raw, usize::from(tickets)) } != 1 {
                return Err(refused());
            }
        }
        side.set_modes(RELEASE_BUFFERS | ACCEPT_MOVING_WRITE_BUFFER);
        match self.0.ssl.SSL_CTX_set_read_ahead {
            // SAFETY: the context is live.
            Some(set) => unsafe { set(side.context.raw, 1) },
            None => _ = side.context.control(context::ctrl::SET_READ_AHEAD, 1, null_mut()),
        }
        Ok(side)
    }

    /// A client for a case. `alpn` is the list of protocols as it stands in its hello (RFC 7301 3.1), empty
    /// for none.
    pub fn client(&self, case: &Case, alpn: &[u8], trust: Trust) -> Result<Side, Trouble> {
        self.client_with(case, Groups::OfCase, alpn, trust)
    }

    /// A client that offers groups, by colons, a key share of the first of them, and leaves the choice to the
    /// server; it trusts anybody.
    pub fn offering(&self, case: &Case, groups: &str, alpn: &[u8]) -> Result<Side, Trouble> {
        self.client_with(case, Groups::Named(groups), alpn, Trust::Anybody)
    }

    fn client_with(
        &self,
        case: &Case,
        groups: Groups<'_>,
        alpn: &[u8],
        trust: Trust,
    ) -> Result<Side, Trouble> {
        let side = Side::new(self.0, case, End::Client, groups)?;
        let (ssl, crypto, raw) = (&self.0.ssl, &self.0.crypto, side.context.raw);
        match trust {
            // SAFETY: the context is live.
            Trust::Anybody => unsafe {
                (ssl.SSL_CTX_set_verify)(raw, VERIFY_NONE, std::ptr::null())
            },
            Trust::Nobody => {
                let name = c"nobody.invalid";
                // SAFETY: the context is live; the name is copied.
                unsafe {
                    let parameters = (ssl.SSL_CTX_get0_param)(raw);
                    (crypto.X509_VERIFY_PARAM_set1_host)(
                        parameters,
                        name.as_ptr(),
                        name.count_bytes(),
                    );
                }
            }
        }
        if !alpn.is_empty() {
            let refused = || Trouble::NotOffered("it has no ALPN".to_owned());
            let set = ssl.SSL_CTX_set_alpn_protos.ok_or_else(refused)?;
            // SAFETY: the context is live; the list is copied.
            if unsafe { set(raw, alpn.as_ptr(), alpn.len() as u32) } != 0 {
                return Err(refused());
            }
        }
        Ok(side)
    }
}

/// One side of one case: its settings and the sessions that it was given.
#[derive(Debug)]
pub struct Side {
    api: &'static Api,
    end: End,
    context: Context,
    newest: Newest,
}

impl Side {
    fn new(api: &'static Api, case: &Case, end: End, groups: Groups<'_>) -> Result<Self, Trouble> {
        let context = Context::new(api, case, end, groups)?;
        Ok(Self { api, end, context, newest: Newest::new(api) })
    }

    fn set_modes(&self, modes: u32) {
        match self.api.ssl.SSL_CTX_set_mode {
            // SAFETY: the context is live.
            Some(set) => _ = unsafe { set(self.context.raw, modes) },
            None => _ = self.context.control(context::ctrl::MODE, modes as c_long, null_mut()),
        }
    }

    /// A connection over a socket, which it owns from now on. A client offers its newest session where
    /// `resume` is set.
    pub fn over(&mut self, socket: OwnedFd, resume: bool) -> Result<Secured, Trouble> {
        let ssl = &self.api.ssl;
        let set_fd = ssl.SSL_set_fd.expect("looked for when it was loaded");
        // SAFETY: the context is live; the connection is freed with the value made here, before its socket.
        let raw = unsafe { (ssl.SSL_new)(self.context.raw) };
        if raw.is_null() {
            return Err(Trouble::Failed(self.api.crypto.words("SSL_new")));
        }
        // The library numbers sockets as `int`.
        let number: c_int = socket.as_raw_fd();
        let secured = Secured { api: self.api, raw, end: self.end, greeted: false, socket };
        // SAFETY: the connection is live and its socket open.
        unsafe {
            if set_fd(raw, number) != 1 {
                return Err(Trouble::Failed(self.api.crypto.words("SSL_set_fd")));
            }
            match self.end {
                End::Client => (ssl.SSL_set_connect_state)(raw),
                End::Server => (ssl.SSL_set_accept_state)(raw),
            }
        }
        if self.end == End::Client {
            introduce(self.api, raw, self.newest.session.filter(|_| resume));
        }
        Ok(secured)
    }

    /// Keeps the newest session that came to this thread; says whether there is one.
    pub fn renew(&mut self) -> bool {
        self.newest.renew();
        self.newest.session.is_some()
    }
}

/// One connection over a socket, freed with the value. What fails is told in the stack's words.
#[derive(Debug)]
pub struct Secured {
    api: &'static Api,
    raw: Ptr,
    end: End,
    greeted: bool,
    /// Closed after the connection is freed: fields are dropped after the value itself.
    socket: OwnedFd,
}

impl Secured {
    pub fn handshake(&mut self) -> Result<Flow, Trouble> {
        let flow = self.call("the handshake", |api, raw| {
            // SAFETY: the connection is live.
            unsafe { (api.ssl.SSL_do_handshake)(raw) }
        })?;
        self.greeted |= matches!(flow, Flow::Done(_));
        Ok(if self.greeted { Flow::Done(0) } else { flow })
    }

    pub fn read(&mut self, into: &mut [u8]) -> Result<Flow, Trouble> {
        let length = c_int::try_from(into.len()).unwrap_or(c_int::MAX);
        self.call("SSL_read", |api, raw| {
            // SAFETY: the connection is live; at most as many bytes are written as there is room for.
            unsafe { (api.ssl.SSL_read)(raw, into.as_mut_ptr().cast(), length) }
        })
    }

    /// Writes; what is not written now is to be offered again.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Flow, Trouble> {
        let length = c_int::try_from(bytes.len()).unwrap_or(c_int::MAX);
        self.call("SSL_write", |api, raw| {
            // SAFETY: the connection is live; as many bytes are read as there are.
            unsafe { (api.ssl.SSL_write)(raw, bytes.as_ptr().cast(), length) }
        })
    }

    /// Says goodbye, without waiting for the answer. A connection that says none loses its session
    /// (RFC 2246 7.2.1, as OpenSSL has it).
    pub fn close(&mut self) {
        if std::mem::take(&mut self.greeted) {
            // SAFETY: the connection is live.
            unsafe {
                (self.api.ssl.SSL_shutdown)(self.raw);
                (self.api.crypto.ERR_clear_error)();
            }
        }
    }

    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// What this end says of the connection, after its handshake.
    pub fn says(&self) -> EndSays {
        says(self.api, self.raw, self.end)
    }

    /// The protocol that was agreed on by ALPN; empty for none.
    pub fn protocol(&self) -> Vec<u8> {
        let Some(ask) = self.api.ssl.SSL_get0_alpn_selected else { return Vec::new() };
        let (mut text, mut length) = (std::ptr::null(), 0);
        // SAFETY: the connection is live; the name belongs to it and is copied at once.
        unsafe {
            ask(self.raw, &raw mut text, &raw mut length);
            if text.is_null() {
                return Vec::new();
            }
            std::slice::from_raw_parts(text, length as usize).to_vec()
        }
    }

    fn call(&mut self, name: &str, call: impl FnOnce(&Api, Ptr) -> c_int) -> Result<Flow, Trouble> {
        /// `SSL_ERROR_WANT_READ` and the others that are no failure (openssl/ssl.h).
        const WANT_READ: c_int = 2;
        const WANT_WRITE: c_int = 3;
        const SYSCALL: c_int = 5;
        const ZERO_RETURN: c_int = 6;
        /// Alerts of an end that has nothing in common with the other: handshake_failure, protocol_version,
        /// insufficient_security, behind `SSL_AD_REASON_OFFSET` (openssl/ssl.h).
        const REFUSALS: [c_ulong; 3] = [1040, 1070, 1071];
        // SAFETY: takes nothing. What an earlier connection left would be read as this one's error.
        unsafe { (self.api.crypto.ERR_clear_error)() };
        let outcome = call(self.api, self.raw);
        if let Ok(done @ 1..) = usize::try_from(outcome) {
            return Ok(Flow::Done(done));
        }
        let system = std::io::Error::last_os_error();
        // SAFETY: the connection is live.
        match unsafe { (self.api.ssl.SSL_get_error)(self.raw, outcome) } {
            WANT_READ => Ok(Flow::WantsRead),
            WANT_WRITE => Ok(Flow::WantsWrite),
            ZERO_RETURN => Ok(Flow::Closed),
            SYSCALL if outcome == 0 || is_gone(&system) => Ok(Flow::Closed),
            SYSCALL => Err(Trouble::Failed(format!("{name}: {system}"))),
            _ => {
                let (reason, words) = self.api.crypto.error(name);
                if REFUSALS.contains(&reason) {
                    return Err(Trouble::NotOffered(words));
                }
                // OpenSSL 3 makes an error of an end without a goodbye.
                if words.contains("unexpected eof") {
                    Ok(Flow::Closed)
                } else {
                    Err(Trouble::Failed(words))
                }
            }
        }
    }
}

fn is_gone(error: &std::io::Error) -> bool {
    let kind = error.kind();
    // No error at all: the library met the end of the stream.
    matches!(kind, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof)
        || error.raw_os_error() == Some(0)
}

impl Drop for Secured {
    fn drop(&mut self) {
        // SAFETY: made by `SSL_new`, freed once; `SSL_set_fd` does not close the socket.
        unsafe { (self.api.ssl.SSL_free)(self.raw) };
    }
}
