//! Languages' runtimes: Go, Node, Python, Java. Their code runs in a process of its own, a small program in
//! the language (`runtimes/` of the source), which the worker asks over pipes: attaching it, its sessions,
//! the pipes; and the programs: which runtimes there are, what each needs on the machine, and how its program
//! is made ready. Java's has classes, and the jars of providers that the JDK does not bring.
//! `runtime/README.md` has the protocol.

use crate::family::has_direction;
use base::model::{Algorithm, Direction, version_numbers};
use contract::loader::LoadError;
use contract::{
    Identity, Library, OpenError, Operations, Placed, Ran, Remote, Session, Table, Turn, raw,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, OsString};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufReader, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Done, and what was asked for.
const DONE: u8 = 0;
/// Not offered, with the reason.
const UNSUPPORTED: u8 = 2;

struct Runtime {
    identity: Identity,
    process: u32,
    compiles: bool,
    allocates: bool,
    link: Arc<Mutex<Link>>,
}

/// Starts a runtime's program, in a process that `confine` sees to before, and asks who it is. `name` is what to call it.
pub fn attach(
    program: &Program,
    name: &str,
    confine: &mut dyn FnMut(&mut Command) -> Result<(), String>,
) -> Result<Box<dyn Library>, LoadError> {
    let unusable = |why| LoadError::Unusable { path: PathBuf::from(name), why };
    let mut command = program.command();
    confine(&mut command).map_err(unusable)?;
    let mut link = Link::start(command, name).map_err(unusable)?;
    let (status, told) = link.try_ask(b"H").map_err(unusable)?;
    if status != DONE {
        return Err(unusable("its program does not say who it is".to_owned()));
    }
    let told = String::from_utf8_lossy(&told).into_owned();
    let of = |word: &str| -> Vec<String> {
        told.lines().filter_map(|l| Some(l.strip_prefix(word)?.trim().to_owned())).collect()
    };
    let mut build = of("build ");
    build.extend(program.facts.iter().cloned());
    let version = of("version ").pop().unwrap_or_default();
    let identity = Identity { name: name.to_owned(), version, build };
    let compiles = told.lines().any(|line| line == "jit");
    let (process, allocates) = (link.process(), program.allocates);
    let link = Arc::new(Mutex::new(link));
    Ok(Box::new(Runtime { identity, process, compiles, allocates, link }))
}

impl Library for Runtime {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn one_thread_only(&self) -> Option<&str> {
        Some("a runtime's program works in one thread")
    }

    fn process(&self) -> Option<u32> {
        Some(self.process)
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        has_direction(algorithm, direction)?;
        if !algorithm.reads_input() {
            // There is nothing behind the input's pointer.
            let why =
                format!("a runtime's program is asked for messages alone, not for {algorithm}");
            return Err(OpenError::Unsupported(why));
        }
        open_session(self, algorithm, direction, key)
    }
}

// A session in a runtime's process.

#[derive(Debug)]
struct State {
    link: Arc<Mutex<Link>>,
    number: u32,
    algorithm: &'static Algorithm,
    direction: Direction,
}

#[derive(Debug)]
struct Batches {
    link: Arc<Mutex<Link>>,
    number: u32,
    process: u32,
    compiles: bool,
}

fn open_session(
    runtime: &Runtime,
    algorithm: &'static Algorithm,
    direction: Direction,
    key: &[u8],
) -> Result<Session, OpenError> {
    let byte = |len: usize| u8::try_from(len).map_err(|e| OpenError::Failed(e.to_string()));
    let mut link = locked(&runtime.link);
    let number = link.take_number();
    let mut request = request(b'O', number);
    request.push(raw::direction_number(direction) as u8);
    request.extend([byte(algorithm.tag_len)?, byte(algorithm.nonce_len)?]);
    request.push(byte(algorithm.name.len())?);
    request.extend(algorithm.name.as_bytes());
    request.extend(key);
    let (status, told) = link.ask(&request);
    let told = String::from_utf8_lossy(&told).into_owned();
    if status != DONE {
        link.give_number_back(number);
        let kind = if status == UNSUPPORTED { OpenError::Unsupported } else { OpenError::Failed };
        return Err(kind(told));
    }
    drop(link);
    let state = State { link: Arc::clone(&runtime.link), number, algorithm, direction };
    let flags = if runtime.allocates { raw::ALLOCATES } else { 0 };
    let table = Table::new(state, flags, kept(&told)).raw();
    let (link, process, compiles) = (Arc::clone(&runtime.link), runtime.process, runtime.compiles);
    let batches = Batches { link, number, process, compiles };
    // SAFETY: the functions are those of `State`, which read and write the lengths of the algorithm.
    let session = unsafe { Session::new(table, algorithm, direction) };
    Ok(session.with_remote(Box::new(batches)))
}

