//! A session in a runtime's process.

use super::link::Link;
use super::{DONE, Runtime, UNSUPPORTED};
use base::model::{Algorithm, Direction};
use contract::{OpenError, Operations, Placed, Ran, Remote, Session, Table, Turn, raw};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An opened session.
#[derive(Debug)]
struct State {
    link: Arc<Mutex<Link>>,
    number: u32,
    algorithm: &'static Algorithm,
    direction: Direction,
}

/// The same session, for batches.
#[derive(Debug)]
struct Batches {
    link: Arc<Mutex<Link>>,
    number: u32,
    process: u32,
    compiles: bool,
}

pub(super) fn open(
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
