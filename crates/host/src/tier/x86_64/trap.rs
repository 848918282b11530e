//! The signal handler that answers CPUID, for both mechanisms that make it fault.
//!
//! It is strict about async-signal safety: no allocation, no lock, no errno, nothing but loads and
//! stores on its own statics, CPUID, and system calls made directly.

use crate::tier::mask::{Registers, answer};
use crate::tier::x86_64::fault;
use crate::tier::x86_64::marker::{self, CPUID, MARKER};
use base::model::Tier;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// Index of the tier in `Tier::ALL`.
static TIER: AtomicU8 = AtomicU8::new(0);
/// CPUID instructions answered so far.
static ANSWERED: AtomicU64 = AtomicU64::new(0);
/// Whether CPUID itself faults, and not only what was written in its place.
static FAULTING: AtomicBool = AtomicBool::new(false);
/// What handled SIGSEGV before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// `si_code` of a fault that is no page fault (`SI_KERNEL` of `asm-generic/siginfo.h`).
const SI_KERNEL: c_int = 0x80;

/// How many CPUID instructions have been answered in this process.
pub fn answered() -> u64 {
    ANSWERED.load(Ordering::Relaxed)
}

/// From now on the handler answers CPUID as the tier does; `faulting` when CPUID itself faults.
pub fn install(tier: Tier, faulting: bool) -> Result<(), String> {
    let index = Tier::ALL.iter().position(|t| *t == tier).expect("every tier is in the list");
    TIER.store(index as u8, Ordering::Relaxed);
    FAULTING.store(faulting, Ordering::Relaxed);
    if BEFORE.get().is_some() {
        return Ok(());
    }
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_fault;
    // SAFETY: a `sigaction` of zeroes is a valid one, and one that sets a handler of the type that
    // SA_SIGINFO asks for is too.
    let error = unsafe {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(libc::SIGSEGV, std::ptr::null(), before.as_mut_ptr()) != 0 {
            true
        } else {
            // Kept before ours is in force: it may be needed at once.
            BEFORE.get_or_init(|| before.assume_init());
            libc::sigaction(libc::SIGSEGV, &raw const action, std::ptr::null_mut()) != 0
        }
    };
    if error { Err("no signal handler can be set".to_owned()) } else { Ok(()) }
}

extern "C" fn on_fault(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands over both, valid and ours for the handler's duration.
    let (code, registers) =
        unsafe { ((*info).si_code, &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs) };
    // Only then are the bytes of the instruction known to be readable: it was fetched.
    if code == SI_KERNEL {
        let at = registers[libc::REG_RIP as usize] as *const u8;
        // SAFETY: as above; `length` reads no byte that the processor did not need to read.
        let byte = |i: usize| unsafe { at.add(i).read() };
        if emulate(registers, byte) {
            return;
        }
    }
    step_back(code);
}

/// Answers the instruction if it is ours: whether it was.
fn emulate(registers: &mut [libc::greg_t; 23], byte: impl Fn(usize) -> u8) -> bool {
    let faulting = FAULTING.load(Ordering::Relaxed);
    let of_cpu = if faulting { marker::length(CPUID, &byte) } else { None };
    let Some(length) = of_cpu.or_else(|| marker::length(MARKER, &byte)) else { return false };
    let tier = Tier::ALL[usize::from(TIER.load(Ordering::Relaxed))];
    let [rax, rbx, rcx, rdx, rip] =
        [libc::REG_RAX, libc::REG_RBX, libc::REG_RCX, libc::REG_RDX, libc::REG_RIP]
            .map(|index| index as usize);
    // CPUID reads 32 bits of two registers and clears the upper halves of four.
    let (leaf, subleaf) = (registers[rax] as u32, registers[rcx] as u32);
    let raw = if faulting { fault::cpuid(leaf, subleaf) } else { cpuid(leaf, subleaf) };
    let answer = answer(tier, leaf, subleaf, raw);
    registers[rax] = i64::from(answer.eax);
    registers[rbx] = i64::from(answer.ebx);
    registers[rcx] = i64::from(answer.ecx);
    registers[rdx] = i64::from(answer.edx);
    registers[rip] += length as i64;
    ANSWERED.fetch_add(1, Ordering::Relaxed);
    true
}

/// Leaves the signal to whoever handled it before: the instruction runs again and faults again.
fn step_back(code: c_int) {
    let Some(before) = BEFORE.get() else { return };
    // SAFETY: what `sigaction` gave is valid to set; `sigaction` and `raise` are async-signal-safe.
    unsafe {
        libc::sigaction(libc::SIGSEGV, before, std::ptr::null_mut());
        if code <= 0 {
            // Sent by a process: nothing will fault again.
            libc::raise(libc::SIGSEGV);
        }
    }
}

/// The CPU's own answer.
pub fn cpuid(leaf: u32, subleaf: u32) -> Registers {
    let r = std::arch::x86_64::__cpuid_count(leaf, subleaf);
    Registers { eax: r.eax, ebx: r.ebx, ecx: r.ecx, edx: r.edx }
}

/// CPUID as a rewritten library executes it.
pub fn rewritten_cpuid(leaf: u32, subleaf: u32) -> Registers {
    let (eax, ebx, ecx, edx): (u32, u64, u32, u32);
    // SAFETY: the handler is installed, so the two bytes are what CPUID is; RBX, which the compiler
    // keeps for itself, is restored.
    unsafe {
        std::arch::asm!(
            "mov {kept}, rbx",
            ".byte 0xf4, 0xa2",
            "xchg {kept}, rbx",
            kept = out(reg) ebx,
            inout("eax") leaf => eax,
            inout("ecx") subleaf => ecx,
            out("edx") edx,
        );
    }
    Registers { eax, ebx: ebx as u32, ecx, edx }
}

#[cfg(test)]
pub(crate) mod tests;
