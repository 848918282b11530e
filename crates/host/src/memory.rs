//! The memory that a command takes which reads files of strangers: a small file can ask for any amount. The kernel holds
//! the process to it, and the allocator says so in one line. It holds `unsafe` code: an allocator.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// GiB that reading may take.
const VARIABLE: &str = "CIPHERMARK_MEMORY";
const MOST_GIB: f64 = 1.5;

/// How the program ends, as where any command cannot be carried out.
const NOT_DONE: i32 = 4;
const WORDS: &str = "ciphermark: the files that are read need more memory than is allowed (1.5 GiB, or as many GiB as the \
     environment variable CIPHERMARK_MEMORY says): name fewer at once\n";

/// Whether this process said that it reads.
static IS_BOUND: AtomicBool = AtomicBool::new(false);

/// From now on this process takes no more memory than reading may, or ends with one line. What it starts inherits that
/// ([`unbind`]).
pub fn bind() -> Result<(), String> {
    let text = std::env::var_os(VARIABLE).unwrap_or_default().to_string_lossy().into_owned();
    let gib = if text.is_empty() { Ok(MOST_GIB) } else { text.parse::<f64>() };
    let Some(gib) = gib.ok().filter(|gib| *gib > 0.0) else {
        return Err(format!("{VARIABLE} is '{text}': it takes a number of GiB, such as 8"));
    };
    let own = getrlimit(Resource::Data);
    let most = (gib * f64::from(1 << 30)) as u64;
    let current = Some(own.current.map_or(most, |own| own.min(most)));
    // Where nothing can be held, the machine's memory is the bound.
    IS_BOUND.store(setrlimit(Resource::Data, Rlimit { current, ..own }).is_ok(), Ordering::Relaxed);
    Ok(())
}

/// Reads within the bound, in a command that measures afterwards.
pub fn while_reading<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    if IS_BOUND.load(Ordering::Relaxed) {
        return Ok(read());
    }
    bind()?;
    let done = read();
    unbind();
    Ok(done)
}

/// For what measures: this process, or the one that started it, has read.
pub fn unbind() {
    IS_BOUND.store(false, Ordering::Relaxed);
    let own = getrlimit(Resource::Data);
    // It is a process's own right.
    let _ = setrlimit(Resource::Data, Rlimit { current: own.maximum, ..own });
}

/// The system's allocator, which ends a process that is bound where there is no more.
#[derive(Debug)]
pub struct Bounded;

// SAFETY: all memory is the system's allocator's, asked for and given back as it was asked here.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system's allocator wants.
        or_end(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        or_end(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        or_end(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

fn or_end(memory: *mut u8) -> *mut u8 {
    if memory.is_null() && IS_BOUND.load(Ordering::Relaxed) {
        // SAFETY: a call with a buffer of its length; what becomes of it does not matter. Nothing runs after it.
        unsafe {
            libc::write(2, WORDS.as_ptr().cast(), WORDS.len());
            libc::_exit(NOT_DONE);
        }
    }
    memory
}
