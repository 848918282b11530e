//! The process's place in the file of `ciphermark watch`. The whole file is mapped once, when the process starts: a
//! forked child takes its own place without a system call that a confinement, another root or a closed descriptor
//! could refuse. What is written lies in the page cache, which outlives a process that is killed.

use crate::enter::{Thread, ticks};
use crate::layout::*;
use std::ffi::CStr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};

pub type Words = &'static [AtomicU64];

static FILE: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
static REGION: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
/// A word that the kernel sets to zero in a forked child.
static ALIVE: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// Variable with the path of the file.
const VARIABLE: &CStr = c"CIPHERMARK_WATCH";
const PAGE: usize = 4096;
/// Calls of a thread between two times that the CPU time is written down.
const STAMP_EACH: u64 = 1024;

/// Maps the file. False where there is none for this process: then nothing is watched.
pub fn map() -> bool {
    // SAFETY: the loader calls this before the program has threads.
    let path = unsafe { libc::getenv(VARIABLE.as_ptr()) };
    if path.is_null() {
        return false;
    }
    // SAFETY: a C string of the environment; the descriptor is closed below.
    let file = unsafe { libc::open(path, libc::O_RDWR | libc::O_CLOEXEC | libc::O_NOFOLLOW) };
    if file < 0 {
        return false;
    }
    let bytes = WORDS * size_of::<AtomicU64>();
    let both = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of a file that is checked to be as long; nothing else is at its place.
    let (mapped, page) = unsafe {
        let mut facts: libc::stat = std::mem::zeroed();
        let fits = libc::fstat(file, &raw mut facts) == 0
            && usize::try_from(facts.st_size).is_ok_and(|size| size == bytes);
        let mapped = match fits {
            true => libc::mmap(std::ptr::null_mut(), bytes, both, libc::MAP_SHARED, file, 0),
            false => libc::MAP_FAILED,
        };
        libc::close(file);
        let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        (mapped, libc::mmap(std::ptr::null_mut(), PAGE, both, anonymous, -1, 0))
    };
    if mapped == libc::MAP_FAILED || page == libc::MAP_FAILED {
        return false;
    }
    // SAFETY: both were just mapped.
    let (first, alive) = unsafe {
        libc::madvise(page, PAGE, libc::MADV_WIPEONFORK);
        (&*mapped.cast::<AtomicU64>(), &*page.cast::<AtomicU64>())
    };
    if first.load(Relaxed) != MAGIC {
        return false;
    }
    alive.store(1, Relaxed);
    ALIVE.store(page.cast(), Relaxed);
    FILE.store(mapped.cast(), Release);
    true
}

fn file() -> Option<Words> {
    let first = FILE.load(Acquire);
    // SAFETY: mapped that long, for as long as the process lives.
    (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first, WORDS) })
}

/// This process's region, where it has one.
#[inline(always)]
pub fn current() -> Option<Words> {
    let alive = ALIVE.load(Relaxed);
    // SAFETY: mapped for as long as the process lives.
    if !alive.is_null() && unsafe { (*alive).load(Relaxed) } == 0 {
        forked();
    }
    let first = REGION.load(Relaxed);
    // SAFETY: a region of the file.
    (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first, REGION_WORDS) })
}

/// Takes a region, unless the process has one.
pub fn take() -> Option<Words> {
    current().or_else(|| {
        let region = new()?;
        let mut path = [0_u8; PROGRAM_WORDS * 8];
        // SAFETY: as long as it says.
        unsafe {
            libc::readlink(c"/proc/self/exe".as_ptr(), path.as_mut_ptr().cast(), path.len() - 1)
        };
        write(&region[PROGRAM..][..PROGRAM_WORDS], &path);
        region[ALGORITHM_COUNT].store(1, Relaxed);
        write(&region[ALGORITHM_AT..][..ALGORITHM_WORDS], b"?");
        region[CLOCK_TICKS].store(clock_ticks(), Relaxed);
        REGION.store(region.as_ptr().cast_mut(), Release);
        Some(region)
    })
}

/// What two readings of the clock in a row say that they took: the median of some.
fn clock_ticks() -> u64 {
    let mut gaps = [0; 255];
    for gap in &mut gaps {
        let before = ticks();
        *gap = ticks().saturating_sub(before);
    }
    gaps.sort_unstable();
    gaps[gaps.len() / 2]
}

/// A free region, with memory behind all but its areas.
fn new() -> Option<Words> {
    let file = file()?;
    for index in 0..REGIONS {
        let at = FILE_WORDS + index * REGION_WORDS;
        let region = &file[at..][..REGION_WORDS];
        let state = &region[STATE];
        if state.load(Relaxed) != 0 || state.compare_exchange(0, TAKEN, Acquire, Relaxed).is_err() {
            continue;
        }
        if !populate(&region[..AREA_AT]) {
            break;
        }
        // SAFETY: no more than asking.
        let (own, parent) = unsafe { (libc::getpid(), libc::getppid()) };
        region[PARENT].store(parent.unsigned_abs().into(), Relaxed);
        let spent = cpu_time();
        region[CPU_BEFORE].store(spent, Relaxed);
        region[CPU_NOW].store(spent, Relaxed);
        note_time(&region[BEGAN..]);
        region[PID].store(own.unsigned_abs().into(), Release);
        return Some(region);
    }
    file[FILE_REFUSED].fetch_add(1, Relaxed);
    None
}