fn locked(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A text that lives as long as the program, once for all sessions that have it.
fn kept(text: &str) -> &'static CStr {
    static KEPT: Mutex<BTreeMap<String, &'static CStr>> = Mutex::new(BTreeMap::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(text) {
        return known;
    }
    let made: &'static CStr = Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str());
    all.insert(text.to_owned(), made);
    made
}

fn request(what: u8, number: u32) -> Vec<u8> {
    let mut request = vec![what];
    request.extend(number.to_le_bytes());
    request
}

fn number(len: usize) -> [u8; 4] {
    u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes()
}

impl Operations for State {
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        let (nonce_len, tag_len) = (self.algorithm.nonce_len, self.algorithm.tag_len);
        let decrypts = self.direction == Direction::Decrypt;
        let mut request = request(b'M', self.number);
        request.extend(number(m.aad_len));
        request.extend(number(m.len));
        // SAFETY: the caller's message: every pointer covers its length, and a length of none needs no pointer.
        unsafe {
            request.extend(bytes(m.nonce, nonce_len));
            request.extend(bytes(m.aad, m.aad_len));
            request.extend(bytes(m.input, m.len));
            request.extend(bytes(m.tag, tag_len));
        }
        let (status, reply) = locked(&self.link).ask(&request);
        if status != DONE {
            // Whatever else went wrong is the library's error; its words go to standard error.
            if status != raw::REJECTED as u8 {
                eprintln!("{}: {}", self.algorithm, String::from_utf8_lossy(&reply));
                return raw::FAILED + 1;
            }
            return raw::REJECTED;
        }
        let output_len = if self.direction == Direction::Digest { 0 } else { m.len };
        let written_tag = if decrypts { 0 } else { tag_len };
        if reply.len() != output_len + written_tag {
            eprintln!("{}: {} bytes for a message of {}", self.algorithm, reply.len(), m.len);
            return raw::FAILED + 1;
        }
        // SAFETY: as above; the lengths were compared.
        unsafe {
            copy(&reply[..output_len], m.output);
            copy(&reply[output_len..], m.tag);
        }
        raw::OK
    }
}

/// # Safety
/// The pointer covers the length.
unsafe fn bytes<'a>(pointer: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(pointer, len) }
}

/// # Safety
/// The pointer covers as many bytes.
unsafe fn copy(from: &[u8], to: *mut u8) {
    if !from.is_empty() {
        // SAFETY: the caller's promise; what was read from a pipe overlaps with nothing.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
    }
}

impl Drop for State {
    fn drop(&mut self) {
        locked(&self.link).give_number_back(self.number);
    }
}

impl Batches {
    fn ask(&self, request: &[u8]) -> Vec<u8> {
        locked(&self.link).ask(request).1
    }
}

impl Remote for Batches {
    fn place(&mut self, placed: &Placed<'_>) -> u64 {
        let mut request = request(b'P', self.number);
        let count = placed.inputs.len() / placed.size.max(1);
        for len in [placed.size, count, placed.places] {
            request.extend(number(len));
        }
        request.extend([u8::from(placed.fresh), placed.expected as u8]);
        request.extend(number(placed.aad.len()));
        request.extend(placed.aad);
        request.extend(placed.inputs);
        Told(&self.ask(&request)).u64()
    }

