//! Watches a program's calls into crypto libraries from inside, for `ciphermark watch`: the loader loads this object
//! (`LD_AUDIT`, rtld-audit(7)) into a namespace of its own, with a C library of its own, and asks it about each function that
//! it binds. A function that the tables know is bound to a place in `enter` instead, which times it and calls it.
//!
//! - `tables`: which functions, and what their arguments mean; `table`: the words for that
//! - `enter`: into a call and out of it
//! - `calls`: what a call means, rows
//! - `names`: what an algorithm is called
//! - `libraries`, `elf`: which objects are watched, what is replaced
//! - `region`, `layout`: the file that is shared with `ciphermark watch`
//!
//! On the path of a call there is no lock, no allocation and no system call, except every 1,024th time of a thread (CPU
//! time) and when a thread or an algorithm is seen for the first time; once the program has confined itself, no system
//! call at all. Nothing here writes to the program's own state, descriptors or output; what goes wrong is counted, and the
//! program runs on.
//!
//! This crate holds `unsafe` code. What every `SAFETY` note leans on: the loader keeps rtld-audit(7), callers keep
//! their libraries' interfaces.

mod calls;
mod elf;
mod enter;
mod layout;
mod libraries;
mod names;
mod region;
mod table;
mod tables;

use elf::{LinkMap, Object, Symbol};
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

/// The newest interface that this object knows; an older loader is answered in its own.
const AUDIT_VERSION: c_uint = 2;
const BIND_TO: c_uint = 1;
const BIND_FROM: c_uint = 2;
const NO_PLT_HOOKS: c_uint = 1 | 2;
const CONSISTENT: c_uint = 0;

/// An object of the program.
struct Seen {
    map: AtomicPtr<LinkMap>,
    families: AtomicU64,
    library: AtomicU64,
    is_c_library: AtomicBool,
    /// Its tables have been looked at.
    replaced: AtomicBool,
}

static OBJECTS: [Seen; 512] = [const {
    Seen {
        map: AtomicPtr::new(std::ptr::null_mut()),
        families: AtomicU64::new(0),
        library: AtomicU64::new(0),
        is_c_library: AtomicBool::new(false),
        replaced: AtomicBool::new(false),
    }
}; 512];

static ON: AtomicBool = AtomicBool::new(false);

/// The loader's first question.
// SAFETY: the loader looks for this name.
#[unsafe(no_mangle)]
pub extern "C" fn la_version(version: c_uint) -> c_uint {
    if region::map() {
        libraries::prepare();
        ON.store(true, Relaxed);
    }
    version.min(AUDIT_VERSION)
}

/// An object was mapped.
///
/// # Safety
/// The loader calls it.
// SAFETY: the loader looks for this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objopen(
    map: *mut LinkMap,
    namespace: isize,
    cookie: *mut usize,
) -> c_uint {
    // SAFETY: the loader's.
    let (link, cookie) = unsafe { (&*map, &mut *cookie) };
    *cookie = usize::MAX;
    if !ON.load(Relaxed) || namespace != 0 {
        return 0;
    }
    let Some(index) = OBJECTS.iter().position(|seen| seen.map.load(Relaxed).is_null()) else {
        return 0;
    };
    let seen = &OBJECTS[index];
    let path = match link.name.is_null() {
        true => b"",
        // SAFETY: a C string of the loader.
        false => unsafe { CStr::from_ptr(link.name) }.to_bytes(),
    };
    // SAFETY: it is mapped.
    let object = unsafe { Object::of(link) };
    let families = object.as_ref().map_or(0, libraries::families);
    let library = object.filter(|_| families != 0).and_then(|object| {
        let region = region::take()?;
        libraries::add(region, &object, if path.is_empty() { b"/proc/self/exe" } else { path })
    });
    let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let is_c_library = file.starts_with(b"libc.so");
    seen.families.store(if library.is_some() { families } else { 0 }, Relaxed);
    seen.library.store(library.unwrap_or(0), Relaxed);
    seen.is_c_library.store(is_c_library, Relaxed);
    seen.replaced.store(false, Relaxed);
    seen.map.store(map, Release);
    *cookie = index;
    BIND_FROM | if library.is_some() || is_c_library { BIND_TO } else { 0 }
}

/// An object is about to go.
///
/// # Safety
/// The loader calls it.
// SAFETY: the loader looks for this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_objclose(cookie: *mut usize) -> c_uint {
    // SAFETY: the loader's.
    if let Some(seen) = OBJECTS.get(unsafe { *cookie }) {
        seen.families.store(0, Relaxed);
        seen.map.store(std::ptr::null_mut(), Release);
    }
    0
}

