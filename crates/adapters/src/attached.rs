//! The adapter interface of `include/ciphermark.h`: shared objects that bring their own adapter. The
//! functions that such an object fills into a session go into [`Session`] as they are: the timing loop calls
//! them with one indirect call, nothing of this module in between.

use crate::family;
use base::model::{Algorithm, Direction};
use contract::loader::SharedObject;
use contract::{Identity, Library, OpenError, Session, raw};
use std::ffi::{CStr, CString, c_char};

/// Bytes for the reason that `open` may give: a line or two.
const WHY_LEN: usize = 512;

/// Attaches a shared object that exports `ciphermark_adapter`.
///
/// # Errors
/// [`contract::loader::LoadError::Unusable`] when the object speaks another version of the interface, or does not
/// say who it is: a measurement without a library version is worth nothing.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> family::Attached {
    // SAFETY: the interface gives the symbol this type.
    let entry = unsafe { object.exported::<raw::EntryFn>(raw::SYMBOL) }?;
    // SAFETY: the interface's entry function takes nothing and returns a static struct or null.
    let adapter = unsafe { entry() };
    // SAFETY: a struct of `include/ciphermark.h` whose strings live as long as the object, which
    // is never unloaded.
    unsafe { Attached::new(adapter, name) }
        .map(|library| Box::new(library) as Box<dyn Library>)
        .map_err(|why| object.unusable(why))
}

struct Attached {
    identity: Identity,
    open: raw::OpenFn,
    /// Version of the interface that the object was built for.
    abi: u32,
}

impl Attached {
    /// Reads the adapter's struct; the error reads after "cannot use 'PATH': ".
    ///
    /// # Safety
    /// `adapter` is null, or points to a number that is the interface's version and, where that
    /// is ours, to the whole struct; its strings are null or NUL-terminated.
    unsafe fn new(adapter: *const raw::Adapter, name: Option<&str>) -> Result<Self, String> {
        if adapter.is_null() {
            return Err(format!("`{}` returned a null pointer", raw::SYMBOL));
        }
        // Another version's struct may be shorter than ours: nothing but the number is read yet.
        // SAFETY: not null; every version of the struct begins with the number.
        let abi = unsafe { (&raw const (*adapter).abi).read() };
        if !(raw::OLDEST_ABI..=raw::ABI).contains(&abi) {
            return Err(format!(
                "it is built for adapter interface {abi}, this program speaks {} to {}; rebuild it with this version's include/ciphermark.h",
                raw::OLDEST_ABI,
                raw::ABI
            ));
        }
        // SAFETY: the struct of our version; that of the older ones is the same.
        let adapter = unsafe { &*adapter };
        let open = adapter.open.ok_or("its adapter has no `open` function")?;
        // SAFETY: the interface's strings.
        let identity = unsafe { identity(adapter, name) }?;
        Ok(Self { identity, open, abi })
    }
}

/// Who the adapter says the library is.
///
/// # Safety
/// The adapter's strings are null or NUL-terminated.
unsafe fn identity(adapter: &raw::Adapter, name: Option<&str>) -> Result<Identity, String> {
    // SAFETY: the caller's promise, three times.
    let (library, version, build) =
        unsafe { (text(adapter.library), text(adapter.version), text(adapter.build)) };
    let name = name.map(str::to_owned).or(library).ok_or("its adapter gives no library name")?;
    let version = version.ok_or("its adapter gives no version of the library")?;
    let build = build.iter().flat_map(|b| b.lines()).map(one_line).collect::<Vec<_>>();
    let build = build.into_iter().filter(|line| !line.is_empty()).collect();
    Ok(Identity { name: one_line(&name), version: one_line(&version), build })
}

/// A C string; `None` when it is missing or blank. What is not UTF-8 is replaced: a byte of a
/// foreign character set in a compiler's name is no reason to refuse a library.
///
/// # Safety
/// `pointer` is null or a NUL-terminated string.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, so NUL-terminated.
    let text = unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned();
    (!text.trim().is_empty()).then_some(text)
}

/// Without line breaks and other control characters, so that it fits one row of any output.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

impl Library for Attached {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn one_thread_only(&self) -> Option<&str> {
        // Version 2 promised one thread; later ones ask for more.
        (self.abi < 3).then_some(
            "it is built for adapter interface 2, which has one thread only; rebuild it with this version's include/ciphermark.h",
        )
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        let name = CString::new(algorithm.name).expect("names of algorithms have no NUL");
        let request = raw::Request {
            algorithm: name.as_ptr(),
            direction: raw::direction_number(direction),
            key: key.as_ptr(),
            key_len: key.len(),
            nonce_len: algorithm.nonce_len,
            tag_len: algorithm.tag_len,
        };
        // An object of an older version fills in the beginning of the session and knows nothing of the rest.
        let mut session = raw::Session::empty();
        let mut why = [0; WHY_LEN];
        // SAFETY: every pointer covers the length beside it and outlives the call, as the
        // interface asks.
        let code = unsafe {
            (self.open)(&raw const request, &raw mut session, why.as_mut_ptr().cast(), why.len())
        };
        match code {
            raw::OK => opened(session, algorithm, direction),
            raw::UNSUPPORTED => Err(OpenError::Unsupported(reason(&why))),
            raw::FAILED => Err(OpenError::Failed(reason(&why))),
            other => Err(OpenError::Failed(format!("`open` returned {other}: {}", reason(&why)))),
        }
    }
}

/// Takes a filled-in session over, unless it offers nothing that could be measured.
fn opened(
    session: raw::Session,
    algorithm: &'static Algorithm,
    direction: Direction,
) -> Result<Session, OpenError> {
    let halves = session.start.is_some() != session.update.is_some();
    let unfit = session.drain.and_then(|_| cannot_be_drained(&session, algorithm, direction));
    // SAFETY: the adapter says that it follows the interface for this algorithm and direction,
    // which is all that can be known of a foreign object; from here on the session closes itself.
    let session = unsafe { Session::new(session, algorithm, direction) };
    if halves {
        return Err(OpenError::Failed(
            "`open` gave one of `start` and `update` without the other".to_owned(),
        ));
    }
    if let Some(why) = unfit {
        return Err(OpenError::Failed(format!("`open` gave `drain` {why}")));
    }
    if !session.has_message() && !session.has_stream() {
        return Err(OpenError::Failed(
            "`open` succeeded and gave neither `message` nor `start` and `update`".to_owned(),
        ));
    }
    Ok(session)
}

/// What `drain` does not go together with.
fn cannot_be_drained(
    session: &raw::Session,
    algorithm: &Algorithm,
    direction: Direction,
) -> Option<String> {
    let most = raw::MOST_IN_FLIGHT;
    if session.message.is_none() {
        return Some("without `message`".to_owned());
    }
    if session.rekey.is_some() {
        return Some("and `rekey`: messages in flight share one key".to_owned());
    }
    if algorithm.rejects() && direction == Direction::Decrypt {
        return Some("for decryption with a tag: no call would say which tag is wrong".to_owned());
    }
    let number = session.in_flight;
    (!(2..=most).contains(&number)).then(|| format!("and {number} in flight, not 2 to {most}"))
}

/// The reason that `open` left in its buffer, which is not trusted to be terminated.
fn reason(why: &[u8]) -> String {
    let end = why.iter().position(|b| *b == 0).unwrap_or(why.len());
    let text = one_line(&String::from_utf8_lossy(&why[..end]));
    if text.is_empty() { "the adapter gives no reason".to_owned() } else { text }
}

#[cfg(test)]
mod tests;