    fn run(&mut self, turn: &Turn<'_>) -> Ran {
        let mut request = request(b'R', self.number);
        request.extend(number(turn.at));
        request.extend(turn.ops.to_le_bytes());
        request.extend(turn.poison.map_or(u32::MAX, u32::from).to_le_bytes());
        request.extend(turn.nonces);
        request.extend(turn.tags);
        let reply = self.ask(&request);
        let mut told = Told(&reply);
        let ns = told.u64() as f64;
        let codes = told.i32();
        let allocated = Some(told.u64()).filter(|bytes| *bytes != u64::MAX).map(|b| b as f64);
        let (collecting, in_all) = (told.u64() as f64, told.u64() as f64);
        let of_a_byte = if in_all > 0.0 { collecting / in_all } else { 0.0 };
        let collecting_ns = allocated.map_or(0.0, |bytes| bytes * of_a_byte);
        Ran { codes, ns, collecting_ns, allocated }
    }

    fn written(&mut self) -> Vec<u8> {
        self.ask(&request(b'G', self.number))
    }

    fn compiles(&self) -> bool {
        self.compiles
    }

    fn cpu_ns(&self) -> f64 {
        cpu_ns(self.process).unwrap_or_default()
    }
}

/// Numbers of a reply, zeros behind its end.
struct Told<'a>(&'a [u8]);

impl Told<'_> {
    fn u64(&mut self) -> u64 {
        let (head, rest) = self.0.split_first_chunk().unwrap_or((&[0; 8], &[]));
        self.0 = rest;
        u64::from_le_bytes(*head)
    }

    fn i32(&mut self) -> i32 {
        let (head, rest) = self.0.split_first_chunk().unwrap_or((&[0; 4], &[]));
        self.0 = rest;
        i32::from_le_bytes(*head)
    }
}

/// Processor time of another process, all its threads together, in nanoseconds.
fn cpu_ns(process: u32) -> Option<f64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both pointers are to values of the types that are written.
    let read = unsafe {
        libc::clock_getcpuclockid(process.cast_signed(), &raw mut clock) == 0
            && libc::clock_gettime(clock, &raw mut time) == 0
    };
    read.then_some(time.tv_sec as f64 * 1e9 + time.tv_nsec as f64)
}

// The pipes to a runtime's process: requests and replies, each with its length before it.

/// Longest reply that is taken: sixteen outputs of the largest message, with room to spare.
const MOST_BYTES: usize = 512 << 20;

/// A runtime's process. It ends when its standard input does.
#[derive(Debug)]
struct Link {
    name: String,
    process: u32,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
    child: Child,
    /// Numbers of sessions that are open there.
    open: BTreeSet<u32>,
}

impl Link {
    fn start(mut command: Command, name: &str) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|e| format!("'{program}' does not start: {e}"))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(requests), Some(replies)) = pipes else {
            return Err(format!("'{program}' has no pipes"));
        };
        let (process, replies) = (child.id(), BufReader::with_capacity(1 << 16, replies));
        let (name, open) = (name.to_owned(), BTreeSet::new());
        Ok(Self { name, process, requests, replies, child, open })
    }

    fn process(&self) -> u32 {
        self.process
    }

    /// The least number that no open session has. The process of a visit ends without closing its own, and the next one
    /// gives the number away again: what was there before is then dropped.
    fn take_number(&mut self) -> u32 {
        let number = (0..).find(|n| !self.open.contains(n)).unwrap_or_default();
        self.open.insert(number);
        number
    }

    fn give_number_back(&mut self, number: u32) {
        self.open.remove(&number);
    }

    /// Status and content of the reply.
    fn try_ask(&mut self, request: &[u8]) -> Result<(u8, Vec<u8>), String> {
        let len = u32::try_from(request.len()).map_err(|e| e.to_string())?;
        let mut whole = Vec::with_capacity(4 + request.len());
        whole.extend_from_slice(&len.to_le_bytes());
        whole.extend_from_slice(request);
        self.requests.write_all(&whole).map_err(|_| self.ended())?;
        let mut head = [0; 5];
        self.replies.read_exact(&mut head).map_err(|_| self.ended())?;
        let [a, b, c, d, status] = head;
        let len = u32::from_le_bytes([a, b, c, d]) as usize;
        if len == 0 || len > MOST_BYTES {
            return Err(format!("{}'s process answered out of protocol", self.name));
        }
        let mut reply = vec![0; len - 1];
        self.replies.read_exact(&mut reply).map_err(|_| self.ended())?;
        Ok((status, reply))
    }

    /// Why there is no reply: with which status the process ended, and its last words.
    fn ended(&mut self) -> String {
        // Its pipes close a moment before its status can be asked for.
        let mut status = None;
        for _ in 0..20 {
            status = self.child.try_wait().ok().flatten();
            if status.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let how = status.map_or_else(
            || "'s process closed its pipes".to_owned(),
            |status| format!("'s process ended ({status})"),
        );
        format!("{}{how}{}", self.name, last_words())
    }

    /// The same. Where there is no reply, this process ends with the reason as its last words, as it would if the library
    /// had been in it.
    fn ask(&mut self, request: &[u8]) -> (u8, Vec<u8>) {
        match self.try_ask(request) {
            Ok(reply) => reply,
            Err(why) => {
                eprintln!("{why}");
                std::process::exit(RUNTIME_ENDED);
            }
        }
    }
}

