//! OpenSSL and its kin: LibreSSL, BoringSSL, AWS-LC, at any version, by the functions they export.
//! Connections in memory over BIOs of our own, and what an end says of its connection.

mod context;
mod primitives;
mod socket;

use crate::stacks::connection::{Pipe, Wire, shake};
use crate::stacks::{Bench, End, PrivateKeys, Stack, Step, Trouble, Workbench};
use context::{Api, Context, Crypto, Groups, Newest, Ptr, Ssl};
use contract::loader::SharedObject;
use primitives::Library;
use record::tls::{Case, Certificate, EndSays, Exchange, Kind, Primitive, Scheme, Seen, Version};
pub use socket::{Flow, Secured, Side, Sockets, Trust};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long};
use std::ptr::null_mut;

/// A loaded libssl with its libcrypto.
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

/// Both ends of one case.
struct Connections {
    api: &'static Api,
    /// The client's and the server's.
    contexts: [Context; 2],
    /// `SSL` of each, null between connections.
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
const SCHEMES: [(c_int, c_int, u16); 9] = [
    (6, 672, 0x0401),
    (6, 673, 0x0501),
    (6, 674, 0x0601),
    (912, 672, 0x0804),
    (912, 673, 0x0805),
    (912, 674, 0x0806),
    (408, 672, 0x0403),
    (408, 673, 0x0503),
    (1087, 0, 0x0807),
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

/// Makes the method of such BIOs.
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
