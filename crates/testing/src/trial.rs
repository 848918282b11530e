//! For tests of attached objects: builds, loads and checks them the way ciphermark does: everything that a
//! library offers, sessions against the reference implementations, whole TLS stacks. It fails by panicking,
//! as tests do.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use adapters::stacks::{Line, Stack, Trouble, connect};
use base::model::{Algorithm, Direction, Kind as Purpose};
use contract::{Identity, Library, Message, OpenError, Outcome, Session};
use probe::Clock;
use record::tls::{Case, Filter, Kind, Negotiated, Protection, matrix};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use verify::Finding;
use verify::reference::Reference;

pub fn load(object: &Path) -> Box<dyn Library> {
    adapters::load(object, None).unwrap_or_else(|e| panic!("{e}"))
}

/// The object of a package in Rust, loaded, which says what it was built from: its crate, and the compiler's settings.
pub fn built_object(package: &str, name: &str, krate: &str) -> Box<dyn Library> {
    let library = load(&object(package));
    let identity = library.identity();
    assert_eq!(identity.name, name);
    assert_eq!(fact(identity, &format!("crate {krate} ")), identity.version);
    for setting in ["rustc 1.", "profile ", "codegen-units ", "target-cpu ", "target features "] {
        fact(identity, setting);
    }
    let foreign = ["ciphermark", "windows", "wasm", "crate cc "];
    for line in &identity.build {
        assert!(foreign.iter().all(|f| !line.contains(f)), "no part of the library: {line}");
    }
    library
}

/// Demands a name, a version of three numbers, and build lines that begin so.
pub fn is_called(identity: &Identity, name: &str, facts: &[&str]) {
    assert_eq!(identity.name, name);
    assert_eq!(identity.version.split('.').count(), 3, "{identity:?}");
    for beginning in facts {
        fact(identity, beginning);
    }
}

/// The build line that begins so, without its beginning.
pub fn fact<'a>(identity: &'a Identity, beginning: &str) -> &'a str {
    let found = identity.build.iter().find_map(|line| line.strip_prefix(beginning));
    found.unwrap_or_else(|| panic!("no build line begins with '{beginning}': {identity:#?}"))
}

// Everything that a library offers, held against every check.

/// What a library offers and what became of it. Composites are made of other algorithms'
/// sessions and are tested where they are made.
#[derive(Debug, Default)]
pub struct Offer {
    /// Everything that it opens.
    pub names: Vec<&'static str>,
    /// What did not pass, each with the finding.
    pub refused: Vec<(&'static str, String)>,
}

impl Offer {
    /// Demands these algorithms, with blanks between their names.
    pub fn has(&self, names: &str) {
        for name in names.split(' ') {
            assert!(self.names.contains(&name), "{name} is missing: {:?}", self.names);
        }
    }
}

/// Gives every algorithm that the library offers a message of each of [`SIZES`] both ways, and runs every check over
/// so few of them that each of its ciphers, modes, digests and MACs has been through them.
pub fn offer(library: &dyn Library) -> Offer {
    let offered = offered(library);
    let few = representatives(&offered);
    // What is drawn has no answer but its checks. What derives keys is slow by intention: bcrypt alone would take longer
    // than all others.
    let is_checked = |a: &Algorithm| match a.kind {
        Purpose::Random => true,
        Purpose::Derivation => false,
        _ => few.contains(&a.name),
    };
    each_of(library, &offered, |algorithm| match is_checked(algorithm) {
        true => refusal(library, algorithm),
        false => wrong_answer(library, algorithm).map(|why| (algorithm.name, why)),
    })
}

/// Runs every check over every algorithm that the library offers, which takes up to a minute: for long tests.
pub fn whole_offer(library: &dyn Library) -> Offer {
    each_of(library, &offered(library), |algorithm| refusal(library, algorithm))
}

/// Tries algorithms on all CPUs where the library's sessions may be used so.
fn each_of(
    library: &dyn Library,
    offered: &[&'static Algorithm],
    refusal: impl Fn(&'static Algorithm) -> Option<(&'static str, String)> + Sync,
) -> Offer {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if library.one_thread_only().is_some() { 1 } else { cpus };
    let checked = &|first: usize| -> Vec<_> {
        let own = offered.iter().skip(first).step_by(threads);
        own.filter_map(|algorithm| refusal(algorithm)).collect()
    };
    let mut refused: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|first| scope.spawn(move || checked(first))).collect();
        all.into_iter().flat_map(|one| one.join().unwrap_or_else(|p| resume_unwind(p))).collect()
    });
    refused.sort();
    Offer { names: offered.iter().map(|a| a.name).collect(), refused }
}