/// What the runtime printed last before it ended, without the lines of a trace: standard error is a file that both write.
fn last_words() -> String {
    // A pipe or terminal, as in a test, would be waited for.
    const ERRORS: &str = "/proc/self/fd/2";
    if !std::fs::metadata(ERRORS).is_ok_and(|file| file.is_file()) {
        return String::new();
    }
    let printed = std::fs::read(ERRORS).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let mut lines = printed.lines().rev().filter(|line| !line.trim().is_empty());
    lines.find(|l| !l.starts_with([' ', '\t'])).map(|l| format!(": {l}")).unwrap_or_default()
}

/// The exit code of a process whose runtime's has ended (`EX_UNAVAILABLE` of sysexits.h).
pub const RUNTIME_ENDED: i32 = 69;

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where programs are made ready, and where the user's own libraries are.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// A directory for what is compiled; none when nothing may be kept.
    pub cache: Option<PathBuf>,
    /// Directories that jars of Java's providers may lie in.
    pub libraries: Vec<PathBuf>,
    /// The environment of compilers. What it says of how to compile is part of a program's name in the cache.
    pub environment: Vec<(OsString, OsString)>,
}

/// Variables that change what compilers make of the same sources.
pub(crate) const COMPILING: [&str; 10] = [
    "GOAMD64",
    "GOARM64",
    "GOFLAGS",
    "GOEXPERIMENT",
    "GOFIPS140",
    "GOROOT",
    "CGO_ENABLED",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
];

impl Places {
    /// A compiler that gets this environment and no other.
    pub(crate) fn compiler(&self, tool: &Path) -> Command {
        let mut command = Command::new(tool);
        command.env_clear().envs(self.environment.iter().cloned());
        // `go env -w` writes a file that would decide, too.
        command.env("GOENV", "off");
        command
    }

    /// What the environment says of how to compile.
    fn compiling(&self) -> String {
        let of = |name: &&str| self.environment.iter().find(|(own, _)| own == *name);
        let set = COMPILING.iter().filter_map(of);
        set.map(|(name, value)| format!("{}={}\n", name.display(), value.display())).collect()
    }
}

/// What counts allocations in the worker, by the beginning of its file's name.
const METER: &str = "libciphermarkmeter";

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub tool: PathBuf,
    /// What tells one build of it from another, beside what it says of itself: the file's own content.
    pub sources: String,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// Facts that the program does not tell.
    pub(crate) facts: Vec<String>,
    /// Whether each message's result is new memory.
    pub(crate) allocates: bool,
    /// The one directory that the process may write to, if any.
    pub writes: Option<PathBuf>,
}

impl Program {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.tool);
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        // The meter counts what C allocates in the worker, and is none of the runtime's.
        if let Some(list) = std::env::var_os("LD_PRELOAD") {
            let list = list.to_string_lossy();
            let rest: Vec<&str> = list.split([':', ' ']).filter(|o| !o.contains(METER)).collect();
            command.env("LD_PRELOAD", rest.join(":"));
        }
        command
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Go,
    Node,
    Python,
    Java,
}

