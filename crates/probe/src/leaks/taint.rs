//! The judge that follows the secret through one trace: what depends on it at all, whether or not the keys that
//! were tried made a difference. Along the trace, through one instruction, from bytes of operands to bytes of
//! results (by bytes for moves and bitwise logic, by operands for everything else), with which bytes of
//! registers and memory are secret by then; and the instructions, decoded once each, for both judges.

use crate::leaks::judge::{Found, compare, note};
use crate::leaks::{Operation, Recordings, Stage};
use crate::step::{Code, End, Recorded, Step, Tape};
use iced_x86::{
    Decoder, DecoderOptions, EncodingKind, FastFormatter, FlowControl, Instruction,
    InstructionInfoFactory, MemorySize, Mnemonic, OpAccess, OpKind, Register, UsedMemory,
    UsedRegister,
};
use record::LeakKind;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// Why a clean comparison is no verdict: it is one here.
pub(crate) const UNFOLLOWED: Option<&str> = None;

pub(crate) struct Tainted {
    pub(crate) found: Found,
    /// Stages in which it did not get to where it must, and why.
    pub(crate) lost: Vec<(String, usize)>,
}

/// Follows the secret through the first trace.
pub(crate) fn run(
    recordings: &Recordings<'_>,
    calls: &[Recorded],
    first: &Tape,
    decodes: &mut Decodes<'_>,
) -> Tainted {
    let steps = |stage: usize| first.steps(calls[stage].steps.clone());
    let public = recordings.stages.iter().flat_map(|stage| stage.outputs.clone()).collect();
    let (mut state, mut seen) = (State::new(public), HashMap::new());
    let mut tainted = Tainted { found: Found::new(), lost: Vec::new() };
    for (number, stage) in recordings.stages.iter().enumerate().take(calls.len()) {
        let is_new_key = stage.operation == Operation::KeySetUp;
        let steps_here = steps(number);
        state.begin(steps_here.first().map_or(0, Step::stack), is_new_key);
        if is_new_key || number == 0 {
            recordings.secret.iter().cloned().for_each(|range| state.secret(range));
        }
        let other = counterpart(recordings.stages, number, calls.len()).map(steps);
        let verdicts = other.map_or_else(BTreeSet::new, |o| parted(steps_here, o, decodes));
        let met = follow(
            &mut state,
            &mut seen,
            number,
            steps_here,
            &verdicts,
            decodes,
            &mut tainted.found,
        );
        if calls[number].end == End::Returned {
            let why = lost(stage, &state, other.is_none() || met);
            tainted.lost.extend(why.map(|why| (format!("taint lost: {why}"), number)));
        }
    }
    tainted
}

/// Where decryption and rejection of one size go different ways: on the verdict over the tag, which is public.
fn parted(steps: &[Step], other: &[Step], decodes: &mut Decodes<'_>) -> BTreeSet<u64> {
    let mut found = Found::new();
    compare(0, steps, other, decodes, &mut found);
    let branches = found.keys().filter(|(_, kind, _)| *kind == LeakKind::Branch);
    branches.map(|(.., address)| *address).collect()
}

/// The rejection of what is decrypted, and the other way round.
fn counterpart(stages: &[Stage], number: usize, seen: usize) -> Option<usize> {
    let wanted = match stages[number].operation {
        Operation::Decrypt => Operation::Reject,
        Operation::Reject => Operation::Decrypt,
        _ => return None,
    };
    let size = stages[number].size;
    stages[..seen].iter().position(|s| s.operation == wanted && s.size == size)
}

/// Instructions with their rules.
type Seen = HashMap<u64, Option<(Rc<Decoded>, Rule)>>;

/// Follows the secret through one stage. Returns whether it reached a verdict over a tag.
fn follow(
    state: &mut State,
    seen: &mut Seen,
    stage: usize,
    steps: &[Step],
    verdicts: &BTreeSet<u64>,
    decodes: &mut Decodes<'_>,
    found: &mut Found,
) -> bool {
    let mut met = false;
    for (at, step) in steps.iter().enumerate() {
        let address = step.address();
        let decode = || decodes.at(address).map(|d| (Rc::clone(&d), rule(&d.instruction)));
        let Some((decoded, rule)) = seen.entry(address).or_insert_with(decode).clone() else {
            continue;
        };
        let is_verdict = verdicts.contains(&address);
        let mut is_met = false;
        execute(state, &decoded, rule, step, decodes, |(kind, touched)| {
            if is_verdict && kind == LeakKind::Branch {
                is_met = true;
                return;
            }
            let place = note(found, (stage, kind, address), at, false);
            if let Some((from, bytes)) = touched {
                place.touch(from, bytes);
            }
        });
        if is_met {
            // What follows hangs on a verdict that everybody is told.
            state.forget_registers();
            met = true;
        }
    }
    // Code without a branch on it returns it.
    met || state.get(Register::EAX) != 0
}