/// The first algorithm of each mode, and of each cipher another mode than of the one before.
fn representatives(offered: &[&'static Algorithm]) -> BTreeSet<&'static str> {
    let mut by_mode = BTreeMap::new();
    let mut by_primitive = BTreeMap::<_, Vec<_>>::new();
    // The reference's Twofish works out its tables for each block anew: a third of the time of all.
    for algorithm in offered.iter().filter(|a| !a.name.starts_with("twofish-")) {
        by_mode.entry(format!("{:?}", algorithm.mode)).or_insert(algorithm.name);
        let of_primitive =
            by_primitive.entry(format!("{:?} {:?}", algorithm.kind, algorithm.cipher));
        of_primitive.or_default().push(algorithm.name);
    }
    let by_primitive = by_primitive.values().enumerate().map(|(n, names)| names[n % names.len()]);
    by_mode.into_values().chain(by_primitive).collect()
}

/// Bytes of the messages that every algorithm gets: whole blocks, and past the widest strides with a rest; the mode's
/// next size where it has no such one.
pub const SIZES: [usize; 2] = [64, 333];

/// What is wrong with a library's messages, both ways, under one key.
fn wrong_answer(library: &dyn Library, algorithm: &'static Algorithm) -> Option<String> {
    let reference = Reference::new(algorithm, &bytes(algorithm.key_len, 4));
    SIZES.into_iter().find_map(|size| {
        let size = (0..=size).rev().find(|len| algorithm.sizes.allows(*len))?;
        let sealed = Sealed::new(&reference, size);
        Direction::of(algorithm.kind).iter().find_map(|&direction| {
            let mut session = open(library, algorithm.name, direction);
            let right = if direction == Direction::Decrypt {
                sealed.decrypt_with(&mut session) == (Outcome::Done, sealed.plain.clone())
            } else {
                let (outcome, output, tag) = sealed.encrypt_with(&mut session);
                let output = if algorithm.writes_output() { &output } else { &sealed.cipher };
                (outcome, output, tag) == (Outcome::Done, &sealed.cipher, sealed.tag.clone())
            };
            (!right).then(|| format!("{direction} of {size} bytes is not the reference's"))
        })
    })
}

fn refusal(library: &dyn Library, algorithm: &'static Algorithm) -> Option<(&'static str, String)> {
    match verify::verify(library, algorithm, &verify::Scope::BRIEF, &mut |_| {}) {
        Ok(_) => None,
        Err(Finding::Unsupported(why)) => panic!("{algorithm} in one direction only: {why}"),
        Err(finding) => Some((algorithm.name, finding.to_string())),
    }
}

/// Every algorithm that is no composite of others.
pub fn primitives() -> impl Iterator<Item = &'static Algorithm> {
    Algorithm::all().iter().filter(|a| a.composite.is_none())
}

/// What a library opens.
pub fn offered(library: &dyn Library) -> Vec<&'static Algorithm> {
    primitives().filter(|a| is_offered(library, a)).collect()
}

fn is_offered(library: &dyn Library, algorithm: &'static Algorithm) -> bool {
    let key = bytes(algorithm.key_len, 1);
    match library.open(algorithm, Direction::of(algorithm.kind)[0], &key) {
        Ok(session) => {
            let calls = session.calls().unwrap_or_default();
            assert!(!calls.is_empty(), "{algorithm} does not say what it calls");
            true
        }
        Err(OpenError::Unsupported(why)) => {
            assert!(!why.is_empty() && why != "the adapter gives no reason", "{algorithm}");
            false
        }
        Err(OpenError::Failed(why)) => panic!("{algorithm} cannot be opened: {why}"),
    }
}

