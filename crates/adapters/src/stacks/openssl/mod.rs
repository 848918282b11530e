//! OpenSSL and its kin: LibreSSL, BoringSSL, AWS-LC, at any version, by the functions they export.

mod api;
mod bio;
mod context;
mod primitives;
mod says;
mod session;
mod socket;

use crate::stacks::bench::{Bench, End, Stack, Step, Trouble};
use crate::stacks::connect::shake;
use crate::stacks::primitive::{PrivateKeys, Workbench};
use crate::stacks::wire::Wire;
use api::{Api, Crypto, Ptr, Ssl, ctrl};
use context::{Context, Groups};
use contract::loader::SharedObject;
use primitives::Library;
use record::tls::{Case, Certificate, EndSays, Exchange, Kind, Primitive, Scheme, Seen, Version};
use session::Newest;
use std::ffi::c_int;

pub use socket::{Flow, Secured, Side, Sockets, Trust};

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
        let method = bio::method(&crypto)?;
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
                _ = control(connection, ctrl::SET_TLSEXT_HOSTNAME, 0, name.cast_mut().cast());
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
            let bio = bio::bio(self.api, &self.wire, end);
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
        says::says(self.api, self.ssl(end), end)
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
