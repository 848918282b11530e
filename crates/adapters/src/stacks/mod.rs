//! TLS stacks at run time: loaded by path, without headers, both ends of a connection in memory; what every
//! stack must be able to do, and what its primitives are called through. [`load`] finds the family by the
//! symbols that are exported; [`connect`] drives a handshake of any of them and times each end's calls apart.
//! Stacks that bring their own table of functions ([`contract::tls`]) have no family: they are here, too.

mod connection;
mod keys;
mod openssl;
pub mod reference;
mod wolfssl;

pub use connection::{Batch, Connection, Line, NoLine, Ticks, connect, establish, live_bytes};
use connection::{Pipe, Wire};
use contract::Identity;
use contract::loader::SharedObject;
use contract::tls::{Bytes, Entry, Says, Table, Wanted, end, resumption, status};
pub use keys::{Keys, PRIVATE, Secret, dh_parameters, keys, secrets};
pub use openssl::{Flow, Secured, Side, Sockets, Trust};
use record::tls::{Case, EndSays, Exchange, Group, Kind, Primitive, Seen};
use std::ffi::{c_char, c_void};
use std::path::Path;

/// Loads a stack. `crypto` is the file of its primitives, where that is another one; it is loaded first,
/// so that the stack is bound to it and to no other of its name.
pub fn load(path: &Path, crypto: Option<&Path>) -> Result<Box<dyn Stack>, String> {
    load_copy((path, path), crypto.map(|crypto| (crypto, crypto)))
}

/// The same of files that others are loaded in the place of: copies but for what a tier changes.
pub fn load_copy(
    file: (&Path, &Path),
    crypto: Option<(&Path, &Path)>,
) -> Result<Box<dyn Stack>, String> {
    let open = |(path, copy)| SharedObject::open_as(path, copy).map_err(|e| e.to_string());
    let crypto = crypto.map(open).transpose()?;
    let object = open(file)?;
    // First, because such an object may well export another's names.
    if object.defines(contract::tls::SYMBOL) {
        return Ok(Box::new(Attached::attach(&object)?));
    }
    // Then wolfSSL, because a build of it may have OpenSSL's names besides.
    if object.has("wolfSSL_CTX_new") {
        return Ok(Box::new(wolfssl::WolfSsl::attach(&object)?));
    }
    if object.has("SSL_CTX_new") {
        let crypto = crypto.as_ref().unwrap_or(&object);
        return Ok(Box::new(openssl::OpenSsl::attach(&object, crypto)?));
    }
    Err(format!("'{}' is no TLS stack that ciphermark knows", file.0.display()))
}

/// The use of private keys in a library that is loaded already: from its file, or from another that is mapped in its
/// place.
pub fn private_keys(
    file: &Path,
    mapped: &Path,
    scheme: record::tls::Scheme,
) -> Result<Box<dyn PrivateKeys>, Trouble> {
    let object = SharedObject::open_as(file, mapped).map_err(|e| Trouble::Failed(e.to_string()))?;
    // The loader answers for what an object depends on as well.
    if object.defines("EVP_CIPHER_CTX_new") {
        return openssl::private_keys(&object, scheme);
    }
    let why = format!("no function of '{}' is known for {scheme}", file.display());
    Err(Trouble::NotOffered(why))
}

/// The C string at the beginning of a buffer that a library has filled.
pub(crate) fn c_text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}

/// One test at a time: the heap that is weighed is the whole process's.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Client,
    Server,
}

impl End {
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    pub(crate) fn handshake(self) -> &'static str {
        match self {
            Self::Client => "the client's handshake",
            Self::Server => "the server's handshake",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Waits,
    Done,
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// The stack does not offer what was asked for, or the other end refuses it by an alert; in its own words, where it
    /// has any.
    #[error("{0}")]
    NotOffered(String),
    #[error("{0}")]
    Failed(String),
}

impl From<String> for Trouble {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

impl Trouble {
    pub(crate) fn missing(call: &str) -> Self {
        Self::NotOffered(format!("it does not export {call}"))
    }
}

/// A function that a library may lack, out of the table of its functions.
macro_rules! offered {
    ($functions:expr, $name:ident) => {
        $functions.$name.ok_or_else(|| $crate::stacks::Trouble::missing(stringify!($name)))
    };
}
use offered;

pub trait Stack {
    /// Who it is; none where the library under it is asked that, as every library is.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Loads keys and certificates for a case, at both ends.
    fn open(&self, case: &Case) -> Result<Box<dyn Bench>, Trouble>;