/// A session that the library has.
pub fn open(library: &dyn Library, name: &str, direction: Direction) -> Session {
    let algorithm = Algorithm::find(name).unwrap();
    library.open(algorithm, direction, &bytes(algorithm.key_len, 4)).unwrap()
}

/// Bytes that differ from place to place and from `salt` to `salt`.
pub fn bytes(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(167).wrapping_add(salt) ^ (i >> 8) as u8).collect()
}

/// A message of an algorithm, both ways round.
#[derive(Debug)]
pub struct Sealed {
    /// Nonce, IV or tweak.
    pub nonce: Vec<u8>,
    /// Associated data.
    pub aad: Vec<u8>,
    /// Plaintext.
    pub plain: Vec<u8>,
    pub cipher: Vec<u8>,
    pub tag: Vec<u8>,
}

impl Sealed {
    /// The reference's message of `len` bytes; the associated data differs in length as well.
    pub fn new(reference: &Reference<'_>, len: usize) -> Self {
        let algorithm = reference.algorithm();
        let aad_len = if algorithm.tag_len == 0 { 0 } else { [16, 37, 0, 1][len % 4] };
        let (nonce, aad) = (bytes(algorithm.nonce_len, len as u8), bytes(aad_len, 5));
        let (plain, mut cipher) = (bytes(len, 9), vec![0; len]);
        let mut tag = vec![0; algorithm.tag_len];
        reference.encrypt(&nonce, &aad, &plain, &mut cipher, &mut tag);
        Self { nonce, aad, plain, cipher, tag }
    }

    /// The message of `len` bytes under a key.
    pub fn under(key: &[u8], algorithm: &'static Algorithm, len: usize) -> Self {
        Self::new(&Reference::new(algorithm, key), len)
    }

    /// What a session of the forward direction makes of the plaintext.
    pub fn encrypt_with(&self, session: &mut Session) -> (Outcome, Vec<u8>, Vec<u8>) {
        let (mut output, mut tag) = (vec![0; self.plain.len()], vec![0; self.tag.len()]);
        let outcome = session.message(Message {
            nonce: &self.nonce,
            aad: &self.aad,
            input: &self.plain,
            output: &mut output,
            tag: &mut tag,
        });
        (outcome, output, tag)
    }

    /// What a session of the backward direction makes of ciphertext and tag.
    pub fn decrypt_with(&self, session: &mut Session) -> (Outcome, Vec<u8>) {
        let mut output = vec![0; self.cipher.len()];
        let outcome = session.message(Message {
            nonce: &self.nonce,
            aad: &self.aad,
            input: &self.cipher,
            output: &mut output,
            tag: &mut self.tag.clone(),
        });
        (outcome, output)
    }
}

/// Streams continue from update to update, begin anew, and leave nothing to the next message.
pub fn streams_agree(library: &dyn Library, algorithm: &'static Algorithm) {
    let key = bytes(algorithm.key_len, 3);
    let reference = Reference::new(algorithm, &key);
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let mut session = library.open(algorithm, direction, &key).unwrap();
        for round in 0..2 {
            let nonce = bytes(algorithm.nonce_len, round);
            let Some(mut stream) = reference.stream(direction, &nonce, session.next_unit()) else {
                return a_stream_is_its_message_in_pieces(&mut session, &nonce);
            };
            assert_eq!(session.start(&nonce), Outcome::Done);
            let sizes = [16, 1, 15, 64, 17, 256, 100, 33, 1024, 4096, 31, 48, 16];
            for len in sizes.into_iter().filter(|n| reference.stream_sizes().allows(*n)) {
                let (mut expected, mut buffer) = (bytes(len, 7), bytes(len, 7));
                stream.update(&mut expected);
                let outcome = session.update_in_place(&mut buffer);
                assert_eq!(outcome, Outcome::Done, "{algorithm} {direction} {len}");
                assert_eq!(buffer, expected, "{algorithm} {direction} {len}");
            }
            let s = Sealed::new(&reference, 48);
            if direction == Direction::Decrypt {
                let decrypted = s.decrypt_with(&mut session);
                assert_eq!(decrypted, (Outcome::Done, s.plain.clone()), "{algorithm}");
            }
        }
    }
}