/// Gets memory for a part of the file now: without any, a later store would end the program (SIGBUS).
fn populate(words: &[AtomicU64]) -> bool {
    let first = words.as_ptr() as usize & !(PAGE - 1);
    let end = (words.as_ptr() as usize + size_of_val(words)).next_multiple_of(PAGE);
    // SAFETY: whole pages of a mapping of ours.
    let done = unsafe { libc::madvise(first as *mut _, end - first, libc::MADV_POPULATE_WRITE) };
    // SAFETY: of the C library that `madvise` is from.
    if done == 0 || unsafe { *libc::__errno_location() } != libc::EINVAL {
        return done == 0;
    }
    // Before Linux 5.14: the file system is asked instead.
    let base = FILE.load(Relaxed) as usize;
    // SAFETY: a descriptor of its own for a moment.
    unsafe {
        let path = libc::getenv(VARIABLE.as_ptr());
        let file =
            if path.is_null() { -1 } else { libc::open(path, libc::O_RDWR | libc::O_CLOEXEC) };
        let (at, length) = ((first - base).cast_signed(), (end - first).cast_signed());
        let done = file >= 0 && libc::fallocate(file, 0, at as _, length as _) == 0;
        libc::close(file);
        done
    }
}

/// In a forked child: a region of its own, which knows the names and contexts of the parent's, and none of its counts.
#[cold]
pub fn forked() {
    let alive = ALIVE.load(Relaxed);
    // SAFETY: mapped for as long as the process lives.
    if alive.is_null() || unsafe { &*alive }.swap(1, Acquire) == 1 {
        return;
    }
    let parent = REGION.swap(std::ptr::null_mut(), Acquire);
    if parent.is_null() {
        return;
    }
    let Some(own) = new() else { return };
    // SAFETY: a region of the file.
    let parent: Words = unsafe { std::slice::from_raw_parts(parent, REGION_WORDS) };
    let names = (PROGRAM..PROGRAM + PROGRAM_WORDS).chain(LIBRARY_AT..CONTEXT_AT);
    for word in names.chain([LIBRARY_COUNT, ALGORITHM_COUNT, CLOCK_TICKS]) {
        own[word].store(parent[word].load(Relaxed), Relaxed);
    }
    for context in 0..CONTEXTS {
        let at = CONTEXT_AT + context * CONTEXT_WORDS;
        let address = parent[at + C_ADDRESS].load(Relaxed);
        if address != 0 {
            let what = parent[at + C_WHAT].load(Relaxed) & (WHAT_MASK | NAMED);
            own[at + C_WHAT].store(what, Relaxed);
            own[at + C_ADDRESS].store(address, Relaxed);
        }
    }
    REGION.store(own.as_ptr().cast_mut(), Release);
}

/// Writes down the CPU time, and whether the process ends.
#[cold]
pub fn stamp(ends: bool) {
    let Some(region) = current() else { return };
    region[CPU_NOW].store(cpu_time(), Relaxed);
    note_time(&region[STAMPED..]);
    if ends {
        region[STATE].store(ENDED, Release);
    }
}

