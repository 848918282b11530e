//! What the tests of several families share.

use crate::attached::agreement::bytes;
use contract::{Library, Message, Outcome};
use model::{Algorithm, Direction};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Libraries initialise themselves once per process, which is not something to do twice at a time.
static LOADING: Mutex<()> = Mutex::new(());

/// The file that the variable names, else the system's, attached; `None` where neither is there.
pub(crate) fn system_library(variable: &str, file: &str) -> Option<Box<dyn Library>> {
    let _one_at_a_time = LOADING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let places = [multiarch.as_str(), "/usr/lib64", "/usr/lib", "/usr/local/lib"];
    let found = || places.iter().map(|p| Path::new(p).join(file)).find(|p| p.exists());
    let path = std::env::var_os(variable).map(PathBuf::from).or_else(found)?;
    Some(crate::load(&path, None).unwrap())
}

/// Runs every check over the algorithms that the library offers;
/// names what is refused.
pub(crate) fn findings(library: &dyn Library) -> Vec<(&'static str, String)> {
    Algorithm::all()
        .iter()
        .filter_map(|algorithm| {
            match verify::verify(library, algorithm, &verify::Scope::BRIEF, &mut |_| ()) {
                Ok(_) | Err(verify::Finding::Unsupported(_)) => None,
                Err(finding) => Some((algorithm.name, finding.to_string())),
            }
        })
        .collect()
}

/// The names of the algorithms that the library opens, composites left out.
pub(crate) fn offered(library: &dyn Library) -> Vec<&'static str> {
    let primitives = Algorithm::all().iter().filter(|a| a.composite.is_none());
    let opens = |a: &&'static Algorithm| {
        let direction = Direction::of(a.kind)[0];
        library.open(a, direction, &bytes(a.key_len, 1)).is_ok()
    };
    primitives.filter(opens).map(|a| a.name).collect()
}

/// Every session says what it calls and how it may be used.
pub(crate) fn sessions_name_their_calls(library: &dyn Library) {
    for name in offered(library) {
        let algorithm = Algorithm::find(name).unwrap();
        for &direction in Direction::of(algorithm.kind) {
            let session = library.open(algorithm, direction, &bytes(algorithm.key_len, 1)).unwrap();
            let calls = session.calls().unwrap_or_default();
            assert!(!calls.is_empty() && calls.is_ascii(), "{name} {direction}: {calls:?}");
            assert!(session.has_message(), "{name} {direction}");
        }
    }
}

/// A digest's or MAC's stream in pieces of many sizes ends with the tag of the whole message, also
/// when another one was left unfinished before.
pub(crate) fn streams_end_in_the_messages_tag(
    library: &dyn Library,
    algorithm: &'static Algorithm,
) {
    let mut session =
        library.open(algorithm, Direction::Digest, &bytes(algorithm.key_len, 1)).unwrap();
    let nonce = bytes(algorithm.nonce_len, 2);
    let raw = session.raw();
    let (state, start, update, finish) =
        (raw.state, raw.start.unwrap(), raw.update.unwrap(), raw.finish.unwrap());
    for len in [0_usize, 1, 63, 64, 129, 1000, 5000] {
        let message = bytes(len, 3);
        let mut whole = vec![0; algorithm.tag_len];
        let outcome = session.message(Message {
            nonce: &nonce,
            aad: &[],
            input: &message,
            output: &mut [],
            tag: &mut whole,
        });
        assert_eq!(outcome, Outcome::Done, "{algorithm} {len}");
        let mut tag = vec![0; algorithm.tag_len];
        // SAFETY: the functions and the state are one session's, which lives to the end of the
        // function; the slices cover what the interface asks for.
        unsafe {
            assert_eq!(start(state, nonce.as_ptr()), 0);
            assert_eq!(update(state, message.as_ptr(), std::ptr::null_mut(), len / 2), 0);
            assert_eq!(start(state, nonce.as_ptr()), 0);
            for piece in message.chunks(37) {
                assert_eq!(update(state, piece.as_ptr(), std::ptr::null_mut(), piece.len()), 0);
            }
            assert_eq!(finish(state, tag.as_mut_ptr()), 0);
        }
        assert_eq!(tag, whole, "{algorithm} {len}");
    }
}