    /// What a server of TLS 1.3 picks, by the wire, for a client that offers groups, a key share of the first of them.
    /// The server's groups are those that are named, by colons, or else those that it has unset.
    fn pick(&self, _server: Option<&str>, _client: &str) -> Result<Seen, Trouble> {
        Err(Trouble::NotOffered("its groups cannot be left unset".to_owned()))
    }

    /// Makes one of the operations under a handshake ready.
    fn primitive(&self, primitive: &Primitive) -> Result<Box<dyn Workbench>, Trouble> {
        let why = format!("no function of this stack is known for {primitive}");
        Err(Trouble::NotOffered(why))
    }
}

/// Both ends of one case: connections are made and freed one after the other. What fails is told in the
/// stack's words.
///
/// The methods that [`connect`] calls inside the clock do nothing but call the stack.
pub trait Bench {
    fn wire(&mut self) -> &mut Wire;

    /// Makes an end's connection.
    fn begin(&mut self, end: End) -> Result<(), Trouble>;

    /// Carries an end's handshake on as far as what has come lets it.
    fn step(&mut self, end: End) -> Result<Step, Trouble>;

    /// Sends one byte of application data from the server.
    fn send_byte(&mut self) -> Result<(), Trouble> {
        self.send(b"!", 1)
    }

    /// Has the client read it, and what came before it.
    fn take_byte(&mut self) -> Result<(), Trouble> {
        let mut byte = [0];
        self.receive(&mut byte, 1)?;
        if byte == *b"!" {
            Ok(())
        } else {
            Err(Trouble::Failed("another byte was received than was sent".to_owned()))
        }
    }

    /// Sends records of application data from the server, `times` times the same bytes.
    fn send(&mut self, data: &[u8], times: u32) -> Result<(), Trouble>;

    /// Has the client receive as many records of `size` bytes as fill `into`.
    fn receive(&mut self, into: &mut [u8], size: usize) -> Result<(), Trouble>;

    fn says(&self, end: End) -> EndSays;

    /// Says goodbye and frees an end's connection.
    fn end(&mut self, end: End);

    /// Makes ready for the next connection: keeps the newest session, empties the wire.
    fn between(&mut self);
}

// What a library's primitives are called through, and where their results go.

/// What lies inside the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// From long-lived keys and what is on the wire to the result, as in a handshake.
    Whole,
    /// The library's one call alone, everything made before.
    Call,
}

/// One operation of one scheme, with everything that it needs. Errors are the library's words for the first call
/// that failed, and what is wrong with a result.
pub trait Workbench {
    /// Does the operation so many times. Inside the clock.
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble>;

    /// How many times a sample does it at least: more than once where one time tells little.
    fn least(&self) -> u32 {
        1
    }

    /// Before anything is timed: known answers, and that a changed bit is noticed.
    fn examine(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Holds what the last batch of each span left to what it must be, and forgets it.
    fn prove(&mut self) -> Result<(), String>;

    /// What [`Workbench::examine`] and [`Workbench::prove`] look at, in words.
    fn checks(&self) -> Vec<String>;
}

/// Private keys of one scheme, used one after the other.
pub trait PrivateKeys {
    /// Whether keys of ML-KEM are read as seeds only ([`secrets`]).
    fn takes_seeds(&self) -> bool {
        false
    }

    /// Reads a key in the place of the one before, and makes all ready for its use.
    fn read(&mut self, secret: &Secret) -> Result<(), Trouble>;

    fn call(&mut self) -> Result<(), Trouble>;

    fn result(&self) -> &[u8];

    fn prove(&self, secret: &Secret) -> Result<(), String>;

