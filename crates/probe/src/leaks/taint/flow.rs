//! What one instruction does to what is secret, and where it shows it.

use super::rules::{Rule, first_read, let_through, memory_mask};
use super::state::{ALL, Bytes, State, low};
use crate::leaks::decoded::{Decoded, Decodes};
use crate::step::Step;
use iced_x86::{EncodingKind, FlowControl, Instruction, Mnemonic, OpAccess, OpKind, Register};
use record::LeakKind;

/// The register that counts repetitions.
const RCX: usize = 1;

/// One access to memory.
struct Access {
    /// None of gathers and scatters.
    at: Option<u64>,
    bytes: usize,
    access: OpAccess,
    /// Whether its address is secret.
    is_secret: bool,
}

/// What an instruction works on.
struct Operands {
    accesses: Vec<Access>,
    /// What is read from memory.
    data: Bytes,
    registers: Bytes,
    flags: bool,
}

impl Operands {
    fn any(&self) -> bool {
        self.data != 0 || self.registers != 0 || self.flags
    }
}

/// What shows: the kind, and of lookups the address and its bytes.
pub(super) type Shown = (LeakKind, Option<(u64, usize)>);

fn reads(access: OpAccess) -> bool {
    use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
    matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
}

fn writes(access: OpAccess) -> bool {
    use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
    matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
}

fn may_keep(access: OpAccess) -> bool {
    matches!(access, OpAccess::CondWrite | OpAccess::ReadCondWrite)
}

/// Executes an instruction on the state.
pub(super) fn execute(
    state: &mut State,
    (decoded, rule): (&Decoded, Rule),
    step: &Step,
    decodes: &Decodes<'_>,
    mut show: impl FnMut(Shown),
) {
    if let Rule::ZeroVectors(from) = rule {
        return state.zero_vectors_from(from);
    }
    let i = &decoded.instruction;
    if decoded.repeats && state.get(Register::RCX) != 0 {
        show((LeakKind::Branch, None));
    }
    if decoded.repeats && step.register(RCX) == 0 {
        return; // No repetition.
    }
    let operands = operands(state, decoded, step, decodes);
    lookups(state, i, &operands, &mut show);
    if branches(decoded, &operands) {
        show((LeakKind::Branch, None));
    }
    if decoded.divides && operands.any() {
        show((LeakKind::Division, None));
    }
    let result = result(state, i, rule, &operands);
    if i.mnemonic() == Mnemonic::Leave {
        state.set(Register::RSP, state.get(Register::RBP), false);
    }
    write_registers(state, decoded, rule, (result, &operands));
    write_memory(state, i, result, &operands);
    write_flags(state, i, rule, (result, &operands));
}

fn operands(state: &State, decoded: &Decoded, step: &Step, decodes: &Decodes<'_>) -> Operands {
    let i = &decoded.instruction;
    let is_secret = |r: Register| !r.is_segment_register() && state.get(r) != 0;
    let accesses: Vec<Access> = decoded
        .memory
        .iter()
        .map(|memory| Access {
            at: decodes.address(decoded, memory, step),
            // The decoder leaves open how much a repeated instruction touches: one element a step.
            bytes: if decoded.repeats { i.memory_size() } else { memory.memory_size() }.size(),
            access: memory.access(),
            is_secret: [memory.base(), memory.index()]
                .into_iter()
                .chain(decoded.bit)
                .any(is_secret),
        })
        .collect();
    let loaded = |access: &Access| match access.at {
        _ if access.is_secret => ALL,
        _ if !reads(access.access) => 0,
        Some(at) => state.load(at, access.bytes),
        // What a gather reads may be anything.
        None => ALL,
    };
    let read = |r: Register| !is_counter(i, r);
    let registers = decoded.registers.iter().filter(|u| reads(u.access()) && read(u.register()));
    Operands {
        data: accesses.iter().map(loaded).fold(0, |all, bytes| all | bytes),
        registers: registers.map(|u| state.get(u.register())).fold(0, |all, bytes| all | bytes),
        flags: state.flags & i.rflags_read() != 0,
        accesses,
    }
}

/// Registers that only point or count: what they hold goes on as it is.
fn is_counter(i: &Instruction, register: Register) -> bool {
    let whole = register.full_register();
    (i.is_string_instruction() && matches!(whole, Register::RSI | Register::RDI | Register::RCX))
        || (i.is_stack_instruction() && whole == Register::RSP)
}

fn lookups(state: &State, i: &Instruction, operands: &Operands, show: &mut impl FnMut(Shown)) {
    let mask = memory_mask(i);
    let by_mask = mask != Register::None && state.get(mask) != 0;
    for access in &operands.accesses {
        if access.is_secret || by_mask {
            show((LeakKind::Lookup, access.at.map(|at| (at, access.bytes))));
        }
    }
}