/// Objects have come or gone.
///
/// # Safety
/// The loader calls it.
// SAFETY: the loader looks for this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_activity(_cookie: *mut usize, flag: c_uint) {
    if flag != CONSISTENT
        || !ON.load(Relaxed)
        || !OBJECTS.iter().any(|seen| seen.families.load(Relaxed) != 0)
    {
        return;
    }
    for seen in &OBJECTS {
        let map = seen.map.load(Acquire);
        if map.is_null() || seen.replaced.swap(true, Relaxed) {
            continue;
        }
        // SAFETY: mapped until `la_objclose`.
        unsafe {
            if let Some(object) = Object::of(&*map) {
                object.replace(defined);
            }
        }
    }
}

/// Which watched library has the function of that name at that address.
fn defined(address: usize, name: &[u8]) -> Option<(u64, u64)> {
    OBJECTS.iter().find_map(|seen| {
        let (families, map) = (seen.families.load(Relaxed), seen.map.load(Acquire));
        if families == 0 || map.is_null() {
            return None;
        }
        // SAFETY: mapped until `la_objclose`.
        let object = unsafe { Object::of(&*map) }?;
        (object.find(name) == Some(address)).then(|| (families, seen.library.load(Relaxed)))
    })
}

/// A function is bound: by the PLT, or by `dlsym`.
///
/// # Safety
/// The loader calls it.
// SAFETY: the loader looks for this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn la_symbind64(
    symbol: &Symbol,
    _index: c_uint,
    _from: *mut usize,
    to: *mut usize,
    flags: &mut c_uint,
    name: *const c_char,
) -> usize {
    *flags |= NO_PLT_HOOKS;
    // SAFETY: the loader's.
    let (seen, name) = unsafe { (OBJECTS.get(*to), CStr::from_ptr(name).to_bytes()) };
    let Some(seen) = seen.filter(|_| elf::is_function(symbol)) else { return symbol.value };
    if seen.is_c_library.load(Relaxed) {
        return of_c_library(name, symbol.value);
    }
    match libraries::function(name, seen.families.load(Relaxed)) {
        Some(function) => libraries::bind(function, symbol.value, seen.library.load(Relaxed)),
        None => symbol.value,
    }
}

static FORK: AtomicUsize = AtomicUsize::new(0);
static EXIT: AtomicUsize = AtomicUsize::new(0);
static PRCTL: AtomicUsize = AtomicUsize::new(0);

/// Functions of the C library: a child takes its place in the file before it can lose the right to, a process that leaves
/// without its destructors says how long it ran, and one that confines itself makes no call of ours that it may not.
fn of_c_library(name: &[u8], real: usize) -> usize {
    let (place, own) = match name {
        b"fork" => (&FORK, fork as *const () as usize),
        b"_exit" | b"_Exit" => (&EXIT, exit as *const () as usize),
        b"prctl" => (&PRCTL, prctl as *const () as usize),
        _ => return real,
    };
    place.store(real, Release);
    own
}

extern "C" fn fork() -> c_int {
    // SAFETY: the C library's `fork`.
    let real: extern "C" fn() -> c_int = unsafe { std::mem::transmute(FORK.load(Acquire)) };
    let child = real();
    if child == 0 {
        region::forked();
    }
    child
}

extern "C" fn exit(status: c_int) -> ! {
    region::stamp(true);
    // SAFETY: the C library's `_exit`.
    let real: extern "C" fn(c_int) -> ! = unsafe { std::mem::transmute(EXIT.load(Acquire)) };
    real(status)
}

/// Whoever is not root has to give up new rights ahead of a filter.
extern "C" fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int {
    if matches!(option, libc::PR_SET_NO_NEW_PRIVS | libc::PR_SET_SECCOMP) {
        region::confine();
    }
    // SAFETY: the C library's `prctl`, which passes all five on.
    unsafe {
        let real: unsafe extern "C" fn(c_int, ...) -> c_int =
            std::mem::transmute(PRCTL.load(Acquire));
        real(option, a, b, c, d)
    }
}

extern "C" fn ended() {
    region::stamp(true);
}

// SAFETY: the loader calls what is listed there when the process ends.
#[used]
#[unsafe(link_section = ".fini_array")]
static AT_THE_END: extern "C" fn() = ended;
