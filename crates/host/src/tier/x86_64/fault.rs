//! CPUID faulting: the kernel has the processor fault on every CPUID of this thread, and of the
//! threads and processes that it starts (arch_prctl(2), `ARCH_SET_CPUID`; cleared by exec).

use crate::tier::mask::Registers;
use crate::tier::x86_64::trap;
use std::arch::asm;

const ARCH_PRCTL: i64 = libc::SYS_arch_prctl;
/// `asm/prctl.h`.
const ARCH_SET_CPUID: u64 = 0x1012;

/// Whether this machine has it, tried and taken back.
pub fn available() -> Result<(), String> {
    enable()?;
    disable();
    Ok(())
}

/// From now on CPUID faults in this thread.
pub fn enable() -> Result<(), String> {
    match set_cpuid(0) {
        0 => Ok(()),
        e if e == i64::from(-libc::ENODEV) => {
            Err("this CPU, or the hypervisor, has no CPUID faulting".to_owned())
        }
        e => Err(format!("the kernel refuses CPUID faulting (error {})", -e)),
    }
}

/// CPUID runs again in this thread.
pub fn disable() {
    set_cpuid(1);
}

/// The CPU's own answer while CPUID faults. Async-signal-safe.
pub fn cpuid(leaf: u32, subleaf: u32) -> Registers {
    // Where CPUID does not fault the calls fail, which changes nothing.
    set_cpuid(1);
    let answer = trap::cpuid(leaf, subleaf);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_or_the_reason_says_why_not_and_cpuid_runs_afterwards() {
        if let Err(why) = available() {
            assert!(why.contains("CPUID faulting"), "{why}");
        }
        assert_ne!(trap::cpuid(0, 0).eax, 0);
    }
}
