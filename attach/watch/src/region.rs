//! The process's place in the file of `ciphermark watch`. A process maps the file's head and its own region, no more: what
//! is mapped counts where a program bounds or locks its memory. A forked child gets its region from the head's mapping,
//! which no other root, other user or closed descriptor takes from it. What is written lies in the page cache, which
//! outlives a process that is killed.

use crate::enter::{Thread, ticks};
use crate::layout::*;
use std::ffi::CStr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

pub type Words = &'static [AtomicU64];

static HEAD: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
/// This process's region, and which one of the file it is.
static INDEX: AtomicUsize = AtomicUsize::new(0);
static REGION: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());
/// A word that the kernel sets to zero in a forked child.
static ALIVE: AtomicPtr<AtomicU64> = AtomicPtr::new(std::ptr::null_mut());

/// Whether the program has confined itself: no system call is made any more.
static CONFINED: AtomicBool = AtomicBool::new(false);

/// Variable with the path of the file.
const VARIABLE: &CStr = c"CIPHERMARK_WATCH";
const PAGE: usize = 4096;
const WORD: usize = size_of::<AtomicU64>();
/// Calls of a thread between two times that the CPU time is written down.
const STAMP_EACH: u64 = 1024;

/// Maps the file's head. False where there is none for this process: then nothing is watched.
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
    let both = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of a file that is checked to be as long; nothing else is at its place.
    let (mapped, page) = unsafe {
        let mut facts: libc::stat = std::mem::zeroed();
        let fits = libc::fstat(file, &raw mut facts) == 0
            && usize::try_from(facts.st_size).is_ok_and(|size| size == WORDS * WORD);
        let mapped = match fits {
            true => {
                libc::mmap(std::ptr::null_mut(), FILE_WORDS * WORD, both, libc::MAP_SHARED, file, 0)
            }
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
    HEAD.store(mapped.cast(), Release);
    true
}

/// The file's own words.
fn head() -> Option<Words> {
    let first = HEAD.load(Acquire);
    // SAFETY: mapped that long, for as long as the process lives.
    (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first, FILE_WORDS) })
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

fn new() -> Option<Words> {
    let head = head()?;
    let claims = &head[FILE_CLAIMED..][..REGIONS];
    let is_free = |claim: &AtomicU64| claim.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
    let index = if CONFINED.load(Relaxed) { None } else { claims.iter().position(is_free) };
    let Some(region) = index.and_then(|index| map_region(head, index)) else {
        if let Some(index) = index {
            claims[index].store(0, Release);
        }
        head[FILE_REFUSED].fetch_add(1, Relaxed);
        return None;
    };
    region[STATE].store(TAKEN, Relaxed);
    // SAFETY: no more than asking.
    let (own, parent) = unsafe { (libc::getpid(), libc::getppid()) };
    region[PARENT].store(parent.unsigned_abs().into(), Relaxed);
    region[NAMESPACE].store(namespace(), Relaxed);
    let spent = cpu_time();
    region[CPU_BEFORE].store(spent, Relaxed);
    region[CPU_NOW].store(spent, Relaxed);
    note_time(&region[BEGAN..]);
    region[PID].store(own.unsigned_abs().into(), Release);
    Some(region)
}

/// Maps a region, with memory behind all but the areas of single threads. An old size of 0 makes one more mapping of the
/// head's file, here up to the region's end; what is ahead of it goes again.
fn map_region(head: Words, index: usize) -> Option<Words> {
    let first: *mut libc::c_void = head.as_ptr().cast_mut().cast();
    let (front, bytes) = ((FILE_WORDS + index * REGION_WORDS) * WORD, REGION_WORDS * WORD);
    // SAFETY: the new mapping is ours alone, and as long as the file.
    unsafe {
        // Of a mapping that is locked the kernel would fill the new one.
        libc::munlock(first, FILE_WORDS * WORD);
        let all = libc::mremap(first, 0, front + bytes, libc::MREMAP_MAYMOVE);
        if all == libc::MAP_FAILED {
            return None;
        }
        libc::munmap(all, front);
        let at = all.cast::<u8>().add(front);
        let region: Words = std::slice::from_raw_parts(at.cast(), REGION_WORDS);
        INDEX.store(index, Relaxed);
        if populate(region, &region[..AREA_AT + AREA_WORDS]) {
            return Some(region);
        }
        libc::munmap(at.cast(), bytes);
        None
    }
}

