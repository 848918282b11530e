//! What an adapter may not do, one adapter each; the stand-in libraries of `tests/fakes`: the correct one is
//! right, and those whose fault must not show plant it; the worked example of `docs/ADAPTERS.md`; and
//! `include/ciphermark.h` and `contract::raw` say the same.

use crate::attached::Attached;
use crate::attached::tests::{Object, compiler, repository};
use base::model::{Algorithm, Direction, Mode};
use contract::raw::{Adapter, Message, Request, Session as RawSession};
use contract::{Library, OpenError, Outcome, Session, raw};
use std::ffi::{c_char, c_void};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::mem::{offset_of, size_of};
use std::process::{Command, Output, Stdio};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use testing::trial::{Sealed, bytes, open, streams_agree};
use verify::reference::Reference;

const RIGHT: raw::Adapter = raw::Adapter {
    abi: raw::ABI,
    library: c"mine".as_ptr(),
    version: c"1.2".as_ptr(),
    build: ptr::null(),
    open: Some(unsupported),
};

fn attach(adapter: &raw::Adapter, name: Option<&str>) -> Result<Attached, String> {
    // SAFETY: a whole struct with strings from literals.
    unsafe { Attached::new(adapter, name) }
}

fn refusal(adapter: &raw::Adapter) -> String {
    attach(adapter, None).err().expect("it is refused")
}

/// What opening an algorithm of an adapter with this `open` says.
fn opening(open: raw::OpenFn) -> OpenError {
    let library = attach(&raw::Adapter { open: Some(open), ..RIGHT }, None).unwrap();
    let algorithm = Algorithm::find("aes-128-ctr").unwrap();
    library.open(algorithm, Direction::Encrypt, &[0; 16]).expect_err("it is refused")
}

/// Writes a reason as it is, without a terminator.
unsafe fn explain(text: &[u8], why: *mut c_char, why_len: usize) {
    // SAFETY: cut to the room that there is.
    unsafe { ptr::copy_nonoverlapping(text.as_ptr(), why.cast(), text.len().min(why_len)) }
}

/// An `open` for each of them.
macro_rules! opens {
    ($($name:ident($request:pat, $session:pat, $why:pat, $why_len:pat) $body:block)+) => {$(
        unsafe extern "C" fn $name(
            $request: *const raw::Request,
            $session: *mut raw::Session,
            $why: *mut c_char,
            $why_len: usize,
        ) -> i32 $body
    )+};
}

opens! {
    unsupported(request, _, why, why_len) {
        // SAFETY: the request is whole.
        let request = unsafe { &*request };
        let fits = (request.direction, request.key_len, request.nonce_len, request.tag_len);
        assert_eq!(fits, (0, 16, 16, 0));
        // SAFETY: as `explain` asks.
        unsafe { explain(b"not in\nthis build\xff", why, why_len) };
        raw::UNSUPPORTED
    }

    fails_at_length(_, _, why, why_len) {
        // SAFETY: as `explain` asks.
        unsafe { explain(&[b'x'; 10_000], why, why_len) };
        raw::FAILED
    }

    own_code(_, _, _, _) {
        -17
    }

    offers_nothing(_, session, _, _) {
        // SAFETY: the session is writable.
        unsafe { (*session).close = Some(close) };
        raw::OK
    }

    half_a_stream(_, session, _, _) {
        // SAFETY: the session is writable.
        unsafe { (*session).start = Some(start) };
        raw::OK
    }
}

unsafe extern "C" fn start(_: *mut c_void, _: *const u8) -> i32 {
    raw::OK
}

