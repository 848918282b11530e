//! How bytes of a result follow from bytes of the operands, by instruction.

use super::state::{ALL, Bytes};
use iced_x86::{Instruction, Mnemonic, OpKind, Register};

/// How a result follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Always the same: what is combined with itself.
    Clean,
    /// By flags alone.
    Flags,
    /// Byte by byte from the second operand.
    Move,
    /// From the second operand, whose sign fills what is above.
    Extend,
    /// One half of a vector of 32 bytes.
    Half,
    /// Byte by byte from all operands.
    Logic,
    /// From the second operand or what was there, by flags.
    Select,
    /// Any byte from any byte.
    Any,
    /// Upper parts of all vectors are cleared, from this byte on.
    ZeroVectors(usize),
}

/// Instructions whose result does not depend on their operands where both are the same register.
const OF_ITSELF: [&str; 10] =
    ["xor", "pxor", "sub", "psub", "pcmpeq", "pcmpgt", "pandn", "kxor", "kxnor", "kandn"];

const MOVES: [&str; 12] = [
    "mov", "movzx", "movaps", "movups", "movapd", "movupd", "movd", "movq", "lddqu", "movntps",
    "movntpd", "movnti",
];

const LOGIC: [&str; 12] =
    ["and", "or", "xor", "andps", "andpd", "orps", "orpd", "xorps", "xorpd", "pand", "por", "pxor"];

pub(super) fn rule(i: &Instruction) -> Rule {
    let name = format!("{:?}", i.mnemonic()).to_lowercase();
    let plain = name.strip_prefix('v').unwrap_or(&name);
    match i.mnemonic() {
        Mnemonic::Vzeroupper => return Rule::ZeroVectors(16),
        Mnemonic::Vzeroall => return Rule::ZeroVectors(0),
        Mnemonic::Movsx | Mnemonic::Movsxd => return Rule::Extend,
        Mnemonic::Vextracti128 | Mnemonic::Vextractf128 => return Rule::Half,
        // What it leaves in registers is not the caller's.
        Mnemonic::Syscall => return Rule::Clean,
        _ => {}
    }
    if i.is_string_instruction() || i.is_stack_instruction() {
        return Rule::Any;
    }
    if is_of_itself(i) {
        return match i.mnemonic() {
            Mnemonic::Sbb => Rule::Flags,
            _ if OF_ITSELF.iter().any(|p| plain.starts_with(p)) => Rule::Clean,
            _ => by_name(i, plain),
        };
    }
    by_name(i, plain)
}

/// Whether the last two operands are the same register.
fn is_of_itself(i: &Instruction) -> bool {
    let n = i.op_count();
    let register = |k: u32| (i.op_kind(k) == OpKind::Register).then(|| i.op_register(k));
    n >= 2 && register(n - 1).is_some() && register(n - 1) == register(n - 2)
}

fn by_name(i: &Instruction, plain: &str) -> Rule {
    if plain.starts_with("cmov") {
        return Rule::Select;
    }
    if plain.starts_with("set") && i.op_count() == 1 {
        return Rule::Flags;
    }
    if plain.starts_with("pternlog") {
        return if matches!(i.immediate8(), 0 | 0xff) { Rule::Clean } else { Rule::Logic };
    }
    let two = i.op_count() == 2;
    let is_move =
        MOVES.contains(&plain) || ["movdq", "movntdq", "kmov"].iter().any(|p| plain.starts_with(p));
    if is_move && two {
        return Rule::Move;
    }
    // AVX-512's have the width of elements in their names.
    let narrow = plain.strip_suffix(['d', 'q']).filter(|p| p.starts_with('p')).unwrap_or(plain);
    if LOGIC.contains(&plain)
        || LOGIC.contains(&narrow)
        || ["pandn", "pandnd", "pandnq", "andnps", "andnpd"].contains(&plain)
    {
        return Rule::Logic;
    }
    Rule::Any
}

/// Bytes that a constant operand lets through: AND with zero and OR with ones are constants.
pub(super) fn let_through(i: &Instruction) -> Bytes {
    let n = i.op_count();
    let is_constant = n == 2 && !matches!(i.op_kind(1), OpKind::Register | OpKind::Memory);
    let constant = match i.mnemonic() {
        Mnemonic::And if is_constant => i.immediate(1),
        Mnemonic::Or if is_constant => !i.immediate(1),
        _ => return ALL,
    };
    let passes = |k: &u32| constant >> (8 * k) & 0xff != 0;
    (0..8).filter(passes).fold(0, |all, k| all | 1 << k)
}

/// The first operand that a logical instruction reads: those with three write the first only, but for the one
/// that combines all three.
pub(super) fn first_read(i: &Instruction) -> u32 {
    let combines = matches!(i.mnemonic(), Mnemonic::Vpternlogd | Mnemonic::Vpternlogq);
    u32::from(i.op_count() > 2 && !combines)
}

/// Whether only some elements of memory are touched, by a mask: the register with the mask.
pub(super) fn memory_mask(i: &Instruction) -> Register {
    let by_vector = matches!(
        i.mnemonic(),
        Mnemonic::Vmaskmovps
            | Mnemonic::Vmaskmovpd
            | Mnemonic::Vpmaskmovd
            | Mnemonic::Vpmaskmovq
            | Mnemonic::Maskmovdqu
            | Mnemonic::Vmaskmovdqu
    );
    if by_vector { i.op_register(1) } else { i.op_mask() }
}