    /// Has the library draw random numbers, so that the next ones are others.
    fn stir(&mut self);
}

/// An operation that was made ready.
pub(crate) type Made = Result<Box<dyn Workbench>, Trouble>;

/// Keys, messages and peers that an operation takes in turn, so that a result that is kept from one time to
/// the next is found out.
pub(crate) const POOL: usize = 8;
/// Results of a batch that are kept: its last ones. A multiple of the pool, so that each slot is of one
/// member.
const SLOTS: usize = 8 * POOL;

#[derive(Debug, Default)]
pub(crate) struct Slots {
    bytes: Vec<u8>,
    lengths: Vec<usize>,
    width: usize,
}

impl Slots {
    fn new(width: usize) -> Self {
        Self { bytes: vec![0; width * SLOTS], lengths: vec![0; SLOTS], width }
    }

    #[inline]
    pub(crate) fn of(&mut self, turn: usize) -> (&mut [u8], &mut usize) {
        let at = turn % SLOTS;
        (&mut self.bytes[at * self.width..][..self.width], &mut self.lengths[at])
    }

    fn at(&self, turn: usize) -> &[u8] {
        let at = turn % SLOTS;
        &self.bytes[at * self.width..][..self.lengths[at].min(self.width)]
    }

    fn written(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let slots = self.bytes.chunks_exact(self.width).zip(&self.lengths).enumerate();
        let written = slots.filter(|(_, (_, length))| **length > 0);
        written.map(|(at, (slot, length))| (at % POOL, &slot[..(*length).min(slot.len())]))
    }

    fn clear(&mut self) {
        self.bytes.fill(0);
        self.lengths.fill(0);
    }
}

/// Results of both spans.
#[derive(Debug)]
pub(crate) struct Results(pub(crate) [Slots; 2]);

impl Results {
    /// With room for so many bytes each.
    pub(crate) fn new(width: usize) -> Self {
        Self([Slots::new(width), Slots::new(width)])
    }

    /// Where a turn's result goes: its place, with its length, which is to be set.
    #[inline]
    pub(crate) fn of(&mut self, span: Span, turn: usize) -> (&mut [u8], &mut usize) {
        self.0[span as usize].of(turn)
    }

    pub(crate) fn at(&self, span: Span, turn: usize) -> &[u8] {
        self.0[span as usize].at(turn)
    }

    /// What was written, each with the member of the pool that it is of.
    fn written(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.0.iter().flat_map(Slots::written)
    }

    /// Whether no two are the same, by a part of each.
    pub(crate) fn differ(&self, part: impl Fn(&[u8]) -> &[u8]) -> bool {
        let mut all: Vec<&[u8]> = self.written().map(|(_, result)| part(result)).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        all.len() == count
    }

    /// Holds every result to what its member of the pool must give.
    pub(crate) fn are(
        &self,
        right: impl Fn(usize, &[u8]) -> bool,
        wrong: &str,
    ) -> Result<(), String> {
        let is_right = self.written().all(|(member, result)| right(member, result));
        if is_right { Ok(()) } else { Err(wrong.to_owned()) }
    }

    /// Forgets everything: what an earlier batch left must not pass for what comes next.
    pub(crate) fn clear(&mut self) {
        self.0.iter_mut().for_each(Slots::clear);
    }
}

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
            contract::text(of()).unwrap_or_default()
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
    let Keys { chain, key, root, .. } = keys(case.certificate);
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

#[cfg(test)]
mod tests {
    use super::{Line, Stack, Trouble, connect, load, *};
    use probe::Clock;
    use record::tls::{
        Case, Certificate, Exchange, Filter, Kind, LARGEST_RECORD, Protection, Suite, Version,
    };
    use std::path::{Path, PathBuf};
    use std::sync::MutexGuard;

    /// A system's library, where there is one: the tests need no other.
    pub(crate) fn system(name: &str) -> Option<PathBuf> {
        let place = Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH));
        Some(place.join(name)).filter(|path| path.is_file())
    }