/// Why a stage shows that the secret was lost on its way.
fn lost(stage: &Stage, state: &State, verdict_met: bool) -> Option<&'static str> {
    let all: usize = stage.outputs.iter().map(|o| (o.end - o.start) as usize).sum();
    let reached: usize = stage.outputs.iter().map(|o| state.reached(o)).sum();
    if reached < all {
        Some("it did not reach all of the output")
    } else if state.lost {
        Some("behind a scattered write")
    } else if !verdict_met && stage.operation == Operation::Reject {
        Some("it did not reach the verdict on the tag")
    } else {
        None
    }
}

// What one instruction does to what is secret, and where it shows it.

/// The register that counts repetitions.
const RCX: usize = 1;

struct Access {
    /// None of gathers and scatters.
    at: Option<u64>,
    bytes: usize,
    access: OpAccess,
    is_secret: bool,
}

struct Operands {
    accesses: Vec<Access>,
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
type Shown = (LeakKind, Option<(u64, usize)>);

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

fn execute(
    state: &mut State,
    decoded: &Decoded,
    rule: Rule,
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
    write_registers(state, decoded, rule, result, &operands);
    write_memory(state, i, result, &operands);
    write_flags(state, i, rule, result, &operands);
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
    result: Bytes,
    operands: &Operands,
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

fn write_flags(state: &mut State, i: &Instruction, rule: Rule, result: Bytes, operands: &Operands) {
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

// How bytes of a result follow from bytes of the operands, by instruction.

/// How a result follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Always the same: what is combined with itself.
    Clean,
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

fn rule(i: &Instruction) -> Rule {
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
fn let_through(i: &Instruction) -> Bytes {
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
fn first_read(i: &Instruction) -> u32 {
    let combines = matches!(i.mnemonic(), Mnemonic::Vpternlogd | Mnemonic::Vpternlogq);
    u32::from(i.op_count() > 2 && !combines)
}

/// Whether only some elements of memory are touched, by a mask: the register with the mask.
fn memory_mask(i: &Instruction) -> Register {
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

/// A bit for each byte, the lowest first.
type Bytes = u64;

const ALL: Bytes = u64::MAX;

const fn low(bytes: usize) -> Bytes {
    if bytes >= 64 { ALL } else { (1 << bytes) - 1 }
}

/// Bytes of a page, and of what a word of bits stands for.
const PAGE: u64 = 4096;
const WORD: u64 = 64;

/// How far from the stack pointer memory is the stack's, which code that was not seen has written over.
const STACK: u64 = 4 << 20;

#[derive(Default)]
struct State {
    general: [Bytes; 16],
    vector: [Bytes; 32],
    /// Mask registers, MMX and the like: as a whole.
    others: HashSet<Register>,
    /// Flags, as the decoder numbers them.
    flags: u32,
    memory: HashMap<u64, Box<[u64; (PAGE / WORD) as usize]>>,
    /// What is public from the moment at which it is written.
    public: Vec<Range<u64>>,
    /// Bytes of these that something secret was written to.
    reached: HashSet<u64>,
    /// Whether something secret was written where it cannot be told.
    lost: bool,
}

fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::BH | Register::CH | Register::DH)
}

impl State {
    fn new(public: Vec<Range<u64>>) -> Self {
        Self { public, ..Self::default() }
    }

    /// A call begins: what ran unseen has left registers and stack in no known state. Before a new key nothing
    /// else is secret.
    fn begin(&mut self, stack: u64, is_new_key: bool) {
        self.forget_registers();
        self.vector = [0; 32];
        self.others.clear();
        self.reached.clear();
        if is_new_key {
            self.memory.clear();
        }
        self.memory.retain(|page, _| (page * PAGE).abs_diff(stack) > STACK);
    }

    /// General registers and flags hold nothing secret.
    fn forget_registers(&mut self) {
        (self.general, self.flags) = ([0; 16], 0);
    }

    /// The upper parts of all vectors are zero.
    fn zero_vectors_from(&mut self, byte: usize) {
        for vector in &mut self.vector[..16] {
            *vector &= low(byte);
        }
    }

    fn get(&self, register: Register) -> Bytes {
        if let Some(number) = number(register) {
            let whole = self.general[number];
            let shift = u32::from(is_high(register));
            whole >> shift & low(register.size())
        } else if register.is_vector_register() {
            self.vector[vector(register)] & low(register.size())
        } else if self.others.contains(&register) {
            low(8)
        } else {
            0
        }
    }

    /// Writes a register. Instructions on 32 bits clear the upper half; `legacy` ones on vectors keep what is
    /// above, the others clear it.
    fn set(&mut self, register: Register, bytes: Bytes, legacy: bool) {
        let size = register.size();
        if let Some(number) = number(register) {
            let old = self.general[number];
            self.general[number] = match size {
                1 if is_high(register) => old & !2 | (bytes & 1) << 1,
                1 | 2 => old & !low(size) | bytes & low(size),
                _ => bytes & low(size),
            };
        } else if register.is_vector_register() {
            let old = if legacy { self.vector[vector(register)] & !low(size) } else { 0 };
            self.vector[vector(register)] = old | bytes & low(size);
        } else if bytes == 0 {
            self.others.remove(&register);
        } else {
            self.others.insert(register);
        }
    }

    fn load(&self, from: u64, bytes: usize) -> Bytes {
        let is_secret = |i: &u64| {
            let at = from.wrapping_add(*i);
            let page = self.memory.get(&(at / PAGE));
            page.is_some_and(|page| page[(at % PAGE / WORD) as usize] >> (at % WORD) & 1 == 1)
        };
        (0..bytes.min(64) as u64).filter(is_secret).fold(0, |all, i| all | 1 << i)
    }

    fn store(&mut self, to: u64, bytes: usize, secret: Bytes) {
        for i in 0..bytes.min(64) as u64 {
            let at = to.wrapping_add(i);
            let mut is_secret = secret >> i & 1 == 1;
            if is_secret && self.public.iter().any(|range| range.contains(&at)) {
                self.reached.insert(at);
                is_secret = false;
            }
            self.mark(at, is_secret);
        }
    }

    fn mark(&mut self, at: u64, is_secret: bool) {
        if !is_secret && !self.memory.contains_key(&(at / PAGE)) {
            return;
        }
        let new = || Box::new([0; (PAGE / WORD) as usize]);
        let page = self.memory.entry(at / PAGE).or_insert_with(new);
        let word = &mut page[(at % PAGE / WORD) as usize];
        *word = *word & !(1 << (at % WORD)) | u64::from(is_secret) << (at % WORD);
    }

    /// Memory that holds the secret.
    fn secret(&mut self, range: Range<u64>) {
        range.for_each(|at| self.mark(at, true));
    }

    /// How many bytes of a range something secret was written to since the call began.
    fn reached(&self, range: &Range<u64>) -> usize {
        range.clone().filter(|at| self.reached.contains(at)).count()
    }
}

fn vector(register: Register) -> usize {
    register.full_register() as usize - Register::ZMM0 as usize
}

/// As instructions number them.
pub(crate) const NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
];

/// Longest instruction (Intel SDM volume 2A, section 2.3.11).
const LONGEST: usize = 15;

#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) instruction: Instruction,
    /// What is read, written or prefetched, without what is only computed.
    pub(crate) memory: Vec<UsedMemory>,
    pub(crate) registers: Vec<UsedRegister>,
    /// Whether its time depends on its operands: DIV and IDIV.
    pub(crate) divides: bool,
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

pub(crate) fn number(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register() as usize - Register::RAX as usize)
}

fn low_bits(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_registers_are_written_as_the_processor_writes_them() {
        let mut state = State::default();
        state.set(Register::RAX, low(8), false);
        state.set(Register::AL, 0, false);
        assert_eq!(state.get(Register::RAX), 0xfe);
        state.set(Register::AH, 0, false);
        assert_eq!((state.get(Register::RAX), state.get(Register::AH)), (0xfc, 0));
        state.set(Register::EAX, 0, false);
        assert_eq!(state.get(Register::RAX), 0, "32 bits clear the upper half");
        state.set(Register::BH, 1, false);
        assert_eq!((state.get(Register::RBX), state.get(Register::BL)), (2, 0));
    }

    #[test]
    fn legacy_vector_instructions_keep_what_is_above_and_others_clear_it() {
        let mut state = State::default();
        state.set(Register::ZMM3, ALL, false);
        state.set(Register::XMM3, 0, true);
        assert_eq!(state.get(Register::ZMM3), !0xffff);
        state.set(Register::XMM3, 1, false);
        assert_eq!(state.get(Register::ZMM3), 1);
        state.set(Register::YMM4, low(32), false);
        state.zero_vectors_from(16);
        assert_eq!(state.get(Register::YMM4), low(16));
    }

    #[test]
    fn memory_is_kept_by_byte_and_public_from_the_moment_it_is_written() {
        let mut state = State::new(std::iter::once(0x2000..0x2004).collect());
        state.store(0x0ffe, 4, 0b0101);
        assert_eq!(state.load(0x0ffe, 4), 0b0101, "over the end of a page");
        state.store(0x1ffe, 8, 0xff);
        assert_eq!(state.load(0x1ffe, 8), 0b1100_0011);
        assert_eq!(state.reached(&(0x2000..0x2008)), 4);
        state.begin(0x7fff_0000, false);
        assert_eq!((state.load(0x1ffe, 2), state.reached(&(0x2000..0x2004))), (3, 0));
        state.begin(0x7fff_0000, true);
        assert_eq!(state.load(0x1ffe, 2), 0);
    }
}