static CLOSED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn close(_: *mut c_void) {
    CLOSED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn the_right_one_is_attached_under_its_own_name_or_the_one_asked_for() {
    let identity = attach(&RIGHT, None).unwrap().identity;
    assert_eq!((&*identity.name, &*identity.version), ("mine", "1.2"));
    assert!(identity.build.is_empty());
    assert_eq!(attach(&RIGHT, Some("other")).unwrap().identity.name, "other");
}

#[test]
fn nothing_but_the_number_is_read_of_another_versions_struct() {
    let number: u32 = 7;
    // SAFETY: another version's struct, of which only the number is there.
    let refused = unsafe { Attached::new((&raw const number).cast(), None) }.err().unwrap();
    let words = format!("built for adapter interface 7, this program speaks 2 to {}", raw::ABI);
    assert!(refused.contains(&words), "{refused}");
}

#[test]
fn a_missing_struct_version_name_or_function_is_refused_by_name() {
    // SAFETY: null is allowed.
    let refused = unsafe { Attached::new(ptr::null(), None) }.err().unwrap();
    assert!(refused.contains("null pointer"), "{refused}");
    let blank = c" \n".as_ptr();
    for version in [ptr::null(), c"".as_ptr(), blank] {
        assert!(refusal(&raw::Adapter { version, ..RIGHT }).contains("no version"));
    }
    assert!(refusal(&raw::Adapter { library: blank, ..RIGHT }).contains("no library name"));
    assert!(refusal(&raw::Adapter { open: None, ..RIGHT }).contains("no `open`"));
    let named = attach(&raw::Adapter { library: ptr::null(), ..RIGHT }, Some("mine"));
    assert_eq!(named.unwrap().identity.name, "mine");
}

#[test]
fn text_that_is_not_utf_8_or_not_one_line_is_made_so() {
    let library = c"m\xefne".as_ptr();
    let version = c"1.2\t(r\x1b[1m3)\n".as_ptr();
    let build = c"cc 12\n\n  -O2\r\n".as_ptr();
    let identity =
        attach(&raw::Adapter { library, version, build, ..RIGHT }, None).unwrap().identity;
    assert_eq!((&*identity.name, &*identity.version), ("m\u{fffd}ne", "1.2 (r [1m3)"));
    assert_eq!(identity.build, ["cc 12", "-O2"]);
}

#[test]
fn what_open_returns_keeps_its_reason_on_one_line() {
    let why = "not in this build\u{fffd}".to_owned();
    assert_eq!(opening(unsupported), OpenError::Unsupported(why));
    let own = "`open` returned -17: the adapter gives no reason".to_owned();
    assert_eq!(opening(own_code), OpenError::Failed(own));
}

#[test]
fn a_reason_without_an_end_ends_with_its_room() {
    let OpenError::Failed(why) = opening(fails_at_length) else { panic!("it failed") };
    assert!(why.len() <= crate::attached::WHY_LEN && why.chars().all(|c| c == 'x'), "{why}");
}

#[test]
fn a_session_without_a_model_is_refused_and_closed() {
    assert!(matches!(opening(half_a_stream), OpenError::Failed(why) if why.contains("`start`")));
    let before = CLOSED.load(Ordering::Relaxed);
    assert!(matches!(opening(offers_nothing), OpenError::Failed(why) if why.contains("neither")));
    assert_eq!(CLOSED.load(Ordering::Relaxed), before + 1);
}

// The stand-in libraries of `tests/fakes`: the correct one is right, and those whose fault must not show plant it,
// since a test of the program against a stand-in that does no harm would pass whatever the program did. A fault that
// the program is to find needs no test here.

const CTR: &str = "aes-128-ctr";
const GCM: &str = "aes-128-gcm";

fn fake(name: &str, flags: &[&str]) -> Object {
    Object::compile(&format!("tests/fakes/{name}.c"), flags)
}

fn algorithm(name: &str) -> &'static Algorithm {
    Algorithm::find(name).unwrap()
}

fn open_with_reference(
    library: &dyn Library,
    name: &str,
    direction: Direction,
) -> (Session, Reference<'static>) {
    let key = bytes(algorithm(name).key_len, 1);
    let session = library.open(algorithm(name), direction, &key).unwrap();
    (session, Reference::new(algorithm(name), &key))
}

fn passes(library: &dyn Library, names: &[&str]) {
    for name in names {
        let verified = verify::verify(library, algorithm(name), &verify::Scope::BRIEF, &mut |_| {});
        verified.unwrap_or_else(|finding| panic!("{name}: {finding}"));
    }
}

#[test]
fn the_correct_one_is_right() {
    let library = fake("correct", &[]).load();
    assert_eq!((&*library.identity().name, &*library.identity().version), ("correct", "1.0"));
    passes(&*library, &[CTR, GCM, "memcpy"]);
    streams_agree(&*library, algorithm(CTR));
    let copy = library.open(algorithm("memcpy"), Direction::Copy, &[]).unwrap();
    assert!(!copy.in_place() && !copy.has_stream());
}

#[test]
fn objects_of_older_versions_of_the_interface_still_load_without_what_came_later() {
    for (name, rekeys, threads) in [("abi_2", false, false), ("abi_3", true, true)] {
        let library = fake(name, &[]).load();
        assert_eq!(library.one_thread_only().is_none(), threads, "{name}");
        let (session, _) = open_with_reference(&*library, GCM, Direction::Encrypt);
        assert_eq!((session.has_rekey(), session.in_flight()), (rekeys, 1), "{name}");
        passes(&*library, &[GCM]);
    }
}