    /// A stack, and the right to be the only test that is under way.
    pub(crate) type Alone = (Box<dyn Stack>, MutexGuard<'static, ()>);

    pub(crate) fn openssl() -> Option<Alone> {
        let (Some(ssl), Some(crypto)) = (system("libssl.so.3"), system("libcrypto.so.3")) else {
            eprintln!("left out: there is no libssl.so.3");
            return None;
        };
        let alone = super::alone();
        Some((load(&ssl, Some(&crypto)).unwrap(), alone))
    }

    /// The system's libwolfssl, or the one that `CIPHERMARK_TEST_WOLFSSL` names.
    fn wolfssl() -> Option<Alone> {
        let named = std::env::var_os("CIPHERMARK_TEST_WOLFSSL").map(PathBuf::from);
        let Some(path) = named.or_else(|| system("libwolfssl.so.35")) else {
            eprintln!(
                "left out: there is no libwolfssl.so.35, and CIPHERMARK_TEST_WOLFSSL is not set"
            );
            return None;
        };
        let alone = super::alone();
        Some((load(&path, None).unwrap(), alone))
    }

    /// Primes a resumption with a full handshake, then connects twice, and holds all to what was asked.
    fn connected(stack: &dyn Stack, case: &Case) -> Result<record::tls::Negotiated, Trouble> {
        let clock = Clock::calibrate();
        let mut bench = stack.open(case)?;
        if case.kind.is_resumed() {
            let full = Case { kind: Kind::Full, ..*case };
            let first = connect(&mut *bench, &full, &clock, false, &mut || {})?;
            first.negotiated.map_err(|m| Trouble::Failed(m.why))?;
        }
        let first = connect(&mut *bench, case, &clock, false, &mut || {})?;
        let again = connect(&mut *bench, case, &clock, false, &mut || {})?;
        assert_eq!(first.negotiated, again.negotiated, "{case}");
        assert!(first.client_bytes > 100 && first.server_bytes > 100, "{case}: {first:?}");
        assert!(
            first.ticks.server > first.ticks.server_setup && first.ticks.client > 0,
            "{first:?}"
        );
        again.negotiated.map_err(|m| Trouble::NotOffered(m.why))
    }

    /// What a stack offers is what was asked for; what it may lack, it refuses in words that begin so.
    fn negotiates(stack: &dyn Stack, cases: &[Case], may_lack: &[Exchange], refusal: &str) {
        for case in cases {
            match connected(stack, case) {
                Ok(negotiated) => {
                    assert_eq!(negotiated.resumed, case.kind.is_resumed(), "{case}");
                    assert_eq!(negotiated.client_auth, case.client_auth, "{case}");
                    assert_eq!(negotiated.group, group(case), "{case}");
                }
                Err(trouble) => {
                    assert!(may_lack.contains(&case.exchange), "{case}: {trouble}");
                    assert!(trouble.to_string().starts_with(refusal), "{case}: {trouble}");
                }
            }
        }
    }

    /// Records of every suite come out as they went in.
    fn transfers(stack: &dyn Stack, sizes: &[usize]) {
        let clock = Clock::calibrate();
        for protection in Protection::all(&[], &[]) {
            for size in sizes {
                let mut line = Line::open(stack, protection, *size, &clock).unwrap();
                assert_eq!(line.negotiated().suite, protection.case().code().unwrap().openssl);
                let batch = line.batch(&clock).unwrap();
                assert!(batch.send > 0 && batch.receive > 0, "{protection} {size}: {batch:?}");
                assert!((21..100).contains(&line.overhead()), "{protection}: {}", line.overhead());
            }
        }
    }

    #[test]
    fn every_case_of_the_matrix_is_what_was_asked_or_is_told_why_not() {
        let Some((stack, _alone)) = openssl() else { return };
        // OpenSSL 3.0 to 3.4 have no ML-KEM.
        negotiates(
            &*stack,
            &record::tls::matrix(&Filter::default()),
            &[Exchange::X25519Mlkem768],
            "",
        );
    }

    /// A resumption of TLS 1.2 repeats no key exchange.
    fn group(case: &Case) -> Option<String> {
        let none = matches!(case.kind, Kind::ResumedId | Kind::ResumedTicket);
        case.exchange.group().filter(|_| !none).map(|g| g.to_string())
    }

    #[test]
    fn every_suite_is_the_one_that_was_asked_for() {
        let Some((stack, _alone)) = openssl() else { return };
        for suite in Suite::ALL {
            for version in Version::ALL {
                let certificate = Certificate::P256;
                let case = Case {
                    suite: *suite,
                    ..Case::usual(*version, Exchange::X25519, certificate, Kind::Full)
                };
                if case.exists() {
                    let negotiated = connected(&*stack, &case).unwrap();
                    assert_eq!(negotiated.suite, case.code().unwrap().openssl);
                }
            }
        }
    }

    #[test]
    fn records_of_every_suite_and_size_come_out_as_they_went_in() {
        let Some((stack, _alone)) = openssl() else { return };
        transfers(&*stack, &[1, 64, 1400, LARGEST_RECORD]);
    }

    /// Of TLS 1.3 with AES-128-GCM: 5 bytes of header, 1 of content type, 16 of tag (RFC 8446 5.2).
    #[test]
    fn the_bytes_around_the_data_are_those_of_the_standard() {
        let Some((stack, _alone)) = openssl() else { return };
        let protection = Protection { version: Version::Tls13, suite: Suite::Aes128Gcm };
        let line = Line::open(&*stack, protection, 1000, &Clock::calibrate()).unwrap();
        assert_eq!((line.overhead(), line.records()), (22, 32));
        let protection = Protection { version: Version::Tls12, suite: Suite::Aes128Gcm };
        let line = Line::open(&*stack, protection, LARGEST_RECORD, &Clock::calibrate()).unwrap();
        // The nonce's explicit part in the place of the content type (RFC 5288 3).
        assert_eq!((line.overhead(), line.records()), (29, 4));
    }

    /// A handshake for a resumption whose session was never shown is no resumption.
    #[test]
    fn a_full_handshake_does_not_pass_for_a_resumption() {
        let Some((stack, _alone)) = openssl() else { return };
        let resumed =
            Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::ResumedPsk);
        let mut bench = stack.open(&resumed).unwrap();
        let clock = Clock::calibrate();
        let first = connect(&mut *bench, &resumed, &clock, false, &mut || {}).unwrap();
        let why = first.negotiated.unwrap_err().why;
        assert_eq!(why, "handshake: resumed was asked for, and full negotiated");
        let second = connect(&mut *bench, &resumed, &clock, false, &mut || {}).unwrap();
        assert!(second.negotiated.unwrap().resumed);
    }