/// A runtime with one provider of cryptography: its name, its language, and the word for the program.
const KNOWN: [(&str, Language, &str); 10] = [
    ("go", Language::Go, ""),
    ("java-sunjce", Language::Java, "sunjce"),
    ("java-bc", Language::Java, "bc"),
    ("java-accp", Language::Java, "accp"),
    ("java-conscrypt", Language::Java, "conscrypt"),
    ("node", Language::Node, "crypto"),
    ("node-webcrypto", Language::Node, "webcrypto"),
    ("python-cryptography", Language::Python, "cryptography"),
    ("python-hashlib", Language::Python, "hashlib"),
    ("python-pycryptodome", Language::Python, "pycryptodome"),
];

pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, ..)| *name)
}

type Source = (&'static str, &'static str);

macro_rules! sources {
    ($($file:literal),+) => {
        &[$(($file, include_str!(concat!("../../../runtimes/", $file)))),+]
    };
}

const GO: &[Source] = sources!["go/main.go", "go/algorithms.go"];
const NODE: &[Source] = sources!["node/main.js", "node/algorithms.js"];
const PYTHON: &[Source] = sources!["python/main.py", "python/algorithms.py"];
const JAVA: &[Source] = sources!["java/Main.java", "java/Algorithms.java"];

/// Makes a runtime's program ready: finds what runs it, and compiles it unless that was done before. The name is a known
/// one, or the path of a program that speaks the same protocol.
pub fn prepare(name: &str, places: &Places) -> Result<Program, String> {
    // One at a time: providers of one language share what is compiled.
    static PREPARING: Mutex<()> = Mutex::new(());
    let _alone = PREPARING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_, language, provider)) = KNOWN.iter().find(|(known, ..)| *known == name) else {
        return own_program(Path::new(name));
    };
    match language {
        Language::Go => go(places),
        Language::Node => script("node", "nodejs", NODE, provider, places),
        Language::Python => script("python3", "python3", PYTHON, provider, places),
        Language::Java => prepare_java(provider, JAVA, places),
    }
}

/// A program of the user's.
fn own_program(path: &Path) -> Result<Program, String> {
    let known = || names().collect::<Vec<_>>().join(", ");
    if !path.is_file() {
        return Err(format!("no runtime and no program; the runtimes are {}", known()));
    }
    let sources = host::content_hash(path).map_err(|e| e.to_string())?;
    Ok(Program { tool: path.to_owned(), sources, allocates: true, ..Program::default() })
}

/// Interpreted: the program is the sources.
fn script(
    tool: &str,
    package: &str,
    sources: &[Source],
    provider: &str,
    places: &Places,
) -> Result<Program, String> {
    let tool = find(tool, package)?;
    let (directory, key) = unpacked(&tool, sources, places)?;
    let main = directory.join(Path::new(sources[0].0).file_name().unwrap_or_default());
    Ok(Program {
        arguments: vec![main.into(), provider.into()],
        environment: vec![("PYTHONDONTWRITEBYTECODE", "1".into())],
        facts: vec![format!("program: {}", tool.display())],
        sources: key,
        allocates: true,
        tool,
        ..Program::default()
    })
}

/// Compiled with the modules that Go itself brings along for its TLS, because ChaCha20-Poly1305 has no other place.
fn go(places: &Places) -> Result<Program, String> {
    let tool = find("go", "golang")?;
    let (directory, key) = unpacked(&tool, GO, places)?;
    let program = directory.join("program");
    if !program.is_file() {
        let root = said(places.compiler(&tool).args(["env", "GOROOT"]))?;
        let own = Path::new(root.trim()).join("src");
        let module = std::fs::read_to_string(own.join("go.mod"))
            .map_err(|e| format!("Go's own go.mod: {e}"))?;
        let written = module.replacen("module std", "module ciphermark", 1);
        std::fs::write(directory.join("go.mod"), written).map_err(|e| e.to_string())?;
        let _ = std::os::unix::fs::symlink(own.join("vendor"), directory.join("vendor"));
        let mut build = places.compiler(&tool);
        let fresh = directory.join(format!("program.{}", std::process::id()));
        build.args(["build", "-mod=vendor", "-trimpath", "-o"]).arg(&fresh).arg(".");
        build
            .current_dir(&directory)
            .env("GOPROXY", "off")
            .env("GOTOOLCHAIN", "local")
            .env("GOWORK", "off");
        said(&mut build)?;
        std::fs::rename(&fresh, &program).map_err(|e| e.to_string())?;
    }
    let facts = vec![format!("built by {}", tool.display())];
    Ok(Program { tool: program, sources: key, facts, ..Program::default() })
}

