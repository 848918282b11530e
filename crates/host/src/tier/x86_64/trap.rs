//! The signal handler that answers CPUID, for both mechanisms that make it fault. It is strict about
//! async-signal safety: no allocation, no lock, no errno, nothing but loads and stores on its own statics,
//! CPUID, and system calls made directly. CPUID faulting: the kernel has the processor fault on every CPUID
//! of this thread, and of the threads and processes that it starts (arch_prctl(2), `ARCH_SET_CPUID`; cleared
//! by exec). Else two bytes stand where a CPUID instruction was: HLT instead of CPUID's first byte, so that
//! one handler answers both (docs/METHOD.md, How it is applied); the second byte tells a rewritten CPUID from
//! any other HLT.

use crate::tier::mask::{Registers, answer};
use crate::tier::rewrite::Handler;
use base::model::Tier;
use std::arch::asm;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

static HANDLER: Handler = Handler::of(libc::SIGSEGV);
/// Whether CPUID itself faults, and not only what was written in its place.
static FAULTING: AtomicBool = AtomicBool::new(false);

/// `si_code` of a fault that is no page fault (`SI_KERNEL` of `asm-generic/siginfo.h`).
const SI_KERNEL: c_int = 0x80;

/// How many CPUID instructions have been answered in this process.
pub fn answered() -> u64 {
    HANDLER.answered()
}

/// From now on the handler answers CPUID as the tier does; `faulting` when CPUID itself faults.
pub fn install(tier: Tier, faulting: bool) -> Result<(), String> {
    FAULTING.store(faulting, Ordering::Relaxed);
    HANDLER.install(tier, on_fault)
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
    HANDLER.step_back(code);
}

