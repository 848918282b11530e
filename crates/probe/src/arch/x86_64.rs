//! x86-64: the time-stamp counter, `imul` chains, independent ALU instructions.

use raw_cpuid::CpuId;
use std::arch::asm;
use std::arch::x86_64::{__rdtscp, _mm_lfence};

/// Why the time-stamp counter cannot be used; `None` when it can.
///
/// Intel SDM vol. 3B §18.17.1, AMD APM vol. 2 §13.2.4: CPUID 8000_0007h EDX[8] says that it runs
/// at a constant rate in every power state.
pub(crate) fn tsc_unusable() -> Option<String> {
    let cpu = CpuId::new();
    if !cpu.get_advanced_power_mgmt_info().is_some_and(|info| info.has_invariant_tsc()) {
        return Some("the time-stamp counter is not invariant (CPUID 8000_0007h)".to_owned());
    }
    let features = cpu.get_extended_processor_and_feature_identifiers();
    if !features.is_some_and(|features| features.has_rdtscp()) {
        return Some("the CPU has no RDTSCP".to_owned());
    }
    None
}

/// Time stamp before the timed region: nothing of the region starts before it is taken.
///
/// LFENCE before keeps earlier work out of the region, LFENCE after keeps the region's work behind
/// the reading (Intel SDM vol. 2B, RDTSCP; AMD APM vol. 3: LFENCE is dispatch-serialising).
#[inline(always)]
pub(crate) fn tsc_begin() -> u64 {
    let mut aux = 0;
    // SAFETY: `tsc_unusable` was asked when the clock was made; LFENCE is SSE2, which x86-64 has.
    unsafe {
        _mm_lfence();
        let t = __rdtscp(&raw mut aux);
        _mm_lfence();
        t
    }
}

/// Time stamp after the timed region: all of the region is done when it is taken.
#[inline(always)]
pub(crate) fn tsc_end() -> u64 {
    tsc_begin()
}

/// Multiplications in a round of the chain.
const CHAIN_BLOCK: f64 = 100.0;

/// Cycles that a round of [`latency_chain`] takes. `imul r64,r64` has a latency of 3 cycles on Intel's cores
/// from Nehalem on and AMD's from Zen on (Agner Fog, Instruction tables; uops.info), not on Intel's
/// Atom line and efficiency cores: `measuring_cpu` in the engine keeps off the slower cores. Chains
/// of `add $imm`, `inc` and `lea` are folded at rename on Golden Cove and later.
pub(crate) const CHAIN_ROUND_CYCLES: f64 = CHAIN_BLOCK * 3.0;

/// A chain of dependent multiplications.
#[inline(always)]
pub(crate) fn latency_chain(rounds: u64) {
    // SAFETY: touches only its own two registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 100",
            "imul {x}, {x}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 3_u64 => _,
            n = inout(reg) rounds => _,
            options(nomem, nostack)
        );
    }
}

/// How often the block runs: 9600 instructions take about half a microsecond, which a counter with
/// steps of 10 ns resolves to 2 %.
const BLOCK_ROUNDS: u64 = 16;
const BLOCK_LEN: f64 = 600.0;

/// Instructions that [`independent_block`] runs, the loop's own two per round left out.
pub(crate) const BLOCK_INSTRUCTIONS: f64 = BLOCK_ROUNDS as f64 * BLOCK_LEN;

/// Independent instructions that fill the front end. Two rotations, one zeroing idiom and three
/// no-ops in six keep every current core at its dispatch width, which is what a busy sibling
/// hardware thread takes away; no clock shows that.
#[inline(always)]
pub(crate) fn independent_block() {
    // SAFETY: touches only its own registers and the flags.
    unsafe {
        asm!(
            "2:",
            ".rept 100",
            "ror {a}, 7",
            "xor {c:e}, {c:e}",
            "ror {b}, 9",
            "nop",
            "nop",
            "nop",
            ".endr",
            "dec {n}",
            "jnz 2b",
            a = inout(reg) 1_u64 => _,
            b = inout(reg) 2_u64 => _,
            c = inout(reg) 3_u64 => _,
            n = inout(reg) BLOCK_ROUNDS => _,
            options(nomem, nostack)
        );
    }
}
