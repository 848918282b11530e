//! Overruns and crashes: memory between pages that fault, and a signal handler that says where a library
//! crashed.
//!
//! The handler is strict about async-signal safety: no allocation, no lock, nothing but loads of its own statics and
//! one direct system call.

use base::model::Direction;
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

pub const MARK: &str = "fault: ";

/// Parts of a message in memory, in the order in which [`entering`] takes them.
const PARTS: [&str; 5] = ["nonce", "associated data", "input", "output", "tag"];

/// Crashes that have a place. Not SIGILL: Crypto++ sets its handling back to the default while it is loaded, and
/// the check of surroundings would find that.
const SIGNALS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGABRT];

/// An access so far from a part is none of an overrun.
const NEAR: usize = 1 << 16;

/// Addresses below are a null pointer's, with the offset of a field or an index.
const NULL: usize = 4096;

/// `si_code` of a fault that has no address (`SI_KERNEL` of `asm-generic/siginfo.h`).
const SI_KERNEL: c_int = 0x80;

/// Bit of the page fault's error code: a write (Intel SDM, volume 3, section 4.7).
#[cfg(target_arch = "x86_64")]
const WRITE: libc::greg_t = 1 << 1;

/// The direction's place in [`Direction::ALL`], from 1; 0 outside of calls.
static DIRECTION: AtomicUsize = AtomicUsize::new(0);
static LEN: AtomicUsize = AtomicUsize::new(0);
/// What is opened: where the algorithm's name lies and how long it is; no length outside of that.
static OPENED: (AtomicPtr<u8>, AtomicUsize) =
    (AtomicPtr::new(std::ptr::null_mut()), AtomicUsize::new(0));
static AT: [[AtomicUsize; 2]; PARTS.len()] = [const { [const { AtomicUsize::new(0) }; 2] }; 5];
/// What handled each signal before.
static BEFORE: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

/// Says that the library is called with a message of `len` bytes: nonce, associated data, input, output and tag.
pub fn entering(direction: Direction, len: usize, parts: [&[u8]; PARTS.len()]) {
    for (at, part) in AT.iter().zip(parts) {
        let range = part.as_ptr_range();
        at[0].store(range.start as usize, Ordering::Relaxed);
        at[1].store(range.end as usize, Ordering::Relaxed);
    }
    LEN.store(len, Ordering::Relaxed);
    set(Some(direction));
}

pub fn opening(algorithm: &'static str, direction: Direction) {
    OPENED.0.store(algorithm.as_ptr().cast_mut(), Ordering::Relaxed);
    OPENED.1.store(algorithm.len(), Ordering::Release);
    set(Some(direction));
}

fn set(direction: Option<Direction>) {
    let place = direction.and_then(|of| Direction::ALL.iter().position(|d| *d == of));
    DIRECTION.store(place.map_or(0, |place| place + 1), Ordering::Release);
}

pub fn left() {
    set(None);
    OPENED.1.store(0, Ordering::Release);
}

