//! Connections over sockets: a side's settings for one case, and each connection that it makes or takes. The
//! library reads and writes the socket itself (`SSL_set_fd`), as servers let it.

use crate::stacks::openssl::context::{Api, Context, Groups, Newest, Ptr, ctrl};
use crate::stacks::openssl::{OpenSsl, introduce};
use crate::stacks::{End, Trouble, openssl};
use contract::loader::SharedObject;
use record::tls::{Case, EndSays};
use std::ffi::{c_int, c_long};
use std::io::ErrorKind;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;
use std::ptr::null_mut;

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
    ///
    /// # Errors
    /// In one line, what the files are not.
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
    ///
    /// # Errors
    /// [`Trouble::NotOffered`] where a setting is refused.
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
            None => _ = side.context.control(ctrl::SET_READ_AHEAD, 1, null_mut()),
        }
        Ok(side)
    }

    /// A client for a case. `alpn` is the list of protocols as it stands in its hello (RFC 7301 3.1), empty
    /// for none.
    ///
    /// # Errors
    /// [`Trouble::NotOffered`] where a setting is refused.
    pub fn client(&self, case: &Case, alpn: &[u8], trust: Trust) -> Result<Side, Trouble> {
        self.client_with(case, Groups::OfCase, alpn, trust)
    }

    /// A client that offers groups, by colons, a key share of the first of them, and leaves the choice to the
    /// server; it trusts anybody.
    ///
    /// # Errors
    /// [`Trouble::NotOffered`] where a setting is refused.
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
            None => _ = self.context.control(ctrl::MODE, modes as c_long, null_mut()),
        }
    }

    /// A connection over a socket, which it owns from now on. A client offers its newest session where
    /// `resume` is set.
    ///
    /// # Errors
    /// The stack's words.
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
    /// Carries the handshake on.
    pub fn handshake(&mut self) -> Result<Flow, Trouble> {
        let flow = self.call("the handshake", |api, raw| {
            // SAFETY: the connection is live.
            unsafe { (api.ssl.SSL_do_handshake)(raw) }
        })?;
        self.greeted |= matches!(flow, Flow::Done(_));
        Ok(if self.greeted { Flow::Done(0) } else { flow })
    }

    /// Reads what has come.
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

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// What this end says of the connection, after its handshake.
    #[must_use]
    pub fn says(&self) -> EndSays {
        openssl::says(self.api, self.raw, self.end)
    }

    /// The protocol that was agreed on by ALPN; empty for none.
    #[must_use]
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
                let words = self.api.crypto.words(name);
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
