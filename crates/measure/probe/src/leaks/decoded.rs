//! Instructions, decoded once each.

use crate::step::{Code, Step};
use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, MemorySize, Mnemonic, OpAccess,
    OpKind, Register, UsedMemory, UsedRegister,
};
use std::collections::HashMap;
use std::rc::Rc;

/// Longest instruction (Intel SDM volume 2A, section 2.3.11).
const LONGEST: usize = 15;

/// One instruction.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) instruction: Instruction,
    /// What is read, written or prefetched, without what is only computed.
    pub(super) memory: Vec<UsedMemory>,
    pub(super) registers: Vec<UsedRegister>,
    /// Whether its time depends on its operands: DIV and IDIV.
    pub(super) divides: bool,
    /// Whether it repeats.
    pub(super) repeats: bool,
    /// Of bit tests in memory: the register with the bit's number, which moves the address.
    pub(super) bit: Option<Register>,
}

impl Decoded {
    pub(super) fn of(instruction: Instruction, factory: &mut InstructionInfoFactory) -> Self {
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
pub(super) struct Decodes<'a> {
    code: &'a Code,
    /// What segment FS begins at.
    thread: u64,
    seen: HashMap<u64, Option<Rc<Decoded>>>,
    factory: InstructionInfoFactory,
}

impl<'a> Decodes<'a> {
    pub(super) fn new(code: &'a Code, thread: u64) -> Self {
        Self { code, thread, seen: HashMap::new(), factory: InstructionInfoFactory::new() }
    }

    /// The instruction at an address; none where there is none, or none that is known.
    pub(super) fn at(&mut self, address: u64) -> Option<Rc<Decoded>> {
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

    /// The address of an instruction's memory operand; none for gathers and scatters, whose indices are in
    /// vectors.
    pub(super) fn address(
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

/// A general register's value; other segments than FS begin at zero.
pub(super) fn value(step: &Step, register: Register) -> Option<u64> {
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
pub(super) fn number(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register() as usize - Register::RAX as usize)
}

fn low_bits(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}