#[test]
fn defers_does_no_message_before_it_is_drained_or_has_eight() {
    let library = fake("defers", &[]).load();
    // Each message is drained before its outcome is told.
    passes(&*library, &[CTR, GCM]);
    let (session, reference) = open_with_reference(&*library, CTR, Direction::Encrypt);
    let (s, table) = (Sealed::new(&reference, 100), session.raw());
    let mut outputs = vec![[0; 100]; 9];
    let message = |output: &mut [u8; 100]| contract::raw::Message {
        nonce: s.nonce.as_ptr(),
        aad: std::ptr::null(),
        aad_len: 0,
        input: s.plain.as_ptr(),
        len: 100,
        output: output.as_mut_ptr(),
        tag: std::ptr::null_mut(),
    };
    let messages: Vec<_> = outputs.iter_mut().map(message).collect();
    let mut done = Vec::new();
    for m in &messages {
        // SAFETY: messages of the algorithm's lengths, which live until they are drained.
        assert_eq!(unsafe { table.message.unwrap()(table.state, &raw const *m) }, 0);
        // SAFETY: within an output, which nothing else writes now.
        done.push(messages.iter().filter(|m| unsafe { *m.output } == s.cipher[0]).count());
    }
    assert_eq!(done, [0, 0, 0, 0, 0, 0, 0, 8, 8]);
    // SAFETY: the session's own function and state.
    assert_eq!(unsafe { table.drain.unwrap()(table.state) }, 0);
    assert!(outputs.iter().all(|o| o[..] == s.cipher));
}

#[test]
fn what_does_not_go_together_with_several_in_flight_is_refused_when_it_is_opened() {
    for (flag, why) in [
        ("-DREKEYS", "`open` gave `drain` and `rekey`: messages in flight share one key"),
        ("-DIN_FLIGHT=1", "`open` gave `drain` and 1 in flight, not 2 to 16"),
        ("-DIN_FLIGHT=17", "`open` gave `drain` and 17 in flight, not 2 to 16"),
    ] {
        let library = fake("defers", &[flag]).load();
        let refused = library.open(algorithm(CTR), Direction::Encrypt, &bytes(16, 1));
        assert_eq!(refused.err(), Some(OpenError::Failed(why.to_owned())), "{flag}");
    }
}

/// Names the object for [`in_a_child_process`].
const OBJECT: &str = "CIPHERMARK_TEST_OBJECT";

#[test]
#[ignore = "child: the tests below run it in a process of its own"]
fn in_a_child_process() {
    // Nobody's child: of all ignored tests.
    let Some(path) = std::env::var_os(OBJECT) else { return };
    let library = crate::load(path.as_ref(), None).unwrap();
    let (mut session, reference) = open_with_reference(&*library, CTR, Direction::Encrypt);
    let s = Sealed::new(&reference, 100);
    assert_eq!(s.encrypt_with(&mut session), (Outcome::Done, s.cipher.clone(), Vec::new()));
}

fn child(object: &Object) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "attached::tests::objects::in_a_child_process", "--ignored"]);
    command.arg("--nocapture").env(OBJECT, &object.path).stdout(Stdio::null());
    command
}