/// How long a compiler may take.
const PATIENCE: Duration = Duration::from_secs(300);
const MOST_PRINTED: u64 = 1 << 20;

/// Runs a compiler: what it prints, or its last line as the reason. One that does not end is ended.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = host::output(command, &[], PATIENCE, MOST_PRINTED);
    let done = done.map_err(|e| format!("'{program}' cannot be run: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(format!("'{program}' fails: {}", last.trim()))
}

/// The sources in a directory of the cache that is theirs and the tool's, and what it is called by.
pub(crate) fn unpacked(
    tool: &Path,
    sources: &[Source],
    places: &Places,
) -> Result<(PathBuf, String), String> {
    let cache = places.cache.as_ref().ok_or(
        "its program needs a directory, and the cache is switched off: set CIPHERMARK_CACHE to one",
    )?;
    let real = tool.canonicalize().unwrap_or_else(|_| tool.to_owned());
    let meta = real.metadata().map_err(|e| format!("'{}': {e}", real.display()))?;
    let build = format!("{} {} {:?}", real.display(), meta.len(), meta.modified().ok());
    let compiling = places.compiling();
    let mut parts: Vec<&[u8]> = vec![build.as_bytes(), compiling.as_bytes()];
    parts.extend(sources.iter().map(|(_, text)| text.as_bytes()));
    let key = format!("{:016x}", hash(&parts));
    let directory = cache.join(&key);
    let failed = |e: std::io::Error| format!("'{}': {e}", directory.display());
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
    for (name, text) in sources {
        let file = directory.join(Path::new(name).file_name().unwrap_or_default());
        // Also where it is there: a run that was killed may have left half of it.
        if std::fs::read_to_string(&file).ok().as_deref() != Some(*text) {
            let fresh = directory.join(format!(".{}", std::process::id()));
            std::fs::write(&fresh, text)
                .and_then(|()| std::fs::rename(&fresh, &file))
                .map_err(failed)?;
        }
    }
    Ok((directory, key))
}

/// Not for secrets: it only tells builds apart.
fn hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// A program of the search path.
pub(crate) fn find(tool: &str, package: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/local/go/bin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from);
    let mut places =
        std::env::split_paths(&path).chain(usual).map(|directory| directory.join(tool));
    places.find(|file| file.is_file()).ok_or_else(|| {
        format!("{tool} is not installed: apt-get install {package}, or put it on PATH")
    })
}

/// A provider in a jar: its word, how the file's name begins, where Maven keeps it, and what to fetch.
const JARS: [(&str, &str, &str, &str); 3] = [
    ("bc", "bcprov", "org/bouncycastle", "org.bouncycastle:bcprov-jdk18on:1.82"),
    (
        "accp",
        "AmazonCorrettoCryptoProvider",
        "software/amazon/cryptools",
        "software.amazon.cryptools:AmazonCorrettoCryptoProvider:2.5.0:jar:linux-x86_64",
    ),
    (
        "conscrypt",
        "conscrypt-openjdk",
        "org/conscrypt",
        "org.conscrypt:conscrypt-openjdk-uber:2.5.2",
    ),
];

/// Directories beneath Maven's that are gone into: artifact and version.
const DEPTH: usize = 2;