/// Answers the instruction if it is ours: whether it was.
fn emulate(registers: &mut [libc::greg_t; 23], byte: impl Fn(usize) -> u8) -> bool {
    let faulting = FAULTING.load(Ordering::Relaxed);
    let of_cpu = if faulting { length_of_cpuid(CPUID, &byte) } else { None };
    let Some(length) = of_cpu.or_else(|| length_of_cpuid(MARKER, &byte)) else { return false };
    let [rax, rbx, rcx, rdx, rip] =
        [libc::REG_RAX, libc::REG_RBX, libc::REG_RCX, libc::REG_RDX, libc::REG_RIP]
            .map(|index| index as usize);
    // CPUID reads 32 bits of two registers and clears the upper halves of four.
    let (leaf, subleaf) = (registers[rax] as u32, registers[rcx] as u32);
    let raw = if faulting { cpuid_while_faulting(leaf, subleaf) } else { cpuid(leaf, subleaf) };
    let answer = answer(HANDLER.tier(), leaf, subleaf, raw);
    registers[rax] = i64::from(answer.eax);
    registers[rbx] = i64::from(answer.ebx);
    registers[rcx] = i64::from(answer.ecx);
    registers[rdx] = i64::from(answer.edx);
    registers[rip] += length as i64;
    HANDLER.count();
    true
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

const ARCH_PRCTL: i64 = libc::SYS_arch_prctl;
/// `asm/prctl.h`.
const ARCH_SET_CPUID: u64 = 0x1012;

/// Whether this machine has it, tried and taken back.
pub fn can_fault() -> Result<(), String> {
    enable_faulting()?;
    disable_faulting();
    Ok(())
}

/// From now on CPUID faults in this thread.
pub fn enable_faulting() -> Result<(), String> {
    match set_cpuid(0) {
        0 => Ok(()),
        e if e == i64::from(-libc::ENODEV) => {
            Err("this CPU, or the hypervisor, has no CPUID faulting".to_owned())
        }
        e => Err(format!("the kernel refuses CPUID faulting (error {})", -e)),
    }
}

/// CPUID runs again in this thread.
pub fn disable_faulting() {
    set_cpuid(1);
}

/// The CPU's own answer while CPUID faults. Async-signal-safe.
pub fn cpuid_while_faulting(leaf: u32, subleaf: u32) -> Registers {
    // Where CPUID does not fault the calls fail, which changes nothing.
    set_cpuid(1);
    let answer = cpuid(leaf, subleaf);
    set_cpuid(0);
    answer
}

/// The system call without errno: it is made in a signal handler.
fn set_cpuid(on: u64) -> i64 {
    let result: i64;
    // SAFETY: `arch_prctl(ARCH_SET_CPUID, on)` touches no memory; the kernel clobbers RCX and R11.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") ARCH_PRCTL => result,
            in("rdi") ARCH_SET_CPUID,
            in("rsi") on,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}
pub const CPUID: [u8; 2] = [0x0f, 0xa2];

/// What is written in its place.
pub const MARKER: [u8; 2] = [0xf4, CPUID[1]];

/// Longest instruction there is (Intel SDM vol. 2A, section 2.3.11).
const LONGEST: usize = 15;

/// The length of the CPUID instruction, or of what was written in its place, that `byte` gives one
/// after the other; `None` when it is another instruction. No byte is asked for past the ones that
/// decide. Prefixes are passed over: CPUID ignores all but LOCK, with which it is invalid.
pub fn length_of_cpuid(expected: [u8; 2], byte: impl Fn(usize) -> u8) -> Option<usize> {
    let prefixes = (0..LONGEST).take_while(|i| is_prefix(byte(*i))).count();
    let found = prefixes + 2 <= LONGEST
        && byte(prefixes) == expected[0]
        && byte(prefixes + 1) == expected[1];
    found.then_some(prefixes + 2)
}

/// Operand and address size, segments, repetition, REX.
fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3)
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
    use super::*;
    use std::mem::MaybeUninit;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// The handler's statics are the process's: tests that set them take turns.
    pub(crate) fn alone() -> MutexGuard<'static, ()> {
        static TURN: Mutex<()> = Mutex::new(());
        TURN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(tier: Tier, faulting: bool) {
        let index = Tier::ALL.iter().position(|t| *t == tier).unwrap();
        HANDLER.tier.store(index as u8, Ordering::Relaxed);
        FAULTING.store(faulting, Ordering::Relaxed);
    }

    /// A thread about to execute the code with these leaf and sub-leaf.
    fn before(code: &[u8], leaf: u64, subleaf: u64) -> libc::ucontext_t {
        // SAFETY: zeroes are a valid value of this plain struct.
        let mut context: libc::ucontext_t = unsafe { MaybeUninit::zeroed().assume_init() };
        let registers = &mut context.uc_mcontext.gregs;
        registers.fill(-1);
        registers[libc::REG_RIP as usize] = code.as_ptr() as i64;
        registers[libc::REG_RAX as usize] = leaf as i64;
        registers[libc::REG_RCX as usize] = subleaf as i64;
        context
    }

    fn deliver(context: &mut libc::ucontext_t) {
        // SAFETY: zeroes are a valid value of this plain struct.
        let mut info: libc::siginfo_t = unsafe { MaybeUninit::zeroed().assume_init() };
        info.si_code = SI_KERNEL;
        on_fault(libc::SIGSEGV, &raw mut info, (&raw mut *context).cast());
    }

    fn register(context: &libc::ucontext_t, index: c_int) -> i64 {
        context.uc_mcontext.gregs[index as usize]
    }

    #[test]
    fn a_faulting_cpuid_gets_the_masked_answer_and_the_thread_goes_on_behind_it() {
        let _turn = alone();
        for code in [&[0x0f, 0xa2, 0x90][..], &[0x48, 0x0f, 0xa2, 0x90], &MARKER] {
            set(Tier::Baseline, true);
            let count = answered();
            // What stands above the lower halves is no part of the question.
            let mut context = before(code, 0xffff_ffff_0000_0001, 0xffff_ffff_0000_0000);
            deliver(&mut context);
            // Where the machine has CPUID faulting the handler leaves it on, as a real fault finds it.
            super::disable_faulting();
            let raw = cpuid(1, 0);
            let expected = answer(Tier::Baseline, 1, 0, raw);
            assert_eq!(register(&context, libc::REG_RAX), i64::from(expected.eax));
            assert_eq!(register(&context, libc::REG_RCX), i64::from(expected.ecx));
            assert_eq!(register(&context, libc::REG_RDX), i64::from(expected.edx));
            // The rest of EBX is the number of the CPU that the thread is on.
            assert_eq!(
                register(&context, libc::REG_RBX) & 0xff_ffff,
                i64::from(raw.ebx & 0xff_ffff)
            );
            let end = code.len() - usize::from(code.ends_with(&[0x90]));
            assert_eq!(register(&context, libc::REG_RIP), code.as_ptr() as i64 + end as i64);
            assert_eq!(register(&context, libc::REG_RSP), -1);
            assert_eq!(answered(), count + 1);
        }
        set(Tier::Native, false);
    }

    #[test]
    fn a_cpuid_that_does_not_fault_and_any_other_instruction_are_left_alone() {
        let _turn = alone();
        set(Tier::Noaes, false);
        for code in [&[0x0f, 0xa2][..], &[0xf4, 0x90], &[0x0f, 0x0b]] {
            let mut context = before(code, 1, 0);
            let unchanged = context.uc_mcontext.gregs;
            assert!(!emulate(&mut context.uc_mcontext.gregs, |i| code[i]));
            assert_eq!(context.uc_mcontext.gregs, unchanged);
        }
        set(Tier::Native, false);
    }

    #[test]
    fn a_rewritten_cpuid_is_answered_in_any_thread_while_it_runs() {
        let _turn = alone();
        install(Tier::Baseline, false).unwrap();
        let count = answered();
        let here = rewritten_cpuid(7, 0);
        let there = std::thread::spawn(|| rewritten_cpuid(7, 0)).join().unwrap();
        assert_eq!(here, answer(Tier::Baseline, 7, 0, cpuid(7, 0)));
        assert_eq!(there, here);
        assert_eq!(answered(), count + 2);
        set(Tier::Native, false);
    }

    /// Forked, because what is tested is how a process ends.
    fn ends_with(deed: impl FnOnce()) -> i32 {
        // SAFETY: the child does nothing but the deed, which allocates nothing, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            deed();
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(0) };
        }
        let mut status = 0;
        // SAFETY: waits for our own child.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        if libc::WIFSIGNALED(status) { libc::WTERMSIG(status) } else { 0 }
    }

    #[test]
    fn every_other_fault_still_kills_the_process() {
        let _turn = alone();
        install(Tier::Noaes, false).unwrap();
        // SAFETY: these are meant to fault, in a process of their own.
        let bad_read = ends_with(|| unsafe {
            std::ptr::without_provenance::<u8>(8).read_volatile();
        });
        // SAFETY: as above: an address that is not canonical raises a general-protection fault too.
        let not_canonical = ends_with(|| unsafe {
            std::ptr::without_provenance::<u8>(1 << 63).read_volatile();
        });
        // SAFETY: as above: another HLT.
        let halt = ends_with(|| unsafe { std::arch::asm!("hlt", "nop") });
        // SAFETY: sends signals to the child itself. The first reaches the handler before ours, Rust's
        // own, which takes the default action for the next.
        let sent = ends_with(|| unsafe {
            libc::raise(libc::SIGSEGV);
            libc::raise(libc::SIGSEGV);
        });
        // SAFETY: the answer is thrown away.
        let answered = ends_with(|| {
            rewritten_cpuid(0, 0);
        });
        assert_eq!(
            [bad_read, not_canonical, halt, sent, answered],
            [libc::SIGSEGV, libc::SIGSEGV, libc::SIGSEGV, libc::SIGSEGV, 0]
        );
        set(Tier::Native, false);
    }

    #[test]
    fn it_is_there_or_the_reason_says_why_not_and_cpuid_runs_afterwards() {
        if let Err(why) = can_fault() {
            assert!(why.contains("CPUID faulting"), "{why}");
        }
        assert_ne!(super::cpuid(0, 0).eax, 0);
    }

    fn of(expected: [u8; 2], code: &[u8]) -> Option<usize> {
        length_of_cpuid(expected, |i| code[i])
    }

    #[test]
    fn cpuid_is_known_with_and_without_prefixes() {
        assert_eq!(of(CPUID, &[0x0f, 0xa2]), Some(2));
        assert_eq!(of(CPUID, &[0x48, 0x0f, 0xa2]), Some(3));
        assert_eq!(of(CPUID, &[0x66, 0xf3, 0x0f, 0xa2]), Some(4));
    }

    #[test]
    fn each_pair_of_bytes_is_only_its_own() {
        assert_eq!(of(MARKER, &MARKER), Some(2));
        assert_eq!(of(MARKER, &CPUID), None);
        assert_eq!(of(CPUID, &MARKER), None);
    }

    #[test]
    fn another_instruction_is_none_and_nothing_past_it_is_read() {
        // The closures would panic on reading further than the slice goes.
        assert_eq!(of(CPUID, &[0x0f, 0x0b]), None); // ud2
        assert_eq!(of(CPUID, &[0x90]), None);
        assert_eq!(of(MARKER, &[0xf4, 0x90]), None); // some other hlt
        assert_eq!(of(CPUID, &[0xf0, 0x0f, 0xa2]), None); // lock cpuid is invalid
        assert_eq!(of(CPUID, &[0x66; 15]), None);
    }
}
