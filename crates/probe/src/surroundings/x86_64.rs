//! Registers around one call: what the System V ABI (x86-64 psABI 1.0 §3.2.1, §3.2.3) has a function
//! preserve or leave in a known state.

use contract::raw;
use std::arch::asm;

/// The control bits of MXCSR, which a function preserves; the lower six are flags, which it may set.
const MXCSR_CONTROL: u32 = 0xffc0;
/// RFLAGS.DF.
const DIRECTION: u64 = 1 << 10;

/// What a call left behind that is not its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// The rounding, masks or treatment of denormals of SSE arithmetic (MXCSR) are others.
    pub sse_control: Option<(u32, u32)>,
    /// The x87 control word is another.
    pub x87_control: Option<(u16, u16)>,
    /// x87 registers are in use: MMX instructions without EMMS.
    pub x87_in_use: bool,
    /// String instructions go backwards (RFLAGS.DF).
    pub backwards: bool,
    /// The upper halves of the vector registers hold something: SSE code after it is slower on many cores
    /// (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Mixing AVX code with SSE code").
    pub uppers: bool,
}

impl Left {
    /// What the ABI forbids, in words.
    pub fn broken_rules(&self) -> Vec<String> {
        let mut broken = Vec::new();
        if let Some((before, after)) = self.sse_control {
            broken.push(format!(
                "SSE's rounding, masks or denormals are left changed (MXCSR {before:#06x} became {after:#06x})"
            ));
        }
        if let Some((before, after)) = self.x87_control {
            broken.push(format!(
                "the x87 control word is left changed ({before:#06x} became {after:#06x})"
            ));
        }
        if self.x87_in_use {
            broken.push("x87 registers are left in use (MMX without EMMS)".to_owned());
        }
        if self.backwards {
            broken.push("the direction flag is left set".to_owned());
        }
        broken
    }
}

/// What is written around the call, at the offsets that the assembly has.
#[derive(Default)]
#[repr(C, align(64))]
struct Area {
    mxcsr_before: u32,
    mxcsr_after: u32,
    x87_before: u16,
    _to_16: [u8; 6],
    /// `fnstenv`'s seven words of four bytes: control, status, tags and what nobody asks for.
    environment: [u32; 7],
    _to_64: [u8; 20],
    /// Of the sixteen registers that SSE and AVX share.
    uppers: [u128; 16],
}

/// The tag word of eight empty registers.
const ALL_EMPTY: u16 = 0xffff;

/// Calls `message` of a session once, and puts back what it left changed.
///
/// # Safety
/// As a call of the function itself: the rules of `include/ciphermark.h` hold for both arguments.
pub(crate) unsafe fn call(
    function: raw::MessageFn,
    session: &raw::Session,
    message: &raw::Message,
) -> (i32, Left) {
    let mut area = Area::default();
    let avx = is_x86_feature_detected!("avx");
    let (code, flags): (i32, u64);
    // SAFETY: the call is as the caller vouches, with the stack aligned as `asm!` promises. Else only
    // `area` is written; AVX instructions run where there is AVX. What a function must preserve is put
    // back, so that the code behind this may rely on it.
    unsafe {
        asm!(
            "test r14d, r14d",
            "jz 2f",
            "vzeroupper",
            "2:",
            "stmxcsr [r12]",
            "fnstcw [r12 + 8]",
            "call {function}",
            "pushfq",
            "cld",
            "pop r13",
            "stmxcsr [r12 + 4]",
            "fnstenv [r12 + 16]",
            "ldmxcsr [r12]",
            "emms",
            "fldcw [r12 + 8]",
            "test r14d, r14d",
            "jz 3f",
            ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
            "vextractf128 [r12 + 64 + 16 * \\r], ymm\\r, 1",
            ".endr",
            "vzeroupper",
            "3:",
            function = in(reg) function,
            in("r12") &raw mut area,
            out("r13") flags,
            in("r14") u32::from(avx),
            in("rdi") session.state,
            in("rsi") message,
            lateout("rax") code,
            clobber_abi("C"),
        );
    }
    let control = |word: u32| word & MXCSR_CONTROL;
    let sse = (area.mxcsr_before, area.mxcsr_after);
    let x87 = (area.x87_before, area.environment[0] as u16);
    let left = Left {
        sse_control: (control(sse.0) != control(sse.1)).then_some(sse),
        x87_control: (x87.0 != x87.1).then_some(x87),
        x87_in_use: area.environment[2] as u16 != ALL_EMPTY,
        backwards: flags & DIRECTION != 0,
        uppers: area.uppers.iter().any(|upper| *upper != 0),
    };
    (code, left)
}