#[test]
fn noisy_is_right_and_writes_to_standard_output_when_loaded_and_when_called() {
    let output = child(&fake("noisy", &[])).stdout(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let chatter = b"{\"ok\":true}\nhalf a line \xff\xfe";
    let heard = output.stdout.windows(chatter.len()).filter(|w| w == chatter).count();
    assert_eq!(heard, 2, "{output:?}");
}

#[test]
fn hang_does_not_come_back() {
    let object = fake("hang", &[]);
    let mut running = child(&object).stderr(Stdio::piped()).spawn().unwrap();
    let mut last_words = String::new();
    BufReader::new(running.stderr.take().unwrap()).read_line(&mut last_words).unwrap();
    // It is in the message now; a right one ends within microseconds.
    std::thread::sleep(Duration::from_millis(200));
    let ended = running.try_wait().unwrap();
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!((last_words.as_str(), ended), ("hang: waiting for ever\n", None));
}

const EXAMPLE: &str = "docs/examples/adapter.c";

fn library() -> Box<dyn Library> {
    // On every Debian and Ubuntu: apt itself needs it.
    Object::compile(EXAMPLE, &["-l:libnettle.so.8"]).load()
}

#[test]
fn the_example_says_which_nettle_is_loaded() {
    let library = library();
    let identity = library.identity();
    assert_eq!(identity.name, "nettle");
    assert!(identity.version.starts_with("3."), "{identity:?}");
    assert!(identity.build[0].starts_with("adapter compiled by "), "{identity:?}");
}

#[test]
fn the_example_is_right_in_all_that_it_offers_and_names_what_it_does_not() {
    let library = library();
    let testing::trial::Offer { names, refused } = testing::trial::whole_offer(&*library);
    assert_eq!((names.len(), refused), (7, vec![]));
    // Composites and CBC with ESSIV are made of an adapter's offer, whoever wrote it.
    for algorithm in testing::trial::primitives().filter(|a| a.mode != Mode::Essiv) {
        if !names.contains(&algorithm.name) {
            let direction = Direction::of(algorithm.kind)[0];
            let opened = library.open(algorithm, direction, &vec![0; algorithm.key_len]);
            let why = format!("this adapter has no {algorithm}");
            assert_eq!(opened.err(), Some(OpenError::Unsupported(why)));
            continue;
        }
        let streams = open(&*library, algorithm.name, Direction::Encrypt).has_stream();
        assert_eq!(streams, algorithm.mode == Mode::Cbc, "{algorithm}");
        streams.then(|| streams_agree(&*library, algorithm));
    }
}

#[test]
fn what_the_page_quotes_is_in_the_example() {
    let page = std::fs::read_to_string(repository("docs/ADAPTERS.md")).unwrap();
    let example = std::fs::read_to_string(repository(EXAMPLE)).unwrap();
    let (_, quoted) = page.split_once("```c\n").unwrap();
    let quoted = quoted.split("```").next().unwrap();
    for function in quoted.split("\n\n") {
        assert!(example.contains(function.trim_end()), "{EXAMPLE} has no {function}");
    }
}

/// What Rust says of a struct, as C that does not compile where the header says otherwise.
macro_rules! layout {
    ($source:ident, $c:literal, $rust:ty, $($field:ident),+) => {
        writeln!($source, "_Static_assert(sizeof({}) == {}, \"size\");", $c, size_of::<$rust>())
            .unwrap();
        $(writeln!(
            $source,
            "_Static_assert(offsetof({}, {}) == {}, \"offset\");",
            $c, stringify!($field), offset_of!($rust, $field)
        )
        .unwrap();)+
    };
}

fn compile(standard: &str, source: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("header.c");
    std::fs::write(&path, source).unwrap();
    let mut command: Command = compiler();
    command.args([standard, "-pedantic", "-fsyntax-only"]).arg(&path);
    command.output().unwrap()
}

fn agreement() -> String {
    let mut source = "#include \"ciphermark.h\"\n".to_owned();
    layout!(source, "cm_request", Request, algorithm, direction, key, key_len, nonce_len, tag_len);
    layout!(source, "cm_message", Message, nonce, aad, aad_len, input, len, output, tag);
    layout!(
        source,
        "cm_session",
        RawSession,
        state,
        flags,
        message,
        start,
        update,
        finish,
        call,
        close,
        rekey,
        rekey_call,
        drain,
        in_flight
    );
    layout!(source, "cm_adapter", Adapter, abi, library, version, build, open);
    let numbers = [
        ("CIPHERMARK_ABI", raw::ABI as i32),
        ("CM_OK", raw::OK),
        ("CM_REJECTED", raw::REJECTED),
        ("CM_UNSUPPORTED", raw::UNSUPPORTED),
        ("CM_FAILED", raw::FAILED),
        ("CM_IN_PLACE", raw::IN_PLACE as i32),
        ("CM_NEXT_UNIT", raw::NEXT_UNIT as i32),
        ("CM_COPIES", raw::COPIES as i32),
        ("CM_ALLOCATES", raw::ALLOCATES as i32),
        ("CM_MOST_IN_FLIGHT", raw::MOST_IN_FLIGHT as i32),
        ("CM_ENCRYPT", raw::direction_number(base::model::Direction::Encrypt) as i32),
        ("CM_DECRYPT", raw::direction_number(base::model::Direction::Decrypt) as i32),
        ("CM_DIGEST", raw::direction_number(base::model::Direction::Digest) as i32),
        ("CM_GENERATE", raw::direction_number(base::model::Direction::Generate) as i32),
        ("CM_COPY", raw::direction_number(base::model::Direction::Copy) as i32),
    ];
    for (name, number) in numbers {
        writeln!(source, "_Static_assert({name} == {number}, \"{name}\");").unwrap();
    }
    writeln!(source, "const cm_adapter *(*entry)(void) = {};", raw::SYMBOL).unwrap();
    source
}

#[test]
fn the_header_and_rust_agree_on_every_offset_and_number() {
    let output = compile("-std=c11", &agreement());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let wrong = agreement().replace("CM_REJECTED == 1", "CM_REJECTED == 9");
    assert!(
        !compile("-std=c11", &wrong).status.success(),
        "the compiler looks at what it is given"
    );
}

#[test]
fn the_header_is_c99() {
    let output = compile("-std=c99", "#include \"ciphermark.h\"\nint unused;\n");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