    #[test]
    fn a_file_that_is_no_stack_is_named() {
        let _alone = super::alone();
        let Err(e) = load(Path::new("/nowhere/libssl.so"), None) else { panic!("loaded") };
        assert!(e.contains("'/nowhere/libssl.so'"), "{e}");
        let Some(crypto) = system("libcrypto.so.3") else { return };
        let Err(e) = load(&crypto, None) else { panic!("loaded") };
        assert!(e.contains("no TLS stack"), "{e}");
    }

    /// What is slow or said elsewhere already: large fields, which wolfSSL's client tests for primes.
    fn is_quick(case: &Case) -> bool {
        let by_field = case.exchange.is_finite_field();
        !by_field
            || (case.exchange == Exchange::OwnDh2048 && case.certificate == Certificate::Rsa2048)
    }

    #[test]
    fn wolfssl_negotiates_what_it_is_asked_for_or_says_why_not() {
        let Some((stack, _alone)) = wolfssl() else { return };
        let mut cases = record::tls::matrix(&Filter::default());
        cases.retain(is_quick);
        // Older ones have no ML-KEM and no ML-DSA; static RSA is off unless it is asked for in the build.
        let may_lack = [Exchange::X25519Mlkem768, Exchange::Rsa];
        negotiates(&*stack, &cases, &may_lack, "wolfSSL_CTX_");
    }

    #[test]
    fn wolfssls_records_come_out_as_they_went_in() {
        let Some((stack, _alone)) = wolfssl() else { return };
        transfers(&*stack, &[1, 1400, LARGEST_RECORD]);
    }

    #[test]
    fn the_last_results_are_kept_each_with_its_member_until_they_are_forgotten() {
        let mut slots = Slots::new(4);
        for turn in 0..SLOTS + 3 {
            let (place, length) = slots.of(turn);
            place[..2].fill(turn as u8);
            *length = 2;
        }
        let kept: Vec<(usize, &[u8])> = slots.written().collect();
        assert_eq!(kept.len(), SLOTS);
        assert_eq!(kept[0], (0, &[SLOTS as u8; 2][..]));
        assert!(kept.iter().all(|(member, bytes)| usize::from(bytes[0]) % POOL == *member));
        slots.clear();
        assert_eq!(slots.written().count(), 0);
    }
}
