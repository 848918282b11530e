//! The call itself, with the trap flag set just before it.

use super::handler::{self, Log};
use std::arch::asm;
use std::sync::atomic::Ordering;

/// Calls `function` with the trap flag set. The first trap comes after the `call`, so the first
/// address that is logged is the function's own; the log ends at the address behind the `call`.
///
/// # Safety
/// As [`super::Stepper::call`]; the handler must be in place and `log` valid until this returns.
#[inline(never)]
pub(super) unsafe fn stepped(function: *const (), arguments: [usize; 4], log: *mut Log) -> i32 {
    handler::LOG.store(log, Ordering::SeqCst);
    let [first, second, third, fourth] = arguments;
    let returned: u64;
    // SAFETY: the caller's contract for `function`; the flags are changed in one bit, which the
    // handler takes away again before the instruction at label 2 executes or at the step limit. The
    // assembly may push, because `nostack` is not given, and the stack pointer is back at its
    // aligned place before the call.
    unsafe {
        asm!(
            "lea rax, [rip + 2f]",
            "mov [r10], rax",
            "pushfq",
            "or dword ptr [rsp], 0x100",
            "popfq",
            "call r11",
            "2:",
            inlateout("r10") &raw mut (*log).stop => _,
            inlateout("r11") function => _,
            inlateout("rdi") first => _,
            inlateout("rsi") second => _,
            inlateout("rdx") third => _,
            inlateout("rcx") fourth => _,
            out("rax") returned,
            clobber_abi("C"),
        );
    }
    handler::LOG.store(std::ptr::null_mut(), Ordering::SeqCst);
    returned as i32
}
