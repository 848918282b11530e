//! What an adapter may not do, one adapter each.

use super::super::Attached;
use base::model::{Algorithm, Direction};
use contract::{Library, OpenError, raw};
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

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
    assert!(why.len() <= super::super::WHY_LEN && why.chars().all(|c| c == 'x'), "{why}");
}

#[test]
fn a_session_without_a_model_is_refused_and_closed() {
    assert!(matches!(opening(half_a_stream), OpenError::Failed(why) if why.contains("`start`")));
    let before = CLOSED.load(Ordering::Relaxed);
    assert!(matches!(opening(offers_nothing), OpenError::Failed(why) if why.contains("neither")));
    assert_eq!(CLOSED.load(Ordering::Relaxed), before + 1);
}
