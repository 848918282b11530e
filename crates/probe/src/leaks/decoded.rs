//! Instructions, decoded once each.

use crate::step::{Code, Step};
use iced_x86::{
    Decoder, DecoderOptions, FastFormatter, Instruction, InstructionInfoFactory, MemorySize,
    Mnemonic, OpAccess, OpKind, Register, UsedMemory, UsedRegister,
};
use std::collections::HashMap;
use std::rc::Rc;

/// As instructions number them.
pub(crate) const NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
];

/// Longest instruction (Intel SDM volume 2A, section 2.3.11).
const LONGEST: usize = 15;

/// One instruction.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) instruction: Instruction,
    /// What is read, written or prefetched, without what is only computed.
    pub(crate) memory: Vec<UsedMemory>,
    pub(crate) registers: Vec<UsedRegister>,
    /// Whether its time depends on its operands: DIV and IDIV.
    pub(crate) divides: bool,
    /// Whether it repeats.
    pub(crate) repeats: bool,
    /// Of bit tests in memory: the register with the bit's number, which moves the address.
    pub(crate) bit: Option<Register>,
}

impl Decoded {
    pub(crate) fn of(instruction: Instruction, factory: &mut InstructionInfoFactory) -> Self {
        let info = factory.info(&instruction);
        let accessed = |m: &&UsedMemory| m.access() != OpAccess::NoMemAccess;
        let is_string = instruction.is_string_instruction();
        let tests_bit = matches!(
            instruction.mnemonic(),
            Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc
        );
        let kinds = (instruction.op0_kind(), instruction.op1_kind());
        let fetched = fetched(&instruction);
        let bit = tests_bit && kinds == (OpKind::Memory, OpKind::Register);
        Self {
            bit: bit.then(|| instruction.op1_register()),
            memory: info.used_memory().iter().filter(accessed).copied().chain(fetched).collect(),
            registers: info.used_registers().to_vec(),
            divides: matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv),
            repeats: is_string && (instruction.has_rep_prefix() || instruction.has_repne_prefix()),
            instruction,
        }
    }
}

/// The byte that a prefetch brings near: iced names no memory of one, as it names none of LEA and long NOPs.
fn fetched(instruction: &Instruction) -> Option<UsedMemory> {
    let fetches = format!("{:?}", instruction.mnemonic()).starts_with("Prefetch");
    let is_relative = instruction.is_ip_rel_memory_operand();
    (fetches && !is_relative).then(|| {
        UsedMemory::new(
            instruction.memory_segment(),
            instruction.memory_base(),
            instruction.memory_index(),
            instruction.memory_index_scale(),
            instruction.memory_displacement64(),
            MemorySize::UInt8,
            OpAccess::Read,
        )
    })
}

/// What was decoded so far.
pub(crate) struct Decodes<'a> {
    code: &'a Code,
    /// What segment FS begins at.
    thread: u64,
    seen: HashMap<u64, Option<Rc<Decoded>>>,
    factory: InstructionInfoFactory,
}

impl<'a> Decodes<'a> {
    pub(crate) fn new(code: &'a Code, thread: u64) -> Self {
        Self { code, thread, seen: HashMap::new(), factory: InstructionInfoFactory::new() }
    }

    /// The instruction at an address; none where there is none, or none that is known.
    pub(crate) fn at(&mut self, address: u64) -> Option<Rc<Decoded>> {
        let (code, factory) = (self.code, &mut self.factory);
        let decode = || {
            let mut buffer = [0; LONGEST];
            let bytes = code.bytes(address, &mut buffer);
            let decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
            let instruction = { decoder }.decode();
            (!instruction.is_invalid()).then(|| Rc::new(Decoded::of(instruction, factory)))
        };
        self.seen.entry(address).or_insert_with(decode).clone()
    }

