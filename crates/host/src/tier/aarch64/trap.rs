//! The signal handler that answers reads of ID registers in copies of libraries.
//!
//! It is strict about async-signal safety: no allocation, no lock, no errno, nothing but loads and
//! stores on its own statics, and MRS.

use super::marker;
use crate::tier::hwcap::answer;
use base::model::Tier;
use std::arch::asm;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Index of the tier in `Tier::ALL`.
static TIER: AtomicU8 = AtomicU8::new(0);
/// Reads answered so far.
static ANSWERED: AtomicU64 = AtomicU64::new(0);
/// What handled SIGTRAP before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// `si_code` of a breakpoint in the code (`asm-generic/siginfo.h`).
const TRAP_BRKPT: c_int = 1;

/// How many reads have been answered in this process.
pub fn answered() -> u64 {
    ANSWERED.load(Ordering::Relaxed)
}

/// From now on the handler answers as the tier does.
pub fn install(tier: Tier) -> Result<(), String> {
    let index = Tier::ALL.iter().position(|t| *t == tier).expect("every tier is in the list");
    TIER.store(index as u8, Ordering::Relaxed);
    if BEFORE.get().is_some() {
        return Ok(());
    }
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_trap;
    // SAFETY: a `sigaction` of zeroes is a valid one, and one that sets a handler of the type that
    // SA_SIGINFO asks for is too.
    let error = unsafe {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGTRAP, std::ptr::null(), before.as_mut_ptr()) != 0 {
            true
        } else {
            // Kept before ours is in force: it may be needed at once.
            BEFORE.get_or_init(|| before.assume_init());
            libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()) != 0
        }
    };
    if error { Err("no signal handler can be set".to_owned()) } else { Ok(()) }
}

extern "C" fn on_trap(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands over both, valid and ours for the handler's duration.
    let (code, machine) =
        unsafe { ((*info).si_code, &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext) };
    if code == TRAP_BRKPT {
        let at = std::ptr::with_exposed_provenance::<u32>(machine.pc as usize);
        // SAFETY: the word was just executed, so it can be read.
        if let Some((register, to)) = marker::replaced(unsafe { at.read() }) {
            let tier = Tier::ALL[usize::from(TIER.load(Ordering::Relaxed))];
            // The last number is the register that is always zero.
            if let Some(place) = machine.regs.get_mut(to as usize) {
                *place = answer(tier, register, id_register(register));
            }
            machine.pc += 4;
            ANSWERED.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }
    step_back(code);
}

/// Leaves the signal to whoever handled it before: the instruction runs again and faults again.
fn step_back(code: c_int) {
    let Some(before) = BEFORE.get() else { return };
    // SAFETY: what `sigaction` gave is valid to set; `sigaction` and `raise` are async-signal-safe.
    unsafe {
        libc::sigaction(libc::SIGTRAP, before, std::ptr::null_mut());
        if code <= 0 {
            // Sent by a process: nothing will fault again.
            libc::raise(libc::SIGTRAP);
        }
    }
}

/// What an ID register of [`crate::tier::hwcap::ID_REGISTERS`] holds, as the kernel gives it to programs; 0 for others.
pub fn id_register(register: u8) -> u64 {
    macro_rules! read {
        ($name:literal) => {{
            let value: u64;
            // SAFETY: Linux answers reads of these registers (HWCAP_CPUID, which was asked for before).
            unsafe { asm!(concat!("mrs {}, ", $name), out(reg) value, options(nomem, nostack)) };
            value
        }};
    }
    match register {
        0x20 => read!("S3_0_C0_C4_0"),
        0x21 => read!("S3_0_C0_C4_1"),
        0x24 => read!("S3_0_C0_C4_4"),
        0x25 => read!("S3_0_C0_C4_5"),
        0x30 => read!("S3_0_C0_C6_0"),
        0x31 => read!("S3_0_C0_C6_1"),
        0x32 => read!("S3_0_C0_C6_2"),
        _ => 0,
    }
}

/// ID_AA64ISAR0_EL1 as a rewritten library reads it.
pub fn rewritten_isar0() -> u64 {
    let value: u64;
    // SAFETY: the handler is installed, and the word is what stands for `mrs x0, id_aa64isar0_el1`.
    unsafe { asm!("brk #0x4600", out("x0") value, options(nostack)) };
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::hwcap::ID_REGISTERS;

    #[test]
    fn a_rewritten_read_gets_what_the_tier_answers_and_is_counted() {
        assert_eq!(marker::of(0x30, 0), 0xd420_0000 | 0x4600 << 5);
        install(Tier::Noaes).unwrap();
        let before = answered();
        assert_eq!(rewritten_isar0(), answer(Tier::Noaes, 0x30, id_register(0x30)));
        assert!(answered() > before);
        assert_eq!(rewritten_isar0() >> 4 & 15, 0, "AES");
    }

    #[test]
    fn the_registers_that_tiers_change_can_be_read() {
        // Every core has vectors: the field is 0, or 1 with half precision.
        assert!(id_register(0x20) >> 20 & 15 <= 1);
        assert!(ID_REGISTERS.iter().all(|r| *r == 0x20 || id_register(*r) != u64::MAX));
    }
}