pub(crate) fn prepare_java(
    provider: &str,
    sources: &[(&'static str, &'static str)],
    places: &Places,
) -> Result<Program, String> {
    let package = "default-jdk-headless";
    let (tool, compiler) = (find("java", package)?, find("javac", package)?);
    let jar = jar(provider, places)?;
    let (directory, key) = unpacked(&tool, sources, places)?;
    let classes = directory.join("classes");
    if !classes.join("Main.class").is_file() {
        let fresh = directory.join(format!("classes.{}", std::process::id()));
        let mut compile = places.compiler(&compiler);
        compile
            .current_dir(&directory)
            .arg("-d")
            .arg(&fresh)
            .args(["Main.java", "Algorithms.java"]);
        said(&mut compile)?;
        // Another process may have been faster.
        if std::fs::rename(&fresh, &classes).is_err() {
            let _ = std::fs::remove_dir_all(&fresh);
        }
    }
    // Providers with C in their jar unpack it.
    let writes = directory.join(format!("tmp-{provider}"));
    std::fs::create_dir_all(&writes).map_err(|e| format!("'{}': {e}", writes.display()))?;
    let path = std::env::join_paths(std::iter::once(classes).chain(jar.clone()))
        .map_err(|e| e.to_string())?;
    let mut temporary = OsString::from("-Djava.io.tmpdir=");
    temporary.push(&writes);
    // Compiled while the caller waits, and after a tenth of the usual calls, so that a warm-up ends; by the same compiler.
    // The heap is touched at the start: in its first second a process would wait for the kernel's pages with every few
    // messages, and Cipher.init allocates a kilobyte for each.
    let flags =
        ["-Xbatch", "-XX:CompileThresholdScaling=0.1", "-XX:+AlwaysPreTouch", "-XX:-UsePerfData"];
    let mut arguments: Vec<OsString> = flags.map(OsString::from).to_vec();
    arguments.push(temporary);
    arguments.extend(["-cp".into(), path, "Main".into(), provider.into()]);
    let program = format!("program: {}", tool.display());
    let facts = std::iter::once(program).chain(jar.map(|jar| format!("jar: {}", jar.display())));
    let facts = facts.collect();
    Ok(Program { tool, arguments, facts, sources: key, writes: Some(writes), ..Program::default() })
}

/// The newest jar that there is, by its name.
fn jar(provider: &str, places: &Places) -> Result<Option<PathBuf>, String> {
    let Some((_, begins, group, fetch)) = JARS.iter().find(|(word, ..)| *word == provider) else {
        return Ok(None);
    };
    let mut found = Vec::new();
    for directory in &places.libraries {
        collect(directory, begins, 0, &mut found);
    }
    if found.is_empty() {
        if let Some(home) = std::env::var_os("HOME") {
            collect(
                &Path::new(&home).join(".m2/repository").join(group),
                begins,
                DEPTH,
                &mut found,
            );
        }
        collect(Path::new("/usr/share/java"), begins, 0, &mut found);
    }
    found.sort_by_key(|path| java_version(path));
    found.pop().map(Some).ok_or_else(|| {
        format!(
            "no {begins}*.jar in CIPHERMARK_LIBS, ~/.m2 or /usr/share/java: mvn dependency:get -Dartifact={fetch}"
        )
    })
}

fn collect(directory: &Path, begins: &str, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && depth > 0 {
            collect(&path, begins, depth - 1, found);
        } else if name.starts_with(begins) && name.ends_with(".jar") && !name.contains("sources") {
            found.push(path);
        }
    }
}