/// Where the reference has no streams.
fn a_stream_is_its_message_in_pieces(session: &mut Session, nonce: &[u8]) {
    let (algorithm, mut tag) = (session.algorithm(), vec![0; session.algorithm().tag_len]);
    let (mut whole, mut pieces) = (bytes(1000, 8), bytes(1000, 8));
    assert_eq!(session.message_in_place(nonce, &[], &mut whole, &mut tag), Outcome::Done);
    assert_eq!(session.start(nonce), Outcome::Done);
    for piece in pieces.chunks_mut(77) {
        assert_eq!(session.update_in_place(piece), Outcome::Done);
    }
    assert_eq!(whole, pieces, "{algorithm}");
}

// A whole TLS stack that is an object of its own.

/// What a stack does.
#[derive(Debug)]
pub struct StackOffer {
    /// Who it says it is.
    pub identity: Identity,
    /// Handshakes of the matrix that were what was asked for, twice in a row.
    pub handshakes: Vec<Case>,
    /// Those that it does not offer, with its words.
    pub not_offered: Vec<(Case, String)>,
    /// Suites whose records came out as they went in.
    pub records: Vec<Protection>,
}

/// Loads an object, makes every handshake of the matrix, and sends records of every suite.
pub fn whole_stack(object: &Path) -> Result<StackOffer, String> {
    let stack = adapters::stacks::load(object, None)?;
    let identity = stack.identity().unwrap_or_default();
    let (mut handshakes, mut not_offered) = (Vec::new(), Vec::new());
    // Hundreds of connections: to calibrate for each would be most of what this takes.
    let clock = Clock::calibrate();
    for case in matrix(&Filter::default()) {
        match connected(&*stack, &case, &clock) {
            Ok(negotiated) => {
                assert_eq!(negotiated.resumed, case.kind.is_resumed(), "{case}");
                handshakes.push(case);
            }
            Err(why) => not_offered.push((case, why.to_string())),
        }
    }
    let records =
        Protection::all(&[], &[]).into_iter().filter(|p| carries(&*stack, *p, &clock)).collect();
    Ok(StackOffer { identity, handshakes, not_offered, records })
}

fn connected(stack: &dyn Stack, case: &Case, clock: &Clock) -> Result<Negotiated, Trouble> {
    let mut bench = stack.open(case)?;
    let mut make = |case: &Case| connect(&mut *bench, case, clock, false, &mut || {});
    if case.kind.is_resumed() {
        make(&Case { kind: Kind::Full, ..*case })?;
    }
    let (first, again) = (make(case)?, make(case)?);
    assert_eq!(first.negotiated, again.negotiated, "{case}");
    Ok(again.negotiated.unwrap_or_else(|e| panic!("{case}: {e}")))
}

fn carries(stack: &dyn Stack, protection: Protection, clock: &Clock) -> bool {
    [1, 1400, record::tls::LARGEST_RECORD].into_iter().all(|size| {
        let line = Line::open(stack, protection, size, clock);
        line.is_ok_and(|mut line| {
            line.batch(clock).unwrap_or_else(|e| panic!("{protection}, {size} bytes: {e}"));
            true
        })
    })
}

// Building objects.

/// A path below the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Set by `make test`, which has built everything: asked for one package alone, cargo would build its dependencies
/// once more, with fewer features.
const ALL_IS_BUILT: &str = "CIPHERMARK_TEST_BUILT";

/// The shared object of a package of the workspace, built first: cargo builds objects that no Rust
/// code can link only when asked to.
pub fn object(package: &str) -> PathBuf {
    let profile = profile_directory();
    let object = profile.join(format!("lib{}.so", package.replace('-', "_")));
    if std::env::var_os(ALL_IS_BUILT).is_some() && object.is_file() {
        return object;
    }
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(repository("."));
    build.args(["build", "--quiet", "-p", package, "--target-dir"]);
    build.arg(target_directory(&profile));
    if profile.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().expect("cargo runs").success(), "{build:?}");
    object
}