/// Has this process say where it crashes. What handled the signals before then does what it did.
pub fn install() -> std::io::Result<()> {
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_fault;
    // SAFETY: a `sigaction` of zeroes is a valid one.
    let mut before: [libc::sigaction; SIGNALS.len()] =
        unsafe { MaybeUninit::zeroed().assume_init() };
    for (signal, before) in SIGNALS.into_iter().zip(&mut before) {
        // SAFETY: asks only, and writes to a `sigaction` of ours.
        if unsafe { libc::sigaction(signal, std::ptr::null(), before) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    // Kept before ours is in force: it may be needed at once.
    if BEFORE.set(before).is_err() {
        return Ok(());
    }
    for signal in SIGNALS {
        // SAFETY: zeroes with a handler of the type that SA_SIGINFO asks for are a valid `sigaction`.
        let set = unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut())
        };
        if set != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands over a valid `siginfo_t`; of a fault it has an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    let has_address = matches!(signal, libc::SIGSEGV | libc::SIGBUS) && code > 0;
    let address = (has_address && code != SI_KERNEL).then_some(address);
    let line = describe(has_address, address, || is_write(context));
    // SAFETY: a direct call with a buffer of its length; what becomes of it does not matter.
    unsafe { libc::syscall(libc::SYS_write, 2, line.bytes.as_ptr(), line.len) };
    step_back(signal, code);
}

/// Leaves the signal to whoever handled it before: the instruction runs again and faults again.
fn step_back(signal: c_int, code: c_int) {
    let place = SIGNALS.iter().position(|s| *s == signal);
    let Some(before) = place.and_then(|place| BEFORE.get()?.get(place)) else { return };
    // SAFETY: what `sigaction` gave is valid to set; `sigaction` and `raise` are async-signal-safe.
    unsafe {
        libc::sigaction(signal, before, std::ptr::null_mut());
        if code <= 0 {
            // Sent by a process: nothing will fault again.
            libc::raise(signal);
        }
    }
}

/// Whether the access was a write, where the processor says so.
#[cfg(target_arch = "x86_64")]
fn is_write(context: *mut c_void) -> Option<bool> {
    // SAFETY: the kernel hands over a valid context, ours for the handler's duration.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    Some(registers[libc::REG_ERR as usize] & WRITE != 0)
}

/// Whether the access was a write, where the processor says so.
#[cfg(not(target_arch = "x86_64"))]
fn is_write(_: *mut c_void) -> Option<bool> {
    None
}

/// A line that is made without allocating; what does not fit is cut off.
struct Line {
    bytes: [u8; 200],
    len: usize,
}

impl Line {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().take(self.bytes.len() - self.len) {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
    }

    fn number(&mut self, mut n: usize) {
        let (mut digits, mut at) = ([0; 20], 20);
        loop {
            at -= 1;
            digits[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        }
        self.add(std::str::from_utf8(&digits[at..]).unwrap_or_default());
    }
}

/// `fault: write to byte 1 after the end of the output, in encrypt of 700 bytes`.
fn describe(is_access: bool, address: Option<usize>, write: impl FnOnce() -> Option<bool>) -> Line {
    let mut line = Line { bytes: [0; 200], len: 0 };
    line.add("\n");
    line.add(MARK);
    let direction = DIRECTION.load(Ordering::Acquire).checked_sub(1);
    let call = direction.and_then(|at| Direction::ALL.get(at));
    let has_parts = call.is_some() && opened().is_none();
    if is_access {
        match (address, address.and_then(|_| write())) {
            (Some(_), Some(true)) => line.add("write to "),
            (Some(_), Some(false)) => line.add("read of "),
            _ => line.add("access to "),
        }
        match address {
            Some(address) if address < NULL => {
                line.add("address ");
                line.number(address);
                line.add(", a null pointer's");
            }
            Some(address) => place(&mut line, address, has_parts),
            None => line.add("no usable address (a vector that is not aligned, or a wild pointer)"),
        }
    }
    if let Some(direction) = call {
        line.add(if is_access { ", in " } else { "in " });
        match opened() {
            Some(algorithm) => {
                line.add("opening ");
                line.add(algorithm);
                line.add(" for ");
                line.add((*direction).into());
            }
            None => {
                line.add((*direction).into());
                line.add(" of ");
                line.number(LEN.load(Ordering::Relaxed));
                line.add(" bytes");
            }
        }
    }
    line.add("\n");
    line
}

fn opened() -> Option<&'static str> {
    let len = Some(OPENED.1.load(Ordering::Acquire)).filter(|len| *len > 0)?;
    // SAFETY: both come from one `&'static str`, the length last.
    let bytes = unsafe { std::slice::from_raw_parts(OPENED.0.load(Ordering::Relaxed), len) };
    std::str::from_utf8(bytes).ok()
}

/// Where an address is, by the nearest part of the message.
fn place(line: &mut Line, address: usize, has_parts: bool) {
    let mut nearest: Option<(usize, [&str; 3], usize)> = None;
    for (at, name) in AT.iter().zip(PARTS).filter(|_| has_parts) {
        let [start, end] = [at[0].load(Ordering::Relaxed), at[1].load(Ordering::Relaxed)];
        let (distance, side, byte) = match address {
            _ if start == end => continue,
            _ if address < start => (start - address, "before the beginning of", start - address),
            _ if address >= end => (address - end + 1, "after the end of", address - end + 1),
            _ => (0, "of", address - start),
        };
        if distance < NEAR && nearest.is_none_or(|(least, ..)| distance < least) {
            nearest = Some((distance, [side, " the ", name], byte));
        }
    }
    let Some((_, words, byte)) = nearest else {
        return line.add("memory outside the message's buffers");
    };
    line.add("byte ");
    line.number(byte);
    line.add(" ");
    words.into_iter().for_each(|word| line.add(word));
}

// Memory with a page on either side that faults: an access past it kills the process, which is
// the one proof against overruns that needs no cooperation of the library.

/// Writable memory between two inaccessible pages, zeroed at first.
///
/// A library that is handed [`GuardedBuffer::tail`] faults on the first byte it touches past the
/// end, one that is handed [`GuardedBuffer::head`] on the first byte before the beginning.
#[derive(Debug)]
pub struct GuardedBuffer {
    data: NonNull<u8>,
    len: usize,
    page: usize,
}

// SAFETY: a buffer owns its mapping, as a `Vec` owns its memory.
unsafe impl Send for GuardedBuffer {}

impl GuardedBuffer {
    /// Maps at least `capacity` writable bytes, rounded up to whole pages, and two guard pages.
    pub fn new(capacity: usize) -> Self {
        let page = rustix::param::page_size();
        let len = capacity.max(1).next_multiple_of(page);
        // SAFETY: a fresh private mapping at an address of the kernel's choice.
        let base = unsafe {
            mmap_anonymous(null_mut(), len + 2 * page, ProtFlags::empty(), MapFlags::PRIVATE)
        }
        .expect("the kernel grants memory for a guarded buffer");
        // SAFETY: one page into a mapping of at least three pages, so in bounds and not null.
        let data = unsafe { NonNull::new_unchecked(base.cast::<u8>().add(page)) };
        // From here on the drop of `buffer` unmaps, also when the next call fails.
        let buffer = Self { data, len, page };
        // SAFETY: exactly the pages between the first and the last page of our own mapping.
        unsafe {
            mprotect(
                data.as_ptr().cast::<c_void>(),
                len,
                MprotectFlags::READ | MprotectFlags::WRITE,
            )
        }
        .expect("the kernel opens pages of our own mapping");
        buffer
    }

    pub fn capacity(&self) -> usize {
        self.len
    }

    /// All of the writable memory, page-aligned: both ends touch a guard page.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `len` bytes from `data` are readable, initialised (anonymous pages are zero),
        // and owned by `self`, which is borrowed for as long as the slice lives.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }

    /// All of the writable memory, page-aligned: both ends touch a guard page.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as `as_slice`, and borrowed uniquely.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }

    /// The last `len` bytes: the byte after them is in a guard page.
    ///
    /// # Panics
    /// When `len` is more than [`GuardedBuffer::capacity`].
    pub fn tail(&mut self, len: usize) -> &mut [u8] {
        let start = self.len.checked_sub(len).expect("len is within the capacity");
        &mut self.as_mut_slice()[start..]
    }

    /// The first `len` bytes: the byte before them is in a guard page.
    ///
    /// # Panics
    /// When `len` is more than [`GuardedBuffer::capacity`].
    pub fn head(&mut self, len: usize) -> &mut [u8] {
        &mut self.as_mut_slice()[..len]
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        // SAFETY: the whole mapping that `new` made; nothing can borrow from it any more.
        let unmapped = unsafe {
            munmap(self.data.as_ptr().sub(self.page).cast::<c_void>(), self.len + 2 * self.page)
        };
        debug_assert!(unmapped.is_ok(), "our own mapping can be unmapped: {unmapped:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::{GuardedBuffer, *};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    fn said(address: Option<usize>, write: Option<bool>) -> String {
        let line = describe(true, address, || write);
        String::from_utf8_lossy(&line.bytes[..line.len]).trim().to_owned()
    }

    /// One test, because there is one call of a process.
    #[test]
    fn an_access_is_told_by_the_nearest_part_of_the_message() {
        let memory = [0_u8; 300];
        let at = memory.as_ptr() as usize;
        let [input, output] = [&memory[..100], &memory[200..]];
        entering(Direction::Encrypt, 100, [&[], &[], input, output, &[]]);
        let after = said(Some(at + 302), Some(true));
        assert_eq!(
            after,
            "fault: write to byte 3 after the end of the output, in encrypt of 100 bytes"
        );
        let before = said(Some(at - 1), Some(false));
        assert!(before.contains("read of byte 1 before the beginning of the input,"), "{before}");
        let within = said(Some(at + 7), None);
        assert!(within.contains("access to byte 7 of the input,"), "{within}");
        let null = said(Some(16), Some(false));
        assert!(null.contains("read of address 16, a null pointer's"), "{null}");
        let far = said(Some(at + (NEAR << 2)), Some(true));
        assert!(far.contains("memory outside the message's buffers, in encrypt"), "{far}");
        assert!(said(None, None).contains("access to no usable address"));
        opening("sha256", Direction::Digest);
        let opened = said(Some(at + 302), Some(true));
        assert!(opened.ends_with("buffers, in opening sha256 for digest"), "{opened}");
        left();
        let outside = said(Some(at + 302), Some(true));
        assert!(outside.ends_with("write to memory outside the message's buffers"), "{outside}");
    }

    /// Set for the child.
    const CHILD: &str = "CIPHERMARK_TEST_CHILD";

    /// Not a test by itself: the child of the test below runs it and dies of it.
    #[test]
    #[ignore = "child: faults on purpose, for the test below"]
    fn overrun() {
        // Nobody's child: of all ignored tests.
        if std::env::var_os(CHILD).is_none() {
            return;
        }
        install().unwrap();
        let mut buffer = GuardedBuffer::new(1);
        let tail = buffer.tail(16);
        let end = tail.as_mut_ptr_range().end;
        entering(Direction::Decrypt, 16, [&[], &[], &[], tail, &[]]);
        // SAFETY: none: that this faults is what the child is for.
        unsafe { end.write_volatile(1) };
    }

    #[test]
    fn a_process_that_crashes_says_where_and_dies_as_without_it() {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "fault::tests::overrun"])
            .env(CHILD, "1")
            .stdout(Stdio::null())
            .output()
            .unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let access = if cfg!(target_arch = "x86_64") { "write to" } else { "access to" };
        let words = format!("{access} byte 1 after the end of the output, in decrypt of 16 bytes");
        assert!(said.contains(&words), "{said}");
    }

    #[test]
    fn the_tail_ends_where_the_memory_ends_and_the_head_begins_where_it_begins() {
        let mut buffer = GuardedBuffer::new(5000);
        assert!(buffer.capacity() >= 5000 && buffer.capacity().is_multiple_of(buffer.page));
        buffer.tail(7).fill(1);
        buffer.head(3).fill(2);
        let all = buffer.as_slice();
        assert_eq!(all[..4], [2, 2, 2, 0]);
        assert_eq!(all[all.len() - 8..], [0, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(all.as_ptr().align_offset(buffer.page), 0);
    }

    #[test]
    fn a_buffer_of_no_bytes_still_has_an_address() {
        let mut buffer = GuardedBuffer::new(0);
        assert!(buffer.tail(0).is_empty() && buffer.head(0).is_empty());
        assert_eq!(buffer.capacity(), buffer.page);
    }

    /// Not a test by itself: the children of the test below run it and die of it.
    #[test]
    #[ignore = "child: faults on purpose, for the test below"]
    fn touch_a_guard_page() {
        let mut buffer = GuardedBuffer::new(1);
        let at = match std::env::var("TOUCH").as_deref() {
            Ok("after") => buffer.tail(16).as_mut_ptr().wrapping_add(16),
            Ok("before") => buffer.head(16).as_mut_ptr().wrapping_sub(1),
            Ok(_) => buffer.tail(16).as_mut_ptr().wrapping_add(15),
            // Nobody's child: of all ignored tests.
            Err(_) => return,
        };
        // SAFETY: none for two of the three: that this faults is what the child is for. The third
        // is the tail's last byte.
        unsafe { at.write_volatile(1) };
    }

    #[test]
    fn a_process_that_touches_a_guard_page_dies_of_a_segmentation_fault() {
        for (touch, signal) in
            [("after", Some(libc::SIGSEGV)), ("before", Some(libc::SIGSEGV)), ("last", None)]
        {
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "fault::tests::touch_a_guard_page"])
                .env("TOUCH", touch)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            assert_eq!(status.signal(), signal, "{touch}: {status}");
            assert_eq!(status.success(), signal.is_none(), "{touch}: {status}");
        }
    }
}
