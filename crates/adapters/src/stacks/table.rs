//! Stacks that bring their own table of functions ([`contract::tls`]).

use crate::stacks::connection::{Pipe, Wire};
use crate::stacks::keys::{Keys, dh_parameters, keys};
use crate::stacks::{Bench, End, Identity, Stack, Step, Trouble, c_text};
use contract::loader::SharedObject;
use contract::tls::{Bytes, Entry, Says, Table, Wanted, end, resumption, status};
use record::tls::{Case, EndSays, Exchange, Group, Kind};
use std::ffi::{CStr, c_char, c_void};

/// A loaded table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attached(&'static Table);

/// The server's name in all certificates.
const NAME: &str = "localhost";
/// Room for words, with the zero behind them.
const ROOM: usize = 512;

impl Attached {
    pub(crate) fn attach(object: &SharedObject) -> Result<Self, String> {
        // SAFETY: the contract gives the symbol this type.
        let entry = unsafe { object.exported::<Entry>(contract::tls::SYMBOL)? };
        // SAFETY: takes nothing, and returns what lives for ever.
        let table = unsafe { entry().as_ref() };
        table.map(Self).ok_or_else(|| format!("`{}` returned nothing", contract::tls::SYMBOL))
    }
}

impl Stack for Attached {
    fn identity(&self) -> Option<Identity> {
        let Table { library, version, build, .. } = self.0;
        // SAFETY: C strings that live for ever, as the contract has it.
        let text = |of: &unsafe extern "C" fn() -> *const c_char| unsafe {
            let text = of();
            let text = if text.is_null() { c"" } else { CStr::from_ptr(text) };
            text.to_string_lossy().into_owned()
        };
        let build = text(build).lines().map(ToOwned::to_owned).collect();
        Some(Identity { name: text(library), version: text(version), build })
    }

    fn open(&self, case: &Case) -> Result<Box<dyn Bench>, Trouble> {
        let wire = Wire::new();
        let pipe =
            |which: End| contract::tls::Pipe { context: wire.pipe(which).cast(), read, write };
        let pipes = [pipe(End::Client), pipe(End::Server)];
        let wanted = wanted(case)?;
        let mut session = std::ptr::null_mut();
        let mut words = [0; ROOM];
        // SAFETY: all of them are live during the call, and the pipes as long as the session: the wire's
        // parts do not move.
        let outcome = unsafe {
            let into = words.as_mut_ptr().cast();
            (self.0.open)(&raw const wanted, pipes.as_ptr(), &raw mut session, into, ROOM)
        };
        match outcome {
            status::DONE => Ok(Box::new(Connections { table: self.0, session, wire })),
            status::NOT_OFFERED => Err(Trouble::NotOffered(read_words(&words))),
            _ => Err(Trouble::Failed(read_words(&words))),
        }
    }
}

/// One end's reading: [`contract::tls::Pipe::read`].
unsafe extern "C" fn read(context: *mut c_void, into: *mut u8, wanted: usize) -> usize {
    // SAFETY: the context is a pipe of a live wire, whose buffers nothing else refers to during the call;
    // the stack vouches for its bytes.
    unsafe { (*context.cast::<Pipe>()).take(into, wanted) }
}

/// One end's writing: [`contract::tls::Pipe::write`].
unsafe extern "C" fn write(context: *mut c_void, from: *const u8, length: usize) {
    // SAFETY: as in `read`.
    unsafe { (*context.cast::<Pipe>()).put(from, length) };
}