/// An adapter in C or C++ and what it is compiled against.
#[derive(Debug)]
pub struct Foreign {
    /// Where its files are, below the repository.
    pub directory: &'static str,
    /// The compiler's name, then its options.
    pub compiler: &'static [&'static str],
    /// Endings of the files that are compiled.
    pub ending: &'static str,
    /// The library's header, whose absence says that the library is not here.
    pub header: &'static str,
    /// The library's name to the linker.
    pub link: &'static str,
}

impl Foreign {
    /// The object, compiled once for all tests until a source, the library or the compiler changes. `None`, with the reason printed, where the compiler or the library's headers are
    /// not on this machine.
    pub fn compile(&self) -> Option<PathBuf> {
        let [program, options @ ..] = self.compiler else { panic!("a compiler has a name") };
        if !succeeds(Command::new(program).arg("--version")) {
            println!("skipped: there is no {program} on this machine");
            return None;
        }
        let language = if self.ending == "c" { "c" } else { "c++" };
        // All macros: the library's version and the compiler's are among them.
        let mut probe = Command::new(program);
        probe.args(options).args([
            "-E",
            "-dM",
            "-x",
            language,
            "-include",
            self.header,
            "/dev/null",
        ]);
        let Some(macros) = probe.output().ok().filter(|o| o.status.success()) else {
            println!("skipped: the header {} is not on this machine", self.header);
            return None;
        };
        let target = profile_directory().join("trial");
        std::fs::create_dir_all(&target).expect("the target directory can be written");
        let key = self.key(&macros.stdout);
        let object = target.join(format!("libciphermark_{}-{key:016x}.so", name(self.directory)));
        if object.is_file() {
            return Some(object);
        }
        // Beside and renamed: another test may compile or load it, too.
        let fresh = object.with_extension(std::process::id().to_string());
        let mut build = Command::new(program);
        build.args(options).args(["-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"]);
        build.args(sources(&repository(self.directory), self.ending));
        build.arg("-I").arg(repository("include"));
        build.arg(format!("-l{}", self.link)).arg("-o").arg(&fresh);
        assert!(build.status().expect("the compiler runs").success(), "{build:?}");
        std::fs::rename(&fresh, &object).expect("the target directory can be written");
        Some(object)
    }

    /// Of everything that the object depends on.
    fn key(&self, macros: &[u8]) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.compiler, macros).hash(&mut hasher);
        for directory in [self.directory, "attach", "include"] {
            let entries =
                std::fs::read_dir(repository(directory)).expect("a directory of the repository");
            let mut files: Vec<PathBuf> =
                entries.flatten().map(|e| e.path()).filter(|path| path.is_file()).collect();
            files.sort();
            files.iter().for_each(|file| std::fs::read(file).ok().hash(&mut hasher));
        }
        hasher.finish()
    }
}

fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|o| o.status.success())
}

/// `attach/ipsec-mb` becomes `ipsec_mb`.
fn name(directory: &str) -> String {
    let last = Path::new(directory).file_name().expect("a directory has a name");
    last.to_string_lossy().replace('-', "_")
}

fn sources(directory: &Path, ending: &str) -> Vec<OsString> {
    let entries = std::fs::read_dir(directory).expect("the adapter's directory is read");
    let paths = entries.map(|e| e.expect("the adapter's directory is read").path());
    let mut sources: Vec<OsString> =
        paths.filter(|p| p.extension().is_some_and(|e| e == ending)).map(Into::into).collect();
    sources.sort();
    sources
}

/// target of target/PROFILE, or of target/TRIPLE/PROFILE where cargo was told to build for one: it is told again.
fn target_directory(profile: &Path) -> &Path {
    let above = profile.parent().expect("a profile's directory lies in the target directory");
    match std::env::var("CARGO_BUILD_TARGET") {
        Ok(triple) if above.ends_with(&triple) => above.parent().expect("so does a triple's"),
        _ => above,
    }
}

/// target/PROFILE of target/PROFILE/deps/TEST-HASH.
fn profile_directory() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.ancestors().nth(2).expect("a test lies in its profile's directory").to_owned()
}