    /// Where each of two steps of one instruction touches memory, and how many bytes there.
    pub(crate) fn touched(&mut self, x: &Step, y: &Step) -> Vec<(u64, u64, usize)> {
        let Some(decoded) = self.at(x.address()) else { return Vec::new() };
        let both = |memory: &UsedMemory| {
            let address = |step| self.address(&decoded, memory, step);
            let of = if decoded.repeats {
                decoded.instruction.memory_size()
            } else {
                memory.memory_size()
            };
            Some((address(x)?, address(y)?, of.size()))
        };
        decoded.memory.iter().filter_map(both).collect()
    }

    /// Whether it is a division, and its operands differ that are in registers.
    pub(crate) fn divides_otherwise(&mut self, x: &Step, y: &Step) -> bool {
        self.at(x.address()).filter(|d| d.divides).is_some_and(|decoded| {
            let divisor = decoded.instruction.op0_register();
            differs(x, y) || value(x, divisor) != value(y, divisor)
        })
    }

    /// Whether the instruction of the first two steps is a division, and the two behind it have other results.
    pub(crate) fn divided_otherwise(
        &mut self,
        (u, _): (&Step, &Step),
        (x, y): (&Step, &Step),
    ) -> bool {
        differs(x, y) && self.at(u.address()).is_some_and(|d| d.divides)
    }

    /// Asks about each call that had not returned when the last of these steps was made, the latest first, until the
    /// answer is that it is enough. Each has pushed where it returns to.
    pub(crate) fn callers(&mut self, steps: &[Step], enough: &mut dyn FnMut(u64) -> bool) {
        let Some((last, before)) = steps.split_last() else { return };
        let mut deepest = last.stack();
        for step in before.iter().rev() {
            if step.stack() <= deepest {
                continue;
            }
            let is_call = |d: Rc<Decoded>| matches!(d.instruction.mnemonic(), Mnemonic::Call);
            if self.at(step.address()).is_some_and(is_call) && enough(step.address()) {
                return;
            }
            deepest = step.stack();
        }
    }

    /// The address of an instruction's memory operand; none for gathers and scatters, whose indices are in
    /// vectors.
    pub(crate) fn address(
        &self,
        decoded: &Decoded,
        memory: &UsedMemory,
        step: &Step,
    ) -> Option<u64> {
        let operand = memory.virtual_address(0, |register, _, _| match register {
            Register::FS => Some(self.thread),
            register => value(step, register),
        });
        let bit = decoded.bit.and_then(|register| Some((register, value(step, register)?)));
        let Some((register, bit)) = bit else { return operand };
        // The number of a bit is signed, and moves the address (Intel SDM volume 2A, BT).
        let unused = 64 - 8 * register.size() as u32;
        let whole = (bit << unused).cast_signed() >> unused;
        operand.map(|at| at.wrapping_add_signed(whole >> 3))
    }
}

/// Whether dividend, or quotient and remainder, differ.
fn differs(x: &Step, y: &Step) -> bool {
    const RAX: usize = 0;
    const RDX: usize = 2;
    [RAX, RDX].iter().any(|r| x.register(*r) != y.register(*r))
}

/// An instruction in Intel's syntax, addresses relative to RIP as they are written.
pub(crate) fn text(address: u64, decodes: &mut Decodes<'_>) -> String {
    let Some(decoded) = decodes.at(address) else { return "?".to_owned() };
    let mut formatter = FastFormatter::new();
    formatter.options_mut().set_use_hex_prefix(true);
    formatter.options_mut().set_rip_relative_addresses(true);
    let mut text = String::new();
    formatter.format(&decoded.instruction, &mut text);
    text
}

/// A general register's value; other segments than FS begin at zero.
pub(crate) fn value(step: &Step, register: Register) -> Option<u64> {
    if register.is_segment_register() {
        return Some(0);
    }
    let number = number(register)?;
    let whole = step.register(number);
    Some(match register {
        Register::AH | Register::CH | Register::DH | Register::BH => whole >> 8 & 0xff,
        _ => whole & low_bits(register.size()),
    })
}

/// The number of a general register or a part of one.
pub(crate) fn number(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register() as usize - Register::RAX as usize)
}

fn low_bits(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}
