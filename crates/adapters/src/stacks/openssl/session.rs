//! The sessions that a client is given: kept by the callback, because a session of TLS 1.3 comes after
//! the handshake, in a ticket (RFC 8446 4.6.1).

use super::api::{Api, Ptr};
use std::cell::RefCell;
use std::ffi::c_int;

thread_local! {
    /// Sessions that came since they were last asked for.
    static CAME: RefCell<Vec<Ptr>> = const { RefCell::new(Vec::new()) };
}

/// The callback: takes the session's reference.
pub(super) unsafe extern "C" fn remember(_: Ptr, session: Ptr) -> c_int {
    CAME.with_borrow_mut(|came| came.push(session));
    1
}

/// The newest session of one client.
#[derive(Debug)]
pub(super) struct Newest {
    api: &'static Api,
    pub(super) session: Option<Ptr>,
}

impl Newest {
    pub(super) fn new(api: &'static Api) -> Self {
        Self { api, session: None }
    }

    /// Takes what came; a client that got nothing new keeps the old one.
    pub(super) fn renew(&mut self) {
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
