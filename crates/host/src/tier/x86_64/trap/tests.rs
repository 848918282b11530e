#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use super::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The handler's statics are the process's: tests that set them take turns.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(tier: Tier, faulting: bool) {
    TIER.store(Tier::ALL.iter().position(|t| *t == tier).unwrap() as u8, Ordering::Relaxed);
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
        fault::disable();
        let raw = cpuid(1, 0);
        let expected = answer(Tier::Baseline, 1, 0, raw);
        assert_eq!(register(&context, libc::REG_RAX), i64::from(expected.eax));
        assert_eq!(register(&context, libc::REG_RCX), i64::from(expected.ecx));
        assert_eq!(register(&context, libc::REG_RDX), i64::from(expected.edx));
        // The rest of EBX is the number of the CPU that the thread is on.
        assert_eq!(register(&context, libc::REG_RBX) & 0xff_ffff, i64::from(raw.ebx & 0xff_ffff));
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
