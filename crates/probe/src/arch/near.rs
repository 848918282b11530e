//! The assembly loops near the code that they call.
//!
//! A call and its return across more than four gigabytes, as from an executable into a
//! shared object, costs some cores three to four cycles more (seen on Zen 4: 9 cycles round trip
//! against 5 to 6), which is the caller's address and not the library's work. The loops are copied
//! into memory from the region that shared objects are mapped in, and used from there for functions
//! that lie there too.

use crate::arch::{Control, ControlLoop, MessageLoop, UpdateLoop};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};
use std::sync::OnceLock;

unsafe extern "C" {
    static ciphermark_loops_begin: u8;
    static ciphermark_loops_end: u8;
    fn ciphermark_message_loop_fresh();
    fn ciphermark_message_loop_same();
    fn ciphermark_walk_loop_fresh();
    fn ciphermark_walk_loop_same();
    fn ciphermark_rekey_loop_fresh();
    fn ciphermark_rekey_loop_same();
    fn ciphermark_rekey_walk_loop_fresh();
    fn ciphermark_rekey_walk_loop_same();
    fn ciphermark_update_loop();
}

/// The loop for messages whose function lies at `function`; `fresh` raises the nonces.
pub(crate) fn message_loop(function: usize, fresh: bool) -> MessageLoop {
    let original: unsafe extern "C" fn() =
        if fresh { ciphermark_message_loop_fresh } else { ciphermark_message_loop_same };
    let loop_at = nearest(function, original as *const () as usize);
    // SAFETY: the address is that of the loop above or of its copy, which is this type.
    unsafe { std::mem::transmute::<usize, MessageLoop>(loop_at) }
}

pub(crate) fn control_loop(control: &Control) -> ControlLoop {
    let original: unsafe extern "C" fn() =
        match (control.rekey.is_some(), control.walk.is_walked(), control.fresh) {
            (false, _, true) => ciphermark_walk_loop_fresh,
            (false, _, false) => ciphermark_walk_loop_same,
            (true, false, true) => ciphermark_rekey_loop_fresh,
            (true, false, false) => ciphermark_rekey_loop_same,
            (true, true, true) => ciphermark_rekey_walk_loop_fresh,
            (true, true, false) => ciphermark_rekey_walk_loop_same,
        };
    let loop_at = nearest(control.call as *const () as usize, original as *const () as usize);
    // SAFETY: the address is that of the loop above or of its copy, which is this type.
    unsafe { std::mem::transmute::<usize, ControlLoop>(loop_at) }
}

pub(crate) fn update_loop(function: usize) -> UpdateLoop {
    let loop_at = nearest(function, ciphermark_update_loop as *const () as usize);
    // SAFETY: the address is that of the loop above or of its copy, which is this type.
    unsafe { std::mem::transmute::<usize, UpdateLoop>(loop_at) }
}

/// Of the loop in the executable and its copy, the one that is nearer to the function.
fn nearest(function: usize, original: usize) -> usize {
    static COPY: OnceLock<Option<usize>> = OnceLock::new();
    let begin = (&raw const ciphermark_loops_begin).addr();
    let Some(copy) = COPY.get_or_init(copy_loops) else { return original };
    let copied = copy + (original - begin);
    if copied.abs_diff(function) < original.abs_diff(function) { copied } else { original }
}

/// Copies the loops into memory of their own, which stays for good; `None` where the system allows
/// no new executable memory, and the executable's own loops serve.
fn copy_loops() -> Option<usize> {
    let begin = &raw const ciphermark_loops_begin;
    let len = (&raw const ciphermark_loops_end).addr() - begin.addr();
    // SAFETY: a fresh private mapping at an address of the kernel's choice, filled with the bytes
    // between two labels of our own code and then made executable; nothing writes to it later.
    unsafe {
        let map = mmap_anonymous(
            std::ptr::null_mut(),
            len,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
        .ok()?;
        std::ptr::copy_nonoverlapping(begin, map.cast::<u8>(), len);
        crate::arch::written_code(map.cast::<u8>(), len);
        mprotect(map, len, MprotectFlags::READ | MprotectFlags::EXEC).ok()?;
        Some(map.addr())
    }
}