/// The namespace that this process's number is of.
fn namespace() -> u64 {
    // SAFETY: writes what it is given.
    unsafe {
        let mut facts: libc::stat = std::mem::zeroed();
        let known = libc::stat(c"/proc/self/ns/pid".as_ptr(), &raw mut facts) == 0;
        if known { facts.st_ino } else { 0 }
    }
}

/// Gets memory for a part of the region now: without any, a later store would end the program (SIGBUS).
fn populate(region: Words, words: Words) -> bool {
    let first = words.as_ptr() as usize & !(PAGE - 1);
    let end = (words.as_ptr() as usize + size_of_val(words)).next_multiple_of(PAGE);
    // SAFETY: whole pages of a mapping of ours.
    let done = unsafe { libc::madvise(first as *mut _, end - first, libc::MADV_POPULATE_WRITE) };
    // SAFETY: of the C library that `madvise` is from.
    if done == 0 || unsafe { *libc::__errno_location() } != libc::EINVAL {
        return done == 0;
    }
    // Before Linux 5.14: the file system is asked instead.
    let front = (FILE_WORDS + INDEX.load(Relaxed) * REGION_WORDS) * WORD;
    let at = front + (first - region.as_ptr() as usize);
    // SAFETY: a descriptor of its own for a moment.
    unsafe {
        let path = libc::getenv(VARIABLE.as_ptr());
        let file =
            if path.is_null() { -1 } else { libc::open(path, libc::O_RDWR | libc::O_CLOEXEC) };
        let (at, length) = (at.cast_signed(), (end - first).cast_signed());
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
    // SAFETY: a region of the file, which a child has mapped, too.
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

/// Ahead of what confines the program (seccomp(2)): a system call that is not allowed may end it. CPU time is not written
/// down any more, and threads that call for the first time share an area, which has its memory.
#[cold]
pub fn confine() {
    stamp(false);
    CONFINED.store(true, Relaxed);
}

/// Writes down the CPU time, and whether the process ends.
#[cold]
pub fn stamp(ends: bool) {
    let Some(region) = current().filter(|_| !CONFINED.load(Relaxed)) else { return };
    // A child that `vfork` made leaves with its parent's memory.
    // SAFETY: no more than asking.
    if ends && region[PID].load(Relaxed) != u64::from(unsafe { libc::getpid() }.unsigned_abs()) {
        return;
    }
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
pub unsafe fn area(region: Words, thread: *mut Thread) -> Area {
    // SAFETY: the caller's.
    let thread = unsafe { &mut *thread };
    if thread.region != region.as_ptr() as usize {
        thread.area = take_area(region);
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
    Area { words, shared: thread.area & SHARED != 0 }
}

#[cold]
fn take_area(region: Words) -> usize {
    own_area(region).unwrap_or(region[AREA_AT..].as_ptr() as usize | SHARED)
}

/// An area for the calling thread alone.
fn own_area(region: Words) -> Option<usize> {
    let next = usize::try_from(region[AREA_COUNT].fetch_add(1, Relaxed)).unwrap_or(AREAS);
    if CONFINED.load(Relaxed) {
        return None;
    }
    let area = |index: usize| &region[AREA_AT + index * AREA_WORDS..][..AREA_WORDS];
    // SAFETY: no more than asking.
    let (process, own) = unsafe { (libc::getpid(), libc::gettid()) };
    let own = u64::from(own.unsigned_abs());
    if next + 1 < AREAS {
        let words = area(next + 1);
        return populate(region, words).then(|| {
            words[AREA_THREAD].store(own, Relaxed);
            words.as_ptr() as usize
        });
    }
    // One of a thread that has ended; its counts go on.
    (1..AREAS).map(area).find_map(|words| {
        let owner = &words[AREA_THREAD];
        let thread = owner.load(Relaxed);
        // SAFETY: asks whether there is such a thread.
        let gone =
            thread != 0 && unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) } != 0;
        let is_ours = gone && owner.compare_exchange(thread, own, Acquire, Relaxed).is_ok();
        is_ours.then_some(words.as_ptr() as usize)
    })
}

/// Keeps others out for as long as it lives.
pub struct Locked(&'static AtomicU64);

/// None where it is not to be had: whoever holds it may wait for this very thread, in a handler of a signal or at a lower
/// priority.
pub fn lock(word: &'static AtomicU64) -> Option<Locked> {
    /// Milliseconds; it is held for a microsecond.
    const TRIES: u32 = 1 << 16;
    for _ in 0..TRIES {
        if word.compare_exchange_weak(0, 1, Acquire, Relaxed).is_ok() {
            return Some(Locked(word));
        }
        std::hint::spin_loop();
    }
    None
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
    let _locked = lock(&region[LOCK])?;
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