/// The numbers in a file's name, so that 1.9 comes before 1.80.
fn java_version(path: &Path) -> Vec<u64> {
    version_numbers(&path.file_name().unwrap_or_default().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::{Placed, Turn};

    fn places(directory: &std::path::Path) -> Places {
        let environment = std::env::vars_os().collect();
        Places { cache: Some(directory.to_owned()), libraries: Vec::new(), environment }
    }

    #[test]
    fn a_runtime_that_nobody_knows_is_answered_with_those_that_are_known() {
        let error = prepare("cobol", &Places::default()).unwrap_err();
        assert!(error.contains("go, java-sunjce") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn without_a_cache_the_reason_says_what_to_set() {
        for name in ["go", "node", "java-sunjce", "python-hashlib"] {
            let error = prepare(name, &Places::default()).unwrap_err();
            assert!(
                error.contains("CIPHERMARK_CACHE") || error.contains("is not installed"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_changes_how_compilers_compile_names_another_program() {
        let directory = tempfile::tempdir().unwrap();
        let tool = directory.path().join("tool");
        std::fs::write(&tool, "a compiler").unwrap();
        let key = |name: &str, value: &str| {
            let environment = vec![("PATH".into(), "/bin".into()), (name.into(), value.into())];
            let places = Places { environment, ..places(directory.path()) };
            super::unpacked(&tool, &[("main.go", "source")], &places).unwrap().1
        };
        for name in super::COMPILING {
            assert!(
                key(name, "1") != key(name, "2") && key(name, "1") != key("OTHER", "1"),
                "{name}"
            );
        }
        assert_eq!(key("OTHER", "1"), key("OTHER", "2"));
    }

    #[test]
    fn a_program_that_ends_at_once_is_no_library() {
        let directory = tempfile::tempdir().unwrap();
        let program = prepare("/bin/true", &places(directory.path())).unwrap();
        let error = attach(&program, "mine", &mut |_| Ok(())).err().unwrap().to_string();
        assert!(error.contains("mine's process ended"), "{error}");
    }

    #[test]
    fn a_program_that_accepts_everything_is_not_asked_for_what_has_no_message() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("yes");
        let replies = r"\013\000\000\000\000version 1\n\002\000\000\000\000x";
        std::fs::write(&path, format!("#!/bin/sh\nprintf '{replies}'\nexec cat >/dev/null\n"))
            .unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        let program = prepare(path.to_str().unwrap(), &places(directory.path())).unwrap();
        let library = attach(&program, "yes", &mut |_| Ok(())).unwrap();
        for (name, direction) in [
            ("pbkdf2-sha256", Direction::Digest),
            ("scrypt", Direction::Digest),
            ("random", Direction::Generate),
        ] {
            let algorithm = Algorithm::find(name).unwrap();
            let error = library.open(algorithm, direction, &[0; 16]).unwrap_err();
            assert!(
                matches!(&error, OpenError::Unsupported(why) if why.contains(name)),
                "{error:?}"
            );
        }
        let sha256 = Algorithm::find("sha256").unwrap();
        assert!(library.open(sha256, Direction::Digest, &[]).is_ok());
    }

    #[test]
    #[ignore = "long: makes some hundred megabytes of garbage in each of two languages"]
    fn messages_are_charged_for_the_garbage_that_they_make() {
        const SIZE: usize = 16_384;
        let directory = tempfile::tempdir().unwrap();
        let inputs = vec![1; SIZE];
        let nonces: Vec<u8> = (0..16).flat_map(|slot| [slot; 12]).collect();
        let placed =
            Placed { size: SIZE, inputs: &inputs, places: 1, aad: &[], fresh: true, expected: 0 };
        for name in ["java-sunjce", "node"] {
            let program = prepare(name, &places(directory.path())).unwrap();
            let library = attach(&program, name, &mut |_| Ok(())).unwrap();
            let algorithm = Algorithm::find("aes-256-gcm").unwrap();
            let mut session = library.open(algorithm, Direction::Encrypt, &[1; 32]).unwrap();
            let remote = session.remote().unwrap();
            remote.place(&placed);
            let turn = Turn { at: 0, ops: 500, poison: None, nonces: &nonces, tags: &[0; 16 * 16] };
            let most = if name == "node" { 40 } else { 4_000 };
            let charged = (0..most).any(|_| {
                let ran = remote.run(&turn);
                ran.allocated.is_some_and(|bytes| bytes > 0.0) && ran.collecting_ns > 0.0
            });
            assert!(charged, "{name}");
        }
    }

    #[test]
    fn the_newest_of_several_jars_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        for name in
            ["bcprov-jdk18on-1.9.jar", "bcprov-jdk18on-1.80.jar", "bcprov-jdk18on-1.80-sources.jar"]
        {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let places = Places { libraries: vec![directory.path().to_owned()], ..Places::default() };
        let found = jar("bc", &places).unwrap().unwrap();
        assert!(found.ends_with("bcprov-jdk18on-1.80.jar"), "{found:?}");
    }
}
