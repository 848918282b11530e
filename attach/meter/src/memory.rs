//! Copying, byte for byte: volatile, so that no compiler makes a call of `memcpy` out of it again.

use crate::COPIED_BYTES;
use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

/// Copies as `memmove` does: the areas may overlap.
unsafe fn copied(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
    COPIED_BYTES.fetch_add(len as u64, Relaxed);
    let (target, source) = (to.cast::<u8>(), from.cast::<u8>());
    let one = |i: usize| {
        // SAFETY: the crate's note: both areas have `len` bytes, and `i` is less.
        unsafe { target.add(i).write_volatile(source.add(i).read_volatile()) }
    };
    if target.cast_const() <= source {
        (0..len).for_each(one);
    } else {
        (0..len).rev().for_each(one);
    }
    to
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: the crate's note.
    unsafe { copied(to, from, len) }
}

// SAFETY: takes the place of the C function of that name, and does what it does.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void {
    // SAFETY: the crate's note.
    unsafe { copied(to, from, len) }
}

// SAFETY: takes the place of the C function of that name; its check against `room` is left out,
// because a library that fails it ends the process in every other worker.
#[unsafe(no_mangle)]
unsafe extern "C" fn __memcpy_chk(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    _room: usize,
) -> *mut c_void {
    // SAFETY: the crate's note.
    unsafe { copied(to, from, len) }
}

// SAFETY: as for `__memcpy_chk`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __memmove_chk(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    _room: usize,
) -> *mut c_void {
    // SAFETY: the crate's note.
    unsafe { copied(to, from, len) }
}