fn cpu_time() -> u64 {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn note_time(words: &[AtomicU64]) {
    words[0].store(ticks(), Relaxed);
    words[1].store(clock(libc::CLOCK_MONOTONIC), Relaxed);
}

fn clock(which: libc::clockid_t) -> u64 {
    // SAFETY: writes what it is given.
    unsafe {
        let mut now: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(which, &raw mut now);
        now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
    }
}

/// The rows of a thread.
#[derive(Clone, Copy)]
pub struct Area {
    pub words: Words,
    /// Whether other threads write to it, too.
    pub shared: bool,
}

impl Area {
    pub fn add(self, word: usize, more: u64) {
        let word = &self.words[word];
        match self.shared {
            true => _ = word.fetch_add(more, Relaxed),
            false => word.store(word.load(Relaxed).wrapping_add(more), Relaxed),
        }
    }
}

/// Marks an area that is shared, in its address.
const SHARED: usize = 1;

/// The area of the thread that calls; its first call takes one.
///
/// # Safety
/// `thread` is the caller's own.
#[inline(always)]
pub unsafe fn area(region: Words, thread: *mut Thread) -> Option<Area> {
    // SAFETY: the caller's.
    let thread = unsafe { &mut *thread };
    if thread.region != region.as_ptr() as usize {
        thread.area = take_area(region)?;
        thread.region = region.as_ptr() as usize;
    }
    let first = (thread.area & !SHARED) as *const AtomicU64;
    // SAFETY: an area of the region.
    let words = unsafe { std::slice::from_raw_parts(first, AREA_WORDS) };
    let calls = &words[AREA_CALLS];
    let count = calls.load(Relaxed) + 1;
    calls.store(count, Relaxed);
    if count.is_multiple_of(STAMP_EACH) {
        stamp(false);
    }
    Some(Area { words, shared: thread.area & SHARED != 0 })
}

#[cold]
fn take_area(region: Words) -> Option<usize> {
    let area = |index: usize| &region[AREA_AT + index * AREA_WORDS..][..AREA_WORDS];
    // SAFETY: no more than asking.
    let (process, own) = unsafe { (libc::getpid(), libc::gettid()) };
    let own = u64::from(own.unsigned_abs());
    let next = region[AREA_COUNT].fetch_add(1, Relaxed);
    let next = usize::try_from(next).unwrap_or(AREAS);
    if next < AREAS - 1 {
        let words = area(next);
        return populate(words).then(|| {
            words[AREA_THREAD].store(own, Relaxed);
            words.as_ptr() as usize
        });
    }
    region[AREA_COUNT].store(AREAS as u64, Relaxed);
    // One of a thread that has ended; its counts go on.
    for index in 0..AREAS - 1 {
        let owner = &area(index)[AREA_THREAD];
        let thread = owner.load(Relaxed);
        // SAFETY: asks whether there is such a thread.
        let gone =
            thread != 0 && unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) } != 0;
        if gone && owner.compare_exchange(thread, own, Acquire, Relaxed).is_ok() {
            return Some(area(index).as_ptr() as usize);
        }
    }
    let last = area(AREAS - 1);
    populate(last).then_some(last.as_ptr() as usize | SHARED)
}

/// Keeps others out for as long as it lives.
pub struct Locked(&'static AtomicU64);

pub fn lock(word: &'static AtomicU64) -> Locked {
    while word.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
        std::hint::spin_loop();
    }
    Locked(word)
}

impl Drop for Locked {
    fn drop(&mut self) {
        self.0.store(0, Release);
    }
}

/// Index of a name in the list of algorithms.
pub fn algorithm(region: Words, name: &[u8]) -> u64 {
    intern(region, name, ALGORITHM_COUNT, &region[ALGORITHM_AT..], (ALGORITHMS, ALGORITHM_WORDS))
        .unwrap_or(0)
}

/// The name behind an index, with zeros behind it.
pub fn algorithm_name(region: Words, index: u64) -> [u8; ALGORITHM_WORDS * 8] {
    let mut name = [0; ALGORITHM_WORDS * 8];
    let index = usize::try_from(index).unwrap_or(0) % ALGORITHMS;
    let words = &region[ALGORITHM_AT + index * ALGORITHM_WORDS..][..ALGORITHM_WORDS];
    for (bytes, word) in name.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.load(Relaxed).to_le_bytes());
    }
    name
}

/// Index of a path in the list of libraries.
pub fn library(region: Words, path: &[u8]) -> Option<u64> {
    intern(region, path, LIBRARY_COUNT, &region[LIBRARY_AT..], (LIBRARIES, LIBRARY_WORDS))
}

fn intern(
    region: Words,
    name: &[u8],
    count: usize,
    list: Words,
    (most, words): (usize, usize),
) -> Option<u64> {
    let name = &name[..name.len().min(words * 8 - 1)];
    let find = |from: u64| {
        let all = usize::try_from(region[count].load(Acquire)).unwrap_or(0).min(most);
        let from = usize::try_from(from).unwrap_or(0);
        (from..all).find(|index| is(&list[index * words..][..words], name))
    };
    if let Some(index) = find(0) {
        return Some(index as u64);
    }
    let _locked = lock(&region[LOCK]);
    if let Some(index) = find(0) {
        return Some(index as u64);
    }
    let next = region[count].load(Relaxed);
    let index = usize::try_from(next).ok().filter(|index| *index < most)?;
    write(&list[index * words..][..words], name);
    region[count].store(next + 1, Release);
    Some(next)
}

/// Whether words hold that text and zeros behind it.
fn is(words: &[AtomicU64], text: &[u8]) -> bool {
    words.iter().enumerate().all(|(i, word)| word.load(Relaxed) == packed(text, i))
}

fn write(words: &[AtomicU64], text: &[u8]) {
    words.iter().enumerate().for_each(|(i, word)| word.store(packed(text, i), Relaxed));
}

/// Eight bytes of a text, and zeros behind it.
fn packed(text: &[u8], index: usize) -> u64 {
    let rest = text.get(index * 8..).unwrap_or_default();
    let mut bytes = [0; 8];
    let length = rest.len().min(8);
    bytes[..length].copy_from_slice(&rest[..length]);
    u64::from_le_bytes(bytes)
}
