//! wolfSSL, by its own interface.

mod api;
mod context;
mod io;
mod says;

use crate::stacks::bench::{Bench, End, Stack, Step, Trouble};
use crate::stacks::wire::Wire;
use api::{Api, Ptr};
use context::{Context, SUCCESS};
use contract::loader::SharedObject;
use record::tls::{Case, EndSays};
use std::ffi::c_int;
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
        says::says(self.api, self.ssl(end), end)
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
