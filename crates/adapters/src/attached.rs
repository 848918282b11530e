//! The adapter interface of `include/ciphermark.h`: shared objects that bring their own adapter. The
//! functions that such an object fills into a session go into [`Session`] as they are: the timing loop calls
//! them with one indirect call, nothing of this module in between.

use crate::family;
use base::model::{Algorithm, Brought, Direction, Kind, MOST_OF_LIBRARY, MOST_VECTORS};
use contract::loader::SharedObject;
use contract::{Bringing, Identity, Library, OpenError, OwnVector, Session, raw};
use std::ffi::{CString, c_char, c_void};

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
    let library = unsafe { Attached::new(adapter, name) };
    let library = library.and_then(|library| Ok(Attached { brings: brings(&object)?, ..library }));
    library.map(|library| Box::new(library) as Box<dyn Library>).map_err(|why| object.unusable(why))
}

struct Attached {
    identity: Identity,
    open: raw::OpenFn,
    /// Version of the interface that the object was built for.
    abi: u32,
    brings: Vec<Bringing>,
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
        Ok(Self { identity, open, abi, brings: Vec::new() })
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

/// A C string; `None` when it is missing or blank.
///
/// # Safety
/// `pointer` is null or a NUL-terminated string.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    // SAFETY: the caller's.
    unsafe { contract::text(pointer) }.filter(|text| !text.trim().is_empty())
}

/// Without line breaks and other control characters, so that it fits one row of any output.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ").trim().to_owned()
}

// Algorithms that are not in our table.

/// Most bytes of a vector's message, ciphertext and associated data.
const MOST_VECTOR_BYTES: usize = 64 << 10;
const MOST_BYTES_OF_VECTORS: usize = 1 << 20;

/// What an object brings, made known in this process; the error reads after "cannot use 'PATH': ".
fn brings(object: &SharedObject) -> Result<Vec<Bringing>, String> {
    // An object that it depends on does not bring them for it.
    if !object.defines(raw::ALGORITHMS_SYMBOL) {
        return Ok(Vec::new());
    }
    // SAFETY: the interface gives the symbol this type.
    let entry = unsafe { object.exported::<raw::AlgorithmsFn>(raw::ALGORITHMS_SYMBOL) }?;
    let mut count = 0;
    // SAFETY: the interface's function writes how many there are and returns them, or null.
    let all = unsafe { entry(&raw mut count) };
    if count > MOST_OF_LIBRARY {
        return Err(format!(
            "it brings {count} algorithms, and at most {MOST_OF_LIBRARY} are taken"
        ));
    }
    if count > 0 && all.is_null() {
        return Err(format!("it brings {count} algorithms, and no word on them"));
    }
    let mut brings: Vec<Bringing> = Vec::new();
    for i in 0..count {
        // SAFETY: the interface's array of `count`, which lives as long as the object.
        let next = bringing(unsafe { &*all.add(i) })?;
        if brings.iter().any(|before| before.algorithm.name == next.algorithm.name) {
            return Err(format!("it brings '{}' twice", next.algorithm.name));
        }
        brings.push(next);
    }
    Ok(brings)
}

fn bringing(raw: &raw::Algorithm) -> Result<Bringing, String> {
    // SAFETY: the interface's strings.
    let (name, family) = unsafe { (text(raw.name), text(raw.family)) };
    let algorithm = Brought {
        name: name.unwrap_or_default(),
        family: family.unwrap_or_default(),
        kind: match raw.kind {
            0 => Kind::Cipher,
            1 => Kind::Aead,
            2 => Kind::Digest,
            3 => Kind::Mac,
            _ => Kind::Null,
        },
        key_bytes: raw.key_len,
        nonce_bytes: raw.nonce_len,
        tag_bytes: raw.tag_len,
        size_multiple: raw.size_multiple.max(1),
        size_least: raw.size_least,
        vectors: if raw.vectors.is_null() { 0 } else { raw.vector_count },
        sha256: None,
    };
    // First: what it bounds is how much is read.
    let known = algorithm.bring().map_err(|why| format!("it brings {why}"))?;
    debug_assert!(algorithm.vectors <= MOST_VECTORS, "`bring` refuses more");
    let mut bytes = 0;
    let vectors = (0..algorithm.vectors).map(|i| {
        // SAFETY: the interface's array of as many, which lives as long as the object.
        let vector = unsafe { &*raw.vectors.add(i) };
        bytes += vector.len.saturating_add(vector.aad_len).min(MOST_BYTES_OF_VECTORS);
        if bytes >= MOST_BYTES_OF_VECTORS {
            return Err(format!(
                "it brings '{known}' with vectors of {MOST_BYTES_OF_VECTORS} bytes and more"
            ));
        }
        own_vector(known, vector)
            .map_err(|why| format!("it brings '{known}': vector {} {why}", i + 1))
    });
    let vectors = vectors.collect::<Result<_, String>>()?;
    Ok(Bringing { algorithm, vectors })
}

fn own_vector(algorithm: &Algorithm, raw: &raw::Vector) -> Result<OwnVector, String> {
    if raw.len.max(raw.aad_len) > MOST_VECTOR_BYTES {
        return Err(format!("has more than {MOST_VECTOR_BYTES} bytes"));
    }
    if !algorithm.sizes.allows(raw.len) {
        return Err(format!("has a message of {} bytes: {}", raw.len, algorithm.size_reason()));
    }
    if raw.aad_len > 0 && !algorithm.takes_aad() {
        return Err("has associated data, which only an AEAD takes".to_owned());
    }
    let read = |what: &str, from: *const c_void, len: usize| -> Result<Vec<u8>, String> {
        if len == 0 {
            return Ok(Vec::new());
        }
        if from.is_null() {
            return Err(format!("lacks its {what} of {len} bytes"));
        }
        // SAFETY: the interface's bytes, of the length that it gives them.
        Ok(unsafe { std::slice::from_raw_parts(from.cast::<u8>(), len) }.to_vec())
    };
    let written = if algorithm.writes_output() { raw.len } else { 0 };
    Ok(OwnVector {
        key: read("key", raw.key, algorithm.key_len)?,
        nonce: read("nonce", raw.nonce, algorithm.nonce_len)?,
        aad: read("associated data", raw.aad, raw.aad_len)?,
        message: read("message", raw.input, raw.len)?,
        ciphertext: read("ciphertext", raw.output, written)?,
        tag: read("tag or digest", raw.tag, algorithm.tag_len)?,
    })
}

impl Library for Attached {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn brings(&self) -> &[Bringing] {
        &self.brings
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