fn wanted(case: &Case) -> Result<Wanted, Trouble> {
    let no_suite = || Trouble::NotOffered("there is no such suite".to_owned());
    let Keys { chain, key, root } = keys(case.certificate);
    let group = case.exchange.group().and_then(Group::number).unwrap_or(0);
    let bytes = |text: &'static str| Bytes { first: text.as_ptr(), length: text.len() };
    Ok(Wanted {
        version: case.version.number(),
        suite: case.code().ok_or_else(no_suite)?.number,
        group,
        guess: match case.kind {
            Kind::HelloRetry => Exchange::X25519.group().and_then(Group::number).unwrap_or(group),
            _ => group,
        },
        signature: case.certificate.signature().0,
        resumption: match case.kind {
            Kind::Full | Kind::HelloRetry => resumption::NONE,
            Kind::ResumedId => resumption::ID,
            Kind::ResumedTicket => resumption::TICKET,
            Kind::ResumedPsk => resumption::PSK,
        },
        client_auth: i32::from(case.client_auth),
        name: bytes(NAME),
        chain: bytes(chain),
        key: bytes(key),
        root: bytes(root),
        field: bytes(dh_parameters(case.exchange).unwrap_or_default()),
    })
}

/// A stack's words on one line.
fn read_words(words: &[u8]) -> String {
    c_text(words).replace('\n', " ")
}

/// Both ends of one case.
struct Connections {
    table: &'static Table,
    session: *mut c_void,
    wire: Wire,
}

fn number(of: End) -> i32 {
    match of {
        End::Client => end::CLIENT,
        End::Server => end::SERVER,
    }
}

impl Connections {
    fn done(&self, call: &str, outcome: i32) -> Result<(), Trouble> {
        if outcome == status::DONE { Ok(()) } else { Err(self.failed(call)) }
    }

    #[cold]
    fn failed(&self, call: &str) -> Trouble {
        let mut words = [0; ROOM];
        // SAFETY: the session is live; so many bytes are writable.
        unsafe { (self.table.words)(self.session, words.as_mut_ptr().cast(), ROOM) };
        Trouble::Failed(format!("{call}: {}", read_words(&words)))
    }
}

impl Bench for Connections {
    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn begin(&mut self, end: End) -> Result<(), Trouble> {
        // SAFETY: the session is live.
        let outcome = unsafe { (self.table.begin)(self.session, number(end)) };
        self.done("making a connection", outcome)
    }

    fn step(&mut self, end: End) -> Result<Step, Trouble> {
        // SAFETY: the session is live, and has the end's connection.
        match unsafe { (self.table.step)(self.session, number(end)) } {
            status::DONE => Ok(Step::Done),
            status::WAITS => Ok(Step::Waits),
            _ => Err(self.failed(end.handshake())),
        }
    }

    fn send(&mut self, data: &[u8], times: u32) -> Result<(), Trouble> {
        let Table { send, .. } = self.table;
        // SAFETY: the session is live; as many bytes are readable as is said.
        let outcome = unsafe { send(self.session, data.as_ptr(), data.len(), times) };
        self.done("sending", outcome)
    }

    fn receive(&mut self, into: &mut [u8], size: usize) -> Result<(), Trouble> {
        let Table { receive, .. } = self.table;
        // SAFETY: the session is live; as many bytes are writable as is said.
        let outcome = unsafe { receive(self.session, into.as_mut_ptr(), into.len(), size) };
        self.done("receiving", outcome)
    }

    fn says(&self, end: End) -> EndSays {
        let mut says = Says::default();
        // SAFETY: the session is live.
        unsafe { (self.table.says)(self.session, number(end), &raw mut says) };
        let told = |number: u16| Some(number).filter(|number| *number != 0);
        let of_server = end == End::Server;
        EndSays {
            version: says.version,
            suite: told(says.suite),
            reused: says.reused == 1,
            group: told(says.group),
            signature: told(says.signature).filter(|_| !of_server),
            peer_proved: (of_server && says.peer_proved >= 0).then_some(says.peer_proved == 1),
        }
    }

    fn end(&mut self, end: End) {
        // SAFETY: the session is live.
        unsafe { (self.table.end)(self.session, number(end)) };
    }

    fn between(&mut self) {
        self.wire.clear();
        // SAFETY: the session is live.
        unsafe { (self.table.between)(self.session) };
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        // SAFETY: the session is live, and freed once; the wire is freed after it.
        unsafe { (self.table.close)(self.session) };
    }
}