/// Whether what runs next depends on the secret.
fn branches(decoded: &Decoded, operands: &Operands) -> bool {
    let i = &decoded.instruction;
    match i.flow_control() {
        FlowControl::ConditionalBranch
        | FlowControl::IndirectBranch
        | FlowControl::IndirectCall => operands.any(),
        FlowControl::Return => operands.data != 0,
        // Comparisons that end with the first difference.
        _ => decoded.repeats && i.rflags_written() != 0 && operands.any(),
    }
}

/// Which bytes of the result are secret.
fn result(state: &State, i: &Instruction, rule: Rule, operands: &Operands) -> Bytes {
    let all_if = |secret: bool| if secret { ALL } else { 0 };
    let operand = |k: u32| match i.op_kind(k) {
        OpKind::Register => state.get(i.op_register(k)),
        OpKind::Memory => operands.data,
        _ => 0,
    };
    let bytes = match rule {
        Rule::Clean | Rule::ZeroVectors(_) => 0,
        Rule::Flags => all_if(operands.flags),
        Rule::Move => operand(1),
        Rule::Half => operand(1) >> (16 * u32::from(i.immediate8() & 1)) & low(16),
        Rule::Extend => all_if(operand(1) != 0),
        Rule::Logic => {
            let all = (first_read(i)..i.op_count()).fold(0, |all, k| all | operand(k));
            all & let_through(i)
        }
        Rule::Select => operand(0) | operand(1) | all_if(operands.flags),
        Rule::Any => match i.mnemonic() {
            Mnemonic::Push if i.op_kind(0) == OpKind::Register => state.get(i.op_register(0)),
            Mnemonic::Push | Mnemonic::Pop | Mnemonic::Leave => operands.data,
            Mnemonic::Call => 0,
            _ if is_copy(i) => operands.data,
            _ => all_if(operands.any()),
        },
    };
    match i.op_mask() {
        Register::None => bytes,
        mask if state.get(mask) != 0 => ALL,
        _ if i.zeroing_masking() || i.op_kind(0) != OpKind::Register => bytes,
        _ => bytes | operand(0),
    }
}

/// String instructions that move what they read.
fn is_copy(i: &Instruction) -> bool {
    use Mnemonic::{Lodsb, Lodsd, Lodsq, Lodsw, Movsb, Movsd, Movsq, Movsw};
    i.is_string_instruction()
        && matches!(i.mnemonic(), Movsb | Movsw | Movsd | Movsq | Lodsb | Lodsw | Lodsd | Lodsq)
}

fn write_registers(
    state: &mut State,
    decoded: &Decoded,
    rule: Rule,
    (result, operands): (Bytes, &Operands),
) {
    let i = &decoded.instruction;
    let legacy = i.encoding() == EncodingKind::Legacy;
    let named: Vec<Register> = (0..i.op_count()).map(|k| i.op_register(k)).collect();
    let any = if rule != Rule::Clean && operands.any() { ALL } else { 0 };
    let written = decoded.registers.iter().filter(|u| writes(u.access()));
    let new: Vec<(Register, Bytes)> = written
        .filter(|u| !is_counter(i, u.register()) && u.register() != Register::RIP)
        .map(|u| {
            // The decoder names the whole vector; what is written is as wide as the operand.
            let same = |r: &&Register| r.full_register() == u.register().full_register();
            let operand = named.iter().find(same).copied();
            let is_first = operand.is_some() && operand == named.first().copied();
            let is_vector = u.register().is_vector_register();
            let register = operand.filter(|_| is_vector).unwrap_or(u.register());
            let bytes = if is_first || operand.is_none() && i.is_stack_instruction() || is_copy(i) {
                result
            } else {
                any
            };
            let kept = if may_keep(u.access()) { state.get(register) } else { 0 };
            (register, bytes | kept)
        })
        .collect();
    for (register, bytes) in new {
        state.set(register, bytes, legacy);
    }
}

fn write_memory(state: &mut State, i: &Instruction, result: Bytes, operands: &Operands) {
    for access in operands.accesses.iter().filter(|a| writes(a.access)) {
        let bytes = if access.is_secret { ALL } else { result };
        match access.at {
            Some(at) => {
                let keeps = may_keep(access.access) && !i.is_string_instruction();
                let kept = if keeps { state.load(at, access.bytes) } else { 0 };
                state.store(at, access.bytes, bytes | kept);
            }
            None => state.lost |= bytes != 0,
        }
    }
}

fn write_flags(
    state: &mut State,
    i: &Instruction,
    rule: Rule,
    (result, operands): (Bytes, &Operands),
) {
    let is_secret = match rule {
        Rule::Clean => false,
        Rule::Logic => result != 0,
        _ => operands.any(),
    };
    let constant = i.rflags_cleared() | i.rflags_set();
    state.flags &= !i.rflags_modified();
    if is_secret {
        state.flags |= i.rflags_modified() & !constant;
    }
}
