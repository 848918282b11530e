//! The stand-in libraries of `tests/fakes`: the correct one is right, and those whose fault must not show plant it,
//! since a test of the program against a stand-in that does no harm would pass whatever the program did. A fault that
//! the program is to find needs no test here.

use super::Object;
use base::model::{Algorithm, Direction};
use contract::{Library, OpenError, Outcome, Session};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;
use testing::trial::{Sealed, bytes, streams_agree};
use verify::reference::Reference;

const CTR: &str = "aes-128-ctr";
const GCM: &str = "aes-128-gcm";

fn fake(name: &str, flags: &[&str]) -> Object {
    Object::compile(&format!("tests/fakes/{name}.c"), flags)
}

fn algorithm(name: &str) -> &'static Algorithm {
    Algorithm::find(name).unwrap()
}

fn open(library: &dyn Library, name: &str, direction: Direction) -> (Session, Reference) {
    let key = bytes(algorithm(name).key_len, 1);
    let session = library.open(algorithm(name), direction, &key).unwrap();
    (session, Reference::new(algorithm(name), &key))
}

/// The library passes every check of the algorithms.
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
        let (session, _) = open(&*library, GCM, Direction::Encrypt);
        assert_eq!((session.has_rekey(), session.in_flight()), (rekeys, 1), "{name}");
        passes(&*library, &[GCM]);
    }
}

#[test]
fn defers_does_no_message_before_it_is_drained_or_has_eight() {
    let library = fake("defers", &[]).load();
    // Each message is drained before its outcome is told.
    passes(&*library, &[CTR, GCM]);
    let (session, reference) = open(&*library, CTR, Direction::Encrypt);
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
    let (mut session, reference) = open(&*library, CTR, Direction::Encrypt);
    let s = Sealed::new(&reference, 100);
    assert_eq!(s.encrypt_with(&mut session), (Outcome::Done, s.cipher.clone(), Vec::new()));
}

fn child(object: &Object) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "attached::tests::fakes::in_a_child_process", "--ignored"]);
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
